"""What every material gives to a body: density, elasticity, damping.

A linear material is a 4 x 4 matrix on (xx, yy, zz, xy). Laws with a history have their place beside
it: they take the strain increments of the points of one region, the state at the start of the step
and the step, and return new stresses, tangents and a new state, without changing the old one
(`PointLaw`); assembly takes such stresses and tangents per integration point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fecontact.elements import Hypothesis
from fecontact.errors import MaterialError
from fecontact.materials.ranges import check_range
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class Damping:
    """Viscous damping of a material: C_e = rayleigh_mass M_e + ∫ Bᵀ D_v B.

    With the elasticity D, I_dev the deviatoric projection and m = (1, 1, 1, 0),

        D_v = (rayleigh_stiffness + kelvin_voigt) D + eta_bulk m mᵀ + 2 eta_shear I_dev.

    Parameters
    ----------
    kelvin_voigt
        Retardation time (s): the viscous stress is this time multiplied by D ε'.
    rayleigh_mass, rayleigh_stiffness
        Rayleigh's α (1/s) and β (s). β and `kelvin_voigt` do the same and add up.
    eta_shear, eta_bulk
        Kelvin-Voigt viscosities (Pa s) for shape and for volume, given apart.
    """

    kelvin_voigt: float = 0.0
    rayleigh_mass: float = 0.0
    rayleigh_stiffness: float = 0.0
    eta_shear: float = 0.0
    eta_bulk: float = 0.0

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            check_range(self, name, lowest=0.0)

    @property
    def is_zero(self) -> bool:
        """True where the material is not damped at all."""
        return not any(getattr(self, name) for name in self.__dataclass_fields__)


@dataclass(frozen=True, kw_only=True)
class Material(ABC):
    """Base of the materials.

    Parameters
    ----------
    density
        Mass per volume.
    damping
        Viscous damping, none by default.
    """

    density: float = 0.0
    damping: Damping = Damping()

    def __post_init__(self) -> None:
        check_range(self, "density", lowest=0.0)
        if not isinstance(self.damping, Damping):
            raise MaterialError(
                f"{type(self).__name__}: damping = {self.damping!r} is not a Damping"
            )
        self.check()

    @property
    def relaxes(self) -> bool:
        """Whether stresses depend on the history of strains, which linear schemes do not keep."""
        return False

    @abstractmethod
    def check(self) -> None:
        """Raise `MaterialError` where a constant is outside its range."""

    @abstractmethod
    def unconstrained_elasticity(self) -> FloatArray:
        """Elasticity on (xx, yy, zz, xy) with the out-of-plane strain free to be given, (4, 4)."""

    def elasticity(self, hypothesis: Hypothesis) -> FloatArray:
        """D such that stress = D strain on (xx, yy, zz, xy).

        In plane stress the zz row and column are condensed and vanish.

        Returns
        -------
        D : (4, 4)
        """
        D = self.unconstrained_elasticity()
        if hypothesis == "plane_stress":
            D = D - np.outer(D[:, 2], D[2, :]) / D[2, 2]
            D[2, :] = 0.0
            D[:, 2] = 0.0
        return D

    def viscosity(self, hypothesis: Hypothesis) -> FloatArray:
        """D_v such that viscous stress = D_v strain rate; see `Damping`.

        Returns
        -------
        D_v : (4, 4)
        """
        damping = self.damping
        D = (damping.rayleigh_stiffness + damping.kelvin_voigt) * self.elasticity(hypothesis)
        if damping.eta_shear == 0.0 and damping.eta_bulk == 0.0:
            return D
        if hypothesis == "plane_stress":
            raise MaterialError(
                f"{type(self).__name__}: eta_shear = {damping.eta_shear:g} and eta_bulk = "
                f"{damping.eta_bulk:g} cannot be used in plane stress, where the thickness would "
                "follow with a delay of its own; give kelvin_voigt (a time) instead"
            )
        m = np.array([1.0, 1.0, 1.0, 0.0])
        deviatoric = np.diag([1.0, 1.0, 1.0, 0.5]) - np.outer(m, m) / 3.0
        return D + damping.eta_bulk * np.outer(m, m) + 2.0 * damping.eta_shear * deviatoric

    def thickness_strain(self) -> FloatArray:
        """Row c of plane stress: eps_zz = c @ strain, from sigma_zz = 0.

        Returns
        -------
        c : (4,)
            Its zz entry is zero.
        """
        D = self.unconstrained_elasticity()
        c: FloatArray = -D[2] / D[2, 2]
        c[2] = 0.0
        return c


class PointLaw(Protocol):
    """A material with a history, evaluated at the points of a region."""

    def initial_state(self, n_points: int) -> Any:
        """State of n_points virgin points."""

    def update(
        self, increment: FloatArray, state: Any, h: float
    ) -> tuple[FloatArray, FloatArray, Any]:
        """Stress (n, 4), consistent tangent (n, 4, 4) and new state after increments (n, 4)."""
