"""Watching and interrupting runs; results in notebooks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

import matplotlib
import numpy as np
import pytest

from fecontact.commands.interrupt import Shielded
from fecontact.commands.watch import LiveReport, PageServer
from fecontact.errors import InputError, MissingDependency
from fecontact.output import FolderWriter
from fecontact.schemes import StepResult
from fecontact.simulation import Result, Simulation
from tests.test_report import block


class At:
    """Does something after a step."""

    def __init__(self, number: int, act: Any) -> None:
        self.number, self.act = number, act
        self.ended = False

    def begin(self, simulation: Simulation) -> None: ...

    def step(self, result: StepResult, saved: bool) -> None:
        if result.number == self.number:
            self.act()

    def end(self, result: Result) -> None:
        self.ended = True


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_interrupted_run_keeps_what_it_has(tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block(5).run(FolderWriter(tmp_path, figures=False), At(2, stop))
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["converged"], summary["interrupted"]) == (False, True)
    assert summary["message"] == "interrupted at t = 0.4, after step 2"
    assert (tmp_path / "fields_0002.vtu").exists()
    assert not (tmp_path / "fields_0003.vtu").exists()
    assert "interrupted" in (tmp_path / "report.html").read_text()


def test_interrupt_waits_for_the_writing() -> None:
    before = signal.getsignal(signal.SIGINT)
    later = At(2, lambda: None)
    seen: list[int] = []
    with (
        pytest.raises(KeyboardInterrupt),
        Shielded(At(2, interrupt), At(2, lambda: seen.append(2)), later) as shielded,
    ):
        block(4).run(shielded)
    assert seen == [2]
    assert later.ended
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupt_of_the_command(tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    text = (Path(__file__).parent.parent / "cases" / "sliding_block.toml").read_text()
    case.write_text(text.replace("steps = 1", "steps = 100000"))
    run = subprocess.Popen(
        [
            *(sys.executable, "-m", "fecontact", "run", str(case), "--out", str(tmp_path / "out")),
            *("--set", "output.fields=false", "--set", "output.figures=false"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    latest = monotonic() + 60.0
    try:
        while not (tmp_path / "out" / "history.csv").exists():
            assert run.poll() is None, run.communicate()
            assert monotonic() < latest
            try:
                run.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 130, err
    assert "fecontact: interrupted" in err
    assert "report.html" in out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["interrupted"] is True
    done = len((tmp_path / "out" / "history.csv").read_text().splitlines()) - 1
    assert summary["times"]["steps_done"] == done >= 1


def get(url: str, host: str | None = None) -> tuple[int, str]:
    request = urllib.request.Request(url, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, ""


def test_page_is_served_while_the_run_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    # what an earlier run left there is not shown as this one
    block(1).run(FolderWriter(folder, figures=False))
    live = LiveReport(folder)
    server = PageServer(live, port=0)
    server.start()
    url = server.url
    seen: dict[str, Any] = {}

    def look() -> None:
        seen["page"] = get(url)
        seen["data"] = json.loads(get(url + "data.json?since=0")[1])
        last = seen["data"]["steps"][-1]
        seen["chunk"] = get(f"{url}chunk/{last['fields']}")
        seen["again"] = get(f"{url}data.json?since={seen['data']['version']}")

    try:
        before = json.loads(get(url + "data.json")[1])
        assert (before["state"], before["steps"]) == ("running", [])
        # the page hears of a step after its files are written; look before the third
        block(3).run(FolderWriter(folder, figures=False), live, At(2, look))
        assert seen["page"][0] == 200
        assert '"live":true' in seen["page"][1]
        assert 'id="chunk-' not in seen["page"][1]
        assert seen["data"]["state"] == "running"
        assert [s["number"] for s in seen["data"]["steps"]] == [1, 2]
        assert seen["data"]["history"]["rows"][-1][0] == 2
        assert seen["chunk"][0] == 200
        assert len(seen["chunk"][1]) > 100
        assert seen["again"] == (204, "")
        after = json.loads(get(url + "data.json")[1])
        assert (after["state"], len(after["steps"])) == ("done", 3)
        assert get(url + "history.csv")[1] == (folder / "history.csv").read_text()
        assert get(url + "chunk/none")[0] == 404
        assert get(url + "../../etc/passwd")[0] == 404
        assert get(url, host="evil.example:80")[0] == 403
        get(url + "bye")
    finally:
        server.stop()
    with pytest.raises(urllib.error.URLError, match="refused"):
        get(url)


def test_ports(tmp_path: Path) -> None:
    first = PageServer(LiveReport(tmp_path), port=0)
    try:
        with pytest.raises(InputError, match=f"--port {first.server_port}"):
            PageServer(LiveReport(tmp_path), port=first.server_port)
    finally:
        first.server_close()


@pytest.fixture(scope="module")
def result() -> Result:
    return block(2).run()


def test_result_in_a_notebook(result: Result) -> None:
    page = result._repr_html_()
    assert "a &lt;block&gt; &amp; more" in page
    assert "All 2 steps converged" in page
    assert "data:image/png;base64," in page
    assert "result at t = 1" in repr(result)


def test_what_a_notebook_holds_shows_itself(result: Result) -> None:
    simulation = result.simulation
    state = result.contacts["bottom"]
    for shown, words in (
        (simulation.model.mesh, ("45 nodes", "top_left (1)")),
        (simulation, ("a &lt;block&gt;", "quasi_static", "load left: Pressure", "Contact bottom")),
        (state, ("concentrated reactions", "total RN")),
    ):
        page = shown._repr_html_()
        assert "data:image/png;base64," in page
        assert all(word in page for word in words)
        # a line or a few, not the arrays
        assert len(repr(shown)) < 1200


def test_meshes_and_contacts_plot_on_given_axes(result: Result) -> None:
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    state = result.contacts["bottom"]
    assert state.plot(ax) is ax
    drawn = {line.get_label(): line for line in ax.get_lines()}
    heights = np.asarray(drawn["RN"].get_ydata(), dtype=float)
    assert np.allclose(heights / heights.max(), state.force[:, 0] / state.force[:, 0].max())
    # of the whole thickness
    assert "N)" in ax.get_ylabel()
    assert result.simulation.model.mesh.plot(ax) is ax
    pyplot.close(figure)
    assert state.plot() is not ax
    pyplot.close("all")


def test_plot_takes_and_returns_axes(result: Result) -> None:
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    assert result.plot("displacement", ax=ax, step=0, amplification=7.0) is ax
    assert "× 7" in ax.get_title()
    assert "t = 0.5" in ax.get_title()
    pyplot.close(figure)
    new = result.plot()
    assert new is not ax
    assert "t = 1" in new.get_title()
    pyplot.close(new.figure)
    with pytest.raises(InputError, match="2 steps were kept"):
        result.plot(step=5)


def test_pyvista_grid(result: Result) -> None:
    if find_spec("pyvista") is None:
        with pytest.raises(MissingDependency, match="pip install pyvista"):
            result.to_pyvista()
        return
    grid = result.to_pyvista(step=0)
    assert (grid.n_points, grid.n_cells) == (45, 64)
    step = result.steps[0]
    assert np.array_equal(grid.point_data["displacement"][:, :2], step.displacement)
    assert grid.cell_data["stress"].shape == (64, 4)
