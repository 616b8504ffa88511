"""M, K, C of a body, and the forces of its stresses."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from fecontact.assembly.kernels import (
    add_lumped_mass,
    add_mass,
    add_plane_stiffness,
    add_stiffness,
)
from fecontact.assembly.pattern import Pattern, find_pattern
from fecontact.body import Solid, check_shape
from fecontact.elements.points import add_nodal_forces
from fecontact.errors import InputError, MeshError
from fecontact.typing import FloatArray


def nodal_forces(solid: Solid, positions: FloatArray, stress: FloatArray) -> FloatArray:
    """Forces (ndof,) that hold stresses (n_points, 4) in a body whose nodes are at (n_nodes, 2)."""
    forces = np.zeros(solid.n_dofs)
    for block in solid.blocks:
        add_nodal_forces(
            forces,
            block.cells,
            positions,
            block.tables,
            block.size,
            block.point_size,
            block.kinematics,
            stress[block.points].reshape(block.n_elements, block.n_element_points, 4),
        )
    return forces


class Assembler:
    """Assembles the matrices of a body, all on one sparsity pattern found at construction.

    Every matrix is new data on the shared index arrays: sums of matrices are sums of their `data`.
    The index arrays must not be changed.

    Parameters
    ----------
    solid
        The body.

    Notes
    -----
    K, M and C are linear in elasticity and density, so any combination is filled in one pass over
    the elements from the combined constants of each material.
    """

    def __init__(self, solid: Solid) -> None:
        self.solid = solid
        self._check_jacobians()
        self.pattern: Pattern = find_pattern(
            [block.cells for block in solid.blocks], solid.n_nodes, solid.mesh.dim
        )
        self._material = solid.element_material.astype(np.int32)

    def _check_jacobians(self) -> None:
        solid = self.solid
        for block in solid.blocks:
            volumes = solid.volumes(block)
            wrong = np.flatnonzero(~(volumes.min(axis=1) > 0.0))
            if wrong.size:
                shown = ", ".join(str(block.first_element + e) for e in wrong[:5])
                raise MeshError(
                    f"{wrong.size} {block.kind} element(s) have a Jacobian <= 0 (first: {shown}); "
                    "expected counter-clockwise convex elements"
                )

    def stiffness(self) -> csr_array:
        """K = ∫ Bᵀ D B, (ndof, ndof)."""
        return self._matrix(self._fill(self.solid.elasticities(), None))

    def mass(self, *, lumped: bool = False) -> csr_array:
        """M = ∫ density Nᵀ N, (ndof, ndof); lumped by row sums onto the diagonal of the pattern."""
        return self._matrix(self._fill(None, self.solid.densities(), lumped))

    def damping(self, *, lumped: bool = False) -> csr_array:
        """C of the materials' `Damping`, (ndof, ndof); `lumped` is about its share of M."""
        return self._matrix(self._fill(self.solid.viscosities(), self._mass_damping(), lumped))

    def iteration_matrix(self, h: float, theta: float, *, lumped: bool = False) -> csr_array:
        """M + h θ C + h² θ² K of the θ scheme, (ndof, ndof), in one pass.

        Parameters
        ----------
        h
            Time step, positive.
        theta
            In (0, 1].
        lumped
            Take M lumped, in C too.
        """
        if not (np.isfinite(h) and h > 0.0):
            raise InputError(f"time step h = {h!r}, expected a number > 0")
        if not 0.0 < theta <= 1.0:
            raise InputError(f"theta = {theta!r}, expected 0 < theta <= 1")
        a = h * theta
        D = a * self.solid.viscosities() + a * a * self.solid.elasticities()
        density = self.solid.densities() + a * self._mass_damping()
        return self._matrix(self._fill(D, density, lumped))

    def tangent(self, tangents: FloatArray) -> csr_array:
        """∫ Bᵀ D B with a D of its own at each integration point, (ndof, ndof).

        Parameters
        ----------
        tangents : (n_points, 4, 4)
        """
        check_shape("tangents", tangents, (self.solid.n_points, 4, 4))
        return self._matrix(self._fill(np.ascontiguousarray(tangents), None, per_point=True))

    def lumped_masses(self) -> FloatArray:
        """Diagonal of the lumped M, (ndof,)."""
        return self._lumped(self.solid.densities())

    def nodal_forces(self, stress: FloatArray) -> FloatArray:
        """∫ Bᵀ stress: the forces that hold the given stresses.

        Parameters
        ----------
        stress : (n_points, 4)

        Returns
        -------
        forces : (ndof,)
        """
        solid = self.solid
        check_shape("stress", stress, (solid.n_points, 4))
        stress = np.ascontiguousarray(stress, dtype=np.float64)
        return nodal_forces(solid, solid.coordinates, stress)

    def internal_forces(self, u: FloatArray) -> FloatArray:
        """Forces of the elastic stresses, equal to K u by another route.

        Parameters
        ----------
        u : (ndof,)

        Returns
        -------
        forces : (ndof,)
        """
        solid = self.solid
        strains = solid.strains(u)
        stress = np.empty_like(strains)
        for region, D in zip(solid.regions, solid.elasticities(), strict=True):
            stress[region.points] = strains[region.points] @ D.T
        return self.nodal_forces(stress)

    def _mass_damping(self) -> FloatArray:
        alphas = [m.damping.rayleigh_mass for m in self.solid.materials.values()]
        return self.solid.densities() * np.array(alphas, dtype=np.float64)

    def _fill(
        self,
        D: FloatArray | None,
        density: FloatArray | None,
        lumped: bool = False,
        per_point: bool = False,
    ) -> FloatArray:
        """Data of ∫ Bᵀ D B + ∫ density Nᵀ N; D per material, or per point."""
        solid, pattern = self.solid, self.pattern
        data = np.zeros(pattern.nnz)
        for block, where in zip(solid.blocks, pattern.where, strict=True):
            material = self._material[block.elements]
            place = (data, where, pattern.stride, block.cells)
            elements = (block.tables, block.size, block.point_size, block.kinematics)
            if D is not None and per_point:
                first = np.arange(block.n_elements, dtype=np.int32) * block.n_element_points
                first += block.first_point
                add_stiffness(*place, solid.coordinates, *elements, D, first, 1)
            elif D is not None and D.any():
                if block.kinematics.is_plain:
                    add_plane_stiffness(*place, solid.coordinates, *elements, D, material)
                else:
                    add_stiffness(*place, solid.coordinates, *elements, D, material, 0)
            if density is not None and density.any() and not lumped:
                volumes = solid.mass_volumes(block)
                add_mass(*place, block.mass_N, block.size, volumes, density, material)
        if density is not None and lumped:
            data[pattern.diagonal] += self._lumped(density)
        return data

    def _lumped(self, density: FloatArray) -> FloatArray:
        solid = self.solid
        masses = np.zeros(solid.n_nodes)
        for block in solid.blocks:
            material = self._material[block.elements]
            volumes = solid.mass_volumes(block)
            add_lumped_mass(masses, block.cells, block.mass_N, volumes, density, material)
        return np.repeat(masses, solid.mesh.dim)

    def _matrix(self, data: FloatArray) -> csr_array:
        n = self.solid.n_dofs
        matrix = csr_array((data, self.pattern.indices, self.pattern.indptr), shape=(n, n))
        # known by construction; saves a pass over the indices when scipy asks
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def __repr__(self) -> str:
        return f"Assembler({self.solid.n_dofs} dofs, {self.pattern.nnz} entries)"
