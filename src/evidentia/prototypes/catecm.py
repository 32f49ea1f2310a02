"""Evidential c-means for categories (Djiberou Mahamadou et al., 2019), and for categories beside numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Number, Predicate, fitted, param
from evidentia.belief import FocalSets
from evidentia.belief.transforms import pignistic
from evidentia.methods import Method
from evidentia.prototypes._base import value_at_end
from evidentia.prototypes._kernel import Criterion, renumber_sets, update_masses
from evidentia.prototypes._medoid_base import FAMILIES
from evidentia.prototypes.ecm import LEAST as FEWEST
from evidentia.prototypes.ecm import first_sets
from evidentia.rows.categories import Coding, Columns, MixedRows, category_shares, centers_among, read_coding
from evidentia.solvers.barycentric import solve_centers
from evidentia.solvers.overlap import is_automatic, shared_sets
from evidentia.solvers.starts import START_RULES

FORMS = ("linear", "published")
ODDS = 4.0  # of two clusters, below which an object is ambiguous between them
PUBLISHED = 1.1  # alpha of the authors' program
ALL_FAMILIES = ("auto", *FAMILIES)
LEAST = 1e-12  # of the number of columns: the cost of an object that is its own prototype
EQUAL = 1e-12  # of a count: what sums of the same numbers may differ by
QUANTILE = 1.645  # standard deviations above the mean, where 95 % of a normal distribution are below


class CategoryPrototypes(NamedTuple):
    """Weights of the categories in each cluster, (c, width), and means of the numbers without units, (c, q)."""

    weights: np.ndarray
    means: np.ndarray


class CategorySums(NamedTuple):
    """J of some rows at its best masses, and what the next prototypes need of them."""

    objective: float
    counts: np.ndarray  # how much each category counts in each cluster, (c, width)
    there: np.ndarray  # weight of each set in each column of numbers, (n_focal, q)
    pull: np.ndarray  # weighted sums of numbers, (n_focal, q)

    def __add__(self, other: CategorySums) -> CategorySums:  # type: ignore[override]
        return CategorySums(
            self.objective + other.objective,
            self.counts + other.counts,
            self.there + other.there,
            self.pull + other.pull,
        )


@dataclass(frozen=True)
class CategoryProblem:
    """The fixed part of a descent: how rows are read, the criterion, its form, and blocks of rows with weights."""

    coding: Coding
    criterion: Criterion
    form: str
    blocks: tuple[tuple[MixedRows, np.ndarray], ...] = ()


def dissimilarities(rows: MixedRows, prototypes: CategoryPrototypes, average: np.ndarray) -> np.ndarray:
    r"""Return the dissimilarity of rows to the sets of clusters, (n_focal, n): to the mean prototype of each set.

    .. math::
        d_{iA} = r_i \Big[ \sum_l (1 - \bar w_{Al}(x_{il})) + \sum_q (z_{iq} - \bar v_{Aq})^2 \Big]

    The first sum is the mean of those to the clusters; the second is not, by the spread of their means.
    """
    found = average @ (rows.base - (rows.hot @ prototypes.weights.T).T)
    if prototypes.means.size:
        means = average @ prototypes.means
        found += rows.square - 2 * means @ rows.pull.T + means**2 @ rows.there.T
    return found


def costs(rows: MixedRows, prototypes: CategoryPrototypes, problem: CategoryProblem) -> np.ndarray:
    r"""Return what multiplies :math:`m_{iA}^\beta` in J, (n_focal, n).

    :math:`|A|^\alpha d_{iA}`, and for the published form :math:`|A|^\alpha (d_{iA} / |A|)^2`.
    """
    criterion = problem.criterion
    cost, squared = dissimilarities(rows, prototypes, criterion.average), problem.form == "published"
    if squared:
        cost = np.square(cost / np.maximum(criterion.focal_sets.card, 1)[:, None])
    cost *= criterion.penalty[:, None]
    if criterion.rho is not None:
        cost[criterion.focal_sets.empty_index] = criterion.rho ** (2 if squared else 1)
    return np.maximum(cost, LEAST * len(problem.coding.numeric), out=cost)


def row_sums(
    rows: MixedRows, weight: np.ndarray, prototypes: CategoryPrototypes, problem: CategoryProblem
) -> CategorySums:
    """Return J of some rows and its sums."""
    criterion = problem.criterion
    cost = costs(rows, prototypes, problem)
    masses, least = update_masses(cost, criterion.beta)
    least *= weight
    powered = masses * (least / cost)  # m**beta, times the weight of the row
    if problem.form == "published":
        of_clusters = powered[criterion.focal_sets.singleton_index]
    else:
        of_clusters = (criterion.average * criterion.penalty[:, None]).T @ powered
    powered *= criterion.penalty[:, None]
    return CategorySums(float(least.sum()), (rows.hot.T @ of_clusters.T).T, powered @ rows.there, powered @ rows.pull)


def masses_of(rows: MixedRows, prototypes: CategoryPrototypes, problem: CategoryProblem) -> np.ndarray:
    """Return masses of some rows, (n, n_focal)."""
    return update_masses(costs(rows, prototypes, problem), problem.criterion.beta)[0].T


def best_weights(counts: np.ndarray, columns: Columns, previous: np.ndarray) -> np.ndarray:
    """Put all weight on the category that counts most in each column; what has no mass at all stays as it was.

    Of categories that count as much but for rounding errors the first is taken, whatever the order of the rows.

    Examples
    --------
    >>> columns = Columns.of([np.array(["a", "b"]), np.array(["x", "y", "z"])])
    >>> best_weights(np.array([[1.0, 3.0, 0.0, 0.0, 0.0]]), columns, np.array([[0.5, 0.5, 0.0, 1.0, 0.0]]))
    array([[0., 1., 0., 1., 0.]])
    """
    weights = previous.copy()
    clusters = np.arange(len(counts))
    for offset, size in zip(columns.offsets, columns.sizes):
        part = slice(offset, offset + size)
        top = (counts[:, part] >= (1 - EQUAL) * counts[:, part].max(axis=1, keepdims=True)).argmax(axis=1)
        held = counts[clusters, offset + top] > 0
        weights[held, part] = np.eye(size)[top[held]]
    return weights


def best_means(sums: CategorySums, average: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Return means for given masses, column by column: in each other rows may be missing."""
    found = np.empty_like(previous)
    for q in range(previous.shape[1]):
        column = slice(q, q + 1)
        found[:, column] = solve_centers(sums.there[:, q], sums.pull[:, column], average, previous[:, column])
    return found


