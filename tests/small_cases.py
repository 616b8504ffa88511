"""The shipped cases at a size for tests, and a small block to try laws and schemes on."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from fecontact.case import Case, build, read_case
from fecontact.case.reading import check
from fecontact.simulation import Simulation

CASES = Path(__file__).parent.parent / "cases"
_COARSE = ["mesh.parts.disk.parameters.fine=8e-4", "mesh.parts.block.parameters.fine=8e-4"]
SMALLER: dict[str, list[str]] = {
    "block_on_slope": ["time.end=0.03", "output.every=10"],
    "bouncing_bar": ["mesh.ny=12", "time.end=1.2", "time.steps=60", "output.every=20"],
    "cattaneo_mindlin": [*_COARSE, "time.steps=4"],
    "colliding_bars": [
        "mesh.parts.left.nx=20",
        "mesh.parts.right.nx=20",
        "time.step=5e-5",
        "output.every=20",
    ],
    "falling_particle": ["time.end=0.02", "output.every=5"],
    "fault_in_layers": [
        "mesh.parameters.candidates=9",
        "time.end=4e5 year",
        "time.steps=8",
        "time.adaptive=false",
        "output.every=4",
    ],
    "hertz": [*_COARSE, "time.steps=2"],
    "ironing": [
        "mesh.parts.slab.nx=24",
        "mesh.parts.slab.ny=6",
        "mesh.parts.indenter.parameters.fine=0.08",
        "time.steps=20",
        "output.every=5",
    ],
    "sliding_block_ssnv128": ["mesh.nx=8", "mesh.ny=8"],
}
"""Settings that make a shipped case quick."""


def small_case(name: str, *more: str) -> Case:
    """A shipped case, reduced."""
    return read_case(CASES / f"{name}.toml", [*SMALLER.get(name, []), *more])


MOVING = ("implicit", "explicit")
"""Schemes of bodies that move and relax."""


def shipped_cases() -> list[str]:
    """Names of the shipped cases, in order."""
    return [path.stem for path in sorted(CASES.glob("*.toml"))]


def linear_cases() -> list[str]:
    """Names of the shipped cases whose scheme is one of linear bodies."""
    texts = {name: (CASES / f"{name}.toml").read_text() for name in shipped_cases()}
    return [
        name for name, text in texts.items() if not any(f'"{scheme}"' in text for scheme in MOVING)
    ]


BLOCK: dict[str, Any] = {
    "mesh": {
        "generator": "rectangle",
        "width": 1.0,
        "height": 0.5,
        "nx": 6,
        "ny": 3,
        "kind": "quad",
    },
    "materials": {"m": {"E": 1e7, "nu": 0.3, "density": 1000.0}},
    "loads": {"g": {"type": "gravity", "gx": 3.0, "gy": -9.81}},
    "contact": {
        "floor": {"candidates": "bottom", "obstacle": {"type": "half_plane"}, "friction": 0.2}
    },
    "initial": {"a": {"uy": 1e-3, "vy": -0.5, "vx": 0.2}},
    "scheme": {"name": "theta", "theta": 0.55},
    "time": {"end": 0.01, "step": 5e-4},
}
"""A block that falls on a floor and slides."""


def block(changes: dict[str, Any] | None = None) -> Simulation:
    """The block with some keys changed, each given as ``key.subkey``."""
    data = copy.deepcopy(BLOCK)
    for key, value in (changes or {}).items():
        table, parts = data, key.split(".")
        for part in parts[:-1]:
            table = table.setdefault(part, {})
        table[parts[-1]] = value
    path = Path("block.toml")
    return build(Case(path, data, check(data, path)))
