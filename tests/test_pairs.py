"""Two deformable bodies: balance of H, weighted reactions, patch tests, glue, self contact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fecontact.body import Solid
from fecontact.conditions import Prescribed, Pressure, Spring
from fecontact.contact import Law, PairContact, PairInterface, Status
from fecontact.errors import ContactError
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.simulation import Simulation, Times
from fecontact.typing import FloatArray
from tests.two_blocks import Kind, Reactions, patch, two_blocks

ELASTIC = IsotropicElastic(E=1e9, nu=0.3)
BOTH = pytest.mark.parametrize("reactions", ["concentrated", "weighted"])


def bound(mesh: Mesh, contact: PairContact, hypothesis: Any = "plane_strain") -> PairInterface:
    names = [n for n in mesh.element_groups if "." not in n]
    solid = Solid(mesh, dict.fromkeys(names, ELASTIC), hypothesis)
    return contact.bind(solid, np.zeros(mesh.n_nodes, dtype=bool))


def curved_blocks(gap: float, shift: float = 0.0) -> Mesh:
    """Blocks with a wavy interface and meshes that do not match."""
    mesh = two_blocks("triangle", 0.0, (11, 14), width=2.0)
    upper = mesh.node_numbers("upper")
    move = np.zeros(mesh.nodes.shape)
    move[upper, 0] = shift
    x, y = (mesh.nodes + move).T
    move[:, 1] = 0.1 * np.sin(3.0 * x) * np.where(y < 1.0, y, np.minimum(2.0 - y, 1.0))
    move[upper, 1] += gap
    return mesh.moved(move)


# --- the mapping ---------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("shift", [0.0, 0.037, -0.3])
def test_action_is_reaction(reactions: Reactions, shift: float) -> None:
    """Forces on the two bodies add up to nothing; so do moments where the surfaces touch."""
    contact = PairContact(
        "upper.bottom", "lower.top", reactions=reactions, initial="remove_penetration"
    )
    mesh = curved_blocks(0.01, shift)
    interface = bound(mesh, contact)
    local = interface.detect(mesh.nodes, 0.0, 1.0)
    assert len(local) > 8
    r = np.random.default_rng(2).normal(size=2 * len(local))
    forces = (local.H @ r).reshape(-1, 2)
    upper = mesh.node_numbers("upper")
    total = np.abs(forces[upper].sum(axis=0)).max()
    assert total > 0.1
    assert np.abs(forces.sum(axis=0)).max() < 1e-14 * np.abs(forces).sum()
    # what is left of the moment is that of tangential forces over the gap, and of tilts over it
    moment = mesh.nodes[:, 0] @ forces[:, 1] - mesh.nodes[:, 1] @ forces[:, 0]
    arms = local.H.T @ mesh.nodes.ravel()
    along, across = r[1::2], r[::2]
    left = arms[::2] * along * -1.0 + arms[1::2] * across
    assert moment == pytest.approx(left.sum(), abs=1e-12)
    if reactions == "concentrated":
        # the foot is the nearest point: nothing but the gap is between the two
        assert np.abs(arms[1::2]).max() < 1e-12


def test_relative_velocity_is_the_rate_of_the_gap() -> None:
    """u_N = Hᵀ v is the derivative of the gap that the law sees, whatever moves."""
    mesh = curved_blocks(0.02, 0.03)
    interface = bound(mesh, PairContact("upper.bottom", "lower.top", alert=0.3))
    v = np.random.default_rng(3).normal(size=mesh.nodes.shape)
    rate, u = rates(interface, mesh.nodes, v)
    assert rate == pytest.approx(u, abs=1e-6 * np.abs(u).max())


def test_weighted_velocity_is_the_rate_of_the_mean_gap() -> None:
    """On flat surfaces that touch, with both turned together and slid over each other."""
    mesh = two_blocks("triangle", 0.3, (11, 14), width=2.0)
    interface = bound(mesh, PairContact("upper.bottom", "lower.top", reactions="weighted"))
    x, y = mesh.nodes.T
    v = np.column_stack([-0.4 * y, 0.4 * x])
    upper = mesh.node_numbers("upper")
    # along the interface, and apart in proportion to the abscissa
    v[upper] += np.array([1.0, 0.3]) + np.outer(x[upper], [0.0, 0.5])
    rate, u = rates(interface, mesh.nodes, v)
    assert np.ptp(u) > 0.5
    assert rate == pytest.approx(u, abs=1e-6)


def rates(interface: PairInterface, x: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rates of the gaps by central differences, and u_N."""
    d = 1e-7
    ahead, back = (interface.detect(x + s * d * v, 0.0, 1.0) for s in (1.0, -1.0))
    assert np.array_equal(ahead.candidates, back.candidates)
    u = interface.detect(x, 0.0, 1.0).H.T @ v.ravel()
    return (ahead.gap - back.gap) / (2 * d), u[::2]


