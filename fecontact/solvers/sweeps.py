"""Gauss-Seidel sweeps over the contacts, compiled.

A contact that changes adds dim columns of W to u, a contact that does not change costs nothing. The
kernel is compiled for each dimension: with the dimension known its loops have no branches.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fecontact.solvers.local2d import bilateral_2d, coulomb_2d, tresca_2d
from fecontact.solvers.local3d import bilateral_3d, coulomb_3d, tresca_3d
from fecontact.solvers.problem import BILATERAL, COULOMB, TRESCA
from fecontact.solvers.residual import residual_kernel
from fecontact.typing import FloatArray, IntArray

# changes below this part of the tolerance wait: they are no part of r nor of u
_NEGLIGIBLE = 1e-2
# the natural map is evaluated when the change over a sweep comes this near to the tolerance
_NEAR = 4.0
# and every so many sweeps, for the history and the best iterate
EVERY = 25


@njit(cache=True, inline="always")
def _drawn(order: IntArray, left: int, x: np.uint64) -> np.uint64:
    """Draw one of the first `left` contacts of the order and put it last among them.

    Repeated with one fewer each time this is the shuffle of Fisher and Yates; x is the state of a
    64-bit xorshift generator.
    """
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    # the upper half times the range, without a division
    j = np.int64(((x >> np.uint64(32)) * np.uint64(left)) >> np.uint64(32))
    order[left - 1], order[j] = order[j], order[left - 1]
    return x


@njit(cache=True, inline="always")
def local_solution(
    dim: int,
    law: int,
    blocks: FloatArray,
    spectral: FloatArray,
    c: int,
    bN: float,
    b1: float,
    b2: float,
    mu: float,
    threshold: float,
) -> tuple[float, float, float]:
    """Impulse of contact c with u = b + w r (third component 0 in 2D)."""
    if dim == 2:
        wNN = blocks[c, 0, 0]
        wNT = blocks[c, 0, 1]
        wTT = blocks[c, 1, 1]
        if law == COULOMB:
            rN, r1 = coulomb_2d(wNN, wNT, wTT, bN, b1, mu)
        elif law == TRESCA:
            rN, r1 = tresca_2d(wNN, wNT, wTT, bN, b1, threshold)
        else:
            rN, r1 = bilateral_2d(wNN, wNT, wTT, bN, b1)
        r2 = 0.0
    elif law == COULOMB:
        rN, r1, r2 = coulomb_3d(blocks, spectral, c, bN, b1, b2, mu)
    elif law == TRESCA:
        rN, r1, r2 = tresca_3d(blocks, spectral, c, bN, b1, b2, threshold)
    else:
        rN, r1, r2 = bilateral_3d(blocks, spectral, c, bN, b1, b2)
    return rN, r1, r2


@njit(cache=True)
def _relaxed(
    law: int,
    mu: float,
    threshold: float,
    rN: float,
    r1: float,
    r2: float,
) -> tuple[float, float, float]:
    """A relaxed impulse, brought back among the admissible ones."""
    if law == BILATERAL:
        return rN, r1, r2
    rN = max(rN, 0.0)
    bound = mu * rN if law == COULOMB else threshold
    size = sqrt(r1 * r1 + r2 * r2)
    if size > bound:
        scale = bound / size
        return rN, scale * r1, scale * r2
    return rN, r1, r2


def _compiled(dim: int) -> Any:
    """The sweeps for one dimension."""

    @njit(cache=True)
    def sweep_all(
        dense: bool,
        columns: FloatArray,
        indptr: NDArray[np.int32],
        indices: NDArray[np.int32],
        data: FloatArray,
        blocks: FloatArray,
        spectral: FloatArray,
        rho: FloatArray,
        mu: FloatArray,
        law: NDArray[np.int8],
        threshold: FloatArray,
        r: FloatArray,
        u: FloatArray,
        omega: float,
        shuffle: bool,
        state: NDArray[np.uint64],
        order: IntArray,
        max_sweeps: int,
        tolerance: float,
        history: FloatArray,
    ) -> tuple[int, float, int]:
        """Sweep until the natural map meets the tolerance; the arrays from r on change."""
        nc = order.size
        n = r.size
        # rows of the columns may be padded, and u is
        length = columns.shape[1]
        F = np.empty(n)
        recorded = 0
        residual = np.inf
        size2 = 0.0
        for i in range(n):
            size2 += r[i] * r[i]
        for sweep in range(max_sweeps):
            x = state[0]
            change2 = 0.0
            waiting2 = (_NEGLIGIBLE * tolerance) ** 2 * size2 / max(nc, 1)
            size2 = 0.0
            for k in range(nc):
                if shuffle:
                    # drawn as it is needed, so that drawing and solving overlap in the processor
                    x = _drawn(order, nc - k, x)
                    c = order[nc - 1 - k]
                else:
                    c = k
                i = dim * c
                rN = r[i]
                r1 = r[i + 1]
                if dim == 2:
                    r2 = 0.0
                    bN = u[i] - blocks[c, 0, 0] * rN - blocks[c, 0, 1] * r1
                    b1 = u[i + 1] - blocks[c, 1, 0] * rN - blocks[c, 1, 1] * r1
                    b2 = 0.0
                else:
                    r2 = r[i + 2]
                    bN = u[i] - blocks[c, 0, 0] * rN - blocks[c, 0, 1] * r1 - blocks[c, 0, 2] * r2
                    b1 = (
                        u[i + 1]
                        - blocks[c, 1, 0] * rN
                        - blocks[c, 1, 1] * r1
                        - blocks[c, 1, 2] * r2
                    )
                    b2 = (
                        u[i + 2]
                        - blocks[c, 2, 0] * rN
                        - blocks[c, 2, 1] * r1
                        - blocks[c, 2, 2] * r2
                    )
                sN, s1, s2 = local_solution(
                    dim, law[c], blocks, spectral, c, bN, b1, b2, mu[c], threshold[c]
                )
                if omega != 1.0:
                    sN, s1, s2 = _relaxed(
                        law[c],
                        mu[c],
                        threshold[c],
                        rN + omega * (sN - rN),
                        r1 + omega * (s1 - r1),
                        r2 + omega * (s2 - r2),
                    )
                dN = sN - rN
                d1 = s1 - r1
                d2 = s2 - r2
                step2 = dN * dN + d1 * d1 + d2 * d2
                if step2 <= waiting2:
                    size2 += rN * rN + r1 * r1 + r2 * r2
                    continue
                size2 += sN * sN + s1 * s1 + s2 * s2
                change2 += step2
                r[i] = sN
                r[i + 1] = s1
                if dim == 3:
                    r[i + 2] = s2
                if dense:
                    if dim == 2:
                        for j in range(length):
                            u[j] += dN * columns[i, j] + d1 * columns[i + 1, j]
                    else:
                        for j in range(length):
                            u[j] += (
                                dN * columns[i, j] + d1 * columns[i + 1, j] + d2 * columns[i + 2, j]
                            )
                else:
                    for p in range(indptr[c], indptr[c + 1]):
                        j = dim * indices[p]
                        for m in range(dim):
                            u[j + m] += dN * data[p, 0, m] + d1 * data[p, 1, m]
                            if dim == 3:
                                u[j + m] += d2 * data[p, 2, m]
            state[0] = x
            if change2 <= (_NEAR * tolerance) ** 2 * size2 or sweep % EVERY == EVERY - 1:
                residual = residual_kernel(dim, r, u, rho, mu, law, threshold, F)
                if sweep % EVERY == EVERY - 1:
                    history[recorded] = residual
                    recorded += 1
                if residual <= tolerance:
                    return sweep + 1, residual, recorded
                if change2 == 0.0 or not np.isfinite(residual):
                    return sweep + 1, residual, recorded
        residual = residual_kernel(dim, r, u, rho, mu, law, threshold, F)
        return max_sweeps, residual, recorded

    return sweep_all


# (dense, columns, indptr, ... ) -> sweeps done, natural map, entries of the history
SWEEPS = {dim: _compiled(dim) for dim in (2, 3)}
