"""Where a run failed: the best iterate of the step that did not converge, and a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.contact import Contact
from fecontact.errors import Stopped
from fecontact.output.figures import RED, new_figure, plot_deformed, save_figure, scaled
from fecontact.output.mesh_figure import plot_mesh
from fecontact.output.tables import per_thickness, write_contact_csv
from fecontact.output.vtk import write_vtu
from fecontact.schemes import StepResult
from fecontact.simulation import Result

FILES = ("failure.png", "failed_step.vtu", "failed_contact.csv")
_NAMED = 5


def worst_contacts(result: Result) -> list[dict[str, Any]]:
    """Contacts that are farthest from their law in the step that failed, the worst first."""
    failure, nodes = result.failure, result.simulation.model.mesh.nodes
    return [
        {"contact": name, "node": node, "x": nodes[node, 0], "y": nodes[node, 1], "share": share}
        for name, node, share in (failure.worst if failure is not None else ())
    ]


def failure_lines(result: Result) -> Iterator[str]:
    """What is known of a failure besides its message, for people."""
    failure = result.failure
    if failure is None:
        return
    if failure.report is not None:
        yield (
            f"best iterate: natural map {failure.report.residual:.3g} "
            f"(tolerance {failure.report.tolerance:.3g})"
        )
    for one in worst_contacts(result)[:_NAMED]:
        yield (
            f"contact {one['contact']!r}, node {one['node']} ({one['x']:.6g}, {one['y']:.6g}): "
            f"{100.0 * one['share']:.3g} % of the residual"
        )


def write_failure(folder: Path, result: Result, figures: bool = True) -> list[Path]:
    """Write failed_step.vtu and failed_contact.csv, the best iterate, and failure.png."""
    failure = result.failure
    if failure is None:
        return []
    solid = result.simulation.model.solid
    paths = []
    best = failure.best if isinstance(failure.best, StepResult) else None
    if best is not None and np.isfinite(best.displacement).all():
        paths.append(write_vtu(folder / "failed_step.vtu", solid, best))
        if best.contacts:
            factor = per_thickness(solid)
            path = folder / "failed_contact.csv"
            paths.append(write_contact_csv(path, best.contacts, factor))
    else:
        best = None
    if figures and failure.nodes:
        paths.append(_picture(folder / "failure.png", result, failure, best))
    return paths


def _picture(path: Path, result: Result, failure: Stopped, best: StepResult | None) -> Path:
    """The bodies with rings around the nodes where the step failed."""
    model, shown = result.simulation.model, best or result.last
    mesh = model.mesh
    figure = new_figure(7.2, 5.4)
    ax = figure.add_subplot()
    if shown is None:
        plot_mesh(ax, mesh)
        places = mesh.nodes
        factor = 1.0
    else:
        obstacles = [c.obstacle for c in model.contacts if isinstance(c, Contact)]
        plot_deformed(ax, shown, model.solid, amplification=1.0, obstacles=obstacles)
        places = mesh.nodes + shown.displacement
        factor = scaled(mesh.nodes, "m")[0]
    nodes = list(failure.nodes)
    x, y = (factor * places[nodes]).T
    ax.scatter(x, y, s=160, facecolors="none", edgecolors=RED, linewidths=1.8)
    for node, place in zip(nodes[:_NAMED], factor * places[nodes], strict=False):
        ax.annotate(
            f"{node}", tuple(place), xytext=(7, 7), textcoords="offset points", color=RED, size=9
        )
    what = "best iterate" if best is not None else "last step" if shown is not None else "start"
    ax.set_title(f"Where the run failed ({what})", size=10)
    return save_figure(figure, path)
