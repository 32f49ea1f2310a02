"""RECM: relational evidential c-means (Masson & Denœux, 2009)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import BOOLEAN, Choice, Integer, Number, Predicate, fitted, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.dissimilarities import RelationalClusterer, Source, full_matrix, new_blocks
from evidentia.methods import Method
from evidentia.partition import CredalPartition
from evidentia.relational._base import given_masses
from evidentia.rows.scan import SMALLEST
from evidentia.solvers.barycentric import averaging, solve_centers
from evidentia.solvers.descent import Run, Vectors, Watch, all_runs, best_of, descend
from evidentia.solvers.starts import spread_starts

ROUNDING = 1e-9  # of the largest eigenvalue or dissimilarity: below it, a negative number is a zero
LEAST_SHARE = 1e-20  # of the largest squared dissimilarity, far below rounding: what an object on a prototype costs
COINCIDE = 1e-2  # of the typical distance of an object from its prototype
LATE = 1e-3  # gain of an iteration, as a share of the criterion, below which the next ones are guessed


class NotEuclidean(ValueError):
    """Prototypes lie at negative squared distances from objects."""


VECTORS = Vectors(np.ravel, lambda vector, like: vector.reshape(like.shape), LATE, (NotEuclidean,))


class Problem(NamedTuple):
    """The fixed part of J: squared dissimilarities (n, n), focal sets, and the parameters of the criterion.

    ``largest`` is the largest squared dissimilarity.
    """

    square: np.ndarray
    focal_sets: FocalSets
    alpha: float
    beta: float
    rho: float | None
    largest: float

    @property
    def penalty(self) -> np.ndarray:
        return self.focal_sets.card.astype(float) ** self.alpha


class Prototypes(NamedTuple):
    r"""Prototypes as combinations of the objects, :math:`v_k = \sum_i \lambda_{ki} x_i`, without any coordinates.

    ``weights (n_clusters, n_samples)`` are the :math:`\lambda`, rows summing to one, and
    ``spread (n_clusters, n_clusters)`` is :math:`\Lambda \Delta \Lambda^T`, :math:`\Delta` the squared dissimilarities.
    """

    weights: np.ndarray
    spread: np.ndarray


def prototypes_of(weights: np.ndarray, square: np.ndarray) -> tuple[Prototypes, np.ndarray]:
    r"""Prototypes and :math:`\Delta \Lambda^T` (n_samples, n_clusters)."""
    reach = square @ weights.T
    return Prototypes(weights, weights @ reach), reach


def squared_distances(reach: np.ndarray, spread: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Squared distances to the barycenters of the focal sets, shape (n, n_focal); the column of {} means nothing.

    .. math:: d_{ij}^2 = (\Delta \bar\lambda_j)_i - \tfrac12 \bar\lambda_j^T \Delta \bar\lambda_j

    Examples
    --------
    Two objects at 0 and 2 on a line, each its own prototype; {0,1} lies at 1:

    >>> square = np.array([[0.0, 4.0], [4.0, 0.0]])
    >>> prototypes, reach = prototypes_of(np.eye(2), square)
    >>> squared_distances(reach, prototypes.spread, FocalSets(2, empty=False))
    array([[0., 4., 1.],
           [4., 0., 1.]])
    """
    average = averaging(focal_sets)
    return reach @ average.T - np.einsum("jk,kl,jl->j", average, spread, average) / 2


def update_masses(sq_dist: np.ndarray, problem: Problem) -> tuple[np.ndarray, float]:
    """Masses that minimize J for given prototypes, and J."""
    cost = problem.penalty * sq_dist
    if problem.rho is not None:
        cost[:, problem.focal_sets.empty_index] = problem.rho**2
    cost = np.maximum(cost, LEAST_SHARE * problem.largest)  # an object sitting on a prototype
    nearest = cost.min(axis=1, keepdims=True)
    masses = (nearest / cost) ** (1 / (problem.beta - 1))
    total = masses.sum(axis=1, keepdims=True)
    return masses / total, float((nearest * total ** (1 - problem.beta)).sum())


def update_weights(masses: np.ndarray, problem: Problem, previous: np.ndarray) -> np.ndarray:
    """Prototypes that minimize J for given masses: those of evidential c-means, with objects as coordinates."""
    share = (problem.penalty * masses**problem.beta).T
    return solve_centers(share.sum(axis=1), share, averaging(problem.focal_sets), previous)


