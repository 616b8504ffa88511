"""What is followed at every step: totals of contacts and supports, energies, probes.

All forces and energies are per unit thickness; in axisymmetry they are those of the full turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fecontact.body import Solid
from fecontact.contact import ContactState, Status
from fecontact.errors import InputError, at, choices
from fecontact.mesh import Mesh
from fecontact.model import Model
from fecontact.schemes import StepResult
from fecontact.schemes.energy import COLUMNS as ENERGIES
from fecontact.typing import FloatArray

QUANTITIES = ("ux", "uy", "vx", "vy")


@dataclass(frozen=True)
class Probe:
    """A displacement or velocity of a group of nodes, followed at every step.

    Parameters
    ----------
    name
        Of the column.
    on
        Group of nodes, edges or elements; the mean over its nodes is taken.
    quantity
        ``"ux"``, ``"uy"``, ``"vx"`` or ``"vy"``.
    """

    name: str
    on: str
    quantity: Literal["ux", "uy", "vx", "vy"] = "uy"

    def check(self, mesh: Mesh) -> None:
        """Refuse a group or a quantity that there is not."""
        with at(f"probes.{self.name}.on"):
            mesh.node_numbers(self.on)
        if self.quantity not in QUANTITIES:
            raise InputError(
                f"probes.{self.name}.quantity: {self.quantity!r} is not a choice; "
                f"{choices(str(self.quantity), QUANTITIES)}"
            )

    def value(self, mesh: Mesh, step: StepResult) -> float:
        """Its value at the end of a step."""
        field = step.displacement if self.quantity[0] == "u" else step.velocity
        return float(field[mesh.node_numbers(self.on), "xy".index(self.quantity[1])].mean())


def per_thickness(solid: Solid) -> float:
    """Factor from forces of the computation to forces per unit thickness."""
    return 1.0 if solid.hypothesis == "axisymmetric" else 1.0 / solid.thickness


def _normal_velocity(state: ContactState) -> float:
    """Mean over the candidates that push, by their reactions; 0 where none does."""
    pushes = np.maximum(state.force[:, 0], 0.0)
    total = float(pushes.sum())
    return float(pushes @ state.velocity[:, 0]) / total if total > 0.0 else 0.0


class History:
    """A row of numbers for every step; ``history["time"]`` is a column.

    Attributes
    ----------
    columns : list of str
        Names of the columns. Those of a contact are totals of its reactions, the mean normal
        velocity at the end of the step of the candidates that push, and counts. `measures` are
        those that the scheme tells of itself, see `StepResult.measures`.
    """

    def __init__(
        self, model: Model, probes: Sequence[Probe] = (), measures: Sequence[str] = ()
    ) -> None:
        self._model = model
        self._measures = tuple(measures)
        self._probes = tuple(probes)
        for probe in self._probes:
            probe.check(model.mesh)
        self._factor = per_thickness(model.solid)
        self._contacts = [i.name for i in model.interfaces]
        self._supports = list(dict.fromkeys(p.label for p in model.prescribed))
        self.columns = self._names()
        for probe in self._probes:
            if self.columns.count(probe.name) > 1:
                raise InputError(
                    f"probes.{probe.name}: the history has a column of this name already; "
                    "give the probe another"
                )
        self.rows: list[list[float]] = []

    def _names(self) -> list[str]:
        names = ["step", "time", "h", "iterations", "residual", "balance"]
        for contact in self._contacts:
            names += [f"RN_{contact}", f"RT_{contact}", f"uN_{contact}"]
            names += [f"{s.label}_{contact}" for s in Status]
        for support in self._supports:
            names += [f"Rx_{support}", f"Ry_{support}"]
        names += [f"energy_{name}" for name in (*ENERGIES, "balance")]
        names += self._measures
        return names + [probe.name for probe in self._probes]

    def append(self, step: StepResult) -> list[float]:
        """Add a step; returns its row."""
        report = step.report
        row: list[float] = [step.number, step.t, step.h]
        row += [report.iterations, report.residual] if report else [0, 0.0]
        row.append(step.balance)
        for name in self._contacts:
            state = step.contacts[name]
            row += [float(self._factor * total) for total in state.force.sum(axis=0)]
            row.append(_normal_velocity(state))
            row += [state.count(s) for s in Status]
        for name in self._supports:
            row += [float(self._factor * total) for total in step.supports[name]]
        row += [self._factor * getattr(step.energy, name) for name in ENERGIES]
        row.append(step.energy.balance)
        row += [float(step.measures[name]) for name in self._measures]
        row += [probe.value(self._model.mesh, step) for probe in self._probes]
        self.rows.append(row)
        return row

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self.columns:
            raise InputError(
                f"history: no column {name!r}; {choices(name, self.columns, 'columns')}"
            )
        column = self.columns.index(name)
        return np.array([row[column] for row in self.rows], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<history of {len(self)} steps: {', '.join(self.columns)}>"
