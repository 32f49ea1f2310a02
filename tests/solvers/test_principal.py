"""Principal components and how many to keep; columns that are no combinations of others."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from evidentia.solvers import principal
from evidentia.solvers.principal import independent_columns, is_wide, principal_components, shuffle_columns


def planted(n=300, d=12, rank=3, noise=1.0, seed=0):
    """A few directions of large variance, spread over all columns of a table of noise."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(d, rank)))[0]
    return (rng.normal(size=(n, rank)) * np.linspace(6, 5, rank)) @ axes.T + noise * rng.normal(size=(n, d)) + 5.0


def components(X, n_components, weight=None, seed=0, scale=None):
    weight = np.ones(len(X)) if weight is None else weight
    return principal_components(X, weight, n_components, np.random.RandomState(seed), scale)


def test_a_table_is_wide_by_its_columns_or_by_its_rows_for_each():
    assert [is_wide(10_000, d) for d in (60, 61)] == [False, True]
    assert [is_wide(n, 10) for n in (49, 50)] == [True, False]
    assert not is_wide(3, 2)


@pytest.mark.parametrize(("d", "rank"), [(10, 2), (12, 3), (30, 5), (60, 4)])
def test_as_many_components_as_were_planted_are_kept(d, rank):
    for seed in range(4):
        found = components(planted(d=d, rank=rank, seed=seed), None, seed=seed)
        assert found.axes.shape == (d, rank)


def test_columns_are_shuffled_over_all_of_their_rows():
    X = planted()
    X[:12] = X.mean(axis=0)  # as many as there are columns; a table of these alone has no variance
    assert components(X, None).axes.shape == (12, 3)


def test_of_columns_that_have_nothing_in_common_few_components_are_kept():
    X = np.random.default_rng(0).normal(size=(400, 15)) * np.linspace(1, 3, 15)
    assert components(X, None).axes.shape[1] <= 6
    assert components(X[:, [3]], None).axes.shape[1] == 1


def test_components_are_those_of_scikit_learn():
    X = planted()
    found, theirs = components(X, 4), PCA(4).fit(X)
    np.testing.assert_allclose(np.abs(found.transform(X)), np.abs(theirs.transform(X)), atol=1e-8)
    assert found.share == pytest.approx(theirs.explained_variance_ratio_.sum())
    np.testing.assert_allclose(
        found.inverse_transform(found.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-8
    )
    np.testing.assert_allclose(found.axes.T @ found.axes, np.eye(4), atol=1e-12)


def test_on_the_subspace_the_way_back_leads_back():
    X = planted(noise=0.0)
    found = components(X, 9)
    assert found.axes.shape == (12, 3)  # no more than there are
    np.testing.assert_allclose(found.inverse_transform(found.transform(X)), X, atol=1e-9)
    within = np.cov(found.transform(X).T)
    np.testing.assert_allclose(found.covariance_back(within), np.cov(X.T), atol=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.75, 0.9, 0.999, np.float32(0.9)])
def test_a_share_of_variance_is_held_by_as_few_components_as_can(share):
    X = planted()
    found = components(X, share)
    ratio = np.cumsum(PCA().fit(X).explained_variance_ratio_)
    n = found.axes.shape[1]
    assert ratio[n - 1] >= share
    assert n == 1 or ratio[n - 2] < share
    assert found.share == pytest.approx(ratio[n - 1])


def test_weights_count_as_copies():
    X = planted(n=120)
    weight = np.random.default_rng(1).integers(1, 5, size=120)
    weighted, copied = components(X, 3, weight), components(np.repeat(X, weight, axis=0), 3)
    np.testing.assert_allclose(weighted.mean, copied.mean)
    np.testing.assert_allclose(weighted.axes, copied.axes, atol=1e-9)
    assert components(X, None, weight).axes.shape[1] == 3
    rows = [(X, weight), (np.repeat(X, weight, axis=0), np.ones(weight.sum()))]
    table, copies = (shuffle_columns(*each, np.random.RandomState(4)) for each in rows)
    np.testing.assert_array_equal(table, copies)
    np.testing.assert_array_equal(np.sort(copies, axis=0), np.sort(rows[1][0], axis=0))
    assert abs(np.corrcoef(copies[:, :2].T)[0, 1]) < 0.5 * abs(np.corrcoef(rows[1][0][:, :2].T)[0, 1])


