"""What a step leaves in the files: all that a certificate is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fecontact.schemes import Place, State, StepResult
from fecontact.typing import FloatArray


@dataclass(frozen=True, eq=False)
class SavedStep:
    """What a step leaves in the files: all that a certificate is made from.

    Attributes
    ----------
    number, t, h
        Number of the step, time at its end, its size.
    q, v, a : (ndof,)
        Displacement, velocity and acceleration at the end; a is None where the scheme has none.
    q_before, v_before, a_before : (ndof,)
        The same at its start.
    supports, contact : (ndof,)
        Forces of prescribed motion and of contact at the nodes, in global axes.
    place
        Where the contacts were written, None where the scheme says it beforehand.
    points
        Of bodies with a memory, at the start of an implicit step or at the end of an explicit one:
        deformation gradients F (n_points, 5), mean stress (n_points,), deviators (n_points, nb, 4).
    reactions, friction : mapping to (n_candidates, dim) and (n_candidates,)
        Local forces of every candidate and coefficients that they were computed with, by contact.
    non_unique
        Contacts for which the solver found μ |w_NT| >= w_NN.
    """

    number: int
    t: float
    h: float
    q: FloatArray
    v: FloatArray
    a: FloatArray | None
    q_before: FloatArray
    v_before: FloatArray
    a_before: FloatArray | None
    supports: FloatArray
    contact: FloatArray
    place: Place | None = None
    points: Mapping[str, FloatArray] | None = None
    reactions: Mapping[str, FloatArray] = field(default_factory=dict)
    friction: Mapping[str, FloatArray] = field(default_factory=dict)
    non_unique: int = 0


def saved_step(result: StepResult) -> SavedStep | None:
    """What a step leaves; None where it does not know the state that it started from."""
    before, after = result.before, result.state
    if before is None:
        return None
    return SavedStep(
        number=result.number,
        t=result.t,
        h=result.h,
        q=after.q,
        v=after.v,
        a=after.a,
        q_before=before.q,
        v_before=before.v,
        a_before=before.a,
        supports=result.support_forces.ravel(),
        contact=result.contact_forces.ravel(),
        place=result.place,
        points=_points(before, after),
        reactions={name: state.force for name, state in result.contacts.items()},
        friction={name: state.friction for name, state in result.contacts.items()},
        non_unique=result.report.non_unique if result.report else 0,
    )


def _points(before: State, after: State) -> dict[str, FloatArray] | None:
    # the explicit scheme keeps more than the configuration
    memory = getattr(after.memory, "configuration", before.memory)
    if memory is None:
        return None
    return {"F": memory.F, "mean": memory.material.mean, "deviators": memory.material.deviators}
