"""Where the mesh comes from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from fecontact.case.schema.tables import Length, Pair, Spec, by_key, in_unit


class Rectangle(Spec):
    generator: Literal["rectangle"]
    """Structured rectangle; groups body, bottom, right, top, left, bottom_left and so on."""
    width: Length = Field(gt=0)
    """Size along x."""
    height: Length = Field(gt=0)
    """Size along y."""
    nx: int = Field(ge=1, le=100_000)
    """Cells along x."""
    ny: int = Field(ge=1, le=100_000)
    """Cells along y."""
    origin: Pair = [0.0, 0.0]
    """Lower left corner."""
    kind: Literal["triangle", "quad"] = "triangle"
    """Elements: T3 or Q4."""
    diagonal: Literal["left", "right", "alternate", "crossed"] = "left"
    """Cut of the cells into triangles; left: from the upper left to the lower right corner."""
    grading_x: float = Field(default=1.0, gt=0)
    """Ratio of the last to the first cell along x."""
    grading_y: float = Field(default=1.0, gt=0)
    """Ratio of the last to the first cell along y."""
    scale: float = Field(default=1.0, gt=0)
    """Factor on all coordinates."""


class _Checked(Spec):
    merge: bool = False
    """Merge nodes that lie in the same place."""
    allow_duplicates: bool = False
    """Accept nodes in the same place, as on the two sides of a cut."""


class MeshFile(_Checked):
    file: str
    """A mesh file that meshio reads, relative to the case file."""
    file_format: str | None = None
    """Its name in meshio, such as "gmsh"; found from the extension where it is left out."""
    scale: float = Field(default=1.0, gt=0)
    """Factor on all coordinates, such as 1e-3 for a mesh in millimetres."""
    edges_from_nodes: list[str] = []
    """Groups of nodes from which to make groups of edges, for formats without sets of edges."""
    turn: bool = True
    """Turn elements that are numbered clockwise; otherwise they are refused."""
    drop_unused: bool | None = None
    """Leave out nodes without elements, which are refused otherwise; true for Gmsh's files."""


class Geometry(_Checked):
    geometry: str
    """A Gmsh .geo file, or a .py file with build(gmsh, **parameters), relative to the case file."""
    parameters: dict[str, Annotated[float | int | str, in_unit(None)]] = {}
    """Parameters of the geometry."""
    size: Length | None = Field(default=None, gt=0)
    """Element size."""
    scale: float = Field(default=1.0, gt=0)
    """Factor on all coordinates."""


def _source_kind(data: Any) -> str | None:
    keys = data if isinstance(data, dict) else getattr(type(data), "model_fields", ())
    given = [k for k in ("generator", "file", "geometry", "parts") if k in keys]
    if len(given) != 1:
        return None
    if given == ["generator"]:
        return by_key("generator")(data)
    return f"<{given[0]}>"


Source = Annotated[
    Annotated[Rectangle, Tag("<generator=rectangle>")]
    | Annotated[MeshFile, Tag("<file>")]
    | Annotated[Geometry, Tag("<geometry>")],
    Discriminator(_source_kind),
]


class Parts(Spec):
    parts: dict[str, Source] = Field(min_length=1)
    """Several meshes; the groups of part NAME are called NAME.group."""


MeshSpec = Annotated[
    Annotated[Rectangle, Tag("<generator=rectangle>")]
    | Annotated[MeshFile, Tag("<file>")]
    | Annotated[Geometry, Tag("<geometry>")]
    | Annotated[Parts, Tag("<parts>")],
    Discriminator(_source_kind),
]


class Group(Spec):
    kind: Literal["nodes", "edges", "elements"] = "nodes"
    """What is collected; edges are those of the boundary."""
    where: str
    """Expression of x and y, true inside: at nodes, middles of edges or centres of elements."""
