"""A bed of springs under an edge: the buoyant support of a section by what it floats on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fecontact.errors import ConditionError, at
from fecontact.mesh import Mesh
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class Winkler:
    """Vertical support proportional to the deflection: pressure = stiffness times displacement.

    For a body that floats on a fluid of density ρ the stiffness is ρ g. Under an initial stress the
    bed starts with the pressure that balances it.

    Parameters
    ----------
    on
        Edge group.
    stiffness
        Pressure per displacement along y, positive.
    thickness
        Out-of-plane size of the body.
    name
        What messages call it; the group's name where it is empty.
    """

    on: str
    stiffness: float
    thickness: float = 1.0
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on

    def diagonal(self, mesh: Mesh) -> FloatArray:
        """Diagonal (ndof,) that the bed adds to the stiffness, lumped onto the nodes."""
        if not (np.isfinite(self.stiffness) and self.stiffness > 0.0):
            raise ConditionError(
                f"springs.{self.label}.stiffness: {self.stiffness:g} must be a number > 0"
            )
        with at(f"springs.{self.label}.on"):
            edges = mesh.edges(self.on)
        # only the horizontal extent of an edge bears a vertical pressure
        width = np.abs(mesh.nodes[edges[:, 1], 0] - mesh.nodes[edges[:, 0], 0])
        added = np.zeros((mesh.n_nodes, mesh.dim))
        share = 0.5 * self.stiffness * self.thickness * width
        np.add.at(added[:, 1], edges, np.column_stack([share, share]))
        return added.ravel()
