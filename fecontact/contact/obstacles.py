"""Rigid obstacles given by formulas: half plane, disk, polyline; they may move.

An obstacle answers one question: for points in space, how far is its surface, in which direction
does it push, and how does it move. Gaps are positive outside the obstacle, normals point from the
obstacle to the body.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from fecontact.conditions.travel import Travel
from fecontact.errors import ContactError
from fecontact.expressions import Field, Value, as_field
from fecontact.typing import FloatArray

_ORIGIN = np.zeros((1, 2))


@dataclass(frozen=True)
class Projection:
    """What an obstacle answers: gap (n,), normal (n, dim), foot of the projection (n, dim)."""

    gap: FloatArray
    normal: FloatArray
    foot: FloatArray


class Obstacle(Protocol):
    """A rigid surface that may move by a given translation."""

    def project(self, points: FloatArray, t: float) -> Projection:
        """Project points (n, dim) on the obstacle as it stands at time t."""
        ...

    def translation(self, t: float) -> FloatArray:
        """How far it has moved at time t, (dim,)."""
        ...

    def surface_velocity(self, foot: FloatArray, t: float, h: float) -> FloatArray:
        """Mean velocity (n, dim) of the surface between t and t + h at feet given at time t."""
        ...

    def outline(self, box: FloatArray, t: float) -> FloatArray:
        """Points (k, dim) of its surface to draw, near the box [[xmin, ymin], [xmax, ymax]]."""
        ...


@dataclass(frozen=True)
class _Moving:
    velocity: Sequence[Value] = field(default=(0.0, 0.0), kw_only=True)

    @cached_property
    def _velocity(self) -> tuple[Field, ...]:
        fields = tuple(as_field(v, "obstacle.velocity") for v in self.velocity)
        if len(fields) != 2 or any(f.varies_in_space for f in fields):
            raise ContactError(
                f"obstacle.velocity: {list(self.velocity)}; give two numbers, tables or "
                "expressions of t alone"
            )
        return fields

    @cached_property
    def _travels(self) -> tuple[Travel, ...]:
        return tuple(Travel(v, "obstacle.velocity") for v in self._velocity)

    def translation(self, t: float) -> FloatArray:
        """Displacement (dim,) of the obstacle since t = 0."""
        return np.array([travel(t) for travel in self._travels])

    def _mean_velocity(self, t: float, h: float) -> FloatArray:
        return (self.translation(t + h) - self.translation(t)) / h

    def surface_velocity(self, foot: FloatArray, t: float, h: float) -> FloatArray:
        return np.broadcast_to(self._mean_velocity(t, h), foot.shape).copy()


def _vector(values: Sequence[float], what: str) -> FloatArray:
    vector = np.asarray(values, dtype=float)
    if vector.shape != (2,) or not np.isfinite(vector).all():
        raise ContactError(f"{what}: {list(values)} is not a pair of finite numbers")
    return vector


@dataclass(frozen=True)
class HalfPlane(_Moving):
    """The half plane behind a straight line through `point`; `normal` points to the free side."""

    point: Sequence[float] = (0.0, 0.0)
    normal: Sequence[float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        _ = self._velocity
        _vector(self.point, "obstacle.point")
        if not np.linalg.norm(_vector(self.normal, "obstacle.normal")) > 0.0:
            raise ContactError("obstacle.normal: a vector of length zero has no direction")

    @cached_property
    def _unit(self) -> FloatArray:
        normal = np.asarray(self.normal, dtype=float)
        return np.asarray(normal / np.linalg.norm(normal))

    def project(self, points: FloatArray, t: float) -> Projection:
        base = np.asarray(self.point, dtype=float) + self.translation(t)
        gap = (points - base) @ self._unit
        return Projection(
            gap,
            np.broadcast_to(self._unit, points.shape).copy(),
            points - gap[:, None] * self._unit,
        )

    def outline(self, box: FloatArray, t: float) -> FloatArray:
        base = np.asarray(self.point, dtype=float) + self.translation(t)
        along = np.array([self._unit[1], -self._unit[0]])
        corners = np.array([[x, y] for x in box[:, 0] for y in box[:, 1]])
        s = (corners - base) @ along
        return np.asarray(base + np.outer([s.min(), s.max()], along))


@dataclass(frozen=True)
class Disk(_Moving):
    """A disk; the body is outside it, or inside (a hole) with ``inside=True``; it may spin."""

    center: Sequence[float] = (0.0, 0.0)
    radius: float = 1.0
    inside: bool = False
    spin: Value = 0.0

    def __post_init__(self) -> None:
        _ = self._velocity
        if self._spin.varies_in_space:
            raise ContactError(f"obstacle.spin: {self.spin!r} may depend on t only")
        _vector(self.center, "obstacle.center")
        if not (math.isfinite(self.radius) and self.radius > 0.0):
            raise ContactError(f"obstacle.radius: {self.radius} must be a positive number")

    @cached_property
    def _spin(self) -> Field:
        return as_field(self.spin, "obstacle.spin")

    @property
    def spins(self) -> bool:
        """Whether it turns at some time."""
        return bool(self._spin.varies_in_time or self._spin(_ORIGIN, 0.0)[0] != 0.0)

    def _center(self, t: float) -> FloatArray:
        return np.asarray(self.center, dtype=float) + self.translation(t)

    def project(self, points: FloatArray, t: float) -> Projection:
        arm = points - self._center(t)
        distance = np.linalg.norm(arm, axis=1)
        # a point at the very centre has no nearest point: any direction will do
        outward = np.where(distance[:, None] > 0.0, arm, [0.0, 1.0])
        outward /= np.where(distance > 0.0, distance, 1.0)[:, None]
        sign = -1.0 if self.inside else 1.0
        return Projection(
            sign * (distance - self.radius),
            sign * outward,
            self._center(t) + self.radius * outward,
        )

    def surface_velocity(self, foot: FloatArray, t: float, h: float) -> FloatArray:
        middle = t + 0.5 * h
        arm = foot - self._center(t)
        turning = self._spin(_ORIGIN, middle)[0] * np.column_stack([-arm[:, 1], arm[:, 0]])
        return np.asarray(self._mean_velocity(t, h) + turning)

    def outline(self, box: FloatArray, t: float) -> FloatArray:
        angle = np.linspace(0.0, 2.0 * np.pi, 181)
        return np.asarray(
            self._center(t) + self.radius * np.column_stack([np.cos(angle), np.sin(angle)])
        )


@dataclass(frozen=True)
class Polyline(_Moving):
    """A line through `points`: obstacle on the right as one walks along it, body on the left.

    An open line goes on straight beyond both ends. Where a corner is the nearest point, before
    one that points towards the body or behind one that points away from it, the normal turns
    through the cone between the two edges; elsewhere the nearer edge counts.
    """

    points: Sequence[Sequence[float]] = ()
    closed: bool = False

    def __post_init__(self) -> None:
        _ = self._velocity
        vertices = np.asarray(self.points, dtype=float)
        if vertices.ndim != 2 or vertices.shape[1] != 2 or len(vertices) < 2 + self.closed:
            raise ContactError(
                f"obstacle.points: {len(self.points)} given; at least {2 + self.closed} pairs "
                "are needed"
            )
        if not np.isfinite(vertices).all():
            raise ContactError("obstacle.points: a coordinate is not finite")
        ends = np.roll(vertices, -1, axis=0) if self.closed else vertices[1:]
        lengths = np.linalg.norm(ends - vertices[: len(ends)], axis=1)
        if (lengths == 0.0).any():
            k = int(np.argmin(lengths))
            raise ContactError(f"obstacle.points: points {k} and {k + 1} coincide")

    @cached_property
    def _segments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Origins, unit tangents and lengths of the edges."""
        vertices = np.asarray(self.points, dtype=float)
        if self.closed:
            vertices = np.vstack([vertices, vertices[:1]])
        steps = np.diff(vertices, axis=0)
        length = np.linalg.norm(steps, axis=1)
        return vertices[:-1], steps / length[:, None], length

    def project(self, points: FloatArray, t: float) -> Projection:
        origin, tangent, length = self._segments
        shift = self.translation(t)
        local = points - shift
        m = len(length)
        arm = local[:, None, :] - origin[None, :, :]
        s = np.einsum("nmk,mk->nm", arm, tangent)
        low, high = np.zeros(m), length.copy()
        if not self.closed:
            low[0], high[-1] = -np.inf, np.inf
        clipped = np.clip(s, low, high)
        foot = origin[None] + clipped[:, :, None] * tangent[None]
        distance = np.linalg.norm(local[:, None, :] - foot, axis=2)
        nearest = np.argmin(distance, axis=1)
        rows = np.arange(len(local))
        foot, distance = foot[rows, nearest], distance[rows, nearest]
        left = np.column_stack([-tangent[:, 1], tangent[:, 0]])
        normal = left[nearest]
        # at a vertex both edges have a say on which side the point lies
        before, after = (nearest - 1) % m, (nearest + 1) % m
        at_start = clipped[rows, nearest] <= low[nearest]
        at_end = clipped[rows, nearest] >= high[nearest]
        side_normal = normal + np.where(
            at_start[:, None], left[before], np.where(at_end[:, None], left[after], normal)
        )
        delta = local - foot
        side = np.where(np.einsum("nk,nk->n", delta, side_normal) >= 0.0, 1.0, -1.0)
        corner = (at_start | at_end) & (distance > 1e-12 * length[nearest])
        # from the foot towards the point outside, from the point towards the foot behind
        signed = np.where(corner, side * distance, 1.0)
        normal = np.where(corner[:, None], delta / signed[:, None], normal)
        return Projection(side * distance, normal, foot + shift)

    def outline(self, box: FloatArray, t: float) -> FloatArray:
        origin, tangent, length = self._segments
        ends = origin[-1] + length[-1] * tangent[-1]
        return np.asarray(np.vstack([origin, ends]) + self.translation(t))
