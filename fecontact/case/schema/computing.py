"""What a run does: start, scheme, time, solver, output."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from fecontact.case.schema.tables import Length, LengthValue, Spec, Time, Velocity, VelocityValue


class InitialSpec(Spec):
    on: str = ""
    """Group of nodes, edges or elements; all nodes where it is left out."""
    ux: LengthValue | None = None
    """Displacement along x at time 0: a number or an expression of x and y."""
    uy: LengthValue | None = None
    """Displacement along y at time 0."""
    vx: VelocityValue | None = None
    """Velocity along x at time 0."""
    vy: VelocityValue | None = None
    """Velocity along y at time 0."""


class ProbeSpec(Spec):
    on: str
    """Group of nodes, edges or elements."""
    quantity: Literal["ux", "uy", "vx", "vy"] = "uy"
    """Displacement or velocity, the mean over the nodes of the group."""


SCHEME_KEYS = {
    "quasi_static": set(),
    "theta": {"theta", "mass", "settle"},
    "newmark": {"beta", "gamma", "mass", "settle"},
    "implicit": {"tolerance", "max_iterations", "change", "dilatation"},
    "explicit": {
        "substeps",
        "max_substeps",
        "inertia",
        "fraction",
        "damping",
        "ratio",
        "masses",
        "detection",
        "dilatation",
    },
}


class SchemeSpec(Spec):
    name: Literal["quasi_static", "theta", "newmark", "implicit", "explicit"] = "quasi_static"
    """Time scheme: without mass, Moreau and Jean's, or Newmark's for comparison; implicit or
    explicit quasi-statics for bodies that move far or relax."""
    theta: float = Field(default=0.5, ge=0.5, le=1.0)
    """Scheme theta: 0.5 dissipates nothing, 1 most."""
    mass: Literal["consistent", "lumped"] = "consistent"
    """Schemes theta and newmark: the mass matrix."""
    beta: float = Field(default=0.25, gt=0, le=0.5)
    """Scheme newmark."""
    gamma: float = Field(default=0.5, ge=0.5, le=1.0)
    """Scheme newmark."""
    settle: bool = False
    """Schemes theta and newmark: start at rest in equilibrium with the loads of time 0, contacts
    included."""
    tolerance: float = Field(default=1e-9, gt=0, lt=1)
    """Scheme implicit: bound of out-of-balance forces, relative to the largest nodal force."""
    max_iterations: int = Field(default=25, ge=1)
    """Scheme implicit: Newton iterations after which a step is given up."""
    change: float = Field(default=1e-3, gt=0)
    """Scheme implicit: change of elastic strain over a step that adaptive steps aim at."""
    dilatation: Literal["nodal", "element"] = "nodal"
    """Schemes implicit and explicit: volume change of triangles, averaged over nodes or their own,
    which locks where shear relaxes."""
    substeps: int = Field(default=100, ge=1)
    """Scheme explicit: small steps in each step, at least."""
    max_substeps: int = Field(default=2000, ge=1)
    """Scheme explicit: small steps in each step, at most."""
    inertia: float = Field(default=1e-3, gt=0)
    """Scheme explicit: bound of out-of-balance over internal forces; beyond half of it more small
    steps are taken."""
    fraction: float = 0.8
    """Scheme explicit: small step over the critical one, at most 1; masses follow from it."""
    damping: Literal["viscous", "local"] = "viscous"
    """Scheme explicit: near-critical around the running mean velocity, or local non-viscous."""
    ratio: float | None = None
    """Scheme explicit: of critical damping (1), or of the out-of-balance force (0.8)."""
    masses: Literal["fictitious", "real"] = "fictitious"
    """Scheme explicit: masses from the stiffness and the step, or from the densities."""
    detection: int = Field(default=20, ge=1)
    """Scheme explicit: small steps between two searches for contacts."""

    @model_validator(mode="after")
    def _keys_of_the_scheme(self) -> SchemeSpec:
        known = SCHEME_KEYS[self.name]
        for key in sorted(self.model_fields_set - known - {"name"}):
            listed = ", ".join(sorted(known)) or "none"
            raise PydanticCustomError(
                "scheme",
                "{key} is not for the scheme {name}, whose keys are: {listed}",
                {"key": key, "name": repr(self.name), "listed": listed},
            )
        return self


class TimeSpec(Spec):
    end: Time = Field(default=1.0, gt=0)
    """Time at the end; the run starts at 0."""
    step: Time | None = Field(default=None, gt=0)
    """Step size; one step to the end where neither step nor steps is given."""
    steps: int | None = Field(default=None, ge=1, le=100_000_000)
    """Number of equal steps."""
    adaptive: bool = False
    """Repeat a step that fails at half the size, down to min_step."""
    min_step: Time | None = Field(default=None, gt=0)
    """Smallest adaptive step; a thousandth of the full one where it is left out."""


class MarginsSpec(Spec):
    gap: float | None = Field(default=None, ge=0)
    """Bound of penetrating normal velocities."""
    normal: float | None = Field(default=None, ge=0)
    """Bound of pulling impulses."""
    slip: float | None = Field(default=None, ge=0)
    """Bound of slip velocities inside the cone."""
    tangential: float | None = Field(default=None, ge=0)
    """Bound of impulses beyond the cone."""


class SolverSpec(Spec):
    name: str = "hybrid"
    """Friction solver: hybrid (sweeps, then Newton), nsgs, newton, or another of the family."""
    tolerance: float = Field(default=1e-10, gt=0, lt=1)
    """Bound of the dimensionless natural map."""
    max_iterations: int = Field(default=10_000, ge=1)
    """Limit of sweeps."""
    relaxation: float = Field(default=1.0, gt=0, lt=2)
    """Over- or under-relaxation of the sweeps."""
    seed: int = Field(default=0, ge=0)
    """Seed of the order of the sweeps."""
    margins: MarginsSpec = MarginsSpec()
    """Bounds on the violations of the laws, checked besides the natural map."""
    linear: Literal["auto", "multifrontal", "superlu", "pardiso", "cg"] = "auto"
    """How linear schemes solve their systems: the package's own factors, SuperLU, MKL PARDISO (the
    extra pardiso), conjugate gradients (the extra amg), or what suits."""


class FaultSpec(Spec):
    contact: str
    """Contact along the fault."""
    velocity: Velocity = Field(gt=0)
    """Velocity that sliding velocities are divided by."""
    surface: Length = 0.0
    """Level y that depths are measured from."""
    animation: bool = True
    """Draw the section over time as a GIF."""


class OutputSpec(Spec):
    every: int = Field(default=1, ge=1)
    """Steps between saved fields."""
    times: list[Time] = []
    """Times to save at instead, whatever the steps; steps are shortened to end there."""
    fields: bool = True
    """Write VTU files."""
    figures: bool = True
    """Draw PNG figures."""
    report: bool = True
    """Make the page report.html, to look at in a browser."""
    states: bool = True
    """Write saved steps in full with their certificates, for verify."""
    checkpoint_every: int | None = Field(default=None, ge=1)
    """Steps between checkpoints, from which resume goes on; by time alone where it is left out."""
    checkpoint_minutes: float = Field(default=5.0, ge=0)
    """Minutes of computation between checkpoints; 0 leaves them to checkpoint_every."""
    fault: FaultSpec | None = None
    """Figures and tables of a fault: sliding against depth, maps of the second invariants."""


class ChecksSpec(Spec):
    plausibility: bool = True
    """Tell numbers that are unlikely in SI units, such as gigapascals given as pascals."""
