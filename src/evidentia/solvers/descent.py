"""Repeat a step until the objective rests, from several starts, and keep the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from tqdm.auto import tqdm

from evidentia._warnings import warn_user
from evidentia.solvers.acceleration import Guesses, Vectors
from evidentia.solvers.callbacks import report_iteration, subtask

__all__ = ["InterruptedFit", "send_progress_to"]

Step = Callable[[Any], tuple[float, Any]]
Watch = Callable[[int, float], None]
Rests = Callable[[Any, Any], bool]
LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("LISTENER", default=None)


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


@contextmanager
def send_progress_to(listener: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, fits of this thread tell how far they are, a few words at a time, whatever ``verbose`` is."""
    before = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(before)


RISE = 1e-12
INTERRUPTED_EARLY = "{who} was interrupted before its first fit was complete, so that nothing is kept."


def descend(
    step: Step,
    state: Any,
    *,
    max_iter: int,
    tol: float = 0.0,
    relative: bool = False,
    rests: Rests | None = None,
    watch: Watch | None = None,
    vectors: Vectors | None = None,
) -> Run:
    """Follow ``step(state) -> (objective of state, next state)`` downhill.

    Ends when a step lowers the objective by no more than ``tol`` (times its own size when ``relative``), or instead
    when ``rests(state before, state)``; after ``max_iter`` states; or on an interrupt from the keyboard, in which case
    the last complete state is kept. A step that rises by more than rounding, ``RISE`` of the objective, is taken back
    and ends the descent. With ``vectors`` late steps are longer (:mod:`evidentia.solvers.acceleration`),
    unless ``tol`` is zero: who asks for a number of steps gets them.
    """
    trace: list[float] = []
    kept = before = state
    converged = interrupted = False
    guesses = Guesses(vectors) if vectors is not None and tol else None

    def note(objective: float) -> None:
        trace.append(objective)
        if watch is not None:
            watch(len(trace) - 1, objective)

    try:
        while len(trace) <= max_iter:
            objective, following = step(state)
            before, kept, state = kept, state, following
            note(objective)
            if len(trace) == 1:
                continue
            gain, scale = trace[-2] - objective, abs(objective) if relative else 1.0
            if rests is None and gain < -RISE * abs(objective):  # rounding leaves nothing to gain
                kept, converged = before, True
                trace.pop()
                break
            if rests is None:
                converged = bool(gain <= tol * scale)
            else:
                converged = rests(before, kept)
            if guesses is not None and len(trace) < max_iter:
                guess = guesses.after_plain(gain, scale, kept, following, resting=converged)
                if guess is not None:
                    try:
                        objective, following = step(guess)
                    except guesses.vectors.refusals:
                        objective = np.inf
                    if guesses.judge(trace[-1] - objective, tol * scale if converged else 0.0):
                        kept, state, converged = guess, following, False
                        guesses.remember(kept, following)
                        note(objective)
            if converged:
                break
    except KeyboardInterrupt:
        if not trace:
            raise
        interrupted = True
    return Run(kept, np.array(trace), converged, interrupted)


def all_runs(
    run: Callable[[Any, Watch], Run], starts: Iterable[Any], *, name: str, n_starts: int | None = None, verbose: int = 0
) -> list[Run]:
    """``run(start, watch)`` from every start (``n_starts``: for the progress bar); an interrupt keeps those so far."""
    runs: list[Run] = []
    tell = LISTENER.get()
    with tqdm(starts, desc=name, unit="start", total=n_starts, leave=False, disable=not verbose) as bar:

        def watch(iteration: int, objective: float) -> None:
            if verbose:  # a bar that is not shown would still write its words
                bar.set_postfix(iteration=iteration, objective=f"{objective:.6g}", refresh=False)
            if tell is not None:
                tell(f"{name}, start {len(runs) + 1}{f' of {n_starts}' * bool(n_starts)}, iteration {iteration}")
            if report_iteration():
                raise KeyboardInterrupt

        try:
            for start in bar:
                with subtask("start") as end:
                    runs.append(run(start, watch))
                    stop = end()
                if stop:
                    raise KeyboardInterrupt
                if runs[-1].interrupted:
                    break
        except KeyboardInterrupt:
            if not runs:
                raise KeyboardInterrupt(INTERRUPTED_EARLY.format(who=name)) from None
            runs[-1] = replace(runs[-1], interrupted=True)
    return runs


def best_of(
    runs: list[Run],
    *,
    name: str,
    max_iter: int,
    tol: float,
    rank: Callable[[Run], Any] = lambda run: run.objective,
    unrest: str | None = None,
) -> Run:
    """The run of lowest ``rank``; an interrupt, or a best run that did not converge, is said aloud."""
    best = min(runs, key=rank)
    if runs[-1].interrupted:
        warn_user(f"{name} was interrupted in start {len(runs)}; the best solution so far is kept.", InterruptedFit)
    elif not best.converged:
        why, cure = (f"tol={tol:g}", "max_iter or tol") if tol else ("it came to rest", "max_iter")
        words = unrest or f"{why}; raise {cure}."
        warn_user(f"{name} reached max_iter={max_iter} before {words}", ConvergenceWarning)
    return best


def best_descent(
    step: Step,
    starts: Iterable[Any],
    *,
    name: str,
    max_iter: int,
    tol: float = 0.0,
    relative: bool = False,
    rests: Rests | None = None,
    unrest: str | None = None,
    rank: Callable[[Run], Any] = lambda run: run.objective,
    n_starts: int | None = None,
    verbose: int = 0,
    warn: bool = True,
    vectors: Vectors | None = None,
) -> tuple[Run, list[Run]]:
    """:func:`descend` from every start; :func:`best_of` the runs, and all of them.

    ``unrest`` are words for a start that did not come to rest where there is no ``tol``; with ``warn=False`` the caller
    tells of interrupts and of such starts.
    """

    def run(start: Any, watch: Watch) -> Run:
        return descend(
            step, start, max_iter=max_iter, tol=tol, relative=relative, rests=rests, watch=watch, vectors=vectors
        )

    runs = all_runs(run, starts, name=name, n_starts=n_starts, verbose=verbose)
    if warn:
        return best_of(runs, name=name, max_iter=max_iter, tol=tol, rank=rank, unrest=unrest), runs
    return min(runs, key=rank), runs
