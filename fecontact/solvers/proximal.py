"""Proximal point: a sequence of problems made better conditioned by a memory of the last iterate.

Each outer iteration solves the friction problem with W + alpha D and q - alpha D r_k, D diagonal
with the scale of each contact. alpha falls by a factor at each success, so that the outer
convergence becomes superlinear, and rises where the inner solver fails. A singular W is no
obstacle.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from fecontact.errors import NotConverged
from fecontact.solvers import hybrid
from fecontact.solvers.cone import scales
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Options, Solution, finish, start, within
from fecontact.solvers.residual import Margins, certificate
from fecontact.typing import FloatArray

_FIRST = 1.0
_FALL = 0.2
_RISE = 10.0
_LEAST = 1e-9
_INNER = 2000
_PART = 0.02


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by proximal steps, each with the hybrid solver; iterations count the outer ones."""
    options = options or Options(solver="proximal")
    r = start(problem, r0)
    weight = 1.0 / scales(problem)
    alpha = _FIRST
    u = problem.velocity(r)
    residual = certificate(problem, r, u)
    best, lowest = r, residual
    history = [residual]
    iterations = 0
    inner = 0
    while residual > options.tolerance or not within(problem, r, u, options):
        if iterations == options.max_iterations or alpha > 1e6:
            break
        iterations += 1
        near = replace(
            problem, W=_with_diagonal(problem, alpha * weight), q=problem.q - alpha * weight * r
        )
        tolerance = max(_PART * min(residual, 1.0) * min(alpha, 1.0), 1e-14)
        asked = replace(options, tolerance=tolerance, max_iterations=_INNER, margins=Margins())
        try:
            found = hybrid.solve(near, r, asked)
        except NotConverged as failure:
            found = failure.best
        inner += found.report.iterations
        trial_u = problem.velocity(found.r)
        trial = certificate(problem, found.r, trial_u)
        history.append(trial)
        if found.report.converged or trial < residual:
            r, u, residual = found.r, trial_u, trial
            alpha = max(_FALL * alpha, _LEAST)
        else:
            alpha *= _RISE
        if residual < lowest:
            best, lowest = r, residual
    else:
        best = r
    return finish(
        problem, best, options, "proximal", iterations, history, {"inner_iterations": inner}
    )


def _with_diagonal(problem: FrictionProblem, diagonal: FloatArray) -> FloatArray | sp.bsr_array:
    if isinstance(problem.W, np.ndarray):
        W = problem.W.copy()
        W[np.diag_indices_from(W)] += diagonal
        return W
    return sp.bsr_array(problem.csr + sp.diags_array(diagonal), blocksize=problem.W.blocksize)
