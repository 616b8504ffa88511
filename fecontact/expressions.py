"""Scalar functions of position and time, from numbers, tables and expressions.

An expression is data, not code: its text is parsed to a syntax tree, every node of the tree is
checked against a short list of what is allowed, and the tree is then evaluated with numpy. Nothing
is ever given to the interpreter.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np

from fecontact.errors import ExpressionError, choices
from fecontact.typing import FloatArray

MAX_LENGTH = 1000
MAX_DEPTH = 40
LARGEST = 1e30
"""Values beyond this cannot be computed with: squares of forces would overflow."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
    ast.Pow: np.power,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, np.sin),
    "cos": (1, np.cos),
    "tan": (1, np.tan),
    "asin": (1, np.arcsin),
    "acos": (1, np.arccos),
    "atan": (1, np.arctan),
    "atan2": (2, np.arctan2),
    "sinh": (1, np.sinh),
    "cosh": (1, np.cosh),
    "tanh": (1, np.tanh),
    "exp": (1, np.exp),
    "log": (1, np.log),
    "log10": (1, np.log10),
    "sqrt": (1, np.sqrt),
    "abs": (1, np.abs),
    "sign": (1, np.sign),
    "floor": (1, np.floor),
    "ceil": (1, np.ceil),
    "step": (1, lambda a: np.where(np.asarray(a) >= 0.0, 1.0, 0.0)),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "hypot": (2, np.hypot),
    "where": (3, np.where),
}
_CONSTANTS = {"pi": math.pi, "e": math.e}
VARIABLES = ("x", "y", "t")


class Field(Protocol):
    """A scalar function of position and time."""

    def __call__(self, points: FloatArray, t: float) -> FloatArray:
        """Values (n,) at points (n, dim) and time t."""
        ...

    @property
    def varies_in_time(self) -> bool: ...

    @property
    def varies_in_space(self) -> bool: ...


@dataclass(frozen=True)
class Constant:
    """The same value everywhere and always."""

    value: float

    def __call__(self, points: FloatArray, t: float) -> FloatArray:
        return np.full(len(points), self.value)

    varies_in_time = False
    varies_in_space = False


