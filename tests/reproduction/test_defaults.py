"""The yardstick: tables and their halves, measures by hand, units on tiny tables, and a page from a fake record."""

import json
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from evidentia.belief import FocalSets
from evidentia.datasets.registry import registry
from evidentia.partition import CredalPartition
from reproduction import comparison, defaults, pages
from reproduction.defaults import code, measuring, tables
from reproduction.defaults.measuring import KNOWN, METHODS, UNKNOWN, Answer, matched, scores
from reproduction.defaults.showing import Answers, ari_cells, method_cells
from reproduction.results import gather, write
from reproduction.running import Failure, Measurement

# -- tables -----------------------------------------------------------------------------------------------------------


def test_the_halves_are_fixed_and_are_those_of_the_rule():
    kept = json.loads(tables.HALVES.read_text())
    assert kept.pop("reason").startswith("Rules and constants")
    assert kept == {
        half: [name for name in tables.names() if tables.half(name) == half] for half in ("development", "judging")
    }
    assert {"breast_cancer", "digits", "egmm_four_class", "wide_2000d"} <= set(kept["judging"])
    assert not {"seeds", "vehicle", "near_2d_2"} & set(kept["development"])


@pytest.mark.parametrize("family", ["ecoli", "iris", "leaves", "letter", "mice", ("s2", "s4")])
def test_relatives_are_in_one_half(family):
    names = [name for name in tables.FILES if name.startswith(family)]
    assert len(names) > 1
    assert len({tables.half_of(name) for name in names}) == 1


def test_every_labeled_table_of_the_registry_is_there():
    assert set(tables.FILES) == {name for name, entry in registry().items() if entry.classes and name != "protein"}


def test_the_ten_are_those_that_the_guide_averages():
    assert set(tables.TEN) == {comparison.FILES[name] for name in comparison.AVERAGED}


@pytest.mark.parametrize("name", [name for name in tables.names() if name not in tables.FILES])
def test_a_table_is_the_same_for_the_same_seed(name):
    X, y = tables.table(name, 1, 3)
    again, same = tables.table(name, 1, 3)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, same)
    assert X.shape == (len(y), X.shape[1])
    assert set(y) == set(range(y.max() + 1))
    assert np.isfinite(X).all()
    if name not in tables.FROM_SKLEARN:
        assert not np.array_equal(X, tables.table(name, 2, 3)[0])
        assert not np.array_equal(X, tables.table(name, 1, 4)[0])


def test_the_nearest_means_have_the_distance_asked_for():
    rng = np.random.RandomState(5)
    factors = [np.diag([1.0, 2.0]), np.diag([3.0, 2.0])]  # mean covariance diag(5, 4)
    means = tables.apart(rng.standard_normal((2, 2)), factors, 2.5)
    between = means[0] - means[1]
    assert between[0] ** 2 / 5 + between[1] ** 2 / 4 == pytest.approx(2.5**2)


def test_a_mixture_has_what_its_settings_say():
    mixture = tables.Mixture(200, 5, 2, 6, sizes=(0.75, 0.25), noise=3)
    X, y = mixture.draw(np.random.RandomState(2))
    assert X.shape == (200, 5)
    assert np.bincount(y).tolist() == [150, 50]
    told = [abs(column[y == 0].mean() - column[y == 1].mean()) / column.std() for column in X.T]
    assert min(told[:2]) > 0.5 > max(told[2:])
    units = replace(mixture, units=True).draw(np.random.RandomState(2))[0] / X
    np.testing.assert_allclose(units, units[:1] * np.ones((200, 1)))
    assert 0.01 <= units.min() < units.max() <= 1_000
    far, _ = tables.Mixture(2_000, 2, 1, 0, elongation=1.0, outliers=0.1).draw(np.random.RandomState(2))
    assert 0.04 < (np.linalg.norm(far, axis=1) > 5).mean() < 0.1  # of a normal pair 4e-6


@pytest.mark.needs_data("magic", "housevotes84")
def test_of_a_large_file_a_sample_is_taken_and_missing_values_are_left():
    X, y = tables.table("magic")
    assert len(X) == len(y) == tables.MOST
    votes, _ = tables.table("housevotes84")
    assert len(votes) == 434  # one row holds nothing
    assert np.isnan(votes).sum() == registry()["housevotes84"].missing - 16


