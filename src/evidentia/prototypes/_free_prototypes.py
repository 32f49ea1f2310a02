r"""Where prototypes live when every set of clusters has its own: points, objects of the table, or series.

A space knows how unlike objects and prototypes are, and how to move prototypes so that

.. math:: \sum_i \sum_A a_{iA}\, d(x_i, v_A) + \sum_{A, B} \tfrac12 t_{AB}\, d(v_A, v_B)

falls, for weights a (n_sets, n) and symmetric couplings t (n_sets, n_sets) of the sets and their clusters. Sets are
coupled with clusters only, so that all sets may move at once, and then all clusters. Dissimilarities are divided by a
``unit`` of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from evidentia.belief import FocalSets
from evidentia.dissimilarities.series import series_distances, warping_path
from evidentia.prototypes.secmdd import set_medoids
from evidentia.solvers.barycentric import averaging, solve_semidefinite
from evidentia.solvers.soft_warping import step_down

NEGLIGIBLE = 1e-14  # of the largest weight: an object that a barycenter need not be aligned with


class Space(Protocol):
    """A kind of prototypes: an array or list of them, one for each non-empty set."""

    def distances(self, prototypes: Any) -> np.ndarray:
        """Dissimilarities of all objects to the prototypes, (n_sets, n)."""

    def between(self, prototypes: Any) -> np.ndarray:
        """Dissimilarities of the prototypes, (n_sets, n_sets)."""

    def improve(self, prototypes: Any, weight: np.ndarray, couplings: np.ndarray, single: np.ndarray) -> Any:
        """Better prototypes; ``single`` tells the clusters among the sets."""


@dataclass(frozen=True)
class Points:
    """Points of the table's space, and squared Euclidean distances."""

    rows: np.ndarray

    def start(self, clusters: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        """Clusters (c, p), and the mean of those in each set."""
        return (averaging(focal_sets) @ clusters)[focal_sets.card > 0]

    def distances(self, prototypes: np.ndarray) -> np.ndarray:
        return cdist(prototypes, self.rows, "sqeuclidean")

    def between(self, prototypes: np.ndarray) -> np.ndarray:
        return cdist(prototypes, prototypes, "sqeuclidean")

    def improve(
        self, prototypes: np.ndarray, weight: np.ndarray, couplings: np.ndarray, single: np.ndarray
    ) -> np.ndarray:
        """The minimum over all prototypes together: a linear system with the Laplacian of the couplings."""
        system = np.diag(weight.sum(axis=1) + couplings.sum(axis=1)) - couplings
        return prototypes + solve_semidefinite(system, weight @ self.rows - system @ prototypes)


@dataclass(frozen=True)
class Members:
    """Objects of the table, by number, and their dissimilarities."""

    dissimilarity: np.ndarray

    def start(self, clusters: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
        """Clusters (c,), and an object about as near to all of those in each set."""
        return set_medoids(self.dissimilarity[:, clusters], focal_sets, eta=1.0)[focal_sets.card > 0]

    def distances(self, prototypes: np.ndarray) -> np.ndarray:
        return self.dissimilarity[prototypes]

    def between(self, prototypes: np.ndarray) -> np.ndarray:
        return self.dissimilarity[np.ix_(prototypes, prototypes)]

    def improve(
        self, prototypes: np.ndarray, weight: np.ndarray, couplings: np.ndarray, single: np.ndarray
    ) -> np.ndarray:
        """The best object for each set, then for each cluster; no object stands for two clusters."""
        found = prototypes.copy()
        own = weight @ self.dissimilarity
        found[~single] = (own[~single] + couplings[~single] @ self.dissimilarity[found]).argmin(axis=1)
        for at in np.flatnonzero(single):
            cost = own[at] + couplings[at] @ self.dissimilarity[found]
            cost[found[single & (np.arange(len(found)) != at)]] = np.inf
            found[at] = cost.argmin()
        return found


@dataclass(frozen=True)
class WarpedSeries:
    """Series (t, k), and squared DTW distances: barycenters are means along warping paths [1]_, or all alignments.

    References
    ----------
    .. [1] F. Petitjean, A. Ketterlin, P. Gançarski. A global averaging method for dynamic time warping, with
       applications to clustering. Pattern Recognition 44(3):678-693, 2011.
    """

    series: list[np.ndarray]
    params: dict[str, Any]
    unit: float

    def distances(self, prototypes: list[np.ndarray]) -> np.ndarray:
        return series_distances(self.series, prototypes, self.params).T ** 2 / self.unit

    def between(self, prototypes: list[np.ndarray]) -> np.ndarray:
        return series_distances(prototypes, prototypes, self.params) ** 2 / self.unit

    def improve(
        self, prototypes: list[np.ndarray], weight: np.ndarray, couplings: np.ndarray, single: np.ndarray
    ) -> list[np.ndarray]:
        """One step of barycenter averaging for each set, then for each cluster: better along the present paths."""
        gamma = self.params.get("gamma")
        move = partial(averaged, params=self.params) if gamma is None else partial(step_down, gamma=gamma)
        found = list(prototypes)
        for at in [*np.flatnonzero(~single), *np.flatnonzero(single)]:
            pulls = np.concatenate([weight[at], couplings[at]])
            near = np.flatnonzero(pulls > NEGLIGIBLE * pulls.max())
            together = [*self.series, *found]
            found[at] = move(found[at], [together[i] for i in near], pulls[near])
        return found


def averaged(start: np.ndarray, series: list[np.ndarray], weight: np.ndarray, params: dict[str, Any]) -> np.ndarray:
    """The series, as long as ``start``, of least weighted sum of squares along the warping paths from ``start``.

    Examples
    --------
    The path from (0, 9) to (2, 2, 8) matches 0 with both twos, and 9 with 8.

    >>> series = [np.array([[2.0], [2.0], [8.0]]), np.array([[0.0], [9.0]])]
    >>> averaged(np.array([[0.0], [9.0]]), series, np.array([1.0, 1.0]), {}).ravel()
    array([1.33333333, 8.5       ])
    """
    total, count = np.zeros_like(start), np.zeros(len(start))
    for one, pull in zip(series, weight):
        here, there = warping_path(start, one, params).T
        np.add.at(total, here, pull * one[there])
        np.add.at(count, here, pull)
    return np.divide(total, count[:, None], out=start.copy(), where=count[:, None] > 0)
