"""How much mass functions disagree, and how much each of them leaves open.

Between mass functions: :func:`conflict` and two distances. They compare row with row; a single row on either
side is compared with every row of the other. Inside one mass function: :func:`nonspecificity` says how wide
its sets are, :func:`dissonance` and :func:`confusion` how much they disagree, the entropies mix both.

All take ``masses (n_samples, n_focal)`` with their :class:`FocalSets` and use logarithms to base 2. Two
batches over different families come together by ``recast`` onto ``focal_sets.union(other_focal_sets)``.
"""

from __future__ import annotations

import numpy as np

from evidentia.belief import transforms
from evidentia.belief.focal import FocalSets

BLOCK = 1 << 22  # numbers in one block of a power-set table: 32 MB


# -- between mass functions ----------------------------------------------------------------------------------


def conflict(masses: np.ndarray, others: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Degree of conflict of two mass functions, row by row.

    .. math:: \kappa_i = \sum_{A \cap B = \varnothing} m_i(A)\, m'_i(B)

    The empty set meets nothing, so its mass counts as conflict. One minus this is the plausibility that both
    speak of the same cluster [1]_.

    Returns
    -------
    conflict : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] T. Denœux, M.-H. Masson. EVCLUS: evidential clustering of proximity data. IEEE Transactions on
       Systems, Man and Cybernetics B 34(1):95-109, 2004.

    Examples
    --------
    >>> torn, sure = np.array([[0.2, 0.5, 0.0, 0.3]]), np.array([[0.0, 0.0, 1.0, 0.0]])
    >>> conflict(torn, sure, FocalSets(2))  # {} and {0} against {1}
    array([0.7])
    """
    return np.sum((masses @ focal_sets.disjoint.astype(float)) * others, axis=1)


def pairwise_conflict(masses: np.ndarray, focal_sets: FocalSets, others: np.ndarray | None = None) -> np.ndarray:
    """Degree of conflict between every row of ``masses`` and every row of ``others`` (of ``masses`` if None).

    Examples
    --------
    >>> sure_0, sure_1, ignorant = [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]
    >>> pairwise_conflict(np.array([sure_0, sure_1, ignorant]), FocalSets(2))
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    others = masses if others is None else others
    return masses @ focal_sets.disjoint.astype(float) @ others.T


