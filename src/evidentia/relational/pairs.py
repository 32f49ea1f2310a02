"""Which pairs of objects are looked at, and their dissimilarities laid out as the descent takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evidentia.dissimilarities import Columns, Source, default_quantile, delta_star
from evidentia.solvers.irqp import GroupTargets, PairTargets, symmetric_pairs

PARTNER_GROUPS = 20  # with fewer, objects of a group see too little of the others and descents end in worse minima


@dataclass(frozen=True)
class PartnerTable(Columns):
    """Objects known by number, and the dissimilarities of each to its partners alone, (n_samples, k)."""

    values: np.ndarray

    def needed_for_new(self) -> Columns:
        return Columns(self.n_objects)


class Pairs(NamedTuple):
    """Dissimilarities of pairs; ``n_terms`` is the number of terms of the loss, ``n_objects`` that of the objects."""

    layout: np.ndarray | PairTargets | GroupTargets
    n_terms: int
    n_objects: int

    @property
    def values(self) -> np.ndarray:
        """One number for each term of the loss, perhaps in both directions."""
        if isinstance(self.layout, GroupTargets):
            return self.layout.values[0][occupied_places(self.layout)]
        if isinstance(self.layout, PairTargets):
            return self.layout.values[0]
        return self.layout[0][np.triu_indices(self.n_objects, 1)]

    def map(self, function: Any) -> Pairs:
        """The same pairs with other numbers; the function keeps zero at zero."""
        if isinstance(self.layout, np.ndarray):
            return self._replace(layout=function(self.layout))
        return self._replace(layout=self.layout._replace(values=function(self.layout.values)))

    def sample(self, count: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers i, j of the objects of some of the pairs, and their values; all pairs when there are fewer."""
        if isinstance(self.layout, GroupTargets):
            order, size = self.layout.order, self.layout.values.shape[2]
            group, row, column = np.nonzero(occupied_places(self.layout))
            i, j = order[group * size + row], order[self.layout.places[group, column]]
            value = self.layout.values[0, group, row, column]
        elif isinstance(self.layout, PairTargets):
            i = np.repeat(np.arange(self.n_objects), np.diff(self.layout.indptr))
            j, value = self.layout.indices, self.layout.values[0]
        else:
            i, j = np.triu_indices(self.n_objects, 1)
            value = self.layout[0, i, j]
        once = np.flatnonzero(i < j)
        if len(once) > count:
            once = once[rng.choice(len(once), count, replace=False)]
        return i[once], j[once], value[once]


def occupied_places(layout: GroupTargets) -> np.ndarray:
    """Where a target belongs to two objects, shape (n_groups, size, n_partners * size)."""
    _, n_groups, size, _ = layout.values.shape
    rows = np.arange(n_groups * size).reshape(n_groups, size) < len(layout.order)
    return rows[:, :, None] & (layout.places < len(layout.order))[:, None, :]


