"""Takes the steps of `Explicit`: what is kept from step to step, masses, contacts, results."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from fecontact.assembly.moving import Configuration
from fecontact.errors import InputError, NotConverged
from fecontact.materials.viscous_step import ViscousState
from fecontact.model import Model
from fecontact.schemes.contact import Detected, Solved, carried
from fecontact.schemes.explicit import Explicit
from fecontact.schemes.explicit_kernel import (
    LOCAL,
    VISCOUS,
    Bodies,
    Contacts,
    Drive,
    Motion,
    Points,
    explicit_steps,
)
from fecontact.schemes.moving import MovingStepper
from fecontact.schemes.state import Place, State, StepResult
from fecontact.solvers import FrictionProblem, Options
from fecontact.solvers.report import finish
from fecontact.timing import Phases
from fecontact.typing import FloatArray

# sweeps over the contacts in a small step, and the change over one, relative to the tolerance of
# the natural map, at which they end
_SWEEPS, _SETTLED = 500, 0.1
# most by which the number of small steps changes from one step to the next
_CHANGE = 2.0


@dataclass(frozen=True, eq=False)
class Memory:
    """What an explicit step leaves to the next.

    Attributes
    ----------
    configuration
        Of the bodies.
    substeps
        Number of small steps to take next.
    v, mean_v : (ndof,)
        Velocity in the last small step, and its running mean. `State.v` is the mean over a step.
    contact : (ndof,)
        Contact forces of the last small step.
    frequency
        Of the motion around its mean.
    """

    configuration: Configuration
    substeps: int
    v: FloatArray
    mean_v: FloatArray
    contact: FloatArray
    frequency: float = 0.0


class ExplicitStepper(MovingStepper):
    """Takes steps of `Explicit`."""

    def __init__(self, scheme: Explicit, model: Model, options: Options, phases: Phases) -> None:
        super().__init__(model, options, phases, scheme.dilatation)
        self.scheme = scheme
        solid = model.solid
        if model.constraints.rotation is not None:
            raise InputError("prescribed: the explicit scheme has no turned axes (angle)")
        if len(solid.blocks) != 1:
            raise InputError(
                "the explicit scheme needs elements of one kind, and the mesh has "
                + " and ".join(block.kind + "s" for block in solid.blocks)
            )
        for interface in model.interfaces:
            laws = interface.laws
            simple = laws.has("coulomb") | laws.has("frictionless")
            soft = laws.compliance.any() or laws.mobility.any()
            if not simple.all() or (laws.dynamic < laws.friction).any() or soft:
                raise InputError(
                    f"contact.{interface.name}: the explicit scheme knows Coulomb's law with one "
                    "coefficient; use the scheme 'implicit' for others"
                )
        block = solid.blocks[0]
        average = self.body.average
        patches = average.patches if average is not None and block.kind == "triangle" else None
        self._block = block
        self._patches = np.zeros((0, 3), dtype=np.int64) if patches is None else patches
        self._n_patches = average.n_patches if average is not None and patches is not None else 0
        fixed = np.zeros(model.n_dofs, dtype=np.bool_)
        fixed[model.constraints.fixed] = True
        self._fixed = fixed

    def start(self) -> State:
        """Undeformed and at rest, with the initial stress."""
        state = super().start()
        rest = np.zeros(self.model.n_dofs)
        return replace(state, memory=Memory(state.memory, self.scheme.substeps, rest, rest, rest))

    def prepare(self, h: float) -> None:
        """Refuse small steps beyond the explicit limit."""
        small = h / self.scheme.substeps
        shortest = float(self.body.rheology.time.min())
        if small > shortest:
            raise InputError(
                f"time.step: small steps of {small:.4g} ({self.scheme.substeps} in each step of "
                f"{h:.4g}) are longer than the explicit limit, the shortest relaxation time "
                f"{shortest:.4g}; take shorter steps or more scheme.substeps"
            )
        self._masses(self.first(), small)

    def step(self, state: State, h: float) -> StepResult:
        """One step of size h, in small ones.

        Raises
        ------
        InvertedElement
            An element turned inside out.
        NotConverged
            The motion has become infinite, or the friction problem of the last small step was not
            solved; `best` is then the step as it is.
        """
        model, scheme, memory = self.model, self.scheme, state.memory
        constraints = model.constraints
        configuration: Configuration = memory.configuration
        count = int(memory.substeps)
        small = h / count
        with self.phases("assembly"):
            mass = self._masses(configuration, small)
            decay, factor = self.body.law.coefficients(small)
        with self.phases("loads"):
            before, after = model.external(state.t), model.external(state.t + h)
        velocity = np.zeros(model.n_dofs)
        velocity[constraints.fixed] = constraints.velocity(
            state.q[constraints.fixed], state.t + h, h, state.t + h, mean=h
        )
        motion = Motion(
            configuration.positions.ravel().copy(),
            memory.v.copy(),
            memory.mean_v.copy(),
            self.body.forces(configuration),
            memory.contact.copy(),
            np.array([memory.frequency]),
        )
        material = configuration.material
        points = Points(configuration.F.copy(), material.mean.copy(), material.deviators.copy())
        bodies = self._bodies(decay, factor)
        worst = last = 0.0
        sweeps, done, warm = 0, 0, state
        while done < count:
            part = min(self.scheme.detection, count - done)
            with self.phases("detection"):
                # where bodies, at the velocity they have, and obstacles are half way
                half = 0.5 * part * small
                there = (motion.x + half * motion.v).reshape(-1, 2)
                instant = state.t + done * small + half
                detected = self.detect(there, instant, half)
                contacts = self._contacts(detected, warm, there, mass, small)
            load = before + (done / count) * (after - before)
            rise = before + ((done + part) / count) * (after - before)
            drive = Drive(
                load,
                rise,
                self.ground.springs,
                self.ground.beds,
                self.body.solid.coordinates.ravel(),
                self._fixed,
                velocity,
                mass,
            )
            with self.phases("steps"):
                inverted, largest, last, most = explicit_steps(
                    part,
                    small,
                    bodies,
                    points,
                    motion,
                    drive,
                    contacts,
                    LOCAL if scheme.damping == "local" else VISCOUS,
                    scheme.damping_ratio,
                    _SWEEPS,
                    _SETTLED * self.options.tolerance,
                )
            if inverted >= 0:
                element = self._block.first_element + inverted
                raise self.body.inverted(element, configuration.positions)
            worst, sweeps, done = max(worst, largest), max(sweeps, most), done + part
            warm = replace(state, reactions=self.by_candidate(detected, contacts.r / small))
            if not np.isfinite(worst):
                raise NotConverged(
                    f"the explicit motion has become infinite in a step of {count} small ones; "
                    "take a smaller scheme.fraction or more scheme.substeps"
                )
        end = Configuration(
            motion.x.reshape(-1, 2), points.F, ViscousState(points.mean, points.deviators)
        )
        solved = self._told(contacts, detected, count, sweeps)
        supports = np.zeros(model.n_dofs)
        q = (end.positions - self.first().positions).ravel()
        total = after - motion.internal + self.spring_forces(q) + motion.contact
        supports[self._fixed] = -total[self._fixed]
        inertia = np.where(self._fixed, 0.0, total)
        v = (q - state.q) / h
        u = detected.H.T @ v - detected.stacked.drift
        result = self.result(
            state,
            h,
            end,
            v,
            after,
            motion.internal,
            motion.contact,
            supports,
            inertia,
            detected,
            solved,
            u,
            {
                "inertia_ratio": worst,
                "inertia_ratio_at_end": last,
                "substeps": float(count),
                "sweeps": float(sweeps),
            },
        )
        memory = Memory(end, self._next(count, worst), motion.v, motion.mean_v, motion.contact)
        memory = replace(memory, frequency=float(motion.frequency[0]))
        place = (there - self.first().positions).ravel()
        result = replace(
            result,
            state=replace(result.state, memory=memory),
            place=Place(place, motion.v.copy(), instant, half, small),
        )
        if solved.failure is not None:
            failure = solved.failure.told(str(solved.failure))
            failure.best = result
            raise failure from solved.failure
        return result

    def _next(self, count: int, worst: float) -> int:
        """Number of small steps for the next step: inertia falls with the square of their size."""
        wanted = count * math.sqrt(worst / (0.5 * self.scheme.inertia))
        wanted = min(max(wanted, count / _CHANGE), count * _CHANGE)
        return int(min(max(math.ceil(wanted), self.scheme.substeps), self.scheme.max_substeps))

    def _masses(self, configuration: Configuration, small: float) -> FloatArray:
        """Lumped masses (ndof,), equal in both directions of a node."""
        moved = self.body.move(configuration, np.zeros(self.model.n_dofs), small)
        stiffness = self.body.tangent(moved)
        springs = self.spring_tangent(configuration.positions)
        if springs is not None:
            stiffness = sparse.csr_array(stiffness + springs)
        rows = abs(stiffness) @ np.ones(self.model.n_dofs)
        # local damping pulls back with up to 1 + ratio times the force, as more stiffness would
        pull = 1.0 + self.scheme.damping_ratio if self.scheme.damping == "local" else 1.0
        sums = pull * np.repeat(rows.reshape(-1, 2).max(axis=1), 2)
        if self.scheme.masses == "fictitious":
            return np.asarray(sums * (0.5 * small / self.scheme.fraction) ** 2)
        mass = self.model.assembler.lumped_masses()
        limit = float(2.0 * np.sqrt((mass / sums).min()))
        if small > self.scheme.fraction * limit:
            raise InputError(
                f"time.step: small steps of {small:.4g} are longer than the explicit limit "
                f"{self.scheme.fraction * limit:.4g} ({self.scheme.fraction:g} of the critical "
                "step of the real masses); take shorter steps, more scheme.substeps, or "
                'scheme.masses = "fictitious"'
            )
        return mass

    def _bodies(self, decay: FloatArray, factor: FloatArray) -> Bodies:
        block, rheology = self._block, self.body.rheology
        return Bodies(
            block.cells,
            block.N,
            block.dN,
            block.weights,
            block.kinematics.axisymmetric,
            block.kinematics.thickness,
            rheology.bulk,
            decay,
            factor,
            rheology.jaumann,
            self._patches,
            self._n_patches,
        )

    def _contacts(
        self, detected: Detected, state: State, there: FloatArray, mass: FloatArray, small: float
    ) -> Contacts:
        rows = sparse.csr_array(detected.H.T)
        inverse = np.where(self._fixed, 0.0, 1.0 / mass)
        W = np.asarray((rows @ sparse.diags_array(inverse) @ rows.T).toarray())
        offset = detected.stacked.offset
        return Contacts(
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int64),
            np.ascontiguousarray(rows.data, dtype=np.float64),
            np.ascontiguousarray(W),
            np.ascontiguousarray(detected.laws.friction),
            np.ascontiguousarray(offset),
            there.ravel().copy(),
            np.ascontiguousarray(detected.stacked.drift),
            small * carried(self.model, detected, state),
            np.zeros(len(offset)),
            np.zeros(len(offset)),
        )

    def _told(self, contacts: Contacts, detected: Detected, count: int, sweeps: int) -> Solved:
        """The last friction problem with the certificate of its solution."""
        friction = detected.laws.friction
        if len(detected) == 0:
            return Solved(np.zeros(0), friction)
        problem = FrictionProblem(contacts.W, contacts.q, contacts.mu, 2)
        failure: NotConverged | None = None
        try:
            report = finish(problem, contacts.solution, self.options, "nsgs", sweeps).report
        except NotConverged as error:
            failure, report = error, error.report
        # impulses of the whole step, as the results count them
        return Solved(count * contacts.r, friction, problem, report, failure)
