"""Hard partitions against a truth: what scikit-learn lacks, and one table with the usual scores.

The labels of a cluster or class carry no meaning: only who is together with whom counts. Every distinct value is a
cluster; -1 is one too, so leave rejected objects out if they should not count. Two Series are joined by the names in
their indexes; an array or a list is in the order of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from evidentia._objects import match_objects


def encode(labels: Any, name: str) -> np.ndarray:
    """Class numbers 0, 1, ... of labels of any type; every distinct value, -1 too, is a class of its own."""
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(
            f"'{name}' must be one label for each of at least two objects. Got an array of shape {array.shape}."
        )
    codes, _ = pd.factorize(array)
    if np.any(codes < 0):
        raise ValueError(
            f"'{name}' must not have missing labels, but {np.sum(codes < 0)} of {len(codes)} are missing "
            f"(first: object {np.argmin(codes)}). Leave these objects out."
        )
    return codes


def check_same_objects(n_first: int, n_second: int) -> None:
    """Refuse to compare partitions of different objects."""
    if n_first != n_second:
        raise ValueError(f"Both partitions must be of the same objects. Got {n_first} and {n_second} objects.")


def purity(labels: Any, truth: Any) -> float:
    r"""Share of objects in the most frequent class of their cluster.

    .. math:: \frac1n \sum_k \max_j |\omega_k \cap q_j|

    One when no cluster mixes classes; easily reached with many clusters.

    Parameters
    ----------
    labels, truth : array-like of shape (n_samples,)
        Clusters found, and true classes.

    Examples
    --------
    >>> purity([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"])
    0.8
    """
    labels, truth = _encode_both(labels, truth)
    return float(contingency_matrix(truth, labels).max(axis=0).sum() / len(truth))


def pair_precision(labels: Any, truth: Any) -> float:
    r"""Share of the pairs put together that belong together, :math:`TP / (TP + FP)`.

    One when no two objects are put together: nothing was claimed, so nothing was wrong.

    Parameters
    ----------
    labels, truth : array-like of shape (n_samples,)

    Examples
    --------
    >>> pair_precision([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"])
    0.5
    """
    labels, truth = _encode_both(labels, truth)
    (_, false_positive), (_, true_positive) = pair_confusion_matrix(truth, labels)
    return _share(true_positive, false_positive)


def pair_recall(labels: Any, truth: Any) -> float:
    r"""Share of the pairs that belong together that were put together, :math:`TP / (TP + FN)`.

    One when no two objects belong together.

    Parameters
    ----------
    labels, truth : array-like of shape (n_samples,)

    Examples
    --------
    >>> pair_recall([0, 0, 1, 2, 2], ["a", "a", "b", "b", "b"])
    0.5
    """
    labels, truth = _encode_both(labels, truth)
    _, (false_negative, true_positive) = pair_confusion_matrix(truth, labels)
    return _share(true_positive, false_negative)


def hard_scores(labels: Any, truth: Any) -> pd.Series:
    """The usual scores of a hard partition against a truth, all larger for better.

    ==================  ==========================================================================
    ``purity``          :func:`purity`
    ``pair_precision``  :func:`pair_precision`
    ``pair_recall``     :func:`pair_recall`
    ``rand``            share of pairs on which both agree, ``sklearn.metrics.rand_score``
    ``adjusted_rand``   the same corrected for chance, ``sklearn.metrics.adjusted_rand_score``
    ``nmi``             mutual information over the mean of both entropies,
                        ``sklearn.metrics.normalized_mutual_info_score``
    ==================  ==========================================================================

    Parameters
    ----------
    labels, truth : array-like of shape (n_samples,)
        Clusters found, and true classes.

    Examples
    --------
    >>> hard_scores([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"]).round(3)
    purity            0.800
    pair_precision    0.500
    pair_recall       0.500
    rand              0.600
    adjusted_rand     0.167
    nmi               0.433
    dtype: float64
    """
    labels, truth = _encode_both(labels, truth)
    return pd.Series(
        {
            "purity": purity(labels, truth),
            "pair_precision": pair_precision(labels, truth),
            "pair_recall": pair_recall(labels, truth),
            "rand": metrics.rand_score(truth, labels),
            "adjusted_rand": metrics.adjusted_rand_score(truth, labels),
            "nmi": metrics.normalized_mutual_info_score(truth, labels),
        }
    )


def _encode_both(labels: Any, truth: Any) -> tuple[np.ndarray, np.ndarray]:
    clusters, classes = encode(labels, "labels"), encode(truth, "truth")
    at = match_objects(labels, truth, ("'labels'", "'truth'"))
    check_same_objects(len(clusters), len(classes))
    return clusters, classes if at is None else classes[at]


def _share(right: int, wrong: int) -> float:
    return float(right / (right + wrong)) if right + wrong else 1.0
