"""``partial_fit`` of the methods with centers: sums of masses and features, averaged from batch to batch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia import _streaming
from evidentia.belief import FocalSets
from evidentia.prototypes._base import to_columns
from evidentia.prototypes._kernel import Criterion, Prototypes, chunk_sums, update_prototypes
from evidentia.rows.passes import reduce_rows
from evidentia.rows.source import ArrayRows
from evidentia.solvers.overlap import is_automatic
from evidentia.solvers.stepwise import RunningMean


class Stream(NamedTuple):
    """The criterion that the centers descend on, and what it is made of."""

    criterion: Criterion
    mean: RunningMean


class StreamingMeans(_streaming.StreamingMixin):
    """``partial_fit`` for a :class:`~evidentia.prototypes._base.PrototypeClusterer`."""

    def _begin_stream(self: Any, rows: ArrayRows, rng: np.random.RandomState) -> Stream:
        self._fit_rows(rows, rng)
        solution = self._solution
        criterion = solution.criterion
        if is_automatic(self.focal_sets):  # its sets are laid over what single clusters find
            single = FocalSets(self.n_clusters, "singletons", empty=criterion.focal_sets.empty_index is not None)
            criterion = replace(criterion, focal_sets=single)
        sums, total = self._batch_sums(rows, solution.prototypes, criterion)
        return Stream(criterion, RunningMean.of((sums,), total))

    def _follow_stream(self: Any, rows: ArrayRows, kappa: float) -> Stream:
        solution, (criterion, mean) = self._solution, self._stream
        sums, weight = self._batch_sums(rows, solution.prototypes, criterion)
        mean = mean.add((sums,), weight, kappa)
        moved = update_prototypes(mean.sums[0], solution.prototypes, criterion, mean.total)
        self._publish_prototypes(replace(solution, prototypes=moved))
        return Stream(criterion, mean)

    def _batch_sums(
        self: Any, rows: ArrayRows, prototypes: Prototypes, criterion: Criterion
    ) -> tuple[np.ndarray, float]:
        """Sums of a batch, and its weight."""
        columns = rows.map_chunks(partial(to_columns, self._coordinates))
        total = float(len(rows.table) if rows.weight is None else rows.weight.sum())
        return reduce_rows(chunk_sums, columns, prototypes, criterion).sums, total
