"""Meshes from files and to files, through meshio."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.errors import MeshError
from fecontact.mesh.abaqus import read_abaqus
from fecontact.mesh.blocks import Block, mesh_from_blocks, without_repeated_elements
from fecontact.mesh.checks import check_mesh
from fecontact.mesh.core import Mesh
from fecontact.mesh.msh import group_blocks, msh_version, physical_names, read_msh41
from fecontact.typing import FloatArray, IntArray

GROUP = "group:"
"""Prefix of the data arrays that hold groups in formats without names for sets of cells."""

NUMBERED = ("gmsh:physical", "medit:ref", "nastran:ref", "netgen:index", "su2:tag")
"""Cell data of meshio that give each cell the number of one group, 0 meaning none."""

COUNTS = re.compile(
    rb"^[ \t\r\f\v]*(\$\w+|[A-Z][A-Za-z_]+|points|surfaceelements\w*|edgesegments\w*)"
    rb"\s*(?:=\s*)?(\d{5,19})\b",
    re.MULTILINE,
)
"""A keyword at the beginning of a line and the count after it: Gmsh 2, VTK, Medit, SU2, Netgen."""


def read_mesh(
    path: str | Path,
    *,
    file_format: str | None = None,
    edges_from_nodes: Sequence[str] = (),
    turn: bool = True,
    drop_unused: bool | None = None,
    merge: bool = False,
    allow_duplicates: bool = False,
) -> Mesh:
    """Read and check a mesh.

    Groups come from Gmsh's physical groups (of surfaces: elements, of curves: edges, of points:
    nodes), the element and node sets of Abaqus, the families of MED, and data arrays named
    `group:NAME` in other formats; groups that have a number only are named by it.

    Parameters
    ----------
    path
        A file of any format known to meshio.
    file_format
        Its name in meshio; found from the extension if not given.
    edges_from_nodes
        Node groups from which to make edge groups of the same names: the boundary edges with both
        ends in the group. For formats that have no sets of edges.
    turn, drop_unused, merge, allow_duplicates
        See `check_mesh`. Unconnected nodes are dropped by default from Gmsh's files, where the
        points of the geometry are among the nodes, and refused from others.

    Raises
    ------
    MeshError
        Naming the file and the reason.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise MeshError(f"mesh file {str(path)!r} {what}")
    is_msh = path.suffix.lower() == ".msh" if file_format is None else "gmsh" in file_format
    with explained(path, "read"):
        if is_msh:
            points, blocks, node_groups = _read_gmsh(path)
        else:
            points, blocks, node_groups = _from_meshio(_meshio_read(path, file_format), {})
        mesh = check_mesh(
            mesh_from_blocks(points, blocks, node_groups),
            turn=turn,
            drop_unused=is_msh if drop_unused is None else drop_unused,
            merge=merge,
            allow_duplicates=allow_duplicates,
        )
        if is_msh:
            mesh = _noting_lost_names(mesh, path.read_bytes())
        found = {name: mesh.boundary_edges(mesh.node_numbers(name)) for name in edges_from_nodes}
        for name, edges in found.items():
            if len(edges) == 0:
                raise MeshError(f"no boundary edge has both ends in the group {name!r}")
        return mesh.with_groups(edges=found) if found else mesh


@contextmanager
def explained(path: Path, verb: str) -> Iterator[None]:
    """Turn whatever a reader or writer does when it fails into one MeshError; keep it quiet."""
    said = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(said):
            warnings.simplefilter("ignore")
            yield
    except MeshError as error:
        raise MeshError(f"mesh file {str(path)!r}: {error}") from error
    except (Exception, SystemExit) as error:
        # meshio may print the reason and exit
        reason = " ".join(said.getvalue().split())
        if isinstance(error, IndexError):
            reason = f"it names nodes that it does not hold, or is cut off ({error})"
        elif not isinstance(error, SystemExit):
            reason = f"{error or reason or 'no reason given'} ({type(error).__name__})"
        raise MeshError(f"mesh file {str(path)!r} cannot be {verb}: {reason}") from error


