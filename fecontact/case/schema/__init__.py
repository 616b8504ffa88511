"""The case file's schema: every key, its kind, its default and its meaning."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from fecontact.case.schema.computing import (
    SCHEME_KEYS,
    ChecksSpec,
    FaultSpec,
    InitialSpec,
    MarginsSpec,
    OutputSpec,
    ProbeSpec,
    SchemeSpec,
    SolverSpec,
    TimeSpec,
)
from fecontact.case.schema.conditions import (
    BodyForceSpec,
    GravitySpec,
    LoadSpec,
    PointForceSpec,
    PrescribedSpec,
    PressureSpec,
    PrestressSpec,
    SpringSpec,
    TractionSpec,
)
from fecontact.case.schema.contacts import (
    ContactSpec,
    DiskSpec,
    HalfPlaneSpec,
    ObstacleSpec,
    PolylineSpec,
)
from fecontact.case.schema.meshes import Geometry, Group, MeshFile, MeshSpec, Parts, Rectangle
from fecontact.case.schema.solids import (
    BranchSpec,
    DampingSpec,
    GeneralisedMaxwellSpec,
    Isotropic,
    MaterialSpec,
    MaxwellSpec,
    ModelSpec,
    Orthotropic,
)
from fecontact.case.schema.tables import Spec, ValueSpec

__all__ = [
    "NAMED_TABLES",
    "SCHEME_KEYS",
    "BodyForceSpec",
    "BranchSpec",
    "CaseSpec",
    "ChecksSpec",
    "ContactSpec",
    "DampingSpec",
    "DiskSpec",
    "FaultSpec",
    "GeneralisedMaxwellSpec",
    "Geometry",
    "GravitySpec",
    "Group",
    "HalfPlaneSpec",
    "InitialSpec",
    "Isotropic",
    "LoadSpec",
    "MarginsSpec",
    "MaterialSpec",
    "MaxwellSpec",
    "MeshFile",
    "MeshSpec",
    "ModelSpec",
    "ObstacleSpec",
    "Orthotropic",
    "OutputSpec",
    "Parts",
    "PointForceSpec",
    "PolylineSpec",
    "PrescribedSpec",
    "PressureSpec",
    "PrestressSpec",
    "ProbeSpec",
    "Rectangle",
    "SchemeSpec",
    "SolverSpec",
    "Spec",
    "SpringSpec",
    "TimeSpec",
    "TractionSpec",
    "ValueSpec",
]


class CaseSpec(Spec):
    """A whole case file."""

    title: str = ""
    """One line on what is computed."""
    description: str = ""
    """What the case is about, with a sketch."""
    reference: str = ""
    """Where the data come from."""
    mesh: MeshSpec
    groups: dict[str, Group] = {}
    """Groups made by expressions, besides those of the mesh."""
    model: ModelSpec = ModelSpec()
    materials: dict[str, MaterialSpec] = Field(min_length=1)
    prescribed: dict[str, PrescribedSpec] = {}
    loads: dict[str, LoadSpec] = {}
    springs: dict[str, SpringSpec] = {}
    contact: dict[str, ContactSpec] = {}
    initial: dict[str, InitialSpec] = {}
    probes: dict[str, ProbeSpec] = {}
    prestress: PrestressSpec | None = None
    scheme: SchemeSpec = SchemeSpec()
    time: TimeSpec = TimeSpec()
    solver: SolverSpec = SolverSpec()
    output: OutputSpec = OutputSpec()
    checks: ChecksSpec = ChecksSpec()
    variants: dict[str, dict[str, Any]] = {}
    """Named sets of changes, such as {"scheme.theta" = 0.55}, that compare runs by default."""


NAMED_TABLES = (
    "groups",
    "materials",
    "prescribed",
    "loads",
    "springs",
    "contact",
    "initial",
    "probes",
)
"""Tables whose keys are names that the user chooses."""
