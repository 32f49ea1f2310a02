"""The exhibits of the bootGMM paper: its numbers, the arithmetic around them, and small units for real."""

import json
from importlib import import_module

import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from reproduction.bootgmm import EXHIBITS, calibration, fits, fresh, printed, real, synthetic

BY_NAME = {exhibit.name: exhibit for exhibit in EXHIBITS}


def places():
    from reproduction.catalog import shown_places

    return [place for exhibit in EXHIBITS for place in shown_places(exhibit)]


def test_every_table_and_figure_of_the_paper_has_one_exhibit():
    wanted = [f"table{n}" for n in range(1, 13)] + [f"figure{n}" for n in range(1, 22)]
    assert sorted(places()) == sorted(wanted)


@pytest.mark.parametrize("name", BY_NAME)
def test_without_results_cells_hold_the_paper_alone_and_notes_are_text(name):
    exhibit = BY_NAME[name]
    cells = exhibit.cells({}) if exhibit.cells else []
    assert all(cell.ours is None and cell.verdict == "not comparable" for cell in cells)
    assert all(isinstance(note, str) for note in (exhibit.notes({}) if exhibit.notes else []))


@pytest.mark.parametrize("quick", [True, False])
def test_units_are_named_once_and_settings_are_json(quick):
    units = {}
    for exhibit in EXHIBITS:
        for unit in exhibit.units(quick, 7):
            assert units.setdefault(unit.key, unit.fingerprint) == unit.fingerprint
            assert json.loads(json.dumps(dict(unit.settings))) == dict(unit.settings)
            module = import_module(unit.measure.__module__)
            assert getattr(module, unit.measure.__name__) is unit.measure


def test_full_tables_have_a_hundred_different_data_sets_shared_by_the_models():
    units = calibration.coverage_units(2, False, 3)
    seeds = {
        model: [u.settings["seed"] for u in units if u.settings["model"] == model] for model in calibration.ASSUMED
    }
    assert all(len(set(found)) == len(found) for found in seeds.values())
    assert sum(u.settings["n_datasets"] for u in units if u.settings["model"] == "EEE") == 100
    assert seeds["EII"] == seeds["EEE"] == seeds["VVV"] == seeds["bic"]
    assert seeds["auto"] == seeds["EII"][:3]


@pytest.mark.parametrize(
    ("table", "sizes"),
    [
        *[(getattr(printed, f"TABLE_{n}"), {"se": 50, "ve": 50, "vi": 50}) for n in (6, 7, 8)],
        *[(getattr(printed, f"TABLE_{n}"), {"ch": 36, "no": 76, "ov": 33}) for n in (9, 10, 11, 12)],
    ],
)
def test_rows_of_the_printed_confusion_tables_sum_to_the_sizes_of_the_classes(table, sizes):
    assert {row: sum(counts.values()) for row, counts in table.items()} == sizes


@pytest.mark.parametrize("table", [printed.TABLE_1, printed.TABLE_5])
def test_printed_masses_sum_to_one(table):
    sums = [sum(row) for row in table.values()]
    np.testing.assert_allclose(sums, 1, atol=0.0101)  # object 69 is printed with 1.010


def test_words_of_the_paper_agree_with_its_tables():
    assert real.wrong(printed.TABLE_6) == 1
    assert real.wrong(printed.TABLE_8) == 16
    assert real.wrong(printed.TABLE_9) == 20
    # 14 with the name as printed: the four chemical on {no,ov} are then wrong, its six overt are not
    assert real.wrong(printed.TABLE_10) == 10


