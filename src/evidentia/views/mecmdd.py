"""Evidential c-medoids on several matrices of dissimilarities (Soubeiga, Antoine & Moreno, 2024)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import squareform

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._parameters import Choice, Number, fitted, param
from evidentia.belief import FocalSets
from evidentia.dissimilarities import read_matrix, read_new
from evidentia.methods import Method
from evidentia.prototypes._kernel import LEAST_COST, Criterion, update_masses
from evidentia.prototypes._medoid_base import (
    FAMILIES,
    RHO_QUANTILE,
    Compared,
    Position,
    best_distinct,
    check_given_objects,
    mix,
    pull,
)
from evidentia.prototypes.secmdd import SECMdd
from evidentia.solvers.starts import OBJECT_START_RULES
from evidentia.views._base import MultiViewClusterer
from evidentia.views.reading import Views

LEAST_SHARE = 1e-12  # of the largest sum of dissimilarities: one of zero would have no weight that is finite


class Matrices(NamedTuple):
    """Dissimilarities in several views.

    ``parts`` have a row for each fitted object and a column for each object to place, as they were given; ``scale`` are
    the means of those fitted, and ``joint`` is the mean of these over their means.
    """

    parts: list[np.ndarray]
    scale: np.ndarray
    joint: np.ndarray


class WeightedMedoids(NamedTuple):
    """The objects that stand for the clusters (c,) and for the focal sets (f,), and the weights of the views (f, V)."""

    clusters: np.ndarray
    sets: np.ndarray
    relevance: np.ndarray


def update_relevance(scatter: np.ndarray, constraint: str, power: float) -> np.ndarray:
    r"""Return view weights that minimize :math:`\sum_l \lambda_l^s Q_l`, for each row of sums Q, (..., n_views).

    .. math::
        \textstyle \sum_l \lambda_l = 1: \; \lambda_l \propto Q_l^{-1/(s-1)}, \qquad
        \prod_l \lambda_l = 1,\, s = 1: \; \lambda_l = (\prod_g Q_g)^{1/V} / Q_l

    Examples
    --------
    >>> update_relevance(np.array([1.0, 4.0]), "sum", 2.0), update_relevance(np.array([1.0, 4.0]), "product", 2.0)
    (array([0.8, 0.2]), array([2. , 0.5]))
    """
    largest = scatter.max(axis=-1, keepdims=True)
    logs = np.log(np.maximum(scatter, LEAST_SHARE * np.where(largest > 0, largest, 1.0)))
    if constraint == "product":
        return np.exp(logs.mean(axis=-1, keepdims=True) - logs)
    logs = -logs / (power - 1)
    shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


class MECMdd(MultiViewClusterer, SECMdd):
    r"""Evidential c-medoids on several matrices of dissimilarities, each with a weight [1]_.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} \frac1V \sum_{l=1}^V u_{Al}\, d_l(i, A)
            + \rho\, m_i(\varnothing)^{\beta} \Big], \qquad
        d_l(i, A) = \frac{\tau_l(i, \bar v_A) + \gamma \frac{1}{|A|} \sum_{k \in A} \tau_l(i, v_k)}{1 + \gamma}

    with :math:`d_l(i, \{k\}) = \tau_l(i, v_k)` and the medoids of :class:`~evidentia.SECMdd`. The weights
    :math:`\lambda_{Al}` are the same for all sets (``weights="global"``) or each set has its own (``"local"``). With
    ``constraint="sum"`` they sum to one and :math:`u = (V \lambda)^s`, with ``"product"`` their product is one and
    :math:`u = \lambda`: in both J is that of one matrix when all are equal.

    Notes
    -----
    Every matrix is divided by its mean, so that units give no view weight; ``rho`` is in units of these means. The
    distance to the empty set is not weighted, and with the published :math:`\lambda^s` for u, which is
    :math:`V^{-s}` at the start, nearly no object would be an outlier.

    Masses and weights are at their optimum in every step, and medoids for given :math:`\bar v_A`, which follow them and
    may raise J again: such a step is not taken. :math:`\bar v_A` is chosen by the mean of the matrices, without
    weights, as in the authors' programs; these differ in :math:`d_l(i, A)`, and ``gamma=0`` is the other form.

    *Published and ours.* Masses, weights, medoids and :math:`\bar v_A` are those of the authors' two programs, one of
    which has a mistake in the choice of the medoids; the article was not compared. Dividing by the mean,
    :math:`u = (V \lambda)^s`, ``rho`` in units of the means, starts and a bound on the iterations are ours, and so are
    the choices that :class:`~evidentia.SECMdd` makes for evenness and for the masses that choose a medoid.

    Every object is in every matrix; one that is absent is refused.

    References
    ----------
    .. [1] A. Soubeiga, V. Antoine, S. Moreno. Multi-view relational evidential c-medoid clustering with adaptive
       weighted. DSAA 2024.

    Examples
    --------
    >>> first = np.array([0.0, 1, 2, 10, 11, 12])
    >>> second = np.array([0.0, 2, 1, 8, 9, 10])
    >>> matrices = {"first": np.abs(first[:, None] - first), "second": np.abs(second[:, None] - second)}
    >>> model = MECMdd(2, random_state=0).fit(matrices)
    >>> model.labels_, model.view_weights_.round(1)
    (array([0, 0, 0, 1, 1, 1]), array([0.5, 0.5]))
    """

    method = Method(
        name="mecmdd", title="evidential c-medoids on several matrices of dissimilarities, each with a weight",
        papers=("Soubeiga, Antoine & Moreno, *DSAA* 2024",), guide="views", reads=("views of dissimilarities",),
        families=FAMILIES, empty_set=True, power=2, grows="*V {n} c*", memory="*V {n}*",
        doubt="sets, outliers, views at odds", limit="local minima, so many starts", quick={"n_init": 3},
    )  # fmt: skip

    _matrices = True
    metric, metric_params = "precomputed", None  # views are matrices

    weights: str = param(
        Choice("global", "local"),
        "Whether views have one weight, or one for each set of clusters: a view may tell some clusters apart only.",
        default="global",
    )
    constraint: str = param(
        Choice("product", "sum"), "What the weights multiply, or sum, up to: one.", default="product"
    )
    power: float = param(
        Number(above=1, high=100),
        's of ``constraint="sum"``: near 1 one view takes all, large values make weights even.',
        default=2.0,
    )
    beta: float = param(
        _base.BETA, "Fuzzifier: near 1 each object has its mass on one set, large values spread it.", default=1.5
    )
    rho: Any = param(
        _base.RHO,
        r"""Dissimilarity of every object to the empty set, in units of the mean of each matrix: the smaller, the more
        outliers. The papers write :math:`\delta^2` for it. ``"auto"`` is the mean of the 0.95-quantiles.""",
        default="auto",
    )

    attributes = {
        "relevance_weights_": r"ndarray of shape (n_views,), or (n_focal, n_views) if local"
        "\n"
        r":math:`\lambda`; a "
        "row for each focal set, that of the empty set has no meaning.",
        "rho_": "float or None\nDissimilarity to the empty set that was used, in units of the means; None without it.",
    }

    _rho_of_views: np.ndarray = fitted()
    _scale_of_views: np.ndarray = fitted()

    def _fit(self, data: Data[Any]) -> np.ndarray:
        views: Views = data.rows
        check_given_objects(self, len(views), *OBJECT_START_RULES)
        matrices = self._matrices_of(views)
        self._least_cost = LEAST_COST * float(matrices.joint.max())
        self._rho_of_views = self._quantiles(matrices)
        focal_sets = self._family()
        rho = float(self._rho_of_views.mean()) if focal_sets.empty_index is not None else None
        criterion = Criterion(focal_sets, self.alpha, self.beta, rho)
        best, runs = self._search(matrices, criterion, data.rng)
        self.rho_, self._scale_of_views = rho, matrices.scale
        self._publish_run(best, runs)
        self._store_solution(matrices, best.state.representatives, criterion)
        return self._store_weights(matrices, views)

    # -- matrices -----------------------------------------------------------------------------------------------------

    def _matrices_of(self, views: Views) -> Matrices:
        """Return the views, checked, and their means."""
        parts = []
        for name, table in zip(views.names, views.tables):
            values = np.asanyarray(table)  # a masked array keeps its mask, and is refused
            self._refuse_absent(name, values, views)
            try:
                parts.append(read_matrix(self, values))
            except (ValueError, TypeError) as error:
                raise type(error)(f"View {name!r}: {error}") from error
        n = len(views)
        scale = np.array([part.sum() / (n * (n - 1)) for part in parts])
        joint = parts[0] / (len(parts) * scale[0])
        for part, mean in zip(parts[1:], scale[1:]):
            joint += part / (len(parts) * mean)
        return Matrices(parts, scale, joint)

    def _refuse_absent(self, name: str, values: np.ndarray, views: Views) -> None:
        if values.dtype.kind != "f" or not len(absent := np.flatnonzero(np.isnan(values).all(axis=1))):
            return
        first = int(absent[0]) if views.object_names is None else views.object_names[absent[0]]
        raise ValueError(
            f"{type(self).__name__} needs every object in every view, but {len(absent)} of {len(views)} are absent "
            f"from view {name!r} (first: {first!r}). Drop them, or take WMVEC on tables, which leaves such views out."
        )

    def _quantiles(self, matrices: Matrices) -> np.ndarray:
        """Return the dissimilarity to the empty set as each view alone has it, (n_views,)."""
        if self.rho != "auto":
            return np.full(len(matrices.parts), _checks.check_rho(self, 1.0))
        found = []
        for part, mean in zip(matrices.parts, matrices.scale):
            pairs = squareform(part, checks=False)
            typical = float(np.quantile(pairs, RHO_QUANTILE))
            found.append((typical if typical > 0 else float(pairs.max())) / mean)
        return np.array(found)

    # -- the descent --------------------------------------------------------------------------------------------------

    def _joint(self, dissimilarity: Compared) -> np.ndarray:
        return dissimilarity.joint

    def _represent(self, medoids: np.ndarray, dissimilarity: Compared, focal_sets: FocalSets) -> Any:
        """Return all views of one weight."""
        n_views = len(dissimilarity.parts)
        even = np.full((len(focal_sets), n_views), 1.0 / n_views if self.constraint == "sum" else 1.0)
        return WeightedMedoids(*super()._represent(medoids, dissimilarity.joint, focal_sets), even)

    def _multipliers(self, relevance: np.ndarray) -> np.ndarray:
        """Return what the dissimilarities of each view are multiplied by, (..., n_views)."""
        n_views = relevance.shape[-1]
        return relevance / n_views if self.constraint == "product" else (n_views * relevance) ** self.power / n_views

    def _unlike(self, dissimilarity: Compared, representatives: Any, focal_sets: FocalSets) -> np.ndarray:
        """Return the dissimilarity of objects and sets in each view, (n_views, n_focal, n)."""
        clusters, sets, _ = representatives
        found = [
            mix(part[sets] / mean, part[clusters] / mean, focal_sets, self.gamma)
            for part, mean in zip(dissimilarity.parts, dissimilarity.scale)
        ]
        return np.array(found)

    def _compare(self, dissimilarity: Compared, representatives: Any, focal_sets: FocalSets) -> np.ndarray:
        unlike = self._unlike(dissimilarity, representatives, focal_sets)
        return np.einsum("fl,lfi->fi", self._multipliers(representatives.relevance), unlike)

    def _improve(self, dissimilarity: Compared, position: Position, focal_sets: FocalSets) -> Any:
        """Return better weights, then better medoids."""
        better = self._reweigh(dissimilarity, position, focal_sets)
        multipliers = self._multipliers(better.relevance)
        cost = np.zeros((self.n_clusters, len(dissimilarity.joint)))
        for view, (part, mean) in enumerate(zip(dissimilarity.parts, dissimilarity.scale)):
            weighted = position.powered * multipliers[:, view, None] / mean
            if self.medoid_masses == "single":
                cost += weighted[focal_sets.singleton_index] @ part
            else:
                cost += pull(weighted, focal_sets, self.alpha, self.gamma).T @ part
        medoids = super()._represent(best_distinct(cost.T), dissimilarity.joint, focal_sets)
        return WeightedMedoids(*medoids, better.relevance)

    def _reweigh(self, dissimilarity: Compared, position: Position, focal_sets: FocalSets) -> WeightedMedoids:
        """Return the same medoids with the weights that are best for given masses."""
        unlike = self._unlike(dissimilarity, position.representatives, focal_sets)
        card = focal_sets.card.astype(float)
        penalty = np.where(card > 0, card**self.alpha, 0.0)
        scatter = penalty[:, None] * np.einsum("fi,lfi->fl", position.powered, unlike)
        if self.weights == "global":
            scatter = np.tile(scatter.sum(axis=0), (len(focal_sets), 1))
        return position.representatives._replace(relevance=update_relevance(scatter, self.constraint, self.power))

    def _step(self, dissimilarity: Compared, criterion: Criterion, here: Position) -> tuple[float, Position]:
        """Move medoids and weights, or weights alone where new medoids would raise J."""
        objective, there = super()._step(dissimilarity, criterion, here)
        if there is here:
            weights = self._reweigh(dissimilarity, here, criterion.focal_sets)
            weighed = self._position(dissimilarity, weights, criterion)
            there = weighed if weighed.objective < here.objective else here
        return objective, there

    # -- the result ---------------------------------------------------------------------------------------------------

    def _reorder(self, representatives: Any, order: np.ndarray, dissimilarity: Compared, focal_sets: FocalSets) -> Any:
        before = self._family().relabel(order)
        rows = [before.index(mask) for mask in focal_sets.masks]
        medoids = super()._represent(representatives.clusters[order], dissimilarity.joint, focal_sets)
        return WeightedMedoids(*medoids, representatives.relevance[rows])

    def _store_weights(self, matrices: Matrices, views: Views) -> np.ndarray:
        """Store the weights of the views and the partition by each of them; return the masses by all."""
        found: WeightedMedoids = self._representatives
        masses = self._place(matrices, found, self._criterion)
        self.relevance_weights_ = found.relevance if self.weights == "local" else found.relevance[0]
        held = masses.sum(axis=0) * (self.focal_sets_.card > 0)  # local weights count as much as their sets hold
        shares = held @ (found.relevance / found.relevance.sum(axis=1, keepdims=True))
        self.view_weights_ = shares / shares.sum()
        nearest = np.array([part[found.clusters] / mean for part, mean in zip(matrices.parts, matrices.scale)])
        blur = np.take_along_axis(nearest, nearest.sum(axis=0).argmin(axis=0)[None, None], axis=1).mean(axis=(1, 2))
        unlike = self._unlike(matrices, found, self.focal_sets_) + blur[:, None, None]
        unlike *= self._criterion.penalty[:, None]
        if self.rho_ is not None:
            unlike[:, self.focal_sets_.empty_index] = self._rho_of_views[:, None]
        alone = [update_masses(np.maximum(cost, self._least_cost), self.beta)[0].T for cost in unlike]
        here = np.zeros(len(views), dtype=bool)
        self._store_views(views, alone, [here] * len(alone))
        return masses

    def _masses(self, views: Views) -> np.ndarray:
        """Place new objects by their dissimilarities to the fitted ones, (n_new, n_samples) in each view."""
        if missing := [name for name in self.view_names_ if name not in views.names]:
            raise ValueError(
                f"{type(self).__name__} needs every view of new objects. Give view {missing[0]!r} too: their "
                "dissimilarities to the fitted objects."
            )
        parts = []
        for name in self.view_names_:
            try:
                parts.append(read_new(self, None, np.asanyarray(views.tables[views.names.index(name)])))
            except (ValueError, TypeError) as error:
                raise type(error)(f"View {name!r}: {error}") from error
        new = Matrices([part.T for part in parts], self._scale_of_views, parts[0])
        return self._place(new, self._representatives, self._criterion)
