"""Meshes survive the way through files, and damaged files give one clear message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fecontact.errors import MeshError
from fecontact.mesh import Mesh, check_mesh, read_mesh, rectangle, write_mesh
from fecontact.mesh.geometry import pipes_kept


def mixed() -> Mesh:
    """Quads below triangles, with overlapping groups and one name used for two kinds."""
    lower = rectangle(3, 1, 3, 1, kind="quad")
    upper = rectangle(3, 1, 3, 1, origin=(0, 1), diagonal="alternate")
    both = Mesh.merge({"lower": lower, "upper": upper})
    joined = check_mesh(both, merge=True)
    middle = joined.edges("lower.top")
    return Mesh(
        joined.nodes / 3.0,
        joined.cells,
        element_groups={
            "lower": joined.elements("lower"),
            "upper": joined.elements("upper"),
            "all": np.arange(joined.n_elements),
            "first": np.array([0, 7]),
        },
        edge_groups={
            "base": joined.edges("lower.bottom"),
            "start": joined.edges("lower.bottom")[:1],
            "top": joined.edges("upper.top"),
            "middle": middle,
        },
        node_groups={"corners": np.array([0, 3]), "corner": np.array([0])},
    )


def same_groups(a: Mesh, b: Mesh) -> None:
    """Compare groups by place, since numbers may change on the way."""
    assert set(a.element_groups) == set(b.element_groups)
    assert set(a.edge_groups) == set(b.edge_groups)
    assert set(a.node_groups) == set(b.node_groups)

    def places(points: np.ndarray) -> np.ndarray:
        flat = np.round(points.reshape(len(points), -1), 12)
        return flat[np.lexsort(flat.T)]

    for name in a.element_groups:
        one, two = a.centroids()[a.elements(name)], b.centroids()[b.elements(name)]
        np.testing.assert_allclose(places(one), places(two), atol=1e-14)
    for name in a.edge_groups:
        one, two = a.nodes[a.edges(name)], b.nodes[b.edges(name)]
        np.testing.assert_allclose(places(one), places(two), atol=1e-14)
    for name in a.node_groups:
        one, two = a.nodes[a.node_numbers(name)], b.nodes[b.node_numbers(name)]
        np.testing.assert_allclose(places(one), places(two), atol=1e-14)


FORMATS = [
    ("m.msh", None),
    ("m.msh", "gmsh22"),
    ("m.vtu", None),
    ("m.vtk", None),
    ("m.xdmf", None),
    ("m.inp", None),
    ("m.med", None),
]


@pytest.mark.parametrize(("name", "file_format"), FORMATS)
def test_round_trip_keeps_cells_and_groups(
    name: str, file_format: str | None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mesh = mixed()
    path = write_mesh(mesh, tmp_path / "new" / name, file_format=file_format)
    back = read_mesh(path)
    assert back.n_nodes == mesh.n_nodes
    assert {k: len(b) for k, b in back.cells.items()} == {k: len(b) for k, b in mesh.cells.items()}
    np.testing.assert_allclose(np.sort(back.areas()), np.sort(mesh.areas()), rtol=1e-13)
    same_groups(mesh, back)
    assert back.notes == ()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("name", "file_format"), FORMATS)
def test_round_trip_without_groups_names_all_elements_body(
    name: str, file_format: str | None, tmp_path: Path
) -> None:
    path = write_mesh(mixed(), tmp_path / name, file_format=file_format, groups=False)
    back = read_mesh(path)
    assert list(back.element_groups) == ["body"]
    assert len(back.elements("body")) == back.n_elements
    assert not back.edge_groups
    assert not back.node_groups


def test_msh_4_1_keeps_one_name_for_elements_edges_and_nodes(tmp_path: Path) -> None:
    mesh = rectangle(1, 1, 2, 2).with_groups(edges={"body": [[0, 1]]}, nodes={"body": [4]})
    for name in ("m.msh", "m.vtu"):
        same_groups(mesh, read_mesh(write_mesh(mesh, tmp_path / name)))
    with pytest.raises(MeshError, match=r"'body' .*at once.*write version 4\.1"):
        write_mesh(mesh, tmp_path / "old.msh", file_format="gmsh22")


MSH_41 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
0 1 "corner"
1 1 "base side"
2 1 "plate"
$EndPhysicalNames
$Entities
2 1 1 0
1 0 0 0 1 1
2 5 5 0 0
1 0 0 0 1 0 0 2 -1 7 2 1 2
1 0 0 0 1 1 0 1 1 1 1
$EndEntities
$Nodes
2 5 10 90
0 2 0 1
90
5 5 2
2 1 1 4
10
40
30
20
0 0 2 0 0
1 0 2 0 0
1 1 2 0 0
0 1 2 0 0
$EndNodes
$Elements
3 4 1 4
0 1 15 1
1 10
1 1 1 1
2 40 10
2 1 2 2
3 10 40 30
4 10 30 20
$EndElements
"""


