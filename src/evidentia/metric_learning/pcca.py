"""Pairwise constrained component analysis (Mignon & Jurie, 2012): linked pairs on the right side of distance one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils.validation import validate_data

from evidentia.metric_learning._base import MetricLearner, read_links, refuse_without_gaps
from evidentia.metric_learning._kernel import KernelLearner
from evidentia.solvers.threads import one_blas_thread


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
    """The directions in which the loss falls fastest from zero, scaled so that links have length one in the mean."""
    slope = certainty * sign * expit(-beta * sign)
    _, vectors = np.linalg.eigh((slope[:, None] * gaps).T @ gaps)
    root = vectors[:, :n_components]
    return root / np.sqrt(np.square(gaps @ root).sum() / len(gaps))


class PCCA(MetricLearner):
    r"""Linear map that brings must-links below distance one and cannot-links above it [1]_.

    .. math::
        \min_L \sum_{(i, j)} s_{ij}\, \ell_\beta\big(y_{ij} (\|L^T (x_i - x_j)\|^2 - 1)\big) + \lambda \|L\|_F^2, \qquad
        \ell_\beta(t) = \tfrac{1}{\beta} \log(1 + e^{\beta t})

    with :math:`y_{ij}` 1 for a must-link and -1 for a cannot-link, and :math:`s_{ij}` the certainty of the link.

    Parameters
    ----------
    n_components : int, optional
        Columns of the result. Without it as many as X has; the minimum found is then the global one. Fewer mean a
        simpler metric, which few links determine better.
    beta : float > 0
        Sharpness of the loss: the larger, the less links that lie well on their side count.
    ridge : float >= 0
        :math:`\lambda`, in columns scaled so that the total variance is one. Zero is the problem of [1]_, whose
        solution may lie at infinity: when the links can be obeyed, longer cannot-links are always better.
    max_iter : int
    tol : float
        The descent ends when an iteration lowers the loss by less than this share.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_components)
        ``transform(X)`` is ``X @ components_``.
    criterion_ : float
        The loss with its ridge.
    n_iter_ : int

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

    def __init__(
        self,
        n_components: int | None = None,
        *,
        beta: float = 1.0,
        ridge: float = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-7,
    ):
        self.n_components = n_components
        self.beta = beta
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol

    @one_blas_thread
    def fit(self, X: Any, y: Any = None, constraints: Any = None) -> Self:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Links by name need a DataFrame whose index holds the names.
        y : None
            Ignored; ``PairwiseConstraints.from_labels`` makes links of labels.
        constraints : PairwiseConstraints
            At least one cannot-link.
        """
        table = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._check_params()
        links = read_links(self, X, table, constraints)
        if not len(links):
            refuse_without_gaps(self, np.empty((0, 1)))
        rows = self._enter(table, links.objects)
        first, second = np.searchsorted(links.objects, links.pairs).T
        gaps = rows[first] - rows[second]
        refuse_without_gaps(self, gaps[~links.must])
        self._leave(self._descend(gaps, np.where(links.must, 1.0, -1.0), links.certainty))
        return self

    def _check_params(self) -> None:
        self._check_number("beta", low=0, strict=True)
        self._check_number("ridge", low=0)
        self._check_number("max_iter", low=1, integer=True)
        self._check_number("tol", low=0)

    def _descend(self, gaps: np.ndarray, sign: np.ndarray, certainty: np.ndarray) -> np.ndarray:
        width = self._width(gaps.shape[1], default=gaps.shape[1])
        start = first_root(gaps, sign, certainty, beta=self.beta, n_components=width)

        def value_and_gradient(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            root = parameters.reshape(start.shape)
            value, gradient = link_loss(root, gaps, sign, certainty, beta=self.beta, ridge=self.ridge)
            return value, gradient.ravel()

        found = minimize(
            value_and_gradient,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 0, "maxfun": 10 * self.max_iter},
        )
        self.criterion_ = float(found.fun)
        self.n_iter_ = found.nit
        if found.nit >= self.max_iter:
            self._warn_of_early_end()
        return found.x.reshape(start.shape)


class KPCCA(KernelLearner, PCCA):
    r"""Pairwise constrained component analysis in the space of a kernel [1]_: clusters of any shape.

    The map of :class:`PCCA` becomes :math:`x \mapsto \sum_i a_i k(x, x_i)` over the linked objects, and its ridge the
    norm in the kernel's space.

    Parameters
    ----------
    n_components : int
        Columns of the result, no more than there are linked objects.
    kernel : str or callable
        A kernel of scikit-learn (``"rbf"``, ``"laplacian"``, ``"polynomial"``, …) or a function of two rows.
    gamma : float or "scale"
        Parameter of the kernel: the Gaussian one is :math:`\exp(-\gamma \|x - x'\|^2)`. ``"scale"`` takes the inverse
        of the mean squared distance of two rows.
    kernel_params : dict, optional
        Further parameters, such as ``{"degree": 2}``.
    beta, ridge, max_iter, tol
        As for :class:`PCCA`; the ridge is in units in which the total variance of the linked objects is one.

    Attributes
    ----------
    objects_ : ndarray of shape (n_linked, n_features)
        The linked rows.
    dual_coef_ : ndarray of shape (n_linked, n_components)
        The coefficients a.
    gamma_ : float
    criterion_ : float
    n_iter_ : int

    Notes
    -----
    The kernel sees the columns as they are: scale them first when their units differ.

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

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        kernel_params: dict[str, Any] | None = None,
        beta: float = 1.0,
        ridge: float = 0.1,
        max_iter: int = 1000,
        tol: float = 1e-7,
    ):
        super().__init__(n_components, beta=beta, ridge=ridge, max_iter=max_iter, tol=tol)
        self.kernel = kernel
        self.gamma = gamma
        self.kernel_params = kernel_params
