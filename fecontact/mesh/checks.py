"""Is the mesh sound? What can be put right is, and noted; the rest is refused with numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fecontact.errors import MeshError
from fecontact.mesh import topology
from fecontact.mesh.core import Mesh
from fecontact.mesh.listing import some
from fecontact.mesh.measures import block_areas, corner_products
from fecontact.typing import FloatArray, IntArray

FLAT = 1e-10
"""Area over squared longest side (or product of two sides at a corner) taken for zero."""


def check_mesh(
    mesh: Mesh,
    *,
    turn: bool = True,
    drop_unused: bool = False,
    merge: bool = False,
    allow_duplicates: bool = False,
    tolerance: float = 1e-9,
) -> Mesh:
    """Verify a mesh; return it with the allowed corrections made and noted.

    Parameters
    ----------
    turn
        Renumber the corners of elements numbered clockwise; otherwise they are refused.
    drop_unused
        Leave out nodes that belong to no element; otherwise they are refused.
    merge
        Make one node of several at the same place.
    allow_duplicates
        Accept nodes at the same place in one connected part, as along the lips of a cut. Nodes of
        different parts may always coincide, as where two bodies touch.
    tolerance
        Distance, relative to the size of the mesh, below which two nodes are at the same place.

    Returns
    -------
    Mesh
        With boundary edges of its edge groups directed so that the body is on their left.

    Raises
    ------
    MeshError
        Naming the elements or nodes at fault, counted from 0.
    """
    mesh = _without_unused(mesh, drop_unused)
    mesh = _without_duplicates(mesh, merge, allow_duplicates, tolerance)
    mesh = _turned(mesh, turn)
    keys = topology.side_keys(mesh.cells, mesh.n_nodes)
    _refuse_overlaps(mesh, keys)
    return _with_sound_groups(mesh, keys)


def _at(point: FloatArray) -> str:
    return f"({point[0]:g}, {point[1]:g})"


def _without_unused(mesh: Mesh, drop: bool) -> Mesh:
    used = np.zeros(mesh.n_nodes, dtype=bool)
    for block in mesh.cells.values():
        used[block.ravel()] = True
    unused = np.flatnonzero(~used)
    if unused.size == 0:
        return mesh
    if not drop:
        raise MeshError(
            f"{some(unused, 'node')} without any element, the first at "
            f"{_at(mesh.nodes[unused[0]])}; remove them, or let them be dropped (drop_unused)"
        )
    note = f"{unused.size} nodes without any element dropped"
    # an edge that loses an end is no side of an element: it must not vanish silently
    for name, pairs in mesh.edge_groups.items():
        lost = np.flatnonzero(~used[pairs].all(axis=1))
        if lost.size:
            pair = pairs[lost[0]]
            raise MeshError(
                f"edge group {name!r}: {some(lost, 'edge')} belongs to no element, the first "
                f"from {_at(mesh.nodes[pair[0]])} to {_at(mesh.nodes[pair[1]])}"
            )
    node_groups = {name: numbers[used[numbers]] for name, numbers in mesh.node_groups.items()}
    mesh = replace(mesh, node_groups=node_groups, notes=(*mesh.notes, note))
    return _renumbered(mesh, np.cumsum(used) - 1, np.flatnonzero(used))


def _renumbered(mesh: Mesh, new_number: IntArray, kept: IntArray) -> Mesh:
    """Nodes `kept` only, with `new_number` (n_nodes,) given to the old numbers in use."""

    def mapped(groups: Mapping[str, IntArray]) -> dict[str, IntArray]:
        return {name: new_number[numbers] for name, numbers in groups.items()}

    return replace(
        mesh,
        nodes=mesh.nodes[kept],
        cells=mapped(mesh.cells),
        edge_groups=mapped(mesh.edge_groups),
        node_groups=mapped(mesh.node_groups),
    )


def coincident(nodes: FloatArray, distance: float) -> IntArray:
    """Pairs (k, 2) of nodes at the same place, chained so that k + 1 such nodes give k pairs."""
    by_x = np.argsort(nodes[:, 0], kind="stable")
    column = np.empty(len(nodes), dtype=np.int64)
    column[by_x] = np.cumsum(np.diff(nodes[by_x, 0], prepend=nodes[by_x[0], 0]) > distance)
    order = np.lexsort((nodes[:, 1], column))
    near = (np.abs(np.diff(nodes[order], axis=0)) <= distance).all(axis=1)
    return np.stack([order[:-1][near], order[1:][near]], axis=1)


def _without_duplicates(mesh: Mesh, merge: bool, allow: bool, tolerance: float) -> Mesh:
    pairs = coincident(mesh.nodes, tolerance * mesh.size)
    if pairs.size == 0:
        return mesh
    if merge:
        return _merged(mesh, pairs)
    labels = mesh.components()
    same = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    if same.size and not allow:
        a, b = sorted(same[0].tolist())
        raise MeshError(
            f"{some(np.unique(same), 'node')} lie at the same place in one connected part, the "
            f"first {a} and {b} at {_at(mesh.nodes[a])}; let them be merged (merge), or "
            "state that they are meant, as along a cut (allow_duplicates)"
        )
    apart = len(pairs) - len(same)
    if apart:
        note = f"{apart} nodes coincide with nodes of another connected part and stay apart"
        mesh = replace(mesh, notes=(*mesh.notes, note))
    return mesh


def _merged(mesh: Mesh, pairs: IntArray) -> Mesh:
    representative = np.arange(mesh.n_nodes)
    while True:
        lower = representative[pairs].min(axis=1)
        before = representative.copy()
        for column in (0, 1):
            np.minimum.at(representative, pairs[:, column], lower)
        if np.array_equal(before, representative):
            break
    kept = np.flatnonzero(representative == np.arange(mesh.n_nodes))
    position = np.full(mesh.n_nodes, -1)
    position[kept] = np.arange(len(kept))
    note = f"{mesh.n_nodes - len(kept)} nodes merged with others at the same place"
    mesh = replace(mesh, notes=(*mesh.notes, note))
    return _renumbered(mesh, position[representative], kept)


def _turned(mesh: Mesh, turn: bool) -> Mesh:
    cells = dict(mesh.cells)
    inverted: list[IntArray] = []
    for kind, block in mesh.cells.items():
        points = mesh.nodes[block]
        area = block_areas(points)
        sides = np.roll(points, -1, axis=1) - points
        longest = (sides**2).sum(axis=2).max(axis=1)
        first = mesh.first_element[kind]
        if kind == "quad":
            _refuse_bad_quads(mesh, points, area, longest)
        flat = np.flatnonzero(np.abs(area) <= FLAT * longest)
        if flat.size:
            raise MeshError(
                f"{some(flat + first, kind)} without area, the first with "
                f"{_corners(mesh, flat[0] + first)}; remove or remesh"
            )
        clockwise = np.flatnonzero(area < 0)
        if clockwise.size:
            inverted.append(clockwise + first)
            cells[kind] = block.copy()
            cells[kind][clockwise] = block[clockwise, ::-1]
    if not inverted:
        return mesh
    numbers = np.concatenate(inverted)
    if not turn:
        raise MeshError(
            f"{some(numbers, 'element')} inverted (corners numbered clockwise), the first with "
            f"{_corners(mesh, numbers[0])}; renumber, or let them be turned (turn)"
        )
    return replace(mesh, cells=cells, notes=(*mesh.notes, f"{some(numbers, 'element')} turned"))


def _refuse_bad_quads(
    mesh: Mesh, points: FloatArray, area: FloatArray, longest: FloatArray
) -> None:
    products = corner_products(points) * np.where(area < 0, -1.0, 1.0)[:, None]
    small = FLAT * longest[:, None]
    backward, straight = (products < -small).sum(axis=1), (np.abs(products) <= small).sum(axis=1)
    first = mesh.first_element["quad"]
    # two corners turning each way is the mark of sides that cross
    for wrong, why in (
        (backward >= 2, "with sides that cross (corners numbered out of order)"),
        (straight >= 2, "collapsed to a line or with two corners at one place"),
        (backward == 1, "not convex"),
        (straight == 1, "with three corners in line"),
    ):
        numbers = np.flatnonzero(wrong)
        if numbers.size:
            raise MeshError(
                f"{some(numbers + first, 'quad')} {why}, the first with "
                f"{_corners(mesh, numbers[0] + first)}; remesh or split into triangles"
            )


def _corners(mesh: Mesh, element: int) -> str:
    corners = mesh.element_nodes(element)
    listed = ", ".join(str(node) for node in corners)
    return f"nodes {listed} near {_at(mesh.nodes[corners].mean(axis=0))}"


def _refuse_overlaps(mesh: Mesh, keys: IntArray) -> None:
    """In a sound mesh two elements that share a side travel it in opposite directions."""
    sides = topology.overlaps(keys, mesh.n_nodes)
    if sides.size == 0:
        return
    a, b = sides[0]
    elements = [
        first + int(row)
        for kind, first in mesh.first_element.items()
        for row in np.flatnonzero(
            ((mesh.cells[kind] == a) & (np.roll(mesh.cells[kind], -1, axis=1) == b)).any(axis=1)
        )
    ]
    raise MeshError(
        f"elements overlap along {len(sides)} sides: {some(elements, 'element')} lie on the same "
        f"side of the edge from node {a} to node {b} near {_at(mesh.nodes[[a, b]].mean(axis=0))}; "
        "remove repeated elements"
    )


def _with_sound_groups(mesh: Mesh, keys: IntArray) -> Mesh:
    boundary = topology.boundary(keys, mesh.n_nodes)
    edge_groups = {}
    for name, pairs in mesh.edge_groups.items():
        wrong = np.flatnonzero(~topology.are_sides(pairs, keys, mesh.n_nodes))
        if wrong.size:
            a, b = pairs[wrong[0]]
            raise MeshError(
                f"edge group {name!r}: {some(wrong, 'edge')} not the side of any element, the "
                f"first from node {a} to node {b} at {_at(mesh.nodes[a])}"
            )
        edge_groups[name] = topology.oriented(pairs, boundary)
    kept: list[dict[str, IntArray]] = []
    notes: list[str] = []
    for kind, groups in (
        ("element", mesh.element_groups),
        ("edge", edge_groups),
        ("node", mesh.node_groups),
    ):
        kept.append({name: numbers for name, numbers in groups.items() if len(numbers)})
        notes += [
            f"empty {kind} group {name!r} left out" for name in groups if name not in kept[-1]
        ]
    return replace(
        mesh,
        element_groups=kept[0],
        edge_groups=kept[1],
        node_groups=kept[2],
        notes=(*mesh.notes, *notes),
    )
