"""The benchmarks at a glance: one line for each number that has a reference."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from verified import (
    CASES,
    POINTS,
    SSNV128,
    accelerations,
    fault_profile,
    fitted,
    hertz_settings,
    maxwell_rows,
    patch_error,
    percent,
    printed,
    run,
    slipped,
    variant,
    varied,
)

from fecontact.output.impacts import step_restitution
from tests.exact_impacts import BouncingBar, CollidingBars


@dataclass(frozen=True)
class Finding:
    """A number of ours beside its reference, and the command that computes it."""

    benchmark: str
    reference: str
    quantity: str
    expected: str
    found: str
    difference: str
    command: str

    def row(self, number: int) -> str:
        """Its line of the table; the name leads to its section, the number to the command."""
        anchor = "".join(c for c in self.benchmark.lower() if c.isalnum() or c in " -")
        cells = [
            f"[{self.benchmark}](#{anchor.replace(' ', '-')})",
            self.reference,
            self.quantity,
            self.expected,
            self.found,
            self.difference,
            str(number),
        ]
        return "| " + " | ".join(cells) + " |"


def block_findings() -> list[Finding]:
    """Sums of the printed tables, and the displacements of SSNV128."""
    found = []
    for case, name in CASES.items():
        for kind in ("concentrated", "weighted"):
            sums = run(name, f"contact.reactions={kind}").contacts["base"].force.sum(axis=0)
            for component, what in enumerate(("RN", "RT")):
                table = float(printed(case, kind)[1][:, component].sum())
                found.append(
                    Finding(
                        "The sliding block of 1988",
                        "Jean 1988",
                        f"sum of {what}, case {case}, {kind}",
                        f"{table:.4e} N/m",
                        f"{sums[component]:.4e} N/m",
                        f"{abs(sums[component] / table - 1.0):.0e}",
                        f"fecontact run cases/{name} --set contact.reactions={kind}",
                    )
                )
    settings = ("mesh.nx=32", "mesh.ny=32")
    state = run("sliding_block_ssnv128.toml", *settings).contacts["base"]
    ux = np.interp(POINTS, state.position[:, 0], state.displacement[:, 0])
    for x, expected, value in zip(POINTS, SSNV128, ux, strict=True):
        found.append(
            Finding(
                "The loads of SSNV128",
                "code_aster",
                f"ux at x = {1e3 * x:g} mm",
                f"{expected:.2e} m",
                f"{value:.3e} m",
                percent(value, expected),
                "fecontact run cases/sliding_block_ssnv128.toml "
                + " ".join(f"--set {s}" for s in settings),
            )
        )
    return found


def patch_findings() -> list[Finding]:
    """The patch test between meshes that do not match."""
    settings = ("contact.interface.reactions=weighted", "contact.interface.friction=0.0")
    error = patch_error(*settings)
    told = "below 1e-9" if error < 1e-9 else f"{error:.0e}"
    return [
        Finding(
            "Two bodies, the patch test",
            "uniform stress",
            "error of the stress, weighted reactions",
            "0",
            told,
            told,
            "fecontact run cases/patch_test.toml " + " ".join(f"--set {s}" for s in settings),
        )
    ]


def curved_findings() -> list[Finding]:
    """Hertz, Cattaneo and Mindlin, ironing."""
    found = []
    for load, edge in ((3.5, 0.1), (35.0, 0.2)):
        a, p, theory = fitted(load, edge)
        # at 3.5 kN/mm the case as it is
        settings = [] if load == 3.5 else hertz_settings(load, edge)
        command = " ".join(["fecontact run cases/hertz.toml", *(f"--set {s}" for s in settings)])
        for what, scale, unit, value, expected in (
            ("half width", 1e3, "mm", a, theory.half_width),
            ("peak pressure", 1e-6, "MPa", p, theory.peak),
        ):
            found.append(
                Finding(
                    "Hertz",
                    "closed form",
                    f"{what} at {load:g} kN/mm",
                    f"{scale * expected:.4g} {unit}",
                    f"{scale * value:.4g} {unit}",
                    percent(value, expected),
                    command,
                )
            )
    _, stick, theory, _ = slipped(0.1, "weighted")
    found.append(
        Finding(
            "Cattaneo and Mindlin",
            "closed form",
            "half width of the stick zone",
            f"{1e3 * theory:.2f} mm",
            f"{1e3 * stick:.2f} mm",
            f"{1e3 * (stick - theory):+.2f} mm, edge 0.1 mm",
            "fecontact run cases/cattaneo_mindlin.toml --set contact.slip.reactions=weighted",
        )
    )
    found.append(
        Finding(
            "Ironing",
            "a flat slab",
            "variation of the normal force",
            "0",
            f"{100 * varied('weighted'):.1f} %",
            f"{100 * varied('weighted'):.1f} %",
            "fecontact run cases/ironing.toml --set contact.iron.reactions=weighted",
        )
    )
    return found


def moving_findings() -> list[Finding]:
    """Bars that collide and bounce, and the slope."""
    bars, command = CollidingBars(), "fecontact compare cases/colliding_bars.toml"
    history = variant("colliding_bars.toml", "right_gap").history
    force, h = history["RN_bars"], history["h"]
    end_gap = step_restitution(variant("colliding_bars.toml", "end_gap"), "bars") or 0.0
    impulse = 2.0 * bars.pressure * bars.L / bars.c
    rows = [
        ("impulse per area", impulse, float((force * h).sum()) / 0.01, "Pa s"),
        ("false restitution of the end gap", 0.45 / 0.55, abs(end_gap), ""),
    ]
    found = [
        Finding(
            "Impacts",
            "exact solution",
            f"colliding bars: {what}",
            f"{expected:.4g} {unit}".rstrip(),
            f"{value:.4g} {unit}".rstrip(),
            percent(value, expected),
            command,
        )
        for what, expected, value, unit in rows
    ]
    exact, history = BouncingBar(), run("bouncing_bar.toml").history
    pushes = np.flatnonzero(history["RN_floor"] > 0.0)
    start = float(history["time"][pushes[0]] - history["h"][pushes[0]])
    length = float(history["time"][pushes[-1]]) - start
    for what, expected, value in (
        ("first contact", exact.t0, start),
        ("length of the contact", exact.duration, length),
    ):
        found.append(
            Finding(
                "Impacts",
                "Doyen, Ern, Piperno 2011",
                f"bouncing bar: {what}",
                f"{expected:.4f} s",
                f"{value:.4f} s",
                percent(value, expected, 2),
                "fecontact run cases/bouncing_bar.toml",
            )
        )
    for degrees, value, expected in accelerations()[2:]:
        off = abs(value / expected - 1.0)
        found.append(
            Finding(
                "A block on a slope",
                "rigid block",
                f"acceleration at {degrees} degrees",
                f"{expected:.5f} m/s²",
                f"{value:.5f} m/s²",
                "below 1e-6" if off < 1e-6 else f"{off:.0e}",
                "fecontact compare cases/block_on_slope.toml",
            )
        )
    return found


def flowing_findings() -> list[Finding]:
    """Maxwell points and the fault."""
    found = []
    for name, value, expected in maxwell_rows():
        off = abs(value / expected - 1.0)
        found.append(
            Finding(
                "A Maxwell point",
                "closed form",
                name,
                f"{expected:.4f} MPa",
                f"{value:.4f} MPa",
                "below 1e-10" if off < 1e-10 else f"{off:.0e}",
                "python docs/make_verification.py",
            )
        )
    depth, implicit, push = fault_profile("implicit")
    _, explicit, pushed = fault_profile("explicit")
    both = "fecontact compare cases/fault_in_layers.toml --vary scheme.name=implicit,explicit"
    below = float(np.abs(implicit[depth > 7e3]).max())
    found.append(
        Finding(
            "The fault in two layers",
            "Jean 1995, figure 10",
            "sliding velocity / v0 on the lower part",
            "0",
            f"{below:.2f}",
            f"{below:.2f}",
            "fecontact run cases/fault_in_layers.toml",
        )
    )
    away = float(np.abs(explicit - implicit).max())
    found.append(
        Finding(
            "The fault in two layers",
            "explicit route",
            "sliding velocity / v0, at most between routes",
            "0",
            f"{away:.3f}",
            f"{away:.3f}",
            both,
        )
    )
    found.append(
        Finding(
            "The fault in two layers",
            "explicit route",
            "push on the left edge",
            f"{1e-12 * pushed:.3f} TN/m",
            f"{1e-12 * push:.3f} TN/m",
            percent(push, pushed, 2),
            both,
        )
    )
    return found


def glance() -> list[str]:
    """All benchmarks in one table."""
    found = [
        *block_findings(),
        *patch_findings(),
        *curved_findings(),
        *moving_findings(),
        *flowing_findings(),
    ]
    commands = list(dict.fromkeys(finding.command for finding in found))
    return [
        "| benchmark | reference | quantity | expected | ours | difference | command |",
        "|---|---|---|---|---|---|---|",
        *(finding.row(commands.index(finding.command) + 1) for finding in found),
        "",
        "The commands by number:",
        "",
        *(f"{number}. `{command}`" for number, command in enumerate(commands, 1)),
    ]
