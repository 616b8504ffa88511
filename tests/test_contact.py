"""Obstacles, weights, the mapping H, and blocks pressed on obstacles."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest
from scipy import integrate

from fecontact.body import Solid
from fecontact.conditions import Prescribed, Pressure, Spring
from fecontact.contact import Contact, Disk, HalfPlane, Polyline, Status, classify, stack
from fecontact.contact.weights import line_weights
from fecontact.errors import ContactError
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.simulation import Simulation, Times
from fecontact.typing import FloatArray, IntArray

RNG = np.random.default_rng(3)
ELASTIC = IsotropicElastic(E=1e9, nu=0.3)
Reactions = Literal["concentrated", "weighted"]
BOTH = pytest.mark.parametrize("reactions", ["concentrated", "weighted"])


# --- obstacles -----------------------------------------------------------------------------------


def check_gradient(obstacle: Any, points: FloatArray, t: float) -> None:
    """The normal is the gradient of the gap, the foot lies on the surface."""
    answer = obstacle.project(points, t)
    assert np.linalg.norm(answer.normal, axis=1) == pytest.approx(1.0, abs=1e-14)
    assert points - answer.gap[:, None] * answer.normal == pytest.approx(answer.foot, abs=1e-12)
    assert obstacle.project(answer.foot, t).gap == pytest.approx(0.0, abs=1e-12)
    d = 1e-6
    for k in range(2):
        shift = d * np.eye(2)[k]
        slope = (
            obstacle.project(points + shift, t).gap - obstacle.project(points - shift, t).gap
        ) / (2 * d)
        assert slope == pytest.approx(answer.normal[:, k], abs=1e-6)


def test_half_plane() -> None:
    plane = HalfPlane((1.0, 2.0), (3.0, 4.0), velocity=(0.5, "2 * t"))
    points, t = RNG.normal(size=(7, 2)), 1.5
    answer = plane.project(points, t)
    shift = np.array([0.5 * t, t**2])
    assert answer.gap == pytest.approx((points - [1.0, 2.0] - shift) @ [0.6, 0.8], abs=1e-12)
    assert answer.normal == pytest.approx(np.tile([0.6, 0.8], (7, 1)))
    check_gradient(plane, points, t)
    # mean over [1.5, 2]: (t1^2 - t0^2) / h along y
    mean = plane.surface_velocity(points, 1.5, 0.5)
    assert mean == pytest.approx(np.tile([0.5, 3.5], (7, 1)))


def test_a_table_of_velocity_is_integrated_exactly() -> None:
    plane = HalfPlane(velocity=([[0.0, 0.0], [1.0, 2.0], [3.0, 0.0]], 0.0))
    assert plane.translation(0.5) == pytest.approx([0.25, 0.0])
    assert plane.translation(5.0) == pytest.approx([3.0, 0.0])
    assert plane.surface_velocity(np.zeros((1, 2)), 0.5, 1.0) == pytest.approx(
        np.array([[0.75 + 0.875, 0.0]])
    )


@pytest.mark.parametrize("inside", [False, True])
def test_disk(inside: bool) -> None:
    disk = Disk((1.0, -1.0), 2.0, inside=inside, spin=3.0, velocity=(0.5, -0.25))
    t, h = 2.0, 0.1
    center = np.array([2.0, -1.5])
    points = center + RNG.normal(size=(9, 2)) * 1.5
    arm = points - center
    distance = np.linalg.norm(arm, axis=1)
    sign = -1.0 if inside else 1.0
    answer = disk.project(points, t)
    assert answer.gap == pytest.approx(sign * (distance - 2.0))
    assert answer.normal == pytest.approx(sign * arm / distance[:, None])
    assert answer.foot == pytest.approx(center + 2.0 * arm / distance[:, None])
    check_gradient(disk, points, t)
    moving = disk.surface_velocity(answer.foot, t, h)
    lever = answer.foot - center
    expected = np.array([0.5, -0.25]) + 3.0 * np.column_stack([-lever[:, 1], lever[:, 0]])
    assert moving == pytest.approx(expected)
    # spin alone moves the surface along itself
    turning = moving - [0.5, -0.25]
    assert np.einsum("nk,nk->n", turning, answer.normal) == pytest.approx(0.0, abs=1e-12)


def test_the_centre_of_a_disk_has_some_normal() -> None:
    answer = Disk(radius=2.0, inside=True).project(np.zeros((1, 2)), 0.0)
    assert answer.gap == pytest.approx([2.0])
    assert np.linalg.norm(answer.normal) == pytest.approx(1.0)


def test_polyline_with_a_corner_towards_the_body() -> None:
    # a roof: up to (0, 0) and down again, the obstacle below; walked from right to left
    roof = Polyline([(2.0, -2.0), (0.0, 0.0), (-2.0, -2.0)][::-1])
    answer = roof.project(np.array([[0.0, 1.0], [0.3, 2.0], [2.0, 0.0], [1.0, -2.0]]), 0.0)
    r = np.sqrt(0.5)
    assert answer.gap == pytest.approx([1.0, np.hypot(0.3, 2.0), 2 * r, -r])
    fan = np.array([0.3, 2.0]) / np.hypot(0.3, 2.0)
    assert answer.normal == pytest.approx(np.array([[0.0, 1.0], fan, [r, r], [r, r]]))
    # beyond the end of an open line the last edge goes on
    assert roof.project(np.array([[9.0, -9.0 + 2.0]]), 0.0).gap == pytest.approx([2 * r])
    check_gradient(roof, np.array([[0.1, 1.0], [-3.0, 0.5], [5.0, -3.0], [1.0, -1.2]]), 0.0)


def test_polyline_with_a_corner_away_from_the_body() -> None:
    valley = Polyline([(-2.0, 2.0), (0.0, 0.0), (2.0, 2.0)])
    r = np.sqrt(0.5)
    answer = valley.project(np.array([[0.2, 1.0], [-0.2, 1.0], [1.0, 0.5]]), 0.0)
    assert answer.gap == pytest.approx([0.8 * r, 0.8 * r, -0.5 * r])
    assert answer.normal == pytest.approx(np.array([[-r, r], [r, r], [-r, r]]))


def test_closed_polyline_moves() -> None:
    # clockwise square: the body is outside, on the left of the walk
    square = Polyline([(0, 0), (0, 1), (1, 1), (1, 0)], closed=True, velocity=(2.0, 0.0))
    points = np.array([[0.5, 1.5], [-0.5, 0.5], [1.5, 0.5], [0.5, -0.25], [2.0, 2.0], [0.5, 0.9]])
    t = 3.0
    answer = square.project(points + np.array([6.0, 0.0]), t)
    assert answer.gap == pytest.approx([0.5, 0.5, 0.5, 0.25, np.sqrt(2.0), -0.1])
    r = np.sqrt(0.5)
    expected = [[0, 1], [-1, 0], [1, 0], [0, -1], [r, r], [0, 1]]
    assert answer.normal == pytest.approx(np.array(expected, dtype=float), abs=1e-12)
    assert square.surface_velocity(answer.foot, t, 0.5)[:, 0] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HalfPlane(normal=(0.0, 0.0)), "obstacle.normal"),
        (lambda: HalfPlane(point=(0.0,)), "obstacle.point"),
        (lambda: HalfPlane(velocity=(1.0,)), "obstacle.velocity"),
        (lambda: HalfPlane(velocity=("x", 0.0)), "of t alone"),
        (lambda: Disk(radius=-1.0), "obstacle.radius: -1.0"),
        (lambda: Disk(center=(np.nan, 0.0)), "obstacle.center"),
        (lambda: Disk(spin="x"), "obstacle.spin"),
        (lambda: Polyline([(0.0, 0.0)]), "at least 2"),
        (lambda: Polyline([(0.0, 0.0), (1.0, 0.0)], closed=True), "at least 3"),
        (lambda: Polyline([(0.0, 0.0), (1.0, 0.0), (1.0, 0.0)]), "points 1 and 2 coincide"),
    ],
)
def test_an_obstacle_is_checked_when_it_is_made(make: Any, message: str) -> None:
    with pytest.raises(ContactError, match=message):
        make()


# --- weights -------------------------------------------------------------------------------------


def weights_by_quadrature(
    nodes: FloatArray, chain: IntArray, candidate: int, axisymmetric: bool
) -> FloatArray:
    """Column of P: hat functions over the half edges around a candidate, integrated numerically."""
    column, support = np.zeros(len(nodes)), 0.0
    for a, b in pairwise(chain):
        if candidate not in (a, b):
            continue
        length = float(np.linalg.norm(nodes[b] - nodes[a]))
        low, high = (0.0, 0.5) if candidate == a else (0.5, 1.0)

        def measure(s: float, a: int = a, b: int = b, length: float = length) -> float:
            radius = nodes[a, 0] + s * (nodes[b, 0] - nodes[a, 0])
            return float(length * (2 * np.pi * radius if axisymmetric else 1.0))

        on_a = integrate.quad(lambda s, m=measure: (1 - s) * m(s), low, high)[0]
        on_b = integrate.quad(lambda s, m=measure: s * m(s), low, high)[0]
        column[a] += on_a
        column[b] += on_b
        support += integrate.quad(measure, low, high)[0]
    return column / support


def test_weights_of_equal_edges() -> None:
    nodes = np.column_stack([np.linspace(0.0, 3.0, 7), np.zeros(7)])
    weights = line_weights(nodes, [np.arange(7)], np.arange(7), thickness=2.0)
    P = weights.P.toarray()
    for h in range(1, 6):
        assert P[h - 1 : h + 2, h] == pytest.approx([1 / 8, 3 / 4, 1 / 8], abs=1e-15)
    assert P[:2, 0] == pytest.approx([3 / 4, 1 / 4], abs=1e-15)
    assert P[-2:, 6] == pytest.approx([1 / 4, 3 / 4], abs=1e-15)
    assert np.count_nonzero(P) == 3 * 5 + 2 * 2
    assert weights.support == pytest.approx([0.5, 1, 1, 1, 1, 1, 0.5])


@pytest.mark.parametrize("axisymmetric", [False, True])
@pytest.mark.parametrize("closed", [False, True])
def test_weights_of_any_line_against_quadrature(axisymmetric: bool, closed: bool) -> None:
    # bent, with unequal edges, beginning on the axis; numbers along the line are not in order
    nodes = np.array([[0.0, 0.0], [0.7, 0.1], [2.0, -0.2], [2.1, 1.0], [1.0, 1.5], [9.0, 9.0]])
    chain = np.array([0, 1, 2, 3, 4, 0] if closed else [4, 3, 2, 1, 0])
    candidates = np.array([3, 0, 1, 4, 2])
    weights = line_weights(nodes, [chain], candidates, axisymmetric=axisymmetric)
    P = weights.P.toarray()
    assert P.sum(axis=0) == pytest.approx(1.0, abs=1e-14)
    for column, candidate in zip(P.T, candidates, strict=True):
        expected = weights_by_quadrature(nodes, chain, candidate, axisymmetric)
        assert column == pytest.approx(expected, abs=1e-13)
    total = 0.0
    for a, b in pairwise(chain):
        length = float(np.linalg.norm(nodes[b] - nodes[a]))
        total += length * (np.pi * (nodes[a, 0] + nodes[b, 0]) if axisymmetric else 1.0)
    assert weights.support.sum() == pytest.approx(total)


def test_a_fixed_neighbour_keeps_its_share() -> None:
    nodes = np.column_stack([np.arange(4.0), np.zeros(4)])
    P = line_weights(nodes, [np.arange(4)], np.array([0, 1, 2])).P.toarray()
    assert P[:, 2] == pytest.approx([0, 1 / 8, 3 / 4, 1 / 8])


def test_a_candidate_off_the_line_is_refused() -> None:
    with pytest.raises(ContactError, match="node 2 is on no edge"):
        line_weights(np.eye(3, 2), [np.array([0, 1])], np.array([0, 2]))


# --- candidates, H, gaps -------------------------------------------------------------------------


def pressed_block(
    reactions: Reactions, mesh: Mesh | None = None, mu: Any = 0.0, obstacle: Any = None, **more: Any
) -> Model:
    mesh = rectangle(2.0, 1.0, 6, 3, kind="quad") if mesh is None else mesh
    obstacle = HalfPlane() if obstacle is None else obstacle
    conditions: dict[str, Any] = {
        "prescribed": [Prescribed("left", ux=0), Prescribed("top", uy=-1e-3)],
        "contacts": [Contact("bottom", obstacle, friction=mu, reactions=reactions)],
    }
    return Model(Solid(mesh, {"body": ELASTIC}, thickness=0.5), **(conditions | more))


@BOTH
def test_H_gives_relative_velocities_and_its_transpose_forces(reactions: Reactions) -> None:
    obstacle = Disk((1.0, -4.0), 3.5, spin=0.7, velocity=(0.1, 0.2))
    model = pressed_block(reactions, obstacle=obstacle)
    (interface,) = model.interfaces
    nodes, P = interface.candidates.nodes, interface.candidates.weighting.P.toarray()
    local = interface.detect(model.mesh.nodes, 0.0, 0.1)
    v = RNG.normal(size=(model.mesh.n_nodes, 2))
    answer = obstacle.project(model.mesh.nodes[nodes], 0.0)
    N = answer.normal
    T = np.column_stack([N[:, 1], -N[:, 0]])
    mean = P.T @ v if reactions == "weighted" else v[nodes]
    relative = mean - obstacle.surface_velocity(answer.foot, 0.0, 0.1)
    u = (local.H.T @ v.ravel() - local.drift).reshape(-1, 2)
    assert u[:, 0] == pytest.approx(np.einsum("nk,nk->n", N, relative))
    assert u[:, 1] == pytest.approx(np.einsum("nk,nk->n", T, relative))
    # work of local reactions is work of nodal forces
    r = RNG.normal(size=len(local) * 2)
    assert (local.H @ r) @ v.ravel() == pytest.approx(r @ (local.H.T @ v.ravel()))
    gaps = obstacle.project(model.mesh.nodes, 0.0).gap
    assert local.gap == pytest.approx(P.T @ gaps if reactions == "weighted" else gaps[nodes])
    both = stack([local, local], model.n_dofs)
    assert len(both) == 2 * len(local)
    assert both.slices[1] == slice(len(local), 2 * len(local))
    assert (both.H @ np.tile(r, 2)) == pytest.approx(2.0 * (local.H @ r))


def test_held_and_excluded_nodes_are_no_candidates() -> None:
    model = pressed_block(
        "concentrated",
        prescribed=[Prescribed("bottom_right", ux=0, uy=0), Prescribed("left", ux=0)],
        contacts=[Contact("bottom", HalfPlane(), exclude=["bottom_left"])],
    )
    assert list(model.interfaces[0].candidates.nodes) == [1, 2, 3, 4, 5]
    with pytest.raises(ContactError, match=r"all 7 nodes of 'bottom' are held or excluded"):
        pressed_block("concentrated", prescribed=[Prescribed("bottom", ux=0, uy=0)])


def test_contacts_are_checked() -> None:
    def model(**changes: Any) -> Model:
        return pressed_block("concentrated", contacts=[Contact("bottom", HalfPlane(), **changes)])

    with pytest.raises(ContactError, match=r"did you mean 'weighted'\?"):
        model(reactions="weigthed")
    with pytest.raises(ContactError, match=r"friction: -0.5 at node \d+"):
        model(friction="x - 0.5")
    with pytest.raises(ContactError, match="depends on t"):
        model(friction="t")
    twice = [Contact("bottom", HalfPlane()), Contact("bottom", HalfPlane())]
    with pytest.raises(ContactError, match="two contacts are called 'bottom'"):
        pressed_block("concentrated", contacts=twice)


def test_status() -> None:
    R = np.array([[0.0, 0.0], [1.0, 0.5], [1.0, -0.5], [1.0, 0.2], [1e-9, 0.0], [1.0, 0.0]])
    mu = np.array([0.5, 0.5, 0.5, 0.5, 0.5, 0.0])
    expected = [Status.SEPARATED, Status.SLIDING, Status.SLIDING, Status.STICKING]
    assert list(classify(R, mu * R[:, 0])) == [*expected, Status.SEPARATED, Status.SLIDING]


# --- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("grading", [1.0, 3.0])
@pytest.mark.parametrize("kind", ["quad", "triangle"])
@BOTH
def test_uniform_pressure_without_friction(
    reactions: Reactions, kind: Literal["quad", "triangle"], grading: float
) -> None:
    """A patch test of contact, with the top moved down and with the top loaded."""
    p, mesh = 2e5, rectangle(2.0, 1.0, 6, 3, kind=kind, grading_x=grading)
    model = pressed_block(
        reactions,
        mesh,
        prescribed=[Prescribed("left", ux=0)],
        loads=[Pressure("top", p)],
        springs=[Spring("top_left", ky=1e4)],
    )
    # the spring takes what the motion of its node is worth, some 1e-5 of the load
    contact = Simulation(model).run().contacts["bottom"]
    assert np.abs(contact.force[:, 1]).max() == 0.0
    assert np.abs(contact.gap).max() < 1e-12
    held = pressed_block(reactions, mesh)
    step = Simulation(held).run().final
    state = step.contacts["bottom"]
    stress = 1e9 / (1 - 0.3**2) * 1e-3  # plane strain, free to spread
    assert state.support.sum() == pytest.approx(2.0 * 0.5)
    pressure = state.force[:, 0] / state.support
    assert pressure == pytest.approx(stress, rel=1e-10)
    assert contact.force[:, 0] / contact.support == pytest.approx(p, rel=1e-4)
    assert state.weighted.sum() == pytest.approx(stress, rel=1e-10)


@BOTH
def test_equivalents(reactions: Reactions) -> None:
    model = pressed_block(reactions, mu=0.2, obstacle=HalfPlane((0, 0), (0.05, 1.0)))
    step = Simulation(model).run().final
    state = step.contacts["bottom"]
    P = model.interfaces[0].candidates.square_P.toarray()
    assert P @ state.weighted == pytest.approx(state.concentrated, rel=1e-9, abs=1e-6)
    assert state.force is (state.weighted if reactions == "weighted" else state.concentrated)
    # concentrated reactions, turned to global axes, are the forces on the nodes
    N = np.array([0.05, 1.0]) / np.hypot(0.05, 1.0)
    frame = np.array([N, [N[1], -N[0]]])
    on_nodes = step.contact_forces[state.nodes]
    assert state.concentrated @ frame == pytest.approx(on_nodes, rel=1e-9, abs=1e-6)


@BOTH
def test_a_moving_plane_drags(reactions: Reactions) -> None:
    """Pressed by its weight of load on a plane that runs away, the block feels mu N along it."""
    mu, p = 0.3, 2e5
    model = pressed_block(
        reactions,
        mu=mu,
        obstacle=HalfPlane(velocity=(1.0, 0.0)),
        prescribed=[Prescribed("left", ux=0)],
        loads=[Pressure("top", p)],
        springs=[Spring("top_left", ky=1e4)],
    )
    result = Simulation(model, times=Times(end=0.2, steps=2)).run()
    step = result.final
    state = step.contacts["bottom"]
    RN, RT = state.force.sum(axis=0)
    assert pytest.approx(p * 2.0 * 0.5, rel=1e-4) == RN
    assert pytest.approx(mu * RN, rel=1e-10) == RT
    assert step.supports["left"][0] == pytest.approx(-RT, rel=1e-9)
    assert set(state.status) <= {Status.SLIDING, Status.SEPARATED}
    assert np.all(state.velocity[:, 1] < 0.0)


@BOTH
def test_a_plane_that_rises_presses(reactions: Reactions) -> None:
    model = pressed_block(
        reactions,
        obstacle=HalfPlane((0, -1e-3), velocity=(0.0, 1e-3)),
        prescribed=[Prescribed("left", ux=0), Prescribed("top", uy=0)],
    )
    result = Simulation(model, times=Times(end=2.0, steps=4)).run()
    totals = [s.contacts["bottom"].force[:, 0].sum() for s in result.steps]
    stress = 1e9 / (1 - 0.3**2) * 1e-3
    # it meets the block at t = 1
    assert totals == pytest.approx([0.0, 0.0, 0.5 * stress, stress], rel=1e-9, abs=1e-6)
    assert result.steps[0].contacts["bottom"].gap == pytest.approx(0.5e-3)


@BOTH
def test_bent_candidate_line(reactions: Reactions) -> None:
    """A block with two of its sides in a corner of two planes: each carries its own load."""
    mesh = rectangle(2.0, 1.0, 6, 4, kind="quad")
    left, bottom = mesh.edges("left"), mesh.edges("bottom")
    mesh = mesh.with_groups(edges={"corner": np.vstack([bottom, left])})
    assert len(mesh.chains("corner")) == 1
    corner = Polyline([(0.0, 5.0), (0.0, 0.0), (5.0, 0.0)])
    px, py = 1e5, 3e5
    model = Model(
        Solid(mesh, {"body": ELASTIC}),
        loads=[Pressure("right", px), Pressure("top", py)],
        springs=[Spring("top", kx=1e4, ky=1e4)],
        contacts=[Contact("corner", corner, reactions=reactions, friction=0.0)],
    )
    step = Simulation(model).run().final
    assert step.report is not None
    assert step.report.residual < 1e-10
    total = step.contact_forces.sum(axis=0)
    assert total == pytest.approx([px * 1.0, py * 2.0], rel=1e-3)
    state = step.contacts["corner"]
    assert len(state.nodes) == 6 + 1 + 4
    assert np.all(np.diff(state.abscissa) > 0)
    P = model.interfaces[0].candidates.weighting.P.toarray()
    assert P.sum(axis=0) == pytest.approx(1.0, abs=1e-14)
    at = int(np.flatnonzero(state.nodes == mesh.node_numbers("bottom_left")[0])[0])
    # around the bend the two edges differ in length: 1/4 and 1/3
    assert P[state.nodes[at - 1 : at + 2], at] == pytest.approx(
        [1 / 4 / 4 / (7 / 12), 3 / 4, 1 / 3 / 4 / (7 / 12)], abs=1e-14
    )
