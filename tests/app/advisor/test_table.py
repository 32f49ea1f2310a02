"""What a table looks like, column by column and as a whole."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import evidentia
from evidentia.app.advisor import profile_table
from evidentia.app.advisor.columns import describe

N = 30
RNG = np.random.default_rng(5)
WORDS = ["north", "south", "east"]


def column(values, name="u"):
    return describe(pd.Series(values, name=name))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (RNG.normal(size=N), "numbers"),
        (RNG.integers(0, 1000, N), "numbers"),
        ([0.5, 1.5, 2.5] * 10, "numbers"),  # few values, but not whole
        ([1, 2, 5] * 10, "whole numbers of few values"),
        (list(range(8)) * 4, "numbers"),
        (list(range(7)) * 5, "whole numbers of few values"),
        ([0, 1] * 15, "two values"),
        ([0.48, 1.0] * 15, "two values"),
        ([0.48] * 29 + [1.0], "numbers"),  # nearly constant: one row makes no category
        ([True, False] * 15, "two values"),
        ([1, 2, 1, 2], "whole numbers of few values"),  # too few rows for a habit
        (WORDS * 10, "categories"),
        (pd.Categorical(WORDS * 10), "categories"),
        ([True, False, None] * 10, "categories"),
        (pd.date_range("2020-01-01", periods=N), "dates"),
        (["2020-01-31", "2021-12-01 10:30"] * 15, "dates"),
        (["31.1.2020", "1/12/21"] * 15, "dates"),
        ([np.nan] * N, "empty"),
        ([f"note {i // 2}" for i in range(N - 1)], "text"),
    ],
)
def test_kinds_of_columns(values, kind):
    assert column(values).kind == kind


@pytest.mark.parametrize(
    ("values", "name", "aside", "role"),
    [
        (range(N), "u", "only counts the rows", "names"),
        (range(7, 7 + N), "u", "only counts the rows", "names"),
        (range(9), "u", "", "data"),
        (RNG.permutation(1000)[:N], "customer_id", "an identifier by its name, different in every row", "names"),
        (RNG.permutation(1000)[:N], "MouseID", "an identifier by its name, different in every row", "names"),
        (RNG.permutation(1000)[:N], "id_customer", "an identifier by its name, different in every row", "names"),
        (RNG.permutation(1000)[:N], "order no. 2", "an identifier by its name, different in every row", "names"),
        (RNG.permutation(1000)[:N], "NUMBER OF FIRES", "", "data"),
        (RNG.permutation(1000)[:N], "number_of_beds", "", "data"),
        (RNG.permutation(1000)[:N], "No. of employees", "", "data"),
        (RNG.permutation(1000)[:N], "nr of rows", "", "data"),
        (RNG.permutation(1000)[:N], "price", "", "data"),
        ([*range(N - 1), 3], "customer_id", "", "data"),
        ([f"o{i}" for i in range(N)], "u", "names every row", "names"),
        ([f"o{i // 2}" for i in range(N)], "u", "", "data"),
        ([f"o{i // 2}" for i in range(N - 1)] + ["x"], "u", "free text: 16 different values in 30 rows", "data"),
        ([3.5] * N, "u", "always 3.5", "data"),
        ([3.5, np.nan] * 15, "u", "always 3.5 or missing", "data"),
        (["b"] * N, "u", "always b", "data"),
        (["?", *map(str, range(N - 1))], "u", "text: 1 of 30 values are no numbers, such as '?' in row 0; empty", None),
        (list(map(str, range(N))), "u", "numbers stored as text; convert them", "unreadable"),
        (["2020-01-31"] * N, "u", "dates or times; as numbers they could be clustered", "unreadable"),
        ([None] * N, "u", "empty", "unreadable"),
    ],
)
def test_columns_that_should_not_be_clustered(values, name, aside, role):
    found = column(values, name)
    assert found.aside.startswith(aside)
    assert bool(found.aside) == bool(aside)
    assert role is None or found.role == role


def test_numbers_of_a_column():
    values = np.r_[np.arange(20.0) + 0.5, 500.0, np.nan, np.nan]
    found = column(values)
    assert (found.n_values, found.missing, found.far) == (21, 2, 1)
    assert (found.low, found.high) == (0.5, 500)
    assert found.spread == pytest.approx(np.nanstd(values))


@pytest.mark.parametrize(
    ("name", "values", "aside"),
    [
        ("class", ["a", "b", "c"] * 10, True),
        ("Label", [4, 5] * 15, True),
        ("true_class", list(range(10)) * 3, True),
        ("diagnosis", [0, 1] * 15, True),
        ("y", [1, 2, 3] * 10, True),
        ("y", RNG.normal(size=N), False),  # a coordinate
        ("blood_group", [1, 2, 4] * 10, False),
        ("class", list(range(15)) * 2, False),  # too many for so few rows
        ("target", RNG.normal(size=N), False),
        ("region", WORDS * 10, True),  # the only text, at the end
        ("region", [1, 2, 3] * 10, False),
    ],
)
def test_classes_that_are_known_already_are_set_aside(name, values, aside):
    frame = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N), name: values})
    assert list(profile_table(frame).aside) == [name] * aside
    assert profile_table(frame, keep=[name]).aside == {}
    assert [c.role for c in profile_table(frame).columns if c.aside] == ["classes"] * aside


def test_text_among_other_text_or_not_at_the_end_describes_objects():
    frame = pd.DataFrame({"region": WORDS * 10, "a": RNG.normal(size=N), "taste": ["sour", "sweet"] * 15})
    assert profile_table(frame).aside == {}
    assert profile_table(frame[["region", "a"]]).aside == {}
    assert list(profile_table(frame[["a", "region"]]).aside) == ["region"]


def test_the_last_column_that_is_left_is_never_taken_for_classes():
    assert profile_table(pd.DataFrame({"class": ["a", "b"] * 15})).aside == {}


def test_what_is_kept_must_be_there_and_readable():
    frame = pd.DataFrame({"a": RNG.normal(size=N), "when": ["2020-01-31"] * N, "note": [f"n{i}" for i in range(N)]})
    with pytest.raises(ValueError, match=r"'keep' names columns of the table\. 'b' is none of a, when, note\."):
        profile_table(frame, keep=["b"])
    assert list(profile_table(frame, keep=["when", "note"]).aside) == ["when"]
    assert profile_table(frame, keep=["note"]).of_kind("categories")[0].name == "note"


def test_a_table_as_a_whole():
    a, b = RNG.normal(size=(2, 50))
    frame = pd.DataFrame({"a": a, "b": 40 * b, "sum": a - 3 * b, "c": RNG.normal(size=50)})
    frame.loc[7] = frame.loc[3]
    frame.loc[10, "c"] = np.nan
    frame.loc[11, ["a", "c"]] = np.nan
    seen = profile_table(frame)
    assert (seen.n_rows, seen.holes, seen.repeated, seen.dependent) == (50, 2, 1, ("sum",))
    spreads = frame.std(ddof=0)
    assert seen.spread_ratio == pytest.approx(spreads.max() / spreads.min())
    assert not seen.wide
    assert not seen.one_scale
    said = str(seen)
    assert said.startswith("50 rows, 4 columns\n4 columns of numbers\n")
    assert "2 rows with missing values, 1.5% of all cells, most of them in c (2)" in said
    assert "1 row repeats an earlier one" in said
    assert "sum can be computed from the columns before" in said


def test_a_look_cannot_be_changed_and_is_found_at_the_top():
    seen = evidentia.profile_table([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]])
    assert [c.name for c in seen.columns] == ["x0", "x1"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        seen.n_rows = 4


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "wide"),
    [(1000, 60, False), (1000, 61, True), (50, 10, False), (49, 10, True), (8, 2, False), (14, 3, True)],
)
def test_wide_tables(n_rows, n_columns, wide):
    assert profile_table(RNG.normal(size=(n_rows, n_columns))).wide == wide


def test_columns_on_one_scale():
    marks = RNG.integers(0, 17, (60, 6)).astype(float)
    marks[:, 4:] = RNG.integers(0, 10, (60, 2)) / 5  # pixels that are seldom dark
    assert profile_table(marks).one_scale
    assert not profile_table(marks * np.array([1, 1, 10, 100, 1, 1])).one_scale


def test_long_tails_are_seen():
    income = np.exp(2 * RNG.normal(size=200))
    seen = profile_table(pd.DataFrame({"income": income, "age": RNG.normal(size=200)}))
    assert "long tails in income" in seen.sentences()


def test_dissimilarities_are_recognized():
    points = RNG.normal(size=(12, 2))
    square = np.abs(points[:, None] - points).sum(axis=2)
    assert profile_table(square).dissimilarities
    named = pd.DataFrame(square).assign(name=[f"o{i}" for i in range(12)])
    assert profile_table(named[["name", *range(12)]]).dissimilarities
    for wrong in (square + np.eye(12), square - 1, square[:, :-1], square + np.arange(12), np.zeros((12, 12))):
        assert not profile_table(wrong).dissimilarities


def test_names_of_columns_must_differ_and_a_table_has_two_dimensions():
    with pytest.raises(ValueError, match="Several columns have the same name: a"):
        profile_table(pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]))
    with pytest.raises(ValueError, match=r"Got an array of shape \(3,\); reshape\(-1, 1\) makes a column of it"):
        profile_table([1.0, 2.0, 3.0])


def test_columns_may_be_called_by_numbers():
    assert [c.name for c in profile_table(pd.DataFrame(RNG.normal(size=(5, 2)))).columns] == ["0", "1"]
