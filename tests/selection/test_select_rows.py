"""select over rows that are not in memory: the numbers of the table in memory, and one survey for all fits."""

import tracemalloc

import dask.array as da
import numpy as np
import pandas as pd
import pytest

from evidentia import ECM, EGMM, FCM, FocalSets, select
from evidentia.constraints import PairwiseConstraints
from evidentia.partition import LazyPartition
from evidentia.partition.counts import Certainty
from evidentia.prototypes import CECM
from evidentia.rows import scan
from evidentia.selection import CRITERIA, search
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.threads import n_threads
from odd_rows import OddRows, Repeated

LARGE = 53_001  # more rows than a sample has
METHODS = {
    "egmm": EGMM(model="EEE", focal_sets="pairs", init="k-means", prior=None, n_init=1, tol=1e-5),
    "ecm": ECM(focal_sets="pairs", n_init=1, tol=1e-5),
    "fcm": FCM(beta=1.8, n_init=1, tol=1e-6),
}
COLUMNS = ["ebic", "normalized_nonspecificity", "mpc"]


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(4)
    centers = np.array([[0.0, 0.0], [6.0, 1.0], [1.0, 5.0]])
    return centers[rng.choice(3, size=LARGE, p=[0.5, 0.3, 0.2])] + rng.normal(size=(LARGE, 2))


class Counted(OddRows):
    """Rows that count how often a part was read."""

    reads = 0

    def read(self, handle):
        self.reads += 1
        return super().read(handle)


def test_the_table_is_that_of_rows_in_memory(large):
    inside = select(large, METHODS, n_clusters=[2, 3], random_state=1)
    for X in (OddRows(large, known=False), da.from_array(large, chunks=(9_000, 2))):
        outside = select(X, METHODS, n_clusters=[2, 3], random_state=1)
        assert (outside.table["note"] == inside.table["note"]).all()
        np.testing.assert_allclose(outside.table[COLUMNS], inside.table[COLUMNS], rtol=1e-7)
        assert (outside.best, outside.criterion) == (inside.best, inside.criterion)
        assert isinstance(outside.estimator_.partition_, LazyPartition)
    assert not inside.table[COLUMNS].isna().all().any()


def test_few_rows_of_a_source_have_the_table_of_memory(large):
    inside = select(large[:600], METHODS, n_clusters=[2, 3], random_state=1)
    outside = select(OddRows(large[:600], size=77), METHODS, n_clusters=[2, 3], random_state=1)
    np.testing.assert_allclose(outside.table[COLUMNS], inside.table[COLUMNS], rtol=1e-9)


def test_the_first_pass_is_shared_by_all_fits_that_ask_for_the_same(large, monkeypatch):
    looks = []
    look = scan._scan
    monkeypatch.setattr(scan, "_scan", lambda rows, *key: looks.append(key) or look(rows, *key))
    select(OddRows(large), {"ecm": METHODS["ecm"], "fcm": METHODS["fcm"]}, n_clusters=[2, 3, 4], random_state=1)
    assert looks == [(False, False, "ECM", False, ECM._least_share)]
    select(OddRows(large), METHODS["ecm"], n_clusters=2, random_state=1)
    assert len(looks) == 2  # another call looks anew: the rows may have changed


def test_both_criteria_of_a_partition_take_one_pass(large):
    rows = Counted(large)
    model = METHODS["ecm"].set_params(n_clusters=3, random_state=0).fit(rows)
    before = rows.reads
    values = {name: CRITERIA[name].evaluate(model) for name in COLUMNS}
    assert rows.reads - before == len(rows.handles)
    assert np.isnan(values["ebic"])
    assert 0 < values["normalized_nonspecificity"] < 1
    assert 0 < values["mpc"] < 1


def test_criteria_count_rows_as_their_weights_say(large):
    weight = np.random.default_rng(0).integers(0, 4, size=900).astype(float)
    model = FCM(3, beta=1.8, random_state=0).fit(OddRows(large[:900], weight, size=101))
    copies = model.predict_partition(OddRows(np.repeat(large[:900], weight.astype(int), axis=0), size=53))
    mine, theirs = model.partition_.certainty, copies.certainty
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert mine.total == weight.sum()


def test_criteria_of_linked_objects_are_those_of_their_own_masses(large):
    weight = np.random.default_rng(0).integers(0, 4, size=900).astype(float)
    weight[[3, 400]] = 3.0
    links = PairwiseConstraints.from_links(cannot_link=[(3, 400)])
    model = CECM(2, xi=0.999, n_init=1, random_state=0)
    model.fit(OddRows(large[:900], weight, size=101), constraints=links)
    expected = Certainty.of(model.partition_.compute(), weight)
    np.testing.assert_allclose(model.partition_.certainty, expected, rtol=1e-12)


