"""The base of the methods that see objects only through their dissimilarities."""

from __future__ import annotations

from typing import Any

from evidentia import _base
from evidentia._parameters import fitted
from evidentia.dissimilarities.reading import METRIC, METRIC_PARAMS, read_new, read_source
from evidentia.dissimilarities.sources import Source
from evidentia.partition import CredalPartition


class RelationalClusterer(_base.IterativeClusterer):
    """Base of the methods that see objects only through their dissimilarities.

    A subclass gives ``_fit(data)``, where ``data.rows`` is a :class:`~evidentia.dissimilarities.Source`, and which
    leaves in ``_source`` what new objects need of it; and ``_masses(new)`` for new objects as ``from_new`` of the
    source takes them.
    """

    metric: Any = METRIC
    metric_params: Any = METRIC_PARAMS
    _source: Source = fitted()

    def _read_rows(self, X: Any) -> Any:
        return read_source(self, X)

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new objects, over the clusters found by ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or what the metric takes
            With ``metric="precomputed"``: dissimilarities to the fitted objects, shape (n_new, n_samples).
        """
        return super().predict_partition(X)

    def _read_new(self, X: Any) -> Any:
        return read_new(self, self._source, X)
