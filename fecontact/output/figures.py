"""Figures of a run. Every plot function draws on given Matplotlib axes and returns them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fecontact.body import Solid
from fecontact.contact import Contact, ContactState, Status
from fecontact.errors import InputError, choices
from fecontact.mesh import Mesh
from fecontact.naming import file_parts
from fecontact.output.atomic import replacing
from fecontact.output.tables import per_thickness
from fecontact.output.vtk import point_fields
from fecontact.schemes import StepResult
from fecontact.simulation import Result
from fecontact.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY, RED = "#0072B2", "#D55E00", "#595959", "#B2182B"

_PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
_STYLES: dict[Status, dict[str, Any]] = {
    Status.SEPARATED: {"marker": "o", "facecolor": "white", "edgecolor": GREY},
    Status.SLIDING: {"marker": "^", "facecolor": ORANGE, "edgecolor": ORANGE},
    Status.STICKING: {"marker": "s", "facecolor": BLUE, "edgecolor": BLUE},
}
# component of the four-component tensors, and what the colour bar calls it
_SCALARS: dict[str, tuple[str, int | None, str]] = {
    "von_mises": ("von_mises", None, "von Mises stress"),
    "stress_xx": ("stress", 0, "stress xx"),
    "stress_yy": ("stress", 1, "stress yy"),
    "stress_zz": ("stress", 2, "stress zz"),
    "stress_xy": ("stress", 3, "stress xy"),
    "displacement": ("displacement", None, "displacement"),
}
# spread of a field, relative to the largest of its kind, below which it is rounding
_UNIFORM = 1e-8


@dataclass(frozen=True)
class Units:
    """Names of the units of the case, for labels; numbers are scaled by SI prefixes only."""

    length: str = "m"
    stress: str = "Pa"
    force: str = "N/m"


def units_of(solid: Solid) -> Units:
    """SI units; forces per unit thickness, or of the full turn in axisymmetry."""
    return Units(force="N" if solid.hypothesis == "axisymmetric" else "N/m")


def scaled(values: Any, unit: str) -> tuple[float, str]:
    """Factor and unit with an SI prefix that bring the largest value between 1 and 1000."""
    largest = float(np.abs(values).max(initial=0.0))
    if not largest > 0.0:
        return 1.0, unit
    power = min(15, max(-9, 3 * math.floor(math.log10(largest) / 3.0 + 1e-9)))
    return 10.0**-power, _PREFIXES[power] + unit


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that needs no display and no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a PNG."""
    with replacing(path) as part:
        figure.savefig(part, dpi=150, format="png")
    return path


