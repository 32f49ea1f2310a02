r"""Sets of clusters with a stated coverage: a threshold on probabilities that refits to resampled rows have calibrated.

Six times rows are drawn with replacement, and for each a label :math:`z` by the probabilities of its object. The same
method is fitted to these rows, with as many clusters and the same covariance model, and its clusters are matched with
the labels one to one. What the refit gives to the drawn label is a score, and the threshold is a quantile of all scores
(:mod:`evidentia.belief.coverage`). So it holds the error of estimation, and the true cloud of rows, but not the error
of a model that does not fit: labels are drawn from the fit itself.

The probabilities are those of the method without sets of several clusters, where it has such a family: the posterior
probabilities of a mixture, for instance. Mass on sets makes pignistic probabilities timid, and sets wide: those of EGMM
hold 1.07 clusters in place of 1.37 on known mixtures at a level of 0.9. Methods that compare pairs of objects need sets
of clusters to fit, and keep them.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from evidentia._checks import check_weight, is_precomputed
from evidentia._parameters import random_numbers
from evidentia._warnings import warn_user
from evidentia.belief.coverage import covering_sets, threshold_of_scores
from evidentia.partition import CredalPartition
from evidentia.rows.tables import take_objects

__all__ = ["CoverageWarning", "calibrate_coverage", "plain_method", "sets_of_calibration"]

REFITS = 6
DOUBTFUL = ("no evidence", "cannot tell")  # answers of the verdict
MOST_ROWS = 5000  # drawn for a refit
STABLE = 0.6  # share of the objects on which refits and drawn labels agree, below which a clustering is unstable
SAME = 0.8  # share of the objects that a method without sets puts into the same clusters
FEW = 30  # objects for each cluster
FIXED = ("n_clusters", "model", "covariance")  # parameters that a fit may have chosen, as it leaves them behind


class CoverageWarning(UserWarning):
    """Sets with a stated coverage rest on little."""


class Calibration(NamedTuple):
    """What a threshold for any level follows from.

    Attributes
    ----------
    probabilities : ndarray of shape (n_samples, n_clusters)
        Of the objects that were fitted.
    scores : ndarray
        What refits give to the labels that were drawn.
    agreement : float
        Share of the drawn labels that are the likeliest of the refit.
    seed : int or None
        Seed of what was drawn, if it was a number.
    """

    probabilities: np.ndarray
    scores: np.ndarray
    agreement: float
    seed: int | None = None


def calibrate_coverage(estimator: Any, X: Any, sample_weight: Any = None, random_state: Any = None) -> Calibration:
    """Refit a method to resampled rows with drawn labels, and score these.

    Parameters
    ----------
    estimator : EvidentialClusterer
        Fitted to X.
    X : array-like
        The objects in memory, as the method reads them.
    sample_weight : array-like of shape (n_samples,), optional
        Rows are drawn in proportion to it.
    random_state : int, RandomState or None
    """
    rng = random_numbers(random_state, f"{type(estimator).__name__}.sets")
    X, n = _read_objects(estimator, X), len(estimator.partition_)
    weight = check_weight(estimator, sample_weight, n, X)
    weight = np.ones(n) if weight is None else weight
    scorer = estimator._method_without_sets()
    probabilities = _own_probabilities(estimator, scorer, X)
    if probabilities is None:  # without sets the method finds other clusters
        scorer = plain_method(estimator, keep_sets=True)
        probabilities = estimator.partition_.pignistic
    scores, agreements, errors = [], [], []
    for seed in rng.randint(2**31 - 1, size=REFITS).tolist():
        rows = rng.choice(n, size=min(n, MOST_ROWS), p=weight / weight.sum())
        labels = draw_labels(probabilities[rows], rng)
        try:
            refit = _fit(scorer, _sample(X, rows, is_precomputed(scorer)), seed)
        except ValueError as error:
            errors.append(str(error))
            continue
        given, is_largest = score_labels(labels, refit.pignistic, probabilities.shape[1])
        scores.append(given)
        agreements.append(is_largest.mean())
    if 2 * len(errors) > REFITS:
        raise ValueError(
            f"{len(errors)} of {REFITS} refits of {type(estimator).__name__} to resampled rows failed, so that nothing "
            f"is known of the coverage: {errors[0]}"
        )
    seed = int(random_state) if isinstance(random_state, Integral) else None
    return Calibration(probabilities, np.concatenate(scores), float(np.mean(agreements)), seed)


def plain_method(estimator: Any, *, keep_sets: bool = False) -> Any:
    """Return the method of a fitted estimator, not fitted, with the number and the model that the fit has chosen.

    Without ``keep_sets`` its focal sets are single clusters, where it has that family and compares no pairs of objects.
    """
    chosen = {name: getattr(estimator, f"{name}_") for name in FIXED if _was_chosen(estimator, name)}
    relational = "dissimilarities" in estimator.method.reads
    if not (keep_sets or relational) and "singletons" in estimator.method.families:
        chosen["focal_sets"] = "singletons"
    return clone(estimator).set_params(**chosen)


def draw_labels(probabilities: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return a cluster for each object, drawn by its probabilities.

    Examples
    --------
    >>> draw_labels(np.array([[1.0, 0.0], [0.0, 1.0]]), np.random.RandomState(0))
    array([0, 1])
    """
    below = np.cumsum(probabilities, axis=1)
    return np.minimum((rng.random_sample((len(below), 1)) >= below).sum(axis=1), below.shape[1] - 1)


