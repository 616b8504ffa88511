"""Spoiled case files and mesh files: whatever they hold, a message and an exit code come out.

``python -m tests.fuzz cases 2000`` and ``python -m tests.fuzz meshes 500`` try many; a seed may
follow. Each file is read (and, where it is sound, run) in a process of its own kind with bounded
memory. What must not happen: an exception that leaves the command line, a warning of Python, more
than ten seconds of computing, minutes by the clock, or a file outside the folder of results.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import math
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.small_cases import CASES, SMALLER, linear_cases

SECONDS = 10
"""Of the processor: a busy machine takes longer by the clock."""
WAITED = 300
"""By the clock, for what waits without computing."""
MEMORY = 6 * 2**30
CODES = {0, 2, 3}


class Hang(BaseException):
    """Nothing came out in time."""


@dataclass
class Tally:
    """What became of spoiled files: exit codes, and what must not be."""

    codes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def __str__(self) -> str:
        told = ", ".join(f"{n} {code}" for code, n in sorted(self.codes.items()))
        return f"{told}; slowest {self.slowest:.1f} s; {len(self.wrong)} wrong"


# TOML, so that any tree can be written


def to_toml(value: Any) -> str:
    """A value as TOML; tables inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    return "{" + ", ".join(f"{json.dumps(str(k))} = {to_toml(v)}" for k, v in value.items()) + "}"


def document(data: dict[str, Any]) -> str:
    """A whole file."""
    return "\n".join(f"{json.dumps(key)} = {to_toml(value)}" for key, value in data.items()) + "\n"


# what is put in the place of values

