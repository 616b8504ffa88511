"""Threads of the numerical libraries: as many as a system of equations can feed, and no more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ENOUGH = 200_000
"""Degrees of freedom from which several threads pay.

Below, they wait for each other more than they compute, and on a busy machine they wait for their
turn as well: the fault in layers takes 9 s of processor time with one thread and 14 s with two.
"""

CHOSEN = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables of the environment by which a user chooses the number of threads."""


_held = False  # whether the linear algebra has one thread already


def loaded_libraries() -> Any:
    """The libraries that are loaded now, to be looked for once where steps come by the thousand."""
    import scipy.linalg  # noqa: F401  its copy of the library counts only when it is loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread(libraries: Any = None) -> Iterator[None]:
    """Give the linear algebra within one thread; `libraries` are the loaded ones, if known."""
    global _held
    if _held:
        yield
        return
    known = loaded_libraries() if libraries is None else libraries
    with known.limit(limits=1, user_api="blas"):
        _held = True
        try:
            yield
        finally:
            _held = False


@contextmanager
def threads_for(n_dofs: int, libraries: Any = None) -> Iterator[None]:
    """Give the linear algebra within one thread where the system is small, unless users chose."""
    if n_dofs >= ENOUGH or any(name in os.environ for name in CHOSEN):
        yield
        return
    with one_thread(libraries):
        yield
