"""summary.json: what was run, with which versions, how well and how long."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.certificate import Verdict
from fecontact.contact import Status
from fecontact.output.atomic import replacing
from fecontact.output.digests import summary_digest
from fecontact.output.failure import worst_contacts
from fecontact.output.tables import per_thickness
from fecontact.recovery import strain_at_points
from fecontact.simulation import Result, Simulation
from fecontact.units import quantities


def plain(value: Any) -> Any:
    """The same as JSON knows it: no arrays, no NaN nor infinity (null), names as strings."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return str(value)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the numbers depend on."""
    found = {"python": platform.python_version()}
    for package in ("fecontact", "numpy", "scipy", "numba"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _model(simulation: Simulation) -> dict[str, Any]:
    model = simulation.model
    mesh, solid = model.mesh, model.solid
    return {
        "mesh": {
            "nodes": mesh.n_nodes,
            "elements": mesh.n_elements,
            **{kind: len(block) for kind, block in mesh.cells.items()},
            "dofs": model.n_dofs,
            "free_dofs": len(model.constraints.free),
            "candidates": sum(len(i.candidates.nodes) for i in model.interfaces),
            "notes": mesh.notes,
        },
        "hypothesis": solid.hypothesis,
        "thickness": solid.thickness,
        "materials": {name: repr(material) for name, material in solid.materials.items()},
        "prescribed": [p.label for p in model.prescribed],
        "loads": [repr(load) for load in model.loads],
        "probes": {p.name: {"on": p.on, "quantity": p.quantity} for p in simulation.probes},
    }


def _failure(result: Result) -> dict[str, Any] | None:
    failure = result.failure
    if failure is None:
        return None
    report = failure.report
    told: dict[str, Any] = {"message": str(failure)}
    if failure.nodes:
        told["nodes"] = list(failure.nodes)
    if failure.worst:
        told["worst_contacts"] = worst_contacts(result)
    if report is None:
        return told
    return {
        **told,
        "solver": report.solver,
        "iterations": report.iterations,
        "residual": report.residual,
        "tolerance": report.tolerance,
    }


def _message(result: Result) -> str:
    if result.failure is not None:
        return str(result.failure)
    if result.interrupted:
        done, t = (result.last.number, result.last.t) if result.last else (0, 0.0)
        return f"interrupted at t = {t:g}, after step {done}"
    return "all steps converged"


def largest_strain(result: Result) -> float | None:
    """Largest component of strain at the end, where the scheme takes strains as small."""
    if result.last is None or result.last.strain is not None:
        return None
    strain = strain_at_points(result.simulation.model.solid, result.last.displacement)
    return float(np.abs(strain).max(initial=0.0))


def build_summary(
    result: Result,
    case: Mapping[str, Any] | None = None,
    files: Sequence[Path] = (),
    wall_time: float | None = None,
) -> dict[str, Any]:
    """The summary of a run as JSON knows it.

    Parameters
    ----------
    result
        A run, ended well or not.
    case
        The case as it was given, to be kept with the results.
    files
        What was written; their names are listed.
    wall_time
        Seconds from the first step to now, output included, where they are known.
    """
    simulation, last = result.simulation, result.last
    factor = per_thickness(simulation.model.solid)
    axisymmetric = simulation.model.solid.hypothesis == "axisymmetric"
    contacts, supports = {}, {}
    if last is not None:
        for state in last.contacts.values():
            total, equivalent = factor * state.force.sum(axis=0), state.equivalent.sum(axis=0)
            contacts[state.name] = {
                "reactions": state.reactions,
                "RN": total[0],
                "RT": total[1],
                "RN_equivalent": factor * equivalent[0],
                "RT_equivalent": factor * equivalent[1],
                "candidates": len(state.nodes),
                **{status.label: state.count(status) for status in Status},
                "inadmissible_equivalents": state.nodes[state.inadmissible],
            }
        supports = {name: factor * total for name, total in last.supports.items()}
    phases = simulation.phases.seconds()
    failure = _failure(result)
    return dict(
        plain(
            {
                "title": simulation.title,
                "converged": result.converged,
                "interrupted": result.interrupted,
                "message": _message(result),
                "failure": failure,
                **_model(simulation),
                "scheme": simulation.scheme.name,
                "times": {
                    "end": simulation.times.end,
                    "steps": simulation.times.count,
                    "step": simulation.times.size,
                    "steps_done": last.number if last else 0,
                    "time_reached": last.t if last else 0.0,
                },
                "solver": dataclasses.asdict(simulation.options),
                "tolerance": simulation.options.tolerance,
                "worst_residual": result.worst_residual,
                "force_balance": result.worst_balance,
                "largest_strain": largest_strain(result),
                "contacts": contacts,
                "supports": supports,
                "forces": "of the full turn" if axisymmetric else "per unit thickness",
                "wall_time": {
                    "phases": phases,
                    "computation": sum(phases.values()),
                    "total": wall_time,
                },
                "versions": versions(),
                "platform": platform.platform(),
                "files": [path.name for path in files],
                "case": case,
                "quantities": {
                    key: {"given": found.text, "value": found.value, "unit": found.unit}
                    for key, found in quantities(case or {}).items()
                },
            }
        )
    )


def certificate_summary(verdict: Verdict) -> dict[str, Any]:
    """What the certificates of the saved steps say, as JSON knows it."""
    return dict(
        plain(
            {
                "verdict": verdict.word,
                "steps": verdict.steps,
                "figures": verdict.figures,
                "limits": {name: verdict.limits[name] for name in verdict.figures},
                "failures": {
                    name: {"step": verdict.at_step[name], "place": verdict.places[name]}
                    for name in verdict.failures
                },
                "deepest_penetration": verdict.depth,
                "non_unique": verdict.non_unique,
                "not_covered": verdict.uncovered,
            }
        )
    )


def write_summary(path: Path, summary: Mapping[str, Any]) -> Path:
    """Write a summary as JSON, with a digest of itself."""
    told = plain(summary)
    told["digest"] = summary_digest(told)
    with replacing(path) as part:
        text = json.dumps(told, indent=2, allow_nan=False, ensure_ascii=False)
        part.write_text(text + "\n", encoding="utf-8")
    return path
