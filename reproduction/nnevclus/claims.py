"""What the NN-EVCLUS paper says of its method."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from reproduction.claims import Case, Claim, NotComputed, Numbers, Tables, alike, best, value_text
from reproduction.exhibit import Cell
from reproduction.nnevclus.attributes import METHODS, OWN, TABLE_3
from reproduction.nnevclus.fourclass import PAPER_LOSS, PENALTIES, UNITS
from reproduction.nnevclus.links import FEATURES, LINKS
from reproduction.nnevclus.links import METHODS as LINKED

FIGURES, CURVES, SCORES = "nnevclus.figure23-25", "nnevclus.figure27-28", "nnevclus.table3"
SHOWN = ", normalized"  # the partitions that Figures 23 to 25 show
GENERALLY = 18  # of 24 cases
NEAR = 0.95  # of the best, as the paper underlines
SIMILAR = 0.02
FLAT = 0.01  # of a loss
PLATEAU, BEST_PENALTY = 45, 1e-5  # Figure 14
EXCEPT = ("Iris", "Segment")
ARTIFICIAL = ("S2", "S4", "D31")
REAL = tuple(data for data in TABLE_3 if data not in ARTIFICIAL)
PROTOTYPES = ("ECM", "ECM-bp", "CCM", "CCM-bp", "BPEC")
MEDOIDS = ("sECMdd", "wECMdd")
MAJORITY = 8  # of 14 tables
MOST_REAL = 6  # of 11 tables

Point = tuple[float, float]  # consistency and nonspecificity


def points_of(tables: Tables, data: str, suffix: str = SHOWN) -> Numbers[Point]:
    """Where the methods are in a figure."""
    found = Numbers[Point]()
    for method in METHODS:
        cells = tables[FIGURES].get(f"{data}, {method}", {})
        values = [cells[f"{name}{suffix}"].ours for name in ("consistency", "nonspecificity")] if cells else []
        if len(values) == 2 and values[0] is not None and values[1] is not None:
            found[method] = (values[0], values[1])
    return found


def dominates(first: Point, second: Point) -> bool:
    """Whether a partition is more consistent than another one, and less nonspecific."""
    return first[0] > second[0] and first[1] < second[1]


def not_dominated(tables: Tables) -> list[Case]:
    """Whether no other method but Bootclus dominates one of the paper's own."""
    cases = []
    for data in TABLE_3:
        known = points_of(tables, data)
        for own in OWN:
            if own in known:
                above = [m for m in known if m not in (*OWN, "Bootclus") and dominates(known[m], known[own])]
                words = f", dominated by {', '.join(above)}" if above else ""
                consistency, doubt = known[own]
                cases.append(Case(f"{data}, {own}", not above, f"{consistency:.2f} at {doubt:.2f}{words}"))
    return cases


def on_heart(tables: Tables, suffix: str = SHOWN) -> list[Case]:
    """The ten statements of the paper's text on Figure 23d."""
    known = points_of(tables, "Heart", suffix)

    def words(*methods: str) -> str:
        return ", ".join(f"{method} {known[method][0]:.2f} at {known[method][1]:.2f}" for method in methods)

    pairs = [(first, second) for first in ("Bootclus", "EVCLUS") for second in MEDOIDS] + [("NN-EVCLUS-bp", "CCM")]
    cases = [
        Case(f"{first} dominates {second}", dominates(known[first], known[second]), words(first, second))
        for first, second in pairs
    ]
    for method in ("Bootclus", "EVCLUS", *OWN, "CCM-bp"):
        above = [other for other in known if dominates(known[other], known[method])]
        cases.append(Case(f"{method} is not dominated", not above, words(method, *above)))
    return cases


def letters_dominated(tables: Tables) -> list[Case]:
    known = points_of(tables, "Letters4p1")
    words = ", ".join(
        f"{method} {known[method][0]:.2f} at {known[method][1]:.2f}" for method in ("NN-EVCLUS", "Bootclus")
    )
    return [Case("Letters4p1", dominates(known["NN-EVCLUS"], known["Bootclus"]), words)]


def scores_of(tables: Tables, data: str) -> Numbers[float]:
    """ARI by method, of those that have one."""
    return Numbers({method: cell.ours for method, cell in tables[SCORES][data].items() if cell.ours is not None})


