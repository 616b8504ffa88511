"""Projection of candidates on antagonist edges: the rule at edges, corners and free ends.

A foot of a point on the surface is a local closest point of the polyline:

- on an edge, where the point lies straight before or behind it; N is the edge's outward normal;
- at a vertex, where the point lies beyond the ends of both edges that meet there. At a convex
  corner such a point is outside and N points from the vertex to it; at a concave corner it is
  inside and N points from it to the vertex. N thus turns from one edge's normal to the other's as
  the point goes round; at the vertex itself it is the bisector.
- A surface ends at a free end: up to a small part of the edge beyond it the edge goes on straight,
  farther away there is no foot.

A foot counts when its edge faces the candidate (the outward normals of both oppose each other),
when the gap is at most the alert distance, and when a penetration is within the edge's limit. Of
the feet that count the nearest is taken, at equal distance the one on the edge whose first node has
the smallest number. The gap is then the signed distance: it is continuous as a candidate slides
from edge to edge, and so is the reaction, whose direction turns at a corner by the angle of the
corner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from fecontact.contact.search import PairList
from fecontact.contact.surface import Surface
from fecontact.typing import BoolArray, FloatArray, IntArray

FACING = -0.1
"""Largest cosine between the normals of a candidate and of an edge that face each other."""

END = 0.05
"""Part of its length by which an edge goes on straight beyond a free end."""


@dataclass(frozen=True)
class Feet:
    """Projections of points.

    Attributes
    ----------
    edge : IntArray (n,)
        Antagonist edge, -1 where there is none.
    place : FloatArray (n,)
        Place of the foot on the edge, from 0 at its first node to 1.
    gap : FloatArray (n,)
        Signed distance, inf where there is no edge.
    normal : FloatArray (n, 2)
        N, from the surface to the free side.
    """

    edge: IntArray
    place: FloatArray
    gap: FloatArray
    normal: FloatArray

    @property
    def found(self) -> BoolArray:
        return np.asarray(self.edge >= 0)


def project(
    points: FloatArray,
    normals: FloatArray,
    positions: FloatArray,
    surface: Surface,
    pairs: PairList,
    alert: FloatArray,
    reach: FloatArray,
) -> Feet:
    """Project points on a surface.

    Parameters
    ----------
    points, normals : (n, 2)
        Candidates and their outward normals; one without a normal (zero) faces every edge.
    positions : (n_nodes, 2)
        Of the nodes of the surface.
    pairs
        Which edges to look at for each point.
    alert : (n,), reach : (ne,)
        A gap counts up to the larger of the point's alert and the edge's reach.
    """
    n = len(points)
    feet = Feet(np.full(n, -1), np.zeros(n), np.full(n, np.inf), np.zeros((n, 2)))
    _project(
        np.ascontiguousarray(points),
        normals,
        positions[surface.edges],
        surface.previous,
        surface.following,
        surface.limit,
        pairs.start,
        pairs.edges,
        alert,
        reach,
        feet.edge,
        feet.place,
        feet.gap,
        feet.normal,
    )
    return feet


@njit(cache=True)
def _along(ends, e):  # type: ignore[no-untyped-def]
    tx, ty = ends[e, 1, 0] - ends[e, 0, 0], ends[e, 1, 1] - ends[e, 0, 1]
    length = np.sqrt(tx * tx + ty * ty)
    return tx / length, ty / length, length


@njit(cache=True)
def _project(  # type: ignore[no-untyped-def]
    points,
    normals,
    ends,
    previous,
    following,
    limit,
    start,
    listed,
    alert,
    reach,
    edge,
    place,
    gap,
    normal,
):
    for i in range(len(points)):
        mx, my = normals[i, 0], normals[i, 1]
        faces_all = mx == 0.0 and my == 0.0
        best = np.inf
        for k in range(start[i], start[i + 1]):
            e = listed[k]
            tx, ty, length = _along(ends, e)
            nx, ny = ty, -tx
            if not faces_all and mx * nx + my * ny > FACING:
                continue
            px, py = points[i, 0] - ends[e, 0, 0], points[i, 1] - ends[e, 0, 1]
            x, g = px * tx + py * ty, px * nx + py * ny
            s = x / length
            other = -1
            if x < 0.0:
                other = previous[e]
            elif x > length:
                other = following[e]
            if x < 0.0 or x > length:
                if other < 0:
                    if s < -END or s > 1.0 + END:
                        continue
                else:
                    # a vertex: the point must be beyond the end of the other edge too
                    ox, oy, olength = _along(ends, other)
                    qx, qy = points[i, 0] - ends[other, 0, 0], points[i, 1] - ends[other, 0, 1]
                    y = qx * ox + qy * oy
                    if (x < 0.0 and y < olength) or (x > length and y > 0.0):
                        continue
                    corner = 0 if x < 0.0 else 1
                    dx = points[i, 0] - ends[e, corner, 0]
                    dy = points[i, 1] - ends[e, corner, 1]
                    nx, ny = _turned(nx, ny, oy, -ox, dx, dy, length, corner == 1)
                    if not faces_all and mx * nx + my * ny > FACING:
                        continue
                    g = dx * nx + dy * ny
                    s = float(corner)
            if g > max(alert[i], reach[e]) or g < -limit[e]:
                continue
            if abs(g) < best:
                best = abs(g)
                edge[i], place[i], gap[i] = e, s, g
                normal[i, 0], normal[i, 1] = nx, ny


@njit(cache=True)
def _turned(nx, ny, ox, oy, dx, dy, length, at_end):  # type: ignore[no-untyped-def]
    """Normal at a vertex for a point at (dx, dy) from it, between n and the other edge's o."""
    # the first and the second of the two normals along the surface
    fx, fy, lx, ly = nx, ny, ox, oy
    if not at_end:
        fx, fy, lx, ly = ox, oy, nx, ny
    bx, by = fx + lx, fy + ly
    size = np.sqrt(bx * bx + by * by)
    if size < 1e-9:
        return nx, ny
    bx, by = bx / size, by / size
    distance = np.sqrt(dx * dx + dy * dy)
    if distance < 1e-12 * length:
        return bx, by
    sign = 1.0 if dx * bx + dy * by >= 0.0 else -1.0
    cx, cy = sign * dx / distance, sign * dy / distance
    # rounding must not carry the normal out of the cone between the two
    turn = fx * ly - fy * lx
    way = 1.0 if turn >= 0.0 else -1.0
    if way * (fx * cy - fy * cx) < 0.0:
        return fx, fy
    if way * (cx * ly - cy * lx) < 0.0:
        return lx, ly
    return cx, cy
