"""One contact in two dimensions, in closed form.

With the other contacts frozen, u = b + w r with w symmetric positive semi-definite. Where b_N >= 0
the contact opens, r = 0. Else u_N = 0, and everything follows from the ratio t = r_T / r_N in
[-mu, mu]:

    r_N = -b_N / (w_NN + t w_NT),    u_T (w_NN + t w_NT) = A + t B,
    A = b_T w_NN - b_N w_NT,         B = b_T w_NT - b_N w_TT.

The sign of A + t B at t = -mu and t = mu tells forward slip, backward slip or stick, with no
division before the decision: w_TT = 0 and a singular w need no other treatment.

Where mu |w_NT| >= w_NN several solutions may exist for b_N >= 0: the rule is to open. For b_N < 0
and w positive definite there is one solution for any mu, on the part of [-mu, mu] where
w_NN + t w_NT > 0. Where w is singular there may be none; the contact is then left without
impulse, which the residual shows.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, inline="always")
def coulomb_2d(
    wNN: float, wNT: float, wTT: float, bN: float, bT: float, mu: float
) -> tuple[float, float]:
    """(r_N, r_T) of a unilateral contact with Coulomb friction."""
    if bN >= 0.0:
        return 0.0, 0.0
    low = -mu
    high = mu
    if mu * abs(wNT) >= wNN:
        if wNN <= 0.0:
            return 0.0, 0.0
        # keep the side of the ratios where the normal compliance is positive
        if wNT > 0.0:
            low = -wNN / wNT
        elif wNT < 0.0:
            high = -wNN / wNT
    A = bT * wNN - bN * wNT
    B = bT * wNT - bN * wTT
    if B > 0.0:
        # the one root, brought into the range: no branch that a change of state would mispredict
        t = -A / B
        t = low if t < low else t
        t = high if t > high else t
    elif A + low * B > 0.0:
        t = low
    elif A + high * B < 0.0:
        t = high
    else:
        t = 0.0  # u_T = 0 whatever r_T: the least impulse
    compliance = wNN + t * wNT
    if compliance <= 0.0:
        return 0.0, 0.0
    rN = -bN / compliance
    return rN, t * rN


@njit(cache=True)
def bilateral_2d(wNN: float, wNT: float, wTT: float, bN: float, bT: float) -> tuple[float, float]:
    """(r_N, r_T) of a glued contact: u = 0, by the larger pivot first."""
    if wNN >= wTT:
        if wNN <= 0.0:
            return 0.0, 0.0
        schur = wTT - wNT * wNT / wNN
        rT = 0.0
        if schur > 1e-14 * wTT:
            rT = -(bT - wNT / wNN * bN) / schur
        return -(bN + wNT * rT) / wNN, rT
    schur = wNN - wNT * wNT / wTT
    rN = 0.0
    if schur > 1e-14 * wNN:
        rN = -(bN - wNT / wTT * bT) / schur
    return rN, -(bT + wNT * rN) / wTT


@njit(cache=True)
def tresca_2d(
    wNN: float, wNT: float, wTT: float, bN: float, bT: float, bound: float
) -> tuple[float, float]:
    """(r_N, r_T) of a unilateral contact with |r_T| <= bound, bound given."""
    for s in (1.0, -1.0):
        rT = -s * bound
        pushed = bN + wNT * rT
        rN = -pushed / wNN if pushed < 0.0 and wNN > 0.0 else 0.0
        if s * (bT + wNT * rN + wTT * rT) >= 0.0:
            return rN, rT
    rT = -bT / wTT if wTT > 0.0 else 0.0
    if bN + wNT * rT >= 0.0:
        return 0.0, min(max(rT, -bound), bound)
    rN, rT = bilateral_2d(wNN, wNT, wTT, bN, bT)
    return max(rN, 0.0), min(max(rT, -bound), bound)
