"""One contact: closed forms in 2D, the plane of symmetry and the law itself in 3D, all laws."""

from __future__ import annotations

import numpy as np
import pytest

from fecontact.errors import NotConverged
from fecontact.solvers import BILATERAL, TRESCA, FrictionProblem, Options, certificate, solve
from fecontact.solvers.enumeration import all_solutions
from fecontact.solvers.local2d import bilateral_2d, coulomb_2d, tresca_2d
from fecontact.solvers.local3d import bilateral_3d, coulomb_3d, prepare_3d, tresca_3d

NSGS = Options(solver="nsgs", tolerance=1e-13)


def one(w, b, mu, **laws):
    b = np.asarray(b, float)
    return solve(FrictionProblem(np.asarray(w, float), b, mu, b.size, **laws), None, NSGS)


def test_closed_forms_by_state():
    w = [[2.0, 0.5], [0.5, 1.0]]
    np.testing.assert_array_equal(one(w, [0.1, 5.0], 0.3).r, [0.0, 0.0])
    np.testing.assert_array_equal(one(w, [0.0, 5.0], 0.3).r, [0.0, 0.0])
    stick = one(w, [-1.0, -0.3], 0.3)
    np.testing.assert_allclose(stick.r, -np.linalg.solve(w, [-1.0, -0.3]), rtol=1e-14)
    np.testing.assert_allclose(stick.u, 0.0, atol=1e-15)
    for s in (1.0, -1.0):
        slide = one(w, [-1.0, 3.0 * s], 0.3)
        rN = 1.0 / (2.0 - s * 0.3 * 0.5)
        np.testing.assert_allclose(slide.r, [rN, -s * 0.3 * rN], rtol=1e-14)
        assert s * slide.u[1] > 0.0
        assert abs(slide.u[0]) < 1e-15
    np.testing.assert_array_equal(one(w, [-1.0, 3.0], 0.0).r, [0.5, 0.0])


def test_just_at_the_bound_of_friction():
    # r = -b exactly on the cone: stick and slide are the same point
    np.testing.assert_allclose(one(np.eye(2), [-1.0, 0.5], 0.5).r, [1.0, -0.5], rtol=1e-15)


@pytest.mark.parametrize("bT", [-2.0, 0.0, 3.0])
def test_no_tangential_compliance(bT):
    # u_T is given: the impulse opposes it with all its force, or nothing asks for one
    r = one([[2.0, 0.0], [0.0, 0.0]], [-1.0, bT], 0.4).r
    np.testing.assert_allclose(r, [0.5, -0.2 * np.sign(bT)], atol=1e-15)


@pytest.mark.parametrize("dim", [2, 3])
def test_singular_compliance_still_satisfies_the_law(dim):
    rng = np.random.default_rng(0)
    for _ in range(200):
        h = rng.normal(size=dim)
        h[0] = abs(h[0]) + 0.5
        w = np.outer(h, h)
        mu = 0.9 * h[0] / np.linalg.norm(h[1:]) * rng.random()
        b = rng.normal(size=dim)
        problem = FrictionProblem(w, b, mu, dim)
        assert certificate(problem, solve(problem, None, NSGS).r) < 1e-12


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_two_dimensions_against_enumeration_for_any_mu(scale):
    rng = np.random.default_rng(1)
    several = 0
    for _ in range(300):
        A = rng.normal(size=(2, 2))
        w = A @ A.T + 1e-3 * np.eye(2)
        b = rng.normal(size=2)
        mu = scale * rng.random()
        problem = FrictionProblem(w, b, mu)
        found = all_solutions(problem, 1e-9)
        assert found  # w is positive definite
        if b[0] < 0.0:
            assert len(found) == 1
        if len(found) > 1:
            several += 1
            assert problem.non_unique[0]
        r = np.array(coulomb_2d(w[0, 0], w[0, 1], w[1, 1], b[0], b[1], mu))
        # the rule: open where that is a solution
        expected = np.zeros(2) if b[0] >= 0.0 else found[0]
        np.testing.assert_allclose(r, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert (several > 0) == (scale >= 1.0)


def test_a_contact_without_solution_is_reported():
    # closing at a place that cannot move
    problem = FrictionProblem(np.diag([0.0, 1.0]), np.array([-1.0, 0.0]), 0.3)
    for name in ("nsgs", "newton", "hybrid", "admm"):
        with pytest.raises(NotConverged):
            solve(problem, None, Options(solver=name, max_iterations=50))


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.7, 3.0, 100.0])
def test_three_dimensions_satisfy_the_law_for_any_mu(mu):
    rng = np.random.default_rng(2)
    kinds = {"open": 0, "stick": 0, "slide": 0}
    for _ in range(300):
        A = rng.normal(size=(3, 3))
        w = A @ A.T + 10.0 ** rng.uniform(-6, 0) * np.eye(3)
        b = rng.normal(size=3)
        blocks = w[None]
        r = np.array(coulomb_3d(blocks, prepare_3d(blocks), 0, *b, mu))
        u = b + w @ r
        size = np.linalg.norm(r[1:])
        if b[0] >= 0.0:
            kinds["open"] += 1
            assert not r.any()
            continue
        tiny = 1e-9 * (np.abs(w) @ np.abs(r) + np.abs(b)).max()
        assert r[0] > 0.0
        assert abs(u[0]) < tiny
        if size < mu * r[0] * (1 - 1e-9):
            kinds["stick"] += 1
            assert np.linalg.norm(u) < tiny
        else:
            kinds["slide"] += 1
            assert size <= mu * r[0] * (1 + 1e-12)
            assert u[1:] @ r[1:] <= 0.0
            assert abs(u[1] * r[2] - u[2] * r[1]) <= tiny * size
    assert kinds["open"] > 0
    assert kinds["slide"] > 0 or mu > 50
    assert kinds["stick"] > 0 or mu < 0.5


