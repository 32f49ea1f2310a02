"""What a network is trained on: the objects, the conflict that their dissimilarities ask for, and what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evidentia.constraints import PairwiseConstraints
from evidentia.neural.inputs import Inputs
from evidentia.neural.knowledge import Knowledge, read_labels
from evidentia.prototypes.belief_peaks import belief_peaks
from evidentia.relational.dissimilarity import Source, Table, default_quantile, delta_star
from evidentia.relational.pairs import Pairs, all_pairs, random_pairs
from evidentia.solvers.dissimilarities import check_dissimilarities
from evidentia.solvers.memory import refuse_beyond_memory

WHOLE = 2_000  # objects up to which "auto" takes all pairs at once
SAMPLE = 1_000  # objects among which the loss of a fit by batches is measured, and a validation loss


@dataclass(frozen=True)
class Some:
    """Some of the objects of a source, in their order."""

    source: Source
    objects: np.ndarray

    def __len__(self) -> int:
        return len(self.objects)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        return self.source.block(self.objects[rows], self.objects[columns])

    def from_new(self, X: Any, columns: Any) -> np.ndarray:
        return self.source.from_new(X, self.objects[columns])


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What a start needs to know.

    Attributes
    ----------
    inputs : Inputs
        How objects become ``rows``, which the network sees.
    depth : ndarray of shape (n_samples,), optional
        Output of the one-class SVM.
    source : Source
        The dissimilarities; :meth:`target_conflict` turns them into the conflict they ask for.
    train, validation : ndarray of int
        Objects to learn from, and those held back.
    judges : ndarray of int
        Objects whose ``pairs`` are looked at as a whole: all that are trained on, or some of them.
    pairs : Pairs
        The conflict that is asked for.
    """

    inputs: Inputs
    rows: np.ndarray
    depth: np.ndarray | None
    source: Source
    constraints: PairwiseConstraints
    knowledge: Knowledge
    train: np.ndarray
    validation: np.ndarray
    judges: np.ndarray
    pairs: Pairs
    delta0: float | None

    def target_conflict(self, objects: np.ndarray) -> np.ndarray:
        """The conflict (6) that the dissimilarities of some objects ask for, (n, n)."""
        dissimilarity = self.source.block(objects, objects)
        return dissimilarity if self.delta0 is None else delta_star(dissimilarity, self.delta0)


def choose_optimizer(optimizer: str, n_samples: int, n_pairs: int | None) -> str:
    """The optimizer, where the caller leaves it open."""
    if optimizer != "auto":
        return optimizer
    return "lbfgs" if n_samples <= WHOLE or n_pairs is not None else "adam"


def check_matrix(dissimilarities: Any, n_samples: int) -> np.ndarray:
    """Dissimilarities given beside the attributes."""
    matrix = np.asarray(dissimilarities, dtype=float)
    if matrix.shape != (n_samples, n_samples) or not np.isfinite(matrix).all():
        raise ValueError(
            f"'dissimilarities' of NNEVCLUS must be {n_samples} × {n_samples} finite numbers. Got {matrix.shape}."
        )
    return check_dissimilarities(matrix, "NNEVCLUS")


def label_peaks(source: Source, n_clusters: int) -> np.ndarray:
    """Possible clusters when the belief peaks are taken for labeled objects."""
    n = len(source)
    if isinstance(source, Table) and not source.params:
        graph = belief_peaks(source.rows, metric=source.metric)
    else:
        refuse_beyond_memory(24 * n**2, f"NNEVCLUS with init='belief-peaks' on {n:,} objects", "Take another init.")
        graph = belief_peaks(source.block(slice(None), slice(None)), metric="precomputed")
    labels = np.full(n, -1)
    labels[graph.choose(n_clusters)] = np.arange(n_clusters)
    return read_labels(labels, n, n_clusters)


def split_objects(
    n_samples: int, validation_fraction: float | None, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Objects to train on and objects held back, none of these without a fraction."""
    if validation_fraction is None:
        return np.arange(n_samples), np.empty(0, dtype=int)
    order, count = rng.permutation(n_samples), max(2, round(validation_fraction * n_samples))
    return np.sort(order[count:]), np.sort(order[:count])


def measure_pairs(
    source: Source, train: np.ndarray, optimizer: str, n_pairs: int | None, rng: np.random.RandomState
) -> tuple[np.ndarray, Pairs]:
    """The objects whose pairs are looked at as a whole, and the dissimilarities of those pairs."""
    n = len(train)
    if optimizer != "lbfgs":
        judges = np.sort(rng.choice(train, SAMPLE, replace=False)) if n > SAMPLE else train
        return judges, all_pairs(Some(source, judges))
    if n_pairs is not None and n_pairs < n:
        refuse_beyond_memory(64 * n * n_pairs, f"NNEVCLUS with n_pairs={n_pairs}", "Lower n_pairs.")
        return train, random_pairs(Some(source, train), n_pairs, rng)
    refuse_beyond_memory(24 * n**2, f"NNEVCLUS on all pairs of {n:,} objects", "Take optimizer='adam'.")
    return train, all_pairs(Some(source, train))


def to_conflict(pairs: Pairs, delta0: Any, n_clusters: int) -> tuple[Pairs, float | None]:
    """The conflict (6) that dissimilarities ask for, and the dissimilarity at the quantile ``delta0``."""
    values = pairs.values
    low, high = values.min(), values.max()
    if low == high:
        raise ValueError(f"All dissimilarities equal {low:g}, so NNEVCLUS finds no clusters in them.")
    if delta0 is None:
        if high > 1:
            raise ValueError(f"With delta0=None dissimilarities must lie in [0, 1]. Got {high:g}.")
        return pairs, None
    quantile = default_quantile(n_clusters) if delta0 == "auto" else float(delta0)
    at = float(np.quantile(values, quantile))
    if at == 0:
        raise ValueError(
            f"The quantile delta0={quantile:g} of the dissimilarities is zero: many objects are equal. Raise it."
        )
    return pairs.map(lambda dissimilarity: delta_star(dissimilarity, at)), at
