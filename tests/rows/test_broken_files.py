"""What is wrong with a file is said in a sentence: which file, where, and what to do."""

import gzip
import os
import re
import sys
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from evidentia import EGMM, open_rows
from evidentia.rows.scan import scan


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


X = np.random.default_rng(0).normal(size=(3_000, 3))
FRAME = pd.DataFrame(X, columns=list("abc"))


def write(path, table=FRAME):
    if path.endswith(".npy"):
        np.save(path, table.to_numpy())
    elif path.endswith(".parquet"):
        table.to_parquet(path, index=False, row_group_size=1_000)
    elif path.endswith(".zarr"):
        zarr.create_array(path, shape=table.shape, dtype=float, chunks=(500, 3), overwrite=True)[:] = table.to_numpy()
    else:
        table.to_csv(path, index=False)
    return path


def read(rows):
    for handle in rows.handles:
        yield from rows.read(handle)


def sentence(words, error=ValueError):
    """The whole message, with words for any text between them."""
    return pytest.raises(error, match="^[^\n]*" + "[^\n]*".join(map(re.escape, words.split(" ... "))) + "$")


FILES = ("a.npy", "a.parquet", "a.csv", "a.csv.gz")


# -- at opening -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "error", "words"),
    [
        ("cells.parquet", FileNotFoundError, "There is no file cells.parquet (looked in ... )."),
        ("*.pq", FileNotFoundError, "No file matches *.pq (looked in ... )."),
        ([], ValueError, "open_rows was given an empty list. Name at least one file."),
        (["a.npy", "b.npy"], FileNotFoundError, "There is no file b.npy (looked in ... )."),
        (
            "s3://cells/*.parquet",
            ValueError,
            "not addresses: s3://cells/*.parquet. Mount ... or give fit a Dask array.",
        ),
        (X, TypeError, "Got ndarray; a table in memory goes to fit as it is."),
        (
            "a.xlsx",
            ValueError,
            "a.xlsx has an ending that is not known. Known are .npy, .parquet, ... , .tsv.gz.",
        ),
        ("*", ValueError, "must be of one kind, but a.npy and b.csv are of two. Narrow the pattern ... ."),
        ("folder", ValueError, "folder is a folder. Name its files by a pattern, such as 'folder/*.csv'."),
        ("no.zarr", ValueError, "no.zarr holds no Zarr array: there is no zarr.json or .zarray in it."),
    ],
)
def test_what_cannot_be_opened(where, error, words, tmp_path):
    write("a.npy")
    if isinstance(where, str) and where == "*":
        write("b.csv")
    elif isinstance(where, str) and where == "a.xlsx":
        (tmp_path / "a.xlsx").write_text("no table")
    elif isinstance(where, str) and where in ("folder", "no.zarr"):
        (tmp_path / where).mkdir()
        write(f"{where}/a.csv")
    with sentence(words, error):
        open_rows(where)


@pytest.mark.parametrize("name", FILES)
def test_an_empty_file(name):
    open(name, "w").close()
    with sentence(f"{name} is empty (0 bytes). Was it written to the end? Write it again, or leave it out."):
        open_rows(name)


@pytest.mark.parametrize("name", [*FILES, "a.zarr"])
def test_a_table_without_rows(name):
    with sentence(f"There are no rows in ... {name}."):
        open_rows(write(name, FRAME[:0]))


@pytest.mark.parametrize("name", ["a.parquet", "a.npy"])
def test_files_without_rows_among_others(name):
    write(name, FRAME[:0])
    write(name.replace("a", "z", 1))
    rows = open_rows(name.replace("a", "?", 1))
    assert sum(len(chunk.table) for chunk in read(rows)) == 3_000


