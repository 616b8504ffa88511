"""The contacts of one step: from what was detected to impulses, whatever the scheme.

A scheme that writes its step as  A w = b + H r  (w a velocity) gets the relative velocities
u = Hᵀ w - drift and W = Hᵀ A⁻¹ H. The laws turn into the plain friction problem of the solvers by a
shift of u: the gap over the step, or the velocity before a shock times its restitution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from fecontact.contact import ContactState, LocalContacts, PointLaws, Stacked, stack
from fecontact.contact.laws import FRICTION_LAWS
from fecontact.errors import NotConverged
from fecontact.model import Model
from fecontact.schemes.mixing import Mixing
from fecontact.schemes.state import State
from fecontact.solvers import FrictionProblem, Options, Solution, solve
from fecontact.solvers.problem import BILATERAL, COULOMB, TRESCA
from fecontact.solvers.report import Report
from fecontact.solvers.residual import natural_map
from fecontact.timing import Phases
from fecontact.typing import BoolArray, FloatArray, IntArray

_SOLVER = {"coulomb": COULOMB, "tresca": TRESCA, "frictionless": COULOMB, "glued": BILATERAL}
_CODES = np.array([_SOLVER[name] for name in FRICTION_LAWS], dtype=np.int8)
# changes of coefficients or thresholds within a step, and when they have settled
_ADAPTATIONS = 50
_SETTLED = 1e-10
# contacts that are told where a problem is not solved
_LISTED = 10
_CLOSED = 1e-10
"""Part of the size of the mesh below which a gap that is forecast counts as closed."""


@dataclass(frozen=True, eq=False)
class Detected:
    """Contacts of a step before it is solved.

    H has the columns of all contacts, in the turned axes of the constraints.
    """

    sets: tuple[LocalContacts, ...]
    stacked: Stacked
    H: sparse.csr_array

    @property
    def laws(self) -> PointLaws:
        return self.stacked.laws

    def __len__(self) -> int:
        return len(self.stacked)


@dataclass(frozen=True, eq=False)
class Solved:
    """Impulses r (nc * dim,), coefficients used (nc,), the problem and the solver's word."""

    r: FloatArray
    friction: FloatArray
    problem: FrictionProblem | None = None
    report: Report | None = None
    failure: NotConverged | None = None


@dataclass(frozen=True)
class Timing:
    """Where in the step the scheme writes its contacts.

    h is the step, `ahead` how far the configuration of detection is from its start, and θ tells
    how much of the new velocity the displacement at its end has.
    """

    h: float
    theta: float
    ahead: float


def detect(model: Model, positions: FloatArray, t: float, h: float) -> Detected:
    """Contacts with the nodes at `positions` (n, dim) at time t; obstacles drift until t + h."""
    sets = tuple(i.detect(positions, t, h) for i in model.interfaces)
    stacked = stack(sets, model.n_dofs)
    H = model.constraints.to_turned(stacked.H) if len(stacked) else stacked.H
    return Detected(sets, stacked, H)


def shifts(
    detected: Detected, u_before: FloatArray, timing: Timing, dim: int, closed: float = 0.0
) -> tuple[FloatArray, BoolArray]:
    """What the laws add to u (nc * dim,), and which contacts take part in the step (nc,).

    With a condition on velocities those do whose forecast gap is at most `closed`.
    """
    laws = detected.laws
    offset = detected.stacked.offset.reshape(-1, dim)
    before = u_before.reshape(-1, dim)
    shift = offset / timing.h
    at_end = laws.has("end_gap")
    shift[at_end] = offset[at_end] / (timing.h * timing.theta)
    active = np.ones(len(laws), dtype=bool)
    shock = laws.has("velocity") & ~laws.has("glued")
    if shock.any():
        forecast = offset[:, 0] + (0.5 * timing.h - timing.ahead) * before[:, 0]
        active[shock & (forecast > closed)] = False
        shift[shock, 0] = (laws.restitution * before[:, 0])[shock]
        shift[shock, 1:] = (laws.tangential_restitution[:, None] * before[:, 1:])[shock]
    return shift.ravel(), active