def recm_step(problem: Problem, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """J of the prototypes at its best masses, and better prototypes."""
    prototypes, reach = prototypes_of(weights, problem.square)
    sq_dist = squared_distances(reach, prototypes.spread, problem.focal_sets)
    held = problem.focal_sets.card > 0
    lowest = sq_dist[:, held].min()
    if lowest < -ROUNDING * problem.largest:
        raise NotEuclidean(
            f"A squared distance to a prototype is {lowest:g}: the dissimilarities are not Euclidean, and the 'shift' "
            "of RECM is too small for them. Take a larger one, shift='auto', or EVCLUS, which needs no geometry."
        )
    masses, objective = update_masses(sq_dist, problem)
    return objective, update_weights(masses, problem, weights)


def euclidean_shift(square: np.ndarray) -> float:
    r"""What must be added to all squared dissimilarities of different objects to make them Euclidean [1]_.

    Twice the size of the most negative eigenvalue of :math:`-\tfrac12 H \Delta H`, H the centering matrix; zero when
    there is none.

    References
    ----------
    .. [1] J. C. Lingoes. Some boundary conditions for a monotone analysis of symmetric matrices. Psychometrika
       36(2):195-203, 1971.

    Examples
    --------
    Three objects on a line, 3 - 1 - 1: the triangle inequality is broken.

    >>> square = np.square([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> shift = euclidean_shift(square)
    >>> round(shift, 6), euclidean_shift(square + shift * (1 - np.eye(3))) < 1e-9
    (1.666667, True)
    """
    gram = square - square.mean(axis=0)
    gram -= gram.mean(axis=1, keepdims=True)
    gram *= -0.5
    n = len(square)
    lowest = eigvalsh(gram, subset_by_index=[0, 0])[0]
    highest = eigvalsh(gram, subset_by_index=[n - 1, n - 1])[0]
    return float(-2 * lowest) if lowest < -ROUNDING * highest else 0.0


class RECM(RelationalClusterer):
    r"""Evidential c-means of dissimilarities [1]_.

    The criterion is that of :class:`~evidentia.prototypes.ECM`, with prototypes that are combinations of the objects,
    so that no coordinates are needed. On Euclidean distances it gives what ECM gives on the coordinates.

    Attributes
    ----------
    prototype_weights_ : ndarray of shape (n_clusters, n_samples)
        Each prototype as a combination of the objects.
    rho_ : float or None
        Distance to the empty set that was used.
    shift_ : float
        What was added to the squared dissimilarities of different objects.

    Warns
    -----
    UserWarning
        When prototypes coincide, so that the data do not tell clusters apart.

    Notes
    -----
    Descents here run until the criterion rests. A loose stopping rule can show clusters on the way that are not there
    at the end: with ``beta=1.5`` and single clusters, prototypes of the Protein data coincide at the minimum, and the
    fit says so. ``beta=1.1`` and ``alpha=0.2`` keep them apart.

    An iteration costs O(n² c); all n² dissimilarities are held. Near its end a descent guesses from its last steps
    where it is going (Anderson acceleration), which halves the iterations and more where clusters overlap; the
    criterion never rises by it.

    New objects come with dissimilarities to all fitted ones. With ``shift_ = 0``, ``predict_partition`` of the fitted
    objects repeats ``partition_``; with a shift they are treated as others that lie at the same place.

    References
    ----------
    .. [1] M.-H. Masson, T. Denœux. RECM: relational evidential c-means algorithm. Pattern Recognition Letters
       30:1015-1026, 2009.
    .. [2] R. J. Hathaway, J. C. Bezdek. NERF c-means: non-Euclidean relational fuzzy clustering. Pattern Recognition
       27(3):429-437, 1994.

    Examples
    --------
    >>> from scipy.spatial.distance import cdist
    >>> X = [[-5, 0], [-3, 2], [-3, 0], [-3, -2], [-1, 0], [0, 0], [1, 0], [3, 2], [3, 0], [3, -2], [5, 0], [0, 12]]
    >>> model = RECM(2, rho=5, metric="precomputed", random_state=0).fit(cdist(X, X))
    >>> model.partition_.outliers(), model.shift_
    (array([11]), 0.0)
    """

    method = Method(
        name="recm", title="evidential c-means of dissimilarities",
        papers=("Masson & Denœux, *Pattern Recognition Letters* 30, 2009",), guide="dissimilarities",
        reads=("table", "dissimilarities"), families=("full", "pairs", "simple", "singletons"), empty_set=True,
        quick={"n_init": 3}, power=2, grows="*{n} c*", memory="*{n}*", doubt="sets, outliers",
        limit="far from Euclidean, a shift levels everything",
    )  # fmt: skip

    focal_sets: Any = param(
        _base.focal_families(*method.families),
        "Sets of clusters that may hold mass. The named families hold the empty set.",
        default="full",
    )
    alpha: float = param(_base.ALPHA, "Penalty of larger sets.", default=1.0)
    beta: float = param(
        _base.BETA, "Fuzzifier. The larger it is, the more the prototypes draw together: see Notes.", default=2.0
    )
    rho: Any = param(
        _base.RHO,
        """Distance of every object to the empty set, in the unit of the dissimilarities (in the unit of their square
        root when ``squared``). ``"auto"`` is the square root of the 0.95 quantile of the squared dissimilarities.""",
        default="auto",
    )
    squared: bool = param(
        BOOLEAN, "Whether the dissimilarities are squared distances already. Otherwise they are squared.", default=False
    )
    shift: Any = param(
        Choice("auto") | Number(low=0),
        """Added to the squared dissimilarities of different objects that are not Euclidean, because squared distances
        to prototypes could else become negative and J could rise [2]_. ``"auto"`` is zero where that does not happen,
        and else the least of L/1024, L/512, ..., L that prevents it, L the shift that makes all dissimilarities
        Euclidean. A large shift makes all objects equally unlike: then EVCLUS is the better choice.""",
        default="auto",
    )
    init: Any = param(
        Choice("spread", "random") | Predicate("CredalPartition or array of shape (n_samples, n_focal)"),
        """``"spread"`` begins at objects drawn far from each other as prototypes, ``"random"`` at random masses. Given
        masses make one start and keep its order of clusters; their mass on the empty set plays no part.""",
        default="spread",
    )
    max_iter: int = param(Integer(low=1), "Most iterations of one start.", default=1000)

    _criterion: Problem = fitted()
    _prototypes: Prototypes = fitted()

    def _fit(self, data: Data[Source]) -> np.ndarray:
        _checks.check_enough_rows(self, len(data.rows), self.n_clusters)
        cure = "EVCLUS with n_pairs needs no n × n numbers."
        unlike = full_matrix(data.rows, who="RECM", cure=cure, copies=4)
        if 0 < (largest := unlike.max()) < SMALLEST:
            raise ValueError(
                f"The metric {self.metric!r} is {largest:g} at most between rows of X, whose square doubles do not "
                "carry for RECM. Measure X in a smaller unit, for instance X * 1e100, or take another 'metric'."
            )
        problem, self.shift_, runs = self._search(self._square(unlike), data.align(self.init, "init"), data.rng)
        best = best_of(runs, name="RECM", max_iter=self.max_iter, tol=self.tol)
        self.rho_, self._source = problem.rho, data.rows.needed_for_new()
        self._publish_run(best, runs)
        return self._store_solution(problem, best.state)

    def _search(self, square: np.ndarray, init: Any, rng: np.random.RandomState) -> tuple[Problem, float, list[Run]]:
        """The runs from all starts under the least shift with which no criterion rises, with the problem they solve."""
        seed = rng.randint(np.iinfo(np.int32).max)
        *gentle, last = self._shifts(square)
        for shift in gentle:
            problem = self._problem(square, shift)
            try:
                runs = self._descend(problem, init, np.random.RandomState(seed))
            except NotEuclidean:
                continue
            if all((np.diff(run.trace) <= ROUNDING * run.trace[0]).all() for run in runs):
                return problem, shift, runs
        problem = self._problem(square, last)
        return problem, last, self._descend(problem, init, np.random.RandomState(seed))

    def _shifts(self, square: np.ndarray) -> list[float]:
        """Shifts to be tried, in rising order; the last one is safe."""
        if self.shift != "auto":
            return [float(self.shift)]
        safe = euclidean_shift(square)
        return [0.0, *(safe / 2**k for k in range(10, -1, -1))] if safe else [0.0]

    def _problem(self, square: np.ndarray, shift: float) -> Problem:
        n = len(square)
        moved = square + shift * (1 - np.eye(n)) if shift else square
        focal_sets, rho = resolve_focal_sets(self.focal_sets, self.n_clusters, empty=True), None
        if focal_sets.empty_index is not None:
            if self.rho == "auto":
                rho = float(np.sqrt(np.quantile(moved[np.triu_indices(n, 1)], 0.95)))
            else:
                rho = _checks.check_rho(self, float(np.sqrt(moved.max())))
        return Problem(moved, focal_sets, self.alpha, self.beta, rho, float(moved.max()))

    def _descend(self, problem: Problem, init: Any, rng: np.random.RandomState) -> list[Run]:
        step = partial(recm_step, problem)

        def run(start: np.ndarray, watch: Watch) -> Run:
            return descend(
                step, start, max_iter=self.max_iter, tol=self.tol, relative=True, watch=watch, vectors=VECTORS
            )

        n_starts = self.n_init if isinstance(self.init, str) else 1
        return all_runs(run, self._starts(problem, init, rng), name="RECM", n_starts=n_starts, verbose=self.verbose)

    def _square(self, dissimilarity: np.ndarray) -> np.ndarray:
        return dissimilarity if self.squared else np.square(dissimilarity)

    def _starts(self, problem: Problem, init: Any, rng: np.random.RandomState) -> Iterator[np.ndarray]:
        """Prototypes to begin with, as combinations of the objects."""
        n = len(problem.square)
        equal = np.full((self.n_clusters, n), 1 / n)
        if not isinstance(init, str):
            yield update_weights(given_masses(type(self).__name__, init, problem.focal_sets, n), problem, equal)
            return
        if init == "spread":
            yield from (np.eye(n)[start] for start in spread_starts(problem.square, self.n_clusters, self.n_init, rng))
            return
        for _ in range(self.n_init):
            masses = rng.uniform(size=(n, len(problem.focal_sets)))
            yield update_weights(masses / masses.sum(axis=1, keepdims=True), problem, equal)

    def _store_solution(self, problem: Problem, weights: np.ndarray) -> np.ndarray:
        """Number the clusters from the largest to the smallest, unless the caller fixed them; return the masses."""
        self.focal_sets_ = problem.focal_sets
        self._criterion = problem._replace(square=np.empty((0, 0)))
        if isinstance(self.focal_sets, str) and isinstance(self.init, str):
            prototypes, reach = prototypes_of(weights, problem.square)
            found = CredalPartition(self._place(reach, prototypes), self.focal_sets_, copy=False).pignistic
            weights = weights[_base.largest_first(found.sum(axis=0), tie=found.argmax(axis=0))]
        self._prototypes, reach = prototypes_of(weights, problem.square)
        self.prototype_weights_ = weights
        warn_if_prototypes_coincide(self._prototypes, reach)
        return self._place(reach, self._prototypes)

    def _place(self, reach: np.ndarray, prototypes: Prototypes) -> np.ndarray:
        return update_masses(squared_distances(reach, prototypes.spread, self.focal_sets_), self._criterion)[0]

    def _masses(self, X: Any) -> np.ndarray:
        reach = [
            (self._square(distance) + self.shift_) @ self.prototype_weights_.T
            for _, distance in new_blocks(self._source, X)
        ]
        return self._place(np.concatenate(reach), self._prototypes)


def warn_if_prototypes_coincide(prototypes: Prototypes, reach: np.ndarray) -> None:
    """Say so when the data do not tell two clusters apart."""
    spread = prototypes.spread
    gaps = spread - np.add.outer(np.diag(spread), np.diag(spread)) / 2 + np.where(np.eye(len(spread)), np.inf, 0)
    typical = (reach - np.diag(spread) / 2).min(axis=1).mean()
    if len(spread) > 1 and gaps.min() <= COINCIDE**2 * typical:
        a, b = np.unravel_index(gaps.argmin(), gaps.shape)
        together = "all prototypes" if gaps.max(where=np.isfinite(gaps), initial=0) <= COINCIDE**2 * typical else ""
        warn_user(
            f"RECM: {together or f'the prototypes of clusters {a} and {b}'} coincide, so the data do not tell these "
            "clusters apart. Lower beta (toward 1.1) and alpha, ask for fewer clusters, or take EVCLUS.",
            UserWarning,
        )
