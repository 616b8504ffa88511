"""Every way in which a run can fail ends as it is said to: exit code, message, files."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Any

import meshio
import numpy as np
import pytest

from fecontact.cli import main
from fecontact.conditions import Pressure
from fecontact.errors import ConditionError, OutputFailed, Stopped
from fecontact.mesh import rectangle
from fecontact.output.checkpoint import checkpoint_paths, read_checkpoint
from fecontact.output.contact_steps import read_contact_steps
from fecontact.output.report.toml import to_toml
from fecontact.output.states import read_state, state_files
from tests.kill_campaign import CASE, QUICK, differences
from tests.test_checkpoint import BLOCK, RELAXING, changed

PNG = b"\x89PNG"


def write_case(data: dict[str, Any], folder: Path) -> Path:
    path = folder / "case.toml"
    path.write_text(to_toml(data), encoding="utf-8")
    return path


def run(data: dict[str, Any], folder: Path) -> tuple[int, Path]:
    out = folder / "out"
    return main(["run", str(write_case(data, folder)), "--out", str(out)]), out


def failure_of(out: Path) -> dict[str, Any]:
    summary = json.loads((out / "summary.json").read_text())
    assert summary["converged"] is False
    return dict(summary["failure"])


def rows(out: Path) -> list[list[str]]:
    with (out / "history.csv").open(newline="") as file:
        head, *found = list(csv.reader(file))
    assert all(len(row) == len(head) for row in found)
    return found


# not converging


def test_friction_that_is_not_solved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solver = {"name": "nsgs", "max_iterations": 5}
    code, out = run(changed(BLOCK, solver=solver, output={"figures": True}), tmp_path)
    assert code == 3
    told = capsys.readouterr().err
    assert "step 1 of 12, from t = 0" in told
    assert "nsgs did not converge in 5 iterations" in told
    failure = failure_of(out)
    worst = failure["worst_contacts"]
    shares = [one["share"] for one in worst]
    assert shares == sorted(shares, reverse=True)
    assert 0.0 < shares[0] <= 1.0
    assert sum(shares) <= 1.0 + 1e-12
    bottom = rectangle(2.0, 1.0, 8, 4).node_numbers("bottom")
    assert {one["node"] for one in worst} <= set(bottom.tolist())
    assert failure["residual"] > failure["tolerance"]
    assert f"node {worst[0]['node']} " in told
    assert f"natural map {failure['residual']:.3g}" in told
    assert (out / "failure.png").read_bytes()[:4] == PNG
    # the best iterate itself
    assert meshio.read(out / "failed_step.vtu").point_data["displacement"].any()
    assert len((out / "failed_contact.csv").read_text().splitlines()) == 1 + len(bottom)


def test_the_worst_contacts_are_those_of_the_natural_map() -> None:
    from fecontact.case import Case, build
    from fecontact.case.reading import check
    from fecontact.solvers.residual import natural_map

    data = changed(BLOCK, solver={"name": "nsgs", "max_iterations": 5})
    simulation = build(Case(Path("x.toml"), data, check(data, Path("x.toml"))))
    failure = simulation.run().failure
    assert failure is not None
    best = failure.best
    F = natural_map(best.problem, best.contacts["floor"].force.ravel() * best.h).reshape(-1, 2)
    squares = (F**2).sum(axis=1)
    order = np.argsort(-squares)[: len(failure.worst)]
    assert [node for _, node, _ in failure.worst] == best.contacts["floor"].nodes[order].tolist()
    expected = squares[order] / squares.sum()
    assert [share for *_, share in failure.worst] == pytest.approx(expected, rel=1e-6)


def test_adaptive_steps_go_down_to_the_floor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = changed(
        BLOCK,
        solver={"name": "nsgs", "max_iterations": 1},
        time={"end": 0.05, "steps": 10, "adaptive": True, "min_step": 0.001},
    )
    code, out = run(data, tmp_path)
    assert code == 3
    told = capsys.readouterr().err
    # 0.005 halved twice is the last above the floor
    assert "with h = 0.00125 (the smallest allowed is 0.001)" in told
    assert failure_of(out)["residual"] > 1e-10


def test_a_run_that_fails_midway_can_be_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # it falls freely at first, and the sweeps are too few when it lands
    floor = {**BLOCK["contact"]["floor"]}
    floor["obstacle"] = {"type": "half_plane", "point": [0.0, -0.002]}
    solver = {"name": "nsgs", "max_iterations": 5}
    data = changed(BLOCK, solver=solver, contact={"floor": floor})
    code, out = run(data, tmp_path)
    assert code == 3
    done = len(rows(out))
    assert 0 < done < 12
    told = capsys.readouterr().err
    assert f"To go on from the last step: fecontact resume {out}" in told
    assert read_checkpoint(checkpoint_paths(out)[0]).number == done
    # the same again: nothing has changed
    assert main(["resume", str(out)]) == 3
    assert f"Going on after step {done}" in capsys.readouterr().err
    assert len(rows(out)) == done


def test_newton_that_does_not_converge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = changed(
        RELAXING,
        scheme={"name": "implicit", "max_iterations": 2},
        time={"end": 2.0, "steps": 8, "adaptive": False},
        output={"figures": True},
    )
    code, out = run(data, tmp_path)
    assert code == 3
    assert "Newton's method did not converge in 2 iterations" in capsys.readouterr().err
    failure = failure_of(out)
    assert failure["nodes"]
    assert (out / "failure.png").read_bytes()[:4] == PNG
    assert meshio.read(out / "failed_step.vtu").point_data["displacement"].any()


def test_an_element_that_turns_inside_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = changed(
        RELAXING,
        prescribed={"top": {"on": "top", "ux": 0.0, "uy": "-3 * t * (abs(x - 1) < 0.2)"}},
        time={"end": 1.0, "steps": 2, "adaptive": False},
        output={"figures": True},
    )
    code, out = run(data, tmp_path)
    assert code == 3
    assert "turns inside out" in capsys.readouterr().err
    nodes = failure_of(out)["nodes"]
    cells = rectangle(2.0, 1.0, 8, 4).cells["triangle"].tolist()
    assert sorted(nodes) in [sorted(cell) for cell in cells]
    assert (out / "failure.png").read_bytes()[:4] == PNG


def test_tunnelling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = {"generator": "rectangle", "width": 1.0, "height": 0.2, "nx": 4, "ny": 1}
    data = {
        "mesh": {"parts": {"upper": {**part, "origin": [0.0, 3.0]}, "lower": part}},
        "materials": {"all": {"E": 1e6, "nu": 0.3, "density": 1.0}},
        "initial": {"fall": {"on": "upper", "vy": -100.0}},
        "contact": {"pair": {"candidates": "upper.bottom", "antagonists": "lower.top"}},
        "scheme": {"name": "theta"},
        "time": {"end": 0.1, "steps": 2},
        "output": {"report": False},
    }
    code, out = run(data, tmp_path)
    assert code == 3
    told = capsys.readouterr().err
    assert "went through 'lower.top' within the step" in told
    assert failure_of(out)["nodes"]
    assert (out / "failure.png").read_bytes()[:4] == PNG


# numbers that are none


def test_a_load_that_becomes_nan_midway(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    push = {"type": "traction", "on": "left", "tx": "1e4 * sqrt(abs(t - 0.03) - 0.002)"}
    code, out = run(changed(BLOCK, loads={"push": push}), tmp_path)
    assert code == 3
    told = capsys.readouterr().err
    assert "step 7, from t = 0.025: loads.push" in told
    assert "is nan at x = 0" in told
    assert "t = 0.0291667" in told
    assert len(rows(out)) == 6
    assert "nan" in failure_of(out)["message"]
    assert read_checkpoint(checkpoint_paths(out)[0]).number == 6


@pytest.mark.parametrize(
    ("tables", "place"),
    [
        ({"loads": {"p": {"type": "traction", "on": "left", "tx": "1 / (t - 0.0)"}}}, "loads.p"),
        (
            {
                "loads": {
                    "p": {"type": "pressure", "on": "left", "value": 1.0, "amplitude": "log(-t)"}
                }
            },
            "loads.p.amplitude",
        ),
        ({"prescribed": {"p": {"on": "top", "uy": "sqrt(-t - 1)"}}}, "prescribed.p"),
    ],
)
def test_nan_at_the_start_is_bad_input(
    tables: dict[str, Any], place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = run(changed(BLOCK, **tables), tmp_path)
    assert code == 2
    told = capsys.readouterr().err
    assert place in told
    assert "t = 0" in told
    assert not out.exists()


def test_a_load_that_overflows_is_told() -> None:
    from fecontact.body import Solid
    from fecontact.conditions import ExternalForces
    from fecontact.materials import IsotropicElastic

    solid = Solid(rectangle(1.0, 1.0, 2, 2), {"body": IsotropicElastic(1.0, 0.0)})
    load = Pressure("top", 1e200, amplitude=[[0.0, 0.0], [2.0, 1e200]], name="p")
    forces = ExternalForces(solid, [load])
    assert np.isfinite(forces(0.0)).all()
    with pytest.raises(ConditionError, match=r"loads\.p: .* not finite at node \d+ \(.*\), t = 2"):
        forces(2.0)


# disks


def limit(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB."""
    place = tmp_path / "small"
    place.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    done = subprocess.run(options, capture_output=True, check=False) if os.geteuid() == 0 else None
    if done is None or done.returncode:
        pytest.skip("a file system can be mounted by root only")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fecontact(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fecontact", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **options,
    )


