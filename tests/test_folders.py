"""Folders that hold another run are refused, replaced when told so, and never mixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fecontact.cli import main

CASES = Path(__file__).parent.parent / "cases"
BLOCK = str(CASES / "sliding_block_mu01.toml")
QUICK = ["--set", "output.figures=false", "--set", "mesh.nx=4", "--set", "mesh.ny=4"]
SWEEP = ["sweep", BLOCK, *QUICK, "--workers", "0", "--vary", "contact.friction=0.1,0.2"]
COMPARE = ["compare", BLOCK, *QUICK, "--vary", "contact.reactions=concentrated,weighted"]
RUN = ["run", BLOCK, *QUICK]


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir() if not p.name.startswith(".")}


@pytest.mark.parametrize("command", [RUN, COMPARE, SWEEP], ids=lambda c: c[0])
def test_the_same_again_is_fine(command: list[str], tmp_path: Path) -> None:
    out = ["--out", str(tmp_path)]
    assert main([*command, *out]) == 0
    first = names(tmp_path)
    assert main([*command, *out]) == 0
    assert names(tmp_path) == first


@pytest.mark.parametrize("earlier", [RUN, COMPARE, SWEEP], ids=lambda c: c[0])
@pytest.mark.parametrize("command", [RUN, COMPARE, SWEEP], ids=lambda c: c[0])
def test_another_is_refused_unless_told(
    earlier: list[str], command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, other = ["--out", str(tmp_path / "x")], ["--set", "materials.nu=0.25"]
    assert main([*command, *other, "--out", str(tmp_path / "alone")]) == 0
    assert main([*earlier, *out]) == 0
    (tmp_path / "x" / "notes.txt").write_text("the user's own")
    before = names(tmp_path / "x")
    capsys.readouterr()
    assert main([*command, *other, *out]) == 2
    message = capsys.readouterr().err
    assert "--overwrite" in message
    assert "holds" in message
    if earlier is command:
        assert "materials.block.nu is 0.2 there, 0.25 here" in message
    assert names(tmp_path / "x") == before
    assert main([*command, *other, *out, "--overwrite"]) == 0
    assert names(tmp_path / "x") == names(tmp_path / "alone") | {"notes.txt"}


def test_a_run_broken_off_is_not_taken_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "history.csv").write_text("step,time\n")
    assert main([*RUN, "--out", str(tmp_path)]) == 2
    assert "broken off" in capsys.readouterr().err
    assert main([*RUN, "--out", str(tmp_path), "--overwrite"]) == 0


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for command in (RUN, COMPARE, SWEEP):
        for place in ("file", "file/below"):
            assert main([*command, "--out", str(tmp_path / place)]) == 2
            assert "is a file" in capsys.readouterr().err


def test_a_bad_case_leaves_what_was_there(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path), "--overwrite"]
    assert main([*SWEEP, *out]) == 0
    before = names(tmp_path)
    for command in (RUN, COMPARE):
        assert main([*command, "--set", "loads.top.on=nothing", *out]) == 2
    assert names(tmp_path) == before
