"""Implicit and explicit quasi-statics of relaxing bodies: closed forms, Newton, contact, start."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.conditions import Gravity, Lithostatic, Prescribed, Pressure, Traction, Winkler
from fecontact.contact import Contact, Disk, HalfPlane
from fecontact.errors import (
    ConditionError,
    InputError,
    InvertedElement,
    NotConverged,
    SingularSystem,
)
from fecontact.materials import IsotropicElastic, Maxwell
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.schemes import QuasiStatic, StepResult
from fecontact.schemes.beds import bed_forces, bed_tangent, gather_beds
from fecontact.schemes.explicit import Explicit
from fecontact.schemes.implicit import Implicit, ImplicitStepper
from fecontact.simulation import Simulation, Times

E, NU, ETA = 2.5, 0.25, 4.0
G = 1.0
TAU = ETA / G


def block(n: int = 4, **changes: Any) -> Solid:
    material = Maxwell(E, NU, eta=ETA, **changes)
    return Solid(rectangle(1.0, 1.0, n, n, diagonal="crossed"), {"body": material})


def final(model: Model, scheme: Any, end: float, steps: int, **times: Any) -> StepResult:
    result = Simulation(model, scheme=scheme, times=Times(end, steps=steps, **times)).run()
    assert result.failure is None, result.failure
    return result.final


# closed forms in a mesh


@pytest.mark.parametrize("scheme", [Implicit(tolerance=1e-11), Explicit(substeps=400)])
def test_pure_shear_at_constant_rate(scheme: Any) -> None:
    rate = 1e-4
    model = Model(
        block(),
        prescribed=[
            Prescribed("left", ux=0.0),
            Prescribed("bottom", uy=0.0),
            Prescribed("right", vx=rate),
            Prescribed("top", vy=-rate),
        ],
    )
    step = final(model, scheme, 2.0 * TAU, 10)
    s = 2.0 * ETA * rate * (1.0 - np.exp(-2.0))
    assert step.stress is not None
    # rates of strain change with the size of the block, by 1e-3 at the end
    np.testing.assert_allclose(step.stress[:, 0], s, rtol=3e-3)
    np.testing.assert_allclose(step.stress[:, 1], -s, rtol=3e-3)
    np.testing.assert_allclose(step.stress[:, 2:], 0.0, atol=3e-3 * s)


def test_confined_traction_relaxes_to_a_pressure() -> None:
    T0 = 1e-5
    model = Model(
        block(),
        prescribed=[
            Prescribed("left", ux=0.0),
            Prescribed("bottom", uy=0.0),
            Prescribed("top", uy=0.0),
        ],
        loads=[Traction("right", tx=T0)],
    )
    errors = []
    for steps in (20, 40):
        worst = 0.0
        simulation = Simulation(
            model, scheme=Implicit(tolerance=1e-9), times=Times(2.0 * TAU, steps=steps)
        )
        # the load comes at once and acts over the whole first step: it is a ramp that ends with it
        stepper = simulation.prepare()
        state = stepper.step(stepper.start(), 1e-9 * TAU).state
        for _ in range(steps):
            step = stepper.step(state, 2.0 * TAU / steps)
            state = step.state
            P = (2.0 * NU - 1.0) / (1.0 - NU)
            exact = T0 * (1.0 + P * np.exp(-E * step.t / (6.0 * ETA * (1.0 - NU))))
            assert step.stress is not None
            np.testing.assert_allclose(step.stress[:, 0], T0, rtol=1e-5)
            worst = max(worst, float(np.abs(step.stress[:, 1:3] / exact - 1.0).max()))
        errors.append(worst)
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] > 3.0, errors


def test_a_step_cut_short_by_an_output_does_not_shorten_the_next() -> None:
    model = Model(
        block(2),
        prescribed=[
            Prescribed("left", ux=0.0),
            Prescribed("bottom", uy=0.0),
            Prescribed("right", vx=1e-6),
        ],
    )
    times = Times(2.0 * TAU, steps=4, adaptive=True, outputs=(1e-6 * TAU, 0.7 * TAU))
    result = Simulation(model, scheme=Implicit(), times=times).run()
    np.testing.assert_allclose(
        result.history["time"] / TAU, [1e-6, 0.5 + 1e-6, 0.7, 1.2, 1.7, 2.0], rtol=1e-12
    )


# Newton's method


def pressed(n: int = 6, friction: float = 0.3, rate: float = 0.3) -> Model:
    """A block pushed down and sideways on a rough plane, by a tenth of its height."""
    return Model(
        block(n),
        prescribed=[Prescribed("top", vy=-rate, vx=0.6 * rate)],
        contacts=[Contact("bottom", HalfPlane(), friction=friction)],
    )


def test_newton_converges_quadratically_in_contact() -> None:
    stepper = Implicit(tolerance=1e-13).stepper(
        pressed(),
        replace(Simulation(pressed()).options, tolerance=1e-13),
        Simulation(pressed()).phases,
    )
    assert isinstance(stepper, ImplicitStepper)
    state = stepper.start()
    for _ in range(3):
        step = stepper.step(state, 0.1)
        state = step.state
        # from the second iteration on the contacts are kept and the method is Newton's own
        r = np.array([x for x in stepper.residuals if x > 1e-15])
        assert r[-1] < 1e-13
        assert len(r) <= 7, r
        tail = r[1:][r[1:] > 1e-12]
        assert len(r) >= 3
        for a, b in pairwise(r[1:]):
            assert b < max(20.0 * a**2, 1e-13), r
        assert len(tail) >= 1
    counts = {s: int(np.count_nonzero(step.contacts["bottom"].status == s)) for s in (0, 1, 2)}
    assert counts[1] > 0
    assert sum(counts.values()) == 7


def test_contact_laws_hold_in_the_end_configuration() -> None:
    step = final(pressed(), Implicit(tolerance=1e-11), 0.3, 3)
    state = step.contacts["bottom"]
    assert np.abs(state.gap[state.force[:, 0] > 0.0]).max() < 1e-9
    assert np.all(np.abs(state.force[:, 1]) <= 0.3 * state.force[:, 0] * (1 + 1e-8) + 1e-12)
    sliding = np.abs(state.velocity[:, 1]) > 1e-6
    assert sliding.any()
    assert np.all(state.force[sliding, 1] * state.velocity[sliding, 1] <= 1e-12)
    assert step.balance < 1e-9


@pytest.mark.parametrize("scheme", [Implicit(tolerance=1e-11), Explicit(substeps=200)])
def test_a_gap_closes_within_a_step(scheme: Any) -> None:
    model = replace(
        pressed(4, rate=0.1), contacts=[Contact("bottom", HalfPlane(point=(0.0, -0.05)), 0.3)]
    )
    # the top comes down by 0.2 in four steps; the block meets the plane within the second
    step = final(model, scheme, 2.0, 4)
    gap = step.contacts["bottom"].gap
    loose = 1e-9 if isinstance(scheme, Implicit) else 1e-3
    assert np.abs(gap[1:-1]).max() < loose
    assert gap.min() > -loose
    assert step.contacts["bottom"].force[:, 0].sum() > 0.1


def test_energies_balance() -> None:
    step = final(pressed(), Implicit(tolerance=1e-11), 0.3, 6)
    assert step.energy.balance < 1e-8
    assert step.energy.viscous > 0.0
    assert step.energy.friction > 0.0


def test_small_motion_agrees_with_the_linear_scheme() -> None:
    def model(material: Any) -> Model:
        return Model(
            Solid(rectangle(1.0, 1.0, 4, 4, diagonal="crossed"), {"body": material}),
            prescribed=[Prescribed("top", ux=2e-7, uy=-1e-6)],
            contacts=[Contact("bottom", HalfPlane(), friction=0.3)],
        )

    linear = final(model(IsotropicElastic(E, NU)), QuasiStatic(), 1.0, 2)
    moving = final(
        model(IsotropicElastic(E, NU)), Implicit(tolerance=1e-9, dilatation="element"), 1.0, 2
    )
    scale = np.abs(linear.displacement).max()
    np.testing.assert_allclose(moving.displacement, linear.displacement, atol=1e-5 * scale)
    force = linear.contacts["bottom"].force
    np.testing.assert_allclose(
        moving.contacts["bottom"].force, force, atol=1e-5 * np.abs(force).max()
    )


# obstacles that move


@pytest.mark.parametrize("scheme", [Implicit(tolerance=1e-11), Explicit(substeps=200)])
def test_a_plane_that_rises_is_followed(scheme: Any) -> None:
    """A plane that comes against the block does what the block does that comes to the plane."""

    def model(down: float, up: float) -> Model:
        return Model(
            block(),
            prescribed=[Prescribed("top", ux=0.0, vy=-down)],
            contacts=[Contact("bottom", HalfPlane(velocity=(0.0, up)), friction=0.3)],
        )

    pressed_down = final(model(0.01, 0.0), Implicit(tolerance=1e-11), 1.0, 10)
    rising = final(model(0.0, 0.01), scheme, 1.0, 10)
    force = pressed_down.contacts["bottom"].force
    loose = 1e-6 if isinstance(scheme, Implicit) else 5e-3
    np.testing.assert_allclose(
        rising.contacts["bottom"].force, force, atol=loose * np.abs(force).max()
    )
    # no lag behind the plane, however seldom contacts are looked for
    assert np.abs(rising.contacts["bottom"].gap).max() < 1e-12
    assert rising.measures.get("inertia_ratio", 0.0) < 1e-4


def test_a_common_velocity_changes_nothing() -> None:
    """A block on a disk, both carried along: frames and gaps belong to one instant."""

    def model(speed: float) -> Model:
        disk = Disk(center=(0.5, -1.0), radius=1.0, velocity=(speed, 0.0))
        return Model(
            block(),
            prescribed=[Prescribed("top", vx=speed, vy=-0.03)],
            contacts=[Contact("bottom", disk, friction=0.3)],
        )

    still, carried = (final(model(v), Implicit(tolerance=1e-11), 1.0, 10) for v in (0.0, 0.5))
    force = still.contacts["bottom"].force
    np.testing.assert_allclose(
        carried.contacts["bottom"].force, force, atol=1e-4 * np.abs(force).max()
    )
    np.testing.assert_allclose(
        carried.displacement - [0.5, 0.0], still.displacement, atol=1e-5, rtol=0.0
    )


def test_explicit_friction_is_told_as_it_was_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate is that of the impulses that moved the block; too few sweeps are an error."""
    # weighted reactions couple neighbours, so that one sweep is not enough
    contact = Contact("bottom", HalfPlane(), friction=0.3, reactions="weighted")
    model = replace(pressed(4, rate=0.02), contacts=[contact])
    simulation = Simulation(model, Explicit(substeps=50), Times(1.0, steps=5))
    result = simulation.run()
    assert result.failure is None
    assert 0.0 < result.worst_residual <= simulation.options.tolerance
    monkeypatch.setattr("fecontact.schemes.explicit_stepper._SWEEPS", 1)
    ended = Simulation(model, Explicit(substeps=50), Times(1.0, steps=5)).run()
    assert isinstance(ended.failure, NotConverged)
    assert ended.failure.report.residual > simulation.options.tolerance


