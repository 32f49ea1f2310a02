r"""Centers of sets of clusters, and the cluster centers that explain them best.

ECM, CECM and EGMM place the center of a set of clusters at the barycenter of its members. Written with the
matrix :math:`S` of rows :math:`S_j = I_j / |A_j|` that is :math:`\tilde V = S V`, and a weighted least-squares fit of
:math:`\tilde V` to data is a small linear system in :math:`V`: its size is the number of clusters, whatever the number
of objects.
"""

from __future__ import annotations

import numpy as np

from evidentia.belief.focal import FocalSets


def averaging(focal_sets: FocalSets) -> np.ndarray:
    """Matrix S, shape (n_focal, n_clusters), that takes cluster centers to set centers; a zero row for {}."""
    return focal_sets.member / np.maximum(focal_sets.card, 1)[:, None]


def sums_over_pairs(between: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Sum of what is between the clusters of each set, :math:`\sum_{k < l \in A} b_{kl}`, shape (n_focal,).

    Parameters
    ----------
    between : ndarray of shape (n_clusters, n_clusters)
        Symmetric, with zeros on the diagonal.
    focal_sets : FocalSets

    Examples
    --------
    >>> between = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]])
    >>> sums_over_pairs(between, FocalSets(3, [{0}, {0, 1}, {0, 1, 2}]))
    array([ 0.,  1., 14.])
    """
    return np.einsum("jx,xy,jy->j", focal_sets.member, between, focal_sets.member) / 2


def solve_centers(weight: np.ndarray, total: np.ndarray, average: np.ndarray, previous: np.ndarray) -> np.ndarray:
    r"""Cluster centers minimizing :math:`\sum_i \sum_j w_{ij} \| x_i - S_j V \|^2`.

    Only :math:`\sum_i w_{ij}` and :math:`\sum_i w_{ij} x_i` matter:
    :math:`S^T \mathrm{diag}(w) S\, V = S^T T`. Where the data leave a center undetermined (a cluster that lost all its
    objects), it stays as near to ``previous`` as the others allow.

    Parameters
    ----------
    weight : ndarray of shape (n_focal,)
    total : ndarray of shape (n_focal, n_features)
    average : ndarray of shape (n_focal, n_clusters)
    previous : ndarray of shape (n_clusters, n_features)
    """
    gram = average.T @ (weight[:, None] * average)
    moved = average.T @ (total - weight[:, None] * (average @ previous))
    return previous + solve_semidefinite(gram, moved)


def solve_semidefinite(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Smallest solution of a symmetric system whose matrix may leave some directions undetermined.

    Examples
    --------
    >>> solve_semidefinite(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([[6.0], [0.0]])).ravel()
    array([3., 0.])
    """
    values, vectors = np.linalg.eigh(matrix)
    least = max(1e-12 * values[-1], np.finfo(float).tiny)  # what is smaller has no inverse
    inverse = np.divide(1, values, out=np.zeros_like(values), where=values > least)
    return vectors @ (inverse[:, None] * (vectors.T @ right))