@pytest.mark.parametrize("name", ["a.npy", "a.parquet", "a.csv.gz"])
def test_a_file_that_was_cut_before_it_was_opened(name):
    os.truncate(write(name), os.path.getsize(name) // 2)
    with sentence(f"{name} cannot be read, it is damaged or cut: ... . Write it again, or leave it out."):
        rows = open_rows(name)
        list(read(rows))


@pytest.mark.parametrize("name", ["a.npy", "a.parquet", "a.csv.gz"])
def test_a_file_that_is_something_else(name):
    with open(name, "wb") as file:
        file.write(b"a picture, or so" * 10)
    with sentence(f"{name} ... ."):
        open_rows(name)


def test_arrays_that_are_no_tables():
    np.save("a.npy", np.zeros(4))
    with sentence("a.npy should hold a table of rows and columns, but its shape is (4,)."):
        open_rows("a.npy")
    np.save("a.npy", np.array([["a", "b"]]))
    with sentence("a.npy should hold numbers, but its type is <U1. Write array.astype(float) instead."):
        open_rows("a.npy")
    np.save("a.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with sentence("a.npy should hold numbers, but its type is object. Write array.astype(float) instead."):
        open_rows("a.npy")
    zarr.create_array("a.zarr", shape=(4,), dtype=float)
    with sentence("a.zarr should hold a table of numbers, but its shape is (4,) and its type float64."):
        open_rows("a.zarr")
    zarr.open_group("b.zarr", mode="w").create_array("cells", shape=(4, 2), dtype=float)
    with sentence("b.zarr holds several arrays. Name the folder of one of them: cells."):
        open_rows("b.zarr")
    write("c.zarr")
    with sentence("One Zarr array can be opened at a time, but these are 2: a.zarr, c.zarr."):
        open_rows(["a.zarr", "c.zarr"])


def test_mapped_arrays_whose_file_does_not_tell():
    write("a.npy")
    mapped = np.load("a.npy", mmap_mode="c")
    with sentence("was mapped copy-on-write, so that the file may hold other numbers. Map it with mode 'r'."):
        open_rows(mapped)
    with sentence("must be in the order of its file. Save it as .npy."):
        open_rows(np.load("a.npy", mmap_mode="r")[::-1])
    with sentence("Got ndarray; a table in memory goes to fit as it is.", TypeError):
        open_rows(np.load("a.npy", mmap_mode="r") + 1)
    with tempfile.TemporaryFile() as file, sentence("this one has none. Give it to fit as it is.", TypeError):
        open_rows(np.memmap(file, mode="w+", shape=(4, 2), dtype=float))


def test_arrays_of_several_widths():
    np.save("a.npy", X)
    np.save("b.npy", X[:, :2])
    with sentence("b.npy has 2 columns, but ... a.npy has 3. Files that are opened together need the same columns."):
        open_rows("?.npy")


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [("pyarrow", "a.parquet", "parquet"), ("pyarrow", "a.csv", "parquet"), ("zarr", "a.zarr", "zarr")],
)
def test_a_missing_package_is_named_with_its_extra(package, name, extra, monkeypatch):
    write(name)
    monkeypatch.setitem(sys.modules, package, None)
    with sentence(f"need {package}: pip install 'evidentia[{extra}]'.", ImportError):
        open_rows(name)


# -- columns ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
def test_columns_that_are_not_numbers_are_left_out_and_named(name):
    write(name, FRAME.assign(who="Ann", when="today"))
    with pytest.warns(UserWarning, match=r"that are not numbers are left out: who \(\w+\), when \(\w+\)\.") as caught:
        assert open_rows(name).names == ("a", "b", "c")
    assert caught[0].filename == __file__
    assert open_rows(name, columns=["c", "a"]).names == ("c", "a")


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"columns": ["a", "d"]}, ValueError, "has no column 'd'. It has a, b, c, who."),
        ({"weight": "d"}, ValueError, "has no column 'd'. It has a, b, c, who."),
        (
            {"columns": ["a", "who"]},
            ValueError,
            "Column 'who' of ... , not numbers. Leave it out, or write it as numbers.",
        ),
        (
            {"columns": []},
            ValueError,
            "'columns' of open_rows is empty. Name the columns to use, or leave it out for all.",
        ),
        ({"columns": ["a", "a"]}, ValueError, "'columns' of open_rows names 'a' twice."),
        ({"columns": "abc"}, TypeError, "'columns' of open_rows must be a list of names. Got 'abc'; ['abc'] is one."),
        ({"columns": [0]}, TypeError, "has columns with names. 0 is not a name."),
        ({"columns": ["a"], "weight": "a"}, ValueError, "Column 'a' cannot be a weight and one of 'columns' too."),
    ],
)
def test_columns_that_cannot_be_used(name, options, error, words):
    write(name, FRAME.assign(who="Ann"))
    with sentence(words, error):
        open_rows(name, **options)


