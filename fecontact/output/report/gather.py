"""Everything that the page shows, from the files of a run."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.contact import Status
from fecontact.errors import FecontactError, InputError
from fecontact.mesh import Mesh, read_mesh
from fecontact.output.contact_steps import SavedContacts, read_contact_steps, saved_times
from fecontact.output.report.encoding import integers, packed
from fecontact.output.report.fields import (
    MAX_STEPS,
    SavedField,
    chosen,
    mesh_chunk,
    read_grid,
    saved_fields,
    step_chunk,
)
from fecontact.output.report.toml import to_toml
from fecontact.output.report.verdicts import state_of, verdicts
from fecontact.output.summary import plain

MAX_ROWS = 20_000
"""Rows of the history in the page; a longer one is thinned evenly."""
Row = Mapping[str, float | None]
Cache = dict[str, tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Report:
    """What the page shows: plain data, and the large arrays by name as text."""

    data: dict[str, Any]
    chunks: Mapping[str, str] = field(default_factory=dict)


def gather(
    folder: Path, summary: Mapping[str, Any] | None = None, cache: Cache | None = None
) -> Report:
    """Read the files of a run; parts that are missing or unreadable are left out and noted.

    Parameters
    ----------
    folder
        Of the run.
    summary
        Used in place of summary.json, for a run that has not ended.
    cache
        Chunks of an earlier call for the same run; new ones are added.
    """
    cache = {} if cache is None else cache
    notes: list[str] = []
    if summary is None:
        summary = _read_summary(folder, notes)
    history, columns = _read_history(folder / "history.csv", notes)
    steps = saved_fields(folder)
    if not summary and not history and not steps:
        raise InputError(
            f"{folder}: no run is here; a folder with summary.json, history.csv or fields.pvd is "
            "expected"
        )
    used: dict[str, str] = {}
    mesh = _mesh(folder, steps, cache, used, notes)
    told = _steps(folder, steps, mesh["nodes"] if mesh else 0, cache, used, notes)
    case = summary.get("case")
    data = {
        "title": summary.get("title") or folder.name,
        "state": state_of(summary),
        "verdicts": [asdict(v) for v in verdicts(summary, history)],
        "notes": notes,
        "units": _units(summary),
        "mesh": mesh,
        "steps": told,
        "statuses": [status.label for status in Status],
        "history": {"columns": columns, "rows": _thinned(history, columns)},
        "summary": {k: v for k, v in summary.items() if k != "case"},
        "case": case,
        "toml": to_toml(case) if isinstance(case, Mapping) and case else "",
        "folder": folder.name,
        "files": _files(folder, summary),
    }
    return Report(plain(data), used)


def _read_summary(folder: Path, notes: list[str]) -> dict[str, Any]:
    path = folder / "summary.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        notes.append(f"summary.json cannot be read: {error}")
        return {}
    return found if isinstance(found, dict) else {}


def _read_history(path: Path, notes: list[str]) -> tuple[list[Row], list[str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows: list[Row] = [{k: _number(v) for k, v in row.items() if k} for row in reader]
            return rows, list(reader.fieldnames or [])
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError, csv.Error) as error:
        notes.append(f"{path.name} cannot be read: {error}")
        return [], []


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _thinned(rows: Sequence[Row], columns: Sequence[str]) -> list[list[float | None]]:
    places = range(len(rows))
    if len(rows) > MAX_ROWS:
        places = np.unique(np.rint(np.linspace(0, len(rows) - 1, MAX_ROWS)).astype(int)).tolist()
    return [[rows[i].get(name) for name in columns] for i in places]


def _units(summary: Mapping[str, Any]) -> dict[str, str]:
    depth = "" if summary.get("hypothesis") == "axisymmetric" else "/m"
    return {
        "length": "m",
        "stress": "Pa",
        "force": f"N{depth}",
        "energy": f"J{depth}",
        "velocity": "m/s",
        "time": "s",
    }


def _mesh(
    folder: Path, steps: list[SavedField], cache: Cache, used: dict[str, str], notes: list[str]
) -> dict[str, Any] | None:
    if "mesh" not in cache:
        mesh: Mesh | None = None
        if (folder / "mesh.vtu").is_file():
            try:
                mesh = read_mesh(folder / "mesh.vtu", allow_duplicates=True)
            except FecontactError as error:
                notes.append(str(error))
        if mesh is not None:
            nodes, cells = mesh.nodes, dict(mesh.cells)
        elif steps:
            grid = read_grid(steps[0].path)
            nodes, cells = grid.nodes, dict(grid.cells)
        else:
            return None
        none = np.zeros((0, 3), dtype=np.int64)
        triangles, quads = cells.get("triangle", none), cells.get("quad", none)
        text, told = mesh_chunk(nodes, triangles, quads)
        groups = _groups(mesh) if mesh is not None else []
        numbers = [group.pop("numbers") for group in groups]
        flat = np.concatenate([*numbers, np.zeros(0, dtype=np.int64)])
        told["groups"] = groups
        cache["mesh"] = text, told
        cache["groups"] = packed(integers(flat)), {}
    for name in ("mesh", "groups"):
        used[name] = cache[name][0]
    return cache["mesh"][1]


def _groups(mesh: Mesh) -> list[dict[str, Any]]:
    """Groups with what is drawn of them: nodes, edges, or the outline of a set of elements."""
    found: list[dict[str, Any]] = []

    def add(kind: str, name: str, count: int, numbers: Any) -> None:
        flat = np.asarray(numbers, dtype=np.int64).ravel()
        found.append(
            {"kind": kind, "name": name, "count": count, "size": len(flat), "numbers": flat}
        )

    for name, elements in mesh.element_groups.items():
        part = Mesh(mesh.nodes, mesh.select(elements))
        add("elements", name, len(elements), part.boundary_edges())
    for name, edges in mesh.edge_groups.items():
        add("edges", name, len(edges), edges)
    for name, nodes in mesh.node_groups.items():
        add("nodes", name, len(nodes), nodes)
    return found


def _steps(
    folder: Path,
    fields: list[SavedField],
    n_nodes: int,
    cache: Cache,
    used: dict[str, str],
    notes: list[str],
) -> list[dict[str, Any]]:
    """Saved steps with their chunks of fields and of contacts."""
    path = folder / "contacts.h5"
    times: dict[int, float] = {}
    try:
        times = saved_times(path)
    except (OSError, KeyError, RuntimeError) as error:
        notes.append(f"contacts.h5 cannot be read: {error}")
    shown = chosen(fields, n_nodes)
    found: dict[int, dict[str, Any]] = {}
    for step in shown:
        name = f"fields-{step.number}"
        if name not in cache:
            cache[name] = step_chunk(step)
        used[name] = cache[name][0]
        found[step.number] = {"number": step.number, "time": step.time, "fields": name}
        found[step.number] |= cache[name][1]
    if not fields:
        places = np.unique(np.rint(np.linspace(0, len(times) - 1, min(len(times), MAX_STEPS))))
        numbers = [list(times)[int(i)] for i in places]
        found = {number: {"number": number, "time": times[number]} for number in numbers}
    if len(found) < max(len(fields), len(times)):
        notes.append(
            f"This page shows {len(found)} of {max(len(fields), len(times))} saved steps, evenly "
            "chosen, to stay small; the files have them all."
        )
    missing = {n for n in found if n in times and f"contacts-{n}" not in cache}
    if missing:
        for saved in read_contact_steps(path, missing):
            cache[f"contacts-{saved.number}"] = _contact_chunk(saved)
    for number, step_told in found.items():
        name = f"contacts-{number}"
        if name in cache:
            used[name] = cache[name][0]
            step_told["contacts"] = name
            step_told |= cache[name][1]
    return [found[number] for number in sorted(found)]


def _contact_chunk(saved: SavedContacts) -> tuple[str, dict[str, Any]]:
    """All columns of the contacts of a step as JSON; the status of all steps is needed at once."""
    tables = {}
    for name, table in saved.tables.items():
        columns = {c: [_short(v) for v in table[c].tolist()] for c in table.dtype.names or ()}
        tables[name] = columns
    text = json.dumps(plain(tables), separators=(",", ":"), ensure_ascii=False)
    told = {
        "status": {n: "".join(map(str, t["status"].tolist())) for n, t in saved.tables.items()},
        "outlines": {n: np.asarray(line).tolist() for n, line in saved.outlines.items()},
    }
    return packed(text.encode("utf-8")), told


def _short(value: Any) -> Any:
    """Numbers to 7 digits: the page draws and shows them; the files have them all."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _files(folder: Path, summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not folder.is_dir():
        return []
    listed = summary.get("files") or []
    names = [n for n in listed if isinstance(n, str) and Path(n).name == n]
    if not names:
        names = sorted(p.name for p in folder.iterdir() if p.is_file() and p.suffix != ".html")
    return [
        {"name": n, "bytes": (folder / n).stat().st_size}
        for n in names
        if (folder / n).is_file() and n != "report.html"
    ]