@pytest.mark.parametrize("hypothesis", ["plane_strain", "axisymmetric"])
@pytest.mark.parametrize("shift", [0.0, 0.037, 0.3])
def test_overlaps_are_integrated_exactly(hypothesis: str, shift: float) -> None:
    """Against the sum over many points of the candidate line, each projected by itself."""
    mesh = curved_blocks(0.02, shift)
    interface = bound(
        mesh, PairContact("upper.bottom", "lower.top", reactions="weighted"), hypothesis
    )
    local = interface.detect(mesh.nodes, 0.0, 1.0)
    weights, support = sampled(mesh, interface, hypothesis == "axisymmetric")
    frames = local.frames
    H = np.einsum("sc,cak->skca", weights[:, local.candidates], frames)
    assert np.abs(local.H.toarray() - H.reshape(local.H.shape)).max() < 2e-4
    assert local.support == pytest.approx(support[local.candidates], rel=2e-4)
    # exact where it can be: each side's weights add up to one
    normal = local.H[:, ::2].toarray().reshape(-1, 2, len(local))
    share = np.einsum("skc,ck->sc", normal, frames[:, 0])
    for body, sign in (("upper", 1.0), ("lower", -1.0)):
        total = share[mesh.node_numbers(body)].sum(axis=0)
        assert total == pytest.approx(sign, abs=1e-14)


def sampled(
    mesh: Mesh, interface: PairInterface, axisymmetric: bool
) -> tuple[FloatArray, FloatArray]:
    """Weights (n_nodes, nc) and supports (nc,) by brute force, for a surface without folds."""
    x, n = mesh.nodes, 20000
    column = {int(node): c for c, node in enumerate(interface.candidates.nodes)}
    weights = np.zeros((mesh.n_nodes, len(column)))
    support = np.zeros(len(column))
    s = (np.arange(n) + 0.5) / n
    for a, b in mesh.edges("upper.bottom"):
        along = x[b] - x[a]
        length = np.linalg.norm(along)
        outward = np.array([along[1], -along[0]]) / length
        points = x[a] + s[:, None] * along
        measure = length / n * (2 * np.pi * points[:, 0] if axisymmetric else np.ones(n))
        owner = np.where(s < 0.5, column[int(a)], column[int(b)])
        for c, d in mesh.edges("lower.top"):
            # points + g outward = x[c] + p (x[d] - x[c])
            system = np.column_stack([outward, x[c] - x[d]])
            solution = np.linalg.solve(system, (x[c] - points).T)
            hit = (solution[1] >= 0.0) & (solution[1] < 1.0) & (np.abs(solution[0]) < 0.1)
            p = solution[1]
            for h in set(owner[hit].tolist()):
                w = np.where(hit & (owner == h), measure, 0.0)
                support[h] += w.sum()
                weights[a, h] += w @ (1 - s)
                weights[b, h] += w @ s
                weights[c, h] -= w @ (1 - p)
                weights[d, h] -= w @ p
    return weights / np.where(support > 0, support, 1.0), support


def test_parts_that_overhang_do_not_count() -> None:
    """A wider upper block: the support ends where the lower block does, the load is carried."""
    lower = rectangle(1.0, 0.5, 5, 2, kind="quad")
    upper = rectangle(1.5, 0.5, 6, 2, kind="quad", origin=(-0.2, 0.5))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    interface = bound(mesh, PairContact("upper.bottom", "lower.top", reactions="weighted"))
    local = interface.detect(mesh.nodes, 0.0, 1.0)
    assert local.support is not None
    assert local.support.sum() == pytest.approx(1.0)
    assert local.support.min() == pytest.approx(0.075)
    whole = interface.candidates.weighting.support[local.candidates]
    assert local.support.min() < 0.5 * whole.min()
    # a uniform pressure on the supports is the consistent load of the lower block's top
    forces = np.zeros((2 * len(local),))
    forces[::2] = local.support
    on_nodes = (local.H @ forces).reshape(-1, 2)
    top = mesh.edges("lower.top")
    expected = np.zeros(mesh.n_nodes)
    np.add.at(expected, top.ravel(), -0.1)
    lower_nodes = mesh.node_numbers("lower")
    assert on_nodes[lower_nodes, 1] == pytest.approx(expected[lower_nodes], abs=1e-14)


