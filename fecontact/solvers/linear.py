"""Symmetric positive definite systems: one interface, and the choice of who solves them.

The system matrix A (M, K, or M + hθC + h²θ²K) is factorised once with the contact dofs ordered last
(``trailing``). With A split into the rest (1) and the trailing dofs (2), the block of the inverse
on the trailing dofs is the inverse of the Schur complement,

    (A⁻¹)₂₂ = S⁻¹,   S = A₂₂ - A₂₁ A₁₁⁻¹ A₁₂,

which is what the Delassus operator needs, at the cost of the factorisation and one small dense
inverse. Bodies that do not touch each other in A give S blocks that are kept apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from fecontact.errors import InputError, MissingDependency, choices
from fecontact.solvers.memory import estimate_memory
from fecontact.typing import FloatArray, IntArray

METHODS = ("auto", "cg", "diagonal", "multifrontal", "pardiso", "superlu")


class Factorisation(ABC):
    """A factorised symmetric positive definite matrix.

    Attributes
    ----------
    method
        Name of the method, one of `METHODS`.
    A
        The matrix, shape (n, n).
    trailing
        Dofs ordered last, shape (nt,); empty where none were asked for.
    memory
        Bytes held by the factors.
    symbolic
        What depends on the pattern alone; `factorise` takes it back for a matrix of the same
        pattern.
    """

    method: ClassVar[str]
    A: sparse.csr_array
    trailing: IntArray
    memory: int
    symbolic: Any = None

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return int(self.A.shape[0])

    @abstractmethod
    def solve(self, b: FloatArray) -> FloatArray:
        """Solution of A x = b for b of shape (n,) or (n, k)."""

    @abstractmethod
    def trailing_blocks(self) -> list[tuple[IntArray, FloatArray]]:
        """Compute the inverse on the trailing dofs, a dense block for each connected part of A.

        Returns
        -------
        list of (positions, block)
            ``positions`` (k,) index into `trailing`, ``block`` (k, k) is the symmetric block of
            A⁻¹.
        """

    @cached_property
    def inverse_blocks(self) -> list[tuple[IntArray, FloatArray]]:
        """What `trailing_blocks` gives, computed once and kept: W takes its parts from it."""
        return self.trailing_blocks()

    @abstractmethod
    def refactorise(self, A: sparse.csr_array) -> Factorisation:
        """Factorisation of a matrix with the same pattern; the symbolic part is shared.

        The new factors may take over the memory of these, which can then not be used any more.
        """

    def trailing_inverse(self) -> FloatArray:
        """Block of A⁻¹ on the trailing dofs, dense, shape (nt, nt), in the order of `trailing`."""
        blocks = self.trailing_blocks()
        if len(blocks) == 1 and np.array_equal(blocks[0][0], np.arange(self.trailing.size)):
            return blocks[0][1]
        inverse = np.zeros((self.trailing.size, self.trailing.size))
        for positions, block in blocks:
            inverse[np.ix_(positions, positions)] = block
        return inverse

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: n={self.n}, trailing={self.trailing.size}, "
            f"{self.memory / 2**20:.1f} MiB>"
        )


def factorise(
    A: sparse.csr_array,
    *,
    trailing: IntArray | None = None,
    coordinates: FloatArray | None = None,
    directions: FloatArray | None = None,
    method: str = "auto",
    symbolic: Any = None,
) -> Factorisation:
    """Factorise a symmetric positive definite matrix.

    Parameters
    ----------
    A
        Matrix of shape (n, n), both triangles stored.
    trailing
        Dofs to be ordered last, shape (nt,), without repetition.
    coordinates
        Position of each dof, shape (n, dim). It only guides the ordering: nothing breaks where
        positions coincide or are wrong.
    directions
        Unit vector along which each dof moves, shape (n, dim), for the rigid motions that
        precondition conjugate gradients; guessed from the coordinates where it is not given.
    method
        One of `METHODS`; "auto" takes the direct method of the package, or SuperLU where the BLAS
        that it needs is not to be had, and conjugate gradients where factors would not fit in
        memory.
    symbolic
        `Factorisation.symbolic` of an earlier matrix with the same pattern, trailing and method.

    Raises
    ------
    SingularSystem
        A is singular to working precision or not positive definite; its ``vector`` is the motion
        that A does not resist, shape (n,).
    """
    if method not in METHODS:
        raise InputError(f"unknown linear solver {method!r}; {choices(method, METHODS)}")
    A = sparse.csr_array(A).astype(np.float64, copy=False)
    if A.shape[0] != A.shape[1]:
        raise InputError(f"the system matrix has shape {A.shape}, it must be square")
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    n = A.shape[0]
    last = _checked_trailing(trailing, n)
    for name, given in (("coordinates", coordinates), ("directions", directions)):
        if given is not None and (given.ndim != 2 or given.shape[0] != n):
            raise InputError(f"{name} have shape {given.shape}, expected ({n}, dim)")
    if symbolic is None:
        _check_symmetry(A)
    name = method
    if method == "auto":
        name, symbolic = _choose(A, last, coordinates, symbolic)
    if n == 0 or (name == "pardiso" and A.nnz == n):
        name = "diagonal"  # no method need handle no unknowns; MKL's ordering needs an edge
    if name == "diagonal":
        from fecontact.solvers.diagonal import Diagonal

        return Diagonal(A, last)
    if name == "multifrontal":
        from fecontact.solvers.multifrontal import Multifrontal

        return Multifrontal(A, last, coordinates, symbolic)
    if name == "cg":
        from fecontact.solvers.amg import ConjugateGradients

        return ConjugateGradients(A, last, coordinates, directions, symbolic)
    if name == "pardiso":
        from fecontact.solvers.pardiso import Pardiso

        return Pardiso(A, last, symbolic)
    from fecontact.solvers.superlu import SuperLU

    return SuperLU(A, last, coordinates, symbolic)


def _choose(
    A: sparse.csr_array, trailing: IntArray, coordinates: FloatArray | None, symbolic: Any
) -> tuple[str, Any]:
    """Method for A, and the analysis of its pattern if it is known by then."""
    n = A.shape[0]
    if A.nnz == n and np.array_equal(A.indices, np.arange(n)):
        return "diagonal", None
    if symbolic is not None:
        # what was chosen for this pattern once, told by what each keeps of it
        if isinstance(symbolic, np.ndarray):
            return "cg", symbolic
        return ("multifrontal" if hasattr(symbolic, "panel") else "superlu"), symbolic
    if A.diagonal().min(initial=1.0) <= 0.0:
        return "multifrontal", None  # refused there, with the dof named
    estimate = estimate_memory(A, trailing=trailing, coordinates=coordinates)
    if estimate.fits:
        return ("multifrontal", estimate.symbolic) if has_blas() else ("superlu", None)
    if find_spec("pyamg") is None:
        raise MissingDependency(
            f"the system of {n} dofs does not fit in memory ({estimate}), and conjugate gradients, "
            "which would need less, need the package pyamg: pip install fecontact[amg], or choose "
            "the method 'multifrontal' to try all the same"
        )
    return "cg", None


def has_blas() -> bool:
    """Whether scipy's BLAS can be called from the kernels of the multifrontal method."""
    try:
        from fecontact.solvers.blas import addresses

        addresses()
    except (ImportError, KeyError):
        return False
    return True