def group_above(
    tables: Tables, sets: tuple[str, ...], own: tuple[str, ...], others: tuple[str, ...] | None = None
) -> list[Case]:
    """On each set, whether the best of some methods is above the best of others; of all others, when none are named."""
    cases = []
    for data in sets:
        scores = scores_of(tables, data)
        rivals = tuple(method for method in scores if method not in own) if others is None else others
        if not any(method in scores for method in rivals):
            continue
        first, second = scores.largest(own), scores.largest(rivals)
        words = f"{first} {scores[first]:.3f}, {second} {scores[second]:.3f}"
        cases.append(Case(data, scores[first] > scores[second], words))
    return cases


def second_best(tables: Tables) -> list[Case]:
    """Whether only Bootclus is above the better of the two networks."""
    cases = []
    for data in EXCEPT:
        scores = scores_of(tables, data)
        own = scores.largest(OWN)
        above = [method for method, score in scores.items() if method not in OWN and score > scores[own]]
        cases.append(
            Case(data, above == ["Bootclus"], f"{own} {scores[own]:.3f}, above it {', '.join(above) or 'none'}")
        )
    return cases


def peaks_help(tables: Tables, sets: tuple[str, ...]) -> list[Case]:
    cases = []
    for data in sets:
        scores = scores_of(tables, data)
        if set(OWN) <= set(scores):
            plain, peaks = (scores[method] for method in OWN)
            cases.append(Case(data, peaks > plain, f"{peaks:.3f}, without {plain:.3f}"))
    return cases


def near_the_top(tables: Tables) -> list[Case]:
    """Whether the best method with prototypes has 95 % of the highest ARI."""
    cases = []
    for data in ARTIFICIAL:
        scores = scores_of(tables, data)
        own, top = scores.largest(PROTOTYPES), scores.largest(METHODS)
        words = f"{own} {scores[own]:.3f}, highest {top} {scores[top]:.3f}"
        cases.append(Case(data, scores[own] >= NEAR * scores[top], words))
    return cases


def as_good_as_evclus(tables: Tables) -> list[Case]:
    cases = []
    for data in REAL:
        scores = scores_of(tables, data)
        holds = scores["NN-EVCLUS"] >= scores["EVCLUS"] - SIMILAR
        cases.append(Case(data, holds, f"{scores['NN-EVCLUS']:.3f}, EVCLUS {scores['EVCLUS']:.3f}"))
    return cases


def slower(tables: Tables) -> list[Case]:
    return [
        best(f"{data}, {other}", {"NN-EVCLUS": row["NN-EVCLUS"]}, {other: row[other]})
        for data, row in tables["nnevclus.table4"].items()
        for other in ("EVCLUS", "ECM")
    ]


def peaks_found(tables: Tables) -> list[Case]:
    cell = tables["nnevclus.figure7"]["belief peaks"]["centers before the widest gap"]
    return [Case("fourclass", cell.ours == 4, value_text(cell))]


def similar_loss(tables: Tables) -> list[Case]:
    """Whether the network's loss is above that of EVCLUS by no more than in the paper."""
    own = tables["nnevclus.figure9"]["NN-EVCLUS"]["loss, thousandths"].ours or 0.0
    floor = tables["nnevclus.figure2-3"]["EVCLUS"]["loss, thousandths"].ours or 1.0
    most = PAPER_LOSS["NN-EVCLUS"] / PAPER_LOSS["EVCLUS"]
    return [Case("fourclass", own / floor <= most, f"{own / floor - 1:.0%} above, in the paper {most - 1:.0%}")]


def predicted(tables: Tables) -> list[Case]:
    row = tables["nnevclus.figure10-11"]["NN-EVCLUS"]
    fitted, new = row["ARI"], row["ARI, 1,000 new"]
    far = row["far objects among them"].ours or 0.0
    return [
        Case(
            "clusters",
            (new.ours or 0.0) >= (fitted.ours or 0.0) - SIMILAR,
            f"{value_text(new)}, fitted {value_text(fitted)}",
        ),
        Case("outliers", far == 1, f"{far:.0%} of the far objects"),
    ]


