"""Loads and grounded springs, and the load vector that they make over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fecontact import loads
from fecontact.body import Solid
from fecontact.errors import ConditionError, at
from fecontact.expressions import Field, Value, as_field
from fecontact.mesh import Mesh
from fecontact.typing import FloatArray, IntArray


class Load(Protocol):
    """A load as the user gives it, before it is bound to a solid."""

    @property
    def label(self) -> str:
        """What messages and results call it."""
        ...

    @property
    def amplitude(self) -> Value | None:
        """Factor over time of the whole load; 1 where it is None."""
        ...

    def fields(self) -> Sequence[Field]:
        """The distributions that the load is made of."""
        ...

    def vector(self, solid: Solid, t: float) -> FloatArray:
        """Nodal forces (ndof,) at time t, amplitude left out."""
        ...


def _fields(load: Load, *names: str) -> tuple[Field, ...]:
    """Attributes of a load as fields, which know their place in messages."""
    return tuple(as_field(getattr(load, name), f"loads.{load.label}.{name}") for name in names)


@dataclass(frozen=True)
class Pressure:
    """Pressure on the edges of a group, positive towards the body.

    `value` is a number, a table or an expression; `per_edge` gives one number for each edge
    instead, in the order of the edges along the line with the body on the left. `amplitude`
    multiplies either, as a table over time or an expression of t.
    """

    on: str
    value: Value = 0.0
    per_edge: Sequence[float] | None = None
    amplitude: Value | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on

    def fields(self) -> Sequence[Field]:
        return _fields(self, "value")

    def vector(self, solid: Solid, t: float) -> FloatArray:
        if self.per_edge is None:
            (field,) = self.fields()
            return loads.edge_pressure(solid, solid.mesh.edges(self.on), lambda p: field(p, t))
        edges = _along(solid.mesh, self.on)
        values = np.asarray(self.per_edge, dtype=float)
        if len(values) != len(edges) or not np.isfinite(values).all():
            raise ConditionError(
                f"loads.{self.label}.per_edge: {len(values)} values for the {len(edges)} edges of "
                f"group {self.on!r}; give one finite number for each edge"
            )
        return loads.edge_pressure(solid, edges, values)


@dataclass(frozen=True)
class Traction:
    """Force per unit area on the edges of a group, by components in global axes."""

    on: str
    tx: Value = 0.0
    ty: Value = 0.0
    amplitude: Value | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on

    def fields(self) -> Sequence[Field]:
        return _fields(self, "tx", "ty")

    def vector(self, solid: Solid, t: float) -> FloatArray:
        components = self.fields()
        return loads.edge_traction(
            solid,
            solid.mesh.edges(self.on),
            lambda points, _normals: np.column_stack([f(points, t) for f in components]),
        )


@dataclass(frozen=True)
class BodyForce:
    """Force per unit volume in the elements of a group (all of them where `on` is empty)."""

    on: str = ""
    bx: Value = 0.0
    by: Value = 0.0
    amplitude: Value | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on or "body_force"

    def fields(self) -> Sequence[Field]:
        return _fields(self, "bx", "by")

    def vector(self, solid: Solid, t: float) -> FloatArray:
        components = self.fields()
        return loads.body_force(
            solid,
            lambda points: np.column_stack([f(points, t) for f in components]),
            self.on or None,
        )


@dataclass(frozen=True)
class Gravity:
    """Weight: density times the acceleration (gx, gy), in the elements of a group or in all."""

    gx: Value = 0.0
    gy: Value = -9.81
    on: str = ""
    amplitude: Value | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or "gravity"

    def fields(self) -> Sequence[Field]:
        return _fields(self, "gx", "gy")

    def vector(self, solid: Solid, t: float) -> FloatArray:
        if any(f.varies_in_space for f in self.fields()):
            raise ConditionError(
                f"loads.{self.label}: gravity cannot depend on x and y; use a body force"
            )
        g = np.array([f(np.zeros((1, 2)), t)[0] for f in self.fields()])
        density = solid.densities()[solid.element_material]
        return loads.body_force(solid, density[:, None] * g, self.on or None)


@dataclass(frozen=True)
class PointForce:
    """A force on every node of a group, by components in global axes."""

    on: str
    fx: Value = 0.0
    fy: Value = 0.0
    amplitude: Value | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on

    def fields(self) -> Sequence[Field]:
        return _fields(self, "fx", "fy")

    def vector(self, solid: Solid, t: float) -> FloatArray:
        mesh = solid.mesh
        nodes = mesh.node_numbers(self.on)
        force = np.zeros((mesh.n_nodes, mesh.dim))
        force[nodes] = np.column_stack([f(mesh.nodes[nodes], t) for f in self.fields()])
        return force.ravel()


@dataclass(frozen=True)
class Spring:
    """Grounded springs on the nodes of a group: stiffness per node along x and y (N/m)."""

    on: str
    kx: float = 0.0
    ky: float = 0.0
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on

    def diagonal(self, mesh: Mesh) -> FloatArray:
        """Diagonal (ndof,) that the springs add to the stiffness."""
        if not (np.isfinite([self.kx, self.ky]).all() and self.kx >= 0 and self.ky >= 0):
            raise ConditionError(
                f"springs.{self.label}: kx = {self.kx:g}, ky = {self.ky:g} must be >= 0"
            )
        added = np.zeros((mesh.n_nodes, mesh.dim))
        with at(f"springs.{self.label}.on"):
            added[mesh.node_numbers(self.on)] = (self.kx, self.ky)
        return added.ravel()


class ExternalForces:
    """The load vector of a solid at any time.

    Distributions that do not change in time are integrated once; a step then costs one scaled sum.
    """

    def __init__(self, solid: Solid, given: Sequence[Load]) -> None:
        self._solid = solid
        self._parts: list[tuple[Load, Field, FloatArray | None]] = []
        for load in given:
            amplitude = as_field(
                1.0 if load.amplitude is None else load.amplitude, f"loads.{load.label}.amplitude"
            )
            if amplitude.varies_in_space:
                raise ConditionError(
                    f"loads.{load.label}.amplitude: it depends on x or y; put that into the value"
                )
            changes = any(f.varies_in_time for f in load.fields())
            vector = self._evaluate(load, 0.0)
            self._parts.append((load, amplitude, None if changes else vector))

    @property
    def varies(self) -> bool:
        """Whether the load vector changes in time."""
        return any(v is None or a.varies_in_time for _, a, v in self._parts)

    def __call__(self, t: float) -> FloatArray:
        """Forces (ndof,) at time t."""
        total = np.zeros(self._solid.mesh.n_nodes * self._solid.mesh.dim)
        origin = np.zeros((1, 2))
        for load, amplitude, vector in self._parts:
            with at(f"loads.{load.label}.amplitude"):
                factor = float(amplitude(origin, t)[0])
            with np.errstate(over="ignore"):
                part = factor * (self._evaluate(load, t) if vector is None else vector)
            if not np.isfinite(part).all():
                node = int(np.argmin(np.isfinite(part))) // self._solid.mesh.dim
                raise ConditionError(
                    f"loads.{load.label}: value times amplitude is not finite at node {node} "
                    f"({', '.join(f'{c:.6g}' for c in self._solid.mesh.nodes[node])}), t = {t:g}"
                )
            total += part
        return total

    def _evaluate(self, load: Load, t: float) -> FloatArray:
        with at(f"loads.{load.label}"):
            return load.vector(self._solid, t)


def _along(mesh: Mesh, name: str) -> IntArray:
    """Edges (ne, 2) of a group in their order along its lines."""
    return np.concatenate([np.column_stack([c[:-1], c[1:]]) for c in mesh.chains(name)])
