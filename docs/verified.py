"""What the page of verification tells, computed: the benchmarks and the numbers that they give."""

from __future__ import annotations

import csv
import sys
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import fecontact as fc  # noqa: E402
from fecontact.case.variants import variants  # noqa: E402
from fecontact.materials.maxwell import Rheology  # noqa: E402
from fecontact.materials.viscous_step import ViscoelasticLaw  # noqa: E402
from fecontact.output.fault import FaultFigures, sliding_profile  # noqa: E402
from fecontact.recovery import stress_at_points  # noqa: E402

CASES = {1: "sliding_block.toml", 2: "sliding_block_mu01.toml"}
# positions on the lower side (m) and displacements ux (m) of code_aster's SSNV128
POINTS = np.array([0.0, 1.25e-3, 5e-3, 7.5e-3, 11.25e-3])
SSNV128 = np.array([2.86e-5, 2.72e-5, 2.28e-5, 1.98e-5, 1.50e-5])


@cache
def run(case: str, *settings: str) -> fc.Result:
    """Run a case of the project with some keys set."""
    result = fc.build(fc.read_case(ROOT / "cases" / case, settings)).run()
    if result.failure is not None:
        raise result.failure
    return result


@cache
def variant(case: str, label: str) -> fc.Result:
    """Run one of the variants that a case names."""
    found = dict(variants(fc.read_case(ROOT / "cases" / case), []))
    return fc.build(found[label]).run()


