"""What the user knows of some objects: links between two of them, and their possible clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.belief.mass import MassFunctions
from evidentia.constraints.knowledge import read_knowledge
from evidentia.neural._torch import load_torch
from evidentia.neural.losses import labels_penalty, links_penalty

if TYPE_CHECKING:
    from torch import Tensor

    from evidentia.constraints import PairwiseConstraints


def read_labels(labels: Any, n_samples: int, n_clusters: int) -> np.ndarray:
    """Possible clusters of each object as bool (n, c), or plausibilities of them; all where nothing is known.

    Examples
    --------
    >>> read_labels([1, -1], 2, n_clusters=2)
    array([[False,  True],
           [ True,  True]])
    """
    if isinstance(labels, MassFunctions) or (
        isinstance(labels, list | tuple) and any(isinstance(one, set | frozenset) for one in labels)
    ):
        return read_knowledge(labels, np.empty((n_samples, 0)), n_clusters, "NNEVCLUS", "partial_labels").contour
    given = np.asarray(labels)
    if given.shape == (n_samples, n_clusters) and np.isin(given, (0, 1)).all():
        possible = given.astype(bool)
        possible[~possible.any(axis=1)] = True
        return possible
    if given.shape != (n_samples,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"'partial_labels' of NNEVCLUS must be {n_samples} whole numbers (-1: unknown), or a table of "
            f"{n_samples} × {n_clusters} bool that tells which clusters are possible. Got {given.dtype} of shape "
            f"{given.shape}."
        )
    outside = np.flatnonzero((given < -1) | (given >= n_clusters))
    if outside.size:
        raise ValueError(
            f"'partial_labels' of NNEVCLUS must lie in 0..{n_clusters - 1}, or be -1 for unknown. Row {outside[0]} has "
            f"{given[outside[0]]} ({outside.size} such rows); raise n_clusters or renumber them."
        )
    return (given[:, None] == np.arange(n_clusters)) | (given < 0)[:, None]


def sure_labels(possible: np.ndarray) -> np.ndarray:
    """Labels of the objects with one possible cluster, -1 for all others."""
    return np.where((possible > 0).sum(axis=1) == 1, possible.argmax(axis=1), -1)


@dataclass(frozen=True)
class Knowledge:
    """Links and labels of the objects ``rows``; all other numbers are positions among these."""

    rows: np.ndarray
    pairs: np.ndarray
    must: np.ndarray
    certainty: np.ndarray
    labeled: np.ndarray
    possible: np.ndarray

    @classmethod
    def of(cls, links: PairwiseConstraints, possible: np.ndarray | None) -> Knowledge:
        """From links by row number, and possible clusters as :func:`read_labels` gives them."""
        table = np.ones((0, 1), dtype=bool) if possible is None else possible
        labeled = np.flatnonzero((table < 1).any(axis=1))
        rows = np.unique(np.concatenate([links.pairs.ravel(), labeled]))
        places, must = np.searchsorted(rows, links.pairs), links.must.astype(float)
        known = np.searchsorted(rows, labeled), table[labeled].astype(float)
        return cls(rows, places, must, links.certainty.copy(), *known)

    def sample(self, limit: int, rng: np.random.RandomState) -> Knowledge:
        """At most ``limit`` links and ``limit`` labels, drawn at random."""
        if len(self.pairs) <= limit and len(self.labeled) <= limit:
            return self
        links = rng.permutation(len(self.pairs))[:limit]
        labels = rng.permutation(len(self.labeled))[:limit]
        pairs, labeled = self.pairs[links], self.labeled[labels]
        kept = np.unique(np.concatenate([pairs.ravel(), labeled]))
        return Knowledge(
            self.rows[kept],
            np.searchsorted(kept, pairs),
            self.must[links],
            self.certainty[links],
            np.searchsorted(kept, labeled),
            self.possible[labels],
        )

    def add_to(
        self, loss: Tensor, masses: Tensor, form: Tensor, member: Tensor, *, xi: float, label_weight: float
    ) -> Tensor:
        """(17) and (20): the loss of the pairs, with the penalties that the masses of ``rows`` deserve."""
        as_tensor = load_torch().as_tensor
        like = {"dtype": masses.dtype, "device": masses.device}
        if len(self.labeled):
            possible = as_tensor(self.possible, **like)
            penalty = labels_penalty(masses[self.labeled], member, possible)
            loss = (1 - label_weight) * loss + label_weight * penalty
        if len(self.pairs):
            first, second = masses[self.pairs[:, 0]], masses[self.pairs[:, 1]]
            must, certainty = as_tensor(self.must, **like), as_tensor(self.certainty, **like)
            loss = loss + xi * links_penalty(first, second, form, must, certainty)
        return loss
