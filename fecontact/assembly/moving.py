"""A body that moves: forces and tangent on the current configuration (updated Lagrangian)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from fecontact.assembly.assembler import Assembler, nodal_forces
from fecontact.assembly.averaging import DILATATIONS, Dilatation, NodalAverage
from fecontact.body import check_shape
from fecontact.elements.motion import add_gradient_stiffness, gradient_tangent, point_motion
from fecontact.elements.points import point_volumes
from fecontact.errors import InputError, InvertedElement, at, choices
from fecontact.materials.maxwell import Rheology
from fecontact.materials.viscous_step import ViscoelasticLaw, ViscousState
from fecontact.typing import FloatArray


@dataclass(frozen=True, eq=False)
class Configuration:
    """Where a body is and what its points have been through; never changed in place.

    Attributes
    ----------
    positions : (n_nodes, 2)
    F : (n_points, 5)
        Deformation gradients since the start, (11, 12, 21, 22, 33).
    material : ViscousState
        Stresses, by their parts.
    """

    positions: FloatArray
    F: FloatArray
    material: ViscousState

    @property
    def stress(self) -> FloatArray:
        """Stress (n_points, 4)."""
        return self.material.stress

    def strain(self) -> FloatArray:
        """Logarithmic strain ½ log F Fᵀ, (n_points, 4) with the engineering shear."""
        F = self.F
        xx, yy = F[:, 0] ** 2 + F[:, 1] ** 2, F[:, 2] ** 2 + F[:, 3] ** 2
        xy = F[:, 0] * F[:, 2] + F[:, 1] * F[:, 3]
        mean, half = 0.5 * (xx + yy), 0.5 * (xx - yy)
        radius = np.hypot(half, xy)
        high, low = 0.5 * np.log(mean + radius), 0.5 * np.log(mean - radius)
        # where both stretches are equal the direction does not matter
        scale = np.where(radius > 0.0, 0.5 * (high - low) / np.where(radius > 0.0, radius, 1.0), 0)
        centre = 0.5 * (high + low)
        return np.column_stack(
            [
                centre + scale * half,
                centre - scale * half,
                np.log(F[:, 4]),
                2.0 * scale * xy,
            ]
        )


@dataclass(frozen=True, eq=False)
class Moved:
    """A trial step of a body: nothing of it is kept until the step has converged.

    Attributes
    ----------
    configuration : Configuration
        At the end.
    forces : (ndof,)
        Forces that hold the stresses at the end.
    tensor : (n_points, 5, 5)
        Derivative of the integrand of the forces, see `gradient_tangent`.
    A : (n_points, 5)
        Gradient of the displacement at mid-step.
    volumes : (n_points,)
        At the start.
    """

    configuration: Configuration
    forces: FloatArray
    tensor: FloatArray
    A: FloatArray
    volumes: FloatArray


class MovingBody:
    """Takes a body from one configuration to another.

    Parameters
    ----------
    assembler
        Of the body at the start; its pattern is shared.
    dilatation : "element" or "nodal"
        Volume change of triangles: each its own, or averaged over the nodes, within a region.
        Three-node triangles with volume changes of their own lock where shear relaxes and volume
        does not; see `NodalAverage`. Quadrangles keep their own.
    """

    def __init__(self, assembler: Assembler, dilatation: Dilatation = "element") -> None:
        solid = assembler.solid
        if dilatation not in DILATATIONS:
            raise InputError(
                f"dilatation {dilatation!r} is not known; {choices(str(dilatation), DILATATIONS)}"
            )
        if solid.hypothesis == "plane_stress":
            raise InputError(
                "finite motion is not available in plane stress; choose plane_strain or "
                "axisymmetric"
            )
        if solid.quad != "full" and "quad" in solid.mesh.cells:
            raise InputError(
                f"finite motion is not available with quad = {solid.quad!r}; choose 'full'"
            )
        self.assembler, self.solid = assembler, solid
        places = np.empty((solid.n_points, 2))
        for block in solid.blocks:
            corners = solid.coordinates[block.cells]
            places[block.points] = np.einsum("pa,eak->epk", block.N, corners).reshape(-1, 2)
        self.points: FloatArray = places
        parts = []
        for region in solid.regions:
            with at(f"materials.{region.name}"):
                rheology = Rheology.of(region.material, places[region.points])
            parts.append((region.points, rheology))
        self.rheology = Rheology.gather(solid.n_points, parts)
        self.law = ViscoelasticLaw(self.rheology)
        self.average = NodalAverage(solid) if dilatation == "nodal" else None

    def start(self, stress: FloatArray | None = None) -> Configuration:
        """Undeformed, under an initial stress (n_points, 4), none by default."""
        F = np.zeros((self.solid.n_points, 5))
        F[:, [0, 3, 4]] = 1.0
        return Configuration(self.solid.coordinates.copy(), F, self.law.initial_state(stress))

    def move(self, start: Configuration, u: FloatArray, h: float) -> Moved:
        """End of a step over which the nodes move by u (ndof,).

        Raises
        ------
        InvertedElement
            An element turns inside out; the message has its number.
        """
        solid = self.solid
        check_shape("u", u, (solid.n_dofs,))
        positions = start.positions + np.asarray(u, dtype=np.float64).reshape(-1, 2)
        n = solid.n_points
        increment, A, turn = np.empty((n, 4)), np.empty((n, 5)), np.empty(n)
        F = np.empty((n, 5))
        for block in solid.blocks:
            shape = (block.n_elements, block.n_element_points)
            *found, inverted = point_motion(
                block.cells,
                start.positions,
                positions,
                block.tables,
                block.kinematics.axisymmetric,
                self.rheology.jaumann[block.points].reshape(shape),
                start.F[block.points].reshape(*shape, 5),
            )
            if inverted >= 0:
                raise self.inverted(block.first_element + inverted, start.positions)
            for whole, part in zip((increment, A, turn, F), found, strict=True):
                whole[block.points] = part.reshape(-1, *whole.shape[1:])
        if self.average is not None:
            self.average.share(increment, self.volumes(start))
        stress, tangent, slope, material = self.law.update(increment, start.material, h, turn)
        if self.average is not None:
            # the bulk part of triangles is not local: `tangent` adds it
            tangent[self.average.points, :3, :3] -= self.rheology.bulk[
                self.average.points, None, None
            ]
        tensor = gradient_tangent(tangent, slope, stress, A, F, self.rheology.jaumann)
        end = Configuration(positions, F, material)
        return Moved(end, self.forces(end), tensor, A, self.volumes(start))

    def inverted(self, element: int, positions: FloatArray) -> InvertedElement:
        """The error of an element that turns inside out, with its number and place."""
        first = 0
        for cells in self.solid.mesh.cells.values():
            if element < first + len(cells):
                nodes = cells[element - first]
                break
            first += len(cells)
        x, y = positions[nodes].mean(axis=0)
        error = InvertedElement(
            f"element {element} (near x = {x:.6g}, y = {y:.6g}) turns inside out", element=element
        )
        error.nodes = tuple(int(node) for node in nodes)
        return error

    def forces(self, configuration: Configuration) -> FloatArray:
        """Forces (ndof,) that hold the stresses of a configuration."""
        return nodal_forces(self.solid, configuration.positions, configuration.stress)

    def volumes(self, configuration: Configuration) -> FloatArray:
        """Volume (n_points,) that each point stands for now."""
        volumes = np.empty(self.solid.n_points)
        for block in self.solid.blocks:
            volumes[block.points] = point_volumes(
                block.cells, configuration.positions, block.tables, block.kinematics
            ).ravel()
        return volumes

    def tangent(self, moved: Moved) -> csr_array:
        """Derivative (ndof, ndof) of the forces with respect to the positions at the end.

        It is not symmetric: Cauchy stresses with the rates used here have no potential.
        """
        solid, pattern = self.solid, self.assembler.pattern
        data = np.zeros(pattern.nnz)
        for block, where in zip(solid.blocks, pattern.where, strict=True):
            add_gradient_stiffness(
                data,
                where,
                pattern.stride,
                block.cells,
                moved.configuration.positions,
                block.tables,
                block.size,
                block.kinematics.axisymmetric,
                block.kinematics.thickness,
                moved.tensor[block.points].reshape(block.n_elements, block.n_element_points, 5, 5),
            )
        n = solid.n_dofs
        matrix = csr_array((data, pattern.indices, pattern.indptr), shape=(n, n))
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        if self.average is None:
            return matrix
        bulk = self.average.bulk_stiffness(
            moved.configuration.positions, moved.A, moved.volumes, self.rheology.bulk
        )
        return csr_array(matrix + bulk)

    def __repr__(self) -> str:
        return f"MovingBody({self.solid.n_dofs} dofs, {self.rheology!r})"
