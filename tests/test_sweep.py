"""Sweeps: what they compute, that nothing is lost or done twice, and what they refuse."""

from __future__ import annotations

import csv
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fecontact as fc
from fecontact.case.variants import parse_axis, read_list
from fecontact.cli import main
from fecontact.errors import CaseError, InputError
from fecontact.study import workers
from fecontact.study.tasks import clear_parts

CASES = Path(__file__).parent.parent / "cases"
BLOCK = CASES / "sliding_block_mu01.toml"
QUICK = [f"output.{what}=false" for what in ("figures", "fields", "report", "states")]


def quick(out: Path, vary: Any = None, **options: Any) -> fc.Study:
    vary = {"contact.friction": [0.05, 0.1]} if vary is None else vary
    options.setdefault("workers", 0)
    settings = [*QUICK, *options.pop("settings", ())]
    return fc.sweep(BLOCK, vary, out=out, settings=settings, **options)


def markers(out: Path) -> dict[str, tuple[int, int]]:
    """Which variants are done, and the file that says so."""
    found = {p.parent.name: p.stat() for p in out.glob("variants/[!.]*/done.json")}
    return {name: (s.st_ino, s.st_mtime_ns) for name, s in found.items()}


# values


def test_ranges_and_lists_of_values() -> None:
    def values(text: str) -> list[Any]:
        return [choices[0].value for choices in parse_axis(text)]

    assert values("mesh.nx=8:32:4") == [8, 16, 24, 32]
    assert all(isinstance(v, int) for v in values("mesh.nx=8:32:4"))
    assert values("contact.friction=0.1:0.5:5") == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert values("materials.E=1e9:1e11:3:log") == [1e9, 1e10, 1e11]
    assert values("contact.friction=0.1,0.3:0.5:3") == [0.1, 0.3, 0.4, 0.5]
    assert values("loads.left.value='1e8*y',2e8") == ["1e8*y", 2e8]
    for wrong in ("contact.friction", "=1", "a.b=", "a.b=1,,2", "a.b=1:2:1", "a.b=-1:2:3:log"):
        with pytest.raises(CaseError, match="vary"):
            parse_axis(wrong)
    with pytest.raises(CaseError, match="2 to 1000000 values, 9999999 given"):
        parse_axis("a.b=0:1:9999999")


def test_list_of_variants_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "variants.csv"
    path.write_text("contact.friction,mesh.nx\n0.05,8\n\n0.1,\n")
    assert [[(c.key, c.value) for c in row] for row in read_list(path)] == [
        [("contact.friction", 0.05), ("mesh.nx", 8)],
        [("contact.friction", 0.1)],
    ]
    study = quick(tmp_path / "out", vary=(), listed=path)
    assert [r["variant"] for r in study.rows] == ["friction=0.05,nx=8", "friction=0.1"]
    assert np.isnan(study["mesh.nx"][1])
    path.write_text("contact.friction,mesh.nx\n0.05\n")
    with pytest.raises(CaseError, match=r"row 2 has 1 cells, expected 2"):
        read_list(path)


# what it gives


def test_rows_are_those_of_single_runs(tmp_path: Path) -> None:
    study = quick(tmp_path, {"contact.friction": [0.02, 0.1], "contact.reactions": ["weighted"]})
    assert study.exit_code == 0
    for row in study.rows:
        mu = row["contact.friction"]
        settings = [f"contact.friction={mu}", "contact.reactions=weighted"]
        state = fc.build(fc.read_case(BLOCK, settings)).run().contacts["base"]
        assert row["contacts.base.RN"] == pytest.approx(state.force[:, 0].sum(), rel=1e-12)
        # every candidate slides in this case, so that friction is fully used
        assert row["contacts.base.RT"] == pytest.approx(-mu * row["contacts.base.RN"], rel=1e-9)
        assert row["contacts.base.sliding"] == 16
    assert study["contacts.base.RN"].dtype == float
    with pytest.raises(InputError, match=r"did you mean 'contacts.base.RN'"):
        study["contact.base.RN"]


