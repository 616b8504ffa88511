"""The candidates of a contact: nodes of a named edge group, in order along its lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from fecontact.contact.weights import LineWeights, line_weights
from fecontact.errors import ContactError, at
from fecontact.mesh import Mesh
from fecontact.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates of one contact.

    Attributes
    ----------
    nodes : IntArray (nc,)
        Candidates in order along the lines, with the body on the left.
    line_nodes : IntArray
        All nodes of the lines, candidates or not.
    abscissa : FloatArray (nc,)
        Length along the line from its first node; lines follow one another.
    chains : tuple of IntArray
        The lines.
    weighting : LineWeights
        P and the supports, for weighted reactions and for equivalents.
    """

    nodes: IntArray
    line_nodes: IntArray
    abscissa: FloatArray
    chains: tuple[IntArray, ...]
    weighting: LineWeights

    @cached_property
    def square_P(self) -> sparse.csc_array:
        """P with the rows of the candidates only (nc, nc)."""
        return sparse.csc_array(self.weighting.P[self.nodes])

    @cached_property
    def square_factors(self) -> Any:
        """Factors of `square_P`, with a method `solve`."""
        return splu(self.square_P)


def gather_candidates(
    mesh: Mesh,
    group: str,
    held: BoolArray,
    *,
    exclude: Sequence[str] = (),
    thickness: float = 1.0,
    axisymmetric: bool = False,
    where: str = "contact",
) -> Candidates:
    """Candidates of an edge group.

    Parameters
    ----------
    mesh, group
        The mesh and the name of the edge group.
    held
        (n_nodes,) where every component is prescribed: such a node cannot move and is no candidate,
        but its neighbours keep their full supports.
    exclude
        Groups of nodes to leave out.
    """
    with at(f"{where}.candidates"):
        chains = mesh.chains(group)
    if not chains:
        raise ContactError(f"{where}: the edge group {group!r} is empty")
    skip = held.copy()
    for name in exclude:
        with at(f"{where}.exclude"):
            skip[mesh.node_numbers(name)] = True
    nodes: list[IntArray] = []
    positions: list[FloatArray] = []
    start = 0.0
    for chain in chains:
        steps = np.linalg.norm(np.diff(mesh.nodes[chain], axis=0), axis=1)
        along = start + np.concatenate([[0.0], np.cumsum(steps)])
        closed = len(chain) > 2 and chain[0] == chain[-1]
        own, along_own = (chain[:-1], along[:-1]) if closed else (chain, along)
        kept = ~skip[own]
        nodes.append(own[kept])
        positions.append(along_own[kept])
        start = float(along[-1])
    numbers = np.concatenate(nodes)
    if len(numbers) == 0:
        raise ContactError(
            f"{where}: all {len(np.unique(np.concatenate(chains)))} nodes of {group!r} are held or "
            "excluded, so that no candidate is left; free some of them or take another group"
        )
    return Candidates(
        nodes=numbers,
        line_nodes=np.unique(np.concatenate(chains)),
        abscissa=np.concatenate(positions),
        chains=tuple(chains),
        weighting=line_weights(
            mesh.nodes, chains, numbers, thickness=thickness, axisymmetric=axisymmetric
        ),
    )