def all_pairs(source: Source) -> Pairs:
    """Every object with every other one: n × n numbers."""
    n = len(source)
    return Pairs(source.block(slice(None), slice(None))[None], n * (n - 1) // 2, n)


def random_pairs(source: Source, n_pairs: int, rng: np.random.RandomState) -> Pairs:
    """About ``n_pairs`` partners drawn at random for each object, n × k numbers.

    Objects are put into small groups at random, and groups, on a circle, are partners at some random distances: the
    partnership is mutual, every object has as many partners, and a group's objects share theirs, so that most of a
    sweep is products of matrices. Each pair counts once. In loss (7) the sets :math:`J(i)` are independent draws and
    ordered pairs count, so that a pair may count twice: :func:`listed_pairs` does that with partners that are given.
    """
    n = len(source)
    size = max(1, n_pairs // PARTNER_GROUPS)
    wanted = round(n_pairs / size)
    n_groups = -(-n // size)
    n_groups += (n_groups % 2) * (wanted % 2)  # an odd number of partners needs one opposite
    wanted = min(wanted, n_groups - 1)
    steps = 1 + rng.permutation((n_groups - 1) // 2)[: wanted // 2]
    opposite = [n_groups // 2] if wanted % 2 else []
    partners = (np.arange(n_groups)[:, None] + np.concatenate([steps, -steps, opposite]).astype(int)) % n_groups
    layout = GroupTargets(rng.permutation(n), partners, np.zeros((1, n_groups, size, partners.shape[1] * size)))
    _measure_groups(source, layout, len(steps))
    return Pairs(layout, int(occupied_places(layout).sum()) // 2, n)


def _measure_groups(source: Source, layout: GroupTargets, n_steps: int) -> None:
    """Fill in the values; each pair is measured once, from the group behind to the group ahead of it."""
    order, partners, values = layout.order, layout.partners, layout.values[0]
    n_groups, size, _ = values.shape
    ahead = [*range(n_steps), *range(2 * n_steps, partners.shape[1])]
    for g in range(n_groups):
        rows = order[g * size : (g + 1) * size]
        columns = [at for at in ahead if at < n_steps or g < partners[g, at]]
        there = [order[partners[g, at] * size : (partners[g, at] + 1) * size] for at in columns]
        if not len(rows) or not sum(map(len, there)):  # empty places
            continue
        found = source.block(rows, np.concatenate(there))
        parts = np.split(found, np.cumsum([len(part) for part in there])[:-1], axis=1)
        for at, part in zip(columns, parts):
            other, back = partners[g, at], at + n_steps if at < n_steps else at
            values[g, : len(rows), at * size : at * size + part.shape[1]] = part
            values[other, : part.shape[1], back * size : back * size + len(rows)] = part.T


def chosen_pairs(source: Source, partners: np.ndarray) -> Pairs:
    """Partners named by the caller, ``partners (n_samples, k)``."""
    found = np.vstack([source.block([i], row) for i, row in enumerate(partners)])
    return listed_pairs(found, partners)


def listed_pairs(dissimilarity: np.ndarray, partners: np.ndarray) -> Pairs:
    """A table of dissimilarities to named partners; a pair named from both sides counts twice, as in (7)."""
    n, k = partners.shape
    pairs = np.column_stack([np.repeat(np.arange(n), k), partners.ravel()])
    return Pairs(symmetric_pairs(pairs, dissimilarity.reshape(1, -1), n), n * k, n)


def check_partners(who: str, partners: Any, n_objects: int) -> np.ndarray:
    """Numbers of the partners of each object, or an error."""
    found = np.asarray(partners)
    if found.ndim != 2 or found.shape[0] != n_objects or found.dtype.kind not in "iu" or not found.shape[1] > 0:
        raise ValueError(
            f"A table as 'n_pairs' of {who} must hold object numbers, a row for each of {n_objects} objects. "
            f"Got {found.dtype} of shape {found.shape}."
        )
    if found.shape[1] >= n_objects:
        raise ValueError(f"'n_pairs' of {who} names {found.shape[1]} of {n_objects - 1} others. Take None: all pairs.")
    if found.min() < 0 or found.max() >= n_objects:
        raise ValueError(
            f"'n_pairs' of {who} numbers objects 0 to {n_objects - 1}. Got {found.min()} to {found.max()}."
        )
    own = np.flatnonzero((found == np.arange(n_objects)[:, None]).any(axis=1))
    if own.size:
        raise ValueError(f"'n_pairs' of {who} names object {own[0]} as its own partner ({own.size} such rows).")
    return found.astype(np.int64)


def wanted_conflict(
    pairs: Pairs, delta0: str | float | None, n_clusters: int, *, who: str
) -> tuple[Pairs, float | None]:
    """The conflict that each dissimilarity asks for (6), and the dissimilarity that belongs to the quantile ``delta0``.

    ``"auto"`` is the quantile that suits the number of clusters; None takes the dissimilarities themselves.
    """
    values = pairs.values
    if not values.size:
        raise ValueError(f"{who} has no two rows of X to compare: give more rows, and hold none back to stop early.")
    low, high = values.min(), values.max()
    if low == high:
        raise ValueError(f"All dissimilarities equal {low:g}, so {who} finds no clusters in them. Look at X.")
    if delta0 is None:
        if high > 1:
            raise ValueError(f"With delta0=None dissimilarities must lie in [0, 1]. Got {high:g}.")
        return pairs, None
    quantile = default_quantile(n_clusters) if isinstance(delta0, str) else float(delta0)
    limit = float(np.quantile(values, quantile))
    if limit == 0:
        raise ValueError(
            f"The quantile delta0={quantile:g} of the dissimilarities is zero: many objects are equal. Raise it."
        )
    return pairs.map(lambda dissimilarity: delta_star(dissimilarity, limit)), limit