def _read_gmsh(path: Path) -> tuple[FloatArray, list[Block], dict[str, IntArray]]:
    data = path.read_bytes()
    version = msh_version(data)
    if not version:
        raise MeshError(
            "no $MeshFormat at the beginning, so it is no Gmsh mesh or a damaged one; "
            'for a mesh of Ansys give file_format="ansys"'
        )
    if version == "4.1":
        return (*read_msh41(data), {})
    if version.startswith("4"):
        raise MeshError(
            f"a Gmsh mesh of version {version}; versions 2.2 and 4.1 are read: save it as one of "
            "them (Mesh.MshFileVersion)"
        )
    given = _meshio_read(path, "gmsh", data)
    points, blocks, node_groups = _from_meshio(given, physical_names(data))
    # version 2 lists an element once for each of its groups
    return points, without_repeated_elements(blocks), node_groups


def _noting_lost_names(mesh: Mesh, data: bytes) -> Mesh:
    """Note groups that the file names without giving them cells, as version 2 with SaveAll does."""
    groups = (mesh.node_groups, mesh.edge_groups, mesh.element_groups)
    lost = [
        f"the file names the group {name!r} but gives it no cells (written with Mesh.SaveAll?)"
        for (dimension, _), name in physical_names(data).items()
        if dimension < len(groups) and name not in groups[dimension]
    ]
    return replace(mesh, notes=(*mesh.notes, *lost)) if lost else mesh


def _meshio_read(path: Path, file_format: str | None, data: bytes | None = None) -> Any:
    """Read by meshio; `data` are the bytes of the file where they are known."""
    import meshio

    if file_format == "abaqus" or (file_format is None and path.suffix.lower() == ".inp"):
        return read_abaqus(path)
    _refuse_absurd(path.read_bytes() if data is None else data)
    return meshio.read(path, file_format=file_format)


def _refuse_absurd(data: bytes) -> None:
    """Refuse what makes meshio take memory far beyond the file: counts, and XML's own entities."""
    for keyword, number in re.findall(COUNTS, data):
        if int(number) > len(data):
            what = keyword.decode().strip("$")
            raise MeshError(f"{what}: {number.decode()} are announced in {len(data)} bytes")
    if data.lstrip().startswith(b"<") and b"<!ENTITY" in data:
        raise MeshError("XML with entities of its own is not read")


def _from_meshio(
    given: Any, names: Mapping[tuple[int, int], str]
) -> tuple[FloatArray, list[Block], dict[str, IntArray]]:
    blocks = []
    for index, cells in enumerate(given.cells):
        nodes = np.asarray(cells.data, dtype=np.int64)
        groups: dict[str, list[IntArray]] = {}
        for key in NUMBERED:
            if key in given.cell_data:
                numbered = group_blocks(cells.type, nodes, given.cell_data[key][index], names)
                for name, rows in numbered.groups.items():
                    groups.setdefault(name, []).append(rows)
        for name, sets in given.cell_sets.items():
            members = sets[index] if index < len(sets) else None
            if members is not None and len(members) and not name.startswith("gmsh:"):
                groups.setdefault(name, []).append(np.asarray(members, dtype=np.int64))
        for key, data in given.cell_data.items():
            if key.startswith(GROUP):
                rows = np.flatnonzero(np.nan_to_num(data[index]) > 0)
                groups.setdefault(key.removeprefix(GROUP), []).append(rows)
        families = given.cell_data.get("cell_tags")
        for number, names_of in getattr(given, "cell_tags", {}).items():
            for name in names_of if families is not None else ():
                groups.setdefault(name, []).append(np.flatnonzero(families[index] == number))
        joined = {n: np.unique(np.concatenate(r)) for n, r in groups.items()}
        blocks.append(Block(cells.type, nodes, {n: r for n, r in joined.items() if len(r)}))
    return np.asarray(given.points, dtype=np.float64), blocks, _node_groups(given)


def _node_groups(given: Any) -> dict[str, IntArray]:
    found = {n: np.asarray(s, dtype=np.int64) for n, s in given.point_sets.items() if len(s)}
    for key, data in given.point_data.items():
        if key.startswith(GROUP):
            found[key.removeprefix(GROUP)] = np.flatnonzero(data > 0)
    families = given.point_data.get("point_tags")
    parts: dict[str, list[IntArray]] = {}
    for number, names in getattr(given, "point_tags", {}).items():
        for name in names if families is not None else ():
            parts.setdefault(name, []).append(np.flatnonzero(families == number))
    return {**found, **{name: np.concatenate(p) for name, p in parts.items()}}
