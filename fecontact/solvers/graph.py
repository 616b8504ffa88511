"""Graph of a matrix pattern, with the dofs that have the same neighbours gathered in one vertex."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def gather(indptr, indices, last):  # type: ignore[no-untyped-def]
    """Gather dofs with the same neighbours (and both or neither last) into groups."""
    n = indptr.size - 1
    code = np.zeros(n, dtype=np.uint64)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[k] + 1) * np.uint64(0x9E3779B97F4A7C15)
            code[i] += j ^ (j >> np.uint64(29))
    group = np.full(n, -1, dtype=np.int64)
    members = np.empty(n, dtype=np.int64)
    ptr = np.zeros(n + 1, dtype=np.int64)
    ng = filled = 0
    for i in range(n):
        if group[i] >= 0:
            continue
        length = indptr[i + 1] - indptr[i]
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j < i or group[j] >= 0 or code[j] != code[i] or last[j] != last[i]:
                continue
            if indptr[j + 1] - indptr[j] != length:
                continue
            same = True
            for offset in range(length):
                if indices[indptr[j] + offset] != indices[indptr[i] + offset]:
                    same = False
                    break
            if same:
                group[j] = ng
                members[filled] = j
                filled += 1
        ng += 1
        ptr[ng] = filled
    return group, members, ptr[: ng + 1].copy()


@njit(cache=True)
def compress(indptr, indices, group, members, ptr):  # type: ignore[no-untyped-def]
    """Graph of the groups, without loops."""
    ng = ptr.size - 1
    bound = 0
    for g in range(ng):
        i = members[ptr[g]]
        bound += indptr[i + 1] - indptr[i]
    new_indptr = np.zeros(ng + 1, dtype=np.int64)
    new_indices = np.empty(bound, dtype=np.int32)
    seen = np.full(ng, -1, dtype=np.int64)
    filled = 0
    for g in range(ng):
        seen[g] = g
        i = members[ptr[g]]
        for k in range(indptr[i], indptr[i + 1]):
            h = group[indices[k]]
            if seen[h] != g:
                seen[h] = g
                new_indices[filled] = h
                filled += 1
        new_indptr[g + 1] = filled
    return new_indptr, new_indices[:filled].copy()


@njit(cache=True)
def renumber(indptr, indices, perm, place):  # type: ignore[no-untyped-def]
    """Graph with vertex perm[p] renamed p; ``place`` is the inverse of ``perm``."""
    new_indptr = np.zeros_like(indptr)
    new_indices = np.empty_like(indices)
    filled = 0
    for p in range(perm.size):
        for k in range(indptr[perm[p]], indptr[perm[p] + 1]):
            new_indices[filled] = place[indices[k]]
            filled += 1
        new_indptr[p + 1] = filled
    return new_indptr, new_indices


@njit(cache=True)
def parts(indptr, indices):  # type: ignore[no-untyped-def]
    """Number of the connected part of each vertex, and the number of vertices before each part."""
    nv = indptr.size - 1
    part = np.full(nv, -1, dtype=np.int64)
    queue = np.empty(nv, dtype=np.int64)
    before = np.empty(nv + 1, dtype=np.int64)
    count = filled = head = 0
    for seed in range(nv):
        if part[seed] >= 0:
            continue
        before[count] = filled
        part[seed] = count
        queue[filled] = seed
        filled += 1
        while head < filled:
            v = queue[head]
            head += 1
            for w in indices[indptr[v] : indptr[v + 1]]:
                if part[w] < 0:
                    part[w] = count
                    queue[filled] = w
                    filled += 1
        count += 1
    before[count] = nv
    return part, before[: count + 1].copy()