# -- measures ---------------------------------------------------------------------------------------------------------


def test_clusters_are_matched_by_the_assignment_most_objects_agree_with():
    # Cluster 1 is largest in both classes (3 and 2 objects); 1 -> class 0 and 0 -> class 1 agree with 3 + 1,
    # the other way round with 2 + 0.
    labels = np.array([1, 1, 1, 1, 1, 0])
    y = np.array([0, 0, 0, 1, 1, 1])
    assert matched(labels, y).tolist() == [1, 1, 1, 0, 0, 0]
    assert matched(np.zeros(4, dtype=int), np.array([0, 1, 1, 1])).tolist() == [-1, 0, 0, 0]
    assert matched(np.array([0, 0, 1, -1]), np.array([0, 0, 0, 1])).tolist() == [0, 0, 0, -1]  # 1 and class 1: nobody
    assert matched(np.full(3, -1), np.array([0, 1, 1])).tolist() == [-1, -1, -1]


def test_measures_of_a_partition_by_hand():
    """Clusters 0 and 1, classes 0 and 1: sure and right, sure and right, torn, an outlier, sure and wrong."""
    masses = np.zeros((5, 4))  # empty set, {0}, {1}, {0, 1}
    for i, column in enumerate([1, 2, 3, 0, 1]):
        masses[i, column] = 1
    partition = CredalPartition(masses, FocalSets(2, [0, 1, 2, 3]))
    answer = Answer(np.array([0, 1, 1, 1, 0]), partition)
    y = np.array([0, 1, 0, 1, 1])
    # pairs: labels {0, 4}, {1, 2, 3}; classes {0, 2}, {1, 3, 4}; counts 1, 1, 1, 2
    found = scores(answer, y)
    assert found["sure"] == 3 / 5
    assert found["contains"] == 3 / 5  # the outlier's set holds nothing
    assert found["clusters"] == found["classes"] == 2
    assert found["ari"] == pytest.approx((1 - 1.6) / (4 - 1.6))  # one pair in both, 4 * 4 / 10 by chance, 4 at most
    assert found["ari of the sure"] == pytest.approx(-0.5)  # labels 0 1 0, classes 0 1 1: 0 in both, 1 * 1 / 3, 1


def test_nobody_sure_has_no_index_and_noise_is_not_sure():
    partition = CredalPartition(np.array([[1.0], [1.0]]), FocalSets(2, [3]))
    assert scores(Answer(np.array([0, 0]), partition), np.array([0, 1]))["ari of the sure"] is None
    found = scores(Answer(np.array([4, 4, -1, 4])), np.array([0, 0, 0, 1]))
    assert (found["sure"], found["contains"], found["clusters"]) == (3 / 4, 2 / 4, 1)


def test_filled_and_scaled_columns():
    X = np.array([[1.0, 5.0], [np.nan, 5.0], [3.0, 5.0]])
    assert measuring.filled(X).tolist() == [[1, 5], [2, 5], [3, 5]]
    np.testing.assert_allclose(measuring.scaled(X), [[-np.sqrt(1.5), 0], [0, 0], [np.sqrt(1.5), 0]])
    np.testing.assert_allclose(measuring.z_scored(X), [[-1, 0], [np.nan, 0], [1, 0]])


# -- units ------------------------------------------------------------------------------------------------------------


def two_groups(name, draw, seed):
    rng = np.random.RandomState([seed, draw])
    y = np.arange(40) % 2
    return rng.normal(size=(40, 2)) * [1, 100] + 10 * y[:, None] * [1, 100], y


WAYS = [(method, number) for method, way in METHODS.items() for number in way.numbers]


