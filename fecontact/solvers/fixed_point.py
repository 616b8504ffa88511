"""Fixed point of the projection: the friction law as a variational inequality.

Solutions are the fixed points of r -> P(r - rho F(r)), F(r) = W r + q + mu |u_T| N, P the
projection on the admissible impulses. rho is a factor, common to all contacts, of their own scales
1 / w; it is shrunk until rho |F(r) - F(r')| <= L |r - r'| holds for the step, and let grow where
the step is easy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fecontact.solvers.cone import project, scales, shifted
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Best, Options, Solution, finish, start
from fecontact.typing import FloatArray

# ratio rho |dF| / |dr| above which a step is refused, and below which rho grows
_HARD = 0.9
_EASY = 0.3
_SHRINK = 2.0 / 3.0
_CHECK = 10


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by projections with a self-adapting step."""
    return projections(problem, r0, options or Options(solver="fixed_point"), "fixed_point", False)


def projections(
    problem: FrictionProblem,
    r0: FloatArray | None,
    options: Options,
    name: str,
    extragradient: bool,
) -> Solution:
    """Iterate the projection, with F taken at the old iterate or (extragradient) at the trial."""
    r = start(problem, r0)
    scale = scales(problem)
    best = Best(problem, r, options)
    iterations = 0
    factor = 1.0
    F = shifted(problem, problem.velocity(r))
    while True:
        if iterations % _CHECK == 0 and best.solves(r):
            break
        if iterations >= options.max_iterations:
            break
        factor, r, F = _advance(problem, r, F, scale, factor, extragradient)
        iterations += 1
    return finish(problem, best.r, options, name, iterations, best.history)


def _advance(
    problem: FrictionProblem,
    r: FloatArray,
    F: FloatArray,
    scale: FloatArray,
    factor: float,
    extragradient: bool,
) -> tuple[float, FloatArray, FloatArray]:
    """One accepted step: the new factor, impulses and F."""

    def operator(x: FloatArray) -> FloatArray:
        return shifted(problem, problem.velocity(x))

    norm = _scaled_norm(scale)
    while True:
        trial = project(problem, r - factor * scale * F)
        F_trial = operator(trial)
        moved = norm(trial - r)
        ratio = factor * norm(scale * (F_trial - F)) / moved if moved > 0.0 else 0.0
        if ratio <= _HARD:
            break
        factor *= _SHRINK * min(1.0, 1.0 / ratio)
    if extragradient:
        trial = project(problem, r - factor * scale * F_trial)
        F_trial = operator(trial)
    if ratio < _EASY:
        factor /= _SHRINK
    return factor, trial, F_trial


def _scaled_norm(scale: FloatArray) -> Callable[[FloatArray], float]:
    weight = 1.0 / scale

    def norm(x: FloatArray) -> float:
        return float(np.sqrt(np.dot(x * weight, x)))

    return norm