def jousselme_distance(masses: np.ndarray, others: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Jousselme distance, row by row [1]_.

    .. math::
        d_J(m, m') = \sqrt{\tfrac12 (m - m')^\top D\, (m - m')}, \qquad D_{AB} = \frac{|A \cap B|}{|A \cup B|}

    with :math:`D_{\varnothing\varnothing} = 1`. It lies between 0 and 1; two sets that share clusters are
    nearer than two disjoint ones.

    Returns
    -------
    distance : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] A.-L. Jousselme, D. Grenier, É. Bossé. A new distance between two bodies of evidence. Information
       Fusion 2(2):91-101, 2001.

    Examples
    --------
    >>> sure_0, sure_1, ignorant = np.eye(4)[1:, None]
    >>> jousselme_distance(sure_0, sure_1, FocalSets(2)), jousselme_distance(sure_0, ignorant, FocalSets(2))
    (array([1.]), array([0.70710678]))
    """
    shared = focal_sets.member @ focal_sets.member.T
    joined = focal_sets.card[:, None] + focal_sets.card - shared
    jaccard = np.divide(shared, joined, out=np.ones_like(shared), where=joined > 0)
    gap = masses - others
    squared = np.sum((gap @ jaccard) * gap, axis=1)
    return np.sqrt(np.maximum(squared, 0) / 2)  # rounding of equal rows may fall below zero


def belief_distance(masses: np.ndarray, others: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Distance between belief functions, row by row [1]_.

    .. math:: d_B(m, m') = 2^{1-c} \sum_{A \subseteq \Omega} |Bel(A) - Bel'(A)|

    The factor makes 1 the largest value. The sum is over all subsets of the ``c`` clusters, so at most 16.

    Returns
    -------
    distance : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] T. Denœux, S. Li, S. Sriboonchitta. Evaluating and comparing soft partitions: an approach based on
       Dempster-Shafer theory. IEEE Transactions on Fuzzy Systems 26(3):1231-1244, 2018.

    Examples
    --------
    >>> sure_0, sure_1, ignorant = np.eye(4)[1:, None]
    >>> belief_distance(sure_0, sure_1, FocalSets(2)), belief_distance(sure_0, ignorant, FocalSets(2))
    (array([1.]), array([0.5]))
    """
    gap = masses - others  # belief is linear: one transform of the difference is enough
    out = np.empty(len(gap))
    step = max(1, BLOCK >> focal_sets.n_clusters)
    for start in range(0, len(gap), step):
        table = transforms.dense(gap[start : start + step], focal_sets)
        out[start : start + step] = np.abs(transforms.mass_to_belief(table)).sum(axis=1)
    return out / 2 ** (focal_sets.n_clusters - 1)


# -- inside one mass function --------------------------------------------------------------------------------


def nonspecificity(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""How wide the focal sets of each object are, in bits [1]_.

    .. math:: N = \sum_{A \ne \varnothing} m(A) \log_2 |A| + m(\varnothing) \log_2 c

    Zero for a probability, :math:`\log_2 c` for ignorance. The mass of the empty set counts like ignorance,
    as in [2]_: an outlier belongs nowhere in particular. Normalize first if it should not count.

    Returns
    -------
    nonspecificity : ndarray of shape (n_samples,)

    References
    ----------
    .. [1] D. Dubois, H. Prade. A note on measures of specificity for fuzzy sets. International Journal of
       General Systems 10(4):279-283, 1985.
    .. [2] M.-H. Masson, T. Denœux. ECM: an evidential version of the fuzzy c-means algorithm. Pattern
       Recognition 41(4):1384-1397, 2008.

    Examples
    --------
    >>> nonspecificity(np.array([[0.0, 0.5, 0.2, 0.3], [0.5, 0.5, 0.0, 0.0]]), FocalSets(2))
    array([0.3, 0.5])
    """
    width = np.where(focal_sets.card > 0, focal_sets.card, focal_sets.n_clusters)
    return masses @ np.log2(width)


def normalized_nonspecificity(masses: np.ndarray, focal_sets: FocalSets) -> float:
    r"""Mean nonspecificity of all objects as a share of its largest value :math:`\log_2 c`.

    The validity index N* of evidential clustering: between 0 (nothing but single clusters) and 1 (nothing
    known); 0 when there is only one cluster. Small is good.

    Examples
    --------
    >>> normalized_nonspecificity(np.array([[0.0, 0.5, 0.2, 0.3], [0.5, 0.5, 0.0, 0.0]]), FocalSets(2))
    0.4
    """
    if focal_sets.n_clusters == 1:
        return 0.0
    return float(nonspecificity(masses, focal_sets).mean() / np.log2(focal_sets.n_clusters))


def pignistic_entropy(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Shannon entropy of the pignistic probability, :math:`-\sum_k BetP(k) \log_2 BetP(k)` [1]_.

    Between 0 and :math:`\log_2 c`. It does not tell ignorance from an even bet.

    References
    ----------
    .. [1] A.-L. Jousselme, C. Liu, D. Grenier, É. Bossé. Measuring ambiguity in the evidence theory. IEEE
       Transactions on Systems, Man and Cybernetics A 36(5):890-903, 2006.

    Examples
    --------
    >>> pignistic_entropy(np.array([[0.0, 0.5, 0.0, 0.5]]), FocalSets(2))  # of (3/4, 1/4)
    array([0.81127812])
    """
    return _shannon(transforms.pignistic(masses, focal_sets))


def jirousek_shenoy_entropy(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Entropy of Jiroušek and Shenoy: of the plausibility transform, plus the nonspecificity [1]_.

    .. math:: H = -\sum_k p(k) \log_2 p(k) + \sum_A m(A) \log_2 |A|, \qquad p(k) \propto Pl(\{k\})

    Between 0 and :math:`2 \log_2 c`, which only ignorance reaches. The masses are normalized by Dempster's
    rule first; an object with all mass on the empty set counts as ignorant.

    References
    ----------
    .. [1] R. Jiroušek, P. P. Shenoy. A new definition of entropy of belief functions in the Dempster-Shafer
       theory. International Journal of Approximate Reasoning 92:49-65, 2018.

    Examples
    --------
    >>> jirousek_shenoy_entropy(np.array([[0, 0.5, 0.5, 0], [0, 0, 0, 1]]), FocalSets(2))
    array([1., 2.])
    """
    masses, focal_sets = transforms.normalize(masses, focal_sets)
    contour = transforms.contour(masses, focal_sets)
    return _shannon(contour / contour.sum(axis=1, keepdims=True)) + nonspecificity(masses, focal_sets)


def dissonance(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Yager's entropy, :math:`-\sum_A m(A) \log_2 Pl(A)`: mass on sets that other mass rules out [1]_.

    Zero exactly when every two focal sets meet. The masses are normalized by Dempster's rule first; an object
    with all mass on the empty set counts as ignorant.

    References
    ----------
    .. [1] R. R. Yager. Entropy and specificity in a mathematical theory of evidence. International Journal of
       General Systems 9(4):249-260, 1983.

    Examples
    --------
    >>> dissonance(np.array([[0, 0.5, 0.5, 0], [0, 0.5, 0, 0.5]]), FocalSets(2))
    array([1., 0.])
    """
    masses, focal_sets = transforms.normalize(masses, focal_sets)
    return _cross_entropy(masses, transforms.plausibility(masses, focal_sets))


def confusion(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Höhle's entropy, :math:`-\sum_A m(A) \log_2 Bel(A)`: mass on sets that hold little of the rest [1]_.

    Zero exactly when one focal set has all the mass; never below :func:`dissonance`. The masses are
    normalized by Dempster's rule first; an object with all mass on the empty set counts as ignorant.

    References
    ----------
    .. [1] U. Höhle. Entropy with respect to plausibility measures. Proceedings of the 12th IEEE International
       Symposium on Multiple-Valued Logic, 167-169, 1982.

    Examples
    --------
    >>> confusion(np.array([[0, 0.5, 0.5, 0], [0, 0.5, 0, 0.5]]), FocalSets(2))
    array([1. , 0.5])
    """
    masses, focal_sets = transforms.normalize(masses, focal_sets)
    return _cross_entropy(masses, transforms.belief(masses, focal_sets))


def _shannon(probabilities: np.ndarray) -> np.ndarray:
    return _cross_entropy(probabilities, probabilities)


def _cross_entropy(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """``-sum(weights * log2(values))`` along rows, where 0 log 0 is 0 and a rounded 1 + eps counts as 1."""
    log = np.log2(np.minimum(values, 1.0), out=np.zeros(values.shape), where=weights > 0)
    return np.abs(np.sum(weights * log, axis=1))  # the sum is never positive, and abs() gives no -0.0
