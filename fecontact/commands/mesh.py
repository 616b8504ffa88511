"""``fecontact mesh``: what is in a mesh."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fecontact.commands.options import add_settings, add_trust

if TYPE_CHECKING:
    from fecontact.mesh import Mesh

_BINS = 10
_WIDTH = 40


def add_parser(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "show what is in a mesh: groups, quality of the elements, a picture"
    command = commands.add_parser("mesh", help=text, description=text)
    command.add_argument(
        "file",
        metavar="FILE",
        help="a mesh file, a Gmsh geometry (.geo or .py), or a case (.toml) whose mesh is meant",
    )
    command.add_argument("--png", metavar="OUT.png", help="draw the mesh with its groups named")
    command.add_argument("--size", type=float, metavar="H", help="element size of a geometry")
    add_settings(command, "set a key of a case, or a parameter of a geometry")
    add_trust(command, "a case")
    command.set_defaults(action=run)


def run(given: argparse.Namespace) -> int:
    """Print what is in a mesh and draw it where asked."""
    from fecontact.errors import InputError

    picture = None if given.png is None else Path(given.png)
    if picture is not None and not picture.absolute().parent.is_dir():
        raise InputError(f"--png {picture}: no such folder {str(picture.parent)!r}")
    mesh = _load(Path(given.file), given.settings, given.size, given.trust)
    print(f"{given.file}")
    print("\n".join(_describe(mesh)))
    if picture is not None:
        from fecontact.output.mesh_figure import write_mesh_figure

        print(f"Written: {write_mesh_figure(picture, mesh)}")
    return 0


def _load(path: Path, settings: list[str], size: float | None, trust: bool) -> Mesh:
    from fecontact.case import build_mesh, read_case
    from fecontact.case.reading import parse_setting
    from fecontact.errors import InputError
    from fecontact.mesh import mesh_geometry, read_mesh

    geometry = path.suffix in (".geo", ".py")
    if size is not None and not geometry:
        raise InputError(f"--size {size:g}: only a geometry (.geo or .py) has an element size")
    if path.suffix == ".toml":
        case = read_case(path, settings, trust=trust)
        return build_mesh(case.spec, case.files)
    if geometry:
        parameters = {".".join(key): value for key, value in map(parse_setting, settings)}
        if "size" in parameters:
            raise InputError("--set size: this name is taken; give --size instead")
        return mesh_geometry(path, size=size, **parameters)
    if settings:
        raise InputError(f"--set {settings[0]}: a mesh file has no parameters")
    return read_mesh(path)


def _describe(mesh: Mesh) -> list[str]:
    import numpy as np

    from fecontact.mesh import quality

    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    parts = int(mesh.components().max()) + 1
    elements = " and ".join(f"{len(block)} {kind}s" for kind, block in mesh.cells.items())
    lines = [
        f"  {mesh.n_nodes} nodes, {elements}, {parts} connected part{'s' * (parts > 1)}",
        f"  x from {low[0]:g} to {high[0]:g}, y from {low[1]:g} to {high[1]:g}",
    ]
    areas = mesh.areas()
    rows = [
        (name, f"{len(group)} elements", f"area {areas[group].sum():.6g}")
        for name, group in mesh.element_groups.items()
    ]
    for name, edges in mesh.edge_groups.items():
        along = np.diff(mesh.nodes[edges], axis=1)[:, 0]
        length = float(np.linalg.norm(along, axis=1).sum())
        rows.append((name, f"{len(edges)} edges", f"length {length:.6g}"))
    rows += [
        (name, f"{len(nodes)} node{'s' * (len(nodes) != 1)}", _places(mesh.nodes[nodes]))
        for name, nodes in mesh.node_groups.items()
    ]
    lines.append("Groups:" if rows else "No groups.")
    wide = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    lines += [f"  {a.ljust(wide[0])}  {b.ljust(wide[1])}  {c}".rstrip() for a, b, c in rows]
    found = quality(mesh)
    sizes = np.sqrt(areas)
    lines += [
        f"{found!r}",
        f"  element size from {sizes.min():.3g} to {sizes.max():.3g}, mean {sizes.mean():.3g}",
        "Shape (1 at best, 0 degenerate):",
    ]
    counts, ends = np.histogram(np.clip(found.shape, 0.0, 1.0), bins=_BINS, range=(0.0, 1.0))
    for count, start, end in zip(counts, ends[:-1], ends[1:], strict=True):
        # a single bad element among a million must be seen
        bar = "#" * max(int(_WIDTH * count / counts.max()), int(count > 0))
        lines.append(f"  {start:.1f} to {end:.1f} {count:>9}  {bar}".rstrip())
    worst = int(np.argmin(found.shape))
    centre = mesh.centroids()[worst]
    lines.append(
        f"  worst: element {worst} at ({centre[0]:.4g}, {centre[1]:.4g}), "
        f"shape {found.shape[worst]:.3f}"
    )
    lines += [f"Note: {note}" for note in mesh.notes]
    return lines


def _places(points: Any) -> str:
    if len(points) > 3:
        return ""
    return "at " + ", ".join(f"({x:.4g}, {y:.4g})" for x, y in points)
