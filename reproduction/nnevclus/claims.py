"""What the NN-EVCLUS paper says of its method."""

from __future__ import annotations

from functools import partial

from reproduction.claims import Case, Claim, Tables, best, value_text
from reproduction.exhibit import Cell
from reproduction.nnevclus.attributes import METHODS, OWN, TABLE_3
from reproduction.nnevclus.links import FEATURES, LINKS
from reproduction.nnevclus.links import METHODS as LINKED

FIGURES, CURVES = "nnevclus.figure23-25", "nnevclus.figure27-28"
GENERALLY = 18  # of 24 cases
NEAR = 0.95  # of the best, as the paper underlines
EXCEPT = ("Iris", "Segment")


def not_dominated(tables: Tables, suffix: str) -> list[Case]:
    """Whether no other method but Bootclus is more consistent with less nonspecificity than one of the paper's own."""
    cases = []
    for data in TABLE_3:
        rows = {method: tables[FIGURES].get(f"{data}, {method}", {}) for method in METHODS if method != "Bootclus"}
        points = {
            method: (cells[f"consistency{suffix}"].ours, cells[f"nonspecificity{suffix}"].ours)
            for method, cells in rows.items()
            if cells
        }
        known = {method: (c, n) for method, (c, n) in points.items() if c is not None and n is not None}
        for own in OWN:
            if own in known:
                consistency, doubt = known[own]
                above = [m for m, (c, n) in known.items() if m not in OWN and c > consistency and n < doubt]
                words = f", dominated by {', '.join(above)}" if above else ""
                cases.append(Case(f"{data}, {own}", not above, f"{consistency:.2f} at {doubt:.2f}{words}"))
    return cases


def near_the_best(tables: Tables) -> list[Case]:
    """The better of the two networks has 95 % of the highest ARI, on all sets but two."""
    cases = []
    for data, row in tables["nnevclus.table3"].items():
        scores = {method: cell.ours for method, cell in row.items() if cell.ours is not None}
        if data in EXCEPT or not scores:
            continue
        own = max((method for method in scores if method in OWN), key=scores.__getitem__)
        top = max(scores, key=scores.__getitem__)
        near = scores[own] >= NEAR * scores[top]
        cases.append(Case(data, near, f"{own} {scores[own]:.2f}, highest {top} {scores[top]:.2f}"))
    return cases


def above_relational(tables: Tables) -> list[Case]:
    row = dict(tables["nnevclus.table6"]["Protein"])
    others = {method: row[method] for method in ("RECM", "sECMdd", "wECMdd")}
    return [best(method, {method: row[method]}, others) for method in ("EVCLUS", "NN-EVCLUS")]


def linked(tables: Tables, data: str, count: int) -> dict[str, Cell]:
    return dict(tables[CURVES][f"{data}, {count} links"])


def best_with_links(tables: Tables, suffix: str, sets: tuple[str, ...]) -> list[Case]:
    cases = []
    for data in sets:
        for count in LINKS:
            row = linked(tables, data, count)
            others = {f"{name}{suffix}": row[f"{name}{suffix}"] for name in ("CEVCLUS", "CECM")}
            own = f"NN-EVCLUS{suffix}"
            cases.append(best(f"{data}, {count} links", {own: row[own]}, others))
    return cases


def pcca_helps(tables: Tables) -> list[Case]:
    cases = []
    for data in FEATURES:
        for name in LINKED[:3]:
            means = [
                sum(linked(tables, data, count)[f"{name}{suffix}"].ours or 0.0 for count in LINKS) / len(LINKS)
                for suffix in ("", " + PCCA")
            ]
            cases.append(Case(f"{data}, {name}", means[1] > means[0], f"{means[0]:.3f} without, {means[1]:.3f} with"))
    return cases


def separated(tables: Tables) -> list[Case]:
    places = {"links": "nnevclus.figure19", "labels": "nnevclus.figure21"}
    cells = {name: tables[place]["mean of draws"]["ARI"] for name, place in places.items()}
    return [Case(name, (cell.ours or 0) >= 0.99, f"mean ARI {value_text(cell)}") for name, cell in cells.items()]


CLAIMS = [
    Claim(
        "Figures 23 to 25",
        "NN-EVCLUS and NN-EVCLUS-bp are generally (here: in three quarters of the cases) not dominated by any other "
        "method but Bootclus. Partitions as they are:",
        (FIGURES,),
        partial(not_dominated, suffix=""),
        needed=GENERALLY,
    ),
    Claim(
        "Figures 23 to 25",
        "The same, partitions normalized by Dempster's rule:",
        (FIGURES,),
        partial(not_dominated, suffix=", normalized"),
        needed=GENERALLY,
    ),
    Claim(
        "Table 3",
        "NN-EVCLUS is best or within 5 % of the best on all sets but Iris and Segment.",
        ("nnevclus.table3",),
        near_the_best,
    ),
    Claim(
        "Table 6",
        "EVCLUS and NN-EVCLUS outperform the others (here on Protein).",
        ("nnevclus.table6",),
        above_relational,
    ),
    Claim(
        "Figures 27 and 28",
        "Without PCCA NN-EVCLUS outperforms CEVCLUS and CECM.",
        (CURVES,),
        partial(best_with_links, suffix="", sets=tuple(FEATURES)),
    ),
    Claim(
        "Figure 27",
        "With PCCA it is still strictly better on Glass.",
        (CURVES,),
        partial(best_with_links, suffix=" + PCCA", sets=("Glass",)),
    ),
    Claim("Figures 27 and 28", "PCCA improves all three methods.", (CURVES,), pcca_helps),
    Claim(
        "Figures 19 and 21",
        "With 50 links or labels the ring and the cluster in it are perfectly separated.",
        ("nnevclus.figure19", "nnevclus.figure21"),
        separated,
    ),
]
