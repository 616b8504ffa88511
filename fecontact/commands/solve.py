"""``fecontact solve``: one friction problem from a file, by one solver or by all."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.errors import InputError, NotConverged
from fecontact.fclib import read_problem
from fecontact.output.atomic import replacing
from fecontact.solvers import FrictionProblem, Options, Solution, solve, solver
from fecontact.solvers.compare import Row, compare, table


def solve_file(given: argparse.Namespace) -> int:
    """Solve the problem of a file; 0 where it converged, else 3, the best iterate being written."""
    if given.all and given.solver is not None:
        raise InputError(f"solve: --all and --solver {given.solver} exclude each other")
    options = Options(solver=given.solver or "hybrid", tolerance=given.tol)
    solver(options.solver)  # an unknown name is told before the file is read
    out = None if given.out is None else Path(given.out)
    if out is not None and not out.parent.is_dir():
        raise InputError(f"--out {out}: no such folder {str(out.parent)!r}")
    if out is not None and out.is_dir():
        raise InputError(f"--out {out}: is a folder; give a file")
    problem = read_problem(given.file)
    print(f"{given.file}: {problem.n_contacts} contacts in {problem.dim}D")
    if given.all:
        return _all(problem, options, out)
    failure: NotConverged | None = None
    try:
        solution = solve(problem, None, options)
    except NotConverged as error:
        if not isinstance(error.best, Solution):
            raise
        failure, solution = error, error.best
    report = solution.report
    print(
        f"{report.solver}: {report.iterations} iterations, natural map {report.residual:.2e} "
        f"(tolerance {report.tolerance:g}), {'converged' if report.converged else 'not converged'}"
    )
    if out is not None:
        _write(_content(solution), out)
    if failure is not None:
        print(f"fecontact: {given.file}: {failure}", file=sys.stderr)
        return failure.exit_code
    return 0


def _all(problem: FrictionProblem, options: Options, out: Path | None) -> int:
    # kernels are loaded before the clock runs
    compare(FrictionProblem(np.eye(problem.dim), -np.ones(problem.dim), np.ones(1), problem.dim))
    rows = compare(problem, options=options)
    print(table(rows))
    done = [row for row in rows if row.converged]
    if done:
        worst = max(done, key=lambda row: row.difference)
        print(
            f"{len(done)} of {len(rows)} solvers converged; their impulses differ by at most "
            f"{worst.difference:.1e} of the reference ({worst.name})"
        )
    best = min(rows, key=lambda row: (not row.converged, row.solution.report.residual))
    if out is not None:
        content = _content(best.solution)
        content["comparison"] = [_line(row) for row in rows]
        _write(content, out)
    if done:
        return 0
    print(
        f"fecontact: none of {len(rows)} solvers converged; the least natural map is "
        f"{best.solution.report.residual:.1e} ({best.name})",
        file=sys.stderr,
    )
    return NotConverged.exit_code


def _content(solution: Solution) -> dict[str, Any]:
    report = solution.report
    return {
        "solver": report.solver,
        "converged": report.converged,
        "iterations": report.iterations,
        "residual": report.residual,
        "tolerance": report.tolerance,
        "r": solution.r.tolist(),
        "u": solution.u.tolist(),
    }


def _line(row: Row) -> dict[str, Any]:
    report = row.solution.report
    return {
        "solver": row.name,
        "converged": row.converged,
        "iterations": report.iterations,
        "residual": report.residual,
        # JSON knows no nan
        "difference": row.difference if row.converged else None,
        "seconds": row.seconds,
    }


def _write(content: dict[str, Any], out: Path) -> None:
    with replacing(out) as part:
        part.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")
    print(f"Written: {out}")
