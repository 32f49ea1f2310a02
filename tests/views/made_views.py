"""Views that tests are about."""

import numpy as np
from scipy.spatial.distance import cdist

MERGED = ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])  # which of four groups a view tells apart


def three_views(n=120, *, seed=0, width=3, gap=5.0, units=(1.0, 10.0, 0.1)):
    """Four groups, and three views in different units that tell two and two of them apart."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 4
    views = {
        name: unit * (rng.normal(size=(n, width)) + gap * np.array(merged)[group][:, None]) + 7
        for name, merged, unit in zip("abc", MERGED, units)
    }
    return group, views


def distances(views):
    """The same as matrices of dissimilarities."""
    return {name: cdist(table, table) for name, table in views.items()}


def suited(cls, X):
    """A table as the views that a method reads."""
    views = {"all": np.asarray(X), "turned": np.asarray(X)[:, ::-1] * 3 + 1}
    return distances(views) if "views of dissimilarities" in cls.method.reads else views
