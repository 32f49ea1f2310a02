"""Latent profiles: a mixture for tables of numbers and categories, whose columns are independent within a cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from evidentia import _base
from evidentia._parameters import Choice, Integer, Kind, Number, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.mixtures._base import CLUSTER_RANGE, Candidate, MixtureClusterer, ebic
from evidentia.rows.categories import Columns
from evidentia.rows.mixed import Coding, centers_among, read_coding
from evidentia.rows.tables import any_table
from evidentia.solvers.callbacks import run_callbacks
from evidentia.solvers.descent import Run, Watch, all_runs, descend
from evidentia.solvers.overlap import is_automatic, shared_sets, spread_over_sets
from evidentia.solvers.starts import START_RULES, representative_rows
from evidentia.solvers.threads import one_blas_thread

FREEDOM = 3.0  # of the prior of a variance: the dimension, one, and two (Fraley & Raftery)
SMALLEST_SIZE = 0.5  # objects: a cluster that holds less has vanished
SMALLEST_GROUP = 5  # objects: fewer are outliers rather than a group
PATIENCE = 2  # numbers of clusters without a better criterion after which the search ends
LOOK_ROWS = 5_000  # that tell starts apart


class Profiles(NamedTuple):
    """Mixing probabilities (c,), probabilities of all categories (c, width), means and variances of numbers (c, q)."""

    weights: np.ndarray
    probabilities: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def take(self, order: np.ndarray) -> Profiles:
        return Profiles(*(part[order] for part in self))


@dataclass(frozen=True)
class Rows:
    """Rows as the model reads them: ones at their categories (n, width), numbers without units and where they are.

    What is missing is 0 in both, (n, q).
    """

    hot: csr_array
    numbers: np.ndarray
    there: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, coding: Coding, codes: np.ndarray, numbers: np.ndarray, steps: np.ndarray, weight: np.ndarray) -> Rows:
        """A column without steps between its values tells nothing: it counts as missing."""
        known, there = codes >= 0, ~np.isnan(numbers) & (steps > 0)
        ends = np.append(0, np.cumsum(known.sum(axis=1)))
        places = (codes + coding.columns.offsets)[known]
        hot = csr_array((np.ones(len(places)), places, ends), shape=(len(codes), coding.columns.width))
        return cls(hot, np.where(there, numbers, 0.0), there.astype(float), weight)

    def take(self, which: np.ndarray, weight: np.ndarray) -> Rows:
        return Rows(self.hot[which], self.numbers[which], self.there[which], weight)

    def deviations(self, mean: np.ndarray) -> np.ndarray:
        """Squared differences from a mean, (n, q); 0 where a number is missing."""
        found = self.numbers - mean
        found *= self.there
        return np.square(found, out=found)


@dataclass(frozen=True)
class Prior:
    """What is known beforehand: pseudo-counts of categories, and a variance of numbers with its degrees of freedom.

    ``blur`` (q,) is the variance of what was rounded away in each column of numbers.
    """

    alpha: float
    variance: float
    blur: np.ndarray

    def log_density(self, state: Profiles) -> float:
        """Logarithm of the prior density up to a constant, with the pseudo-counts."""
        spread = (FREEDOM + 2) * np.log(state.variances) + self.variance / state.variances
        return float(self.alpha * np.log(state.probabilities).sum() - 0.5 * spread.sum())


def log_joint(rows: Rows, state: Profiles, blur: np.ndarray) -> np.ndarray:
    r"""Logarithms of :math:`\pi_k p(x_i \mid k)`, (n, c), over what is observed.

    .. math::
        \log \pi_k + \sum_j \log \theta_{kj}(x_{ij})
        - \frac12 \sum_q \Big[ \log 2\pi\sigma_{kq}^2 + \frac{(z_{iq} - \mu_{kq})^2 + h_q^2/12}{\sigma_{kq}^2} \Big]
    """
    found = rows.hot @ np.log(state.probabilities).T + np.log(state.weights)
    found -= 0.5 * rows.there @ (np.log(2 * np.pi * state.variances) + blur / state.variances).T
    for k, (mean, variance) in enumerate(zip(state.means, state.variances)):
        found[:, k] -= 0.5 * rows.deviations(mean) @ (1 / variance)
    return found


def log_units(coding: Coding, rows: Rows) -> np.ndarray:
    """Logarithm of the volume of a unit in the numbers of each row that are there, (n,)."""
    return rows.there @ np.log(coding.scale)


def posteriors(joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities of the clusters (n, c), and log densities of the rows (n,)."""
    top = joint.max(axis=1, keepdims=True)
    share = np.exp(joint - top)
    total = share.sum(axis=1, keepdims=True)
    return share / total, (top + np.log(total))[:, 0]


