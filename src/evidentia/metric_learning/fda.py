"""Fisher's discriminant analysis, its local form (Sugiyama, 2007) and its kernel form: a metric from labels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from evidentia._data import Data
from evidentia._objects import align_objects
from evidentia._parameters import Integer, Number, param
from evidentia.methods import Method
from evidentia.metric_learning._base import WIDTH, MetricLearner, read_labels
from evidentia.metric_learning._kernel import KernelLearner
from evidentia.rows.source import ArrayRows

learner_from_labels = partial(
    Method, guide="metric-learning", takes=("labels",), number=(), criterion=None, learner=True
)

NO_RATIO = 1e-10  # of the largest: smaller ones are rounding errors


def scatters(rows: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the class means and mean covariance inside the classes, both of shape (q, q).

    Examples
    --------
    >>> between, within = scatters(np.array([[0.0], [2.0], [7.0], [7.0]]), np.array([0, 0, 1, 1]))
    >>> between.item(), within.item()      # means 1 and 7; deviations -1, 1, 0, 0
    (9.0, 0.5)
    """
    means = np.stack([rows[label == k].mean(axis=0) for k in range(label.max() + 1)])
    away, inside = means[label] - rows.mean(axis=0), rows - means[label]
    return away.T @ away / len(rows), inside.T @ inside / len(rows)


def local_affinity(rows: np.ndarray, n_neighbors: int) -> np.ndarray:
    r"""Nearness of the rows of one class, :math:`\exp(-\|x_i - x_j\|^2 / \sigma_i \sigma_j)`, shape (n, n).

    :math:`\sigma_i` is the distance of row i to its ``n_neighbors``-th neighbor.

    Examples
    --------
    >>> local_affinity(np.array([[0.0], [1.0], [3.0]]), 1).round(3)      # sigma 1, 1, 2
    array([[1.   , 0.368, 0.011],
           [0.368, 1.   , 0.135],
           [0.011, 0.135, 1.   ]])
    """
    distance = cdist(rows, rows)
    at = min(n_neighbors, len(rows) - 1)
    sigma = np.partition(distance, at, axis=1)[:, at]
    scale = np.maximum(np.outer(sigma, sigma), np.finfo(float).tiny)  # rows that many others equal
    with np.errstate(over="ignore"):
        return np.exp(-np.square(distance) / scale)


