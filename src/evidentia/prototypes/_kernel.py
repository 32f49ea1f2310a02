r"""The criterion of evidential c-means and the updates that lower it, for every method with centers.

.. math::
    J(M, V, S) = \sum_i w_i \Big[ \sum_{A_j \neq \varnothing} |A_j|^{\alpha} m_{ij}^{\beta} d_{ij}^2
                 + \rho^2 m_{i\varnothing}^{\beta} \Big], \qquad
    d_{ij}^2 = (x_i - \bar v_j)^T \bar S_j (x_i - \bar v_j)

with :math:`\bar v_j`, :math:`\bar S_j` the means of the centers and of the metrics of the clusters in
:math:`A_j` ([1]_, (11)-(14), (22), (23); [2]_). Fuzzy c-means, noise clustering and Gustafson-Kessel are this
criterion on fewer focal sets.

One observation carries the whole file: the squared distance is *linear* in the features of a row,
:math:`\varphi(x) = (1, x, \|x\|^2)` for the Euclidean metric and :math:`(1, x, x x^T)` for an adaptive one. So the
costs of a block of rows are one matrix product, and the sums :math:`\sum_i m_{ij}^{\beta} \varphi(x_i)`, a second
product, are all that the new centers and metrics need. No array of objects by focal sets outlives its block, and
sums over chunks of a table add up, wherever its rows are.

Rows are kept as columns, ``(n_features, n_rows)``: sums over the few focal sets run along contiguous memory.

References
----------
.. [1] V. Antoine, B. Quost, M.-H. Masson, T. Denœux. CECM: Constrained evidential c-means algorithm.
   Computational Statistics & Data Analysis 56(4):894-914, 2012.
.. [2] M.-H. Masson, T. Denœux. ECM: an evidential version of the fuzzy c-means algorithm.
   Pattern Recognition 41(4):1384-1397, 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from evidentia.belief.focal import FocalSets, canonical_order
from evidentia.rows.passes import reduce_rows
from evidentia.solvers.barycentric import averaging, solve_centers, solve_semidefinite
from evidentia.solvers.cost_sums import add_cost_sums
from evidentia.solvers.descent import exponentials, logarithms
from evidentia.solvers.memory import row_blocks

LEAST_COST = 1e-150  # of an object sitting on a prototype: its inverse and products of the two are finite
NEAR = 1e-6  # of the cost of the origin: what is below it has lost six digits or more
MOST_COLUMNS = 32  # up to which the compiled pass is faster than products of matrices; those wait for other threads
GUARD = 1e-8  # share of the table's own variance that keeps a flat cluster's metric finite


class ColumnChunk(NamedTuple):
    """A chunk of a table: rows as columns (p, n), and their weights (n,); None when all are one."""

    rows: np.ndarray
    weight: np.ndarray | None


class Sums(NamedTuple):
    r"""J of some rows at its best masses, and :math:`\sum_i w_i m_{ij}^\beta \varphi(x_i)`, (n_focal, n_terms)."""

    objective: float
    sums: np.ndarray

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        return Sums(self.objective + other.objective, self.sums + other.sums)


def plain_state(instance: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, to pickle it without what it has derived: arguments identify a pass."""
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


