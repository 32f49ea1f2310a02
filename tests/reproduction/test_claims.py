"""Sentences of the papers, decided by cells."""

from dataclasses import replace

import pytest

from reproduction import catalog
from reproduction.claims import FINDINGS, Case, Claim, DecidedClaim, Numbers, above, best, decide
from reproduction.exhibit import Cell
from reproduction.pages import DOCS
from reproduction.results import read


def mean(ours, deviation=0.0, runs=4):
    return Cell("a", "x", ours, deviation, runs=runs)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (mean(0.9), mean(0.8), True),
        (mean(0.8), mean(0.9), False),
        (mean(0.8), mean(0.8), None),
        (mean(0.9, 0.06), mean(0.8, 0.08), None),  # errors of 0.03 and 0.04: the difference is two of 0.05
        (mean(0.9001, 0.06), mean(0.8, 0.08), True),
        (mean(0.8, 0.06), mean(0.9001, 0.08), False),
        (mean(None), mean(0.8), None),
    ],
)
def test_a_mean_is_above_another_beyond_two_standard_errors(first, second, expected):
    assert above(first, second) is expected


def test_the_best_of_some_against_the_best_of_the_others():
    own = {"CECM-Mah": mean(0.7), "CECM-Eucl": mean(0.8)}
    others = {"COP": mean(0.75), "CFCM": mean(0.79), "FCM": mean(None)}
    assert best("Iris", own, others) == Case("Iris", True, "CECM-Eucl 0.8 against CFCM 0.79")
    assert best("Iris", own, others, lowest=True) == Case("Iris", True, "CECM-Mah 0.7 against COP 0.75")
    assert best("Iris", {"EGMM": mean(None)}, others).holds is None


def test_a_claim_without_one_of_its_numbers_is_not_computed():
    number_missing = Claim(
        "Table 1", "It is best.", ["a"], lambda tables: [Case("x", Numbers[float]()["EGMM"] > 0, "")]
    )
    none_there = Claim("Table 1", "It is best.", ["a"], lambda tables: [Case(Numbers[float]().largest("ab"), True, "")])
    decided = decide([number_missing, none_there], {"a": {"x": {"ARI": mean(0.5)}}})
    assert [one.finding for one in decided] == ["not computed"] * 2


@pytest.mark.parametrize("paper", [paper for paper in catalog.PAPERS if paper.claims], ids=lambda paper: paper.name)
def test_claims_can_be_decided_without_any_row_or_column_of_their_tables(paper):
    tables = {one.name: one.table for one in read(DOCS / "results")}

    def without(name, row=None, column=None):
        """The tables, but for the numbers of a row or of a column."""
        return {
            **tables,
            name: {
                r: {
                    c: replace(cell, ours=None) if row in (None, r) and column in (None, c) else cell
                    for c, cell in each
                }
                for r, each in ((r, cells.items()) for r, cells in tables[name].items())
            },
        }

    for claim in paper.claims:
        for name in claim.exhibits:
            columns = {column for cells in tables[name].values() for column in cells}
            for lacking in [{}, *({"row": row} for row in tables[name]), *({"column": column} for column in columns)]:
                (decided,) = decide([claim], without(name, **lacking))
                assert decided.finding in FINDINGS


@pytest.mark.parametrize(
    ("holds", "needed", "finding"),
    [
        ([True, True], None, "holds"),
        ([True, False], None, "does not hold"),
        ([True, None], None, "undecided"),
        ([True, False, None], 1, "holds"),
        ([False, False, None], 1, "undecided"),
        ([True, True, False, False], 3, "does not hold"),
        ([], None, "not computed"),
    ],
)
def test_a_claim_holds_when_enough_of_its_cases_do(holds, needed, finding):
    claim = Claim("Table 1", "It is best.", (), lambda tables: [], needed)
    assert DecidedClaim(claim, [Case(str(at), held, "") for at, held in enumerate(holds)]).finding == finding


def test_claims_without_their_exhibits_are_not_computed():
    claim = Claim("Table 1", "It is best.", ("a.table1", "a.table2"), lambda tables: [Case("x", True, "")])
    assert decide([claim], {"a.table1": {"row": {}}})[0].finding == "not computed"
    assert decide([claim], {"a.table1": {"row": {}}, "a.table2": {"row": {}}})[0].finding == "holds"


@pytest.mark.parametrize("paper", catalog.PAPERS, ids=lambda paper: paper.name)
def test_claims_rest_on_exhibits_that_there_are(paper):
    names = {exhibit.name for exhibit in paper.exhibits}
    assert {name for claim in paper.claims for name in claim.exhibits} <= names
    assert bool(paper.claims) == (paper.name not in ("comparison", "defaults", "truth"))  # which are of no paper
