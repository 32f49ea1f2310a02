r"""Fewer iterations of a descent: Anderson mixing of its last steps, safeguarded by the objective.

A step :math:`x \mapsto g(x)` that lowers an objective comes to rest linearly, and slowly where clusters overlap. Near
the end the moves :math:`f = g - x` of the last steps tell where they lead: the combination of the last g whose combined
move is smallest [1]_,

.. math::
    x_{k+1} = g_k - \sum_j \gamma_j (g_{j+1} - g_j), \qquad
    \gamma = \arg\min \Big\| f_k - \sum_j \gamma_j (f_{j+1} - f_j) \Big\|,

is taken when the objective is not higher there, and the plain step otherwise. The combinations are affine: what sums to
one goes on to do so. A descent is at rest only when a *plain* step says so.

References
----------
.. [1] H. F. Walker, P. Ni. Anderson acceleration for fixed-point iterations. SIAM Journal on Numerical Analysis
   49(4):1715-1735, 2011.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from evidentia.solvers.descent import Run, Step, Watch

DEPTH = 5  # steps that are mixed
NEAR = 1e-3  # mix when a step improves the objective by less than this share of it: before, another minimum may be near


def mix(states: list[np.ndarray], following: list[np.ndarray]) -> np.ndarray:
    """The mixed step from the last state.

    Examples
    --------
    Of a linear step in two variables three steps tell the point of rest:

    >>> step = np.array([[0.9, 0.1], [0.0, 0.5]])
    >>> states = [np.array([8.0, 4.0])]
    >>> for _ in range(2):
    ...     states.append(step @ states[-1])
    >>> mix(states, [step @ state for state in states]).round(9) + 0.0
    array([0., 0.])
    """
    moves = np.stack([(g - x).ravel() for x, g in zip(states, following)])
    changes = np.diff(moves, axis=0)
    share = np.linalg.lstsq(changes.T, moves[-1], rcond=1e-10)[0]
    steps = np.diff(np.stack([g.ravel() for g in following]), axis=0)
    return following[-1] - (share @ steps).reshape(following[-1].shape)


def descend_mixed(
    step: Step,
    state: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    refusals: tuple[type[Exception], ...] = (),
    watch: Watch | None = None,
) -> Run:
    """:func:`~evidentia.solvers.descent.descend` with a ``tol`` relative to the objective, in fewer steps.

    ``refusals`` are exceptions by which ``step`` tells that a mixed state is none. Every call of ``step`` counts as an
    iteration, the trace has those that were taken.
    """
    states: deque[np.ndarray] = deque(maxlen=DEPTH + 1)
    following: deque[np.ndarray] = deque(maxlen=DEPTH + 1)
    trace: list[float] = []
    kept, plain = state, state
    mixed = converged = interrupted = False
    try:
        for iteration in range(max_iter + 1):
            try:
                objective, after = step(state)
            except refusals:
                if not mixed:
                    raise
                objective = np.inf
            if mixed and not objective <= trace[-1]:
                state, mixed = plain, False
                states.clear()
                following.clear()
                continue
            kept, plain = state, after
            trace.append(objective)
            if watch is not None:
                watch(iteration, objective)
            gain = trace[-2] - objective if len(trace) > 1 else np.inf
            resting = bool(gain <= tol * abs(objective))
            if resting and not mixed:
                converged = True
                break
            states.append(state)
            following.append(after)
            mixed = len(states) > 1 and not resting and gain <= NEAR * abs(objective)
            state = mix(list(states), list(following)) if mixed else after
    except KeyboardInterrupt:
        if not trace:
            raise
        interrupted = True
    return Run(kept, np.array(trace), converged, interrupted)