def test_the_sums_of_criteria_by_hand():
    def place(table):  # {} at 0, {0}, {1}, {0, 1}: torn as the number says
        return np.column_stack([0 * table, 1 - table, 0 * table, table])

    partition = LazyPartition(OddRows([[0.0], [0.6], [0.2]], np.array([1.0, 2.0, 0.0]), size=2), place, FocalSets(2))
    # pignistic probabilities 1, 0 and 0.7, 0.3: squares 1 and 0.58
    np.testing.assert_allclose(partition.certainty, [3.0, 2 * 0.6, 1 + 2 * 0.58])


def test_a_method_that_needs_memory_is_a_row_with_a_note(large):
    found = select(OddRows(large[:300]), ["fcm", "secmdd"], n_clusters=2, random_state=0)
    assert found.best == ("fcm", 2)
    assert "needs all rows in memory" in found.table["note"].iloc[1]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_of_select_are_those_of_its_fits(large, n_jobs, monkeypatch):
    asked = []
    fit = search._try
    monkeypatch.setattr(search, "_try", lambda *args: asked.append(n_threads()) or fit(*args))
    found = select(OddRows(large), METHODS["fcm"], n_clusters=[2, 3], random_state=0, n_jobs=n_jobs)
    assert asked == [n_jobs, n_jobs]
    alone = select(OddRows(large), METHODS["fcm"], n_clusters=[2, 3], random_state=0, n_jobs=2)
    pd.testing.assert_frame_equal(found.table.drop(columns="seconds"), alone.table.drop(columns="seconds"))


def test_memory_does_not_grow_with_the_number_of_rows(large):
    model = FCM(n_init=1, tol=1e-3)
    select(OddRows(large), model, n_clusters=2, random_state=0)
    tracemalloc.start()
    select(Repeated(large[:20_000], 100), model, n_clusters=[2, 3], random_state=0, n_jobs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 28e6  # the table has 32 MB, the masses of its rows as much and more


def rounds(rows):
    """How often all rows were read."""
    found, rows.reads = rows.reads / len(rows.handles), 0
    return found


def test_fits_that_go_over_the_rows_together_are_those_of_each_alone_to_the_bit(large, monkeypatch):
    rows = Counted(large)
    for name, model in METHODS.items():
        found = select(rows, {name: model}, n_clusters=[2, 3, 4], random_state=1, n_jobs=2)
        at_once = rounds(rows)
        monkeypatch.setattr(search, "TOGETHER", 1)
        alone = select(rows, {name: model}, n_clusters=[2, 3, 4], random_state=1, n_jobs=1)
        one_by_one = rounds(rows)
        monkeypatch.undo()
        pd.testing.assert_frame_equal(found.table.drop(columns="seconds"), alone.table.drop(columns="seconds"))
        assert found.estimator_.cluster_centers_.tobytes() == alone.estimator_.cluster_centers_.tobytes()
        assert (found.table["seconds"] > 0).all()
        single = [select(rows, {name: model}, n_clusters=c, random_state=1) and rounds(rows) for c in (2, 3, 4)]
        assert at_once <= max(single) + 1 < one_by_one


def test_what_one_method_says_of_the_rows_is_its_own_note(large):
    holes = large.copy()
    holes[40_000, 1] = np.nan
    found = select(OddRows(holes), METHODS, n_clusters=2, random_state=1)
    notes = found.table.set_index("method")["note"]
    assert "ECM needs finite numbers, but row 40000, column 1 holds nan" in notes["ecm"]
    assert "FCM needs finite numbers" in notes["fcm"]
    assert found.best[0] == "egmm"


def test_an_interrupt_in_a_shared_pass_keeps_what_the_fits_have(large):
    class Impatient(Counted):
        def read(self, handle):
            if self.reads > 6 * len(self.handles):
                self.reads = -10_000
                raise KeyboardInterrupt
            return super().read(handle)

    with pytest.warns(InterruptedFit, match="select was interrupted after 1 of 3 fits"):
        found = select(Impatient(large), FCM(beta=1.8, n_init=1, tol=1e-9), n_clusters=[2, 3, 4], random_state=1)
    assert "interrupted" in found.table["note"].iloc[-1]


def test_rows_that_cannot_be_read_are_told_to_every_fit(large):
    class Lost(OddRows):
        def read(self, handle):
            raise OSError("the disk is gone")

    with pytest.raises(ValueError, match=r"None of the 2 fits can be used.*the disk is gone"):
        select(Lost(large), METHODS["fcm"], n_clusters=[2, 3], random_state=1)
