"""Meshes and fields on them to files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike

from fecontact.errors import MeshError
from fecontact.mesh.abaqus import write_abaqus
from fecontact.mesh.blocks import Block, blocks_of_mesh, signatures
from fecontact.mesh.core import Mesh
from fecontact.mesh.formats import GROUP, explained
from fecontact.mesh.msh import write_msh41
from fecontact.typing import FloatArray, IntArray

WITH_DATA = ("vtu", "vtk", "vtk42", "vtk51", "xdmf")
"""Formats that keep any array; the others are written without fields."""
QUOTE = {'"': "&quot;"}


def write_mesh(
    mesh: Mesh,
    path: str | Path,
    *,
    point_data: Mapping[str, ArrayLike] | None = None,
    cell_data: Mapping[str, ArrayLike] | None = None,
    file_format: str | None = None,
    groups: bool = True,
) -> Path:
    """Write a mesh in the format that the extension tells.

    Groups are kept as physical groups by Gmsh (.msh, version 4.1, or 2.2 with
    `file_format="gmsh22"`), as sets by Abaqus (.inp), as families by MED (.med), and as data arrays
    named `group:NAME` by VTU, VTK and XDMF, in which edges are line cells beside the elements.

    Parameters
    ----------
    point_data, cell_data : mapping of names to (n_nodes, ...) and (n_elements, ...)
        Fields, in VTU, VTK and XDMF files. Plane vectors get a third component 0.
    file_format
        Name of the format in meshio, where the extension does not tell.
    groups
        Whether to write groups.

    Returns
    -------
    Path
        Of the file written.
    """
    path = Path(path)
    points = {name: _field(name, v, mesh.n_nodes) for name, v in (point_data or {}).items()}
    values = {name: _field(name, v, mesh.n_elements) for name, v in (cell_data or {}).items()}
    if not groups:
        mesh = Mesh(mesh.nodes, mesh.cells)
    with explained(path, "written"):
        kind = file_format or _format_of(path)
        if kind not in WITH_DATA and (points or values):
            raise MeshError(f"fields are not written to {kind} files; write a .vtu file")
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "gmsh":
            write_msh41(mesh, path)
        elif kind == "abaqus":
            write_abaqus(mesh, blocks_of_mesh(mesh), path)
        else:
            _write_with_meshio(mesh, path, kind, points, values)
    return path


def _format_of(path: Path) -> str:
    import meshio

    known = meshio.extension_to_filetypes
    for start in range(len(path.suffixes)):
        extension = "".join(path.suffixes[start:]).lower()
        if extension == ".msh":
            # the extension is that of Ansys too
            return "gmsh"
        if known.get(extension):
            return str(known[extension][0])
    raise MeshError(
        f"no format is known for the extension {path.suffix!r}; choices: {', '.join(sorted(known))}"
    )


def _field(name: str, values: ArrayLike, count: int) -> FloatArray:
    array = np.asarray(values)
    if array.ndim == 0 or len(array) != count:
        raise MeshError(f"field {name!r} has shape {array.shape}, expected {count} rows")
    if array.dtype == bool:
        array = array.astype(np.int8)
    if array.ndim == 2 and array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(count)])
    return array


def _write_with_meshio(
    mesh: Mesh, path: Path, kind: str, points: dict[str, Any], values: dict[str, Any]
) -> None:
    import meshio

    blocks = blocks_of_mesh(mesh)
    cell_data: dict[str, list[Any]] = {
        name: [
            array[mesh.first_element[block.kind] :][: len(block.nodes)]
            if block.kind in mesh.cells
            else _nothing(len(block.nodes), array)
            for block in blocks
        ]
        for name, array in values.items()
    }
    options: dict[str, Any] = {}
    tags: dict[str, Any] = {}
    if kind == "gmsh22":
        blocks, cell_data, options["field_data"] = _as_physical(mesh, blocks)
    elif kind == "med":
        points["point_tags"], tags["point_tags"] = _families(mesh.n_nodes, mesh.node_groups, 1)
        cell_data["cell_tags"], tags["cell_tags"] = _cell_families(blocks)
    elif kind in WITH_DATA:
        for name in {name: None for block in blocks for name in block.groups}:
            marks = [_marks(len(b.nodes), b.groups.get(name)) for b in blocks]
            cell_data[GROUP + name] = marks
        for name, numbers in mesh.node_groups.items():
            points[GROUP + name] = _marks(mesh.n_nodes, numbers)
    if kind == "vtu":
        # meshio puts names into the file as they are
        points = {escape(name, QUOTE): array for name, array in points.items()}
        cell_data = {escape(name, QUOTE): arrays for name, arrays in cell_data.items()}
    given = meshio.Mesh(
        np.column_stack([mesh.nodes, np.zeros(mesh.n_nodes)]),
        [(block.kind, block.nodes) for block in blocks],
        point_data=points,
        cell_data=cell_data,
        **options,
    )
    for attribute, content in tags.items():
        setattr(given, attribute, content)
    meshio.write(path, given, file_format=kind)


def _nothing(count: int, like: FloatArray) -> FloatArray:
    """Values of a field of elements on lines, where it has none."""
    absent = np.nan if like.dtype.kind == "f" else 0
    return np.full((count, *like.shape[1:]), absent, dtype=like.dtype)


def _marks(count: int, rows: IntArray | None) -> Any:
    marks = np.zeros(count, dtype=np.int8)
    if rows is not None:
        marks[rows] = 1
    return marks


def _as_physical(
    mesh: Mesh, blocks: list[Block]
) -> tuple[list[Block], dict[str, list[Any]], dict[str, Any]]:
    """Blocks of MSH 2.2, where a cell is listed once for each of its groups."""
    blocks = [
        *blocks,
        *(
            Block("vertex", numbers[:, None], {name: np.arange(len(numbers))})
            for name, numbers in mesh.node_groups.items()
        ),
    ]
    dimension = {"vertex": 0, "line": 1}
    listed: list[Block] = []
    physical: list[Any] = []
    names: dict[str, Any] = {}
    for block in blocks:
        left = np.ones(len(block.nodes), dtype=bool)
        for name, rows in block.groups.items():
            of = dimension.get(block.kind, 2)
            number, other = names.setdefault(name, (len(names) + 1, of))
            if other != of:
                raise MeshError(
                    f"the group {name!r} is one of elements, edges and nodes at once, which "
                    "this writer of version 2.2 cannot keep; write version 4.1"
                )
            listed.append(Block(block.kind, block.nodes[rows]))
            physical.append(np.full(len(rows), number, dtype=np.int32))
            left[rows] = False
        if left.any():
            listed.append(Block(block.kind, block.nodes[left]))
            physical.append(np.zeros(int(left.sum()), dtype=np.int32))
    tags = {"gmsh:physical": physical, "gmsh:geometrical": [np.maximum(p, 1) for p in physical]}
    return listed, tags, {name: np.array(pair) for name, pair in names.items()}


def _families(
    count: int, groups: Mapping[str, IntArray], sign: int, first: int = 1
) -> tuple[IntArray, dict[int, list[str]]]:
    """Family numbers (count,) of MED, positive for nodes, negative for cells, 0 for no group."""
    label, classes = signatures(count, groups)
    order = np.cumsum([bool(names) for names in classes]) - 1
    numbers = np.array(
        [sign * (first + i) if n else 0 for i, n in zip(order, classes, strict=True)]
    )
    return numbers[label], {int(f): list(n) for f, n in zip(numbers, classes, strict=True) if n}


def _cell_families(blocks: list[Block]) -> tuple[list[IntArray], dict[int, list[str]]]:
    tags: list[IntArray] = []
    families: dict[int, list[str]] = {}
    for block in blocks:
        numbers, names = _families(len(block.nodes), block.groups, -1, 1 + len(families))
        tags.append(numbers)
        families.update(names)
    return tags, families
