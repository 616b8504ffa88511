"""The sliding block (T3, mu = 1) in Kratos, mortar contact by its augmented Lagrangian and Newton.

Run by ``benchmarks/block.py`` with a Python that has Kratos: ``kratos_block.py n out.json``. The
mesh, the loads and the supports are those of ``cases/sliding_block.toml``; the plane is an element
that cannot move. Kratos's multipliers are dual to the displacements, so that against a plane its
law of contact holds node by node, as with concentrated reactions. It is written in the deformed
shape; loads of a millionth, whose results are scaled back, leave none of that, and the friction
problem without gaps knows no size.
"""

import json
import sys
from itertools import pairwise
from time import perf_counter

import KratosMultiphysics as Kratos
import KratosMultiphysics.ContactStructuralMechanicsApplication
import KratosMultiphysics.LinearSolversApplication
import KratosMultiphysics.StructuralMechanicsApplication as Structure
import numpy as np
from KratosMultiphysics.StructuralMechanicsApplication.structural_mechanics_analysis import (
    StructuralMechanicsAnalysis,
)

SIDE, E, NU, MU = 0.04, 1.3e11, 0.2, 1.0
SMALL = 1e-6
MOST_STEPS = 100
SOLID, LINE, LOAD = (
    "SmallDisplacementElement2D3N",
    "LineCondition2D2N",
    "LineLoadCondition2D2N",
)


def main():
    n, out = int(sys.argv[1]), sys.argv[2]
    Kratos.Logger.GetDefaultOutput().SetSeverity(Kratos.Logger.Severity.WARNING)
    marks = {"start": perf_counter()}
    model = Kratos.Model()
    analysis = Block(model, Kratos.Parameters(json.dumps(_settings())), n)
    analysis.Initialize()
    marks["model"] = perf_counter()
    analysis.RunSolutionLoop()
    marks["solution"] = perf_counter()
    if not analysis.converged:
        raise SystemExit(f"Newton has not ended after {MOST_STEPS} steps")
    part = model["block"]
    nodes = [part.GetNode(i + 1) for i in range(n)]
    length = np.full(n, SIDE / n)
    # the candidates end half an element before the corner, which is held
    length[[0, -1]] *= 0.5
    densities = np.array([n.GetSolutionStepValue(Kratos.VECTOR_LAGRANGE_MULTIPLIER) for n in nodes])
    forces = densities * length[:, None] * part.ProcessInfo[Kratos.SCALE_FACTOR] / SMALL
    ux = [node.GetSolutionStepValue(Kratos.DISPLACEMENT_X) / SMALL for node in nodes]
    names = list(marks)
    with open(out, "w") as stream:
        json.dump(
            {
                "phases": {b: marks[b] - marks[a] for a, b in pairwise(names)},
                "steps": part.ProcessInfo[Kratos.NL_ITERATION_NUMBER],
                "RN": forces[:, 1].tolist(),
                "RT": forces[:, 0].tolist(),
                "ux": ux,
            },
            stream,
        )


