"""Node against edge: search, projection rules, passage, and what is refused at the start."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fecontact.body import Solid
from fecontact.conditions import Initial, Prescribed
from fecontact.contact import PairContact, PairInterface, pair_interface
from fecontact.contact.projection import END, project
from fecontact.contact.search import Neighbours, PairList, pairs_within
from fecontact.contact.surface import Surface
from fecontact.errors import ContactError, Tunnelling
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.schemes import Theta
from fecontact.simulation import Simulation, Times
from fecontact.typing import BoolArray, FloatArray
from tests.two_blocks import two_blocks

ELASTIC = IsotropicElastic(E=1e9, nu=0.3)


def bound(mesh: Mesh, contact: PairContact) -> PairInterface:
    names = [n for n in mesh.element_groups if "." not in n]
    solid = Solid(mesh, dict.fromkeys(names, ELASTIC), "plane_strain")
    return contact.bind(solid, np.zeros(mesh.n_nodes, dtype=bool))


def polyline(points: FloatArray, closed: bool, limit: float = np.inf) -> Surface:
    n = len(points)
    edges = np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])
    m = n if closed else n - 1
    edges, number = edges[:m], np.arange(m)
    previous, following = number - 1, number + 1
    if closed:
        previous, following = previous % m, following % m
    else:
        following[-1] = -1
    length = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
    return Surface(edges, previous, following, length, np.full(m, limit))


def all_pairs(n: int, m: int) -> PairList:
    return PairList(np.arange(n + 1) * m, np.tile(np.arange(m), n))


def feet_of(points: FloatArray, corners: FloatArray, closed: bool, alert: float = np.inf):  # type: ignore[no-untyped-def]
    """Feet of points that face every edge."""
    surface = polyline(corners, closed)
    n, m = len(points), len(surface)
    return project(
        points,
        np.zeros((n, 2)),
        corners,
        surface,
        all_pairs(n, m),
        np.full(n, alert),
        np.zeros(m),
    )


def star(seed: int, n: int) -> FloatArray:
    """A polygon around the origin, counter-clockwise, with convex and concave corners."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(n) + 0.8 * rng.random(n)) / n
    radius = rng.uniform(0.6, 1.4, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def inside(points: FloatArray, corners: FloatArray) -> BoolArray:
    """Ray casting: an odd number of crossings to the right."""
    a, b = corners, np.roll(corners, -1, axis=0)
    x, y = points[:, :1], points[:, 1:]
    spans = (a[:, 1] > y) != (b[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return np.asarray((spans & (x < crossing)).sum(axis=1) % 2 == 1)


def distances(points: FloatArray, ends: FloatArray) -> FloatArray:
    """Distances (n, m) of points to segments."""
    a, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    arm = points[:, None] - a
    s = np.clip((arm * along).sum(axis=2) / (along**2).sum(axis=1), 0.0, 1.0)
    return np.asarray(np.linalg.norm(arm - s[..., None] * along, axis=2))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 40))
def test_gap_is_the_signed_distance_and_normal_its_gradient(seed: int, n: int) -> None:
    corners = star(seed, n)
    points = np.random.default_rng(seed + 1).uniform(-1.6, 1.6, (80, 2))
    feet = feet_of(points, corners, closed=True)
    assert feet.found.all()
    ends = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)
    exact = distances(points, ends).min(axis=1) * np.where(inside(points, corners), -1.0, 1.0)
    assert feet.gap == pytest.approx(exact, abs=1e-12)
    edge = feet.edge
    foot = (1 - feet.place[:, None]) * ends[edge, 0] + feet.place[:, None] * ends[edge, 1]
    assert points - feet.gap[:, None] * feet.normal == pytest.approx(foot, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(3, 60))
def test_the_tree_finds_every_near_pair(seed: int, n: int) -> None:
    """Also while nodes move within the margin: the list then is the one made before."""
    rng = np.random.default_rng(seed)
    # lengths of the edges spread over two decades
    spread = 10 ** rng.uniform(-2, 0, (n, 1)) * rng.normal(size=(n, 2))
    start = rng.uniform(-1, 1, (n, 2))
    ends = np.stack([start, start + spread], axis=1)
    points = rng.uniform(-1, 1, (50, 2))
    reach, radius, margin = rng.uniform(0, 0.1, n), rng.uniform(0, 0.3, 50), 0.05
    near = Neighbours(reach, margin, np.zeros(0, dtype=np.int64))
    near.pairs(points, ends, radius)
    drift = rng.normal(size=2)
    for _ in range(3):
        step = rng.uniform(-1, 1, (50 + 2 * n, 2)) * margin / 2
        now, moved = points + drift + step[:50], ends + drift + step[50:].reshape(n, 2, 2)
        if near.covers(now, moved):
            pairs = near.listed
            listed = np.zeros((50, n), dtype=bool)
            listed[np.repeat(np.arange(50), np.diff(pairs.start)), pairs.edges] = True
            wanted = distances(now, moved) <= radius[:, None] + reach
            assert not (wanted & ~listed).any()
    assert near.builds == 1


