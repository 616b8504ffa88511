"""Antagonist surfaces: oriented boundary edges of a named group, and the normals of candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fecontact.errors import ContactError, at
from fecontact.mesh import Mesh
from fecontact.mesh.topology import edge_keys, element_edges
from fecontact.typing import BoolArray, FloatArray, IntArray

DEPTH = 0.5
"""A penetration is a contact down to this part of an edge, or of the element behind it."""

NEIGHBOURHOOD = 2
"""Steps along the boundary within which a candidate and an edge of one body never meet."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Antagonist edges, with the body on their left; their outward normal is (t_y, -t_x).

    Attributes
    ----------
    edges : IntArray (ne, 2)
        Node pairs.
    previous, following : IntArray (ne,)
        Neighbours along the surface, -1 at a free end.
    length : FloatArray (ne,)
        Lengths in the reference configuration.
    limit : FloatArray (ne,)
        Depth down to which a penetration is a contact: half of the edge or of the height of the
        element behind it, whichever is less, so that the far side of a thin body is never meant.
    """

    edges: IntArray
    previous: IntArray
    following: IntArray
    length: FloatArray
    limit: FloatArray

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def nodes(self) -> IntArray:
        """Node numbers, sorted."""
        return np.unique(self.edges)


def gather_surface(mesh: Mesh, group: str, where: str) -> Surface:
    """The antagonist edges of an edge group, which must lie on the boundary.

    They are in the order of their nodes, whatever the order in the group: which of two edges a
    point at their common end belongs to does not change when the mesh is written and read.
    """
    with at(f"{where}.antagonists"):
        edges = mesh.edges(group)
        mesh.chains(group)
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    if len(edges) == 0:
        raise ContactError(f"{where}.antagonists: the edge group {group!r} is empty")
    check_boundary(mesh, group, f"{where}.antagonists")
    length = np.linalg.norm(mesh.nodes[edges[:, 1]] - mesh.nodes[edges[:, 0]], axis=1)
    limit = DEPTH * np.minimum(length, _heights(mesh, edges, length))
    return Surface(edges, *_links(edges, mesh.n_nodes), length, limit)


def whole_boundary(mesh: Mesh, inside: BoolArray) -> Surface:
    """All boundary edges between nodes marked in `inside` (n_nodes,), with no limit of depth."""
    edges = mesh.boundary_edges()
    edges = edges[inside[edges].all(axis=1)]
    length = np.linalg.norm(mesh.nodes[edges[:, 1]] - mesh.nodes[edges[:, 0]], axis=1)
    return Surface(edges, *_links(edges, mesh.n_nodes), length, np.full(len(edges), np.inf))


def _links(edges: IntArray, n_nodes: int) -> tuple[IntArray, IntArray]:
    """Previous and following edge (ne,) of each, -1 where there is none."""
    leaving = np.full(n_nodes, -1, dtype=np.int64)
    entering = leaving.copy()
    leaving[edges[:, 0]] = entering[edges[:, 1]] = np.arange(len(edges))
    return entering[edges[:, 0]], leaving[edges[:, 1]]


def check_boundary(mesh: Mesh, group: str, where: str) -> None:
    """Refuse an edge group with edges that are not on the boundary of a body."""
    edges = mesh.edges(group)
    known = mesh.boundary_edges()
    inner = ~np.isin(_directed(edges, mesh.n_nodes), _directed(known, mesh.n_nodes))
    if inner.any():
        a, b = edges[np.argmax(inner)]
        raise ContactError(
            f"{where}: edge ({a}, {b}) of {group!r} is not on the boundary of a body with the body "
            f"on its left ({int(inner.sum())} such edges); a contact needs boundary edges"
        )


def shared_edges(mesh: Mesh, one: str, other: str) -> IntArray:
    """Edges (k, 2) that are in both edge groups."""
    edges = mesh.edges(one)
    keys = edge_keys(edges, mesh.n_nodes)
    shared: IntArray = edges[np.isin(keys, edge_keys(mesh.edges(other), mesh.n_nodes))]
    return shared


def _directed(edges: IntArray, n_nodes: int) -> IntArray:
    keys: IntArray = edges[:, 0] * n_nodes + edges[:, 1]
    return keys


def _heights(mesh: Mesh, edges: IntArray, length: FloatArray) -> FloatArray:
    """Heights (ne,) over their edge of the elements behind the edges."""
    sides = element_edges(mesh.cells)
    corners = np.concatenate([np.full(b.size, b.shape[1]) for b in mesh.cells.values()])
    element = np.cumsum(np.concatenate([_firsts(b) for b in mesh.cells.values()])) - 1
    on_surface = np.zeros(mesh.n_nodes, dtype=bool)
    on_surface[edges] = True
    near = np.flatnonzero(on_surface[sides].all(axis=1))
    keys = _directed(sides[near], mesh.n_nodes)
    order = np.argsort(keys)
    found = near[order[np.searchsorted(keys, _directed(edges, mesh.n_nodes), sorter=order)]]
    factor = np.where(corners[found] == 3, 2.0, 1.0)
    return np.asarray(factor * np.abs(mesh.areas()[element[found]]) / length)


def _firsts(block: IntArray) -> IntArray:
    """1 at the first side of each element of a block, 0 at its others."""
    marks = np.zeros(block.shape, dtype=np.int64)
    marks[:, 0] = 1
    return marks.ravel()


class NodeNormals:
    """Outward normals of nodes of the boundary, from the two boundary edges that meet there."""

    def __init__(self, mesh: Mesh, nodes: IntArray) -> None:
        boundary = mesh.boundary_edges()
        before = np.full(mesh.n_nodes, -1, dtype=np.int64)
        after = before.copy()
        before[boundary[:, 1]] = boundary[:, 0]
        after[boundary[:, 0]] = boundary[:, 1]
        self.nodes, self.before, self.after = nodes, before[nodes], after[nodes]

    def __call__(self, positions: FloatArray) -> FloatArray:
        """Unit normals (n, 2), zero where the two edges' normals cancel."""
        here = positions[self.nodes]
        total = _unit(_outward(here - positions[self.before]))
        total += _unit(_outward(positions[self.after] - here))
        small = np.linalg.norm(total, axis=1) < 1e-6
        total[small] = 0.0
        return _unit(total)