def profiles_of(posterior: np.ndarray, rows: Rows, columns: Columns, prior: Prior) -> Profiles:
    r"""Parameters of highest expected posterior density (M-step).

    .. math::
        \theta_{kj}(a) \propto N_{kja} + \alpha, \qquad
        \sigma_{kq}^2 = \frac{\varsigma^2 + \sum_i r_{ik} \big[(z_{iq} - \mu_{kq})^2 + h_q^2/12\big]}{N_{kq} + \nu + 2}
    """
    share = posterior * rows.weight[:, None]
    counts = (rows.hot.T @ share).T + prior.alpha
    if columns.width:
        counts /= np.repeat(np.add.reduceat(counts, columns.offsets, axis=1), columns.sizes, axis=1)
    held = share.T @ rows.there
    means = np.divide(share.T @ rows.numbers, held, out=np.zeros_like(held), where=held > 0)
    scatter = np.stack([share[:, k] @ rows.deviations(mean) for k, mean in enumerate(means)])
    variances = (prior.variance + scatter + held * prior.blur) / (held + FREEDOM + 2)
    size = np.maximum(share.sum(axis=0), np.finfo(float).tiny)  # of a cluster that vanished
    return Profiles(size / size.sum(), counts, means, variances)


def nearness(rows: Rows, weights: np.ndarray, means: np.ndarray) -> np.ndarray:
    """First posteriors, (n, c), by distances from centers: in mismatches of categories and squared numbers.

    Not the nearest alone: rounding would choose between two that are as near.
    """
    far = (
        np.square(means).sum(axis=1)
        - 2 * rows.numbers @ means.T
        + 0.5 * np.square(weights).sum(axis=1)
        - rows.hot @ weights.T
    )
    return posteriors(-far)[0]


