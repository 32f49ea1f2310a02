r"""Which clusters of several partitions of the same objects mean the same thing.

The answer is a table with a row for each cluster of a common frame and a column for each partition: the cluster of the
partition that it belongs to. Where partitions have the same clusters it is a renumbering of each; where one is coarser,
several rows name the same cluster of that one, which is so refined to a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from evidentia._objects import align_objects
from evidentia.belief import transforms
from evidentia.belief.focal import MAX_CLUSTERS
from evidentia.partition.credal import CredalPartition

__all__ = ["align_objects", "match_labels", "moved_objects"]

ROUNDS = 20  # of matching to the mean of all; it comes to rest after two or three
AGREES = 0.5  # agreement beyond chance from which clusters of the same number are the same clusters


def memberships(partition: CredalPartition) -> np.ndarray:
    """Share of each object in each cluster, (n_samples, n_clusters); of what is on the empty set there is none."""
    return transforms.pignistic(partition.masses, partition.focal_sets, normalize=False)


def assign(overlap: np.ndarray) -> np.ndarray:
    """A column for each row, every column at least once: the assignment of largest overlap, then the best for the rest.

    Parameters
    ----------
    overlap : ndarray of shape (n_rows, n_columns)
        With no fewer rows than columns.

    Examples
    --------
    >>> assign(np.array([[5.0, 1.0], [9.0, 4.0], [8.0, 7.0]]))     # 9 + 7; the first row joins column 0
    array([0, 0, 1])
    """
    from scipy.optimize import linear_sum_assignment  # which a look at a partition does not need

    rows, columns = linear_sum_assignment(overlap, maximize=True)
    found = overlap.argmax(axis=1)
    found[rows] = columns
    return found


def match_labels(labels: np.ndarray, others: np.ndarray, counts: tuple[int, int]) -> np.ndarray:
    """The number that each cluster of some labels has in others: as many objects as possible agree.

    A cluster without a partner gets a number beyond those of the others.

    Parameters
    ----------
    labels, others : ndarray of shape (n_samples,)
    counts : (int, int)
        Numbers of clusters.

    Examples
    --------
    >>> match_labels(np.array([0, 0, 1, 2, 2]), np.array([1, 1, 1, 0, 0]), (3, 2))
    array([1, 2, 0])
    """
    from scipy.optimize import linear_sum_assignment

    together = np.zeros(counts)
    np.add.at(together, (labels, others), 1)
    found = np.full(counts[0], -1)
    rows, columns = linear_sum_assignment(together, maximize=True)
    found[rows] = columns
    alone = found < 0
    found[alone] = counts[1] + np.arange(alone.sum())
    return found


def moved_objects(before: CredalPartition, after: CredalPartition) -> np.ndarray:
    """Numbers in ``before`` of the objects that left the cluster they were in, whatever its number is now.

    Clusters are matched so that as many objects as possible stay; those of a cluster without a match have moved.

    Examples
    --------
    >>> from evidentia import FocalSets
    >>> family = FocalSets(2, [{0}, {1}])
    >>> before = CredalPartition(np.eye(2)[[0, 0, 1, 1, 1]], family)
    >>> moved_objects(before, CredalPartition(np.eye(2)[[1, 1, 1, 0, 0]], family))
    array([2])
    """
    old, new = before.labels(), align_objects(before, after).labels()
    return np.flatnonzero(match_labels(old, new, (before.n_clusters, after.n_clusters))[old] != new)


def match(shares: Sequence[np.ndarray]) -> np.ndarray:
    """One cluster of the frame for each of the partition with the most clusters; the others are assigned to them.

    The partition that overlaps most with all others comes first, then all are assigned to their mean until nothing
    changes, so that the order of the partitions does not matter.
    """
    counts = [share.shape[1] for share in shares]
    ends = np.cumsum([0, *counts])
    all_shares = np.hstack(shares)
    gram = all_shares.T @ all_shares
    place = [slice(start, stop) for start, stop in pairwise(ends)]
    finest = [j for j, count in enumerate(counts) if count == max(counts)]
    rows = np.arange(max(counts))

    def total(j: int) -> float:
        overlaps = [gram[place[j], there] for there in place]
        return float(sum(overlap[rows, assign(overlap)].sum() for overlap in overlaps))

    overlap = gram[place[max(finest, key=total)]]
    table = np.empty((0, 0), dtype=int)
    for _ in range(ROUNDS):
        before, table = table, np.column_stack([assign(overlap[:, there]) for there in place])
        if np.array_equal(before, table):
            break
        overlap = sum(gram[place[j]][table[:, j]] for j in finest) / len(finest)
    return table


def agreement(labels: np.ndarray, table: np.ndarray) -> float:
    """Share of objects that two partitions put into the same cluster of the frame, beyond chance: 0 chance, 1 all.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_partitions)
        -1 for an object without cluster.
    table : ndarray of shape (n_clusters, n_partitions)
        A renumbering of the clusters of each partition.
    """
    n_clusters, n_partitions = table.shape
    if n_clusters == 1:
        return 1.0
    moved = np.column_stack([np.append(np.argsort(column), -1)[labels[:, j]] for j, column in enumerate(table.T)])
    named = (moved >= 0).all(axis=1)
    votes = np.stack([(moved[named] == k).sum(axis=1) for k in range(n_clusters)], axis=1)
    pairs = n_partitions * (n_partitions - 1)
    same = float((votes * (votes - 1)).sum() / max(1, len(votes) * pairs))
    return (same - 1 / n_clusters) / (1 - 1 / n_clusters)


def refine(shares: Sequence[np.ndarray], labels: np.ndarray, min_share: float) -> np.ndarray:
    """A cluster of the frame for each combination of clusters that holds enough objects.

    Enough is ``min_share`` of the smallest cluster in the combination. A cluster that is in none of these brings the
    combination that holds most of its objects.
    """
    everywhere = (labels >= 0).all(axis=1)
    named = labels[everywhere]
    if not len(named):
        raise ValueError("No object is in a cluster of every partition, so clusters cannot be compared.")
    combinations, first, counts = np.unique(named, axis=0, return_index=True, return_counts=True)
    sizes = [np.bincount(named[:, j], minlength=share.shape[1]) for j, share in enumerate(shares)]
    smallest = np.min([size[combinations[:, j]] for j, size in enumerate(sizes)], axis=0)
    kept = set(np.flatnonzero(counts >= min_share * smallest).tolist())
    more: list[np.ndarray] = []
    for j, size in enumerate(sizes):
        for k in np.setdiff1d(np.arange(len(size)), combinations[sorted(kept), j]).tolist():
            inside = np.flatnonzero(combinations[:, j] == k)
            if len(inside):
                more.append(combinations[inside[np.lexsort([first[inside], -counts[inside]])[0]]])
            else:  # nobody's first choice
                nearest = named[shares[j][everywhere, k].argmax()].copy()
                nearest[j] = k
                more.append(nearest)
    return np.unique(np.vstack([combinations[sorted(kept)], *more]), axis=0)


def by_name(partitions: Sequence[CredalPartition]) -> np.ndarray | None:
    """The table when all partitions call their clusters by the same names, in the order of the first; else None."""
    names = [one.cluster_names for one in partitions]
    if any(one is None or sorted(one) != sorted(names[0] or ()) for one in names):
        return None
    return np.array([[one.index(name) for one in names if one is not None] for name in names[0] or ()])


def align(partitions: Sequence[CredalPartition], frame: str, min_share: float) -> tuple[np.ndarray, str]:
    """The table of a common frame, and how it was found."""
    named = by_name(partitions)
    if frame == "names" and named is None:
        raise ValueError(
            "frame='names' needs partitions that all call their clusters by the same names (cluster_names). Take "
            "frame='match', which compares who is in them."
        )
    if named is not None and frame in ("auto", "names"):
        return named, "names"
    shares = [memberships(one) for one in partitions]
    if frame in ("auto", "match"):
        table = match(shares)
    labels = np.column_stack([np.where(share.any(axis=1), share.argmax(axis=1), -1) for share in shares])
    if frame == "auto":
        same = len({share.shape[1] for share in shares}) == 1 and agreement(labels, table) >= AGREES
        frame = "match" if same else "refine"
    if frame == "refine":
        table = refine(shares, labels, min_share)
    if len(table) >= MAX_CLUSTERS:
        raise ValueError(
            f"The partitions have {len(table)} combinations of clusters with enough objects, and a frame holds "
            f"{MAX_CLUSTERS - 1}. Raise 'min_share', or take frame='match'."
        )
    return table, frame


def check_table(table: np.ndarray, partitions: Sequence[CredalPartition]) -> np.ndarray:
    """A table that was given: whole numbers, every cluster of every partition in some row."""
    table = np.asarray(table)
    if table.ndim != 2 or table.shape[1] != len(partitions) or table.dtype.kind not in "iu":
        raise ValueError(
            f"'frame' as a table must hold whole numbers, a row for each common cluster and a column for each of the "
            f"{len(partitions)} partitions. Got shape {table.shape} of {table.dtype}."
        )
    for j, one in enumerate(partitions):
        if sorted(set(table[:, j].tolist())) != list(range(one.n_clusters)):
            raise ValueError(
                f"Column {j} of 'frame' must name each of the clusters 0 to {one.n_clusters - 1} of partition {j} at "
                f"least once, and no others. Got {table[:, j].tolist()}."
            )
    return table
