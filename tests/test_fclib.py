"""Files of friction problems: the public ones solved by all, round trips, and what is refused."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from fecontact.errors import InputError, SingularSystem
from fecontact.fclib import GlobalProblem, read_global, read_problem, write_problem
from fecontact.solvers import BILATERAL, FrictionProblem, Options, certificate, solve
from fecontact.solvers.compare import compare
from tests.friction_problems import random_problem

DATA = Path(__file__).parent / "data" / "fclib"
# dim, contacts, full rank
PUBLIC = {
    "FrictionContactProblem00031.dat": (2, 11, True),
    "FrictionContactProblem00071.dat": (2, 89, True),
    "FrictionContactProblem00374.dat": (2, 28, True),
    "Confeti-ex03-Fc3D-SBM.dat": (3, 54, False),
    "LMGC_GFC3D-i00001-1-00000.hdf5": (3, 1, True),
    "LMGC_GFC3D-i00501-4-00000.hdf5": (3, 4, True),
}


def dense(problem: FrictionProblem):
    return problem.W if problem.is_dense else problem.W.toarray()


@pytest.mark.parametrize("name", PUBLIC)
def test_public_problems_are_sound_and_every_solver_agrees(name):
    dim, contacts, full_rank = PUBLIC[name]
    problem = read_problem(DATA / name)
    assert (problem.dim, problem.n_contacts) == (dim, contacts)
    W = dense(problem)
    np.testing.assert_allclose(W, W.T, atol=1e-12 * np.abs(W).max())
    smallest = np.linalg.eigvalsh(W)[0] / np.abs(W).max()
    assert smallest > 1e-6 if full_rank else abs(smallest) < 1e-6
    for row in compare(problem, options=Options(max_iterations=20_000)):
        assert row.converged, row.name
        assert certificate(problem, row.solution.r) <= 1e-10
        if full_rank:
            assert row.difference < 1e-6, row.name


def test_global_problem_is_condensed():
    problem = read_global(DATA / "LMGC_GFC3D-i00501-4-00000.hdf5")
    assert problem.M.shape == (162, 162)
    solution = solve(problem.condense())
    # back to the bodies: M v = H r + f, u = H^T v + w
    v = np.linalg.solve(problem.M.toarray(), problem.H @ solution.r + problem.f)
    np.testing.assert_allclose(
        problem.H.T @ v + problem.w, solution.u, atol=1e-9 * np.abs(problem.H.T @ v).max() + 1e-20
    )


@pytest.mark.parametrize("suffix", [".hdf5", ".h5", ".dat"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_round_trip_keeps_every_bit(tmp_path, suffix, sparse, dim):
    problem = random_problem(np.random.default_rng(dim), dim, 9)
    if sparse:
        W = sp.block_diag([problem.W[3 * dim : 6 * dim, 3 * dim : 6 * dim]] * 3, format="csr")
        problem = FrictionProblem(W, problem.q, problem.mu, dim)
    path = tmp_path / f"problem{suffix}"
    write_problem(problem, path, title="round trip", solution=solve(problem))
    back = read_problem(path)
    assert back.dim == dim
    np.testing.assert_array_equal(dense(back), dense(problem))
    np.testing.assert_array_equal(back.q, problem.q)
    np.testing.assert_array_equal(back.mu, problem.mu)


def test_solution_and_title_are_kept_in_hdf5(tmp_path):
    problem = random_problem(np.random.default_rng(1), 2, 4)
    solution = solve(problem)
    write_problem(problem, tmp_path / "p.hdf5", title="four contacts", solution=solution)
    with h5py.File(tmp_path / "p.hdf5") as file:
        assert file["fclib_local/info/title"][()] == b"four contacts"
        np.testing.assert_array_equal(file["solution/r"][()], solution.r)
        np.testing.assert_array_equal(file["solution/u"][()], solution.u)


def write_matrix(group, name, A, nz):
    by = {-2: sp.csr_array, -1: sp.csc_array}.get(nz, sp.coo_array)(A)
    matrix = group.create_group(name)
    p, i = (by.col, by.row) if nz >= 0 else (by.indptr, by.indices)
    entries = {"m": A.shape[0], "n": A.shape[1], "nz": by.nnz if nz >= 0 else nz}
    for key, value in entries.items():
        matrix[key] = np.array([value], np.int32)
    matrix["p"], matrix["i"], matrix["x"] = p, i, by.data


def write_global(path, M, H, f, w, mu, dim, nz, constraints=0):
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_global")
        group["spacedim"] = np.array([dim], np.int32)
        write_matrix(group, "M", M, nz)
        write_matrix(group, "H", H, nz)
        if constraints:
            write_matrix(group, "G", np.ones((M.shape[0], constraints)), nz)
        vectors = group.create_group("vectors")
        vectors["f"], vectors["w"], vectors["mu"] = f, w, mu


@pytest.mark.parametrize("nz", [-2, -1, 0])
@pytest.mark.parametrize("stored", ["whole", "upper", "lower"])
def test_storage_of_global_matrices(tmp_path, nz, stored):
    rng = np.random.default_rng(5)
    A = rng.normal(size=(5, 5))
    M = A @ A.T + np.eye(5)
    H = rng.normal(size=(5, 4))
    f, w = rng.normal(size=5), rng.normal(size=4)
    part = {"whole": M, "upper": np.triu(M), "lower": np.tril(M)}[stored]
    path = tmp_path / "global.hdf5"
    write_global(path, part, H, f, w, np.array([0.3, 0.4]), 2, nz)
    problem = read_problem(path)
    np.testing.assert_allclose(dense(problem), H.T @ np.linalg.solve(M, H), rtol=1e-10)
    np.testing.assert_allclose(problem.q, H.T @ np.linalg.solve(M, f) + w, rtol=1e-10)


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_problem(tmp_path / "missing.dat")
    text = tmp_path / "text.hdf5"
    text.write_text("2 1 0")
    with pytest.raises(InputError, match="not an HDF5 file"):
        read_problem(text)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file.create_group("mesh")
    with pytest.raises(InputError, match="groups: mesh, expected fclib_local"):
        read_problem(tmp_path / "other.h5")
    with h5py.File(tmp_path / "part.h5", "w") as file:
        file.create_group("fclib_local/W")["m"] = np.array([2], np.int32)
    with pytest.raises(InputError, match=r"part.h5: matrix 'W' lacks n, nz, p, i, x"):
        read_problem(tmp_path / "part.h5")
    M = np.eye(4)
    held = tmp_path / "held.h5"
    write_global(held, M, M, np.ones(4), np.ones(4), np.ones(2), 2, -1, constraints=1)
    with pytest.raises(InputError, match=r"equality constraints \(G\)"):
        read_problem(held)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 1 0 2 2  1 0 0 1  1", "ends in q, after 1 of 2"),
        ("2 1 0 2 2  1 0", "ends in W, after 2 of 4"),
        ("2 1 0 3 3", "W is 3 x 3 for 1 contacts in 2D, expected 2 x 2"),
        ("2 1 5 2 2", "storage of W = 5"),
        ("2 1 0 2 2  1 0 0 x  1 1 0.5", "could not convert"),
        ("2 1.5 0 2 2", "expected integers"),
        ("2 -1 0 -2 -2", "-1 contacts in 2D"),
        ("2 1 0 2 2  1 0 0 nan  1 1 0.5", r"bad.dat: .*W\[1, 1\] = nan"),
        ("2 1 0 2 2  1 0 0 1  1 1 -0.5", r"bad.dat: .*mu\[0\] = -0.5"),
        ("2 1 1 2 2  1 1 1  2  2  2 1  0 1  7  0  1 0 0 1  1 1 0.5", "does not fit 2 rows"),
        ("2 1 1 2 2  1 1 1  2  2  2 1  0 9  0  0  1 0 0 1  1 1 0.5", "does not fit 2 rows"),
    ],
)
def test_unsound_text(tmp_path, text, message):
    path = tmp_path / "bad.dat"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_problem(path)


def test_text_with_the_shape_once_or_twice(tmp_path):
    for again in ("", "2 2"):
        path = tmp_path / "p.dat"
        path.write_text(f"2 1 0 2 2 {again} 4 1 2 3  -1 0.5  0.3  0")
        problem = read_problem(path)
        np.testing.assert_array_equal(dense(problem), [[4.0, 2.0], [1.0, 3.0]])
        np.testing.assert_array_equal(problem.q, [-1.0, 0.5])
        np.testing.assert_array_equal(problem.mu, [0.3])


def test_text_by_blocks_with_columns_first(tmp_path):
    path = tmp_path / "p.dat"
    index = "3 2 2  2 4  2 4  3 3  0 2 3  0 1 1"
    blocks = "0  4 1 2 3  1  5 6 7 8  2  9 0 0 9"
    path.write_text(f"2 2 1 4 4  {index}  {blocks}  1 2 3 4  0.3 0.4  1")
    problem = read_problem(path)
    expected = [[4.0, 2.0, 5.0, 7.0], [1.0, 3.0, 6.0, 8.0], [0, 0, 9.0, 0], [0, 0, 0, 9.0]]
    np.testing.assert_array_equal(dense(problem), expected)
    np.testing.assert_array_equal(problem.q, [1.0, 2.0, 3.0, 4.0])


def test_laws_that_the_formats_do_not_know(tmp_path):
    problem = FrictionProblem(np.eye(2), np.ones(2), 0.1, law=np.array([BILATERAL]))
    with pytest.raises(InputError, match="1 contacts are glued"):
        write_problem(problem, tmp_path / "p.dat")


def test_singular_bodies_are_named():
    M = sp.csc_array(np.diag([1.0, 0.0]))
    problem = GlobalProblem(M, sp.csc_array(np.eye(2)), np.ones(2), np.ones(2), np.ones(1), 2)
    with pytest.raises(SingularSystem, match=r"M: .* must be positive: nothing holds this dof"):
        problem.condense()


@pytest.mark.parametrize(
    ("M", "message"),
    [
        (np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]]), "motion free"),
        (np.array([[1.0, 3.0, 0.0], [3.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "not positive definite"),
        (-np.eye(3), "not positive definite"),
        (np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.1, 0.0, 1.0]]), "not symmetric"),
    ],
)
def test_bodies_that_move_freely_or_gain_energy_are_named(tmp_path, M, message):
    path = tmp_path / "free.hdf5"
    write_global(path, M, np.eye(3)[:, :2], np.ones(3), -np.ones(2), np.array([0.3]), 2, -1)
    with pytest.raises(InputError, match=rf"free.hdf5: global friction problem, M: .*{message}"):
        read_problem(path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"M": np.eye(4)[:, :3]}, r"M has shape \(4, 3\), expected \(4, 4\) as H has 4 rows"),
        ({"M": np.eye(3)}, r"M has shape \(3, 3\), expected \(4, 4\)"),
        ({"f": np.ones(3)}, r"f has shape \(3,\), expected \(4,\)"),
        ({"f": np.ones((4, 1))}, r"f has shape \(4, 1\), expected \(4,\)"),
        ({"w": np.ones(4)}, r"w has shape \(4,\), expected \(2,\)"),
        ({"f": np.full(4, np.nan)}, "f has numbers that are not finite"),
        ({"H": np.full((4, 2), np.inf)}, "H has numbers that are not finite"),
    ],
)
def test_global_problems_whose_parts_do_not_fit(tmp_path, changed, message):
    parts = {"M": np.eye(4), "H": np.eye(4)[:, :2], "f": np.ones(4), "w": np.ones(2)}
    path = tmp_path / "parts.hdf5"
    write_global(path, **{**parts, **changed}, mu=np.array([0.3]), dim=2, nz=-1)
    with pytest.raises(InputError, match=f"parts.hdf5: global friction problem: {message}"):
        read_problem(path)


@pytest.mark.parametrize("nz", [-2, -1, 4])
@pytest.mark.parametrize("beyond", [7, -1])
def test_entries_outside_of_a_matrix(tmp_path, nz, beyond):
    path = tmp_path / "outside.hdf5"
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = 2
        matrix = group.create_group("W")
        matrix["m"], matrix["n"], matrix["nz"] = 2, 2, nz
        matrix["x"], matrix["i"] = np.ones(4), np.array([0, 1, 0, beyond])
        matrix["p"] = np.array([0, 2, 4] if nz < 0 else [0, 0, 1, 1])
        group["vectors/q"], group["vectors/mu"] = -np.ones(2), np.array([0.3])
    with pytest.raises(InputError, match=r"outside.hdf5: matrix 'W' is not sound \(.*ind"):
        read_problem(path)
