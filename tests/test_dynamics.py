"""Impacts of elastic bars against their exact solutions, blocks on slopes, bodies at rest."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.case import build, read_case
from fecontact.case.variants import variants
from fecontact.conditions import Gravity, Initial, Prescribed
from fecontact.contact import Contact, HalfPlane, Law, PairContact
from fecontact.errors import InputError
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.output.impacts import impact_notes, step_restitution
from fecontact.recovery import integration_points, stress_at_points
from fecontact.schemes import Newmark, Theta
from fecontact.simulation import Result, Simulation, Times
from tests.exact_impacts import BouncingBar, CollidingBars

CASES = Path(__file__).parent.parent / "cases"
BARS = CollidingBars()
AREA = 0.01


def run(case: str, *settings: str) -> Result:
    result = build(read_case(CASES / case, [*settings, "output.figures=false"])).run()
    assert result.failure is None, result.failure
    return result


def run_variants(case: str, *settings: str) -> dict[str, Result]:
    found = variants(read_case(CASES / case, settings), [])
    return {label: build(changed).run() for label, changed in found}


# two colliding bars


def bars(n: int, theta: float, exact: CollidingBars, *settings: str) -> Result:
    """Bars of n elements each that meet at t0."""
    return run("colliding_bars.toml", *exact.settings(n, theta), *settings)


@pytest.fixture(scope="module")
def three() -> dict[str, Result]:
    """The case as it is shipped: its three variants."""
    return run_variants("colliding_bars.toml")


def errors(result: Result, exact: CollidingBars) -> tuple[float, float]:
    """Relative errors in the mean square over time: of the contact force and the end velocity."""
    t, h = result.history["time"], float(result.history["h"][0])
    R = result.history["RN_bars"] / AREA - exact.mean_pressure(t, h)
    v = result.history["end_velocity"] - exact.end_velocity(t)
    # the last wave that is not sharp comes to the end at t0 + 3 L / c
    seen = t < exact.t0 + 2.5 * exact.L / exact.c
    size = np.sqrt(2.0 * exact.L / exact.c)
    force = np.sqrt(h * (R[seen] ** 2).sum()) / (exact.pressure * size)
    velocity = np.sqrt(h * (v[seen] ** 2).sum()) / (exact.v0 * size)
    return float(force), float(velocity)


@pytest.mark.parametrize("theta", [0.5, 0.55])
def test_bars_converge_to_the_exact_solution(theta: float) -> None:
    # the bars meet in the middle of a step on every level
    exact, levels = replace(BARS, t0=1e-4), (15, 45, 135)
    found = np.array([errors(bars(n, theta, exact), exact) for n in levels])
    rates = np.log(found[:-1] / found[1:]) / np.log(3.0)
    for n, line in zip(levels, found, strict=True):
        print(f"theta = {theta}, {n} elements: force {line[0]:.4f}, end velocity {line[1]:.4f}")
    print("rates", *rates.round(2).tolist())
    # a front is smeared over h^(1/2) by a scheme of order 1, over h^(2/3) by one of order 2
    expected = 1.0 / 3.0 if theta == 0.5 else 1.0 / 4.0
    assert (rates > 0.6 * expected).all()
    assert (rates < 2.0 * expected).all()
    assert (found[-1] < [0.1, 0.15]).all()


def in_contact(result: Result) -> slice:
    """Steps after the first of contact, until the exact release."""
    pushes = np.flatnonzero(result.history["RN_bars"] > 0.0)
    end = np.searchsorted(result.history["time"], BARS.release - 1e-9)
    return slice(int(pushes[0]) + 1, int(end))


def test_right_gap_does_not_oscillate(three: dict[str, Result]) -> None:
    history = three["right_gap"].history
    steps = in_contact(three["right_gap"])
    assert steps.stop - steps.start > 190
    assert np.abs(history["contact_velocity"][steps]).max() < 0.01 * BARS.v0
    force = history["RN_bars"][steps] / AREA / BARS.pressure
    assert (force > 0.0).all()
    # overshoot of the front in the first steps, then the constant force
    assert force.max() < 1.06
    assert np.abs(force[20:120] - 1.0).max() < 1e-3
    assert step_restitution(three["right_gap"], "bars") == pytest.approx(0.0, abs=1e-6)


def test_end_gap_makes_a_false_restitution(three: dict[str, Result]) -> None:
    history, steps = three["end_gap"].history, in_contact(three["end_gap"])
    e = 0.45 / 0.55
    u = history["contact_velocity"][steps][:10]
    for before, after in pairwise(u):
        assert after == pytest.approx(-e * before, rel=1e-6)
    assert np.abs(u).max() > 0.6 * BARS.v0
    assert step_restitution(three["end_gap"], "bars") == pytest.approx(e, rel=1e-6)
    (note,) = impact_notes([("end_gap", three["end_gap"]), ("right", three["right_gap"])])
    assert "0.818" in note
    assert "(1 - theta)/theta" in note


@pytest.mark.parametrize("theta", [0.6, 0.75])
def test_false_restitution_follows_theta(theta: float) -> None:
    result = bars(20, theta, replace(BARS, t0=1e-4), "contact.bars.condition=end_gap")
    assert step_restitution(result, "bars") == pytest.approx((1.0 - theta) / theta, rel=1e-6)


def test_a_body_that_came_to_rest_has_no_restitution_of_rounding() -> None:
    result = run(
        "falling_particle.toml",
        "contact.plane.condition=velocity",
        "initial.particle.uy=1e-2",
        "time.end=0.1",
    )
    assert np.abs(result.final.velocity).max() < 1e-6
    assert step_restitution(result, "plane") == 0.0
    assert impact_notes([("run", result)]) == []


def test_newmark_oscillates(three: dict[str, Result]) -> None:
    history, steps = three["newmark"].history, in_contact(three["newmark"])
    force = history["RN_bars"][steps] / AREA / BARS.pressure
    assert force.max() > 1.8
    assert force.min() < 0.2
    velocity = history["contact_velocity"][steps]
    assert np.abs(velocity).max() > 0.3 * BARS.v0
    # from step to step: half the velocities change sign
    assert (np.sign(velocity[1:40]) != np.sign(velocity[:39])).sum() > 20
    restitution = step_restitution(three["newmark"], "bars")
    assert restitution is not None
    assert restitution > 0.9


def test_trapezoidal_rule_creates_energy() -> None:
    result = run("colliding_bars.toml", 'scheme={name="newmark"}')
    energy = result.history["energy_kinetic"] + result.history["energy_elastic"]
    assert energy.max() > 2.0 * energy[0]


@pytest.mark.parametrize("theta", [0.5, 0.55, 1.0])
def test_bars_energy(theta: float) -> None:
    result = run("colliding_bars.toml", f"scheme.theta={theta}")
    history = result.history
    total = history["energy_kinetic"] + history["energy_elastic"]
    print(f"theta = {theta}: energy after the rebound {total[-1] / total[0]:.5f} of that before")
    assert np.diff(total).max() < 1e-11 * total[0]
    if theta == 0.5:
        assert total[-1] > 0.98 * total[0]
        # what is lost is the shock of the contact nodes
        lost = history["energy_shocks"][-1]
        assert total[0] - total[-1] == pytest.approx(lost, rel=1e-6)
        assert history["energy_kinetic"][-1] > 0.98 * total[0]
    else:
        assert history["energy_numerical"][-1] > 0.01 * total[0]
    assert history["energy_balance"].max() < 1e-9
    assert history["balance"].max() < 1e-9


def test_bars_momentum_is_that_of_the_exact_impulse(three: dict[str, Result]) -> None:
    for name in ("end_gap", "right_gap"):
        history = three[name].history
        impulse = (history["RN_bars"] * history["h"]).sum()
        exact = AREA * BARS.pressure * 2.0 * BARS.L / BARS.c
        assert impulse == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
def test_two_bars_and_a_bar_against_a_wall(
    reactions: Literal["concentrated", "weighted"],
) -> None:
    pair = bars(40, 0.55, BARS, f"contact.bars.reactions={reactions}")
    mesh = rectangle(1.0, AREA, 40, 1, kind="quad", origin=(-1.0 - BARS.v0 * BARS.t0, 0.0))
    solid = Solid(mesh, {"body": IsotropicElastic(BARS.E, 0.0, density=BARS.rho)})
    wall = Contact("right", HalfPlane((0, 0), (-1, 0)), reactions=reactions, name="bars")
    model = Model(solid, contacts=[wall], initial=[Initial(vx=BARS.v0)])
    alone = Simulation(model, Theta(0.55), pair.simulation.times).run()
    assert len(alone.history) == len(pair.history)
    for column, size in (("RN_bars", AREA * BARS.pressure),):
        difference = np.abs(alone.history[column] - pair.history[column]).max()
        assert difference < 1e-7 * size
    v = alone.final.velocity[mesh.node_numbers("left"), 0].mean()
    assert v == pytest.approx(pair.history["end_velocity"][-1], abs=1e-7 * BARS.v0)


# a bar that falls and bounces


@pytest.fixture(scope="module")
def bouncing() -> Result:
    return run("bouncing_bar.toml", "output.every=1")


def test_bouncing_bar_instant_and_length_of_contact(bouncing: Result) -> None:
    exact, history = BouncingBar(), bouncing.history
    t, h = history["time"], float(history["h"][0])
    pushes = np.flatnonzero(history["RN_floor"] > 0.0)
    start, end = t[pushes[0]] - h, t[pushes[-1]]
    print(f"first contact at {start:.4f} s for {end - start:.4f} s, {len(pushes)} steps")
    assert start == pytest.approx(exact.t0, rel=0.01)
    assert end - start == pytest.approx(exact.duration, rel=0.01)
    # without an interruption
    assert len(pushes) == pushes[-1] - pushes[0] + 1


def test_bouncing_bar_contact_force(bouncing: Result) -> None:
    exact, history = BouncingBar(), bouncing.history
    t, h = history["time"], float(history["h"][0])
    pressure = history["RN_floor"] / 0.5
    inside = (t > 1.05) & (t < 1.6)
    expected = exact.pressure(t[inside] - 0.5 * h)
    assert np.abs(pressure[inside] / expected - 1.0).max() < 2e-3
    impulse = (pressure * history["h"]).sum()
    assert impulse == pytest.approx(exact.rho * exact.L * (2 * exact.v0 + 20.0 / 3.0), rel=2e-3)


@pytest.mark.parametrize("t", [1.1, 1.3, 1.5])
def test_bouncing_bar_displacement_and_stress(bouncing: Result, t: float) -> None:
    exact, solid = BouncingBar(), bouncing.simulation.model.solid
    step = min(bouncing.steps, key=lambda s: abs(s.t - t))
    x = solid.mesh.nodes[:, 1] - 5.0
    difference = step.displacement[:, 1] + exact.h0 - exact.displacement(x, step.t)
    assert np.abs(difference).max() < 0.01
    x = integration_points(solid).position[:, 1] - 5.0
    stress = stress_at_points(solid, step.state.q)[:, 1]
    expected = exact.stress(x, step.t)
    size = np.abs(expected).max()
    tau = step.t - exact.t0
    # away from the two fronts, the one of the impact and its reflection
    fronts = np.abs(np.subtract.outer(x, [exact.c * tau, 2 * exact.L - exact.c * tau])).min(axis=1)
    assert np.abs(stress - expected)[fronts > 1.5].max() < 0.03 * size


def test_exact_bouncing_bar_satisfies_its_equations() -> None:
    """The closed form against differences: wave equation, floor, free end, twice the weight."""
    exact, d = BouncingBar(), 1e-4
    for t in (1.2, 1.45):
        x = np.array([0.7, 3.1, 8.3])
        u = exact.displacement
        inertia = (u(x, t + d) - 2 * u(x, t) + u(x, t - d)) / d**2
        strain = (u(x + d, t) - 2 * u(x, t) + u(x - d, t)) / d**2
        assert np.allclose(exact.rho * inertia, exact.E * strain - exact.rho * exact.g, atol=1e-3)
        slope = (u(x + d, t) - u(x - d, t)) / (2 * d)
        assert np.allclose(exact.E * slope, exact.stress(x, t), rtol=1e-5)
        assert u(np.zeros(1), t) == pytest.approx(0.0, abs=1e-12)
        assert exact.stress(np.array([exact.L]), t) == pytest.approx(0.0, abs=1e-9)
        pressure = float(exact.pressure(np.array([t]))[0])
        assert -exact.stress(np.zeros(1), t)[0] == pytest.approx(pressure)
    x, end = np.linspace(0.5, 10.0, 11), exact.t0 + exact.duration
    assert np.allclose(exact.stress(x, end), -2.0 * exact.rho * exact.g * (exact.L - x), atol=1e-9)
    velocity = (exact.displacement(x, end) - exact.displacement(x, end - d)) / d
    assert np.allclose(velocity, exact.v0, atol=0.01)


def test_page_is_current(three: dict[str, Result], bouncing: Result) -> None:
    docs = Path(__file__).parent.parent / "docs"
    spec = importlib.util.spec_from_file_location("make_dynamics", docs / "make_dynamics.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (docs / "dynamics.md").read_text(encoding="utf-8")
    for line in (*script.restitution_table(three), *script.bouncing_table(bouncing)):
        assert line in page, "run python docs/make_dynamics.py"


# a block on a slope


@pytest.mark.parametrize("degrees", [10, 16, 20, 30])
def test_block_on_slope(degrees: int) -> None:
    alpha, mu, g = np.radians(degrees), 0.3, 9.81
    (case,) = (
        changed
        for label, changed in variants(read_case(CASES / "block_on_slope.toml"), [])
        if label == f"{degrees}_degrees"
    )
    result = build(case).run()
    history = result.history
    late = history["time"] > 0.3
    a = np.polyfit(history["time"][late], history["velocity"][late], 1)[0]
    weight = 2000.0 * 0.5 * g
    assert history["RN_slope"][-1] == pytest.approx(weight * np.cos(alpha), rel=1e-6)
    if np.tan(alpha) < mu:
        assert abs(a) < 1e-6 * g
        assert abs(history["velocity"][-1]) < 1e-9
        assert history["RT_slope"][-1] == pytest.approx(-weight * np.sin(alpha), rel=1e-6)
    else:
        assert a == pytest.approx(g * (np.sin(alpha) - mu * np.cos(alpha)), rel=1e-6)
        assert history["sliding_slope"][-1] == 9
    assert history["energy_balance"].max() < 1e-9
    assert history["balance"].max() < 1e-9


# bodies at rest


def resting(scheme: Theta | Newmark, contact: PairContact, steps: int, **held: Any) -> Simulation:
    """A block of 0.8 on one of 1 m, under gravity, meshes that do not match."""
    mesh = Mesh.merge(
        {
            "lower": rectangle(1.0, 1.0, 4, 3, kind="quad"),
            "upper": rectangle(0.8, 1.0, 5, 3, kind="quad", origin=(0.1, 1.0)),
        }
    )
    rock = IsotropicElastic(1e8, 0.3, density=2000.0)
    model = Model(
        Solid(mesh, {"lower": rock, "upper": rock}),
        prescribed=[Prescribed("lower.bottom", ux=0, uy=0)],
        loads=[Gravity(gy=-9.81)],
        contacts=[contact],
        **held,
    )
    times = Times(end=0.01 * steps, steps=steps)
    return Simulation(model, scheme, times, save_every=steps)


@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
@pytest.mark.parametrize("condition", ["gap", "velocity"])
def test_a_body_at_rest_stays_at_rest(
    reactions: Literal["concentrated", "weighted"], condition: Literal["gap", "velocity"]
) -> None:
    contact = PairContact(
        "upper.bottom",
        "lower.top",
        law=Law(condition=condition, friction=0.3),
        reactions=reactions,
        name="joint",
    )
    simulation = resting(Theta(0.5, settle=True), contact, 1000)
    speed = np.sqrt(9.81 * 1.0)
    worst = 0.0
    for step in simulation.steps():
        worst = max(worst, float(np.abs(step.velocity).max()))
        assert step.balance < 1e-9
    print(f"{reactions}, {condition}: {worst / speed:.1e} of sqrt(g L) after {step.number} steps")
    assert step.number == 1000
    assert worst < 1e-10 * speed
    upward = step.contact_forces[simulation.model.mesh.node_numbers("upper"), 1].sum()
    assert upward == pytest.approx(0.8 * 2000.0 * 9.81, rel=1e-9)


def test_without_settling_the_body_moves() -> None:
    contact = PairContact("upper.bottom", "lower.top", friction=0.3, name="joint")
    result = resting(Theta(0.5), contact, 20).run()
    assert np.abs(result.final.velocity).max() > 1e-3


@pytest.mark.parametrize("scheme", [Theta(0.5, settle=True), Newmark(settle=True)])
def test_settled_start_is_the_quasi_static_solution(scheme: Theta | Newmark) -> None:
    """Without friction there is one equilibrium, whatever the way to it."""
    mesh = rectangle(1.0, 1.0, 4, 4, kind="quad")
    rock = IsotropicElastic(1e8, 0.3, density=2000.0)
    model = Model(
        Solid(mesh, {"body": rock}),
        prescribed=[Prescribed("left", ux=0, uy="-1e-4 * (1 - x)")],
        loads=[Gravity(gy=-9.81)],
        contacts=[Contact("bottom", HalfPlane((0, -2e-4), (0, 1)))],
    )
    static = Simulation(model).run()
    start = Simulation(model, scheme, Times(end=1e-3)).prepare().start()
    assert np.abs(start.q - static.final.state.q).max() < 1e-9 * np.abs(start.q).max()
    assert not start.v.any()
    R, S = start.reactions["bottom"], static.contacts["bottom"].force
    assert np.abs(R - S).max() < 1e-7 * np.abs(S).max()


def test_what_does_not_settle_is_told() -> None:
    mesh = rectangle(1.0, 1.0, 2, 2, kind="quad")
    solid = Solid(mesh, {"body": IsotropicElastic(1e8, 0.3, density=2000.0)})
    falling = Model(solid, loads=[Gravity(gy=-9.81)])
    with pytest.raises(InputError, match=r"scheme\.settle: no equilibrium.*moves on"):
        next(Simulation(falling, Theta(settle=True)).steps())
    moving = Model(solid, initial=[Initial(vx=1.0)])
    with pytest.raises(InputError, match=r"scheme\.settle: the start has a velocity"):
        next(Simulation(moving, Theta(settle=True)).steps())


def test_settle_in_a_case_file() -> None:
    """On the floor the bar is compressed by its weight and stays."""
    result = run(
        "bouncing_bar.toml",
        "scheme.settle=true",
        "mesh.origin=[0.0, 0.0]",
        "mesh.ny=20",
        "time.steps=100",
    )
    assert np.abs(result.final.velocity).max() < 1e-9
    exact = BouncingBar()
    top = result.final.displacement[:, 1].min()
    assert top == pytest.approx(-exact.rho * exact.g * exact.L**2 / (2 * exact.E), rel=1e-6)
    assert result.history["RN_floor"][-1] == pytest.approx(0.5 * 100.0, rel=1e-9)


# motion that is prescribed


@pytest.mark.parametrize("scheme", [Theta(0.5), Newmark()], ids=["theta", "newmark"])
@pytest.mark.parametrize(
    "given", [{"vx": "3*t"}, {"vx": [[0.0, 0.0], [1.0, 3.0]]}, {"ux": "1.5*t*t"}]
)
def test_a_given_acceleration_takes_its_force(
    scheme: Theta | Newmark, given: dict[str, Any]
) -> None:
    """A block that is led everywhere: the supports give mass times acceleration, at every step."""
    rock = IsotropicElastic(1e9, 0.0, density=1000.0)
    model = Model(
        Solid(rectangle(1.0, 1.0, 2, 2, kind="quad"), {"body": rock}),
        prescribed=[Prescribed("body", uy=0.0, **given)],
    )
    result = Simulation(model, scheme, Times(1.0, steps=8)).run()
    assert result.final.velocity[:, 0] == pytest.approx(3.0, rel=1e-9)
    # a displacement is met ahead of the theta scheme's step, which its first two make up for
    ahead = isinstance(scheme, Theta) and "ux" in given
    first = 2 if ahead else 0
    assert result.history["Rx_body"][first:] == pytest.approx(3000.0, rel=1e-8)
    reached = result.final.displacement[:, 0]
    assert reached == pytest.approx(1.5, rel=5e-3 if ahead else 1e-9)


@pytest.mark.parametrize("condition", ["gap", "velocity"])
@pytest.mark.parametrize("start", [-1e-3, 1e-2])
def test_forces_balance_on_a_stiff_body_that_flies_far(condition: str, start: float) -> None:
    """The rounding of K times its way would be two billionths of its weight."""
    path = Path(__file__).parent.parent / "cases" / "falling_particle.toml"
    settings = [f"contact.plane.condition={condition}", f"initial.particle.uy={start}"]
    result = build(read_case(path, settings)).run()
    assert result.worst_balance < 1e-11
    assert result.worst_energy < 1e-9
