"""What the CECM paper says of its method."""

from __future__ import annotations

from functools import partial

from reproduction.cecm import numbers
from reproduction.cecm.curves import ASKED
from reproduction.cecm.tables import METRIC_NAMES
from reproduction.cecm.trials import METHODS, SETS
from reproduction.claims import Case, Claim, Tables, above, best, value_text
from reproduction.exhibit import Cell

CURVES, ACTIVE, SMALL = "cecm.figure11-14", "cecm.figure7-10", (10, 20)


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


def joined(name: str, parts: list[Case]) -> Case:
    """One case of several that must all hold."""
    holds = False if any(part.holds is False for part in parts) else True if all(part.holds for part in parts) else None
    return Case(name, holds, ", ".join(f"{part.name} {part.words}" for part in parts))


def many_links(tables: Tables) -> list[Case]:
    cases = []
    for name in ("Iris", "Letters"):
        cells = at_count(tables, name, 200)
        cases.append(best(name, {"CFCM-Mah": cells["CFCM-Mah"]}, {"CECM-Mah": cells["CECM-Mah"]}))
    return cases


def always_on_glass(tables: Tables) -> list[Case]:
    counts = (10, 20, 50, 100, 200)
    cells = {count: at_count(tables, "Glass", count) for count in counts}
    own, others = "CECM-Mah", ("CFCM-Mah", "CFCM-Eucl")
    return [best(f"{n} links", {own: cells[n][own]}, {other: cells[n][other] for other in others}) for n in counts]


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


CLAIMS = [
    Claim("Figures 11 to 14", "With few links CECM always yields the best results.", (CURVES,), few_links),
    Claim("Figures 11 to 14", "With many links CFCM is better on Iris and Letters.", (CURVES,), many_links),
    Claim("Figures 11 to 14", "On Glass CECM outperforms CFCM with any number of links.", (CURVES,), always_on_glass),
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
        "Table 9",
        "Pairs of clusters instead of all sets save time at the same Rand index.",
        ("cecm.table9",),
        pairs_are_cheaper,
    ),
]
