"""Rows of a Dask Array or DataFrame: the same numbers, block by block, here and on a client."""

import subprocess
import sys
import time

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from evidentia import CECM, EGMM, EkNNclus, PairwiseConstraints
from evidentia.rows import as_rows, passes
from evidentia.rows import dask as dask_rows
from evidentia.rows.dask import DaskRows
from evidentia.rows.numbered import NumberedRows
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import scan
from evidentia.rows.source import TransformedRows, gather_rows
from made_rows import MadeRows, same, sums_of


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="800MB", dashboard_address="127.0.0.1:0"
        ) as workers,
        Client(workers, set_as_default=False) as one,
    ):
        yield one


@pytest.fixture
def table():
    return np.random.default_rng(3).normal(size=(2000, 3)) * [1, 5, 0.1] + [0, 2, -7]


LENGTHS = (700, 0, 299, 1, 1000)


@pytest.fixture
def collections(table):
    """The same rows in five blocks, one of them empty, with lengths known and unknown, as array and as frame."""
    array = da.from_array(table, chunks=(LENGTHS, 3))
    unknown = array.map_blocks(lambda block: block[np.isfinite(block[:, 0])], chunks=((np.nan,) * 5, (3,)))
    parts = np.split(table, np.cumsum(LENGTHS)[:-1])
    frame = dd.from_delayed([dask.delayed(pd.DataFrame)(part, columns=list("abc")) for part in parts])
    return {"array": array, "unknown lengths": unknown, "frame": frame}


KINDS = ("array", "unknown lengths", "frame")


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_are_the_rows_in_order(collections, table, kind, monkeypatch):
    monkeypatch.setattr(dask_rows, "chunk_rows", lambda d: 128)
    rows = DaskRows(collections[kind])
    assert rows.n_features == 3
    assert rows.n_rows == (2000 if kind == "array" else None)
    assert rows.names == (("a", "b", "c") if kind == "frame" else None)
    chunks = [chunk for handle in rows.handles for chunk in rows.read(handle)]
    assert max(len(chunk.table) for chunk in chunks) == 128
    assert {chunk.table.dtype for chunk in chunks} == {np.dtype(float)}
    assert chunks[-1].where(3) == "block 4, row 899"
    np.testing.assert_array_equal(gather_rows(rows).table, table)


@pytest.mark.parametrize("persisted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_client_changes_no_bit(collections, kind, client, persisted):
    here = reduce_rows(sums_of, DaskRows(collections[kind]), 1.7)
    with client.as_current():
        rows = DaskRows(collections[kind].persist() if persisted else collections[kind])
        assert passes.active_client() is client
        assert same(reduce_rows(sums_of, rows, 1.7), here)
        assert same(reduce_rows(sums_of, rows, 1.7), here)  # nothing is left over from a pass
        np.testing.assert_array_equal(gather_rows(rows).table, gather_rows(DaskRows(collections[kind])).table)
        for _ in range(50):  # to let go of a result takes a moment
            if persisted or not any(client.has_what().values()):
                return
            time.sleep(0.1)
        raise AssertionError(client.has_what())


def test_blocks_are_computed_one_at_a_time_and_never_kept(table):
    held, most = [], []

    def count(block):
        held.append(1)
        most.append(len(held))
        return block

    X = da.from_array(table, chunks=(500, 3)).map_blocks(count, dtype=float, meta=np.empty((0, 0)))
    rows = DaskRows(X)
    assert held == []
    for handle in rows.handles:
        list(rows.read(handle))
        held.clear()
    assert most == [1, 1, 1, 1]


def test_what_is_refused_on_the_way_names_the_block(client):
    X = np.ones((60_000, 3))
    X[25_001, 1] = np.inf
    with (
        client.as_current(),
        pytest.raises(ValueError, match=r"me needs finite numbers, but block 2, row 5001, column 1 holds inf"),
    ):
        scan(DaskRows(da.from_array(X, chunks=(10_000, 3))), mixing=True, missing=True, who="me")


def test_what_blocks_share_is_computed_once_a_pass(client, tmp_path):
    def note(block):
        import time
        from pathlib import Path

        Path(tmp_path, str(time.monotonic_ns())).touch()
        return block

    X = da.ones((50, 3), chunks=(10, 3)).map_blocks(note, dtype=float, meta=np.empty((0, 0)))
    with client.as_current():
        assert reduce_rows(sums_of, DaskRows(X - X.mean(axis=0)), 1.0).size == 50
    assert len(list(tmp_path.iterdir())) in (5, 10)  # of the mean, and of the rows unless they were still there


def test_the_share_of_a_sample_is_guessed_where_lengths_are_unknown():
    X = da.random.RandomState(2).normal(size=(200_000, 2), chunks=(20_000, 2))
    unknown = X.map_blocks(lambda block: block[block[:, 0] > -9], chunks=((np.nan,) * 10, (2,)))
    known = scan(DaskRows(X), mixing=True, missing=False, who="me")
    found = scan(DaskRows(unknown), mixing=True, missing=False, who="me")
    assert found.n_rows == 200_000
    np.testing.assert_array_equal(found.sample.X, known.sample.X)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: da.ones(5), r"must have 2 dimensions, rows and columns\. Got 1"),
        (lambda: da.ones((4, 4), chunks=(4, 2)), r"cut into 2 parts\. Give X\.rechunk\(\{1: -1\}\)"),
        (lambda: da.ones((4, 4), chunks=2).astype("M8[s]"), r"must hold numbers\. Got dtype datetime64"),
        (lambda: da.ones((4, 4))[:, da.ones(4) > 0], r"X\.compute_chunk_sizes\(\)"),
        (lambda: dd.from_pandas(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})), r"these columns are not: b\. Drop"),
        (lambda: dd.from_pandas(pd.Series([1, 2], name="a")), r"give X\.to_frame\(\)"),
    ],
)
def test_what_cannot_be_rows_says_why(make, words):
    with pytest.raises(ValueError, match=words):
        as_rows(make())