def test_laws_per_area_follow_the_support() -> None:
    lower = rectangle(1.0, 0.5, 5, 2, kind="quad")
    upper = rectangle(1.5, 0.5, 6, 2, kind="quad", origin=(-0.2, 0.5))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    law = Law(friction_law="tresca", threshold=3.0, normal_stiffness=4.0)
    interface = bound(mesh, PairContact("upper.bottom", "lower.top", reactions="weighted", law=law))
    local = interface.detect(mesh.nodes, 0.0, 1.0)
    assert local.support is not None
    assert local.laws.threshold == pytest.approx(3.0 * local.support)
    assert local.laws.compliance == pytest.approx(1.0 / (4.0 * local.support))


# --- patch tests ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["triangle", "quad"])
@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_patch(kind: Kind, slope: float, friction: float) -> None:
    """Uniform stress across meshes of 5 and 7 edges: weighted exact, concentrated not."""
    # two materials where the sides may slide apart, one where friction holds them together
    hard = 1e9 if slope or friction else 3e9
    weighted = patch(kind, slope, "weighted", friction, hard=hard)
    concentrated = patch(kind, slope, "concentrated", friction, hard=hard)
    print(
        f"{kind:8s} slope {slope}, mu = {friction}: error of stress {weighted.error:.1e} weighted, "
        f"{concentrated.error:.1e} concentrated"
    )
    assert weighted.error < 1e-9
    assert concentrated.error > 1e-2
    state = weighted.result.contacts["interface"]
    # the traction on the interface, from the uniform stress and the interface's normal
    normal = np.array([-slope, 1.0]) / np.hypot(slope, 1.0)
    traction = np.array([weighted.side, weighted.top]) * normal
    tangent = np.array([normal[1], -normal[0]])
    pressure = state.force / state.support[:, None]
    expected = np.array([traction @ normal, traction @ tangent])
    assert pressure == pytest.approx(np.tile(expected, (len(pressure), 1)), abs=1e-8 * weighted.top)
    assert state.count(Status.STICKING) == (len(pressure) if friction else 0)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_glued_blocks_carry_a_uniform_tension(slope: float) -> None:
    glued = patch("quad", slope, "weighted", law=Law(friction_law="glued"), top=-1e6)
    assert glued.error < 1e-9
    assert glued.result.contacts["interface"].force[:, 0].max() < 0.0


@BOTH
def test_glue_remembers_where_it_was_put(reactions: Reactions) -> None:
    """What the law sees is the whole relative displacement since the start, in fixed frames."""
    mesh = two_blocks("quad", 0.3)
    law = Law(friction_law="glued")
    glue = bound(mesh, PairContact("upper.bottom", "lower.top", reactions=reactions, law=law))
    x = mesh.nodes + np.array([0.5, 0.2])
    x[mesh.node_numbers("upper")] += [0.03, 0.05]
    local = glue.detect(x, 0.0, 1.0)
    assert len(local) == glue.n_candidates
    N = np.array([-0.3, 1.0]) / np.hypot(0.3, 1.0)
    T = np.array([N[1], -N[0]])
    expected = np.array([N @ [0.03, 0.05], T @ [0.03, 0.05]])
    assert local.offset == pytest.approx(np.tile(expected, (len(local), 1)), abs=1e-12)


def test_matching_meshes_glued_are_one_mesh() -> None:
    """Node on node, glued: the displacements of the block in one piece, in bending and shear."""
    parts = Mesh.merge(
        {
            "lower": rectangle(1.0, 1.0, 4, 3, kind="quad"),
            "upper": rectangle(1.0, 1.0, 4, 3, kind="quad", origin=(0.0, 1.0)),
        }
    )
    whole = rectangle(1.0, 2.0, 4, 6, kind="quad")
    loads = [Pressure("upper.left", "1e5 * y"), Pressure("upper.top", "-1e5 * x")]
    glue = PairContact("upper.bottom", "lower.top", law=Law(friction_law="glued"), name="glue")
    soft = Solid(parts, {"lower": ELASTIC, "upper": ELASTIC}, "plane_strain")
    hold = [Prescribed("lower.bottom", ux=0.0, uy=0.0)]
    # held against rigid motion by the glue alone, which a quasi-static run does not count on
    weak = [Prescribed("upper.top_right", ux=0.0, uy=0.0), Prescribed("upper.top_left", uy=0.0)]
    model = Model(soft, prescribed=[*hold, *weak], loads=loads, contacts=[glue])
    u = Simulation(model).run().final.state.q.reshape(-1, 2)
    one = whole.with_groups(edges={"left_up": whole.edges("left")[:3]})
    single = Model(
        Solid(one, {"body": ELASTIC}, "plane_strain"),
        prescribed=[
            Prescribed("bottom", ux=0.0, uy=0.0),
            Prescribed("top_right", ux=0.0, uy=0.0),
            Prescribed("top_left", uy=0.0),
        ],
        loads=[Pressure("left_up", "1e5 * y"), Pressure("top", "-1e5 * x")],
    )
    v = Simulation(single).run().final.state.q.reshape(-1, 2)
    for x, displacement in zip(parts.nodes, u, strict=True):
        same = np.flatnonzero(np.linalg.norm(whole.nodes - x, axis=1) < 1e-12)[0]
        assert displacement == pytest.approx(v[same], abs=1e-9 * np.abs(v).max())


