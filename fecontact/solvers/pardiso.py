"""MKL PARDISO, an optional extra (`pip install fecontact[pardiso]`), behind the common interface.

The library of the `mkl` wheel is called through ctypes. With trailing dofs, PARDISO returns their
Schur complement S and keeps the factors of the rest; S is factorised here, between its forward and
its backward substitution.
"""

from __future__ import annotations

import ctypes
import weakref
from ctypes.util import find_library
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack

from fecontact.errors import FecontactError, MissingDependency, SingularSystem
from fecontact.solvers.linear import Factorisation, connected_parts
from fecontact.solvers.singular import Solve, check_diagonal, check_pivots, not_definite
from fecontact.typing import FloatArray, IntArray

ANALYSE, FACTORISE, SOLVE, RELEASE = 11, 22, 33, -1
FORWARD, BACKWARD = 331, 333
SYMMETRIC_POSITIVE_DEFINITE = 2
NOT_DEFINITE = -4
# places in the parameter array
USER_VALUES, ORDERING, FACTOR_ENTRIES, NEGATIVE_PIVOT, ZERO_BASED, SCHUR = 0, 1, 17, 29, 34, 35


class Pardiso(Factorisation):
    """Cholesky factors by MKL PARDISO."""

    method = "pardiso"

    def __init__(
        self,
        A: sparse.csr_array,
        trailing: IntArray,
        symbolic: IntArray | None = None,
        handle: _Handle | None = None,
    ) -> None:
        diagonal = check_diagonal(A)
        self.A = A
        self.trailing = trailing
        self.symbolic: IntArray = connected_parts(A) if symbolic is None else symbolic
        self._kept: _Handle | None = handle or _Handle(A, trailing)
        self._handle.set_values(A)
        failed = self._handle.factorise()
        if failed >= 0:
            raise not_definite(A, diagonal, failed, self._shifted)
        self.memory = self._handle.memory
        # PARDISO does not show its pivots
        check_pivots(A, diagonal, np.zeros(self.n), self.solve)

    @property
    def _handle(self) -> _Handle:
        if self._kept is None:
            raise FecontactError("these factors gave their memory to refactorise; use its result")
        return self._kept

    def _shifted(self, A: sparse.csr_array) -> Solve:
        handle = _Handle(A, self.trailing)
        if handle.factorise() >= 0:
            raise SingularSystem("a pivot is still not positive")
        return handle.solve

    def solve(self, b: FloatArray) -> FloatArray:
        return self._handle.solve(b)

    def trailing_blocks(self) -> list[tuple[IntArray, FloatArray]]:
        if not self.trailing.size:
            return []
        inverse = self._handle.schur_inverse()[np.ix_(*[self._handle.rank] * 2)]
        parts = self.symbolic[self.trailing]
        members = [np.flatnonzero(parts == part) for part in np.unique(parts)]
        return [(m, inverse[np.ix_(m, m)] if len(members) > 1 else inverse) for m in members]

    def refactorise(self, A: sparse.csr_array) -> Pardiso:
        handle, self._kept = self._handle, None
        return Pardiso(A, self.trailing, self.symbolic, handle)


