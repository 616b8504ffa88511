"""Exact solutions of impacts of elastic bars, derived in docs/dynamics.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fecontact.typing import FloatArray


@dataclass(frozen=True)
class CollidingBars:
    """Two equal bars that meet at t0 with velocities +v0 and -v0."""

    t0: float = 5e-5
    L: float = 1.0
    E: float = 1e9
    rho: float = 1e3
    v0: float = 0.1

    @property
    def c(self) -> float:
        return float(np.sqrt(self.E / self.rho))

    @property
    def release(self) -> float:
        return self.t0 + 2.0 * self.L / self.c

    @property
    def pressure(self) -> float:
        """Contact force per area while it lasts."""
        return self.rho * self.c * self.v0

    def settings(self, n: int, theta: float) -> tuple[str, ...]:
        """Return what makes the case one with n elements per bar that meet at t0.

        The step is that in which a wave passes an element.
        """
        half = self.v0 * self.t0
        return (
            f"mesh.parts.left.nx={n}",
            f"mesh.parts.right.nx={n}",
            f"mesh.parts.left.origin=[{-self.L - half!r}, 0.0]",
            f"mesh.parts.right.origin=[{half!r}, 0.0]",
            f"time.step={self.L / self.c / n!r}",
            f"scheme.theta={theta}",
        )

    def mean_pressure(self, t: FloatArray, h: float) -> FloatArray:
        """Contact force per area in the mean over the steps of size h that end at t."""
        return self.pressure * _share(t, h, self.t0, self.release)

    def end_velocity(self, t: FloatArray) -> FloatArray:
        """Velocity of the outer end of the left bar."""
        return np.where(t < self.t0 + self.L / self.c, self.v0, -self.v0)


@dataclass(frozen=True)
class BouncingBar:
    """A vertical bar that falls from h0 on a rigid floor, up to the end of the first contact."""

    L: float = 10.0
    E: float = 900.0
    rho: float = 1.0
    g: float = 10.0
    h0: float = 5.0

    @property
    def c(self) -> float:
        return float(np.sqrt(self.E / self.rho))

    @property
    def t0(self) -> float:
        """Instant of the first contact."""
        return float(np.sqrt(2.0 * self.h0 / self.g))

    @property
    def v0(self) -> float:
        return self.g * self.t0

    @property
    def duration(self) -> float:
        """Length of the first contact, where v0 > 2 g L / c."""
        return 2.0 * self.L / self.c

    def pressure(self, t: FloatArray) -> FloatArray:
        tau = np.asarray(t) - self.t0
        inside = (tau > 0.0) & (tau < self.duration)
        return np.where(inside, self.rho * self.c * (self.v0 + self.g * tau), 0.0)

    def _wave(self, s: FloatArray) -> FloatArray:
        return np.where(s > 0.0, self.v0 * s + 0.5 * self.g * s**2, 0.0)

    def displacement(self, x: FloatArray, t: float) -> FloatArray:
        """Displacement from where the bar was at first contact, x from the lower end."""
        tau = t - self.t0
        there, back = tau - x / self.c, tau - (2.0 * self.L - x) / self.c
        fall = -self.v0 * tau - 0.5 * self.g * tau**2
        return np.asarray(fall + self._wave(there) + self._wave(back))

    def stress(self, x: FloatArray, t: float) -> FloatArray:
        """Axial stress, x from the lower end."""
        tau = t - self.t0
        there, back = tau - x / self.c, tau - (2.0 * self.L - x) / self.c
        speeds = [np.where(s > 0.0, self.v0 + self.g * s, 0.0) for s in (there, back)]
        return np.asarray(self.rho * self.c * (speeds[1] - speeds[0]))


def _share(t: FloatArray, h: float, start: float, end: float) -> FloatArray:
    """Part of each step (t - h, t) that lies between start and end."""
    inside = np.minimum(t, end) - np.maximum(t - h, start)
    return np.asarray(np.clip(inside / h, 0.0, 1.0))
