"""Conjugate gradients where factors do not fit: same results, chosen by an estimate."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from fecontact.errors import MissingDependency, NotConverged
from fecontact.solvers import amg, linear, memory, pardiso
from fecontact.solvers.amg import rigid_motions
from fecontact.solvers.delassus import delassus
from fecontact.solvers.linear import factorise
from fecontact.solvers.memory import available_memory, estimate_memory
from tests.linear_systems import Block, joined


def give(monkeypatch: pytest.MonkeyPatch, available: float) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: available)


@pytest.mark.parametrize("nu", [0.3, 0.45])
def test_conjugate_gradients_and_factors_agree(nu):
    block = Block(24, nu=nu)
    places = {"trailing": block.bottom, "coordinates": block.coordinates}
    factors = factorise(block.A, **places, method="multifrontal")
    iterated = factorise(block.A, **places, directions=block.directions, method="cg")
    W = factors.trailing_inverse()
    np.testing.assert_allclose(iterated.trailing_inverse(), W, atol=1e-8 * np.abs(W).max())
    b = np.random.default_rng(1).normal(size=factors.n)
    x = factors.solve(b)
    np.testing.assert_allclose(iterated.solve(b), x, atol=1e-8 * np.abs(x).max())
    H = np.eye(factors.n)[:, block.bottom[4:8]]
    expected = delassus(factors, H)
    np.testing.assert_allclose(delassus(iterated, H), expected, atol=1e-8 * np.abs(expected).max())


def iterations(monkeypatch: pytest.MonkeyPatch, factors: linear.Factorisation) -> int:
    """Applications of the preconditioner in one solution."""
    count = 0
    cycle = factors._cycle

    def counted(r):
        nonlocal count
        count += 1
        return cycle(r)

    monkeypatch.setattr(factors, "_cycle", counted)
    factors.solve(np.random.default_rng(2).normal(size=factors.n))
    return count


def test_rigid_motions_keep_the_iterations_few_while_the_mesh_is_refined(monkeypatch):
    counts = []
    for n in (12, 24, 48):
        block = Block(n)
        places = {"coordinates": block.coordinates, "directions": block.directions}
        counts.append(iterations(monkeypatch, factorise(block.A, **places, method="cg")))
    assert max(counts) < 40
    assert counts[-1] <= counts[0] + 10
    # without them the same mesh takes many more
    assert iterations(monkeypatch, factorise(block.A, method="cg")) > 1.5 * counts[-1]


def test_rigid_motions_have_no_energy_and_each_body_has_its_centre():
    one, other = Block(4, held=None), Block(3, held=None, length=2.0)
    A, places, _ = joined(one, other)
    directions = np.vstack([one.directions, other.directions])
    motions = rigid_motions(A, places, directions)
    assert motions.shape == (A.shape[0], 3)
    assert np.abs(A @ motions).max() < 1e-13
    np.testing.assert_array_equal(rigid_motions(A, places, None), motions)
    # rotations about the centre of each body are orthogonal to its translations
    n = one.A.shape[0]
    for part in (slice(None, n), slice(n, None)):
        np.testing.assert_allclose(motions[part, 2] @ motions[part, :2], 0.0, atol=1e-12)


def test_rigid_motions_in_space():
    rng = np.random.default_rng(3)
    x = np.repeat(rng.normal(size=(5, 3)), 3, axis=0)
    motions = rigid_motions(linear.sparse.eye_array(15, format="csr") + np.ones((15, 15)), x, None)
    assert motions.shape == (15, 6)
    points, moves = x[::3], motions.reshape(5, 3, 6)
    # distances do not change: (x_i - x_j) . (v_i - v_j) = 0
    for k in range(6):
        change = moves[:, None, :, k] - moves[None, :, :, k]
        apart = points[:, None] - points[None, :]
        np.testing.assert_allclose(np.sum(change * apart, axis=2), 0.0, atol=1e-12)
    assert np.linalg.matrix_rank(motions) == 6


def test_the_estimate_is_what_the_factors_take():
    block = Block(40)
    estimate = estimate_memory(block.A, trailing=block.bottom, coordinates=block.coordinates)
    factors = factorise(
        block.A, trailing=block.bottom, coordinates=block.coordinates, method="multifrontal"
    )
    assert factors.memory <= estimate.factors <= 1.5 * factors.memory
    assert estimate.trailing >= 8 * block.bottom.size**2
    assert "GiB" in str(estimate)
    assert 2**20 < available_memory() <= float("inf")


def test_pages_of_files_in_a_container_can_be_taken(tmp_path):
    """A container that has read many files is not full."""
    for name, text in {
        "memory.max": "1000000\n",
        "memory.current": "950000\n",
        "memory.stat": "anon 150000\nfile 800000\ninactive_file 700000\nactive_file 100000\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert memory._of_the_container(tmp_path) == 850000.0
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._of_the_container(tmp_path) == float("inf")
    assert memory._of_the_container(tmp_path / "none") == float("inf")


def test_the_method_is_chosen_by_the_estimate(monkeypatch):
    block = Block(16)
    places = {"trailing": block.bottom, "coordinates": block.coordinates}
    needed = estimate_memory(block.A, **places)
    total = (needed.factors + needed.trailing) / memory.SHARE
    give(monkeypatch, 1.01 * total)
    direct = factorise(block.A, **places)
    assert direct.method == "multifrontal"
    give(monkeypatch, 0.99 * total)
    iterated = factorise(block.A, **places)
    assert iterated.method == "cg"
    # once chosen, the method stays for matrices of the pattern
    assert factorise(block.A, **places, symbolic=direct.symbolic).method == "multifrontal"
    give(monkeypatch, float("inf"))
    assert factorise(block.A, **places, symbolic=iterated.symbolic).method == "cg"
    assert "unknown" in str(estimate_memory(block.A))


def test_without_a_blas_to_call_superlu_takes_over(monkeypatch):
    block = Block(8)
    places = {"trailing": block.bottom, "coordinates": block.coordinates}
    W = factorise(block.A, **places).trailing_inverse()

    def missing():
        raise ImportError("scipy's BLAS takes 64-bit integers")

    monkeypatch.setattr("fecontact.solvers.blas.addresses", missing)
    fallback = factorise(block.A, **places)
    assert fallback.method == "superlu"
    inverse = fallback.trailing_inverse()
    np.testing.assert_allclose(inverse, W, atol=1e-10 * np.abs(W).max())
    assert factorise(block.A, **places, symbolic=fallback.symbolic).method == "superlu"


def test_the_choice_analyses_the_pattern_once(monkeypatch):
    from fecontact.solvers import fronts, multifrontal

    block = Block(4)
    expected = factorise(block.A, method="multifrontal").solve(np.ones(block.A.shape[0]))
    calls = []
    analyse = fronts.analyse

    def counted(*arguments):
        calls.append(arguments)
        return analyse(*arguments)

    monkeypatch.setattr(fronts, "analyse", counted)
    monkeypatch.setattr(multifrontal, "analyse", counted)
    np.testing.assert_array_equal(factorise(block.A).solve(np.ones(block.A.shape[0])), expected)
    assert len(calls) == 1


def test_missing_packages_are_named(monkeypatch):
    A = Block(4).A
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(MissingDependency, match=r"pip install fecontact\[amg\]"):
        factorise(A, method="cg")
    monkeypatch.setattr(linear, "find_spec", lambda _: None)
    give(monkeypatch, 10.0)
    with pytest.raises(MissingDependency, match=r"40 dofs does not fit in memory.*\[amg\]"):
        factorise(A)

    def missing():
        raise MissingDependency("method 'pardiso' needs the library")

    monkeypatch.setattr(pardiso, "_library", missing)
    assert not pardiso.available()
    with pytest.raises(MissingDependency, match="'pardiso'"):
        factorise(A, method="pardiso")


def test_too_few_iterations_are_an_error_with_the_iterate(monkeypatch):
    factors = factorise(Block(12).A, method="cg")
    monkeypatch.setattr(amg, "MOST_ITERATIONS", 2)
    with pytest.raises(NotConverged, match="stopped after 2 iterations") as error:
        factors.solve(np.ones(factors.n))
    assert error.value.best.shape == (factors.n,)
