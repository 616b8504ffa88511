"""Run every benchmark in a process of its own on one thread; write a table and a picture.

The page docs/benchmarks.md is what ``--out docs`` wrote.

    python benchmarks/run.py [--out results/bench] [--only NAME ...] [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from measuring import exponent, run

HERE = Path(__file__).parent
ROWS = ("startup", "assembly", "linear", "friction", "block", "detection", "sweep")
TEXT = ("nsgs_study",)
# the longest last
ALL = (*ROWS[:-1], *TEXT, ROWS[-1])
STATE = {True: ", met", False: ", MISSED", None: ""}
# smallest sizes, to see that everything runs
QUICK = {
    "startup": ["--rounds", "1"],
    "assembly": ["4", "--rounds", "1"],
    "linear": ["8", "--rounds", "1"],
    "friction": ["--contacts", "16", "--block", "8", "--rounds", "1"],
    "block": ["8", "16", "--rounds", "1"],
    "sweep": ["--n", "8", "--steps", "2", "--rounds", "1"],
    "detection": ["100", "200", "--rounds", "1"],
    "nsgs_study": ["--sizes", "8,16"],
}


def processor() -> str:
    """Name of the processor, as the system tells it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _load() -> str:
    """How busy the machine is, where it tells: wall times suffer from it."""
    return f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""


def table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| part | size | ours (s) | other | other (s) | ratio | bar | memory (MiB) | note |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = [f"{row[k]:.3g}" if row[k] else "" for k in ("ours_s", "other_s", "ratio")]
        memory = " / ".join(f"{m:.0f}" for m in row["memory"] or () if m)
        note = row["note"].replace("\n", " ")
        lines.append(
            f"| {row['part']} | {row['size']} | {numbers[0]} | {row['other']} | {numbers[1]} "
            f"| {numbers[2]} | {row['bar']}{STATE[row['met']]} | {memory} | {note} |"
        )
    return lines


def phases(curves: list[dict[str, Any]]) -> list[str]:
    names = list(dict.fromkeys(name for c in curves for name in c["phases"]))
    lines = ["| phase | " + " | ".join(f"n = {c['n']}" for c in curves) + " |"]
    lines.append("|---" * (len(curves) + 1) + "|")
    for name in names:
        cells = []
        for c in curves:
            high = c["memory_phases"].get(name)
            peak = f", {high:.0f} MiB" if high else ""
            cells.append(f"{c['phases'].get(name, 0.0):.4f} s{peak}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _slope(curves: list[dict[str, Any]], peer: str, key: str) -> str:
    """Exponent of a peer from n = 64 on, in words."""
    some = [c for c in curves if c["n"] >= 64]
    if len(some) < 2:
        return ""
    values = [c["peers"][peer][key] for c in some]
    return f", exponent {exponent([c['dofs'] for c in some], values):.2f}"


def picture(curves: list[dict[str, Any]], fits: dict[str, float], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, (key, label) in zip(
        axes, (("cpu", "CPU time (s)"), ("memory", "peak memory (MiB)")), strict=True
    ):
        slope = f", exponent {fits[key]:.2f} from n = 64" if key in fits else ""
        axis.loglog(
            [c["dofs"] for c in curves], [c[key] for c in curves], "o-", label="fecontact" + slope
        )
        for peer in dict.fromkeys(name for c in curves for name in c["peers"]):
            some = [c for c in curves if peer in c["peers"]]
            axis.loglog(
                [c["dofs"] for c in some],
                [c["peers"][peer][key] for c in some],
                "s--",
                label=f"{peer}{_slope(some, peer, key)}",
            )
        axis.set(xlabel="dofs", ylabel=label)
        axis.grid(True, which="both", alpha=0.3)
        axis.legend()
    figure.suptitle("Sliding block, case to table, one thread")
    figure.savefig(path, dpi=150)
    plt.close(figure)


@dataclass
class Found:
    """What the benchmarks have given so far."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    exponents: dict[str, float] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def run(self, name: str, arguments: list[str]) -> None:
        """Run one benchmark and take what it gives."""
        with tempfile.TemporaryDirectory() as folder:
            stored = Path(folder, "rows.json")
            extra = ["--json", str(stored)] if name in ROWS else []
            child = run([sys.executable, str(HERE / f"{name}.py"), *arguments, *extra])
            print(f"== {name}: {child.wall:.0f} s\n{child.output}", flush=True)
            if child.code:
                self.failed.append(f"{name} ended with code {child.code}: {child.output[-300:]}")
            elif name in ROWS:
                data = json.loads(stored.read_text())
                self.rows += data["rows"]
                self.curves += data.get("curves", [])
                self.exponents |= data.get("exponents", {})
            else:
                self.texts += [f"## {name}", "", "```", child.output.rstrip(), "```", ""]

    def write(self, out: Path) -> Path:
        """The page, and its picture."""
        lines = [
            "# Benchmarks",
            "",
            f"<!-- Written by python benchmarks/run.py --out {out}; do not edit. -->",
            "",
            f"Measured on {date.today()} on {processor()}, {os.cpu_count()} cores, "
            f"{platform.system()}, Python {platform.python_version()}, with one thread"
            f"{_load()}. Times are CPU seconds unless told otherwise. The ratio is the other's "
            "time over ours, both measured in turns in one run: more than 1 means that ours is "
            "faster. «Pure read» and «dgemm rate» are the limits of the machine, which no program "
            "passes.",
            "",
            "A block of size n has n x n squares and about 2 n² degrees of freedom; m counts "
            "contacts. The bar is what a change must not fall behind, of the ratio unless it has a "
            "unit. Memory is the peak of a process, ours before the other's.",
            "",
            *table(self.rows),
            "",
        ]
        if self.curves:
            picture(self.curves, self.exponents, out / "benchmarks.png")
            listed = ", ".join(f"{name} {value:.2f}" for name, value in self.exponents.items())
            lines += ["## The block by phase", "", *phases(self.curves), ""]
            lines += [f"Exponents against dofs, n = 64 to 512: {listed} (bar for time: 1.6).", ""]
            lines += ["![time and memory against size](benchmarks.png)", ""]
        lines += self.texts
        lines += [f"FAILED: {line}" for line in self.failed]
        page = out / "benchmarks.md"
        page.write_text("\n".join(lines) + "\n")
        return page


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--only", nargs="*", default=ALL, choices=ALL)
    parser.add_argument("--quick", action="store_true", help="smallest sizes, once")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    found = Found()
    for name in (n for n in ALL if n in options.only):
        found.run(name, QUICK.get(name, []) if options.quick else [])
        # after each of them: an interrupted run leaves what it had
        page = found.write(options.out)
    print(f"written: {page}")
    return 1 if found.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
