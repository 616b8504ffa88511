"""Sweeps and Newton steps together: the default.

A few shuffled Gauss-Seidel sweeps bring most contacts to their final state; Newton steps then end
the work at once. A Newton phase is kept only if it lowers the residual enough, else the sweeps go
on from where they were, for twice as many as before, and the next phase has more patience: from
far away Newton's active sets settle before the residual falls. Every other phase after a failed one
ties its steps to the iterate that they start from, which a W without full rank needs. So the solver
converges wherever the sweeps do and mostly long before them.

A warm start that is within the tolerance already is not taken as it stands: a Newton step makes it
exact. Step after step of a body at rest would else be content with the same impulses, and the
defect, small as it is, would push in the same direction each time.
"""

from __future__ import annotations

import numpy as np

from fecontact.solvers.newton import step
from fecontact.solvers.nsgs import Sweeper
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Options, Solution, finish, start, within
from fecontact.solvers.residual import certificate
from fecontact.typing import FloatArray

_FIRST_SWEEPS = 20
_MOST_SWEEPS = 500
_NEWTON_STEPS = 12
# Newton steps in a row that may pass without a lower residual
_PATIENCE = 3
# failed phases after which the next is given no more patience
_GROWTH = 4
# part of the residual before the Newton phase that it must reach to be kept
_ENOUGH = 0.1
# tie of a step to its start, in parts of the diagonal of W: impulses that W moves by much less are
# not told apart
_MEMORY = 1e-8
# part of the tolerance below which a warm start is taken as it stands
_EXACT = 1e-2


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by sweeps with Newton phases in between; iterations count both."""
    options = options or Options()
    r = start(problem, r0)
    sweeper = Sweeper(problem, options)
    tolerance = options.tolerance
    limit = options.max_iterations
    history: list[float] = []
    sweeps = 0
    steps = 0
    failed = 0
    batch = _FIRST_SWEEPS
    u = problem.velocity(r)
    residual = certificate(problem, r, u)
    if r0 is not None and _EXACT * tolerance < residual <= tolerance:
        steps, refined = _newton(problem, r, u, residual, 0.0, 1, 1, _MEMORY)
        if refined is not None:
            r = refined
            u = problem.velocity(r)
            residual = certificate(problem, r, u)
            history.append(residual)
    while residual > options.tolerance or not within(problem, r, u, options):
        if residual <= tolerance:
            tolerance = 0.1 * residual  # margins ask for more than the natural map
            if tolerance < 1e-17:
                break
        if sweeps + steps >= limit:
            break
        swept = sweeper.sweep(r, u, min(batch, limit - sweeps - steps), tolerance)
        sweeps += swept.sweeps
        u = problem.velocity(r)
        residual = certificate(problem, r, u)
        history.append(residual)
        if residual > tolerance:
            done, polished = _newton(
                problem,
                r,
                u,
                residual,
                tolerance,
                limit - sweeps - steps,
                2 ** min(failed, _GROWTH),
                _MEMORY * (failed % 2),
            )
            steps += done
            if polished is not None:
                r = polished
                u = problem.velocity(r)
                residual = certificate(problem, r, u)
                history.append(residual)
            else:
                batch = min(2 * batch, _MOST_SWEEPS)
                failed += 1
        if not np.isfinite(residual):
            break
    details = {"sweeps": sweeps, "newton_steps": steps}
    return finish(problem, r, options, "hybrid", sweeps + steps, history, details)


def _newton(
    problem: FrictionProblem,
    r: FloatArray,
    u: FloatArray,
    before: float,
    tolerance: float,
    limit: int,
    patience: int,
    memory: float = 0.0,
) -> tuple[int, FloatArray | None]:
    """Newton steps done, and the best iterate where it is good enough.

    `patience` multiplies the steps that the phase may take, in all and without success; `memory` is
    that of each step.
    """
    best, lowest = r, before
    since = 0
    done = 0
    most = min(_NEWTON_STEPS * patience, limit)
    while done < most and lowest > tolerance and since < _PATIENCE * patience:
        stepped = step(problem, r, u, memory)
        done += 1
        if stepped is None:
            break
        r = stepped
        u = problem.velocity(r)
        residual = certificate(problem, r, u)
        since += 1
        if residual < lowest:
            best, lowest, since = r, residual, 0
    return done, best if lowest <= max(_ENOUGH * before, tolerance) else None
