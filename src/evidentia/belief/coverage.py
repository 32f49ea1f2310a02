r"""Sets of clusters that hold the right one for a stated share of the objects, by one threshold on probabilities.

The set of object :math:`i` holds the clusters :math:`k` with :math:`p_{ik} \ge t`, and always the likeliest. The
smaller the threshold :math:`t`, the larger the sets. It comes from probabilities of labels that are known
(:func:`threshold_of_scores`), or from the probabilities themselves (:func:`own_threshold`).
"""

from __future__ import annotations

from numbers import Real

import numpy as np


def check_coverage(coverage: float) -> float:
    """Return a level of coverage, or refuse it."""
    if isinstance(coverage, bool) or not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise ValueError(f"'coverage' must lie between 0 and 1, both excluded. Got {coverage!r}.")
    return float(coverage)


def covering_sets(probabilities: np.ndarray, threshold: float) -> np.ndarray:
    """Return the sets of a threshold, shape (n_samples, n_clusters) of bool; each holds a cluster at least.

    Examples
    --------
    >>> covering_sets(np.array([[0.7, 0.3], [0.9, 0.1]]), 0.25)
    array([[ True,  True],
           [ True, False]])
    """
    sets = probabilities >= threshold
    sets[np.arange(len(sets)), probabilities.argmax(axis=1)] = True
    return sets


def threshold_of_scores(scores: np.ndarray, coverage: float, n_samples: int) -> float:
    r"""Return the threshold that a share ``coverage`` of the scores reaches, and a standard error of it more.

    Scores are the probabilities of labels that are known. Of a table of n objects the covered share itself varies by
    :math:`\sqrt{q (1 - q) / n}`, so that :math:`q` plus this is asked for.

    Examples
    --------
    >>> threshold_of_scores(np.arange(100) / 100, coverage=0.5, n_samples=2500)  # 0.01 for the standard error
    0.48
    """
    share = coverage + np.sqrt(coverage * (1 - coverage) / n_samples)
    return float(np.quantile(scores, max(0.0, 1 - share), method="lower"))


def own_threshold(probabilities: np.ndarray, coverage: float) -> float:
    r"""Return the largest threshold at which the sets hold a share ``coverage`` of the probability, on average.

    .. math:: \frac{1}{n} \sum_i \sum_{k \in S_i(t)} p_{ik} \ge q

    It takes the probabilities at their word. 1 if the likeliest clusters alone hold that much.

    Examples
    --------
    The likeliest hold 0.75 on average; with 0.4 of the first object 0.95, and 0.85 is asked for.

    >>> own_threshold(np.array([[0.6, 0.4], [0.9, 0.1]]), coverage=0.85)
    0.4
    """
    n = len(probabilities)
    likeliest = np.zeros(probabilities.shape, dtype=bool)
    likeliest[np.arange(n), probabilities.argmax(axis=1)] = True
    held = float(probabilities[likeliest].sum())
    if held >= coverage * n:
        return 1.0
    others = np.sort(probabilities[~likeliest])[::-1]
    reached = held + np.cumsum(others) >= coverage * n - 1e-9 * n
    return float(others[reached.argmax()]) if reached.any() else 0.0
