r"""Latent classes: a mixture of products of categorical distributions, for tables of categories.

With the one-hot coding :math:`z` of a row a log probability is linear,
:math:`\log \pi_k p(x \mid k) = \log \pi_k + z^T \log \theta_k`, so the E-step of all mixtures at once (starts, or
replicates of a bootstrap) is one matrix product and the counts that the M-step needs are another. A missing entry is a
run of zeros in :math:`z`: it takes no part in either. Equal rows are merged and their weights added, after which
neither the order of the rows nor the writing of weights as copies can matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from evidentia import _base
from evidentia._parameters import Choice, Integer, Number, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.mixtures._base import CLUSTER_RANGE, Candidate, ClassMixture, information_criteria
from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.descent import Run
from evidentia.solvers.starts import kmeans_starts, random_starts, representatives
from evidentia.solvers.threads import one_blas_thread

SMALLEST_SIZE = 0.5  # objects: a class that holds less has vanished
NOTHING = 1e-200  # stands for a pseudo-count of zero, so that every logarithm is finite
UNKNOWN = -2  # code of a category that was not there when the mixture was fitted
MISSING = -1


class Columns(NamedTuple):
    """Where the categories of each column lie when all columns stand side by side."""

    sizes: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, categories: list[np.ndarray]) -> Columns:
        sizes = np.array([len(found) for found in categories])
        return cls(sizes, np.cumsum(sizes) - sizes)

    @property
    def width(self) -> int:
        return int(self.sizes.sum())

    def one_hot(self, codes: np.ndarray) -> np.ndarray:
        """Rows of zeros and ones, shape (n, width); an entry that is missing or unknown gives zeros."""
        owner = np.repeat(np.arange(len(self.sizes)), self.sizes)
        category = np.arange(self.width) - self.offsets[owner]
        return (codes[:, owner] == category.astype(codes.dtype)).astype(float)

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        """One array a column, from an array whose last axis runs over all categories."""
        return np.split(flat, self.offsets[1:], axis=-1)

    def n_parameters(self, n_clusters: int) -> int:
        """Free parameters: mixing probabilities, and the probabilities of the categories in each class."""
        return n_clusters - 1 + n_clusters * (self.width - len(self.sizes))


class ClassParameters(NamedTuple):
    """Mixtures along the leading axis: mixing probabilities (m, c), probabilities of all categories (m, c, width)."""

    weights: np.ndarray
    probabilities: np.ndarray

    def take(self, which: Any) -> ClassParameters:
        """Some of the mixtures."""
        return ClassParameters(self.weights[which], self.probabilities[which])


class Batch(NamedTuple):
    """What :func:`fit_batch` found for each mixture; ``objective[t]`` is that after t iterations, NaN past the last."""

    parameters: ClassParameters
    log_likelihood: np.ndarray
    objective: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    degenerate: np.ndarray


def distinct_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each different row once, in lexical order, and the number of the one that each row equals."""
    order = np.lexsort(codes.T)
    ordered = codes[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    number = np.empty(len(codes), dtype=int)
    number[order] = np.cumsum(new) - 1
    return ordered[new], number


def encode(table: np.ndarray, categories: list[np.ndarray]) -> np.ndarray:
    """Number of the category of each entry, ``MISSING`` or ``UNKNOWN``."""
    codes = np.empty(table.shape, dtype=np.int32)
    for column, known in enumerate(categories):
        entries = table[:, column]
        place = pd.Index(known).get_indexer(pd.Index(entries))
        codes[:, column] = np.where(place >= 0, place, np.where(pd.isna(entries), MISSING, UNKNOWN))
    return codes


def _tiles(
    columns: Columns, codes: np.ndarray, parameters: ClassParameters
) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
    """``(rows, one-hot coding, posteriors (m, c, rows), log probabilities (m, rows))`` for blocks of rows."""
    m, c, width = parameters.probabilities.shape
    log_weights = np.log(parameters.weights)[:, :, None]
    theta = np.log(parameters.probabilities).reshape(m * c, width)
    for block in row_blocks(len(codes), max(m * c, width)):
        coded = columns.one_hot(codes[block])
        joint = (theta @ coded.T).reshape(m, c, -1) + log_weights
        top = joint.max(axis=1)
        joint -= top[:, None]
        np.exp(joint, out=joint)
        total = joint.sum(axis=1)
        joint /= total[:, None]
        yield block, coded, joint, top + np.log(total)


def evaluate(columns: Columns, codes: np.ndarray, parameters: ClassParameters) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities of the classes, shape (c, n, m), and log probabilities of the rows, shape (n, m)."""
    m, c = parameters.weights.shape
    posterior, log_probability = np.empty((c, len(codes), m)), np.empty((len(codes), m))
    for block, _, found, log_total in _tiles(columns, codes, parameters):
        posterior[:, block] = found.transpose(1, 2, 0)
        log_probability[block] = log_total.T
    return posterior, log_probability


def e_step(
    columns: Columns, codes: np.ndarray, weight: np.ndarray, parameters: ClassParameters
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Expected sizes of the classes (m, c), counts of the categories in them (m, c, width), log-likelihoods (m,).

    ``weight`` has a line for each mixture, or one for all.
    """
    m, c, width = parameters.probabilities.shape
    size, counts, log_likelihood = np.zeros((m, c)), np.zeros((m * c, width)), np.zeros(m)
    for block, coded, posterior, log_probability in _tiles(columns, codes, parameters):
        share = weight[:, block]
        log_likelihood += (share * log_probability).sum(axis=1)
        posterior *= share[:, None]
        size += posterior.sum(axis=2)
        counts += posterior.reshape(m * c, -1) @ coded
    return size, counts.reshape(m, c, width), log_likelihood


def m_step(columns: Columns, size: np.ndarray, counts: np.ndarray, alpha: float) -> ClassParameters:
    r"""Parameters of highest expected likelihood, with ``alpha`` more objects in each category of each class.

    .. math:: \pi_k = \frac{N_k}{N}, \qquad \theta_{kjv} = \frac{N_{kjv} + \alpha}{\sum_u (N_{kju} + \alpha)}
    """
    smoothed = counts + alpha
    total = np.add.reduceat(smoothed, columns.offsets, axis=2)
    return ClassParameters(size / size.sum(axis=1, keepdims=True), smoothed / np.repeat(total, columns.sizes, axis=2))


def fit_batch(
    columns: Columns,
    codes: np.ndarray,
    weight: np.ndarray,
    start: ClassParameters,
    *,
    alpha: float,
    tol: float,
    max_iter: int,
) -> Batch:
    r"""EM from several starts, or for several weightings of the rows, all at once.

    Parameters
    ----------
    columns : Columns
    codes : ndarray of shape (n, d)
        Number of the category of each entry in its column, negative where it is missing.
    weight : ndarray of shape (m, n) or (1, n)
        Weights count as copies. One line is for several starts on the same rows.
    start : ClassParameters
        m mixtures, or one for all.
    alpha : float
        Pseudo-count: the objective is :math:`\log L + \alpha \sum_{kjv} \log\theta_{kjv}`, which never falls.
    tol : float
        A mixture has converged, and leaves the batch, when the objective rises by no more than this per object.
    max_iter : int

    Returns
    -------
    Batch
        In the order given. ``degenerate``: a class came to hold less than half an object.
    """
    m = max(len(weight), len(start.weights))
    kept = ClassParameters(*(np.array(np.broadcast_to(part, (m, *part.shape[1:]))) for part in start))
    found = Batch(kept, np.empty(m), np.empty((0, m)), np.zeros(m, int), np.zeros(m, bool), np.zeros(m, bool))
    active, state, last, trace = np.arange(m), kept, np.full(m, -np.inf), []
    for iteration in range(max_iter + 1):
        size, counts, log_likelihood = e_step(columns, codes, weight, state)
        objective = log_likelihood + alpha * np.log(state.probabilities).sum(axis=(1, 2))
        trace.append(np.full(m, np.nan))
        trace[-1][active] = objective
        degenerate = size.min(axis=1) < SMALLEST_SIZE
        converged = (objective - last <= tol * size.sum(axis=1)) & ~degenerate
        finished = converged | degenerate | (iteration == max_iter)
        done, going = active[finished], ~finished
        for part, value in zip(kept, state):
            part[done] = value[finished]
        found.log_likelihood[done], found.n_iter[done] = log_likelihood[finished], iteration
        found.converged[done], found.degenerate[done] = converged[finished], degenerate[finished]
        if not going.any():
            break
        active, last = active[going], objective[going]
        weight = weight[going] if len(weight) > 1 else weight
        state = m_step(columns, size[going], counts[going], alpha)
    return found._replace(objective=np.array(trace))


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


class _Problem(NamedTuple):
    """The different rows that count, and how often each is there."""

    columns: Columns
    rows: np.ndarray
    weight: np.ndarray


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
        guide="mixtures", reads=("categories",), takes=("weights", "missing values"), number=("given", "searched"),
        criterion="maximized", quick={"n_init": 2},
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

    @one_blas_thread
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the classes, and their number by the criterion.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Categories as text, whole numbers, booleans or a pandas category; None or NaN where an entry is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        """
        self.check_parameters()
        table = self._check_table(X, reset=True)
        weight = _base.check_weight(self, sample_weight, len(table))
        weight = np.ones(len(table)) if weight is None else weight
        categories = [self._find_categories(table, column) for column in range(table.shape[1])]
        codes, columns = encode(table, categories), Columns.of(categories)
        rows, which = distinct_rows(codes[weight > 0])
        problem = _Problem(columns, rows, np.bincount(which, weights=weight[weight > 0]))
        numbers = self._distinct_numbers(columns, len(rows))
        rng = check_random_state(self.random_state)
        found = self._search(numbers, partial(self._fit_number, problem, rng))
        self.categories_, self._columns = categories, columns
        self._publish_model(self._publish_choice(found))
        self._publish(X, evaluate(columns, codes, self._parameters)[0][:, :, 0].T)
        return self

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
        return _base.check_categories(self, X, reset=reset)

    def _column_name(self, column: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(column) if names is None else repr(str(names[column]))

    def _find_categories(self, table: np.ndarray, column: int) -> np.ndarray:
        entries = table[:, column]
        try:
            values = pd.unique(entries[~pd.isna(entries)])
        except TypeError as err:
            raise TypeError(
                f"Column {self._column_name(column)} of X holds entries that cannot be categories ({err}). Each must "
                "be a text or a whole number."
            ) from err
        if not len(values):
            raise ValueError(
                f"Column {self._column_name(column)} of X holds nothing but missing values. Drop it before "
                f"{type(self).__name__}."
            )
        measured = (value for value in values if isinstance(value, (float, np.floating)) and value != value // 1)
        if (example := next(measured, None)) is not None:
            raise ValueError(
                f"Column {self._column_name(column)} of X holds numbers such as {example:g}, which are not categories. "
                f"Cut it into classes first (pandas.cut), or turn it into text if its {len(values)} values are names."
            )
        values = pd.Series(values).infer_objects().to_numpy()
        try:
            return np.sort(values)
        except TypeError:  # text beside numbers has no order of its own
            return np.array(sorted(values, key=lambda value: (type(value).__name__, str(value))), dtype=object)

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

    def _starts(self, problem: _Problem, n_clusters: int, rng: np.random.RandomState) -> ClassParameters:
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

    def _run(self, problem: _Problem, start: ClassParameters) -> Batch:
        alpha = max(float(self.alpha), NOTHING)
        return fit_batch(*problem, start, alpha=alpha, tol=self.tol, max_iter=self.max_iter)

    def _fit_number(self, problem: _Problem, rng: np.random.RandomState, n_clusters: int) -> list[Candidate]:
        """EM from every start; the best in which no class vanished."""
        columns, rows, weight = problem
        found = self._run(problem._replace(weight=weight[None]), self._starts(problem, n_clusters, rng))
        runs = [
            Run(found.parameters.take([at]), -found.objective[: n_iter + 1, at], bool(found.converged[at]))
            for at, n_iter in enumerate(found.n_iter)
        ]
        at = int(np.lexsort([np.array([-run.objective for run in runs]), ~found.degenerate])[-1])
        log_likelihood, n_free = float(found.log_likelihood[at]), columns.n_parameters(n_clusters)
        posterior = evaluate(columns, rows, runs[at].state)[0][:, :, 0].T
        return [
            Candidate(
                focal_sets=FocalSets(n_clusters, "singletons", empty=False),
                best=runs[at],
                runs=runs,
                log_likelihood=log_likelihood,
                n_parameters=n_free,
                n_objects=float(weight.sum()),
                criteria=information_criteria(log_likelihood, n_free, posterior, weight),
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
        return LatentClassReplicates(self, self._run(_Problem(self._columns, rows, weights @ merge), self._parameters))

    def _evaluate(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        posterior, log_probability = evaluate(self._columns, self._encode(table), self._parameters)
        return posterior[:, :, 0].T, log_probability[:, 0]

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw objects from the fitted mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Categories as they were in ``fit``, nothing missing.
        component : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
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
