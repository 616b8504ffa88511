"""How messages list numbers of nodes and elements."""

from __future__ import annotations

from collections.abc import Sequence

from fecontact.typing import IntArray

SHOWN = 8


def some(numbers: Sequence[int] | IntArray, unit: str) -> str:
    """Count and first few numbers: `node 4`, `3 nodes (1, 5, 8)`, `90 nodes (1, 2, ...)`."""
    if len(numbers) == 1:
        return f"{unit} {numbers[0]}"
    shown = ", ".join(str(number) for number in numbers[:SHOWN])
    more = ", ..." if len(numbers) > SHOWN else ""
    return f"{len(numbers)} {unit}s ({shown}{more})"
