"""bootGMM: calibrated evidential clustering by bootstrapping a mixture (Denœux, 2020).

Step one (Algorithm 1): percentile confidence intervals for the probability that two objects share a class.
Step two (Algorithm 2): the credal partition whose belief and plausibility of "same cluster" match them.
Equation numbers are those of the paper.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from scipy.spatial import cKDTree
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import BOOLEAN, NOTHING, SEED, Choice, Integer, Number, Predicate, fitted, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.coverage import plain_method
from evidentia.methods import Method
from evidentia.mixtures._base import CLUSTER_RANGE
from evidentia.mixtures._covariances import MODELS
from evidentia.mixtures.averaging import GaussianAverage, merge_share, number_support, split_share
from evidentia.mixtures.bootstrap import Bootstrap, bootstrap, in_chunks
from evidentia.mixtures.gaussian_rows import AllRows
from evidentia.mixtures.parsimonious import (
    MAX_EIGENVALUE_RATIO,
    MODEL_LIST,
    GaussianReplicates,
    ParsimoniousGaussianMixture,
)
from evidentia.partition.relational import pairwise
from evidentia.rows import RowSource
from evidentia.rows.numbered import NumberedRows
from evidentia.rows.scan import SKETCH_ROWS, Table, rows_for_all, scan, scan_once
from evidentia.rows.source import ArrayRows, in_memory
from evidentia.solvers.coordinates import unit_free
from evidentia.solvers.descent import INTERRUPTED_EARLY, InterruptedFit, Run, best_of
from evidentia.solvers.irqp import PairTargets, irqp, place_among, symmetric_pairs
from evidentia.solvers.memory import refuse_beyond_memory
from evidentia.solvers.overlap import is_near_pairs, near_pair_sets
from evidentia.solvers.pair_quantiles import pair_quantiles
from evidentia.solvers.starts import Rows

MANY_COLLAPSES = 0.5  # share of the replicates
PARTNERS = 500  # fitted objects that a new one is compared with
PLACED = 1024  # new rows that are placed at a time
OBJECTS = 10_000  # rows that have intervals with n_pairs, of those that are not in memory
OBJECTS_OF_ALL_PAIRS = 2_000  # without: their pairs need 130 MB
CONFIDENCE = Predicate("a number > 0 and < 1", lambda value: Number(above=0, high=1).accepts(value) and value < 1)
MIXTURE = Predicate(
    "a mixture with fit(X, sample_weight=...) and predict_proba(X)",
    lambda value: (
        not isinstance(value, type) and all(hasattr(value, name) for name in ("fit", "predict_proba", "get_params"))
    ),
)


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
    """Partners for every object: half of them its nearest neighbors, half at random; each pair once.

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
    neighbors = cKDTree(Y).query(Y, k=near + 1)[1][:, 1:] if near else np.empty((n, 0), dtype=int)
    strangers = (np.arange(n)[:, None] + rng.randint(1, n, size=(n, n_pairs - near))) % n  # never oneself
    partner = np.hstack([neighbors, strangers]).ravel()
    owner = np.repeat(np.arange(n), n_pairs)
    code = np.minimum(owner, partner) * n + np.maximum(owner, partner)
    code = np.unique(code[owner != partner])  # equal rows may name themselves their neighbor
    return np.column_stack([code // n, code % n])


def digest(value: Any) -> Any:
    """The same short text for equal values; for what cannot be written down, something that equals nothing."""
    try:
        return joblib.hash(value)
    except Exception:  # a foreign object may raise anything when it is asked to be written
        return object()


class BootGMM(_base.IterativeClusterer):
    r"""Calibrated credal partition from a bootstrapped mixture [1]_.

    For objects i and j of a mixture with posteriors :math:`\pi_k(x)` the probability of a common class is
    :math:`P_{ij} = \sum_k \pi_k(x_i) \pi_k(x_j)`. Its bootstrap quantiles :math:`P^l_{ij}, P^u_{ij}` bound it with the
    given confidence, and the masses minimize

    .. math::
        J(M) = \sum_{i<j} \left( Bel_{ij} - P^l_{ij} \right)^2 + \left( Pl_{ij} - P^u_{ij} \right)^2,

    where :math:`[Bel_{ij}, Pl_{ij}]` is what the masses say of "same cluster". So the partition answers "is this
    grouping real?": its intervals contain the true probability about as often as ``confidence`` says, when the
    model is right.

    Attributes
    ----------
    criterion_ : float
        J, which is minimized from one start, the posteriors of the mixture.
    mixture_ : estimator
        The mixture fitted to all rows.
    number_support_ : Series or None
        How much the table supports each number of clusters, when ``n_clusters="auto"``; it sums to one.
    merge_share_ : ndarray of shape (n_clusters, n_clusters) or None
        In which share of the replicates two clusters are one, when ``n_clusters="auto"``.
    split_share_ : ndarray of shape (n_clusters,) or None
        In which share of the replicates a cluster is several, likewise.
    selection_ : DataFrame or None
        What the mixture tried before its number of clusters and its model were chosen.
    intervals_ : PairIntervals
    n_sampled_ : int or None
        Rows that have intervals, of those that are not in memory.
    bootstrap_ : Bootstrap
        The replicates; ``n_degenerate`` of them were left out.
    approximation_ : dict
        How well the partition renders ``intervals_``: root mean squared differences and correlations. Doubt about the
        number of clusters is in these and not in the partition.

    Notes
    -----
    Objects have no weights: the bootstrap draws every object alike.

    With ``model="bic"`` the model is chosen on the whole table and then taken for the truth. That choice is itself
    uncertain, and the intervals come out too short: in the paper they cover 0.65 to 0.70 at a nominal 0.90 when the
    components differ in all respects. With ``"auto"`` the replicates are shared out among the models, more of them to
    those with a better AIC (or cross-validated likelihood, where AIC cannot be right), all fitted from the clusters of
    the best one. That keeps the coverage near nominal with
    intervals shorter than those of the richest model; ``python -m reproduction bootgmm`` in a clone measures it.

    Of rows that are not in memory (:func:`~evidentia.rows.open_rows`) up to 50,000 are fitted as a table is. For more,
    the mixture and all replicates are fitted by passes over all rows. In a replicate a row then counts as a Poisson
    number of mean one says, in place of the number of times it is drawn: a hash of the row's number and the replicate,
    so that nothing is copied or kept. EM of a replicate ends as if there were 50,000 rows, since what it gains beyond
    the estimate does not grow with their number. A sample of the rows, 10,000 with ``n_pairs`` and 2,000 without, has
    intervals and masses; all rows are then placed as new ones are.

    Likewise ``n_clusters="bic"`` takes the number of clusters for the truth, and with ``"auto"`` the replicates are
    shared out among the numbers too, in proportion to :math:`\exp(\mathrm{BIC} / 4)` of the best model of each:
    ``number_support_``. That two objects share a class needs no labels, so all replicates speak of the same
    probabilities. ``intervals_`` rest on all replicates. The partition is over the number with the most support and the
    masses follow the replicates that have it: one mass function per object cannot say both that a cluster is together
    and that it may be part of another. ``merge_share_`` and ``split_share_`` say which clusters may be one or several.
    :mod:`evidentia.mixtures.averaging` has the details.

    The paper's replicates are fitted by mclust, which ends EM when the log-likelihood rises by less than 1e-5 of
    itself. EM is slow where clusters overlap, so that such replicates stay near the estimate they start from and
    differ too little. ``boot_tol`` has them run on.

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

    The method of the paper, with fewer replicates: the covariance model is chosen once.

    >>> c = 3
    >>> paper = BootGMM(c, model="bic", boot_tol=1e-5, n_boot=100, random_state=0).fit(X)
    >>> paper.bootstrap_.n_drawn, paper.mixture_.model_, paper.focal_sets_.names()
    (100, 'EII', ['{0}', '{1}', '{2}', '{0,1}', '{0,2}', '{1,2}'])
    """

    method = Method(
        name="bootgmm", title='calibrated: intervals for "these two belong together" by bootstrapping a mixture',
        papers=("Denœux, *Information Sciences* 528, 2020",), guide="bootgmm", takes=("rows beyond memory",),
        number=("given", "searched"),
        families=("pairs", "near-pairs", "simple", "singletons", "full"),
        quick={"n_clusters": 2, "n_boot": 20, "model": "EII"},
        power=2, grows="*{n} B c* once, then *{n} f*; *n k* with `n_pairs`", memory="*{n}* or *n k*",
        doubt="sets, calibrated", limit="the mixture must be right",
        as_in_paper='BootGMM(c, model="bic", boot_tol=1e-5)',
        differs='With `BootGMM("bic", model="bic", boot_tol=1e-5)` the number of clusters is found as in the paper. '
        "The masses begin at the posteriors of the mixture, where the paper draws them at random: the criterion is the "
        "same, its minimum may be another. The paper's EM of a replicate (mclust) ends when the log-likelihood rises "
        "by less than 1e-5 of itself; for n objects of log-likelihood L that is `boot_tol=1e-5*abs(L)/n`.",
    )  # fmt: skip

    n_clusters: Any = param(
        _base.N_CLUSTERS | Choice("auto", "bic"),
        """With ``"auto"`` the replicates differ in their number of clusters, as far as the table leaves it open (see
        Notes); ``"bic"`` chooses it once and takes it for the truth.""",
        default="auto",
        kw_only=False,
    )
    cluster_range: Any = param(
        CLUSTER_RANGE, "Smallest and largest number of clusters that are tried when none is given.", default=(1, 9)
    )
    model: Any = param(
        Choice("auto", "bic", *MODELS) | MODEL_LIST,
        """Covariance model of the Gaussian mixture: one of the fourteen; ``"auto"`` or a list, where the replicates
        average over models (see Notes); or ``"bic"``, chosen once as in the paper.""",
        default="auto",
    )
    max_eigenvalue_ratio: Any = param(
        MAX_EIGENVALUE_RATIO,
        """Bound of the ratio of any two eigenvalues of covariances of the Gaussian mixture, in the units of the
        columns; see :class:`ParsimoniousGaussianMixture`.""",
        default=None,
    )
    mixture: Any = param(
        MIXTURE | NOTHING,
        """A mixture of another kind in place of the Gaussian one, with its own number of clusters; see
        :mod:`evidentia.mixtures.bootstrap`.""",
        default=None,
    )
    n_boot: int = param(Integer(low=1), "Number of bootstrap replicates.", default=1000)
    confidence: float = param(CONFIDENCE, "Nominal coverage of the intervals.", default=0.9)
    focal_sets: Any = param(
        _base.focal_families(*method.families),
        """Sets of clusters that may hold mass; never the empty set. ``"pairs"`` are single clusters and pairs, as in
        the paper; ``"near-pairs"`` only the pairs of mutually nearest clusters; neither has the set of all.""",
        default="pairs",
    )
    n_near: int = param(
        Integer(low=1), 'For ``"near-pairs"``: how many nearest clusters each cluster looks at.', default=2
    )
    n_pairs: Any = param(
        Integer(low=1) | NOTHING,
        "Number of partners of each object; all others without it. Needed for more than some thousand objects.",
        default=None,
    )
    parametric: bool = param(BOOLEAN, "Resample from the fitted mixture instead of from the rows.", default=False)
    boot_tol: float = param(
        Number(low=0),
        """EM of a replicate of the Gaussian mixture ends when an iteration lifts its log-likelihood per row by no more
        than this. It begins at the estimate of the whole table, so that one that ends early stays near it, and
        intervals come out too short. The paper's ended early, about as with ``1e-5`` (see Notes).""",
        default=1e-6,
    )
    n_init = 1
    select_by = "bic"  # as its mixture does
    max_iter: int = param(Integer(low=1), "Most sweeps of the descent.", default=1000)
    tol: float = param(
        Number(low=0),
        """The descent ends when a sweep improves the criterion by less than this share of it, in a running mean:
        the stopping rule (18).""",
        default=1e-4,
    )
    warm_start: bool = param(
        BOOLEAN,
        """Keep the mixture and the replicates of an earlier, perhaps interrupted, fit, and draw what lacks up to
        ``n_boot``. On other rows, or with another ``n_clusters``, ``model``, ``mixture``, ``parametric``,
        ``boot_tol`` or ``random_state``, or with fewer replicates, everything is fitted anew, with a warning.""",
        default=False,
    )
    random_state: Any = param(
        SEED, "Seed of the mixture's starts and of the bootstrap; an integer makes the fit repeatable.", default=None
    )

    _not_for_placing = ("partition_", "labels_", "intervals_", "mixture_", "selection_", "_train", "_origin")

    _origin: dict[str, Any] | None = fitted(None)
    _own: np.ndarray = fitted()
    _train: np.ndarray = fitted()
    _known: np.ndarray = fitted()
    _known_masses: np.ndarray = fitted()

    def _method_without_sets(self) -> Any:
        return plain_method(self.mixture_)

    def _fit(self, data: Data[Any]) -> np.ndarray | None:
        self.n_sampled_: int | None = None
        if isinstance(data.rows, ArrayRows):
            return self._fit_table(data.table, data.table, data.rng)
        self._refuse_beside_rows(data.rows)
        most = OBJECTS_OF_ALL_PAIRS if self.n_pairs is None else OBJECTS
        with scan_once():
            rows = NumberedRows(data.rows)
            table = scan(rows, mixing=True, missing=False, who="BootGMM")
            objects = rows_for_all(table, rows, most)
            if table.complete:
                self._fit_table(in_memory(rows).table, objects, data.rng)
            else:
                self._fit_by_passes(rows, table, objects, data.rng)
        self.n_sampled_ = len(objects)
        return None

    def _fit_table(self, table: np.ndarray, objects: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """Fit to a table; return the masses of ``objects``, which are its rows or some of them."""
        self._check_numbers(len(table))
        seed = int(rng.randint(np.iinfo(np.int32).max))
        origin = self._origin_of(digest(table))
        mixture, done = self._earlier(origin) or (self._fit_mixture(table, rng), None)
        self._check_memory(len(objects), mixture.predict_proba(objects[:1]).shape[1])
        replicates = bootstrap(
            self._replicate_source(mixture, table),
            table,
            n_boot=self.n_boot,
            seed=seed,
            parametric=self.parametric,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            done=done,
        )
        return self._find_partition(objects, mixture, replicates, origin, rng)

    def _fit_by_passes(
        self, rows: NumberedRows, known: Table, objects: np.ndarray, rng: np.random.RandomState
    ) -> np.ndarray:
        """Fit mixture and replicates by passes over all rows, which count in each as their Poisson weights say."""
        self._check_numbers(rows.n_rows)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        origin = self._origin_of(rows.fingerprint())
        mixture, done = self._earlier(origin) or (self._fit_mixture(rows, rng), None)
        self._check_memory(len(objects), mixture.n_clusters_)
        all_rows = AllRows(known, mixture._varying, mixture._em_settings)
        # What a replicate gains beyond the estimate does not grow with the number of rows.
        tol = self.boot_tol * min(1.0, SKETCH_ROWS / known.n_rows)
        average = GaussianAverage(
            mixture,
            known.sample,
            self._support(mixture),
            models=not self._model_chosen_once,
            tol=tol,
            finish=all_rows.finish,
        )

        def fit(numbers: range) -> GaussianReplicates:
            these = np.array(numbers)
            return average.fit_each(
                lambda which, **settings: all_rows.fit_replicates(these[which], seed, **settings), len(these)
            )

        replicates = in_chunks(fit, n_boot=self.n_boot, verbose=self.verbose, done=done)
        return self._find_partition(objects, mixture, replicates, origin, rng)

    def _refuse_beside_rows(self, source: RowSource) -> None:
        """What needs rows in memory, and weights."""
        for name, given in (("mixture", self.mixture is not None), ("parametric", self.parametric)):
            if given:
                raise TypeError(
                    f"BootGMM takes {name!r} only where all rows are in memory. Leave it out, or give a sample of them."
                )
        first = next((chunk for handle in source.handles for chunk in source.read(handle)), None)
        if first is not None and first.weight is not None:
            raise TypeError("BootGMM draws every row alike. Open the rows without a column of weights.")

    def _find_partition(
        self,
        table: np.ndarray,
        mixture: Any,
        replicates: Bootstrap,
        origin: dict[str, Any],
        rng: np.random.RandomState,
    ) -> np.ndarray:
        """Find intervals and masses of the rows of a table, and what new rows are placed by; return the masses."""
        self.mixture_, self.bootstrap_, self._origin = mixture, replicates, origin  # a warm start can go on from here
        posterior = mixture.predict_proba(table)
        if replicates.n_degenerate == replicates.n_drawn:
            raise ValueError(
                f"In all {replicates.n_drawn} resampled tables a component of the {posterior.shape[1]} collapsed, "
                "so BootGMM has no intervals. Ask for fewer clusters or a simpler model (such as 'EEE' or 'VVI'), or "
                "drop columns that hardly vary inside a cluster."
            )
        self._warn_of_collapses(replicates)
        self.selection_ = getattr(mixture, "selection_", None)  # a mixture of another kind need not have it
        replicated = replicates.posteriors(table)
        self.number_support_ = self._support(mixture) if self._over_numbers else None
        self.merge_share_ = merge_share(replicated, posterior) if self._over_numbers else None
        self.split_share_ = split_share(replicated, posterior) if self._over_numbers else None
        self.focal_sets_ = self._family(posterior)
        pairs, self._own = self._choose_pairs(table, rng), self._own_replicates()
        self.intervals_ = PairIntervals(pairs, *pair_quantiles(replicated, pairs, self._tail))
        within = self.intervals_
        if not self._own.all():
            within = PairIntervals(pairs, *pair_quantiles(replicated[:, :, self._own], pairs, self._tail))
        run = self._find_masses(posterior, within)
        self._publish_run(run, [run])
        self.approximation_ = self._quality(run.state)
        known = np.random.RandomState(0).permutation(len(table))[:PARTNERS]  # new rows are placed by pairs with these
        self._train, self._known, self._known_masses = table, table[known], run.state[known].copy()
        return run.state

    def _clouds(self) -> _base.EvidentialClusterer:
        mixture = self.mixture_
        return mixture._clouds() if isinstance(mixture, _base.EvidentialClusterer) else super()._clouds()

    def _warn_of_collapses(self, replicates: Bootstrap) -> None:
        lost, drawn = replicates.n_degenerate, replicates.n_drawn
        if lost > MANY_COLLAPSES * drawn:
            warn_user(
                f"In {lost} of {drawn} resampled tables a component collapsed. BootGMM leaves these out, so that its "
                "intervals are too short: they rest on the tables that suit the mixture. Ask for fewer clusters or a "
                "simpler model (such as 'EEE' or 'VVI'), or bound the covariances by max_eigenvalue_ratio (such as "
                "100).",
                UserWarning,
            )

    def summary(self) -> str:
        """The partition in words, and what the table says of the number of clusters."""
        check_is_fitted(self)
        lines = [self.partition_.summary()]
        if self.number_support_ is not None and self.merge_share_ is not None and self.split_share_ is not None:
            support = self.number_support_[self.number_support_ > 0]
            listed = ", ".join(f"{number} ({share:.2f})" for number, share in support.items())
            lines += [
                f"Number of clusters, with its support by exp(BIC / 4) of the best model: {listed}.",
                f"The partition is over {self.n_clusters_}, the number with the most support, and follows the "
                "replicates that have it; intervals_ follow all.",
                *self._doubt_in_words(self.merge_share_, self.split_share_),
            ]
        return "\n".join(lines)

    def _doubt_in_words(self, merge_share: np.ndarray, split_share: np.ndarray) -> list[str]:
        """Clusters that may be one or several, by more replicates than an interval leaves out at one end."""
        first, second = np.triu_indices(self.n_clusters_, 1)
        merged = {f"{i} and {j}": merge_share[i, j] for i, j in zip(first, second)}
        split = {str(k): share for k, share in enumerate(split_share)}
        lines = []
        for what, shares in (("one", merged), ("several", split)):
            some = sorted((-share, at) for at, share in enumerate(shares.values()) if share > self._tail)
            listed = ", ".join(f"{list(shares)[at]} ({-100 * share:.0f} %)" for share, at in some)
            if some:
                lines.append(f"Clusters that may be {what}, with the share of replicates in which they are: {listed}.")
        return lines

    def _origin_of(self, rows: Any) -> dict[str, Any]:
        """What the mixture and the replicates depend on; ``rows`` tells the table from others."""
        mixture = None if self.mixture is None else (repr(type(self.mixture)), self.mixture.get_params())
        return {
            "rows": rows,
            "n_clusters": self.n_clusters,
            "cluster_range": tuple(self.cluster_range),
            "model": digest(self.model),
            "max_eigenvalue_ratio": self.max_eigenvalue_ratio,
            "mixture": digest(mixture),
            "parametric": self.parametric,
            "boot_tol": self.boot_tol,
            "random_state": self.random_state,
        }

    def _earlier(self, origin: dict[str, Any]) -> tuple[Any, Bootstrap] | None:
        """Mixture and replicates to go on from; None, with a warning when asked for, if they are of another making."""
        if self._origin is None or not self.warm_start:
            return None
        changed = [name for name, value in origin.items() if value != self._origin[name]]
        changed += ["n_boot (it fell)"] * (self.bootstrap_.n_drawn > self.n_boot)
        if not changed:
            return self.mixture_, self.bootstrap_
        warn_user(
            f"BootGMM(warm_start=True) cannot go on from the earlier fit, which had other {', '.join(changed)}: the "
            "mixture and all replicates are fitted anew.",
            UserWarning,
        )
        return None

    @property
    def _categorical(self) -> bool:
        return self.mixture is not None and get_tags(self.mixture).input_tags.categorical

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        check = _checks.check_categories if self._categorical else _checks.check_table
        return check(self, X, reset=reset)

    def _check_numbers(self, n_samples: int) -> None:
        """What of the parameters depends on each other and on the table."""
        needed = int(np.ceil(round(2 / (1 - self.confidence), 9)))
        if self.n_boot < needed:
            raise ValueError(
                f"n_boot={self.n_boot} replicates cannot show a tail of {self._tail:.3g}: with "
                f"confidence={self.confidence:g} BootGMM needs at least n_boot={needed}, and some hundreds to be exact."
            )
        if self.n_pairs is not None and self.n_pairs >= n_samples:
            raise ValueError(
                f"'n_pairs' of BootGMM must be below the number of rows, {n_samples}. Got {self.n_pairs}; "
                "leave it out to take all pairs."
            )
        if not isinstance(self.n_clusters, str):
            _checks.check_enough_rows(self, n_samples, self.n_clusters)

    def _check_memory(self, n_samples: int, n_clusters: int) -> None:
        """Refuse, before the work starts, what would not fit."""
        pairs = n_samples * (self.n_pairs or n_samples)
        needed = 32 * pairs + 8 * n_clusters * n_samples * self.n_boot
        refuse_beyond_memory(
            needed,
            f"BootGMM for {pairs:,} pairs and {self.n_boot} replicates",
            "Set n_pairs (for example 100), or lower n_boot.",
        )

    @property
    def _over_numbers(self) -> bool:
        """Whether replicates may differ in their number of clusters."""
        return self.mixture is None and isinstance(self.n_clusters, str) and self.n_clusters == "auto"

    @property
    def _model_chosen_once(self) -> bool:
        return isinstance(self.model, str) and self.model == "bic"

    def _fit_mixture(self, table: Any, rng: np.random.RandomState) -> Any:
        """The mixture of the whole table, which will not be fitted again; a clone of it repeats what was chosen."""
        if self.mixture is not None:
            return self._fit_whole(clone(self.mixture), table)
        mixture = ParsimoniousGaussianMixture(
            "auto" if isinstance(self.n_clusters, str) else self.n_clusters,
            model="auto" if self._model_chosen_once else self.model,
            cluster_range=self.cluster_range,
            max_eigenvalue_ratio=self.max_eigenvalue_ratio,
            random_state=rng if self.random_state is None else self.random_state,
            verbose=self.verbose,
        )
        self._fit_whole(mixture, table)
        if not self._over_numbers:
            mixture.set_params(n_clusters=mixture.n_clusters_)
        return mixture.set_params(model=mixture.model_) if self._model_chosen_once else mixture

    def _fit_whole(self, mixture: Any, table: Any) -> Any:
        """A fitted mixture; one that was interrupted keeps its best, but has no replicates yet."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", InterruptedFit)
            try:
                return mixture.fit(table)
            except InterruptedFit as interrupt:
                raise KeyboardInterrupt(INTERRUPTED_EARLY.format(who="BootGMM")) from interrupt

    def _replicate_source(self, mixture: Any, table: np.ndarray) -> Any:
        """What gives the replicates: the mixture, or an average over what it was chosen among."""
        if self.mixture is not None or self.parametric:
            return mixture
        rows, models = Rows(table, np.ones(len(table))), not self._model_chosen_once
        return GaussianAverage(mixture, rows, self._support(mixture), models=models, tol=self.boot_tol)

    def _support(self, mixture: Any) -> pd.Series:
        """Share of the replicates that each number of clusters has; where all collapsed, the one that was kept."""
        if self._over_numbers and not mixture.collapsed_:
            return number_support(mixture.selection_)
        return pd.Series({mixture.n_clusters_: 1.0}, name="support")

    def _family(self, posterior: np.ndarray) -> FocalSets:
        n_clusters = posterior.shape[1]
        if is_near_pairs(self.focal_sets):
            return near_pair_sets(posterior.T @ posterior, self.n_near, empty=False, omega=False)
        if isinstance(self.focal_sets, str) and self.focal_sets == "pairs":
            return FocalSets(n_clusters, "pairs", empty=False, omega=False)
        return resolve_focal_sets(self.focal_sets, n_clusters, empty=False)

    @property
    def _tail(self) -> float:
        """Share of the replicates that an interval leaves out at each end."""
        return (1 - self.confidence) / 2

    def _own_replicates(self) -> np.ndarray:
        """Which replicates the masses follow: those with as many clusters as the partition; all, if none has."""
        if not self._over_numbers:
            return np.ones(self.bootstrap_.n_drawn - self.bootstrap_.n_degenerate, dtype=bool)
        own = self.bootstrap_.n_clusters == self.mixture_.n_clusters_
        return own if own.any() else ~own

    def _choose_pairs(self, table: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """All pairs of objects, or some for each."""
        if self.n_pairs is None:
            return np.column_stack(np.triu_indices(len(table), 1))
        if self._categorical:
            Y = pd.get_dummies(pd.DataFrame(table).astype(object)).to_numpy(float)
        else:
            Y = unit_free(table, kind="diag").transform(table)
        return choose_pairs(Y, self.n_pairs, rng)

    def _targets(self, intervals: PairIntervals, n_samples: int) -> np.ndarray | PairTargets:
        """Lower bounds for "same" and one minus upper bounds for "different", as the descent takes them (13)."""
        pairs, lower, upper = intervals
        values = np.stack([lower, 1 - upper])
        if self.n_pairs is not None:
            return symmetric_pairs(pairs, values.astype(float), n_samples)
        targets = np.zeros((2, n_samples, n_samples))
        i, j = pairs.T
        targets[:, i, j] = targets[:, j, i] = values
        return targets

    def _find_masses(self, posterior: np.ndarray, intervals: PairIntervals) -> Run:
        """Algorithm 2, begun at the mixture's own posteriors so that cluster k is its component k."""
        start = np.zeros((len(posterior), len(self.focal_sets_)))
        single = self.focal_sets_.singleton_index
        if (single < 0).any():  # a list of focal sets without some singletons
            start += 1 / start.shape[1]
        else:
            start[:, single] = posterior / posterior.sum(axis=1, keepdims=True)
        targets = self._targets(intervals, len(posterior))
        found = irqp(start, pair_forms(self.focal_sets_), targets, tol=self.tol, max_iter=self.max_iter)
        return best_of([found], name="BootGMM", max_iter=self.max_iter, tol=self.tol)

    def _quality(self, masses: np.ndarray) -> dict[str, float]:
        """Return how well the masses match the intervals."""
        relation = pairwise(masses, self.focal_sets_, self.intervals_.pairs)
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
        """Bootstrap draws of the probability that fitted objects ``i`` and ``j`` share a class.

        Of rows that are not in memory, numbers are those of ``intervals_``.
        """
        one, other = self.bootstrap_.posteriors(self._train[[i, j]]).transpose(1, 0, 2)
        return (one * other).sum(axis=0)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        """Masses of new rows, by their intervals with (at most 500 of) the fitted objects, whose masses stay.

        A fitted row given again is compared with itself too, so its masses may differ a little from the fit's.
        """
        known, forms = self._known_masses, pair_forms(self.focal_sets_)
        fitted = self.bootstrap_.posteriors(self._known)[:, :, self._own]
        masses = np.full((len(X), len(self.focal_sets_)), 1 / len(self.focal_sets_))
        for start in range(0, len(X), PLACED):
            block = masses[start : start + PLACED]
            n = len(block)
            pairs = np.column_stack([np.repeat(np.arange(n), len(known)), np.tile(np.arange(len(known)), n)])
            replicated = self.bootstrap_.posteriors(X[start : start + PLACED])[:, :, self._own]
            lower, upper = pair_quantiles(replicated, pairs, self._tail, others=fitted)
            place_among(block, forms, known, np.stack([lower, 1 - upper]).astype(float).reshape(2, n, len(known)))
        return masses
