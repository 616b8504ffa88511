"""Friction problems on one thread: a sweep against a read of W, the block against Siconos.

The sweeps are those of a flat slab with m candidates from an iterate near convergence; the limit is
a plain sum over W. The block is that of ``cases/sliding_block.toml`` with n x n cells, mu = 1, from
a cold start.

    python benchmarks/friction.py [--contacts m ...] [--block n]
"""

from __future__ import annotations

from measuring import PEERS, Row, in_turns, median_ratio, pin, python_with, report, run

pin()

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from numba import njit
from scipy import sparse

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.errors import NotConverged
from fecontact.loads import edge_pressure
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.solvers import FrictionProblem, Options, solve
from fecontact.solvers.linear import factorise
from fecontact.solvers.nsgs import Sweeper

SWEEPS = 20
READ = 1.7


@njit(fastmath=True)
def _read(values: np.ndarray) -> float:
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


def friction_problem(mesh: Mesh, mu: float) -> FrictionProblem:
    """Friction problem of the sliding block on a mesh, in one quasi-static step."""
    solid = Solid(mesh, {"body": IsotropicElastic(1.3e11, 0.2)}, "plane_strain")
    forces = edge_pressure(solid, mesh.edge_groups["top"], lambda x: np.full(len(x), 5e7))
    forces += edge_pressure(
        solid, mesh.edge_groups["left"], lambda x: 1e8 + 2e7 * np.floor(x[:, 1] / 0.005)
    )
    corner = mesh.node_numbers("bottom_right")
    fixed = np.union1d(2 * mesh.node_numbers("right"), 2 * corner + 1)
    free = np.setdiff1d(np.arange(2 * mesh.n_nodes), fixed)
    nodes = np.setdiff1d(mesh.node_numbers("bottom"), corner)
    # local axes: normal (0, 1) first, then tangent (1, 0)
    local = np.searchsorted(free, (2 * nodes[:, None] + np.array([1, 0])).ravel())
    trailing = np.sort(local)
    K = sparse.csr_array(Assembler(solid).stiffness()[free][:, free])
    factors = factorise(K, trailing=trailing, coordinates=mesh.nodes[free // 2])
    place = np.searchsorted(trailing, local)
    W = factors.trailing_inverse()[np.ix_(place, place)]
    return FrictionProblem(W, factors.solve(forces[free])[local], np.full(nodes.size, mu), 2)


def sweeps(m: int, rounds: int) -> Row:
    height = 8
    mesh = rectangle(0.04 * m / height, 0.04, m, height)
    problem = friction_problem(mesh, 0.3)
    try:
        near = solve(problem, None, Options("nsgs", tolerance=1e-4)).r
    except NotConverged as error:
        near = error.best.r
    sweeper = Sweeper(problem, Options("nsgs", tolerance=1e-13))
    # the memory that the sweeps read
    flat = sweeper.columns.ravel(order="K")
    done: list[int] = []

    def some() -> None:
        r, u = near.copy(), problem.velocity(near)
        done.append(sweeper.sweep(r, u, SWEEPS, 1e-13).sweeps)

    def start() -> None:
        sweeper.sweep(near.copy(), problem.velocity(near), 0, 1e-13)

    repeat = max(1, int(2e7 / flat.size))

    def times(call: object) -> object:
        return lambda: [call() for _ in range(repeat)]  # type: ignore[operator]

    for call in (some, start):
        call()
    _read(flat)
    ours, setup, read = in_turns(
        [times(some), times(start), times(lambda: [_read(flat) for _ in range(SWEEPS)])],  # type: ignore[list-item]
        rounds,
    )
    per = repeat * SWEEPS
    sweep = [(a - b) / per for a, b in zip(ours, setup, strict=True)]
    limit = [t / per for t in read]
    ratio = median_ratio(limit, sweep)
    rate = flat.nbytes / median(limit) / 1e9
    note = f"sweep over read {ratio:.2f}; read at {rate:.1f} GB/s, {flat.nbytes / 1e6:.1f} MB"
    if min(done) < SWEEPS:
        note += f"; only {min(done)} sweeps"
    return Row(
        "sweep", f"m = {m}", "pure read of W", median(sweep), median(limit), 1 / ratio,
        f">= {1 / READ:.3f}", note=note,
    )  # fmt: skip


def block(n: int, rounds: int) -> Row:
    problem = friction_problem(rectangle(0.04, 0.04, n, n, diagonal="left"), 1.0)
    options = Options("hybrid", tolerance=1e-10)
    solution = solve(problem, None, options)
    fresh = [FrictionProblem(problem.W, problem.q, problem.mu, 2) for _ in range(rounds)]
    times = in_turns([lambda: solve(fresh.pop(), None, options)], rounds)[0]
    ours = median(times)
    own = f"hybrid {1e3 * ours:.2f} ms to {solution.report.residual:.0e}"
    python = python_with("siconos")
    part, size, other = "friction, mu = 1", f"n = {n}", "Siconos NSGS to 1e-8"
    if python is None:
        return Row(part, size, other, ours, note=f"not installed; {own}")
    with tempfile.TemporaryDirectory() as folder:
        stored, out = Path(folder, "problem.npz"), Path(folder, "out.json")
        np.savez(stored, W=problem.W, q=problem.q, mu=problem.mu)
        child = run([python, str(PEERS / "siconos_nsgs.py"), str(stored), str(out)])
        if not out.exists():
            return Row(part, size, other, ours, note=f"failed: {child.output[-200:]}; {own}")
        peer = json.loads(out.read_text())
    error = np.abs(np.array(peer["r"]) - solution.r).max() / np.abs(solution.r).max()
    state = "converged" if peer["code"] == 0 else "NOT converged"
    note = f"{own}; Siconos {state}, {peer['sweeps']} sweeps; r differs by {error:.0e}"
    seconds = peer["seconds"]
    bar = ">= 10" if n == 256 else ""
    return Row(part, size, other, ours, seconds, seconds / ours, bar, note=note)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--contacts", nargs="*", type=int, default=[100, 500, 2000])
    parser.add_argument("--block", nargs="*", type=int, default=[32, 64, 256])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write the rows there as well")
    options = parser.parse_args()
    rows = [sweeps(m, options.rounds) for m in options.contacts]
    report([*rows, *(block(n, options.rounds) for n in options.block)], options.json)


if __name__ == "__main__":
    main()
