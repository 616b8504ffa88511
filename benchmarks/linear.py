"""Factorisation and Delassus operator of the block, side by side in one run, on one thread.

A square block of n x n Q4 elements, fixed at its top, with its 2 (n + 1) lower dofs as candidates.
«factor + W» is what a step with a new matrix costs, in memory that the method kept from the step
before; «first» is analysis, factorisation and W in fresh memory, whose pages can cost as much as
the numbers put into them. The methods take turns, round by round, so that a busy machine slows
all of them alike: the ratio is the median over the rounds of the ratios within a round, with
their range beside it, and the times are medians. SuperLU and CHOLMOD are timed as one would use
them without the trailing block: their own order and one solution for each candidate dof, for
SuperLU scaled up from a sample of the columns. The limit of the factorisation is the time of its
dense operations at the rate of a matrix product.

    python benchmarks/linear.py [n ...]
"""

from __future__ import annotations

from measuring import Row, pin, report

pin()

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.materials import IsotropicElastic
from fecontact.mesh import rectangle
from fecontact.solvers import pardiso
from fecontact.solvers.fronts import analyse
from fecontact.solvers.multifrontal import Multifrontal
from fecontact.solvers.superlu import SuperLU

SAMPLE = 64
OURS = "multifrontal"
PARDISO = "MKL PARDISO, Schur option"
CHOLMOD = "CHOLMOD, one solution for each"
SOLVES = "SuperLU, one solution for each"
TRAILING = "SuperLU, trailing block"
PRODUCT = "dgemm"
Times = tuple[float, float, float]


