"""A simulation seen from another frame, in other units, or with other numbers for its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fecontact.body import Solid
from fecontact.conditions import Gravity, Initial, Load, Prescribed, Pressure, Spring
from fecontact.contact import Contact, Disk, HalfPlane, PairContact, Polyline
from fecontact.expressions import Field, as_field
from fecontact.materials import IsotropicElastic, Maxwell
from fecontact.mesh import Mesh
from fecontact.mesh.checks import check_mesh
from fecontact.model import Model
from fecontact.simulation import Simulation, Times
from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Frame:
    """x' = length Q x + shift, t' = time t; stresses are multiplied by `stress`.

    Parameters
    ----------
    angle
        Of Q, radians.
    mirror
        Q turns x into -x before it turns.
    shift, length, time, stress
        See above.
    shuffle
        Seed of new numbers of nodes, elements and edges; None keeps them.
    """

    angle: float = 0.0
    mirror: bool = False
    shift: tuple[float, float] = (0.0, 0.0)
    length: float = 1.0
    time: float = 1.0
    stress: float = 1.0
    shuffle: int | None = None

    @property
    def Q(self) -> FloatArray:
        c, s = np.cos(self.angle), np.sin(self.angle)
        turn = np.array([[c, -s], [s, c]])
        return turn @ np.diag([-1.0, 1.0]) if self.mirror else turn

    @property
    def hand(self) -> float:
        return -1.0 if self.mirror else 1.0

    @property
    def force(self) -> float:
        """Factor of forces; the thickness is a length."""
        return self.stress * self.length**2

    @property
    def velocity(self) -> float:
        """Factor of velocities."""
        return self.length / self.time

    def points(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.length * x @ self.Q.T + np.array(self.shift))

    def back(self, x: FloatArray) -> FloatArray:
        return np.asarray((x - np.array(self.shift)) @ self.Q / self.length)

    def vectors(self, v: FloatArray, factor: float = 1.0) -> FloatArray:
        return np.asarray(factor * v @ self.Q.T)


@dataclass(frozen=True, eq=False)
class Seen:
    """A field of the old frame at points of the new one, several combined linearly."""

    parts: tuple[tuple[float, Field], ...]
    frame: Frame

    def __call__(self, points: FloatArray, t: float) -> FloatArray:
        old, t = self.frame.back(points), t / self.frame.time
        return np.asarray(sum(c * f(old, t) for c, f in self.parts) + np.zeros(len(points)))

    @property
    def varies_in_time(self) -> bool:
        return any(f.varies_in_time for _, f in self.parts)

    @property
    def varies_in_space(self) -> bool:
        return any(f.varies_in_space for _, f in self.parts)


def _seen(frame: Frame, value: Any, factor: float = 1.0) -> Any:
    return None if value is None else Seen(((factor, as_field(value)),), frame)


def _turned(frame: Frame, x: Any, y: Any, factor: float = 1.0) -> tuple[Seen, Seen]:
    fields = [as_field(0.0 if f is None else f) for f in (x, y)]
    return tuple(  # type: ignore[return-value]
        Seen(tuple((factor * frame.Q[i, j], fields[j]) for j in range(2)), frame) for i in range(2)
    )


def _mesh(frame: Frame, mesh: Mesh) -> tuple[Mesh, IntArray]:
    """The mesh, and the new number of each old node."""
    n = mesh.n_nodes
    new, cells, edges = np.arange(n), dict(mesh.cells), dict(mesh.edge_groups)
    elements = np.arange(mesh.n_elements)
    if frame.shuffle is not None:
        rng = np.random.default_rng(frame.shuffle)
        new = rng.permutation(n)
        first = 0
        for kind, block in mesh.cells.items():
            order = rng.permutation(len(block))
            cells[kind] = block[order]
            elements[first + order] = first + np.arange(len(block))
            first += len(block)
        edges = {name: rng.permutation(e) for name, e in edges.items()}
    nodes = np.empty_like(mesh.nodes)
    nodes[new] = frame.points(mesh.nodes)
    changed = Mesh(
        nodes,
        {kind: new[block] for kind, block in cells.items()},
        {name: elements[e] for name, e in mesh.element_groups.items()},
        {name: new[e] for name, e in edges.items()},
        {name: new[e] for name, e in mesh.node_groups.items()},
    )
    return check_mesh(changed, turn=True, allow_duplicates=True), new


def _prescribed(frame: Frame, given: Prescribed) -> Prescribed:
    assert not frame.mirror or given.angle == 0.0
    return replace(
        given,
        ux=_seen(frame, given.ux, frame.hand * frame.length),
        vx=_seen(frame, given.vx, frame.hand * frame.velocity),
        uy=_seen(frame, given.uy, frame.length),
        vy=_seen(frame, given.vy, frame.velocity),
        angle=given.angle + np.degrees(frame.angle),
    )


def _load(frame: Frame, given: Any) -> Any:
    amplitude = _seen(frame, given.amplitude)
    if isinstance(given, Pressure):
        value = _seen(frame, given.value, frame.stress)
        return replace(given, value=value, amplitude=amplitude)
    assert isinstance(given, Gravity)
    gx, gy = _turned(frame, given.gx, given.gy, frame.velocity / frame.time)
    return replace(given, gx=gx, gy=gy, amplitude=amplitude)


def _initial(frame: Frame, given: Initial) -> Initial:
    ux, uy = _turned(frame, given.ux, given.uy, frame.length)
    vx, vy = _turned(frame, given.vx, given.vy, frame.velocity)
    return replace(given, ux=ux, uy=uy, vx=vx, vy=vy)


def _obstacle(frame: Frame, given: Any) -> Any:
    vx, vy = given.velocity
    velocity = _turned(frame, vx, vy, frame.velocity)
    if isinstance(given, HalfPlane):
        point = frame.points(np.array([given.point], dtype=float))[0]
        normal = frame.vectors(np.array([given.normal], dtype=float))[0]
        return HalfPlane(point=tuple(point), normal=tuple(normal), velocity=velocity)
    if isinstance(given, Disk):
        center = frame.points(np.array([given.center], dtype=float))[0]
        return replace(
            given,
            center=tuple(center),
            radius=frame.length * given.radius,
            spin=_seen(frame, given.spin, frame.hand / frame.time),
            velocity=velocity,
        )
    assert isinstance(given, Polyline)
    corners = frame.points(np.array(given.points, dtype=float))
    corners = corners[::-1] if frame.mirror else corners
    return replace(given, points=corners.tolist(), velocity=velocity)


def _contact(frame: Frame, given: Contact | PairContact) -> Contact | PairContact:
    law = given.law
    if law is not None:
        assert law.normal_stiffness is None
        assert law.tangential_viscosity is None
        law = replace(
            law,
            friction=_seen(frame, law.friction),
            dynamic_friction=_seen(frame, law.dynamic_friction),
            decay_velocity=frame.velocity * law.decay_velocity,
            threshold=_seen(frame, law.threshold, frame.stress),
        )
    if isinstance(given, Contact):
        return replace(given, law=law, obstacle=_obstacle(frame, given.obstacle))
    alert = None if given.alert is None else frame.length * given.alert
    return replace(given, law=law, alert=alert)


def _spring(frame: Frame, given: Any) -> Spring:
    assert isinstance(given, Spring)
    assert given.kx == given.ky or (frame.angle == 0.0)
    factor = frame.stress * frame.length
    return replace(given, kx=factor * given.kx, ky=factor * given.ky)


def _material(frame: Frame, given: Any) -> IsotropicElastic:
    assert type(given) in (IsotropicElastic, Maxwell)
    viscosity = frame.stress * frame.time
    damping = replace(
        given.damping,
        kelvin_voigt=frame.time * given.damping.kelvin_voigt,
        rayleigh_mass=given.damping.rayleigh_mass / frame.time,
        rayleigh_stiffness=frame.time * given.damping.rayleigh_stiffness,
        eta_shear=viscosity * given.damping.eta_shear,
        eta_bulk=viscosity * given.damping.eta_bulk,
    )
    density = frame.stress / frame.velocity**2 * given.density
    own = {"eta": _seen(frame, given.eta, viscosity)} if isinstance(given, Maxwell) else {}
    return replace(given, E=frame.stress * given.E, density=density, damping=damping, **own)


@dataclass(frozen=True, eq=False)
class SeenStress:
    """The initial stress of another model, seen from a frame that is turned."""

    model: Model
    frame: Frame

    def stress(self, solid: Solid, loads: Sequence[Load], points: FloatArray) -> FloatArray:
        assert self.model.prestress is not None
        old = self.model.prestress.stress(
            self.model.solid, self.model.loads, self.frame.back(points)
        )
        xx, yy, zz, xy = self.frame.stress * old.T
        tensor = np.moveaxis(np.array([[xx, xy], [xy, yy]]), 2, 0)
        turned = self.frame.Q @ tensor @ self.frame.Q.T
        return np.column_stack([turned[:, 0, 0], turned[:, 1, 1], zz, turned[:, 0, 1]])


def _prestress(frame: Frame, model: Model) -> Any:
    # without a turn y stays the vertical, and the rule itself is tried
    return model.prestress if frame.angle == 0.0 else SeenStress(model, frame)


def _times(frame: Frame, given: Times) -> Times:
    def scaled(t: float | None) -> float | None:
        return None if t is None else frame.time * t

    return replace(
        given,
        end=frame.time * given.end,
        step=scaled(given.step),
        min_step=scaled(given.min_step),
        outputs=[frame.time * t for t in given.outputs],
    )


def changed(simulation: Simulation, frame: Frame) -> tuple[Simulation, IntArray]:
    """The simulation in another frame, and the new number of each of its nodes."""
    model, solid = simulation.model, simulation.model.solid
    mesh, new = _mesh(frame, model.mesh)
    materials = {name: _material(frame, m) for name, m in solid.materials.items()}
    other = Model(
        replace(solid, mesh=mesh, materials=materials, thickness=frame.length * solid.thickness),
        prescribed=[_prescribed(frame, p) for p in model.prescribed],
        loads=[_load(frame, load) for load in model.loads],
        springs=[_spring(frame, s) for s in model.springs],
        contacts=[_contact(frame, c) for c in model.contacts],
        initial=[_initial(frame, i) for i in model.initial],
        prestress=None if model.prestress is None else _prestress(frame, model),
    )
    return replace(simulation, model=other, times=_times(frame, simulation.times)), new
