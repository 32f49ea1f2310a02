"""Gaussian mixtures by passes over all rows of a table, wherever these are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia.mixtures._base import Candidate, certainty_of, information_criteria
from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._replicates import (
    KEPT_NUMBERS,
    FitSettings,
    MixtureParameters,
    Replicates,
    Scaling,
    Steps,
    WhitenedRows,
    climb_by_steps,
    whitening,
)
from evidentia.mixtures.finalists import Collapse, Sums, climb
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import Table
from evidentia.rows.source import Chunk, MappedRows
from evidentia.solvers.coordinates import Coordinates
from evidentia.solvers.poisson_weights import poisson_weights
from evidentia.solvers.posterior_sums import write_posteriors


class WhitenedChunk(NamedTuple):
    """Rows of a chunk in blocks, and their weights, all above zero; the number of the first row, if it has one."""

    rows: WhitenedRows
    weight: np.ndarray
    first: int


def whiten_chunk(frame: Coordinates | Scaling, columns: np.ndarray, keep: bool, chunk: Chunk) -> WhitenedChunk:
    rows = chunk.table if len(columns) == chunk.table.shape[1] else chunk.table[:, columns]
    weight = np.ones(len(rows)) if chunk.weight is None else chunk.weight
    return WhitenedChunk(WhitenedRows(rows, frame, keep), weight, chunk.first)


def sums_of(part: WhitenedChunk, theta: np.ndarray, certainty: float) -> Sums:
    """Return sums of one mixture: statistics (1, c, width) of the E-step."""
    statistics, log_likelihood = part.rows.e_step(theta, len(theta), lambda r: part.weight)
    return Sums(statistics, float(log_likelihood[0]), certainty * float(part.weight.sum()))


def certainty_of_rows(part: WhitenedChunk, theta: np.ndarray) -> Sums:
    """Return, as ``certainty``, what the rows add to half the difference of ICL and BIC."""
    posterior, log_sum = np.empty((part.rows.n, len(theta))), np.empty(part.rows.n)
    write_posteriors(part.rows.blocks, theta, posterior, log_sum)
    return Sums(np.empty(0), 0.0, certainty_of(posterior, part.weight))


class ReplicateSums(NamedTuple):
    """Statistics (m, c, width) and log-likelihoods (m,) of several replicates."""

    statistics: np.ndarray
    log_likelihood: np.ndarray

    def __add__(self, other: ReplicateSums) -> ReplicateSums:  # type: ignore[override]
        return ReplicateSums(self.statistics + other.statistics, self.log_likelihood + other.log_likelihood)


def replicate_sums(part: WhitenedChunk, theta: np.ndarray, replicates: np.ndarray, seed: int) -> ReplicateSums:
    """Sums of mixtures with a table of Poisson weights each, which are made on the way."""

    def weights(r: int) -> np.ndarray:
        return poisson_weights(part.first, part.rows.n, replicates[r : r + 1], seed)[0]

    return ReplicateSums(*part.rows.e_step(theta, len(theta) // len(replicates), weights))


class AllRows:
    """All rows of a table, in the coordinates of models that are diagonal and of those that are not."""

    def __init__(self, table: Table, columns: np.ndarray, settings: FitSettings):
        self.table, self.columns, self.settings = table, columns, settings
        self._views: dict[bool, tuple[Steps, MappedRows]] = {}

    def view(self, diagonal: bool) -> tuple[Steps, MappedRows]:
        """The steps of EM, and the rows in blocks."""
        if diagonal not in self._views:
            mean, spread = self.table.moments.mean[self.columns], self.table.moments.spread
            frame: Coordinates | Scaling
            if diagonal:
                frame = Scaling.to_unit(mean, (np.diag(spread) if spread.ndim == 2 else spread)[self.columns])
            else:
                frame = whitening(mean, spread[self.columns[:, None], self.columns])
            steps, rows = Steps(frame, self.table.n_rows), self.table.rows
            keep = rows.in_memory and self.table.n_rows * steps.d <= KEPT_NUMBERS
            self._views[diagonal] = steps, rows.map_chunks(partial(whiten_chunk, frame, self.columns, keep))
        return self._views[diagonal]

    def fit_replicates(
        self, replicates: np.ndarray, seed: int, *, start: MixtureParameters, rule: CovarianceModel, **settings: Any
    ) -> Replicates:
        """A mixture for each replicate, by number, in which a row counts as its Poisson weight says.

        The rows are numbered, so that they keep their weights from pass to pass.
        """
        steps, rows = self.view(start.diagonal or len(self.columns) == 1)

        def e_step(theta: np.ndarray, c: int, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return reduce_rows(replicate_sums, rows, theta, replicates[active], seed)

        return climb_by_steps(steps, e_step, start, len(replicates), rule, **settings)

    def finish(self, look: Candidate) -> Candidate:
        """A mixture that was fitted to the sample, fitted to all rows."""
        start: MixtureParameters = look.best.state
        settings, (steps, rows) = self.settings, self.view(start.diagonal or len(self.columns) == 1)
        rule, reg_covar = settings.rule(look.settings["model"]), settings.reg_covar

        expected = (look.criteria["icl"] - look.criteria["bic"]) / 2 / self.table.total  # of each object

        def gather(state: MixtureParameters) -> Sums:
            return reduce_rows(sums_of, rows, steps.coefficients(state)[0], expected)

        def follow(state: MixtureParameters, sums: Sums) -> tuple[float, MixtureParameters]:
            narrowness = steps.coefficients(state)[1]
            if not steps.healthy(sums.statistics[:, :, -1], narrowness, reg_covar)[0]:
                raise Collapse
            following = steps.m_step(sums.statistics, rule, reg_covar, state.covariances)
            return sums.log_likelihood, following

        total, tol, max_iter = self.table.total, settings.tol, settings.max_iter
        finished = climb(look, gather, follow, total=total, tol=tol, max_iter=max_iter)
        if finished.collapsed or finished.interrupted:
            return finished
        certainty = reduce_rows(certainty_of_rows, rows, steps.coefficients(finished.best.state)[0]).certainty
        criteria = information_criteria(finished.log_likelihood, look.n_parameters, certainty, total)
        return replace(finished, criteria=criteria)
