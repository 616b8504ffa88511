"""The figure of a comparison: reactions of the runs along each contact."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fecontact.contact import ContactState
from fecontact.output.figures import (
    BLUE,
    ORANGE,
    RED,
    Units,
    new_figure,
    save_figure,
    scaled,
    tidy,
    units_of,
)
from fecontact.simulation import Result
from fecontact.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = ("-", "--", "-.", ":")
_MARKERS = "os^Dv<>P"
_COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", "#595959", "#E69F00", "#000000")


class _Pair(Protocol):
    @property
    def concentrated_label(self) -> str: ...
    @property
    def weighted_label(self) -> str: ...
    @property
    def concentrated(self) -> ContactState: ...
    @property
    def weighted(self) -> ContactState: ...
    @property
    def factor(self) -> float: ...


def write_comparison_figure(
    path: Path, runs: Sequence[tuple[str, Result]], pairs: Sequence[_Pair]
) -> Path:
    """Draw the pairs (weighted against images, concentrated against images), or else all runs."""
    units = units_of(runs[0][1].simulation.model.solid)
    if pairs:
        figure = new_figure(11.0, 6.6 * len(pairs))
        axes = figure.subplots(2 * len(pairs), 2, squeeze=False, sharex="row")
        for k, pair in enumerate(pairs):
            _draw_pair(axes[2 * k : 2 * k + 2], pair, units, named=len(runs) > 2)
        return save_figure(figure, path)
    names = list(dict.fromkeys(name for _, result in runs for name in result.contacts))
    figure = new_figure(11.0, 3.8 * len(names))
    axes = figure.subplots(len(names), 2, squeeze=False)
    for row, name in zip(axes, names, strict=True):
        _draw_runs(row, name, runs, units)
    return save_figure(figure, path)


def _draw_pair(
    axes: np.ndarray[tuple[int, int], np.dtype[np.object_]],
    pair: _Pair,
    units: Units,
    named: bool,
) -> None:
    c, w = pair.concentrated, pair.weighted
    length, length_unit = scaled(c.abscissa, units.length)
    every = pair.factor * np.hstack([c.force, c.equivalent, w.force, w.equivalent])
    scale, unit = scaled(every, units.force)
    s, factor = length * c.abscissa, scale * pair.factor
    columns = (
        (
            "Concentrated reactions",
            pair.concentrated_label,
            c.force,
            "computed",
            w.equivalent,
            "P (weighted)",
            w.inadmissible,
        ),
        (
            "Weighted reactions",
            pair.weighted_label,
            w.force,
            "computed",
            c.equivalent,
            "P⁻¹ (concentrated)",
            c.inadmissible,
        ),
    )
    for column, (title, run, computed, label, image, image_label, wrong) in enumerate(columns):
        for k, letter in enumerate("NT"):
            ax: Axes = axes[k, column]
            _line(ax, s, factor * computed[:, k], 0, label)
            _line(ax, s, factor * image[:, k], 1, image_label)
            if wrong.any():
                ax.scatter(
                    s[wrong],
                    factor * image[wrong, k],
                    marker="x",
                    s=90,
                    color=RED,
                    linewidths=2.0,
                    zorder=4,
                    label="inadmissible image",
                )
            ax.axhline(0.0, color="0.4", linewidth=0.8)
            ax.set_ylabel(f"R{letter} ({unit})")
            tidy(ax)
        heading = f"{title}, contact '{c.name}'"
        axes[0, column].set_title(f"{heading}\n{run}" if named else heading, size=11)
        axes[0, column].legend(frameon=False)
        axes[1, column].set_xlabel(f"length along the contact ({length_unit})")


def _draw_runs(
    row: Sequence[Axes], name: str, runs: Sequence[tuple[str, Result]], units: Units
) -> None:
    """Force over support, a stress, so that meshes of different sizes compare."""
    chosen = [(label, result.contacts[name]) for label, result in runs if name in result.contacts]
    length, length_unit = scaled(np.concatenate([s.abscissa for _, s in chosen]), units.length)
    densities = [_density(state) for _, state in chosen]
    scale, unit = scaled(np.concatenate([d.ravel() for d in densities]), units.stress)
    for k, letter in enumerate("NT"):
        for i, ((label, state), density) in enumerate(zip(chosen, densities, strict=True)):
            _line(row[k], length * state.abscissa, scale * density[:, k], i, label)
        row[k].axhline(0.0, color="0.4", linewidth=0.8)
        row[k].set_ylabel(f"R{letter} over support ({unit})")
        row[k].set_xlabel(f"length along contact '{name}' ({length_unit})")
        tidy(row[k])
    row[0].legend(frameon=False, fontsize=9)


def _density(state: ContactState) -> FloatArray:
    safe = np.where(state.support > 0.0, state.support, np.inf)
    return np.asarray(state.force / safe[:, None])


def _line(ax: Axes, s: FloatArray, values: FloatArray, number: int, label: str) -> None:
    ax.plot(
        s,
        values,
        label=label,
        color=_COLOURS[number % len(_COLOURS)],
        linestyle=_LINES[number % len(_LINES)],
        marker=_MARKERS[number % len(_MARKERS)],
        markersize=5,
        markerfacecolor="white" if number else None,
        linewidth=1.4,
    )