def _checked_trailing(trailing: IntArray | None, n: int) -> IntArray:
    if trailing is None:
        return np.empty(0, dtype=np.int64)
    last = np.ascontiguousarray(trailing, dtype=np.int64)
    if last.ndim != 1:
        raise InputError(f"trailing dofs have shape {last.shape}, expected (nt,)")
    if last.size and (last.min() < 0 or last.max() >= n):
        raise InputError(f"trailing dofs lie in {last.min()}..{last.max()}, expected 0..{n - 1}")
    if np.unique(last).size != last.size:
        raise InputError("trailing dofs repeat: each may be given once")
    return last


def _check_symmetry(A: sparse.csr_array) -> None:
    """Compare x·(A y) with y·(A x) for two fixed vectors scaled by the diagonal."""
    diagonal = np.abs(A.diagonal())
    if not np.isfinite(A.data).all():
        raise InputError(
            f"the system matrix has {int((~np.isfinite(A.data)).sum())} entries that are not finite"
        )
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    # numbers of many sizes: with signs alone, x_i y_j = x_j y_i for every other pair
    x, y = np.random.default_rng(1).uniform(-1.0, 1.0, size=(2, A.shape[0])) * scale
    difference = abs(x @ (A @ y) - y @ (A @ x))
    if difference > 1e-8 * A.shape[0]:
        raise InputError(
            "the system matrix is not symmetric: both triangles must be stored and equal"
        )


def connected_parts(A: sparse.csr_array) -> IntArray:
    """Number of the connected part of the graph of A that each dof lies in, shape (n,)."""
    _, labels = connected_components(A, directed=False)
    return np.asarray(labels, dtype=np.int64)
