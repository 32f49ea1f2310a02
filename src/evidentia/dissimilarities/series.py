"""Series of numbers, of one length or of many, compared by dynamic time warping, or softly by all alignments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evidentia.rows.scan import LARGEST
from evidentia.solvers import soft_warping

NEEDED = "DTW needs dtaidistance: pip install 'evidentia[series]'."
METRICS = ("dtw", "soft-dtw")
GAMMA = 0.1  # of soft-DTW: that of the article on Soft-ECM


@dataclass(frozen=True)
class Series:
    """Series (t, k) of k numbers a time, and how they are compared.

    ``params`` has the ``gamma`` of soft-DTW, or it is DTW, and says how many steps warping may go (``window``).
    """

    series: list[np.ndarray]
    params: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Any, metric: str, params: Mapping[str, Any], who: str) -> Series:
        """Series that a user gave: a list of arrays, the rows of a table, or an array (n, t, k)."""
        soft = metric == "soft-dtw"
        known, means = (
            ("gamma", "how far alignments may cost more than the best one")
            if soft
            else ("window", "the most steps that two series are moved against each other")
        )
        if unknown := set(params) - {known}:
            raise ValueError(
                f"'metric_params' of {who} with metric={metric!r} may hold {known!r}, {means}. Got "
                f"{sorted(unknown)[0]!r}."
            )
        if soft:
            params = {"gamma": _check_gamma(params.get("gamma", GAMMA), who)}
        window = params.get("window")
        if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 1):
            raise ValueError(
                f"'window' in 'metric_params' of {who} must be a whole number of steps >= 1. Got {window!r}."
            )
        return cls(as_series(X, who, metric=metric), dict(params))

    @property
    def metric(self) -> str:
        return "soft-dtw" if "gamma" in self.params else "dtw"

    def __len__(self) -> int:
        return len(self.series)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        numbers = np.arange(len(self))
        one, other = numbers[rows], numbers[columns]
        if len(one) == len(self) and np.array_equal(one, other):
            return series_distances(self.series, None, self.params)
        return series_distances([self.series[i] for i in one], [self.series[j] for j in other], self.params)

    def from_new(self, new: Sequence[np.ndarray], columns: Any) -> np.ndarray:
        chosen = [self.series[j] for j in np.arange(len(self))[columns]]
        return series_distances(new, chosen, self.params)

    def needed_for_new(self) -> Series:
        return self


def _check_gamma(gamma: Any, who: str) -> float:
    if isinstance(gamma, bool) or not isinstance(gamma, int | float) or not 0 < gamma < np.inf:
        raise ValueError(
            f"'gamma' in 'metric_params' of {who} must be a number > 0, in units of squared differences. Got {gamma!r}."
        )
    return float(gamma)


def as_series(X: Any, who: str, width: int | None = None, *, metric: str = "dtw") -> list[np.ndarray]:
    """Series as arrays (t, k) of finite numbers, or an error that names one; ``width``: the k of those before."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    try:
        found = [np.asarray(one, dtype=float) for one in rows]
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{who} with metric={metric!r} needs series of numbers: a list of arrays, or a table with a series in each "
            f"row. {error}."
        ) from error
    found = [one[:, None] if one.ndim == 1 else one for one in found]
    for at, one in enumerate(found):
        if one.ndim != 2 or not len(one) or not np.isfinite(one).all() or np.abs(one).max() > LARGEST:
            what = f"shape {one.shape}" if one.ndim != 2 or not len(one) else "NaN, inf or a number beyond 1e140"
            raise ValueError(
                f"{who} with metric={metric!r} needs series of finite numbers, an array (t,) or (t, k) each; they may "
                f"have different lengths. Series {at} has {what}. Cut off what is missing, or fill it in."
            )
        if one.shape[1] != (width or found[0].shape[1]):
            raise ValueError(
                f"{who} compares series of as many numbers at each time. Series {at} has {one.shape[1]}, and those "
                f"before it {width or found[0].shape[1]}."
            )
    return [np.ascontiguousarray(one) for one in found]


def series_distances(
    one: Sequence[np.ndarray], other: Sequence[np.ndarray] | None, params: Mapping[str, Any]
) -> np.ndarray:
    """Distances of two lists of series, or of one list: by DTW, or, with ``gamma``, roots of soft-DTW divergences."""
    if "gamma" in params:
        return np.sqrt(soft_warping.divergence(one, other, params["gamma"]))
    return dtw_distances(one, other, params)


def dtw_distances(
    one: Sequence[np.ndarray], other: Sequence[np.ndarray] | None = None, params: Mapping[str, Any] | None = None
) -> np.ndarray:
    """DTW distances between two lists of series (t, k), or of one list: the root of the least sum of squares.

    Examples
    --------
    >>> slow, quick = np.array([[0.0], [0], [1], [2], [2]]), np.array([[0.0], [1], [4]])
    >>> dtw_distances([slow], [quick])                    # the first 2 is matched with 1, the second with 4
    array([[2.23606798]])
    """
    try:
        from dtaidistance import dtw, dtw_ndim
    except ImportError as error:
        raise ImportError(NEEDED) from error
    wide = one[0].shape[1] > 1
    compare = dtw_ndim.distance_matrix_fast if wide else dtw.distance_matrix_fast
    both = [series if wide else series[:, 0] for series in [*one, *(other or ())]]
    settings = {**(params or {}), "parallel": False}
    if other is None:
        return compare(both, **settings)
    n, m = len(one), len(other)
    found = compare(both, block=((0, n), (n, n + m)), compact=True, **settings)
    return np.array(found).reshape(n, m)


def warping_path(one: np.ndarray, other: np.ndarray, params: Mapping[str, Any]) -> np.ndarray:
    """Pairs of times that DTW matches, (length, 2)."""
    from dtaidistance import dtw

    wide = one.shape[1] > 1
    return np.array(dtw.warping_path_fast(*((one, other) if wide else (one[:, 0], other[:, 0])), **params))
