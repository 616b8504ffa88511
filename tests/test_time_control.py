"""Steps: fixed, adaptive with retry down to a floor, cut at output times; and what is told."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fecontact.body import Solid
from fecontact.case import build, read_case
from fecontact.cli import main
from fecontact.conditions import Initial
from fecontact.contact import PairContact
from fecontact.errors import InputError, NotConverged, Tunnelling
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.output import Progress
from fecontact.schemes import Theta
from fecontact.simulation import Simulation, Times

CASES = Path(__file__).parent.parent / "cases"


def approaching(times: Times, gap: float = 0.92) -> Simulation:
    """Two blocks of 1 m, 4 elements along a side, that approach with 10 m/s."""
    left = rectangle(1.0, 1.0, 4, 4, kind="quad")
    right = rectangle(1.0, 1.0, 4, 4, kind="quad", origin=(1.0 + gap, 0.0))
    mesh = Mesh.merge({"left": left, "right": right})
    rock = IsotropicElastic(1e7, 0.0, density=1000.0)
    model = Model(
        Solid(mesh, {"left": rock, "right": rock}),
        contacts=[PairContact("left.right", "right.left", name="faces")],
        initial=[Initial("left", vx=5.0), Initial("right", vx=-5.0)],
    )
    return Simulation(model, Theta(0.7), times)


def test_a_step_that_tunnels_ends_a_run_of_fixed_steps() -> None:
    result = approaching(Times(end=0.4, steps=2)).run()
    assert isinstance(result.failure, Tunnelling)
    assert not result.converged
    assert "step 1 of 2, from t = 0 with h = 0.2" in str(result.failure)
    assert "time.adaptive" in str(result.failure)


def test_it_is_repeated_with_half_the_size_and_grows_back() -> None:
    result = approaching(Times(end=0.4, steps=2, adaptive=True)).run()
    assert result.converged
    h = result.history["h"]
    # what starts at half a step is a power of two of it, but where it is cut at the end
    ratio = np.log2(0.2 / h[:-1])
    assert np.allclose(ratio, np.round(ratio))
    assert h.min() == pytest.approx(0.025)
    assert np.isclose(h[1:-1] / h[:-2], 2.0).any()
    assert (result.history["RN_faces"] > 0.0).any()
    assert result.final.t == pytest.approx(0.4, rel=1e-12)
    # they have bounced
    left = result.simulation.model.mesh.node_numbers("left")
    assert result.final.velocity[left, 0].mean() < 0.0


def test_the_floor_is_told() -> None:
    result = approaching(Times(end=0.4, steps=2, adaptive=True, min_step=0.09)).run()
    assert isinstance(result.failure, Tunnelling)
    text = str(result.failure)
    assert "h = 0.1 (the smallest allowed is 0.09)" in text
    assert result.last is None


def slow_solver(tmp_path: Path, *settings: str) -> list[str]:
    """A command that runs the sliding block with too few sweeps."""
    keys = [
        "solver.name=nsgs",
        "solver.max_iterations=2",
        "output.fields=false",
        "output.figures=false",
        *settings,
    ]
    flags = [word for key in keys for word in ("--set", key)]
    return ["run", str(CASES / "sliding_block.toml"), "--out", str(tmp_path / "out"), *flags]


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_a_solver_that_gives_up_is_exit_code_3(
    adaptive: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [f"time.adaptive={adaptive}"]
    if adaptive == "true":
        settings.append("time.min_step=0.25")
    assert main(slow_solver(tmp_path, *settings)) == 3
    told = capsys.readouterr().err
    size = "h = 0.25 (the smallest allowed is 0.25)" if adaptive == "true" else "h = 1:"
    assert size in told
    assert (tmp_path / "out" / "summary.json").is_file()


def test_failure_carries_the_best_iterate() -> None:
    case = read_case(CASES / "sliding_block.toml", ["solver.name=nsgs", "solver.max_iterations=2"])
    with pytest.raises(NotConverged) as caught:
        list(build(case).steps())
    assert caught.value.best.contacts["base"].force[:, 0].sum() > 0.0
    assert caught.value.report.residual > caught.value.report.tolerance


# output times


@given(
    end=st.floats(1e-3, 1e3),
    steps=st.integers(1, 40),
    parts=st.lists(st.floats(1e-3, 1.0), max_size=6),
)
def test_steps_end_at_every_output_time(end: float, steps: int, parts: list[float]) -> None:
    outputs = sorted({end * part for part in parts})
    times = Times(end=end, steps=steps, outputs=tuple(outputs))
    t, reached, count = 0.0, [], 0
    while not times.is_end(t):
        h = times.cut(t, times.size)
        assert 0.0 < h <= times.size * (1.0 + 1e-6)
        t += h
        count += 1
        assert count <= steps + len(outputs) + 1
        if times.is_output(t):
            reached.append(t)
    assert t == pytest.approx(end, rel=1e-9)
    for wanted in outputs:
        assert min(abs(wanted - s) for s in reached) <= 2e-9 * times.size


@pytest.mark.parametrize("adaptive", [True, False])
def test_kept_steps_are_those_asked_for(adaptive: bool) -> None:
    outputs = (0.0137, 0.05, 0.06)
    result = approaching(
        Times(end=0.06, steps=7, adaptive=adaptive, outputs=outputs), gap=0.2
    ).run()
    assert [step.t for step in result.steps] == pytest.approx(list(outputs), rel=1e-12)
    assert len(result.history) >= 8


def test_times_that_cannot_be() -> None:
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"end": 0.0}, "time.end"),
        ({"step": 2.0}, "time.step"),
        ({"steps": 0}, "time.steps"),
        ({"step": 0.1, "steps": 3}, "both given"),
        ({"steps": 2, "min_step": 0.6}, "time.min_step"),
        ({"outputs": (0.5, 1.5)}, "output.times: 1.5"),
    )
    for bad, message in cases:
        with pytest.raises(InputError, match=message):
            Times(**bad)


# progress


@pytest.mark.parametrize(("adaptive", "shown"), [(True, "step 1, t ="), (False, "step 1/7, t =")])
def test_progress_promises_no_count_of_adaptive_steps(adaptive: bool, shown: str) -> None:
    stream = io.StringIO()
    times = Times(end=0.06, steps=7, adaptive=adaptive)
    approaching(times, gap=0.2).run(Progress(stream))
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith(shown) or any(line.startswith(shown) for line in lines)
    assert "t = 0.06" in lines[-1]
    assert all("remain" in line for line in lines[:-1])
