"""How far something has come that moves at a given velocity."""

from __future__ import annotations

import math

import numpy as np

from fecontact.errors import ConditionError
from fecontact.expressions import Constant, Field, Table
from fecontact.typing import FloatArray

_ORIGIN = np.zeros((1, 2))
# accuracy of the quadrature of a block, and what is taken where it cannot be had, both relative to
# the length of the block times the largest velocity in it
_WANTED = 1e-13
_WORST = 1e-8
# points where the largest velocity is looked for, and parts that a block may be cut into
_SAMPLES = 9
_PARTS = 200
# blocks up to the next power of two that is passed
_BLOCKS = 32
# parts of a step, and Gauss points in each, for what varies in space too
_CUTS, _GAUSS = 8, 6
# a step asks at its start, where it looks for contacts, and at its end
_KEPT = 8


class Travel:
    """∫ velocity from 0 to t: exact for numbers and tables, adaptive quadrature for expressions.

    The quadrature goes by blocks of a size that depends on t alone, whose sums are kept: a time
    costs the same early and late in a run, and its value does not depend on what was asked before.

    Parameters
    ----------
    velocity
        A field that depends on t alone.
    where
        What an error message calls it.
    """

    def __init__(self, velocity: Field, where: str = "velocity") -> None:
        self._velocity, self._where = velocity, where
        self._sums: dict[float, list[float]] = {}
        self._last: dict[float, float] = {}

    def __call__(self, t: float) -> float:
        velocity = self._velocity
        if isinstance(velocity, Constant):
            return velocity.value * t
        if t not in self._last:
            if len(self._last) >= _KEPT:
                self._last.pop(next(iter(self._last)))
            self._last[t] = self._table(velocity, t) if isinstance(velocity, Table) else self._to(t)
        return self._last[t]

    def _table(self, velocity: Table, t: float) -> float:
        knots = [s for s in velocity.times if 0.0 < s < t]
        times = np.array([0.0, *knots, t])
        return float(np.trapezoid([self._at(s) for s in times], times))

    def _at(self, t: float) -> float:
        return float(self._velocity(_ORIGIN, t)[0])

    def _to(self, t: float) -> float:
        if t <= 0.0:
            return 0.0
        block = math.ldexp(1.0 / _BLOCKS, math.frexp(t)[1] - 1)
        # the sums of shorter blocks are not asked for again
        if block not in self._sums:
            self._sums = {block: [0.0]}
        sums, whole = self._sums[block], int(t // block)
        while len(sums) <= whole:
            k = len(sums)
            sums.append(sums[-1] + self._over((k - 1) * block, k * block))
        return sums[whole] + self._over(whole * block, t)

    def _over(self, a: float, b: float) -> float:
        if not b > a:
            return 0.0
        # an import that costs a tenth of a second, for expressions only
        from scipy import integrate

        highest = max(abs(self._at(s)) for s in np.linspace(a, b, _SAMPLES))
        size = (b - a) * highest
        value, error = integrate.quad(
            self._at, a, b, epsabs=_WANTED * size, epsrel=_WANTED, limit=_PARTS, full_output=1
        )[:2]
        if error > _WORST * max(size, abs(value)):
            raise ConditionError(
                f"{self._where}: between t = {a:g} and {b:g} it varies too fast to be integrated; "
                "give it as a table, or smoother"
            )
        return float(value)


def mean_velocity(velocity: Field, points: FloatArray, t: float, h: float) -> FloatArray:
    """Mean (n,) between t - h and t of a velocity that varies in space and time, by Gauss points.

    Exact to rounding where it is smooth over a step.
    """
    at, weights = np.polynomial.legendre.leggauss(_GAUSS)
    part = h / _CUTS
    times = t - h + part * (np.arange(_CUTS)[:, None] + 0.5 * (1.0 + at))
    total = np.zeros(len(points))
    for row in times:
        for s, weight in zip(row, weights, strict=True):
            total += weight * velocity(points, float(s))
    return total / (2.0 * _CUTS)
