"""Write verification.md from the benchmarks themselves: python docs/make_verification.py."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
    varied,
)
from verified_glance import glance

import fecontact as fc
from fecontact.contact import ContactState

PAGE = Path(__file__).parent / "verification.md"


def command(verb: str, case: str, *options: str) -> list[str]:
    """Show a command that computes what a section tells, or one row of it."""
    return ["", "```sh", " ".join([f"fecontact {verb} cases/{case}", *options]), "```"]


def compared(case: str, contact: str) -> list[str]:
    """Show the command that compares concentrated and weighted reactions."""
    return command("compare", case, f"--vary contact.{contact}.reactions=concentrated,weighted")


def numbers(state: ContactState, status: fc.Status) -> str:
    """List the candidates of a status, numbered from 1, as ranges."""
    found = (np.flatnonzero(state.status == status) + 1).tolist()
    if not found:
        return "none"
    runs = np.split(found, np.flatnonzero(np.diff(found) > 1) + 1)
    return ", ".join(f"{r[0]}" if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)


def relative(computed: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    """Return the largest difference over the table's largest entry."""
    return float(np.abs(computed - table).max() / np.abs(table).max())


def tables_section() -> list[str]:
    """Compare with the four printed tables."""
    lines = [
        "| case | reactions | displacements | reactions' error | sum RN | sum RT "
        "| separated | sliding | sticking |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for case, name in CASES.items():
        for kind in ("concentrated", "weighted"):
            state = run(name, f"contact.reactions={kind}").contacts["base"]
            u, R = printed(case, kind)
            sums = np.abs(state.force.sum(axis=0) / R.sum(axis=0) - 1.0)
            states = " | ".join(numbers(state, s) for s in fc.Status)
            lines.append(
                f"| {case} | {kind} | {relative(state.displacement, u):.1e} "
                f"| {relative(state.force, R):.1e} | {sums[0]:.1e} | {sums[1]:.1e} | {states} |"
            )
    return lines


def admissibility_section() -> list[str]:
    """Tell which equivalents leave the friction cone."""
    lines = ["| case | computed | images | inadmissible images |", "|---|---|---|---|"]
    for case, name in CASES.items():
        for kind, image in (("concentrated", "P⁻¹ R"), ("weighted", "P R")):
            state = run(name, f"contact.reactions={kind}").contacts["base"]
            outside = ", ".join(str(i + 1) for i in np.flatnonzero(state.inadmissible)) or "none"
            lines.append(f"| {case} | {kind} | {image} | {outside} |")
    return lines


def refinement_section(sizes: tuple[int, ...] = (16, 32, 64, 128)) -> list[str]:
    """Compare with SSNV128 under refinement."""
    places = " | ".join(f"x = {1e3 * x:g} mm" for x in POINTS)
    lines = [
        f"| mesh | {places} | largest difference | RN + support | residual |",
        "|---" * (len(POINTS) + 4) + "|",
        "| SSNV128 | " + " | ".join(f"{u:.3e}" for u in SSNV128) + " | | | |",
    ]
    for n in sizes:
        result = run("sliding_block_ssnv128.toml", f"mesh.nx={n}", f"mesh.ny={n}")
        state = result.contacts["base"]
        u = np.interp(POINTS, state.position[:, 0], state.displacement[:, 0])
        upward = result.final.contact_forces[:, 1].sum() + result.final.support_forces[:, 1].sum()
        lines.append(
            f"| {n} x {n} | "
            + " | ".join(f"{value:.3e}" for value in u)
            + f" | {100 * np.abs(u / SSNV128 - 1.0).max():.1f} % | {upward:.6g} N/m "
            + f"| {'below' if result.worst_residual <= 1e-10 else 'above'} 1e-10 |"
        )
    return lines


def patch_section() -> list[str]:
    """Tell the error of the stress between meshes that do not match."""
    lines = ["| reactions | friction | error of the stress |", "|---|---|---|"]
    for kind in ("concentrated", "weighted"):
        for mu in (0.0, 1.0):
            settings = [f"contact.interface.reactions={kind}", f"contact.interface.friction={mu}"]
            error = patch_error(*settings)
            told = f"{100 * error:.1f} %" if error > 1e-9 else "below 1e-9"
            lines.append(f"| {kind} | {mu:g} | {told} |")
    return lines


def hertz_section() -> list[str]:
    """Compare with Hertz under refinement, and at ten times the load."""
    lines = [
        "| load (kN/mm) | edge (mm) | reactions | half width (mm) | theory | difference "
        "| peak (MPa) | theory | difference |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows = [(3.5, edge, "weighted") for edge in (0.4, 0.2, 0.1, 0.05)]
    rows += [(3.5, 0.1, "concentrated"), (35.0, 0.2, "weighted")]
    for load, edge, kind in rows:
        a, p, theory = fitted(load, edge, kind)
        lines.append(
            f"| {load:g} | {edge:g} | {kind} | {1e3 * a:.3f} | {1e3 * theory.half_width:.3f} "
            f"| {percent(a, theory.half_width)} | {1e-6 * p:.0f} | {1e-6 * theory.peak:.0f} "
            f"| {percent(p, theory.peak)} |"
        )
    return lines


def mindlin_section() -> list[str]:
    """Compare the stick zone and the friction with Cattaneo and Mindlin."""
    lines = [
        "| reactions | edge (mm) | Q / (mu P) | stick, computed (mm) | theory | difference "
        "| friction's error |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, edge in (("concentrated", 0.1), ("weighted", 0.1), ("weighted", 0.05)):
        ratio, stick, theory, error = slipped(edge, kind)
        lines.append(
            f"| {kind} | {edge:g} | {ratio:.3f} | {1e3 * stick:.2f} | {1e3 * theory:.2f} "
            f"| {1e3 * (stick - theory):+.2f} mm | {100 * error:.1f} % |"
        )
    return lines


def ironing_section() -> list[str]:
    """Tell how much the force varies while the indenter crosses edges."""
    lines = ["| reactions | variation of the normal force |", "|---|---|"]
    lines += [f"| {kind} | {100 * varied(kind):.1f} % |" for kind in ("concentrated", "weighted")]
    return lines


def slope_section() -> list[str]:
    """Compare the acceleration with that of a rigid block."""
    lines = ["| slope | acceleration (m/s²) | rigid block | difference |", "|---|---|---|---|"]
    for degrees, found, exact in accelerations():
        shown = "below 1e-6" if abs(found - exact) < 1e-6 else f"{found - exact:+.1e}"
        lines.append(f"| {degrees} degrees | {found + 0.0:.5f} | {exact:.5f} | {shown} |")
    return lines


def maxwell_section() -> list[str]:
    """Compare the viscoelastic update with closed forms."""
    lines = ["| stress | computed (MPa) | closed form | difference |", "|---|---|---|---|"]
    for name, found, exact in maxwell_rows():
        off = abs(found / exact - 1.0)
        shown = "below 1e-10" if off < 1e-10 else f"{off:.0e}"
        lines.append(f"| {name} | {found:.4f} | {exact:.4f} | {shown} |")
    return lines


def fault_section() -> list[str]:
    """Tell where the fault slides, by both routes."""
    lines = [
        "| scheme | at the surface | at 2.5 km | at 5 km | below 7 km | push (TN/m) |",
        "|---|---|---|---|---|---|",
    ]
    for scheme in ("implicit", "explicit"):
        depth, sliding, push = fault_profile(scheme)
        places = " | ".join(f"{np.interp(d, depth, sliding):.2f}" for d in (0.0, 2.5e3, 5e3))
        below = np.abs(sliding[depth > 7e3]).max()
        lines.append(f"| {scheme} | {places} | {below:.2f} | {1e-12 * push:.3f} |")
    return lines


def render() -> str:
    """Render the whole page, running everything it tells."""
    parts = [
        "# Verification",
        "",
        "<!-- Written by docs/make_verification.py, which runs what it tells; do not edit. -->",
        "",
        "`python docs/make_verification.py` computes everything on this page and writes it anew.",
        "Under each heading stands a command that computes its cases, or one of its rows, with a",
        "report page. Speed is on the page of [benchmarks](benchmarks.md).",
        "",
        "## At a glance",
        "",
        *glance(),
        "",
        "## The sliding block of 1988",
        "",
        "M. Jean printed four tables for a block pushed along a rigid plane: two load cases,",
        "each with concentrated and with weighted reactions, 16 candidates numbered from the",
        "loaded side. Below are the largest differences over the largest printed entry, the",
        "relative differences of the sums of reactions, and the state of the candidates as",
        "computed here. The printed tables have five digits, and their iterations were stopped",
        "at about 1e-4; the weighted ones are the least converged. The tables are in `tests/data`.",
        *(line for case in CASES.values() for line in compared(case, "base")),
        "",
        *tables_section(),
        "",
        "The images of the reactions under P and its inverse, against the friction cone:",
        "",
        *admissibility_section(),
        "",
        "On a straight line with one coefficient of friction the images P R of admissible",
        "reactions are admissible, for P has no negative entry and the cone is convex. Nothing of",
        "the kind holds for the inverse: it may pull, or leave the cone, where separated, sliding",
        "and sticking candidates follow one another. Where all slide the same way the ratio RT/RN",
        "is kept, and only the sign of the normal part remains to be looked at.",
        "",
        "## The loads of SSNV128",
        "",
        "The same section under uniform pressures (1.5e8 Pa on the left, 5e7 Pa on top, mu = 1) is",
        "the test SSNV128 of code_aster. Displacements ux of the lower side in metres, on n x n Q4",
        "elements, no setting changed between sizes. The vertical load is 2e6 N/m.",
        *command("run", "sliding_block_ssnv128.toml", "--set mesh.nx=64", "--set mesh.ny=64"),
        "",
        *refinement_section(),
        "",
        "## Two bodies, the patch test",
        "",
        "`cases/patch_test.toml` presses two blocks together whose meshes do not match. Largest",
        "error of a stress component over the pressure:",
        *compared("patch_test.toml", "interface"),
        "",
        *patch_section(),
        "",
        "## Hertz",
        "",
        "`cases/hertz.toml`: a steel disk, R = 50 mm, on an aluminium block, without friction.",
        "Half width and peak are those of the ellipse fitted to the computed pressures. The",
        "theory is that of half spaces and of a parabola in the place of the circle; at 35 kN/mm,",
        "where the half width is an eighth of the radius, a circle is steeper at the edge of the",
        "contact, so that the contact is narrower and the peak higher.",
        *command("run", "hertz.toml", *(f"--set {s}" for s in hertz_settings(3.5, 0.05))),
        "",
        *hertz_section(),
        "",
        "## Cattaneo and Mindlin",
        "",
        "`cases/cattaneo_mindlin.toml`: a disk pressed on a block of the same material, then",
        "pushed along it. Half width of the stick zone, to be compared with the edge length, and",
        "root mean square of the difference of friction over mu times the peak pressure.",
        *compared("cattaneo_mindlin.toml", "slip"),
        "",
        *mindlin_section(),
        "",
        "## Ironing",
        "",
        "`cases/ironing.toml`: an indenter dragged over 48 edges of a slab. Largest less smallest",
        "normal force over its mean, after the drag has begun to slide:",
        *compared("ironing.toml", "iron"),
        "",
        *ironing_section(),
        "",
        "## Impacts",
        "",
        "Colliding bars with three schemes, of which only one takes the gap at the right time, and",
        "a bar that falls and bounces. [Impacts](dynamics.md) derives the exact solutions, draws",
        "the curves and shows the errors under refinement of mesh and step.",
        *command("compare", "colliding_bars.toml"),
        *command("run", "bouncing_bar.toml"),
        "",
        "## A block on a slope",
        "",
        "`cases/block_on_slope.toml`: an elastic block with mu = 0.3, whose friction angle is 16.7",
        "degrees. Below it the block stays; above it slides with g (sin α - mu cos α).",
        *command("compare", "block_on_slope.toml"),
        "",
        *slope_section(),
        "",
        "## A Maxwell point",
        "",
        "The update of stresses against closed forms: E = 25 GPa, nu = 0.25, G = 10 GPa,",
        "η = 1e22 Pa s. It is exact where the strain rate is constant over a step, and of second",
        "order elsewhere: the confined traction is computed in 400 steps.",
        "",
        *maxwell_section(),
        "",
        "## The fault in two layers",
        "",
        "`cases/fault_in_layers.toml`: sliding velocity over v0 at the end, by depth. Figure 10 of",
        "Jean (1995) shows none on the lower part, and growth from the layer boundary, here at",
        "5 km, to the surface. [The fault](fault.md) has the figures, the assumptions and what",
        "depends on them.",
        *command("compare", "fault_in_layers.toml", "--vary scheme.name=implicit,explicit"),
        "",
        *fault_section(),
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(PAGE)