def test_table_as_csv_and_parquet(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    study = quick(tmp_path, {"contact.friction": [0.05, 0.1], "mesh.nx": [8, 16]})
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert [float(r["contacts.base.RN"]) for r in rows] == study["contacts.base.RN"].tolist()
    typed = pq.read_table(tmp_path / "results.parquet")
    assert typed.column_names == study.columns == list(rows[0])
    assert typed["contacts.base.RN"].to_pylist() == study["contacts.base.RN"].tolist()
    assert typed["mesh.nx"].to_pylist() == [8, 16, 8, 16]
    pictures = {p.name for p in tmp_path.glob("*.png")}
    assert pictures == {"results_contact.friction.png", "results_mesh.nx.png"}
    assert "4 variants: 4 converged" in repr(study)
    assert study._repr_html_().count("<tr>") == 5
    line = study.plot("contacts.base.RT", against="contact.friction").get_lines()
    assert [p.get_label() for p in line] == ["nx = 8", "nx = 16"]


def test_chosen_outputs(tmp_path: Path) -> None:
    study = quick(tmp_path, outputs=["supports.*.x", "mesh.nodes", "contact.base.RN"])
    assert study.columns[6:] == ["supports.symmetry.x", "supports.corner.x", "mesh.nodes"]
    assert "contact.base.RN" in study.notes[0]
    assert "near ones: contacts.base.RN" in study.notes[0]
    # another choice is made from what there is
    before = markers(tmp_path)
    study = quick(tmp_path, outputs=["contacts.base.RN"])
    assert study.before == 2
    assert study.columns[6:] == ["contacts.base.RN"]
    assert markers(tmp_path) == before


def test_history_gives_last_and_peak(tmp_path: Path) -> None:
    # pressed twice as much in the middle as at the end; linear, since all slides
    load = {"times": [0.0, 0.5, 1.0], "values": [0.0, 2.0, 1.0]}
    settings = ["time.steps=2", *(f"loads.{n}.amplitude={_toml(load)}" for n in ("top", "left"))]
    study = quick(tmp_path, outputs=["last.RN_base", "peak.RN_base"], settings=settings)
    ratio = study["peak.RN_base"] / study["last.RN_base"]
    assert ratio == pytest.approx(2.0, rel=0.05)


def _toml(table: dict[str, list[float]]) -> str:
    return "{" + ", ".join(f"{k} = {v}" for k, v in table.items()) + "}"


def test_failures_are_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        *("sweep", str(BLOCK), "--vary", "materials.nu=0.2,0.7", "--workers", "0"),
        *("--vary", "solver.max_iterations=1,1000", "--set", "solver.name=nsgs"),
        *("--out", str(tmp_path), *(w for s in QUICK for w in ("--set", s))),
    ]
    assert main(arguments) == 3
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = {r["variant"]: r for r in csv.DictReader(file)}
    assert [r["exit_code"] for r in rows.values()] == ["3", "0", "2", "2"]
    assert "nu" in rows["nu=0.7,max_iterations=1"]["message"]
    assert "natural map" in rows["nu=0.2,max_iterations=1"]["message"]
    told = capsys.readouterr()
    assert "4 variants: 1 converged, 3 failed" in told.out
    assert "failed" in told.err
    # they are not tried again: they would fail in the same way
    before = markers(tmp_path)
    assert main(arguments) == 3
    assert markers(tmp_path) == before


def test_unexpected_failures_are_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fecontact.study import tasks

    def broken(*_: Any) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(tasks, "build", broken)
        study = quick(tmp_path)
    assert study.exit_code == 1
    assert study.rows[0]["message"] == "MemoryError: no room"
    assert quick(tmp_path).exit_code == 0


# going on


def test_other_values_extend_a_study(tmp_path: Path) -> None:
    quick(tmp_path, {"contact.friction": [0.05, 0.1]})
    before = markers(tmp_path)
    study = quick(tmp_path, {"contact.friction": [0.1, 0.2]})
    assert study.before == 2
    assert sorted(study["contact.friction"]) == [0.05, 0.1, 0.2]
    after = markers(tmp_path)
    assert {name: after[name] for name in before} == before


