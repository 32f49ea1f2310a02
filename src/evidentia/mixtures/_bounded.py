r"""The covariance models with a bound on the ratio of eigenvalues, and without: what :mod:`_em` calls as the M-step.

No eigenvalue of a covariance may be more than so many times another one, of any cluster. For given axes a model is a
linear space of log eigenvalues, in which this is a convex problem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evidentia.mixtures._covariances import covariances, letters_of, matrices_of
from evidentia.solvers.small_matrices import along, diagonal_of, diagonalize, invert, uneven_shares

BARRIERS = 30.0 ** np.arange(1, 8)  # weights of the criterion against the barrier, one after the other
BARRIER_TOLERANCE = 1e-6  # what a Newton step may still gain, where the weighted criterion has the size of the weight
NEWTON_STEPS = 30  # at most, for each weight
HALVINGS = 60  # of a range that is searched
FARTHEST = 500.0  # logarithm: a step that asks for more is not taken, and need not overflow


@dataclass(frozen=True)
class CovarianceModel:
    """A covariance model, with a bound on the ratio of eigenvalues or without; calling it is the M-step.

    Models without orientation have diagonals of shape (m, c, d, 1) as scatters and covariances.
    """

    name: str
    max_ratio: float | None = None

    @property
    def diagonal(self) -> bool:
        """Whether scatters and covariances are diagonals."""
        return self.name[2] == "I"

    @property
    def letters(self) -> tuple[int, int, int]:
        """Volume, shape and orientation as numbers."""
        return letters_of(self.name)

    def __call__(self, scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None = None) -> np.ndarray:
        if self.max_ratio is None:
            return covariances(self.name, scatter, size, previous)
        return bounded_covariances(self.name, scatter, size, previous, max_ratio=self.max_ratio)


def bounded_covariances(
    model: str, scatter: np.ndarray, size: np.ndarray, previous: np.ndarray | None = None, *, max_ratio: float
) -> np.ndarray:
    r"""Covariances of high likelihood under a model, no eigenvalue above ``max_ratio`` times another of any cluster.

    For given axes a model is a linear space of log eigenvalues :math:`\ell_{kj}`, the bound is
    :math:`t \le \ell_{kj} \le t + \log` ``max_ratio`` for some t, and what is minimized,
    :math:`\sum_{kj} n_k \ell_{kj} + w_{kj} e^{-\ell_{kj}}`, is convex. So for the ten models without common free axes,
    and for EEE, these are the most likely covariances within the bound. For VEE, EVE and VVE they are the most likely
    ones along the axes of the unbounded solution, or along the previous axes if that is better: never less likely than
    ``previous``, which has to be within the bound.

    Parameters as for :func:`covariances`; ``max_ratio`` is above 1.

    Examples
    --------
    >>> scatter = np.array([[np.diag([4.0, 1.0]), np.diag([2.0, 8.0])]])
    >>> bounded_covariances("EEI", scatter, np.array([[2.0, 1.0]]), max_ratio=1.25)[0, 0].round(3)
    array([[2.2 , 0.  ],
           [0.  , 2.75]])
    """
    result = covariances(model, scatter, size, previous)
    narrow = result.shape[-1] < result.shape[-2]
    values = (result if narrow else _eigenvectors(result)[0]).reshape(len(result), -1)
    beyond = np.flatnonzero(values.max(axis=1) > max_ratio * values.min(axis=1))
    if not beyond.size:
        return result
    scatter, size, free = scatter[beyond], size[beyond], np.array(result)
    best = _within(model, _axes(model, scatter, free[beyond]), scatter, size, np.log(max_ratio))
    if previous is not None:
        last = previous[beyond]
        rivals = [last]
        if model in ("VEE", "EVE", "VVE"):
            rivals.append(_within(model, _axes(model, scatter, last), scatter, size, np.log(max_ratio)))
        for rival in rivals:
            better = _deviance(rival, scatter, size) < _deviance(best, scatter, size)
            best = np.where(better[:, None, None, None], rival, best)
    free[beyond] = best
    return free


def _deviance(matrices: np.ndarray, scatter: np.ndarray, size: np.ndarray) -> np.ndarray:
    """What the rules minimize, for each problem."""
    inverse, root = _inverses(matrices)
    d = matrices.shape[-2]
    return (size * d * np.log(root) + (inverse * scatter).sum(axis=(2, 3))).sum(axis=1)


def _axes(model: str, scatter: np.ndarray, solution: np.ndarray) -> np.ndarray | None:
    """Axes of each cluster, (m, c, d, d): the columns' (None), the clusters' own, or those that a solution shares."""
    if model[2] == "I":
        return None
    if model[2] == "V":
        return _eigenvectors(scatter)[1]
    return np.broadcast_to(_eigenvectors(_uneven_sum(solution))[1][:, None], scatter.shape)


def _within(model: str, axes: np.ndarray | None, scatter: np.ndarray, size: np.ndarray, width: float) -> np.ndarray:
    """The most likely covariances along given axes whose log eigenvalues span no more than ``width``."""
    m, c, d, side = scatter.shape
    if axes is None:
        spread = scatter[..., 0] if side < d else diagonal_of(scatter)
    else:
        spread = np.einsum("mkpj,mkpq,mkqj->mkj", axes, scatter, axes, optimize=True)
    spread = np.maximum(spread, np.finfo(float).tiny)  # a cluster of one row may have less than none, by rounding
    count = np.broadcast_to(size[:, :, None], spread.shape)
    if model[:2] in ("VE", "EV") and d > 1:
        logs = _bounded_logs(model[:2], spread, count, width)
    else:  # every eigenvalue, or sum of some, for itself
        over = (1,) * (model[0] == "E") + (2,) * (model[1] == "I")
        if over:
            spread, count = spread.sum(axis=over, keepdims=True), count.sum(axis=over, keepdims=True)
        logs = np.broadcast_to(_clip_logs(spread, count, width), (m, c, d))
    if axes is None:
        return np.exp(logs)[..., None] if side < d else matrices_of(np.exp(logs))
    return along(axes, np.exp(logs))


def _clip_logs(spread: np.ndarray, count: np.ndarray, width: float) -> np.ndarray:
    """Logs of spread / count cut to ``[t, t + width]``; the slope of the criterion in t rises through zero."""
    best = np.log(spread / count)
    low, high = best.min(axis=(1, 2), keepdims=True), best.max(axis=(1, 2), keepdims=True)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        ends = np.clip(best, middle, middle + width)
        slope = np.where(ends != best, count - spread * np.exp(-ends), 0).sum(axis=(1, 2), keepdims=True)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return np.clip(best, high, high + width)


def _bounded_logs(letters: str, spread: np.ndarray, count: np.ndarray, width: float) -> np.ndarray:
    """Log eigenvalues of equal shape ("VE") or equal volume ("EV") within the bound, by Newton steps with a barrier."""
    m, c, d = spread.shape
    total = count.sum(axis=(1, 2))[:, None]
    w, n = (part.reshape(m, c * d) / total for part in (spread, count))
    cluster, column = np.eye(c), np.eye(d)
    if letters == "VE":
        design = np.hstack([np.kron(cluster, np.ones((d, 1))), np.kron(np.ones((c, 1)), column[:, 1:])])
    else:
        design = np.hstack([np.ones((c * d, 1)), np.kron(cluster, column[:, 1:] - column[:, :1])])
    shift = np.hstack([design, -np.ones((c * d, 1))])  # ℓ - t as a function of the parameters and t
    design = np.hstack([design, np.zeros((c * d, 1))])
    state = np.zeros((m, design.shape[1]))
    state[:, : 1 if letters == "EV" else c] = np.log(w.sum(axis=1, keepdims=True))  # all equal, in the middle
    state[:, -1] = np.log(w.sum(axis=1)) - width / 2
    for weight in BARRIERS:
        state = _newton(state, design, shift, w, n, width, weight)
    return (state @ design.T).reshape(m, c, d)


def _newton(
    state: np.ndarray, design: np.ndarray, shift: np.ndarray, w: np.ndarray, n: np.ndarray, width: float, weight: float
) -> np.ndarray:
    """Minimize ``weight`` times the criterion with logarithmic barriers, from a point between them."""

    def objective(at: np.ndarray) -> np.ndarray:
        logs, above = at @ design.T, at @ shift.T
        inside = (above > 0) & (above < width)
        room = np.log(np.where(inside, above, 1)) + np.log(np.where(inside, width - above, 1))
        pull = w * np.exp(np.minimum(-logs, FARTHEST))
        value = (weight * (n * logs + pull) - room).sum(axis=1)
        return np.where(inside.all(axis=1), value, np.inf)

    for _ in range(NEWTON_STEPS):
        pull, above = w * np.exp(-(state @ design.T)), state @ shift.T
        slope = weight * (n - pull) @ design + (1 / (width - above) - 1 / above) @ shift
        bend = np.einsum("ia,mi,ib->mab", design, weight * pull, design, optimize=True)
        bend += np.einsum("ia,mi,ib->mab", shift, 1 / above**2 + 1 / (width - above) ** 2, shift, optimize=True)
        try:
            move = -np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:  # of one mixture, where its barriers leave no room
            move = -(np.linalg.pinv(bend, hermitian=True) @ slope[:, :, None])[:, :, 0]
        now, length = objective(state), np.ones((len(state), 1))
        for _ in range(HALVINGS):
            worse = objective(state + length * move) > now
            if not worse.any():
                break
            length[worse] /= 2
        else:
            length[worse] = 0
        state = state + length * move
        if (-(slope * move).sum(axis=1) <= BARRIER_TOLERANCE).all():
            break
    return state


def _uneven_sum(matrices: np.ndarray) -> np.ndarray:
    """Return a sum of the matrices of each problem, which has the axes that they have in common.

    Unequal shares keep its eigenvalues from tying by symmetry.
    """
    return np.einsum("k,mkpq->mpq", uneven_shares(matrices.shape[1]), matrices)


def _inverses(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverses, and the d-th roots of the determinants: the volumes."""
    d = matrices.shape[-2]
    inverse, log_det = invert(np.ascontiguousarray(matrices).reshape(-1, *matrices.shape[-2:]))
    return inverse.reshape(matrices.shape), np.exp(log_det / d).reshape(matrices.shape[:-2])


def _eigenvectors(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = diagonalize(np.ascontiguousarray(matrices).reshape(-1, *matrices.shape[-2:]))
    return values.reshape(matrices.shape[:-1]), vectors.reshape(matrices.shape)
