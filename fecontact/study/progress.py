"""Progress of a study: a bar on a terminal, a line for each variant elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from fecontact.study.tasks import Outcome

if TYPE_CHECKING:
    from tqdm import tqdm


class StudyProgress:
    """Tells which variants have ended, how, and how long the rest will take.

    Parameters
    ----------
    stream
        Where to tell it, standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._bar: tqdm[Any] | None = None
        self._total = self._count = self._failed = 0

    @property
    def stream(self) -> TextIO:
        return sys.stderr if self._stream is None else self._stream

    def begin(self, total: int, before: int) -> None:
        """Before the first variant: how many there are, how many were done before."""
        self._total, self._count, self._failed = total, before, 0
        if before:
            self._line(f"{before} of {total} variants were done before")
        if self.stream.isatty() and before < total:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, initial=before, file=self.stream, unit="variant", leave=True
            )

    def ended(self, outcome: Outcome) -> None:
        """After a variant."""
        self._count += 1
        failed = outcome.exit_code != 0
        self._failed += failed
        first = outcome.message.partition("\n")[0]
        words = f"failed: {first}" if failed else "converged"
        if self._bar is None:
            self._line(
                f"{self._count}/{self._total} {outcome.label}: {words} ({outcome.seconds:.2f} s)"
            )
            return
        if failed:
            self._bar.write(f"{outcome.label}: {words}", file=self.stream)
        self._bar.set_postfix_str(
            outcome.label + (f", {self._failed} failed" if self._failed else ""), refresh=False
        )
        self._bar.update()

    def end(self) -> None:
        """After the last variant, or when the study is broken off."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _line(self, text: str) -> None:
        self.stream.write(text + "\n")
        self.stream.flush()
