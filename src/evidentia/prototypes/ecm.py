"""Evidential c-means (Masson & Denœux, 2008), Euclidean or with an adaptive metric (Antoine et al., 2012)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax

from evidentia import _streaming
from evidentia._base import ALPHA, RHO, focal_families
from evidentia._data import Data
from evidentia._parameters import BOOLEAN, Integer, param
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.methods import Method
from evidentia.prototypes._base import SHAPES, Iteration, PrototypeClusterer, ScaledObjects, Solution, value_at_end
from evidentia.prototypes._kernel import Criterion, DistanceCosts, MassBlock, Prototypes, block_masses, descent_step
from evidentia.rows.source import RowSource
from evidentia.solvers.descent import Run
from evidentia.solvers.overlap import is_automatic, is_near_pairs, near_pair_sets, shared_sets

ALL_FAMILIES = ("auto", "full", "pairs", "simple", "singletons", "near-pairs")
LEAST = 0.2  # objects in a set of clusters: one of odds one to four is enough


def first_sets(focal_sets: Any, n_clusters: int, *, empty: bool) -> FocalSets:
    """Return the focal sets of the first fit: single clusters where the others are left to it.

    The whole frame is not among them then: its barycenter would make the middle cluster near to all.
    """
    if is_automatic(focal_sets) or is_near_pairs(focal_sets):
        return FocalSets(n_clusters, "singletons")
    return resolve_focal_sets(focal_sets, n_clusters, empty=empty)


def shared_plausibility(objects: ScaledObjects, prototypes: Prototypes, criterion: Criterion) -> np.ndarray:
    """Return the similarity of the clusters, ``Pl.T @ Pl`` (c, c): how far the same objects are plausible in both."""
    member = criterion.focal_sets.member
    similarity = np.zeros((member.shape[1], member.shape[1]))
    for block in block_masses(objects.rows, DistanceCosts(prototypes, criterion)):
        plausible = member.T @ block.masses
        similarity += (objects.weight[block.rows] * plausible) @ plausible.T
    return similarity


def overlapping_sets(blocks: Iterable[MassBlock], family: FocalSets, weight: np.ndarray, width: float) -> FocalSets:
    """Return the empty set, single clusters, and the sets of clusters that overlap, of a fit without larger sets.

    They overlap if Gaussians of one volume would: those around the centers, in their metrics, with the mean squared
    distance from the nearest center for their variance. Outliers have no part in it. The objects have ``width``
    dimensions.
    """
    kept = list(blocks)
    inside = np.concatenate([block.masses.argmax(axis=0) != family.empty_index for block in kept])
    distance = np.concatenate([block.cost[family.singleton_index] for block in kept], axis=1)[:, inside]
    weight = weight[inside]
    if not weight.any():
        return family
    variance = np.average(np.maximum(distance.min(axis=0), np.finfo(float).tiny), weights=weight)
    return shared_sets(softmax(-width / 2 * distance / variance, axis=0).T, weight, least=LEAST).with_empty()


def add_sets(
    choice: Any,
    n_near: int,
    minimize: Callable[..., tuple[Run, list[Run]]],
    step: Iteration,
    objects: ScaledObjects,
    criterion: Criterion,
    best: Run,
) -> tuple[Criterion, Run]:
    """Return the criterion and the run after the sets that ``focal_sets="near-pairs"`` or ``"auto"`` adds to a fit."""
    if is_near_pairs(choice):
        similarity = shared_plausibility(objects, best.state, criterion)
        criterion = replace(criterion, focal_sets=near_pair_sets(similarity, n_near, empty=True))
        best, _ = minimize(step, objects, criterion, [best.state])
    elif is_automatic(choice):
        # With free centers larger sets would take the places of clusters, as they may in any other family.
        blocks = block_masses(objects.rows, DistanceCosts(best.state, criterion))
        width = float(np.count_nonzero(np.ptp(objects.rows, axis=1)))
        family = overlapping_sets(blocks, criterion.focal_sets, objects.weight, width)
        criterion = replace(criterion, focal_sets=family)
        best = value_at_end(best, step(objects.chunks, objects.total, criterion, best.state)[0])
    return criterion, best


def pairs_among(focal_sets: FocalSets) -> list[tuple[int, int]]:
    """Return the pairs of clusters that are focal sets."""
    return [(min(subset), max(subset)) for subset in focal_sets if len(subset) == 2]


class ECM(PrototypeClusterer):
    r"""Evidential c-means [1]_: every object has a mass function over sets of clusters.

    .. math::
        J = \sum_i \Big[ \sum_{A \neq \varnothing} |A|^{\alpha} m_i(A)^{\beta} \|x_i - \bar v_A\|^2
            + \rho^2 m_i(\varnothing)^{\beta} \Big], \qquad \bar v_A = \frac{1}{|A|} \sum_{k \in A} v_k

    An object near a center gets its mass on that cluster, one between two centers on the pair of them, and one far from
    everything on the empty set. Clusters may have metrics of their own [2]_. By default only clusters that
    overlap share sets.

    Attributes
    ----------
    criterion_trace_ : ndarray
        J after each iteration; it never rises. It is the plain sum above, not divided by the number of masses. With
        automatic sets the last value is over them, the others over single clusters.
    start_criteria_ : ndarray
        J at the end of every start (over single clusters for ``"auto"`` and ``"near-pairs"``).

    Notes
    -----
    An iteration costs two products of n × p by p × f matrices and n f powers for f focal sets (2**n_clusters for
    ``"full"``), in blocks of rows; for the adaptive metrics p becomes p²/2, plus a linear system of n_clusters × p
    unknowns. Memory beyond one copy of the table does not grow with n until the masses, n × f, are written at the end.

    The published masses are those of the published centers, so ``predict_partition`` of the training rows repeats
    ``partition_``. With ``adaptive`` a share of 1e-8 of the variance of the table is mixed into the covariances, so a
    cluster may be flat; its part in the criterion is as small.

    References
    ----------
    .. [1] M.-H. Masson, T. Denœux. ECM: an evidential version of the fuzzy c-means algorithm.
       Pattern Recognition 41(4):1384-1397, 2008.
    .. [2] V. Antoine, B. Quost, M.-H. Masson, T. Denœux. CECM: Constrained evidential c-means algorithm.
       Computational Statistics & Data Analysis 56(4):894-914, 2012.

    Examples
    --------
    Two groups, an object halfway between them, and one far away.

    >>> X = [[-5, 0], [-3, 2], [-3, 0], [-3, -2], [-1, 0], [0, 0], [1, 0], [3, 2], [3, 0], [3, -2], [5, 0], [0, 12]]
    >>> model = ECM(n_clusters=2, rho=5, random_state=0).fit(X)
    >>> print(model.partition_)
    It cannot be told whether there are groups: a table of 12 objects is too small.
    12 objects in 2 clusters
       8 ( 67 %) assigned to one cluster      {0}: 4, {1}: 4
       3 ( 25 %) ambiguous between clusters   {0,1}: 3
       1 (  8 %) outliers, in none of them
    Assigned: belief of 0.6 or more. ...
    >>> model.partition_.outliers(), model.predict([[-4, 1]]) == model.labels_[0]
    (array([11]), array([ True]))
    """

    method = Method(
        name="ecm", title="evidential c-means with outliers, Euclidean or with a metric per cluster",
        papers=("Masson & Denœux, *Pattern Recognition* 41, 2008", "Antoine et al., *CSDA* 56, 2012"), guide="ecm",
        takes=("weights", "rows beyond memory"), families=ALL_FAMILIES, empty_set=True,
        grows="*n p f* (*n p² f* with a metric per cluster)", memory="*n f*", doubt="sets, outliers",
        limit="`alpha`, `beta`, `rho` are yours to choose",
        as_in_paper='ECM(c, focal_sets="full", rho=10, init="random", n_init=1)',
        differs="The paper leaves `rho`, its delta, to the user; articles that compare with ECM take 10 or 5. From "
        'four clusters on some take `focal_sets="near-pairs"`. `adaptive=True` is the metric of the second paper.',
    )  # fmt: skip

    focal_sets: Any = param(
        focal_families(*ALL_FAMILIES),
        """Sets of clusters that may hold mass; all named families have the empty set. ``"auto"`` fits single clusters
        and the empty set, then lays over them the sets of clusters that overlap: the clusters stay where they are, and
        masses are found anew. ``"full"`` is the family of the paper. ``"near-pairs"`` begins with single clusters too,
        then adds the pairs of clusters that are among each other's ``n_near`` most similar ones (Denœux et al., 2016),
        and the set of all, and goes on.""",
        default="auto",
    )
    alpha: float = param(ALPHA, "Penalty of larger sets: the larger, the fewer are ambiguous.", default=1.0)
    rho: Any = param(
        RHO,
        """Distance of every object to the empty set, in the units of X (often called delta): the smaller, the more
        outliers. ``"auto"`` is three times the root mean squared distance to the nearest center of a k-means solution;
        with ``adaptive``, of a Gustafson-Kessel solution begun there, in its own metric. The same value serves all
        starts.""",
        default="auto",
    )
    adaptive: bool = param(
        BOOLEAN,
        """Learn a Mahalanobis metric of determinant one for each cluster (Antoine et al., 2012), so that clusters may
        be elongated; that of a set is the mean of those of its clusters. The result then does not depend on the units
        of the columns.""",
        default=False,
    )
    n_near: int = param(Integer(low=1), 'Neighbors of a cluster that ``"near-pairs"`` looks at.', default=2)

    attributes = {
        "rho_": "float or None\nDistance to the empty set that was used; None without the empty set.",
        "pairs_": "list of (int, int)\nPairs of clusters among the focal sets.",
        **SHAPES,
    }

    partial_fit = _streaming.partial_fit
    _keeps_single = True

    def _fit(self, data: Data[RowSource]) -> None:
        objects = self._read_objects(data.rows)
        starts = self._draw_starts(objects, data.rng)
        family = first_sets(self.focal_sets, self.n_clusters, empty=True)
        rho = None
        if family.empty_index is not None:
            rho = self._given_rho(objects) or self._kmeans_rho(objects, starts, data.rng)
        criterion = Criterion(family, self.alpha, self.beta, rho)
        best, runs = self._minimize(descent_step, objects, criterion, starts)  # masses, centers, then metrics
        if not runs[-1].interrupted:
            criterion, best = add_sets(
                self.focal_sets, self.n_near, self._minimize, descent_step, objects, criterion, best
            )
        self._store_solution(objects, Solution(best.state, criterion), best, runs)
        self.pairs_ = pairs_among(self.focal_sets_)
