"""The table of single objects says what each column promises."""

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.scores import object_uncertainty

# sure, torn between two of three, pulled two ways, half an outlier, half sure
MASSES = [
    [0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 1, 0],
    [0, 0.5, 0, 0.5, 0, 0, 0, 0],
    [0.5, 0, 0.5, 0, 0, 0, 0, 0],
    [0, 0.5, 0, 0, 0, 0, 0, 0.5],
]


@pytest.fixture
def table():
    return object_uncertainty(CredalPartition(MASSES, FocalSets(3), object_names=list("abcde")))


def test_columns_by_hand(table):
    assert table.index.tolist() == list("abcde")
    assert table["cluster"].tolist() == [0, 1, 0, 1, 0]
    assert table["set"].tolist() == ["{0}", "{1,2}", "{0,2}", "{}", "{0,1,2}"]
    np.testing.assert_allclose(table["belief"], [1, 0, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(table["plausibility"], [1, 1, 0.5, 0.5, 1])
    np.testing.assert_allclose(table["outlier"], [0, 0, 0, 0.5, 0])
    np.testing.assert_allclose(table["nonspecificity"], [0, 1, 0, np.log2(3) / 2, np.log2(3) / 2])
    np.testing.assert_allclose(table["dissonance"], [0, 0, 1, 0, 0])
    half_sure = -2 / 3 * np.log2(2 / 3) - 1 / 3 * np.log2(1 / 6)  # pignistic 2/3, 1/6, 1/6
    np.testing.assert_allclose(table["entropy"], [0, 1, 1, 0, half_sure])
