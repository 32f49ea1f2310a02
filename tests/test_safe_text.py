"""Names in cells and lines: kept from running, and read back as they were."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.safe_text import NUMBER, guard, guard_table, printable, unguard, unguard_table

WORDS = st.text(st.sampled_from("'=+-@＝＋－＠;\\ux0 \u3000\t\r5e.ab\x1b\n\u202e\ud800日"), max_size=9)
SIGNS = tuple("=+-@＝＋－＠")


@given(WORDS)
def test_a_cell_is_read_back_and_no_spreadsheet_would_run_it(word):
    cell = guard(word)
    assert unguard(cell) == word
    for part in cell.split(";"):
        assert not part.strip().startswith(SIGNS) or NUMBER.fullmatch(part)
    assert not set(cell) & set("\x1b\n\r\t\u202e\ud800")


@given(WORDS)
def test_a_cell_of_plain_text_stays_as_it_is(word):
    plain = "".join(set(word) & set("5e.ab 日;'")) + "a"
    assert guard(plain) == plain
    assert guard(f"C:\\new\\{plain}") == f"C:\\new\\{plain}"


@pytest.mark.parametrize("cell", ["'=1", "'\t=1", "'\r=1", "a\nb"])
def test_cells_of_earlier_versions_are_read_as_they_were_meant(cell):
    assert unguard(cell) == cell.removeprefix("'")


@given(WORDS)
def test_what_is_printed_is_one_line_without_escape_codes(word):
    shown = printable(word)
    assert not set(shown) & set("\x1b\n\r\t\u202e")
    assert len(shown.splitlines()) <= 1
    assert "日" not in word or "日" in shown


def test_a_table_keeps_its_numbers_and_gets_its_text_back():
    index = pd.Index(["=a", "'+b", "c"], name="@who")
    frame = pd.DataFrame(
        [["-x", -1.5, True], ["y", 2.0, False], ["=", 3.0, True]], columns=["=t", "u", "u"], index=index
    )
    cells = guard_table(frame)
    assert cells.index.tolist() == ["'=a", "''+b", "c"]
    assert cells.index.name == "'@who"
    assert cells.columns.tolist() == ["'=t", "u", "u"]
    assert cells.iloc[:, 0].tolist() == ["'-x", "y", "'="]
    assert cells.iloc[:, 1].tolist() == [-1.5, 2.0, 3.0]
    pd.testing.assert_frame_equal(unguard_table(cells), frame)
