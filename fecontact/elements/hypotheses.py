"""The two-dimensional hypotheses and what they do to the out-of-plane direction."""

from __future__ import annotations

from typing import Literal, get_args

from fecontact.errors import InputError, choices

Hypothesis = Literal["plane_strain", "plane_stress", "axisymmetric"]
QuadOption = Literal["full", "bbar", "selective"]

HYPOTHESES: tuple[Hypothesis, ...] = get_args(Hypothesis)
QUAD_OPTIONS: tuple[QuadOption, ...] = get_args(QuadOption)


def check_hypothesis(name: str) -> Hypothesis:
    """The hypothesis of that name, or an `InputError` that lists them."""
    for known in HYPOTHESES:
        if name == known:
            return known
    raise InputError(f"hypothesis {name!r} is not known; {choices(str(name), HYPOTHESES)}")


def check_quad_option(name: str) -> QuadOption:
    """The Q4 formulation of that name, or an `InputError` that lists them."""
    for known in QUAD_OPTIONS:
        if name == known:
            return known
    raise InputError(f"quad formulation {name!r} is not known; {choices(str(name), QUAD_OPTIONS)}")
