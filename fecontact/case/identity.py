"""What makes two cases the same: every key with its value, and the files that it names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fecontact import __version__
from fecontact.case.reading import Case
from fecontact.case.schema import CaseSpec

_WORDS = ("title", "description", "reference")
_FILES = ("file", "geometry")


def resolved(spec: CaseSpec) -> dict[str, Any]:
    """Every key of a case, defaults filled in, without the words that change no number."""
    data: dict[str, Any] = spec.model_dump(mode="json", exclude=set(_WORDS))
    return data


def fingerprint(case: Case) -> str:
    """64 hexadecimal digits that change with any key, any file named, and the program's version."""
    whole = {"version": __version__, "case": resolved(case.spec), "files": file_digests(case)}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def file_digests(case: Case) -> dict[str, str]:
    """SHA-256 of the files that a case names, "missing" for one that is not there."""
    names = sorted(set(_named_files(resolved(case.spec))))
    return {name: _digest(case.path.parent / name) for name in names}


def input_digests(case: Case) -> dict[str, str]:
    """The same with the case file itself."""
    return {case.path.name: _digest(case.path), **file_digests(case)}


def _named_files(data: Any) -> Iterator[str]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key in _FILES and isinstance(value, str):
                yield value
            else:
                yield from _named_files(value)
    elif isinstance(data, list):
        for value in data:
            yield from _named_files(value)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "missing"


def differences(one: Any, other: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Places where two plain trees differ, with what each has there (None where it has nothing)."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*one, *other)):
            where = f"{place}.{key}" if place else str(key)
            yield from differences(one.get(key), other.get(key), where)
    elif one != other:
        yield place, one, other
