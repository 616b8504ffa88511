"""Energies of a run and where they go.

Over a step of the theta scheme, with Δ the change, v_θ the mean velocity and q_θ likewise, the
equation of motion times Δq = h v_θ gives

    ΔT + ΔU + (θ - 1/2) (Δv·M Δv + Δq·K Δq) + h v_θ·C v_θ = F_θ·Δq + S·Δq + r·(u_θ + drift):

kinetic and elastic energy, what the scheme itself dissipates, viscous dissipation; work of loads,
of supports S, and of the contact impulses r, which is the work of moving obstacles less what
friction and shocks dissipate. The identity is exact, so that its defect is a check of the run.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

BALANCED = 1e-9
"""Relative defect below which energies and forces balance; what is rounding alone stays below."""


@dataclass(frozen=True)
class Energies:
    """Energies at the end of a step, and works and dissipations since the start.

    Attributes
    ----------
    kinetic, elastic
        Stored now; springs are part of the elastic energy.
    loads, supports, obstacles
        Work of loads, of prescribed motion, of obstacles that move.
    friction, shocks
        Dissipated by the tangential and by the normal part of the reactions. With the gap
        condition the second is not a dissipation at every instant: what a closing gap takes
        is given back when it opens.
    viscous
        Dissipated by damping.
    numerical
        Dissipated by the time scheme.
    start
        Kinetic and elastic energy at the start.
    rounding
        What rounding alone may make of the terms.
    """

    kinetic: float = 0.0
    elastic: float = 0.0
    loads: float = 0.0
    supports: float = 0.0
    obstacles: float = 0.0
    friction: float = 0.0
    shocks: float = 0.0
    viscous: float = 0.0
    numerical: float = 0.0
    start: float = 0.0
    rounding: float = 0.0

    @property
    def stored(self) -> float:
        """Kinetic and elastic energy."""
        return self.kinetic + self.elastic

    @property
    def defect(self) -> float:
        """Stored energy less what the works and dissipations leave."""
        given = self.loads + self.supports + self.obstacles
        lost = self.friction + self.shocks + self.viscous + self.numerical
        return self.stored - self.start - given + lost

    @property
    def balance(self) -> float:
        """The defect relative to the largest of all terms (0 where all vanish)."""
        largest = max(abs(getattr(self, name)) for name in (*COLUMNS, "start"))
        size = largest + self.rounding / BALANCED
        return abs(self.defect) / size if size > 0.0 else 0.0

    def after(self, kinetic: float, elastic: float, **added: float) -> Energies:
        """Energies after a step that stored and added these."""
        sums = {name: getattr(self, name) + value for name, value in added.items()}
        return replace(self, kinetic=kinetic, elastic=elastic, **sums)


COLUMNS = tuple(f.name for f in fields(Energies) if f.name not in ("start", "rounding"))