def test_lists_serve_large_motions_as_all_pairs_do() -> None:
    """Two blocks moved at random, far and near: lists give what all pairs give, to the bit."""
    rng = np.random.default_rng(5)
    mesh = two_blocks("triangle", 0.2, (23, 31), width=4.0)
    contact = PairContact("upper.bottom", "lower.top", name="c")
    kept = bound(mesh, contact)
    upper = mesh.node_numbers("upper")
    surface, x = kept.surface, mesh.nodes.copy()
    met = 0
    for _ in range(40):
        x = x + rng.normal(size=x.shape) * 0.002
        x[upper] += rng.normal(size=2) * np.array([0.1, 0.02])
        x = x + rng.normal(size=2)
        feet = kept.project(x)
        n, m = kept.n_candidates, len(surface)
        whole = project(
            x[kept.candidates.nodes],
            kept._normals(x),
            x,
            surface,
            all_pairs(n, m),
            kept._alert,
            kept._reach,
        )
        for name in ("edge", "place", "gap", "normal"):
            assert np.array_equal(getattr(feet, name), getattr(whole, name))
        met += int(feet.found.sum())
    assert met > 200
    assert 2 < kept._near_nodes.builds < 40


# --- corners and ends ----------------------------------------------------------------------------


def test_normal_turns_round_a_convex_corner() -> None:
    """Outside a corner the normal points from the vertex; it joins the edges' without a jump."""
    corners = np.array([[1.0, -1.0], [1.0, 0.0], [0.0, 0.0]])
    angle = np.linspace(0.0, np.pi / 2, 19)
    way = np.column_stack([np.cos(angle), np.sin(angle)])
    feet = feet_of(np.array([1.0, 0.0]) + 0.2 * way, corners, closed=False)
    assert feet.gap == pytest.approx(0.2)
    assert feet.normal == pytest.approx(way)
    # at the vertex itself, the bisector
    exact = feet_of(np.array([[1.0, 0.0]]), corners, closed=False)
    assert exact.gap == pytest.approx(0.0, abs=1e-15)
    edges = feet_of(np.array([[0.5, 0.1], [1.1, -0.5], [0.5, -0.1]]), corners, closed=False)
    assert edges.normal == pytest.approx(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert edges.gap == pytest.approx([0.1, 0.1, -0.1])


def test_concave_corner() -> None:
    """Before a notch the nearer edge counts, behind it the vertex, with a turning normal."""
    # floor y = 0 towards the corner, then the wall x = 0: free space is x, y > 0
    corners = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    points = np.array([[1.0, 0.3], [0.3, 1.0], [-0.3, -0.4], [1.0, -0.1]])
    feet = feet_of(points, corners, closed=False)
    assert feet.gap == pytest.approx([0.3, 0.3, -0.5, -0.1])
    assert feet.normal == pytest.approx(np.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))


def test_sliding_over_facets_makes_no_jump_of_gap() -> None:
    """Along a path at a fixed depth the gap of a polygon is continuous at every vertex."""
    angle = np.linspace(0.0, np.pi, 13)
    corners = np.column_stack([np.cos(angle), np.sin(angle)])
    along = np.linspace(0.05, np.pi - 0.05, 20001)
    for radius in (0.97, 1.0, 1.03):
        path = radius * np.column_stack([np.cos(along), np.sin(along)])
        feet = feet_of(path, corners, closed=False)
        assert feet.found.all()
        assert len(np.unique(feet.edge)) == 12
        assert np.abs(np.diff(feet.gap)).max() < 2 * np.pi / 20000


