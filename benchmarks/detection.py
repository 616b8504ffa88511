"""Detection between two surfaces on one thread, and its growth with the number of candidates.

Two wavy strips with meshes that do not match lie on each other. Timed are a detection with a new
list of pairs, one with the list of the step before, both kinds of reactions, and the check that
nothing has passed through. The exponent is that of a power law from the smallest to the largest.

    python benchmarks/detection.py [candidates ...]
"""

from __future__ import annotations

from measuring import Row, in_turns, pin, report

pin()

import argparse
from collections.abc import Callable
from statistics import median
from typing import get_args

import numpy as np

from fecontact.body import Solid
from fecontact.contact import PairContact
from fecontact.contact.interface import Reactions
from fecontact.materials import IsotropicElastic
from fecontact.mesh import Mesh, rectangle

BAR = 1.2
STEEL = IsotropicElastic(2.1e11, 0.3)


def strips(n: int) -> Mesh:
    """A strip with n nodes below, on one with about n / 1.17."""
    edge = 0.01
    lower = rectangle(n * edge, edge, max(2, n - n // 7), 1, kind="quad")
    upper = rectangle(n * edge, edge, n - 1, 1, kind="quad", origin=(0.0, edge))
    mesh = Mesh.merge({"lower": lower, "upper": upper})
    x = mesh.nodes[:, 0]
    return mesh.moved(np.column_stack([np.zeros_like(x), 0.02 * np.sin(x)]))


def timed(n: int, reactions: Reactions, rounds: int) -> dict[str, float]:
    """Median CPU seconds of the parts of a step's detection."""
    mesh = strips(n)
    solid = Solid(mesh, {"lower": STEEL, "upper": STEEL}, "plane_strain")
    contact = PairContact(
        "upper.bottom", "lower.top", reactions=reactions, initial="remove_penetration"
    ).bind(solid, np.zeros(mesh.n_nodes, dtype=bool))
    upper = mesh.node_numbers("upper")
    x = mesh.nodes.copy()
    near = x.copy()
    near[upper, 1] += 1e-5
    local = contact.detect(x, 0.0, 1.0)
    if len(local) < 0.99 * n:
        raise SystemExit(f"{len(local)} contacts found of {n}")

    def anew() -> None:
        # beyond the margin of the lists, so that they are made anew
        x[upper, 0] += 0.01 if x[upper[0], 0] < 0.005 else -0.01
        contact.detect(x, 0.0, 1.0)

    calls: dict[str, Callable[[], object]] = {
        "new list": anew,
        "kept list": lambda: contact.detect(x, 0.0, 1.0),
        "passage": lambda: contact.check_passage(mesh.nodes, near, local),
    }
    taken = in_turns(list(calls.values()), rounds)
    return {name: median(times) for name, times in zip(calls, taken, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("candidates", nargs="*", type=int, default=[1000, 10000, 100000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="write the rows there as well")
    options = parser.parse_args()
    sizes = options.candidates
    rows = []
    for reactions in get_args(Reactions):
        timed(64, reactions, 1)
        found = {n: timed(n, reactions, options.rounds) for n in sizes}
        for n in sizes:
            anew, kept = found[n]["new list"], found[n]["kept list"]
            per = ", ".join(f"{1e6 * t / n:.2f}" for t in found[n].values())
            note = f"{per} µs per candidate for {', '.join(found[n])}"
            if n > sizes[0]:
                whole = [sum(found[k].values()) for k in (sizes[0], n)]
                slope = np.log(whole[1] / whole[0]) / np.log(n / sizes[0])
                note += f"; exponent from {sizes[0]}: {slope:.2f} (bar {BAR})"
            part = f"detection, {reactions}"
            rows.append(Row(part, f"{n}", "kept list", anew, kept, kept / anew, note=note))
    report(rows, options.json)


if __name__ == "__main__":
    main()
