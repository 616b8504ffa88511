"""Shape functions, quadrature and strain operators."""

import pickle
from math import factorial

import numpy as np
import pytest

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.elements import SHAPES, edge_rule, quad_rule, triangle_rule
from fecontact.errors import InputError, MeshError
from fecontact.loads import edge_traction
from fecontact.materials import IsotropicElastic, OrthotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.recovery import strain_at_points, stress_at_points
from tests.distorted_meshes import distorted, solve

MATERIALS = {
    "isotropic": IsotropicElastic(3.0, 0.3),
    "orthotropic": OrthotropicElastic(5.0, 2.0, 3.0, 0.2, 0.25, 0.3, 1.1, angle=25.0),
}


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_triangle_rules_integrate_their_degree(degree):
    points, weights = triangle_rule(degree)
    for i in range(degree + 1):
        for j in range(degree + 1 - i):
            exact = factorial(i) * factorial(j) / factorial(i + j + 2)
            assert weights @ (points[:, 0] ** i * points[:, 1] ** j) == pytest.approx(
                exact, rel=1e-13
            )


@pytest.mark.parametrize("n", [2, 3])
def test_gauss_rules_integrate_their_degree(n):
    points, weights = quad_rule(n)
    s, ws = edge_rule(n)
    for i in range(2 * n):
        assert ws @ s**i == pytest.approx(1.0 / (i + 1), rel=1e-13)
        for j in range(2 * n):
            exact = (1 - (-1) ** (i + 1)) / (i + 1) * (1 - (-1) ** (j + 1)) / (j + 1)
            value = weights @ (points[:, 0] ** i * points[:, 1] ** j)
            assert value == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("kind", ["triangle", "quad"])
def test_shapes_are_nodal_and_derivatives_match_differences(kind):
    corners = {
        "triangle": np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        "quad": np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]),
    }[kind]
    shapes = SHAPES[kind]
    np.testing.assert_allclose(shapes(corners)[0], np.eye(len(corners)), atol=1e-15)
    points = np.random.default_rng(0).uniform(-0.4, 0.4, (5, 2))
    N, dN = shapes(points)
    np.testing.assert_allclose(N.sum(axis=1), 1.0)
    for k in range(2):
        step = np.zeros(2)
        step[k] = 1e-6
        difference = (shapes(points + step)[0] - shapes(points - step)[0]) / 2e-6
        np.testing.assert_allclose(dN[:, :, k], difference, atol=1e-9)


def constant_state(hypothesis, mesh, G):
    """Linear displacement with gradient G; in axisymmetry u_r = a r, u_z = b z + c r."""
    if hypothesis == "axisymmetric":
        G = np.array([[G[0, 0], 0.0], [G[1, 0], G[1, 1]]])
    u = mesh.nodes @ G.T
    hoop = G[0, 0] if hypothesis == "axisymmetric" else 0.0
    return u, np.array([G[0, 0], G[1, 1], hoop, G[0, 1] + G[1, 0]])


# in axisymmetry: "selective" is refused, and the orthotropic radial and hoop stresses of a constant
# strain differ, which is no equilibrium without a body force
PATCHES = [
    (kind, hypothesis, quad, material)
    for kind in ("triangle", "quad", "mixed")
    for hypothesis in ("plane_strain", "plane_stress", "axisymmetric")
    for quad in ("full", "bbar", "selective")
    for material in MATERIALS
    if hypothesis != "axisymmetric" or (quad != "selective" and material == "isotropic")
]


@pytest.mark.parametrize(("kind", "hypothesis", "quad", "material"), PATCHES)
def test_patch(kind, hypothesis, quad, material):
    """A linear displacement given on the boundary is found inside, with its constant strain."""
    mesh = distorted(kind, origin=(0.5, -0.3))
    law = MATERIALS[material]
    solid = Solid(mesh, {"body": law}, hypothesis, thickness=0.7, quad=quad)
    G = np.array([[1e-3, 4e-4], [-7e-4, 2e-3]])
    if hypothesis == "axisymmetric":
        # a constant shear stress is no equilibrium there
        G[1, 0] = 0.0
    u, strain = constant_state(hypothesis, mesh, G)
    boundary = np.unique(mesh.boundary_edges())
    dofs = np.concatenate([2 * boundary, 2 * boundary + 1])
    K = Assembler(solid).stiffness()
    found = solve(K, np.zeros(solid.n_dofs), dofs, u.ravel()[dofs])
    np.testing.assert_allclose(found, u.ravel(), atol=1e-14)
    D = law.elasticity(hypothesis)
    np.testing.assert_allclose(stress_at_points(solid, found) - D @ strain, 0.0, atol=1e-13)
    at_points = strain_at_points(solid, found)
    np.testing.assert_allclose(at_points[:, [0, 1, 3]] - strain[[0, 1, 3]], 0.0, atol=1e-14)
    if hypothesis == "plane_stress":
        back = law.unconstrained_elasticity() @ at_points[0]
        assert back[2] == pytest.approx(0.0, abs=1e-14)
    else:
        np.testing.assert_allclose(at_points[:, 2], strain[2], atol=1e-14)


