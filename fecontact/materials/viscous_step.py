"""One step of viscoelasticity at points: exact for a constant rate of strain.

Over a step h with the strain increment ε at mid-step and the turn α of the material frame,

    s_b ← e^{-h/τ_b} Q(α) s_b + c_b Q(α/2) dev ε,    c_b = 2 G_b τ_b (1 - e^{-h/τ_b}) / h,
    p ← p + K tr ε,

where Q(α) turns a tensor in the plane by α. The stress is p 1 + Σ s_b. All tensors have the
components (xx, yy, zz, xy), with the engineering shear in strains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from fecontact.errors import InputError
from fecontact.materials.maxwell import Rheology
from fecontact.typing import FloatArray


@dataclass(frozen=True, eq=False)
class ViscousState:
    """Stress of points, by its parts; never changed in place.

    Attributes
    ----------
    mean : (n,)
        Mean stress (tension positive).
    deviators : (n, nb, 4)
        Deviators of the branches.
    """

    mean: FloatArray
    deviators: FloatArray

    @property
    def deviator(self) -> FloatArray:
        """Deviatoric stress (n, 4)."""
        return np.asarray(self.deviators.sum(axis=1))

    @property
    def stress(self) -> FloatArray:
        """Stress (n, 4)."""
        stress = self.deviator
        stress[:, :3] += self.mean[:, None]
        return stress


class ViscoelasticLaw:
    """The law of the points of a body (a `PointLaw` with finite rotation)."""

    def __init__(self, rheology: Rheology) -> None:
        self.rheology = rheology

    def initial_state(self, stress: FloatArray | None = None) -> ViscousState:
        """State of points under a given stress (n, 4), none by default.

        Branches share the deviator in proportion to their moduli, as after a sudden strain.
        """
        rheology = self.rheology
        n, nb = rheology.n_points, rheology.n_branches
        if stress is None:
            return ViscousState(np.zeros(n), np.zeros((n, nb, 4)))
        if np.shape(stress) != (n, 4):
            raise InputError(f"initial stress has shape {np.shape(stress)}, expected ({n}, 4)")
        mean = np.asarray(stress)[:, :3].mean(axis=1)
        deviator = np.array(stress, dtype=np.float64)
        deviator[:, :3] -= mean[:, None]
        share = rheology.shear / rheology.shear.sum(axis=1, keepdims=True)
        return ViscousState(mean, share[:, :, None] * deviator[:, None, :])

    def coefficients(self, h: float) -> tuple[FloatArray, FloatArray]:
        """(e^{-h/τ}, 2 G τ (1 - e^{-h/τ}) / h) of the branches, (n, nb) each."""
        if not (np.isfinite(h) and h > 0.0):
            raise InputError(f"time step h = {h!r}, expected a number > 0")
        x = h / self.rheology.time
        decay = np.exp(-x)
        # -expm1(-x) / x loses nothing where x is small; an elastic branch has x = 0
        factor = np.where(x > 0.0, -np.expm1(-x) / np.where(x > 0.0, x, 1.0), 1.0)
        return decay, 2.0 * self.rheology.shear * factor

    def update(
        self, increment: FloatArray, state: ViscousState, h: float, turn: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, ViscousState]:
        """Stress, tangents and state at the end of a step.

        Parameters
        ----------
        increment : (n, 4)
            Strain increments at mid-step.
        state
            At the start; it is not changed.
        h
            The step.
        turn : (n,), optional
            Angle by which the material frame turns over the step, 0 by default.

        Returns
        -------
        stress : (n, 4)
        tangent : (n, 4, 4)
            Derivative with respect to the increment.
        slope : (n, 4)
            Derivative with respect to the turn.
        state : ViscousState
        """
        n = self.rheology.n_points
        increment = np.ascontiguousarray(increment, dtype=np.float64)
        if increment.shape != (n, 4):
            raise InputError(f"increments have shape {increment.shape}, expected ({n}, 4)")
        turn = np.zeros(n) if turn is None else np.ascontiguousarray(turn, dtype=np.float64)
        decay, factor = self.coefficients(h)
        stress, tangent, slope, mean, deviators = _update(
            increment, turn, state.mean, state.deviators, self.rheology.bulk, decay, factor
        )
        return stress, tangent, slope, ViscousState(mean, deviators)


@njit(cache=True, inline="always")
def turned_pair(d: float, q: float, c: float, s: float) -> tuple[float, float]:
    """((xx - yy) / 2, xy) of a tensor turned by half the angle of cosine c and sine s."""
    return c * d - s * q, s * d + c * q


@njit(cache=True)
def _update(
    increment: Any, turn: Any, mean: Any, deviators: Any, bulk: Any, decay: Any, factor: Any
) -> tuple[Any, Any, Any, Any, Any]:
    n, nb = decay.shape
    stress = np.zeros((n, 4))
    tangent = np.zeros((n, 4, 4))
    slope = np.zeros((n, 4))
    new_mean = np.empty(n)
    new = np.empty((n, nb, 4))
    for i in range(n):
        trace = increment[i, 0] + increment[i, 1] + increment[i, 2]
        new_mean[i] = mean[i] + bulk[i] * trace
        # whole turn for the stress carried over, half turn for the increment made at mid-step
        c2, s2 = np.cos(2.0 * turn[i]), np.sin(2.0 * turn[i])
        c1, s1 = np.cos(turn[i]), np.sin(turn[i])
        em = 0.5 * (increment[i, 0] + increment[i, 1]) - trace / 3.0
        ez = increment[i, 2] - trace / 3.0
        half = 0.5 * (increment[i, 0] - increment[i, 1])
        ed, eq = turned_pair(half, 0.5 * increment[i, 3], c1, s1)
        total = 0.0
        for b in range(nb):
            f = factor[i, b]
            total += f
            e = decay[i, b]
            m = e * 0.5 * (deviators[i, b, 0] + deviators[i, b, 1])
            pair = 0.5 * (deviators[i, b, 0] - deviators[i, b, 1])
            d, q = turned_pair(pair, deviators[i, b, 3], c2, s2)
            d *= e
            q *= e
            slope[i, 0] -= 2.0 * q + f * eq
            slope[i, 1] += 2.0 * q + f * eq
            slope[i, 3] += 2.0 * d + f * ed
            m += f * em
            d += f * ed
            q += f * eq
            new[i, b, 0] = m + d
            new[i, b, 1] = m - d
            new[i, b, 2] = e * deviators[i, b, 2] + f * ez
            new[i, b, 3] = q
            for k in range(4):
                stress[i, k] += new[i, b, k]
        for k in range(3):
            stress[i, k] += new_mean[i]
        for k in range(3):
            for l in range(3):
                tangent[i, k, l] = bulk[i] - total / 3.0
        tangent[i, 2, 2] += total
        # dev of the in-plane mean and of the turned pair
        for k in range(2):
            sign = 1.0 - 2.0 * k
            tangent[i, k, 0] += 0.5 * total * (1.0 + sign * c1)
            tangent[i, k, 1] += 0.5 * total * (1.0 - sign * c1)
            tangent[i, k, 3] = -0.5 * total * sign * s1
        tangent[i, 3, 0] = 0.5 * total * s1
        tangent[i, 3, 1] = -0.5 * total * s1
        tangent[i, 3, 3] = 0.5 * total * c1
    return stress, tangent, slope, new_mean, new
