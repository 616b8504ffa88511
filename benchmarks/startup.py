"""Start-up: ``fecontact --help`` and a second run of the sliding block, beside an empty Python.

python benchmarks/startup.py
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from measuring import Row, fecontact, report, run

CASE = Path(__file__).parent.parent / "cases" / "sliding_block.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write the rows there as well")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as out:
        commands = {
            "--help": ([*fecontact(), "--help"], 0.3),
            "run, second start": ([*fecontact(), "run", str(CASE), "--out", out], 3.0),
        }
        for name, (command, bar) in commands.items():
            run(command)
            pairs = [(run(command), run([sys.executable, "-c", ""])) for _ in range(options.rounds)]
            if any(ours.code for ours, _ in pairs):
                raise SystemExit(f"{' '.join(command)} failed: {pairs[0][0].output[-400:]}")
            wall = median(ours.wall for ours, _ in pairs)
            cpu = median(ours.cpu for ours, _ in pairs)
            empty = median(other.cpu for _, other in pairs)
            # one thread: CPU time is the wall time of a machine that does nothing else
            note = f"wall {wall:.2f} s here"
            numbers = cpu, empty, empty / cpu
            rows.append(Row("start-up", name, "empty Python", *numbers, f"<= {bar:g} s", note=note))
    report(rows, options.json)


if __name__ == "__main__":
    main()