def test_a_shuffled_table_has_a_bounded_size(monkeypatch):
    X = planted(n=120)
    monkeypatch.setattr(principal, "MOST_SHUFFLED", 500)
    assert shuffle_columns(X, np.full(120, 1e6), np.random.RandomState(0)).shape == (500, 12)
    assert shuffle_columns(X, np.full(120, 1e-3), np.random.RandomState(0)).shape == (120, 12)
    assert components(X, None, np.full(120, 1e6)).axes.shape[1] == 3


def test_scaled_columns_have_the_components_of_a_scaled_table():
    X, units = planted(), np.geomspace(1e-3, 1e4, 12)
    found, plain = components(X * units, None, scale=units), components(X, None)
    np.testing.assert_allclose(found.axes, plain.axes, atol=1e-9)
    np.testing.assert_allclose(found.transform(X * units), plain.transform(X), atol=1e-7)
    np.testing.assert_allclose(
        found.inverse_transform(plain.transform(X)), plain.inverse_transform(plain.transform(X)) * units
    )
    within = np.cov(plain.transform(X).T)
    np.testing.assert_allclose(found.covariance_back(within), plain.covariance_back(within) * np.outer(units, units))
    np.testing.assert_allclose(found.variances_to(units**2 * 7.0), plain.variances_to(np.full(12, 7.0)))
    assert found.share == pytest.approx(plain.share)


def test_signs_do_not_depend_on_the_order_of_the_rows():
    X = planted()
    for seed in range(5):
        shuffled = X[np.random.default_rng(seed).permutation(len(X))]
        np.testing.assert_allclose(components(shuffled, 3).axes, components(X, 3).axes, atol=1e-10)


def test_variances_of_columns_become_those_of_components():
    found = components(planted(), 2)
    variances = np.linspace(1, 4, 12)
    expected = np.diag(found.axes.T @ np.diag(variances) @ found.axes)
    np.testing.assert_allclose(found.variances_to(variances), expected)


def test_combinations_of_earlier_columns_are_left_out():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(50, 3)) * [1.0, 1e5, 1e-4] + [0.0, 1e6, 3.0]
    wide = np.column_stack([base[:, 0], np.full(50, 0.1), base[:, 0] * 4 - 1, base[:, 1:], base @ [1.0, 1e-5, 1e4]])
    found = independent_columns(wide)
    assert found.kept.tolist() == [0, 3, 4]
    assert found.transform(wide).shape == (50, 3)
    np.testing.assert_allclose(found.inverse_transform(found.transform(wide)), wide, rtol=1e-9, atol=1e-6)
    within = np.cov(base.T)
    scale = np.sqrt(np.diag(np.cov(wide.T)))
    scale[1] = 1
    np.testing.assert_allclose(
        found.covariance_back(within) / np.outer(scale, scale), np.cov(wide.T) / np.outer(scale, scale), atol=1e-8
    )
    np.testing.assert_array_equal(found.variances_to(np.arange(6.0)), [0, 3, 4])


def test_a_constant_column_is_left_out_up_to_rounding():
    rng = np.random.default_rng(0)
    rounding = np.spacing(1e14) * rng.integers(0, 2, 50)
    found = independent_columns(np.column_stack([1e14 + rounding, rng.normal(size=50)]))
    assert found.kept.tolist() == [1]


def test_a_column_that_is_nearly_a_combination_stays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    almost = np.column_stack([X, X.sum(axis=1) + 1e-3 * rng.normal(size=80)])
    assert independent_columns(almost).kept.tolist() == [0, 1, 2]
    assert independent_columns(almost, tol=1e-2).kept.tolist() == [0, 1]