def test_msh_4_1_with_sparse_numbers_parametric_nodes_and_several_groups(tmp_path: Path) -> None:
    path = tmp_path / "m.msh"
    path.write_text(MSH_41)
    mesh = read_mesh(path)
    # the point of the geometry at (5, 5) is dropped, z = 2 too
    assert mesh.nodes.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert mesh.notes == ("1 nodes without any element dropped",)
    assert mesh.node_numbers("corner").tolist() == [0]
    assert mesh.elements("plate").tolist() == [0, 1]
    # the edge was from (1, 0) to (0, 0): turned, so that the body is on its left
    assert mesh.edges("base side").tolist() == [[0, 1]]
    assert mesh.edges("7").tolist() == [[0, 1]]
    with pytest.raises(MeshError, match=r"m\.msh.*node 0 without any element"):
        read_mesh(path, drop_unused=False)


@pytest.mark.parametrize("binary", [0, 1])
@pytest.mark.parametrize("version", [2.2, 4.1])
@pytest.mark.parametrize("save_all", [0, 1])
def test_files_written_by_gmsh(
    gmsh, binary: int, version: float, save_all: int, tmp_path: Path
) -> None:
    path = tmp_path / "g.msh"
    with pipes_kept():
        gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.4)
        gmsh.option.setNumber("Mesh.Binary", binary)
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.option.setNumber("Mesh.SaveAll", save_all)
        left = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
        right = gmsh.model.occ.addRectangle(1, 0, 0, 1, 1)
        gmsh.model.occ.fragment([(2, left)], [(2, right)])
        gmsh.model.occ.synchronize()
        gmsh.model.mesh.setRecombine(2, right)
        gmsh.model.addPhysicalGroup(2, [left], name="left")
        gmsh.model.addPhysicalGroup(2, [left, right], name="both")
        bottom = [tag for _, tag in gmsh.model.getEntitiesInBoundingBox(-1, -1, -1, 3, 1e-3, 1, 1)]
        gmsh.model.addPhysicalGroup(1, bottom, name="bottom")
        corner = [tag for _, tag in gmsh.model.getEntitiesInBoundingBox(2, 1, 0, 2, 1, 0, 0)]
        gmsh.model.addPhysicalGroup(0, corner, name="corner")
        gmsh.model.mesh.generate(2)
        gmsh.write(str(path))
    finally:
        gmsh.finalize()
    mesh = read_mesh(path)
    assert set(mesh.cells) >= {"triangle", "quad"}
    areas = mesh.areas()
    np.testing.assert_allclose(areas.sum(), 2.0)
    names = {"left": 1.0, "both": 2.0}
    if version == 2.2 and save_all:
        # gmsh then writes the names, but 0 as the group of every cell
        assert list(mesh.element_groups) == ["body"]
        for name in ("left", "both", "bottom", "corner"):
            assert any(f"names the group {name!r} but" in note for note in mesh.notes)
        return
    for name, area in names.items():
        np.testing.assert_allclose(areas[mesh.elements(name)].sum(), area)
    (chain,) = mesh.chains("bottom")
    np.testing.assert_allclose(mesh.nodes[chain[[0, -1]]], [[0, 0], [2, 0]], atol=1e-12)
    np.testing.assert_allclose(mesh.nodes[mesh.node_numbers("corner")], [[2, 1]])


