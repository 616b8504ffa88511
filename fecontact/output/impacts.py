"""Restitution from one step of contact to the next: what a scheme makes of an impact.

While two bodies stay in contact their normal velocity is zero. A scheme that leaves a velocity u_N
in a step and -e u_N in the next has a restitution e of its own, which no law asked for. With the
gap at the end of the step in the theta scheme it is (1-θ)/θ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fecontact.history import per_thickness
from fecontact.schemes import Newmark, Theta
from fecontact.simulation import Result

_NEGLIGIBLE = 1e-6
"""Part of the largest velocity below which the bodies follow each other."""


def step_restitution(result: Result, contact: str) -> float | None:
    """Restitution e of a contact between steps that both push, in the mean of squares.

    0 where no velocity is left; None where the scheme has no velocities of its own, or where there
    was no impact: nothing pushed, or all pushed from the start.
    """
    if not isinstance(result.simulation.scheme, Theta | Newmark):
        return None
    pushes = result.history[f"RN_{contact}"] > 0.0
    if len(pushes) < 3 or pushes[0]:
        return None
    u = result.history[f"uN_{contact}"]
    # by the kinetic energy of all steps: those kept may all be at rest
    largest = float(np.sqrt(2.0 * result.history["energy_kinetic"].max() / _mass(result)))
    both = pushes[1:] & pushes[:-1]
    if not both.any():
        return None
    before, after = u[:-1][both], u[1:][both]
    counted = np.abs(before) > _NEGLIGIBLE * largest
    if not counted.any():
        return 0.0
    before, after = before[counted], after[counted]
    return float(-(before @ after) / (before @ before))


def _mass(result: Result) -> float:
    """Mass of the bodies, per unit thickness as the energies of the history."""
    model = result.simulation.model
    along = np.zeros(model.n_dofs)
    along[1 :: model.mesh.dim] = 1.0
    return per_thickness(model.solid) * float(along @ (model.assembler.mass() @ along))


def impact_notes(runs: Sequence[tuple[str, Result]]) -> list[str]:
    """What is to be told of runs whose scheme makes a restitution that no law asked for."""
    notes = []
    for label, result in runs:
        scheme = result.simulation.scheme
        for interface in result.simulation.model.interfaces:
            measured = step_restitution(result, interface.name)
            if measured is None or abs(measured) < 0.01:
                continue
            text = (
                f"{label}: while contact {interface.name!r} lasts, its normal velocity comes back "
                f"with a false restitution of {measured:.3f} from step to step"
            )
            if isinstance(scheme, Theta) and interface.law.condition == "end_gap":
                theta = scheme.theta
                text += (
                    f"; the gap at the end of the step makes (1 - theta)/theta = "
                    f"{(1.0 - theta) / theta:.3f}"
                )
            notes.append(text)
    return notes
