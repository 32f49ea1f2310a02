"""WECMdd: what it does not share with the other methods with medoids."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from evidentia.experimental import WECMdd


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([30, 25, 20], centers=[[0, 0], [6, 0], [0, 7]], shuffle=False, random_state=1)


def test_weights_of_wecmdd_are_at_their_optimum_for_single_clusters(blobs):
    D = cdist(blobs[0], blobs[0])
    model = WECMdd(3, focal_sets="simple", psi=1.3, beta=1.7, tol=1e-15, max_iter=3000, random_state=0)
    model.set_params(focal_sets=[{0}, {1}, {2}]).fit(blobs[0])
    pulled = (model.partition_.masses**1.7).T @ D
    slope = 1.3 * model.medoid_weights_**0.3 * pulled  # of J in the weights: the same for all objects of a cluster
    np.testing.assert_allclose(slope, slope[:, :1] * np.ones(len(D)), rtol=1e-4)
    np.testing.assert_allclose(model.medoid_weights_.sum(axis=1), 1)


def test_weighted_medoids_say_when_clusters_coincide(blobs):
    with pytest.warns(UserWarning, match="clusters 0 and 1 are represented by the same weights"):
        WECMdd(3, psi=3.0, random_state=0).fit(blobs[0])
