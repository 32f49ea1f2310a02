"""bootGMM: calibrated evidential clustering by bootstrapping a mixture (Denœux, 2020).

Step one (Algorithm 1): percentile confidence intervals for the probability that two objects share a class.
Step two (Algorithm 2): the credal partition whose belief and plausibility of "same cluster" match them.
Equation numbers are those of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags

from evidentia import _base
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import Subset, canonical_order, to_mask
from evidentia.mixtures.bootstrap import bootstrap
from evidentia.mixtures.parsimonious import ParsimoniousGaussianMixture
from evidentia.partition.relational import pairwise
from evidentia.solvers.coordinates import unit_free
from evidentia.solvers.irqp import PairTargets, irqp, place_among, symmetric_pairs
from evidentia.solvers.memory import refuse_beyond_memory
from evidentia.solvers.overlap import mutual_near_pairs
from evidentia.solvers.pair_quantiles import pair_quantiles

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


class BootGMM(_base.EvidentialClusterer):
    r"""Calibrated credal partition from a bootstrapped mixture [1]_.

    For objects i and j of a mixture with posteriors :math:`\pi_k(x)` the probability of a common class is
    :math:`P_{ij} = \sum_k \pi_k(x_i) \pi_k(x_j)`. Its bootstrap quantiles :math:`P^l_{ij}, P^u_{ij}` bound it with the
    given confidence, and the masses minimise

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
        Covariance model of the Gaussian mixture: one of the fourteen; ``"auto"`` or a list, where the replicates
        average over models (see Notes); or ``"bic"``, chosen once as in the paper.
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
    Objects have no weights: the bootstrap draws every object alike.

    With ``model="bic"`` the model is chosen on the whole table and then taken for the truth. That choice is itself
    uncertain, and the intervals come out too short: in the paper they cover 0.65 to 0.70 at a nominal 0.90 when the
    components differ in all respects. With ``"auto"`` the replicates are shared out among the models, more of them to
    those with a better AIC (:meth:`ParsimoniousGaussianMixture.fit_replicates`). That keeps the coverage near nominal
    with intervals shorter than those of the richest model; ``python -m reproduction bootgmm`` in a clone measures it.

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
        table = self._check_table(X, reset=True)
        self._check_params(len(table))
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        done = getattr(self, "bootstrap_", None) if self.warm_start else None
        if done is None:
            self.mixture_ = self._fit_mixture(table)
        posterior = self.mixture_.predict_proba(table)
        self.n_clusters_ = posterior.shape[1]
        self._check_memory(len(table))
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
        if self.bootstrap_.n_degenerate == self.bootstrap_.n_drawn:
            raise ValueError(
                f"In all {self.bootstrap_.n_drawn} resampled tables a component of the {self.n_clusters_} collapsed, "
                "so BootGMM has no intervals. Ask for fewer clusters or a simpler model (such as 'EEE' or 'VVI'), or "
                "drop columns that hardly vary inside a cluster."
            )
        self.focal_sets_ = self._family(posterior)
        self.intervals_ = self._find_intervals(table, rng)
        self._publish(X, self._find_masses(posterior))
        self.approximation_ = self._quality()
        self._train = table  # new rows are placed by their pairs with these
        return self

    @property
    def _categorical(self) -> bool:
        return self.mixture is not None and get_tags(self.mixture).input_tags.categorical

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        check = _base.check_categories if self._categorical else _base.check_table
        return check(self, X, reset=reset)

    def _check_params(self, n_samples: int) -> None:
        _base.check_number(self, "confidence", low=0, high=1, strict=True)
        _base.check_number(self, "n_boot", low=1, integer=True)
        _base.check_number(self, "n_near", low=1, integer=True)
        _base.check_number(self, "tol", low=0)
        _base.check_number(self, "max_iter", low=1, integer=True)
        if self.confidence == 1:
            raise ValueError("The 'confidence' parameter of BootGMM must be below 1. Got 1 instead.")
        needed = int(np.ceil(round(2 / (1 - self.confidence), 9)))
        if self.n_boot < needed:
            raise ValueError(
                f"n_boot={self.n_boot} replicates cannot show a tail of {(1 - self.confidence) / 2:.3g}: with "
                f"confidence={self.confidence:g} BootGMM needs at least n_boot={needed}, and some hundreds to be exact."
            )
        if isinstance(self.focal_sets, str):
            _base.check_choice(self, "focal_sets", FAMILIES)
        if self.n_pairs is not None:
            _base.check_number(self, "n_pairs", low=1, integer=True)
            if self.n_pairs >= n_samples:
                raise ValueError(
                    f"'n_pairs' of BootGMM must be below the number of rows, {n_samples}. Got {self.n_pairs}; "
                    "leave it out to take all pairs."
                )
        if not isinstance(self.n_clusters, str):
            _base.check_number(self, "n_clusters", low=1, integer=True)
            _base.check_enough_rows(self, n_samples, self.n_clusters)

    def _check_memory(self, n_samples: int) -> None:
        """Refuse, before the work starts, what would not fit."""
        pairs = n_samples * (self.n_pairs or n_samples)
        needed = 32 * pairs + 8 * self.n_clusters_ * n_samples * self.n_boot
        refuse_beyond_memory(
            needed,
            f"BootGMM for {pairs:,} pairs and {self.n_boot} replicates",
            "Set n_pairs (for example 100), or lower n_boot.",
        )

    def _fit_mixture(self, table: np.ndarray) -> Any:
        if self.mixture is not None:
            mixture = clone(self.mixture)
            if not hasattr(mixture, "predict_proba"):
                raise TypeError(
                    f"'mixture' of BootGMM must offer fit(X, sample_weight=...) and predict_proba(X). Got {mixture!r}."
                )
            return mixture.fit(table)
        settings = {"random_state": self.random_state, "verbose": self.verbose}
        if self.model != "bic":
            return ParsimoniousGaussianMixture(self.n_clusters, model=self.model, **settings).fit(table)
        chosen = ParsimoniousGaussianMixture(self.n_clusters, **settings).fit(table)
        return ParsimoniousGaussianMixture(chosen.n_components_, model=chosen.model_, **settings).fit(table)

    def _family(self, posterior: np.ndarray) -> FocalSets:
        c = self.n_clusters_
        if isinstance(self.focal_sets, str) and self.focal_sets != "full":
            family = "pairs" if self.focal_sets == "pairs" else "singletons"
            found = FocalSets(c, family, empty=False, omega=False)
            if self.focal_sets == "near-pairs":
                near = mutual_near_pairs(posterior.T @ posterior, self.n_near)
                return FocalSets(c, canonical_order({*found.masks.tolist(), *(to_mask(pair, c) for pair in near)}))
            return found
        return resolve_focal_sets(self.focal_sets, c, empty=False)

    def _find_intervals(self, table: np.ndarray, rng: np.random.RandomState) -> PairIntervals:
        """Algorithm 1: percentile intervals for all pairs, or for chosen ones."""
        share = (1 - self.confidence) / 2
        if self.n_pairs is None:
            pairs = np.column_stack(np.triu_indices(len(table), 1))
        else:
            if self._categorical:
                Y = pd.get_dummies(pd.DataFrame(table).astype(object)).to_numpy(float)
            else:
                Y = unit_free(table, kind="diag").to(table)
            pairs = choose_pairs(Y, self.n_pairs, rng)
        return PairIntervals(pairs, *pair_quantiles(self.bootstrap_.posteriors(table), pairs, share))

    def _targets(self, n_samples: int) -> np.ndarray | PairTargets:
        """Lower bounds for "same" and one minus upper bounds for "different", as the descent takes them (13)."""
        pairs, lower, upper = self.intervals_
        values = np.stack([lower, 1 - upper])
        if self.n_pairs is not None:
            return symmetric_pairs(pairs, values.astype(float), n_samples)
        targets = np.zeros((2, n_samples, n_samples))
        i, j = pairs.T
        targets[:, i, j] = targets[:, j, i] = values
        return targets

    def _find_masses(self, posterior: np.ndarray) -> np.ndarray:
        """Algorithm 2, begun at the mixture's own posteriors so that cluster k is its component k."""
        start = np.zeros((len(posterior), len(self.focal_sets_)))
        single = self.focal_sets_.singleton_index
        if (single < 0).any():  # a list of focal sets without some singletons
            start += 1 / start.shape[1]
        else:
            start[:, single] = posterior / posterior.sum(axis=1, keepdims=True)
        targets = self._targets(len(posterior))
        found = irqp(start, pair_forms(self.focal_sets_), targets, tol=self.tol, max_iter=self.max_iter)
        self.criterion_trace_, self.n_iter_ = found.trace, len(found.trace) - 1
        return found.masses

    def _quality(self) -> dict[str, float]:
        relation = pairwise(self.partition_.masses, self.focal_sets_, self.intervals_.pairs)
        quality = {}
        for name, said, wanted in (
            ("lower", relation.same, self.intervals_.lower),
            ("upper", relation.plausibility_same, self.intervals_.upper),
        ):
            quality[f"rmse_{name}"] = float(np.sqrt(np.square(said - wanted).mean()))
            flat = np.ptp(said) == 0 or np.ptp(wanted) == 0
            quality[f"correlation_{name}"] = np.nan if flat else float(np.corrcoef(said, wanted)[0, 1])
        return quality

    def pair_draws(self, i: int, j: int) -> np.ndarray:
        """Bootstrap draws of the probability that fitted objects ``i`` and ``j`` share a class."""
        one, other = self.bootstrap_.posteriors(self._train[[i, j]]).transpose(1, 0, 2)
        return (one * other).sum(axis=0)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        """Masses of new rows, by their intervals with (at most 500 of) the fitted objects, whose masses stay.

        A fitted row given again is compared with itself too, so its masses may differ a little from the fit's.
        """
        known = np.random.RandomState(0).permutation(len(self._train))[:PARTNERS]
        share = (1 - self.confidence) / 2
        fitted = self.bootstrap_.posteriors(self._train[known])
        pairs = np.column_stack([np.repeat(np.arange(len(X)), len(known)), np.tile(np.arange(len(known)), len(X))])
        lower, upper = pair_quantiles(self.bootstrap_.posteriors(X), pairs, share, others=fitted)
        targets = np.stack([lower, 1 - upper]).astype(float).reshape(2, len(X), len(known))
        masses = np.full((len(X), len(self.focal_sets_)), 1 / len(self.focal_sets_))
        place_among(masses, pair_forms(self.focal_sets_), self.partition_.masses[known].copy(), targets)
        return masses
