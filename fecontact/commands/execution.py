"""A case run into a folder, with its progress, its files and the word on how it ended."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fecontact.errors import NotConverged

if TYPE_CHECKING:
    from fecontact.case import Case
    from fecontact.output.checkpoint import Checkpoint
    from fecontact.output.writer import Paths
    from fecontact.simulation import Observer, Result, Simulation


def execute(
    case: Case,
    folder: Path,
    *observers: Observer,
    watchers: Sequence[Observer] = (),
    resumed: Checkpoint | None = None,
) -> tuple[Result, Paths]:
    """Run a case into a folder.

    Parameters
    ----------
    case, folder
        What, and where to.
    observers, watchers
        Called before and after the writing of each step.
    resumed
        What the run in the folder goes on from; from its start where it is None.
    """
    from fecontact.case import build
    from fecontact.case.writing import writer_of
    from fecontact.commands.interrupt import Shielded
    from fecontact.output import Progress
    from fecontact.output.checkpoint import kept_steps
    from fecontact.study.folders import clear_study

    simulation = build(case, None if resumed is None else resumed.mesh)
    tell_doubts(case, simulation)
    simulation.prepare()
    standing = None
    if resumed is None:
        clear_study(folder)
    else:
        steps = kept_steps(folder, [number for number, _ in resumed.saved])
        standing = replace(resumed.standing, steps=steps)
    writer = writer_of(case, folder, resumed=resumed)
    try:
        with Shielded(Progress(sys.stderr), *observers, writer, *watchers) as shielded:
            result = simulation.run(shielded, after=standing)
    except KeyboardInterrupt:
        if writer.paths:
            list_files(writer.paths)
        _hint(writer.paths, folder)
        raise
    for note in writer.notes:
        print(f"Note: {note}", file=sys.stderr)
    return result, writer.paths


def tell_doubts(case: Case, simulation: Simulation) -> None:
    """Print what is unlikely in a case, unless it says that it is meant."""
    from fecontact.case.plausibility import doubts

    if case.spec.checks.plausibility:
        for doubt in doubts(simulation):
            print(f"Note: {doubt}", file=sys.stderr)


def digest(result: Result) -> str:
    """The end of a run in a few lines."""
    from fecontact.contact import Status
    from fecontact.history import per_thickness
    from fecontact.output.report.verdicts import SMALL_STRAIN
    from fecontact.output.summary import largest_strain

    step = result.final
    lines = [f"{result.simulation.title}: t = {step.t:g} after {step.number} step(s)"]
    for name, state in step.contacts.items():
        counts = ", ".join(f"{state.count(s)} {s.label}" for s in Status)
        total = per_thickness(result.simulation.model.solid) * state.force.sum(axis=0)
        lines.append(
            f"  contact {name} ({state.reactions}): {counts}; "
            f"total RN = {total[0]:.6g}, RT = {total[1]:.6g}"
        )
    lines.append(
        f"  natural map {result.worst_residual:.1e} (tolerance "
        f"{result.simulation.options.tolerance:.0e}), force balance {result.worst_balance:.1e}"
    )
    strain = largest_strain(result)
    if strain is not None and strain > SMALL_STRAIN:
        lines.append(
            f"  strains reach {strain:.2g}, while displacements were taken as small: read shapes "
            "and stresses with care"
        )
    return "\n".join(lines)


def list_files(paths: Mapping[str, Path | list[Path]]) -> None:
    """Print what was written."""
    print("Results:")
    for kind, found in paths.items():
        listed = found if isinstance(found, list) else [found]
        if kind in ("vtu", "states", "problems") and len(listed) > 2:
            listed = [listed[0], listed[-1]]
        for path in listed:
            print(f"  {kind:<20} {path}")


def verdict(result: Result) -> int:
    """Print what went wrong, if anything did; returns the exit code."""
    from fecontact.output.failure import failure_lines

    if result.refuted:
        print(f"fecontact: {result.refuted}", file=sys.stderr)
    if result.failure is None:
        return NotConverged.exit_code if result.refuted else 0
    print(f"fecontact: {result.failure}", file=sys.stderr)
    for line in failure_lines(result):
        print(f"  {line}", file=sys.stderr)
    return result.failure.exit_code


def close(result: Result, paths: Paths, folder: Path) -> int:
    """Print the end of a run; returns the exit code."""
    if result.last is not None:
        print(digest(result))
    list_files(paths)
    code = verdict(result)
    _hint(paths, folder)
    return code


def _hint(paths: Paths, folder: Path) -> None:
    if "checkpoint" in paths:
        print(f"To go on from the last step: fecontact resume {folder}", file=sys.stderr)
