"""The fault in two layers: what the paper prints, both schemes, rest, and bad input."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from fecontact.case import build, read_case
from fecontact.cli import main
from fecontact.errors import CaseError, FecontactError
from fecontact.output.fault import second_invariant
from fecontact.simulation import Result
from fecontact.typing import FloatArray

pytest.importorskip("gmsh", exc_type=ImportError)
CASE = Path(__file__).parent.parent / "cases" / "fault_in_layers.toml"
V0 = 3.3e-11


def run(*settings: str) -> Result:
    result = build(read_case(CASE, settings)).run()
    assert result.failure is None, result.failure
    return result


@pytest.fixture(scope="module")
def implicit() -> Result:
    return run()


@pytest.fixture(scope="module")
def explicit() -> Result:
    return run("scheme.name=explicit")


def profile(result: Result) -> tuple[FloatArray, FloatArray]:
    state = result.contacts["fault"]
    order = np.argsort(-state.position[:, 1])
    return -state.position[order, 1], state.velocity[order, 1] / V0


def invariant(tensor: FloatArray, shear: float) -> FloatArray:
    deviator = tensor[:, :3] - tensor[:, :3].mean(axis=1, keepdims=True)
    found: FloatArray = np.sqrt(0.5 * (deviator**2).sum(axis=1) + (shear * tensor[:, 3]) ** 2)
    return found


def places(result: Result) -> FloatArray:
    """Centres of the elements at the start: triangles have one integration point."""
    return result.simulation.model.mesh.centroids()


def from_fault(points: FloatArray) -> FloatArray:
    """Distance of points from the fault at the start."""
    angle = np.radians(60.0)
    return np.asarray(
        np.abs((points[:, 0] - 10e3) * np.sin(angle) - (points[:, 1] + 5e3) * np.cos(angle))
    )


def test_sliding_grows_from_the_lower_layer_to_the_surface(implicit: Result) -> None:
    depth, sliding = profile(implicit)
    assert len(depth) == 25
    np.testing.assert_allclose(sliding[depth > 7e3], 0.0, atol=1e-6)
    rising = sliding[(depth < 7e3) & (depth > 3e3)]
    assert np.all(np.diff(rising) <= 1e-9)
    assert np.all(sliding[depth < 4e3] > 0.9)
    # the growth is fast, around the boundary of the layers
    steepest = depth[np.argmax(-np.diff(sliding))]
    assert 4.5e3 < steepest < 6e3


def test_stress_is_largest_by_the_fault_at_the_layer_boundary(implicit: Result) -> None:
    stress = implicit.final.stress
    assert stress is not None
    points = places(implicit)
    worst = points[np.argsort(invariant(stress, 1.0))[-5:]]
    assert np.all(from_fault(worst) < 1200.0)
    assert np.all(np.abs(worst[:, 1] + 5e3) < 1500.0)


def test_strain_is_largest_by_the_fault_in_the_lower_layer(implicit: Result) -> None:
    strain = implicit.final.strain
    assert strain is not None
    points = places(implicit)
    sizes = invariant(strain, 0.5)
    worst = points[np.argsort(sizes)[-5:]]
    assert np.all(worst[:, 1] < -5e3)
    assert np.all(from_fault(worst) < 1500.0)
    # the printed scale is 0.01 to 0.09; single elements at the crossing go beyond it
    assert 0.01 < np.percentile(sizes, 20) < np.percentile(sizes, 80) < 0.11
    assert np.percentile(sizes[points[:, 1] < -5e3], 50) > 1.5 * np.percentile(
        sizes[points[:, 1] > -5e3], 50
    )


def test_shortening_balance_and_work(implicit: Result) -> None:
    step = implicit.final
    left = implicit.simulation.model.mesh.node_numbers("left")
    np.testing.assert_allclose(step.displacement[left, 0], 1041.4008, rtol=1e-9)
    assert implicit.worst_balance < 1e-9
    assert implicit.worst_energy < 1e-8
    assert step.supports["left"][0] == pytest.approx(-step.supports["right"][0], rel=1e-8)
    # the weight of the section
    assert step.supports["bottom"][1] == pytest.approx(2700.0 * 9.81 * 20e3 * 10e3, rel=1e-8)


def test_explicit_agrees_with_implicit(implicit: Result, explicit: Result) -> None:
    depth, expected = profile(implicit)
    same, sliding = profile(explicit)
    np.testing.assert_allclose(same, depth)
    np.testing.assert_allclose(sliding, expected, atol=0.03)
    left = [r.final.supports["left"][0] for r in (implicit, explicit)]
    assert left[1] == pytest.approx(left[0], rel=0.02)
    # the start is a sudden push
    ratio = explicit.history["inertia_ratio"]
    assert ratio[explicit.history["time"] > 0.05 * explicit.final.t].max() < 1e-3
    assert ratio[0] > 1e-3


def test_the_page_tells_what_the_case_gives(implicit: Result) -> None:
    page = (CASE.parent.parent / "docs" / "fault.md").read_text(encoding="utf-8")
    told = re.search(r"\| as it is \| ([\d.]+) \| .*?\| ([\d.]+) TN/m", page)
    assert told is not None
    _, sliding = profile(implicit)
    assert float(told.group(1)) == pytest.approx(sliding[0], abs=0.011)
    assert float(told.group(2)) * 1e12 == pytest.approx(
        implicit.final.supports["left"][0], rel=2e-3
    )


@pytest.mark.parametrize("scheme", ["implicit", "explicit"])
def test_nothing_moves_when_nothing_pushes(scheme: str) -> None:
    result = run(
        "prescribed.left.vx=0.0", f"scheme.name={scheme}", "time.steps=25", "output.every=25"
    )
    assert np.abs(result.final.displacement).max() < 1e-6 * 10e3


def test_half_the_steps_change_little(implicit: Result) -> None:
    depth, expected = profile(implicit)
    _, sliding = profile(run("time.steps=50", "scheme.change=2e-3", "scheme.name=implicit"))
    np.testing.assert_allclose(sliding, expected, atol=0.05)
    assert len(depth) == 25


@pytest.mark.slow
def test_a_finer_mesh_changes_little(implicit: Result) -> None:
    depth, expected = profile(implicit)
    fine, sliding = profile(run("mesh.parameters.refine=2"))
    change = np.interp(depth, fine, sliding) - expected
    assert np.linalg.norm(change) < 0.05 * np.linalg.norm(expected)
    assert np.abs(change[depth < 4.5e3]).max() < 0.05


def test_second_invariants_of_pure_shear() -> None:
    # the same shear in its axes and turned by 45 degrees, with a pressure that does not count
    stress = np.array([[5.0, 1.0, 3.0, 0.0], [3.0, 3.0, 3.0, 2.0]])
    np.testing.assert_allclose(second_invariant(stress), 2.0)
    strain = np.array([[5.0, 1.0, 3.0, 0.0], [3.0, 3.0, 3.0, 4.0]])
    np.testing.assert_allclose(second_invariant(strain, strain=True), 2.0)


def test_files_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["time.steps=4", "time.end=4e4 year", "output.every=2", "output.report=false"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    out = tmp_path / "out"
    assert main(["run", str(CASE), "--out", str(out), *arguments]) == 0
    assert "step 4" in capsys.readouterr().err
    with (out / "sliding_velocity.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["depth_m", "sliding_velocity_over_v0"]
    assert len(rows) == 26
    assert [float(r[0]) for r in rows[1:]] == sorted(float(r[0]) for r in rows[1:])
    for name in ("stress_invariant", "strain_invariant"):
        assert (out / f"{name}.csv").read_text().startswith(f"x_m,y_m,{name}\n")
        assert (out / f"{name}.png").stat().st_size > 10_000
    assert (out / "sliding_velocity.png").is_file()
    assert (out / "section.gif").read_bytes()[:6] == b"GIF89a"
    assert (out / "fields.pvd").is_file()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["quantities"]["time.end"]["unit"] == "s"
    assert "sliding_velocity.csv" in summary["files"]
    assert "newton_iterations" in (out / "history.csv").read_text().splitlines()[0]


def test_tables_do_without_figures(tmp_path: Path) -> None:
    settings = ["time.steps=1", "time.end=1e4 year", "output.report=false", "output.figures=false"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    out = tmp_path / "out"
    assert main(["run", str(CASE), "--out", str(out), *arguments]) == 0
    for name in ("sliding_velocity", "stress_invariant", "strain_invariant"):
        assert (out / f"{name}.csv").is_file()
    assert not [*out.glob("*.png"), *out.glob("*.gif")]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("materials.lower.viscosity=0.0", "viscosity eta = 0, expected a number > 0"),
        ("materials.lower.viscosity=-1e21 Pa s", "viscosity eta = -1e+21, expected"),
        ("materials.lower.viscosity=1e21 Pa", "materials.lower.*viscosity.*dimension"),
        ("scheme.name=quasi_static", "'maxwell' has a history"),
        ("mesh.parameters.dip=20 deg", "it must meet surface and bottom"),
        ("output.fault.contact=falt", "did you mean 'fault'"),
        ("scheme.substeps=10", "substeps is not for the scheme 'implicit'"),
    ],
)
def test_bad_input_is_told(setting: str, message: str) -> None:
    with pytest.raises(FecontactError) as error:
        build(read_case(CASE, [setting])).prepare()
    assert re.search(message.replace("+", r"\+"), str(error.value)), error.value


def test_an_explicit_step_beyond_its_limit_is_told() -> None:
    settings = ["scheme.name=explicit", "time.steps=1", "scheme.substeps=20"]
    with pytest.raises(FecontactError, match="longer than the explicit limit"):
        build(read_case(CASE, settings)).prepare()
    with pytest.raises((FecontactError, CaseError), match="explicit limit"):
        build(read_case(CASE, ["scheme.name=explicit", "scheme.fraction=1.5"])).prepare()


@pytest.mark.parametrize(
    ("scheme", "part", "candidates"), [("implicit", 0.2, 25), ("explicit", 0.3, 13)]
)
def test_an_inverted_element_leaves_the_last_good_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: str, part: float, candidates: int
) -> None:
    # pushed sixty times as far, the section folds up
    settings = [
        "prescribed.left.vx=2e-9 m/s",
        f"mesh.parameters.candidates={candidates}",
        "time.min_step=5e3 year",
        f"scheme.name={scheme}",
        "output.report=false",
        "output.figures=false",
    ]
    arguments = [part for setting in settings for part in ("--set", setting)]
    assert main(["run", str(CASE), "--out", str(tmp_path), *arguments]) == 3
    told = capsys.readouterr().err
    assert re.search(r"step \d+.*from t = .*element \d+ \(near x = .*\) turns inside out", told)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert not summary["converged"]
    assert 0.0 < summary["times"]["time_reached"] < part * summary["times"]["end"]
    last = f"fields_{summary['times']['steps_done']:04d}.vtu"
    assert (tmp_path / last).is_file()
