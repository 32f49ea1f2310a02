"""Links from groups of objects, and random pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from evidentia.solvers.memory import refuse_beyond_memory

__all__ = ["random_pairs"]

LINKS = ("all", "spanning")
BYTES = 100  # of memory that a link takes while links are made and compared, as was measured


def refuse_many_links(n_links: int, cure: str) -> None:
    """``MemoryError`` before links are made that would not fit."""
    refuse_beyond_memory(BYTES * n_links, f"The work on {n_links:,} links", cure)


def group_members(groups: Sequence[Any]) -> list[np.ndarray]:
    """Members of each group: indices or names as given, or the positions where a mask is True."""
    members, shape = [], None
    for k, group in enumerate(groups):
        found = np.asarray(group)
        if found.dtype == bool:
            if shape is not None and found.shape != shape:
                raise ValueError(f"All masks must have the same shape. Got {shape} and, for group {k}, {found.shape}.")
            shape = found.shape
            found = np.flatnonzero(found)
        if found.size == 0:
            raise ValueError(f"Group {k} is empty: there is nothing to link. Leave it out, or look at its mask.")
        if found.dtype.kind not in "iuUO":
            raise TypeError(f"A group holds indices, names or a mask. Got {found.dtype} in group {k}.")
        members.append(found.ravel())
    return members


def group_links(
    members: Sequence[np.ndarray], apart: bool | Iterable[tuple[int, int]], links: str
) -> tuple[np.ndarray, np.ndarray]:
    """Must-links inside the groups and cannot-links between those that are apart, each of shape (n_links, 2)."""
    if links not in LINKS:
        raise ValueError(f"'links' must be one of {', '.join(map(repr, LINKS))}. Got {links!r}.")
    if isinstance(apart, bool):
        apart = combinations(range(len(members)), 2) if apart else ()
    parted = [(int(a), int(b)) for a, b in apart]
    for a, b in parted:
        if not (0 <= a < len(members) and 0 <= b < len(members)) or a == b:
            raise ValueError(f"'apart' pairs two of the groups 0..{len(members) - 1}. Got ({a}, {b}).")
        both = np.intersect1d(members[a], members[b])
        if both.size:
            raise ValueError(f"Groups {a} and {b} are apart, but both hold object {both[0]!r}.")
    spanning = links == "spanning"
    if not spanning:
        sizes = [len(m) for m in members]
        n_links = sum(size * (size - 1) // 2 for size in sizes) + sum(sizes[a] * sizes[b] for a, b in parted)
        refuse_many_links(n_links, "Take links='spanning', or groups of fewer objects.")
    same = [np.c_[m[:-1], m[1:]] if spanning else _pairs_within(m) for m in members]
    cut = slice(1) if spanning else slice(None)
    different = [_pairs_across(members[a][cut], members[b][cut]) for a, b in parted]
    empty = members[0][:0].reshape(0, 2) if members else np.empty((0, 2), dtype=np.int64)
    return np.concatenate([empty, *same]), np.concatenate([empty, *different])


def _pairs_within(members: np.ndarray) -> np.ndarray:
    i, j = np.triu_indices(len(members), 1)
    return np.c_[members[i], members[j]]


def _pairs_across(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.c_[np.repeat(one, len(other)), np.tile(other, len(one))]


def known_labels(labels: Any, unknown: Any) -> tuple[np.ndarray, np.ndarray]:
    """Objects whose label is known, and those labels as numbers; None, NaN and ``unknown`` are not known."""
    import pandas as pd

    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"Labels must be a list of one label an object. Got an array of shape {labels.shape}.")
    known = np.flatnonzero(~pd.isna(labels) & (labels != unknown))
    return known, pd.factorize(labels[known])[0]


def count_clusters(knowledge: Any) -> int:
    """Clusters that knowledge of single objects speaks of: those of its mass functions, or up to the largest number."""
    if hasattr(knowledge, "n_clusters"):
        return int(knowledge.n_clusters)
    if np.ndim(knowledge) == 2 and hasattr(knowledge, "shape"):
        return int(knowledge.shape[1])
    numbers = [k for one in knowledge for k in (one if isinstance(one, set | frozenset | list | tuple) else (one,))]
    whole = [int(k) for k in numbers if isinstance(k, int | float | np.number) and k == k]
    return max([0, *whole]) + 1


def random_pairs(n_objects: int, n_pairs: int, rng: np.random.RandomState) -> np.ndarray:
    """Different pairs ``i < j`` drawn at random, each set of pairs equally likely; shape (n_pairs, 2)."""
    number = sample_without_replacement(n_objects * (n_objects - 1) // 2, n_pairs, random_state=rng).astype(np.int64)
    j = ((1 + np.sqrt(1 + 8 * number.astype(float))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > number  # the root may be rounded up or down
    j += j * (j + 1) // 2 <= number
    return np.c_[number - j * (j - 1) // 2, j]
