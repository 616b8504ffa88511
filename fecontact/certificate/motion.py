"""Equations of motion of the schemes, written for a finished step.

Every scheme balances  M a + C v + f(q) = F + supports + contacts  with a, v, q and F at some place
of the step. f comes from the stresses at the integration points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from fecontact.assembly.averaging import Dilatation
from fecontact.assembly.moving import Configuration, MovingBody
from fecontact.certificate.saved import SavedStep
from fecontact.certificate.verdict import BALANCE
from fecontact.materials.viscous_step import ViscousState
from fecontact.model import Model
from fecontact.schemes import Explicit, Implicit, Newmark, Place, QuasiStatic, Scheme, Theta
from fecontact.schemes.beds import Ground
from fecontact.typing import FloatArray

ROUNDING = 2e-13
"""What sums of a thousand terms may lose, relative to the terms."""


def rounding_of(*terms: FloatArray) -> FloatArray:
    """Rounding of a sum of vectors, by entry."""
    return ROUNDING * np.asarray(sum(np.abs(t) for t in terms))


@dataclass(frozen=True, eq=False)
class Written:
    """A finished step in the equations of its scheme; vectors are (ndof,) in global axes.

    Attributes
    ----------
    forces
        Loads, inertia, damping and springs.
    internal
        Forces that hold the stresses.
    rounding
        What the balance of forces may miss by rounding alone.
    ahead, theta
        Where in the step prescribed motion is reckoned from, and the part of the end's velocity in
        the displacement.
    mean
        Whether prescribed velocities count by their mean over the step.
    place
        Where and when the contacts are found, with the velocity that they and prescribed motion are
        written for.
    back
        Displacement and time from there to the start of the step that the laws are about; None
        where this is the place itself.
    moved
        Displacement over the step.
    kinematics
        Defects of the relations of displacement, velocity and acceleration, each with the factor
        that makes it a displacement.
    energies
        Stored energies before and after, by kind.
    works
        Forces whose work over `moved` counts, besides supports and contacts.
    loss
        Dissipated by damping and by the scheme; None where the scheme has no balance.
    elastic
        Elastic energy at the end.
    resistance
        Force by velocity of each dof alone.
    misplaced
        Displacement (ndof,) that is lost where positions are kept instead of displacements; empty
        where displacements are kept.
    stretch
        Difference (n_points,) of the strains kept by points with a memory from those of the
        displacements, relative to the largest; empty without a memory.
    fictitious
        Whether the scheme leaves out-of-balance forces to masses that are not there.
    """

    forces: Mapping[str, FloatArray]
    internal: FloatArray
    rounding: FloatArray
    ahead: float
    theta: float
    mean: bool
    place: Place
    back: tuple[FloatArray, float] | None
    moved: FloatArray
    kinematics: tuple[tuple[FloatArray, float], ...]
    energies: tuple[tuple[float, float], ...]
    works: Mapping[str, FloatArray]
    loss: float | None
    elastic: float
    resistance: FloatArray
    misplaced: FloatArray = field(default_factory=lambda: np.zeros(0))
    stretch: FloatArray = field(default_factory=lambda: np.zeros(0))
    fictitious: bool = False


class _Bodies:
    """Forces of the bodies of a model; matrices are for inertia and for bounds of rounding."""

    def __init__(self, model: Model) -> None:
        self.model = model
        solid, assembler = model.solid, model.assembler
        self.springs = model.spring_stiffness
        self.stiffness_size = abs(assembler.stiffness())
        self.stiffness_diagonal = self.stiffness_size.diagonal() + self.springs
        self.damped = any(not m.damping.is_zero for m in solid.materials.values())
        alphas = np.array([m.damping.rayleigh_mass for m in solid.materials.values()])
        self.mass_damped = bool(alphas.any())
        self._mass: dict[bool, sparse.csr_array] = {}

    def elastic(self, q: FloatArray) -> FloatArray:
        return self.model.assembler.internal_forces(q)

    def mass(self, lumped: bool) -> sparse.csr_array:
        if lumped not in self._mass:
            self._mass[lumped] = self.model.assembler.mass(lumped=lumped)
        return self._mass[lumped]

    def viscous(self, v: FloatArray, lumped: bool) -> FloatArray:
        solid, assembler = self.model.solid, self.model.assembler
        if not self.damped:
            return np.zeros_like(v)
        rates = solid.strains(v)
        stress = np.empty_like(rates)
        for region, D in zip(solid.regions, solid.viscosities(), strict=True):
            stress[region.points] = rates[region.points] @ D.T
        forces = assembler.nodal_forces(stress)
        if self.mass_damped:
            # the share of mass has no stresses: what is left of C without viscosities
            C = assembler.damping(lumped=lumped)
            K = assembler.tangent(solid.viscosities()[solid.element_material][solid.point_element])
            forces = forces + (C - K) @ v
        return forces

    def resistance(self, h: float, lumped: bool, inertia: bool) -> FloatArray:
        """Diagonal of M/h + h K."""
        diagonal = h * self.stiffness_diagonal
        return diagonal + self.mass(lumped).diagonal() / h if inertia else diagonal


_BODIES: WeakKeyDictionary[Model, _Bodies] = WeakKeyDictionary()


def _bodies(model: Model) -> _Bodies:
    if model not in _BODIES:
        _BODIES[model] = _Bodies(model)
    return _BODIES[model]


def written(model: Model, scheme: Scheme, step: SavedStep) -> Written | None:
    """The step in the equations of its scheme; None for a scheme that is not known here."""
    if isinstance(scheme, QuasiStatic):
        return _theta(model, step, 1.0, inertia=False, lumped=False)
    if isinstance(scheme, Theta):
        return _theta(model, step, scheme.theta, inertia=True, lumped=scheme.lumped)
    if isinstance(scheme, Newmark):
        return _newmark(model, step, scheme)
    if isinstance(scheme, Implicit | Explicit):
        return _moving(model, step, scheme)
    return None


def _theta(model: Model, step: SavedStep, theta: float, *, inertia: bool, lumped: bool) -> Written:
    h, bodies = step.h, _bodies(model)
    q = theta * step.q + (1.0 - theta) * step.q_before
    v = theta * step.v + (1.0 - theta) * step.v_before
    moved, sped = step.q - step.q_before, step.v - step.v_before
    F = theta * model.external(step.t)
    if theta < 1.0:
        F = F + (1.0 - theta) * model.external(step.t - h)
    viscous = bodies.viscous(v, lumped)
    stretch = bodies.elastic(moved) + bodies.springs * moved
    loss = h * float(v @ viscous) + (theta - 0.5) * float(moved @ stretch)
    forces = {"loads": F, "damping": -viscous, "springs": -bodies.springs * q}
    elastic = (_elastic(bodies, step.q_before), _elastic(bodies, step.q))
    energies = [elastic]
    rounding = bodies.stiffness_size @ (np.abs(step.q) + np.abs(step.q_before) + h * np.abs(v))
    rounding += np.abs(F) + bodies.springs * np.abs(step.q)
    if inertia:
        M = bodies.mass(lumped)
        forces["inertia"] = -(M @ sped) / h
        energies.append((_kinetic(M, step.v_before), _kinetic(M, step.v)))
        loss += (theta - 0.5) * float(sped @ (M @ sped))
        rounding += abs(M) @ (np.abs(step.v) + np.abs(step.v_before)) / h
    if bodies.damped:
        rounding += np.abs(viscous)
    return Written(
        forces=forces,
        internal=bodies.elastic(q),
        rounding=ROUNDING * rounding,
        ahead=h * (1.0 - theta),
        theta=theta,
        mean=not inertia,
        place=Place(
            step.q_before + h * (1.0 - theta) * step.v_before, step.v, step.t - theta * h, h, h
        ),
        back=None,
        moved=moved,
        kinematics=((moved - h * v, 1.0),),
        energies=tuple(energies),
        works={"loads": F},
        loss=loss,
        elastic=elastic[1],
        resistance=bodies.resistance(h, lumped, inertia),
    )


def _newmark(model: Model, step: SavedStep, scheme: Newmark) -> Written | None:
    h, bodies, beta, gamma = step.h, _bodies(model), scheme.beta, scheme.gamma
    a0, a1 = step.a_before, step.a
    if a0 is None or a1 is None:
        return None
    moved = step.q - step.q_before
    sped = step.v - step.v_before
    F = model.external(step.t)
    M = bodies.mass(scheme.lumped)
    viscous = bodies.viscous(step.v, scheme.lumped)
    rounding = bodies.stiffness_size @ (np.abs(step.q) + np.abs(step.q_before))
    rounding += np.abs(F) + np.abs(viscous) + bodies.springs * np.abs(step.q)
    rounding += abs(M) @ (np.abs(a0) + np.abs(a1) + (np.abs(step.v) + np.abs(step.v_before)) / h)
    by_motion = abs(M) @ (np.abs(step.q) + np.abs(step.q_before)) / (beta * h**2)
    elastic = (_elastic(bodies, step.q_before), _elastic(bodies, step.q))
    return Written(
        forces={
            "loads": F,
            "damping": -viscous,
            "springs": -bodies.springs * step.q,
            "inertia": -(M @ a1),
        },
        internal=bodies.elastic(step.q),
        rounding=ROUNDING * (rounding + 1e-2 * by_motion),
        ahead=0.0,
        theta=1.0,
        mean=False,
        place=Place(step.q_before, moved / h, step.t - h, h, h),
        back=None,
        moved=moved,
        kinematics=(
            (moved - h * step.v_before - h**2 * ((0.5 - beta) * a0 + beta * a1), 1.0),
            (sped - h * ((1.0 - gamma) * a0 + gamma * a1), h),
        ),
        energies=(elastic,),
        works={"loads": F},
        loss=None,
        elastic=elastic[1],
        resistance=bodies.resistance(h, scheme.lumped, True),
    )


def _moving(model: Model, step: SavedStep, scheme: Implicit | Explicit) -> Written | None:
    """Bodies that move and relax, with what their points keep.

    Implicit: the stresses follow anew from those at the start of the step. Explicit: those at the
    end are taken, since the many small steps that led there are not in the files.
    """
    points, place, h = step.points, step.place, step.h
    if points is None or place is None:
        return None
    implicit = isinstance(scheme, Implicit)
    nodes = model.mesh.nodes
    body, ground = _moving_bodies(model, scheme.dilatation)
    q = step.q_before if implicit else step.q
    kept = Configuration(
        nodes + q.reshape(nodes.shape),
        points["F"],
        ViscousState(points["mean"], points["deviators"]),
    )
    moved = step.q - step.q_before
    internal = body.move(kept, moved, h).forces if implicit else body.forces(kept)
    F = model.external(step.t)
    bodies = _bodies(model)
    rounding = bodies.stiffness_size @ (np.abs(step.q) + np.abs(step.q_before))
    begins = step.q - place.step * place.w
    return Written(
        forces={"loads": F, "springs": ground.forces(step.q)},
        internal=internal,
        # stresses have the rounding of the positions that they come from, a step at a time
        rounding=ROUNDING * (np.abs(F) + np.abs(internal) + 1e-3 * rounding),
        ahead=0.0,
        theta=1.0,
        mean=True,
        place=place,
        back=(begins - place.q, step.t - place.step - place.t),
        moved=moved,
        kinematics=((moved - h * step.v, 1.0),),
        energies=(),
        works={"loads": F},
        loss=None,
        elastic=0.0,
        resistance=place.step * bodies.stiffness_diagonal,
        # the positions at both ends of the step are rounded
        misplaced=2.0 * np.spacing(np.abs(nodes.ravel()) + np.abs(step.q) + np.abs(step.q_before)),
        stretch=_stretch(model, q, points["F"]),
        fictitious=not implicit,
    )


def _stretch(model: Model, q: FloatArray, F: FloatArray) -> FloatArray:
    strains = model.solid.strains(q)
    kept = np.column_stack([F[:, 0] - 1.0, F[:, 3] - 1.0, F[:, 4] - 1.0, F[:, 1] + F[:, 2]])
    # gradients are products of those of the steps: a thousand roundings near 1
    size = max(float(np.abs(strains).max()), 1e-12 / BALANCE)
    return np.asarray(np.abs(strains - kept).max(axis=1) / size)


_MOVING: WeakKeyDictionary[Model, dict[Dilatation, tuple[MovingBody, Ground]]] = WeakKeyDictionary()


def _moving_bodies(model: Model, dilatation: Dilatation) -> tuple[MovingBody, Ground]:
    kept = _MOVING.setdefault(model, {})
    if dilatation not in kept:
        kept[dilatation] = MovingBody(model.assembler, dilatation), Ground(model)
    return kept[dilatation]


def _elastic(bodies: _Bodies, q: FloatArray) -> float:
    return 0.5 * float(q @ (bodies.elastic(q) + bodies.springs * q))


def _kinetic(M: sparse.csr_array, v: FloatArray) -> float:
    return 0.5 * float(v @ (M @ v))
