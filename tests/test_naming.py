"""Names that users choose: any text, and files that are each found under their own name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fecontact as fc
from fecontact.case import read_case
from fecontact.cli import main
from fecontact.errors import CaseError, ContactError, MeshError
from fecontact.mesh import read_mesh, write_mesh
from fecontact.output.contact_steps import read_contact_steps

CASE = """
[mesh]
generator = "rectangle"
width = 1.0
height = 1.0
nx = 2
ny = 2
[materials.m]
E = 1e9
nu = 0.3
[prescribed.top]
on = "top"
ux = 0.0
uy = -1e-4
"""
FLOOR = """
[contact.{name}]
candidates = "{side}"
obstacle = {{ type = "half_plane", point = {point}, normal = {normal} }}
"""


def case(folder: Path, bottom: str, left: str) -> Path:
    floor = FLOOR.format(name=bottom, side="bottom", point=[0.0, 0.0], normal=[0.0, 1.0])
    wall = FLOOR.format(name=left, side="left", point=[-1.0, 0.0], normal=[1.0, 0.0])
    path = folder / "case.toml"
    path.write_text(CASE + floor + wall, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("bottom", "left"),
    [("a/b", "a_b"), ("n" * 300, "n" * 299 + "m"), ("岩" * 100, "Ж 🚀"), ("A", "a"), ("..", ".")],
    ids=["slash", "long", "unicode", "capital", "dots"],
)
def test_each_contact_has_its_own_files(bottom: str, left: str, tmp_path: Path) -> None:
    path = case(tmp_path, f'"{bottom}"', f'"{left}"')
    out = tmp_path / "out"
    assert main(["run", str(path), "--set", "output.figures=false", "--out", str(out)]) == 0
    (step,) = read_contact_steps(out / "contacts.h5")
    assert step.tables[bottom]["RN"].sum() > 0.0
    assert step.tables[left]["RN"].sum() == 0.0
    assert set(step.outlines) == {bottom, left}
    tables = sorted(p.name.casefold() for p in out.glob("contact_*.csv"))
    assert len(set(tables)) == 2
    assert main(["verify", str(out)]) == 0


def test_each_key_of_a_study_has_its_figure(tmp_path: Path) -> None:
    path, out = case(tmp_path, '"a/b"', '"a_b"'), tmp_path / "out"
    vary = [f"--vary=contact.{name}.friction=0.1,0.2" for name in ("a/b", "a_b")]
    settings = ["--set=output.figures=false", "--set=output.report=false", "--workers=0"]
    assert main(["sweep", str(path), *vary, *settings, "--out", str(out)]) == 0
    assert len(list(out.glob("results_*.png"))) == 2


@pytest.mark.parametrize("name", ['"a\\u0000b"', '"a\\u0007b"', '"a\\nb"'])
def test_names_are_text(name: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="plain text"):
        read_case(case(tmp_path, name, "wall"))
    mesh = fc.rectangle(1.0, 1.0, 2, 2)
    with pytest.raises(MeshError, match="plain text"):
        mesh.with_groups(nodes={"a\0b": np.array([0])})
    floor = fc.Contact("bottom", fc.HalfPlane((0, 0), (0, 1)), name="a\0b")
    solid = fc.Solid(mesh, {"body": fc.IsotropicElastic(1.0, 0.0)})
    with pytest.raises(ContactError, match="plain text"):
        fc.Model(solid, contacts=[floor])


@pytest.mark.parametrize("name", ["time", "residual", "RN_floor", "energy_elastic"])
def test_a_probe_is_not_taken_for_another_column(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = case(tmp_path, "floor", "wall")
    with path.open("a") as file:
        file.write(f'[probes.{name}]\non = "top_left"\n')
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    assert f"probes.{name}: the history has a column of this name" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_any_text_names_a_group_of_vtu_files(tmp_path: Path) -> None:
    names = ["rock & soil", "x < 0", 'say "no"', "it's", "&amp;", "éß漢"]
    given = fc.rectangle(1.0, 1.0, 2, 2).with_groups(
        nodes={name: np.array([k]) for k, name in enumerate(names)},
        elements={name: np.array([k]) for k, name in enumerate(names)},
    )
    found = read_mesh(write_mesh(given, tmp_path / "mesh.vtu"))
    for k, name in enumerate(names):
        assert found.node_groups[name].tolist() == [k]
        assert found.element_groups[name].tolist() == [k]
