"""Certificates: right results pass whatever the law, wrong ones fail whatever the units."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import meshio
import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from fecontact.case import build
from fecontact.certificate import Certifier, SavedStep, Verdict, law_figures, limits, saved_step
from fecontact.cli import main
from fecontact.errors import InputError
from fecontact.output.digests import summary_digest
from fecontact.simulation import Simulation
from fecontact.verification import verify
from tests.small_cases import CASES, block, shipped_cases, small_case

LIMITS = limits(1e-10)


def certified(simulation: Simulation) -> Verdict:
    """The verdict on all steps of a run."""
    certifier = Certifier(simulation.model, simulation.scheme)

    def certificates() -> Any:
        for step in simulation.steps():
            saved = saved_step(step)
            assert saved is not None
            yield certifier(saved)

    return Verdict.of(certificates(), limits(simulation.options.tolerance))


def last(simulation: Simulation) -> SavedStep:
    *_, step = simulation.steps()
    saved = saved_step(step)
    assert saved is not None
    return saved


# the laws, one contact at a time


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e9, 1e-9), (1e-12, 1e3)])
@pytest.mark.parametrize(
    ("R", "u", "broken"),
    [
        ((1.0, -0.5), (0.0, 1.0), ""),
        ((1.0, 0.3), (0.0, 0.0), ""),
        ((0.0, 0.0), (2.0, 1.0), ""),
        ((1.0, 0.5), (0.0, 1.0), "sliding"),  # friction along the motion
        ((1.0, 0.0), (0.0, 1.0), "sliding"),  # no friction where there is slip
        ((1.0, -0.4), (0.0, 1.0), "sliding"),
        ((1.0, -0.6), (0.0, 0.0), "cone"),
        ((-1.0, 0.0), (0.0, 0.0), "pulling"),
        ((1.0, 0.0), (-1.0, 0.0), "penetration"),
        ((1.0, 0.0), (1.0, 0.0), "complementarity"),
    ],
)
def test_each_law_has_its_figure(
    R: tuple[float, ...], u: tuple[float, ...], broken: str, units: tuple[float, float]
) -> None:
    force, speed = units
    reaction, velocity = force * np.array([R, (1.0, 0.0)]), speed * np.array([u, (0.0, 0.0)])
    found = law_figures(reaction, velocity, 0.5 * np.abs(reaction[:, 0]), force, speed)
    for name in ("pulling", "cone", "penetration", "complementarity", "sliding"):
        value, place = getattr(found, name)
        if name == broken:
            assert value >= 0.09, name
            assert place == 0
        elif broken != "pulling":
            assert value <= 1e-12, name
    assert (found.worst <= 1e-12) == (not broken)


def test_what_is_no_number_does_not_pass() -> None:
    R = np.array([[np.nan, 0.0]])
    assert law_figures(R, np.zeros((1, 2)), np.zeros(1), 1.0, 1.0).worst == np.inf


# right results pass

VARIANTS: dict[str, dict[str, Any]] = {
    "theta": {},
    "theta half": {"scheme.theta": 0.5},
    "theta one": {"scheme.theta": 1.0},
    "lumped": {"scheme.mass": "lumped"},
    "newmark": {"scheme": {"name": "newmark", "gamma": 0.6, "beta": 0.3025}},
    "velocity": {"contact.floor.condition": "velocity"},
    "restitution": {
        "contact.floor.condition": "velocity",
        "contact.floor.restitution": 0.5,
        "contact.floor.tangential_restitution": 0.3,
    },
    "end gap": {"contact.floor.condition": "end_gap"},
    "tresca": {"contact.floor.friction_law": "tresca", "contact.floor.threshold": 500.0},
    "glued": {"contact.floor.friction_law": "glued"},
    "frictionless": {"contact.floor.friction_law": "frictionless"},
    "regularised": {
        "contact.floor.normal_stiffness": 1e8,
        "contact.floor.tangential_viscosity": 1e4,
    },
    "dynamic friction": {"contact.floor.dynamic_friction": 0.1},
    "falling friction": {
        "contact.floor.dynamic_friction": 0.15,
        "contact.floor.decay_velocity": 1.0,
    },
    "damped": {
        "materials.m.damping": {"kelvin_voigt": 1e-3, "rayleigh_mass": 3.0, "eta_shear": 10.0}
    },
    "damped lumped": {
        "materials.m.damping": {"kelvin_voigt": 1e-3, "rayleigh_mass": 3.0},
        "scheme.mass": "lumped",
    },
    "springs": {"springs.s": {"on": "top", "kx": 1e4, "ky": 2e4}},
    "weighted": {"contact.floor.reactions": "weighted"},
    "axisymmetric": {
        "model": {"hypothesis": "axisymmetric"},
        "prescribed.axis": {"on": "left", "ux": 0.0},
        "loads.g.gx": 0.0,
        "initial.a.vx": 0.0,
    },
    "thin": {"model": {"thickness": 0.01}},
    "turned axes": {"prescribed.r": {"on": "right", "ux": 0.0, "angle": 30.0}},
    "shaken": {"prescribed.r": {"on": "top", "vx": "0.3*sin(300*t)"}},
    "moving disk": {
        "contact.floor.obstacle": {
            "type": "disk",
            "center": [0.5, -2.0],
            "radius": 2.0,
            "spin": "t",
            "velocity": [0.1, "0.2*t"],
        }
    },
    "settled": {"scheme.settle": True, "initial": {}, "loads.g.gx": 0.1},
    "quasi-static": {
        "scheme": {"name": "quasi_static"},
        "initial": {},
        "prescribed.t": {"on": "top", "ux": "0.01*t", "uy": "-0.05*t"},
        "materials.m.damping": {"kelvin_voigt": 1e-2},
    },
    "soft springs": {
        "scheme": {"name": "quasi_static"},
        "initial": {},
        "springs.s": {"on": "top", "kx": 10.0, "ky": 10.0},
    },
    "loose tolerance": {"solver": {"tolerance": 1e-5}},
}
PUSHED: dict[str, Any] = {
    "initial": {},
    "prescribed.t": {"on": "top", "vx": 0.05, "vy": -0.1},
    "contact.floor.friction": 0.2,
}
MAXWELL = {"materials.m": {"law": "maxwell", "E": 1e7, "nu": 0.3, "density": 1e3, "viscosity": 1e5}}
DISK = {
    "contact.floor.obstacle": {
        "type": "disk",
        "center": [0.5, -2.0],
        "radius": 2.0,
        "spin": 0.1,
        "velocity": [0.1, 0.05],
    }
}
MOVING: dict[str, dict[str, Any]] = {
    f"{scheme}{more}": {**PUSHED, "scheme": {"name": scheme}, **changes}
    for scheme in ("implicit", "explicit")
    for more, changes in {
        "": {},
        ", relaxing": MAXWELL,
        ", weighted": {"contact.floor.reactions": "weighted"},
        ", moving disk": DISK,
        ", springs": {"springs.s": {"on": "right", "kx": 1e4, "ky": 2e4}},
    }.items()
}
VARIANTS |= MOVING


@pytest.mark.parametrize("name", VARIANTS)
def test_every_law_and_scheme_passes(name: str) -> None:
    verdict = certified(block(VARIANTS[name]))
    assert verdict.passed, verdict.lines()
    without = name == "newmark" or name in MOVING
    assert ("energy" in verdict.figures) == (not without)
    assert bool(verdict.uncovered) == without
    assert ("inertia" in verdict.figures) == name.startswith("explicit")


@pytest.mark.parametrize("name", shipped_cases())
def test_the_shipped_cases_pass(name: str, gmsh: Any) -> None:
    verdict = certified(build(small_case(name)))
    assert verdict.passed, verdict.lines()


# wrong ones do not


def test_a_result_that_is_not_saved_is_checked_too() -> None:
    result = build(small_case("ironing")).run()
    verdict = result.certify()
    assert verdict.passed
    assert verdict.steps == len(result.steps) > 1
    assert result.refuted == ""
    step = result.steps[-1]
    result.steps[-1] = replace(step, state=replace(step.state, q=1.01 * step.state.q))
    assert not result.certify().passed
    assert f"at step {step.number}" in result.refuted


@pytest.mark.parametrize("name", ["sliding_block", "colliding_bars", "block_on_slope"])
def test_one_percent_of_any_reaction_or_displacement_is_seen(name: str) -> None:
    settings = ["time.step=5e-5"] if name == "colliding_bars" else []
    simulation = build(
        small_case(name, "time.end=1.1e-3", *settings) if settings else small_case(name)
    )
    saved = last(simulation)
    certifier = Certifier(simulation.model, simulation.scheme)
    assert certifier(saved).failures(LIMITS) == []
    rng = np.random.default_rng(7)
    (contact, R), *_ = saved.reactions.items()
    pushed = np.argwhere(np.abs(R) > 1e-4 * np.abs(R).max())
    for place in rng.permutation(pushed)[:12]:
        changed = R.copy()
        changed[tuple(place)] *= 1.01
        found = certifier(replace(saved, reactions={contact: changed}))
        assert "equilibrium" in found.failures(LIMITS), place
    moved = np.flatnonzero(np.abs(saved.q) > 1e-9 * np.abs(saved.q).max())
    for dof in rng.permutation(moved)[:12]:
        q = saved.q.copy()
        q[dof] *= 1.01
        assert "equilibrium" in certifier(replace(saved, q=q)).failures(LIMITS), dof


@pytest.mark.parametrize("scheme", ["implicit", "explicit"])
def test_one_percent_is_seen_in_bodies_that_move(scheme: str, gmsh: Any) -> None:
    simulation = build(small_case("fault_in_layers", f"scheme.name={scheme}"))
    saved = last(simulation)
    certifier = Certifier(simulation.model, simulation.scheme)
    assert certifier(saved).failures(LIMITS) == []
    R = saved.reactions["fault"]
    for place in np.argwhere(np.abs(R) > 1e-3 * np.abs(R).max())[::3]:
        changed = R.copy()
        changed[tuple(place)] *= 1.01
        found = certifier(replace(saved, reactions={"fault": changed})).failures(LIMITS)
        assert "action_reaction" in found, place
    for dof in np.flatnonzero(np.abs(saved.q) > 1e-3 * np.abs(saved.q).max())[::40]:
        q, v = saved.q.copy(), saved.v.copy()
        q[dof] *= 1.01
        assert "kinematics" in certifier(replace(saved, q=q)).failures(LIMITS), dof
        # the velocity changed with it, the strains of the points or the stresses tell
        v[dof] += (q - saved.q)[dof] / saved.h
        assert certifier(replace(saved, q=q, v=v)).failures(LIMITS), dof
    assert saved.points is not None
    mean = saved.points["mean"] * 1.05
    points = {**saved.points, "mean": mean}
    found = certifier(replace(saved, points=points)).failures(LIMITS)
    assert {"equilibrium", "inertia"} & set(found)
    # friction along the motion
    along = {"fault": R * [1.0, -1.0]}
    assert "sliding" in certifier(replace(saved, reactions=along)).failures(LIMITS)


def in_units(name: str, length: float, mass: float, *settings: str) -> Simulation:
    """A case of sliding blocks in other units of length and mass (stress: mass / length)."""
    case = small_case(name, *settings)
    data = case.data
    stress = mass / length
    values = {
        "mesh.width": data["mesh"]["width"] * length,
        "mesh.height": data["mesh"]["height"] * length,
        "materials.block.E": data["materials"]["block"]["E"] * stress,
        "loads.top.value": data["loads"]["top"]["value"] * stress,
        "loads.left.value": data["loads"]["left"]["value"] * stress,
    }
    return build(case.with_values(values))


UNITS = [(1.0, 1.0), (1e3, 1e-3), (1e-6, 1e6), (1e2, 1e9)]


@pytest.mark.parametrize("units", UNITS)
def test_the_frictionless_answer_is_refused_in_all_units(units: tuple[float, float]) -> None:
    """A solver that stops at once is at the frictionless answer, in perfect equilibrium."""
    right = in_units("sliding_block_ssnv128", *units)
    wrong = last(in_units("sliding_block_ssnv128", *units, "contact.base.friction=0.0"))
    told = replace(wrong, friction={"base": right.model.interfaces[0].friction})
    found = Certifier(right.model, right.scheme)(told)
    assert found.figures["equilibrium"] <= LIMITS["equilibrium"]
    assert found.failures(LIMITS) == ["sliding"]
    assert found.figures["sliding"] > 1e-2


@pytest.mark.parametrize("units", UNITS)
def test_friction_along_the_motion_is_refused_in_all_units(units: tuple[float, float]) -> None:
    """An equilibrium in which one sliding node is pushed the way that it slides."""
    simulation = in_units("sliding_block_ssnv128", *units, "contact.base.friction=0.1")
    (step,) = simulation.steps()
    saved, problem = saved_step(step), step.problem
    assert saved is not None
    assert problem is not None
    W, mu = np.asarray(problem.W), 0.1
    r = saved.reactions["base"] * saved.h
    node = len(r) // 2
    sense = np.sign(r[:, 1])
    assert abs(r[node, 1]) == pytest.approx(mu * r[node, 0])
    sense[node] *= -1.0
    # normal impulses that keep the gaps closed with tangential ones given by their signs
    on_bound = np.abs(np.abs(r[:, 1]) - mu * r[:, 0]) <= 1e-9 * r[:, 0].max()
    assert on_bound.all()
    A = W[::2, ::2] + W[::2, 1::2] * (mu * sense)
    normal = np.linalg.solve(A, -problem.q[::2])
    assert normal.min() > 0.0
    wrong = np.column_stack([normal, mu * sense * normal])
    free = simulation.model.constraints.free
    K = simulation.model.assembler.stiffness()
    (local,) = (
        i.detect(simulation.model.mesh.nodes, 0.0, saved.h) for i in simulation.model.interfaces
    )
    contact = np.asarray(local.H @ wrong.ravel()) / saved.h
    load = simulation.model.external(saved.t) + contact
    q = np.zeros_like(saved.q)
    q[free] = spsolve(K[free][:, free].tocsc(), load[free])
    supports = K @ q - load
    supports[free] = 0.0
    told = replace(
        saved,
        q=q,
        v=q / saved.h,
        contact=contact,
        supports=supports,
        reactions={"base": wrong / saved.h},
    )
    found = Certifier(simulation.model, simulation.scheme)(told)
    assert found.failures(LIMITS) == ["sliding"]
    assert f"node {local.nodes[node]}" in found.places["sliding"]


def test_rest_that_rounding_alone_stirs_is_borne_out(gmsh: Any) -> None:
    # positions of 20 km keep displacements to 4e-12 m, about as much as moves in a step
    settings = ["prescribed.left.vx=0", "time.end=1e5 year", "time.steps=10"]
    simulation = build(small_case("fault_in_layers", *settings))
    certifier = Certifier(simulation.model, simulation.scheme)
    for step in simulation.steps():
        saved = saved_step(step)
        assert saved is not None
        assert 0.0 < np.abs(saved.q).max() < 1e-10
        assert certifier(saved).failures(LIMITS) == []


def test_energy_from_nowhere_and_missed_motion_are_seen() -> None:
    simulation = block({"prescribed.r": {"on": "top", "vx": 0.1}})
    saved = last(simulation)
    certifier = Certifier(simulation.model, simulation.scheme)
    faster = certifier(replace(saved, v=1.01 * saved.v))
    assert {"equilibrium", "kinematics", "prescribed"} <= set(faster.failures(LIMITS))
    assert "energy" in certifier(replace(saved, q_before=1.01 * saved.q_before)).failures(LIMITS)


# files


FAULTS = ("fault_in_layers implicit", "fault_in_layers explicit")


@pytest.fixture(scope="module")
def runs(gmsh: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of runs to spoil."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("sliding_block", "colliding_bars", "ironing", *FAULTS):
        case, _, scheme = name.partition(" ")
        settings = [f"--set={s}" for s in _quiet(case)]
        settings += [f"--set=scheme.name={scheme}"] if scheme else []
        path = str(CASES / f"{case}.toml")
        assert main(["run", path, "--out", str(folder / name), *settings]) == 0
    return folder


def _quiet(name: str) -> list[str]:
    from tests.small_cases import SMALLER

    return [*SMALLER.get(name, []), "output.figures=false", "output.report=false"]


@pytest.mark.parametrize("name", ["sliding_block", "colliding_bars", "ironing", *FAULTS])
def test_a_run_passes_from_its_files(
    runs: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(runs / name)]) == 0
    said = capsys.readouterr().out
    assert said.rstrip().endswith("pass")
    for figure in ("equilibrium", "complementarity", "cone", "sliding", "penetration", "energy"):
        assert figure in said
    assert ("not covered" in said) == (name in FAULTS)
    kept = json.loads((runs / name / "summary.json").read_text())["certificate"]
    assert kept["verdict"] == "pass"
    assert main(["verify", "--json", str(runs / name)]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["steps"] == kept["steps"]
    for figure, value in kept["figures"].items():
        assert again["figures"][figure] == pytest.approx(value, rel=1e-6, abs=1e-13)


def _state(key: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = sorted(folder.glob("state_*.npz"))[-1]
        with np.load(path) as data:
            arrays = dict(data)
        flat = arrays[key].ravel()
        flat[np.argmax(np.abs(flat))] *= 1.01
        np.savez(path, **arrays)

    return spoil


def _hdf5(column: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with h5py.File(folder / "contacts.h5", "a") as file:
            group = file["steps"][sorted(file["steps"])[-1]]
            (name,) = (k for k in group if k.startswith("contact "))
            table = group[name][()]
            table[column][np.argmax(np.abs(table[column]))] *= 1.01
            group[name][...] = table

    return spoil


def _vtu(field: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = sorted(folder.glob("fields_*.vtu"))[-1]
        grid = meshio.read(path)
        flat = grid.point_data[field].reshape(-1)
        flat[np.argmax(np.abs(flat))] *= 1.01
        meshio.write(path, grid)

    return spoil


def _csv(column: str, file: str = "contact.csv") -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / file
        with path.open(newline="") as text:
            rows = list(csv.DictReader(text))
        worst = max(rows, key=lambda row: abs(float(row[column])))
        worst[column] = repr(1.01 * float(worst[column]))
        with path.open("w", newline="") as text:
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    return spoil


def _summary(*keys: Any) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "summary.json"
        told = json.loads(path.read_text(encoding="utf-8"))
        part = told
        for key in keys[:-1]:
            part = part[key] if key != "*" else next(iter(part.values()))
        part[keys[-1]] *= 1.01
        path.write_text(json.dumps(told), encoding="utf-8")

    return spoil


def _without_digests(folder: Path) -> None:
    """As somebody leaves it who knows of them."""
    path = folder / "summary.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    told.pop("digests")
    path.write_text(json.dumps(told | {"digest": summary_digest(told)}), encoding="utf-8")


@pytest.mark.parametrize(
    "spoil",
    [
        _state("reactions_0"),
        _state("q"),
        _state("v"),
        _state("supports"),
        _hdf5("RN"),
        _hdf5("RT"),
        _hdf5("ux"),
        _vtu("displacement"),
        _vtu("contact_force"),
        _vtu("contact_RN"),
        _hdf5("RN_equivalent"),
        _csv("RN"),
        _csv("uy"),
        _csv("RT_equivalent"),
        _csv("gap"),
        _csv("x"),
        _summary("contacts", "*", "RN_equivalent"),
        _summary("supports", "*", 0),
    ],
)
@pytest.mark.parametrize("name", ["sliding_block", *FAULTS])
def test_results_edited_by_hand_fail(
    runs: Path,
    name: str,
    tmp_path: Path,
    spoil: Callable[[Path], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(runs / name, folder)
    spoil(folder)
    _without_digests(folder)
    assert main(["verify", str(folder)]) == 3
    assert "FAIL" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (_csv("RN_iron", "history.csv"), "history.csv"),
        (_csv("energy_friction", "history.csv"), "history.csv"),
        (_vtu("von_mises"), "fields_0020.vtu"),
        (_vtu("strain"), "fields_0020.vtu"),
        (_hdf5("uT"), "contacts.h5"),
        (_summary("worst_residual"), "summary.json"),
        (_summary("case", "time", "end"), "summary.json"),
    ],
)
def test_what_does_not_follow_from_saved_steps_is_guarded_too(
    runs: Path,
    tmp_path: Path,
    spoil: Callable[[Path], None],
    place: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Rows of the history between saved steps, fields made from displacements, the summary."""
    folder = tmp_path / "run"
    shutil.copytree(runs / "ironing", folder)
    spoil(folder)
    assert main(["verify", str(folder)]) == 3
    assert f"{place}, changed since the run ended" in capsys.readouterr().out


