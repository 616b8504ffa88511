"""Overlaps of two meshes' traces, for weighted reactions between two deformable bodies.

A candidate edge sees the antagonist edges along its own outward normal. Along it, the edge is cut
at its middle (where the supports χ_h of its two nodes meet) and at the projections of the ends of
antagonist edges. On a piece between two cuts the traces of both meshes are linear in the abscissa,
so that the integrals

    ∫ f_s χ_h   and   ∫ g_m χ_h

of the candidate's traces f_s and the antagonist's traces g_m are exact with the piece's mean
values. Where several antagonist edges lie one behind another the nearest counts. Parts of χ_h that
see no antagonist do not count, neither for the weights nor for the support.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse

from fecontact.contact.projection import FACING
from fecontact.contact.search import PairList
from fecontact.contact.surface import Surface
from fecontact.typing import BoolArray, FloatArray, IntArray

DEEPER = 1.5
"""A piece of a tilted support may be behind an edge by this many times the limit for a whole."""

COVERED = 1e-6
"""A candidate of which a smaller part of the support sees an antagonist has no contact."""


@dataclass(frozen=True)
class Overlaps:
    """Weighted contacts.

    Attributes
    ----------
    near : BoolArray (n,)
        Candidates that see an antagonist within the alert distance.
    weights : csr_array (n_nodes, n)
        ∫ f_s χ_h / ∫ χ_h for the nodes of the candidate line, less ∫ g_m χ_h / ∫ χ_h for the nodes
        of the antagonist: each column sums to zero.
    support : FloatArray (n,)
        ∫ χ_h over what overlaps.
    normal : FloatArray (n, 2)
        Mean of the antagonist's normals over the support, of unit length.
    """

    near: BoolArray
    weights: sparse.csr_array
    support: FloatArray
    normal: FloatArray


def overlaps(
    positions: FloatArray,
    lines: IntArray,
    column: IntArray,
    n_candidates: int,
    surface: Surface,
    pairs: PairList,
    alert: FloatArray,
    reach: FloatArray,
    *,
    thickness: float = 1.0,
    axisymmetric: bool = False,
) -> Overlaps:
    """Weighted contacts of candidate edges with a surface.

    Parameters
    ----------
    positions : (n_nodes, 2)
        Of all nodes.
    lines : (m, 2)
        Candidate edges, with their body on the left.
    column : (n_nodes,)
        Number of each node among the candidates, -1 for others.
    pairs
        Antagonist edges to look at for each candidate edge.
    alert : (m,), reach : (ne,)
        A contact is near where the gap of some piece is at most the larger of the two; pieces count
        up to an edge length farther, so that a tilted support is not cut off.
    """
    room = 2 * len(pairs.edges) + 3 * len(lines)
    owner = np.empty(room, dtype=np.int64)
    line, edge = np.empty_like(owner), np.empty_like(owner)
    measure, here, there = np.empty(room), np.empty(room), np.empty(room)
    close = np.empty(room, dtype=np.bool_)
    count = _pieces(
        positions[lines],
        positions[surface.edges],
        column[lines],
        surface.limit,
        pairs.start,
        pairs.edges,
        alert,
        reach,
        axisymmetric,
        owner,
        line,
        edge,
        measure,
        here,
        there,
        close,
    )
    part = slice(0, count)
    owner, line, edge, close = owner[part], line[part], edge[part], close[part]
    measure, here, there = measure[part], here[part], there[part]
    measure = measure * (2.0 * np.pi if axisymmetric else thickness)
    support = _sums(owner, measure, n_candidates)
    near = np.zeros(n_candidates, dtype=bool)
    near[owner[close]] = True
    share = measure / support[owner]
    ends = np.concatenate([lines[line], surface.edges[edge]], axis=1)
    values = np.stack(
        [share * (1.0 - here), share * here, -share * (1.0 - there), -share * there], axis=1
    )
    weights = sparse.csr_array(
        sparse.coo_array(
            (values.ravel(), (ends.ravel(), np.repeat(owner, 4))),
            shape=(len(positions), n_candidates),
        )
    )
    along = positions[surface.edges[:, 1]] - positions[surface.edges[:, 0]]
    outward = np.column_stack([along[:, 1], -along[:, 0]])
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    normal = np.column_stack(
        [_sums(owner, share * outward[edge, k], n_candidates) for k in range(2)]
    )
    size = np.linalg.norm(normal, axis=1)
    normal /= np.where(size > 0.0, size, 1.0)[:, None]
    return Overlaps(near & (size > 0.0), weights, support, normal)


def _sums(owner: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(owner, values, minlength=count), dtype=np.float64)


@njit(cache=True)
def _pieces(  # type: ignore[no-untyped-def]
    lines,
    ends,
    column,
    limit,
    start,
    listed,
    alert,
    reach,
    axisymmetric,
    owner,
    line,
    edge,
    measure,
    here,
    there,
    close,
):
    count = 0
    for i in range(len(lines)):
        first, last = start[i], start[i + 1]
        if first == last or (column[i, 0] < 0 and column[i, 1] < 0):
            continue
        x0, y0 = lines[i, 0]
        tx, ty = lines[i, 1, 0] - x0, lines[i, 1, 1] - y0
        length = np.sqrt(tx * tx + ty * ty)
        tx, ty = tx / length, ty / length
        nx, ny = ty, -tx
        # of each antagonist edge: abscissae and heights of its ends over the candidate edge
        m = 0
        span = np.empty((last - first, 4))
        who = np.empty(last - first, dtype=np.int64)
        cuts = np.empty(2 * (last - first) + 3)
        cuts[0], cuts[1], cuts[2] = 0.0, 0.5 * length, length
        n_cuts = 3
        for k in range(first, last):
            e = listed[k]
            ax, ay = ends[e, 0, 0] - x0, ends[e, 0, 1] - y0
            bx, by = ends[e, 1, 0] - x0, ends[e, 1, 1] - y0
            xa, xb = ax * tx + ay * ty, bx * tx + by * ty
            ga, gb = ax * nx + ay * ny, bx * nx + by * ny
            size = np.sqrt((xb - xa) ** 2 + (gb - ga) ** 2)
            # facing edges run the other way: their cosine is (xb - xa) / size
            if xb - xa > FACING * size or xa <= 0.0 or xb >= length:
                continue
            span[m, 0], span[m, 1], span[m, 2], span[m, 3] = xa, xb, ga, gb
            who[m] = e
            m += 1
            if xa < length:
                cuts[n_cuts] = xa
                n_cuts += 1
            if xb > 0.0:
                cuts[n_cuts] = xb
                n_cuts += 1
        if m == 0:
            continue
        ordered = np.sort(cuts[:n_cuts])
        for k in range(n_cuts - 1):
            low, high = ordered[k], ordered[k + 1]
            if high - low <= 1e-14 * length:
                continue
            middle = 0.5 * (low + high)
            side = 0 if middle < 0.5 * length else 1
            if column[i, side] < 0:
                continue
            best, found, height = np.inf, -1, 0.0
            for j in range(m):
                if span[j, 1] <= middle <= span[j, 0]:
                    part = (middle - span[j, 0]) / (span[j, 1] - span[j, 0])
                    g = span[j, 2] + part * (span[j, 3] - span[j, 2])
                    far = max(alert[i], reach[who[j]]) + length
                    if -DEEPER * limit[who[j]] <= g <= far and abs(g) < best:
                        best, found, height = abs(g), j, g
            if found < 0:
                continue
            place = middle
            width = high - low
            if axisymmetric:
                # the radius is linear along the piece, which moves the mean place outwards
                slope = lines[i, 1, 0] - x0
                radius = x0 + slope * middle / length
                place = middle + slope / length * width**2 / (12.0 * radius) if radius > 0 else low
                width *= radius
            e = who[found]
            owner[count], line[count], edge[count] = column[i, side], i, e
            measure[count] = width
            here[count] = place / length
            there[count] = (place - span[found, 0]) / (span[found, 1] - span[found, 0])
            close[count] = height <= max(alert[i], reach[e])
            count += 1
    return count
