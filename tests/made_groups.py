"""Tables of groups that tests of several files fit."""

import numpy as np


def overlapping(n=100, seed=0):
    """Two long groups across each other's way and a round one, of unequal size."""
    rng = np.random.default_rng(seed)
    sizes = np.array([0.5, 0.3, 0.2]) * n
    roots = np.array([[[1.6, 0.0], [0.9, 0.4]], [[0.5, 0.0], [-0.3, 1.1]], [[0.6, 0.0], [0.0, 0.6]]])
    centers = np.array([[0.0, 0.0], [3.5, 1.0], [-1.0, 6.0]])
    return np.vstack([v + rng.normal(size=(int(m), 2)) @ R.T for v, m, R in zip(centers, sizes, roots)])
