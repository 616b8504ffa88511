"""Newmark's scheme with the gap met at the end of the step, for comparison.

    q_{k+1} = q_k + h v_k + h² ((1/2 - β) a_k + β a_{k+1}),
    v_{k+1} = v_k + h ((1-γ) a_k + γ a_{k+1}),
    M a_{k+1} + C v_{k+1} + K q_{k+1} = F_{k+1} + H R_{k+1},   0 <= g_k + h w_N ⟂ R_N >= 0,

written for w = (q_{k+1} - q_k)/h. An impact makes the velocity jump, which the scheme does not know
of: the contact velocity and the reactions oscillate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from fecontact.errors import InputError
from fecontact.model import Model
from fecontact.schemes.contact import Timing
from fecontact.schemes.linear import LinearStepper, Motion
from fecontact.schemes.settling import settled
from fecontact.schemes.state import State
from fecontact.solvers import Options
from fecontact.solvers.linear import factorise
from fecontact.timing import Phases
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class Newmark:
    """Newmark's scheme; β = 1/4, γ = 1/2 is the trapezoidal rule."""

    beta: float = 0.25
    gamma: float = 0.5
    lumped: bool = False
    settle: bool = False

    name = "newmark"

    def stepper(self, model: Model, options: Options, phases: Phases) -> NewmarkStepper:
        """What takes the steps."""
        return NewmarkStepper(model, options, phases, self)


class NewmarkStepper(LinearStepper):
    """Takes steps of Newmark's scheme."""

    def __init__(self, model: Model, options: Options, phases: Phases, scheme: Newmark) -> None:
        self.beta, self.gamma = scheme.beta, scheme.gamma
        if not 0.0 < self.beta <= 0.5:
            raise InputError(f"scheme.beta: {self.beta} must be positive and at most 0.5")
        if not 0.5 <= self.gamma <= 1.0:
            raise InputError(f"scheme.gamma: {self.gamma} must be between 0.5 and 1")
        for interface in model.interfaces:
            if interface.law.condition == "velocity":
                raise InputError(
                    f"{interface.where}.condition: Newmark's scheme has no condition on "
                    "velocities; use 'gap', or the scheme 'theta'"
                )
        super().__init__(model, options, phases, inertia=True, lumped=scheme.lumped)
        self._settle = scheme.settle
        self._first_h: float | None = None

    def prepare(self, h: float) -> None:
        super().prepare(h)
        self._first_h = h

    def start(self) -> State:
        state = super().start()
        return settled(self, state) if self._settle else state

    def timing(self, h: float) -> Timing:
        return Timing(h, 1.0, 0.0)

    def matrix(self, h: float) -> sparse.csr_array:
        damping = (h * self.gamma / self.beta) * self.C
        return sparse.csr_array(self.M / self.beta + damping + h**2 * self.K)

    def loads(self, t: float, h: float) -> FloatArray:
        return self.model.external(t + h)

    def right_side(self, before: Motion, F: FloatArray, h: float) -> FloatArray:
        beta, gamma = self.beta, self.gamma
        v, a = before.v, _acceleration(before)
        b: FloatArray = h * F - h * self.stiff(before.q)
        b += self.M @ (v / beta + h * (0.5 / beta - 1.0) * a)
        b -= h * (self.C @ ((1.0 - gamma / beta) * v + h * (1.0 - 0.5 * gamma / beta) * a))
        return b

    def advance(self, before: Motion, w: FloatArray, h: float) -> Motion:
        v, a = before.v, _acceleration(before)
        new = (w - v) / (self.beta * h) - (0.5 / self.beta - 1.0) * a
        return Motion(before.q + h * w, v + h * ((1.0 - self.gamma) * a + self.gamma * new), new)

    def given_velocity(self, before: Motion, t: float, timing: Timing) -> FloatArray:
        """Unknown (n_fixed,) that meets a given displacement, or a given velocity, at the end."""
        w = super().given_velocity(before, t, timing)
        constraints = self.model.constraints
        v, a = before.v[constraints.fixed], _acceleration(before)[constraints.fixed]
        share = self.gamma / self.beta
        led = (w - (1.0 - share) * v - timing.h * (1.0 - 0.5 * share) * a) / share
        return np.where(constraints.by_velocity, led, w)

    def middle(self, before: Motion, after: Motion) -> tuple[FloatArray, FloatArray]:
        return after.q, after.v

    def acceleration(self, before: Motion, after: Motion, h: float) -> FloatArray:
        return _acceleration(after)

    def numerical_dissipation(self, before: Motion, after: Motion) -> None:
        return None

    def first_acceleration(self, before: Motion) -> FloatArray:
        constraints = self.model.constraints
        free = constraints.free
        forces = constraints.to_turned(self.model.external(0.0))
        forces = forces - self.C @ before.v - self.stiff(before.q)
        a = np.zeros_like(before.q)
        if self._first_h is not None:
            a[constraints.fixed] = constraints.acceleration(0.0, self._first_h)
            forces -= self.M @ a
        a[free] = factorise(sparse.csr_array(self.M[free][:, free])).solve(forces[free])
        return constraints.to_global(a)


def _acceleration(motion: Motion) -> FloatArray:
    if motion.a is None:
        raise InputError("Newmark's scheme needs an acceleration to start from")
    return motion.a
