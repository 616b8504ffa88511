"""Mutation testing: small faults put into solvers and contacts, to see whether tests notice.

    python -m tests.mutants                          # a sample of every module listed below
    python -m tests.mutants --sample 0 --only newton # all mutants of that module

What came out is kept in results/mutants.json, from which docs/make_testing.py writes its table.

One fault at a time (an operator, a comparison, a constant, a sign) is put into a copy of the
package in a temporary folder, and the tests of that module run until one fails. Mutants that no
test notices are printed with their place. Kernels run in Python (see `tests.interpreted`), so that
no fault hides behind code that was compiled before.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parent.parent
KEPT = ROOT / "results" / "mutants.json"
"""What the last campaign found."""
TARGETS: dict[str, tuple[str, ...]] = {
    "solvers/local2d.py": ("solvers_local", "solvers_nsgs"),
    "solvers/local3d.py": ("solvers_local",),
    "solvers/cone.py": ("solvers_residual", "solvers_family"),
    "solvers/residual.py": ("solvers_residual", "solvers_problem"),
    "solvers/sweeps.py": ("solvers_nsgs", "solvers_family"),
    "solvers/nsgs.py": ("solvers_nsgs", "solvers_residual", "solvers_family"),
    "solvers/newton.py": ("solvers_newton", "solvers_family"),
    "contact/weights.py": ("contact",),
    "conditions/travel.py": ("travel", "conditions"),
    "contact/obstacles.py": ("polygons", "contact", "travel"),
    "contact/projection.py": ("pairs_detection", "pairs", "properties"),
    "contact/overlaps.py": ("pairs", "pairs_detection"),
    "contact/laws.py": ("laws", "pairs"),
    "contact/local.py": ("contact", "pairs"),
}
"""Modules of the package, each with the tests that are to notice its faults."""
TOO_SLOW = "sliding_block_without_settings"
"""Tests that take minutes where kernels run in Python."""

_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_SLOWER, _PATIENCE = 4.0, 10.0
"""A mutant that takes so many times as long as the sound module, and these seconds, is noticed."""


@dataclass(frozen=True)
class Mutant:
    """A fault: where it is, what it changes, and the whole text of the module with it."""

    module: str
    line: int
    change: str
    text: str


def _variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Faulty copies of one node, each with what is changed."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _BINARY:
            other = copy.copy(node)
            other.op = _BINARY[type(op)]()
            yield type(op).__name__ + " -> " + type(other.op).__name__, other
        case ast.Compare(ops=[op]):
            for kind in _COMPARE.get(type(op), ()):
                other = copy.copy(node)
                other.ops = [kind()]
                yield type(op).__name__ + " -> " + kind.__name__, other
        case ast.BoolOp(op=op):
            other = copy.copy(node)
            other.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield type(op).__name__ + " -> " + type(other.op).__name__, other
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert() as op, operand=operand):
            yield type(op).__name__ + " dropped", operand
        case ast.Constant(value=bool() as value):
            yield f"{value} -> {not value}", ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield f"{value} -> {value + 1}", ast.Constant(value + 1)
        case ast.Constant(value=float() as value):
            changed = 1.0 if value == 0.0 else 2.0 * value
            yield f"{value} -> {changed}", ast.Constant(changed)
        case ast.Break():
            yield "break -> continue", ast.Continue()
        case ast.Continue():
            yield "continue -> break", ast.Break()


def _parts(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Parent, field, place and child of all nodes whose faults could change a result."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for k, child in enumerate(value if isinstance(value, list) else [value]):
            # messages may say what they like
            if isinstance(child, (ast.Raise, ast.JoinedStr)) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.FunctionDef) and child.name == "__repr__":
                continue
            yield node, name, k if isinstance(value, list) else None, child
            yield from _parts(child)


def mutants(module: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    tree = ast.parse((ROOT / "fecontact" / module).read_text(encoding="utf-8"))
    found = []
    for parent, name, k, child in list(_parts(tree)):
        for change, other in _variants(child):
            ast.copy_location(other, child)
            holder = getattr(parent, name)
            if k is None:
                setattr(parent, name, other)
            else:
                holder[k] = other
            text = ast.unparse(ast.fix_missing_locations(tree))
            if k is None:
                setattr(parent, name, child)
            else:
                holder[k] = child
            found.append(Mutant(module, getattr(child, "lineno", 0), change, text))
    return found


def _tests(folder: Path, names: tuple[str, ...], timeout: float) -> tuple[str, float]:
    """Run tests in a copy of the project; returns ``"passed"``, ``"failed"`` or ``"too long"``."""
    start = time.monotonic()
    # what tests import is loaded already, but for the package itself
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        # the package and its tests are those of the copy
        sys.path[:] = [str(folder), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
        for name in [m for m in sys.modules if m.partition(".")[0] in ("fecontact", "tests")]:
            del sys.modules[name]
        import pytest

        files = [f"tests/test_{name}.py" for name in names]
        options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        options += ["-k", f"not {TOO_SLOW}"]
        os._exit(int(pytest.main([*options, *files])))
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        spent = time.monotonic() - start
        if done:
            return ("passed" if status == 0 else "failed"), spent
        if spent > timeout:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "too long", spent
        time.sleep(0.02)


def _copied(folder: Path) -> None:
    skip = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in ("fecontact", "tests", "cases", "meshes"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", folder)


def _preload() -> None:
    """Import what is slow to import, before the children are forked."""
    import h5py
    import meshio
    import numba
    import pydantic
    import pytest
    import scipy.integrate
    import scipy.sparse.linalg

    _ = h5py, meshio, numba, pydantic, pytest, scipy


def _kept(sample: int, seed: int) -> dict[str, Any]:
    """What is kept of other modules in a sample of the same size and seed."""
    kept: dict[str, Any] = {"sample": sample, "seed": seed, "modules": {}}
    if KEPT.is_file():
        before = json.loads(KEPT.read_text(encoding="utf-8"))
        if (before["sample"], before["seed"]) == (sample, seed):
            kept["modules"] = before["modules"]
    return kept


def campaign(modules: list[str], sample: int, seed: int) -> int:
    """Try mutants of modules and print what becomes of them; returns how many survive."""
    survivors: list[Mutant] = []
    tried = 0
    kept = _kept(sample, seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _copied(folder)
        for module in modules:
            names = TARGETS[module]
            word, base = _tests(folder, names, 600.0)
            if word != "passed":
                raise SystemExit(f"{module}: its tests have {word} without any fault")
            found = mutants(module)
            if sample and len(found) > sample:
                found = sorted(
                    Random(f"{seed}/{module}").sample(found, sample), key=lambda m: m.line
                )
            path = folder / "fecontact" / module
            sound = path.read_text(encoding="utf-8")
            left = []
            for mutant in found:
                path.write_text(mutant.text, encoding="utf-8")
                word, _ = _tests(folder, names, _SLOWER * base + _PATIENCE)
                if word == "passed":
                    left.append(mutant)
                    print(f"    survives: {module}:{mutant.line}: {mutant.change}", flush=True)
            path.write_text(sound, encoding="utf-8")
            killed = len(found) - len(left)
            print(f"{module}: {killed} of {len(found)} noticed ({base:.1f} s of tests)", flush=True)
            survivors += left
            tried += len(found)
            lines = sound.splitlines()
            kept["modules"][module] = {
                "tried": len(found),
                "noticed": killed,
                "survivors": [
                    {"line": m.line, "text": lines[m.line - 1].strip(), "change": m.change}
                    for m in left
                ],
            }
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(kept, indent=2, ensure_ascii=False), encoding="utf-8")
    print(f"{tried - len(survivors)} of {tried} mutants noticed, {len(survivors)} survive")
    return len(survivors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=15, help="mutants of each module; 0 for all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument(
        "--only", default="", help="parts of the names of the modules to take, by commas"
    )
    given = parser.parse_args()
    os.environ.update(FECONTACT_INTERPRETED="1", OMP_NUM_THREADS="1")
    sys.dont_write_bytecode = True
    _preload()
    parts = given.only.split(",")
    campaign([m for m in TARGETS if any(p in m for p in parts)], given.sample, given.seed)


if __name__ == "__main__":
    main()