NUMBERS: list[Any] = [
    0,
    -1,
    1,
    2,
    3,
    10**5 + 1,
    10**12,
    2**63,
    -(2**63),
    10**30,
    0.0,
    -0.0,
    1e-300,
    1e300,
    -1e300,
    5e-324,
    math.nan,
    math.inf,
    -math.inf,
    0.5,
    1.0000001,
]
TEXTS = [
    "",
    " ",
    "x",
    "all",
    "bottom",
    "top",
    "nowhere",
    "body",
    "\u0000",
    "\ud7ff\U0001f600",
    "a" * 5000,
    "1/0",
    "sqrt(-1)",
    "x / (x - x)",
    "9**9**9**9",
    "1e308 * 1e308",
    "(" * 300 + "x" + ")" * 300,
    "-" * 900 + "x",
    "x" + " + x" * 240,
    "__import__('os').system('touch spoiled')",
    "().__class__.__bases__[0].__subclasses__()",
    "lambda: 0",
    "open('spoiled', 'w')",
    "where(x > 0, 1, 2)",
    "t",
    "y * t",
    "200 GPa",
    "1 furlong",
    "3 m/s",
    "1e400 Pa",
    "/etc/passwd",
    "../../../../../../etc/passwd",
    "/dev/zero",
    "/dev/stdin",
    "..",
    "spoiled.py",
    "spoiled.geo",
    "spoiled.msh",
    "quasi_static",
    "theta",
    "newmark",
    "weighted",
    "velocity",
    "tresca",
    "glued",
    "hybrid",
    "enumeration",
    "newton",
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all parts of a tree."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], (*path, index))


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        tree = tree[part]
    return tree


def spoil_tree(data: dict[str, Any], others: list[dict[str, Any]], rng: Random) -> dict[str, Any]:
    """A case with a few parts changed, removed or taken from another case."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice(list(places(data)))
        holder, key = at(data, path[:-1]), path[-1]
        old = holder[key]
        match rng.randrange(9):
            case 0:
                del holder[key]
            case 1 | 2:
                holder[key] = rng.choice(NUMBERS)
            case 3:
                holder[key] = rng.choice(TEXTS)
            case 4 if isinstance(old, int | float) and not isinstance(old, bool):
                holder[key] = old * rng.choice((-1, 0.1, 1e-6, 1e-3, 1.5, 1e3, 1e6))
            case 5:
                other = rng.choice(others)
                holder[key] = copy.deepcopy(at(other, rng.choice(list(places(other)))))
            case 6 if isinstance(old, dict):
                old[rng.choice(TEXTS) or "key"] = rng.choice(NUMBERS)
            case 7:
                holder[key] = rng.choice([[], {}, [old], {"times": [0, 1], "values": [0, old]}])
            case _:
                deep: Any = old
                for _ in range(rng.choice((1, 5, 60))):
                    deep = rng.choice(([deep], {"a": deep}))
                holder[key] = deep
    return data


def spoil_bytes(content: bytes, rng: Random) -> bytes:
    """A file with some bytes or lines changed, repeated, removed, or cut off."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        size = len(content)
        place = rng.randrange(size + 1)
        length = min(rng.choice((1, 1, 4, 40, 400)), size - place)
        lines = content.split(b"\n")
        match rng.randrange(8):
            case 0:
                content = content[:place] + content[place + length :]
            case 1:
                content = content[:place] + rng.randbytes(length) + content[place + length :]
            case 2:
                content = content[:place] + content[place : place + length] * 3 + content[place:]
            case 3:
                content = content[:place]
            case 4:
                rng.shuffle(lines)
                content = b"\n".join(lines)
            case 5:
                at_line = rng.randrange(len(lines))
                lines.insert(at_line, rng.choice(lines))
                content = b"\n".join(lines)
            case 6:
                at_line = rng.randrange(len(lines))
                words = lines[at_line].split(b" ")
                words[rng.randrange(len(words))] = rng.choice(_WORDS)
                lines[at_line] = b" ".join(words)
                content = b"\n".join(lines)
            case _:
                old, new = rng.choice(_SWAPS)
                content = content.replace(old, new, rng.choice((1, -1)))
    return content


_WORDS = [
    b"",
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b"999999999999",
    b"4294967296",
    b"1000000000",
    b"\xff\xfe",
    b"x",
    b"$End",
    b'"',
    b"2",
    b"3",
]
_SWAPS = [
    (b"\n", b"\r\n"),
    (b" ", b"\t"),
    (b"0", b"9"),
    (b"1", b"100000000"),
    (b".", b","),
    (b"=", b":"),
    (b"4.1", b"2.2"),
    (b"1 1 ", b"1 2 "),
    (b"[", b"[["),
]


# running one

WIDE = {"nx": 40, "ny": 40}


def _cases() -> list[dict[str, Any]]:
    """Shipped cases, small, with meshes that need no other program."""
    found = []
    for name in linear_cases():
        text = (CASES / f"{name}.toml").read_text()
        if "geometry" in text:
            continue
        data = tomllib.loads(text)
        data.pop("description", None)
        for setting in SMALLER.get(name, []):
            key, _, value = setting.partition("=")
            *path, final = key.split(".")
            holder = at(data, tuple(path))
            holder[final] = float(value) if "." in value or "e" in value else int(value)
        data.setdefault("output", {}).update(figures=False, report=False)
        found.append(data)
    return found


def try_case(number: int, seed: int, folder: Path) -> tuple[str, str]:
    """Spoil a case, check it, and run it where it is sound; returns the outcome and a fault."""
    rng = Random(f"{seed}/{number}")
    cases = _cases()
    data = rng.choice(cases)
    if rng.random() < 0.75:
        content = document(spoil_tree(data, cases, rng)).encode("utf-8", "surrogatepass")
    else:
        content = spoil_bytes(document(data).encode(), rng)
    path = folder / "case.toml"
    path.write_bytes(content)
    code = _command(["check", str(path)])
    if code == 0 and _is_small(path):
        out = folder / "out"
        code = _command(["run", str(path), "--out", str(out)])
        strange = {p.name for p in folder.iterdir()} - {"case.toml", "out"}
        if strange:
            return str(code), f"files outside the folder of results: {sorted(strange)}"
    if code not in CODES:
        return str(code), f"exit code {code}"
    return f"exit {code}", ""


def _is_small(path: Path) -> bool:
    from fecontact.case import build, read_case

    simulation = build(read_case(path))
    steps = simulation.times.count
    return steps <= 300 and steps * simulation.model.n_dofs <= 200_000


def _command(arguments: list[str]) -> int:
    from fecontact.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return main(arguments)
        except SystemExit as error:
            return int(error.code or 0)


SUFFIXES = (".msh", ".msh2", ".vtu", ".vtk", ".inp", ".xdmf", ".mesh", ".nas", ".med")


SU2 = """NDIME= 2
NELEM= 2
5 0 1 2 0
5 1 3 2 1
NPOIN= 4
0.0 0.0 0
1.0 0.0 1
0.0 1.0 2
1.0 1.0 3
NMARK= 1
MARKER_TAG= 1
MARKER_ELEMS= 1
3 0 1
"""


def sound_meshes(folder: Path) -> list[Path]:
    """The same mesh in several formats."""
    from fecontact.mesh import rectangle, write_mesh

    folder.mkdir(exist_ok=True)
    mesh = rectangle(1.0, 1.0, 3, 2)
    made = []
    for suffix in SUFFIXES:
        path = folder / f"mesh{suffix}"
        options = {"file_format": "gmsh22"} if suffix == ".msh2" else {}
        write_mesh(mesh, path, **options)  # type: ignore[arg-type]
        if suffix == ".msh2":
            path = path.rename(folder / "mesh22.msh")
        made.append(path)
    # meshio reads this format, but does not write one with blocks
    su2 = folder / "mesh.su2"
    su2.write_text(SU2)
    return [*made, su2]


def try_mesh(number: int, seed: int, folder: Path) -> tuple[str, str]:
    """Spoil a mesh file and read it; returns the outcome and a fault."""
    from fecontact.errors import MeshError
    from fecontact.mesh import read_mesh

    rng = Random(f"{seed}/{number}")
    sound = sorted((folder.parent / "sound").iterdir())
    path = rng.choice([p for p in sound if p.suffix not in (".h5",)])
    spoiled = folder / path.name
    for companion in sound:
        if companion.suffix == ".h5":
            (folder / companion.name).write_bytes(companion.read_bytes())
    spoiled.write_bytes(spoil_bytes(path.read_bytes(), rng))
    before = {p.name for p in folder.iterdir()}
    try:
        mesh = read_mesh(spoiled)
        repr(mesh)
    except MeshError:
        outcome = f"{path.suffix} refused"
    else:
        outcome = f"{path.suffix} read"
    strange = {p.name for p in folder.iterdir()} - before
    return outcome, f"files written: {sorted(strange)}" if strange else ""


# many


def _stop(_signal: int, _frame: Any) -> None:
    raise Hang


def _worker(
    attempt: Callable[[int, int, Path], tuple[str, str]],
    numbers: list[int],
    seed: int,
    folder: str,
    answers: Any,
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, _stop)
    signal.signal(signal.SIGPROF, _stop)
    warnings.simplefilter("error")
    top = Path(folder)
    for number in numbers:
        own = top / f"{number:06d}"
        own.mkdir()
        os.chdir(own)
        start = time.process_time()
        outcome = fault = ""
        answers.put((number, None, "", 0.0))
        try:
            signal.alarm(SECONDS)
            try:
                outcome, fault = attempt(number, seed, own)
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)
        except Hang:
            outcome = "hang"
            fault = f"more than {SECONDS} s of computing, or {WAITED} s by the clock"
        except BaseException:
            outcome, fault = "traceback", traceback.format_exc(limit=-6)
        answers.put((number, outcome, fault, time.process_time() - start))
        if not fault:
            _remove(own)
    answers.put((-1, None, "", 0.0))


