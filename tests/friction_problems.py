"""Friction problems that several test files share."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import sparse

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.loads import edge_traction
from fecontact.materials import IsotropicElastic
from fecontact.mesh import rectangle
from fecontact.solvers import FrictionProblem
from fecontact.solvers.linear import factorise
from fecontact.typing import FloatArray


def random_problem(rng: np.random.Generator, dim: int, contacts: int) -> FrictionProblem:
    """A problem with positive definite W and mu within 0.9 of the bound of uniqueness, or 1."""
    n = dim * contacts
    A = rng.normal(size=(n, n + int(rng.integers(0, n + 3))))
    W = A @ A.T / n + 0.02 * np.eye(n)
    blocks = W.reshape(contacts, dim, contacts, dim)[np.arange(contacts), :, np.arange(contacts)]
    bound = blocks[:, 0, 0] / np.linalg.norm(blocks[:, 0, 1:], axis=1)
    mu = np.minimum(rng.random(contacts), 0.9 * bound)
    q = rng.normal(size=n)
    q[::dim] -= 0.5  # more contacts close than open
    return FrictionProblem(W, q, mu, dim)


def block_problem(n: int, mu: float, kind: str = "quad") -> FrictionProblem:
    """Friction problem of the sliding block with n x n cells, loads growing up its left side."""
    W, q = _block(n, kind)
    return FrictionProblem(W, q, mu)


@cache
def _block(n: int, kind: str) -> tuple[FloatArray, FloatArray]:
    side = 0.04
    mesh = rectangle(side, side, n, n, kind=kind)
    solid = Solid(mesh, {"body": IsotropicElastic(1.3e11, 0.2)}, "plane_strain")
    load = edge_traction(
        solid,
        mesh.edges("left"),
        lambda p, _: np.column_stack([1e8 + 2e7 * np.floor(8 * p[:, 1] / side), np.zeros(len(p))]),
    ) + edge_traction(solid, mesh.edges("top"), lambda p, _: np.tile([0.0, -5e7], (len(p), 1)))
    corner = mesh.node_numbers("bottom_right")[0]
    free = np.ones(2 * mesh.n_nodes, bool)
    free[2 * mesh.node_numbers("right")] = False
    free[2 * corner + 1] = False
    bottom = mesh.node_numbers("bottom")
    bottom = bottom[bottom != corner]
    bottom = bottom[np.argsort(mesh.nodes[bottom, 0])]
    local = np.cumsum(free)[np.column_stack([2 * bottom + 1, 2 * bottom]).ravel()] - 1
    A = sparse.csr_array(Assembler(solid).stiffness()[free][:, free])
    factors = factorise(A, trailing=local, coordinates=mesh.nodes[np.flatnonzero(free) // 2])
    return factors.trailing_inverse(), factors.solve(load[free])[local]
