"""Which clusters overlap: the pairs worth a focal set when there are too many clusters for all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidentia.belief import FocalSets
from evidentia.belief.focal import canonical_order

__all__ = ["is_automatic"]


def mutual_near_pairs(similarity: np.ndarray, n_near: int) -> list[tuple[int, int]]:
    """Pairs of clusters that are among each other's ``n_near`` most similar ones.

    A fit with single clusters gives plausibilities ``Pl`` (objects × clusters) and with them the similarity
    ``Pl.T @ Pl`` [1]_: two clusters are alike when the same objects are plausible in both. At most
    ``n_clusters * n_near / 2`` pairs come back, where all pairs would be quadratic in the number of clusters.

    Parameters
    ----------
    similarity : ndarray of shape (n_clusters, n_clusters)
        Symmetric, larger is nearer. The diagonal is not looked at; clusters of similarity zero are never near.
    n_near : int
        How many neighbors of a cluster count as near.

    Returns
    -------
    list of (int, int)
        Sorted, the smaller number first.

    References
    ----------
    .. [1] T. Denœux, S. Sriboonchitta, O. Kanjanatarakul. Evidential clustering of large dissimilarity data.
       Knowledge-Based Systems 106:179-195, 2016.

    Examples
    --------
    Three clusters in a row, the outer ones far apart:

    >>> mutual_near_pairs(np.array([[9, 2, 1], [2, 9, 3], [1, 3, 9]]), n_near=1)
    [(1, 2)]
    >>> mutual_near_pairs(np.array([[9, 2, 0], [2, 9, 3], [0, 3, 9]]), n_near=2)
    [(0, 1), (1, 2)]
    """
    others = np.where(np.eye(len(similarity), dtype=bool), -np.inf, similarity)
    nearest = np.argsort(-others, axis=1, kind="stable")[:, :n_near]
    near = np.zeros(others.shape, dtype=bool)
    np.put_along_axis(near, nearest, True, axis=1)
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(near & near.T & (others > 0)))]


def shared_sets(
    posterior: np.ndarray, weight: np.ndarray, *, least: float = 0.5, share: float = 0.01, most: int = 5
) -> FocalSets:
    r"""Single clusters, and the sets of clusters that overlap: some objects are shared by all clusters of the set.

    :math:`\sum_i w_i \min_{k \in A} r_{ik}` is how many; a set is there if they are not fewer than ``least``, nor
    than the given share of its smallest cluster, and if all its parts are there: sets grow from pairs, whatever the
    number of clusters. Of too many, those that share most are kept. An object halfway between two counts half.

    Parameters
    ----------
    posterior : ndarray of shape (n_samples, n_clusters)
        Probabilities of single clusters.
    weight : ndarray of shape (n_samples,)
    least, share : float
    most : int
        Sets of several clusters per cluster, at most.

    Examples
    --------
    Three clusters in a row, an object in five between neighbors:

    >>> r = np.array([[1, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1], [0, 0, 1]])
    >>> shared_sets(r, np.ones(7))
    FocalSets(3 clusters: {0}, {1}, {2}, {0,1}, {1,2})
    """
    n_clusters, size = posterior.shape[1], weight @ posterior
    found: dict[int, float] = {}
    grown = [(1 << k, k, posterior[:, k]) for k in range(n_clusters)]
    while grown and len(found) <= most * n_clusters:
        larger = []
        for mask, last, common in grown:
            for k in range(last + 1, n_clusters):
                both, joint = np.minimum(common, posterior[:, k]), mask | 1 << k
                members = [j for j in range(n_clusters) if joint >> j & 1]
                if len(members) > 2 and not all(joint ^ 1 << j in found for j in members):
                    continue
                if (held := float(weight @ both)) >= max(least, share * size[members].min()):
                    larger.append((joint, k, both))
                    found[joint] = held
        grown = larger
    # A set comes with all its parts: the larger are cut off first among equals, since they share less.
    kept = sorted(found, key=lambda mask: -found[mask])[: most * n_clusters]
    return FocalSets(n_clusters, canonical_order({*kept, *(1 << k for k in range(n_clusters))}))


def least_committed(posterior: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Consonant mass functions whose pignistic probabilities are given, on some focal sets; shape (n, n_focal).

    With :math:`r_{(1)} \ge r_{(2)} \ge \dots` the j most probable clusters hold :math:`j\,(r_{(j)} - r_{(j+1)})`: of
    all mass functions with these pignistic probabilities it is the least committed one [1]_. What belongs to a set that
    is not among the focal sets is left out.

    References
    ----------
    .. [1] D. Dubois, H. Prade, P. Smets. A definition of subjective possibility. International Journal of Approximate
       Reasoning 48:352-364, 2008.

    Examples
    --------
    >>> least_committed(np.array([[0.9, 0.1], [0.5, 0.5]]), FocalSets(2, "full", empty=False))
    array([[0.8, 0. , 0.2],
           [0. , 0. , 1. ]])
    """
    _, steps, masks = _consonant(posterior)
    masses = np.zeros((len(posterior), len(focal_sets)))
    for at, mask in enumerate(focal_sets.masks):
        masses[:, at] = (steps * (masks == mask)).sum(axis=1)
    return masses


