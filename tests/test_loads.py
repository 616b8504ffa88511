"""Load vectors: totals, moments, and exactness."""

import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.errors import ConditionError
from fecontact.loads import body_force, edge_pressure, edge_traction, gravity, point_force
from fecontact.materials import IsotropicElastic
from fecontact.mesh import rectangle
from tests.distorted_meshes import distorted

ROCK = IsotropicElastic(1.0, 0.3, density=2.5)


def total(f):
    return f.reshape(-1, 2).sum(axis=0)


def moment(mesh, f):
    F = f.reshape(-1, 2)
    return float(np.sum(mesh.nodes[:, 0] * F[:, 1] - mesh.nodes[:, 1] * F[:, 0]))


@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
def test_constant_pressure_around_a_body_is_in_equilibrium(kind):
    mesh = distorted(kind)
    solid = Solid(mesh, {"body": ROCK}, thickness=0.3)
    f = edge_pressure(solid, mesh.boundary_edges(), 4.0)
    np.testing.assert_allclose(total(f), 0.0, atol=1e-14)
    assert moment(mesh, f) == pytest.approx(0.0, abs=1e-14)
    # pushes on the body: the virtual work in a unit swelling is -p times the change of volume
    assert f @ mesh.nodes.ravel() == pytest.approx(-4.0 * 2 * 2.0 * 0.3)


def test_linear_pressure_has_the_resultant_and_moment_of_the_trapezium():
    mesh = rectangle(2.0, 3.0, 2, 5, kind="quad", grading_y=3.0)
    solid = Solid(mesh, {"body": ROCK}, thickness=0.5)
    f = edge_pressure(solid, mesh.edges("left"), lambda x: 1.0 + 2.0 * x[:, 1])
    # integral of 1 + 2y over [0, 3] is 12, of y (1 + 2y) is 22.5, times the thickness
    np.testing.assert_allclose(total(f), [6.0, 0.0], atol=1e-14)
    assert moment(mesh, f) == pytest.approx(-11.25)


def test_pressure_per_edge():
    mesh = rectangle(1.0, 1.0, 2, 4, kind="quad")
    solid = Solid(mesh, {"body": ROCK})
    edges = mesh.edges("right")
    p = np.array([1.0, 2.0, 4.0, 8.0])
    f = edge_pressure(solid, edges, p)
    expected = np.zeros((mesh.n_nodes, 2))
    for (a, b), value in zip(edges, p, strict=True):
        expected[[a, b], 0] -= value * 0.25 / 2
    np.testing.assert_allclose(f, expected.ravel(), atol=1e-15)


def test_traction_sees_points_and_outward_normals():
    mesh = distorted("mixed")
    solid = Solid(mesh, {"body": ROCK})
    centre = mesh.nodes.mean(axis=0)

    def traction(points, normals):
        assert np.all(np.einsum("ij,ij->i", points - centre, normals) > 0)
        np.testing.assert_allclose(np.hypot(*normals.T), 1.0)
        return np.stack([points[:, 1], points[:, 0] ** 0], axis=1)

    f = edge_traction(solid, mesh.boundary_edges(), traction)
    # ∮ y over the rectangle 2 x 1: 0 below, 2 above, 1/2 on each side
    np.testing.assert_allclose(total(f), [3.0, 6.0])
    constant = edge_traction(solid, mesh.edges("top"), (1.0, -2.0))
    np.testing.assert_allclose(total(constant), [2.0, -4.0])


