"""How far reactions and velocities are from the laws of contact, as numbers without dimension.

Forces are measured by a force of the problem and velocities by a velocity of the problem, so that
no choice of units makes one of them vanish beside the other. A pair that must not be positive at
once (a gap and a reaction, a slip and the distance to the friction that opposes it) counts by the
smaller of the two.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from fecontact.typing import BoolArray, FloatArray

_HUGE = 1e100


@dataclass(frozen=True)
class LawFigures:
    """Largest violations over the contacts, with the contact that has each.

    Attributes
    ----------
    pulling
        Normal reactions below zero.
    cone
        Tangential reactions beyond the friction bound.
    penetration
        Normal velocities that the unilateral condition forbids.
    complementarity
        Reactions of contacts that open.
    sliding
        Slip without the friction that opposes it: too little, or along the motion.
    """

    pulling: tuple[float, int]
    cone: tuple[float, int]
    penetration: tuple[float, int]
    complementarity: tuple[float, int]
    sliding: tuple[float, int]

    @property
    def worst(self) -> float:
        """The largest of all."""
        return max(float(getattr(self, f.name)[0]) for f in fields(self))


def law_figures(
    reaction: FloatArray,
    velocity: FloatArray,
    bound: FloatArray,
    force_scale: float,
    velocity_scale: float,
    *,
    glued: BoolArray | None = None,
    rounding: float = 0.0,
) -> LawFigures:
    """Violations of 0 <= y_N ⟂ R_N >= 0 and of friction with a bound.

    Parameters
    ----------
    reaction : (nc, dim)
        Normal first.
    velocity : (nc, dim)
        What the laws see: the relative velocity with the gap over the step, or the restitution,
        added.
    bound : (nc,)
        Largest tangential reaction.
    force_scale, velocity_scale
        Sizes of forces and velocities of the problem; 0 where all are zero.
    glued : (nc,), optional
        Contacts that allow no relative motion and any reaction.
    rounding
        Taken off every component of velocity.
    """
    n = len(reaction)
    free = np.ones(n, dtype=bool) if glued is None else ~glued
    force = reaction / force_scale if force_scale > 0.0 else reaction
    limit = np.where(free, bound, 0.0) / (force_scale if force_scale > 0.0 else 1.0)
    seen = np.sign(velocity) * np.maximum(np.abs(velocity) - rounding, 0.0)
    if velocity_scale > 0.0:
        # a square must not overflow where the scale is that of rounding
        seen = np.clip(seen / velocity_scale, -_HUGE, _HUGE)
    normal, tangential = force[:, 0], force[:, 1:]
    y, slip = seen[:, 0], seen[:, 1:]
    speed = np.linalg.norm(slip, axis=1)
    direction = slip / np.where(speed > 0.0, speed, 1.0)[:, None]
    opposed = np.linalg.norm(tangential + limit[:, None] * direction, axis=1)
    held = np.linalg.norm(seen, axis=1)
    return LawFigures(
        pulling=_largest(np.where(free, -normal, 0.0)),
        cone=_largest(np.where(free, np.linalg.norm(tangential, axis=1) - limit, 0.0)),
        penetration=_largest(np.where(free, -y, held)),
        complementarity=_largest(np.where(free, np.minimum(y, normal), 0.0)),
        sliding=_largest(np.where(free, np.minimum(speed, opposed), 0.0)),
    )


def _largest(values: FloatArray) -> tuple[float, int]:
    """The largest value, at least 0, and where; a value that is no number is infinite."""
    if len(values) == 0:
        return 0.0, -1
    values = np.where(np.isnan(values), np.inf, values)
    place = int(np.argmax(values))
    worst = float(values[place])
    return (worst, place) if worst > 0.0 else (0.0, -1)