# explicit against implicit


@pytest.mark.parametrize("damping", ["viscous", "local"])
def test_explicit_and_implicit_agree(damping: str) -> None:
    scheme = Explicit(
        substeps=400,
        damping=damping,
        ratio=None if damping == "viscous" else 0.3,  # type: ignore[arg-type]
    )
    implicit = final(pressed(4, rate=0.02), Implicit(), 2.0, 20)
    explicit = final(pressed(4, rate=0.02), scheme, 2.0, 20)
    scale = np.abs(implicit.displacement).max()
    np.testing.assert_allclose(explicit.displacement, implicit.displacement, atol=0.01 * scale)
    total = implicit.supports["top"]
    np.testing.assert_allclose(explicit.supports["top"], total, atol=0.02 * np.abs(total).max())
    assert explicit.measures["inertia_ratio"] < 0.05


@pytest.mark.parametrize("kind", ["triangle", "quad"])
@pytest.mark.parametrize("ratio", [0.3, 0.8])
def test_local_damping_is_stable_up_to_the_critical_step(kind: Any, ratio: float) -> None:
    """It pulls a node back with up to 1 + ratio times the force: nodes are made heavier."""
    model = Model(
        Solid(rectangle(1.0, 1.0, 4, 4, kind=kind), {"body": Maxwell(E, NU, eta=1e6)}),
        prescribed=[Prescribed("left", ux=0.0), Prescribed("bottom", uy=0.0)],
        loads=[Pressure("top", 1e-3)],
    )
    scheme = Explicit(substeps=200, damping="local", ratio=ratio, fraction=1.0)
    step = final(model, scheme, 1.0, 10)
    assert step.measures["inertia_ratio_at_end"] < 1e-6