def _remove(folder: Path) -> None:
    import shutil

    os.chdir(folder.parent)
    shutil.rmtree(folder)


def hunt(
    attempt: Callable[[int, int, Path], tuple[str, str]], count: int, seed: int, folder: Path
) -> Tally:
    """Try many; a process that dies is told and the rest goes on in another."""
    tally = Tally()
    context = multiprocessing.get_context("fork")
    left = list(range(count))
    while left:
        answers = context.SimpleQueue()
        process = context.Process(
            target=_worker, args=(attempt, left, seed, str(folder), answers), daemon=True
        )
        process.start()
        current = -1
        while process.is_alive() or not answers.empty():
            if answers.empty():
                process.join(0.01)
                continue
            number, outcome, fault, seconds = answers.get()
            if number < 0:
                break
            current = number
            if outcome is None:
                continue
            left.remove(number)
            current = -1
            tally.codes[outcome] += 1
            tally.slowest = max(tally.slowest, seconds)
            if fault:
                tally.wrong.append(f"{seed}/{number}: {outcome}: {fault}")
        process.join()
        if current >= 0:
            left.remove(current)
            tally.codes["died"] += 1
            tally.wrong.append(f"{seed}/{current}: the process died ({process.exitcode})")
        elif left and process.exitcode:
            tally.wrong.append(f"{seed}: the process ended with {process.exitcode}")
            break
    return tally


def fuzz(kind: str, count: int, seed: int = 0, folder: Path | None = None) -> Tally:
    """Try many spoiled files of a kind, ``"cases"`` or ``"meshes"``."""
    top = Path(tempfile.mkdtemp(prefix="fuzz_")) if folder is None else folder
    if kind == "cases":
        return hunt(try_case, count, seed, top)
    sound_meshes(top / "sound")
    return hunt(try_mesh, count, seed, top)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=["cases", "meshes"])
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    given = parser.parse_args()
    found = fuzz(given.kind, given.count, given.seed)
    print(found)
    for fault in found.wrong:
        print(fault)
    sys.exit(bool(found.wrong))
