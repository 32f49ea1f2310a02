"""scikit-learn's metadata routing hands weights and links to the step that asked for them."""

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evidentia import CECM, ECM, EGMM, PairwiseConstraints

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
