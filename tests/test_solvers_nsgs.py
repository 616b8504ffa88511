"""Gauss-Seidel sweeps: no cycles where shuffled, same bits, dense and sparse, errors that fire."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fecontact.errors import NotConverged
from fecontact.solvers import FrictionProblem, Options, certificate, solve
from tests.friction_problems import block_problem, random_problem


def test_left_to_right_cycles_where_shuffled_sweeps_converge():
    problem = block_problem(48, 1.0)
    with pytest.raises(NotConverged) as failure:
        solve(problem, None, Options(solver="nsgs", shuffle=False, max_iterations=3000))
    assert failure.value.report.residual > 1e-2
    shuffled = solve(problem, None, Options(solver="nsgs"))
    assert shuffled.report.iterations < 400
    assert certificate(problem, shuffled.r) <= 1e-10


def sweeps_of_blocks(sizes, mu, kind):
    """Sweeps on the block of each size, with the answer compared to the default solver's."""
    counts = []
    for n in sizes:
        problem = block_problem(n, mu, kind)
        found = solve(problem, None, Options(solver="nsgs"))
        assert certificate(problem, found.r) <= 1e-10
        expected = solve(problem).r
        assert np.linalg.norm(found.r - expected) < 1e-8 * np.linalg.norm(expected)
        counts.append(found.report.iterations)
    return np.array(counts)


def assert_logarithmic(sizes, counts):
    """Sweeps follow a + b log m: no fit of a power would need more than a small exponent."""
    x = np.log(sizes)
    fit = np.polyval(np.polyfit(x, counts, 1), x)
    np.testing.assert_allclose(counts, fit, rtol=0.2)
    assert np.polyfit(x, np.log(counts), 1)[0] < 0.35


FRICTION = (0.05, 0.2, 0.5, 1.0, 1.5, 2.5)


@pytest.mark.parametrize("kind", ["triangle", "quad"])
@pytest.mark.parametrize("mu", FRICTION)
def test_sliding_block_without_settings(mu, kind):
    sizes = (8, 16, 32, 64, 128, 256)
    assert_logarithmic(sizes, sweeps_of_blocks(sizes, mu, kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["triangle", "quad"])
@pytest.mark.parametrize("mu", FRICTION)
def test_sliding_block_of_every_size_without_settings(mu, kind):
    sizes = range(8, 257, 8)
    assert_logarithmic(sizes, sweeps_of_blocks(sizes, mu, kind))


def test_relaxation_leads_to_the_same_admissible_impulses():
    problem = block_problem(24, 0.5)
    plain = solve(problem, None, Options(solver="nsgs"))
    for omega in (0.7, 1.4):
        relaxed = solve(problem, None, Options(solver="nsgs", relaxation=omega))
        np.testing.assert_allclose(relaxed.r, plain.r, atol=1e-7 * np.abs(plain.r).max())
        rN, rT = relaxed.r[::2], relaxed.r[1::2]
        assert np.all(rN >= 0.0)
        assert np.all(np.abs(rT) <= 0.5 * rN * (1 + 1e-15))


@pytest.mark.parametrize("name", ["nsgs", "hybrid"])
def test_same_seed_same_bits(name):
    problem = block_problem(24, 1.0)
    first = solve(problem, None, Options(solver=name, seed=3))
    again = solve(block_problem(24, 1.0), None, Options(solver=name, seed=3))
    assert first.r.tobytes() == again.r.tobytes()
    assert first.report == again.report


def test_another_seed_gives_another_path_to_the_same_end():
    problem = block_problem(24, 1.0)
    first = solve(problem, None, Options(solver="nsgs", seed=3))
    other = solve(problem, None, Options(solver="nsgs", seed=4))
    assert first.r.tobytes() != other.r.tobytes()
    np.testing.assert_allclose(first.r, other.r, atol=1e-8 * np.abs(first.r).max())


@pytest.mark.parametrize("dim", [2, 3])
def test_block_sparse_sweeps_are_the_dense_ones(dim):
    rng = np.random.default_rng(7)
    parts = [random_problem(rng, dim, m) for m in (3, 1, 5)]
    W = sp.block_diag([p.W for p in parts], format="csr")
    q = np.concatenate([p.q for p in parts])
    mu = np.concatenate([p.mu for p in parts])
    # a coupling between two of the parts
    link = sp.csr_array(([0.01, 0.01], ([0, q.size - 1], [q.size - 1, 0])), shape=W.shape)
    sparse = FrictionProblem(sp.csr_array(W + link), q, mu, dim)
    dense = FrictionProblem((W + link).toarray(), q, mu, dim)
    for name in ("nsgs", "hybrid", "newton", "admm", "proximal", "tresca", "fixed_point"):
        options = Options(solver=name)
        found = solve(sparse, None, options)
        np.testing.assert_allclose(found.r, solve(dense, None, options).r, atol=1e-8)
    np.testing.assert_array_equal(sparse.blocks, dense.blocks)


def test_sweeps_with_a_W_that_is_not_symmetric():
    rng = np.random.default_rng(8)
    base = random_problem(rng, 2, 10)
    skew = rng.normal(size=base.W.shape) * 0.02
    problem = FrictionProblem(base.W + skew - skew.T, base.q, 0.5 * base.mu)
    for name in ("nsgs", "hybrid", "admm"):
        assert certificate(problem, solve(problem, None, Options(solver=name)).r) <= 1e-10


def test_warm_start_at_the_solution_ends_at_once():
    problem = block_problem(24, 1.0)
    solution = solve(problem)
    again = solve(problem, solution.r)
    assert again.report.iterations == 0
    np.testing.assert_array_equal(again.r, solution.r)
    nearby = solve(problem, solution.r * (1 + 1e-6), Options(solver="nsgs"))
    assert nearby.report.iterations < solve(problem, None, Options(solver="nsgs")).report.iterations


def test_first_iterate_is_left_as_it_was():
    problem = block_problem(8, 1.0)
    r0 = np.ones(problem.q.size)
    solve(problem, r0)
    np.testing.assert_array_equal(r0, 1.0)


@pytest.mark.parametrize(
    "name", ["nsgs", "hybrid", "tresca", "proximal", "fixed_point", "extragradient", "admm"]
)
def test_too_few_iterations_raise_with_the_best_iterate(name):
    problem = block_problem(24, 1.0)
    with pytest.raises(NotConverged, match=f"{name} did not converge in") as failure:
        solve(problem, None, Options(solver=name, max_iterations=2, tolerance=1e-14))
    best = failure.value.best
    assert failure.value.report is best.report
    assert not best.report.converged
    assert best.report.residual == certificate(problem, best.r)
    np.testing.assert_array_equal(best.u, problem.velocity(best.r))


@pytest.mark.parametrize(
    "name", ["nsgs", "newton", "hybrid", "tresca", "proximal", "fixed_point", "admm"]
)
def test_a_tolerance_out_of_reach_still_gives_what_can_be_reached(name):
    problem = block_problem(8, 1.0)
    options = Options(solver=name, max_iterations=2000, tolerance=1e-30)
    try:
        report = solve(problem, None, options).report
    except NotConverged as failure:
        report = failure.report
    assert report.residual < 1e-13
