"""A picture of a mesh with its groups named, and of the quality of its elements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fecontact.mesh import Mesh, quality
from fecontact.output.figures import GREY, new_figure, save_figure, tidy
from fecontact.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILLS = ("#dbe9f6", "#fde6cf", "#e1f0dc", "#efe1f3", "#f7f3c8", "#e0e0e0")
_LINES = ("#0072B2", "#D55E00", "#009E73", "#AA3377", "#B58900", "#56B4E9", "#882255", "#333333")
_MOST_DRAWN = 200_000
_MOST_NAMED = 16


def plot_mesh(ax: Axes, mesh: Mesh) -> Axes:
    """Elements, filled by their groups, with groups of edges and of nodes drawn and named.

    Parameters
    ----------
    ax
        Where to draw.
    mesh
        The mesh; above 200,000 elements only its outline is drawn.
    """
    from matplotlib.collections import LineCollection, PolyCollection

    whole = mesh.n_elements <= _MOST_DRAWN
    width = float(np.clip(12.0 / np.sqrt(mesh.n_elements), 0.08, 0.6))
    groups = _partition(mesh)
    for number, (name, elements) in enumerate(groups.items()):
        colour = _FILLS[number % len(_FILLS)]
        for block in mesh.select(elements).values() if whole else ():
            ax.add_collection(
                PolyCollection(
                    list(mesh.nodes[block]), facecolors=colour, edgecolors=GREY, linewidths=width
                )
            )
        if name:
            # the proxy gives the legend a patch of this colour
            ax.fill([np.nan], [np.nan], color=colour, label=f"{name} ({len(elements)} elements)")
    ax.add_collection(
        LineCollection(list(mesh.nodes[mesh.boundary_edges()]), colors=GREY, linewidths=0.8)
    )
    for number, (name, edges) in enumerate(list(mesh.edge_groups.items())[:_MOST_NAMED]):
        if len(edges) == 0:
            continue
        style: Any = (0, (5, 2)) if number >= len(_LINES) else "-"
        colour = _LINES[number % len(_LINES)]
        label = f"{name} ({len(edges)} edges)"
        ax.add_collection(
            LineCollection(
                list(mesh.nodes[edges]),
                colors=colour,
                linewidths=2.6,
                linestyles=style,
                label=label,
            )
        )
    for number, (name, nodes) in enumerate(list(mesh.node_groups.items())[:_MOST_NAMED]):
        marker, colour = "osD^v<>P"[number % 8], _LINES[-1 - number % len(_LINES)]
        ax.plot(
            *mesh.nodes[nodes].T,
            marker,
            color=colour,
            markersize=6,
            label=f"{name} ({len(nodes)} node{'s' * (len(nodes) != 1)})",
        )
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    margin = 0.04 * float((high - low).max())
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    ax.set_aspect("equal")
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _partition(mesh: Mesh) -> dict[str, Any]:
    """Element groups that do not overlap, the smallest first to get a colour, and the rest."""
    left = np.ones(mesh.n_elements, dtype=bool)
    found: dict[str, Any] = {}
    for name, elements in sorted(mesh.element_groups.items(), key=lambda item: len(item[1])):
        mine = elements[left[elements]]
        if len(mine) == len(elements) and len(mine):
            found[name] = mine
            left[mine] = False
    if left.any():
        found[""] = np.flatnonzero(left)
    return found


def plot_quality(ax: Axes, values: FloatArray) -> Axes:
    """Histogram of the shape measure, 1 at best and 0 for a degenerate element."""
    ax.hist(values, bins=np.linspace(0.0, 1.0, 21).tolist(), color=_LINES[0], edgecolor="white")
    ax.set_yscale("log")
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("shape: 1 at best, 0 degenerate")
    ax.set_ylabel("elements")
    tidy(ax)
    return ax


def write_mesh_figure(path: Path, mesh: Mesh) -> Path:
    """Write a PNG with the mesh, the names of its groups, and the quality of its elements."""
    size = np.ptp(mesh.nodes, axis=0)
    height = float(np.clip(8.0 * size[1] / size[0], 2.5, 8.0))
    figure = new_figure(11.0, max(height, 3.5) + 0.6)
    left, right = figure.subplots(1, 2, width_ratios=[3.0, 1.0])
    plot_mesh(left, mesh)
    plot_quality(right, quality(mesh).shape)
    handles, labels = left.get_legend_handles_labels()
    if labels:
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return save_figure(figure, path)
