"""The sliding block (T3, mu = 1) in GetFEM, nodal contact by its augmented Lagrangian and Newton.

Run by ``benchmarks/block.py`` with a Python that has GetFEM: ``getfem_block.py n out.json``. The
mesh, the loads, the supports and the concentrated reactions are those of
``cases/sliding_block.toml``, so that both programs solve the same discrete problem.
Stresses are divided by E: the residual mixes forces and gaps, which then are of one size.
"""

import json
import sys
from itertools import pairwise
from time import perf_counter

import getfem as gf
import numpy as np

SIDE, E, NU, MU = 0.04, 1.3e11, 0.2, 1.0
# of forces of 6e-5 and displacements of 2e-5 in all
TOLERANCE = 1e-14


def main():
    n, out = int(sys.argv[1]), sys.argv[2]
    gf.util("trace level", 0)
    gf.util("warning level", 0)
    marks = {"start": perf_counter()}
    mesh = _mesh(n)
    fem = gf.MeshFem(mesh, 2)
    fem.set_fem(gf.Fem("FEM_PK(2,1)"))
    rule = gf.MeshIm(mesh, gf.Integ("IM_TRIANGLE(1)"))
    marks["mesh"] = perf_counter()

    x = fem.basic_dof_nodes()
    component = np.arange(fem.nbdof()) % 2
    tiny = 1e-6 * SIDE / n
    right = (x[0] > SIDE - tiny) & (component == 0)
    corner = (x[0] > SIDE - tiny) & (x[1] < tiny)
    fixed = np.flatnonzero(right | corner)
    normal = np.flatnonzero((x[1] < tiny) & (component == 1) & ~corner)
    normal = normal[np.argsort(x[0, normal])]
    tangent = normal - 1
    n_contacts = normal.size

    model = gf.Model("real")
    model.add_fem_variable("u", fem)
    model.add_initialized_data("lambda", [NU / (1 + NU) / (1 - 2 * NU)])
    model.add_initialized_data("shear", [0.5 / (1 + NU)])
    model.add_isotropic_linearized_elasticity_brick(rule, "u", "lambda", "shear")
    model.add_explicit_rhs("u", _loads(x, component, n) / E)
    model.add_variable("supports", fixed.size)
    model.add_constraint_with_multipliers(
        "u", "supports", _selection(fixed, 1.0, fem.nbdof()), np.zeros(fixed.size)
    )
    model.add_variable("rn", n_contacts)
    model.add_variable("rt", n_contacts)
    model.add_initialized_data("r", [1.0])
    model.add_initialized_data("mu", [MU])
    model.add_initialized_data("gap", np.zeros(n_contacts))
    model.add_initialized_data("alpha", np.ones(n_contacts))
    model.add_basic_contact_brick(
        "u",
        "rn",
        "rt",
        "r",
        _selection(normal, -1.0, fem.nbdof()),
        _selection(tangent, 1.0, fem.nbdof()),
        "mu",
        "gap",
        "alpha",
        1,
    )
    marks["model"] = perf_counter()
    model.solve("max_res", TOLERANCE, "max_iter", 300, "lsolver", "mumps")
    marks["solution"] = perf_counter()
    names = list(marks)
    with open(out, "w") as stream:
        json.dump(
            {
                "phases": {b: marks[b] - marks[a] for a, b in pairwise(names)},
                "dofs": int(fem.nbdof()),
                "x": x[0, normal].tolist(),
                "RN": (-E * model.variable("rn")).tolist(),
                "RT": (E * model.variable("rt")).tolist(),
                "ux": model.variable("u")[tangent].tolist(),
            },
            stream,
        )


def _mesh(n):
    """Cells cut from their upper left to their lower right corner."""
    s = np.linspace(0.0, SIDE, n + 1)
    mesh = gf.Mesh("empty", 2)
    mesh.add_point(np.vstack((np.tile(s, n + 1), np.repeat(s, n + 1))))
    i, j = np.meshgrid(np.arange(n), np.arange(n))
    a = (j * (n + 1) + i).ravel()
    b, c, d = a + 1, a + n + 1, a + n + 2
    cells = np.hstack((np.vstack((a, b, c)), np.vstack((b, d, c))))
    points = mesh.pts()
    mesh.add_convex(gf.GeoTrans("GT_PK(2,1)"), points[:, cells.T].transpose(0, 2, 1))
    return mesh


def _loads(x, component, n):
    """Nodal forces of 5e7 Pa on the top and 1.0e8, 1.2e8, ... 2.4e8 Pa on the left side."""
    h = SIDE / n
    half = 0.5 * h
    tiny = 1e-6 * h
    forces = np.zeros(component.size)
    top = (x[1] > SIDE - tiny) & (component == 1)
    ends = (x[0] < tiny) | (x[0] > SIDE - tiny)
    forces[top] = -5e7 * np.where(ends, half, h)[top]
    left = np.flatnonzero((x[0] < tiny) & (component == 0))
    for sign in (-1.0, 1.0):
        middle = x[1, left] + sign * half
        inside = (middle > 0.0) & (middle < SIDE)
        forces[left] += np.where(inside, (1e8 + 2e7 * np.floor(middle / 0.005)) * half, 0.0)
    return forces


def _selection(dofs, value, n_dofs):
    matrix = gf.Spmat("empty", dofs.size, n_dofs)
    for row, dof in enumerate(dofs):
        matrix.add(row, int(dof), value)
    return matrix


if __name__ == "__main__":
    main()
