"""Contacts: obstacles, laws, reactions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from fecontact.case.schema.tables import (
    ContactStiffness,
    ContactViscosity,
    Length,
    Pair,
    Spec,
    SpinValue,
    StressValue,
    ValueSpec,
    Velocity,
    VelocityValue,
    by_key,
)


class _ObstacleSpec(Spec):
    velocity: Annotated[list[VelocityValue], Field(min_length=2, max_length=2)] = [0.0, 0.0]
    """Velocity of the obstacle, numbers or functions of t."""


class HalfPlaneSpec(_ObstacleSpec):
    type: Literal["half_plane"]
    """The half plane behind a straight line."""
    point: Pair = [0.0, 0.0]
    """A point of the line."""
    normal: Pair = [0.0, 1.0]
    """Towards the free side."""


class DiskSpec(_ObstacleSpec):
    type: Literal["disk"]
    """A disk, or a circular hole."""
    center: Pair
    """Centre at t = 0."""
    radius: Length = Field(gt=0)
    """Radius."""
    inside: bool = False
    """The body is inside a circular hole."""
    spin: SpinValue = 0.0
    """Angular velocity in radians per second, anticlockwise."""


class PolylineSpec(_ObstacleSpec):
    type: Literal["polyline"]
    """A line of straight edges."""
    points: list[Pair] = Field(min_length=2)
    """Corners; the body is on the left as one walks along the line."""
    closed: bool = False
    """Join the last point to the first."""


ObstacleSpec = Annotated[
    Annotated[HalfPlaneSpec, Tag("<type=half_plane>")]
    | Annotated[DiskSpec, Tag("<type=disk>")]
    | Annotated[PolylineSpec, Tag("<type=polyline>")],
    Discriminator(by_key("type")),
]


class ContactSpec(Spec):
    candidates: str
    """Edge group whose nodes are candidates."""
    obstacle: ObstacleSpec | None = None
    """The rigid obstacle that they may meet; either this or antagonists."""
    antagonists: str | None = None
    """Edge group of the other body, or of the same one with self_contact."""
    reactions: Literal["concentrated", "weighted"] = "concentrated"
    """Forces on nodes, or densities constant on the half edges around them."""
    exclude: list[str] = []
    """Groups whose nodes are no candidates."""
    condition: Literal["gap", "end_gap", "velocity"] = "gap"
    """Unilateral condition: on the gap (at t + h(1-θ), or at the end of the step, which is kept for
    comparison), or on velocities, with restitution."""
    friction_law: Literal["coulomb", "tresca", "frictionless", "glued"] = "coulomb"
    """Friction; glued allows no relative motion at all."""
    friction: ValueSpec = 0.0
    """Coulomb's coefficient: a number or an expression of x and y."""
    dynamic_friction: ValueSpec | None = None
    """Coefficient while sliding; friction is then the static one."""
    decay_velocity: Velocity = Field(default=0.0, ge=0)
    """Slip velocity over which friction falls from static to dynamic; 0 is at once."""
    threshold: StressValue = 0.0
    """Tresca's bound of the tangential reaction per area."""
    restitution: float = Field(default=0.0, ge=0, le=1)
    """Normal restitution, with the condition on velocities; 0 is the inelastic shock."""
    tangential_restitution: float = Field(default=0.0, ge=0, le=1)
    """Tangential restitution, with the condition on velocities."""
    normal_stiffness: ContactStiffness | None = Field(default=None, gt=0)
    """Regularised law: reaction per area and penetration."""
    tangential_viscosity: ContactViscosity | None = Field(default=None, gt=0)
    """Regularised law: tangential reaction per area and slip velocity."""
    passes: Literal[1, 2] = 1
    """Two bodies: 2 makes the antagonists candidates too."""
    self_contact: bool = False
    """The candidates may meet edges of their own line."""
    initial: Literal["as_is", "remove_penetration", "remove_gap"] = "as_is"
    """Two bodies: what to do with penetrations or gaps at the start."""
    alert: Length | None = Field(default=None, gt=0)
    """Two bodies: distance below which candidates take part; from the edges where left out."""

    @model_validator(mode="after")
    def _complete(self) -> ContactSpec:
        if (self.obstacle is None) == (self.antagonists is None):
            raise PydanticCustomError(
                "partner", "give either obstacle or antagonists, what the candidates may meet"
            )
        if self.friction_law == "tresca" and "threshold" not in self.model_fields_set:
            raise PydanticCustomError(
                "law", "threshold is missing; the friction law 'tresca' is bounded by it"
            )
        if self.decay_velocity and self.dynamic_friction is None:
            raise PydanticCustomError(
                "law", "decay_velocity needs dynamic_friction, which friction falls to"
            )
        if self.obstacle is not None:
            for key in ("passes", "self_contact", "initial", "alert"):
                if key in self.model_fields_set:
                    raise PydanticCustomError(
                        "partner",
                        "{key} is for contacts with antagonists, this one has an obstacle",
                        {"key": key},
                    )
        return self
