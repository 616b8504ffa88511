"""Two blocks, one upon the other, with meshes that do not match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fecontact.body import Solid
from fecontact.conditions import Prescribed, Pressure
from fecontact.contact import Law, PairContact
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle
from fecontact.model import Model
from fecontact.recovery import stress_at_points
from fecontact.simulation import Result, Simulation, Times

Kind = Literal["triangle", "quad"]
Reactions = Literal["concentrated", "weighted"]
NU = 0.3


def two_blocks(
    kind: Kind = "quad", slope: float = 0.0, cells: tuple[int, int] = (5, 7), width: float = 1.0
) -> Mesh:
    """Blocks of height 1, their interface at height 1 tilted by `slope` about its middle."""
    lower = rectangle(width, 1.0, cells[0], 4, kind=kind)
    upper = rectangle(width, 1.0, cells[1], 3, kind=kind, origin=(0.0, 1.0))
    parts = {}
    for name, part in (("lower", lower), ("upper", upper)):
        x, y = part.nodes.T
        rise = slope * (x - 0.5 * width) * (y if name == "lower" else 2.0 - y)
        parts[name] = part.moved(np.column_stack([np.zeros_like(x), rise]))
    return Mesh.merge(parts)


@dataclass(frozen=True)
class Patch:
    """A uniform stress state: pressures on the sides and from above, and its relative error."""

    side: float
    top: float
    error: float
    result: Result


def patch(
    kind: Kind,
    slope: float,
    reactions: Reactions,
    friction: float = 0.0,
    *,
    law: Law | None = None,
    top: float = 1e6,
    soft: float = 1e9,
    hard: float = 1e9,
    **options: Any,
) -> Patch:
    """Press (or pull) two blocks together so that the stress would be uniform in one body.

    Without friction an inclined interface bears no shear: the pressure is then on all sides.
    """
    mesh = two_blocks(kind, slope)
    materials = {"lower": IsotropicElastic(soft, NU), "upper": IsotropicElastic(hard, NU)}
    solid = Solid(mesh, materials, "plane_strain")
    free = law is None and friction == 0.0
    side = top if slope and free else 0.0
    approach = sum((1 + NU) / E * ((1 - NU) * top - NU * side) for E in (soft, hard))
    model = Model(
        solid,
        prescribed=[
            Prescribed("lower.bottom", uy=0.0),
            Prescribed("lower.left", ux=0.0),
            Prescribed("upper.left", ux=0.0),
            Prescribed("upper.top", uy=-approach),
        ],
        loads=[Pressure("lower.right", side), Pressure("upper.right", side)],
        contacts=[
            PairContact(
                "upper.bottom",
                "lower.top",
                friction=friction,
                reactions=reactions,
                law=law,
                name="interface",
                **options,
            )
        ],
    )
    result = Simulation(model, times=Times(end=1.0)).run()
    stress = stress_at_points(solid, result.final.state.q)
    exact = np.array([-side, -top, -NU * (side + top), 0.0])
    error = float(np.abs(stress - exact).max() / abs(top))
    return Patch(side, top, error, result)
