"""Energies: the balance of every scheme, works and dissipations against their closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.conditions import Gravity, Initial, Prescribed, Pressure, Spring
from fecontact.contact import Contact, HalfPlane, Law, PairContact
from fecontact.materials import Damping, IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.schemes import Energies, Newmark, QuasiStatic, Theta
from fecontact.schemes.energy import COLUMNS
from fecontact.simulation import Result, Simulation, Times


def block(damping: Damping | None = None, thickness: float = 1.0, **model: Any) -> Model:
    rock = IsotropicElastic(1e8, 0.0, density=2000.0, damping=damping or Damping())
    mesh = rectangle(1.0, 0.5, 4, 2, kind="quad")
    return Model(Solid(mesh, {"body": rock}, thickness=thickness), **model)


def energies(result: Result) -> Energies:
    assert result.failure is None, result.failure
    assert result.history["energy_balance"].max() < 1e-9
    return result.final.energy


@pytest.mark.parametrize("theta", [0.5, 0.6, 1.0])
def test_free_flight_keeps_energy_at_one_half_only_where_it_should(theta: float) -> None:
    """A bar let go from a stretch: no works; θ > 1/2 dissipates, θ = 1/2 does not."""
    model = block(prescribed=[Prescribed("left", ux=0)], initial=[Initial(ux="1e-3 * x", uy=0.0)])
    result = Simulation(model, Theta(theta), Times(end=0.02, steps=100)).run()
    found = energies(result)
    assert found.start == pytest.approx(0.5 * 1e8 * 1e-6 * 0.5, rel=1e-9)
    stored = result.history["energy_kinetic"] + result.history["energy_elastic"]
    assert np.diff(stored).max() < 1e-12 * found.start
    if theta == 0.5:
        assert found.stored == pytest.approx(found.start, rel=1e-10)
        assert found.numerical == 0.0
    else:
        assert found.numerical == pytest.approx(found.start - found.stored, rel=1e-9)
        assert found.numerical > 0.01 * found.start


def test_newmark_tells_what_its_balance_leaves() -> None:
    model = block(prescribed=[Prescribed("left", ux=0)], initial=[Initial(ux="1e-3 * x", uy=0.0)])
    for gamma in (0.5, 0.6):
        beta = 0.25 * (gamma + 0.5) ** 2
        result = Simulation(model, Newmark(beta, gamma), Times(end=0.02, steps=100)).run()
        found = energies(result)
        if gamma == 0.5:
            assert found.stored == pytest.approx(found.start, rel=1e-9)
        else:
            assert found.stored < 0.99 * found.start


def test_work_of_gravity_in_a_fall() -> None:
    model = block(loads=[Gravity(gy=-10.0)])
    found = energies(Simulation(model, Theta(0.5), Times(end=1.0, steps=10)).run())
    mass = 2000.0 * 0.5
    assert found.kinetic == pytest.approx(0.5 * mass * 10.0**2, rel=1e-9)
    assert found.loads == pytest.approx(mass * 10.0 * 5.0, rel=1e-9)


def test_work_of_supports_and_loads_in_quasi_statics() -> None:
    """Stretched by 1e-3 in steps: the work of the support is the elastic energy and the rest."""
    pulled = block(
        prescribed=[
            Prescribed("left", ux=0),
            Prescribed("bottom", uy=0),
            Prescribed("right", ux="1e-3 * t"),
        ]
    )
    elastic = 0.5 * 1e8 * 1e-6 * 0.5
    for steps in (1, 10):
        found = energies(Simulation(pulled, QuasiStatic(), Times(end=1.0, steps=steps)).run())
        assert found.elastic == pytest.approx(elastic, rel=1e-9)
        # forces of the end of each step: too much by one part in the number of steps
        assert found.supports == pytest.approx(elastic * (1.0 + 1.0 / steps), rel=1e-9)
        assert found.numerical == pytest.approx(elastic / steps, rel=1e-9)


def test_friction_dissipates_its_force_times_the_way() -> None:
    """A block thrown along a plane stops after v²/(2 mu g): all its energy goes to friction."""
    g, mu, v = 10.0, 0.2, 1.0
    model = block(
        Damping(kelvin_voigt=1e-3),
        loads=[Gravity(gy=-g)],
        contacts=[Contact("bottom", HalfPlane(), friction=mu, name="floor")],
        initial=[Initial(vx=v)],
    )
    result = Simulation(model, Theta(0.5), Times(end=0.7, steps=700), save_every=700).run()
    found = energies(result)
    mass = 2000.0 * 0.5
    way = float(result.final.displacement[:, 0].mean())
    assert way == pytest.approx(v**2 / (2.0 * mu * g), rel=0.01)
    assert found.kinetic < 1e-6 * found.start
    assert found.friction == pytest.approx(0.5 * mass * v**2, rel=0.01)
    friction = result.history["energy_friction"]
    assert np.diff(friction).min() > -1e-9 * found.start


def test_work_of_an_obstacle_that_moves() -> None:
    """A plate pushes a block up: its work is force times way, and gravity takes it."""
    mass, g, speed = 2000.0 * 0.5, 10.0, 0.5
    model = block(
        Damping(kelvin_voigt=1e-3),
        loads=[Gravity(gy=-g)],
        contacts=[Contact("bottom", HalfPlane(velocity=(0.0, speed)), name="plate")],
        initial=[Initial(vy=speed)],
    )
    found = energies(Simulation(model, Theta(0.5), Times(end=1.0, steps=500)).run())
    assert found.obstacles == pytest.approx(mass * g * speed, rel=1e-3)
    assert found.loads == pytest.approx(-mass * g * speed, rel=1e-3)
    assert found.kinetic == pytest.approx(0.5 * mass * speed**2, rel=1e-3)


def test_inelastic_shock_takes_the_kinetic_energy() -> None:
    mass, v = 2000.0 * 0.5, 1.0
    stiff = IsotropicElastic(1e13, 0.0, density=2000.0)
    solid = Solid(rectangle(1.0, 0.5, 4, 2, kind="quad"), {"body": stiff})
    for e in (0.0, 0.5):
        law = Law(condition="velocity", restitution=e)
        model = Model(
            solid, contacts=[Contact("bottom", HalfPlane(), law=law)], initial=[Initial(vy=-v)]
        )
        found = energies(Simulation(model, Theta(0.5), Times(end=1e-3, steps=1)).run())
        # the forces act with the mean of the velocities before and after
        lost = 0.5 * mass * v**2 * (1.0 - e**2)
        assert found.shocks == pytest.approx(lost, rel=1e-3)
        assert found.kinetic == pytest.approx(0.5 * mass * (e * v) ** 2, rel=1e-3, abs=1e-3 * mass)


def test_viscous_dissipation() -> None:
    """What a damped vibration loses goes to viscosity."""
    model = block(
        Damping(kelvin_voigt=1e-3, rayleigh_mass=50.0),
        prescribed=[Prescribed("left", ux=0)],
        initial=[Initial(ux="1e-3 * x", uy=0.0)],
    )
    found = energies(Simulation(model, Theta(0.5), Times(end=0.2, steps=2000)).run())
    assert found.viscous == pytest.approx(found.start, rel=0.01)
    assert found.stored < 0.01 * found.start


def test_springs_are_elastic_energy() -> None:
    model = block(
        prescribed=[Prescribed("bottom", uy=0)],
        springs=[Spring("right", kx=1e6)],
        loads=[Pressure("left", 1e5)],
    )
    result = Simulation(model).run()
    u = result.final.displacement
    spring = 0.5 * 1e6 * float((u[model.mesh.node_numbers("right"), 0] ** 2).sum())
    found = energies(result)
    assert found.elastic == pytest.approx(0.5 * found.loads, rel=1e-9)
    # the springs are softer than the block and have most of it
    assert spring < found.elastic < 1.1 * spring


def test_history_is_per_unit_thickness() -> None:
    thin, thick = (
        Simulation(block(thickness=t, loads=[Gravity(gy=-10.0)]), Theta(0.5), Times(end=0.1)).run()
        for t in (1.0, 0.25)
    )
    assert thick.final.energy.kinetic == pytest.approx(0.25 * thin.final.energy.kinetic)
    for name in COLUMNS:
        a, b = thin.history[f"energy_{name}"][-1], thick.history[f"energy_{name}"][-1]
        assert a == pytest.approx(b, rel=1e-12, abs=1e-12)


def test_a_broken_balance_shows() -> None:
    sound = Energies(kinetic=1.0, elastic=1.0, loads=0.5, friction=0.5, start=2.0)
    assert sound.balance == pytest.approx(0.0)
    assert Energies(kinetic=1.1, elastic=1.0, start=2.0).balance == pytest.approx(0.05)


def test_a_body_that_moves_untouched_balances() -> None:
    """Before it is met the upper block has forces and energies of rounding only."""
    blocks = {
        "lower": rectangle(1.0, 1.0, 3, 3, kind="quad"),
        "upper": rectangle(0.8, 1.0, 4, 4, kind="quad", origin=(0.1, 1.0012)),
    }
    rock = IsotropicElastic(1e7, 0.3)
    model = Model(
        Solid(Mesh.merge(blocks), {"lower": rock, "upper": rock}),
        prescribed=[
            Prescribed("lower.bottom", ux=0, uy=0),
            Prescribed("upper.top", ux=0, uy="-0.01 * t"),
        ],
        contacts=[PairContact("upper.bottom", "lower.top", name="joint")],
    )
    history = Simulation(model, times=Times(end=0.5, steps=10)).run().history
    assert (history["RN_joint"][:2] == 0.0).all()
    assert history["RN_joint"][-1] > 1e3
    assert history["balance"].max() < 1e-9
    assert history["energy_balance"].max() < 1e-9
