"""Fields as VTU files with a PVD collection over time, for ParaView and the like.

Tensors have four components in the order xx, yy, zz, xy, strains with the engineering shear. Forces
are per unit thickness.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from fecontact.body import Solid
from fecontact.output.atomic import replacing
from fecontact.output.tables import per_thickness
from fecontact.recovery import (
    element_average,
    nodal_average,
    strain_at_points,
    stress_at_points,
    von_mises,
)
from fecontact.schemes import StepResult
from fecontact.typing import FloatArray

NO_CANDIDATE = -1
"""Value of `contact_status` at nodes that are no candidates."""


def _spatial(vectors: FloatArray) -> FloatArray:
    """Vectors (n, 2) with a third component 0."""
    return np.column_stack([vectors, np.zeros(len(vectors))])


def step_stress(solid: Solid, step: StepResult) -> FloatArray:
    """Stresses at the integration points (n_points, 4): those of the scheme, or elastic ones."""
    if step.stress is not None:
        return step.stress
    return stress_at_points(solid, step.displacement)


def step_strain(solid: Solid, step: StepResult) -> FloatArray:
    """Strains at the integration points (n_points, 4): those of the scheme, or small ones."""
    if step.strain is not None:
        return step.strain
    return strain_at_points(solid, step.displacement)


def point_fields(solid: Solid, step: StepResult) -> dict[str, Any]:
    """Fields at the nodes by name; see the module for components and units."""
    stress = nodal_average(solid, step_stress(solid, step))
    factor, n = per_thickness(solid), solid.n_nodes
    status = np.full(n, NO_CANDIDATE, dtype=np.int32)
    gap, local = np.zeros(n), np.zeros((n, 2))
    for state in step.contacts.values():
        status[state.nodes] = np.maximum(status[state.nodes], state.status)
        gap[state.nodes] = state.gap
        local[state.nodes] = factor * state.force
    return {
        "displacement": _spatial(step.displacement),
        "velocity": _spatial(step.velocity),
        "stress": stress,
        "strain": nodal_average(solid, step_strain(solid, step)),
        "von_mises": von_mises(stress),
        "contact_force": _spatial(factor * step.contact_forces),
        "contact_RN": local[:, 0].copy(),
        "contact_RT": local[:, 1].copy(),
        "contact_status": status,
        "contact_gap": gap,
        "support_force": _spatial(factor * step.support_forces),
    }


def cell_fields(solid: Solid, step: StepResult) -> dict[str, Any]:
    """Element averages of stress and strain, von Mises of the former, number of the region."""
    stress = element_average(solid, step_stress(solid, step))
    region = np.zeros(solid.mesh.n_elements, dtype=np.int32)
    for number, part in enumerate(solid.regions):
        region[part.elements] = number
    return {
        "stress": stress,
        "strain": element_average(solid, step_strain(solid, step)),
        "von_mises": von_mises(stress),
        "region": region,
    }


def write_vtu(path: Path, solid: Solid, step: StepResult) -> Path:
    """Write the fields of one step."""
    import meshio

    mesh = solid.mesh
    bounds = np.cumsum([len(block) for block in mesh.cells.values()])[:-1]
    grid = meshio.Mesh(
        _spatial(mesh.nodes),
        [(kind, np.asarray(block)) for kind, block in mesh.cells.items()],
        point_data={k: np.nan_to_num(v) for k, v in point_fields(solid, step).items()},
        cell_data={k: np.split(v, bounds) for k, v in cell_fields(solid, step).items()},
    )
    with replacing(path) as part:
        meshio.write(part, grid, file_format="vtu")
    return path


def field_path(folder: Path, number: int) -> Path:
    """File of the fields of a step."""
    return folder / f"fields_{number:04d}.vtu"


class FieldWriter:
    """Writes fields_0001.vtu, ... and keeps fields.pvd valid after each.

    Parameters
    ----------
    folder, solid
        Where to write, and of what.
    saved
        Numbers and times of steps that an earlier run has written; those whose files are gone are
        left out.
    """

    def __init__(self, folder: Path, solid: Solid, saved: Sequence[tuple[int, float]] = ()) -> None:
        self.folder = folder
        self.solid = solid
        self.path = folder / "fields.pvd"
        there = [(field_path(folder, number), time) for number, time in saved]
        there = [(path, time) for path, time in there if path.is_file()]
        self.files: list[Path] = [path for path, _ in there]
        self._times: list[float] = [time for _, time in there]
        self._collect()

    def step(self, result: StepResult) -> Path:
        """Write one step and the collection."""
        path = field_path(self.folder, result.number)
        write_vtu(path, self.solid, result)
        self.files.append(path)
        self._times.append(result.t)
        self._collect()
        return path

    def _collect(self) -> None:
        lines = [
            f'    <DataSet timestep="{t!r}" group="" part="0" file={quoteattr(file.name)}/>'
            for t, file in zip(map(float, self._times), self.files, strict=True)
        ]
        text = "\n".join(
            [
                '<?xml version="1.0"?>',
                '<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">',
                "  <Collection>",
                *lines,
                "  </Collection>",
                "</VTKFile>",
                "",
            ]
        )
        with replacing(self.path) as part:
            part.write_text(text, encoding="utf-8")
