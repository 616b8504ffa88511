"""Stress that a body starts with: lithostatic, by horizontal layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fecontact.body import Solid
from fecontact.conditions.forces import Gravity, Load
from fecontact.errors import ConditionError
from fecontact.expressions import as_field
from fecontact.typing import FloatArray

_LEVEL = 1e-9
"""Levels closer than this part of the height are the same."""


@dataclass(frozen=True)
class Lithostatic:
    """Initial stress in equilibrium with gravity: σ_yy = -∫ density g dy from the surface down.

    The layers are those of the materials: wherever two of them share a depth they must have the
    same density. The surface is level.

    Parameters
    ----------
    ratio
        Horizontal over vertical stress, out of the plane too. Rock at rest for long has 1.
    """

    ratio: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.ratio) and self.ratio >= 0.0):
            raise ConditionError(f"lithostatic.ratio: {self.ratio!r} must be a number >= 0")

    def stress(self, solid: Solid, loads: Sequence[Load], points: FloatArray) -> FloatArray:
        """Stress (n, 4) at points (n, 2) of a solid under its gravity loads at time 0."""
        g = self._gravity(loads)
        levels, weight = self._columns(solid, g)
        vertical = -np.interp(-points[:, 1], -levels, weight)
        stress = np.zeros((len(points), 4))
        stress[:, 0] = stress[:, 2] = self.ratio * vertical
        stress[:, 1] = vertical
        return stress

    @staticmethod
    def _gravity(loads: Sequence[Load]) -> float:
        """Downward acceleration of the gravity loads at time 0."""
        found = [load for load in loads if isinstance(load, Gravity)]
        if not found:
            raise ConditionError(
                "lithostatic: there is no gravity among the loads that it could balance; add one "
                '([loads.NAME] with type = "gravity")'
            )
        origin, total = np.zeros((1, 2)), 0.0
        for load in found:
            if load.on:
                raise ConditionError(
                    f"lithostatic: loads.{load.label} acts on {load.on!r} only; expected gravity "
                    "in the whole body"
                )
            amplitude = as_field(1.0 if load.amplitude is None else load.amplitude)
            gx, gy = (f(origin, 0.0)[0] * amplitude(origin, 0.0)[0] for f in load.fields())
            if gx != 0.0:
                raise ConditionError(
                    f"lithostatic: loads.{load.label} has gx = {gx:g}; expected gravity along y"
                )
            total -= gy
        if not total > 0.0:
            raise ConditionError(
                f"lithostatic: gravity at time 0 is {total:g} downwards, expected more; with "
                "a ramp of gravity leave the initial stress out"
            )
        return float(total)

    @staticmethod
    def _columns(solid: Solid, g: float) -> tuple[FloatArray, FloatArray]:
        """Levels y, from the surface down, and the weight per area above each."""
        y = solid.coordinates[:, 1]
        spans = []
        for region in solid.regions:
            nodes = np.unique(
                np.concatenate(
                    [
                        block.cells[
                            region.elements[
                                (region.elements >= block.elements.start)
                                & (region.elements < block.elements.stop)
                            ]
                            - block.elements.start
                        ].ravel()
                        for block in solid.blocks
                    ]
                )
            )
            spans.append((y[nodes].min(), y[nodes].max(), region.material.density, region.name))
        tolerance = _LEVEL * float(np.ptp(y))
        edges = np.unique(np.array([e for span in spans for e in span[:2]]))
        levels = edges[np.concatenate([[True], np.diff(edges) > tolerance])][::-1]
        weight = np.zeros(len(levels))
        for k in range(1, len(levels)):
            middle = 0.5 * (levels[k - 1] + levels[k])
            here = [span for span in spans if span[0] < middle < span[1]]
            densities = {span[2] for span in here}
            if len(densities) > 1:
                names = ", ".join(f"{span[3]} ({span[2]:g})" for span in here)
                raise ConditionError(
                    f"lithostatic: the regions {names} share the depth y = {middle:g} and differ "
                    "in density; expected horizontal layers"
                )
            density = densities.pop() if densities else 0.0
            weight[k] = weight[k - 1] + density * g * (levels[k - 1] - levels[k])
        return levels, weight
