"""The fourteen Gaussian models and the batched EM against scikit-learn's mixture with full covariances."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from benchmarks.egmm import quietly, wide_table
from benchmarks.harness import Line, duration, speed, stopwatch, within
from evidentia.datasets import load, make_bootgmm_mixture
from evidentia.mixtures._covariances import MODELS
from evidentia.mixtures.parsimonious import ParsimoniousGaussianMixture
from evidentia.solvers.gaussian_agglomeration import agglomerate

# mclust 6.0.0 with its one start, on the machine the targets were set on: all models with one to nine components on
# Iris; all models with seven components on 1,000 rows of GvHD; VVV with six components on 1,500 x 36.
R_SECONDS = {"iris": 0.77, "GvHD": 1.0, "1,500 x 36": 4.1}


def search_peer(X: np.ndarray, counts: range, n_init: int) -> None:
    """The one model of the fourteen that scikit-learn and we share and that has no equal parts: VVV."""
    for count in counts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            GaussianMixture(count, n_init=n_init, random_state=0, max_iter=1000, tol=1e-6).fit(X)


def refit_peer(X: np.ndarray, model: ParsimoniousGaussianMixture, replicates: np.ndarray) -> None:
    """One mixture after the other, from the same estimate; a weight becomes copies of the row."""
    precisions = np.linalg.inv(model.covariances_)
    for weight in replicates:
        GaussianMixture(
            model.n_clusters_,
            weights_init=model.weights_,
            means_init=model.means_,
            precisions_init=precisions,
            tol=1e-5,
            max_iter=1000,
        ).fit(np.repeat(X, weight.astype(int), axis=0))


def replicate_line(what: str, X: np.ndarray, n_clusters: int, model: str, n_boot: int, target: float) -> Line:
    n = len(X)
    fitted = ParsimoniousGaussianMixture(n_clusters, model=model, random_state=0).fit(X)
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=n_boot).astype(float)
    ours = stopwatch(lambda: fitted.fit_replicates(X, weights))
    few = weights[:20]
    peer = stopwatch(lambda: refit_peer(X, fitted, few), repeats=1) * n_boot / len(few)
    return speed(what, f"{n:,} x {X.shape[1]}, c={n_clusters}, B={n_boot}", ours, peer, target)


def r_line(what: str, size: str, seconds: float, limit: float) -> Line:
    """Seconds of ours against those that R is known to take."""
    return Line(what, size, duration(seconds), f"R {limit:g} s", "", f"<= {limit:g} s", seconds <= limit)


def wide_lines() -> Iterator[Line]:
    """Models without orientation on many columns; both find three starts of their own."""
    wide, _ = wide_table()
    peer = stopwatch(lambda: GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(wide))
    for model in ("VII", "VVI"):
        ours = ParsimoniousGaussianMixture(3, model=model, random_state=0)
        seconds = stopwatch(partial(quietly, partial(ours.fit, wide)))
        yield within(f"{model}, 3 starts (peer: sklearn diag)", "300 x 2,000, c=3", seconds, peer, 3)


def lines(quick: bool) -> Iterator[Line]:
    iris = np.asarray(load("iris").data, dtype=float)
    counts = range(1, 4 if quick else 10)
    search = ParsimoniousGaussianMixture(cluster_range=(counts[0], counts[-1]), random_state=0)
    search.fit(iris)  # compiles what is not compiled yet
    seconds = stopwatch(lambda: search.fit(iris))
    peer = stopwatch(lambda: search_peer(iris, counts, search.n_init))
    size = f"Iris, c=1…{counts[-1]}"
    yield speed("14 models, per model (peer: sklearn full)", size, seconds / len(MODELS), peer, 2)
    yield r_line("14 models, the whole search, 3 starts", size, seconds, R_SECONDS["iris"])
    yield from wide_lines()

    n_boot = 100 if quick else 1000
    yield replicate_line("bootstrap of VEV (peer: sklearn full)", iris, 3, "VEV", n_boot, 20)
    mixture = np.asarray(make_bootgmm_mixture(3, random_state=0).data, dtype=float)
    yield replicate_line("bootstrap of VVV (peer: sklearn full)", mixture, 3, "VVV", n_boot, 20)
    if not quick:
        cells = np.asarray(load("gvhd_positive").data, dtype=float)
        some = cells[np.random.default_rng(0).choice(len(cells), 1000, replace=False)]
        one_start = ParsimoniousGaussianMixture(7, n_init=1, random_state=0)
        seconds = stopwatch(lambda: one_start.fit(some))
        yield r_line("14 models, one start", "GvHD, 1,000 x 4, c=7", seconds, R_SECONDS["GvHD"])
        groups = np.arange(1500) % 6
        rng = np.random.default_rng(1)
        many = rng.standard_normal((1500, 36)) * rng.uniform(0.5, 2, (6, 36))[groups]
        many += 0.5 * rng.standard_normal((6, 36))[groups]
        one_start = ParsimoniousGaussianMixture(6, model="VVV", n_init=1, random_state=0)
        seconds = stopwatch(lambda: one_start.fit(many))
        yield r_line("VVV, one start", "1,500 x 36, c=6", seconds, R_SECONDS["1,500 x 36"])
        seconds = stopwatch(lambda: agglomerate(many[:1000].repeat(3, axis=1)[:, :100] + rng.normal(size=(1000, 100))))
        yield Line("merge tree of any shape", "1,000 x 100", duration(seconds), "", "", "< 5.00 s", seconds < 5)
        yield replicate_line("bootstrap of VVV (peer: sklearn full)", some, 7, "VVV", 100, 8)
