"""The writer of a case's results: which files its output section asks for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fecontact.case.identity import input_digests
from fecontact.output import FolderWriter
from fecontact.output.checkpoint import Keep

if TYPE_CHECKING:
    from fecontact.case.reading import Case
    from fecontact.output.checkpoint import Checkpoint


def writer_of(
    case: Case,
    folder: str | os.PathLike[str],
    *,
    checkpoints: bool = True,
    resumed: Checkpoint | None = None,
) -> FolderWriter:
    """Return what writes the files of a run of a case, as ``fecontact run`` does.

    Parameters
    ----------
    checkpoints
        Whether the state is kept as often as the case says, so that the run can be resumed.
    resumed
        The checkpoint that the run goes on from.
    """
    output, keep = case.spec.output, None
    if checkpoints:
        files = input_digests(case) if resumed is None else dict(resumed.files)
        keep = Keep(output.checkpoint_every, output.checkpoint_minutes, files)
    return FolderWriter(
        folder,
        case.data,
        fields=output.fields,
        figures=output.figures,
        report=output.report,
        states=output.states,
        case_file=case.path if resumed is None else resumed.case_file,
        keep=keep,
        resumed=resumed,
    )
