"""scikit-learn's metadata routing hands weights and links to the step that asked for them."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from evidentia import CECM, ECM, EGMM, PCCA, PairwiseConstraints, methods

rng = np.random.default_rng(5)
GROUPS = np.arange(40) % 2
X = rng.normal(size=(40, 2)) + 3 * GROUPS[:, None]
WEIGHT = 1.0 + 2 * (np.arange(40) % 3)
LINKS = PairwiseConstraints.sample(GROUPS, 12, random_state=0)


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("cls", [EGMM, ECM])
def test_weights_reach_the_clusterer_of_a_pipeline(cls):
    scaled = StandardScaler().fit_transform(X)
    model = cls(2, random_state=0).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
    found = pipeline.fit(X, sample_weight=WEIGHT)[-1].partition_.masses
    np.testing.assert_array_equal(found, cls(2, random_state=0).fit(scaled, sample_weight=WEIGHT).partition_.masses)
    assert np.abs(found - cls(2, random_state=0).fit(scaled).partition_.masses).max() > 1e-6


def test_links_reach_the_clusterer_of_a_pipeline():
    scaled = StandardScaler().fit_transform(X)
    model = CECM(2, random_state=0).set_fit_request(constraints=True)
    found = make_pipeline(StandardScaler(), model).fit(X, constraints=LINKS)[-1]
    assert len(found.constraints_) == len(LINKS)
    wanted = CECM(2, random_state=0).fit(scaled, constraints=LINKS)
    np.testing.assert_array_equal(found.partition_.masses, wanted.partition_.masses)


def test_what_nobody_asked_for_is_refused():
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="constraints"):
        make_pipeline(StandardScaler(), CECM(2)).fit(X, constraints=LINKS)


WEIGHED = {name: cls for name, cls in methods.clusterers().items() if "weights" in cls.method.takes}
LINKED = {name: cls for name, cls in methods.clusterers().items() if "links" in cls.method.takes}


def estimator(cls):
    settings = {"n_clusters": 2, **cls.method.quick}
    return cls(**settings, **({"random_state": 0} if "random_state" in cls.parameters else {}))


def fit_both(cls, **metadata):
    """Masses of a pipeline, and those of the same estimator that is given the same by hand."""
    table = np.where(X > 1, "b", "a") if "categories" in cls.method.reads else X
    table = [X, X[:, ::-1] ** 2] if cls.method.reads_views else table
    names = dict.fromkeys(metadata, True)
    step = FunctionTransformer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        pipeline = make_pipeline(step, estimator(cls).set_fit_request(**names)).fit(table, **metadata)
        by_hand = estimator(cls).fit(table, **metadata)
    return pipeline[-1], by_hand


@pytest.mark.parametrize("cls", WEIGHED.values(), ids=WEIGHED)
def test_every_method_with_weights_gets_them(cls):
    routed, by_hand = fit_both(cls, sample_weight=WEIGHT)
    np.testing.assert_array_equal(routed.partition_.masses, by_hand.partition_.masses)


@pytest.mark.parametrize("cls", LINKED.values(), ids=LINKED)
def test_every_method_with_links_gets_them(cls):
    routed, by_hand = fit_both(cls, constraints=LINKS)
    assert len(routed.constraints_) == len(LINKS)
    np.testing.assert_array_equal(routed.partition_.masses, by_hand.partition_.masses)


def test_links_reach_a_learned_metric_before_a_clusterer():
    learner = PCCA(1).set_fit_request(constraints=True)
    pipeline = make_pipeline(learner, ECM(2, random_state=0)).fit(X, constraints=LINKS)
    wanted = ECM(2, random_state=0).fit(PCCA(1).fit(X, constraints=LINKS).transform(X))
    np.testing.assert_array_equal(pipeline[-1].partition_.masses, wanted.partition_.masses)
