"""Shape functions of the three-node triangle (T3) and the four-node quadrangle (Q4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fecontact.typing import FloatArray

ShapeFunctions = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def triangle_shapes(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """T3: N = (1 - xi - eta, xi, eta).

    Parameters
    ----------
    points : (k, 2)
        Reference coordinates.

    Returns
    -------
    N : (k, 3)
    dN : (k, 3, 2)
        Derivatives with respect to (xi, eta).
    """
    xi, eta = points[:, 0], points[:, 1]
    N = np.stack([1.0 - xi - eta, xi, eta], axis=1)
    dN = np.broadcast_to([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]], (len(points), 3, 2)).copy()
    return N, dN


def quad_shapes(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q4: N_a = (1 + xi_a xi)(1 + eta_a eta)/4, corners counter-clockwise from (-1, -1).

    Parameters
    ----------
    points : (k, 2)
        Reference coordinates.

    Returns
    -------
    N : (k, 4)
    dN : (k, 4, 2)
        Derivatives with respect to (xi, eta).
    """
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    along = 1.0 + corners[:, 0] * points[:, :1]
    across = 1.0 + corners[:, 1] * points[:, 1:]
    N = 0.25 * along * across
    dN = 0.25 * np.stack([corners[:, 0] * across, corners[:, 1] * along], axis=2)
    return N, dN


SHAPES: dict[str, ShapeFunctions] = {"triangle": triangle_shapes, "quad": quad_shapes}
