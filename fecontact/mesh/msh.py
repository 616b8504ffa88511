"""Gmsh's MSH 4.1 files.

Read and written here rather than through meshio, which loses groups that share a name with a group
of another dimension or overlap with others, and fails where some cells have no group.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fecontact.errors import MeshError
from fecontact.mesh.blocks import DIMENSION, Block, blocks_of_mesh, signatures
from fecontact.mesh.core import Mesh
from fecontact.typing import FloatArray, IntArray

TYPES = {
    15: ("vertex", 1),
    1: ("line", 2),
    2: ("triangle", 3),
    3: ("quad", 4),
    4: ("tetra", 4),
    5: ("hexahedron", 8),
    6: ("wedge", 6),
    7: ("pyramid", 5),
    8: ("line3", 3),
    9: ("triangle6", 6),
    10: ("quad9", 9),
    16: ("quad8", 8),
}
NUMBERS = {kind: number for number, (kind, _) in TYPES.items()}


def msh_version(data: bytes) -> str:
    """Version in the header of a MSH file, such as "4.1"; empty if there is none."""
    found = re.match(rb"\s*(?:\$Comments.*?\$EndComments\s*)?\$MeshFormat\s+([\d.]+)", data, re.S)
    return found.group(1).decode() if found else ""


def physical_names(data: bytes) -> dict[tuple[int, int], str]:
    """Names by dimension and number, from the $PhysicalNames section of any MSH version."""
    section = re.search(rb"\$PhysicalNames\s(.*?)\$EndPhysicalNames", data, re.S)
    if section is None:
        return {}
    rows = re.findall(r'^\s*(\d+)\s+(\d+)\s+"(.*)"\s*$', section.group(1).decode(), re.M)
    return {(int(dimension), int(number)): name for dimension, number, name in rows}


class _Cursor:
    """Numbers of one section in order, the same for text and binary files."""

    def __init__(self, data: bytes, name: str, binary: bool) -> None:
        opening = re.search(rb"^\$" + name.encode() + rb"\s*?\n", data, re.M)
        closing = data.rfind(b"$End" + name.encode())
        if opening is None or closing < 0:
            raise MeshError(f"section ${name} is missing or not closed")
        self.name, self.binary, self.at = name, binary, 0
        content = data[opening.end() : closing]
        self.bytes = content
        self.tokens = np.empty(0) if binary else np.fromstring(content.decode("ascii"), sep=" ")

    def _take(self, count: int, kind: str) -> FloatArray:
        if not self.binary:
            values = self.tokens[self.at : self.at + count]
            self.at += count
        else:
            size = np.dtype(kind).itemsize * count
            values = np.frombuffer(self.bytes[self.at : self.at + size], dtype=kind)
            self.at += size
        if len(values) != count:
            raise MeshError(f"section ${self.name} ends too early")
        return values

    def ints(self, count: int) -> IntArray:
        return self._take(count, "<i4").astype(np.int64)

    def sizes(self, count: int) -> IntArray:
        return self._take(count, "<u8").astype(np.int64)

    def doubles(self, count: int) -> FloatArray:
        return self._take(count, "<f8").astype(np.float64)


def read_msh41(data: bytes) -> tuple[FloatArray, list[Block]]:
    """Nodes (n, 3) and blocks of a MSH 4.1 file, text or binary."""
    header = re.search(rb"\$MeshFormat\s+([\d.]+)\s+([01])\s+(\d+)", data)
    if header is None or header.group(3) != b"8":
        raise MeshError("the header is not that of a MSH 4.1 file with 8-byte sizes")
    binary = header.group(2) == b"1"
    names = physical_names(data)
    physical = _physical_of_entities(data, binary)
    points, position = _nodes(_Cursor(data, "Nodes", binary))
    cursor = _Cursor(data, "Elements", binary)
    blocks = []
    for _ in range(cursor.sizes(4)[0]):
        dimension, entity, number = (int(value) for value in cursor.ints(3))
        count = int(cursor.sizes(1)[0])
        if number not in TYPES:
            raise MeshError(f"cells of Gmsh type {number} are not known; mesh with order 1")
        kind, corners = TYPES[number]
        tags = cursor.sizes(count * (corners + 1)).reshape(count, corners + 1)[:, 1:]
        inside = tags < len(position)
        nodes = np.where(inside, position[np.where(inside, tags, 0)], -1)
        if (nodes < 0).any():
            raise MeshError(f"a cell names node {tags[nodes < 0][0]}, which the file does not hold")
        groups = {
            names.get((dimension, tag), str(tag)): np.arange(count)
            for tag in physical.get((dimension, entity), ())
        }
        blocks.append(Block(kind, nodes, groups))
    return points, blocks


def _nodes(cursor: _Cursor) -> tuple[FloatArray, IntArray]:
    """Coordinates, and the position (largest tag + 1,) of each tag among them, -1 if unused."""
    n_blocks, total, _, largest = cursor.sizes(4)
    # the file is not believed further than it is long: memory follows what it says
    if not 0 <= total <= len(cursor.bytes):
        raise MeshError(f"{total} nodes are announced in a section of {len(cursor.bytes)} bytes")
    if largest > 50 * total + 1000:
        raise MeshError(f"node numbers up to {largest} for {total} nodes; renumber the nodes")
    position = np.full(largest + 1, -1)
    points, count = [], 0
    for _ in range(n_blocks):
        dimension, _, parametric = cursor.ints(3)
        n = int(cursor.sizes(1)[0])
        position[cursor.sizes(n)] = count + np.arange(n)
        width = 3 + (int(dimension) if parametric else 0)
        points.append(cursor.doubles(n * width).reshape(n, width)[:, :3])
        count += n
    return np.concatenate(points) if points else np.empty((0, 3)), position


def _physical_of_entities(data: bytes, binary: bool) -> dict[tuple[int, int], list[int]]:
    if not re.search(rb"^\$Entities", data, re.M):
        return {}
    cursor = _Cursor(data, "Entities", binary)
    physical = {}
    for dimension, count in enumerate(cursor.sizes(4)):
        for _ in range(count):
            tag = int(cursor.ints(1)[0])
            cursor.doubles(3 if dimension == 0 else 6)
            # a sign tells the direction of the entity, which does not matter here
            tags = np.abs(cursor.ints(int(cursor.sizes(1)[0])))
            physical[dimension, tag] = tags.tolist()
            if dimension > 0:
                cursor.ints(int(cursor.sizes(1)[0]))
    return physical


def write_msh41(mesh: Mesh, path: Path) -> None:
    """Write a text MSH 4.1 file; elements in the same groups make up one entity."""
    blocks = blocks_of_mesh(mesh)
    for name, numbers in mesh.node_groups.items():
        blocks.append(Block("vertex", numbers[:, None], {name: np.arange(len(numbers))}))
    tags: dict[tuple[int, str], int] = {}
    entities: dict[int, list[str]] = {0: [], 1: [], 2: []}
    rows: list[str] = []
    n_cells = 0
    n_blocks = 0
    box = " ".join(f"{value:.17g}" for value in (*mesh.nodes.min(0), 0, *mesh.nodes.max(0), 0))
    for block in blocks:
        dimension = DIMENSION[block.kind]
        label, classes = signatures(len(block.nodes), block.groups)
        for number, names in enumerate(classes):
            nodes = block.nodes[label == number] + 1
            # a point entity holds one vertex
            for part in np.split(nodes, len(nodes)) if dimension == 0 else [nodes]:
                entity = len(entities[dimension]) + 1
                physical = [tags.setdefault((dimension, name), len(tags) + 1) for name in names]
                x, y = mesh.nodes[part[0, 0] - 1]
                place = f"{x:.17g} {y:.17g} 0" if dimension == 0 else box
                listed = "".join(f" {tag}" for tag in physical)
                end = "" if dimension == 0 else " 0"
                entities[dimension].append(f"{entity} {place} {len(physical)}{listed}{end}")
                rows.append(f"{dimension} {entity} {NUMBERS[block.kind]} {len(part)}")
                table = np.column_stack([n_cells + 1 + np.arange(len(part)), part])
                rows += [" ".join(map(str, row)) for row in table.tolist()]
                n_cells += len(part)
                n_blocks += 1
    lines = ["$MeshFormat", "4.1 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(tags))]
    lines += [f'{dimension} {tag} "{name}"' for (dimension, name), tag in tags.items()]
    lines += ["$EndPhysicalNames", "$Entities"]
    lines += [f"{len(entities[0])} {len(entities[1])} {len(entities[2])} 0"]
    lines += entities[0] + entities[1] + entities[2]
    n = mesh.n_nodes
    lines += ["$EndEntities", "$Nodes", f"1 {n} 1 {n}", f"2 1 0 {n}"]
    lines += [str(tag) for tag in range(1, n + 1)]
    lines += [f"{x:.17g} {y:.17g} 0" for x, y in mesh.nodes.tolist()]
    lines += ["$EndNodes", "$Elements", f"{n_blocks} {n_cells} 1 {n_cells}", *rows, "$EndElements"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def group_blocks(
    kind: str, nodes: IntArray, tags: IntArray, names: Mapping[tuple[int, int], str]
) -> Block:
    """Block of cells with one group number each (n,), 0 meaning none, as in MSH 2.2 files."""
    dimension = DIMENSION.get(kind, 3)
    groups = {
        names.get((dimension, tag), str(tag)): np.flatnonzero(tags == tag)
        for tag in np.unique(tags).tolist()
        if tag != 0
    }
    return Block(kind, nodes, groups)
