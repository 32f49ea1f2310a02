"""A table as EGMM's search sees it: coordinates of each covariance model, a sample of rows, starts, first looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import chi2
from sklearn.metrics import pairwise_distances_argmin

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.mixtures.covariance_models import n_covariance_parameters
from evidentia.mixtures.parsimonious import START_ROWS
from evidentia.mixtures.set_mixture import SHARED, Engine, Floor, Parameters, Pattern, Prior, engine
from evidentia.solvers.coordinates import ColumnScales, Coordinates, unit_free
from evidentia.solvers.descent import Run
from evidentia.solvers.gaussian_agglomeration import MergeTree, start_trees
from evidentia.solvers.set_covariances import Bound, minimize_bound
from evidentia.solvers.starts import START_RULES, representative_rows

if TYPE_CHECKING:
    from evidentia.mixtures.egmm import EGMM

INNERMOST = 0.1  # share of the objects of a cluster that are its very middle
KIND = {
    **dict.fromkeys(("EEE", "VEE", "EVV", "VVV"), "full"),
    **dict.fromkeys(("EVE", "VVE", "EEV", "VEV"), "rotated"),
    **dict.fromkeys(("EEI", "VEI", "EVI", "VVI"), "diag"),
    **dict.fromkeys(("EII", "VII"), "spherical"),
}  # the widest choice of coordinates that leaves each model what it is


def n_parameters(model: str, n_focal: int, n_clusters: int, n_features: int) -> int:
    """Free parameters: mixing probabilities, means, and covariances, as counted below (33)."""
    return n_focal - 1 + n_clusters * n_features + n_covariance_parameters(model, n_clusters, n_features)


def data_prior(model: str, variances: np.ndarray, n_clusters: int) -> tuple[float, np.ndarray]:
    r"""Count and scale of the prior of Fraley & Raftery (2007) for the covariances of a model, in units of the table.

    An inverse Wishart density with d + 2 degrees of freedom and the scale :math:`\mathrm{diag}(s^2) / C^{2/d}`; the
    variances of diagonal models have one of dimension one each. The diagonal scale is what keeps columns that
    are nearly combinations of each other from collapsing.
    """
    d = len(variances)
    return (5.0 if model.endswith("I") else 2.0 * d + 3.0), variances / n_clusters ** (2 / d)


def growing_steps(numbers: list[int]) -> list[int]:
    """Some of the numbers, at steps that grow by a third, and the last one.

    Examples
    --------
    >>> growing_steps(list(range(1, 41)))
    [1, 2, 3, 4, 5, 7, 9, 12, 16, 21, 28, 37, 40]
    """
    steps = [numbers[0]]
    while steps[-1] < numbers[-1]:
        steps.append(min(numbers[-1], max(steps[-1] + 1, round(4 / 3 * steps[-1]))))
    return steps


class Look(NamedTuple):
    """A model with a number of clusters after some iterations: where its starts came, and the EBIC to be expected."""

    model: str
    focal_sets: FocalSets
    runs: list[Run]  # over the sample, the best first
    log_likelihood: float
    n_parameters: int
    ebic: float
    collapsed: bool
    flaw: str  # why its clusters are no groups, if they are not

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Lower is better; the likelihood of a collapsed one means nothing."""
        return self.collapsed, bool(self.flaw), -self.ebic

    def row(self, collapse: str) -> dict[str, Any]:
        """Its line in ``selection_``."""
        return {
            "model": self.model,
            "n_clusters": self.focal_sets.n_clusters,
            "ebic": np.nan if self.collapsed else self.ebic,
            "log_likelihood": np.nan if self.collapsed else self.log_likelihood,
            "n_parameters": self.n_parameters,
            "n_iter": self.runs[0].n_iter,
            "note": "; ".join(
                [_base.FIRST_LOOK] + [f"{collapse} in every start"] * self.collapsed + [self.flaw] * (self.flaw != "")
            ),
        }


