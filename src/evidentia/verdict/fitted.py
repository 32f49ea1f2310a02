"""The verdict on a fit: clusters by their normal components, or by the moments of any clusters with numeric rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.verdict.groups import judge, log_densities
from evidentia.verdict.result import Verdict, not_judged

MOST_ROWS = 20_000  # of more, so many at even distances are judged
ROWS_A_COLUMN = 20  # fewer of them, and clusters are judged in principal components
MOST_VALUES = 0.5  # of the number of rows: a column of fewer different values is rounded
STEP_QUANTILE = 0.1  # of the differences between neighboring values
NO_MEMBERS = 1e-6  # weight of a cluster that no object is in


class Gaussians(NamedTuple):
    """Clusters as normal clouds, and the rows in the columns in which they were found."""

    rows: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def take_rows(n: int) -> slice:
    """Rows at even distances, at most ``MOST_ROWS``."""
    return slice(None, None, max(1, -(-n // MOST_ROWS)))


def judge_gaussians(clusters: Gaussians, weights: np.ndarray | None) -> Verdict:
    """Judge the components of a Gaussian mixture; missing entries (NaN) are replaced by their expectation."""
    rows, missing = clusters.rows, np.isnan(clusters.rows)
    found = _refuse(rows[~missing])
    if found:
        return not_judged(found, len(clusters.means), len(rows))
    filled = expected_rows(clusters) if missing.any() else rows
    share = missing.mean(axis=1) if missing.any() else None
    return judge(
        filled, clusters.means, clusters.covariances, weights=weights, steps=rounding_steps(rows), missing=share
    )


def judge_moments(rows: np.ndarray, shares: np.ndarray, weights: np.ndarray | None) -> Verdict:
    """Judge clusters of any method by the moments of their objects.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Missing entries are NaN.
    shares : ndarray of shape (n, c)
        How far each object belongs to each cluster; zero for outliers.
    weights : ndarray of shape (n,) or None
    """
    n, count = shares.shape
    weights = np.ones(n) if weights is None else weights
    missing = np.isnan(rows)
    if found := _refuse(rows[~missing]):
        return not_judged(found, count, n)
    steps: np.ndarray | None = rounding_steps(rows)
    filled = _fill_by_clusters(rows, missing, shares * weights[:, None]) if missing.any() else rows
    if filled.shape[1] > max(1, n // ROWS_A_COLUMN):
        filled, steps = principal_columns(filled, weights, max(1, n // ROWS_A_COLUMN)), None
    means, covariances = cluster_moments(filled, shares * weights[:, None])
    share = missing.mean(axis=1) if missing.any() else None
    return judge(filled, means, covariances, weights=weights, steps=steps, missing=share)


def _refuse(values: np.ndarray) -> str:
    """Why numbers cannot be judged; empty if they can."""
    if not len(values):
        return "the table has no values"
    with np.errstate(over="ignore"):
        if not np.isfinite(np.square(values).sum()):
            return "squares of its values are beyond the range of doubles"
    return ""


def rounding_steps(rows: np.ndarray) -> np.ndarray:
    """Step between neighboring values of each column that has few different ones, zero for other columns."""
    found = np.zeros(rows.shape[1])
    for column in range(rows.shape[1]):
        values = np.unique(rows[:, column][~np.isnan(rows[:, column])])
        if 1 < len(values) <= MOST_VALUES * len(rows):
            found[column] = np.quantile(np.diff(values), STEP_QUANTILE)
    return found


def cluster_moments(rows: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of clusters; those of few objects are drawn towards the mean covariance."""
    d, size, total = rows.shape[1], shares.sum(axis=0), shares.sum()
    center = shares.sum(axis=1) @ rows / max(total, 1e-300)
    means = np.where(size[:, None] > NO_MEMBERS, shares.T @ rows / np.maximum(size, 1e-300)[:, None], center)
    scatter = np.empty((len(means), d, d))
    for k, mean in enumerate(means):
        away = rows - mean
        scatter[k] = (shares[:, k, None] * away).T @ away
    pooled = scatter.sum(axis=0) / max(total, 1e-300)
    prior = d + 2
    covariances = (scatter + prior * pooled) / (size + prior)[:, None, None]
    covariances[size <= NO_MEMBERS] = NO_MEMBERS * pooled  # holds no object, and takes none
    return means, covariances


def principal_columns(rows: np.ndarray, weights: np.ndarray, count: int) -> np.ndarray:
    """Principal components of standardized columns."""
    away = rows - weights @ rows / weights.sum()
    unit = np.sqrt(weights @ np.square(away) / weights.sum())
    scaled = np.divide(away, unit, out=np.zeros_like(away), where=unit > 0)
    axes = np.linalg.svd(np.sqrt(weights)[:, None] * scaled, full_matrices=False)[2][:count]
    return scaled @ axes.T


def _fill_by_clusters(rows: np.ndarray, missing: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Rows with the mean of their clusters where an entry is missing."""
    seen = np.where(missing, 0.0, rows)
    there = (~missing).astype(float)
    overall = seen.sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    count = shares.T @ there
    means = np.where(count > 0, shares.T @ seen / np.maximum(count, 1e-300), overall)
    part = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    return np.where(missing, part @ means, rows)


def expected_rows(clusters: Gaussians) -> np.ndarray:
    r"""Rows with missing entries replaced by their expectation given the others, under equal shares of the clusters.

    .. math::
        E[x_m \mid x_o] = \sum_k P(k \mid x_o)\,
        \left(\mu_{k,m} + \Sigma_{k,mo} \Sigma_{k,oo}^{-1} (x_o - \mu_{k,o})\right)
    """
    rows, means, covariances = clusters
    missing = np.isnan(rows)
    filled = rows.copy()
    patterns, pattern_of = np.unique(missing, axis=0, return_inverse=True)
    for at, pattern in enumerate(patterns):
        members = np.flatnonzero(pattern_of.ravel() == at)
        m, o = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        if not len(m):
            continue
        if not len(o):
            filled[members] = means.mean(axis=0)
            continue
        seen = rows[np.ix_(members, o)]
        log_density = log_densities(seen, means[:, o], covariances[:, o[:, None], o])
        part = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        part /= part.sum(axis=1, keepdims=True)
        guess = np.zeros((len(members), len(m)))
        for k in range(len(means)):
            slope = np.linalg.solve(covariances[k][np.ix_(o, o)], covariances[k][np.ix_(o, m)])
            guess += part[:, [k]] * (means[k, m] + (seen - means[k, o]) @ slope)
        filled[np.ix_(members, m)] = guess
    return filled
