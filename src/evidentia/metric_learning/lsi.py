"""Learning with side information (Xing, Ng, Jordan & Russell, 2002): a metric from similar and dissimilar pairs."""

from __future__ import annotations

import numpy as np

from evidentia._parameters import BOOLEAN, Integer, Number, param
from evidentia.metric_learning._links import MahalanobisLearner, learner_from_links, quasi_newton


def objective(
    root: np.ndarray, scatter: np.ndarray, apart: np.ndarray, certainty: np.ndarray
) -> tuple[float, np.ndarray]:
    r"""Value and gradient in L of :math:`\mathrm{tr}(A S) - \log \sum_{\mathcal C} s_{ij} \|x_i - x_j\|_A`, A = L Lᵀ.

    Parameters
    ----------
    root : ndarray of shape (p, q)
        L.
    scatter : ndarray of shape (p, p)
        :math:`S = \sum_{\mathcal M} s_{ij} (x_i - x_j)(x_i - x_j)^T`.
    apart : ndarray of shape (n_cannot_links, p)
        Differences :math:`x_i - x_j`.
    certainty : ndarray of shape (n_cannot_links,)

    Returns
    -------
    value : float
    gradient : ndarray of shape (p, q)
    """
    moved = apart @ root
    length = np.sqrt(np.einsum("lq,lq->l", moved, moved))
    total = certainty @ length
    pull = np.divide(certainty, total * length, out=np.zeros_like(length), where=length > 0)
    value = np.einsum("pq,pq->", root, scatter @ root) - np.log(total)
    return float(value), 2 * scatter @ root - (pull[:, None] * apart).T @ moved


class LSI(MahalanobisLearner):
    r"""Mahalanobis metric in which must-links are short while cannot-links stay long [1]_.

    .. math::
        \min_{A \succeq 0} \sum_{(i, j) \in \mathcal M} \|x_i - x_j\|_A^2
        \quad\text{with}\quad \sum_{(i, j) \in \mathcal C} \|x_i - x_j\|_A \ge 1

    ``transform`` moves the rows so that their Euclidean distances are those of A; any clustering method may follow.

    Attributes
    ----------
    criterion_ : float
        The function of the notes, minimized, in scaled columns and before A is given its scale.
    criterion_trace_ : ndarray
        That function at the start and after each iteration; it never rises.

    Notes
    -----
    With :math:`A = L L^T`, the problem is, up to the scale of A, the minimum of
    :math:`\sum_{\mathcal M} \|.\|_A^2 - \log \sum_{\mathcal C} \|.\|_A`, which is convex in A; it is found by L-BFGS in
    a square L, where every local minimum is global. Each link counts by its certainty.

    With few links the learned metric is often nearly flat (of rank one) and can serve worse than none; some hundred
    links, or ``diagonal=True``, are safer.

    References
    ----------
    .. [1] E. P. Xing, A. Y. Ng, M. I. Jordan, S. Russell. Distance metric learning, with application to clustering with
       side-information. NIPS 15, 505-512, 2002.

    Examples
    --------
    The first column tells the groups apart, the second is noise of the same size.

    >>> from evidentia.constraints import PairwiseConstraints
    >>> X = np.array([[0, 0], [0.1, 3], [0.2, 1.2], [3, 3.1], [3.1, 0.2], [2.9, 1.6]])
    >>> links = PairwiseConstraints.from_labels([0, 0, 0, 1, 1, 1])
    >>> metric = LSI().fit(X, constraints=links).metric_
    >>> bool(metric[0, 0] > 10 * metric[1, 1])
    True
    """

    method = learner_from_links(
        name="lsi",
        title="a Mahalanobis metric learned from links: short must-links, a long mean cannot-link",
        papers=("Xing et al., *NIPS* 2002",),
    )

    diagonal: bool = param(BOOLEAN, "Only scale the columns.", default=False)
    max_iter: int = param(Integer(low=1), "Most iterations.", default=500)
    gradient_tol: float = param(
        Number(low=0), "Largest slope at which the descent ends, in scaled columns.", default=1e-7
    )

    def _solve(self, scatter: np.ndarray, apart: np.ndarray, certainty: np.ndarray) -> np.ndarray:
        """Root of the best metric in scaled columns."""

        def value_and_gradient(root: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = objective(np.diag(root) if self.diagonal else root, scatter, apart, certainty)
            return value, gradient.diagonal() if self.diagonal else gradient

        start = np.eye(len(scatter)) / np.sqrt(2 * np.trace(scatter))  # the best multiple of the identity
        run = quasi_newton(
            value_and_gradient,
            start.diagonal() if self.diagonal else start,
            max_iter=self.max_iter,
            gradient_tol=self.gradient_tol,
        )
        self._publish_run(run)
        return np.diag(run.state) if self.diagonal else run.state
