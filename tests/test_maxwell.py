"""Maxwell bodies against closed forms: relaxation, shear, traction, finite rotation and shear."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from fecontact.assembly import Assembler
from fecontact.assembly.moving import Configuration, MovingBody
from fecontact.body import Solid
from fecontact.errors import InvertedElement, MaterialError
from fecontact.materials import Branch, GeneralisedMaxwell, IsotropicElastic, Material, Maxwell
from fecontact.materials.maxwell import Rheology
from fecontact.materials.viscous_step import ViscoelasticLaw
from fecontact.mesh import Mesh, rectangle
from fecontact.typing import FloatArray

E, NU = 2.5e10, 0.25
G = 1e10
ETA = 1e22
TAU = ETA / G


def law_of(material: Material, n: int = 1) -> ViscoelasticLaw:
    return ViscoelasticLaw(Rheology.of(material, np.zeros((n, 2))))


def test_deviator_relaxes_and_pressure_stays() -> None:
    law = law_of(Maxwell(E, NU, eta=ETA))
    stress = np.array([[3e8, -1e8, 4e8, 2e8]])
    state = law.initial_state(stress)
    for h in (0.3 * TAU, 2.0 * TAU, 1e-9 * TAU):
        *_, state = law.update(np.zeros((1, 4)), state, h)
    mean = stress[0, :3].mean()
    expected = (stress[0] - [mean, mean, mean, 0.0]) * np.exp(-2.3 - 1e-9) + [mean, mean, mean, 0.0]
    np.testing.assert_allclose(state.stress[0], expected, rtol=1e-12)


@pytest.mark.parametrize("steps", [1, 7])
def test_pure_shear_at_constant_rate(steps: int) -> None:
    rate, end = 1e-14, 3.7e12
    law = law_of(Maxwell(E, NU, eta=ETA))
    state = law.initial_state()
    h = end / steps
    for _ in range(steps):
        *_, state = law.update(np.array([[rate * h, -rate * h, 0.0, 0.0]]), state, h)
    s = 2.0 * ETA * rate * (1.0 - np.exp(-G * end / ETA))
    np.testing.assert_allclose(state.stress[0], [s, -s, 0.0, 0.0], rtol=1e-12, atol=1e-4)


def confined_traction(steps: int) -> float:
    """Largest relative error of σ_yy under σ_xx = T0 with ε_yy = ε_zz = 0, over a history."""
    T0, end = 1e7, 4.0 * TAU
    law = law_of(Maxwell(E, NU, eta=ETA))
    state = law.initial_state()
    # the elastic jump, then steps at constant σ_xx
    sizes = [1e-12 * TAU, *np.full(steps, end / steps)]
    worst, t = 0.0, 0.0
    for h in sizes:
        strain = np.zeros((1, 4))
        stress, tangent, *_ = law.update(strain, state, h)
        strain[0, 0] = (T0 - stress[0, 0]) / tangent[0, 0, 0]
        stress, _, _, state = law.update(strain, state, h)
        t += h
        assert stress[0, 0] == pytest.approx(T0, rel=1e-12)
        P = (2.0 * NU - 1.0) / (1.0 - NU)
        exact = T0 * (1.0 + P * np.exp(-rate_of_confined_traction() * t))
        worst = max(worst, abs(stress[0, 1] / exact - 1.0), abs(stress[0, 2] / exact - 1.0))
    return worst


def rate_of_confined_traction() -> float:
    """Decay rate of σ_yy - T0.

    With ε' the axial rate: σ_xx' = 0 = (K + 4G/3) ε' - s_xx/τ and s_xx' = (4G/3) ε' - s_xx/τ, so
    that s_xx' = -(s_xx/τ) K / (K + 4G/3), and σ_yy = T0 - (3/2) s_xx.
    K / (K + 4G/3) = (1 + ν) / (3 (1 - ν)) and 1/τ = E / (2 (1 + ν) η) give E / (6 η (1 - ν)).
    """
    return E / (6.0 * ETA * (1.0 - NU))


def test_confined_traction_converges_to_the_closed_form() -> None:
    # the strain rate is not constant here, so the update is second order, no more
    errors = [confined_traction(n) for n in (20, 40, 80)]
    assert errors[0] < 2e-3
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 1.8), (errors, orders)


def test_prony_series_relaxes_by_its_branches() -> None:
    branches = [Branch(0.5, 3.0), Branch(0.2, 40.0)]
    law = law_of(GeneralisedMaxwell(E, NU, branches=branches))
    state = law.initial_state()
    *_, state = law.update(np.array([[0.0, 0.0, 0.0, 1e-3]]), state, 1e-9)
    assert state.stress[0, 3] == pytest.approx(G * 1e-3, rel=1e-8)
    *_, state = law.update(np.zeros((1, 4)), state, 5.0)
    relaxed = 0.3 + 0.5 * np.exp(-5.0 / 3.0) + 0.2 * np.exp(-5.0 / 40.0)
    assert state.stress[0, 3] == pytest.approx(G * 1e-3 * relaxed, rel=1e-8)


def test_one_branch_of_prony_is_maxwell() -> None:
    increment = np.array([[1e-3, -2e-3, 5e-4, 3e-3]])
    results = []
    for material in (
        Maxwell(E, NU, eta=ETA),
        GeneralisedMaxwell(E, NU, branches=[Branch(1.0, TAU)]),
    ):
        law = law_of(material)
        *_, state = law.update(increment, law.initial_state(), 0.7 * TAU, np.array([0.3]))
        results.append(state.stress)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-13)


def test_tangent_and_slope_are_derivatives() -> None:
    law = law_of(GeneralisedMaxwell(3.0, 0.3, branches=[Branch(0.4, 2.0), Branch(0.5, 0.1)]), 5)
    rng = np.random.default_rng(3)
    state = law.initial_state(rng.normal(size=(5, 4)))
    increment, turn = rng.normal(size=(5, 4)), rng.normal(size=5)
    _, tangent, slope, _ = law.update(increment, state, 0.5, turn)
    d = 1e-6
    for k in range(4):
        step = np.zeros((5, 4))
        step[:, k] = d
        high = law.update(increment + step, state, 0.5, turn)[0]
        low = law.update(increment - step, state, 0.5, turn)[0]
        np.testing.assert_allclose(tangent[:, :, k], (high - low) / (2 * d), atol=1e-8)
    high = law.update(increment, state, 0.5, turn + d)[0]
    low = law.update(increment, state, 0.5, turn - d)[0]
    np.testing.assert_allclose(slope, (high - low) / (2 * d), atol=1e-8)


def test_state_at_the_start_is_left_alone() -> None:
    law = law_of(Maxwell(E, NU, eta=ETA))
    state = law.initial_state(np.array([[1e6, 2e6, 3e6, 4e6]]))
    before = state.stress.copy()
    law.update(np.full((1, 4), 1e-3), state, TAU, np.array([0.2]))
    assert np.array_equal(state.stress, before)


# finite motion of an element


def square(material: Material, kind: str = "quad") -> MovingBody:
    mesh = rectangle(1.0, 1.0, 1, 1, kind=kind)  # type: ignore[arg-type]
    return MovingBody(Assembler(Solid(mesh, {"body": material})))


def follow(
    body: MovingBody,
    F: Callable[[float], FloatArray],
    steps: int,
    h: float,
    stress: FloatArray | None = None,
) -> Configuration:
    """Drive the nodes by x = F(s) X, s from 0 to 1."""
    configuration = body.start(stress)
    X = body.solid.coordinates
    for n in range(1, steps + 1):
        u = X @ F(n / steps).T - configuration.positions
        configuration = body.move(configuration, u.ravel(), h).configuration
    return configuration


def simple_shear(s: float) -> FloatArray:
    return np.array([[1.0, 2.0 * s], [0.0, 1.0]])


def dienes(gamma: float) -> FloatArray:
    """σ_xx, σ_yy, σ_xy over G for an elastic body with the Green-Naghdi rate in simple shear.

    tan β = γ/2; from Σ' = 2 G Rᵀ D R integrated in the unrotated frame.
    """
    b = np.arctan(0.5 * gamma)
    log = np.log(np.cos(b))
    xx = 4.0 * (np.cos(2 * b) * log + b * np.sin(2 * b) - np.sin(b) ** 2)
    xy = 2.0 * np.cos(2 * b) * (2 * b - 2 * np.tan(2 * b) * log - np.tan(b))
    return np.array([xx, -xx, xy])


def test_closed_form_of_green_naghdi_shear_is_its_own_integral() -> None:
    # Σ = G ∫ Rᵀ (2 D) R dγ, R the rotation by -β of F = R U, by quadrature
    gauss, weights = np.polynomial.legendre.leggauss(40)
    gamma = 2.0
    total = np.zeros((2, 2))
    for x, w in zip(gauss, weights, strict=True):
        b = np.arctan(0.25 * gamma * (x + 1.0))
        R = np.array([[np.cos(b), np.sin(b)], [-np.sin(b), np.cos(b)]])
        total += 0.5 * gamma * w * R.T @ np.array([[0.0, 1.0], [1.0, 0.0]]) @ R
    b = np.arctan(0.5 * gamma)
    R = np.array([[np.cos(b), np.sin(b)], [-np.sin(b), np.cos(b)]])
    sigma = R @ total @ R.T
    np.testing.assert_allclose([sigma[0, 0], sigma[1, 1], sigma[0, 1]], dienes(gamma), atol=1e-12)


@pytest.mark.parametrize("rate", ["green_naghdi", "jaumann"])
def test_simple_shear_to_two(rate: str) -> None:
    body = square(Maxwell(E, NU, eta=1e40, rate=rate))  # type: ignore[arg-type]
    exact = (
        dienes(2.0)
        if rate == "green_naghdi"
        else np.array([1.0 - np.cos(2.0), np.cos(2.0) - 1.0, np.sin(2.0)])
    )
    errors = []
    for steps in (50, 100, 200):
        stress = follow(body, simple_shear, steps, 1.0).stress[0] / G
        errors.append(np.abs(stress[[0, 1, 3]] - exact).max())
        assert stress[2] == pytest.approx(0.0, abs=1e-12)
    assert errors[-1] < 2e-5
    assert np.all(np.log2(np.array(errors[:-1]) / errors[1:]) > 1.9), errors


def test_the_two_rates_differ_in_large_shear() -> None:
    assert np.abs(dienes(2.0)[2] - np.sin(2.0)) > 0.3


@pytest.mark.parametrize("kind", ["triangle", "quad"])
@pytest.mark.parametrize("rate", ["green_naghdi", "jaumann"])
@pytest.mark.parametrize("steps", [1, 13])
def test_rigid_rotation_turns_the_stress(kind: str, rate: str, steps: int) -> None:
    material = Maxwell(E, NU, eta=1e40, rate=rate)  # type: ignore[arg-type]
    body = square(material, kind)
    stress = np.tile([3e8, -1e8, 2e8, 1.5e8], (body.solid.n_points, 1))

    def rotation(s: float) -> FloatArray:
        a = 0.5 * np.pi * s
        return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])

    end = follow(body, rotation, steps, 1.0, stress)
    turned = [-1e8, 3e8, 2e8, -1.5e8]
    np.testing.assert_allclose(end.stress, np.tile(turned, (len(stress), 1)), atol=1e-10 * 3e8)


def test_rotation_does_not_change_relaxation() -> None:
    material = Maxwell(E, NU, eta=ETA)
    body = square(material)
    stress = np.tile([1e8, -1e8, 0.0, 0.0], (4, 1))

    def rotation(s: float) -> FloatArray:
        a = 0.7 * s
        return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])

    end = follow(body, rotation, 10, 0.1 * TAU, stress).stress[0]
    size = np.hypot(0.5 * (end[0] - end[1]), end[3])
    assert size == pytest.approx(1e8 * np.exp(-1.0), rel=1e-10)
    assert 0.5 * np.arctan2(2 * end[3], end[0] - end[1]) == pytest.approx(0.7, rel=1e-10)


def test_logarithmic_strain_of_a_stretch() -> None:
    body = square(IsotropicElastic(E, NU))
    angle = 0.4
    Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def stretch(s: float) -> FloatArray:
        return np.asarray(Q @ np.diag([1.2**s, 0.9**s]) @ Q.T)

    strain = follow(body, stretch, 5, 1.0).strain()[0]
    tensor = Q @ np.diag([np.log(1.2), np.log(0.9)]) @ Q.T
    np.testing.assert_allclose(
        strain, [tensor[0, 0], tensor[1, 1], 0.0, 2.0 * tensor[0, 1]], atol=1e-12
    )


def distorted(
    hypothesis: str, kind: str, rate: str, dilatation: str = "element"
) -> tuple[MovingBody, FloatArray]:
    mesh = rectangle(1.0, 1.0, 2, 2, kind=kind, origin=(1.0, 0.0))  # type: ignore[arg-type]
    rng = np.random.default_rng(1)
    mesh = Mesh(
        mesh.nodes + 0.05 * rng.normal(size=mesh.nodes.shape),
        mesh.cells,
        mesh.element_groups,
        mesh.edge_groups,
        mesh.node_groups,
    )
    material = Maxwell(2.0, 0.3, eta=1.5, rate=rate)  # type: ignore[arg-type]
    solid = Solid(mesh, {"body": material}, hypothesis=hypothesis)  # type: ignore[arg-type]
    body = MovingBody(Assembler(solid), dilatation)  # type: ignore[arg-type]
    return body, 0.08 * rng.normal(size=solid.n_dofs)


@pytest.mark.parametrize("hypothesis", ["plane_strain", "axisymmetric"])
@pytest.mark.parametrize("kind", ["triangle", "quad"])
@pytest.mark.parametrize("rate", ["green_naghdi", "jaumann"])
@pytest.mark.parametrize("dilatation", ["element", "nodal"])
def test_tangent_is_the_derivative_of_the_forces(
    hypothesis: str, kind: str, rate: str, dilatation: str
) -> None:
    body, u = distorted(hypothesis, kind, rate, dilatation)
    start = body.move(body.start(), u, 0.5).configuration
    rng = np.random.default_rng(2)
    u = 0.08 * rng.normal(size=u.size)
    K = body.tangent(body.move(start, u, 0.7)).toarray()
    d = 1e-6
    columns = []
    for j in range(u.size):
        step = np.zeros(u.size)
        step[j] = d
        high, low = body.move(start, u + step, 0.7), body.move(start, u - step, 0.7)
        columns.append((high.forces - low.forces) / (2 * d))
    np.testing.assert_allclose(K, np.array(columns).T, atol=1e-7 * np.abs(K).max())


def test_small_motion_agrees_with_linear_elasticity() -> None:
    body, u = distorted("axisymmetric", "quad", "green_naghdi")
    u = 1e-7 * u
    moved = body.move(body.start(), u, 1e-12)
    linear = body.assembler.internal_forces(u)
    np.testing.assert_allclose(moved.forces, linear, atol=1e-6 * np.abs(linear).max())


def test_inverted_element_is_named() -> None:
    body = MovingBody(
        Assembler(Solid(rectangle(2.0, 1.0, 2, 1), {"body": Maxwell(1.0, 0.2, eta=1.0)}))
    )
    u = np.zeros(body.solid.n_dofs)
    corner = int(body.solid.mesh.node_numbers("top_left")[0])
    u[2 * corner] = 1.5
    with pytest.raises(InvertedElement, match=r"element \d+ .* turns inside out") as error:
        body.move(body.start(), u, 1.0)
    nodes = body.solid.mesh.cells["triangle"][error.value.element]
    assert corner in nodes


# input


@pytest.mark.parametrize("viscosity", [0.0, -1e20])
def test_viscosity_must_be_positive(viscosity: float) -> None:
    with pytest.raises(
        MaterialError, match=re.escape(f"viscosity eta = {viscosity:g}, expected a number > 0")
    ):
        Maxwell(E, NU, eta=viscosity)


def test_viscosity_that_varies_is_checked_where_it_is_used() -> None:
    material = Maxwell(E, NU, eta="1e20 * (x - 0.5)")
    with pytest.raises(MaterialError, match=r"body: .*viscosity eta = -.* at x = .*expected"):
        square(material)


def test_viscosity_may_vary_in_space() -> None:
    body = square(Maxwell(E, NU, eta="1e20 * exp(y)"))
    y = body.points[:, 1]
    np.testing.assert_allclose(body.rheology.time[:, 0], 1e20 * np.exp(y) / G, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eta": "1e20 * t"}, "depends on t"),
        ({"eta": 1e20, "rate": "truesdel"}, "rate = 'truesdel' is not known"),
        ({"eta": "1e20 * z"}, "unknown name 'z'"),
    ],
)
def test_other_input_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(MaterialError, match=message):
        Maxwell(E, NU, **change)  # type: ignore[arg-type]


def test_plane_stress_is_refused() -> None:
    mesh = rectangle(1.0, 1.0, 1, 1)
    with pytest.raises(MaterialError, match="plane stress"):
        Solid(mesh, {"body": Maxwell(E, NU, eta=1.0)}, hypothesis="plane_stress")


def test_branches_are_checked() -> None:
    with pytest.raises(MaterialError, match=r"sum to 1\.2"):
        GeneralisedMaxwell(E, NU, branches=[Branch(0.6, 1.0), Branch(0.6, 2.0)])
    with pytest.raises(MaterialError, match="time = 0"):
        Branch(0.5, 0.0)
