"""Runs that are broken off and resumed give the same bits as runs that are not."""

from __future__ import annotations

import argparse
import copy
import json
import random
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import fecontact
from fecontact.case import Case
from fecontact.case.reading import check
from fecontact.cli import main
from fecontact.commands.execution import execute
from fecontact.commands.resume import resume
from fecontact.errors import InputError
from fecontact.mesh import rectangle, write_mesh
from fecontact.output import FolderWriter
from fecontact.output.checkpoint import (
    Damaged,
    Keep,
    checkpoint_paths,
    latest_checkpoint,
    read_checkpoint,
)
from fecontact.output.tables import HistoryWriter, in_use
from fecontact.output.trees import flatten, grow
from fecontact.schemes import Pace, State, StepResult
from fecontact.simulation import Result, Simulation
from tests.kill_campaign import QUICK, campaign, differences

RECTANGLE = {"generator": "rectangle", "width": 2.0, "height": 1.0, "nx": 8, "ny": 4}
QUIET = {"figures": False, "report": False}
BLOCK: dict[str, Any] = {
    "mesh": RECTANGLE,
    "materials": {"block": {"E": 1e9, "nu": 0.2, "density": 2000.0}},
    "loads": {
        "weight": {"type": "gravity"},
        "push": {"type": "traction", "on": "left", "tx": "3e4 * sin(60 * t)"},
    },
    "contact": {
        "floor": {"candidates": "bottom", "obstacle": {"type": "half_plane"}, "friction": 0.4}
    },
    "scheme": {"name": "theta", "theta": 0.6},
    "time": {"end": 0.05, "steps": 12},
    "probes": {"corner": {"on": "top_right", "quantity": "ux"}},
    "output": {"every": 2, "checkpoint_every": 3, **QUIET},
}


def changed(base: dict[str, Any], **tables: Any) -> dict[str, Any]:
    data = copy.deepcopy(base)
    for name, table in tables.items():
        data[name] = {**data.get(name, {}), **table} if isinstance(table, dict) else table
    return data


# two bodies: the punch slides over several edges, so that lists of near pairs are made anew
PUNCH: dict[str, Any] = {
    "mesh": {
        "parts": {
            "punch": {**RECTANGLE, "width": 0.5, "height": 0.4, "nx": 5, "origin": [0.3, 1.0]},
            "base": {**RECTANGLE, "nx": 17, "kind": "quad"},
        }
    },
    "materials": {"all": {"E": 1e6, "nu": 0.3}},
    "prescribed": {
        "top": {
            "on": "punch.top",
            "ux": [[0.0, 0.0], [0.2, 0.0], [1.0, 0.9]],
            "uy": [[0.0, 0.0], [0.2, -0.02]],
        },
        "foot": {"on": "base.bottom", "ux": 0.0, "uy": 0.0},
    },
    "contact": {
        "iron": {
            "candidates": "base.top",
            "antagonists": "punch.bottom",
            "reactions": "weighted",
            "friction": 0.3,
        }
    },
    "time": {"end": 1.0, "steps": 12},
    "output": {"every": 2, "checkpoint_every": 3, **QUIET},
}
RELAXING: dict[str, Any] = {
    "mesh": {**RECTANGLE, "height": 1.0},
    "materials": {
        "rock": {"law": "maxwell", "E": 1e9, "nu": 0.25, "viscosity": 1e9, "density": 2000.0}
    },
    "prescribed": {
        "side": {"on": "left", "ux": 0.0},
        "top": {"on": "top", "uy": "-0.01 * t", "ux": "0.004 * t"},
    },
    "contact": {
        "floor": {"candidates": "bottom", "obstacle": {"type": "half_plane"}, "friction": 0.3}
    },
    "scheme": {"name": "implicit"},
    "time": {"end": 2.0, "steps": 8, "adaptive": True},
    "output": {"every": 2, "checkpoint_every": 1, **QUIET},
}
CASES = {
    "theta": BLOCK,
    "newmark": changed(BLOCK, scheme={"name": "newmark", "theta": None}),
    # what slid keeps its dynamic friction
    "two coefficients": changed(
        BLOCK, contact={"floor": {**BLOCK["contact"]["floor"], "dynamic_friction": 0.2}}
    ),
    "quasi-static": changed(PUNCH, output={"times": [0.13, 0.5, 0.77]}),
    "two bodies": PUNCH,
    # steps that fail are halved and grow back: the pace is part of what is kept
    "adaptive": changed(
        BLOCK,
        time={"end": 0.05, "steps": 10, "adaptive": True},
        solver={"name": "nsgs", "max_iterations": 34},
        output={"checkpoint_every": 1},
    ),
    "implicit": RELAXING,
    "explicit": changed(
        RELAXING, scheme={"name": "explicit"}, time={"end": 0.4, "steps": 8, "adaptive": False}
    ),
}
del CASES["newmark"]["scheme"]["theta"]


