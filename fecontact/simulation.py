"""A run: a model, a scheme, the times, and the loop over steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from fecontact.contact import ContactState
from fecontact.errors import InputError, NotConverged, Stopped
from fecontact.history import History, Probe
from fecontact.model import Model
from fecontact.schemes import Pace, QuasiStatic, Scheme, State, Stepper, StepResult
from fecontact.solvers import Options
from fecontact.solvers.memory import Estimate
from fecontact.threads import loaded_libraries, threads_for
from fecontact.timing import Phases


@dataclass(frozen=True)
class Times:
    """From 0 to `end` in steps given by their size or their number.

    Parameters
    ----------
    end
        Where the run ends.
    step, steps
        Size of the steps, shortened so that they end at `end`, or their number; one of them.
    adaptive
        Take a step that fails again at half the size, and grow back after some that do not.
    min_step
        The smallest size of an adaptive step, a thousandth of `step` where it is left out.
    outputs
        Times that a step must end at and that are kept, whatever the steps.
    """

    end: float = 1.0
    step: float | None = None
    steps: int | None = None
    adaptive: bool = False
    min_step: float | None = None
    outputs: Sequence[float] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.end) and self.end > 0.0):
            raise InputError(f"time.end: {self.end} must be a positive number")
        if self.step is not None and self.steps is not None:
            raise InputError("time: step and steps are both given; keep one")
        if self.step is not None and not 0.0 < self.step <= self.end * (1.0 + 1e-12):
            raise InputError(
                f"time.step: {self.step} must be positive and at most end = {self.end}"
            )
        if self.steps is not None and self.steps < 1:
            raise InputError(f"time.steps: {self.steps} must be at least 1")
        if self.min_step is not None and not 0.0 < self.min_step <= self.size:
            raise InputError(
                f"time.min_step: {self.min_step} must be positive and at most the step {self.size}"
            )
        wrong = [t for t in self.outputs if not 0.0 < t <= self.end]
        if wrong:
            raise InputError(
                f"output.times: {wrong[0]} must be positive and at most end = {self.end}"
            )

    @property
    def count(self) -> int:
        """Number of full steps."""
        if self.steps is not None:
            return self.steps
        if self.step is None:
            return 1
        return max(1, math.ceil(self.end / self.step * (1.0 - 1e-9)))

    @property
    def size(self) -> float:
        """Size of a full step; a given size is shortened so that the steps end at `end`."""
        return self.end / self.count

    @property
    def smallest(self) -> float:
        """Size below which an adaptive step is not tried."""
        return self.size / 1024.0 if self.min_step is None else self.min_step

    def is_end(self, t: float) -> bool:
        """Whether a time is the end, up to rounding."""
        return t >= self.end - 1e-9 * self.size

    def is_output(self, t: float) -> bool:
        """Whether a time is one of `outputs`, up to rounding."""
        return any(abs(t - s) <= 1e-9 * self.size for s in self.outputs)

    def cut(self, t: float, h: float) -> float:
        """The step from t of about h that does not pass the next output or the end."""
        stops = [s for s in (*self.outputs, self.end) if s > t + 1e-9 * self.size]
        left = min(stops) - t
        # a step is stretched by rounding rather than leave a splinter
        return left if left <= h * (1.0 + 1e-6) else h


# adaptive steps that must succeed before the size is doubled
_GOOD = 4


class Observer(Protocol):
    """Something that follows a run: a writer of files, a progress bar."""

    def begin(self, simulation: Simulation) -> None:
        """Before the first step."""
        ...

    def step(self, result: StepResult, saved: bool) -> None:
        """After a converged step; `saved` tells whether its fields are to be kept."""
        ...

    def end(self, result: Result) -> None:
        """After the last step, or after the one that failed."""
        ...


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a run stands after a step, to go on from.

    It has that step, the rows of the history, and the steps kept so far where figures need them.
    """

    last: StepResult
    rows: Sequence[Sequence[float]]
    steps: Sequence[StepResult] = ()


