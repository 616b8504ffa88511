"""Arrays as text for the page: quantised or split into byte planes, compressed, base64.

Neighbouring nodes have neighbouring numbers and values, so differences along the numbering compress
several times better than the values. `assets/data.js` undoes each of these.
"""

from __future__ import annotations

import base64
import gzip

import numpy as np
from numpy.typing import NDArray

from fecontact.typing import FloatArray, IntArray

LEVELS = 65535


def packed(data: bytes) -> str:
    """Compressed, as base64 text; the same bytes always give the same text."""
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")


def planes(values: NDArray[np.generic]) -> bytes:
    """Bytes of the values, all the lowest ones first, then the next."""
    width = values.dtype.itemsize
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(-1, width).T.tobytes()


def integers(values: IntArray) -> bytes:
    """Differences of consecutive integers, 4 bytes each."""
    flat = values.ravel().astype(np.int32)
    return planes(np.diff(flat, prepend=np.int32(0)))


def floats(values: FloatArray) -> bytes:
    """Single precision."""
    return planes(values.ravel().astype(np.float32))


def quantised(values: FloatArray) -> tuple[bytes, tuple[float, float]]:
    """Values on 65536 levels between their extremes, 2 bytes each, and those extremes."""
    clean = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    if len(clean) == 0:
        return b"", (0.0, 0.0)
    low, high = float(clean.min()), float(clean.max())
    scale = LEVELS / (high - low) if high > low else 0.0
    levels = np.rint((clean - low) * scale).astype(np.uint16)
    return planes(np.diff(levels, prepend=np.uint16(0))), (low, high)
