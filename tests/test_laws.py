"""Every law of contact against what it says: conditions, restitution, friction, regularisation."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.case import build, read_case
from fecontact.case.variants import variants
from fecontact.conditions import Gravity, Initial, Prescribed, Traction
from fecontact.contact import Contact, Disk, HalfPlane, Law, PairContact
from fecontact.errors import ContactError, InputError
from fecontact.materials import Damping, IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.schemes import Newmark, QuasiStatic, Scheme, Theta
from fecontact.simulation import Result, Simulation, Times
from fecontact.typing import FloatArray

CASES = Path(__file__).parent.parent / "cases"
G = 9.81
Reactions = Literal["concentrated", "weighted"]
BOTH = pytest.mark.parametrize("reactions", ["concentrated", "weighted"])


def simulate(model: Model, scheme: Scheme, times: Times) -> Result:
    result = Simulation(model, scheme, times).run()
    assert result.failure is None, result.failure
    assert result.history["energy_balance"].max() < 1e-9
    assert result.history["balance"].max() < 1e-9
    return result


# conditions


@pytest.fixture(scope="module")
def particle() -> dict[str, Result]:
    found = variants(read_case(CASES / "falling_particle.toml"), [])
    return {label: build(case).run() for label, case in found}


def test_gap_condition_throws_a_penetrated_particle_out(particle: dict[str, Result]) -> None:
    depth, h = 1e-3, 1e-3
    history = particle["gap_penetrated"].history
    assert history["velocity"][0] == pytest.approx(depth / h, rel=1e-9)
    assert history["height"][0] == pytest.approx(0.0, abs=1e-12)
    # the impulse of the artefact is m d / h, on top of the one that stops the fall
    mass = 2500.0 * 0.01 * 0.01
    impulse = history["RN_plane"][0] * h
    assert impulse == pytest.approx(mass * (depth / h + 0.5 + G * h), rel=1e-3)
    assert history["height"].max() == pytest.approx((depth / h) ** 2 / (2 * G), rel=0.02)


def test_velocity_condition_leaves_it_where_it_is(particle: dict[str, Result]) -> None:
    history = particle["velocity_penetrated"].history
    assert np.abs(history["velocity"]).max() < 1e-9
    assert np.abs(history["height"] + 1e-3).max() < 1e-9
    mass = 2500.0 * 0.01 * 0.01
    assert history["RN_plane"][0] * 1e-3 == pytest.approx(mass * (0.5 + G * 1e-3), rel=1e-3)
    assert history["RN_plane"][-1] == pytest.approx(mass * G, rel=1e-6)


def test_the_two_conditions_agree_without_penetration(particle: dict[str, Result]) -> None:
    gap, velocity = (particle[f"{name}_above"].history for name in ("gap", "velocity"))
    flying = gap["RN_plane"] == 0.0
    assert 5 < flying.sum() < 30
    # after the impact both stay on the plane, up to what a step falls
    assert np.abs(gap["height"] - velocity["height"]).max() < 0.7 * 1e-3
    assert np.abs(gap["height"][30:]).max() < 1e-12
    assert np.abs(velocity["velocity"][30:]).max() < 1e-9


def stone(law: Law, width: float = 0.01, **motion: Any) -> Model:
    """A small stiff body above the plane y = 0; viscosity acts on its deformation only."""
    mesh = rectangle(width, 0.01, 1, 1, kind="quad")
    rock = IsotropicElastic(1e12, 0.0, density=2500.0, damping=Damping(kelvin_voigt=1e-4))
    return Model(
        Solid(mesh, {"body": rock}),
        loads=[Gravity(gy=-G)],
        contacts=[Contact("bottom", HalfPlane(), law=law, name="plane")],
        initial=[Initial(**motion)],
    )


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_bounce_heights_follow_the_restitution(e: float) -> None:
    height = 0.1
    model = stone(Law(condition="velocity", restitution=e), uy=height)
    simulation = Simulation(model, Theta(0.5), Times(end=0.5, steps=1000), save_every=10**6)
    y, pushes = [], []
    for step in simulation.steps():
        y.append(float(step.displacement[:, 1].mean()))
        pushes.append(step.contacts["plane"].force[:, 0].sum() > 0.0)
    first = int(np.argmax(pushes))
    assert simulation.times.size * first == pytest.approx(np.sqrt(2 * height / G), rel=0.01)
    peak = max(y[first + 5 :])
    assert peak == pytest.approx(e**2 * height, abs=0.01 * height)
    if e == 0.0:
        # the inelastic shock: all steps push from the first on
        assert all(pushes[first:])
    else:
        again = first + 5 + int(np.argmax(pushes[first + 5 :]))
        second = max(y[again + 5 :]) if e < 1.0 else None
        if second is not None:
            assert second == pytest.approx(e**4 * height, abs=0.01 * height)


@pytest.mark.parametrize(("normal", "tangential"), [(0.5, 0.0), (0.5, 0.3), (0.8, 1.0)])
def test_moreaus_weighted_velocities(normal: float, tangential: float) -> None:
    """Where friction holds, both parts of the velocity come back with their coefficients."""
    law = Law(
        condition="velocity", restitution=normal, tangential_restitution=tangential, friction=5.0
    )
    # wide, so that friction does not turn it over
    model = stone(law, width=0.2, uy=1e-3, vx=0.5, vy=-2.0)
    before = None
    for step in Simulation(model, Theta(0.5), Times(end=2e-3, step=1e-4)).steps():
        contact = step.contacts["plane"]
        if (contact.force[:, 0] > 0.0).all():
            break
        before = step.velocity[contact.nodes]
    assert before is not None
    # T = +x and N = +y on this plane
    assert contact.velocity[:, 0] == pytest.approx(-normal * before[:, 1], rel=1e-6)
    assert contact.velocity[:, 1] == pytest.approx(-tangential * before[:, 0], rel=1e-6, abs=1e-9)


def test_restitution_and_sliding_friction() -> None:
    """A low coefficient bounds the tangential impulse by mu times the normal one."""
    model = stone(Law(condition="velocity", restitution=0.5, friction=0.1), width=0.2, vx=3.0)
    step = next(Simulation(model, Theta(0.5), Times(end=1e-4)).steps())
    R = step.contacts["plane"].force.sum(axis=0)
    assert R[1] == pytest.approx(-0.1 * R[0], rel=1e-9)


# friction


def on_slope(degrees: float, law: Law, vx: float = 0.0, settle: bool = False) -> Result:
    """A block on a slope, seen along it; viscosity takes the vibration of the start."""
    alpha = np.radians(degrees)
    mesh = rectangle(1.0, 0.25, 8, 2, kind="quad")
    rock = IsotropicElastic(1e8, 0.3, density=2000.0, damping=Damping(kelvin_voigt=1e-3))
    model = Model(
        Solid(mesh, {"body": rock}),
        loads=[Gravity(gx=G * float(np.sin(alpha)), gy=-G * float(np.cos(alpha)))],
        contacts=[Contact("bottom", HalfPlane(), law=law, name="slope")],
        initial=[Initial(vx=vx)],
    )
    return simulate(model, Theta(0.5, settle=settle), Times(end=0.3, step=1e-3))


def acceleration(result: Result) -> float:
    """Of the mean over the nodes, from the second half of the kept steps."""
    late = result.steps[len(result.steps) // 2 :]
    t = [step.t for step in late]
    v = [step.velocity[:, 0].mean() for step in late]
    return float(np.polyfit(t, v, 1)[0])


def expected(degrees: float, mu: float) -> float:
    alpha = np.radians(degrees)
    return float(G * (np.sin(alpha) - mu * np.cos(alpha)))


TWO = Law(friction=0.6, dynamic_friction=0.2)


def test_static_friction_holds_up_to_its_angle() -> None:
    """atan(0.2) = 11.3 degrees, atan(0.6) = 31: between them a block at rest stays."""
    result = on_slope(18.0, TWO, settle=True)
    assert np.abs(result.final.velocity).max() < 1e-9
    assert result.history["RT_slope"][-1] == pytest.approx(
        -2000.0 * 0.25 * G * np.sin(np.radians(18.0)), rel=1e-9
    )


@pytest.mark.parametrize(("degrees", "vx"), [(35.0, 0.0), (18.0, 0.5)])
def test_dynamic_friction_while_it_slides(degrees: float, vx: float) -> None:
    """Above the static angle, or once it moves, the dynamic coefficient counts."""
    result = on_slope(degrees, TWO, vx=vx)
    assert acceleration(result) == pytest.approx(expected(degrees, 0.2), rel=1e-5)
    assert (result.contacts["slope"].friction == 0.2).all()


def test_sliding_goes_on_with_the_dynamic_coefficient() -> None:
    """Dragged slowly, the block holds up to the static bound and slides with the dynamic one."""
    result = on_belt(TWO, 0.1, 6e-4, steps=60)
    ratio = result.history["RT_belt"] / result.history["RN_belt"]
    start = int(np.argmax(result.history["sliding_belt"] == 9))
    assert ratio[:start].max() > 0.4
    assert np.allclose(ratio[start:], 0.2, rtol=1e-6)
    # from the very step in which a candidate starts to slide
    for step in result.steps:
        contact = step.contacts["belt"]
        assert (contact.friction[contact.slides] == 0.2).all()


def test_frictionless_slope() -> None:
    result = on_slope(25.0, Law(friction_law="frictionless", friction=0.3))
    assert not result.contacts["slope"].force[:, 1].any()
    assert acceleration(result) == pytest.approx(expected(25.0, 0.0), rel=1e-9)


PRESSURE, WIDTH = 1e6, 0.4
FORCE = PRESSURE * WIDTH


def on_belt(
    law: Law,
    velocity: float,
    way: float,
    reactions: Reactions = "concentrated",
    normal: tuple[float, float] = (0.0, 1.0),
    steps: int = 20,
) -> Result:
    """A block held from above and pressed on a plane that runs along +x under it for a way."""
    height, E = 0.1, 1e9
    mesh = rectangle(WIDTH, height, 8, 2, kind="quad")
    down = PRESSURE * height / E
    model = Model(
        Solid(mesh, {"body": IsotropicElastic(E, 0.0)}),
        prescribed=[Prescribed("top", ux=0, uy=-down)],
        contacts=[
            Contact(
                "bottom",
                HalfPlane(normal=normal, velocity=(velocity, 0.0)),
                law=law,
                reactions=reactions,
                name="belt",
            )
        ],
    )
    return simulate(model, QuasiStatic(), Times(end=way / velocity, steps=steps))


@BOTH
@pytest.mark.parametrize("velocity", [0.01, 0.1, 0.3])
def test_friction_decays_with_the_velocity(velocity: float, reactions: Reactions) -> None:
    law = Law(friction=0.5, dynamic_friction=0.2, decay_velocity=0.1)
    R = on_belt(law, velocity, 0.01, reactions).contacts["belt"].force.sum(axis=0)
    mu = 0.2 + 0.3 * np.exp(-velocity / 0.1)
    assert R[0] == pytest.approx(FORCE, rel=1e-3)
    assert R[1] == pytest.approx(mu * R[0], rel=1e-6)


@BOTH
@pytest.mark.parametrize("threshold", [1e5, 2.5e5])
def test_trescas_plateau(threshold: float, reactions: Reactions) -> None:
    """However hard it is pressed, the bound is threshold times area; below it contact sticks."""
    law = Law(friction_law="tresca", threshold=threshold)
    result = on_belt(law, 0.1, 0.01, reactions)
    contact = result.contacts["belt"]
    assert contact.force.sum(axis=0)[1] == pytest.approx(threshold * WIDTH, rel=1e-6)
    assert contact.slides.all()
    # a way short of the bound: shear modulus times the mean angle
    short = on_belt(law, 0.1, 1e-6, reactions).contacts["belt"]
    assert not short.slides.any()
    assert short.force.sum(axis=0)[1] < 0.05 * threshold * WIDTH


def test_tresca_does_not_act_where_nothing_pushes() -> None:
    law = Law(friction_law="tresca", threshold=1e5)
    contact = on_belt(law, 0.1, 0.01, normal=(1e-3, 1.0)).contacts["belt"]
    apart = contact.force[:, 0] <= 0.0
    assert 0 < apart.sum() < len(apart)
    assert not contact.force[apart].any()
    full = np.isclose(contact.force[:, 1], 1e5 * contact.support, rtol=1e-6)
    # one at the edge of the contact may push only without the shear: it is left without
    assert (full | apart).sum() >= len(apart) - 1
    assert full.sum() >= 2


def test_friction_as_an_expression() -> None:
    """Under uniform pressure and shear 0.3 of it, what has 0.1 slides and what has 0.5 sticks."""
    law = Law(friction="0.1 + 0.4 * (x > 0.2)")
    shear = 1e9 / 2.0 / 0.1
    result = on_belt(law, 1.0, 0.3 * PRESSURE / shear, steps=1)
    contact = result.contacts["belt"]
    left = contact.position[:, 0] < 0.21
    assert (contact.friction == np.where(left, 0.1, 0.5)).all()
    assert contact.slides[left].all()
    assert not contact.slides[contact.position[:, 0] > 0.26].any()
    assert np.allclose(contact.force[left, 1], 0.1 * contact.force[left, 0], rtol=1e-9)


# regularised laws


@BOTH
def test_normal_stiffness(reactions: Reactions) -> None:
    """The penetration is the pressure over the stiffness, in series with the block."""
    stiffness, block = 1e11, 1e9 / 0.1
    law = Law(friction=0.0, normal_stiffness=stiffness)
    contact = on_belt(law, 1.0, 1e-6, reactions, steps=1).contacts["belt"]
    down = PRESSURE / block
    pressure = down / (1.0 / block + 1.0 / stiffness)
    assert contact.force[:, 0] / contact.support == pytest.approx(pressure, rel=1e-6)
    assert contact.gap == pytest.approx(-pressure / stiffness, rel=1e-6)


@pytest.mark.parametrize("condition", ["gap", "end_gap"])
def test_normal_stiffness_at_rest_after_motion(condition: Literal["gap", "end_gap"]) -> None:
    """At rest the penetration is the pressure over the stiffness, whichever gap is met."""
    pressure, stiffness = 1e4, 1e7
    rock = IsotropicElastic(1e9, 0.0, density=1000.0, damping=Damping(rayleigh_mass=200.0))
    law = Law(condition=condition, normal_stiffness=stiffness)
    model = Model(
        Solid(rectangle(1.0, 1.0, 2, 2, kind="quad"), {"body": rock}),
        prescribed=[Prescribed("left", ux=0.0)],
        loads=[Traction("top", ty=-pressure)],
        contacts=[Contact("bottom", HalfPlane(), law=law)],
    )
    contact = simulate(model, Theta(0.6), Times(0.5, steps=500)).contacts["bottom"]
    assert contact.gap == pytest.approx(-pressure / stiffness, rel=1e-6)


@BOTH
@pytest.mark.parametrize("velocity", [1e-3, 2e-3, 2e-2])
def test_tangential_viscosity(velocity: float, reactions: Reactions) -> None:
    """Inside the bound the belt creeps under the block with the shear over the viscosity."""
    viscosity, mu = 5e7, 0.3
    law = Law(friction=mu, tangential_viscosity=viscosity)
    contact = on_belt(law, velocity, 0.01, reactions).contacts["belt"]
    stress = min(viscosity * velocity, mu * PRESSURE)
    assert contact.force[:, 1].sum() == pytest.approx(stress * WIDTH, rel=1e-3)
    assert contact.velocity[:, 1] == pytest.approx(-velocity, rel=1e-6)
    beyond = viscosity * velocity > mu * PRESSURE
    assert (contact.slides == beyond).all()


# glue


def merged() -> tuple[Mesh, Mesh, FloatArray]:
    """Two blocks one upon the other, the same as one body, and which node of it each is."""
    one = rectangle(1.0, 2.0, 4, 6, kind="quad")
    two = Mesh.merge(
        {
            "lower": rectangle(1.0, 1.0, 4, 3, kind="quad"),
            "upper": rectangle(1.0, 1.0, 4, 3, kind="quad", origin=(0.0, 1.0)),
        }
    )
    distance = np.linalg.norm(two.nodes[:, None] - one.nodes[None], axis=2)
    assert distance.min(axis=1).max() < 1e-12
    return one, two, distance.argmin(axis=1)


@BOTH
@pytest.mark.parametrize("pull", [1e6, -1e6])
@pytest.mark.parametrize(
    ("scheme", "times"),
    [
        (QuasiStatic(), Times(end=1.0)),
        (Theta(0.5), Times(end=2e-3, steps=20)),
        (Theta(0.7), Times(end=2e-3, steps=20)),
        (Newmark(), Times(end=2e-3, steps=20)),
    ],
    ids=["static", "theta 0.5", "theta 0.7", "newmark"],
)
def test_glued_bodies_are_one(
    scheme: Scheme, times: Times, pull: float, reactions: Reactions
) -> None:
    """In traction and in compression, with shear, standing and moving."""
    one, two, which = merged()
    rock = IsotropicElastic(1e9, 0.3, density=2000.0)
    whole = Model(
        Solid(one, {"body": rock}),
        prescribed=[Prescribed("bottom", ux=0, uy=0)],
        loads=[Traction("top", tx=4e5, ty=pull)],
    )
    law = Law(friction_law="glued")
    glued = Model(
        Solid(two, {"lower": rock, "upper": rock}),
        prescribed=[Prescribed("lower.bottom", ux=0, uy=0)],
        loads=[Traction("upper.top", tx=4e5, ty=pull)],
        contacts=[PairContact("upper.bottom", "lower.top", law=law, reactions=reactions)],
    )
    u = simulate(whole, scheme, times).final
    w = simulate(glued, scheme, times).final
    difference = np.abs(w.displacement - u.displacement[which]).max()
    assert difference < 1e-7 * np.abs(u.displacement).max()
    if isinstance(scheme, QuasiStatic):
        assert w.contacts["upper.bottom"].force[:, 0].sum() == pytest.approx(-pull, rel=1e-6)


def test_glued_to_a_plane_is_held() -> None:
    mesh = rectangle(1.0, 1.0, 4, 3, kind="quad")
    solid = Solid(mesh, {"body": IsotropicElastic(1e9, 0.3, density=2000.0)})
    pull = Traction("top", tx=4e5, ty=1e6)
    glue = Contact("bottom", HalfPlane(), law=Law(friction_law="glued"))
    held = Model(solid, loads=[pull], prescribed=[Prescribed("bottom", ux=0, uy=0)])
    free = Model(solid, loads=[pull], contacts=[glue])
    times = Times(end=2e-3, steps=10)
    u, w = (simulate(m, Theta(0.5), times).final.displacement for m in (held, free))
    assert np.abs(w - u).max() < 1e-8 * np.abs(u).max()


def test_glued_to_a_plane_that_moves_it_moves_along() -> None:
    """Without mass too, where nothing else holds it."""
    mesh = rectangle(1.0, 1.0, 4, 3, kind="quad")
    plane = HalfPlane(velocity=(0.1, 0.05))
    model = Model(
        Solid(mesh, {"body": IsotropicElastic(1e9, 0.3)}),
        contacts=[Contact("bottom", plane, law=Law(friction_law="glued"))],
    )
    # nothing is stressed, so that there are no forces and energies to balance
    result = Simulation(model, QuasiStatic(), Times(end=2.0, steps=3)).run()
    assert np.allclose(result.final.displacement, [0.2, 0.1], rtol=1e-9)
    assert np.abs(result.contacts["bottom"].force).max() < 1e-9 * 1e9 * 0.2


def test_glue_does_not_follow_a_spin() -> None:
    disk = Disk(center=(0.0, -1.0), radius=1.0, spin=0.1)
    solid = Solid(rectangle(1.0, 1.0, 2, 2), {"body": IsotropicElastic(1e9, 0.3)})
    with pytest.raises(ContactError, match=r"contact\.bottom\.friction_law: .*spin = 0\.1"):
        Model(solid, contacts=[Contact("bottom", disk, law=Law(friction_law="glued"))])


# what is no law


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Law(restitution=0.5), "only the condition 'velocity' has a restitution"),
        (Law(condition="velocity", restitution=1.5), "restitution: 1.5 must be between 0 and 1"),
        (Law(friction=0.2, dynamic_friction=0.3), "more than the static coefficient"),
        (Law(friction_law="tresca", dynamic_friction=0.1), "only the friction law 'coulomb'"),
        (Law(normal_stiffness=-1.0), "normal_stiffness: -1 must be positive"),
        (Law(friction_law="glued", normal_stiffness=1.0), "normal_stiffness: a glued contact"),
        (
            Law(friction_law="glued", tangential_viscosity=1.0),
            "tangential_viscosity: a glued contact",
        ),
        (Law(condition="velocity", normal_stiffness=1.0), "does not see how deep"),
        (Law(friction="t"), "depends on t"),
        (Law(friction=-0.1), "must be >= 0"),
    ],
)
def test_bad_laws_are_refused(law: Law, message: str) -> None:
    with pytest.raises(ContactError, match=message):
        stone(law, uy=0.0)


def test_newmark_has_no_condition_on_velocities() -> None:
    with pytest.raises(InputError, match=r"contact\.plane\.condition: Newmark"):
        Simulation(stone(Law(condition="velocity"), uy=0.0), Newmark()).prepare()


def test_a_law_that_is_not_given_has_no_friction() -> None:
    law = Law()
    assert (law.friction, law.threshold, law.decay_velocity) == (0.0, 0.0, 0.0)
    assert (law.restitution, law.tangential_restitution) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (Law(friction=0.5), [0.0, 0.0, 0.1, 1.0]),
        (Law(friction_law="frictionless"), [0.0, 0.0, 0.0, 0.0]),
        (Law(friction_law="glued"), [np.inf] * 4),
        (Law(friction_law="tresca", threshold=3.0), [0.0, 0.0, 1.5, 1.5]),
    ],
)
def test_bounds_of_friction(law: Law, expected: list[float]) -> None:
    """Nothing is held where nothing pushes; Tresca's bound is that of the support, half an edge."""
    mesh = rectangle(4.0, 1.0, 4, 1)
    model = Model(
        Solid(mesh, {"body": IsotropicElastic(1e6, 0.3)}, "plane_strain"),
        contacts=[Contact("bottom", HalfPlane(), law=law)],
    )
    laws = model.interfaces[0].laws
    which = np.array([0, 1, 4, 4])
    forces = np.array([-2.0, 0.0, 0.2, 2.0])
    np.testing.assert_allclose(laws.take(which).bound(forces, laws.friction[which]), expected)


def test_the_worst_node_is_named_where_dynamic_friction_is_too_large() -> None:
    mesh = rectangle(4.0, 1.0, 4, 1)
    law = Law(friction="5 - x", dynamic_friction="5.1 - 0.9 * x")
    with pytest.raises(ContactError, match=r"dynamic_friction: 1\.5 at node 4 is more than .* 1$"):
        Model(
            Solid(mesh, {"body": IsotropicElastic(1e6, 0.3)}, "plane_strain"),
            contacts=[Contact("bottom", HalfPlane(), law=law)],
        )
