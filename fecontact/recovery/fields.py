"""Strains and stresses from displacements: at integration points, per element, at nodes.

Values at points are arrays (n_points, ...); point i belongs to element `solid.point_element[i]`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fecontact.body import Solid
from fecontact.errors import InputError
from fecontact.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class IntegrationPoints:
    """Where values at points are.

    Attributes
    ----------
    element : (n_points,)
    position : (n_points, 2)
    volume : (n_points,)
        With the thickness, or over the full turn.
    """

    element: IntArray
    position: FloatArray
    volume: FloatArray


def integration_points(solid: Solid) -> IntegrationPoints:
    """Element, position and volume of every integration point."""
    position = np.empty((solid.n_points, 2))
    volume = np.empty(solid.n_points)
    for block in solid.blocks:
        corners = solid.coordinates[block.cells]
        position[block.points] = np.einsum("pa,eak->epk", block.N, corners).reshape(-1, 2)
        volume[block.points] = solid.volumes(block).ravel()
    return IntegrationPoints(solid.point_element, position, volume)


def strain_at_points(solid: Solid, u: FloatArray) -> FloatArray:
    """Strains (xx, yy, zz, xy) with the engineering shear.

    Parameters
    ----------
    u : (ndof,) or (n_nodes, 2)

    Returns
    -------
    strain : (n_points, 4)
        With B-bar elements the strain that the material sees: in plane strain its zz part vanishes
        on average over each element only.
    """
    strain = solid.strains(_flat(solid, u))
    if solid.hypothesis == "plane_stress":
        for region in solid.regions:
            strain[region.points, 2] = strain[region.points] @ region.material.thickness_strain()
    return strain


def stress_at_points(solid: Solid, u: FloatArray) -> FloatArray:
    """Elastic stresses (xx, yy, zz, xy).

    Parameters
    ----------
    u : (ndof,) or (n_nodes, 2)

    Returns
    -------
    stress : (n_points, 4)
    """
    strain = solid.strains(_flat(solid, u))
    stress = np.empty_like(strain)
    for region, D in zip(solid.regions, solid.elasticities(), strict=True):
        stress[region.points] = strain[region.points] @ D.T
    return stress


def element_average(solid: Solid, values: FloatArray) -> FloatArray:
    """Volume averages over the elements.

    Parameters
    ----------
    values : (n_points, ...)

    Returns
    -------
    averages : (n_elements, ...)
    """
    values = _at_points(solid, values)
    averages = np.empty((solid.mesh.n_elements, *values.shape[1:]))
    for block in solid.blocks:
        weights = solid.volumes(block)
        weights /= weights.sum(axis=1, keepdims=True)
        local = values[block.points].reshape(block.n_elements, block.n_element_points, -1)
        averages[block.elements] = np.einsum("ep,epi->ei", weights, local).reshape(
            block.n_elements, *values.shape[1:]
        )
    return averages


def nodal_average(solid: Solid, values: FloatArray, group: str | None = None) -> FloatArray:
    """Averages at the nodes, weighted by the volumes of the elements around.

    Values at the points of an element are first extended to its nodes: constant on T3, bilinear
    through the 2 x 2 points on Q4.

    Parameters
    ----------
    values : (n_points, ...)
    group
        Element group to stay within, so that nothing is mixed across the interface of two
        materials. All elements by default.

    Returns
    -------
    averages : (n_nodes, ...)
        nan at nodes without an element of the group.
    """
    values = _at_points(solid, values)
    chosen: BoolArray = np.ones(solid.mesh.n_elements, dtype=np.bool_)
    if group is not None:
        chosen[:] = False
        chosen[solid.mesh.elements(group)] = True
    n = solid.n_nodes
    flat = values.reshape(solid.n_points, -1)
    total = np.zeros((n, flat.shape[1]))
    weight = np.zeros(n)
    for block in solid.blocks:
        volume = solid.volumes(block).sum(axis=1) * chosen[block.elements]
        cells = block.cells.ravel()
        weight += np.bincount(cells, np.repeat(volume, block.n_element_nodes), minlength=n)
        for i in range(flat.shape[1]):
            local = flat[block.points, i].reshape(block.n_elements, block.n_element_points)
            corner = (volume[:, None] * local) @ block.extrapolation.T
            total[:, i] += np.bincount(cells, corner.ravel(), minlength=n)
    touched = weight > 0.0
    averages = np.full_like(total, np.nan)
    averages[touched] = total[touched] / weight[touched, None]
    return averages.reshape(n, *values.shape[1:])


def _flat(solid: Solid, u: FloatArray) -> FloatArray:
    """The vector of unknowns of a displacement given either way."""
    u = np.asarray(u, dtype=np.float64)
    if u.shape not in ((solid.n_dofs,), (solid.n_nodes, 2)):
        raise InputError(
            f"displacement has shape {u.shape}, expected ({solid.n_dofs},) or ({solid.n_nodes}, 2)"
        )
    return u.ravel()


def _at_points(solid: Solid, values: FloatArray) -> FloatArray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 0 or len(values) != solid.n_points:
        raise InputError(
            f"values have shape {values.shape}, expected ({solid.n_points}, ...): one row per "
            "integration point"
        )
    return values
