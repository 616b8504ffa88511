"""Closed forms of line contact, to check results against: Hertz, Cattaneo and Mindlin."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np

from fecontact.contact import ContactState
from fecontact.errors import InputError
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class LineContact:
    """Hertz contact of a cylinder and a half space, or of two cylinders, per unit thickness.

    Parameters
    ----------
    load
        Normal force P per unit thickness.
    radius
        Relative radius of curvature, 1/R = 1/R1 + 1/R2.
    modulus
        Contact modulus, see `contact_modulus`.
    """

    load: float
    radius: float
    modulus: float

    def __post_init__(self) -> None:
        for name in ("load", "radius", "modulus"):
            if not getattr(self, name) > 0.0:
                raise InputError(f"line contact: {name} = {getattr(self, name)}, expected > 0")

    @property
    def half_width(self) -> float:
        """Half of the width in contact, a = sqrt(4 P R / (π E*))."""
        return sqrt(4.0 * self.load * self.radius / (pi * self.modulus))

    @property
    def peak(self) -> float:
        """Pressure at the middle, p0 = 2 P / (π a)."""
        return 2.0 * self.load / (pi * self.half_width)

    def pressure(self, x: FloatArray) -> FloatArray:
        """Pressure at the distances x from the middle."""
        return self.peak * _ellipse(x, self.half_width)

    def stick(self, tangential: float, friction: float) -> float:
        """Half width of the stick zone under a tangential force, c = a sqrt(1 - Q/(µ P))."""
        part = abs(tangential) / (friction * self.load)
        if part > 1.0:
            raise InputError(f"line contact: Q = {tangential:g} is more than friction can hold")
        return self.half_width * sqrt(1.0 - part)

    def shear(self, x: FloatArray, tangential: float, friction: float) -> FloatArray:
        """Size of the tangential traction at the distances x, for equal materials."""
        c = self.stick(tangential, friction)
        inner = (c / self.half_width) * _ellipse(x, c) if c > 0.0 else 0.0
        return friction * self.peak * (_ellipse(x, self.half_width) - inner)


def contact_modulus(E1: float, nu1: float, E2: float, nu2: float) -> float:
    """E* of two materials in plane strain, 1/E* = (1 - nu1²)/E1 + (1 - nu2²)/E2."""
    return 1.0 / ((1.0 - nu1**2) / E1 + (1.0 - nu2**2) / E2)


def fit_hertz(state: ContactState, middle: float = 0.0) -> tuple[float, float]:
    """Half width and peak pressure of the ellipse nearest to a computed contact.

    p² is linear in x²; the line is fitted where the pressure is above a fifth of its largest value,
    which leaves out the candidates at the edge, whose supports are only partly in contact.

    Parameters
    ----------
    state
        The contact, on a line along x.
    middle
        x of the middle of the contact.
    """
    x = state.position[:, 0] - middle
    p = state.force[:, 0] / state.support
    inside = p > 0.2 * p.max(initial=0.0)
    if np.count_nonzero(inside) < 3:
        raise InputError(
            f"contact {state.name!r}: {np.count_nonzero(inside)} candidates carry load, a fit of "
            "the pressure needs 3"
        )
    slope, peak2 = np.polyfit(x[inside] ** 2, p[inside] ** 2, 1)
    return float(np.sqrt(-peak2 / slope)), float(np.sqrt(peak2))


def _ellipse(x: FloatArray, a: float) -> FloatArray:
    return np.sqrt(np.maximum(0.0, 1.0 - (np.asarray(x) / a) ** 2))
