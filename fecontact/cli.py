"""The command line: what it understands, and ``run``, ``check`` and ``compare``.

Only this module and `fecontact.commands` print and set exit codes: 0 done, 2 bad input, 3 not
converged or stopped midway, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fecontact import __version__
from fecontact.commands import add_parsers
from fecontact.commands.options import add_case, add_overwrite, add_settings, add_trust
from fecontact.errors import FecontactError, InputError, Terminated

if TYPE_CHECKING:
    from fecontact.output.problems import ProblemWriter


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = argparse.ArgumentParser(
        prog="fecontact",
        description="Finite elements for deformable bodies in contact with dry friction.",
    )
    top.add_argument("--version", action="version", version=f"fecontact {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def case_command(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        add_case(command)
        add_settings(
            command,
            "set a key of the case; contact.reactions=weighted sets it for all contacts, "
            "contact.NAME.reactions=weighted for one",
        )
        add_trust(command)
        return command

    run = case_command("run", "run a case and write its results")
    run.add_argument("--out", metavar="DIR", help="folder of the results (results/CASE)")
    run.add_argument(
        "--watch", action="store_true", help="serve the report page on loopback while it runs"
    )
    run.add_argument("--port", metavar="N", type=int, help="port of --watch (8765 or a free one)")
    run.add_argument(
        "--save-problems",
        metavar="DIR",
        help="write the friction problems of the steps to this folder (FCLib files)",
    )
    run.add_argument(
        "--problem-steps",
        metavar="N,N,...",
        type=_numbers,
        help="steps whose friction problem is written (all)",
    )
    case_command("check", "tell what a case holds and what a run would do, without doing it")
    compare = case_command("compare", "run variants of a case and compare them")
    compare.add_argument(
        "--vary",
        metavar="KEY=A,B,...",
        action="append",
        default=[],
        help="values of a key to compare, several make a grid; else the variants of the case",
    )
    compare.add_argument(
        "--out", metavar="DIR", help="folder of the results (results/CASE_compare)"
    )
    text = "solve a friction problem from a file, FCLib (.hdf5, .h5) or Siconos text"
    solve = commands.add_parser("solve", help=text, description=text)
    solve.add_argument("file", metavar="FILE", help="file of the problem")
    solve.add_argument("--solver", metavar="NAME", help="solver (hybrid)")
    solve.add_argument("--tol", type=float, default=1e-8, help="bound of the natural map (1e-8)")
    solve.add_argument("--out", metavar="FILE.json", help="file of the solution")
    solve.add_argument("--all", action="store_true", help="try all solvers and compare them")
    for command in (run, compare):
        add_overwrite(command)
    add_parsers(commands)
    return top


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of step numbers such as 1,5,10"
        ) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    given = parser().parse_args(arguments)
    try:
        if given.command == "run":
            return _run(given)
        if given.command == "check":
            return _check(given)
        if given.command == "solve":
            from fecontact.commands.solve import solve_file

            return solve_file(given)
        if given.command == "compare":
            return _compare(given)
        code: int = given.action(given)
        return code
    except FecontactError as error:
        print(f"fecontact: {error}", file=sys.stderr)
        return error.exit_code
    except MemoryError as error:
        print(f"fecontact: there is not enough memory: {error}".rstrip(": "), file=sys.stderr)
        return 2
    except BrokenPipeError:
        return _unread()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"fecontact: {place}{error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        terminated = isinstance(error, Terminated)
        print(f"fecontact: {'terminated' if terminated else 'interrupted'}", file=sys.stderr)
        return 143 if terminated else 130


def _unread() -> int:
    """Nobody reads what is printed any more, as after ``| head``; what was computed is kept."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else 1


