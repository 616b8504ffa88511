"""Numbers with units in text: ``"10 km"``, ``"1e6 year"``, ``"1e23 Pa s"``.

A quantity is a number followed by a product of units; spaces, ``*`` and ``·`` multiply, ``/``
divides by the next unit, ``^`` or a plain digit is a power: ``"9.81 m/s^2"``, ``"2700 kg/m3"``.
It is converted to metres, kilograms, seconds and degrees. A year has 365.25 days.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fecontact.errors import InputError, choices

Dimension = tuple[int, int, int, int]
"""Powers of metre, kilogram, second and degree."""

_NONE: Dimension = (0, 0, 0, 0)
_LENGTH: Dimension = (1, 0, 0, 0)
_MASS: Dimension = (0, 1, 0, 0)
_TIME: Dimension = (0, 0, 1, 0)
_ANGLE: Dimension = (0, 0, 0, 1)
_FORCE: Dimension = (1, 1, -2, 0)
_PRESSURE: Dimension = (-1, 1, -2, 0)
_ENERGY: Dimension = (2, 1, -2, 0)
_RATE: Dimension = (0, 0, -1, 0)

_DAY = 86400.0
_YEAR = 365.25 * _DAY
_UNITS: dict[str, tuple[float, Dimension]] = {
    "m": (1.0, _LENGTH),
    "in": (0.0254, _LENGTH),
    "ft": (0.3048, _LENGTH),
    "kg": (1.0, _MASS),
    "t": (1e3, _MASS),
    "s": (1.0, _TIME),
    "sec": (1.0, _TIME),
    "min": (60.0, _TIME),
    "h": (3600.0, _TIME),
    "hour": (3600.0, _TIME),
    "hours": (3600.0, _TIME),
    "d": (_DAY, _TIME),
    "day": (_DAY, _TIME),
    "days": (_DAY, _TIME),
    "yr": (_YEAR, _TIME),
    "year": (_YEAR, _TIME),
    "years": (_YEAR, _TIME),
    "ka": (1e3 * _YEAR, _TIME),
    "kyr": (1e3 * _YEAR, _TIME),
    "Ma": (1e6 * _YEAR, _TIME),
    "Myr": (1e6 * _YEAR, _TIME),
    "Ga": (1e9 * _YEAR, _TIME),
    "Gyr": (1e9 * _YEAR, _TIME),
    "deg": (1.0, _ANGLE),
    "degree": (1.0, _ANGLE),
    "degrees": (1.0, _ANGLE),
    "°": (1.0, _ANGLE),
    "rad": (180.0 / math.pi, _ANGLE),
    "N": (1.0, _FORCE),
    "Pa": (1.0, _PRESSURE),
    "bar": (1e5, _PRESSURE),
    "J": (1.0, _ENERGY),
    "Hz": (1.0, _RATE),
    "%": (1e-2, _NONE),
    "g": (1e-3, _MASS),
}
_PREFIXED = ("m", "s", "g", "N", "Pa", "J", "Hz", "bar")
_PREFIXES = {
    "n": 1e-9,
    "µ": 1e-6,
    "u": 1e-6,
    "m": 1e-3,
    "c": 1e-2,
    "d": 1e-1,
    "h": 1e2,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
}
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"^\s*((?>{_NUMBER}))\s*([A-Za-zµ°%].*|(?<=\s)1\s*/.*)$")
_FACTOR = re.compile(r"\s*([*·/]?)\s*(?:([A-Za-zµ°%]+)(?:(?:\^|\*\*)?\s*\(?([+-]?\d+)\)?)?|(1)\b)")


@dataclass(frozen=True)
class Quantity:
    """A number in base units, with the powers of the base units and the text it came from."""

    text: str
    value: float
    dimension: Dimension

    @property
    def unit(self) -> str:
        """Name of the base unit."""
        return unit_name(self.dimension)

    def __str__(self) -> str:
        return f"{self.text} = {self.value:.10g} {self.unit}".rstrip()


def looks_like_quantity(text: str) -> bool:
    """Whether a text is a number followed by a name, which no expression is."""
    return _QUANTITY.match(text) is not None


def parse(text: str) -> Quantity:
    """Read a quantity.

    Examples
    --------
    >>> parse("10 km").value
    10000.0
    >>> parse("3.3e-11 m/s").dimension
    (1, 0, -1, 0)

    Raises
    ------
    InputError
        The text is no quantity, or a unit is not known.
    """
    found = _QUANTITY.match(text)
    if found is None:
        raise InputError(f"{text!r} is no number with a unit, such as '10 km' or '1e6 year'")
    factor, dimension = unit(found.group(2))
    return Quantity(text.strip(), float(found.group(1)) * factor, dimension)


def unit(text: str) -> tuple[float, Dimension]:
    """Factor to base units and dimension of a product of units."""
    factor, powers, at = 1.0, [0, 0, 0, 0], 0
    stripped = text.strip()
    while at < len(stripped):
        found = _FACTOR.match(stripped, at)
        if found is None or found.end() == at:
            raise InputError(f"unit {stripped!r}: {stripped[at:]!r} cannot be read")
        sign, name, power, one = found.groups()
        at = found.end()
        if one:
            continue
        size, own = _named(name)
        exponent = int(power or 1) * (-1 if sign == "/" else 1)
        factor *= size**exponent
        powers = [p + exponent * q for p, q in zip(powers, own, strict=True)]
    return factor, (powers[0], powers[1], powers[2], powers[3])


def _named(name: str) -> tuple[float, Dimension]:
    if name in _UNITS:
        return _UNITS[name]
    for prefix, size in _PREFIXES.items():
        rest = name.removeprefix(prefix)
        if rest != name and rest in _PREFIXED:
            factor, dimension = _UNITS[rest]
            return size * factor, dimension
    known = [*_UNITS, "km", "cm", "mm", "kPa", "MPa", "GPa", "kN", "MN"]
    raise InputError(f"unit {name!r} is not known; {choices(name, known, 'known')}")


def unit_name(dimension: Dimension) -> str:
    """Name of a base unit; ``"-"`` is none."""
    for name, known in (("Pa s", (-1, 1, -1, 0)), ("Pa", _PRESSURE), ("N", _FORCE)):
        if dimension == known:
            return name
    parts = []
    for name, power in zip(("kg", "m", "s", "deg"), _reordered(dimension), strict=True):
        if power:
            parts.append(name if power == 1 else f"{name}^{power}")
    return " ".join(parts) or "-"


def _reordered(dimension: Dimension) -> Dimension:
    return dimension[1], dimension[0], dimension[2], dimension[3]


def convert(value: Any, expected: str) -> Any:
    """The number of a text with units; everything else comes back as it is.

    Parameters
    ----------
    value
        Whatever a case file gives.
    expected
        The unit of the number, such as ``"m"`` or ``"Pa s"``.
    """
    if not isinstance(value, str) or not looks_like_quantity(value):
        return value
    quantity = parse(value)
    size, dimension = unit(expected) if expected else (1.0, _NONE)
    if quantity.dimension != dimension:
        wanted = f"a unit such as {expected!r}" if expected else "a plain number"
        raise InputError(f"{value!r} has the dimension of {quantity.unit!r}; expected {wanted}")
    return quantity.value / size


def convert_any(value: Any) -> Any:
    """The number of a text with units of any dimension; everything else as it is."""
    if isinstance(value, str) and looks_like_quantity(value):
        return parse(value).value
    return value


_WORDS = ("title", "description", "reference")


def quantities(data: Mapping[str, Any]) -> dict[str, Quantity]:
    """All quantities of the tables of a case, by their keys."""
    return dict(_quantities(data, ""))


def _quantities(data: Any, place: str) -> Iterator[tuple[str, Quantity]]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if place or key not in _WORDS:
                yield from _quantities(value, f"{place}.{key}" if place else str(key))
    elif isinstance(data, list | tuple):
        for number, value in enumerate(data):
            yield from _quantities(value, f"{place}[{number}]")
    elif isinstance(data, str) and looks_like_quantity(data):
        try:
            yield place, parse(data)
        except InputError:
            return
