"""What schemes of moving bodies refuse, and what they do when a step or the memory fails them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fecontact.errors import InputError, NotConverged, SingularSystem
from fecontact.schemes import contact, implicit
from fecontact.schemes.implicit import ImplicitStepper
from tests.small_cases import block

IMPLICIT: dict[str, Any] = {
    "scheme": {"name": "implicit"},
    "initial": {},
    "loads": {"p": {"type": "pressure", "on": "top", "value": "1e4 * t"}},
    "prescribed": {"p": {"on": "left", "ux": 0.0}},
    "springs": {"s": {"on": "bottom", "kx": 1e3, "ky": 1e3}},
    "time": {"end": 1.0, "steps": 2},
}


@pytest.mark.parametrize(
    ("scheme", "changes", "message"),
    [
        ("implicit", {"contact.floor.condition": "velocity"}, r"floor\.condition: 'velocity'"),
        ("explicit", {"contact.floor.condition": "velocity"}, r"floor\.condition: 'velocity'"),
        ("implicit", {"materials.m.damping": {"kelvin_voigt": 1e-3}}, r"has no damping"),
        ("explicit", {"prescribed": {"p": {"on": "left", "ux": 0.0, "angle": 10}}}, "turned axes"),
        (
            "explicit",
            {"contact.floor.friction_law": "tresca", "contact.floor.threshold": 1e3},
            "Coulomb's law with one coefficient",
        ),
        ("explicit", {"contact.floor.dynamic_friction": 0.1}, "one coefficient"),
    ],
)
def test_what_a_scheme_does_not_know_is_refused(
    scheme: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        block({**IMPLICIT, "scheme": {"name": scheme}, **changes}).prepare()


def test_a_tangent_that_does_not_fit_is_refused_before_it_is_factorised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulation = block(IMPLICIT)
    plain = simulation.memory()
    assert plain is not None
    monkeypatch.setattr(implicit, "_LARGE", 0)
    small = replace(plain, factors=10**15)
    monkeypatch.setattr(ImplicitStepper, "_expected", lambda *_: small)
    with pytest.raises(InputError, match=r"the tangent of \d+ dofs does not fit in memory"):
        simulation.prepare()


def test_a_step_is_tried_from_rest_where_the_last_velocity_leads_astray(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulation = block(IMPLICIT)
    first, second = simulation.steps()
    plain, guesses = ImplicitStepper._newton, []

    def astray(self: ImplicitStepper, state: Any, h: float, guess: Any) -> Any:
        guesses.append(bool(guess.any()))
        if guess.any():
            raise NotConverged("astray")
        return plain(self, state, h, guess)

    monkeypatch.setattr(ImplicitStepper, "_newton", astray)
    again = simulation.prepare().step(first.state, second.h)
    assert guesses == [True, False]
    np.testing.assert_allclose(again.displacement, second.displacement, rtol=0.0, atol=1e-9)
    # a step from rest has nothing else to try
    guesses.clear()

    def fails(self: ImplicitStepper, state: Any, h: float, guess: Any) -> Any:
        guesses.append(bool(guess.any()))
        raise NotConverged("it fails")

    monkeypatch.setattr(ImplicitStepper, "_newton", fails)
    still = replace(first.state, v=np.zeros_like(first.state.v))
    with pytest.raises(NotConverged):
        simulation.prepare().step(still, second.h)
    assert guesses == [False]


def test_a_singular_tangent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def singular(*_: Any, **__: Any) -> Any:
        raise RuntimeError("Factor is exactly singular")

    monkeypatch.setattr(implicit, "splu", singular)
    with pytest.raises(SingularSystem, match="the tangent of the bodies is singular"):
        block(IMPLICIT).prepare()


def test_coefficients_that_do_not_settle_end_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = block(
        {
            "scheme": {"name": "theta", "theta": 1.0},
            "contact.floor.friction": 0.9,
            "contact.floor.dynamic_friction": 0.1,
            "contact.floor.decay_velocity": 0.1,
            "initial.a": {"vx": 0.5, "vy": -0.5},
        }
    )
    assert all(step.report is None or step.report.converged for step in simulation.steps())
    monkeypatch.setattr(contact, "_ADAPTATIONS", 1)
    with pytest.raises(NotConverged, match="did not settle in 1 solutions") as stopped:
        list(simulation.steps())
    best = stopped.value.best
    assert best is not None
    assert best.contacts["floor"].force.any()
