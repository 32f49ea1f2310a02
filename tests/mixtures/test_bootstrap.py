import numpy as np
import pytest
from sklearn.base import BaseEstimator

from evidentia.mixtures import bootstrap as module
from evidentia.mixtures.bootstrap import Refits, bootstrap, draw_weights
from evidentia.solvers.descent import InterruptedFit


class TwoMeans(BaseEstimator):
    """A mixture of one's own: two unit Gaussians on a line, fitted by a few weighted EM steps."""

    def __init__(self, fails_above=np.inf):
        self.fails_above = fails_above

    def fit(self, X, y=None, sample_weight=None):
        x = np.asarray(X)[:, 0]
        weight = np.ones(len(x)) if sample_weight is None else sample_weight
        if weight.max() > self.fails_above:
            raise ValueError("too heavy")
        self.means_ = np.array([x.min(), x.max()])
        for _ in range(20):
            share = self.predict_proba(X) * weight[:, None]
            self.means_ = share.T @ x / share.sum(axis=0)
        return self

    def predict_proba(self, X):
        log = -0.5 * (np.asarray(X)[:, :1] - self.means_) ** 2
        joint = np.exp(log - log.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)

    def sample(self, n_samples=1, *, random_state=None):
        rng = np.random.RandomState(random_state) if isinstance(random_state, int) else random_state
        component = rng.randint(2, size=n_samples)
        return (self.means_[component] + rng.normal(size=n_samples))[:, None], component


X = np.random.default_rng(0).normal(size=(30, 1)) + 4 * (np.arange(30) % 2)[:, None]


def test_weights_are_counts_of_draws_that_depend_on_seed_and_number_only():
    weights = draw_weights(50, range(8), 3)
    assert (weights.sum(axis=1) == 50).all()
    np.testing.assert_array_equal(weights[5:7], draw_weights(50, range(5, 7), 3))
    assert (weights[0] != draw_weights(50, range(1), 4)[0]).any()
    assert weights.var() == pytest.approx(1, abs=0.3)  # multinomial counts have variance near one


def test_any_mixture_is_refitted_to_each_draw():
    found = bootstrap(TwoMeans().fit(X), X, n_boot=5, seed=1)
    draws = found.posteriors(X)
    assert draws.shape == (2, 30, 5)
    for b, weight in enumerate(draw_weights(30, range(5), 1)):
        np.testing.assert_allclose(
            draws[:, :, b].T, TwoMeans().fit(X, sample_weight=weight).predict_proba(X), atol=1e-6
        )


@pytest.mark.parametrize("parametric", [False, True])
def test_the_number_of_jobs_changes_nothing(parametric):
    mixture = TwoMeans().fit(X)
    one = bootstrap(mixture, X, n_boot=6, seed=2, parametric=parametric)
    two = bootstrap(mixture, X, n_boot=6, seed=2, parametric=parametric, n_jobs=2)
    np.testing.assert_array_equal(one.posteriors(X), two.posteriors(X))


def test_the_parametric_bootstrap_draws_from_the_mixture():
    mixture = TwoMeans().fit(X)
    means = np.array(
        [model.means_ for model in bootstrap(mixture, X, n_boot=60, seed=0, parametric=True).chunks[0].models]
    )
    np.testing.assert_allclose(np.sort(means, axis=1).mean(axis=0), np.sort(mixture.means_), atol=0.3)
    assert 0.1 < means.std(axis=0).min() < 0.6  # about 1 / sqrt(15)


def test_failures_are_counted_and_left_out():
    weights = draw_weights(30, range(40), 0)
    limit = np.sort(weights.max(axis=1))[30]
    found = bootstrap(TwoMeans(fails_above=limit).fit(X), X, n_boot=40, seed=0)
    failed = int((weights.max(axis=1) > limit).sum())
    assert 0 < failed < 20
    assert found.n_degenerate == failed
    assert found.n_drawn == 40
    assert found.posteriors(X).shape[2] == 40 - failed


def test_an_interrupted_bootstrap_goes_on_where_it_stopped(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 4)
    mixture, fits = TwoMeans().fit(X), module._fit_chunk

    def stop_at_second(mixture, X, replicates, *rest):
        if replicates.start >= 8:
            raise KeyboardInterrupt
        return fits(mixture, X, replicates, *rest)

    monkeypatch.setattr(module, "_fit_chunk", stop_at_second)
    with pytest.warns(InterruptedFit, match="interrupted after 8 of 12 replicates"):
        part = bootstrap(mixture, X, n_boot=12, seed=5)
    monkeypatch.setattr(module, "_fit_chunk", fits)
    whole = bootstrap(mixture, X, n_boot=12, seed=5)
    again = bootstrap(mixture, X, n_boot=12, seed=5, done=part)
    np.testing.assert_array_equal(again.posteriors(X), whole.posteriors(X))


def test_replicates_that_all_fail_leave_nothing():
    assert not Refits([None, None]).valid.any()
