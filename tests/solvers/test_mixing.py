"""Mixed steps: where they lead, what refuses them, and when a descent is at rest."""

import numpy as np
import pytest

from evidentia.solvers.descent import descend
from evidentia.solvers.mixing import descend_mixed


def slow_valley(x):
    """A quadratic of condition 1000 and a step of steepest descent, with a minimum of 1 at (3, -2)."""
    curvature, middle = np.array([1.0, 1e-3]), np.array([3.0, -2.0])
    return 1 + 0.5 * curvature @ (x - middle) ** 2, x - 0.9 * curvature * (x - middle)


def test_a_slow_valley_is_crossed_in_a_few_steps():
    start = np.array([4.0, 8.0])
    plain = descend(slow_valley, start, max_iter=10_000, tol=1e-12, relative=True)
    mixed = descend_mixed(slow_valley, start, max_iter=100, tol=1e-12)
    assert plain.n_iter > 1000
    assert mixed.n_iter < 15
    assert mixed.converged
    assert mixed.objective <= plain.objective
    np.testing.assert_allclose(mixed.state, [3, -2], atol=1e-6)
    assert slow_valley(mixed.state)[0] == mixed.objective
    assert (np.diff(mixed.trace) <= 0).all()


class Wall(ValueError):
    pass


def guarded(x, calls):
    """The valley behind a wall that mixed steps run into."""
    calls.append(x)
    if x[1] < -1.5:
        raise Wall
    return slow_valley(x)


def test_a_refused_mixture_costs_a_step_and_nothing_else():
    calls = []
    run = descend_mixed(lambda x: guarded(x, calls), np.array([3.5, 1.0]), max_iter=40, tol=1e-12, refusals=(Wall,))
    assert any(x[1] < -1.5 for x in calls)
    assert not run.converged
    assert len(calls) == 41  # refused ones count
    assert run.state[1] >= -1.5
    assert (np.diff(run.trace) <= 0).all()
    with pytest.raises(Wall):
        descend_mixed(lambda x: guarded(x, []), np.array([3.5, -1.6]), max_iter=40, tol=1e-12, refusals=(Wall,))


def test_a_mixture_that_rises_is_not_taken():
    calls = []

    def cliff(x):  # two steps of a root point beyond its end, where the objective is high
        calls.append(x[0])
        return (1 + x[0] if x[0] >= 0 else 100.0), np.maximum(x - 0.01 * np.sqrt(np.maximum(x, 0)), 0)

    run = descend_mixed(cliff, np.array([1.0]), max_iter=3000, tol=1e-12)
    assert min(calls) < 0
    assert run.converged
    assert (np.diff(run.trace) <= 0).all()
    assert run.state[0] == pytest.approx(0, abs=1e-9)


def test_a_step_that_rises_is_recorded_and_ends_the_descent():
    run = descend_mixed(lambda x: (float(np.sum(x)), x + 1), np.zeros(2), max_iter=9, tol=1e-9)
    assert run.trace.tolist() == [0, 2]
    assert run.converged


def test_an_interrupt_keeps_the_last_state():
    calls = []

    def interrupted(x):
        calls.append(x)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return slow_valley(x)

    run = descend_mixed(interrupted, np.array([4.0, 8.0]), max_iter=100, tol=1e-12)
    assert run.interrupted
    np.testing.assert_array_equal(run.state, calls[2])
    with pytest.raises(KeyboardInterrupt):
        descend_mixed(interrupted_at_once, np.zeros(2), max_iter=3, tol=0.1)


def interrupted_at_once(x):
    raise KeyboardInterrupt


def test_a_mixture_that_gains_nothing_does_not_end_the_descent():
    objectives = iter([2.0, 1.9999, 1.9999, 1.5, 1.5])
    run = descend_mixed(lambda x: (next(objectives), 0.9 * x), np.array([1.0, 2.0]), max_iter=20, tol=1e-9)
    assert run.trace.tolist() == [2.0, 1.9999, 1.9999, 1.5, 1.5]
    assert run.converged
