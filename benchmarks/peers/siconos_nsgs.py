"""Siconos's NSGS in 2D on a stored problem: ``siconos_nsgs.py problem.npz out.json``."""

import json
import sys
from time import process_time

import numpy as np
import siconos.numerics as sn


def main():
    data = np.load(sys.argv[1])
    W, q, mu = np.asfortranarray(data["W"]), data["q"], data["mu"]
    problem = sn.FrictionContactProblem(2, W, q, mu)
    times = []
    for _ in range(3):
        options = sn.SolverOptions(sn.SICONOS_FRICTION_2D_NSGS)
        options.iparam[0] = 20000
        options.dparam[0] = 1e-8
        r, u = np.zeros(q.size), np.zeros(q.size)
        start = process_time()
        code = sn.fc2d_driver(problem, r, u, options)
        times.append(process_time() - start)
    with open(sys.argv[2], "w") as stream:
        json.dump(
            {
                "seconds": min(times),
                "code": int(code),
                "sweeps": int(options.iparam[1]),
                "r": r.tolist(),
            },
            stream,
        )


if __name__ == "__main__":
    main()
