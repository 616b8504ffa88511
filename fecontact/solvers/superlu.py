"""SuperLU, which scipy brings everywhere: the fallback.

The order is given to SuperLU, which keeps to the diagonal pivots of a symmetric matrix. It may
still reorder by a postorder of the elimination tree; since no dof that is eliminated before the
trailing ones depends on them, the trailing Schur complement is S = L₂₂ U₂₂ wherever their rows
end up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import SuperLU as Factors
from scipy.sparse.linalg import splu

from fecontact.errors import SingularSystem
from fecontact.solvers.dissection import dissect
from fecontact.solvers.linear import Factorisation, connected_parts
from fecontact.solvers.singular import Solve, check_diagonal, check_pivots, not_definite
from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Symbolic:
    """Order of elimination (n,), trailing dofs last, and the connected part of each dof (n,)."""

    order: IntArray
    parts: IntArray


class SuperLU(Factorisation):
    """LU factors by SuperLU with a given symmetric order."""

    method = "superlu"

    def __init__(
        self,
        A: sparse.csr_array,
        trailing: IntArray,
        coordinates: FloatArray | None = None,
        symbolic: Symbolic | None = None,
    ) -> None:
        diagonal = check_diagonal(A)
        self.A = A
        self.trailing = trailing
        self.symbolic: Symbolic = symbolic or _analyse(A, trailing, coordinates)
        order = self.symbolic.order
        try:
            self._factors = _factor(A, order)
        except RuntimeError:  # SuperLU met a pivot of exactly zero
            raise not_definite(A, diagonal, int(order[-1]), self._shifted) from None
        pivots = np.empty(A.shape[0])
        pivots[order[np.argsort(self._factors.perm_c)]] = self._factors.U.diagonal()
        worst = int(np.argmin(pivots / diagonal)) if pivots.size else 0
        if pivots.size and pivots[worst] <= 0.0:
            raise not_definite(A, diagonal, worst, self._shifted)
        self.memory = int(12 * self._factors.nnz)
        check_pivots(A, diagonal, pivots, self.solve)

    def _shifted(self, A: sparse.csr_array) -> Solve:
        shifted = SuperLU.__new__(SuperLU)
        shifted.A, shifted.symbolic = A, self.symbolic
        try:
            shifted._factors = _factor(A, self.symbolic.order)
        except RuntimeError:
            raise SingularSystem("a pivot is still zero") from None
        if shifted._factors.U.diagonal().min() <= 0.0:
            raise SingularSystem("still not positive definite")
        return shifted.solve

    def solve(self, b: FloatArray) -> FloatArray:
        order = self.symbolic.order
        x = np.empty(b.shape)
        x[order] = self._factors.solve(np.ascontiguousarray(b[order], dtype=np.float64))
        return x

    def trailing_blocks(self) -> list[tuple[IntArray, FloatArray]]:
        if not self.trailing.size:
            return []
        # place of each trailing dof in the factors, in the order in which SuperLU eliminates them
        place = self._factors.perm_c[np.argsort(self.symbolic.order)[self.trailing]]
        position = np.argsort(place)
        rows = place[position]
        lower = sparse.csr_array(self._factors.L)[rows][:, rows]
        pivots = self._factors.U.diagonal()[rows]
        parts = self.symbolic.parts[self.trailing[position]]
        blocks = []
        for part in np.unique(parts):
            members = np.flatnonzero(parts == part)
            factor = lower[members][:, members].toarray() * np.sqrt(pivots[members])
            inverse, _ = lapack.dpotri(factor, lower=1)
            inverse = np.tril(inverse) + np.tril(inverse, -1).T
            blocks.append((position[members].astype(np.int64), inverse))
        return blocks

    def refactorise(self, A: sparse.csr_array) -> SuperLU:
        return SuperLU(A, self.trailing, symbolic=self.symbolic)


def _factor(A: sparse.csr_array, order: IntArray) -> Factors:
    permuted = sparse.csc_array(A[order][:, order])
    # pivots stay on the diagonal, so that the factors are those of a symmetric elimination
    options = {"SymmetricMode": True}
    return splu(permuted, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)


def _analyse(A: sparse.csr_array, trailing: IntArray, coordinates: FloatArray | None) -> Symbolic:
    return Symbolic(dissect(A, trailing, coordinates).order, connected_parts(A))
