"""What the benchmarks share: pinned threads, children with their CPU time and memory, and rows."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PEERS = Path(__file__).parent / "peers"


def pin() -> None:
    """One thread for every library, before any of them is imported."""
    for variable in THREADS:
        os.environ[variable] = "1"


@dataclass(frozen=True)
class Row:
    """One comparison: seconds of ours and of the other, measured in turns in one run.

    `ratio` is the other's time over ours (more than 1: ours is faster); `bar` is what it is held
    against, ``>= 10`` for the ratio or ``<= 3 s`` for our seconds; `memory` is the pair of peaks in
    MiB where they were measured.
    """

    part: str
    size: str
    other: str
    ours_s: float | None = None
    other_s: float | None = None
    ratio: float | None = None
    bar: str = ""
    memory: tuple[float, float | None] | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar was reached; None where there is none or nothing was measured."""
        sign, _, value = self.bar.partition(" ")
        if sign == ">=" and self.ratio is not None:
            return self.ratio >= float(value)
        if sign == "<=" and self.ours_s is not None:
            return self.ours_s <= float(value.removesuffix(" s"))
        return None

    def line(self) -> str:
        """The row as text."""
        if self.ratio is None:
            return f"{self.part:>24} {self.size:>10}  {self.other}: {self.note}"
        return (
            f"{self.part:>24} {self.size:>10}  {self.ours_s:10.4g} s, {self.other} "
            f"{self.other_s:10.4g} s, ratio {self.ratio:.2f}  {self.bar} {self.note}"
        )


def report(rows: Sequence[Row], path: str | None, **more: object) -> None:
    """Print the rows, and write them where the runner asks for them."""
    for row in rows:
        print(row.line(), flush=True)
    if path:
        listed = [{**asdict(row), "met": row.met} for row in rows]
        Path(path).write_text(json.dumps({"rows": listed, **more}))


def in_turns(calls: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """CPU seconds of each call, round by round, so that a busy machine slows all of them alike."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, times in zip(calls, taken, strict=True):
            start = process_time()
            call()
            times.append(process_time() - start)
    return taken


def median_ratio(ours: Sequence[float], other: Sequence[float]) -> float:
    """Median over the rounds of other / ours within a round."""
    ratios = sorted(b / a for a, b in zip(ours, other, strict=True))
    return ratios[len(ratios) // 2]


def exponent(dofs: list[int], values: list[float]) -> float:
    """Slope of the least-squares line through the logarithms."""
    x, y = [math.log(d) for d in dofs], [math.log(v) for v in values]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    top = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return top / sum((a - mx) ** 2 for a in x)


@dataclass(frozen=True)
class Child:
    """A process that has ended: wall and CPU seconds, peak memory in MiB, exit code, output."""

    wall: float
    cpu: float
    memory: float
    code: int
    output: str


def run(command: Sequence[str]) -> Child:
    """Run a command on one thread and measure it."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    with tempfile.TemporaryFile("w+") as stream:
        start = perf_counter()
        process = subprocess.Popen(
            command, stdout=stream, stderr=subprocess.STDOUT, env=environment, text=True
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        stream.seek(0)
        output = stream.read()
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    cpu = usage.ru_utime + usage.ru_stime
    return Child(wall, cpu, kilobytes / 1024, process.returncode, output)


def python_with(module: str) -> str | None:
    """A Python of this machine that can import a module, or None."""
    found = (sys.executable, "/usr/bin/python3", shutil.which("python3"))
    for python in dict.fromkeys(p for p in found if p and Path(p).exists()):
        if run([python, "-c", f"import {module}"]).code == 0:
            return python
    return None


def fecontact() -> list[str]:
    """The command of the package in the environment that runs this."""
    script = Path(sys.executable).with_name("fecontact")
    return [str(script)] if script.exists() else [sys.executable, "-m", "fecontact"]