def test_real_masses_with_local_damping_have_a_shorter_critical_step() -> None:
    model = pressed()
    heavy = Solid(model.mesh, {"body": Maxwell(E, NU, eta=ETA, density=1.0)})
    model = replace(model, solid=heavy)

    def limit(**changes: Any) -> float:
        scheme = Explicit(substeps=1, masses="real", **changes)
        with pytest.raises(InputError, match="explicit limit") as refused:
            Simulation(model, scheme=scheme, times=Times(1.0, steps=1)).prepare()
        return float(str(refused.value).split("explicit limit ")[1].split()[0])

    shorter = limit(damping="local", ratio=0.8) / limit()
    assert shorter == pytest.approx(1.8**-0.5, rel=1e-3)


def test_inertia_asks_for_more_small_steps() -> None:
    simulation = Simulation(
        pressed(4, rate=0.02),
        scheme=Explicit(substeps=10, max_substeps=300, inertia=1e-4),
        times=Times(2.0, steps=10),
    )
    result = simulation.run()
    counts = result.history["substeps"]
    assert counts[0] == 10.0
    assert counts[1] == 20.0
    assert counts.max() <= 300.0
    assert counts.max() > 40.0
    assert len(result.history["inertia_ratio"]) == 10


# a start in equilibrium


def layers(mesh: Mesh | None = None, upper: float = 2.0, lower: float = 3.0) -> Solid:
    mesh = rectangle(2.0, 1.0, 6, 4) if mesh is None else mesh
    above = mesh.centroids()[:, 1] > 0.5
    mesh = mesh.with_groups(
        elements={"upper": np.flatnonzero(above), "lower": np.flatnonzero(~above)}
    )
    return Solid(
        mesh,
        {
            "upper": Maxwell(100.0, NU, eta=50.0, density=upper),
            "lower": Maxwell(100.0, NU, eta=5.0, density=lower),
        },
    )


