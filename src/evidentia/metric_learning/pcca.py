"""Pairwise constrained component analysis (Mignon & Jurie, 2012): linked pairs on the right side of distance one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from evidentia._parameters import Number, param
from evidentia.constraints import PairwiseConstraints
from evidentia.metric_learning._base import WIDTH
from evidentia.metric_learning._kernel import RANK_TOLERANCE, KernelLearner
from evidentia.metric_learning._links import LinkLearner, learner_from_links, quasi_newton


def link_loss(
    root: np.ndarray, gaps: np.ndarray, sign: np.ndarray, certainty: np.ndarray, *, beta: float, ridge: float
) -> tuple[float, np.ndarray]:
    r"""Value and gradient in L of the loss of the links.

    .. math::
        \sum_{(i, j)} s_{ij}\, \ell_\beta\big(y_{ij} (\|L^T (x_i - x_j)\|^2 - 1)\big) + \lambda \|L\|_F^2, \qquad
        \ell_\beta(t) = \tfrac{1}{\beta} \log(1 + e^{\beta t})

    Parameters
    ----------
    root : ndarray of shape (q, d)
        L.
    gaps : ndarray of shape (n_links, q)
        Differences :math:`x_i - x_j`.
    sign : ndarray of shape (n_links,)
        y: 1 for a must-link, -1 for a cannot-link.
    certainty : ndarray of shape (n_links,)
    beta, ridge : float

    Returns
    -------
    value : float
    gradient : ndarray of shape (q, d)

    Examples
    --------
    A must-link of length one: log 2, however it is turned.

    >>> value, gradient = link_loss(np.eye(2), np.array([[0.6, 0.8]]), np.ones(1), np.ones(1), beta=1, ridge=0)
    >>> round(value, 4), gradient
    (0.6931, array([[0.36, 0.48],
           [0.48, 0.64]]))
    """
    moved = gaps @ root
    excess = beta * sign * (np.einsum("ld,ld->l", moved, moved) - 1)
    slope = certainty * sign * expit(excess)
    value = certainty @ np.logaddexp(0, excess) / beta + ridge * np.square(root).sum()
    return float(value), 2 * gaps.T @ (slope[:, None] * moved) + 2 * ridge * root


def first_root(
    gaps: np.ndarray, sign: np.ndarray, certainty: np.ndarray, *, beta: float, n_components: int
) -> np.ndarray:
    """The directions in which the loss falls fastest from zero, scaled so that links have length one in the mean.

    Directions without any link come last, and the map is zero there unless all are asked for: which of them would be
    chance.
    """
    slope = certainty * sign * expit(-beta * sign)
    values, vectors = np.linalg.eigh((slope[:, None] * gaps).T @ gaps)
    root = vectors
    if n_components < len(values):
        known = np.abs(values) >= RANK_TOLERANCE * np.abs(values).max()
        root = np.hstack([vectors[:, known], 0 * vectors[:, ~known]])[:, :n_components]
    return root / np.sqrt(np.square(gaps @ root).sum() / len(gaps))


class PCCA(LinkLearner):
    r"""Linear map that brings must-links below distance one and cannot-links above it [1]_.

    .. math::
        \min_L \sum_{(i, j)} s_{ij}\, \ell_\beta\big(y_{ij} (\|L^T (x_i - x_j)\|^2 - 1)\big) + \lambda \|L\|_F^2, \qquad
        \ell_\beta(t) = \tfrac{1}{\beta} \log(1 + e^{\beta t})

    with :math:`y_{ij}` 1 for a must-link and -1 for a cannot-link, and :math:`s_{ij}` the certainty of the link.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_components)
        ``transform(X)`` is ``X @ components_``.
    criterion_ : float
        The loss with its ridge, minimized.
    criterion_trace_ : ndarray
        The loss at the start and after each iteration; it never rises.

    See Also
    --------
    KPCCA : the same in the space of a kernel.

    Notes
    -----
    The loss is convex in :math:`L L^T`; it is descended on in L by L-BFGS, from the directions in which it falls
    fastest at zero. Nothing is random. An iteration costs ``n_links * n_features * n_components``; rows without links
    only give the scale of the columns.

    References
    ----------
    .. [1] A. Mignon, F. Jurie. PCCA: a new approach for distance learning from sparse pairwise constraints. IEEE
       Conference on Computer Vision and Pattern Recognition, 2666-2672, 2012.

    Examples
    --------
    The first column tells the groups apart, the second is noise.

    >>> from evidentia.constraints import PairwiseConstraints
    >>> X = np.array([[0, 0], [0.1, 3], [0.2, 1.2], [3, 3.1], [3.1, 0.2], [2.9, 1.6]])
    >>> links = PairwiseConstraints.from_labels([0, 0, 0, 1, 1, 1])
    >>> rows = PCCA(n_components=1).fit(X, constraints=links).transform(X)
    >>> bool(np.ptp(rows[:3]) < 0.5 < 1 < abs(rows[0] - rows[3])[0])
    True
    """

    method = learner_from_links(
        name="pcca",
        title="a linear map learned from links: must-links shorter than one, cannot-links longer",
        papers=("Mignon & Jurie, *CVPR* 2012",),
    )

    n_components: Any = param(
        WIDTH,
        """Columns of the result. Without it as many as X has; the minimum found is then the global one. Fewer mean a
        simpler metric, which few links determine better.""",
        default=None,
        kw_only=False,
    )
    beta: float = param(
        Number(above=0),
        "Sharpness of the loss: the larger, the less links that lie well on their side count.",
        default=1.0,
    )
    ridge: float = param(
        Number(low=0),
        r""":math:`\lambda`, in columns scaled so that the total variance is one. Zero is the problem of [1]_, whose
        solution may lie at infinity: when the links can be obeyed, longer cannot-links are always better.""",
        default=0.01,
    )
    tol: float = param(
        Number(low=0),
        """The descent ends when an iteration lowers the loss by no more than this share of it, or of one where the loss
        is smaller.""",
        default=1e-7,
    )

    def _learn(self, table: np.ndarray, links: PairwiseConstraints) -> None:
        if not len(links):
            self._refuse_without_gaps(np.empty((0, 1)))
        rows, forward = self._enter(table, links.objects)
        first, second = np.searchsorted(links.objects, links.pairs).T
        gaps, sign = rows[first] - rows[second], np.where(links.must, 1.0, -1.0)
        self._refuse_without_gaps(gaps[~links.must])
        width = self._width(self.n_components, gaps.shape[1], default=gaps.shape[1])
        run = quasi_newton(
            lambda root: link_loss(root, gaps, sign, links.certainty, beta=self.beta, ridge=self.ridge),
            first_root(gaps, sign, links.certainty, beta=self.beta, n_components=width),
            max_iter=self.max_iter,
            loss_tol=self.tol,
        )
        self._publish_run(run)
        self._publish_map(forward @ run.state)


class KPCCA(KernelLearner, PCCA):
    r"""Pairwise constrained component analysis in the space of a kernel [1]_: clusters of any shape.

    The map of :class:`PCCA` becomes :math:`x \mapsto \sum_i a_i k(x, x_i)` over the linked objects, and its ridge the
    norm in the kernel's space.

    Notes
    -----
    The kernel sees the columns as they are: scale them first when their units differ. The criterion, minimized, is the
    loss of :class:`PCCA` with its ridge.

    The best map lies in the span of the linked objects, so only those m enter: m³ time and m² memory once, then
    ``n_links * m * n_components`` an iteration. The number of rows without links only counts in ``transform``, where it
    costs m kernel values a row.

    References
    ----------
    .. [1] A. Mignon, F. Jurie. PCCA: a new approach for distance learning from sparse pairwise constraints. IEEE
       Conference on Computer Vision and Pattern Recognition, 2666-2672, 2012.

    Examples
    --------
    A cluster inside a ring, 50 links:

    >>> from evidentia.constraints import PairwiseConstraints
    >>> from evidentia.datasets import make_circles
    >>> circles = make_circles(random_state=0)
    >>> links = PairwiseConstraints.sample(circles.target, 50, random_state=0)
    >>> rows = KPCCA(n_components=1).fit(circles.data, constraints=links).transform(circles.data)[:, 0]
    >>> inner, ring = rows[circles.target == 0], rows[circles.target == 1]
    >>> bool(inner.max() < ring.min() or ring.max() < inner.min())
    True
    """

    method = replace(PCCA.method, name="kpcca", title="PCCA in the space of a kernel, for clusters of any shape")

    n_components: Any = param(
        WIDTH, "Columns of the result, no more than there are linked objects.", default=2, kw_only=False
    )
    ridge: float = param(
        Number(low=0),
        """As for :class:`PCCA`, in units in which the total variance of the linked objects is one in the kernel's
        space.""",
        default=0.1,
    )
