"""Gaussian mixtures with the fourteen covariance models, chosen by BIC, ICL or AIC.

The mixtures themselves are fitted by :mod:`evidentia.mixtures._replicates`: all starts of one model at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from evidentia import _base
from evidentia._data import Data
from evidentia._parameters import NOTHING, Choice, Integer, Number, Predicate, fitted, param, random_numbers
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.mixtures._base import Candidate, ClassMixture, certainty_of, information_criteria
from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._covariances import MODELS, feasible_models, n_covariance_parameters
from evidentia.mixtures._replicates import (
    FitSettings,
    MixtureParameters,
    Replicates,
    evaluate,
    fit_replicates,
    from_posteriors,
    posteriors,
)
from evidentia.mixtures.bootstrap import side_by_side
from evidentia.mixtures.finalists import as_first_look, finish_best
from evidentia.mixtures.gaussian_rows import AllRows
from evidentia.rows.scan import Table, is_small, scan
from evidentia.rows.source import ArrayRows, RowSource, in_memory
from evidentia.solvers.coordinates import ALL_EQUAL
from evidentia.solvers.descent import Run
from evidentia.solvers.gaussian_agglomeration import MergeTree, start_trees
from evidentia.solvers.starts import Rows, kmeans_starts, representatives, sorted_rows
from evidentia.verdict.fitted import Gaussians

START_ROWS = 2_000  # starts need no more, and an agglomeration takes the square of this in memory
COVERED = 0.9  # a component's inside is where it has this share of its objects
HELD = 10.0  # times the ratio of eigenvalues of a mixture: more is not allowed to replicates of it that collapse
MAX_EIGENVALUE_RATIO = Number(low=1.001) | NOTHING  # with less there is nothing to choose
MODEL_LIST = Predicate(
    "a list of some of them",
    lambda value: isinstance(value, list | tuple) and len(value) > 0 and all(one in MODELS for one in value),
)


def n_parameters(model: str, n_clusters: int, n_features: int) -> int:
    """Free parameters: mixing probabilities, means, covariances."""
    return n_clusters - 1 + n_clusters * n_features + n_covariance_parameters(model, n_clusters, n_features)


def simpler_models(model: str) -> list[str]:
    """Models that this one contains with nothing in between: one letter is a step simpler.

    Examples
    --------
    >>> simpler_models("VVV")
    ['VVE', 'VEV', 'EVV']
    """
    step = {"I": 0, "E": 1, "V": 2}

    def distance(other: str) -> int:
        steps = [step[a] - step[b] for a, b in zip(model, other)]
        return sum(steps) if min(steps) >= 0 else -1

    return [other for other in MODELS if distance(other) == 1]


def covers(parameters: MixtureParameters) -> np.ndarray:
    """Which component lies over which other one, (c, c): first over second, of the first of the mixtures.

    The objects of the second are, on average, inside the first, where it has 90 % of its own; not so the other way
    round, so that equal components never cover each other.

    Examples
    --------
    A wide component, and two narrow ones of which it holds one.

    >>> means = np.array([[[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]]])
    >>> within = np.array([9.0, 0.2, 0.2])[None, :, None, None] * np.eye(2)
    >>> covers(MixtureParameters(np.full((1, 3), 1 / 3), means, within)).astype(int)
    array([[0, 1, 0],
           [0, 0, 0],
           [0, 0, 0]])
    """
    _, means, within = (part[0] for part in parameters)
    gap = means[None] - means[:, None]
    if parameters.diagonal:
        distance = np.einsum("klp,kp->kl", np.square(gap), 1 / within[..., 0])
        distance += (1 / within[..., 0]) @ within[..., 0].T
        inside = distance <= chi2.ppf(COVERED, means.shape[1])
        return inside & ~inside.T
    precision = np.linalg.inv(within)
    distance = np.einsum("klp,kpq,klq->kl", gap, precision, gap, optimize=True)
    distance += np.einsum("kpq,lqp->kl", precision, within)  # of the objects of l from the mean of k, on average
    inside = distance <= chi2.ppf(COVERED, means.shape[1])
    return inside & ~inside.T


class GaussianReplicates(NamedTuple):
    """Mixtures fitted to resampled tables, those of one number of clusters and one model together.

    ``parameters`` are those of the valid ones, where no component collapsed, and ``models`` names the covariance model
    of each of them; ``valid`` is about all.
    """

    parameters: tuple[MixtureParameters, ...]
    models: np.ndarray
    valid: np.ndarray
    columns: np.ndarray

    @classmethod
    def concatenate(cls, parts: list[GaussianReplicates]) -> GaussianReplicates:
        """Replicates one after the other."""
        return cls(
            tuple(one for part in parts for one in part.parameters),
            np.concatenate([part.models for part in parts]),
            np.concatenate([part.valid for part in parts]),
            parts[0].columns,
        )

    @property
    def n_clusters(self) -> np.ndarray:
        """Number of clusters of each valid replicate."""
        return np.concatenate([np.full(part.weights.shape[0], part.weights.shape[1]) for part in self.parameters])

    def posteriors(self, X: np.ndarray) -> np.ndarray:
        """Posterior probabilities under the valid replicates, shape (n_clusters, n_samples, n_valid).

        Those with fewer clusters than others have further ones of probability zero.
        """
        rows = np.asarray(X, dtype=float)[:, self.columns]
        return side_by_side([posteriors(rows, part).transpose(2, 1, 0) for part in self.parameters])


class _Start(NamedTuple):
    """Rows with given probabilities of the components, shape (starts, rows, components)."""

    rows: Rows
    posterior: np.ndarray
    which: np.ndarray  # start of those above that each one asked for is


class _MixtureTable(NamedTuple):
    """Rows that count, or a sample of them, in the columns that vary, and what starts are made from."""

    rows: Rows
    given: _Start | None  # the caller's
    sample: Rows  # rows of the merge trees and of k-means
    trees: list[MergeTree]
    objects: float  # how many the rows stand for


class ParsimoniousGaussianMixture(ClassMixture):
    r"""Gaussian mixture with one of fourteen covariance models [1]_, [2]_.

    The covariance of a component is :math:`\Sigma_k = \lambda_k D_k A_k D_k^T`; a model says whether volume λ, shape A
    and orientation D are equal for all components (E), their own (V), or trivial (I).

    Attributes
    ----------
    means_ : ndarray of shape (n_clusters, n_features)
        Also ``cluster_centers_``. Clusters are numbered from the largest to the smallest, unless ``init`` is an array.
    covariances_ : ndarray of shape (n_clusters, n_features, n_features)
    start_criteria_ : ndarray
        Log-likelihood at the end of every start, also of those at solutions of simpler models; one value for more than
        50,000 rows.

    Notes
    -----
    Models other than EEE, EVV and VVV depend on the units of the columns: scale columns first if units mean nothing. A
    constant column is left out, with a warning. Weights count as copies.

    Among several models, each also starts from the solutions of the simpler ones it contains: it is then at least as
    likely as they are, unless a component collapses on the way.

    Of more than 50,000 rows a sample of as many is fitted with every model and number of clusters; the best, and up to
    two that the sample does not place clearly behind it, are then fitted to all rows, by passes over them.
    ``selection_`` calls the others first looks, and has the criteria that they promise for all rows.

    References
    ----------
    .. [1] J. D. Banfield, A. E. Raftery. Model-based Gaussian and non-Gaussian clustering. Biometrics 49:803-821, 1993.
    .. [2] G. Celeux, G. Govaert. Gaussian parsimonious clustering models. Pattern Recognition 28:781-793, 1995.
    .. [3] C. Fraley. Algorithms for model-based Gaussian hierarchical clustering. SIAM J. Sci. Comput. 20:270-281,
       1998.

    Examples
    --------
    Two round clouds of different size.

    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (60, 2)), rng.normal(8, 3, (40, 2))])
    >>> mixture = ParsimoniousGaussianMixture().fit(X)
    >>> mixture.model_, mixture.n_clusters_
    ('VII', 2)
    >>> mixture.weights_.round(1)
    array([0.6, 0.4])
    """

    method = Method(
        name="gmm", title="Gaussian mixture with fourteen covariance models, by BIC, ICL or AIC",
        papers=("Celeux & Govaert, *Pattern Recognition* 28, 1995",), guide="mixtures",
        takes=("weights", "rows beyond memory"),
        number=("given", "searched"), criterion="maximized", quick={"model": "EII"}, grows="*n p² c*", memory="*n c*",
        doubt="probabilities", limit="too sure: estimates are taken for the truth",
    )  # fmt: skip

    model: Any = param(
        Choice("auto", *MODELS) | MODEL_LIST,
        """Covariance model; the best of a list by ``select_by``, or of all that the table can carry (``"auto"``): those
        that are not diagonal need more rows than columns.""",
        default="auto",
    )
    init: Any = param(
        Choice("hierarchical", "k-means") | Predicate("array of labels or of probabilities"),
        """Starts by model-based agglomeration [3]_, by k-means, or from labels (n_samples,) or probabilities
        (n_samples, n_clusters) of the caller.""",
        default="hierarchical",
    )
    n_init: int = param(
        Integer(low=1),
        """Number of starts. The first three of ``"hierarchical"`` are merge trees for free covariances (in two kinds of
        coordinates) and for equal spheres; what is asked beyond them starts from k-means.""",
        default=3,
    )
    reg_covar: float = param(
        Number(low=1e-14, high=1),  # less is lost in rounding, and matrices are singular
        """A component whose covariance falls below this fraction of the covariance of the whole table, in any
        direction, has collapsed: the fit is not considered.""",
        default=1e-8,
    )
    max_eigenvalue_ratio: Any = param(
        MAX_EIGENVALUE_RATIO,
        """No eigenvalue of a covariance may be more than this many times another one, of any component. It keeps
        components from lying over all others and from collapsing. It is about the units of the columns as they are:
        scale them first. None: no bound.""",
        default=None,
    )

    attributes = {"model_": "str\nThe covariance model."}

    _cure = "Ask for fewer clusters or a simpler model such as 'EEI', or give more objects."

    _candidates: list[Candidate] = fitted()
    _parameters: MixtureParameters = fitted()
    _varying: np.ndarray = fitted()

    def _fit(self, data: Data[Any]) -> None:
        table = self._scan(data.rows)
        if table is None:
            self._fit_table(in_memory(data.rows), data.rng)
        else:
            self._fit_by_passes(table, data.rng)
        self._warn_if_one_covers_others()

    def _scan(self, rows: RowSource) -> Table | None:
        """A sample of the rows, and their moments; None if all of them are to be fitted at once."""
        if not isinstance(self.init, str) and not rows.in_memory:
            raise TypeError(
                f"{type(self).__name__} starts from labels or probabilities only where all rows are in memory. Take "
                "init='hierarchical' or init='k-means'."
            )
        if rows.in_memory and (is_small(rows) or not isinstance(self.init, str)):
            return None
        mixing = not all(model.endswith("I") for model in self._models(rows.n_rows, rows.n_features))
        table = scan(rows, mixing=mixing, missing=False, who=type(self).__name__)
        return None if table.complete else table

    def _fit_table(self, rows: ArrayRows, rng: np.random.RandomState) -> None:
        """Fit every model and number of clusters to all rows."""
        table, weight = rows.table, np.ones(len(rows.table)) if rows.weight is None else rows.weight
        given = self._given_start(len(table))
        numbers = self._numbers(int(np.count_nonzero(weight))) if given is None else [given.shape[1]]
        used = weight > 0
        counted = Rows(table[used], weight[used])
        mean = np.average(counted.X, axis=0, weights=counted.weight)
        deviation = np.sqrt(np.average(np.square(counted.X - mean), axis=0, weights=counted.weight))
        columns = self._columns_that_vary(mean, deviation)
        objects = max(len(counted.X), counted.weight.sum())  # weights of shares do not make objects fewer
        problem = self._prepare(counted, columns, None if given is None else given[used], objects, rng)
        found = self._search(numbers, partial(self._fit_number, problem, rng))
        best = self._publish_choice(found)
        self._candidates = [replace(one, runs=[one.best]) for one in found if one is best or not one.collapsed]
        self._publish_model(table[0], columns, best)

    def _fit_by_passes(self, table: Table, rng: np.random.RandomState) -> None:
        """Fit every model and number of clusters to the sample, and the best of them to all rows."""
        numbers, spread = self._numbers(table.n_rows), table.moments.spread
        columns = self._columns_that_vary(table.moments.mean, np.sqrt(np.diag(spread) if spread.ndim == 2 else spread))
        problem = self._prepare(table.sample, columns, None, len(table.sample.X), rng)
        looks = self._search(numbers, partial(self._fit_number, problem, rng))
        looks = [as_first_look(look, table.sample.weight) for look in looks]
        finished, found = finish_best(
            looks,
            AllRows(table, columns, self._em_settings).finish,
            lambda look: tuple(part[0] for part in evaluate(problem.rows.X, look.best.state)),
            table.sample.weight,
            criterion=self.select_by,
            who=type(self).__name__,
        )
        best = self._publish_choice(finished)
        self.selection_ = pd.DataFrame([one.row(self._collapse) for one in found])
        self._candidates = [replace(one, runs=[one.best]) for one in found if one is best or not one.collapsed]
        self._publish_model(table.sample.X[0], columns, best)

    @property
    def _em_settings(self) -> FitSettings:
        """When EM ends, and which covariances it allows."""
        return FitSettings(self.tol, self.max_iter, self.reg_covar, self.max_eigenvalue_ratio)

    def _rule(self, model: str) -> CovarianceModel:
        """The M-step of a model."""
        return self._em_settings.rule(model)

    def _models(self, n: int | None, d: int) -> list[str]:
        """Models to try, each after those it contains."""
        if isinstance(self.model, str) and self.model == "auto":
            return feasible_models(n, d)
        return sorted([self.model] if isinstance(self.model, str) else self.model, key=MODELS.index)

    def _given_start(self, n_samples: int) -> np.ndarray | None:
        """Probabilities of the clusters that the caller starts from."""
        if isinstance(self.init, str):
            return None
        given = np.asarray(self.init)
        if given.ndim == 1 and len(given) == n_samples:
            names, which = np.unique(given, return_inverse=True)
            given = np.eye(len(names))[which]
        elif given.ndim != 2 or len(given) != n_samples or (given < 0).any() or abs(given.sum(axis=1) - 1).max() > 1e-6:
            raise ValueError(
                f"'init' of {type(self).__name__} must be a label for each of {n_samples} rows, or rows of "
                f"probabilities that sum to 1. Got an array of shape {given.shape}."
            )
        if not isinstance(self.n_clusters, str) and given.shape[1] != self.n_clusters:
            raise ValueError(
                f"'init' of {type(self).__name__} has {given.shape[1]} groups but n_clusters={self.n_clusters}; "
                "make them equal."
            )
        return given.astype(float)

    def _columns_that_vary(self, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
        varying = np.flatnonzero(deviation > 10 * np.finfo(float).eps * np.abs(mean))
        if not len(varying):
            raise ValueError(ALL_EQUAL)
        if len(varying) < len(mean):
            left_out = sorted(set(range(len(mean))) - set(varying.tolist()))
            warn_user(
                f"{type(self).__name__} leaves out constant columns {left_out}: they have no density.", UserWarning
            )
        return varying

    def _prepare(
        self, counted: Rows, columns: np.ndarray, given: np.ndarray | None, objects: float, rng: np.random.RandomState
    ) -> _MixtureTable:
        rows = Rows(counted.X[:, columns], counted.weight)
        if given is not None:
            return _MixtureTable(rows, _Start(rows, given[None], np.zeros(1, int)), rows, [], objects)
        sample, trees = start_rows(rows, rng), []
        if self.init == "hierarchical":
            trees = start_trees(standardize(*sample), sample.weight, self.n_init)
        return _MixtureTable(rows, None, sample, trees, objects)

    def _start(self, problem: _MixtureTable, number: int, rng: np.random.RandomState) -> _Start:
        if problem.given is not None:
            return problem.given
        labels = [tree.labels(number) for tree in problem.trees]
        if self.n_init > len(labels):
            Z = standardize(*problem.sample)  # k-means is not blind to scale
            centers_of_starts = kmeans_starts(Z, number, self.n_init - len(labels), rng, problem.sample.weight)
            labels += [pairwise_distances_argmin(Z, centers) for centers in centers_of_starts]
        different, which = np.unique(np.stack(labels), axis=0, return_inverse=True)  # trees often agree
        return _Start(problem.sample, np.eye(number)[different], which.ravel())

    def _fit_number(self, problem: _MixtureTable, rng: np.random.RandomState, number: int) -> Iterator[Candidate]:
        """Every model with one number of clusters."""
        start = self._start(problem, number, rng)
        solved: dict[str, MixtureParameters] = {}
        for model in self._models(*problem.rows.X.shape):
            within = [solved[other] for other in simpler_models(model) if other in solved]
            if model[2] != "I":
                within = [one._replace(covariances=one.matrices) for one in within]
            found = self._fit_model(problem, start, within, model)
            if not found.collapsed:
                solved[model] = found.best.state
            yield found

    def _fit_model(
        self, problem: _MixtureTable, start: _Start, within: list[MixtureParameters], model: str
    ) -> Candidate:
        """EM from every start and from solutions of models contained in this one; the best that did not collapse."""
        rule, rows = self._rule(model), problem.rows
        limits = {"reg_covar": self.reg_covar, "objects": problem.objects}
        first = from_posteriors(start.rows.X, start.rows.weight, start.posterior, rule, **limits)
        found = fit_replicates(
            rows.X,
            rows.weight,
            MixtureParameters(*(np.concatenate(parts) for parts in zip(first, *within))),
            rule,
            tol=self.tol,
            max_iter=self.max_iter,
            **limits,
        )
        runs = [
            Run(found.parameters.take(slice(at, at + 1)), -found.trace[: n_iter + 1, at], bool(found.converged[at]))
            for at, n_iter in enumerate(found.n_iter)
        ]
        at = int(np.lexsort([found.log_likelihood, ~found.degenerate])[-1])
        log_likelihood, parameters = float(found.log_likelihood[at]), runs[at].state
        _, n_clusters, n_features = parameters.means.shape
        n_free, n_objects = n_parameters(model, n_clusters, n_features), float(rows.weight.sum())
        certainty = certainty_of(evaluate(rows.X, parameters)[0][0], rows.weight)
        return Candidate(
            focal_sets=FocalSets(n_clusters, "singletons", empty=False),
            best=runs[at],
            runs=[runs[which] for which in start.which] + runs[len(start.posterior) :],
            log_likelihood=log_likelihood,
            n_parameters=n_free,
            n_objects=n_objects,
            criteria=information_criteria(log_likelihood, n_free, certainty, n_objects),
            collapsed=bool(found.degenerate[at]),
            settings={"model": model},
        )

    def _warn_if_one_covers_others(self) -> None:
        others = len(self.weights_) - 1
        if others < 2 or self.collapsed_:  # a covariance that collapsed may have no inverse
            return
        covered = covers(self._parameters).sum(axis=1)
        widest = int(covered.argmax())
        if covered[widest] <= others / 2 or self.weights_[widest] <= 1 / len(covered):
            return
        warn_user(
            f"{type(self).__name__} with {len(self.weights_)} clusters: component {widest}, with "
            f"{self.weights_[widest]:.0%} of the objects, lies over {covered[widest]} of the {others} others like a "
            "background, and takes objects that lie between them. If these should be in the clusters, bound the "
            "differences of the covariances by max_eigenvalue_ratio (such as 10), or use a model of equal volumes.",
            UserWarning,
        )

    def _publish_model(self, row: np.ndarray, columns: np.ndarray, best: Candidate) -> None:
        """Publish the mixture; ``row`` has what is constant in the other columns."""
        weights, means, _ = (part[0] for part in best.best.state)
        order = _base.largest_first(weights) if isinstance(self.init, str) else np.arange(len(weights))
        self._parameters = MixtureParameters(*(part[:, order] for part in best.best.state))
        self._varying = columns
        self.model_, self.focal_sets_, self.weights_ = best.settings["model"], best.focal_sets, weights[order]
        self.means_ = np.tile(row, (len(weights), 1))
        self.means_[:, columns] = means[order]
        self.cluster_centers_ = self.means_
        self.__dict__.pop("covariances_", None)  # of an earlier fit

    @cached_property
    def covariances_(self) -> np.ndarray:
        """Made when asked for: those of a diagonal model on many columns would be most of a fit."""
        within, columns, d = self._parameters.matrices[0], self._varying, self.means_.shape[1]
        found = np.zeros((len(within), d, d))
        found[:, columns[:, None], columns] = within
        return found

    def _gaussians(self, rows: np.ndarray) -> Gaussians:
        columns = self._varying
        return Gaussians(rows[:, columns], self.means_[:, columns], self._parameters.matrices[0])

    def _evaluate(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        posterior, log_density = evaluate(table[:, self._varying], self._parameters)
        return posterior[0], log_density[0]

    def fit_replicates(self, X: Any, weights: np.ndarray, *, tol: float | None = None) -> GaussianReplicates:
        """Repeat the fit for many weightings of the rows at once, each from the present estimate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        weights : ndarray of shape (n_replicates, n_samples)
            Such as how often each row was drawn in a bootstrap sample.
        tol : float, optional
            As for the estimator, whose own it is by default. EM that stops early stays near the present estimate, so
            that the replicates differ too little.
        """
        check_is_fitted(self)
        fit = self.weighted_fit(self._check_table(X, reset=False), weights)
        return self.repeat(fit, np.arange(len(weights)), self.model_, self._parameters, tol=tol)

    def weighted_fit(self, table: np.ndarray, weights: np.ndarray) -> Callable[..., Replicates]:
        """What fits some of the weightings of checked rows, by number, with the settings of a mixture."""
        rows = table[:, self._varying]
        return lambda which, **settings: fit_replicates(rows, weights[which], **settings)

    def repeat(
        self,
        fit: Callable[..., Replicates],
        which: np.ndarray,
        model: str,
        start: MixtureParameters,
        *,
        tol: float | None = None,
    ) -> GaussianReplicates:
        """Some replicates, by number, as ``fit(which, start=, rule=, …)`` fits them.

        The model and the mixture they start from may be others than the chosen ones.

        Where a component collapses, the replicate is fitted again with the ratio of the largest to the smallest
        eigenvalue held to ten times that of the mixture it starts from. Left out are those where one vanishes.
        """
        fit = partial(
            fit,
            start=start,
            tol=self.tol if tol is None else tol,
            max_iter=self.max_iter,
            reg_covar=self.reg_covar,
        )
        found = fit(which, rule=self._rule(model))
        parameters, lost = found.parameters, found.degenerate.copy()
        if lost.any() and self.max_eigenvalue_ratio is None:
            values = start.covariances if start.diagonal else np.linalg.eigvalsh(start.covariances)
            least = max(float(values.min()), np.finfo(float).eps * float(values.max()))  # below it, rounding errors
            rule = CovarianceModel(model, HELD * float(values.max()) / least)
            again = fit(which[lost], rule=rule)
            for part, held in zip(parameters, again.parameters):
                part[lost] = held
            lost[lost] = again.degenerate
        return GaussianReplicates((parameters.take(~lost),), np.full((~lost).sum(), model), ~lost, self._varying)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw objects from the fitted mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        component : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rng = random_numbers(random_state, f"{type(self).__name__}.sample")
        component = rng.choice(self.n_clusters_, size=n_samples, p=self.weights_ / self.weights_.sum())
        within = self._parameters.covariances[0]
        noise = rng.standard_normal((n_samples, len(self._varying)))
        X = self.means_[component]
        if self._parameters.diagonal:
            X[:, self._varying] += np.sqrt(within[component, :, 0]) * noise
        else:
            X[:, self._varying] += np.einsum("npq,nq->np", np.linalg.cholesky(within)[component], noise)
        return X, component


def standardize(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Columns of mean zero and deviation one."""
    centered = X - np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average(np.square(centered), axis=0, weights=weight))
    return centered / np.where(deviation == 0, 1, deviation)  # a column may vary outside of a sample alone


def start_rows(rows: Rows, rng: np.random.RandomState) -> Rows:
    """All rows in lexical order, so that ties do not depend on the order of the table; or a sample of a large one."""
    if len(rows.X) <= START_ROWS:
        order = sorted_rows(rows.X)
        return Rows(rows.X[order], rows.weight[order])
    some = representatives(*rows, rng)
    cumulative = np.cumsum(some.weight)
    picked = np.searchsorted(cumulative, (np.arange(START_ROWS) + 0.5) / START_ROWS * cumulative[-1])
    return Rows(some.X[picked], np.ones(START_ROWS))
