"""A contact between two deformable bodies, or of a body with itself, as the user gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fecontact.body import Solid
from fecontact.contact.interface import Reactions
from fecontact.contact.laws import Law
from fecontact.contact.pair_interface import PairInterface
from fecontact.contact.surface import shared_edges
from fecontact.errors import ContactError, choices
from fecontact.expressions import Value
from fecontact.mesh import Mesh
from fecontact.typing import BoolArray

Initial = Literal["as_is", "remove_penetration", "remove_gap"]
INITIAL = ("as_is", "remove_penetration", "remove_gap")


@dataclass(frozen=True)
class PairContact:
    """A contact between two surfaces, as the user gives it.

    Parameters
    ----------
    candidates
        Name of the edge group whose nodes are candidates.
    antagonists
        Name of the edge group whose edges they may meet.
    friction, reactions, exclude, name, law
        As for a contact with an obstacle.
    passes
        2 makes a second contact with the roles exchanged, called NAME_back. Each then bears half of
        what the law gives per area (threshold, stiffness, viscosity).
    self_contact
        Whether candidates and antagonists may have edges in common.
    initial
        What becomes of gaps at the start: ``"as_is"`` keeps them and refuses penetrations,
        ``"remove_penetration"`` counts the gaps of penetrated candidates from where they start,
        ``"remove_gap"`` those of all candidates near an antagonist.
    alert
        Gap up to which candidates are looked at. By default the length of the edges: of the
        candidate's or of the antagonist's, whichever is larger.
    share
        Part of what the law gives per area that the contact bears; a pass of two has a half, and so
        has a surface that meets itself.
    """

    candidates: str
    antagonists: str
    friction: Value = 0.0
    reactions: Reactions = "concentrated"
    exclude: Sequence[str] = ()
    name: str = ""
    law: Law | None = None
    passes: int = 1
    self_contact: bool = False
    initial: Initial = "as_is"
    alert: float | None = None
    share: float = 1.0

    @property
    def label(self) -> str:
        return self.name or self.candidates

    def expand(self) -> tuple[PairContact, ...]:
        """The contact as contacts of one pass."""
        if self.passes not in (1, 2):
            raise ContactError(
                f"contact.{self.label}.passes: {self.passes} is not a choice; give 1 (candidates "
                "against antagonists) or 2 (each against the other)"
            )
        forward = replace(self, name=self.label, passes=1)
        if self.candidates == self.antagonists:
            # where the surface meets itself the nodes of both sides are candidates: two passes
            return (replace(forward, share=0.5 * self.share),)
        if self.passes == 1:
            return (forward,)
        if self.law is not None and self.law.friction_law == "glued":
            raise ContactError(
                f"contact.{self.label}.passes: one pass glues both sides, and with a second their "
                "reactions would not be known apart; give 1"
            )
        forward = replace(forward, share=0.5 * self.share)
        back = replace(
            forward,
            name=f"{self.label}_back",
            candidates=self.antagonists,
            antagonists=self.candidates,
        )
        return (forward, back)

    def bind(self, solid: Solid, held: BoolArray) -> PairInterface:
        """Find both surfaces on a solid; `held` (n_nodes,) marks nodes that cannot move."""
        if self.passes != 1:
            raise ContactError(f"contact.{self.label}: bind each of its passes, see expand()")
        _check(self, solid.mesh)
        return PairInterface(self, solid, held)


def _check(contact: PairContact, mesh: Mesh) -> None:
    where = f"contact.{contact.label}"
    if contact.initial not in INITIAL:
        raise ContactError(
            f"{where}.initial: {contact.initial!r} is not a choice; "
            f"{choices(str(contact.initial), INITIAL)}"
        )
    if contact.alert is not None and not contact.alert > 0.0:
        raise ContactError(f"{where}.alert: {contact.alert:g} must be positive")
    if contact.self_contact:
        return
    if contact.candidates in mesh.edge_groups and contact.antagonists in mesh.edge_groups:
        shared = shared_edges(mesh, contact.candidates, contact.antagonists)
        if len(shared):
            a, b = shared[0]
            x = ", ".join(f"{c:.6g}" for c in mesh.nodes[[a, b]].mean(axis=0))
            raise ContactError(
                f"{where}: edge ({a}, {b}) near ({x}) is in the candidates {contact.candidates!r} "
                f"and in the antagonists {contact.antagonists!r} ({len(shared)} such edges); take "
                "it out of one of them, or set self_contact = true for a body that may meet itself"
            )