def resolution(numbers: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The smallest step between two values of each column, (q,); 0 where there are none.

    Examples
    --------
    >>> resolution(np.array([[1.0, 5.0], [1.5, 5.0], [3.0, np.nan]]), np.ones(3))
    array([0.5, 0. ])
    """
    steps = [np.diff(np.unique(column[(weight > 0) & ~np.isnan(column)])) for column in numbers.T]
    return np.array([step.min() if len(step) else 0.0 for step in steps])


class _Problem(NamedTuple):
    """The table as the model reads it, some of its rows to tell starts apart, and the steps between numbers."""

    coding: Coding
    codes: np.ndarray
    rows: Rows
    few: Rows
    steps: np.ndarray

    @property
    def blur(self) -> np.ndarray:
        return self.steps**2 / 12


class LatentProfileMixture(MixtureClusterer):
    r"""Latent profiles: a mixture for tables of numbers and categories [1]_, [2]_.

    Within a cluster all columns are independent: numbers are Gaussian, and categories have probabilities,

    .. math::
        p(x) = \sum_k \pi_k \prod_j \theta_{kj}(x_j) \prod_q N(x_q; \mu_{kq}, \sigma_{kq}^2)

    so that a column that tells nothing about the clusters has no say, where a distance would count it like all others.
    Masses are the least committed ones with the posterior probabilities for pignistic probabilities [4]_.

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
    criterion_ : float
        What is maximized: the log-likelihood, in standard deviations of the columns, plus the logarithm of the prior
        density up to a constant.
    log_likelihood_ : float
        The log-likelihood alone, in the units of the columns, expected over what was rounded away.

    Notes
    -----
    A variance has a prior of :math:`\nu = 3` degrees of freedom and scale :math:`\varsigma^2 = s^2 / c^2` for c
    clusters [3]_, a probability ``alpha`` objects more. A number is known up to the smallest step h between two values
    of its column: densities are expected ones over a deviation of variance :math:`h^2/12`, and variances hold it. So a
    cluster whose numbers are all equal has a width, and a likelihood that means something.

    What is missing (None, NaN) is left out of the likelihood, which is right when it does not depend on the value. A
    category that only new rows have counts as missing. Results do not depend on units, and weights count as copies.
    Starts are told apart on 5,000 rows; an iteration costs n p c.

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
    >>> model.predict(pd.DataFrame({"color": ["green"], "shape": ["flat"], "taste": ["sour"], "grams": [111.0]}))
    array([1])
    """

    method = Method(
        name="latent-profile", title="mixture for numbers and categories side by side, number of clusters by EBIC",
        papers=("Hunt & Jorgensen, *Australian & New Zealand Journal of Statistics* 41, 1999",), guide="categories",
        reads=("table", "categories"), takes=("weights", "missing values"), number=("given", "searched"),
        families=("auto", "singletons"), labels="pignistic", criterion="maximized", quick={"n_init": 2},
        grows="*n p c*", memory="*n (p + c)*", doubt="sets", limit="columns that repeat each other count twice",
    )  # fmt: skip

    cluster_range: Any = param(
        CLUSTER_RANGE,
        """Smallest and largest number of clusters that ``"auto"`` tries; it takes the one of the highest EBIC, and ends
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
        Choice("auto") | Kind("list of columns"),
        """Columns that hold numbers, by name or place. ``"auto"``: those with a number that is not whole. All others
        hold categories.""",
        default="auto",
    )
    init: str = param(
        Choice(*START_RULES),
        """Starts: k-means solutions of the one-hot coding (``"k-means"``), rows drawn at random (``"random"``), or half
        of each.""",
        default="mixed",
    )
    n_init: int = param(Integer(low=1), "Number of starts.", default=10)

    _collapse = "a cluster vanished"
    _cure = "Ask for fewer clusters; weights, if given, count as copies of objects."

    @any_table
    @run_callbacks
    @one_blas_thread
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters, and their number by EBIC.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Categories and numbers; None or NaN where an entry is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        """
        self.check_parameters()
        table = self._check_table(X, reset=True)
        weight = _base.check_weight(self, sample_weight, len(table))
        weight = np.ones(len(table)) if weight is None else weight
        names, rng = getattr(self, "feature_names_in_", None), check_random_state(self.random_state)
        coding, codes = read_coding(table, self.numbers, weight, names, type(self).__name__)
        problem = self._pose(coding, codes, coding.numbers(table, type(self).__name__), weight, rng)
        found = self._search(self._numbers(len(table)), self._fit_numbers(problem, rng))
        posterior = self._settle(self._choose(found), problem)
        self._publish(X, spread_over_sets(posterior, self.focal_sets_))
        return self

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        return _base.check_categories(self, X, reset=reset)

    def _pose(
        self, coding: Coding, codes: np.ndarray, numbers: np.ndarray, weight: np.ndarray, rng: np.random.RandomState
    ) -> _Problem:
        """The rows, and some of these that stand for all."""
        steps = resolution(numbers, weight)
        rows = few = Rows.of(coding, codes, numbers, steps, weight)
        if len(codes) > LOOK_ROWS:
            order, share = representative_rows(np.hstack([codes, np.nan_to_num(numbers)]), weight, rng)
            step = -(-len(order) // LOOK_ROWS)
            few = rows.take(order[::step], share[::step] * weight.sum() / share[::step].sum())
        return _Problem(coding, codes, rows, few, steps)

    def _fit_numbers(self, problem: _Problem, rng: np.random.RandomState) -> Callable[[int], list[Candidate]]:
        """A fit for each number of clusters, until some have brought nothing better."""
        highest, waited = -np.inf, 0

        def fit(n_clusters: int) -> list[Candidate]:
            nonlocal highest, waited
            if waited >= PATIENCE:
                return []
            found = self._fit_number(problem, rng, n_clusters)
            better = found.criteria["ebic"] > highest and not self._find_flaw(found)
            highest, waited = (found.criteria["ebic"], 0) if better else (highest, waited + 1)
            return [found]

        return fit

    def _fit_number(self, problem: _Problem, rng: np.random.RandomState, n_clusters: int) -> Candidate:
        """EM from every start to the rows that tell them apart, and from the best of these to all rows."""
        columns, total = problem.coding.columns, float(problem.rows.weight.sum())
        prior = Prior(float(self.alpha), 1 / n_clusters**2, problem.blur)

        def step(rows: Rows, state: Profiles) -> tuple[float, Profiles]:
            posterior, log_density = posteriors(log_joint(rows, state, prior.blur))
            cost = -(float(rows.weight @ log_density) + prior.log_density(state)) / total
            return cost, profiles_of(posterior, rows, columns, prior)

        def climb(rows: Rows, start: Profiles, watch: Watch | None = None) -> Run:
            return descend(partial(step, rows), start, max_iter=self.max_iter, tol=self.tol, watch=watch)

        starts = (
            profiles_of(nearness(problem.few, *center), problem.few, columns, prior)
            for center in centers_among(
                problem.coding, problem.codes, problem.rows.numbers, problem.rows.weight, n_clusters,
                rule=self.init, n_starts=self.n_init, rng=rng,
            )
        )  # fmt: skip
        who = type(self).__name__
        runs = all_runs(partial(climb, problem.few), starts, name=who, n_starts=self.n_init, verbose=self.verbose)
        best = min(runs, key=lambda run: run.objective)
        interrupted = runs[-1].interrupted
        if problem.few is not problem.rows and not interrupted:
            best = climb(problem.rows, best.state)
            runs, interrupted = [best], best.interrupted
        log_density = posteriors(log_joint(problem.rows, best.state, prior.blur))[1]
        log_likelihood = float(problem.rows.weight @ (log_density - log_units(problem.coding, problem.rows)))
        n_numbers = int(np.count_nonzero(problem.blur))
        n_free = columns.n_parameters(n_clusters) + 2 * n_clusters * n_numbers
        return Candidate(
            focal_sets=FocalSets(n_clusters, "singletons", empty=False),
            best=replace(best, trace=total * best.trace),
            runs=[replace(run, trace=total * run.trace) for run in runs],
            log_likelihood=log_likelihood,
            n_parameters=n_free,
            n_objects=total,
            criteria={"ebic": ebic(log_likelihood, n_free, total)},
            collapsed=bool(best.state.weights.min() * total < SMALLEST_SIZE),
            interrupted=interrupted,
        )

    @staticmethod
    def _find_flaw(found: Candidate) -> str:
        """Why clusters are no groups, if they are not."""
        smallest = found.best.state.weights.min() * found.n_objects
        tiny = found.n_clusters > 1 and smallest < SMALLEST_GROUP
        return f"a cluster of fewer than {SMALLEST_GROUP} objects" if tiny else ""

    def _choose(self, found: list[Candidate]) -> Candidate:
        """The best whose clusters are groups, or the best of all if none are."""
        flaws = [self._find_flaw(one) for one in found]
        best = self._publish_choice([one for one, flaw in zip(found, flaws) if not flaw] or found)
        rows = [one.row(self._collapse) for one in found]
        self.selection_ = pd.DataFrame(
            [{**row, "note": "; ".join(filter(None, [row["note"], flaw]))} for row, flaw in zip(rows, flaws)]
        )
        self._warn_at_an_end(best.n_clusters, found[-1].n_clusters)
        return best

    def _settle(self, best: Candidate, problem: _Problem) -> np.ndarray:
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
        self.variances_ = self._profiles.variances * coding.scale**2
        self.probabilities_ = coding.columns.split(self._profiles.probabilities) if coding.categories else []
        self.categories_ = [np.empty(0)] * len(coding.numeric)
        for column, known in zip(np.flatnonzero(~coding.numeric), coding.categories):
            self.categories_[column] = known
        return posterior

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
