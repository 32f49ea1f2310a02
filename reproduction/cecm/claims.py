"""What the CECM paper says of its method."""

from __future__ import annotations

from functools import partial

from reproduction.cecm import brain, numbers
from reproduction.cecm.curves import ASKED
from reproduction.cecm.small import N_LINKS
from reproduction.cecm.tables import METRIC_NAMES
from reproduction.cecm.trials import METHODS, SETS
from reproduction.cecm.two_class import RIGHT
from reproduction.claims import Case, Claim, Tables, above, alike, best, joined, value_text
from reproduction.exhibit import Cell

CURVES, ACTIVE, SMALL = "cecm.figure11-14", "cecm.figure7-10", (10, 20)
LINKED = (10, 20, 50, 100, 200)
BRAIN, TWO_CLASS = "cecm.figure15-19", "cecm.figure3-5"
OFTEN = 5  # of the eight pairs of Table 7, as in the paper's own
SIMILAR = 0.02
ISOLATED = 0.9  # Dice index of the lesions


def at_count(tables: Tables, name: str, count: int) -> dict[str, Cell]:
    """The methods on a set with a number of links."""
    return {method: tables[CURVES][f"{name}, {method}"][f"{count} links"] for method in METHODS}


def few_links(tables: Tables) -> list[Case]:
    """On each set, whether CECM with one of its metrics is best with ten and with twenty links."""
    cases = []
    for name in SETS:
        parts = []
        for count in SMALL:
            cells = at_count(tables, name, count)
            own = {method: cells.pop(method) for method in METHODS if method.startswith("CECM")}
            parts.append(best(f"{count} links", own, cells))
        cases.append(joined(name, parts))
    return cases


def many_links(tables: Tables) -> list[Case]:
    cases = []
    for name in ("Iris", "Letters"):
        cells = at_count(tables, name, 200)
        cases.append(best(name, {"CFCM-Mah": cells["CFCM-Mah"]}, {"CECM-Mah": cells["CECM-Mah"]}))
    return cases


def always_on_glass(tables: Tables) -> list[Case]:
    cells = {count: at_count(tables, "Glass", count) for count in LINKED}
    own, others = "CECM-Mah", ("CFCM-Mah", "CFCM-Eucl")
    return [best(f"{n} links", {own: cells[n][own]}, {other: cells[n][other] for other in others}) for n in LINKED]


def best_results(tables: Tables) -> list[Case]:
    """On each set, whether CECM or CFCM is best with any number of links."""
    cases = []
    for name in SETS:
        parts = []
        for count in LINKED:
            cells = at_count(tables, name, count)
            own = {method: cells.pop(method) for method in METHODS if method.startswith(("CECM", "CFCM"))}
            parts.append(best(f"{count} links", own, cells))
        cases.append(joined(name, parts))
    return cases


def euclidean_on_wine(tables: Tables) -> list[Case]:
    cells = {count: at_count(tables, "Wine", count) for count in LINKED}
    return [
        joined(
            family,
            [
                best(
                    f"{count} links",
                    {f"{family}-Eucl": row[f"{family}-Eucl"]},
                    {f"{family}-Mah": row[f"{family}-Mah"]},
                )
                for count, row in cells.items()
            ],
        )
        for family in ("CECM", "CFCM")
    ]


def similar_on_wine(tables: Tables) -> list[Case]:
    cells = {count: at_count(tables, "Wine", count) for count in LINKED}
    pair = ("CECM-Eucl", "CFCM-Eucl")
    return [
        alike(f"{count} links", *((method, row[method]) for method in pair), tolerance=SIMILAR)
        for count, row in cells.items()
    ]


def active_against_random(
    tables: Tables, counts: tuple[int, ...], names: tuple[str, ...], active_first: bool
) -> list[Case]:
    cases = []
    for name in names:
        parts = []
        for count in counts:
            row = tables[ACTIVE][f"{name}, {count} links"]
            pair = {"active": row["active"]}, {"random": row["random"]}
            parts.append(best(f"{count} links", *(pair if active_first else pair[::-1])))
        cases.append(joined(name, parts))
    return cases


def optimum(tables: Tables) -> list[Case]:
    asked, drawn = tables[ACTIVE]["Iris, 40 links"]["active"], tables[ACTIVE]["Iris, 200 links"]["random"]
    words = f"active {value_text(asked)} with 40 links, random {value_text(drawn)} with 200"
    return [Case("Iris", (asked.ours or 0) > 1 - 1e-9 > (drawn.ours or 0), words)]


def weight_matters_little(tables: Tables) -> list[Case]:
    """Whether the mean moves less from ξ = 0.1 to 0.9 than from 20 links to 200."""
    cases = []
    for name, metric in numbers.COLUMNS.items():
        means = {
            count: [
                tables[f"cecm.table{table}"][f"{count} links, ξ = {xi:g}"][f"{name} ({METRIC_NAMES[metric]})"].ours
                or 0.0
                for xi in numbers.XIS[1:]
            ]
            for table, counts in ((5, (20, 50)), (6, (100, 200)))
            for count in counts
        }
        by_xi = max(max(row) - min(row) for row in means.values())
        by_links = sum(means[200]) / len(means[200]) - sum(means[20]) / len(means[20])
        cases.append(Case(name, by_xi < by_links, f"by ξ at most {by_xi:.3f}, by links {by_links:.3f}"))
    return cases


