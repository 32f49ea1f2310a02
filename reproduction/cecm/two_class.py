"""Two-class: four Gaussians on a square, of which the two on the left are one class and those on the right another."""

from __future__ import annotations

from time import process_time

import numpy as np
from sklearn.metrics import rand_score

from evidentia.constraints import PairwiseConstraints
from evidentia.datasets import Dataset, make_cecm_two_class
from evidentia.prototypes import CECM, ECM
from reproduction.cecm.trials import draw_links, labels
from reproduction.exhibit import Result

RHO = 10.0  # the paper's ρ² = 100
MIDDLE = 3.5  # between the classes
RIGHT = 0.97  # Rand index from which the partition is the right one
MOST_TRIES = 50


def points(seed: int, draw: int) -> Dataset:
    return make_cecm_two_class(random_state=np.random.RandomState([seed, draw]))


def without_links(data: Dataset, metric: str, seed: int) -> ECM:
    return ECM(
        2, focal_sets="full", adaptive=metric == "mahalanobis", alpha=1, rho=RHO, n_init=10, random_state=seed
    ).fit(data.data)


def with_links(data: Dataset, links: PairwiseConstraints, seed: int) -> CECM:
    return CECM(2, adaptive=True, rho=RHO, random_state=seed).fit(data.data, constraints=links)


def turned(seed: int) -> Dataset:
    """Points for which the adaptive metric without links prefers the wrong one of its two boundaries, as in Figure 4.

    The square is symmetric: left against right and top against bottom fit equally well, and which has the lower
    criterion is the chance of a draw.
    """
    for draw in range(MOST_TRIES):
        data = points(seed, draw)
        if rand_score(data.target, labels(without_links(data, "mahalanobis", seed))) < RIGHT:
            return data
    raise RuntimeError(f"All of {MOST_TRIES} draws had the right boundary without links.")


def many_points(n_links: int, first: int, trials: int, seed: int) -> Result:
    """Rand indices over draws of the points: without links, with links, and of the boundary half way."""
    found: dict[str, list[float]] = {"euclidean": [], "mahalanobis": [], "linked": [], "middle": []}
    begun = process_time()
    for draw in range(first, first + trials):
        data = points(seed, draw)
        links = draw_links(data.target, n_links, seed, draw)
        answers = {
            **{metric: labels(without_links(data, metric, draw)) for metric in ("euclidean", "mahalanobis")},
            "linked": labels(with_links(data, links, draw)),
            "middle": data.data[:, 0] > MIDDLE,
        }
        for name, answer in answers.items():
            found[name].append(float(rand_score(data.target, answer)))
    return {**found, "seconds": process_time() - begun}


def many_links(n_links: int, first: int, trials: int, seed: int) -> Result:
    """Rand indices over draws of the links, for points whose partition without links is wrong."""
    begun = process_time()
    data = turned(seed)
    rand = []
    for trial in range(first, first + trials):
        model = with_links(data, draw_links(data.target, n_links, seed, trial), trial)
        rand.append(float(rand_score(data.target, labels(model))))
    return {"rand": rand, "seconds": process_time() - begun}


def pictures(n_links: int, seed: int) -> Result:
    """Points, links, and the sets of the three partitions of Figures 3 to 5."""
    begun = process_time()
    data = turned(seed)
    links = draw_links(data.target, n_links, seed, 0)
    models = {
        "ECM, Euclidean": without_links(data, "euclidean", seed),
        "ECM, adaptive metric": without_links(data, "mahalanobis", seed),
        f"CECM, adaptive metric, {n_links} links": with_links(data, links, seed),
    }
    return {
        "points": data.data.round(3).tolist(),
        "truth": data.target.tolist(),
        "pairs": links.pairs.tolist(),
        "must": links.must.tolist(),
        "sets": {name: model.partition_.hard_masks.tolist() for name, model in models.items()},
        "centers": {name: model.cluster_centers_.round(3).tolist() for name, model in models.items()},
        "rand": {name: float(rand_score(data.target, labels(model))) for name, model in models.items()},
        "seconds": process_time() - begun,
    }
