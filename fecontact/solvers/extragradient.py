"""Extragradient: a projection to look ahead, then the step with the velocities found there.

The same variational inequality and the same self-adapting step as `fixed_point`, with the second
projection of Korpelevich, which converges for monotone operators where a plain fixed point may turn
in circles.
"""

from __future__ import annotations

from fecontact.solvers.fixed_point import projections
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Options, Solution
from fecontact.typing import FloatArray


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by the extragradient method with a self-adapting step."""
    options = options or Options(solver="extragradient")
    return projections(problem, r0, options, "extragradient", True)
