"""Winkler beds of moving bodies: a pressure normal to the edge where it is now.

The pressure is p = p_0 + k (y_0 - y), linear along an edge: p_0 balances the initial stress and k
is the stiffness of the bed. Its direction follows the edge, as that of a fluid does; forces that
stayed vertical would drive a relaxed body apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from fecontact.conditions import Winkler
from fecontact.model import Model
from fecontact.typing import FloatArray, IntArray


class Beds(NamedTuple):
    """Edges (n, 2) with the body on the left, stiffness times thickness (n,), and for the ends of
    each edge the level (n, 2) and the pressure times thickness (n, 2) at the start.
    """

    edges: IntArray
    stiffness: FloatArray
    level: FloatArray
    pressure: FloatArray


def gather_beds(model: Model) -> Beds:
    """The beds of a model."""
    mesh, parts = model.mesh, []
    for bed in model.springs:
        if not isinstance(bed, Winkler):
            continue
        bed.diagonal(mesh)
        edges = np.concatenate(
            [np.column_stack([chain[:-1], chain[1:]]) for chain in mesh.chains(bed.on)]
        )
        level = mesh.nodes[edges, 1]
        pressure = np.zeros_like(level)
        if model.prestress is not None:
            points = mesh.nodes[edges].reshape(-1, 2)
            stress = model.prestress.stress(model.solid, model.loads, points)
            pressure = -bed.thickness * stress[:, 1].reshape(-1, 2)
        stiffness = np.full(len(edges), bed.thickness * bed.stiffness)
        parts.append((edges, stiffness, level, pressure))
    if not parts:
        none = np.zeros((0, 2))
        return Beds(np.zeros((0, 2), dtype=np.int64), np.zeros(0), none, none)
    return Beds(*(np.ascontiguousarray(np.concatenate(p)) for p in zip(*parts, strict=True)))


@njit(cache=True)
def add_bed_forces(beds: Any, x: Any, forces: Any) -> None:
    """Add the forces of the beds at positions x (ndof,) to a vector (ndof,)."""
    for e in range(beds.edges.shape[0]):
        a, b = beds.edges[e]
        pa = beds.pressure[e, 0] + beds.stiffness[e] * (beds.level[e, 0] - x[2 * a + 1])
        pb = beds.pressure[e, 1] + beds.stiffness[e] * (beds.level[e, 1] - x[2 * b + 1])
        # inward normal times length
        nx = x[2 * a + 1] - x[2 * b + 1]
        ny = x[2 * b] - x[2 * a]
        sa = (2.0 * pa + pb) / 6.0
        sb = (pa + 2.0 * pb) / 6.0
        forces[2 * a] += sa * nx
        forces[2 * a + 1] += sa * ny
        forces[2 * b] += sb * nx
        forces[2 * b + 1] += sb * ny


def bed_forces(beds: Beds, positions: FloatArray) -> FloatArray:
    """Forces (ndof,) of the beds."""
    forces = np.zeros(positions.size)
    add_bed_forces(beds, positions.ravel(), forces)
    return forces


def bed_tangent(beds: Beds, positions: FloatArray) -> sparse.csr_array:
    """Derivative (ndof, ndof) of the forces with respect to the positions, with its sign."""
    n = positions.size
    a, b = beds.edges.T
    x = positions
    k = beds.stiffness
    p = beds.pressure + k[:, None] * (beds.level - x[beds.edges, 1])
    nx, ny = x[a, 1] - x[b, 1], x[b, 0] - x[a, 0]
    rows, columns, values = [], [], []

    def add(row: IntArray, column: IntArray, value: FloatArray) -> None:
        rows.append(row)
        columns.append(column)
        values.append(value)

    for node, (wa, wb) in ((a, (2.0 / 6.0, 1.0 / 6.0)), (b, (1.0 / 6.0, 2.0 / 6.0))):
        s = wa * p[:, 0] + wb * p[:, 1]
        for other, w, sign in ((a, wa, 1.0), (b, wb, -1.0)):
            # through the pressure, and through the normal
            add(2 * node, 2 * other + 1, -w * k * nx + sign * s)
            add(2 * node + 1, 2 * other + 1, -w * k * ny)
            add(2 * node + 1, 2 * other, -sign * s)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_array(sparse.coo_array(entries, shape=(n, n)))


class Ground:
    """Springs and beds of a model whose bodies move.

    Attributes
    ----------
    springs : (ndof,)
        Stiffness of the springs, in global axes.
    beds
        The others.
    """

    def __init__(self, model: Model) -> None:
        self._nodes = model.mesh.nodes
        self.springs: FloatArray = np.zeros(model.n_dofs)
        for spring in model.springs:
            if not isinstance(spring, Winkler):
                self.springs += spring.diagonal(model.mesh)
        self.beds = gather_beds(model)

    def forces(self, q: FloatArray) -> FloatArray:
        """Forces (ndof,) at displacements q, in global axes."""
        forces = -self.springs * q
        if len(self.beds.edges):
            forces += bed_forces(self.beds, self._nodes + q.reshape(self._nodes.shape))
        return forces
