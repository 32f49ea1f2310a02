"""Numbers as people write them, and what only looks like one."""

import numpy as np
import pandas as pd
import pytest

from evidentia.app.advisor.numerals import read_numerals, tell_numerals


def read(*cells, decimal="."):
    return read_numerals(pd.DataFrame({"a": pd.Series(cells, dtype=object)}), decimal)["a"]


@pytest.mark.parametrize(
    ("cells", "decimal", "numbers"),
    [
        (["1,234.5", "-7", "+1e3", ".25"], ".", [1234.5, -7, 1000, 0.25]),
        (["1.234,5", "−7,0", "1.234.567"], ",", [1234.5, -7, 1234567]),
        (["1'234.5", "1’000", "999"], ".", [1234.5, 1000, 999]),
        (["1\u202f234,5", "12\u00a0000", "3"], ",", [1234.5, 12000, 3]),
        (["$1,234", "$ 5", "$-2.5"], ".", [1234, 5, -2.5]),
        (["12,5 €", "3 €"], ",", [12.5, 3]),
        (["5.5", "?", "6", "N.A.", "7", None, "8"], ".", [5.5, np.nan, 6, np.nan, 7, np.nan, 8]),
        # The other mark, where the cells cannot be read otherwise.
        (["1,5", "2,25"], ".", [1.5, 2.25]),
        (["1.5", "2.25"], ",", [1.5, 2.25]),
        # What can be read both ways is read by the mark of the table.
        (["1,234", "5,678"], ".", [1234, 5678]),
        (["1,234", "5,678"], ",", [1.234, 5.678]),
    ],
)
def test_written_numbers_are_read(cells, decimal, numbers):
    found = read(*cells, decimal=decimal)
    assert found.dtype == float
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize(
    "cells",
    [
        ["1.02.2024", "13.02.2024"],  # dates
        ["1.2.3", "1.10.0"],  # versions
        ["12,34,56", "1,2"],  # lists
        ["1,2345,678", "1,000"],  # groups that are none
        ["0171 234 567", "030 123 456"],  # telephones
        ["12 %", "0.12"],  # two units in one column
        ["$5", "€5"],
        ["<0.1", "0.2", "0.3"],  # a limit of detection is no number
        ["?", "?", "5"],  # more gaps than numbers
        ["5 kg", "6 kg"],
        ["-", "."],
        ["", " "],
    ],
)
def test_what_is_no_number_stays(cells):
    assert read(*cells).tolist() == cells


def test_categories_dates_and_numbers_are_not_touched():
    table = pd.DataFrame({
        "grade": pd.Categorical(["1,5", "2,5"]), "day": pd.to_datetime(["2024-01-02", "2024-03-04"]), "x": [1, 2],
    })  # fmt: skip
    pd.testing.assert_frame_equal(read_numerals(table), table)
    assert tell_numerals(table, read_numerals(table)) == []


def test_cells_of_spreadsheets_may_be_numbers_and_words():
    assert read(5.5, 6, "?", 7.25).tolist()[:2] == [5.5, 6.0]


def test_what_was_read_is_told_and_what_was_plain_is_not():
    before = pd.DataFrame({"a": ["1,200", "300"], "b": ["x", "y"]})
    assert tell_numerals(before, read_numerals(before)) == [
        "Numbers as they are written were read in a: 1,200 is 1200."
    ]
    gaps = pd.DataFrame({"a": ["5", "-", "6", "7"]})
    assert tell_numerals(gaps, read_numerals(gaps)) == [
        "Cells that stand for a missing number were read so: '-' in a (1)."
    ]