def solve_contacts(
    model: Model,
    detected: Detected,
    state: State,
    v_free: FloatArray,
    v_before: FloatArray,
    timing: Timing,
    delassus: Callable[[sparse.csr_array], FloatArray | sparse.bsr_array],
    options: Options,
    phases: Phases,
) -> Solved:
    """Solve the friction problem of a step.

    Parameters
    ----------
    model, detected, state
        The model, its contacts in this step, and the state before it.
    v_free, v_before
        Velocities (ndof,) in turned axes: of the step without contact, and before it.
    timing
        Of the step.
    delassus
        Gives W for the columns of H that take part, on the free dofs.
    options
        Of the solver.
    """
    laws = detected.laws
    if len(detected) == 0:
        return Solved(np.zeros(0), np.zeros(0))
    dim = model.mesh.dim
    u_before = detected.H.T @ v_before - detected.stacked.drift
    # a body at rest must not be let go by rounding
    closed = _CLOSED * float(np.ptp(model.mesh.nodes, axis=0).max())
    shift, active = shifts(detected, u_before, timing, dim, closed)
    if not active.any():
        return Solved(np.zeros(len(shift)), laws.friction)
    columns = np.repeat(active, dim)
    all_active = bool(active.all())
    H = detected.H if all_active else sparse.csr_array(detected.H[:, columns])
    with phases("delassus"):
        W = delassus(sparse.csr_array(H[model.constraints.free]))
        laws = laws if all_active else laws.take(active)
        W = _softened(W, laws, timing, dim)
    with phases("friction"):
        q = H.T @ v_free + (shift - detected.stacked.drift)[columns]
        start = carried(model, detected, state)[columns] * timing.h
        slid = _slid(model, detected, state)[active]
        code = _CODES[laws.friction_law]
        problem = FrictionProblem(
            W, q, laws.friction, dim, law=code, threshold=timing.h * laws.threshold
        )
        solution, problem, failure = _adapted(problem, laws, start, slid, shift[columns], options)
    r = np.zeros(len(shift))
    r[columns] = solution.r
    friction = detected.laws.friction.copy()
    friction[active] = problem.mu
    if failure is not None:
        failure.worst = _worst(model, detected, active, problem, solution)
        failure.nodes = tuple(node for _, node, _ in failure.worst)
    return Solved(r, friction, problem, solution.report, failure)


def _worst(
    model: Model,
    detected: Detected,
    active: BoolArray,
    problem: FrictionProblem,
    solution: Solution,
) -> tuple[tuple[str, int, float], ...]:
    """Contacts that are farthest from their law: name, node, share of the squared residual."""
    F = natural_map(problem, solution.r, solution.u).reshape(-1, problem.dim)
    shares = (F**2).sum(axis=1)
    total = float(shares.sum())
    if not 0.0 < total < np.inf:
        return ()
    names = [i.name for i, s in zip(model.interfaces, detected.sets, strict=True) for _ in s.nodes]
    nodes = np.concatenate([s.nodes for s in detected.sets])
    numbers = np.flatnonzero(active)
    order = np.argsort(-shares, kind="stable")[:_LISTED]
    return tuple(
        (names[numbers[i]], int(nodes[numbers[i]]), float(shares[i] / total)) for i in order
    )


def _softened(W: Any, laws: PointLaws, timing: Timing, dim: int) -> Any:
    """W with the compliances of regularised laws on its diagonal."""
    if not (laws.compliance.any() or laws.mobility.any()):
        return W
    h = timing.h
    diagonal = np.repeat(laws.mobility / h, dim)
    # by how much of u the gap that the law sees changes, as in `shifts`
    span = np.where(laws.has("end_gap"), timing.theta * h, h)
    diagonal[::dim] = laws.compliance / (h * span)
    if not isinstance(W, np.ndarray):
        return sparse.bsr_array(W.tocsr() + sparse.diags_array(diagonal), blocksize=(dim, dim))
    W = W.copy()
    W[np.diag_indices_from(W)] += diagonal
    return W