class _Handle:
    """PARDISO's own memory, released with the object."""

    def __init__(self, A: sparse.csr_array, trailing: IntArray) -> None:
        _library()  # missing, it is told before there is anything to release
        self.n = int(A.shape[0])
        rows = np.repeat(np.arange(self.n), np.diff(A.indptr))
        self._upper = A.indices >= rows
        self._columns = A.indices[self._upper].astype(np.int32)
        counts = np.bincount(rows[self._upper], minlength=self.n)
        self._rows = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self.set_values(A)
        self._last = np.zeros(self.n, dtype=np.int32)
        self._last[trailing] = 1
        # PARDISO returns S in the order of the dofs' numbers
        self.schur_dofs = np.flatnonzero(self._last)
        self.rank = np.searchsorted(self.schur_dofs, trailing)
        self._memory = np.zeros(64, dtype=np.int64)
        self._parameters = np.zeros(64, dtype=np.int32)
        self._parameters[[USER_VALUES, ORDERING, ZERO_BASED]] = 1, 2, 1
        self._parameters[SCHUR] = 2 if trailing.size else 0
        self._parameters[FACTOR_ENTRIES] = -1
        self._analysed = False
        weakref.finalize(self, _release, self._memory, self._parameters, self.n)

    def set_values(self, A: sparse.csr_array) -> None:
        """Take the values of A, which has the pattern of the first one."""
        self._values = A.data[self._upper]

    def analyse(self) -> None:
        """Order the dofs, from the pattern."""
        self._run(ANALYSE)
        self._analysed = True

    def factorise(self) -> int:
        """Factorise; return the dof of a pivot that is not positive, or -1."""
        if not self.n:
            return -1
        if not self._analysed:
            self.analyse()
        size = self.schur_dofs.size
        S = np.zeros((size, size))
        error = self._run(FACTORISE, x=S)
        if error == NOT_DEFINITE:
            return int(np.clip(self._parameters[NEGATIVE_PIVOT] - 1, 0, self.n - 1))
        if size:
            # PARDISO fills S by rows; LAPACK reads its transpose, which is the same
            self._schur, failed = lapack.dpotrf(S.T, lower=1, overwrite_a=1)
            if failed > 0:
                return int(self.schur_dofs[failed - 1])
        return -1

    def schur_inverse(self) -> FloatArray:
        """Inverse of the Schur complement, in the order of `schur_dofs`."""
        inverse, _ = lapack.dpotri(self._schur, lower=1)
        return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)

    def solve(self, b: FloatArray) -> FloatArray:
        right = np.array(b.reshape((b.shape[0], -1)).T, dtype=np.float64, order="C")
        x = np.zeros_like(right)
        if right.size and not self.schur_dofs.size:
            self._run(SOLVE, right, x)
        elif right.size:
            self._run(FORWARD, right, x)
            x[:, self.schur_dofs] = lapack.dpotrs(self._schur, x[:, self.schur_dofs].T, lower=1)[
                0
            ].T
            right[:] = x
            self._run(BACKWARD, right, x)
        return np.ascontiguousarray(x.T).reshape(b.shape)

    @property
    def memory(self) -> int:
        """Bytes of the factors."""
        return 8 * (int(self._parameters[FACTOR_ENTRIES]) + self.schur_dofs.size**2)

    def _run(self, phase: int, b: FloatArray | None = None, x: FloatArray | None = None) -> int:
        one = np.ones(1)
        b = one if b is None else b
        x = one if x is None else x
        arrays = (self._values, self._rows, self._columns, self._last)
        count = b.shape[0] if b.ndim == 2 else 1
        error = _pardiso(self._memory, self._parameters, self.n, phase, arrays, count, b, x)
        if error not in (0, NOT_DEFINITE):
            raise FecontactError(f"MKL PARDISO failed in phase {phase} with its error {error}")
        return error


def _pardiso(
    memory: IntArray,
    parameters: NDArray[np.int32],
    n: int,
    phase: int,
    arrays: tuple[NDArray[Any], ...],
    count: int,
    b: FloatArray,
    x: FloatArray,
) -> int:
    def integer(value: int) -> Any:
        return ctypes.byref(ctypes.c_int32(value))

    def data(array: NDArray[Any]) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    error = ctypes.c_int32(0)
    leading = [integer(1), integer(1), integer(SYMMETRIC_POSITIVE_DEFINITE), integer(phase)]
    _library().pardiso(
        data(memory),
        *leading,
        integer(n),
        *(data(array) for array in arrays),
        integer(count),
        data(parameters),
        integer(0),
        data(b),
        data(x),
        ctypes.byref(error),
    )
    return error.value


def _release(memory: IntArray, parameters: NDArray[np.int32], n: int) -> None:
    nothing = np.zeros(1)
    empty = np.zeros(1, dtype=np.int32)
    _pardiso(memory, parameters, n, RELEASE, (nothing, empty, empty, empty), 1, nothing, nothing)


def available() -> bool:
    """Whether the library of MKL can be loaded."""
    try:
        _library()
    except MissingDependency:
        return False
    return True


@cache
def _library() -> ctypes.CDLL:
    try:
        files = metadata.files("mkl") or []
        names = [str(f.locate()) for f in files if "mkl_rt" in f.name and f.suffix != ".lib"]
    except metadata.PackageNotFoundError:
        names = []
    found = find_library("mkl_rt")
    for name in [*names, *([found] if found else [])]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise MissingDependency(
        "method 'pardiso' needs the library libmkl_rt of MKL: pip install fecontact[pardiso] "
        "(x86-64 only), or choose the method 'multifrontal'"
    )
