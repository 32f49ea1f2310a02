"""Are the intervals right as often as they say? Coverage and length, by simulation from a known mixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from tqdm.auto import tqdm

from evidentia._parameters import JOBS, check_value, random_numbers
from evidentia._warnings import warn_user
from evidentia.partition.relational import pairwise

ROUNDING = 1e-6  # bounds are single precision; a truth outside by no more than this is inside


class KnownMixture(NamedTuple):
    """A Gaussian mixture with given parameters: something to simulate from whose posteriors are the truth.

    Shapes (c,), (c, d) and (c, d, d). Any object with ``sample`` and ``predict_proba``, a fitted mixture of your own
    for example, can stand in its place.
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows, and the component each came from."""
        rng = random_numbers(random_state, "KnownMixture.sample")
        component = rng.choice(len(self.weights), size=n_samples, p=self.weights)
        roots = np.linalg.cholesky(np.asarray(self.covariances, dtype=float))
        noise = rng.standard_normal((n_samples, roots.shape[-1]))
        return np.asarray(self.means)[component] + np.einsum("nij,nj->ni", roots[component], noise), component

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior probabilities of the components, shape (n_samples, c)."""
        parts = [
            np.log(weight) + multivariate_normal(mean, covariance).logpdf(X)
            for weight, mean, covariance in zip(self.weights, self.means, self.covariances)
        ]
        joint = np.column_stack(parts)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def interval_coverage(model: Any, posterior: np.ndarray) -> dict[str, float]:
    """How often the intervals of a fitted BootGMM contain the true probability of a common class.

    Parameters
    ----------
    model : BootGMM
        Fitted.
    posterior : ndarray of shape (n_samples, n_classes)
        True posterior probabilities of its objects.

    Returns
    -------
    dict
        ``ci_coverage`` and ``ci_length`` of the confidence intervals, ``coverage`` and ``length`` of the intervals
        from belief to plausibility, over the pairs that have intervals.
    """
    pairs, lower, upper = model.intervals_
    truth = np.einsum("pk,pk->p", posterior[pairs[:, 0]], posterior[pairs[:, 1]])
    relation = pairwise(model.partition_.masses, model.focal_sets_, pairs)
    found = {}
    for name, low, high in (("ci_", lower, upper), ("", relation.same, relation.plausibility_same)):
        found[f"{name}coverage"] = float(((low - ROUNDING <= truth) & (truth <= high + ROUNDING)).mean())
        found[f"{name}length"] = float((high - low).mean())
    return found


def calibrate(
    truth: Any,
    estimator: Any,
    *,
    n_samples: int = 300,
    n_datasets: int = 20,
    confidence: float | Sequence[float] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> pd.DataFrame:
    """Coverage and length of a BootGMM's intervals on data sets drawn from a known mixture.

    Parameters
    ----------
    truth : KnownMixture or fitted mixture
        Offers ``sample(n, random_state=...)`` and ``predict_proba(X)``.
    estimator : BootGMM
        It is cloned for every data set.
    n_samples, n_datasets : int
        Size and number of the data sets. Coverage varies by about 0.1 between data sets, so a mean over 20 is known
        to about 0.02.
    confidence : float or sequence of float, optional
        Levels to look at; the bootstrap is shared. The estimator's own by default.
    random_state : int, RandomState or None
        Seed of the data sets and of the bootstraps.
    n_jobs : int, optional
        Data sets at a time; the result does not depend on it.
    verbose : int
        1 shows progress.

    Returns
    -------
    DataFrame
        A row for every data set and level: ``dataset``, ``confidence``, ``model`` (that was used), the four columns of
        :func:`interval_coverage`, and ``degenerate`` replicates.

    Examples
    --------
    >>> from evidentia import BootGMM
    >>> truth = KnownMixture([0.5, 0.5], [[0.0, 0.0], [3.0, 1.0]], [np.eye(2), np.eye(2)])
    >>> table = calibrate(truth, BootGMM(2, model="EII", n_boot=50), n_samples=40, n_datasets=2, random_state=0)
    >>> table[["confidence", "model"]].drop_duplicates().values.tolist()
    [[0.9, 'EII']]
    """
    check_value(JOBS, n_jobs, "n_jobs", "calibrate")
    levels = [estimator.confidence] if confidence is None else np.atleast_1d(confidence).tolist()
    seeds = random_numbers(random_state, "calibrate").randint(np.iinfo(np.int32).max, size=n_datasets)
    work = (delayed(_one_dataset)(truth, estimator, n_samples, levels, int(seed)) for seed in seeds)
    done = Parallel(n_jobs=n_jobs, return_as="generator")(work)
    rows: list[dict[str, Any]] = []
    try:
        for number, found in enumerate(tqdm(done, total=n_datasets, desc="calibrate", disable=not verbose)):
            rows += [{"dataset": number, **row} for row in found]
    except KeyboardInterrupt:
        if not rows:
            raise
        warn_user(f"calibrate was interrupted; the table holds {len(rows)} rows.", UserWarning)
    return pd.DataFrame(rows)


def _one_dataset(
    truth: Any, estimator: Any, n_samples: int, levels: Sequence[float], seed: int
) -> list[dict[str, Any]]:
    X, _ = truth.sample(n_samples, random_state=seed)
    posterior = truth.predict_proba(X)
    model = clone(estimator).set_params(random_state=seed, warm_start=True)  # the second level finds the replicates
    rows = []
    for level in levels:
        model.set_params(confidence=level).fit(X)
        rows.append(
            {
                "confidence": level,
                "model": getattr(model.mixture_, "model_", type(model.mixture_).__name__),
                **interval_coverage(model, posterior),
                "degenerate": model.bootstrap_.n_degenerate,
            }
        )
    return rows


def calibration_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over data sets of a table from :func:`calibrate`, one row per level."""
    columns = ["ci_coverage", "coverage", "ci_length", "length"]
    return table.groupby("confidence")[columns].agg(["mean", "std"])
