"""Several runs side by side, and the two kinds of reactions against each other.

The first run is the baseline. Where a concentrated and a weighted run solve the same problem, their
reactions are compared node by node through P and P^-1. All forces are per unit thickness.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fecontact.contact import ContactState, Status
from fecontact.errors import InputError
from fecontact.output.atomic import replacing
from fecontact.output.comparison_figure import write_comparison_figure
from fecontact.output.histories import write_history_comparison
from fecontact.output.impacts import impact_notes, step_restitution
from fecontact.output.tables import number, per_thickness
from fecontact.schemes import StepResult
from fecontact.simulation import Result
from fecontact.typing import FloatArray

Runs = Sequence[tuple[str, Result]]


@dataclass(frozen=True, eq=False)
class Pair:
    """One contact of the same problem, computed with both kinds of reactions."""

    concentrated_label: str
    weighted_label: str
    concentrated: ContactState
    weighted: ContactState
    factor: float


def compare_results(runs: Runs, folder: str | os.PathLike[str]) -> str:
    """Compare runs; write comparison.csv, comparison_nodes.csv and comparison.png.

    Parameters
    ----------
    runs
        Labels and results; the first is the baseline.
    folder
        Where to write.

    Returns
    -------
    text
        The tables and what they show, to be printed.
    """
    if not runs:
        raise InputError("nothing to compare: no runs were given")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    notes: list[str] = []
    header, rows = _overview(runs, notes)
    _add_restitution(runs, header, rows)
    notes += impact_notes(runs)
    _write_csv(folder / "comparison.csv", header, rows)
    parts = ["Comparison with " + runs[0][0], _aligned(header, [_short(r) for r in rows])]
    pairs = find_pairs(runs)
    nodal: list[list[object]] = []
    for pair in pairs:
        parts.append(_pair_text(pair))
        nodal += _pair_rows(pair)
    if pairs:
        _write_csv(folder / "comparison_nodes.csv", _PAIR_COLUMNS, nodal)
    else:
        columns, nodal = _same_kind_rows(runs, notes)
        if nodal:
            _write_csv(folder / "comparison_nodes.csv", columns, nodal)
    parts += [f"Note: {note}" for note in dict.fromkeys(notes)]
    done = [(label, result) for label, result in runs if result.last is not None]
    if any(result.contacts for _, result in done):
        write_comparison_figure(folder / "comparison.png", done, pairs)
    write_history_comparison(folder / "comparison_history.png", done)
    return "\n\n".join(parts) + "\n"


def displacement_difference(
    base: Result, other: Result, notes: list[str] | None = None
) -> float | None:
    """Largest |u - u_base| over the largest |u_base|.

    On one mesh over all nodes; otherwise along the contacts that both have, interpolated over the
    length along them; None where there is nothing in common.
    """
    if base.last is None or other.last is None:
        return None
    a, b = base.last, other.last
    mesh, mesh_b = base.simulation.model.mesh, other.simulation.model.mesh
    if mesh.nodes.shape == mesh_b.nodes.shape and np.allclose(mesh.nodes, mesh_b.nodes):
        return _relative(b.displacement - a.displacement, a.displacement)
    differences, sizes = [], []
    for name in a.contacts.keys() & b.contacts.keys():
        u, s = a.contacts[name], b.contacts[name]
        differences.append(_along(s, s.displacement, u.abscissa) - u.displacement)
        sizes.append(u.displacement)
    if not differences:
        return None
    if notes is not None:
        notes.append(
            "the meshes differ: displacements are compared along the contacts, interpolated over "
            "the length, and nodes are not compared one by one"
        )
    return _relative(np.vstack(differences), np.vstack(sizes))


def _relative(difference: FloatArray, size: FloatArray) -> float:
    largest, found = _largest(size), _largest(difference)
    return found / largest if largest > 0.0 else found


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))


def _along(state: ContactState, values: FloatArray, abscissa: FloatArray) -> FloatArray:
    """Values (nc, dim) of a state, interpolated to other lengths (n,)."""
    order = np.argsort(state.abscissa, kind="stable")
    columns = [np.interp(abscissa, state.abscissa[order], v[order]) for v in values.T]
    return np.column_stack(columns)


def find_pairs(runs: Runs) -> list[Pair]:
    """Contacts that were computed with both kinds of reactions, all else equal."""
    pairs, used = [], set()
    done = [(label, result, result.last) for label, result in runs if result.last is not None]
    for label, result, step in done:
        for name, state in step.contacts.items():
            if state.reactions != "concentrated":
                continue
            for other_label, _, other_step in done:
                other = other_step.contacts.get(name)
                if other is None or (other_label, name) in used:
                    continue
                if other.reactions == "weighted" and _same_problem(step, state, other_step, other):
                    used.add((other_label, name))
                    factor = per_thickness(result.simulation.model.solid)
                    pairs.append(Pair(label, other_label, state, other, factor))
                    break
    return pairs


def _same_problem(a: StepResult, at: ContactState, b: StepResult, bt: ContactState) -> bool:
    return (
        np.array_equal(at.nodes, bt.nodes)
        and np.allclose(at.position, bt.position)
        and np.allclose(at.friction, bt.friction)
        and a.external.shape == b.external.shape
        and np.allclose(a.external, b.external, atol=1e-9 * float(np.abs(a.external).max()))
        and bool(np.isclose(a.t, b.t))
    )


def _overview(runs: Runs, notes: list[str]) -> tuple[list[str], list[list[object]]]:
    names: list[str] = []
    for _, result in runs:
        names += [c.label for c in result.simulation.model.contacts if c.label not in names]
    header = ["run", "difference_u"]
    for name in names:
        end = "" if len(names) == 1 else f"_{name}"
        header += [f"RN{end}", f"RT{end}", *(f"{s.label}{end}" for s in Status)]
    header += ["iterations", "residual", "balance", "converged"]
    rows = []
    for label, result in runs:
        row: list[object] = [label, displacement_difference(runs[0][1], result, notes)]
        factor = per_thickness(result.simulation.model.solid)
        for name in names:
            state = None if result.last is None else result.last.contacts.get(name)
            if state is None:
                row += [None] * 5
            else:
                row += [float(x) for x in factor * state.force.sum(axis=0)]
                row += [state.count(s) for s in Status]
        # a step that starts from its solution needs none: the sum says more than the last
        row.append(sum(step.report.iterations for step in result.steps if step.report))
        row += [result.worst_residual, result.worst_balance]
        row.append("yes" if result.converged else "no")
        rows.append(row)
        if result.failure is not None:
            notes.append(f"{label}: {result.failure}")
    return header, rows


def _add_restitution(runs: Runs, header: list[str], rows: list[list[object]]) -> None:
    """A column for each contact with an impact: the restitution that the scheme makes."""
    names = list(dict.fromkeys(i.name for _, r in runs for i in r.simulation.model.interfaces))
    for name in names:
        found = [
            step_restitution(result, name) if f"RN_{name}" in result.history.columns else None
            for _, result in runs
        ]
        if any(value is not None for value in found):
            header.append("restitution" if len(names) == 1 else f"restitution_{name}")
            for row, value in zip(rows, found, strict=True):
                row.append(None if value is None else round(value, 6) + 0.0)


_PAIR_COLUMNS = [
    "contact",
    "node",
    "x",
    "y",
    "concentrated",
    "weighted",
    "RN_concentrated",
    "RT_concentrated",
    "RN_P_image",
    "RT_P_image",
    "RN_weighted",
    "RT_weighted",
    "RN_P_inverse_image",
    "RT_P_inverse_image",
    "P_inverse_image_admissible",
    "run_concentrated",
    "run_weighted",
]


def _pair_rows(pair: Pair) -> list[list[object]]:
    """Concentrated against P images of weighted; weighted against P^-1 images of concentrated."""
    c, w = pair.concentrated, pair.weighted
    values = pair.factor * np.hstack([c.force, w.equivalent, w.force, c.equivalent])
    return [
        [
            c.name,
            int(node),
            *map(float, c.position[i]),
            Status(int(c.status[i])).label,
            Status(int(w.status[i])).label,
            *map(float, values[i]),
            "no" if c.inadmissible[i] else "yes",
            pair.concentrated_label,
            pair.weighted_label,
        ]
        for i, node in enumerate(c.nodes)
    ]


def _pair_text(pair: Pair) -> str:
    c, w = pair.concentrated, pair.weighted
    title = (
        f"Contact {c.name!r}, node by node: C = {pair.concentrated_label}, "
        f"W = {pair.weighted_label}\n"
        "uC, uW displacements; RC concentrated reactions and their counterparts P RW; RW weighted "
        "reactions and their counterparts P^-1 RC\n"
        "(N normal, T tangential; * marks a P^-1 image that is inadmissible: a tension, or outside "
        "the friction cone)"
    )
    header = ["node", "x", "uC_x", "uW_x", "uC_y", "uW_y", "C", "W"]
    header += ["RC_N", "(P RW)_N", "RC_T", "(P RW)_T"]
    header += ["RW_N", "(P^-1 RC)_N", "RW_T", "(P^-1 RC)_T", ""]
    rows = []
    for i, node in enumerate(c.nodes):
        forces = pair.factor * np.array(
            [
                *np.column_stack([c.force[i], w.equivalent[i]]).ravel(),
                *np.column_stack([w.force[i], c.equivalent[i]]).ravel(),
            ]
        )
        moves = np.column_stack([c.displacement[i], w.displacement[i]]).ravel()
        rows.append(
            [
                str(node),
                f"{c.position[i, 0]:.4g}",
                *(f"{u:.4e}" for u in moves),
                *(Status(int(s.status[i])).label[:5] for s in (c, w)),
                *(f"{f:.4e}" for f in forces),
                "*" if c.inadmissible[i] else "",
            ]
        )
    sums = np.column_stack(
        [c.force.sum(0), w.equivalent.sum(0), w.force.sum(0), c.equivalent.sum(0)]
    )
    total = pair.factor * np.concatenate([sums[:, :2].ravel(), sums[:, 2:].ravel()])
    rows.append(["sum", *[""] * 7, *(f"{f:.4e}" for f in total), ""])
    largest = _largest(c.force) or 1.0
    findings = [
        f"Largest difference of displacements on the contact: "
        f"{_relative(w.displacement - c.displacement, c.displacement):.2e} of the largest.",
        f"Largest difference of RC and P RW: "
        f"{_largest(w.equivalent - c.force) / largest:.2e} of the largest RC.",
        f"Largest difference of RW and P^-1 RC: "
        f"{_largest(c.equivalent - w.force) / largest:.2e} of the largest RC.",
        _changed(pair),
        _admissibility("P^-1 images of the concentrated reactions", c),
        _admissibility("P images of the weighted reactions", w),
    ]
    return "\n".join([title, _aligned(header, rows), *findings])


def _changed(pair: Pair) -> str:
    c, w = pair.concentrated, pair.weighted
    differ = np.flatnonzero(c.status != w.status)
    if not differ.size:
        return "Every candidate has the same status in both."
    listed = ", ".join(
        f"{c.nodes[i]} ({Status(int(c.status[i])).label} / {Status(int(w.status[i])).label})"
        for i in differ
    )
    return f"The status differs at {differ.size} of {len(c.nodes)} candidates: node {listed}."


def _admissibility(what: str, state: ContactState) -> str:
    wrong = np.flatnonzero(state.inadmissible)
    if not wrong.size:
        return f"All {what} are admissible: compressive and inside the friction cone."
    tension = state.equivalent[:, 0] < 0.0
    listed = ", ".join(
        f"{state.nodes[i]} ({'tension' if tension[i] else 'outside the cone'})" for i in wrong
    )
    return (
        f"{wrong.size} of the {len(state.nodes)} {what} are inadmissible, at node {listed}: "
        "no solution of the other problem could have them."
    )


def _same_kind_rows(runs: Runs, notes: list[str]) -> tuple[list[str], list[list[object]]]:
    """Reactions of every run beside those of the baseline, where the candidates are the same."""
    columns = ["run", "contact", "node", "x", "y", "status", "RN", "RT", "RN_baseline"]
    columns += ["RT_baseline", "ux_difference", "uy_difference"]
    rows: list[list[object]] = []
    if runs[0][1].last is None:
        return columns, rows
    for label, result in runs[1:]:
        if result.last is None:
            continue
        factor = per_thickness(result.simulation.model.solid)
        base_factor = per_thickness(runs[0][1].simulation.model.solid)
        for name, state in result.contacts.items():
            base = runs[0][1].contacts.get(name)
            if base is None or base.position.shape != state.position.shape:
                notes.append(
                    f"{label}: the candidates of contact {name!r} differ from the baseline"
                )
                continue
            if not np.allclose(base.position, state.position):
                notes.append(
                    f"{label}: the candidates of contact {name!r} differ from the baseline"
                )
                continue
            if base.reactions != state.reactions:
                notes.append(
                    f"{label}: contact {name!r} has {state.reactions} reactions, the baseline "
                    f"{base.reactions} ones, and more than that differs; compare totals only"
                )
                continue
            moved = state.displacement - base.displacement
            rows += [
                [
                    label,
                    name,
                    int(state.nodes[i]),
                    *map(float, state.position[i]),
                    Status(int(state.status[i])).label,
                    *map(float, factor * state.force[i]),
                    *map(float, base_factor * base.force[i]),
                    *map(float, moved[i]),
                ]
                for i in range(len(state.nodes))
            ]
    return columns, rows


def _short(row: Iterable[object]) -> list[str]:
    return ["-" if v is None else f"{v:.5g}" if isinstance(v, float) else str(v) for v in row]


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need: the first to the left, the others to the right."""
    widths = [max(len(r[i]) for r in (header, *rows)) for i in range(len(header))]
    lines = []
    for row in (header, *rows):
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(len(line) for line in lines))
    return "\n".join(lines)


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(
                ["" if v is None else number(v) if isinstance(v, float) else v for v in row]
            )
