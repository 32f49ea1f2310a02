"""Latent profiles: a mixture for tables of numbers and categories, told apart by one likelihood."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Integer, Number, Predicate, fitted, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.mixtures._base import CLUSTER_RANGE, Candidate, MixtureClusterer, bic
from evidentia.mixtures.profile_model import (
    FULL,
    ProfilePrior,
    Profiles,
    Rows,
    log_joint,
    log_units,
    nearness,
    posteriors,
    profiles_of,
    vectors_of,
)
from evidentia.mixtures.profile_numbers import whiten
from evidentia.rows.categories import Coding, centers_among, read_coding
from evidentia.rows.source import ArrayRows
from evidentia.solvers.descent import Run, Watch, all_runs, descend
from evidentia.solvers.overlap import is_automatic, shared_sets, spread_over_sets
from evidentia.solvers.starts import START_RULES, representative_rows

SMALLEST_SIZE = 0.5  # objects: a cluster that holds less has vanished
SMALLEST_GROUP = 5  # objects: fewer are outliers rather than a group
PATIENCE = 2  # numbers of clusters without a better criterion after which the search ends
LOOK_ROWS = 5_000  # that tell starts apart
LOOK_TOL = 1e-3  # gain of an iteration, per object, below which starts of full covariances are told apart
LOOK_STEPS = 10  # iterations after which they are
ROUND_STEPS = 20  # of EM for the covariance of a whole table with gaps
LARGEST_SHARE = 1.0  # parameters for an object, above which full covariances are not tried
MOST_PATTERNS = 256  # of missing numbers, likewise: an iteration takes them one by one


def resolution(numbers: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The smallest step between two values of each column, (q,); 0 where there are none.

    Examples
    --------
    >>> resolution(np.array([[1.0, 5.0], [1.5, 5.0], [3.0, np.nan]]), np.ones(3))
    array([0.5, 0. ])
    """
    steps = [np.diff(np.unique(column[(weight > 0) & ~np.isnan(column)])) for column in numbers.T]
    return np.array([step.min() if len(step) else 0.0 for step in steps])


