"""What the methods on dissimilarities share: where these come from, the start, prediction for new objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.dissimilarities import METRIC, METRIC_PARAMS, Source, read_new
from evidentia.partition import CredalPartition


class Sourced:
    """What ``fit`` keeps of the objects."""

    _source: Source


class RelationalClusterer(Sourced, _base.IterativeClusterer):
    """Base of the methods that see objects only through their dissimilarities.

    A subclass gives ``fit``, which leaves ``_source`` behind, and ``_masses(new)`` for new objects as its ``from_new``
    takes them.
    """

    metric: Any = METRIC
    metric_params: Any = METRIC_PARAMS

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new objects, over the clusters found by ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or what the metric takes
            With ``metric="precomputed"``: dissimilarities to the fitted objects, shape (n_new, n_samples).
        """
        return super().predict_partition(X)

    def _check_table(self, X: Any, *, reset: bool) -> Any:
        return read_new(self, self._source, X)


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
