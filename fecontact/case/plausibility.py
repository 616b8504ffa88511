"""Numbers that are possible but unlikely, such as gigapascals given as pascals.

Doubts are told and never stop a run. They assume SI units; ``[checks] plausibility = false`` in the
case silences them, for a case in other consistent units or without units.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from fecontact.contact import ObstacleInterface
from fecontact.errors import ExpressionError
from fecontact.simulation import Simulation

_HINT = "[checks] plausibility = false silences this"
STIFFNESS = (1e3, 1e13)
DENSITY = (50.0, 25e3)
WAVES = (1.0, 3e4)
SIZE = (1e-7, 1e7)
FRICTION = 3.0
STRAIN = 0.2
INSIDE = 1e-9
"""Penetrations at the start, relative to the size of the mesh, below which they are rounding."""


def doubts(simulation: Simulation) -> list[str]:
    """What is unlikely, a sentence each with the key, the value and what is usual."""
    found = [
        *_materials(simulation),
        *_geometry(simulation),
        *_loads(simulation),
        *_contacts(simulation),
        *_starts(simulation),
    ]
    return [f"{told}; {_HINT}" for told in dict.fromkeys(found)]


def _moduli(material: object) -> dict[str, float]:
    return {
        name: float(value)
        for name in ("E", "E1", "E2", "E3")
        if isinstance(value := getattr(material, name, None), int | float)
    }


def _materials(simulation: Simulation) -> Iterator[str]:
    for name, material in simulation.model.solid.materials.items():
        where = f"material of {name!r}"
        moduli = _moduli(material)
        for key, value in moduli.items():
            if not STIFFNESS[0] <= value <= STIFFNESS[1]:
                yield (
                    f"{where}: {key} = {value:g} Pa is unlikely, solids have 1 kPa to 10 TPa "
                    "(1 GPa is 1e9)"
                )
        density = material.density
        if density and not DENSITY[0] <= density <= DENSITY[1]:
            guess = " (1 g/cm^3 is 1000 kg/m^3)" if 0.3 <= density < DENSITY[0] else ""
            yield (
                f"{where}: density = {density:g} kg/m^3 is unlikely, solids have "
                f"{DENSITY[0]:g} to {DENSITY[1]:g}{guess}"
            )
        if density and moduli:
            speed = float(np.sqrt(max(moduli.values()) / density))
            if not WAVES[0] <= speed <= WAVES[1]:
                yield (
                    f"{where}: waves of {speed:.3g} m/s are unlikely, solids have {WAVES[0]:g} to "
                    f"{WAVES[1]:g}; modulus and density may be in different units"
                )


def _geometry(simulation: Simulation) -> Iterator[str]:
    size = float(np.ptp(simulation.model.mesh.nodes, axis=0).max())
    if not SIZE[0] <= size <= SIZE[1]:
        yield (
            f"mesh: a size of {size:g} m is unlikely, expected {SIZE[0]:g} to {SIZE[1]:g} "
            "(mesh.scale changes it)"
        )


def _loads(simulation: Simulation) -> Iterator[str]:
    model, times = simulation.model, simulation.times
    moduli = [v for m in model.solid.materials.values() for v in _moduli(m).values()]
    if not moduli:
        return
    low, high = model.mesh.nodes.min(axis=0), model.mesh.nodes.max(axis=0)
    width = float((high - low).max())
    largest = 0.0
    for t in (0.0, 0.5 * times.end, times.end):
        # no step may ever come there: the run tells what is no number where one does
        with suppress(ExpressionError):
            largest = max(largest, float(np.abs(model.external(t)).sum()))
    # a force over the whole section of the body
    depth = 2.0 * np.pi * high[0] if model.solid.is_axisymmetric else model.solid.thickness
    strain = largest / (width * depth * max(moduli))
    if strain > STRAIN:
        yield (
            f"loads: they would strain the whole body by about {strain:.2g}; loads and moduli may "
            "be in different units"
        )


def _contacts(simulation: Simulation) -> Iterator[str]:
    for interface in simulation.model.interfaces:
        largest = float(interface.friction.max(initial=0.0))
        if largest > FRICTION:
            yield f"contact.{interface.name}.friction: {largest:g} is unlikely, few exceed 1.5"


def _starts(simulation: Simulation) -> Iterator[str]:
    mesh = simulation.model.mesh
    margin = INSIDE * float(np.ptp(mesh.nodes, axis=0).max())
    bodies = mesh.components()
    for interface in simulation.model.interfaces:
        if not isinstance(interface, ObstacleInterface):
            continue
        where, nodes = f"contact.{interface.name}", interface.candidates.nodes
        own = np.isin(bodies, bodies[nodes])
        if (interface.obstacle.project(mesh.nodes[own], 0.0).gap <= margin).all():
            yield (
                f"{where}: the whole body of {interface.group!r} starts inside the "
                f"{interface.partner}; its normal, or the order of its points, may be turned"
            )
            continue
        gap = interface.gaps(mesh.nodes, 0.0)
        inside = int(np.count_nonzero(gap < -margin))
        if inside:
            worst = int(np.argmin(gap))
            place = ", ".join(f"{c:.6g}" for c in mesh.nodes[nodes[worst]])
            yield (
                f"{where}: {inside} of {len(nodes)} candidates of {interface.group!r} start inside "
                f"the {interface.partner}, deepest by {-gap[worst]:.3g} at node {nodes[worst]} "
                f"({place}); the first step pushes them out"
            )
