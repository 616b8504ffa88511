"""What can go wrong, by kind.

Every error that a user can cause or meet derives from `FecontactError`. The library raises them and
never exits or prints; the command line turns each into one message and an exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from difflib import get_close_matches
from typing import Any


class FecontactError(Exception):
    """Base of all errors of the package; `exit_code` is what the command line returns."""

    exit_code = 2


class InputError(FecontactError):
    """Something that was given cannot be used: the message names it and the remedy."""


class MeshError(InputError):
    """A mesh that cannot be read, is not sound, or lacks a group."""


class MaterialError(InputError):
    """A material constant outside its range."""


class ConditionError(InputError):
    """A load or a prescribed motion that cannot be applied."""


class ContactError(InputError):
    """A contact that cannot be set up."""


class ExpressionError(InputError):
    """An expression of x, y, t that cannot be understood or evaluated."""


class CaseError(InputError):
    """A case file with an unknown key, a value of the wrong kind, or a missing part."""


class SingularSystem(InputError):
    """A system matrix that holds a rigid motion or a mechanism free.

    Attributes
    ----------
    vector
        The motion that the matrix does not resist, shape (n,), largest component 1.
    pivot, ratio
        The dof of the smallest pivot, and that pivot relative to the diagonal.
    energy
        Of the motion, relative to the terms that it sums: below zero where the matrix is
        indefinite, rounding where it is singular.
    """

    vector: Any = None
    pivot: int = -1
    ratio: float = 0.0
    energy: float = 0.0


class MissingDependency(InputError):
    """An optional package, or a system library it needs, is not installed."""


class Stopped(FecontactError):
    """A run that ended before its time; what it had by then is kept.

    Attributes
    ----------
    best
        The best iterate reached (what it is depends on who raised).
    report
        The report of the solver that gave up, with its residual.
    nodes
        Numbers of the nodes where it happened, the worst first.
    worst
        Contacts that are farthest from their law, the worst first: the name of the contact, the
        node, and its share of the residual.
    """

    exit_code = 3

    def __init__(self, message: str, best: Any = None, report: Any = None) -> None:
        super().__init__(message)
        self.best = best
        self.report = report
        self.nodes: tuple[int, ...] = ()
        self.worst: tuple[tuple[str, int, float], ...] = ()

    def told(self, message: str) -> Stopped:
        """The same error with another message."""
        changed = copy(self)
        changed.args = (message,)
        return changed


class OutputFailed(Stopped):
    """Results that could not be written, as to a full disk."""


class NotConverged(Stopped):
    """An iteration that stopped short of its tolerance."""


class Tunnelling(NotConverged):
    """A candidate went through a body within a step that was too large to see it."""


class InvertedElement(NotConverged):
    """An element that turns inside out while a body moves.

    Attributes
    ----------
    element
        Its number.
    """

    def __init__(
        self, message: str, best: Any = None, report: Any = None, element: int = -1
    ) -> None:
        super().__init__(message, best, report)
        self.element = element


class Terminated(KeyboardInterrupt):
    """An interrupt by SIGTERM, as batch systems send it before they kill."""


def choices(given: str, known: Iterable[str], what: str = "choices") -> str:
    """End of a message: a did-you-mean, where one is near, and the list of what there is."""
    names = sorted(known)
    near = get_close_matches(given, names, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(names) if names else "none"
    return f"{hint}{what}: {listed}"


@contextmanager
def at(place: str) -> Iterator[None]:
    """Put the name of a place before the message of an input error that does not name it yet."""
    try:
        yield
    except InputError as error:
        if place in str(error):
            raise
        raise type(error)(f"{place}: {error}") from None
