"""Rows from files are the rows that were written, whatever the kind, the cut and the number of files."""

import os
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

import evidentia
from evidentia import EGMM, open_rows
from evidentia.rows import source
from evidentia.rows.files import FileRows, group_neighbors
from evidentia.rows.scan import scan
from evidentia.rows.source import ArrayRows, Chunk, chunk_bounds, chunk_rows, drop_zero_weights
from evidentia.solvers.threads import threads

KINDS = ("npy", "parquet", "zarr", "csv", "tsv", "csv.gz")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def numbers(n, d=3, seed=0):
    """Whole numbers and halves: text gives them back as they were."""
    return np.random.default_rng(seed).integers(-99, 99, size=(n, d)) / 2


def frame_of(X):
    return pd.DataFrame(X, columns=[f"col{at}" for at in range(X.shape[1])])


def write(path, X, **options):
    if path.endswith(".npy"):
        np.save(path, X)
    elif path.endswith(".parquet"):
        frame_of(X).to_parquet(path, index=False, **options)
    elif path.endswith(".zarr"):
        array = zarr.create_array(path, shape=X.shape, dtype=X.dtype, **{"chunks": (700, 2), **options})
        array[:] = X
    else:
        frame_of(X).to_csv(path, index=False, sep="\t" if ".tsv" in path else ",")
    return path


def chunks(rows):
    return [chunk for handle in rows.handles for chunk in rows.read(handle)]


def table(rows):
    return np.concatenate([chunk.table for chunk in chunks(rows)])


def weights(rows):
    return np.concatenate([chunk.weight for chunk in chunks(rows)])


# -- the same rows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_gives_the_rows_that_were_written(kind):
    X = numbers(70_001)
    rows = open_rows(write(f"a.{kind}", X))
    np.testing.assert_array_equal(table(rows), X)
    assert [len(chunk.table) for chunk in chunks(rows)] == [32_768, 32_768, 4_465]
    assert all(chunk.table.dtype == float and chunk.table.flags.c_contiguous for chunk in chunks(rows))
    assert rows.n_rows == (70_001 if kind in ("npy", "parquet", "zarr") else None)
    assert rows.n_features == 3
    assert rows.names == (None if kind in ("npy", "zarr") else ("col0", "col1", "col2"))
    assert not rows.in_memory


@pytest.mark.parametrize("kind", KINDS)
def test_columns_in_the_order_asked_for_and_weights_apart(kind):
    X = numbers(5_000, 4)
    X[:, 1] = np.arange(5_000) % 3  # a third of the rows has weight zero
    rows = open_rows(
        write(f"a.{kind}", X),
        columns=[3, 0] if kind in ("npy", "zarr") else ["col3", "col0"],
        weight=1 if kind in ("npy", "zarr") else "col1",
    )
    np.testing.assert_array_equal(table(rows), X[:, [3, 0]])
    np.testing.assert_array_equal(weights(rows), X[:, 1])
    assert all(chunk.table.flags.c_contiguous for chunk in chunks(rows))
    assert next(chunks(rows)[0].without_zero_weights()).where(2).endswith("row 4")  # rows 1, 2, 4, 5, ... count
    others = open_rows(f"a.{kind}", weight=1 if kind in ("npy", "zarr") else "col1")
    np.testing.assert_array_equal(table(others), X[:, [0, 2, 3]])


@pytest.mark.parametrize("kind", KINDS)
def test_all_columns_in_another_order(kind):
    X = numbers(100)
    columns = [1, 2, 0] if kind in ("npy", "zarr") else ["col1", "col2", "col0"]
    np.testing.assert_array_equal(table(open_rows(write(f"a.{kind}", X), columns=columns)), X[:, [1, 2, 0]])


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv"])
def test_files_of_a_pattern_follow_each_other_by_name(kind):
    X = numbers(66_000)
    for name, start, stop in (("b", 100, 40_000), ("c", 40_000, 40_000), ("a", 0, 100), ("d", 40_000, 66_000)):
        write(f"{name}.{kind}", X[start:stop])
    rows = open_rows(f"*.{kind}")
    np.testing.assert_array_equal(table(rows), X)
    listed = open_rows([f"d.{kind}", f"a.{kind}"])
    np.testing.assert_array_equal(table(listed), np.concatenate([X[40_000:], X[:100]]))
    assert len(rows.files) == 4


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_columns_may_stand_in_another_order_in_another_file(kind):
    X = numbers(200)
    write(f"a.{kind}", X[:120])
    shuffled = frame_of(X[120:])[["col2", "col0", "col1"]]
    shuffled.to_parquet("b.parquet", index=False) if kind == "parquet" else shuffled.to_csv("b.csv", index=False)
    np.testing.assert_array_equal(table(open_rows(f"?.{kind}")), X)