def _outward(along: FloatArray) -> FloatArray:
    return np.column_stack([along[:, 1], -along[:, 0]])


def _unit(vectors: FloatArray) -> FloatArray:
    size = np.linalg.norm(vectors, axis=1)
    return np.asarray(vectors / np.where(size > 0.0, size, 1.0)[:, None])


def neighbour_keys(mesh: Mesh, sets: IntArray, edges: IntArray) -> IntArray:
    """Pairs of one body that are too near along its boundary to meet.

    Parameters
    ----------
    sets : (n, k)
        Nodes of n candidates (k = 1) or candidate edges (k = 2).
    edges : (ne, 2)
        Antagonist edges.

    Returns
    -------
    IntArray
        Sorted keys, candidate times ne plus edge.
    """
    n, ne = mesh.n_nodes, len(edges)
    boundary = mesh.boundary_edges()
    ones = np.ones(2 * len(boundary))
    ends = np.concatenate([boundary, boundary[:, ::-1]])
    steps = sparse.csr_array((ones, (ends[:, 0], ends[:, 1])), shape=(n, n))
    steps = steps + sparse.eye_array(n, format="csr")
    rows = np.repeat(np.arange(len(sets)), sets.shape[1])
    near = sparse.csr_array((np.ones(sets.size), (rows, sets.ravel())), shape=(len(sets), n))
    for _ in range(NEIGHBOURHOOD):
        near = sparse.csr_array(near @ steps)
    columns = np.repeat(np.arange(ne), 2)
    touching = sparse.csr_array((np.ones(2 * ne), (edges.ravel(), columns)), shape=(n, ne))
    pairs = sparse.coo_array(near @ touching)
    candidate, edge = pairs.coords
    keys: IntArray = np.sort(candidate.astype(np.int64) * ne + edge)
    return keys


def all_held(held: BoolArray, weights: sparse.csr_array) -> BoolArray:
    """(nc,) contacts whose weights (n_nodes, nc) fall on held nodes alone: they move nothing."""
    share = sparse.csr_array(abs(weights[~held]))
    return np.asarray(share.sum(axis=0) == 0.0).ravel()