class Block(StructuralMechanicsAnalysis):
    """One static step of the block, its model made here instead of read from a file."""

    def __init__(self, model, settings, n):
        self.n = n
        super().__init__(model, settings)

    def Initialize(self):
        self._fill(self.model["block"])
        super().Initialize()

    def RunSolutionLoop(self):
        solver = self._GetSolver()
        self.time = self._AdvanceTime()
        self.InitializeSolutionStep()
        solver.Predict()
        self.converged = solver.SolveSolutionStep()
        self.FinalizeSolutionStep()

    def ModifyInitialGeometry(self):
        # here the dofs exist
        part, width = self.model["block"], self.n + 1
        for j in range(width):
            part.GetNode((j + 1) * width).Fix(Kratos.DISPLACEMENT_X)
        for k in (width, *(width**2 + k + 1 for k in range(4))):
            part.GetNode(k).Fix(Kratos.DISPLACEMENT_X)
            part.GetNode(k).Fix(Kratos.DISPLACEMENT_Y)

    def _fill(self, part):
        n = self.n
        h, width = SIDE / n, n + 1
        stuff = part.CreateNewProperties(1)
        stuff.SetValue(Kratos.YOUNG_MODULUS, E)
        stuff.SetValue(Kratos.POISSON_RATIO, NU)
        stuff.SetValue(Kratos.THICKNESS, 1.0)
        stuff.SetValue(Kratos.CONSTITUTIVE_LAW, Structure.LinearElasticPlaneStrain2DLaw())
        for j in range(width):
            for i in range(width):
                part.CreateNewNode(j * width + i + 1, i * h, j * h, 0.0)
        # the plane, a little wider than the block
        plane = [width**2 + k + 1 for k in range(4)]
        corners = [(-h, -SIDE), (SIDE + h, -SIDE), (SIDE + h, 0.0), (-h, 0.0)]
        for number, (x, y) in zip(plane, corners, strict=True):
            part.CreateNewNode(number, x, y, 0.0)
        number = 0
        for j in range(n):
            for i in range(n):
                a = j * width + i + 1
                b, c, d = a + 1, a + width, a + width + 1
                part.CreateNewElement(SOLID, number + 1, [a, b, c], stuff)
                part.CreateNewElement(SOLID, number + 2, [b, d, c], stuff)
                number += 2
        part.CreateNewElement("SmallDisplacementElement2D4N", number + 1, plane, stuff)
        slave = part.CreateSubModelPart("slave")
        slave.AddNodes(list(range(1, n + 1)))
        for i in range(n - 1):
            slave.CreateNewCondition(LINE, i + 1, [i + 1, i + 2], stuff)
        master = part.CreateSubModelPart("master")
        master.AddNodes(plane[2:])
        master.CreateNewCondition(LINE, n, plane[2:], stuff)
        for k in range(n):
            a = n * width + k + 1
            top = part.CreateNewCondition(LOAD, n + 1 + k, [a + 1, a], stuff)
            top.SetValue(Structure.LINE_LOAD, [0.0, -5e7 * SMALL, 0.0])
            a = k * width + 1
            left = part.CreateNewCondition(LOAD, 2 * n + 1 + k, [a + width, a], stuff)
            pressure = 1e8 + 2e7 * np.floor((k + 0.5) * h / 0.005)
            left.SetValue(Structure.LINE_LOAD, [pressure * SMALL, 0.0, 0.0])


def _settings():
    contact = {
        "python_module": "alm_contact_process",
        "kratos_module": "KratosMultiphysics.ContactStructuralMechanicsApplication",
        "process_name": "ALMContactProcess",
        "Parameters": {
            "model_part_name": "block",
            "contact_model_part": {"0": ["slave", "master"]},
            "assume_master_slave": {"0": ["slave"]},
            "contact_type": "Frictional",
            "friction_coefficients": {"0": MU},
            # of the normal penalty: with less the direction of friction never turns
            "tangent_factor": 1.0,
            # one edge of the plane faces all the candidates
            "search_parameters": {"search_factor": 1e3},
        },
    }
    return {
        "problem_data": {
            "problem_name": "block",
            "parallel_type": "OpenMP",
            "start_time": 0.0,
            "end_time": 1.0,
            "echo_level": 0,
        },
        "solver_settings": {
            "model_part_name": "block",
            "domain_size": 2,
            "echo_level": 0,
            "solver_type": "Static",
            "analysis_type": "non_linear",
            "model_import_settings": {"input_type": "use_input_model_part"},
            "material_import_settings": {"materials_filename": ""},
            "contact_settings": {
                "mortar_type": "ALMContactFrictional",
                # multipliers left in the system: takes half the time here
                "use_mixed_ulm_solver": False,
                "fancy_convergence_criterion": False,
            },
            "time_stepping": {"time_step": 1.1},
            # with loads this small its bounds of increments are met at once: the states decide
            "convergence_criterion": "contact_mixed_criterion",
            "max_iteration": MOST_STEPS,
            "linear_solver_settings": {"solver_type": "LinearSolversApplication.sparse_lu"},
        },
        "processes": {"contact_process_list": [contact]},
        "output_processes": {},
    }


if __name__ == "__main__":
    main()
