"""A contact bound to a solid: what every kind of contact is to the time schemes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy import sparse

from fecontact.body import Solid
from fecontact.contact.candidates import Candidates, gather_candidates
from fecontact.contact.laws import Law, PointLaws, point_laws
from fecontact.contact.local import LocalContacts
from fecontact.contact.results import ContactState
from fecontact.contact.status import classify
from fecontact.errors import ContactError, choices
from fecontact.typing import BoolArray, FloatArray, IntArray

Reactions = Literal["concentrated", "weighted"]
REACTIONS = ("concentrated", "weighted")


class Interface(ABC):
    """Candidates of a contact with their law; kinds of contact differ in what they may meet.

    Parameters
    ----------
    name
        What results call it.
    solid
        The bodies.
    group
        Edge group of the candidates.
    law
        The law of the contact.
    reactions
        ``"concentrated"`` or ``"weighted"``.
    held
        (n_nodes,) nodes that cannot move.
    exclude
        Groups of nodes that are no candidates.
    """

    def __init__(
        self,
        name: str,
        solid: Solid,
        group: str,
        law: Law,
        reactions: Reactions,
        held: BoolArray,
        exclude: Sequence[str] = (),
    ) -> None:
        where = f"contact.{name}"
        if reactions not in REACTIONS:
            raise ContactError(
                f"{where}.reactions: {reactions!r} is not a choice; "
                f"{choices(str(reactions), REACTIONS)}"
            )
        self.name, self.where, self.group, self.law = name, where, group, law
        self.reactions: Reactions = reactions
        self.mesh = solid.mesh
        self.candidates: Candidates = gather_candidates(
            solid.mesh,
            group,
            held,
            exclude=exclude,
            thickness=solid.thickness,
            axisymmetric=solid.hypothesis == "axisymmetric",
            where=where,
        )
        nodes = self.candidates.nodes
        self.laws: PointLaws = point_laws(
            law, solid.mesh.nodes[nodes], nodes, self.candidates.weighting.support, where
        )
        n = len(nodes)
        self._unit = sparse.csr_array(
            (np.ones(n), (nodes, np.arange(n))), shape=(solid.mesh.n_nodes, n)
        )

    @property
    def n_candidates(self) -> int:
        return len(self.candidates.nodes)

    @property
    def friction(self) -> FloatArray:
        """Static friction coefficients (n_candidates,)."""
        return self.laws.friction

    @property
    def touched(self) -> IntArray:
        """Nodes that a reaction of this contact may act on."""
        weighted = self.reactions == "weighted"
        return self.candidates.line_nodes if weighted else self.candidates.nodes

    @property
    @abstractmethod
    def partner(self) -> str:
        """What the candidates may meet, in words."""

    @abstractmethod
    def detect(self, positions: FloatArray, t: float, h: float) -> LocalContacts:
        """Frames, gaps and H with the nodes at `positions` (n, dim) at time t.

        Obstacles drift by their mean velocity between t and t + h, which may come before t.
        """

    @abstractmethod
    def gaps(self, positions: FloatArray, t: float) -> FloatArray:
        """Gaps of all candidates (n_candidates,), inf where nothing is near."""

    @abstractmethod
    def check_passage(self, before: FloatArray, after: FloatArray, local: LocalContacts) -> None:
        """Raise `Tunnelling` where a candidate went through a body between two configurations.

        `before` and `after` (n, dim) are positions of all nodes at the ends of a step, `local` is
        what was detected for it.
        """

    def state(
        self,
        local: LocalContacts,
        forces: FloatArray,
        velocity: FloatArray,
        friction: FloatArray,
        displacement: FloatArray,
        t: float,
    ) -> ContactState:
        """The contact at the end of a step, with a row for every candidate.

        Parameters
        ----------
        local
            What `detect` gave for the step.
        forces, velocity
            Local reactions and relative velocities (nc, dim) of the contacts in `local`.
        friction
            Coefficients (nc,) that the step was solved with.
        displacement
            Of all nodes (n, dim), at time t.
        """
        nodes = self.candidates.nodes
        dim = displacement.shape[1]
        everywhere = len(local) == len(nodes)
        frames, laws = local.frames, local.laws
        if not everywhere:
            used, threshold = self.laws.friction.copy(), self.laws.threshold.copy()
            used[local.candidates] = friction
            threshold[local.candidates] = laws.threshold
            friction, laws = used, replace(self.laws, threshold=threshold)
            forces, velocity = (self._spread(local, part) for part in (forces, velocity))
            frames = np.tile(np.eye(dim), (len(nodes), 1, 1))
            frames[local.candidates] = local.frames
        support = self.candidates.weighting.support
        if local.support is not None:
            support = support.copy()
            support[local.candidates] = local.support
        bound = laws.bound(forces[:, 0], friction)
        return ContactState(
            name=self.name,
            reactions=self.reactions,
            nodes=nodes,
            abscissa=self.candidates.abscissa,
            position=self.mesh.nodes[nodes],
            displacement=displacement[nodes],
            gap=self.gaps(self.mesh.nodes + displacement, t),
            status=classify(forces, bound),
            force=forces,
            equivalent=self._equivalent(forces, frames),
            velocity=velocity,
            friction=friction,
            bound=bound,
            support=support,
        )

    def _spread(self, local: LocalContacts, values: FloatArray) -> FloatArray:
        spread = np.zeros((self.n_candidates, *values.shape[1:]))
        spread[local.candidates] = values
        return spread

    def _equivalent(self, forces: FloatArray, frames: FloatArray) -> FloatArray:
        """P R or P⁻¹ R: turned to global axes, combined, turned back."""
        vectors = np.einsum("cak,ca->ck", frames, forces)
        if self.reactions == "weighted":
            combined = self.candidates.square_P @ vectors
        else:
            combined = self.candidates.square_factors.solve(np.ascontiguousarray(vectors))
        return np.asarray(np.einsum("cak,ck->ca", frames, combined))