def test_a_block_that_is_no_compliance_gets_no_impulse():
    """Not positive definite: pushing along the bound would close the contact further."""
    w = np.array([[0.05, 0.7, -0.5], [0.7, -0.4, -0.2], [-0.5, -0.2, 0.6]])
    blocks = w[None]
    assert coulomb_3d(blocks, prepare_3d(blocks), 0, -1.3, -0.75, 1.7, 0.11) == (0.0, 0.0, 0.0)


def test_three_dimensions_reduce_to_two_in_a_plane():
    w2 = np.array([[2.0, 0.5], [0.5, 1.0]])
    angle = 0.7
    t = np.array([np.cos(angle), np.sin(angle)])
    # compliance of the plane along t, another one across it
    across = np.array([-t[1], t[0]])
    w3 = np.zeros((3, 3))
    w3[0, 0] = 2.0
    w3[0, 1:] = w3[1:, 0] = 0.5 * t
    w3[1:, 1:] = np.outer(t, t) + 3.0 * np.outer(across, across)
    for b in ([-1.0, 3.0], [-1.0, -3.0], [-1.0, -0.3], [0.2, 1.0]):
        r2 = one(w2, b, 0.3).r
        r3 = one(w3, np.r_[b[0], b[1] * t], 0.3).r
        np.testing.assert_allclose(r3, np.r_[r2[0], r2[1] * t], atol=1e-14)


@pytest.mark.parametrize("dim", [2, 3])
def test_glued_contact_has_no_velocity(dim):
    A = np.random.default_rng(3).normal(size=(dim, dim))
    w = A @ A.T
    b = np.arange(1.0, dim + 1)
    solution = one(w, b, 0.0, law=np.array([BILATERAL]))
    np.testing.assert_allclose(solution.r, -np.linalg.solve(w, b), rtol=1e-10)


@pytest.mark.parametrize("dim", [2, 3])
def test_tresca_contact_is_the_minimum_of_its_energy(dim):
    rng = np.random.default_rng(4)
    for _ in range(50):
        A = rng.normal(size=(dim, dim))
        w = A @ A.T + 0.05 * np.eye(dim)
        b = rng.normal(size=dim)
        bound = 0.3
        r = one(w, b, 0.0, law=np.array([TRESCA]), threshold=np.array([bound])).r
        assert r[0] >= 0.0
        assert np.linalg.norm(r[1:]) <= bound * (1 + 1e-12)
        energy = 0.5 * r @ w @ r + b @ r
        trial = r + 10.0 ** rng.uniform(-6, 0.5, size=(400, 1)) * rng.normal(size=(400, dim))
        trial[:, 0] = np.maximum(trial[:, 0], 0.0)
        size = np.linalg.norm(trial[:, 1:], axis=1)
        trial[:, 1:] *= np.minimum(1.0, bound / np.maximum(size, 1e-300))[:, None]
        energies = 0.5 * np.einsum("ki,ij,kj->k", trial, w, trial) + trial @ b
        assert np.all(energies >= energy - 1e-13)


def test_tresca_friction_acts_without_pressure():
    r = one(np.eye(2), [1.0, 5.0], 0.0, law=np.array([TRESCA]), threshold=np.array([0.25])).r
    np.testing.assert_array_equal(r, [0.0, -0.25])


