"""Edges, boundary, polylines and connected parts, from node numbers alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fecontact.errors import MeshError
from fecontact.mesh.listing import some
from fecontact.typing import BoolArray, IntArray


def element_edges(cells: Mapping[str, IntArray]) -> IntArray:
    """All sides (k, 2) of all elements, in the direction of travel around the element."""
    sides = [np.stack([b, np.roll(b, -1, axis=1)], axis=2).reshape(-1, 2) for b in cells.values()]
    return np.concatenate(sides)


def edge_keys(edges: IntArray, n_nodes: int) -> IntArray:
    """One number (k,) per edge, the same for both directions."""
    low, high = np.minimum(edges[:, 0], edges[:, 1]), np.maximum(edges[:, 0], edges[:, 1])
    keys: IntArray = low * n_nodes + high
    return keys


def side_keys(cells: Mapping[str, IntArray], n_nodes: int) -> IntArray:
    """Sorted numbers (k,), one per side of each element: twice the edge key, plus 1 if it falls.

    Falling means that the travel around the element goes from the higher to the lower node. One
    plain sort is all that the questions about sides need, and much faster than an indirect one.
    """
    sides = element_edges(cells)
    keys = 2 * edge_keys(sides, n_nodes) + (sides[:, 0] > sides[:, 1])
    keys.sort()
    return keys


def _edges(directed_keys: IntArray, n_nodes: int) -> IntArray:
    low, high = np.divmod(directed_keys >> 1, n_nodes)
    falling = (directed_keys & 1).astype(bool)
    return np.stack([np.where(falling, high, low), np.where(falling, low, high)], axis=1)


def boundary(keys: IntArray, n_nodes: int) -> IntArray:
    """Sides (k, 2) that belong to one element only, from the side keys, in direction of travel."""
    edge = keys >> 1
    apart = np.ones(len(edge) + 1, dtype=bool)
    apart[1:-1] = edge[1:] != edge[:-1]
    return _edges(keys[apart[1:] & apart[:-1]], n_nodes)


def overlaps(keys: IntArray, n_nodes: int) -> IntArray:
    """Sides (k, 2) that two elements travel in the same direction, so that they overlap there."""
    return _edges(np.unique(keys[1:][keys[1:] == keys[:-1]]), n_nodes)


def are_sides(edges: IntArray, keys: IntArray, n_nodes: int) -> BoolArray:
    """Whether each edge (k,) is the side of some element."""
    wanted = 2 * edge_keys(edges, n_nodes)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: BoolArray = (keys[place] >> 1) == (wanted >> 1)
    return found


def oriented(edges: IntArray, boundary_edges: IntArray) -> IntArray:
    """The edges (k, 2) without repetition, those on the boundary directed as the boundary is."""
    if len(edges) == 0:
        return edges
    n_nodes = int(max(edges.max(), boundary_edges.max(initial=0))) + 1
    keys = edge_keys(edges, n_nodes)
    first = np.sort(np.unique(keys, return_index=True)[1])
    edges, keys = edges[first], keys[first]
    boundary_keys = edge_keys(boundary_edges, n_nodes)
    order = np.argsort(boundary_keys)
    place = np.minimum(np.searchsorted(boundary_keys, keys, sorter=order), len(order) - 1)
    found = order[place]
    on_boundary = boundary_keys[found] == keys
    return np.where(on_boundary[:, None], boundary_edges[found], edges)


def chains(edges: IntArray, what: str) -> tuple[IntArray, ...]:
    """Directed edges (k, 2) joined into polylines; see `Mesh.chains`."""
    if len(edges) == 0:
        return ()
    nodes, flat = np.unique(edges, return_inverse=True)
    local = flat.reshape(edges.shape)
    loops = np.flatnonzero(local[:, 0] == local[:, 1])
    if loops.size:
        raise MeshError(f"{what}: {some(loops, 'edge')} joins a node with itself")
    if len(np.unique(edge_keys(local, len(nodes)))) < len(local):
        raise MeshError(f"{what} holds the same edge twice; give each edge once")
    degree = np.bincount(local.ravel(), minlength=len(nodes))
    branching = nodes[degree > 2]
    if branching.size:
        raise MeshError(
            f"{what} branches at {some(branching, 'node')}, where more than two of its edges meet; "
            "split it into groups that are simple lines"
        )
    leaving = np.bincount(local[:, 0], minlength=len(nodes))
    facing = nodes[(degree == 2) & (leaving != 1)]
    if facing.size:
        raise MeshError(
            f"{what} changes direction at {some(facing, 'node')}; give its edges one direction "
            "(reverse the curve in the geometry)"
        )
    edge_from = np.full(len(nodes), -1)
    edge_from[local[:, 0]] = np.arange(len(local))
    following = edge_from[local[:, 1]].tolist()
    entered = np.zeros(len(nodes), dtype=bool)
    entered[local[:, 1]] = True
    done = [False] * len(local)
    starts = np.flatnonzero(~entered[local[:, 0]]).tolist()
    found = []
    # what the open polylines leave over is closed
    for start in [*starts, *range(len(local))]:
        if done[start]:
            continue
        path, edge = [], start
        while edge >= 0 and not done[edge]:
            done[edge] = True
            path.append(edge)
            edge = following[edge]
        line = np.append(edges[path, 0], edges[path[-1], 1])
        line.flags.writeable = False
        found.append(line)
    return tuple(found)


def components(cells: Mapping[str, IntArray], n_nodes: int) -> IntArray:
    """Label (n_nodes,) of the connected part of each node, in the order of their first nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # a path through the corners connects them as well as all sides do
    ends = np.concatenate(
        [np.stack([b[:, :-1], b[:, 1:]], axis=2).reshape(-1, 2) for b in cells.values()]
    )
    graph = coo_array(
        (np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes)
    )
    labels: IntArray = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels
