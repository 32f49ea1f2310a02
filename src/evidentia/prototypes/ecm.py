"""Evidential c-means (Masson & Denœux, 2008), Euclidean or with an adaptive metric (Antoine et al., 2012)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import softmax

from evidentia._base import ALPHA, RHO, focal_families
from evidentia._parameters import BOOLEAN, Integer, param
from evidentia.belief import FocalSets
from evidentia.methods import Method
from evidentia.prototypes._base import SHAPES, Objects, PrototypeClusterer, Solution
from evidentia.prototypes._kernel import Criterion, Prototypes, block_masses
from evidentia.prototypes._streaming import StreamingMeans
from evidentia.solvers.descent import Run
from evidentia.solvers.overlap import is_automatic, is_near_pairs, near_pair_sets, shared_sets

ALL_FAMILIES = ("auto", "full", "pairs", "simple", "singletons", "near-pairs")
LEAST = 0.2  # objects in a set of clusters: one of odds one to four is enough


def shared_plausibility(objects: Objects, solution: Solution) -> np.ndarray:
    """Similarity of the clusters, ``Pl.T @ Pl`` (c, c): how far the same objects are plausible in both."""
    member = solution.criterion.focal_sets.member
    similarity = np.zeros((member.shape[1], member.shape[1]))
    for block, _, _, masses, _ in block_masses(objects.rows, solution.prototypes, solution.criterion):
        plausible = member.T @ masses
        similarity += (objects.weight[block] * plausible) @ plausible.T
    return similarity


def overlapping_sets(objects: Objects, solution: Solution) -> FocalSets:
    """The empty set, single clusters, and the sets of clusters that overlap, of a fit without larger sets.

    They overlap if Gaussians of one volume would: those around the centers, in their metrics, with the mean squared
    distance from the nearest center for their variance. Outliers have no part in it.
    """
    blocks = block_masses(objects.rows, solution.prototypes, solution.criterion)
    width = float(np.count_nonzero(np.ptp(objects.rows, axis=1)))
    return overlap_of(blocks, solution.criterion.focal_sets, objects.weight, width)


def overlap_of(blocks: Iterable[Any], family: FocalSets, weight: np.ndarray, width: float) -> FocalSets:
    """The same from costs and masses, block by block, of objects in so many dimensions."""
    found = list(blocks)
    inside = np.concatenate([masses.argmax(axis=0) != family.empty_index for _, _, _, masses, _ in found])
    distance = np.concatenate([cost[family.singleton_index] for _, _, cost, _, _ in found], axis=1)[:, inside]
    weight = weight[inside]
    if not weight.any():
        return family
    variance = np.average(np.maximum(distance.min(axis=0), np.finfo(float).tiny), weights=weight)
    return shared_sets(softmax(-width / 2 * distance / variance, axis=0).T, weight, least=LEAST).with_empty()


class EvidentialMeans(PrototypeClusterer):
    """Base of the methods on the plain criterion of evidential c-means, over any family of sets."""

    focal_sets: Any = param(
        focal_families(*ALL_FAMILIES),
        """Sets of clusters that may hold mass; all named families have the empty set. ``"auto"`` fits single clusters
        and the empty set, then lays over them the sets of clusters that overlap: the clusters stay where they are, and
        masses are found anew. ``"full"`` is the family of the paper. ``"near-pairs"`` begins with single clusters too,
        then adds the pairs of clusters that are among each other's ``n_near`` most similar ones (Denœux et al., 2016),
        and the set of all, and goes on.""",
        default="auto",
    )
    alpha: float = param(ALPHA, "Penalty of larger sets: the larger, the fewer objects are torn.", default=1.0)
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

    def _family(self, n_clusters: int) -> FocalSets:
        if is_automatic(self.focal_sets) or is_near_pairs(self.focal_sets):
            # Not yet the whole frame: its barycenter would make the middle cluster near to all.
            return FocalSets(n_clusters, "singletons")
        return super()._family(n_clusters)

    def _search(
        self, objects: Objects, criterion: Criterion, starts: list[Prototypes]
    ) -> tuple[Solution, Run, list[Run]]:
        solution, best, runs = super()._search(objects, criterion, starts)
        if runs[-1].interrupted:
            return solution, best, runs
        if is_near_pairs(self.focal_sets):
            similarity = shared_plausibility(objects, solution)
            finer = replace(criterion, focal_sets=near_pair_sets(similarity, self.n_near, empty=True))
            solution, best, _ = super()._search(objects, finer, [solution.prototypes])
        if is_automatic(self.focal_sets):
            # With free centers larger sets would take the places of clusters, as they may in any other family.
            finer = replace(criterion, focal_sets=overlapping_sets(objects, solution))
            lowest, _ = self._step(objects, finer)(solution.prototypes)
            solution, best = replace(solution, criterion=finer), replace(best, trace=np.append(best.trace[:-1], lowest))
        return solution, best, runs

    def _settle(self, objects: Objects, solution: Solution) -> np.ndarray:
        order = super()._settle(objects, solution)
        self.pairs_ = [(min(subset), max(subset)) for subset in self.focal_sets_ if len(subset) == 2]
        return order


class ECM(StreamingMeans, EvidentialMeans):
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
    12 objects in 2 clusters
       8 ( 67 %) sure of one cluster       {0}: 4, {1}: 4
       3 ( 25 %) torn between clusters     {0,1}: 3
       1 (  8 %) outliers, in none of them
    Nonspecificity 0.36 on average ...
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
