"""The certificate of one step, from displacements, velocities and reactions alone.

Nothing here comes from the solver: internal forces are integrals of stresses at the points, the
contacts are found again from the positions of the nodes, the laws are written anew. What the
figures are measured by are forces, velocities and energies of the step itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fecontact.certificate.laws import law_figures
from fecontact.certificate.motion import Written, rounding_of, written
from fecontact.certificate.saved import SavedStep
from fecontact.certificate.verdict import BALANCE, Certificate
from fecontact.contact import ContactState, Interface, LocalContacts
from fecontact.contact.pair_interface import PairInterface
from fecontact.model import Model
from fecontact.schemes import Scheme
from fecontact.typing import BoolArray, FloatArray

_CLOSED = 1e-9
"""Part of the size of the mesh within which a forecast gap may count as open or closed."""


class _Figures:
    """The worst of each figure and where it is."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.places: dict[str, str] = {}

    def add(self, name: str, value: float, place: str = "") -> None:
        value = float(value) if np.isfinite(value) else np.inf
        if name not in self.values or value > self.values[name]:
            self.values[name] = value
            self.places[name] = place if value > 0.0 else ""

    def largest(self, name: str, values: FloatArray, dim: int = 0) -> None:
        """Add the largest of values (n,), at the nodes of a space where its dimension is given."""
        worst = int(np.argmax(np.where(np.isfinite(values), values, np.inf)))
        self.add(name, float(values[worst]), f"node {worst // dim}" if dim else "")


def _relative(left: FloatArray, scale: float, rounding: FloatArray | float = 0.0) -> FloatArray:
    """|left| over a size, by entry; rounding alone stays below the limit of balances."""
    size = scale + np.asarray(rounding) / BALANCE
    off = np.abs(left)
    return np.asarray(np.divide(off, size, out=off.copy(), where=size > 0.0))


@dataclass(frozen=True, eq=False)
class _Found:
    """One contact as it was found again, with the saved reactions of its candidates."""

    interface: Interface
    local: LocalContacts
    R: FloatArray
    friction: FloatArray

    @cached_property
    def force(self) -> FloatArray:
        """Forces (ndof,) at the nodes."""
        return np.asarray(self.local.H @ self.R.ravel())

    def place(self, contact: int) -> str:
        node = int(self.local.nodes[contact])
        return f"contact {self.interface.name!r}, node {node}" if contact >= 0 else ""


def _carried(local: LocalContacts, way: FloatArray, time: float) -> LocalContacts:
    """Contacts whose offsets go on in a straight line, over a displacement and a time."""
    change = (local.H.T @ way - time * local.drift).reshape(local.offset.shape)
    counts = np.zeros(local.offset.shape, dtype=bool)
    counts[:, 0] = True
    counts[local.laws.has("glued")] = True
    return replace(local, offset=local.offset + np.where(counts, change, 0.0))


