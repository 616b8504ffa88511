"""When a run writes its checkpoints, and that what they count on is on the disk before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from fecontact import __version__
from fecontact.mesh import Mesh
from fecontact.output.atomic import to_disk
from fecontact.output.checkpoint import Checkpoint, Keep, checkpoint_paths, write_checkpoint
from fecontact.schemes import StepResult
from fecontact.simulation import Standing

Rows = Sequence[Sequence[float]]
Saved = Sequence[tuple[int, float]]


class Keeper:
    """Writes the checkpoints of a run to its folder.

    Parameters
    ----------
    folder, keep
        Where, and how often.
    mesh
        Of the model.
    case, case_file
        The case and where it was read.
    resumed
        What the run goes on from.
    """

    def __init__(
        self,
        folder: Path,
        keep: Keep,
        mesh: Mesh,
        case: Mapping[str, Any] | None,
        case_file: str | None,
        resumed: Checkpoint | None = None,
    ) -> None:
        self.folder, self.keep = folder, keep
        self._mesh, self._case, self._case_file = mesh, case, case_file
        # files that the case names lie beside it, wherever the run is taken up again
        self._case_folder = None if case_file is None else str(Path(case_file).resolve().parent)
        self._step = None if resumed is None else resumed.standing.last
        self._saved: list[tuple[int, float]] = []
        self._written: set[Path] = set()
        self._kept = 0
        self._kept_at: float | None = None
        if resumed is not None:
            self._case_folder = resumed.case_folder
            self._saved = list(resumed.saved)
            self._kept, self._kept_at = resumed.number, monotonic()

    def wrote(self, *paths: Path) -> None:
        """Remember files that the next checkpoint counts on."""
        self._written.update(paths)

    def step(self, step: StepResult, saved: Saved, rows: Rows, ended: bool) -> None:
        """After a step whose files are complete; `ended` tells that it is the last."""
        self._step, self._saved = replace(step, problem=None), list(saved)
        if not ended and self.keep.due(step.number - self._kept, self._kept_at):
            self.write(rows)

    def squeeze(self, rows: Rows) -> None:
        """Write a checkpoint where there is little room, in the place of the older one if need be.

        Raises
        ------
        OSError
            Where there is still no room; the newest one is left as it was.
        """
        try:
            self.write(rows)
        except OSError:
            for path in checkpoint_paths(self.folder)[1:]:
                path.unlink()
            self.write(rows)

    def write(self, rows: Rows) -> None:
        """Write a checkpoint of the last step whose files are complete, unless there is one."""
        step = self._step
        if step is None or step.number == self._kept:
            return
        for path in sorted(self._written):
            to_disk(path)
        self._written.clear()
        checkpoint = Checkpoint(
            standing=Standing(step, rows[: step.number]),
            saved=self._saved,
            mesh=self._mesh,
            version=__version__,
            case=self._case,
            case_file=self._case_file,
            case_folder=self._case_folder,
            files=self.keep.files,
        )
        write_checkpoint(self.folder, checkpoint)
        self._kept, self._kept_at = step.number, monotonic()
