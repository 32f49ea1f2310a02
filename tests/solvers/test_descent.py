"""The loop around every descent: when it ends, what it keeps, what it says."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from evidentia.solvers.descent import Run, all_runs, best_descent, best_of, descend, send_progress_to


def halving(x):
    """Objective 2**x, and a state one lower: falls by half each time."""
    return 2.0**x, x - 1


def to_valley(x):
    """Square of the distance to the nearer of the valleys 0 (depth 1) and 10 (depth 0)."""
    bottom, depth = (0, 1.0) if x < 5 else (10, 0.0)
    return depth + (x - bottom) ** 2, bottom + (x - bottom) / 3


def test_the_objective_belongs_to_the_state():
    run = descend(halving, 3, max_iter=4, tol=0)
    assert run.trace.tolist() == [8, 4, 2, 1, 0.5]
    assert run.state == -1  # 2**-1
    assert (run.objective, run.n_iter, run.converged) == (0.5, 4, False)


def test_it_ends_when_the_objective_falls_too_little():
    run = descend(halving, 0, max_iter=100, tol=0.1)
    assert run.trace.tolist() == [1, 0.5, 0.25, 0.125, 0.0625]  # the last fall is 0.0625
    assert run.converged


def test_a_relative_tolerance_follows_the_size_of_the_objective():
    def settling(x):
        return 1e6 * (1 + 0.1**x), x + 1

    assert descend(settling, 0, max_iter=100, tol=1e-3, relative=True).n_iter == 4  # falls by 900 of a million
    assert descend(settling, 0, max_iter=100, tol=1e-3).n_iter > 9
    assert not descend(
        halving, 0, max_iter=20, tol=0.9, relative=True
    ).converged  # each fall is as large as what is left


def test_an_objective_that_rises_ends_the_descent_where_it_was_lower():
    run = descend(lambda x: (x, x + 1), 5.0, max_iter=10, tol=0)
    assert run.trace.tolist() == [5]
    assert (run.state, run.converged) == (5, True)


def test_what_rests_may_be_told_by_the_states_whatever_the_objective_does():
    def wandering(x):
        return [5.0, 7.0, 7.0, 3.0, 2.0][x], min(x + 1, 3)

    run = descend(wandering, 0, max_iter=10, rests=lambda before, after: before == after)
    assert run.trace.tolist() == [5, 7, 7, 3, 3]  # a descent by the objective would end at the first 7
    assert (run.state, run.converged) == (3, True)
    assert not descend(wandering, 0, max_iter=3, rests=lambda before, after: before == after).converged


def test_a_search_without_tolerance_has_its_own_words_for_unrest():
    with pytest.warns(ConvergenceWarning, match=r"^Walk reached max_iter=2 before it stood still\.$"):
        best_descent(
            to_valley,
            [12.0],
            name="Walk",
            max_iter=2,
            rests=lambda before, after: before == after,
            unrest="it stood still.",
        )


def test_progress_can_be_watched():
    seen = []
    descend(halving, 0, max_iter=2, tol=0, watch=lambda *what: seen.append(what))
    assert seen == [(0, 1.0), (1, 0.5), (2, 0.25)]


def test_an_interrupt_keeps_the_last_complete_state():
    def interrupted(x):
        if x < 2:
            raise KeyboardInterrupt
        return halving(x)

    run = descend(interrupted, 5, max_iter=100, tol=0)
    assert (run.state, run.objective, run.interrupted, run.converged) == (2, 4.0, True, False)
    with pytest.raises(KeyboardInterrupt):
        descend(interrupted, 1, max_iter=100, tol=0)


def test_the_best_of_several_starts_is_kept():
    best, runs = best_descent(to_valley, [-4.0, 13.0, 2.0], name="Walk", max_iter=100, tol=1e-12)
    assert best is runs[1]
    assert best.state == pytest.approx(10, abs=1e-5)
    np.testing.assert_allclose([run.objective for run in runs], [1, 0, 1], atol=1e-9)


def test_a_best_run_that_did_not_converge_is_said_aloud():
    with pytest.warns(ConvergenceWarning, match="Walk reached max_iter=2 before tol=1e-12; raise max_iter or tol"):
        best_descent(to_valley, [12.0], name="Walk", max_iter=2, tol=1e-12)


def test_only_the_best_run_has_to_converge():
    best, runs = best_descent(to_valley, [10.0, 4.9], name="Walk", max_iter=3, tol=1e-12)
    assert best is runs[0]
    assert not runs[1].converged


def test_an_interrupt_inside_a_start_ends_the_search_with_the_best_so_far():
    def impatient(x):
        if -1 <= x < 0:  # on the way of the third start
            raise KeyboardInterrupt
        return to_valley(x)

    with pytest.warns(ConvergenceWarning, match="Walk was interrupted in start 3; the best solution so far is kept"):
        best, runs = best_descent(impatient, [2.0, 13.0, -4.0, 14.0], name="Walk", max_iter=50, tol=1e-12)
    assert best is runs[1]
    assert (len(runs), runs[2].interrupted) == (3, True)


def test_an_interrupt_between_starts_keeps_what_was_found():
    def starts():
        yield 13.0
        raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="Walk was interrupted in start 1"):
        best, runs = best_descent(to_valley, starts(), name="Walk", max_iter=50, tol=1e-12)
    assert best.state == pytest.approx(10, abs=1e-5)
    assert len(runs) == 1


def test_an_interrupt_before_anything_was_found_is_passed_on():
    def starts():
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        best_descent(to_valley, starts(), name="Walk", max_iter=50, tol=1e-12)


def test_progress_is_shown_on_request_only(capsys):
    best_descent(to_valley, [1.0], name="Walk", max_iter=100, tol=1e-12)
    assert capsys.readouterr().err == ""
    best_descent(to_valley, [1.0], name="Walk", max_iter=100, tol=1e-12, verbose=1)
    assert "Walk" in capsys.readouterr().err


def test_any_way_to_run_a_start_will_do():
    seen = []

    def run(start, watch):
        watch(1, 0.5)
        seen.append(start)
        return Run(start, np.array([9.0, float(start)]), converged=start != 3)

    runs = all_runs(run, iter([5, 3, 4]), name="Walk")
    assert seen == [5, 3, 4]
    assert best_of(runs, name="Walk", max_iter=7, tol=0.1, rank=lambda run: -run.objective) is runs[0]
    with pytest.warns(ConvergenceWarning, match=r"Walk reached max_iter=7 before it came to rest; raise max_iter\."):
        assert best_of(runs, name="Walk", max_iter=7, tol=0) is runs[1]


def test_who_listens_is_told_how_far_a_fit_is_and_nobody_else():
    heard = []

    def run(start, watch):
        return descend(halving, start, max_iter=2, watch=watch)

    with send_progress_to(heard.append):
        all_runs(run, [3, 5], name="Halving", n_starts=2)
    assert heard[0] == "Halving, start 1 of 2, iteration 0"
    assert heard[-1] == "Halving, start 2 of 2, iteration 2"
    assert len(heard) == 6
    all_runs(run, [3], name="Halving")
    assert len(heard) == 6
