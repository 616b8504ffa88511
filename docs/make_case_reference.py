"""Write case-file.md from the schema of case files: python docs/make_case_reference.py."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from fecontact.case import schema

PAGE = Path(__file__).parent / "case-file.md"

HEAD = """# The case file

<!-- Written by docs/make_case_reference.py from fecontact/case/schema; do not edit. -->

A case is a TOML file. Each table below lists its keys with their kind, their default and their
meaning; a key with the default *required* must be given. Unknown keys are refused, with the nearest
known one. Units are the user's own: the program needs them only to be consistent.

A number may carry its unit, as a string: `"10 km"`, `"1e6 year"`, `"3.3e-11 m/s"`, `"1e23 Pa s"`,
`"2700 kg/m^3"`, `"60 deg"`. It is converted to metres, kilograms, seconds and degrees, which plain
numbers beside it must then be in too; a unit of the wrong dimension is refused. `fecontact check`
and `summary.json` tell both. A year has 365.25 days.

`fecontact check CASE` reads a case and tells what would be done. `--set KEY=VALUE` replaces a key
from the command line; in a table of named entries the name may be left out to set all of them
(`--set contact.reactions=weighted`) or given to set one (`--set contact.base.reactions=weighted`).

A *value* is a number, an expression of `x`, `y` and `t` in quotes, such as
`"1e8 + 2e7 * floor(y / 0.005)"`, or a table over time,
`{ times = [0.0, 1.0], values = [0.0, 5e7] }` or `[[0.0, 0.0], [1.0, 5e7]]`.
"""

NOTES = {
    "mesh": "One of the following kinds, told apart by its first key.",
    "groups": "Each entry adds a group to those of the mesh.",
    "model": "The hypothesis and the elements' formulation.",
    "materials": "Together the materials cover every element exactly once.",
    "prescribed": "Components that are not named stay free. Reactions are summed by entry.",
    "loads": "One of the following kinds, told apart by `type`.",
    "springs": "Springs to the ground, for bodies that nothing else holds.",
    "contact": "Nodes of an edge group against a rigid obstacle.",
    "prestress": "Stress at the start, for the schemes implicit and explicit.",
    "scheme": "How time is discretised.",
    "time": "Give `step` or `steps`, not both.",
    "solver": "The defaults suit; nothing here has to be set for convergence.",
    "output": "What is written to the folder of the run.",
}


def specs(annotation: Any) -> list[type[schema.Spec]]:
    """Return the tables that an annotation leads to, in order."""
    if isinstance(annotation, type) and issubclass(annotation, schema.Spec):
        return [annotation]
    return [found for part in get_args(annotation) for found in specs(part)]


def is_value(annotation: Any) -> bool:
    """Tell whether an annotation is that of a number, an expression or a table over time."""
    return get_origin(annotation) is Annotated and get_args(annotation)[0] is Any


def kind(annotation: Any) -> str:
    """Name the kind of a key in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is Any or is_value(annotation):
        return "value"
    if specs(annotation):
        return "tables by name" if origin is dict else "table"
    if origin is Annotated:
        return kind(arguments[0])
    if origin is Literal:
        return " or ".join(f"`{choice!r}`".replace("'", '"') for choice in arguments)
    if origin in (Union, types.UnionType):
        named = [kind(a) for a in arguments if a is not type(None)]
        return " or ".join(dict.fromkeys(named))
    if origin is list:
        inner = kind(arguments[0])
        return "list of lists of numbers" if inner.startswith("list") else f"list of {inner}s"
    if origin is dict:
        return f"table of {kind(arguments[1])}"
    return {float: "number", int: "integer", str: "string", bool: "boolean"}[annotation]


def bounds(field: FieldInfo) -> str:
    """Tell the range of a key."""
    signs = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
    told = [
        f"{sign} {getattr(m, name):g}"
        for m in field.metadata
        for name, sign in signs.items()
        if getattr(m, name, None) is not None
    ]
    return ", ".join(told)


def default(field: FieldInfo) -> str:
    """Tell the default of a key."""
    if field.is_required():
        return "*required*"
    value = field.default
    if value is None or isinstance(value, schema.Spec) or value in ({}, ""):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "`{}`".format(f'"{value}"' if isinstance(value, str) else value)


def keys(spec: type[schema.Spec]) -> list[str]:
    """Keys of a table, its own before those that it shares with others."""
    own = [name for name in spec.__annotations__ if name in spec.model_fields]
    return [*own, *(name for name in spec.model_fields if name not in own)]


def rows(spec: type[schema.Spec]) -> list[str]:
    """Render the rows of a table's keys."""
    lines = ["| key | kind | default | meaning |", "|---|---|---|---|"]
    for name in keys(spec):
        field = spec.model_fields[name]
        range_ = bounds(field) if not specs(field.annotation) else ""
        words = kind(field.annotation)
        words += f" ({range_})" if range_ else ""
        meaning = " ".join((field.description or "").split())
        lines.append(f"| `{name}` | {words} | {default(field)} | {meaning} |".replace("  ", " "))
    return lines


def section(path: str, spec: type[schema.Spec], level: int, words: str = "") -> list[str]:
    """Render a table, then the tables inside it."""
    lines = ["", f"{'#' * level} {words or f'`[{path}]`'}", "", *rows(spec)]
    for name, field in spec.model_fields.items():
        inner = [s for s in specs(field.annotation) if not issubclass(s, _SOURCES)]
        for one in inner:
            title = f"`{path}.{name}`" + (f": {label(one)}" if len(inner) > 1 else "")
            lines += section(f"{path}.{name}", one, level + 1, title)
    return lines


_SOURCES = (schema.Rectangle, schema.MeshFile, schema.Geometry)


def label(spec: type[schema.Spec]) -> str:
    """Tell one kind of a table from the others."""
    for key in ("type", "law", "generator"):
        if key in spec.model_fields:
            return f'`{key} = "{get_args(spec.model_fields[key].annotation)[0]}"`'
    return f"`{keys(spec)[0]}`"


def render() -> str:
    """Render the whole page."""
    fields = schema.CaseSpec.model_fields
    lines = [HEAD, "## Top level", "", "| key | kind | meaning |", "|---|---|---|"]
    for name, field in fields.items():
        if not specs(field.annotation):
            lines.append(f"| `{name}` | {kind(field.annotation)} | {field.description or ''} |")
    for name, field in fields.items():
        found = specs(field.annotation)
        if not found:
            continue
        path = f"{name}.NAME" if name in schema.NAMED_TABLES else name
        lines += ["", f"## `[{path}]`", "", NOTES.get(name, field.description or "")]
        for spec in found:
            if len(found) == 1:
                lines += section(path, spec, 2)[2:]
            else:
                lines += section(path, spec, 3, label(spec))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(PAGE)