@dataclass
class Result:
    """What a run gave: the kept steps, the last one, and why it ended early, if it did.

    `history` has a row for every step, kept or not; a run that was taken up again has the rows of
    all its steps, but keeps earlier steps only where figures need them. `refuted` tells what
    certificates of the saved steps do not bear out, where they were made.
    """

    simulation: Simulation
    history: History
    steps: list[StepResult] = field(default_factory=list)
    last: StepResult | None = None
    failure: Stopped | None = None
    interrupted: bool = False
    worst_residual: float = 0.0
    worst_balance: float = 0.0
    worst_energy: float = 0.0
    refuted: str = ""

    def take_up(self, standing: Standing) -> None:
        """Put in what a run had when it stood there."""
        self.last, self.steps = standing.last, list(standing.steps)
        self.history.rows = [list(row) for row in standing.rows]
        for name, column in (
            ("worst_residual", "residual"),
            ("worst_balance", "balance"),
            ("worst_energy", "energy_balance"),
        ):
            setattr(self, name, float(self.history[column].max(initial=0.0)))

    @property
    def converged(self) -> bool:
        """Whether all steps were taken, and each converged."""
        return self.failure is None and not self.interrupted

    @property
    def final(self) -> StepResult:
        """The last converged step."""
        if self.last is None:
            raise InputError("the run has no converged step")
        return self.last

    @property
    def contacts(self) -> Mapping[str, ContactState]:
        """Contacts at the end of the last converged step, by name."""
        return self.final.contacts

    def save(self, folder: Any) -> Any:
        """Write all output files of the run to a folder; returns the paths by kind."""
        from fecontact.output import save_result

        return save_result(self, folder)

    def certify(self) -> Any:
        """Check the kept steps against the laws, without the help of the solver that found them.

        Returns a `fecontact.certificate.Verdict`; `refuted` tells what does not hold. A run that is
        saved is checked as it is written.
        """
        from fecontact.certificate import Certifier, Verdict, limits, saved_step

        certifier = Certifier(self.simulation.model, self.simulation.scheme)
        saved = (saved_step(step) for step in self.steps)
        verdict = Verdict.of(
            (certifier(step) for step in saved if step is not None),
            limits(self.simulation.options.tolerance),
        )
        self.refuted = verdict.refutation
        return verdict

    def plot(self, field: str = "von_mises", ax: Any = None, step: int = -1, **options: Any) -> Any:
        """Draw the deformed body with a field; returns the Matplotlib axes.

        Parameters
        ----------
        field
            See `fecontact.output.figures.plot_deformed`, which gets the other options.
        ax
            Axes to draw on; new ones where there are none.
        step
            Place among the kept steps.
        """
        from fecontact.output.notebook import plot_result

        return plot_result(self, field, ax, step, **options)

    def to_pyvista(self, step: int = -1) -> Any:
        """A kept step as a `pyvista.UnstructuredGrid` with all its fields."""
        from fecontact.output.notebook import pyvista_grid

        return pyvista_grid(self, step)

    def _repr_html_(self) -> str:
        from fecontact.output.notebook import result_html

        return result_html(self)

    def __repr__(self) -> str:
        if self.last is None:
            return "<result without a converged step>"
        lines = [
            f"<result at t = {self.last.t:g} after {self.last.number} step(s), "
            f"worst residual {self.worst_residual:.2g}, worst balance {self.worst_balance:.2g}"
        ]
        lines += [f"  {state!r}" for state in self.last.contacts.values()]
        return "\n".join(lines) + ">"


class Drawing(Protocol):
    """Figures and tables that a run asks for besides the usual ones."""

    def check(self, model: Model) -> None:
        """Refuse what the model does not have."""
        ...

    def write(self, folder: Path, result: Result, pictures: bool = True) -> list[Path]:
        """Write the files of a run, or its tables alone; returns their paths."""
        ...


