"""The tables of known groups, and what is measured on them."""

import numpy as np
import pytest

from evidentia import ECM
from reproduction.truth import coverage
from reproduction.truth.coverage import EXHIBITS, RIVAL, assigned_cells, coverage_cells, groups_of_clusters, measure
from reproduction.truth.overlapping import KNOWN, MISSPECIFIED, make_table


@pytest.mark.parametrize("name", [*KNOWN, *MISSPECIFIED])
def test_a_table_is_what_its_name_says(name):
    table = make_table(name, 3, n=4000)
    again = make_table(name, 3, n=4000)
    np.testing.assert_array_equal(table.X, again.X)
    assert not np.array_equal(table.X, make_table(name, 4, n=4000).X)
    if name in KNOWN:
        n_clusters, apart, n_columns, unequal = KNOWN[name]
        assert (table.n_clusters, table.X.shape[1]) == (n_clusters, n_columns)
        means = np.array([table.X[table.groups == k].mean(axis=0) for k in range(n_clusters)])
        sides = np.linalg.norm(means - np.roll(means, 1, axis=0), axis=1)
        np.testing.assert_allclose(sides, apart, atol=0.15)
        sizes = np.bincount(table.groups) / 4000
        assert (sizes.max() / sizes.min() > 2) == unequal


def test_clusters_are_matched_with_groups():
    p = np.eye(3)[[0, 0, 1, 1, 2]]
    assert groups_of_clusters(p, np.array([2, 2, 0, 0, 1])).tolist() == [2, 0, 1]
    assert groups_of_clusters(p, np.array([1, 1, 0, 0, 0])).tolist() == [1, 0, 0]  # two clusters of one group


def test_measures_by_hand(monkeypatch):
    """Ten objects, one of them wrong; sets of the rival hold what its posteriors add up to."""
    monkeypatch.setitem(coverage.METHODS, "ECM", lambda n_clusters, seed: ECM(n_clusters, n_init=1, random_state=seed))
    found = measure("ECM", "3 apart by 6", 1)
    assert found["accuracy"] > 0.97
    assert found["right"] <= found["assigned"] * found["n"]
    assert found["covered 0.95"] >= found["covered 0.8"]
    rival = measure(RIVAL, "3 apart by 6", 1)
    assert rival["size 0.95"] >= rival["size 0.8"] >= 1
    results = {"3 apart by 6#0/ECM": found, f"3 apart by 6#0/{RIVAL}": rival}
    cells = {(cell.row, cell.column): cell.ours for cell in [*assigned_cells(results), *coverage_cells(results)]}
    assert cells["ECM, known", "right of these"] == pytest.approx(found["right"] / (found["assigned"] * found["n"]))
    assert cells["ECM, known, 0.9", "worst less level"] == pytest.approx(found["covered 0.9"] - 0.9)
    assert [exhibit.name for exhibit in EXHIBITS] == ["truth.assigned", "truth.coverage"]
