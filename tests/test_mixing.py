"""Mixing of guesses: fixed points of linear maps, slow and repelling ones, and of a curved one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fecontact.schemes.mixing import Mixing
from fecontact.typing import FloatArray


def guesses(g: Callable[[FloatArray], FloatArray], x: FloatArray, within: float = 1e-12) -> int:
    """How many it takes until g(x) is x."""
    mixing = Mixing()
    for count in range(200):
        image = g(x)
        if np.abs(image - x).max() <= within:
            return count
        x = mixing.next(x, image)
    return 200


@pytest.mark.parametrize("factors", [[0.65, 0.2, -0.3], [0.99, 0.9, 0.5], [-1.4, 0.3, 0.6]])
def test_linear_maps_take_few_guesses(factors: list[float]) -> None:
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    A, end = basis @ np.diag(factors) @ basis.T, np.array([0.3, -2.0, 1.0])

    def g(x: FloatArray) -> FloatArray:
        return np.asarray(end + A @ (x - end))

    assert guesses(g, np.zeros(3), 1e-9) <= 5


def test_a_curved_map_is_quicker_than_by_repetition() -> None:
    start = np.array([0.1, 0.2, 0.4])
    repeated, x = 0, start
    while np.abs(np.cos(x) - x).max() > 1e-12:
        x, repeated = np.cos(x), repeated + 1
    assert guesses(np.cos, start) < 0.3 * repeated


def test_what_grows_is_forgotten() -> None:
    mixing = Mixing()
    x, image = np.array([1.0]), np.array([1.5])
    np.testing.assert_array_equal(mixing.next(x, image), image)
    worse = np.array([5.0])
    np.testing.assert_array_equal(mixing.next(image, worse), worse)
    assert mixing.next(worse, np.array([5.5])) != 5.5
