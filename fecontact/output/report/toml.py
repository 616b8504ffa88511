"""A case as TOML text, to be saved and run again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(k))} = {_value(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(v) for v in value)}]"
    text = str(value)
    if "\n" in text and "'''" not in text and "\r" not in text:
        return f"'''\n{text}'''"
    # JSON's escapes are among TOML's, but for the delete character
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def to_toml(data: Mapping[str, Any]) -> str:
    """TOML text of plain tables; what is None is left out, as TOML has no such value."""
    lines: list[str] = []
    _table(_clean(data), (), lines)
    return "\n".join(lines).strip() + "\n"


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _clean(v) for k, v in value.items() if v is not None}
    return value


def _table(data: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    tables = {k: v for k, v in data.items() if isinstance(v, Mapping) and len(path) < 2}
    simple = {k: v for k, v in data.items() if k not in tables}
    if path and (simple or not tables):
        lines += ["", f"[{'.'.join(_key(p) for p in path)}]"]
    lines += [f"{_key(k)} = {_value(v)}" for k, v in simple.items()]
    for name, table in tables.items():
        _table(table, (*path, name), lines)
