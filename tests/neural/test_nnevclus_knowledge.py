"""NNEVCLUS and what is known beforehand: links, labels, a start, a metric learned from them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from evidentia import CredalPartition, FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import delta_star
from evidentia.neural import (
    NNEVCLUS,
    nnevclus,
    search,
)

pytestmark = pytest.mark.filterwarnings("ignore:NNEVCLUS reached max_iter")  # most fits here are short on purpose


@pytest.fixture(scope="module")
def corners():
    """Four groups on a rectangle, two classes along its short side: dissimilarities alone find the long one."""
    X, group = make_blobs([15] * 4, centers=[[0, 0], [0, 8], [6, 0], [6, 8]], shuffle=False, random_state=0)
    return X, group // 2


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
def test_links_turn_the_partition_round(corners, optimizer):
    X, y = corners
    settings = {"optimizer": optimizer, "batch_size": 30, "max_iter": 60, "n_init": 1, "random_state": 0}
    assert adjusted_rand_score(y, NNEVCLUS(2, **settings).fit(X).labels_) < 0.1
    links = PairwiseConstraints.sample(y, 60, random_state=0)
    model = NNEVCLUS(2, xi=3, **settings).fit(X, constraints=links)
    assert adjusted_rand_score(y, model.labels_) == 1
    broken = model.partition_.relational(links.pairs)
    same, different = broken.plausibility_same, broken.plausibility_different
    penalty = 3 / 120 * np.where(links.must, different + 1 - same, same + 1 - different).sum()
    assert model.criterion_ == pytest.approx(model.loss_ + penalty)


def test_links_begin_from_cevclus():
    """From random weights a network ends in a worse minimum."""
    X, y = load_iris(return_X_y=True)
    links = PairwiseConstraints.sample(y[::2], 60, random_state=0)
    settings = {"n_init": 2, "max_iter": 100, "tol": 1e-3, "random_state": 0}
    model = NNEVCLUS(3, **settings).fit(X[::2], constraints=links)
    taught, at_random = model.start_criteria_
    assert taught < 0.9 * at_random
    assert model.criterion_ == taught
    assert model.network_.module[0].out_features == 150


def test_a_start_from_evclus(blobs):
    """On some of the objects when there are many."""
    X, y = blobs
    model = NNEVCLUS(3, init="evclus", n_init=2, max_iter=1, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert len(model.start_criteria_) == 2
    with pytest.raises(ValueError, match="init='evclus' numbers clusters of its own"):
        NNEVCLUS(3, init="evclus").fit(X, partial_labels=y)


def test_a_start_on_many_objects_is_that_of_some_and_of_the_linked_ones(blobs, monkeypatch):
    X, y = blobs
    monkeypatch.setattr(search, "SAMPLE", 40)
    links = PairwiseConstraints([[3, 88], [5, 6]], [False, True])
    model = NNEVCLUS(3, n_init=1, max_iter=1, random_state=0)
    solved = []
    solve = search.solve_without_network
    monkeypatch.setattr(nnevclus, "solve_without_network", lambda *args: (solved.append(solve(*args)), solved[-1])[1])
    model.fit(X, constraints=links)
    (start,) = solved
    assert {3, 5, 6, 88} <= set(start.objects)
    assert 40 <= len(start.objects) <= 44
    found = CredalPartition(start.masses, FocalSets(3, "pairs")).labels()
    assert adjusted_rand_score(y[start.objects], found) == 1


def test_a_metric_that_sees_one_direction_does_not_blind_the_network(corners):
    """Classes coincide in what the learner keeps; links and the other column still part them."""

    class Flat(StandardScaler):
        def transform(self, X):
            return super().transform(X)[:, 1:]

    X, y = corners
    links = PairwiseConstraints.from_labels(y)
    model = NNEVCLUS(2, metric_learner=Flat(), xi=5, n_init=2, max_iter=100, random_state=0)
    assert adjusted_rand_score(y, model.fit(X, constraints=links).labels_) == 1
    assert model.shepard_.wanted.max() <= 1
    d = np.abs(Flat().fit(X).transform(X)[model.shepard_.pairs].squeeze(2) @ [1, -1])
    np.testing.assert_allclose(model.shepard_.wanted, delta_star(d, model.delta0_))


def test_labels_number_the_clusters(corners):
    X, y = corners
    labels = np.full(60, -1)
    labels[::3] = 1 - y[::3]
    model = NNEVCLUS(2, n_init=3, max_iter=150, label_weight=0.8, random_state=0).fit(X, partial_labels=labels)
    assert (model.labels_[::3] == labels[::3]).all()
    assert (model.labels_ == 1 - y).mean() > 0.95
    penalty = np.square(model.partition_.contour[::3] - np.eye(2)[1 - y[::3]]).sum() / 20
    assert model.criterion_ == pytest.approx(0.2 * model.loss_ + 0.8 * penalty)


def test_labels_may_be_sets_of_clusters(blobs):
    X, y = blobs
    possible = np.zeros((len(X), 3), dtype=bool)
    possible[[0, 50, 75]] = [[True, True, False], [True, False, False], [False, False, True]]
    model = NNEVCLUS(3, n_init=2, tol=1e-3, random_state=0).fit(X, partial_labels=possible)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.labels_[50] == 0
    assert model.labels_[75] == 2


def test_links_by_name(corners):
    X, _ = corners
    frame = pd.DataFrame(X, index=[f"row{i}" for i in range(60)])
    links = PairwiseConstraints.from_links([("row0", "row15")], [("row0", "row30")])
    model = NNEVCLUS(2, n_init=1, max_iter=5, random_state=0).fit(frame, constraints=links)
    assert model.constraints_.pairs.tolist() == [[0, 15], [0, 30]]
    assert model.partition_.object_names[:2] == ("row0", "row1")
    with pytest.raises(TypeError, match="must be PairwiseConstraints, for instance"):
        NNEVCLUS(2).fit(X, constraints=[(0, 1)])


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
def test_a_given_partition_is_where_it_starts(blobs, optimizer):
    X, y = blobs
    sure = CredalPartition(np.eye(3)[(y + 1) % 3], FocalSets(3, [{0}, {1}, {2}]))
    model = NNEVCLUS(3, init=sure, optimizer=optimizer, batch_size=30, max_iter=30, random_state=0).fit(X)
    assert (model.labels_ == (y + 1) % 3).all()
    assert len(model.start_criteria_) == 1


def test_a_metric_learner_sees_what_is_known(corners):
    class Stretch(StandardScaler):
        def fit(self, X, y=None, constraints=None):
            self.known_ = y, constraints
            return super().fit(X)

        def transform(self, X):
            return super().transform(X) * [9, 1]

    X, y = corners
    links = PairwiseConstraints.from_links([(0, 15)])
    labels = np.full(60, -1)
    labels[3] = 1
    model = NNEVCLUS(2, metric_learner=Stretch(), n_init=2, tol=1e-3, random_state=0).fit(
        X, partial_labels=labels, constraints=links
    )
    assert adjusted_rand_score(y, model.labels_) == 1
    assert (model.metric_learner_.known_[0] == labels).all()
    assert model.metric_learner_.known_[1].pairs.tolist() == [[0, 15]]
    assert (model.predict(X) == model.labels_).all()
