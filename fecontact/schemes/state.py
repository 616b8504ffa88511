"""What a step starts from and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fecontact.contact import ContactState
from fecontact.schemes.energy import BALANCED, Energies
from fecontact.solvers.problem import FrictionProblem
from fecontact.solvers.report import Report
from fecontact.typing import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class State:
    """Displacements and velocities (ndof,) at a time, and what the next step starts from.

    `reactions` holds, for each contact, local forces (n_candidates, dim) by candidate, `sliding`
    which of them slid, `a` the acceleration where the scheme has one, `memory` what the points of
    the bodies have been through where the scheme keeps it.
    """

    t: float
    q: FloatArray
    v: FloatArray
    number: int = 0
    reactions: Mapping[str, FloatArray] = field(default_factory=dict)
    a: FloatArray | None = None
    sliding: Mapping[str, BoolArray] = field(default_factory=dict)
    energy: Energies = field(default_factory=Energies)
    memory: Any = None


@dataclass(frozen=True)
class Pace:
    """Size that the next step is to have, and how many have gone well since it was last changed."""

    wanted: float
    good: int = 0


@dataclass(frozen=True, eq=False)
class Place:
    """Where and when the contacts of a step, or of its last small step, were written.

    Attributes
    ----------
    q : (ndof,)
        Displacement in which gaps and frames were taken.
    w : (ndof,)
        Velocity that the laws are for.
    t, h
        Instant at which the contacts were looked for, and the time over which obstacles move.
    step
        Size of the step, or of the last small one.
    """

    q: FloatArray
    w: FloatArray
    t: float
    h: float
    step: float


@dataclass(frozen=True, eq=False)
class StepResult:
    """A converged step.

    Attributes
    ----------
    number, t, h
        Number of the step, time at its end, its size.
    state : State
        Where it ended.
    contacts : mapping of str to ContactState
        Every contact at the end.
    report : Report or None
        Of the friction solver; None where the model has no contact.
    external, contact_forces, support_forces : FloatArray (n, dim)
        Nodal forces over the step, in global axes: loads, contact reactions, reactions of
        prescribed motion.
    supports : mapping of str to FloatArray (dim,)
        Resultant of the reactions of each prescribed motion.
    balance : float
        Resultant of all forces, inertia included, relative to the sum of the nodal forces of the
        largest kind.
    energy : Energies
        Energies now, works and dissipations since the start.
    problem : FrictionProblem or None
        The friction problem that was solved, in impulses; None without contact, and in the steps
        that a run keeps, whose matrices would fill the memory.
    next_h : float or None
        Size that the scheme proposes for the next step, taken where steps are adaptive.
    stress, strain : FloatArray (n_points, 4) or None
        At the integration points where the scheme keeps them; otherwise they follow from the
        displacement by linear elasticity. Strains are logarithmic.
    measures : mapping of str to float
        What the scheme tells of itself, such as Newton's count; the same keys at every step.
    place : Place or None
        Where its contacts were written, for schemes that do not say it beforehand.
    before : State or None
        Where the step started; None for a step taken outside a run.
    pace : Pace or None
        How the run goes on from here; None for a step taken outside a run.
    """

    number: int
    t: float
    h: float
    state: State
    contacts: Mapping[str, ContactState]
    report: Report | None
    external: FloatArray
    contact_forces: FloatArray
    support_forces: FloatArray
    supports: Mapping[str, FloatArray]
    balance: float
    energy: Energies = field(default_factory=Energies)
    problem: FrictionProblem | None = None
    next_h: float | None = None
    stress: FloatArray | None = None
    strain: FloatArray | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    place: Place | None = None
    before: State | None = None
    pace: Pace | None = None

    @property
    def displacement(self) -> FloatArray:
        """Displacement of the nodes (n, dim)."""
        return self.state.q.reshape(self.external.shape)

    @property
    def velocity(self) -> FloatArray:
        """Velocity of the nodes (n, dim)."""
        return self.state.v.reshape(self.external.shape)


def relative_balance(
    forces: Mapping[str, FloatArray],
    internal: FloatArray,
    axisymmetric: bool = False,
    rounding: float = 0.0,
) -> float:
    """|sum of all forces| over the largest sum of magnitudes of one kind (0 where all vanish).

    Parameters
    ----------
    forces
        Nodal forces (n, dim) of each kind that should balance.
    internal
        Nodal forces (n, dim) whose resultant vanishes by itself; they count for the size only.
    axisymmetric
        Only along the axis: radial forces are held by hoop stresses and have no resultant.
    rounding
        Force that rounding alone may make; by itself it counts as balanced.
    """
    first = 1 if axisymmetric else 0
    total = np.linalg.norm(sum(f[:, first:].sum(axis=0) for f in forces.values()))
    sizes = (np.linalg.norm(f, axis=1).sum() for f in (*forces.values(), internal))
    largest = float(max(sizes)) + rounding / BALANCED
    return float(total / largest) if largest > 0.0 else 0.0
