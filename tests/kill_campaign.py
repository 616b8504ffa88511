"""Kill a run with SIGKILL at random instants, resume it each time, and compare what it gives.

    python tests/kill_campaign.py --kills 20

The case is run once without a break. Then it is started, killed after a random time, resumed,
killed again and so on; whenever a run reaches its end, its files are compared byte by byte with
those of the unbroken run, and the next one is started. Only the timings in summary.json, and
report.html, which shows them, may differ.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep, time_ns
from typing import Any

CASE = """
title = "A block pushed to and fro on a plane"

[mesh]
generator = "rectangle"
width = 2.0
height = 1.0
nx = 16
ny = 8

[materials.block]
E = 1e9
nu = 0.2
density = 2000.0

[loads.weight]
type = "gravity"

[loads.push]
type = "traction"
on = "left"
tx = "3e4 * sin(60 * t)"

[contact.floor]
candidates = "bottom"
obstacle = { type = "half_plane" }
friction = 0.4

[scheme]
name = "theta"
theta = 0.6

[time]
end = 0.2
steps = 120

[probes.corner]
on = "top_right"
quantity = "ux"

[output]
every = 3
checkpoint_every = 4
"""
QUICK = ("output.figures=false", "output.report=false")


def summary_of(folder: Path) -> dict[str, Any]:
    """The summary of a run without its timings."""
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key != "wall_time"}


def differences(one: Path, other: Path) -> list[str]:
    """Names of files that are not the same in two folders of the same run."""
    names = [{str(p.relative_to(f)) for p in f.rglob("*")} for f in (one, other)]
    found = [f"only in one: {name}" for name in sorted(names[0] ^ names[1])]
    for name in sorted(names[0] & names[1]):
        if name == "report.html" or (one / name).is_dir():
            continue
        if name == "summary.json":
            same = summary_of(one) == summary_of(other)
        else:
            same = (one / name).read_bytes() == (other / name).read_bytes()
        if not same:
            found.append(name)
    return found


@dataclass
class Campaign:
    """What was done and what came of it."""

    kills: int = 0
    before_checkpoint: int = 0
    runs: int = 0
    identical: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.kills} kills, {self.before_checkpoint} of them before the first checkpoint; "
            f"{self.runs} runs reached their end, {self.identical} identical to the unbroken run"
        ]
        return "\n".join(lines + self.faults)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "fecontact", *words]


def written(folder: Path, process: subprocess.Popen[bytes], since: int) -> float:
    """Wait until a run has written rows after a time in nanoseconds; returns when it had."""
    path = folder / "history.csv"
    while process.poll() is None:
        with suppress(OSError):
            if path.stat().st_mtime_ns > since:
                break
        sleep(0.005)
    return perf_counter()


def campaign(
    folder: Path,
    kills: int,
    seed: int = 0,
    settings: tuple[str, ...] = (),
    case: Path | None = None,
    begun: bool = False,
) -> Campaign:
    """Kill and resume runs of a case in a folder.

    With `begun` a run is killed only after it has written something.
    """
    chance, done = random.Random(seed), Campaign()
    if case is None:
        case = folder / "case.toml"
        case.write_text(CASE, encoding="utf-8")
    keys = [word for setting in settings for word in ("--set", setting)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    reference, out = folder / "unbroken", folder / "broken"
    run = command("run", str(case), *keys, "--out")
    process = subprocess.Popen([*run, str(reference)], env=environment, **quiet)
    start = perf_counter()
    if begun:
        start = written(reference, process, 0)
    _, told = process.communicate()
    if process.returncode:
        raise RuntimeError(told.decode())
    whole = perf_counter() - start
    resuming = False
    while done.kills < kills or resuming:
        words = command("resume", str(out)) if resuming else [*run, str(out), "--overwrite"]
        now = time_ns()
        process = subprocess.Popen(words, env=environment, **quiet)
        if begun:
            written(out, process, now)
        wait = chance.uniform(0.0, whole) if done.kills < kills else None
        try:
            _, told = process.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            done.kills += 1
            resuming = any(out.glob("checkpoint_*.h5")) or (out / "summary.json").exists()
            done.before_checkpoint += not resuming
            continue
        done.runs += 1
        resuming = False
        if process.returncode:
            done.faults.append(f"exit code {process.returncode}: {told.decode()[-500:]}")
        found = differences(reference, out) if not process.returncode else ["not compared"]
        done.identical += not found
        done.faults += found
        shutil.rmtree(out)
    return done


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="without figures and report")
    parser.add_argument("--case", type=Path, help="another case than the block")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    given = parser.parse_args()
    settings = (*given.settings, *(QUICK if given.quick else ()))
    with tempfile.TemporaryDirectory() as folder:
        done = campaign(Path(folder), given.kills, given.seed, settings, given.case)
    print(done)
    return int(done.identical != done.runs or done.runs == 0)


if __name__ == "__main__":
    raise SystemExit(main())
