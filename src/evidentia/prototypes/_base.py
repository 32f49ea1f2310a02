"""What the methods with centres share: the fit from several starts, the default of rho, prediction."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from evidentia import _base
from evidentia._parameters import Choice, Kind, Number, param
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.belief.focal import canonical_order
from evidentia.partition import CredalPartition
from evidentia.prototypes._kernel import Criterion, Prototypes, block_masses, descent_step
from evidentia.solvers.coordinates import Coordinates, unit_free
from evidentia.solvers.descent import Run, Step, best_descent, descend
from evidentia.solvers.starts import kmeans_starts, random_starts
from evidentia.solvers.threads import one_blas_thread

RHO_FACTOR = 3.0
RHO_LEAST = 1e-6  # of the spread of the table: with an object on every centre, rounding errors are no yardstick


INIT = Choice("k-means", "random") | Kind("array of shape (n_clusters, n_features)")


class PrototypeClusterer(_base.IterativeClusterer):
    """Base of the methods that descend on the criterion of evidential c-means.

    What a subclass does not let its user choose is a plain class attribute here.
    """

    alpha = 1.0  # single clusters only: the penalty of larger sets plays no part
    beta: float = param(
        Number(above=1),
        "Fuzzifier, elsewhere often called m: near 1 the masses become crisp, large values blur them.",
        default=2.0,
    )
    rho: Any = "auto"
    adaptive = False
    focal_sets: Any = "singletons"
    init: Any = param(
        INIT,
        """Start of the centers. ``"k-means"`` begins half of the starts at k-means solutions and half, as ``"random"``
        does, at random rows: k-means gives far outliers a cluster of their own. An array makes one start and keeps
        its order of clusters.""",
        default="k-means",
    )

    attributes = {
        "cluster_centers_": "ndarray of shape (n_clusters, n_features)\nClusters are numbered from the largest to the "
        "smallest, unless ``init`` or a list of focal sets fixes them.",
    }

    def _family(self) -> FocalSets:
        """The focal sets of the descent."""
        return resolve_focal_sets(self.focal_sets, self.n_clusters, empty=self.method.empty_set)

    @one_blas_thread
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters in the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, none of them missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            An object of weight two counts as two objects.
        """
        table = self._check_table(X, reset=True)
        weight = _base.check_weight(self, sample_weight, len(table))
        weight = np.ones(len(table)) if weight is None else weight
        self.check_parameters()
        self._check_start(table, weight)
        focal_sets = self._family()
        self._coordinates = unit_free(table, weight, kind="diag" if self.adaptive else "spherical")
        unit = squared_unit(self._coordinates)
        rows = np.ascontiguousarray(self._coordinates.to(table).T)

        rng = check_random_state(self.random_state)
        starts = self._starts(rows, weight, rng)
        rho = self._distance_to_empty(rows, weight, starts, rng) if focal_sets.empty_index is not None else None
        criterion = Criterion(focal_sets, self.alpha, self.beta, rho)
        criterion, best, runs = self._search(rows, weight, criterion, starts)

        self.rho_ = None if rho is None else float(rho * np.sqrt(unit))
        self._publish_run(best, runs, unit * self._share(focal_sets, weight))
        self._settle(table, weight, best.state, criterion)
        self._publish(X, self._training_masses(table))
        _base.warn_if_centers_coincide(self, self._prototypes.described(), np.sqrt(len(rows)))
        return self

    def _share(self, focal_sets: FocalSets, weight: np.ndarray) -> float:
        """What the plain sum of the kernel is multiplied by when the criterion is published."""
        return 1.0

    @property
    def _start_given(self) -> bool:
        return not isinstance(self.init, str)

    def _check_start(self, table: np.ndarray, weight: np.ndarray) -> None:
        """What of the parameters depends on the table."""
        _base.check_enough_rows(self, int(np.count_nonzero(weight)), self.n_clusters)
        if not self._start_given:
            return
        centers, covariances = self._given_start()
        expected = (self.n_clusters, table.shape[1])
        if centers.shape != expected or not np.isfinite(centers).all():
            raise ValueError(
                f"The 'init' parameter of {type(self).__name__} must be 'k-means', 'random' or an array of finite "
                f"centres of shape {expected}, one row per cluster. Got an array of shape {centers.shape}."
            )
        if covariances is not None and (
            covariances.shape != (*expected, table.shape[1]) or not np.isfinite(covariances).all()
        ):
            raise ValueError(
                f"The covariances in the 'init' parameter of {type(self).__name__} must be finite and of shape "
                f"{(*expected, table.shape[1])}. Got {covariances.shape}."
            )

    def _given_start(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Centres, and covariances when ``init`` is a pair of both."""
        if isinstance(self.init, tuple) and len(self.init) == 2 and np.ndim(self.init[1]) == 3:
            return np.asarray(self.init[0], dtype=float), np.asarray(self.init[1], dtype=float)
        return np.asarray(self.init, dtype=float), None

    def _starts(self, rows: np.ndarray, weight: np.ndarray, rng: np.random.RandomState) -> list[Prototypes]:
        if self._start_given:
            centers, covariances = self._given_start()
            start = self._at(self._coordinates.to(centers))
            if covariances is None or not self.adaptive:
                return [start]
            forward = self._coordinates.forward
            covariances = forward.T @ covariances @ forward
            if not (np.linalg.eigvalsh(covariances) > 0).all():
                raise ValueError(
                    f"The covariances in the 'init' parameter of {type(self).__name__} must be positive definite."
                )
            return [replace(start, covariances=covariances)]
        share = (self.n_init + 1) // 2 if self.init == "k-means" else 0  # the rest begins at random rows
        found = kmeans_starts(rows.T, self.n_clusters, share, rng, weight)
        drawn = random_starts(rows.T, self.n_clusters, self.n_init - share, rng, weight)
        return [self._at(centers) for centers in (*found, *drawn)]

    def _at(self, centers: np.ndarray) -> Prototypes:
        """Prototypes that start at the centres, with no shape yet."""
        c, p = centers.shape
        return Prototypes(centers, np.tile(np.eye(p), (c, 1, 1)) if self.adaptive else None)

    def _distance_to_empty(
        self, rows: np.ndarray, weight: np.ndarray, starts: list[Prototypes], rng: np.random.RandomState
    ) -> float:
        if self.rho != "auto":
            return float(self.rho / np.sqrt(squared_unit(self._coordinates)))
        candidates = starts[: (self.n_init + 1) // 2]
        if self._start_given or self.init != "k-means":
            candidates = [self._at(next(kmeans_starts(rows.T, self.n_clusters, 1, rng, weight)))]
        distances = [nearest_distance(rows, weight, found) for found in candidates]
        typical = min(distances)
        if self.adaptive:
            shaped = descend(
                partial(descent_step, rows, weight, single_clusters(self.n_clusters, self.beta)),
                candidates[int(np.argmin(distances))],
                max_iter=self.max_iter,
                tol=self.tol,
                relative=True,
            )
            if shaped.interrupted:  # there is nothing to keep yet
                raise KeyboardInterrupt
            typical = nearest_distance(rows, weight, shaped.state)
        return RHO_FACTOR * max(typical, RHO_LEAST * np.sqrt(len(rows)))

    def _search(
        self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion, starts: Any
    ) -> tuple[Criterion, Run, list[Run]]:
        """The criterion that was descended on, the best run, and the runs from all starts."""
        best, runs = best_descent(
            self._step(rows, weight, criterion),
            starts,
            name=type(self).__name__,
            max_iter=self.max_iter,
            tol=self.tol,
            relative=True,
            n_starts=len(starts) if hasattr(starts, "__len__") else None,
            verbose=self.verbose,
        )
        return criterion, best, runs

    def _step(self, rows: np.ndarray, weight: np.ndarray, criterion: Criterion) -> Step:
        return partial(descent_step, rows, weight, criterion)

    def _settle(self, table: np.ndarray, weight: np.ndarray, prototypes: Any, criterion: Criterion) -> None:
        """Number the clusters and publish the prototypes in the units of X."""
        self._prototypes, self._criterion = prototypes, criterion
        if isinstance(self.focal_sets, str) and not self._start_given:
            found = CredalPartition(self._training_masses(table), criterion.focal_sets, copy=False).pignistic
            self._renumber(_base.largest_first(weight @ found, tie=found.argmax(axis=0)))
        self.focal_sets_ = self._criterion.focal_sets
        self.cluster_centers_ = self._coordinates.back(self._prototypes.centers)
        self.covariances_ = self.cluster_metrics_ = None
        if self.adaptive:
            _, forward, backward, _ = self._coordinates
            self.covariances_ = backward.T @ self._prototypes.covariances @ backward
            self.cluster_metrics_ = squared_unit(self._coordinates) * (forward @ self._prototypes.metric @ forward.T)

    def _renumber(self, order: np.ndarray) -> None:
        """Old cluster ``order[k]`` becomes cluster ``k``."""
        masks = canonical_order(self._criterion.focal_sets.relabel(order).masks.tolist())
        self._prototypes = self._prototypes.reordered(order)
        self._criterion = replace(self._criterion, focal_sets=FocalSets(self.n_clusters, masks))

    def _training_masses(self, table: np.ndarray) -> np.ndarray:
        return self._masses(table)

    def _masses(self, X: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(self._coordinates.to(X).T)
        masses = np.empty((len(X), len(self._criterion.focal_sets)))
        for block, _, _, found, _ in block_masses(rows, self._prototypes, self._criterion):
            masses[block] = found.T
        return masses


def single_clusters(n_clusters: int, beta: float) -> Criterion:
    """The criterion of fuzzy c-means: every cluster alone, no outliers."""
    return Criterion(FocalSets(n_clusters, "singletons", empty=False, omega=False), 1.0, beta)


def nearest_distance(rows: np.ndarray, weight: np.ndarray, prototypes: Prototypes) -> float:
    """Root mean squared distance of the objects to their nearest centre."""
    singles = single_clusters(len(prototypes.centers), 2.0)
    found = block_masses(rows, prototypes, singles)
    return float(np.sqrt(sum(weight[block] @ cost.min(axis=0) for block, _, cost, _, _ in found) / weight.sum()))


def squared_unit(coordinates: Coordinates) -> float:
    """Squared distances in X over those in the coordinates, when metrics have unit volume in both."""
    return float(np.exp(-2 * coordinates.log_jacobian / len(coordinates.backward)))
