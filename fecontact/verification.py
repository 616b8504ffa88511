"""Verification of a finished run from its files alone.

The model is made again from the case in ``summary.json`` and the mesh in ``mesh.vtu``, each saved
step is certified anew, and numbers that are in several files are compared. What does not follow
from the saved steps, such as the rows of the history between them, has a digest in the summary.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.case import Case, build
from fecontact.case.reading import check
from fecontact.certificate import Certificate, Certifier, SavedStep, Verdict, limits
from fecontact.certificate.verdict import BALANCE
from fecontact.contact import ContactState
from fecontact.errors import InputError
from fecontact.history import per_thickness
from fecontact.mesh import read_mesh
from fecontact.mesh.formats import explained
from fecontact.output.contact_steps import journal_of, read_contact_steps
from fecontact.output.digests import changed_files
from fecontact.output.states import VECTORS, read_state, state_files
from fecontact.simulation import Simulation
from fecontact.typing import FloatArray

_EXACT = 1e-12
"""Part of the largest number of a field below which two copies may differ by rounding."""
_ROUNDING = 1e-10
"""The same of numbers that are computed again."""
_COLUMNS = ("node", "x", "y", "ux", "uy", "gap", "RN", "RT", "RN_equivalent", "RT_equivalent")


@dataclass(frozen=True)
class Verified:
    """What the files of a run say of it.

    Attributes
    ----------
    verdict
        Of the saved steps.
    title, scheme
        Of the run.
    claimed
        What the summary says of its convergence: ``"converged"``, or why it ended early.
    """

    verdict: Verdict
    title: str
    scheme: str
    claimed: str


def verify(folder: str | Path) -> Verified:
    """Certify the saved steps of a run anew.

    Raises
    ------
    InputError
        Where the files are not there or cannot be read.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    summary = _summary(folder)
    simulation = _simulation(folder, summary)
    files = state_files(folder)
    if not files:
        raise InputError(
            f"{folder}: no saved step (state_0001.npz and so on) to verify; run the case with "
            "output.states = true"
        )
    certifier = Certifier(simulation.model, simulation.scheme)
    copies = _Copies(folder, simulation, summary, certifier)
    edited = _Edited(folder, summary)

    def certificates() -> Iterator[Certificate]:
        for path in files:
            step = _matching(path, simulation)
            certificate = certifier(step)
            last = path == files[-1]
            value, place = edited.judged(*copies.difference(step, last), last)
            yield replace(
                certificate,
                figures={**certificate.figures, "files": value},
                places={**certificate.places, "files": place},
                uncovered=(*certificate.uncovered, *edited.missing),
            )

    verdict = Verdict.of(certificates(), limits(simulation.options.tolerance))
    copies.check_complete(verdict.steps)
    claimed = "converged" if summary.get("converged") else str(summary.get("message", "unknown"))
    return Verified(verdict, simulation.title, simulation.scheme.name, claimed)


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{folder}: there is no summary.json: this is no run, or one that was cut off, which "
            f"goes on with: fecontact resume {folder}"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: it cannot be read: {error}") from None
    if not isinstance(summary, dict) or not isinstance(summary.get("case"), dict):
        raise InputError(
            f"{path}: the case is not in it; runs from Python that were saved without one cannot "
            "be made again from files"
        )
    return summary


def _simulation(folder: Path, summary: Mapping[str, Any]) -> Simulation:
    path = folder / "summary.json"
    case = Case(path, summary["case"], check(summary["case"], path))
    mesh = read_mesh(folder / "mesh.vtu", allow_duplicates=True)
    return build(case, mesh)


def _matching(path: Path, simulation: Simulation) -> SavedStep:
    """A saved step whose arrays fit the model."""
    step, model = read_state(path), simulation.model
    vectors = {key: getattr(step, key) for key in VECTORS}
    if step.place is not None:
        vectors |= {"place_q": step.place.q, "place_w": step.place.w}
        if not (np.isfinite(step.place.step) and step.place.step > 0.0):
            raise InputError(f"{path}: contacts of a step of {step.place.step}")
    for key, vector in vectors.items():
        if vector is not None and vector.shape != (model.n_dofs,):
            raise InputError(
                f"{path}: {key} has shape {vector.shape}, the model has {model.n_dofs} dofs"
            )
    n = model.solid.n_points
    for key, array in (step.points or {}).items():
        branches = array.shape[1] if array.ndim == 3 else 0
        if array.shape != {"F": (n, 5), "mean": (n,), "deviators": (n, branches, 4)}[key]:
            raise InputError(
                f"{path}: points_{key} has shape {array.shape}, the model has {n} points"
            )
    wanted = {i.name: i.n_candidates for i in model.interfaces}
    dim = model.mesh.dim
    given = {name: R.shape for name, R in step.reactions.items()}
    if given != {name: (n, dim) for name, n in wanted.items()}:
        raise InputError(f"{path}: reactions of {given}, the model has the contacts {wanted}")
    if any(step.friction[name].shape != (n,) for name, n in wanted.items()):
        raise InputError(f"{path}: the friction coefficients do not fit the contacts {wanted}")
    if not (np.isfinite(step.h) and step.h > 0.0 and np.isfinite(step.t)):
        raise InputError(f"{path}: step {step.h} to time {step.t}")
    return step


