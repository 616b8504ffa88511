"""Stiffness of the block of Q4 elements (2 x 2 points), ours and scikit-fem's, on one thread.

«first» finds the pattern as well; «refill» only fills the matrix anew, as a step with other
constants does. scikit-fem works out its basis and its matrix at each call.

    python benchmarks/assembly.py [n ...]
"""

from __future__ import annotations

from measuring import Row, in_turns, median_ratio, pin, report

pin()

import argparse
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.materials import IsotropicElastic
from fecontact.mesh import rectangle

E, NU = 1.0, 0.3
BAR = 15.0


def block(n: int) -> Solid:
    mesh = rectangle(1.0, 1.0, n, n, kind="quad")
    return Solid(mesh, {"body": IsotropicElastic(E, NU)}, "plane_strain")


def scikit_fem(solid: Solid) -> Any:
    """The same matrix by scikit-fem, in its numbering of the same nodes."""
    import skfem
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    mesh = skfem.MeshQuad(solid.mesh.nodes.T.copy(), solid.mesh.cells["quad"].T.copy())
    form = linear_elasticity(*lame_parameters(E, NU))

    def assemble() -> Any:
        element = skfem.ElementVector(skfem.ElementQuad1())
        # order 2 stands for 2 x 2 points
        basis = skfem.Basis(mesh, element, intorder=2)
        if basis.X.shape[-1] != 4:
            raise SystemExit(f"scikit-fem took {basis.X.shape[-1]} points, expected 4")
        return form.assemble(basis)

    return assemble


def measure(n: int, rounds: int) -> list[Row]:
    solid = block(n)
    assembler = Assembler(solid)

    def ours() -> Any:
        return Assembler(solid).stiffness()

    if find_spec("skfem") is None:
        return [Row("assembly", f"n = {n}", "scikit-fem", note="not installed")]
    theirs = scikit_fem(solid)
    K, other = ours(), theirs()
    rng = np.random.default_rng(0)
    x = rng.standard_normal(K.shape[0])
    # one numbering: nodes as given, components interleaved
    error = np.abs(K @ x - other @ x).max() / np.abs(K @ x).max()
    if not error < 1e-10:
        raise SystemExit(f"the matrices differ: K x by {error:.1e} of its size")
    first, refill, skfem = in_turns([ours, assembler.stiffness, theirs], rounds)
    bar = f">= {BAR:g}" if n == 512 else ""
    size, note = f"n = {n}", f"K x agrees to {error:.0e}"
    rows = []
    for name, ours_s in (("first", first), ("refill", refill)):
        numbers = median(ours_s), median(skfem), median_ratio(ours_s, skfem)
        rows.append(Row(f"assembly, {name}", size, "scikit-fem", *numbers, bar, note=note))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("n", nargs="*", type=int, default=[64, 256, 512])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="write the rows there as well")
    options = parser.parse_args()
    Assembler(block(4)).stiffness()  # kernels are compiled or loaded before anything is timed
    report([row for n in options.n for row in measure(n, options.rounds)], options.json)


if __name__ == "__main__":
    main()
