"""Fields from numbers, tables and expressions: values, refusals and messages."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fecontact.errors import ExpressionError
from fecontact.expressions import (
    MAX_DEPTH,
    MAX_LENGTH,
    Constant,
    Expression,
    Table,
    as_field,
)

POINTS = np.array([[0.5, -2.0], [2.0, 3.0], [0.0, 0.25]])
X, Y, T = POINTS[:, 0], POINTS[:, 1], 1.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e8 + 2e7 * floor(y / 0.5)", 1e8 + 2e7 * np.floor(Y / 0.5)),
        ("-x ** 2", -(X**2)),
        ("2 ** -1 ** 2", 0.5),
        ("+x - y / 4 * t", X - Y / 4 * T),
        ("7 // 2 + 7 % 4 - -5 % 3", 3 + 3 - 1),
        ("x + y // 2", X + np.floor(Y / 2)),
        ("sin(x) + cos(y) * tan(t)", np.sin(X) + np.cos(Y) * math.tan(T)),
        ("asin(x / 3) + acos(x / 3) + atan(y)", np.pi / 2 + np.arctan(Y)),
        ("atan2(y, x)", np.arctan2(Y, X)),
        ("sinh(x) + cosh(y) + tanh(t)", np.sinh(X) + np.cosh(Y) + math.tanh(T)),
        ("exp(x) + log(t) + log10(1000) + sqrt(x)", np.exp(X) + math.log(T) + 3 + np.sqrt(X)),
        ("abs(y) + sign(y) + ceil(x)", np.abs(Y) + np.sign(Y) + np.ceil(X)),
        ("step(x - 0.5)", [1.0, 1.0, 0.0]),
        ("min(x, y) + 10 * max(x, y)", np.minimum(X, Y) + 10 * np.maximum(X, Y)),
        ("hypot(x, y)", np.hypot(X, Y)),
        ("where(x < 1, 10 * t, y)", [15.0, 3.0, 15.0]),
        ("(x > 0) + (y > 0)", [1.0, 2.0, 1.0]),
        ("(x > 0) - (y > 0)", [1.0, 0.0, -1.0]),
        ("-(x >= 0.5)", [-1.0, -1.0, 0.0]),
        ("(x <= 0.5) * 2 + (x == 2) * 3 + (x != 2) * 4", [6.0, 3.0, 6.0]),
        ("y < 1 and x > 0.2", [1.0, 0.0, 0.0]),
        ("x < 0.2 or y > 2 and t > 1", [0.0, 1.0, 1.0]),
        ("not x", [0.0, 0.0, 1.0]),
        ("3 * (not x > 1) - (x and y)", [2.0, -1.0, 3.0]),
        ("0 < x <= 0.5", [1.0, 0.0, 0.0]),
        ("2 * (y < x < t > 1)", [2.0, 0.0, 0.0]),
        ("cos(pi) + log(e)", 0.0),
    ],
)
def test_values(text: str, expected: object) -> None:
    assert Expression(text)(POINTS, T) == pytest.approx(
        np.broadcast_to(np.asarray(expected, dtype=float), 3), rel=1e-14, abs=1e-14
    )


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "x.__class__",
        "().__class__.__bases__",
        "(lambda: 1)()",
        "[1, 2]",
        "[a for a in x]",
        "{1: 2}",
        "x[0]",
        "'text'",
        "True",
        "None",
        "1j",
        "x if t else y",
        "~x",
        "x << 2",
        "x @ y",
        "x in y",
        "0 < x in y",
        "x is y",
        "x and [y]",
        "not None",
        "f'{x}'",
        "(a := 3)",
        "max(*x)",
        "max(x, y, key=t)",
        "sin(x)(y)",
        "...",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="expression"):
        Expression(text)


@pytest.mark.parametrize(
    "text", ["", "   ", "x +", "x = 3", "import os", "1 2", "(x", "x\ny", "\0"]
)
def test_what_cannot_be_parsed_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(text)


def test_messages_name_the_mistake_and_the_choices() -> None:
    with pytest.raises(ExpressionError, match=r"unknown name 'z'.*known: .*x, y"):
        Expression("x + z")
    with pytest.raises(ExpressionError, match=r"unknown function 'sine'; did you mean 'sin'\?"):
        Expression("sine(x)")
    with pytest.raises(ExpressionError, match=r"atan2 takes 2 argument\(s\), 1 given"):
        Expression("atan2(x)")
    with pytest.raises(ExpressionError, match="Attribute is not allowed"):
        Expression("x.real")


def test_limits() -> None:
    assert Expression("x" + " " * (MAX_LENGTH - 1))(POINTS, T) == pytest.approx(X)
    with pytest.raises(ExpressionError, match=f"{MAX_LENGTH + 1} characters"):
        Expression("x" + " " * MAX_LENGTH)
    assert Expression("-" * MAX_DEPTH + "x")(POINTS, T) == pytest.approx(X)
    with pytest.raises(ExpressionError, match=f"deeper than {MAX_DEPTH}"):
        Expression("-" * (MAX_DEPTH + 1) + "x")
    with pytest.raises(ExpressionError):
        Expression("(" * 450 + "x" + ")" * 450)
    with pytest.raises(ExpressionError, match="too large"):
        Expression("1" + "0" * 400)
    with pytest.raises(ExpressionError, match="too large"):
        Expression("1e400")


def test_powers_cost_no_time() -> None:
    with pytest.raises(ExpressionError, match="is inf"):
        Expression("x + 9**9**9**9")(POINTS, T)


@pytest.mark.parametrize(
    ("text", "value"), [("sqrt(y)", "nan"), ("1 / (y + 2)", "inf"), ("log(y)", "nan")]
)
def test_a_value_that_is_not_finite_is_told_with_place_and_time(text: str, value: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Expression(text)(POINTS, T)
    assert f"{text!r} is {value} at x = 0.5, y = -2, t = 1.5" in str(caught.value)


def test_dependence() -> None:
    assert not Expression("x * y").varies_in_time
    assert Expression("x * y").varies_in_space
    assert Expression("sin(t)").varies_in_time
    assert not Expression("sin(t)").varies_in_space
    assert Table((0.0, 1.0), (0.0, 2.0)).varies_in_time


def test_table() -> None:
    table = as_field([[0.0, 1.0], [2.0, 5.0], [3.0, -1.0]])
    for t, expected in ((-1.0, 1.0), (0.5, 2.0), (2.0, 5.0), (2.5, 2.0), (9.0, -1.0)):
        assert table(POINTS, t) == pytest.approx([expected] * 3)
    assert as_field({"times": [0.0, 2.0], "values": [1.0, 5.0]}) == Table((0.0, 2.0), (1.0, 5.0))
    for times, values, message in (
        ((0.0, 1.0), (1.0,), "as many times as values"),
        ((), (), "at least one"),
        ((0.0, 0.0), (1.0, 2.0), "must increase"),
        ((1.0, 0.5), (1.0, 2.0), "must increase"),
        ((0.0, math.nan), (1.0, 2.0), "not finite"),
        ((0.0, 1.0), (1.0, math.inf), "not finite"),
    ):
        with pytest.raises(ExpressionError, match=message):
            Table(times, values)


def test_as_field() -> None:
    assert as_field(3) == Constant(3.0)
    assert as_field(np.float64(2.5)) == Constant(2.5)
    assert as_field("2 * pi") == Constant(2 * math.pi)
    assert as_field("x") == Expression("x")
    field = Expression("t")
    assert as_field(field) is field
    assert as_field(3)(POINTS, 7.0) == pytest.approx([3.0, 3.0, 3.0])


@pytest.mark.parametrize(
    "value",
    [
        True,
        None,
        math.nan,
        math.inf,
        [],
        [1.0, 2.0],
        [[0.0, 1.0, 2.0]],
        [["a", "b"]],
        {"times": [0.0]},
        {"times": [0.0], "values": [1.0], "kind": "linear"},
        {"times": 0.0, "values": 1.0},
        object(),
        abs,
        "x +",
        "1 / 0",
    ],
)
def test_as_field_names_the_place_of_what_it_refuses(value: object) -> None:
    with pytest.raises(ExpressionError, match=r"^loads\.top\.value: "):
        as_field(value, "loads.top.value")  # type: ignore[arg-type]