def test_gmsh_reads_what_is_written(gmsh, tmp_path: Path) -> None:
    mesh = mixed()
    with pipes_kept():
        gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        for file_format in ("gmsh", "gmsh22"):
            gmsh.clear()
            gmsh.open(
                str(write_mesh(mesh, tmp_path / f"{file_format}.msh", file_format=file_format))
            )
            groups = gmsh.model.getPhysicalGroups()
            names = {(d, gmsh.model.getPhysicalName(d, t)) for d, t in groups}
            assert names == {
                *((2, name) for name in mesh.element_groups),
                *((1, name) for name in mesh.edge_groups),
                *((0, name) for name in mesh.node_groups),
            }
    finally:
        gmsh.finalize()


ABAQUS = """*HEADING
*NODE
1, 0.0, 0.0
2, 1.0, 0.0
3, 2.0, 0.0
4, 0.0, 1.0
5, 1.0, 1.0
6, 2.0, 1.0
*ELEMENT, TYPE=CPE4R, ELSET=body
10, 1, 2, 5, 4
*Element, type=CPE3
11, 2, 3, 5
*ELEMENT, ELSET=body, TYPE=CPE3H
12, 3, 6, 5
*NSET, NSET=base, GENERATE
1, 3, 1
*NSET, NSET=pair
4
*NSET, NSET=pair
6
*ELSET, ELSET=right
11
*ELSET, ELSET=right
12
*Element Output, directions=YES
"""


def test_abaqus_plane_strain_elements_and_sets_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "job.inp"
    path.write_text(ABAQUS)
    mesh = read_mesh(path, edges_from_nodes=["base"])
    areas = mesh.areas()
    np.testing.assert_allclose(areas[mesh.elements("body")].sum(), 1.5)
    np.testing.assert_allclose(areas[mesh.elements("right")].sum(), 1.0)
    assert set(mesh.element_groups) == {"body", "right"}
    assert mesh.node_numbers("pair").tolist() == [3, 5]
    assert mesh.edges("base").tolist() == [[0, 1], [1, 2]]
    with pytest.raises(MeshError, match="no boundary edge has both ends in the group 'pair'"):
        read_mesh(path, edges_from_nodes=["pair"])
    with pytest.raises(MeshError, match=r"job\.inp.*no group 'bse'; did you mean 'base'"):
        read_mesh(path, edges_from_nodes=["bse"])


def test_abaqus_names_with_blanks_come_back_whole(tmp_path: Path) -> None:
    mesh = rectangle(1.0, 1.0, 2, 1)
    mesh = mesh.with_groups(elements={"the first": [0]}, nodes={"one corner": [2]})
    path = write_mesh(mesh, tmp_path / "m.inp")
    again = read_mesh(path)
    assert again.elements("the first").tolist() == [0]
    assert again.node_numbers("one corner").tolist() == [2]
    for name in ("a,b", "a=b", 'a"b', "a@b"):
        with pytest.raises(MeshError, match="not written to Abaqus files; give it another name"):
            write_mesh(mesh.with_groups(nodes={name: [0]}), path)


def test_gmsh_version_4_0_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "old.msh"
    path.write_text("$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n0 0 0 0\n$EndEntities\n")
    with pytest.raises(MeshError, match=r"version 4; versions 2\.2 and 4\.1 are read: save it"):
        read_mesh(path)


