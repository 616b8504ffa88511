"""A mesh from what files and generators hold: blocks of points, lines and faces with names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from fecontact.errors import MeshError
from fecontact.mesh.core import NODES_PER_ELEMENT, Mesh
from fecontact.typing import FloatArray, IntArray

LINEAR = ("vertex", "line", *NODES_PER_ELEMENT)
DIMENSION = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2}


@dataclass(frozen=True, eq=False)
class Block:
    """Cells of one kind and the groups to which some of them belong.

    Attributes
    ----------
    kind
        "vertex", "line", "triangle" or "quad", or a kind that will be refused.
    nodes : (n, corners)
        Node numbers.
    groups
        Group name to the rows (k,) that belong to it.
    """

    kind: str
    nodes: IntArray
    groups: Mapping[str, IntArray] = field(default_factory=dict)


def mesh_from_blocks(
    points: FloatArray, blocks: Iterable[Block], node_groups: Mapping[str, IntArray]
) -> Mesh:
    """Sort blocks into elements, edges and nodes.

    Lines and vertices outside all groups are geometry, not mesh, and are left out. A mesh without
    any element group gets one, `body`, of all its elements.
    """
    blocks = [block for block in blocks if len(block.nodes)]
    _refuse_kinds({block.kind for block in blocks})
    cells: dict[str, IntArray] = {}
    members: dict[str, list[IntArray]] = {}
    edges: dict[str, list[IntArray]] = {}
    nodes = {name: [numbers] for name, numbers in node_groups.items()}
    count = 0
    for kind in NODES_PER_ELEMENT:
        found = [block for block in blocks if block.kind == kind]
        for block in found:
            for name, rows in block.groups.items():
                members.setdefault(name, []).append(count + rows)
            count += len(block.nodes)
        if found:
            cells[kind] = np.concatenate([block.nodes for block in found])
    for block in blocks:
        if block.kind == "line":
            for name, rows in block.groups.items():
                edges.setdefault(name, []).append(block.nodes[rows])
        elif block.kind == "vertex":
            for name, rows in block.groups.items():
                nodes.setdefault(name, []).append(block.nodes[rows, 0])
    if not any(len(rows) for lists in members.values() for rows in lists):
        members["body"] = [np.arange(count)]
    return Mesh(plane(points), cells, _joined(members), _joined(edges), _joined(nodes))


def _joined(groups: Mapping[str, list[IntArray]]) -> dict[str, IntArray]:
    joined = {name: np.concatenate(parts) for name, parts in groups.items()}
    return {name: numbers for name, numbers in joined.items() if len(numbers)}


def _refuse_kinds(kinds: set[str]) -> None:
    wrong = sorted(kinds - set(LINEAR))
    if not wrong:
        return
    curved = [k for k in wrong if k.startswith(("line", "triangle", "quad"))]
    if curved:
        raise MeshError(
            f"the mesh holds quadratic or higher cells ({', '.join(curved)}); only three-node "
            "triangles and four-node quads are known: mesh with order 1"
        )
    raise MeshError(
        f"the mesh holds cells of kind {', '.join(wrong)}; only plane meshes of triangles and "
        "quads are known"
    )


def plane(points: FloatArray) -> FloatArray:
    """Coordinates (n, 2), from (n, 3) if the third one is the same everywhere."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) == 0:
        raise MeshError(f"nodes have shape {points.shape}, expected (n, 2) or (n, 3), n > 0")
    if points.shape[1] == 3:
        z = points[:, 2]
        if np.ptp(z) > 1e-9 * np.ptp(points, axis=0).max():
            raise MeshError(
                f"the mesh is not plane: z goes from {z.min():g} to {z.max():g}, expected one value"
            )
    return points[:, :2]


def without_repeated_elements(blocks: Iterable[Block]) -> list[Block]:
    """One element for those listed once for each of their groups, with all these groups."""
    blocks = list(blocks)
    result = [block for block in blocks if DIMENSION.get(block.kind) != 2]
    for kind in NODES_PER_ELEMENT:
        found = [block for block in blocks if block.kind == kind]
        if not found:
            continue
        nodes = np.concatenate([block.nodes for block in found])
        order = np.lexsort(np.sort(nodes, axis=1).T)
        ranked = np.sort(nodes[order], axis=1)
        new = np.ones(len(nodes), dtype=bool)
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
        # the sort is stable, so the first of equals is the first in the file
        first = order[new]
        representative = np.empty(len(nodes), dtype=np.int64)
        representative[order] = first[np.cumsum(new) - 1]
        kept = np.sort(first)
        position = np.empty(len(nodes), dtype=np.int64)
        position[kept] = np.arange(len(kept))
        groups: dict[str, list[IntArray]] = {}
        start = 0
        for block in found:
            for name, rows in block.groups.items():
                groups.setdefault(name, []).append(position[representative[start + rows]])
            start += len(block.nodes)
        result.append(Block(kind, nodes[kept], {n: np.concatenate(g) for n, g in groups.items()}))
    return result


def blocks_of_mesh(mesh: Mesh) -> list[Block]:
    """Blocks of a mesh: elements, then one block with every edge of the edge groups once."""
    blocks = []
    for kind, nodes in mesh.cells.items():
        first = mesh.first_element[kind]
        groups = {}
        for name, numbers in mesh.element_groups.items():
            rows = numbers - first
            rows = rows[(rows >= 0) & (rows < len(nodes))]
            if len(rows):
                groups[name] = rows
        blocks.append(Block(kind, nodes, groups))
    if mesh.edge_groups:
        pairs, rows = np.unique(
            np.concatenate(list(mesh.edge_groups.values())), axis=0, return_inverse=True
        )
        ends = np.cumsum([len(group) for group in mesh.edge_groups.values()])[:-1]
        parts = np.split(rows.ravel(), ends)
        edges = dict(zip(mesh.edge_groups, parts, strict=True))
        blocks.append(Block("line", pairs, edges))
    return blocks


def signatures(n: int, groups: Mapping[str, IntArray]) -> tuple[IntArray, list[tuple[str, ...]]]:
    """Class (n,) of each item by the groups it is in, and the group names of each class."""
    if not groups:
        return np.zeros(n, dtype=np.int64), [()]
    inside = np.zeros((n, len(groups)), dtype=bool)
    for column, rows in enumerate(groups.values()):
        inside[rows, column] = True
    kinds, label = np.unique(inside, axis=0, return_inverse=True)
    names = [tuple(name for name, is_in in zip(groups, row, strict=True) if is_in) for row in kinds]
    return label.ravel().astype(np.int64), names
