"""A sweep of 24 variants of the sliding block on two workers, beside the same on one.

python benchmarks/sweep.py
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median

from measuring import Row, fecontact, report, run

CASE = Path(__file__).parent.parent / "cases" / "sliding_block.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=48, help="cells along a side")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", help="write the rows there as well")
    options = parser.parse_args()
    command = [*fecontact(), "sweep", str(CASE), "--vary", "contact.friction=0.1:1.0:12"]
    command += ["--vary", "contact.reactions=concentrated,weighted"]
    for setting in (
        f"mesh.nx={options.n}",
        f"mesh.ny={options.n}",
        f"time.steps={options.steps}",
        "output.fields=false",
        "output.figures=false",
        "output.report=false",
        "output.states=false",
    ):
        command += ["--set", setting]
    taken: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(options.rounds):
        for workers, times in taken.items():
            with tempfile.TemporaryDirectory() as folder:
                out = str(Path(folder, "out"))
                child = run([*command, "--workers", str(workers), "--out", out])
                if child.code:
                    raise SystemExit(f"the sweep failed: {child.output[-400:]}")
                times.append(child.wall)
    one, two = median(taken[1]), median(taken[2])
    ratio = median(a / b for a, b in zip(taken[1], taken[2], strict=True))
    size = f"24 x {options.n}²"
    note = f"wall time with the start of the workers, {os.cpu_count()} cores"
    report(
        [Row("sweep of a case", size, "one worker", two, one, ratio, ">= 1.6", note=note)],
        options.json,
    )


if __name__ == "__main__":
    main()
