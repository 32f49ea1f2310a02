"""Two opinions made one, one opinion weakened or sharpened, and the frame refined or coarsened.

Every function takes and gives :class:`MassFunctions`. The rules that combine two batches do so row by row; a single row
on either side is combined with every row of the other. Partitions whose objects have names are joined by them, in the
order of the first one. The batches may have different focal sets over the same clusters; the result has the focal sets
that can arise from them, by size and then by mask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import reduce

import numpy as np

from evidentia._objects import align_objects
from evidentia.belief import transforms
from evidentia.belief.focal import MAX_CLUSTERS, FocalSets, Subset, canonical_order, to_mask
from evidentia.belief.mass import MassFunctions

BLOCK = 1 << 21  # numbers in one block of rows: 16 MB
CROWDED_SHARE, CROWDED_PAIRS = 1 / 32, 1024  # of the pairs of focal sets that meet in one set, both exceeded
ROUNDING = 1e-12  # what the logarithms of the cautious rule leave where there is no mass


# -- rules for two -------------------------------------------------------------------------------------------


def conjunctive(a: MassFunctions, b: MassFunctions) -> MassFunctions:
    r"""Both are right: :math:`m(C) = \sum_{A \cap B = C} m_a(A)\, m_b(B)` [1]_.

    For two distinct, reliable sources. Their conflict stays visible as mass of the empty set.

    References
    ----------
    .. [1] P. Smets. The combination of evidence in the transferable belief model. IEEE Transactions on
       Pattern Analysis and Machine Intelligence 12(5):447-458, 1990.

    Examples
    --------
    >>> a = MassFunctions([[0.6, 0.4]], FocalSets(2, [{0}, {0, 1}]))
    >>> b = MassFunctions([[0.5, 0.5]], FocalSets(2, [{1}, {0, 1}]))
    >>> both = conjunctive(a, b)
    >>> dict(zip(both.focal_sets.names(), both.masses[0].round(2).tolist()))
    {'{}': 0.3, '{0}': 0.3, '{1}': 0.2, '{0,1}': 0.2}
    """
    return _combine(a, b, np.bitwise_and, transforms.mass_to_commonality, transforms.commonality_to_mass)


def disjunctive(a: MassFunctions, b: MassFunctions) -> MassFunctions:
    r"""At least one is right: :math:`m(C) = \sum_{A \cup B = C} m_a(A)\, m_b(B)` [1]_.

    References
    ----------
    .. [1] P. Smets. Belief functions: the disjunctive rule of combination and the generalized Bayesian
       theorem. International Journal of Approximate Reasoning 9(1):1-35, 1993.

    Examples
    --------
    >>> a = MassFunctions([[0.6, 0.4]], FocalSets(2, [{0}, {1}]))
    >>> either = disjunctive(a, a)
    >>> dict(zip(either.focal_sets.names(), either.masses[0].round(2).tolist()))
    {'{0}': 0.36, '{1}': 0.16, '{0,1}': 0.48}
    """
    return _combine(a, b, np.bitwise_or, transforms.mass_to_implicability, transforms.implicability_to_mass)


def dempster(a: MassFunctions, b: MassFunctions) -> MassFunctions:
    """Conjunctive rule with the conflict shared out in proportion [1]_.

    Rows that conflict totally have no such combination: ``ValueError`` names them.

    References
    ----------
    .. [1] G. Shafer. A mathematical theory of evidence. Princeton University Press, 1976.

    Examples
    --------
    >>> a = MassFunctions([[0.6, 0.4]], FocalSets(2, [{0}, {0, 1}]))
    >>> b = MassFunctions([[0.5, 0.5]], FocalSets(2, [{1}, {0, 1}]))
    >>> dempster(a, b).masses.round(4)  # 0.3, 0.2 and 0.2, each over 0.7
    array([[0.4286, 0.2857, 0.2857]])
    """
    joint = conjunctive(a, b)
    total = np.flatnonzero(joint.masses @ (joint.focal_sets.card > 0) == 0)
    if total.size:
        raise ValueError(
            f"Dempster's rule has no answer for totally conflicting mass functions: {_rows(total)} of "
            f"{len(joint)} have no cluster that both sides hold possible. Discount one side first, or take "
            "conjunctive(a, b).normalize(), which makes these rows ignorant."
        )
    return joint.normalize("dempster")


def yager(a: MassFunctions, b: MassFunctions) -> MassFunctions:
    """Conjunctive rule with the conflict given to the whole frame: who disagrees knows nothing [1]_.

    References
    ----------
    .. [1] R. R. Yager. On the Dempster-Shafer framework and new combination rules. Information Sciences
       41(2):93-137, 1987.

    Examples
    --------
    >>> a = MassFunctions([[0.6, 0.4]], FocalSets(2, [{0}, {0, 1}]))
    >>> b = MassFunctions([[0.5, 0.5]], FocalSets(2, [{1}, {0, 1}]))
    >>> yager(a, b).masses.round(2)
    array([[0.3, 0.2, 0.5]])
    """
    return conjunctive(a, b).normalize("yager")


def cautious(a: MassFunctions, b: MassFunctions) -> MassFunctions:
    r"""Both are right, but may repeat each other: the smaller conjunctive weight of each set [1]_.

    .. math:: w(A) = \min(w_a(A), w_b(A)), \qquad A \subset \Omega

    What both say counts once: combining a mass function with itself changes nothing. The weights exist only
    with mass on the whole frame; rows without it raise ``ValueError`` (``discount(m, 0.001)`` gives them
    some). Not normalized. The weights need the power set, so at most 16 clusters.

    References
    ----------
    .. [1] T. Denœux. Conjunctive and disjunctive combination of belief functions induced by nondistinct
       bodies of evidence. Artificial Intelligence 172(2-3):234-264, 2008.

    Examples
    --------
    >>> a = MassFunctions([[0.6, 0.4]], FocalSets(2, [{0}, {0, 1}]))
    >>> cautious(a, a).masses.round(6), conjunctive(a, a).masses.round(6)
    (array([[0.6, 0.4]]), array([[0.84, 0.16]]))
    """
    b, n_samples, n_clusters = _check_pair(a, b)
    for side, m in (("first", a), ("second", b)):
        at = m.focal_sets.omega_index
        dogmatic = np.arange(len(m)) if at is None else np.flatnonzero(m.masses[:, at] == 0)
        if dogmatic.size:
            raise ValueError(
                f"The cautious rule needs mass on the whole frame, but {_rows(dogmatic)} of the {side} mass "
                "functions have none there. A little doubt, discount(m, 0.001), gives it to them."
            )
    parts = []
    for _, x, y in _row_blocks(a.masses, b.masses, n_samples, 1 << n_clusters):
        weights_x = transforms.mass_to_log_weights(transforms.dense(x, a.focal_sets))
        weights_y = transforms.mass_to_log_weights(transforms.dense(y, b.focal_sets))
        table = transforms.log_weights_to_mass(np.minimum(weights_x, weights_y))
        table[np.abs(table) < ROUNDING] = 0.0
        parts.append(transforms.sparse(table))
    family = reduce(FocalSets.union, [used for _, used in parts])
    masses = np.concatenate([transforms.recast(part, used, family) for part, used in parts])
    return MassFunctions(masses, family, copy=False)


# -- one at a time -------------------------------------------------------------------------------------------


def discount(m: MassFunctions, rate: float | np.ndarray) -> MassFunctions:
    r"""Trust mass functions only in part: :math:`(1 - r)\, m` and the rest, :math:`r`, on the frame.

    Parameters
    ----------
    m : MassFunctions
        What they said.
    rate : float or array-like of shape (n_samples,)
        Doubt between 0 (keeps everything) and 1 (leaves ignorance). A Series with names is joined by them.

    Examples
    --------
    >>> discount(MassFunctions([[0.5, 0.5]], FocalSets(2, [{0}, {1}])), 0.2).masses
    array([[0.4, 0.4, 0.2]])
    """
    rates = np.asarray(align_objects(m, rate, ("the partition", "'rate'")), dtype=float)
    if rates.shape not in ((), (len(m),)):
        raise ValueError(f"'rate' must be one number or one for each of {len(m)} rows. Got shape {rates.shape}.")
    if not np.all((rates >= 0) & (rates <= 1)):
        raise ValueError("'rate' must lie between 0 and 1.")
    whole, family = (1 << m.n_clusters) - 1, m.focal_sets
    if whole not in family:
        family = FocalSets(m.n_clusters, [*family.masks.tolist(), whole])
    masses = transforms.recast(m.masses, m.focal_sets, family) * (1 - rates.reshape(-1, 1))
    masses[:, family.index(whole)] += rates
    return MassFunctions(masses, family, copy=False)


def condition(m: MassFunctions, subset: Subset) -> MassFunctions:
    """What remains once the cluster is known to be in ``subset``: every focal set is cut down to it.

    Mass that spoke only of other clusters ends on the empty set; ``.normalize()`` afterwards is Dempster's
    conditioning.

    Parameters
    ----------
    m : MassFunctions
        What was thought before.
    subset : collection of int, or int mask
        The clusters still possible.

    Examples
    --------
    >>> m = MassFunctions([[0.2, 0.5, 0.3]], FocalSets(3, [{0}, {1, 2}, {0, 1, 2}]))
    >>> condition(m, {0, 1}).focal_sets, condition(m, {0, 1}).masses
    (FocalSets(3 clusters: {0}, {1}, {0,1}), array([[0.2, 0.5, 0.3]]))
    """
    known = MassFunctions(np.ones((1, 1)), FocalSets(m.n_clusters, [subset]))
    return conjunctive(m, known)


# -- other frames --------------------------------------------------------------------------------------------


def refine(m: MassFunctions, refining: Sequence[Collection[int]]) -> MassFunctions:
    """Speak of finer clusters: each old cluster becomes a set of new ones.

    Nothing is learned by it, and :func:`coarsen` with the same sets leads back.

    Parameters
    ----------
    m : MassFunctions
        Over the coarse clusters.
    refining : sequence of collections of int
        For each cluster of ``m`` the new clusters that it splits into. No set is empty, no two overlap, and
        together they name clusters 0, 1, ... without a gap.

    Examples
    --------
    Two views of the same objects, one that sees cluster 0 and one that sees cluster 2:

    >>> m = MassFunctions([[0.7, 0.3]], FocalSets(2, [{0}, {1}]))
    >>> left, right = refine(m, [{0}, {1, 2}]), refine(m, [{2}, {0, 1}])
    >>> left.focal_sets, right.focal_sets
    (FocalSets(3 clusters: {0}, {1,2}), FocalSets(3 clusters: {2}, {0,1}))
    """
    images, n_fine = _check_partition(refining, "refining", "cluster")
    if len(images) != m.n_clusters:
        raise ValueError(
            f"'refining' must hold one set for each of the {m.n_clusters} clusters. Got {len(images)} sets."
        )
    masks = m.focal_sets.member.astype(np.int64) @ images  # disjoint images: their sum is their union
    return MassFunctions(m.masses, FocalSets(n_fine, masks.tolist()), copy=False)


def coarsen(m: MassFunctions, groups: Sequence[Collection[int]], kind: str = "outer") -> MassFunctions:
    """Speak of groups of clusters.

    Parameters
    ----------
    m : MassFunctions
        Over the fine clusters.
    groups : sequence of collections of int
        The clusters of ``m`` that make up each new one. Every cluster is in exactly one group.
    kind : {"outer", "inner"}
        A focal set becomes the groups that it touches (``"outer"``: plausibilities are kept) or the groups
        wholly inside it (``"inner"``: beliefs are kept, and a set that fills no group turns empty).

    Examples
    --------
    >>> m = MassFunctions([[0.6, 0.4]], FocalSets(3, [{0, 1}, {2}]))
    >>> coarsen(m, [{0}, {1, 2}]).focal_sets, coarsen(m, [{0}, {1, 2}], kind="inner").focal_sets
    (FocalSets(2 clusters: {1}, {0,1}), FocalSets(2 clusters: {}, {0}))
    """
    if kind not in ("outer", "inner"):
        raise ValueError(f"The 'kind' of coarsening must be 'outer' or 'inner'. Got {kind!r}.")
    images, n_fine = _check_partition(groups, "groups", "group")
    if n_fine != m.n_clusters:
        raise ValueError(f"'groups' must share out the {m.n_clusters} clusters. Got groups of {n_fine}.")
    shared = m.focal_sets.masks[:, None] & images
    kept = shared != 0 if kind == "outer" else shared == images
    masks = kept.astype(np.int64) @ (1 << np.arange(len(images), dtype=np.int64))
    family = FocalSets(len(images), canonical_order(set(masks.tolist())))
    return MassFunctions(m.masses @ (masks[:, None] == family.masks), family, copy=False)


def _check_partition(sets: Sequence[Collection[int]], name: str, noun: str) -> tuple[np.ndarray, int]:
    """Masks of disjoint, non-empty sets that together are 0..n-1, and n; or an error naming the wrong one."""
    owner: dict[int, int] = {}
    for k, members in enumerate(sets):
        if isinstance(members, int | np.integer):
            raise ValueError(
                f"'{name}' holds sets of cluster numbers, but {noun} {k} has {members}: write {{{members}}}."
            )
        if not len(members):
            raise ValueError(f"Every set in '{name}' needs a cluster, but the set of {noun} {k} is empty.")
        for j in set(members):
            if j in owner:
                raise ValueError(
                    f"The sets in '{name}' must not overlap, but cluster {j} is in those of {noun}s {owner[j]} and {k}."
                )
            owner[j] = k
    missing = set(range(len(owner))) - set(owner)
    if missing:
        raise ValueError(
            f"'{name}' must use the clusters 0..{len(owner) - 1} once each, but cluster {min(missing)} is "
            f"in no set and {max(owner)} is in that of {noun} {owner[max(owner)]}."
        )
    if len(owner) > MAX_CLUSTERS:
        raise ValueError(f"'{name}' names {len(owner)} clusters; {MAX_CLUSTERS} is the most a frame can have.")
    return np.array([to_mask(members, len(owner)) for members in sets], dtype=np.int64), len(owner)


# -- machinery -----------------------------------------------------------------------------------------------


def _combine(
    a: MassFunctions,
    b: MassFunctions,
    meet: np.ufunc,
    forward: Callable[[np.ndarray], np.ndarray],
    back: Callable[[np.ndarray], np.ndarray],
) -> MassFunctions:
    """Products of masses, summed where ``meet`` of the masks is the same.

    With many focal sets the transforms ``forward`` and ``back``, under which the rule is a product of
    columns, are cheaper than the table of all pairs.
    """
    b, n_samples, n_clusters = _check_pair(a, b)
    n_pairs = len(a.focal_sets) * len(b.focal_sets)
    if transforms.power_set_is_cheaper(n_clusters, n_pairs):
        width = 1 << n_clusters

        def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            tables = forward(transforms.dense(x, a.focal_sets)), forward(transforms.dense(y, b.focal_sets))
            return back(tables[0] * tables[1])

        # With ones for masses the product counts the pairs that meet in each set.
        pairs_meeting = product(np.ones((1, len(a.focal_sets))), np.ones((1, len(b.focal_sets))))[0]
        family = canonical_order(np.flatnonzero(pairs_meeting > 0.5).tolist())
        columns = np.array(family)
    else:
        masks = meet(a.focal_sets.masks[:, None], b.focal_sets.masks)
        distinct, kind, counts = np.unique(masks, return_inverse=True, return_counts=True)
        kind = kind.reshape(masks.shape)
        # A set that a large share of all pairs meets in, mostly the empty one, is a bilinear form of the masses.
        crowded = np.flatnonzero(counts > max(n_pairs * CROWDED_SHARE, CROWDED_PAIRS))
        forms = [(kind == at).astype(float) for at in crowded]
        apart = np.isin(kind, crowded, invert=True)
        order = np.flatnonzero(apart)[np.argsort(kind[apart], kind="stable")]
        few, starts = np.unique(kind.ravel()[order], return_index=True)
        left, right = np.divmod(order, len(b.focal_sets))
        width = max(order.size, len(a.focal_sets) + len(b.focal_sets))
        family = canonical_order(distinct.tolist())
        columns = np.searchsorted(distinct, family)

        def product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            # Focal sets as rows of the block: gathers and sums then run along contiguous memory.
            out = np.empty((np.broadcast_shapes(x.shape[:1], y.shape[:1])[0], len(distinct)))
            out[:, few] = np.add.reduceat(x.T.copy()[left] * y.T.copy()[right], starts, axis=0).T
            for at, form in zip(crowded, forms):
                out[:, at] = np.sum((x @ form) * y, axis=1)
            return out

    out = np.empty((n_samples, len(family)))
    for rows, x, y in _row_blocks(a.masses, b.masses, n_samples, width):
        out[rows] = product(x, y)[:, columns]
    return MassFunctions(out, FocalSets(n_clusters, family), copy=False)


def _row_blocks(
    x: np.ndarray, y: np.ndarray, n_samples: int, width: int
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Matching rows of both, so few at a time that ``width`` numbers for each stay a small block."""
    step = max(1, BLOCK // width)
    for start in range(0, n_samples, step):
        rows = slice(start, start + step)
        yield rows, (x if len(x) == 1 else x[rows]), (y if len(y) == 1 else y[rows])


def _check_pair(a: MassFunctions, b: MassFunctions) -> tuple[MassFunctions, int, int]:
    """Return the second with its objects in the order of the first, the number of rows and that of clusters."""
    if a.n_clusters != b.n_clusters:
        raise ValueError(
            f"Only mass functions over the same clusters can be combined. Got {a.n_clusters} and "
            f"{b.n_clusters} clusters: refine or coarsen one side first."
        )
    if len(a) != len(b) and 1 not in (len(a), len(b)):
        raise ValueError(f"Both sides need as many rows, or one of them a single row. Got {len(a)} and {len(b)}.")
    b = align_objects(a, b) if len(a) == len(b) else b
    return b, (len(a) if len(b) == 1 else len(b)), a.n_clusters


def _rows(rows: np.ndarray) -> str:
    shown = ", ".join(map(str, rows[:5].tolist()))
    return f"row{'s' if rows.size > 1 else ''} {shown}{', ...' if rows.size > 5 else ''}"
