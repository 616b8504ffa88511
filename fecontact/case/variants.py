"""Variants of a case: a grid over the values of some keys, or a list from a table."""

from __future__ import annotations

import csv
import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.case.reading import Case, parse_value
from fecontact.errors import CaseError, at

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*:\s*({_NUMBER})\s*:\s*(\d+)\s*(?::\s*(log)\s*)?$")
_LONGEST_LABEL = 120
MOST = 1_000_000
"""Variants that a study may have."""


@dataclass(frozen=True)
class Choice:
    """One value of one key, and how it is written."""

    key: str
    value: Any
    text: str


Axis = Sequence[Sequence[Choice]]
"""Alternatives, each of which sets one key or several together."""


@dataclass(frozen=True, eq=False)
class Variant:
    """A case with some of its keys set.

    Attributes
    ----------
    label
        Short name, fit for a folder, unique among the variants.
    values
        The keys that vary, with the values they have here.
    case
        The whole case, checked.
    """

    label: str
    values: dict[str, Any]
    case: Case


def split_values(text: str) -> list[str]:
    """Split at the commas that are not inside brackets, braces or quotes."""
    parts, depth, quote, current = [], 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
            continue
        current += letter
    parts.append(current.strip())
    return parts


def parse_axis(text: str) -> Axis:
    """Alternatives of ``key=a,b,c``, where a part ``start:stop:n`` stands for n values.

    The values of a range are equally spaced, both ends included; ``start:stop:n:log`` spaces their
    logarithms. Whole numbers are written as such where both ends are.
    """
    key, equals, values = text.partition("=")
    key = key.strip()
    parts = split_values(values)
    if not equals or not key or not all(parts):
        raise CaseError(
            f"vary {text!r}: expected key=a,b,c or key=start:stop:n, such as "
            "contact.friction=0.1:0.9:5"
        )
    found: list[list[Choice]] = []
    for part in parts:
        match = _RANGE.match(part)
        if match is None:
            found.append([Choice(key, parse_value(part), part)])
        else:
            for one in _range(text, *match.groups()):
                found.append([Choice(key, parse_value(one), one)])
    return found


def _range(text: str, start: str, stop: str, count: str, log: str | None) -> list[str]:
    low, high, n = float(start), float(stop), int(count)
    if not 2 <= n <= MOST:
        raise CaseError(f"vary {text!r}: a range has 2 to {MOST} values, {n} given")
    if log and not (low > 0.0 and high > 0.0):
        raise CaseError(f"vary {text!r}: the ends of a logarithmic range must be positive")
    values = np.geomspace(low, high, n) if log else np.linspace(low, high, n)
    whole = start.lstrip("+-").isdigit() and stop.lstrip("+-").isdigit()
    # twelve digits: 0.30000000000000004 was not asked for
    shown = [float(f"{v:.12g}") for v in values]
    return [str(int(v)) if whole and v.is_integer() else repr(v) for v in shown]


def as_axis(key: str, values: Iterable[Any]) -> Axis:
    """Alternatives of one key from Python values."""
    given = values.tolist() if isinstance(values, np.ndarray) else list(values)
    plain = [v.item() if isinstance(v, np.generic) else v for v in given]
    if not plain:
        raise CaseError(f"vary {key!r}: no values are given")
    return [[Choice(key, v, v if isinstance(v, str) else repr(v))] for v in plain]


def read_list(path: str | Path) -> Axis:
    """Alternatives of a CSV table: keys of the case in its first row, a variant in each other.

    An empty cell leaves the key as the case has it.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except FileNotFoundError:
        raise CaseError(f"{path}: there is no such file") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise CaseError(f"{path}: not a CSV table: {error}") from None
    if len(rows) < 2:
        raise CaseError(f"{path}: expected a row of keys and at least one row of values")
    keys = [key.strip() for key in rows[0]]
    if not all(keys) or len(set(keys)) < len(keys):
        raise CaseError(f"{path}: the first row must give each column its own key: {rows[0]}")
    found = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(keys):
            raise CaseError(f"{path}: row {number} has {len(row)} cells, expected {len(keys)}")
        cells = [(key, cell.strip()) for key, cell in zip(keys, row, strict=True)]
        found.append([Choice(k, parse_value(c), c) for k, c in cells if c])
    return found


def grid(case: Case, axes: Sequence[Axis], *, bare: bool = False) -> list[Variant]:
    """All combinations, the last axis varying fastest.

    Parameters
    ----------
    case
        The case to vary.
    axes
        From `parse_axis`, `as_axis` or `read_list`.
    bare
        Labels of a single key have its values only.

    Raises
    ------
    CaseError
        Where a key is unknown or a value of the wrong kind; nothing has been run then.
    """
    keys = list(dict.fromkeys(c.key for axis in axes for choices in axis for c in choices))
    _refuse_repeated(axes)
    count = 1
    for axis in axes:
        count *= len(axis)
    if count > MOST:
        raise CaseError(f"vary: {count} variants, expected at most {MOST}")
    short = short_names(keys)
    found = []
    for combination in itertools.product(*axes):
        choices = [c for part in combination for c in part]
        if bare and len(keys) == 1 and choices:
            label = choices[0].text
        else:
            label = ",".join(f"{short[c.key]}={c.text}" for c in choices) or "base"
        values = {c.key: c.value for c in choices}
        found.append(Variant(_folder_name(label), values, case.with_values(values)))
    labels = [variant.label.casefold() for variant in found]
    if len(set(labels)) < len(labels):
        repeated = next(v.label for v in found if labels.count(v.label.casefold()) > 1)
        raise CaseError(f"vary: the variant {repeated!r} comes twice")
    return found


def _refuse_repeated(axes: Sequence[Axis]) -> None:
    seen: set[str] = set()
    for axis in axes:
        keys = {c.key for choices in axis for c in choices}
        for key in sorted(keys & seen):
            raise CaseError(f"vary: the key {key!r} is given twice")
        seen |= keys


def short_names(keys: Iterable[str]) -> Mapping[str, str]:
    """The shortest ends of the keys that tell them apart."""
    keys = list(keys)
    names = {}
    for key in keys:
        parts = key.split(".")
        for take in range(1, len(parts) + 1):
            name = ".".join(parts[-take:])
            if sum(k == name or k.endswith("." + name) for k in keys) == 1:
                break
        names[key] = name
    return names


def _folder_name(label: str) -> str:
    name = re.sub(r"[^\w.,=+-]", "_", label)
    if len(name) > _LONGEST_LABEL or name in (".", ".."):
        mark = hashlib.sha256(label.encode()).hexdigest()[:8]
        name = f"{name[:_LONGEST_LABEL]}-{mark}".lstrip(".")
    return name


def variants(case: Case, vary: Sequence[str]) -> list[tuple[str, Case]]:
    """Label and case of each variant of a grid, or of those that the case itself names.

    Parameters
    ----------
    case
        The case to vary.
    vary
        ``key=a,b`` strings; several make a grid, the last one varying fastest. With none of them
        the table ``variants`` of the case is taken.
    """
    if vary:
        found = grid(case, [parse_axis(text) for text in vary], bare=True)
        return [(variant.label, variant.case) for variant in found]
    if not case.spec.variants:
        raise CaseError(
            f"{case.path}: nothing to compare: give --vary key=a,b, or a table [variants.NAME]"
        )
    named = []
    for name, changes in case.spec.variants.items():
        with at(f"variants.{name}"):
            named.append((_folder_name(name), case.with_values(changes)))
    return named