def test_a_table_that_cannot_be_read_is_told(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    table = (runs / "sliding_block" / "contact.csv").read_text().splitlines()
    for lines in (
        [table[0], "x" + table[1], *table[2:]],
        [table[0].replace("RN", "R"), *table[1:]],
        [*table, table[-1]],
        table[:-1],
        [],
    ):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(runs / "sliding_block", folder)
        (folder / "contact.csv").write_text("\n".join(lines))
        assert main(["verify", str(folder)]) == 2
        assert "contact.csv" in capsys.readouterr().err


def test_fields_that_were_removed_are_told(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They take room, and are not needed to verify a run."""
    folder = tmp_path / "run"
    shutil.copytree(runs / "sliding_block", folder)
    (folder / "fields_0001.vtu").unlink()
    assert main(["verify", str(folder)]) == 0
    assert "not covered: fields_0001.vtu: it is not there any more" in capsys.readouterr().out


def test_a_folder_that_cannot_be_read_is_told(runs: Path, tmp_path: Path) -> None:
    assert main(["verify", str(tmp_path / "none")]) == 2
    assert main(["verify", str(tmp_path)]) == 2
    folder = tmp_path / "run"
    for harm in ("state_0001.npz", "mesh.vtu", "summary.json", "history.csv", "fields_0001.vtu"):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(runs / "sliding_block", folder)
        path = folder / harm
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(InputError, match=harm.partition(".")[0]):
            verify(folder)
    shutil.rmtree(folder)
    shutil.copytree(runs / "colliding_bars", folder)
    next(folder.glob("state_*.npz")).unlink()
    with pytest.raises(InputError, match="missing"):
        verify(folder)


def test_a_run_whose_certificate_fails_ends_with_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fecontact.contact.laws import PointLaws

    real = PointLaws.bound
    monkeypatch.setattr(PointLaws, "bound", lambda *a: 0.5 * real(*a))
    case = small_case("sliding_block")
    settings = [f"--set={s}" for s in _quiet("sliding_block")]
    assert main(["run", str(case.path), "--out", str(tmp_path / "run"), *settings]) == 3
    assert "do not obey their laws: cone" in capsys.readouterr().err
