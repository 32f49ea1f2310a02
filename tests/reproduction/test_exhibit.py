"""Verdicts, fingerprints and the tables made of cells."""

import math

import pytest

from reproduction.exhibit import Cell, Exhibit, Unit, counted


@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({"ours": 0.68, "paper": 0.73}, "within"),  # 0.05 below, to the last digit
        ({"ours": 0.6799, "paper": 0.73}, "worse"),
        ({"ours": 0.78, "paper": 0.73}, "within"),
        ({"ours": 0.7801, "paper": 0.73}, "better"),
        ({"ours": 0.53, "paper": 0.73, "paper_deviation": 0.1}, "within"),  # two deviations are more than 0.05
        ({"ours": 0.5299, "paper": 0.73, "paper_deviation": 0.1}, "worse"),
        ({"ours": 0.68, "paper": 0.73, "paper_deviation": 0.01}, "within"),  # and 0.05 is more than two of these
        ({"ours": 0.9, "paper": 0.73, "better": "lower"}, "worse"),
        ({"ours": 0.5, "paper": 0.73, "better": "lower"}, "better"),
        ({"ours": 0.9, "paper": 0.73, "better": "equal"}, "worse"),
        ({"ours": 0.5, "paper": 0.73, "better": "equal"}, "worse"),
        ({"ours": 12.0, "paper": 10.0, "better": "equal", "tolerance": 2.0}, "within"),
        ({"ours": 3.0, "paper": 3.0, "tolerance": 0.0}, "within"),
        ({"ours": None, "paper": 0.73}, "not comparable"),
        ({"ours": 0.73}, "not comparable"),
        ({"ours": 0.73, "paper": 0.73, "incomparable": "another draw"}, "not comparable"),
        ({"ours": math.nan, "paper": 0.73, "better": "lower"}, "not comparable"),
    ],
)
def test_verdicts_at_and_beyond_their_bounds(settings, verdict):
    assert Cell("row", "column", **settings).verdict == verdict


def test_every_verdict_is_counted_even_at_zero():
    cells = [Cell("a", "x", 0.9, paper=0.5), Cell("b", "x", 0.9, paper=0.5), Cell("c", "x", 0.1, paper=0.5)]
    assert counted(cells) == {"within": 0, "better": 2, "worse": 1, "not comparable": 0}


def measure(seed):
    return {}


def other(seed):
    return {}


def test_the_fingerprint_changes_with_key_function_and_settings_only():
    unit = Unit("a", measure, {"seed": 0, "runs": 10})
    assert unit.fingerprint == Unit("a", measure, {"runs": 10, "seed": 0}).fingerprint
    different = [
        Unit("b", measure, {"seed": 0, "runs": 10}),
        Unit("a", other, {"seed": 0, "runs": 10}),
        Unit("a", measure, {"seed": 1, "runs": 10}),
        Unit("a", measure, {"seed": 0}),
    ]
    assert len({unit.fingerprint, *(one.fingerprint for one in different)}) == 5


def test_an_exhibit_that_cannot_be_computed_has_no_units():
    exhibit = Exhibit("bhc.figure9", "A drawing", absent="a drawing")
    assert exhibit.units(True, 0) == []
    assert exhibit.paper == "bhc"
