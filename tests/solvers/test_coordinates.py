import tracemalloc

import numpy as np
import pytest

from evidentia.solvers.coordinates import ColumnScales, SpannedScales, moments_of, unit_free


def table(n=60):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) * [1.0, 1e-5, 1e6] + [3.0, 1.0, -1e7]


@pytest.mark.parametrize(
    ("kind", "expected"), [("full", "identity"), ("diag", "ones"), ("spherical", "trace"), ("rotated", "axes")]
)
def test_coordinates_have_unit_spread_and_lead_back(kind, expected):
    X = table()
    weight = np.random.default_rng(1).uniform(0.1, 2, size=60)
    frame = unit_free(X, weight, kind=kind)
    Y = frame.transform(X)
    covariance = np.cov(Y.T, aweights=weight, bias=True)
    np.testing.assert_allclose(weight @ Y / weight.sum(), 0, atol=1e-8)
    if expected == "identity":
        np.testing.assert_allclose(covariance, np.eye(3), atol=1e-8)
    elif expected == "ones":
        np.testing.assert_allclose(np.diag(covariance), 1)
    else:
        assert np.trace(covariance) == pytest.approx(3)
        if expected == "axes":  # a turn and one scale for all: distances keep their ratios
            np.testing.assert_allclose(
                frame.forward.T @ frame.forward, np.eye(3) * (frame.forward[0] @ frame.forward[0]), atol=1e-20
            )
            np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    np.testing.assert_allclose(frame.inverse_transform(Y), X, rtol=1e-8)
    np.testing.assert_allclose(frame.log_jacobian, np.linalg.slogdet(frame.forward)[1])


def test_directions_without_spread_are_left_out():
    X = table()
    wide = np.column_stack([X[:, 0], np.full(60, 0.1), X, X[:, 0] - 2 * X[:, 2]])
    frame = unit_free(wide)
    assert frame.forward.shape == (6, 3)
    np.testing.assert_allclose(frame.inverse_transform(frame.transform(wide)), wide, rtol=1e-6)


def test_missing_entries_count_neither_in_mean_nor_in_spread():
    X = np.array([[1.0, 10.0], [3.0, np.nan], [np.nan, 30.0], [5.0, 50.0]])
    frame = unit_free(X)
    np.testing.assert_allclose(frame.origin, [3.0, 30.0])
    np.testing.assert_allclose(frame.scale, [np.sqrt(8 / 3), np.sqrt(800 / 3)])


def test_scales_of_columns_leave_out_constant_ones_and_keep_missing_entries():
    X = np.array([[1.0, 7.0, 10.0], [3.0, 7.0, np.nan], [np.nan, 7.0, 30.0], [5.0, 7.0, 50.0]])
    frame = unit_free(X, kind="diag")
    assert isinstance(frame, ColumnScales)
    assert frame.width == 2
    assert frame.kept.tolist() == [0, 2]
    Y = frame.transform(X)
    assert Y.shape == (4, 2)
    np.testing.assert_array_equal(np.isnan(Y), np.isnan(X[:, [0, 2]]))
    np.testing.assert_allclose(np.nanvar(Y, axis=0), 1)
    np.testing.assert_allclose(frame.inverse_transform(np.nan_to_num(Y)), np.where(np.isnan(X), [[3.0, 7.0, 30.0]], X))


def test_scales_of_columns_are_the_map_that_its_matrix_is():
    rng = np.random.default_rng(0)
    frame = ColumnScales(np.array([1.0, -2.0, 5.0, 0.5]), np.array([2.0, 0.0, 0.25, 10.0]))
    X, root = rng.normal(size=(6, 4)), rng.normal(size=(2, 4, 4))
    covariance = root @ root.swapaxes(1, 2)
    np.testing.assert_allclose(frame.transform(X), (X - frame.origin) @ frame.forward)
    np.testing.assert_allclose(frame.covariance_to(covariance), frame.forward.T @ covariance @ frame.forward)
    within = frame.covariance_to(covariance)
    back = frame.covariance_back(within)
    np.testing.assert_allclose(back[:, [[0], [2], [3]], [0, 2, 3]], covariance[:, [[0], [2], [3]], [0, 2, 3]])
    assert not back[:, 1].any()
    assert frame.log_jacobian == pytest.approx(-np.log(2 * 0.25 * 10))
    assert frame.log_jacobian_of(np.array([1, 2])) == pytest.approx(-np.log(0.25 * 10))  # of what is kept


@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_scales_of_many_columns_need_no_matrix(kind):
    X = np.random.default_rng(0).normal(size=(20, 4000)) * 3 + 1
    tracemalloc.start()
    try:
        frame = unit_free(X, kind=kind)
        frame.inverse_transform(frame.transform(X))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 4000**2 / 10
    deviation = X.std(axis=0) if kind == "diag" else np.full(4000, np.sqrt(X.var(axis=0).mean()))
    np.testing.assert_allclose(frame.scale, deviation)


