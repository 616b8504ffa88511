"""Starting: templates that run, the schema for editors, meshes shown, completion in shells."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fecontact.cli import main, parser
from fecontact.commands.completion import FILES, SCRIPTS, complete
from fecontact.commands.new import TEMPLATES
from fecontact.mesh import rectangle, write_mesh

ROOT = Path(__file__).parent.parent
SHORT = [
    *("--set", "output.figures=false", "--set", "output.report=false"),
    *("--set", "output.every=50"),
]


def new(kind: str, folder: Path) -> Path:
    assert main(["new", kind, str(folder)]) == 0
    return folder / f"{folder.name}.toml"


def history(folder: Path) -> dict[str, float]:
    with (folder / "history.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: float(value) for name, value in rows[-1].items() if value}


# templates


@pytest.mark.parametrize(
    ("kind", "contact", "friction"),
    [("block", "floor", 0.5), ("two-bodies", "sole", 0.4), ("fault", "fault", 0.6)],
)
def test_templates_run_at_once_and_slide(
    kind: str, contact: str, friction: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "fault":
        request.getfixturevalue("gmsh")
    case = new(kind, tmp_path / "mine")
    assert main(["check", str(case)]) == 0
    assert main(["run", str(case), "--out", str(tmp_path / "out"), *SHORT]) == 0
    last = history(tmp_path / "out")
    # driven far enough for all candidates in contact to slide
    assert last[f"sticking_{contact}"] == 0
    assert last[f"sliding_{contact}"] > 10
    ratio = abs(last[f"RT_{contact}"]) / last[f"RN_{contact}"]
    assert ratio == pytest.approx(friction, rel=1e-8)


def test_results_of_a_template_hold_when_verified_from_the_files(tmp_path: Path) -> None:
    # a candidate starts on a node of the other body, as near to one edge there as to the next
    case = new("two-bodies", tmp_path / "mine")
    plain = ["--set", "output.figures=false", "--set", "output.report=false"]
    assert main(["run", str(case), "--out", str(tmp_path / "out"), *plain]) == 0
    assert main(["verify", str(tmp_path / "out")]) == 0


def test_template_of_an_impact_keeps_its_energy(tmp_path: Path) -> None:
    case = new("impact", tmp_path / "mine")
    assert main(["run", str(case), "--out", str(tmp_path / "out"), *SHORT]) == 0
    last = history(tmp_path / "out")
    kept = ("kinetic", "elastic", "friction", "shocks")
    initial = 0.5 * 1200.0 * 0.01 * (3.0**2 + 4.0**2)
    assert sum(last[f"energy_{name}"] for name in kept) == pytest.approx(initial, rel=1e-9)
    assert last["RN_floor"] == 0.0  # it has left the floor
    assert last["energy_friction"] > 0.1 * initial


@pytest.mark.parametrize("kind", TEMPLATES)
def test_templates_name_their_schema(kind: str, tmp_path: Path) -> None:
    case = new(kind, tmp_path / "mine")
    first = case.read_text().splitlines()[0]
    assert first == "#:schema ./case.schema.json"
    schema = json.loads((case.parent / "case.schema.json").read_text())
    jsonschema.validate(tomllib.loads(case.read_text()), schema)
    assert "@NAME@" not in case.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["block", "taken"], ["taken", "not empty"]),
        (["block", "a b"], ["a b", "no name"]),
        (["block", "file/x"], ["is a file"]),
        (["block", "-"], ["no name"]),
    ],
)
def test_new_refuses(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("")
    (tmp_path / "file").write_text("")
    assert main(["new", *arguments]) == 2
    message = capsys.readouterr().err
    for word in words:
        assert word in message
    assert {p.name for p in tmp_path.iterdir()} == {"taken", "file"}
    assert {p.name for p in (tmp_path / "taken").iterdir()} == {"mine.txt"}


# schema


@pytest.fixture(scope="module")
def schema() -> Any:
    from fecontact.case.jsonschema import json_schema

    return json_schema()


def test_schema_is_one_and_knows_the_cases(
    schema: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema
    assert main(["schema", "--out", str(tmp_path / "s.json")]) == 0
    assert json.loads((tmp_path / "s.json").read_text()) == schema
    for path in sorted((ROOT / "cases").glob("*.toml")):
        jsonschema.validate(tomllib.loads(path.read_text()), schema)


@pytest.mark.parametrize(
    "change",
    [
        {"time": {"setps": 3}},
        {"time": {"steps": "many"}},
        {"contact": {"base": {"candidates": "bottom", "reactions": "weigthed"}}},
        {"meshh": {}},
        {"materials": {"block": {"E": "stiff?", "nu": None}}},
        {"mesh": {"generator": "circle"}},
        {"variants": {"rough": {"contct.friction": 0.5}}},
    ],
)
def test_schema_refuses_what_the_program_refuses(schema: Any, change: dict[str, Any]) -> None:
    data = tomllib.loads((ROOT / "cases" / "sliding_block.toml").read_text())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data | change, schema)


def test_schema_describes_every_key(schema: Any) -> None:
    for name, table in schema["$defs"].items():
        for key, entry in table.get("properties", {}).items():
            assert entry.get("description"), f"{name}.{key}"


# meshes


def test_mesh_tells_groups_and_quality(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_mesh(rectangle(2.0, 1.0, 8, 4, kind="quad"), tmp_path / "m.msh")
    assert main(["mesh", str(tmp_path / "m.msh"), "--png", str(tmp_path / "m.png")]) == 0
    out = capsys.readouterr().out
    assert "45 nodes, 32 quads, 1 connected part" in out
    lines = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert lines["body"] == ["32", "elements", "area", "2"]
    assert lines["bottom"] == ["8", "edges", "length", "2"]
    assert lines["top_right"] == ["1", "node", "at", "(2,", "1)"]
    assert lines["0.9"] == ["to", "1.0", "32", "#" * 40]
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_mesh_of_a_case_and_of_a_geometry(
    gmsh: Any, meshes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mesh", str(ROOT / "cases" / "sliding_block.toml"), "--set", "mesh.nx=4"]) == 0
    assert "45 nodes, 64 triangles" in capsys.readouterr().out
    assert main(["mesh", str(meshes / "block.geo"), "--set", "width=3", "--set", "fine=0.5"]) == 0
    assert "x from 0 to 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.msh"], ["nowhere.msh"]),
        (["block.msh", "--size", "1"], ["--size", "geometry"]),
        (["block.msh", "--set", "a=1"], ["a=1", "no parameters"]),
        (["block.msh", "--png", "no/where.png"], ["no/where.png", "no such folder"]),
        (["g.py", "--set", "size=1"], ["--size"]),
    ],
)
def test_mesh_refuses(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_mesh(rectangle(1.0, 1.0, 2, 2), tmp_path / "block.msh")
    (tmp_path / "g.py").write_text("def build(gmsh):\n    pass\n")
    assert main(["mesh", *arguments]) == 2
    message = capsys.readouterr().err
    for word in words:
        assert word in message


# completion


def words(line: str) -> list[str]:
    commands = next(a.choices for a in parser()._actions if a.dest == "command")
    return complete(commands, line)  # type: ignore[arg-type]


def test_completion_of_commands_options_and_keys() -> None:
    block = ROOT / "cases" / "sliding_block.toml"
    assert words("fecontact sw") == ["sweep"]
    assert "--version" in words("fecontact --")
    assert words("fecontact new ") == list(TEMPLATES)
    assert words("fecontact new fault mine ") == ["-h", "--help"]
    assert words("fecontact run ") == [FILES]
    assert words("fecontact sweep x.toml --ov") == ["--overwrite"]
    assert words("fecontact sweep x.toml --out ") == [FILES]
    assert words("fecontact sweep x.toml --workers ") == []
    assert words(f"fecontact sweep {block} --vary contact.base.frict") == [
        "contact.base.friction_law=",
        "contact.base.friction=",
    ]
    assert words(f"fecontact run {block} --set mesh.n") == ["mesh.nx=", "mesh.ny="]
    # of all contacts, as in the README
    assert words(f"fecontact run {block} --set contact.rea") == ["contact.reactions="]
    # keys that the case leaves out, also of tables that it leaves out
    assert words(f"fecontact run {block} --set time.s") == ["time.step=", "time.steps="]
    left_out = words(f"fecontact run {block} --set prestress.")
    assert left_out == ["prestress.type=", "prestress.ratio="]
    assert words("fecontact run nowhere.toml --set mesh.n") == []


@pytest.mark.parametrize("shell", SCRIPTS)
def test_completion_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "fecontact completion words" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: the script's syntax is not checked")
    subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_completion_in_bash(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    program = tmp_path / "fecontact"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fecontact "$@"\n')
    program.chmod(0o755)
    script = (
        f'PATH="{tmp_path}:$PATH"\n{SCRIPTS["bash"]}\n'
        'COMP_LINE="fecontact sc"; COMP_POINT=${#COMP_LINE}\n'
        'COMP_WORDS=(fecontact sc); COMP_CWORD=1; _fecontact; echo "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["schema"]