def category_step(problem: CategoryProblem, prototypes: CategoryPrototypes) -> tuple[float, CategoryPrototypes]:
    """Return J of the prototypes, and better ones: masses, then weights and means, optimal in the linear form."""
    parts = (row_sums(rows, weight, prototypes, problem) for rows, weight in problem.blocks)
    sums = next(parts)
    for part in parts:
        sums = sums + part
    columns = problem.coding.columns
    return sums.objective, CategoryPrototypes(
        best_weights(sums.counts, columns, prototypes.weights),
        best_means(sums, problem.criterion.average, prototypes.means),
    )


def overlap_alpha(beta: float) -> float:
    r"""Return the alpha with which a pair holds most mass while the odds of its clusters are below four to one.

    With :math:`m_k \propto d_k^{-1/(\beta-1)}` these are the odds where :math:`d_2 / d_1 = 4^{\beta-1}`, and there
    :math:`2^\alpha (d_1 + d_2) / 2 = d_1`.

    Examples
    --------
    >>> print(f"{overlap_alpha(1.1):.3f} {overlap_alpha(2.0):.3f}")           # 2 ** -1.322 * (1 + 4) / 2 = 1
    -0.103 -1.322
    """
    return -float(np.log2((1 + ODDS ** (beta - 1)) / 2))


