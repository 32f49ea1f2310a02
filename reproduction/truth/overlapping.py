"""Generated tables whose groups are known: Gaussian mixtures, and shapes that no Gaussian mixture follows.

The tables of one seed are development tables, those of another judge. Sizes are those at which clusters overlap, and
300 objects are few enough for an error of estimation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

KNOWN = {  # clusters, standard deviations between neighbors, columns, unequal sizes and widths
    "2 apart by 2": (2, 2.0, 2, False),
    "2 apart by 3": (2, 3.0, 2, False),
    "2 apart by 4, unequal": (2, 4.0, 2, True),
    "2 apart by 3, 5 columns": (2, 3.0, 5, False),
    "3 apart by 2.5": (3, 2.5, 2, False),
    "3 apart by 3": (3, 3.0, 2, False),
    "3 apart by 4, unequal": (3, 4.0, 2, True),
    "3 apart by 3, 5 columns": (3, 3.0, 5, False),
    "3 apart by 6": (3, 6.0, 2, False),
    "4 apart by 3": (4, 3.0, 2, False),
    "4 apart by 4": (4, 4.0, 2, False),
    "4 apart by 3, 5 columns, unequal": (4, 3.0, 5, True),
}
MISSPECIFIED = ("heavy tails", "skewed", "bent", "one cluster too many")


class Table(NamedTuple):
    """Rows, the group of each, and the number of clusters to ask for."""

    X: np.ndarray
    groups: np.ndarray
    n_clusters: int


def make_table(name: str, seed: int, n: int = 300) -> Table:
    """Draw one of the tables.

    Examples
    --------
    >>> table = make_table("3 apart by 3", seed=0)
    >>> table.X.shape, np.unique(table.groups).tolist(), table.n_clusters
    ((300, 2), [0, 1, 2], 3)
    >>> make_table("one cluster too many", seed=0).n_clusters
    4
    """
    rng = np.random.default_rng([seed, *name.encode()])
    if name in KNOWN:
        n_clusters, apart, n_columns, unequal = KNOWN[name]
        return _gaussians(rng, n, n_clusters, apart, n_columns, unequal)
    groups = rng.integers(3, size=n)
    middle = _corners(3, 2)[groups]
    if name == "heavy tails":
        return Table(4.0 * middle + rng.standard_t(3, (n, 2)), groups, 3)
    if name == "skewed":
        return Table(3.5 * middle + rng.gamma(1.5, 1.0, (n, 2)), groups, 3)
    if name == "bent":
        angle = rng.uniform(0, np.pi, n)
        arc = 2.5 * np.column_stack([np.cos(angle), np.sin(angle)])
        return Table(4.5 * middle + arc + 0.4 * rng.standard_normal((n, 2)), groups, 3)
    if name == "one cluster too many":
        return Table(4.0 * middle + rng.standard_normal((n, 2)), groups, 4)
    raise ValueError(f"There is no table {name!r}. Known are {', '.join([*KNOWN, *MISSPECIFIED])}.")


def _gaussians(rng: np.random.Generator, n: int, n_clusters: int, apart: float, n_columns: int, unequal: bool) -> Table:
    """Return normal clouds at the corners of a regular polygon, as wide as their neighbors or not."""
    weights = np.linspace(1, 3, n_clusters) if unequal else np.ones(n_clusters)
    widths = np.linspace(0.6, 1.3, n_clusters) if unequal else np.ones(n_clusters)
    groups = rng.choice(n_clusters, size=n, p=weights / weights.sum())
    noise = rng.standard_normal((n, n_columns)) * widths[groups, None]
    return Table(apart * _corners(n_clusters, n_columns)[groups] + noise, groups, n_clusters)


def _corners(n_corners: int, n_columns: int) -> np.ndarray:
    """Return the corners of a regular polygon in the first two columns, its sides of length one."""
    angle = 2 * np.pi * np.arange(n_corners) / n_corners
    corners = np.zeros((n_corners, n_columns))
    corners[:, :2] = np.column_stack([np.cos(angle), np.sin(angle)])
    return corners / (2 * np.sin(np.pi / n_corners))