def test_the_order_of_the_edges_in_their_group_does_not_matter() -> None:
    lower = rectangle(1.0, 0.5, 4, 2)
    upper = rectangle(0.5, 0.5, 2, 2, origin=(0.25, 0.5))
    mesh = Mesh.merge({"upper": upper, "lower": lower})
    top = mesh.edges("lower.top")
    contact = PairContact("upper.bottom", "other")
    bent = mesh.nodes.copy()
    # the middle of the lower side sinks, and the candidate above it: both edges are as near
    bent[np.all(mesh.nodes == (0.5, 0.5), axis=1), 1] -= 0.01
    found = [
        bound(mesh.with_groups(edges={"other": top[order]}), contact).project(bent)
        for order in (np.arange(4), np.arange(4)[::-1], np.array([2, 0, 3, 1]))
    ]
    assert found[0].found.all()
    for feet in found[1:]:
        assert np.array_equal(feet.normal, found[0].normal)
        assert np.array_equal(feet.place, found[0].place)


def test_free_ends() -> None:
    corners = np.array([[1.0, 0.0], [0.0, 0.0]])
    x = np.array([-2 * END, -0.5 * END, 0.0, 1.0, 1.0 + 0.5 * END, 1.0 + 2 * END])
    feet = feet_of(np.column_stack([x, np.full(6, 0.1)]), corners, closed=False)
    assert feet.found.tolist() == [False, True, True, True, True, False]
    assert feet.gap[feet.found] == pytest.approx(0.1)
    assert 1.0 - feet.place[feet.found] == pytest.approx(x[feet.found])


def test_a_side_that_does_not_face_a_candidate_does_not_catch_it() -> None:
    """A flat bottom that overhangs a corner, a little below its level, drawn back over it."""
    lower = rectangle(1.0, 1.0, 5, 5, kind="quad")
    lower = lower.with_groups(edges={"outline": lower.boundary_edges()})
    upper = rectangle(0.8, 0.5, 4, 2, kind="quad", origin=(0.35, 1.0))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    contact = bound(mesh, PairContact("upper.bottom", "lower.outline"))
    block = mesh.node_numbers("upper")
    x = mesh.nodes.copy()
    x[block, 1] -= 1e-3
    local = contact.detect(x, 0.0, 1.0)
    # the nodes at x = 0.35 ... 0.95 are over the block, the corner at 1.15 is beside it
    assert local.candidates.tolist() == [0, 1, 2, 3]
    assert local.frames[:, 0] == pytest.approx(np.tile([0.0, 1.0], (4, 1)))
    back = x.copy()
    back[block, 0] -= 0.17
    contact.check_passage(x, back, contact.detect(x, 0.0, 1.0))
    assert contact.detect(back, 0.0, 1.0).gap == pytest.approx(-1e-3)
    # an edge that faces the side is met by it
    side = bound(mesh, PairContact("upper.left", "lower.outline"))
    beside = mesh.nodes.copy()
    beside[block] += [0.66, -0.8]
    met = side.detect(beside, 0.0, 1.0)
    assert met.frames[:, 0] == pytest.approx(np.tile([1.0, 0.0], (3, 1)))
    assert met.gap == pytest.approx(0.01)


def test_alert_and_candidates_keep_their_numbers() -> None:
    mesh = two_blocks(cells=(5, 7))
    near = bound(mesh, PairContact("upper.bottom", "lower.top", alert=0.05))
    upper = mesh.node_numbers("upper")
    x = mesh.nodes.copy()
    # tilted: the gap is 0.1 x
    x[upper, 1] += 0.1 * x[upper, 0]
    local = near.detect(x, 0.0, 1.0)
    expected = np.flatnonzero(0.1 * mesh.nodes[near.candidates.nodes, 0] <= 0.05)
    assert np.array_equal(local.candidates, expected)
    gaps = near.gaps(x, 0.0)
    assert np.isinf(np.delete(gaps, expected)).all()
    assert gaps[expected] == pytest.approx(local.gap)
    assert local.gap == pytest.approx(x[local.nodes, 1] - 1.0)


# --- passage -------------------------------------------------------------------------------------


def plate_and_block() -> Mesh:
    """A block over a plate that is thinner than an element's edge."""
    plate = rectangle(2.0, 0.05, 8, 1, kind="quad")
    block = rectangle(0.6, 0.6, 3, 3, kind="quad", origin=(0.63, 1.0))
    return Mesh.merge({"plate": plate, "block": block})