@dataclass(frozen=True)
class _ProfileTable:
    """The table as the model reads it, some of its rows to tell starts apart, and the steps between numbers."""

    coding: Coding
    codes: np.ndarray
    rows: Rows
    few: Rows
    steps: np.ndarray

    @property
    def blur(self) -> np.ndarray:
        return self.steps**2 / 12

    @property
    def total(self) -> float:
        return float(self.rows.weight.sum())

    @cached_property
    def n_patterns(self) -> int:
        """Of missing numbers."""
        there = self.rows.there
        return 1 if there.all() else len(np.unique(there, axis=0))

    def n_parameters(self, n_clusters: int, kind: str) -> int:
        d = int(np.count_nonzero(self.steps))
        spread = {"diagonal": n_clusters * d, "shared": d * (d + 1) // 2, "own": n_clusters * d * (d + 1) // 2}
        return self.coding.columns.n_parameters(n_clusters) + n_clusters * d + spread[kind]

    @cached_property
    def round(self) -> tuple[Rows, Rows]:
        """All rows and the few, their numbers uncorrelated over the table: long groups side by side lie apart in it."""
        prior, one = ProfilePrior(1.0, 1.0, self.blur), np.ones((len(self.few.weight), 1))
        state = profiles_of(one, self.few, self.coding.columns, prior).widen("shared", prior)
        for _ in range(ROUND_STEPS):
            state = profiles_of(one, self.few, self.coding.columns, prior, state)
        assert state.covariances is not None
        mean, covariance = state.means[0], state.covariances[0]
        rows = replace(self.rows, numbers=whiten(self.rows.patterned, mean, covariance))
        if self.few is self.rows:
            return rows, rows
        return rows, replace(self.few, numbers=whiten(self.few.patterned, mean, covariance))


class LatentProfileMixture(MixtureClusterer):
    r"""Latent profiles: a mixture for tables of numbers and categories [1]_, [2]_.

    Within a cluster numbers z are Gaussian, and categories have probabilities, independent of all else:

    .. math::
        p(x) = \sum_k \pi_k\, N(z; \mu_k, \Sigma_k) \prod_j \theta_{kj}(x_j)

    A column that tells nothing about the clusters has no say, where a distance would count it like all others. Numbers
    may be independent within a cluster too (:math:`\Sigma_k` diagonal), or correlated as sizes are, alike in all
    clusters or not: what is best is chosen with the number of clusters. Masses are the least committed ones with the
    posterior probabilities for pignistic probabilities [4]_.

    Attributes
    ----------
    weights_ : ndarray of shape (n_clusters,)
        Mixing probabilities. Clusters are numbered from the largest to the smallest.
    probabilities_ : list of ndarray of shape (n_clusters, n_categories)
        For each column of categories, their probabilities in each cluster.
    categories_ : list of ndarray
        For each column of X its categories, sorted; empty for a column of numbers.
    numeric_ : ndarray of shape (n_features,), dtype=bool
        Which columns were read as numbers.
    means_, variances_ : ndarray of shape (n_clusters, n_numbers)
        Of the columns of numbers, in their units.
    covariances_ : ndarray of shape (n_clusters, n_numbers, n_numbers)
        Of the columns of numbers, in their units.
    criterion_ : float
        What is maximized: the log-likelihood, in standard deviations of the columns, plus the logarithm of the prior
        density up to a constant.
    log_likelihood_ : float
        The log-likelihood alone, in the units of the columns, expected over what was rounded away.

    Notes
    -----
    A variance has a prior of :math:`\nu = 3` degrees of freedom and scale :math:`\varsigma^2 = s^2 / c^2` for c
    clusters [3]_, a full covariance of d numbers one of d + 2 degrees and scale :math:`c^{-2/d}` in each :math:`s^2`,
    which is no wider in any direction than the clusters of a first look; a probability has ``alpha`` objects more. A
    number is known up to the smallest step h between two values of its column: densities are expected ones over a
    deviation of variance :math:`h^2/12`, and variances hold it. So a cluster whose numbers are all equal has a width,
    and a likelihood that means something.

    What is missing (None, NaN) is left out of the likelihood, which is right when it does not depend on the value. A
    category that only new rows have counts as missing. Results do not depend on units, and weights count as copies.
    Starts are told apart on 5,000 rows; an iteration costs n p c, or :math:`n c d^2` with full covariances. Half of the
    starts of these are drawn in coordinates in which the numbers of the whole table are not correlated.

    References
    ----------
    .. [1] B. S. Everitt. A finite mixture model for the clustering of mixed-mode data. Statistics & Probability Letters
       6(5):305-309, 1988.
    .. [2] L. Hunt, M. Jorgensen. Mixture model clustering using the MULTIMIX program. Australian & New Zealand Journal
       of Statistics 41(2):153-171, 1999.
    .. [3] C. Fraley, A. E. Raftery. Bayesian regularization for normal mixture estimation and model-based clustering.
       Journal of Classification 24:155-181, 2007.
    .. [4] D. Dubois, H. Prade, P. Smets. A definition of subjective possibility. International Journal of Approximate
       Reasoning 48:352-364, 2008.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({
    ...     "color": ["red"] * 6 + ["blue"] * 4,
    ...     "shape": ["round"] * 5 + ["flat"] + ["flat"] * 4,
    ...     "taste": ["sweet"] * 6 + ["sour", "sour", None, "sour"],
    ...     "grams": [150.0, 155.5, 160, 148, 151, 151, 110, 112, 105, 108],
    ... })
    >>> model = LatentProfileMixture(2, random_state=0).fit(X)
    >>> model.labels_, model.means_.round(1).ravel()
    (array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]), array([152.6, 108.8]))
    >>> model.predict(pd.DataFrame({"color": ["blue"], "shape": ["flat"], "taste": ["sour"], "grams": [111.0]}))
    array([1])
    """

    method = Method(
        name="latent-profile", title="mixture for numbers and categories side by side, number of clusters by BIC",
        papers=("Hunt & Jorgensen, *Australian & New Zealand Journal of Statistics* 41, 1999",), guide="categories",
        reads=("table", "categories"), takes=("weights", "missing values"), number=("given", "searched"),
        chosen_for=("numbers and categories",),
        families=("auto", "singletons"), labels="pignistic", criterion="maximized", quick={"n_init": 2},
        grows="*n p c* (*n p² c* with full covariances)", memory="*n (p + c)*", doubt="sets",
        limit="categories that repeat each other count twice",
    )  # fmt: skip

    cluster_range: Any = param(
        CLUSTER_RANGE,
        """Smallest and largest number of clusters that ``"auto"`` tries; it takes the one of the highest BIC, and ends
        when two further numbers brought nothing better.""",
        default=(1, 20),
    )
    focal_sets: Any = param(
        _base.focal_families(*method.families),
        """Sets of clusters that may hold mass. ``"auto"`` has single clusters, and the sets of clusters that overlap:
        some objects are shared by all of them. With ``"singletons"`` masses are the posterior probabilities.""",
        default="auto",
    )
    alpha: float = param(
        Number(above=0),
        """Pseudo-count: as many objects are added to each category in each cluster, so that one odd entry cannot
        exclude a cluster.""",
        default=0.1,
    )
    numbers: Any = param(
        Choice("auto") | Predicate("list of columns"),
        """Columns that hold numbers, by name or place. ``"auto"``: those with a number that is not whole. All others
        hold categories.""",
        default="auto",
    )
    covariance: str = param(
        Choice("auto", "diagonal", *FULL),
        """How numbers vary within a cluster: independently (``"diagonal"``), with one full covariance for all clusters
        (``"shared"``), or with one for each (``"own"``). ``"auto"`` takes the one of the highest BIC, among those
        full ones that have two numbers or more and no more parameters than objects; where numbers are missing in
        more than 256 combinations of columns, independence alone is tried.""",
        default="auto",
    )
    init: str = param(
        Choice(*START_RULES),
        """Starts: k-means solutions of the one-hot coding (``"k-means"``), rows drawn at random (``"random"``), or half
        of each.""",
        default="mixed",
    )
    n_init: int = param(Integer(low=1), "Number of starts.", default=10)

    attributes = {
        "covariance_": 'str\n``"diagonal"``, ``"shared"`` or ``"own"``. Without numbers all are the same, and it is '
        '``"diagonal"``.',
    }

    _collapse = "a cluster vanished"
    _cure = "Ask for fewer clusters; weights, if given, count as copies of objects."

    _coding: Coding = fitted()
    _steps: np.ndarray = fitted()
    _profiles: Profiles = fitted()

    def _fit(self, data: Data[Any]) -> np.ndarray:
        table = data.table
        weight = np.ones(len(table)) if data.weight is None else data.weight
        names = self._fitted_columns()
        coding, codes = read_coding(table, self.numbers, weight, names, type(self).__name__)
        self._ranges = coding.ranges(table, type(self).__name__)
        problem = self._pose(coding, codes, coding.numbers(table, type(self).__name__), weight, data.rng)
        trials = self._search(self._numbers(len(table)), self._fit_numbers(problem, data.rng))
        posterior = self._store_solution(self._choose(trials), problem)
        return spread_over_sets(posterior, self.focal_sets_)

    def _read_rows(self, X: Any) -> ArrayRows:
        return ArrayRows(self._check_table(X, reset=True))

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        return _checks.check_categories(self, X, reset=reset)

    def _pose(
        self, coding: Coding, codes: np.ndarray, numbers: np.ndarray, weight: np.ndarray, rng: np.random.RandomState
    ) -> _ProfileTable:
        """The rows, and some of these that stand for all."""
        steps = resolution(numbers, weight)
        rows = few = Rows.of(coding, codes, numbers, steps, weight)
        if len(codes) > LOOK_ROWS:
            order, share = representative_rows(np.hstack([codes, np.nan_to_num(numbers)]), weight, rng)
            step = -(-len(order) // LOOK_ROWS)
            few = rows.take(order[::step], share[::step] * weight.sum() / share[::step].sum())
        return _ProfileTable(coding, codes, rows, few, steps)

    def _fit_numbers(self, problem: _ProfileTable, rng: np.random.RandomState) -> Callable[[int], Iterator[Candidate]]:
        """Fits for each number of clusters, those of each kind of covariance until some have brought nothing better."""
        rngs = rng, deepcopy(rng)  # numbers drawn for independent numbers are the same whatever else is tried
        highest = dict.fromkeys(self._kinds(problem), -np.inf)
        waited = dict.fromkeys(highest, 0)

        def fit(n_clusters: int) -> Iterator[Candidate]:
            kinds = [kind for kind in highest if waited[kind] < PATIENCE and self._tries(problem, n_clusters, kind)]
            alone = -np.inf  # independent numbers: what is no better with as many clusters seldom is with more
            for found in self._fit_number(problem, rngs, n_clusters, kinds) if kinds else ():
                kind, height = found.settings["covariance"], found.criteria["bic"]
                better = height > max(highest[kind], alone) and not found.flaw
                highest[kind], waited[kind] = (height, 0) if better else (highest[kind], waited[kind] + 1)
                alone = height if kind == "diagonal" else alone
                yield found

        return fit

    def _kinds(self, problem: _ProfileTable) -> tuple[str, ...]:
        """Covariances to choose from; without numbers all are the same."""
        d = np.count_nonzero(problem.steps)
        if self.covariance != "auto" and d:
            return (self.covariance,)
        return ("diagonal", *FULL) if d > 1 and problem.n_patterns <= MOST_PATTERNS else ("diagonal",)

    def _tries(self, problem: _ProfileTable, n_clusters: int, kind: str) -> bool:
        """Whether a choice is one for that many clusters: a single one has no own covariance beside the shared."""
        if self.covariance != "auto" or kind == "diagonal":
            return True
        few = problem.n_parameters(n_clusters, kind) <= LARGEST_SHARE * problem.total
        return few and not (kind == "own" and n_clusters == 1)

    def _fit_number(
        self, problem: _ProfileTable, rngs: tuple[np.random.RandomState, ...], n_clusters: int, kinds: list[str]
    ) -> Iterator[Candidate]:
        """EM from every start to the rows that tell them apart, and from the best of these to all rows."""
        columns, total, who = problem.coding.columns, problem.total, type(self).__name__
        prior = ProfilePrior(float(self.alpha), 1 / n_clusters**2, problem.blur)

        def step(rows: Rows, prior: ProfilePrior, state: Profiles) -> tuple[float, Profiles]:
            posterior, log_density = posteriors(log_joint(rows, state, prior.blur))
            cost = -(float(rows.weight @ log_density) + prior.log_density(state)) / total
            return cost, profiles_of(posterior, rows, columns, prior, state)

        def climb(
            rows: Rows, prior: ProfilePrior, tol: float, max_iter: int, start: Profiles, watch: Watch | None = None
        ) -> Run:
            vectors = None if start.covariances is None else vectors_of(columns)
            way = partial(step, rows, prior)
            return descend(way, start, max_iter=max_iter, tol=tol, watch=watch, vectors=vectors)

        def draw(rows: Rows, few: Rows, n_starts: int, rng: np.random.RandomState) -> list[np.ndarray]:
            centers = centers_among(
                problem.coding, problem.codes, rows.numbers, rows.weight, n_clusters,
                rule=self.init, n_starts=n_starts, rng=rng,
            )  # fmt: skip
            return [nearness(few, *center) for center in centers]

        def begin(kind: str, posterior: np.ndarray) -> Profiles:
            state = profiles_of(posterior, problem.few, columns, prior)
            if kind == "diagonal":
                return state
            return profiles_of(posterior, problem.few, columns, prior, state.widen(kind, prior))

        plain = draw(problem.rows, problem.few, self.n_init, rngs[0])
        mixed = plain[::2] + draw(*problem.round, self.n_init // 2, rngs[1]) if set(kinds) & set(FULL) else []
        for kind in kinds:
            full, starts = kind != "diagonal", plain if kind == "diagonal" else mixed
            ends = (max(self.tol, LOOK_TOL), min(self.max_iter, LOOK_STEPS)) if full else (self.tol, self.max_iter)
            run, first = partial(climb, problem.few, prior, *ends), map(partial(begin, kind), starts)
            runs = all_runs(run, first, name=who, n_starts=len(starts), verbose=self.verbose)
            best = min(runs, key=lambda run: run.objective)
            interrupted = runs[-1].interrupted
            if (problem.few is not problem.rows or full) and not interrupted:
                narrow = prior.narrowed(best.state, float(problem.few.weight.sum())) if full else prior
                best = climb(problem.rows, narrow, self.tol, self.max_iter, best.state)
                runs, interrupted = [best], best.interrupted
            log_density = posteriors(log_joint(problem.rows, best.state, prior.blur))[1]
            log_likelihood = float(problem.rows.weight @ (log_density - log_units(problem.coding, problem.rows)))
            n_free = problem.n_parameters(n_clusters, kind)
            yield Candidate(
                focal_sets=FocalSets(n_clusters, "singletons", empty=False),
                best=replace(best, trace=total * best.trace),
                runs=[replace(run, trace=total * run.trace) for run in runs],
                log_likelihood=log_likelihood,
                n_parameters=n_free,
                n_objects=total,
                criteria={"bic": bic(log_likelihood, n_free, total)},
                collapsed=bool(best.state.weights.min() * total < SMALLEST_SIZE),
                flaw=self._find_flaw(best.state.weights * total),
                interrupted=interrupted,
                settings={"covariance": kind},
            )

    @staticmethod
    def _find_flaw(sizes: np.ndarray) -> str:
        """Return why clusters are not groups, if they are not."""
        tiny = len(sizes) > 1 and sizes.min() < SMALLEST_GROUP
        return f"a cluster of fewer than {SMALLEST_GROUP} objects" if tiny else ""

    def _choose(self, found: list[Candidate]) -> Candidate:
        """The best whose clusters are groups, or the best of all if none are."""
        best = self._publish_choice([one for one in found if not one.flaw] or found)
        self.selection_ = pd.DataFrame([one.row(self._collapse) for one in found])
        self._warn_at_an_end(best.n_clusters, found[-1].n_clusters)
        return best

    def _store_solution(self, best: Candidate, problem: _ProfileTable) -> np.ndarray:
        """Number the clusters from the largest to the smallest, lay sets over them, and publish; gives posteriors."""
        state, coding = best.best.state, problem.coding
        self._coding, self._steps = coding, problem.steps
        self._profiles = state.take(_base.largest_first(state.weights))
        posterior = posteriors(log_joint(problem.rows, self._profiles, problem.blur))[0]
        self.focal_sets_ = best.focal_sets
        if is_automatic(self.focal_sets):
            self.focal_sets_ = shared_sets(posterior, problem.rows.weight)
        self.weights_, self.log_likelihood_, self.numeric_ = self._profiles.weights, best.log_likelihood, coding.numeric
        self.means_ = coding.in_units(self._profiles.means)
        self.covariance_, full = best.settings["covariance"], self._profiles.covariances
        self.variances_ = self._profiles.variances * coding.scale**2
        if full is None:
            full = self._profiles.variances[:, :, None] * np.eye(len(coding.scale))
        self.covariances_ = np.repeat(full, 1 if len(full) > 1 else best.n_clusters, axis=0)
        self.covariances_ *= np.outer(coding.scale, coding.scale)
        self.probabilities_ = coding.columns.split(self._profiles.probabilities) if coding.categories else []
        self.categories_ = [np.empty(0)] * len(coding.numeric)
        for column, known in zip(np.flatnonzero(~coding.numeric), coding.categories):
            self.categories_[column] = known
        return posterior

    def _warn_of_strange(self, new: np.ndarray) -> None:
        self._coding.warn_of_strange(new, self._ranges, self._column_names(), type(self).__name__)

    def _evaluate(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        coding = self._coding
        codes, numbers = coding.codes(table), coding.numbers(table, type(self).__name__)
        rows = Rows.of(coding, codes, numbers, self._steps, np.ones(len(table)))
        posterior, log_density = posteriors(log_joint(rows, self._profiles, self._steps**2 / 12))
        return spread_over_sets(posterior, self.focal_sets_), log_density - log_units(coding, rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
