"""All solutions of a tiny two-dimensional problem, by trying every combination of states.

Each contact may be separated, sticking, or sliding either way: 4^m linear systems. Exact, and
independent of every iteration: the oracle of the tests. Where the friction coefficients allow
several solutions, it finds them all.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from fecontact.errors import InputError
from fecontact.solvers.problem import BILATERAL, COULOMB, TRESCA, FrictionProblem
from fecontact.solvers.report import Options, Solution, finish
from fecontact.solvers.residual import certificate
from fecontact.typing import FloatArray

MOST_CONTACTS = 7


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Return the solution of least impulse; r0 is not used."""
    options = options or Options(solver="enumeration")
    found = all_solutions(problem, options.tolerance)
    tried = 4**problem.n_contacts
    details = {"solutions": len(found)}
    if not found:
        zero = np.zeros_like(problem.q)
        return finish(problem, zero, options, "enumeration", tried, (), details)
    best = min(found, key=lambda r: float(r @ r))
    return finish(problem, best, options, "enumeration", tried, (), details)


def all_solutions(problem: FrictionProblem, tolerance: float = 1e-10) -> list[FloatArray]:
    """Impulses (n,) of every solution whose states make a regular system."""
    if problem.dim != 2 or problem.n_contacts > MOST_CONTACTS:
        raise InputError(
            f"enumeration: {problem.n_contacts} contacts in {problem.dim}D, "
            f"expected at most {MOST_CONTACTS} in 2D"
        )
    W = problem.W if isinstance(problem.W, np.ndarray) else problem.W.toarray()
    found: list[FloatArray] = []
    for states in product(*(_states(problem, c) for c in range(problem.n_contacts))):
        # unknowns x: r = E x + given; equations: the rows of u where x has a component
        E = np.zeros((problem.q.size, 0))
        rows: list[int] = []
        given = np.zeros_like(problem.q)
        for c, (normal, ratio, fixed) in enumerate(states):
            i = 2 * c
            given[i + 1] = fixed
            if normal:
                column = np.zeros((problem.q.size, 1))
                column[i] = 1.0
                column[i + 1] = 0.0 if ratio is None else ratio
                E = np.hstack([E, column])
                rows.append(i)
            if ratio is None:
                column = np.zeros((problem.q.size, 1))
                column[i + 1] = 1.0
                E = np.hstack([E, column])
                rows.append(i + 1)
        r = given
        if rows:
            try:
                x = np.linalg.solve((W @ E)[rows], -(problem.q + W @ given)[rows])
            except np.linalg.LinAlgError:
                continue
            r = E @ x + given
        if certificate(problem, r) <= tolerance and not _known(r, found):
            found.append(r)
    return found


def _known(r: FloatArray, found: list[FloatArray]) -> bool:
    return any(np.allclose(r, other, rtol=1e-8, atol=1e-10 * np.abs(r).max()) for other in found)


def _states(problem: FrictionProblem, c: int) -> list[tuple[bool, float | None, float]]:
    """States of a contact: (closed, r_T / r_N or None if r_T is unknown, given r_T)."""
    law, mu, bound = problem.laws[c], problem.mu[c], problem.thresholds[c]
    if law == BILATERAL:
        return [(True, None, 0.0)]
    if law == TRESCA:
        tangential: list[tuple[float | None, float]] = [(None, 0.0), (0.0, bound), (0.0, -bound)]
        return [(closed, *state) for closed in (False, True) for state in tangential]
    assert law == COULOMB
    if mu == 0.0:
        return [(False, 0.0, 0.0), (True, 0.0, 0.0)]
    return [(False, 0.0, 0.0), (True, None, 0.0), (True, mu, 0.0), (True, -mu, 0.0)]
