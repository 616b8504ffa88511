"""The frozen mesh: groups, boundary, polylines, merging, measures."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fecontact.errors import MeshError
from fecontact.mesh import Mesh, check_mesh, graded, quality, rectangle


def mixed() -> Mesh:
    """A square quad with a triangle on its right side."""
    return Mesh(
        np.array([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0.5]]),
        {"quad": np.array([[0, 1, 2, 3]]), "triangle": np.array([[1, 4, 2]])},
        element_groups={"square": np.array([1]), "tip": np.array([0])},
        edge_groups={"bottom": np.array([[0, 1]])},
        node_groups={"apex": np.array([4])},
    )


def ring(n: int = 12) -> Mesh:
    """Quads around a hole: the inner boundary runs clockwise, the outer one counter-clockwise."""
    angle = 2 * np.pi * np.arange(n) / n
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    i = np.arange(n)
    j = (i + 1) % n
    quads = np.stack([i, i + n, j + n, j], axis=1)
    return check_mesh(Mesh(np.concatenate([circle, 2 * circle]), {"quad": quads}), turn=False)


def around(mesh: Mesh, chain: np.ndarray) -> float:
    """Signed area inside a closed polyline."""
    x, y = mesh.nodes[chain].T
    return 0.5 * float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def test_triangles_are_numbered_before_quads_whatever_the_order_given() -> None:
    mesh = mixed()
    assert list(mesh.cells) == ["triangle", "quad"]
    assert mesh.element_nodes(0).tolist() == [1, 4, 2]
    assert mesh.element_nodes(1).tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(mesh.areas(), [0.5, 1.0])
    np.testing.assert_allclose(mesh.centroids(), [[4 / 3, 0.5], [0.5, 0.5]])


def test_centroid_of_a_trapezium_is_its_centre_of_gravity() -> None:
    mesh = Mesh(np.array([[0, 0], [3, 0], [1, 1], [0, 1]]), {"quad": np.array([[0, 1, 2, 3]])})
    # parallel sides a = 3 and b = 1, height 1: y = (a + 2 b) / (3 (a + b))
    np.testing.assert_allclose(mesh.centroids()[0, 1], 5 / 12)
    np.testing.assert_allclose(mesh.areas(), 2.0)


def test_arrays_cannot_be_changed_and_are_copies() -> None:
    nodes = np.array([[0.0, 0], [1, 0], [0, 1]])
    mesh = Mesh(nodes, {"triangle": np.array([[0, 1, 2]])})
    nodes[0] = 5.0
    assert mesh.nodes[0].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        mesh.nodes[0] = 1.0
    with pytest.raises(TypeError):
        mesh.cells["quad"] = np.array([[0]])  # type: ignore[index]
    with pytest.raises(AttributeError):
        mesh.nodes = nodes  # type: ignore[misc]


def test_pickle_and_deepcopy_keep_everything() -> None:
    mesh = mixed()
    for other in (pickle.loads(pickle.dumps(mesh)), copy.deepcopy(mesh)):
        assert repr(other) == repr(mesh)
        np.testing.assert_array_equal(other.edges("bottom"), mesh.edges("bottom"))


def test_repr_tells_counts_box_and_groups() -> None:
    text = repr(mixed())
    for part in ("5 nodes", "1 triangles", "1 quads", "x from 0 to 2", "square (1)", "apex (1)"):
        assert part in text


def test_node_numbers_look_in_nodes_then_edges_then_elements() -> None:
    mesh = mixed()
    assert mesh.node_numbers("apex").tolist() == [4]
    assert mesh.node_numbers("bottom").tolist() == [0, 1]
    assert mesh.node_numbers("tip").tolist() == [1, 2, 4]
    shadowed = mesh.with_groups(nodes={"tip": [3]})
    assert shadowed.node_numbers("tip").tolist() == [3]


def test_a_missing_group_is_named_with_what_there_is() -> None:
    mesh = rectangle(1, 1, 2, 2)
    with pytest.raises(MeshError, match=r"no edge group 'botom'; did you mean 'bottom'\?.*right"):
        mesh.edges("botom")
    with pytest.raises(MeshError, match=r"no element group 'steel'; element groups: body"):
        mesh.elements("steel")
    with pytest.raises(MeshError, match=r"no group 'top_lefft'; did you mean 'top_left'\?"):
        mesh.node_numbers("top_lefft")
    with pytest.raises(MeshError, match="no edge group 'body'"):
        mesh.chains("body")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 0], [1, 0], [0, np.nan]], {"triangle": [[0, 1, 2]]}), "node 2: .*not finite"),
        (([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 3]]}), r"row 0.*\[0, 1, 3\].*0 to 2"),
        (([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, -1]]}), "do not exist"),
        (([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1]]}), r"shape \(1, 2\), expected \(n, 3\)"),
        (([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 1.5]]}), "whole numbers"),
        (([[0, 0], [1, 0], [0, 1]], {"tringle": [[0, 1, 2]]}), "did you mean 'triangle'"),
        (([[0, 0, 0], [1, 0, 0]], {"triangle": [[0, 1, 1]]}), r"expected \(n_nodes, 2\)"),
        (([[0, 0], [1, 0]], {}), "no elements"),
        (([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}, {"a": [1]}), "element group 'a'"),
    ],
)
def test_the_constructor_refuses_what_is_no_mesh(arguments: tuple, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        Mesh(*arguments)


def test_boundary_has_the_body_on_its_left() -> None:
    mesh = ring()
    boundary = mesh.boundary_edges()
    assert len(boundary) == 24
    chains = mesh.with_groups(edges={"all": boundary}).chains("all")
    assert len(chains) == 2
    area = sorted(around(mesh, chain) for chain in chains)
    np.testing.assert_allclose(sum(area), mesh.areas().sum())
    assert area[0] < 0 < area[1]


def test_with_groups_turns_boundary_edges_and_leaves_inner_ones() -> None:
    mesh = rectangle(2, 1, 2, 1, kind="quad")
    changed = mesh.with_groups(edges={"base": [[2, 1], [1, 0], [0, 1]], "cut": [[4, 1]]})
    assert changed.edges("base").tolist() == [[1, 2], [0, 1]]
    assert changed.edges("cut").tolist() == [[4, 1]]
    assert "base" not in mesh.edge_groups


def test_chains_open_bent_several_and_closed() -> None:
    mesh = rectangle(3, 2, 3, 2, kind="quad")
    bent = np.concatenate([mesh.edges("right"), mesh.edges("bottom")[::-1]])
    two = np.concatenate([mesh.edges("top"), mesh.edges("bottom")])
    mesh = mesh.with_groups(edges={"bent": bent, "two": two, "all": mesh.boundary_edges()})
    (line,) = mesh.chains("bent")
    assert line.tolist() == [0, 1, 2, 3, 7, 11]
    assert [c.tolist() for c in mesh.chains("two")] == [[11, 10, 9, 8], [0, 1, 2, 3]]
    (closed,) = mesh.chains("all")
    assert closed[0] == closed[-1]
    assert len(closed) == 11
    np.testing.assert_allclose(around(mesh, closed), 6.0)


def test_chains_refuse_branches_turns_and_repetitions() -> None:
    mesh = rectangle(2, 2, 2, 2, kind="quad")
    nodes, cells = mesh.nodes, mesh.cells
    lines = {
        "cross": [[3, 4], [4, 5], [1, 4]],
        "facing": [[3, 4], [5, 4]],
        "twice": [[3, 4], [4, 3]],
    }
    groups = {name: np.array(pairs) for name, pairs in lines.items()}
    mesh = Mesh(nodes, cells, edge_groups=groups)
    with pytest.raises(MeshError, match="edge group 'cross' branches at node 4"):
        mesh.chains("cross")
    with pytest.raises(MeshError, match="edge group 'facing' changes direction at node 4"):
        mesh.chains("facing")
    with pytest.raises(MeshError, match="'twice' holds the same edge twice"):
        mesh.chains("twice")


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(14)))
def test_chains_do_not_depend_on_the_order_of_the_edges(order: list[int]) -> None:
    mesh = rectangle(4, 3, 4, 3)
    boundary = mesh.boundary_edges()[order]
    (chain,) = mesh.with_groups(edges={"all": boundary}).chains("all")
    np.testing.assert_allclose(around(mesh, chain), 12.0)


def test_components_and_merge_keep_bodies_apart() -> None:
    upper = rectangle(2, 1, 2, 1, origin=(0, 1))
    lower = rectangle(2, 1, 2, 1, kind="quad")
    both = Mesh.merge({"lower": lower, "upper": upper})
    assert both.n_nodes == 12
    assert both.components().tolist() == [0] * 6 + [1] * 6
    # triangles come first although the quads were given first
    assert both.elements("upper").tolist() == [0, 1, 2, 3]
    assert both.elements("lower").tolist() == [4, 5]
    assert both.elements("lower.body").tolist() == [4, 5]
    for name, part in (("lower", lower), ("upper", upper)):
        np.testing.assert_allclose(both.areas()[both.elements(name)], part.areas())
        for side in ("top", "left"):
            np.testing.assert_allclose(
                both.nodes[both.edges(f"{name}.{side}")], part.nodes[part.edges(side)]
            )
    np.testing.assert_allclose(both.nodes[both.node_numbers("upper.top_left")], [[0, 2]])
    # the bodies touch along three nodes: allowed, and noted
    assert "3 nodes coincide" in check_mesh(both).notes[-1]


def test_moved_takes_fields_vectors_and_translations() -> None:
    mesh = rectangle(1, 1, 1, 1)
    field = np.arange(8.0).reshape(4, 2)
    np.testing.assert_allclose(mesh.moved(field).nodes, mesh.nodes + field)
    np.testing.assert_allclose(mesh.moved(field.ravel()).nodes, mesh.nodes + field)
    np.testing.assert_allclose(mesh.moved([1, 2]).nodes, mesh.nodes + np.array([1, 2]))
    assert mesh.moved([1, 2]).edge_groups.keys() == mesh.edge_groups.keys()
    with pytest.raises(MeshError, match=r"shape \(3,\), expected \(4, 2\)"):
        mesh.moved(np.zeros(3))


@pytest.mark.parametrize("kind", ["triangle", "quad"])
@pytest.mark.parametrize("diagonal", ["left", "right", "alternate", "crossed"])
def test_rectangle_fills_its_box_and_sides_run_around_it(kind: str, diagonal: str) -> None:
    mesh = rectangle(3, 2, 5, 4, origin=(1, -1), kind=kind, diagonal=diagonal, grading_x=3)  # type: ignore[arg-type]
    np.testing.assert_allclose(mesh.areas().sum(), 6.0)
    assert (mesh.areas() > 0).all()
    np.testing.assert_allclose(
        mesh.areas() @ mesh.centroids(), 6 * np.array([2.5, 0.0]), atol=1e-14
    )
    np.testing.assert_allclose(mesh.nodes[4 * 6 + 5], [4, 1])
    normals = {"bottom": (0, -1), "right": (1, 0), "top": (0, 1), "left": (-1, 0)}
    for name, normal in normals.items():
        tangent = np.diff(mesh.nodes[mesh.edges(name)], axis=1)[:, 0]
        tangent /= np.linalg.norm(tangent, axis=1)[:, None]
        outward = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
        np.testing.assert_allclose(outward, np.tile(normal, (len(outward), 1)), atol=1e-14)
        assert len(mesh.chains(name)) == 1
    np.testing.assert_allclose(mesh.nodes[mesh.node_numbers("top_left")], [[1, 1]])
    assert len(mesh.boundary_edges()) == 18
    assert len(mesh.elements("body")) == mesh.n_elements


def test_diagonals_are_where_they_are_said_to_be() -> None:
    def inner(diagonal: str) -> set[tuple[int, int]]:
        mesh = rectangle(2, 1, 2, 1, diagonal=diagonal)  # type: ignore[arg-type]
        sides = {tuple(sorted((t[a], t[a - 1]))) for t in mesh.cells["triangle"] for a in range(3)}
        return {(int(a), int(b)) for a, b in sides}

    # lower row 0 1 2, upper row 3 4 5
    assert {(1, 3), (2, 4)} <= inner("left")
    assert {(0, 4), (1, 5)} <= inner("right")
    assert {(0, 4), (2, 4)} <= inner("alternate")
    assert {(0, 6), (1, 6), (4, 6), (3, 6), (1, 7), (2, 7), (5, 7), (4, 7)} <= inner("crossed")


def test_grading_is_a_geometric_progression_with_the_given_end_ratio() -> None:
    sizes = np.diff(graded(2.0, 6, 5.0))
    np.testing.assert_allclose(sizes[-1] / sizes[0], 5.0)
    np.testing.assert_allclose(sizes[1:] / sizes[:-1], 5 ** (1 / 5))
    np.testing.assert_allclose(sizes.sum(), 2.0)
    mesh = rectangle(x=[0, 1, 3], height=2.0, ny=2, grading_y=0.5, kind="quad")
    np.testing.assert_allclose(np.unique(mesh.nodes[:, 0]), [0, 1, 3])
    np.testing.assert_allclose(np.unique(mesh.nodes[:, 1]), [0, 4 / 3, 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "quads"}, "kind='quads' is unknown; did you mean 'quad'"),
        ({"diagonal": "up"}, "diagonal='up' is unknown; choices: alternate"),
        ({"width": -1.0}, "width=-1.0: expected a positive"),
        ({"nx": 0}, "nx=0: expected a whole number"),
        ({"nx": 1.5}, "nx=1.5: expected a whole number"),
        ({"grading_y": 0}, "grading_y=0: expected a positive"),
        ({"x": [0, 1]}, "x= replaces width, nx and grading_x"),
        ({"width": None, "nx": None, "x": [0, 1, 1]}, "two increasing"),
        ({"height": None}, "give height and ny, or y="),
    ],
)
def test_rectangle_refuses_senseless_arguments(arguments: dict, message: str) -> None:
    with pytest.raises(MeshError, match=message):
        rectangle(**{"width": 1.0, "height": 1.0, "nx": 2, "ny": 2, **arguments})


def test_quality_of_known_shapes() -> None:
    height = np.sqrt(3) / 2
    mesh = Mesh(
        np.array([[0, 0], [1, 0], [0.5, height], [2, 0], [6, 0], [6, 1], [2, 1]]),
        {"triangle": np.array([[0, 1, 2], [0, 3, 2]]), "quad": np.array([[3, 4, 5, 6]])},
    )
    shape = quality(mesh)
    np.testing.assert_allclose(shape.min_angle, [60, 30, 90])
    np.testing.assert_allclose(shape.max_angle, [60, 90, 90])
    np.testing.assert_allclose(shape.aspect, [1, 2, 4])
    np.testing.assert_allclose(shape.shape, [1, 4 * np.sqrt(3) * height / 8, 8 / 17])
    assert "angles from 30.0 to 90.0" in repr(shape)