def all_can_be_read(out: Path) -> int:
    """Read everything in the folder of a run; returns the number of rows."""
    found = rows(out)
    assert [int(row[0]) for row in found] == list(range(1, len(found) + 1))
    for entry in ET.parse(out / "fields.pvd").iter("DataSet"):
        assert meshio.read(out / entry.attrib["file"]).point_data["displacement"].size
    saved = read_contact_steps(out / "contacts.h5")
    assert all(step.tables["floor"].size for step in saved)
    assert all(read_state(path).q.size for path in state_files(out))
    assert all(read_checkpoint(path).number for path in checkpoint_paths(out))
    assert not list(out.rglob(".*.part*"))
    return len(found)


def test_a_full_disk(small: Path, tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    case.write_text(CASE.replace("checkpoint_every = 4", ""))
    settings = [word for key in QUICK for word in ("--set", key)]
    out = small / "out"
    ended = fecontact("run", str(case), "--out", str(out), *settings)
    assert ended.returncode == 3, ended.stderr
    assert "cannot be written: No space left on device" in ended.stderr
    assert f"fecontact resume {out}" in ended.stderr
    done = all_can_be_read(out)
    assert 0 < done < 120
    # with more room it goes on, as if nothing had happened
    subprocess.run(["mount", "-o", "remount,size=50m", str(small)], check=True)
    assert fecontact("resume", str(out)).returncode == 0
    assert fecontact("run", str(case), "--out", str(tmp_path / "whole"), *settings).returncode == 0
    assert differences(tmp_path / "whole", out) == []


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    """Where a quota ends writing in the middle of a row, the row is taken back."""
    case = tmp_path / "case.toml"
    case.write_text(CASE.replace("every = 3", "every = 1000"))
    out = tmp_path / "out"
    settings = [word for key in QUICK for word in ("--set", key)]
    # room for the checkpoints, not for the history
    ended = fecontact(
        "run",
        str(case),
        "--out",
        str(out),
        *settings,
        *("--set", "mesh.nx=4", "--set", "mesh.ny=2", "--set", "output.checkpoint_minutes=0"),
        *("--set", "time.steps=2000"),
        preexec_fn=limit(60_000),
    )
    assert ended.returncode == 3, ended.stderr
    assert "cannot be written: File too large" in ended.stderr
    assert 0 < all_can_be_read(out) < 2000
    assert (out / "history.csv").stat().st_size <= 60_000


def test_a_full_disk_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fecontact.output import writer

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / "out" / "summary.json"))

    monkeypatch.setattr(writer, "write_summary", full)
    code, out = run(BLOCK, tmp_path)
    assert code == 3
    monkeypatch.undo()
    assert all_can_be_read(out) == 12
    assert main(["resume", str(out)]) == 0
    assert OutputFailed.exit_code == Stopped.exit_code == 3


# signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_leave_a_checkpoint(number: signal.Signals, code: int, tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    case.write_text(CASE.replace("checkpoint_every = 4", ""))
    out = tmp_path / "out"
    settings = [w for key in (*QUICK, "time.steps=100000") for w in ("--set", key)]
    words = [sys.executable, "-m", "fecontact", "run", str(case), "--out", str(out), *settings]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None and not (out / "fields_0006.vtu").exists():
            sleep(0.02)
        process.send_signal(number)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code, told
    assert ("terminated" if code == 143 else "interrupted") in told
    assert f"fecontact resume {out}" in told
    done = all_can_be_read(out)
    # the step that was being taken is dropped, all others are kept
    assert read_checkpoint(checkpoint_paths(out)[0]).number == done
    assert json.loads((out / "summary.json").read_text())["interrupted"] is True


# memory


def test_memory_is_told_before_it_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fecontact.solvers import memory

    assert main(["check", str(write_case(BLOCK, tmp_path))]) == 0
    told = capsys.readouterr().out
    assert "Memory of the factorisation: factors" in told
    assert "does not fit" not in told
    monkeypatch.setattr(memory, "available_memory", lambda: 1000.0)
    main(["check", str(write_case(BLOCK, tmp_path))])
    assert "does not fit" in capsys.readouterr().out


def test_running_out_of_memory_midway_keeps_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from fecontact.schemes.theta import ThetaStepper

    taken = ThetaStepper.step

    def step(self: ThetaStepper, state: Any, h: float) -> Any:
        if state.number == 5:
            raise MemoryError
        return taken(self, state, h)

    monkeypatch.setattr(ThetaStepper, "step", step)
    code, out = run(BLOCK, tmp_path)
    assert code == 3
    assert "step 6, from t = 0.0208333: there is not enough memory" in capsys.readouterr().err
    assert all_can_be_read(out) == 5
    monkeypatch.undo()
    assert main(["resume", str(out)]) == 0