class Break:
    """Interrupts a run after a step."""

    def __init__(self, number: int) -> None:
        self.number = number

    def begin(self, simulation: Simulation) -> None: ...

    def step(self, result: StepResult, saved: bool) -> None:
        if result.number == self.number:
            raise KeyboardInterrupt

    def end(self, result: Result) -> None: ...


def case_of(data: dict[str, Any], folder: Path) -> Case:
    path = folder / "case.toml"
    return Case(path, data, check(data, path))


def broken(data: dict[str, Any], folder: Path, after: int) -> Path:
    """The folder of a run that was interrupted while it took the step after this one."""
    out = folder / "out"
    with pytest.raises(KeyboardInterrupt):
        execute(case_of(data, folder), out, watchers=[Break(after)])
    return out


def resumed(folder: Path) -> int:
    return resume(argparse.Namespace(folder=str(folder), other_version=False))


@pytest.mark.parametrize("name", CASES)
def test_resumed_runs_are_those_that_never_stopped(name: str, tmp_path: Path) -> None:
    data = CASES[name]
    whole, _ = execute(case_of(data, tmp_path), tmp_path / "whole")
    assert whole.converged
    if name == "adaptive":
        sizes = whole.history["h"]
        assert len(np.unique(sizes)) > 2
    count = len(whole.history)
    # once where nothing was saved, and once more while it is resumed
    out = broken(data, tmp_path, count // 2 - 1)
    checkpoint, _ = latest_checkpoint(out)
    assert checkpoint.number == count // 2 - 1
    with pytest.raises(KeyboardInterrupt):
        execute(case_of(data, tmp_path), out, watchers=[Break(count // 2 + 2)], resumed=checkpoint)
    assert resumed(out) == 0
    assert differences(tmp_path / "whole", out) == []


def test_result_of_a_resumed_run_knows_all_its_steps(tmp_path: Path) -> None:
    case = case_of(BLOCK, tmp_path)
    whole, _ = execute(case, tmp_path / "whole")
    out = broken(BLOCK, tmp_path, 7)
    again, _ = execute(case, out, resumed=latest_checkpoint(out)[0])
    assert again.history.rows == whole.history.rows
    assert [type(v) for v in again.history.rows[0]] == [type(v) for v in whole.history.rows[0]]
    for name in ("worst_residual", "worst_balance", "worst_energy"):
        assert getattr(again, name) == getattr(whole, name)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["wall_time"]["since_step"] == 7
    assert not checkpoint_paths(out)


def test_figures_over_time_have_the_earlier_steps(tmp_path: Path) -> None:
    fault = {"contact": "floor", "velocity": 1.0, "animation": True}
    data = changed(BLOCK, output={"every": 1, "fault": fault}, time={"steps": 3})
    draw = patch("fecontact.output.writer.write_figures", return_value=[])
    data["output"]["figures"] = True
    with draw:
        execute(case_of(data, tmp_path), tmp_path / "whole")
        out = broken(data, tmp_path, 2)
        assert resumed(out) == 0
    assert (out / "section.gif").exists()
    assert differences(tmp_path / "whole", out) == []


def hit(path: Path, how: str, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    if how == "flip":
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif how == "cut":
        del content[chance.randrange(len(content)) :]
    else:
        content = bytearray(b"")
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["flip", "cut", "empty"])
def test_damaged_checkpoints_are_seen_wherever_it_is(how: str, tmp_path: Path) -> None:
    path = checkpoint_paths(broken(BLOCK, tmp_path, 5))[0]
    sound = path.read_bytes()
    chance = random.Random(1)
    for _ in range(60 if how != "empty" else 1):
        path.write_bytes(sound)
        hit(path, how, chance)
        with pytest.raises(Damaged, match=r"checkpoint_000005\.h5: the checkpoint is damaged"):
            read_checkpoint(path)


def test_the_one_before_a_damaged_checkpoint_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    execute(case_of(BLOCK, tmp_path), tmp_path / "whole")
    out = broken(BLOCK, tmp_path, 8)
    newest, before = checkpoint_paths(out)
    assert (newest.name, before.name) == ("checkpoint_000008.h5", "checkpoint_000007.h5")
    hit(newest, "flip", random.Random(2))
    capsys.readouterr()
    assert resumed(out) == 0
    told = capsys.readouterr().err
    assert "checkpoint_000008.h5: the checkpoint is damaged" in told
    assert "Going on after step 7" in told
    assert differences(tmp_path / "whole", out) == []


def test_nothing_to_go_on_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", str(tmp_path / "nowhere")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    assert main(["resume", str(tmp_path)]) == 2
    assert "there is no checkpoint" in capsys.readouterr().err
    out = broken(BLOCK, tmp_path, 8)
    for path in checkpoint_paths(out):
        hit(path, "cut", random.Random(3))
    assert main(["resume", str(out)]) == 2
    assert "no earlier one" in capsys.readouterr().err
    (out / "study.json").write_text("{}")
    assert main(["resume", str(out)]) == 2
    assert "study" in capsys.readouterr().err


def test_a_finished_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    execute(case_of(BLOCK, tmp_path), tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    assert not [name for name in before if "checkpoint" in name or "part" in name]
    assert main(["resume", str(tmp_path / "out")]) == 0
    assert "nothing left to do" in capsys.readouterr().out
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before


def test_killed_while_the_last_files_were_written(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    execute(case_of(BLOCK, tmp_path), whole)
    out = broken(BLOCK, tmp_path, 7)
    kept = {path.name: path.read_bytes() for path in checkpoint_paths(out)}
    # all is there but a temporary file and the checkpoints are not removed yet
    shutil.rmtree(out)
    shutil.copytree(whole, out)
    (out / ".report.part.html").write_text("half")
    for name, content in kept.items():
        (out / name).write_bytes(content)
    assert resumed(out) == 0
    assert differences(whole, out) == []


def test_another_version_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(case_of(BLOCK, tmp_path), tmp_path / "whole")
    out = broken(BLOCK, tmp_path, 7)
    monkeypatch.setattr(fecontact, "__version__", "99.0")
    assert main(["resume", str(out)]) == 2
    message = capsys.readouterr().err
    assert "99.0" in message
    assert "--other-version" in message
    assert main(["resume", str(out), "--other-version"]) == 0
    assert differences(tmp_path / "whole", out) == []


@pytest.mark.parametrize("how", ["changed", "gone"])
def test_a_mesh_file_that_changes_is_told(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_mesh(rectangle(2.0, 1.0, 8, 4), tmp_path / "mesh.msh")
    data = changed(BLOCK, mesh="")
    data["mesh"] = {"file": "mesh.msh"}
    execute(case_of(data, tmp_path), tmp_path / "whole")
    out = broken(data, tmp_path, 7)
    if how == "changed":
        write_mesh(rectangle(2.0, 1.0, 5, 4), tmp_path / "mesh.msh")
    else:
        (tmp_path / "mesh.msh").unlink()
    capsys.readouterr()
    assert resumed(out) == 0
    told = capsys.readouterr().err
    assert f"mesh.msh {'has changed' if how == 'changed' else 'is gone'}" in told
    assert differences(tmp_path / "whole", out) == []


@pytest.mark.parametrize("how", ["changed", "gone", "as it was"])
def test_a_case_file_that_changes_is_told(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = case_of(BLOCK, tmp_path).path
    path.write_text("a block")
    execute(case_of(BLOCK, tmp_path), tmp_path / "whole")
    out = broken(BLOCK, tmp_path, 7)
    if how == "changed":
        path.write_text("another block")
    elif how == "gone":
        path.unlink()
    capsys.readouterr()
    assert resumed(out) == 0
    told = capsys.readouterr().err
    note = f"{path} {'has changed' if how == 'changed' else 'is gone'} since the run began"
    assert (note in told) == (how != "as it was")
    assert ("with the case that it began with" in told) == (how != "as it was")
    assert differences(tmp_path / "whole", out) == []


def test_files_that_were_deleted_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = broken(BLOCK, tmp_path, 9)
    (out / "fields_0004.vtu").unlink()
    (out / "history.csv").unlink()
    assert resumed(out) == 0
    assert "the fields of saved step 4 are not in the folder" in capsys.readouterr().err
    assert "fields_0004.vtu" not in (out / "fields.pvd").read_text()
    assert len((out / "history.csv").read_text().splitlines()) == 13


def test_a_run_that_is_alive_is_not_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = broken(BLOCK, tmp_path, 7)
    history = execute(case_of(BLOCK, tmp_path), tmp_path / "b")[0].simulation.history()
    writer = HistoryWriter(out / "history.csv", history)
    assert in_use(out / "history.csv")
    assert main(["resume", str(out)]) == 2
    assert "a run is writing to this folder" in capsys.readouterr().err
    writer.close()
    assert not in_use(out / "history.csv")
    assert resumed(out) == 0


def test_from_python(tmp_path: Path) -> None:
    from fecontact.case import build

    def simulation() -> Simulation:
        return build(case_of(BLOCK, tmp_path))

    off: dict[str, Any] = {"figures": False, "report": False, "keep": Keep(every=2)}
    whole = simulation().run(FolderWriter(tmp_path / "whole", **off))
    with pytest.raises(KeyboardInterrupt):
        simulation().run(FolderWriter(tmp_path / "out", **off), Break(5))
    found, _ = latest_checkpoint(tmp_path / "out")
    with pytest.raises(InputError, match="begun from Python"):
        resumed(tmp_path / "out")
    again = simulation().run(
        FolderWriter(tmp_path / "out", resumed=found, **off), after=found.standing
    )
    assert again.history.rows == whole.history.rows
    assert np.array_equal(again.final.state.q, whole.final.state.q)
    assert differences(tmp_path / "whole", tmp_path / "out") == []


def test_when_checkpoints_are_written() -> None:
    assert Keep().due(1, None)
    assert not Keep(None, 0.0).due(100, None)
    assert Keep(3, 0.0).due(3, 0.0)
    assert not Keep(3, 0.0).due(2, 0.0)
    from time import monotonic

    assert Keep(None, 1.0).due(1, monotonic() - 61.0)
    assert not Keep(None, 1.0).due(1000, monotonic() - 50.0)


def test_two_checkpoints_are_kept(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    class Look(Break):
        def step(self, result: StepResult, saved: bool) -> None:
            seen.append([p.name for p in checkpoint_paths(tmp_path / "out")])

    execute(case_of(BLOCK, tmp_path), tmp_path / "out", watchers=[Look(0)])
    assert seen[0] == ["checkpoint_000001.h5"]
    assert seen[4] == ["checkpoint_000004.h5", "checkpoint_000001.h5"]
    assert seen[8] == ["checkpoint_000007.h5", "checkpoint_000004.h5"]


def test_trees_come_back_to_the_same_bits() -> None:
    field = np.asfortranarray(np.random.default_rng(0).normal(size=(4, 3)))
    state = State(
        t=0.1,
        q=np.array([np.nan, -0.0, np.inf]),
        v=np.zeros(0),
        reactions={"a/b": field},
        sliding={"a/b": np.array([True, False])},
        memory=Pace(1e-300, 3),
    )
    arrays: list[Any] = []
    tree = json.loads(json.dumps(flatten((state, [1, 2.5, None, "x"], np.float64(1.5)), arrays)))
    again, listed, number = grow(tree, arrays)
    assert again.q.tobytes() == state.q.tobytes()
    assert again.reactions["a/b"].tobytes("A") == field.tobytes("A")
    assert again.reactions["a/b"].flags.f_contiguous
    assert again.sliding["a/b"].dtype == bool
    assert again.memory == state.memory
    assert (listed, type(listed[0]), float(number)) == ([1, 2.5, None, "x"], int, 1.5)


@pytest.mark.parametrize(
    "name", ["os:system", "fecontact.cli:main", "fecontact.errors:FecontactError", "fecontact.x:Y"]
)
def test_trees_make_nothing_but_data(name: str) -> None:
    with pytest.raises(InputError, match=r"class|not known"):
        grow({"class": name, "fields": {}}, [])
    with pytest.raises(InputError, match="cannot be kept"):
        flatten(object(), [])


def test_search_lists_do_not_change_what_is_found(tmp_path: Path) -> None:
    """Contacts detected with lists from anywhere are those detected with lists from there."""
    from fecontact.case import build

    result, _ = execute(case_of(PUNCH, tmp_path), tmp_path / "out")
    interface = result.simulation.model.interfaces[0]
    for step in result.steps:
        fresh = build(case_of(PUNCH, tmp_path)).model.interfaces[0]
        positions = interface.mesh.nodes + step.displacement
        one, other = interface.detect(positions, 0.0, 1.0), fresh.detect(positions, 0.0, 1.0)
        assert np.array_equal(one.candidates, other.candidates)
        assert one.offset.tobytes() == other.offset.tobytes()
        assert one.H.data.tobytes() == other.H.data.tobytes()
        assert np.array_equal(one.H.indices, other.H.indices)


def test_killed_runs_are_resumed(tmp_path: Path) -> None:
    done = campaign(tmp_path, 2, seed=4, settings=QUICK, begun=True)
    assert done.kills == 2
    assert done.runs == done.identical >= 1, str(done)


@pytest.mark.slow
def test_twenty_kills(tmp_path: Path) -> None:
    done = campaign(tmp_path, 20, seed=1)
    assert done.kills == 20
    assert done.runs == done.identical >= 1, str(done)


def test_a_checkpoint_holds_the_case_the_mesh_and_the_version(tmp_path: Path) -> None:
    found = read_checkpoint(checkpoint_paths(broken(BLOCK, tmp_path, 5))[0])
    assert found.version == fecontact.__version__
    assert found.case == BLOCK
    assert np.array_equal(found.mesh.nodes, rectangle(2.0, 1.0, 8, 4).nodes)
    assert [number for number, _ in found.saved] == [2, 4]
