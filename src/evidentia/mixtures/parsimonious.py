"""Gaussian mixtures with the fourteen covariance models, chosen by BIC, ICL or AIC.

The mixtures themselves are fitted by :mod:`evidentia.solvers.batched_em`: all starts of one model at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from evidentia import _base
from evidentia._parameters import Choice, Integer, Kind, Number, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.mixtures._base import Candidate, ClassMixture, information_criteria
from evidentia.mixtures.covariance_models import MODELS, covariances, n_covariance_parameters
from evidentia.solvers.batched_em import MixtureParameters, evaluate, fit_replicates, from_posteriors, posteriors
from evidentia.solvers.descent import Run
from evidentia.solvers.gaussian_agglomeration import MergeTree, agglomerate, scaled_svd
from evidentia.solvers.starts import Rows, kmeans_starts, representatives
from evidentia.solvers.threads import one_blas_thread

START_ROWS = 2_000  # starts need no more, and an agglomeration takes the square of this in memory
CAUTION = 2.0  # Akaike weights are raised to the power 1 / CAUTION: differences of AIC are themselves uncertain
SMALLEST_WEIGHT = 0.005  # of a model in the average; rarer ones would get no replicate of two hundred
MODEL_LIST = Kind(
    "a list of some of them",
    lambda value: isinstance(value, list | tuple) and len(value) > 0 and all(one in MODELS for one in value),
)


def n_parameters(model: str, n_clusters: int, n_features: int) -> int:
    """Free parameters: mixing probabilities, means, covariances."""
    return n_clusters - 1 + n_clusters * n_features + n_covariance_parameters(model, n_clusters, n_features)


def just_below(model: str) -> list[str]:
    """Models that this one contains with nothing in between: one letter is a step simpler.

    Examples
    --------
    >>> just_below("VVV")
    ['VVE', 'VEV', 'EVV']
    """
    step = {"I": 0, "E": 1, "V": 2}

    def distance(other: str) -> int:
        steps = [step[a] - step[b] for a, b in zip(model, other)]
        return sum(steps) if min(steps) >= 0 else -1

    return [other for other in MODELS if distance(other) == 1]


def model_weights(aic: np.ndarray) -> np.ndarray:
    r"""Shares of the models in an average, proportional to :math:`\exp(\mathrm{AIC} / 4)`; small ones become zero.

    AIC is :math:`2 \log L - 2 \nu`, so Akaike's own weights would be :math:`\exp(\mathrm{AIC} / 2)`. Their square root
    gives models that are nearly as good more of a say: a difference of AIC is itself known from the data only.

    Examples
    --------
    >>> model_weights(np.array([-100.0, -104.0, -200.0])).round(3)
    array([0.731, 0.269, 0.   ])
    """
    share = np.exp((aic - aic.max()) / (2 * CAUTION))
    share[share < SMALLEST_WEIGHT * share.sum()] = 0
    return share / share.sum()


class GaussianReplicates(NamedTuple):
    """Mixtures fitted to resampled tables; ``parameters`` are those of the valid ones, where no component collapsed.

    ``models`` names the covariance model of each valid replicate.
    """

    parameters: MixtureParameters
    models: np.ndarray
    valid: np.ndarray
    columns: np.ndarray

    def posteriors(self, X: np.ndarray) -> np.ndarray:
        """Posterior probabilities under the valid replicates, shape (n_clusters, n_samples, n_valid)."""
        return posteriors(np.asarray(X, dtype=float)[:, self.columns], self.parameters).transpose(2, 1, 0)


class _Start(NamedTuple):
    """Rows with given probabilities of the components, shape (starts, rows, components)."""

    rows: Rows
    posterior: np.ndarray


class _Problem(NamedTuple):
    """Rows that count, in the columns that vary, and what starts are made from."""

    columns: np.ndarray
    rows: Rows
    given: _Start | None  # the caller's
    sample: Rows  # rows of the merge trees and of k-means
    trees: list[MergeTree]


class _Rival(NamedTuple):
    """A model that did not collapse, with as many clusters as the chosen one."""

    model: str
    parameters: MixtureParameters
    aic: float


class ParsimoniousGaussianMixture(ClassMixture):
    r"""Gaussian mixture with one of fourteen covariance models [1]_, [2]_.

    The covariance of a component is :math:`\Sigma_k = \lambda_k D_k A_k D_k^T`; a model says whether volume λ, shape A
    and orientation D are equal for all components (E), their own (V), or trivial (I).

    Attributes
    ----------
    means_ : ndarray of shape (n_clusters, n_features)
        Also ``cluster_centers_``. Clusters are numbered from the largest to the smallest, unless ``init`` is an array.
    covariances_ : ndarray of shape (n_clusters, n_features, n_features)
    model_ : str
    start_criteria_ : ndarray
        Log-likelihood at the end of every start, also of those at solutions of simpler models.

    Notes
    -----
    Models other than EEE, EVV and VVV depend on the units of the columns: scale columns first if units mean nothing. A
    constant column is left out, with a warning. Weights count as copies.

    Among several models, each also starts from the solutions of the simpler ones it contains: it is then at least as
    likely as they are, unless a component collapses on the way.

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
        papers=("Celeux & Govaert, *Pattern Recognition* 28, 1995",), guide="mixtures", takes=("weights",),
        number=("given", "searched"), criterion="maximized", quick={"model": "EII"}, grows="*n p² c*", memory="*n c*",
        doubt="probabilities", limit="too sure: estimates are taken for the truth",
    )  # fmt: skip

    model: Any = param(
        Choice("auto", *MODELS) | MODEL_LIST,
        'Covariance model; the best of a list by ``select_by``, or of all (``"auto"``).',
        default="auto",
    )
    init: Any = param(
        Choice("hierarchical", "k-means") | Kind("array of labels or of probabilities"),
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
        Number(above=0, high=1),
        """A component whose covariance falls below this fraction of the covariance of the whole table, in any
        direction, has collapsed: the fit is not considered.""",
        default=1e-8,
    )

    _cure = "Ask for fewer clusters or a simpler model such as 'EEI', or give more objects."

    @one_blas_thread
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the mixture of highest likelihood, model and number of clusters by the criterion.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        """
        self.check_parameters()
        table = self._check_table(X, reset=True)
        weight = _base.check_weight(self, sample_weight, len(table))
        weight = np.ones(len(table)) if weight is None else weight
        rng = check_random_state(self.random_state)
        given = self._given_start(len(table))
        numbers = self._numbers(int(np.count_nonzero(weight))) if given is None else [given.shape[1]]
        problem = self._prepare(table, weight, given, rng)
        found = self._search(numbers, partial(self._fit_number, problem, rng))
        self._publish_model(table, problem.columns, self._publish_choice(found), found)
        self._publish(X, self._masses(table))
        return self

    def _models(self, n_features: int) -> list[str]:
        """Models to try, each after those it contains."""
        if isinstance(self.model, str) and self.model == "auto":  # in one dimension there is only volume
            return list(MODELS if n_features > 1 else MODELS[:2])
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

    def _prepare(
        self, table: np.ndarray, weight: np.ndarray, given: np.ndarray | None, rng: np.random.RandomState
    ) -> _Problem:
        used = weight > 0
        table, weight = table[used], weight[used]
        mean = np.average(table, axis=0, weights=weight)
        deviation = np.sqrt(np.average(np.square(table - mean), axis=0, weights=weight))
        varying = np.flatnonzero(deviation > 10 * np.finfo(float).eps * np.abs(mean))
        if not len(varying):
            raise ValueError("All rows of X are equal, so there are no clusters to find in it.")
        if len(varying) < table.shape[1]:
            left_out = sorted(set(range(table.shape[1])) - set(varying.tolist()))
            warn_user(
                f"{type(self).__name__} leaves out constant columns {left_out}: they have no density.", UserWarning
            )
        rows = Rows(table[:, varying], weight)
        if given is not None:
            return _Problem(varying, rows, _Start(rows, given[used][None]), rows, [])
        sample, trees = start_rows(rows, rng), []
        if self.init == "hierarchical":
            kinds = ((scaled_svd, "VVV"), (standardized, "VVV"), (scaled_svd, "EII"))[: self.n_init]
            trees = [agglomerate(kind(*sample), sample.weight, model=model) for kind, model in kinds]
        return _Problem(varying, rows, None, sample, trees)

    def _start(self, problem: _Problem, number: int, rng: np.random.RandomState) -> _Start:
        if problem.given is not None:
            return problem.given
        labels = [tree.labels(number) for tree in problem.trees]
        if self.n_init > len(labels):
            Z = standardized(*problem.sample)  # k-means is not blind to scale
            centers_of_starts = kmeans_starts(Z, number, self.n_init - len(labels), rng, problem.sample.weight)
            labels += [pairwise_distances_argmin(Z, centers) for centers in centers_of_starts]
        return _Start(problem.sample, np.eye(number)[np.stack(labels)])

    def _fit_number(self, problem: _Problem, rng: np.random.RandomState, number: int) -> Iterator[Candidate]:
        """Every model with one number of clusters."""
        start = self._start(problem, number, rng)
        solved: dict[str, MixtureParameters] = {}
        for model in self._models(problem.rows.X.shape[1]):
            within = [solved[other] for other in just_below(model) if other in solved]
            found = self._fit_model(problem.rows, start, within, model)
            if not found.collapsed:
                solved[model] = found.best.state
            yield found

    def _fit_model(self, rows: Rows, start: _Start, within: list[MixtureParameters], model: str) -> Candidate:
        """EM from every start and from solutions of models contained in this one; the best that did not collapse."""
        rule = partial(covariances, model)
        first = from_posteriors(start.rows.X, start.rows.weight, start.posterior, rule, reg_covar=self.reg_covar)
        found = fit_replicates(
            rows.X,
            rows.weight,
            MixtureParameters(*(np.concatenate(parts) for parts in zip(first, *within))),
            rule,
            tol=self.tol,
            max_iter=self.max_iter,
            reg_covar=self.reg_covar,
        )
        runs = [
            Run(found.parameters.take(slice(at, at + 1)), -found.trace[: n_iter + 1, at], bool(found.converged[at]))
            for at, n_iter in enumerate(found.n_iter)
        ]
        at = int(np.lexsort([found.log_likelihood, ~found.degenerate])[-1])
        log_likelihood, parameters = float(found.log_likelihood[at]), runs[at].state
        _, n_clusters, n_features = parameters.means.shape
        n_free = n_parameters(model, n_clusters, n_features)
        return Candidate(
            focal_sets=FocalSets(n_clusters, "singletons", empty=False),
            best=runs[at],
            runs=runs,
            log_likelihood=log_likelihood,
            n_parameters=n_free,
            n_objects=float(rows.weight.sum()),
            criteria=information_criteria(log_likelihood, n_free, evaluate(rows.X, parameters)[0][0], rows.weight),
            collapsed=bool(found.degenerate[at]),
            settings={"model": model},
        )

    def _publish_model(self, table: np.ndarray, columns: np.ndarray, best: Candidate, found: list[Candidate]) -> None:
        weights, means, within = (part[0] for part in best.best.state)
        order = _base.largest_first(weights) if isinstance(self.init, str) else np.arange(len(weights))
        self._parameters = MixtureParameters(*(part[:, order] for part in best.best.state))
        self._varying = columns
        self._rivals = [
            _Rival(one.settings["model"], one.best.state, one.criteria["aic"])
            for one in found
            if one is best or (one.n_clusters == best.n_clusters and not one.collapsed)
        ]
        self.model_, self.focal_sets_, self.weights_ = best.settings["model"], best.focal_sets, weights[order]
        self.means_ = np.tile(table[0], (len(weights), 1))
        self.means_[:, columns] = means[order]
        self.cluster_centers_ = self.means_
        self.covariances_ = np.zeros((len(weights), table.shape[1], table.shape[1]))
        self.covariances_[:, columns[:, None], columns] = within[order]

    def _evaluate(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        posterior, log_density = evaluate(table[:, self._varying], self._parameters)
        return posterior[0], log_density[0]

    def fit_replicates(self, X: Any, weights: np.ndarray, *, tol: float = 1e-5) -> GaussianReplicates:
        r"""Repeat the fit for many weightings of the rows at once, each from the present estimate.

        When the covariance model was chosen among several, replicates are shared out among the models in proportion
        to :math:`\exp(\mathrm{AIC}/4)`, the square root of Akaike's weights. A bootstrap of the chosen model alone
        takes it for the truth, and its intervals are too short when it is simpler than the truth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        weights : ndarray of shape (n_replicates, n_samples)
            Such as how often each row was drawn in a bootstrap sample.
        tol : float
            As for the estimator; the default is the looser one that suits a bootstrap.
        """
        check_is_fitted(self)
        table = self._check_table(X, reset=False)[:, self._varying]
        share = model_weights(np.array([rival.aic for rival in self._rivals]))
        steps = (np.arange(len(weights)) + 0.5) / len(weights)
        chosen = np.searchsorted(np.cumsum(share), steps)  # even steps: the shares hold in any number of replicates
        parts, valid = [], np.zeros(len(weights), dtype=bool)
        for number in np.unique(chosen):
            rival, which = self._rivals[number], chosen == number
            found = fit_replicates(
                table,
                weights[which],
                rival.parameters,
                partial(covariances, rival.model),
                tol=tol,
                max_iter=self.max_iter,
                reg_covar=self.reg_covar,
            )
            valid[which] = ~found.degenerate
            parts.append(found.parameters.take(~found.degenerate))
        parameters = MixtureParameters(*(np.concatenate(part) for part in zip(*parts)))
        models = np.array([rival.model for rival in self._rivals])[chosen[valid]]
        return GaussianReplicates(parameters, models, valid, self._varying)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw objects from the fitted mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        component : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        component = rng.choice(self.n_clusters_, size=n_samples, p=self.weights_ / self.weights_.sum())
        roots = np.linalg.cholesky(self._parameters.covariances[0])
        noise = rng.standard_normal((n_samples, len(self._varying)))
        X = self.means_[component]
        X[:, self._varying] += np.einsum("npq,nq->np", roots[component], noise)
        return X, component


def standardized(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Columns of mean zero and deviation one."""
    centered = X - np.average(X, axis=0, weights=weight)
    return centered / np.sqrt(np.average(np.square(centered), axis=0, weights=weight))


def start_rows(rows: Rows, rng: np.random.RandomState) -> Rows:
    """All rows in lexical order, so that ties do not depend on the order of the table; or a sample of a large one."""
    if len(rows.X) <= START_ROWS:
        order = np.lexsort(rows.X.T)
        return Rows(rows.X[order], rows.weight[order])
    some = representatives(*rows, rng)
    cumulative = np.cumsum(some.weight)
    picked = np.searchsorted(cumulative, (np.arange(START_ROWS) + 0.5) / START_ROWS * cumulative[-1])
    return Rows(some.X[picked], np.ones(START_ROWS))
