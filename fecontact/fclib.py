"""Friction problems in files: the FCLib HDF5 format and the plain text of Siconos.

An HDF5 file holds either a local problem (group ``fclib_local``: W, q, mu, with u = W r + q) or a
global one (group ``fclib_global``: M, H, f, w, mu, with M v = H r + f and u = H^T v + w), which is
condensed to a local one. A matrix is a group of m, n (its shape), nz, p, i, x: nz = -2 by rows
(CSR), -1 by columns (CSC), >= 0 as triplets with rows i and columns p.

A text file holds dim, the number of contacts, W, q and mu, separated by blanks. W begins with its
storage and shape; storage 0 is dense by columns, after the shape once more, storage 1 is by blocks,
the blocks dense by columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from fecontact.errors import InputError, at
from fecontact.solvers.linear import factorise
from fecontact.solvers.problem import COULOMB, FrictionProblem
from fecontact.solvers.report import Solution
from fecontact.typing import FloatArray

_HDF5 = (".hdf5", ".h5")


@dataclass(frozen=True, eq=False)
class GlobalProblem:
    """M v = H r + f, u = H^T v + w: a friction problem before its condensation on the contacts.

    Parameters
    ----------
    M : (ndof, ndof) sparse array
        Matrix of the bodies, symmetric and positive definite.
    H : (ndof, n) sparse array
        Columns are the local directions, normal first.
    f : (ndof,) array
        Impulses without contact.
    w : (n,) array
        Part of the relative velocities that does not come from v.
    mu : (n_contacts,) array
    dim : int
    """

    M: sp.csc_array
    H: sp.csc_array
    f: FloatArray
    w: FloatArray
    mu: FloatArray
    dim: int

    def __post_init__(self) -> None:
        ndof, n = self.H.shape
        for name, given, expected in (
            ("M", self.M.shape, (ndof, ndof)),
            ("f", self.f.shape, (ndof,)),
            ("w", self.w.shape, (n,)),
        ):
            if given != expected:
                raise InputError(
                    f"global friction problem: {name} has shape {given}, "
                    f"expected {expected} as H has {ndof} rows and {n} columns"
                )
        for name, numbers in (("M", self.M.data), ("H", self.H.data), ("f", self.f)):
            if not np.all(np.isfinite(numbers)):
                raise InputError(f"global friction problem: {name} has numbers that are not finite")

    def condense(self) -> FrictionProblem:
        """The same problem on the contacts: W = H^T M^-1 H, q = H^T M^-1 f + w."""
        with at("global friction problem, M"):
            factor = factorise(sp.csr_array(self.M))
        W = np.asarray(self.H.T @ factor.solve(self.H.toarray()))
        q = self.H.T @ factor.solve(self.f) + self.w
        return FrictionProblem(0.5 * (W + W.T), q, self.mu, self.dim)


def read_problem(path: str | Path) -> FrictionProblem:
    """Read a friction problem; a global one is condensed.

    Files named .hdf5 or .h5 are FCLib, all others Siconos text.
    """
    path = _existing(path)
    with at(str(path)):
        if path.suffix.lower() not in _HDF5:
            return _read_text(path)
        with _open(path) as file:
            if "fclib_local" in file:
                return _read_local(file["fclib_local"], path)
        return read_global(path).condense()


def read_global(path: str | Path) -> GlobalProblem:
    """Read the global problem of an FCLib file as it stands."""
    path = _existing(path)
    with _open(path) as file:
        if "fclib_global" not in file:
            raise InputError(
                f"{path}: no friction problem; groups: {', '.join(file) or 'none'}, "
                "expected fclib_local or fclib_global"
            )
        group = file["fclib_global"]
        _no_constraints(group, "G", path)
        return GlobalProblem(
            M=_whole(_matrix(group, "M", path)),
            H=_matrix(group, "H", path),
            f=_vector(group, "f", path),
            w=_vector(group, "w", path),
            mu=_vector(group, "mu", path),
            dim=_dim(group, path),
        )


def write_problem(
    problem: FrictionProblem,
    path: str | Path,
    *,
    title: str = "friction problem",
    description: str = "",
    solution: Solution | None = None,
) -> None:
    """Write a friction problem, as FCLib (.hdf5, .h5) or as Siconos text (any other name).

    The solution is kept in FCLib files only, in the group ``solution``.
    """
    path = Path(path)
    if np.any(problem.laws != COULOMB):
        count = int(np.sum(problem.laws != COULOMB))
        raise InputError(
            f"{path}: {count} contacts are glued or have Tresca friction, "
            "which neither format can hold; expected Coulomb contacts only"
        )
    if path.suffix.lower() in _HDF5:
        _write_local(problem, path, title, description, solution)
    else:
        _write_text(problem, path)


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    return path


def _open(path: Path) -> Any:
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{path}: not an HDF5 file ({error})") from error


# FCLib


def _read_local(group: Any, path: Path) -> FrictionProblem:
    _no_constraints(group, "R", path)
    W = _matrix(group, "W", path)
    return FrictionProblem(
        _dense_if_small(W),
        _vector(group, "q", path),
        _vector(group, "mu", path),
        _dim(group, path),
    )


def _dense_if_small(W: sp.csc_array) -> Any:
    # a matrix more than a quarter full is read faster dense
    return W.toarray() if W.nnz > 0.25 * W.shape[0] * W.shape[1] else W


def _no_constraints(group: Any, name: str, path: Path) -> None:
    if name in group and int(np.ravel(group[name]["n"])[0]) > 0:
        raise InputError(
            f"{path}: has equality constraints ({name}), expected a problem without them"
        )


def _dim(group: Any, path: Path) -> int:
    if "spacedim" not in group:
        raise InputError(f"{path}: no spacedim; there is {', '.join(group)}")
    return int(np.ravel(group["spacedim"])[0])


def _vector(group: Any, name: str, path: Path) -> FloatArray:
    if "vectors" not in group or name not in group["vectors"]:
        raise InputError(f"{path}: no vector {name!r} in {group.name}/vectors")
    return np.asarray(group["vectors"][name][()], dtype=np.float64)


def _matrix(group: Any, name: str, path: Path) -> sp.csc_array:
    if name not in group:
        raise InputError(f"{path}: no matrix {name!r} in {group.name}; there is {', '.join(group)}")
    entries = group[name]
    missing = [key for key in ("m", "n", "nz", "p", "i", "x") if key not in entries]
    if missing:
        raise InputError(f"{path}: matrix {name!r} lacks {', '.join(missing)}")
    m, n, nz = (int(np.ravel(entries[key])[0]) for key in ("m", "n", "nz"))
    p, i = (np.asarray(entries[key][()], dtype=np.int64) for key in ("p", "i"))
    x = np.asarray(entries["x"][()], dtype=np.float64)
    try:
        if nz == -2 or nz == -1:
            rows_or_columns = sp.csr_array if nz == -2 else sp.csc_array
            compressed = rows_or_columns((x, i, p), shape=(m, n))
            # places outside of the matrix are not looked for otherwise
            compressed.check_format(full_check=True)
            return sp.csc_array(compressed)
        if nz >= 0:
            return sp.csc_array(sp.coo_array((x[:nz], (i[:nz], p[:nz])), shape=(m, n)))
    except ValueError as error:
        raise InputError(f"{path}: matrix {name!r} is not sound ({error})") from error
    raise InputError(f"{path}: matrix {name!r} has nz = {nz}, expected -2, -1 or >= 0")


def _whole(M: sp.csc_array) -> sp.csc_array:
    """M itself, or with its other half where only one triangle was stored."""
    upper = sp.triu(M, 1).nnz > 0
    lower = sp.tril(M, -1).nnz > 0
    if upper == lower:
        return M
    return sp.csc_array(M + M.T - sp.diags_array(M.diagonal()))


def _write_local(
    problem: FrictionProblem, path: Path, title: str, description: str, solution: Solution | None
) -> None:
    W = sp.csr_array(problem.W)
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([problem.dim], np.int32)
        matrix = group.create_group("W")
        for name, value in (("nzmax", W.nnz), ("m", W.shape[0]), ("n", W.shape[1]), ("nz", -2)):
            matrix[name] = np.array([value], np.int32)
        matrix["p"] = W.indptr.astype(np.int32)
        matrix["i"] = W.indices.astype(np.int32)
        matrix["x"] = W.data
        vectors = group.create_group("vectors")
        vectors["q"] = problem.q
        vectors["mu"] = problem.mu
        info = group.create_group("info")
        for name, text in (("title", title), ("description", description), ("math_info", "")):
            info[name] = np.bytes_(text.encode() or b" ")
        if solution is not None:
            stored = file.create_group("solution")
            stored["r"] = solution.r
            stored["u"] = solution.u


# Siconos text


class _Tokens:
    """The numbers of a text file, taken in order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.words = path.read_text(encoding="ascii").split()
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: not a text file; FCLib files end in .hdf5 or .h5") from error
        self.taken = 0

    @property
    def left(self) -> int:
        return len(self.words) - self.taken

    def floats(self, count: int, what: str) -> FloatArray:
        if self.left < count:
            raise InputError(f"{self.path}: ends in {what}, after {self.left} of {count} numbers")
        words = self.words[self.taken : self.taken + count]
        self.taken += count
        try:
            return np.array([float(word) for word in words])
        except ValueError as error:
            raise InputError(f"{self.path}: {what}: {error}, expected numbers") from error

    def integers(self, count: int, what: str) -> list[int]:
        values = self.floats(count, what)
        if not np.array_equal(values, np.rint(values)):
            raise InputError(f"{self.path}: {what} = {values}, expected integers")
        return [int(value) for value in values]


