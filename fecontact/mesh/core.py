"""The frozen mesh: nodes, three- and four-node elements, named groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fecontact.errors import MeshError, choices
from fecontact.mesh import measures, topology
from fecontact.mesh.listing import some
from fecontact.naming import controls
from fecontact.typing import FloatArray, IntArray

NODES_PER_ELEMENT = {"triangle": 3, "quad": 4}
"""The kinds of elements, in the order in which elements are numbered."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A plane mesh of triangles and quadrilaterals with named groups.

    All numbers count from 0. Elements are numbered through the blocks, triangles before quads. The
    arrays are copied and made read-only. The constructor verifies shapes and number ranges only;
    `check_mesh` verifies that the mesh is sound, and the readers and generators call it.

    Parameters
    ----------
    nodes : (n_nodes, 2)
        Coordinates.
    cells : mapping of "triangle" to (nt, 3) and "quad" to (nq, 4)
        Node numbers of the elements, counter-clockwise in a sound mesh. Empty blocks are left out.
    element_groups, node_groups : mapping of names to (k,)
        Element numbers and node numbers, sorted and without repetition.
    edge_groups : mapping of names to (k, 2)
        Node pairs; in a sound mesh those on the boundary have the body on their left.
    notes
        What was changed on the way in (elements turned, nodes dropped ...), one sentence each.
    """

    nodes: FloatArray
    cells: Mapping[str, IntArray]
    element_groups: Mapping[str, IntArray] = field(default_factory=dict)
    edge_groups: Mapping[str, IntArray] = field(default_factory=dict)
    node_groups: Mapping[str, IntArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        nodes = _frozen_array(self.nodes, np.float64, "nodes")
        if nodes.ndim != 2 or nodes.shape[1] != 2:
            raise MeshError(f"nodes have shape {nodes.shape}, expected (n_nodes, 2)")
        bad = np.flatnonzero(~np.isfinite(nodes).all(axis=1))
        if bad.size:
            raise MeshError(f"{some(bad, 'node')}: coordinates are not finite numbers")
        unknown = set(self.cells) - set(NODES_PER_ELEMENT)
        if unknown:
            name = sorted(unknown)[0]
            raise MeshError(f"unknown element kind {name!r}; {choices(name, NODES_PER_ELEMENT)}")
        cells: dict[str, IntArray] = {}
        for kind, width in NODES_PER_ELEMENT.items():
            block = _frozen_array(self.cells.get(kind, ()), np.int64, f"block {kind!r}")
            if block.size == 0:
                continue
            if block.ndim != 2 or block.shape[1] != width:
                raise MeshError(f"block {kind!r} has shape {block.shape}, expected (n, {width})")
            _in_range(block, len(nodes), f"block {kind!r}", "node")
            cells[kind] = block
        if not cells:
            raise MeshError("the mesh has no elements; expected triangles or quads")
        n_elements = sum(len(block) for block in cells.values())
        for name in (*self.element_groups, *self.edge_groups, *self.node_groups):
            if found := controls(name):
                raise MeshError(f"group {name!r}: its name holds {found!r}; give plain text")
        element_groups, edge_groups, node_groups = {}, {}, {}
        for name, given in self.element_groups.items():
            element_groups[name] = _numbers(given, n_elements, f"element group {name!r}", "element")
        for name, given in self.node_groups.items():
            node_groups[name] = _numbers(given, len(nodes), f"node group {name!r}", "node")
        for name, given in self.edge_groups.items():
            what = f"edge group {name!r}"
            pairs = _frozen_array(given, np.int64, what)
            if pairs.size == 0:
                pairs = _frozen_array(np.empty((0, 2)), np.int64, what)
            if pairs.ndim != 2 or pairs.shape[1] != 2:
                raise MeshError(f"{what} has shape {pairs.shape}, expected (n, 2) node pairs")
            _in_range(pairs, len(nodes), what, "node")
            edge_groups[name] = pairs
        for attribute, value in (
            ("nodes", nodes),
            ("cells", MappingProxyType(cells)),
            ("element_groups", MappingProxyType(element_groups)),
            ("edge_groups", MappingProxyType(edge_groups)),
            ("node_groups", MappingProxyType(node_groups)),
            ("notes", tuple(self.notes)),
        ):
            object.__setattr__(self, attribute, value)

    def __reduce__(self) -> tuple[Any, ...]:
        # mapping proxies do not pickle
        groups = (dict(self.element_groups), dict(self.edge_groups), dict(self.node_groups))
        return (Mesh, (self.nodes, dict(self.cells), *groups, self.notes))

    def plot(self, ax: Any = None) -> Any:
        """Draw the elements with the groups named; returns the Matplotlib axes.

        Parameters
        ----------
        ax
            Axes to draw on; new ones where there are none.
        """
        from fecontact.output.mesh_figure import plot_mesh
        from fecontact.output.notebook import new_axes

        return plot_mesh(new_axes() if ax is None else ax, self)

    def _repr_html_(self) -> str:
        from fecontact.output.notebook import mesh_html

        return mesh_html(self)

    def __repr__(self) -> str:
        counts = [f"{self.n_nodes} nodes"]
        counts += [f"{len(block)} {kind}s" for kind, block in self.cells.items()]
        low, high = self.nodes.min(axis=0), self.nodes.max(axis=0)
        lines = [
            f"Mesh: {', '.join(counts)}",
            f"  x from {low[0]:g} to {high[0]:g}, y from {low[1]:g} to {high[1]:g}",
        ]
        for title, groups in (
            ("elements", self.element_groups),
            ("edges", self.edge_groups),
            ("nodes", self.node_groups),
        ):
            if groups:
                listed = ", ".join(f"{name} ({len(group)})" for name, group in groups.items())
                lines.append(f"  groups of {title}: {listed}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    @property
    def dim(self) -> int:
        """Number of coordinates of a node."""
        return int(self.nodes.shape[1])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @property
    def n_elements(self) -> int:
        """Number of elements of all kinds."""
        return sum(len(block) for block in self.cells.values())

    @cached_property
    def first_element(self) -> Mapping[str, int]:
        """Number of the first element of each block."""
        first, start = {}, 0
        for kind, block in self.cells.items():
            first[kind] = start
            start += len(block)
        return MappingProxyType(first)

    @property
    def size(self) -> float:
        """Diagonal of the box around the nodes."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    def element_nodes(self, number: int) -> IntArray:
        """Node numbers of one element, (3,) or (4,)."""
        for kind, start in self.first_element.items():
            if start <= number < start + len(self.cells[kind]):
                nodes: IntArray = self.cells[kind][number - start]
                return nodes
        raise MeshError(f"element {number} does not exist; the mesh has {self.n_elements} elements")

    def elements(self, name: str) -> IntArray:
        """Element numbers (k,) of an element group."""
        return self._group(name, self.element_groups, "element")

    def edges(self, name: str) -> IntArray:
        """Node pairs (k, 2) of an edge group."""
        return self._group(name, self.edge_groups, "edge")

    def node_numbers(self, name: str) -> IntArray:
        """Sorted node numbers (k,) of a group: of nodes, else of edges, else of elements."""
        if name in self.node_groups:
            return self.node_groups[name]
        if name in self.edge_groups:
            return np.unique(self.edge_groups[name])
        if name in self.element_groups:
            return np.unique(
                np.concatenate([b.ravel() for b in self.select(self.element_groups[name]).values()])
            )
        known = {*self.node_groups, *self.edge_groups, *self.element_groups}
        raise MeshError(f"the mesh has no group {name!r}; {choices(name, known, 'groups')}")

    def select(self, elements: IntArray) -> dict[str, IntArray]:
        """Node numbers of some elements by block, in the given order within each block."""
        found = {}
        for kind, start in self.first_element.items():
            local = elements - start
            inside = (local >= 0) & (local < len(self.cells[kind]))
            if inside.any():
                found[kind] = self.cells[kind][local[inside]]
        return found

    def _group(self, name: str, groups: Mapping[str, IntArray], kind: str) -> IntArray:
        try:
            return groups[name]
        except KeyError:
            listed = choices(name, groups, f"{kind} groups")
            raise MeshError(f"the mesh has no {kind} group {name!r}; {listed}") from None

    @cached_property
    def _boundary(self) -> IntArray:
        edges = topology.boundary(topology.side_keys(self.cells, self.n_nodes), self.n_nodes)
        edges.flags.writeable = False
        return edges

    def boundary_edges(self, nodes: IntArray | None = None) -> IntArray:
        """Edges (k, 2) that belong to one element only, with the body on the left.

        All of them, or those with both ends among the given node numbers.
        """
        if nodes is None:
            return self._boundary
        inside: IntArray = self._boundary[np.isin(self._boundary, nodes).all(axis=1)]
        return inside

    def chains(self, name: str) -> tuple[IntArray, ...]:
        """Polylines of an edge group: node numbers in the direction of the edges.

        A closed polyline ends with the node it starts with. Open polylines come first, in the order
        of their first edges in the group; a closed one starts with the first of its edges.
        """
        return topology.chains(self.edges(name), f"edge group {name!r}")

    def components(self) -> IntArray:
        """Label (n_nodes,) of the connected part to which each node belongs, counted from 0."""
        return topology.components(self.cells, self.n_nodes)

    def areas(self) -> FloatArray:
        """Areas (n_elements,), negative for elements numbered clockwise."""
        return measures.areas(self.nodes, self.cells)

    def centroids(self) -> FloatArray:
        """Centres of gravity (n_elements, 2)."""
        return measures.centroids(self.nodes, self.cells)

    def moved(self, displacement: ArrayLike) -> Mesh:
        """The same mesh with its nodes displaced.

        Parameters
        ----------
        displacement : (n_nodes, 2), (2 n_nodes,) or (2,)
            A field, a vector of unknowns, or one translation.
        """
        shift = np.asarray(displacement, dtype=np.float64)
        if shift.shape == (self.nodes.size,):
            shift = shift.reshape(self.nodes.shape)
        if shift.shape not in (self.nodes.shape, (self.dim,)):
            raise MeshError(
                f"displacement has shape {shift.shape}, expected {self.nodes.shape}, "
                f"({self.nodes.size},) or ({self.dim},)"
            )
        return replace(self, nodes=self.nodes + shift)

    def with_groups(
        self,
        *,
        elements: Mapping[str, ArrayLike] | None = None,
        edges: Mapping[str, ArrayLike] | None = None,
        nodes: Mapping[str, ArrayLike] | None = None,
    ) -> Mesh:
        """The same mesh with groups added or replaced; the body is left of boundary edges."""
        oriented = {
            name: topology.oriented(
                np.asarray(pairs, dtype=np.int64).reshape(-1, 2), self.boundary_edges()
            )
            for name, pairs in (edges or {}).items()
        }
        return replace(
            self,
            element_groups={**self.element_groups, **_as_arrays(elements)},
            edge_groups={**self.edge_groups, **oriented},
            node_groups={**self.node_groups, **_as_arrays(nodes)},
        )

    @staticmethod
    def merge(parts: Mapping[str, Mesh]) -> Mesh:
        """One mesh from several that stay apart.

        Group `left` of part `upper` becomes `upper.left`, and `upper` is a group of its elements.
        """
        if not parts:
            raise MeshError("no meshes to merge")
        cells: dict[str, IntArray] = {}
        element_groups: dict[str, IntArray] = {}
        edge_groups: dict[str, IntArray] = {}
        node_groups: dict[str, IntArray] = {}
        notes: list[str] = []
        first_node = np.cumsum([0, *(part.n_nodes for part in parts.values())])
        numbers = {name: np.empty(part.n_elements, dtype=np.int64) for name, part in parts.items()}
        count = 0
        for kind in NODES_PER_ELEMENT:
            blocks = []
            for shift, (name, part) in zip(first_node, parts.items(), strict=False):
                if kind in part.cells:
                    block, start = part.cells[kind], part.first_element[kind]
                    blocks.append(block + shift)
                    numbers[name][start : start + len(block)] = count + np.arange(len(block))
                    count += len(block)
            if blocks:
                cells[kind] = np.concatenate(blocks)
        for shift, (name, part) in zip(first_node, parts.items(), strict=False):
            element_groups[name] = numbers[name]
            element_groups.update(
                {f"{name}.{g}": numbers[name][v] for g, v in part.element_groups.items()}
            )
            edge_groups.update({f"{name}.{g}": v + shift for g, v in part.edge_groups.items()})
            node_groups.update({f"{name}.{g}": v + shift for g, v in part.node_groups.items()})
            notes += [f"{name}: {note}" for note in part.notes]
        nodes = np.concatenate([part.nodes for part in parts.values()])
        return Mesh(nodes, cells, element_groups, edge_groups, node_groups, tuple(notes))


