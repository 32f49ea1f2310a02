"""Files become tables of numbers, or one message that names the cure."""

import gzip
import shutil
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from evidentia.app.advisor import read_numerals
from evidentia.app.cli.errors import UserError
from evidentia.app.cli.inputs import InputOptions, read_input
from evidentia.app.cli.tables import Source, check_values, choose_columns, read_table, split_names
from evidentia.rows import open_rows


def clustered(frame, **options):
    return read_input(Source(frame, "frame"), InputOptions(**options), title="a table")


def numbers(source):
    return choose_columns(source.frame, columns=["age", "weight"]).frame.to_numpy()


@pytest.mark.parametrize(
    ("name", "options", "encoding"),
    [
        ("a.csv", {}, "utf-8"),
        ("a.csv", {"sep": ";"}, "utf-8"),
        ("a.csv", {"sep": "\t"}, "utf-8-sig"),
        ("a.tsv", {"sep": "\t"}, "utf-8"),
        ("a.txt", {"sep": ";", "decimal": ","}, "utf-8"),
        ("a.tsv", {"sep": "\t", "decimal": ","}, "utf-16"),
        ("a.csv.gz", {"sep": ";"}, "utf-8"),
    ],
)
def test_separator_decimal_mark_and_encoding_are_found(patients, tmp_path, name, options, encoding):
    path = tmp_path / name
    patients.to_csv(path, index=False, encoding=encoding, **options)
    source = read_table(path)
    np.testing.assert_array_equal(numbers(source), patients[["age", "weight"]])
    assert source.frame.columns.tolist() == patients.columns.tolist()
    assert any("decimal comma" in note for note in source.notes) == ("decimal" in options)


