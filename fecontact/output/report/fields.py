"""Saved fields for the page: which of them, on which steps, and their ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from fecontact.output.report.encoding import floats, integers, packed, quantised
from fecontact.recovery import principal_values, von_mises
from fecontact.typing import FloatArray

MAX_STEPS = 500
MAX_BYTES = 96_000_000
"""Of all saved fields before compression; beyond it, steps are left out evenly."""
STRESSES = ("sxx", "syy", "szz", "sxy")
STRAINS = ("exx", "eyy", "ezz", "gxy")
COMPONENTS = ("ux", "uy", *STRESSES, *STRAINS, "vx", "vy")
_KNOWN = {"displacement", "velocity", "stress", "strain", "von_mises"}


@dataclass(frozen=True)
class SavedField:
    """One entry of the collection: time, number and file."""

    time: float
    number: int
    path: Path


def saved_fields(folder: Path) -> list[SavedField]:
    """The files that fields.pvd lists and that are there, in order."""
    try:
        root = ElementTree.parse(folder / "fields.pvd").getroot()
    except (OSError, ElementTree.ParseError):
        return []
    found = []
    for entry in root.iter("DataSet"):
        path = folder / Path(entry.get("file", "")).name
        digits = path.stem.rpartition("_")[2]
        if path.is_file() and digits.isdigit():
            found.append(SavedField(float(entry.get("timestep", "nan")), int(digits), path))
    return found


def chosen(steps: list[SavedField], n_nodes: int, max_bytes: int = MAX_BYTES) -> list[SavedField]:
    """Steps that go into the page: all, or evenly many that keep it small, the last one always."""
    each = 2 * len(COMPONENTS) * max(n_nodes, 1)
    limit = max(2, min(MAX_STEPS, max_bytes // each))
    if len(steps) <= limit:
        return steps
    places = np.unique(np.rint(np.linspace(0, len(steps) - 1, limit)).astype(int))
    return [steps[i] for i in places]


@dataclass(frozen=True)
class Grid:
    """A VTU file as arrays: nodes (n, 2), cells by kind, point data by name."""

    nodes: FloatArray
    cells: Mapping[str, Any]
    point_data: Mapping[str, Any]


def read_grid(path: Path) -> Grid:
    """Read a file of saved fields."""
    import meshio

    grid = meshio.read(path)
    cells: dict[str, list[Any]] = {}
    for block in grid.cells:
        cells.setdefault(block.type, []).append(block.data)
    return Grid(
        np.asarray(grid.points[:, :2], dtype=float),
        {kind: np.vstack(blocks) for kind, blocks in cells.items()},
        grid.point_data,
    )


def mesh_chunk(nodes: FloatArray, triangles: Any, quads: Any) -> tuple[str, dict[str, Any]]:
    """Nodes about their centre and cells as a chunk, and what is needed to read it."""
    centre = 0.5 * (nodes.min(axis=0) + nodes.max(axis=0))
    data = floats(nodes - centre) + integers(triangles) + integers(quads)
    told = {
        "chunk": "mesh",
        "nodes": len(nodes),
        "triangles": len(triangles),
        "quads": len(quads),
        "centre": centre.tolist(),
        "low": nodes.min(axis=0).tolist(),
        "high": nodes.max(axis=0).tolist(),
    }
    return packed(data), told


def components(grid: Grid) -> dict[str, FloatArray]:
    """What the page gets of a step: components it derives others from, and plain scalars."""
    data, found = grid.point_data, {}
    if "displacement" in data:
        found["ux"], found["uy"] = data["displacement"][:, 0], data["displacement"][:, 1]
    for tensor, names in (("stress", STRESSES), ("strain", STRAINS)):
        if tensor in data and np.shape(data[tensor])[1:] == (4,):
            found |= {name: data[tensor][:, place] for place, name in enumerate(names)}
    if "velocity" in data and np.any(data["velocity"]):
        found["vx"], found["vy"] = data["velocity"][:, 0], data["velocity"][:, 1]
    for name, values in data.items():
        plain = np.ndim(values) == 1 and np.issubdtype(np.asarray(values).dtype, np.floating)
        if plain and name not in _KNOWN and not name.startswith("contact_"):
            found[name] = values
    return {name: np.asarray(values, dtype=float) for name, values in found.items()}


def derived(parts: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Every field that the page offers, by the names that `assets/fields.js` knows."""
    shown: dict[str, FloatArray] = {}
    if "sxx" in parts:
        stress = np.column_stack([parts[name] for name in STRESSES])
        shown["von_mises"] = von_mises(stress)
        shown |= {name: parts[name] for name in STRESSES}
        principal = principal_values(stress)
        shown["s_max"], shown["s_min"] = principal.max(axis=1), principal.min(axis=1)
        shown["mean_pressure"] = -stress[:, :3].sum(axis=1) / 3.0
    if "ux" in parts:
        shown["u"] = np.hypot(parts["ux"], parts["uy"])
        shown |= {name: parts[name] for name in ("ux", "uy")}
    if "exx" in parts:
        shown |= {name: parts[name] for name in STRAINS}
        strain = np.column_stack([parts[name] for name in STRAINS])
        # half of the engineering shear is the component of the tensor
        principal = principal_values(strain * (1.0, 1.0, 1.0, 0.5))
        shown["e_max"], shown["e_min"] = principal.max(axis=1), principal.min(axis=1)
        shown["dilatation"] = strain[:, :3].sum(axis=1)
    if "vx" in parts:
        shown["v"] = np.hypot(parts["vx"], parts["vy"])
        shown |= {name: parts[name] for name in ("vx", "vy")}
    return shown | {name: parts[name] for name in parts if name not in COMPONENTS}


def step_chunk(step: SavedField) -> tuple[str, dict[str, Any]]:
    """The fields of a step as a chunk, and what is needed to read it, with the ranges."""
    parts = components(read_grid(step.path))
    blocks, extremes = [], {}
    for name, values in parts.items():
        block, extremes[name] = quantised(values)
        blocks.append(block)
    ranges = {}
    for name, values in derived(parts).items():
        finite = values[np.isfinite(values)]
        ranges[name] = [float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))]
    told = {"components": extremes, "ranges": ranges}
    return packed(b"".join(blocks)), told
