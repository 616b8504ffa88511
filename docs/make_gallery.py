"""Make the gallery by running the cases: python docs/make_gallery.py [--force].

Writes docs/gallery/index.md and a picture for each case; a case that has not changed since its
picture was drawn is not run again.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import fecontact as fc
from fecontact.case import Case
from fecontact.case.identity import fingerprint
from fecontact.output.figures import plot_deformed, plot_reactions

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "gallery"
STAMPS = FOLDER / "made.json"
# set for the picture only: the cases' own steps are for numbers
SHORTER: dict[str, Sequence[str]] = {}
# where the last step shows nothing: the one nearest to this part of the duration
MOMENTS = {"colliding_bars": 0.35, "bouncing_bar": 0.55}

HEAD = """# Gallery

<!-- Written by docs/make_gallery.py, which runs the cases; do not edit. -->

Every picture is made by `make docs` from a case of the project. `fecontact run cases/NAME.toml`
computes it and makes an interactive page of it.
"""


def draw(result: fc.Result, path: Path, moment: float | None) -> None:
    """Draw the body and the reactions along its contact."""
    model = result.simulation.model
    step = result.final
    if moment is not None:
        step = min(result.steps, key=lambda s: abs(s.t - moment * result.simulation.times.end))
    states = list(step.contacts.values())
    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    obstacles = [getattr(c, "obstacle", None) for c in model.contacts]
    plot_deformed(left, step, model.solid, obstacles=[o for o in obstacles if o is not None])
    if states:
        plot_reactions(right, states[0])
    else:
        right.set_visible(False)
    figure.savefig(path, dpi=90)


def entry(case: Case, seconds: float) -> str:
    """Write the section of a case."""
    name = case.name
    text = textwrap.dedent(case.spec.description).strip("\n")
    lines = [f"## {case.spec.title or name}", "", f"![{case.spec.title or name}]({name}.png)", ""]
    lines += ["```text", *text.splitlines(), "```", ""] if text else []
    if case.spec.reference:
        lines += [" ".join(case.spec.reference.split()) + ".", ""]
    lines += ["```text", f"fecontact run cases/{name}.toml", "```", ""]
    lines += [
        f"Computed in {seconds:.0f} s." if seconds >= 1 else "Computed in less than a second."
    ]
    return "\n".join([*lines, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases that have changed and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--force", action="store_true", help="run all cases again")
    parser.add_argument("--only", nargs="*", help="names of cases")
    given = parser.parse_args(arguments)
    FOLDER.mkdir(exist_ok=True)
    made = json.loads(STAMPS.read_text()) if STAMPS.exists() and not given.force else {}
    parts, failed = [HEAD], []
    for path in sorted((ROOT / "cases").glob("*.toml")):
        if given.only and path.stem not in given.only:
            continue
        case = fc.read_case(path, SHORTER.get(path.stem, ()))
        mark, picture = fingerprint(case), FOLDER / f"{case.name}.png"
        before = made.get(case.name, {})
        if before.get("mark") != mark or not picture.exists():
            print(f"gallery: {case.name}", flush=True)
            start = perf_counter()
            result = fc.build(case).run()
            if not result.converged:
                failed.append(f"{case.name}: {result.failure}")
                continue
            seconds = perf_counter() - start
            draw(result, picture, MOMENTS.get(case.name))
            made[case.name] = {"mark": mark, "seconds": seconds}
            STAMPS.write_text(json.dumps(made, indent=1) + "\n")
        parts.append(entry(case, made[case.name]["seconds"]))
    (FOLDER / "index.md").write_text("\n".join(parts), encoding="utf-8")
    for line in failed:
        print(f"FAILED: {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