@pytest.mark.parametrize("name", ["a.npy", "a.zarr"])
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"columns": ["a"]}, TypeError, "is an array, and its columns have numbers. 'a' is not a number."),
        ({"columns": [3]}, ValueError, "has no column 3: there are 3, and they count from 0."),
        ({"weight": -1}, ValueError, "has no column -1: there are 3, and they count from 0."),
    ],
)
def test_columns_of_arrays_that_cannot_be_used(name, options, error, words):
    with sentence(words, error):
        open_rows(write(name), **options)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_whose_columns_do_not_go_together(kind):
    write(f"a.{kind}")
    write(f"b.{kind}", FRAME[["a", "c"]])
    cure = "Leave that file out, write it anew, or name columns that all files have by columns=[...]."
    with sentence(f"b.{kind} has no column 'b', which ... a.{kind} has. {cure}"):
        open_rows(f"?.{kind}")
    assert open_rows(f"?.{kind}", columns=["c", "a"]).names == ("c", "a")
    write(f"b.{kind}", FRAME.assign(d=1.0))
    with sentence(f"a.{kind} has no column 'd', which ... b.{kind} has. {cure}"):
        open_rows(f"?.{kind}")
    assert open_rows(f"?.{kind}", columns=["b"]).names == ("b",)
    write(f"b.{kind}", FRAME.assign(b="much"))
    with sentence(f"Column 'b' holds ... in ... b.{kind}, but numbers in ... a.{kind}. {cure}"):
        open_rows(f"?.{kind}")


def test_a_table_without_numbers():
    with sentence("No column of ... a.parquet holds numbers. It has who."):
        open_rows(write("a.parquet", pd.DataFrame({"who": ["Ann", "Cy"]})))


def test_names_that_are_there_twice():
    pq.write_table(pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["x", "x"]), "a.parquet")
    with sentence("a.parquet has several columns with the name 'x'. Rename them."):
        open_rows("a.parquet")
    with open("a.csv", "w") as file:
        file.write("x,y,x\n1,2,3\n")
    with sentence("a.csv has several columns with the name 'x'. Rename them."):
        open_rows("a.csv")


# -- while it is read -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FILES, "a.zarr"])
def test_a_file_that_is_written_anew_after_it_was_opened(name, monkeypatch):
    monkeypatch.setattr("evidentia.rows.source.CHUNK_ROWS", 256)
    rows = open_rows(write(name))
    list(read(rows))
    write(name, FRAME + 1)
    with sentence("changed since it was opened; open it again."):
        next(read(rows))  # not even the first chunk


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_changes_while_it_is_read(name, monkeypatch):
    monkeypatch.setattr("evidentia.rows.source.CHUNK_ROWS", 256)
    reading = read(open_rows(write(name)))
    next(reading)
    write(name, FRAME + 1)
    with sentence("changed since it was opened; open it again."):
        list(reading)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_while_it_is_read(name, monkeypatch):
    monkeypatch.setattr("evidentia.rows.source.CHUNK_ROWS", 256)
    monkeypatch.setattr("evidentia.rows.source.MOST_HANDLES", 1)
    reading = read(open_rows(write(name)))
    next(reading)
    os.truncate(name, 200)
    with sentence("changed since it was opened; open it again."):
        list(reading)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_disappears(name):
    rows = open_rows(write(name))
    os.remove(name)
    with sentence(f"There is no file ... {name} (any more). Put it back, or open the others again.", FileNotFoundError):
        list(read(rows))


def test_a_chunk_that_disappears_does_not_read_as_zeros():
    rows = open_rows(write("a.zarr"))
    os.remove("a.zarr/c/3/0")
    assert (np.asarray(zarr.open("a.zarr", mode="r"))[1_500:2_000] == 0).all()  # what zarr says
    with sentence("a.zarr changed since it was opened; open it again."):
        list(read(rows))


def test_a_shard_that_disappears_does_not_read_as_zeros(monkeypatch):
    monkeypatch.setattr("evidentia.rows.source.CHUNK_ROWS", 256)
    zarr.create_array("a.zarr", shape=X.shape, dtype=float, chunks=(250, 3), shards=(1_000, 3))[:] = X
    rows = open_rows("a.zarr")
    assert len(rows.handles) == 2
    os.remove("a.zarr/c/2/0")
    with sentence("a.zarr changed since it was opened; open it again."):
        list(rows.read(rows.handles[1]))
    assert len(list(rows.read(rows.handles[0]))) == 8


