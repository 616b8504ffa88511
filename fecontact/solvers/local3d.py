"""One contact in three dimensions, for any coefficient of friction.

With u = b + w r, b_N < 0 and u_N = 0 the normal impulse is eliminated, which leaves a plane
problem with the Schur complement S of w. In sliding u_T = -kappa r_T with kappa > 0, so that in the
principal axes of S

    r_Ti(kappa) = -c_i / (s_i + kappa),   c = b_T - w_TN b_N / w_NN,
    r_N(kappa)  = -(b_N + w_NT r_T) / w_NN,

and kappa is the root of mu r_N / |r_T| = 1, an equation that is linear where S is isotropic. At 0
(stick violated) the left side is below 1, at a known bound above: a bracketed Newton iteration
always ends. Where mu |w_NT| >= w_NN there may be several solutions: the rule is to open if
b_N >= 0, else the root that this iteration meets from the side of stick.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from fecontact.typing import FloatArray

_SINGULAR = 1e-14


@njit(cache=True)
def principal_axes(a: float, b: float, d: float) -> tuple[float, float, float, float]:
    """Eigenvalues (larger first) and the first axis of the symmetric matrix ((a, b), (b, d))."""
    mean = 0.5 * (a + d)
    half = 0.5 * (a - d)
    radius = sqrt(half * half + b * b)
    if radius == 0.0:
        return mean, mean, 1.0, 0.0
    x = radius + half if half >= 0.0 else b
    y = b if half >= 0.0 else radius - half
    size = sqrt(x * x + y * y)
    return mean + radius, mean - radius, x / size, y / size


@njit(cache=True)
def prepare_3d(blocks: FloatArray) -> FloatArray:
    """(nc, 4) eigenvalues and first axis of the tangential Schur complement of each block."""
    spectral = np.zeros((blocks.shape[0], 4))
    for c in range(blocks.shape[0]):
        w = blocks[c]
        inverse = 1.0 / w[0, 0] if w[0, 0] > 0.0 else 0.0
        s1, s2, x, y = principal_axes(
            w[1, 1] - w[0, 1] * w[0, 1] * inverse,
            w[1, 2] - w[0, 1] * w[0, 2] * inverse,
            w[2, 2] - w[0, 2] * w[0, 2] * inverse,
        )
        least = _SINGULAR * (w[1, 1] + w[2, 2])
        spectral[c, 0] = s1 if s1 > least else 0.0
        spectral[c, 1] = s2 if s2 > least else 0.0
        spectral[c, 2] = x
        spectral[c, 3] = y
    return spectral


@njit(cache=True)
def _ratio(c: float, s: float) -> float:
    if c == 0.0:
        return 0.0
    return -c / s if s > 0.0 else -c * np.inf


@njit(cache=True)
def coulomb_3d(
    blocks: FloatArray, spectral: FloatArray, c: int, bN: float, b1: float, b2: float, mu: float
) -> tuple[float, float, float]:
    """(r_N, r_T1, r_T2) of a unilateral contact with Coulomb friction."""
    wNN = blocks[c, 0, 0]
    if bN >= 0.0 or wNN <= 0.0:
        return 0.0, 0.0, 0.0
    if mu == 0.0:
        return -bN / wNN, 0.0, 0.0
    s1, s2, x, y = spectral[c, 0], spectral[c, 1], spectral[c, 2], spectral[c, 3]
    # coupling and load in the principal axes (x, y), (-y, x)
    a1 = x * blocks[c, 0, 1] + y * blocks[c, 0, 2]
    a2 = x * blocks[c, 0, 2] - y * blocks[c, 0, 1]
    c1 = x * b1 + y * b2 - a1 * bN / wNN
    c2 = x * b2 - y * b1 - a2 * bN / wNN
    t1 = _ratio(c1, s1)
    t2 = _ratio(c2, s2)
    if abs(t1) < np.inf and abs(t2) < np.inf:
        rN = -(bN + a1 * t1 + a2 * t2) / wNN
        if t1 * t1 + t2 * t2 <= mu * mu * rN * rN and rN >= 0.0:
            return rN, x * t1 - y * t2, y * t1 + x * t2
    load = sqrt(c1 * c1 + c2 * c2)
    high = load * (wNN / mu + sqrt(a1 * a1 + a2 * a2)) / -bN
    low = 0.0
    kappa = 0.0 if s2 > 0.0 else 0.5 * high
    for _ in range(100):
        d1 = s1 + kappa
        d2 = s2 + kappa
        t1 = -c1 / d1 if d1 > 0.0 else 0.0
        t2 = -c2 / d2 if d2 > 0.0 else 0.0
        size2 = t1 * t1 + t2 * t2
        size = sqrt(size2)
        rN = -(bN + a1 * t1 + a2 * t2) / wNN
        value = mu * rN - size
        if value == 0.0:
            break
        if value < 0.0:
            low = kappa
        else:
            high = kappa
        # derivatives of r_T and |r_T| by kappa, then of mu r_N / |r_T| - 1
        v1 = -t1 / d1 if d1 > 0.0 else 0.0
        v2 = -t2 / d2 if d2 > 0.0 else 0.0
        size_slope = (t1 * v1 + t2 * v2) / size
        slope = -mu * (a1 * v1 + a2 * v2) / wNN - mu * rN * size_slope / size
        trial = kappa - value / slope if slope > 0.0 else -1.0
        if not low < trial < high:
            trial = 0.5 * (low + high)
        if abs(trial - kappa) <= 2e-16 * (s2 + kappa):
            break
        kappa = trial
    size = sqrt(t1 * t1 + t2 * t2)
    if size == 0.0:
        return -bN / wNN, 0.0, 0.0
    t1 /= size
    t2 /= size
    compliance = wNN + mu * (a1 * t1 + a2 * t2)
    if compliance <= 0.0:
        return 0.0, 0.0, 0.0
    rN = -bN / compliance
    force = mu * rN
    return rN, force * (x * t1 - y * t2), force * (y * t1 + x * t2)


@njit(cache=True)
def bilateral_3d(
    blocks: FloatArray, spectral: FloatArray, c: int, bN: float, b1: float, b2: float
) -> tuple[float, float, float]:
    """(r_N, r_T1, r_T2) of a glued contact: u = 0 (least tangential impulse if w is singular)."""
    return _disk_3d(blocks, spectral, c, bN, b1, b2, np.inf)


@njit(cache=True)
def tresca_3d(
    blocks: FloatArray, spectral: FloatArray, c: int, bN: float, b1: float, b2: float, bound: float
) -> tuple[float, float, float]:
    """(r_N, r_T1, r_T2) of a unilateral contact with |r_T| <= bound, bound given."""
    if blocks[c, 0, 0] > 0.0:
        rN, r1, r2 = _disk_3d(blocks, spectral, c, bN, b1, b2, bound)
        if rN >= 0.0:
            return rN, r1, r2
    s1, s2, x, y = principal_axes(blocks[c, 1, 1], blocks[c, 1, 2], blocks[c, 2, 2])
    t1, t2 = _disk_minimum(s1, max(s2, 0.0), x * b1 + y * b2, x * b2 - y * b1, bound)
    return 0.0, x * t1 - y * t2, y * t1 + x * t2


@njit(cache=True)
def _disk_3d(
    blocks: FloatArray, spectral: FloatArray, c: int, bN: float, b1: float, b2: float, bound: float
) -> tuple[float, float, float]:
    """Impulse with u_N = 0 and r_T in a disk."""
    x, y = spectral[c, 2], spectral[c, 3]
    inverse = 1.0 / blocks[c, 0, 0] if blocks[c, 0, 0] > 0.0 else 0.0
    a1 = x * blocks[c, 0, 1] + y * blocks[c, 0, 2]
    a2 = x * blocks[c, 0, 2] - y * blocks[c, 0, 1]
    c1 = x * b1 + y * b2 - a1 * bN * inverse
    c2 = x * b2 - y * b1 - a2 * bN * inverse
    t1, t2 = _disk_minimum(spectral[c, 0], spectral[c, 1], c1, c2, bound)
    rN = -(bN + a1 * t1 + a2 * t2) * inverse
    return rN, x * t1 - y * t2, y * t1 + x * t2


@njit(cache=True)
def _disk_minimum(s1: float, s2: float, c1: float, c2: float, bound: float) -> tuple[float, float]:
    """Minimum of (s1 t1^2 + s2 t2^2) / 2 + c1 t1 + c2 t2 over the disk |t| <= bound."""
    if bound == np.inf:
        return (-c1 / s1 if s1 > 0.0 else 0.0), (-c2 / s2 if s2 > 0.0 else 0.0)
    if bound == 0.0:
        return 0.0, 0.0
    t1 = _ratio(c1, s1)
    t2 = _ratio(c2, s2)
    if t1 * t1 + t2 * t2 <= bound * bound:
        return t1, t2
    low = 0.0
    high = sqrt(c1 * c1 + c2 * c2) / bound
    kappa = 0.0 if s2 > 0.0 else 0.5 * high
    for _ in range(100):
        d1 = s1 + kappa
        d2 = s2 + kappa
        t1 = -c1 / d1 if d1 > 0.0 else 0.0
        t2 = -c2 / d2 if d2 > 0.0 else 0.0
        size = sqrt(t1 * t1 + t2 * t2)
        if size >= bound:
            low = kappa
        else:
            high = kappa
        v1 = -t1 / d1 if d1 > 0.0 else 0.0
        v2 = -t2 / d2 if d2 > 0.0 else 0.0
        slope = (t1 * v1 + t2 * v2) / size
        trial = kappa - size / slope * (size / bound - 1.0) if slope < 0.0 else -1.0
        if not low < trial < high:
            trial = 0.5 * (low + high)
        if abs(trial - kappa) <= 2e-16 * (s2 + kappa):
            break
        kappa = trial
    size = sqrt(t1 * t1 + t2 * t2)
    return t1 * bound / size, t2 * bound / size