@dataclass(frozen=True)
class Table:
    """A table over time: straight lines between the entries, constant outside them."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.times) != len(self.values) or not self.times:
            raise ExpressionError(
                f"a table needs as many times as values and at least one: "
                f"{len(self.times)} times, {len(self.values)} values given"
            )
        if not all(map(math.isfinite, (*self.times, *self.values))):
            raise ExpressionError("a table holds a number that is not finite")
        if any(b <= a for a, b in zip(self.times, self.times[1:], strict=False)):
            raise ExpressionError(f"the times of a table must increase: {list(self.times)}")

    def __call__(self, points: FloatArray, t: float) -> FloatArray:
        return np.full(len(points), float(np.interp(t, self.times, self.values)))

    varies_in_time = True
    varies_in_space = False


@dataclass(frozen=True)
class Expression:
    """A formula in x, y and t, such as ``"1e8 + 2e7 * floor(y / 0.005)"``.

    Numbers, ``+ - * / // % **``, comparisons, ``and``, ``or``, ``not``, the constants pi and e, and
    the functions sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, exp, log, log10, sqrt,
    abs, sign, floor, ceil, step, min, max, hypot and ``where(condition, a, b)`` are understood.
    What is true is 1, what is false 0.
    """

    text: str

    def __post_init__(self) -> None:
        _check(self._tree, self.text, 0)

    @cached_property
    def _tree(self) -> ast.expr:
        if len(self.text) > MAX_LENGTH:
            raise ExpressionError(
                f"an expression of {len(self.text)} characters is too long (limit {MAX_LENGTH})"
            )
        try:
            return ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", None) or "it cannot be parsed"
            raise ExpressionError(f"expression {self.text!r}: {reason}") from None

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(n.id for n in ast.walk(self._tree) if isinstance(n, ast.Name))

    @property
    def varies_in_time(self) -> bool:
        return "t" in self._names

    @property
    def varies_in_space(self) -> bool:
        return bool(self._names & {"x", "y"})

    def __call__(self, points: FloatArray, t: float) -> FloatArray:
        points = np.asarray(points, dtype=float)
        variables = {"x": points[:, 0], "y": points[:, 1], "t": float(t)}
        with np.errstate(all="ignore"):
            value = np.asarray(_evaluate(self._tree, variables), dtype=float)
        values = np.array(np.broadcast_to(value, (len(points),)))
        bad = ~(np.abs(values) <= LARGEST)
        if bad.any():
            k = int(np.argmax(bad))
            raise ExpressionError(
                f"expression {self.text!r} is {values[k]} at x = {points[k, 0]:g}, "
                f"y = {points[k, 1]:g}, t = {t:g}"
            )
        return values


Value = float | str | Mapping[str, Sequence[float]] | Sequence[Sequence[float]] | Field
"""What stands for a field in an interface: number, expression, table ({times, values} or pairs)."""


def as_field(value: Value, where: str = "value") -> Field:
    """The field that a number, an expression's text or a table stands for.

    Parameters
    ----------
    value
        A number, an expression, a table as ``{"times": [...], "values": [...]}`` or as pairs
        ``[[t, value], ...]``, or a field already.
    where
        The name that an error message gives to the place, such as ``loads.top.value``.
    """
    try:
        if isinstance(value, bool):
            raise ExpressionError(f"{value} is neither a number, an expression nor a table")
        if isinstance(value, (int, float, np.integer, np.floating)):
            if not math.isfinite(value):
                raise ExpressionError(f"{value} is not a finite number")
            return Constant(float(value))
        if isinstance(value, str):
            expression = Expression(value)
            if not expression.varies_in_time and not expression.varies_in_space:
                return Constant(float(expression(np.zeros((1, 2)), 0.0)[0]))
            return expression
        if isinstance(value, Mapping):
            unknown = set(value) - {"times", "values"}
            if unknown or len(value) != 2:
                raise ExpressionError(f"a table has the keys times and values, not {sorted(value)}")
            return Table(tuple(map(float, value["times"])), tuple(map(float, value["values"])))
        if isinstance(value, Sequence):
            if not value or any(not isinstance(p, Sequence) or len(p) != 2 for p in value):
                raise ExpressionError("a table is a list of pairs [time, value]")
            return Table(tuple(float(p[0]) for p in value), tuple(float(p[1]) for p in value))
        if callable(value) and hasattr(value, "varies_in_time"):
            return value
    except ExpressionError as error:
        raise ExpressionError(f"{where}: {error}") from None
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"{where}: {error}") from None
    raise ExpressionError(f"{where}: {value!r} is neither a number, an expression nor a table")


def _check(node: ast.AST, text: str, depth: int) -> None:
    """Refuse every node of the tree that is not on the list of what is allowed."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"expression {text[:60]!r}...: nested deeper than {MAX_DEPTH} levels")
    children: list[ast.expr]
    match node:
        case ast.Constant(value=value) if isinstance(value, (int, float)) and not isinstance(
            value, bool
        ):
            try:
                finite = math.isfinite(float(value))
            except OverflowError:
                finite = False
            if not finite:
                raise ExpressionError(f"expression {text!r}: a number is too large")
            return
        case ast.Name(id=name):
            if name not in VARIABLES and name not in _CONSTANTS:
                known = [*VARIABLES, *_CONSTANTS, *_FUNCTIONS]
                raise ExpressionError(
                    f"expression {text!r}: unknown name {name!r}; {choices(name, known, 'known')}"
                )
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            children = [left, right]
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() | ast.Not(), operand=operand):
            children = [operand]
        case ast.BoolOp(values=values):
            children = values
        case ast.Compare(left=left, ops=ops, comparators=others) if all(
            type(op) in _COMPARE for op in ops
        ):
            children = [left, *others]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in _FUNCTIONS:
                raise ExpressionError(
                    f"expression {text!r}: unknown function {name!r}; "
                    f"{choices(name, _FUNCTIONS, 'functions')}"
                )
            arity = _FUNCTIONS[name][0]
            if len(args) != arity:
                raise ExpressionError(
                    f"expression {text!r}: {name} takes {arity} argument(s), {len(args)} given"
                )
            children = list(args)
        case _:
            raise ExpressionError(
                f"expression {text!r}: {type(node).__name__} is not allowed; "
                "use numbers, x, y, t, arithmetic, comparisons, and, or, not and the functions "
                f"{', '.join(_FUNCTIONS)}"
            )
    for child in children:
        _check(child, text, depth + 1)


def _evaluate(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return float(value)  # type: ignore[arg-type]  # _check let only numbers pass
        case ast.Name(id=name):
            return variables[name] if name in variables else _CONSTANTS[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_evaluate(left, variables), _evaluate(right, variables))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, variables)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _truth(np.equal(_evaluate(operand, variables), 0.0))
        case ast.UnaryOp(operand=operand):
            return _evaluate(operand, variables)
        case ast.BoolOp(op=op, values=parts):
            combine = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return _truth(reduce(combine, (_evaluate(part, variables) for part in parts)))
        case ast.Compare(left=left, ops=ops, comparators=others):
            terms = [_evaluate(term, variables) for term in (left, *others)]
            holds = (
                _COMPARE[type(op)](a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False)
            )
            return _truth(reduce(np.logical_and, holds))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name][1](*(_evaluate(a, variables) for a in args))
    raise AssertionError("the tree was checked when the expression was made")


def _truth(holds: Any) -> Any:
    """Give 1 and 0: sums and differences of numpy's truth values are not arithmetic."""
    return np.asarray(holds, dtype=float)
