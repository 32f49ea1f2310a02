"""EGMM's search for a covariance model, a number of clusters and sets of clusters.

First looks of a few iterations try models at numbers that grow; the best go on to the end, a criterion chooses among
them, and automatic sets are added to what was chosen. With one model and a family of sets that is given, a short range
of numbers is fitted to the end instead, as in the paper. The guide to EGMM says why; the constants are here.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.mixtures._base import Candidate, bic, ebic
from evidentia.mixtures.egmm_problem import ALL, FEW, SAMPLE, Look, Problem, concentric, growing_steps, n_parameters
from evidentia.mixtures.parsimonious import START_ROWS
from evidentia.mixtures.set_mixture import SHARED, WEIGHTS, Engine, Parameters, Patterns, patterns_of
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.descent import INTERRUPTED_EARLY, InterruptedFit, Run, all_runs, descend
from evidentia.solvers.overlap import is_automatic, least_committed, shared_sets

LOOK = {"tol": 3e-3, "max_iter": 25}  # enough to tell which models and numbers are worth going on with
ACTIVE = 5  # models for which the numbers between the steps are looked at
SMALLEST_GROUP = 5  # objects: fewer are outliers rather than a group
PATIENCE = 2  # steps without a better criterion after which the search ends
BARELY = 2.0  # a difference of BIC not worth more than a bare mention (Kass & Raftery 1995)
FINALISTS = 4  # models and numbers that are fitted to the end
FEW_NUMBERS = 10  # of clusters, which are all fitted to the end if one model and a family of sets are given
COLLAPSE = "a covariance collapsed"


class Found(NamedTuple):
    """What a search came to: the best mixture, with its sets and before they were added, and all that was tried."""

    best: Candidate
    single: Candidate
    tried: pd.DataFrame


class Search:
    """The search over one table, by the settings of its estimator."""

    def __init__(self, problem: Problem, rng: np.random.RandomState):
        self.problem, self.settings, self.rng = problem, problem.settings, rng
        self.automatic_sets = is_automatic(self.settings.focal_sets)

    def run(self, numbers: list[int], models: list[str]) -> Found:
        fits_all = len(models) == 1 and len(numbers) <= (1 if self.automatic_sets else FEW_NUMBERS)
        looks, interrupted = self._look_around(numbers, models, fits_all)
        return self._choose(looks, interrupted, fits_all)

    # -- first looks -----------------------------------------------------------------------------------------------

    def _look_around(self, numbers: list[int], models: list[str], fits_all: bool) -> tuple[list[Look], bool]:
        """First looks: all models at steps over the numbers of clusters, then the good ones around the best number.

        If all are to be fitted to the end, the starts of every number, without an iteration.
        """
        looks: list[Look] = []
        limits = {"tol": 0.0, "max_iter": 0} if fits_all else LOOK
        init = self.settings.init
        try:
            if isinstance(init, str) and init == "hierarchical":
                self.problem.grow_trees(self.settings.n_init)
            with tqdm(desc="EGMM", unit="size", disable=not self.settings.verbose) as bar:
                coarse = numbers if fits_all else growing_steps(numbers)
                for at, number in enumerate(coarse):
                    here = models if number > 1 or fits_all else [one for one in models if one in SHARED] or models[:1]
                    for look in self._look_at_number(number, here, **limits):
                        looks.append(look)
                        if any(run.interrupted for run in look.runs):
                            return looks, True
                    bar.update()
                    best = min(looks, key=lambda look: look.rank).focal_sets.n_clusters
                    if at - coarse.index(best) >= PATIENCE and not fits_all:
                        break
                good = sorted(looks, key=lambda look: look.rank)
                good_models = list(dict.fromkeys(look.model for look in good))[:ACTIVE]
                place = coarse.index(best)
                around = range(coarse[max(place - 1, 0)], coarse[min(place + 1, len(coarse) - 1)] + 1)
                for number in (one for one in numbers if one in around and one not in coarse):
                    here = [model for model in models if model in good_models]
                    looks += self._look_at_number(number, here, **limits)
                    bar.update()
        except KeyboardInterrupt:
            if not looks:
                raise KeyboardInterrupt(INTERRUPTED_EARLY.format(who="EGMM")) from None
            return looks, True
        return looks, False

    def _look_at_number(self, number: int, models: list[str], **limits: Any) -> Iterator[Look]:
        problem, settings = self.problem, self.settings
        family = resolve_focal_sets("singletons" if self.automatic_sets else settings.focal_sets, number, empty=False)
        init, reduction = settings.init, settings.reduction_
        if not isinstance(init, str):
            init = np.asarray(init, dtype=float)
            init = init if reduction is None else reduction.transform(init)
        starts = list(problem.starts(number, init, settings.n_init, self.rng))
        problem.narrow_prior(number, starts)
        for model in models:
            states = [problem.begin(model, start, family) for start in starts]
            yield self._look(model, family, states, **limits)

    def _look(self, model: str, focal_sets: FocalSets, states: list[Parameters], **limits: Any) -> Look:
        """Some iterations over the sample from each start, and what they promise for the whole table."""
        problem = self.problem
        runs = self._climb(model, focal_sets, states, FEW, **limits)
        n_free = n_parameters(model, len(focal_sets), focal_sets.n_clusters, problem.coordinates(model).width)
        size, tool = problem.weight_of(FEW), problem.engine(model, focal_sets.n_clusters)
        found = problem.log_likelihood(model, runs[0], tool, FEW)
        # A maximum over the sample exceeds the truth by about half the number of parameters, and so does that over
        # the table; what is in between grows with the number of rows.
        expected = problem.total / size * (found - n_free / 2) + n_free / 2
        collapsed = tool.collapsed(runs[0].state, averaging(focal_sets), size)
        criteria, flaw = self._criteria(expected, n_free), self._find_flaw(runs[0].state)
        return Look(model, focal_sets, runs, expected, n_free, criteria, collapsed, flaw)

    def _criteria(self, log_likelihood: float, n_free: int) -> dict[str, float]:
        """Return what is compared: BIC of mixtures of single clusters, or EBIC with the sets that are given."""
        compared = bic if self.automatic_sets else ebic
        return {self.settings.select_by: compared(log_likelihood, n_free, self.problem.total)}

    def _climb(
        self, model: str, focal_sets: FocalSets, states: list[Parameters], size: str, *, tol: float, max_iter: int
    ) -> list[Run]:
        """EM over rows of one size from every start, the best first, collapsed ones last."""
        problem = self.problem
        tool, rows = problem.engine(model, focal_sets.n_clusters), problem.patterns(model, size)
        average, total = averaging(focal_sets), problem.weight_of(size)
        step = partial(tool.step, rows, average, total=total)
        # With larger sets a likelihood has many ends near each other, and a guess may come to another one.
        vectors = tool.vectors() if len(average) == focal_sets.n_clusters else None
        runs = all_runs(
            lambda start, watch: descend(step, start, max_iter=max_iter, tol=tol, watch=watch, vectors=vectors),
            states,
            name=f"EGMM, {model}, {focal_sets.n_clusters} clusters",
            n_starts=len(states),
            verbose=max(0, self.settings.verbose - 1),
        )
        return sorted(runs, key=lambda run: (tool.collapsed(run.state, average, total), run.objective))

    def _find_flaw(self, state: Parameters) -> str:
        """Return why clusters are not groups, if they are not: two in one place, or a tiny one.

        A likelihood looks at densities alone, and outliers and heavy tails are dense in clusters of their own. With a
        family of sets that is given EBIC decides alone, as in the paper.
        """
        if not self.automatic_sets or len(state.centers) == 1:
            return ""
        if state.weights.min() * self.problem.total < SMALLEST_GROUP:
            return f"a cluster of fewer than {SMALLEST_GROUP} objects"
        return "two clusters in one place" if concentric(state) else ""

    # -- the choice ------------------------------------------------------------------------------------------------

    def _choose(self, looks: list[Look], interrupted: bool, fits_all: bool) -> Found:
        """Return the best, fitted to the end: the one of the highest criterion, or a level one with more clusters."""
        problem, by = self.problem, self.settings.select_by
        ranked = sorted(looks, key=lambda look: look.rank)
        few = FINALISTS if problem.total <= START_ROWS else FINALISTS // 2
        finalists = ranked if fits_all else ranked[:few]
        found: list[Candidate] = []
        for look in finalists:
            if interrupted and found:
                break
            found.append(self._finish(look, look_only=interrupted))
            interrupted = interrupted or found[-1].interrupted
        order = [(one.collapsed, bool(one.flaw), -one.criteria[by]) for one in found]
        least = min(order)
        # Sets can say that two clusters may be one; nothing could say that one may be two.
        slack = self.settings.barely_better
        level = [one for one, rank in zip(found, order) if rank[:2] == least[:2] and rank[2] <= least[2] + slack]
        single = best = max(level, key=lambda one: (one.n_clusters, one.criteria[by]))
        done = {}
        for one in found:
            row, above = one.row(COLLAPSE), one.criteria[by] > single.criteria[by]
            passed = _base.BARELY_BETTER * (above and any(one is other for other in level))
            note = "; ".join(filter(None, [row["note"], passed]))
            done[one.settings["model"], one.n_clusters] = {**row, "note": note}
        if self.automatic_sets and not (interrupted or best.collapsed) and best.n_clusters > 1:
            try:
                best = self._add_sets(best)
            except KeyboardInterrupt:
                best = replace(best, interrupted=True)
            interrupted = best.interrupted
        if interrupted:
            warn_user(
                f"EGMM was interrupted; the best of {len(looks)} first looks and {len(found)} fits is kept.",
                InterruptedFit,
            )
        rows = [done.get((look.model, look.focal_sets.n_clusters), look.row(COLLAPSE)) for look in looks]
        return Found(best, single, pd.DataFrame(rows))

    def _finish(self, look: Look, *, look_only: bool) -> Candidate:
        """A model and number of clusters to the end."""
        problem, settings = self.problem, self.settings
        max_iter = 0 if look_only else settings.max_iter
        states = [run.state for run in look.runs]
        if not problem.is_all(FEW) and look.runs[0].n_iter:  # the look over a few rows has told the starts apart
            states = states[:1]
        climb = partial(self._climb, look.model, look.focal_sets, tol=settings.tol, max_iter=max_iter)
        runs = climb(states, ALL if problem.is_all(SAMPLE) else SAMPLE)
        if not problem.is_all(SAMPLE):
            try:
                runs = climb([runs[0].state], ALL)
            except KeyboardInterrupt:  # in the first pass over all rows: what the sample says is kept
                runs = [replace(runs[0], interrupted=True)]
        tool = problem.engine(look.model, look.focal_sets.n_clusters)
        found = self._candidate(look.model, look.focal_sets, runs, tool)
        return replace(found, interrupted=found.interrupted or look_only)

    def _candidate(self, model: str, family: FocalSets, runs: list[Run], tool: Engine) -> Candidate:
        problem, best, total = self.problem, runs[0], self.problem.total
        n_free = n_parameters(model, len(family), family.n_clusters, problem.coordinates(model).width)
        gain, log_likelihood = problem.gain(model, ALL), problem.log_likelihood(model, best, tool, ALL)
        return Candidate(
            focal_sets=family,
            best=replace(best, trace=total * best.trace - gain),
            runs=[replace(run, trace=total * run.trace - gain) for run in runs],
            log_likelihood=log_likelihood,
            n_parameters=n_free,
            n_objects=total,
            criteria=self._criteria(log_likelihood, n_free),
            flaw=self._find_flaw(best.state) if len(family) == family.n_clusters else "",
            collapsed=tool.collapsed(best.state, averaging(family), total),
            interrupted=best.interrupted,
            settings={"model": model},
        )

    # -- sets ------------------------------------------------------------------------------------------------------

    def overlaps(self, single: Candidate) -> tuple[FocalSets, np.ndarray]:
        """Sets of clusters that share objects, and how many of these a choice among the clusters would get wrong."""
        problem, model, average = self.problem, single.settings["model"], np.eye(single.n_clusters)
        X, weight = problem.table.sample
        Y, tool = problem.coordinates(model).transform(X), problem.engine(model, len(average))
        posterior = np.empty((len(Y), len(average)))
        knowledge = problem.knowledge(SAMPLE)
        for state, seen, observed, rows in patterns_of(Y, knowledge, single.best.state, average):
            posterior[rows] = tool.evaluate(seen, observed, state, average)[0]
        family = shared_sets(posterior, weight)
        # For a pair this is the sum of the smaller posterior probabilities.
        return family, weight @ least_committed(posterior, family) / family.card

    def _add_sets(self, single: Candidate) -> Candidate:
        """The chosen mixture, with the sets of clusters that overlap.

        Clusters stay where they are; the mixing probabilities are found anew. As many objects as are expected to be
        given to the wrong one of the clusters of a set are its prior: without it a likelihood that single clusters
        explain leaves nothing to the sets, and if clusters could move, sets would take their places.
        """
        problem, model = self.problem, single.settings["model"]
        larger, in_doubt = self.overlaps(single)
        if len(larger) == single.n_clusters:
            return single
        tool = copy(problem.engine(model, larger.n_clusters))
        tool.in_doubt = in_doubt * (larger.card > 1)
        average = averaging(larger)

        def reweigh(rows: Patterns, state: Parameters) -> tuple[float, Parameters]:
            found = tool.gather(rows, state, average)
            cost = tool.cost(state) - found.log_likelihood
            return cost / problem.total, state._replace(weights=tool.weigh(found.size))

        state = single.best.state._replace(weights=in_doubt / in_doubt.sum())
        for size in [SAMPLE] * (not problem.is_all(SAMPLE)) + [ALL]:
            step = partial(reweigh, problem.patterns(model, size))
            run = descend(step, state, max_iter=self.settings.max_iter, tol=self.settings.tol, vectors=WEIGHTS)
            state = run.state
        found = self._candidate(model, larger, [run], tool)
        return replace(found, criteria=single.criteria, flaw=single.flaw)
