"""One problem, all solvers: who converges, how fast, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from fecontact.errors import InputError, NotConverged
from fecontact.solvers.enumeration import MOST_CONTACTS
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.registry import SOLVERS, solver
from fecontact.solvers.report import Options, Solution
from fecontact.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Row:
    """What one solver did: its best solution, seconds, and the distance to the reference."""

    name: str
    solution: Solution
    seconds: float
    difference: float

    @property
    def converged(self) -> bool:
        return self.solution.report.converged


def applicable(problem: FrictionProblem) -> list[str]:
    """Names of the solvers that can be tried on a problem of this size and dimension."""
    tiny = problem.dim == 2 and problem.n_contacts <= MOST_CONTACTS
    return [name for name in SOLVERS if tiny or name != "enumeration"]


def compare(
    problem: FrictionProblem,
    r0: FloatArray | None = None,
    options: Options | None = None,
    names: Iterable[str] | None = None,
) -> list[Row]:
    """Solve with each solver.

    The difference is |r - r_ref| / |r_ref|, the reference being the converged solution of the
    least natural map (nan where no solver converged, or where this one did not).
    """
    options = options or Options()
    results: list[tuple[str, Solution, float]] = []
    for name in applicable(problem) if names is None else names:
        run = solver(name)
        began = perf_counter()
        try:
            solution = run(problem, r0, replace(options, solver=name))
        except NotConverged as failure:
            if not isinstance(failure.best, Solution):
                raise InputError(f"solver {name!r} failed without an iterate") from failure
            solution = failure.best
        results.append((name, solution, perf_counter() - began))
    converged = [solution for _, solution, _ in results if solution.report.converged]
    reference = min(converged, key=lambda s: s.report.residual).r if converged else None
    return [
        Row(name, solution, seconds, _difference(solution, reference))
        for name, solution, seconds in results
    ]


def _difference(solution: Solution, reference: FloatArray | None) -> float:
    if reference is None or not solution.report.converged:
        return float("nan")
    size = float(np.linalg.norm(reference))
    gap = float(np.linalg.norm(solution.r - reference))
    return gap / size if size > 0.0 else gap


def table(rows: Iterable[Row]) -> str:
    """The comparison as text, one line per solver."""
    lines = [
        f"{'solver':<14} {'converged':<10} {'iterations':>10} {'natural map':>12} "
        f"{'difference':>11} {'time [ms]':>10}"
    ]
    for row in rows:
        report = row.solution.report
        lines.append(
            f"{row.name:<14} {'yes' if row.converged else 'no':<10} {report.iterations:>10} "
            f"{report.residual:>12.2e} {row.difference:>11.2e} {1e3 * row.seconds:>10.2f}"
        )
    return "\n".join(lines)
