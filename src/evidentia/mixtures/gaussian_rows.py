"""Gaussian mixtures by passes over all rows of a table, wherever these are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.mixtures._base import Candidate
from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._em_kernels import normalize
from evidentia.mixtures._replicates import (
    KEPT_FEATURES,
    Features,
    MixtureParameters,
    Replicates,
    Scaling,
    Steps,
    climb_by_steps,
    whitening,
)
from evidentia.mixtures.finalists import Collapse, Sums, climb
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import Table
from evidentia.rows.source import Chunk, MappedRows
from evidentia.solvers.coordinates import Coordinates
from evidentia.solvers.poisson_weights import poisson_weights

if TYPE_CHECKING:
    from evidentia.mixtures.parsimonious import ParsimoniousGaussianMixture


class Part(NamedTuple):
    """Rows of a chunk as features, and their weights, all above zero; the number of the first row, if it has one."""

    features: Features
    weight: np.ndarray
    first: int


def part_of(frame: Coordinates | Scaling, columns: np.ndarray, keep: bool, chunk: Chunk) -> Part:
    rows = chunk.table if len(columns) == chunk.table.shape[1] else chunk.table[:, columns]
    weight = np.ones(len(rows)) if chunk.weight is None else chunk.weight
    return Part(Features(rows, frame, keep), weight, chunk.first)


def sums_of(part: Part, theta: np.ndarray) -> Sums:
    """Sums of one mixture: statistics (1, c, width) of the E-step."""
    c, width = theta.shape
    statistics, log_likelihood, certainty = np.zeros((1, c, width)), 0.0, 0.0
    for _, block, features, scores in part.features.tiles(theta, c):
        share = part.weight[block]
        log_likelihood += float(share @ normalize(scores, share[None])[0])
        certainty += float(share @ np.log(scores[0].max(axis=0) / share))
        statistics[0] += scores[0] @ features
    return Sums(statistics, log_likelihood, certainty)


class ReplicateSums(NamedTuple):
    """Statistics (m, c, width) and log-likelihoods (m,) of several replicates."""

    statistics: np.ndarray
    log_likelihood: np.ndarray

    def __add__(self, other: ReplicateSums) -> ReplicateSums:  # type: ignore[override]
        return ReplicateSums(self.statistics + other.statistics, self.log_likelihood + other.log_likelihood)


def replicate_sums(part: Part, theta: np.ndarray, replicates: np.ndarray, seed: int) -> ReplicateSums:
    """Sums of mixtures with a table of Poisson weights each, which are made on the way."""

    def weights(group: slice, block: slice) -> np.ndarray:
        return poisson_weights(part.first + block.start, block.stop - block.start, replicates[group], seed)

    return ReplicateSums(*part.features.e_step(theta, len(theta) // len(replicates), weights))


class AllRows:
    """All rows of a table, in the coordinates of models that are diagonal and of those that are not."""

    def __init__(self, table: Table, columns: np.ndarray, settings: ParsimoniousGaussianMixture):
        self.table, self.columns, self.settings = table, columns, settings
        self._views: dict[bool, tuple[Steps, MappedRows]] = {}

    def view(self, diagonal: bool) -> tuple[Steps, MappedRows]:
        """The steps of EM, and the rows as features."""
        if diagonal not in self._views:
            mean, spread = self.table.moments.mean[self.columns], self.table.moments.spread
            frame: Coordinates | Scaling
            if diagonal:
                frame = Scaling.to_unit(mean, (np.diag(spread) if spread.ndim == 2 else spread)[self.columns])
            else:
                frame = whitening(mean, spread[self.columns[:, None], self.columns])
            steps, rows = Steps(frame, self.table.n_rows), self.table.rows
            keep = rows.in_memory and self.table.n_rows * steps.width <= KEPT_FEATURES
            self._views[diagonal] = steps, rows.map_chunks(partial(part_of, frame, self.columns, keep))
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
        rule, reg_covar = settings._rule(look.settings["model"]), settings.reg_covar

        def gather(state: MixtureParameters) -> Sums:
            return reduce_rows(sums_of, rows, steps.coefficients(state)[0])

        def follow(state: MixtureParameters, found: Sums) -> tuple[float, MixtureParameters]:
            narrowness = steps.coefficients(state)[1]
            if not steps.healthy(found.statistics[:, :, 0], narrowness, reg_covar)[0]:
                raise Collapse
            following = steps.m_step(found.statistics, rule, reg_covar, state.covariances)
            return found.log_likelihood, following

        tol, max_iter = settings.tol, settings.max_iter
        return climb(look, gather, follow, total=self.table.total, tol=tol, max_iter=max_iter)
