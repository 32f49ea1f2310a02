"""Other faces of a mass function: belief, plausibility, commonality, contour, pignistic; and back.

Each function takes ``masses (n_samples, n_focal)`` with their :class:`FocalSets` and gives one number per
object and focal set (or cluster). On a restricted family these are products with small 0/1 tables. On the
whole power set, :func:`dense` lays masses out by mask and the fast Möbius transforms do ``n c 2**c``
additions instead of ``n 4**c``.
"""

from __future__ import annotations

import numpy as np

from evidentia.belief.focal import MAX_FULL, FocalSets, canonical_order


def belief(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Belief in each focal set, :math:`Bel(A) = \sum_{\varnothing \ne B \subseteq A} m(B)`."""
    if power_set_is_cheaper(focal_sets.n_clusters, len(focal_sets) ** 2):
        return mass_to_belief(dense(masses, focal_sets))[:, focal_sets.masks]
    within = focal_sets.inside & (focal_sets.masks != 0)[:, None]
    return masses @ within.astype(float)


def plausibility(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Plausibility of each focal set, :math:`Pl(A) = \sum_{B \cap A \ne \varnothing} m(B)`."""
    if power_set_is_cheaper(focal_sets.n_clusters, len(focal_sets) ** 2):
        return mass_to_plausibility(dense(masses, focal_sets))[:, focal_sets.masks]
    return masses @ (~focal_sets.disjoint).astype(float)


def commonality(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Commonality of each focal set, :math:`Q(A) = \sum_{B \supseteq A} m(B)`."""
    if power_set_is_cheaper(focal_sets.n_clusters, len(focal_sets) ** 2):
        return mass_to_commonality(dense(masses, focal_sets))[:, focal_sets.masks]
    return masses @ focal_sets.inside.T.astype(float)


def contour(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    r"""Plausibility of each single cluster, :math:`pl_k = \sum_{A \ni k} m(A)`."""
    return masses @ focal_sets.member


def singleton_belief(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    """Belief in each single cluster: the mass of its singleton, 0 when that is not a focal set."""
    at = focal_sets.singleton_index
    return np.where(at >= 0, masses[:, at], 0.0)


def pignistic(masses: np.ndarray, focal_sets: FocalSets, *, normalize: bool = True) -> np.ndarray:
    r"""Pignistic probability of each cluster.

    .. math:: BetP(k) = \frac{1}{1 - m(\varnothing)} \sum_{A \ni k} \frac{m(A)}{|A|}

    An object with all its mass on the empty set gets the uniform distribution: nothing speaks for any
    cluster. With ``normalize=False`` the division by :math:`1 - m(\varnothing)` is left out.

    Examples
    --------
    >>> pignistic(np.array([[0.5, 0.1, 0.0, 0.4], [1.0, 0, 0, 0]]), FocalSets(2))
    array([[0.6, 0.4],
           [0.5, 0.5]])
    """
    share = masses @ (focal_sets.member / np.maximum(focal_sets.card, 1)[:, None])
    if not normalize:
        return share
    total = share.sum(axis=1, keepdims=True)
    uniform = np.full_like(share, 1 / focal_sets.n_clusters)
    return np.divide(share, total, out=uniform, where=total > 0)


def normalize(masses: np.ndarray, focal_sets: FocalSets, *, rule: str = "dempster") -> tuple[np.ndarray, FocalSets]:
    """Masses without the empty set.

    ``"dempster"`` shares its mass in proportion to the rest, ``"yager"`` gives it to the whole frame. Under
    either rule an object with all mass on the empty set becomes wholly ignorant (all mass on the frame, which
    is added as a focal set when it is missing and needed).

    Examples
    --------
    >>> normalize(np.array([[0.5, 0.1, 0.0, 0.4]]), FocalSets(2))
    (array([[0.2, 0. , 0.8]]), FocalSets(2 clusters: {0}, {1}, {0,1}))
    >>> normalize(np.array([[0.5, 0.1, 0.0, 0.4]]), FocalSets(2), rule="yager")[0]
    array([[0.1, 0. , 0.9]])
    """
    if rule not in ("dempster", "yager"):
        raise ValueError(f"The normalization 'rule' must be 'dempster' or 'yager'. Got {rule!r}.")
    at = focal_sets.empty_index
    if at is None:
        return masses, focal_sets
    empty, rest = masses[:, at], np.delete(masses, at, axis=1)
    subsets = np.delete(focal_sets.masks, at).tolist()
    lost = rest.sum(axis=1) == 0
    whole = (1 << focal_sets.n_clusters) - 1
    if whole not in subsets and (lost.any() or (rule == "yager" and empty.any())):
        subsets.append(whole)
        rest = np.column_stack([rest, np.zeros(len(rest))])
    if rule == "yager":
        if empty.any():
            rest[:, subsets.index(whole)] += empty
    else:
        if lost.any():
            rest[lost, subsets.index(whole)] = 1.0
        rest /= rest.sum(axis=1, keepdims=True)
    return rest, FocalSets(focal_sets.n_clusters, subsets)


def recast(masses: np.ndarray, focal_sets: FocalSets, target: FocalSets) -> np.ndarray:
    """The same masses with the columns of another family over the same clusters.

    ``target`` may hold focal sets that are new (they get no mass) and lack some that hold no mass.

    Examples
    --------
    >>> recast(np.array([[0.3, 0.7]]), FocalSets(2, [{0, 1}, {0}]), FocalSets(2))
    array([[0. , 0.7, 0. , 0.3]])
    """
    if focal_sets.n_clusters != target.n_clusters:
        raise ValueError(
            f"Focal sets of {focal_sets.n_clusters} clusters cannot become those of {target.n_clusters}. "
            "To change the frame, refine or coarsen it."
        )
    place = {mask: at for at, mask in enumerate(target.masks.tolist())}
    at = np.array([place.get(mask, -1) for mask in focal_sets.masks.tolist()])
    homeless = np.flatnonzero((at < 0) & np.any(masses != 0, axis=0))
    if homeless.size:
        raise ValueError(
            f"{focal_sets.names()[homeless[0]]} holds mass but is not one of the focal sets asked for. "
            "A family with room for all is focal_sets.union(target)."
        )
    out = np.zeros((len(masses), len(target)))
    out[:, at[at >= 0]] = masses[:, at >= 0]
    return out


# -- back from clusters to mass functions --------------------------------------------------------------------


def from_pignistic(probabilities: np.ndarray) -> tuple[np.ndarray, FocalSets]:
    r"""Least committed mass functions with given pignistic probabilities [1]_.

    With the clusters of an object sorted so that :math:`p_{(1)} \ge \dots \ge p_{(c)}`,

    .. math:: m(\{(1), \dots, (i)\}) = i\,(p_{(i)} - p_{(i+1)}), \qquad p_{(c+1)} = 0 .

    Among all mass functions whose pignistic probability is ``p``, this consonant one (its focal sets are
    nested) has the largest commonalities: it adds nothing that the probabilities do not say.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_clusters)
        Rows sum to one.

    Returns
    -------
    masses : ndarray of shape (n_samples, n_focal)
    focal_sets : FocalSets
        The sets that some object gives mass to, by size and then by mask.

    References
    ----------
    .. [1] D. Dubois, H. Prade, P. Smets. A definition of subjective possibility. International Journal of
       Approximate Reasoning 48(2):352-364, 2008.

    Examples
    --------
    >>> from_pignistic(np.array([[0.5, 0.3, 0.2]]))
    (array([[0.2, 0.2, 0.6]]), FocalSets(3 clusters: {0}, {0,1}, {0,1,2}))
    """
    order, steps = _descent(probabilities)
    return _nested_masses(order, steps * np.arange(1, steps.shape[1] + 1), np.zeros(len(steps)))


def from_contour(contour: np.ndarray) -> tuple[np.ndarray, FocalSets]:
    r"""Consonant mass functions with given plausibilities of the single clusters.

    The plausibility of a set is then the largest one among its clusters (a possibility measure). With
    :math:`\pi_{(1)} \ge \dots \ge \pi_{(c)}`,

    .. math:: m(\{(1), \dots, (i)\}) = \pi_{(i)} - \pi_{(i+1)}, \qquad m(\varnothing) = 1 - \pi_{(1)} .

    Parameters
    ----------
    contour : ndarray of shape (n_samples, n_clusters)
        Between 0 and 1. What the largest one lacks to 1 becomes mass of the empty set.

    Returns
    -------
    masses : ndarray of shape (n_samples, n_focal)
    focal_sets : FocalSets
        The sets that some object gives mass to, by size and then by mask.

    Examples
    --------
    >>> from_contour(np.array([[1.0, 0.75], [0.25, 0.5]]))
    (array([[0.  , 0.25, 0.  , 0.75],
           [0.5 , 0.  , 0.25, 0.25]]), FocalSets(2 clusters: {}, {0}, {1}, {0,1}))
    """
    order, steps = _descent(contour)
    return _nested_masses(order, steps, 1 - np.max(contour, axis=1))


def _descent(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of each row by falling value, and how far the value falls after each of them."""
    order = np.argsort(-values, axis=1, kind="stable")
    falling = np.take_along_axis(values, order, axis=1)
    return order, falling - np.pad(falling[:, 1:], [(0, 0), (0, 1)])


def _nested_masses(order: np.ndarray, steps: np.ndarray, empty: np.ndarray) -> tuple[np.ndarray, FocalSets]:
    """Masses ``steps[:, i]`` on the first ``i + 1`` clusters of each row's order, ``empty`` on none."""
    masks = np.pad(np.cumsum(np.int64(1) << order, axis=1), [(0, 0), (1, 0)])
    steps = np.column_stack([empty, steps])
    row, step = np.nonzero(steps)
    used = canonical_order(set(masks[row, step].tolist()))
    place = {mask: at for at, mask in enumerate(used)}
    masses = np.zeros((len(order), len(used)))
    masses[row, [place[mask] for mask in masks[row, step].tolist()]] = steps[row, step]
    return masses, FocalSets(order.shape[1], used)


# -- the whole power set -------------------------------------------------------------------------------------


def power_set_is_cheaper(n_clusters: int, n_pairs: int) -> bool:
    """Whether fast transforms of the power set beat a loop over ``n_pairs`` pairs of focal sets.

    The factor keeps small families on the direct path, which loses no digits by subtraction.
    """
    return n_clusters <= MAX_FULL and n_pairs > (16 * n_clusters) << n_clusters


def dense(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    """Masses over all ``2**n_clusters`` subsets, column ``a`` for the subset with mask ``a``."""
    if focal_sets.n_clusters > MAX_FULL:
        raise ValueError(
            f"The power set of {focal_sets.n_clusters} clusters is too large to lay out (at most {MAX_FULL} clusters)."
        )
    table = np.zeros((len(masses), 1 << focal_sets.n_clusters))
    table[:, focal_sets.masks] = masses
    return table


def sparse(table: np.ndarray) -> tuple[np.ndarray, FocalSets]:
    """Drop the subsets that no object gives mass to: the inverse of :func:`dense`.

    Examples
    --------
    >>> sparse(np.array([[0.0, 0.3, 0.0, 0.7]]))
    (array([[0.3, 0.7]]), FocalSets(2 clusters: {0}, {0,1}))
    """
    used = canonical_order(np.flatnonzero(np.any(table != 0, axis=0)).tolist())
    return table[:, used], FocalSets(_frame_size(table), used)


def mass_to_implicability(table: np.ndarray) -> np.ndarray:
    r"""Sum over subsets, the empty one too, :math:`b(A) = \sum_{B \subseteq A} m(B)`."""
    return _zeta(table, from_subsets=True, sign=1)


def implicability_to_mass(table: np.ndarray) -> np.ndarray:
    """Inverse of :func:`mass_to_implicability`."""
    return _zeta(table, from_subsets=True, sign=-1)


def mass_to_commonality(table: np.ndarray) -> np.ndarray:
    r"""Sum over supersets, :math:`q(A) = \sum_{B \supseteq A} m(B)`."""
    return _zeta(table, from_subsets=False, sign=1)


def commonality_to_mass(table: np.ndarray) -> np.ndarray:
    """Inverse of :func:`mass_to_commonality`."""
    return _zeta(table, from_subsets=False, sign=-1)


def mass_to_belief(table: np.ndarray) -> np.ndarray:
    """Belief of every subset: the implicability without the mass of the empty set."""
    return mass_to_implicability(table) - table[:, :1]


def belief_to_mass(table: np.ndarray) -> np.ndarray:
    """Masses from the belief of every subset; what the frame lacks to 1 is mass of the empty set."""
    return implicability_to_mass(table + (1 - table[:, -1:]))


def mass_to_plausibility(table: np.ndarray) -> np.ndarray:
    """Plausibility of every subset: one minus the implicability of its complement."""
    return table.sum(axis=1, keepdims=True) - mass_to_implicability(table)[:, ::-1]


def plausibility_to_mass(table: np.ndarray) -> np.ndarray:
    """Masses from the plausibility of every subset."""
    return implicability_to_mass(1 - table[:, ::-1])


def mass_to_log_weights(table: np.ndarray) -> np.ndarray:
    r"""Logarithms of the conjunctive weights of every proper subset [1]_.

    .. math:: \ln w(A) = -\sum_{B \supseteq A} (-1)^{|B| - |A|} \ln q(B), \qquad A \ne \Omega

    They write a mass function as a conjunctive combination of simple ones, each leaving mass ``w(A)`` on the
    frame and giving ``1 - w(A)`` to ``A``. Every row must have mass on the frame. The frame itself has no
    weight; its column holds 0.

    References
    ----------
    .. [1] P. Smets. The canonical decomposition of a weighted belief. IJCAI 1995, 1896-1901.
    """
    log_weights = -commonality_to_mass(np.log(mass_to_commonality(table)))
    log_weights[:, -1] = 0.0
    return log_weights


def log_weights_to_mass(table: np.ndarray) -> np.ndarray:
    """Inverse of :func:`mass_to_log_weights`: ``q(A)`` multiplies the weights of all B not around A."""
    log_commonality = table.sum(axis=1, keepdims=True) - mass_to_commonality(table)
    return commonality_to_mass(np.exp(log_commonality))


def _zeta(table: np.ndarray, *, from_subsets: bool, sign: int) -> np.ndarray:
    """Add (or subtract) across one cluster at a time: half of the subsets hold it, the other half do not."""
    out = np.array(table, dtype=float)
    n_clusters = _frame_size(out)
    for k in range(n_clusters):
        # A view in any memory order, since it only splits an axis. Axis 2: without and with cluster k.
        halves = out.reshape(len(out), 1 << n_clusters - k - 1, 2, 1 << k)
        if from_subsets:
            halves[:, :, 1] += sign * halves[:, :, 0]
        else:
            halves[:, :, 0] += sign * halves[:, :, 1]
    return out


def _frame_size(table: np.ndarray) -> int:
    size = table.shape[1]
    if size < 2 or size & (size - 1):
        raise ValueError(f"A table over a power set has 2**n_clusters columns. Got {size}.")
    return size.bit_length() - 1
