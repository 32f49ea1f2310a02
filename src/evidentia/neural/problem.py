"""What a network is trained on: the objects, the conflict that their dissimilarities ask for, and what is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import (
    Objects,
    Source,
    Subset,
    Table,
    check_dissimilarities,
    delta_star,
    full_matrix,
)
from evidentia.neural.inputs import Inputs
from evidentia.neural.knowledge import Knowledge, read_labels
from evidentia.prototypes.belief_peaks import belief_peaks
from evidentia.relational.pairs import Pairs, all_pairs, random_pairs
from evidentia.solvers.memory import refuse_beyond_memory

WHOLE = 2_000  # objects up to which "auto" takes all pairs at once
SAMPLE = 1_000  # objects among which the loss of a fit by batches is measured, and a validation loss


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
        return self._conflict_of(self.source.block(objects, objects))

    def target_conflict_of(self, table: np.ndarray) -> np.ndarray:
        """The same of rows that are none of the objects."""
        assert isinstance(self.source, Table | Objects)
        theirs: dict[str, Any] = {"rows" if isinstance(self.source, Table) else "objects": table}
        return self._conflict_of(replace(self.source, **theirs).block(slice(None), slice(None)))

    def _conflict_of(self, dissimilarity: np.ndarray) -> np.ndarray:
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
            f"A matrix as 'metric' of NNEVCLUS must hold {n_samples} × {n_samples} finite numbers. Got {matrix.shape}."
        )
    return check_dissimilarities(matrix, "NNEVCLUS")


def label_peaks(source: Source, n_clusters: int) -> np.ndarray:
    """Possible clusters when the belief peaks are taken for labeled objects."""
    n = len(source)
    if isinstance(source, Table) and not source.params:
        graph = belief_peaks(source.rows, metric=source.metric)
    else:
        matrix = full_matrix(source, who="NNEVCLUS with init='belief-peaks'", cure="Take another init.", copies=3)
        graph = belief_peaks(matrix, metric="precomputed")
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
        return judges, all_pairs(Subset(source, judges))
    if n_pairs is not None and n_pairs < n:
        refuse_beyond_memory(64 * n * n_pairs, f"NNEVCLUS with n_pairs={n_pairs}", "Lower n_pairs.")
        return train, random_pairs(Subset(source, train), n_pairs, rng)
    refuse_beyond_memory(24 * n**2, f"NNEVCLUS on all pairs of {n:,} objects", "Take optimizer='adam'.")
    return train, all_pairs(Subset(source, train))
