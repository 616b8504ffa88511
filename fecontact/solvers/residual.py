"""How far a pair (r, u) is from the contact law.

The natural map of the contact c is ``F = r - P_K(r - rho (u + mu |u_T| N))`` with K the friction
cone and rho the inverse of the mean diagonal of the contact's block of W. F has the dimension of
an impulse; the residual is ``|F| / max(|r|, |P|)`` over all contacts, P the projections. It is a
number without dimension: units of impulse and of velocity may change, it does not. It is 0 for
r = 0 where every contact opens, 1 for r = 0 where some does not.

The margins measure the same defect in units of the problem, as distances to the graphs of the
unilateral condition and of the friction law.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fecontact.errors import InputError
from fecontact.solvers.problem import COULOMB, TRESCA, FrictionProblem
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class Margins:
    """Bounds on the violations of the contact law; None leaves one out.

    gap and slip bound velocities (normal and tangential), normal and tangential bound impulses.
    """

    gap: float | None = None
    normal: float | None = None
    slip: float | None = None
    tangential: float | None = None

    def __post_init__(self) -> None:
        for name, value in self.items():
            if not value >= 0.0:
                raise InputError(f"margin {name} = {value}, expected >= 0")

    def items(self) -> list[tuple[str, float]]:
        """Names and bounds of those that are given."""
        pairs = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return [(name, float(value)) for name, value in pairs if value is not None]

    @property
    def empty(self) -> bool:
        return not self.items()


def excess(margins: Margins, found: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The margins that do not hold: name -> (violation, bound)."""
    return {
        name: (found[name], bound) for name, bound in margins.items() if not found[name] <= bound
    }


def certificate(problem: FrictionProblem, r: FloatArray, u: FloatArray | None = None) -> float:
    """Dimensionless residual of r, by the natural map; u = W r + q is computed if not given."""
    if u is None:
        u = problem.velocity(r)
    F = np.empty_like(r)
    return float(
        residual_kernel(
            problem.dim, r, u, problem.rho, problem.mu, problem.laws, problem.thresholds, F
        )
    )


def natural_map(problem: FrictionProblem, r: FloatArray, u: FloatArray | None = None) -> FloatArray:
    """(n,) natural map of each contact, in units of impulse; zero where the law holds."""
    if u is None:
        u = problem.velocity(r)
    F = np.empty_like(r)
    residual_kernel(problem.dim, r, u, problem.rho, problem.mu, problem.laws, problem.thresholds, F)
    return F


def violations(
    problem: FrictionProblem, r: FloatArray, u: FloatArray | None = None
) -> dict[str, float]:
    """Largest violations of the law over the contacts: gap, normal, slip, tangential.

    A normal pair off the corner of its graph (both u_N > 0 and r_N > 0) counts as a gap or as a
    reaction, whichever is the nearer in the scale rho of the contact; likewise a tangential pair
    inside the bound with slip.
    """
    if u is None:
        u = problem.velocity(r)
    found = _violations(
        problem.dim, r, u, problem.rho, problem.mu, problem.laws, problem.thresholds
    )
    return dict(zip(("gap", "normal", "slip", "tangential"), map(float, found), strict=True))


@njit(cache=True)
def residual_kernel(
    dim: int,
    r: FloatArray,
    u: FloatArray,
    rho: FloatArray,
    mu: FloatArray,
    law: NDArray[np.int8],
    threshold: FloatArray,
    F: FloatArray,
) -> float:
    """Fill F with the natural map and return its dimensionless norm."""
    F2 = 0.0
    r2 = 0.0
    P2 = 0.0
    for c in range(rho.size):
        i = dim * c
        third = dim == 3
        rN = r[i]
        r1 = r[i + 1]
        rS = r[i + 2] if third else 0.0
        uN = rho[c] * u[i]
        u1 = rho[c] * u[i + 1]
        uS = rho[c] * u[i + 2] if third else 0.0
        z1 = r1 - u1
        zS = rS - uS
        # absolute values in 2D: no rounding by the square root, and no cost
        z = sqrt(z1 * z1 + zS * zS) if third else abs(z1)
        if law[c] == COULOMB:
            slip = sqrt(u1 * u1 + uS * uS) if third else abs(u1)
            # |z_T| - rho |u_T| without the cancellation that fast slip would bring
            total = z + slip
            difference = 0.0
            if total > 0.0:
                difference = (r1 * (r1 - 2.0 * u1) + rS * (rS - 2.0 * uS)) / total
            zN = rN - uN - mu[c] * slip
            reach = rN - uN + mu[c] * difference
            if reach <= 0.0:
                pN = 0.0
                p1 = 0.0
                pS = 0.0
            elif z <= mu[c] * zN:
                pN = zN
                p1 = z1
                pS = zS
            else:
                pN = reach / (1.0 + mu[c] * mu[c])
                scale = mu[c] * pN / z if z > 0.0 else 0.0
                p1 = scale * z1
                pS = scale * zS
        elif law[c] == TRESCA:
            pN = max(rN - uN, 0.0)
            scale = threshold[c] / z if z > threshold[c] else 1.0
            p1 = scale * z1
            pS = scale * zS
        else:
            pN = rN - uN
            p1 = z1
            pS = zS
        F[i] = rN - pN
        F[i + 1] = r1 - p1
        F2 += F[i] * F[i] + F[i + 1] * F[i + 1]
        if third:
            F[i + 2] = rS - pS
            F2 += F[i + 2] * F[i + 2]
        r2 += rN * rN + r1 * r1 + rS * rS
        P2 += pN * pN + p1 * p1 + pS * pS
    size = max(r2, P2)
    if size == 0.0:
        return 0.0
    return sqrt(F2 / size)


@njit(cache=True)
def _violations(
    dim: int,
    r: FloatArray,
    u: FloatArray,
    rho: FloatArray,
    mu: FloatArray,
    law: NDArray[np.int8],
    threshold: FloatArray,
) -> tuple[float, float, float, float]:
    gap = 0.0
    normal = 0.0
    slip = 0.0
    tangential = 0.0
    for c in range(rho.size):
        i = dim * c
        rN = r[i]
        uN = u[i]
        r1 = r[i + 1]
        u1 = u[i + 1]
        rS = r[i + 2] if dim == 3 else 0.0
        uS = u[i + 2] if dim == 3 else 0.0
        speed = sqrt(u1 * u1 + uS * uS)
        force = sqrt(r1 * r1 + rS * rS)
        if law[c] != COULOMB and law[c] != TRESCA:
            gap = max(gap, abs(uN))
            slip = max(slip, speed)
            continue
        gap = max(gap, -uN)
        normal = max(normal, -rN)
        if uN > 0.0 and rN > 0.0:
            if rho[c] * uN <= rN:
                gap = max(gap, uN)
            else:
                normal = max(normal, rN)
        bound = threshold[c] if law[c] == TRESCA else mu[c] * max(rN, 0.0)
        tangential = max(tangential, force - bound)
        if speed > 0.0:
            d1 = r1 + bound * u1 / speed
            dS = rS + bound * uS / speed
            defect = sqrt(d1 * d1 + dS * dS)
            if rho[c] * speed <= defect:
                slip = max(slip, speed)
            else:
                tangential = max(tangential, defect)
    return gap, normal, slip, tangential
