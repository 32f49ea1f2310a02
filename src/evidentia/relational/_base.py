"""What the methods on dissimilarities share: where these come from, the start, prediction for new objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.belief.focal import MAX_CLUSTERS
from evidentia.dissimilarities import Source, new_blocks, read_new, read_source
from evidentia.partition import CredalPartition


class RelationalClusterer(_base.EvidentialClusterer):
    """Base of the methods that see objects only through their dissimilarities.

    A subclass gives ``fit`` and ``_masses(X)``, which reads X by :meth:`_distance_blocks`.
    """

    n_clusters: int
    focal_sets: Any
    metric: Any
    metric_params: dict[str, Any] | None
    n_init: int
    init: Any
    max_iter: int
    tol: float
    _source: Source

    def _read(self, X: Any) -> Source:
        source = read_source(self, X)
        self._source = source.for_new()
        return source

    def _read_new(self, X: Any) -> Any:
        return read_new(self, self._source, X)

    def _check_params(self, n_samples: int) -> None:
        _base.check_number(self, "n_clusters", low=1, high=MAX_CLUSTERS, integer=True)
        _base.check_number(self, "n_init", low=1, integer=True)
        _base.check_number(self, "max_iter", low=1, integer=True)
        _base.check_number(self, "tol", low=0)
        _base.check_enough_rows(self, n_samples, self.n_clusters)

    def _distance_blocks(self, X: Any, known: np.ndarray) -> Iterator[np.ndarray]:
        """Dissimilarities of new objects to some of the fitted ones, some (n_new, n_known) at a time."""
        return (block for _, block in new_blocks(self._source, self._read_new(X), known))

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new objects, over the clusters found by ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or what the metric takes
            With ``metric="precomputed"``: dissimilarities to the fitted objects, shape (n_new, n_samples).
        """
        check_is_fitted(self)
        return CredalPartition(self._masses(X), self.focal_sets_, object_names=_base.row_names(X), copy=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags


def given_masses(who: str, init: Any, focal_sets: FocalSets, n_samples: int) -> np.ndarray:
    """Masses to start from: an array in the order of the focal sets, or a partition whose focal sets are among them."""
    if isinstance(init, CredalPartition):
        foreign = [name for name, subset in zip(init.focal_sets.names(), init.focal_sets) if subset not in focal_sets]
        if foreign or init.n_clusters != focal_sets.n_clusters or len(init) != n_samples:
            raise ValueError(
                f"The 'init' partition of {who} has {len(init)} objects in {init.n_clusters} clusters"
                f"{f' and the focal set {foreign[0]}' if foreign else ''}; needed are {n_samples} objects over "
                f"{focal_sets}."
            )
        masses = np.zeros((n_samples, len(focal_sets)))
        masses[:, [focal_sets.index(subset) for subset in init.focal_sets]] = init.masses
        return masses
    masses = np.array(init, dtype=float)
    expected = (n_samples, len(focal_sets))
    if masses.shape != expected or not (masses >= 0).all() or not np.allclose(masses.sum(axis=1), 1, atol=1e-4):
        raise ValueError(
            f"The 'init' parameter of {who} must be a rule, a CredalPartition, or masses of shape {expected} that sum "
            f"to one in each row, in the order {', '.join(focal_sets.names()[:8])}. Got shape {masses.shape}."
        )
    return masses / masses.sum(axis=1, keepdims=True)
