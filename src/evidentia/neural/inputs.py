"""From what the user gives to what the network sees: a learned metric or a projection, a center and a scale."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from evidentia.neural.outliers import Region, default_gamma, find_region
from evidentia.solvers.coordinates import Moments, deviations


@dataclass(frozen=True)
class Inputs:
    """How objects become inputs.

    Attributes
    ----------
    center : ndarray of shape (n_inputs,) or float
    scale : float
        One for all columns, so that Euclidean distances keep their proportions.
    learner : transformer, optional
        A fitted metric learner. What it makes of the attributes may be as little as one column, in which objects that
        differ coincide; the network therefore sees the attributes too, less ``own_center``, over ``own_scale``.
    mean, components : ndarray, optional
        Projection of rows of dissimilarities.
    region : Region, optional
        The one-class SVM, on the inputs that distances are measured between.
    """

    center: Any
    scale: float
    learner: Any = None
    mean: np.ndarray | None = None
    components: np.ndarray | None = None
    own_center: np.ndarray | None = None
    own_scale: np.ndarray | None = None
    region: Region | None = None

    def metric_rows(self, objects: Any, table: np.ndarray) -> np.ndarray:
        """Rows between which distances are measured; ``objects`` are what the user gave, ``table`` checked numbers."""
        if self.components is not None:
            return (table - self.mean) @ self.components.T
        return table if self.learner is None else np.asarray(self.learner.transform(objects), dtype=float)

    def network_rows(self, metric_rows: np.ndarray, table: np.ndarray) -> np.ndarray:
        """What the network sees."""
        scaled = (metric_rows - self.center) / self.scale
        return scaled if self.learner is None else np.hstack([scaled, (table - self.own_center) / self.own_scale])

    def metric_part(self, rows: Any) -> Any:
        """The part of the inputs (an array or a tensor) that distances are measured between, flat."""
        flat = rows.reshape(len(rows), -1)
        return flat if self.learner is None else flat[:, : len(self.center)]

    def depth(self, rows: np.ndarray) -> np.ndarray | None:
        """Output of the one-class SVM."""
        return None if self.region is None else self.region.depth(self.metric_part(rows))

    def with_region(self, rows: np.ndarray, nu: float, gamma: float | None, rng: np.random.RandomState) -> Inputs:
        """The same with a one-class SVM, whose ``gamma`` is in the units of the rows that distances are between."""
        part = self.metric_part(rows)
        width = default_gamma(part) if gamma is None else gamma * self.scale**2
        return replace(self, region=find_region(part, nu, width, rng))

    @property
    def svm_gamma(self) -> float | None:
        """Width of the SVM's kernel in the units of the rows that distances are between."""
        return None if self.region is None else self.region.gamma / self.scale**2


def scale_rows(rows: np.ndarray, **more: Any) -> Inputs:
    """Mean of each column for a center, and the root of the mean variance of the columns for a scale."""
    return Inputs(rows.mean(axis=0), float(np.sqrt(rows.var(axis=0).mean())) or 1.0, **more)


def scale_by_moments(moments: Moments) -> Inputs:
    """The same of a table whose moments are known."""
    return Inputs(moments.mean, float(np.sqrt(moments.spread.mean())) or 1.0)


def project_dissimilarities(matrix: np.ndarray, n_components: Any) -> tuple[Inputs, np.ndarray]:
    """Inputs that are principal components of the rows of a matrix, and those rows projected."""
    if not isinstance(n_components, float):
        n_components = min(n_components, len(matrix))
    found = PCA(n_components, svd_solver="full").fit(matrix)
    rows = (matrix - found.mean_) @ found.components_.T
    return scale_rows(rows, mean=found.mean_, components=found.components_), rows


def join_learner(learner: Any, rows: np.ndarray, table: np.ndarray) -> Inputs:
    """Inputs that are the rows which a fitted metric learner makes, and the columns of the table beside them."""
    return scale_rows(rows, learner=learner, own_center=table.mean(axis=0), own_scale=deviations(table))