@pytest.mark.parametrize("dtype", ["float32", "float16", ">f8", "int16", "uint8", "bool"])
def test_numbers_of_any_type_become_doubles(dtype):
    X = np.array([[0, 1.0], [1, 0], [1, 1]]).astype(dtype)
    for kind in ("npy", "zarr"):
        if (kind, dtype) != ("zarr", ">f8"):
            np.testing.assert_array_equal(table(open_rows(write(f"a.{kind}", X))), X.astype(float))
    if dtype != ">f8":
        pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), "a.parquet")
        np.testing.assert_array_equal(table(open_rows("a.parquet")), X.astype(float))


def test_what_is_missing_in_parquet_is_nan():
    from decimal import Decimal

    columns = {
        "whole": pa.array([1, None, 3]),
        "flag": pa.array([True, False, None]),
        "price": pa.array([Decimal("1.25"), None, Decimal("3.5")]),
        "half": pa.array(np.array([0.5, 1.5, 2.5], dtype=np.float16)),
    }
    pq.write_table(pa.table(columns), "a.parquet")
    want = [[1, 1, 1.25, 0.5], [np.nan, 0, np.nan, 1.5], [3, np.nan, 3.5, 2.5]]
    np.testing.assert_array_equal(table(open_rows("a.parquet")), want)


def test_a_column_that_is_empty_in_one_file():
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [3, 4]}), "a.parquet")
    pq.write_table(pa.table({"x": pa.nulls(1), "y": [5]}), "b.parquet")
    np.testing.assert_array_equal(table(open_rows("*.parquet")), [[1, 3], [2, 4], [np.nan, 5]])


def test_the_index_of_a_stored_table_is_not_clustered():
    frame_of(numbers(6)).iloc[[0, 4, 5]].to_parquet("a.parquet")
    with pytest.warns(UserWarning, match=r"left out: __index_level_0__ \(the index\)"):
        rows = open_rows("a.parquet")
    assert rows.names == ("col0", "col1", "col2")