@pytest.mark.parametrize("kind", ["full", "rotated", "diag", "spherical"])
def test_covariances_and_metrics_go_there_and_back(kind):
    X = table() * [1, 1e3, 1e-4]
    frame = unit_free(X, kind=kind)
    roots = np.random.default_rng(2).normal(size=(2, 3, 3)) * [[1.0], [1e-2], [1e2]]
    covariances = roots @ roots.swapaxes(1, 2)
    inside = frame.covariance_to(covariances)
    np.testing.assert_allclose(inside, frame.forward.T @ covariances @ frame.forward, rtol=1e-9, atol=1e-9)
    scale = X.std(axis=0)
    back = frame.covariance_back(inside) / np.outer(scale, scale)
    np.testing.assert_allclose(back, covariances / np.outer(scale, scale), rtol=1e-6, atol=1e-6)
    metric = np.linalg.inv(inside[0])
    x, y = X[:2], frame.transform(X[:2])
    there, here = y[0] - y[1], x[0] - x[1]
    assert here @ frame.metric_back(metric) @ here == pytest.approx(there @ metric @ there, rel=1e-6)
    assert frame.width == 3
    assert frame.log_jacobian_of(np.arange(3)) == pytest.approx(frame.log_jacobian)


def test_rows_fewer_than_columns_are_seen_in_their_span_and_the_distance_from_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, 6)) * [1, 5, 0.1, 2, 0, 1] + [0, 1, 2, 3, 4, 5]
    scales = unit_free(X, kind="diag")
    frame = SpannedScales.of(X, scales)
    assert (frame.width, frame.log_jacobian) == (5, scales.log_jacobian)
    assert frame.repeats.tolist() == [1, 1, 1, 2]
    inside = frame.transform(X)
    assert inside.shape == (3, 4)
    assert inside[:, -1].tolist() == [0, 0, 0]
    np.testing.assert_allclose(frame.inverse_transform(inside), X)
    others = rng.normal(size=(4, 6))
    scaled, there = scales.transform(others), frame.transform(others)
    np.testing.assert_allclose(np.square(there).sum(axis=1), np.square(scaled).sum(axis=1))  # no length is lost
    assert (there[:, -1] > 0.1).all()
    # A metric that is alike in all directions outside: distances in the span's coordinates are those in x.
    root = rng.normal(size=(2, 3, 3))
    metric = np.zeros((2, 4, 4))
    metric[:, :3, :3], metric[:, 3, 3] = root @ root.swapaxes(1, 2), [0.7, 2.5]
    gap = others - scales.origin
    far = np.einsum("ij,kjl,il->ki", gap, frame.metric_back(metric), gap)
    np.testing.assert_allclose(far, np.einsum("ij,kjl,il->ki", there, metric, there))
    # The covariance that is its inverse, of what varies.
    varies = np.ix_([0, 1], scales.kept, scales.kept)
    product = frame.covariance_back(np.linalg.inv(metric))[varies] @ frame.metric_back(metric)[varies]
    np.testing.assert_allclose(product, [np.eye(5)] * 2, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mixing", [False, True])
def test_moments_of_parts_add_up_to_those_of_the_table(mixing, weighted):
    X = table(50)
    weight = np.random.default_rng(1).uniform(0.1, 3, 50) if weighted else None
    parts = [
        moments_of(X[at], None if weight is None else weight[at], mixing) for at in np.split(np.arange(50), [7, 20])
    ]
    found = parts[0] + parts[1] + parts[2]
    share = np.ones(50) if weight is None else weight
    mean = share @ X / share.sum()
    centered = (X - mean) / X.std(axis=0)
    squares = (share * centered.T) @ centered if mixing else share @ centered**2
    assert found.total == pytest.approx(share.sum())
    np.testing.assert_allclose(found.observed, share.sum())
    np.testing.assert_allclose(found.mean, mean)
    unit = np.outer(X.std(axis=0), X.std(axis=0)) if mixing else X.var(axis=0)
    np.testing.assert_allclose(found.squares / unit, squares, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.spread / unit, squares / share.sum(), rtol=1e-8, atol=1e-8)


def test_moments_with_missing_entries_add_up_to_those_of_what_is_known():
    X = np.array([[1.0, 5, 2], [4, np.nan, np.nan], [2, 9, np.nan], [7, 8, 3], [3, 1, 4], [0, 2, 6]])
    X = np.column_stack([X, np.full(6, np.nan)])
    weight = np.array([1, 2, 0.5, 1, 3, 1])
    whole = moments_of(X, weight)
    known = ~np.isnan(X)
    count = (weight[:, None] * known).sum(axis=0)
    mean = (weight[:, None] * np.nan_to_num(X)).sum(axis=0) / np.maximum(count, 1e-9)
    squares = (weight[:, None] * np.where(known, X - mean, 0) ** 2).sum(axis=0)
    both = moments_of(X[:3], weight[:3]) + moments_of(X[3:], weight[3:])
    for found in (whole, both):
        assert found.total == 8.5
        np.testing.assert_allclose(found.observed, count)
        np.testing.assert_allclose(found.mean, mean)
        np.testing.assert_allclose(found.squares, squares)
        np.testing.assert_allclose(found.spread, squares / np.maximum(count, 1e-9))


def test_products_of_columns_are_unknown_where_a_part_does_not_know_them():
    X = np.array([[1.0, 5], [4, 2], [2, 9], [np.nan, 8], [3, 1]])
    one, two = moments_of(X[:3]), moments_of(X[3:])
    assert (one.squares.ndim, two.squares.ndim) == (2, 1)
    for found in (one + two, two + one):
        np.testing.assert_allclose(found.squares, moments_of(X).squares)
        np.testing.assert_allclose(found.mean, moments_of(X).mean)


@pytest.mark.parametrize("kind", ["full", "rotated", "diag", "spherical"])
def test_equal_rows_have_no_coordinates(kind):
    with pytest.raises(ValueError, match="All rows of X are equal"):
        unit_free(np.tile([0.1, 1e9 / 3, -5.0], (7, 1)), kind=kind)