def test_commas_inside_quotes_do_not_separate(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('name;x\n"Doe, Jane";1\n"Roe, Ann, jr";2\n')
    assert read_table(path).frame["name"].tolist() == ["Doe, Jane", "Roe, Ann, jr"]


def test_thousands_are_not_taken_for_decimals_when_there_are_decimal_points(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x;y\n1.5;1,200\n2.5;1,300\n")
    source = read_table(path)
    assert source.frame.to_numpy().tolist() == [[1.5, 1200], [2.5, 1300]]
    assert source.notes == ["Numbers as they are written were read in y: 1,300 is 1300."]


def test_a_table_as_spreadsheets_write_it_in_much_of_europe(tmp_path):
    """Decimal commas beside grouped thousands, percent signs, dates with points, names with commas, gaps."""
    path = tmp_path / "a.csv"
    path.write_text(
        "name;revenue;share;day;grams\n"
        "Doe, Jane;1.234,50;12,5 %;1.02.2024;1.234\n"
        "Roe, Ann;980;7 %;13.02.2024;987\n"
        "Poe, Max;−1.001,25;0,5 %;14.02.2024;?\n"
    )
    source = read_table(path)
    assert source.frame[["revenue", "share"]].to_numpy().tolist() == [[1234.5, 12.5], [980, 7], [-1001.25, 0.5]]
    np.testing.assert_array_equal(source.frame["grams"], [1234, 987, np.nan])
    assert source.frame["day"].tolist() == ["1.02.2024", "13.02.2024", "14.02.2024"]
    assert "revenue, share, grams: 1.234,50 is 1234.5." in source.notes[-2]
    assert source.notes[-1] == "Cells that stand for a missing number were read so: '?' in grams (1)."
    repeated = eval(source.code, {"pd": pd, "read_numerals": read_numerals})
    pd.testing.assert_frame_equal(repeated, source.frame)


def test_numbers_in_the_columns_of_names_stay_as_they_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('key,x\n"1,001",0.5\n"1,002",?\n"1,003",2\n"1,004",4\n')
    source = read_table(path, id_column="key")
    assert source.frame["key"].tolist() == ["1,001", "1,002", "1,003", "1,004"]
    np.testing.assert_array_equal(source.frame["x"], [0.5, np.nan, 2, 4])
    assert read_table(path).frame["key"].tolist() == [1001, 1002, 1003, 1004]


def test_numbers_without_names_are_called_x0_x1(tmp_path):
    path = tmp_path / "a.csv"
    np.savetxt(path, [[1.5, 2.5], [3.5, 4.5], [5.5, 7.5]], delimiter=",")
    source = read_table(path)
    assert source.frame.columns.tolist() == ["x0", "x1"]
    assert len(source.frame) == 3
    assert "x0, x1" in source.notes[0]


def test_a_header_that_counts_the_columns_is_a_header(tmp_path):
    """What pandas writes for columns without names; it used to become a row."""
    path = tmp_path / "a.csv"
    pd.DataFrame([[1.5, 2.5, 0.5], [3.5, 4.5, 2.0]]).to_csv(path, index=False)
    source = read_table(path)
    assert source.frame.columns.tolist() == ["0", "1", "2"]
    assert source.frame.to_numpy().tolist() == [[1.5, 2.5, 0.5], [3.5, 4.5, 2.0]]
    assert "taken for their names" in source.notes[0]
    assert open_rows(path).names == ("0", "1", "2")
    path.write_text("1,0,2\n3,4,5\n")
    assert read_table(path).frame.columns.tolist() == ["x0", "x1", "x2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2,3\n4;5;6\n7,8,9\n", r"line 3 has 1 cell, the first line 3. It has semicolons where"),
        ("a,b,c\n1,2,3\n4,5\n7,8,9\n", r"line 3 has 2 cells, the first line 3. Each line needs"),
        ('a,b,c\n1,2,3\n"4\n",5\n7,8,9\n', r"line 4 has 2 cells"),
    ],
)
def test_lines_with_too_few_cells_are_refused(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        read_table(path)
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(UserError, match=message):
        read_table(packed)


def test_cells_that_are_empty_are_no_lines_too_short(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2,\n\n4,,6\n7,8,9\n")
    assert read_table(path).frame.isna().sum().tolist() == [0, 1, 1]


@pytest.mark.parametrize("method", ["auto", "ecm"])
def test_whole_numbers_called_target_or_label_and_dates_are_left_out(method):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"])
    frame = frame.assign(target=np.repeat([0, 1], 15), when=pd.date_range("2020", periods=30))
    found = clustered(frame, method=method)
    assert found.data.columns.tolist() == ["a", "b"]
    assert "by its name the classes" in found.left_out["target"]
    assert "dates or times" in found.left_out["when"]


def test_latin_1_is_read_and_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("größe,b\n1,2\n3,5\n".encode("latin-1"))
    source = read_table(path)
    assert source.frame.columns.tolist() == ["größe", "b"]
    assert "Latin-1" in source.notes[0]


def test_identifiers_keep_their_zeros(table):
    source = read_table(table, id_column="patient")
    data = choose_columns(source.frame, id_column="patient").frame
    assert data.index[:2].tolist() == ["007", "008"]
    assert data.index.name == "patient"


def test_parquet_with_missing_integers_and_an_index(tmp_path):
    frame = pd.DataFrame({"x": pd.array([1, None, 3], dtype="Int64"), "y": np.float32([1.5, 2, 3])}, index=list("abc"))
    frame.to_parquet(tmp_path / "a.parquet")
    chosen = clustered(read_table(tmp_path / "a.parquet").frame, id_column="index").data
    np.testing.assert_array_equal(chosen, [[1, 1.5], [np.nan, 2], [3, 3]])
    assert chosen.index.tolist() == ["a", "b", "c"]


def test_numpy_archives(tmp_path):
    X = np.arange(6.0).reshape(3, 2) ** 2
    np.savez(tmp_path / "one.npz", whatever=X)
    np.savez(tmp_path / "named.npz", X=X, names=["u", "v"], other=X)
    np.save(tmp_path / "bare.npy", X)
    for name, columns in (("one.npz", ["x0", "x1"]), ("named.npz", ["u", "v"]), ("bare.npy", ["x0", "x1"])):
        frame = read_table(tmp_path / name).frame
        np.testing.assert_array_equal(frame, X)
        assert frame.columns.tolist() == columns


BROKEN = {
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b"\n  \n", "white space"),
    "header.csv": (b"a,b\n", "no rows"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
    "binary.tsv": (b"a\tb\0\1\2", "a binary file"),
    "table.parquet": (b"a,b\n1,2\n", "name it .csv"),
    "broken.parquet": (b"PAR1 and no more", "damaged Parquet"),
    "table.npz": (b"a,b\n1,2\n", "name it .csv"),
    "broken.npz": (b"PK\x03\x04 and no more", "numpy.savez"),
    "ragged.csv": (b"a,b\n1,2\n3,4,5\n", "line 3"),
    "longer.csv": (b"a,b\n1,2,3\n4,5,6\n", "more cells"),
    "sheet.xlsx": (b"PK\x03\x04", "is not a whole Excel file"),
    "sheet.xls": (b"\xd0\xcf\x11\xe0", "Save the sheet as .xlsx or CSV"),
    "a.feather": (b"ARROW1..", "is not a whole Feather file"),
    "cells.h5ad": (b"\x89HDF\r\n\x1a\n", "is not a whole AnnData file"),
    "flow.fcs": (b"FCS3.0    ", "is a damaged FCS file"),
    "short.csv.gz": (gzip.compress(b"a,b\n1,2\n" * 99)[:20], "gzip"),
    "packed.csv": (gzip.compress(b"a,b\n1,2\n"), "gzip-compressed"),
    "noname": (b"a,b\n1,2\n", ".parquet"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_not_what_it_should_be_is_refused(tmp_path, name):
    content, words = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=words.replace(".", r"\.")) as error:
        read_table(tmp_path / name)
    assert name in str(error.value)


def test_an_archive_that_would_not_fit_into_memory_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1_000_000, 2)))
    monkeypatch.setattr("evidentia.solvers.memory.machine_memory", lambda: 1e7)
    with pytest.raises(MemoryError, match=r"a\.npz, unpacked, needs about 0\.0 GiB"):
        read_table(tmp_path / "a.npz")


