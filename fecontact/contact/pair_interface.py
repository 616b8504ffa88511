"""Contact between two surfaces of deformable bodies: candidate nodes against antagonist edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from fecontact.body import Solid
from fecontact.contact.interface import Interface
from fecontact.contact.laws import PointLaws, as_law
from fecontact.contact.local import LocalContacts, frames_from_normals, mapping
from fecontact.contact.overlaps import COVERED, overlaps
from fecontact.contact.passage import Passages, passages
from fecontact.contact.projection import Feet, project
from fecontact.contact.search import Neighbours, PairList, pairs_within, without
from fecontact.contact.start import refuse_deep_penetration, refuse_penetration
from fecontact.contact.surface import (
    NodeNormals,
    all_held,
    check_boundary,
    gather_surface,
    neighbour_keys,
)
from fecontact.errors import ContactError, Tunnelling
from fecontact.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from fecontact.contact.pairs import PairContact

MOST_PAIRS = 5e6
"""How many pairs to look at in one go."""

MARGIN = 0.25
"""Part of an edge length by which nodes may move before the lists of pairs are made anew."""


@dataclass(frozen=True)
class _Found:
    """Contacts of one configuration before their law: numbers, frames, weights, gaps, supports."""

    candidates: IntArray
    frames: FloatArray
    weights: sparse.csr_array
    gap: FloatArray
    support: FloatArray


class PairInterface(Interface):
    """A contact between two surfaces, bound to a solid.

    Candidates without an antagonist within the alert distance are left out of what `detect` gives.
    A contact on whose both sides all nodes are held is left out as well.
    """

    def __init__(self, contact: PairContact, solid: Solid, held: BoolArray) -> None:
        where = f"contact.{contact.label}"
        law = as_law(contact.law, contact.friction)
        super().__init__(
            contact.label,
            solid,
            contact.candidates,
            law,
            contact.reactions,
            # a held candidate may meet an antagonist that moves
            np.zeros_like(held),
            contact.exclude,
        )
        self.laws = self.laws.shared(contact.share)
        self.contact, self.held = contact, held
        self.surface = gather_surface(solid.mesh, contact.antagonists, where)
        check_boundary(solid.mesh, contact.candidates, f"{where}.candidates")
        self._solid = solid
        self._set_distances()
        self._start = np.zeros(self.n_candidates)
        self._node_start = np.zeros(self.n_candidates)
        self._glued: _Found | None = None
        self._begin()

    def _set_distances(self) -> None:
        mesh, surface, nodes = self.mesh, self.surface, self.candidates.nodes
        edges = mesh.edges(self.group)
        length = np.linalg.norm(mesh.nodes[edges[:, 1]] - mesh.nodes[edges[:, 0]], axis=1)
        around = np.zeros(mesh.n_nodes)
        np.add.at(around, edges, length[:, None])
        around /= np.maximum(np.bincount(edges.ravel(), minlength=mesh.n_nodes), 1)
        alert = self.contact.alert
        self._size = around[nodes]
        self._lines, self._line_size = edges, length
        self._column = np.full(mesh.n_nodes, -1)
        self._column[nodes] = np.arange(len(nodes))
        self._alert = self._size if alert is None else np.full(len(nodes), alert)
        self._line_alert = length if alert is None else np.full(len(edges), alert)
        self._reach = surface.length if alert is None else np.zeros(len(surface))
        self._normals = NodeNormals(mesh, nodes)
        margin = MARGIN * float(np.median(surface.length))
        farthest = np.maximum(self._reach, surface.limit)
        self._near_nodes = Neighbours(
            farthest, margin, neighbour_keys(mesh, nodes[:, None], surface.edges)
        )
        self._near_lines = Neighbours(farthest, margin, neighbour_keys(mesh, edges, surface.edges))

    def _begin(self) -> None:
        """Look at the reference configuration: penetrations, gaps to remove, glued partners."""
        mesh, nodes, contact = self.mesh, self.candidates.nodes, self.contact
        feet = self.project(mesh.nodes)
        start = self._find(mesh.nodes)
        if self.law.friction_law == "glued":
            if len(start.candidates) == 0:
                raise ContactError(
                    f"{self.where}: no candidate of {self.group!r} starts within the alert "
                    f"distance of {contact.antagonists!r}, so that nothing is glued; give a larger "
                    "alert"
                )
            self._glued = start
            return
        refuse_deep_penetration(mesh, nodes, feet.found, self.surface.nodes, self.where)
        if contact.initial == "as_is":
            own = start.candidates
            refuse_penetration(
                mesh,
                nodes[own],
                start.gap,
                self._size[own],
                self.group,
                contact.antagonists,
                self.where,
            )
            return
        remove = np.asarray if contact.initial == "remove_gap" else _below_zero
        self._start[start.candidates] = remove(start.gap)
        self._node_start[feet.found] = remove(feet.gap[feet.found])

    @property
    def partner(self) -> str:
        return f"edges {self.contact.antagonists!r}"

    @property
    def touched(self) -> IntArray:
        return np.union1d(super().touched, self.surface.nodes)

    def project(self, positions: FloatArray) -> Feet:
        """Feet of all candidates on the antagonist surface, with the nodes at `positions`."""
        points = positions[self.candidates.nodes]
        pairs = self._near_nodes.pairs(points, positions[self.surface.edges], self._alert)
        return project(
            points,
            self._normals(positions),
            positions,
            self.surface,
            pairs,
            self._alert,
            self._reach,
        )

    def detect(self, positions: FloatArray, t: float, h: float) -> LocalContacts:
        if self._glued is not None:
            found = self._glued
            moved = found.weights.T @ (positions - self.mesh.nodes)
            offset = np.einsum("cak,ck->ca", found.frames, moved)
        else:
            found = self._find(positions)
            offset = np.zeros((len(found.candidates), positions.shape[1]))
            offset[:, 0] = found.gap - self._start[found.candidates]
        return LocalContacts(
            candidates=found.candidates,
            nodes=self.candidates.nodes[found.candidates],
            frames=found.frames,
            offset=offset,
            H=mapping(found.weights, found.frames),
            drift=np.zeros(offset.size),
            laws=self._laws(found),
            support=found.support,
        )

    def _laws(self, found: _Found) -> PointLaws:
        """The laws of what was found; what they take per area follows the support."""
        laws = self.laws.take(found.candidates)
        if self.reactions != "weighted":
            return laws
        return laws.shared(found.support / self.candidates.weighting.support[found.candidates])

    def _find(self, positions: FloatArray) -> _Found:
        weighted = self.reactions == "weighted"
        found = self._weighted(positions) if weighted else self._concentrated(positions)
        idle = all_held(self.held, found.weights)
        return _taken(found, np.flatnonzero(~idle)) if idle.any() else found

    def _concentrated(self, positions: FloatArray) -> _Found:
        feet = self.project(positions)
        own = np.flatnonzero(feet.found)
        n = len(own)
        place = feet.place[own]
        rows = np.column_stack([self.candidates.nodes[own], self.surface.edges[feet.edge[own]]])
        values = np.column_stack([np.ones(n), place - 1.0, -place])
        weights = sparse.csr_array(
            sparse.coo_array(
                (values.ravel(), (rows.ravel(), np.repeat(np.arange(n), 3))),
                shape=(len(positions), n),
            )
        )
        return _Found(
            own,
            frames_from_normals(feet.normal[own]),
            weights,
            feet.gap[own],
            self.candidates.weighting.support[own],
        )

    def _weighted(self, positions: FloatArray) -> _Found:
        ends = positions[self._lines]
        half = 0.5 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        pairs = self._near_lines.pairs(
            ends.mean(axis=1),
            positions[self.surface.edges],
            half + self._line_size + self._line_alert,
        )
        solid = self._solid
        seen = overlaps(
            positions,
            self._lines,
            self._column,
            self.n_candidates,
            self.surface,
            pairs,
            self._line_alert,
            self._reach,
            thickness=solid.thickness,
            axisymmetric=solid.hypothesis == "axisymmetric",
        )
        whole = self.candidates.weighting.support
        own = np.flatnonzero(seen.near & (seen.support > COVERED * whole))
        weights = sparse.csr_array(sparse.csc_array(seen.weights)[:, own])
        normal = seen.normal[own]
        between = weights.T @ positions
        return _Found(
            own,
            frames_from_normals(normal),
            weights,
            np.einsum("ck,ck->c", normal, between),
            seen.support[own],
        )

    def gaps(self, positions: FloatArray, t: float) -> FloatArray:
        return np.asarray(self.project(positions).gap - self._node_start)

    def check_passage(self, before: FloatArray, after: FloatArray, local: LocalContacts) -> None:
        """Raise `Tunnelling` where a candidate went through an antagonist edge within a step.

        One that a contact was written for has gone through when it ends deeper behind an edge than
        the limit of penetration, below which no contact would be found any more.
        """
        if self._glued is not None:
            return
        seen = self._passages(before, after, local)
        if len(seen) == 0:
            return
        worst = int(np.argmax(seen.depth))
        node = int(self.candidates.nodes[seen.candidate[worst]])
        a, b = self.surface.edges[seen.edge[worst]]
        place = ", ".join(f"{c:.6g}" for c in after[node])
        passed = Tunnelling(
            f"{self.where}: {len(seen)} candidates of {self.group!r} went through "
            f"{self.contact.antagonists!r} within the step, deepest by {seen.depth[worst]:.3g}: "
            f"node {node}, now at ({place}), through edge ({a}, {b}); take a smaller time.step, "
            "set time.adaptive, or give the contact a larger alert"
        )
        deepest = np.argsort(-seen.depth, kind="stable")
        passed.nodes = tuple(int(n) for n in self.candidates.nodes[seen.candidate[deepest]])
        raise passed

    def _passages(self, before: FloatArray, after: FloatArray, local: LocalContacts) -> Passages:
        nodes, surface, near = self.candidates.nodes, self.surface, self._near_nodes
        normals = self._normals(before)
        watched = np.zeros(len(nodes), dtype=bool)
        watched[local.candidates] = True
        if all(near.covers(x[nodes], x[surface.edges]) for x in (before, after)):
            seen = passages(before, after, nodes, normals, watched, surface, near.listed)
        else:
            parts = [
                passages(before, after, nodes[i], normals[i], watched[i], surface, pairs).of(i)
                for i, pairs in self._swept(before, after)
            ]
            seen = Passages.join(parts)
        if self.reactions == "concentrated" or len(seen) == 0:
            return seen
        # what a weighted contact holds apart is the mean over its support, not the node
        mean = np.full(len(nodes), -np.inf)
        mean[local.candidates] = (local.H.T @ after.ravel())[:: after.shape[1]]
        return seen.take(mean[seen.candidate] < -surface.limit[seen.edge])

    def _swept(self, before: FloatArray, after: FloatArray) -> Iterator[tuple[IntArray, PairList]]:
        """Pairs whose ways may cross in a step too long for the lists, some candidates at a time.

        Where everything moves far, all pairs must be looked at; they are not stored all at once.
        """
        nodes, surface = self.candidates.nodes, self.surface
        n, m = len(nodes), len(surface)
        middle, moved = 0.5 * (before + after), 0.5 * (after - before)
        moved = moved - moved[surface.nodes].mean(axis=0)
        travel = np.linalg.norm(moved, axis=1)
        ends, none = middle[surface.edges], np.zeros(m)
        radius = travel[nodes] + float(travel[surface.nodes].max())
        expected = min(m, 4.0 + 8.0 * float(radius.max()) / float(surface.length.min()))
        size = max(1, int(MOST_PAIRS / expected))
        excluded = self._near_nodes.excluded
        for first in range(0, n, size):
            i = np.arange(first, min(first + size, n))
            own = excluded[np.searchsorted(excluded, i[0] * m) :] - i[0] * m
            pairs = pairs_within(middle[nodes[i]], ends, radius[i], none)
            yield i, without(pairs, own, m)


def _below_zero(gap: FloatArray) -> FloatArray:
    return np.minimum(gap, 0.0)


def _taken(found: _Found, which: IntArray) -> _Found:
    return _Found(
        found.candidates[which],
        found.frames[which],
        sparse.csr_array(sparse.csc_array(found.weights)[:, which]),
        found.gap[which],
        found.support[which],
    )
