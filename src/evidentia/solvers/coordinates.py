"""Coordinates in which the data have no units: centered, and scaled by their own spread; and whether units differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evidentia.solvers.memory import row_blocks

__all__ = ["SPREADS", "ColumnScales", "on_one_scale", "scales_of", "spread_ratio"]

ALL_EQUAL = "All rows of X are equal, so there are no clusters to find in it. Look for columns that were lost."
SPREADS = 3.0  # times: columns whose spreads differ by more are brought to one scale
FEWEST = 4  # columns that can have a scale in common by more than chance
ENDS = 0.1  # of the common range: columns that come so near to its ends were measured on one scale
RANK_TOLERANCE = 1e-10  # of the correlation matrix: below it, columns are combinations of each other


def deviations(X: np.ndarray, ddof: int = 0) -> np.ndarray:
    """Standard deviation of each column, one where all values are equal: rounding would make it nearly zero.

    Examples
    --------
    >>> X = np.array([[1.0, 0.1], [3.0, 0.1], [5.0, 0.1]])
    >>> bool(X[:, 1].std() > 0), deviations(X, ddof=1)
    (True, array([2., 1.]))
    """
    return np.where((X[0] == X).all(axis=0), 1.0, X.std(axis=0, ddof=ddof))


class Coordinates(NamedTuple):
    """An affine map ``y = (x - origin) @ forward`` and its inverse on the subspace the data live in.

    ``log_jacobian`` is what a log density in y gains when it is expressed in x. Directions without any spread
    (constant columns, exact combinations of columns) are left out, so y may have fewer columns than x.
    """

    origin: np.ndarray
    forward: np.ndarray
    backward: np.ndarray
    log_jacobian: float

    @property
    def width(self) -> int:
        """Number of columns of y."""
        return self.forward.shape[1]

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Rows in y."""
        return (X - self.origin) @ self.forward

    def inverse_transform(self, Y: np.ndarray) -> np.ndarray:
        return Y @ self.backward + self.origin

    def covariance_to(self, covariance: np.ndarray) -> np.ndarray:
        """A covariance, or several along the leading axes, in y."""
        return self.forward.T @ covariance @ self.forward

    def covariance_back(self, covariance: np.ndarray) -> np.ndarray:
        return self.backward.T @ covariance @ self.backward

    def metric_back(self, metric: np.ndarray) -> np.ndarray:
        """A matrix of squared distances, or several, in x."""
        return self.forward @ metric @ self.forward.T

    def log_jacobian_of(self, observed: np.ndarray) -> float:
        """``log_jacobian`` of some of the columns; only a map that scales columns one by one has parts."""
        assert len(observed) == self.width, "these coordinates mix columns"
        return self.log_jacobian