def concentric(parameters: Parameters) -> bool:
    """Whether the center of a cluster lies in the innermost tenth of another one.

    Two clusters in one place, a narrow one and a wide one, are one group with heavy tails.
    """
    _, centers, within = parameters
    c, d = centers.shape
    gap = centers[:, None] - centers
    within = np.broadcast_to(within, (c, *within.shape[1:]))
    if within.ndim == 2:
        distance = (np.square(gap) / within).sum(axis=2)
    else:
        distance = np.einsum("klp,lpq,klq->kl", gap, np.linalg.inv(within), gap, optimize=True)
    return bool((distance + np.diag(np.full(c, np.inf)) < chi2.ppf(INNERMOST, d)).any())


class Start(NamedTuple):
    """Clusters of the rows of the sample, or centers in the columns of the table."""

    labels: np.ndarray | None = None
    centers: np.ndarray | None = None


class Problem:
    """The table as the models see it: coordinates and patterns of each, of all rows and of a sample of them."""

    def __init__(self, table: np.ndarray, weight: np.ndarray | None, rng: np.random.RandomState, settings: EGMM):
        self.table, self.weight, self.settings = table, weight, settings
        self.total = float(len(table) if weight is None else weight.sum())
        scales = unit_free(table, weight, kind="diag")
        assert isinstance(scales, ColumnScales)
        self.scales = scales
        self.filled = np.nan_to_num(scales.to(table), copy=False)  # columns of equal spread, as k-means needs them
        self.picked = np.arange(len(table))  # rows for starts and first looks: all of them, or a sample
        if len(table) > START_ROWS:
            some, share = representative_rows(self.filled, weight, rng)
            steps = (np.arange(START_ROWS) + 0.5) / START_ROWS
            cumulative = np.cumsum(share)
            self.picked = some[np.searchsorted(cumulative, steps * cumulative[-1])]
        self.sampled = len(table) > START_ROWS
        self.sample_weight = np.ones(len(self.picked)) if weight is None or self.sampled else weight[self.picked]
        self.trees: list[MergeTree] = []
        self._coordinates: dict[str, Coordinates | ColumnScales] = {"diag": scales}
        self._samples: dict[str, np.ndarray] = {}
        self._engines: dict[tuple[str, int], Engine] = {}
        self._patterns: dict[tuple[str, bool, bool], list[Pattern]] = {}

    def coordinates(self, model: str) -> Coordinates | ColumnScales:
        kind = KIND[model]
        if kind not in self._coordinates:
            self._coordinates[kind] = unit_free(self.table, self.weight, kind=kind)
        return self._coordinates[kind]

    def sample(self, model: str) -> np.ndarray:
        """Rows of the sample in the coordinates of the model, not to be changed; zero stands for what is missing."""
        kind = KIND[model]
        if kind not in self._samples:
            self._samples[kind] = np.nan_to_num(self.coordinates(model).to(self.table[self.picked]), copy=False)
        return self._samples[kind]

    def patterns(self, model: str, sample: bool) -> list[Pattern]:
        sample = sample and self.sampled
        key = (KIND[model], model in SHARED, sample)
        if key not in self._patterns:
            rows, weight = (self.table[self.picked], self.sample_weight) if sample else (self.table, self.weight)
            self._patterns[key] = engine(model).observe(self.coordinates(model).to(rows), weight)
        return self._patterns[key]

    def engine(self, model: str, n_clusters: int) -> Engine:
        if (model, n_clusters) not in self._engines:
            self._engines[model, n_clusters] = self._make_engine(model, n_clusters)
        return self._engines[model, n_clusters]

    def _make_engine(self, model: str, n_clusters: int) -> Engine:
        coordinates, settings = self.coordinates(model), self.settings
        diagonal = model.endswith("I")
        reference = np.ones(coordinates.width)
        if KIND[model] == "rotated":
            reference = np.nanvar(coordinates.to(self.table[self.picked]), axis=0)
        prior = None
        if settings.prior is not None:
            variances = np.square(self.scales.deviation)
            if isinstance(settings.prior, str):
                count, scale = data_prior(model, variances[variances > 0], n_clusters)
                variances[variances > 0] = scale
            else:
                given, reduction = np.asarray(settings.prior, dtype=float), settings.reduction_
                variances = given if reduction is None else reduction.variances_to(given)
                count, _ = data_prior(model, variances, 1)
            if isinstance(coordinates, ColumnScales):
                inside = variances[coordinates.kept] / np.square(coordinates.scale)
                prior = Prior(count, inside if diagonal else np.diag(inside))
            else:
                prior = Prior(count, (coordinates.forward.T * variances) @ coordinates.forward)
        ridge: Any = 0.0
        if settings.ridge:
            ridge = settings.ridge * (coordinates.forward.T @ coordinates.forward)
            ridge = np.diag(ridge) if diagonal else ridge
        floor = Floor(settings.reg_covar, reference if diagonal else np.diag(reference))
        return engine(model, prior, floor, ridge)

    def gain(self, model: str, sample: bool) -> float:
        """What the log-likelihood gains when it is expressed in the units of the table."""
        coordinates = self.coordinates(model)
        return sum(it.total * coordinates.log_jacobian_of(it.observed) for it in self.patterns(model, sample))

    def log_likelihood(self, model: str, run: Run, tool: Engine, *, sample: bool) -> float:
        """Of the rows, in the units of the table, without the priors."""
        total = float(self.sample_weight.sum()) if sample else self.total
        return tool.cost(run.state) - total * run.objective + self.gain(model, sample)

    def grow_trees(self, n_trees: int) -> None:
        """Merge trees of the sample."""
        self.trees = start_trees(self.filled[self.picked], self.sample_weight, n_trees)

    def starts(self, n_clusters: int, init: Any, n_init: int, rng: np.random.RandomState) -> Iterator[Start]:
        """Clusters to begin from."""
        if not isinstance(init, str):
            yield Start(centers=init)
            return
        if init == "hierarchical":
            yield from (Start(labels=tree.labels(n_clusters)) for tree in self.trees)
            init, n_init = "k-means", n_init - len(self.trees)
        if n_init > 0:
            for centers in START_RULES[init](self.filled, n_clusters, n_init, rng, self.weight):
                yield Start(centers=self.scales.back(centers))

    def begin(self, model: str, start: Start, focal_sets: FocalSets) -> Parameters:
        """Means and covariances within the clusters of the sample; all sets are equally probable (section 3.4)."""
        tool, c = self.engine(model, focal_sets.n_clusters), focal_sets.n_clusters
        Y = self.sample(model)
        if start.centers is None:
            labels = start.labels
        else:
            centers = self.coordinates(model).to(start.centers)
            labels = pairwise_distances_argmin(Y, centers)
        member = np.eye(c)[labels] * self.sample_weight[:, None]
        size = member.sum(axis=0)
        if start.centers is None:
            centers = member.T @ Y / size[:, None]
        residual = Y - centers[labels]
        squares = np.square(residual) if tool.diagonal else residual[:, :, None] * residual[:, None, :]
        scatter = np.tensordot(member.T, squares, axes=1)
        weights = np.full(len(focal_sets), 1 / len(focal_sets))
        if model in SHARED:
            return Parameters(weights, centers, tool.constrain(scatter.sum(axis=0) / size.sum())[None])
        # A cluster of few rows has no shape of its own yet: as much of the whole as one object is mixed in.
        assert tool.floor is not None
        scatter = scatter + tool.floor.reference
        problem = Bound(size + 1, np.zeros_like(scatter), scatter)
        return Parameters(
            weights,
            centers,
            minimize_bound(model, problem, scatter / (size + 1).reshape(-1, *[1] * (scatter.ndim - 1))),
        )
