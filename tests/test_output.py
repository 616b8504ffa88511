"""Files of a run, re-read and compared with the results in memory."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest

from fecontact.body import Solid
from fecontact.conditions import Prescribed, Pressure
from fecontact.contact import Contact, HalfPlane, Status
from fecontact.errors import SingularSystem
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.output import FolderWriter, Progress, compare_results, save_result
from fecontact.output.figures import auto_amplification, new_figure, plot_deformed, scaled
from fecontact.output.summary import plain
from fecontact.simulation import Result, Simulation, Times
from fecontact.solvers import Options

COLUMNS = [
    "node",
    "x",
    "y",
    "ux",
    "uy",
    "gap",
    "status",
    "RN",
    "RT",
    "RN_equivalent",
    "RT_equivalent",
]


def block(
    reactions: Any = "concentrated",
    *,
    mu: float = 1.0,
    left: Any = "1e8+2e7*floor(y/0.005)",
    steps: int = 1,
    thickness: float = 1.0,
    nx: int = 16,
    held: bool = True,
    sides: tuple[str, ...] = ("bottom",),
    **options: Any,
) -> Simulation:
    mesh = rectangle(0.04, 0.04, nx, 8, kind="triangle", diagonal="left")
    solid = Solid(mesh, {"body": IsotropicElastic(E=1.3e11, nu=0.2)}, thickness=thickness)
    obstacles = {"bottom": HalfPlane((0, 0), (0, 1)), "top": HalfPlane((0, 0.0401), (0, -1))}
    prescribed = [Prescribed("right", ux=0), Prescribed("bottom_right", ux=0, uy=0)]
    model = Model(
        solid,
        prescribed=prescribed if held else [],
        loads=[Pressure("top", 5e7), Pressure("left", left)],
        contacts=[Contact(s, obstacles[s], friction=mu, reactions=reactions) for s in sides],
    )
    return Simulation(model, times=Times(steps=steps), options=Options(**options), title="a block")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(table: list[dict[str, str]], name: str) -> np.ndarray[Any, Any]:
    return np.array([float(row[name]) for row in table])


@pytest.fixture(scope="module")
def weighted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tmp_path_factory.mktemp("weighted") / "run"
    result = block("weighted", steps=2, thickness=0.5).run(
        FolderWriter(folder, {"title": "a block"})
    )
    return result, folder


def test_contact_table_reads_back_exactly(weighted: tuple[Result, Path]) -> None:
    result, folder = weighted
    state, table = result.contacts["bottom"], rows(folder / "contact.csv")
    assert list(table[0]) == COLUMNS
    assert [int(row["node"]) for row in table] == state.nodes.tolist()
    assert [row["status"] for row in table] == [Status(int(s)).label for s in state.status]
    for k, axis in enumerate("xy"):
        assert np.array_equal(column(table, axis), state.position[:, k])
        assert np.array_equal(column(table, f"u{axis}"), state.displacement[:, k])
    assert np.array_equal(column(table, "gap"), state.gap)
    # thickness 0.5: forces per unit thickness are twice those of the computation
    for k, letter in enumerate("NT"):
        assert np.array_equal(column(table, f"R{letter}"), 2.0 * state.force[:, k])
        assert np.array_equal(column(table, f"R{letter}_equivalent"), 2.0 * state.equivalent[:, k])


def test_history_has_a_row_per_step(weighted: tuple[Result, Path]) -> None:
    result, folder = weighted
    table = rows(folder / "history.csv")
    assert [row["step"] for row in table] == ["1", "2"]
    assert column(table, "time").tolist() == [0.5, 1.0]
    for row, step in zip(table, result.steps, strict=True):
        state = step.contacts["bottom"]
        assert float(row["RN_bottom"]) == pytest.approx(2.0 * state.force[:, 0].sum(), rel=1e-12)
        assert int(row["sliding_bottom"]) == state.count(Status.SLIDING)
        assert float(row["Ry_bottom_right"]) == 2.0 * step.supports["bottom_right"][1]
        assert step.report is not None
        assert int(row["iterations"]) == step.report.iterations
    # contact and corner together carry the load on top, all per unit thickness
    forces = meshio.read(folder / "fields_0002.vtu").point_data["contact_force"]
    carried = forces[:, 1].sum() + float(table[-1]["Ry_bottom_right"])
    assert carried == pytest.approx(5e7 * 0.04, rel=1e-10)


def test_fields_reread(weighted: tuple[Result, Path]) -> None:
    result, folder = weighted
    root = ElementTree.parse(folder / "fields.pvd").getroot()
    listed = [(float(d.get("timestep", "nan")), d.get("file", "")) for d in root.iter("DataSet")]
    assert listed == [(0.5, "fields_0001.vtu"), (1.0, "fields_0002.vtu")]
    grid = meshio.read(folder / "fields_0002.vtu")
    step, state = result.final, result.contacts["bottom"]
    assert np.array_equal(grid.point_data["displacement"][:, :2], step.displacement)
    assert not grid.point_data["displacement"][:, 2].any()
    assert np.array_equal(grid.point_data["contact_force"][:, :2], 2.0 * step.contact_forces)
    status = grid.point_data["contact_status"]
    assert np.array_equal(status[state.nodes], state.status)
    assert np.count_nonzero(status >= 0) == len(state.nodes)
    assert all(np.isfinite(values).all() for values in grid.point_data.values())
    for name, width in (("stress", 4), ("strain", 4)):
        assert grid.point_data[name].shape == (153, width)
        assert grid.cell_data[name][0].shape == (256, width)
    # volume average of sigma_yy over the block: loads and reactions leave it compressive
    assert grid.cell_data["stress"][0][:, 1].mean() < 0.0
    assert (grid.cell_data["region"][0] == 0).all()


def test_summary(weighted: tuple[Result, Path]) -> None:
    result, folder = weighted
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["converged"] is True
    assert summary["title"] == "a block"
    assert summary["case"] == {"title": "a block"}
    assert summary["mesh"]["nodes"] == 153
    assert summary["worst_residual"] == result.worst_residual <= summary["tolerance"]
    assert summary["force_balance"] < 1e-10
    assert {"python", "numpy", "scipy", "numba", "fecontact"} <= set(summary["versions"])
    assert "friction" in summary["wall_time"]["phases"]
    counts = summary["contacts"]["bottom"]
    assert counts["separated"] + counts["sliding"] + counts["sticking"] == 16
    assert {p.name for p in folder.iterdir()} == set(summary["files"])


def test_figures_are_pictures(weighted: tuple[Result, Path]) -> None:
    _, folder = weighted
    for name in ("deformed.png", "reactions.png", "status.png"):
        data = (folder / name).read_bytes()
        assert data.startswith(b"\x89PNG\r\n")
        assert len(data) > 10_000


def test_saving_later_writes_the_same_tables(weighted: tuple[Result, Path], tmp_path: Path) -> None:
    result, folder = weighted
    paths = save_result(result, tmp_path / "again")
    assert paths["contact"] == tmp_path / "again" / "contact.csv"
    for name in ("contact.csv", "history.csv", "fields.pvd"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_a_shorter_run_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    block(steps=3).run(FolderWriter(tmp_path))
    block(steps=1).run(FolderWriter(tmp_path))
    assert [p.name for p in sorted(tmp_path.glob("fields_*.vtu"))] == ["fields_0001.vtu"]
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_several_contacts_get_a_table_each(tmp_path: Path) -> None:
    result = block(sides=("bottom", "top")).run(FolderWriter(tmp_path))
    stacked = rows(tmp_path / "contact.csv")
    assert list(stacked[0]) == COLUMNS
    each = [row for s in ("bottom", "top") for row in rows(tmp_path / f"contact_{s}.csv")]
    assert stacked == each
    assert len(each) == sum(len(s.nodes) for s in result.contacts.values())
    assert (tmp_path / "reactions_bottom.png").exists()
    assert (tmp_path / "reactions_top.png").exists()


def test_failure_keeps_the_converged_steps(tmp_path: Path) -> None:
    good = block(steps=2).run()
    failing = block(steps=2, solver="nsgs", max_iterations=1).run()
    assert failing.failure is not None
    broken = replace(good, steps=good.steps[:1], last=good.steps[0], failure=failing.failure)
    save_result(broken, tmp_path)
    assert len(rows(tmp_path / "history.csv")) == 1
    assert len(rows(tmp_path / "contact.csv")) == 16
    assert (tmp_path / "fields_0001.vtu").exists()
    assert (tmp_path / "deformed.png").exists()
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["converged"] is False
    assert "step 1 of 2" in summary["message"]
    assert summary["failure"]["residual"] > summary["failure"]["tolerance"]


def test_failure_of_the_first_step(tmp_path: Path) -> None:
    block(solver="nsgs", max_iterations=1).run(FolderWriter(tmp_path), Progress(io.StringIO()))
    assert rows(tmp_path / "history.csv") == []
    assert not (tmp_path / "contact.csv").exists()
    assert json.loads((tmp_path / "summary.json").read_text())["converged"] is False
    assert list(ElementTree.parse(tmp_path / "fields.pvd").getroot().iter("DataSet")) == []


def test_a_problem_that_cannot_be_set_up_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(SingularSystem):
        block(held=False).run(FolderWriter(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_progress_in_a_pipe_is_few_lines() -> None:
    stream = io.StringIO()
    block(steps=40).run(Progress(stream))
    lines = stream.getvalue().splitlines()
    assert 10 <= len(lines) <= 12
    assert lines[-1].startswith("step 40/40, t = 1,")


def _compare(tmp_path: Path, **case: Any) -> tuple[str, list[dict[str, str]], dict[str, Result]]:
    runs = {kind: block(kind, **case).run() for kind in ("concentrated", "weighted")}
    text = compare_results(list(runs.items()), tmp_path)
    assert (tmp_path / "comparison.png").read_bytes().startswith(b"\x89PNG")
    return text, rows(tmp_path / "comparison_nodes.csv"), runs


def test_compare_marks_inadmissible_images(tmp_path: Path) -> None:
    text, nodes, runs = _compare(tmp_path)
    c, w = runs["concentrated"].contacts["bottom"], runs["weighted"].contacts["bottom"]
    marked = [int(r["node"]) for r in nodes if r["P_inverse_image_admissible"] == "no"]
    assert marked == c.nodes[c.inadmissible].tolist()
    # the last separated node is pulled, and the last sliding one is pushed out of the cone
    assert {4, 11} <= set(marked)
    assert "P^-1 images of the concentrated reactions are inadmissible" in text
    assert "All P images of the weighted reactions are admissible" in text
    assert np.array_equal(column(nodes, "RN_P_inverse_image"), c.equivalent[:, 0])
    assert np.array_equal(column(nodes, "RT_P_image"), w.equivalent[:, 1])
    overview = rows(tmp_path / "comparison.csv")
    assert float(overview[0]["difference_u"]) == 0.0
    assert 1e-4 < float(overview[1]["difference_u"]) < 5e-3


def test_a_grid_tells_its_pairs_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.axes import Axes

    titles: list[str] = []
    monkeypatch.setattr(Axes, "set_title", lambda _, title, **options: titles.append(title))
    labels = [(kind, mu) for kind in ("concentrated", "weighted") for mu in (0.5, 1.0)]
    runs = [(f"reactions={kind},mu={mu}", block(kind, mu=mu).run()) for kind, mu in labels]
    compare_results(runs, tmp_path)
    nodes = rows(tmp_path / "comparison_nodes.csv")
    assert len(nodes) == 2 * 16
    for part, mu in ((nodes[:16], 0.5), (nodes[16:], 1.0)):
        assert {r["run_concentrated"] for r in part} == {f"reactions=concentrated,mu={mu}"}
        assert {r["run_weighted"] for r in part} == {f"reactions=weighted,mu={mu}"}
    drawn = "\n".join(titles)
    assert all(label in drawn for label, _ in runs)


def test_compare_finds_none_where_all_slide(tmp_path: Path) -> None:
    text, nodes, _ = _compare(tmp_path, mu=0.1, left=5e7)
    assert {r["P_inverse_image_admissible"] for r in nodes} == {"yes"}
    assert "All P^-1 images of the concentrated reactions are admissible" in text
    assert np.allclose(column(nodes, "RN_weighted"), column(nodes, "RN_P_inverse_image"), rtol=1e-9)


def test_compare_any_key(tmp_path: Path) -> None:
    runs = [(f"mu={mu}", block(mu=mu).run()) for mu in (1.0, 0.5, 0.2)]
    text = compare_results(runs, tmp_path)
    assert [r["run"] for r in rows(tmp_path / "comparison.csv")] == ["mu=1.0", "mu=0.5", "mu=0.2"]
    assert len(rows(tmp_path / "comparison_nodes.csv")) == 2 * 16
    assert "node by node" not in text


def test_compare_other_meshes_and_failures(tmp_path: Path) -> None:
    runs = [("nx=16", block().run()), ("nx=32", block(nx=32).run())]
    runs.append(("short", block(solver="nsgs", max_iterations=1).run()))
    text = compare_results(runs, tmp_path)
    assert "the meshes differ" in text
    overview = rows(tmp_path / "comparison.csv")
    assert 0.0 < float(overview[1]["difference_u"]) < 0.1
    assert overview[2]["converged"] == "no"
    assert overview[2]["RN"] == ""


def test_scaled_and_amplification() -> None:
    assert scaled(np.array([0.04]), "m") == (1e3, "mm")
    assert scaled(np.array([-2.5e5, 10.0]), "N/m") == (1e-3, "kN/m")
    assert scaled(np.zeros(3), "m") == (1.0, "m")
    assert scaled(np.array([2.2e15]), "J/m") == (1e-15, "PJ/m")
    mesh = rectangle(1.0, 1.0, 1, 1)
    assert auto_amplification(mesh, np.full((4, 2), 1e-4)) == 500.0
    assert auto_amplification(mesh, np.full((4, 2), 1.0)) == 1.0
    # amplified, two bodies would overlap where they touch
    two = Mesh.merge({"a": mesh, "b": rectangle(1.0, 1.0, 1, 1, origin=(0.0, 1.0))})
    assert auto_amplification(two, np.full((8, 2), 1e-4)) == 1.0


def test_rounding_is_not_painted_as_a_field() -> None:
    mesh = rectangle(1.0, 1.0, 4, 4, kind="quad")
    solid = Solid(mesh, {"body": IsotropicElastic(E=1e9, nu=0.3)})
    model = Model(
        solid,
        prescribed=[Prescribed("bottom", uy=0), Prescribed("left", ux=0)],
        loads=[Pressure("top", 1e6)],
    )
    result = Simulation(model).run()
    for field, middle in (("von_mises", None), ("stress_xy", 0.0), ("stress_yy", -1.0)):
        axes = new_figure(4.0, 4.0).add_subplot()
        plot_deformed(axes, result.final, solid, field)
        low, high = axes.collections[0].get_clim()
        assert high - low > 0.05
        if middle is not None and field != "stress_xy":
            assert 0.5 * (low + high) == pytest.approx(middle)


def test_plain_has_no_nan() -> None:
    assert plain({"a": np.array([1.0, np.nan]), "b": np.int64(3)}) == {"a": [1.0, None], "b": 3}
