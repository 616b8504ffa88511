"""Maxwell and generalised Maxwell (Prony) viscoelasticity.

Volume changes are elastic. The deviator is three-dimensional, so that in plane strain σ_zz is a
state variable; it is carried by branches, each a spring G_b in series with a dashpot η_b,

    s* = 2 G dev D - s / τ,    τ = η / G,

where * is an objective rate. A branch without a dashpot (τ infinite) is elastic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from fecontact.elements import Hypothesis
from fecontact.errors import ExpressionError, MaterialError, choices
from fecontact.expressions import Field, Value, as_field
from fecontact.materials.base import Material
from fecontact.materials.isotropic import IsotropicElastic
from fecontact.typing import FloatArray

ObjectiveRate = Literal["green_naghdi", "jaumann"]
OBJECTIVE_RATES: tuple[ObjectiveRate, ...] = get_args(ObjectiveRate)


@dataclass(frozen=True)
class Viscoelastic(IsotropicElastic):
    """Base of the isotropic materials whose shear stress relaxes."""

    @property
    def relaxes(self) -> bool:
        return True

    def unconstrained_elasticity(self) -> FloatArray:
        """Elasticity of a sudden strain, before anything has relaxed, (4, 4)."""
        return super().unconstrained_elasticity()

    def elasticity(self, hypothesis: Hypothesis) -> FloatArray:
        if hypothesis == "plane_stress":
            raise MaterialError(
                f"{type(self).__name__}: not available in plane stress, where the thickness would "
                "relax with a history of its own; choose plane_strain or axisymmetric"
            )
        return super().elasticity(hypothesis)


@dataclass(frozen=True)
class Maxwell(Viscoelastic):
    """A Maxwell body: elastic at once, a viscous fluid at length.

    Parameters
    ----------
    E, nu
        Young's modulus and Poisson's ratio of a sudden strain.
    eta
        Shear viscosity η, positive: a number, or an expression of x and y taken where a material
        point is at the start. The relaxation time is τ = η / G.
    rate
        Objective rate of the stress: ``"green_naghdi"`` or ``"jaumann"``.
    density, damping
        See `Material`.

    Examples
    --------
    >>> crust = Maxwell(1e10, 0.25, eta=1e21)
    >>> crust.relaxation_time
    250000000000.0
    """

    eta: Value = 0.0
    rate: ObjectiveRate = "green_naghdi"

    def check(self) -> None:
        super().check()
        check_rate(self.rate, type(self).__name__)
        field = viscosity_field(self.eta, "Maxwell: viscosity eta")
        if not field.varies_in_space:
            check_viscosity(field(np.zeros((1, 2)), 0.0), np.zeros((1, 2)), self.eta)

    @property
    def relaxation_time(self) -> float:
        """τ = η / G of a uniform viscosity."""
        if not isinstance(self.eta, (int, float)):
            raise MaterialError(
                f"Maxwell: viscosity eta = {self.eta!r} varies, so there is no single time"
            )
        return float(self.eta) / self.shear_modulus


@dataclass(frozen=True)
class Branch:
    """A branch of the generalised Maxwell body: its part of G and its relaxation time."""

    fraction: float
    time: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.fraction) and 0.0 < self.fraction <= 1.0):
            raise MaterialError(
                f"Branch: fraction = {self.fraction!r}, expected a number > 0 and <= 1"
            )
        if not (np.isfinite(self.time) and self.time > 0.0):
            raise MaterialError(f"Branch: time = {self.time!r}, expected a number > 0")


@dataclass(frozen=True)
class GeneralisedMaxwell(Viscoelastic):
    """A Prony series: G(t) = G (1 - Σ g_b + Σ g_b exp(-t / τ_b)).

    Parameters
    ----------
    E, nu
        Constants of a sudden strain.
    branches
        `Branch` objects; their fractions sum to at most 1, and what is left stays elastic.
    rate
        Objective rate, as of `Maxwell`.
    density, damping
        See `Material`.
    """

    branches: Sequence[Branch] = ()
    rate: ObjectiveRate = "green_naghdi"

    def check(self) -> None:
        super().check()
        check_rate(self.rate, type(self).__name__)
        object.__setattr__(self, "branches", tuple(self.branches))
        if not self.branches:
            raise MaterialError("GeneralisedMaxwell: branches is empty, expected at least one")
        total = sum(b.fraction for b in self.branches)
        if total > 1.0 + 1e-12:
            raise MaterialError(
                f"GeneralisedMaxwell: the fractions of the branches sum to {total:g}, expected at "
                "most 1"
            )


def check_rate(rate: str, owner: str) -> None:
    """Raise `MaterialError` unless the objective rate is known."""
    if rate not in OBJECTIVE_RATES:
        raise MaterialError(
            f"{owner}: rate = {rate!r} is not known; {choices(str(rate), OBJECTIVE_RATES)}"
        )


def viscosity_field(viscosity: Value, where: str) -> Field:
    """The viscosity as a function of position; time is refused."""
    try:
        field = as_field(viscosity, where)
    except ExpressionError as error:
        raise MaterialError(str(error)) from None
    if field.varies_in_time:
        raise MaterialError(
            f"{where} = {viscosity!r} depends on t; give a number or an expression of x and y"
        )
    return field


def check_viscosity(values: FloatArray, points: FloatArray, given: Value) -> None:
    """Raise `MaterialError` where a viscosity is not positive."""
    wrong = ~(values > 0.0)
    if wrong.any():
        i = int(np.argmax(wrong))
        place = f" at x = {points[i, 0]:g}, y = {points[i, 1]:g}" if isinstance(given, str) else ""
        raise MaterialError(f"Maxwell: viscosity eta = {values[i]:g}{place}, expected a number > 0")


@dataclass(frozen=True, eq=False)
class Rheology:
    """Constants of isotropic viscoelasticity at points.

    Attributes
    ----------
    bulk : (n,)
        Bulk moduli.
    shear : (n, nb)
        Shear moduli of the branches; 0 where a point has fewer of them than others.
    time : (n, nb)
        Relaxation times, infinite for elastic branches.
    jaumann : (n,) bool
        Where Jaumann's rate is meant instead of Green and Naghdi's.
    """

    bulk: FloatArray
    shear: FloatArray
    time: FloatArray
    jaumann: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def n_points(self) -> int:
        return len(self.bulk)

    @property
    def n_branches(self) -> int:
        return int(self.shear.shape[1])

    @classmethod
    def of(cls, material: Material, points: FloatArray) -> Rheology:
        """Constants of a material at points (n, 2)."""
        if not isinstance(material, IsotropicElastic):
            raise MaterialError(
                f"{type(material).__name__} has no law for finite rotations; expected "
                "IsotropicElastic, Maxwell or GeneralisedMaxwell"
            )
        n = len(points)
        G = material.shear_modulus
        if isinstance(material, Maxwell):
            field = viscosity_field(material.eta, "Maxwell: viscosity eta")
            viscosity = field(points, 0.0)
            check_viscosity(viscosity, points, material.eta)
            shear, time = np.full((n, 1), G), viscosity[:, None] / G
        elif isinstance(material, GeneralisedMaxwell):
            fractions = [b.fraction for b in material.branches]
            rest = max(0.0, 1.0 - sum(fractions))
            shear = np.tile(G * np.array([*fractions, rest]), (n, 1))
            time = np.tile([*(b.time for b in material.branches), np.inf], (n, 1))
        else:
            shear, time = np.full((n, 1), G), np.full((n, 1), np.inf)
        rate = getattr(material, "rate", "green_naghdi")
        return cls(np.full(n, material.bulk_modulus), shear, time, np.full(n, rate == "jaumann"))

    @classmethod
    def gather(cls, n_points: int, parts: Sequence[tuple[np.ndarray, Rheology]]) -> Rheology:
        """One set of constants from those of regions, each with its point numbers."""
        n_branches = max(part.n_branches for _, part in parts)
        whole = cls(
            np.zeros(n_points),
            np.zeros((n_points, n_branches)),
            np.full((n_points, n_branches), np.inf),
            np.zeros(n_points, dtype=np.bool_),
        )
        for numbers, part in parts:
            whole.bulk[numbers] = part.bulk
            whole.shear[numbers, : part.n_branches] = part.shear
            whole.time[numbers, : part.n_branches] = part.time
            whole.jaumann[numbers] = part.jaumann
        return whole

    def __repr__(self) -> str:
        return f"<Rheology of {self.n_points} points with {self.n_branches} branch(es)>"
