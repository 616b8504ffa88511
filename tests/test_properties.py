"""Properties that hold for whatever is given: friction problems, lines of candidates, obstacles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fecontact.contact.obstacles import Polyline
from fecontact.contact.weights import line_weights
from fecontact.errors import NotConverged
from fecontact.solvers import FrictionProblem, Options, solve
from fecontact.typing import FloatArray
from tests.random_problems import KINDS, LIMIT, figures, hunt, random_problem

# the same examples in every run of the default suite; the slow tests look further
QUICK = settings(max_examples=60, deadline=None, derandomize=True)


# friction problems


def test_the_solver_never_fails_in_silence() -> None:
    tally = hunt(500)
    assert tally.silent == []
    assert tally.outcomes["solved"] >= 450
    assert tally.outcomes.total() == 500


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_ten_thousand_problems_without_a_silent_failure(seed: int) -> None:
    tally = hunt(10_000, seed)
    assert tally.silent == []
    assert tally.outcomes["solved"] >= 9000
    print(dict(tally.outcomes))


@pytest.mark.parametrize("kind", ["well conditioned", "scaled", "uneven", "unsymmetric"])
@pytest.mark.parametrize("solver", ["hybrid", "nsgs", "newton"])
def test_problems_that_have_a_solution_are_solved(kind: str, solver: str) -> None:
    """With a margin of uniqueness at every contact nothing is left unsolved."""
    rng = np.random.default_rng(11)
    solved = 0
    for _ in range(20):
        problem = random_problem(rng, kind)
        if not problem.non_unique.any():
            try:
                found = solve(problem, None, Options(solver=solver))
            except NotConverged:
                continue
            solved += 1
            assert figures(problem, found.r).worst <= LIMIT
    assert solved >= 14


magnitudes = st.floats(-12.0, 12.0)
parts = st.floats(-1.0, 1.0).map(lambda x: round(x, 12))


@QUICK
@given(
    angle=st.floats(0.0, np.pi),
    high=magnitudes,
    ratio=st.floats(-10.0, 0.0),
    q=st.tuples(parts, parts),
    speed=magnitudes,
    mu=st.floats(0.0, 3.0),
    solver=st.sampled_from(["hybrid", "nsgs", "newton"]),
)
def test_one_contact_of_any_size_obeys_or_is_reported(
    angle: float,
    high: float,
    ratio: float,
    q: tuple[float, float],
    speed: float,
    mu: float,
    solver: str,
) -> None:
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    W = 10.0**high * (turn * [1.0, 10.0**ratio]) @ turn.T
    problem = FrictionProblem(0.5 * (W + W.T), 10.0**speed * np.array(q), np.array([mu]))
    try:
        found = solve(problem, None, Options(solver=solver))
    except NotConverged:
        found = None
    if found is not None:
        assert figures(problem, found.r).worst <= LIMIT
    else:
        # one contact with a unique solution has a closed form, which all but Newton alone use
        assert solver == "newton" or problem.non_unique.any() or ratio < -8.0


@QUICK
@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(KINDS),
    force=st.integers(-9, 9),
    speed=st.integers(-9, 9),
)
def test_units_change_nothing(seed: int, kind: str, force: int, speed: int) -> None:
    """Powers of two in the place of units: the same bits, scaled."""
    problem = random_problem(np.random.default_rng(seed), kind)
    a, b = 2.0 ** (3 * force), 2.0 ** (3 * speed)
    W = np.asarray(problem.W)
    other = FrictionProblem(
        W * (b / a),
        problem.q * b,
        problem.mu,
        problem.dim,
        law=problem.law,
        threshold=problem.thresholds * a,
    )
    options = Options(max_iterations=300)
    words = []
    for one in (problem, other):
        try:
            words.append((True, solve(one, None, options).r))
        except NotConverged as error:
            words.append((False, error.best.r))
    assert words[0][0] == words[1][0]
    if words[0][0]:
        size = np.abs(words[0][1]).max(initial=0.0)
        np.testing.assert_allclose(words[1][1] / a, words[0][1], rtol=0.0, atol=1e-7 * size)


# weighted reactions on any line


@QUICK
@given(
    steps=st.lists(st.tuples(st.floats(1e-3, 10.0), st.floats(-1.0, 1.0)), min_size=1, max_size=12),
    closed=st.booleans(),
    axisymmetric=st.booleans(),
    data=st.data(),
)
def test_weights_are_not_negative_and_sum_to_one(
    steps: list[tuple[float, float]], closed: bool, axisymmetric: bool, data: st.DataObject
) -> None:
    lengths, turns = np.array(steps).T
    angle = np.cumsum(turns)
    moves = lengths[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    nodes = np.vstack([[0.0, 0.0], np.cumsum(moves, axis=0)])
    nodes[:, 0] += 1.0 - nodes[:, 0].min()
    n = len(nodes)
    chain = np.arange(n)
    if closed and n > 2:
        chain = np.append(chain, 0)
    candidates = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n))))
    found = line_weights(nodes, [chain], candidates, axisymmetric=axisymmetric)
    P = found.P.toarray()
    assert P.min() >= 0.0
    np.testing.assert_allclose(P.sum(axis=0), 1.0, rtol=1e-12)
    assert found.support.min() > 0.0
    if len(candidates) == n:
        edges = nodes[chain]
        length = np.linalg.norm(np.diff(edges, axis=0), axis=1)
        radius = 2.0 * np.pi * 0.5 * (edges[1:, 0] + edges[:-1, 0]) if axisymmetric else 1.0
        # the supports share the line among themselves
        np.testing.assert_allclose(found.support.sum(), (length * radius).sum(), rtol=1e-12)
        # a constant density gives constant tractions: forces of a linear field on each node
        np.testing.assert_allclose((P @ found.support).sum(), found.support.sum(), rtol=1e-12)


# obstacles


def _inside(points: FloatArray, corners: FloatArray) -> FloatArray:
    """Where points are inside a polygon, by the crossings of a ray."""
    a, b = corners, np.roll(corners, -1, axis=0)
    x, y = points[:, None, 0], points[:, None, 1]
    spans = (a[:, 1] > y) != (b[:, 1] > y)
    at = a[:, 0] + (y - a[:, 1]) * (b[:, 0] - a[:, 0]) / np.where(spans, b[:, 1] - a[:, 1], 1.0)
    return np.asarray((spans & (x < at)).sum(axis=1) % 2 == 1)


@QUICK
@given(
    radii=st.lists(st.floats(0.3, 2.0), min_size=3, max_size=12),
    seed=st.integers(0, 2**32),
    scale=st.floats(-6.0, 6.0),
)
def test_gaps_of_random_polygons_are_distances(radii: list[float], seed: int, scale: float) -> None:
    """Against all edges of the polygon, and with the side told by the crossings of a ray."""
    size = 10.0**scale
    angle = 2.0 * np.pi * np.arange(len(radii)) / len(radii)
    corners = size * np.array(radii)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    # the obstacle is on the right as one walks: clockwise
    obstacle = Polyline(points=corners[::-1].tolist(), closed=True)
    points = size * np.random.default_rng(seed).uniform(-2.5, 2.5, size=(60, 2))
    a, b = corners, np.roll(corners, -1, axis=0)
    along = b - a
    s = np.clip(np.einsum("pek,ek->pe", points[:, None] - a, along) / (along**2).sum(1), 0.0, 1.0)
    foot = a + s[:, :, None] * along
    distance = np.linalg.norm(points[:, None] - foot, axis=2).min(axis=1)
    sign = np.where(_inside(points, corners), -1.0, 1.0)
    found = obstacle.project(points, 0.0)
    np.testing.assert_allclose(found.gap, sign * distance, rtol=0.0, atol=1e-9 * size)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, rtol=1e-9)
    outside = sign > 0.0
    back = points - found.gap[:, None] * found.normal
    np.testing.assert_allclose(back[outside], found.foot[outside], rtol=0.0, atol=1e-9 * size)
