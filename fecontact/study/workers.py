"""Where variants run: on Dask, in a pool of processes where there is no Dask, or right here."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from fecontact.errors import InputError, MissingDependency
from fecontact.study.tasks import UNEXPECTED, Outcome, Task, run_task
from fecontact.threads import CHOSEN

TRIES = 3
"""Workers that may die on a variant before it is given up."""

ANSWER = "15s"
"""How long a scheduler may take to answer."""

THREADS = dict.fromkeys(CHOSEN, "1")


def run_tasks(
    tasks: Sequence[Task], workers: int | None = None, scheduler: str | None = None
) -> Iterator[Outcome]:
    """Run variants and yield their outcomes as they end.

    Parameters
    ----------
    tasks
        What to run.
    workers
        Number of processes, as many as there are cores by default; 0 runs one variant after the
        other in this process.
    scheduler
        Address of a Dask scheduler whose workers see the same file system.

    Raises
    ------
    InputError
        Where the scheduler does not answer.
    """
    if scheduler is not None:
        yield from _on_dask(tasks, 0, scheduler)
    elif not tasks:
        return
    elif workers == 0:
        yield from map(run_task, tasks)
    else:
        count = max(1, min(workers or cores(), len(tasks)))
        if find_spec("distributed") is not None:
            yield from _on_dask(tasks, count, None)
        else:
            yield from _in_pool(tasks, count)


_UNGUARDED = (
    "sweep: its processes import the script that calls it, and so come to the same call; put that "
    "under 'if __name__ == \"__main__\":', or give workers=0"
)


def stop_if_imported() -> None:
    """End a process of a sweep that came upon the call of the sweep in the script it imports."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)  # the process that waits for it tells why


def check_workers(workers: int | None = None, scheduler: str | None = None) -> None:
    """Refuse a number of workers or a scheduler that cannot be used.

    Raises
    ------
    MissingDependency
        Where a scheduler is named and Dask is not installed.
    InputError
        Where the scheduler does not answer.
    """
    if workers is not None and workers < 0:
        raise InputError(f"workers: {workers} must not be negative")
    if scheduler is None:
        return
    if find_spec("distributed") is None:
        raise MissingDependency(
            f"scheduler {scheduler}: this needs the dask and distributed packages: "
            'pip install "fecontact[study]"'
        )
    with _client(0, scheduler):
        pass


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _died(task: Task, times: int) -> Outcome:
    return Outcome(
        task.label,
        task.fingerprint,
        UNEXPECTED,
        f"its worker died {times} times, for lack of memory perhaps",
        0.0,
    )


def _failed(task: Task, error: BaseException) -> Outcome:
    return Outcome(
        task.label, task.fingerprint, UNEXPECTED, f"{type(error).__name__}: {error}", 0.0
    )


# Dask


def _on_dask(tasks: Sequence[Task], count: int, scheduler: str | None) -> Iterator[Outcome]:
    from distributed import KilledWorker, as_completed

    with _client(count, scheduler) as client:
        futures = [
            client.submit(
                run_task,
                task,
                key=f"{task.label}-{task.fingerprint[:16]}",
                pure=False,
                fifo_timeout="0 ms",  # in the order of the table
            )
            for task in tasks
        ]
        by_key = {future.key: task for future, task in zip(futures, tasks, strict=True)}
        try:
            for future in as_completed(futures, loop=client.loop):
                task = by_key[future.key]
                error = future.exception() if future.status == "error" else None
                if isinstance(error, KilledWorker):
                    yield _died(task, TRIES + 1)
                elif error is not None:
                    yield _failed(task, error)
                elif future.cancelled() or future.status != "finished":
                    yield _failed(task, ConnectionError("the scheduler gave it up"))
                else:
                    yield future.result()
                # a long study would keep them all on the scheduler
                future.release()
        finally:
            client.cancel(futures, force=True)


@contextmanager
def _client(count: int, scheduler: str | None) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster

    if scheduler is not None:
        try:
            _greet(scheduler)
            client = Client(scheduler, timeout=ANSWER, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"scheduler {scheduler!r}: no Dask scheduler answers there "
                f"({str(error) or f'silent for {ANSWER}'})"
            ) from None
        with client:
            yield client
        return
    # a worker that dies is told in the table; Dask's own log would break the progress bar
    silent = {"distributed.logging.distributed": "critical", "distributed.admin.log-length": 0}
    environment = {**dask.config.get("distributed.nanny.pre-spawn-environ", default={}), **THREADS}
    # memory given back at every step would be faulted in again at the next
    environment.pop("MALLOC_TRIM_THRESHOLD_", None)
    with dask.config.set(
        {
            "distributed.nanny.pre-spawn-environ": environment,
            "distributed.scheduler.allowed-failures": TRIES,
            "distributed.comm.timeouts.connect": "60s",
            **silent,
        }
    ):
        with _ctrl_c_ignored():
            try:
                cluster = LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    # any free port: its own default may be taken by another study
                    dashboard_address="127.0.0.1:0",
                    worker_dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                    preload=[__name__],
                )
            except RuntimeError as error:
                raise InputError(f"{_UNGUARDED} ({error})") from None
        with cluster, Client(cluster, set_as_default=False) as client:
            yield client


def _greet(address: str) -> None:
    """Shake hands with a scheduler.

    A client would wait forever for something that listens and is no scheduler, and one of an
    address that cannot be read would not even close.
    """
    from dask.utils import parse_timedelta
    from distributed.comm import connect
    from distributed.security import Security

    async def greet() -> None:
        given = Security().get_connection_args("client")
        try:
            comm = await asyncio.wait_for(
                connect(address, timeout=ANSWER, **given), parse_timedelta(ANSWER)
            )
        except (OSError, ValueError):
            raise
        except Exception as error:
            # another protocol, of which some bytes were taken for the length of a frame
            raise OSError(f"what answers does not speak as one: {error}") from None
        comm.abort()

    # a thread of its own: a notebook has a loop running in this one
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, greet()).result()


def dask_setup(worker: Any) -> None:
    """Called by Dask in each worker of a local cluster, those started anew among them."""
    _ignore_ctrl_c()


# a pool of processes


def _in_pool(tasks: Sequence[Task], count: int) -> Iterator[Outcome]:
    """The same without Dask; a pool that breaks is made anew with what is left."""
    left = list(tasks)
    deaths = {task.label: 0 for task in tasks}
    began = False
    while left:
        with _environment(THREADS):
            pool = ProcessPoolExecutor(
                count, mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_ctrl_c
            )
            waiting = list(left)
            running: dict[Future[Outcome], Task] = {}
            try:
                if not began:
                    pool.submit(os.getpid).result()
                    began = True
                while waiting or running:
                    # few at a time, so that a broken pool tells which variants were at work
                    while waiting and len(running) < count:
                        task = waiting.pop(0)
                        running[pool.submit(run_task, task)] = task
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        outcome = future.result()
                        left.remove(running.pop(future))
                        yield outcome
            except BrokenProcessPool:
                if not began:
                    raise InputError(_UNGUARDED) from None
                for task in running.values():
                    deaths[task.label] += 1
                    if deaths[task.label] > TRIES:
                        left.remove(task)
                        yield _died(task, TRIES + 1)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Variables for processes started inside the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Processes started inside the block leave Ctrl-C to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
