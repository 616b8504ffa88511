"""Strain operator of one element: B and the integration weights at its points.

Nothing here knows a material. The kernels below are compiled into the loops of assembly and
recovery, so that stiffness, damping, internal forces and recovered strains share one definition.

The strain vector is (xx, yy, zz, xy) with the engineering shear gamma_xy; zz is the hoop strain
u_r / r in axisymmetry (x = r, y = axis of revolution).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from fecontact.elements.hypotheses import Hypothesis, QuadOption

DILATATION_OWN = 0
DILATATION_MEAN = 1
DILATATION_CENTRE = 2


class Kinematics(NamedTuple):
    """What the strain operator needs to know besides coordinates and shape functions.

    Attributes
    ----------
    axisymmetric
        Weights carry 2 pi r (full turn) and zz is the hoop strain.
    thickness
        Out-of-plane size, unused in axisymmetry.
    dilatation
        Where the volume change is taken: at the point, mean over the element, at its centre.
    directions
        Number of normal strains that share the volume change: 3, or 2 in plane stress where the
        thickness follows freely.
    """

    axisymmetric: bool
    thickness: float
    dilatation: int
    directions: int

    @property
    def is_plain(self) -> bool:
        """True where strains are plain gradients: no hoop strain, no shared volume change."""
        return not self.axisymmetric and self.dilatation == DILATATION_OWN

    @classmethod
    def of(
        cls, hypothesis: Hypothesis, thickness: float, quad: QuadOption, kind: str
    ) -> Kinematics:
        """Kinematics of the elements of one kind; triangles have one point and keep their own."""
        dilatation = DILATATION_OWN
        if kind == "quad":
            dilatation = {
                "full": DILATATION_OWN,
                "bbar": DILATATION_MEAN,
                "selective": DILATATION_CENTRE,
            }[quad]
        return cls(
            axisymmetric=hypothesis == "axisymmetric",
            thickness=float(thickness),
            dilatation=dilatation,
            directions=2 if hypothesis == "plane_stress" else 3,
        )


@njit(cache=True, inline="always")
def strain_operator(
    size: Any, points: Any, x: Any, N: Any, dN: Any, weights: Any, kinematics: Any, B: Any, w: Any
) -> None:
    """Fill B and w of one element.

    Parameters
    ----------
    size, points : tuples
        Their lengths are the numbers of nodes and of points: as tuple lengths they are known to the
        compiler, which unrolls the loops.
    x : (nn, 2)
        Coordinates of the nodes.
    N, dN, weights : (np, nn), (np, nn, 2), (np,)
        Shape functions, reference derivatives and reference weights at the points.
    B : (np, 4, 2 nn)
        Output, strain = B @ u.
    w : (np,)
        Output, volume that each point stands for.
    """
    nn = len(size)
    n_points = len(points)
    for p in range(n_points):
        j00 = 0.0
        j01 = 0.0
        j10 = 0.0
        j11 = 0.0
        radius = 0.0
        for a in range(nn):
            j00 += dN[p, a, 0] * x[a, 0]
            j01 += dN[p, a, 0] * x[a, 1]
            j10 += dN[p, a, 1] * x[a, 0]
            j11 += dN[p, a, 1] * x[a, 1]
            radius += N[p, a] * x[a, 0]
        det = j00 * j11 - j01 * j10
        inverse = 1.0 / det
        hoop = 0.0
        if kinematics.axisymmetric:
            w[p] = weights[p] * det * 2.0 * np.pi * radius
            hoop = 1.0 / radius
        else:
            w[p] = weights[p] * det * kinematics.thickness
        for a in range(nn):
            bx = (j11 * dN[p, a, 0] - j01 * dN[p, a, 1]) * inverse
            by = (j00 * dN[p, a, 1] - j10 * dN[p, a, 0]) * inverse
            B[p, 0, 2 * a] = bx
            B[p, 0, 2 * a + 1] = 0.0
            B[p, 1, 2 * a] = 0.0
            B[p, 1, 2 * a + 1] = by
            B[p, 2, 2 * a] = N[p, a] * hoop
            B[p, 2, 2 * a + 1] = 0.0
            B[p, 3, 2 * a] = by
            B[p, 3, 2 * a + 1] = bx
    if kinematics.dilatation != DILATATION_OWN:
        _share_dilatation(size, points, x, N, dN, kinematics, B, w)


@njit(cache=True)
def _share_dilatation(
    size: Any, points: Any, x: Any, N: Any, dN: Any, kinematics: Any, B: Any, w: Any
) -> None:
    """Replace the volume change at the points by one value for the element (B-bar)."""
    nn = len(size)
    n_points = len(points)
    volume = 0.0
    for p in range(n_points):
        volume += w[p]
    j00 = 0.0
    j01 = 0.0
    j10 = 0.0
    j11 = 0.0
    # the points are symmetric about the centre, so means over them are the values at the centre
    for p in range(n_points):
        for a in range(nn):
            j00 += dN[p, a, 0] * x[a, 0] / n_points
            j01 += dN[p, a, 0] * x[a, 1] / n_points
            j10 += dN[p, a, 1] * x[a, 0] / n_points
            j11 += dN[p, a, 1] * x[a, 1] / n_points
    inverse = 1.0 / (j00 * j11 - j01 * j10)
    for a in range(nn):
        for k in range(2):
            c = 2 * a + k
            common = 0.0
            if kinematics.dilatation == DILATATION_MEAN:
                for p in range(n_points):
                    common += w[p] * (B[p, 0, c] + B[p, 1, c] + B[p, 2, c])
                common /= volume
            else:
                d0 = 0.0
                d1 = 0.0
                for p in range(n_points):
                    d0 += dN[p, a, 0] / n_points
                    d1 += dN[p, a, 1] / n_points
                if k == 0:
                    common = (j11 * d0 - j01 * d1) * inverse
                else:
                    common = (j00 * d1 - j10 * d0) * inverse
            for p in range(n_points):
                change = (common - B[p, 0, c] - B[p, 1, c] - B[p, 2, c]) / kinematics.directions
                B[p, 0, c] += change
                B[p, 1, c] += change
                if kinematics.directions == 3:
                    B[p, 2, c] += change
