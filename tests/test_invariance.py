"""The shipped cases give the same mechanics in any frame, in any units, with any numbering."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fecontact.case import build
from fecontact.certificate import Certifier, limits, saved_step
from fecontact.conditions import Spring
from fecontact.schemes import Implicit, StepResult
from fecontact.simulation import Simulation
from tests.changed_frames import Frame, changed
from tests.small_cases import shipped_cases, small_case

FRAMES = {
    "turned": Frame(angle=0.7),
    "turned by a quarter": Frame(angle=0.5 * np.pi),
    "mirrored": Frame(mirror=True),
    "moved": Frame(shift=(3.0, -2.0)),
    "larger": Frame(length=37.0),
    "stiffer": Frame(stress=1e-4),
    "millimetres": Frame(length=1e3, stress=1e-6),
    "milliseconds": Frame(time=1e3),
    "microns": Frame(length=1e6, stress=1e-12),
    "renumbered": Frame(shuffle=3),
    "all at once": Frame(angle=-2.1, mirror=True, length=12.0, time=0.3, stress=3e5, shuffle=5),
}
LEFT_OUT = ("turned by a quarter", "larger", "stiffer", "microns")
"""Frames that are left to the slow tests."""
ACCURACY = 1e-9


def prepared(name: str) -> Simulation:
    """A reduced case, solved as well as rounding allows, with springs alike along x and y."""
    simulation = build(small_case(name))
    model, scheme = simulation.model, simulation.scheme
    if isinstance(scheme, Implicit):
        scheme = replace(scheme, tolerance=1e-11)
    springs = [replace(s, kx=s.ky) for s in model.springs if isinstance(s, Spring)]
    return replace(
        simulation,
        model=replace(model, springs=springs),
        scheme=scheme,
        drawings=(),
        options=replace(simulation.options, tolerance=1e-12),
    )


def ends(simulation: Simulation) -> list[StepResult]:
    return [step for step in simulation.steps() if step.number % simulation.save_every == 0]


@pytest.fixture(scope="module")
def known() -> dict[str, tuple[Simulation, list[StepResult]]]:
    return {}


@pytest.mark.parametrize(
    "view",
    [pytest.param(name, marks=[pytest.mark.slow] if name in LEFT_OUT else []) for name in FRAMES],
)
@pytest.mark.parametrize("name", shipped_cases())
def test_results_transform_with_the_frame(
    name: str, view: str, known: dict[str, Any], gmsh: Any
) -> None:
    frame = FRAMES[view]
    if name not in known:
        simulation = prepared(name)
        known[name] = simulation, ends(simulation)
    simulation, steps = known[name]
    other, new = changed(simulation, frame)
    certifier = Certifier(other.model, other.scheme)
    for old, seen in zip(steps, ends(other), strict=True):
        # a frame far from the origin has the rounding of its coordinates in its gaps
        far = max(1.0, np.abs(frame.shift).max() / np.ptp(simulation.model.mesh.nodes))
        size = np.abs(old.displacement).max()
        u = frame.vectors(old.displacement, frame.length)
        np.testing.assert_allclose(
            seen.displacement[new], u, rtol=0.0, atol=far * ACCURACY * frame.length * size
        )
        forces = frame.vectors(old.contact_forces, frame.force)
        size = max(np.abs(forces).max(), frame.force * np.abs(old.support_forces).max())
        np.testing.assert_allclose(
            seen.contact_forces[new], forces, rtol=0.0, atol=far * ACCURACY * size
        )
        for contact, state in old.contacts.items():
            there = seen.contacts[contact]
            place = {int(node): i for i, node in enumerate(there.nodes)}
            order = [place[int(new[node])] for node in state.nodes]
            wanted = frame.force * state.force * [1.0, frame.hand]
            np.testing.assert_allclose(
                there.force[order], wanted, rtol=0.0, atol=far * ACCURACY * size
            )
        saved = saved_step(seen)
        assert saved is not None
        assert certifier(saved).failures(limits(1e-10)) == []