def _adapted(
    problem: FrictionProblem,
    laws: PointLaws,
    start: FloatArray,
    slid: BoolArray,
    shift: FloatArray,
    options: Options,
) -> tuple[Solution, FrictionProblem, NotConverged | None]:
    """Solve, with coefficients that depend on sliding and thresholds that need contact settled."""
    two = laws.dynamic < laws.friction
    sharp, smooth = two & (laws.decay == 0.0), two & (laws.decay > 0.0)
    tresca = laws.has("tresca")
    mu = np.where(sharp & slid, laws.dynamic, laws.friction)
    given = threshold = problem.thresholds
    mixing = Mixing()
    for trial in range(_ADAPTATIONS):
        problem = replace(problem, mu=mu, threshold=threshold)
        failure: NotConverged | None = None
        try:
            solution = solve(problem, start, options)
        except NotConverged as error:
            failure, solution = error, error.best
        if failure is not None or not (two.any() or tresca.any()):
            return solution, problem, failure
        r = solution.r.reshape(-1, problem.dim)
        slip = np.linalg.norm((solution.u - shift).reshape(r.shape)[:, 1:], axis=1)
        new = mu.copy()
        # a candidate that starts to slide loses its static friction for the rest of the step
        on_bound = np.linalg.norm(r[:, 1:], axis=1) >= mu * r[:, 0] * (1.0 - 1e-7)
        new[sharp & on_bound & (r[:, 0] > 0.0)] = laws.dynamic[sharp & on_bound & (r[:, 0] > 0.0)]
        fall = np.exp(-slip[smooth] / laws.decay[smooth])
        new[smooth] = laws.dynamic[smooth] + (laws.friction - laws.dynamic)[smooth] * fall
        # Tresca's bound acts where there is contact; where it ends the contact itself, it does not
        kept = given if trial < _ADAPTATIONS // 2 else threshold
        closed = np.where(tresca & (r[:, 0] <= 0.0), 0.0, kept)
        settled = np.abs(new - mu).max(initial=0.0) <= _SETTLED
        if settled and np.array_equal(closed, threshold):
            return solution, problem, None
        if not np.array_equal(new[sharp], mu[sharp]) or not np.array_equal(closed, threshold):
            mixing.forget()
        mixed = mixing.next(mu[smooth], new[smooth])
        new[smooth] = np.clip(mixed, laws.dynamic[smooth], laws.friction[smooth])
        mu, threshold, start = new, closed, solution.r
    report = solution.report
    message = f"the friction coefficients did not settle in {_ADAPTATIONS} solutions of the step"
    return solution, problem, NotConverged(message, best=solution, report=report)


def carried(model: Model, detected: Detected, state: State) -> FloatArray:
    """Reactions of the step before (nc * dim,), by candidate."""
    dim = model.mesh.dim
    if not detected.sets:
        return np.zeros(0)
    parts = [
        state.reactions.get(i.name, np.zeros((i.n_candidates, dim)))[s.candidates].ravel()
        for i, s in zip(model.interfaces, detected.sets, strict=True)
    ]
    return np.concatenate(parts)


def _slid(model: Model, detected: Detected, state: State) -> BoolArray:
    """Which contacts slid in the step before (nc,)."""
    parts = [
        state.sliding.get(i.name, np.zeros(i.n_candidates, dtype=bool))[s.candidates]
        for i, s in zip(model.interfaces, detected.sets, strict=True)
    ]
    return np.concatenate(parts)


def by_candidate(count: int, which: IntArray, values: FloatArray) -> FloatArray:
    """Values (nc, ...) of contacts as an array over all candidates, zero where there is none."""
    spread = np.zeros((count, *values.shape[1:]), dtype=values.dtype)
    spread[which] = values
    return spread


def results(
    model: Model,
    detected: Detected,
    solved: Solved,
    u: FloatArray,
    q: FloatArray,
    t: float,
    h: float,
) -> tuple[dict[str, ContactState], dict[str, FloatArray], dict[str, BoolArray]]:
    """What a step leaves of its contacts, by name: states, reactions of all candidates, who slides.

    Parameters
    ----------
    u : (nc * dim,)
        Relative velocities at the end of the step.
    q : (ndof,)
        Displacements there, in global axes.
    t, h
        Its end and its size.
    """
    dim, shape = model.mesh.dim, model.mesh.nodes.shape
    forces, velocities = (solved.r / h).reshape(-1, dim), u.reshape(-1, dim)
    states, reactions, sliding = {}, {}, {}
    for interface, local, part in zip(
        model.interfaces, detected.sets, detected.stacked.slices, strict=True
    ):
        name, count = interface.name, interface.n_candidates
        reactions[name] = by_candidate(count, local.candidates, forces[part])
        states[name] = interface.state(
            local, forces[part], velocities[part], solved.friction[part], q.reshape(shape), t
        )
        sliding[name] = states[name].slides
    return states, reactions, sliding