def sizes(tables: Tables) -> list[Case]:
    """The two curves of Figure 14a and the two of Figure 14b; a change by one per cent is none."""
    table = tables["nnevclus.figure14"]
    train, new = "training loss, thousandths", "of 1,000 new"

    def losses(rows: list[str], column: str) -> list[float]:
        found = [table[row][column].ours for row in rows]
        if None in found:
            raise NotComputed
        return [value for value in found if value is not None]

    units = [f"{hidden} hidden units" for hidden in UNITS[False]]
    penalties = [f"l2 = {l2:g}" for l2 in PENALTIES[False]]
    falling, rising = losses(units, train), losses(penalties, train)
    plateau = losses(units, new)
    before, level = plateau[: UNITS[False].index(PLATEAU)], plateau[UNITS[False].index(PLATEAU)]
    by_penalty = dict(zip(PENALTIES[False], losses(penalties, new)))
    lowest = min(by_penalty, key=by_penalty.__getitem__)
    return [
        Case(
            "training loss falls with the units",
            all(later <= (1 + FLAT) * earlier for earlier, later in pairwise(falling)),
            f"{falling[0]:.3g} to {falling[-1]:.3g}",
        ),
        Case(
            f"loss of new objects is flat from {PLATEAU} units on and higher before",
            min(before) > (1 + FLAT) * level and abs(plateau[-1] / level - 1) <= FLAT,
            f"{min(before):.4g} or more before, then {level:.4g} and {plateau[-1]:.4g}",
        ),
        Case(
            "training loss rises with the penalty",
            all(later >= (1 - FLAT) * earlier for earlier, later in pairwise(rising)) and rising[-1] > rising[0],
            f"{rising[0]:.3g} to {rising[-1]:.3g}",
        ),
        Case(f"loss of new objects is lowest at {BEST_PENALTY:g}", lowest == BEST_PENALTY, f"lowest at {lowest:g}"),
    ]


def predicts_alike(tables: Tables) -> list[Case]:
    ((name, row),) = tables["nnevclus.prediction"].items()
    return [alike(name, *((part, row[f"{part} ARI"]) for part in ("train", "test")), tolerance=SIMILAR)]


def slowest_with_links(tables: Tables) -> list[Case]:
    cases = []
    for data in FEATURES:
        for suffix in ("", " + PCCA"):
            row = {f"{name}{suffix}": tables["nnevclus.table8"][data][f"{name}{suffix}"] for name in LINKED[:3]}
            own = f"NN-EVCLUS{suffix}"
            cases.append(best(f"{data}{suffix}", {own: row.pop(own)}, row))
    return cases


def pcca_saves_time(tables: Tables) -> list[Case]:
    names = ("NN-EVCLUS + PCCA", "NN-EVCLUS")
    cells = {data: [tables["nnevclus.table8"][data][name] for name in names] for data in FEATURES}
    return [best(data, {names[0]: own}, {names[1]: plain}, lowest=True) for data, (own, plain) in cells.items()]


def like_cevclus(tables: Tables) -> list[Case]:
    names = ("NN-EVCLUS + PCCA", "CEVCLUS + PCCA")
    return [
        alike(f"{count} links", *((name, linked(tables, "Iris", count)[name]) for name in names), tolerance=SIMILAR)
        for count in LINKS
    ]


def combination_best(tables: Tables) -> list[Case]:
    own = "NN-EVCLUS + PCCA"
    cases = []
    for data in FEATURES:
        for count in LINKS:
            row = linked(tables, data, count)
            cases.append(best(f"{data}, {count} links", {own: row.pop(own)}, row))
    return cases


