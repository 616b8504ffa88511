"""Obstacles that are polygons, against distances by hand: sharp corners, both sides, any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fecontact.contact import Disk, HalfPlane, Polyline
from fecontact.errors import ContactError
from fecontact.typing import BoolArray, FloatArray


def star(seed: int, n: int, size: float) -> FloatArray:
    """Corners of a star-shaped polygon with sharp teeth, clockwise."""
    rng = np.random.default_rng(seed)
    angle = -2.0 * np.pi * (np.arange(n) + 0.6 * rng.random(n)) / n
    radius = size * rng.uniform(0.2, 1.0, n)
    return np.asarray(radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))


def feet(points: FloatArray, corners: FloatArray) -> FloatArray:
    """Nearest points of the outline, by trying every edge."""
    best, found = np.full(len(points), np.inf), np.zeros_like(points)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        part = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        foot = a + part[:, None] * (b - a)
        distance = np.linalg.norm(points - foot, axis=1)
        nearer = distance < best
        best[nearer], found[nearer] = distance[nearer], foot[nearer]
    return found


def inside(points: FloatArray, corners: FloatArray) -> BoolArray:
    """By the number of edges that a ray to the right crosses."""
    odd = np.zeros(len(points), dtype=bool)
    for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        spans = (ay > points[:, 1]) != (by > points[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            x = ax + (points[:, 1] - ay) * (bx - ax) / (by - ay)
        odd ^= spans & (points[:, 0] < x)
    return odd


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 15), size=st.sampled_from([1e-6, 1.0, 1e5]))
def test_a_closed_polygon_tells_signed_distance_and_direction(
    seed: int, n: int, size: float
) -> None:
    corners = star(seed, n, size)
    points = np.random.default_rng(seed + 1).uniform(-1.3 * size, 1.3 * size, (60, 2))
    foot = feet(points, corners)
    distance = np.linalg.norm(points - foot, axis=1)
    sign = np.where(inside(points, corners), -1.0, 1.0)
    answer = Polyline(corners.tolist(), closed=True).project(points, 0.0)
    np.testing.assert_allclose(answer.gap, sign * distance, rtol=1e-9, atol=1e-12 * size)
    np.testing.assert_allclose(answer.foot, foot, rtol=0.0, atol=1e-9 * size)
    off = distance > 1e-9 * size
    away = (points - foot)[off] / (sign * distance)[off, None]
    np.testing.assert_allclose(answer.normal[off], away, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(answer.normal, axis=1), 1.0, rtol=1e-12)


def test_on_a_corner_the_normal_is_that_of_an_edge() -> None:
    square = Polyline([(0, 0), (0, 1), (1, 1), (1, 0)], closed=True)
    answer = square.project(np.array([[1.0, 1.0], [0.0, 0.0]]), 0.0)
    assert answer.gap == pytest.approx([0.0, 0.0], abs=1e-15)
    assert np.isfinite(answer.normal).all()
    assert np.linalg.norm(answer.normal, axis=1) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("points", "closed", "message"),
    [
        ([(0, 0), (1, 0)], True, "at least 3 pairs"),
        ([(0, 0)], False, "at least 2 pairs"),
        ([(0, 0, 0), (1, 0, 0)], False, "pairs"),
        ([(0, 0), (1, 0), (1, 0)], False, "points 1 and 2 coincide"),
        ([(0, 0), (1, 0), (1, 1), (0, 0)], True, "coincide"),
    ],
)
def test_lines_that_are_none_are_refused(
    points: list[tuple[float, ...]], closed: bool, message: str
) -> None:
    with pytest.raises(ContactError, match=message):
        Polyline(points, closed=closed)


def test_two_points_make_an_open_line_and_three_a_closed_one() -> None:
    assert Polyline([(0, 0), (1, 0)]).project(np.array([[5.0, 2.0]]), 0.0).gap == pytest.approx([2])
    triangle = Polyline([(0, 0), (0, 3), (3, 0)], closed=True)
    assert triangle.project(np.array([[1.0, -2.0]]), 0.0).gap == pytest.approx([2.0])


def test_outlines_lie_on_the_surface_and_span_the_box() -> None:
    box, t = np.array([[-1.0, -2.0], [3.0, 4.0]]), 2.0
    for normal in ((0.0, 1.0), (1.0, 1.0), (2.0, -1.0)):
        plane = HalfPlane((0.5, 0.2), normal, velocity=(0.1, -0.3))
        drawn = plane.outline(box, t)
        assert plane.project(drawn, t).gap == pytest.approx(0.0, abs=1e-14)
        along = np.array([normal[1], -normal[0]]) / np.hypot(*normal)
        corners = np.array([[x, y] for x in box[:, 0] for y in box[:, 1]]) @ along
        assert (drawn @ along).min() == pytest.approx(corners.min())
        assert (drawn @ along).max() == pytest.approx(corners.max())
    disk = Disk((1.0, 2.0), 0.5, velocity=(1.0, 0.0))
    assert disk.project(disk.outline(box, t), t).gap == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(disk.outline(box, t), axis=0) == pytest.approx([1.0, 1.0])
    line = Polyline([(0, 0), (1, 0), (1, 2)], velocity=(0.5, 0.0))
    assert line.outline(box, t) == pytest.approx(np.array([[1, 0], [2, 0], [2, 2]], dtype=float))
