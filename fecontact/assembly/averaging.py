"""Volume changes of three-node triangles averaged over nodes, so that they do not lock.

A mesh of three-node triangles has about one volume for each two dofs, too many to be kept: where
shear relaxes and volume does not, it can hardly flow. Here the volume change of a triangle is the
mean of those of its nodes, and that of a node the mean over the triangles around it, weighted by
volume (average nodal pressure, Bonet and Burton 1998):

    θ_a = Σ_e V_e θ_e / Σ_e V_e,    θ̄_e = (θ_1 + θ_2 + θ_3) / 3.

Weights are those of the start of the step. A node has one value for each region around it, so that
nothing is mixed across the boundary of two materials.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numba import njit
from scipy.sparse import csr_array, diags_array

from fecontact.body import Solid
from fecontact.typing import FloatArray, IntArray

Dilatation = Literal["element", "nodal"]
DILATATIONS: tuple[Dilatation, ...] = get_args(Dilatation)


class NodalAverage:
    """Averages volume changes of the triangles of a solid.

    Attributes
    ----------
    points : (nt,)
        Integration points of the triangles, one each.
    patches : (nt, 3)
        Number of the patch (node and region) of each corner.
    """

    def __init__(self, solid: Solid) -> None:
        self.solid = solid
        blocks = [b for b in solid.blocks if b.kind == "triangle"]
        self.cells = np.concatenate([b.cells for b in blocks]) if blocks else np.zeros((0, 3), int)
        self.block = blocks[0] if blocks else None
        places = [np.arange(b.points.start, b.points.stop) for b in blocks]
        self.points: IntArray = np.concatenate(places) if blocks else np.zeros(0, dtype=np.int64)
        elements = solid.point_element[self.points]
        keys = self.cells * len(solid.materials) + solid.element_material[elements][:, None]
        known, numbers = np.unique(keys, return_inverse=True)
        self.patches: IntArray = numbers.reshape(self.cells.shape)
        self.n_patches = len(known)

    def share(self, increment: FloatArray, volumes: FloatArray) -> None:
        """Replace the volume changes of strain increments (n_points, 4) in place.

        `volumes` (n_points,) are those of the start of the step.
        """
        own = increment[self.points, :3].sum(axis=1)
        weight, total = np.zeros(self.n_patches), np.zeros(self.n_patches)
        V = volumes[self.points]
        for k in range(3):
            weight += np.bincount(self.patches[:, k], V, minlength=self.n_patches)
            total += np.bincount(self.patches[:, k], V * own, minlength=self.n_patches)
        shared = (total / weight)[self.patches].mean(axis=1)
        increment[self.points, :3] += ((shared - own) / 3.0)[:, None]

    def bulk_stiffness(
        self, positions: FloatArray, A: FloatArray, volumes: FloatArray, bulk: FloatArray
    ) -> csr_array:
        """Derivative (ndof, ndof) of the forces of the mean stress through the volume changes.

        Parameters
        ----------
        positions : (n_nodes, 2)
            At the end of the step.
        A, volumes
            Of the points: gradients of the displacement at mid-step, volumes at the start.
        bulk : (n_points,)
            Bulk moduli.
        """
        n = 2 * len(positions)
        if self.block is None:
            return csr_array((n, n))
        kinematics = self.block.kinematics
        force, change = _rows(
            self.cells,
            positions,
            self.block.dN[0],
            A[self.points],
            kinematics.axisymmetric,
            kinematics.thickness,
        )
        nt = len(self.points)
        dofs = (2 * self.cells[:, :, None] + np.arange(2)).reshape(nt, 6).astype(np.int32)
        pointer = np.arange(0, 6 * nt + 1, 6, dtype=np.int32)
        forces = csr_array((force.ravel(), dofs.ravel(), pointer), shape=(nt, n))
        changes = csr_array((change.ravel(), dofs.ravel(), pointer), shape=(nt, n))
        V = volumes[self.points]
        places = (self.patches.ravel(), np.repeat(np.arange(nt), 3))
        gather = csr_array((np.repeat(V, 3), places), shape=(self.n_patches, nt))
        weight: FloatArray = np.asarray(gather.sum(axis=1))
        nodal = csr_array(diags_array(1.0 / weight) @ (gather @ changes))
        third = csr_array((np.full(3 * nt, 1.0 / 3.0), places), shape=(self.n_patches, nt))
        scaled = csr_array(diags_array(bulk[self.points]) @ forces)
        return csr_array((third @ scaled).T @ nodal)


@njit(cache=True)
def _rows(
    cells: Any, x: Any, dN: Any, A: Any, axisymmetric: bool, thickness: float
) -> tuple[Any, Any]:
    """Force of a unit mean stress, and derivative of the volume change, (nt, 6) each."""
    nt = cells.shape[0]
    force = np.zeros((nt, 6))
    change = np.zeros((nt, 6))
    for e in range(nt):
        j00 = j01 = j10 = j11 = radius = 0.0
        for a in range(3):
            i = cells[e, a]
            j00 += dN[a, 0] * x[i, 0]
            j01 += dN[a, 0] * x[i, 1]
            j10 += dN[a, 1] * x[i, 0]
            j11 += dN[a, 1] * x[i, 1]
            radius += x[i, 0] / 3.0
        det = j00 * j11 - j01 * j10
        w = 0.5 * det * (2.0 * np.pi * radius if axisymmetric else thickness)
        # tr((1 - A/2) l (1 + A/2)) = l : ((1 + A/2)(1 - A/2))ᵀ
        a0, a1, a2, a3 = 0.5 * A[e, 0], 0.5 * A[e, 1], 0.5 * A[e, 2], 0.5 * A[e, 3]
        m00 = 1.0 - a0 * a0 - a1 * a2
        m01 = -a0 * a1 - a1 * a3
        m10 = -a2 * a0 - a3 * a2
        m11 = 1.0 - a2 * a1 - a3 * a3
        hoop = (1.0 - 0.25 * A[e, 4] * A[e, 4]) / (3.0 * radius) if axisymmetric else 0.0
        for a in range(3):
            gx = (j11 * dN[a, 0] - j01 * dN[a, 1]) / det
            gy = (j00 * dN[a, 1] - j10 * dN[a, 0]) / det
            force[e, 2 * a] = w * (gx + (1.0 / (3.0 * radius) if axisymmetric else 0.0))
            force[e, 2 * a + 1] = w * gy
            change[e, 2 * a] = m00 * gx + m10 * gy + hoop
            change[e, 2 * a + 1] = m01 * gx + m11 * gy
    return force, change
