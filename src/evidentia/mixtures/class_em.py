r"""EM for latent classes: mixtures of products of categorical distributions.

With the one-hot coding :math:`z` of a row a log probability is linear,
:math:`\log \pi_k p(x \mid k) = \log \pi_k + z^T \log \theta_k`, so the E-step of all mixtures at once (starts, or
replicates of a bootstrap) is one matrix product and the counts that the M-step needs are another. A missing entry is a
run of zeros in :math:`z`: it takes no part in either. Equal rows are merged and their weights added, after which
neither the order of the rows nor the writing of weights as copies can matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from evidentia.rows.categories import Columns
from evidentia.solvers.memory import row_blocks

SMALLEST_SIZE = 0.5  # objects: a class that holds less has vanished
NOTHING = 1e-200  # stands for a pseudo-count of zero, so that every logarithm is finite


class ClassParameters(NamedTuple):
    """Mixtures along the leading axis: mixing probabilities (m, c), probabilities of all categories (m, c, width)."""

    weights: np.ndarray
    probabilities: np.ndarray

    def take(self, which: Any) -> ClassParameters:
        """Some of the mixtures."""
        return ClassParameters(self.weights[which], self.probabilities[which])


class Batch(NamedTuple):
    """What :func:`fit_batch` found for each mixture; ``objective[t]`` is that after t iterations, NaN past the last."""

    parameters: ClassParameters
    log_likelihood: np.ndarray
    objective: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    degenerate: np.ndarray


def distinct_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each different row once, in lexical order, and the number of the one that each row equals."""
    order = np.lexsort(codes.T)
    ordered = codes[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    number = np.empty(len(codes), dtype=int)
    number[order] = np.cumsum(new) - 1
    return ordered[new], number


def tiles(
    columns: Columns, codes: np.ndarray, parameters: ClassParameters
) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
    """``(rows, one-hot coding, posteriors (m, c, rows), log probabilities (m, rows))`` for blocks of rows."""
    m, c, width = parameters.probabilities.shape
    log_weights = np.log(parameters.weights)[:, :, None]
    theta = np.log(parameters.probabilities).reshape(m * c, width)
    for block in row_blocks(len(codes), max(m * c, width)):
        coded = columns.one_hot(codes[block])
        joint = (theta @ coded.T).reshape(m, c, -1) + log_weights
        top = joint.max(axis=1)
        joint -= top[:, None]
        np.exp(joint, out=joint)
        total = joint.sum(axis=1)
        joint /= total[:, None]
        yield block, coded, joint, top + np.log(total)


def evaluate(columns: Columns, codes: np.ndarray, parameters: ClassParameters) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities of the classes, shape (c, n, m), and log probabilities of the rows, shape (n, m)."""
    m, c = parameters.weights.shape
    posterior, log_probability = np.empty((c, len(codes), m)), np.empty((len(codes), m))
    for block, _, found, log_total in tiles(columns, codes, parameters):
        posterior[:, block] = found.transpose(1, 2, 0)
        log_probability[block] = log_total.T
    return posterior, log_probability


def e_step(
    columns: Columns, codes: np.ndarray, weight: np.ndarray, parameters: ClassParameters
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Expected sizes of the classes (m, c), counts of the categories in them (m, c, width), log-likelihoods (m,).

    ``weight`` has a line for each mixture, or one for all.
    """
    m, c, width = parameters.probabilities.shape
    size, counts, log_likelihood = np.zeros((m, c)), np.zeros((m * c, width)), np.zeros(m)
    for block, coded, posterior, log_probability in tiles(columns, codes, parameters):
        share = weight[:, block]
        log_likelihood += (share * log_probability).sum(axis=1)
        posterior *= share[:, None]
        size += posterior.sum(axis=2)
        counts += posterior.reshape(m * c, -1) @ coded
    return size, counts.reshape(m, c, width), log_likelihood


def m_step(columns: Columns, size: np.ndarray, counts: np.ndarray, alpha: float) -> ClassParameters:
    r"""Parameters of highest expected likelihood, with ``alpha`` more objects in each category of each class.

    .. math:: \pi_k = \frac{N_k}{N}, \qquad \theta_{kjv} = \frac{N_{kjv} + \alpha}{\sum_u (N_{kju} + \alpha)}
    """
    smoothed = counts + alpha
    total = np.add.reduceat(smoothed, columns.offsets, axis=2)
    return ClassParameters(size / size.sum(axis=1, keepdims=True), smoothed / np.repeat(total, columns.sizes, axis=2))


def fit_batch(
    columns: Columns,
    codes: np.ndarray,
    weight: np.ndarray,
    start: ClassParameters,
    *,
    alpha: float,
    tol: float,
    max_iter: int,
) -> Batch:
    r"""EM from several starts, or for several weightings of the rows, all at once.

    Parameters
    ----------
    columns : Columns
    codes : ndarray of shape (n, d)
        Number of the category of each entry in its column, negative where it is missing.
    weight : ndarray of shape (m, n) or (1, n)
        Weights count as copies. One line is for several starts on the same rows.
    start : ClassParameters
        m mixtures, or one for all.
    alpha : float
        Pseudo-count: the objective is :math:`\log L + \alpha \sum_{kjv} \log\theta_{kjv}`, which never falls.
    tol : float
        A mixture has converged, and leaves the batch, when the objective rises by no more than this per object.
    max_iter : int

    Returns
    -------
    Batch
        In the order given. ``degenerate``: a class came to hold less than half an object.
    """
    m = max(len(weight), len(start.weights))
    kept = ClassParameters(*(np.array(np.broadcast_to(part, (m, *part.shape[1:]))) for part in start))
    found = Batch(kept, np.empty(m), np.empty((0, m)), np.zeros(m, int), np.zeros(m, bool), np.zeros(m, bool))
    active, state, last, trace = np.arange(m), kept, np.full(m, -np.inf), []
    for iteration in range(max_iter + 1):
        size, counts, log_likelihood = e_step(columns, codes, weight, state)
        objective = log_likelihood + alpha * np.log(state.probabilities).sum(axis=(1, 2))
        trace.append(np.full(m, np.nan))
        trace[-1][active] = objective
        degenerate = size.min(axis=1) < SMALLEST_SIZE
        converged = (objective - last <= tol * size.sum(axis=1)) & ~degenerate
        finished = converged | degenerate | (iteration == max_iter)
        done, going = active[finished], ~finished
        for part, value in zip(kept, state):
            part[done] = value[finished]
        found.log_likelihood[done], found.n_iter[done] = log_likelihood[finished], iteration
        found.converged[done], found.degenerate[done] = converged[finished], degenerate[finished]
        if not going.any():
            break
        active, last = active[going], objective[going]
        weight = weight[going] if len(weight) > 1 else weight
        state = m_step(columns, size[going], counts[going], alpha)
    return found._replace(objective=np.array(trace))
