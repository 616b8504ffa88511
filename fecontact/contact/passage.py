"""Candidates that went through an antagonist edge within a step.

Over a step every node moves on a straight line at constant speed. A candidate at p passes the edge
(a, b) where the doubled area (b - a) × (p - a), a quadratic in time, changes sign while p is
between a and b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from fecontact.contact.projection import FACING
from fecontact.contact.search import PairList
from fecontact.contact.surface import Surface
from fecontact.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Passages:
    """Candidates (k,) that went through, the edges (k,), and how deep they are at the end (k,)."""

    candidate: IntArray
    edge: IntArray
    depth: FloatArray

    def __len__(self) -> int:
        return len(self.candidate)

    def take(self, which: BoolArray) -> Passages:
        """Some of them."""
        return Passages(self.candidate[which], self.edge[which], self.depth[which])

    def of(self, numbers: IntArray) -> Passages:
        """The same, where the candidates were those with these numbers."""
        return Passages(numbers[self.candidate], self.edge, self.depth)

    @staticmethod
    def join(parts: Sequence[Passages]) -> Passages:
        """Several one after another."""
        return Passages(
            np.concatenate([p.candidate for p in parts]),
            np.concatenate([p.edge for p in parts]),
            np.concatenate([p.depth for p in parts]),
        )


def passages(
    before: FloatArray,
    after: FloatArray,
    nodes: IntArray,
    normals: FloatArray,
    watched: BoolArray,
    surface: Surface,
    pairs: PairList,
) -> Passages:
    """Passages of candidates, from the outside to the inside of edges that face them.

    Parameters
    ----------
    before, after : (n_nodes, 2)
        Positions of all nodes at the ends of the step.
    nodes : (n,)
        Nodes of the candidates.
    normals : (n, 2)
        Their outward normals before.
    watched : (n,)
        Candidates that a contact was written for: one of these has gone through only when it ends
        behind an edge by more than the limit of penetration. So has one that starts behind an edge
        within the limit.
    """
    edge = np.full(len(nodes), -1)
    depth = np.zeros(len(nodes))
    _passages(
        before[nodes],
        after[nodes],
        before[surface.edges],
        after[surface.edges],
        normals,
        watched,
        surface.limit,
        pairs.start,
        pairs.edges,
        edge,
        depth,
    )
    who = np.flatnonzero(edge >= 0)
    return Passages(who, edge[who], depth[who])


@njit(cache=True)
def _cross(ax, ay, bx, by):  # type: ignore[no-untyped-def]
    return ax * by - ay * bx


@njit(cache=True)
def _passages(  # type: ignore[no-untyped-def]
    p0, p1, ends0, ends1, normals, watched, limit, start, listed, edge, depth
):
    for i in range(len(p0)):
        mx, my = normals[i, 0], normals[i, 1]
        for k in range(start[i], start[i + 1]):
            e = listed[k]
            # edge and arm at the start, and their changes
            tx, ty = ends0[e, 1, 0] - ends0[e, 0, 0], ends0[e, 1, 1] - ends0[e, 0, 1]
            sx, sy = ends1[e, 1, 0] - ends1[e, 0, 0], ends1[e, 1, 1] - ends1[e, 0, 1]
            ax, ay = p0[i, 0] - ends0[e, 0, 0], p0[i, 1] - ends0[e, 0, 1]
            bx, by = p1[i, 0] - ends1[e, 0, 0], p1[i, 1] - ends1[e, 0, 1]
            length = np.sqrt(tx * tx + ty * ty)
            if (mx != 0.0 or my != 0.0) and mx * ty - my * tx > FACING * length:
                continue
            # twice the area, positive inside the body
            f0, f1 = _cross(tx, ty, ax, ay), _cross(sx, sy, bx, by)
            tiny = 1e-9 * length * length
            if f1 <= tiny or f0 > limit[e] * length:
                continue
            end = np.sqrt(sx * sx + sy * sy)
            deep = f1 / end
            if (watched[i] or f0 > tiny) and deep <= limit[e]:
                continue
            if watched[i]:
                # one that slid off the end of the edge is not behind it
                place = (sx * bx + sy * by) / (end * end)
                if place < 0.0 or place > 1.0:
                    continue
            c2 = _cross(sx - tx, sy - ty, bx - ax, by - ay)
            c1 = f1 - f0 - c2
            tau = _root(c2, c1, f0)
            ux, uy = tx + tau * (sx - tx), ty + tau * (sy - ty)
            vx, vy = ax + tau * (bx - ax), ay + tau * (by - ay)
            place = (ux * vx + uy * vy) / (ux * ux + uy * uy)
            if place < 0.0 or place > 1.0:
                continue
            if deep > depth[i]:
                edge[i], depth[i] = e, deep


@njit(cache=True)
def _root(c2, c1, c0):  # type: ignore[no-untyped-def]
    """The root in [0, 1] of c2 x² + c1 x + c0, which is not positive at 0 and positive at 1."""
    if c0 >= 0.0:
        # behind the edge from the start: there it must have been between its ends
        return 0.0
    discriminant = max(c1 * c1 - 4.0 * c2 * c0, 0.0)
    q = c1 + np.sqrt(discriminant) if c1 >= 0.0 else c1 - np.sqrt(discriminant)
    # the sign changes once between 0 and 1, so that one of the two roots is there
    first = -2.0 * c0 / q if q != 0.0 else 1.0
    if 0.0 <= first <= 1.0:
        return first
    return min(max(-0.5 * q / c2, 0.0), 1.0) if c2 != 0.0 else 1.0
