"""Case files: TOML in, a checked case out, with messages that name the key and the choices."""

from __future__ import annotations

import copy
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from fecontact.case.files import Files, files_given
from fecontact.case.schema import NAMED_TABLES, CaseSpec
from fecontact.errors import CaseError, choices
from fecontact.naming import controls

MAX_BYTES = 10_000_000
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}""")
"""A key of so many parts takes the reader of TOML time with the square of their number."""
ALTERNATIVES = {"time.step": "steps", "time.steps": "step"}
"""Keys of which a case has one at most."""
LARGEST, SMALLEST = 1e30, 1e-60
"""Sizes of numbers beyond which squares of forces or energies would leave what a computer knows."""


@dataclass(frozen=True, eq=False)
class Case:
    """A checked case file.

    Attributes
    ----------
    path : Path
        Where it was read; files that it names are relative to its folder.
    data : dict
        The plain tables, with the settings of the command line put in.
    spec : CaseSpec
        The same, checked.
    pointed : frozenset of str
        Files that settings name, which may lie anywhere.
    trusted : bool
        Whether all files that it names may lie anywhere and do anything.
    """

    path: Path
    data: dict[str, Any]
    spec: CaseSpec
    pointed: frozenset[str] = frozenset()
    trusted: bool = False

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def files(self) -> Files:
        """What it may read."""
        return Files(self.path.parent, self.pointed, self.trusted)

    def with_settings(self, settings: Sequence[str]) -> Case:
        """A case with some keys set, each as ``key.subkey=value``."""
        data = copy.deepcopy(self.data)
        given = put_settings(data, settings)
        return Case(self.path, data, check(data, self.path), self.pointed | given, self.trusted)

    def with_values(self, values: Mapping[str, Any]) -> Case:
        """A case with some keys set to Python values, each key as ``key.subkey``."""
        data = copy.deepcopy(self.data)
        for key, value in values.items():
            put(data, key_path(key), copy.deepcopy(value))
        return replace(self, data=data, spec=check(data, self.path))


def read_case(path: str | Path, settings: Sequence[str] = (), *, trust: bool = False) -> Case:
    """Read and check a case file.

    Parameters
    ----------
    path
        A TOML file.
    settings
        ``key=value`` strings put in before the check.
    trust
        Let the case name files in any folder, and Gmsh scripts that read, write and run others.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CaseError(f"{path}: larger than {MAX_BYTES} bytes, this is no case file")
        text = path.read_text(encoding="utf-8-sig")
        if _LONG_KEY.search(text):
            raise CaseError(f"{path}: a key of more than 64 parts, this is no case file")
        data = tomllib.loads(text)
    except FileNotFoundError:
        raise CaseError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise CaseError(f"{path}: this is a folder, a TOML file is expected") from None
    except PermissionError:
        raise CaseError(f"{path}: it cannot be read: permission denied") from None
    except (ValueError, RecursionError) as error:
        raise CaseError(f"{path}: not valid TOML: {error}") from None
    given = put_settings(data, settings)
    return Case(path, data, check(data, path), given, trust)


def put_settings(data: dict[str, Any], settings: Sequence[str]) -> frozenset[str]:
    """Put ``key=value`` strings into plain tables; returns the files that they name."""
    named: set[str] = set()
    for setting in settings:
        key, value = parse_setting(setting)
        put(data, key, value)
        named.update(files_given({".".join(key): value}))
    return frozenset(named)


def check(data: dict[str, Any], path: Path) -> CaseSpec:
    """Validate plain tables; all that is wrong comes in one error, a line each."""
    lines = [f"{place}: {told}" for place, told in _beyond(data)]
    try:
        if not lines:
            return CaseSpec.model_validate(data)
    except ValidationError as error:
        lines = [_line(e) for e in error.errors()]
    raise CaseError("\n".join(f"{path}: {line}" for line in dict.fromkeys(lines)))


