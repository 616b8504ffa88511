"""Quadrature rules on the reference elements.

The reference triangle has the corners (0, 0), (1, 0), (0, 1) and weights that sum to 1/2; the
reference square is [-1, 1]^2 and its weights sum to 4; the reference edge is [0, 1] and its weights
sum to 1.
"""

from __future__ import annotations

import numpy as np

from fecontact.typing import FloatArray


def triangle_rule(degree: int) -> tuple[FloatArray, FloatArray]:
    """Symmetric rule on the reference triangle, exact up to `degree` (at most 4).

    Returns
    -------
    points : (k, 2)
    weights : (k,)
    """
    if degree <= 1:
        return np.full((1, 2), 1.0 / 3.0), np.array([0.5])
    if degree == 2:
        return np.array([[1.0, 1.0], [4.0, 1.0], [1.0, 4.0]]) / 6.0, np.full(3, 1.0 / 6.0)
    if degree <= 4:
        # two orbits of three points, in radicals
        root = np.sqrt(38.0 - 44.0 * np.sqrt(0.4))
        spread = np.sqrt(213125.0 - 53320.0 * np.sqrt(10.0))
        points, weights = [], []
        for sign in (1.0, -1.0):
            a = (8.0 - np.sqrt(10.0) + sign * root) / 18.0
            points += [[a, a], [1.0 - 2.0 * a, a], [a, 1.0 - 2.0 * a]]
            weights += 3 * [(620.0 + sign * spread) / 7440.0]
        return np.array(points), np.array(weights)
    raise ValueError(f"triangle_rule: degree {degree} is not tabulated (at most 4)")


def quad_rule(n: int) -> tuple[FloatArray, FloatArray]:
    """Gauss rule with n x n points on the square, exact to degree 2n - 1 in each variable.

    Points are listed like the corners of Q4 when n = 2: counter-clockwise from the lower left.

    Returns
    -------
    points : (n*n, 2)
    weights : (n*n,)
    """
    x, w = np.polynomial.legendre.leggauss(n)
    points = np.array([(a, b) for b in x for a in x])
    weights = np.array([a * b for b in w for a in w])
    if n == 2:
        points = points[[0, 1, 3, 2]]
    return points, weights


def edge_rule(n: int = 2) -> tuple[FloatArray, FloatArray]:
    """Gauss rule with n points on [0, 1].

    Returns
    -------
    points : (n,)
    weights : (n,)
    """
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * (x + 1.0), 0.5 * w
