"""What solvers are asked (options) and what they answer (solution and report)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fecontact.errors import InputError, NotConverged, choices
from fecontact.solvers.linear import METHODS
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.residual import Margins, certificate, excess, violations
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class Options:
    """How to solve a friction problem; the defaults need no tuning.

    Parameters
    ----------
    solver : str
        Name in `fecontact.solvers.SOLVERS`.
    tolerance : float
        Bound of the dimensionless natural map (relative error of impulse). Rounding alone leaves
        about 1e-13 for a thousand contacts, so that the default is reached with room to spare.
    max_iterations : int
        Sweeps, Newton steps or outer iterations, as the solver counts them.
    relaxation : float
        Over- or under-relaxation of the sweeps, in (0, 2).
    seed : int
        Seed of the order of the sweeps; the same seed gives the same bits.
    shuffle : bool
        Reshuffle the order at every sweep. Left to right sweeps may cycle for ever.
    margins : Margins
        Bounds on the violations of the contact law in units of the problem, checked besides
        the natural map where they are given.
    linear : str
        How a run of linear bodies solves its systems, see `fecontact.solvers.linear.METHODS`; the
        friction problem itself has no use for it.
    """

    solver: str = "hybrid"
    tolerance: float = 1e-10
    max_iterations: int = 10_000
    relaxation: float = 1.0
    seed: int = 0
    shuffle: bool = True
    margins: Margins = field(default_factory=Margins)
    linear: str = "auto"

    def __post_init__(self) -> None:
        if self.linear not in METHODS:
            raise InputError(
                f"solver options: linear = {self.linear!r}; {choices(self.linear, METHODS)}"
            )
        if not self.tolerance > 0.0:
            raise InputError(f"solver options: tolerance = {self.tolerance}, expected > 0")
        if self.max_iterations < 1:
            raise InputError(
                f"solver options: max_iterations = {self.max_iterations}, expected >= 1"
            )
        if not 0.0 < self.relaxation < 2.0:
            raise InputError(
                f"solver options: relaxation = {self.relaxation}, expected between 0 and 2"
            )
        if self.seed < 0:
            raise InputError(f"solver options: seed = {self.seed}, expected >= 0")


# part of the largest given velocity that a solved contact may still approach with
_APPROACH = 1e-2


@dataclass(frozen=True)
class Report:
    """How a solver ended.

    Attributes
    ----------
    solver : str
        Name of the solver.
    converged : bool
        Whether the natural map and every given margin are within bounds.
    iterations : int
        Sweeps, steps or outer iterations.
    residual : float
        Dimensionless natural map, recomputed from r alone.
    tolerance : float
        What was asked of it.
    margins : mapping
        Largest violations of the law: gap, normal, slip, tangential, in units of the problem.
    non_unique : int
        Contacts where mu |w_NT| >= w_NN, for which the local problem may have several solutions.
    history : tuple of float
        Natural map as the solver followed it.
    details : mapping
        Counts that only this solver has (Newton steps, inner iterations ...).
    """

    solver: str
    converged: bool
    iterations: int
    residual: float
    tolerance: float
    margins: Mapping[str, float]
    non_unique: int
    history: tuple[float, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Solution:
    """Impulses r (n,), relative velocities u = W r + q (n,), and the report."""

    r: FloatArray
    u: FloatArray
    report: Report


def start(problem: FrictionProblem, r0: FloatArray | None) -> FloatArray:
    """(n,) copy of the first iterate, zero where none is given."""
    if r0 is None:
        return np.zeros(problem.q.size)
    r = np.array(r0, dtype=np.float64)
    if r.shape != problem.q.shape:
        raise InputError(f"first iterate: shape {r.shape}, expected {problem.q.shape}")
    if not np.all(np.isfinite(r)):
        raise InputError("first iterate: holds entries that are not finite numbers")
    return r


def within(problem: FrictionProblem, r: FloatArray, u: FloatArray, options: Options) -> bool:
    """Whether the contacts obey in velocity too: no runaway impulses, and the given margins."""
    law = violations(problem, r, u)
    return not runaway(problem, law) and not excess(options.margins, law)


def runaway(problem: FrictionProblem, law: Mapping[str, float]) -> bool:
    """Whether contacts keep approaching at the speed that the problem gave them.

    The natural map is relative to the impulses: where no impulse can open the contacts, it falls
    to nothing while the impulses grow without bound, and only the velocities tell.
    """
    return law["gap"] > _APPROACH * float(np.abs(problem.q).max(initial=0.0))


class Best:
    """The best iterate so far of a solver that looks at its residual now and then."""

    def __init__(self, problem: FrictionProblem, r: FloatArray, options: Options) -> None:
        self._problem, self._options = problem, options
        self._lowest = np.inf
        self.r = r
        self.history: list[float] = []

    def solves(self, r: FloatArray) -> bool:
        """Look at an iterate; whether it is the solution."""
        u = self._problem.velocity(r)
        residual = certificate(self._problem, r, u)
        self.history.append(residual)
        if residual < self._lowest:
            self.r, self._lowest = r, residual
        found = residual <= self._options.tolerance and within(self._problem, r, u, self._options)
        if found:
            self.r = r
        return found


def finish(
    problem: FrictionProblem,
    r: FloatArray,
    options: Options,
    solver: str,
    iterations: int,
    history: Sequence[float] = (),
    details: Mapping[str, float] | None = None,
) -> Solution:
    """Recompute the certificate of r and return the solution, or raise `NotConverged` with it."""
    if not np.all(np.isfinite(r)):
        r = np.zeros_like(r)
    u = problem.velocity(r)
    residual = certificate(problem, r, u)
    law = violations(problem, r, u)
    beyond = excess(options.margins, law)
    without_bound = residual <= options.tolerance and runaway(problem, law)
    converged = residual <= options.tolerance and not beyond and not without_bound
    report = Report(
        solver=solver,
        converged=converged,
        iterations=iterations,
        residual=residual,
        tolerance=options.tolerance,
        margins=law,
        non_unique=int(problem.non_unique.sum()),
        history=tuple(float(value) for value in history),
        details=dict(details or {}),
    )
    solution = Solution(r, u, report)
    if converged:
        return solution
    message = (
        f"{solver} did not converge in {iterations} iterations on {problem.n_contacts} contacts: "
        f"natural map {residual:.3g}, tolerance {options.tolerance:.3g}"
    )
    if beyond:
        message += "; margins exceeded: " + ", ".join(
            f"{name} {value:.3g} > {bound:.3g}" for name, (value, bound) in beyond.items()
        )
    if without_bound:
        message += (
            f"; contacts still approach at {law['gap']:.3g} while the impulses grow without bound: "
            "no impulses can keep them open, the bodies are squeezed between rigid ones"
        )
    if report.non_unique:
        message += (
            f"; {report.non_unique} contacts have mu |w_NT| >= w_NN, where a solution may be "
            "missing or one of several"
        )
    raise NotConverged(message, best=solution, report=report)
