"""Run the fault in two layers with one change at a time, write fault.md's table and its figures.

python docs/make_fault.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from fecontact.case import build, read_case  # noqa: E402
from fecontact.output.fault import (  # noqa: E402
    FaultFigures,
    map_figure,
    second_invariant,
    sliding_profile,
)
from fecontact.output.figures import new_figure, save_figure, tidy  # noqa: E402
from fecontact.simulation import Result  # noqa: E402

PAGE = Path(__file__).parent / "fault.md"
IMAGES = Path(__file__).parent / "images"
CASE = ROOT / "cases" / "fault_in_layers.toml"
BEGIN, END = "<!-- results: written by docs/make_fault.py -->", "<!-- end of results -->"
FIGURES = FaultFigures("fault", 3.3e-11)
VARIANTS = {
    "as it is": [],
    "explicit": ["scheme.name=explicit"],
    "half the steps": ["time.steps=200", "scheme.change=5e-4"],
    "twice as fine": ["mesh.parameters.refine=2"],
    "dip 45 degrees": ["mesh.parameters.dip=45 deg"],
    "dip 75 degrees": ["mesh.parameters.dip=75 deg"],
    "boundary at 4 km": ["mesh.parameters.layer_depth=4 km"],
    "boundary at 6 km": ["mesh.parameters.layer_depth=6 km"],
    "density 2500 kg/m³": ["materials.density=2500 kg/m^3"],
    "density 3000 kg/m³": ["materials.density=3000 kg/m^3"],
    "Jaumann's rate": ["materials.rate=jaumann"],
    "forces on nodes": ["contact.reactions=concentrated"],
    'dilatation "element"': ["scheme.dilatation=element"],
}
SHOWN = ("as it is", "explicit", "twice as fine", "dip 45 degrees", "dip 75 degrees")


def run(settings: list[str]) -> tuple[Result, float]:
    """Run the case with some keys set; returns the wall time too."""
    start = perf_counter()
    result = build(read_case(CASE, settings)).run()
    if result.failure is not None:
        raise result.failure
    return result, perf_counter() - start


def row(name: str, result: Result, known: Result, seconds: float) -> str:
    """One line of the table; the profile is set beside that of a known result."""
    step = result.final
    depth, sliding = sliding_profile(step.contacts["fault"], FIGURES)
    there, expected = sliding_profile(known.final.contacts["fault"], FIGURES)
    change = np.interp(there, depth, sliding) - expected
    mesh = result.simulation.model.mesh
    below = mesh.elements("lower")
    stress = second_invariant(step.stress)
    strain = second_invariant(step.strain, strain=True)
    moving = depth[sliding > 0.01]
    stuck = depth[depth > moving.max()].min()
    half = 0.5 * -mesh.centroids()[mesh.elements("upper"), 1].min()
    cells = [
        name,
        f"{sliding[0]:.2f}",
        f"{np.interp(half, depth, sliding):.2f}",
        f"{stuck / 1e3:.1f} km",
        f"{100.0 * np.linalg.norm(change) / np.linalg.norm(expected):.1f} %",
        f"{np.abs(change).max():.3f}",
        f"{step.supports['left'][0] / 1e12:.3f} TN/m",
        f"{stress.max() / 1e6:.0f} MPa",
        f"{np.median(strain[below]):.3f}",
        f"{strain.max():.2f}",
        str(step.number),
        f"{seconds:.0f} s",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run all variants and write the page."""
    lines = [
        "| variant | sliding: surface | half way | sticks below | change of profile | at most | "
        "force | stress: largest | strain: median below | largest | steps | time |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    figure = new_figure(6.0, 5.0)
    axes = figure.add_subplot()
    known = None
    for name, settings in VARIANTS.items():
        result, seconds = run(settings)
        known = known or result
        lines.append(row(name, result, known, seconds))
        print(lines[-1], flush=True)
        if name in SHOWN:
            depth, sliding = sliding_profile(result.final.contacts["fault"], FIGURES)
            style = "--" if name == "explicit" else "-"
            axes.plot(sliding, depth / 1e3, style, label=name, linewidth=1.6)
        if name == "as it is":
            solid, step = result.simulation.model.solid, result.final
            for kind, values, label in (
                ("stress", second_invariant(step.stress), "√(½ s:s) of the stress (Pa)"),
                ("strain", second_invariant(step.strain, strain=True), "√(½ e:e) of the strain"),
            ):
                map_figure(IMAGES / f"fault_{kind}.png", solid, step, values, label)
    axes.invert_yaxis()
    axes.set_xlabel("sliding velocity / v0")
    axes.set_ylabel("depth (km)")
    axes.legend()
    tidy(axes)
    save_figure(figure, IMAGES / "fault_profiles.png")
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    body = "\n".join(["", *lines, ""])
    PAGE.write_text(f"{head}{BEGIN}\n{body}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
