"""What the paper says of calibrated partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from reproduction.bootgmm.calibration import COLUMNS, LEVELS
from reproduction.claims import Case, Claim, Tables, alike, best, value_text
from reproduction.exhibit import Cell

TABLES = {1: "bootgmm.table2", 2: "bootgmm.table3", 3: "bootgmm.table4"}
RIGHT = {1: ("EII", "EEE", "VVV"), 2: ("EEE", "VVV"), 3: ("VVV",)}
WRONG = {2: ("EII",), 3: ("EII", "EEE")}
NEAR = 0.03  # of the nominal level: the farthest of the paper's own numbers for models that are right
FAR = 0.1  # below it
NOMINAL = 0.9  # of the intervals of Figure 10
SETS = {"Iris": (6, "7-figure14", "8-figure15"), "Diabetes": ("10-figure18", 11, 12)}


def coverage(tables: Tables, mixture: int, level: float, model: str, intervals: str = "[Bel, Pl]") -> Cell:
    return tables[TABLES[mixture]][f"{level:.2f}, {intervals}, coverage"][COLUMNS.get(model, model)]


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


def similar_coverage(tables: Tables) -> list[Case]:
    """Of the models that are right, both kinds of intervals."""
    return [
        alike(
            f"mixture {mixture}, {model}, {level:.2f}",
            *((kind, coverage(tables, mixture, level, model, kind)) for kind in ("CI", "[Bel, Pl]")),
            tolerance=NEAR,
        )
        for mixture, names in RIGHT.items()
        for model in names
        for level in LEVELS
    ]


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


def count(tables: Tables, place: str, row: str, column: str) -> float:
    """Objects of a class on a set; none where the table has no such set."""
    cell = tables[f"bootgmm.table{place}"][row].get(column)
    return (cell.ours if cell is not None else None) or 0.0


def truth_covered(tables: Tables) -> list[Case]:
    (cell,) = tables["bootgmm.figure10"]["all pairs"].values()
    return [Case("all pairs", (cell.ours or 0.0) >= NOMINAL, value_text(cell))]


def setosa_precise(tables: Tables) -> list[Case]:
    """All setosa are on their own class, and nothing else is on a set with it."""
    table = tables["bootgmm.table6"]
    own = count(tables, "6", "se", "{se}")
    others = sum(cell.ours or 0.0 for row in ("ve", "vi") for name, cell in table[row].items() if "se" in name)
    return [Case("setosa", own == 50 and others == 0, f"{own:g} of 50 on {{se}}, {others:g} others on a set with se")]


def ecm_imprecise(tables: Tables) -> list[Case]:
    shared = {
        method: sum(count(tables, place, row, "{ve,vi}") for row in ("ve", "vi"))
        for method, place in (("ECM", "7-figure14"), ("BootGMM", "6"))
    }
    words = ", ".join(f"{method} {number:g}" for method, number in shared.items())
    return [Case("objects on {ve,vi}", shared["ECM"] > shared["BootGMM"], words)]


def fewer_mistakes(tables: Tables) -> list[Case]:
    before = tables["bootgmm.table9-figure16"]["mixture"]["in a wrong cluster"]
    after = tables["bootgmm.table10-figure18"]["all"]["on a set without their class"]
    return [best("Diabetes", {"BootGMM": after}, {"mixture": before}, lowest=True)]


def chemical_split(tables: Tables) -> list[Case]:
    """More of the class are on the cluster of another class than on their own."""
    cases = []
    for method, place in (("ECM", "11"), ("EVCLUS", "12")):
        own, normal = (count(tables, place, "ch", column) for column in ("{ch}", "{no}"))
        cases.append(Case(method, normal > own, f"{own:g} of 36 on {{ch}}, {normal:g} on {{no}}"))
    return cases


def seven_cells(tables: Tables) -> list[Case]:
    row = tables["bootgmm.figure19"]["number of components"]
    return [Case(name, cell.ours == 7, value_text(cell)) for name, cell in row.items()]


EVERY = tuple(TABLES.values())
CLAIMS = [
    Claim(
        "Tables 2 to 4",
        "Coverage is near the nominal level when the model is right.",
        EVERY,
        partial(near_nominal, models=RIGHT),
    ),
    Claim(
        "Tables 2 to 4",
        f"Confidence intervals and belief-plausibility intervals have similar coverage (here: to {NEAR:g}, when the "
        "model is right).",
        EVERY,
        similar_coverage,
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
        "Figure 10",
        f"Almost all belief-plausibility intervals contain the true probability (here: {NOMINAL:.0%} of them).",
        ("bootgmm.figure10",),
        truth_covered,
    ),
    Claim(
        "Table 5",
        "Four of five objects that the mixture mistakes are in doubt.",
        ("bootgmm.table5",),
        doubt_where_mistaken,
    ),
    Claim(
        "Table 6 and Figure 13",
        "Setosa has a precise representation: its lower and upper approximations are equal.",
        ("bootgmm.table6",),
        setosa_precise,
    ),
    Claim(
        "Tables 6 and 7",
        "ECM is much more imprecise on Iris: more objects are on versicolor or virginica.",
        ("bootgmm.table6", "bootgmm.table7-figure14"),
        ecm_imprecise,
    ),
    Claim(
        "Tables 9 and 10",
        "Fewer objects of Diabetes are misclassified by the evidential partition than by the mixture.",
        ("bootgmm.table9-figure16", "bootgmm.table10-figure18"),
        fewer_mistakes,
    ),
    Claim(
        "Tables 11 and 12",
        "ECM and EVCLUS fail to group the class 'chemical' in one cluster (here: more of it are on 'normal').",
        ("bootgmm.table11", "bootgmm.table12"),
        chemical_split,
    ),
    Claim(
        "Figure 19",
        "BIC is highest for the full model with seven clusters of the GvHD data (here of another draw of 1,000).",
        ("bootgmm.figure19",),
        seven_cells,
    ),
    Claim(
        "Tables 6 to 8, 10 to 12",
        "ECM and EVCLUS perform worse: fewer objects are on their own class alone.",
        tuple(f"bootgmm.table{place}" for places in SETS.values() for place in places),
        more_right,
    ),
]
