"""The report page: what it holds is what the files hold, whatever is missing."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest

from fecontact import (
    Contact,
    HalfPlane,
    IsotropicElastic,
    Model,
    Options,
    Prescribed,
    Pressure,
    Simulation,
    Solid,
    Times,
    rectangle,
)
from fecontact.cli import main
from fecontact.errors import InputError
from fecontact.output import FolderWriter
from fecontact.output.contact_steps import read_contact_steps, saved_times
from fecontact.output.report import Report, gather, render, write_report
from fecontact.output.report.encoding import LEVELS, quantised
from fecontact.output.report.fields import SavedField, chosen, derived
from fecontact.output.report.toml import to_toml
from fecontact.output.report.verdicts import state_of, verdicts
from fecontact.simulation import Result

CASE = {
    "title": "a <block> & more",
    "description": "</script><b>",
    "contact": {"bottom": {"friction": 0.5}},
}


def block(
    steps: int = 3,
    *,
    contact: bool = True,
    thickness: float = 0.5,
    kind: Any = "triangle",
    **o: Any,
) -> Simulation:
    """A block pressed on a plane and pushed along it, more and more."""
    mesh = rectangle(0.04, 0.02, 8, 4, kind=kind)
    solid = Solid(mesh, {"body": IsotropicElastic(E=1e10, nu=0.2)}, thickness=thickness)
    model = Model(
        solid,
        prescribed=[
            Prescribed("right", ux=0),
            Prescribed("bottom_right" if contact else "bottom", ux=0, uy=0),
        ],
        loads=[Pressure("top", 5e6), Pressure("left", 8e6, amplitude="t")],
        contacts=[Contact("bottom", HalfPlane(), friction=0.5)] if contact else [],
    )
    return Simulation(
        model, times=Times(steps=steps), options=Options(**o), title="a <block> & more"
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tmp_path_factory.mktemp("report") / "run"
    return block().run(FolderWriter(folder, CASE, figures=False)), folder


def unpack(text: str) -> bytes:
    return gzip.decompress(base64.b64decode(text))


def planes(data: bytes, count: int, width: int) -> np.ndarray[Any, Any]:
    """Little-endian unsigned integers from planes of bytes, lowest first."""
    raw = np.frombuffer(data, np.uint8).reshape(width, count).astype(np.uint64)
    return np.asarray(sum(raw[k] << np.uint64(8 * k) for k in range(width)))


def dequantised(data: bytes, count: int, low: float, high: float) -> np.ndarray[Any, Any]:
    levels = np.cumsum(planes(data, count, 2)) % 65536
    return np.asarray(low + (high - low) / LEVELS * levels)


def test_quantised_values_come_back() -> None:
    rng = np.random.default_rng(3)
    for values in (rng.normal(size=501), np.linspace(-5, 7, 100), np.full(4, 3.0), np.zeros(0)):
        data, (low, high) = quantised(values)
        back = dequantised(data, len(values), low, high)
        assert np.abs(back - values).max(initial=0.0) <= 0.5001 * (high - low) / LEVELS


def test_mesh_and_groups_of_the_page(run: tuple[Result, Path]) -> None:
    result, folder = run
    report, mesh = gather(folder), result.simulation.model.mesh
    told = report.data["mesh"]
    data, n = unpack(report.chunks["mesh"]), mesh.n_nodes
    raw = planes(data[: 8 * n], 2 * n, 4).astype(np.uint32)
    nodes = raw.view(np.float32).reshape(n, 2) + told["centre"]
    assert np.allclose(nodes, mesh.nodes, atol=1e-8)
    steps = planes(data[8 * n :], 3 * told["triangles"], 4)
    triangles = (np.cumsum(steps) % 2**32).astype(np.uint32).reshape(-1, 3)
    assert np.array_equal(triangles, mesh.cells["triangle"])
    kinds = {group["name"]: group for group in told["groups"]}
    assert {"body", "bottom", "right", "top", "left", "top_left"} <= set(kinds)
    assert (kinds["bottom"]["kind"], kinds["bottom"]["count"]) == ("edges", 8)
    total = sum(group["size"] for group in told["groups"])
    numbers = np.cumsum(planes(unpack(report.chunks["groups"]), total, 4)) % 2**32
    first = sum(g["size"] for g in told["groups"][: told["groups"].index(kinds["bottom"])])
    own = numbers[first : first + kinds["bottom"]["size"]].reshape(-1, 2)
    assert np.array_equal(own, mesh.edges("bottom"))


def test_fields_of_the_page_are_those_of_the_files(run: tuple[Result, Path]) -> None:
    _, folder = run
    report = gather(folder)
    assert [s["number"] for s in report.data["steps"]] == [1, 2, 3]
    step = report.data["steps"][1]
    grid = meshio.read(folder / "fields_0002.vtu").point_data
    data, n = unpack(report.chunks[step["fields"]]), len(grid["stress"])
    expected = {
        "ux": grid["displacement"][:, 0],
        "sxy": grid["stress"][:, 3],
        "vy": grid["velocity"][:, 1],
        "gxy": grid["strain"][:, 3],
    }
    for place, (name, (low, high)) in enumerate(step["components"].items()):
        found = dequantised(data[2 * n * place : 2 * n * (place + 1)], n, low, high)
        if name in expected:
            assert np.abs(found - expected.pop(name)).max() <= 0.51 * (high - low) / LEVELS
    assert not expected
    assert step["ranges"]["von_mises"] == pytest.approx(
        [grid["von_mises"].min(), grid["von_mises"].max()], rel=1e-12
    )
    volume = grid["strain"][:, :3].sum(axis=1)
    assert step["ranges"]["dilatation"] == pytest.approx([volume.min(), volume.max()], rel=1e-12)


def test_principal_strains_take_half_of_the_engineering_shear() -> None:
    # a shear of gamma = 2e-3 stretches and shortens by 1e-3 along the diagonals
    parts = {name: np.zeros(1) for name in ("exx", "eyy", "ezz")} | {"gxy": np.array([2e-3])}
    shown = derived(parts)
    assert shown["e_max"] == pytest.approx([1e-3])
    assert shown["e_min"] == pytest.approx([-1e-3])


def test_contacts_of_every_saved_step(run: tuple[Result, Path]) -> None:
    result, folder = run
    saved = read_contact_steps(folder / "contacts.h5")
    assert [s.number for s in saved] == [1, 2, 3]
    assert saved_times(folder / "contacts.h5") == {s.number: s.t for s in result.steps}
    for step, kept in zip(saved, result.steps, strict=True):
        state, table = kept.contacts["bottom"], step.tables["bottom"]
        assert np.array_equal(table["node"], state.nodes)
        assert np.array_equal(table["status"], state.status)
        # thickness 0.5: forces per unit thickness are twice those of the computation
        assert np.array_equal(table["RN"], 2.0 * state.force[:, 0])
        assert np.allclose(table["RN"] / table["support"], state.force[:, 0] / state.support)
        assert (np.abs(table["RT"]) <= table["bound"] * (1 + 1e-6) + 1e-9).all()
        # the plane y = 0, from end to end of the body and beyond
        line = step.outlines["bottom"]
        assert not line[:, 1].any()
        assert line[:, 0].min() < 0.0
        assert line[:, 0].max() > 0.04
    # pushed along: in the end more slides than at first
    slides = [(s.tables["bottom"]["status"] == 1).sum() for s in saved]
    assert slides[-1] > slides[0]
    report = gather(folder)
    told = report.data["steps"][-1]
    shown = json.loads(unpack(report.chunks[told["contacts"]]))["bottom"]
    assert shown["RN"] == pytest.approx(saved[-1].tables["bottom"]["RN"], rel=1e-6)
    assert told["status"]["bottom"] == "".join(map(str, saved[-1].tables["bottom"]["status"]))


def test_page_is_one_file_that_needs_no_network(run: tuple[Result, Path]) -> None:
    _, folder = run
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "report.html" in json.loads((folder / "summary.json").read_text())["files"]
    assert "@@" not in text
    assert "<title>a &lt;block&gt; &amp; more</title>" in text
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=(?!\"data:)", text)
    assert "default-src 'none'" in text
    # data cannot close its script element
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert data is not None
    assert json.loads(data[1])["title"] == "a <block> & more"
    assert json.loads(data[1])["case"] == CASE


def test_same_files_give_the_same_page(run: tuple[Result, Path], tmp_path: Path) -> None:
    _, folder = run
    copy = shutil.copytree(folder, tmp_path / "run")
    assert write_report(copy).read_bytes() == (folder / "report.html").read_bytes()


@pytest.mark.parametrize(
    "missing",
    ["summary.json", "history.csv", "contacts.h5", "mesh.vtu", "fields.pvd", "fields_0002.vtu"],
)
def test_what_is_missing_is_left_out(
    run: tuple[Result, Path], tmp_path: Path, missing: str
) -> None:
    folder = shutil.copytree(run[1], tmp_path / "run")
    (folder / missing).unlink()
    report = gather(folder)
    numbers = [s["number"] for s in report.data["steps"]]
    assert numbers == ([1, 3] if missing == "fields_0002.vtu" else [1, 2, 3])
    assert report.data["state"] == ("unfinished" if missing == "summary.json" else "done")
    assert render(report).startswith("<!doctype html>")


def test_broken_files_are_told(run: tuple[Result, Path], tmp_path: Path) -> None:
    folder = shutil.copytree(run[1], tmp_path / "run")
    (folder / "contacts.h5").write_bytes(b"no HDF5")
    (folder / "summary.json").write_text("{")
    notes = " ".join(gather(folder).data["notes"])
    assert "contacts.h5 cannot be read" in notes
    assert "summary.json cannot be read" in notes


def test_a_folder_without_a_run_is_refused(tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(InputError, match="no run is here"):
        gather(tmp_path)
    assert main(["report", str(tmp_path / "nothing")]) == 2
    assert "there is no such folder" in capsys.readouterr().err


def test_report_command(run: tuple[Result, Path], tmp_path: Path, capsys: Any) -> None:
    folder = shutil.copytree(run[1], tmp_path / "run")
    (folder / "report.html").unlink()
    assert main(["report", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == str(folder / "report.html")
    assert (folder / "report.html").exists()


def test_no_contact_one_step_quads_no_fields(tmp_path: Path) -> None:
    block(1, contact=False, kind="quad").run(FolderWriter(tmp_path / "a", figures=False))
    report = gather(tmp_path / "a")
    assert report.data["mesh"]["quads"] == 32
    assert [s.get("contacts") for s in report.data["steps"]] == [None]
    assert not (tmp_path / "a" / "contacts.h5").exists()
    block(2).run(FolderWriter(tmp_path / "b", figures=False, fields=False))
    steps = gather(tmp_path / "b").data["steps"]
    assert [(s["number"], "fields" in s, "contacts" in s) for s in steps] == [
        (1, False, True),
        (2, False, True),
    ]
    block(1).run(FolderWriter(tmp_path / "c", figures=False, report=False))
    assert not (tmp_path / "c" / "report.html").exists()


def test_failed_run(tmp_path: Path) -> None:
    block(2, solver="nsgs", max_iterations=1).run(FolderWriter(tmp_path, figures=False))
    data = gather(tmp_path).data
    assert data["state"] == "failed"
    assert data["verdicts"][0]["level"] == "bad"
    assert "No step was completed" in data["verdicts"][0]["text"]
    assert "did not converge" in data["verdicts"][0]["text"]


def test_long_runs_are_thinned_evenly() -> None:
    steps = [SavedField(float(i), i, Path()) for i in range(1, 2001)]
    shown = chosen(steps, n_nodes=100)
    assert len(shown) == 500
    assert (shown[0].number, shown[-1].number) == (1, 2000)
    assert np.ptp(np.diff([s.number for s in shown])) <= 1
    # 200,000 nodes with 12 components of 2 bytes: 20 steps are 96 MB
    assert len(chosen(steps, n_nodes=200_000)) == 20
    assert chosen(steps[:3], n_nodes=100) == steps[:3]


def test_verdicts_in_words() -> None:
    row = {"energy_balance": 0.5}
    good = {
        "converged": True,
        "tolerance": 1e-10,
        "worst_residual": 3e-12,
        "force_balance": 2e-13,
        "contacts": {"base": {"candidates": 4, "separated": 4}},
        "times": {"end": 2.0, "time_reached": 1.0, "steps": 4},
    }
    words = {v.title: v for v in verdicts(good, [row] * 4)}
    assert (words["Convergence"].level, words["Force balance"].level) == ("good", "good")
    assert "All 4 steps converged" in words["Convergence"].text
    assert "3.0e-12 at worst, where 1e-10 was asked" in words["Convergence"].text
    assert "None of the 4 candidates touches" in words["Contact base"].text
    assert words["Energy balance"].level == "warning"
    # a scheme that calls the remainder viscous balances whatever happens
    figures = {"figures": {"equilibrium": 0.0}, "limits": {"equilibrium": 1e-7}}
    none = {"verdict": "pass", "not_covered": ["energy balance: none of its own"], **figures}
    titles = {v.title for v in verdicts({**good, "certificate": none}, [row])}
    assert "Energy balance" not in titles
    levels = {b: verdicts({**good, "force_balance": b}, [row])[1].level for b in (1e-6, 1e-2)}
    assert levels == {1e-6: "warning", 1e-2: "bad"}
    stopped = verdicts({**good, "converged": False, "interrupted": True}, [row])[0]
    assert stopped.level == "warning"
    assert "Interrupted at t = 1 of 2, after 1 step" in stopped.text
    assert state_of({**good, "running": True}) == "running"
    passed = {
        "verdict": "pass",
        "steps": 4,
        "figures": {"equilibrium": 1e-9, "cone": 1e-8},
        "limits": {"equilibrium": 1e-8, "cone": 1e-6},
    }
    told = {v.title: v for v in verdicts({**good, "certificate": passed}, [row] * 4)}["Certificate"]
    assert told.level == "good"
    assert "4 steps obey" in told.text
    assert "nearest to its limit is equilibrium, 1.0e-09 of 1e-08" in told.text
    failed = {
        **passed,
        "verdict": "fail",
        "figures": {"equilibrium": 1e-9, "cone": 3e-2},
        "failures": {"cone": {"step": 3, "place": "node 7"}},
    }
    refuted = {**good, "certificate": failed}
    told = {v.title: v for v in verdicts(refuted, [row] * 4)}["Certificate"]
    assert (told.level, state_of(refuted)) == ("bad", "refuted")
    assert "cone is 3.0e-02 at step 3, node 7, more than 1e-06" in told.text
    assert state_of({}) == "unfinished"


@pytest.mark.parametrize("case", ["sliding_block", "sliding_block_mu01"])
def test_case_as_toml_reads_back(case: str) -> None:
    path = Path(__file__).parent.parent / "cases" / f"{case}.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    assert tomllib.loads(to_toml(data)) == data


def test_case_file_is_told(tmp_path: Path) -> None:
    block(1).run(FolderWriter(tmp_path, figures=False, case_file=Path("cases") / "a.toml"))
    assert gather(tmp_path).data["summary"]["case_file"] == str(Path("cases") / "a.toml")


def test_odd_values_as_toml() -> None:
    data = {
        "a b": {'quo"te': "back\\slash\ttab\x7f", "é": [1, 2.5, True, [0.0, "x"]]},
        "deep": {"er": {"est": {"t": [[0.0, 1.0]], "e": {}}}},
        "lines": "one\n  two '''three'''\n",
    }
    assert tomllib.loads(to_toml(data)) == data
    assert to_toml({"a": None, "b": 1}) == "b = 1\n"


def test_report_is_plain_data(run: tuple[Result, Path]) -> None:
    report = gather(run[1])
    assert isinstance(report, Report)
    json.dumps(report.data, allow_nan=False)
    assert report.data["units"]["force"] == "N/m"
    assert tomllib.loads(report.data["toml"]) == CASE
    columns = report.data["history"]["columns"]
    last = dict(zip(columns, report.data["history"]["rows"][-1], strict=True))
    total = 2.0 * run[0].contacts["bottom"].force[:, 0].sum()
    assert last["RN_bottom"] == pytest.approx(total, rel=1e-12)
