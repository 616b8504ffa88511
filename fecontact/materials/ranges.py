"""Ranges of material constants."""

from __future__ import annotations

import numpy as np

from fecontact.errors import MaterialError


def check_range(
    owner: object,
    name: str,
    *,
    lowest: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> None:
    """Raise `MaterialError` unless attribute `name` is a finite number within the bounds."""
    value = getattr(owner, name)
    bounds = []
    if lowest is not None:
        bounds.append(f">= {lowest:g}")
    if above is not None:
        bounds.append(f"> {above:g}")
    if below is not None:
        bounds.append(f"< {below:g}")
    expected = "a finite number " + " and ".join(bounds)
    is_number = isinstance(value, (int, float, np.floating, np.integer))
    if (
        not is_number
        or isinstance(value, bool)
        or not np.isfinite(value)
        or (lowest is not None and value < lowest)
        or (above is not None and value <= above)
        or (below is not None and value >= below)
    ):
        shown = f"{value:g}" if is_number and not isinstance(value, bool) else repr(value)
        raise MaterialError(f"{type(owner).__name__}: {name} = {shown}, expected {expected}")
