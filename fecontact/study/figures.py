"""Figures of a study: outputs against each of the keys that vary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fecontact.errors import InputError, choices
from fecontact.naming import file_parts
from fecontact.output.figures import RED, new_figure, save_figure, tidy
from fecontact.study.table import Row, matches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 8
_MOST_PANELS = 12
_MARKERS = "osD^vP*X"


def is_number(value: Any) -> bool:
    """Whether a cell of the table is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def plot_output(ax: Axes, rows: Sequence[Row], keys: Sequence[str], key: str, output: str) -> Axes:
    """One output against one key, a line for each combination of the others.

    Parameters
    ----------
    ax
        Where to draw.
    rows
        Rows of the table; failed variants are marked by red crosses at the lower edge.
    keys
        All keys that vary.
    key, output
        What to draw against what.
    """
    from matplotlib.ticker import MaxNLocator

    if key not in keys:
        raise InputError(f"the key {key!r} does not vary; {choices(key, keys, 'keys')}")
    others = [k for k in keys if k != key and len({str(r.get(k)) for r in rows}) > 1]
    values = [r.get(key) for r in rows]
    numeric = all(is_number(v) for v in values)
    places = _places(values, numeric)
    lines: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for cells, place in zip(rows, places, strict=True):
        y = cells.get(output)
        if cells.get("status") == "converged" and is_number(y):
            group = tuple(cells.get(k) for k in others)
            lines.setdefault(group, []).append((place, float(y)))  # type: ignore[arg-type]
    colours = _colours(len(lines))
    for number, (group, points) in enumerate(lines.items()):
        x, y = np.array(sorted(points)).T
        words = ", ".join(
            f"{k.rpartition('.')[2]} = {_word(v)}" for k, v in zip(others, group, strict=True)
        )
        ax.plot(
            x,
            y,
            color=colours[number],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=5,
            linewidth=1.3,
            linestyle="-" if numeric else ":",
            label=words or None,
        )
    failed = [p for p, r in zip(places, rows, strict=True) if r.get("status") == "failed"]
    if failed:
        ax.plot(
            failed,
            np.full(len(failed), 0.02),
            "x",
            color=RED,
            markeredgewidth=2,
            transform=ax.get_xaxis_transform(),
            clip_on=False,
            label="failed",
        )
    if numeric and _logarithmic([float(v) for v in values if v is not None]):
        ax.set_xscale("log")
    if not numeric:
        names = list(dict.fromkeys(_word(v) for v in values))
        ax.set_xticks(range(len(names)), names)
        ax.margins(x=0.15)
    if all(isinstance(r.get(output), int) for r in rows if output in r):
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(key)
    ax.set_title(output, size=10)
    tidy(ax)
    return ax


def _places(values: Sequence[Any], numeric: bool) -> list[float]:
    if numeric:
        return [float(v) for v in values]
    names = list(dict.fromkeys(_word(v) for v in values))
    return [float(names.index(_word(v))) for v in values]


def _word(value: Any) -> str:
    if value is None:
        return "(as in the case)"
    return f"{value:g}" if is_number(value) else str(value)


def _logarithmic(values: Sequence[float]) -> bool:
    """Whether values spread evenly in their logarithms, over more than a decade."""
    found = sorted(set(values))
    if len(found) < 3 or found[0] <= 0.0 or found[-1] < 10.0 * found[0]:
        return False
    steps = np.diff(np.log(found))
    return bool(steps.max() < 1.5 * steps.min())


def _colours(count: int) -> list[Any]:
    from matplotlib import colormaps

    # the light end of the scale is hard to see on white
    return list(colormaps["viridis"](np.linspace(0.0, 0.88, max(count, 1))))


def write_figures(
    folder: Path, rows: Sequence[Row], keys: Sequence[str], outputs: Sequence[str]
) -> list[Path]:
    """Write ``results_KEY.png`` for each key that varies, a panel for each output."""
    shown = [
        name for name in outputs if any(is_number(r.get(name)) for r in rows) and name not in keys
    ]
    paths: list[Path] = []
    parts = file_parts(keys)
    for key in keys:
        if not shown or len({str(r.get(key)) for r in rows}) < 2:
            continue
        panels = shown[:_MOST_PANELS]
        across = min(3, len(panels))
        down = math.ceil(len(panels) / across)
        figure = new_figure(4.2 * across, 3.2 * down + 0.5)
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for ax, output in zip(axes, panels, strict=False):
            plot_output(ax, rows, keys, key, output)
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        handles, labels = axes[0].get_legend_handles_labels()
        if labels and len(labels) <= _MOST_LINES + 1:
            figure.legend(
                handles,
                labels,
                loc="outside lower center",
                ncols=min(4, len(labels)),
                frameon=False,
            )
        paths.append(save_figure(figure, folder / f"results_{parts[key]}.png"))
    return paths


def drawn(rows: Sequence[Row], patterns: Sequence[str]) -> list[str]:
    """Outputs that match the patterns and are neither the same everywhere nor as another is."""
    names = dict.fromkeys(name for r in rows for name in r)
    found: dict[tuple[str, ...], str] = {}
    for pattern in patterns:
        for name in names:
            values = tuple(str(r.get(name)) for r in rows)
            if matches(name, pattern) and len({str(r[name]) for r in rows if name in r}) > 1:
                # a peak may be the same as the last value
                found.setdefault(values, name)
    return list(found.values())
