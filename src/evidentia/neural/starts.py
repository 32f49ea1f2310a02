"""Masses that a network learns before the loss itself counts: given ones, or the solution of EVCLUS."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.neural.problem import SAMPLE, Problem
from evidentia.relational.cevclus import CEVCLUS
from evidentia.solvers.descent import InterruptedFit


@dataclass(frozen=True)
class StartMasses:
    """Masses of some objects, which a network learns first."""

    objects: np.ndarray
    masses: np.ndarray


def solve_without_network(
    problem: Problem, focal_sets: FocalSets, xi: float, rng: np.random.RandomState
) -> StartMasses:
    """The solution of EVCLUS, or of CEVCLUS when there are links, on at most 1,000 objects and on the linked ones.

    Masses that no network binds are easy to find: an object of a link can change its cluster without its neighbors.
    """
    objects, links = problem.train, problem.constraints
    if len(objects) > SAMPLE:
        linked = np.intersect1d(problem.knowledge.rows, objects)[:SAMPLE]
        objects = np.union1d(linked, rng.choice(objects, SAMPLE, replace=False))
    kept = np.isin(links.pairs, objects).all(axis=1)
    places = np.searchsorted(objects, links.pairs[kept])
    model = CEVCLUS(
        focal_sets.n_clusters, focal_sets=focal_sets, xi=xi, metric="precomputed", delta0=None, random_state=rng
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be at rest
        warnings.simplefilter("error", InterruptedFit)
        try:
            model.fit(
                problem.target_conflict(objects),
                constraints=PairwiseConstraints(places, links.must[kept], links.certainty[kept]),
            )
        except InterruptedFit as interrupt:
            raise KeyboardInterrupt from interrupt
    return StartMasses(objects, model.partition_.masses)
