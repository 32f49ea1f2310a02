"""Scores of partitions whose rows are not in memory: those of the same partitions in memory."""

import tracemalloc

import dask.array as da
import numpy as np
import pytest

from evidentia import CredalPartition, FocalSets
from evidentia.partition import LazyPartition
from evidentia.rows.dask import DaskRows
from evidentia.rows.source import Chunk, TransformedRows, same_rows
from evidentia.scores import credal_rand_index, pair_nonspecificity
from evidentia.solvers.coordinates import ColumnScales
from odd_rows import OddRows

N = 1_203
X = np.random.default_rng(0).normal(size=(N, 2))
SETS, OTHER_SETS = FocalSets(3), FocalSets(4, "pairs", empty=False)


def masses(table, n_sets, slope):
    """Some masses of each row, all of them above zero."""
    raw = np.exp(slope * np.sin(np.outer(table[:, 0], np.arange(n_sets)) + table[:, 1:2]))
    return raw / raw.sum(axis=1, keepdims=True)


def place(table):
    return masses(table, len(SETS), 2.0)


def place_otherwise(table):
    return masses(table, len(OTHER_SETS), 3.0)


def lazy(rows):
    return LazyPartition(rows, place, SETS)


def otherwise(rows):
    return LazyPartition(rows, place_otherwise, OTHER_SETS)


INSIDE = CredalPartition(place(X), SETS)
OTHERWISE = CredalPartition(place_otherwise(X), OTHER_SETS)


class Counted(OddRows):
    reads = 0

    def read(self, handle):
        self.reads += 1
        return super().read(handle)


def test_index_of_two_partitions_of_one_source_takes_one_pass():
    rows = Counted(X, size=101)
    expected = credal_rand_index(INSIDE, OTHERWISE)
    assert credal_rand_index(lazy(rows), otherwise(rows)) == pytest.approx(expected, abs=1e-13)
    assert rows.reads == len(rows.handles)
    assert expected == pytest.approx(credal_rand_index(OTHERWISE, INSIDE), abs=1e-13)


def test_a_partition_of_rows_beside_one_in_memory_labels_or_rows_cut_otherwise():
    labels = OTHERWISE.labels()
    pairs = {
        "partition": (OTHERWISE, OTHERWISE),
        "labels": (labels, labels),
        "cut otherwise": (otherwise(OddRows(X, size=77)), OTHERWISE),
        "a Dask array": (otherwise(DaskRows(da.from_array(X, chunks=(500, 2)))), OTHERWISE),
    }
    for name, (q, inside) in pairs.items():
        p = lazy(OddRows(X, size=101))
        expected = credal_rand_index(INSIDE, inside)
        assert credal_rand_index(p, q) == pytest.approx(expected, abs=1e-13), name
        assert credal_rand_index(q, p) == pytest.approx(expected, abs=1e-13), name


def test_nonspecificity_of_pairs():
    for known in (True, False):
        found = pair_nonspecificity(lazy(OddRows(X, size=101, known=known)))
        assert found == pytest.approx(pair_nonspecificity(INSIDE), abs=1e-13)


def test_scaled_rows_are_compared_object_by_object():
    scales = ColumnScales(np.array([0.5, -1.0]), np.array([2.0, 0.3]))
    rows = OddRows(X, size=101)
    scaled = TransformedRows(rows, scales)
    expected = credal_rand_index(INSIDE, CredalPartition(place_otherwise(scales.transform(X)), OTHER_SETS))
    assert credal_rand_index(lazy(rows), otherwise(scaled)) == pytest.approx(expected, abs=1e-13)
    other = TransformedRows(rows, ColumnScales(np.array([0.0, 1.0]), np.array([1.0, 1.0])))
    assert not same_rows(scaled, other)  # though both have the fingerprint of the rows
    collection = da.from_array(X, chunks=(500, 2))
    assert same_rows(DaskRows(collection), DaskRows(collection))
    assert not same_rows(DaskRows(collection), DaskRows(collection + 1))


@pytest.mark.parametrize("measure", ["jousselme", "belief"])
def test_distances_say_that_they_need_every_pair(measure):
    for p, q in ((lazy(OddRows(X)), OTHERWISE), (INSIDE, otherwise(OddRows(X)))):
        with pytest.raises(TypeError, match=f"measure='{measure}' looks at every pair .*predict_partition"):
            credal_rand_index(p, q, measure=measure)


def test_other_numbers_of_objects_are_refused():
    with pytest.raises(ValueError, match="Got 1203 and 1200 objects"):
        credal_rand_index(lazy(OddRows(X, size=101)), OTHERWISE[:1200])
    with pytest.raises(ValueError, match="Got 900 and 1203 objects"):
        credal_rand_index(lazy(OddRows(X[:900], size=101, known=False)), otherwise(OddRows(X, size=77)))


def test_one_object_makes_no_pair():
    rows = OddRows(X[:1])
    with pytest.raises(ValueError, match=r"at least two objects\. Got 1"):
        credal_rand_index(lazy(rows), otherwise(rows))
    with pytest.raises(ValueError, match=r"'partition' must be a partition of at least two objects\. Got 1"):
        pair_nonspecificity(lazy(rows))


class Repeated(OddRows):
    """Rows of an array again and again."""

    def __init__(self, table, times):
        super().__init__(table)
        self.handles, self.n_rows = list(range(times)), times * len(table)

    def read(self, handle):
        yield Chunk(self.table, None, "row ", handle * len(self.table))


def test_memory_does_not_grow_with_the_number_of_rows():
    rows = Repeated(X, 300)
    tracemalloc.start()
    credal_rand_index(lazy(rows), otherwise(rows))
    pair_nonspecificity(lazy(rows))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6  # the masses of all rows have 23 MB
