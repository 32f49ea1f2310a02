"""A metric learned on the way: what clustering methods do with their ``metric_learner`` argument."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from evidentia._base import MethodBase
from evidentia._objects import align_objects


def learn_metric(
    metric_learner: Any, X: Any, constraints: Any = None, labels: Any = None
) -> tuple[Any | None, np.ndarray]:
    """Fit a copy of a metric learner, and the rows as it sees them.

    CECM, CEVCLUS and NNEVCLUS call this with what they know; new rows later go through ``learner.transform``.

    Parameters
    ----------
    metric_learner : transformer or None
        Its ``fit`` takes links (``constraints``) or labels (``y``). None leaves the rows as they are.
    X : array-like of shape (n_samples, n_features)
        As the user gave it, so that column names reach the learner.
    constraints : PairwiseConstraints, optional
    labels : array-like of shape (n_samples,), optional
        -1 is unknown.

    Returns
    -------
    learner : transformer or None
        Fitted; ``metric_learner`` itself is not touched.
    rows : ndarray of shape (n_samples, n_components)

    Examples
    --------
    >>> from evidentia.metric_learning import FDA
    >>> learner, rows = learn_metric(FDA(), [[0, 0], [1, 3], [4, 0], [5, 4], [2, 2]], labels=[0, 0, 1, 1, -1])
    >>> rows.shape, learner.n_features_in_
    ((5, 1), 2)
    """
    if metric_learner is None:
        return None, np.asarray(X)
    if isinstance(metric_learner, type) or not (
        hasattr(metric_learner, "fit") and hasattr(metric_learner, "transform")
    ):
        raise TypeError(
            f"'metric_learner' must be a transformer such as PCCA() or LSI(), or None. Got {metric_learner!r}."
        )
    learner, labels = clone(metric_learner), align_objects(X, labels, ("X", "'labels'"))
    takes_links = "links" in learner.method.takes if isinstance(learner, MethodBase) else None
    if takes_links is None:
        takes_links = has_fit_parameter(learner, "constraints")
    known = {"constraints": constraints} if takes_links else {}
    return learner, np.asarray(learner.fit(X, labels, **known).transform(X), dtype=float)
