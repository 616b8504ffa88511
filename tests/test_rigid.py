"""Rigid motions that only contact would prevent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fecontact.body import Solid
from fecontact.conditions import PointForce, Prescribed, Pressure, Spring
from fecontact.contact import Contact, HalfPlane
from fecontact.errors import SingularSystem
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.rigid import FreeMotion, as_rigid_motion, body_name, free_motions
from fecontact.schemes.system import Systems
from fecontact.simulation import Simulation
from fecontact.timing import Phases

STEEL = IsotropicElastic(E=1e9, nu=0.25)


def block(**conditions: object) -> Model:
    mesh = rectangle(2.0, 1.0, 4, 2, kind="quad")
    return Model(Solid(mesh, {"body": STEEL}), **conditions)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("prescribed", "motions"),
    [
        ([], ["every rigid motion"]),
        ([Prescribed("left", ux=0)], ["translation along y"]),
        ([Prescribed("bottom", uy=0)], ["translation along x"]),
        ([Prescribed("bottom_left", ux=0, uy=0)], ["rotation about (0, 0)"]),
        ([Prescribed("top_right", ux=0, uy=0)], ["rotation about (2, 1)"]),
        # one component held: a slide, and a turn about a point level with the centre
        ([Prescribed("bottom_left", uy=0)], ["translation along x", "rotation about (0, 0.5)"]),
        ([Prescribed("left", ux=0, angle=90)], ["translation along x", "rotation about (0, 0.5)"]),
        ([Prescribed("bottom", uy=0), Prescribed("left", ux=0)], []),
        # a roller at 45 degrees along the bottom: free along its own slope
        ([Prescribed("bottom", uy=0, angle=45)], ["translation along (0.7071, 0.7071)"]),
    ],
)
def test_free_motions_are_named(prescribed: list[Prescribed], motions: list[str]) -> None:
    found = free_motions(block(prescribed=prescribed))
    assert all(f.body == "body" for f in found)
    assert [f.motion for f in found] == motions


def test_springs_hold() -> None:
    held = [Prescribed("left", ux=0)]
    assert free_motions(block(prescribed=held, springs=[Spring("bottom_left", ky=1.0)])) == []
    assert free_motions(block(prescribed=held, springs=[Spring("bottom_left", kx=1.0)])) != []
    assert free_motions(block(springs=[Spring("bottom", kx=1.0, ky=1e-6)])) == []


def test_axisymmetric_body_moves_along_its_axis_only() -> None:
    solid = Solid(rectangle(2.0, 1.0, 4, 2), {"body": STEEL}, hypothesis="axisymmetric")
    assert [f.motion for f in free_motions(Model(solid))] == ["every rigid motion"]
    assert free_motions(Model(solid, [Prescribed("bottom_left", uy=0)])) == []
    still = free_motions(Model(solid, [Prescribed("left", ux=0)]))
    assert len(still) == 1


def test_each_body_is_named() -> None:
    lower = rectangle(2.0, 1.0, 4, 2)
    upper = rectangle(2.0, 1.0, 3, 2, origin=(0.0, 1.5))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    solid = Solid(mesh, {"lower": STEEL, "upper": STEEL})
    model = Model(solid, [Prescribed("lower.bottom", ux=0, uy=0)])
    assert free_motions(model) == [FreeMotion("upper", "every rigid motion")]
    assert body_name(mesh, mesh.node_numbers("lower")).startswith("lower")


def test_a_body_that_only_contact_would_hold_is_refused() -> None:
    contact = Contact("bottom", HalfPlane(), friction=0.5)
    model = block(prescribed=[Prescribed("left", ux=0)], contacts=[contact])
    with pytest.raises(
        SingularSystem, match=r"only contact.*'body': translation along y"
    ) as caught:
        Simulation(model).run()
    assert "spring" in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("prescribed", "spring", "motion"),
    [
        (Prescribed("left", ux=0), Spring("right", ky=1e-7), "translation along y"),
        (Prescribed("bottom", uy=0), Spring("top", kx=1e-7), "translation along x"),
        (
            Prescribed("top_right", ux=0, uy=0),
            Spring("left", kx=1e-7),
            r"rotation about \(2, 1\)",
        ),
    ],
)
def test_the_motion_of_a_singular_system_is_named(
    prescribed: Prescribed, spring: Spring, motion: str
) -> None:
    """A spring too weak to be felt beside the stiffness: found in the factors, and named."""
    model = block(prescribed=[prescribed], springs=[spring])
    with pytest.raises(SingularSystem, match=rf"is singular: body 'body' .*\({motion}\)"):
        Simulation(model).run()


def test_a_rigid_motion_is_told_from_others() -> None:
    model = block()
    x, y = model.mesh.nodes.T
    nodes = np.arange(model.mesh.n_nodes)
    turning = np.column_stack([-(y - 0.25), x - 3.0]).ravel()
    assert as_rigid_motion(model, nodes, turning) == "rotation about (3, 0.25)"
    assert as_rigid_motion(model, nodes, np.tile([0.0, 2.0], len(x))) == "translation along y"
    assert as_rigid_motion(model, nodes, np.column_stack([x, 0.0 * y]).ravel()) == ""


def test_an_indefinite_system_is_told_from_a_singular_one() -> None:
    """The matrix of a step with the sign of its springs turned."""
    model = block(prescribed=[Prescribed("left", ux=0)])
    K = sparse.csr_array(model.assembler.stiffness())
    pull = np.zeros(model.n_dofs)
    pull[2 * model.mesh.node_numbers("right") + 1] = -1e6
    systems = Systems(model, Phases(), lambda h: sparse.csr_array(K + sparse.diags_array(pull)))
    with pytest.raises(SingularSystem, match=r"not positive definite: .*'body'.*negative") as told:
        systems.of(1.0)
    assert told.value.energy < 0.0
    assert "moves without resistance" not in str(told.value)


def test_a_spring_makes_it_solvable() -> None:
    k, load = 1e5, 1e4
    model = block(
        prescribed=[Prescribed("left", ux=0)],
        loads=[PointForce("top_left", fy=load)],
        springs=[Spring("left", ky=k)],
    )
    step = Simulation(model).run().final
    stretched = step.displacement[model.mesh.node_numbers("left"), 1]
    # lifted off: the springs alone carry the load
    assert k * stretched.sum() == pytest.approx(load, rel=1e-10)
    assert step.balance < 1e-10


def test_a_weak_spring_leaves_the_load_to_contact() -> None:
    model = block(
        prescribed=[Prescribed("left", ux=0)],
        loads=[Pressure("top", 1e4)],
        springs=[Spring("bottom_left", ky=1e3)],
        contacts=[Contact("bottom", HalfPlane())],
    )
    step = Simulation(model).run().final
    assert step.contacts["bottom"].force[:, 0].sum() == pytest.approx(2e4, rel=1e-9)
    assert np.abs(step.displacement[model.mesh.node_numbers("bottom"), 1]).max() < 1e-10
