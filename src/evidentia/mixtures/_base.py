"""What the mixtures share: numbers of clusters to try, criteria, the table of what was tried, and the warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from tqdm.auto import tqdm

from evidentia import _base, _checks
from evidentia._parameters import Choice, Integer, Number, Predicate, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.solvers.callbacks import report_iteration, subtask
from evidentia.solvers.descent import INTERRUPTED_EARLY, InterruptedFit, Run

CRITERIA = ("bic", "icl", "aic")


def is_range(value: Any) -> bool:
    """Whether it is a pair of whole numbers, the first at least 1 and not above the second."""
    pair = list(value) if isinstance(value, list | tuple | np.ndarray) else []
    return len(pair) == 2 and all(isinstance(end, Integral) for end in pair) and 1 <= pair[0] <= pair[1]


CLUSTER_RANGE = Predicate("(low, high) with 1 <= low <= high", is_range)


def bic(log_likelihood: float, n_parameters: int, n_objects: float) -> float:
    """Return the Bayesian information criterion, to be maximized."""
    return float(2 * log_likelihood - n_parameters * np.log(n_objects))


def ebic(log_likelihood: float, n_parameters: int, n_objects: float) -> float:
    """Evidential Bayesian information criterion, (33) of the paper on EGMM, to be maximized: half of BIC."""
    return float(log_likelihood - 0.5 * n_parameters * np.log(n_objects))


def information_criteria(
    log_likelihood: float, n_parameters: int, certainty: float, n_objects: float
) -> dict[str, float]:
    r"""BIC, ICL and AIC, all to be maximized.

    .. math::
        \mathrm{BIC} = 2 \log L - \nu \log n, \qquad
        \mathrm{ICL} = \mathrm{BIC} + 2 \sum_i \log \max_k r_{ik}, \qquad
        \mathrm{AIC} = 2 \log L - 2 \nu
    """
    value = bic(log_likelihood, n_parameters, n_objects)
    return {"bic": value, "icl": value + 2 * certainty, "aic": 2 * (log_likelihood - n_parameters)}


def certainty_of(posterior: np.ndarray, weight: np.ndarray) -> float:
    r""":math:`\sum_i w_i \log \max_k r_{ik}`, which ICL adds to BIC."""
    return float(weight @ np.log(posterior.max(axis=1)))


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """The best start for one number of clusters; ``criteria`` are to be maximized, runs minimize minus the criterion.

    ``flaw`` says why its clusters are not groups, if they are not.

    ``settings`` says what else was chosen, such as the covariance model. A collapsed one is the best of starts that
    all collapsed, and its likelihood means nothing. A first look was fitted to a sample of the rows alone: its
    likelihood is the one expected of all.
    """

    focal_sets: FocalSets
    best: Run
    runs: list[Run]
    log_likelihood: float
    n_parameters: int
    n_objects: float
    criteria: Mapping[str, float]
    collapsed: bool
    interrupted: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    first_look: bool = False
    flaw: str = ""

    @property
    def n_clusters(self) -> int:
        return self.focal_sets.n_clusters

    def row(self, collapse: str) -> dict[str, Any]:
        """Its line in ``selection_``."""
        likelihoods = {**self.criteria, "log_likelihood": self.log_likelihood}
        remarks = {
            _base.FIRST_LOOK: self.first_look,
            f"{collapse} in every start": self.collapsed,
            "interrupted": self.interrupted,
            "not converged": not (self.best.converged or self.collapsed or self.interrupted),
            self.flaw: self.flaw,
        }
        return {
            **self.settings,
            "n_clusters": self.n_clusters,
            **{name: np.nan if self.collapsed else value for name, value in likelihoods.items()},
            "n_parameters": self.n_parameters,
            "n_iter": self.best.n_iter,
            "note": "; ".join(remark for remark, holds in remarks.items() if holds),
        }


class MixtureClusterer(_base.IterativeClusterer):
    """Base of the mixtures that EM fits, for one number of clusters or for several to choose from.

    A subclass names the criterion that chooses (``select_by``), what a collapse is and its cure, and gives
    ``_evaluate(table)``: masses and log densities of checked rows. Its ``fit`` asks :meth:`_numbers`, hands a function
    of the number of clusters to :meth:`_search`, and publishes by :meth:`_publish_choice`.
    """

    select_by = "bic"
    _collapse = "a component collapsed"
    _cure = "Ask for fewer clusters, or give more objects."

    n_clusters: Any = param(
        _base.N_CLUSTERS | "auto",
        '``"auto"`` chooses among those of ``cluster_range`` by a criterion that counts parameters against them.',
        default="auto",
        kw_only=False,
    )
    cluster_range: Any = param(
        CLUSTER_RANGE, 'Smallest and largest number of clusters that ``"auto"`` tries.', default=(1, 9)
    )
    max_iter: int = param(Integer(low=1), "Most iterations of one start.", default=1000)
    tol: float = param(
        Number(low=0),
        "A start ends when an iteration raises the criterion by no more than this per object.",
        default=1e-6,
    )

    attributes = {
        "criterion_": "float\nLog-likelihood of the observed data, which is maximized.",
        "criterion_trace_": "ndarray\nThe criterion after each iteration of the best start; it never falls.",
        "ebic_": "float\nLog-likelihood less half the number of parameters times the logarithm of the number of "
        "objects: half of BIC. Larger is better.",
        "bic_": "float\nBIC of the mixture of single clusters, 2 log L - ν log n, by which numbers of clusters are "
        "compared; larger is better. NaN where sets of clusters are fitted together with the clusters.",
        "n_parameters_": "int\nNumber of free parameters.",
        "collapsed_": "bool\nWhether every start collapsed onto a few objects, so that the likelihood means nothing.",
        "flaw_": "str\nWhy the clusters are not groups, such as a cluster of fewer than 5 objects. Empty if they are.",
        "selection_": "DataFrame\nCriteria, log-likelihood, parameters, iterations and a note for everything that was "
        "tried; NaN where it collapsed.",
    }

    def _numbers(self, n_objects: int) -> list[int]:
        """Numbers of clusters to try on that many objects."""
        fixed = self.n_clusters
        low, high = self.cluster_range if isinstance(fixed, str) else (fixed, fixed)
        _checks.check_enough_rows(self, n_objects, low)
        return list(range(int(low), min(int(high), n_objects) + 1))

    def _search(self, numbers: list[int], fit: Callable[[int], Iterable[Candidate]]) -> list[Candidate]:
        """What ``fit`` gives for each number of clusters; an interrupt keeps what is there, and is said."""
        found: list[Candidate] = []
        try:
            with tqdm(numbers, desc=type(self).__name__, unit="size", disable=not self.verbose) as bar:
                for number in bar:
                    with subtask("n_clusters") as end:
                        for candidate in fit(number):
                            found.append(candidate)
                            if candidate.interrupted or report_iteration():
                                raise KeyboardInterrupt
                        stop = end()
                    if stop:
                        raise KeyboardInterrupt
        except KeyboardInterrupt:
            if not found:
                raise KeyboardInterrupt(INTERRUPTED_EARLY.format(who=type(self).__name__)) from None
            warn_user(
                f"{type(self).__name__} was interrupted; the best of {len(found)} fits with up to "
                f"{found[-1].n_clusters} clusters is kept.",
                InterruptedFit,
            )
        return found

    def _publish_choice(self, found: list[Candidate]) -> Candidate:
        """Publish what was tried, and the criteria of the best that did not collapse; say what is wrong with it."""
        best = max(found, key=lambda one: (not one.collapsed, one.criteria[self.select_by]))
        who = f"{type(self).__name__} with {best.n_clusters} clusters"
        if not np.isfinite(best.log_likelihood):
            raise ValueError(
                f"{who} has no finite likelihood on X ({best.log_likelihood:g}): doubles do not carry the ratios of "
                "variances of its columns. Measure the columns in units of similar spread, for instance "
                "X / X.std(axis=0)."
            )
        if best.collapsed:
            warn_user(
                f"{who}: {self._collapse} in every start, so the likelihood means nothing ({best.n_parameters} "
                f"parameters for {best.n_objects:g} objects). {self._cure}",
                UserWarning,
            )
        elif not (best.best.converged or best.interrupted):
            warn_user(
                f"{who} reached max_iter={self.max_iter} before tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
            )
        self._publish_run(best.best, best.runs, -1.0)
        self.n_parameters_, self.collapsed_ = best.n_parameters, best.collapsed
        self.ebic_ = ebic(best.log_likelihood, best.n_parameters, best.n_objects)
        self.bic_, self.flaw_ = best.criteria.get("bic", np.nan), best.flaw
        self.selection_ = pd.DataFrame([one.row(self._collapse) for one in found])
        return best

    def _warn_at_an_end(self, best: int, last: int) -> None:
        """Say so when the chosen number of clusters is the first or the last of the range."""
        who, (low, high) = type(self).__name__, self.cluster_range
        if not isinstance(self.n_clusters, str) or low == high:
            return
        about = f"{who}: the best number of clusters, {best}, is the {{}} of cluster_range=({low}, {high})"
        if best == high == last:
            warn_user(
                f"{about.format('largest')}, and {self.select_by.upper()} may rise further; raise it to look beyond.",
                UserWarning,
            )
        elif best == low > 1:
            warn_user(f"{about.format('smallest')}; lower it to see whether fewer are better.", UserWarning)

    def _evaluate(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Masses and log densities of checked rows."""
        raise NotImplementedError

    def _evaluate_new(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        return self._evaluate(self._check_table(self._new_table(X), reset=False))

    def _masses(self, X: np.ndarray) -> np.ndarray:
        return self._evaluate(X)[0]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of the observed entries of each row, shape (n_samples,)."""
        return self._evaluate_new(X)[1]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows."""
        return float(self.score_samples(X).mean())


class ClassMixture(MixtureClusterer):
    """Base of the mixtures with a component for each cluster: posterior probabilities, and three criteria to choose."""

    select_by: str = param(
        Choice(*CRITERIA), "Criterion that chooses among what was tried; all are larger for better.", default="bic"
    )

    attributes = {
        "partition_": "CredalPartition\nPosterior probabilities as masses on single clusters.",
        "weights_": "ndarray of shape (n_clusters,)\nMixing probabilities.",
    }

    def _criteria(self, X: Any) -> dict[str, float]:
        posterior, log_density = self._evaluate_new(X)
        n = len(posterior)
        certainty = certainty_of(posterior, np.ones(n))
        return information_criteria(float(log_density.sum()), self.n_parameters_, certainty, n)

    def bic(self, X: Any) -> float:
        """Bayesian information criterion 2 log L - ν log n of the rows; larger is better."""
        return self._criteria(X)["bic"]

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood: BIC less what is lost when each row is given to one cluster."""
        return self._criteria(X)["icl"]

    def aic(self, X: Any) -> float:
        """Akaike's criterion 2 log L - 2 ν of the rows; larger is better."""
        return self._criteria(X)["aic"]