def spoil(path, at, count=64):
    """Other bytes in the middle of a file of the same size and date."""
    before = os.stat(path)
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(b"\xff" * count)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_row_group_that_is_damaged():
    write("a.parquet")
    spoil("a.parquet", pq.read_metadata("a.parquet").row_group(1).column(0).dictionary_page_offset)
    rows = open_rows("a.parquet")
    with sentence(
        "a.parquet, row group 1, cannot be read, it is damaged or cut: ... . Write it again, or leave it out."
    ):
        list(read(rows))


def test_a_chunk_that_is_damaged():
    write("a.zarr")
    spoil("a.zarr/c/2/0", 0)
    rows = open_rows("a.zarr")
    with sentence(
        "a.zarr, rows 0 to 2999, cannot be read, it is damaged or cut: ... . Write it again, or leave it out."
    ):
        list(read(rows))


@pytest.mark.parametrize("opened", [open, gzip.open])
def test_cells_and_lines_of_text_that_are_wrong(opened, monkeypatch):
    monkeypatch.setattr("evidentia.rows.source.CHUNK_ROWS", 300)
    name = "a.csv" if opened is open else "a.csv.gz"

    def write_lines(line):
        with opened(name, "wt") as file:
            file.write("x,y,who\n" + "1,2.5,Ann\n" * 1_400 + line + "1,2.5,Ann\n" * 5)
        return open_rows(name, columns=["y", "x"])

    with sentence(f"{name}, row 1400, column 'y' holds 'two', which is not a number. Correct it, or leave it empty."):
        list(read(write_lines("1,two,Cy\n")))
    with sentence(f"{name} cannot be read, it is damaged or cut: Row #1402: Expected 3 columns, got 4: ... ."):
        list(read(write_lines("1,2.5,Cy,4\n")))
    table = np.concatenate([chunk.table for chunk in read(write_lines("1,,Cy\n"))])
    assert np.isnan(table[1_400, 0])


def test_a_line_that_is_too_short():
    with open("a.csv", "w") as file:
        file.write("x,y\n1,2\n3\n5,6\n")
    with sentence("a.csv cannot be read, it is damaged or cut: Row #3: Expected 2 columns, got 1: 3. Write ... ."):
        list(read(open_rows("a.csv")))


def test_lines_that_are_longer_than_the_first():
    with open("a.csv", "w") as file:
        file.write("x,y\n1,2,3\n4,5,6\n")
    with sentence("Row #2: Expected 2 columns, got 3: 1,2,3. Write it again, or leave it out."):
        open_rows("a.csv")


@pytest.mark.parametrize("n", [3_000, 60_000])
def test_a_number_that_is_not_finite_has_a_place(n):
    """Few rows are gathered, many are looked through; a row is found in both, by the name of its column."""
    frame = pd.concat([FRAME] * (n // 3_000), ignore_index=True)
    frame.loc[1_204, "b"] = np.inf
    write("a.parquet", frame)
    words = "EGMM needs finite numbers, but a.parquet, row group 1, row 204, column 'b' holds inf. Replace it."
    with sentence(words):
        EGMM(2).fit(open_rows("a.parquet"))
    frame.loc[1_204, "b"] = np.nan
    write("a.parquet", frame)
    words = "ECM needs finite numbers, but a.parquet, row group 1, row 204, column 'b' holds nan. Drop those rows ... ."
    with sentence(words):
        scan(open_rows("a.parquet"), mixing=False, missing=False, who="ECM")


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_weights_that_are_none(value):
    frame = FRAME.assign(w=2.0)
    frame.loc[2_001, "w"] = value
    write("a.parquet", frame)
    with sentence(f"Weights must be finite and not negative, but a.parquet, row group 2, row 1 has {value:g}."):
        list(read(open_rows("a.parquet", weight="w")))


@pytest.mark.parametrize("n", [3_000, 60_000])
def test_rows_of_weight_zero_alone(n):
    write("a.parquet", pd.concat([FRAME.assign(w=0)] * (n // 3_000)))
    with sentence("The table has no row of a weight above zero, so there is nothing to find in it."):
        EGMM(2).fit(open_rows("a.parquet", weight="w"))
