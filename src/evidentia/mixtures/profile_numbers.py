r"""Numbers of latent profiles that are correlated within a cluster: Gaussian densities and EM with missing entries.

A row has a pattern, the columns o of its numbers that are there. Everything a pattern needs is one matrix for each
cluster, of all columns, with zeros for those that are missing:

.. math:: Q = \begin{pmatrix} \Sigma_{oo}^{-1} & 0 \\ 0 & 0 \end{pmatrix}, \qquad B = \Sigma Q

so that the expected row is :math:`\mu + B (x - \mu)`, and :math:`\Sigma - B \Sigma` is what it leaves in doubt. A table
has few patterns, and rows of one pattern are taken together by matrix products.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evidentia.mixtures._em import LOG_2PI, missing_patterns
from evidentia.solvers.memory import row_blocks
from evidentia.solvers.small_matrices import diagonal_of, invert

DIGITS = 9  # of whitened numbers: the others depend on the order of the rows
GROUP = 2_000_000  # numbers in the matrices of the patterns that are taken at a time


class PatternedNumbers:
    """Numbers (n, q), 0 where they are missing, in pieces of one pattern each; ``seen`` (m, q) are their columns."""

    def __init__(self, numbers: np.ndarray, there: np.ndarray):
        n, q = numbers.shape
        self.shape, seen = (n, q), []
        self._pieces: list[tuple[int, Any, np.ndarray]] = []
        for pattern, (observed, rows) in enumerate(missing_patterns(np.where(there > 0, 0.0, np.nan))):
            seen.append(np.isin(np.arange(q), observed))
            every = range(n)[rows] if isinstance(rows, slice) else rows
            for block in row_blocks(len(every), q):
                which = block if isinstance(rows, slice) else rows[block]
                self._pieces.append((pattern, which, numbers[which]))
        self.seen = np.array(seen)

    def groups(self, n_clusters: int) -> Iterator[Group]:
        """Patterns so many at a time that a matrix for each of them and each cluster takes little memory."""
        most = max(1, GROUP // max(1, n_clusters * self.shape[1] ** 2))
        for begin in range(0, len(self.seen), most):
            inside = [piece for piece in self._pieces if begin <= piece[0] < begin + most]
            yield Group(self.seen[begin : begin + most], begin, inside)


class Group(NamedTuple):
    """Some patterns (m, q), the number of the first, and the pieces of all."""

    seen: np.ndarray
    first: int
    held: list[tuple[int, Any, np.ndarray]]

    def pieces(self, means: np.ndarray) -> Iterator[tuple[int, Any, np.ndarray]]:
        """The pattern, the rows, and their differences from each mean (c, rows, q), 0 where a number is missing."""
        for pattern, which, numbers in self.held:
            at = pattern - self.first
            yield at, which, (numbers - means[:, None]) * self.seen[at]


def precisions_of(seen: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q of each pattern and covariance (m, c, q, q), and log determinants of the covariances of what is seen (m, c)."""
    q = seen.shape[1]
    both, alone = seen[:, None, :, None] & seen[:, None, None, :], ~seen[:, None, :, None] * np.eye(q)
    found, log_det = invert(np.ascontiguousarray((both * covariances + alone).reshape(-1, q, q)))
    shape = (len(seen), len(covariances))
    return found.reshape(*shape, q, q) * both, log_det.reshape(shape)


def log_gaussians(rows: PatternedNumbers, means: np.ndarray, covariances: np.ndarray, blur: np.ndarray) -> np.ndarray:
    r"""Expected log densities of what is there, (n, c), over a deviation of the variances ``blur``.

    .. math::
        -\frac12 \Big[ |o| \log 2\pi + \log |\Sigma_{oo}| + (x - \mu)^T Q (x - \mu) + \mathrm{tr}(Q H) \Big]
    """
    found = np.empty((rows.shape[0], len(means)))
    for group in rows.groups(len(means)):
        precisions, log_det = precisions_of(group.seen, covariances)
        level = group.seen.sum(axis=1)[:, None] * LOG_2PI + log_det + diagonal_of(precisions) @ blur
        for pattern, which, off in group.pieces(means):
            far = np.einsum("kiq,kiq->ik", off @ precisions[pattern], off)
            found[which] = -0.5 * (level[pattern] + far)
    return found


def expected_scatter(
    rows: PatternedNumbers, share: np.ndarray, means: np.ndarray, covariances: np.ndarray, blur: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Means (c, q) that complete rows are expected to have, and scatters (c, q, q) about them.

    Over the rows of a pattern, of which cluster k holds the shares r, with sums about the means :math:`\mu` before,

    .. math::
        \sum r\, E[x - \mu] = B \sum r (x - \mu), \qquad
        \sum r\, E[(x - \mu)(x - \mu)^T]
        = \sum r \big( B \big[(x - \mu)(x - \mu)^T + H\big] B^T + \Sigma - B \Sigma \big)
    """
    c, q = means.shape
    total, move, about = np.zeros(c), np.zeros((c, q)), np.zeros((c, q, q))
    for group in rows.groups(c):
        seen = group.seen
        size, first, second = np.zeros((len(seen), c)), np.zeros((len(seen), c, q)), np.zeros((len(seen), c, q, q))
        for pattern, which, off in group.pieces(means):
            held = share[which].T
            size[pattern] += held.sum(axis=1)
            first[pattern] += (held[:, None] @ off)[:, 0]
            second[pattern] += (held[:, :, None] * off).swapaxes(1, 2) @ off
        diagonal_of(second)[...] += size[:, :, None] * (seen * blur)[:, None]
        known = seen[:, None, :, None]
        fill = np.where(known, np.eye(q), covariances @ precisions_of(seen, covariances)[0])  # B, free of rounding
        doubt = np.where(known, 0.0, covariances - fill @ covariances)
        total += size.sum(axis=0)
        move += (fill @ first[..., None])[..., 0].sum(axis=0)
        about += (fill @ second @ fill.swapaxes(2, 3) + size[:, :, None, None] * doubt).sum(axis=0)
    total = np.maximum(total, np.finfo(float).tiny)  # of a cluster that vanished
    move /= total[:, None]
    about -= total[:, None, None] * move[:, :, None] * move[:, None, :]
    return means + move, 0.5 * (about + about.swapaxes(1, 2))


def whiten(rows: PatternedNumbers, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Expected numbers (n, q), in coordinates in which the covariance is the identity; equal rows stay equal."""
    turn = np.linalg.inv(np.linalg.cholesky(covariance)).T
    found = np.empty(rows.shape)
    for group in rows.groups(1):
        fill = covariance @ precisions_of(group.seen, covariance[None])[0][:, 0]
        for pattern, which, off in group.pieces(mean[None]):
            found[which] = off[0] @ (fill[pattern].T @ turn)
    return found.round(DIGITS)
