"""Criteria for the number of clusters: a number for a fitted model, or NaN where the criterion has nothing to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evidentia.solvers.overlap import is_automatic


def bic(model: Any) -> float:
    r"""Return the Bayesian information criterion of a mixture of single clusters, to be maximized.

    .. math:: \text{BIC} = 2 \log L - \nu \log n

    EGMM with automatic sets compares numbers of clusters by it, before sets are added. BootGMM has that of its mixture.
    Where sets are fitted together with the clusters there is none, and none without a likelihood.
    """
    return float(getattr(getattr(model, "mixture_", model), "bic_", np.nan))


def ebic(model: Any) -> float:
    r"""Evidential Bayesian information criterion of a mixture model, to be maximized [1]_.

    .. math:: \text{EBIC} = \log L - \tfrac12 \left(f - 1 + cp + \tfrac{p(p+1)}{2}\right) \log n

    for f focal sets, c clusters and p features: (33) of the article. For a mixture without sets of clusters it is half
    its BIC, with the number of its own free parameters; BootGMM has that of its mixture. Models without a likelihood
    have none.

    References
    ----------
    .. [1] L. Jiao, T. Denœux, Z.-G. Liu, Q. Pan. EGMM: an evidential version of the Gaussian mixture model for
       clustering. Applied Soft Computing 129, 109619, 2022.
    """
    return float(getattr(getattr(model, "mixture_", model), "ebic_", np.nan))


def normalized_nonspecificity(model: Any) -> float:
    r"""Normalized nonspecificity N*, to be minimized [1]_.

    .. math::
        N^* = \frac{1}{n \log_2 c} \sum_i \Big[ \sum_{A \neq \varnothing} m_i(A) \log_2 |A|
              + m_i(\varnothing) \log_2 c \Big]

    Needs sets of several clusters, or sets that are left to the fit (``"auto"``, which may find none): otherwise it is
    zero whatever the number of clusters.

    References
    ----------
    .. [1] M.-H. Masson, T. Denœux. ECM: an evidential version of the fuzzy c-means algorithm. Pattern
       Recognition 41(4):1384-1397, 2008.
    """
    focal_sets = model.partition_.focal_sets
    if not (focal_sets.card.max() > 1 or is_automatic(getattr(model, "focal_sets", None))):
        return np.nan
    if focal_sets.n_clusters == 1:
        return 0.0
    found = model.partition_.certainty
    return found.nonspecificity / (found.total * float(np.log2(focal_sets.n_clusters)))


def modified_partition_coefficient(memberships: np.ndarray) -> float:
    r"""Crispness of fuzzy memberships, 0 when all are equal and 1 when all are certain, to be maximized [1]_.

    .. math:: \text{MPC} = 1 - \frac{c}{c-1} \Big(1 - \frac1n \sum_i \sum_k u_{ik}^2\Big)

    Parameters
    ----------
    memberships : ndarray of shape (n_samples, n_clusters)
        Rows sum to one. With a single cluster there is no choice to make, and the answer is NaN.

    References
    ----------
    .. [1] R. N. Davé. Validating fuzzy partitions obtained through c-shells clustering. Pattern Recognition
       Letters 17(6):613-623, 1996.

    Examples
    --------
    >>> modified_partition_coefficient(np.array([[1.0, 0.0], [0.5, 0.5]]))
    0.5
    """
    n_samples, n_clusters = memberships.shape
    return _crispness(float(np.vdot(memberships, memberships)) / n_samples, n_clusters)


def _crispness(coefficient: float, n_clusters: int) -> float:
    """A mean sum of squared memberships between 1/c and 1, moved to between 0 and 1."""
    return np.nan if n_clusters == 1 else 1 - n_clusters / (n_clusters - 1) * (1 - coefficient)


def _mpc(model: Any) -> float:
    """Modified partition coefficient of the pignistic probabilities."""
    found = model.partition_.certainty
    return _crispness(found.squares / found.total, model.partition_.n_clusters)


@dataclass(frozen=True)
class Criterion:
    """A criterion by name: how it is computed from a fitted model, and which values are good.

    ``penalized`` ones are log-likelihoods less a charge for parameters, by which mixtures choose.
    """

    name: str
    words: str
    evaluate: Callable[[Any], float]
    maximize: bool
    digits: int
    penalized: bool = False

    def better(self, value: float, other: float) -> bool:
        return value > other if self.maximize else value < other


CRITERIA = {
    criterion.name: criterion
    for criterion in (
        Criterion("bic", "BIC", bic, maximize=True, digits=1, penalized=True),
        Criterion("ebic", "EBIC", ebic, maximize=True, digits=1, penalized=True),
        Criterion(
            "normalized_nonspecificity", "nonspecificity N*", normalized_nonspecificity, maximize=False, digits=3
        ),
        Criterion(
            "mpc",
            "modified partition coefficient",
            _mpc,
            maximize=True,
            digits=3,
        ),
    )
}


def find_criterion(name: str) -> Criterion:
    """A criterion by its name; those that only a mixture itself computes (``"icl"``, ``"aic"``) included."""
    own = Criterion(name, name.upper(), lambda model: np.nan, maximize=True, digits=1)
    return CRITERIA.get(name, own)
