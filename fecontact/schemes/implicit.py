"""Implicit quasi-statics of bodies that move and relax: Newton's method with contact inside.

The unknown of a step h is the velocity w over it. With x_k the configuration that iteration k has
reached, f its internal forces and K their derivative there,

    h² K (w - w_k) = h (F - f) + H r,

and the laws of contact hold for the gap g(x_c) + h H_Nᵀ (w - w_c) at the end of the step and for
the slip velocity H_Tᵀ w: a friction problem in each iteration. Frames, gaps and H are those of x_c,
the configuration that the first iterations reach; kept from there on they let Newton's method
converge quadratically, and what the gap misses of second order the next step makes good. K is the
exact derivative and not symmetric, and W with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from fecontact.assembly.averaging import Dilatation
from fecontact.assembly.moving import Configuration, Moved
from fecontact.errors import InputError, NotConverged, SingularSystem
from fecontact.model import Model
from fecontact.schemes.contact import (
    Detected,
    Solved,
    Timing,
    carried,
    solve_contacts,
)
from fecontact.schemes.moving import MovingStepper
from fecontact.schemes.state import Place, State, StepResult
from fecontact.schemes.system import expected_memory
from fecontact.solvers import Options
from fecontact.solvers.memory import Estimate
from fecontact.timing import Phases
from fecontact.typing import FloatArray

# growth and fall of a step from one to the next
_GROWTH, _FALL = 1.5, 0.3
# Newton's count at which a step is thought right
_COUNT = 8
# rounding of forces, relative to the stiffness
_EPS = 1e-14
# iterations in balance that the friction solver is given to converge
_PATIENCE = 3
# dofs from which on memory is worth a look before the factorisation
_LARGE = 20_000
# nodes that are told where a step fails
_LISTED = 10
# iterations in which contacts are looked for anew
_DETECTIONS = 2


@dataclass(frozen=True)
class Implicit:
    """Implicit quasi-statics with finite motion and viscoelasticity.

    Parameters
    ----------
    tolerance
        Bound of the out-of-balance forces, relative to the largest nodal force.
    max_iterations
        Newton iterations after which a step is given up.
    change
        Largest change of elastic strain (deviatoric stress over 2 G) over a step that adaptive
        steps aim at.
    dilatation
        Volume change of triangles: averaged over nodes (``"nodal"``) or their own (``"element"``),
        which locks where shear relaxes.
    """

    tolerance: float = 1e-9
    max_iterations: int = 25
    change: float = 1e-3
    dilatation: Dilatation = "nodal"

    name = "implicit"
    measures = ("newton_iterations", "newton_residual", "elastic_strain_change")

    def __post_init__(self) -> None:
        for key in ("tolerance", "change"):
            value = getattr(self, key)
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"scheme.{key}: {value!r} must be a number > 0")
        if self.max_iterations < 1:
            raise InputError(f"scheme.max_iterations: {self.max_iterations} must be at least 1")

    def stepper(self, model: Model, options: Options, phases: Phases) -> ImplicitStepper:
        """What takes the steps."""
        return ImplicitStepper(self, model, options, phases)


@dataclass(frozen=True, eq=False)
class _Iterate:
    """One Newton iterate: velocity in turned axes, the body moved by it, contacts as written.

    `place` is the displacement (ndof,) over the step in which the contacts were found.
    """

    w: FloatArray
    moved: Moved
    contacts: Detected
    place: FloatArray
    out_of_balance: FloatArray
    residual: float


class ImplicitStepper(MovingStepper):
    """Takes steps of `Implicit`; `residuals` are those of the last step's iterations."""

    def __init__(self, scheme: Implicit, model: Model, options: Options, phases: Phases) -> None:
        super().__init__(model, options, phases, scheme.dilatation)
        self.scheme = scheme
        self.residuals: list[float] = []
        self.refuse_free_motion()
        self._rounding = _EPS * self._stiffness()

    def _stiffness(self) -> float:
        """Force that a strain of 1 of the whole body would take, about."""
        solid, rheology = self.model.solid, self.body.rheology
        modulus = float((rheology.bulk + 2.0 * rheology.shear.sum(axis=1)).max())
        extent = float(np.ptp(solid.coordinates, axis=0).max())
        width = float(np.abs(solid.coordinates[:, 0]).max()) * 2.0 * np.pi
        return modulus * extent * (width if solid.is_axisymmetric else solid.thickness)

    def prepare(self, h: float) -> None:
        """Check the start, and that its tangent can be factorised."""
        moved = self.body.move(self.first(), np.zeros(self.model.n_dofs), h)
        if self.model.n_dofs > _LARGE:
            expected = self._expected(moved)
            if not expected.fits:
                raise InputError(
                    f"the tangent of {self.model.n_dofs} dofs does not fit in memory ({expected}); "
                    "take a coarser mesh, or the scheme 'explicit', which has no factors"
                )
        self._factors(moved, h)

    def memory(self, h: float) -> Estimate:
        return self._expected(self.body.move(self.first(), np.zeros(self.model.n_dofs), h))

    def _expected(self, moved: Moved) -> Estimate:
        """Memory of the factors, both triangles of them: the tangent is not symmetric."""
        expected = expected_memory(self.model, self.body.tangent(moved))
        return replace(expected, factors=2 * expected.factors)

    def step(self, state: State, h: float) -> StepResult:
        """One step of size h.

        Raises
        ------
        NotConverged
            Newton's method or the friction problem did not converge.
        InvertedElement
            An element turned inside out.
        """
        try:
            return self._newton(state, h, state.v)
        except NotConverged:
            if not state.v.any():
                raise
            # the velocity of the step before may lead astray
            return self._newton(state, h, np.zeros_like(state.v))

    def _newton(self, state: State, h: float, guess: FloatArray) -> StepResult:
        """One step by Newton's method from a guess of its velocity (ndof,)."""
        model, constraints, scheme = self.model, self.model.constraints, self.scheme
        free, fixed = constraints.free, constraints.fixed
        start: Configuration = state.memory
        with self.phases("loads"):
            F = model.external(state.t + h)
        w = constraints.to_turned(guess).copy()
        w[fixed] = constraints.velocity(
            constraints.to_turned(state.q)[fixed], state.t + h, h, state.t + h, mean=h
        )
        solved: Solved | None = None
        warm = state
        self.residuals = []
        best: tuple[_Iterate, Solved, State] | None = None
        iterate = self._iterate(warm, start, w, F, h, None)
        for count in range(1, scheme.max_iterations + 1):
            with self.phases("factorisation"):
                factors = self._factors(iterate.moved, h)
            with self.phases("free motion"):
                w = iterate.w.copy()
                w[free] += factors.solve(h * iterate.out_of_balance[free])
            solved = self._contact(iterate.contacts, warm, w, h, factors)
            with self.phases("free motion"):
                if solved.r.any():
                    w[free] += factors.solve((iterate.contacts.H @ solved.r)[free])
            warm = replace(state, reactions=self.by_candidate(iterate.contacts, solved.r / h))
            kept = None if count < _DETECTIONS else iterate
            iterate = self._iterate(warm, start, w, F, h, kept)
            self.residuals.append(iterate.residual)
            if iterate.residual <= scheme.tolerance and solved.failure is None:
                return self._finish(state, start, iterate, solved, warm, F, h)
            if np.isfinite(iterate.residual) and iterate.residual <= min(self.residuals):
                best = iterate, solved, warm
            if not np.isfinite(iterate.residual) or self._stuck(solved):
                break
        told = ", ".join(f"{r:.1e}" for r in self.residuals[-4:])
        message = (
            f"Newton's method did not converge in {len(self.residuals)} iterations: the last "
            f"out-of-balance forces, relative to the largest force, are {told}; expected "
            f"{scheme.tolerance:.0e}"
        )
        if solved is not None and solved.failure is not None:
            message += f" ({solved.failure})"
        failed = NotConverged(message)
        if best is not None:
            iterate, solved, warm = best
            failed.best = self._finish(state, start, iterate, solved, warm, F, h)
            failed.nodes = self._unbalanced(iterate, warm)
        if solved is not None and solved.failure is not None:
            failed.report, failed.worst = solved.failure.report, solved.failure.worst
            failed.nodes = solved.failure.nodes or failed.nodes
        raise failed

    def _unbalanced(self, iterate: _Iterate, warm: State) -> tuple[int, ...]:
        """The nodes that are most out of balance, the worst first."""
        left = np.abs(iterate.out_of_balance + self._forces(iterate.contacts, warm))
        left[self.model.constraints.fixed] = 0.0
        at_nodes = left.reshape(self.model.mesh.nodes.shape).max(axis=1)
        return tuple(int(node) for node in np.argsort(-at_nodes, kind="stable")[:_LISTED])

    def _stuck(self, solved: Solved) -> bool:
        """Whether bodies have been in balance for a while and only friction is not solved."""
        recent = self.residuals[-_PATIENCE:]
        balanced = len(recent) == _PATIENCE and max(recent) <= self.scheme.tolerance
        return balanced and solved.failure is not None

    def _iterate(
        self,
        warm: State,
        start: Configuration,
        w: FloatArray,
        F: FloatArray,
        h: float,
        known: _Iterate | None,
    ) -> _Iterate:
        """The body moved by w, its contacts, and the forces that are out of balance.

        `warm` is the state at the start of the step with the latest reactions; contacts are those
        of a known iterate, or looked for.
        """
        constraints = self.model.constraints
        with self.phases("bodies"):
            u = h * constraints.to_global(w)
            moved = self.body.move(start, u, h)
            balance = F - moved.forces + self.spring_forces(warm.q + u)
        contacts = known.contacts if known else self._written(moved, warm, w, h)
        scale = max(float(np.abs(v).max(initial=0.0)) for v in (F, moved.forces))
        out = constraints.to_turned(balance)
        contact = self._forces(contacts, warm)
        # a body without stress has rounding alone for forces
        floor = self._rounding / self.scheme.tolerance
        scale = max(scale, float(np.abs(contact).max(initial=0.0)), floor)
        left = float(np.abs((out + contact)[constraints.free]).max(initial=0.0))
        place = known.place if known else u
        return _Iterate(w, moved, contacts, place, out, left / scale)

    def _written(self, moved: Moved, warm: State, w: FloatArray, h: float) -> Detected:
        """Contacts of a trial end of the step, with offsets that belong to its start.

        In x_c = x + h w_c the gap is g_c; written as g_c - h u_c + h u, with the relative velocity
        u_N = H_Nᵀ w - drift, it is linear in w. Obstacles stand where they are at the end too.
        """
        with self.phases("detection"):
            found = self.detect(moved.configuration.positions, warm.t + h, -h)
            if len(found) == 0:
                return found
            dim = self.model.mesh.dim
            shifted = np.repeat(found.laws.has("glued"), dim)
            shifted[::dim] = True
            u = found.H.T @ w - found.stacked.drift
            offset = found.stacked.offset - np.where(shifted, h * u, 0.0)
            return replace(found, stacked=replace(found.stacked, offset=offset))

    def _contact(
        self, contacts: Detected, warm: State, w: FloatArray, h: float, factors: SuperLU
    ) -> Solved:
        """The friction problem of an iteration."""
        if len(contacts) == 0:
            return Solved(np.zeros(0), np.zeros(0))

        def delassus(H: sparse.csr_array) -> FloatArray:
            return np.asarray(H.T @ factors.solve(H.toarray()))

        return solve_contacts(
            self.model,
            contacts,
            warm,
            w,
            self.model.constraints.to_turned(warm.v),
            Timing(h, 1.0, 0.0),
            delassus,
            self.options,
            self.phases,
        )

    def _factors(self, moved: Moved, h: float) -> SuperLU:
        """Factors of h² K on the free dofs."""
        constraints = self.model.constraints
        K = self.body.tangent(moved)
        springs = self.spring_tangent(moved.configuration.positions)
        if springs is not None:
            K = sparse.csr_array(K + springs)
        K = constraints.turned(K)
        free = constraints.free
        try:
            # symmetric in its pattern and nearly in its values: the order of a symmetric matrix
            # fills least, and pivots stay on the diagonal unless they are small
            return splu(
                sparse.csc_array(h**2 * K[free][:, free]),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=1e-3,
                options={"SymmetricMode": True},
            )
        except RuntimeError:
            raise SingularSystem(
                "the tangent of the bodies is singular: something moves without resistance; hold "
                "it, or check its material and its connections"
            ) from None

    def _forces(self, detected: Detected, warm: State) -> FloatArray:
        """Contact forces (ndof,) in turned axes of the latest reactions, by candidate."""
        return np.asarray(detected.H @ carried(self.model, detected, warm))

    def _finish(
        self,
        state: State,
        start: Configuration,
        iterate: _Iterate,
        solved: Solved,
        warm: State,
        F: FloatArray,
        h: float,
    ) -> StepResult:
        constraints, contacts = self.model.constraints, iterate.contacts
        contact = self._forces(contacts, warm)
        if len(contacts) != len(solved.friction):
            # converged at once, with candidates that the solution did not know
            solved = replace(solved, friction=contacts.laws.friction)
        solved = replace(solved, r=h * carried(self.model, contacts, warm))
        supports = np.zeros_like(contact)
        supports[constraints.fixed] = -(iterate.out_of_balance + contact)[constraints.fixed]
        u = contacts.H.T @ iterate.w - contacts.stacked.drift
        change = self._change(start, iterate.moved.configuration)
        count = len(self.residuals)
        wanted = min(self.scheme.change / max(change, 1e-300), np.sqrt(_COUNT / count))
        result = self.result(
            state,
            h,
            iterate.moved.configuration,
            constraints.to_global(iterate.w),
            F,
            iterate.moved.forces,
            constraints.to_global(contact),
            constraints.to_global(supports),
            None,
            contacts,
            solved,
            u,
            {
                "newton_iterations": float(count),
                "newton_residual": iterate.residual,
                "elastic_strain_change": change,
            },
            h * float(np.clip(wanted, _FALL, _GROWTH)),
        )
        place = Place(state.q + iterate.place, result.state.v, result.t, -h, h)
        return replace(result, place=place)

    def _change(self, before: Configuration, after: Configuration) -> float:
        """Largest change of deviatoric stress over 2 G between two configurations."""
        difference = after.material.deviator - before.material.deviator
        difference[:, 3] *= np.sqrt(2.0)
        G = self.body.rheology.shear.sum(axis=1)
        return float((np.linalg.norm(difference, axis=1) / (2.0 * G)).max(initial=0.0))
