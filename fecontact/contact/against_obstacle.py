"""Contact of a candidate line with a rigid obstacle, with concentrated or weighted reactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fecontact.body import Solid
from fecontact.contact.interface import Interface, Reactions
from fecontact.contact.laws import Law, as_law
from fecontact.contact.local import LocalContacts, frames_from_normals, mapping
from fecontact.contact.obstacles import Disk, Obstacle
from fecontact.errors import ContactError
from fecontact.expressions import Value
from fecontact.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Contact:
    """A contact with an obstacle, as the user gives it.

    Parameters
    ----------
    candidates
        Name of the edge group whose nodes are candidates.
    obstacle
        The rigid obstacle that they may meet.
    friction
        Coulomb's coefficient, a number or an expression of x and y, where no law is given.
    reactions
        ``"concentrated"`` (forces on nodes) or ``"weighted"`` (densities constant on half edges).
    exclude
        Groups of nodes that are no candidates although they lie on the edge group.
    name
        What results call it; the edge group's name where it is empty.
    law
        The whole law, in the place of `friction`.
    """

    candidates: str
    obstacle: Obstacle
    friction: Value = 0.0
    reactions: Reactions = "concentrated"
    exclude: Sequence[str] = ()
    name: str = ""
    law: Law | None = None

    @property
    def label(self) -> str:
        return self.name or self.candidates

    def expand(self) -> tuple[Contact, ...]:
        """The contact as contacts of one pass: itself."""
        return (self,)

    def bind(self, solid: Solid, held: BoolArray) -> ObstacleInterface:
        """Find the candidates on a solid; `held` (n_nodes,) marks nodes that cannot move."""
        return ObstacleInterface(self, solid, held)


class ObstacleInterface(Interface):
    """A contact with a rigid obstacle, bound to a solid."""

    def __init__(self, contact: Contact, solid: Solid, held: BoolArray) -> None:
        law = as_law(contact.law, contact.friction)
        super().__init__(
            contact.label, solid, contact.candidates, law, contact.reactions, held, contact.exclude
        )
        self.obstacle = contact.obstacle
        self._glued_frames: FloatArray | None = None
        if law.friction_law == "glued":
            if isinstance(self.obstacle, Disk) and self.obstacle.spins:
                raise ContactError(
                    f"{self.where}.friction_law: 'glued' follows the way of an obstacle, not its "
                    f"spin; {self.partner} has spin = {self.obstacle.spin!r}"
                )
            start = self.obstacle.project(self.mesh.nodes[self.candidates.nodes], 0.0)
            self._glued_frames = frames_from_normals(start.normal)

    @property
    def partner(self) -> str:
        return f"obstacle {type(self.obstacle).__name__}"

    def detect(self, positions: FloatArray, t: float, h: float) -> LocalContacts:
        nodes, obstacle = self.candidates.nodes, self.obstacle
        at_nodes = obstacle.project(positions[nodes], t)
        frames = frames_from_normals(at_nodes.normal)
        weighted = self.reactions == "weighted"
        weights = self.candidates.weighting.P if weighted else self._unit
        moving = obstacle.surface_velocity(at_nodes.foot, t, h)
        if self._glued_frames is not None:
            frames = self._glued_frames
            moved = weights.T @ (positions - self.mesh.nodes) - obstacle.translation(t)
            offset = np.einsum("cak,ck->ca", frames, moved)
        else:
            offset = np.zeros((len(nodes), positions.shape[1]))
            if weighted:
                line = self.candidates.line_nodes
                gaps = np.zeros(len(positions))
                gaps[line] = obstacle.project(positions[line], t).gap
                offset[:, 0] = np.asarray(weights.T @ gaps)
            else:
                offset[:, 0] = at_nodes.gap
        return LocalContacts(
            candidates=np.arange(len(nodes)),
            nodes=nodes,
            frames=frames,
            offset=offset,
            H=mapping(weights, frames),
            drift=np.einsum("cak,ck->ca", frames, moving).ravel(),
            laws=self.laws,
        )

    def gaps(self, positions: FloatArray, t: float) -> FloatArray:
        return self.obstacle.project(positions[self.candidates.nodes], t).gap

    def check_passage(self, before: FloatArray, after: FloatArray, local: LocalContacts) -> None:
        """Nothing to check: every candidate sees its obstacle at any distance."""
