"""Independent algorithms, one answer: random problems, the oracle, warm starts that mislead."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fecontact.errors import InputError, NotConverged
from fecontact.solvers import (
    BILATERAL,
    SOLVERS,
    TRESCA,
    FrictionProblem,
    Options,
    certificate,
    solve,
)
from fecontact.solvers.compare import compare, table
from fecontact.solvers.enumeration import all_solutions
from fecontact.solvers.hybrid import _newton as newton_phase
from tests.friction_problems import block_problem, random_problem

# these must solve every problem within the bound of uniqueness; the others nearly all
NEVER_FAIL = {"hybrid", "nsgs", "proximal", "fixed_point", "extragradient", "admm", "enumeration"}


def check_agreement(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    failures: Counter[str] = Counter()
    for k in range(count):
        dim = 2 + k % 2
        problem = random_problem(rng, dim, int(rng.integers(1, 5 if dim == 2 else 9)))
        for row in compare(problem, options=Options(max_iterations=20_000)):
            if not row.converged:
                failures[row.name] += 1
                continue
            assert certificate(problem, row.solution.r) <= 1e-10, row.name
            assert row.difference < 1e-6, (k, row.name)
    assert not NEVER_FAIL & set(failures)
    assert all(number <= 0.02 * count for number in failures.values()), failures


def test_all_solvers_agree_on_random_problems():
    check_agreement(200, seed=1)


@pytest.mark.slow
def test_all_solvers_agree_on_a_thousand_random_problems():
    check_agreement(1000, seed=2)


def test_one_solution_within_the_bound_on_single_contacts():
    rng = np.random.default_rng(3)
    for _ in range(100):
        assert len(all_solutions(random_problem(rng, 2, 1))) == 1


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "enumeration"])
def test_sliding_block_by_every_solver(name):
    problem = block_problem(16, 0.5)
    reference = solve(problem)
    found = solve(problem, None, Options(solver=name))
    assert found.report.solver == name
    size = np.linalg.norm(reference.r)
    assert np.linalg.norm(found.r - reference.r) < 1e-7 * size


@pytest.mark.parametrize("dim", [2, 3])
def test_all_laws_together_by_every_solver(dim):
    rng = np.random.default_rng(9)
    base = random_problem(rng, dim, 6)
    problem = FrictionProblem(
        base.W,
        base.q,
        np.where(np.arange(6) == 4, 0.0, base.mu),
        dim,
        law=np.array([0, BILATERAL, TRESCA, 0, 0, TRESCA]),
        threshold=np.array([0.0, 0.0, 0.2, 0.0, 0.0, 5.0]),
    )
    rows = compare(problem)
    assert {row.name for row in rows} == set(SOLVERS) - ({"enumeration"} if dim == 3 else set())
    for row in rows:
        assert row.converged, row.name
        assert row.difference < 1e-6, row.name
    r, u = rows[0].solution.r.reshape(6, dim), rows[0].solution.u.reshape(6, dim)
    np.testing.assert_allclose(u[1], 0.0, atol=1e-8)
    assert np.linalg.norm(r[2, 1:]) <= 0.2 * (1 + 1e-9)
    np.testing.assert_array_equal(r[4, 1:], 0.0)


def test_hybrid_survives_misleading_warm_starts():
    rng = np.random.default_rng(10)
    for mu in (0.05, 0.5, 1.0, 2.5):
        problem = block_problem(24, mu)
        reference = solve(problem)
        size = np.abs(reference.r).max()
        for scale in (1e-3, 1.0, 1e3):
            r0 = scale * size * rng.normal(size=reference.r.size)
            found = solve(problem, r0)
            np.testing.assert_allclose(found.r, reference.r, atol=1e-7 * size)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_warm_start_within_the_tolerance_is_made_exact(dim):
    problem = random_problem(np.random.default_rng(5), dim, 6)
    exact = solve(problem, None, Options(tolerance=1e-14)).r
    near = exact * (1.0 + 5e-11 * np.random.default_rng(6).normal(size=exact.size))
    assert 1e-12 < certificate(problem, near) < 1e-10
    found = solve(problem, near)
    assert found.report.residual < 1e-14
    assert found.report.details == {"sweeps": 0, "newton_steps": 1}
    assert solve(problem, found.r).report.iterations == 0


def test_hybrid_is_few_sweeps_and_fewer_steps():
    report = solve(block_problem(48, 1.0)).report
    assert report.details["newton_steps"] <= 6
    assert report.residual < 1e-12


@pytest.mark.parametrize(("name", "seed"), [("newton", 382), ("tresca", 446)])
def test_where_one_solver_cycles_it_says_so_and_the_default_solves(name, seed):
    problem = random_problem(np.random.default_rng(seed), 2, 4)
    with pytest.raises(NotConverged, match=f"{name} did not converge") as failure:
        solve(problem, None, Options(solver=name, max_iterations=500))
    assert failure.value.report.residual > 1e-3
    (expected,) = all_solutions(problem)
    np.testing.assert_allclose(solve(problem).r, expected, atol=1e-8)


def test_a_newton_phase_that_leads_nowhere_is_not_kept():
    problem = random_problem(np.random.default_rng(382), 2, 4)
    r = np.zeros(problem.q.size)
    done, kept = newton_phase(problem, r, problem.velocity(r), 1.0, 1e-10, 100, 1)
    assert done >= 3
    assert kept is None


@pytest.mark.parametrize("dim", [2, 3])
def test_newton_ends_fast_once_it_is_near(dim):
    rng = np.random.default_rng(12)
    for _ in range(20):
        problem = random_problem(rng, dim, 30)
        near = solve(problem, None, Options(solver="nsgs", tolerance=1e-5)).r
        report = solve(problem, near, Options(solver="newton", tolerance=1e-12)).report
        # sliding directions are linearised: the error is squared at each step
        assert report.iterations <= 3


def test_redundant_contacts_are_solved_though_their_impulses_are_not_unique():
    # three contacts hold one body with two degrees of freedom
    H = np.array([[1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]])
    W = H.T @ np.diag([1.0, 2.0]) @ H
    problem = FrictionProblem(W, H.T @ [-1.0, 0.2], 0.5)
    velocities = []
    for row in compare(problem):
        if row.converged:
            velocities.append(row.solution.u)
    assert len(velocities) >= 5
    np.testing.assert_allclose(velocities, np.zeros((len(velocities), 6)), atol=1e-8)


def test_enumeration_refuses_what_is_not_tiny():
    with pytest.raises(InputError, match="8 contacts in 2D, expected at most 7"):
        solve(block_problem(8, 1.0), None, Options(solver="enumeration"))


def test_table_names_every_solver_and_who_failed():
    problem = block_problem(8, 1.0)
    text = table(compare(problem, options=Options(max_iterations=30, tolerance=1e-12)))
    assert text.splitlines()[0].split()[0] == "solver"
    by_name = {line.split()[0]: line.split()[1] for line in text.splitlines()[1:]}
    assert set(by_name) == set(SOLVERS) - {"enumeration"}
    assert by_name["hybrid"] == "yes"
    assert by_name["extragradient"] == "no"
