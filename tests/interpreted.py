"""Kernels in Python: with FECONTACT_INTERPRETED=1 numba leaves them as they are written.

Coverage sees their lines then, and a fault that is put into one of them acts at once, whatever was
compiled before. The direct solver stays compiled: it calls BLAS by address.
"""

from __future__ import annotations

import os
import sys
from typing import Any

COMPILED = {f"fecontact.solvers.{name}" for name in ("dissection", "fronts", "graph")} | {
    "fecontact.solvers.multifrontal"
}
"""Modules whose kernels stay compiled."""


def interpret() -> None:
    """Do so where the environment asks for it, before the package imports numba."""
    if os.environ.get("FECONTACT_INTERPRETED") != "1":
        return
    import numba

    compiler = numba.njit

    def njit(*given: Any, **options: Any) -> Any:
        if sys._getframe(1).f_globals["__name__"] in COMPILED:
            return compiler(*given, **options)
        return given[0] if given and callable(given[0]) else lambda function: function

    numba.njit = njit
