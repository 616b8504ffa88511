"""Rectangles of regular or graded cells."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fecontact.errors import MeshError, choices
from fecontact.mesh.checks import check_mesh
from fecontact.mesh.core import Mesh
from fecontact.typing import FloatArray, IntArray

KINDS = ("triangle", "quad")
DIAGONALS = ("left", "right", "alternate", "crossed")
MOST_CELLS = 20_000_000
"""Cells of a rectangle; more of them fit into no memory once they are assembled."""


def rectangle(
    width: float | None = None,
    height: float | None = None,
    nx: int | None = None,
    ny: int | None = None,
    *,
    origin: tuple[float, float] = (0.0, 0.0),
    kind: Literal["triangle", "quad"] = "triangle",
    diagonal: Literal["left", "right", "alternate", "crossed"] = "left",
    grading_x: float = 1.0,
    grading_y: float = 1.0,
    x: ArrayLike | None = None,
    y: ArrayLike | None = None,
) -> Mesh:
    """Mesh of a rectangle.

    Nodes are numbered row by row from the bottom: node `j (nx + 1) + i` is in column i and row j.
    Elements follow cell by cell in the same order.

    Parameters
    ----------
    width, height, nx, ny
        Size and number of cells in each direction.
    origin
        Lower left corner.
    kind
        Element kind.
    diagonal
        How a cell is cut into triangles: `left` from its upper left to its lower right corner,
        `right` from its lower left to its upper right corner, `alternate` right and left in turn
        like a chessboard (right in the lower left cell), `crossed` into four by both; then the
        centres of the cells are the last nodes.
    grading_x, grading_y
        Size of the last cell over size of the first; sizes in between are in geometric progression.
    x, y : (nx + 1,), (ny + 1,)
        Increasing coordinates of the columns and rows, instead of width, nx and grading_x, or
        height, ny and grading_y; `origin` is added.

    Returns
    -------
    Mesh
        With element group `body`, edge groups `bottom`, `right`, `top`, `left` and node groups
        `bottom_left`, `bottom_right`, `top_right`, `top_left`.

    Examples
    --------
    >>> rectangle(2.0, 1.0, 4, 2, diagonal="crossed").n_elements
    32
    """
    if kind not in KINDS:
        raise MeshError(f"kind={kind!r} is unknown; {choices(kind, KINDS)}")
    if diagonal not in DIAGONALS:
        raise MeshError(f"diagonal={diagonal!r} is unknown; {choices(diagonal, DIAGONALS)}")
    columns = origin[0] + _positions("x", x, ("width", width), ("nx", nx), grading_x)
    rows = origin[1] + _positions("y", y, ("height", height), ("ny", ny), grading_y)
    n, m = len(columns) - 1, len(rows) - 1
    if n * m > MOST_CELLS:
        raise MeshError(f"nx={n}, ny={m}: {n * m} cells are too many (limit {MOST_CELLS})")
    nodes = np.stack(np.meshgrid(columns, rows), axis=2).reshape(-1, 2)
    numbers = np.arange((n + 1) * (m + 1)).reshape(m + 1, n + 1)
    corners = np.stack(
        [numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, 1:], numbers[1:, :-1]], axis=2
    ).reshape(-1, 4)
    if kind == "triangle" and diagonal == "crossed":
        nodes = np.concatenate([nodes, nodes[corners].mean(axis=1)])
    cells: dict[str, IntArray] = {
        kind: corners if kind == "quad" else _triangles(corners, n, diagonal)
    }
    bottom, top = numbers[0], numbers[-1, ::-1]
    right, left = numbers[:, -1], numbers[::-1, 0]
    sides = {"bottom": bottom, "right": right, "top": top, "left": left}
    mesh = Mesh(
        nodes,
        cells,
        element_groups={"body": np.arange(len(cells[kind]))},
        edge_groups={name: np.stack([s[:-1], s[1:]], axis=1) for name, s in sides.items()},
        node_groups={
            "bottom_left": bottom[:1],
            "bottom_right": bottom[-1:],
            "top_right": top[:1],
            "top_left": top[-1:],
        },
    )
    return check_mesh(mesh, turn=False)


def _triangles(corners: IntArray, n: int, diagonal: str) -> IntArray:
    """Triangles of cells given by corners (k, 4), n cells in a row."""
    count = len(corners)
    if diagonal == "crossed":
        # the centre of cell c is the node that follows the (last corner + 1) grid nodes by c
        centre = corners[-1, 2] + 1 + np.arange(count)
        following = np.roll(corners, -1, axis=1)
        centres = np.broadcast_to(centre[:, None], corners.shape)
        return np.stack([corners, following, centres], axis=2).reshape(-1, 3)
    rising = corners[:, [[0, 1, 2], [0, 2, 3]]]
    falling = corners[:, [[0, 1, 3], [1, 2, 3]]]
    if diagonal == "alternate":
        cell = np.arange(count)
        even = (cell // n + cell % n) % 2 == 0
        return np.where(even[:, None, None], rising, falling).reshape(-1, 3)
    return (rising if diagonal == "right" else falling).reshape(-1, 3)


def _positions(
    axis: str,
    given: ArrayLike | None,
    length: tuple[str, float | None],
    count: tuple[str, int | None],
    grading: float,
) -> FloatArray:
    if given is not None:
        if length[1] is not None or count[1] is not None or grading != 1.0:
            raise MeshError(
                f"{axis}= replaces {length[0]}, {count[0]} and grading_{axis}; do not give both"
            )
        values = np.asarray(given, dtype=np.float64)
        if values.ndim != 1 or len(values) < 2 or not (np.diff(values) > 0).all():
            raise MeshError(f"{axis}={given!r}: expected at least two increasing coordinates")
        return values
    if length[1] is None or count[1] is None:
        raise MeshError(f"give {length[0]} and {count[0]}, or {axis}=")
    if not (np.isfinite(length[1]) and length[1] > 0):
        raise MeshError(f"{length[0]}={length[1]!r}: expected a positive number")
    if count[1] != int(count[1]) or count[1] < 1:
        raise MeshError(f"{count[0]}={count[1]!r}: expected a whole number of at least 1")
    return graded(length[1], int(count[1]), grading, f"grading_{axis}")


def graded(length: float, count: int, ratio: float = 1.0, what: str = "ratio") -> FloatArray:
    """Positions (count + 1,) from 0 to length, last cell over first cell being `ratio`."""
    if not (np.isfinite(ratio) and ratio > 0):
        raise MeshError(f"{what}={ratio!r}: expected a positive number (last cell over first cell)")
    if ratio == 1.0 or count == 1:
        return np.linspace(0.0, length, count + 1)
    sizes: FloatArray = ratio ** (np.arange(count) / (count - 1))
    positions: FloatArray = np.concatenate([[0.0], np.cumsum(sizes)]) * (length / sizes.sum())
    positions[-1] = length
    return positions