def tidy(ax: Axes) -> None:
    """Two spines and a pale grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def auto_amplification(mesh: Mesh, displacement: FloatArray) -> float:
    """1, 2 or 5 times a power of ten that shows the largest displacement as ~10 % of the size.

    Several bodies are shown as they are: amplified, they would overlap or part where they touch.
    """
    largest = float(np.linalg.norm(displacement, axis=1).max(initial=0.0))
    if largest == 0.0 or mesh.components().max(initial=0) > 0:
        return 1.0
    wanted = 0.1 * float(np.ptp(mesh.nodes, axis=0).max()) / largest
    if wanted <= 1.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return power * max(m for m in (1.0, 2.0, 5.0) if m * power <= wanted * (1.0 + 1e-9))


def _triangles(mesh: Mesh) -> IntArray:
    """Triangles (k, 3) to paint: quads are cut in two."""
    parts = []
    for kind, block in mesh.cells.items():
        parts += [block] if kind == "triangle" else [block[:, [0, 1, 2]], block[:, [0, 2, 3]]]
    return np.vstack(parts)


def plot_deformed(
    ax: Axes,
    step: StepResult,
    solid: Solid,
    field: str = "von_mises",
    amplification: float | None = None,
    obstacles: Any = (),
) -> Axes:
    """Deformed mesh, coloured by a field, with the undeformed outline.

    Parameters
    ----------
    ax, step, solid
        Where to draw, and what.
    field
        ``"von_mises"``, ``"stress_xx"``, ``"stress_yy"``, ``"stress_zz"``, ``"stress_xy"`` or
        ``"displacement"`` (its length).
    amplification
        Of the displacements; chosen by itself where it is None. The title states it.
    obstacles
        Obstacles to draw as they stand at the end of the step.
    """
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.tri import Triangulation

    if field not in _SCALARS:
        raise InputError(f"figure field {field!r} is not known; {choices(field, _SCALARS)}")
    source, component, label = _SCALARS[field]
    mesh, units = solid.mesh, units_of(solid)
    fields = point_fields(solid, step)
    values = np.asarray(fields[source])
    if component is not None:
        values = values[:, component]
    elif values.ndim == 2:
        values = np.linalg.norm(values, axis=1)
    kind = np.abs(fields[source if source == "displacement" else "stress"]).max(initial=0.0)
    factor = auto_amplification(mesh, step.displacement) if amplification is None else amplification
    length, length_unit = scaled(mesh.nodes, units.length)
    scale, unit = scaled(values, units.length if field == "displacement" else units.stress)
    moved = length * (mesh.nodes + factor * step.displacement)

    painted = ax.tripcolor(
        Triangulation(moved[:, 0], moved[:, 1], _triangles(mesh)),
        scale * values,
        shading="gouraud",
        cmap="viridis",
        rasterized=True,
    )
    if np.ptp(values) <= _UNIFORM * kind:
        # colours of rounding would look like a field
        middle = 0.5 * scale * float(values.min() + values.max())
        painted.set_clim(middle - 0.1 * scale * kind or -1.0, middle + 0.1 * scale * kind or 1.0)
    if mesh.n_elements <= 10_000:
        for block in mesh.cells.values():
            ax.add_collection(
                PolyCollection(
                    list(moved[block]),
                    facecolors="none",
                    edgecolors=(0, 0, 0, 0.35),
                    linewidths=0.4,
                )
            )
    outline = mesh.boundary_edges()
    ax.add_collection(
        LineCollection(
            list(length * mesh.nodes[outline]), colors=GREY, linestyles="--", linewidths=0.9
        )
    )
    both = np.vstack([length * mesh.nodes, moved])
    low, high = both.min(axis=0), both.max(axis=0)
    margin = 0.05 * float((high - low).max())
    box = np.array([low - margin, high + margin])
    for obstacle in obstacles:
        line = length * obstacle.outline(box / length, step.t)
        ax.plot(*line.T, color="black", linewidth=1.8, zorder=3)
    ax.set_xlim(float(box[0, 0]), float(box[1, 0]))
    ax.set_ylim(float(box[0, 1]), float(box[1, 1]))
    ax.set_aspect("equal")
    radial = solid.hypothesis == "axisymmetric"
    ax.set_xlabel(f"{'r' if radial else 'x'} ({length_unit})")
    ax.set_ylabel(f"{'z' if radial else 'y'} ({length_unit})")
    ax.set_title(
        f"t = {step.t:g}, displacements × {factor:g}\n(undeformed outline dashed)", size=10
    )
    figure = ax.get_figure()
    if figure is not None:
        flat = float(np.ptp(box[:, 1])) < 0.35 * float(np.ptp(box[:, 0]))
        side = "bottom" if flat else "right"
        figure.colorbar(painted, ax=ax, label=f"{label} ({unit})", shrink=0.85, location=side)
    return ax


def _abscissa(ax: Axes, state: ContactState, units: Units) -> FloatArray:
    factor, unit = scaled(state.abscissa, units.length)
    ax.set_xlabel(f"length along contact '{state.name}' ({unit})")
    return factor * state.abscissa


def plot_reactions(
    ax: Axes, state: ContactState, factor: float = 1.0, units: Units | None = None
) -> Axes:
    """Normal and tangential reactions along the contact, with the friction bound.

    Parameters
    ----------
    ax, state
        Where to draw, and what.
    factor
        Multiplies the forces (1 over the thickness, see `per_thickness`).
    units
        For the labels; SI by default.
    """
    units = units or Units()
    s = _abscissa(ax, state, units)
    scale, unit = scaled(factor * state.force, units.force)
    normal = scale * factor * state.force[:, 0]
    tangential = scale * factor * np.linalg.norm(state.force[:, 1:], axis=1)
    bound = scale * factor * np.where(np.isinf(state.bound), np.nan, state.bound)
    # wide and pale below the others: it coincides with RN where mu = 1, with |RT| under sliding
    ax.plot(s, bound, color="#F0C75E", linewidth=6, solid_capstyle="round", label="friction bound")
    ax.plot(s, normal, color=BLUE, marker="o", markersize=4, linewidth=1.3, label="RN")
    ax.plot(
        s,
        tangential,
        color=ORANGE,
        marker="s",
        markersize=7,
        markerfacecolor="none",
        linewidth=1.3,
        linestyle="--",
        label="|RT|",
    )
    ax.set_ylabel(f"{state.reactions} reaction per node ({unit})")
    ax.set_ylim(bottom=min(0.0, float(normal.min(initial=0.0))))
    ax.margins(y=0.08)
    ax.legend(frameon=False, loc="best")
    tidy(ax)
    return ax


def plot_status(ax: Axes, state: ContactState, units: Units | None = None) -> Axes:
    """Status along the contact: told by height, shape and colour."""
    s = _abscissa(ax, state, units or Units())
    for status, style in _STYLES.items():
        chosen = state.status == status
        ax.scatter(
            s[chosen], np.full(np.count_nonzero(chosen), int(status)), s=46, linewidths=1.3, **style
        )
    ax.set_yticks(
        [int(status) for status in Status],
        [f"{status.label} ({state.count(status)})" for status in Status],
    )
    ax.set_ylim(-0.5, len(Status) - 0.5)
    tidy(ax)
    return ax


def write_figures(folder: Path, result: Result) -> list[Path]:
    """Write deformed.png, and where there is contact reactions.png (reactions_NAME.png each where
    there are several) and status.png, all at the end of the last converged step.
    """
    step, model = result.final, result.simulation.model
    solid = model.solid
    factor, units = per_thickness(solid), units_of(solid)
    size = np.ptp(solid.mesh.nodes, axis=0)
    height = float(np.clip(6.0 * size[1] / size[0], 2.2, 7.0)) + 0.8
    figure = new_figure(7.2, height)
    obstacles = [c.obstacle for c in model.contacts if isinstance(c, Contact)]
    plot_deformed(figure.add_subplot(), step, solid, obstacles=obstacles)
    paths = [save_figure(figure, folder / "deformed.png")]
    states = list(step.contacts.values())
    parts = file_parts(state.name for state in states)
    for state in states:
        figure = new_figure(7.2, 4.2)
        plot_reactions(figure.add_subplot(), state, factor, units)
        name = "reactions.png" if len(states) == 1 else f"reactions_{parts[state.name]}.png"
        paths.append(save_figure(figure, folder / name))
    if states:
        figure = new_figure(7.2, 2.2 * len(states))
        for row, state in enumerate(states, start=1):
            plot_status(figure.add_subplot(len(states), 1, row), state, units)
        paths.append(save_figure(figure, folder / "status.png"))
    return paths
