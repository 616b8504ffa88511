"""Bodies that overlap before anything has moved."""

from __future__ import annotations

import numpy as np

from fecontact.contact.projection import project
from fecontact.contact.search import pairs_within
from fecontact.contact.surface import whole_boundary
from fecontact.errors import ContactError
from fecontact.mesh import Mesh
from fecontact.typing import BoolArray, FloatArray, IntArray

OVERLAP = 1e-9
"""Penetrations below this part of an edge length are rounding."""


def refuse_penetration(
    mesh: Mesh,
    nodes: IntArray,
    gap: FloatArray,
    size: FloatArray,
    group: str,
    antagonists: str,
    where: str,
) -> None:
    """Refuse candidates that start inside the antagonist.

    Parameters
    ----------
    nodes, gap, size : (n,)
        Candidates, their gaps at the start, and the lengths of their edges.
    """
    bad = gap < -OVERLAP * size
    if not bad.any():
        return
    worst = int(np.argmin(gap))
    place = ", ".join(f"{c:.6g}" for c in mesh.nodes[nodes[worst]])
    raise ContactError(
        f"{where}: {int(bad.sum())} of {len(nodes)} candidates of {group!r} start inside "
        f"{antagonists!r}, deepest by {-gap[worst]:.3g} at node {nodes[worst]} ({place}); move the "
        'bodies apart, or set initial = "remove_penetration" (or "remove_gap") to count gaps from '
        "where the candidates start"
    )


def refuse_deep_penetration(
    mesh: Mesh, nodes: IntArray, found: BoolArray, antagonist_nodes: IntArray, where: str
) -> None:
    """Refuse candidates inside another body and too deep for the search of contacts.

    Parameters
    ----------
    nodes, found : (n,)
        Candidates, and those that the search has found a partner for.
    antagonist_nodes
        Nodes of the antagonist edges: their bodies are looked at.
    """
    labels = mesh.components()
    for label in np.unique(labels[antagonist_nodes]):
        body = labels == label
        low, high = mesh.nodes[body].min(axis=0), mesh.nodes[body].max(axis=0)
        x = mesh.nodes[nodes]
        some = ((x > low) & (x < high)).all(axis=1) & ~found & (labels[nodes] != label)
        if not some.any():
            continue
        others, points = nodes[some], x[some]
        surface = whole_boundary(mesh, body)
        ends = mesh.nodes[surface.edges]
        from scipy.spatial import cKDTree

        nearest = cKDTree(ends.mean(axis=1)).query(points)[0]
        n, none = len(points), np.zeros(len(surface))
        pairs = pairs_within(points, ends, np.asarray(nearest), none)
        far = np.full(n, np.inf)
        feet = project(points, np.zeros((n, 2)), mesh.nodes, surface, pairs, far, none)
        bad = feet.found & (feet.gap < -OVERLAP * surface.length[feet.edge])
        if bad.any():
            worst = int(np.argmin(np.where(bad, feet.gap, np.inf)))
            place = ", ".join(f"{c:.6g}" for c in points[worst])
            raise ContactError(
                f"{where}: {int(bad.sum())} candidates start deep inside the antagonist body, "
                f"deepest by {-feet.gap[worst]:.3g} at node {others[worst]} ({place}), more than "
                "an edge's limit of penetration; move the bodies apart"
            )
