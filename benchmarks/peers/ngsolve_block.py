"""The sliding block (T3, mu = 1) in NGSolve, nodal contact by multipliers and Newton.

Run by ``benchmarks/block.py`` with a Python that has NGSolve: ``ngsolve_block.py n out.json``. The
mesh, the loads, the supports and the concentrated reactions are those of
``cases/sliding_block.toml``: the trapezoidal rule on the base gathers the law of contact at the
nodes, so that both programs solve the same discrete problem. The law is the function of Alart and
Curnier, linearised by NGSolve. Stresses are divided by E, lengths by the size of the elements.
"""

import json
import sys
from itertools import pairwise
from time import perf_counter

import ngsolve as ng
import numpy as np
from netgen.meshing import FaceDescriptor
from netgen.meshing import Mesh as NetgenMesh

SIDE, E, NU, MU = 0.04, 1.3e11, 0.2, 1.0
# of the largest displacement, by the last step of Newton
TOLERANCE = 1e-12
MOST_STEPS = 100
SIDES = {"bottom": 1, "right": 2, "top": 3, "left": 4}


def main():
    n, out = int(sys.argv[1]), sys.argv[2]
    marks = {"start": perf_counter()}
    mesh = _mesh(n)
    marks["mesh"] = perf_counter()
    space, free, system, loads = _model(mesh, n)
    marks["model"] = perf_counter()
    state = ng.GridFunction(space)
    steps = _newton(space, free, system, loads, state)
    marks["solution"] = perf_counter()

    moved, normal, tangent = state.components
    # vertices of the base come first, from left to right, and have the first dofs
    ux = moved.components[0].vec.FV().NumPy()[:n]
    length = np.full(n, SIDE / n)
    length[0] *= 0.5
    names = list(marks)
    with open(out, "w") as stream:
        json.dump(
            {
                "phases": {b: marks[b] - marks[a] for a, b in pairwise(names)},
                "steps": steps,
                "RN": (E * length * normal.vec.FV().NumPy()[:n]).tolist(),
                "RT": (E * length * tangent.vec.FV().NumPy()[:n]).tolist(),
                "ux": ux.tolist(),
            },
            stream,
        )


def _model(mesh, n):
    """Displacements, normal and tangential pressures: space, free dofs, equations, loads over E."""
    displacement = ng.VectorH1(mesh, order=1, dirichletx="right")
    base = ng.H1(mesh, order=1, definedon=mesh.Boundaries("bottom"))
    space = displacement * base * base
    (u, normal, tangent), (v, test_n, test_t) = space.TnT()
    strain, virtual = ng.Sym(ng.Grad(u)), ng.Sym(ng.Grad(v))
    first, shear = NU / (1 + NU) / (1 - 2 * NU), 0.5 / (1 + NU)
    system = ng.BilinearForm(space)
    stress = first * ng.Trace(strain) * ng.Id(2) + 2 * shear * strain
    system += ng.InnerProduct(stress, virtual) * ng.dx
    # the law at the nodes: pressures are reactions over their part of the base
    nodes = ng.IntegrationRule(points=[(0.0,), (1.0,)], weights=[0.5, 0.5])
    ds = ng.ds("bottom", intrules={ng.SEGM: nodes})
    rho = n / SIDE
    trial_n, trial_t = normal - rho * u[1], tangent - rho * u[0]
    closed = ng.IfPos(trial_n, trial_n, 0)
    bound = MU * closed
    cut = ng.IfPos(trial_t - bound, bound, ng.IfPos(-trial_t - bound, -bound, trial_t))
    system += (-normal * v[1] - tangent * v[0]) * ds
    system += ((closed - normal) * test_n + (cut - tangent) * test_t) / rho * ds
    pressure = (1e8 + 2e7 * ng.floor(ng.y / 0.005)) / E
    loads = ng.LinearForm(space)
    loads += pressure * v[0] * ng.ds("left")
    loads += -(5e7 / E) * v[1] * ng.ds("top")
    loads.Assemble()
    # the corner at the right is held and no candidate
    free = ng.BitArray(space.FreeDofs())
    vertices = (n + 1) ** 2
    for dof in (vertices, 2 * vertices, 3 * vertices):
        free.Clear(dof + n)
    return space, free, system, loads.vec


def _newton(space, free, system, loads, state):
    """Full steps; their number."""
    residual, step = state.vec.CreateVector(), state.vec.CreateVector()
    for count in range(1, MOST_STEPS + 1):
        system.Apply(state.vec, residual)
        residual.data -= loads
        system.AssembleLinearization(state.vec)
        step.data = system.mat.Inverse(free, inverse="umfpack") * residual
        state.vec.data -= step
        moved = space.Range(0)
        if _largest(step[moved]) <= TOLERANCE * _largest(state.vec[moved]):
            return count
    raise SystemExit(f"Newton has not ended after {MOST_STEPS} steps")


def _largest(vector):
    return np.abs(vector.FV().NumPy()).max()


def _mesh(n):
    """Cells cut from their upper left to their lower right corner."""
    s = np.linspace(0.0, SIDE, n + 1)
    mesh = NetgenMesh(dim=2)
    points = np.column_stack((np.tile(s, n + 1), np.repeat(s, n + 1), np.zeros((n + 1) ** 2)))
    mesh.AddPoints(points)
    mesh.Add(FaceDescriptor(surfnr=1, domin=1, bc=1))
    mesh.SetMaterial(1, "block")
    i, j = np.meshgrid(np.arange(n), np.arange(n))
    a = (j * (n + 1) + i).ravel()
    b, c, d = a + 1, a + n + 1, a + n + 2
    cells = np.vstack((np.column_stack((a, b, c)), np.column_stack((b, d, c))))
    mesh.AddElements(dim=2, index=1, data=cells.astype(np.int32), base=0)
    k = np.arange(n)
    top, right = n * (n + 1), (k + 1) * (n + 1) - 1
    edges = {
        "bottom": (k, k + 1),
        "right": (right, right + n + 1),
        "top": (top + k + 1, top + k),
        "left": ((k + 1) * (n + 1), k * (n + 1)),
    }
    for name, (start, end) in edges.items():
        data = np.column_stack((start, end)).astype(np.int32)
        mesh.AddElements(dim=1, index=SIDES[name], data=data, base=0)
        mesh.SetBCName(SIDES[name] - 1, name)
    return ng.Mesh(mesh)


if __name__ == "__main__":
    main()
