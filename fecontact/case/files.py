"""Files that a case names: where they may lie, and what they may do.

A case file is data, and may come from a stranger. What it names lies in its own folder, below it,
or in the folder ``meshes`` beside it; files elsewhere are for the user to name on the command line
or to allow. A Gmsh script may hold commands that read, write or run other files: those are
refused. A Python geometry is a program of the user, and is run as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fecontact.errors import CaseError

KEYS = ("file", "geometry")
"""Keys of the case file whose values are files."""

_COMMANDS = re.compile(
    r"\b(SystemCall|NonBlockingSystemCall|OnelabRun|CreateDir|Include|Merge|MergeWithBoundingBox|"
    r"ShapeFromFile|Save|Print|Plugin)\b(?!\s*\.)|\b(?:Printf|Warning|Error)\b(?=[^;]*>)"
)


@dataclass(frozen=True)
class Files:
    """What a case may read.

    Parameters
    ----------
    folder
        Of the case file; its files are relative to it.
    pointed
        Names that the user gave, which may lie anywhere.
    trusted
        Whether all files may lie anywhere and do anything.
    """

    folder: Path
    pointed: frozenset[str] = frozenset()
    trusted: bool = False

    def find(self, name: str) -> Path:
        """Path of a file that the case names."""
        path = self.folder / name
        if self.trusted or name in self.pointed:
            return path
        try:
            resolved, folder = path.resolve(), self.folder.resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise CaseError(f"file {name[:80]!r}: {error}") from None
        beside = folder.parent / "meshes"
        if not (resolved.is_relative_to(folder) or resolved.is_relative_to(beside)):
            raise CaseError(
                f"file {name!r} is outside the folder of the case and of 'meshes' beside it; copy "
                "it there, name it on the command line (--set mesh.file=...), or allow the case "
                "all files with --trust"
            )
        if path.suffix == ".geo" and path.is_file():
            _refuse_commands(path, name)
        return path


def _refuse_commands(path: Path, name: str) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    # strings and comments in one pass: neither may hide the end of the other
    plain = re.sub(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', " ", text, flags=re.S)
    found = _COMMANDS.search(plain)
    if found:
        raise CaseError(
            f"file {name!r} is a Gmsh script with the command {found.group()!r}, which reads, "
            "writes or runs other files; take it out, or allow the case all files with --trust"
        )


def files_given(values: Mapping[str, Any]) -> Iterator[str]:
    """Names of files among settings, by their last keys."""
    for key, value in values.items():
        yield from _named(value, key.rpartition(".")[2])


def _named(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part, inner in value.items():
            yield from _named(inner, str(part))
    elif key in KEYS and isinstance(value, str):
        yield value