class Certifier:
    """Makes certificates of the steps of a model with a scheme.

    Parameters
    ----------
    model, scheme
        As they were run.
    """

    def __init__(self, model: Model, scheme: Scheme) -> None:
        self.model, self.scheme = model, scheme
        self._size = float(np.ptp(model.mesh.nodes, axis=0).max())

    def __call__(self, step: SavedStep) -> Certificate:
        """The certificate of a step."""
        equations = written(self.model, self.scheme, step)

        if equations is None:
            what = f"the scheme {self.scheme.name!r}: only stored numbers are compared"
            return Certificate(step.number, step.t, {}, uncovered=(what,))
        found = self._find(step, equations)
        figures = _Figures()
        self._balance(figures, step, equations, found)
        self._motion(figures, step, equations)
        for one in found:
            self._laws(figures, step, equations, one, found)
        if equations.loss is not None:
            figures.add("energy", self._energy(step, equations, found))
        uncovered = (
            ()
            if equations.loss is not None
            else (f"energy balance: the scheme {self.scheme.name!r} has none of its own",)
        )
        return Certificate(
            step.number,
            step.t,
            figures.values,
            figures.places,
            depth=self._depth(step),
            non_unique=step.non_unique,
            uncovered=uncovered,
        )

    def states(self, step: SavedStep) -> dict[str, ContactState]:
        """Contacts at the end of a step, made again from displacements and reactions by name."""
        equations = written(self.model, self.scheme, step)
        if equations is None:
            return {}
        q = step.q.reshape(self.model.mesh.nodes.shape)
        found = {}
        for one in self._find(step, equations):
            u = (one.local.H.T @ step.v - one.local.drift).reshape(one.R.shape)
            name, t = one.interface.name, step.t
            found[name] = one.interface.state(one.local, one.R, u, one.friction, q, t)
        return found

    # contacts, found again

    def _find(self, step: SavedStep, written: Written) -> list[_Found]:
        mesh = self.model.mesh
        place = written.place
        positions = mesh.nodes + place.q.reshape(mesh.nodes.shape)
        found = []
        for interface in self.model.interfaces:
            local = interface.detect(positions, place.t, place.h)
            if written.back is not None and len(local):
                local = _carried(local, *written.back)
            R = step.reactions[interface.name]
            used = step.friction[interface.name]
            found.append(_Found(interface, local, R[local.candidates], used[local.candidates]))
        return found

    # balances

    def _balance(
        self, figures: _Figures, step: SavedStep, written: Written, found: list[_Found]
    ) -> None:
        dim = self.model.mesh.dim
        contact = np.zeros(self.model.n_dofs)
        for one in found:
            contact += one.force
        kinds = {**written.forces, "contact": contact, "supports": step.supports}
        scale = max(float(np.abs(f).max(initial=0.0)) for f in kinds.values())
        scale = max(scale, float(np.abs(written.internal).max(initial=0.0)))
        if scale == 0.0:
            figures.add("equilibrium", 0.0)
            return
        left = sum(kinds.values()) - written.internal
        name = "inertia" if written.fictitious else "equilibrium"
        figures.largest(name, _relative(left, scale, written.rounding), dim)
        free = self.model.constraints.to_turned(step.supports)[self.model.constraints.free]
        figures.add("equilibrium", float(np.abs(free).max(initial=0.0)) / scale, "supports")
        # stresses have no resultant (but along r: the hoop stress), bodies push each other alike
        seen = slice(1 if self.model.solid.is_axisymmetric else 0, None)
        sums = sum(f.reshape(-1, dim).sum(axis=0)[seen] for f in kinds.values())
        sizes = sum(float(np.abs(f).sum()) for f in kinds.values())
        noise = float(written.rounding.sum())
        name = "inertia" if written.fictitious else "action_reaction"
        figures.largest(name, _relative(sums, max(sizes, scale), noise))
        for one in found:
            if isinstance(one.interface, PairInterface) and one.R.any():
                total = np.abs(one.force.reshape(-1, dim).sum(axis=0)).max()
                part = float(total / np.abs(one.R).sum())
                figures.add("action_reaction", part, f"contact {one.interface.name!r}")
        figures.largest("action_reaction", _relative(contact - step.contact, scale), dim)

    def _motion(self, figures: _Figures, step: SavedStep, written: Written) -> None:
        h = step.h
        dim, scale = self.model.mesh.dim, float(np.abs(written.moved).max(initial=0.0))
        noise = rounding_of(step.q, step.q_before)
        if written.misplaced.size:
            noise = noise + written.misplaced
        for left, per in written.kinematics:
            figures.largest("kinematics", _relative(left * per, scale, noise), dim)
        if written.stretch.size:
            worst = int(np.argmax(written.stretch))
            figures.add("kinematics", float(written.stretch[worst]), f"integration point {worst}")
        constraints = self.model.constraints
        fixed = constraints.fixed
        if len(fixed) == 0:
            return
        q0, v0, w, v = (
            constraints.to_turned(x)[fixed]
            for x in (step.q_before, step.v_before, written.place.w, step.v)
        )
        reached = q0 + written.ahead * v0
        mean = h if written.mean else 0.0
        given = constraints.velocity(reached, step.t + written.ahead, h, step.t, mean)
        met = np.where(constraints.by_velocity, v, w)
        off = _relative((met - given) * h, scale, np.max(noise))
        worst = int(np.argmax(off))
        figures.add("prescribed", float(off[worst]), f"node {int(fixed[worst]) // dim}")

    def _energy(self, step: SavedStep, written: Written, found: list[_Found]) -> float:
        moved = step.q - step.q_before
        work = {name: float(f @ moved) for name, f in written.works.items()}
        work["supports"] = float(step.supports @ moved)
        work["contact"] = sum(float(one.force @ moved) for one in found)
        stored = sum(b - a for a, b in written.energies)
        loss = written.loss or 0.0
        sizes = [
            *map(abs, work.values()),
            abs(loss),
            *(abs(e) for ab in written.energies for e in ab),
        ]
        noise = float(written.rounding @ (np.abs(step.q) + np.abs(step.q_before)))
        left = np.array([stored + loss - sum(work.values())])
        return float(_relative(left, max(sizes), noise)[0])

    # laws

    def _laws(
        self,
        figures: _Figures,
        step: SavedStep,
        written: Written,
        one: _Found,
        everywhere: list[_Found],
    ) -> None:
        interface, local, laws = one.interface, one.local, one.local.laws
        dim = self.model.mesh.dim
        force_scale = max(
            (float(np.abs(other.R).max(initial=0.0)) for other in everywhere), default=0.0
        )
        unseen = step.reactions[interface.name].copy()
        unseen[local.candidates] = 0.0
        if unseen.any():
            far = int(np.argmax(np.abs(unseen).max(axis=1)))
            size = max(force_scale, float(np.abs(unseen).max()))
            place = f"contact {interface.name!r}, node {int(interface.candidates.nodes[far])}"
            figures.add("complementarity", float(np.abs(unseen).max()) / size, place)
        if len(local) == 0:
            return
        u = (local.H.T @ written.place.w - local.drift).reshape(-1, dim)
        y, law = self._seen(step, written, one, u)
        scale = self._velocity_scale(step, written, one, u, y, force_scale)
        bound = laws.bound(one.R[:, 0], one.friction)
        noise = (
            float(np.max(rounding_of(self.model.mesh.nodes.ravel(), step.q))) / written.place.step
        )
        result = law_figures(
            one.R[law],
            y[law],
            bound[law],
            force_scale,
            scale,
            glued=laws.has("glued")[law],
            rounding=noise,
        )
        numbers = np.flatnonzero(law)
        for name in ("pulling", "cone", "penetration", "complementarity", "sliding"):
            value, place = getattr(result, name)
            figures.add(name, value, one.place(int(numbers[place])) if place >= 0 else "")
        idle = np.abs(one.R[~law])
        if idle.any():
            far = int(np.flatnonzero(~law)[np.argmax(idle.max(axis=1))])
            figures.add("complementarity", float(idle.max()) / force_scale, one.place(far))
        self._coefficients(figures, one, y, bound)

    def _seen(
        self, step: SavedStep, written: Written, one: _Found, u: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """Velocities (nc, dim) that the laws are about, and which contacts have a law (nc,)."""
        local, laws, h = one.local, one.local.laws, written.place.step
        y = u + local.offset / h
        late = laws.has("end_gap")
        y[late] = u[late] + local.offset[late] / (h * written.theta)
        law = np.ones(len(local), dtype=bool)
        shock = laws.has("velocity") & ~laws.has("glued")
        if shock.any():
            before = (local.H.T @ step.v_before - local.drift).reshape(u.shape)
            forecast = local.gap + (0.5 * h - written.ahead) * before[:, 0]
            margin = _CLOSED * self._size
            pushes = one.R[:, 0] != 0.0
            # within rounding of closed either is right
            law = ~shock | (forecast < -margin) | (pushes & (forecast <= margin))
            bounced = u.copy()
            bounced[:, 0] += laws.restitution * before[:, 0]
            bounced[:, 1:] += laws.tangential_restitution[:, None] * before[:, 1:]
            y = np.where(shock[:, None], bounced, y)
        # softened laws give way in proportion to the reaction
        y[:, 0] += laws.compliance * one.R[:, 0] / np.where(late, h * written.theta, h)
        y[:, 1:] += laws.mobility[:, None] * one.R[:, 1:]
        return y, law

    def _velocity_scale(
        self,
        step: SavedStep,
        written: Written,
        one: _Found,
        u: FloatArray,
        y: FloatArray,
        force_scale: float,
    ) -> float:
        """Size of relative velocities: those there are, and those that the reactions can make."""
        pushes = np.abs(one.R).max(axis=1) > 0.0
        there = max(
            float(np.abs(u).max(initial=0.0)),
            float(np.abs(one.local.offset[pushes]).max(initial=0.0)) / written.place.step,
            float(np.abs(one.local.H.T @ step.v_before).max(initial=0.0)),
        )
        dim = u.shape[1]
        dofs = (one.local.nodes[:, None] * dim + np.arange(dim)).ravel()
        stiffness = float(written.resistance[dofs].min(initial=np.inf))
        made = force_scale / stiffness if stiffness > 0.0 else 0.0
        # a soft support gives way more than a node alone: twice its energy over the reactions
        total = float(np.abs(one.R).sum())
        give = 2.0 * written.elastic / total if total > 0.0 else 0.0
        give = min(give, float(np.ptp(step.q.reshape(-1, dim), axis=0).max()) + self._springs(step))
        return max(there, made, give / written.place.step)

    def _springs(self, step: SavedStep) -> float:
        held = self.model.spring_stiffness > 0.0
        return float(np.abs(step.q[held]).max(initial=0.0))

    def _coefficients(
        self, figures: _Figures, one: _Found, y: FloatArray, bound: FloatArray
    ) -> None:
        laws, used = one.local.laws, one.friction
        coulomb = laws.has("coulomb")
        low = np.where(coulomb, laws.dynamic, 0.0)
        high = np.where(coulomb, laws.friction, 0.0)
        size = np.maximum(high, 1e-300)
        off = np.maximum(np.maximum(low - used, used - high), 0.0) / size
        smooth = coulomb & (laws.decay > 0.0) & (low < high) & (one.R[:, 0] > 0.0)
        if smooth.any() and not laws.has("velocity").any():
            slip = np.linalg.norm(y[:, 1:], axis=1)[smooth]
            fall = np.exp(-slip / laws.decay[smooth])
            wanted = low[smooth] + (high - low)[smooth] * fall
            off[smooth] = np.maximum(off[smooth], np.abs(used[smooth] - wanted) / size[smooth])
        worst = int(np.argmax(off))
        figures.add("coefficient", float(off[worst]), one.place(worst))

    def _depth(self, step: SavedStep) -> float:
        """Deepest penetration at the end over the mean length of the candidates' edges."""
        mesh = self.model.mesh
        positions = mesh.nodes + step.q.reshape(mesh.nodes.shape)
        deepest = 0.0
        for interface in self.model.interfaces:
            gaps = interface.gaps(positions, step.t)
            edges = mesh.nodes[mesh.edges(interface.group)]
            length = float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).mean())
            if interface.law.friction_law != "glued":
                deepest = max(deepest, float(-gaps.min(initial=0.0)) / length)
        return deepest
