"""Two deformable bodies against closed forms: Hertz, Cattaneo and Mindlin, ironing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fecontact as fc
from fecontact.closed_forms import LineContact, contact_modulus, fit_hertz
from fecontact.errors import InputError

CASES = Path(__file__).parent.parent / "cases"
MM, MPA = 1e-3, 1e6
HERTZ = LineContact(3.5e6, 50 * MM, contact_modulus(210e9, 0.3, 70e9, 0.3))
BOTH = pytest.mark.parametrize("reactions", ["concentrated", "weighted"])


def run(case: str, *settings: str) -> fc.Result:
    result = fc.build(fc.read_case(CASES / f"{case}.toml", settings)).run()
    assert result.failure is None
    return result


def sized(fine: float, zone: float = 2.5 * MM) -> list[str]:
    """Element size in the zone of contact."""
    return [
        f"mesh.parts.{part}.parameters.{key}={value}"
        for part in ("disk", "block")
        for key, value in (("fine", fine), ("zone", zone))
    ]


def test_closed_form_of_hertz() -> None:
    assert pytest.approx(1.965 * MM, rel=5e-4) == HERTZ.half_width
    assert pytest.approx(1134 * MPA, rel=5e-4) == HERTZ.peak
    high = LineContact(35e6, HERTZ.radius, HERTZ.modulus)
    assert high.half_width == pytest.approx(6.21 * MM, rel=1e-3)
    assert high.peak == pytest.approx(3585 * MPA, rel=1e-3)
    x = np.linspace(-2 * MM, 2 * MM, 200_001)
    assert np.trapezoid(HERTZ.pressure(x), x) == pytest.approx(HERTZ.load, rel=1e-6)
    for part in (0.2, 0.9):
        Q = part * 0.3 * HERTZ.load
        assert np.trapezoid(HERTZ.shear(x, Q, 0.3), x) == pytest.approx(Q, rel=1e-5)
    with pytest.raises(InputError, match="more than friction can hold"):
        HERTZ.stick(1.01 * 0.3 * HERTZ.load, 0.3)


@BOTH
def test_hertz(reactions: str) -> None:
    result = run("hertz", f"contact.hertz.reactions={reactions}")
    half_width, peak = fit_hertz(result.contacts["hertz"])
    assert half_width == pytest.approx(HERTZ.half_width, rel=0.02)
    assert peak == pytest.approx(HERTZ.peak, rel=0.02)
    # what the contact carries is the load, less what the spring holds
    up = result.final.contact_forces[:, 1]
    assert 2.0 * up[up > 0.0].sum() == pytest.approx(HERTZ.load, rel=2e-4)
    assert result.worst_balance < 1e-9
    state = result.contacts["hertz"]
    np.testing.assert_allclose(state.force[:, 1], 0.0, atol=1e-9 * state.force.max())


def test_hertz_is_approached_under_refinement() -> None:
    errors = []
    for fine in (4e-4, 2e-4, 1e-4):
        result = run("hertz", *sized(fine))
        state = result.contacts["hertz"]
        x, p = state.position[:, 0], state.force[:, 0] / state.support
        away = HERTZ.pressure(x) - p
        errors.append(float(np.sqrt((away**2 * state.support).sum() / state.support[p > 0].sum())))
    errors = [e / HERTZ.peak for e in errors]
    assert errors[0] > 1.4 * errors[1] > 1.4**2 * errors[2], errors


def test_hertz_at_the_load_of_the_benchmark() -> None:
    """Theory of half spaces no longer quite holds: a is an eighth of R."""
    settings = [*sized(2e-4, 8 * MM), "loads.weight.value=3.5e8", "time.steps=10"]
    half_width, peak = fit_hertz(run("hertz", *settings).contacts["hertz"])
    high = LineContact(35e6, HERTZ.radius, HERTZ.modulus)
    assert half_width == pytest.approx(high.half_width, rel=0.02)
    assert peak == pytest.approx(high.peak, rel=0.02)
    # a circle is steeper than its parabola, so that the contact is narrower and the peak higher
    assert half_width < high.half_width
    assert peak > high.peak


@BOTH
def test_cattaneo_mindlin(reactions: str) -> None:
    mu, edge = 0.3, 0.1 * MM
    result = run("cattaneo_mindlin", f"contact.slip.reactions={reactions}")
    state = result.contacts["slip"]
    P, Q = state.force[:, 0].sum(), -state.force[:, 1].sum()
    # with equal materials the normal force does not feel the tangential one
    normal = result.history["RN_slip"]
    assert normal[-1] == pytest.approx(normal[9], rel=5e-4)
    assert 0.3 < Q / (mu * P) < 0.9
    theory = LineContact(P, 50 * MM, contact_modulus(210e9, 0.3, 210e9, 0.3))
    half_width, _ = fit_hertz(state)
    assert half_width == pytest.approx(theory.half_width, rel=0.02)
    x = state.position[:, 0]
    sticking = x[state.status == fc.Status.STICKING]
    c = theory.stick(Q, mu)
    assert sticking.max() == pytest.approx(c, abs=edge)
    assert sticking.min() == pytest.approx(-c, abs=edge)
    # friction opposes the motion of the disk everywhere
    assert (state.force[:, 1] <= 0.0).all()
    inside = np.abs(x) < 0.95 * theory.half_width
    away = -state.force[:, 1] / state.support - theory.shear(x, Q, mu)
    error = np.sqrt(np.mean(away[inside] ** 2)) / (mu * theory.peak)
    assert error < 0.07


def test_ironing_does_not_feel_the_edges() -> None:
    result = run("ironing")
    history = result.history
    sliding = history["time"] > 1.6
    normal = history["RN_iron"][sliding]
    assert np.ptp(normal) < 0.05 * normal.mean()
    # full sliding, with no candidate lost or caught: as many in contact as the width has edges
    np.testing.assert_allclose(history["RT_iron"][sliding], -0.3 * normal, rtol=1e-9)
    touching = (history["sliding_iron"] + history["sticking_iron"])[sliding]
    assert touching.min() >= 4
    assert touching.max() <= 6
    assert history["sticking_iron"][sliding].max() == 0
    assert result.worst_balance < 1e-9
    assert history["energy_balance"].max() < 1e-9
    # friction takes its force times the way; that the slab follows a little costs a few percent
    way = 0.5 * np.ptp(history["time"][sliding])
    lost = np.ptp(history["energy_friction"][sliding])
    assert lost == pytest.approx(0.3 * normal.mean() * way, rel=0.05)


def test_a_tower_of_bodies_has_a_sparse_operator_and_bears_its_weight() -> None:
    count = 16
    parts = {"b0": fc.rectangle(1.0, 0.2, 6, 1, kind="quad")}
    for i in range(1, count):
        parts[f"b{i}"] = fc.rectangle(1.0, 0.2, 5 + i % 2, 1, kind="quad", origin=(0.0, 0.2 * i))
    mesh = fc.Mesh.merge(parts)
    stone = fc.IsotropicElastic(E=1e9, nu=0.3, density=1000.0)
    model = fc.Model(
        fc.Solid(mesh, dict.fromkeys(parts, stone)),
        prescribed=[fc.Prescribed("b0.bottom", ux=0.0, uy=0.0)],
        loads=[fc.Gravity(gy=-10.0)],
        contacts=[
            fc.PairContact(f"b{i}.bottom", f"b{i - 1}.top", friction=0.3) for i in range(1, count)
        ],
    )
    simulation = fc.Simulation(model, fc.Theta(1.0), fc.Times(end=2.0, steps=100))
    for step in simulation.steps():
        assert step.problem is not None
        assert not step.problem.is_dense
        assert step.balance < 1e-9
    # normals turn with the strain, and friction then bears a part: 1.5e-7 for this E, as 1 over E
    for i in range(1, count):
        weight = (count - i) * 0.2 * 1000.0 * 10.0
        assert step.contacts[f"b{i}.bottom"].force[:, 0].sum() == pytest.approx(weight, rel=1e-6)
