"""The sets of admissible impulses, as the projection methods need them.

A Coulomb contact has the second-order cone |r_T| <= mu r_N, and its velocity is shifted to
u + mu |u_T| N, with which the law is a complementarity on that cone (De Saxcé and Feng). A Tresca
contact has the half cylinder r_N >= 0, |r_T| <= threshold, a glued contact the whole space; their
velocities stay as they are.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fecontact.solvers.problem import COULOMB, TRESCA, FrictionProblem
from fecontact.typing import FloatArray


def project(problem: FrictionProblem, z: FloatArray) -> FloatArray:
    """(n,) nearest admissible impulses of z."""
    return _project(problem.dim, z, problem.mu, problem.laws, problem.thresholds)


def shifted(problem: FrictionProblem, u: FloatArray) -> FloatArray:
    """(n,) u + mu |u_T| N of the Coulomb contacts, u of the others."""
    return u + shift(problem, u)


def shift(problem: FrictionProblem, u: FloatArray) -> FloatArray:
    """(n,) mu |u_T| N of the Coulomb contacts, 0 of the others."""
    nc, dim = problem.n_contacts, problem.dim
    added = np.zeros((nc, dim))
    slip = np.linalg.norm(u.reshape(nc, dim)[:, 1:], axis=1)
    added[:, 0] = np.where(problem.laws == COULOMB, problem.mu * slip, 0.0)
    return added.ravel()


def scales(problem: FrictionProblem) -> FloatArray:
    """(n,) impulse per velocity of each component: one value per contact, so that cones stay."""
    return np.repeat(problem.rho, problem.dim)


@njit(cache=True)
def _project(
    dim: int, z: FloatArray, mu: FloatArray, law: NDArray[np.int8], threshold: FloatArray
) -> FloatArray:
    r = z.copy()
    for c in range(mu.size):
        i = dim * c
        size = sqrt(z[i + 1] ** 2 + z[i + 2] ** 2) if dim == 3 else abs(z[i + 1])
        scale = 1.0
        if law[c] == COULOMB:
            if mu[c] * size <= -z[i]:
                r[i] = 0.0
                scale = 0.0
            elif size > mu[c] * z[i]:
                r[i] = (z[i] + mu[c] * size) / (1.0 + mu[c] * mu[c])
                scale = mu[c] * r[i] / size
        elif law[c] == TRESCA:
            r[i] = max(z[i], 0.0)
            if size > threshold[c]:
                scale = threshold[c] / size
        for k in range(1, dim):
            r[i + k] = scale * z[i + k]
    return r
