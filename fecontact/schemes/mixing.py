"""Fixed points found faster than by repetition."""

from __future__ import annotations

import numpy as np

from fecontact.typing import FloatArray

# from one guess to the next; a fixed point that repels may be one from which guesses go away slowly
_GROWN = 4.0


class Mixing:
    """Next guess of x = g(x) from the last few, by Anderson's mixing.

    The combination of the last `memory` steps is taken whose g(x) - x, if g were linear, is least.
    Where g(x) - x has grown much instead, what is remembered is dropped, and the next guess is
    g(x).

    Walker, Ni: Anderson acceleration for fixed-point iterations. SIAM J. Numer. Anal. 49, 2011.
    """

    def __init__(self, memory: int = 4) -> None:
        self.memory = memory
        self._x: list[FloatArray] = []
        self._f: list[FloatArray] = []

    def forget(self) -> None:
        """Drop what is remembered, as where g is another from now on."""
        self._x.clear()
        self._f.clear()

    def next(self, x: FloatArray, g: FloatArray) -> FloatArray:
        """The guess after x, which gave g."""
        f = g - x
        if self._f and np.linalg.norm(f) > _GROWN * np.linalg.norm(self._f[-1]):
            self.forget()
        self._x = [*self._x[-self.memory :], x]
        self._f = [*self._f[-self.memory :], f]
        if len(self._f) == 1:
            return g
        dx, df = np.diff(self._x, axis=0).T, np.diff(self._f, axis=0).T
        share = np.linalg.lstsq(df, f)[0]
        return np.asarray(g - (dx + df) @ share)
