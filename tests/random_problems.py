"""Random friction problems that look for trouble, and a certificate without any solver."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from fecontact.certificate import LawFigures, law_figures
from fecontact.errors import InputError, NotConverged
from fecontact.solvers import FrictionProblem, Options, solve
from fecontact.solvers.problem import BILATERAL, TRESCA
from fecontact.typing import FloatArray

KINDS = (
    "well conditioned",
    "badly conditioned",
    "rank-deficient",
    "scaled",
    "uneven",
    "steep friction",
    "unsymmetric",
    "mixed laws",
    "one contact",
    "resting",
)
LIMIT = 1e-5
"""Of the figures; a hundred thousand times the tolerance, for conditions up to 1e12."""


def random_problem(rng: np.random.Generator, kind: str) -> FrictionProblem:
    """A problem of a kind."""
    dim = int(rng.integers(2, 4))
    nc = 1 if kind == "one contact" else int(rng.integers(1, 9))
    n = dim * nc
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = rng.uniform(0.1, 2.0, size=n)
    if kind == "badly conditioned":
        values = 10.0 ** rng.uniform(-12.0, 0.0, size=n)
    if kind == "rank-deficient":
        values[: int(rng.integers(1, n))] = 0.0
    W = (basis * values) @ basis.T
    mu = rng.uniform(0.0, 0.9, size=nc) * (rng.random(nc) < 0.9)
    q = rng.normal(size=n)
    q[::dim] -= 0.5
    law = threshold = None
    if kind == "scaled":
        W *= 10.0 ** rng.uniform(-12.0, 12.0)
        q *= 10.0 ** rng.uniform(-12.0, 12.0)
    if kind == "uneven":
        size = np.repeat(10.0 ** rng.uniform(-3.0, 3.0, size=nc), dim)
        W, q = W * size[:, None] * size, q * size
    if kind == "steep friction":
        mu = 10.0 ** rng.uniform(-1.0, 2.0, size=nc)
    if kind == "unsymmetric":
        W = W + 0.05 * rng.normal(size=(n, n))
    if kind == "mixed laws":
        law = rng.choice([0, BILATERAL, TRESCA], size=nc).astype(np.int8)
        threshold = rng.uniform(0.0, 1.0, size=nc)
    if kind == "resting":
        q = (
            -W
            @ np.repeat(rng.uniform(0.0, 1.0, size=nc), dim)
            * np.tile([1.0] + [0.0] * (dim - 1), nc)
        )
    return FrictionProblem(W, q, mu, dim, law=law, threshold=threshold)


def figures(problem: FrictionProblem, r: FloatArray) -> LawFigures:
    """How well impulses obey the laws, from W, q and mu alone."""
    W = problem.W if isinstance(problem.W, np.ndarray) else problem.W.toarray()
    u = W @ r + problem.q
    made = np.abs(W) @ np.abs(r)
    force = float(np.abs(r).max(initial=0.0))
    pushed = np.repeat(np.abs(r).reshape(-1, problem.dim).any(axis=1), problem.dim)
    speed = max(float(made.max(initial=0.0)), float(np.abs(u[pushed]).max(initial=0.0)))
    speed = speed or float(np.abs(problem.q).max(initial=0.0))
    R, shape = r.reshape(-1, problem.dim), (-1, problem.dim)
    bound = problem.mu * np.maximum(R[:, 0], 0.0)
    bound = np.where(problem.laws == TRESCA, problem.thresholds, bound)
    rounding = 1e-13 * float((made + np.abs(problem.q)).max(initial=0.0))
    return law_figures(
        R,
        u.reshape(shape),
        bound,
        force,
        speed,
        glued=problem.laws == BILATERAL,
        rounding=rounding,
    )


@dataclass
class Tally:
    """What became of random problems."""

    outcomes: Counter[str] = field(default_factory=Counter)
    silent: list[str] = field(default_factory=list)

    def add(self, problem: FrictionProblem, options: Options, label: str) -> None:
        """Solve a problem and compare the solver's word with the certificate."""
        try:
            solution = solve(problem, None, options)
        except NotConverged as error:
            best = figures(problem, error.best.r)
            self.outcomes["not solved, " + ("fails" if best.worst > LIMIT else "near")] += 1
            if error.report is None or error.report.converged or error.best is None:
                self.silent.append(f"{label}: not converged without a report")
            return
        except InputError:
            self.outcomes["refused"] += 1
            return
        found = figures(problem, solution.r)
        self.outcomes["solved"] += 1
        if not (solution.report.converged and found.worst <= LIMIT):
            self.silent.append(f"{label}: residual {solution.report.residual:.1e}, {found}")


def hunt(
    count: int, seed: int = 0, solvers: tuple[str, ...] = ("hybrid", "nsgs", "newton")
) -> Tally:
    """Solve random problems of all kinds in turn."""
    tally = Tally()
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        kind = KINDS[number % len(KINDS)]
        name = solvers[number // len(KINDS) % len(solvers)]
        options = Options(solver=name, max_iterations=2000)
        tally.add(random_problem(rng, kind), options, f"{seed}/{number} {kind}, {name}")
    return tally