def resting(solid: Solid, **changes: Any) -> Model:
    given: dict[str, Any] = {
        "prescribed": [
            Prescribed("left", ux=0.0),
            Prescribed("right", ux=0.0),
            Prescribed("bottom", uy=0.0),
        ],
        "loads": [Gravity(gy=-10.0)],
        "prestress": Lithostatic(),
    }
    return Model(solid, **(given | changes))


@pytest.mark.parametrize("scheme", [Implicit(), Explicit(substeps=50)])
@pytest.mark.parametrize("bed", [False, True])
def test_nothing_moves_when_nothing_is_pushed(scheme: Any, bed: bool) -> None:
    changes: dict[str, Any] = {}
    if bed:
        changes = {
            "prescribed": [Prescribed("left", ux=0.0), Prescribed("right", ux=0.0)],
            "springs": [Winkler("bottom", 40.0)],
        }
    step = final(resting(layers(), **changes), scheme, 10.0, 10)
    assert np.abs(step.displacement).max() < 1e-10
    weight = 10.0 * (2.0 * 0.5 + 3.0 * 0.5)
    if not bed:
        assert step.supports["bottom"][1] == pytest.approx(2.0 * weight)
    assert step.stress is not None
    np.testing.assert_allclose(step.stress[:, 0], step.stress[:, 1], rtol=1e-9)
    assert step.stress[:, 1].min() == pytest.approx(-10.0 * (1.0 + 3.0 * (0.5 - 1.0 / 12.0)))


