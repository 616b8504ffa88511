"""The friction problems of a run as FCLib files."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from fecontact.errors import InputError
from fecontact.fclib import write_problem
from fecontact.output.atomic import replacing
from fecontact.schemes import StepResult
from fecontact.simulation import Result, Simulation


class ProblemWriter:
    """Follows a run and writes the friction problem of each chosen step.

    The file of step 12 is ``problem_000012.hdf5``; a step without contacts leaves none. The problem
    of a chosen step that failed is written too: it is the one to look at.

    Parameters
    ----------
    folder
        Where to write; made with its parents where it does not exist.
    steps
        Numbers of the steps, from 1; None for all.

    Attributes
    ----------
    paths
        The files written.
    """

    def __init__(
        self, folder: str | os.PathLike[str], steps: Collection[int] | None = None
    ) -> None:
        self.folder = Path(folder)
        self.steps = None if steps is None else frozenset(steps)
        self.paths: list[Path] = []
        self._title = ""

    def begin(self, simulation: Simulation) -> None:
        """Before the first step: what cannot be written is told, nothing is made yet."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"folder of problems {str(self.folder)!r} is a file; give a folder")
        last = simulation.times.count
        beyond = sorted(s for s in self.steps or () if not 1 <= s <= last)
        if beyond:
            raise InputError(f"steps of problems: {beyond[0]} is not between 1 and {last}")
        for interface in simulation.model.interfaces:
            if interface.law.friction_law in ("tresca", "glued"):
                raise InputError(
                    f"problems cannot be written: {interface.where} has friction_law "
                    f"{interface.law.friction_law!r}, and FCLib files hold Coulomb contacts only"
                )
        self._title = simulation.title

    def step(self, result: StepResult, saved: bool) -> None:
        """After a converged step."""
        if result.problem is None or (self.steps is not None and result.number not in self.steps):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"problem_{result.number:06d}.hdf5"
        with replacing(path) as part:
            write_problem(
                result.problem,
                part,
                title=self._title,
                description=f"step {result.number}, t = {result.t:.17g}, h = {result.h:.17g}",
            )
        self.paths.append(path)

    def end(self, result: Result) -> None:
        """After the last step, or after the one that failed."""
        if result.failure is not None and isinstance(result.failure.best, StepResult):
            self.step(result.failure.best, saved=False)