@pytest.mark.parametrize(("method", "number"), [(method, number) for method, number in WAYS if method in measuring.OWN])
def test_every_method_of_ours_answers(method, number):
    """By its quick settings; the defaults are the yardstick's business."""
    X, y = two_groups("", 0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        answer = measuring.fit_own(method, X, 2 if number == KNOWN else None, 0, measuring.OWN[method].method.quick)
    found = scores(answer, y)
    assert found["classes"] == 2
    assert found["clusters"] == answer.partition.n_clusters
    assert 0 <= found["sure"] <= 1
    assert number == UNKNOWN or found["clusters"] == 2


@pytest.mark.parametrize(("method", "number"), [("fit", KNOWN), ("egmm", KNOWN), ("egmm-scaled", KNOWN), *WAYS[-4:]])
def test_a_unit_measures_one_method_on_one_table(method, number, monkeypatch):
    monkeypatch.setattr(measuring, "table", two_groups)
    found = measuring.measure("tiny", 1, method, number, 3, half="judging", code=["a"])
    assert set(found) == {
        "ari", "sure", "ari of the sure", "contains", "clusters", "classes", "seconds", "warnings",
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found
    assert found["warnings"] == []
    assert found["seconds"] >= 0
    if number == KNOWN:
        assert (found["ari"], found["contains"], found["clusters"]) == (1, 1, 2)


def test_the_command_tells_its_error():
    X, _ = two_groups("", 0, 0)
    with pytest.raises(RuntimeError, match=r"^evidentia fit ended with code 2: .*clusters"):
        measuring.fit_by_command(X, 0, 0)


def test_methods_and_numbers_are_those_of_the_records():
    assert METHODS["eknnclus"].numbers == (UNKNOWN,)
    assert METHODS["ecm"].numbers == (KNOWN,)
    assert METHODS["egmm"].numbers == (UNKNOWN, KNOWN)
    assert not {"latent-class", *measuring.LINKED} & set(METHODS)


def test_quick_runs_leave_large_tables_and_most_draws_out():
    [judging] = [exhibit for exhibit in defaults.EXHIBITS if exhibit.name == "defaults.judging-fit"]
    quick, full = ({unit.key for unit in judging.units(quick, 0)} for quick in (True, False))
    assert quick < full
    assert "digits/fit/unknown" in full - quick
    assert {"egmm_four_class#2/fit/unknown", "egmm_four_class#10/fit/unknown"} & quick == {
        "egmm_four_class#2/fit/unknown"
    }
    assert "egmm_four_class#10/fit/unknown" in full


# -- code -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a method that imports a helper inside a function, and a stranger."""
    home = tmp_path / "evidentia_fake"
    home.mkdir()
    texts = {
        "__init__": "",
        "method": "def fit():\n    from evidentia_fake.helper import go\n    return go()\n",
        "helper": "import json\ndef go():\n    return 1\n",
        "stranger": "x = 1\n",
    }
    for name, text in texts.items():
        (home / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    yield home
    forget()
    for name in [name for name in sys.modules if name.startswith("evidentia_fake")]:
        del sys.modules[name]


def forget():
    for function in (code.digest, code.digest_alone, code.imported, code.is_module, code.modules_of, code.source):
        function.cache_clear()


def test_a_digest_changes_with_what_is_imported_and_with_nothing_else(package):
    before = code.digest("evidentia_fake.method")
    (package / "stranger.py").write_text("x = 2\n")
    (package / "helper.py").write_text("import json\ndef go():  # why\n    return 1\n")
    forget()
    assert code.digest("evidentia_fake.method") == before
    (package / "helper.py").write_text("import json\ndef go():\n    return 2\n")
    forget()
    assert code.digest("evidentia_fake.method") != before


def test_a_method_depends_on_its_base_and_not_on_other_families():
    reached = code.closure(("evidentia.prototypes.ecm",))
    assert {"evidentia._base", "evidentia.prototypes._kernel", "evidentia.partition.credal"} <= reached
    assert not any(name.startswith(("evidentia.mixtures", "evidentia.app.cli", "evidentia.neural")) for name in reached)
    assert "evidentia.datasets.synthetic" in code.closure(("reproduction.defaults.tables",))


# -- what is shown ----------------------------------------------------------------------------------------------------


def answer(ari, *, clusters=3, sure=0.75, seconds=2.0, warned=()):
    return {
        "ari": ari, "sure": sure, "ari of the sure": None if sure == 0 else 0.9, "contains": 0.8, "clusters": clusters,
        "classes": 3, "seconds": seconds, "warnings": list(warned),
    }  # fmt: skip


RESULTS = {
    "iris/egmm/unknown": answer(0.7, clusters=4, seconds=1.0),
    "wine/egmm/unknown": answer(0.3, sure=0.0, seconds=3.0, warned=["late"]),
    "glass/egmm/unknown": {"no end within": 120},
    "seeds/egmm/unknown": answer(0.1),  # of the other half
    "iris/k-means/known": answer(0.6),
    "wine/k-means/known": answer(0.4001),
    "glass/k-means/known": answer(0.05),
}


def shown(cells):
    return {(cell.row, cell.column): cell.ours for cell in cells}


def test_means_count_what_did_not_end_as_nothing():
    found = Answers(RESULTS, ["glass", "iris", "wine", "knowledge"])
    assert found.tables == ["glass", "iris", "wine"]
    cells = shown(method_cells(found))
    row = "EGMM, number unknown"
    assert cells[row, "ARI"] == pytest.approx((0.7 + 0.3 + 0) / 3)
    assert cells[row, "sure"] == pytest.approx(0.375)
    assert cells[row, "ARI of the sure"] == pytest.approx(0.9)  # of iris alone
    assert cells[row, "right number"] == 0.5
    assert cells[row, "CPU s, median"] == 2.0
    assert cells[row, "CPU s, most"] == 3.0
    assert cells[row, "warned"] == 0.5
    assert cells[row, "without an answer"] == 1
    assert cells[row, "far below k-means"] == 1  # wine, by 0.1001; glass only by 0.05
    assert cells["k-means, scaled, number given", "right number"] is None


def test_tables_stand_beside_k_means_and_have_a_mean():
    cells = shown(ari_cells(Answers(RESULTS, ["iris", "wine", "glass"]), UNKNOWN))
    assert cells["glass", "EGMM"] == 0
    assert cells["iris", "k-means, number given"] == 0.6
    assert cells["mean", "k-means, number given"] == pytest.approx((0.6 + 0.4001 + 0.05) / 3)


def test_draws_are_averaged_and_counted():
    results = {
        "egmm_four_class#1/egmm/unknown": answer(0.8, clusters=4),
        "egmm_four_class#2/egmm/unknown": answer(0.4, clusters=2),
        "egmm_four_class#1/k-means/known": answer(0.75),
    }
    exhibits = {exhibit.name: exhibit for exhibit in defaults.EXHIBITS}
    exhibit = exhibits["defaults.judging-egmm"]
    cells = shown(exhibit.cells(results))
    assert cells["egmm_four_class", "clusters"] == 3
    assert cells["egmm_four_class", "ARI"] == pytest.approx(0.6)
    assert exhibit.notes(results) == [
        "The four-class example of EGMM's paper: four clusters in 1 of 2 draws.",
        "More than 0.10 below k-means, number unknown: egmm_four_class.",
    ]
    assert exhibits["defaults.development-egmm"].cells(results) == []


def test_the_page_is_written_from_a_record(tmp_path):
    exhibit = next(exhibit for exhibit in defaults.EXHIBITS if exhibit.name == "defaults.development-unknown")
    failed = ("heart/egmm/unknown", "heart/bpec/unknown")
    units = [unit for unit in exhibit.units(True, 0) if unit.key in (*RESULTS, *failed)]
    outcomes = {
        unit.fingerprint: Failure("ValueError: no") if unit.key in failed else Measurement(RESULTS[unit.key], 1.0)
        for unit in units
    }
    write(tmp_path, [gather(exhibit, units, outcomes, quick=True, seed=0)])
    page = pages.pages(tmp_path)["results/defaults.md"]
    assert "# The yardstick" in page
    assert "|  | EGMM | k-means, number given |\n" in page
    assert "| wine | 0.300 | 0.400 |\n" in page
    assert "| mean | 0.333 | 0.350 |\n" in page
    assert "- No end in time: glass/egmm." in page
    assert "- *failed*, heart/egmm/unknown, heart/bpec/unknown: ValueError: no" in page
    assert "[defaults](results/defaults.md)" in pages.pages(tmp_path)["results.md"]
