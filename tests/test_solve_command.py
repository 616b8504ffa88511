"""``fecontact solve`` and the problems that ``fecontact run`` saves, as a user meets them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fecontact.case import build, read_case
from fecontact.cli import main
from fecontact.errors import InputError
from fecontact.fclib import read_problem, write_problem
from fecontact.output.problems import ProblemWriter
from fecontact.solvers import SOLVERS, FrictionProblem, certificate

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data" / "fclib"
BLOCK = str(ROOT / "cases" / "sliding_block.toml")
PUBLIC = sorted(p.name for p in DATA.iterdir() if p.suffix in (".dat", ".hdf5"))
SMALL = str(DATA / "FrictionContactProblem00031.dat")


def squeezed():
    """A rigid body between two walls that close: u_N1 + u_N2 = -2 whatever the impulses are."""
    W = np.eye(4)
    W[0, 2] = W[2, 0] = -1.0
    return FrictionProblem(W, np.array([-1.0, 0.1, -1.0, 0.0]), np.full(2, 0.5))


def test_the_six_public_problems_are_there():
    assert len(PUBLIC) == 6


@pytest.mark.parametrize("name", PUBLIC)
def test_public_problems_are_solved_and_written(name, tmp_path, capsys):
    out = tmp_path / "solution.json"
    assert main(["solve", str(DATA / name), "--out", str(out)]) == 0
    content = json.loads(out.read_text())
    assert content["solver"] == "hybrid"
    assert content["converged"] is True
    assert content["iterations"] >= 1
    problem = read_problem(DATA / name)
    r, u = np.array(content["r"]), np.array(content["u"])
    W = problem.W if problem.is_dense else problem.W.toarray()
    np.testing.assert_allclose(u, W @ r + problem.q, atol=1e-12 * np.abs(problem.q).max())
    # the residual in the file is that of the r in the file
    assert certificate(problem, r) == content["residual"] <= 1e-8
    normal = r[:: problem.dim]
    tangential = np.linalg.norm(r.reshape(-1, problem.dim)[:, 1:], axis=1)
    scale = np.linalg.norm(r)
    assert normal.min() >= -1e-7 * scale
    assert np.all(tangential <= problem.mu * normal + 1e-7 * scale)
    assert "converged" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(set(SOLVERS) - {"enumeration"}))
def test_the_solver_and_the_tolerance_are_those_asked_for(name, tmp_path):
    out = tmp_path / "solution.json"
    assert main(["solve", SMALL, "--solver", name, "--tol", "1e-6", "--out", str(out)]) == 0
    content = json.loads(out.read_text())
    assert (content["solver"], content["tolerance"]) == (name, 1e-6)
    assert content["residual"] <= 1e-6


def test_no_convergence_is_code_3_with_the_best_iterate_written(tmp_path, capsys):
    out = tmp_path / "solution.json"
    # no floating-point number meets this tolerance on this problem
    code = main(["solve", SMALL, "--solver", "nsgs", "--tol", "1e-30", "--out", str(out)])
    captured = capsys.readouterr()
    assert code == 3
    assert "not converged" in captured.out
    assert captured.err.count("\n") == 1
    assert SMALL in captured.err
    content = json.loads(out.read_text())
    assert content["converged"] is False
    problem = read_problem(SMALL)
    # the best iterate, not nothing: it is a solution to rounding
    assert certificate(problem, np.array(content["r"])) == content["residual"] < 1e-10


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("none.hdf5", None, "no such file"),
        ("none.dat", None, "no such file"),
        ("short.dat", "2 1 0 2 2 1.0", "W"),
        ("words.dat", "here is no problem at all", "expected numbers"),
        ("text.hdf5", "not HDF5", "not an HDF5 file"),
    ],
)
def test_bad_files_are_code_2_with_one_message(name, text, told, tmp_path, capsys):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    out = tmp_path / "solution.json"
    assert main(["solve", str(path), "--out", str(out)]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert str(path) in message
    assert told in message
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--solver", "nsgss"], "did you mean 'nsgs'"),
        (["--tol", "0"], "tolerance = 0"),
        (["--all", "--solver", "nsgs"], "exclude"),
        (["--out", "nowhere/solution.json"], "nowhere"),
        (["--out", "."], "--out .: is a folder; give a file"),
    ],
)
def test_bad_options_are_code_2(options, told, capsys):
    assert main(["solve", SMALL, *options]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", [n for n in PUBLIC if not n.startswith("Confeti")])
def test_all_solvers_agree(name, tmp_path, capsys):
    out = tmp_path / "solution.json"
    assert main(["solve", str(DATA / name), "--all", "--tol", "1e-10", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    rows = json.loads(out.read_text())["comparison"]
    assert {row["solver"] for row in rows} >= set(SOLVERS) - {"enumeration"}
    for row in rows:
        assert row["solver"] in printed
        assert row["converged"], row
        assert row["residual"] <= 1e-10
        assert row["difference"] < 1e-6
        assert row["seconds"] > 0.0


def test_all_tells_where_none_converges(tmp_path, capsys):
    path, out = tmp_path / "problem.dat", tmp_path / "solution.json"
    write_problem(squeezed(), path)
    assert main(["solve", str(path), "--all", "--out", str(out)]) == 3
    assert "none of" in capsys.readouterr().err
    content = json.loads(out.read_text())
    assert content["converged"] is False
    # the best of all is the one that is written
    assert content["residual"] == min(row["residual"] for row in content["comparison"])


RAMP = [
    *("--set", "time.steps=4", "--set", "output.figures=false", "--set", "mesh.nx=8"),
    *("--set", "loads.left.amplitude=[[0.0, 0.2], [1.0, 1.0]]"),
]


def test_saved_problems_have_the_reactions_of_the_run(tmp_path, capsys):
    folder, out = tmp_path / "deep" / "problems", tmp_path / "solution.json"
    options = [*RAMP, "--set", "solver.tolerance=1e-12", "--save-problems", str(folder)]
    assert main(["run", BLOCK, "--out", str(tmp_path / "o"), *options]) == 0
    assert "problem_000004.hdf5" in capsys.readouterr().out
    assert sorted(p.name for p in folder.iterdir()) == [
        f"problem_{number:06d}.hdf5" for number in (1, 2, 3, 4)
    ]
    settings = [s for s in (*RAMP, "solver.tolerance=1e-12") if s != "--set"]
    steps = build(read_case(BLOCK, settings)).run().steps
    assert len(steps) == 4
    previous = None
    for step in steps:
        path = folder / f"problem_{step.number:06d}.hdf5"
        assert main(["solve", str(path), "--tol", "1e-12", "--out", str(out)]) == 0
        r = np.array(json.loads(out.read_text())["r"]).reshape(-1, 2)
        force = step.contacts["base"].force
        np.testing.assert_allclose(r / step.h, force, atol=1e-9 * np.abs(force).max())
        # each step has its own problem
        assert previous is None or not np.allclose(previous, force, rtol=1e-3)
        previous = force


def test_only_chosen_steps_are_saved(tmp_path):
    folder = tmp_path / "problems"
    options = ["--save-problems", str(folder), "--problem-steps", "1,3"]
    assert main(["run", BLOCK, "--out", str(tmp_path / "o"), *RAMP, *options]) == 0
    assert sorted(p.name for p in folder.iterdir()) == [
        "problem_000001.hdf5",
        "problem_000003.hdf5",
    ]


def test_the_problem_of_a_failed_step_is_saved(tmp_path):
    folder = tmp_path / "problems"
    options = ["--set", "solver.max_iterations=2", "--set", "solver.name=nsgs"]
    code = main(
        ["run", BLOCK, "--out", str(tmp_path / "o"), *options, "--save-problems", str(folder)]
    )
    assert code == 3
    assert main(["solve", str(folder / "problem_000001.hdf5")]) == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--problem-steps", "1"], "--save-problems"),
        (["--save-problems", "p", "--problem-steps", "1,2"], "2 is not between 1 and 1"),
        (["--save-problems", "p", "--problem-steps", "0"], "0 is not between 1 and 1"),
    ],
)
def test_steps_that_cannot_be_are_refused_before_the_run(
    options, told, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["run", BLOCK, *options]) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("law", "more"), [("tresca", ["--set", "contact.threshold=1e8"]), ("glued", [])]
)
def test_laws_that_files_do_not_hold_are_refused_before_the_run(
    law, more, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    text = Path(BLOCK).read_text()
    Path("case.toml").write_text(text.replace("friction = 1.0", f'friction_law = "{law}"'))
    assert main(["run", "case.toml", *more, "--save-problems", "p"]) == 2
    told = capsys.readouterr().err
    assert f"contact.base has friction_law '{law}'" in told
    assert [path.name for path in tmp_path.iterdir()] == ["case.toml"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "p").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        build(read_case(BLOCK)).run(ProblemWriter(tmp_path / "p"))
    assert (tmp_path / "p").read_text() == "mine"


def test_kept_steps_do_not_hold_matrices():
    result = build(read_case(BLOCK, ["time.steps=2"])).run()
    assert [step.problem for step in result.steps] == [None, None]
    assert result.final.problem is None


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom fecontact.cli import main\n"
        "try:\n    main(['solve', '--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'h5py', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--solver" in done.stdout