@pytest.mark.parametrize("quad", ["full", "bbar", "selective"])
@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
def test_patch_with_tractions(kind, quad):
    """Constant stress equilibrates its boundary tractions: K u = f, in all dofs."""
    for hypothesis in ("plane_strain", "plane_stress", "axisymmetric"):
        if hypothesis == "axisymmetric" and quad == "selective":
            continue
        mesh = distorted(kind, origin=(0.5, 0.0))
        law = IsotropicElastic(3.0, 0.3)
        solid = Solid(mesh, {"body": law}, hypothesis, thickness=0.7, quad=quad)
        G = np.array([[1.0, 0.4], [0.0 if hypothesis == "axisymmetric" else -0.7, 2.0]])
        u, strain = constant_state(hypothesis, mesh, G)
        s = law.elasticity(hypothesis) @ strain
        S = np.array([[s[0], s[3]], [s[3], s[1]]])
        f = edge_traction(solid, mesh.boundary_edges(), lambda x, n, S=S: n @ S.T)
        residual = Assembler(solid).stiffness() @ u.ravel() - f
        np.testing.assert_allclose(residual, 0.0, atol=2e-13 * abs(f).max())


def test_selective_and_bbar_are_the_same_plane_element():
    mesh = distorted("quad")
    K = {}
    for quad in ("full", "bbar", "selective"):
        solid = Solid(mesh, {"body": IsotropicElastic(1.0, 0.45)}, quad=quad)
        K[quad] = Assembler(solid).stiffness().toarray()
    np.testing.assert_allclose(K["selective"], K["bbar"], atol=1e-13)
    assert abs(K["full"] - K["bbar"]).max() > 1e-2


def test_selective_is_refused_in_axisymmetry():
    with pytest.raises(InputError, match="choose 'bbar'"):
        Solid(
            distorted("quad"),
            {"body": IsotropicElastic(1.0, 0.3)},
            "axisymmetric",
            quad="selective",
        )


@pytest.mark.parametrize("quad", ["full", "bbar"])
@pytest.mark.parametrize(
    ("hypothesis", "modes"), [("plane_strain", 3), ("plane_stress", 3), ("axisymmetric", 1)]
)
@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
def test_null_space_is_the_rigid_motions(kind, hypothesis, modes, quad):
    mesh = distorted(kind, n=3, origin=(0.5, 0.0))
    solid = Solid(mesh, {"body": IsotropicElastic(1.0, 0.3)}, hypothesis, quad=quad)
    K = Assembler(solid).stiffness().toarray()
    values = np.linalg.eigvalsh(K)
    assert np.count_nonzero(abs(values) < 1e-12 * values[-1]) == modes
    assert values[modes] > 1e-4 * values[-1]
    x, y = mesh.nodes.T
    motions = [np.stack([0 * x, 1 + 0 * x], 1)]
    if modes == 3:
        motions += [np.stack([1 + 0 * x, 0 * x], 1), np.stack([-y, x], 1)]
    for motion in motions:
        np.testing.assert_allclose(K @ motion.ravel(), 0.0, atol=1e-13 * values[-1])


def test_inverted_element_is_named():
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    mesh = Mesh(nodes, {"triangle": np.array([[0, 1, 2], [0, 3, 2]])}, {"body": np.arange(2)})
    solid = Solid(mesh, {"body": IsotropicElastic(1.0, 0.3)})
    with pytest.raises(MeshError, match=r"1 triangle element.*first: 1"):
        Assembler(solid)


def test_solid_pickles():
    solid = Solid(distorted("mixed"), {"body": MATERIALS["orthotropic"]}, "plane_stress", 0.7)
    back = pickle.loads(pickle.dumps(solid))
    np.testing.assert_array_equal(
        Assembler(back).stiffness().data, Assembler(solid).stiffness().data
    )


def test_solid_says_what_is_wrong():
    mesh = rectangle(1.0, 1.0, 2, 2, kind="quad")
    steel = IsotropicElastic(1.0, 0.3)
    with pytest.raises(MeshError, match=r"did you mean 'body'"):
        Solid(mesh, {"bodi": steel})
    with pytest.raises(MeshError, match="4 of 4 elements have no material"):
        Solid(mesh, {})
    twice = mesh.with_groups(elements={"half": np.array([1, 2])})
    with pytest.raises(MeshError, match="2 of 4 elements have more than one material"):
        Solid(twice, {"body": steel, "half": steel})
    with pytest.raises(InputError, match=r"plane_strian.*did you mean 'plane_strain'"):
        Solid(mesh, {"body": steel}, "plane_strian")
    with pytest.raises(InputError, match="bbar, full, selective"):
        Solid(mesh, {"body": steel}, quad="reduced")
    with pytest.raises(InputError, match="thickness = -1"):
        Solid(mesh, {"body": steel}, thickness=-1.0)
    with pytest.raises(MeshError, match="negative radius"):
        Solid(mesh.moved((-0.5, 0.0)), {"body": steel}, "axisymmetric")
