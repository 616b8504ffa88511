"""One step of Newton's method: exact from nearby in the plane, quadratic in space, for all laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fecontact.solvers import BILATERAL, TRESCA, FrictionProblem, Options, certificate, solve
from fecontact.solvers.newton import step
from tests.friction_problems import random_problem

CONTACTS = 24


def mixed(dim: int, seed: int, compressed: bool) -> FrictionProblem:
    """Contacts of all laws; some have no friction, in some the bound of Tresca is reached."""
    rng = np.random.default_rng(seed)
    plain = random_problem(rng, dim, CONTACTS)
    law = np.zeros(CONTACTS, dtype=np.int8)
    law[::5], law[1::5] = BILATERAL, TRESCA
    mu = plain.mu.copy()
    mu[2::5] = 0.0
    W = sparse.bsr_array(plain.W, blocksize=(dim, dim)) if compressed else plain.W
    threshold = rng.uniform(0.01, 0.5, CONTACTS)
    return FrictionProblem(W, plain.q, mu, dim, law=law, threshold=threshold)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_a_step_from_nearby(dim: int, seed: int, compressed: bool) -> None:
    problem = mixed(dim, seed, compressed)
    solution = solve(problem, None, Options(solver="nsgs", tolerance=1e-14, max_iterations=100_000))
    exact = solution.r.reshape(-1, dim)
    # all states are there: open, closed; at the bound, below it
    tangential = np.linalg.norm(exact[:, 1:], axis=1)
    coulomb = problem.laws == 0
    assert (coulomb & (exact[:, 0] == 0.0)).any()
    assert (coulomb & (exact[:, 0] > 0.0) & (problem.mu > 0.0)).any()
    rng = np.random.default_rng(seed)
    error = []
    for size in (1e-5, 1e-7):
        r = solution.r + size * rng.normal(size=solution.r.size)
        found = step(problem, r, problem.velocity(r))
        assert found is not None
        error.append(np.abs(found - solution.r).max())
    rounding = 1e-11 * (1.0 + tangential.max())
    if dim == 2:
        assert max(error) < rounding
    else:
        assert error[0] < 1e-7
        assert error[1] < max(1e-3 * error[0], rounding)
    assert certificate(problem, found) < 1e-9


def test_nothing_to_do_is_no_impulse() -> None:
    for dim in (2, 3):
        problem = FrictionProblem(np.eye(dim), np.r_[1.0, np.zeros(dim - 1)], 0.5, dim)
        found = step(problem, np.zeros(dim), problem.q)
        np.testing.assert_array_equal(found, np.zeros(dim))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_singular_system_gives_no_step(dim: int, compressed: bool) -> None:
    W = np.zeros((dim, dim))
    problem = FrictionProblem(
        sparse.bsr_array(np.eye(dim), blocksize=(dim, dim)) * 0.0 if compressed else W,
        np.r_[-1.0, np.zeros(dim - 1)],
        0.5,
        dim,
    )
    assert step(problem, np.r_[1.0, np.zeros(dim - 1)], problem.q) is None
