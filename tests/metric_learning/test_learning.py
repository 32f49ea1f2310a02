"""Metric learners inside other methods, and scikit-learn's own checks of all of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples

from evidentia import methods, metric_learning
from evidentia.constraints import PairwiseConstraints
from evidentia.datasets import make_circles
from evidentia.metric_learning import FDA, KFDA, KPCCA, LFDA, LSI, PCCA, DMLeig, learn_metric
from evidentia.prototypes import CECM
from evidentia.relational import CEVCLUS

CIRCLES, RING = (lambda data: (data.data, data.target))(make_circles(120, random_state=3))
LINKS = PairwiseConstraints.sample(RING, 40, random_state=0)
FRAME = pd.DataFrame(CIRCLES, columns=["x", "y"], index=[f"r{i}" for i in range(120)])


def test_nothing_is_learned_without_a_learner():
    learner, rows = learn_metric(None, CIRCLES, LINKS)
    assert learner is None
    assert rows is CIRCLES


@pytest.mark.parametrize("learner", [PCCA(), KPCCA(ridge=0.3), LSI(), DMLeig()])
def test_learners_from_links_are_given_links(learner):
    fitted, rows = learn_metric(learner, CIRCLES, LINKS, labels=RING)
    np.testing.assert_array_equal(rows, clone(learner).fit(CIRCLES, constraints=LINKS).transform(CIRCLES))
    assert fitted is not learner
    assert not hasattr(learner, "n_features_in_")
    with pytest.raises(TypeError, match=f"{type(learner).__name__} learns from links"):
        learn_metric(learner, CIRCLES, labels=RING)


@pytest.mark.parametrize("learner", [FDA(), LFDA(n_neighbors=3), KFDA()])
def test_learners_from_labels_are_given_labels(learner):
    labels = np.where(np.arange(120) % 2, RING, -1)
    _, rows = learn_metric(learner, CIRCLES, LINKS, labels=labels)
    np.testing.assert_array_equal(rows, clone(learner).fit(CIRCLES, labels).transform(CIRCLES))
    with pytest.raises(ValueError, match=f"{type(learner).__name__} learns from labels"):
        learn_metric(learner, CIRCLES, LINKS)


LEARNERS = {
    name: found for name in metric_learning.__all__ if isinstance(found := getattr(metric_learning, name), type)
}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_order_in_memory_changes_no_bit(name):
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2], 20)
    rows = rng.normal(size=(60, 5)) + 3 * classes[:, None] * rng.normal(size=5)
    links = {"constraints": PairwiseConstraints.sample(classes, 30, random_state=0)}
    known = {"y": classes} if "labels" in LEARNERS[name].method.takes else links
    by_row, by_column = (LEARNERS[name]().fit(table, **known) for table in (rows, np.asfortranarray(rows)))
    np.testing.assert_array_equal(by_column.transform(np.asfortranarray(rows)), by_row.transform(rows))


def test_any_transformer_may_stand_in():
    _, rows = learn_metric(PCA(1).set_output(transform="pandas"), FRAME)
    assert isinstance(rows, np.ndarray)
    np.testing.assert_allclose(rows, PCA(1).fit_transform(CIRCLES))


@pytest.mark.parametrize("wrong", [PCCA, "pcca", 3])
def test_what_is_no_transformer_is_refused(wrong):
    with pytest.raises(TypeError, match=r"'metric_learner' must be a transformer such as PCCA\(\)"):
        learn_metric(wrong, CIRCLES, LINKS)


@pytest.mark.parametrize("method", [CECM(2, n_init=2, random_state=0), CEVCLUS(2, n_init=1, random_state=0)])
def test_a_method_works_on_the_transformed_rows(method):
    """The same as transforming by hand, and new rows are transformed too."""
    model = clone(method).set_params(metric_learner=KPCCA(1)).fit(FRAME, constraints=LINKS)
    learner = KPCCA(1).fit(FRAME, constraints=LINKS)
    twin = clone(method).fit(learner.transform(FRAME), constraints=LINKS)
    np.testing.assert_allclose(model.partition_.masses, twin.partition_.masses, atol=1e-12)
    assert model.partition_.object_names == tuple(FRAME.index)
    assert adjusted_rand_score(RING, model.labels_) >= 0.96
    assert adjusted_rand_score(RING, clone(method).fit(FRAME, constraints=LINKS).labels_) < 0.5
    new = pd.DataFrame(make_circles(50, random_state=9).data, columns=["x", "y"])
    expected = twin.predict_partition(learner.transform(new)).masses
    np.testing.assert_allclose(model.predict_partition(new).masses, expected, atol=1e-12)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(new.assign(z=0))


@pytest.mark.parametrize("method", [CECM, CEVCLUS])
def test_nested_parameters_can_be_read_and_set(method):
    model = clone(method(metric_learner=KPCCA(3, ridge=0.7)))
    assert model.get_params()["metric_learner__ridge"] == 0.7
    model.set_params(metric_learner__n_components=1).fit(CIRCLES, constraints=LINKS)
    assert model.metric_learner_.n_components == 1
    assert not hasattr(model.metric_learner, "objects_")
    assert method().fit(CIRCLES, constraints=LINKS).metric_learner_ is None


def test_centers_of_cecm_are_in_the_learned_space():
    model = CECM(2, metric_learner=KPCCA(1), random_state=0).fit(CIRCLES, constraints=LINKS)
    rows = model.metric_learner_.transform(CIRCLES)[:, 0]
    assert model.cluster_centers_.shape == (2, 1)
    means = [rows[model.labels_ == k].mean() for k in (0, 1)]
    np.testing.assert_allclose(model.cluster_centers_[:, 0], means, atol=0.2)


@pytest.mark.parametrize("metric", ["precomputed", "gower"])
def test_dissimilarities_leave_nothing_to_learn(metric):
    with pytest.raises(ValueError, match=f"the 'metric' of CEVCLUS cannot be '{metric}'"):
        CEVCLUS(metric=metric, metric_learner=PCCA()).fit(CIRCLES, constraints=LINKS)


@pytest.mark.parametrize("method", [CECM, CEVCLUS])
def test_a_learner_needs_what_it_learns_from(method):
    with pytest.raises((TypeError, ValueError), match=r"PCCA learns from links|PCCA needs a cannot-link"):
        method(metric_learner=PCCA()).fit(CIRCLES)


class FromLabels:
    """Links of some of the objects, from the labels that scikit-learn's checks give."""

    def fit(self, X, y=None):
        labels = np.asarray(y)
        if labels.ndim == 1 and len(labels) == _num_samples(X):
            labels = np.where(np.arange(len(labels)) < 30, labels, -1)
            labels[:1] = labels.max() + 1  # some checks know only one class
            return super().fit(X, constraints=PairwiseConstraints.from_labels(labels))
        return super().fit(X, constraints=PairwiseConstraints.from_links([], [(0, 1)]))


