"""How far an obstacle has come: closed forms, late times, small units, kinks, and no memory."""

from __future__ import annotations

import numpy as np
import pytest

from fecontact.conditions.travel import Travel
from fecontact.contact import HalfPlane
from fecontact.errors import ConditionError
from fecontact.expressions import Table, as_field

WAVE = "0.6 * sin(40 * t)"


def way(t: float) -> float:
    return 0.6 * (1.0 - np.cos(40.0 * t)) / 40.0


@pytest.mark.parametrize("t", [0.0, 1e-9, 0.01, 0.5, 0.9999, 1.0, 3.3, 64.0, 1000.0])
def test_a_wave_is_followed_early_and_late(t: float) -> None:
    assert Travel(as_field(WAVE))(t) == pytest.approx(way(t), abs=1e-13 * max(1.0, 0.6 * t))


def test_units_do_not_matter() -> None:
    """Kinks of velocities that are tiny beside one are found all the same."""
    for size in (1e-15, 1.0, 1e12):
        travel = Travel(as_field(f"{size} * (t > 0.3) * (t < 0.45)"))
        assert travel(0.44) == pytest.approx(0.14 * size, rel=1e-9)
        assert travel(2.0) == pytest.approx(0.15 * size, rel=1e-9)


def test_a_value_does_not_depend_on_what_was_asked_before() -> None:
    """Else a run that is resumed would not give the same bits."""
    asked, fresh = Travel(as_field(WAVE)), Travel(as_field(WAVE))
    times = np.cumsum(np.full(3000, 1e-3))
    values = [asked(t) for t in times]
    assert fresh(times[-1]) == values[-1]
    assert fresh(times[700]) == values[700]
    assert asked(times[3]) == values[3]


def test_tables_and_numbers_are_exact() -> None:
    table = Travel(Table((0.0, 1.0, 3.0), (0.0, 2.0, 0.0)))
    assert [table(t) for t in (0.5, 5.0, 0.5)] == pytest.approx([0.25, 3.0, 0.25], rel=1e-15)
    assert Travel(as_field(0.25))(8.0) == 2.0


def test_the_way_back_cancels() -> None:
    """A mean velocity over a step, a difference of two ways, keeps its digits."""
    plane = HalfPlane(velocity=(0.0, WAVE))
    t, h = 9.7, 1e-4
    mean = plane.surface_velocity(np.zeros((1, 2)), t, h)[0, 1]
    assert mean == pytest.approx((way(t + h) - way(t)) / h, abs=1e-10)


def test_what_varies_too_fast_is_told() -> None:
    travel = Travel(as_field("sin(1e7 * t)"), "obstacle.velocity")
    with pytest.raises(ConditionError, match=r"obstacle\.velocity: between t = .* varies too fast"):
        travel(1.0)
