"""What every fit must keep, and what some methods do not claim, each with the reason."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import pdist

from evidentia.dissimilarities import make_source

from .problem import ESTIMATORS, METRICS, MOVABLE, PER_ROW, PLACES, ROW_NUMBERS, Problem, answer
from .settings import DRAWN, kinds

SUM = 1e-12  # how far masses may be from adding up to one
RISE = 1e-12  # of the largest value in a trace, and of one in likelihoods: how much it may get worse
APART = 1e-6  # how far masses of two fits may be apart that should be the same
NUDGES = 20, 60  # tries to move the result by rounding, where it stays and where it moves a little
EPS = float(np.finfo(float).eps)


class Broken(Exception):
    """A law does not hold."""


class Undecided(Exception):
    """Rounding errors alone move the result as far: the table is where the search could go either way."""


def refusal(problem: Problem, error: Exception) -> None:
    """A refusal is a sentence that names the method, its argument or its parameter."""
    given = [type(value).__name__ for value in problem.settings.values()]  # of a learner that is part of it
    known = [problem.cls.__name__, *problem.cls.parameters, "sample_weight", "constraints", "links", *given]
    words = str(error)
    ours = type(error).__module__.startswith("evidentia.") and isinstance(error, ValueError)
    if type(error) not in (ValueError, TypeError, MemoryError) and not ours:
        raise Broken(f"raw error, {type(error).__name__}: {error}") from error
    if len(words) < 30 or not re.search(rf"\bX\b|\by\b|\b({'|'.join(known)})\b", words):
        raise Broken(f"a refusal that says too little: {words}") from error


# -- of one fit -------------------------------------------------------------------------------------------------------


def valid(problem: Problem, model: Any) -> None:
    """Masses are not negative and add up to one; labels are those of the partition; a metric is finite."""
    if problem.cls.method.learner:
        if not np.isfinite(model.transform(problem.X)).all():
            raise Broken("the transformed rows are not finite")
        return
    masses = model.partition_.masses
    if masses.shape != (len(problem.X), len(model.focal_sets_)) or not np.isfinite(masses).all():
        raise Broken("masses are not finite, or not one for each row and set")
    if masses.min() < 0 or np.abs(masses.sum(axis=1) - 1).max() > SUM:
        raise Broken(f"masses from {masses.min():g}, off one by {np.abs(masses.sum(axis=1) - 1).max():g}")
    if not claimed("labels", problem) and not np.array_equal(model.labels_, model.partition_.labels()):
        raise Broken("labels_ are not those of partition_")


def _rounded_squares(problem: Problem, model: Any) -> float:
    """What rounding leaves of squares about the mean of the table, by covariances of clusters: EGMM sums these."""
    if problem.cls.method.name != "egmm":
        return 0.0
    moved = np.nan_to_num(problem.X - np.nanmean(problem.X, axis=0))
    squares = max(np.einsum("ij,jk,ik->", moved, np.linalg.pinv(one), moved) for one in model.covariances_)
    return 2 * np.finfo(float).eps * squares


def descends(problem: Problem, model: Any) -> None:
    """The trace of the criterion goes one way."""
    way = {"minimized": 1.0, "maximized": -1.0, None: 0.0}[problem.cls.method.criterion]
    trace = way * np.asarray(getattr(model, "criterion_trace_", []))
    if not np.isfinite(trace).all():
        raise Broken("the trace of the criterion is not finite")
    if (np.diff(trace) > RISE * np.abs(trace).max(initial=float(way < 0)) + _rounded_squares(problem, model)).any():
        at = int(np.argmax(np.diff(trace)))
        raise Broken(f"the criterion gets worse, from {way * trace[at]!r} to {way * trace[at + 1]!r}")


def predicts(problem: Problem, model: Any) -> None:
    """Rows that were fitted have the masses of the fit when they are given again."""
    if not hasattr(model, "predict_partition"):
        return
    again = model.predict_partition(problem.X).masses
    if not np.abs(again - model.partition_.masses).max() <= APART:
        raise Broken(f"predicted masses differ by {np.abs(again - model.partition_.masses).max():g} from the fit's")


ONE_FIT: dict[str, Callable[[Problem, Any], None]] = {"valid": valid, "descends": descends, "predicts": predicts}


# -- of two fits ------------------------------------------------------------------------------------------------------


class Two(NamedTuple):
    """Two problems with one solution: row ``i`` of the second is row ``rows[i]`` of the first.

    The second may be refused where it has other numbers, or other shares of rows that are far out; its rounding errors
    are those of values farther out by ``offset``.
    """

    one: Problem
    other: Problem
    rows: np.ndarray
    may_refuse: bool = False
    offset: np.ndarray | float = 0.0


def same_bits(problem: Problem, rng: Generator) -> Two:
    return Two(problem, problem, np.arange(len(problem.X)))


def order(problem: Problem, rng: Generator) -> Two:
    """The order of rows does not matter, once the starts are given."""
    moved = rng.permutation(len(problem.X))
    given = started(problem, rng)
    return Two(given, given.rows(moved), moved)


def units(problem: Problem, rng: Generator) -> Two:
    """A power of two is exact."""
    factor = 2.0 ** int(rng.integers(-60, 61))
    if problem.cls.method.name == "cecm":  # the odds of its xi grow with the square, and next to one it has no digits
        factor = min(factor, 1 / factor)
    return Two(problem, problem.scaled(factor), np.arange(len(problem.X)), True)


def origin(problem: Problem, rng: Generator) -> Two:
    """An offset of up to a thousand times the spread of a column."""
    spread = np.nanmax(problem.X, axis=0) - np.nanmin(problem.X, axis=0)
    offset = spread * rng.choice([-1, 1], size=spread.shape) * 10 ** rng.uniform(-1, 3)
    offset = np.where(np.isfinite(offset), offset, 0.0)
    return Two(problem, problem.moved(offset), np.arange(len(problem.X)), True, offset)


def copies(problem: Problem, rng: Generator) -> Two:
    """An object of weight two counts as two; a link is to one object, so those that are linked have weight one."""
    weight = rng.integers(1, 4, size=len(problem.X))
    if "constraints" in problem.more:
        weight[np.unique(problem.more["constraints"].pairs)] = 1
    plain = started(problem, rng)
    plain = replace(plain, more={name: value for name, value in plain.more.items() if name != "sample_weight"})
    rows = np.repeat(np.arange(len(problem.X)), weight)
    return Two(replace(plain, more={**plain.more, "sample_weight": weight * 1.0}), plain.rows(rows), rows, True)


TWO_FITS: dict[str, Callable[[Problem, Generator], Two]] = {
    "same bits": same_bits, "order": order, "units": units, "origin": origin, "copies": copies,
}  # fmt: skip


def started(problem: Problem, rng: Generator) -> Problem:
    """With a start that is given, where the method takes one, and nothing left that would be drawn from rows."""
    settings = {name: value for name, value in problem.settings.items() if name not in ("n_groups", "n_pairs")}
    if settings.get("reduce") == "pca":
        del settings["reduce"]  # it compares with shuffled columns
    c = settings.get("n_clusters")
    if "init" in problem.cls.parameters and isinstance(c, int):
        for one in kinds(problem.cls.parameters["init"].check):
            if one.words in (*PER_ROW, *PLACES, *ROW_NUMBERS):
                settings["init"] = DRAWN[one.words](rng, problem.X, c)
        if "rho" in problem.cls.parameters and problem.X.dtype != object:  # else from a start that is drawn
            settings["rho"] = float(np.nanstd(problem.X)) or 1.0
    return replace(problem, settings=settings)


def compare(two: Two, rng: Generator, *, exact: bool = False, known: Any = None) -> int:
    """Fit both; gives the number of fits. Where the first problem was fitted before, bits are the same."""
    first = two.one.fit()
    expected = answer(first, two.one)
    if known is not None and not np.array_equal(answer(known, two.one), expected):
        raise Broken("the same seed gives masses that differ")
    expected = expected[..., two.rows[:, None], two.rows]
    second = None
    try:
        second = two.other.fit()
        found = answer(second, two.other)
    except (ValueError, TypeError, MemoryError) as error:
        refusal(two.other, error)
        if two.may_refuse:
            raise
        found = np.full_like(expected, np.inf)
    apart = np.abs(found - expected).max()
    if exact and apart > 0:
        raise Broken(f"the same seed gives masses that differ by {apart:g}")
    if apart <= APART * max(1.0, expected.max()):
        return 2
    if vanished(first) or (two.one.cls.method.learner and np.isinf(apart)):
        raise Undecided  # rounding says which of two is nearer, or how many directions there are
    if second is not None and cut_short(two, first, second) <= APART:
        raise Undecided  # rounding says which step is the last
    moved = 0.0
    for tried in range(NUDGES[1]):
        if tried >= NUDGES[0] and moved <= APART:
            break
        moved = max(moved, _rounding_moves(two, expected, rng))
        if moved > min(0.05 * apart, 0.05):
            raise Undecided
    raise Broken(f"masses of pairs differ by {apart:g}, and rounding does not explain it")


def vanished(model: Any) -> bool:
    """Whether all objects sit on what represents them, or two centers coincide: rounding chooses between the two."""
    trace = np.abs(getattr(model, "criterion_trace_", [1.0]))
    if trace[-1] <= EPS * trace[0]:
        return True
    centers = getattr(model, "cluster_centers_", np.empty((0, 1)))
    return bool(pdist(centers).min(initial=np.inf) <= 1e-12 * np.abs(centers).max(initial=0))


def cut_short(two: Two, first: Any, second: Any) -> float:
    """How far the answers are apart after as many steps, where one of the descents ended before the other."""
    took = [getattr(model, "n_iter_", 0) for model in (first, second)]
    if took[0] == took[1] or not min(took) or "max_iter" not in two.one.cls.parameters:
        return np.inf
    steps = {"max_iter": min(took)}
    one, other = (replace(problem, settings={**problem.settings, **steps}) for problem in (two.one, two.other))
    return float(np.abs(answer(other.fit(), other) - answer(one.fit(), one)[..., two.rows[:, None], two.rows]).max())


def _rounding_moves(two: Two, expected: np.ndarray, rng: Generator) -> float:
    """How far the answer moves when values change by their last bits."""
    try:
        near = nudged(two, rng)
        return float(np.abs(answer(near.fit(), near)[..., two.rows[:, None], two.rows] - expected).max())
    except (ValueError, TypeError, MemoryError):
        return np.inf


def nudged(two: Two, rng: Generator) -> Problem:
    """The first problem with values that differ by their last bits, as the other's do; constants stay."""
    X = two.one.X
    if X.dtype == object:
        return two.one
    if two.one.metric == "precomputed":
        noise = rng.normal(size=X.shape) * 4 * EPS * X
        return replace(two.one, X=X + (noise + noise.T) / 2)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    size = 4 * EPS * (np.maximum(np.abs(low), np.abs(high)) + np.abs(two.offset)) * (low < high)
    settings = {
        name: value + rng.normal(size=value.shape) * size if two.one.words(name) in PLACES else value
        for name, value in two.one.settings.items()
    }
    return replace(two.one, X=X + rng.normal(size=X.shape) * size, settings=settings)


