"""Alternating directions: a linear system, a projection, a multiplier, in turn.

    (W + rho D) r = -(q + s) + rho D z - y,    z = P(r + y / (rho D)),    y += rho D (r - z),

D diagonal with the scale of each contact, s = mu |u_T| N renewed from the velocities -y. The system
is factorised once for each rho; rho is balanced between the two residuals, less and less often, so
that it settles.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import splu

from fecontact.solvers.cone import project, scales, shift
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Best, Options, Solution, finish, start
from fecontact.typing import FloatArray

_OVER = 1.6
_CHECK = 10
_UNBALANCED = 5.0


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by the alternating direction method of multipliers."""
    options = options or Options(solver="admm")
    z = start(problem, r0)
    D = 1.0 / scales(problem)
    rho = 1.0
    system = _factorise(problem, rho * D)
    y = -problem.velocity(z)
    s = shift(problem, y)
    y -= s
    best = Best(problem, z, options)
    iterations = 0
    factorisations = 1
    wait = _CHECK
    next_balance = wait
    while True:
        if iterations % _CHECK == 0 and best.solves(z):
            break
        if iterations >= options.max_iterations:
            break
        iterations += 1
        r = system(-(problem.q + s) + rho * D * z - y)
        relaxed = _OVER * r + (1.0 - _OVER) * z
        z_next = project(problem, relaxed + y / (rho * D))
        y = y + rho * D * (relaxed - z_next)
        s = shift(problem, y)
        if iterations == next_balance:
            primal = float(np.linalg.norm(np.sqrt(D) * (r - z_next)))
            dual = rho * float(np.linalg.norm(np.sqrt(D) * (z_next - z)))
            change = _balance(primal, dual)
            if change != 1.0:
                rho *= change
                system = _factorise(problem, rho * D)
                factorisations += 1
                wait = int(1.5 * wait)  # rarer and rarer: rho must settle for convergence
            next_balance += wait
        z = z_next
    details = {"rho": rho, "factorisations": factorisations}
    return finish(problem, best.r, options, "admm", iterations, best.history, details)


def _balance(primal: float, dual: float) -> float:
    if primal > _UNBALANCED * dual and dual > 0.0:
        return min(sqrt(primal / dual), 10.0)
    if dual > _UNBALANCED * primal and primal > 0.0:
        return max(sqrt(primal / dual), 0.1)
    return 1.0


def _factorise(
    problem: FrictionProblem, diagonal: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    if isinstance(problem.W, np.ndarray):
        A = problem.W.copy()
        A[np.diag_indices_from(A)] += diagonal
        factor = lu_factor(A, overwrite_a=True)

        def dense(b: FloatArray) -> FloatArray:
            return np.asarray(lu_solve(factor, b))

        return dense
    lu = splu(sp.csc_array(problem.csr + sp.diags_array(diagonal)))

    def sparse(b: FloatArray) -> FloatArray:
        return np.asarray(lu.solve(b))

    return sparse
