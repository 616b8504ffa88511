"""The Delassus operator W = Hᵀ A⁻¹ H: what the contacts see of the bodies.

Where H touches only the dofs that were ordered last, W = Σ H_pᵀ S_p⁻¹ H_p over the bodies p, with
the inverse of the trailing Schur complement of each, which costs no solution at all. Contacts that
share no body are not coupled: with many bodies W is kept sparse, by blocks of a contact and a
contact. A diagonal A gives W as a product of sparse matrices. Where H touches other dofs, A is
solved for the columns of H.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from scipy import sparse

from fecontact.errors import InputError
from fecontact.solvers.linear import Factorisation
from fecontact.typing import FloatArray, IntArray

# columns solved for at once, which bounds the work space to this many vectors
COLUMNS = 64
# a W more than this part full is read faster dense
SPARSE = 0.25


@overload
def delassus(factorisation: Factorisation, H: Any) -> FloatArray: ...


@overload
def delassus(factorisation: Factorisation, H: Any, dim: int) -> FloatArray | sparse.bsr_array: ...


def delassus(
    factorisation: Factorisation, H: Any, dim: int | None = None
) -> FloatArray | sparse.bsr_array:
    """W = Hᵀ A⁻¹ H, shape (m, m), symmetric to the last bit.

    Parameters
    ----------
    factorisation
        Factors of A, shape (n, n).
    H
        Sparse matrix of shape (n, m).
    dim
        Components of a contact, m = dim times the number of contacts. With it, W comes by blocks
        of (dim, dim) where most of them are zero; without it, W is dense.
    """
    H = _checked(factorisation, H, dim)
    m = int(H.shape[1])
    if factorisation.method == "diagonal":
        half = sparse.csr_array(sparse.diags_array(1.0 / np.sqrt(factorisation.A.diagonal())) @ H)
        product = sparse.csr_array(half.T @ half)
        if dim is not None and product.nnz <= SPARSE * m * m:
            return sparse.bsr_array(product, blocksize=(dim, dim))
        return np.asarray(product.toarray())
    inside = _trailing_rows(factorisation, H)
    if inside is None:
        return _by_solutions(factorisation, H)
    bodies = [
        _of_body(inside[positions], block, dim or 1)
        for positions, block in factorisation.inverse_blocks
    ]
    if dim is not None and m and bodies:
        count = m // dim
        touched = sparse.csr_array(
            (
                np.ones(sum(contacts.size for contacts, _ in bodies)),
                np.concatenate([contacts for contacts, _ in bodies]),
                np.concatenate([[0], np.cumsum([contacts.size for contacts, _ in bodies])]),
            ),
            shape=(len(bodies), count),
        )
        coupled = sparse.csr_array(touched.T @ touched)
        if coupled.nnz <= SPARSE * count * count:
            return _by_blocks(bodies, coupled, dim)
    if len(bodies) == 1 and bodies[0][1].shape == (m, m):
        return bodies[0][1]
    W = np.zeros((m, m))
    for contacts, local in bodies:
        columns = _components(contacts, dim or 1)
        W[np.ix_(columns, columns)] += local
    return W


def _checked(factorisation: Factorisation, H: Any, dim: int | None) -> sparse.csc_array:
    columns: sparse.csc_array = sparse.csc_array(H).astype(np.float64)
    if columns.shape[0] != factorisation.n:
        raise InputError(f"H has {columns.shape[0]} rows, the factorised matrix {factorisation.n}")
    if dim is not None and (dim < 1 or columns.shape[1] % dim):
        raise InputError(f"H has {columns.shape[1]} columns, expected a multiple of dim = {dim}")
    return columns


def _trailing_rows(factorisation: Factorisation, H: sparse.csc_array) -> sparse.csr_array | None:
    """Rows of H at the trailing dofs, shape (nt, m), or None if H touches other dofs."""
    position: IntArray = np.full(factorisation.n, -1, dtype=np.int64)
    position[factorisation.trailing] = np.arange(factorisation.trailing.size)
    if H.nnz and position[H.indices].min() < 0:
        return None
    return sparse.csr_array(H)[factorisation.trailing]


def _by_solutions(factorisation: Factorisation, H: sparse.csc_array) -> FloatArray:
    W = np.empty((H.shape[1], H.shape[1]))
    for start in range(0, H.shape[1], COLUMNS):
        part = slice(start, start + COLUMNS)
        W[:, part] = H.T @ factorisation.solve(H[:, part].toarray())
    return np.asarray(0.5 * (W + W.T))


def _of_body(rows: sparse.csr_array, block: FloatArray, dim: int) -> tuple[IntArray, FloatArray]:
    """Contacts of a body, shape (k,), and what it adds to their W, shape (k dim, k dim)."""
    contacts = np.unique(rows.indices // dim).astype(np.int64)
    H = rows
    if contacts.size * dim < rows.shape[1]:
        H = sparse.csr_array(sparse.csc_array(rows)[:, _components(contacts, dim)])
    half = H.T @ block
    local = H.T @ half.T
    return contacts, np.asarray(0.5 * (local + local.T))


def _components(contacts: IntArray, dim: int) -> IntArray:
    return (dim * contacts[:, None] + np.arange(dim)).ravel()


def _by_blocks(
    bodies: list[tuple[IntArray, FloatArray]], coupled: sparse.csr_array, dim: int
) -> sparse.bsr_array:
    """W on the pattern ``coupled`` of the contacts (nc, nc), summed over the bodies in turn."""
    coupled.sort_indices()
    data = np.zeros((coupled.nnz, dim, dim))
    count = coupled.shape[0]
    # place of a block by its row and column, as one sorted key
    rows = np.repeat(np.arange(count), np.diff(coupled.indptr))
    keys = rows * count + coupled.indices
    for contacts, local in bodies:
        k = contacts.size
        places = np.searchsorted(keys, (contacts[:, None] * count + contacts).ravel())
        data[places] += local.reshape(k, dim, k, dim).transpose(0, 2, 1, 3).reshape(k * k, dim, dim)
    shape = (count * dim, count * dim)
    return sparse.bsr_array((data, coupled.indices, coupled.indptr), shape=shape)
