"""The sliding block (T3, mu = 1) in CalculiX, node-to-face contact by penalty.

Run by ``benchmarks/block.py``: ``calculix_block.py n out.json``. The mesh, the loads and the
supports are those of ``cases/sliding_block.toml``; the plane is an element that cannot move. The
penalty is a choice between accuracy and convergence, so that the results agree less closely than
those of a method without one.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIDE, E, NU, MU = 0.04, 1.3e11, 0.2, 1.0
# stiffness of the contact, normal and tangential, over E / element size
PENALTY = 50.0


def main():
    n, out = int(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "block.inp").write_text(_deck(n))
        done = subprocess.run(
            [shutil.which("ccx"), "block"], cwd=folder, capture_output=True, text=True, check=False
        )
        results = Path(folder, "block.dat")
        if done.returncode or not results.exists():
            raise SystemExit(done.stdout[-400:])
        lines = [line.split() for line in results.read_text().splitlines()]
    # the last table printed is that of the last increment
    values = {int(w[0]): float(w[1]) for w in lines if len(w) == 4 and w[0].isdigit()}
    with open(out, "w") as stream:
        json.dump({"ux": [values[i + 1] for i in range(n)]}, stream)


def _deck(n):
    h = SIDE / n
    lines = ["*NODE, NSET=ALL"]
    for j in range(n + 1):
        for i in range(n + 1):
            lines.append(f"{j * (n + 1) + i + 1}, {i * h:.12g}, {j * h:.12g}, 0.")
    base = (n + 1) ** 2
    # the plane, a little wider than the block
    corners = [(-h, -SIDE), (SIDE + h, -SIDE), (SIDE + h, 0.0), (-h, 0.0)]
    lines += [f"{base + k + 1}, {x:.12g}, {y:.12g}, 0." for k, (x, y) in enumerate(corners)]
    lines.append("*ELEMENT, TYPE=CPE3, ELSET=BLOCK")
    number = 0
    for j in range(n):
        for i in range(n):
            a = j * (n + 1) + i + 1
            b, c, d = a + 1, a + n + 1, a + n + 2
            lines += [f"{number + 1}, {a}, {b}, {c}", f"{number + 2}, {b}, {d}, {c}"]
            number += 2
    lines += ["*ELEMENT, TYPE=CPE4, ELSET=PLANE"]
    lines += [f"{number + 1}, {base + 1}, {base + 2}, {base + 3}, {base + 4}"]
    lines += ["*NSET, NSET=SLAVES, GENERATE", f"1, {n}"]
    lines += ["*NSET, NSET=RIGHT, GENERATE", f"{n + 1}, {base}, {n + 1}"]
    lines += ["*NSET, NSET=FIXED, GENERATE", f"{base + 1}, {base + 4}"]
    lines += ["*SURFACE, NAME=LOWER, TYPE=NODE", "SLAVES"]
    lines += ["*SURFACE, NAME=GROUND, TYPE=ELEMENT", f"{number + 1}, S3"]
    lines += ["*MATERIAL, NAME=STUFF", "*ELASTIC", f"{E}, {NU}"]
    lines += ["*SOLID SECTION, ELSET=BLOCK, MATERIAL=STUFF", "1."]
    lines += ["*SOLID SECTION, ELSET=PLANE, MATERIAL=STUFF", "1."]
    stiffness = PENALTY * E / h
    lines += ["*SURFACE INTERACTION, NAME=TOUCH"]
    lines += ["*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR", f"{stiffness:.6g}, 1."]
    lines += ["*FRICTION", f"{MU}, {stiffness:.6g}"]
    lines += ["*CONTACT PAIR, INTERACTION=TOUCH, TYPE=NODE TO SURFACE", "LOWER, GROUND"]
    lines += ["*BOUNDARY", "RIGHT, 1, 1", "FIXED, 1, 2", f"{n + 1}, 1, 2"]
    lines += ["*STEP, NLGEOM=NO, INC=1000", "*STATIC, SOLVER=SPOOLES", "1., 1."]
    lines.append("*DLOAD")
    for i in range(n):
        lines.append(f"{2 * ((n - 1) * n + i) + 2}, P2, 5e7")
    for j in range(n):
        pressure = 1e8 + 2e7 * np.floor((j + 0.5) * h / 0.005)
        lines.append(f"{2 * j * n + 1}, P3, {pressure:.12g}")
    lines += ["*NODE PRINT, NSET=SLAVES", "U", "*END STEP", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
