"""The fourteen covariance models as what they say: volumes, shapes and axes, equal for all clusters or not.

Covariances of one set of clusters have the shape (c, d, d). A member of a model is taken apart, put together, moved
within its model, and made from a vector of free numbers, which is what a general optimizer needs.
"""

import numpy as np
from scipy.linalg import expm


def decompose(sigma, model):
    """Volumes (c,), shapes (c, d) and axes (c, d, d)."""
    c, d, _ = sigma.shape
    volume = np.linalg.det(sigma) ** (1 / d)
    if model[2] == "I":
        axes = np.tile(np.eye(d), (c, 1, 1))
    elif model[2] == "E":
        axes = np.tile(np.linalg.eigh(np.tensordot(1 + 0.37 * np.arange(c), sigma, 1))[1], (c, 1, 1))
    else:
        axes = np.linalg.eigh(sigma)[1]
    return volume, np.einsum("kjp,kjl,klp->kp", axes, sigma, axes) / volume[:, None], axes


def compose(volume, shape, axes):
    return volume[:, None, None] * (axes * shape[:, None]) @ axes.swapaxes(1, 2)


def rotations(free, d):
    """Matrices (m, d, d) from free numbers (m, d (d - 1) / 2): exponentials of skew matrices."""
    turn = np.zeros((len(free), d, d))
    turn[(slice(None), *np.tril_indices(d, -1))] = free
    return np.stack([expm(t - t.T) for t in turn])


def moved(sigma, model, free):
    """The member of the model that a vector of free numbers makes of another one; zeros leave it as it is."""
    volume, shape, axes = decompose(sigma, model)
    c, d = shape.shape
    widths = (1, d - 1, d * (d - 1) // 2)
    copies = [{"I": 0, "E": 1, "V": c}[letter] for letter in model]
    parts = np.split(np.asarray(free, dtype=float), np.cumsum(np.multiply(copies, widths))[:-1])
    grown, change, turn = (
        np.broadcast_to(part.reshape(n, width), (c, width)) if n else np.zeros((c, width))
        for part, n, width in zip(parts, copies, widths)
    )
    change = np.column_stack([change, -change.sum(axis=1)])
    return compose(volume * np.exp(grown[:, 0]), shape * np.exp(change), axes @ rotations(turn, d))


def n_free(model, c, d):
    copies = [{"I": 0, "E": 1, "V": c}[letter] for letter in model]
    return int(np.dot(copies, (1, d - 1, d * (d - 1) // 2)))


def neighbor(sigma, model, step, rng):
    """Another member of the model, near the given one."""
    c, d, _ = sigma.shape
    return moved(sigma, model, step * rng.normal(size=n_free(model, c, d)))


def random_member(model, c, d, rng):
    """Some covariances of the model, with nothing equal that may differ."""
    return neighbor(np.tile(np.diag(np.ones(d)), (c, 1, 1)), model, 0.7, rng)


def is_member(sigma, model, rtol=1e-8):
    """Whether volumes, shapes and axes are equal, trivial or own as the letters say."""
    volume, shape, axes = decompose(sigma, model)
    scale = np.abs(sigma).max()
    return (
        np.allclose(compose(volume, shape, axes), sigma, atol=rtol * scale)
        and (model[0] == "V" or np.allclose(volume, volume[0], rtol=rtol))
        and (model[1] == "V" or np.allclose(shape, np.ones_like(shape) if model[1] == "I" else shape[0], rtol=rtol))
    )
