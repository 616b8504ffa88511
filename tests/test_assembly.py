"""Assembled matrices against a slow independent assembler and closed forms."""

import numpy as np
import pytest

from fecontact.assembly import Assembler
from fecontact.body import Solid
from fecontact.errors import InputError
from fecontact.loads import edge_pressure, edge_traction
from fecontact.materials import Damping, IsotropicElastic, OrthotropicElastic
from fecontact.mesh import Mesh, rectangle
from tests.distorted_meshes import distorted, solve

ROCK = IsotropicElastic(2.0, 0.3, density=2.5)
WOOD = OrthotropicElastic(
    5.0, 2.0, 3.0, 0.2, 0.25, 0.3, 1.1, 25.0, density=0.6, damping=Damping(rayleigh_mass=3.0)
)
GAUSS = 1 / np.sqrt(3)


def gradients(kind, x, xi, eta):
    """Shape functions and their gradients in x by inverting the coordinate map, one point."""
    if kind == "triangle":
        N = np.array([1 - xi - eta, xi, eta])
        local = np.array([[-1, -1], [1, 0], [0, 1]], dtype=float)
    else:
        signs = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
        N = np.array([(1 + s * xi) * (1 + t * eta) / 4 for s, t in signs])
        local = np.array([[s * (1 + t * eta) / 4, t * (1 + s * xi) / 4] for s, t in signs])
    J = x.T @ local
    return N, local @ np.linalg.inv(J), np.linalg.det(J)


def strain_tensors(kind, x, N, dN, axisymmetric):
    """Strain tensor (3, 3) of each unit displacement of the element."""
    tensors = []
    for a in range(len(x)):
        for k in range(2):
            grad = np.zeros((3, 3))
            grad[k, :2] = dN[a]
            if axisymmetric and k == 0:
                grad[2, 2] = N[a] / (N @ x[:, 0])
            tensors.append((grad + grad.T) / 2)
    return np.array(tensors)


def reference(solid, law_of):
    """Dense K and consistent M by explicit loops and tensors."""
    mesh = solid.mesh
    axi = solid.hypothesis == "axisymmetric"
    K = np.zeros((solid.n_dofs, solid.n_dofs))
    M = np.zeros_like(K)
    g3, w3 = np.polynomial.legendre.leggauss(3)
    number = 0
    for kind, cells in mesh.cells.items():
        if kind == "triangle":
            rule = [(1 / 3, 1 / 3, 0.5)]
            # collapsed square: exact for the degrees needed
            t, w = np.polynomial.legendre.leggauss(4)
            t, w = (t + 1) / 2, w / 2
            rich = [
                (p, q * (1 - p), wp * wq * (1 - p))
                for p, wp in zip(t, w, strict=True)
                for q, wq in zip(t, w, strict=True)
            ]
        else:
            rule = [(s * GAUSS, t * GAUSS, 1.0) for s in (-1, 1) for t in (-1, 1)]
            rich = [
                (p, q, wp * wq)
                for p, wp in zip(g3, w3, strict=True)
                for q, wq in zip(g3, w3, strict=True)
            ]
        for cell in cells:
            law = law_of(number)
            number += 1
            x = mesh.nodes[cell]
            D = law.elasticity(solid.hypothesis)
            dofs = np.array([2 * i + k for i in cell for k in range(2)])
            strains, volumes = [], []
            for xi, eta, weight in rule:
                N, dN, det = gradients(kind, x, xi, eta)
                width = 2 * np.pi * (N @ x[:, 0]) if axi else solid.thickness
                strains.append(strain_tensors(kind, x, N, dN, axi))
                volumes.append(weight * det * width)
            if solid.quad == "bbar" and kind == "quad":
                trace = [np.trace(e, axis1=1, axis2=2) for e in strains]
                mean = sum(v * t for v, t in zip(volumes, trace, strict=True)) / sum(volumes)
                n = 2 if solid.hypothesis == "plane_stress" else 3
                unit = np.diag([1.0, 1.0, float(n == 3)])
                strains = [
                    e + (mean - t)[:, None, None] * unit / n
                    for e, t in zip(strains, trace, strict=True)
                ]
            for e, v in zip(strains, volumes, strict=True):
                vectors = np.array([[t[0, 0], t[1, 1], t[2, 2], 2 * t[0, 1]] for t in e])
                K[np.ix_(dofs, dofs)] += v * vectors @ D @ vectors.T
            for xi, eta, weight in rich:
                N, _, det = gradients(kind, x, xi, eta)
                width = 2 * np.pi * (N @ x[:, 0]) if axi else solid.thickness
                for k in range(2):
                    M[np.ix_(dofs[k::2], dofs[k::2])] += (
                        law.density * weight * det * width * np.outer(N, N)
                    )
    return K, M


