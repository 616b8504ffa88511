"""Time schemes: each takes a state to the next by one step."""

from __future__ import annotations

from typing import Protocol

from fecontact.model import Model
from fecontact.schemes.energy import Energies
from fecontact.schemes.explicit import Explicit
from fecontact.schemes.implicit import Implicit
from fecontact.schemes.newmark import Newmark
from fecontact.schemes.state import Pace, Place, State, StepResult
from fecontact.schemes.theta import QuasiStatic, Theta, ThetaStepper
from fecontact.solvers import Options
from fecontact.solvers.memory import Estimate
from fecontact.timing import Phases


class Stepper(Protocol):
    """What takes steps of a model."""

    def start(self) -> State:
        """The first state."""
        ...

    def memory(self, h: float) -> Estimate | None:
        """Memory that the factors for steps of size h would take; None without any."""
        ...

    def prepare(self, h: float) -> None:
        """Assemble and factorise for steps of size h."""
        ...

    def step(self, state: State, h: float) -> StepResult:
        """One step of size h."""
        ...


class Scheme(Protocol):
    """A choice of time scheme, before it is bound to a model."""

    @property
    def name(self) -> str: ...

    def stepper(self, model: Model, options: Options, phases: Phases) -> Stepper:
        """Bind the scheme to a model."""
        ...


__all__ = [
    "Energies",
    "Explicit",
    "Implicit",
    "Newmark",
    "Pace",
    "Place",
    "QuasiStatic",
    "Scheme",
    "State",
    "StepResult",
    "Stepper",
    "Theta",
    "ThetaStepper",
]
