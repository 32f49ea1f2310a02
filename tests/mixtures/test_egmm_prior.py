"""EGMM's prior: clusters that do not collapse, prior widths that suit the data, and columns of few values."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from evidentia import EGMM
from made_groups import overlapping

# -- prior ------------------------------------------------------------------------------------------------------------


def test_the_prior_keeps_clusters_from_collapsing_onto_equal_rows():
    X = np.repeat([[0.0, 0.0], [1.0, 3.0], [5.0, 1.0]], 4, axis=0)
    for name in ("EEE", "VVV", "VVI", "VEV"):
        model = EGMM(3, model=name, random_state=0).fit(X)
        assert not model.collapsed_
        assert len(np.unique(model.labels_)) == 3
        assert np.linalg.eigvalsh(model.covariances_).min() > 1e-3


@pytest.mark.parametrize("name", ["EEE", "VVV", "VVI", "EEV"])
def test_the_prior_of_the_data_can_be_given(name):
    X = overlapping(90) * [1.0, 20.0]
    variances = X.var(axis=0) / 3 ** (2 / 2)

    def fitted(prior):
        return EGMM(3, model=name, prior=prior, focal_sets="singletons", random_state=0).fit(X)

    mine, given = fitted("data"), fitted(variances)
    np.testing.assert_allclose(mine.covariances_, given.covariances_, rtol=1e-6)
    assert mine.criterion_ == pytest.approx(given.criterion_)
    wide = fitted(6 * variances)
    assert np.trace(wide.covariances_[2]) > 1.1 * np.trace(given.covariances_[2])
    none = fitted(None)
    assert none.log_likelihood_ > given.log_likelihood_
    assert none.criterion_ == pytest.approx(none.log_likelihood_)


def ellipses_far_apart(seed=3):
    """Two narrow groups side by side, each of its own shape, and two far away; the spread is twenty times a width."""
    rng = np.random.default_rng(seed)
    which = np.repeat(np.arange(4), (80, 70, 60, 90))
    turn = np.array([[0.9, -0.4], [0.4, 0.9]])
    width = np.array([np.diag([1.0, 3.2]) @ turn, np.diag([1.6, 1.2]), np.diag([0.7, 1.5]), np.diag([2.0, 1.1]) @ turn])
    place = np.array([[31.0, -72.0], [27.0, -63.0], [-9.0, -75.0], [-58.0, 55.0]])
    return place[which] + np.einsum("nj,njk->nk", rng.normal(size=(300, 2)), width[which]), which


def test_groups_far_apart_have_shapes_of_their_own():
    X, which = ellipses_far_apart()
    model = EGMM(random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(which, model.labels_) > 0.98
    single = EGMM(4, model="VVV", focal_sets="singletons", random_state=0).fit(X)
    for k, center in enumerate(single.cluster_centers_):
        near = X[which == which[np.argmin(np.square(X - center).sum(axis=1))]]
        assert np.linalg.det(single.covariances_[k]) < 1.6 * np.linalg.det(np.cov(near.T))


@pytest.mark.parametrize("holes", [False, True])
def test_the_prior_expects_clusters_no_wider_than_those_of_the_start(holes):
    """By a loop over clusters and columns; the prior of a given variance is the one of the data, so narrowed."""
    X, which = ellipses_far_apart()
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    if holes:
        X[np.arange(0, 300, 7), 0] = np.nan
    start = np.array([np.nanmean(X[which == k], axis=0) for k in range(4)])
    mean = np.nansum(weight[:, None] * X, axis=0) / (weight @ ~np.isnan(X))
    deviation = np.sqrt(np.nansum(weight[:, None] * (X - mean) ** 2, axis=0) / (weight @ ~np.isnan(X)))
    filled = np.nan_to_num(
        (X - mean) / deviation
    )  # the start is that of standardized columns, means for what is missing
    nearest = np.argmin([np.square(filled - (one - mean) / deviation).sum(axis=1) for one in start], axis=0)
    within = []
    for x in X.T:
        seen, squares = ~np.isnan(x), 0.0
        for k in range(4):
            here = seen & (nearest == k)
            squares += weight[here] @ np.square(x[here] - np.average(x[here], weights=weight[here]))
        within.append(squares / (weight[seen].sum() - 4))
    settings = {"n_clusters": 4, "model": "VVI", "focal_sets": "singletons", "init": start}
    mine = EGMM(**settings).fit(X, sample_weight=weight)
    given = EGMM(**settings, prior=5 * np.array(within)).fit(X, sample_weight=weight)
    np.testing.assert_allclose(mine.covariances_, given.covariances_, rtol=1e-6)


# -- columns of few values --------------------------------------------------------------------------------------------

FEW = pytest.mark.filterwarnings("ignore:EGMM. .* columns have at most:UserWarning")


def answers(n=200, d=12, seed=1):
    """Two groups that say yes to each question with a probability of 0.2 or 0.8."""
    rng = np.random.default_rng(seed)
    which, often = np.arange(n) % 2, np.where(rng.uniform(size=(2, d)) < 0.5, 0.2, 0.8)
    return (rng.uniform(size=(n, d)) < often[which]) * 1.0, which


@FEW
def test_a_column_of_two_values_is_no_spike():
    X, which = answers()
    model = EGMM(2, random_state=0).fit(X * [10.0, *[1.0] * 11])
    np.testing.assert_array_equal(model.resolution_, [10, *[1] * 11])
    assert adjusted_rand_score(which, model.labels_) > 0.65
    sharp = EGMM(2, prior=None, random_state=0).fit(X)
    np.testing.assert_array_equal(sharp.resolution_, 0)
    assert adjusted_rand_score(which, sharp.labels_) < 0.1


@FEW
def test_one_cluster_is_as_wide_as_its_rounded_values_may_have_been():
    X = overlapping(200) * [1.0, 3.0]
    X[:, 0] = np.clip(np.round(X[:, 0] / 2), -1, 2)
    model = EGMM(1, model="VVV", prior=[1e-9, 1e-9], random_state=0).fit(X)
    np.testing.assert_array_equal(model.resolution_, [1, 0])
    count = len(X) / (len(X) + 7)  # the prior is as much as seven objects without a spread
    expected = count * (np.cov(X.T, bias=True) + np.diag([1 / 12, 0]))
    np.testing.assert_allclose(model.covariances_[0], expected, rtol=1e-6)


@FEW
def test_two_values_alone_are_no_reason_for_two_clusters():
    """By hand: from variance 1/4 + 1/12 to 1/12 a log density gains log 2, and that is what two clusters cost."""
    X = np.repeat([[0.0], [1.0]], 40, axis=0)
    one, two = (EGMM(c, model="EII", prior=[1e-9], random_state=0).fit(X) for c in (1, 2))
    by_hand = 80 / (80 + 5) * (1 / 4 + 1 / 12)
    assert one.log_likelihood_ == pytest.approx(-40 * (np.log(2 * np.pi * by_hand) + (1 / 4 + 1 / 12) / by_hand))
    assert two.log_likelihood_ == pytest.approx(one.log_likelihood_, abs=0.01 * 80)
    assert EGMM(random_state=0).fit(X).n_clusters_ == 1


@FEW
@pytest.mark.parametrize("name", ["EEE", "VVV", "VVI"])
def test_rounding_does_not_depend_on_units_copies_or_rows_of_no_weight(name):
    X = np.clip(np.round(overlapping(90) / 2), -1, 3)
    weight = np.random.default_rng(1).integers(0, 3, size=len(X))
    X[weight == 0] += 0.25
    options = {"model": name, "random_state": 0}
    weighted = EGMM(3, **options).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(weighted.resolution_, [1, 1])
    copies = EGMM(3, **options).fit(np.repeat(X, weight, axis=0) * [0.1, 7.0] + [3.0, -40.0])
    np.testing.assert_allclose(copies.resolution_, [0.1, 7.0])
    masses = np.repeat(weighted.partition_.masses, weight, axis=0)
    np.testing.assert_allclose(copies.partition_.masses, masses, atol=1e-5)
    np.testing.assert_allclose(weighted.predict_partition(X).masses, weighted.partition_.masses, atol=1e-12)
    holes = X.copy()
    holes[::7, 0] = np.nan
    assert np.isfinite(weighted.predict_partition(holes).masses).all()