@dataclass
class Simulation:
    """A model with its scheme, times and solver options.

    Parameters
    ----------
    model
        The mechanical problem.
    scheme
        Time scheme.
    times
        End and step size.
    options
        Of the friction solver.
    save_every
        Steps between two that are kept where no output times are given; the last one always is.
    title
        One line for figures and reports.
    probes
        Displacements and velocities to follow at every step.
    drawings
        Figures and tables of its own kind that a run's folder gets besides the usual ones.
    """

    model: Model
    scheme: Scheme = field(default_factory=QuasiStatic)
    times: Times = field(default_factory=Times)
    options: Options = field(default_factory=Options)
    save_every: int = 1
    title: str = ""
    probes: Sequence[Probe] = ()
    drawings: Sequence[Drawing] = ()

    def __post_init__(self) -> None:
        if self.save_every < 1:
            raise InputError(f"output.every: {self.save_every} must be at least 1")
        self.phases = Phases()
        self._stepper: Stepper | None = None
        self._prepared = False
        for probe in self.probes:
            probe.check(self.model.mesh)
        for drawing in self.drawings:
            drawing.check(self.model)

    def _repr_html_(self) -> str:
        from fecontact.output.notebook import simulation_html

        return simulation_html(self)

    def __repr__(self) -> str:
        times = self.times
        lines = [
            f"Simulation: {self.title or 'without a title'}",
            f"  {self.scheme.name}, {times.count} step(s) of {times.size:g} to t = {times.end:g}, "
            f"solver {self.options.solver} to {self.options.tolerance:g}",
            *(f"  probe {probe.name}: {probe.quantity} of {probe.on!r}" for probe in self.probes),
            repr(self.model),
        ]
        return "\n".join(lines)

    def history(self) -> History:
        """An empty history with the columns of this run."""
        measures: Sequence[str] = getattr(self.scheme, "measures", ())
        return History(self.model, self.probes, measures)

    def prepare(self) -> Stepper:
        """Assemble and factorise: a system that cannot be solved is found before the first step."""
        stepper = self._bound()
        if not self._prepared:
            with threads_for(self.model.n_dofs):
                stepper.prepare(self.times.size)
            self._prepared = True
        return stepper

    def memory(self) -> Estimate | None:
        """Memory that the factors would take, before anything is factorised."""
        return self._bound().memory(self.times.size)

    def _bound(self) -> Stepper:
        if self._stepper is None:
            self._stepper = self.scheme.stepper(self.model, self.options, self.phases)
        return self._stepper

    def steps(self, after: StepResult | None = None) -> Iterator[StepResult]:
        """Take the steps one by one, from the start or after a step of an earlier run.

        Raises
        ------
        NotConverged
            With the unconverged step as `best`.
        """
        stepper = self.prepare()
        libraries = loaded_libraries()
        times = self.times
        state = stepper.start() if after is None else after.state
        pace = (after.pace if after else None) or Pace(times.size)
        while not times.is_end(state.t):
            h = times.cut(state.t, pace.wanted)
            try:
                # not around the yield: what the caller does between two steps keeps its threads
                with threads_for(self.model.n_dofs, libraries):
                    result = stepper.step(state, h)
            except NotConverged as error:
                smaller = 0.5 * h
                if times.adaptive and smaller >= times.smallest:
                    pace = Pace(smaller)
                    continue
                raise self._told(error, state, h) from error
            pace = self._paced(pace, result)
            yield replace(result, pace=pace, before=state)
            state = result.state

    def _paced(self, pace: Pace, result: StepResult) -> Pace:
        """How to go on after a step that went well."""
        times, good = self.times, pace.good + 1
        if result.next_h is not None and times.adaptive:
            wanted = result.next_h
            if result.h < pace.wanted and wanted >= result.h:
                # cut short by an output, not by what happened in it
                wanted = max(wanted, pace.wanted)
            return Pace(min(max(wanted, times.smallest), times.size), good)
        if pace.wanted < times.size and good >= _GOOD:
            return Pace(min(2.0 * pace.wanted, times.size))
        return Pace(pace.wanted, good)

    def _saved(self, step: StepResult) -> bool:
        if self.times.is_end(step.t) or self.times.is_output(step.t):
            return True
        return not self.times.outputs and step.number % self.save_every == 0

    def _told(self, error: NotConverged, state: State, h: float) -> Stopped:
        """The error with the step that failed."""
        total = f" of {self.times.count}" if not self.times.adaptive else ""
        least = f" (the smallest allowed is {self.times.smallest:g})" if self.times.adaptive else ""
        return error.told(
            f"step {state.number + 1}{total}, from t = {state.t:g} with h = {h:g}{least}: {error}"
        )

    def run(self, *observers: Observer, after: Standing | None = None) -> Result:
        """Take all steps; a step that cannot be taken ends the run and is told in the result.

        Parameters
        ----------
        observers
            Follow the run, each step in their order.
        after
            Where an earlier run of this simulation stood; it is continued, to the same bits.

        Raises
        ------
        InputError
            Where the first step cannot be taken for want of sound input.
        KeyboardInterrupt
            Where the run is interrupted, after the observers have written what there is.
        """
        result = Result(self, self.history())
        if after is not None:
            result.take_up(after)
        with threads_for(self.model.n_dofs):
            return self._run(result, observers)

    def _run(self, result: Result, observers: Sequence[Observer]) -> Result:
        interrupt: KeyboardInterrupt | None = None
        self.prepare()
        for observer in observers:
            observer.begin(self)
        try:
            for step in self.steps(result.last):
                saved = self._saved(step)
                result.last = replace(step, problem=None)
                result.history.append(step)
                if saved:
                    result.steps.append(result.last)
                if step.report is not None:
                    result.worst_residual = max(result.worst_residual, step.report.residual)
                result.worst_balance = max(result.worst_balance, step.balance)
                result.worst_energy = max(result.worst_energy, step.energy.balance)
                for observer in observers:
                    observer.step(step, saved)
        except Stopped as failure:
            result.failure = failure
        except (InputError, MemoryError) as error:
            if result.last is None:
                raise
            number, t = result.last.number + 1, result.last.t
            reason = str(error) or "there is not enough memory"
            result.failure = Stopped(f"step {number}, from t = {t:g}: {reason}")
        except KeyboardInterrupt as error:
            result.interrupted, interrupt = True, error
        for observer in observers:
            observer.end(result)
        if interrupt is not None:
            raise interrupt
        return result
