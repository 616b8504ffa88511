"""Finite elements for deformable bodies in unilateral contact with dry friction.

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fecontact.body import Solid
    from fecontact.case import build, read_case
    from fecontact.closed_forms import LineContact, contact_modulus, fit_hertz
    from fecontact.conditions import (
        BodyForce,
        Gravity,
        Initial,
        Lithostatic,
        PointForce,
        Prescribed,
        Pressure,
        Spring,
        Traction,
        Winkler,
    )
    from fecontact.contact import Contact, Disk, HalfPlane, Law, PairContact, Polyline, Status
    from fecontact.errors import FecontactError, NotConverged
    from fecontact.history import History, Probe
    from fecontact.materials import (
        Branch,
        Damping,
        GeneralisedMaxwell,
        IsotropicElastic,
        Maxwell,
        OrthotropicElastic,
    )
    from fecontact.mesh import Mesh, mesh_geometry, read_mesh, rectangle, write_mesh
    from fecontact.model import Model
    from fecontact.schemes import Explicit, Implicit, Newmark, QuasiStatic, Theta
    from fecontact.simulation import Result, Simulation, Times
    from fecontact.solvers import FrictionProblem, Options, solve
    from fecontact.study import Study, sweep

__version__ = "0.1.0"

_WHERE = {
    "body": ("Solid",),
    "case": ("build", "read_case"),
    "conditions": (
        "BodyForce",
        "Gravity",
        "Initial",
        "Lithostatic",
        "PointForce",
        "Prescribed",
        "Pressure",
        "Spring",
        "Traction",
        "Winkler",
    ),
    "closed_forms": ("LineContact", "contact_modulus", "fit_hertz"),
    "contact": ("Contact", "Disk", "HalfPlane", "Law", "PairContact", "Polyline", "Status"),
    "history": ("History", "Probe"),
    "errors": ("FecontactError", "NotConverged"),
    "materials": (
        "Branch",
        "Damping",
        "GeneralisedMaxwell",
        "IsotropicElastic",
        "Maxwell",
        "OrthotropicElastic",
    ),
    "mesh": ("Mesh", "mesh_geometry", "read_mesh", "rectangle", "write_mesh"),
    "model": ("Model",),
    "schemes": ("Explicit", "Implicit", "Newmark", "QuasiStatic", "Theta"),
    "simulation": ("Result", "Simulation", "Times"),
    "solvers": ("FrictionProblem", "Options", "solve"),
    "study": ("Study", "sweep"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "BodyForce",
    "Branch",
    "Contact",
    "Damping",
    "Disk",
    "Explicit",
    "FecontactError",
    "FrictionProblem",
    "GeneralisedMaxwell",
    "Gravity",
    "HalfPlane",
    "History",
    "Implicit",
    "Initial",
    "IsotropicElastic",
    "Law",
    "LineContact",
    "Lithostatic",
    "Maxwell",
    "Mesh",
    "Model",
    "Newmark",
    "NotConverged",
    "Options",
    "OrthotropicElastic",
    "PairContact",
    "PointForce",
    "Polyline",
    "Prescribed",
    "Pressure",
    "Probe",
    "QuasiStatic",
    "Result",
    "Simulation",
    "Solid",
    "Spring",
    "Status",
    "Study",
    "Theta",
    "Times",
    "Traction",
    "Winkler",
    "build",
    "contact_modulus",
    "fit_hertz",
    "mesh_geometry",
    "read_case",
    "read_mesh",
    "rectangle",
    "solve",
    "sweep",
    "write_mesh",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