def test_two_passes_press_as_one() -> None:
    """Both passes together carry the load that one carries, and close both ways."""
    contact = PairContact("upper.bottom", "lower.top", name="c", passes=2, exclude=("a",))
    forward, back = contact.expand()
    assert (forward.label, forward.candidates, forward.antagonists) == (
        "c",
        "upper.bottom",
        "lower.top",
    )
    assert (back.label, back.candidates, back.antagonists) == (
        "c_back",
        "lower.top",
        "upper.bottom",
    )
    assert forward.passes == back.passes == 1
    both = patch("quad", 0.0, "weighted", passes=2)
    states = both.result.contacts
    assert set(states) == {"interface", "interface_back"}
    total = sum(state.force[:, 0].sum() for state in states.values())
    assert total == pytest.approx(1e6, rel=1e-9)
    assert both.error < 1e-9


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
@pytest.mark.parametrize("cells", [(4, 4), (5, 8), (8, 5)])
def test_two_passes_under_a_load_converge(
    cells: tuple[int, int], reactions: Reactions, friction: float
) -> None:
    """More contacts than nodes to move: the reactions of the two passes are not known apart."""
    lower = rectangle(1.0, 1.0, cells[0], 3, kind="quad")
    upper = rectangle(1.0, 1.0, cells[1], 4, kind="quad", origin=(0.0, 1.0))
    model = Model(
        Solid(Mesh.merge({"lower": lower, "upper": upper}), {"lower": ELASTIC, "upper": ELASTIC}),
        prescribed=[Prescribed("lower.bottom", uy=0.0), Prescribed("lower.bottom_left", ux=0.0)],
        loads=[Pressure("upper.top", 1e6)],
        springs=[Spring("upper", kx=1e3, ky=1e3)],
        contacts=[
            PairContact(
                "upper.bottom", "lower.top", reactions=reactions, friction=friction, passes=2
            )
        ],
    )
    result = Simulation(model).run()
    assert result.failure is None
    total = sum(state.force[:, 0].sum() for state in result.contacts.values())
    assert total == pytest.approx(1e6, rel=1e-3)


@pytest.mark.parametrize("reactions", ["concentrated", "weighted"])
def test_two_passes_resist_as_one(reactions: Reactions) -> None:
    """What a law gives per area is given once: Tresca's bound and the stiffness of the contact."""
    lower = rectangle(1.0, 0.5, 4, 2, kind="quad")
    upper = rectangle(1.0, 0.5, 4, 2, kind="quad", origin=(0.0, 0.5))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    law = Law(friction_law="tresca", threshold=1e4, normal_stiffness=1e8)

    def held(passes: int) -> FloatArray:
        model = Model(
            Solid(mesh, {"lower": ELASTIC, "upper": ELASTIC}),
            prescribed=[
                Prescribed("lower.bottom", ux=0.0, uy=0.0),
                Prescribed("upper.top", ux=1e-3, uy=-1e-4),
            ],
            contacts=[
                PairContact(
                    "upper.bottom", "lower.top", law=law, passes=passes, reactions=reactions
                )
            ],
        )
        return Simulation(model).run().final.supports["lower.bottom"]

    one, two = held(1), held(2)
    assert one[0] == pytest.approx(-1e4, rel=1e-9)
    # the second pass loses half of an end's support, where the upper block has gone on
    assert two[0] == pytest.approx(-1e4, rel=2e-3)
    assert two[1] == pytest.approx(one[1], rel=1e-3)


