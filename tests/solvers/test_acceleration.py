"""Descents with guesses: the same end as without, sooner, and never uphill."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from evidentia import ECM, EGMM
from evidentia.mixtures import _em
from evidentia.mixtures._covariances import Floor
from evidentia.mixtures._em import Parameters, engine
from evidentia.solvers.descent import Guesses, Vectors, _steady, descend, exponentials, extrapolate, logarithms

PLAIN = Vectors(lambda state: state, lambda vector, like: vector, np.inf)
SLOW = np.array([0.97, 0.9, 0.3])  # what a step leaves of the error in each direction
END = np.array([2.0, -1.0, 5.0])


def linear_step(x):
    """A quadratic bowl, and a step that converges linearly."""
    return 3.0 + np.sum((x - END) ** 2 / (1 - SLOW)), END + SLOW * (x - END)


def counted(step):
    def counting(state):
        counting.calls += 1
        return step(state)

    counting.calls = 0
    return counting


def test_a_slow_linear_descent_comes_to_its_end_in_far_fewer_steps():
    runs, calls = [], []
    for vectors in (None, PLAIN):
        step = counted(linear_step)
        runs.append(descend(step, np.zeros(3), max_iter=2000, tol=1e-10, vectors=vectors))
        calls.append(step.calls)
    plain, faster = runs
    assert plain.converged
    assert faster.converged
    assert calls[1] < calls[0] / 4
    assert faster.objective <= plain.objective + 1e-10
    np.testing.assert_allclose(faster.state, END, atol=1e-4)
    assert (np.diff(faster.trace) <= 0).all()
    assert faster.objective == linear_step(faster.state)[0]


def test_nothing_is_guessed_before_gains_are_small_and_shrink_steadily():
    early = descend(linear_step, np.zeros(3), max_iter=40, tol=1e-300)
    late = descend(linear_step, np.zeros(3), max_iter=40, tol=1e-300, vectors=PLAIN._replace(late=1e-9))
    np.testing.assert_array_equal(early.trace, late.trace)

    def unsteady(x):  # gains 1, 1/2, 1/8, 1/64, …: faster than linear
        return 2.0 ** -(x[0] ** 2), x + 0.5

    guesses = []
    watched = Vectors(lambda state: state, lambda vector, like: guesses.append(vector), np.inf)
    descend(unsteady, np.zeros(1), max_iter=10, tol=1e-300, vectors=watched)
    assert not guesses


def test_guesses_that_lead_uphill_are_dropped_and_become_rare():
    steps = counted(linear_step)
    astray = PLAIN._replace(restore=lambda vector, like: like + 100.0)
    run = descend(steps, np.zeros(3), max_iter=300, tol=1e-300, vectors=astray)
    np.testing.assert_array_equal(run.trace, descend(linear_step, np.zeros(3), max_iter=300, tol=1e-300).trace)
    assert 301 < steps.calls < 312


class Wall(ValueError):
    pass


def walled(x):
    """The bowl behind a wall."""
    if x[0] > 1.9:
        raise Wall
    return linear_step(x)


def test_a_guess_that_a_step_refuses_is_dropped():
    vectors = PLAIN._replace(refusals=(Wall,))
    seen = []

    def step(x):
        seen.append(x[0])
        return walled(x)

    run = descend(step, np.zeros(3), max_iter=30, tol=1e-300, vectors=vectors)
    assert max(seen) > 1.9
    assert run.n_iter == 30
    assert (np.diff(run.trace) <= 0).all()
    assert run.objective == walled(run.state)[0]
    with pytest.raises(Wall):  # a guess of a descent that knows of no walls
        descend(walled, np.zeros(3), max_iter=30, tol=1e-300, vectors=PLAIN)
    with pytest.raises(Wall):  # a plain step
        descend(walled, np.full(3, 1.95), max_iter=30, tol=1e-300, vectors=vectors)


def test_a_guess_that_rises_is_not_taken():
    calls = []

    def cliff(x):  # late steps of a root point beyond its end, where the objective is high
        calls.append(x[0])
        return (1 + x[0] if x[0] >= 0 else 100.0), np.maximum(x - 0.01 * np.sqrt(np.maximum(x, 0)), 0)

    run = descend(cliff, np.array([1.0]), max_iter=3000, tol=1e-12, relative=True, vectors=PLAIN)
    assert min(calls) < 0
    assert run.converged
    assert (np.diff(run.trace) <= 0).all()
    assert run.state[0] == pytest.approx(0, abs=1e-9)


def test_a_step_that_rises_is_taken_back_and_ends_the_descent():
    run = descend(lambda x: (float(np.sum(x)), x + 1), np.zeros(2), max_iter=9, tol=1e-9, vectors=PLAIN)
    assert run.trace.tolist() == [0]
    assert run.state.tolist() == [0, 0]
    assert run.converged


def test_a_number_of_steps_without_tolerance_is_that_of_plain_steps():
    plain = descend(linear_step, np.zeros(3), max_iter=60)
    np.testing.assert_array_equal(descend(linear_step, np.zeros(3), max_iter=60, vectors=PLAIN).trace, plain.trace)


def test_guesses_count_as_iterations():
    assert descend(linear_step, np.zeros(3), max_iter=8, tol=1e-300, vectors=PLAIN).n_iter == 8


@pytest.mark.parametrize("at", [3, 9, 10, 11, 12])
def test_an_interrupt_keeps_a_state_with_its_objective(at):
    def step(state):
        if step.left == 0:
            raise KeyboardInterrupt
        step.left -= 1
        return linear_step(state)

    step.left = at
    run = descend(step, np.zeros(3), max_iter=100, tol=1e-300, vectors=PLAIN)
    assert run.interrupted
    assert run.objective == linear_step(run.state)[0]


def test_a_resting_descent_is_asked_for_a_last_guess_only_if_one_helped():
    guesses = Guesses(PLAIN)
    x = np.zeros(3)
    for gain in (1.0, 0.9, 0.81, 0.729, 0.6561):
        guess = guesses.after_plain(gain, 1.0, x, linear_step(x)[1], resting=False)
        x = linear_step(x)[1]
    assert guess is not None
    assert guesses.after_plain(0.5, 1.0, x, linear_step(x)[1], resting=True) is None
    assert guesses.judge(gain=1.0, least=0.0)
    assert guesses.after_plain(0.5, 1.0, x, linear_step(x)[1], resting=True) is not None


def test_what_is_steady():
    assert _steady(1.0, 0.9, 0.82)
    assert not _steady(1.0, 0.9, 0.76)  # 0.9, then 0.84
    assert not _steady(1.0, 0.9, 0.87)
    assert not _steady(1.0, 0.48, 0.23)  # fast
    assert not _steady(1.0, 1.0, 1.0)
    for gains in [(0.0, 0.9, 0.8), (1.0, 0.0, 0.8), (1.0, 0.9, 0.0), (-1.0, -0.9, -0.81)]:
        assert not _steady(*gains)


def line(errors, end=(2.0, -1.0)):
    """Points on a line and where they go, so that a step leaves the errors given of each."""
    end, way = np.array(end), np.array([3.0, 4.0])
    return end + np.array(errors[:-1])[:, None] * way, end + np.array(errors[1:])[:, None] * way


def test_a_guess_is_the_end_of_steps_that_shrink_by_a_constant_ratio():
    np.testing.assert_allclose(extrapolate(*line([1.0, 0.9, 0.81, 0.729])), [2, -1])


@pytest.mark.parametrize(
    ("second", "residual", "ahead"),
    [
        (1.0, 0.5, 1.0),  # consecutive: 0.5 / (1 - 0.5)
        (10.0, 0.5, 1.5),  # the line through both residuals says 10, a step that halves 1, and so at most 1.5
        (1000.0, 0.999, 149.85),  # a ratio of 0.999 counts as one of 0.99: 1.5 * 0.999 / 0.01
    ],
)
def test_a_guess_goes_no_farther_than_its_steps_can_lead(second, residual, ahead):
    """From 0 a step goes to 1, from ``second`` it goes ``residual`` farther."""
    points, steps = np.array([[0.0], [second]]), np.array([[1.0], [residual]])
    np.testing.assert_allclose(extrapolate(points, points + steps), [second + ahead])


def test_steps_that_lead_nowhere_give_no_guess():
    points, images = line([1.0, 0.9, 0.81, 0.81])
    assert extrapolate(points, images) is None


def test_a_guess_that_is_dropped_makes_the_next_wait_longer():
    guesses = Guesses(PLAIN)
    guesses.gains.append(0.5)
    for pause in (1, 3, 7):
        assert not guesses.judge(gain=0.5, least=0.0)
        assert (guesses.pause, guesses.longest_pause, guesses.helpful) == (pause, pause, False)
    assert not guesses.judge(gain=0.6, least=0.6)
    assert guesses.judge(gain=0.7, least=0.6)
    assert (guesses.pause, guesses.longest_pause, guesses.helpful) == (0, 0, True)


def test_a_vector_that_is_no_state_makes_the_next_guess_wait():
    guesses = Guesses(PLAIN._replace(restore=lambda vector, like: None))
    x, pauses = np.zeros(3), []
    for gain in 0.9 ** np.arange(12):
        assert guesses.after_plain(gain, 1.0, x, linear_step(x)[1], resting=False) is None
        pauses.append(guesses.pause)
        x = linear_step(x)[1]
    assert pauses == [0, 0, 0, 0, 1, 3, 2, 1, 7, 6, 5, 4]


def test_logarithms_of_matrices():
    root = np.random.default_rng(0).normal(size=(4, 3, 3))
    matrices = root @ root.swapaxes(1, 2) + np.eye(3)
    np.testing.assert_allclose(exponentials(logarithms(matrices)), matrices, rtol=1e-10)
    np.testing.assert_allclose(logarithms(np.diag([1.0, np.e, np.e**2])), np.diag([0.0, 1.0, 2.0]), atol=1e-14)
    assert exponentials(np.diag([0.0, 101.0])) is None


def test_parameters_as_vectors_and_back():
    tool = engine("VVI", None, Floor(1e-3, np.ones(2)))
    state = Parameters(np.array([0.7, 0.3, 0.0]), np.arange(6.0).reshape(3, 2), np.full((3, 2), 0.5))
    to, back, *_ = tool.vectors()
    again = back(to(state), state)
    for found, expected in zip(again, state):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    far = back(to(state) + 7.0, state)  # any vector gives probabilities and variances
    assert far.weights.sum() == pytest.approx(1)
    assert (far.covariances > 0).all()
    assert back(np.r_[to(state)[:-1], -8.0], state) is None  # below the floor
    assert engine("EVE").vectors() is None
    assert engine("EEE", ridge=0.1).vectors() is None


def test_sets_of_weight_zero_stay_so():
    state = Parameters(np.array([0.6, 0.0, 0.4]), np.zeros((2, 1)), np.ones((1, 1, 1)))
    moved = _em.WEIGHTS.restore(2 * _em.WEIGHTS.flatten(state), state)
    np.testing.assert_allclose(moved.weights, state.weights)


@pytest.mark.parametrize(
    "model",
    [
        EGMM(3, model="VVV", random_state=0),
        EGMM(4, model="VEI", random_state=0),
        ECM(3, focal_sets="full", adaptive=True, n_init=2, random_state=0),
        ECM(3, n_init=2, random_state=0),
    ],
)
def test_estimators_end_no_worse_than_without(model, monkeypatch):
    X = load_iris().data
    faster = model.fit(X)
    trace = np.asarray(faster.criterion_trace_)
    best = faster.criterion_
    with monkeypatch.context() as without:
        without.setattr(Guesses, "after_plain", lambda *args, **kwargs: None)
        plain = model.fit(X)
    sign = 1 if model.method.criterion == "maximized" else -1
    scale = len(X) if sign == 1 else abs(plain.criterion_)
    assert sign * best >= sign * plain.criterion_ - model.tol * scale
    assert (sign * np.diff(trace) >= -1e-12 * abs(best)).all()


@pytest.mark.parametrize("max_iter", range(1, 12))
def test_guesses_count_as_iterations_and_none_is_made_after_the_last(max_iter):
    run = descend(linear_step, np.zeros(3), max_iter=max_iter, tol=1e-300, vectors=PLAIN)
    assert run.n_iter == max_iter
    assert linear_step(run.state)[0] == run.objective