def overlapping(prototypes: CategoryPrototypes, problem: CategoryProblem) -> FocalSets:
    """Return the empty set, single clusters, and the sets of clusters that overlap, of a fit without larger sets."""
    family = problem.criterion.focal_sets
    masses = np.vstack([masses_of(rows, prototypes, problem) for rows, _ in problem.blocks])
    weight = np.concatenate([weight for _, weight in problem.blocks])
    inside = masses.argmax(axis=1) != family.empty_index
    likely = masses[np.ix_(inside, family.singleton_index)]
    if not weight[inside].any():
        return family
    return shared_sets(likely / likely.sum(axis=1, keepdims=True), weight[inside], least=FEWEST).with_empty()


def typical_mismatch(shares: np.ndarray, columns: Columns) -> float:
    """Return the mean share of the rows without the most frequent category of a column; 1 without such a column.

    That is what a column of categories adds to J, for each row, when there is one cluster. A column of numbers adds its
    variance: one.
    """
    if not columns.width:
        return 1.0
    missed = float((1 - np.maximum.reduceat(shares, columns.offsets)).mean())
    return missed if missed > 0 else 1.0


def far_apart(shares: np.ndarray, coding: Coding) -> float:
    """Return the 0.95-quantile of the dissimilarity of two rows, were their columns independent and many."""
    equal = np.add.reduceat(shares**2, coding.columns.offsets) if coding.columns.width else np.empty(0)
    n_numbers, share = len(coding.mean), coding.number_weight
    mean = (1 - equal).sum() + 2 * share * n_numbers
    variance = (equal * (1 - equal)).sum() + 8 * share**2 * n_numbers  # of a squared normal difference
    return float(mean + QUANTILE * np.sqrt(variance)) or 1.0  # of a table whose rows are all equal


