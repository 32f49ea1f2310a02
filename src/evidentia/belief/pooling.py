r"""Any number of opinions made one, and how far they contradict each other.

The rules for two of :mod:`evidentia.belief.combination` are applied one after the other, and conflict is shared out at
the end, so that the order does not matter. Two rules speak of all at once: the average, and the average with doubt in
the place of contradiction. Partitions whose objects have names are joined by them, in the order of the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from evidentia._objects import align_all
from evidentia.belief import combination, transforms
from evidentia.belief.focal import FocalSets, canonical_order
from evidentia.belief.mass import MassFunctions

MOST_SETS = 4096  # of a combination: 2**12


def common_family(many: Sequence[MassFunctions]) -> FocalSets:
    """The focal sets of all of them."""
    return reduce(FocalSets.union, [m.focal_sets for m in many])


def average(many: Sequence[MassFunctions]) -> MassFunctions:
    r"""One of them is right, and each may be: :math:`m(A) = \frac{1}{K} \sum_j m_j(A)`.

    Examples
    --------
    >>> a, b = (MassFunctions([masses], FocalSets(2, [{0}, {1}])) for masses in ([0.75, 0.25], [0.25, 0.75]))
    >>> average([a, b]).masses
    array([[0.5, 0.5]])
    """
    many = align_all(many)
    family = common_family(many)
    total = np.zeros((len(many[0]), len(family)))
    for m in many:
        total += transforms.recast(m.masses, m.focal_sets, family)
    return MassFunctions(total / len(many), family, copy=False)


def hedge(many: Sequence[MassFunctions], aside: int = 0) -> MassFunctions:
    r"""The average, but where two of them contradict each other, neither is taken at its word.

    .. math::
        m(A) = \bar m(A) - \tfrac12 \sum_{B \cap A = \varnothing} s_{AB}
               + \sum_{B \cup C = A,\, B \cap C = \varnothing} s_{BC}, \qquad
        s_{AB} = \frac{1}{K (K - 1)} \sum_{j \neq l} \big( m_j(A)\, m_l(B) + m_j(B)\, m_l(A) \big)

    What moves to unions, :math:`\sum s_{AB}` over pairs of disjoint sets, is the mean conflict of two of them
    (:func:`mean_conflict`). Opinions that do not contradict each other are averaged; those that are sure of different
    clusters leave an object ambiguous between these, where the average would have it half in one and half in the other.

    Parameters
    ----------
    many : sequence of MassFunctions
        Over the same clusters, two or more.
    aside : int
        Sets that meet this mask, and the empty set, are averaged only.

    Examples
    --------
    >>> a, b = (MassFunctions([masses], FocalSets(2, [{0}, {1}])) for masses in ([1.0, 0.0], [0.0, 1.0]))
    >>> hedge([a, b]).focal_sets, hedge([a, b]).masses       # s = 1
    (FocalSets(2 clusters: {0}, {1}, {0,1}), array([[0., 0., 1.]]))
    """
    many = align_all(many)
    mean, n_pairs = average(many), len(many) * (len(many) - 1)
    family = mean.focal_sets
    plain = (family.masks != 0) & (family.masks & aside == 0)
    left, right = np.nonzero(np.triu(family.disjoint & plain & plain[:, None]))
    unions = family.masks[left] | family.masks[right]
    wide = FocalSets(family.n_clusters, canonical_order({*family.masks.tolist(), *unions.tolist()}))
    masses = transforms.recast(mean.masses, family, wide)
    at = {mask: place for place, mask in enumerate(wide.masks.tolist())}
    three = (family.masks[left], family.masks[right], unions)
    places = np.array([[at[mask] for mask in masks.tolist()] for masks in three], dtype=int)
    step = max(1, combination.BLOCK // max(1, len(left)))
    for start in range(0, len(mean), step):
        rows = slice(start, start + step)
        split = len(many) ** 2 * mean.masses[rows][:, left] * mean.masses[rows][:, right]
        for m in many:
            own = transforms.recast(m.masses[rows], m.focal_sets, family)
            split -= own[:, left] * own[:, right]
        split *= 2 / n_pairs
        for place, share in zip(places, (-0.5, -0.5, 1.0)):
            np.add.at(masses[rows].T, place, share * split.T)
    return MassFunctions(np.maximum(masses, 0), wide, copy=False)


def mean_conflict(many: Sequence[MassFunctions]) -> tuple[np.ndarray, np.ndarray]:
    r"""How far they contradict each other: for each object, the mean over two of them; for each two, over the objects.

    .. math:: \kappa_{jl} = \sum_{A \cap B = \varnothing} m_j(A)\, m_l(B)

    Returns
    -------
    by_object : ndarray of shape (n_samples,)
    between : ndarray of shape (n_opinions, n_opinions)
        The diagonal is zero: no opinion is compared with itself.

    Examples
    --------
    >>> a, b = (MassFunctions([masses], FocalSets(2, [{0}, {1}])) for masses in ([0.5, 0.5], [0.0, 1.0]))
    >>> mean_conflict([a, b])[0]
    array([0.5])
    """
    many = align_all(many)
    family, k = common_family(many), len(many)
    by_object, between = np.empty(len(many[0])), np.zeros((k, k))
    step = max(1, combination.BLOCK // (k * len(family)))
    for start in range(0, len(by_object), step):
        rows = slice(start, start + step)
        masses = np.stack([transforms.recast(m.masses[rows], m.focal_sets, family) for m in many])
        # Plausibility at the sets of the other: one minus it is the mass of all sets that are disjoint from them.
        against = np.stack([1 - transforms.plausibility(one, family) for one in masses])
        between += np.einsum("jif,lif->jl", masses, against, optimize=True)
        own = np.einsum("jif,jif->i", masses, against)
        by_object[rows] = (np.einsum("if,if->i", masses.sum(axis=0), against.sum(axis=0)) - own) / (k * (k - 1))
    np.fill_diagonal(between, 0)
    return np.clip(by_object, 0, 1), np.clip(between / max(1, len(by_object)), 0, 1)


def _in_turn(rule: Callable[[MassFunctions, MassFunctions], MassFunctions], normalize: str | None = None) -> Rule:
    def combine(many: Sequence[MassFunctions], aside: int = 0) -> MassFunctions:
        found = reduce(rule, many)
        return found if normalize is None else found.normalize(normalize)

    return combine


Rule = Callable[[Sequence[MassFunctions], int], MassFunctions]
RULES: dict[str, Rule] = {
    "dempster": _in_turn(combination.conjunctive, "dempster"),
    "conjunctive": _in_turn(combination.conjunctive),
    "yager": _in_turn(combination.conjunctive, "yager"),
    "disjunctive": _in_turn(combination.disjunctive),
    "cautious": _in_turn(combination.cautious),
    "average": lambda many, aside: average(many),
    "hedge": hedge,
}


def check_rule(rule: str) -> str:
    """The name of a rule for any number of opinions, or a sentence that lists them."""
    if rule not in RULES:
        raise ValueError(f"The combination 'rule' must be one of {', '.join(map(repr, RULES))}. Got {rule!r}.")
    return rule


def combine_many(many: Sequence[MassFunctions], rule: str = "dempster", *, aside: int = 0) -> MassFunctions:
    """Combine any number of batches over the same clusters, row by row; the order does not matter.

    Parameters
    ----------
    many : sequence of MassFunctions
    rule : {"dempster", "conjunctive", "yager", "disjunctive", "cautious", "average", "hedge"}
        Under ``"dempster"`` a row whose opinions contradict each other wholly becomes ignorant.
    aside : int
        A mask of clusters whose sets :func:`hedge` does not unite with others.

    Raises
    ------
    ValueError
        If the sets that can arise are more than 4096: nothing is combined then.
    """
    many = align_all(many)
    n_sets = count_sets([m.focal_sets for m in many], check_rule(rule))
    if n_sets > MOST_SETS:
        raise ValueError(
            f"The rule {rule!r} would make more than {MOST_SETS:,} sets of {many[0].n_clusters} clusters. Take "
            "rule='average', partitions with fewer clusters, or with fewer sets (focal_sets='pairs' or 'singletons')."
        )
    return RULES[rule](many, aside)


def count_sets(families: Sequence[FocalSets], rule: str) -> int:
    """How many focal sets a combination has, counted without any masses; counting ends beyond ``MOST_SETS``."""
    if rule == "cautious":
        return 1 << families[0].n_clusters
    if rule in ("average", "hedge"):
        masks = np.unique(np.concatenate([one.masks for one in families]))
        if rule == "average" or len(masks) > MOST_SETS:
            return len(masks)
        disjoint = masks[:, None] & masks == 0
        return len(np.unique(np.concatenate([masks, (masks[:, None] | masks)[disjoint]])))
    meet = np.bitwise_or if rule == "disjunctive" else np.bitwise_and
    masks = families[0].masks
    for one in families[1:]:
        masks = np.unique(meet(masks[:, None], one.masks))
        if len(masks) > MOST_SETS:
            break
    return len(masks)
