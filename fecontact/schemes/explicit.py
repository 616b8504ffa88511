"""Explicit quasi-statics with fictitious masses, implicit in the reactions of contact.

A step of the run is cut into small ones of size h. Over each, with lumped masses m,

    m (v' - v) = h (F - f + damping) + H r,    x' = x + h v',

and the laws of contact hold for v' (W = Hᵀ m⁻¹ H, nearly diagonal, solved by Gauss-Seidel). The
masses are not those of the bodies: they are chosen from the rows of the stiffness,

    m_i = h² Σ_j |K_ij| / (4 fraction²),

so that h is a fixed fraction of the critical step, and renewed with geometry and stiffness at every
step of the run; with local damping they are 1 + ratio times that. Gravity acts on the true mass.
Inertia is then an error, which grows with h²: the ratio of out-of-balance to internal forces is
told, and more small steps are taken where it is beyond its bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from fecontact.assembly.averaging import Dilatation
from fecontact.errors import InputError, choices
from fecontact.model import Model
from fecontact.solvers import Options
from fecontact.timing import Phases

if TYPE_CHECKING:
    from fecontact.schemes.explicit_stepper import ExplicitStepper

DampingKind = Literal["local", "viscous"]
DAMPINGS: tuple[DampingKind, ...] = get_args(DampingKind)
MassKind = Literal["fictitious", "real"]
MASSES: tuple[MassKind, ...] = get_args(MassKind)


@dataclass(frozen=True)
class Explicit:
    """Explicit quasi-statics with finite motion and viscoelasticity.

    Parameters
    ----------
    substeps
        Small steps in each step of the run, at the start and at least.
    max_substeps
        At most; the bound of the inertia ratio may ask for more than `substeps`.
    inertia
        Bound of the ratio of out-of-balance to internal forces.
    fraction
        Part of the critical step that a small step is, at most 1.
    damping
        ``"viscous"``: opposed to the velocity around its running mean, `ratio` of critical at the
        frequency that the motion has; it does not brake steady motion.
        ``"local"``: opposed to the velocity, `ratio` of the out-of-balance force (less than 1).
    ratio
        1 for viscous damping and 0.8 for local where it is left out.
    masses
        ``"fictitious"``, or ``"real"``: those of the densities, with their own critical step.
    detection
        Small steps between two in which contacts are looked for anew.
    dilatation
        As of `Implicit`.
    """

    substeps: int = 100
    max_substeps: int = 2000
    inertia: float = 1e-3
    fraction: float = 0.8
    damping: DampingKind = "viscous"
    ratio: float | None = None
    masses: MassKind = "fictitious"
    detection: int = 20
    dilatation: Dilatation = "nodal"

    name = "explicit"
    measures = ("inertia_ratio", "inertia_ratio_at_end", "substeps", "sweeps")

    def __post_init__(self) -> None:
        for key, value, known in (
            ("damping", self.damping, DAMPINGS),
            ("masses", self.masses, MASSES),
        ):
            if value not in known:
                raise InputError(
                    f"scheme.{key}: {value!r} is not a choice; {choices(str(value), known)}"
                )
        if not 1 <= self.substeps <= self.max_substeps:
            raise InputError(
                f"scheme.substeps: {self.substeps} must be at least 1 and at most max_substeps = "
                f"{self.max_substeps}"
            )
        if self.detection < 1:
            raise InputError(f"scheme.detection: {self.detection} must be at least 1")
        if not 0.0 < self.fraction <= 1.0:
            raise InputError(
                f"scheme.fraction: {self.fraction:g} makes a step longer than the explicit limit; "
                "it must be more than 0 and at most 1"
            )
        if not self.inertia > 0.0:
            raise InputError(f"scheme.inertia: {self.inertia:g} must be more than 0")
        if self.damping == "local" and not 0.0 <= self.damping_ratio < 1.0:
            raise InputError(f"scheme.ratio: {self.ratio:g} must be at least 0 and less than 1")
        if not (np.isfinite(self.damping_ratio) and self.damping_ratio >= 0.0):
            raise InputError(f"scheme.ratio: {self.ratio:g} must be at least 0")

    @property
    def damping_ratio(self) -> float:
        """`ratio`, or its default."""
        if self.ratio is not None:
            return self.ratio
        return 1.0 if self.damping == "viscous" else 0.8

    def stepper(self, model: Model, options: Options, phases: Phases) -> ExplicitStepper:
        """What takes the steps."""
        from fecontact.schemes.explicit_stepper import ExplicitStepper

        return ExplicitStepper(self, model, options, phases)