def test_a_load_sinks_by_the_stiffness_of_its_bed() -> None:
    model = resting(
        layers(),
        prescribed=[Prescribed("left", ux=0.0), Prescribed("right", ux=0.0)],
        springs=[Winkler("bottom", 40.0)],
        loads=[Gravity(gy=-10.0), Pressure("top", 0.2, amplitude=[[0.0, 0.0], [1.0, 1.0]])],
    )
    step = final(model, Implicit(), 2.0, 4)
    bottom = model.mesh.node_numbers("bottom")
    assert step.displacement[bottom, 1].mean() == pytest.approx(-0.2 / 40.0, rel=1e-6)


def test_a_bed_is_refused_in_axisymmetry() -> None:
    """Its edges are rings there, which a bed does not know of."""
    solid = Solid(rectangle(1.0, 1.0, 2, 2), {"body": IsotropicElastic(E, NU)}, "axisymmetric")
    with pytest.raises(ConditionError, match=r"springs\.bottom: a bed is not available"):
        Model(solid, springs=[Winkler("bottom", 40.0)])


def test_a_bed_presses_along_the_normal_of_its_edge() -> None:
    model = resting(layers(), springs=[Winkler("bottom", 40.0)])
    beds = gather_beds(model)
    angle = 0.3
    Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    positions = model.mesh.nodes @ Q.T
    positions[:, 1] -= positions[model.mesh.node_numbers("bottom"), 1].mean()
    # the mean pressure is that of the start, on 2 of length, turned with the edge
    total = bed_forces(beds, positions).reshape(-1, 2).sum(axis=0)
    np.testing.assert_allclose(total, 2.0 * 25.0 * Q @ [0.0, 1.0], rtol=1e-12)
    positions += 0.05 * np.random.default_rng(4).normal(size=positions.shape)
    K = bed_tangent(beds, positions).toarray()
    d = 1e-6
    for j in range(positions.size):
        step = np.zeros(positions.size)
        step[j] = d
        moved = step.reshape(-1, 2)
        change = bed_forces(beds, positions + moved) - bed_forces(beds, positions - moved)
        np.testing.assert_allclose(K[:, j], change / (2 * d), atol=1e-7)


def test_a_ramp_of_gravity_ends_at_the_weight() -> None:
    ramp = Gravity(gy=-10.0, amplitude=[[0.0, 0.0], [5.0, 1.0]])
    step = final(resting(layers(), loads=[ramp], prestress=None), Implicit(), 200.0, 100)
    assert step.supports["bottom"][1] == pytest.approx(50.0, rel=1e-9)
    # confined and relaxed, the stress is a pressure
    assert step.stress is not None
    np.testing.assert_allclose(step.stress[:, 0], step.stress[:, 1], atol=0.02 * 25.0)


def test_layers_that_cut_elements_are_refused() -> None:
    solid = layers(rectangle(2.0, 1.0, 6, 3))
    with pytest.raises((InputError, ConditionError), match="lithostatic"):
        Simulation(resting(solid), scheme=Implicit()).prepare()


def test_initial_stress_beside_another_load_is_refused() -> None:
    model = resting(layers(), loads=[Gravity(gy=-10.0), Pressure("top", 1.0)])
    with pytest.raises(InputError, match="not in equilibrium with the loads at node"):
        Simulation(model, scheme=Implicit()).prepare()


@pytest.mark.parametrize(
    ("loads", "message"),
    [
        ([], "no gravity"),
        ([Gravity(gx=1.0)], "gx = 1"),
        ([Gravity(amplitude=[[0.0, 0.0], [1.0, 1.0]])], "at time 0 is 0"),
        ([Gravity(on="upper")], "'upper' only"),
    ],
)
def test_initial_stress_needs_gravity(loads: list[Gravity], message: str) -> None:
    model = resting(layers(), loads=loads)
    with pytest.raises(ConditionError, match=message):
        Simulation(model, scheme=Implicit()).prepare()


# locking


def extrusion(dilatation: str, n: int) -> float:
    """Force that squeezes a fluid out between two rough plates."""
    solid = Solid(rectangle(2.0, 1.0, 2 * n, n), {"body": Maxwell(1e4, 0.49, eta=1.0)})
    model = Model(
        solid,
        prescribed=[
            Prescribed("left", ux=0.0),
            Prescribed("bottom", ux=0.0, uy=0.0),
            Prescribed("top", ux=0.0, vy=-0.01),
        ],
    )
    step = final(model, Implicit(dilatation=dilatation), 0.02, 2)  # type: ignore[arg-type]
    return float(-step.supports["top"][1])