def score_labels(labels: np.ndarray, probabilities: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Match clusters with labels one to one; return the probability of each label, and whether it is the largest.

    A label without a cluster has the probability 0.

    Examples
    --------
    >>> score_labels(np.array([0, 0, 1]), np.array([[0.1, 0.9], [0.6, 0.4], [0.8, 0.2]]), 2)
    (array([0.9, 0.4, 0.8]), array([ True, False,  True]))
    """
    cluster_of = match_clusters(np.eye(n_clusters)[labels], probabilities)[labels]
    given = np.where(cluster_of >= 0, probabilities[np.arange(len(labels)), cluster_of], 0.0)
    return given, cluster_of == probabilities.argmax(axis=1)


def match_clusters(probabilities: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each column of the first table the column of the second that shares most with it, one to one.

    -1 if there are too few.

    Examples
    --------
    >>> match_clusters(np.eye(3)[[0, 0, 1, 2]], np.array([[0, 1], [0, 1], [1, 0], [0.6, 0.4]]))
    array([ 1,  0, -1])
    """
    mine, theirs = linear_sum_assignment(probabilities.T @ others, maximize=True)
    found = np.full(probabilities.shape[1], -1)
    found[mine] = theirs
    return found


def sets_of_calibration(calibration: Calibration, coverage: float, answer: str = "groups") -> np.ndarray:
    """Return the sets for a level of coverage, and warn where they rest on little; ``answer`` is the verdict's."""
    n, n_clusters = calibration.probabilities.shape
    if answer in DOUBTFUL:
        warn_user(
            f"Coverage is about clusters that may be no groups: the verdict is {answer!r}.",
            CoverageWarning,
        )
    if n < FEW * n_clusters:
        warn_user(
            f"Sets with a stated coverage rest on {n} objects in {n_clusters} clusters, fewer than {FEW} for each: the "
            "share of objects whose set is right may be another one.",
            CoverageWarning,
        )
    if calibration.agreement < STABLE:
        warn_user(
            f"Refits to resampled rows give {calibration.agreement:.0%} of the objects the cluster that was drawn for "
            f"them, fewer than {STABLE:.0%}: the clusters are not stable, and coverage of them says little.",
            CoverageWarning,
        )
    return covering_sets(calibration.probabilities, threshold_of_scores(calibration.scores, coverage, n))


def _read_objects(estimator: Any, X: Any) -> Any:
    """Return the objects that were fitted, or refuse them."""
    name, partition = type(estimator).__name__, estimator.partition_
    instead = "model.partition_.sets(coverage=...) gives sets by the masses alone."
    if partition.no_answer is not None:
        raise ValueError(f"{name} found no clusters that sets could cover. {partition.no_answer}")
    if not isinstance(partition, CredalPartition):
        raise TypeError(f"{name}.sets refits the method to resampled rows, which must be in memory. Fit a sample.")
    if any(kind.startswith("views") for kind in estimator.method.reads):
        raise TypeError(f"{name}.sets cannot resample the objects of several views. {instead}")
    if "links" in estimator.method.takes and len(estimator.constraints_):
        raise TypeError(f"{name}.sets cannot refit with links, which name objects of the fit. {instead}")
    table = estimator._new_table(X)
    n = table.shape[0] if hasattr(table, "shape") else len(table)
    if n != len(partition):
        raise ValueError(
            f"'X' of {name}.sets must be the {len(partition)} objects that were fitted. Got {n}. For new rows take "
            "predict_proba(X), and the clusters whose probability reaches the least one in the sets of the fit."
        )
    return table


def _own_probabilities(estimator: Any, scorer: Any, X: Any) -> np.ndarray | None:
    """Return the scorer's probabilities of all objects over the clusters of the estimator; None if these differ."""
    partition = estimator.partition_
    if scorer.get_params().get("focal_sets") == estimator.get_params().get("focal_sets"):
        return partition.pignistic
    try:
        found = _fit(scorer, X, 0).pignistic
    except ValueError:
        return None
    column = match_clusters(partition.pignistic, found)
    if found.shape != partition.pignistic.shape:
        return None
    found = found[:, column]
    same = found.argmax(axis=1) == partition.pignistic.argmax(axis=1)
    return found if same.mean() >= SAME else None


def _fit(estimator: Any, X: Any, seed: int) -> CredalPartition:
    model = clone(estimator)
    if "random_state" in model.parameters:
        model.set_params(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is to be said of the method, its own fit has said
        return model.fit(X).partition_


def _was_chosen(estimator: Any, name: str) -> bool:
    return name in estimator.parameters and f"{name}_" in estimator.attributes and hasattr(estimator, f"{name}_")


def _sample(table: Any, rows: np.ndarray, square: bool) -> Any:
    """Return objects that may be drawn twice, without names."""
    found = take_objects(np.asarray(table) if square else table, rows, square)
    return found.reset_index(drop=True) if hasattr(found, "reset_index") else found
