"""The table of a study: a row for each variant, failures included, as CSV and Parquet."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fecontact.output.atomic import replacing
from fecontact.study.tasks import Outcome

OUTPUTS = (
    "contacts.*.RN",
    "contacts.*.RT",
    "contacts.*.separated",
    "contacts.*.sliding",
    "contacts.*.sticking",
    "supports.*",
    "peak.RN_*",
    "peak.RT_*",
    "last.energy_*",
    "mesh.dofs",
    "times.steps_done",
    "times.time_reached",
    "worst_residual",
    "force_balance",
    "wall_time.computation",
)
"""What of a run is in the table unless other outputs are chosen."""

DRAWN = ("contacts.*", "peak.R*")
"""Which of these are drawn unless other outputs are chosen."""

Row = dict[str, Any]

_INPUTS = ("case", "quantities", "solver")


def scalars(summary: Any, place: str = "") -> Iterator[tuple[str, float | int | bool]]:
    """Numbers of a summary by their dotted paths; short lists give a path for each entry."""
    if isinstance(summary, Mapping):
        for key, value in summary.items():
            if place or key not in _INPUTS:
                yield from scalars(value, f"{place}.{key}" if place else str(key))
    elif isinstance(summary, list) and len(summary) <= 3:
        for name, value in zip("xyz", summary, strict=False):
            yield from scalars(value, f"{place}.{name}")
    elif isinstance(summary, bool | int | float):
        yield place, summary


def outputs(folder: Path) -> Row:
    """Every number that a run gives: of its summary, and of its history the last and the peak.

    ``last.COLUMN`` is the last value of a column of history.csv, ``peak.COLUMN`` the one that is
    largest in absolute value.
    """
    try:
        with (folder / "summary.json").open(encoding="utf-8") as file:
            found = dict(scalars(json.load(file)))
    except (OSError, ValueError):
        return {}
    try:
        with (folder / "history.csv").open(newline="", encoding="utf-8") as file:
            history = list(csv.DictReader(file))
    except (OSError, csv.Error):
        return found
    for name in history[0] if history else ():
        values = [v for v in (_number(line[name]) for line in history) if v is not None]
        if values:
            found[f"last.{name}"] = values[-1]
            found[f"peak.{name}"] = max(values, key=abs)
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def pick(found: Mapping[str, Any], patterns: Sequence[str]) -> Row:
    """Those whose paths match one of the patterns, in the order of the patterns."""
    return {path: found[path] for pattern in patterns for path in found if matches(path, pattern)}


def matches(path: str, pattern: str) -> bool:
    """Whether a path is meant by a pattern."""
    return path == pattern or fnmatchcase(path, pattern)


def row(
    label: str,
    values: Mapping[str, Any],
    outcome: Outcome,
    folder: Path,
    patterns: Sequence[str],
) -> Row:
    """The row of a variant that has ended."""
    return {
        "variant": label,
        **cells(values),
        "status": "converged" if outcome.exit_code == 0 else "failed",
        "exit_code": outcome.exit_code,
        "message": outcome.message,
        "seconds": outcome.seconds,
        **pick(outputs(folder), patterns),
    }


def cells(values: Mapping[str, Any]) -> Row:
    """Values of keys as cells: numbers, words, and JSON for lists and tables."""
    plain = str | int | float | bool
    return {k: v if isinstance(v, plain) else json.dumps(v) for k, v in values.items()}


def columns(rows: Sequence[Row], keys: Sequence[str]) -> list[str]:
    """Names of the columns: the variant, its keys, how it ended, its outputs."""
    first = ["variant", *keys, "status", "exit_code", "message", "seconds"]
    found = dict.fromkeys(first)
    for entry in rows:
        found |= dict.fromkeys(entry)
    return list(found)


def write_csv(path: Path, rows: Sequence[Row], names: Sequence[str]) -> Path:
    """Write the table; an empty cell is a value that a variant does not have."""
    with (
        replacing(path) as part,
        part.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for entry in rows:
            writer.writerow(_text(entry.get(name)) for name in names)
    return path


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def write_parquet(path: Path, rows: Sequence[Row], names: Sequence[str]) -> Path | None:
    """Write the table with typed columns; None where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = {name: _column([entry.get(name) for entry in rows]) for name in names}
    with replacing(path) as part:
        pq.write_table(pa.table(data), part)
    return path


def _column(values: list[Any]) -> list[Any]:
    """Values of one kind: numbers where all are, else text."""
    given = [v for v in values if v is not None]
    if all(isinstance(v, bool) for v in given):
        return values
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in given):
        if all(isinstance(v, int) for v in given):
            return values
        return [None if v is None else float(v) for v in values]
    return [None if v is None else _text(v) for v in values]


def listing(rows: Sequence[Row], names: Mapping[str, str], most: int = 30) -> str:
    """The first rows in aligned columns, numbers with five digits, for a terminal.

    Parameters
    ----------
    rows
        Rows of the table.
    names
        Columns, with the words to put above them.
    most
        Rows to show.
    """
    lines = [list(names.values())]
    lines += [[brief(entry.get(name)) for name in names] for entry in rows[:most]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    told = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in lines]
    if len(rows) > most:
        told.append(f"... and {len(rows) - most} more")
    return "\n".join(line.rstrip() for line in told)


def brief(value: Any) -> str:
    """A cell for people: five digits, at most 60 letters."""
    if isinstance(value, float):
        return f"{value:.5g}" if math.isfinite(value) else str(value)
    text = _text(value)
    return text if len(text) <= 60 else text[:57] + "..."