def _run(given: argparse.Namespace) -> int:
    from fecontact.case import read_case
    from fecontact.commands.execution import close, execute
    from fecontact.study.folders import check_run_folder

    if given.problem_steps and not given.save_problems:
        raise InputError("--problem-steps needs --save-problems DIR")
    case = read_case(given.case, given.settings, trust=given.trust)
    folder = Path(given.out) if given.out else Path("results") / case.name
    check_run_folder(folder, case, given.overwrite)
    problems: list[ProblemWriter] = []
    if given.save_problems:
        from fecontact.output.problems import ProblemWriter

        problems = [ProblemWriter(given.save_problems, given.problem_steps)]
    if given.port is not None and not given.watch:
        raise InputError("--port needs --watch")
    if given.watch:
        from fecontact.commands.watch import watching

        with watching(folder, case.data, given.port) as live:
            result, paths = execute(case, folder, *problems, watchers=[live])
    else:
        result, paths = execute(case, folder, *problems)
    for writer in problems:
        paths["problems"] = writer.paths
    return close(result, paths, folder)


def _check(given: argparse.Namespace) -> int:
    from fecontact.case import build, read_case
    from fecontact.case.variants import variants
    from fecontact.commands.execution import tell_doubts
    from fecontact.model import contact_line
    from fecontact.units import quantities

    case = read_case(given.case, given.settings, trust=given.trust)
    named = variants(case, ()) if case.spec.variants else []
    simulation = build(case)
    tell_doubts(case, simulation)
    model = simulation.model
    mesh, solid = model.mesh, model.solid
    print(f"{case.path}: {simulation.title}")
    for key, quantity in quantities(case.data).items():
        print(f"  {key}: {quantity}")
    print(mesh)
    print(f"Solid: {solid.hypothesis}, thickness {solid.thickness:g}")
    for region in solid.regions:
        print(f"  {region.name}: {len(region.elements)} elements, {region.material}")
    fixed = len(model.constraints.fixed)
    print(f"Degrees of freedom: {model.n_dofs}, {fixed} prescribed, {model.n_dofs - fixed} free")
    for condition in model.prescribed:
        print(f"  prescribed {condition.label} on {condition.on!r}")
    start = model.external(simulation.times.end).reshape(-1, mesh.dim).sum(axis=0)
    for load in model.loads:
        print(f"  load {load.label}: {type(load).__name__}")
    print(f"  resultant of the loads at the end: ({start[0]:.6g}, {start[1]:.6g})")
    for interface in model.interfaces:
        print(contact_line(interface))
    memory = simulation.memory()
    if memory is not None:
        print(f"Memory of the factorisation: {memory}")
        if not memory.fits:
            print("  this does not fit: conjugate gradients would be tried where the scheme can")
    simulation.prepare()
    times, options = simulation.times, simulation.options
    print(
        f"To do: {simulation.scheme.name}, {times.count} step(s) of {times.size:g} to t = "
        f"{times.end:g}, solver {options.solver} to {options.tolerance:g}"
    )
    if named:
        print(f"Variants that compare runs: {', '.join(label for label, _ in named)}")
    print("The case is sound; nothing was computed or written.")
    return 0


def _compare(given: argparse.Namespace) -> int:
    from fecontact.case import build, read_case
    from fecontact.case.variants import variants
    from fecontact.commands.execution import digest, execute, list_files, verdict
    from fecontact.output import compare_results
    from fecontact.study.folders import Comparison

    base = read_case(given.case, given.settings, trust=given.trust)
    found = variants(base, given.vary)
    folder = Path(given.out) if given.out else Path("results") / f"{base.name}_compare"
    comparison = Comparison(folder, base, given.vary, [label for label, _ in found])
    comparison.check(given.overwrite)
    for _, case in found:
        build(case).prepare()
    comparison.claim()
    runs, pages, code = [], [], 0
    for label, case in found:
        print(f"{label}", file=sys.stderr)
        result, paths = execute(case, folder / label)
        code = max(code, verdict(result))
        if result.last is not None:
            runs.append((label, result))
            print(digest(result))
            list_files(paths)
        if isinstance(page := paths.get("report"), Path):
            pages.append(page)
    if len(runs) > 1:
        print(compare_results(runs, folder))
        made = sorted(folder.glob("comparison*"))
        pictures = [path for path in made if path.suffix == ".png"]
        tables = [path for path in made if path.suffix == ".csv"]
        list_files({"picture": pictures, "table": tables, "page": pages})
    return code
