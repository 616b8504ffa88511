"""A deformable body: a mesh, its materials and the hypothesis it deforms under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fecontact.elements import (
    ElementBlock,
    Hypothesis,
    Kinematics,
    QuadOption,
    check_hypothesis,
    check_quad_option,
    element_block,
)
from fecontact.elements.points import point_strains, point_volumes
from fecontact.errors import InputError, MaterialError, MeshError
from fecontact.materials import Material
from fecontact.mesh import Mesh
from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Region:
    """The elements that share one material.

    Attributes
    ----------
    name
        Element group of the mesh.
    elements : (k,)
        Element numbers.
    points : (m,)
        Numbers of their integration points; a state per point is kept in this order.
    """

    name: str
    material: Material
    elements: IntArray
    points: IntArray


@dataclass(frozen=True, eq=False)
class Solid:
    """A body of T3 and Q4 elements.

    Parameters
    ----------
    mesh
        Two-dimensional mesh.
    materials
        Material of each element group; every element must get exactly one.
    hypothesis : "plane_strain", "plane_stress" or "axisymmetric"
        In axisymmetry x is the radius, y the axis, and all integrals run over the full turn.
    thickness
        Out-of-plane size in plane strain and plane stress; ignored in axisymmetry.
    quad : "full", "bbar" or "selective"
        Q4 formulation. With "bbar" the volume change is the mean over the element, with "selective"
        it is the one at the centre (one-point rule for the volumetric part); neither locks when
        nearly incompressible. In the plane both give the same element. Triangles are not changed.

    Notes
    -----
    Dof of component k of node i is 2 i + k. Integration points are numbered element by element
    through the blocks (triangles first).
    """

    mesh: Mesh
    materials: Mapping[str, Material]
    hypothesis: Hypothesis = "plane_strain"
    thickness: float = 1.0
    quad: QuadOption = "full"

    def __post_init__(self) -> None:
        check_hypothesis(self.hypothesis)
        check_quad_option(self.quad)
        object.__setattr__(self, "materials", MappingProxyType(dict(self.materials)))
        if self.mesh.dim != 2:
            raise MeshError(f"mesh has dimension {self.mesh.dim}, a solid expects 2")
        if not (np.isfinite(self.thickness) and self.thickness > 0.0):
            raise InputError(f"thickness = {self.thickness!r}, expected a number > 0")
        if self.hypothesis == "axisymmetric":
            self._check_axisymmetric()
        for name, material in self.materials.items():
            if not isinstance(material, Material):
                raise MaterialError(
                    f"material of element group {name!r} is {material!r}, expected a Material such "
                    "as IsotropicElastic"
                )
            material.viscosity(self.hypothesis)
        self._check_cover()

    def __reduce__(self) -> tuple[Any, ...]:
        # mapping proxies do not pickle
        materials = dict(self.materials)
        return (Solid, (self.mesh, materials, self.hypothesis, self.thickness, self.quad))

    def _check_axisymmetric(self) -> None:
        x = self.mesh.nodes[:, 0]
        wrong = np.flatnonzero(x < -1e-9 * np.ptp(x))
        if wrong.size:
            raise MeshError(
                f"axisymmetric: {wrong.size} node(s) have a negative radius x (node {wrong[0]} at "
                f"x = {x[wrong[0]]:g}); expected x >= 0 with the axis of revolution at x = 0"
            )
        if self.quad == "selective" and "quad" in self.mesh.cells:
            raise InputError(
                "quad = 'selective' does not keep a constant state on distorted axisymmetric "
                "elements; choose 'bbar' (same purpose, exact there) or 'full'"
            )

    def _check_cover(self) -> None:
        count = np.zeros(self.mesh.n_elements, dtype=np.int64)
        for name in self.materials:
            np.add.at(count, self.mesh.elements(name), 1)
        for wrong, what in ((count == 0, "no material"), (count > 1, "more than one material")):
            if np.any(wrong):
                numbers = ", ".join(str(e) for e in np.flatnonzero(wrong)[:5])
                groups = ", ".join(self.materials) or "none"
                raise MeshError(
                    f"{np.count_nonzero(wrong)} of {count.size} elements have {what} (first: "
                    f"{numbers}); expected exactly one each; groups with a material: {groups}"
                )

    @property
    def n_nodes(self) -> int:
        return self.mesh.n_nodes

    @property
    def n_dofs(self) -> int:
        """Number of unknowns, 2 per node."""
        return self.mesh.dim * self.mesh.n_nodes

    @property
    def n_points(self) -> int:
        """Number of integration points of all elements."""
        return sum(block.n_points for block in self.blocks)

    @property
    def is_axisymmetric(self) -> bool:
        return self.hypothesis == "axisymmetric"

    @cached_property
    def blocks(self) -> tuple[ElementBlock, ...]:
        """Element blocks with their integration points, in the order of element numbers."""
        blocks: list[ElementBlock] = []
        element = point = 0
        for kind, cells in self.mesh.cells.items():
            kinematics = Kinematics.of(self.hypothesis, self.thickness, self.quad, kind)
            block = element_block(kind, cells, element, point, kinematics)
            blocks.append(block)
            element += block.n_elements
            point += block.n_points
        return tuple(blocks)

    @cached_property
    def coordinates(self) -> FloatArray:
        """Node coordinates as the compiled loops want them, (n, 2)."""
        return np.array(self.mesh.nodes, dtype=np.float64, order="C")

    @cached_property
    def element_material(self) -> IntArray:
        """Place of each element's material in `materials`, (n_elements,)."""
        number = np.empty(self.mesh.n_elements, dtype=np.int64)
        for i, name in enumerate(self.materials):
            number[self.mesh.elements(name)] = i
        return number

    @cached_property
    def point_element(self) -> IntArray:
        """Element of each integration point, (n_points,)."""
        return np.concatenate(
            [
                np.repeat(np.arange(b.elements.start, b.elements.stop), b.n_element_points)
                for b in self.blocks
            ]
        )

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """One region per element group with a material."""
        of_point = self.element_material[self.point_element]
        return tuple(
            Region(
                name=name,
                material=material,
                elements=np.flatnonzero(self.element_material == i),
                points=np.flatnonzero(of_point == i),
            )
            for i, (name, material) in enumerate(self.materials.items())
        )

    def volumes(self, block: ElementBlock) -> FloatArray:
        """Volume of each integration point of a block, (ne, np); negative where inverted."""
        return self._volumes(block, block.tables)

    def mass_volumes(self, block: ElementBlock) -> FloatArray:
        """Volume of each point of the mass rule of a block, (ne, n_mass_points)."""
        return self._volumes(block, block.mass_tables)

    def _volumes(self, block: ElementBlock, tables: tuple[FloatArray, ...]) -> FloatArray:
        volumes: FloatArray = point_volumes(block.cells, self.coordinates, tables, block.kinematics)
        return volumes

    def strains(self, u: FloatArray) -> FloatArray:
        """Strains of the elements' own kinematics at the integration points.

        Parameters
        ----------
        u : (ndof,)

        Returns
        -------
        strains : (n_points, 4)
            In plane stress zz is left at zero; recovery gives it.
        """
        check_shape("u", u, (self.n_dofs,))
        u = np.ascontiguousarray(u, dtype=np.float64)
        strains = np.empty((self.n_points, 4))
        for block in self.blocks:
            strains[block.points] = point_strains(
                block.cells,
                self.coordinates,
                block.tables,
                block.size,
                block.point_size,
                block.kinematics,
                u,
            ).reshape(-1, 4)
        return strains

    def elasticities(self) -> FloatArray:
        """D of each material, (n_materials, 4, 4)."""
        return self._per_material([m.elasticity(self.hypothesis) for m in self.materials.values()])

    def viscosities(self) -> FloatArray:
        """D_v of each material, (n_materials, 4, 4)."""
        return self._per_material([m.viscosity(self.hypothesis) for m in self.materials.values()])

    def densities(self) -> FloatArray:
        """Density of each material, (n_materials,)."""
        return self._per_material([m.density for m in self.materials.values()])

    @staticmethod
    def _per_material(values: list[Any]) -> FloatArray:
        return np.ascontiguousarray(values, dtype=np.float64)

    def __repr__(self) -> str:
        materials = ", ".join(f"{k}: {type(v).__name__}" for k, v in self.materials.items())
        return (
            f"Solid({self.n_nodes} nodes, {self.mesh.n_elements} elements, {self.hypothesis}, "
            f"quad={self.quad!r}, {materials})"
        )


def check_shape(name: str, array: ArrayLike, shape: tuple[int, ...]) -> None:
    """Raise `InputError` unless the array has that shape."""
    if np.shape(array) != shape:
        raise InputError(f"{name} has shape {np.shape(array)}, expected {shape}")