@pytest.mark.parametrize("at", range(0, 300, 7))
def test_a_damaged_archive_is_told(tmp_path, at):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.ones((3, 2)))
    whole = path.read_bytes()
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
    with suppress(UserError):  # anything else would be a raw error
        np.testing.assert_array_equal(read_table(path).frame, np.ones((3, 2)))


def test_archives_that_are_no_table_are_refused(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.ones((2, 2)), b=np.ones((3, 2)))
    np.savez(tmp_path / "names.npz", X=np.ones((2, 2)), names=["a", "b", "c"])
    np.save(tmp_path / "objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    for name, words in (("two.npz", "one called X"), ("names.npz", "one name a column"), ("objects.npy", "safely")):
        with pytest.raises(UserError, match=words):
            read_table(tmp_path / name)


def test_a_missing_file_suggests_its_neighbor(table):
    with pytest.raises(UserError, match=r"no file .*Did you mean 'patients\.csv'\?"):
        read_table(table.with_name("patient.csv"))
    with pytest.raises(UserError, match="is a directory"):
        read_table(table.parent)


def test_parquet_in_a_file_whose_name_is_no_text(tmp_path):
    path = tmp_path / "a\udcff.parquet"
    path.write_bytes(pd.DataFrame({"u": [1.5, 2.5]}).to_parquet())
    assert read_table(path).frame["u"].tolist() == [1.5, 2.5]


def test_parquet_without_pyarrow_names_the_extra(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = table.with_suffix(".parquet")
    shutil.copy(table, path)
    with pytest.raises(UserError, match=r"evidentia\[parquet\]"):
        read_table(path)


def test_columns_are_left_out_for_a_reason(patients):
    frame = patients.assign(
        number=range(40),
        note=["?"] + ["5"] * 39,
        seen=pd.Timestamp("2020-01-01"),
        nothing=np.nan,
        holes=[np.nan, 4.0] * 20,
    )
    chosen = clustered(frame, id_column="patient", drop=["diagnosis"], method="egmm")
    assert chosen.data.columns.tolist() == ["age", "weight"]
    assert chosen.left_out == {
        "sex": "text, of which egmm reads none; evclus does",
        "site": "always 3",
        "diagnosis": "--drop",
        "number": "only counts the rows",
        "note": "text: 1 of 40 values are no numbers, such as '?' in row 007; empty cells are missing values",
        "seen": "dates or times; as numbers they could be clustered",
        "nothing": "empty",
        "holes": "always 4.0 or missing",
    }
    assert clustered(frame, drop=["diagnosis"]).left_out["number"].endswith("; --id number takes it as their names")


def test_columns_asked_for_are_taken_in_that_order(patients):
    chosen = clustered(patients, columns=["site,weight", "age"], method="egmm")
    assert chosen.data.columns.tolist() == ["site", "weight", "age"]
    assert chosen.left_out == dict.fromkeys(["patient", "sex", "diagnosis"], "not in --columns")


def test_a_name_that_holds_a_comma_may_be_given_whole():
    assert split_names(["a,b", "c, d", "c"], ["a,b", "c", "d"]) == ["a,b", "c", "d"]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"drop": ["diagnosys"]}, "--drop: there is no column 'diagnosys'. Did you mean 'diagnosis'?"),
        ({"columns": ["AGE"]}, "--columns: there is no column 'AGE'. Did you mean 'age'?"),
        ({"id_column": "xyz"}, "--id: there is no column 'xyz'. The columns are patient, age, weight"),
        ({"columns": ["age"], "drop": ["age"]}, "--columns asks for 'age', which --drop or --id takes away"),
        ({"keep": ["wieght"]}, "--keep: there is no column 'wieght'. Did you mean 'weight'?"),
        ({"keep": ["age"], "id_column": "age"}, "--keep asks for 'age', which --drop or --id takes away"),
        ({"columns": ["sex"], "method": "ecm"}, "ecm reads numbers, and all columns are categories (sex)"),
        ({"columns": ["age,sex"], "method": "ecm"}, "--columns: 'sex' cannot be used (text, of which ecm reads none"),
        ({"keep": ["sex"], "method": "ecm"}, "--keep: 'sex' cannot be used (text, of which ecm reads none"),
        (
            {"drop": ["age,weight,sex,diagnosis"]},
            "No column is left to cluster (age: --drop; weight: --drop; sex: --drop;",
        ),
        ({"columns": ["age,weight"], "method": "latent-class"}, "latent-class reads categories, and all columns are"),
        ({"id_column": "sex"}, "'f' names 20 rows (38 of 40 names are repetitions)"),
    ],
)
def test_wishes_that_cannot_be_met(patients, wish, words):
    with pytest.raises((UserError, ValueError)) as error:
        clustered(patients, **wish)
    assert words in str(error.value)