class _Edited:
    """Files that are not as the run left them, by the digests in its summary."""

    def __init__(self, folder: Path, summary: Mapping[str, Any]) -> None:
        changed, missing = changed_files(folder, summary)
        self.place = f"{', '.join(changed)}, changed since the run ended" if changed else ""
        self.missing = tuple(f"{name}: it is not there any more" for name in missing)
        self._seen = False

    def judged(self, value: float, place: str, last: bool) -> tuple[float, str]:
        """A difference of numbers and its place; without any, what digests say at the end."""
        self._seen |= not value <= BALANCE
        if last and self.place and not self._seen:
            return 1.0, self.place
        return value, place


class _Copies:
    """The same numbers in other files: fields, contacts, tables and the summary."""

    def __init__(
        self,
        folder: Path,
        simulation: Simulation,
        summary: Mapping[str, Any],
        certifier: Certifier,
    ) -> None:
        self.folder, self.model, self.summary = folder, simulation.model, summary
        self._certifier = certifier
        self._size = float(np.ptp(simulation.model.mesh.nodes, axis=0).max())
        self._factor = per_thickness(simulation.model.solid)
        path = folder / "contacts.h5"
        try:
            saved = read_contact_steps(path)
        except (OSError, LookupError, TypeError, ValueError, RuntimeError) as error:
            given = path if path.exists() else journal_of(path)
            raise InputError(f"{given}: it cannot be read: {error}") from None
        self._tables = {one.number: one.tables for one in saved}
        self._history = _rows(folder / "history.csv")
        self._seen: set[int] = set()

    def difference(self, step: SavedStep, last: bool) -> tuple[float, str]:
        """Largest relative difference of a copy from the saved step, and where it is."""
        self._seen.add(step.number)
        worst, place = 0.0, ""
        try:
            for where, own, copy, *margin in self._pairs(step, last):
                off = _off(np.asarray(own, dtype=float), np.asarray(copy, dtype=float), *margin)
                if not off <= worst:
                    worst, place = off, where
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{error} ({type(error).__name__})"
            raise InputError(
                f"{self.folder}: copies of step {step.number} cannot be compared: {reason}"
            ) from None
        return worst, place

    def check_complete(self, count: int) -> None:
        """Refuse a folder in which saved steps are missing."""
        missing = sorted(set(self._tables) - self._seen)
        if missing:
            raise InputError(
                f"{self.folder}: contacts.h5 has {len(self._tables)} saved steps but the states of "
                f"{missing[:5]} are missing"
            )

    def _pairs(self, step: SavedStep, last: bool) -> Iterator[tuple[Any, ...]]:
        states = self._certifier.states(step)
        yield from self._fields(step, states)
        tables = self._tables.get(step.number, {})
        for name, table in tables.items():
            yield from self._contact(f"contacts.h5, {name!r}", step, states, name, table)
        if last and (self.folder / "contact.csv").exists():
            yield from self._last(step, states)
        row = self._history.get(step.number)
        if row is None:
            raise InputError(f"{self.folder / 'history.csv'}: step {step.number} is missing")
        yield "history.csv, time", [step.t, step.h], [row["time"], row["h"]]
        for name, R in step.reactions.items():
            yield self._total(f"history.csv, {name!r}", R, (row[f"RN_{name}"], row[f"RT_{name}"]))
        totals, size = self._supports(step)
        for name, total in totals.items():
            copy = np.array([row[f"Rx_{name}"], row[f"Ry_{name}"]])
            yield f"history.csv, {name!r}", np.append(total, size), np.append(copy, size)
        if last:
            for name, copy in (self.summary.get("supports") or {}).items():
                yield f"summary.json, {name!r}", np.append(totals[name], size), [*copy, size]

    def _total(self, where: str, R: FloatArray, copy: Any) -> tuple[Any, ...]:
        """Totals of reactions, which may cancel: they differ by rounding of what they add up."""
        size = self._factor * np.abs(R).sum()
        own = np.append(self._factor * R.sum(axis=0), size)
        return where, own, [*copy, size], _ROUNDING * size

    def _supports(self, step: SavedStep) -> tuple[dict[str, FloatArray], float]:
        constraints = self.model.constraints
        totals = constraints.totals(constraints.to_turned(step.supports))
        scale = float(np.abs(self._factor * step.supports).sum())
        return {name: self._factor * total for name, total in totals.items()}, scale

    def _fields(
        self, step: SavedStep, states: Mapping[str, ContactState]
    ) -> Iterator[tuple[Any, ...]]:
        path = self.folder / f"fields_{step.number:04d}.vtu"
        if not path.exists():
            return
        shape = self.model.mesh.nodes.shape
        wanted = {
            "displacement": step.q,
            "velocity": step.v,
            "contact_force": self._factor * step.contact,
            "support_force": self._factor * step.supports,
        }
        with explained(path, "read"):
            import meshio

            found = meshio.read(path)
            copies = {name: found.point_data[name][:, : shape[1]] for name in wanted}
            points = found.points[:, : shape[1]]
            local = np.column_stack([found.point_data[f"contact_{k}"] for k in ("RN", "RT")])
        for name, own in wanted.items():
            yield f"{path.name}, {name}", own.reshape(shape), copies[name]
        yield f"{path.name}, points", self.model.mesh.nodes, points
        own = np.zeros(shape)
        for state in states.values():
            own[state.nodes] = self._factor * state.force
        yield f"{path.name}, contact_RN and contact_RT", own, local

    def _contact(
        self,
        where: str,
        step: SavedStep,
        states: Mapping[str, ContactState],
        name: str,
        table: Any,
    ) -> Iterator[tuple[Any, ...]]:
        interfaces = {i.name: i for i in self.model.interfaces}
        if name not in interfaces or len(table) != interfaces[name].n_candidates:
            raise InputError(f"{self.folder}: {where}: this is no contact of the case")
        nodes = interfaces[name].candidates.nodes
        if not np.array_equal(table["node"], nodes):
            raise InputError(f"{self.folder}: {where}: the candidates are not those of the case")
        q = step.q.reshape(self.model.mesh.nodes.shape)[nodes]
        R = self._factor * step.reactions[name]
        yield f"{where}, x and y", self.model.mesh.nodes[nodes], _columns(table, "x", "y")
        yield f"{where}, ux and uy", q, _columns(table, "ux", "uy")
        yield f"{where}, RN and RT", R, _columns(table, "RN", "RT")
        if "friction" in table.dtype.names:
            yield f"{where}, friction", step.friction[name], table["friction"]
        if name not in states:
            return
        state = states[name]
        images = _columns(table, "RN_equivalent", "RT_equivalent")
        own, largest = self._factor * state.equivalent, self._factor * np.abs(state.force).max()
        yield f"{where}, equivalents", own, images, _ROUNDING * largest
        # where nothing is near, the gap is infinite
        far = np.isinf(state.gap)
        yield f"{where}, gap", far, np.isinf(table["gap"])
        yield f"{where}, gap", state.gap[~far], table["gap"][~far], _EXACT * self._size

    def _last(
        self, step: SavedStep, states: Mapping[str, ContactState]
    ) -> Iterator[tuple[Any, ...]]:
        path = self.folder / "contact.csv"
        rows = _table(path)
        first = 0
        for interface in self.model.interfaces:
            part = rows[first : first + interface.n_candidates]
            first += interface.n_candidates
            table = np.zeros(len(part), dtype=[(name, float) for name in _COLUMNS])
            for name in _COLUMNS:
                try:
                    table[name] = [float(row[name]) for row in part]
                except (LookupError, TypeError, ValueError) as error:
                    raise InputError(f"{path}: column {name!r} cannot be read: {error}") from None
            yield from self._contact("contact.csv", step, states, interface.name, table)
        if first != len(rows):
            raise InputError(f"{path}: {len(rows)} rows, the case has {first} candidates")
        for name, told in (self.summary.get("contacts") or {}).items():
            if name in step.reactions:
                copy = [told["RN"], told["RT"]]
                yield self._total(f"summary.json, {name!r}", step.reactions[name], copy)
            if name in states:
                copy = [told["RN_equivalent"], told["RT_equivalent"]]
                yield self._total(f"summary.json, {name!r}", states[name].equivalent, copy)


