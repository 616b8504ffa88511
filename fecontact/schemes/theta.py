"""The theta scheme of Moreau and Jean, and quasi-statics as its limit without mass.

Over a step h from k to k+1, with v_θ = θ v_{k+1} + (1-θ) v_k and q_θ likewise,

    M (v_{k+1} - v_k) + h C v_θ + h K q_θ = h F_θ + H r,      q_{k+1} = q_k + h v_θ,

so that  M̂ v_{k+1} = b + H r  with

    M̂ = M + hθ C + h²θ² K,
    b = M v_k - h(1-θ) C v_k - h²θ(1-θ) K v_k - h K q_k + h F_θ.

Contact is written in the configuration q̃_k = q_k + h(1-θ) v_k, that is at t_k + h(1-θ):
0 <= u_N + g̃_k / h ⟂ r_N >= 0. Prescribed displacements are met there too, for the same reason:
met at the end of the step they would make the velocity ring.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy import sparse

from fecontact.errors import InputError, SingularSystem
from fecontact.model import Model
from fecontact.rigid import free_motions
from fecontact.schemes.contact import Timing
from fecontact.schemes.linear import LinearStepper, Motion
from fecontact.schemes.settling import settled
from fecontact.schemes.state import State
from fecontact.solvers import Options
from fecontact.timing import Phases
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class QuasiStatic:
    """Evolution without inertia: the theta scheme with θ = 1 and no mass; damping is kept."""

    name = "quasi_static"

    def stepper(self, model: Model, options: Options, phases: Phases) -> ThetaStepper:
        """What takes the steps."""
        return ThetaStepper(model, options, phases, theta=1.0, inertia=False)


@dataclass(frozen=True)
class Theta:
    """The theta scheme with mass.

    Parameters
    ----------
    theta
        Between 1/2, which dissipates nothing, and 1.
    lumped
        Take the mass lumped onto the nodes.
    settle
        Start from the static equilibrium under the loads of time 0, contacts included.
    """

    theta: float = 0.5
    lumped: bool = False
    settle: bool = False

    name = "theta"

    def stepper(self, model: Model, options: Options, phases: Phases) -> ThetaStepper:
        """What takes the steps."""
        return ThetaStepper(
            model,
            options,
            phases,
            theta=self.theta,
            inertia=True,
            lumped=self.lumped,
            settle=self.settle,
        )


class ThetaStepper(LinearStepper):
    """Takes steps of the theta scheme."""

    def __init__(
        self,
        model: Model,
        options: Options,
        phases: Phases,
        *,
        theta: float,
        inertia: bool,
        lumped: bool = False,
        settle: bool = False,
    ) -> None:
        if not 0.5 <= theta <= 1.0:
            raise InputError(f"scheme.theta: {theta} must be between 0.5 and 1")
        self.theta, self._settle = theta, settle
        if not inertia:
            _refuse_free_motion(model)
        super().__init__(model, options, phases, inertia=inertia, lumped=lumped)

    def start(self) -> State:
        state = super().start()
        return settled(self, state) if self._settle else state

    def timing(self, h: float) -> Timing:
        return Timing(h, self.theta, h * (1.0 - self.theta))

    def matrix(self, h: float) -> sparse.csr_array:
        a = h * self.theta
        return sparse.csr_array(self.M + a * self.C + a**2 * self.K)

    def loads(self, t: float, h: float) -> FloatArray:
        F = self.theta * self.model.external(t + h)
        if self.theta < 1.0:
            F += (1.0 - self.theta) * self.model.external(t)
        return F

    def right_side(self, before: Motion, F: FloatArray, h: float) -> FloatArray:
        b: FloatArray = h * F - h * self.stiff(before.q)
        if self.inertia:
            b += self.M @ before.v
        if self.theta < 1.0:
            ahead = h * (1.0 - self.theta)
            b -= ahead * (self.C @ before.v) + h * self.theta * ahead * self.stiff(before.v)
        return b

    def advance(self, before: Motion, w: FloatArray, h: float) -> Motion:
        return Motion(before.q + h * (self.theta * w + (1.0 - self.theta) * before.v), w)

    def middle(self, before: Motion, after: Motion) -> tuple[FloatArray, FloatArray]:
        a, b = self.theta, 1.0 - self.theta
        return a * after.q + b * before.q, a * after.v + b * before.v

    def numerical_dissipation(self, before: Motion, after: Motion) -> float:
        dq = after.q - before.q
        lost = float(dq @ (self.K @ dq))
        if self.inertia:
            dv = after.v - before.v
            lost += float(dv @ (self.M @ dv))
        return (self.theta - 0.5) * lost


def _refuse_free_motion(model: Model) -> None:
    free = free_motions(model, glued=True)
    if not free:
        return
    listed = "; ".join(f"body {f.body!r}: {f.motion}" for f in free)
    raise SingularSystem(
        f"only contact would hold the body, and a quasi-static step needs more ({listed}). "
        "Prescribe the motion, add a spring ([springs.NAME] with on, kx, ky), or use a dynamic "
        "scheme with mass"
    )
