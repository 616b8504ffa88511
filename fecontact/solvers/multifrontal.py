"""Multifrontal Cholesky factorisation A = L Lᵀ.

The fronts of a nested dissection are eliminated from the leaves to the roots. A front holds the
rows of its pivots (1) and of the later dofs that its subtree is coupled to (2), dense:

    L₁₁ L₁₁ᵀ = F₁₁,   L₂₁ = F₂₁ L₁₁⁻ᵀ,   U = F₂₂ - L₂₁ L₂₁ᵀ,

with F the entries of A at its pivots plus the U of its children. L₁₁ and L₂₁ stay, U is added into
the parent. Nearly all the work is in dense kernels, those of the BLAS and LAPACK that scipy ships.
The trailing dofs of a connected part are the pivots of its root, whose L₁₁ L₁₁ᵀ is their Schur
complement.

Reference: J. W. H. Liu, The multifrontal method for sparse matrix solution: theory and practice,
SIAM Review 34 (1992) 82-109.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy import sparse
from scipy.linalg import lapack

from fecontact.errors import FecontactError, SingularSystem
from fecontact.solvers.blas import (
    GEMM,
    GEMV,
    POTRF,
    SYRK,
    TRSM,
    TRSV,
    L,
    N,
    R,
    T,
    addresses,
    call,
)
from fecontact.solvers.fronts import Symbolic, analyse
from fecontact.solvers.linear import Factorisation
from fecontact.solvers.singular import Solve, check_diagonal, check_pivots, not_definite
from fecontact.typing import FloatArray, IntArray

Storage = tuple[FloatArray, FloatArray, FloatArray]


class Multifrontal(Factorisation):
    """Cholesky factors on the fronts of a nested dissection."""

    method = "multifrontal"

    def __init__(
        self,
        A: sparse.csr_array,
        trailing: IntArray,
        coordinates: FloatArray | None = None,
        symbolic: Symbolic | None = None,
        storage: Storage | None = None,
    ) -> None:
        diagonal = check_diagonal(A)
        self.A = A
        self.trailing = trailing
        self.symbolic: Symbolic = symbolic or analyse(A, trailing, coordinates)
        self._storage: Storage | None = storage or _storage(self.symbolic)
        failed = _factorised(A, self.symbolic, self._storage)
        self.memory = sum(part.nbytes for part in self._storage)
        if failed >= 0:
            dof = int(self.symbolic.order[failed])
            raise not_definite(A, diagonal, dof, _shifted(self.symbolic))
        pivots = np.empty(self.n)
        pivots[self.symbolic.order] = _pivots(self._factor, *self.symbolic.layout)
        check_pivots(A, diagonal, pivots, self.solve)

    @property
    def _factor(self) -> FloatArray:
        if self._storage is None:
            raise FecontactError("these factors gave their memory to refactorise; use its result")
        return self._storage[0]

    def solve(self, b: FloatArray) -> FloatArray:
        return _solved(self._factor, self.symbolic, b)

    def trailing_blocks(self) -> list[tuple[IntArray, FloatArray]]:
        s = self.symbolic
        position = np.empty(self.n, dtype=np.int64)
        position[self.trailing] = np.arange(self.trailing.size)
        blocks = []
        for f in s.trailing_fronts:
            dofs = s.order[s.pivot[f] : s.pivot[f + 1]]
            lower = self._factor[s.panel[f] : s.panel[f + 1]].reshape((dofs.size, -1), order="F")
            inverse, _ = lapack.dpotri(lower, lower=1)
            # the transpose has its upper part to be filled, by rows
            _mirror(inverse.T)
            blocks.append((position[dofs], inverse.T))
        return blocks

    def refactorise(self, A: sparse.csr_array) -> Multifrontal:
        # fresh pages cost about as much time as the numbers that go into them
        storage, self._storage = self._storage, None
        return Multifrontal(A, self.trailing, symbolic=self.symbolic, storage=storage)


def _storage(s: Symbolic) -> Storage:
    """Memory for the factor and for the two stacks of updates."""
    return np.empty(s.panel[-1]), np.empty(s.stack[0]), np.empty(s.stack[1])


def _factorised(A: sparse.csr_array, s: Symbolic, storage: Storage) -> int:
    factor, even, odd = storage
    tree = (s.children, s.depth, even, odd)
    matrix = (A.indptr, A.indices, A.data)
    return int(_factorise(*matrix, s.order, s.place, *s.layout, *tree, factor, addresses()))


def _solved(factor: FloatArray, s: Symbolic, b: FloatArray) -> FloatArray:
    columns = b.reshape((b.shape[0], -1))
    permuted = np.ascontiguousarray(columns[s.order], dtype=np.float64)
    if permuted.size:
        _solve(factor, *s.layout, permuted, addresses())
    x = np.empty_like(permuted)
    x[s.order] = permuted
    return x.reshape(b.shape)


def _shifted(s: Symbolic) -> Any:
    def factorise_shifted(A: sparse.csr_array) -> Solve:
        storage = _storage(s)
        failed = _factorised(A, s, storage)
        if failed >= 0:
            raise SingularSystem(f"pivot {failed} is still not positive")
        return lambda b: _solved(storage[0], s, b)

    return factorise_shifted


@njit(cache=True)
def _factorise(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    data,
    order,
    place,
    pivot,
    rows,
    row,
    panel,
    children,
    depth,
    even,
    odd,
    factor,
    table,
):
    """Fill ``factor``; return the place of a pivot that is not positive, or -1."""
    stacks = (even, odd)
    top = np.zeros(2, dtype=np.int64)
    position = np.empty(order.size, dtype=np.int64)
    local = np.empty(order.size, dtype=np.int64)
    waiting = np.empty(pivot.size, dtype=np.int64)
    waits = 0
    info = np.zeros(1, dtype=np.int32)
    for f in range(pivot.size - 1):
        p0, p1 = pivot[f], pivot[f + 1]
        wide, tall = p1 - p0, row[f + 1] - row[f]
        high = wide + tall
        F = factor[panel[f] : panel[f + 1]]
        F[:] = 0.0
        for k in range(tall):
            position[rows[row[f] + k]] = wide + k
        for p in range(p0, p1):
            dof = order[p]
            column = (p - p0) * high
            for k in range(indptr[dof], indptr[dof + 1]):
                q = place[indices[k]]
                if q >= p1:
                    F[column + position[q]] = data[k]
                elif q >= p:
                    F[column + q - p0] = data[k]
        # U of a front and of its children lie in different stacks: depths are even and odd in turn
        side = depth[f] % 2
        U = stacks[side][top[side] : top[side] + tall * tall]
        top[side] += tall * tall
        if children[f] > 0:
            for j in range(tall):
                U[j * tall + j : (j + 1) * tall] = 0.0
        for _ in range(children[f]):
            waits -= 1
            child = waiting[waits]
            m = row[child + 1] - row[child]
            for k in range(m):
                q = rows[row[child] + k]
                local[k] = q - p0 if q < p1 else position[q]
            top[1 - side] -= m * m
            _add_child(stacks[1 - side][top[1 - side] :], m, local, F, U, wide, tall)
        w, t, h = np.int32(wide), np.int32(tall), np.int32(high)
        a = F.ctypes.data
        call(table[POTRF], (L, w, a, h, info.ctypes.data))
        if info[0] != 0:
            return p0 + info[0] - 1
        if tall > 0:
            b = a + np.uint64(8 * wide)
            call(table[TRSM], (R, L, T, N, t, w, 1.0, a, h, b, h))
            beta = 1.0 if children[f] > 0 else 0.0
            call(table[SYRK], (L, N, t, w, -1.0, b, h, beta, U.ctypes.data, t))
        waiting[waits] = f
        waits += 1
    return -1


@njit(cache=True)
def _add_child(V, m, local, F, U, wide, tall):  # type: ignore[no-untyped-def]
    """Add the lower triangle of a child's update V, m x m, to the panel F and update U of a front.

    Its rows, at the places ``local`` of the front, are few runs of consecutive rows.
    """
    high = wide + tall
    ends = np.empty(m, dtype=np.int64)
    runs = 0
    for i in range(1, m + 1):
        if i == m or local[i] != local[i - 1] + 1:
            ends[runs] = i
            runs += 1
    here = 0
    for j in range(m):
        if j == ends[here]:
            here += 1
        column = local[j]
        i = j
        for r in range(here, runs):
            if column < wide:
                target = F[column * high + local[i] : column * high + local[i] + ends[r] - i]
            else:
                first = (column - wide) * tall + local[i] - wide
                target = U[first : first + ends[r] - i]
            source = V[j * m + i : j * m + ends[r]]
            for k in range(source.size):
                target[k] += source[k]
            i = ends[r]


@njit(cache=True)
def _solve(factor, pivot, rows, row, panel, x, table):  # type: ignore[no-untyped-def]
    """Solve L Lᵀ x = b in place, x (n, k) in the order of elimination."""
    count = x.shape[1]
    k, one = np.int32(count), np.int32(1)
    tallest = 0
    for f in range(pivot.size - 1):
        tallest = max(tallest, row[f + 1] - row[f])
    # columns of x are rows to Fortran: systems are solved from the right
    later = np.empty((tallest, count))
    for step in range(2 * (pivot.size - 1)):
        forward = step < pivot.size - 1
        f = step if forward else 2 * (pivot.size - 1) - 1 - step
        wide, tall = pivot[f + 1] - pivot[f], row[f + 1] - row[f]
        p, t, h = np.int32(wide), np.int32(tall), np.int32(wide + tall)
        mine = rows[row[f] : row[f + 1]]
        a = factor[panel[f] :].ctypes.data
        b = a + np.uint64(8 * wide)
        y = x[pivot[f] :].ctypes.data
        z = later.ctypes.data
        if forward:
            if count == 1:
                call(table[TRSV], (L, N, N, p, a, h, y, one))
                if tall > 0:
                    call(table[GEMV], (N, t, p, 1.0, b, h, y, one, 0.0, z, one))
            else:
                call(table[TRSM], (R, L, T, N, k, p, 1.0, a, h, y, k))
                if tall > 0:
                    call(table[GEMM], (N, T, k, t, p, 1.0, y, k, b, h, 0.0, z, k))
            for i in range(tall):
                for c in range(count):
                    x[mine[i], c] -= later[i, c]
        else:
            for i in range(tall):
                for c in range(count):
                    later[i, c] = x[mine[i], c]
            if count == 1:
                if tall > 0:
                    call(table[GEMV], (T, t, p, -1.0, b, h, z, one, 1.0, y, one))
                call(table[TRSV], (L, T, N, p, a, h, y, one))
            else:
                if tall > 0:
                    call(table[GEMM], (N, N, k, p, t, -1.0, z, k, b, h, 1.0, y, k))
                call(table[TRSM], (R, L, N, N, k, p, 1.0, a, h, y, k))


@njit(cache=True)
def _pivots(factor, pivot, rows, row, panel):  # type: ignore[no-untyped-def]
    """Squares of the diagonal of L, shape (n,), in the order of elimination."""
    found = np.empty(pivot[-1])
    for f in range(pivot.size - 1):
        wide = pivot[f + 1] - pivot[f]
        high = wide + row[f + 1] - row[f]
        for k in range(wide):
            found[pivot[f] + k] = factor[panel[f] + k * (high + 1)] ** 2
    return found


@njit(cache=True)
def _mirror(C):  # type: ignore[no-untyped-def]
    """Fill the lower triangle of C (k, k), C-ordered, from its upper one, by blocks."""
    size = 64
    for i0 in range(0, C.shape[0], size):
        for j0 in range(0, i0 + 1, size):
            for i in range(i0, min(i0 + size, C.shape[0])):
                for j in range(j0, min(j0 + size, i)):
                    C[i, j] = C[j, i]
