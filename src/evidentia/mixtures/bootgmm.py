"""bootGMM: calibrated evidential clustering by bootstrapping a mixture (Denœux, 2020).

Step one (Algorithm 1): percentile confidence intervals for the probability that two objects share a class.
Step two (Algorithm 2): the credal partition whose belief and plausibility of "same cluster" match them.
Equation numbers are those of the paper.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from tqdm.auto import tqdm

from evidentia import _base
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import Subset
from evidentia.mixtures.bootstrap import Bootstrap, bootstrap
from evidentia.mixtures.parsimonious import ParsimoniousGaussianMixture
from evidentia.partition import CredalPartition
from evidentia.solvers.coordinates import unit_free
from evidentia.solvers.irqp import irqp, place_rows, symmetric_pairs
from evidentia.solvers.overlap import mutual_near_pairs
from evidentia.solvers.pair_quantiles import all_pairs, chosen_pairs

PARTNERS = 500  # fitted objects that a new one is compared with
FAMILIES = ("pairs", "near-pairs", "singletons", "full")


class PairIntervals(NamedTuple):
    """Confidence intervals for the probability that two objects share a class.

    ``pairs`` of shape (n_pairs, 2), first number below the second; ``lower`` and ``upper`` of shape (n_pairs,).
    """

    pairs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def of(self, i: int, j: int) -> tuple[float, float]:
        """Bounds for one pair."""
        at = np.flatnonzero((self.pairs == (min(i, j), max(i, j))).all(axis=1))
        if not at.size:
            raise ValueError(f"There is no interval for objects {i} and {j}: with n_pairs only some pairs have one.")
        return float(self.lower[at[0]]), float(self.upper[at[0]])


def pair_forms(focal_sets: FocalSets) -> np.ndarray:
    """Matrices S (9) and C (10): masses of "same" and "different" are bilinear in two mass functions."""
    return np.stack([np.diag((focal_sets.card == 1).astype(float)), focal_sets.disjoint.astype(float)])


def choose_pairs(Y: np.ndarray, n_pairs: int, rng: np.random.RandomState) -> np.ndarray:
    """Partners for every object: half of them its nearest neighbours, half at random; each pair once.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_features)
        Rows in coordinates where distances make sense.
    n_pairs : int
        Partners asked for by each object; it may be chosen by others too.
    rng : RandomState
        Source of the random partners.
    """
    n, near = len(Y), n_pairs // 2
    neighbours = cKDTree(Y).query(Y, k=near + 1)[1][:, 1:] if near else np.empty((n, 0), dtype=int)
    strangers = (np.arange(n)[:, None] + rng.randint(1, n, size=(n, n_pairs - near))) % n  # never oneself
    partner = np.hstack([neighbours, strangers]).ravel()
    owner = np.repeat(np.arange(n), n_pairs)
    code = np.minimum(owner, partner) * n + np.maximum(owner, partner)
    code = np.unique(code[owner != partner])  # equal rows may name themselves their neighbour
    return np.column_stack([code // n, code % n])


def machine_memory() -> float:
    """Bytes of memory of this machine, infinity where it cannot be asked."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return np.inf


