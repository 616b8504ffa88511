"""Candidates in one configuration: frames, gaps and the mapping H, as plain arrays.

This is what every kind of contact hands to the time scheme, and all that the scheme knows of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from fecontact.contact.laws import PointLaws, join
from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True)
class LocalContacts:
    """Active candidates of one contact.

    Attributes
    ----------
    candidates : IntArray (nc,)
        Number of each among the candidates of its contact, the same from step to step.
    nodes : IntArray (nc,)
        Node of the mesh.
    frames : FloatArray (nc, dim, dim)
        Rows N, T of the local frames.
    offset : FloatArray (nc, dim)
        Relative position in the configuration of detection that the law sees: the gap, or the
        weighted mean of gaps, and zero; for glued contacts all components of what they moved.
    H : csr_array (ndof, nc * dim)
        Local reactions to generalised forces; u = Hᵀ v - drift.
    drift : FloatArray (nc * dim,)
        Velocity of the obstacle over the step in the local frames.
    laws : PointLaws
        Law of each.
    support : FloatArray (nc,), optional
        Area that each acts on, where it is not the whole of the half edges around its node.
    """

    candidates: IntArray
    nodes: IntArray
    frames: FloatArray
    offset: FloatArray
    H: sparse.csr_array
    drift: FloatArray
    laws: PointLaws
    support: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def gap(self) -> FloatArray:
        """Gap (nc,) in the configuration of detection."""
        return self.offset[:, 0]


def frames_from_normals(normals: FloatArray) -> FloatArray:
    """Frames (nc, 2, 2) with rows N and T = (N_y, -N_x)."""
    tangents = np.column_stack([normals[:, 1], -normals[:, 0]])
    return np.stack([normals, tangents], axis=1)


def mapping(weights: sparse.csr_array, frames: FloatArray) -> sparse.csr_array:
    """H (n_nodes * dim, nc * dim) from weights (n_nodes, nc) and frames (nc, dim, dim).

    H[(s, k), (h, a)] = weights[s, h] frames[h, a, k]: a local force of candidate h, turned to
    global axes and shared among nodes.
    """
    n_nodes, nc = weights.shape
    dim = frames.shape[1]
    shares = weights.tocoo()
    node, contact = shares.coords
    k, a = (grid.ravel() for grid in np.meshgrid(np.arange(dim), np.arange(dim), indexing="ij"))
    rows = (node[:, None] * dim + k).ravel()
    columns = (contact[:, None] * dim + a).ravel()
    values = (shares.data[:, None] * frames[contact][:, a, k]).ravel()
    return sparse.csr_array(
        sparse.coo_array((values, (rows, columns)), shape=(n_nodes * dim, nc * dim))
    )


@dataclass(frozen=True)
class Stacked:
    """The candidates of all contacts one after another; offset and drift are (nc * dim,)."""

    H: sparse.csr_array
    offset: FloatArray
    drift: FloatArray
    laws: PointLaws
    slices: tuple[slice, ...]

    def __len__(self) -> int:
        return len(self.laws)


def stack(sets: Sequence[LocalContacts], n_dofs: int) -> Stacked:
    """Put the contacts' candidates one after another; `slices` count candidates."""
    if not sets:
        none = np.zeros(0)
        return Stacked(sparse.csr_array((n_dofs, 0)), none, none, join([]), ())
    ends = np.cumsum([0, *map(len, sets)])
    return Stacked(
        H=sparse.csr_array(sparse.hstack([s.H for s in sets], format="csr")),
        offset=np.concatenate([s.offset.ravel() for s in sets]),
        drift=np.concatenate([s.drift for s in sets]),
        laws=join([s.laws for s in sets]),
        slices=tuple(slice(int(a), int(b)) for a, b in pairwise(ends)),
    )