# -- what is not claimed ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exempt:
    """Laws that a method, or each of them, does not claim, always or with some settings."""

    laws: tuple[str, ...]
    methods: tuple[str, ...]
    reason: str
    when: Callable[[Problem], bool] = lambda problem: True


def _gamma_of_kernel(problem: Problem) -> bool:
    kernel, gamma = problem.settings.get("kernel", "rbf"), problem.settings.get("gamma", "scale")
    return kernel not in ("rbf", "laplacian") or gamma != "scale"


def _not_identified(problem: Problem) -> bool:
    """Whether a mixture of the categories has as many parameters as there are different rows, or has one column."""
    levels = [len({*column} - {None}) for column in problem.X.T]
    if sum(level > 1 for level in levels) < 2:
        return True
    n_clusters = problem.settings.get("n_clusters")
    if not isinstance(n_clusters, int):
        n_clusters = max(problem.settings.get("cluster_range", (1, 1)))
    n_parameters = n_clusters * (1 + sum(level - 1 for level in levels)) - 1
    return n_parameters >= len({*map(tuple, problem.X)})


def _alone_by_kernel(problem: Problem) -> bool:
    """Whether a kernel is nearly zero for three objects and all others: none of them differs from the other two."""
    gamma = problem.settings.get("gamma", "scale")
    if not isinstance(gamma, float):
        return False
    links, labels = problem.more.get("constraints"), problem.more.get("y", np.empty(0))
    known = np.flatnonzero(labels >= 0) if links is None else np.unique(links.pairs)
    rows = np.unique(problem.X[known], axis=0)
    with np.errstate(all="ignore"):
        kernel = np.exp(-gamma * np.square(rows[:, None] - rows).sum(axis=2))
    np.fill_diagonal(kernel, 0)
    return int((kernel.max(axis=1, initial=0) < 1e-8).sum()) > 2