def test_names_that_contain_each_other():
    frame = frame_of(numbers(50)).set_axis(["x", "x.1", "x.1.y"], axis=1)
    frame.to_parquet("a.parquet", index=False)
    np.testing.assert_array_equal(table(open_rows("a.parquet", columns=["x.1", "x"])), frame[["x.1", "x"]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_files_of_either_order(order):
    X = numbers(70_000)
    np.save("a.npy", np.asarray(X, order=order))
    np.testing.assert_array_equal(table(open_rows("a.npy")), X)
    np.testing.assert_array_equal(table(open_rows("a.npy", columns=[2, 0])), X[:, [2, 0]])


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_mapped_array_and_parts_of_it_are_read_from_their_file(order):
    X = numbers(40_000, 5)
    made = np.memmap("a.bin", mode="w+", dtype="f4", shape=X.shape, offset=24, order=order)
    made[:] = X
    mapped = np.memmap("a.bin", mode="r", dtype="f4", shape=X.shape, offset=24, order=order)
    for rows in (made, mapped):
        np.testing.assert_array_equal(table(open_rows(rows)), X)
    for part in (np.s_[300:39_000], np.s_[7::3], np.s_[:, 1:4], np.s_[10:20, ::2]):
        np.testing.assert_array_equal(table(open_rows(mapped[part])), X[part])
    np.save("b.npy", X)
    np.testing.assert_array_equal(table(open_rows(np.load("b.npy", mmap_mode="r")[5:])), X[5:])
    np.testing.assert_array_equal(table(open_rows(mapped.T[:2])), X.T[:2])


def test_few_columns_of_many_are_read_in_steps(monkeypatch):
    monkeypatch.setattr("evidentia.rows.arrays.MOST_BYTES", 4_000)
    X = numbers(9_000, 40)
    rows = open_rows(write("a.npy", X), columns=[7, 3])
    np.testing.assert_array_equal(table(rows), X[:, [7, 3]])
    assert [len(chunk.table) for chunk in chunks(rows)] == [9_000]


def test_text_with_other_separators_and_without_names():
    X = numbers(20)
    frame_of(X).to_csv("a.csv", sep=";", index=False)
    np.testing.assert_array_equal(table(open_rows("a.csv")), X)
    frame_of(X).to_csv("b.csv", header=False, index=False)
    rows = open_rows("b.csv", columns=["x2", "x0"])
    np.testing.assert_array_equal(table(rows), X[:, [2, 0]])


def test_numbers_in_text_are_those_that_python_reads():
    cells = ["0.1", "-2.5e-3", "+1.5", " 7 ", '"4.25"', "8.98846567431158e+307", "0.30000000000000004", "inf", "1e400"]
    gaps = ["", "NA", "nan", "NaN", "null", "None", "#N/A"]
    with open("a.csv", "w") as file:
        file.write("x,y\n\n" + "".join(f"{cell},1\n" for cell in cells + gaps))
    found = table(open_rows("a.csv"))[:, 0]
    np.testing.assert_array_equal(found[: len(cells)], [float(cell.strip('"')) for cell in cells])
    assert np.isnan(found[len(cells) :]).all()


def test_a_zarr_array_in_shards_and_of_the_older_format():
    X = numbers(10_000)
    zarr.create_array("a.zarr", shape=X.shape, dtype=float, chunks=(250, 3), shards=(1_000, 3))[:] = X
    zarr.create_array("b.zarr", shape=X.shape, dtype=float, chunks=(400, 2), zarr_format=2)[:] = X
    group = zarr.open_group("c.zarr", mode="w")
    group.create_array("cells", shape=X.shape, dtype=float, chunks=(400, 2))[:] = X
    for where in ("a.zarr", "b.zarr", "c.zarr/cells"):
        np.testing.assert_array_equal(table(open_rows(where)), X)


# -- the cut ----------------------------------------------------------------------------------------------------------


def test_arrays_in_files_are_cut_as_in_memory(monkeypatch):
    monkeypatch.setattr(source, "MOST_HANDLES", 4)
    X = numbers(300_000, 2)
    np.save("a.npy", X[:123_456])
    np.save("b.npy", X[123_456:])
    rows, memory = open_rows("?.npy"), ArrayRows(X)
    assert rows.handles == memory.handles == chunk_bounds(300_000, 2)
    assert len(rows.handles) == 4
    assert [len(chunk.table) for chunk in chunks(rows)] == [len(chunk.table) for chunk in chunks(memory)]
    np.testing.assert_array_equal(table(rows), X)
    np.testing.assert_array_equal(table(memory), X)


def test_small_row_groups_are_taken_together():
    X = numbers(300_000, 2)
    rows = open_rows(write("a.parquet", X, row_group_size=1_000))
    assert rows.handles == [(0, 132), (132, 264), (264, 300)]
    assert [len(chunk.table) for chunk in rows.read((132, 264))] == [32_768] * 4 + [928]
    np.testing.assert_array_equal(table(rows), X)


def test_there_are_never_very_many_handles():
    assert len(group_neighbors([7] * 1_000_000, 10)) == 1_000
    assert group_neighbors([0, 0, 5, 0], 3) == [(0, 3)]
    assert group_neighbors([9, 9, 9], 3) == [(0, 1), (1, 2), (2, 3)]
    assert len(chunk_bounds(10**9, 10)) <= source.MOST_HANDLES
    assert chunk_bounds(10**9, 10)[-1][1] == 10**9
    assert all((stop - start) % chunk_rows(10) == 0 for start, stop in chunk_bounds(10**9, 10)[:-1])


class Parts(FileRows):
    """Rows that come in parts, each the number 0 and a weight in every row."""

    columns, weight, n_features = (0,), 1, 1

    def parts(self, handle):
        for n, place, first, weight in handle:
            yield Chunk(np.column_stack([np.zeros(n), np.full(n, weight)]), None, place, first)


def test_a_chunk_knows_where_each_of_its_rows_is(monkeypatch):
    monkeypatch.setattr(source, "CHUNK_ROWS", 6)
    parts = [(3, "a ", 0, 1.0), (2, "a ", 3, 0.0), (4, "b ", 7, 2.0), (0, "c ", 0, 1.0)]
    first, second = drop_zero_weights(Parts().read(parts))
    assert [first.where(row) for row in range(len(first.table))] == ["a 0", "a 1", "a 2", "b 7"]
    assert first.table.shape == (4, 1)
    assert first.weight.tolist() == [1, 1, 1, 2]
    assert [second.where(row) for row in range(len(second.table))] == ["b 8", "b 9", "b 10"]
    assert list(Chunk(np.zeros((2, 1)), np.zeros(2), "a ", 0).without_zero_weights()) == []


def test_a_large_row_group_is_read_in_chunks():
    X = np.random.default_rng(0).normal(size=(1_500_000, 2))
    path = write("a.parquet", X, row_group_size=1_500_000)
    rows = open_rows(path)
    assert rows.handles == [(0, 1)]
    next(iter(rows.read((0, 1))))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    most = 0
    for chunk in rows.read((0, 1)):
        assert len(chunk.table) <= 32_768
        most = max(most, pa.total_allocated_bytes() - before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most + peak < X.nbytes / 2


# -- sources can be sent ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv"])
def test_a_source_of_a_hundred_files_is_small(kind):
    folder = "a-folder-with-a-name-that-is-rather-long-as-those-of-real-data-often-are/" * 2
    os.makedirs(folder)
    X = numbers(1_000)
    for at in range(100):
        write(f"{folder}part-{at:03}.{kind}", X[10 * at : 10 * at + 10])
    rows = open_rows(f"{folder}*.{kind}")
    sent = pickle.dumps(rows)
    assert len(sent) < 20_000
    again = pickle.loads(sent)
    np.testing.assert_array_equal(table(again), X)
    assert again.fingerprint() == rows.fingerprint()
    assert again.handles == rows.handles


def test_a_zarr_source_can_be_sent():
    rows = open_rows(write("a.zarr", numbers(5_000)))
    again = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(table(again), numbers(5_000))


def test_an_open_source_does_not_depend_on_the_working_directory(tmp_path, monkeypatch):
    rows = open_rows(write("a.npy", numbers(10)))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    np.testing.assert_array_equal(table(rows), numbers(10))


@pytest.mark.parametrize("kind", KINDS)
def test_the_fingerprint_tells_tables_apart(kind):
    os.makedirs("one")
    path = write(f"one/a.{kind}", numbers(50))
    told = open_rows(path).fingerprint()
    assert open_rows(path).fingerprint() == told
    names = [0, 1] if kind in ("npy", "zarr") else ["col0", "col1"]
    assert open_rows(path, columns=names).fingerprint() != told
    assert open_rows(path, columns=names[::-1]).fingerprint() != open_rows(path, columns=names).fingerprint()
    os.rename("one", "two")
    assert open_rows(f"two/a.{kind}").fingerprint() == told  # only the folder has another name
    touched = next(folder + "/" + name for folder, _, found in os.walk("two") for name in found)
    os.utime(touched, ns=(1, 1))
    assert open_rows(f"two/a.{kind}").fingerprint() != told


# -- a fit ------------------------------------------------------------------------------------------------------------


class Parameters(EGMM):
    """EGMM without the masses of its rows."""

    def _publish_rows(self, X, rows):
        pass


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(3)
    centers = np.repeat([[0, 0, 0, 0], [4, 1, 0, 2], [0, 5, 3, -2]], [70_000, 30_000, 60_000], axis=0)
    return rng.permutation(centers + rng.normal(size=centers.shape))[:150_000]


@pytest.fixture(scope="module")
def in_memory(groups):
    return fitted(groups)


def fitted(rows):
    return Parameters(3, model="EEE", focal_sets="pairs", random_state=0, n_init=1).fit(rows)


def test_a_fit_from_npy_has_the_bits_of_one_in_memory(groups, in_memory):
    np.save("a.npy", groups[:50_001])
    np.save("b.npy", groups[50_001:])
    model = fitted(open_rows("?.npy"))
    assert model.criterion_ == in_memory.criterion_
    np.testing.assert_array_equal(model.cluster_centers_, in_memory.cluster_centers_)
    np.testing.assert_array_equal(model.weights_, in_memory.weights_)


@pytest.mark.parametrize("kind", ["parquet", "zarr"])
def test_a_fit_from_other_files_is_the_same_model(kind, groups, in_memory):
    options = {"row_group_size": 33_000} if kind == "parquet" else {"chunks": (9_999, 4)}
    rows = open_rows(write(f"a.{kind}", groups, **options))
    assert len(rows.handles) == 2
    model = fitted(rows)
    assert model.criterion_ == pytest.approx(in_memory.criterion_, rel=1e-12)
    np.testing.assert_allclose(model.cluster_centers_, in_memory.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(model.weights_, in_memory.weights_, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_small_files_are_the_table_in_memory(kind):
    X = np.concatenate([numbers(200), numbers(200, seed=1) + np.array([400, 0, 0])])
    seen = scan(open_rows(write(f"a.{kind}", X)), mixing=True, missing=True, who="EGMM")
    memory = scan(ArrayRows(X), mixing=True, missing=True, who="EGMM")
    assert seen.complete
    np.testing.assert_array_equal(seen.sample.X, memory.sample.X)
    np.testing.assert_array_equal(seen.moments.squares, memory.moments.squares)


@pytest.mark.parametrize("kind", ["npy", "parquet", "zarr"])
def test_any_number_of_threads_sees_the_same(kind):
    X = np.random.default_rng(1).normal(size=(300_000, 2))
    options = {"parquet": {"row_group_size": 40_000}, "zarr": {"chunks": (30_000, 1)}}.get(kind, {})
    rows = open_rows(write(f"a.{kind}", X, **options))
    assert len(rows.handles) > 1
    seen = []
    for n_jobs in (1, 3):
        with threads(n_jobs):
            seen.append(scan(rows, mixing=True, missing=False, who="ECM"))
    np.testing.assert_array_equal(seen[0].moments.squares, seen[1].moments.squares)
    np.testing.assert_array_equal(seen[0].sample.X, seen[1].sample.X)


def test_it_is_exported():
    assert evidentia.open_rows is open_rows
