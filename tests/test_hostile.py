"""Input from strangers and by mistake: a message comes out, and nothing else happens."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fecontact.case import build, read_case
from fecontact.case.files import Files
from fecontact.case.plausibility import doubts
from fecontact.cli import main
from fecontact.errors import CaseError, ExpressionError, InputError, MeshError
from fecontact.expressions import Expression
from fecontact.mesh import mesh_geometry, read_mesh
from fecontact.output.states import read_state
from tests.fuzz import fuzz
from tests.small_cases import CASES, block

# spoiled files by the hundred


def test_spoiled_cases_give_messages(tmp_path: Path) -> None:
    tally = fuzz("cases", 150, seed=1, folder=tmp_path)
    assert tally.wrong == []
    assert tally.codes.total() == 150
    assert tally.codes["exit 2"] > 75
    assert tally.codes["exit 0"] > 5


def test_spoiled_meshes_give_messages(tmp_path: Path) -> None:
    tally = fuzz("meshes", 120, seed=1, folder=tmp_path)
    assert tally.wrong == []
    assert tally.codes.total() == 120


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("cases", 2000), ("meshes", 500)])
def test_spoiled_files_by_the_thousand(kind: str, count: int, tmp_path: Path) -> None:
    tally = fuzz(kind, count, folder=tmp_path)
    assert tally.wrong == []
    assert tally.slowest < 10.0
    print(tally)


# files that a case names

CASE = """
[mesh]
{mesh}
[materials.m]
E = 1e9
nu = 0.3
"""


def written(folder: Path, mesh: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "case.toml"
    path.write_text(CASE.format(mesh=mesh))
    return path


SQUARE = "Point(1) = {0,0,0}; Point(2) = {1,0,0}; Point(3) = {0,1,0};\n"


def test_files_stay_beside_the_case(tmp_path: Path) -> None:
    for name in ("secret.msh", "cases/inside.msh", "cases/below/there.msh", "meshes/shared.msh"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("no mesh")
    (tmp_path / "cases/link.msh").symlink_to(tmp_path / "secret.msh")
    files = Files(tmp_path / "cases")
    for name in ("inside.msh", "below/there.msh", "../meshes/shared.msh", "../cases/inside.msh"):
        assert files.find(name).is_file()
    absolute = str(tmp_path / "secret.msh")
    for name in ("../secret.msh", absolute, "link.msh", "/etc/passwd", "below/../../secret.msh"):
        with pytest.raises(CaseError, match="outside the folder"):
            files.find(name)
        assert Files(tmp_path / "cases", trusted=True).find(name).is_file()
        assert Files(tmp_path / "cases", frozenset([name])).find(name).is_file()
    with pytest.raises(CaseError):
        files.find("a\0b")


def test_the_user_may_point_elsewhere(tmp_path: Path) -> None:
    from fecontact.mesh import rectangle, write_mesh

    mesh = write_mesh(rectangle(1.0, 1.0, 2, 2), tmp_path / "elsewhere" / "m.vtu")
    case = written(tmp_path / "a" / "b", f'file = "{mesh}"')
    with pytest.raises(CaseError, match="--trust"):
        build(read_case(case))
    assert build(read_case(case, trust=True)).model.mesh.n_nodes == 9
    other = written(tmp_path / "a" / "c", 'file = "none.msh"')
    assert build(read_case(other, [f"mesh.file={mesh}"])).model.mesh.n_nodes == 9
    varied = read_case(case, trust=True).with_values({"model.thickness": 2.0})
    assert build(varied).model.mesh.n_nodes == 9
    assert main(["check", str(case)]) == 2


@pytest.mark.parametrize(
    ("command", "refused"),
    [
        ('SystemCall "touch spoiled";', True),
        ('NonBlockingSystemCall  "touch spoiled";', True),
        ('Include "/etc/passwd";', True),
        ('Merge "other.geo";', True),
        ('Save "spoiled";', True),
        ('Printf("x") > "spoiled";', True),
        ('Printf("x", 1) >> "spoiled";', True),
        ('Print "spoiled.png";', True),
        ('/* " */ SystemCall "touch spoiled"; // "', True),
        ('// SystemCall "no"', False),
        ('Printf("SystemCall");', False),
        ("Mesh.SaveAll = 1;", False),
    ],
)
def test_gmsh_scripts_run_no_commands(
    tmp_path: Path, command: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.geo").write_text(SQUARE + command + "\n")
    if refused:
        with pytest.raises(CaseError, match="Gmsh script with the command"):
            Files(tmp_path).find("a.geo")
        Files(tmp_path, trusted=True).find("a.geo")
        case = written(tmp_path, 'geometry = "a.geo"')
        assert main(["check", str(case)]) == 2
        assert not (tmp_path / "spoiled").exists()
    else:
        Files(tmp_path).find("a.geo")


def test_a_program_without_a_geometry_is_not_run(tmp_path: Path, gmsh: Any) -> None:
    script = tmp_path / "tool.py"
    script.write_text(f"open({str(tmp_path / 'spoiled')!r}, 'w')\n")
    with pytest.raises(MeshError, match="no function build"):
        mesh_geometry(script)
    assert not (tmp_path / "spoiled").exists()


# files that announce more than they hold

ABSURD = {
    "a.msh": "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2000000000\n1 0 0 0\n$EndNodes\n",
    "b.msh": "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2000000000 1 2000000000\n"
    "2 1 0 2000000000\n1\n0 0 0\n$EndNodes\n$Elements\n0 0 0 0\n$EndElements\n",
    "c.vtk": "# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n"
    "POINTS 2000000000 double\n0 0 0\n",
    "d.mesh": "MeshVersionFormatted 2\nDimension 2\nVertices\n2000000000\n0 0 0\nEnd\n",
    "e.inp": "*NODE\n1, 0, 0\n2, 1, 0\n3, 0, 1\n*ELEMENT, TYPE=CPS3\n1, 1, 2, 3\n"
    "*NSET, NSET=a, GENERATE\n1, 2000000000, 1\n",
    "f.inp": "*NODE\n1, 0, 0\n*INCLUDE, INPUT=../../../../etc/passwd\n",
    "g.vtu": "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'>"
    + "".join(f"<!ENTITY {b} '{('&' + a + ';') * 10}'>" for a, b in pairwise("abcdefghi"))
    + "]><VTKFile type='UnstructuredGrid'>&i;</VTKFile>",
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded as Linux does it")
def test_absurd_meshes_take_no_memory(tmp_path: Path) -> None:
    for name, text in ABSURD.items():
        (tmp_path / name).write_text(text)
    code = (
        "import resource, sys\n"
        "import meshio\n"
        "from fecontact.errors import MeshError\n"
        "from fecontact.mesh import read_mesh\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        read_mesh(name)\n"
        "        sys.exit(name + ' was read')\n"
        "    except MeshError as error:\n"
        "        assert 'allocate' not in str(error), error\n"
        "    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "    assert taken < 50_000, f'{name}: {taken} kB'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *ABSURD],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", ["\n" * 200_000, "POINTS" + " " * 200_000 + "x"])
def test_blank_meshes_take_no_time(text: str, tmp_path: Path) -> None:
    """Far above the second that it takes, far below the minutes of a search that starts over."""
    path = tmp_path / "blank.vtk"
    path.write_text(text)
    code = "import sys; from fecontact.mesh import read_mesh; read_mesh(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert "MeshError" in done.stderr


def test_saved_steps_hold_no_programs(tmp_path: Path) -> None:
    """A pickle in the place of an array would run when it is read."""
    path = tmp_path / "state_0001.npz"
    np.savez(path, step=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="no saved step"):
        read_state(path)
    np.save(tmp_path / "state_0002.npy", np.zeros(3))
    with pytest.raises(InputError, match="no saved step"):
        read_state(tmp_path / "state_0002.npy")


# numbers


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("materials.block.E=1e31", "materials.block.E: 1e+31 is too large"),
        ("materials.block.E=1" + "0" * 400, "too large"),
        ("loads.top.value=1e-61", "loads.top.value: 1e-61 is too small"),
        ("mesh.nx=" + "9" * 5000, "mesh.nx"),
        ("contact.base.obstacle.point=[1e300, 0.0]", "contact.base.obstacle.point: 1e+300"),
    ],
)
def test_numbers_beyond_computing_are_refused(setting: str, told: str) -> None:
    with pytest.raises(CaseError) as error:
        read_case(CASES / "sliding_block.toml", [setting])
    assert told in str(error.value)


def test_rectangles_of_absurd_counts_are_refused() -> None:
    case = read_case(CASES / "sliding_block.toml", ["mesh.nx=100000", "mesh.ny=100000"])
    with pytest.raises(MeshError, match="10000000000 cells are too many"):
        build(case)


def test_memory_that_runs_out_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("fecontact.case.building.rectangle", fail)
    assert main(["check", str(CASES / "sliding_block.toml")]) == 2
    assert capsys.readouterr().err == "fecontact: there is not enough memory\n"


def test_a_mark_of_the_byte_order_is_passed_over(tmp_path: Path) -> None:
    # some editors begin a file with it
    path = tmp_path / "case.toml"
    text = (CASES / "sliding_block.toml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8-sig")
    assert read_case(path).data == read_case(CASES / "sliding_block.toml").data


@pytest.mark.parametrize("part", ["a", '"a"', "'a' "])
@pytest.mark.parametrize("frame", ["{} = 1\n", "[{}]\nx = 1\n", "x = {{ {} = 1 }}\n"])
def test_keys_of_many_parts_take_no_time(part: str, frame: str, tmp_path: Path) -> None:
    """A file of half a megabyte would keep the reader of TOML busy for an hour."""
    path = tmp_path / "case.toml"
    path.write_text(frame.format(".".join([part] * 2000)))
    with pytest.raises(CaseError, match="more than 64 parts"):
        read_case(path)


def test_numbers_and_words_are_no_long_keys(tmp_path: Path) -> None:
    text = (CASES / "sliding_block.toml").read_text(encoding="utf-8")
    table = ", ".join(f"[{k / 8}, 0.5]" for k in range(200))
    more = f'[prescribed.more]\non = "top"\nuy = [{table}]\n'
    path = tmp_path / "case.toml"
    path.write_text(f"# {'a' * 300_000}\n{text}\n{more}")
    assert "more" in read_case(path).data["prescribed"]


def test_expressions_are_bounded_in_value_too() -> None:
    with pytest.raises(ExpressionError, match="at x = 1"):
        Expression("exp(100 * x)")(np.array([[1.0, 0.0]]), 0.0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"materials.m.E": 210.0}, "E = 210 Pa"),
        ({"materials.m.E": 2.1e11, "materials.m.density": 7.8}, "1 g/cm^3 is 1000"),
        ({"materials.m.density": 7.8e-9}, "density = 7.8e-09"),
        ({"materials.m.E": 1e13, "materials.m.density": 100.0}, "waves of 3.16e+05 m/s"),
        ({"mesh.width": 5e7, "mesh.height": 5e7, "loads": {}}, "a size of 5e+07 m"),
        ({"contact.floor.friction": 30.0}, "contact.floor.friction: 30"),
        ({"loads.p": {"type": "pressure", "on": "top", "value": 1e8}}, "strain the whole body"),
    ],
)
def test_unlikely_numbers_are_told(changes: dict[str, Any], told: str) -> None:
    found = doubts(block(changes))
    if told:
        assert any(told in one for one in found), found
        assert all("plausibility = false" in one for one in found)
    else:
        assert found == []


def test_doubts_are_printed_and_can_be_silenced(capsys: pytest.CaptureFixture[str]) -> None:
    case, soft = str(CASES / "sliding_block.toml"), "materials.block.E=1.3e2"
    assert main(["check", case, "--set", soft]) == 0
    assert "Note: material of" in capsys.readouterr().err
    assert main(["check", case, "--set", soft, "--set", "checks.plausibility=false"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("load", "steps", "code"),
    [("1e8 / (0.5 - t)", 3, 0), ("1e8 / (0.5 - t)", 4, 3), ("1e8 * sqrt(0.9 - t)", 4, 3)],
)
def test_doubts_never_stop_a_run(load: str, steps: int, code: int, tmp_path: Path) -> None:
    """They look at times that a run may never come to, or comes to with results worth keeping."""
    settings = [f'loads.left.value="{load}"', f"time.steps={steps}"]
    settings += ["output.figures=false", "output.report=false"]
    case, out = str(CASES / "sliding_block.toml"), tmp_path / "out"
    given = [word for setting in settings for word in ("--set", setting)]
    assert main(["run", case, "--out", str(out), *given]) == code
    kept = (out / "history.csv").read_text().splitlines()
    assert len(kept) - 1 == {("1e8 / (0.5 - t)", 4): 1}.get((load, steps), 3)


@pytest.mark.parametrize("name", [path.stem for path in sorted(CASES.glob("*.toml"))])
def test_no_shipped_case_is_doubted(name: str, gmsh: Any) -> None:
    case = read_case(CASES / f"{name}.toml")
    if case.spec.checks.plausibility:
        assert doubts(build(case)) == []


def test_mesh_of_a_case_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text("mesh = 3\n[materials.m]\nE = 1e9\nnu = 0.3\n")
    with pytest.raises(CaseError, match="mesh"):
        read_case(path)
    with pytest.raises(MeshError):
        read_mesh(path)
