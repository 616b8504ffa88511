"""Weighted reactions: the matrix P of a candidate line.

A weighted reaction is a density that is constant on the half edges around its candidate h, whose
characteristic function is χ_h. Its work with the traces f_s of the shape functions gives

    P[s, h] = ∫ f_s χ_h / ∫ χ_h,

so that forces R_h (the density times the length of the support) act on the nodes as P R. On a line
of equal edges an interior column is (1/8, 3/4, 1/8) and the column of an end node (3/4, 1/4). Every
node of the line has a row, fixed nodes too: what falls on them does no work but is part of the
balance of forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fecontact.errors import ContactError
from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True)
class LineWeights:
    """P and the supports of a set of candidates.

    Attributes
    ----------
    P : csr_array
        Shape (n_nodes, n_candidates); rows are nodes of the mesh.
    support : FloatArray
        ∫ χ_h for each candidate: length times thickness, or the area swept in axisymmetry.
    """

    P: sparse.csr_array
    support: FloatArray


def line_weights(
    nodes: FloatArray,
    chains: Sequence[IntArray],
    candidates: IntArray,
    *,
    thickness: float = 1.0,
    axisymmetric: bool = False,
) -> LineWeights:
    """Weights of candidates on polylines of nodes.

    Parameters
    ----------
    nodes
        Coordinates (n, dim).
    chains
        Lines as sequences of node numbers; closed where the first is the last.
    candidates
        Node numbers of the candidates, each on one of the lines.
    thickness
        Depth out of the plane; not used in axisymmetry.
    axisymmetric
        Integrate over the full turn about x = 0.
    """
    edges = np.concatenate([np.column_stack([c[:-1], c[1:]]) for c in chains])
    column = np.full(len(nodes), -1, dtype=np.int64)
    column[candidates] = np.arange(len(candidates))
    owner = np.concatenate([edges[:, 0], edges[:, 1]])
    other = np.concatenate([edges[:, 1], edges[:, 0]])
    length = np.tile(np.linalg.norm(nodes[edges[:, 1]] - nodes[edges[:, 0]], axis=1), 2)
    kept = column[owner] >= 0
    owner, other, length = owner[kept], other[kept], length[kept]
    # over half an edge, s in [0, 1/2] from the owner: f_owner = 1 - s, f_other = s, measure a + b s
    if axisymmetric:
        a = 2.0 * np.pi * nodes[owner, 0] * length
        b = 2.0 * np.pi * (nodes[other, 0] - nodes[owner, 0]) * length
    else:
        a, b = thickness * length, np.zeros_like(length)
    on_owner = a * 3.0 / 8.0 + b / 12.0
    on_other = a / 8.0 + b / 24.0
    n_candidates = len(candidates)
    support = np.zeros(n_candidates)
    np.add.at(support, column[owner], on_owner + on_other)
    lonely = support <= 0.0
    if lonely.any():
        raise ContactError(
            f"weighted reactions: node {int(candidates[np.argmax(lonely)])} is on no edge of its "
            "candidate line"
        )
    rows = np.concatenate([owner, other])
    columns = np.tile(column[owner], 2)
    values = np.concatenate([on_owner, on_other]) / support[columns]
    P = sparse.csr_array(
        sparse.coo_array((values, (rows, columns)), shape=(len(nodes), n_candidates))
    )
    P.sum_duplicates()
    return LineWeights(P, support)