def test_a_surface_that_meets_itself_is_a_pass_of_two() -> None:
    (one,) = PairContact("outline", "outline", self_contact=True).expand()
    assert one.share == 0.5


def test_glue_takes_one_pass() -> None:
    contact = PairContact("a", "b", law=Law(friction_law="glued"), name="c", passes=2)
    with pytest.raises(ContactError, match=r"contact\.c\.passes: one pass glues both sides"):
        contact.expand()


def test_the_bound_of_part_of_a_support() -> None:
    """A candidate that half overhangs slides on half of Tresca's bound, and is said to slide."""
    lower = rectangle(1.0, 0.5, 4, 2, kind="quad")
    upper = rectangle(1.0, 0.5, 4, 2, kind="quad", origin=(0.3, 0.5))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    law = Law(friction_law="tresca", threshold=1e4)
    model = Model(
        Solid(mesh, {"lower": ELASTIC, "upper": ELASTIC}),
        prescribed=[
            Prescribed("lower.bottom", ux=0.0, uy=0.0),
            Prescribed("upper.top", ux=1e-3, uy=-1e-4),
        ],
        contacts=[
            PairContact("upper.bottom", "lower.top", law=law, reactions="weighted", name="c")
        ],
    )
    state = Simulation(model).run().contacts["c"]
    touching = state.force[:, 0] > 0.0
    assert 0.05 < state.support[touching].min() < 0.1
    np.testing.assert_allclose(state.bound[touching], 1e4 * state.support[touching])
    assert state.slides[touching].all()


# --- a body with itself --------------------------------------------------------------------------


def jaw(gap: float = 0.02) -> Mesh:
    """A block with a slot from the right: lips of ten edges, joined at the left."""
    grid = rectangle(
        x=np.linspace(0.0, 1.2, 13),
        y=np.concatenate([np.linspace(0.0, 0.3, 4), 0.3 + gap + np.linspace(0.0, 0.3, 4)]),
        kind="quad",
    )
    middle = grid.centroids()
    kept = ~((middle[:, 0] > 0.2) & (middle[:, 1] > 0.3) & (middle[:, 1] < 0.3 + gap))
    cells = grid.cells["quad"][kept]
    used = np.unique(cells)
    number = np.full(grid.n_nodes, -1)
    number[used] = np.arange(len(used))
    mesh = Mesh(grid.nodes[used], {"quad": number[cells]}, {"body": np.arange(len(cells))})
    boundary = mesh.boundary_edges()
    x = mesh.nodes[boundary].mean(axis=1)
    lip = x[:, 0] > 0.2 + 1e-9
    return mesh.with_groups(
        edges={
            "outline": boundary,
            "lower_lip": boundary[lip & np.isclose(x[:, 1], 0.3)],
            "upper_lip": boundary[lip & np.isclose(x[:, 1], 0.3 + gap)],
            "top": boundary[np.isclose(x[:, 1], 0.6 + gap)],
            "bottom": boundary[np.isclose(x[:, 1], 0.0)],
        }
    )


def test_neighbours_are_no_partners_although_they_are_near() -> None:
    """At rest each lip sees the other; no node sees what it belongs to, nor the far side."""
    mesh = jaw()
    interface = bound(mesh, PairContact("outline", "outline", self_contact=True))
    feet = interface.project(mesh.nodes)
    nodes = interface.candidates.nodes[feet.found]
    x = mesh.nodes[nodes]
    assert len(nodes) > 15
    assert np.isclose(x[:, 1], 0.3).sum() == np.isclose(x[:, 1], 0.32).sum()
    assert feet.gap[feet.found] == pytest.approx(0.02)
    partner = mesh.nodes[interface.surface.edges[feet.edge[feet.found]]].mean(axis=1)
    assert (np.abs(partner[:, 1] - x[:, 1]) > 0.019).all()
    # nor, at the root of the slot, what is two steps away round the corner
    assert x[:, 0].min() == pytest.approx(0.3)
    assert partner[:, 0].min() == pytest.approx(0.35)
    # without a slot there is nothing to meet, however thin the body
    thin = rectangle(1.0, 0.01, 40, 1, kind="quad")
    thin = thin.with_groups(edges={"outline": thin.boundary_edges()})
    alone = bound(thin, PairContact("outline", "outline", self_contact=True))
    assert len(alone.detect(thin.nodes, 0.0, 1.0)) == 0


