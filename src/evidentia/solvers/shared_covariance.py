r"""Gaussian components that share one covariance: posteriors and sufficient statistics in one pass over the rows.

With a common :math:`\Sigma` the term :math:`x^T \Sigma^{-1} x` is the same for all components, so up to a constant per
row the log density of component j is *linear* in the row, :math:`w_j \cdot (x, 1)`. An E-step is then two products and
one exponential (:mod:`evidentia.solvers.posterior_sums`), and what the M-step needs of n rows is the size and the sum
of every component. Both add up over blocks of rows, so that memory, a file or a cluster of machines can hold the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.solvers.blocks import BLOCK_BYTES, row_blocks
from evidentia.solvers.compiling import at_a_time
from evidentia.solvers.posterior_sums import BLOCK, add_posterior_sums, laid_out, write_posteriors

NEVER = -1e300  # score of a component of weight zero: finite, since an infinity in a product makes NaN on some machines


class LinearScores(NamedTuple):
    """Component scores as linear functions of a row, see :func:`linear_scores`."""

    coefficients: np.ndarray
    precision: np.ndarray
    normalizer: float


def log_weights(weights: np.ndarray) -> np.ndarray:
    """Logarithms of mixing probabilities; ``NEVER`` for zero."""
    dead = weights == 0
    return np.where(dead, NEVER, np.log(weights + dead))


def linear_scores(weights: np.ndarray, centers: np.ndarray, covariance: np.ndarray) -> LinearScores:
    r"""Coefficients :math:`w_j` of the linear part of :math:`\log \pi_j N(x; \mu_j, \Sigma)`.

    .. math::
        \log \pi_j N(x; \mu_j, \Sigma) = w_j \cdot (x, 1) - \tfrac12 x^T \Sigma^{-1} x + \text{normalizer}

    Parameters
    ----------
    weights : ndarray of shape (n_components,)
    centers : ndarray of shape (n_components, n_features)
    covariance : ndarray of shape (n_features, n_features) or (n_features,)
        The latter are variances.

    Returns
    -------
    coefficients : ndarray of shape (n_components, n_features + 1)
        A component of weight zero has the score ``NEVER`` everywhere.
    precision : ndarray of the shape of the covariance
    normalizer : float
    """
    if covariance.ndim == 1:
        precision, log_det = 1 / covariance, np.log(covariance).sum()
        slopes = centers * precision
    else:
        precision, log_det = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
        slopes = centers @ precision
    intercepts = log_weights(weights)
    dead = intercepts == NEVER
    intercepts -= 0.5 * (slopes * centers).sum(axis=1)
    if dead.any():
        slopes[dead], intercepts[dead] = 0, NEVER
    normalizer = -0.5 * (len(covariance) * np.log(2 * np.pi) + log_det)
    return LinearScores(np.column_stack([slopes, intercepts]), precision, float(normalizer))


def in_blocks(X: np.ndarray, origin: np.ndarray | None = None, factor: np.ndarray | None = None) -> np.ndarray:
    """Rows ``(x - origin) * factor`` as :func:`statistics` and :func:`posteriors` take them."""
    d = X.shape[1]
    return laid_out(
        np.ascontiguousarray(X), np.zeros(d) if origin is None else origin, np.ones(d) if factor is None else factor
    )


def _living(coefficients: np.ndarray) -> slice | np.ndarray:
    """Components of positive weight; the others cost nothing and get nothing."""
    alive = coefficients[:, -1] > NEVER
    return slice(None) if alive.all() else np.flatnonzero(alive)


def statistics(
    blocks: np.ndarray, n_rows: int, coefficients: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, float]:
    r"""Size :math:`N_j = \sum_i m_{ij}`, sum :math:`T_j = \sum_i m_{ij} x_i` of each component, and the log-likelihood.

    The log-likelihood lacks the two terms that do not depend on the component:
    :math:`\sum_i (\text{normalizer} - \frac12 x_i^T \Sigma^{-1} x_i)`. No array of the size n × n_components is made.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks, n_features, n_lanes)
        From :func:`in_blocks`.
    n_rows : int
    coefficients : ndarray of shape (n_components, n_features + 1)
        From :func:`linear_scores`. With more of them, scores are linear in squares or products of the columns too,
        see :mod:`evidentia.solvers.posterior_sums`; the sums are then of those as well.
    weight : ndarray of shape (n_rows,), optional
    """
    alive = _living(coefficients)
    living = np.ascontiguousarray(coefficients[alive])
    sums = np.zeros_like(living)
    log_likelihood = add_posterior_sums(blocks, n_rows, living, np.empty(0) if weight is None else weight, sums)
    if len(living) < len(coefficients):
        found = np.zeros_like(coefficients)
        found[alive] = sums
        sums = found
    return sums[:, -1], sums[:, :-1], float(log_likelihood)


def posteriors(X: np.ndarray, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior of every row and component, shape (n_samples, n_components), and the linear part of its log density."""
    alive, log_density = _living(coefficients), np.empty(len(X))
    living = np.ascontiguousarray(coefficients[alive])
    masses = np.empty((len(X), len(living)))
    d = X.shape[1]
    share = BLOCK * at_a_time(BLOCK * living.size)
    for rows in row_blocks(len(X), d, 8 * d * max(BLOCK, min(BLOCK_BYTES // (8 * d), share))):  # not a second table
        write_posteriors(in_blocks(X[rows]), living, masses[rows], log_density[rows])
    if len(living) < len(coefficients):
        found = np.zeros((len(X), len(coefficients)))
        found[:, alive] = masses
        masses = found
    return masses, log_density
