"""The solvers by name, imported when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from fecontact.errors import InputError, choices
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Options, Solution
from fecontact.typing import FloatArray

Solver = Callable[[FrictionProblem, FloatArray | None, Options | None], Solution]

# name -> module of this package with the function `solve`
SOLVERS: Mapping[str, str] = MappingProxyType(
    {
        "hybrid": "hybrid",
        "nsgs": "nsgs",
        "newton": "newton",
        "tresca": "tresca",
        "proximal": "proximal",
        "fixed_point": "fixed_point",
        "extragradient": "extragradient",
        "admm": "admm",
        "enumeration": "enumeration",
    }
)


def solver(name: str) -> Solver:
    """The function ``solve(problem, r0, options)`` of a solver."""
    if name not in SOLVERS:
        raise InputError(f"unknown solver {name!r}; {choices(name, SOLVERS)}")
    module = import_module(f"fecontact.solvers.{SOLVERS[name]}")
    found: Solver = module.solve
    return found


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve a friction problem with the solver that the options name.

    Parameters
    ----------
    problem : FrictionProblem
        W, q, mu.
    r0 : (n,) array, optional
        First iterate, for instance the impulses of the step before.
    options : Options, optional
        Solver, tolerance, limits.

    Returns
    -------
    Solution
        r, u = W r + q and the report. `NotConverged` is raised otherwise, with the best iterate.
    """
    options = options or Options()
    return solver(options.solver)(problem, r0, options)
