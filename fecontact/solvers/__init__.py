"""Solvers: linear systems, the Delassus operator, and the friction problem (W, q, mu).

This package knows numpy, scipy and numba, and nothing of meshes. Names are imported when used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fecontact.solvers.problem import BILATERAL, COULOMB, TRESCA, FrictionProblem
    from fecontact.solvers.registry import SOLVERS, solve, solver
    from fecontact.solvers.report import Options, Report, Solution
    from fecontact.solvers.residual import Margins, certificate, natural_map, violations

_WHERE = {
    "BILATERAL": "problem",
    "COULOMB": "problem",
    "TRESCA": "problem",
    "FrictionProblem": "problem",
    "SOLVERS": "registry",
    "solve": "registry",
    "solver": "registry",
    "Options": "report",
    "Report": "report",
    "Solution": "report",
    "Margins": "residual",
    "certificate": "residual",
    "natural_map": "residual",
    "violations": "residual",
}

__all__ = [
    "BILATERAL",
    "COULOMB",
    "SOLVERS",
    "TRESCA",
    "FrictionProblem",
    "Margins",
    "Options",
    "Report",
    "Solution",
    "certificate",
    "natural_map",
    "solve",
    "solver",
    "violations",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
