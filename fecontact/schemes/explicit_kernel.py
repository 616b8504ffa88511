"""Compiled explicit steps: bodies, damping and contacts in one loop.

All input is validated before it comes here; arrays that change are working copies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fecontact.elements.motion import moved_gradient, step_gradient, turn_between
from fecontact.materials.viscous_step import turned_pair
from fecontact.schemes.beds import add_bed_forces
from fecontact.solvers.local2d import coulomb_2d
from fecontact.typing import FloatArray, IntArray

LOCAL, VISCOUS = 0, 1


class Bodies(NamedTuple):
    """What does not change: elements of one kind, their tables and constants.

    `patches` (ne, nn) number the patches of nodal averages; without elements there are none.
    """

    cells: Any
    N: FloatArray
    dN: FloatArray
    weights: FloatArray
    axisymmetric: bool
    thickness: float
    bulk: FloatArray
    decay: FloatArray
    factor: FloatArray
    jaumann: Any
    patches: IntArray
    n_patches: int


class Points(NamedTuple):
    """What the points carry, changed in place: F (n, 5), mean stress (n,), deviators (n, nb, 4)."""

    F: FloatArray
    mean: FloatArray
    deviators: FloatArray


class Motion(NamedTuple):
    """What the nodes carry, changed in place, flat (ndof,).

    Positions, velocities and their running mean, internal forces, contact forces; and, in an array
    of one, the frequency of the motion around its mean.
    """

    x: FloatArray
    v: FloatArray
    mean_v: FloatArray
    internal: FloatArray
    contact: FloatArray
    frequency: FloatArray


class Drive(NamedTuple):
    """What acts on the nodes (ndof,): loads at the ends, springs, prescribed velocities, masses.

    `beds` are Winkler beds, `origin` where the springs are without force.
    """

    load_before: FloatArray
    load_after: FloatArray
    springs: FloatArray
    beds: Any
    origin: FloatArray
    fixed: Any
    velocity: FloatArray
    mass: FloatArray


class Contacts(NamedTuple):
    """Contacts written once for all steps of the loop.

    Hᵀ by rows, W (dense), friction (nc,), offsets (nc,) in the configuration `where`, of the middle
    of the loop, and drift. Impulses r, the last q and the last solution of u = W r + q change in
    place.
    """

    indptr: Any
    indices: Any
    data: FloatArray
    W: FloatArray
    mu: FloatArray
    offset: FloatArray
    where: FloatArray
    drift: FloatArray
    r: FloatArray
    q: FloatArray
    solution: FloatArray


@njit(cache=True)
def advance_bodies(bodies: Any, points: Any, x0: Any, x1: Any, internal: Any, A: Any) -> int:
    """Move the points from x0 to x1 (n, 2) and fill the internal forces.

    Returns an element that turned inside out, or -1. A (ne, np, 5) is work space.
    """
    cells = bodies.cells
    ne, nn = cells.shape
    n_points = bodies.N.shape[0]
    shared = np.zeros(bodies.n_patches)
    weight = np.zeros(bodies.n_patches)
    for e in range(ne):
        for p in range(n_points):
            a, ok = step_gradient(cells, e, p, x0, x1, bodies.N, bodies.dN, bodies.axisymmetric)
            if not ok:
                return e
            for k in range(5):
                A[e, p, k] = a[k]
        if bodies.n_patches:
            volume = _volume(cells, e, x0, bodies.dN, bodies.axisymmetric)
            change = volume * (A[e, 0, 0] + A[e, 0, 3] + A[e, 0, 4])
            for c in range(3):
                weight[bodies.patches[e, c]] += volume
                shared[bodies.patches[e, c]] += change
    internal[:] = 0.0
    nb = bodies.decay.shape[1]
    for e in range(ne):
        extra = 0.0
        if bodies.n_patches:
            for c in range(3):
                i = bodies.patches[e, c]
                extra += shared[i] / weight[i] / 3.0
            extra -= A[e, 0, 0] + A[e, 0, 3] + A[e, 0, 4]
        for p in range(n_points):
            i = e * n_points + p
            a = (A[e, p, 0], A[e, p, 1], A[e, p, 2], A[e, p, 3], A[e, p, 4])
            g = moved_gradient(a, points.F[i])
            if bodies.jaumann[i]:
                turn = 2.0 * np.arctan(0.25 * (a[2] - a[1]))
            else:
                turn = turn_between(points.F[i], g)
            for k in range(5):
                points.F[i, k] = g[k]
            trace = a[0] + a[3] + a[4]
            points.mean[i] += bodies.bulk[i] * (trace + extra)
            c1, s1 = np.cos(turn), np.sin(turn)
            c2, s2 = c1 * c1 - s1 * s1, 2.0 * s1 * c1
            em = 0.5 * (a[0] + a[3]) - trace / 3.0
            ez = a[4] - trace / 3.0
            ed, eq = turned_pair(0.5 * (a[0] - a[3]), 0.5 * (a[1] + a[2]), c1, s1)
            xx = yy = zz = points.mean[i]
            xy = 0.0
            for b in range(nb):
                f = bodies.factor[i, b]
                decay = bodies.decay[i, b]
                s = points.deviators[i, b]
                d, q = turned_pair(0.5 * (s[0] - s[1]), s[3], c2, s2)
                m = decay * 0.5 * (s[0] + s[1]) + f * em
                d = decay * d + f * ed
                q = decay * q + f * eq
                s[0] = m + d
                s[1] = m - d
                s[2] = decay * s[2] + f * ez
                s[3] = q
                xx += s[0]
                yy += s[1]
                zz += s[2]
                xy += s[3]
            j00 = j01 = j10 = j11 = radius = 0.0
            for c in range(nn):
                k = cells[e, c]
                j00 += bodies.dN[p, c, 0] * x1[k, 0]
                j01 += bodies.dN[p, c, 0] * x1[k, 1]
                j10 += bodies.dN[p, c, 1] * x1[k, 0]
                j11 += bodies.dN[p, c, 1] * x1[k, 1]
                radius += bodies.N[p, c] * x1[k, 0]
            # gradients times the Jacobian: the weight would multiply and the gradients divide by it
            w = bodies.weights[p] * bodies.thickness
            hoop = 0.0
            if bodies.axisymmetric:
                w = bodies.weights[p] * 2.0 * np.pi * radius
                hoop = w * (j00 * j11 - j01 * j10) * zz / radius
            for c in range(nn):
                gx = j11 * bodies.dN[p, c, 0] - j01 * bodies.dN[p, c, 1]
                gy = j00 * bodies.dN[p, c, 1] - j10 * bodies.dN[p, c, 0]
                k = 2 * cells[e, c]
                internal[k] += w * (gx * xx + gy * xy) + hoop * bodies.N[p, c]
                internal[k + 1] += w * (gx * xy + gy * yy)
    return -1


@njit(cache=True, inline="always")
def _volume(cells: Any, e: int, x: Any, dN: Any, axisymmetric: bool) -> float:
    """Volume of a triangle, up to a factor that is common to all."""
    a, b, c = cells[e, 0], cells[e, 1], cells[e, 2]
    area = (x[b, 0] - x[a, 0]) * (x[c, 1] - x[a, 1]) - (x[b, 1] - x[a, 1]) * (x[c, 0] - x[a, 0])
    return float(area * (x[a, 0] + x[b, 0] + x[c, 0]) if axisymmetric else area)


@njit(cache=True)
def solve_contacts(contacts: Any, sweeps: int, tolerance: float) -> int:
    """Gauss-Seidel on u = W r + q from the impulses of the step before; sweeps done."""
    W, r, q, mu = contacts.W, contacts.r, contacts.q, contacts.mu
    n = r.size
    u = q + W @ r
    for sweep in range(sweeps):
        change = 0.0
        size = 0.0
        for c in range(n // 2):
            i = 2 * c
            w00, w01, w11 = W[i, i], W[i, i + 1], W[i + 1, i + 1]
            b0 = u[i] - w00 * r[i] - w01 * r[i + 1]
            b1 = u[i + 1] - w01 * r[i] - w11 * r[i + 1]
            s0, s1 = coulomb_2d(w00, w01, w11, b0, b1, mu[c])
            d0 = s0 - r[i]
            d1 = s1 - r[i + 1]
            if d0 != 0.0 or d1 != 0.0:
                r[i] = s0
                r[i + 1] = s1
                for j in range(n):
                    u[j] += W[j, i] * d0 + W[j, i + 1] * d1
            change += d0 * d0 + d1 * d1
            size += s0 * s0 + s1 * s1
        if change <= tolerance * tolerance * size:
            return sweep + 1
    return sweeps


@njit(cache=True)
def explicit_steps(
    count: int,
    h: float,
    bodies: Any,
    points: Any,
    motion: Any,
    drive: Any,
    contacts: Any,
    damping: int,
    ratio: float,
    sweeps: int,
    tolerance: float,
) -> tuple[int, float, float, int]:
    """Take `count` steps of size h.

    Returns
    -------
    inverted : int
        Element that turned inside out, or -1.
    worst, last : float
        Out-of-balance forces over internal forces, the largest and the last.
    most : int
        Largest number of sweeps.
    """
    n = motion.x.size
    nc = contacts.mu.size
    A = np.empty((bodies.cells.shape[0], bodies.N.shape[0], 5))
    before = np.empty(n)
    force = np.empty(n)
    free = np.empty(n)
    worst = 0.0
    last = 0.0
    most = 0
    old = motion.internal.copy()
    for k in range(count):
        part = (k + 1.0) / count
        c = ratio * motion.frequency[0] * h if damping == VISCOUS else 0.0
        scale = 1.0 / (1.0 + c)
        for i in range(n):
            load = drive.load_before[i] + part * (drive.load_after[i] - drive.load_before[i])
            load -= drive.springs[i] * (motion.x[i] - drive.origin[i])
            force[i] = load - motion.internal[i]
        add_bed_forces(drive.beds, motion.x, force)
        for i in range(n):
            if drive.fixed[i]:
                free[i] = drive.velocity[i]
                continue
            v = motion.v[i]
            if damping == LOCAL:
                total = force[i] + motion.contact[i]
                held = -ratio * abs(total) * np.sign(v)
                free[i] = v + h * (force[i] + held) / drive.mass[i]
            else:
                # damping of the middle of the step, which no step makes unstable
                around = (1.0 - c) * (v - motion.mean_v[i]) + h * force[i] / drive.mass[i]
                free[i] = motion.mean_v[i] + around / (1.0 + c)
        motion.contact[:] = 0.0
        if nc:
            for j in range(2 * nc):
                u = -contacts.drift[j]
                # the obstacle is not yet, or no longer, where it is in the middle of the loop
                gap = contacts.offset[j] + (0.5 * count - k) * h * contacts.drift[j]
                for m in range(contacts.indptr[j], contacts.indptr[j + 1]):
                    i = contacts.indices[m]
                    u += contacts.data[m] * free[i]
                    if j % 2 == 0:
                        gap += contacts.data[m] * (motion.x[i] - contacts.where[i])
                contacts.q[j] = u + (gap / h if j % 2 == 0 else 0.0)
            # impulses act through W / (1 + c): the cone does not mind the factor
            for m in range(2 * nc):
                contacts.r[m] *= scale
            most = max(most, solve_contacts(contacts, sweeps, tolerance))
            for m in range(2 * nc):
                contacts.solution[m] = contacts.r[m]
                contacts.r[m] /= scale
            for j in range(2 * nc):
                for m in range(contacts.indptr[j], contacts.indptr[j + 1]):
                    motion.contact[contacts.indices[m]] += contacts.data[m] * contacts.r[j] / h
        left = 0.0
        inside = 0.0
        for i in range(n):
            before[i] = motion.x[i]
            inside += motion.internal[i] ** 2
            if drive.fixed[i]:
                motion.v[i] = free[i]
            else:
                left += (force[i] + motion.contact[i]) ** 2
                motion.v[i] = free[i] + scale * h * motion.contact[i] / drive.mass[i]
            motion.x[i] += h * motion.v[i]
        last = np.sqrt(left / inside) if inside > 0.0 else 0.0
        worst = max(worst, last)
        old[:] = motion.internal
        inverted = advance_bodies(
            bodies,
            points,
            before.reshape(n // 2, 2),
            motion.x.reshape(n // 2, 2),
            motion.internal,
            A,
        )
        if inverted >= 0:
            return inverted, worst, last, most
        if damping == VISCOUS:
            # Rayleigh's quotient of the motion around its running mean gives its frequency
            up = 0.0
            down = 0.0
            for i in range(n):
                if not drive.fixed[i]:
                    d = motion.v[i] - motion.mean_v[i]
                    up += d * (motion.internal[i] - old[i]) / h
                    down += d * d * drive.mass[i]
            if down > 0.0:
                motion.frequency[0] = np.sqrt(max(up, 0.0) / down)
            keep = np.exp(-0.5 * motion.frequency[0] * h)
            for i in range(n):
                motion.mean_v[i] += (1.0 - keep) * (motion.v[i] - motion.mean_v[i])
    return -1, worst, last, most
