"""Order of elimination by nested dissection.

A set of unknowns is cut in two by a line across its middle. Those on one side of the line that are
coupled to the other side are a separator: it is eliminated after both halves, which are cut again
in the same way. Every axis is tried for every cut, and both sides of the line, and the lightest
separator is taken. Positions only propose where to cut; the separator is read from the graph, so
that the order is a dissection whatever they are. Where there are none, or where they cut badly, the
distance in the graph from a remote vertex takes their place.

Reference: A. George, Nested dissection of a regular finite element mesh, SIAM Journal on Numerical
Analysis 10 (1973) 345-363.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse

from fecontact.solvers.graph import compress, gather, parts, renumber
from fecontact.typing import FloatArray, IntArray

# sets of at most this many dofs are not cut any more
LEAF = 36
# separators heavier than this part of the set are not worth a cut
HEAVY = 0.4
# where a vertex is while a set is being cut
OUT, LOW, HIGH, SEPARATOR = 0, 2, 3, 4


@dataclass(frozen=True, eq=False)
class Dissection:
    """Elimination order, and the tree of its separators, in postorder.

    Attributes
    ----------
    order
        Dofs in the order of elimination, shape (n,).
    vertex
        First place in `order` of each vertex, shape (nv + 1,).
    indptr, indices
        Graph of the vertices, numbered in the order of elimination.
    first, start, end
        For each front, shape (nf,): its pivots are the vertices start..end-1, and its subtree the
        vertices first..end-1.
    trailing_fronts
        Fronts whose pivots are the trailing dofs of one connected part.
    """

    order: IntArray
    vertex: IntArray
    indptr: IntArray
    indices: IntArray
    first: IntArray
    start: IntArray
    end: IntArray
    trailing_fronts: IntArray


def dissect(
    A: sparse.csr_array,
    trailing: IntArray,
    coordinates: FloatArray | None = None,
    leaf: int = LEAF,
) -> Dissection:
    """Nested dissection of the graph of A, shape (n, n), with the dofs ``trailing`` last.

    Each connected part of the graph has a tree of its own, whose root holds its trailing dofs.

    Parameters
    ----------
    A
        Matrix with a symmetric pattern and a full diagonal.
    trailing
        Dofs to be ordered last, shape (nt,).
    coordinates
        Position of each dof, shape (n, dim).
    leaf
        Sets of at most this many dofs are not cut any more.
    """
    n = A.shape[0]
    last = np.zeros(n, dtype=np.bool_)
    last[trailing] = True
    group, members, ptr = gather(A.indptr, A.indices, last)
    indptr, indices = compress(A.indptr, A.indices, group, members, ptr)
    weight = np.diff(ptr)
    part, bounds = parts(indptr, indices)
    # the trailing vertices as they were given, so that their inverse needs no sorting
    given = group[trailing]
    ends = given[np.sort(np.unique(given, return_index=True)[1])]
    keys = _keys(coordinates, members[ptr[:-1]])
    lists = np.stack([_listed(np.argsort(key, kind="stable"), ends, part) for key in keys])
    tails = bounds[1:] - np.bincount(part[ends], minlength=bounds.size - 1)
    perm, first, start, end = _dissect(
        indptr, indices, weight, keys, lists, bounds[:-1], tails, leaf
    )
    rooted = tails < bounds[1:]
    perm = np.where(np.arange(perm.size) < np.repeat(tails, np.diff(bounds)), perm, lists[0])
    first = np.concatenate([first, bounds[:-1][rooted]])
    start = np.concatenate([start, tails[rooted]])
    end = np.concatenate([end, bounds[1:][rooted]])
    postorder = np.argsort(start)
    place = np.empty(perm.size, dtype=np.int64)
    place[perm] = np.arange(perm.size)
    vertex = np.concatenate([[0], np.cumsum(weight[perm])])
    indptr, indices = renumber(indptr, indices, perm, place)
    return Dissection(
        members[np.repeat(ptr[perm] - vertex[:-1], weight[perm]) + np.arange(n)],
        vertex,
        indptr,
        indices,
        first[postorder],
        start[postorder],
        end[postorder],
        np.flatnonzero(postorder >= start.size - np.count_nonzero(rooted)),
    )


def _keys(coordinates: FloatArray | None, representative: IntArray) -> IntArray:
    """Positions of the vertices as integers, shape (dim, nv); all 0 where there are none."""
    if coordinates is None or not representative.size or not np.isfinite(coordinates).all():
        return np.zeros((1, representative.size), dtype=np.int64)
    x = coordinates[representative].T
    size = float(np.ptp(x, axis=1).max()) or 1.0
    # places that differ by rounding only become the same, so that lines of a grid stay lines
    scaled = (x - x.min(axis=1, keepdims=True)) * (2.0**30 / size)
    return np.asarray(np.round(scaled), dtype=np.int64)


def _listed(vertices: IntArray, ends: IntArray, part: IntArray) -> IntArray:
    """Vertices, given sorted along an axis, listed part by part with the trailing ``ends`` last."""
    is_end = np.zeros(part.size, dtype=np.bool_)
    is_end[ends] = True
    listed = np.concatenate([vertices[~is_end[vertices]], ends])
    if part.size and part.max() == 0:
        return listed
    return listed[np.argsort(part[listed], kind="stable")]


@njit(cache=True)
def _dissect(indptr, indices, weight, keys, lists, heads, tails, leaf):  # type: ignore[no-untyped-def]
    """Cut the sets heads[c]..tails[c]-1 of ``lists``, which has them sorted along each axis.

    Returns the order of elimination and, for every front, its subtree, first pivot and end.
    """
    nv = weight.size
    perm = np.empty(nv, dtype=np.int64)
    fronts = np.empty((3, nv), dtype=np.int64)
    count = 0
    todo = [(heads[c], tails[c]) for c in range(heads.size)]
    inside = np.zeros(nv, dtype=np.int8)
    touched = np.zeros(nv, dtype=np.int64)
    work = np.empty((3, nv), dtype=np.int64)
    while len(todo) > 0:
        lo, hi = todo.pop()
        if lo == hi:
            continue
        mine = lists[:, lo:hi]
        total = 0
        for v in mine[0]:
            total += weight[v]
        along = 0
        middle = lo
        if total > leaf and _separate(
            indptr, indices, weight, keys, mine, total, inside, touched, work
        ):
            low, high = _partition(mine, inside, work[0])
            middle = lo + low + high
            todo.append((lo, lo + low))
            todo.append((lo + low, middle))
            # the longest axis runs along the separator, whose parts are then runs in the fronts
            longest = np.int64(-1)
            for axis in range(keys.shape[0]):
                line = lists[axis, middle:hi]
                if line.size and keys[axis, line[-1]] - keys[axis, line[0]] > longest:
                    longest = keys[axis, line[-1]] - keys[axis, line[0]]
                    along = axis
        perm[middle:hi] = lists[along, middle:hi]
        if middle < hi:
            fronts[0, count], fronts[1, count], fronts[2, count] = lo, middle, hi
            count += 1
    return perm, fronts[0, :count].copy(), fronts[1, :count].copy(), fronts[2, :count].copy()


@njit(cache=True)
def _separate(  # type: ignore[no-untyped-def]
    indptr, indices, weight, keys, mine, total, inside, touched, work
):
    """Choose a cut of the set ``mine``; mark its halves and separator in ``inside``.

    Returns False, and no marks, where no separator is light enough.
    """
    dim = keys.shape[0]
    by_distance, distance = work[0, : mine.shape[1]], work[1]
    best, best_axis, best_low, best_balance = total, -1, True, total
    for axis in range(dim + 1):
        if axis == dim:
            if best <= HEAVY * total:
                break
            _distances(indptr, indices, mine[0], inside, distance, work[2], by_distance)
        vertices = mine[axis] if axis < dim else by_distance
        key = keys[axis] if axis < dim else distance
        before = _halve(vertices, key, inside)
        if before < vertices.size:
            low = high = 0
            low_weight, high_weight = 0, 0
            for v in vertices[:before]:
                for w in indices[indptr[v] : indptr[v + 1]]:
                    if inside[w] == HIGH:
                        if touched[v] == 0:
                            touched[v] = 1
                            low += 1
                            low_weight += weight[v]
                        if touched[w] == 0:
                            touched[w] = 1
                            high += 1
                            high_weight += weight[w]
            after = vertices.size - before
            for on_low in (True, False):
                heavy = low_weight if on_low else high_weight
                balance = abs(before - low - after) if on_low else abs(before - after + high)
                if heavy < best or (heavy == best and balance < best_balance):
                    best, best_axis, best_low, best_balance = heavy, axis, on_low, balance
        for v in vertices:
            inside[v] = OUT
            touched[v] = 0
    if best_axis < 0 or best > HEAVY * total:
        return False
    vertices = mine[best_axis] if best_axis < dim else by_distance
    _halve(vertices, keys[best_axis] if best_axis < dim else distance, inside)
    side, other = (LOW, HIGH) if best_low else (HIGH, LOW)
    for v in vertices:
        if inside[v] == side:
            for w in indices[indptr[v] : indptr[v + 1]]:
                if inside[w] == other:
                    inside[v] = SEPARATOR
                    break
    return True


@njit(cache=True)
def _halve(vertices, key, inside):  # type: ignore[no-untyped-def]
    """Mark the vertices, sorted by ``key``, up to the middle key as low, the others as high."""
    middle = key[vertices[(vertices.size - 1) // 2]]
    before = 0
    for v in vertices:
        if key[v] <= middle:
            inside[v] = LOW
            before += 1
        else:
            inside[v] = HIGH
    return before


@njit(cache=True)
def _partition(mine, inside, buffer):  # type: ignore[no-untyped-def]
    """Sort every list of the set into low, high and separator, and take the marks away."""
    size = mine.shape[1]
    count = np.zeros(5, dtype=np.int64)
    for v in mine[0]:
        count[inside[v]] += 1
    at = np.zeros(5, dtype=np.int64)
    for axis in range(mine.shape[0]):
        at[LOW], at[HIGH], at[SEPARATOR] = 0, count[LOW], count[LOW] + count[HIGH]
        for v in mine[axis]:
            buffer[at[inside[v]]] = v
            at[inside[v]] += 1
        mine[axis] = buffer[:size]
    for v in mine[0]:
        inside[v] = OUT
    return count[LOW], count[HIGH]


@njit(cache=True)
def _distances(indptr, indices, vertices, inside, distance, queue, by_distance):  # type: ignore[no-untyped-def]
    """Fill ``distance`` from a remote vertex, -1 if out of reach; sort the vertices by it."""
    seed = vertices[0]
    filled = 0
    for v in vertices:
        inside[v] = LOW
    # the farthest of the farthest is remote enough
    for _ in range(3):
        for v in vertices:
            distance[v] = -1
        distance[seed] = 0
        queue[0] = seed
        filled = 1
        head = 0
        while head < filled:
            v = queue[head]
            head += 1
            for w in indices[indptr[v] : indptr[v + 1]]:
                if inside[w] == LOW and distance[w] < 0:
                    distance[w] = distance[v] + 1
                    queue[filled] = w
                    filled += 1
        seed = queue[filled - 1]
    at = 0
    for v in vertices:
        inside[v] = OUT
        if distance[v] < 0:
            by_distance[at] = v
            at += 1
    by_distance[at:] = queue[:filled]