def _consonant(posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clusters from the most to the least probable, and masses and masks of the sets of the first j, all (n, c)."""
    n, c = posterior.shape
    order = np.argsort(-posterior, axis=1, kind="stable")
    falling = np.take_along_axis(posterior, order, axis=1)
    steps = np.arange(1, c + 1) * (falling - np.append(falling[:, 1:], np.zeros((n, 1)), axis=1))
    return order, steps, np.bitwise_or.accumulate(np.int64(1) << order.astype(np.int64), axis=1)


def spread_over_sets(posterior: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    """The masses of :func:`least_committed`; what belongs to a set that is not there goes to its clusters alike.

    Pignistic probabilities are those that were given, whatever the sets.

    Examples
    --------
    >>> spread_over_sets(np.array([[0.5, 0.3, 0.2]]), FocalSets(3, [[0], [1], [2], [0, 1]])).round(2)
    array([[0.4, 0.2, 0.2, 0.2]])
    """
    masses, (order, steps, masks) = least_committed(posterior, focal_sets), _consonant(posterior)
    shares = np.where(np.isin(masks, focal_sets.masks), 0.0, steps / np.arange(1, posterior.shape[1] + 1))
    left = np.empty_like(shares)
    np.put_along_axis(left, order, shares[:, ::-1].cumsum(axis=1)[:, ::-1], axis=1)
    masses[:, focal_sets.singleton_index] += left
    return masses


def is_automatic(focal_sets: Any) -> bool:
    """Whether sets are left to the fit: ``"auto"``, those of clusters that overlap."""
    return isinstance(focal_sets, str) and focal_sets == "auto"


def is_near_pairs(focal_sets: Any) -> bool:
    """Whether the user asked for the family ``"near-pairs"``, which a first fit has to find."""
    return isinstance(focal_sets, str) and focal_sets == "near-pairs"


def near_pair_sets(similarity: np.ndarray, n_near: int, *, empty: bool, omega: bool = True) -> FocalSets:
    """Single clusters, the frame, and the pairs of :func:`mutual_near_pairs`: the family ``"near-pairs"``.

    ``omega=False`` leaves out the frame, for methods where its center would lie in the midst of some cluster.

    Examples
    --------
    >>> near_pair_sets(np.array([[9, 2, 1], [2, 9, 3], [1, 3, 9]]), n_near=1, empty=False)
    FocalSets(3 clusters: {0}, {1}, {2}, {1,2}, {0,1,2})
    """
    n_clusters = len(similarity)
    pairs = {1 << a | 1 << b for a, b in mutual_near_pairs(similarity, n_near)}
    masks = pairs | set(FocalSets(n_clusters, "simple", empty=empty, omega=omega).masks.tolist())
    return FocalSets(n_clusters, canonical_order(masks))
