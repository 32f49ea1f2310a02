r"""Latent profiles as equations: the density of rows of numbers and categories, and EM that climbs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from evidentia.mixtures._em import COPIES, LATE
from evidentia.mixtures.profile_numbers import PatternedNumbers, expected_scatter, log_gaussians
from evidentia.rows.categories import Coding, Columns
from evidentia.solvers.descent import Vectors, exponentials, logarithms
from evidentia.solvers.small_matrices import diagonal_of, invert

FREEDOM = 3.0  # of the prior of a variance: the dimension, one, and two (Fraley & Raftery)
FULL = ("shared", "own")


class Profiles(NamedTuple):
    """Mixing probabilities (c,), probabilities of all categories (c, width), means and variances of numbers (c, q).

    Full covariances are (c, q, q), or (1, q, q) when all clusters share one.
    """

    weights: np.ndarray
    probabilities: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    covariances: np.ndarray | None = None

    def take(self, order: np.ndarray) -> Profiles:
        weights, probabilities, means, variances = (part[order] for part in self[:4])
        full = self.covariances
        own = full if full is None or len(full) == 1 else full[order]
        return Profiles(weights, probabilities, means, variances, own)

    def widen(self, kind: str, prior: ProfilePrior) -> Profiles:
        """The same profiles with covariances that are full, though nothing is correlated yet."""
        variances = np.where(prior.blur > 0, self.variances, prior.level / prior.objects)  # of nothing, the mode
        if kind == "shared":
            variances = np.broadcast_to(self.weights @ variances, variances.shape)
        full = variances[: 1 if kind == "shared" else None, :, None] * np.eye(variances.shape[1])
        return self._replace(variances=variances, covariances=full)


@dataclass(frozen=True)
class Rows:
    """Rows as the model reads them: ones at their categories (n, width), numbers without units and where they are.

    What is missing is 0 in both, (n, q).
    """

    hot: csr_array
    numbers: np.ndarray
    there: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, coding: Coding, codes: np.ndarray, numbers: np.ndarray, steps: np.ndarray, weight: np.ndarray) -> Rows:
        """A column without steps between its values tells nothing: it counts as missing."""
        known, there = codes >= 0, ~np.isnan(numbers) & (steps > 0)
        ends = np.append(0, np.cumsum(known.sum(axis=1)))
        places = (codes + coding.columns.offsets)[known]
        hot = csr_array((np.ones(len(places)), places, ends), shape=(len(codes), coding.columns.width))
        return cls(hot, np.where(there, numbers, 0.0), there.astype(float), weight)

    def take(self, which: np.ndarray, weight: np.ndarray) -> Rows:
        return Rows(self.hot[which], self.numbers[which], self.there[which], weight)

    @cached_property
    def patterned(self) -> PatternedNumbers:
        return PatternedNumbers(self.numbers, self.there)

    def deviations(self, mean: np.ndarray) -> np.ndarray:
        """Squared differences from a mean, (n, q); 0 where a number is missing."""
        found = self.numbers - mean
        found *= self.there
        return np.square(found, out=found)


@dataclass(frozen=True)
class ProfilePrior:
    """What is known beforehand: pseudo-counts of categories, and a variance of numbers with its degrees of freedom.

    ``blur`` (q,) is the variance of what was rounded away in each column of numbers; 0 where a column tells nothing.
    ``narrow`` (q, q) is what is added to scatters where clusters are known to be narrow in some directions.
    """

    alpha: float
    variance: float
    blur: np.ndarray
    narrow: np.ndarray | None = None

    @property
    def n_numbers(self) -> int:
        return int(np.count_nonzero(self.blur))

    @property
    def objects(self) -> int:
        """What the prior of a full covariance adds to the size of a cluster."""
        return 2 * self.n_numbers + 3

    @property
    def level(self) -> float:
        """What it adds to each square of a scatter, if nothing else is known."""
        return float(self.variance ** (1 / max(self.n_numbers, 1)))

    @property
    def scale(self) -> np.ndarray:
        """What it adds to a scatter, (q, q)."""
        return self.level * np.eye(len(self.blur)) if self.narrow is None else self.narrow

    def narrowed(self, state: Profiles, total: float) -> ProfilePrior:
        """No wider, in any direction, than what lies within the clusters of a fit under this prior.

        Columns that nearly determine each other are narrow in a direction that no column has. A prior that is wider
        than the clusters there would make them overlap, and more of them likelier than there are.
        """
        full = state.covariances
        assert full is not None
        size = total * (state.weights if len(full) > 1 else np.ones(1))
        scatter = full * (size + self.objects)[:, None, None] - self.scale
        values, directions = np.linalg.eigh(scatter.sum(axis=0) / total)
        most = np.where(values > COPIES, np.minimum(self.level, self.objects * values), self.level)
        return replace(self, narrow=(directions * most) @ directions.T)

    def log_density(self, state: Profiles) -> float:
        """Logarithm of the prior density up to a constant, with the pseudo-counts."""
        if state.covariances is None:
            spread = (FREEDOM + 2) * np.log(state.variances) + self.variance / state.variances
        else:
            precisions, log_det = invert(np.ascontiguousarray(state.covariances))
            spread = self.objects * log_det + (self.scale * precisions).sum(axis=(1, 2))
        return float(self.alpha * np.log(state.probabilities).sum() - 0.5 * spread.sum())


def log_joint(rows: Rows, state: Profiles, blur: np.ndarray) -> np.ndarray:
    r"""Logarithms of :math:`\pi_k p(x_i \mid k)`, (n, c), over what is observed.

    .. math::
        \log \pi_k + \sum_j \log \theta_{kj}(x_{ij})
        - \frac12 \sum_q \Big[ \log 2\pi\sigma_{kq}^2 + \frac{(z_{iq} - \mu_{kq})^2 + h_q^2/12}{\sigma_{kq}^2} \Big]

    or with :func:`~evidentia.mixtures.profile_numbers.log_gaussians` in place of the last sum.
    """
    found = rows.hot @ np.log(state.probabilities).T + np.log(state.weights)
    if state.covariances is not None:
        return found + log_gaussians(rows.patterned, state.means, state.covariances, blur)
    found -= 0.5 * rows.there @ (np.log(2 * np.pi * state.variances) + blur / state.variances).T
    for k, (mean, variance) in enumerate(zip(state.means, state.variances)):
        found[:, k] -= 0.5 * rows.deviations(mean) @ (1 / variance)
    return found


def log_units(coding: Coding, rows: Rows) -> np.ndarray:
    """Logarithm of the volume of a unit in the numbers of each row that are there, (n,)."""
    return rows.there @ np.log(coding.scale)


def posteriors(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities of the clusters (n, c), and log densities of the rows (n,)."""
    top = joint.max(axis=1, keepdims=True)
    share = np.exp(joint - top)
    total = share.sum(axis=1, keepdims=True)
    return share / total, (top + np.log(total))[:, 0]


