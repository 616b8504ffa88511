"""Nonlinear Gauss-Seidel: each contact solved exactly in turn, the others frozen.

The kernel keeps u = W r + q up to date: a contact whose impulse changes adds dim columns of W to u,
a contact that does not change costs nothing. A sweep is thus one read of the columns of the active
contacts. Left to right sweeps can fall into cycles (finite-element blocks with a coefficient of
friction near 1); an order drawn anew at every sweep does not, and a fixed seed makes it repeatable
to the bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fecontact.solvers.local3d import prepare_3d
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Options, Solution, finish, start, within
from fecontact.solvers.residual import certificate
from fecontact.solvers.sweeps import EVERY, SWEEPS
from fecontact.typing import FloatArray

# a W of at most this many bytes stays in cache while sweeping, where split cache lines show
_SMALL = 2**20


class Sweeper:
    """The arrays of a problem as the kernel takes them, with the state of the shuffled order."""

    def __init__(self, problem: FrictionProblem, options: Options) -> None:
        self.problem = problem
        self.options = options
        nc = problem.n_contacts
        self._u = _aligned(problem.q.size)
        if problem.is_dense:
            self.columns = problem.columns
            if self.columns.nbytes <= _SMALL:
                self.columns = _aligned(*self.columns.shape)
                self.columns[:, : problem.q.size] = problem.columns
            self.indptr = np.zeros(1, np.int32)
            self.indices = np.zeros(0, np.int32)
            self.data = np.zeros((0, problem.dim, problem.dim))
        else:
            transposed = problem.block_columns
            self.columns = np.zeros((0, 0))
            self.indptr = np.ascontiguousarray(transposed.indptr, dtype=np.int32)
            self.indices = np.ascontiguousarray(transposed.indices, dtype=np.int32)
            self.data = np.ascontiguousarray(transposed.data)
        self.spectral = prepare_3d(problem.blocks) if problem.dim == 3 else np.zeros((nc, 0))
        self.order = np.arange(nc)
        # any seed gives a state that is not zero, as the generator needs
        self.state = np.array([2 * options.seed + 0x9E3779B97F4A7C15], dtype=np.uint64)

    def sweep(self, r: FloatArray, u: FloatArray, sweeps: int, tolerance: float) -> Swept:
        """Sweep r and u = W r + q in place, at most `sweeps` times."""
        problem, options = self.problem, self.options
        history = np.empty(sweeps // EVERY + 1)
        self._u[: u.size] = u
        done, residual, recorded = SWEEPS[problem.dim](
            problem.is_dense,
            self.columns,
            self.indptr,
            self.indices,
            self.data,
            problem.blocks,
            self.spectral,
            problem.rho,
            problem.mu,
            problem.laws,
            problem.thresholds,
            r,
            self._u,
            options.relaxation,
            options.shuffle,
            self.state,
            self.order,
            sweeps,
            tolerance,
            history,
        )
        u[:] = self._u[: u.size]
        return Swept(int(done), float(residual), [float(value) for value in history[:recorded]])


def _aligned(*shape: int) -> FloatArray:
    """Zeros with rows that begin and end with a cache line (64 bytes)."""
    padded = (*shape[:-1], -(-shape[-1] // 8) * 8)
    memory = np.zeros(8 * math.prod(padded) + 64, dtype=np.uint8)
    first = -memory.ctypes.data % 64
    values: FloatArray = memory[first : first + memory.size - 64].view(np.float64)
    return values.reshape(padded)


class Swept(NamedTuple):
    """Sweeps done, natural map when last evaluated, and its values on the way."""

    sweeps: int
    residual: float
    history: list[float]


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by nonlinear Gauss-Seidel; see the module.

    Raises `NotConverged`, with the last iterate, beyond ``options.max_iterations`` sweeps.
    """
    options = options or Options(solver="nsgs")
    r = start(problem, r0)
    sweeper = Sweeper(problem, options)
    tolerance = options.tolerance
    history: list[float] = []
    done = 0
    while done < options.max_iterations:
        # u anew: rounding of many updates is not carried from one round to the next
        u = problem.velocity(r)
        swept = sweeper.sweep(r, u, options.max_iterations - done, tolerance)
        done += swept.sweeps
        history += swept.history
        u = problem.velocity(r)
        residual = certificate(problem, r, u)
        if residual <= options.tolerance and within(problem, r, u, options):
            break
        if swept.residual <= tolerance:
            tolerance *= 0.1  # margins ask for more than the natural map
        if tolerance < 1e-15 or not np.isfinite(residual):
            break
    return finish(problem, r, options, "nsgs", done, history)
