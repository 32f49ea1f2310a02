"""BCM: what it does not share with credal c-means."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from evidentia.experimental import BCM
from evidentia.prototypes import CCM


def test_belief_c_means_is_torn_by_distance_not_by_the_middle():
    groups = np.array([[-2.0, 0], [-3, 0], [-2, 1], [2, 0], [3, 0], [2, 1]])
    X = np.vstack([np.tile(groups, (5, 1)), [[0, 0.3], [0, 12]]])
    torn = BCM(2, rho=30, random_state=0).fit(X).partition_.sets("mass").sum(axis=1) == 2
    assert np.flatnonzero(torn).tolist() == [31]
    assert CCM(2, rho=30, random_state=0).fit(X).partition_.sets("mass").sum(axis=1)[30] == 2


def test_belief_c_means_says_when_its_springs_made_two_clusters_one():
    X, _ = make_blobs([50, 40, 30], centers=[[0, 0], [6, 0], [0, 7]], shuffle=False, random_state=1)
    with pytest.warns(UserWarning, match="BCM: the centers of clusters . and . coincide"):
        BCM(3, gamma=20.0, random_state=0).fit(X)
