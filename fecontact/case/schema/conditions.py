"""What holds and loads the bodies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from fecontact.case.schema.tables import (
    AccelerationValue,
    Angle,
    BodyForceValue,
    ContactStiffness,
    Factor,
    ForceValue,
    LengthValue,
    Spec,
    Stiffness,
    Stress,
    StressValue,
    VelocityValue,
    by_key,
)


class PrescribedSpec(Spec):
    on: str
    """Group of nodes, edges or elements."""
    ux: LengthValue | None = None
    """Displacement along x."""
    uy: LengthValue | None = None
    """Displacement along y."""
    vx: VelocityValue | None = None
    """Velocity along x."""
    vy: VelocityValue | None = None
    """Velocity along y."""
    angle: Angle = 0.0
    """Turns the axes of the components, degrees."""


class _LoadSpec(Spec):
    amplitude: Factor | None = None
    """Factor over time: a table or an expression of t."""


class PressureSpec(_LoadSpec):
    type: Literal["pressure"]
    """Pressure on edges."""
    on: str
    """Edge group."""
    value: StressValue = 0.0
    """Pressure, positive towards the body."""
    per_edge: list[Stress] | None = None
    """One value for each edge instead, in order with the body on the left."""


class TractionSpec(_LoadSpec):
    type: Literal["traction"]
    """Force per area on edges, by components."""
    on: str
    """Edge group."""
    tx: StressValue = 0.0
    """Component along x."""
    ty: StressValue = 0.0
    """Component along y."""


class BodyForceSpec(_LoadSpec):
    type: Literal["body_force"]
    """Force per volume."""
    on: str = ""
    """Element group; the whole body where it is left out."""
    bx: BodyForceValue = 0.0
    """Component along x."""
    by: BodyForceValue = 0.0
    """Component along y."""


class GravitySpec(_LoadSpec):
    type: Literal["gravity"]
    """Weight: density times the acceleration."""
    on: str = ""
    """Element group; the whole body where it is left out."""
    gx: AccelerationValue = 0.0
    """Acceleration along x."""
    gy: AccelerationValue = -9.81
    """Acceleration along y."""


class PointForceSpec(_LoadSpec):
    type: Literal["point_force"]
    """A force on nodes."""
    on: str
    """Group; every node of it gets the force."""
    fx: ForceValue = 0.0
    """Component along x."""
    fy: ForceValue = 0.0
    """Component along y."""


LoadSpec = Annotated[
    Annotated[PressureSpec, Tag("<type=pressure>")]
    | Annotated[TractionSpec, Tag("<type=traction>")]
    | Annotated[BodyForceSpec, Tag("<type=body_force>")]
    | Annotated[GravitySpec, Tag("<type=gravity>")]
    | Annotated[PointForceSpec, Tag("<type=point_force>")],
    Discriminator(by_key("type")),
]


class SpringSpec(Spec):
    on: str
    """Group whose nodes are held by springs."""
    kx: Stiffness = Field(default=0.0, ge=0)
    """Stiffness of each node along x."""
    ky: Stiffness = Field(default=0.0, ge=0)
    """Stiffness of each node along y."""
    bed: ContactStiffness | None = Field(default=None, gt=0)
    """Winkler bed under an edge group instead: vertical pressure per displacement, for a body that
    floats the density below times gravity. It starts with what balances the initial stress."""

    @model_validator(mode="after")
    def _one_kind(self) -> SpringSpec:
        if self.bed is not None and {"kx", "ky"} & self.model_fields_set:
            raise PydanticCustomError("spring", "give either bed or kx and ky")
        return self


class PrestressSpec(Spec):
    type: Literal["lithostatic"]
    """Stress that balances gravity at the start, by horizontal layers of the materials."""
    ratio: float = Field(default=1.0, ge=0)
    """Horizontal over vertical stress."""
