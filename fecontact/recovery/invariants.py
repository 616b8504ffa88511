"""Scalars of symmetric tensors stored as (xx, yy, zz, xy).

Strains carry the engineering shear gamma_xy = 2 eps_xy; say kind="strain" for them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from fecontact.typing import FloatArray

Kind = Literal["stress", "strain"]


def _components(
    tensor: FloatArray, kind: Kind
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    xx, yy, zz, xy = np.moveaxis(np.asarray(tensor, dtype=np.float64), -1, 0)
    return xx, yy, zz, 0.5 * xy if kind == "strain" else xy


def principal_values(tensor: FloatArray, kind: Kind = "stress") -> FloatArray:
    """Principal values in three dimensions, the largest first.

    Parameters
    ----------
    tensor : (..., 4)

    Returns
    -------
    values : (..., 3)
    """
    xx, yy, zz, xy = _components(tensor, kind)
    centre = 0.5 * (xx + yy)
    radius = np.hypot(0.5 * (xx - yy), xy)
    return np.sort(np.stack([centre + radius, centre - radius, zz], axis=-1), axis=-1)[..., ::-1]


def principal_angle(tensor: FloatArray, kind: Kind = "stress") -> FloatArray:
    """Angle from x to the direction of the larger principal value in the plane, in radians.

    Parameters
    ----------
    tensor : (..., 4)

    Returns
    -------
    angle : (...), in (-pi/2, pi/2]
    """
    xx, yy, _, xy = _components(tensor, kind)
    return np.asarray(0.5 * np.arctan2(2.0 * xy, xx - yy))


def mean_value(tensor: FloatArray) -> FloatArray:
    """Third of the trace (...); for stresses minus the pressure.

    Parameters
    ----------
    tensor : (..., 4)
    """
    return np.asarray(np.asarray(tensor)[..., :3].sum(axis=-1) / 3.0)


def second_invariant(tensor: FloatArray, kind: Kind = "stress") -> FloatArray:
    """Second invariant of the deviator, J2 = dev : dev / 2.

    Parameters
    ----------
    tensor : (..., 4)

    Returns
    -------
    J2 : (...)
    """
    xx, yy, zz, xy = _components(tensor, kind)
    # differences rather than the deviator: no cancellation under a large pressure
    return ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) / 6.0 + xy**2


def von_mises(stress: FloatArray) -> FloatArray:
    """Von Mises equivalent stress sqrt(3 J2).

    Parameters
    ----------
    stress : (..., 4)

    Returns
    -------
    equivalent : (...)
    """
    return np.sqrt(3.0 * second_invariant(stress))
