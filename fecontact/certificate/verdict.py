"""What a certificate says: figures, their limits, and whether a run passes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MEANING = {
    "equilibrium": "forces out of balance at a node, over the largest force",
    "inertia": "forces left to masses that are not there, over the largest force",
    "action_reaction": "resultant of forces that must cancel, over the forces",
    "kinematics": "displacement that the velocities do not explain, over the motion of the step",
    "prescribed": "prescribed motion that is missed, over the motion of the step",
    "penetration": "normal velocity that the contact forbids, over the velocities",
    "pulling": "normal reaction below zero, over the reactions",
    "complementarity": "reaction where the contact opens, over the reactions",
    "cone": "tangential reaction beyond its bound, over the reactions",
    "sliding": "slip without the friction that opposes it",
    "coefficient": "friction coefficient that its law does not give",
    "energy": "energy made or lost in the step, over the energies",
    "files": "difference of numbers that are in several files",
}
"""The figures of a certificate, in the order that they are shown."""

BALANCE = 1e-7
"""Limit of balances."""
_LAW = 1e-6
_LOOSEST = 1e-2
_LAWS = ("penetration", "pulling", "complementarity", "cone", "sliding", "coefficient")


def limits(tolerance: float) -> dict[str, float]:
    """Limits of the figures for a tolerance of the friction solver.

    Balances are those of linear systems solved to rounding; laws hold as well as the solver was
    asked to, a hundred times its tolerance for the different measures.
    """
    law = min(max(_LAW, 100.0 * tolerance), _LOOSEST)
    bounds = {name: law if name in _LAWS else BALANCE for name in MEANING}
    return bounds | {"inertia": _LOOSEST}


@dataclass(frozen=True)
class Certificate:
    """The figures of one saved step.

    Attributes
    ----------
    number, time
        Of the step.
    figures
        Values by name, see `MEANING`; 0 is perfect.
    places
        Where the largest value of a figure is, in words.
    depth
        Deepest penetration of a candidate at the end of the step, over the length of an edge: told,
        not judged, since conditions on velocities and weighted contacts allow some.
    non_unique
        Contacts with μ |w_NT| >= w_NN, where the friction problem may have several solutions or
        none.
    uncovered
        What could not be computed again, in words.
    """

    number: int
    time: float
    figures: Mapping[str, float]
    places: Mapping[str, str] = field(default_factory=dict)
    depth: float = 0.0
    non_unique: int = 0
    uncovered: tuple[str, ...] = ()

    def failures(self, bounds: Mapping[str, float]) -> list[str]:
        """Names of the figures above their limits."""
        return [name for name, value in self.figures.items() if not value <= bounds[name]]


@dataclass(frozen=True)
class Verdict:
    """The certificates of a run taken together.

    Attributes
    ----------
    steps
        How many were looked at.
    figures, at_step, places
        The worst value of each figure, the step that has it, and where.
    limits
        What they may be.
    depth, non_unique
        The largest of the steps.
    uncovered
        What could not be computed again.
    """

    steps: int
    figures: Mapping[str, float]
    at_step: Mapping[str, int]
    places: Mapping[str, str]
    limits: Mapping[str, float]
    depth: float
    non_unique: int
    uncovered: tuple[str, ...]

    @classmethod
    def of(cls, certificates: Iterable[Certificate], bounds: Mapping[str, float]) -> Verdict:
        """The worst of some certificates, which are taken one at a time."""
        figures: dict[str, float] = {}
        at_step: dict[str, int] = {}
        places: dict[str, str] = {}
        steps, depth, non_unique = 0, 0.0, 0
        uncovered: dict[str, None] = {}
        for one in certificates:
            steps += 1
            depth, non_unique = max(depth, one.depth), max(non_unique, one.non_unique)
            uncovered |= dict.fromkeys(one.uncovered)
            for name, value in one.figures.items():
                if name not in figures or not value <= figures[name]:
                    figures[name], at_step[name] = value, one.number
                    places[name] = one.places.get(name, "")
        ordered = {name: figures[name] for name in MEANING if name in figures}
        return cls(
            steps, ordered, at_step, places, dict(bounds), depth, non_unique, tuple(uncovered)
        )

    @property
    def failures(self) -> list[str]:
        """Names of the figures above their limits."""
        return [name for name, value in self.figures.items() if not value <= self.limits[name]]

    @property
    def passed(self) -> bool:
        """Whether steps were computed again and all figures are within their limits."""
        return self.covered and not self.failures

    @property
    def covered(self) -> bool:
        """Whether there is a step and its balance was computed again."""
        return self.steps > 0 and "equilibrium" in self.figures

    @property
    def word(self) -> str:
        """``"pass"``, ``"fail"``, or ``"not covered"`` where nothing was computed again."""
        if self.failures:
            return "fail"
        return "pass" if self.passed else "not covered"

    @property
    def refutation(self) -> str:
        """What does not hold, in a sentence; empty where all does."""
        if not self.failures:
            return ""
        worst = self.failures[0]
        place = f", {self.places[worst]}" if self.places.get(worst) else ""
        others = f"; so do {', '.join(self.failures[1:])}" if self.failures[1:] else ""
        return (
            f"the saved steps do not obey their laws: {worst} ({MEANING[worst]}) is "
            f"{self.figures[worst]:.1e} at step {self.at_step[worst]}{place}, more than "
            f"{self.limits[worst]:.0e}{others}"
        )

    def lines(self) -> list[str]:
        """The verdict as text."""
        told = []
        for name, value in self.figures.items():
            wrong = name in self.failures
            place = self.places.get(name, "")
            at = f" at step {self.at_step[name]}" + (f", {place}" if place else "")
            told.append(
                f"  {name:<16} {value:8.1e}  (limit {self.limits[name]:.0e})"
                + (f"  FAIL{at}: {MEANING[name]}" if wrong else "")
            )
        if self.depth > 0.0:
            told.append(f"  deepest penetration at the end of a step: {self.depth:.1e} of an edge")
        if self.non_unique:
            told.append(
                f"  {self.non_unique} contacts in a step have mu |w_NT| >= w_NN: the solution may "
                "be one of several"
            )
        told += [f"  not covered: {what}" for what in self.uncovered]
        return told
