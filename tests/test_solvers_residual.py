"""The natural map and the margins: zero on the law, no dimension, not fooled by fast slip."""

from __future__ import annotations

import numpy as np
import pytest

from fecontact.errors import NotConverged
from fecontact.solvers import (
    BILATERAL,
    TRESCA,
    FrictionProblem,
    Margins,
    Options,
    certificate,
    natural_map,
    solve,
    violations,
)
from tests.friction_problems import random_problem


@pytest.mark.parametrize("dim", [2, 3])
def test_natural_map_is_the_projection_formula(dim):
    rng = np.random.default_rng(3)
    problem = random_problem(rng, dim, 40)
    r = rng.normal(size=problem.q.size)
    r[::dim] += 1.0
    u = problem.velocity(r)
    F = natural_map(problem, r).reshape(-1, dim)
    for c in range(problem.n_contacts):
        rc, uc = r.reshape(-1, dim)[c], u.reshape(-1, dim)[c].copy()
        mu, w = problem.mu[c], problem.W[dim * c : dim * c + dim, dim * c : dim * c + dim]
        uc[0] += mu * np.linalg.norm(uc[1:])
        z = rc - dim / np.trace(w) * uc
        size = np.linalg.norm(z[1:])
        if mu * size <= -z[0]:
            p = np.zeros(dim)
        elif size <= mu * z[0]:
            p = z
        else:
            p = (z[0] + mu * size) / (1 + mu**2) * np.r_[1.0, mu * z[1:] / size]
        np.testing.assert_allclose(F[c], rc - p, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_residual_and_iterates_do_not_depend_on_units(dim):
    rng = np.random.default_rng(4)
    problem = random_problem(rng, dim, 12)
    # powers of two: the scaled computation has the same rounding
    impulse, velocity = 2.0**37, 2.0**-22
    scaled = FrictionProblem(problem.W * velocity / impulse, problem.q * velocity, problem.mu, dim)
    r = rng.normal(size=problem.q.size)
    assert certificate(scaled, impulse * r) == certificate(problem, r)
    for name in ("nsgs", "hybrid", "admm", "extragradient", "proximal", "tresca"):
        options = Options(solver=name, tolerance=1e-9)
        one, other = solve(problem, None, options), solve(scaled, None, options)
        assert other.report.iterations == one.report.iterations
        np.testing.assert_allclose(other.r, impulse * one.r, rtol=1e-12, atol=1e-12 * impulse)
    options = Options(solver="nsgs")
    np.testing.assert_array_equal(
        solve(scaled, None, options).r, impulse * solve(problem, None, options).r
    )


def test_residual_is_zero_for_open_contacts_and_one_for_a_missing_impulse():
    W = np.diag([1.0, 1.0])
    assert certificate(FrictionProblem(W, np.array([1.0, -3.0]), 0.5), np.zeros(2)) == 0.0
    assert certificate(FrictionProblem(W, np.array([-1e-9, 0.0]), 0.5), np.zeros(2)) == 1.0


@pytest.mark.parametrize("dim", [2, 3])
def test_fast_slip_leaves_no_rounding_in_the_residual(dim):
    # slip 1e12 times what the impulse could stop: r = (1, -mu d) is the solution
    W = np.eye(dim)
    q = np.zeros(dim)
    d = np.array([1.0]) if dim == 2 else np.array([0.6, 0.8])
    q[0] = -1.0
    q[1:] = 1e12 * d
    problem = FrictionProblem(W, q, 0.5, dim)
    r = np.r_[1.0, -0.5 * d]
    assert certificate(problem, r) < 1e-15


def test_violations_measure_each_part_of_the_law():
    W = np.eye(2)
    mu = 0.5

    def found(r, u):
        problem = FrictionProblem(W, np.array(u) - np.array(r), mu)
        return violations(problem, np.array(r))

    exact = {"gap": 0.0, "normal": 0.0, "slip": 0.0, "tangential": 0.0}
    assert found([0.0, 0.0], [1.0, 7.0]) == exact
    assert found([1.0, -0.5], [0.0, 2.0]) == exact
    assert found([1.0, 0.4], [0.0, 0.0]) == exact
    assert found([1.0, 0.4], [-0.25, 0.0]) == exact | {"gap": 0.25}
    assert found([1.0, 0.4], [0.125, 0.0]) == exact | {"gap": 0.125}
    assert found([0.125, 0.0], [1.0, 0.0]) == exact | {"normal": 0.125}
    assert found([1.0, 0.75], [0.0, 0.0]) == exact | {"tangential": 0.25}
    assert found([1.0, 0.25], [0.0, 0.125]) == exact | {"slip": 0.125}
    assert found([1.0, -0.25], [0.0, 3.0]) == exact | {"tangential": 0.25}


def test_violations_of_glued_and_tresca_contacts():
    W = np.eye(4)
    r = np.array([-1.0, 3.0, 0.0, 2.0])
    u = np.array([0.25, 0.5, 1.0, -4.0])
    problem = FrictionProblem(
        W, u - r, 0.0, law=np.array([BILATERAL, TRESCA]), threshold=np.array([0.0, 1.5])
    )
    found = violations(problem, r)
    assert found == {"gap": 0.25, "normal": 0.0, "slip": 0.5, "tangential": 0.5}


@pytest.mark.parametrize("name", ["nsgs", "hybrid", "admm", "newton"])
def test_margins_are_a_second_criterion(name):
    problem = random_problem(np.random.default_rng(5), 2, 20)
    loose = Options(solver=name, tolerance=1e-2)
    tight = Options(solver=name, tolerance=1e-2, margins=Margins(gap=1e-9, slip=1e-9))
    assert solve(problem, None, tight).report.margins["gap"] <= 1e-9
    assert solve(problem, None, tight).report.margins["slip"] <= 1e-9
    if name == "nsgs":
        assert solve(problem, None, loose).report.margins["gap"] > 1e-9


def test_margins_that_cannot_be_met_are_an_error():
    problem = random_problem(np.random.default_rng(6), 2, 20)
    options = Options(solver="nsgs", max_iterations=3, tolerance=1.0, margins=Margins(gap=1e-13))
    with pytest.raises(NotConverged, match=r"margins exceeded: gap .* > 1e-13"):
        solve(problem, None, options)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("code", [0, BILATERAL, TRESCA])
def test_the_residual_is_the_natural_map_over_the_impulses(dim, code):
    rng = np.random.default_rng(6)
    plain = random_problem(rng, dim, 15)
    laws = np.full(15, code, dtype=np.int8)
    problem = FrictionProblem(
        plain.W, plain.q, plain.mu, dim, law=laws, threshold=rng.random(15) + 0.1
    )
    for size in (1e-3, 1.0, 1e3):
        r = size * rng.normal(size=problem.q.size)
        F = natural_map(problem, r)
        expected = np.linalg.norm(F) / max(np.linalg.norm(r), np.linalg.norm(r - F))
        assert certificate(problem, r) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["nsgs", "hybrid"])
def test_margins_out_of_reach_take_no_more_iterations_than_allowed(name):
    """Rounds that tighten the tolerance share what was allowed for all of them."""
    problem = random_problem(np.random.default_rng(8), 2, 20)
    free = solve(problem, None, Options(solver=name, tolerance=1e-2)).report.iterations
    allowed = free + 3
    options = Options(
        solver=name, tolerance=1e-2, max_iterations=allowed, margins=Margins(gap=1e-300)
    )
    with pytest.raises(NotConverged) as stopped:
        solve(problem, None, options)
    assert stopped.value.report.iterations <= allowed