def _read_text(path: Path) -> FrictionProblem:
    tokens = _Tokens(path)
    dim, nc, storage, rows, columns = tokens.integers(5, "dim, contacts, storage and shape of W")
    if dim not in (2, 3) or nc < 0 or rows != dim * nc or columns != rows:
        raise InputError(
            f"{path}: W is {rows} x {columns} for {nc} contacts in {dim}D, "
            f"expected {dim * nc} x {dim * nc}"
        )
    W: Any
    if storage == 0:
        # the shape comes twice where two more numbers are there than W, q and mu need
        if tokens.left >= rows * columns + rows + nc + 2:
            tokens.integers(2, "the shape of W")
        W = tokens.floats(rows * columns, "W").reshape(rows, columns, order="F")
    elif storage == 1:
        W = _dense_if_small(_read_blocks(tokens, rows))
    else:
        raise InputError(f"{path}: storage of W = {storage}, expected 0 (dense) or 1 (blocks)")
    q = tokens.floats(rows, "q")
    mu = tokens.floats(nc, "mu")
    return FrictionProblem(W, q, mu, dim)


def _read_blocks(tokens: _Tokens, n: int) -> sp.csc_array:
    count, block_rows, block_columns = tokens.integers(3, "the numbers of blocks of W")
    row_ends = [0, *tokens.integers(block_rows, "the block rows of W")]
    column_ends = [0, *tokens.integers(block_columns, "the block columns of W")]
    n_starts, n_indices = tokens.integers(2, "the sizes of the block index of W")
    starts = tokens.integers(n_starts, "the block index of W")
    indices = tokens.integers(n_indices, "the block index of W")
    fits = max(row_ends[-1], column_ends[-1]) <= n and len(indices) >= count
    fits = fits and n_starts <= block_rows + 1 and max(starts, default=0) <= len(indices)
    if not fits or any(not 0 <= b < block_columns for b in indices):
        raise InputError(f"{tokens.path}: the block index of W does not fit {n} rows")
    rows: list[Any] = []
    columns: list[Any] = []
    values: list[FloatArray] = []
    for a in range(len(starts) - 1):
        for k in range(starts[a], starts[a + 1]):
            b = indices[k]
            height = row_ends[a + 1] - row_ends[a]
            width = column_ends[b + 1] - column_ends[b]
            tokens.integers(1, "the number of a block of W")
            values.append(tokens.floats(height * width, f"block {k} of W"))
            rows.append(np.tile(np.arange(row_ends[a], row_ends[a + 1]), width))
            columns.append(np.repeat(np.arange(column_ends[b], column_ends[b + 1]), height))
    if not values:
        return sp.csc_array((n, n), dtype=np.float64)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sp.csc_array(sp.coo_array(entries, shape=(n, n)))


def _write_text(problem: FrictionProblem, path: Path) -> None:
    n, nc, dim = problem.q.size, problem.n_contacts, problem.dim
    lines = [str(dim), str(nc)]
    if isinstance(problem.W, np.ndarray):
        lines += ["0", str(n), str(n), f"{n}\t{n}"]
        lines += [_numbers(column) for column in problem.W.T]
    else:
        W = problem.W
        ends = " ".join(str(dim * (c + 1)) for c in range(nc))
        lines += ["1", str(n), str(n), str(W.indices.size), str(nc), str(nc), ends, ends]
        lines += [str(W.indptr.size), str(W.indices.size)]
        lines += [" ".join(map(str, W.indptr)), " ".join(map(str, W.indices))]
        for k, block in enumerate(W.data):
            lines += [str(k), _numbers(block.ravel(order="F"))]
    lines += [_numbers(problem.q), _numbers(problem.mu), "0"]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{value:.17e}" for value in values)