def _tied(problem: Problem) -> bool:
    """Whether some distances between rows, by the metric, are equal but for rounding."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            source = make_source(problem.X, problem.metric, who="fuzz", contrast=False)
            distance = source.block(slice(None), slice(None))
        except ValueError:
            return False  # the method refuses it too
        distance = np.sort(distance[np.triu_indices(len(distance), 1)])
        return bool((np.diff(distance) <= 1e-9 * distance.max(initial=0)).any())


EXEMPT = (
    Exempt(("order", "units", "origin"), ("cop-kmeans", "bhc", "eknnclus", "bpec"),
           "row numbers or rounding errors choose among equal distances", _tied),
    Exempt(("order",), ("bhc",), "a gamma out of proportion makes all pairs equal", lambda p: "gamma" in p.settings),
    Exempt(("order",), ("kfda", "kpcca"), "a gamma out of proportion: some objects are alike", _alone_by_kernel),
    Exempt(("order",), ("bpec",), "of two rows that are nearest to each other either may be the peak",
           lambda problem: problem.settings.get("n_neighbors") == 1 or len(problem.X) == 2),
    Exempt(("predicts",), ("cop-kmeans",), "of two centers that are equally near either may be its own", _tied),
    Exempt(("labels",), ("bhc",), "its labels are those of the tree"),
    Exempt(("predicts",), ("bootgmm", "evclus", "cevclus", "eknnclus", "bhc"),
           "an object that is given again is compared with itself too"),
    Exempt(("order", "copies", "origin"), (), "where a center settles on an object, rounding in its distance counts",
           lambda problem: problem.settings.get("beta", 2.0) > 4),
    Exempt(("predicts",), (), "an object that is given again is shifted from itself too",
           lambda problem: problem.settings.get("shift", problem.cls.parameters.get("shift")) not in (None, 0.0)),
    Exempt(("predicts",), ("cecm", "cfcm", "cop-kmeans", "nnevclus"), "a new object has no links",
           lambda problem: "constraints" in problem.more),
    Exempt(("descends",), ("dmleig",), "Frank and Wolfe's steps may fall on the way"),
    Exempt(("descends",), ("cop-kmeans",), "with cannot-links the sum may rise", lambda p: "constraints" in p.more),
    Exempt(("units", "origin", "copies"), ("cecm",), "the learned space has its own units, and weights play no part",
           lambda problem: problem.settings.get("metric_learner") is not None),
    Exempt(("descends",), ("nnevclus",), "batches of a network's training go up and down",
           lambda problem: problem.settings.get("optimizer", "auto") not in ("auto", "lbfgs")),
    Exempt(("descends",), ("eknnclus",), "the conflict may rise where neighbors are not mutual"),
    Exempt(("descends",), ("egmm",), "a ridge may make the likelihood fall", lambda p: p.settings.get("ridge", 0) > 0),
    Exempt(("order", "copies"), ("latent-class", "bootgmm", "eknnclus", "nnevclus"), "starts are drawn by row number"),
    Exempt(("order",), ("secmdd",), "two medoids stand for their pair equally well: the first is taken"),
    Exempt(("order",), ("mecm", "wecmdd"), "either of two objects may stand for a cluster that holds no other",
           lambda problem: problem.settings.get("beta", 2.0) < 1.1),
    Exempt(("order", "origin"), ("soft-ecm",), "two objects stand for a set equally well: the first is taken",
           lambda problem: problem.metric not in ("euclidean", "sqeuclidean")),
    Exempt(("order",), ("evclus", "cevclus", "cop-kmeans"), "objects are moved one after the other"),
    Exempt(("order",), ("cecm", "cfcm"), "linked objects are moved one after the other",
           lambda problem: "constraints" in problem.more),
    Exempt(("units", "origin"), ("latent-class", "latent-profile", "catecm"), "categories have neither"),
    Exempt(("order", "copies"), ("latent-profile",), "many mixtures are as likely: there are fewer different rows than "
           "parameters, or one column of categories", _not_identified),
    Exempt(("units",), ("secmdd",), "a variance has another unit than a dissimilarity",
           lambda problem: problem.settings.get("evenness") == "variance"),
    Exempt(("units",), ("evclus", "cevclus", "nnevclus"), "dissimilarities are conflicts as they are",
           lambda problem: problem.settings.get("delta0", "auto") is None),
    Exempt(("units", "origin"), ("kfda", "kpcca"), "the kernel has a unit or an origin", _gamma_of_kernel),
)  # fmt: skip


def claimed(law: str, problem: Problem) -> str | None:
    """Why a law is not claimed for a problem, None where it is."""
    for one in EXEMPT:
        if law in one.laws and problem.cls.method.name in (one.methods or ESTIMATORS) and one.when(problem):
            return one.reason
    if law == "copies" and "weights" not in problem.cls.method.takes:
        return "it takes no weights"
    if law in ("units", "order") and problem.metric in ("cosine", "correlation"):
        return "differences of angles between rows that are nearly parallel are rounding errors"
    if law == "origin" and problem.metric not in MOVABLE and not callable(problem.metric):
        return "the metric has an origin"
    if law == "units" and not callable(problem.metric) and METRICS[problem.metric] is None:
        return "the metric has a unit of its own"
    return None
