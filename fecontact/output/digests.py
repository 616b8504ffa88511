"""Digests of a run's files in its summary, which tell when one of them is changed afterwards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_TIMED = ("wall_time", "digest")
"""Parts of a summary that are not the same when the same is computed again."""
_NUMBERS = (".csv", ".h5", ".vtu", ".npz")
"""Files of numbers; pictures and pages are made from them."""


def digests_of(paths: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of those files that hold numbers, by name; checkpoints come and go."""
    wanted = {path.name: path for path in paths if path.suffix in _NUMBERS and path.is_file()}
    return {
        name: _of_file(path)
        for name, path in sorted(wanted.items())
        if not name.startswith("checkpoint_")
    }


def summary_digest(summary: Mapping[str, Any]) -> str:
    """SHA-256 of a summary without its timings."""
    told = {key: value for key, value in summary.items() if key not in _TIMED}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def changed_files(folder: Path, summary: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Names of files that are not as the run wrote them, and of those that are not there."""
    told = summary.get("digests")
    kept = told if isinstance(told, Mapping) else {}
    changed, missing = [], []
    for name, digest in kept.items():
        path = folder / Path(name).name
        if not path.is_file():
            missing.append(name)
        elif _of_file(path) != digest:
            changed.append(name)
    if summary.get("digest") != summary_digest(summary):
        changed.append("summary.json")
    return changed, missing


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
