"""Sweeps: many variants of a case in parallel, one table of what they gave."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from fecontact import __version__
from fecontact.case import Case, read_case
from fecontact.case.identity import fingerprint, resolved
from fecontact.case.variants import Axis, Variant, as_axis, grid, parse_axis, read_list
from fecontact.errors import CaseError, InputError
from fecontact.study import table
from fecontact.study.figures import drawn, write_figures
from fecontact.study.folders import check_study_folder, clear_run, clear_study, write_manifest
from fecontact.study.results import VARIANTS, Study
from fecontact.study.tasks import UNEXPECTED, Outcome, Task, clear_parts, done, read_marker
from fecontact.study.workers import check_workers, run_tasks, stop_if_imported

_LOCK = ".lock"
_SECONDS = 5.0


class Follower(Protocol):
    """Something that follows a sweep, such as a progress bar."""

    def begin(self, total: int, before: int) -> None:
        """Before the first variant: how many there are, how many were done before."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """After a variant."""
        ...

    def end(self) -> None:
        """After the last variant, or when the sweep is broken off."""
        ...


def sweep(
    case: Case | str | os.PathLike[str],
    vary: Mapping[str, Iterable[Any]] | Sequence[str] = (),
    *,
    listed: str | os.PathLike[str] | None = None,
    settings: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    outputs: Sequence[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    overwrite: bool = False,
    progress: Follower | None = None,
) -> Study:
    """Run variants of a case in parallel; what an earlier call has done is not done again.

    Parameters
    ----------
    case
        A case, or the path of its file.
    vary
        Values by key, ``{"contact.friction": [0.1, 0.2]}``, or texts such as
        ``"contact.friction=0.1:0.9:5"``; several keys make a grid.
    listed
        A CSV file with keys in its first row and a variant in each other, instead of a grid or
        combined with one.
    settings
        ``key=value`` texts put into the case before it is varied.
    out
        Folder of the study, ``results/CASE_sweep`` by default. One that holds the same sweep is
        continued: the same case and keys, with the same values or others.
    outputs
        Paths of numbers to put into the table and to draw; ``*`` stands for anything. They are
        scalars of summary.json, such as ``"contacts.base.RN"``, and ``"last.COLUMN"`` or
        ``"peak.COLUMN"`` of history.csv.
    workers
        Number of processes, one for each core by default; 0 runs all in this process. A script that
        calls this with processes needs the usual ``if __name__ == "__main__":``.
    scheduler
        Address of a Dask scheduler whose workers see the same folders.
    overwrite
        Replace another study or run in the folder instead of refusing it.
    progress
        Told as variants end.

    Returns
    -------
    study
        The table with its files; failures of single variants are rows of it.

    Raises
    ------
    InputError
        Where a key does not exist, a value has the wrong kind, or the folder holds something else;
        nothing has been run then.
    """
    stop_if_imported()
    base = case if isinstance(case, Case) else read_case(Path(case))
    base = base.with_settings(settings) if settings else base
    found = grid(base, _axes(vary, listed))
    keys = list(dict.fromkeys(key for variant in found for key in variant.values))
    folder = Path(out) if out is not None else Path("results") / f"{base.name}_sweep"
    identity = {"kind": "sweep", "keys": sorted(keys), "case": resolved(base.spec)}
    before = check_study_folder(folder, identity, overwrite)
    check_workers(workers, scheduler)
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if before is None:
            clear_study(folder)
            clear_run(folder)
        found += _earlier(before, base, folder, {variant.label for variant in found})
        work = _Work(folder, keys, found, tuple(outputs or table.OUTPUTS))
        clear_parts(folder / VARIANTS)
        write_manifest(folder, work.manifest(identity, base))
        try:
            work.run(workers, scheduler, progress)
        finally:
            # also where it is broken off: the table of what there is
            study = work.finish(tuple(outputs or table.DRAWN))
            write_manifest(folder, work.manifest(identity, base, study))
    return study


def _axes(
    vary: Mapping[str, Iterable[Any]] | Sequence[str], listed: str | os.PathLike[str] | None
) -> list[Axis]:
    axes: list[Axis] = []
    if isinstance(vary, str):
        axes.append(parse_axis(vary))
    elif isinstance(vary, Mapping):
        axes += [as_axis(key, values) for key, values in vary.items()]
    else:
        axes += [parse_axis(text) for text in vary]
    if listed is not None:
        axes.append(read_list(Path(listed)))
    if not axes:
        raise InputError("sweep: nothing varies; give --vary KEY=A,B,... or --list FILE.csv")
    return axes


def _earlier(
    manifest: Mapping[str, Any] | None, base: Case, folder: Path, asked: set[str]
) -> list[Variant]:
    """Variants that an earlier call with other values has done; they stay in the table."""
    kept = []
    for entry in (manifest or {}).get("variants", ()):
        label, values = str(entry["label"]), dict(entry["values"])
        if label in asked:
            continue
        try:
            variant = Variant(label, values, base.with_values(values))
        except CaseError:
            continue
        if done(folder / VARIANTS / label, fingerprint(variant.case)):
            kept.append(variant)
    return kept


@dataclass
class _Work:
    """A sweep under way."""

    folder: Path
    keys: list[str]
    variants: list[Variant]
    outputs: tuple[str, ...]
    before: int = 0
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    rows: dict[str, table.Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.marks = {v.label: fingerprint(v.case) for v in self.variants}
        for variant in self.variants:
            outcome = done(self.place(variant.label), self.marks[variant.label])
            if outcome is not None:
                self.outcomes[variant.label] = outcome
        self.before = len(self.outcomes)

    def place(self, label: str) -> Path:
        return self.folder / VARIANTS / label

    def run(self, workers: int | None, scheduler: str | None, follower: Follower | None) -> None:
        (self.folder / VARIANTS).mkdir(exist_ok=True)
        tasks = [
            Task(
                v.label,
                str(self.place(v.label).resolve()),
                self.marks[v.label],
                str(v.case.path.resolve()),
                v.case.data,
                v.case.pointed,
                v.case.trusted,
            )
            for v in self.variants
            if v.label not in self.outcomes
        ]
        if follower is not None:
            follower.begin(len(self.variants), self.before)
        written = perf_counter()
        try:
            for outcome in run_tasks(tasks, workers, scheduler):
                ended = self._seen(outcome)
                self.outcomes[ended.label] = ended
                if follower is not None:
                    follower.ended(ended)
                if perf_counter() - written > _SECONDS:
                    self._csv()
                    written = perf_counter()
        finally:
            if follower is not None:
                follower.end()

    def _seen(self, outcome: Outcome) -> Outcome:
        """The outcome, if what the worker wrote can be seen from here."""
        if outcome.final and read_marker(self.place(outcome.label)) is None:
            return replace(
                outcome,
                exit_code=UNEXPECTED,
                message=f"its worker on {outcome.host} wrote to {self.place(outcome.label)}, which "
                "is not visible here: workers must share this folder",
            )
        return outcome

    def _rows(self) -> list[table.Row]:
        for v in self.variants:
            outcome = self.outcomes.get(v.label)
            if outcome is not None and v.label not in self.rows:
                place = self.place(v.label)
                self.rows[v.label] = table.row(v.label, v.values, outcome, place, self.outputs)
        waiting = {"status": "not run"}
        return [
            self.rows.get(v.label) or {"variant": v.label} | table.cells(v.values) | waiting
            for v in self.variants
        ]

    def _csv(self) -> Path:
        rows = self._rows()
        return table.write_csv(self.folder / "results.csv", rows, table.columns(rows, self.keys))

    def finish(self, draw: tuple[str, ...]) -> Study:
        """Write tables and figures of what there is."""
        clear_parts(self.folder / VARIANTS)
        rows = self._rows()
        names = table.columns(rows, self.keys)
        paths: dict[str, Path | list[Path]] = {"table": self._csv()}
        notes = self._missing(rows)
        parquet = table.write_parquet(self.folder / "results.parquet", rows, names)
        if parquet is None:
            notes.append(
                'no results.parquet: this needs the pyarrow package, pip install "fecontact[study]"'
            )
        else:
            paths["parquet"] = parquet
        shown = drawn(rows, draw)
        pictures = write_figures(self.folder, rows, self.keys, shown)
        if pictures:
            paths["figures"] = pictures
        return Study(self.folder, self.keys, rows, paths, shown, self.before, notes)

    def _missing(self, rows: Sequence[table.Row]) -> list[str]:
        """Notes on outputs that no variant has."""
        if self.outputs == table.OUTPUTS or not any(r["status"] == "converged" for r in rows):
            return []
        known: set[str] = set()
        for r in rows:
            known |= set(table.outputs(self.place(str(r["variant"]))))
        return [
            f"no variant has the output {pattern!r}; near ones: "
            f"{', '.join(get_close_matches(pattern, sorted(known), 5, 0.4)) or 'none'}"
            for pattern in self.outputs
            if not any(table.matches(path, pattern) for path in known)
        ]

    def manifest(
        self, identity: Mapping[str, Any], base: Case, study: Study | None = None
    ) -> dict[str, Any]:
        listed = []
        for found in (study.paths if study else {}).values():
            listed += [p.name for p in (found if isinstance(found, list) else [found])]
        return {
            "fecontact": __version__,
            "case": str(base.path.resolve()),
            "identity": identity,
            "folders": [VARIANTS],
            "files": [*listed, "results.csv"],
            "variants": [
                {"label": v.label, "values": v.values, "fingerprint": self.marks[v.label]}
                for v in self.variants
            ],
        }


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Refuse a folder in which another process is at work; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:
        yield  # not on this system: variants are still never mixed, only done twice
        return
    with (folder / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"output folder {str(folder)!r}: another sweep is at work in it"
            ) from None
        yield
