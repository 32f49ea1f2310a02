"""What the paper says of calibrated partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from reproduction.bootgmm.calibration import COLUMNS, LEVELS
from reproduction.claims import Case, Claim, Tables, best, value_text
from reproduction.exhibit import Cell

TABLES = {1: "bootgmm.table2", 2: "bootgmm.table3", 3: "bootgmm.table4"}
RIGHT = {1: ("EII", "EEE", "VVV"), 2: ("EEE", "VVV"), 3: ("VVV",)}
WRONG = {2: ("EII",), 3: ("EII", "EEE")}
NEAR = 0.03  # of the nominal level: the farthest of the paper's own numbers for models that are right
FAR = 0.1  # below it
SETS = {"Iris": (6, "7-figure14", "8-figure15"), "Diabetes": ("10-figure18", 11, 12)}


def coverage(tables: Tables, mixture: int, level: float, model: str) -> Cell:
    return tables[TABLES[mixture]][f"{level:.2f}, [Bel, Pl], coverage"][COLUMNS.get(model, model)]


def near_nominal(tables: Tables, models: Mapping[int, Sequence[str]]) -> list[Case]:
    """Within two standard errors of the nominal level, or as near as the paper's own numbers."""
    cases = []
    for mixture, names in models.items():
        for model in names:
            for level in LEVELS:
                cell = coverage(tables, mixture, level, model)
                near = abs((cell.ours or 0) - level) <= max(NEAR, 2 * cell.error)
                cases.append(Case(f"mixture {mixture}, {model}, {level:.2f}", near, value_text(cell)))
    return cases


def far_below(tables: Tables, models: Mapping[int, Sequence[str]]) -> list[Case]:
    """By more than 0.1 below the nominal level."""
    cases = []
    for mixture, names in models.items():
        for model in names:
            for level in LEVELS:
                cell = coverage(tables, mixture, level, model)
                cases.append(
                    Case(f"mixture {mixture}, {model}, {level:.2f}", (cell.ours or 0) < level - FAR, value_text(cell))
                )
    return cases


def shorter(tables: Tables) -> list[Case]:
    """Intervals of the true model against those of VVV."""
    cases = []
    for mixture, model in ((1, "EII"), (2, "EEE")):
        row = tables[TABLES[mixture]]["0.90, [Bel, Pl], length"]
        cases.append(best(f"mixture {mixture}", {model: row[model]}, {"VVV": row["VVV"]}, lowest=True))
    return cases


def more_right(tables: Tables) -> list[Case]:
    """Objects on the set of their own class alone."""
    cases = []
    for name, places in SETS.items():
        counts = {}
        for method, place in zip(("BootGMM", "ECM", "EVCLUS"), places):
            table = tables[f"bootgmm.table{place}"]
            counts[method] = sum(row[f"{{{kind}}}"].ours or 0.0 for kind, row in table.items() if kind != "all")
        words = ", ".join(f"{method} {count:.0f}" for method, count in counts.items())
        cases.append(Case(name, counts["BootGMM"] > max(counts["ECM"], counts["EVCLUS"]), words))
    return cases


def doubt_where_mistaken(tables: Tables) -> list[Case]:
    """Four of the five versicolor that the mixture calls virginica are mostly on the pair."""
    table = tables["bootgmm.table5"]
    torn = {name: row["{ve,vi}"] for name, row in table.items()}
    return [Case(name, (cell.ours or 0) > 0.5, value_text(cell)) for name, cell in torn.items() if name != "object 84"]


EVERY = tuple(TABLES.values())
CLAIMS = [
    Claim(
        "Tables 2 to 4",
        "Coverage is near the nominal level when the model is right.",
        EVERY,
        partial(near_nominal, models=RIGHT),
    ),
    Claim(
        "Tables 3 and 4", "A model that is too simple covers far too little.", EVERY, partial(far_below, models=WRONG)
    ),
    Claim(
        "Tables 2 and 3",
        "The model chosen by BIC works well when the truth is EII or EEE,",
        EVERY,
        partial(near_nominal, models={1: ("bic",), 2: ("bic",)}),
    ),
    Claim("Table 4", "and not so well when it is VVV.", EVERY, partial(far_below, models={3: ("bic",)})),
    Claim("Tables 2 and 3", "A simpler model that is right has shorter intervals.", EVERY, shorter),
    Claim(
        "Table 5",
        "Four of five objects that the mixture mistakes are in doubt.",
        ("bootgmm.table5",),
        doubt_where_mistaken,
    ),
    Claim(
        "Tables 6 to 8, 10 to 12",
        "ECM and EVCLUS perform worse: fewer objects are on their own class alone.",
        tuple(f"bootgmm.table{place}" for places in SETS.values() for place in places),
        more_right,
    ),
]
