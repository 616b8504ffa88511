"""Linear systems by every method: solutions, inverses on the trailing dofs, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fecontact.errors import FecontactError, InputError
from fecontact.solvers.linear import factorise
from tests.linear_systems import DIRECT, METHODS, Block, joined, random_system

rng = np.random.default_rng(0)


def relative(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("placed", [True, False])
def test_solutions(method, placed):
    block = Block(12)
    dense = block.A.toarray()
    factors = factorise(block.A, coordinates=block.coordinates if placed else None, method=method)
    assert factors.method == method
    assert factors.memory > 0
    assert method.replace("cg", "conjugate") in repr(factors).lower()
    for shape in [(factors.n,), (factors.n, 1), (factors.n, 5), (factors.n, 0)]:
        b = rng.normal(size=shape)
        kept = b.copy()
        x = factors.solve(b)
        assert x.shape == shape
        np.testing.assert_array_equal(b, kept)
        if b.size:
            assert relative(x, np.linalg.solve(dense, b)) < 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["triangle", "quad"])
def test_the_trailing_inverse_is_the_block_of_the_inverse_in_the_order_asked_for(method, kind):
    block = Block(10, kind=kind)
    inverse = np.linalg.inv(block.A.toarray())
    for trailing in (block.bottom, rng.permutation(block.bottom)[:7], np.array([5])):
        factors = factorise(
            block.A, trailing=trailing, coordinates=block.coordinates, method=method
        )
        found = factors.trailing_inverse()
        assert relative(found, inverse[np.ix_(trailing, trailing)]) < 1e-8
        np.testing.assert_array_equal(found, found.T)
        b = rng.normal(size=factors.n)
        assert relative(factors.solve(b), inverse @ b) < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_bodies_apart_have_blocks_apart(method):
    A, places, bottoms = joined(Block(6), Block(4), Block(5))
    trailing = rng.permutation(bottoms)
    factors = factorise(A, trailing=trailing, coordinates=places, method=method)
    blocks = factors.trailing_blocks()
    assert sorted(len(positions) for positions, _ in blocks) == [10, 12, 14]
    inverse = np.linalg.inv(A.toarray())
    for positions, found in blocks:
        dofs = trailing[positions]
        assert relative(found, inverse[np.ix_(dofs, dofs)]) < 1e-8
    assert relative(factors.trailing_inverse(), inverse[np.ix_(trailing, trailing)]) < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_no_trailing_dofs_no_blocks(method):
    factors = factorise(Block(4).A, method=method)
    assert factors.trailing_blocks() == []
    assert factors.trailing_inverse().shape == (0, 0)


@pytest.mark.parametrize("method", METHODS)
def test_another_matrix_of_the_same_pattern(method):
    first, second = Block(8, nu=0.3), Block(8, nu=0.1)
    options = {"trailing": first.bottom, "method": method}
    expected = np.linalg.inv(second.A.toarray())
    b = rng.normal(size=first.A.shape[0])
    factors = factorise(first.A, coordinates=first.coordinates, **options)
    reused = factorise(second.A, symbolic=factors.symbolic, **options)
    again = factors.refactorise(second.A)
    for found in (reused, again):
        assert relative(found.solve(b), expected @ b) < 1e-8
        on_bottom = expected[np.ix_(first.bottom, first.bottom)]
        assert relative(found.trailing_inverse(), on_bottom) < 1e-8


@pytest.mark.parametrize("method", [m for m in DIRECT if m != "superlu"])
def test_factors_that_gave_their_memory_away_say_so(method):
    block = Block(4)
    factors = factorise(block.A, trailing=block.bottom, method=method)
    factors.refactorise(block.A)
    with pytest.raises(FecontactError, match="gave their memory to refactorise"):
        factors.solve(np.ones(factors.n))


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_again(method):
    block = Block(8)
    one, other = (
        factorise(block.A, trailing=block.bottom, coordinates=block.coordinates, method=method)
        for _ in range(2)
    )
    assert one.trailing_inverse().tobytes() == other.trailing_inverse().tobytes()
    b = np.linspace(-1.0, 1.0, one.n)
    assert one.solve(b).tobytes() == other.solve(b).tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_wrong_positions_change_no_result(method):
    block = Block(8)
    expected = np.linalg.inv(block.A.toarray())[np.ix_(block.bottom, block.bottom)]
    anywhere = rng.normal(size=block.coordinates.shape)
    for places in (anywhere, np.zeros_like(anywhere), np.full_like(anywhere, np.nan)):
        if method == "cg" and np.isnan(places).any():
            continue
        factors = factorise(block.A, trailing=block.bottom, coordinates=places, method=method)
        assert relative(factors.trailing_inverse(), expected) < 1e-8


# MKL's ordering is not made for dofs that nothing couples
@pytest.mark.parametrize("method", ["multifrontal", "superlu"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 120), density=st.floats(0.0, 0.2))
def test_any_graph(method, seed, n, density):
    generator = np.random.default_rng(seed)
    A = random_system(generator, n, density)
    trailing = generator.permutation(n)[: generator.integers(0, n + 1)]
    places = generator.random((n, 2)) if seed % 2 else None
    factors = factorise(A, trailing=trailing, coordinates=places, method=method)
    inverse = np.linalg.inv(A.toarray())
    if trailing.size:
        expected = inverse[np.ix_(trailing, trailing)]
        np.testing.assert_allclose(factors.trailing_inverse(), expected, atol=1e-12)
    b = generator.normal(size=n)
    np.testing.assert_allclose(factors.solve(b), inverse @ b, atol=1e-11)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_no_unknowns(method):
    factors = factorise(sparse.csr_array((0, 0)), method=method)
    assert factors.solve(np.zeros(0)).shape == (0,)
    assert factors.trailing_inverse().shape == (0, 0)


def test_a_lumped_matrix_needs_no_factors():
    masses = rng.uniform(1.0, 2.0, 20)
    factors = factorise(sparse.csr_array(sparse.diags_array(masses)), trailing=np.array([7, 3]))
    assert factors.method == "diagonal"
    b = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(factors.solve(b), b / masses[:, None])
    np.testing.assert_array_equal(factors.trailing_inverse(), np.diag(1.0 / masses[[7, 3]]))
    heavier = factors.refactorise(sparse.csr_array(sparse.diags_array(2.0 * masses)))
    np.testing.assert_array_equal(heavier.solve(b), b / (2.0 * masses[:, None]))
    assert factorise(factors.A, method="pardiso").method == "diagonal"
    with pytest.raises(InputError, match="needs a diagonal matrix, this one has"):
        factorise(Block(2).A, method="diagonal")


def test_what_cannot_be_used_is_refused():
    A = Block(3).A
    n = A.shape[0]
    broken = A.copy()
    broken.data[3] = np.nan
    one_triangle = sparse.csr_array(sparse.triu(A))
    for matrix, options, message in [
        (A, {"method": "cholesky"}, "unknown linear solver 'cholesky'; choices: auto, cg"),
        (A, {"method": "superl"}, "did you mean 'superlu'"),
        (A[:2], {}, r"shape \(2, 24\), it must be square"),
        (A, {"trailing": np.array([1, 1])}, "repeat"),
        (A, {"trailing": np.array([0, n])}, rf"lie in 0..{n}, expected 0..{n - 1}"),
        (A, {"trailing": np.array([[1]])}, r"shape \(1, 1\), expected \(nt,\)"),
        (A, {"coordinates": np.zeros((3, 2))}, r"coordinates have shape \(3, 2\)"),
        (A, {"directions": np.zeros((3, 2))}, r"directions have shape \(3, 2\)"),
        (broken, {}, "1 entries that are not finite"),
        (one_triangle, {}, "not symmetric"),
    ]:
        with pytest.raises(InputError, match=message):
            factorise(matrix, **options)


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_one_entry_without_its_mirror_image_is_found(n):
    for i in range(n):
        A = 4.0 * np.eye(n)
        A[i, (i + 1) % n] = 1.0
        with pytest.raises(InputError, match="not symmetric"):
            factorise(sparse.csr_array(A))


def test_entries_stored_twice_are_added():
    A = Block(4).A
    twice = sparse.csr_array(
        (np.repeat(0.5 * A.data, 2), np.repeat(A.indices, 2), 2 * A.indptr), shape=A.shape
    )
    b = rng.normal(size=A.shape[0])
    np.testing.assert_allclose(factorise(twice).solve(b), factorise(A).solve(b), rtol=1e-12)