def two_materials(kind):
    mesh = distorted(kind, n=3, origin=(0.5, 0.0))
    left = np.flatnonzero(mesh.centroids()[:, 0] < 1.4)
    right = np.setdiff1d(np.arange(mesh.n_elements), left)
    return mesh.with_groups(elements={"left": left, "right": right})


@pytest.mark.parametrize("quad", ["full", "bbar"])
@pytest.mark.parametrize("hypothesis", ["plane_strain", "plane_stress", "axisymmetric"])
@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
def test_against_explicit_loops(kind, hypothesis, quad):
    mesh = two_materials(kind)
    solid = Solid(mesh, {"left": ROCK, "right": WOOD}, hypothesis, thickness=0.7, quad=quad)
    left = set(mesh.elements("left").tolist())
    K, M = reference(solid, lambda e: ROCK if e in left else WOOD)
    assembler = Assembler(solid)
    np.testing.assert_allclose(assembler.stiffness().toarray(), K, atol=1e-12 * abs(K).max())
    np.testing.assert_allclose(assembler.mass().toarray(), M, atol=1e-13 * abs(M).max())
    np.testing.assert_allclose(assembler.lumped_masses(), M.sum(axis=1), rtol=1e-12)
    # three more routes to K u
    u = np.random.default_rng(3).standard_normal(solid.n_dofs)
    force = K @ u
    tolerance = 1e-12 * abs(force).max()
    np.testing.assert_allclose(assembler.internal_forces(u), force, atol=tolerance)
    D = solid.elasticities()[solid.element_material[solid.point_element]]
    tangent = assembler.tangent(D)
    np.testing.assert_allclose(tangent @ u, force, atol=tolerance)
    stress = np.einsum("pij,pj->pi", D, solid.strains(u))
    np.testing.assert_allclose(assembler.nodal_forces(stress), force, atol=tolerance)


def test_tangents_differ_from_point_to_point():
    """Scaling D by a field at the points scales the stresses there."""
    solid = Solid(two_materials("mixed"), {"left": ROCK, "right": WOOD})
    assembler = Assembler(solid)
    rng = np.random.default_rng(1)
    scale = rng.uniform(0.5, 2.0, solid.n_points)
    u = rng.standard_normal(solid.n_dofs)
    D = scale[:, None, None] * solid.elasticities()[solid.element_material[solid.point_element]]
    stress = np.einsum("pij,pj->pi", D, solid.strains(u))
    np.testing.assert_allclose(assembler.tangent(D) @ u, assembler.nodal_forces(stress), atol=1e-12)


@pytest.mark.parametrize("lumped", [False, True])
def test_damping_and_iteration_matrix(lumped):
    rock = IsotropicElastic(
        2.0,
        0.3,
        density=2.5,
        damping=Damping(kelvin_voigt=0.2, rayleigh_stiffness=0.1, rayleigh_mass=0.7),
    )
    mesh = two_materials("mixed")
    solid = Solid(mesh, {"left": rock, "right": WOOD}, quad="bbar")
    assembler = Assembler(solid)
    M, K, C = assembler.mass(lumped=lumped), assembler.stiffness(), assembler.damping(lumped=lumped)
    # each material apart, the other one without weight or stiffness
    expected = 0.0
    for name, law in (("left", rock), ("right", WOOD)):
        other = "right" if name == "left" else "left"
        nothing = IsotropicElastic(1e-300, 0.0)
        part = Assembler(Solid(mesh, {name: law, other: nothing}, quad="bbar"))
        d = law.damping
        expected = (
            expected
            + d.rayleigh_mass * part.mass(lumped=lumped)
            + (d.kelvin_voigt + d.rayleigh_stiffness) * part.stiffness()
        )
    np.testing.assert_allclose(C.toarray(), expected.toarray(), atol=1e-14)
    h, theta = 0.3, 0.6
    A = assembler.iteration_matrix(h, theta, lumped=lumped)
    by_data = M.data + h * theta * C.data + (h * theta) ** 2 * K.data
    np.testing.assert_allclose(A.data, by_data, atol=1e-14)
    for matrix in (M, K, C, A):
        assert np.shares_memory(matrix.indices, assembler.pattern.indices)
        assert np.shares_memory(matrix.indptr, assembler.pattern.indptr)
        matrix.check_format(full_check=True)
    if lumped:
        assert np.count_nonzero(M.toarray() - np.diag(M.diagonal())) == 0


@pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
def test_total_mass_and_inertia(kind):
    mesh = distorted(kind)
    assembler = Assembler(Solid(mesh, {"body": ROCK}, thickness=0.4))
    M = assembler.mass()
    x, y = mesh.nodes.T
    mass = 2.5 * 2.0 * 0.4
    for k in range(2):
        one = np.zeros((mesh.n_nodes, 2))
        one[:, k] = 1.0
        assert one.ravel() @ M @ one.ravel() == pytest.approx(mass, rel=1e-13)
        assert one.ravel() @ assembler.lumped_masses() == pytest.approx(mass, rel=1e-13)
    # consistent M has the exact moment of inertia about the origin, (4 + 1)/3 of the mass
    spin = np.stack([-y, x], axis=1).ravel()
    assert spin @ M @ spin == pytest.approx(mass * 5.0 / 3.0, rel=1e-13)
    assert assembler.lumped_masses().min() > 0.0
    ring = Assembler(Solid(mesh.moved((0.5, 0.0)), {"body": ROCK}, "axisymmetric"))
    assert ring.lumped_masses().sum() / 2 == pytest.approx(2.5 * np.pi * (2.5**2 - 0.5**2))


def test_pattern_is_that_of_the_node_graph():
    mesh = distorted("mixed")
    solid = Solid(mesh, {"body": ROCK})
    K = Assembler(solid).stiffness()
    coupled = np.zeros((mesh.n_nodes, mesh.n_nodes), dtype=bool)
    for cells in mesh.cells.values():
        for cell in cells:
            coupled[np.ix_(cell, cell)] = True
    found = np.zeros((solid.n_dofs, solid.n_dofs), dtype=bool)
    rows = np.repeat(np.arange(solid.n_dofs), np.diff(K.indptr))
    found[rows, K.indices] = True
    np.testing.assert_array_equal(found, np.kron(coupled, np.ones((2, 2), dtype=bool)))
    assert K.nnz == found.sum()
    # the matrix is declared sorted, so that scipy never looks: look here
    for row in range(solid.n_dofs):
        assert np.all(np.diff(K.indices[K.indptr[row] : K.indptr[row + 1]]) > 0)


def test_a_node_without_elements_has_an_empty_diagonal():
    nodes = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [0.0, 1.0]])
    mesh = Mesh(nodes, {"triangle": np.array([[0, 1, 3]])}, {"body": np.arange(1)})
    K = Assembler(Solid(mesh, {"body": ROCK})).stiffness()
    np.testing.assert_array_equal(K.toarray()[4:6], 0.0)
    assert K.indptr[6] - K.indptr[4] == 4


def lame(r, E, nu, p, a, b):
    """Radial displacement of a thick tube under inner pressure, plane strain."""
    return (1 + nu) / E * p * a**2 / (b**2 - a**2) * ((1 - 2 * nu) * r + b**2 / r)


