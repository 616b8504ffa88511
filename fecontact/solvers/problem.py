"""The friction problem as plain arrays: the boundary between mechanics and solvers.

Find the impulses r and the relative velocities u = W r + q that satisfy, contact by contact, the
law of the contact. Local vectors are ordered normal first and interleaved by contact, so that
contact c owns the components ``dim * c`` (normal) to ``dim * c + dim - 1`` (tangential). Gap terms
are already part of the normal components of q.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import ArrayLike, NDArray

from fecontact.errors import InputError
from fecontact.typing import BoolArray, FloatArray

COULOMB = 0
BILATERAL = 1
TRESCA = 2
LAWS = {"coulomb": COULOMB, "bilateral": BILATERAL, "tresca": TRESCA}

# W closer to symmetric than this (relative to its largest entry) is read by rows instead of columns
_SYMMETRIC = 1e-14


@dataclass(frozen=True, eq=False)
class FrictionProblem:
    """The plain friction problem (W, q, mu).

    Parameters
    ----------
    W : (n, n) array or scipy sparse array
        Delassus operator, n = dim * n_contacts; symmetric positive semi-definite in mechanics.
        Sparse operators are kept by blocks of (dim, dim).
    q : (n,) array
        Relative velocities without contact impulses, gap terms included.
    mu : (n_contacts,) array or float
        Coefficients of friction; 0 is frictionless.
    dim : int
        2 or 3.
    law : (n_contacts,) int8 array, optional
        `COULOMB` (unilateral, Coulomb friction; the default), `BILATERAL` (glued: u = 0) or
        `TRESCA` (unilateral, |r_T| bounded by `threshold` whatever r_N).
    threshold : (n_contacts,) array, optional
        Bound of |r_T| where the law is `TRESCA` (an impulse, as r).
    """

    W: FloatArray | sp.bsr_array
    q: FloatArray
    mu: FloatArray
    dim: int = 2
    law: NDArray[np.int8] | None = None
    threshold: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.dim not in (2, 3):
            raise InputError(f"friction problem: dim = {self.dim!r}, expected 2 or 3")
        q = _vector("q", self.q)
        if q.size % self.dim:
            raise InputError(
                f"friction problem: q has {q.size} components, expected a multiple of {self.dim}"
            )
        nc = q.size // self.dim
        mu = _per_contact("mu", self.mu, nc)
        if np.any(mu < 0.0):
            c = int(np.argmax(mu < 0.0))
            raise InputError(f"friction problem: mu[{c}] = {mu[c]:g}, expected mu >= 0")
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "W", _operator(self.W, q.size, self.dim))
        self._check_laws(nc)

    def _check_laws(self, nc: int) -> None:
        law = np.zeros(nc, np.int8) if self.law is None else np.asarray(self.law, dtype=np.int8)
        if law.shape != (nc,):
            raise InputError(f"friction problem: law has shape {law.shape}, expected ({nc},)")
        unknown = ~np.isin(law, list(LAWS.values()))
        if np.any(unknown):
            c = int(np.argmax(unknown))
            known = ", ".join(f"{value} ({name})" for name, value in LAWS.items())
            raise InputError(f"friction problem: law[{c}] = {law[c]}, choices: {known}")
        if self.threshold is None:
            if np.any(law == TRESCA):
                raise InputError("friction problem: Tresca contacts need `threshold`, none given")
            threshold = np.zeros(nc)
        else:
            threshold = _per_contact("threshold", self.threshold, nc)
            if np.any(threshold < 0.0):
                c = int(np.argmax(threshold < 0.0))
                raise InputError(
                    f"friction problem: threshold[{c}] = {threshold[c]:g}, expected >= 0"
                )
        object.__setattr__(self, "law", np.ascontiguousarray(law))
        object.__setattr__(self, "threshold", threshold)

    def __repr__(self) -> str:
        kind = "dense" if self.is_dense else "block-sparse"
        low, high = (self.mu.min(), self.mu.max()) if self.n_contacts else (0.0, 0.0)
        return (
            f"FrictionProblem({self.n_contacts} contacts in {self.dim}D, {kind} W, "
            f"mu {low:g} to {high:g}, {self.non_unique.sum()} without a bound of uniqueness)"
        )

    @property
    def n_contacts(self) -> int:
        return self.q.size // self.dim

    @property
    def is_dense(self) -> bool:
        return isinstance(self.W, np.ndarray)

    @property
    def laws(self) -> NDArray[np.int8]:
        """(n_contacts,) law of each contact, never None."""
        assert self.law is not None
        return self.law

    @property
    def thresholds(self) -> FloatArray:
        """(n_contacts,) Tresca bounds, never None (zero where not given)."""
        assert self.threshold is not None
        return self.threshold

    def velocity(self, r: FloatArray) -> FloatArray:
        """(n,) u = W r + q."""
        u: FloatArray = self.W @ r + self.q
        return u

    @cached_property
    def blocks(self) -> FloatArray:
        """(n_contacts, dim, dim) symmetric parts of the diagonal blocks of W."""
        nc, dim = self.n_contacts, self.dim
        if isinstance(self.W, np.ndarray):
            full = self.W.reshape(nc, dim, nc, dim)
            blocks = full[np.arange(nc), :, np.arange(nc), :]
        else:
            blocks = np.zeros((nc, dim, dim))
            rows = np.repeat(np.arange(nc), np.diff(self.W.indptr))
            on_diagonal = rows == self.W.indices
            blocks[rows[on_diagonal]] = self.W.data[on_diagonal]
        return np.ascontiguousarray(0.5 * (blocks + blocks.transpose(0, 2, 1)))

    @cached_property
    def rho(self) -> FloatArray:
        """(n_contacts,) impulse per velocity of each contact: dim / trace of its block of W."""
        trace = np.trace(self.blocks, axis1=1, axis2=2)
        positive = trace > 0.0
        if not np.any(positive):
            return np.ones(self.n_contacts)
        # a contact between bodies that cannot move takes the scale of the others
        return np.asarray(self.dim / np.where(positive, trace, trace[positive].mean()))

    @cached_property
    def non_unique(self) -> BoolArray:
        """(n_contacts,) where mu |w_NT| >= w_NN: the local problem may have several solutions."""
        coupling = np.linalg.norm(self.blocks[:, 0, 1:], axis=1)
        beyond = self.mu * coupling >= self.blocks[:, 0, 0]
        return np.asarray((self.laws == COULOMB) & (self.mu > 0.0) & beyond)

    @cached_property
    def columns(self) -> FloatArray:
        """(n, n) array whose row i is column i of a dense W, contiguous."""
        assert isinstance(self.W, np.ndarray)
        if self.W.flags.f_contiguous:
            return self.W.T
        if _asymmetry(self.W) <= _SYMMETRIC:
            return self.W
        return np.ascontiguousarray(self.W.T)

    @cached_property
    def csr(self) -> sp.csr_array:
        """A sparse W by rows, for the solvers that take parts of it."""
        assert not isinstance(self.W, np.ndarray)
        return sp.csr_array(self.W.tocsr())

    @cached_property
    def block_columns(self) -> sp.bsr_array:
        """Transpose of a sparse W by blocks: row c holds the transposed blocks of column c."""
        assert not isinstance(self.W, np.ndarray)
        transposed = sp.bsr_array(self.W.T.tocsr(), blocksize=(self.dim, self.dim))
        transposed.sort_indices()
        return transposed


def _vector(name: str, values: ArrayLike) -> FloatArray:
    vector = np.ascontiguousarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise InputError(f"friction problem: {name} has shape {vector.shape}, expected (n,)")
    if not np.all(np.isfinite(vector)):
        i = int(np.argmin(np.isfinite(vector)))
        raise InputError(f"friction problem: {name}[{i}] = {vector[i]}, expected a finite number")
    return vector


def _per_contact(name: str, values: ArrayLike, nc: int) -> FloatArray:
    given = np.asarray(values, dtype=np.float64)
    vector = np.full(nc, float(given)) if given.ndim == 0 else _vector(name, given)
    if vector.shape != (nc,):
        raise InputError(f"friction problem: {name} has shape {vector.shape}, expected ({nc},)")
    if not np.all(np.isfinite(vector)):
        raise InputError(f"friction problem: {name} = {given}, expected a finite number")
    return vector


def _operator(W: Any, n: int, dim: int) -> FloatArray | sp.bsr_array:
    given: Any = W if sp.issparse(W) else np.asarray(W, dtype=np.float64)
    if given.shape != (n, n):
        raise InputError(
            f"friction problem: W has shape {given.shape}, expected ({n}, {n}) as q has {n}"
        )
    if isinstance(given, np.ndarray):
        contiguous = given.flags.c_contiguous or given.flags.f_contiguous
        dense = given if contiguous else np.ascontiguousarray(given)
        flat = dense.ravel(order="K")
        with np.errstate(over="ignore", invalid="ignore"):
            seems_finite = bool(np.isfinite(flat @ flat))
        if not seems_finite and not np.all(np.isfinite(dense)):
            i, j = np.argwhere(~np.isfinite(dense))[0]
            raise InputError(f"friction problem: W[{i}, {j}] = {dense[i, j]}, expected finite")
        return dense
    blocks = sp.bsr_array(given.tocsr().astype(np.float64), blocksize=(dim, dim))
    blocks.sum_duplicates()
    blocks.sort_indices()
    if not np.all(np.isfinite(blocks.data)):
        raise InputError("friction problem: W holds entries that are not finite numbers")
    return blocks


@njit(cache=True)
def _asymmetry(W: FloatArray) -> float:
    """Largest |W_ij - W_ji| over the largest |W_ij|, by tiles that stay in cache."""
    n = W.shape[0]
    tile = 32
    difference = 0.0
    largest = 0.0
    for i0 in range(0, n, tile):
        for j0 in range(0, i0 + 1, tile):
            for i in range(i0, min(i0 + tile, n)):
                for j in range(j0, min(j0 + tile, n)):
                    largest = max(largest, abs(W[i, j]))
                    difference = max(difference, abs(W[i, j] - W[j, i]))
    if largest == 0.0:
        return 0.0
    return difference / largest