@dataclass(frozen=True)
class Prototypes:
    """The state of the descent: centers (c, p) and, when the metric adapts, covariances (c, p, p)."""

    centers: np.ndarray
    covariances: np.ndarray | None = None

    def __getstate__(self) -> dict[str, Any]:
        return plain_state(self)

    @cached_property
    def metric(self) -> np.ndarray | None:
        return None if self.covariances is None else adapted_metric(self.covariances)

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Return what squared distances to these prototypes are linear in, shape (n_terms, n_rows)."""
        return lift(rows, self.covariances is not None)

    def distance_terms(self, average: np.ndarray) -> np.ndarray:
        """Return the coefficients of squared distances to means over the clusters, shape (n_focal, n_terms)."""
        centers = average @ self.centers
        if self.metric is None:
            return np.column_stack([np.einsum("jq,jq->j", centers, centers), -2 * centers, np.ones(len(centers))])
        metric = _mix_matrices(average, self.metric)
        pulled = np.einsum("jab,jb->ja", metric, centers)
        a, b = np.triu_indices(centers.shape[1])
        products = metric[:, a, b] * np.where(a == b, 1, 2)
        return np.column_stack([np.einsum("jq,jq->j", centers, pulled), -2 * pulled, products])

    def replace_small(self, cost: np.ndarray, rows: np.ndarray, costs: DistanceCosts) -> None:
        """Compute costs of rows next to a prototype from differences: products would leave only rounding errors.

        Afterwards all costs are positive.
        """
        for j in np.flatnonzero(cost.min(axis=1) < costs.doubtful):
            near = cost[j] < costs.doubtful[j]
            products = self.features(rows[:, near] - costs.places[j][:, None])[1 + len(rows) :]
            cost[j, near] = np.maximum(costs.terms[j, 1 + len(rows) :] @ products, LEAST_COST)

    def describe(self) -> np.ndarray:
        """Return the center and shape of each cluster in one row."""
        c = len(self.centers)
        return self.centers if self.covariances is None else np.c_[self.centers, self.covariances.reshape(c, -1)]

    def reorder(self, order: np.ndarray) -> Prototypes:
        return replace(
            self, centers=self.centers[order], covariances=None if self.covariances is None else self.covariances[order]
        )


def as_vector(prototypes: Prototypes) -> np.ndarray:
    """Return centers and logarithms of the covariances."""
    centers = prototypes.centers.ravel()
    return centers if prototypes.covariances is None else np.r_[centers, logarithms(prototypes.covariances).ravel()]


def from_vector(vector: np.ndarray, like: Prototypes) -> Prototypes | None:
    """Return prototypes from what :func:`as_vector` gives; None if a covariance is beyond all bounds."""
    centers, logs = np.split(vector, [like.centers.size])
    centers = centers.reshape(like.centers.shape)
    if like.covariances is None:
        return replace(like, centers=centers)
    covariances = exponentials(logs.reshape(like.covariances.shape))
    return None if covariances is None else replace(like, centers=centers, covariances=covariances)


@dataclass(frozen=True)
class Criterion:
    """The fixed part of J; ``rho`` belongs to the empty set and is None without it."""

    focal_sets: FocalSets
    alpha: float
    beta: float
    rho: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        return plain_state(self)

    @cached_property
    def average(self) -> np.ndarray:
        return averaging(self.focal_sets)

    @cached_property
    def penalty(self) -> np.ndarray:
        return np.maximum(self.focal_sets.card, 1).astype(float) ** self.alpha  # the empty set has a cost of its own


def lift(rows: np.ndarray, adaptive: bool) -> np.ndarray:
    r"""Return features :math:`\varphi(x)` in which squared distances are linear, shape (n_terms, n_rows).

    Examples
    --------
    >>> row = np.array([[2.0], [3.0]])
    >>> lift(row, adaptive=False).ravel(), lift(row, adaptive=True).ravel()
    (array([ 1.,  2.,  3., 13.]), array([1., 2., 3., 4., 6., 9.]))
    """
    p, n = rows.shape
    terms = np.empty((1 + p + (p * (p + 1) // 2 if adaptive else 1), n))
    terms[0] = 1
    terms[1 : 1 + p] = rows
    if adaptive:
        a, b = np.triu_indices(p)
        np.multiply(rows[a], rows[b], out=terms[1 + p :])
    else:
        np.einsum("qi,qi->i", rows, rows, out=terms[1 + p])
    return terms


def adapted_metric(covariances: np.ndarray) -> np.ndarray:
    r"""Return metrics of unit volume, :math:`S_l = \det(\Sigma_l)^{1/p}\, \Sigma_l^{-1}` ([1]_ (42)), as (c, p, p).

    Examples
    --------
    >>> adapted_metric(np.diag([4.0, 1.0])[None])
    array([[[0.5, 0. ],
            [0. , 2. ]]])
    """
    values, vectors = np.linalg.eigh(covariances)
    values = np.maximum(values, np.finfo(float).eps * values[:, -1:])  # below it, rounding errors
    volume = np.exp(np.log(values).mean(axis=1, keepdims=True))
    return (vectors * (volume / values)[:, None, :]) @ vectors.transpose(0, 2, 1)


def cost_terms(prototypes: Prototypes, criterion: Criterion) -> np.ndarray:
    r"""Return the coefficients of :math:`|A_j|^\alpha d_{ij}^2`, :math:`\rho^2` in the features, (n_focal, n_terms)."""
    terms = prototypes.distance_terms(criterion.average)
    terms *= criterion.penalty[:, None]
    if criterion.rho is not None:
        terms[criterion.focal_sets.empty_index] = np.eye(1, terms.shape[1]) * criterion.rho**2
    return terms


@dataclass(frozen=True)
class DistanceCosts:
    r"""Costs :math:`|A|^\alpha d_{iA}^2` of the focal sets at given prototypes, and :math:`\rho^2` of the empty set.

    ``terms`` (n_focal, n_terms) are their coefficients in the features of a row, ``places`` (n_focal, p) where they are
    zero. A cost below ``doubtful`` (n_focal,) has lost six digits or more of that of the origin, which is one of its
    terms.
    """

    prototypes: Prototypes
    criterion: Criterion

    def __getstate__(self) -> dict[str, Any]:
        return plain_state(self)

    @property
    def beta(self) -> float:
        return self.criterion.beta

    @cached_property
    def terms(self) -> np.ndarray:
        return cost_terms(self.prototypes, self.criterion)

    @cached_property
    def places(self) -> np.ndarray:
        return self.criterion.average @ self.prototypes.centers

    @cached_property
    def doubtful(self) -> np.ndarray:
        return np.maximum(NEAR * self.terms[:, 0], LEAST_COST)

    @property
    def is_compiled(self) -> bool:
        """Whether a compiled pass gives the sums."""
        narrow = self.prototypes.centers.shape[1] <= MOST_COLUMNS
        return self.beta == 2 and (narrow or self.prototypes.covariances is not None)

    def features(self, rows: np.ndarray) -> np.ndarray:
        return self.prototypes.features(rows)

    def measure(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        cost = self.terms @ features
        self.prototypes.replace_small(cost, rows, self)
        return cost


@dataclass(frozen=True)
class LinearCosts:
    """Costs that are linear in the rows as they are, by coefficients ``terms`` (n_focal, p)."""

    terms: np.ndarray
    beta: float

    def features(self, rows: np.ndarray) -> np.ndarray:
        return rows

    def measure(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray:
        cost = self.terms @ features
        return np.maximum(cost, LEAST_COST, out=cost)


class Costs(Protocol):
    """Positive costs of the focal sets for each row, (n_focal, n), from features of the rows, (n_terms, n)."""

    @property
    def terms(self) -> np.ndarray: ...

    @property
    def beta(self) -> float: ...

    def features(self, rows: np.ndarray) -> np.ndarray: ...

    def measure(self, rows: np.ndarray, features: np.ndarray) -> np.ndarray: ...


def update_masses(cost: np.ndarray, beta: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Return masses that minimize :math:`\sum_j \mathrm{cost}_{ij}\, m_{ij}^\beta`, and the minimum ([1]_ (A.1)).

    .. math:: m_{ij} \propto \mathrm{cost}_{ij}^{-1/(\beta-1)}

    Parameters
    ----------
    cost : ndarray of shape (n_focal, n_rows)
        Positive.
    beta : float
        Above one.

    Returns
    -------
    masses : ndarray of shape (n_focal, n_rows)
    least : ndarray of shape (n_rows,)

    Examples
    --------
    >>> masses, least = update_masses(np.array([[1.0], [3.0]]), beta=2.0)
    >>> masses.ravel(), least           # 1 * 0.75**2 + 3 * 0.25**2
    (array([0.75, 0.25]), array([0.75]))
    """
    nearest = cost.min(axis=0)
    masses = nearest / cost  # in (0, 1], so that no power overflows when beta is near 1
    masses **= 1 / (beta - 1)
    total = masses.sum(axis=0)
    masses /= total
    return masses, nearest * total ** (1 - beta)