def test_a_changed_mesh_file_is_computed_anew(tmp_path: Path) -> None:
    text = BLOCK.read_text()
    head, _, tail = text.partition("[mesh]")
    tail = tail[tail.index("[model]") :]
    case = tmp_path / "filed.toml"
    case.write_text(f'{head}[mesh]\nfile = "block.msh"\n{tail}')
    fc.write_mesh(fc.rectangle(0.04, 0.04, 4, 4), tmp_path / "block.msh")
    options: Any = {"out": tmp_path / "out", "settings": QUICK, "workers": 0}
    first = fc.sweep(case, {"contact.friction": [0.1]}, **options)
    again = fc.sweep(case, {"contact.friction": [0.1]}, **options)
    assert again.before == 1
    fc.write_mesh(fc.rectangle(0.04, 0.04, 8, 4), tmp_path / "block.msh")
    other = fc.sweep(case, {"contact.friction": [0.1]}, **options)
    assert other.before == 0
    assert (first["mesh.dofs"][0], other["mesh.dofs"][0]) == (50, 90)


def test_half_done_folders_of_the_dead_are_removed(tmp_path: Path) -> None:
    host = socket.gethostname()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    kept = [f".a.part-elsewhere-{dead.pid}", f".b.part-{host}-{os.getpid()}", "c"]
    for name in (*kept, f".a.part-{host}-{dead.pid}"):
        (tmp_path / name).mkdir()
    clear_parts(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(kept)


LONG = ["contact.friction=0.02:0.1:9", *QUICK, "time.steps=60", "mesh.nx=32", "mesh.ny=32"]


@contextmanager
def started(out: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "fecontact", "sweep", str(BLOCK), "--out", str(out)]
    command += ["--vary", LONG[0], *(w for s in LONG[1:] for w in ("--set", s)), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Any, seconds: float = 300.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def pids_at_work(out: Path) -> list[int]:
    return [int(p.name.rpartition("-")[2]) for p in out.glob("variants/.*.part-*[0-9]")]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_survives_the_kill_of_a_worker_and_of_the_whole(tmp_path: Path) -> None:
    with started(tmp_path, "--workers", "2") as process:
        victim = wait_for(lambda: pids_at_work(tmp_path))[0]
        os.kill(victim, signal.SIGKILL)
        count = len(markers(tmp_path))
        wait_for(lambda: len(markers(tmp_path)) > count + 1)
        at_work = wait_for(lambda: pids_at_work(tmp_path))
        process.kill()
    for pid in at_work:
        wait_for(lambda pid=pid: not is_alive(pid))
    before = markers(tmp_path)
    assert 2 <= len(before) < 9
    study = fc.sweep(BLOCK, LONG[:1], settings=LONG[1:], out=tmp_path, workers=2)
    assert study.exit_code == 0
    assert study.before == len(before)
    after = markers(tmp_path)
    assert len(after) == len(study) == 9
    assert {name: after[name] for name in before} == before
    for row in study.rows:
        mu = row["contact.friction"]
        assert row["contacts.base.RT"] == pytest.approx(-mu * row["contacts.base.RN"], rel=1e-8)
    assert not [p for p in (tmp_path / "variants").iterdir() if p.name.startswith(".")]


def written(file: Path) -> Any:
    """What a file of JSON holds; None while it is being written."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return None


def test_runs_on_a_scheduler_started_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    environment = {**os.environ, "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1m"}
    file, dask = tmp_path / "scheduler.json", [sys.executable, "-m", "dask"]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    where = ["--host", "127.0.0.1", "--no-dashboard"]
    hands = [
        subprocess.Popen(
            [*dask, "scheduler", *where, "--port", "0", "--scheduler-file", str(file)], **quiet
        ),
        subprocess.Popen(
            [*dask, "worker", *where, "--no-nanny", "--scheduler-file", str(file)],
            cwd=tmp_path,
            **quiet,
        ),
    ]
    try:
        address = wait_for(lambda: written(file))["address"]
        study = quick(tmp_path / "out", workers=None, scheduler=address)
    finally:
        for process in reversed(hands):
            process.kill()
            process.wait()
    assert study.exit_code == 0
    assert len(study) == 2
    monkeypatch.setattr(workers, "ANSWER", "1s")
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        quick(tmp_path / "other", workers=None, scheduler=address)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("foo", "missing port number"),
        ("http://127.0.0.1:80", "unknown address scheme"),
        (None, "silent for 1s"),
        (b"HTTP/1.0 400 Bad Request\r\n\r\n" * 20, "does not speak as one"),
    ],
)
def test_what_is_no_scheduler_is_refused_quickly(
    address: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "ANSWER", "1s")
    stop = threading.Event()

    def talk(server: socket.socket) -> None:
        peer, _ = server.accept()
        with peer:
            if address is None:
                stop.wait(60)
            else:
                peer.sendall(address)

    with ExitStack() as stack:
        if not isinstance(address, str):
            server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            where = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            stack.callback(stop.set)
            threading.Thread(target=talk, args=(server,), daemon=True).start()
        else:
            where = address
        with pytest.raises(InputError, match=f"no Dask scheduler answers there .*{words}"):
            workers.check_workers(scheduler=where)


def test_without_dask_a_pool_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"fecontact\[study\]"):
        quick(tmp_path, scheduler="tcp://127.0.0.1:1")
    killed: list[int] = []

    def kill_one() -> None:
        killed.append(wait_for(lambda: pids_at_work(tmp_path))[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    study = fc.sweep(BLOCK, LONG[:1], settings=LONG[1:], out=tmp_path, workers=2)
    killer.join()
    # the pool reaps it in a thread of its own
    wait_for(lambda: not is_alive(killed[0]))
    assert study.exit_code == 0
    assert len(markers(tmp_path)) == len(study) == 9


@pytest.mark.parametrize("dask", [True, False])
def test_a_script_without_its_guard_is_told(dask: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    hidden = "from fecontact.study import workers\nworkers.find_spec = lambda name: None\n"
    script.write_text(
        f"import fecontact as fc\n{'' if dask else hidden}"
        f"fc.sweep({str(BLOCK)!r}, ['contact.friction=0.1,0.2'], settings={QUICK!r},\n"
        f"         out={str(tmp_path / 'out')!r}, workers=2)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1  # that of the script itself
    last = done.stderr.strip().splitlines()[-1]
    assert "InputError: sweep:" in last
    assert 'if __name__ == "__main__":' in last
    assert not list((tmp_path / "out").glob("variants/*"))


def test_a_second_sweep_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    quick(tmp_path)
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another sweep is at work"):
            quick(tmp_path)


# bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--vary", "contact.frction=0.1,0.2"], ["frction", "did you mean 'friction'"]),
        (["--vary", "contct.friction=0.1"], ["contct", "did you mean 'contact'"]),
        (["--vary", "mesh.nx=8,many"], ["mesh.nx", "'many'", "integer"]),
        (["--vary", "mesh.nx=8:9:4"], ["mesh.nx", "8.33333333333"]),
        (["--vary", "contact.friction=1,1"], ["comes twice"]),
        (["--vary", "mesh.nx=8", "--vary", "mesh.nx=9"], ["mesh.nx", "given twice"]),
        (["--vary", "contact.friction"], ["contact.friction", "key=a,b,c"]),
        (["--list", "nowhere.csv"], ["nowhere.csv", "no such file"]),
        ([], ["--vary"]),
        (["--vary", "mesh.nx=8", "--workers", "-1"], ["workers", "-1"]),
        (["--vary", "mesh.nx=8", "--out", "file/below"], ["file/below", "is a file"]),
    ],
)
def test_bad_input_is_refused_before_anything_is_run(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main(["sweep", str(BLOCK), *arguments]) == 2
    message = capsys.readouterr().err
    for word in words:
        assert word in message
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
