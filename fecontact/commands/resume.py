"""``fecontact resume``: a run that did not reach its end goes on from its last checkpoint."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fecontact.case import Case
    from fecontact.output.checkpoint import Checkpoint


def add_parser(commands: Any) -> None:
    """Describe the command."""
    text = "continue a run that was stopped, from its last checkpoint"
    command = commands.add_parser(
        "resume",
        help=text,
        description=f"{text}. The results are those of a run that was never stopped.",
    )
    command.add_argument("folder", metavar="DIR", help="folder of the run")
    command.add_argument(
        "--other-version",
        action="store_true",
        help="go on from the checkpoint of another version of fecontact",
    )
    command.set_defaults(action=resume)


def resume(given: argparse.Namespace) -> int:
    """Go on, and tell how it ended."""
    from fecontact.commands.execution import close, execute
    from fecontact.output.checkpoint import latest_checkpoint

    folder = Path(given.folder)
    if _finished(folder):
        print(f"{folder}: the run has reached its end; there is nothing left to do.")
        return 0
    checkpoint, told = latest_checkpoint(folder)
    for message in told:
        print(f"Note: {message}; going on from the one before", file=sys.stderr)
    case = _case(folder, checkpoint, given.other_version)
    last = checkpoint.standing.last
    print(f"Going on after step {last.number}, t = {last.t:g}", file=sys.stderr)
    result, paths = execute(case, folder, resumed=checkpoint)
    return close(result, paths, folder)


def _finished(folder: Path) -> bool:
    """Whether a run has reached its end; refuses a folder that cannot be continued."""
    import json

    from fecontact.errors import InputError
    from fecontact.output.checkpoint import checkpoint_paths
    from fecontact.output.tables import in_use
    from fecontact.study.folders import MANIFEST

    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    if (folder / MANIFEST).exists():
        raise InputError(
            f"{folder}: this is the folder of a study, whose command goes on by itself when it is "
            "given again; resume is for the folder of one run"
        )
    if in_use(folder / "history.csv"):
        raise InputError(f"{folder}: a run is writing to this folder; let it end first")
    if checkpoint_paths(folder):
        # they are removed when all is written
        return False
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        return isinstance(summary, dict) and summary.get("converged") is True
    except (OSError, ValueError):
        return False


def _case(folder: Path, checkpoint: Checkpoint, other_version: bool) -> Case:
    """The case of a checkpoint; what is not as it was is told, or refused."""
    from fecontact import __version__
    from fecontact.case import Case
    from fecontact.case.identity import input_digests
    from fecontact.case.reading import check
    from fecontact.errors import InputError

    if checkpoint.version != __version__ and not other_version:
        raise InputError(
            f"{folder}: the run was begun with fecontact {checkpoint.version}, this is "
            f"{__version__}; its results would be a mixture. Run the case again, use that version, "
            "or give --other-version"
        )
    if checkpoint.case is None:
        raise InputError(
            f"{folder}: the run was begun from Python, without a case; build its simulation again, "
            "and go on with run(FolderWriter(folder, keep=Keep(), resumed=checkpoint), "
            "after=checkpoint.standing)"
        )
    name = Path(checkpoint.case_file or "case.toml").name
    path = Path(checkpoint.case_folder or folder) / name
    data = dict(checkpoint.case)
    case = Case(path, data, check(data, path))
    now = input_digests(case)
    for file in sorted(f for f in now if now[f] != checkpoint.files.get(f)):
        how = "is gone" if now[file] == "missing" else "has changed"
        what = "case" if file == name else "mesh"
        print(
            f"Note: {path.parent / file} {how} since the run began; it goes on with the {what} "
            "that it began with",
            file=sys.stderr,
        )
    return case