class LinkedPCCA(FromLabels, PCCA):
    pass


class LinkedKPCCA(FromLabels, KPCCA):
    pass


class LinkedLSI(FromLabels, LSI):
    pass


class LinkedDMLeig(FromLabels, DMLeig):
    pass


@parametrize_with_checks(
    [cls(**cls.method.quick) for cls in (PCCA, KPCCA, LSI, DMLeig)],
    expected_failed_checks=lambda learner: dict(learner.method.exceptions),  # strict: what is declared does fail
)
def test_what_fails_without_links_is_declared(estimator, check):
    assert check(estimator) is None


@pytest.mark.parametrize("name", sorted(set(metric_learning.__all__) - {"learn_metric"}))
def test_learners_are_known_by_their_short_names(name):
    cls = methods.all_methods()[name.lower()]
    assert cls.__name__ == name
    assert cls.method.learner
    assert cls.method.takes == (("labels",) if issubclass(cls, FDA) else ("links",))
    assert bool(cls.method.exceptions) == ("links" in cls.method.takes)


def test_a_kernel_learner_has_the_parameters_of_both_its_bases():
    assert set(KPCCA.parameters) == {*PCCA.parameters, "kernel", "gamma", "kernel_params"}
    assert (KPCCA().ridge, PCCA().ridge, KPCCA().n_components, PCCA().n_components) == (0.1, 0.01, 2, None)
    assert KPCCA(3, beta=2.5).get_params()["beta"] == 2.5
    assert "components_ :" not in KPCCA.__doc__
    for word in ("dual_coef_ : ndarray", "converged_ : bool", "beta : float > 0, default=1.0"):
        assert word in KPCCA.__doc__


@pytest.mark.parametrize(
    ("learner", "exact"), [(PCCA(), PCCA(tol=1e-13)), (KPCCA(), KPCCA(tol=1e-13)), (LSI(), None), (DMLeig(), None)]
)
def test_how_the_search_went_is_told_by_the_same_words(learner, exact):
    learner.fit(CIRCLES, constraints=LINKS)
    assert learner.criterion_ == learner.criterion_trace_[-1]
    assert learner.n_iter_ == len(learner.criterion_trace_) - 1 > 2
    assert learner.converged_
    assert learner.constraints_.pairs.tolist() == LINKS.pairs.tolist()
    if learner.method.criterion == "minimized":
        assert (np.diff(learner.criterion_trace_) < 0).all()
    else:
        assert learner.criterion_ > learner.criterion_trace_[0]
        assert 0 <= learner.gap_ <= learner.gap_tol
    if exact is not None:  # a share of the loss is what is left to gain when an iteration gains less than it
        best = exact.fit(CIRCLES, constraints=LINKS).criterion_
        assert best <= learner.criterion_ < best * (1 + 1e-3)
    with pytest.warns(ConvergenceWarning, match=f"{type(learner).__name__} reached max_iter=2"):
        short = clone(learner).set_params(max_iter=2).fit(CIRCLES, constraints=LINKS)
    assert not short.converged_
    assert short.n_iter_ == 2
    np.testing.assert_allclose(short.criterion_trace_, learner.criterion_trace_[:3])


@parametrize_with_checks(
    [LinkedPCCA(), LinkedKPCCA(1), LinkedLSI(max_iter=5000), LinkedDMLeig(), FDA(), LFDA(), KFDA()]
)
def test_scikit_learn_contract(estimator, check):
    assert check(estimator) is None
