"""The folder of a run: tables, fields, figures and the summary."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from fecontact.certificate import Verdict
from fecontact.errors import InputError, OutputFailed
from fecontact.mesh import write_mesh
from fecontact.naming import file_parts
from fecontact.output.atomic import replacing
from fecontact.output.checkpoint import (
    Checkpoint,
    Keep,
    checkpoint_paths,
    keep_step,
    remove_kept,
)
from fecontact.output.contact_steps import ContactStepsWriter
from fecontact.output.digests import digests_of
from fecontact.output.earlier import forget_later, remove_earlier
from fecontact.output.failure import write_failure
from fecontact.output.figures import write_figures
from fecontact.output.histories import write_history_figures
from fecontact.output.keeping import Keeper
from fecontact.output.report import write_report
from fecontact.output.states import StateWriter
from fecontact.output.summary import build_summary, certificate_summary, write_summary
from fecontact.output.tables import HistoryWriter, per_thickness, write_contact_csv
from fecontact.output.vtk import FieldWriter
from fecontact.schemes import StepResult
from fecontact.simulation import Result, Simulation

Paths = dict[str, Path | list[Path]]


class FolderWriter:
    """Follows a run and writes its files as it goes.

    The folder is made when the first step has converged (or a step has failed), so that a problem
    that cannot be set up leaves nothing behind. Files of an earlier run in it are replaced.

    Parameters
    ----------
    folder
        Where to write; made with its parents where it does not exist.
    case
        The case as it was given, kept in the summary.
    case_file
        Where the case was read, told in the summary.
    fields, figures, report, states
        Whether to write VTU files, PNG figures, the page report.html, and the saved steps in full
        with their certificates.
    keep
        How often to keep a checkpoint, which a run that has not reached its end leaves behind;
        none at all where it is None.
    resumed
        The checkpoint that the run goes on from: what was written after it is forgotten.

    Attributes
    ----------
    notes
        What is to be told of files that a resumed run did not find.
    paths
        What was written, by kind: mesh, history, contact_steps, fields, contact, figures, vtu,
        states, report, summary.
    verdict
        What the certificates of the saved steps say, at the end.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        case: Mapping[str, Any] | None = None,
        *,
        fields: bool = True,
        figures: bool = True,
        report: bool = True,
        case_file: str | os.PathLike[str] | None = None,
        states: bool = True,
        keep: Keep | None = None,
        resumed: Checkpoint | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.fields, self.figures, self.report = fields, figures, report
        self.states = states
        self.case = case
        self.case_file = None if case_file is None else os.fspath(case_file)
        self.paths: Paths = {}
        self._simulation: Simulation | None = None
        self._history: HistoryWriter | None = None
        self._fields: FieldWriter | None = None
        self._contacts: ContactStepsWriter | None = None
        self._states: StateWriter | None = None
        self.verdict: Verdict | None = None
        self.keep, self.resumed = keep, resumed
        self.notes: list[str] = []
        self._keeper: Keeper | None = None
        self._saved: list[tuple[int, float]] = []
        self._number = 0
        self._started = perf_counter()

    def begin(self, simulation: Simulation) -> None:
        """Before the first step: nothing is written yet."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"output folder {str(self.folder)!r} is a file; give a folder")
        self._simulation = simulation
        self._started = perf_counter()

    def step(self, result: StepResult, saved: bool) -> None:
        """After a converged step: a row of the history, and the fields where they are kept.

        Raises
        ------
        OutputFailed
            Where something cannot be written; what was written before is whole.
        """
        with self._writing(f"of step {result.number}, t = {result.t:g},"):
            history, fields = self._open()
            history.step(result)
            self._number = result.number
            if saved:
                self._save(result, fields)
            if self._keeper is not None and self._simulation is not None:
                ended = self._simulation.times.is_end(result.t)
                self._keeper.step(result, self._saved, history.history.rows, ended)

    def end(self, result: Result) -> None:
        """After the last step or a failed one: tables, figures and the summary of what there is."""
        if isinstance(result.failure, OutputFailed):
            self._give_up(result)
            return
        try:
            with self._writing("at the end"):
                history, fields = self._open()
                if result.last is not None and result.last.number > self._number:
                    # an interrupt came between the step and its row
                    history.step(result.last)
                if self._keeper is not None and not result.converged:
                    self._keeper.write(history.history.rows)
                self._finish(result, history, fields)
        finally:
            self._close()

    def _finish(self, result: Result, history: HistoryWriter, fields: FieldWriter) -> None:
        self.paths = {"mesh": self.folder / "mesh.vtu", "history": history.path}
        if self.fields:
            self.paths["fields"] = fields.path
        if result.last is not None:
            self._last_step(result, result.last, fields)
        if self._contacts is not None and self._contacts.close():
            self.paths["contact_steps"] = self._contacts.path
        if self.fields:
            self.paths["vtu"] = list(fields.files)
        if self._states is not None and self._states.files:
            self.paths["states"] = self._states.files
        failed = write_failure(self.folder, result, self.figures)
        if failed:
            self.paths["failure"] = failed
        if self.report:
            self.paths["report"] = self.folder / "report.html"
        self._summarise(result)
        # last, from the files: whatever happens here, the results are there
        if self.report:
            write_report(self.folder)
        if result.converged:
            remove_kept(self.folder)
        elif checkpoint_paths(self.folder):
            self.paths["checkpoint"] = checkpoint_paths(self.folder)[0]

    def _summarise(self, result: Result) -> None:
        path = self.folder / "summary.json"
        summary = build_summary(
            result, self.case, [*_flat(self.paths), path], perf_counter() - self._started
        )
        summary["case_file"] = self.case_file
        if self._states is not None:
            self.verdict = self._states.verdict()
            result.refuted = self.verdict.refutation
            summary["certificate"] = certificate_summary(self.verdict)
        summary["digests"] = digests_of(_flat(self.paths))
        if self.resumed is not None:
            summary["wall_time"]["since_step"] = self.resumed.number
        self.paths["summary"] = write_summary(path, summary)

    def _give_up(self, result: Result) -> None:
        """What can still be done where nothing more can be written: a checkpoint and a summary."""
        if self._history is None:
            return
        self.paths = {"history": self._history.path}
        with suppress(OSError):
            if self._keeper is not None:
                self._keeper.squeeze(self._history.history.rows)
        with suppress(OSError):
            self._summarise(result)
        self._close()

    def _close(self) -> None:
        if self._history is not None:
            self._history.close()
        self._history = self._fields = self._contacts = self._keeper = self._states = None

    @contextmanager
    def _writing(self, when: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._history is None:
                raise
            raise OutputFailed(self._unwritten(when, error)) from error

    def _unwritten(self, when: str, error: OSError) -> str:
        reason = error.strerror or str(error)
        place = f" ({Path(str(error.filename)).name})" if error.filename else ""
        remedy = "make room"
        if checkpoint_paths(self.folder):
            remedy += f" and go on with: fecontact resume {self.folder}"
        return (
            f"{self.folder}: the results {when} cannot be written: {reason}{place}. The run stops; "
            f"what was written before can be read. To continue, {remedy}"
        )

    def _save(self, step: StepResult, fields: FieldWriter) -> None:
        written = [fields.step(step)] if self.fields else []
        if self._contacts is not None and step.contacts:
            written.append(self._contacts.step(step))
        if self._states is not None:
            written += self._states.step(step)
        self._saved.append((step.number, step.t))
        if self._keeper is not None:
            if self._simulation is not None and self._simulation.drawings:
                written.append(keep_step(self.folder, step))
            self._keeper.wrote(*written)

    def _last_step(self, result: Result, last: StepResult, fields: FieldWriter) -> None:
        # a run that failed between two saved steps still shows where it got to
        if not self._saved or self._saved[-1][0] != last.number:
            self._save(last, fields)
        factor = per_thickness(result.simulation.model.solid)
        self.paths["contact"] = write_contact_csv(
            self.folder / "contact.csv", last.contacts, factor
        )
        if len(last.contacts) > 1:
            parts = file_parts(last.contacts)
            self.paths["contact_each"] = [
                write_contact_csv(self.folder / f"contact_{parts[name]}.csv", {name: state}, factor)
                for name, state in last.contacts.items()
            ]
        if self.figures:
            self.paths["figures"] = [
                *write_figures(self.folder, result),
                *write_history_figures(self.folder, result),
            ]
        drawn = [d.write(self.folder, result, self.figures) for d in result.simulation.drawings]
        if drawn:
            self.paths["drawings"] = [path for paths in drawn for path in paths]

    def _open(self) -> tuple[HistoryWriter, FieldWriter]:
        if self._simulation is None:
            raise InputError("FolderWriter.begin was not called before a step")
        if self._history is None or self._fields is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            model, resumed = self._simulation.model, self.resumed
            history = self._simulation.history()
            self._contacts = ContactStepsWriter(self.folder / "contacts.h5", model)
            self._saved, self._number = [], 0
            if resumed is None:
                remove_earlier(self.folder)
            else:
                self.notes = forget_later(self.folder, resumed, self._contacts)
                history.rows = [list(row) for row in resumed.standing.rows]
                self._saved, self._number = list(resumed.saved), resumed.number
            if not (self.folder / "mesh.vtu").is_file():
                with replacing(self.folder / "mesh.vtu") as part:
                    write_mesh(model.mesh, part)
            if self.keep is not None:
                self._keeper = Keeper(
                    self.folder, self.keep, model.mesh, self.case, self.case_file, resumed
                )
            self._fields = FieldWriter(self.folder, model.solid, self._saved)
            if self.states:
                self._states = StateWriter(self.folder, self._simulation)
            self._history = HistoryWriter(self.folder / "history.csv", history)
        return self._history, self._fields


def save_result(
    result: Result, folder: str | os.PathLike[str], case: Mapping[str, Any] | None = None
) -> Paths:
    """Write all files of a finished run from its kept steps; returns the paths by kind."""
    writer = FolderWriter(folder, case)
    writer.begin(result.simulation)
    for step in result.steps:
        writer.step(step, saved=True)
    if result.last is not None and (not result.steps or result.steps[-1] is not result.last):
        writer.step(result.last, saved=True)
    writer.end(result)
    return writer.paths


def _flat(paths: Paths) -> list[Path]:
    found: list[Path] = []
    for entry in paths.values():
        found += entry if isinstance(entry, list) else [entry]
    return found