class ColumnScales(NamedTuple):
    """Coordinates that scale columns one by one; those without any spread are left out. No d × d matrix is made."""

    origin: np.ndarray
    deviation: np.ndarray  # zero where a column is left out

    @property
    def kept(self) -> np.ndarray:
        return np.flatnonzero(self.deviation)

    @property
    def scale(self) -> np.ndarray:
        """Deviations of the columns that are kept."""
        return self.deviation[self.kept]

    @property
    def width(self) -> int:
        return int(np.count_nonzero(self.deviation))

    @property
    def forward(self) -> np.ndarray:
        """The matrix of the map."""
        return np.diag(1 / np.where(self.deviation == 0, 1, self.deviation))[:, self.kept]

    @property
    def log_jacobian(self) -> float:
        return -float(np.log(self.scale).sum())

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Rows in y; an entry that is missing in x is missing in y."""
        kept = self.kept
        part = X if len(kept) == X.shape[1] else X[:, kept]
        Y = part - self.origin[kept]
        Y /= self.deviation[kept]
        return Y

    def inverse_transform(self, Y: np.ndarray) -> np.ndarray:
        X = np.tile(self.origin, (len(Y), 1))
        X[:, self.kept] += Y * self.scale
        return X

    def covariance_to(self, covariance: np.ndarray) -> np.ndarray:
        kept = self.kept
        return covariance[..., kept[:, None], kept] / np.outer(self.scale, self.scale)

    def covariance_back(self, covariance: np.ndarray) -> np.ndarray:
        d, kept = len(self.origin), self.kept
        found = np.zeros((*covariance.shape[:-2], d, d))
        found[..., kept[:, None], kept] = covariance * np.outer(self.scale, self.scale)
        return found

    def metric_back(self, metric: np.ndarray) -> np.ndarray:
        d, kept = len(self.origin), self.kept
        found = np.zeros((*metric.shape[:-2], d, d))
        found[..., kept[:, None], kept] = metric / np.outer(self.scale, self.scale)
        return found

    def log_jacobian_of(self, observed: np.ndarray) -> float:
        return -float(np.log(self.scale[observed]).sum())


class SpannedScales(NamedTuple):
    """Coordinates of rows fewer than their columns: scaled as in ``scales``, then in a basis of what the rows span.

    The last coordinate is the distance from that span. It stands for all directions outside of the span, ``repeats`` of
    them: whatever is alike in all of these (a variance, a metric) is the last entry of the diagonal.
    """

    scales: ColumnScales
    basis: np.ndarray  # (width, n_spanned), orthonormal columns

    @classmethod
    def of(cls, X: np.ndarray, scales: ColumnScales) -> SpannedScales:
        return cls(scales, np.linalg.qr(scales.transform(X).T)[0])

    @property
    def width(self) -> int:
        """Number of columns that vary."""
        return self.scales.width

    @property
    def repeats(self) -> np.ndarray:
        """How many directions each coordinate stands for."""
        n_spanned = self.basis.shape[1]
        return np.append(np.ones(n_spanned), self.width - n_spanned)

    @property
    def log_jacobian(self) -> float:
        return self.scales.log_jacobian

    def transform(self, X: np.ndarray) -> np.ndarray:
        scaled = self.scales.transform(X)
        inside = scaled @ self.basis
        outside = np.linalg.norm(scaled - inside @ self.basis.T, axis=1)
        outside[outside <= 1e-12 * np.linalg.norm(scaled, axis=1)] = 0  # rounding
        return np.column_stack([inside, outside])

    def inverse_transform(self, Y: np.ndarray) -> np.ndarray:
        """Of rows in the span."""
        return self.scales.inverse_transform(Y[:, :-1] @ self.basis.T)

    def covariance_back(self, covariance: np.ndarray) -> np.ndarray:
        return self.scales.covariance_back(self._whole(covariance))

    def metric_back(self, metric: np.ndarray) -> np.ndarray:
        return self.scales.metric_back(self._whole(metric))

    def _whole(self, matrices: np.ndarray) -> np.ndarray:
        """Matrices over all directions, those outside of the span alike."""
        outside = matrices[..., -1:, -1:]
        inside = matrices[..., :-1, :-1] - outside * np.eye(self.basis.shape[1])
        return self.basis @ inside @ self.basis.T + outside * np.eye(self.width)


class Moments(NamedTuple):
    """Weight and mean of each column over what is observed of it, and sums of squares about the means.

    They add up over parts of a table without loss of digits (Chan, Golub & LeVeque, 1983). ``squares`` has the shape
    (d, d), or (d,) when products of columns are not wanted, or not known, as entries are missing.
    """

    total: float
    observed: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def __add__(self, other: Moments) -> Moments:  # type: ignore[override]
        count = self.observed + other.observed
        share = np.divide(other.observed, count, out=np.zeros_like(count), where=count > 0)
        gap = other.mean - self.mean
        mean = self.mean + share * gap
        mine, theirs = self.squares, other.squares
        if mine.ndim < theirs.ndim or theirs.ndim < mine.ndim:
            mine, theirs = (np.diag(each) if each.ndim == 2 else each for each in (mine, theirs))
        between = self.observed * share
        added = between * np.square(gap) if mine.ndim == 1 else between[:, None] * gap[:, None] * gap
        return Moments(self.total + other.total, count, mean, mine + theirs + added)

    @property
    def spread(self) -> np.ndarray:
        """Covariance (d, d), or variances (d,), of the table; a column of which nothing is observed has none."""
        per = np.where(self.observed > 0, self.observed, 1)
        return self.squares / (per[:, None] if self.squares.ndim == 2 else per)


def moments_of(X: np.ndarray, weight: np.ndarray | None = None, mixing: bool = True) -> Moments:
    """Moments of a table in two passes over blocks of rows; NaN is a missing entry."""
    total, d = float(len(X) if weight is None else weight.sum()), X.shape[1]
    if np.isnan(X.sum()):
        observed = ~np.isnan(X)
        share = observed * (1.0 if weight is None else weight[:, None])
        count, filled = share.sum(axis=0), np.nan_to_num(X)
        mean = (share * filled).sum(axis=0) / np.where(count > 0, count, 1)
        return Moments(total, count, mean, (share * np.square(filled - mean)).sum(axis=0))
    mean = np.average(X, axis=0, weights=weight)
    squares = np.zeros((d, d) if mixing else d)
    for block in row_blocks(len(X), d):
        centered = X[block] - mean
        weighted = centered if weight is None else weight[block, None] * centered
        squares += centered.T @ weighted if mixing else np.einsum("ij,ij->j", centered, weighted)
    return Moments(total, np.full(d, total), mean, squares)


def unit_free(X: np.ndarray, weight: np.ndarray | None = None, *, kind: str = "full") -> Coordinates | ColumnScales:
    """Coordinates fit to a table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        NaN is a missing entry; with any of them columns are not mixed: ``"full"`` scales them one by one, as ``"diag"``
        does, and ``"rotated"`` all alike, as ``"spherical"`` does.
    weight : ndarray of shape (n_samples,), optional
    kind : {"full", "rotated", "diag", "spherical"}
        Whiten; turn to principal axes and scale all alike; scale each column; or scale all columns alike. A model whose
        covariance is diagonal (spherical) in x is diagonal (spherical) in the coordinates of that name.
    """
    return coordinates_of(moments_of(X, weight, kind in ("full", "rotated")), kind=kind)


def scales_of(moments: Moments) -> ColumnScales:
    """Unit variance for every column of a table of which the moments are known."""
    found = coordinates_of(moments, kind="diag")
    assert isinstance(found, ColumnScales)
    return found


def coordinates_of(moments: Moments, *, kind: str) -> Coordinates | ColumnScales:
    """Coordinates fit to a table of which the moments are known; see :func:`unit_free`."""
    mean, spread = moments.mean, moments.spread
    mixing = kind in ("full", "rotated") and spread.ndim == 2
    if not mixing and spread.ndim == 2:
        spread = np.diag(spread)
    deviation = np.sqrt(np.diag(spread) if mixing else spread)
    varies = deviation > 10 * np.finfo(float).eps * np.abs(mean)
    if not varies.any():
        raise ValueError(ALL_EQUAL)
    deviation[~varies] = 0
    alike = np.full(len(mean), np.sqrt(np.square(deviation).mean()))
    scaled = ColumnScales(mean, {"spherical": alike, "rotated": alike * varies}.get(kind, deviation))
    if not mixing:
        return scaled
    correlation = ColumnScales(mean, deviation).covariance_to(spread)
    values, vectors = np.linalg.eigh(correlation if kind == "full" else scaled.covariance_to(spread))
    rank = int((np.linalg.eigvalsh(correlation) > RANK_TOLERANCE).sum())
    values, vectors = values[-rank:], vectors[:, -rank:]
    root = np.sqrt(values) if kind == "full" else np.ones(rank)
    forward, backward = np.zeros((len(mean), len(root))), np.zeros((len(root), len(mean)))
    forward[scaled.kept] = vectors / root / scaled.scale[:, None]
    backward[:, scaled.kept] = (vectors * root).T * scaled.scale
    scale = float(np.log(scaled.scale).sum()) if kind == "full" else len(root) * float(np.log(alike[0]))
    return Coordinates(mean, forward, backward, -scale - float(np.log(root).sum()))


# -- whether columns want one scale before they are compared with each other -------------------------------------------


def spread_ratio(spreads: np.ndarray) -> float:
    """Largest spread of a column over the smallest; 1 where there are none. Constant columns do not count.

    Examples
    --------
    >>> spread_ratio(np.array([0.5, 0.0, 2.0]))
    4.0
    """
    varied = spreads[spreads > 0]
    return float(varied.max() / varied.min()) if len(varied) else 1.0


def on_one_scale(low: np.ndarray, high: np.ndarray) -> bool:
    """Whether most columns, of some at least, come near to both ends of the range of all, like pixels or marks."""
    if len(low) < FEWEST:
        return False
    near = ENDS * (high.max() - low.min())
    return bool(((low <= low.min() + near) & (high >= high.max() - near)).mean() > 0.5)


def units_differ(spreads: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether columns of these spreads, and with these smallest and largest values, should be standardized."""
    return spread_ratio(spreads) > SPREADS and not on_one_scale(low, high)
