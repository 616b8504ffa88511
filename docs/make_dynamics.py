"""Run the impacts, write their results into dynamics.md and draw its figures.

python docs/make_dynamics.py
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import fecontact as fc  # noqa: E402
from fecontact.case.variants import variants  # noqa: E402
from fecontact.output.figures import new_figure, save_figure, tidy  # noqa: E402
from fecontact.output.histories import COLOURS, LINES  # noqa: E402
from fecontact.output.impacts import step_restitution  # noqa: E402
from tests.exact_impacts import BouncingBar, CollidingBars  # noqa: E402

PAGE = Path(__file__).parent / "dynamics.md"
IMAGES = Path(__file__).parent / "images"
BEGIN, END = "<!-- results: written by docs/make_dynamics.py -->", "<!-- end of results -->"
AREA = 0.01
NAMES = {"newmark": "Newmark", "end_gap": "θ = 0.55, end gap", "right_gap": "θ = 0.55, right gap"}


def run(case: str, *settings: str) -> fc.Result:
    """Run a case of the project with some keys set."""
    result = fc.build(fc.read_case(ROOT / "cases" / case, settings)).run()
    if result.failure is not None:
        raise result.failure
    return result


def colliding() -> dict[str, fc.Result]:
    """Run the three variants of the colliding bars."""
    case = fc.read_case(ROOT / "cases" / "colliding_bars.toml")
    return {label: fc.build(one).run() for label, one in variants(case, [])}


def draw_colliding(runs: dict[str, fc.Result], path: Path) -> Path:
    """Draw force, contact velocity and end velocity of the three runs and the exact ones."""
    exact = CollidingBars()
    figure = new_figure(7.6, 8.0)
    axes = figure.subplots(3, 1, sharex=True)
    t = np.linspace(0.0, 3e-3, 3001)
    on = (t > exact.t0) & (t < exact.release)
    middle = np.where(t < exact.t0, exact.v0, np.where(on, 0.0, -exact.v0))
    curves = (
        ("RN_bars", "force / (ρ c v₀)", AREA * exact.pressure, np.where(on, 1.0, 0.0)),
        ("contact_velocity", "contact velocity / v₀", exact.v0, middle / exact.v0),
        (
            "end_velocity",
            "velocity of the far end / v₀",
            exact.v0,
            exact.end_velocity(t) / exact.v0,
        ),
    )
    for ax, (column, label, size, reference) in zip(axes, curves, strict=True):
        for k, (name, result) in enumerate(runs.items()):
            history = result.history
            ax.plot(
                1e3 * history["time"],
                history[column] / size,
                color=COLOURS[k],
                linestyle=LINES[k],
                linewidth=1.2,
                label=NAMES[name],
            )
        ax.plot(1e3 * t, reference, color="black", linewidth=0.8, label="exact")
        ax.set_ylabel(label)
        tidy(ax)
    axes[0].legend(frameon=False, ncols=2)
    axes[-1].set_xlabel("time (ms)")
    return save_figure(figure, path)


def draw_bouncing(result: fc.Result, path: Path) -> Path:
    """Draw the contact pressure and the lower end, computed and exact."""
    exact, history = BouncingBar(), result.history
    figure = new_figure(7.6, 5.6)
    axes = figure.subplots(2, 1, sharex=True)
    t = np.linspace(0.0, 2.0, 4001)
    axes[0].plot(history["time"], history["RN_floor"] / 0.5, color=COLOURS[0], label="computed")
    axes[0].plot(t, exact.pressure(t), color="black", linewidth=0.8, label="exact")
    axes[0].set_ylabel("contact pressure (Pa)")
    axes[0].legend(frameon=False)
    end = exact.t0 + exact.duration
    falling = t[t <= end]
    height = np.where(falling < exact.t0, exact.h0 - 0.5 * exact.g * falling**2, 0.0)
    axes[1].plot(history["time"], 5.0 + history["lower_end"], color=COLOURS[0], label="computed")
    axes[1].plot(falling, height, color="black", linewidth=0.8, label="exact, to the release")
    axes[1].set_ylabel("height of the lower end (m)")
    axes[1].set_xlabel("time (s)")
    axes[1].legend(frameon=False)
    for ax in axes:
        tidy(ax)
    return save_figure(figure, path)


def errors(n: int, theta: float, exact: CollidingBars) -> tuple[float, float, float]:
    """Relative errors of force and end velocity in the mean square, and energy after rebound."""
    history = run("colliding_bars.toml", *exact.settings(n, theta)).history
    t, h = history["time"], float(history["h"][0])
    seen = t < exact.t0 + 2.5 * exact.L / exact.c
    span = 2.0 * exact.L / exact.c
    force = (history["RN_bars"] / AREA - exact.mean_pressure(t, h)) / exact.pressure
    velocity = (history["end_velocity"] - exact.end_velocity(t)) / exact.v0
    stored = history["energy_kinetic"] + history["energy_elastic"]
    mean = [float(np.sqrt(h * (e[seen] ** 2).sum() / span)) for e in (force, velocity)]
    return mean[0], mean[1], float(stored[-1] / history["energy_kinetic"][0])


def convergence_table(levels: tuple[int, ...] = (15, 45, 135, 405)) -> list[str]:
    """Tabulate errors and rates under refinement of mesh and step together."""
    exact = replace(CollidingBars(), t0=1e-4)
    lines = [
        "| θ | elements | force | rate | end velocity | rate | energy after rebound |",
        "|---|---|---|---|---|---|---|",
    ]
    for theta in (0.5, 0.55):
        before: tuple[float, ...] | None = None
        for n in levels:
            found = errors(n, theta, exact)
            rates = ["", ""]
            if before is not None:
                rates = [f"{np.log(before[k] / found[k]) / np.log(3.0):.2f}" for k in range(2)]
            lines.append(
                f"| {theta} | {n} | {found[0]:.3f} | {rates[0]} | {found[1]:.3f} | {rates[1]} "
                f"| {found[2]:.4f} |"
            )
            before = found
    return lines


def restitution_table(runs: dict[str, fc.Result]) -> list[str]:
    """Tabulate what each scheme makes of the contact velocity from step to step."""
    lines = [
        "| run | restitution from step to step | largest contact velocity / v₀ | largest force |",
        "|---|---|---|---|",
    ]
    exact = CollidingBars()
    for name, result in runs.items():
        history = result.history
        first = int(np.argmax(history["RN_bars"] > 0.0)) + 1
        during = slice(first, int(np.searchsorted(history["time"], exact.release - 1e-9)))
        e = step_restitution(result, "bars") or 0.0
        u = np.abs(history["contact_velocity"][during]).max() / exact.v0
        R = history["RN_bars"].max() / AREA / exact.pressure
        shown = "below 0.00001" if u < 1e-5 else f"{u:.3f}"
        lines.append(f"| {NAMES[name]} | {abs(e):.3f} | {shown} | {R:.2f} ρ c v₀ |")
    return lines


def bouncing_table(result: fc.Result) -> list[str]:
    """Tabulate instant and length of the first contact."""
    exact, history = BouncingBar(), result.history
    pushes = np.flatnonzero(history["RN_floor"] > 0.0)
    start, end = history["time"][pushes[0]] - history["h"][pushes[0]], history["time"][pushes[-1]]
    impulse = float((history["RN_floor"] * history["h"]).sum()) / 0.5
    total = exact.rho * exact.L * (2.0 * exact.v0 + exact.g * exact.duration)
    rows = (
        ("first contact (s)", exact.t0, start),
        ("length of the contact (s)", exact.duration, end - start),
        ("impulse per area (Pa s)", total, impulse),
    )
    lines = ["| | exact | computed | difference |", "|---|---|---|---|"]
    for name, wanted, found in rows:
        lines.append(
            f"| {name} | {wanted:.4f} | {found:.4f} | {100 * (found / wanted - 1):.2f} % |"
        )
    return lines


def main() -> None:
    """Run everything."""
    IMAGES.mkdir(exist_ok=True)
    bars, bouncing = colliding(), run("bouncing_bar.toml")
    print(draw_colliding(bars, IMAGES / "colliding_bars.png"))
    print(draw_bouncing(bouncing, IMAGES / "bouncing_bar.png"))
    results = [
        BEGIN,
        "",
        "Colliding bars under refinement, relative errors in the mean square over time:",
        "",
        *convergence_table(),
        "",
        "The three variants of the case:",
        "",
        *restitution_table(bars),
        "",
        "Bouncing bar:",
        "",
        *bouncing_table(bouncing),
        "",
        END,
    ]
    text = PAGE.read_text(encoding="utf-8")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(head + "\n".join(results) + tail, encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