def test_coverage_is_better_on_the_side_of_the_nominal_level():
    def cell(ours):
        rows = [
            {"confidence": level, "ci_coverage": 0.5, "coverage": ours + shift, "ci_length": 0.2, "length": 0.2}
            for level in (0.9, 0.95)
            for shift in (-0.03, 0.03)
        ]
        found = calibration.coverage_cells(2, {"mixture 2/EII/0": {"rows": rows}})
        return next(c for c in found if c.row == "0.90, [Bel, Pl], coverage" and c.column == "EII")

    assert cell(0.5).paper == 0.50
    assert cell(0.5).paper_deviation == 0.038
    assert cell(0.5).deviation == pytest.approx(0.03 * 2**0.5)
    assert cell(0.56).verdict == "within"  # two standard errors: 0.06 of ours and 0.0076 of the paper's 100 data sets
    assert cell(0.57).verdict == "better"
    assert cell(0.80).verdict == "better"
    assert cell(0.99).verdict == "better"  # off by 0.09, the paper by 0.40
    assert cell(0.40).verdict == "worse"


def test_clusters_take_the_names_of_their_classes_and_doubles_a_number():
    masses = np.eye(3)[[2, 2, 0, 0, 1]]
    partition = CredalPartition(masses, FocalSets(3, [{0}, {1}, {2}]))
    order, names = fits.class_order(partition, np.array([0, 0, 1, 1, 2]), ["a", "b", "c"])
    assert (order, names) == ([2, 0, 1], ["a", "b", "c"])
    assert real.confusion(fits.reordered(partition, order, names), np.array([0, 0, 1, 1, 0]), ["a", "b", "c"]) == {
        "a": {"{a}": 2, "{b}": 0, "{c}": 1},
        "b": {"{a}": 0, "{b}": 2, "{c}": 0},
        "c": {"{a}": 0, "{b}": 0, "{c}": 0},
    }
    assert fits.class_order(partition, np.array([0, 0, 0, 0, 1]), ["a", "b", "c"]) == ([0, 2, 1], ["a0", "a2", "b1"])


def test_counts_are_compared_within_one_object_or_a_fiftieth_of_the_class():
    def cells(moved, **more):
        run = {"counts": {**printed.TABLE_9, "no": {"{ch}": 4 + moved, "{no}": 72 - moved, "{ov}": 0}}}
        return {(c.row, c.column): c for c in real.count_cells(printed.TABLE_9, [run], **more)}

    assert cells(1)["no", "{ch}"].verdict == "within"
    assert cells(2)["no", "{ch}"].verdict == "different"  # 2 % of 76 are one and a half
    assert cells(2)["all", real.WRONG].verdict == "within"  # 22 for 20, of 145
    assert cells(3)["all", real.WRONG].verdict == "worse"
    assert cells(3, rival=True)["all", real.WRONG].verdict == "different"


def test_runs_that_differ_widen_the_limit_of_a_count():
    runs = [{"counts": {**printed.TABLE_9, "no": {"{ch}": found, "{no}": 76 - found, "{ov}": 0}}} for found in (5, 9)]
    cell = next(c for c in real.count_cells(printed.TABLE_9, runs) if (c.row, c.column) == ("no", "{ch}"))
    assert cell.limit == pytest.approx(2 * 8**0.5 * 1.5**0.5)  # one run of the paper beside two of ours
    assert cell.verdict == "within"


def test_replicates_stopped_early_make_for_shorter_intervals():
    settings = {"mixture": 1, "model": "VVV", "n_datasets": 2, "n_boot": 60, "seed": 0}
    found = {
        f"lengths/1/VVV/{end}": calibration.measure_coverage(**settings, stopped=stopped)
        for end, stopped in calibration.ENDS.items()
    }
    cells = {(c.row, c.column): c for c in calibration.length_cells(json.loads(json.dumps(found)))}
    assert cells["mixture 1, VVV", "shorter by"].ours > 0.05
    assert cells["mixture 1, VVV", "run on"].paper == 0.32
    assert cells["mixture 1, EII", "shorter by"].ours is None


def test_components_are_matched_to_the_true_ones():
    means = np.array([[5.1, 5], [0, 0.2], [9, 0]])
    assert synthetic.nearest_order(means, np.array([[0, 0], [9.0, 0.3], [5, 5]])) == [1, 2, 0]


