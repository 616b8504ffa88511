"""The benchmarks run at their smallest sizes and write finite ratios; no time is asserted."""

import math
import re
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

import block  # noqa: E402
from measuring import Row  # noqa: E402
from run import QUICK, ROWS, TEXT  # noqa: E402


def test_all_run_and_the_page_has_a_ratio_or_a_reason_in_every_row(tmp_path):
    # start-up and sweeps of variants run whole cases many times over
    some = [name for name in QUICK if name not in ("startup", "sweep")]
    command = [sys.executable, str(BENCHMARKS / "run.py"), "--quick", "--out", str(tmp_path)]
    command += ["--only", *some]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    page = (tmp_path / "benchmarks.md").read_text()
    assert "FAILED" not in page
    assert (tmp_path / "benchmarks.png").stat().st_size > 10_000
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    table = [row for row in rows if len(row) == 9][1:]
    parts = {row[0].removeprefix("| ") for row in table}
    assert {"factor + W", "sweep", "whole block"} <= parts
    assert any(part.startswith("assembly") for part in parts)
    for row in table:
        if row[5]:
            assert math.isfinite(float(row[5])), row
            assert float(row[5]) > 0.0
        else:
            assert re.search("not installed|not run", row[8]), row
    assert "mu=0.05" in page


def test_every_script_is_run_or_shared():
    scripts = {path.stem for path in BENCHMARKS.glob("*.py")}
    assert scripts == {*ROWS, *TEXT, "run", "measuring"}
    assert set(QUICK) == {*ROWS, *TEXT}


def test_every_program_that_is_installed_has_a_script(monkeypatch):
    monkeypatch.setattr(block, "python_with", lambda module: sys.executable)
    monkeypatch.setattr(block.shutil, "which", lambda name: f"/usr/bin/{name}")
    commands = {peer.name: peer.command for peer in block.peers()}
    assert list(commands) == ["GetFEM", "CalculiX", "NGSolve", "Kratos"]
    for name, command in commands.items():
        assert command is not None, name
        assert Path(command[-1]).is_file(), name
    monkeypatch.setattr(block, "python_with", lambda module: None)
    monkeypatch.setattr(block.shutil, "which", lambda name: None)
    assert all(peer.command is None for peer in block.peers())


def test_bars():
    assert Row("a", "n", "b", 1.0, 12.0, 12.0, ">= 10").met is True
    assert Row("a", "n", "b", 1.0, 9.0, 9.0, ">= 10").met is False
    assert Row("a", "n", "b", 2.5, 1.0, 0.4, "<= 3 s").met is True
    assert Row("a", "n", "b", 3.5, 1.0, 0.3, "<= 3 s").met is False
    assert Row("a", "n", "b", note="not installed", bar=">= 10").met is None
    assert Row("a", "n", "b", 1.0, 1.0, 1.0).met is None
