"""Prescribed motion, initial motion, loads and grounded springs, given by the names of groups.

What a user writes is a group's name and values, each a number, a table over time or an expression
of x, y, t; `Constraints` and `ExternalForces` bind them to a solid.
"""

from fecontact.conditions.forces import (
    BodyForce,
    ExternalForces,
    Gravity,
    Load,
    PointForce,
    Pressure,
    Spring,
    Traction,
)
from fecontact.conditions.foundation import Winkler
from fecontact.conditions.initial import Initial, initial_motion
from fecontact.conditions.motion import Constraints, Prescribed
from fecontact.conditions.prestress import Lithostatic

__all__ = [
    "BodyForce",
    "Constraints",
    "ExternalForces",
    "Gravity",
    "Initial",
    "Lithostatic",
    "Load",
    "PointForce",
    "Prescribed",
    "Pressure",
    "Spring",
    "Traction",
    "Winkler",
    "initial_motion",
]
