"""What a contact did in a step: a row for each candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fecontact.contact.status import Status
from fecontact.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ContactState:
    """One contact at the end of a step, a row for each candidate.

    Attributes
    ----------
    name, reactions : str
        The contact and its kind of reactions.
    nodes : IntArray (nc,)
        Node numbers.
    abscissa : FloatArray (nc,)
        Length along the candidate line.
    position, displacement : FloatArray (nc, dim)
        Reference position and displacement.
    gap : FloatArray (nc,)
        Gap of the node, inf where nothing is near.
    status : NDArray[int8] (nc,)
        See `Status`.
    force, equivalent : FloatArray (nc, dim)
        Reactions R_N, R_T of the computation, and their images: P R for weighted reactions,
        P⁻¹ R for concentrated ones.
    velocity : FloatArray (nc, dim)
        Relative velocity u_N, u_T, a weighted mean for weighted reactions.
    friction : FloatArray (nc,)
        Friction coefficient.
    bound : FloatArray (nc,)
        What the friction law allows |R_T| to be.
    support : FloatArray (nc,)
        Area of the half edges around the candidate; force over support is a pressure.
    """

    name: str
    reactions: str
    nodes: IntArray
    abscissa: FloatArray
    position: FloatArray
    displacement: FloatArray
    gap: FloatArray
    status: NDArray[np.int8]
    force: FloatArray
    equivalent: FloatArray
    velocity: FloatArray
    friction: FloatArray
    bound: FloatArray
    support: FloatArray

    @property
    def concentrated(self) -> FloatArray:
        """Concentrated reactions (nc, dim): those of the computation or their equivalents."""
        return self.force if self.reactions == "concentrated" else self.equivalent

    @property
    def weighted(self) -> FloatArray:
        """Weighted reactions (nc, dim): those of the computation or their equivalents."""
        return self.force if self.reactions == "weighted" else self.equivalent

    @property
    def inadmissible(self) -> BoolArray:
        """Where the equivalent reactions pull, or leave the friction cone (nc,).

        Tangential parts of images of frictionless reactions come from bent lines.
        """
        normal = self.equivalent[:, 0]
        tangential = np.linalg.norm(self.equivalent[:, 1:], axis=1)
        margin = 1e-6 * max(float(np.abs(self.force).max(initial=0.0)), 1e-300)
        return np.asarray(
            (normal < -margin)
            | (self.friction > 0.0)
            & (tangential > self.friction * np.maximum(normal, 0.0) + margin)
        )

    @property
    def slides(self) -> BoolArray:
        """Where a candidate slides (nc,)."""
        return np.asarray(self.status == Status.SLIDING)

    def count(self, status: Status) -> int:
        """How many candidates have a status."""
        return int(np.count_nonzero(self.status == status))

    def plot(self, ax: Any = None) -> Any:
        """Draw the reactions along the contact with the friction bound; returns the axes.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones where there are none.
        """
        from fecontact.output.notebook import plot_contact

        return plot_contact(self, ax)

    def _repr_html_(self) -> str:
        from fecontact.output.notebook import contact_html

        return contact_html(self)

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(s)} {s.label}" for s in Status)
        total = self.force.sum(axis=0)
        return (
            f"<contact {self.name!r}, {self.reactions} reactions: {counts}; "
            f"total RN = {total[0]:.5g}, RT = {total[1]:.5g}>"
        )
