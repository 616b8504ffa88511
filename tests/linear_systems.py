"""Symmetric positive definite systems that several test files share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.materials import IsotropicElastic
from fecontact.mesh import rectangle
from fecontact.solvers import pardiso
from fecontact.typing import FloatArray, IntArray

needs_mkl = pytest.mark.skipif(not pardiso.available(), reason="MKL is not installed")
METHODS = ["multifrontal", "superlu", pytest.param("pardiso", marks=needs_mkl), "cg"]
DIRECT = METHODS[:3]


class Block:
    """Stiffness A of a block of n x n cells without its fixed nodes, and what belongs to it."""

    A: sparse.csr_array
    coordinates: FloatArray
    directions: FloatArray
    bottom: IntArray

    def __init__(
        self,
        n: int = 8,
        *,
        held: str | None = "top",
        kind: str = "quad",
        length: float = 1.0,
        nu: float = 0.3,
        cells: int | None = None,
    ) -> None:
        mesh = rectangle(length, 1.0, cells or n, n, kind=kind)
        solid = Solid(mesh, {"body": IsotropicElastic(1.0, nu)}, "plane_strain")
        fixed = np.zeros(2 * mesh.n_nodes, dtype=bool)
        if held is not None:
            nodes = mesh.node_numbers(held)
            fixed[2 * nodes] = fixed[2 * nodes + 1] = True
        free = np.flatnonzero(~fixed)
        self.A = sparse.csr_array(Assembler(solid).stiffness()[free][:, free])
        self.coordinates = mesh.nodes[free // 2]
        self.directions = np.eye(2)[free % 2]
        bottom = (2 * mesh.node_numbers("bottom")[:, None] + np.arange(2)).ravel()
        self.bottom = np.searchsorted(free, bottom[~fixed[bottom]])


def joined(*blocks: Block) -> tuple[sparse.csr_array, FloatArray, IntArray]:
    """One system of several bodies side by side: A, coordinates and the lower dofs of each."""
    A = sparse.csr_array(sparse.block_diag([b.A for b in blocks], format="csr"))
    places = np.vstack([b.coordinates + np.array([3.0 * k, 0.0]) for k, b in enumerate(blocks)])
    starts = np.cumsum([0, *(b.A.shape[0] for b in blocks[:-1])])
    bottoms = np.concatenate([b.bottom + s for b, s in zip(blocks, starts, strict=True)])
    return A, places, bottoms


def random_system(rng: np.random.Generator, n: int, density: float) -> sparse.csr_array:
    """A random symmetric, strictly diagonally dominant matrix; its graph may have several parts."""
    B = sparse.random_array((n, n), density=density, rng=rng, format="csr")
    B = sparse.csr_array(B + B.T)
    rows = np.asarray(abs(B).sum(axis=1)).ravel()
    return sparse.csr_array(B + sparse.diags_array(rows + 1.0))
