"""Constitutive laws."""

from fecontact.materials.base import Damping, Material, PointLaw
from fecontact.materials.isotropic import IsotropicElastic
from fecontact.materials.maxwell import Branch, GeneralisedMaxwell, Maxwell, Rheology
from fecontact.materials.orthotropic import OrthotropicElastic

__all__ = [
    "Branch",
    "Damping",
    "GeneralisedMaxwell",
    "IsotropicElastic",
    "Material",
    "Maxwell",
    "OrthotropicElastic",
    "PointLaw",
    "Rheology",
]