@BOTH
def test_a_jaw_closes_on_itself(reactions: Reactions) -> None:
    """Pressed shut: no penetration, balance, and the forces of a contact between the two lips."""
    mesh = jaw()
    solid = Solid(mesh, {"body": ELASTIC}, "plane_strain")
    results = {}
    for name, contact in {
        "self": PairContact(
            "outline", "outline", self_contact=True, reactions=reactions, name="c", friction=0.2
        ),
        "lips": PairContact(
            "upper_lip", "lower_lip", reactions=reactions, name="c", friction=0.2, passes=2
        ),
    }.items():
        model = Model(
            solid,
            prescribed=[Prescribed("bottom", ux=0.0, uy=0.0), Prescribed("top", uy=-0.03)],
            contacts=[contact],
        )
        result = Simulation(model, times=Times(end=1.0, steps=3)).run()
        results[name] = result
        assert result.worst_balance < 1e-9
    last = results["self"].final
    state = last.contacts["c"]
    touching = state.status != Status.SEPARATED
    assert touching.sum() > 8
    scale = 0.1 if reactions == "weighted" else 1e-3
    assert state.gap[touching].min() > -scale * 0.02
    same = results["lips"].final
    assert last.state.q == pytest.approx(same.state.q, abs=1e-3 * np.abs(same.state.q).max())


# --- sliding far ---------------------------------------------------------------------------------


def test_ironing_passes_edges_smoothly() -> None:
    """An indenter drawn over many edges: weighted reactions vary little, nothing is lost."""
    variation = {}
    for reactions in ("concentrated", "weighted"):
        force, lost, balance = ironing(reactions)  # type: ignore[arg-type]
        variation[reactions] = np.ptp(force) / force.mean()
        assert lost == 0
        assert balance < 1e-9
    print(variation)
    assert variation["weighted"] < 0.05
    assert variation["weighted"] < 0.5 * variation["concentrated"]


def ironing(reactions: Reactions) -> tuple[FloatArray, int, float]:
    lower = rectangle(5.0, 1.5, 20, 6, kind="quad")
    upper = rectangle(1.7, 1.0, 4, 3, kind="quad", origin=(1.03, 1.5))
    x, y = upper.nodes.T
    rounding = 0.15 * ((x - 1.88) / 0.85) ** 2 * (2.5 - y)
    upper = upper.moved(np.column_stack([np.zeros_like(x), rounding]))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    solid = Solid(
        mesh,
        {"lower": IsotropicElastic(1e6, 0.3), "upper": IsotropicElastic(1e9, 0.3)},
        "plane_strain",
    )
    press, draw = [[0.0, 0.0], [0.2, -0.1], [1.2, -0.1]], [[0.0, 0.0], [0.2, 0.0], [1.2, 1.0]]
    model = Model(
        solid,
        prescribed=[
            Prescribed("lower.bottom", ux=0.0, uy=0.0),
            Prescribed("upper.top", ux=draw, uy=press),
        ],
        contacts=[
            PairContact("upper.bottom", "lower.top", friction=0.2, reactions=reactions, name="c")
        ],
    )
    upper_nodes = mesh.node_numbers("upper")
    forces, lost, balance = [], 0, 0.0
    for step in Simulation(model, times=Times(end=1.2, steps=48)).steps():
        if step.t > 0.3:
            forces.append(step.contact_forces[upper_nodes, 1].sum())
            lost += int(np.isinf(step.contacts["c"].gap).sum())
            balance = max(balance, step.balance)
    return np.array(forces), lost, balance


def test_held_tool_meets_a_moving_body() -> None:
    """Candidates that are all held still push the other body; held on both sides, nothing."""
    mesh = two_blocks("quad", 0.0, (4, 5))
    solid = Solid(mesh, {"lower": ELASTIC, "upper": ELASTIC}, "plane_strain")
    contact = PairContact("upper.bottom", "lower.top", name="c")
    model = Model(
        solid,
        prescribed=[
            Prescribed("upper", ux=0.0, uy=-0.01),
            Prescribed("lower.bottom", ux=0.0, uy=0.0),
        ],
        contacts=[contact],
    )
    result = Simulation(model).run()
    assert result.contacts["c"].force[:, 0].sum() > 1e6
    assert result.contacts["c"].gap == pytest.approx(0.0, abs=1e-9)
    held = contact.bind(solid, np.ones(mesh.n_nodes, dtype=bool))
    local = held.detect(mesh.nodes, 0.0, 1.0)
    assert len(local) == 0
    assert sparse.issparse(local.H)
    assert local.H.shape == (2 * mesh.n_nodes, 0)
