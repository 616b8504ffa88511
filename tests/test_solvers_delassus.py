"""The Delassus operator: dense for one body, by blocks between many, the same answer from both."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from fecontact.errors import InputError
from fecontact.solvers import FrictionProblem, Options, certificate, solve
from fecontact.solvers.delassus import delassus
from fecontact.solvers.linear import factorise
from tests.linear_systems import METHODS, Block, joined


@cache
def row_of_bodies(count: int):
    """Bodies in a row, each held softly, every one touching the next at three contacts.

    Returns A, positions, the dofs of contact and H with frames at random angles.
    """
    rng = np.random.default_rng(count)
    blocks = [Block(3, held=None) for _ in range(count)]
    A, places, bottoms = joined(*blocks)
    A = sparse.csr_array(A + sparse.diags_array(rng.uniform(0.05, 0.1, A.shape[0])))
    per_body = bottoms.reshape(count, -1, 2)
    rows, columns, values = [], [], []
    contacts = [(a, k) for a in range(count - 1) for k in range(3)]
    for c, (a, k) in enumerate(contacts):
        angle = rng.uniform(0.0, 2.0 * np.pi)
        frame = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
        # the third node of a body touches on both sides
        for sign, dofs in ((1.0, per_body[a + 1, k]), (-1.0, per_body[a, k + 1])):
            for i in range(2):
                rows += list(dofs)
                columns += [2 * c + i] * 2
                values += list(sign * frame[i])
    H = sparse.csr_array((values, (rows, columns)), shape=(A.shape[0], 2 * len(contacts)))
    return A, places, bottoms, H


def exact(A, H):
    return H.T @ np.linalg.solve(A.toarray(), H.toarray())


@pytest.mark.parametrize("method", METHODS)
def test_between_many_bodies_it_stays_sparse_by_blocks(method):
    A, places, bottoms, H = row_of_bodies(14)
    factors = factorise(A, trailing=bottoms, coordinates=places, method=method)
    W = delassus(factors, H, 2)
    assert isinstance(W, sparse.bsr_array)
    assert W.blocksize == (2, 2)
    expected = exact(A, H)
    np.testing.assert_allclose(W.toarray(), expected, atol=1e-8 * np.abs(expected).max())
    # a contact is coupled to those of its own pair of bodies and of the two pairs beside it
    coupled = 13 * 9 + 2 * 12 * 9
    assert W.indices.size == coupled
    np.testing.assert_array_equal(W.toarray(), W.toarray().T)
    dense = delassus(factors, H)
    assert isinstance(dense, np.ndarray)
    np.testing.assert_allclose(W.toarray(), dense, atol=1e-14 * np.abs(dense).max())


def test_between_few_bodies_it_is_dense():
    A, places, bottoms, H = row_of_bodies(4)
    factors = factorise(A, trailing=bottoms, coordinates=places)
    W = delassus(factors, H, 2)
    assert isinstance(W, np.ndarray)
    np.testing.assert_allclose(W, exact(A, H), atol=1e-10 * np.abs(W).max())
    np.testing.assert_array_equal(W, W.T)


@pytest.mark.parametrize("name", ["nsgs", "hybrid"])
def test_sweeps_on_blocks_and_on_a_dense_operator_agree(name):
    A, places, bottoms, H = row_of_bodies(14)
    factors = factorise(A, trailing=bottoms, coordinates=places)
    rng = np.random.default_rng(5)
    q = rng.normal(size=H.shape[1])
    q[::2] -= 0.5
    sparsely = FrictionProblem(delassus(factors, H, 2), q, 0.3)
    densely = FrictionProblem(delassus(factors, H), q, 0.3)
    assert not sparsely.is_dense
    assert densely.is_dense
    options = Options(solver=name, tolerance=1e-12)
    one, other = solve(sparsely, None, options), solve(densely, None, options)
    assert 5 < np.count_nonzero(one.r[::2]) < one.r.size // 2
    assert np.linalg.norm(one.r - other.r) < 1e-10 * np.linalg.norm(other.r)
    assert certificate(densely, one.r) < 1e-11
    # the same bits from the beginning: factors, W, sweeps
    again = factorise(A, trailing=bottoms, coordinates=places)
    repeated = solve(FrictionProblem(delassus(again, H, 2), q, 0.3), None, options)
    assert repeated.r.tobytes() == one.r.tobytes()
    assert repeated.report == one.report


@pytest.mark.parametrize("few", [True, False])
def test_a_lumped_matrix_gives_it_directly(few, monkeypatch):
    _, _, bottoms, H = row_of_bodies(4 if few else 14)
    masses = np.random.default_rng(6).uniform(1.0, 2.0, H.shape[0])
    factors = factorise(sparse.csr_array(sparse.diags_array(masses)), trailing=bottoms)
    monkeypatch.setattr(type(factors), "solve", None)
    monkeypatch.setattr(type(factors), "trailing_blocks", None)
    W = delassus(factors, H, 2)
    assert isinstance(W, sparse.bsr_array)
    expected = H.T.toarray() @ (H.toarray() / masses[:, None])
    np.testing.assert_allclose(W.toarray(), expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(W.toarray(), W.toarray().T)
    dense = delassus(factors, H)
    assert isinstance(dense, np.ndarray)
    np.testing.assert_array_equal(dense, W.toarray())


@pytest.mark.parametrize("method", METHODS)
def test_other_dofs_are_solved_for(method):
    block = Block(6)
    factors = factorise(
        block.A, trailing=block.bottom[:4], coordinates=block.coordinates, method=method
    )
    rng = np.random.default_rng(7)
    H = sparse.random_array((factors.n, 70), density=0.1, rng=rng, format="csc")
    W = delassus(factors, H)
    expected = exact(block.A, H)
    np.testing.assert_allclose(W, expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_array_equal(W, W.T)


def test_the_inverse_is_computed_once_for_all_candidates(monkeypatch):
    block = Block(6)
    factors = factorise(block.A, trailing=block.bottom, coordinates=block.coordinates)
    calls = []
    compute = type(factors).trailing_blocks

    def counted(self):
        calls.append(1)
        return compute(self)

    monkeypatch.setattr(type(factors), "trailing_blocks", counted)
    every = sparse.csr_array(np.eye(factors.n)[:, block.bottom])
    W = delassus(factors, every, 2)
    some = np.array([0, 1, 6, 7, 8, 9])
    np.testing.assert_allclose(delassus(factors, every[:, some], 2), W[np.ix_(some, some)])
    assert len(calls) == 1


def test_bodies_without_contacts_and_no_contacts_at_all():
    A, places, bottoms, H = row_of_bodies(14)
    factors = factorise(A, trailing=bottoms, coordinates=places)
    first = delassus(factors, H[:, :6], 2)
    assert isinstance(first, np.ndarray)
    np.testing.assert_allclose(first, exact(A, H[:, :6]), atol=1e-10)
    assert delassus(factors, H[:, :0], 2).shape == (0, 0)
    assert delassus(factors, H[:, :0]).shape == (0, 0)


def test_shapes_that_do_not_fit_are_refused():
    block = Block(3)
    factors = factorise(block.A, trailing=block.bottom)
    with pytest.raises(InputError, match="H has 3 rows, the factorised matrix 24"):
        delassus(factors, np.eye(3))
    with pytest.raises(InputError, match="H has 3 columns, expected a multiple of dim = 2"):
        delassus(factors, np.eye(24)[:, :3], 2)


def test_contacts_that_move_nothing_have_no_W():
    """Contacts of held nodes alone: no dof is trailing, and W vanishes."""
    block = Block(3)
    factors = factorise(block.A, method="multifrontal")
    nothing = sparse.csr_array((factors.n, 4))
    np.testing.assert_array_equal(delassus(factors, nothing, 2), np.zeros((4, 4)))
