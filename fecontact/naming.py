"""Names that users choose: what they may hold, and how they become parts of file names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

LONGEST = 120
"""Bytes of a name that go into the name of a file."""


def controls(name: str) -> str:
    """Characters of a name that are not text, such as a line end: XML and HDF5 cannot hold them."""
    return "".join(
        c for c in name if unicodedata.category(c) in ("Cc", "Cs") or c in "\ufffe\uffff"
    )


def file_parts(names: Iterable[str]) -> dict[str, str]:
    """Parts of file names by name, no two the same even where small letters are like capitals.

    Anything unusual becomes an underscore, what is too long is cut, and what then is the name of
    another gets a number.
    """
    parts: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        usual = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
        part = start = usual.encode()[:LONGEST].decode(errors="ignore")
        number = 1
        while part.casefold() in taken:
            number += 1
            part = f"{start}_{number}"
        taken.add(part.casefold())
        parts[name] = part
    return parts