LAWS = {"coulomb": {}, "glued": {"law": BILATERAL}, "tresca": {"law": TRESCA}}


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("compliance", "speed"), [(1e-14, 1.0), (1e13, 1e-9), (1.0, 1e-12)])
def test_one_contact_in_any_units(dim, law, compliance, speed):
    rng = np.random.default_rng(5)
    code = np.array([LAWS[law].get("law", 0)], dtype=np.int8)
    for trial in range(60):
        h = rng.normal(size=(dim, dim - trial % 2))  # every other one singular
        w = h @ h.T
        b = rng.normal(size=dim)
        if law == "glued":
            b = w @ b  # within reach of a singular compliance
        # beyond the bound of uniqueness too, where w can be inverted
        mu = (
            10.0 ** rng.uniform(-2, 1) if trial % 2 == 0 else 0.5 * w[0, 0] / np.abs(w[0, 1:]).sum()
        )
        bound = 0.3
        plain = FrictionProblem(w, b, mu, dim, law=code, threshold=np.array([bound]))
        other = FrictionProblem(
            compliance * w,
            speed * b,
            mu,
            dim,
            law=code,
            threshold=np.array([bound * speed / compliance]),
        )
        r, scaled = (_local(p) for p in (plain, other))
        np.testing.assert_allclose(
            scaled * compliance / speed, r, rtol=1e-7, atol=1e-7 * np.abs(r).max()
        )


def _local(problem):
    """What the local solver alone makes of one contact."""
    if problem.dim == 3:
        blocks = problem.W[None]
        given = blocks, prepare_3d(blocks), 0, *problem.q
        solver = {0: coulomb_3d, BILATERAL: bilateral_3d, TRESCA: tresca_3d}
    else:
        given = problem.W[0, 0], problem.W[0, 1], problem.W[1, 1], *problem.q
        solver = {0: coulomb_2d, BILATERAL: bilateral_2d, TRESCA: tresca_2d}
    law = int(problem.laws[0])
    last = {0: (problem.mu[0],), BILATERAL: (), TRESCA: (problem.thresholds[0],)}[law]
    return np.array(solver[law](*given, *last))


@pytest.mark.parametrize(
    ("w", "b", "r"),
    [
        ((2.0, 0.0, 0.0), (-1.0, 3.0), (0.5, 0.0)),  # nothing gives way along the surface
        ((0.0, 0.0, 2.0), (3.0, -1.0), (0.0, 0.5)),  # nor across it
        ((0.0, 0.0, 0.0), (1.0, 1.0), (0.0, 0.0)),
        ((1.0, 2.0, 4.0), (1.0, 2.0), (0.0, -0.5)),  # one way only: the least along the other
        ((4.0, 2.0, 1.0), (2.0, 1.0), (-0.5, 0.0)),
    ],
)
def test_glue_where_something_cannot_move(w, b, r):
    np.testing.assert_allclose(bilateral_2d(*w, *b), r, atol=1e-14)


def test_three_dimensions_where_something_cannot_move():
    def solved(solver, w, b, *last):
        blocks = np.array(w, dtype=float)[None]
        return solver(blocks, prepare_3d(blocks), 0, *map(float, b), *last)

    stuck = np.diag([0.0, 2.0, 4.0])
    np.testing.assert_allclose(solved(bilateral_3d, stuck, (1, 2, 2)), [0.0, -1.0, -0.5])
    np.testing.assert_allclose(solved(bilateral_3d, np.diag([2.0, 0, 0]), (1, 2, 2)), [-0.5, 0, 0])
    np.testing.assert_allclose(solved(coulomb_3d, stuck, (-1, 2, 2), 0.5), [0.0, 0.0, 0.0])
    # no load along an axis asks for no impulse along it
    plane = np.diag([1.0, 1.0, 2.0])
    np.testing.assert_allclose(solved(coulomb_3d, plane, (-1, 0, 0.2), 0.5), [1.0, 0.0, -0.1])
    np.testing.assert_allclose(solved(coulomb_3d, plane, (-1, 0, 0), 0.5), [1.0, 0.0, 0.0])
    flat = np.diag([1.0, 0.0, 2.0])
    np.testing.assert_allclose(solved(coulomb_3d, flat, (-1, 0, 0.2), 0.5), [1.0, 0.0, -0.1])
    np.testing.assert_allclose(solved(coulomb_3d, flat, (-1, 3, 0), 0.5), [1.0, -0.5, 0.0])
    np.testing.assert_allclose(solved(tresca_3d, flat, (-1, 3, 0), 0.25), [1.0, -0.25, 0.0])
    np.testing.assert_allclose(solved(tresca_3d, flat, (-1, 0, 0.2), 0.25), [1.0, 0.0, -0.1])
    np.testing.assert_allclose(solved(tresca_3d, flat, (-1, 3, 3), 0.0), [1.0, 0.0, 0.0])


def test_a_place_that_cannot_move_gets_no_impulse():
    assert coulomb_2d(0.0, 0.0, 1.0, -1.0, 0.5, 0.3) == (0.0, 0.0)
    assert coulomb_2d(0.0, 0.2, 1.0, -1.0, 0.5, 0.3) == (0.0, 0.0)
    assert tresca_2d(0.0, 0.0, 0.0, -1.0, 0.0, 0.3) == (0.0, -0.3)