def guided(tables: Tables) -> list[Case]:
    """Objects without links gain too."""
    table = tables["cecm.figure6"]
    first, last = table["0 links"]["objects without links"], table["200 links"]["objects without links"]
    return [Case("Iris", above(last, first), f"{value_text(first)} without links, {value_text(last)} with 200")]


def pairs_are_cheaper(tables: Tables) -> list[Case]:
    table = tables["cecm.table9"]
    cases = []
    for metric in ("Eucl", "Mah"):
        few, all_sets = f"CECM-2 {metric}", f"CECM-1 {metric}"
        same = abs((table["Rand index"][few].ours or 0) - (table["Rand index"][all_sets].ours or 0)) <= 0.02
        quicker = above(table["CPU (sec.)"][all_sets], table["CPU (sec.)"][few])
        words = " and ".join(
            f"{name} {value_text(table['CPU (sec.)'][name])} s, RI {value_text(table['Rand index'][name])}"
            for name in (few, all_sets)
        )
        cases.append(Case(metric, quicker if same else False, words))
    return cases


def without_links_wrong(tables: Tables) -> list[Case]:
    table = tables[TWO_CLASS]
    rows = {metric: table[f"points shown: ECM, {metric}"]["Rand index"] for metric in ("Euclidean", "adaptive metric")}
    return [Case(metric, (cell.ours or 0.0) < RIGHT, f"Rand index {value_text(cell)}") for metric, cell in rows.items()]


def ten_links_right(tables: Tables) -> list[Case]:
    cell = tables[TWO_CLASS][f"points shown: CECM, adaptive metric, {N_LINKS} links"]["Rand index"]
    return [Case("points shown", (cell.ours or 0.0) >= RIGHT, f"Rand index {value_text(cell)}")]


def lesions_isolated(tables: Tables) -> list[Case]:
    """Less doubt than ECM has, and most of the lesions found."""
    table = tables[BRAIN]
    before = table["ECM"]["share of pixels on Ω"]
    cases = []
    for method in map(brain.name_of, brain.RADII):
        after, dice = table[method]["share of pixels on Ω"], table[method]["Dice"]
        holds = (after.ours or 0.0) < (before.ours or 0.0) and (dice.ours or 0.0) >= ISOLATED
        words = f"on Ω {value_text(after)}, ECM {value_text(before)}; Dice {value_text(dice)}"
        cases.append(Case(method, holds, words))
    return cases


def against_cfcm(tables: Tables, name: str) -> list[Case]:
    """Seconds or iterations of both methods by data set and metric."""
    return [
        best(
            f"{data}, {metric}",
            {f"CECM-{metric}": row[f"CECM-{metric}"]},
            {f"CFCM-{metric}": row[f"CFCM-{metric}"]},
            lowest=True,
        )
        for data, row in tables[name].items()
        for metric in ("Mah", "Eucl")
    ]


CLAIMS = [
    Claim(
        "Figures 3 and 4",
        "Without links neither metric finds the two classes.",
        (TWO_CLASS,),
        without_links_wrong,
    ),
    Claim("Figure 5", "With ten links CECM finds the two classes.", (TWO_CLASS,), ten_links_right),
    Claim(
        "Figures 11 to 14",
        "The best results are those of CECM and CFCM.",
        (CURVES,),
        best_results,
    ),
    Claim("Figures 11 to 14", "With few links CECM always yields the best results.", (CURVES,), few_links),
    Claim("Figures 11 to 14", "With many links CFCM is better on Iris and Letters.", (CURVES,), many_links),
    Claim("Figures 11 to 14", "On Glass CECM outperforms CFCM with any number of links.", (CURVES,), always_on_glass),
    Claim("Figure 12", "On Wine the Euclidean metric is the most suitable.", (CURVES,), euclidean_on_wine),
    Claim("Figure 12", "On Wine CECM and CFCM provide similar results.", (CURVES,), similar_on_wine),
    Claim(
        "Figures 7 to 10",
        "Active questions converge faster than random links.",
        (ACTIVE,),
        partial(active_against_random, counts=(50, 100), names=tuple(ASKED), active_first=True),
    ),
    Claim(
        "Figures 9 and 10",
        "With few links random ones are before active questions on Letters and Wine.",
        (ACTIVE,),
        partial(active_against_random, counts=SMALL, names=("Letters", "Wine"), active_first=False),
    ),
    Claim("Figure 7", "Iris: the optimum with 40 active links, not with 200 random ones.", (ACTIVE,), optimum),
    Claim("Figure 6", "Objects without links are clustered better, too.", ("cecm.figure6",), guided),
    Claim(
        "Tables 5 and 6",
        "The number of links matters, the weight ξ little.",
        ("cecm.table5", "cecm.table6"),
        weight_matters_little,
    ),
    Claim(
        "Figures 16 and 18",
        "Links remove the doubt about pixels on Ω and isolate the lesions (here: of drawn slices, with a Dice index of "
        f"{ISOLATED:g} or more).",
        (BRAIN,),
        lesions_isolated,
    ),
    Claim(
        "Table 7",
        "CECM is often faster than CFCM (here: in five of eight cases, as in the paper's table).",
        ("cecm.table7",),
        partial(against_cfcm, name="cecm.table7"),
        needed=OFTEN,
    ),
    Claim(
        "Table 8",
        "CECM takes fewer iterations than CFCM.",
        ("cecm.table8",),
        partial(against_cfcm, name="cecm.table8"),
    ),
    Claim(
        "Table 9",
        "Pairs of clusters instead of all sets save time at the same Rand index.",
        ("cecm.table9",),
        pairs_are_cheaper,
    ),
]
