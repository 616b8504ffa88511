"""The geometry of the fault in two layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fecontact.errors import MeshError
from fecontact.mesh import Mesh, mesh_geometry

pytest.importorskip("gmsh", exc_type=ImportError)
GEOMETRY = Path(__file__).parent.parent / "meshes" / "fault_in_layers.py"


def section(**parameters: float) -> Mesh:
    return mesh_geometry(GEOMETRY, allow_duplicates=True, **parameters)


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    return section()


def test_density_is_that_of_the_paper(mesh: Mesh) -> None:
    # printed: 1031 nodes and 1890 triangles, 25 candidates on each edge
    assert mesh.n_nodes == pytest.approx(1031, rel=0.03)
    assert mesh.n_elements == pytest.approx(1890, rel=0.03)
    assert set(mesh.cells) == {"triangle"}
    assert len(mesh.node_numbers("fault_left")) == len(mesh.node_numbers("fault_right")) == 25


def test_groups_cover_the_section(mesh: Mesh) -> None:
    areas = mesh.areas()
    assert areas.sum() == pytest.approx(20e3 * 10e3)
    for pair in (("upper", "lower"), ("left_block", "right_block")):
        numbers = np.concatenate([mesh.elements(name) for name in pair])
        assert len(np.unique(numbers)) == len(numbers) == mesh.n_elements
    assert areas[mesh.elements("upper")].sum() == pytest.approx(20e3 * 5e3)
    for name, axis, value in (
        ("left", 0, 0.0),
        ("right", 0, 20e3),
        ("bottom", 1, -10e3),
        ("surface", 1, 0.0),
    ):
        np.testing.assert_allclose(mesh.nodes[mesh.node_numbers(name), axis], value, atol=1e-6)


def test_the_cut_has_nodes_of_its_own_on_each_side(mesh: Mesh) -> None:
    left, right = mesh.node_numbers("fault_left"), mesh.node_numbers("fault_right")
    assert not set(left) & set(right)
    for nodes in (left, right):
        x, y = mesh.nodes[nodes].T
        assert (y.min(), y.max()) == pytest.approx((-10e3, 0.0))
        np.testing.assert_allclose(x - 10e3, (y + 5e3) / np.tan(np.radians(60.0)), atol=1e-6)

    def by_depth(nodes: np.ndarray) -> np.ndarray:
        return mesh.nodes[nodes][np.argsort(mesh.nodes[nodes, 1])]

    np.testing.assert_allclose(by_depth(left), by_depth(right), atol=1e-6)
    labels = mesh.components()
    assert len(np.unique(labels)) == 2
    assert len(np.unique(labels[left])) == len(np.unique(labels[right])) == 1


def test_elements_stay_within_their_layer(mesh: Mesh) -> None:
    corners = mesh.nodes[mesh.cells["triangle"], 1]
    assert corners[mesh.elements("upper")].min() >= -5e3 - 1e-6
    assert corners[mesh.elements("lower")].max() <= -5e3 + 1e-6


@pytest.mark.parametrize(("dip", "layer_depth"), [(45.0, 3e3), (90.0, 7e3), (120.0, 5e3)])
def test_dip_and_layer_are_parameters(dip: float, layer_depth: float) -> None:
    other = section(dip=dip, layer_depth=layer_depth)
    x, y = other.nodes[other.node_numbers("fault_left")].T
    slope = np.polyfit(y, x, 1)[0]
    assert np.degrees(np.arctan2(1.0, slope)) == pytest.approx(dip, abs=1e-6)
    areas = other.areas()
    assert areas[other.elements("upper")].sum() == pytest.approx(20e3 * layer_depth)


def test_one_number_refines(mesh: Mesh) -> None:
    fine = section(refine=2)
    assert len(fine.node_numbers("fault_left")) == 49
    assert fine.n_elements == pytest.approx(4 * mesh.n_elements, rel=0.05)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dip": 20.0}, "it must meet surface and bottom"),
        ({"position": 0.05}, "it must meet surface and bottom"),
        ({"layer_depth": 12e3}, "layer_depth = 12000 must lie between"),
        ({"dip": 5.0}, "dip = 5 degrees"),
    ],
)
def test_a_fault_that_reaches_no_edge_is_refused(
    parameters: dict[str, float], message: str
) -> None:
    with pytest.raises(MeshError, match=message):
        section(**parameters)
