"""DML-eig (Ying & Li, 2012): the shortest cannot-link as long as can be, by eigenvectors alone."""

from __future__ import annotations

import numpy as np

from evidentia._parameters import Integer, Number, param
from evidentia.metric_learning._links import MahalanobisLearner, learner_from_links
from evidentia.solvers.callbacks import report_iteration
from evidentia.solvers.descent import Run


def soft_minimum(values: np.ndarray, certainty: np.ndarray, smoothing: float) -> tuple[float, np.ndarray]:
    r"""Smooth lower end of some numbers, and its gradient, which is not negative and sums to one.

    .. math:: -\mu \log \Big( \sum_l s_l\, e^{-v_l / \mu} \Big/ \sum_l s_l \Big)

    Examples
    --------
    >>> value, weight = soft_minimum(np.array([1.0, 3.0]), np.ones(2), 0.1)
    >>> round(value, 4), weight.round(4)
    (1.0693, array([1., 0.]))
    """
    low = values.min()
    share = certainty * np.exp((low - values) / smoothing)
    total = share.sum()
    return float(low - smoothing * np.log(total / certainty.sum())), share / total


def spread_metric(
    apart: np.ndarray, certainty: np.ndarray, *, smoothing: float, max_iter: int, gap_tol: float
) -> tuple[Run, float]:
    r"""Maximize the soft minimum of :math:`d^T P d` over matrices :math:`P \succeq 0` of trace one.

    Frank and Wolfe's method: the best rank-one matrix for the present gradient is that of its first eigenvector, and
    2 / (t + 3) of P moves there in step t.

    Parameters
    ----------
    apart : ndarray of shape (n_links, q)
    certainty : ndarray of shape (n_links,)
    gap_tol : float
        The search ends when the value is surely no farther than this below the largest one.

    Returns
    -------
    run : Run
        Its state is P (q, q), its objective the negative of the soft minimum.
    gap : float
        By how much the value may still be below the largest one.
    """
    q = apart.shape[1]
    P = np.eye(q) / q
    lengths = np.square(apart).sum(axis=1) / q
    trace: list[float] = []
    while True:
        value, weight = soft_minimum(lengths, certainty, smoothing)
        values, vectors = np.linalg.eigh((weight[:, None] * apart).T @ apart)
        gap = float(values[-1] - weight @ lengths)
        trace.append(-value)
        stopped = report_iteration()
        if stopped or gap <= gap_tol or len(trace) > max_iter:
            return Run(P, np.array(trace), gap <= gap_tol, stopped), gap
        step, direction = 2 / (len(trace) + 2), vectors[:, -1]
        P = (1 - step) * P + step * np.outer(direction, direction)
        lengths = (1 - step) * lengths + step * np.square(apart @ direction)


class DMLeig(MahalanobisLearner):
    r"""Mahalanobis metric whose shortest cannot-link is as long as can be, for must-links of given total length [1]_.

    .. math::
        \max_{A \succeq 0} \min_{(i, j) \in \mathcal C} \|x_i - x_j\|_A^2
        \quad\text{with}\quad \sum_{(i, j) \in \mathcal M} \|x_i - x_j\|_A^2 \le 1

    Where :class:`LSI` looks at the mean cannot-link, this looks at the worst one. ``transform`` moves the rows so that
    their Euclidean distances are those of A.

    Attributes
    ----------
    criterion_ : float
        The smooth minimum of the squared lengths of the cannot-links, maximized, for must-links of total length one, in
        units of the largest mean length that cannot-links can have.
    criterion_trace_ : ndarray
        That minimum at the start and after each iteration. It may fall on the way.
    gap_ : float
        By how much ``criterion_`` may still be below its maximum.

    Notes
    -----
    With S the scatter of the must-links and :math:`A = S^{-1/2} P S^{-1/2}`, the problem is over matrices P of trace
    one. Its smoothed form is concave and solved by Frank and Wolfe's method, whose gap bounds the error; an iteration
    costs ``n_cannot_links * n_features² + n_features³``. A cannot-link weighs in the smooth minimum by its certainty, a
    must-link in S.

    References
    ----------
    .. [1] Y. Ying, P. Li. Distance metric learning with eigenvalue optimization. Journal of Machine Learning Research
       13:1-26, 2012.

    Examples
    --------
    Two groups that the first column tells apart; in the table a cannot-link is shorter than a must-link.

    >>> from evidentia.constraints import PairwiseConstraints
    >>> X = np.array([[0, 0], [0, 4], [2, 4], [2, 0]])
    >>> links = PairwiseConstraints.from_links([(0, 1), (2, 3)], [(1, 2), (0, 3)])
    >>> rows = DMLeig().fit(X, constraints=links).transform(X)
    >>> bool(abs(rows[1] - rows[2]).max() > 3 * abs(rows[0] - rows[1]).max())
    True
    """

    method = learner_from_links(
        name="dmleig",
        title="a Mahalanobis metric learned from links: short must-links, a long shortest cannot-link",
        papers=("Ying & Li, *JMLR* 13, 2012",),
        criterion="maximized",
    )

    smoothing: float = param(
        Number(above=0),
        """Width of the smooth minimum, as a share of the largest mean length that cannot-links can have. The smaller,
        the more the worst link alone counts, and the more iterations it takes.""",
        default=0.05,
    )
    max_iter: int = param(Integer(low=1), "Most iterations.", default=5000)
    gap_tol: float = param(
        Number(low=0),
        "The search ends when the criterion is surely no farther than this below its maximum.",
        default=1e-3,
    )

    def _solve(self, scatter: np.ndarray, apart: np.ndarray, certainty: np.ndarray) -> np.ndarray:
        values, vectors = np.linalg.eigh(scatter)
        kept = values > np.finfo(float).eps * len(values) * values[-1]  # constant columns have no scatter
        whiten = vectors[:, kept] / np.sqrt(values[kept])
        moved = apart @ whiten
        moved /= np.sqrt(np.linalg.norm((certainty[:, None] * moved).T @ moved, 2) / certainty.sum())
        run, self.gap_ = spread_metric(
            moved, certainty, smoothing=self.smoothing, max_iter=self.max_iter, gap_tol=self.gap_tol
        )
        self._publish_run(run, scale=-1)
        values, vectors = np.linalg.eigh(run.state)
        return whiten @ (vectors * np.sqrt(np.maximum(values, 0)))