def block(n: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Stiffness of the free dofs, their positions, and the candidates among them."""
    mesh = rectangle(1.0, 1.0, n, n, kind="quad")
    solid = Solid(mesh, {"body": IsotropicElastic(1.0, 0.3)}, "plane_strain")
    free = np.setdiff1d(np.arange(2 * mesh.n_nodes), _dofs(mesh.node_numbers("top")))
    A = sparse.csr_array(Assembler(solid).stiffness()[free][:, free])
    A.sort_indices()
    trailing = np.searchsorted(free, _dofs(mesh.node_numbers("bottom")))
    return A, np.repeat(mesh.nodes, 2, axis=0)[free], trailing


def _dofs(nodes: np.ndarray) -> np.ndarray:
    return (2 * np.sort(nodes)[:, None] + np.arange(2)).ravel()


class Methods:
    """One call for each method: seconds of the first time, of factorisation and W, and W."""

    def __init__(self, n: int) -> None:
        self.A, self.coordinates, self.trailing = block(n)

    def multifrontal(self) -> tuple[Times, Any]:
        marks = [process_time()]
        symbolic = analyse(self.A, self.trailing, self.coordinates)
        factors = Multifrontal(self.A, self.trailing, symbolic=symbolic)
        factors.trailing_inverse()
        marks.append(process_time())
        factors = factors.refactorise(self.A)
        marks.append(process_time())
        W = factors.trailing_inverse()
        return _times([*marks, process_time()]), W

    def pardiso_schur(self) -> tuple[Times, Any]:
        marks = [process_time()]
        handle = pardiso._Handle(self.A, self.trailing)
        handle.factorise()
        handle.schur_inverse()
        marks.append(process_time())
        handle.set_values(self.A)
        handle.factorise()
        marks.append(process_time())
        W = handle.schur_inverse()
        return _times([*marks, process_time()]), W[np.ix_(handle.rank, handle.rank)]

    def superlu_trailing_block(self) -> tuple[Times, Any]:
        factors = SuperLU(self.A, self.trailing, self.coordinates)
        marks = [process_time()] * 2
        factors = factors.refactorise(self.A)
        marks.append(process_time())
        W = factors.trailing_inverse()
        return _times([*marks, process_time()]), W

    def superlu_solves(self) -> tuple[Times, Any]:
        columns = sparse.csc_array(self.A)
        options = {"SymmetricMode": True}
        start = process_time()
        factors = splu(columns, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        factorised = process_time()
        some = self.trailing[:: max(1, self.trailing.size // SAMPLE)]
        for dof in some:
            right = np.zeros(self.A.shape[0])
            right[dof] = 1.0
            factors.solve(right)
        solves = (process_time() - factorised) * self.trailing.size / some.size
        return (0.0, factorised - start, solves), None

    def cholmod_solves(self) -> tuple[Times, Any]:
        from sksparse.cholmod import cholesky

        columns = sparse.csc_matrix(self.A)
        marks = [process_time()] * 2
        factors = cholesky(columns)
        marks.append(process_time())
        unit = np.zeros((self.A.shape[0], self.trailing.size))
        unit[self.trailing, np.arange(self.trailing.size)] = 1.0
        W = factors.solve_A(unit)[self.trailing]
        return _times([*marks, process_time()]), W

    def dense_product(self) -> tuple[Times, Any]:
        """Time of one Gflop of a dense product now, in the place of the factorisation."""
        a = np.ones((1000, 1000))
        start = process_time()
        a @ a
        return (0.0, (process_time() - start) / 2.0, 0.0), None


def _times(marks: list[float]) -> Times:
    a, b, c = np.diff(marks)
    return float(a), float(b), float(c)


def measure(n: int, rounds: int, slow: bool) -> list[Row]:
    methods = Methods(n)
    symbolic = analyse(methods.A, methods.trailing, methods.coordinates)
    calls: dict[str, Callable[[], tuple[Times, Any]]] = {OURS: methods.multifrontal}
    if pardiso.available():
        calls[PARDISO] = methods.pardiso_schur
    if find_spec("sksparse") is not None:
        calls[CHOLMOD] = methods.cholmod_solves
    calls[PRODUCT] = methods.dense_product
    if slow:
        calls[TRAILING] = methods.superlu_trailing_block
        calls[SOLVES] = methods.superlu_solves
    times: dict[str, list[Times]] = {name: [] for name in calls}
    reference = None
    for turn in range(rounds):
        for name, call in calls.items():
            # one round is enough for what takes tens of seconds
            if name in (TRAILING, SOLVES, CHOLMOD) and turn >= 1:
                continue
            taken, W = call()
            times[name].append(taken)
            reference = W if reference is None else reference
            if W is not None and np.abs(W - reference).max() > 1e-9 * np.abs(reference).max():
                raise SystemExit(f"W of {name} differs from that of {OURS}")
    size = f"n = {n}"
    about = (
        f"{methods.A.shape[0]} dofs, {methods.trailing.size} candidates, "
        f"{symbolic.memory / 2**20:.0f} MiB"
    )
    ours = np.array(times[OURS])
    rows = []
    for name, bar in ((PARDISO, ">= 1"), (CHOLMOD, ""), (SOLVES, ">= 20"), (TRAILING, "")):
        if name not in times:
            if name in (PARDISO, CHOLMOD):
                rows.append(Row("factor + W", size, name, note="not installed"))
            continue
        held = bar if n >= 256 else ""
        t = np.array(times[name])
        mine = ours[: len(t)]
        rows.append(_row("factor + W", size, name, mine[:, 1:], t[:, 1:], held, about))
        if t[:, 0].any():
            rows.append(_row("factor + W, first", size, name, mine[:, :1], t[:, :1], "", about))
    gflop = symbolic.flops / 1e9
    limit = np.array(times[PRODUCT])[:, 1] * gflop
    note = f"{gflop:.2f} Gflop on dense fronts"
    rows.append(_row("factorisation", size, "dgemm rate", ours[:, 1:2], limit[:, None], "", note))
    return rows


def _row(
    part: str, size: str, other: str, ours: np.ndarray, theirs: np.ndarray, bar: str, note: str
) -> Row:
    """A row from seconds (rounds, parts) of both, the parts added."""
    a, b = ours.sum(axis=1), theirs.sum(axis=1)
    ratio = b / a
    spread = f"; ratios {ratio.min():.2f}..{ratio.max():.2f} in {ratio.size} rounds"
    middle = float(np.median(ratio))
    return Row(
        part, size, other, float(np.median(a)), float(np.median(b)), middle, bar, note=note + spread
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("n", nargs="*", type=int, default=[64, 256, 512])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-superlu", action="store_true", help="leave the slow ones out")
    parser.add_argument("--json", help="write the rows there as well")
    options = parser.parse_args()
    warm = Methods(8)
    warm.multifrontal()  # kernels are compiled or loaded before anything is timed
    warm.superlu_trailing_block()
    rows = [row for n in options.n for row in measure(n, options.rounds, not options.no_superlu)]
    report(rows, options.json)


if __name__ == "__main__":
    main()
