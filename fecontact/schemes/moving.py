"""What the schemes of moving, relaxing bodies share: the start, its equilibrium, the results.

Bodies are followed on their current configuration (updated Lagrangian). Loads keep their direction
and size: gravity acts on the mass, pressures on the area of the start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy import sparse

from fecontact.assembly.averaging import Dilatation
from fecontact.assembly.moving import Configuration, MovingBody
from fecontact.errors import InputError, SingularSystem
from fecontact.model import Model
from fecontact.rigid import free_motions
from fecontact.schemes.beds import Ground, bed_forces, bed_tangent
from fecontact.schemes.contact import Detected, Solved, by_candidate, detect, results
from fecontact.schemes.energy import Energies
from fecontact.schemes.state import State, StepResult, relative_balance
from fecontact.solvers import Options
from fecontact.solvers.memory import Estimate
from fecontact.timing import Phases
from fecontact.typing import FloatArray

# out-of-balance forces of an initial stress, relative to the largest nodal force
_EQUILIBRIUM = 1e-6


class MovingStepper(ABC):
    """Takes steps of bodies that move and relax; `State.memory` is their `Configuration`."""

    def __init__(
        self, model: Model, options: Options, phases: Phases, dilatation: Dilatation
    ) -> None:
        self.model, self.options, self.phases = model, options, phases
        if options.linear != "auto":
            raise InputError(
                f"solver.linear: {options.linear!r} is for schemes of linear bodies; leave it out"
            )
        self._refuse(model)
        with phases("assembly"):
            self.body = MovingBody(model.assembler, dilatation)
        self.ground = Ground(model)
        self._first: Configuration | None = None

    @staticmethod
    def _refuse(model: Model) -> None:
        for interface in model.interfaces:
            if interface.laws.has("velocity").any():
                raise InputError(
                    f"contact.{interface.name}.condition: 'velocity' is for shocks; a quasi-static "
                    "scheme needs 'gap'"
                )
        for name, material in model.solid.materials.items():
            if not material.damping.is_zero:
                raise InputError(
                    f"materials.{name}.damping: this scheme has no damping of materials; leave it "
                    "out, or use the scheme 'quasi_static' or 'theta'"
                )
        if model.initial:
            raise InputError(
                "initial: this scheme starts undeformed and at rest; leave the table out"
            )

    def refuse_free_motion(self) -> None:
        """Raise where only contact would hold a body, which a tangent without mass cannot do."""
        free = free_motions(self.model)
        if free:
            listed = "; ".join(f"body {f.body!r}: {f.motion}" for f in free)
            raise SingularSystem(
                f"only contact would hold the body, and an implicit step needs more ({listed}). "
                "Prescribe the motion, add a spring ([springs.NAME] with on, kx, ky), or use the "
                "scheme 'explicit'"
            )

    def first(self) -> Configuration:
        """The configuration at the start, its initial stress checked against the loads."""
        if self._first is None:
            model = self.model
            stress = None
            if model.prestress is not None:
                stress = model.prestress.stress(model.solid, model.loads, self.body.points)
            start = self.body.start(stress)
            if stress is not None:
                self._balance(start)
            self._first = start
        return self._first

    def _balance(self, start: Configuration) -> None:
        """Check that loads, supports, beds and contacts hold the initial stress."""
        model, constraints = self.model, self.model.constraints
        left = (
            self.body.forces(start)
            - model.external(0.0)
            - bed_forces(self.ground.beds, start.positions)
        )
        turned = constraints.to_turned(left)
        turned[constraints.fixed] = 0.0
        turned[model.touched_dofs] = 0.0
        for interface in model.interfaces:
            detected = interface.detect(start.positions, 0.0, 1.0)
            turned[np.unique(detected.H.nonzero()[0])] = 0.0
        largest = float(np.abs(self.body.forces(start)).max(initial=0.0))
        worst = int(np.argmax(np.abs(turned)))
        if abs(turned[worst]) > _EQUILIBRIUM * largest:
            node = worst // model.mesh.dim
            x, y = model.mesh.nodes[node]
            raise InputError(
                f"lithostatic: the initial stress is not in equilibrium with the loads at node "
                f"{node} ({x:.6g}, {y:.6g}): a force of {abs(turned[worst]):.3g} is left, "
                f"{abs(turned[worst]) / largest:.1e} of the largest; expected a level surface, "
                "horizontal layers whose boundaries are edges of elements, and no other load at "
                "the start"
            )

    def start(self) -> State:
        """Undeformed and at rest, with the initial stress."""
        first = self.first()
        stored = self.stored(first)
        v = np.zeros(self.model.n_dofs)
        energy = Energies(elastic=stored, start=stored)
        return State(t=0.0, q=np.zeros_like(v), v=v, energy=energy, memory=first)

    def memory(self, h: float) -> Estimate | None:
        """Memory that the factors for steps of size h would take; None without any."""
        return None

    @abstractmethod
    def prepare(self, h: float) -> None:
        """Refuse steps of size h that cannot be taken."""

    @abstractmethod
    def step(self, state: State, h: float) -> StepResult:
        """One step of size h."""

    def detect(self, positions: FloatArray, t: float, h: float) -> Detected:
        """Contacts with the nodes at `positions` (n, dim)."""
        return detect(self.model, positions, t, h)

    def by_candidate(self, detected: Detected, forces: FloatArray) -> dict[str, FloatArray]:
        """Local forces (nc * dim,) by contact and candidate, zero where there is no contact."""
        rows = forces.reshape(-1, self.model.mesh.dim)
        return {
            interface.name: by_candidate(interface.n_candidates, local.candidates, rows[part])
            for interface, local, part in zip(
                self.model.interfaces, detected.sets, detected.stacked.slices, strict=True
            )
        }

    def spring_forces(self, q: FloatArray) -> FloatArray:
        """Forces (ndof,) of springs and beds at displacements q, in global axes."""
        return self.ground.forces(q)

    def spring_tangent(self, positions: FloatArray) -> sparse.csr_array | None:
        """Stiffness (ndof, ndof) of springs and beds, None where there are none."""
        if not self.model.springs:
            return None
        stiffness = sparse.csr_array(sparse.diags_array(self.ground.springs, format="csr"))
        return sparse.csr_array(stiffness - bed_tangent(self.ground.beds, positions))

    def result(
        self,
        state: State,
        h: float,
        configuration: Configuration,
        v: FloatArray,
        F: FloatArray,
        internal: FloatArray,
        contact_forces: FloatArray,
        supports: FloatArray,
        inertia: FloatArray | None,
        detected: Detected,
        solved: Solved,
        u: FloatArray,
        measures: Mapping[str, float],
        next_h: float | None = None,
    ) -> StepResult:
        """The end of a step.

        Parameters
        ----------
        configuration
            At the end.
        v
            Velocity (ndof,) over the step, in global axes.
        F, internal, contact_forces, supports, inertia
            Nodal forces (ndof,) in global axes: loads, of the stresses, of contact, of prescribed
            motion, and mass times acceleration with the damping (None without).
        u
            Relative velocities (nc * dim,) of the contacts.
        """
        model = self.model
        shape = model.mesh.nodes.shape
        q = (configuration.positions - self.first().positions).ravel()
        t, number = state.t + h, state.number + 1
        with self.phases("contact state"):
            states, reactions, sliding = results(model, detected, solved, u, q, t, h)
        nodal = {
            "loads": F.reshape(shape),
            "contact": contact_forces.reshape(shape),
            "supports": supports.reshape(shape),
            "springs": self.spring_forces(q).reshape(shape),
        }
        if inertia is not None:
            nodal["inertia"] = -inertia.reshape(shape)
        given = {
            "loads": F,
            "internal": internal,
            "springs": self.spring_forces(q),
            "supports": supports,
        }
        moved = q - state.q
        with self.phases("energy"):
            energy = self._energies(
                state, configuration, moved, given, detected, solved, u, inertia is None
            )
        return StepResult(
            number=number,
            t=t,
            h=h,
            state=State(
                t, q, v, number, reactions, sliding=sliding, energy=energy, memory=configuration
            ),
            contacts=states,
            report=solved.report,
            external=F.reshape(shape),
            contact_forces=contact_forces.reshape(shape),
            support_forces=supports.reshape(shape),
            supports=model.constraints.totals(model.constraints.to_turned(supports)),
            balance=relative_balance(
                nodal, internal.reshape(shape), self.model.solid.is_axisymmetric
            ),
            energy=energy,
            problem=solved.problem,
            next_h=next_h,
            stress=configuration.stress,
            strain=configuration.strain(),
            measures=measures,
        )

    def _energies(
        self,
        state: State,
        configuration: Configuration,
        moved: FloatArray,
        given: Mapping[str, FloatArray],
        detected: Detected,
        solved: Solved,
        u: FloatArray,
        exact: bool,
    ) -> Energies:
        """Energies of the end; what forces inside absorb beyond the elastic energy is viscous.

        Without `exact` the scheme has inertia and damping of its own, which take the defect.
        """
        r, local = solved.r.reshape(-1, 2), u.reshape(-1, 2)
        stored = self.stored(configuration)
        inside = float(given["internal"] @ moved)
        added = {
            # what springs and beds give back is counted as work of loads
            "loads": float((given["loads"] + given["springs"]) @ moved),
            "supports": float(given["supports"] @ moved),
            "obstacles": float(solved.r @ detected.stacked.drift),
            "friction": -float((r[:, 1:] * local[:, 1:]).sum()),
            "shocks": -float(r[:, 0] @ local[:, 0]),
            "viscous": inside - (stored - state.energy.elastic),
        }
        energy = state.energy.after(0.0, stored, **added)
        if exact:
            return energy
        return replace(energy, numerical=energy.numerical - energy.defect)

    def stored(self, configuration: Configuration) -> float:
        """Elastic energy of the stresses."""
        material, rheology = configuration.material, self.body.rheology
        tensor = np.array([1.0, 1.0, 1.0, 2.0])
        squares = (material.deviators**2) @ tensor
        shear = np.divide(
            squares, 4.0 * rheology.shear, out=np.zeros_like(squares), where=rheology.shear > 0.0
        )
        density = material.mean**2 / (2.0 * rheology.bulk) + shear.sum(axis=1)
        return float(density @ self.body.volumes(configuration))