@pytest.mark.parametrize(("fall", "most"), [(1.0, 5e6), (1.2, 1.0), (2.5, 5e6), (40.0, 10.0)])
def test_a_step_that_passes_through_a_plate_is_seen(
    fall: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when candidates are looked at a few at a time."""
    monkeypatch.setattr(pair_interface, "MOST_PAIRS", most)
    mesh = plate_and_block()
    contact = bound(mesh, PairContact("block.bottom", "plate.top", name="fall"))
    after = mesh.nodes.copy()
    after[mesh.node_numbers("block"), 1] -= fall
    local = contact.detect(mesh.nodes, 0.0, 1.0)
    assert len(local) == 0
    with pytest.raises(Tunnelling) as error:
        contact.check_passage(mesh.nodes, after, local)
    message = str(error.value)
    assert "4 candidates of 'block.bottom'" in message
    assert f"deepest by {fall - 0.95:.3g}" in message
    for part in ("time.step", "time.adaptive", "alert", "edge ("):
        assert part in message


def test_motion_beside_behind_and_away_is_no_passage() -> None:
    mesh = plate_and_block()
    contact = bound(mesh, PairContact("block.bottom", "plate.top"))
    block = mesh.node_numbers("block")
    local = contact.detect(mesh.nodes, 0.0, 1.0)
    below = mesh.nodes.copy()
    below[block, 1] -= 1.9
    beside = mesh.nodes.copy()
    beside[block] += [1.6, 0.0]
    down = beside.copy()
    down[block, 1] -= 3.0
    near = mesh.nodes.copy()
    near[block, 1] -= 0.949
    for before, after in ((below, mesh.nodes), (beside, down), (mesh.nodes, near), (down, below)):
        contact.check_passage(before, after, local)


def test_a_moving_and_turning_edge_is_passed_in_its_own_frame() -> None:
    """The plate comes up and turns by a quarter: only what it really sweeps counts."""
    mesh = plate_and_block()
    contact = bound(mesh, PairContact("block.bottom", "plate.top"))
    local = contact.detect(mesh.nodes, 0.0, 1.0)
    plate = mesh.node_numbers("plate")
    up = mesh.nodes.copy()
    up[plate, 1] += 2.0
    with pytest.raises(Tunnelling, match=r"deepest by 1\.05"):
        contact.check_passage(mesh.nodes, up, local)
    # sampled in time: does some candidate get from above to below within an edge?
    after = mesh.nodes.copy()
    x, y = mesh.nodes[plate].T
    after[plate] = np.column_stack([0.3 - y, 0.2 + x])
    edges, swept = contact.surface.edges, False
    points = mesh.nodes[contact.candidates.nodes]
    last = None
    for tau in np.linspace(0.0, 1.0, 4001):
        now = (1 - tau) * mesh.nodes + tau * after
        a, along = now[edges[:, 0]], now[edges[:, 1]] - now[edges[:, 0]]
        arm = points[:, None] - a
        side = along[:, 0] * arm[..., 1] - along[:, 1] * arm[..., 0] > 0
        between = ((arm * along).sum(2) >= 0) & ((arm * along).sum(2) <= (along**2).sum(1))
        if last is not None:
            swept = swept or bool((side & ~last & between).any())
        last = side
    assert swept
    with pytest.raises(Tunnelling):
        contact.check_passage(mesh.nodes, after, local)


def test_a_written_contact_may_penetrate_within_the_limit_only() -> None:
    mesh = two_blocks(cells=(4, 4))
    contact = bound(mesh, PairContact("upper.bottom", "lower.top"))
    upper = mesh.node_numbers("upper")
    local = contact.detect(mesh.nodes, 0.0, 1.0)
    assert len(local) == 5
    limit = contact.surface.limit.max()
    assert limit == pytest.approx(0.125)
    after = mesh.nodes.copy()
    after[upper, 1] -= 0.9 * limit
    contact.check_passage(mesh.nodes, after, local)
    assert contact.gaps(after, 0.0) == pytest.approx(-0.9 * limit)
    deeper = mesh.nodes.copy()
    deeper[upper, 1] -= 1.1 * limit
    assert np.isinf(contact.gaps(deeper, 0.0)).all()
    for before in (mesh.nodes, after):
        with pytest.raises(Tunnelling):
            contact.check_passage(before, deeper, local)


def test_a_run_says_where_it_tunnelled_and_smaller_steps_mend_it() -> None:
    mesh = plate_and_block()
    heavy = IsotropicElastic(E=1e7, nu=0.3, density=1000.0)
    model = Model(
        Solid(mesh, {"plate": heavy, "block": heavy}, "plane_strain"),
        prescribed=[Prescribed("plate.left", ux=0.0, uy=0.0), Prescribed("plate.right", uy=0.0)],
        initial=[Initial("block", vy=-6.0)],
        contacts=[PairContact("block.bottom", "plate.top", name="fall")],
    )
    with pytest.raises(Tunnelling, match=r"4 candidates .*deepest by 0\.25"):
        next(Simulation(model, Theta(1.0), Times(end=0.2, steps=1)).steps())
    run = Simulation(model, Theta(1.0), Times(end=0.2, steps=1, adaptive=True)).run()
    assert run.converged
    block = mesh.node_numbers("block")
    slowed = run.final.state.v.reshape(-1, 2)[block, 1].mean()
    assert slowed > -5.0
    assert run.contacts["fall"].gap.min() > -0.025


# --- what is refused, and removed, at the start --------------------------------------------------


def penetrated(depth: float) -> Mesh:
    lower = rectangle(1.0, 1.0, 5, 5, kind="quad")
    upper = rectangle(0.8, 1.0, 4, 4, kind="quad", origin=(0.07, 1.0 - depth))
    return Mesh.merge({"lower": lower, "upper": upper})


@pytest.mark.parametrize(("depth", "deep"), [(1e-6, False), (0.03, False), (0.4, True)])
def test_initial_penetration_is_refused_with_depth_and_place(depth: float, deep: bool) -> None:
    mesh = penetrated(depth)
    with pytest.raises(ContactError) as error:
        bound(mesh, PairContact("upper.bottom", "lower.top", name="c"))
    message = str(error.value)
    assert "contact.c" in message
    # the side of the lower block is nearer to the outermost nodes when they are deep inside
    nearest = depth if not deep else min(depth, 0.4)
    assert f"by {nearest:.3g} at node" in message
    assert "5 of 5 candidates" in message if not deep else "candidates start deep inside" in message
    assert ("remove_penetration" in message) == (not deep)


def test_initial_penetrations_and_gaps_are_removed() -> None:
    mesh = two_blocks(cells=(5, 7))
    x = mesh.nodes.copy()
    upper = mesh.node_numbers("upper")
    # from 0.02 inside at the left to 0.03 outside at the right
    x[upper, 1] += 0.05 * x[upper, 0] - 0.02
    mesh = mesh.moved(x - mesh.nodes)
    for reactions in ("concentrated", "weighted"):
        for initial, left in (("remove_penetration", (0.0, 0.03)), ("remove_gap", (0.0, 0.0))):
            contact = bound(
                mesh,
                PairContact(
                    "upper.bottom",
                    "lower.top",
                    reactions=reactions,  # type: ignore[arg-type]
                    initial=initial,  # type: ignore[arg-type]
                ),
            )
            gaps = contact.gaps(mesh.nodes, 0.0)
            assert (gaps.min(), gaps.max()) == pytest.approx(left, abs=1e-4)
            start = contact.detect(mesh.nodes, 0.0, 1.0)
            assert start.gap.min() == pytest.approx(0.0, abs=1e-15)
            # lifting is counted from there
            lifted = mesh.nodes.copy()
            lifted[upper, 1] += 0.01
            moved = contact.detect(lifted, 0.0, 1.0)
            assert moved.gap - start.gap == pytest.approx(0.01, rel=1e-2)


def test_the_same_edge_on_both_sides_is_refused() -> None:
    mesh = two_blocks()
    all_edges = {"all": mesh.boundary_edges()}
    mesh = mesh.with_groups(edges=all_edges)
    with pytest.raises(
        ContactError, match=r"edge \(\d+, \d+\) near .*self_contact = true"
    ) as error:
        bound(mesh, PairContact("upper.bottom", "all"))
    assert "(7 such edges)" in str(error.value)


def test_inner_edges_and_empty_groups_are_refused() -> None:
    mesh = rectangle(1.0, 1.0, 2, 2, kind="quad")
    inner = {"cut": np.array([[3, 4], [4, 5]]), "none": np.zeros((0, 2), dtype=int)}
    mesh = mesh.with_groups(edges=inner)
    for candidates, antagonists in (("cut", "top"), ("bottom", "cut")):
        with pytest.raises(ContactError, match="not on the boundary"):
            bound(mesh, PairContact(candidates, antagonists))
    with pytest.raises(ContactError, match="'none' is empty"):
        bound(mesh, PairContact("bottom", "none"))
    for wrong, message in (
        ({"passes": 3}, "passes: 3"),
        ({"initial": "removed"}, "did you mean"),
        ({"alert": -1.0}, "alert: -1"),
    ):
        with pytest.raises(ContactError, match=message):
            bound(mesh, PairContact("bottom", "top", **wrong).expand()[0])  # type: ignore[arg-type]


def test_pairs_within_needs_no_pair() -> None:
    far = pairs_within(np.zeros((3, 2)), np.full((1, 2, 2), 9.0), np.ones(3), np.zeros(1))
    assert far.start.tolist() == [0, 0, 0, 0]
