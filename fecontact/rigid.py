"""Rigid motions that nothing but contact would prevent, found and named."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fecontact.mesh import Mesh
from fecontact.model import Model
from fecontact.typing import FloatArray, IntArray

_RIGID = 1e-4
"""Part of a motion by which it may differ from a rigid one, and still be called so."""


@dataclass(frozen=True)
class FreeMotion:
    """A rigid motion of one body that no prescribed motion and no spring resists."""

    body: str
    motion: str


def free_motions(
    model: Model, tolerance: float = 1e-10, *, glued: bool = False
) -> list[FreeMotion]:
    """Free rigid motions of every connected part of the mesh.

    With `glued`, parts that a glued contact joins are one, and one glued to an obstacle is held.
    """
    mesh, constraints = model.mesh, model.constraints
    labels = _joined(model) if glued else mesh.components()
    found: list[FreeMotion] = []
    fixed = np.zeros(model.n_dofs, dtype=bool)
    fixed[constraints.fixed] = True
    for part in range(int(labels.max()) + 1):
        nodes = np.flatnonzero(labels == part)
        centre = mesh.nodes[nodes].mean(axis=0)
        size = float(np.linalg.norm(np.ptp(mesh.nodes[nodes], axis=0)))
        modes = _modes(model, nodes, centre, size)
        dofs = (nodes[:, None] * mesh.dim + np.arange(mesh.dim)).ravel()
        # axes of prescribed components may be turned
        full = np.zeros((model.n_dofs, modes.shape[1]))
        full[dofs] = modes
        in_turned = np.column_stack([constraints.to_turned(column) for column in full.T])
        springs = model.spring_stiffness
        rows = [in_turned[fixed], full[springs > 0.0]]
        if glued:
            rows.append(np.asarray(model.glue.T @ full))
        resisted = np.vstack(rows)
        gram = resisted.T @ resisted
        values, vectors = np.linalg.eigh(gram)
        scale = max(float(values.max(initial=0.0)), 1.0)
        free = _plainest(vectors[:, values <= tolerance * scale])
        name = body_name(mesh, nodes)
        if len(free) == modes.shape[1]:
            found.append(FreeMotion(name, "every rigid motion"))
        else:
            found += [FreeMotion(name, _describe(v, centre, size)) for v in free]
    return found


def as_rigid_motion(model: Model, nodes: IntArray, motion: FloatArray) -> str:
    """Name of a motion (ndof,) where it moves some nodes as a rigid body, else an empty string."""
    mesh = model.mesh
    centre = mesh.nodes[nodes].mean(axis=0)
    size = float(np.linalg.norm(np.ptp(mesh.nodes[nodes], axis=0)))
    modes = _modes(model, nodes, centre, size)
    given = motion.reshape(-1, mesh.dim)[nodes].ravel()
    parts: FloatArray = np.linalg.lstsq(modes, given, rcond=None)[0].astype(np.float64)
    if np.abs(modes @ parts - given).max() > _RIGID * np.abs(given).max():
        return ""
    # a share that rounding may have left is none
    parts[np.abs(parts) < _RIGID * np.abs(parts).max()] = 0.0
    return _describe(parts, centre, size)


def _joined(model: Model) -> IntArray:
    """Labels (n_nodes,) of the connected parts, those joined by two glued points or more as one."""
    mesh, glue = model.mesh, model.glue
    labels = mesh.components()
    parts = int(labels.max()) + 1
    n_points = glue.shape[1] // mesh.dim
    rows, columns = glue.nonzero()
    touches = sparse.csr_array(
        (np.ones(len(rows)), (labels[rows // mesh.dim], columns // mesh.dim)),
        shape=(parts, n_points),
    )
    touches.data[:] = 1.0
    shared = sparse.csr_array(touches @ touches.T).toarray()
    return np.asarray(connected_components(shared >= 2.0, directed=False)[1][labels])


def _modes(model: Model, nodes: IntArray, centre: FloatArray, size: float) -> FloatArray:
    """Rigid motions of some nodes (2 n, 3): two translations and a rotation; one in axisymmetry."""
    arm = (model.mesh.nodes[nodes] - centre) / size
    zero, one = np.zeros(len(nodes)), np.ones(len(nodes))
    along_x = np.column_stack([one, zero]).ravel()
    along_y = np.column_stack([zero, one]).ravel()
    turning = np.column_stack([-arm[:, 1], arm[:, 0]]).ravel()
    if model.solid.is_axisymmetric:
        return along_y[:, None]
    return np.column_stack([along_x, along_y, turning])


def _plainest(free: FloatArray) -> list[FloatArray]:
    """Another basis of some free motions (n_modes, k): translations first, one rotation at most."""
    if free.shape[0] == 3 and free.shape[1] == 2 and np.abs(free[2]).max() > 1e-9:
        a, b = free[2] / np.linalg.norm(free[2])
        free = free @ np.array([[-b, a], [a, b]])
    return list(free.T)


def _describe(mode: FloatArray, centre: FloatArray, size: float) -> str:
    if len(mode) == 1:
        return "translation along the axis"
    a, b, c = mode
    if abs(c) > 1e-6:
        # velocity a - c (y - y0)/size, b + c (x - x0)/size vanishes at the centre of rotation
        x, y = centre[0] - b * size / c, centre[1] + a * size / c
        # a zero is said as 0, not as the rounding error of the eigenvectors
        x, y = (0.0 if abs(s) < 1e-9 * size else s for s in (x, y))
        return f"rotation about ({x:.4g}, {y:.4g})"
    if abs(b) < 1e-6 * abs(a):
        return "translation along x"
    if abs(a) < 1e-6 * abs(b):
        return "translation along y"
    a, b = (a, b) if a > 0.0 else (-a, -b)
    return f"translation along ({a:.4g}, {b:.4g})"


def body_name(mesh: Mesh, nodes: IntArray) -> str:
    """Name of the smallest element group that holds all elements of some nodes, or a number."""
    inside = np.zeros(mesh.n_nodes, dtype=bool)
    inside[nodes] = True
    best, best_size = "", np.inf
    for name in mesh.element_groups:
        members = mesh.node_numbers(name) if name not in mesh.node_groups else None
        if members is None:
            continue
        covered = np.zeros(mesh.n_nodes, dtype=bool)
        covered[members] = True
        if covered[nodes].all() and len(members) < best_size:
            best, best_size = name, len(members)
    return best or f"with node {int(nodes[0])}"
