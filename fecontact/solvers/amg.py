"""Conjugate gradients with algebraic multigrid: for systems whose factors would not fit in memory.

The preconditioner is a cycle of smoothed aggregation (pyamg, `pip install fecontact[amg]`) that
keeps the rigid motions of the bodies as its near null space. Memory grows with the number of dofs
alone, and so does the time of one solution; but the inverse on the trailing dofs takes a solution
for each of them.

Reference: P. Vanek, J. Mandel, M. Brezina, Algebraic multigrid by smoothed aggregation for second
and fourth order elliptic problems, Computing 56 (1996) 179-196.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from fecontact.errors import MissingDependency, NotConverged, SingularSystem
from fecontact.solvers.linear import Factorisation, connected_parts
from fecontact.solvers.singular import TOLERANCE as ROUNDING
from fecontact.solvers.singular import Solve, check_diagonal, check_pivots, not_definite
from fecontact.typing import FloatArray, IntArray

# residual relative to the right-hand side, both in the norm of the preconditioner
TOLERANCE = 1e-13
MOST_ITERATIONS = 500
# steps of the search for a motion of negative energy
SEARCH = 200
# systems of at most this many unknowns are solved directly, as the last level
COARSEST = 100

Preconditioner = Callable[[FloatArray], FloatArray]


class ConjugateGradients(Factorisation):
    """A solver by conjugate gradients, preconditioned by smoothed aggregation."""

    method = "cg"

    def __init__(
        self,
        A: sparse.csr_array,
        trailing: IntArray,
        coordinates: FloatArray | None = None,
        directions: FloatArray | None = None,
        symbolic: FloatArray | None = None,
    ) -> None:
        pyamg = _pyamg()
        diagonal = check_diagonal(A)
        self.A = A
        self.trailing = trailing
        # the rigid motions stay while the mesh stays: they are all that is kept of it
        self.symbolic: FloatArray = (
            rigid_motions(A, coordinates, directions) if symbolic is None else symbolic
        )
        self._cycle, self.memory = _hierarchy(pyamg, A, self.symbolic)
        try:
            _look_for_negative_energy(A, diagonal)
            check_pivots(A, diagonal, np.zeros(self.n), self.solve)
        except (NotConverged, _NoCurvature) as error:
            pivot = error.dof if isinstance(error, _NoCurvature) else -1
            raise not_definite(A, diagonal, pivot, self._shifted) from None

    def solve(self, b: FloatArray) -> FloatArray:
        if b.ndim == 1:
            return _conjugate_gradients(self.A, b, self._cycle)
        columns = [_conjugate_gradients(self.A, column, self._cycle) for column in b.T]
        return np.column_stack(columns) if columns else np.zeros(b.shape)

    def trailing_blocks(self) -> list[tuple[IntArray, FloatArray]]:
        parts = connected_parts(self.A)[self.trailing]
        blocks = []
        for part in np.unique(parts):
            members = np.flatnonzero(parts == part)
            dofs = self.trailing[members]
            inverse = np.empty((dofs.size, dofs.size))
            for k, dof in enumerate(dofs):
                unit = np.zeros(self.n)
                unit[dof] = 1.0
                inverse[k] = self.solve(unit)[dofs]
            blocks.append((members.astype(np.int64), 0.5 * (inverse + inverse.T)))
        return blocks

    def refactorise(self, A: sparse.csr_array) -> ConjugateGradients:
        return ConjugateGradients(A, self.trailing, symbolic=self.symbolic)

    def _shifted(self, A: sparse.csr_array) -> Solve:
        cycle, _ = _hierarchy(_pyamg(), A, self.symbolic)

        def solve(b: FloatArray) -> FloatArray:
            try:
                return _conjugate_gradients(A, b, cycle)
            except (NotConverged, _NoCurvature):
                raise SingularSystem("still not positive definite") from None

        try:
            _look_for_negative_energy(A, A.diagonal())
        except _NoCurvature:
            raise SingularSystem("still not positive definite") from None
        # a first solution shows whether the shift was enough
        solve(np.random.default_rng(3).uniform(-1.0, 1.0, A.shape[0]))
        return solve


class _NoCurvature(Exception):
    """A direction p with pᵀ A p <= 0, largest at `dof`."""

    def __init__(self, p: FloatArray) -> None:
        super().__init__()
        self.dof = int(np.argmax(np.abs(p)))


def _conjugate_gradients(A: sparse.csr_array, b: FloatArray, cycle: Preconditioner) -> FloatArray:
    """Solution of A x = b, shape (n,)."""
    x = np.zeros(b.size)
    r = np.array(b, dtype=np.float64)
    z = cycle(r)
    size = rz = float(r @ z)
    if size == 0.0:
        return x
    p = z
    for _ in range(MOST_ITERATIONS):
        Ap = A @ p
        curvature = float(p @ Ap)
        if curvature <= 0.0 or rz < 0.0:
            raise _NoCurvature(p)
        step = rz / curvature
        x += step * p
        r -= step * Ap
        z = cycle(r)
        before, rz = rz, float(r @ z)
        if abs(rz) <= TOLERANCE**2 * size:
            return x
        p = z + (rz / before) * p
    raise NotConverged(
        f"conjugate gradients stopped after {MOST_ITERATIONS} iterations with a residual of "
        f"{np.sqrt(abs(rz / size)):.1e} relative to the right-hand side, expected {TOLERANCE:g}",
        best=x,
    )


def _look_for_negative_energy(A: sparse.csr_array, diagonal: FloatArray) -> None:
    """Raise `_NoCurvature` where plain conjugate gradients meet a direction of negative energy.

    Without the cycle, which takes over the signs of an indefinite A, their directions lean to the
    lowest motions. What rounding alone may have made negative is left to `check_pivots`.
    """
    r = np.random.default_rng(4).uniform(-1.0, 1.0, diagonal.size) * np.sqrt(diagonal)
    z = r / diagonal
    size = rz = float(r @ z)
    p = z
    for _ in range(SEARCH):
        if rz <= TOLERANCE**2 * size:
            return
        Ap = A @ p
        curvature = float(p @ Ap)
        if curvature <= 0.0:
            if curvature < -ROUNDING * float(np.abs(p) @ (abs(A) @ np.abs(p))):
                raise _NoCurvature(p)
            return
        r = r - (rz / curvature) * Ap
        z = r / diagonal
        before, rz = rz, float(r @ z)
        p = z + (rz / before) * p


def rigid_motions(
    A: sparse.csr_array, coordinates: FloatArray | None, directions: FloatArray | None
) -> FloatArray:
    """Translations and rotations at the dofs, shape (n, k), as they would be without supports.

    Parameters
    ----------
    A
        Matrix of shape (n, n); its graph tells bodies apart, each turns about its own centre.
    coordinates
        Position of each dof, shape (n, dim); without it one constant vector is returned.
    directions
        Unit vector along which each dof moves, shape (n, dim). Without it, dofs at one place are
        taken to be the components of a node in turn: a guess, which costs iterations where it is
        wrong but no accuracy.
    """
    if coordinates is None:
        return np.ones((A.shape[0], 1))
    dim = coordinates.shape[1]
    along = _guessed(coordinates) if directions is None else directions
    parts = connected_parts(A)
    count = np.bincount(parts)
    centre = np.column_stack([np.bincount(parts, weights=x) / count for x in coordinates.T])
    arm = coordinates - centre[parts]
    arm = arm / (float(np.abs(arm).max(initial=0.0)) or 1.0)
    turns: list[FloatArray] = [
        along[:, j] * arm[:, i] - along[:, i] * arm[:, j] for i in range(dim) for j in range(i)
    ]
    motions: FloatArray = np.column_stack([*along.T, *turns])
    return motions


def _guessed(coordinates: FloatArray) -> FloatArray:
    n, dim = coordinates.shape
    new = np.ones(n, dtype=np.bool_)
    new[1:] = np.any(coordinates[1:] != coordinates[:-1], axis=1)
    first = np.flatnonzero(new)
    component = np.arange(n) - np.repeat(first, np.diff(np.append(first, n)))
    return np.asarray(np.eye(dim)[component % dim])


def _hierarchy(pyamg: Any, A: sparse.csr_array, motions: FloatArray) -> tuple[Preconditioner, int]:
    """One cycle as a function, and the bytes that its levels take."""
    with _fixed_seed():
        levels = pyamg.smoothed_aggregation_solver(
            A, motions, max_coarse=COARSEST, improve_candidates=None
        )
    operator = levels.aspreconditioner(cycle="V")
    held = sum(
        _bytes(matrix)
        for level in levels.levels
        for matrix in (level.A, getattr(level, "P", None), getattr(level, "R", None))
    )
    return operator.matvec, held


@contextmanager
def _fixed_seed() -> Iterator[None]:
    """The same random numbers each time: pyamg draws from numpy's global generator."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _bytes(matrix: Any) -> int:
    if matrix is None:
        return 0
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def _pyamg() -> Any:
    try:
        import pyamg
    except ImportError as error:
        raise MissingDependency(
            f"method 'cg' needs the package pyamg ({error}): pip install fecontact[amg], or choose "
            "the method 'multifrontal'"
        ) from None
    return pyamg
