"""What links say together: chains of must-links, what follows from them, and what contradicts them.

A chain is as certain as its least certain link, and two objects joined by several chains are as certainly joined as the
strongest one says. With this reading the strongest chains are those of a maximum spanning forest, and everything that
follows from the links comes out of one pass over them from the most to the least certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree


class Contradiction(NamedTuple):
    """A cannot-link between two objects that must-links join.

    Attributes
    ----------
    chain : tuple
        The objects from one end of the cannot-link to the other; each two neighbors are a must-link.
    certainty : float
        Of the least certain link involved, the cannot-link included.
    """

    chain: tuple[Any, ...]
    certainty: float


class ContradictoryLinks(ValueError):
    """Links that no partition can obey; ``contradictions`` holds the chains that prove it."""

    def __init__(self, message: str, contradictions: Sequence[Contradiction]):
        super().__init__(message)
        self.contradictions = list(contradictions)


def compact(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The objects that occur in the pairs, and the pairs renumbered by their positions among them."""
    objects, inverse = np.unique(pairs, return_inverse=True)
    return objects, inverse.reshape(-1, 2).astype(np.int32)  # SciPy before 1.17.1 has no graphs with 64-bit indices


def strongest_forest(pairs: np.ndarray, certainty: np.ndarray, n_objects: int) -> csr_array:
    """Maximum spanning forest of must-links; an edge of certainty s is stored as 2 - s."""
    return csr_array(minimum_spanning_tree(csr_array((2 - certainty, tuple(pairs.T)), shape=(n_objects, n_objects))))


def contradicted(pairs: np.ndarray, must: np.ndarray) -> np.ndarray:
    """Which links are cannot-links between objects that must-links join, shape (n_links,) bool."""
    objects, pairs = compact(pairs)
    group = must_link_groups(pairs[must], len(objects))
    return ~must & (group[pairs[:, 0]] == group[pairs[:, 1]])


def find_contradictions(
    pairs: np.ndarray, must: np.ndarray, certainty: np.ndarray, chosen: np.ndarray
) -> list[Contradiction]:
    """Of the ``chosen`` cannot-links, which are :func:`contradicted`, the strongest chains that join their ends."""
    if not len(chosen):
        return []
    objects, pairs = compact(pairs)
    parent, above = _climbs(strongest_forest(pairs[must], certainty[must], len(objects)))
    found = []
    for at in chosen.tolist():
        first, second = pairs[at].tolist()
        chain, weakest = _path(first, second, parent, above)
        found.append(Contradiction(tuple(objects[chain].tolist()), min(float(certainty[at]), weakest)))
    return found


def _climbs(forest: csr_array) -> tuple[list[int], list[float]]:
    """Next object on the way to the root of each tree and the certainty of that step; by one search from above all."""
    group = connected_components(forest, directed=False)[1]
    top, links = len(group), forest.tocoo()
    roots = np.unique(group, return_index=True)[1]
    rows = np.concatenate([links.coords[0], np.full(len(roots), top)])
    columns = np.concatenate([links.coords[1], roots])
    joined = csr_array((np.ones(len(rows)), (rows, columns)), shape=(top + 1, top + 1))
    parent = breadth_first_order(joined, top, directed=False)[1]
    above = np.ones(top + 1)
    above[np.where(parent[rows] == columns, rows, columns)] = 2 - np.concatenate([links.data, np.ones(len(roots))])
    return parent.tolist(), above.tolist()


def _path(i: int, j: int, parent: list[int], above: list[float]) -> tuple[list[int], float]:
    """Objects between two nodes of a tree, both ends included, and the least certainty of a step between them."""
    climbs: list[list[int]] = []
    for node in (i, j):
        climb = [node]
        while parent[climb[-1]] >= 0:
            climb.append(parent[climb[-1]])
        climbs.append(climb)
    up, down = climbs
    while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:  # what both have above their meeting point
        up.pop(), down.pop()
    return up + down[-2::-1], min(above[node] for node in up[:-1] + down[:-1])


def count_closure(pairs: np.ndarray, must: np.ndarray) -> int:
    """Number of the links that follow from some that do not contradict each other."""
    objects, pairs = compact(pairs)
    group = must_link_groups(pairs[must], len(objects))
    size = np.bincount(group)
    apart = np.unique(np.sort(group[pairs[~must]], axis=1), axis=0)
    return int((size * (size - 1) // 2).sum() + size[apart].prod(axis=1).sum())


def find_closure(
    pairs: np.ndarray, must: np.ndarray, certainty: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All links that follow from some that do not contradict each other, as ``(pairs, must, certainty)``.

    Links are taken from the most to the least certain. A must-link joins two groups: all pairs across become
    must-links, and each group inherits what the other cannot be with. A cannot-link parts two groups: all pairs across
    become cannot-links. Each pair is written once, by the strongest chain, so that time grows with what is written.
    """
    objects, pairs = compact(pairs)
    group = np.arange(len(objects))  # of each object
    members = {k: np.array([k]) for k in range(len(objects))}
    apart: dict[int, set[int]] = {k: set() for k in members}
    written: list[tuple[np.ndarray, bool, float]] = []

    def write(a: int, b: int, together: bool, s: float) -> None:
        first, second = members[a], members[b]
        crossed = np.c_[np.repeat(first, len(second)), np.tile(second, len(first))]
        written.append((objects[np.sort(crossed, axis=1)], together, s))

    for at in np.argsort(-certainty, kind="stable").tolist():
        a, b = sorted(group[pairs[at]].tolist(), key=lambda k: len(members[k]))
        s = float(certainty[at])
        if must[at] and a != b:
            write(a, b, True, s)
            for other in apart[a] - apart[b]:
                write(b, other, False, s)
            for other in apart[b] - apart[a]:
                write(a, other, False, s)
            for other in apart.pop(a):
                apart[other].discard(a)
                apart[other].add(b)
                apart[b].add(other)
            group[members[a]] = b
            members[b] = np.concatenate([members[b], members.pop(a)])
        elif not must[at] and b not in apart[a]:
            write(a, b, False, s)
            apart[a].add(b)
            apart[b].add(a)
    return _gather(written)


def _gather(written: Sequence[tuple[np.ndarray, bool, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes = [len(pairs) for pairs, _, _ in written]
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *(pairs for pairs, _, _ in written)])
    must = np.repeat(np.array([together for _, together, _ in written], dtype=bool), sizes)
    return pairs, must, np.repeat(np.array([s for _, _, s in written], dtype=float), sizes)


def must_link_groups(pairs: np.ndarray, n_objects: int) -> np.ndarray:
    """Number of the group of each of all objects, when must-links join; shape (n_objects,)."""
    graph = csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n_objects, n_objects))
    return connected_components(graph, directed=False)[1]