def near_the_best(tables: Tables) -> list[Case]:
    """The better of the two networks has 95 % of the highest ARI, on all sets but two."""
    cases = []
    for data in tables[SCORES]:
        scores = scores_of(tables, data)
        if data in EXCEPT or not scores:
            continue
        own = scores.largest(OWN)
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
        "Figure 7",
        "The four centers are clearly visible in the graph of δ and Bel.",
        ("nnevclus.figure7",),
        peaks_found,
    ),
    Claim(
        "Figure 9",
        "The network's loss is similar to that of EVCLUS (here: above it by no more than the paper's numbers are).",
        ("nnevclus.figure9", "nnevclus.figure2-3"),
        similar_loss,
    ),
    Claim(
        "Figure 11",
        "Clusters and outliers are correctly identified among new objects (here: with an ARI no lower than that of the "
        f"fitted ones by more than {SIMILAR:g}, and all far objects).",
        ("nnevclus.figure10-11",),
        predicted,
    ),
    Claim(
        "Figure 14",
        f"The training loss falls with the hidden units and the loss of new objects is flat from {PLATEAU} of them "
        f"on; the training loss rises with the penalty and the loss of new objects is lowest at {BEST_PENALTY:g}.",
        ("nnevclus.figure14",),
        sizes,
    ),
    Claim(
        "Figures 23 to 25",
        "NN-EVCLUS and NN-EVCLUS-bp are generally (here: in three quarters of the cases) not dominated by any other "
        "method but Bootclus.",
        (FIGURES,),
        not_dominated,
        needed=GENERALLY,
    ),
    Claim(
        "Figure 23d",
        "On Heart Bootclus and EVCLUS dominate both ECMdd, NN-EVCLUS-bp dominates CCM, and Bootclus, EVCLUS, both "
        "networks and CCM-bp are not dominated.",
        (FIGURES,),
        on_heart,
    ),
    Claim("Figure 23f", "On Letters4p1 NN-EVCLUS dominates Bootclus.", (FIGURES,), letters_dominated),
    Claim(
        "Table 3",
        "NN-EVCLUS outperforms all other methods on a majority of the data sets (here: 8 of 14, the better of both "
        "networks).",
        (SCORES,),
        partial(group_above, sets=tuple(TABLE_3), own=OWN),
        needed=MAJORITY,
    ),
    Claim(
        "Table 3",
        "NN-EVCLUS is best or within 5 % of the best on all sets but Iris and Segment.",
        ("nnevclus.table3",),
        near_the_best,
    ),
    Claim("Table 3", "On Iris and Segment NN-EVCLUS is second, after Bootclus.", (SCORES,), second_best),
    Claim(
        "Table 3",
        "The belief peaks improve NN-EVCLUS most of the time,",
        (SCORES,),
        partial(peaks_help, sets=tuple(TABLE_3)),
        needed=6,
    ),
    Claim(
        "Table 3",
        "and in particular with many clusters.",
        (SCORES,),
        partial(peaks_help, sets=ARTIFICIAL),
    ),
    Claim(
        "Table 3",
        "ECM, CCM and BPEC work well on artificial data (here: one of them is within 5 % of the best),",
        (SCORES,),
        near_the_top,
    ),
    Claim(
        "Table 3",
        "and are outperformed by EVCLUS and NN-EVCLUS on real data.",
        (SCORES,),
        partial(group_above, sets=REAL, own=("EVCLUS", *OWN), others=PROTOTYPES),
    ),
    Claim(
        "Table 3",
        "sECMdd and wECMdd are outperformed on all data sets (here: by EVCLUS or NN-EVCLUS).",
        (SCORES,),
        partial(group_above, sets=REAL, own=("EVCLUS", *OWN), others=MEDOIDS),
    ),
    Claim(
        "Table 3",
        "NN-EVCLUS from random weights is as good as EVCLUS or better on most data sets, except with many clusters "
        f"(here: on six of the eleven others, to {SIMILAR:g}).",
        (SCORES,),
        as_good_as_evclus,
        needed=MOST_REAL,
    ),
    Claim("Table 4", "NN-EVCLUS takes more time than EVCLUS and ECM.", ("nnevclus.table4",), slower),
    Claim(
        "Section 4.2",
        "The ARI of new objects is like that of the training objects (here of Protein).",
        ("nnevclus.prediction",),
        predicts_alike,
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
    Claim("Figure 28", "With PCCA it is similar to CEVCLUS on Iris.", (CURVES,), like_cevclus),
    Claim("Figures 27 and 28", "NN-EVCLUS with PCCA is best overall.", (CURVES,), combination_best),
    Claim("Table 8", "NN-EVCLUS has the highest computing time,", ("nnevclus.table8",), slowest_with_links),
    Claim("Table 8", "and PCCA lowers it slightly.", ("nnevclus.table8",), pcca_saves_time),
    Claim("Figures 27 and 28", "PCCA improves all three methods.", (CURVES,), pcca_helps),
    Claim(
        "Figures 19 and 21",
        "With 50 links or labels the ring and the cluster in it are perfectly separated.",
        ("nnevclus.figure19", "nnevclus.figure21"),
        separated,
    ),
]
