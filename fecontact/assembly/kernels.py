"""Compiled loops over the elements of a block. All input is validated before it comes here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fecontact.elements.kinematics import strain_operator


@njit(cache=True)
def add_stiffness(
    data: Any,
    where: Any,
    stride: Any,
    cells: Any,
    x: Any,
    tables: Any,
    size: Any,
    points: Any,
    kinematics: Any,
    D: Any,
    first: Any,
    step: int,
) -> None:
    """Add ∫ Bᵀ D B of every element to the data of the matrix.

    The matrix at point p of element e is D[first[e] + step p]: one per material with step 0, one
    per integration point with step 1.
    """
    N, dN, weights = tables
    nn = len(size)
    n_points = len(points)
    xe = np.empty((nn, 2))
    B = np.empty((n_points, 4, 2 * nn))
    w = np.empty(n_points)
    DB = np.empty((4, 2 * nn))
    Ke = np.empty((2 * nn, 2 * nn))
    for e in range(cells.shape[0]):
        for a in range(nn):
            xe[a, 0] = x[cells[e, a], 0]
            xe[a, 1] = x[cells[e, a], 1]
        strain_operator(size, points, xe, N, dN, weights, kinematics, B, w)
        Ke[:, :] = 0.0
        for p in range(n_points):
            m = first[e] + step * p
            for i in range(4):
                for c in range(2 * nn):
                    DB[i, c] = w[p] * (
                        D[m, i, 0] * B[p, 0, c]
                        + D[m, i, 1] * B[p, 1, c]
                        + D[m, i, 2] * B[p, 2, c]
                        + D[m, i, 3] * B[p, 3, c]
                    )
            for r in range(2 * nn):
                for c in range(2 * nn):
                    Ke[r, c] += (
                        B[p, 0, r] * DB[0, c]
                        + B[p, 1, r] * DB[1, c]
                        + B[p, 2, r] * DB[2, c]
                        + B[p, 3, r] * DB[3, c]
                    )
        for a in range(nn):
            row = stride[cells[e, a]]
            for b in range(nn):
                k = where[e, a, b]
                data[k] += Ke[2 * a, 2 * b]
                data[k + 1] += Ke[2 * a, 2 * b + 1]
                data[k + row] += Ke[2 * a + 1, 2 * b]
                data[k + row + 1] += Ke[2 * a + 1, 2 * b + 1]


@njit(cache=True)
def add_plane_stiffness(
    data: Any,
    where: Any,
    stride: Any,
    cells: Any,
    x: Any,
    tables: Any,
    size: Any,
    points: Any,
    kinematics: Any,
    D: Any,
    number: Any,
) -> None:
    """Add ∫ Bᵀ D B for plane elements with unchanged strains and one symmetric D per material.

    D leaves the integral: the products of gradients G_kl = ∫ N_a,k N_b,l are integrated first and
    combined with D once per element, a quarter of the work of `add_stiffness`.
    """
    _, dN, weights = tables
    nn = len(size)
    n_points = len(points)
    xe = np.empty((nn, 2))
    bx = np.empty(nn)
    by = np.empty(nn)
    Gxx = np.empty((nn, nn))
    Gxy = np.empty((nn, nn))
    Gyy = np.empty((nn, nn))
    for e in range(cells.shape[0]):
        for a in range(nn):
            xe[a, 0] = x[cells[e, a], 0]
            xe[a, 1] = x[cells[e, a], 1]
        Gxx[:, :] = 0.0
        Gxy[:, :] = 0.0
        Gyy[:, :] = 0.0
        for p in range(n_points):
            j00 = 0.0
            j01 = 0.0
            j10 = 0.0
            j11 = 0.0
            for a in range(nn):
                j00 += dN[p, a, 0] * xe[a, 0]
                j01 += dN[p, a, 0] * xe[a, 1]
                j10 += dN[p, a, 1] * xe[a, 0]
                j11 += dN[p, a, 1] * xe[a, 1]
            # gradients times det: the weight below divides twice and multiplies once
            for a in range(nn):
                bx[a] = j11 * dN[p, a, 0] - j01 * dN[p, a, 1]
                by[a] = j00 * dN[p, a, 1] - j10 * dN[p, a, 0]
            w = weights[p] * kinematics.thickness / (j00 * j11 - j01 * j10)
            for a in range(nn):
                wx = w * bx[a]
                wy = w * by[a]
                for b in range(nn):
                    Gxx[a, b] += wx * bx[b]
                    Gxy[a, b] += wx * by[b]
                    Gyy[a, b] += wy * by[b]
        m = number[e]
        d_xx = D[m, 0, 0]
        d_yy = D[m, 1, 1]
        d_xy = D[m, 0, 1]
        d_ss = D[m, 3, 3]
        d_xs = D[m, 0, 3]
        d_ys = D[m, 1, 3]
        for a in range(nn):
            row = stride[cells[e, a]]
            for b in range(nn):
                k = where[e, a, b]
                xx = Gxx[a, b]
                yy = Gyy[a, b]
                xy = Gxy[a, b]
                yx = Gxy[b, a]
                cross = d_xs * xx + d_ys * yy
                data[k] += d_xx * xx + d_ss * yy + d_xs * (xy + yx)
                data[k + 1] += d_xy * xy + d_ss * yx + cross
                data[k + row] += d_xy * yx + d_ss * xy + cross
                data[k + row + 1] += d_yy * yy + d_ss * xx + d_ys * (xy + yx)


@njit(cache=True)
def add_mass(
    data: Any,
    where: Any,
    stride: Any,
    cells: Any,
    N: Any,
    size: Any,
    volumes: Any,
    density: Any,
    number: Any,
) -> None:
    """Add ∫ density Nᵀ N of every element; volumes (ne, np) are those of the mass rule."""
    nn = len(size)
    Me = np.empty((nn, nn))
    for e in range(cells.shape[0]):
        Me[:, :] = 0.0
        for p in range(volumes.shape[1]):
            m = density[number[e]] * volumes[e, p]
            for a in range(nn):
                for b in range(nn):
                    Me[a, b] += m * N[p, a] * N[p, b]
        for a in range(nn):
            row = stride[cells[e, a]]
            for b in range(nn):
                k = where[e, a, b]
                data[k] += Me[a, b]
                data[k + row + 1] += Me[a, b]


@njit(cache=True)
def add_lumped_mass(
    masses: Any, cells: Any, N: Any, volumes: Any, density: Any, number: Any
) -> None:
    """Add ∫ density N_a (row sums of the consistent matrix) to the (n_nodes,) vector."""
    for e in range(cells.shape[0]):
        for p in range(volumes.shape[1]):
            m = density[number[e]] * volumes[e, p]
            for a in range(cells.shape[1]):
                masses[cells[e, a]] += m * N[p, a]