def printed(case: int, reactions: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read displacements (nc, 2) and reactions RN, RT (nc, 2) of a printed table."""
    with (ROOT / "tests" / "data" / f"jean1988_case{case}_{reactions}.csv").open() as file:
        rows = list(csv.DictReader(file))
    end = "" if reactions == "concentrated" else "_weighted"
    take = lambda *keys: np.array([[float(row[key]) for key in keys] for row in rows])  # noqa: E731
    return take("ux", "uy"), take(f"RN{end}", f"RT{end}")


def percent(found: float, expected: float, digits: int = 1) -> str:
    """Tell the relative difference, rounded as the page shows it."""
    off = round(100 * (found / expected - 1.0), digits) + 0.0  # no -0.0
    return f"{off:+.{digits}f} %"


def hertz_settings(load: float, edge: float, kind: str = "weighted") -> list[str]:
    """Settings of the case for a load (kN/mm) and an edge (mm)."""
    zone = 2.5e-3 if load < 10.0 else 8e-3
    settings = [f"loads.weight.value={1e7 * load:g}", f"contact.hertz.reactions={kind}"]
    for part in ("disk", "block"):
        settings.append(f"mesh.parts.{part}.parameters.fine={1e-3 * edge:g}")
        settings.append(f"mesh.parts.{part}.parameters.zone={zone:g}")
    return settings


def fitted(load: float, edge: float, kind: str = "weighted") -> tuple[float, float, fc.LineContact]:
    """Half width and peak pressure of the case, with the theory's."""
    result = run("hertz.toml", *hertz_settings(load, edge, kind))
    modulus = fc.contact_modulus(210e9, 0.3, 70e9, 0.3)
    return *fc.fit_hertz(result.contacts["hertz"]), fc.LineContact(1e6 * load, 0.05, modulus)


def slipped(edge: float, kind: str) -> tuple[float, float, float, float]:
    """Q / (mu P), stick half width computed and in theory, error of the friction over mu p0."""
    sizes = [f"mesh.parts.{part}.parameters.fine={1e-3 * edge}" for part in ("disk", "block")]
    state = run("cattaneo_mindlin.toml", f"contact.slip.reactions={kind}", *sizes).contacts["slip"]
    P, Q = state.force[:, 0].sum(), -state.force[:, 1].sum()
    theory = fc.LineContact(P, 0.05, fc.contact_modulus(210e9, 0.3, 210e9, 0.3))
    x = state.position[:, 0]
    stick = np.abs(x[state.status == fc.Status.STICKING]).max()
    away = -state.force[:, 1] / state.support - theory.shear(x, Q, 0.3)
    inside = np.abs(x) < 0.95 * theory.half_width
    error = np.sqrt(np.mean(away[inside] ** 2)) / (0.3 * theory.peak)
    return Q / (0.3 * P), float(stick), theory.stick(Q, 0.3), float(error)


def varied(kind: str) -> float:
    """Largest less smallest normal force over its mean while the indenter is dragged."""
    history = run("ironing.toml", f"contact.iron.reactions={kind}").history
    normal = history["RN_iron"][history["time"] > 1.6]
    return float(np.ptp(normal) / normal.mean())


def accelerations() -> list[tuple[int, float, float]]:
    """Slope in degrees, acceleration of the block, and that of a rigid block."""
    rows = []
    for degrees in (10, 16, 20, 30):
        history = variant("block_on_slope.toml", f"{degrees}_degrees").history
        late = history["time"] > 0.3
        found = float(np.polyfit(history["time"][late], history["velocity"][late], 1)[0])
        alpha = np.radians(degrees)
        exact = 9.81 * max(0.0, float(np.sin(alpha) - 0.3 * np.cos(alpha)))
        rows.append((degrees, found, exact))
    return rows


def maxwell_rows() -> list[tuple[str, float, float]]:
    """Quantity, stress computed and in closed form (MPa), of one Maxwell point."""
    E, nu, G, eta = 2.5e10, 0.25, 1e10, 1e22
    tau, rate = eta / G, 1e-14
    law = ViscoelasticLaw(Rheology.of(fc.Maxwell(E, nu, eta=eta), np.zeros((1, 2))))
    relaxed = law.initial_state(np.array([[3e8, -3e8, 0.0, 0.0]]))
    for h in (0.3 * tau, 1.7 * tau):
        *_, relaxed = law.update(np.zeros((1, 4)), relaxed, h)
    rows = [("relaxation over 2 η/G", relaxed.stress[0, 0], 3e8 * np.exp(-2.0))]
    sheared = law.initial_state()
    for _ in range(7):
        *_, sheared = law.update(np.array([[rate, -rate, 0.0, 0.0]]) * tau / 7, sheared, tau / 7)
    rows.append(
        ("pure shear at 1e-14 /s for η/G", sheared.stress[0, 0], 2 * eta * rate * -np.expm1(-1.0))
    )
    T0, steps = 1e7, 400
    held = law.initial_state()
    for h in (1e-12 * tau, *np.full(steps, 2.0 * tau / steps)):
        strain = np.zeros((1, 4))
        stress, tangent, *_ = law.update(strain, held, h)
        strain[0, 0] = (T0 - stress[0, 0]) / tangent[0, 0, 0]
        *_, held = law.update(strain, held, h)
    P = (2.0 * nu - 1.0) / (1.0 - nu)
    exact = T0 * (1.0 + P * np.exp(-E / (6.0 * eta * (1.0 - nu)) * 2.0 * tau))
    rows.append(("confined traction of 10 MPa, lateral stress at 2 η/G", held.stress[0, 1], exact))
    return [(name, 1e-6 * float(found), 1e-6 * float(exact)) for name, found, exact in rows]


@cache
def fault_profile(scheme: str) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Depths, sliding velocity over v0, and push on the left edge at the end of the fault."""
    final = run("fault_in_layers.toml", f"scheme.name={scheme}").final
    depth, sliding = sliding_profile(final.contacts["fault"], FaultFigures("fault", 3.3e-11))
    return depth, sliding, float(final.supports["left"][0])


def patch_error(*settings: str) -> float:
    """Largest error of a stress component over the pressure that two blocks are pressed with."""
    result = run("patch_test.toml", *settings)
    stress = stress_at_points(result.simulation.model.solid, result.final.state.q)
    return float(np.abs(stress - np.array([0.0, -1e6, -0.3e6, 0.0])).max() / 1e6)