class MassBlock(NamedTuple):
    """Some rows, their features (n_terms, n), costs and masses (n_focal, n), and the least sums of costs (n,)."""

    rows: slice
    features: np.ndarray
    cost: np.ndarray
    masses: np.ndarray
    least: np.ndarray


def block_masses(rows: np.ndarray, costs: Costs) -> Iterator[MassBlock]:
    """Find the masses of rows (p, n), block by block."""
    for block in row_blocks(rows.shape[1], 3 * len(costs.terms) + costs.terms.shape[1]):
        features = costs.features(rows[:, block])
        cost = costs.measure(rows[:, block], features)
        yield MassBlock(block, features, cost, *update_masses(cost, costs.beta))


def sums_over(blocks: Iterable[MassBlock], weight: np.ndarray | None) -> Sums:
    """Add up blocks of masses; their masses and least costs are overwritten."""
    objective, sums = 0.0, np.zeros((1, 1))
    for block, features, cost, masses, least in blocks:
        if weight is not None:
            least *= weight[block]
        objective += least.sum()
        masses *= least  # m**beta = m * least / cost, as cost * m**(beta - 1) is the same for all focal sets
        masses /= cost
        sums = sums + masses @ features.T
    return Sums(float(objective), sums)


def chunk_sums(chunk: ColumnChunk, costs: Costs) -> Sums:
    """Return J of a chunk of the table at its best masses, and its sums."""
    rows, weight = chunk
    if type(costs) is not DistanceCosts or not costs.is_compiled:
        return sums_over(block_masses(rows, costs), weight)
    sums, weight = np.zeros_like(costs.terms), np.empty(0) if weight is None else weight
    objective = add_cost_sums(rows, costs.terms, costs.places, costs.doubtful, weight, LEAST_COST, sums)
    return Sums(objective, sums)


