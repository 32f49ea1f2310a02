import tracemalloc

import numpy as np
import pytest

from evidentia.solvers.coordinates import ColumnScales, unit_free


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
    Y = frame.to(X)
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
    np.testing.assert_allclose(frame.back(Y), X, rtol=1e-8)
    np.testing.assert_allclose(frame.log_jacobian, np.linalg.slogdet(frame.forward)[1])


def test_directions_without_spread_are_left_out():
    X = table()
    wide = np.column_stack([X[:, 0], np.full(60, 0.1), X, X[:, 0] - 2 * X[:, 2]])
    frame = unit_free(wide)
    assert frame.forward.shape == (6, 3)
    np.testing.assert_allclose(frame.back(frame.to(wide)), wide, rtol=1e-6)


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
    Y = frame.to(X)
    assert Y.shape == (4, 2)
    np.testing.assert_array_equal(np.isnan(Y), np.isnan(X[:, [0, 2]]))
    np.testing.assert_allclose(np.nanvar(Y, axis=0), 1)
    np.testing.assert_allclose(frame.back(np.nan_to_num(Y)), np.where(np.isnan(X), [[3.0, 7.0, 30.0]], X))


def test_scales_of_columns_are_the_map_that_its_matrix_is():
    rng = np.random.default_rng(0)
    frame = ColumnScales(np.array([1.0, -2.0, 5.0, 0.5]), np.array([2.0, 0.0, 0.25, 10.0]))
    X, root = rng.normal(size=(6, 4)), rng.normal(size=(2, 4, 4))
    covariance = root @ root.swapaxes(1, 2)
    np.testing.assert_allclose(frame.to(X), (X - frame.origin) @ frame.forward)
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
        frame.back(frame.to(X))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 4000**2 / 10
    deviation = X.std(axis=0) if kind == "diag" else np.full(4000, np.sqrt(X.var(axis=0).mean()))
    np.testing.assert_allclose(frame.scale, deviation)
