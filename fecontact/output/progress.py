"""Progress of a run: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

from fecontact.schemes import StepResult
from fecontact.simulation import Result, Simulation

if TYPE_CHECKING:
    from tqdm import tqdm

_SECONDS = 2.0
_PARTS = 10


class Progress:
    """Tells step, time, iterations, residual and the time that remains.

    Parameters
    ----------
    stream
        Where to tell it, standard error by default. On a terminal it is a bar; elsewhere a line
        at least 2 s, or a tenth of the time, after the one before, and one for the last step.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._bar: tqdm[Any] | None = None
        self._total = 0
        self._started = self._told = 0.0
        self._told_step = 0
        self._told_time = 0.0
        self._end, self._known = 1.0, True
        self._began: float | None = None

    @property
    def stream(self) -> TextIO:
        return sys.stderr if self._stream is None else self._stream

    def begin(self, simulation: Simulation) -> None:
        """Before the first step."""
        times = simulation.times
        self._end = times.end
        # adaptive steps and output times leave only a guess of how many steps there will be
        self._total = times.count
        self._known = not times.adaptive and not times.outputs
        self._started = self._told = perf_counter()
        self._told_step, self._began = 0, None
        if self.stream.isatty():
            from tqdm import tqdm

            shown = "{l_bar}{bar}| {elapsed}<{remaining}{postfix}"
            self._bar = tqdm(total=self._end, file=self.stream, leave=True, bar_format=shown)

    def step(self, result: StepResult, saved: bool) -> None:
        """After a converged step."""
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._step(result)}, {_state(result)}", refresh=False)
            self._bar.update(min(result.t, self._end) - self._bar.n)
            return
        if self._began is None:
            # a run that is resumed does not begin at 0
            self._began = result.t - result.h
        now = perf_counter()
        due = (
            now - self._told >= _SECONDS
            or _PARTS * (result.t - self._told_time) >= self._end * (1.0 - 1e-9)
            or result.t >= self._end * (1.0 - 1e-9)
        )
        if due:
            left = max(self._end - result.t, 0.0)
            remaining = (now - self._started) / (result.t - self._began) * left
            self._line(f"{self._step(result)}, {_state(result)}, {remaining:.0f} s remain")
            self._told, self._told_step, self._told_time = now, result.number, result.t

    def end(self, result: Result) -> None:
        """After the last step."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif result.last is not None and result.last.number != self._told_step:
            self._line(f"{self._step(result.last)}, {_state(result.last)}")

    def _step(self, result: StepResult) -> str:
        return f"step {result.number}" + (f"/{self._total}" if self._known else "")

    def _line(self, text: str) -> None:
        # a reader that has gone, such as head, is no reason to lose a run
        with suppress(BrokenPipeError):
            self.stream.write(text + "\n")
            self.stream.flush()


def _state(result: StepResult) -> str:
    text = f"t = {result.t:.6g}"
    if result.report is not None:
        text += f", {result.report.iterations} iterations, residual {result.report.residual:.1e}"
    return text
