"""Finding that a matrix holds a motion free, and which.

A pivot says little by itself: it depends on the order of elimination and on where the motion
happens to be small. The test used here does not depend on either. With an approximate null vector
z from inverse iterations on the factors, A is called singular when

    zᵀ A z <= tolerance · |z|ᵀ |A| |z|,   tolerance = 64 ε ≈ 1.4e-14,

so when the energy of z is what rounding alone leaves of the terms that it sums. The ratio is
unchanged by any scaling of the equations or of the unknowns. For a slender, graded or nearly
incompressible body it is small but well above: about (element size / length)² for a block. Pivots
relative to the diagonal only decide whether the iterations are worth their time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from fecontact.errors import SingularSystem
from fecontact.typing import FloatArray

# energy of a motion, relative to the terms it sums, below which it counts as free
TOLERANCE = 64 * np.finfo(np.float64).eps
# pivots relative to the diagonal below which the free motion is looked for
SUSPECT_PIVOT = 1e-3
# shifts relative to the diagonal that make a matrix definite, for the search only: the first does
# for a singular one, the others are for an indefinite one; one more is drawn from its rows
SHIFTS = (1e-9, 1e-6, 1e-3, 1e-1, 1.0)
MOST_ROUNDS = 50

Solve = Callable[[FloatArray], FloatArray]


def check_diagonal(A: sparse.csr_array) -> FloatArray:
    """Diagonal of A, shape (n,), or an error where it is not positive."""
    diagonal = A.diagonal()
    if diagonal.size and diagonal.min() <= 0.0:
        worst = int(np.argmin(diagonal))
        vector = np.zeros(diagonal.size)
        vector[worst] = 1.0
        value = f"the diagonal of the system matrix is {diagonal[worst]:.3g} at dof {worst}"
        reason = (
            "which is therefore not positive definite"
            if diagonal[worst] < 0.0
            else "it must be positive: nothing holds this dof"
        )
        raise _error(
            f"{value}, {reason}",
            vector,
            worst,
            float(diagonal[worst]),
            float(np.sign(diagonal[worst])),
        )
    return diagonal


def check_pivots(
    A: sparse.csr_array, diagonal: FloatArray, pivots: FloatArray, solve: Solve
) -> None:
    """Raise if A, factorised with these positive pivots (n,), is singular to working precision."""
    if not pivots.size:
        return
    ratio = pivots / diagonal
    worst = int(np.argmin(ratio))
    if ratio[worst] >= SUSPECT_PIVOT:
        return
    z = _inverse_iteration(diagonal, solve)
    energy = _relative_energy(A, z)
    if energy <= TOLERANCE:
        message = _message(energy, z, worst, ratio[worst])
        raise _error(message, z, worst, float(ratio[worst]), energy)


def not_definite(
    A: sparse.csr_array,
    diagonal: FloatArray,
    pivot: int,
    factorise_shifted: Callable[[sparse.csr_array], Solve],
) -> SingularSystem:
    """Error for a factorisation that met a pivot <= 0 at dof ``pivot``, with the motion at fault.

    ``factorise_shifted`` raises SingularSystem where the matrix that it gets, A with more on its
    diagonal, has such a pivot too.
    """
    scale = 1.0 / np.sqrt(diagonal)
    # by the theorem of Gershgorin more is never needed
    enough = float((scale * (abs(A) @ scale)).max())
    for shift in (*SHIFTS, enough):
        shifted = sparse.csr_array(A + sparse.diags_array(shift * diagonal, format="csr"))
        try:
            solve = factorise_shifted(shifted)
        except SingularSystem:
            continue
        z = _inverse_iteration(diagonal, solve)
        # with a large shift the lowest motion stands out but slowly
        for _ in range(MOST_ROUNDS):
            if _relative_energy(A, z) <= TOLERANCE:
                break
            z = _inverse_iteration(diagonal, solve, z)
        energy = _relative_energy(A, z)
        return _error(_message(energy, z, pivot, 0.0), z, pivot, 0.0, energy)
    return _error(
        f"the system matrix is not positive definite: met at dof {pivot}", None, pivot, 0.0, -1.0
    )


def _inverse_iteration(
    diagonal: FloatArray, solve: Solve, z: FloatArray | None = None
) -> FloatArray:
    """Approximate null vector (n,) of A, largest component 1, in a scaling with unit diagonal.

    It starts from z, or from a random vector.
    """
    scale = np.sqrt(diagonal)
    y = np.random.default_rng(2).uniform(-1.0, 1.0, diagonal.size) if z is None else scale * z
    for _ in range(3):
        y = scale * solve(scale * y)
        y /= np.abs(y).max()
    z = y / scale
    return np.asarray(z / z[np.argmax(np.abs(z))])


def _relative_energy(A: sparse.csr_array, z: FloatArray) -> float:
    terms = np.abs(z) @ (abs(A) @ np.abs(z))
    return float(z @ (A @ z) / terms)


def _message(energy: float, z: FloatArray, pivot: int, ratio: float) -> str:
    largest = f"largest motion at dof {int(np.argmax(np.abs(z)))}"
    if energy < -TOLERANCE:
        return (
            "the system matrix is not positive definite: the energy of a motion is negative, "
            f"{energy:.2g} relative to its terms (smallest pivot at dof {pivot}; {largest})"
        )
    return (
        "the system matrix is singular: it leaves a motion free, whose energy relative to its "
        f"terms is {energy:.2g} (limit {TOLERANCE:.2g}; smallest pivot relative "
        f"to the diagonal {ratio:.2g}, at dof {pivot}; {largest})"
    )


def _error(
    message: str, vector: FloatArray | None, pivot: int, ratio: float, energy: float
) -> SingularSystem:
    error = SingularSystem(message)
    error.vector = vector
    error.pivot = pivot
    error.ratio = ratio
    error.energy = energy
    return error
