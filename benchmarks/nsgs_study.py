"""Sweeps that plain nonlinear Gauss-Seidel takes on the sliding block, against size and friction.

A square block of n x n cells (T3 or Q4) pressed on a rigid plane and pushed from its left side; the
friction problem of its one step is solved from zero by the solver `nsgs` with its default settings,
to a natural map of 1e-8. One row per mesh, one column per coefficient of friction; a number is the
count of sweeps, a star marks a problem that was not solved within the default limit. Below, for
each coefficient, the sweeps are fitted with a + b log(m) and with c m^p, m the number of contacts:
p near 0 and a good logarithmic fit mean that the sweeps grow like log m.

    python benchmarks/nsgs_study.py [--full] [--sizes 8,16,32] [--friction 0.2,1] [--out FILE.csv]

Without --full only a few sizes are tried; --full takes every multiple of 8 up to 256.
"""

from __future__ import annotations

from friction import friction_problem
from measuring import pin

pin()

import argparse
import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np

from fecontact.errors import NotConverged
from fecontact.mesh import rectangle
from fecontact.solvers import FrictionProblem, Options, solve

Kind = Literal["triangle", "quad"]
KINDS: tuple[Kind, ...] = ("triangle", "quad")
FRICTION = (0.05, 0.2, 0.5, 1.0, 1.5, 2.5)
FEW = (8, 16, 32, 64, 128, 256)
FULL = tuple(range(8, 257, 8))
TOLERANCE = 1e-8
SIDE = 0.04


@dataclass(frozen=True)
class Trial:
    """One problem and how the sweeps ended on it."""

    kind: Kind
    n: int
    contacts: int
    mu: float
    sweeps: int
    residual: float
    converged: bool
    seconds: float


@dataclass(frozen=True)
class Growth:
    """Sweeps against the number of contacts: a + b log m, and c m^p.

    spread is the largest |sweeps - fit| of the logarithm, relative to the fit.
    """

    a: float
    b: float
    spread: float
    p: float


def study(
    sizes: Iterable[int], friction: Sequence[float] = FRICTION, kinds: Iterable[Kind] = KINDS
) -> Iterable[Trial]:
    """Solve every problem, W formed once for each mesh."""
    options = Options(solver="nsgs", tolerance=TOLERANCE)
    sizes = tuple(sizes)
    for kind in kinds:
        for n in sizes:
            block = friction_problem(rectangle(SIDE, SIDE, n, n, kind=kind), 1.0)
            for mu in friction:
                problem = FrictionProblem(block.W, block.q, np.full(block.n_contacts, mu))
                began = perf_counter()
                try:
                    report = solve(problem, None, options).report
                except NotConverged as failure:
                    report = failure.report
                seconds = perf_counter() - began
                yield Trial(
                    kind,
                    n,
                    block.n_contacts,
                    mu,
                    report.iterations,
                    report.residual,
                    report.converged,
                    seconds,
                )


def growth(trials: Sequence[Trial]) -> Growth:
    """Fit the sweeps of converged trials of several sizes."""
    done = [t for t in trials if t.converged]
    m = np.array([t.contacts for t in done], dtype=np.float64)
    sweeps = np.array([t.sweeps for t in done], dtype=np.float64)
    b, a = np.polyfit(np.log(m), sweeps, 1)
    fit = a + b * np.log(m)
    p = np.polyfit(np.log(m), np.log(sweeps), 1)[0]
    spread = np.max(np.abs(sweeps - fit) / np.abs(fit))
    return Growth(float(a), float(b), float(spread), float(p))


def table(trials: Sequence[Trial]) -> str:
    """Rows of sweeps by mesh, and the growth for each coefficient."""
    friction = sorted({t.mu for t in trials})
    lines = [f"{'mesh':<10} {'m':>5} " + " ".join(f"{f'mu={mu:g}':>9}" for mu in friction)]
    for kind in dict.fromkeys(t.kind for t in trials):
        of_kind = [t for t in trials if t.kind == kind]
        name = {"triangle": "T3", "quad": "Q4"}[kind]
        for n in sorted({t.n for t in of_kind}):
            row = {t.mu: t for t in of_kind if t.n == n}
            cells = " ".join(
                f"{f'{row[mu].sweeps}' + ('' if row[mu].converged else '*'):>9}" for mu in friction
            )
            lines.append(f"{f'{name} {n}':<10} {next(iter(row.values())).contacts:>5} {cells}")
        fits = [_fit([t for t in of_kind if t.mu == mu]) for mu in friction]
        if all(fit is not None for fit in fits):
            found = [fit for fit in fits if fit is not None]
            for label, values in (
                ("b of a + b log m", [f"{g.b:.1f}" for g in found]),
                ("largest error", [f"{100 * g.spread:.0f} %" for g in found]),
                ("p of c m^p", [f"{g.p:.2f}" for g in found]),
            ):
                lines.append(f"{label:<16} " + " ".join(f"{v:>9}" for v in values))
    failures = [t for t in trials if not t.converged]
    total = sum(t.seconds for t in trials)
    lines.append(
        f"{len(trials)} problems, {len(failures)} not solved, {total:.1f} s in the solver "
        f"(natural map {TOLERANCE:g})"
    )
    lines += [
        f"  not solved: {t.kind} n = {t.n}, mu = {t.mu:g}: natural map {t.residual:.1e} after "
        f"{t.sweeps} sweeps"
        for t in failures
    ]
    return "\n".join(lines)


def _fit(trials: Sequence[Trial]) -> Growth | None:
    return growth(trials) if sum(t.converged for t in trials) > 2 else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a problem was not solved."""
    parser = argparse.ArgumentParser(description="Sweeps of NSGS against size and friction.")
    parser.add_argument("--full", action="store_true", help="every multiple of 8 up to 256")
    parser.add_argument("--sizes", help="cells along a side, for instance 8,16,32")
    parser.add_argument("--friction", help="coefficients, for instance 0.2,1")
    parser.add_argument("--out", type=Path, help="file of all trials (CSV)")
    given = parser.parse_args(arguments)
    sizes: Sequence[int] = FULL if given.full else FEW
    if given.sizes:
        sizes = [int(part) for part in given.sizes.split(",")]
    friction = [float(part) for part in given.friction.split(",")] if given.friction else FRICTION
    trials = list(study(sizes, friction))
    print(table(trials))
    if given.out is not None:
        with given.out.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(list(Trial.__dataclass_fields__))
            writer.writerows([list(vars(t).values()) for t in trials])
    return int(any(not t.converged for t in trials))


if __name__ == "__main__":
    raise SystemExit(main())
