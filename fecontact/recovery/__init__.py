"""Strains and stresses of a computed displacement, their averages and invariants."""

from fecontact.recovery.fields import (
    IntegrationPoints,
    element_average,
    integration_points,
    nodal_average,
    strain_at_points,
    stress_at_points,
)
from fecontact.recovery.invariants import (
    mean_value,
    principal_angle,
    principal_values,
    second_invariant,
    von_mises,
)

__all__ = [
    "IntegrationPoints",
    "element_average",
    "integration_points",
    "mean_value",
    "nodal_average",
    "principal_angle",
    "principal_values",
    "second_invariant",
    "strain_at_points",
    "stress_at_points",
    "von_mises",
]
