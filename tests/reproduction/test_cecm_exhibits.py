"""The exhibits of the CECM paper: what they ask for, what they compare, and that the measurements measure."""

import json
from itertools import pairwise

import numpy as np
import pytest

from reproduction.catalog import missing_data
from reproduction.cecm import EXHIBITS, brain, curves, numbers, small, tables, trials, two_class
from reproduction.cecm.collecting import blocks, gathered, joined
from reproduction.exhibit import Unit

NAMES = [exhibit.name for exhibit in EXHIBITS]
COMPUTED = [exhibit for exhibit in EXHIBITS if not exhibit.absent]


def exhibit(name):
    return EXHIBITS[NAMES.index(name)]


# -- without any measurement ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exhibit", COMPUTED, ids=lambda exhibit: exhibit.name)
def test_an_exhibit_without_results_has_all_its_cells_and_can_be_shown(exhibit):
    cells = exhibit.cells({}) if exhibit.cells else []
    assert all(cell.ours is None and cell.verdict == "not comparable" for cell in cells)
    assert bool(cells) == (exhibit.name != "cecm.figure1")
    assert exhibit.draw is None or exhibit.draw({}).axes
    assert exhibit.notes is None or exhibit.notes({}) == []


@pytest.mark.parametrize("exhibit", COMPUTED, ids=lambda exhibit: exhibit.name)
def test_units_have_keys_of_their_own_and_settings_that_json_holds(exhibit):
    for quick in (True, False):
        units = exhibit.units(quick, 3)
        assert len({unit.key for unit in units}) == len(units)
        for unit in units:
            assert json.loads(json.dumps(dict(unit.settings))) == unit.settings
            assert "seed" in unit.settings or unit.key == "table3"


def test_units_that_exhibits_share_are_the_same():
    known: dict[str, Unit] = {}
    for one in COMPUTED:
        for unit in one.units(False, 0):
            assert known.setdefault(unit.key, unit).fingerprint == unit.fingerprint


def test_a_full_run_has_a_hundred_trials_in_blocks():
    units = [unit for unit in exhibit("cecm.table5").units(False, 0) if unit.key.startswith("xi/Glass/50/")]
    assert [(unit.settings["first"], unit.settings["trials"]) for unit in units] == [(k, 25) for k in (0, 25, 50, 75)]
    assert sum(unit.settings["trials"] for unit in blocks("key", print, {}, 60)) == 60


def test_trials_of_blocks_are_joined_and_no_others():
    results = {"a/b/0": {"rand": [[1.0, 2.0], [5.0]]}, "a/b/25": {"rand": [[3.0], [6.0]]}, "a/bc/0": {"rand": [[9.0]]}}
    assert joined(gathered(results, "a/b"), "rand", 0) == [1.0, 2.0, 3.0]
    assert joined(gathered(results, "a/b"), "rand", 1) == [5.0, 6.0]


# -- the paper's numbers ----------------------------------------------------------------------------------------------


def test_tables_5_and_6_are_whole():
    assert {n: len(exhibit(f"cecm.table{n}").cells({})) for n in (5, 6)} == {5: 60, 6: 60}
    for by_set in numbers.RAND.values():
        assert list(by_set) == ["Iris", "Wine", "Glass"]
        for means, deviations in by_set.values():
            assert len(means) == len(deviations) == len(numbers.XIS)


def test_without_links_the_paper_has_the_same_number_whatever_their_count():
    for name, paper in {"Iris": 0.87, "Wine": 0.95, "Glass": 0.85}.items():
        assert {by_set[name][0][0] for by_set in numbers.RAND.values()} == {paper}
        assert {by_set[name][1][0] for by_set in numbers.RAND.values()} == {0.0}


def test_more_links_never_give_the_paper_less():
    counts = sorted(numbers.RAND)
    for fewer, more in pairwise(counts):
        for name in numbers.COLUMNS:
            assert (np.array(numbers.RAND[more][name][0]) >= numbers.RAND[fewer][name][0]).all()


def test_cells_carry_the_number_of_their_row_and_column():
    cells = {(cell.row, cell.column): cell for cell in exhibit("cecm.table6").cells({})}
    glass = cells["100 links, ξ = 0.6", "Glass (Mah.)"]
    assert (glass.paper, glass.paper_deviation, glass.better) == (0.94, 0.02, "higher")
    iris = cells["200 links, ξ = 0.9", "Iris (Mah.)"]
    assert (iris.paper, iris.paper_deviation) == (0.98, 0.02)
    seconds = {(cell.row, cell.column): cell.paper for cell in exhibit("cecm.table7").cells({})}
    assert seconds["Glass", "CECM-Eucl"] == 2.5
    iterations = {(cell.row, cell.column): cell.paper for cell in exhibit("cecm.table8").cells({})}
    assert iterations["Wine", "CFCM-Mah"] == 54.54


def test_seconds_and_iterations_are_shown_but_not_judged():
    for name in ("cecm.table7", "cecm.table8", "cecm.table9"):
        judged = [cell for cell in exhibit(name).cells({}) if not cell.incomparable]
        assert {cell.row for cell in judged} == ({"Rand index"} if name == "cecm.table9" else set())


# -- measurements -----------------------------------------------------------------------------------------------------


def run(units):
    return {unit.key: unit.measure(**unit.settings) for unit in units}


def test_table_3_follows_from_table_2():
    cells = small.pair_cells(run(small.pair_units(True, 0)))
    assert [cell.verdict for cell in cells] == ["within"] * 6


@pytest.mark.needs_data("glass", "letters_ijl")
def test_the_data_sets_are_those_of_the_paper():
    assert not missing_data([exhibit("cecm.table4")])
    cells = small.size_cells(run(small.size_units(True, 0)))
    assert [cell.verdict for cell in cells] == ["within"] * 15


