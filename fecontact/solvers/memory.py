"""Memory: what a factorisation would take, and what the machine has left."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from fecontact.typing import FloatArray, IntArray

# part of the memory available that factors may take: the rest is for W, vectors and others
SHARE = 0.8
_FILE_PAGES = ("inactive_file", "active_file")


@dataclass(frozen=True, eq=False)
class Estimate:
    """Bytes of the factors at their peak and of the inverse on the trailing dofs.

    `available` is what the machine has left, infinite where it does not tell; `symbolic` is the
    analysis that the estimate comes from, which `factorise` takes back.
    """

    factors: int
    trailing: int
    available: float
    symbolic: Any

    @property
    def fits(self) -> bool:
        """Whether factors and inverse fit into the memory available."""
        return self.factors + self.trailing <= SHARE * self.available

    def __str__(self) -> str:
        left = "unknown" if self.available == float("inf") else _size(self.available)
        return (
            f"factors {_size(self.factors)}, inverse on the contact dofs {_size(self.trailing)}, "
            f"available {left}"
        )


def _size(count: float) -> str:
    """Bytes as people read them."""
    return f"{count / 2**30:.2f} GiB" if count >= 2**29 else f"{count / 2**20:.1f} MiB"


def estimate_memory(
    A: sparse.csr_array,
    *,
    trailing: IntArray | None = None,
    coordinates: FloatArray | None = None,
) -> Estimate:
    """Memory of the multifrontal factorisation of A, from its pattern alone.

    Parameters
    ----------
    A
        Matrix of shape (n, n) with a symmetric pattern and a full diagonal.
    trailing, coordinates
        As for `fecontact.solvers.linear.factorise`.
    """
    from fecontact.solvers.fronts import analyse

    last = np.empty(0, dtype=np.int64) if trailing is None else trailing
    symbolic = analyse(A, last, coordinates)
    # dpotri works on a copy of the root, and W on a product with the inverse
    return Estimate(symbolic.memory, 3 * 8 * last.size**2, available_memory(), symbolic)


def available_memory() -> float:
    """Bytes that can be taken without swapping; infinite where the system does not tell."""
    return min(_of_the_machine(), _of_the_container())


def _of_the_machine() -> float:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * float(line.split()[1])
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _of_the_container(group: Path = Path("/sys/fs/cgroup")) -> float:
    try:
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        used = float((group / "memory.current").read_text(encoding="ascii"))
        rows = (group / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("inf")
    if limit == "max":
        return float("inf")
    # pages of files are counted as used, and given up as soon as memory is asked for
    files = sum(float(row.split()[1]) for row in rows if row.split()[0] in _FILE_PAGES)
    return float(limit) - max(used - files, 0.0)
