"""Sparsity of the assembled matrices, found once.

Nodes that share an element are coupled, all components with all components. The pattern of the
node graph is expanded to dofs, and `where` remembers for every pair of nodes of every element the
place in the data array of the first entry of their block, so that filling needs no search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Index = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pattern:
    """CSR pattern on dofs and the way from elements into it.

    Attributes
    ----------
    indices, indptr : (nnz,), (ndof + 1,)
        Compressed rows with sorted columns.
    stride : (n_nodes,)
        Length of the rows of each node's dofs.
    where : tuple of (ne, nn, nn)
        Per block of elements: place of entry (dim i, dim j) for the nodes i, j of each pair; the
        entry (dim i + k, dim j + l) is at where + k stride[i] + l.
    diagonal : (ndof,)
        Places of the diagonal entries.
    """

    indices: Index
    indptr: Index
    stride: Index
    where: tuple[Index, ...]
    diagonal: Index

    @property
    def nnz(self) -> int:
        return self.indices.size


def find_pattern(cells: Sequence[NDArray[np.int32]], n_nodes: int, dim: int) -> Pattern:
    """Pattern of the body made of the given blocks of elements, each (ne, nn)."""
    sizes = [c.shape[1] for c in cells]
    pairs = sum(c.shape[0] * c.shape[1] ** 2 for c in cells)
    # 32 bits are half the memory traffic and serve as long as there are < 2^31 entries
    dtype: type[Any] = np.int32 if dim * dim * (pairs + n_nodes) < 2**31 else np.int64
    nodes = np.concatenate([c.ravel() for c in cells]) if len(cells) != 1 else cells[0].ravel()
    element_ptr = np.zeros(sum(c.shape[0] for c in cells) + 1, dtype=np.int64)
    np.cumsum(np.repeat(sizes, [c.shape[0] for c in cells]), out=element_ptr[1:])
    where = np.empty(pairs, dtype=dtype)
    graph_ptr, graph = _node_graph(nodes, element_ptr, n_nodes, dim, where)
    indices = np.empty(dim * dim * graph.size, dtype=dtype)
    indptr = np.empty(dim * n_nodes + 1, dtype=dtype)
    diagonal = np.empty(dim * n_nodes, dtype=dtype)
    stride = np.empty(n_nodes, dtype=dtype)
    _expand(graph_ptr, graph, dim, indices, indptr, diagonal, stride)
    blocks = []
    start = 0
    for c in cells:
        stop = start + c.shape[0] * c.shape[1] ** 2
        blocks.append(where[start:stop].reshape(c.shape[0], c.shape[1], c.shape[1]))
        start = stop
    return Pattern(indices, indptr, stride, tuple(blocks), diagonal)


@njit(cache=True)
def _node_graph(nodes: Any, element_ptr: Any, n_nodes: int, dim: int, where: Any) -> Any:
    """Neighbours of every node in ascending order, itself included; fills `where` on the way."""
    n_elements = element_ptr.size - 1
    use_ptr = np.zeros(n_nodes + 2, dtype=np.int64)
    for k in range(nodes.size):
        use_ptr[nodes[k] + 2] += 1
    for i in range(n_nodes):
        use_ptr[i + 2] += use_ptr[i + 1]
    # element of each use of a node, the place of that use, and where its row of pairs starts
    use_element = np.empty(nodes.size, dtype=np.int32)
    use_pair = np.empty(nodes.size, dtype=np.int64)
    pair = 0
    for e in range(n_elements):
        nn = element_ptr[e + 1] - element_ptr[e]
        for k in range(element_ptr[e], element_ptr[e + 1]):
            i = nodes[k]
            slot = use_ptr[i + 1]
            use_ptr[i + 1] = slot + 1
            use_element[slot] = e
            use_pair[slot] = pair
            pair += nn
    graph_ptr = np.empty(n_nodes + 1, dtype=np.int64)
    graph = np.empty(where.size + n_nodes, dtype=np.int32)
    place = np.empty(n_nodes, dtype=np.int32)
    seen = np.full(n_nodes, -1, dtype=np.int32)
    stop = 0
    for i in range(n_nodes):
        start = stop
        graph_ptr[i] = start
        # the node itself, so that a node without elements still has its diagonal
        graph[stop] = i
        stop += 1
        seen[i] = i
        for slot in range(use_ptr[i], use_ptr[i + 1]):
            e = use_element[slot]
            for k in range(element_ptr[e], element_ptr[e + 1]):
                j = nodes[k]
                if seen[j] != i:
                    seen[j] = i
                    m = stop
                    while m > start and graph[m - 1] > j:
                        graph[m] = graph[m - 1]
                        m -= 1
                    graph[m] = j
                    stop += 1
        for m in range(start, stop):
            place[graph[m]] = dim * (m - start)
        base = dim * dim * start
        for slot in range(use_ptr[i], use_ptr[i + 1]):
            e = use_element[slot]
            pair = use_pair[slot]
            for k in range(element_ptr[e], element_ptr[e + 1]):
                where[pair] = base + place[nodes[k]]
                pair += 1
    graph_ptr[n_nodes] = stop
    return graph_ptr, graph[:stop]


@njit(cache=True)
def _expand(
    graph_ptr: Any, graph: Any, dim: int, indices: Any, indptr: Any, diagonal: Any, stride: Any
) -> None:
    """From the node graph to dofs."""
    n_nodes = graph_ptr.size - 1
    at = 0
    indptr[0] = 0
    for i in range(n_nodes):
        stride[i] = dim * (graph_ptr[i + 1] - graph_ptr[i])
        for k in range(dim):
            for m in range(graph_ptr[i], graph_ptr[i + 1]):
                j = graph[m]
                if j == i:
                    diagonal[dim * i + k] = at + k
                for l in range(dim):
                    indices[at] = dim * j + l
                    at += 1
            indptr[dim * i + k + 1] = at
