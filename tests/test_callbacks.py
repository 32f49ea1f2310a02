"""scikit-learn's callbacks hear of every task of a fit, change nothing, and may end it."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.callback import ProgressBar

from evidentia import PCCA, PairwiseConstraints, load_model, methods
from evidentia.mixtures.bootstrap import CHUNK
from evidentia.solvers.callbacks import CallbackSupportMixin, fit_task, report_iteration, subtask
from evidentia.solvers.descent import InterruptedFit

CLUSTERERS = {name: cls for name, cls in methods.clusterers().items() if "max_iter" in cls.parameters}
every = pytest.mark.parametrize("cls", CLUSTERERS.values(), ids=CLUSTERERS)
rng = np.random.default_rng(0)
X = rng.normal(size=(24, 2)) + np.repeat([[0, 0], [7, 1]], 12, axis=0)


class Recorder:
    """Writes down what it hears, and asks for an end at the first task of a name."""

    def __init__(self, stop_at=None):
        self.stop_at, self.calls = stop_at, []

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X, metadata):
        assert len(X) == (2 if estimator.method.reads_views else 24)
        self.calls.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.calls.append(("end", context.task_name))
        if context.parent is None and not self.stop_at:
            assert len(fitted_estimator.partition_) == 24
        return context.task_name == self.stop_at


def estimator(cls, **more):
    settings = {"random_state": 0} if "random_state" in cls.parameters else {}
    if "given" in cls.method.number:
        settings["n_clusters"] = 2
    return cls(**{**settings, **cls.method.quick, **more})


def table(cls):
    if cls.method.reads_views:
        views = [X, 3 * X[:, ::-1] + 1]
        return (
            views if "views" in cls.method.reads else [np.abs(np.subtract.outer(one[:, 0], one[:, 0])) for one in views]
        )
    return np.where(X > 3, "b", "a") if "categories" in cls.method.reads else X


def fit(model, cls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(table(cls))


@every
def test_tasks_are_heard_and_change_nothing(cls):
    recorder = Recorder()
    model = fit(estimator(cls).set_callbacks(recorder), cls)
    np.testing.assert_array_equal(model.partition_.masses, fit(estimator(cls), cls).partition_.masses)
    calls = recorder.calls
    assert calls[:2] == [("setup", "fit"), ("begin", "fit")]
    assert calls[-2:] == [("end", "fit"), ("teardown", "fit")]
    stack = []
    for what, name in calls[1:-1]:
        if what == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    assert {"iteration", "replicates"} & {name for _, name in calls}


@every
def test_whoever_asks_for_an_end_gets_the_best_so_far(cls):
    more = {"n_boot": CHUNK + 20} if "n_boot" in cls.parameters else {}
    task = "replicates" if more else "iteration"
    recorder = Recorder(stop_at=task)
    model = estimator(cls, **more).set_callbacks(recorder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(table(cls))
    assert [one for one in caught if issubclass(one.category, InterruptedFit)]
    assert len(model.partition_) == 24
    assert recorder.calls.count(("end", task)) <= 2
    assert recorder.calls[-1] == ("teardown", "fit")


def test_an_end_after_a_start_leaves_out_the_others():
    cls = CLUSTERERS["ecm"]
    recorder = Recorder(stop_at="start")
    with pytest.warns(InterruptedFit, match="start 1"):
        model = cls(2, focal_sets="full", n_init=5, random_state=0).set_callbacks(recorder).fit(X)
    assert recorder.calls.count(("begin", "start")) == 1 == len(model.start_criteria_)


def test_an_error_ends_all_tasks():
    recorder = Recorder()
    with pytest.raises(ValueError, match=r"NaN|missing"):
        CLUSTERERS["ecm"](2).set_callbacks(recorder).fit(np.full((24, 2), np.nan))
    assert recorder.calls[-1] == ("teardown", "fit")


def test_metric_learners_too():
    links = PairwiseConstraints.sample(np.repeat([0, 1], 12), 30, random_state=0)
    recorder = Recorder(stop_at="iteration")
    with pytest.warns(InterruptedFit, match="the metric so far"):
        model = PCCA().set_callbacks(recorder).fit(X, constraints=links)
    assert model.n_iter_ == 1
    assert not model.converged_
    assert np.isfinite(model.transform(X)).all()


def test_clones_are_watched_and_files_hold_no_callbacks(tmp_path):
    recorder = Recorder()
    model = clone(CLUSTERERS["ecm"](2, n_init=1, random_state=0).set_callbacks(recorder)).fit(X)
    assert ("begin", "iteration") in recorder.calls
    again = load_model(model.save(tmp_path / "model.npz"))
    assert not hasattr(again, "_skl_callbacks")
    np.testing.assert_array_equal(again.predict(X), model.labels_)


def test_the_progress_bar_of_scikit_learn_works(capsys):
    CLUSTERERS["ecm"](2, n_init=2, random_state=0).set_callbacks(ProgressBar()).fit(X)
    assert "ECM" in capsys.readouterr().out


class Parts(CallbackSupportMixin, BaseEstimator):
    """A fit of one part with one iteration, which may fail; it keeps whether each was to be the last."""

    def fit(self, X, y=None, sample_weight=None, links=None):
        with fit_task(self, X, y, {"sample_weight": sample_weight, "links": links}), subtask("part") as end:
            self.last = [report_iteration()]
            if X is None:
                raise ValueError("no table")
            self.last.append(end())
        return self


class Listener(Recorder):
    def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
        self.calls.append(("begin", context.task_name, X, y, metadata))

    def on_fit_task_end(self, estimator, context, *, y):
        self.calls.append(("end", context.task_name, y))
        return context.task_name == self.stop_at


@pytest.mark.parametrize("named", [False, True])
def test_every_task_is_told_what_the_fit_was_given(named):
    listener, table, answers = Listener(stop_at="iteration"), "a table", "answers"
    model = Parts().set_callbacks(listener)
    found = (
        model.fit(table, y=answers, sample_weight=3)
        if named
        else model.fit(table, answers, sample_weight=3, links=None)
    )
    assert found is model
    assert model.last == [True, False]
    told = (table, answers, {"sample_weight": 3})
    ends = [("end", name, answers) for name in ("iteration", "part", "fit")]
    begins = [("begin", name, *told) for name in ("fit", "part", "iteration")]
    assert listener.calls[1:-1] == begins + ends
    assert not report_iteration()  # nobody is listening any more


def test_a_part_that_fails_has_ended_and_so_has_its_fit():
    listener = Listener(stop_at="part")
    with pytest.raises(ValueError, match="no table"):
        Parts().set_callbacks(listener).fit(None)
    assert [call[:2] for call in listener.calls[3:]] == [
        ("begin", "iteration"), ("end", "iteration"), ("end", "part"), ("teardown", "fit")
    ]  # fmt: skip
    assert not report_iteration()  # no task is left over


def test_a_fit_that_nobody_watches_has_no_tasks():
    assert Parts().fit("a table").last == [False, False]
    assert Parts().set_callbacks(Listener(stop_at="part")).fit("a table").last == [False, True]


def test_parts_one_after_the_other_belong_to_the_same_fit():
    parents = []

    class Pair(Parts):
        def fit(self, X):
            with fit_task(self, X, None, {}):
                for name in "ab":
                    with subtask(name):
                        report_iteration()

    class Family(Recorder):
        def on_fit_task_begin(self, estimator, context, *, X):
            parents.append((context.task_name, context.parent and context.parent.task_name))

        def on_fit_task_end(self, estimator, context):
            return False

    Pair().set_callbacks(Family()).fit("a table")
    Pair().set_callbacks(Family()).fit("a table")
    assert parents == 2 * [("fit", None), ("a", "fit"), ("iteration", "a"), ("b", "fit"), ("iteration", "b")]
