"""Ctrl-C and SIGTERM between two writings, never in the middle of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType

from fecontact.errors import Terminated
from fecontact.schemes import StepResult
from fecontact.simulation import Observer, Result, Simulation

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Shielded:
    """Observers whose writing an interrupt does not cut: it takes effect when they are done.

    An interrupt during the computation ends the run at once; the step it was at is dropped. While
    the files of the end are written interrupts are held back, but for the third.

    Parameters
    ----------
    observers
        Called in order.
    """

    def __init__(self, *observers: Observer) -> None:
        self.observers = observers
        self._busy = False
        self._asked = 0
        self._terminated = False

    def __enter__(self) -> Shielded:
        # only the main thread hears signals
        if threading.current_thread() is threading.main_thread():
            self._before = [signal.signal(number, self._interrupt) for number in _SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            for number, before in zip(_SIGNALS, self._before, strict=True):
                signal.signal(number, before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._asked += 1
        self._terminated |= number == signal.SIGTERM
        if not self._busy or self._asked > 2:
            raise self._error()

    def _error(self) -> KeyboardInterrupt:
        return Terminated() if self._terminated else KeyboardInterrupt()

    def begin(self, simulation: Simulation) -> None:
        """Before the first step."""
        for observer in self.observers:
            observer.begin(simulation)

    def step(self, result: StepResult, saved: bool) -> None:
        """After a converged step."""
        asked, self._busy = self._asked, True
        try:
            for observer in self.observers:
                observer.step(result, saved)
        finally:
            self._busy = False
        if self._asked > asked:
            raise self._error()

    def end(self, result: Result) -> None:
        """After the last step."""
        self._busy = True
        for observer in self.observers:
            observer.end(result)
        self._busy = False
