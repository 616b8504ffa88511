"""Compiled loops that evaluate kinematics at the integration points of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from fecontact.elements.kinematics import strain_operator


@njit(cache=True)
def point_volumes(cells: Any, x: Any, tables: Any, kinematics: Any) -> Any:
    """Volume that each point of each element stands for, (ne, np); negative where inverted."""
    N, dN, weights = tables
    n_points, nn = N.shape
    volumes = np.empty((cells.shape[0], n_points))
    for e in range(cells.shape[0]):
        for p in range(n_points):
            j00 = 0.0
            j01 = 0.0
            j10 = 0.0
            j11 = 0.0
            radius = 0.0
            for a in range(nn):
                i = cells[e, a]
                j00 += dN[p, a, 0] * x[i, 0]
                j01 += dN[p, a, 0] * x[i, 1]
                j10 += dN[p, a, 1] * x[i, 0]
                j11 += dN[p, a, 1] * x[i, 1]
                radius += N[p, a] * x[i, 0]
            width = 2.0 * np.pi * radius if kinematics.axisymmetric else kinematics.thickness
            volumes[e, p] = weights[p] * (j00 * j11 - j01 * j10) * width
    return volumes


@njit(cache=True)
def point_strains(
    cells: Any, x: Any, tables: Any, size: Any, points: Any, kinematics: Any, u: Any
) -> Any:
    """Strain B u at the points of every element, (ne, np, 4)."""
    N, dN, weights = tables
    nn = len(size)
    n_points = len(points)
    strains = np.empty((cells.shape[0], n_points, 4))
    xe = np.empty((nn, 2))
    ue = np.empty(2 * nn)
    B = np.empty((n_points, 4, 2 * nn))
    w = np.empty(n_points)
    for e in range(cells.shape[0]):
        for a in range(nn):
            i = cells[e, a]
            for k in range(2):
                xe[a, k] = x[i, k]
                ue[2 * a + k] = u[2 * i + k]
        strain_operator(size, points, xe, N, dN, weights, kinematics, B, w)
        for p in range(n_points):
            for i in range(4):
                value = 0.0
                for c in range(2 * nn):
                    value += B[p, i, c] * ue[c]
                strains[e, p, i] = value
    return strains


@njit(cache=True)
def add_nodal_forces(
    forces: Any,
    cells: Any,
    x: Any,
    tables: Any,
    size: Any,
    points: Any,
    kinematics: Any,
    stress: Any,
) -> None:
    """Add ∫ Bᵀ stress of every element to the (ndof,) vector; stress is (ne, np, 4)."""
    N, dN, weights = tables
    nn = len(size)
    n_points = len(points)
    xe = np.empty((nn, 2))
    B = np.empty((n_points, 4, 2 * nn))
    w = np.empty(n_points)
    for e in range(cells.shape[0]):
        for a in range(nn):
            xe[a, 0] = x[cells[e, a], 0]
            xe[a, 1] = x[cells[e, a], 1]
        strain_operator(size, points, xe, N, dN, weights, kinematics, B, w)
        for a in range(nn):
            for k in range(2):
                c = 2 * a + k
                value = 0.0
                for p in range(n_points):
                    for i in range(4):
                        value += w[p] * B[p, i, c] * stress[e, p, i]
                forces[2 * cells[e, a] + k] += value
