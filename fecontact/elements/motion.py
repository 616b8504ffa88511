"""Finite motion of elements over a step: increments at mid-step, turn of the material, gradients.

Nodes go from x0 to x1. With f the deformation gradient of the step, the gradient of the
displacement with respect to the middle configuration is

    A = 2 (f - 1)(f + 1)⁻¹,

a strain increment sym A that vanishes for every rigid motion and is second order in the step.
Gradients have the components (11, 12, 21, 22, 33), 33 being out of the plane (hoop).

Variations are written with l, the gradient of the variation with respect to the end configuration:
δA = (1 - A/2) l (1 + A/2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def point_motion(
    cells: Any, x0: Any, x1: Any, tables: Any, axisymmetric: bool, jaumann: Any, F: Any
) -> tuple[Any, Any, Any, Any, int]:
    """Motion of every point of a block of elements.

    Parameters
    ----------
    F : (ne, np, 5)
        Deformation gradients at the start.
    jaumann : (ne, np)
        Where the turn is that of Jaumann's rate.

    Returns
    -------
    increment : (ne, np, 4)
        Strain increments at mid-step.
    A : (ne, np, 5)
    turn : (ne, np)
        Turn of the material frame: of R in F = R U, or of the mean spin for Jaumann's rate.
    F : (ne, np, 5)
        At the end.
    inverted : int
        First element of the block that is inverted at the end or at mid-step, or -1.
    """
    N, dN, _ = tables
    n_points = N.shape[0]
    ne = cells.shape[0]
    increment = np.zeros((ne, n_points, 4))
    A = np.zeros((ne, n_points, 5))
    turn = np.zeros((ne, n_points))
    new = np.empty((ne, n_points, 5))
    for e in range(ne):
        for p in range(n_points):
            a, ok = step_gradient(cells, e, p, x0, x1, N, dN, axisymmetric)
            if not ok:
                return increment, A, turn, new, e
            for k in range(5):
                A[e, p, k] = a[k]
            increment[e, p, 0] = a[0]
            increment[e, p, 1] = a[3]
            increment[e, p, 2] = a[4]
            increment[e, p, 3] = a[1] + a[2]
            g = moved_gradient(a, F[e, p])
            for k in range(5):
                new[e, p, k] = g[k]
            if jaumann[e, p]:
                turn[e, p] = 2.0 * np.arctan(0.25 * (a[2] - a[1]))
            else:
                turn[e, p] = turn_between(F[e, p], g)
    return increment, A, turn, new, -1


@njit(cache=True, inline="always")
def step_gradient(
    cells: Any, e: int, p: int, x0: Any, x1: Any, N: Any, dN: Any, axisymmetric: bool
) -> tuple[tuple[float, float, float, float, float], bool]:
    """A at one point, and whether the element is not inverted at mid-step and at the end."""
    j00 = j01 = j10 = j11 = 0.0
    k00 = k01 = k10 = k11 = 0.0
    radius = moved = 0.0
    for a in range(cells.shape[1]):
        i = cells[e, a]
        ux = x1[i, 0] - x0[i, 0]
        uy = x1[i, 1] - x0[i, 1]
        mx = 0.5 * (x0[i, 0] + x1[i, 0])
        my = 0.5 * (x0[i, 1] + x1[i, 1])
        d0 = dN[p, a, 0]
        d1 = dN[p, a, 1]
        j00 += d0 * mx
        j01 += d0 * my
        j10 += d1 * mx
        j11 += d1 * my
        k00 += d0 * ux
        k01 += d0 * uy
        k10 += d1 * ux
        k11 += d1 * uy
        radius += N[p, a] * mx
        moved += N[p, a] * ux
    det = j00 * j11 - j01 * j10
    # Jacobian at the end, from middle and displacement
    end = (j00 + 0.5 * k00) * (j11 + 0.5 * k11) - (j01 + 0.5 * k01) * (j10 + 0.5 * k10)
    ok = det > 0.0 and end > 0.0
    inverse = 1.0 / det if ok else 0.0
    hoop = 0.0
    if axisymmetric:
        hoop = moved / radius
    return (
        (
            (j11 * k00 - j01 * k10) * inverse,
            (j00 * k10 - j10 * k00) * inverse,
            (j11 * k01 - j01 * k11) * inverse,
            (j00 * k11 - j10 * k01) * inverse,
            hoop,
        ),
        ok,
    )


@njit(cache=True, inline="always")
def moved_gradient(a: Any, F: Any) -> tuple[float, float, float, float, float]:
    """F at the end: (1 - A/2)⁻¹ (1 + A/2) F."""
    m00 = 1.0 - 0.5 * a[0]
    m01 = -0.5 * a[1]
    m10 = -0.5 * a[2]
    m11 = 1.0 - 0.5 * a[3]
    det = m00 * m11 - m01 * m10
    p00 = 1.0 + 0.5 * a[0]
    p01 = 0.5 * a[1]
    p10 = 0.5 * a[2]
    p11 = 1.0 + 0.5 * a[3]
    f00 = (m11 * p00 - m01 * p10) / det
    f01 = (m11 * p01 - m01 * p11) / det
    f10 = (m00 * p10 - m10 * p00) / det
    f11 = (m00 * p11 - m10 * p01) / det
    return (
        f00 * F[0] + f01 * F[2],
        f00 * F[1] + f01 * F[3],
        f10 * F[0] + f11 * F[2],
        f10 * F[1] + f11 * F[3],
        F[4] * (1.0 + 0.5 * a[4]) / (1.0 - 0.5 * a[4]),
    )


@njit(cache=True, inline="always")
def turn_between(F: Any, G: Any) -> float:
    """Angle from the rotation of F = R U to that of G, in (-π, π].

    In the plane R has the cosine and the sine of (F11 + F22, F21 - F12), up to a factor.
    """
    c0 = F[0] + F[3]
    s0 = F[2] - F[1]
    c1 = G[0] + G[3]
    s1 = G[2] - G[1]
    return float(np.arctan2(c0 * s1 - s0 * c1, c0 * c1 + s0 * s1))


@njit(cache=True)
def gradient_tangent(
    tangent: Any, slope: Any, stress: Any, A: Any, F: Any, jaumann: Any
) -> np.ndarray:
    """Derivative of the nodal forces' integrand with respect to l, (n, 5, 5).

    It holds the material tangent through the increment and the turn, and the geometric part
    σ_ij δ_kl - σ_il δ_jk of forces ∫ N_a,j σ_ij dv written on the end configuration.

    Parameters
    ----------
    tangent, slope : (n, 4, 4), (n, 4)
        Derivatives of the stress with respect to the increment and to the turn.
    stress : (n, 4)
        At the end.
    A, F : (n, 5)
        Of the step, and at its end.
    """
    n = stress.shape[0]
    result = np.zeros((n, 5, 5))
    E = np.zeros((4, 5))
    D = np.empty((4, 5))
    turning = np.zeros(5)
    # stress component of each gradient component
    row = (0, 3, 3, 1, 2)
    for i in range(n):
        a0, a1, a2, a3, a4 = A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4]
        # left (1 - A/2) and right (1 + A/2)
        l00, l01, l10, l11 = 1.0 - 0.5 * a0, -0.5 * a1, -0.5 * a2, 1.0 - 0.5 * a3
        r00, r01, r10, r11 = 1.0 + 0.5 * a0, 0.5 * a1, 0.5 * a2, 1.0 + 0.5 * a3
        E[0, 0], E[0, 1], E[0, 2], E[0, 3] = l00 * r00, l00 * r10, l01 * r00, l01 * r10
        E[1, 0], E[1, 1], E[1, 2], E[1, 3] = l10 * r01, l10 * r11, l11 * r01, l11 * r11
        E[2, 4] = (1.0 - 0.5 * a4) * (1.0 + 0.5 * a4)
        # δA12 and δA21
        s0, s1, s2, s3 = l00 * r01, l00 * r11, l01 * r01, l01 * r11
        t0, t1, t2, t3 = l10 * r00, l10 * r10, l11 * r00, l11 * r10
        E[3, 0], E[3, 1], E[3, 2], E[3, 3] = s0 + t0, s1 + t1, s2 + t2, s3 + t3
        if jaumann[i]:
            w = 0.5 * (a2 - a1)
            scale = 0.5 / (1.0 + 0.25 * w * w)
            turning[0] = scale * (t0 - s0)
            turning[1] = scale * (t1 - s1)
            turning[2] = scale * (t2 - s2)
            turning[3] = scale * (t3 - s3)
        else:
            c = F[i, 0] + F[i, 3]
            s = F[i, 2] - F[i, 1]
            scale = 1.0 / (c * c + s * s)
            turning[0] = scale * (-c * F[i, 1] - s * F[i, 0])
            turning[1] = scale * (-c * F[i, 3] - s * F[i, 2])
            turning[2] = scale * (c * F[i, 0] - s * F[i, 1])
            turning[3] = scale * (c * F[i, 2] - s * F[i, 3])
        for k in range(4):
            for m in range(5):
                value = slope[i, k] * turning[m]
                for j in range(4):
                    value += tangent[i, k, j] * E[j, m]
                D[k, m] = value
        for k in range(5):
            for m in range(5):
                result[i, k, m] = D[row[k], m]
            # σ_ij δ_kl: the volume changes
            result[i, k, 0] += stress[i, row[k]]
            result[i, k, 3] += stress[i, row[k]]
            result[i, k, 4] += stress[i, row[k]]
        # -σ_il δ_jk: gradients of the shape functions change; row (ij), column (kl)
        for p in range(2):
            for j in range(2):
                for l in range(2):
                    il = 3 if p != l else p
                    result[i, 2 * p + j, 2 * j + l] -= stress[i, il]
        result[i, 4, 4] -= stress[i, 2]
    return result


@njit(cache=True)
def add_gradient_stiffness(
    data: Any,
    where: Any,
    stride: Any,
    cells: Any,
    x: Any,
    tables: Any,
    size: Any,
    axisymmetric: bool,
    thickness: float,
    tensor: Any,
) -> None:
    """Add ∫ ∇N_a · tensor · ∇N_b of every element; tensor is (ne, np, 5, 5), x the end."""
    N, dN, weights = tables
    n_points = N.shape[0]
    nn = len(size)
    G = np.zeros((2 * nn, 5))
    TG = np.empty((5, 2 * nn))
    Ke = np.empty((2 * nn, 2 * nn))
    for e in range(cells.shape[0]):
        Ke[:, :] = 0.0
        for p in range(n_points):
            j00 = j01 = j10 = j11 = radius = 0.0
            for a in range(nn):
                i = cells[e, a]
                j00 += dN[p, a, 0] * x[i, 0]
                j01 += dN[p, a, 0] * x[i, 1]
                j10 += dN[p, a, 1] * x[i, 0]
                j11 += dN[p, a, 1] * x[i, 1]
                radius += N[p, a] * x[i, 0]
            det = j00 * j11 - j01 * j10
            w = weights[p] * det * (2.0 * np.pi * radius if axisymmetric else thickness)
            for a in range(nn):
                gx = (j11 * dN[p, a, 0] - j01 * dN[p, a, 1]) / det
                gy = (j00 * dN[p, a, 1] - j10 * dN[p, a, 0]) / det
                G[2 * a, 0] = gx
                G[2 * a, 1] = gy
                G[2 * a + 1, 2] = gx
                G[2 * a + 1, 3] = gy
                if axisymmetric:
                    G[2 * a, 4] = N[p, a] / radius
            for k in range(5):
                for c in range(2 * nn):
                    value = 0.0
                    for m in range(5):
                        value += tensor[e, p, k, m] * G[c, m]
                    TG[k, c] = w * value
            for r in range(2 * nn):
                for c in range(2 * nn):
                    value = 0.0
                    for k in range(5):
                        value += G[r, k] * TG[k, c]
                    Ke[r, c] += value
        for a in range(nn):
            step = stride[cells[e, a]]
            for b in range(nn):
                k = where[e, a, b]
                data[k] += Ke[2 * a, 2 * b]
                data[k + 1] += Ke[2 * a, 2 * b + 1]
                data[k + step] += Ke[2 * a + 1, 2 * b]
                data[k + step + 1] += Ke[2 * a + 1, 2 * b + 1]
