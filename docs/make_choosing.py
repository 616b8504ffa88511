"""Write guide/choosing.md, running what it tells: python docs/make_choosing.py."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import fecontact as fc
from fecontact.recovery import stress_at_points
from fecontact.solvers.residual import natural_map

ROOT = Path(__file__).parent.parent
PAGE = Path(__file__).parent / "guide" / "choosing.md"
TEXT = Path(__file__).parent / "_text" / "choosing.md"
TEMPLATES = ROOT / "fecontact" / "templates"
BELOW = 1e-8


def run(case: Path, values: Mapping[str, Any]) -> fc.Result:
    """Run a case with some keys set."""
    return fc.build(fc.read_case(case).with_values(values)).run()


def part(value: float) -> str:
    """Show a ratio, rounding errors as 0."""
    return "0" if abs(value) < BELOW else f"{value:.2g}"


def table(head: str, rows: list[str]) -> list[str]:
    """Put a table together."""
    return [f"| {head} |", "|---" * (head.count("|") + 1) + "|", *(f"| {row} |" for row in rows)]


BARS = {
    "gap at $t+h(1-\\theta)$, θ = 0.5": {"scheme.theta": 0.5},
    "gap at $t+h(1-\\theta)$, θ = 0.55": {},
    "gap at $t+h(1-\\theta)$, θ = 1": {"scheme.theta": 1.0},
    "gap at the end of the step, θ = 0.5": {
        "scheme.theta": 0.5,
        "contact.bars.condition": "end_gap",
    },
    "gap at the end of the step, θ = 0.55": {"contact.bars.condition": "end_gap"},
    "velocity, θ = 0.55": {"contact.bars.condition": "velocity"},
    "Newmark, β = 1/4, γ = 1/2": {"scheme": {"name": "newmark"}},
}


def bars_section(step: float = 1e-5) -> list[str]:
    """Tell how conditions and schemes do on the colliding bars."""
    rows = []
    for name, values in BARS.items():
        result = run(ROOT / "cases" / "colliding_bars.toml", {**values, "time.step": step})
        history = result.history
        touching = (history["time"] > 0.3e-3) & (history["time"] < 1.8e-3)
        ringing = np.abs(history["contact_velocity"][touching]).max() / 0.1
        deepest = max(-s.contacts["bars"].gap.min() for s in result.steps) / (0.1 * 1e-5)
        start = 0.5 * 1000.0 * 0.1**2 * 2.0 * 0.01
        kinetic = history["energy_kinetic"][-1] / start
        rows.append(f"{name} | {part(ringing)} | {part(deepest)} | {kinetic:.3g}")
    return table("condition and scheme | ringing / v0 | penetration / (v0 h) | energy kept", rows)


def drift_section() -> list[str]:
    """Tell what becomes of penetration when a body is dragged over a hump."""
    hump = {"type": "disk", "center": [0.1, -0.5], "radius": 0.5}
    rows = []
    for condition in ("gap", "velocity"):
        for steps in (20, 40, 80):
            values = {
                "contact.floor.obstacle": hump,
                "contact.floor.condition": condition,
                "contact.floor.friction": 0.1,
                "contact.floor.reactions": "concentrated",
                "prescribed.plate.uy": {"times": [0.0, 0.5, 1.0], "values": [0.0, -4e-4, -4e-4]},
                "prescribed.plate.ux": {"times": [0.0, 0.5, 1.0], "values": [0.0, 0.0, 2e-2]},
                "time.steps": steps,
                "mesh.nx": 48,
            }
            result = run(TEMPLATES / "block" / "case.toml", values)
            if not result.converged:
                rows.append(f"{condition} | {steps} | not converged")
                continue
            deepest = max(-result.final.contacts["floor"].gap.min(), 0.0)
            rows.append(f"{condition} | {steps} | {part(deepest / 4e-4)}")
    return table("condition | steps | penetration at the end / indentation", rows)


def step_section() -> list[str]:
    """Tell what the step does to an impact."""
    rows = []
    for steps in (50, 100, 200, 400, 800):
        result = run(TEMPLATES / "impact" / "case.toml", {"time.steps": steps})
        last = {
            name: result.history[f"energy_{name}"][-1] / 150.0
            for name in ("kinetic", "elastic", "friction", "shocks")
        }
        rows.append(
            f"{6e-3 / steps * 1e6:g} µs | {last['kinetic']:.3f} | {last['elastic']:.3f} "
            f"| {last['friction']:.3f} | {last['shocks']:.3f}"
        )
    return table("step | kinetic | elastic | friction | shocks", rows)


def tolerance_section() -> list[str]:
    """Tell what the tolerance buys."""
    case = ROOT / "cases" / "sliding_block.toml"
    size = {"mesh.nx": 64, "mesh.ny": 64}
    exact = run(case, {**size, "solver.tolerance": 1e-12}).contacts["base"].force
    rows = []
    for name in ("nsgs", "hybrid"):
        for tolerance in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10):
            values = {**size, "solver.name": name, "solver.tolerance": tolerance}
            result = run(case, values)
            error = np.abs(result.contacts["base"].force - exact).max() / np.abs(exact).max()
            report = result.final.report
            iterations = report.iterations if report is not None else 0
            rows.append(f"{name} | {tolerance:g} | {iterations} | {part(error)}")
    return table("solver | tolerance | iterations | error of reactions", rows)


def reactions_section() -> list[str]:
    """Tell how even a uniform pressure comes out on meshes that do not match."""
    rows = []
    for kind in ("concentrated", "weighted"):
        values = {"contact.interface.reactions": kind}
        result = run(ROOT / "cases" / "patch_test.toml", values)
        stress = stress_at_points(result.simulation.model.solid, result.final.displacement)
        error = np.abs(stress[:, 1] / -1e6 - 1.0).max()
        rows.append(f"{kind} | {part(error)}")
    return table("reactions | error of the stress", rows)


def uniqueness_section() -> list[str]:
    """Show one contact that has two solutions."""
    W, q, mu = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([0.08, 1.0]), np.array([2.0])
    problem = fc.FrictionProblem(W, q, mu)
    found = fc.solve(problem)
    rows = []
    for name, r in (("opens", np.zeros(2)), ("slides", np.array([0.1, -0.2]))):
        residual = np.abs(natural_map(problem, r)).max()
        chosen = "this one" if np.allclose(r, found.r) else ""
        u = ", ".join(part(x) for x in W @ r + q)
        shown = ", ".join(part(x) for x in r)
        rows.append(f"{name} | ({shown}) | ({u}) | {part(residual)} | {chosen}")
    assert found.report.non_unique == 1
    return table("solution | r | u | residual | the solver's choice", rows)


SECTIONS = {
    "bars": bars_section,
    "drift": drift_section,
    "step": step_section,
    "tolerance": tolerance_section,
    "reactions": reactions_section,
    "uniqueness": uniqueness_section,
}


def render() -> str:
    """Put the tables into the text, running everything it tells."""
    text = TEXT.read_text(encoding="utf-8")
    for name, section in SECTIONS.items():
        text = text.replace("{" + name + "}", "\n".join(section()))
    return text


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(PAGE)
