"""Latent classes: a mixture of products of categorical distributions, for tables of categories."""

from __future__ import annotations

import math
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Integer, Number, fitted, param, random_numbers
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.mixtures._base import CLUSTER_RANGE, Candidate, ClassMixture, certainty_of, information_criteria
from evidentia.mixtures.class_em import (
    NOTHING,
    Batch,
    ClassParameters,
    distinct_rows,
    evaluate,
    fit_batch,
    m_step,
)
from evidentia.mixtures.class_rows import AllCodes, Encoder, find_categories, survey_rows
from evidentia.mixtures.finalists import as_first_look, finish_best
from evidentia.rows.categories import UNKNOWN, Columns, categories_of, encode
from evidentia.rows.source import ArrayRows, RowSource, TransformedRows
from evidentia.rows.strange import warn_of_unknown
from evidentia.solvers.descent import Run
from evidentia.solvers.starts import kmeans_starts, random_starts, representatives


class LatentClassReplicates:
    """A latent class mixture fitted to many weightings of one table.

    Attributes
    ----------
    valid : ndarray of shape (n_replicates,), dtype=bool
        False where a class vanished.
    """

    def __init__(self, mixture: LatentClassMixture, batch: Batch):
        self.valid = ~batch.degenerate
        self._mixture = mixture
        self._parameters = batch.parameters.take(self.valid)

    def posteriors(self, X: Any) -> np.ndarray:
        """Posterior probabilities under the valid replicates, shape (n_clusters, n_samples, n_valid)."""
        table = self._mixture._check_table(X, reset=False)
        return evaluate(self._mixture._columns, self._mixture._encode(table), self._parameters)[0]


class _DistinctRows(NamedTuple):
    """The different rows that count, and how often each is there."""

    columns: Columns
    rows: np.ndarray
    weight: np.ndarray


