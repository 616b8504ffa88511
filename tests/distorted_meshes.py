"""Meshes for patch tests: interior nodes displaced, T3, Q4 or both."""

from __future__ import annotations

import numpy as np

from fecontact.mesh import Mesh, rectangle


def distorted(kind: str, n: int = 4, origin: tuple[float, float] = (0.0, 0.0)) -> Mesh:
    """A 2 x 1 rectangle of n x n cells, "triangle", "quad" or "mixed", interior nodes displaced."""
    mesh = rectangle(
        2.0, 1.0, n, n, origin=origin, kind="triangle" if kind == "triangle" else "quad"
    )
    nodes = mesh.nodes.copy()
    inside = np.setdiff1d(np.arange(mesh.n_nodes), np.unique(mesh.boundary_edges()))
    shift = np.random.default_rng(7).uniform(-0.3, 0.3, (inside.size, 2))
    nodes[inside] += shift * [2.0 / n, 1.0 / n]
    cells = dict(mesh.cells)
    if kind == "mixed":
        quads = cells["quad"]
        cut, kept = quads[::2], quads[1::2]
        triangles = np.concatenate([cut[:, [0, 1, 2]], cut[:, [0, 2, 3]]])
        cells = {"triangle": triangles, "quad": kept}
    count = sum(len(c) for c in cells.values())
    return Mesh(nodes, cells, {"body": np.arange(count)}, mesh.edge_groups, mesh.node_groups)


def solve(K, f: np.ndarray, dofs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Displacements with K u = f at the dofs that are not prescribed."""
    from scipy.sparse.linalg import spsolve

    u = np.zeros(f.size)
    u[dofs] = values
    free = np.setdiff1d(np.arange(f.size), dofs)
    u[free] = spsolve(K[free][:, free].tocsc(), (f - K @ u)[free])
    return u
