"""Static equilibrium to start from: loads of time 0 and contacts, without inertia.

A body that only contact holds has no stiffness against falling, so that one static solution is not
to be had directly. Steps of implicit Euler from rest, their velocity forgotten after each,

    (M/h² + K) Δq = F - K q + H R,   0 <= g + Δq_N ⟂ R_N >= 0,

move to it instead: what moves is shortened by 1/(1 + h²ω²) from one to the next, ω a frequency of
the bodies held by their contacts, and with a large h a few are enough. Friction sees these steps
as one slow loading.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from fecontact.contact.laws import CONDITIONS
from fecontact.errors import InputError, NotConverged
from fecontact.schemes.contact import Detected, Timing
from fecontact.schemes.linear import LinearStepper, Motion
from fecontact.schemes.state import State
from fecontact.typing import FloatArray

_STIFFNESS = 1e3
"""How much the stiffness of an element outweighs its inertia in a step, by number of elements."""
_STEPS = 200
_SETTLED = 1e-12
"""Forces out of balance over the largest internal force."""
_TOLERANCE = 1e-13
"""Of the friction problems, where the options ask for less."""


class _Settling(LinearStepper):
    """Steps of implicit Euler for a stepper's own matrices."""

    def __init__(self, of: LinearStepper) -> None:
        options = replace(of.options, tolerance=min(of.options.tolerance, _TOLERANCE))
        super().__init__(of.model, options, of.phases, inertia=True, lumped=of.lumped)
        self.asked = of.options.tolerance

    def timing(self, h: float) -> Timing:
        return Timing(h, 1.0, 0.0)

    def matrix(self, h: float) -> sparse.csr_array:
        return sparse.csr_array(self.M + h**2 * self.K)

    def right_side(self, before: Motion, F: FloatArray, h: float) -> FloatArray:
        b: FloatArray = h * F - h * self.stiff(before.q)
        return b

    def detect(self, positions: FloatArray, t: float, h: float) -> Detected:
        """Contacts that ask for a closed gap, whatever their law, with obstacles that stand."""
        found = super().detect(positions, 0.0, h)
        laws = found.stacked.laws
        gap = np.full_like(laws.condition, CONDITIONS.index("gap"))
        stacked = replace(
            found.stacked,
            drift=np.zeros_like(found.stacked.drift),
            laws=replace(laws, condition=gap),
        )
        return replace(found, stacked=stacked)

    def given_velocity(self, before: Motion, t: float, timing: Timing) -> FloatArray:
        constraints = self.model.constraints
        return constraints.velocity(before.q[constraints.fixed], 0.0, timing.h, 0.0)

    def loads(self, t: float, h: float) -> FloatArray:
        return self.model.external(0.0)

    def advance(self, before: Motion, w: FloatArray, h: float) -> Motion:
        return Motion(before.q + h * w, w)

    def middle(self, before: Motion, after: Motion) -> tuple[FloatArray, FloatArray]:
        return after.q, after.v

    def numerical_dissipation(self, before: Motion, after: Motion) -> None:
        return None


def settled(stepper: LinearStepper, start: State) -> State:
    """The state at rest in equilibrium with the loads of time 0, found from `start`.

    Raises
    ------
    InputError
        Where there is none near: a body that nothing holds goes on moving.
    """
    if start.v.any():
        raise InputError("scheme.settle: the start has a velocity; a body at rest has none")
    steps = _Settling(stepper)
    ratio = float(np.max(steps.M.diagonal() / steps.K.diagonal()))
    h = float(np.sqrt(_STIFFNESS * stepper.model.mesh.n_elements * ratio))
    state, rest = start, np.zeros_like(start.v)
    for _ in range(_STEPS):
        after = _step(steps, state, h)
        # a step does not look at the velocity before it
        state = replace(after, t=0.0)
        unbalanced = np.abs(steps.M @ steps.model.constraints.to_turned(after.v)).max() / h
        held = np.abs(steps.K @ steps.model.constraints.to_turned(after.q)).max()
        if unbalanced <= _SETTLED * held:
            break
    else:
        node = int(np.argmax(np.abs(after.v))) // stepper.model.mesh.dim
        place = ", ".join(f"{c:.6g}" for c in stepper.model.mesh.nodes[node])
        raise InputError(
            f"scheme.settle: no equilibrium was found in {_STEPS} steps; node {node} at ({place}) "
            f"has moved by {np.abs(after.q - start.q).max():.3g} and moves on. Something must hold "
            "every body under the loads of time 0, friction included"
        )
    motion = Motion(*map(stepper.model.constraints.to_turned, (state.q, rest)))
    a = None if start.a is None else rest
    return replace(
        state, t=0.0, number=0, v=start.v, a=a, energy=stepper.stored(motion), memory=start.memory
    )


def _step(steps: _Settling, state: State, h: float) -> State:
    try:
        return steps.step(state, h).state
    except NotConverged as error:
        # the tolerance here is below what the run asks for
        if error.report is not None and error.report.residual <= steps.asked:
            best: State = error.best.state
            return best
        raise NotConverged(
            f"scheme.settle: {error}", best=error.best, report=error.report
        ) from error