def test_nodal_averages_do_not_lock() -> None:
    nodal = [extrusion("nodal", n) for n in (4, 12)]
    element = [extrusion("element", n) for n in (4, 12)]
    assert nodal[0] == pytest.approx(nodal[1], rel=0.3)
    # triangles with volume changes of their own are too stiff by far, and still when refined
    assert element[0] > 10.0 * nodal[1]
    assert element[1] > 3.0 * nodal[1]


# what goes wrong


def crushed(rate: float = 1.0) -> Model:
    solid = block(2)
    middle = np.flatnonzero(np.linalg.norm(solid.mesh.nodes - 0.5, axis=1) < 1e-9)
    solid = replace(solid, mesh=solid.mesh.with_groups(nodes={"middle": middle}))
    return Model(
        solid,
        prescribed=[
            Prescribed("right", ux=0.0, uy=0.0),
            Prescribed("bottom", ux=0.0, uy=0.0),
            Prescribed("middle", vx=rate, vy=0.0),
        ],
    )


@pytest.mark.parametrize("scheme", [Implicit(), Explicit(substeps=50, inertia=10.0)])
def test_an_inverted_element_ends_the_run_with_the_last_good_state(scheme: Any) -> None:
    times = Times(2.0, steps=20, adaptive=True, min_step=0.05)
    result = Simulation(crushed(), scheme=scheme, times=times).run()
    assert isinstance(result.failure, InvertedElement)
    assert "element" in str(result.failure)
    assert "turns inside out" in str(result.failure)
    assert "from t = " in str(result.failure)
    assert 0.0 < result.final.t < 0.6
    moved = result.simulation.model.mesh.moved(result.final.displacement)
    assert moved.areas().min() > 0.0


def test_an_explicit_step_beyond_the_relaxation_time_is_refused() -> None:
    simulation = Simulation(
        pressed(), scheme=Explicit(substeps=2), times=Times(100.0 * TAU, steps=2)
    )
    with pytest.raises(InputError, match="longer than the explicit limit"):
        simulation.prepare()


def test_an_explicit_step_beyond_the_critical_one_is_refused() -> None:
    model = pressed()
    heavy = Solid(model.mesh, {"body": Maxwell(E, NU, eta=ETA, density=1.0)})
    model = replace(model, solid=heavy)
    scheme = Explicit(substeps=10, masses="real")
    with pytest.raises(InputError, match=r"small steps of 0\.1 are longer than the explicit limit"):
        Simulation(model, scheme=scheme, times=Times(1.0, steps=1)).prepare()
    Simulation(model, scheme=replace(scheme, substeps=100), times=Times(1.0, steps=1)).prepare()
    with pytest.raises(InputError, match="explicit limit"):
        Explicit(fraction=1.2)


def test_a_body_that_only_contact_holds_is_named() -> None:
    model = Model(
        block(),
        loads=[Pressure("top", 1.0)],
        contacts=[Contact("bottom", HalfPlane(), friction=0.3)],
    )
    with pytest.raises(SingularSystem, match="only contact would hold the body"):
        Simulation(model, scheme=Implicit()).prepare()


def test_linear_schemes_refuse_materials_that_relax() -> None:
    with pytest.raises(InputError, match="Maxwell has a history"):
        Simulation(pressed(), scheme=QuasiStatic()).prepare()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"substeps": 0}, "substeps"),
        ({"damping": "local", "ratio": 1.0}, "ratio"),
        ({"damping": "locl"}, "did you mean 'local'"),
        ({"inertia": 0.0}, "inertia"),
        ({"detection": 0}, "detection"),
    ],
)
def test_explicit_options_are_checked(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Explicit(**keys)


def test_implicit_options_are_checked() -> None:
    with pytest.raises(InputError, match="tolerance"):
        Implicit(tolerance=0.0)
    with pytest.raises(InputError, match="'nodl' is not known; did you mean 'nodal'"):
        Simulation(pressed(), scheme=Implicit(dilatation="nodl")).prepare()  # type: ignore[arg-type]
