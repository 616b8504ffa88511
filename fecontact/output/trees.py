"""Frozen dataclasses of arrays and numbers in HDF5 files, and back to the same bits.

A tree is made of dataclasses of this package, mappings, tuples, lists, arrays, numbers, words and
None. No code comes from a file: what is read names classes of this package, and only those that
hold data are made.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fecontact.errors import InputError

_PACKAGE = __name__.partition(".")[0]


def put_tree(file: Any, value: Any) -> None:
    """Write a tree to an open HDF5 file: its text, and its arrays by number."""
    arrays: list[NDArray[Any]] = []
    file["tree"] = json.dumps(flatten(value, arrays))
    for place, array in enumerate(arrays):
        file[f"arrays/{place}"] = array


def get_tree(file: Any) -> Any:
    """The tree in an open HDF5 file."""
    count = len(file["arrays"]) if "arrays" in file else 0
    return grow(json.loads(file["tree"][()]), [file[f"arrays/{i}"][()] for i in range(count)])


def flatten(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """The tree as JSON knows it; its arrays are appended to a list and told by their place."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        arrays.append(np.asarray(value))
        # sums over rows of another order in memory would round differently
        column_first = value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous
        return {"array": len(arrays) - 1, "order": "F" if column_first else "C"}
    if isinstance(value, int | float):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        fields = [f.name for f in dataclasses.fields(value) if f.init]
        return {
            "class": f"{kind.__module__}:{kind.__qualname__}",
            "fields": {name: flatten(getattr(value, name), arrays) for name in fields},
        }
    if isinstance(value, Mapping):
        return {"map": [[str(k), flatten(v, arrays)] for k, v in value.items()]}
    if isinstance(value, tuple | list):
        kind_name = "tuple" if isinstance(value, tuple) else "list"
        return {kind_name: [flatten(v, arrays) for v in value]}
    raise InputError(f"a {type(value).__name__} cannot be kept in a checkpoint")


def grow(tree: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    """The value that `flatten` was given."""
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        array = arrays[tree["array"]]
        if array.ndim == 0:
            return array[()]
        return np.asfortranarray(array) if tree["order"] == "F" else np.ascontiguousarray(array)
    if "map" in tree:
        return {key: grow(value, arrays) for key, value in tree["map"]}
    if "class" in tree:
        kind = _dataclass(tree["class"])
        return kind(**{name: grow(value, arrays) for name, value in tree["fields"].items()})
    if "tuple" in tree:
        return tuple(grow(value, arrays) for value in tree["tuple"])
    return [grow(value, arrays) for value in tree["list"]]


def _dataclass(name: str) -> Any:
    module, _, path = name.partition(":")
    if not module.startswith(f"{_PACKAGE}."):
        raise InputError(f"{name!r} is no class of {_PACKAGE}")
    try:
        found = getattr(import_module(module), path)
    except (ImportError, AttributeError):
        raise InputError(f"{name!r} is not known to this version of {_PACKAGE}") from None
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise InputError(f"{name!r} is no class that holds data")
    return found