class BootGMM(_base.EvidentialClusterer):
    r"""Calibrated credal partition from a bootstrapped mixture [1]_.

    For objects i and j of a mixture with posteriors :math:`\pi_k(x)` the probability of a common class is
    :math:`P_{ij} = \sum_k \pi_k(x_i) \pi_k(x_j)`. Its bootstrap quantiles :math:`P^l_{ij}, P^u_{ij}` bound it with the given
    confidence, and the masses minimise

    .. math::
        J(M) = \sum_{i<j} \left( Bel_{ij} - P^l_{ij} \right)^2 + \left( Pl_{ij} - P^u_{ij} \right)^2,

    where :math:`[Bel_{ij}, Pl_{ij}]` is what the masses say of "same cluster". So the partition answers "is this
    grouping real?": its intervals contain the true probability about as often as ``confidence`` says, when the
    model is right.

    Parameters
    ----------
    n_clusters : int or "auto"
        ``"auto"`` leaves it to the mixture's own criterion.
    model : str or list of str
        Covariance model of the Gaussian mixture: one of the fourteen, a list, ``"auto"`` (see Notes) or ``"bic"``.
    mixture : estimator, optional
        A mixture of another kind in place of the Gaussian one; see :mod:`evidentia.mixtures.bootstrap`.
    n_boot : int
        Number of bootstrap replicates.
    confidence : float
        Between 0 and 1.
    focal_sets : {"pairs", "near-pairs", "singletons", "full"}, list of subsets, FocalSets or callable
        Sets of clusters that may hold mass; never the empty set. ``"pairs"`` are single clusters and pairs, as in the
        paper; ``"near-pairs"`` only the pairs of mutually nearest clusters; ``"full"`` all subsets with the frame.
    n_near : int
        For ``"near-pairs"``: how many nearest clusters each cluster looks at.
    n_pairs : int, optional
        Number of partners of each object; all others without it. Needed for more than some thousand objects.
    parametric : bool
        Resample from the fitted mixture instead of from the rows.
    tol : float
        Threshold of the stopping rule (18) of the descent.
    max_iter : int
        Largest number of sweeps of the descent.
    warm_start : bool
        Keep the mixture and the replicates of an earlier, perhaps interrupted, fit to the same rows.
    random_state : int, RandomState or None
    n_jobs : int, optional
        For mixtures that are refitted one by one; the result does not depend on it.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
    labels_ : ndarray of shape (n_samples,)
    mixture_ : estimator
        The mixture fitted to all rows.
    intervals_ : PairIntervals
    bootstrap_ : Bootstrap
        The replicates; ``n_degenerate`` of them were left out.
    approximation_ : dict
        How well the partition renders the intervals: root mean squared differences and correlations.
    n_clusters_ : int
    focal_sets_ : FocalSets
    criterion_trace_ : ndarray
        J after each sweep; it never rises.
    n_iter_ : int

    Notes
    -----
    All replicates are fitted together, as products of large matrices. The intervals cost O(n² B c) time and a sweep of
    the descent O(n² f); memory holds 16 n² bytes, or O(n k) with ``n_pairs=k``.

    References
    ----------
    .. [1] T. Denœux. Calibrated model-based evidential clustering using bootstrapping. Information Sciences
       528:17-45, 2020.

    Examples
    --------
    >>> from evidentia.datasets import make_bootgmm_mixture
    >>> X = make_bootgmm_mixture(1, 60, random_state=0).data
    >>> model = BootGMM(3, model="EII", n_boot=100, random_state=0).fit(X)
    >>> model.partition_.n_clusters, len(model.intervals_.lower)
    (3, 1770)
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        model: str | list[str] = "auto",
        mixture: Any = None,
        n_boot: int = 1000,
        confidence: float = 0.9,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        n_near: int = 2,
        n_pairs: int | None = None,
        parametric: bool = False,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_clusters = n_clusters
        self.model = model
        self.mixture = mixture
        self.n_boot = n_boot
        self.confidence = confidence
        self.focal_sets = focal_sets
        self.n_near = n_near
        self.n_pairs = n_pairs
        self.parametric = parametric
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> BootGMM:
        """Find clusters in the rows of X, with their uncertainty.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        """
        table = _base.check_table(self, X)
        self._check_params(len(table))
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        done = getattr(self, "bootstrap_", None) if self.warm_start else None
        if done is None:
            self.mixture_ = self._fit_mixture(table)
        self.n_clusters_ = self.mixture_.predict_proba(table[:1]).shape[1]
        _base.check_enough_rows(self, len(table), self.n_clusters_)
        self.bootstrap_ = bootstrap(
            self.mixture_,
            table,
            n_boot=self.n_boot,
            seed=seed,
            parametric=self.parametric,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            done=done,
        )
        self._check_replicates()
        posterior = self.mixture_.predict_proba(table)
        self.focal_sets_ = self._family(posterior)
        targets = self._confidence_intervals(table, rng)
        self._describe(posterior, targets)
        self._publish(X, self._fitted_masses)
        self._report_quality()
        return self
