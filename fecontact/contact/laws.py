"""Laws of a contact: the unilateral condition, friction, and what softens them.

Conditions, with g̃ the gap in the configuration of detection and u⁻ the velocity before the step:

- ``gap``: 0 <= u_N + g̃/h ⟂ r_N >= 0, the gap met at t_{k+1} + h(1-θ);
- ``end_gap``: 0 <= u_N + g̃/(hθ) ⟂ r_N >= 0, the gap met at t_{k+1}, kept for comparison: it makes
  a false restitution (1-θ)/θ;
- ``velocity``: where the gap forecast for the middle of the step is closed,
  0 <= u_N + ρ u_N⁻ ⟂ r_N >= 0, and friction sees u_T + τ u_T⁻ (Moreau's weighted velocities, ρ and
  τ the coefficients of restitution; 0 is the inelastic shock).

Regularised laws add a compliance to the contact: R_N = k_N times the penetration, R_T = -η_T u_T
inside the friction bound. In the friction problem both are terms on the diagonal of W.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fecontact.errors import ContactError, choices
from fecontact.expressions import Value, as_field
from fecontact.typing import BoolArray, FloatArray, IntArray

Condition = Literal["gap", "end_gap", "velocity"]
Friction = Literal["coulomb", "tresca", "frictionless", "glued"]
CONDITIONS: tuple[str, ...] = ("gap", "end_gap", "velocity")
FRICTION_LAWS: tuple[str, ...] = ("coulomb", "tresca", "frictionless", "glued")


@dataclass(frozen=True)
class Law:
    """The law of one contact.

    Parameters
    ----------
    condition
        Unilateral condition: ``"gap"``, ``"end_gap"`` or ``"velocity"``.
    friction_law
        ``"coulomb"``, ``"tresca"``, ``"frictionless"``, or ``"glued"``: no relative motion from
        where the contact starts, in traction too.
    friction
        Coulomb's coefficient, the static one where `dynamic_friction` is given: a number or an
        expression of x and y at the start.
    dynamic_friction
        Coefficient while sliding, at most the static one.
    decay_velocity
        Where positive, the coefficient falls from static to dynamic as exp(-v/this) with the slip
        velocity v.
    threshold
        Tresca's bound of the tangential reaction per area.
    restitution, tangential_restitution
        Of the condition ``"velocity"``.
    normal_stiffness
        Reaction per area and penetration; None is rigid.
    tangential_viscosity
        Tangential reaction per area and velocity inside the bound; None is rigid.
    """

    condition: Condition = "gap"
    friction_law: Friction = "coulomb"
    friction: Value = 0.0
    dynamic_friction: Value | None = None
    decay_velocity: float = 0.0
    threshold: Value = 0.0
    restitution: float = 0.0
    tangential_restitution: float = 0.0
    normal_stiffness: float | None = None
    tangential_viscosity: float | None = None

    def check(self, where: str) -> None:
        """Refuse what is no law, naming the key below `where`."""
        for key, known in (("condition", CONDITIONS), ("friction_law", FRICTION_LAWS)):
            value = getattr(self, key)
            if value not in known:
                raise ContactError(
                    f"{where}.{key}: {value!r} is not a choice; {choices(str(value), known)}"
                )
        for key in ("restitution", "tangential_restitution"):
            value = getattr(self, key)
            if not 0.0 <= value <= 1.0:
                raise ContactError(f"{where}.{key}: {value:g} must be between 0 and 1")
            if value and self.condition != "velocity":
                raise ContactError(
                    f"{where}.{key}: only the condition 'velocity' has a restitution, this contact "
                    f"has {self.condition!r}"
                )
        for key in ("normal_stiffness", "tangential_viscosity"):
            value = getattr(self, key)
            if value is not None and not value > 0.0:
                raise ContactError(f"{where}.{key}: {value:g} must be positive")
            if value is not None and self.friction_law == "glued":
                raise ContactError(
                    f"{where}.{key}: a glued contact allows no relative motion; leave it out, or "
                    "take another friction_law"
                )
        if self.normal_stiffness is not None and self.condition == "velocity":
            raise ContactError(
                f"{where}.normal_stiffness: the condition 'velocity' does not see how deep a "
                "candidate is; use 'gap'"
            )
        if not self.decay_velocity >= 0.0:
            raise ContactError(f"{where}.decay_velocity: {self.decay_velocity:g} must be >= 0")
        if self.friction_law != "coulomb" and self.dynamic_friction is not None:
            raise ContactError(f"{where}.dynamic_friction: only the friction law 'coulomb' has one")


@dataclass(frozen=True, eq=False)
class PointLaws:
    """Laws of contacts as arrays, an entry for each contact.

    Attributes
    ----------
    condition, friction_law : NDArray[int8] (nc,)
        Places in `CONDITIONS` and `FRICTION_LAWS`.
    friction, dynamic, decay : FloatArray (nc,)
        Static and dynamic coefficient and the velocity of the decay between them.
    threshold : FloatArray (nc,)
        Tresca's bound, a force.
    restitution, tangential_restitution : FloatArray (nc,)
        Of the condition on velocities.
    compliance : FloatArray (nc,)
        Penetration by normal force; 0 is rigid.
    mobility : FloatArray (nc,)
        Slip velocity by tangential force inside the bound; 0 is rigid.
    """

    condition: NDArray[np.int8]
    friction_law: NDArray[np.int8]
    friction: FloatArray
    dynamic: FloatArray
    decay: FloatArray
    threshold: FloatArray
    restitution: FloatArray
    tangential_restitution: FloatArray
    compliance: FloatArray
    mobility: FloatArray

    def __len__(self) -> int:
        return len(self.friction)

    def take(self, which: IntArray | BoolArray) -> PointLaws:
        """The laws of some of the contacts."""
        return PointLaws(*(getattr(self, f.name)[which] for f in fields(self)))

    def has(self, name: str) -> BoolArray:
        """(nc,) where the condition or the friction law has this name."""
        if name in CONDITIONS:
            return np.asarray(self.condition == CONDITIONS.index(name))
        return np.asarray(self.friction_law == FRICTION_LAWS.index(name))

    def shared(self, part: FloatArray | float) -> PointLaws:
        """The laws of contacts that act on a part (nc,) of their area."""
        return replace(
            self,
            threshold=self.threshold * part,
            compliance=self.compliance / part,
            mobility=self.mobility / part,
        )

    def bound(self, normal: FloatArray, friction: FloatArray) -> FloatArray:
        """Friction bound (nc,) for normal forces and coefficients (nc,); inf for glued contacts."""
        bound = friction * np.maximum(normal, 0.0)
        bound = np.where(self.has("tresca"), np.where(normal > 0.0, self.threshold, 0.0), bound)
        return np.asarray(np.where(self.has("glued"), np.inf, bound))


def join(laws: Sequence[PointLaws]) -> PointLaws:
    """The laws of several contacts one after another."""
    if not laws:
        none = np.zeros(0)
        codes = np.zeros(0, dtype=np.int8)
        return PointLaws(codes, codes, *[none] * (len(fields(PointLaws)) - 2))
    return PointLaws(
        *(np.concatenate([getattr(one, f.name) for one in laws]) for f in fields(PointLaws))
    )


def point_laws(
    law: Law, positions: FloatArray, nodes: IntArray, support: FloatArray, where: str
) -> PointLaws:
    """The law at the candidates of a contact.

    Parameters
    ----------
    law
        As the user gave it.
    positions, nodes
        Reference positions (nc, dim) and numbers (nc,) of the candidates.
    support
        Area of each candidate (nc,).
    where
        Place for messages.
    """
    law.check(where)
    n = len(nodes)

    def values(key: str, given: Value) -> FloatArray:
        field = as_field(given, f"{where}.{key}")
        if field.varies_in_time:
            raise ContactError(
                f"{where}.{key}: it depends on t; give a number or an expression of x and y"
            )
        found = field(positions, 0.0)
        if (found < 0.0).any():
            worst = int(np.argmin(found))
            what = "a threshold" if key == "threshold" else "a friction coefficient"
            raise ContactError(
                f"{where}.{key}: {found[worst]:g} at node {nodes[worst]}; {what} must be >= 0"
            )
        return found

    static = values("friction", law.friction)
    if law.friction_law != "coulomb":
        static = np.zeros(n)
    dynamic = static
    if law.dynamic_friction is not None:
        dynamic = values("dynamic_friction", law.dynamic_friction)
        if (dynamic > static).any():
            worst = int(np.argmax(dynamic - static))
            raise ContactError(
                f"{where}.dynamic_friction: {dynamic[worst]:g} at node {nodes[worst]} is more than "
                f"the static coefficient {static[worst]:g}"
            )

    def softness(modulus: float | None) -> FloatArray:
        return np.zeros(n) if modulus is None else 1.0 / (modulus * support)

    return PointLaws(
        condition=np.full(n, CONDITIONS.index(law.condition), dtype=np.int8),
        friction_law=np.full(n, FRICTION_LAWS.index(law.friction_law), dtype=np.int8),
        friction=static,
        dynamic=dynamic,
        decay=np.full(n, law.decay_velocity),
        threshold=values("threshold", law.threshold) * support,
        restitution=np.full(n, law.restitution),
        tangential_restitution=np.full(n, law.tangential_restitution),
        compliance=softness(law.normal_stiffness),
        mobility=softness(law.tangential_viscosity),
    )


def as_law(law: Law | None, friction: Value) -> Law:
    """The law of a contact given as a `Law`, or as a coefficient alone."""
    if law is None:
        return Law(friction=friction)
    if friction != 0.0:
        raise ContactError("contact: give friction in the law or beside it, not both")
    return law
