"""Diagonal systems (lumped masses), which need no factorisation."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fecontact.errors import InputError
from fecontact.solvers.linear import Factorisation
from fecontact.solvers.singular import check_diagonal
from fecontact.typing import FloatArray, IntArray


class Diagonal(Factorisation):
    """A diagonal matrix with positive entries."""

    method = "diagonal"

    def __init__(self, A: sparse.csr_array, trailing: IntArray) -> None:
        if A.nnz != A.shape[0] or not np.array_equal(A.indices, np.arange(A.shape[0])):
            raise InputError(
                f"method 'diagonal' needs a diagonal matrix, this one has {A.nnz} entries"
            )
        self.A = A
        self.trailing = trailing
        self.diagonal = check_diagonal(A)
        self.memory = self.diagonal.nbytes

    def solve(self, b: FloatArray) -> FloatArray:
        return np.asarray(b / (self.diagonal if b.ndim == 1 else self.diagonal[:, None]))

    def trailing_blocks(self) -> list[tuple[IntArray, FloatArray]]:
        inverse = 1.0 / self.diagonal[self.trailing]
        return [(np.array([i]), inverse[i : i + 1, None]) for i in range(inverse.size)]

    def refactorise(self, A: sparse.csr_array) -> Diagonal:
        return Diagonal(A, self.trailing)
