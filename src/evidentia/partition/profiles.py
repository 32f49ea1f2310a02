r"""What is usual in each cluster, column by column, seen from the partition alone.

A column of numbers has in each cluster the mean :math:`\mu_{kj}` of the objects assigned to it, and the spread
:math:`\sigma_{kj}` around it of all that may be in it: assigned objects alone lie closer together than the cluster
does, and would make every doubtful value look decided. A column of categories has the share of each of them. How well a
value suits a cluster is the logarithm of its density there, so that evidence of columns in any units, and of both
kinds, can be compared and added. The density of numbers is Student's t with four degrees of freedom: with the thin
tails of a normal one, a column that happens to be narrow would outvote all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from evidentia.partition.credal import CredalPartition

__all__ = ["Columns", "Profiles", "column_separations", "profile", "read_columns"]

FEW = 2  # a cluster with fewer assigned objects than this is described by everybody who may be in it
PRIOR = 2.0  # objects that the common spread counts for in the spread of each cluster
TAIL = 4.0  # degrees of freedom of Student's t
NARROWEST = 1e-3  # smallest spread, as a share of the spread of the whole column


@dataclass(frozen=True)
class Columns:
    """A table of numbers and categories.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_columns)
        A category is its position in ``levels``; what is missing is NaN.
    names : tuple of str
    levels : dict
        The categories of each column that has them, by the number of the column.
    """

    values: np.ndarray
    names: tuple[str, ...]
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def numeric(self) -> np.ndarray:
        """Which columns are numbers, shape (n_columns,) of bool."""
        return np.array([j not in self.levels for j in range(len(self.names))], dtype=bool)

    def to_frame(self, names: Sequence[Any], heading: str) -> pd.DataFrame:
        """The table again, as a DataFrame with the names of its objects."""
        import pandas as pd

        columns = [
            pd.Series(values) if j not in self.levels else pd.Series(values).map(dict(enumerate(self.levels[j])))
            for j, values in enumerate(self.values.T)
        ]
        frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(names)))
        return frame.set_axis(list(self.names), axis=1).set_axis(pd.Index(names, name=heading), axis=0)

    def only(self, which: np.ndarray) -> Columns:
        """Some of the columns, ``which`` of shape (n_columns,) of bool."""
        kept = np.flatnonzero(which).tolist()
        levels = {at: self.levels[j] for at, j in enumerate(kept) if j in self.levels}
        return Columns(self.values[:, kept], tuple(self.names[j] for j in kept), levels)

    def one_hot(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers as they are, a column of zeros and ones for each category, and the column that each came from."""
        parts, origin = [], []
        for j, column in enumerate(self.values.T):
            wide = np.arange(len(self.levels.get(j, ())))
            part = column[:, None] if j not in self.levels else np.where(np.isnan(column), np.nan, 1)[:, None]
            parts.append(part if j not in self.levels else part * (column[:, None] == wide))
            origin += [j] * parts[-1].shape[1]
        return np.hstack(parts) if parts else self.values, np.array(origin, dtype=int)


def read_columns(X: Any, feature_names: Sequence[str] | None = None) -> Columns:
    """Columns of a table: what is no number is a category; infinite entries count as missing.

    Examples
    --------
    >>> import pandas as pd
    >>> table = read_columns(pd.DataFrame({"age": [31, None, 60], "sex": ["f", "m", "f"]}))
    >>> table.values.tolist(), table.levels
    ([[31.0, 0.0], [nan, 1.0], [60.0, 0.0]], {1: ('f', 'm')})
    """
    frame = hasattr(X, "dtypes") and hasattr(X, "columns")
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"'X' must be a table with rows and columns. Got an array of shape {shape}.")
    if not shape[1]:
        raise ValueError("'X' has no columns. Give the table that was clustered.")
    names = feature_names if feature_names is not None else X.columns if frame else None
    if names is not None and len(names) != shape[1]:
        raise ValueError(f"'feature_names' must name {shape[1]} columns. Got {len(names)} names.")
    names = tuple(map(str, names)) if names is not None else tuple(f"column {j}" for j in range(shape[1]))
    if frame and all(getattr(kind, "kind", "O") in "biuf" for kind in X.dtypes):  # at once, for they may be many
        X, frame = X.to_numpy(dtype=float, na_value=np.nan), False
    whole = None if frame else np.asarray(X)
    if whole is not None and whole.dtype.kind in "biuf":
        return Columns(_finite(whole.astype(float)), names)
    columns, levels = [], {}
    for j in range(shape[1]):
        values, found = _read(X.iloc[:, j] if whole is None else whole[:, j])
        columns.append(values)
        if found is not None:
            levels[j] = found
    return Columns(np.column_stack(columns), names, levels)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def _read(column: Any) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """A column as doubles, and its categories when it is not made of numbers."""
    import pandas as pd

    series = pd.Series(column)
    if getattr(series.dtype, "kind", "O") in "biuf":
        return _finite(series.to_numpy(dtype=float, na_value=np.nan)), None
    text = pd.api.types.is_object_dtype(series.dtype) or pd.api.types.is_string_dtype(series.dtype)
    numbers = pd.to_numeric(series, errors="coerce") if text else None
    if numbers is not None and not (numbers.isna() & series.notna()).any():
        return _finite(numbers.to_numpy(dtype=float)), None
    codes, found = pd.factorize(series.astype(object).where(series.notna()).map(str, na_action="ignore"), sort=True)
    return np.where(codes < 0, np.nan, codes).astype(float), tuple(found)


