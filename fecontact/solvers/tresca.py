"""Fixed point on the friction thresholds: a sequence of convex problems.

With the thresholds mu r_N frozen, Coulomb friction becomes Tresca friction and the problem is the
minimum of a convex quadratic over a half cylinder per contact, for which Gauss-Seidel sweeps are a
descent method that cannot cycle. The thresholds are then renewed (Panagiotopoulos; Haslinger).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fecontact.solvers.nsgs import Sweeper
from fecontact.solvers.problem import COULOMB, TRESCA, FrictionProblem
from fecontact.solvers.report import Options, Solution, finish, start, within
from fecontact.solvers.residual import certificate
from fecontact.typing import FloatArray

# inner tolerance as a part of the outer residual, and sweeps per convex problem
_PART = 0.05
_INNER_SWEEPS = 2000


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by renewed thresholds; iterations count the convex problems."""
    options = options or Options(solver="tresca")
    r = start(problem, r0)
    coulomb = problem.laws == COULOMB
    threshold = problem.thresholds.copy()
    convex = replace(
        problem,
        law=np.where(coulomb, TRESCA, problem.laws).astype(np.int8),
        threshold=threshold,
    )
    # the arrays of `convex` are those that the sweeps read: thresholds are renewed in place
    thresholds = convex.thresholds
    sweeper = Sweeper(convex, options)
    u = problem.velocity(r)
    residual = certificate(problem, r, u)
    best, lowest = r.copy(), residual
    history = [residual]
    iterations = 0
    inner = 0
    while residual > options.tolerance or not within(problem, r, u, options):
        if iterations == options.max_iterations:
            break
        iterations += 1
        thresholds[coulomb] = problem.mu[coulomb] * np.maximum(r[:: problem.dim][coulomb], 0.0)
        tolerance = max(_PART * min(residual, 1.0), 1e-15)
        swept = sweeper.sweep(r, u, _INNER_SWEEPS, tolerance)
        inner += swept.sweeps
        u = problem.velocity(r)
        residual = certificate(problem, r, u)
        history.append(residual)
        if residual < lowest:
            best, lowest = r.copy(), residual
        if not np.isfinite(residual):
            break
    else:
        best = r
    return finish(
        problem, best, options, "tresca", iterations, history, {"inner_iterations": inner}
    )
