"""A long run with contacts that make and break: memory stays flat, energy is never created."""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from fecontact.certificate import Certifier, limits, saved_step
from tests.small_cases import block

STATM = Path("/proc/self/statm")


def memory_in_use() -> tuple[int, int]:
    """Blocks that Python's allocator holds, every array's header among them, and bytes in use.

    Both are looked up, not traced: a step costs what it costs without the test.
    """
    gc.collect()
    pages = int(STATM.read_text().split()[1]) if STATM.exists() else 0
    return sys.getallocatedblocks(), pages * resource.getpagesize()


@pytest.mark.parametrize(
    ("law", "steps"),
    [
        ("velocity", 400),
        pytest.param("velocity", 10_000, marks=pytest.mark.slow),
        pytest.param("gap", 10_000, marks=pytest.mark.slow),
    ],
)
def test_soak(law: str, steps: int) -> None:
    """A block thrown into a basin that is shaken.

    With θ = 1 the energy identity of a step leaves r·u at its end, which neither the inelastic
    shock nor friction can make positive: what is stored, less the work of weight and basin, falls.
    """
    simulation = block(
        {
            "mesh.nx": 3,
            "mesh.ny": 2,
            "loads.g.gx": 0.0,
            "contact.floor.condition": law,
            "contact.floor.obstacle": {
                "type": "polyline",
                "points": [[-3.0, 1.0], [-1.0, 0.0], [2.0, 0.0], [4.0, 1.0]],
                "velocity": [0.0, "0.6 * sin(40 * t)"],
            },
            "contact.floor.friction": 0.05,
            "initial.a": {"uy": 0.05, "vy": -1.0, "vx": 3.0},
            "scheme": {"name": "theta", "theta": 1.0},
            "materials.m.E": 1e6,
            "time": {"end": 1e-3 * steps, "steps": steps},
        }
    )
    certifier = Certifier(simulation.model, simulation.scheme)
    bounds = limits(simulation.options.tolerance)
    changes, touching, highest, size = 0, False, -np.inf, 0.0
    memory: list[tuple[int, int]] = []
    for step in simulation.steps():
        energy = step.energy
        total = energy.stored - energy.loads - energy.obstacles
        if step.number == 1:
            highest, size = total, energy.kinetic
        assert total <= highest + 1e-9 * size, f"energy created in step {step.number}"
        highest = total
        assert energy.friction >= -1e-9 * size
        pushes = bool(step.contacts["floor"].force.any())
        changes += pushes != touching
        touching = pushes
        if step.number % (steps // 20) == 0:
            saved = saved_step(step)
            assert saved is not None
            assert certifier(saved).failures(bounds) == []
            memory.append(memory_in_use())
    # the basin throws it up about once in each of its periods of 157 steps
    assert changes >= steps // 100
    # between a quarter of the run and its end nothing is kept, not one array a step
    blocks, used = np.subtract(memory[-1], memory[len(memory) // 4])
    assert blocks < 1000
    assert used < 2**21
