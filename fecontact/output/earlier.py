"""What an earlier run left in a folder: taken away, or brought back to where it stood."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from fecontact.output.atomic import left_over
from fecontact.output.checkpoint import (
    Checkpoint,
    checkpoint_number,
    checkpoint_paths,
    remove_kept,
)
from fecontact.output.contact_steps import ContactStepsWriter, journal_of
from fecontact.output.failure import FILES as FAILURE_FILES

_EACH_STEP = ("fields_[0-9]*.vtu", "state_[0-9]*.npz")
"""Files of saved steps, named by the number of the step."""


def remove_earlier(folder: Path, kept: Collection[str] = ()) -> None:
    """Take away what an earlier run left, by its own list and by the names of its files."""
    names = {path.name for path in _of_steps(folder)}
    names |= {path.name for path in (*checkpoint_paths(folder), *left_over(folder))}
    names |= {"summary.json", "contacts.h5", "report.html", "mesh.vtu", *FAILURE_FILES}
    try:
        listed = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["files"]
        names |= {str(name) for name in listed if Path(str(name)).name == name}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    for name in names - set(kept):
        path = folder / name
        if path.is_file():
            path.unlink()
    if not kept:
        journal_of(folder / "contacts.h5").unlink(missing_ok=True)
        remove_kept(folder)


def forget_later(folder: Path, checkpoint: Checkpoint, contacts: ContactStepsWriter) -> list[str]:
    """Bring a folder to where it was when a checkpoint was written; returns what is missing.

    Done again after it was broken off, it gives the same.
    """
    notes = []
    numbers = [number for number, _ in checkpoint.saved]
    if checkpoint.standing.last.contacts:
        lost = contacts.reopen(numbers)
        if lost:
            notes.append(f"the contacts of {_listed(lost)} are not in the folder any more")
    there = [path for path in _of_steps(folder) if _number(path) in numbers]
    gone = sorted(set(numbers) - {_number(path) for path in there if path.suffix == ".vtu"})
    if 0 < len(gone) < len(numbers):
        notes.append(f"the fields of {_listed(gone)} are not in the folder any more")
    checkpoints = {
        path.name
        for path in checkpoint_paths(folder)
        if checkpoint_number(path) <= checkpoint.number
    }
    remove_earlier(folder, {path.name for path in there} | checkpoints | {"mesh.vtu"})
    return notes


def _of_steps(folder: Path) -> list[Path]:
    return [path for pattern in _EACH_STEP for path in folder.glob(pattern)]


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _listed(steps: Sequence[int]) -> str:
    if len(steps) == 1:
        return f"saved step {steps[0]}"
    some = ", ".join(map(str, steps[:5])) + (", ..." if len(steps) > 5 else "")
    return f"{len(steps)} saved steps ({some})"
