"""Separated, sliding or sticking: what each candidate does at the end of a step."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fecontact.typing import FloatArray


class Status(IntEnum):
    """State of a candidate."""

    SEPARATED = 0
    SLIDING = 1
    STICKING = 2

    @property
    def label(self) -> str:
        return self.name.lower()


def classify(reactions: FloatArray, bound: FloatArray, tolerance: float = 1e-7) -> NDArray[np.int8]:
    """Status (nc,) from local reactions (nc, dim) and the bounds of friction (nc,), inf for glued.

    Glued candidates stick. One whose normal reaction is below `tolerance` of the largest is
    separated; one whose tangential reaction is on its bound, up to the same part of it, slides; the
    others stick.
    """
    status = np.full(len(reactions), Status.SEPARATED, dtype=np.int8)
    if len(reactions) == 0:
        return status
    normal = reactions[:, 0]
    tangential = np.linalg.norm(reactions[:, 1:], axis=1)
    largest = float(np.abs(reactions).max())
    touching = normal > tolerance * largest
    on_cone = tangential >= bound * (1.0 - tolerance) - tolerance**2 * largest
    status[touching] = np.where(on_cone[touching], Status.SLIDING, Status.STICKING)
    status[np.isinf(bound)] = Status.STICKING
    return status
