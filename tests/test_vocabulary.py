"""One word, one thing: what every estimator is asked by, and what it leaves behind."""

import warnings

import numpy as np
import pytest
from tests.views.made_views import suited

from evidentia import PairwiseConstraints, methods

CLUSTERERS = methods.clusterers()
every = pytest.mark.parametrize("cls", CLUSTERERS.values(), ids=CLUSTERERS)

# Words with one meaning; a parameter or attribute of that name means this, wherever it stands.
FITTED = ("partition_", "labels_", "focal_sets_", "n_clusters_")
ITERATIVE = ("criterion_", "criterion_trace_", "start_criteria_", "n_iter_", "converged_")
GONE = {"component_range", "weight", "n_components_", "metric_", "log_likelihood_trace_"}


def fitted(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2)) + np.repeat([[0, 0], [7, 1]], 12, axis=0)
    table = np.where(X > 3, "b", "a") if "categories" in cls.method.reads else X
    table = suited(cls, X) if cls.method.reads_views else table
    settings = {"random_state": 0} if "random_state" in cls.parameters else {}
    if "given" in cls.method.number:
        settings["n_clusters"] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return cls(**{**settings, **cls.method.quick}).fit(table), table


@every
def test_words_of_the_parameters(cls):
    names = set(cls.parameters)
    assert not names & GONE
    assert "n_clusters" in names or cls.method.number == ("found",)
    if "links" in cls.method.takes:
        assert {name for name in names if name.startswith("xi")} <= {"xi"}
    else:
        assert "xi" not in names
    if "metric" in names:  # how dissimilarities are computed, nothing else
        assert cls.parameters["metric"].check.accepts("euclidean")
        assert not cls.parameters["metric"].check.accepts("mahalanobis") or cls.parameters["metric"].check.accepts("l1")


@every
def test_words_of_the_result(cls):
    model, _ = fitted(cls)
    for name in FITTED:
        assert hasattr(model, name), name
    assert not set(vars(model)) & GONE
    assert model.n_clusters_ == model.partition_.n_clusters == model.focal_sets_.n_clusters
    np.testing.assert_array_equal(model.labels_, model.partition_.labels(cls.method.labels))
    if "links" in cls.method.takes:
        assert isinstance(model.constraints_, PairwiseConstraints)
        assert len(model.constraints_) == 0
    if cls.method.criterion is None or cls.method.number == ("found",):
        return
    if "max_iter" in cls.parameters:
        for name in ITERATIVE:
            assert hasattr(model, name) or (name == "start_criteria_" and "n_init" not in cls.parameters), name
        trace = np.asarray(model.criterion_trace_)
        assert model.criterion_ == pytest.approx(trace[-1])
        better = np.max if cls.method.criterion == "maximized" else np.min
        if "n_init" in cls.parameters and cls.method.name != "nnevclus":  # which starts are polished after a search
            assert model.criterion_ == pytest.approx(better(model.start_criteria_))
        rise = np.diff(trace) if cls.method.criterion == "maximized" else -np.diff(trace)
        slack = 1e-9 * max(1.0, np.abs(trace).max())
        assert (rise >= -slack).all()
        assert len(trace) == model.n_iter_ + 1
        assert model.converged_ in (True, False)


@pytest.mark.parametrize("cls", [cls for cls in CLUSTERERS.values() if "singletons" in cls.method.families])
def test_singletons_are_single_clusters(cls):
    settings = {"focal_sets": "singletons", **cls.method.quick}
    if "random_state" in cls.parameters:
        settings["random_state"] = 0
    X = np.random.default_rng(1).normal(size=(30, 2)) + np.repeat([[0, 0], [7, 1], [0, 9]], 10, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = cls(**{"n_clusters": 3, **settings}).fit(suited(cls, X) if cls.method.reads_views else X)
    assert set(model.focal_sets_.card.tolist()) <= {0, 1}
