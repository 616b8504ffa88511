"""Abaqus input files: what meshio's reader needs help with, and a writer."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.errors import MeshError
from fecontact.mesh.blocks import Block
from fecontact.mesh.core import Mesh

WRITTEN = {"line": "T2D2", "triangle": "CPS3", "quad": "CPS4"}
MARK = "@"
NAME = r"""("[^"\n]*"|[^,\s"]+)"""
"""A name as Abaqus has it: in quotes where it holds blanks."""


class _NamedText(io.StringIO):
    """Text with the name that meshio wants in order to find included files."""

    name = ""


def read_abaqus(path: Path) -> Any:
    """Mesh of meshio, with plane strain and axisymmetric elements and repeated sets understood.

    In Abaqus a set may be given in several pieces; meshio keeps one of them, and mixes up the sets
    named by *ELEMENT lines where some lines name none. So every piece gets a name of its own here.
    """
    import meshio

    count = 0

    def element(line: re.Match[str]) -> str:
        nonlocal count
        kind = re.search(r"type\s*=\s*([\w-]+)", line.group(), re.I)
        found = re.search(rf"elset\s*=\s*{NAME}", line.group(), re.I)
        name = kind.group(1).upper() if kind else ""
        plane = re.fullmatch(r"(?:CPEG|CPE|CPS|CGAX|CAX)([34])[A-Z]*", name)
        name = f"CPS{plane.group(1)}" if plane else name
        count += 1
        return f"*ELEMENT, TYPE={name}, ELSET={found.group(1) if found else ''}{MARK}{count}"

    def piece(line: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"{line.group()}{MARK}{count}"

    text = path.read_text(encoding="utf-8", errors="replace")
    _refuse_beyond(text, path)
    text = re.sub(r"^\*ELEMENT\s*,.*$", element, text, flags=re.I | re.M)
    sets = rf"^\*(ELSET|NSET)\s*,(?:[^\n]*,)?\s*\1\s*=\s*{NAME}"
    stream = _NamedText(re.sub(sets, piece, text, flags=re.I | re.M))
    stream.name = str(path)
    given = meshio.read(stream, file_format="abaqus")
    none = np.empty(0, dtype=np.int64)
    elements: dict[str, list[Any]] = {}
    for marked, rows in given.cell_sets.items():
        name = marked.rpartition(MARK)[0].strip('"')
        joined = elements.setdefault(name, [none] * len(given.cells)) if name else []
        for index, more in enumerate(rows[: len(joined)]):
            joined[index] = np.union1d(joined[index], more).astype(np.int64)
    nodes: dict[str, Any] = {}
    for marked, numbers in given.point_sets.items():
        name = (marked.rpartition(MARK)[0] or marked).strip('"')
        nodes[name] = np.union1d(nodes.get(name, none), numbers).astype(np.int64)
    given.cell_sets, given.point_sets = elements, nodes
    return given


def _refuse_beyond(text: str, path: Path) -> None:
    """Refuse files of other folders and ranges of numbers that the file cannot hold."""
    for found in re.finditer(r"^\*INCLUDE\s*,.*INPUT\s*=\s*([^,\n]+)", text, re.I | re.M):
        named = found.group(1).strip().strip("\"'")
        if not (path.parent / named).resolve().is_relative_to(path.parent.resolve()):
            raise MeshError(f"it includes {named!r}, which is not in the folder of the mesh file")
    ranges = r"^\*[^\n]*\bGENERATE\b[^\n]*\n((?:[^*\n][^\n]*\n?)*)"
    for listed in re.finditer(ranges, text, re.I | re.M):
        for line in listed.group(1).splitlines():
            numbers = re.findall(r"-?\d+", line)[:2]
            if len(numbers) == 2 and int(numbers[1]) - int(numbers[0]) > len(text):
                raise MeshError(f"a set of the numbers {line.strip()} in {len(text)} bytes")


def write_abaqus(mesh: Mesh, blocks: list[Block], path: Path) -> None:
    """Write nodes, elements, edges as trusses, and sets."""
    lines = ["*HEADING", "fecontact mesh", "*NODE"]
    lines += [f"{i}, {x!r}, {y!r}" for i, (x, y) in enumerate(mesh.nodes.tolist(), start=1)]
    first = 1
    sets: dict[str, list[int]] = {}
    for block in blocks:
        lines.append(f"*ELEMENT, TYPE={WRITTEN[block.kind]}")
        rows = (block.nodes + 1).tolist()
        lines += [f"{first + i}, {', '.join(map(str, row))}" for i, row in enumerate(rows)]
        for name, members in block.groups.items():
            sets.setdefault(name, []).extend((members + first).tolist())
        first += len(rows)
    for name, numbers in sets.items():
        lines += [f"*ELSET, ELSET={_named(name)}", *_rows(numbers)]
    for name, group in mesh.node_groups.items():
        lines += [f"*NSET, NSET={_named(name)}", *_rows((group + 1).tolist())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _named(name: str) -> str:
    if '"' in name or MARK in name or "," in name or "=" in name:
        raise MeshError(
            f"the group {name!r}: names with quotes, commas, = or {MARK} are not written to Abaqus "
            "files; give it another name"
        )
    return f'"{name}"' if " " in name else name


def _rows(numbers: list[int], width: int = 12) -> list[str]:
    return [
        ", ".join(map(str, numbers[start : start + width]))
        for start in range(0, len(numbers), width)
    ]
