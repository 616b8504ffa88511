"""Threads of the linear algebra: one for small systems, unless the user has chosen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import scipy.linalg  # noqa: F401  loads the library that is counted
from threadpoolctl import threadpool_info, threadpool_limits

from fecontact.simulation import Result, Simulation, StepResult
from fecontact.threads import CHOSEN, ENOUGH, threads_for
from tests.test_report import block


def threads() -> set[int]:
    return {
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    }


class Counting:
    """An observer that looks at the number of threads."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def begin(self, simulation: Simulation) -> None: ...

    def step(self, step: StepResult, saved: bool) -> None:
        self.seen |= threads()

    def end(self, result: Result) -> None: ...


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing chosen, and two threads before."""
    for name in CHOSEN:
        monkeypatch.delenv(name, raising=False)
    with threadpool_limits(limits=2, user_api="blas"):
        yield


def test_a_small_run_takes_one_thread_and_gives_the_others_back() -> None:
    before, counting = threads(), Counting()
    block(2).run(counting)
    assert counting.seen == {1}
    assert threads() == before


def test_steps_taken_one_by_one_take_one_thread_too(monkeypatch: pytest.MonkeyPatch) -> None:
    before, simulation = threads(), block(2)
    stepper = simulation.prepare()
    seen: list[set[int]] = []
    take = stepper.step

    def watched(*arguments: Any) -> StepResult:
        seen.append(threads())
        return take(*arguments)

    monkeypatch.setattr(stepper, "step", watched)
    for _ in simulation.steps():
        assert threads() == before
    assert seen
    assert all(s == {1} for s in seen)


def test_a_large_system_keeps_them() -> None:
    before = threads()
    with threads_for(ENOUGH):
        assert threads() == before
    with threads_for(ENOUGH - 1):
        assert threads() == {1}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_choice_is_respected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = threads()
    monkeypatch.setenv(name, "2")
    with threads_for(10):
        assert threads() == before