def tube(n, nu, quad="full", kind="quad"):
    """Relative error (root mean square) of an axisymmetric tube held between two plates."""
    E, p, a, b = 3.0, 0.7, 1.0, 2.0
    mesh = rectangle(b - a, 0.3, n, max(1, n // 4), origin=(a, 0.0), kind=kind)
    law = IsotropicElastic(E, nu)
    solid = Solid(mesh, {"body": law}, "axisymmetric", quad=quad)
    plates = np.union1d(mesh.node_numbers("top"), mesh.node_numbers("bottom"))
    dofs = 2 * plates + 1
    f = edge_pressure(solid, mesh.edges("left"), p)
    u = solve(Assembler(solid).stiffness(), f, dofs, np.zeros(dofs.size)).reshape(-1, 2)
    exact = lame(mesh.nodes[:, 0], E, nu, p, a, b)
    # the mean: the maximum of T3 with one-sided diagonals carries a logarithm at the corners
    return np.sqrt(np.mean((u[:, 0] - exact) ** 2) / np.mean(exact**2))


@pytest.mark.parametrize(
    ("kind", "quad"), [("triangle", "full"), ("quad", "full"), ("quad", "bbar")]
)
def test_axisymmetric_tube_converges(kind, quad):
    errors = [tube(n, 0.3, quad, kind) for n in (8, 16, 32)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 1.9), orders
    assert errors[-1] < 2e-4


def quarter_ring(quad, nu, n=4):
    """Error at the inner radius of a plane strain quarter of a tube on a coarse mesh."""
    E, p, a, b = 3.0, 0.7, 1.0, 2.0
    square = rectangle(1.0, 1.0, n, 2 * n, kind="quad")
    r, angle = a + (b - a) * square.nodes[:, 0], 0.5 * np.pi * square.nodes[:, 1]
    nodes = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    mesh = Mesh(nodes, square.cells, square.element_groups, square.edge_groups)
    solid = Solid(mesh, {"body": IsotropicElastic(E, nu)}, quad=quad)
    dofs = np.concatenate([2 * mesh.node_numbers("bottom") + 1, 2 * mesh.node_numbers("top")])
    f = edge_pressure(solid, mesh.edges("left"), p)
    u = solve(Assembler(solid).stiffness(), f, dofs, np.zeros(dofs.size)).reshape(-1, 2)
    inner = mesh.node_numbers("left")
    radial = np.hypot(*u[inner].T)
    return abs(radial / lame(a, E, nu, p, a, b) - 1.0).max()


@pytest.mark.parametrize("quad", ["bbar", "selective"])
def test_nearly_incompressible_tube_does_not_lock(quad):
    assert quarter_ring("full", 0.4999) > 0.5
    assert quarter_ring(quad, 0.4999) < 0.03
    assert quarter_ring(quad, 0.3) < 0.03


def cook(quad, n):
    """Tip displacement of Cook's membrane in plane strain, nearly incompressible."""
    square = rectangle(1.0, 1.0, n, n, kind="quad")
    s, t = square.nodes.T
    nodes = np.stack([48.0 * s, 44.0 * s + t * (44.0 - 28.0 * s)], axis=1)
    mesh = Mesh(nodes, square.cells, square.element_groups, square.edge_groups)
    solid = Solid(mesh, {"body": IsotropicElastic(240.565, 0.4999)}, quad=quad)

    f = edge_traction(solid, mesh.edges("right"), (0.0, 100.0 / 16.0))
    clamped = mesh.node_numbers("left")
    dofs = np.concatenate([2 * clamped, 2 * clamped + 1])
    u = solve(Assembler(solid).stiffness(), f, dofs, np.zeros(dofs.size))
    return u[-1]


def test_cook_membrane():
    """Full integration is far too stiff on meshes where B-bar is close to its own limit."""
    coarse, fine = cook("bbar", 16), cook("bbar", 64)
    assert coarse == pytest.approx(fine, rel=0.03)
    assert cook("full", 16) < 0.75 * fine


def test_thick_and_thin_scale():
    mesh = distorted("mixed")
    thin = Assembler(Solid(mesh, {"body": ROCK}))
    thick = Assembler(Solid(mesh, {"body": ROCK}, thickness=3.0))
    np.testing.assert_allclose(thick.stiffness().data, 3.0 * thin.stiffness().data, atol=1e-13)
    np.testing.assert_allclose(thick.mass().data, 3.0 * thin.mass().data, atol=1e-15)


def test_spring_of_a_bar():
    """A bar between two plates, plane stress: force = E A / L times the shortening."""
    mesh = distorted("mixed")
    solid = Solid(mesh, {"body": ROCK}, "plane_stress", thickness=0.5)
    K = Assembler(solid).stiffness()
    left, right = mesh.node_numbers("left"), mesh.node_numbers("right")
    dofs = np.concatenate([2 * left, 2 * right, [2 * left[0] + 1]])
    values = np.concatenate([np.zeros(left.size), np.full(right.size, -0.01), [0.0]])
    u = solve(K, np.zeros(solid.n_dofs), dofs, values)
    assert (K @ u)[2 * right].sum() == pytest.approx(-0.01 * 2.0 * 0.5 / 2.0, rel=1e-12)


def test_messages():
    assembler = Assembler(Solid(distorted("quad"), {"body": ROCK}))
    with pytest.raises(InputError, match=r"h = 0.0, expected a number > 0"):
        assembler.iteration_matrix(0.0, 1.0)
    with pytest.raises(InputError, match=r"theta = 1.5"):
        assembler.iteration_matrix(0.1, 1.5)
    with pytest.raises(InputError, match=r"u has shape \(3,\), expected \(50,\)"):
        assembler.internal_forces(np.zeros(3))
    with pytest.raises(InputError, match=r"tangents has shape"):
        assembler.tangent(np.zeros((4, 4)))
