"""Factorised systems and Delassus operators, kept while nothing they depend on changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from fecontact.errors import SingularSystem
from fecontact.model import Model
from fecontact.rigid import as_rigid_motion, body_name
from fecontact.solvers.delassus import delassus
from fecontact.solvers.linear import Factorisation, factorise
from fecontact.solvers.memory import Estimate, estimate_memory
from fecontact.solvers.singular import TOLERANCE
from fecontact.timing import Phases
from fecontact.typing import FloatArray, IntArray

# factors kept at once: the full step, and shorter ones that end at output times
_KEPT = 3


def expected_memory(model: Model, A: sparse.csr_array) -> Estimate:
    """Memory that factors of a matrix (ndof, ndof) would take on the free dofs, by its pattern."""
    free, trailing = model.constraints.free, _touched(model)
    return estimate_memory(
        sparse.csr_array(sparse.csr_array(A[free])[:, free]),
        trailing=trailing,
        coordinates=model.mesh.nodes[free // model.mesh.dim],
    )


def _touched(model: Model) -> IntArray:
    """Places among the free dofs of those that a contact may act on."""
    touched = np.zeros(model.n_dofs, dtype=bool)
    touched[model.touched_dofs] = True
    return np.flatnonzero(touched[model.constraints.free])


@dataclass(frozen=True, eq=False)
class System:
    """A matrix for one step size, factorised on the free dofs."""

    h: float
    matrix: sparse.csr_array
    coupling: sparse.csr_array
    factors: Factorisation


class Systems:
    """The systems of the last few step sizes.

    Parameters
    ----------
    model, phases
        The model and the clock.
    matrix
        The matrix (ndof, ndof) of a step size, in turned axes.
    method
        How to factorise it.
    """

    def __init__(
        self,
        model: Model,
        phases: Phases,
        matrix: Callable[[float], sparse.csr_array],
        method: str = "auto",
    ) -> None:
        self.model, self.phases, self._matrix, self._method = model, phases, matrix, method
        self._kept: dict[float, System] = {}
        self._delassus: tuple[Any, sparse.csr_array, FloatArray | sparse.bsr_array] | None = None

    def of(self, h: float) -> System:
        """The factorised system for steps of size h."""
        if h in self._kept:
            return self._kept[h]
        constraints = self.model.constraints
        free, fixed = constraints.free, constraints.fixed
        with self.phases("factorisation"):
            matrix = self._matrix(h)
            rows = sparse.csr_array(matrix[free])
            dim = self.model.mesh.dim
            try:
                factors = factorise(
                    sparse.csr_array(rows[:, free]),
                    trailing=_touched(self.model),
                    coordinates=self.model.mesh.nodes[free // dim],
                    directions=constraints.directions()[free],
                    method=self._method,
                )
            except SingularSystem as error:
                raise self._named(error) from None
        while len(self._kept) >= _KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[h] = System(h, matrix, sparse.csr_array(rows[:, fixed]), factors)
        return self._kept[h]

    def delassus(self, system: System, H: sparse.csr_array) -> FloatArray | sparse.bsr_array:
        """W, sparse between many bodies, computed anew only when H or the factors have changed."""
        if self._delassus is not None:
            factors, known, W = self._delassus
            if factors is system.factors and _same(known, H):
                return W
        W = delassus(system.factors, H, self.model.mesh.dim)
        self._delassus = (system.factors, H, W)
        return W

    def _named(self, error: SingularSystem) -> SingularSystem:
        """The same error with the body that moves freely, and how it moves."""
        if error.vector is None:
            return error
        mesh, constraints = self.model.mesh, self.model.constraints
        motion = np.zeros(self.model.n_dofs)
        motion[constraints.free] = error.vector
        motion = constraints.to_global(motion)
        node = int(np.argmax(np.abs(motion))) // mesh.dim
        labels = mesh.components()
        nodes = np.flatnonzero(labels == labels[node])
        body, rigid = body_name(mesh, nodes), as_rigid_motion(self.model, nodes, motion)
        how = f" ({rigid})" if rigid else ""
        place = f"node {node} ({', '.join(f'{c:.6g}' for c in mesh.nodes[node])})"
        told = SingularSystem(
            f"the system is singular: body {body!r} moves without resistance{how}, most at "
            f"{place}; hold it, or check its material and its connections"
        )
        if error.energy < -TOLERANCE:
            told = SingularSystem(
                f"the system is not positive definite: a motion of body {body!r}{how}, largest at "
                f"{place}, has a negative energy, {error.energy:.2g} of the terms that it sums; "
                "check the constants of its material"
            )
        for key in ("vector", "pivot", "ratio", "energy"):
            setattr(told, key, getattr(error, key))
        return told


def _same(a: sparse.csr_array, b: sparse.csr_array) -> bool:
    return (
        a.shape == b.shape
        and np.array_equal(a.indptr, b.indptr)
        and np.array_equal(a.indices, b.indices)
        and np.array_equal(a.data, b.data)
    )
