"""A table for the tests of networks."""

import pytest
from sklearn.datasets import make_blobs


@pytest.fixture(scope="module")
def blobs():
    return make_blobs([40, 30, 20], centers=[[0, 0], [8, 0], [4, 7]], shuffle=False, random_state=0)
