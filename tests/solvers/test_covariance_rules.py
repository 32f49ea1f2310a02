"""What the rules of covariances do before they are used; the fourteen rules are in ``test_covariance_models.py``."""

import numpy as np

from evidentia.solvers.covariance_rules import FLAT, _lift


def test_only_scatters_that_are_not_positive_definite_are_lifted():
    flat, round_one = np.array([[1.0, 2.0], [2.0, 4.0]]), np.diag([3.0, 0.5])
    lifted = _lift(np.array([[flat, round_one]]))
    np.testing.assert_array_equal(lifted[0, 1], round_one)
    np.testing.assert_array_equal(lifted[0, 0], flat + FLAT * 2 * 5.0 * np.eye(2))
    assert np.linalg.eigvalsh(lifted[0, 0]).min() > 0
    diagonals = np.array([[[[3.0], [0.0]]]])  # given by their diagonals
    np.testing.assert_array_equal(_lift(diagonals), diagonals)
