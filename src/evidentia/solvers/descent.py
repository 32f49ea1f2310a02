r"""Repeat a step until the objective rests, from several starts, and keep the best.

Where a descent is slow, :class:`Guesses` say where it is going, from its last steps (Anderson 1965).

Near its end a descent like EM converges linearly: errors shrink by a constant matrix, and the slowest direction is what
takes most steps. From pairs of points :math:`x_i` and where a step takes them, :math:`g(x_i)`, comes the affine
combination whose residual :math:`g(x) - x` is smallest, and g of it is the guess.

A guess can only be as good as its objective: :func:`descend` keeps one if it gains more than the last plain step did,
takes a plain step after it, and ends by plain steps alone. So the trace never rises, and a descent rests where it would
have rested without guesses.

References
----------
D. G. Anderson. Iterative procedures for nonlinear integral equations. Journal of the ACM 12(4):547-560, 1965.
N. C. Henderson, R. Varadhan. Damped Anderson acceleration with restarts and monotonicity control for accelerating EM
and EM-like algorithms. Journal of Computational and Graphical Statistics 28(4):834-846, 2019.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from tqdm.auto import tqdm

from evidentia._warnings import warn_user
from evidentia.solvers.callbacks import report_iteration, subtask

__all__ = ["InterruptedFit", "send_progress_to"]

Step = Callable[[Any], tuple[float, Any]]
Watch = Callable[[int, float], None]
Rests = Callable[[Any, Any], bool]
RISE = 1e-12
DEPTH = 6  # pairs beyond the last that a guess is made of
SLOW = 0.5  # ratio of successive gains below which steps are few anyway
STEADY = 0.05  # by which the ratio may still change when convergence is called linear
REACH = 1.5  # times as far as steps that shrink by a constant ratio would go in the end
FARTHEST = 100.0  # plain steps that a guess may be ahead
LARGEST_LOG = 100.0  # of a variance in units of the table
PRECISION = 1e-7  # relative size below which directions among residuals are noise
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


class Vectors(NamedTuple):
    """States of a descent as vectors: ``restore(vector, like)`` gives an admissible state for any vector, or None.

    Guesses begin when a step gains no more than ``late``: before, a descent may still choose between several ends.
    ``refusals`` are exceptions by which a step tells that a guess is no state.
    """

    flatten: Callable[[Any], np.ndarray]
    restore: Callable[[np.ndarray, Any], Any]
    late: float
    refusals: tuple[type[Exception], ...] = ()


@contextmanager
def send_progress_to(listener: Callable[[str], None]) -> Iterator[None]:
    """While it lasts, fits of this thread tell how far they are, a few words at a time, whatever ``verbose`` is."""
    before = LISTENER.set(listener)
    try:
        yield
    finally:
        LISTENER.reset(before)


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
    and ends the descent. With ``vectors`` late steps are longer, unless ``tol`` is zero: who asks for a number of steps
    gets them.
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
    run: Callable[..., Run], starts: Iterable[Any], *, name: str, n_starts: int | None = None, verbose: int = 0
) -> list[Run]:
    """Run ``run(start, watch=watch)`` from every start (``n_starts`` of them); an interrupt keeps those so far."""
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
                    runs.append(run(start, watch=watch))
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
    rank: Callable[[Run], Any] = attrgetter("objective"),
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
    n_starts: int | None = None,
    verbose: int = 0,
    vectors: Vectors | None = None,
) -> tuple[Run, list[Run]]:
    """:func:`descend` from every start; :func:`best_of` the runs, and all of them.

    ``unrest`` are words for a start that did not come to rest where there is no ``tol``.
    """

    run = partial(descend, step, max_iter=max_iter, tol=tol, relative=relative, rests=rests, vectors=vectors)
    runs = all_runs(run, starts, name=name, n_starts=n_starts, verbose=verbose)
    return best_of(runs, name=name, max_iter=max_iter, tol=tol, unrest=unrest), runs


# -- guesses -----------------------------------------------------------------------------------------------------------


class Guesses:
    """The memory of one descent."""

    def __init__(self, vectors: Vectors):
        self.vectors = vectors
        self.gains: deque[float] = deque(maxlen=3)  # of plain steps
        self.pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=DEPTH + 1)
        self.begun = self.helpful = False
        self.pause = self.longest_pause = 0  # plain steps before the next guess
        self._last: tuple[Any, np.ndarray] | None = None

    def after_plain(self, gain: float, scale: float, state: Any, following: Any, *, resting: bool) -> Any:
        """A state farther ahead than ``following``, or None when it is too early, or not the time.

        Guesses begin once the gains of plain steps shrink by a steady ratio.
        """
        self.gains.append(gain)
        if not self.begun:
            self.begun = gain <= self.vectors.late * scale and len(self.gains) == 3 and _steady(*self.gains)
            if not self.begun:
                return None
        self.remember(state, following)
        self.pause -= self.pause > 0
        if len(self.pairs) < 3 or (not self.helpful if resting else self.pause):
            return None
        ahead = extrapolate(*(np.array(part) for part in zip(*self.pairs)))
        guess = None if ahead is None else self.vectors.restore(ahead, state)
        if guess is None:
            self._wait()
        return guess

    def remember(self, state: Any, following: Any) -> None:
        """Where a step went from a state."""
        here = self._last[1] if self._last is not None and self._last[0] is state else self.vectors.flatten(state)
        there = self.vectors.flatten(following)
        self._last = following, there
        self.pairs.append((here, there))

    def judge(self, gain: float, least: float) -> bool:
        """Whether a guess that gains so much is kept: more than the next plain step would, since gains shrink."""
        kept = bool(gain > max(least, self.gains[-1]))
        if kept:
            self.helpful, self.pause, self.longest_pause = True, 0, 0
        else:
            self._wait()
        return kept

    def _wait(self) -> None:
        """Leave plain steps in peace, for longer each time."""
        self.pause = self.longest_pause = 2 * self.longest_pause + 1


def _steady(first: float, second: float, third: float) -> bool:
    """Whether gains shrink slowly and by a steady ratio: convergence is linear."""
    if min(first, second, third) <= 0:
        return False
    return SLOW < third / second < 1 and abs(third / second - second / first) < STEADY


def extrapolate(points: np.ndarray, images: np.ndarray) -> np.ndarray | None:
    """The point that steps from ``points`` to ``images`` lead to, or None if they lead nowhere."""
    residuals = images - points
    share = np.linalg.lstsq(np.diff(residuals, axis=0).T, residuals[-1], rcond=PRECISION)[0]
    move = residuals[-1] - share @ np.diff(images, axis=0)
    before, now, length = (float(np.linalg.norm(one)) for one in (residuals[-2], residuals[-1], move))
    if not np.isfinite(length) or not min(before, now, length):
        return None
    rest = now / max(1 - now / before, 1 / FARTHEST)  # how far steps go that shrink by a constant ratio
    return points[-1] + min(1.0, REACH * rest / length) * move


def logarithms(matrices: np.ndarray) -> np.ndarray:
    """Logarithms of positive definite matrices (..., d, d): any symmetric matrix is one."""
    values, vectors = np.linalg.eigh(matrices)
    return (vectors * np.log(values)[..., None, :]) @ vectors.swapaxes(-1, -2)


def exponentials(matrices: np.ndarray) -> np.ndarray | None:
    """Positive definite matrices from their logarithms; None if some are beyond all bounds."""
    values, vectors = np.linalg.eigh(matrices)
    if np.abs(values).max() > LARGEST_LOG:
        return None
    return (vectors * np.exp(values)[..., None, :]) @ vectors.swapaxes(-1, -2)