@dataclass(frozen=True)
class Profiles:
    """What is usual in each cluster.

    Attributes
    ----------
    columns : Columns
    means, spreads : ndarray of shape (n_clusters, n_columns)
        Of columns of numbers; NaN for categories.
    shares : dict
        Logarithms of the shares of categories, shape (n_clusters, n_levels), by the number of the column.
    scale : ndarray of shape (n_columns,)
        Spread inside clusters, common to all of them.
    """

    columns: Columns
    means: np.ndarray
    spreads: np.ndarray
    shares: Mapping[int, np.ndarray]
    scale: np.ndarray

    def log_densities(self, rows: np.ndarray, clusters: np.ndarray) -> np.ndarray:
        """Log density of each entry of ``rows`` in one cluster for each row, up to a constant of the column.

        Both are given for m objects: ``rows`` their numbers, ``clusters`` a cluster for each; the answer has shape
        (m, n_columns), zero where nothing is known.
        """
        values = self.columns.values[rows]
        found = log_density(values, self.means[clusters], self.spreads[clusters], self.scale)
        for j, shares in self.shares.items():
            known = ~np.isnan(values[:, j])
            found[known, j] = shares[clusters[known], values[known, j].astype(int)]
        return np.nan_to_num(found, nan=0.0)

    def distances(self, rows: np.ndarray, clusters: np.ndarray) -> np.ndarray:
        """How far entries are from what is usual in a cluster, in its spreads, shape (m, n_columns); 0 if missing.

        For a category: as far as a number would be that is as much rarer than the most common one.
        """
        values = self.columns.values[rows]
        found = np.nan_to_num((values - self.means[clusters]) / self.spreads[clusters], nan=0.0)
        for j, shares in self.shares.items():
            known = ~np.isnan(values[:, j])
            here = shares[clusters[known]]
            rarer = here.max(axis=1) - here[np.arange(len(here)), values[known, j].astype(int)]
            found[known, j] = np.sqrt(2 * rarer)
        return found

    def contrast(self, a: int, b: int) -> np.ndarray:
        r"""How well each column tells two clusters apart, shape (n_columns,).

        The evidence expected from an object of one of them, :math:`\tfrac12 (KL(a \| b) + KL(b \| a))` in nats; of two
        normal distributions of one spread, half the squared distance of their means in spreads.
        """
        va, vb = self.spreads[a] ** 2, self.spreads[b] ** 2
        apart = (self.means[a] - self.means[b]) ** 2
        found = 0.25 * ((va + apart) / vb + (vb + apart) / va - 2)
        for j, shares in self.shares.items():
            ratio = shares[a] - shares[b]
            found[j] = 0.5 * float((np.exp(shares[a]) - np.exp(shares[b])) @ ratio)
        return np.nan_to_num(found, nan=0.0)

    def neighbor_distances(self, i: int, others: np.ndarray) -> np.ndarray:
        """Distance of object ``i`` from others in spreads, over the columns known of both; inf where there are none."""
        values = self.columns.values
        gap = (values[others] - values[i]) / self.scale
        for j in self.shares:
            gap[:, j] = np.where(np.isnan(gap[:, j]), np.nan, np.sqrt(2.0) * (values[others, j] != values[i, j]))
        known = ~np.isnan(gap)
        count = known.sum(axis=1)
        total = (np.where(known, gap, 0.0) ** 2).sum(axis=1)
        mean = np.divide(total, count, out=np.full(len(others), np.inf), where=count > 0)
        return np.sqrt(mean * values.shape[1])


def log_density(values: Any, means: Any, spreads: Any, scale: Any = 1.0) -> np.ndarray:
    r"""Log density of Student's t, :math:`-\frac{\nu + 1}{2} \log(1 + z^2/\nu) - \log \sigma`, up to a constant."""
    squares = ((values - means) / spreads) ** 2
    return -0.5 * (TAIL + 1) * np.log1p(squares / TAIL) - np.log(spreads / scale)


