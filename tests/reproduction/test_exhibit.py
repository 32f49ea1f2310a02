"""Verdicts, fingerprints and the tables made of cells."""

import math

import pytest

from reproduction.exhibit import Cell, Exhibit, Unit, counted

NINE = {"deviation": 0.09, "runs": 9}


@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ({"ours": 0.71, "paper": 0.73}, "within"),  # 0.02 below, to the last digit
        ({"ours": 0.7099, "paper": 0.73}, "worse"),
        ({"ours": 0.75, "paper": 0.73}, "within"),
        ({"ours": 0.7501, "paper": 0.73}, "better"),
        # standard errors of 0.03 and 0.04 make one of 0.05 for the difference
        (
            {"ours": 0.63, "deviation": 0.09, "runs": 9, "paper": 0.73, "paper_deviation": 0.2, "paper_runs": 25},
            "within",
        ),
        (
            {"ours": 0.6299, "deviation": 0.09, "runs": 9, "paper": 0.73, "paper_deviation": 0.2, "paper_runs": 25},
            "worse",
        ),
        (
            {"ours": 0.67, "deviation": 0.09, "runs": 9, "paper": 0.73},
            "within",
        ),  # of a paper without deviation ours alone
        ({"ours": 0.6699, "deviation": 0.09, "runs": 9, "paper": 0.73}, "worse"),
        (
            {"ours": 0.71, "deviation": 0.01, "runs": 100, "paper": 0.73, "paper_deviation": 0.01},
            "within",
        ),  # 0.02 is more
        # one draw of what our deviation of 0.03 over nine is of: 2 * 0.03 * sqrt(1 + 1/9)
        ({"ours": 0.6668, "deviation": 0.03, "runs": 9, "paper": 0.73, "single": True}, "within"),
        ({"ours": 0.6666, "deviation": 0.03, "runs": 9, "paper": 0.73, "single": True}, "worse"),
        ({"ours": 0.9, "paper": 0.73, "better": "lower"}, "worse"),
        ({"ours": 0.5, "paper": 0.73, "better": "lower"}, "better"),
        ({"ours": 0.9, "paper": 0.73, "better": "equal"}, "different"),
        ({"ours": 0.5, "paper": 0.73, "better": "equal"}, "different"),
        ({"ours": 0.9, "paper": 0.73, "rival": True}, "different"),  # a rival that comes out better is no success
        ({"ours": 0.5, "paper": 0.73, "rival": True}, "different"),
        ({"ours": 0.72, "paper": 0.73, "rival": True}, "within"),
        ({"ours": 0.85, "paper": 0.70, "target": 0.9, "better": "equal"}, "better"),  # nearer to what both aim at
        ({"ours": 0.97, "paper": 0.89, "target": 0.9, "better": "equal"}, "worse"),
        ({"ours": 3.0, "paper": 4.0, "target": 3.0, "rival": True}, "different"),
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
    cells = [Cell("a", "x", 0.9, paper=0.5), Cell("b", "x", 0.9, paper=0.5, rival=True), Cell("c", "x", 0.1, paper=0.5)]
    assert counted(cells) == {"within": 0, "better": 1, "worse": 1, "different": 1, "not comparable": 0}


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
