"""Are stated probabilities right as often as they say? The reliability curve, and its mean error."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evidentia._objects import align_objects


class Reliability(NamedTuple):
    """Objects in bins of their stated probability, empty bins left out.

    Attributes
    ----------
    stated : ndarray of shape (n_bins,)
        Mean probability that is stated.
    observed : ndarray of shape (n_bins,)
        Share that is right.
    counts : ndarray of shape (n_bins,)
        Objects.
    error : float
        Expected calibration error: the mean of the absolute difference of both, over the objects.
    """

    stated: np.ndarray
    observed: np.ndarray
    counts: np.ndarray
    error: float


def reliability(stated: Any, correct: Any, *, n_bins: int = 10) -> Reliability:
    r"""Return how often objects are right, by the probability that is stated of them.

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \left| \bar p_b - \bar a_b \right|

    Parameters
    ----------
    stated : array-like of shape (n_samples,)
        Probability of the cluster that each object is put into, for instance ``partition.pignistic.max(axis=1)``.
    correct : array-like of shape (n_samples,)
        Whether that cluster is the right one. Series are joined by their names.
    n_bins : int
        Bins of equal width between 0 and 1.

    Examples
    --------
    >>> curve = reliability([0.75, 0.71, 0.98, 0.96], [True, False, True, True])
    >>> curve.stated, curve.observed, curve.counts, round(curve.error, 3)
    (array([0.73, 0.97]), array([0.5, 1. ]), array([2, 2]), 0.13)
    """
    correct = align_objects(stated, correct, ("'stated'", "'correct'"))
    p, right = np.asarray(stated, dtype=float), np.asarray(correct, dtype=float)
    if p.shape != right.shape or p.ndim != 1 or not len(p):
        raise ValueError(
            "'stated' and 'correct' of reliability must hold a number for each object. Got shapes "
            f"{p.shape} and {right.shape}."
        )
    if not ((p >= 0) & (p <= 1)).all() or not np.isin(right, (0, 1)).all():
        raise ValueError("'stated' of reliability must lie between 0 and 1, and 'correct' must be true or false.")
    if n_bins < 1:
        raise ValueError(f"'n_bins' of reliability must be at least 1. Got {n_bins!r}.")
    at = np.minimum((p * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(at, minlength=n_bins)
    there = counts > 0
    means = np.bincount(at, p, n_bins)[there] / counts[there]
    shares = np.bincount(at, right, n_bins)[there] / counts[there]
    error = float((counts[there] * np.abs(means - shares)).sum() / len(p))
    return Reliability(means, shares, counts[there], error)
