"""Figures over time: forces of contacts and supports, probes, energies; one run or several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fecontact.history import History
from fecontact.output.figures import BLUE, GREY, ORANGE, RED, new_figure, save_figure, scaled, tidy
from fecontact.schemes.energy import COLUMNS as ENERGIES
from fecontact.simulation import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", GREY, "#E69F00", "#000000", RED)
LINES: tuple[Any, ...] = (
    "-",
    "--",
    "-.",
    ":",
    (0, (8, 2, 1, 2, 1, 2)),
    (0, (10, 3)),
    (0, (3, 1, 1, 1)),
    (0, (1, 3)),
    (0, (5, 1)),
)
"""As many as there are colours: curves are told apart without them."""
_UNITS = {"u": "m", "v": "m/s"}
_MARKED = 40


def plot_column(ax: Axes, runs: Sequence[tuple[str, History]], column: str, unit: str) -> Axes:
    """One column of several histories against time.

    Parameters
    ----------
    ax
        Where to draw.
    runs
        Labels and histories; those without the column are left out.
    column
        Name of the column.
    unit
        For the label.
    """
    shown = [(label, history) for label, history in runs if column in history.columns]
    largest = max((abs(h[column]).max(initial=0.0) for _, h in shown), default=0.0)
    factor, text = scaled(largest, unit)
    for k, (label, history) in enumerate(shown):
        ax.plot(
            history["time"],
            factor * history[column],
            color=COLOURS[k % len(COLOURS)],
            linestyle=LINES[k % len(LINES)],
            linewidth=1.3,
            marker="." if len(history) <= _MARKED else None,
            label=label,
        )
    ax.set_xlabel("time (s)")
    ax.set_ylabel(f"{column} ({text})")
    if len(shown) > 1:
        ax.legend(frameon=False)
    tidy(ax)
    return ax


def plot_energies(ax: Axes, history: History) -> Axes:
    """All energies of a run that are not zero throughout."""
    columns = {name: history[f"energy_{name}"] for name in ENERGIES}
    largest = max(abs(values).max(initial=0.0) for values in columns.values())
    factor, unit = scaled(largest, "J/m")
    drawn = 0
    for name, values in columns.items():
        if abs(values).max(initial=0.0) <= 1e-12 * largest:
            continue
        ax.plot(
            history["time"],
            factor * values,
            color=COLOURS[drawn % len(COLOURS)],
            linestyle=LINES[drawn % len(LINES)],
            linewidth=1.3,
            label=name,
        )
        drawn += 1
    ax.set_xlabel("time (s)")
    ax.set_ylabel(f"energy, work, dissipation ({unit})")
    if drawn:
        # above the axes: energies leave no corner that is sure to be free
        ax.legend(frameon=False, ncols=min(drawn, 5), loc="lower left", bbox_to_anchor=(0.0, 1.0))
    tidy(ax)
    return ax


def followed(result: Result) -> dict[str, str]:
    """Columns worth a picture, with their units: contact forces first, then probes."""
    simulation = result.simulation
    columns = {f"RN_{i.name}": "N/m" for i in simulation.model.interfaces}
    if any(i.friction.any() for i in simulation.model.interfaces):
        columns |= {f"RT_{i.name}": "N/m" for i in simulation.model.interfaces}
    columns |= {probe.name: _UNITS[probe.quantity[0]] for probe in simulation.probes}
    return columns


def write_history_figures(folder: Path, result: Result) -> list[Path]:
    """history.png and energy.png, where a run has more than two steps."""
    history = result.history
    if len(history) < 3:
        return []
    paths = []
    if followed(result):
        paths.append(_stacked(folder / "history.png", [("", result)]))
    figure = new_figure(7.2, 4.2)
    plot_energies(figure.add_subplot(), history)
    paths.append(save_figure(figure, folder / "energy.png"))
    return paths


def write_history_comparison(path: Path, runs: Sequence[tuple[str, Result]]) -> Path | None:
    """The followed columns of several runs, one above the other; None where steps are few."""
    if not any(len(result.history) > 2 and followed(result) for _, result in runs):
        return None
    return _stacked(path, runs)


def _stacked(path: Path, runs: Sequence[tuple[str, Result]]) -> Path:
    columns: dict[str, str] = {}
    for _, result in runs:
        columns |= followed(result)
    figure = new_figure(7.6, 2.7 * len(columns))
    axes = figure.subplots(len(columns), 1, squeeze=False, sharex=True)[:, 0]
    histories = [(label, result.history) for label, result in runs]
    for ax, (column, unit) in zip(axes, columns.items(), strict=True):
        plot_column(ax, histories, column, unit)
        if ax is not axes[-1]:
            ax.set_xlabel("")
    return save_figure(figure, path)