class CatECM(_base.IterativeClusterer):
    r"""Evidential c-means for categories [1]_, alone or beside numbers.

    A cluster is a row: a category for each column, and a mean for each column of numbers. With
    :math:`w_{kl}(a)` the weight of category a of column l in cluster k,

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} d_{iA}
            + \rho\, m_i(\varnothing)^{\beta} \Big], \qquad
        d_{iA} = \sum_l \big(1 - \bar w_{Al}(x_{il})\big) + \gamma \sum_q \frac{(x_{iq} - \bar v_{Aq})^2}{s_q^2}

    where :math:`\bar w_A` and :math:`\bar v_A` are means over the clusters of A, :math:`s_q` is the standard deviation
    of a column of numbers, and :math:`\gamma` is ``number_weight``. Every step is a minimum: masses as in ECM, all
    weight on the category with the largest
    :math:`\sum_{A \ni k} |A|^{\alpha-1} \sum_{i: x_{il} = a} m_i(A)^{\beta}`, and means by a linear system. So J never
    rises.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_clusters, n_features)
        The row that stands for each cluster, categories and numbers as they are in X. Clusters are numbered from the
        largest to the smallest, unless ``init`` or a list of focal sets fixes them.
    categories_ : list of ndarray
        Categories of each column, sorted; empty for a column of numbers. Rows of weight zero name categories too.
    numeric_ : ndarray of shape (n_features,), dtype=bool
        Which columns were read as numbers.
    rho_ : float or None
        Dissimilarity to the empty set that was used; None without the empty set.
    number_weight_ : float
        How many mismatches a distance of one standard deviation counts for.

    Notes
    -----
    Categories may be text, pandas categories, whole numbers or booleans. A category that is seen only in new rows has
    weight zero in every cluster: it is a mismatch, not an error. None and NaN are missing: such a column is left out
    of the row, and the others count for more, so that rows with gaps are as far from prototypes as complete ones.
    A row that holds nothing else has the same mass on every set.

    The dissimilarity of a row to a set of clusters is, for categories, the mean of those to its clusters: never less
    than that to the nearest. So with ``alpha`` of zero and above no set holds more mass than one of its clusters.
    Automatic sets have an alpha below zero, with which an object goes to a pair while the odds of its two clusters are
    below four to one. Sets that take part in the search would draw their clusters together if alpha were as low, all of
    them to the most frequent categories when there is a set of many; so there it is 0.

    ``form="published"`` is what the program of its first author computes; the article [1]_ was not compared. It is
    :math:`|A|^{\alpha} (d_{iA} / |A|)^2` in place of :math:`|A|^{\alpha} d_{iA}`, :math:`\rho^2` in place of
    :math:`\rho`, and categories chosen by the masses of single clusters alone. That choice does not minimize J. A step
    that would raise it is taken back here and ends the start, often before it is at rest; the double division by
    :math:`|A|` moves much mass to sets; numbers have no place in it. The default form, each step of which minimizes J,
    is our guess of what was meant. Automatic sets, columns of numbers and missing categories are ours.

    An iteration costs two sparse products, n p c, and n f powers for f focal sets.

    References
    ----------
    .. [1] A. J. Djiberou Mahamadou, V. Antoine, G. J. Christie, S. Moreno. Evidential clustering for categorical data.
       IEEE International Conference on Fuzzy Systems, 2019.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({
    ...     "color": ["red"] * 6 + ["blue"] * 4,
    ...     "shape": ["round"] * 5 + ["flat"] + ["flat"] * 4,
    ...     "taste": ["sweet"] * 6 + ["sour", "sour", None, "sour"],
    ...     "grams": [150.0, 155.5, 160, 148, 151, 131, 110, 112, 105, 108],
    ... })
    >>> model = CatECM(2, random_state=0).fit(X)
    >>> model.labels_, model.numeric_
    (array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]), array([False, False, False,  True]))
    >>> model.prototypes_[:, :3]
    array([['red', 'round', 'sweet'],
           ['blue', 'flat', 'sour']], dtype=object)
    >>> model.predict(pd.DataFrame({"color": ["blue"], "shape": ["flat"], "taste": ["sour"], "grams": [111.0]}))
    array([1])
    """

    method = Method(
        name="catecm", title="evidential c-means for categories, alone or beside numbers",
        papers=("Djiberou Mahamadou et al., *FUZZ-IEEE*, 2019",), guide="categories", reads=("table", "categories"),
        takes=("weights", "missing values"), families=ALL_FAMILIES, empty_set=True, quick={"n_init": 3},
        grows="*n p c* + *n f*", memory="*n p* + *n f*", doubt="sets, outliers",
        limit="clusters differ in their most frequent categories, or they are one",
    )  # fmt: skip

    focal_sets: Any = param(
        _base.focal_families(*ALL_FAMILIES),
        """Sets of clusters that may hold mass; all named families have the empty set. ``"auto"`` fits single clusters
        and the empty set, then lays over them the sets of clusters that overlap: the clusters stay where they are, and
        masses are found anew. ``"pairs"`` is the family of the paper.""",
        default="auto",
    )
    form: str = param(
        Choice(*FORMS),
        '``"linear"``, whose steps are all exact, or ``"published"``, as the authors have programmed it (see below).',
        default="linear",
    )
    alpha: Any = param(
        Choice("auto") | Number(low=-100, high=100),
        """Penalty of larger sets: the larger, the fewer are ambiguous. ``"auto"`` is -0.1 for automatic sets (less
        with larger ``beta``), 0 for others, and 1.1 for the published form, which divides sets by their size twice.""",
        default="auto",
    )
    beta: float = param(
        _base.BETA, "Fuzzifier: near 1 each object has its mass on one set, large values spread it.", default=1.1
    )
    rho: Any = param(
        _base.RHO,
        """Dissimilarity of every object to the empty set, as a number of mismatches: the smaller, the more outliers.
        ``"auto"`` is the 0.95-quantile of the dissimilarities between rows, were their columns independent.""",
        default="auto",
    )
    numbers: Any = param(
        Choice("auto") | Predicate("list of columns"),
        """Columns that hold numbers, by name or place. ``"auto"``: those with a number that is not whole. All others
        hold categories.""",
        default="auto",
    )
    number_weight: Any = param(
        Choice("auto") | Number(above=0, high=1e6),
        """Mismatches that a distance of one standard deviation counts for. ``"auto"``: as many as make a column of
        numbers and the average column of categories weigh the same when there is one cluster.""",
        default="auto",
    )
    init: Any = param(
        Choice(*START_RULES) | Predicate("array of shape (n_clusters, n_features)"),
        """Start of the prototypes: half of the starts at k-means solutions of the one-hot coding (``"k-means"``) and
        half at random rows (``"random"``), or rows as in X, which make one start and keep its order of clusters.""",
        default="mixed",
    )

    _problem: CategoryProblem = fitted()
    _prototypes: CategoryPrototypes = fitted()

    def _fit(self, data: Data[np.ndarray]) -> np.ndarray:
        table, weight = data.rows, np.ones(len(data.rows)) if data.weight is None else data.weight
        _checks.check_enough_rows(self, len(table), self.n_clusters)
        coding, codes = self._read(table, weight)
        self._ranges = coding.ranges(table, type(self).__name__)
        shares = category_shares(codes, coding.columns, weight)
        coding = coding._replace(number_weight=self._weigh_numbers(coding, shares))
        problem = self._state_problem(coding, shares)
        _checks.refuse_masses(self, len(table), problem.criterion.focal_sets)
        numbers = coding.numbers(table, type(self).__name__)
        cut = coding.blocks(codes, numbers, len(problem.criterion.focal_sets))
        problem = replace(problem, blocks=tuple((rows, weight[block]) for block, rows in cut))
        starts = self._draw_starts(coding, codes, numbers, weight, data.rng)
        best, runs = self._best_descent(partial(category_step, problem), starts, len(starts))
        if is_automatic(self.focal_sets) and not runs[-1].interrupted:
            criterion = replace(problem.criterion, focal_sets=overlapping(best.state, problem))
            problem = replace(problem, criterion=criterion)
            best = value_at_end(best, category_step(problem, best.state)[0])
        self.rho_, self.number_weight_ = problem.criterion.rho, coding.number_weight
        self._publish_run(best, runs)
        self._store_solution(best.state, problem)
        _checks.warn_if_centers_coincide(self, np.hstack(self._prototypes), np.sqrt(len(coding.numeric)))
        return self._masses(table)

    def _state_problem(self, coding: Coding, shares: np.ndarray) -> CategoryProblem:
        """Return the criterion, as the parameters and the table have it."""
        focal_sets = first_sets(self.focal_sets, self.n_clusters, empty=True)
        if self.form == "published":
            _checks.check_single_clusters(
                self, focal_sets, "in its published form counts the masses of single clusters"
            )
        rho = None
        if focal_sets.empty_index is not None:
            rho = far_apart(shares, coding) if self.rho == "auto" else _checks.check_rho(self, len(coding.numeric))
        return CategoryProblem(coding, Criterion(focal_sets, self._exponent(), self.beta, rho), self.form)

    def _exponent(self) -> float:
        """Return the penalty of larger sets."""
        if self.alpha != "auto":
            return float(self.alpha)
        if self.form == "published":
            return PUBLISHED
        return overlap_alpha(self.beta) if is_automatic(self.focal_sets) else 0.0

    # -- reading the table --------------------------------------------------------------------------------------------

    def _read_rows(self, X: Any) -> np.ndarray:
        return self._check_table(X, reset=True)

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        return _checks.check_categories(self, X, reset=reset)

    def _read(self, table: np.ndarray, weight: np.ndarray) -> tuple[Coding, np.ndarray]:
        """Return how rows are read, and their codes."""
        who, names = type(self).__name__, self._fitted_columns()
        coding, codes = read_coding(table, self.numbers, weight, names, who)
        if self.form == "published" and coding.numeric.any():
            column = int(coding.numeric.argmax())
            raise ValueError(
                f"{who} in its published form reads categories alone, and column "
                f"{column if names is None else repr(str(names[column]))} of X holds numbers. Take form='linear', or "
                "cut them into classes (pandas.cut)."
            )
        return coding, codes

    def _weigh_numbers(self, coding: Coding, shares: np.ndarray) -> float:
        return typical_mismatch(shares, coding.columns) if self.number_weight == "auto" else float(self.number_weight)

    # -- starts -------------------------------------------------------------------------------------------------------

    @property
    def _start_given(self) -> bool:
        return not isinstance(self.init, str)

    def _given_start(self, coding: Coding) -> CategoryPrototypes:
        """Return prototypes at rows that were given."""
        rows = np.asarray(self.init, dtype=object)
        expected = (self.n_clusters, len(coding.numeric))
        if rows.shape == expected:
            codes, numbers = coding.codes(rows), coding.numbers(rows, type(self).__name__)
            if (codes >= 0).all() and not np.isnan(numbers).any():
                return CategoryPrototypes(coding.columns.one_hot(codes), numbers)
        raise ValueError(
            f"The 'init' parameter of {type(self).__name__} must be {', '.join(map(repr, START_RULES))} or an array of "
            f"shape {expected}: a row as in X for each cluster, of known categories and with nothing missing. Got an "
            f"array of shape {rows.shape}."
        )

    def _draw_starts(
        self, coding: Coding, codes: np.ndarray, numbers: np.ndarray, weight: np.ndarray, rng: np.random.RandomState
    ) -> list[CategoryPrototypes]:
        """Return prototypes at k-means solutions, or at rows."""
        if self._start_given:
            return [self._given_start(coding)]
        found = centers_among(
            coding, codes, numbers, weight, self.n_clusters, rule=self.init, n_starts=self.n_init, rng=rng
        )
        return [CategoryPrototypes(*center) for center in found]

    # -- the result ---------------------------------------------------------------------------------------------------

    def _store_solution(self, prototypes: CategoryPrototypes, problem: CategoryProblem) -> None:
        """Number the clusters from the largest to the smallest, unless their order was given, and publish them."""
        focal_sets = problem.criterion.focal_sets
        if isinstance(self.focal_sets, str) and not self._start_given:
            likely = np.vstack(
                [weight[:, None] * pignistic(masses_of(rows, prototypes, problem), focal_sets)
                 for rows, weight in problem.blocks]
            )  # fmt: skip
            order = _base.largest_first(likely.sum(axis=0), tie=likely.argmax(axis=0))
            focal_sets, _ = renumber_sets(focal_sets, order)
            prototypes = CategoryPrototypes(prototypes.weights[order], prototypes.means[order])
        coding = problem.coding
        self._problem = replace(problem, criterion=replace(problem.criterion, focal_sets=focal_sets), blocks=())
        self._prototypes, self.focal_sets_, self.numeric_ = prototypes, focal_sets, coding.numeric
        self.categories_ = [np.empty(0)] * len(coding.numeric)
        self.prototypes_ = np.empty((self.n_clusters, len(coding.numeric)), dtype=object)
        self.prototypes_[:, coding.numeric] = coding.in_units(prototypes.means)
        split = coding.columns.split(prototypes.weights) if coding.categories else []
        for column, known, weights in zip(np.flatnonzero(~coding.numeric), coding.categories, split):
            self.categories_[column] = known
            self.prototypes_[:, column] = known[weights.argmax(axis=1)]

    def _warn_of_strange(self, new: np.ndarray) -> None:
        self._problem.coding.warn_of_strange(new, self._ranges, self._column_names(), type(self).__name__)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        coding = self._problem.coding
        codes, numbers = coding.codes(X), coding.numbers(X, type(self).__name__)
        masses = np.empty((len(X), len(self.focal_sets_)))
        for block, rows in coding.blocks(codes, numbers, len(self.focal_sets_)):
            masses[block] = masses_of(rows, self._prototypes, self._problem)
        return masses

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
