"""What a sweep gave: a table with a row for each variant."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fecontact.case.variants import short_names
from fecontact.errors import InputError, choices
from fecontact.output.figures import new_figure
from fecontact.study import figures, table
from fecontact.typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VARIANTS = "variants"
"""Folder of the variants' own folders."""


@dataclass(frozen=True, eq=False)
class Study:
    """What a sweep gave.

    Attributes
    ----------
    folder
        Where everything is.
    keys
        The keys that vary.
    rows
        A row for each variant: its label, keys, status, exit code, message, seconds and outputs.
    paths
        Tables and figures that were written, by kind.
    drawn
        Columns that were drawn: the chosen outputs that are not the same everywhere.
    before
        How many variants had been done by an earlier call.
    notes
        What the caller should know about the table.
    """

    folder: Path
    keys: list[str]
    rows: list[table.Row]
    paths: dict[str, Path | list[Path]] = field(default_factory=dict)
    drawn: list[str] = field(default_factory=list)
    before: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return table.columns(self.rows, self.keys)

    @property
    def failed(self) -> list[table.Row]:
        """Rows of the variants that failed."""
        return [r for r in self.rows if r["status"] == "failed"]

    @property
    def complete(self) -> bool:
        """Whether every variant has an outcome, good or bad."""
        return all(r["status"] != "not run" for r in self.rows)

    @property
    def exit_code(self) -> int:
        """0 where all variants converged, else the largest exit code of a variant."""
        return max((int(r.get("exit_code", 1)) for r in self.rows), default=0)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> Any:
        """A column as an array (n,): numbers with NaN where there is none, else objects."""
        names = self.columns
        if column not in names:
            raise InputError(f"no column {column!r}; {choices(column, names, 'columns')}")
        values = [r.get(column) for r in self.rows]
        if all(v is None or figures.is_number(v) for v in values):
            numbers: FloatArray = np.array([np.nan if v is None else v for v in values], float)
            return numbers
        return np.array(values, dtype=object)

    def variant(self, label: str) -> Path:
        """Folder of a variant's results."""
        labels = [str(r["variant"]) for r in self.rows]
        if label not in labels:
            raise InputError(f"no variant {label!r}; {choices(label, labels, 'variants')}")
        return self.folder / VARIANTS / label

    def plot(self, output: str, against: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw an output against a key, the first by default, on new or given axes."""
        self[output]
        if ax is None:
            ax = new_figure(6.0, 4.0).add_subplot()
        key = self.keys[0] if against is None else against
        figures.plot_output(ax, self.rows, self.keys, key, output)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(frameon=False)
        return ax

    def summary(self) -> str:
        """One line: how many variants, how they ended."""
        count = {s: sum(r["status"] == s for r in self.rows) for s in ("converged", "failed")}
        rest = len(self.rows) - sum(count.values())
        told = f"{len(self.rows)} variants: {count['converged']} converged"
        told += f", {count['failed']} failed" if count["failed"] else ""
        told += f", {rest} not run" if rest else ""
        return told + (f"; {self.before} of them done before" if self.before else "")

    def __repr__(self) -> str:
        return f"<{self.summary()}, in {self.folder}>\n{self.listing()}"

    def listing(self) -> str:
        """The first rows in aligned columns."""
        return table.listing(self.rows, self._shown())

    def _repr_html_(self) -> str:
        names = self._shown()
        head = "".join(f"<th>{escape(n)}</th>" for n in names.values())
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(table.brief(r.get(n)))}</td>" for n in names) + "</tr>"
            for r in self.rows
        )
        return (
            f"<p>{escape(self.summary())}, in <code>{escape(str(self.folder))}</code></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _shown(self) -> dict[str, str]:
        """Columns for people: keys, outputs that were drawn and how it ended, by short names."""
        outputs = [name for name in self.columns if name in self.drawn]
        names = [*self.keys, *outputs]
        if any(r["status"] != "converged" for r in self.rows):
            names += ["status", "message"]
        return dict(short_names(names))