@pytest.mark.needs_data("glass")
def test_window_glass_is_the_larger_class():
    data = trials.table("Glass", 0)
    assert np.bincount(data.truth).tolist() == [163, 51]


def test_a_few_trials_of_table_5():
    settings = {"dataset": "Iris", "metric": "mahalanobis", "n_links": 20, "xis": list(numbers.XIS), "seed": 0}
    found = trials.rand_by_xi(**settings, first=0, trials=2)
    again = trials.rand_by_xi(**settings, first=1, trials=1)
    assert [row[1:] for row in found["rand"]] == again["rand"]  # a block is what it would be in any other
    cells = {(c.row, c.column): c for c in exhibit("cecm.table5").cells({"xi/Iris/20/0": found})}
    assert cells["20 links, ξ = 0", "Iris (Mah.)"].verdict == "within"
    assert cells["20 links, ξ = 0.5", "Iris (Mah.)"].ours == pytest.approx(np.mean(found["rand"][5]))
    assert cells["20 links, ξ = 0.5", "Wine (Eucl.)"].ours is None


@pytest.mark.parametrize("method", trials.METHODS)
def test_every_method_takes_links_and_starts_without(method):
    found = trials.rand_curve("Iris", method, counts=[0, 50], first=0, trials=2, seed=0)
    assert all(len(rand) + failed == 2 for rand, failed in zip(found["rand"], found["failed"]))
    assert np.mean(found["rand"][1]) > np.mean(found["rand"][0]) > 0.7
    assert all(0 <= value <= 1 for values in found["unlinked"] for value in values)


@pytest.mark.needs_data("glass")
def test_cop_kmeans_fails_on_many_links():
    found = trials.rand_curve("Glass", "COP", counts=[10, 200], first=0, trials=4, seed=0)
    assert found["failed"][0] == 0
    assert 0 < found["failed"][1] == 4 - len(found["rand"][1])


def test_failures_of_cop_kmeans_are_told():
    none, half = [0] * 6, [0, 0, 0, 0, 1, 4]
    found = {"rand": [[0.6] * 4] * 4 + [[0.7] * 3, []], "failed": half, "unsettled": [0, 0, 0, 0, 2, 0]}
    results = {"curve/Letters/COP/0": found, "curve/Iris/COP/0": {**found, "failed": none, "unsettled": none}}
    notes = curves.comparison_notes(results)
    assert notes[-1] == (
        "COP-KMEANS on Letters, of 4 trials: 100 links: 1 failed, 2 went round in circles; "
        "200 links: 4 failed, 0 went round in circles."
    )
    assert "COP-KMEANS on Iris, of 4 trials: none failed." in notes
    cells = {(c.row, c.column): c.ours for c in curves.comparison_cells(results)}
    assert cells["Letters, COP", "100 links"] == pytest.approx(0.7)
    assert cells["Letters, COP", "200 links"] is None
    assert len(curves.draw_comparison(results).axes) == 4


def test_questions_on_iris_reach_the_best_partition_with_fewer_answers_than_the_paper():
    found = trials.active_curve("Iris", "mahalanobis", n_questions=36, starts=1, seed=0)
    assert curves.first_at(found["rand"], 0.97) < 40
    cell = curves.active_cells({"active/Iris": found})[-1]
    assert cell.paper == 40
    assert cell.verdict == "not comparable"  # questions that follow from earlier answers are not asked


def test_two_class_is_wrong_without_links_and_right_with_ten():
    data = two_class.turned(0)
    links = trials.draw_links(data.target, 10, 0, 0)
    found = two_class.pictures(10, 0)
    assert list(found["rand"].values()) == pytest.approx([0.65, 0.5, 0.98], abs=0.1)
    assert found["pairs"] == links.pairs.tolist()
    assert small.draw_partitions({"two-class/pictures": found}).axes[2].get_title().endswith("1.00")


def test_four_clusters_of_table_9():
    found = trials.four_clusters("euclidean", "pairs", n_links=100, trials=1, seed=0)
    cells = {(c.row, c.column): c for c in tables.four_cells({"four/CECM-2 Eucl": found})}
    assert cells["Rand index", "CECM-2 Eucl"].verdict == "within"
    assert cells["CPU (sec.)", "CECM-2 Eucl"].ours < 1


def test_regions_lie_in_what_they_stand_for():
    truth = np.full((20, 30), 1)
    truth[:, :3], truth[5:9, 8:13], truth[2, 25:28] = 0, 2, 2
    lesion, normal = brain.regions(truth, 3)
    assert lesion.sum() == 6
    assert (truth[lesion] == 2).all()
    assert normal.sum() > 5
    assert (truth[normal] == 1).all()


def test_two_regions_find_the_lesions():
    found = {"brain/0": brain.segmented(96, brain.RADII, 0)}
    cells = {(c.row, c.column): c.ours for c in small.brain_cells(found)}
    assert cells["CECM, disc of radius 6", "Dice"] > cells["ECM", "Dice"]
    assert small.draw_brain(found).axes[0].get_title() == "slice"


def test_figure_19_shows_the_pignistic_partitions_of_both_methods():
    found = brain.segmented(64, [6], seed=0)
    figure = small.draw_brain({"brain/0": found})
    shown = {ax.get_title(): ax.images[0].get_array() for ax in figure.axes}
    name = brain.name_of(brain.RADII[-1])
    np.testing.assert_array_equal(shown["ECM: pignistic"], found["labels"]["ECM"])
    np.testing.assert_array_equal(shown["CECM: pignistic"], found["labels"][name])