def test_axisymmetric_loads_run_over_the_full_turn():
    mesh = distorted("mixed", origin=(0.5, 0.0))
    solid = Solid(mesh, {"body": ROCK}, "axisymmetric", thickness=17.0)
    a, b = 0.5, 2.5
    area = np.pi * (b**2 - a**2)
    assert total(edge_pressure(solid, mesh.edges("top"), 3.0))[1] == pytest.approx(-3.0 * area)
    # linear in r: ∫ r 2 pi r dr
    linear = edge_pressure(solid, mesh.edges("top"), lambda x: x[:, 0])
    assert total(linear)[1] == pytest.approx(-2 * np.pi * (b**3 - a**3) / 3)
    assert total(edge_pressure(solid, mesh.edges("left"), 3.0))[0] == pytest.approx(
        3.0 * 2 * np.pi * a
    )
    assert total(gravity(solid, (0.0, -10.0)))[1] == pytest.approx(-25.0 * area)


@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
def test_gravity_and_body_force(kind):
    mesh = distorted(kind)
    solid = Solid(mesh, {"body": ROCK}, thickness=0.5)
    f = gravity(solid, (0.0, -10.0))
    np.testing.assert_allclose(total(f), [0.0, -2.5 * 10 * 2.0 * 0.5], atol=1e-13)
    # the resultant passes through the centre of gravity x = 1
    assert moment(mesh, f) == pytest.approx(-25.0)
    linear = body_force(solid, lambda x: np.stack([x[:, 1], 3.0 * x[:, 0]], axis=1))
    np.testing.assert_allclose(total(linear), [0.5 * 1.0, 0.5 * 6.0])


def test_gravity_of_two_materials_and_force_on_a_group():
    mesh = rectangle(2.0, 1.0, 4, 2, kind="quad")
    left = np.flatnonzero(mesh.centroids()[:, 0] < 1.0)
    right = np.setdiff1d(np.arange(mesh.n_elements), left)
    mesh = mesh.with_groups(elements={"left": left, "right": right})
    light = IsotropicElastic(1.0, 0.3, density=1.0)
    solid = Solid(mesh, {"left": light, "right": ROCK})
    assert total(gravity(solid, (0.0, -2.0)))[1] == pytest.approx(-2.0 * 3.5)
    f = body_force(solid, (1.0, 0.0), "left")
    np.testing.assert_allclose(total(f), [1.0, 0.0], atol=1e-15)
    assert not np.any(f.reshape(-1, 2)[mesh.nodes[:, 0] > 1.0 + 1e-9])


def test_point_forces_add_up():
    mesh = rectangle(1.0, 1.0, 1, 1, kind="quad")
    solid = Solid(mesh, {"body": ROCK})
    f = point_force(solid, [1, 1, 3], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(f, [0, 0, 4, 6, 0, 0, 5, 6])
    np.testing.assert_array_equal(point_force(solid, 2, (1.0, -1.0)), [0, 0, 0, 0, 1, -1, 0, 0])


def test_messages():
    mesh = rectangle(1.0, 1.0, 2, 2, kind="quad")
    solid = Solid(mesh, {"body": ROCK})
    top = mesh.edges("top")
    with pytest.raises(ConditionError, match=r"edge pressure has shape \(3,\).*\(2,\)"):
        edge_pressure(solid, top, [1.0, 2.0, 3.0])
    with pytest.raises(ConditionError, match=r"edge traction has shape \(4,\)"):
        edge_traction(solid, top, lambda x, n: x[:, 0])
    with pytest.raises(ConditionError, match="not finite"):
        edge_pressure(solid, top, lambda x: np.nan)
    with pytest.raises(ConditionError, match="nodes 0 to 8"):
        edge_pressure(solid, np.array([[0, 12]]), 1.0)
    with pytest.raises(ConditionError, match=r"shape \(3,\), expected \(n_edges, 2\)"):
        edge_pressure(solid, np.array([0, 1, 2]), 1.0)
    with pytest.raises(ConditionError, match="no length"):
        edge_pressure(solid, np.array([[1, 1]]), 1.0)
    with pytest.raises(ConditionError, match="node 9"):
        point_force(solid, 9, (1.0, 0.0))
    assert not edge_pressure(solid, np.empty((0, 2), dtype=int), 1.0).any()
