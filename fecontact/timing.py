"""A stopwatch by phase: where the wall time of a run goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Phases:
    """Wall time by name of phase, in the order in which phases first ran."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count the time of a block for a phase."""
        start = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] += perf_counter() - start

    def seconds(self) -> dict[str, float]:
        """Seconds spent in each phase so far."""
        return dict(self._seconds)
