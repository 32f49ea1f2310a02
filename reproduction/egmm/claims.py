"""What the EGMM paper says of its method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reproduction.claims import Case, Claim, Table, Tables, best, value_text
from reproduction.egmm import paper
from reproduction.egmm.clustering import OWN
from reproduction.egmm.methods import FILES, MOST_LIKELY

EVIDENTIAL = ("ECM", "BPEC", "bootGMM")
TRUE_NUMBERS = {"egmm.table2": ("Diamond", 2), "egmm.table3": ("Two-class", 2), "egmm.table4": ("Four-class", 4)}


def right_numbers(tables: Tables) -> list[Case]:
    """The number of clusters of the highest mean EBIC."""
    cases = []
    for name, (data, truth) in TRUE_NUMBERS.items():
        levels = {column: cell.ours for column, cell in tables[name]["EBIC"].items() if cell.ours is not None}
        chosen = max(levels, key=levels.__getitem__)
        cases.append(Case(data, chosen == f"C = {truth}", f"highest at {chosen}"))
    return cases


def nearest_numbers(tables: Tables) -> list[Case]:
    """On each set, whether no rival's mean number of clusters is nearer to the truth; bootGMM failed on Magic there."""
    cases = []
    for data, row in tables["egmm.table6"].items():
        truth = paper.TABLE_5[data]["clusters"].mean or 0.0
        methods = {name: cell.ours for name, cell in row.items() if cell.ours is not None and name != MOST_LIKELY}
        away = {name: abs(ours - truth) for name, ours in methods.items()}
        own = away.pop(OWN)
        rival = min(away, key=away.__getitem__)
        words = f"{OWN} {value_text(row[OWN])}, {rival} {value_text(row[rival])}, truth {truth:g}"
        cases.append(Case(data, own <= away[rival], words))
    return cases


def first_on_average(names: Sequence[str], scores: Sequence[str]) -> Claim:
    def cases(tables: Tables) -> list[Case]:
        return [best(score, *halves(tables[name], "Average rank"), lowest=True) for name, score in zip(names, scores)]

    known, word = ("known", "to") if len(names) == 3 else ("unknown", "and")
    place = f"Tables {names[0].removeprefix('egmm.table')} {word} {names[-1].removeprefix('egmm.table')}"
    return Claim(place, f"EGMM ranks first on average, the number of clusters {known}.", names, cases)


def halves(table: Table, row: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The paper's method and its rivals."""
    cells = {name: cell for name, cell in table[row].items() if name != MOST_LIKELY}
    return {OWN: cells.pop(OWN)}, cells


def quickest(tables: Tables) -> list[Case]:
    cases = []
    for data in FILES:
        row = tables["egmm.table14"][f"{data}, s"]
        cases.append(best(data, {OWN: row[OWN]}, {name: row[name] for name in EVIDENTIAL}, lowest=True))
    return cases


def less_doubt(tables: Tables) -> list[Case]:
    places = {"T1": "egmm.figure9", "T2": "egmm.figure10", "fused": "egmm.figure11"}
    torn = {name: tables[place][name]["on several clusters"].ours or 0.0 for name, place in places.items()}
    return [
        Case(name, torn["fused"] < torn[name], f"{torn['fused']:.2%} of the pixels after, {torn[name]:.2%} before")
        for name in ("T1", "T2")
    ]


def best_on_images(tables: Tables) -> list[Case]:
    table = tables["egmm.table15"]
    return [
        best(score, {OWN: table[OWN][score]}, {name: table[name][score] for name in table if name != OWN})
        for score in ("Purity", "NMI", "ARI")
    ]


def sees_doubt(tables: Tables) -> list[Case]:
    table = {name: row["on several clusters"].ours or 0.0 for name, row in tables["egmm.figure4"].items()}
    words = f"EGMM {100 * table['EGMM']:.1f} % of the objects, bootGMM {100 * table['bootGMM']:.1f} %"
    return [Case("Two-class", table["EGMM"] > table["bootGMM"], words)]


CLAIMS = [
    Claim("Tables 2 to 4", "EBIC is highest at the right number of clusters.", tuple(TRUE_NUMBERS), right_numbers),
    Claim(
        "Figure 4",
        "bootGMM fails to see objects between the clusters that EGMM sees.",
        ("egmm.figure4",),
        sees_doubt,
    ),
    Claim(
        "Table 6",
        "EGMM estimates the number of clusters best on five of eight sets.",
        ("egmm.table6",),
        nearest_numbers,
        needed=5,
    ),
    first_on_average(("egmm.table7", "egmm.table8"), ("NMI", "ARI")),
    first_on_average(("egmm.table10", "egmm.table11", "egmm.table12"), ("Purity", "NMI", "ARI")),
    Claim("Table 14", "EGMM is the fastest of the four evidential methods.", ("egmm.table14",), quickest),
    Claim(
        "Figures 9 to 11",
        "Fusion greatly reduces the pixels in doubt (here of a drawn phantom).",
        ("egmm.figure9", "egmm.figure10", "egmm.figure11"),
        less_doubt,
    ),
    Claim(
        "Table 15",
        "EGMM is best on the brain images (here of a drawn phantom).",
        ("egmm.table15",),
        best_on_images,
    ),
]
