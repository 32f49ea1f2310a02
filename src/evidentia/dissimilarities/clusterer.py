"""The base of the methods that see objects only through their dissimilarities."""

from __future__ import annotations

from typing import Any, Self

from evidentia import _base
from evidentia.dissimilarities.reading import METRIC, METRIC_PARAMS, read_new, read_source
from evidentia.dissimilarities.sources import Source
from evidentia.partition import CredalPartition
from evidentia.rows.tables import any_table
from evidentia.solvers.callbacks import run_callbacks
from evidentia.solvers.threads import one_blas_thread


class SourceAttribute:
    """What ``fit`` keeps of the objects."""

    _source: Source


class RelationalClusterer(SourceAttribute, _base.IterativeClusterer):
    """Base of the methods that see objects only through their dissimilarities.

    A subclass gives ``_fit_source(X, source)``, which publishes, and ``_masses(new)`` for new objects as ``from_new``
    of the source takes them. One whose ``fit`` takes more has its own, which leaves ``_source`` behind.
    """

    metric: Any = METRIC
    metric_params: Any = METRIC_PARAMS

    @any_table
    @run_callbacks
    @one_blas_thread
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters among objects.

        Objects have no weights: one that counts twice is given twice.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or what the metric takes
            With ``metric="precomputed"``: dissimilarities, (n_samples, n_samples).
        y : None
            Ignored.
        """
        self.check_parameters()
        source = read_source(self, X)
        self._fit_source(X, source)
        self._source = self._keep(source)
        return self

    def _keep(self, source: Source) -> Source:
        """What new objects need of the source."""
        return source.needed_for_new()

    def _fit_source(self, X: Any, source: Source) -> None:
        """Find clusters among the objects of a source, and publish them; X has their names."""
        raise NotImplementedError

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
