"""Checkpoints of a run: HDF5 files that it can go on from, to the same bits.

A file holds, besides the last step with its state and pace and the rows of the history, the mesh,
the case, the version of the program and what was saved so far. Its first 512 bytes, which HDF5
leaves to the user, have the SHA-256 of all that follows. It is written aside, brought to the disk
and then renamed, so that a checkpoint is complete or not there; the last two are kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from fecontact.errors import FecontactError, InputError
from fecontact.mesh import Mesh
from fecontact.output.atomic import remove_parts, replacing, to_disk
from fecontact.output.hdf5 import hdf5_image, new_hdf5
from fecontact.output.trees import get_tree, put_tree
from fecontact.schemes import StepResult
from fecontact.simulation import Standing

KEPT = 2
KEPT_STEPS = "steps.parts"
_PATTERN = "checkpoint_[0-9]*.h5"
_HEAD = 512
_MAGIC = "fecontact checkpoint, SHA-256 of what follows byte 512: "


class Damaged(InputError):
    """A checkpoint whose checksum does not hold, or that is no checkpoint."""


@dataclass(frozen=True)
class Keep:
    """How often a checkpoint is written, besides after the first step and where a run stops.

    Parameters
    ----------
    every
        Steps between two; None leaves it to `minutes`.
    minutes
        Minutes between two; 0 leaves it to `every`.
    files
        SHA-256 of the files that the case names, by name.
    """

    every: int | None = None
    minutes: float = 5.0
    files: Mapping[str, str] = field(default_factory=dict)

    def due(self, steps: int, since: float | None) -> bool:
        """Whether one is due, `steps` after the last one, which was written at time `since`."""
        if not self.every and not self.minutes:
            return False
        if since is None or (self.every and steps >= self.every):
            return True
        return self.minutes > 0.0 and monotonic() - since >= 60.0 * self.minutes


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a run needs to go on.

    Attributes
    ----------
    standing : Standing
        The last step and the rows of the history.
    saved : sequence of (number, time)
        Steps whose fields and contacts were saved.
    mesh : Mesh
        Of the model.
    version : str
        Of the program that wrote it.
    case, case_file, case_folder
        The case as it was given, where it was read, and the folder of that file, from which files
        that the case names are found; None for a run that had no case file.
    files
        SHA-256 of the files that the case names, by name.
    """

    standing: Standing
    saved: Sequence[tuple[int, float]]
    mesh: Mesh
    version: str
    case: Mapping[str, Any] | None = None
    case_file: str | None = None
    case_folder: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """Number of the last step."""
        return self.standing.last.number


def checkpoint_paths(folder: Path) -> list[Path]:
    """Checkpoints of a folder, the newest first."""
    return sorted(folder.glob(_PATTERN), key=checkpoint_number, reverse=True)


def checkpoint_number(path: Path) -> int:
    """Number of the step of a checkpoint, by its name."""
    return int(path.stem.rpartition("_")[2])


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint and remove the third last; returns its path."""
    path = folder / f"checkpoint_{checkpoint.number:06d}.h5"
    rows, whole = _table(checkpoint.standing.rows)
    last = replace(checkpoint.standing.last, problem=None)
    content = {
        "last": last,
        "rows": rows,
        "whole": whole,
        "mesh": checkpoint.mesh,
        "saved": tuple(checkpoint.saved),
        "case_file": checkpoint.case_file,
        "case_folder": checkpoint.case_folder,
        "files": checkpoint.files,
    }
    with hdf5_image() as (file, image):
        file.attrs["version"] = checkpoint.version
        file.attrs["number"], file.attrs["time"] = last.number, last.t
        file["case"] = json.dumps(checkpoint.case, default=str)
        put_tree(file, content)
    digest = hashlib.sha256(image.getbuffer()).hexdigest()
    with replacing(path) as part:
        with part.open("wb") as raw:
            raw.write(_head(digest))
            raw.write(image.getbuffer())
        to_disk(part)
    to_disk(folder)
    for old in checkpoint_paths(folder)[KEPT:]:
        old.unlink(missing_ok=True)
    return path


def _head(digest: str) -> bytes:
    return f"{_MAGIC}{digest}\n".encode().ljust(_HEAD, b"\0")


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises
    ------
    Damaged
        Where its checksum does not hold or it cannot be read.
    """
    import h5py

    try:
        with path.open("rb") as raw:
            head = raw.read(_HEAD)
            digest = hashlib.file_digest(raw, "sha256").hexdigest()
        if head != _head(digest):
            raise Damaged(f"{path}: the checkpoint is damaged, its checksum does not hold")
        with h5py.File(path, "r", locking=False) as file:
            case = json.loads(file["case"][()])
            version = str(file.attrs["version"])
            found = get_tree(file)
        standing = Standing(found["last"], _rows(found["rows"], found["whole"]))
        checkpoint = Checkpoint(
            standing=standing,
            version=version,
            case=case,
            **{key: found[key] for key in ("saved", "mesh", "case_file", "case_folder", "files")},
        )
    except Damaged:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, FecontactError) as error:
        raise Damaged(f"{path}: the checkpoint cannot be read: {error}") from None
    if not (isinstance(standing.last, StepResult) and isinstance(checkpoint.mesh, Mesh)):
        raise Damaged(f"{path}: the checkpoint holds no step and mesh")
    return checkpoint


def latest_checkpoint(folder: Path) -> tuple[Checkpoint, list[str]]:
    """The newest checkpoint that is sound, and what is to be told of newer ones.

    Raises
    ------
    InputError
        Where there is none.
    """
    told: list[str] = []
    for path in checkpoint_paths(folder):
        try:
            return read_checkpoint(path), told
        except Damaged as error:
            told.append(str(error))
    if told:
        raise InputError("; ".join(told) + "; there is no earlier one to go on from")
    raise InputError(
        f"{folder}: there is no checkpoint to go on from; one is written after the first step, "
        "and as output.checkpoint_every and output.checkpoint_minutes say"
    )


def keep_step(folder: Path, step: StepResult) -> Path:
    """Keep a saved step in full, for figures over time that the end of a resumed run draws."""
    parts = folder / KEPT_STEPS
    parts.mkdir(exist_ok=True)
    path = parts / f"{step.number:06d}.h5"
    with new_hdf5(path) as file:
        put_tree(file, replace(step, problem=None, before=None))
    return path


def kept_steps(folder: Path, numbers: Collection[int]) -> list[StepResult]:
    """The steps of these numbers that were kept, in order."""
    import h5py

    found = []
    for path in sorted((folder / KEPT_STEPS).glob("[0-9]*.h5"), key=lambda p: int(p.stem)):
        if int(path.stem) in numbers:
            with h5py.File(path, "r", locking=False) as file:
                found.append(get_tree(file))
    return found


def remove_kept(folder: Path) -> None:
    """Remove all checkpoints and kept steps of a folder."""
    for path in checkpoint_paths(folder):
        path.unlink()
    remove_parts(folder / KEPT_STEPS)


def _table(rows: Sequence[Sequence[float]]) -> tuple[Any, Any]:
    """Rows as an array, and which columns hold whole numbers."""
    width = len(rows[0]) if rows else 0
    table = np.array(rows, dtype=np.float64).reshape(len(rows), width)
    whole = [isinstance(value, int) for value in rows[-1]] if rows else []
    return table, np.array(whole, dtype=bool)


def _rows(table: Any, whole: Any) -> list[list[float]]:
    return [
        [int(v) if w else v for v, w in zip(row, whole.tolist(), strict=True)]
        for row in table.tolist()
    ]
