"""The base of the methods that see objects only through their dissimilarities."""

from __future__ import annotations

from typing import Any

from evidentia import _base
from evidentia.dissimilarities.reading import METRIC, METRIC_PARAMS, read_new
from evidentia.dissimilarities.sources import Source
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
