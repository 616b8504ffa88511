"""The fronts of a nested dissection: what the pattern of a matrix decides of its factorisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse

from fecontact.solvers.dissection import dissect
from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Symbolic:
    """What the pattern decides: the fronts, in postorder.

    Attributes
    ----------
    order, place
        Dofs in the order of elimination, and the place of each dof in it, shape (n,).
    pivot
        First pivot of each front and the end of the last, shape (nf + 1,).
    rows, row
        Places of the later rows of all fronts, and where those of each front begin, shape (nf +
        1,).
    panel
        Where L₁₁ over L₂₁ of each front begins in the factor, shape (nf + 1,).
    children, depth
        Number of children of each front, and its depth in the tree, shape (nf,).
    stack
        Largest number of entries of U waiting at even and at odd depths.
    trailing_fronts
        Fronts whose pivots are trailing dofs.
    """

    order: IntArray
    place: IntArray
    pivot: IntArray
    rows: IntArray
    row: IntArray
    panel: IntArray
    children: IntArray
    depth: IntArray
    stack: tuple[int, int]
    trailing_fronts: IntArray

    @property
    def layout(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """What a kernel needs to walk the factor."""
        return self.pivot, self.rows, self.row, self.panel

    @property
    def memory(self) -> int:
        """Bytes that the factorisation takes at its peak."""
        integers = self.order.size + self.place.size + self.rows.size
        return 8 * (int(self.panel[-1]) + sum(self.stack) + integers)

    @property
    def flops(self) -> float:
        """Floating-point operations of the factorisation, on the dense fronts."""
        p = np.diff(self.pivot).astype(float)
        m = np.diff(self.row).astype(float)
        return float(np.sum(p**3 / 3 + p**2 * m + p * m**2))


def analyse(
    A: sparse.csr_array, trailing: IntArray, coordinates: FloatArray | None = None
) -> Symbolic:
    """Symbolic factorisation of A, shape (n, n), with the dofs ``trailing`` last."""
    tree = dissect(A, trailing, coordinates)
    rows, row, children, parent = _structure(
        tree.indptr, tree.indices, tree.vertex, tree.first, tree.start, tree.end
    )
    pivot = np.concatenate([[0], tree.vertex[tree.end]])
    wide, tall = np.diff(pivot), np.diff(row)
    panel = np.concatenate([[0], np.cumsum(wide * (wide + tall))])
    depth, stack = _stack(children, parent, tall)
    place = np.empty_like(tree.order)
    place[tree.order] = np.arange(place.size)
    return Symbolic(
        tree.order,
        place,
        pivot,
        rows,
        row,
        panel,
        children,
        depth,
        (int(stack[0]), int(stack[1])),
        tree.trailing_fronts,
    )


@njit(cache=True)
def _structure(indptr, indices, vertex, first, start, end):  # type: ignore[no-untyped-def]
    """Later rows of every front, its parent and number of children."""
    nf = start.size
    nv = vertex.size - 1
    children = np.zeros(nf, dtype=np.int64)
    parent = np.full(nf, -1, dtype=np.int64)
    # later vertices of the fronts, then of dofs
    begin = np.zeros(nf + 1, dtype=np.int64)
    later = np.empty(max(16, 8 * nv), dtype=np.int64)
    row = np.zeros(nf + 1, dtype=np.int64)
    seen = np.full(nv, -1, dtype=np.int64)
    waiting = np.empty(nf, dtype=np.int64)
    top = 0
    for f in range(nf):
        found = np.empty(16, dtype=np.int64)
        count = 0
        while top > 0 and start[waiting[top - 1]] >= first[f]:
            top -= 1
            child = waiting[top]
            parent[child] = f
            children[f] += 1
            for v in later[begin[child] : begin[child + 1]]:
                if v >= end[f] and seen[v] != f:
                    seen[v] = f
                    if count == found.size:
                        found = np.append(found, found)
                    found[count] = v
                    count += 1
        for p in range(start[f], end[f]):
            for v in indices[indptr[p] : indptr[p + 1]]:
                if v >= end[f] and seen[v] != f:
                    seen[v] = f
                    if count == found.size:
                        found = np.append(found, found)
                    found[count] = v
                    count += 1
        begin[f + 1] = begin[f] + count
        if begin[f + 1] > later.size:
            later = np.append(later, np.empty(max(later.size, count), dtype=np.int64))
        later[begin[f] : begin[f + 1]] = np.sort(found[:count])
        row[f + 1] = row[f]
        for v in found[:count]:
            row[f + 1] += vertex[v + 1] - vertex[v]
        waiting[top] = f
        top += 1
    rows = np.empty(row[nf], dtype=np.int64)
    at = 0
    for v in later[: begin[nf]]:
        for place in range(vertex[v], vertex[v + 1]):
            rows[at] = place
            at += 1
    return rows, row, children, parent


@njit(cache=True)
def _stack(children, parent, tall):  # type: ignore[no-untyped-def]
    """Depth of each front, and the peak of the two stacks of U."""
    nf = parent.size
    depth = np.zeros(nf, dtype=np.int64)
    for f in range(nf - 1, -1, -1):
        if parent[f] >= 0:
            depth[f] = depth[parent[f]] + 1
    size = np.zeros(2, dtype=np.int64)
    peak = np.zeros(2, dtype=np.int64)
    used = np.zeros(nf, dtype=np.int64)
    for f in range(nf):
        side = depth[f] % 2
        size[side] += tall[f] * tall[f]
        peak[side] = max(peak[side], size[side])
        size[1 - side] -= used[f]
        if parent[f] >= 0:
            used[parent[f]] += tall[f] * tall[f]
    return depth, peak
