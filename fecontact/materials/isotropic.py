"""Isotropic linear elasticity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fecontact.materials.base import Material
from fecontact.materials.ranges import check_range
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class IsotropicElastic(Material):
    """Hooke's law with Young's modulus E and Poisson's ratio nu.

    Parameters
    ----------
    E
        Young's modulus, positive.
    nu
        Poisson's ratio, -1 < nu < 1/2.
    density, damping
        See `Material`.

    Examples
    --------
    >>> steel = IsotropicElastic(2.1e11, 0.3, density=7800.0)
    >>> round(steel.shear_modulus / 1e9, 2)
    80.77
    """

    E: float
    nu: float

    def check(self) -> None:
        check_range(self, "E", above=0.0)
        check_range(self, "nu", above=-1.0, below=0.5)

    @property
    def shear_modulus(self) -> float:
        """G = E / (2 (1 + nu))."""
        return self.E / (2.0 * (1.0 + self.nu))

    @property
    def bulk_modulus(self) -> float:
        """E / (3 (1 - 2 nu))."""
        return self.E / (3.0 * (1.0 - 2.0 * self.nu))

    @property
    def lame_lambda(self) -> float:
        """First Lamé constant E nu / ((1 + nu)(1 - 2 nu))."""
        return self.E * self.nu / ((1.0 + self.nu) * (1.0 - 2.0 * self.nu))

    def unconstrained_elasticity(self) -> FloatArray:
        D = np.zeros((4, 4))
        D[:3, :3] = self.lame_lambda
        D[range(3), range(3)] += 2.0 * self.shear_modulus
        D[3, 3] = self.shear_modulus
        return D