def nearness(rows: Rows, weights: np.ndarray, means: np.ndarray) -> np.ndarray:
    """First posteriors, (n, c), by distances from centers: in mismatches of categories and squared numbers.

    Not the nearest alone: rounding would choose between two that are as near.
    """
    far = (
        np.square(means).sum(axis=1)
        - 2 * rows.numbers @ means.T
        + 0.5 * np.square(weights).sum(axis=1)
        - rows.hot @ weights.T
    )
    return posteriors(-far)[0]


def within_columns(counts: np.ndarray, columns: Columns) -> np.ndarray:
    """Shares of the categories in their columns, (c, width)."""
    if columns.width:
        counts /= np.repeat(np.add.reduceat(counts, columns.offsets, axis=1), columns.sizes, axis=1)
    return counts


def profiles_of(
    posterior: np.ndarray, rows: Rows, columns: Columns, prior: ProfilePrior, before: Profiles | None = None
) -> Profiles:
    r"""Parameters of highest expected posterior density (M-step).

    .. math::
        \theta_{kj}(a) \propto N_{kja} + \alpha, \qquad
        \sigma_{kq}^2 = \frac{\varsigma^2 + \sum_i r_{ik} \big[(z_{iq} - \mu_{kq})^2 + h_q^2/12\big]}{N_{kq} + \nu + 2}

    Full covariances go on from those ``before``, by which missing numbers are expected: with scatters :math:`W_k`,

    .. math::
        \Sigma_k = \frac{\Lambda + W_k}{N_k + 2 d + 3}, \qquad
        \Sigma = \frac{\Lambda + \sum_k W_k}{n + 2 d + 3}
    """
    share = posterior * rows.weight[:, None]
    counts = within_columns((rows.hot.T @ share).T + prior.alpha, columns)
    size = np.maximum(share.sum(axis=0), np.finfo(float).tiny)  # of a cluster that vanished
    if before is not None and before.covariances is not None:
        means, scatter = expected_scatter(rows.patterned, share, before.means, before.covariances, prior.blur)
        held = size
        if len(before.covariances) == 1:
            scatter, held = scatter.sum(axis=0, keepdims=True), size.sum(keepdims=True)
        full = (scatter + prior.scale) / (held + prior.objects)[:, None, None]
        return Profiles(size / size.sum(), counts, means, np.broadcast_to(diagonal_of(full), means.shape), full)
    held = share.T @ rows.there
    means = np.divide(share.T @ rows.numbers, held, out=np.zeros_like(held), where=held > 0)
    scatter = np.stack([share[:, k] @ rows.deviations(mean) for k, mean in enumerate(means)])
    variances = (prior.variance + scatter + held * prior.blur) / (held + FREEDOM + 2)
    return Profiles(size / size.sum(), counts, means, variances)


def vectors_of(columns: Columns) -> Vectors:
    """Profiles with full covariances as vectors: logarithms of all but the means."""

    def flatten(state: Profiles) -> np.ndarray:
        assert state.covariances is not None
        logs = np.log(state.weights), np.log(state.probabilities), state.means, logarithms(state.covariances)
        return np.concatenate([part.ravel() for part in logs])

    def restore(vector: np.ndarray, like: Profiles) -> Profiles | None:
        assert like.covariances is not None
        parts = (like.weights, like.probabilities, like.means, like.covariances)
        cuts = np.cumsum([part.size for part in parts[:-1]])
        weights, probabilities, means, full = (
            flat.reshape(part.shape) for flat, part in zip(np.split(vector, cuts), parts)
        )
        covariances = exponentials(full)
        if covariances is None or max(weights.max(), probabilities.max(initial=0.0)) > 1:
            return None
        shares, counts = np.exp(weights), within_columns(np.exp(probabilities), columns)
        variances = np.broadcast_to(diagonal_of(covariances), means.shape)
        return Profiles(shares / shares.sum(), counts, means, variances, covariances)

    return Vectors(flatten, restore, LATE)