def single_mixture(evaluated: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities (n, c) and log probabilities (n,) of the only mixture."""
    posterior, log_probability = evaluated
    return posterior[:, :, 0].T, log_probability[:, 0]


NOT_CATEGORIES = (
    "check_clustering",
    "check_positive_only_tag_during_fit",
    "check_sample_weight_equivalence_on_dense_data",
)


class LatentClassMixture(ClassMixture):
    r"""Latent class model: a mixture for tables of categories [1]_, [2]_.

    Within a class the columns are independent, each with its own probabilities of its categories:

    .. math:: p(x) = \sum_k \pi_k \prod_{j \text{ observed}} \theta_{k j x_j}

    Attributes
    ----------
    weights_ : ndarray of shape (n_clusters,)
        Mixing probabilities. Classes are numbered from the largest to the smallest.
    probabilities_ : list of ndarray of shape (n_clusters, n_categories)
        For each column, the probabilities of its categories in each class.
    categories_ : list of ndarray
        For each column its categories, sorted. Rows of weight zero name categories too.
    criterion_ : float
        What is maximized: the log-likelihood plus ``alpha`` times the sum of the logarithms of all probabilities.
    log_likelihood_ : float
        The log-likelihood alone, of which ``ebic_`` and the other criteria are made.

    Notes
    -----
    A column may hold text, a pandas category, whole numbers or booleans. None and NaN are missing values: they are left
    out of the likelihood, which is right when what is missing does not depend on its value; otherwise
    make "missing" a category of its own. Results do not depend on the order of the rows; weights count as copies.

    Equal rows are counted and fitted once, so that a table of any length with at most 50,000 different rows takes one
    pass. Of more different rows, as many are fitted with every number of classes, and the best number then to all
    rows, with up to two others that may be better; ``selection_`` calls the rest first looks. Rows that are not in
    memory hold their categories as whole numbers, at most 10,000 different ones in a column.

    Maximum likelihood (``alpha=0``) is too sure of itself in small tables, and much prior knowledge is wrong. In 80
    simulated tables (100 or 150 rows, 8 or 10 columns of three categories, 2 or 3 classes) the 90 % bootstrap intervals
    for the probability that two objects share a class covered it in this share of the pairs:

    ======================  ====  ====  ====  ====  ====
    alpha                      0  0.01   0.1   0.5     1
    ======================  ====  ====  ====  ====  ====
    classes that overlap    0.75  0.82  0.86  0.89  0.83
    classes well apart      0.30  0.48  0.69  0.47  0.28
    ======================  ====  ====  ====  ====  ====

    Those that miss in the second line belong to nearly certain pairs: nine in ten miss by less than 0.003.

    References
    ----------
    .. [1] P. F. Lazarsfeld, N. W. Henry. Latent Structure Analysis. Houghton Mifflin, 1968.
    .. [2] L. A. Goodman. Exploratory latent structure analysis using both identifiable and unidentifiable models.
       Biometrika 61:215-231, 1974.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({
    ...     "color": ["red"] * 6 + ["blue"] * 4,
    ...     "shape": ["round"] * 5 + ["flat"] + ["flat"] * 4,
    ...     "taste": ["sweet"] * 6 + ["sour", "sour", None, "sour"],
    ... })
    >>> mixture = LatentClassMixture(2, random_state=0).fit(X)
    >>> mixture.labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    >>> mixture.categories_[1], mixture.probabilities_[1].round(1)
    (array(['flat', 'round'], dtype=object), array([[0.2, 0.8],
           [1. , 0. ]]))
    """

    method = Method(
        name="latent-class", title="mixture for tables of categories", papers=("Goodman, *Biometrika* 61, 1974",),
        guide="mixtures", reads=("categories",), takes=("weights", "missing values", "rows beyond memory"),
        number=("given", "searched"), chosen_for=("categories",), criterion="maximized", quick={"n_init": 2},
        exceptions=dict.fromkeys(NOT_CATEGORIES, "it hands measurements, which are not categories, to every estimator"),
        grows="*n p c*", memory="*n c*", doubt="probabilities", limit="columns that repeat each other count twice",
    )  # fmt: skip

    cluster_range: Any = param(
        CLUSTER_RANGE,
        """Smallest and largest number of classes that ``"auto"`` tries. It leaves out numbers that the table cannot
        tell apart: more classes than different rows, or more parameters than there are kinds of rows to count.""",
        default=(1, 6),
    )
    n_init: int = param(
        Integer(low=1),
        "Number of starts: by turns from a k-means solution of the one-hot coding and from rows drawn at random.",
        default=10,
    )
    alpha: float = param(
        Number(low=0),
        """Pseudo-count: as many objects are added to each category in each class, so that no probability becomes 0 and
        one odd entry cannot exclude a class. 0 gives plain maximum likelihood; what it excludes is then excluded for
        good, by a probability of 1e-200.""",
        default=0.1,
    )
    handle_unknown: str = param(
        Choice("error", "missing"),
        "What becomes of a category in new rows that was not there in ``fit``: an error, or it counts as missing.",
        default="error",
    )

    _collapse = "a class vanished"
    _cure = "Ask for fewer classes; weights, if given, count as copies of objects."

    _columns: Columns = fitted()
    _parameters: ClassParameters = fitted()

    def _fit(self, data: Data[Any]) -> np.ndarray | None:
        rows, name = data.rows, type(self).__name__
        if isinstance(rows, ArrayRows):
            entries = enumerate(rows.table.T)
            categories = [categories_of(values, self._column_name(column), name) for column, values in entries]
            coded: RowSource = ArrayRows(encode(rows.table, categories), rows.weight)
        else:
            categories = find_categories(rows, name)
            coded = TransformedRows(rows, Encoder(categories))
        columns = Columns.of(categories)
        best = self._fit_rows(coded, columns, data.rng)
        self.categories_, self._columns = categories, columns
        self._publish_model(best)
        if not isinstance(coded, ArrayRows):
            return None
        return single_mixture(evaluate(columns, coded.table, self._parameters))[0]

    def _fit_rows(self, coded: RowSource, columns: Columns, rng: np.random.RandomState) -> Candidate:
        """Fit every number of classes to the different rows, or to a sample of them, and then the best to all."""
        table = survey_rows(coded)
        problem = _DistinctRows(columns, table.rows, table.weight)
        numbers = self._distinct_numbers(columns, len(table.rows))
        found = self._search(numbers, partial(self._fit_number, problem, rng))
        if table.complete:
            return self._publish_choice(found)
        looks = [as_first_look(look, table.weight) for look in found]
        finished, found = finish_best(
            looks,
            AllCodes(coded, columns, table.total, alpha=self.alpha, tol=self.tol, max_iter=self.max_iter).finish,
            lambda look: single_mixture(evaluate(columns, table.rows, look.best.state)),
            table.weight,
            criterion=self.select_by,
            who=type(self).__name__,
        )
        best = self._publish_choice(finished)
        self.selection_ = pd.DataFrame([one.row(self._collapse) for one in found])
        return best

    def _distinct_numbers(self, columns: Columns, n_distinct: int) -> list[int]:
        """Numbers of classes to try, of those that the table can tell apart."""
        low = self.cluster_range[0] if isinstance(self.n_clusters, str) else self.n_clusters
        if low > n_distinct:
            raise ValueError(
                f"{type(self).__name__} was asked for {low} classes but X has only {n_distinct} different rows. "
                "Ask for fewer classes."
            )
        kinds = math.prod(columns.sizes.tolist())
        numbers = [number for number in self._numbers(n_distinct) if columns.n_parameters(number) < kinds]
        if not numbers:
            warn_user(
                f"{type(self).__name__} with {low} classes has {columns.n_parameters(low)} parameters, but "
                f"columns of {', '.join(map(str, columns.sizes))} categories make only {kinds} kinds of rows, so "
                "many solutions fit equally well. Ask for fewer classes, or add columns.",
                UserWarning,
            )
        return numbers or [int(low)]

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        return _checks.check_categories(self, X, reset=reset)

    def _column_name(self, column: int) -> str:
        names = self._fitted_columns()
        return str(column) if names is None else repr(str(names[column]))

    def _warn_of_strange(self, new: np.ndarray) -> None:
        if self.handle_unknown == "missing":
            warn_of_unknown(encode(new, self.categories_) == UNKNOWN, new, self._column_names(), type(self).__name__)

    def _encode(self, table: np.ndarray) -> np.ndarray:
        """Codes of checked rows; what becomes of unknown categories is decided here."""
        codes = encode(table, self.categories_)
        if self.handle_unknown == "error" and (unknown := codes == UNKNOWN).any():
            row, column = np.argwhere(unknown)[0]
            raise ValueError(
                f"X holds {unknown.sum()} entries of categories that were not there in fit (first: row {row}, column "
                f"{self._column_name(column)}: {table[row, column]!r}). Correct them, or take "
                "handle_unknown='missing' to leave them out."
            )
        return codes

    def _starts(self, problem: _DistinctRows, n_clusters: int, rng: np.random.RandomState) -> ClassParameters:
        """Classes halfway between the whole table and centers of k-means, or rows drawn at random."""
        columns = problem.columns
        codes, weight = representatives(problem.rows.astype(float), problem.weight, rng)
        coded = columns.one_hot(codes.astype(int))
        overall = m_step(columns, weight.sum(keepdims=True)[None], (weight @ coded)[None, None], NOTHING)
        observed = np.repeat(codes >= 0, columns.sizes, axis=1)
        coded = np.where(observed, coded, overall.probabilities[0])
        by_means, by_rows = self.n_init - self.n_init // 2, self.n_init // 2
        centers = chain(
            kmeans_starts(coded, n_clusters, by_means, rng, weight),
            random_starts(coded, n_clusters, by_rows, rng, weight),
        )
        probabilities = 0.5 * np.maximum(np.array(list(centers)), 0) + 0.5 * overall.probabilities
        return ClassParameters(np.full((self.n_init, n_clusters), 1 / n_clusters), probabilities)

    def _run(self, problem: _DistinctRows, start: ClassParameters) -> Batch:
        alpha = max(float(self.alpha), NOTHING)
        return fit_batch(*problem, start, alpha=alpha, tol=self.tol, max_iter=self.max_iter)

    def _fit_number(self, problem: _DistinctRows, rng: np.random.RandomState, n_clusters: int) -> list[Candidate]:
        """EM from every start; the best in which no class vanished."""
        columns, rows, weight = problem
        found = self._run(problem._replace(weight=weight[None]), self._starts(problem, n_clusters, rng))
        runs = [
            Run(found.parameters.take([at]), -found.objective[: n_iter + 1, at], bool(found.converged[at]))
            for at, n_iter in enumerate(found.n_iter)
        ]
        at = int(np.lexsort([np.array([-run.objective for run in runs]), ~found.degenerate])[-1])
        log_likelihood, n_free = float(found.log_likelihood[at]), columns.n_parameters(n_clusters)
        posterior, n_objects = single_mixture(evaluate(columns, rows, runs[at].state))[0], float(weight.sum())
        return [
            Candidate(
                focal_sets=FocalSets(n_clusters, "singletons", empty=False),
                best=runs[at],
                runs=runs,
                log_likelihood=log_likelihood,
                n_parameters=n_free,
                n_objects=n_objects,
                criteria=information_criteria(log_likelihood, n_free, certainty_of(posterior, weight), n_objects),
                collapsed=bool(found.degenerate[at]),
            )
        ]

    def _publish_model(self, best: Candidate) -> None:
        weights, probabilities = (part[0] for part in best.best.state)
        order = _base.largest_first(weights, probabilities @ np.arange(self._columns.width))
        self._parameters = ClassParameters(weights[None, order], probabilities[None, order])
        self.weights_, self.probabilities_ = weights[order], self._columns.split(probabilities[order])
        self.focal_sets_, self.log_likelihood_ = best.focal_sets, best.log_likelihood

    def fit_replicates(self, X: Any, weights: Any) -> LatentClassReplicates:
        """Fit the mixture anew to many weightings of a table, all at once, starting from this one.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        weights : array-like of shape (n_replicates, n_samples)
            How often each row is drawn in each replicate.

        Returns
        -------
        LatentClassReplicates
            Replicates in which a class vanished are not ``valid``.
        """
        check_is_fitted(self)
        codes = self._encode(self._check_table(X, reset=False))
        weights = np.asarray(weights, dtype=float)
        if weights.ndim != 2 or weights.shape[1] != len(codes):
            raise ValueError(
                f"'weights' must have a line for each replicate and a column for each of {len(codes)} rows. "
                f"Got an array of shape {weights.shape}."
            )
        rows, which = distinct_rows(codes)
        merge = csr_array((np.ones(len(codes)), (np.arange(len(codes)), which)), shape=(len(codes), len(rows)))
        return LatentClassReplicates(
            self, self._run(_DistinctRows(self._columns, rows, weights @ merge), self._parameters)
        )

    def _evaluate(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return single_mixture(evaluate(self._columns, self._encode(table), self._parameters))

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw objects from the fitted mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Categories as they were in ``fit``, nothing missing.
        component : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rng = random_numbers(random_state, f"{type(self).__name__}.sample")
        component = rng.choice(self.n_clusters_, size=n_samples, p=self.weights_ / self.weights_.sum())
        drawn = []
        for categories, probabilities in zip(self.categories_, self.probabilities_):
            bounds = np.cumsum(probabilities, axis=1)[:, :-1]  # the last bound is 1 but for rounding
            drawn.append(categories[(rng.uniform(size=(n_samples, 1)) >= bounds[component]).sum(axis=1)])
        return np.column_stack(drawn), component

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
