"""Which points and edges are near each other: a tree, and lists that are kept while little moves.

A list holds every pair whose distance can come within reach while no node moves by more than a
margin from where the list was made, apart from a translation common to all. Until then the exact
questions are asked of the pairs in the list alone, with the answers that all pairs would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from fecontact.typing import FloatArray, IntArray


@dataclass(frozen=True)
class PairList:
    """Edges near each point: those of point i are `edges[start[i]:start[i + 1]]`, in order."""

    start: IntArray
    edges: IntArray


def pairs_within(
    points: FloatArray, ends: FloatArray, radius: FloatArray, reach: FloatArray
) -> PairList:
    """Pairs of points (n, 2) and edges, given by ends (ne, 2, 2), that may be near each other.

    Every pair is found whose distance is at most the point's `radius` (n,) plus the edge's `reach`
    (ne,); some others are listed with them. Edges are sorted into classes of like length, so that
    a few long edges do not widen the search among short ones.
    """
    middle = ends.mean(axis=1)
    half = 0.5 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) + reach
    smallest = max(float(half.min()), 1e-12 * float(half.max()), 1e-300)
    kind = np.floor(np.log2(np.maximum(half / smallest, 1.0))).astype(np.int64)
    owners, found = [], []
    for k in np.unique(kind):
        own = np.flatnonzero(kind == k)
        distance = radius + float(half[own].max()) * (1.0 + 1e-12)
        from scipy.spatial import cKDTree

        near = cKDTree(middle[own]).query_ball_point(points, distance)
        counts = np.fromiter(map(len, near), dtype=np.int64, count=len(points))
        flat = np.fromiter(chain.from_iterable(near), dtype=np.int64, count=int(counts.sum()))
        owners.append(np.repeat(np.arange(len(points)), counts))
        found.append(own[flat])
    owner, edge = np.concatenate(owners), np.concatenate(found)
    order = np.argsort(owner * len(ends) + edge)
    counts = np.bincount(owner, minlength=len(points))
    return PairList(np.concatenate([[0], np.cumsum(counts)]), edge[order])


def without(pairs: PairList, excluded: IntArray, n_edges: int) -> PairList:
    """The list without pairs whose key, point times n_edges plus edge, is excluded."""
    if len(excluded) == 0 or len(pairs.edges) == 0:
        return pairs
    n = len(pairs.start) - 1
    owner = np.repeat(np.arange(n), np.diff(pairs.start))
    kept = ~np.isin(owner * n_edges + pairs.edges, excluded)
    counts = np.bincount(owner[kept], minlength=n)
    return PairList(np.concatenate([[0], np.cumsum(counts)]), pairs.edges[kept])


class Neighbours:
    """Lists of near pairs, made anew when motion requires it.

    Parameters
    ----------
    reach : FloatArray (ne,)
        Distance from each edge within which pairs are wanted.
    margin
        How far nodes may move before the list is made anew.
    excluded : IntArray
        Keys of pairs that are never wanted.
    """

    def __init__(self, reach: FloatArray, margin: float, excluded: IntArray) -> None:
        self.reach, self.margin, self.excluded = reach, margin, excluded
        self.builds = 0
        self._made: tuple[FloatArray, FloatArray, PairList] | None = None

    def pairs(self, points: FloatArray, ends: FloatArray, radius: FloatArray) -> PairList:
        """All pairs nearer than `radius` (n,) of the point plus the reach of the edge."""
        if self._made is None or not self.covers(points, ends):
            listed = pairs_within(points, ends, radius + 2.0 * self.margin, self.reach)
            self._made = (points, ends, without(listed, self.excluded, len(ends)))
            self.builds += 1
        return self._made[2]

    def covers(self, points: FloatArray, ends: FloatArray) -> bool:
        """Whether the list holds for these positions too."""
        if self._made is None:
            return False
        moved, dragged = points - self._made[0], (ends - self._made[1]).reshape(-1, 2)
        common = 0.5 * (moved.mean(axis=0) + dragged.mean(axis=0))
        farthest = max(_farthest(moved - common), _farthest(dragged - common))
        return farthest <= self.margin

    @property
    def listed(self) -> PairList:
        """The list as it stands."""
        if self._made is None:
            raise RuntimeError("no list has been made yet")
        return self._made[2]


def _farthest(vectors: FloatArray) -> float:
    return float(np.sqrt((vectors**2).sum(axis=1).max(initial=0.0)))
