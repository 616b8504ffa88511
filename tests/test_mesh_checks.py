"""Meshes that are not sound are put right or refused with the numbers at fault."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fecontact.errors import MeshError
from fecontact.mesh import Mesh, check_mesh, rectangle

SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])


def test_inverted_elements_are_turned_and_noted_or_refused() -> None:
    sound = rectangle(2, 1, 2, 1)
    triangles = sound.cells["triangle"].copy()
    triangles[[1, 2]] = triangles[[1, 2], ::-1]
    mesh = Mesh(sound.nodes, {"triangle": triangles}, edge_groups=sound.edge_groups)
    turned = check_mesh(mesh)
    np.testing.assert_allclose(turned.areas(), sound.areas())
    assert turned.notes == ("2 elements (1, 2) turned",)
    np.testing.assert_array_equal(turned.edges("top"), sound.edges("top"))
    with pytest.raises(MeshError, match=r"2 elements \(1, 2\) inverted.*nodes.*near.*turn"):
        check_mesh(mesh, turn=False)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.booleans(), min_size=16, max_size=16), st.sampled_from(["triangle", "quad"]))
def test_turning_restores_any_mixture(flags: list[bool], kind: str) -> None:
    sound = rectangle(2, 2, *((4, 2) if kind == "triangle" else (4, 4)), kind=kind)  # type: ignore[arg-type]
    block = sound.cells[kind].copy()
    block[flags] = block[flags, ::-1]
    turned = check_mesh(Mesh(sound.nodes, {kind: block}))
    np.testing.assert_allclose(turned.areas(), sound.areas())
    assert len(turned.boundary_edges()) == len(sound.boundary_edges())


@pytest.mark.parametrize(
    ("nodes", "corners", "message"),
    [
        (SQUARE, [0, 2, 1, 3], "quad 0 with sides that cross.*nodes 0, 2, 1, 3"),
        ([[0, 0], [1, 0], [0.2, 0.2], [0, 1]], [0, 1, 2, 3], "quad 0 not convex"),
        ([[0, 0], [1, 0], [0.2, 0.2], [0, 1]], [3, 2, 1, 0], "quad 0 not convex"),
        ([[0, 0], [1, 0], [0.5, 0.5], [0, 1]], [0, 1, 2, 3], "quad 0 with three corners in line"),
        ([[0, 0], [1, 0], [2, 0], [3, 0]], [0, 1, 2, 3], "quad 0 collapsed"),
    ],
)
def test_quads_that_no_mapping_can_use_are_refused(
    nodes: list, corners: list[int], message: str
) -> None:
    with pytest.raises(MeshError, match=message):
        check_mesh(Mesh(np.array(nodes, dtype=float), {"quad": np.array([corners])}))


def test_a_quad_with_a_repeated_corner_is_refused() -> None:
    mesh = Mesh(SQUARE[:3], {"quad": np.array([[0, 1, 2, 2]])})
    with pytest.raises(MeshError, match="two corners at one place"):
        check_mesh(mesh)


def test_areas_of_zero_are_refused_at_any_scale() -> None:
    nodes = np.array([[0, 0], [1, 0], [2, 0], [0, 1]])
    cells = {"triangle": np.array([[0, 1, 3], [0, 2, 1]])}
    for scale in (1e-9, 1.0, 1e9):
        with pytest.raises(MeshError, match=r"triangle 1 without area.*nodes 0, 2, 1"):
            check_mesh(Mesh(nodes * scale, cells))
        assert check_mesh(rectangle(scale, scale, 2, 2, kind="quad")).n_elements == 4


def test_unconnected_nodes_are_refused_or_dropped_with_the_groups_renumbered() -> None:
    mesh = Mesh(
        np.array([[9.0, 9], [0, 0], [1, 0], [8, 8], [0, 1]]),
        {"triangle": np.array([[1, 2, 4]])},
        edge_groups={"base": np.array([[1, 2]])},
        node_groups={"apex": np.array([4]), "centre": np.array([3]), "mixed": np.array([0, 1])},
    )
    with pytest.raises(MeshError, match=r"2 nodes \(0, 3\) without any element.*\(9, 9\).*drop"):
        check_mesh(mesh)
    clean = check_mesh(mesh, drop_unused=True)
    assert clean.n_nodes == 3
    assert clean.edges("base").tolist() == [[0, 1]]
    np.testing.assert_allclose(clean.nodes[clean.node_numbers("apex")], [[0, 1]])
    assert clean.node_numbers("mixed").tolist() == [0]
    assert "centre" not in clean.node_groups
    assert any("2 nodes without any element dropped" in note for note in clean.notes)
    assert any("empty node group 'centre'" in note for note in clean.notes)


def cut() -> Mesh:
    """Four quads around a centre, cut from the left to the centre: two nodes at (0, 1)."""
    mesh = rectangle(2, 2, 2, 2, kind="quad")
    quads = mesh.cells["quad"].copy()
    upper = quads[2]
    upper[upper == 3] = 9
    nodes = np.concatenate([mesh.nodes, mesh.nodes[3:4]])
    return Mesh(nodes, {"quad": quads}, edge_groups={"lip": np.array([[9, 4]])})


def test_duplicated_nodes_are_refused_allowed_or_merged() -> None:
    mesh = cut()
    with pytest.raises(MeshError, match=r"2 nodes \(3, 9\).*same place.*merge.*allow_duplicates"):
        check_mesh(mesh)
    assert len(check_mesh(mesh, allow_duplicates=True).boundary_edges()) == 10
    merged = check_mesh(mesh, merge=True)
    assert merged.n_nodes == 9
    assert len(merged.boundary_edges()) == 8
    assert sorted(merged.edges("lip")[0]) == [3, 4]
    assert merged.notes == ("1 nodes merged with others at the same place",)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_merging_sews_a_mesh_of_separate_elements(seed: int) -> None:
    random = np.random.default_rng(seed)
    whole = rectangle(3, 2, 3, 2, diagonal="crossed")
    triangles = whole.cells["triangle"]
    # every triangle gets corners of its own, a little off, in random order
    order = random.permutation(triangles.size)
    nodes = np.empty((triangles.size, 2))
    nodes[order] = whole.nodes[triangles.ravel()] + random.uniform(-1e-10, 1e-10, (len(order), 2))
    torn = Mesh(nodes, {"triangle": order.reshape(-1, 3)})
    assert check_mesh(torn).components().max() == len(triangles) - 1
    sewn = check_mesh(torn, merge=True)
    assert sewn.n_nodes == whole.n_nodes
    assert sewn.components().max() == 0
    np.testing.assert_allclose(sewn.areas().sum(), 6.0)


def test_elements_that_overlap_are_refused() -> None:
    twice = Mesh(SQUARE, {"triangle": np.array([[0, 1, 2], [0, 2, 3], [2, 0, 1]])})
    with pytest.raises(MeshError, match=r"overlap along 3 sides: 2 elements \(0, 2\)"):
        check_mesh(twice)
    both = Mesh(SQUARE, {"triangle": np.array([[0, 1, 2]]), "quad": np.array([[0, 1, 2, 3]])})
    with pytest.raises(MeshError, match=r"2 elements \(0, 1\) lie on the same side"):
        check_mesh(both)


def test_edges_that_are_no_sides_are_refused() -> None:
    mesh = Mesh(SQUARE, {"quad": np.array([[0, 1, 2, 3]])}, edge_groups={"d": np.array([[0, 2]])})
    with pytest.raises(MeshError, match=r"edge group 'd': edge 0 not the side .*node 0 to node 2"):
        check_mesh(mesh)


def test_boundary_groups_are_turned_and_freed_of_repetition_inner_ones_left() -> None:
    sound = rectangle(2, 1, 2, 1, kind="quad")
    groups = {"base": np.array([[1, 0], [2, 1], [0, 1]]), "cut": np.array([[4, 1]])}
    checked = check_mesh(Mesh(sound.nodes, sound.cells, edge_groups=groups))
    assert checked.edges("base").tolist() == [[0, 1], [1, 2]]
    assert checked.edges("cut").tolist() == [[4, 1]]


def test_a_million_cells_are_built_and_checked_in_seconds() -> None:
    start = time.perf_counter()
    mesh = rectangle(1.0, 1.0, 1000, 1000)
    assert mesh.n_elements == 2_000_000
    # about 0.5 s alone; the bound leaves room for a loaded machine
    assert time.perf_counter() - start < 10.0
