"""The exhibits of the BHC paper."""

import json

import numpy as np
import pytest

from reproduction import bhc
from reproduction.bhc import EXHIBITS, TABLE_1, TABLE_2, implied_share, largest_gap, share_of_pairs

BY_NAME = {exhibit.name: exhibit for exhibit in EXHIBITS}


@pytest.mark.parametrize("name", BY_NAME)
def test_without_results_cells_hold_the_paper_alone_and_notes_are_text(name):
    exhibit = BY_NAME[name]
    assert all(cell.ours is None for cell in exhibit.cells({}))
    assert exhibit.notes is None or exhibit.notes({}) == []


@pytest.mark.parametrize("quick", [True, False])
def test_units_are_named_once_and_settings_are_json(quick):
    units = {}
    for exhibit in EXHIBITS:
        for unit in exhibit.units(quick, 7):
            assert units.setdefault(unit.key, unit.fingerprint) == unit.fingerprint
            assert json.loads(json.dumps(dict(unit.settings))) == dict(unit.settings)


def test_implied_share_by_hand():
    # Classes {0, 1, 2} and {3}; clusters {0, 1} and {2, 3}. Of six pairs three are of one class: (0,1), (0,2), (1,2).
    # Clustered pairs: (0,1) right, (2,3) wrong. Precision 1/2, recall 1/3, right decisions: (0,1), (0,3), (1,3) of 6.
    assert implied_share((1 / 2, 1 / 3, 3 / 6)) == pytest.approx(3 / 6)
    assert share_of_pairs([3, 1]) == pytest.approx(3 / 6)


def test_table_1_is_of_iris_and_so_is_table_2():
    iris, votes = share_of_pairs([50, 50, 50]), share_of_pairs([267, 168])
    for table in (TABLE_1, TABLE_2):
        found = [implied_share(line) for lines in table.values() for line in lines.values()]
        np.testing.assert_allclose(found, iris, atol=5e-4)
    assert votes - iris > 0.19


def test_line_of_four_clusters_has_fewer_wrong_pairs_than_that_of_five():
    def wrong_pairs(line):
        precision, recall, _ = line
        return 3675 * recall * (1 / precision - 1)  # 3675 pairs of one class

    assert round(wrong_pairs(TABLE_1["BHC"][4])) == 158
    assert round(wrong_pairs(TABLE_1["BHC"][5])) == 386


def test_largest_gap_is_looked_for_among_few_clusters():
    heights = np.array([0.0, 5.0, 6.0, 6.5, 8.5])  # of six objects: five clusters before height 5, two before 8.5
    assert largest_gap(heights, most=5) == 5
    assert largest_gap(heights, most=4) == 2


def test_a_small_unit_of_table_1():
    settings = {"data": "iris_uci", "linkage": "product", "n_groups": 13, "alpha": 0.95, "gamma": "auto"}
    found = bhc.measure_groups(**settings, n_seeds=2, seed=0)
    cells = bhc.table_1_cells(json.loads(json.dumps({bhc.IRIS_KEY: found})))
    assert len(found["rows"]) == 2 * 5 * 2
    two = [cell for cell in cells if cell.row == "F_c = 2" and cell.column.startswith("BHC")]
    np.testing.assert_allclose([cell.ours for cell in two], [cell.paper for cell in two], atol=1e-4)  # setosa, the rest
    assert all(cell.ours is not None for cell in cells)


def test_table_2_is_met_on_iris_with_ten_groups_and_products():
    unit = bhc.table_2_units(True, 0)[1]
    cells = {(cell.row, cell.column): cell for cell in bhc.table_2_cells({unit.key: unit.measure(**unit.settings)})}
    for line in ("Iris, F_c = 4", "Iris, F_c = 5"):
        own = [cells[line, f"BHC, {measure}"] for measure in bhc.MEASURES]
        np.testing.assert_allclose([cell.ours for cell in own], [cell.paper for cell in own], atol=0.02)
        assert {cell.verdict for cell in own} == {"within"}
    assert cells["votes, F_c = 4", "BHC, RI"].verdict == "not comparable"


def test_the_outlier_merges_last_and_stands_one_half_above():
    found = bhc.measure_diamond("diamond, 12 at (0, 10)")["trees"]["average, BHC"]
    assert found["12 merges last"] == 1
    assert found["last gap"] == pytest.approx(0.5, abs=0.01)
    assert found["clusters (auto)"] == 3
