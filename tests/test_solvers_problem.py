"""The friction problem: what it refuses, and its scales."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from fecontact.errors import InputError
from fecontact.solvers import BILATERAL, TRESCA, FrictionProblem, Margins, Options, solve

W2 = np.diag([2.0, 1.0])
Q2 = np.array([-1.0, 0.5])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"dim": 4}, "dim = 4"),
        ({"q": np.ones(3)}, "3 components"),
        ({"q": np.array([1.0, np.nan])}, r"q\[1\] = nan"),
        ({"q": np.ones((2, 1))}, r"q has shape \(2, 1\)"),
        ({"W": np.eye(3)}, r"W has shape \(3, 3\), expected \(2, 2\)"),
        ({"W": np.array([[1.0, 0.0], [np.inf, 1.0]])}, r"W\[1, 0\] = inf"),
        ({"W": sp.csr_array(np.diag([1.0, np.nan]))}, "not finite"),
        ({"mu": np.array([-0.1])}, r"mu\[0\] = -0.1"),
        ({"mu": np.array([0.1, 0.2])}, r"mu has shape \(2,\), expected \(1,\)"),
        ({"mu": np.nan}, "mu = nan"),
        ({"law": np.array([7])}, r"law\[0\] = 7, choices: 0 \(coulomb\)"),
        ({"law": np.array([0, 0])}, r"law has shape \(2,\)"),
        ({"law": np.array([TRESCA])}, "need `threshold`"),
        ({"law": np.array([TRESCA]), "threshold": np.array([-1.0])}, r"threshold\[0\] = -1"),
    ],
)
def test_unsound_problems_are_refused(changed, message):
    given = {"W": W2, "q": Q2, "mu": np.array([0.3]), "dim": 2} | changed
    with pytest.raises(InputError, match=message):
        FrictionProblem(**given)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"relaxation": 2.0}, "relaxation"),
        ({"seed": -1}, "seed"),
    ],
)
def test_unsound_options_are_refused(changed, message):
    with pytest.raises(InputError, match=message):
        Options(**changed)
    with pytest.raises(InputError, match="margin gap"):
        Margins(gap=-1.0)


def test_unknown_solver_is_named_with_a_hint():
    problem = FrictionProblem(W2, Q2, 0.3)
    with pytest.raises(InputError, match="'hybird'; did you mean 'hybrid'"):
        solve(problem, None, Options(solver="hybird"))


def test_unsound_first_iterate_is_refused():
    problem = FrictionProblem(W2, Q2, 0.3)
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        solve(problem, np.zeros(3))
    with pytest.raises(InputError, match="not finite"):
        solve(problem, np.array([np.nan, 0.0]))


def test_no_contact_at_all():
    solution = solve(FrictionProblem(np.zeros((0, 0)), np.zeros(0), np.zeros(0)))
    assert solution.r.shape == (0,)
    assert solution.report.converged


def test_columns_are_columns_also_where_W_is_not_symmetric():
    W = np.array([[2.0, 0.3], [0.1, 1.0]])
    for given in (W, np.asfortranarray(W)):
        np.testing.assert_array_equal(FrictionProblem(given, Q2, 0.3).columns, W.T)
    symmetric = FrictionProblem(np.ascontiguousarray(W @ W.T), Q2, 0.3)
    assert symmetric.columns is symmetric.W


def test_contacts_beyond_the_bound_of_uniqueness_are_counted():
    W = np.zeros((4, 4))
    W[:2, :2] = W[2:, 2:] = [[1.0, 0.9], [0.9, 1.0]]
    problem = FrictionProblem(W, np.array([1.0, 0.0, 1.0, 0.0]), np.array([1.0, 1.2]))
    np.testing.assert_array_equal(problem.non_unique, [False, True])
    assert solve(problem).report.non_unique == 1
    glued = FrictionProblem(W, np.ones(4), 1.2, law=np.full(2, BILATERAL))
    assert not glued.non_unique.any()


def test_repr_tells_size_and_kind():
    assert "1 contacts in 2D, dense W" in repr(FrictionProblem(W2, Q2, 0.3))
    assert "block-sparse" in repr(FrictionProblem(sp.csr_array(W2), Q2, 0.3))
