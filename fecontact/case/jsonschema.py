"""The JSON Schema of case files, for editors that complete and check them."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from fecontact.case.schema import CaseSpec


class _WithUnits(GenerateJsonSchema):
    """Numbers that are converted on the way in may be texts with a unit."""

    def function_before_schema(
        self, schema: core_schema.BeforeValidatorFunctionSchema
    ) -> JsonSchemaValue:
        inner = super().function_before_schema(schema)
        if inner.get("type") != "number":
            return inner
        return {"anyOf": [inner, {"type": "string", "description": "a number with its unit"}]}


def json_schema() -> dict[str, Any]:
    """The schema of a whole case file, draft 2020-12, in the terms of TOML."""
    schema: dict[str, Any] = _tidy(CaseSpec.model_json_schema(schema_generator=_WithUnits))
    # a variant sets what a case has, as tables or as dotted keys
    tables = "|".join(CaseSpec.model_fields)
    variant = schema["properties"]["variants"]["additionalProperties"]
    variant["propertyNames"] = {"pattern": rf"^({tables})($|\.)"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fecontact case",
        **schema,
    }


_BOUNDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
}


def _tidy(node: Any) -> Any:
    """The same without nulls, which TOML does not know, and without titles made from the keys."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    # a key of the case may itself be called title or default
    found = {
        _BOUNDS.get(key, key): _tidy(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and value is None)
    }
    if isinstance(found.get("description"), str):
        found["description"] = " ".join(found["description"].split())
    alternatives = found.get("anyOf")
    if isinstance(alternatives, list) and {"type": "null"} in alternatives:
        kept = [option for option in alternatives if option != {"type": "null"}]
        del found["anyOf"]
        found |= {"anyOf": kept} if len(kept) > 1 else {**kept[0], **found}
    return found
