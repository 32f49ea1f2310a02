"""Small matrices by the thousand against LAPACK."""

import numpy as np
import pytest

from evidentia.solvers.small_matrices import common_axes, eigenvectors, inverses, uneven_shares


def positive(m, d, seed=0):
    roots = np.random.default_rng(seed).normal(size=(m, d, d + 2))
    return roots @ roots.swapaxes(1, 2)


@pytest.mark.parametrize("d", [1, 2, 5, 12])
def test_inverses_and_log_determinants_are_those_of_lapack(d):
    matrices = positive(7, d)
    inverse, log_det = inverses(matrices)
    np.testing.assert_allclose(inverse, np.linalg.inv(matrices), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(log_det, np.linalg.slogdet(matrices)[1], rtol=1e-12)


def test_a_singular_matrix_has_an_infinite_inverse_and_spares_its_neighbors():
    matrices = np.stack([np.diag([2.0, 0.5]), np.array([[1.0, 2.0], [2.0, 4.0]]), np.diag([4.0, 1.0])])
    inverse, log_det = inverses(matrices)
    assert log_det.tolist() == pytest.approx([0.0, -np.inf, np.log(4)])
    assert np.isinf(inverse[1]).all()
    np.testing.assert_allclose(inverse[2], np.diag([0.25, 1.0]))


@pytest.mark.parametrize("d", [1, 2, 4, 9])
def test_eigenvectors_rebuild_the_matrix_largest_value_first(d):
    matrices = positive(6, d, seed=3)
    values, vectors = eigenvectors(matrices)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrices)[:, ::-1], rtol=1e-10)
    np.testing.assert_allclose((vectors * values[:, None]) @ vectors.swapaxes(1, 2), matrices, atol=1e-12 * d * d)
    np.testing.assert_allclose(vectors.swapaxes(1, 2) @ vectors, np.tile(np.eye(d), (6, 1, 1)), atol=1e-13)


def test_eigenvalues_of_very_different_size_keep_their_digits():
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    scale = np.diag([1e6, 1.0, 1e-6])
    matrix = scale @ turn @ np.diag([3.0, 2.0, 1.0]) @ turn.T @ scale
    values, _ = eigenvectors(matrix[None])
    assert values[0].prod() == pytest.approx(6.0, rel=1e-9)  # the determinant is 6, whatever the scale
    assert values[0, 0] == pytest.approx(np.trace(matrix), rel=1e-9)


def test_a_matrix_with_rows_of_zeros_has_eigenvalues_of_zero():
    matrices = np.zeros((2, 3, 3))
    matrices[1, 1, 1] = 4.0
    values, vectors = eigenvectors(matrices)
    np.testing.assert_array_equal(values, [[0, 0, 0], [4, 0, 0]])
    np.testing.assert_array_equal(vectors, [np.eye(3), np.eye(3)[[1, 0, 2]]])


def test_uneven_shares_differ_and_lie_around_one():
    shares = uneven_shares(1000)
    assert len(set(shares.tolist())) == 1000
    assert shares.min() >= 0.5
    assert shares.max() < 1.5
    assert shares.mean() == pytest.approx(1, abs=1e-2)


def criterion(axes, matrices, size, equal_volume):
    diagonal = np.einsum("jp,kjl,lp->kp", axes, matrices, axes)
    if equal_volume:
        return np.sum(np.prod(diagonal, axis=1) ** (1 / len(axes)))
    return size @ np.log(diagonal).sum(axis=1)


@pytest.mark.parametrize("equal_volume", [False, True])
def test_every_sweep_of_common_axes_lowers_the_criterion(equal_volume):
    matrices, size = positive(4, 5, seed=2), np.array([3.0, 7.0, 1.0, 2.0])
    axes = np.eye(5)[None]
    values = [criterion(axes[0], matrices, size, equal_volume)]
    for _ in range(6):
        axes = common_axes(
            matrices[None], size[None], equal_volume, axes, np.inf
        )  # any turn is small enough: one sweep
        values.append(criterion(axes[0], matrices, size, equal_volume))
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[0]))
    assert values[-1] < values[0] - 0.1
    np.testing.assert_allclose(axes[0].T @ axes[0], np.eye(5), atol=1e-13)


@pytest.mark.parametrize("equal_volume", [False, True])
def test_common_axes_of_matrices_that_share_them_are_found(equal_volume):
    rng = np.random.default_rng(5)
    shared = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    spectra = np.array([[4.0, 3.0, 2.0, 1.0], [1.0, 5.0, 2.0, 9.0], [2.0, 2.5, 8.0, 1.0]])
    matrices = (shared * spectra[:, None]) @ shared.T
    axes = common_axes(matrices[None], np.array([[5.0, 6.0, 7.0]]), equal_volume, np.eye(4)[None], 1e-9)[0]
    np.testing.assert_allclose(np.abs(shared.T @ axes).max(axis=0), 1, atol=1e-8)


def one_sweep(matrices, size=None, tol=np.inf):
    size = np.ones(len(matrices)) if size is None else size
    return common_axes(matrices[None], size[None], False, np.eye(len(matrices[0]))[None], tol)[0]


def test_one_turn_brings_a_matrix_to_its_own_axes():
    matrix = positive(1, 2, seed=4)
    turned = one_sweep(matrix).T @ matrix[0] @ one_sweep(matrix)
    assert turned[0, 1] == pytest.approx(0, abs=1e-13)
    np.testing.assert_allclose(np.sort(np.diag(turned)), np.linalg.eigvalsh(matrix[0]))


def test_axes_between_which_nothing_chooses_stay_and_the_others_turn():
    round_disk = np.array([np.diag([2.0, 2.0, 1.0]), np.diag([3.0, 3.0, 5.0])])
    np.testing.assert_array_equal(one_sweep(round_disk, tol=1e-9), np.eye(3))
    tied = np.array([[2.0, 0.3, 0.5], [0.3, 2.0, 0.0], [0.5, 0.0, 1.0]])  # axes 0 and 1 are as long, 0 and 2 turn
    assert abs(one_sweep(tied[None])[2, 0]) > 0.1


def test_sweeps_end_when_the_largest_turn_is_small():
    matrices = positive(3, 4, seed=6) + np.diag([40.0, 30.0, 20.0, 10.0])  # not far from the given axes
    sines = np.abs(one_sweep(matrices) - np.eye(4)).max()
    assert 1e-3 < sines < 0.5
    np.testing.assert_array_equal(one_sweep(matrices, tol=0.9), one_sweep(matrices))
    assert np.abs(one_sweep(matrices, tol=1e-9) - one_sweep(matrices)).max() > 1e-6