def test_missing_values_of_a_frame_are_nan():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [True, False, True]})
    found = gather_rows(as_rows(dd.from_pandas(frame, npartitions=2))).table
    np.testing.assert_array_equal(found, [[1, 1], [np.nan, 0], [3, 1]])


def test_fingerprints_tell_collections_apart(table):
    def of(X):
        return DaskRows(X).fingerprint()

    X = da.from_array(table, chunks=(500, 3))
    assert of(X) == of(da.from_array(table.copy(), chunks=(500, 3)))
    assert len({of(X), of(X + 1), of(X[:1500]), of(X.rechunk((1000, 3)))}) == 4


def test_as_rows_leaves_the_rest_alone(table):
    rows = MadeRows()
    assert as_rows(rows) is rows
    assert as_rows(table) is None
    assert as_rows([[1, 2]]) is None


def test_dask_is_not_imported_without_need():
    code = (
        "import sys, evidentia.mixtures; from evidentia.rows import as_rows; as_rows([1]); print('dask' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_a_fit_of_a_dask_array_reads_it_block_by_block(client, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120_000, 2)) + 9 * rng.integers(2, size=(120_000, 1))
    lazy = da.from_array(X, chunks=(32_768, 2))
    settings = {"n_clusters": 2, "model": "EEE", "init": "k-means", "random_state": 0}
    array = EGMM(**settings).fit(X)
    here = EGMM(**settings).fit(lazy)
    with client.as_current():
        there = EGMM(**settings).fit(lazy)
        written = there.partition_.to_parquet(tmp_path / "out")
        labels = there.predict(lazy)
        written_by_a_sum = there.partition_.counts
    for model in (here, there):
        np.testing.assert_array_equal(model.cluster_centers_, array.cluster_centers_)
        np.testing.assert_array_equal(model.covariances_, array.covariances_)
        assert model.log_likelihood_ == array.log_likelihood_
    np.testing.assert_array_equal(labels, array.labels_)
    np.testing.assert_array_equal(np.asarray(here.labels_), array.labels_)
    np.testing.assert_array_equal(pd.read_parquet(written)["cluster"], array.labels_)
    assert len(list(written.iterdir())) == 4
    assert written_by_a_sum.n == 120_000
    with pytest.raises(TypeError, match="EGMM takes the weights of rows that are not in memory"):
        EGMM(**settings).fit(lazy, sample_weight=np.ones(120_000))


def test_what_is_sent_to_a_worker_has_no_blocks_in_it(table):
    rows = DaskRows(da.from_array(table, chunks=(500, 3)))
    for sent in (rows, TransformedRows(rows, Twice()), rows.map_chunks(repr), NumberedRows(rows)):
        assert len(cloudpickle.dumps(sent.without_handles())) < 2000 < table.nbytes
        assert sent.block(sent.handles[1]).key == rows.block(1).key


class Twice:
    def transform(self, table):
        return 2 * table


def test_links_on_the_rows_of_a_dask_array(client):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 2)) + 7 * (np.arange(3000) % 2)[:, None]
    links = PairwiseConstraints.from_links([(0, 2), (5, 2501)], [(0, 1)])
    settings = {"n_clusters": 2, "n_init": 1, "tol": 1e-3, "random_state": 0}
    array = CECM(**settings).fit(X, constraints=links)
    with client.as_current():
        lazy = CECM(**settings).fit(da.from_array(X, chunks=(1000, 2)), constraints=links)
    np.testing.assert_allclose(lazy.cluster_centers_, array.cluster_centers_, rtol=1e-9)


def test_a_method_that_needs_all_rows_says_so(table):
    with pytest.raises(TypeError, match=r"EkNNclus needs all rows in memory.*EGMM"):
        EkNNclus().fit(da.from_array(table, chunks=(500, 3)))
