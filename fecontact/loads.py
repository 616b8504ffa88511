"""Load vectors: tractions and pressures on edges, body forces, gravity, point forces.

All functions return a vector (ndof,) of forces: for the given thickness in plane strain and plane
stress, for the full turn in axisymmetry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fecontact.body import Solid
from fecontact.elements import edge_rule
from fecontact.errors import ConditionError
from fecontact.typing import FloatArray, IntArray

Traction = Callable[[FloatArray, FloatArray], ArrayLike] | ArrayLike
Pressure = Callable[[FloatArray], ArrayLike] | ArrayLike
BodyForce = Callable[[FloatArray], ArrayLike] | ArrayLike


def edge_traction(solid: Solid, edges: IntArray, traction: Traction) -> FloatArray:
    """Forces of a traction (force per area) on edges, by two Gauss points per edge.

    Parameters
    ----------
    edges : (ne, 2)
        Node pairs with the body on their left.
    traction
        A vector (2,), one per edge (ne, 2), or a function of points (k, 2) and outward normals
        (k, 2) that returns (k, 2) or (2,). Exact when linear along an edge.

    Returns
    -------
    forces : (ndof,)
    """
    edges = _check_edges(solid, edges)
    if len(edges) == 0:
        return np.zeros(solid.n_dofs)
    x = solid.coordinates[edges]
    along = x[:, 1] - x[:, 0]
    length = np.hypot(along[:, 0], along[:, 1])
    if not np.all(length > 0.0):
        e = int(np.argmin(length))
        raise ConditionError(f"edge {tuple(int(i) for i in edges[e])} has no length")
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / length[:, None]
    places, weights = edge_rule(2)
    N = np.stack([1.0 - places, places], axis=1)
    points = np.einsum("pa,eak->epk", N, x)
    width = 2.0 * np.pi * points[..., 0] if solid.is_axisymmetric else solid.thickness
    area = weights * length[:, None] * width
    shape = points.shape
    if callable(traction):
        normals = np.broadcast_to(normal[:, None, :], shape).reshape(-1, 2)
        given = traction(points.reshape(-1, 2), normals)
        values = _spread(given, (points.size // 2, 2), "edge traction").reshape(shape)
    else:
        values = np.broadcast_to(
            _spread(traction, (len(edges), 2), "edge traction")[:, None], shape
        )
    forces = np.einsum("ep,pa,epk->eak", area, N, values)
    return _gather(solid, edges, forces)


def edge_pressure(solid: Solid, edges: IntArray, pressure: Pressure) -> FloatArray:
    """Forces of a pressure on edges: a traction against the outward normal.

    Parameters
    ----------
    edges : (ne, 2)
        Node pairs with the body on their left.
    pressure
        A number, one per edge (ne,), or a function of points (k, 2) that returns (k,) or a number.
        Positive pushes on the body.

    Returns
    -------
    forces : (ndof,)
    """
    edges = _check_edges(solid, edges)
    if callable(pressure):
        function = pressure
    else:
        per_edge = _spread(pressure, (len(edges),), "edge pressure")

        def function(points: FloatArray) -> FloatArray:
            return np.repeat(per_edge, len(points) // max(len(edges), 1))

    def traction(points: FloatArray, normals: FloatArray) -> FloatArray:
        p = _spread(function(points), (len(points),), "edge pressure")
        return -p[:, None] * normals

    return edge_traction(solid, edges, traction)


def body_force(solid: Solid, force: BodyForce, group: str | None = None) -> FloatArray:
    """Forces of a force per volume.

    Parameters
    ----------
    force
        A vector (2,), one per element (n_elements, 2), or a function of points (k, 2) that returns
        (k, 2) or (2,).
    group
        Element group it acts on; the whole body by default.

    Returns
    -------
    forces : (ndof,)
    """
    forces = np.zeros(solid.n_dofs)
    inside = np.ones(solid.mesh.n_elements)
    if group is not None:
        inside = np.zeros(solid.mesh.n_elements)
        inside[solid.mesh.elements(group)] = 1.0
    per_element = None
    if not callable(force):
        per_element = _spread(force, (solid.mesh.n_elements, 2), "body force")
    for block in solid.blocks:
        volumes = solid.mass_volumes(block)
        volumes *= inside[block.elements, None]
        if per_element is not None:
            values = np.broadcast_to(per_element[block.elements, None], (*volumes.shape, 2))
        elif callable(force):
            points = np.einsum("pa,eak->epk", block.mass_N, solid.coordinates[block.cells])
            given = force(points.reshape(-1, 2))
            values = _spread(given, (points.size // 2, 2), "body force").reshape(points.shape)
        local = np.einsum("ep,pa,epk->eak", volumes, block.mass_N, values, optimize=True)
        forces += _gather(solid, block.cells, local)
    return forces


def gravity(solid: Solid, g: ArrayLike) -> FloatArray:
    """Weight of the body: density times the acceleration g (2,).

    Returns
    -------
    forces : (ndof,)
    """
    acceleration = _spread(g, (2,), "gravity")
    density = solid.densities()[solid.element_material]
    return body_force(solid, density[:, None] * acceleration)


def point_force(solid: Solid, nodes: ArrayLike, force: ArrayLike) -> FloatArray:
    """Forces given at nodes; in axisymmetry the total over the ring.

    Parameters
    ----------
    nodes : (k,) or a number
    force : (2,), the same at each node, or (k, 2)

    Returns
    -------
    forces : (ndof,)
    """
    numbers = np.atleast_1d(np.asarray(nodes, dtype=np.int64))
    wrong = numbers[(numbers < 0) | (numbers >= solid.n_nodes)]
    if wrong.size:
        raise ConditionError(
            f"point force on node {wrong[0]}: the mesh has nodes 0 to {solid.n_nodes - 1}"
        )
    values = _spread(force, (numbers.size, 2), "point force")
    return _gather(solid, numbers[:, None], values[:, None, :])


def _check_edges(solid: Solid, edges: IntArray) -> IntArray:
    edges = np.asarray(edges, dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ConditionError(f"edges have shape {edges.shape}, expected (n_edges, 2)")
    if edges.size and (edges.min() < 0 or edges.max() >= solid.n_nodes):
        raise ConditionError(
            f"edges name nodes {edges.min()} to {edges.max()}, the mesh has nodes 0 to "
            f"{solid.n_nodes - 1}"
        )
    return edges


def _spread(given: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """The given value as a finite array of that shape."""
    values = np.asarray(given, dtype=np.float64)
    short = {shape, shape[-1:] if len(shape) == 2 else ()}
    if values.shape not in short:
        expected = " or ".join(str(s) for s in sorted(short, key=len))
        raise ConditionError(f"{what} has shape {values.shape}, expected {expected}")
    if not np.all(np.isfinite(values)):
        raise ConditionError(f"{what} has values that are not finite")
    return np.broadcast_to(values, shape)


def _gather(solid: Solid, cells: NDArray[np.integer[Any]], local: FloatArray) -> FloatArray:
    """Sum of the contributions (m, nn, 2) at the nodes (m, nn), as (ndof,)."""
    forces = np.empty((solid.n_nodes, 2))
    for k in range(2):
        forces[:, k] = np.bincount(cells.ravel(), local[..., k].ravel(), minlength=solid.n_nodes)
    return forces.ravel()
