"""The whole sliding block (T3, mu = 1), from the case to the written table, against other programs.

Each run is a process of its own on one thread: CPU seconds and peak memory are those of the whole
process, interpreter and imports included, for all programs. The others are run where they are
installed: GetFEM and CalculiX come as Debian packages (python3-getfem, calculix-ccx), NGSolve and
Kratos as wheels (ngsolve; KratosMultiphysics and KratosContactStructuralMechanicsApplication, which
brings the applications that it needs). Time and memory by phase come from runs of their own, which
reset the peak of the process at each phase (Linux only).

    python benchmarks/block.py [n ...]
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measuring import PEERS, Child, Row, exponent, fecontact, pin, python_with, report, run

CASE = Path(__file__).parent.parent / "cases" / "sliding_block.toml"
LEAST, MOST = 64, 512


def arguments(n: int, out: str) -> list[str]:
    sizes = ["--set", f"mesh.nx={n}", "--set", f"mesh.ny={n}"]
    # the table is what is compared: no figures, fields or page
    quiet = [w for key in ("figures", "fields", "report") for w in ("--set", f"output.{key}=false")]
    return ["run", str(CASE), *sizes, *quiet, "--out", out]


def ours(n: int, rounds: int) -> tuple[Child, dict[str, Any], list[dict[str, str]]]:
    """The run with the least CPU time, its summary and its table of contacts."""
    with tempfile.TemporaryDirectory() as out:
        children = [run([*fecontact(), *arguments(n, out)]) for _ in range(rounds)]
        if any(child.code for child in children):
            raise SystemExit(f"n = {n} failed: {children[0].output[-400:]}")
        summary = json.loads(Path(out, "summary.json").read_text())
        with Path(out, "contact.csv").open() as stream:
            table = list(csv.DictReader(stream))
    return min(children, key=lambda child: child.cpu), summary, table


@dataclass(frozen=True)
class Peer:
    """Another program: the command before ``n out.json``, or why there is none."""

    name: str
    command: tuple[str, ...] | None
    bar: str = ""
    largest: int = 0

    def run(self, n: int) -> tuple[Child, dict[str, Any] | None]:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "out.json")
            child = run([*(self.command or ()), str(n), str(out)])
            return child, json.loads(out.read_text()) if out.exists() else None


def peers() -> list[Peer]:
    """The programs to compare with, installed here or not."""
    ccx = shutil.which("ccx")
    calculix = (sys.executable, str(PEERS / "calculix_block.py")) if ccx else None
    kratos = "KratosMultiphysics.ContactStructuralMechanicsApplication"
    return [
        Peer("GetFEM", _script("getfem_block.py", "getfem"), bar=">= 10", largest=512),
        Peer("CalculiX", calculix, largest=256),
        Peer("NGSolve", _script("ngsolve_block.py", "ngsolve"), largest=512),
        Peer("Kratos", _script("kratos_block.py", kratos), largest=256),
    ]


def _script(name: str, module: str) -> tuple[str, ...] | None:
    """Command of a script, by a Python that has the module; None where there is none."""
    python = python_with(module)
    return (python, str(PEERS / name)) if python else None


def memory_by_phase(n: int) -> dict[str, float]:
    """Peak memory (MiB) of the process within each phase; empty where it cannot be measured."""
    with tempfile.TemporaryDirectory() as out:
        run([sys.executable, __file__, str(n), "--phases-into", out])
        path = Path(out, "memory.json")
        return json.loads(path.read_text()) if path.exists() else {}


def _record_phases(n: int, out: str) -> None:
    pin()
    from fecontact import cli, timing

    peaks: dict[str, float] = {}
    watched = timing.Phases.__call__

    @contextmanager
    def measured(self: Any, name: str) -> Iterator[None]:
        Path("/proc/self/clear_refs").write_text("5")
        with watched(self, name):
            yield
        lines = Path("/proc/self/status").read_text().splitlines()
        high = next(float(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        peaks[name] = max(peaks.get(name, 0.0), high / 1024)

    timing.Phases.__call__ = measured  # type: ignore[method-assign]
    with suppress(OSError):
        cli.main(arguments(n, out))
        Path(out, "memory.json").write_text(json.dumps(peaks))


def compare(n: int, rounds: int, others: list[Peer]) -> tuple[list[Row], dict[str, Any]]:
    child, summary, table = ours(n, rounds)
    curve = {
        "n": n,
        "dofs": summary["mesh"]["dofs"],
        "cpu": child.cpu,
        "wall": child.wall,
        "memory": child.memory,
        "computation": summary["wall_time"]["computation"],
        "phases": summary["wall_time"]["phases"],
        "memory_phases": memory_by_phase(n),
        "peers": {},
    }
    rows = []
    for peer in others:
        row = partial(Row, "whole block", f"n = {n}", peer.name, child.cpu)
        alone = (child.memory, None)
        if peer.command is None or n > peer.largest:
            why = "not installed" if peer.command is None else f"not run above n = {peer.largest}"
            rows.append(row(memory=alone, note=why))
            continue
        theirs, found = peer.run(n)
        if found is None:
            rows.append(row(memory=alone, note=f"failed: {theirs.output.strip()[-200:]}"))
            continue
        curve["peers"][peer.name] = {"cpu": theirs.cpu, "memory": theirs.memory}
        rows.append(
            row(
                theirs.cpu,
                theirs.cpu / child.cpu,
                peer.bar if n == 256 else "",
                (child.memory, theirs.memory),
                agreement(table, found),
            )
        )
    return rows, curve


def agreement(table: list[dict[str, str]], found: dict[str, Any]) -> str:
    """How closely the table of contacts and that of another program agree, in words."""
    what, keys = ("reactions", ("RN", "RT")) if "RN" in found else ("displacements", ("ux",))
    error = max(
        abs(float(line[key]) - value)
        for key in keys
        for line, value in zip(table, found[key], strict=True)
    )
    return f"{what} agree to {error / max(found[keys[0]]):.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("n", nargs="*", type=int, default=[16, 64, 256, 512])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", help="write the rows there as well")
    parser.add_argument("--alone", action="store_true", help="leave the other programs out")
    parser.add_argument("--phases-into", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phases_into:
        _record_phases(options.n[0], options.phases_into)
        return
    others = [] if options.alone else peers()
    rows, curves = [], []
    ours(8, 1)  # kernels are compiled before anything is timed
    for n in options.n:
        some, curve = compare(n, options.rounds, others)
        rows += some
        curves.append(curve)
    fits = {}
    within = [c for c in curves if LEAST <= c["n"] <= MOST]
    if len(within) > 1:
        dofs = [c["dofs"] for c in within]
        for key in ("cpu", "computation", "memory"):
            fits[key] = exponent(dofs, [c[key] for c in within])
    report(rows, options.json, curves=curves, exponents=fits)
    for c in curves:
        print(f"n = {c['n']}: CPU {c['cpu']:.2f} s, wall {c['wall']:.2f} s, {c['memory']:.0f} MiB")
        for name, seconds in c["phases"].items():
            high = c["memory_phases"].get(name)
            print(f"    {name:>16} {seconds:8.4f} s" + (f" {high:7.0f} MiB" if high else ""))
    print("exponents against dofs:", {k: round(v, 2) for k, v in fits.items()})


if __name__ == "__main__":
    main()