def update_centers(sums: np.ndarray, prototypes: Prototypes, criterion: Criterion) -> np.ndarray:
    """Return centers for given masses and metrics: the systems (A.5) and (33) of [1]_, of size c or cp for any n."""
    average, previous = criterion.average, prototypes.centers
    c, p = previous.shape
    weight = criterion.penalty * sums[:, 0]
    total = criterion.penalty[:, None] * sums[:, 1 : 1 + p]
    if prototypes.metric is None:
        return solve_centers(weight, total, average, previous)
    metric = _mix_matrices(average, prototypes.metric)
    moved = average.T @ np.einsum("jab,jb->ja", metric, total - weight[:, None] * (average @ previous))
    together = (average[:, :, None] * average[:, None, :]).reshape(-1, c * c)
    gram = (together.T @ (weight[:, None, None] * metric).reshape(-1, p * p)).reshape(c, c, p, p)
    gram = gram.transpose(0, 2, 1, 3).reshape(c * p, c * p)
    return previous + solve_semidefinite(gram, moved.reshape(c * p, 1)).reshape(c, p)


def update_covariances(sums: np.ndarray, centers: np.ndarray, criterion: Criterion, total_weight: float) -> np.ndarray:
    """Return evidential covariances of the clusters for given masses and centers ([1]_ (37), per unit of weight).

    The table has unit variance in every column, and a share :data:`GUARD` of that variance is mixed in: a cluster
    that is flat, or lost its objects, keeps a metric, and J with :func:`guard_cost` still never rises.
    """
    p = centers.shape[1]
    a, b = np.triu_indices(p)
    second = np.empty((len(sums), p, p))
    second[:, a, b] = second[:, b, a] = sums[:, 1 + p :]
    weight, total, middle = sums[:, 0], sums[:, 1 : 1 + p], criterion.average @ centers
    cross = total[:, :, None] * middle[:, None, :]
    scatter = second - cross - cross.transpose(0, 2, 1) + weight[:, None, None] * middle[:, :, None] * middle[:, None]
    share = criterion.average * criterion.penalty[:, None]
    values, vectors = np.linalg.eigh(_mix_matrices(share.T, scatter))
    prior = GUARD * total_weight
    values = (np.maximum(values, 0) + prior) / (share.T @ weight + prior)[:, None]
    return (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)


def guard_cost(prototypes: Prototypes, total_weight: float) -> float:
    """Return what the guard adds to J, about 1e-8 of it; zero for the Euclidean metric."""
    if prototypes.metric is None:
        return 0.0
    return GUARD * total_weight * float(np.trace(prototypes.metric, axis1=1, axis2=2).sum())


def update_prototypes(
    sums: np.ndarray, prototypes: Prototypes, criterion: Criterion, total_weight: float
) -> Prototypes:
    """Return better prototypes for given masses: centers, then metrics, each at its optimum."""
    centers = update_centers(sums, prototypes, criterion)
    if prototypes.covariances is None:
        return Prototypes(centers)
    return Prototypes(centers, update_covariances(sums, centers, criterion, total_weight))


def descent_step(
    chunks: Any, total_weight: float, criterion: Criterion, prototypes: Prototypes
) -> tuple[float, Prototypes]:
    """Return J of the prototypes, and better ones: masses, then centers, then metrics, each at its optimum.

    ``chunks`` are rows of which :func:`~evidentia.rows.passes.reduce_rows` reads a :class:`ColumnChunk` at a time.
    """
    objective, sums = reduce_rows(chunk_sums, chunks, DistanceCosts(prototypes, criterion))
    objective += guard_cost(prototypes, total_weight)
    return objective, update_prototypes(sums, prototypes, criterion, total_weight)


def renumber_sets(focal_sets: FocalSets, order: np.ndarray) -> tuple[FocalSets, list[int]]:
    """Return the focal sets when old cluster ``order[k]`` becomes cluster ``k``, and where each of them was before.

    Examples
    --------
    >>> renumber_sets(FocalSets(3, [{0}, {1}, {2}, {0, 1}]), np.array([2, 0, 1]))
    (FocalSets(3 clusters: {0}, {1}, {2}, {1,2}), [2, 0, 1, 3])
    """
    moved = focal_sets.relabel(order)
    ordered = FocalSets(moved.n_clusters, canonical_order(moved.masks.tolist()))
    return ordered, [moved.index(mask) for mask in ordered.masks]


def _mix_matrices(mixing: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Return weighted sums of matrices: ``mixing`` (m, k) times ``matrices`` (k, p, p)."""
    return (mixing @ matrices.reshape(len(matrices), -1)).reshape(-1, *matrices.shape[1:])
