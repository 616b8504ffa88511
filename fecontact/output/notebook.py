"""Results in a notebook: a short account with a picture, axes, and a PyVista grid."""

from __future__ import annotations

import base64
import io
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fecontact.contact import Contact, ContactState
from fecontact.errors import InputError, MissingDependency
from fecontact.mesh import Mesh
from fecontact.output.figures import Units, new_figure, plot_deformed, plot_reactions
from fecontact.output.mesh_figure import plot_mesh
from fecontact.output.report.verdicts import verdicts
from fecontact.output.summary import build_summary
from fecontact.output.vtk import cell_fields, point_fields
from fecontact.schemes import StepResult
from fecontact.simulation import Result, Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = {"good": "✓", "note": "i", "warning": "!", "bad": "✗"}
_VTK_KINDS = {"triangle": 5, "quad": 9}


def kept_step(result: Result, place: int = -1) -> StepResult:
    """One of the kept steps, by its place among them; the last one is always there."""
    steps = result.steps
    if not steps or steps[-1] is not result.final:
        steps = [*steps, result.final]
    if not -len(steps) <= place < len(steps):
        raise InputError(f"step {place}: {len(steps)} steps were kept, numbered from 0")
    return steps[place]


def new_axes() -> Axes:
    """Axes of a new figure of pyplot."""
    from matplotlib import pyplot

    _, ax = pyplot.subplots(layout="constrained")
    return ax


def plot_contact(state: ContactState, ax: Axes | None = None) -> Axes:
    """Reactions along a contact, of the whole thickness, on given axes or on new ones."""
    return plot_reactions(new_axes() if ax is None else ax, state, units=Units(force="N"))


def plot_result(
    result: Result, field: str = "von_mises", ax: Axes | None = None, step: int = -1, **options: Any
) -> Axes:
    """Deformed body with a field on given axes, or on new ones of pyplot; returns the axes."""
    ax = new_axes() if ax is None else ax
    model = result.simulation.model
    options.setdefault("obstacles", [c.obstacle for c in model.contacts if isinstance(c, Contact)])
    return plot_deformed(ax, kept_step(result, step), model.solid, field, **options)


def pyvista_grid(result: Result, step: int = -1) -> Any:
    """A kept step as a `pyvista.UnstructuredGrid`, with the fields of the VTU files."""
    try:
        pyvista = import_module("pyvista")
    except ImportError as error:
        raise MissingDependency(
            f"to_pyvista needs PyVista: pip install pyvista ({error})"
        ) from None
    solid, kept = result.simulation.model.solid, kept_step(result, step)
    mesh = solid.mesh
    grid = pyvista.UnstructuredGrid(
        {_VTK_KINDS[kind]: np.asarray(block) for kind, block in mesh.cells.items()},
        np.column_stack([mesh.nodes, np.zeros(mesh.n_nodes)]),
    )
    for name, values in point_fields(solid, kept).items():
        grid.point_data[name] = values
    for name, values in cell_fields(solid, kept).items():
        grid.cell_data[name] = values
    grid.field_data["time"] = [kept.t]
    return grid


def result_html(result: Result) -> str:
    """Title, verdicts, contacts and a picture of the last step."""
    summary = build_summary(result)
    rows: list[dict[str, float | None]] = [{}] * (summary["times"]["steps_done"] or 0)
    parts = [f"<h4>{escape(summary['title'] or 'result')}</h4>"]
    for verdict in verdicts(summary, rows):
        mark = f"<b>{_MARKS[verdict.level]} {escape(verdict.title)}.</b>"
        parts.append(f"<div>{mark} {escape(verdict.text)}</div>")
    if result.last is not None:
        figure = new_figure(6.0, 4.2)
        plot_result(result, ax=figure.add_subplot())
        parts.append(_picture(figure, "deformed body"))
    return "\n".join(parts)


def simulation_html(simulation: Simulation) -> str:
    """What will be computed, and the mesh."""
    return f"<pre>{escape(repr(simulation))}</pre>\n{_mesh_picture(simulation.model.mesh)}"


def mesh_html(mesh: Mesh) -> str:
    """Counts, groups and a picture."""
    return f"<pre>{escape(repr(mesh))}</pre>\n{_mesh_picture(mesh)}"


def contact_html(state: ContactState) -> str:
    """Counts, totals and the reactions along the contact."""
    figure = new_figure(6.0, 3.4)
    plot_contact(state, figure.add_subplot())
    told = escape(repr(state).strip("<>"))
    return f"<div>{told}</div>\n{_picture(figure, 'reactions along the contact')}"


def _mesh_picture(mesh: Mesh) -> str:
    figure = new_figure(6.0, 4.2)
    plot_mesh(figure.add_subplot(), mesh)
    return _picture(figure, "mesh with its groups")


def _picture(figure: Figure, told: str) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=100)
    data = base64.b64encode(content.getvalue()).decode("ascii")
    return f'<img alt="{escape(told)}" src="data:image/png;base64,{data}">'
