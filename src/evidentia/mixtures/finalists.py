"""Mixtures of more rows than a sample has: first looks at the sample, and passes over all rows for the best of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from evidentia._warnings import warn_user
from evidentia.mixtures._base import Candidate, information_criteria
from evidentia.solvers.descent import InterruptedFit, Run, descend

Evaluate = Callable[[Candidate], tuple[np.ndarray, np.ndarray]]
FINALISTS = 3  # first looks that are fitted to all rows, at most
DOUBT = 3.0  # standard errors of the sample by which a first look is clearly behind the best


class Sums(NamedTuple):
    """What a pass adds up: statistics of the components, log-likelihood, and the certainty of ICL."""

    statistics: np.ndarray
    log_likelihood: float
    certainty: float

    def __add__(self, other: Sums) -> Sums:  # type: ignore[override]
        return Sums(
            self.statistics + other.statistics,
            self.log_likelihood + other.log_likelihood,
            self.certainty + other.certainty,
        )


class Collapse(Exception):
    """A component vanished or became singular in a step."""


def as_first_look(candidate: Candidate, weight: np.ndarray) -> Candidate:
    """A fit to a sample with what it promises for all rows, to whose number the weights add up.

    A maximum over the sample exceeds the truth by about half the number of parameters, as often as rows of the sample
    stand for others; that over all rows exceeds it once.
    """
    n_free, total = candidate.n_parameters, float(weight.sum())
    stand_for = float(np.square(weight).sum()) / total  # rows that one of the sample stands for
    certainty = (candidate.criteria["icl"] - candidate.criteria["bic"]) / 2
    expected = candidate.log_likelihood - (stand_for - 1) * n_free / 2
    criteria = information_criteria(expected, n_free, certainty, total)
    return replace(candidate, log_likelihood=expected, criteria=criteria, first_look=True)


def climb(
    look: Candidate,
    gather: Callable[[Any], Sums],
    follow: Callable[[Any, Sums], tuple[float, Any]],
    *,
    total: float,
    tol: float,
    max_iter: int,
) -> Candidate:
    """A mixture that was fitted to the sample, fitted to all rows by passes over them.

    Parameters
    ----------
    look : Candidate
    gather : callable
        Sums of a state: a pass.
    follow : callable
        What is maximized, and the next state, from a state and its sums; it raises ``Collapse`` if there is none.
    total : float
        Sum of the weights: ``tol`` is per object.
    tol, max_iter
        As of the mixtures.
    """
    seen: list[tuple[Any, Sums, float]] = []

    def step(state: Any) -> tuple[float, Any]:
        found = gather(state)
        try:
            objective, following = follow(state, found)
        except Collapse:
            seen.append((state, found, found.log_likelihood))
            raise
        seen.append((state, found, objective))
        return -objective / total, following

    try:
        run = descend(step, look.best.state, max_iter=max_iter, tol=tol)
        collapsed = False
    except Collapse:
        run, collapsed = Run(seen[-1][0], np.empty(0), False), True
    if not collapsed:
        del seen[len(run.trace) :]  # a step that was taken back
    trace = np.array([-objective for *_, objective in seen])
    run, sums = replace(run, trace=trace), seen[-1][1]
    return replace(
        look,
        best=run,
        runs=[run],
        log_likelihood=sums.log_likelihood,
        criteria=information_criteria(sums.log_likelihood, look.n_parameters, sums.certainty, total),
        collapsed=collapsed,
        interrupted=run.interrupted,
        first_look=False,
    )


def doubtful_looks(looks: list[Candidate], evaluate: Evaluate, weight: np.ndarray, criterion: str) -> list[int]:
    """Looks that may be the best of all rows, the best of the sample first.

    The sample tells the difference of two criteria well, since both are of the same rows: what it leaves open is the
    standard error of the sum of what each row adds to the difference.
    """
    ranked = sorted(range(len(looks)), key=lambda at: (looks[at].collapsed, -looks[at].criteria[criterion]))
    best = looks[ranked[0]]
    share = _shares(evaluate(best), criterion)
    found = [ranked[0]]
    for at in ranked[1:]:
        if looks[at].collapsed and not best.collapsed:
            found.append(at)  # only if all others collapse on the way
            continue
        gap = share - _shares(evaluate(looks[at]), criterion)
        error = float(np.sqrt(np.square(weight * (gap - weight @ gap / weight.sum())).sum()))
        if best.criteria[criterion] - looks[at].criteria[criterion] <= 2 * DOUBT * error:
            found.append(at)
    return found


def _shares(evaluated: tuple[np.ndarray, np.ndarray], criterion: str) -> np.ndarray:
    """What each row adds to half of a criterion."""
    posterior, log_density = evaluated
    return log_density + (np.log(posterior.max(axis=1)) if criterion == "icl" else 0.0)


def finish_best(
    looks: list[Candidate],
    finish: Callable[[Candidate], Candidate],
    evaluate: Evaluate,
    weight: np.ndarray,
    *,
    criterion: str,
    who: str,
) -> tuple[list[Candidate], list[Candidate]]:
    """Those that were fitted to all rows, and everything in the order of the looks.

    An interrupt keeps what is there: the best look, if none was finished. What all rows have above the sample is nearly
    the same for all candidates: the looks that stay are raised by as much as the best was.

    Parameters
    ----------
    looks : list of Candidate
        Fits to the sample.
    finish : callable
        Fits one of them to all rows.
    evaluate : callable
        Posterior probabilities and log densities of the rows of the sample under one of them.
    weight : ndarray
        Of the rows of the sample.
    criterion, who : str
        What chooses, and for whom.
    """
    ranked = doubtful_looks(looks, evaluate, weight, criterion)
    done: dict[int, Candidate] = {}
    try:
        for at in ranked:
            if sum(not one.collapsed for one in done.values()) == FINALISTS or (done and looks[at].collapsed):
                break
            done[at] = finish(looks[at])
            if done[at].interrupted:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        done = done or {ranked[0]: replace(looks[ranked[0]], interrupted=True)}
        warn_user(
            f"{who} was interrupted; the best of {len(looks)} first looks and {len(done)} fits is kept.", InterruptedFit
        )
    best = max(done, key=lambda at: (not done[at].collapsed, done[at].criteria[criterion]))
    above = 0.0 if done[best].collapsed else done[best].log_likelihood - looks[best].log_likelihood
    return list(done.values()), [done.get(at, _raise(look, above)) for at, look in enumerate(looks)]


def _raise(look: Candidate, above: float) -> Candidate:
    criteria = {name: value + 2 * above for name, value in look.criteria.items()}
    return replace(look, log_likelihood=look.log_likelihood + above, criteria=criteria)
