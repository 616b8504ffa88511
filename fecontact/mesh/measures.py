"""Areas, centres and shape quality of elements, all elements at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fecontact.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from fecontact.mesh.core import Mesh


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Third component of the vector product of plane vectors (..., 2)."""
    product: FloatArray = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def block_areas(points: FloatArray) -> FloatArray:
    """Signed areas (n,) of polygons with corners (n, 3 or 4, 2)."""
    # differences first: coordinates far from the origin would cancel badly
    if points.shape[1] == 3:
        return 0.5 * cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    return 0.5 * cross(points[:, 2] - points[:, 0], points[:, 3] - points[:, 1])


def corner_products(points: FloatArray) -> FloatArray:
    """Vector product (n, k) of the two sides that meet at each corner, in order of travel."""
    sides = np.roll(points, -1, axis=1) - points
    return cross(np.roll(sides, 1, axis=1), sides)


def areas(nodes: FloatArray, cells: Mapping[str, IntArray]) -> FloatArray:
    """Signed areas (n_elements,)."""
    return np.concatenate([block_areas(nodes[block]) for block in cells.values()])


def centroids(nodes: FloatArray, cells: Mapping[str, IntArray]) -> FloatArray:
    """Centres of gravity (n_elements, 2) of elements that are not degenerate."""
    centres = []
    for block in cells.values():
        points = nodes[block]
        if points.shape[1] == 3:
            centres.append(points.mean(axis=1))
            continue
        # a quad is two triangles, weighted by their signed areas
        first, second = points[:, [0, 1, 2]], points[:, [0, 2, 3]]
        a, b = block_areas(first)[:, None], block_areas(second)[:, None]
        centres.append((a * first.mean(axis=1) + b * second.mean(axis=1)) / (a + b))
    return np.concatenate(centres)


@dataclass(frozen=True, eq=False)
class Quality:
    """Shape of every element, (n_elements,) each.

    Attributes
    ----------
    min_angle, max_angle
        Smallest and largest corner angle in degrees (60 and 60, or 90 and 90, at best).
    aspect
        Longest side over shortest side, 1 at best.
    shape
        1 for an equilateral triangle or a square, 0 for a degenerate element: for triangles
        4 sqrt(3) area / (sum of squared sides), for quads the least over the corners of
        2 |vector product of the sides| / (sum of their squares).
    """

    min_angle: FloatArray
    max_angle: FloatArray
    aspect: FloatArray
    shape: FloatArray

    def __repr__(self) -> str:
        return (
            f"Quality of {len(self.shape)} elements: angles from {self.min_angle.min():.1f} to "
            f"{self.max_angle.max():.1f} degrees, aspect up to {self.aspect.max():.3g}, "
            f"shape from {self.shape.min():.3f}"
        )


def quality(mesh: Mesh) -> Quality:
    """Angles, aspect ratio and shape measure of every element of a mesh."""
    collected: list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]] = []
    for block in mesh.cells.values():
        points = mesh.nodes[block]
        ahead = np.roll(points, -1, axis=1) - points
        back = np.roll(points, 1, axis=1) - points
        turn = cross(ahead, back)
        angles = np.degrees(np.arctan2(turn, (ahead * back).sum(axis=2)) % (2 * np.pi))
        squares = (ahead**2).sum(axis=2)
        if points.shape[1] == 3:
            shape = 4 * np.sqrt(3) * block_areas(points) / squares.sum(axis=1)
        else:
            shape = (2 * turn / (squares + np.roll(squares, 1, axis=1))).min(axis=1)
        lengths = np.sqrt(squares)
        aspect = lengths.max(axis=1) / lengths.min(axis=1)
        collected.append((angles.min(axis=1), angles.max(axis=1), aspect, shape))
    return Quality(*(np.concatenate(part) for part in zip(*collected, strict=True)))
