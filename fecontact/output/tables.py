"""Tables of a run: contacts at the end, and the history of the steps.

All forces and energies are per unit thickness; in axisymmetry they are those of the full turn.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from fecontact.contact import ContactState, Status
from fecontact.history import History, per_thickness
from fecontact.output.atomic import replacing
from fecontact.schemes import StepResult

__all__ = [
    "CONTACT_COLUMNS",
    "HistoryWriter",
    "in_use",
    "number",
    "per_thickness",
    "write_contact_csv",
]

CONTACT_COLUMNS = (
    "node",
    "x",
    "y",
    "ux",
    "uy",
    "gap",
    "status",
    "RN",
    "RT",
    "RN_equivalent",
    "RT_equivalent",
)


def number(value: float) -> str:
    """Shortest text that reads back to the same double."""
    return repr(float(value))


def write_contact_csv(path: Path, states: Mapping[str, ContactState], factor: float = 1.0) -> Path:
    """Write one row per candidate, the contacts one after the other.

    Parameters
    ----------
    path
        The file.
    states
        Contacts by name.
    factor
        Multiplies the forces; see `per_thickness`.
    """
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CONTACT_COLUMNS)
        for state in states.values():
            for i, node in enumerate(state.nodes):
                values = (
                    *state.position[i],
                    *state.displacement[i],
                    state.gap[i],
                )
                forces = (*(factor * state.force[i]), *(factor * state.equivalent[i]))
                writer.writerow(
                    [
                        int(node),
                        *map(number, values),
                        Status(int(state.status[i])).label,
                        *map(number, forces),
                    ]
                )
    return path


class HistoryWriter:
    """Appends a row per step to a CSV file, so that a run can be followed.

    A row is in the file whole or not at all. The file is locked while it is open: nobody else can
    take the run for one that has ended.

    Parameters
    ----------
    path
        The file; what it held is replaced by the rows that `history` has.
    history
        Makes the rows.
    """

    def __init__(self, path: Path, history: History) -> None:
        self.path = path
        self.history = history
        with replacing(path) as part:
            part.write_bytes(_line(history.columns) + b"".join(map(_line, history.rows)))
        self._file = path.open("r+b", buffering=0)
        self._end = self._file.seek(0, os.SEEK_END)
        _lock(self._file)

    def step(self, result: StepResult) -> None:
        """Append a step."""
        line = _line(self.history.append(result))
        try:
            done = 0
            while done < len(line):
                done += self._file.write(line[done:]) or 0
        except OSError:
            self._file.truncate(self._end)
            self._file.seek(self._end)
            self.history.rows.pop()
            raise
        self._end += len(line)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def in_use(path: Path) -> bool:
    """Whether a process that is alive writes to this history."""
    try:
        with path.open("rb") as file:
            _lock(file)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock(file: IO[bytes]) -> None:
    try:
        import fcntl
    except ImportError:
        return  # no such locks on this system
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return  # nor on this file system


def _line(row: Sequence[str | float]) -> bytes:
    """A row as it stands in the file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        [str(v) if isinstance(v, str | int) else number(v) for v in row]
    )
    return text.getvalue().encode("utf-8")
