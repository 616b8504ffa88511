"""Nonsmooth Newton on the function of Alart and Curnier (in 2D: a primal-dual active set).

With z_N = r_N - rho u_N and z_T = r_T - rho u_T a contact is taken as

    separated  z_N <= 0                 r_N = 0, r_T = 0
    sticking   |z_T| < mu z_N           u_N = 0, u_T = 0
    sliding    otherwise                u_N = 0, r_T = mu r_N d, d = z_T / |z_T|

and the linear system that these equations make is solved for r; in 3D the direction d is linearised
too. In 2D it has one unknown per closed contact and one more per sticking one.

Near the solution this ends in a few steps; far from it the states may cycle, which is detected. The
hybrid solver uses it where sweeps have done the rough work.

Reference: Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from fecontact.solvers.problem import BILATERAL, COULOMB, TRESCA, FrictionProblem
from fecontact.solvers.report import Options, Solution, finish, start, within
from fecontact.solvers.residual import certificate
from fecontact.typing import BoolArray, FloatArray, IntArray

# steps without a better residual before the states are taken to cycle
_PATIENCE = 15


def solve(
    problem: FrictionProblem, r0: FloatArray | None = None, options: Options | None = None
) -> Solution:
    """Solve by Newton steps alone, from r0 or from no impulse."""
    options = options or Options(solver="newton")
    r = start(problem, r0)
    u = problem.velocity(r)
    best, lowest = r, certificate(problem, r, u)
    history = [lowest]
    steps = 0
    since = 0
    while lowest > options.tolerance or not within(problem, best, problem.velocity(best), options):
        if steps == options.max_iterations or since == _PATIENCE:
            break
        stepped = step(problem, r, u)
        steps += 1
        if stepped is None:
            break
        r = stepped
        u = problem.velocity(r)
        residual = certificate(problem, r, u)
        history.append(residual)
        since += 1
        if residual < lowest:
            best, lowest, since = r, residual, 0
    return finish(problem, best, options, "newton", steps, history)


def step(
    problem: FrictionProblem, r: FloatArray, u: FloatArray, memory: float = 0.0
) -> FloatArray | None:
    """(n,) next iterate, or None where the system of the present states is singular.

    In 2D `memory` times the diagonal of W ties the next iterate to the present one: of impulses
    that W does not tell apart, as where two passes close a contact twice, those stay as they are.
    """
    found = _step_2d(problem, r, u, memory) if problem.dim == 2 else _step_3d(problem, r, u)
    if found is None or not np.all(np.isfinite(found)):
        return None
    return found


def _states(
    problem: FrictionProblem, r: FloatArray, u: FloatArray
) -> tuple[BoolArray, BoolArray, FloatArray, FloatArray]:
    """Closed contacts, sticking contacts, z_T (nc, dim - 1) and the bound of |r_T| (nc,)."""
    nc, dim, law = problem.n_contacts, problem.dim, problem.laws
    z = r.reshape(nc, dim) - problem.rho[:, None] * u.reshape(nc, dim)
    glued = law == BILATERAL
    closed = (z[:, 0] > 0.0) | glued
    bound = np.where(law == TRESCA, problem.thresholds, problem.mu * np.maximum(z[:, 0], 0.0))
    # frictionless contacts and open Coulomb contacts have no impulse to stick with
    sticks = (np.linalg.norm(z[:, 1:], axis=1) < bound) & (closed | (law == TRESCA)) | glued
    return closed, sticks, z[:, 1:], bound


def _step_2d(
    problem: FrictionProblem, r: FloatArray, u: FloatArray, memory: float
) -> FloatArray | None:
    closed, sticks, z, _ = _states(problem, r, u)
    law = problem.laws
    sign = np.sign(z[:, 0])
    slides = closed & ~sticks & (law == COULOMB) & (problem.mu > 0.0)
    # r_T = ratio r_N + given where the contact does not stick
    ratio = np.where(slides, problem.mu * sign, 0.0)
    given = np.where((law == TRESCA) & ~sticks, problem.thresholds * sign, 0.0)
    normal = np.flatnonzero(closed)
    rows = np.concatenate([2 * normal, 2 * np.flatnonzero(sticks) + 1])
    r_next = np.zeros_like(r)
    r_next[1::2] = given
    if rows.size == 0:
        return r_next
    right = -problem.q[rows]
    if np.any(given):
        right -= (problem.W @ r_next)[rows]
    tie = memory * problem.W.diagonal()[rows]
    right += tie * r[rows]
    sliding = np.flatnonzero(slides)
    where = np.searchsorted(normal, sliding)
    x = _solve_reduced(problem, rows, 2 * sliding + 1, where, ratio[sliding], right, tie)
    if x is None:
        return None
    r_next[rows] = x
    r_next[1::2] += ratio * r_next[0::2]
    return r_next


def _solve_reduced(
    problem: FrictionProblem,
    rows: IntArray,
    tangents: IntArray,
    where: IntArray,
    ratio: FloatArray,
    right: FloatArray,
    tie: FloatArray,
) -> FloatArray | None:
    """Solve W[rows, rows] + diag(tie), the sliding tangents folded into the columns `where`."""
    if isinstance(problem.W, np.ndarray):
        A = problem.W[np.ix_(rows, rows)]
        if tangents.size:
            A[:, where] += problem.W[np.ix_(rows, tangents)] * ratio
        A[np.diag_indices_from(A)] += tie
        return _dense(A, right)
    W = problem.csr[rows]
    fold = sp.csr_array((ratio, (np.arange(where.size), where)), shape=(where.size, rows.size))
    A = W[:, rows] + W[:, tangents] @ fold
    if tie.any():
        A = A + sp.diags_array(tie)
    return _sparse(sp.csc_array(A), right)


def _step_3d(problem: FrictionProblem, r: FloatArray, u: FloatArray) -> FloatArray | None:
    closed, sticks, z, bound = _states(problem, r, u)
    law, dim, rho = problem.laws, problem.dim, problem.rho
    part = np.flatnonzero(closed | (law == TRESCA))
    k = part.size
    r_next = np.zeros_like(r)
    if k == 0:
        return r_next
    # rows of each contact: on_u (rho u) + on_r r = right
    on_u = np.zeros((k, dim, dim))
    on_r = np.zeros((k, dim, dim))
    right = np.zeros((k, dim))
    closed, sticks, z, bound, rho = closed[part], sticks[part], z[part], bound[part], rho[part]
    on_u[closed, 0, 0] = 1.0
    on_r[~closed, 0, 0] = 1.0
    plane = np.eye(dim - 1)
    on_u[sticks, 1:, 1:] = plane
    slides = np.flatnonzero(~sticks)
    if slides.size:
        size = np.linalg.norm(z[slides], axis=1)
        d = z[slides] / np.where(size > 0.0, size, 1.0)[:, None]
        turn = np.where(size > 0.0, bound[slides] / np.where(size > 0.0, size, 1.0), 0.0)
        across = turn[:, None, None] * (plane - d[:, :, None] * d[:, None, :])
        on_r[slides, 1:, 1:] = plane - across
        on_u[slides, 1:, 1:] = across
        fixed = law[part][slides] == TRESCA
        mu = problem.mu[part][slides]
        on_r[slides, 1:, 0] = np.where(fixed, 0.0, -mu)[:, None] * d
        right[slides, 1:] = np.where(fixed, problem.thresholds[part][slides], 0.0)[:, None] * d
    rows = (dim * part[:, None] + np.arange(dim)).ravel()
    on_u *= rho[:, None, None]
    right -= np.einsum("cij,cj->ci", on_u, problem.q[rows].reshape(k, dim))
    # impulses in the scale of each contact: rows and columns of one magnitude
    if isinstance(problem.W, np.ndarray):
        W = problem.W[np.ix_(rows, rows)].reshape(k, dim, k * dim)
        J = np.matmul(on_u, W).reshape(k, dim, k, dim)
        J[np.arange(k), :, np.arange(k), :] += on_r
        x = _dense(J.reshape(k * dim, k * dim), right.ravel())
    else:
        where = (np.arange(k), np.arange(k + 1))
        on_u_all = sp.bsr_array((on_u, *where), shape=(k * dim, k * dim)).tocsr()
        on_r_all = sp.bsr_array((on_r, *where), shape=(k * dim, k * dim)).tocsr()
        x = _sparse(sp.csc_array(on_u_all @ problem.csr[rows][:, rows] + on_r_all), right.ravel())
    if x is None:
        return None
    r_next[rows] = x
    return r_next


def _dense(A: FloatArray, b: FloatArray) -> FloatArray | None:
    try:
        x: FloatArray = np.asarray(np.linalg.solve(A, b), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return x


def _sparse(A: sp.csc_array, b: FloatArray) -> FloatArray | None:
    try:
        x: FloatArray = splu(A).solve(b)
    except RuntimeError:  # exactly singular
        return None
    return x
