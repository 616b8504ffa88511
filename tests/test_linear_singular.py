"""Free motions and negative energies are found by every method, and hard bodies are not refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fecontact.errors import SingularSystem
from fecontact.solvers.amg import rigid_motions
from fecontact.solvers.linear import factorise
from tests.linear_systems import DIRECT, METHODS, Block, joined


def pinned(block: Block) -> sparse.csr_array:
    """The block held at one node by stiff springs: it can still turn about it."""
    held = np.zeros(block.A.shape[0])
    held[block.bottom[:2]] = 1.0
    return sparse.csr_array(block.A + sparse.diags_array(held))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("trailing", [True, False])
def test_a_free_body_is_found_with_its_rigid_motion(method, trailing):
    fixed, free = Block(5), Block(6, held=None)
    A, places, bottoms = joined(fixed, free)
    with pytest.raises(SingularSystem, match="leaves a motion free") as error:
        factorise(A, trailing=bottoms if trailing else None, coordinates=places, method=method)
    z = error.value.vector
    n = fixed.A.shape[0]
    assert np.abs(z).max() == 1.0
    # the body that is held does not move, the other moves as a rigid one
    np.testing.assert_allclose(z[:n], 0.0, atol=1e-6)
    motions = rigid_motions(free.A, free.coordinates, free.directions)
    left = z[n:] - motions @ np.linalg.lstsq(motions, z[n:], rcond=None)[0]
    np.testing.assert_allclose(left, 0.0, atol=1e-6)
    assert n <= error.value.pivot < A.shape[0]


@pytest.mark.parametrize("method", METHODS)
def test_a_body_that_can_turn_about_a_node_is_found(method):
    block = Block(6, held=None)
    with pytest.raises(SingularSystem) as error:
        factorise(pinned(block), coordinates=block.coordinates, method=method)
    arm = block.coordinates - block.coordinates[block.bottom[0]]
    turning = block.directions[:, 1] * arm[:, 0] - block.directions[:, 0] * arm[:, 1]
    z = error.value.vector
    scale = z[np.argmax(np.abs(turning))] / turning[np.argmax(np.abs(turning))]
    np.testing.assert_allclose(z, scale * turning, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_negative_energy_is_found_and_shown(method):
    fixed, soft = Block(5), Block(6)
    soft.A = sparse.csr_array(soft.A - sparse.diags_array(np.full(soft.A.shape[0], 0.05)))
    assert np.linalg.eigvalsh(soft.A.toarray())[0] < -1e-3
    A, places, bottoms = joined(fixed, soft)
    with pytest.raises(SingularSystem, match=r"not positive definite.*negative") as error:
        factorise(A, trailing=bottoms, coordinates=places, method=method)
    z = error.value.vector
    assert z @ (A @ z) < 0.0
    assert np.argmax(np.abs(z)) >= fixed.A.shape[0]


@pytest.mark.parametrize("method", ["multifrontal", "superlu"])
@pytest.mark.parametrize("coupling", [2.0, 100.0, 1e7])
def test_far_from_definite_the_motion_is_shown_too(method, coupling):
    A = np.eye(4)
    A[0, 1] = A[1, 0] = coupling
    with pytest.raises(SingularSystem, match=r"not positive definite.*negative") as error:
        factorise(sparse.csr_array(A), method=method)
    z = error.value.vector
    assert z[0] * z[1] < -0.9
    assert error.value.energy < -0.2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [10, 40, 400])
def test_negative_energies_below_a_positive_one_near_zero_are_found(method, n):
    chain = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    chain[[0, -1], [0, -1]] = 1.0
    energies = np.linalg.eigvalsh(chain)
    # the energy closest to zero is positive, the three below it are not
    A = chain - (0.9 * energies[3] + 0.1 * energies[2]) * np.eye(n)
    with pytest.raises(SingularSystem, match="not positive definite: the energy of a motion"):
        factorise(sparse.csr_array(A), trailing=np.array([0]), method=method)


@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_a_dof_without_any_entry_is_named(method):
    A = sparse.csr_array(np.array([[1.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.5, 0.0, 2.0]]))
    assert A.nnz == 4
    with pytest.raises(SingularSystem, match="is 0 at dof 1, it must be positive"):
        factorise(A, trailing=np.array([2]), method=method)


@pytest.mark.parametrize("method", [*METHODS, "auto", "diagonal"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_a_dof_without_stiffness_is_named(method, value):
    # written out, so that a zero is stored too
    diagonal = sparse.csr_array((np.array([1.0, 2.0, value, 3.0]), np.arange(4), np.arange(5)))
    with pytest.raises(SingularSystem, match=rf"is {value:.3g} at dof 2") as error:
        factorise(diagonal, method=method)
    np.testing.assert_array_equal(error.value.vector, [0.0, 0.0, 1.0, 0.0])
    assert ("not positive definite" in str(error.value)) == (value < 0.0)


@pytest.mark.parametrize("method", DIRECT)
@pytest.mark.parametrize(
    "block",
    [
        Block(2, held="right", length=200.0, cells=200),
        Block(8, nu=0.499999),
        Block(40),
    ],
    ids=["slender", "nearly incompressible", "many cells"],
)
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_hard_bodies_are_not_called_singular(method, block, scale):
    A = sparse.csr_array(scale * block.A)
    b = scale * (block.A @ np.ones(A.shape[0]))
    x = factorise(A, trailing=block.bottom, coordinates=block.coordinates, method=method).solve(b)
    np.testing.assert_allclose(x, 1.0, rtol=1e-5)
