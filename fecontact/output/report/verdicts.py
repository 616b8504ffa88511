"""What a run gave, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["good", "note", "warning", "bad"]
BALANCED, NEARLY_BALANCED = 1e-8, 1e-4
"""Resultant of all forces, relative to the largest, below which they balance, or nearly."""
SMALL_STRAIN = 0.2
"""Beyond it the theory of small displacements is told to be left."""


@dataclass(frozen=True)
class Verdict:
    """One statement: how good it is, what about, and the words."""

    level: Level
    title: str
    text: str


def state_of(summary: Mapping[str, Any]) -> str:
    """One of running, done, interrupted, failed, refuted and unfinished (without a summary)."""
    if not summary:
        return "unfinished"
    if summary.get("running"):
        return "running"
    if summary.get("interrupted"):
        return "interrupted"
    if not summary.get("converged"):
        return "failed"
    return "refuted" if _refuted(summary) else "done"


def _refuted(summary: Mapping[str, Any]) -> bool:
    """Whether the results, looked at again, do not obey their laws."""
    return (summary.get("certificate") or {}).get("verdict") == "fail"


def verdicts(
    summary: Mapping[str, Any], history: Sequence[Mapping[str, float | None]]
) -> list[Verdict]:
    """Statements on convergence, balance, contacts and the mesh, as far as they are known."""
    found = [_convergence(summary, len(history))]
    certificate = summary.get("certificate") or {}
    if summary:
        balance = _number(summary.get("force_balance"))
        if history and balance is not None:
            found.append(_balance(balance))
        found += _certificate(certificate)
        found += _contacts(summary)
    found += _strains(_number(summary.get("largest_strain")))
    if not any(c.startswith("energy balance") for c in certificate.get("not_covered") or ()):
        found += _energy(history)
    notes = summary.get("mesh", {}).get("notes") or []
    found += [Verdict("note", "Mesh", str(note)) for note in notes]
    return found


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _convergence(summary: Mapping[str, Any], done: int) -> Verdict:
    state, title = state_of(summary), "Convergence"
    if state == "unfinished":
        text = f"The run did not reach its end: {_steps(done)} in the history, no summary."
        return Verdict("warning", title, text)
    times = summary.get("times", {})
    reached, end = _number(times.get("time_reached")) or 0.0, _number(times.get("end")) or 0.0
    where = f"at t = {reached:g} of {end:g}, after {_steps(done)}"
    residual, tolerance = _number(summary.get("worst_residual")), _number(summary.get("tolerance"))
    accuracy = ""
    if summary.get("contacts") and residual is not None and tolerance is not None and done:
        accuracy = (
            f" The contact laws hold to {residual:.1e} at worst, where {tolerance:.0e} was asked."
        )
    if state == "running" and not done:
        return Verdict("note", title, "The run has begun; no step is done yet.")
    if state == "running":
        return Verdict("note", title, f"Running: {where}.{accuracy}")
    if state == "interrupted":
        return Verdict("warning", title, f"Interrupted {where}; these converged.{accuracy}")
    if state in ("done", "refuted"):
        all_of = f"All {done} steps" if done != 1 else "The one step"
        return Verdict("good", title, f"{all_of} converged.{accuracy}")
    failure = summary.get("failure") or {}
    text = f"The run stopped: {failure.get('message') or summary.get('message', '')}."
    kept = f" The {_steps(done)} before it are kept." if done else " No step was completed."
    return Verdict("bad", title, text.replace("..", ".") + kept)


def _steps(count: Any) -> str:
    return "1 step" if count == 1 else f"{count} steps"


def _balance(balance: float) -> Verdict:
    title, size = "Force balance", f"{balance:.1e} of the largest force"
    if balance <= BALANCED:
        return Verdict(
            "good", title, f"Loads, contact reactions and supports cancel: {size} is left at worst."
        )
    if balance <= NEARLY_BALANCED:
        return Verdict("warning", title, f"Forces balance only nearly: {size} is left at worst.")
    return Verdict("bad", title, f"Forces do not balance: {size} is left at worst.")


def _certificate(certificate: Mapping[str, Any]) -> list[Verdict]:
    """What the saved steps say of themselves, computed again from the files alone."""
    title, word = "Certificate", certificate.get("verdict")
    figures, limits = certificate.get("figures") or {}, certificate.get("limits") or {}
    found = []
    if word == "pass":
        nearest = max(figures, key=lambda name: (figures[name] or 0.0) / limits[name])
        count = certificate.get("steps")
        text = (
            f"Computed again from the results alone, {_steps(count)} "
            f"{'obeys' if count == 1 else 'obey'} the balance and the contact laws; nearest to its "
            f"limit is {nearest.replace('_', ' ')}, {figures[nearest]:.1e} of "
            f"{limits[nearest]:.0e}."
        )
        found.append(Verdict("good", title, text))
    elif word == "fail":
        for name, where in (certificate.get("failures") or {}).items():
            place = f", {where['place']}" if where.get("place") else ""
            text = (
                f"The results do not obey their laws: {name.replace('_', ' ')} is "
                f"{figures.get(name) or float('inf'):.1e} at step {where.get('step')}{place}, more "
                f"than {limits.get(name) or 0.0:.0e}."
            )
            found.append(Verdict("bad", title, text))
    if certificate.get("non_unique"):
        text = (
            f"For {certificate['non_unique']} contacts of a step friction is so large that other "
            "solutions may exist."
        )
        found.append(Verdict("note", "Uniqueness", text))
    found += [
        Verdict("note", title, f"Not covered: {c}.") for c in certificate.get("not_covered") or []
    ]
    return found


def _contacts(summary: Mapping[str, Any]) -> list[Verdict]:
    found = []
    for name, contact in summary.get("contacts", {}).items():
        counts = {s: contact.get(s, 0) for s in ("separated", "sliding", "sticking")}
        total = contact.get("candidates", sum(counts.values()))
        held = [f"{n} {s}" for s, n in counts.items() if n]
        text = f"At the end, of {total} candidates: {', '.join(held) or 'none active'}."
        level: Level = "note"
        if total and counts["separated"] == total:
            text = f"None of the {total} candidates touches at the end."
        elif counts["sliding"] and not counts["sticking"] and _number(contact.get("RT")):
            text += " No candidate sticks: friction is used up everywhere."
        outside = contact.get("inadmissible_equivalents") or []
        if outside:
            image = "weighted" if contact.get("reactions") == "concentrated" else "concentrated"
            text += (
                f" Taken as {image} reactions, those of {len(outside)} candidates would leave "
                "the friction cone."
            )
        found.append(Verdict(level, f"Contact {name}", text))
    return found


def _strains(largest: float | None) -> list[Verdict]:
    if largest is None or largest <= SMALL_STRAIN:
        return []
    text = (
        f"Strains reach {largest:.2g} at the end. Displacements were taken as small, which holds "
        "for a few per cent at most: read shapes and stresses with care."
    )
    return [Verdict("warning", "Small strains", text)]


def _energy(history: Sequence[Mapping[str, float | None]]) -> list[Verdict]:
    """On the relative defect of energies, works and dissipations, where it was followed."""
    errors = [abs(row["energy_balance"] or 0.0) for row in history if "energy_balance" in row]
    if not errors:
        return []
    worst = max(errors)
    level: Level = "good" if worst <= 1e-6 else "note" if worst <= 1e-2 else "warning"
    text = f"Works, stored energy and dissipation agree to {worst:.1e} of the largest at worst."
    return [Verdict(level, "Energy balance", text)]
