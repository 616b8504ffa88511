"""Orthotropic linear elasticity with axes turned in the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fecontact.errors import MaterialError
from fecontact.materials.base import Material
from fecontact.materials.ranges import check_range
from fecontact.typing import FloatArray


@dataclass(frozen=True)
class OrthotropicElastic(Material):
    """Three orthogonal axes of elasticity: 1 and 2 in the plane, 3 out of it (or hoop).

    nu_ij is the contraction along j for a traction along i: compliance S_ij = -nu_ij / E_i. The
    matrix is symmetric by construction (nu_ji = nu_ij E_j / E_i) and must be positive definite.

    Parameters
    ----------
    E1, E2, E3
        Young's moduli.
    nu12, nu13, nu23
        Poisson's ratios.
    G12
        Shear modulus in the plane.
    angle
        From the x axis to axis 1, in degrees, counter-clockwise.
    density, damping
        See `Material`.
    """

    E1: float
    E2: float
    E3: float
    nu12: float
    nu13: float
    nu23: float
    G12: float
    angle: float = 0.0

    def check(self) -> None:
        for name in ("E1", "E2", "E3", "G12"):
            check_range(self, name, above=0.0)
        for name in ("nu12", "nu13", "nu23", "angle"):
            check_range(self, name)
        S = self._compliance()
        # scaled to a unit diagonal, so that unequal moduli do not hide the loss of definiteness
        scale = np.sqrt(np.diag(S))
        lowest = np.linalg.eigvalsh(S / np.outer(scale, scale))[0]
        if lowest <= 1e-12:
            raise MaterialError(
                f"OrthotropicElastic: nu12 = {self.nu12:g}, nu13 = {self.nu13:g}, nu23 = "
                f"{self.nu23:g} with E1 = {self.E1:g}, E2 = {self.E2:g}, E3 = {self.E3:g} make the "
                f"compliance not positive definite (lowest scaled eigenvalue {lowest:.3g}); "
                "expected nu_ij^2 < E_i / E_j for each pair, and smaller ratios together"
            )

    def _compliance(self) -> FloatArray:
        """Compliance on (11, 22, 33, 12) in the material's axes, (4, 4)."""
        S = np.diag([1.0 / self.E1, 1.0 / self.E2, 1.0 / self.E3, 1.0 / self.G12])
        S[0, 1] = S[1, 0] = -self.nu12 / self.E1
        S[0, 2] = S[2, 0] = -self.nu13 / self.E1
        S[1, 2] = S[2, 1] = -self.nu23 / self.E2
        return S

    def unconstrained_elasticity(self) -> FloatArray:
        c, s = np.cos(np.radians(self.angle)), np.sin(np.radians(self.angle))
        # strain in the material's axes = T strain in x, y
        T = np.array(
            [
                [c * c, s * s, 0.0, c * s],
                [s * s, c * c, 0.0, -c * s],
                [0.0, 0.0, 1.0, 0.0],
                [-2.0 * c * s, 2.0 * c * s, 0.0, c * c - s * s],
            ]
        )
        D: FloatArray = T.T @ np.linalg.inv(self._compliance()) @ T
        return 0.5 * (D + D.T)
