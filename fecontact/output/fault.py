"""Figures of a fault: sliding velocity against depth, maps of second invariants, an animation.

Second invariants are square roots: J = √(½ s : s) of the deviatoric stress and √(½ e : e) of the
deviatoric (logarithmic) strain. The data of each figure are in a CSV file of the same name.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fecontact.body import Solid
from fecontact.contact import ContactState
from fecontact.errors import InputError, choices
from fecontact.model import Model
from fecontact.output.atomic import replacing
from fecontact.output.vtk import step_strain, step_stress
from fecontact.recovery import element_average
from fecontact.schemes import StepResult
from fecontact.simulation import Result
from fecontact.typing import FloatArray

_FRAMES = 25


@dataclass(frozen=True)
class FaultFigures:
    """What to draw of a fault.

    Parameters
    ----------
    contact
        Name of the contact along it.
    velocity
        Sliding velocities are divided by this.
    surface
        Level y that depths are measured from.
    animation
        Whether to draw the section over time.
    """

    contact: str
    velocity: float
    surface: float = 0.0
    animation: bool = True

    def check(self, model: Model) -> None:
        """Refuse the name of a contact that does not exist."""
        names = [interface.name for interface in model.interfaces]
        if self.contact not in names:
            raise InputError(
                f"output.fault.contact: there is no contact {self.contact!r}; "
                f"{choices(self.contact, names)}"
            )

    def write(self, folder: Path, result: Result, pictures: bool = True) -> list[Path]:
        """Write the tables of the last step, and with `pictures` its figures and the animation."""
        return write_fault(folder, result, self, pictures)


def second_invariant(tensor: FloatArray, *, strain: bool = False) -> FloatArray:
    """√(½ d : d) of the deviator d of tensors (n, 4); strains have the engineering shear."""
    deviator = tensor[:, :3] - tensor[:, :3].mean(axis=1, keepdims=True)
    shear = 0.5 * tensor[:, 3] if strain else tensor[:, 3]
    return np.asarray(np.sqrt(0.5 * (deviator**2).sum(axis=1) + shear**2))


def sliding_profile(state: ContactState, figures: FaultFigures) -> tuple[FloatArray, FloatArray]:
    """Depth (m) and sliding velocity over the reference velocity, from the surface down.

    The depth is that of the candidates at the start. Sliding is positive where the candidates go
    down along the fault.
    """
    depth = figures.surface - state.position[:, 1]
    order = np.argsort(depth)
    return depth[order], state.velocity[order, 1] / figures.velocity


def write_fault(
    folder: Path, result: Result, figures: FaultFigures, pictures: bool = True
) -> list[Path]:
    """Write the tables of the last step, and with `pictures` its figures and the animation.

    Returns the paths.
    """
    step = result.final
    solid = result.simulation.model.solid
    depth, sliding = sliding_profile(step.contacts[figures.contact], figures)
    columns = ("depth_m", "sliding_velocity_over_v0")
    paths = [_table(folder / "sliding_velocity.csv", columns, np.column_stack([depth, sliding]))]
    if pictures:
        paths.append(_profile_figure(folder / "sliding_velocity.png", depth, sliding, step))
    stress = element_average(solid, step_stress(solid, step))
    strain = element_average(solid, step_strain(solid, step))
    for name, values, label in (
        ("stress_invariant", second_invariant(stress), "√(½ s:s) of the stress (Pa)"),
        ("strain_invariant", second_invariant(strain, strain=True), "√(½ e:e) of the strain"),
    ):
        centroids = _centroids(solid, step)
        heads = ("x_m", "y_m", name)
        rows = np.column_stack([centroids, values])
        paths.append(_table(folder / f"{name}.csv", heads, rows))
        if pictures:
            paths.append(map_figure(folder / f"{name}.png", solid, step, values, label))
    if pictures and figures.animation and len(result.steps) > 1:
        paths.append(_animation(folder / "section.gif", solid, result.steps))
    return paths


def _table(path: Path, columns: Sequence[str], rows: FloatArray) -> Path:
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([[f"{value:.10g}" for value in row] for row in rows])
    return path


def _centroids(solid: Solid, step: StepResult) -> FloatArray:
    positions = solid.mesh.nodes + step.displacement
    return np.concatenate([positions[cells].mean(axis=1) for cells in solid.mesh.cells.values()])


def _polygons(solid: Solid, step: StepResult) -> list[FloatArray]:
    positions = (solid.mesh.nodes + step.displacement) / 1e3
    return [positions[cell] for cells in solid.mesh.cells.values() for cell in cells]


def _figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _profile_figure(path: Path, depth: FloatArray, sliding: FloatArray, step: StepResult) -> Path:
    figure = _figure(5.0, 5.0)
    axes = figure.add_subplot()
    axes.plot(sliding, depth / 1e3, "o-", markersize=4)
    axes.invert_yaxis()
    axes.axvline(0.0, color="0.7", linewidth=0.8)
    axes.set_xlabel("sliding velocity / v0")
    axes.set_ylabel("depth (km)")
    axes.set_title(f"Sliding along the fault, t = {step.t:.4g} s")
    with replacing(path) as part:
        figure.savefig(part, dpi=150, format="png")
    return path


def _draw_map(
    axes: Any, solid: Solid, step: StepResult, values: FloatArray, limits: tuple[float, float]
) -> Any:
    from matplotlib.collections import PolyCollection

    cells = PolyCollection(_polygons(solid, step), array=values, edgecolors="face", linewidths=0.2)
    cells.set_clim(*limits)
    axes.add_collection(cells)
    axes.set_aspect("equal")
    axes.set_xlabel("x (km)")
    axes.set_ylabel("y (km)")
    return cells


def _bounds(axes: Any, solid: Solid, steps: Sequence[StepResult]) -> None:
    """The same frame for all steps."""
    corners = [solid.mesh.nodes + step.displacement for step in (steps[0], steps[-1])]
    both = np.concatenate([solid.mesh.nodes, *corners]) / 1e3
    low, high = both.min(axis=0), both.max(axis=0)
    margin = 0.03 * (high - low).max()
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)


def map_figure(path: Path, solid: Solid, step: StepResult, values: FloatArray, label: str) -> Path:
    """Draw values (n_elements,) on the deformed section."""
    figure = _figure(8.0, 4.2)
    axes = figure.add_subplot()
    cells = _draw_map(axes, solid, step, values, (float(values.min()), float(values.max())))
    _bounds(axes, solid, [step])
    figure.colorbar(cells, ax=axes, label=label)
    axes.set_title(f"t = {step.t:.4g} s")
    with replacing(path) as part:
        figure.savefig(part, dpi=150, format="png")
    return path


def _animation(path: Path, solid: Solid, steps: Sequence[StepResult]) -> Path:
    """The section over time, coloured by the second invariant of the strain."""
    from PIL import Image

    chosen = np.unique(np.linspace(0, len(steps) - 1, min(_FRAMES, len(steps))).round().astype(int))
    values = [
        second_invariant(element_average(solid, step_strain(solid, steps[i])), strain=True)
        for i in chosen
    ]
    highest = float(np.percentile(values[-1], 99.5))
    frames = []
    for i, strain in zip(chosen, values, strict=True):
        figure = _figure(8.0, 4.2)
        axes = figure.add_subplot()
        cells = _draw_map(axes, solid, steps[i], strain, (0.0, highest or 1.0))
        _bounds(axes, solid, steps)
        figure.colorbar(cells, ax=axes, label="√(½ e:e) of the strain")
        axes.set_title(f"t = {steps[i].t:.4g} s")
        figure.set_dpi(80)
        figure.canvas.draw()
        frames.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()))
    with replacing(path) as part:
        frames[0].save(
            part, format="GIF", save_all=True, append_images=frames[1:], duration=200, loop=0
        )
    return path