def test_every_object_needs_a_name_and_every_column_its_own(patients):
    patients.loc[4, "patient"] = None
    with pytest.raises(UserError, match=r"empty in 1 of 40 rows \(first: row 4\)"):
        choose_columns(patients, id_column="patient")
    with pytest.raises(UserError, match="same name: age"):
        choose_columns(patients.rename(columns={"weight": "age"}))


def test_missing_values_stop_drop_or_stay():
    data = pd.DataFrame({"u": [1, np.nan, np.nan, 4], "v": [1.0, 2, np.nan, 5]})
    with pytest.raises(UserError, match=r"2 of 4 rows have missing values \(u 2, v 1\)\. --missing drop"):
        check_values(data, missing="error")
    dropped, sentence = check_values(data, missing="drop")
    assert dropped.index.tolist() == [0, 3]
    assert "2 rows were left out (--missing drop)" in sentence
    kept, sentence = check_values(data, missing="em")
    assert kept.index.tolist() == [0, 1, 3]
    assert "1 rows were left out: nothing in them" in sentence
    assert check_values(data.dropna(), missing="error")[1] is None


def test_infinity_and_too_few_rows_are_refused():
    with pytest.raises(UserError, match=r"Column 'v' holds inf \(row 1; 1 of 3 rows"):
        check_values(pd.DataFrame({"u": [1.0, 2, 3], "v": [1, -np.inf, 3]}), missing="em")
    with pytest.raises(UserError, match="1 row cannot be clustered"):
        check_values(pd.DataFrame({"u": [1.0]}), missing="error")
    with pytest.raises(UserError, match="0 rows cannot be clustered"):
        check_values(pd.DataFrame({"u": [np.nan, np.nan]}), missing="drop")
