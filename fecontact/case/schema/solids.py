"""Materials and how a body deforms."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from fecontact.case.schema.tables import (
    Angle,
    Density,
    Length,
    Spec,
    Stress,
    Time,
    Viscosity,
    ViscosityValue,
    by_key,
    in_unit,
)


class DampingSpec(Spec):
    kelvin_voigt: Time = Field(default=0.0, ge=0)
    """Retardation time: viscous stress is this time multiplied by D ε'."""
    rayleigh_mass: Annotated[float, in_unit("Hz")] = Field(default=0.0, ge=0)
    """Rayleigh's factor of M."""
    rayleigh_stiffness: Time = Field(default=0.0, ge=0)
    """Rayleigh's factor of K."""
    eta_shear: Viscosity = Field(default=0.0, ge=0)
    """Viscosity for shape."""
    eta_bulk: Viscosity = Field(default=0.0, ge=0)
    """Viscosity for volume."""


class _MaterialSpec(Spec):
    regions: list[str] | None = None
    """Element groups of this material; all elements where it is left out."""
    density: Density = 0.0
    """Mass per volume."""
    damping: DampingSpec = DampingSpec()
    """Viscous damping."""


class Isotropic(_MaterialSpec):
    law: Literal["isotropic"] = "isotropic"
    """Isotropic linear elasticity."""
    E: Stress
    """Young's modulus."""
    nu: float
    """Poisson's ratio."""


class Orthotropic(_MaterialSpec):
    law: Literal["orthotropic"]
    """Orthotropic linear elasticity; axes 1 and 2 in the plane."""
    E1: Stress
    """Young's modulus along axis 1."""
    E2: Stress
    """Young's modulus along axis 2."""
    E3: Stress
    """Young's modulus along axis 3, out of the plane."""
    nu12: float
    """Contraction along 2 for a traction along 1."""
    nu13: float
    """Contraction along 3 for a traction along 1."""
    nu23: float
    """Contraction along 3 for a traction along 2."""
    G12: Stress
    """Shear modulus in the plane."""
    angle: Angle = 0.0
    """From x to axis 1, degrees."""


class MaxwellSpec(_MaterialSpec):
    law: Literal["maxwell"]
    """Maxwell viscoelasticity, for the schemes implicit and explicit: volume elastic, shear elastic
    at once and viscous at length."""
    E: Stress
    """Young's modulus of a sudden strain."""
    nu: float
    """Poisson's ratio of a sudden strain."""
    viscosity: ViscosityValue
    """Shear viscosity: a number or an expression of x and y at the start."""
    rate: Literal["green_naghdi", "jaumann"] = "green_naghdi"
    """Objective rate of the stress in finite rotation."""


class BranchSpec(Spec):
    fraction: float = Field(gt=0, le=1)
    """Part of the shear modulus."""
    time: Time = Field(gt=0)
    """Relaxation time."""


class GeneralisedMaxwellSpec(_MaterialSpec):
    law: Literal["generalised_maxwell"]
    """Several Maxwell branches side by side (a Prony series), for the schemes implicit and
    explicit."""
    E: Stress
    """Young's modulus of a sudden strain."""
    nu: float
    """Poisson's ratio of a sudden strain."""
    branches: list[BranchSpec] = Field(min_length=1)
    """Fractions and times; what the fractions leave of 1 does not relax."""
    rate: Literal["green_naghdi", "jaumann"] = "green_naghdi"
    """Objective rate of the stress in finite rotation."""


MaterialSpec = Annotated[
    Annotated[Isotropic, Tag("<law=isotropic>")]
    | Annotated[Orthotropic, Tag("<law=orthotropic>")]
    | Annotated[MaxwellSpec, Tag("<law=maxwell>")]
    | Annotated[GeneralisedMaxwellSpec, Tag("<law=generalised_maxwell>")],
    Discriminator(by_key("law", "isotropic")),
]


class ModelSpec(Spec):
    hypothesis: Literal["plane_strain", "plane_stress", "axisymmetric"] = "plane_strain"
    """How the body deforms out of the plane."""
    thickness: Length = Field(default=1.0, gt=0)
    """Depth out of the plane."""
    quad: Literal["full", "bbar", "selective"] = "full"
    """Q4 formulation; bbar and selective do not lock for nearly incompressible materials."""
