"""What is told of input that is wrong or doubtful, and of results to be read with care."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fecontact.case import build, read_case
from fecontact.case.plausibility import doubts
from fecontact.cli import main
from fecontact.contact import ContactState
from fecontact.errors import InputError
from fecontact.output.report.verdicts import verdicts

CASE = """
title = "block"
[mesh]
generator = "rectangle"
width = 1.0
height = 0.5
nx = 4
ny = 2
[materials.steel]
E = 2e11
nu = 0.3
[prescribed.right]
on = "right"
ux = 0.0
uy = 0.0
[loads.top]
type = "pressure"
on = "top"
value = 1e6
[contact.floor]
candidates = "bottom"
obstacle = { type = "half_plane", point = [0.0, 0.0], normal = [0.0, 1.0] }
friction = 0.3
[output]
figures = false
report = false
"""


def write(folder: Path, text: str = CASE) -> Path:
    path = folder / "case.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "friction = 0.3",
            'friction_law = "tresca"',
            "contact.floor: threshold is missing; the friction law 'tresca' is bounded by it",
        ),
        (
            "friction = 0.3",
            "friction = 0.3\ndecay_velocity = 0.1",
            "contact.floor: decay_velocity needs dynamic_friction",
        ),
        (
            "[output]",
            '[groups.some]\nwhere = "x + y"\n[output]',
            "groups.some.where: 'x + y' is 0.25 at x = 0.25, y = 0; expected something true or",
        ),
        (
            "[output]",
            '[groups.some]\nwhere = "t > 1"\n[output]',
            "groups.some.where: 't > 1' changes with t",
        ),
        (
            "[output]",
            '[scheme]\nname = "quasi_static"\ntheta = 0.5\n[output]',
            "case.toml: scheme: theta is not for the scheme 'quasi_static'",
        ),
    ],
)
def test_wrong_cases_are_told(tmp_path: Path, capsys: Any, old: str, new: str, told: str) -> None:
    path = write(tmp_path, CASE.replace(old, new))
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert os.listdir(tmp_path) == ["case.toml"]


def test_groups_of_products_of_comparisons(tmp_path: Path) -> None:
    text = CASE.replace("[output]", '[groups.some]\nwhere = "(x > 0.3) * (y < 0.1)"\n[output]')
    mesh = build(read_case(write(tmp_path, text))).model.mesh
    assert mesh.node_groups["some"].tolist() == [2, 3, 4]


def test_settings_of_an_entry_that_is_not_there(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path)
    assert main(["check", str(path), "--set", "contact.flor.friction=0.5"]) == 2
    assert "there is no [contact.flor]; did you mean 'floor'?" in capsys.readouterr().err
    # a key of all entries that none of them gives yet
    case = read_case(path, ["materials.damping.kelvin_voigt=1e-3"])
    assert case.spec.materials["steel"].damping.kelvin_voigt == 1e-3


def test_a_place_that_cannot_be_written_is_told_before_the_run(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> str:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    assert main(["run", str(write(tmp_path)), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "is not writable (Read-only file system)" in error
    assert "step" not in error


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", None),
        (
            "point = [0.0, 0.0]",
            "point = [0.0, 0.01]",
            "4 of 4 candidates of 'bottom' start inside the obstacle HalfPlane, deepest by 0.01",
        ),
        (
            "normal = [0.0, 1.0]",
            "normal = [0.0, -1.0]",
            "the whole body of 'bottom' starts inside the obstacle HalfPlane; its normal",
        ),
    ],
)
def test_bodies_that_start_inside_an_obstacle(
    tmp_path: Path, old: str, new: str, told: str | None
) -> None:
    path = write(tmp_path, CASE.replace(old, new) if old else CASE)
    found = doubts(build(read_case(path)))
    assert [told in doubt for doubt in found] == [True] if told else found == []


def test_large_strains_are_told(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path, CASE.replace("E = 2e11", "E = 2e6"))
    assert main(["run", str(path), "--out", str(tmp_path / "soft")]) == 0
    assert "while displacements were taken as small" in capsys.readouterr().out
    path = write(tmp_path)
    assert main(["run", str(path), "--out", str(tmp_path / "stiff")]) == 0
    assert "taken as small" not in capsys.readouterr().out
    words = [v.title for v in verdicts({"largest_strain": 0.5, "converged": True}, [])]
    assert "Small strains" in words


def test_compare_ends_with_pictures_tables_and_pages(tmp_path: Path, capsys: Any) -> None:
    path = write(tmp_path, CASE.replace("report = false", "report = true"))
    out = tmp_path / "out"
    vary = ["--vary", "contact.reactions=concentrated,weighted"]
    assert main(["compare", str(path), *vary, "--out", str(out)]) == 0
    end = capsys.readouterr().out.splitlines()[-5:]
    assert [line.split() for line in end] == [
        ["picture", str(out / "comparison.png")],
        ["table", str(out / "comparison.csv")],
        ["table", str(out / "comparison_nodes.csv")],
        ["page", str(out / "concentrated" / "report.html")],
        ["page", str(out / "weighted" / "report.html")],
    ]
    # nothing of this comparison outlives another one in its place
    (out / "comparison_history.png").write_bytes(b"")
    assert main(["run", str(path), "--out", str(out), "--overwrite"]) == 0
    assert not list(out.glob("comparison*"))


def test_images_of_frictionless_reactions_on_a_bent_line_are_admissible() -> None:
    one = np.ones(1)
    state = ContactState(
        name="bent",
        reactions="weighted",
        nodes=np.zeros(1, dtype=np.int64),
        abscissa=one,
        position=np.ones((1, 2)),
        displacement=np.zeros((1, 2)),
        gap=0 * one,
        status=np.ones(1, dtype=np.int8),
        force=np.array([[1.0, 0.0]]),
        equivalent=np.array([[1.0, 1e-3]]),
        velocity=np.zeros((1, 2)),
        friction=0 * one,
        bound=0 * one,
        support=one,
    )
    assert not state.inadmissible.any()


def test_a_run_whose_reader_has_gone_is_kept(tmp_path: Path) -> None:
    # many steps, so that lines come after the reader has closed
    path = write(tmp_path, CASE + "[time]\nsteps = 200\n")
    command = [sys.executable, "-m", "fecontact", "run", str(path), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        assert b"step" in process.stdout.readline()
        process.stdout.close()
        code = process.wait(timeout=120)
    assert code == 128 + 13
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["converged"]


def test_a_step_that_is_set_takes_the_place_of_the_number_of_steps(tmp_path: Path) -> None:
    path = write(tmp_path, CASE + "[time]\nsteps = 4\n")
    assert build(read_case(path, ["time.step=0.125"])).times.count == 8
    assert build(read_case(path).with_values({"time.step": 0.5})).times.count == 2
    path = write(tmp_path, CASE + "[time]\nstep = 0.25\n")
    assert build(read_case(path, ["time.steps=3"])).times.count == 3
    # the file itself must say one thing
    both = read_case(write(tmp_path, CASE + "[time]\nsteps = 4\nstep = 0.25\n"))
    with pytest.raises(InputError, match="step and steps are both given"):
        build(both)