def assigned_weights(partition: CredalPartition) -> np.ndarray:
    """How much each object counts for the mean of each cluster, shape (n_samples, n_clusters).

    Its mass on the cluster if it is assigned to it, else nothing; in a cluster with hardly any of these, as much as
    for the spread.
    """
    assigned = partition.set_masks[:, None] == 1 << np.arange(partition.n_clusters)
    few = assigned.sum(axis=0) < FEW
    return np.where(few, possible_weights(partition), np.where(assigned, partition.singleton_belief, 0.0))


def possible_weights(partition: CredalPartition) -> np.ndarray:
    """How much each object counts for the spread of each cluster: its pignistic probability, if it may be in it.

    That is if its set of largest mass contains the cluster: the crumbs of mass of a crowd far away would make any
    cluster wide. In a cluster with hardly any of these, everybody counts who is no outlier.
    """
    inside = partition.hard_masks[:, None] >> np.arange(partition.n_clusters) & 1 == 1
    few = inside.sum(axis=0) < FEW
    return np.where(inside | few & (partition.hard_masks[:, None] != 0), partition.pignistic, 0.0)


def profile(partition: CredalPartition, columns: Columns) -> Profiles:
    """Describe the clusters of a partition by the columns of its objects."""
    values = columns.values
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    middle = np.where(known, values, 0.0).sum(axis=0) / count
    centered = np.where(known, values - middle, 0.0)
    whole = np.sqrt((centered**2).sum(axis=0) / count)
    whole = np.where(whole > 1e-12 * np.abs(middle), whole, 0.0)  # a constant column, up to rounding
    unit_of = np.where(whole > 0, whole, 1.0)
    unit = np.where(whole > 0, centered / unit_of, 0.0)
    there = known.astype(float)

    def average(weights: np.ndarray, of: np.ndarray, otherwise: float) -> tuple[np.ndarray, np.ndarray]:
        held = weights.T @ there  # (n_clusters, n_columns): objects behind each number
        mean = np.divide(weights.T @ of, held, out=np.full(held.shape, otherwise), where=held > 0)
        return mean, held

    possible = possible_weights(partition)
    means, _ = average(assigned_weights(partition), unit, 0.0)
    first, held = average(possible, unit, 0.0)
    second, _ = average(possible, unit**2, 1.0)
    variances = np.maximum(second - 2 * means * first + means**2, 0.0)
    common = (held * variances).sum(axis=0) / np.maximum(held.sum(axis=0), np.finfo(float).tiny)
    common = np.maximum(common, NARROWEST**2)
    spreads = np.sqrt((held * variances + PRIOR * common) / (held + PRIOR))

    shares = {}
    for j, levels in columns.levels.items():
        is_level = values[:, j, None] == np.arange(len(levels))
        overall = is_level.sum(axis=0) / max(is_level.sum(), 1)
        shares[j] = np.log((possible.T @ is_level + PRIOR * overall) / (held[:, [j]] + PRIOR))
    return Profiles(
        columns=columns,
        means=np.where(columns.numeric, middle + means * unit_of, np.nan),
        spreads=np.where(columns.numeric, spreads * unit_of, np.nan),
        shares=shares,
        scale=np.sqrt(common) * unit_of,
    )


def column_separations(partition: CredalPartition, columns: Columns) -> np.ndarray:
    r"""The share of each column's scatter that lies between clusters, from 0 to 1, shape (n_columns,).

    .. math:: \eta_j^2 = \frac{\sum_k n_k (\bar x_{kj} - \bar x_j)^2}{\sum_i (x_{ij} - \bar x_j)^2}, \qquad
        n_k = \sum_i \mathrm{BetP}_i(k),

    the correlation ratio, objects weighted by their pignistic probabilities; of categories, Goodman and Kruskal's
    :math:`\tau`. Missing entries count as the mean.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition(np.eye(2)[[0, 0, 1, 1]], FocalSets(2, [{0}, {1}]))
    >>> column_separations(partition, read_columns([[0, 5], [0, 7], [1, 7], [1, 5]]))
    array([1., 0.])
    """
    wide, origin = columns.one_hot()
    known = ~np.isnan(wide)
    middle = np.where(known, wide, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    centered = np.where(known, wide - middle, 0.0)
    size = np.maximum(partition.pignistic.sum(axis=0), 1e-12)
    between = ((partition.pignistic.T @ centered) ** 2 / size[:, None]).sum(axis=0)
    whole = (centered**2).sum(axis=0)
    d = len(columns.names)
    top, below = np.bincount(origin, between, minlength=d), np.bincount(origin, whole, minlength=d)
    return np.divide(top, below, out=np.zeros(d), where=below > 0)
