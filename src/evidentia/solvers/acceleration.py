r"""Guess where a slow descent is going, from its last steps (Anderson 1965).

Near its end a descent like EM converges linearly: errors shrink by a constant matrix, and the slowest direction is what
takes most steps. From pairs of points :math:`x_i` and where a step takes them, :math:`g(x_i)`, comes the affine
combination whose residual :math:`g(x) - x` is smallest, and g of it is the guess.

A guess can only be as good as its objective: :func:`evidentia.solvers.descent.descend` keeps one if it gains more than
the last plain step did, takes a plain step after it, and ends by plain steps alone. So the trace never rises, and a
descent rests where it would have rested without guesses.

References
----------
D. G. Anderson. Iterative procedures for nonlinear integral equations. Journal of the ACM 12(4):547-560, 1965.
N. C. Henderson, R. Varadhan. Damped Anderson acceleration with restarts and monotonicity control for accelerating EM
and EM-like algorithms. Journal of Computational and Graphical Statistics 28(4):834-846, 2019.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DEPTH = 6  # pairs beyond the last that a guess is made of
SLOW = 0.5  # ratio of successive gains below which steps are few anyway
STEADY = 0.05  # by which the ratio may still change when convergence is called linear
REACH = 1.5  # times as far as steps that shrink by a constant ratio would go in the end
FARTHEST = 100.0  # plain steps that a guess may be ahead
LARGEST_LOG = 100.0  # of a variance in units of the table
PRECISION = 1e-7  # relative size below which directions among residuals are noise


class Vectors(NamedTuple):
    """States of a descent as vectors: ``restore(vector, like)`` gives an admissible state for any vector, or None.

    Guesses begin when a step gains no more than ``late``: before, a descent may still choose between several ends.
    ``refusals`` are exceptions by which a step tells that a guess is no state.
    """

    flatten: Callable[[Any], np.ndarray]
    restore: Callable[[np.ndarray, Any], Any]
    late: float
    refusals: tuple[type[Exception], ...] = ()


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
