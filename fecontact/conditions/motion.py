"""Prescribed motion: what a user writes (`Prescribed`) and what a scheme asks (`Constraints`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from scipy import sparse

from fecontact.conditions.travel import Travel, mean_velocity
from fecontact.errors import ConditionError, at
from fecontact.expressions import Field, Value, as_field
from fecontact.mesh import Mesh
from fecontact.typing import BoolArray, FloatArray, IntArray

AXES = "xyz"


@dataclass(frozen=True)
class Prescribed:
    """Displacement (``ux``, ``uy``) or velocity (``vx``, ``vy``) given on a group of nodes.

    Parameters
    ----------
    on
        Name of a node group, or of an edge or element group whose nodes are meant.
    ux, uy, vx, vy
        Values of the components that are prescribed; the others stay free. Without inertia,
        schemes follow the integral of a velocity over time; with it they meet the velocity at the
        end of a step.
    angle
        Turns the axes of the components, in degrees anticlockwise: with 30, ``ux`` is along
        (cos 30°, sin 30°).
    name
        What the results call it; the group's name where it is empty.
    """

    on: str
    ux: Value | None = None
    uy: Value | None = None
    vx: Value | None = None
    vy: Value | None = None
    angle: float = 0.0
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on

    def components(self) -> dict[int, tuple[bool, Field]]:
        """Component -> (is it a velocity, its value)."""
        found: dict[int, tuple[bool, Field]] = {}
        for axis, letter in enumerate("xy"):
            u, v = getattr(self, f"u{letter}"), getattr(self, f"v{letter}")
            if u is not None and v is not None:
                raise ConditionError(
                    f"prescribed.{self.label}: u{letter} and v{letter} are both given; keep one"
                )
            if u is not None:
                found[axis] = (False, as_field(u, f"prescribed.{self.label}.u{letter}"))
            if v is not None:
                found[axis] = (True, as_field(v, f"prescribed.{self.label}.v{letter}"))
        if not found:
            raise ConditionError(
                f"prescribed.{self.label}: nothing is prescribed; give ux, uy, vx or vy"
            )
        if not np.isfinite(self.angle):
            raise ConditionError(f"prescribed.{self.label}.angle: {self.angle} is not finite")
        return found


class Constraints:
    """The prescribed degrees of freedom of a mesh and their values in time.

    With turned axes the displacement is q = Q q̂, Q orthogonal; `fixed` and `free` number q̂.

    Attributes
    ----------
    fixed, free : IntArray
        Degrees of freedom in turned axes.
    by_velocity : BoolArray (n_fixed,)
        Where a velocity is given, not a displacement.
    rotation : csr_array or None
        Q, where some axes are turned.
    """

    def __init__(self, mesh: Mesh, prescribed: Sequence[Prescribed]) -> None:
        dim = mesh.dim
        owner = np.full(mesh.n_nodes * dim, -1, dtype=np.int64)
        angles = np.zeros(mesh.n_nodes)
        turned = np.zeros(mesh.n_nodes, dtype=bool)
        self.prescribed = tuple(prescribed)
        entries = []
        labels = [p.label for p in self.prescribed]
        for repeated in {n for n in labels if labels.count(n) > 1}:
            raise ConditionError(
                f"two prescribed motions are called {repeated!r}: give each its own name"
            )
        for number, condition in enumerate(self.prescribed):
            with at(f"prescribed.{condition.label}.on"):
                nodes = mesh.node_numbers(condition.on)
            components = condition.components()
            clash = turned[nodes] & (angles[nodes] != condition.angle)
            if clash.any():
                node = int(nodes[np.argmax(clash)])
                raise ConditionError(
                    f"prescribed.{condition.label}: node {node} has axes turned by "
                    f"{angles[node]:g} and by {condition.angle:g} degrees"
                )
            angles[nodes], turned[nodes] = condition.angle, True
            for axis in components:
                # a dof that two conditions name belongs to the later one: its reaction counts once
                owner[nodes * dim + axis] = number
            entries.append((nodes, components))
        self._mesh = mesh
        self.owner = owner
        self.fixed: IntArray = np.flatnonzero(owner >= 0)
        self.free: IntArray = np.flatnonzero(owner < 0)
        self.rotation = _turning(angles, dim) if np.any(angles) else None
        by_velocity = np.zeros(len(owner), dtype=bool)
        for nodes, components in entries:
            for axis, (is_velocity, _) in components.items():
                by_velocity[nodes * dim + axis] = is_velocity
        self.by_velocity: BoolArray = by_velocity[self.fixed]
        self._entries = entries
        self._travels: dict[tuple[int, int], Travel] = {}
        self._static: dict[tuple[int, int], FloatArray] = {}
        self._static |= {
            (k, axis): self._values(k, axis, field, nodes, 0.0)
            for k, (nodes, components) in enumerate(entries)
            for axis, (_, field) in components.items()
            if not field.varies_in_time
        }
        self._check_agreement()

    def _values(
        self, number: int, axis: int, field: Field, nodes: IntArray, t: float
    ) -> FloatArray:
        stored = self._static.get((number, axis))
        if stored is not None:
            return stored
        with at(f"prescribed.{self.prescribed[number].label}"):
            return field(self._mesh.nodes[nodes], t)

    def _check_agreement(self) -> None:
        """Two conditions on one dof must be of one kind and agree at the start."""
        dim = self._mesh.dim
        seen: dict[int, tuple[int, bool, float]] = {}
        shared = np.zeros(self._mesh.n_nodes * dim, dtype=np.int64)
        for nodes, components in self._entries:
            for axis in components:
                shared[nodes * dim + axis] += 1
        if shared.max(initial=0) < 2:
            return
        for number, (nodes, components) in enumerate(self._entries):
            for axis, (is_velocity, field) in components.items():
                values = self._values(number, axis, field, nodes, 0.0)
                for node, value in zip(nodes, values, strict=True):
                    dof = int(node) * dim + axis
                    if shared[dof] < 2:
                        continue
                    if dof in seen and seen[dof][1:] != (is_velocity, float(value)):
                        first = self.prescribed[seen[dof][0]].label
                        raise ConditionError(
                            f"prescribed.{first} and prescribed.{self.prescribed[number].label} "
                            f"give different values to component {AXES[axis]} of node {node}"
                        )
                    seen[dof] = (number, is_velocity, float(value))

    def _mean(
        self, number: int, axis: int, field: Field, nodes: IntArray, t: float, h: float
    ) -> FloatArray:
        """A prescribed velocity as its mean between t - h and t; at t where h is 0."""
        if h == 0.0 or not field.varies_in_time:
            return self._values(number, axis, field, nodes, t)
        label = self.prescribed[number].label
        if field.varies_in_space:
            with at(f"prescribed.{label}"):
                return mean_velocity(field, self._mesh.nodes[nodes], t, h)
        if (number, axis) not in self._travels:
            where = f"prescribed.{label}.v{AXES[axis]}"
            self._travels[number, axis] = Travel(field, where)
        travel = self._travels[number, axis]
        return np.full(len(nodes), (travel(t) - travel(t - h)) / h)

    def velocity(
        self, reached: FloatArray, t: float, h: float, v_time: float, mean: float = 0.0
    ) -> FloatArray:
        """Velocity (n_fixed,) of the fixed dofs over a step.

        Parameters
        ----------
        reached
            Displacement q̂ (n_fixed,) at the beginning of the step's own interval.
        t
            Time at the end of that interval, where prescribed displacements are met.
        h
            Its length.
        v_time
            Time at which prescribed velocities are taken.
        mean
            Time before it over which their mean is taken instead, where the velocity of a step is
            the same from its start to its end.
        """
        dim = self._mesh.dim
        position = np.zeros(len(self.owner))
        position[self.fixed] = reached
        velocity = np.zeros(len(self.owner))
        for number, (nodes, components) in enumerate(self._entries):
            for axis, (is_velocity, field) in components.items():
                dofs = nodes * dim + axis
                if is_velocity:
                    velocity[dofs] = self._mean(number, axis, field, nodes, v_time, mean)
                else:
                    values = self._values(number, axis, field, nodes, t)
                    velocity[dofs] = (values - position[dofs]) / h
        return velocity[self.fixed]

    def acceleration(self, t: float, h: float) -> FloatArray:
        """Acceleration (n_fixed,) of the fixed dofs at time t, by differences over h."""
        none = np.zeros(len(self.fixed))
        # a displacement as the velocity that leads to it from nowhere in a time of 1
        now, soon, later = (self.velocity(none, t + k * h, 1.0, t + k * h) for k in range(3))
        by_displacement = (later - 2.0 * soon + now) / h**2
        return np.where(self.by_velocity, (soon - now) / h, by_displacement)

    def with_velocities(self, v: FloatArray, t: float) -> FloatArray:
        """A velocity (ndof,) in turned axes with the prescribed ones put in at time t."""
        given = v.copy()
        for number, (nodes, components) in enumerate(self._entries):
            for axis, (is_velocity, field) in components.items():
                if is_velocity:
                    dofs = nodes * self._mesh.dim + axis
                    given[dofs] = self._values(number, axis, field, nodes, t)
        return given

    @overload
    def to_turned(self, vector: FloatArray) -> FloatArray: ...

    @overload
    def to_turned(self, vector: sparse.csr_array) -> sparse.csr_array: ...

    def to_turned(self, vector: FloatArray | sparse.csr_array) -> FloatArray | sparse.csr_array:
        """Turn a vector (ndof,) or the columns of a sparse matrix: q̂ = Qᵀ q."""
        if self.rotation is None:
            return vector
        turned = self.rotation.T @ vector
        return sparse.csr_array(turned) if sparse.issparse(turned) else np.asarray(turned)

    def to_global(self, vector: FloatArray) -> FloatArray:
        """Turn a vector (ndof,) back: q = Q q̂."""
        return vector if self.rotation is None else self.rotation @ vector

    def turned(self, matrix: sparse.csr_array) -> sparse.csr_array:
        """Qᵀ A Q."""
        if self.rotation is None:
            return matrix
        return sparse.csr_array(self.rotation.T @ matrix @ self.rotation)

    def directions(self) -> FloatArray:
        """Unit vector (ndof, dim) in global axes along which each degree of freedom moves."""
        dim, n = self._mesh.dim, self._mesh.n_nodes
        plain = np.tile(np.eye(dim), (n, 1))
        if self.rotation is None:
            return plain
        # column j of Q is the motion of the dof j, in the rows of its own node
        blocks = sparse.bsr_array(self.rotation, blocksize=(dim, dim))
        return np.asarray(blocks.data.transpose(0, 2, 1).reshape(n * dim, dim))

    def totals(self, forces: FloatArray) -> dict[str, FloatArray]:
        """Sum (dim,) in global axes of each condition's reactions, from forces (ndof,) in q̂."""
        dim = self._mesh.dim
        sums = {}
        for number, condition in enumerate(self.prescribed):
            own = np.where(self.owner == number, forces, 0.0)
            sums[condition.label] = self.to_global(own).reshape(-1, dim).sum(axis=0)
        return sums


def _turning(angles: FloatArray, dim: int) -> sparse.csr_array:
    c, s = np.cos(np.radians(angles)), np.sin(np.radians(angles))
    blocks = np.empty((len(angles), dim, dim))
    blocks[:, 0, 0], blocks[:, 0, 1] = c, -s
    blocks[:, 1, 0], blocks[:, 1, 1] = s, c
    n = len(angles)
    block_rows = sparse.bsr_array(
        (blocks, np.arange(n), np.arange(n + 1)), shape=(n * dim, n * dim)
    )
    return sparse.csr_array(block_rows.tocsr())