def _columns(table: Any, *names: str) -> FloatArray:
    return np.column_stack([table[name] for name in names])


def _off(own: FloatArray, copy: FloatArray, margin: float = 0.0) -> float:
    """Largest difference of two arrays, each entry relative to itself.

    What is below a margin, or a small part of the largest, may differ by rounding.
    """
    if own.shape != copy.shape:
        return np.inf
    if own.size == 0:
        return 0.0
    margin = max(margin, _EXACT * float(np.abs(own).max()))
    size = np.maximum(np.maximum(np.abs(own), np.abs(copy)), margin)
    size = np.where(size > 0.0, size, 1.0)
    off = np.abs(own - copy)
    off = np.where(off <= margin, 0.0, off / size)
    return float(np.where(np.isnan(off), np.inf, off).max())


def _table(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: it cannot be read: {error}") from None


class _Row(dict[str, float]):
    def __init__(self, path: Path, row: Mapping[str, str]) -> None:
        try:
            super().__init__({name: float(value) for name, value in row.items()})
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}: a row that cannot be read: {error}") from None
        self.path = path

    def __missing__(self, name: str) -> float:
        raise InputError(f"{self.path}: there is no column {name!r}")


def _rows(path: Path) -> dict[int, _Row]:
    rows = [_Row(path, row) for row in _table(path)]
    return {int(row["step"]): row for row in rows}