def _beyond(data: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Numbers that nothing can be computed with, names that are no text, and where they are."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            if found := controls(str(key)):
                yield place or "the case", f"the name {key!r} holds {found!r}; give plain text"
            yield from _beyond(value, f"{place}.{key}" if place else str(key))
    elif isinstance(data, list):
        for value in data:
            yield from _beyond(value, place)
    elif isinstance(data, int | float) and LARGEST < abs(data) < math.inf:
        shown = f"{data:g}" if isinstance(data, float) else f"{str(data)[:20]}..."
        yield place, f"{shown} is too large a number (limit {LARGEST:g}); choose other units"
    elif isinstance(data, float) and 0.0 < abs(data) < SMALLEST:
        yield place, f"{data:g} is too small a number (limit {SMALLEST:g}); choose other units"


def _line(error: Any) -> str:
    place = ".".join(str(p) for p in error["loc"] if not str(p).startswith("<"))
    kind, given = error["type"], error.get("input")
    shown = repr(given) if not isinstance(given, dict) else "a table"
    if len(shown) > 80:
        shown = shown[:77] + "..."
    context = error.get("ctx", {})
    if kind == "missing":
        return f"{place}: this key is missing"
    if kind == "literal_error":
        known = [c.strip("'") for c in context["expected"].replace(" or ", ", ").split(", ")]
        return f"{place}: {shown} is not a choice; {choices(str(given), known)}"
    if kind == "union_tag_invalid":
        key, _, value = context["tag"].strip("<>").partition("=")
        tags = [t.strip(" '<>").partition("=") for t in context["expected_tags"].split(",")]
        known = [tag[2] for tag in tags if tag[0] == key]
        if not value:
            return f"{place}.{key}: this key is missing; {choices(value, known)}"
        return f"{place}.{key}: {value!r} is not a choice; {choices(value, known)}"
    if kind == "union_tag_not_found":
        return f"{place}: give exactly one of generator, file, geometry or parts"
    if kind in ("unknown_key", "value"):
        return f"{place}: {error['msg']}" if place else error["msg"]
    message = error["msg"][0].lower() + error["msg"][1:]
    if isinstance(given, dict) and not kind.endswith("_type"):
        # what is wrong is between the keys of the table
        return f"{place}: {message}"
    return f"{place}: {shown} given; {message}"


def parse_setting(text: str) -> tuple[list[str], Any]:
    """Key path and value of ``key.subkey=value``; what is no TOML value is taken as a string."""
    key, equals, value = text.partition("=")
    if not equals:
        raise CaseError(f"setting {text!r}: expected key=value, such as contact.reactions=weighted")
    return key_path(key), parse_value(value.strip())


def key_path(key: str) -> list[str]:
    """Parts of ``key.subkey``."""
    path = [part.strip() for part in key.split(".")]
    if not all(path):
        raise CaseError(f"setting {key!r}: expected a key such as contact.reactions")
    return path


def parse_value(text: str) -> Any:
    """A TOML value, or the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def put(data: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set a key; below a table of named entries a key that is no name is set in all of them."""
    where = ".".join(path)
    head = path[0]
    if head not in CaseSpec.model_fields:
        raise CaseError(
            f"setting {where}: unknown key {head!r}; {choices(head, CaseSpec.model_fields, 'keys')}"
        )
    if head in NAMED_TABLES and len(path) > 1:
        entries = data.get(head, {})
        if isinstance(entries, dict) and path[1] not in entries:
            if not entries:
                raise CaseError(f"setting {where}: the case has no entry under [{head}]")
            if len(path) > 2 and path[1] not in _keys_of(CaseSpec.model_fields[head].annotation):
                raise CaseError(
                    f"setting {where}: there is no [{head}.{path[1]}]; "
                    f"{choices(path[1], entries, head)}"
                )
            for entry in entries.values():
                _put(entry, path[1:], value, where)
            return
    _put(data, path, value, where)
    other = ALTERNATIVES.get(where)
    if other is not None:
        # one that is set takes the place of the other, which could not be taken out otherwise
        data[head].pop(other, None)


def _keys_of(annotation: Any) -> set[str]:
    """Keys of all tables that an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return set(annotation.model_fields)
    return {key for part in get_args(annotation) for key in _keys_of(part)}


def _put(table: Any, path: Sequence[str], value: Any, where: str) -> None:
    for part in path[:-1]:
        if not isinstance(table, dict):
            raise CaseError(f"setting {where}: {part!r} is below a value that is no table")
        table = table.setdefault(part, {})
    if not isinstance(table, dict):
        raise CaseError(f"setting {where}: {path[-1]!r} is below a value that is no table")
    table[path[-1]] = value