def _as_arrays(groups: Mapping[str, ArrayLike] | None) -> dict[str, IntArray]:
    return {name: np.asarray(v, dtype=np.int64) for name, v in (groups or {}).items()}


def _frozen_array(given: ArrayLike, kind: type, what: str) -> Any:
    """A read-only array of the given type; copied unless nobody can write to it already."""
    try:
        array = np.asarray(given)
        if array.size and np.issubdtype(kind, np.integer) and array.dtype.kind not in "iu":
            raise MeshError(f"{what} holds values of type {array.dtype}, expected whole numbers")
        if array.flags.writeable or array.dtype != kind or array.base is not None:
            array = np.array(array, dtype=kind, order="C")
    except (TypeError, ValueError) as error:
        raise MeshError(f"{what} cannot be made an array of numbers: {error}") from None
    array.flags.writeable = False
    return array


def _in_range(numbers: IntArray, limit: int, what: str, unit: str) -> None:
    if numbers.size == 0 or (numbers.min() >= 0 and numbers.max() < limit):
        return
    wrong = np.flatnonzero(
        ((numbers < 0) | (numbers >= limit)).reshape(len(numbers), -1).any(axis=1)
    )
    value = numbers[wrong[0]]
    raise MeshError(
        f"{what}: {some(wrong, 'row')} name {unit}s that do not exist (first: {value.tolist()}); "
        f"{unit}s count from 0 to {limit - 1}"
    )


def _numbers(given: ArrayLike, limit: int, what: str, unit: str) -> IntArray:
    numbers = _frozen_array(given, np.int64, what)
    if numbers.ndim != 1:
        raise MeshError(f"{what} has shape {numbers.shape}, expected a list of {unit} numbers")
    _in_range(numbers, limit, what, unit)
    if (numbers[1:] <= numbers[:-1]).any():
        numbers = _frozen_array(np.unique(numbers), np.int64, what)
    result: IntArray = numbers
    return result
