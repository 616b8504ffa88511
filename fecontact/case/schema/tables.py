"""Tables of a case file, and the values in them: numbers, expressions, units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fecontact.errors import ExpressionError, InputError, choices
from fecontact.expressions import as_field
from fecontact.units import convert, convert_any


class Spec(BaseModel):
    """A table of the case file; unknown keys are refused with a near name and the list."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for key in data:
                if key not in cls.model_fields:
                    raise PydanticCustomError(
                        "unknown_key",
                        "unknown key {key}; {listed}",
                        {"key": repr(key), "listed": choices(str(key), cls.model_fields, "keys")},
                    )
        return data


def _valid_value(value: Any) -> Any:
    try:
        as_field(value)
    except ExpressionError as error:
        raise PydanticCustomError(
            "value", "{reason}", {"reason": str(error).removeprefix("value: ")}
        ) from None
    return value


ValueSpec = Annotated[
    Any,
    AfterValidator(_valid_value),
    WithJsonSchema(
        {
            "description": "a number, an expression of x, y, t, or a table over time",
            "anyOf": [
                {"type": "number"},
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {
                        "times": {"type": "array", "items": {"type": ["number", "string"]}},
                        "values": {"type": "array", "items": {"type": ["number", "string"]}},
                    },
                    "required": ["times", "values"],
                    "additionalProperties": False,
                },
                {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "items": {"type": ["number", "string"]},
                        "minItems": 2,
                    },
                },
            ],
        }
    ),
]


def in_unit(expected: str | None) -> BeforeValidator:
    """Numbers may come as text with a unit of that dimension (any dimension with None)."""

    def read(value: Any) -> Any:
        try:
            if isinstance(value, dict) and {"times", "values"} >= set(value):
                units = {"times": "s", "values": expected}
                return {k: [_read(v, units[k]) for v in value[k]] for k in value}
            if isinstance(value, list) and all(isinstance(p, list) and len(p) == 2 for p in value):
                return [[_read(t, "s"), _read(v, expected)] for t, v in value]
            return _read(value, expected)
        except InputError as error:
            raise PydanticCustomError("value", "{reason}", {"reason": str(error)}) from None

    return BeforeValidator(read)


def _read(value: Any, expected: str | None) -> Any:
    return convert_any(value) if expected is None else convert(value, expected)


Length = Annotated[float, in_unit("m")]
Time = Annotated[float, in_unit("s")]
Angle = Annotated[float, in_unit("deg")]
Stress = Annotated[float, in_unit("Pa")]
Density = Annotated[float, in_unit("kg/m^3")]
Viscosity = Annotated[float, in_unit("Pa s")]
Stiffness = Annotated[float, in_unit("N/m")]
Velocity = Annotated[float, in_unit("m/s")]
ContactStiffness = Annotated[float, in_unit("Pa/m")]
ContactViscosity = Annotated[float, in_unit("Pa s/m")]
Factor = Annotated[ValueSpec, in_unit("")]
LengthValue = Annotated[ValueSpec, in_unit("m")]
SpinValue = Annotated[ValueSpec, in_unit("rad/s")]
VelocityValue = Annotated[ValueSpec, in_unit("m/s")]
AccelerationValue = Annotated[ValueSpec, in_unit("m/s^2")]
StressValue = Annotated[ValueSpec, in_unit("Pa")]
BodyForceValue = Annotated[ValueSpec, in_unit("N/m^3")]
ForceValue = Annotated[ValueSpec, in_unit("N")]
ViscosityValue = Annotated[ValueSpec, in_unit("Pa s")]
Pair = Annotated[list[Length], Field(min_length=2, max_length=2)]


def by_key(key: str, default: str = "") -> Callable[[Any], str]:
    """Choose a table's kind by the value of one of its keys; the tags are ``<key=value>``."""

    def choose(data: Any) -> str:
        value = data.get(key, default) if isinstance(data, dict) else getattr(data, key, default)
        return f"<{key}={value}>"

    return choose
