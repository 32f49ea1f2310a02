r"""Replicates of a Gaussian mixture that differ in covariance model and number of clusters, as much as these are open.

A bootstrap that repeats the chosen model takes it for the truth, and its intervals are too short when the model is
simpler than the truth or when the number of clusters is wrong. Here every replicate has a model, and perhaps a number
of clusters, of its own, and there are more replicates of what the table supports more:

- among models with c clusters the shares are Akaike's weights, proportional to :math:`\exp(\mathrm{AIC} / 2)`. A model
  with as many parameters as there are objects gets none, since AIC means nothing there; if the best one is such a
  model, it is alone. AIC takes the *optimism* of a model, what its likelihood gains by being that of its own rows,
  for its number of parameters. It is more where these are hardly determined: common axes of clusters of one shape
  (EVE, VVE), say, in ten columns. So the optimism of every model that would get a share is measured by
  cross-validation. Where it is beyond doubt more than the parameters of one of them, the measured one counts for all;
- the *support* of c clusters is proportional to :math:`\exp(\mathrm{BIC}_c / 4)`, with the BIC of the best model with c
  clusters: the square root of its approximate posterior probability. The root gives a number that is nearly as good
  more of a say, since a difference of BIC is itself known from the data only.

All models with c clusters are fitted anew from the clusters of the best one. Each model's own highest likelihood may
belong to another grouping, and an average over different groupings has neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evidentia.mixtures._base import Candidate
from evidentia.mixtures._bounded import CovarianceModel
from evidentia.mixtures._replicates import (
    MixtureParameters,
    Replicates,
    evaluate,
    fit_replicates,
    from_posteriors,
)
from evidentia.mixtures.finalists import DOUBT
from evidentia.mixtures.parsimonious import GaussianReplicates, ParsimoniousGaussianMixture
from evidentia.solvers.starts import Rows

SMALLEST_SHARE = 0.005  # rarer ones would get no replicate of two hundred
FOLDS = 10  # of the cross-validation


class Rival(NamedTuple):
    """A mixture that some of the replicates start from, and how many of them: ``share`` sums to one."""

    model: str
    parameters: MixtureParameters
    share: float


def shares(criterion: np.ndarray) -> np.ndarray:
    r"""Shares in an average, proportional to :math:`\exp(\mathrm{criterion} / 2)`; small ones become zero.

    For AIC as :math:`2 \log L - 2 \nu` these are Akaike's weights. When the first is minus infinity it is the only one.

    Examples
    --------
    >>> shares(np.array([-100.0, -102.0, -200.0])).round(3)
    array([0.731, 0.269, 0.   ])
    """
    if criterion[0] == -np.inf:
        return np.eye(len(criterion))[0]
    share = np.exp((criterion - criterion.max()) / 2)
    share[share < SMALLEST_SHARE * share.sum()] = 0
    return share / share.sum()


def akaike(log_likelihood: float, n_parameters: int, n_objects: float) -> float:
    """Akaike's criterion, larger for better; minus infinity when there are as many parameters as objects.

    Examples
    --------
    >>> akaike(-100.0, 9, 20), akaike(-100.0, 20, 20)
    (-218.0, -inf)
    """
    return 2 * (log_likelihood - n_parameters) if n_parameters < n_objects else -np.inf


def measure_optimism(
    rows: np.ndarray, start: MixtureParameters, rule: CovarianceModel, **settings: Any
) -> tuple[float, float]:
    r"""By how much the log-likelihood of its own rows flatters a fitted mixture, and the standard error of that.

    Ten fits lack a tenth of the rows each. The optimism of a row is the mean of its log densities under the ten, less
    that under the one which has not seen it: cross-validation, corrected for the tenth that is missing [1]_. For a
    regular model the sum is about the number of parameters.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    start : MixtureParameters
        The mixture that was fitted to them, from which EM of the ten begins.
    rule : CovarianceModel
        Its M-step.
    **settings
        Of ``fit_replicates``.

    Returns
    -------
    optimism, error : float
        NaN when a component collapses in one of the fits.

    References
    ----------
    .. [1] P. Burman. A comparative study of ordinary cross-validation, v-fold cross-validation and the repeated
       learning-testing methods. Biometrika 76(3):503-514, 1989.
    """
    n = len(rows)
    fold = np.random.RandomState(0).permutation(n) % FOLDS
    found = fit_replicates(rows, (fold != np.arange(FOLDS)[:, None]).astype(float), start, rule, **settings)
    if found.degenerate.any():
        return np.nan, np.nan
    log_density = evaluate(rows, found.parameters)[1]
    gain = log_density.mean(axis=0) - log_density[fold, np.arange(n)]
    return float(gain.sum()), float(np.sqrt(n) * gain.std())


def number_support(selection: pd.DataFrame) -> pd.Series:
    """How much the table supports each number of clusters that was tried; it sums to one.

    Parameters
    ----------
    selection : DataFrame
        ``selection_`` of a mixture, with columns ``n_clusters`` and ``bic``.

    Examples
    --------
    >>> tried = pd.DataFrame({"n_clusters": [2, 2, 3, 4], "bic": [-570.0, -560.0, -562.0, np.nan]})
    >>> number_support(tried).round(3).to_dict()
    {2: 0.622, 3: 0.378}
    """
    best = selection.groupby("n_clusters")["bic"].max().dropna()
    return pd.Series(shares(best.to_numpy() / 2), index=best.index, name="support")


def merge_share(replicated: np.ndarray, posterior: np.ndarray) -> np.ndarray:
    """In which share of the replicates two clusters are one, shape (n_clusters, n_clusters).

    They are when an object of the first and one of the second, both taken by their probabilities of these clusters,
    share a class more likely than not.

    Parameters
    ----------
    replicated : ndarray of shape (n_classes, n_samples, n_replicates)
        Posterior probabilities under the replicates, whose classes need not be the clusters.
    posterior : ndarray of shape (n_samples, n_clusters)
        Of the mixture whose clusters are meant.

    Examples
    --------
    Two clusters of one object each. The first replicate has them in one class, the others do not.

    >>> first_class = np.array([[1.0, 1.0, 0.0], [0.9, 0.0, 0.8]])
    >>> merge_share(np.stack([first_class, 1 - first_class]), np.eye(2)).round(2)
    array([[1.  , 0.33],
           [0.33, 1.  ]])
    """
    of_cluster = np.einsum("ik,lib->kbl", posterior / posterior.sum(axis=0), replicated, optimize=True)
    return (np.einsum("jbl,kbl->jkb", of_cluster, of_cluster) > 0.5).mean(axis=2)


def split_share(replicated: np.ndarray, posterior: np.ndarray) -> np.ndarray:
    """In which share of the replicates a cluster is several, shape (n_clusters,).

    It is when more than one class has more of this cluster's objects than of any other's. Arguments are those of
    :func:`merge_share`.

    Examples
    --------
    Two clusters of two objects. The first replicate cuts the second one in two, the other does not.

    >>> replicated = np.zeros((3, 4, 2))
    >>> replicated[[0, 0, 1, 2], range(4), 0] = replicated[[0, 0, 1, 1], range(4), 1] = 1
    >>> split_share(replicated, np.repeat(np.eye(2), 2, axis=0))
    array([0. , 0.5])
    """
    common = np.einsum("ik,lib->klb", posterior, replicated, optimize=True)
    home = np.where(common.sum(axis=0) > 0, common.argmax(axis=0), -1)  # not every replicate has every class
    return np.array([((home == k).sum(axis=0) > 1).mean() for k in range(len(common))])


class GaussianAverage:
    """Replicates of a fitted mixture, shared out among models and numbers of clusters; see the head of this module.

    Parameters
    ----------
    mixture : ParsimoniousGaussianMixture
        Fitted.
    rows : Rows
        The rows it was fitted to, each of weight one; or a sample of them, with weights that add up to their number.
    support : Series
        Share of each number of clusters.
    models : bool
        Whether to average over models too, and not only over the best one of each number.
    tol : float, optional
        When EM of a replicate ends; that of the mixture by default.
    finish : callable, optional
        Fits to all rows what was fitted to a sample of them.
    """

    def __init__(
        self,
        mixture: ParsimoniousGaussianMixture,
        rows: Rows,
        support: pd.Series,
        *,
        models: bool = True,
        tol: float | None = None,
        finish: Callable[[Candidate], Candidate] | None = None,
    ):
        self.mixture, self.models, self.tol = mixture, models, tol
        self.rivals: list[Rival] = []
        inside = Rows(rows.X[:, mixture._varying], rows.weight)
        for number, weight in support[support > 0].items():
            near = self._near(inside, [c for c in mixture._candidates if c.n_clusters == number])
            share = weight * self._weigh(inside, near)
            for at, ((one, _), part) in enumerate(zip(near, share)):
                one = finish(one) if finish is not None and one.first_look and part > 0 else one
                if one.interrupted:
                    raise KeyboardInterrupt
                if part > 0 and (at == 0 or not one.collapsed):  # the best stays, whatever it is
                    self.rivals.append(Rival(one.settings["model"], one.best.state, part))

    def _near(self, rows: Rows, found: list[Candidate]) -> list[tuple[Candidate, float]]:
        """The best of some candidates, and the other models fitted from its clusters; their AIC.

        Of a sample it is the AIC that is expected of all rows: see
        :func:`~evidentia.mixtures.finalists.as_first_look`.
        """
        best, total = max(found, key=lambda one: one.criteria[self.mixture.select_by]), float(rows.weight.sum())
        sampled = total > len(rows.X)
        over = (float(np.square(rows.weight).sum()) / total - 1) / 2 if sampled else 0.0  # for each parameter
        posterior, log_density = evaluate(rows.X, best.best.state)
        best_found = float(rows.weight @ log_density[0]) if sampled else best.log_likelihood
        best_found -= over * best.n_parameters * best.first_look
        near = [(best, akaike(best_found, best.n_parameters, total))]
        weight = rows.weight if sampled else None
        for one in found:
            rule = self.mixture._rule(one.settings["model"])
            if one is best or not self.models:
                continue
            start = from_posteriors(rows.X, weight, posterior, rule, reg_covar=self.mixture.reg_covar)
            settings: Any = {"tol": self.mixture.tol, "max_iter": self.mixture.max_iter}
            fitted = fit_replicates(rows.X, weight, start, rule, reg_covar=self.mixture.reg_covar, **settings)
            if not fitted.degenerate[0]:
                expected = float(fitted.log_likelihood[0]) - over * one.n_parameters
                run = replace(one.best, state=fitted.parameters)
                near.append((replace(one, best=run, first_look=sampled), akaike(expected, one.n_parameters, total)))
        return near

    def _weigh(self, rows: Rows, near: list[tuple[Candidate, float]]) -> np.ndarray:
        """Shares by AIC; by measured optimism, once that of a model is beyond doubt more than its parameters.

        A sample stands for many rows, where AIC holds.
        """
        criterion = np.array([found for _, found in near])
        if len(near) == 1 or rows.weight.sum() > len(rows.X):
            return shares(criterion)
        settings = {name: getattr(self.mixture, name) for name in ("tol", "max_iter", "reg_covar")}
        excess, refuted = np.zeros(len(near)), False
        measured: set[int] = set()
        while new := set(np.flatnonzero(shares(criterion - 2 * refuted * excess)).tolist()) - measured:
            for at in new:
                one = near[at][0]
                rule = self.mixture._rule(one.settings["model"])
                optimism, error = measure_optimism(rows.X, one.best.state, rule, **settings)
                excess[at] = np.nan_to_num(optimism - one.n_parameters)
                refuted |= bool(excess[at] > DOUBT * error)
            measured |= new
        return shares(criterion - 2 * refuted * excess)

    def fit_replicates(self, X: np.ndarray, weights: np.ndarray) -> GaussianReplicates:
        """Fit a mixture to each weighting of the rows, (n_replicates, n_samples), from that of its rival."""
        return self.fit_each(self.mixture.weighted_fit(X, weights), len(weights))

    def fit_each(self, fit: Callable[..., Replicates], n_replicates: int) -> GaussianReplicates:
        """As many replicates, each from its rival, as ``fit(which, start=, rule=, …)`` fits some of them."""
        steps = (np.arange(n_replicates) + 0.5) / n_replicates
        ends = np.cumsum([rival.share for rival in self.rivals])
        chosen = np.searchsorted(ends[:-1], steps)  # even steps: the shares hold in any number of replicates
        parts = [
            self.mixture.repeat(fit, np.flatnonzero(chosen == number), rival.model, rival.parameters, tol=self.tol)
            for number, rival in enumerate(self.rivals)
            if (chosen == number).any()
        ]
        return GaussianReplicates.concatenate(parts)
