"""Prescribed motion in any axes and over time, loads, springs, and the reactions they call for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.conditions import (
    BodyForce,
    Constraints,
    ExternalForces,
    Gravity,
    PointForce,
    Prescribed,
    Pressure,
    Spring,
    Traction,
)
from fecontact.contact import HalfPlane
from fecontact.errors import ConditionError, ExpressionError, MeshError
from fecontact.expressions import Value
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.schemes import Explicit, Implicit, QuasiStatic, Scheme
from fecontact.simulation import Result, Simulation, Times
from fecontact.typing import FloatArray

E, NU, RHO = 1e9, 0.25, 2000.0
ELASTIC = IsotropicElastic(E=E, nu=NU, density=RHO)
MESH = rectangle(2.0, 1.0, 6, 3, kind="quad")


def solve(mesh: Mesh = MESH, times: Times | None = None, **conditions: Any) -> Result:
    model = Model(Solid(mesh, {"body": ELASTIC}, thickness=0.5), **conditions)
    return Simulation(model, times=times or Times()).run()


def turn(degrees: float) -> FloatArray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


@pytest.mark.parametrize("angle", [30.0, -75.0, 90.0])
def test_inclined_rollers_are_the_straight_problem_turned(angle: float) -> None:
    Q = turn(angle)
    turned_mesh = MESH.moved(MESH.nodes @ Q.T - MESH.nodes)
    load = np.array([3e4, -2e5])

    def run(mesh: Mesh, force: FloatArray, axes: float) -> Result:
        return solve(
            mesh,
            prescribed=[
                Prescribed("bottom", uy="1e-4", angle=axes),
                Prescribed("bottom_left", ux=-2e-4, angle=axes, name="pin"),
            ],
            loads=[Traction("top", tx=float(force[0]), ty=float(force[1]))],
        )

    straight, turned = run(MESH, load, 0.0).final, run(turned_mesh, Q @ load, angle).final
    scale = np.abs(straight.displacement).max()
    assert turned.displacement == pytest.approx(straight.displacement @ Q.T, abs=1e-11 * scale)
    for name in ("bottom", "pin"):
        assert turned.supports[name] == pytest.approx(Q @ straight.supports[name], abs=1e-4)
    assert turned.support_forces == pytest.approx(straight.support_forces @ Q.T, abs=1e-4)
    assert turned.balance < 1e-10


def test_a_turned_component_is_met_along_its_own_axis() -> None:
    step = solve(
        prescribed=[Prescribed("left", ux=1e-3, angle=30), Prescribed("right", ux=0, uy=0)]
    ).final
    along = step.displacement[MESH.node_numbers("left")] @ [np.cos(np.pi / 6), 0.5]
    assert along == pytest.approx(1e-3, rel=1e-10)
    # no friction in a roller: its reaction is along the axis
    across = step.support_forces[MESH.node_numbers("left")] @ [-0.5, np.cos(np.pi / 6)]
    assert np.abs(across).max() < 1e-9 * np.abs(step.support_forces).max()


def test_a_table_of_displacement_is_followed() -> None:
    table = [[0.0, 0.0], [1.0, 1e-3], [2.0, -1e-3]]
    result = solve(
        times=Times(end=2.0, steps=8),
        prescribed=[Prescribed("left", ux=0, uy=0), Prescribed("right", ux=table)],
    )
    right = MESH.node_numbers("right")
    for step in result.steps:
        expected = np.interp(step.t, [0, 1, 2], [0, 1e-3, -1e-3])
        assert step.displacement[right, 0] == pytest.approx(expected, abs=1e-15)
    pulls = np.array([step.supports["right"][0] for step in result.steps])
    # linear elasticity: the pull follows the table
    assert pulls / pulls[3] == pytest.approx([0.25, 0.5, 0.75, 1, 0.5, 0, -0.5, -1], abs=1e-9)


def test_an_expression_of_place_and_time_is_followed() -> None:
    result = solve(
        times=Times(end=0.5, steps=2),
        prescribed=[
            Prescribed(
                "left",
                ux="1e-3 * y * t",
                uy="1e-3 * sin(t)",
            ),
            Prescribed("right", ux=0, uy=0),
        ],
    )
    left = MESH.node_numbers("left")
    for step in result.steps:
        expected = 1e-3 * np.column_stack(
            [MESH.nodes[left, 1] * step.t, np.full(len(left), np.sin(step.t))]
        )
        assert step.displacement[left] == pytest.approx(expected, abs=1e-16)


def test_a_prescribed_velocity_is_met_at_every_step() -> None:
    result = solve(
        times=Times(end=1.0, steps=4),
        prescribed=[Prescribed("left", vx=2e-3, uy=0), Prescribed("right", ux=0)],
    )
    left = MESH.node_numbers("left")
    for step in result.steps:
        assert step.velocity[left, 0] == pytest.approx(2e-3, rel=1e-12)
        assert step.displacement[left, 0] == pytest.approx(2e-3 * step.t, rel=1e-12)


VARYING = pytest.mark.parametrize(
    "velocity",
    ["0.02*t", {"times": [0.0, 0.5, 1.0], "values": [0.0, 0.02, 0.0]}, "0.02*(x + y/y)*t"],
)


@pytest.mark.parametrize("steps", [1, 5])
@VARYING
@pytest.mark.parametrize("scheme", [QuasiStatic(), Implicit(), Explicit()])
def test_a_varying_velocity_leads_to_its_integral(
    scheme: Scheme, velocity: Value, steps: int
) -> None:
    """As far as an obstacle of the same velocity goes, whatever the number of steps."""
    mesh = rectangle(2.0, 1.0, 2, 1, origin=(0.0, 1.0))
    model = Model(
        Solid(mesh, {"body": ELASTIC}),
        prescribed=[
            Prescribed("left", vx=velocity, uy=0),
            Prescribed("right", ux="0.01*t**2", uy=0),
        ],
    )
    result = Simulation(model, scheme=scheme, times=Times(end=1.0, steps=steps)).run()
    left = mesh.node_numbers("left")
    assert result.final.displacement[left, 0] == pytest.approx(0.01, rel=1e-12)
    obstacle = HalfPlane(velocity=("0.02*t", 0.0))
    assert obstacle.translation(1.0)[0] == pytest.approx(0.01, rel=1e-12)


def test_reactions_balance_loads() -> None:
    result = solve(
        prescribed=[Prescribed("left", ux=0, uy=0), Prescribed("bottom_right", uy=0)],
        loads=[
            Pressure("top", "1e5 * x"),
            Traction("right", tx=2e5, ty="3e4 * y", name="pull"),
            PointForce("top_right", fx=10.0, fy=-20.0),
            BodyForce(bx=100.0, by="50 * x"),
            Gravity(),
        ],
    )
    step = result.final
    t, area = 0.5, 2.0
    expected = np.array(
        [
            2e5 * t + 10.0 + 100.0 * area * t,
            # ∫ 1e5 x = 2e5 on top; ∫ 3e4 y = 1.5e4 at the right; ∫ 50 x = 100 in the body
            -2e5 * t + 1.5e4 * t - 20.0 + 100.0 * t - RHO * 9.81 * area * t,
        ]
    )
    assert step.external.sum(axis=0) == pytest.approx(expected, rel=1e-12)
    assert sum(step.supports.values()) == pytest.approx(-expected, rel=1e-10)
    assert step.support_forces.sum(axis=0) == pytest.approx(-expected, rel=1e-10)
    moment = _moment(step.external + step.support_forces)
    assert abs(moment) < 1e-9 * np.abs(_moment(step.external))
    # each dof's reaction belongs to one condition
    held = np.zeros(MESH.n_nodes, dtype=bool)
    held[[*MESH.node_numbers("left"), *MESH.node_numbers("bottom_right")]] = True
    assert np.abs(step.support_forces[~held]).max() == 0.0


def _moment(forces: FloatArray) -> float:
    return float((MESH.nodes[:, 0] * forces[:, 1] - MESH.nodes[:, 1] * forces[:, 0]).sum())


def test_a_dof_that_two_conditions_name_counts_once() -> None:
    step = solve(
        prescribed=[Prescribed("left", ux=0, uy=0), Prescribed("bottom", uy=0)],
        loads=[Pressure("top", 1e5)],
    ).final
    total = step.supports["left"] + step.supports["bottom"]
    assert total == pytest.approx([0.0, 1e5], rel=1e-10, abs=1e-6)


def test_gravity_hangs_a_column() -> None:
    """Hung by its top without lateral effect (nu = 0), a column stretches by rho g L^2 / 2 E."""
    material = IsotropicElastic(E=E, nu=0.0, density=RHO)
    mesh = rectangle(0.5, 3.0, 2, 12, kind="quad")
    model = Model(Solid(mesh, {"body": material}), [Prescribed("top", ux=0, uy=0)], [Gravity()])
    step = Simulation(model).run().final
    tip = step.displacement[mesh.node_numbers("bottom"), 1]
    assert tip == pytest.approx(-RHO * 9.81 * 9.0 / (2 * E), rel=1e-10)
    assert step.supports["top"][1] == pytest.approx(RHO * 9.81 * 1.5, rel=1e-10)


def test_springs() -> None:
    k, p = 3e6, 1e5
    step = solve(
        loads=[Pressure("top", p)],
        prescribed=[Prescribed("left", ux=0)],
        springs=[Spring("bottom", ky=k)],
    ).final
    sunk = step.displacement[MESH.node_numbers("bottom"), 1]
    assert -k * sunk.sum() == pytest.approx(p * 2.0 * 0.5, rel=1e-10)
    assert step.balance < 1e-10
    with pytest.raises(ConditionError, match=r"springs\.bottom: kx = 0, ky = -1 must be >= 0"):
        solve(springs=[Spring("bottom", ky=-1.0)])


def test_amplitudes_and_time() -> None:
    solid = Solid(MESH, {"body": ELASTIC})
    forces = ExternalForces(
        solid,
        [
            Pressure("top", 1e5, amplitude=[[0.0, 0.0], [2.0, 1.0]]),
            Traction("right", tx="1e4 * t"),
            PointForce("top_left", fy=-5.0, amplitude="cos(t)"),
        ],
    )
    assert forces.varies
    for t in (0.0, 0.5, 3.0):
        total = forces(t).reshape(-1, 2).sum(axis=0)
        down = -2e5 * min(t / 2.0, 1.0) - 5.0 * np.cos(t)
        assert total == pytest.approx([1e4 * t, down], rel=1e-12, abs=1e-9)
    assert not ExternalForces(solid, [Pressure("top", "x")]).varies


def test_pressure_by_edge_follows_the_line() -> None:
    # the left side is walked downwards, the body on the left
    solid = Solid(MESH, {"body": ELASTIC})
    forces = Pressure("left", per_edge=[3.0, 0.0, 0.0]).vector(solid, 0.0).reshape(-1, 2)
    pushed = np.flatnonzero(forces[:, 0])
    assert sorted(MESH.nodes[pushed, 1]) == pytest.approx([2 / 3, 1.0])
    assert forces[:, 0].sum() == pytest.approx(1.0)
    with pytest.raises(ConditionError, match="2 values for the 3 edges of group 'left'"):
        Pressure("left", per_edge=[1.0, 2.0]).vector(solid, 0.0)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ([Prescribed("left", ux=0, vx=1)], r"prescribed\.left: ux and vx are both given"),
        ([Prescribed("left")], r"prescribed\.left: nothing is prescribed"),
        ([Prescribed("left", ux=0, angle=np.nan)], r"prescribed\.left\.angle"),
        (
            [Prescribed("left", ux=0), Prescribed("left", uy=0)],
            "two prescribed motions are called 'left'",
        ),
        (
            [Prescribed("left", ux=0), Prescribed("bottom_left", ux=1e-3)],
            r"prescribed\.left and prescribed\.bottom_left give different values to component x "
            "of node 0",
        ),
        (
            [Prescribed("left", ux=0), Prescribed("bottom_left", vx=0)],
            "give different values to component x",
        ),
        (
            [Prescribed("left", ux=0), Prescribed("bottom", uy=0, angle=10)],
            "node 0 has axes turned by 0 and by 10 degrees",
        ),
    ],
)
def test_conflicts_are_told(conditions: list[Prescribed], message: str) -> None:
    with pytest.raises(ConditionError, match=message):
        Constraints(MESH, conditions)


def test_mistakes_in_values_are_told_with_their_place() -> None:
    with pytest.raises(ExpressionError, match=r"prescribed\.left\.ux: .*unknown name 'z'"):
        Constraints(MESH, [Prescribed("left", ux="z")])
    with pytest.raises(ExpressionError, match=r"prescribed\.left: .*1 / x.* is inf at x = 0"):
        Constraints(MESH, [Prescribed("left", ux="1 / x")])
    solid = Solid(MESH, {"body": ELASTIC})
    with pytest.raises(ExpressionError, match=r"loads\.left: .*log\(x\).* at x = 0"):
        ExternalForces(solid, [Pressure("left", "log(x)")])
    with pytest.raises(ConditionError, match=r"loads\.top\.amplitude: it depends on x or y"):
        ExternalForces(solid, [Pressure("top", 1.0, amplitude="x")])
    with pytest.raises(ConditionError, match="gravity cannot depend on x and y"):
        ExternalForces(solid, [Gravity(gx="y")])
    with pytest.raises(MeshError, match="did you mean 'bottom'"):
        Constraints(MESH, [Prescribed("botom", ux=0)])
