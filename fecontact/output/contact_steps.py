"""contacts.h5: every contact at every saved step.

The file holds a group for each saved step, ``steps/000012`` with the attributes `number` and
`time`, and in it a table for each contact whose rows are its candidates; `CONTACT_TYPE` names the
columns. Forces are per unit thickness, or of the full turn in axisymmetry; over `support` they are
pressures. The group ``outlines`` of a step holds lines to draw the obstacles where they stood.

HDF5 files do not survive a process that dies while it adds to them. During a run each step is
therefore a record of ``contacts.journal``, complete or not there; at the end they become the file.
What reads ``contacts.h5`` here reads the journal where it is not there yet.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fecontact.contact import Contact, ContactState
from fecontact.model import Model
from fecontact.output.atomic import check_room, replacing, to_disk
from fecontact.output.journal import add_record, records
from fecontact.output.tables import per_thickness
from fecontact.schemes import StepResult
from fecontact.typing import FloatArray

_NUMBERS = (
    "s",
    "x",
    "y",
    "ux",
    "uy",
    "gap",
    "RN",
    "RT",
    "RN_equivalent",
    "RT_equivalent",
    "bound",
    "uN",
    "uT",
    "friction",
    "support",
)
CONTACT_TYPE = np.dtype([("node", "<i8"), ("status", "i1"), *((name, "<f8") for name in _NUMBERS)])
"""Columns: node, status, length along the line, place, displacement, gap, reactions, their
equivalents, bound of friction, relative velocity, coefficient, length (or area) of support."""

PACKED = 200
"""Rows above which tables are compressed: a chunk costs more than it saves in a small one."""
# HDF5 refuses to open a file twice in a process: a page that is served reads between two writes
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True)
class SavedContacts:
    """The contacts of one saved step.

    Attributes
    ----------
    number, time
        Of the step.
    tables
        Rows of `CONTACT_TYPE` by name of contact.
    outlines
        Points (k, 2) of the surface of each obstacle, by name of contact.
    reactions
        Whether they are concentrated or weighted, by name of contact.
    """

    number: int
    time: float
    tables: Mapping[str, NDArray[np.void]]
    outlines: Mapping[str, FloatArray] = field(default_factory=dict)
    reactions: Mapping[str, str] = field(default_factory=dict)


def contact_table(state: ContactState, factor: float = 1.0) -> NDArray[np.void]:
    """Rows of `CONTACT_TYPE`; `factor` multiplies forces and supports (see `per_thickness`)."""
    table = np.zeros(len(state.nodes), dtype=CONTACT_TYPE)
    values = {
        "node": state.nodes,
        "status": state.status,
        "s": state.abscissa,
        "x": state.position[:, 0],
        "y": state.position[:, 1],
        "ux": state.displacement[:, 0],
        "uy": state.displacement[:, 1],
        "gap": state.gap,
        "RN": factor * state.force[:, 0],
        "RT": factor * state.force[:, 1],
        "RN_equivalent": factor * state.equivalent[:, 0],
        "RT_equivalent": factor * state.equivalent[:, 1],
        "bound": factor * state.bound,
        "uN": state.velocity[:, 0],
        "uT": state.velocity[:, 1],
        "friction": state.friction,
        "support": factor * state.support,
    }
    for name, column in values.items():
        table[name] = column
    return table


class ContactStepsWriter:
    """Writes saved steps one by one, and puts them together at the end.

    Parameters
    ----------
    path
        The file of the end.
    model
        Whose contacts they are.
    """

    def __init__(self, path: Path, model: Model) -> None:
        self.path, self.journal = path, journal_of(path)
        self._factor = per_thickness(model.solid)
        self._obstacles = {
            contact.label: contact.obstacle
            for contact in model.contacts
            if isinstance(contact, Contact)
        }
        nodes = model.mesh.nodes
        low, high = nodes.min(axis=0), nodes.max(axis=0)
        margin = 0.25 * float((high - low).max())
        self._box = np.array([low - margin, high + margin])

    def step(self, result: StepResult) -> Path:
        """Write a step; returns the path of the journal."""
        low = np.minimum(self._box[0], self._box[0] + result.displacement.min(axis=0))
        high = np.maximum(self._box[1], self._box[1] + result.displacement.max(axis=0))
        box = np.array([low, high])
        contacts = result.contacts
        saved = SavedContacts(
            result.number,
            result.t,
            {name: contact_table(state, self._factor) for name, state in contacts.items()},
            {name: obstacle.outline(box, result.t) for name, obstacle in self._obstacles.items()},
            {name: state.reactions for name, state in contacts.items()},
        )
        add_record(self.journal, _record(saved))
        return self.journal

    def close(self) -> bool:
        """Make the file of the journal, which is removed; tells whether there is a file then."""
        import h5py

        with _ONE_AT_A_TIME:
            if self.journal.exists():
                check_room(self.path, _room(self.journal))
                # small blocks: a step holds little
                options: dict[str, Any] = {"libver": ("v110", "v110"), "meta_block_size": 1}
                with replacing(self.path) as whole, h5py.File(whole, "w", **options) as file:
                    steps = file.create_group("steps")
                    for saved in _journalled(self.journal):
                        _put(steps, saved)
                self.journal.unlink()
        return self.path.exists()

    def reopen(self, numbers: Collection[int]) -> list[int]:
        """Go on after these saved steps and forget all others; returns those that are missing."""
        there = {s.number: s for s in _journalled(self.journal) if s.number in numbers}
        if self.path.exists():
            for saved in read_contact_steps(self.path, set(numbers) - there.keys()):
                there[saved.number] = saved
        with replacing(self.journal) as whole:
            whole.touch()
            for number in sorted(there):
                add_record(whole, _record(there[number]))
            to_disk(whole)
        self.path.unlink(missing_ok=True)
        return sorted(set(numbers) - there.keys())


def journal_of(path: Path) -> Path:
    """What a run writes until it makes the file."""
    return path.with_suffix(".journal")


def _record(saved: SavedContacts) -> bytes:
    """A step as bytes: a line that says what follows, and the numbers."""
    told = {
        "number": saved.number,
        "time": saved.time,
        "tables": {name: len(table) for name, table in saved.tables.items()},
        "outlines": {name: len(line) for name, line in saved.outlines.items()},
        "reactions": dict(saved.reactions),
    }
    lines = [np.ascontiguousarray(line, dtype="<f8") for line in saved.outlines.values()]
    blocks = [array.tobytes() for array in (*saved.tables.values(), *lines)]
    return b"".join([json.dumps(told).encode(), b"\n", *blocks])


def _journalled(path: Path) -> Iterator[SavedContacts]:
    for record in records(path):
        line, _, numbers = record.partition(b"\n")
        told, at = json.loads(line), 0
        tables: dict[str, NDArray[np.void]] = {}
        outlines: dict[str, FloatArray] = {}
        for name, rows in told["tables"].items():
            tables[name] = np.frombuffer(numbers, CONTACT_TYPE, rows, at)
            at += tables[name].nbytes
        for name, rows in told["outlines"].items():
            outlines[name] = np.frombuffer(numbers, "<f8", 2 * rows, at).reshape(rows, 2)
            at += outlines[name].nbytes
        yield SavedContacts(told["number"], told["time"], tables, outlines, told["reactions"])


def _room(journal: Path) -> int:
    """Bytes that the file of a journal takes at most."""
    return 4000 + sum(
        2000 + sum(a.nbytes + 1000 for a in (*saved.tables.values(), *saved.outlines.values()))
        for saved in _journalled(journal)
    )


def _put(steps: Any, saved: SavedContacts) -> None:
    """Write a step as a group of an HDF5 file."""
    group = steps.create_group(f"{saved.number:06d}")
    group.attrs["number"], group.attrs["time"] = saved.number, saved.time
    for name, table in saved.tables.items():
        packing = "gzip" if len(table) > PACKED else None
        data = group.create_dataset(_entry(group, name), data=table, compression=packing)
        data.attrs["name"], data.attrs["reactions"] = name, saved.reactions[name]
    outlines = group.create_group("outlines")
    for name, line in saved.outlines.items():
        outlines.create_dataset(_entry(outlines, name), data=line).attrs["name"] = name


def _entry(group: Any, name: str) -> str:
    """A new name in a group as HDF5 knows it: no slashes, and not only dots."""
    entry = "contact " + name.replace("/", "_")
    while entry in group:
        entry += "_"
    return entry


def read_contact_steps(path: Path, only: Container[int] | None = None) -> list[SavedContacts]:
    """The saved steps of a file, in order, or those of some numbers."""
    import h5py

    found = []
    with _ONE_AT_A_TIME:
        if not path.is_file():
            return [s for s in _journalled(journal_of(path)) if only is None or s.number in only]
        # without the lock of the file system: reading must never stop a run that is writing
        with h5py.File(path, "r", locking=False) as file:
            for number, group in _in_order(file):
                if only is None or number in only:
                    time = float(group.attrs["time"])
                    tables, outlines = _named(group), _named(group["outlines"])
                    kinds = {
                        str(entry.attrs["name"]): str(entry.attrs["reactions"])
                        for entry in group.values()
                        if "reactions" in entry.attrs
                    }
                    found.append(SavedContacts(number, time, tables, outlines, kinds))
    return found


def saved_times(path: Path) -> dict[int, float]:
    """Times of the saved steps by number."""
    import h5py

    with _ONE_AT_A_TIME:
        if not path.is_file():
            return {saved.number: saved.time for saved in _journalled(journal_of(path))}
        with h5py.File(path, "r", locking=False) as file:
            return {number: float(g.attrs["time"]) for number, g in _in_order(file)}


def _in_order(file: Any) -> list[tuple[int, Any]]:
    """Numbers and groups of the steps; HDF5 sorts by name, where a million comes before 999999."""
    groups = {int(group.attrs["number"]): group for group in file["steps"].values()}
    return sorted(groups.items())


def _named(group: Any) -> dict[str, Any]:
    return {
        str(entry.attrs["name"]): entry[()] for entry in group.values() if "name" in entry.attrs
    }
