"""Gaussian mixtures with the fourteen covariance models, chosen by BIC, ICL or AIC.

The mixtures themselves are fitted by :mod:`evidentia.solvers.batched_em`: all starts of one model at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from tqdm.auto import tqdm

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.mixtures.covariance_models import MODELS, covariances, n_covariance_parameters
from evidentia.solvers.batched_em import (
    MixtureParameters,
    evaluate,
    fit_replicates,
    from_posteriors,
    posteriors,
)
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.gaussian_agglomeration import MergeTree, agglomerate, scaled_svd
from evidentia.solvers.starts import Rows, kmeans_starts, representatives

START_ROWS = 2_000  # starts need no more, and an agglomeration takes the square of this in memory
CRITERIA = ("bic", "icl", "aic")
CAUTION = 2.0  # Akaike weights are raised to the power 1 / CAUTION: differences of AIC are themselves uncertain
SMALLEST_WEIGHT = 0.005  # of a model in the average; rarer ones would get no replicate of two hundred


def information_criteria(
    log_likelihood: float, n_free: int, posterior: np.ndarray, weight: np.ndarray
) -> dict[str, float]:
    r"""BIC, ICL and AIC, all to be maximised.

    .. math::
        \mathrm{BIC} = 2 \log L - \nu \log n, \qquad
        \mathrm{ICL} = \mathrm{BIC} + 2 \sum_i \log \max_k r_{ik}, \qquad
        \mathrm{AIC} = 2 \log L - 2 \nu
    """
    bic = 2 * log_likelihood - n_free * float(np.log(weight.sum()))
    certainty = float(weight @ np.log(posterior.max(axis=1)))
    return {"bic": bic, "icl": bic + 2 * certainty, "aic": 2 * (log_likelihood - n_free)}


def n_parameters(model: str, n_components: int, n_features: int) -> int:
    """Free parameters: mixing probabilities, means, covariances."""
    return n_components - 1 + n_components * n_features + n_covariance_parameters(model, n_components, n_features)


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
        """Posterior probabilities under the valid replicates, shape (n_components, n_samples, n_valid)."""
        return posteriors(np.asarray(X, dtype=float)[:, self.columns], self.parameters).transpose(2, 1, 0)


class _Start(NamedTuple):
    """Rows with given probabilities of the components, shape (starts, rows, components)."""

    rows: Rows
    posterior: np.ndarray


class _Problem(NamedTuple):
    """Rows that count, in the columns that vary, and what starts are made from."""

    rows: Rows
    given: _Start | None  # the caller's
    sample: Rows  # rows of the merge trees and of k-means
    trees: list[MergeTree]


class _Fit(NamedTuple):
    """The best start of one model with one number of components."""

    model: str
    parameters: MixtureParameters
    log_likelihood: float
    n_iter: int
    converged: bool
    degenerate: bool
    criteria: dict[str, float]
    n_free: int

    @property
    def note(self) -> str:
        if self.degenerate:
            return "a component collapsed in every start"
        return "" if self.converged else "not converged"


class ParsimoniousGaussianMixture(_base.EvidentialClusterer):
    r"""Gaussian mixture with one of fourteen covariance models [1]_, [2]_.

    The covariance of a component is :math:`\Sigma_k = \lambda_k D_k A_k D_k^T`; a model says whether volume λ, shape A
    and orientation D are equal for all components (E), their own (V), or trivial (I).

    Parameters
    ----------
    n_components : int or "auto"
        ``"auto"`` takes the number in ``component_range`` with the best criterion.
    model : "auto", str or list of str
        ``EII VII EEI VEI EVI VVI EEE VEE EVE VVE EEV VEV EVV VVV``; the best of a list, or of all (``"auto"``).
    component_range : (int, int)
        Smallest and largest number of components that ``"auto"`` tries.
    criterion : {"bic", "icl", "aic"}
        What decides between models and numbers of components.
    init : {"hierarchical", "k-means"} or array
        Starts by model-based agglomeration [3]_, by k-means, or from labels (n_samples,) or probabilities
        (n_samples, n_components) of the caller.
    n_init : int
        Number of starts. The first three of ``"hierarchical"`` are merge trees for free covariances (in two kinds
        of coordinates) and for equal spheres; what is asked beyond them starts from k-means.
    max_iter : int
    tol : float
        EM ends when the mean log-likelihood of an object rises by no more than this.
    reg_covar : float
        A component whose covariance falls below this fraction of the covariance of the whole table, in any
        direction, has collapsed: the fit is not considered.
    random_state : int, RandomState or None
        For k-means, and for the 2,000 rows that stand for a larger table in the starts.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Components are numbered from the largest to the smallest, unless ``init`` is an array.
    means_ : ndarray of shape (n_components, n_features)
        Also ``cluster_centers_``.
    covariances_ : ndarray of shape (n_components, n_features, n_features)
    model_ : str
    n_components_ : int
    log_likelihood_ : float
    n_parameters_ : int
    selection_ : DataFrame
        All criteria, log-likelihood, parameters, iterations and remarks for each model and number of components tried.
    partition_ : CredalPartition
        Posterior probabilities as masses on single clusters.
    labels_ : ndarray of shape (n_samples,)
    converged_ : bool
    n_iter_ : int

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
    >>> mixture.model_, mixture.n_components_
    ('VII', 2)
    >>> mixture.weights_.round(1)
    array([0.6, 0.4])
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        model: str | Iterable[str] = "auto",
        component_range: tuple[int, int] = (1, 9),
        criterion: str = "bic",
        init: Any = "hierarchical",
        n_init: int = 3,
        max_iter: int = 1000,
        tol: float = 1e-6,
        reg_covar: float = 1e-8,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.model = model
        self.component_range = component_range
        self.criterion = criterion
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ParsimoniousGaussianMixture:
        """Find the mixture of highest likelihood, model and number of components by the criterion.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
        """
        table = _base.check_table(self, X)
        weight = _base.check_weight(self, sample_weight, len(table))
        rng = check_random_state(self.random_state)
        given = self._given_start(len(table))
        models, counts = self._check_params(table, given)
        problem = self._prepare(table, weight, given, rng)
        fits: list[_Fit] = []
        try:
            with tqdm(counts, desc=type(self).__name__, unit="size", disable=not self.verbose) as bar:
                for count in bar:
                    start = self._start(problem, count, rng)
                    solved: dict[str, _Fit] = {}
                    for model in sorted(models, key=MODELS.index):  # a model comes after those it contains
                        within = [solved[other].parameters for other in just_below(model) if other in solved]
                        fit = self._fit_one(problem.rows, start, within, model)
                        fits.append(fit)
                        if not fit.degenerate:
                            solved[model] = fit
        except KeyboardInterrupt:
            if not fits:
                raise
            warn_user(
                f"{type(self).__name__} was interrupted; the best of {len(fits)} finished fits is kept.",
                InterruptedFit,
            )
        self._publish_model(table, fits)
        self._publish(X, self._masses(table))
        return self

    def _check_params(self, table: np.ndarray, given: np.ndarray | None) -> tuple[list[str], list[int]]:
        """Every range and option in one place; gives the models and the numbers of components to try."""
        _base.check_choice(self, "criterion", CRITERIA)
        _base.check_number(self, "n_init", low=1, integer=True)
        _base.check_number(self, "max_iter", low=1, integer=True)
        _base.check_number(self, "tol", low=0)
        _base.check_number(self, "reg_covar", low=0, high=1, strict=True)
        if isinstance(self.model, str):
            _base.check_choice(self, "model", ("auto", *MODELS))
        models = [self.model] if isinstance(self.model, str) else list(self.model)
        if unknown := [model for model in models if model not in ("auto", *MODELS)]:
            raise ValueError(f"The 'model' parameter of {type(self).__name__} names unknown models {unknown}.")
        if models == ["auto"]:  # in one dimension there is only volume
            models = list(MODELS if table.shape[1] > 1 else MODELS[:2])
        if isinstance(self.n_components, str):
            _base.check_choice(self, "n_components", ("auto",))
            low, high = self.component_range
            if not 1 <= low <= high:
                raise ValueError(
                    f"'component_range' of {type(self).__name__} must be (low, high) with 1 <= low <= high. "
                    f"Got ({low}, {high})."
                )
        else:
            _base.check_number(self, "n_components", low=1, integer=True)
            low = high = int(self.n_components)
        if given is not None:
            if not isinstance(self.n_components, str) and given.shape[1] != low:
                raise ValueError(
                    f"'init' of {type(self).__name__} has {given.shape[1]} groups but n_components={low}; "
                    "make them equal."
                )
            low = high = given.shape[1]
        if low > len(table):
            raise ValueError(
                f"{type(self).__name__} was asked for {low} components but X has only n_samples={len(table)} rows. "
                "Ask for fewer."
            )
        return models, list(range(low, min(high, len(table)) + 1))

    def _given_start(self, n_samples: int) -> np.ndarray | None:
        """Probabilities of the components that the caller starts from."""
        if isinstance(self.init, str):
            _base.check_choice(self, "init", ("hierarchical", "k-means"))
            return None
        given = np.asarray(self.init)
        if given.ndim == 1 and len(given) == n_samples:
            names, which = np.unique(given, return_inverse=True)
            return np.eye(len(names))[which]
        if given.ndim != 2 or len(given) != n_samples or (given < 0).any() or abs(given.sum(axis=1) - 1).max() > 1e-6:
            raise ValueError(
                f"'init' of {type(self).__name__} must be a label for each of {n_samples} rows, or rows of "
                f"probabilities that sum to 1. Got an array of shape {given.shape}."
            )
        return given.astype(float)

    def _prepare(
        self, table: np.ndarray, weight: np.ndarray | None, given: np.ndarray | None, rng: np.random.RandomState
    ) -> _Problem:
        weight = np.ones(len(table)) if weight is None else weight
        used = weight > 0
        table, weight = table[used], weight[used]
        mean = np.average(table, axis=0, weights=weight)
        deviation = np.sqrt(np.average(np.square(table - mean), axis=0, weights=weight))
        self._varying = np.flatnonzero(deviation > 10 * np.finfo(float).eps * np.abs(mean))
        if not len(self._varying):
            raise ValueError("All rows of X are equal, so there are no clusters to find in it.")
        if len(self._varying) < table.shape[1]:
            left_out = sorted(set(range(table.shape[1])) - set(self._varying.tolist()))
            warn_user(
                f"{type(self).__name__} leaves out constant columns {left_out}: they have no density.",
                UserWarning,
            )
        rows = Rows(table[:, self._varying], weight)
        if given is not None:
            return _Problem(rows, _Start(rows, given[used][None]), rows, [])
        sample, trees = _start_rows(rows, rng), []
        if self.init == "hierarchical":
            kinds = ((scaled_svd, "VVV"), (standardised, "VVV"), (scaled_svd, "EII"))[: self.n_init]
            trees = [agglomerate(kind(*sample), sample.weight, model=model) for kind, model in kinds]
        return _Problem(rows, None, sample, trees)

    def _start(self, problem: _Problem, count: int, rng: np.random.RandomState) -> _Start:
        if problem.given is not None:
            return problem.given
        labels = [tree.labels(count) for tree in problem.trees]
        if self.n_init > len(labels):
            Z = standardised(*problem.sample)  # k-means is not blind to scale
            centers_of_starts = kmeans_starts(Z, count, self.n_init - len(labels), rng, problem.sample.weight)
            labels += [pairwise_distances_argmin(Z, centers) for centers in centers_of_starts]
        return _Start(problem.sample, np.eye(count)[np.stack(labels)])

    def _fit_one(self, rows: Rows, start: _Start, within: list[MixtureParameters], model: str) -> _Fit:
        """EM from every start and from solutions of models contained in this one; the best that did not collapse."""
        rule = partial(covariances, model)
        first = from_posteriors(start.rows.X, start.rows.weight, start.posterior, rule, reg_covar=self.reg_covar)
        runs = fit_replicates(
            rows.X,
            rows.weight,
            MixtureParameters(*(np.concatenate(parts) for parts in zip(first, *within))),
            rule,
            tol=self.tol,
            max_iter=self.max_iter,
            reg_covar=self.reg_covar,
        )
        best = np.lexsort([runs.log_likelihood, ~runs.degenerate])[-1]
        parameters = runs.parameters.take(slice(best, best + 1))
        log_likelihood = float(runs.log_likelihood[best])
        _, n_components, n_features = parameters.means.shape
        n_free = n_parameters(model, n_components, n_features)
        criteria = information_criteria(log_likelihood, n_free, evaluate(rows.X, parameters)[0][0], rows.weight)
        return _Fit(
            model,
            parameters,
            log_likelihood,
            int(runs.n_iter[best]),
            bool(runs.converged[best]),
            bool(runs.degenerate[best]),
            criteria,
            n_free,
        )

    def _publish_model(self, table: np.ndarray, fits: list[_Fit]) -> None:
        best = max(fits, key=lambda fit: (not fit.degenerate, fit.criteria[self.criterion]))
        weights, means, within = (part[0] for part in best.parameters)
        if best.degenerate:
            warn_user(
                f"{type(self).__name__}: a component collapsed onto a few objects in every start of every model, so "
                f"the likelihood means nothing ({best.model} with {len(weights)} components has {best.n_free} "
                f"parameters for {len(table)} rows). Ask for fewer components or a simpler model such as 'EEI', or "
                "give more objects.",
                UserWarning,
            )
        elif not best.converged:
            warn_user(
                f"{type(self).__name__} reached max_iter={self.max_iter} before tol={self.tol:g}; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        order = _base.largest_first(weights) if isinstance(self.init, str) else np.arange(len(weights))
        self._parameters = MixtureParameters(*(part[:, order] for part in best.parameters))
        self.model_, self.n_components_ = best.model, len(weights)
        self.focal_sets_ = FocalSets(len(weights), "singletons", empty=False, omega=False)
        self.weights_ = weights[order]
        self.means_ = np.tile(table[0], (len(weights), 1))
        self.means_[:, self._varying] = means[order]
        self.cluster_centers_ = self.means_
        self.covariances_ = np.zeros((len(weights), table.shape[1], table.shape[1]))
        self.covariances_[:, self._varying[:, None], self._varying] = within[order]
        self.log_likelihood_, self.n_parameters_ = best.log_likelihood, best.n_free
        self._rivals = [
            fit for fit in fits if not fit.degenerate and fit.parameters.weights.shape == best.parameters.weights.shape
        ] or [best]
        self.converged_, self.n_iter_ = best.converged, best.n_iter
        self.selection_ = pd.DataFrame(
            [
                {
                    "model": fit.model,
                    "n_components": fit.parameters.weights.shape[1],
                    **{name: np.nan if fit.degenerate else value for name, value in fit.criteria.items()},
                    "log_likelihood": np.nan if fit.degenerate else fit.log_likelihood,
                    "n_parameters": fit.n_free,
                    "n_iter": fit.n_iter,
                    "note": fit.note,
                }
                for fit in fits
            ]
        )

    def _evaluate(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Posterior probabilities and log densities of rows not checked yet."""
        check_is_fitted(self)
        table = _base.check_table(self, X, reset=False)
        posterior, log_density = evaluate(table[:, self._varying], self._parameters)
        return posterior[0], log_density[0]

    def _masses(self, X: np.ndarray) -> np.ndarray:
        return evaluate(X[:, self._varying], self._parameters)[0][0]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probability of each component, shape (n_samples, n_components)."""
        return self._evaluate(X)[0]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of each row, shape (n_samples,)."""
        return self._evaluate(X)[1]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def _criteria(self, X: Any) -> dict[str, float]:
        posterior, log_density = self._evaluate(X)
        return information_criteria(float(log_density.sum()), self.n_parameters_, posterior, np.ones(len(posterior)))

    def bic(self, X: Any) -> float:
        """Bayesian information criterion 2 log L - ν log n of the rows; larger is better."""
        return self._criteria(X)["bic"]

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood: BIC less what is lost when each row is given to one component."""
        return self._criteria(X)["icl"]

    def aic(self, X: Any) -> float:
        """Akaike's criterion 2 log L - 2 ν of the rows; larger is better."""
        return self._criteria(X)["aic"]

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
        table = _base.check_table(self, X, reset=False)[:, self._varying]
        share = model_weights(np.array([rival.criteria["aic"] for rival in self._rivals]))
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
        component = rng.choice(self.n_components_, size=n_samples, p=self.weights_ / self.weights_.sum())
        roots = np.linalg.cholesky(self._parameters.covariances[0])
        noise = rng.standard_normal((n_samples, len(self._varying)))
        X = self.means_[component]
        X[:, self._varying] += np.einsum("npq,nq->np", roots[component], noise)
        return X, component


def standardised(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Columns of mean zero and deviation one."""
    centred = X - np.average(X, axis=0, weights=weight)
    return centred / np.sqrt(np.average(np.square(centred), axis=0, weights=weight))


def _start_rows(rows: Rows, rng: np.random.RandomState) -> Rows:
    """All rows in lexical order, so that ties do not depend on the order of the table; or a sample of a large one."""
    if len(rows.X) <= START_ROWS:
        order = np.lexsort(rows.X.T)
        return Rows(rows.X[order], rows.weight[order])
    some = representatives(*rows, rng)
    cumulative = np.cumsum(some.weight)
    picked = np.searchsorted(cumulative, (np.arange(START_ROWS) + 0.5) / START_ROWS * cumulative[-1])
    return Rows(some.X[picked], np.ones(START_ROWS))
