"""One variant, run in a process of its own: its folder appears when it is complete, never before.

A variant is computed in a hidden folder beside its final one, which is renamed when its marker
``done.json`` is in it. A worker that is killed leaves only the hidden folder, and two workers that
do the same variant cannot mix their files.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from fecontact.case import Case, build
from fecontact.case.reading import check
from fecontact.case.writing import writer_of
from fecontact.errors import FecontactError, NotConverged
from fecontact.output.atomic import replacing
from fecontact.threads import one_thread

MARKER = "done.json"
UNEXPECTED = 1
"""Exit code of a failure that says nothing about the case: such a variant is tried again."""


@dataclass(frozen=True)
class Task:
    """What a worker needs to run a variant; plain, so that it travels to any process."""

    label: str
    folder: str
    fingerprint: str
    path: str
    data: dict[str, Any]
    pointed: frozenset[str] = frozenset()
    trusted: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a variant ended.

    Attributes
    ----------
    exit_code
        0 converged, 2 input that cannot be used, 3 not converged, 1 anything else.
    message
        What went wrong, empty where nothing did.
    """

    label: str
    fingerprint: str
    exit_code: int
    message: str
    seconds: float
    host: str = ""

    @property
    def final(self) -> bool:
        """Whether doing it again would give the same."""
        return self.exit_code != UNEXPECTED


def read_marker(folder: Path) -> Outcome | None:
    """The outcome kept in the folder of a variant, if it is complete."""
    try:
        return Outcome(**json.loads((folder / MARKER).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def done(folder: Path, fingerprint: str) -> Outcome | None:
    """The final outcome of exactly this case, if the folder holds it."""
    outcome = read_marker(folder)
    if outcome is None or outcome.fingerprint != fingerprint or not outcome.final:
        return None
    return outcome


def run_task(task: Task) -> Outcome:
    """Run a variant into its folder; whatever goes wrong with it is told in the outcome."""
    final = Path(task.folder)
    earlier = done(final, task.fingerprint)
    if earlier is not None:
        return earlier  # done by a worker that died before it could tell
    part = final.with_name(f".{final.name}{_ending()}")
    shutil.rmtree(part, ignore_errors=True)
    start = perf_counter()
    try:
        with one_thread():  # the cores are shared out by variants
            code, message = _compute(task, part)
    except FecontactError as error:
        code, message = error.exit_code, str(error)
    except Exception as error:
        # a fault of one variant must not end the study; it is told with its kind
        code, message = UNEXPECTED, f"{type(error).__name__}: {error}"
    seconds = perf_counter() - start
    outcome = Outcome(
        task.label, task.fingerprint, code, message, round(seconds, 4), socket.gethostname()
    )
    part.mkdir(parents=True, exist_ok=True)
    with replacing(part / MARKER) as path:
        path.write_text(json.dumps(asdict(outcome), indent=1) + "\n", encoding="utf-8")
    _put_in_place(part, final)
    return outcome


def _compute(task: Task, folder: Path) -> tuple[int, str]:
    path = Path(task.path)
    case = Case(path, task.data, check(task.data, path), task.pointed, task.trusted)
    simulation = build(case)
    simulation.prepare()
    result = simulation.run(writer_of(case, folder, checkpoints=False))
    if result.failure is not None:
        return result.failure.exit_code, str(result.failure)
    if result.refuted:
        return NotConverged.exit_code, result.refuted
    return 0, ""


def _put_in_place(part: Path, final: Path) -> None:
    for _ in range(2):
        with suppress(OSError):
            os.rename(part, final)
            return
        # an earlier outcome is in the way
        old = part.with_name(part.name + "-old")
        with suppress(OSError):
            os.rename(final, old)
        shutil.rmtree(old, ignore_errors=True)
    os.rename(part, final)


def _ending() -> str:
    return f".part-{socket.gethostname()}-{os.getpid()}"


def clear_parts(folder: Path) -> None:
    """Remove what workers of this machine that are no longer alive have left half done."""
    mark = f".part-{socket.gethostname()}-"
    for path in folder.glob(".*.part-*"):
        _, found, number = path.name.partition(mark)
        number = number.removesuffix("-old")
        if found and number.isdigit() and not _alive(int(number)):
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
