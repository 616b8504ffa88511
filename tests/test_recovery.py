"""Recovered strains and stresses: convergence, averages, invariants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.errors import InputError
from fecontact.loads import body_force
from fecontact.materials import IsotropicElastic
from fecontact.mesh import rectangle
from fecontact.recovery import (
    element_average,
    integration_points,
    mean_value,
    nodal_average,
    principal_angle,
    principal_values,
    second_invariant,
    strain_at_points,
    stress_at_points,
    von_mises,
)
from tests.distorted_meshes import distorted, solve

LAW = IsotropicElastic(2.0, 0.3)
numbers = st.floats(-1e3, 1e3).map(lambda v: round(v, 6))
tensors = st.tuples(numbers, numbers, numbers, numbers).map(np.array)


def full(t, shear=1.0):
    return np.array([[t[0], shear * t[3], 0.0], [shear * t[3], t[1], 0.0], [0.0, 0.0, t[2]]])


@given(tensors)
def test_principal_values_are_eigenvalues(t):
    for kind, shear in (("stress", 1.0), ("strain", 0.5)):
        A = full(t, shear)
        size = max(abs(t).max(), 1e-30)
        values = principal_values(t, kind)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1], atol=1e-12 * size)
        dev = A - np.trace(A) / 3 * np.eye(3)
        invariant = second_invariant(t, kind)
        assert invariant == pytest.approx(np.sum(dev * dev) / 2, abs=1e-12 * size**2)
        angle = principal_angle(t, kind)
        v = np.array([np.cos(angle), np.sin(angle), 0.0])
        assert v @ A @ v == pytest.approx(np.linalg.eigvalsh(A[:2, :2])[1], abs=1e-12 * size)


@given(tensors, st.floats(0.0, 6.0), numbers)
def test_invariants_do_not_depend_on_axes_nor_on_pressure(t, angle, pressure):
    c, s = np.cos(angle), np.sin(angle)
    Q = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    A = Q @ full(t) @ Q.T
    turned = np.array([A[0, 0], A[1, 1], A[2, 2], A[0, 1]])
    size = max(abs(t).max(), abs(pressure), 1e-30)
    np.testing.assert_allclose(principal_values(turned), principal_values(t), atol=1e-12 * size)
    shifted = turned + pressure * np.array([1.0, 1.0, 1.0, 0.0])
    assert second_invariant(shifted) == pytest.approx(second_invariant(t), abs=1e-11 * size**2)
    assert mean_value(shifted) == pytest.approx(t[:3].sum() / 3 + pressure, abs=1e-12 * size)


def test_von_mises_of_simple_states():
    assert von_mises(np.array([-5.0, 0.0, 0.0, 0.0])) == pytest.approx(5.0)
    assert von_mises(np.array([0.0, 0.0, 0.0, 2.0])) == pytest.approx(2.0 * np.sqrt(3.0))
    assert von_mises(np.array([7.0, 7.0, 7.0, 0.0])) == 0.0
    assert von_mises(np.zeros((3, 5, 4))).shape == (3, 5)


def manufactured(mesh, quad="full"):
    """Solution of a plane strain problem with u = (sin x cos 2y, cos x sin y) and its stress."""
    solid = Solid(mesh, {"body": LAW}, quad=quad)
    lam, G = LAW.lame_lambda, LAW.shear_modulus

    def exact(p):
        x, y = p.T
        return np.stack([np.sin(x) * np.cos(2 * y), np.cos(x) * np.sin(y)], axis=1)

    def strain(p):
        x, y = p.T
        xx = np.cos(x) * np.cos(2 * y)
        yy = np.cos(x) * np.cos(y)
        xy = -2 * np.sin(x) * np.sin(2 * y) - np.sin(x) * np.sin(y)
        return np.stack([xx, yy, 0 * x, xy], axis=1)

    def force(p):
        # -(G lap u + (lam + G) grad div u), div u = cos x (cos 2y + cos y)
        x, y = p.T
        u = exact(p)
        laplacian = np.stack([-5 * u[:, 0], -2 * u[:, 1]], axis=1)
        gradient = np.stack(
            [
                -np.sin(x) * (np.cos(2 * y) + np.cos(y)),
                -np.cos(x) * (2 * np.sin(2 * y) + np.sin(y)),
            ],
            axis=1,
        )
        return -(G * laplacian + (lam + G) * gradient)

    boundary = np.unique(mesh.boundary_edges())
    dofs = np.concatenate([2 * boundary, 2 * boundary + 1])
    prescribed = exact(mesh.nodes).ravel()[dofs]
    u = solve(Assembler(solid).stiffness(), body_force(solid, force), dofs, prescribed)
    points = integration_points(solid)
    stress = stress_at_points(solid, u)
    D = LAW.elasticity("plane_strain")
    error = stress - strain(points.position) @ D
    at_centre = element_average(solid, stress) - strain(mesh.centroids()) @ D
    inside = np.setdiff1d(np.arange(mesh.n_nodes), boundary)
    at_nodes = (nodal_average(solid, stress) - strain(mesh.nodes) @ D)[inside]
    return (
        abs(u - exact(mesh.nodes).ravel()).max(),
        np.sqrt(points.volume @ (error**2).sum(axis=1)),
        np.sqrt((at_centre**2).sum(axis=1).mean()),
        np.sqrt((at_nodes**2).sum(axis=1).mean()),
    )


@pytest.mark.parametrize(
    ("kind", "quad", "least"),
    # displacement, stress at points, mean of elements (superconvergent at the centre of Q4),
    # averages at inner nodes of a regular mesh
    [
        ("triangle", "full", (1.9, 0.95, 0.95, 1.9)),
        ("quad", "full", (1.9, 0.95, 1.9, 1.9)),
        ("quad", "bbar", (1.9, 0.95, 1.9, 1.9)),
    ],
)
def test_orders_of_convergence(kind, quad, least):
    meshes = [rectangle(1.0, 1.5, n, n, kind=kind, origin=(0.2, 0.1)) for n in (8, 16, 32)]
    errors = np.array([manufactured(mesh, quad) for mesh in meshes])
    orders = np.log2(errors[1] / errors[2])
    assert np.all(orders > least), orders


@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
@pytest.mark.parametrize("hypothesis", ["plane_strain", "plane_stress", "axisymmetric"])
def test_strain_at_points_is_the_gradient_there(kind, hypothesis):
    """Finite differences of the interpolated displacement along the sides of a linear field."""
    mesh = distorted(kind, origin=(0.5, 0.0))
    solid = Solid(mesh, {"body": LAW}, hypothesis, thickness=2.0)
    u = mesh.nodes @ np.array([[0.1, 0.2], [0.3, -0.4]])
    strain = strain_at_points(solid, u)
    np.testing.assert_array_equal(strain, strain_at_points(solid, u.ravel()))
    points = integration_points(solid)
    np.testing.assert_allclose(strain[:, [0, 1]], [[0.1, -0.4]] * solid.n_points, atol=1e-14)
    np.testing.assert_allclose(strain[:, 3], 0.5, atol=1e-14)
    x, y = points.position.T
    zz = {
        "plane_strain": 0 * x,
        "plane_stress": 0 * x - 0.3 / 0.7 * (0.1 - 0.4),
        "axisymmetric": (0.1 * x + 0.3 * y) / x,
    }[hypothesis]
    np.testing.assert_allclose(strain[:, 2], zz, atol=1e-13)
    D3 = LAW.unconstrained_elasticity()
    np.testing.assert_allclose(stress_at_points(solid, u), strain @ D3, atol=1e-13)


def test_points_lie_in_their_elements_and_fill_them():
    mesh = distorted("mixed")
    solid = Solid(mesh, {"body": LAW}, thickness=0.5)
    points = integration_points(solid)
    volumes = np.bincount(points.element, points.volume)
    np.testing.assert_allclose(volumes, 0.5 * mesh.areas())
    centre = element_average(solid, points.position)
    np.testing.assert_allclose(centre, mesh.centroids(), atol=1e-14)


def test_averages_of_a_linear_field():
    """Averages keep constants; on Q4 a bilinear field comes back exactly at the nodes."""
    mesh = rectangle(2.0, 1.0, 5, 4, kind="quad")
    solid = Solid(mesh, {"body": LAW})
    x, y = integration_points(solid).position.T
    values = np.stack([1.0 + 2.0 * x - y, 3.0 + 0 * x], axis=1)
    nodal = nodal_average(solid, values)
    np.testing.assert_allclose(nodal[:, 0], 1.0 + mesh.nodes @ [2.0, -1.0], atol=1e-14)
    np.testing.assert_allclose(nodal[:, 1], 3.0)
    mixed = Solid(distorted("mixed"), {"body": LAW})
    np.testing.assert_allclose(nodal_average(mixed, np.full(mixed.n_points, 2.0)), 2.0)


def test_averages_stay_within_a_group():
    mesh = rectangle(2.0, 1.0, 4, 2, kind="triangle")
    left = np.flatnonzero(mesh.centroids()[:, 0] < 1.0)
    right = np.setdiff1d(np.arange(mesh.n_elements), left)
    mesh = mesh.with_groups(elements={"left": left, "right": right})
    solid = Solid(mesh, {"left": LAW, "right": IsotropicElastic(20.0, 0.3)})
    u = np.zeros((mesh.n_nodes, 2))
    u[:, 0] = mesh.nodes[:, 0]
    stress = stress_at_points(solid, u)
    in_left = nodal_average(solid, stress, "left")
    in_right = nodal_average(solid, stress, "right")
    x = mesh.nodes[:, 0]
    assert np.all(np.isnan(in_left[x > 1.0 + 1e-9]))
    assert np.all(np.isnan(in_right[x < 1.0 - 1e-9]))
    np.testing.assert_allclose(in_right[x >= 1.0], 10.0 * in_left[x <= 1.0][: (x >= 1.0).sum()])
    interface = abs(x - 1.0) < 1e-9
    mean = nodal_average(solid, stress)[interface, 0]
    assert np.all(mean > in_left[interface, 0])
    assert np.all(mean < in_right[interface, 0])


def test_bbar_strain_is_the_one_the_material_sees():
    """With B-bar the volume change is one per element and zz vanishes on average."""
    mesh = distorted("quad")
    solid = Solid(mesh, {"body": LAW}, quad="bbar")
    u = np.random.default_rng(2).standard_normal(solid.n_dofs)
    strain = strain_at_points(solid, u)
    volume_change = strain[:, :3].sum(axis=1).reshape(-1, 4)
    np.testing.assert_allclose(volume_change, volume_change[:, :1] * np.ones(4), atol=1e-12)
    np.testing.assert_allclose(element_average(solid, strain)[:, 2], 0.0, atol=1e-12)


def test_messages():
    solid = Solid(distorted("quad"), {"body": LAW})
    with pytest.raises(InputError, match=r"shape \(7,\), expected \(50,\) or \(25, 2\)"):
        stress_at_points(solid, np.zeros(7))
    with pytest.raises(InputError, match=r"shape \(25, 4\), expected \(64, ...\)"):
        nodal_average(solid, np.zeros((25, 4)))
