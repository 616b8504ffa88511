"""Write verification.md from the benchmarks themselves: python docs/make_verification.py."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import fecontact as fc
from fecontact.contact import ContactState
from fecontact.recovery import stress_at_points

ROOT = Path(__file__).parent.parent
PAGE = Path(__file__).parent / "verification.md"
CASES = {1: "sliding_block.toml", 2: "sliding_block_mu01.toml"}
# positions on the lower side (m) and displacements ux (m) of code_aster's SSNV128
POINTS = np.array([0.0, 1.25e-3, 5e-3, 7.5e-3, 11.25e-3])
SSNV128 = np.array([2.86e-5, 2.72e-5, 2.28e-5, 1.98e-5, 1.50e-5])


def run(case: str, *settings: str) -> fc.Result:
    """Run a case of the project with some keys set."""
    result = fc.build(fc.read_case(ROOT / "cases" / case, settings)).run()
    if result.failure is not None:
        raise result.failure
    return result


def command(verb: str, case: str, *options: str) -> list[str]:
    """Show a command that computes what a section tells, or one row of it."""
    return ["", "```sh", " ".join([f"fecontact {verb} cases/{case}", *options]), "```"]


def compared(case: str, contact: str) -> list[str]:
    """Show the command that compares concentrated and weighted reactions."""
    return command("compare", case, f"--vary contact.{contact}.reactions=concentrated,weighted")


def printed(case: int, reactions: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read displacements (nc, 2) and reactions RN, RT (nc, 2) of a printed table."""
    with (ROOT / "tests" / "data" / f"jean1988_case{case}_{reactions}.csv").open() as file:
        rows = list(csv.DictReader(file))
    end = "" if reactions == "concentrated" else "_weighted"
    take = lambda *keys: np.array([[float(row[key]) for key in keys] for row in rows])  # noqa: E731
    return take("ux", "uy"), take(f"RN{end}", f"RT{end}")


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
            result = run("patch_test.toml", *settings)
            stress = stress_at_points(result.simulation.model.solid, result.final.state.q)
            exact = np.array([0.0, -1e6, -0.3e6, 0.0])
            error = np.abs(stress - exact).max() / 1e6
            told = f"{100 * error:.1f} %" if error > 1e-9 else "below 1e-9"
            lines.append(f"| {kind} | {mu:g} | {told} |")
    return lines


def hertz_settings(load: float, edge: float, kind: str = "weighted") -> list[str]:
    """Settings of the case for a load (kN/mm) and an edge (mm)."""
    zone = 2.5e-3 if load < 10.0 else 8e-3
    settings = [f"loads.weight.value={1e7 * load:g}", f"contact.hertz.reactions={kind}"]
    for part in ("disk", "block"):
        settings.append(f"mesh.parts.{part}.parameters.fine={1e-3 * edge:g}")
        settings.append(f"mesh.parts.{part}.parameters.zone={zone:g}")
    return settings


def hertz_section() -> list[str]:
    """Compare with Hertz under refinement, and at ten times the load."""
    lines = [
        "| load (kN/mm) | edge (mm) | reactions | half width (mm) | theory | peak (MPa) | theory |",
        "|---|---|---|---|---|---|---|",
    ]
    modulus = fc.contact_modulus(210e9, 0.3, 70e9, 0.3)
    rows = [(3.5, edge, "weighted") for edge in (0.4, 0.2, 0.1, 0.05)]
    rows += [(3.5, 0.1, "concentrated"), (35.0, 0.2, "weighted")]
    for load, edge, kind in rows:
        result = run("hertz.toml", *hertz_settings(load, edge, kind))
        a, p = fc.fit_hertz(result.contacts["hertz"])
        theory = fc.LineContact(1e6 * load, 0.05, modulus)
        lines.append(
            f"| {load:g} | {edge:g} | {kind} | {1e3 * a:.3f} | {1e3 * theory.half_width:.3f} "
            f"| {1e-6 * p:.0f} | {1e-6 * theory.peak:.0f} |"
        )
    return lines


def mindlin_section() -> list[str]:
    """Compare the stick zone and the friction with Cattaneo and Mindlin."""
    lines = [
        "| reactions | edge (mm) | Q / (mu P) | stick, computed (mm) | theory | friction's error |",
        "|---|---|---|---|---|---|",
    ]
    for kind, edge in (("concentrated", 0.1), ("weighted", 0.1), ("weighted", 0.05)):
        sizes = [f"mesh.parts.{part}.parameters.fine={1e-3 * edge}" for part in ("disk", "block")]
        result = run("cattaneo_mindlin.toml", f"contact.slip.reactions={kind}", *sizes)
        state = result.contacts["slip"]
        P, Q = state.force[:, 0].sum(), -state.force[:, 1].sum()
        theory = fc.LineContact(P, 0.05, fc.contact_modulus(210e9, 0.3, 210e9, 0.3))
        x = state.position[:, 0]
        stick = np.abs(x[state.status == fc.Status.STICKING]).max()
        away = -state.force[:, 1] / state.support - theory.shear(x, Q, 0.3)
        inside = np.abs(x) < 0.95 * theory.half_width
        error = np.sqrt(np.mean(away[inside] ** 2)) / (0.3 * theory.peak)
        lines.append(
            f"| {kind} | {edge:g} | {Q / (0.3 * P):.3f} | {1e3 * stick:.2f} "
            f"| {1e3 * theory.stick(Q, 0.3):.2f} | {100 * error:.1f} % |"
        )
    return lines


def ironing_section() -> list[str]:
    """Tell how much the force varies while the indenter crosses edges."""
    lines = ["| reactions | variation of the normal force |", "|---|---|"]
    for kind in ("concentrated", "weighted"):
        history = run("ironing.toml", f"contact.iron.reactions={kind}").history
        normal = history["RN_iron"][history["time"] > 1.6]
        lines.append(f"| {kind} | {100 * np.ptp(normal) / normal.mean():.1f} % |")
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
        "report page.",
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
        "## Two bodies: the patch test",
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
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(PAGE)