def local_scatters(rows: np.ndarray, label: np.ndarray, affinity: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    r"""Scatter between and inside the classes when only near rows of a class count, both of shape (q, q).

    Half the sums of :math:`W_{ij} (x_i - x_j)(x_i - x_j)^T / n`, with :math:`W_{ij} = A_{ij} / n_k` inside class k for
    the second, and :math:`1/n - W_{ij}` for the first (:math:`A_{ij} (1/n - 1/n_k)` inside a class).

    Parameters
    ----------
    rows : ndarray of shape (n, q)
    label : ndarray of shape (n,)
    affinity : list of ndarray of shape (n_k, n_k)
        A in each class. All ones give :func:`scatters`.
    """
    centered = rows - rows.mean(axis=0)
    across = len(rows) * centered.T @ centered  # all pairs; from those of a class the loop keeps what the affinity says
    within = np.zeros_like(across)
    for k, weight in enumerate(affinity):
        members = rows[label == k]
        inside = members - members.mean(axis=0)
        near = inside.T @ (weight.sum(axis=1)[:, None] * inside - weight @ inside)
        across += near - len(members) * inside.T @ inside
        within += near / len(members)
    return (across / len(rows) - within) / len(rows), within / len(rows)


def discriminants(between: np.ndarray, within: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions T with the largest ratios of scatter between to scatter inside, and the ratios.

    T has shape (q, n_components), and ``T.T @ within @ T`` is the identity. Of directions in which the classes do not
    differ, those of the largest scatter are taken first.
    """
    ratio, vectors = eigh(between, within)
    ratio, vectors = ratio[::-1], vectors[:, ::-1]
    none = np.abs(ratio) <= NO_RATIO * np.abs(ratio).max()
    if none[:n_components].any():
        free = vectors[:, none]
        vectors[:, none] = free @ eigh(free.T @ free)[1]
    ratio, vectors = ratio[:n_components], vectors[:, :n_components]
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])]), np.maximum(ratio, 0)


class FDA(MetricLearner):
    r"""Fisher's discriminant analysis: the directions in which labeled classes differ most [1]_.

    The columns t of the map maximize :math:`t^T S_b\, t \,/\, t^T (S_w + \lambda I)\, t`, with :math:`S_b` the
    covariance of the class means and :math:`S_w` that inside the classes. In the result the classes have unit
    covariance.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_components)
        ``transform(X)`` is ``X @ components_``.

    Notes
    -----
    Rows without a label only give the scale of the columns. Cost: ``n_labeled * n_features² + n_features³``.

    References
    ----------
    .. [1] R. A. Fisher. The use of multiple measurements in taxonomic problems. Annals of Eugenics 7:179-188, 1936.

    Examples
    --------
    >>> X = [[0, 0], [0.1, 3], [0.2, 1.2], [3, 3.1], [3.1, 0.2], [2.9, 1.6], [1, 1]]
    >>> model = FDA().fit(X, [0, 0, 0, 1, 1, 1, -1])
    >>> model.transform(X).shape, bool(model.ratios_[0] > 100)
    ((7, 1), True)
    """

    method = learner_from_labels(
        name="fda",
        title="Fisher's discriminant analysis: the directions in which labeled classes differ most",
        papers=("Fisher, 1936",),
    )
    attributes = {
        "ratios_": "ndarray of shape (n_components,)\nVariance between the classes over variance inside them, along "
        "each column of the result.",
        "classes_": "ndarray",
    }

    n_components: Any = param(
        WIDTH,
        "Columns of the result; without it one less than there are classes, the most that can tell.",
        default=None,
        kw_only=False,
    )
    ridge: float = param(
        Number(low=0),
        r""":math:`\lambda`, in columns scaled so that the total variance is one. Raise it when there are few labels.
        """,
        default=1e-6,
    )

    def _fit(self, data: Data[ArrayRows], y: Any) -> None:
        table = data.table
        y = align_objects(data.given, y, ("X", f"'y' of {type(self).__name__}"))
        known, label, self.classes_ = read_labels(self, y, len(table))
        rows, forward = self._enter(table, known)
        between, within = self._scatters(rows, label)
        within = within + self.ridge * np.eye(len(within))
        if np.linalg.matrix_rank(within, hermitian=True) < len(within):
            raise ValueError(
                f"The {len(known)} labeled rows of {type(self).__name__} do not vary inside their classes in some "
                "direction, so no direction is best. Give more labels, or a ridge above 0."
            )
        width = self._width(self.n_components, len(within), default=len(self.classes_) - 1)
        root, self.ratios_ = discriminants(between, within, width)
        self._publish_map(forward @ root)

    def _scatters(self, rows: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return scatters(rows, label)


class LFDA(FDA):
    r"""Fisher's discriminant analysis of classes that fall into parts [1]_.

    Only rows of a class that lie near each other are drawn together: by :math:`\exp(-\|x_i - x_j\|^2 / \sigma_i
    \sigma_j)`, with :math:`\sigma_i` the distance of row i to its k-th neighbor in the class.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_components)
        As for :class:`FDA`.

    Notes
    -----
    Distances are taken in scaled columns. Time and memory grow with the square of the size of the largest labeled
    class.

    References
    ----------
    .. [1] M. Sugiyama. Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis.
       Journal of Machine Learning Research 8:1027-1061, 2007.

    Examples
    --------
    Class 0 lies on both sides of class 1. Its mean says nothing; its parts do.

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 0, 1], 20)
    >>> X = np.c_[np.repeat([-5, 5, 0], 20) + rng.normal(size=60), 4 * rng.normal(size=60)]
    >>> bool(FDA().fit(X, y).ratios_[0] < 0.01), bool(LFDA().fit(X, y).ratios_[0] > 10)
    (True, True)
    """

    method = learner_from_labels(
        name="lfda",
        title="Fisher's discriminant analysis for classes that fall into parts",
        papers=("Sugiyama, *JMLR* 8, 2007",),
    )

    n_components: Any = param(
        WIDTH,
        """Columns of the result; without it one less than there are classes. More can be of use when classes have
        parts.""",
        default=None,
        kw_only=False,
    )
    n_neighbors: int = param(Integer(low=1), "k, the neighbors that count as near.", default=7)

    def _scatters(self, rows: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        affinity = [local_affinity(rows[label == k], self.n_neighbors) for k in range(label.max() + 1)]
        return local_scatters(rows, label, affinity)


class KFDA(KernelLearner, FDA):
    r"""Fisher's discriminant analysis in the space of a kernel [1]_: clusters of any shape from a few labels.

    Notes
    -----
    The kernel sees the columns as they are: scale them first when their units differ. Only the m labeled rows enter:
    m³ time and m² memory; a row to transform costs m kernel values.

    References
    ----------
    .. [1] S. Mika, G. Rätsch, J. Weston, B. Schölkopf, K.-R. Müller. Fisher discriminant analysis with kernels. Neural
       Networks for Signal Processing IX, 41-48, 1999.

    Examples
    --------
    A cluster inside a ring, 50 labels:

    >>> from evidentia.datasets import make_circles
    >>> circles = make_circles(random_state=0)
    >>> y = np.full(500, -1)
    >>> y[::10] = circles.target[::10]
    >>> rows = KFDA().fit(circles.data, y).transform(circles.data)[:, 0]
    >>> inner, ring = rows[circles.target == 0], rows[circles.target == 1]
    >>> bool(inner.max() < ring.min() or ring.max() < inner.min())
    True
    """

    method = learner_from_labels(
        name="kfda",
        title="Fisher's discriminant analysis with a kernel, for clusters of any shape",
        papers=("Mika et al., 1999",),
    )

    ridge: float = param(
        Number(low=0),
        """As for :class:`FDA`, in units in which the total variance of the labeled objects is one in the kernel's
        space.""",
        default=1e-2,
    )
