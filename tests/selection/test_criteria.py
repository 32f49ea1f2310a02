"""Each criterion by hand, and where it has nothing to say."""

from types import SimpleNamespace

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.selection import CRITERIA, modified_partition_coefficient


def model(masses, focal_sets, **attributes):
    return SimpleNamespace(partition_=CredalPartition(masses, focal_sets), **attributes)


def test_partition_coefficient_by_hand():
    memberships = np.array([[0.7, 0.2, 0.1], [0.4, 0.5, 0.1]])
    # squares 0.54 and 0.42, mean 0.48; 1 - 3/2 * 0.52
    assert modified_partition_coefficient(memberships) == pytest.approx(0.22)


@pytest.mark.parametrize("n_clusters", [2, 3, 7])
def test_partition_coefficient_goes_from_zero_to_one(n_clusters):
    assert modified_partition_coefficient(np.full((5, n_clusters), 1 / n_clusters)) == pytest.approx(0)
    assert modified_partition_coefficient(np.eye(n_clusters)) == pytest.approx(1)


def test_nonspecificity_by_hand():
    # by size: {} at 0, singles at 1..3, pairs at 4..6, the frame at 7
    masses = np.zeros((2, 8))
    masses[0, [0, 1]] = 0.25, 0.75
    masses[1, [2, 4, 7]] = 0.5, 0.3, 0.2
    expected = (0.25 * np.log2(3) + 0.3 + 0.2 * np.log2(3)) / 2 / np.log2(3)
    assert CRITERIA["normalized_nonspecificity"].evaluate(model(masses, FocalSets(3))) == pytest.approx(expected)


def test_criteria_on_pignistic_probabilities():
    torn = model([[0.0, 0.4, 0.0, 0.6]], FocalSets(2))  # pignistic 0.7, 0.3
    assert CRITERIA["mpc"].evaluate(torn) == pytest.approx(1 - 2 * (1 - 0.58))


def test_criteria_say_nothing_where_they_do_not_apply():
    fuzzy = model([[0.6, 0.4]], FocalSets(2, [{0}, {1}]))
    assert np.isnan(CRITERIA["ebic"].evaluate(fuzzy))
    assert np.isnan(CRITERIA["normalized_nonspecificity"].evaluate(fuzzy))
    found_none = model([[0.6, 0.4]], FocalSets(2, [{0}, {1}]))
    found_none.focal_sets = "auto"
    assert CRITERIA["normalized_nonspecificity"].evaluate(found_none) == 0  # no two clusters overlap: no doubt
    single = model([[1.0]], FocalSets(1, [{0}]), ebic_=-3.5)
    assert np.isnan(CRITERIA["mpc"].evaluate(single))
    assert np.isnan(CRITERIA["normalized_nonspecificity"].evaluate(single))
    assert CRITERIA["ebic"].evaluate(single) == -3.5


def test_which_values_are_better():
    assert CRITERIA["ebic"].better(-3, -4)
    assert CRITERIA["mpc"].better(0.9, 0.8)
    assert CRITERIA["normalized_nonspecificity"].better(0.1, 0.2)