def test_fields_go_to_vtu_and_come_back(tmp_path: Path) -> None:
    import meshio

    mesh = mixed()
    u = np.arange(2.0 * mesh.n_nodes).reshape(-1, 2)
    s = np.arange(4.0 * mesh.n_elements).reshape(-1, 4)
    path = write_mesh(
        mesh, tmp_path / "r.vtu", point_data={"u": u}, cell_data={"s": s, "on": s[:, 0] > 3}
    )
    read = meshio.read(path)
    np.testing.assert_array_equal(read.point_data["u"], np.column_stack([u, 0 * u[:, 0]]))
    np.testing.assert_array_equal(np.concatenate(read.cell_data["s"][:2]), s)
    assert np.isnan(read.cell_data["s"][2]).all()
    same_groups(mesh, read_mesh(path))
    with pytest.raises(MeshError, match=r"field 'u' has shape \(3,\), expected 12 rows"):
        write_mesh(mesh, path, point_data={"u": np.zeros(3)})
    with pytest.raises(MeshError, match=r"fields are not written to gmsh files; write a \.vtu"):
        write_mesh(mesh, tmp_path / "r.msh", point_data={"u": u})


def test_unknown_extensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match=r"extension '\.abc'; choices: .*\.vtu"):
        write_mesh(mixed(), tmp_path / "m.abc")
    (tmp_path / "m.abc").write_text("x")
    with pytest.raises(MeshError, match=r"m\.abc' cannot be read: Could not deduce file format"):
        read_mesh(tmp_path / "m.abc")
    with pytest.raises(MeshError, match=r"nothing\.msh' does not exist"):
        read_mesh(tmp_path / "nothing.msh")
    with pytest.raises(MeshError, match="is a folder"):
        read_mesh(tmp_path)


@pytest.mark.parametrize(("name", "file_format"), FORMATS)
@pytest.mark.parametrize("damage", ["empty", "text", "cut"])
def test_damaged_files_name_themselves_and_print_nothing(
    name: str,
    file_format: str | None,
    damage: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = write_mesh(mixed(), tmp_path / name, file_format=file_format)
    data = path.read_bytes()
    # xdmf has its arrays in a file beside it
    cut = data[: len(data) // 3]
    path.write_bytes({"empty": b"", "text": b"not a mesh\n" * 9, "cut": cut}[damage])
    with pytest.raises(MeshError, match="mesh file '.*" + name.replace(".", r"\.")) as caught:
        read_mesh(path)
    assert len(str(caught.value)) > len(str(path)) + 25
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("4 10 30 20", "4 10 30 77", "names node 77, which the file does not hold"),
        ("4 10 30 20", "4 10 30 20000", "names node 20000, which the file does not hold"),
        ("$EndElements", "", r"section \$Elements is missing or not closed"),
        ("4 10 30 20\n", "", r"section \$Elements ends too early"),
        ("0 1 2 0 0", "0 1 3 0 0", "not plane: z goes from 2 to 3"),
        ("2 1 2 2", "2 1 9 2", r"ends too early"),
        ("1 1 2 0 0", "1 nan 2 0 0", "node 3: coordinates are not finite"),
        ("3 10 40 30", "3 10 40 40", "triangle 0 without area"),
    ],
)
def test_errors_inside_a_file_are_found(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.msh"
    assert old in MSH_41
    path.write_text(MSH_41.replace(old, new))
    with pytest.raises(MeshError, match=r"m\.msh.*" + message):
        read_mesh(path)


def test_cells_of_other_kinds_are_refused(tmp_path: Path) -> None:
    import meshio

    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0, 0], [0, 0.5, 0]])
    for kind, corners, message in (
        ("triangle6", [[0, 1, 2, 4, 3, 5]], r"quadratic.*triangle6.*order 1"),
        ("tetra", [[0, 1, 2, 3]], "kind tetra; only plane meshes"),
    ):
        meshio.Mesh(points, [(kind, np.array(corners))]).write(tmp_path / "m.vtu")
        with pytest.raises(MeshError, match=message):
            read_mesh(tmp_path / "m.vtu")


def test_a_reader_that_prints_and_exits_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import meshio

    def rude(*_: object, **__: object) -> None:
        print("the third line is wrong")
        raise SystemExit(1)

    path = write_mesh(mixed(), tmp_path / "m.vtu")
    monkeypatch.setattr(meshio, "read", rude)
    with pytest.raises(MeshError, match=r"m\.vtu' cannot be read: the third line is wrong"):
        read_mesh(path)
    assert capfd.readouterr() == ("", "")
