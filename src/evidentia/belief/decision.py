"""From a mass function to one cluster, or to a set of clusters.

Scores are taken from the mass that is not on the empty set, so they lie between 0 and 1 for outliers too.
Differences up to ``TIE`` are rounding, not preference: such scores are equal, and the lowest cluster wins.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from evidentia.belief import transforms
from evidentia.belief.focal import FocalSets

TIE = 1e-10
FEW = 8  # columns
RULES = ("plausibility", "belief", "pignistic", "mass")
SET_RULES = ("belief", "mass", "interval-dominance", "cautious")
ASSIGNED = 0.6  # belief at which 95 % of the objects are right on known mixtures, see docs/results/truth.md


def decide(
    masses: np.ndarray, focal_sets: FocalSets, rule: str = "plausibility", reject: float | None = None
) -> np.ndarray:
    r"""One cluster for each object.

    Parameters
    ----------
    masses : ndarray of shape (n_samples, n_focal)
        One mass function a row.
    focal_sets : FocalSets
        What the columns stand for.
    rule : {"plausibility", "belief", "pignistic", "mass"}
        The cluster with the highest plausibility, belief or pignistic probability; each of them, and the
        score below, is divided by :math:`1 - m(\varnothing)`. ``"mass"`` takes the focal set with the largest
        mass (see :func:`top_focal_set`) and in it the most plausible cluster; its score is the mass of that
        set.
    reject : float between 0 and 1, optional
        Objects whose winning score is below it are rejected, and so are those with their largest mass on the
        empty set. ``None`` forces a decision on everyone, even with nothing but the empty set to decide
        from (cluster 0 then), except that rule ``"mass"`` rejects objects whose top set is empty.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        A cluster number, or -1 where rejected. Ties go to the lowest number.

    Examples
    --------
    >>> masses = np.array([[0.0, 0.1, 0.3, 0.6], [0.5, 0.3, 0.1, 0.1]])
    >>> decide(masses, FocalSets(2)), decide(masses, FocalSets(2), reject=0.5)
    (array([1, 0]), array([ 1, -1]))
    >>> decide(masses, FocalSets(2), "belief", reject=0.5)  # belief in cluster 1 is only 0.3
    array([-1, -1])
    """
    if rule not in RULES:
        raise ValueError(f"The decision 'rule' must be one of {', '.join(RULES)}. Got {rule!r}.")
    if reject is not None and not 0 <= reject <= 1:
        raise ValueError(f"'reject' must be None or lie between 0 and 1. Got {reject!r}.")
    if rule == "mass" or reject is not None:  # of a million rows, as long as all the rest
        top = top_focal_set(masses, focal_sets)
        outlier = focal_sets.card[top] == 0
    if rule == "mass":
        within = transforms.contour(masses, focal_sets) * focal_sets.member[top]
        labels = _first_best(within)
        winner = np.take_along_axis(masses, top[:, None], axis=1)
        score = _nonempty_shares(winner, masses, focal_sets)
        labels[outlier] = -1
    else:
        score_of = {
            "plausibility": transforms.contour,
            "belief": transforms.singleton_belief,
            "pignistic": transforms.pignistic,
        }[rule]
        scores = score_of(masses, focal_sets)
        if rule != "pignistic":
            scores = _nonempty_shares(scores, masses, focal_sets)
        labels = _first_best(scores)
        score = scores
    if reject is not None:
        labels[outlier | (_largest(score) < reject - TIE)] = -1
    return labels


def decide_sets(
    masses: np.ndarray,
    focal_sets: FocalSets,
    rule: str = "mass",
    cautiousness: float = 0.5,
    level: float = ASSIGNED,
) -> np.ndarray:
    r"""A set of clusters for each object: those that it may well belong to.

    Parameters
    ----------
    masses : ndarray of shape (n_samples, n_focal)
        One mass function a row.
    focal_sets : FocalSets
        What the columns stand for.
    rule : {"belief", "mass", "interval-dominance", "cautious"}
        ``"mass"``: the focal set with the largest mass (see :func:`top_focal_set`).
        ``"belief"``: the same, but a single cluster only if the belief in it reaches ``level``, see
        :func:`believed_sets`.
        ``"interval-dominance"``: every cluster that no other surely beats,
        :math:`Pl(\{k\}) \ge \max_l Bel(\{l\})`; the mass of the empty set has no say.
        ``"cautious"``: a dial between the most plausible cluster and interval dominance,
        :math:`Pl(\{k\}) \ge \gamma \max_l Bel(\{l\}) + (1 - \gamma) \max_l Pl(\{l\})`.
    cautiousness : float between 0 and 1
        The dial :math:`\gamma` of rule ``"cautious"``: 0 keeps the most plausible cluster (and its equals),
        1 is interval dominance. The set never shrinks as it grows.
    level : float between 0 and 1
        Least belief in a single cluster, of rule ``"belief"``.

    Returns
    -------
    sets : ndarray of bool, shape (n_samples, n_clusters)
        An impossible cluster (no plausibility) is in no set. An empty row is an outlier: its top set is empty
        (``"mass"``, ``"belief"``), or all of its mass is on the empty set (the other rules).

    Examples
    --------
    >>> masses = np.array([[0.0, 0.2, 0.3, 0.5]])  # plausibilities 0.7 and 0.8
    >>> decide_sets(masses, FocalSets(2)), decide_sets(masses, FocalSets(2), "cautious", 0.1)
    (array([[ True,  True]]), array([[False,  True]]))
    """
    if rule not in SET_RULES:
        raise ValueError(f"The set-valued 'rule' must be one of {', '.join(SET_RULES)}. Got {rule!r}.")
    if not 0 <= cautiousness <= 1:
        raise ValueError(f"'cautiousness' must lie between 0 and 1. Got {cautiousness!r}.")
    if rule == "belief":
        return believed_sets(masses, focal_sets, level)[:, None] >> np.arange(focal_sets.n_clusters) & 1 > 0
    if rule == "mass":
        return focal_sets.member[top_focal_set(masses, focal_sets)] > 0
    gamma = 1.0 if rule == "interval-dominance" else cautiousness
    plausible = _nonempty_shares(transforms.contour(masses, focal_sets), masses, focal_sets)
    believed = _nonempty_shares(transforms.singleton_belief(masses, focal_sets), masses, focal_sets)
    bar = gamma * believed.max(axis=1, keepdims=True) + (1 - gamma) * plausible.max(axis=1, keepdims=True)
    return (plausible >= bar - TIE) & (plausible > 0)


def believed_sets(masses: np.ndarray, focal_sets: FocalSets, level: float = ASSIGNED) -> np.ndarray:
    """Return the set of each object as a mask: a single cluster only if the belief in it reaches ``level``.

    The set of largest mass (see :func:`top_focal_set`). Where that is a single cluster with less than ``level``, it is
    united with the sets of next largest mass until together they hold ``level``; the empty set then counts as all
    clusters. So objects fall into three kinds: *assigned* to one cluster, *ambiguous* between several, *outliers* with
    more mass on the empty set than on any other. With one cluster there is nothing to be ambiguous between.

    Returns
    -------
    masks : ndarray of shape (n_samples,)
        Bit ``k`` is set when cluster ``k`` is in the set; 0 for an outlier.

    Examples
    --------
    >>> masses = np.array([[0.0, 0.8, 0.1, 0.1], [0.0, 0.5, 0.5, 0.0], [0.4, 0.3, 0.3, 0.0]])
    >>> believed_sets(masses, FocalSets(2), level=0.7)  # {0}, then {0,1}, then the empty set
    array([1, 3, 0])
    """
    if not 0 <= level <= 1:
        raise ValueError(f"'level' must lie between 0 and 1. Got {level!r}.")
    top = top_focal_set(masses, focal_sets)
    found = focal_sets.masks[top]
    largest = np.take_along_axis(masses, top[:, None], axis=1)[:, 0]
    weak = np.flatnonzero((focal_sets.card[top] == 1) & (largest < level - TIE))
    if len(weak):
        canonical = np.lexsort((focal_sets.masks, focal_sets.card))  # the smaller set first, where masses are equal
        held = masses[weak][:, canonical]
        order = np.argsort(-np.round(held, 10), axis=1, kind="stable")
        whole = (1 << focal_sets.n_clusters) - 1
        masks = np.where(focal_sets.card == 0, whole, focal_sets.masks)[canonical]
        enough = np.cumsum(np.take_along_axis(held, order, axis=1), axis=1) >= level - TIE
        unions = np.bitwise_or.accumulate(masks[order], axis=1)
        found[weak] = np.take_along_axis(unions, enough.argmax(axis=1)[:, None], axis=1)[:, 0]
    return found


def top_focal_set(masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    """Position of the focal set with the largest mass; among equals the smallest set, then the lowest mask.

    Examples
    --------
    >>> top_focal_set(np.array([[0.4, 0.2, 0.4]]), FocalSets(2, [{0, 1}, {0}, {1}]))
    array([2])
    """
    order = np.lexsort((focal_sets.masks, focal_sets.card))
    largest = masses >= _largest(masses)[:, None] - TIE
    return order[largest[:, order].argmax(axis=1)]


def _nonempty_shares(scores: np.ndarray, masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    """Scores as shares of the mass outside the empty set; zero when there is none."""
    rest = (masses @ (focal_sets.card > 0).astype(float))[:, None]
    return np.divide(scores, rest, out=np.zeros_like(scores), where=rest > 0)


def _first_best(scores: np.ndarray) -> np.ndarray:
    return (scores >= _largest(scores)[:, None] - TIE).argmax(axis=1)


def _largest(scores: np.ndarray) -> np.ndarray:
    """Of each row; column by column, which for few columns is much faster than row by row."""
    return scores.max(axis=1) if scores.shape[1] > FEW else reduce(np.maximum, scores.T)
