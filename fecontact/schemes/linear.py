"""What the implicit schemes of linear bodies share: matrices, the step, and its results.

Each scheme writes its step as  A w = b + H r  with its own A and b, w a velocity: v_{k+1} in the
theta scheme, (q_{k+1} - q_k)/h in Newmark's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from fecontact.errors import InputError
from fecontact.model import Model
from fecontact.schemes.contact import Detected, Solved, Timing, detect, results, solve_contacts
from fecontact.schemes.energy import Energies
from fecontact.schemes.state import State, StepResult, relative_balance
from fecontact.schemes.system import Systems, expected_memory
from fecontact.solvers import Options
from fecontact.solvers.memory import Estimate
from fecontact.timing import Phases
from fecontact.typing import FloatArray

# roundings in a row of K q and of the solution that it is a check of
_TERMS = 16.0


@dataclass(frozen=True, eq=False)
class Motion:
    """Where a step arrives, in turned axes: displacement, velocity, acceleration (ndof,)."""

    q: FloatArray
    v: FloatArray
    a: FloatArray | None = None


class LinearStepper(ABC):
    """Takes steps; keeps factors and W while nothing they depend on changes.

    Parameters
    ----------
    model, options, phases
        What to compute, how to solve its contacts, and the clock.
    inertia
        Whether there is mass.
    lumped
        Take the mass lumped.
    """

    def __init__(
        self, model: Model, options: Options, phases: Phases, *, inertia: bool, lumped: bool = False
    ) -> None:
        self.model, self.options, self.phases = model, options, phases
        self.inertia, self.lumped = inertia, lumped
        constraints = model.constraints
        for name, material in model.solid.materials.items():
            if material.relaxes:
                raise InputError(
                    f"materials.{name}: {type(material).__name__} has a history, which this scheme "
                    "does not follow; use the scheme 'implicit' or 'explicit'"
                )
        if model.prestress is not None:
            raise InputError(
                "prestress: this scheme starts without stress; use the scheme 'implicit' or "
                "'explicit'"
            )
        with phases("assembly"):
            assembler = model.assembler
            K = assembler.stiffness()
            springs = sparse.diags_array(model.spring_stiffness, format="csr")
            self.K = constraints.turned(sparse.csr_array(K + springs) if model.springs else K)
            self.C = constraints.turned(assembler.damping(lumped=lumped))
            mass = assembler.mass(lumped=lumped) if inertia else sparse.csr_array(K.shape)
            self.M = constraints.turned(mass)
            self._springs = constraints.turned(sparse.csr_array(springs)) if model.springs else None
            self._shifts = _translations(model) if inertia else None
            # rounding of K q by displacement: its terms are of the size of the diagonal
            self._rounding = _TERMS * np.finfo(float).eps * np.abs(self.K.diagonal())
        if inertia and not (self.M.diagonal() > 0.0).all():
            node = int(np.argmin(self.M.diagonal())) // model.mesh.dim
            raise InputError(
                f"the scheme needs mass and node {node} has none: give every material a density, "
                "or use the scheme 'quasi_static'"
            )
        # without mass a body that only glue holds has a singular K: the glue's equation, times a
        # stiffness, is added to that of motion, which changes nothing where it holds
        G = constraints.to_turned(model.glue)
        self.glue = None if inertia or not G.shape[1] else G
        self.systems = Systems(model, phases, self._glued_matrix, options.linear)

    def stiff(self, q: FloatArray) -> FloatArray:
        """K q of a displacement (ndof,), turned axes, without the shift of each body as a whole.

        Far from where it started the rounding of K times the shift would push a stiff body that
        nothing holds.
        """
        if self._shifts is None:
            return np.asarray(self.K @ q)
        shift = self._shifts @ (self._shifts.T @ q)
        forces = self.K @ (q - shift)
        return np.asarray(forces if self._springs is None else forces + self._springs @ shift)

    # what a scheme is

    @abstractmethod
    def timing(self, h: float) -> Timing:
        """Where in the step the contacts are written."""

    @abstractmethod
    def matrix(self, h: float) -> sparse.csr_array:
        """A (ndof, ndof)."""

    @abstractmethod
    def right_side(self, before: Motion, F: FloatArray, h: float) -> FloatArray:
        """Vector b (ndof,) for loads F over the step, all in turned axes."""

    @abstractmethod
    def loads(self, t: float, h: float) -> FloatArray:
        """Load vector (ndof,) of the step [t, t + h], in global axes."""

    @abstractmethod
    def advance(self, before: Motion, w: FloatArray, h: float) -> Motion:
        """Where the step arrives with the unknown w."""

    @abstractmethod
    def middle(self, before: Motion, after: Motion) -> tuple[FloatArray, FloatArray]:
        """Displacement and velocity at which the forces of the step are taken."""

    @abstractmethod
    def numerical_dissipation(self, before: Motion, after: Motion) -> float | None:
        """What the scheme dissipates in a step; None where only the balance can tell."""

    # the step

    def _glue_stiffness(self, h: float) -> float:
        return h**2 * float(self.K.diagonal().mean())

    def _glued_matrix(self, h: float) -> sparse.csr_array:
        A = self.matrix(h)
        if self.glue is None:
            return A
        return sparse.csr_array(A + self._glue_stiffness(h) * (self.glue @ self.glue.T))

    def start(self) -> State:
        """Initial displacements and velocities at time 0."""
        q, v = self.model.initial_motion
        before = Motion(*map(self.model.constraints.to_turned, (q, v)))
        a = self.first_acceleration(before)
        return State(t=0.0, q=q, v=v, a=a, energy=self.stored(before))

    def first_acceleration(self, before: Motion) -> FloatArray | None:
        """Acceleration at time 0 (ndof,) in global axes, where the scheme needs it."""
        return None

    def memory(self, h: float) -> Estimate:
        """Memory that the factors for steps of size h would take."""
        return expected_memory(self.model, self.K)

    def prepare(self, h: float) -> None:
        """Factorise for steps of size h, so that a singular system is found before the first."""
        self.systems.of(h)

    def step(self, state: State, h: float) -> StepResult:
        """One step of size h.

        Raises
        ------
        NotConverged
            The friction problem was not solved; `best` is the step with its best iterate.
        Tunnelling
            A candidate went through a body.
        """
        model, constraints = self.model, self.model.constraints
        system, timing = self.systems.of(h), self.timing(h)
        free, fixed = constraints.free, constraints.fixed
        before = Motion(
            constraints.to_turned(state.q),
            constraints.to_turned(state.v),
            None if state.a is None else constraints.to_turned(state.a),
        )
        with self.phases("loads"):
            F = self.loads(state.t, h)
        with self.phases("detection"):
            ahead = state.q + timing.ahead * state.v
            positions = model.mesh.nodes + ahead.reshape(model.mesh.nodes.shape)
            detected = self.detect(positions, state.t + timing.ahead, h)
        with self.phases("free motion"):
            b = self.right_side(before, constraints.to_turned(F), h)
            if self.glue is not None:
                b -= self._glue_stiffness(h) * (self.glue @ _glue_rate(detected, h))
            free_motion = np.zeros_like(b)
            free_motion[fixed] = self.given_velocity(before, state.t, timing)
            known = system.coupling @ free_motion[fixed]
            free_motion[free] = system.factors.solve(b[free] - known)
        solved = solve_contacts(
            model,
            detected,
            state,
            free_motion,
            before.v,
            timing,
            lambda H: self.systems.delassus(system, H),
            self.options,
            self.phases,
        )
        with self.phases("free motion"):
            impulse = detected.H @ solved.r
            w = free_motion.copy()
            if solved.r.any():
                w[free] += system.factors.solve(impulse[free])
            supports = np.zeros_like(b)
            supports[fixed] = ((system.matrix @ w - b - impulse) / h)[fixed]
            after = self.advance(before, w, h)
        result = self._result(state, h, before, after, F, impulse / h, supports, detected, solved)
        if solved.failure is not None:
            failure = solved.failure.told(str(solved.failure))
            failure.best = result
            raise failure from solved.failure
        with self.phases("detection"):
            here = model.mesh.nodes + state.q.reshape(positions.shape)
            there = model.mesh.nodes + result.state.q.reshape(positions.shape)
            for interface, local in zip(model.interfaces, detected.sets, strict=True):
                interface.check_passage(here, there, local)
        return result

    def detect(self, positions: FloatArray, t: float, h: float) -> Detected:
        """Contacts of a step with the nodes at `positions` (n, dim)."""
        return detect(self.model, positions, t, h)

    def given_velocity(self, before: Motion, t: float, timing: Timing) -> FloatArray:
        """What the unknown w is (n_fixed,) at the fixed dofs."""
        constraints, end = self.model.constraints, t + timing.h
        reached = (before.q + timing.ahead * before.v)[constraints.fixed]
        mean = 0.0 if self.inertia else timing.h
        return constraints.velocity(reached, end + timing.ahead, timing.h, end, mean)

    def _result(
        self,
        state: State,
        h: float,
        before: Motion,
        after: Motion,
        F: FloatArray,
        contact_forces: FloatArray,
        supports: FloatArray,
        detected: Detected,
        solved: Solved,
    ) -> StepResult:
        model, constraints = self.model, self.model.constraints
        shape = model.mesh.nodes.shape
        t, number = state.t + h, state.number + 1
        u = detected.H.T @ after.v - detected.stacked.drift
        q, v = constraints.to_global(after.q), constraints.to_global(after.v)
        with self.phases("contact state"):
            states, reactions, sliding = results(model, detected, solved, u, q, t, h)
        q_mid, v_mid = self.middle(before, after)
        nodal = {
            "loads": F.reshape(shape),
            "contact": self._to_nodes(contact_forces),
            "supports": self._to_nodes(supports),
            "damping": -self._to_nodes(self.C @ v_mid),
        }
        if model.springs:
            nodal["springs"] = -(model.spring_stiffness * constraints.to_global(q_mid)).reshape(
                shape
            )
        internal = self.stiff(q_mid)
        rounding = 0.0
        if not self.inertia:
            # a body that moves as a whole, not touched yet, has forces of rounding only
            rounding = float(np.abs(self._rounding * after.q).sum())
        else:
            nodal["inertia"] = -self._to_nodes(self.M @ self.acceleration(before, after, h))
            # a body that flies freely has no forces, only momentum that rounding is relative to
            internal = np.abs(internal) + np.abs(self.M @ before.v) / h
        with self.phases("energy"):
            energy = self._energies(state, h, before, after, F, supports, detected, solved)
        return StepResult(
            number=number,
            t=t,
            h=h,
            state=State(
                t,
                q,
                v,
                number,
                reactions,
                a=None if after.a is None else constraints.to_global(after.a),
                sliding=sliding,
                energy=energy,
            ),
            contacts=states,
            report=solved.report,
            external=F.reshape(shape),
            contact_forces=nodal["contact"],
            support_forces=nodal["supports"],
            supports=constraints.totals(supports),
            balance=relative_balance(
                nodal, self._to_nodes(internal), model.solid.is_axisymmetric, rounding
            ),
            energy=energy,
            problem=solved.problem,
        )

    def acceleration(self, before: Motion, after: Motion, h: float) -> FloatArray:
        """Acceleration (ndof,) that the forces of the step balance."""
        return (after.v - before.v) / h

    def stored(self, motion: Motion) -> Energies:
        """Energies of a start from this motion."""
        kinetic = 0.5 * float(motion.v @ (self.M @ motion.v)) if self.inertia else 0.0
        elastic = 0.5 * float(motion.q @ self.stiff(motion.q))
        return Energies(kinetic=kinetic, elastic=elastic, start=kinetic + elastic)

    def _energies(
        self,
        state: State,
        h: float,
        before: Motion,
        after: Motion,
        F: FloatArray,
        supports: FloatArray,
        detected: Detected,
        solved: Solved,
    ) -> Energies:
        moved = after.q - before.q
        mean = moved / h
        dim = self.model.mesh.dim
        drift = detected.stacked.drift
        local = (detected.H.T @ mean - drift).reshape(-1, dim)
        r = solved.r.reshape(-1, dim)
        now = self.stored(after)
        added = {
            "loads": float(self.model.constraints.to_turned(F) @ moved),
            "supports": float(supports @ moved),
            "obstacles": float(solved.r @ drift),
            "friction": -float((r[:, 1:] * local[:, 1:]).sum()),
            "shocks": -float(r[:, 0] @ local[:, 0]),
            "viscous": h * float(mean @ (self.C @ mean)),
        }
        numerical = self.numerical_dissipation(before, after)
        energy = state.energy.after(now.kinetic, now.elastic, **added)
        if not self.inertia:
            lost = float(self._rounding @ after.q**2)
            energy = replace(energy, rounding=max(energy.rounding, lost))
        if numerical is None:
            numerical = -energy.defect
        return energy.after(now.kinetic, now.elastic, numerical=numerical)

    def _to_nodes(self, vector: FloatArray) -> FloatArray:
        """A vector (ndof,) in turned axes as values at nodes (n, dim) in global axes."""
        return self.model.constraints.to_global(vector).reshape(self.model.mesh.nodes.shape)


def _glue_rate(detected: Detected, h: float) -> FloatArray:
    """Velocity (n,) that the glued contacts lack to be, after h, where they were glued."""
    laws, stacked = detected.laws, detected.stacked
    rate = (stacked.offset / h - stacked.drift).reshape(len(laws), -1)
    return np.asarray(rate[laws.has("glued")].ravel())


def _translations(model: Model) -> sparse.csr_array:
    """Unit translations (ndof, n) of every connected body that leave it without stress, turned."""
    mesh = model.mesh
    labels, dim = mesh.components(), mesh.dim
    sizes = np.bincount(labels)
    along = [1] if model.solid.is_axisymmetric else list(range(dim))
    rows = (dim * np.arange(mesh.n_nodes)[:, None] + along).ravel()
    columns = (len(along) * labels[:, None] + np.arange(len(along))).ravel()
    values = np.repeat(1.0 / np.sqrt(sizes[labels]), len(along))
    shape = (model.n_dofs, len(along) * len(sizes))
    columns_of_bodies = sparse.csr_array((values, (rows, columns)), shape=shape)
    return sparse.csr_array(model.constraints.to_turned(columns_of_bodies))
