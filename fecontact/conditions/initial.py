"""Displacements and velocities that a run starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fecontact.errors import ConditionError, at
from fecontact.expressions import Value, as_field
from fecontact.mesh import Mesh
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class Initial:
    """Displacement (``ux``, ``uy``) and velocity (``vx``, ``vy``) of a group of nodes at time 0.

    Parameters
    ----------
    on
        Name of a group of nodes, edges or elements; all nodes where it is empty.
    ux, uy, vx, vy
        Numbers or expressions of x and y; 0 where they are left out.
    name
        What messages call it.
    """

    on: str = ""
    ux: Value | None = None
    uy: Value | None = None
    vx: Value | None = None
    vy: Value | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or self.on or "all"


def initial_motion(mesh: Mesh, given: Sequence[Initial]) -> tuple[FloatArray, FloatArray]:
    """Displacement and velocity (ndof,) at time 0; a later condition wins where two meet."""
    u, v = np.zeros_like(mesh.nodes), np.zeros_like(mesh.nodes)
    for condition in given:
        where = f"initial.{condition.label}"
        nodes = np.arange(mesh.n_nodes)
        if condition.on:
            with at(f"{where}.on"):
                nodes = mesh.node_numbers(condition.on)
        values = {k: getattr(condition, k) for k in ("ux", "uy", "vx", "vy")}
        if all(value is None for value in values.values()):
            raise ConditionError(f"{where}: nothing is given; give ux, uy, vx or vy")
        for key, value in values.items():
            if value is None:
                continue
            field = as_field(value, f"{where}.{key}")
            if field.varies_in_time:
                raise ConditionError(f"{where}.{key}: it depends on t, and the start is at t = 0")
            target = u if key[0] == "u" else v
            target[nodes, "xy".index(key[1])] = field(mesh.nodes[nodes], 0.0)
    return u.ravel(), v.ravel()
