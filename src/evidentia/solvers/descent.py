"""Repeat a step until the objective rests, from several starts, and keep the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from tqdm.auto import tqdm

from evidentia._warnings import warn_user

Step = Callable[[Any], tuple[float, Any]]


class InterruptedFit(ConvergenceWarning):
    """A fit was stopped from the keyboard; the best solution so far was kept."""


@dataclass(frozen=True)
class Run:
    """Where one descent ended: ``trace[-1]`` is the objective of ``state``, not of a later or earlier one."""

    state: Any
    trace: np.ndarray
    converged: bool
    interrupted: bool = False

    @property
    def objective(self) -> float:
        return float(self.trace[-1])

    @property
    def n_iter(self) -> int:
        return len(self.trace) - 1


def descend(
    step: Step,
    state: Any,
    *,
    max_iter: int,
    tol: float,
    relative: bool = False,
    watch: Callable[[int, float], None] | None = None,
) -> Run:
    """Follow ``step(state) -> (objective of state, next state)`` downhill.

    Ends when the objective falls by no more than ``tol`` (times its own size when ``relative``), after ``max_iter``
    steps, or on an interrupt from the keyboard, in which case the last complete state is kept.
    """
    trace: list[float] = []
    kept = state
    converged = interrupted = False
    try:
        for iteration in range(max_iter + 1):
            objective, following = step(state)
            kept, state = state, following
            trace.append(objective)
            if watch is not None:
                watch(iteration, objective)
            if iteration and trace[-2] - objective <= tol * (abs(objective) if relative else 1.0):
                converged = True
                break
    except KeyboardInterrupt:
        if not trace:
            raise
        interrupted = True
    return Run(kept, np.array(trace), converged, interrupted)


def best_descent(
    step: Step,
    starts: Iterable[Any],
    *,
    name: str,
    max_iter: int,
    tol: float,
    relative: bool = False,
    rank: Callable[[Run], Any] = lambda run: run.objective,
    n_starts: int | None = None,
    verbose: int = 0,
    warn: bool = True,
) -> tuple[Run, list[Run]]:
    """Descend from every start; give the run of lowest ``rank`` and all of them (``n_starts``: for the progress bar).

    An interrupt ends the search and keeps the best run so far. A best run that did not converge is said aloud, unless
    the caller does that (``warn=False``).
    """
    runs: list[Run] = []
    with tqdm(starts, desc=name, unit="start", total=n_starts, leave=False, disable=not verbose) as bar:

        def watch(iteration: int, objective: float) -> None:
            bar.set_postfix(iteration=iteration, objective=f"{objective:.6g}", refresh=False)

        try:
            for start in bar:
                run = descend(step, start, max_iter=max_iter, tol=tol, relative=relative, watch=watch)
                runs.append(run)
                if run.interrupted:
                    break
        except KeyboardInterrupt:
            if not runs:
                raise
            runs[-1] = Run(runs[-1].state, runs[-1].trace, runs[-1].converged, interrupted=True)
    best = min(runs, key=rank)
    if warn:
        _say(name, best, runs, max_iter, tol)
    return best, runs


def _say(name: str, best: Run, runs: list[Run], max_iter: int, tol: float) -> None:
    if runs[-1].interrupted:
        warn_user(
            f"{name} was interrupted in start {len(runs)}; the best solution so far is kept.",
            InterruptedFit,
        )
    elif not best.converged:
        warn_user(
            f"{name} reached max_iter={max_iter} before tol={tol:g}; raise max_iter or tol.",
            ConvergenceWarning,
        )