def test_the_butterfly_has_the_papers_masses():
    results = {unit.key: unit.measure(**unit.settings) for unit in synthetic.butterfly_units(True, 0)}
    cells = [*synthetic.butterfly_cells(results), *synthetic.butterfly_pair_cells(results)]
    assert len(cells) == 9
    assert max(abs(cell.ours - cell.paper) for cell in cells) < 0.005


def test_a_small_unit_of_the_coverage_tables():
    found = calibration.measure_coverage(mixture=2, model="EII", n_datasets=1, n_boot=60, seed=0)
    assert [row["confidence"] for row in found["rows"]] == [0.9, 0.95]
    cells = calibration.coverage_cells(2, json.loads(json.dumps({"mixture 2/EII/0": found})))
    covered = next(cell for cell in cells if cell.row == "0.90, CI, coverage" and cell.column == "EII")
    assert covered.ours is not None
    assert abs(covered.ours - covered.paper) < 0.15  # a wrong model covers a third, in one data set too
    assert found["seconds"] > 0


def test_a_kept_fit_can_be_drawn():
    found = synthetic.measure_example(n_samples=30, n_boot=60, seed=0)
    results = json.loads(json.dumps({"example": found}))
    partition = fits.unpacked(results["example"]["partition"])
    assert fits.set_names(partition) == list(printed.PAIRS["example"])
    np.testing.assert_allclose(partition.masses.sum(axis=1), 1)
    told = results["example"]["draws"]
    assert [len(pair["draws"]) for pair in told] == [60] * 4
    widths = [pair["upper"] - pair["lower"] for pair in told]
    assert widths == sorted(widths)
    assert len(synthetic.draw_example(results).axes) == 6
    assert all(cell.ours is not None for cell in synthetic.example_cells(results))


@pytest.mark.needs_data("diabetes")
def test_ecm_finds_the_papers_confusion_tables():
    for data, table in (("iris", printed.TABLE_7), ("diabetes", printed.TABLE_11)):
        (unit,) = real.ecm_units(data)(True, 0)
        cells = real.count_cells(table, [unit.measure(**unit.settings)], rival=True)
        assert {cell.verdict for cell in cells} == {"within"}


@pytest.mark.parametrize("model", fresh.MODELS)
def test_a_fresh_mixture_is_of_its_model(model):
    one, other = (fresh.fresh_mixture(model, 4, np.random.RandomState(seed)) for seed in (1, 2))
    values = np.linalg.eigvalsh(one.covariances)
    volumes = np.exp(np.log(values).mean(axis=1))
    assert (np.ptp(volumes) > 0.01) == (model[0] == "V")
    assert (np.ptp(values / volumes[:, None], axis=0).max() > 0.01) == (model[1] == "V")
    diagonal = all(np.allclose(matrix, np.diag(np.diag(matrix))) for matrix in one.covariances)
    assert diagonal == (model[2] == "I")
    apart = [np.linalg.norm(one.means[a] - one.means[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(apart, apart[0])
    assert 2.5 <= apart[0] <= 4
    assert not np.allclose(one.means, other.means)


def test_a_unit_of_fresh_tables_for_real():
    exhibit = BY_NAME["bootgmm.number"]
    units = exhibit.units(True, 0)
    unit = next(unit for unit in units if unit.key == "fresh/2 columns/EII/number by BIC/0")
    found = unit.measure(**{**unit.settings, "n_datasets": 2, "n_boot": 20})
    assert len(found["rows"]) == 2
    cells = {(cell.row, cell.column): cell for cell in exhibit.cells({unit.key: found})}
    cell = cells["2 columns, EII, number by BIC", "coverage"]
    assert cell.ours == pytest.approx(np.mean([row["coverage"] for row in found["rows"]]))
    assert cell.runs == 2
    assert "2 fits in all" in exhibit.notes({unit.key: found})[0]
