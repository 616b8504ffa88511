"""The sliding block of Jean (1988) against its printed tables, and under the loads of SSNV128."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.case import build, read_case
from fecontact.conditions import Prescribed, Pressure
from fecontact.contact import Contact, HalfPlane, Status
from fecontact.errors import CaseError, InputError
from fecontact.expressions import Value
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.simulation import Result, Simulation, Times
from fecontact.solvers import pardiso
from fecontact.typing import FloatArray

DATA = Path(__file__).parent / "data"
FILE = Path(__file__).parent.parent / "cases" / "sliding_block.toml"
SIDE = 0.04
LOAD = 5e7 * SIDE
CASES: dict[int, tuple[float, Value]] = {
    1: (1.0, "1e8 + 2e7 * floor(y / 0.005)"),
    2: (0.1, 5e7),
}
RX_RY = {
    (1, "concentrated"): (-1.1691e6, 1.8583e6),
    (1, "weighted"): (-1.1729e6, 1.8946e6),
    (2, "concentrated"): (-1.9286e5, 1.9286e6),
    (2, "weighted"): (-1.9483e5, 1.9483e6),
}
STATUS = {
    1: [Status.SEPARATED] * 5 + [Status.SLIDING] * 7 + [Status.STICKING] * 4,
    2: [Status.SLIDING] * 16,
}
Reactions = Literal["concentrated", "weighted"]
TABLES = pytest.mark.parametrize(
    ("case", "reactions"), [(c, r) for c in (1, 2) for r in ("concentrated", "weighted")]
)


def compute(
    mesh: Mesh, mu: float, left: Value, reactions: Reactions, thickness: float = 1.0
) -> Result:
    solid = Solid(mesh, {"body": IsotropicElastic(E=1.3e11, nu=0.2)}, thickness=thickness)
    model = Model(
        solid,
        prescribed=[Prescribed("right", ux=0), Prescribed("bottom_right", ux=0, uy=0)],
        loads=[Pressure("top", 5e7), Pressure("left", left)],
        contacts=[Contact("bottom", HalfPlane((0, 0), (0, 1)), friction=mu, reactions=reactions)],
    )
    return Simulation(model).run()


def printed_block(case: int, reactions: Reactions, thickness: float = 1.0) -> Result:
    mesh = rectangle(SIDE, SIDE, 16, 8, kind="triangle", diagonal="left")
    return compute(mesh, *CASES[case], reactions, thickness)


def printed_table(case: int, reactions: str) -> dict[str, FloatArray]:
    with (DATA / f"jean1988_case{case}_{reactions}.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


@TABLES
def test_printed_table(case: int, reactions: Reactions) -> None:
    result = printed_block(case, reactions)
    contact, table = result.contacts["bottom"], printed_table(case, reactions)
    assert np.allclose(contact.position[:, 0], np.arange(16) * SIDE / 16)

    u = np.column_stack([table["ux"], table["uy"]])
    assert np.abs(contact.displacement - u).max() < 2e-4 * np.abs(u).max()

    suffix = "" if reactions == "concentrated" else "_weighted"
    R = np.column_stack([table[f"RN{suffix}"], table[f"RT{suffix}"]])
    bound = 5e-4 if reactions == "concentrated" else 3e-3
    assert np.abs(contact.force - R).max() < bound * np.abs(R).max()
    if reactions == "weighted":
        names = ("RN_concentrated_equivalent", "RT_concentrated_equivalent")
        image = np.column_stack([table[n] for n in names])
        assert np.abs(contact.equivalent - image).max() < 3e-3 * np.abs(image).max()

    RN, RT = contact.force.sum(axis=0)
    assert pytest.approx(RX_RY[case, reactions][0], rel=5e-5) == RT
    assert pytest.approx(RX_RY[case, reactions][1], rel=5e-5) == RN
    assert list(contact.status) == STATUS[case]


@TABLES
def test_balance_and_residual(case: int, reactions: Reactions) -> None:
    result = printed_block(case, reactions)
    step, options = result.final, result.simulation.options
    vertical = (step.contact_forces + step.support_forces)[:, 1].sum()
    assert vertical == pytest.approx(LOAD, rel=1e-10)
    # the corner's reaction counts: without it the sum is short
    assert step.contact_forces[:, 1].sum() < 0.99 * LOAD
    assert step.balance < 1e-10
    assert step.report is not None
    assert step.report.converged
    assert step.report.residual < options.tolerance


@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
def test_contact_law_holds_at_every_candidate(reactions: Reactions) -> None:
    contact = printed_block(1, reactions).contacts["bottom"]
    RN, RT = contact.force.T
    uN, uT = contact.velocity.T
    largest, far = RN.max(), np.abs(contact.displacement).max()
    assert RN.min() > -1e-9 * largest
    assert uN.min() > -1e-9 * far
    assert np.abs(RN * uN).max() < 1e-9 * largest * far
    assert np.all(np.abs(RT) <= contact.friction * RN + 1e-9 * largest)
    sliding = contact.status == Status.SLIDING
    assert np.all(uT[sliding] * RT[sliding] < 0.0)
    assert np.abs(uT[contact.status == Status.STICKING]).max() < 1e-9 * far


@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
def test_forces_are_for_the_thickness_given(reactions: Reactions) -> None:
    one, thick = (printed_block(1, reactions, t).contacts["bottom"] for t in (1.0, 2.5))
    assert np.allclose(thick.force, 2.5 * one.force, rtol=1e-7, atol=1e-7 * np.abs(one.force).max())
    assert np.allclose(thick.displacement, one.displacement, rtol=0.0, atol=1e-12)


def test_many_steps_reach_the_end_of_monotonic_loading_by_the_same_path() -> None:
    def run() -> Result:
        result = printed_block(2, "concentrated")
        model = result.simulation.model
        ramp = [[0.0, 0.0], [1.0, 1.0]]
        loads = [Pressure("top", 5e7, amplitude=ramp), Pressure("left", 5e7, amplitude=ramp)]
        ramped = Model(model.solid, model.prescribed, loads, contacts=model.contacts)
        return Simulation(ramped, times=Times(end=1.0, steps=4)).run()

    one, four = printed_block(2, "concentrated"), run()
    assert four.final.number == 4
    assert four.converged
    # proportional loading of a problem without initial gap: every state is the last one, scaled
    for step in four.steps:
        force = step.contacts["bottom"].force
        assert np.allclose(force, step.t * one.contacts["bottom"].force, rtol=1e-6)


def lower_side(mesh: Mesh, reactions: Reactions = "concentrated") -> FloatArray:
    """Horizontal displacement at the stations of SSNV128."""
    result = compute(mesh, 1.0, 1.5e8, reactions)
    assert result.converged
    assert result.worst_residual < result.simulation.options.tolerance
    contact = result.contacts["bottom"]
    stations = np.array([0.0, 1.25e-3, 5e-3, 7.5e-3, 11.25e-3])
    return np.interp(stations, contact.position[:, 0], contact.displacement[:, 0])


def test_ssnv128() -> None:
    u = lower_side(rectangle(SIDE, SIDE, 32, 32, kind="quad"))
    assert u == pytest.approx([2.86e-5, 2.72e-5, 2.28e-5, 1.98e-5, 1.50e-5], rel=0.05)


@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
@pytest.mark.parametrize("kind", ["quad", "triangle"])
def test_refinement_converges_with_no_setting_changed(
    kind: Literal["quad", "triangle"], reactions: Reactions
) -> None:
    sizes = (16, 32, 64, 128)
    values = [lower_side(rectangle(SIDE, SIDE, n, n, kind=kind), reactions) for n in sizes]
    differences = [np.abs(b - a).max() for a, b in pairwise(values)]
    assert differences[1] < 0.8 * differences[0]
    assert differences[2] < 0.8 * differences[1]
    assert values[-1] == pytest.approx([2.86e-5, 2.72e-5, 2.28e-5, 1.98e-5, 1.50e-5], rel=0.05)


def test_the_same_run_gives_the_same_bits() -> None:
    first, second = (printed_block(1, "weighted").contacts["bottom"] for _ in range(2))
    assert np.array_equal(first.force, second.force)
    assert np.array_equal(first.displacement, second.displacement)


@pytest.mark.parametrize("method", ["multifrontal", "superlu", "pardiso", "cg"])
def test_every_way_to_solve_the_systems_gives_the_block(method: str) -> None:
    if method == "pardiso" and not pardiso.available():
        pytest.skip("MKL is not installed")
    usual, other = (
        build(read_case(FILE, [f"solver.linear={name}"])).run() for name in ("auto", method)
    )
    one, two = (r.final.displacement for r in (usual, other))
    np.testing.assert_allclose(two, one, atol=1e-8 * np.abs(one).max())


def test_ways_to_solve_that_a_scheme_has_not_are_refused() -> None:
    with pytest.raises(CaseError, match=r"solver\.linear"):
        read_case(FILE, ["solver.linear=pardisso"])
    simulation = build(read_case(FILE, ["solver.linear=superlu", "scheme.name=implicit"]))
    with pytest.raises(InputError, match=r"solver\.linear: 'superlu' is for schemes of linear"):
        simulation.prepare()
