"""What the EGMM paper says of its method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from reproduction.claims import Case, Claim, NotComputed, Numbers, Table, Tables, best, value_text
from reproduction.egmm import paper, ranks
from reproduction.egmm.clustering import OWN
from reproduction.egmm.methods import FILES, MOST_LIKELY
from reproduction.exhibit import Cell

EVIDENTIAL = ("ECM", "BPEC", "bootGMM")
IMAGES = {"T1": "egmm.figure9", "T2": "egmm.figure10"}
UNKNOWN = {"NMI": "egmm.table7", "ARI": "egmm.table8"}
KNOWN = {"Purity": "egmm.table10", "NMI": "egmm.table11", "ARI": "egmm.table12"}
SCORES = {name: score for score, name in (*UNKNOWN.items(), *KNOWN.items())}
OTHERS = ("HCM", "FCM", "GMM", "CGMM")  # not evidential
TRUE_NUMBERS = {"egmm.table2": ("Diamond", 2), "egmm.table3": ("Two-class", 2), "egmm.table4": ("Four-class", 4)}


HIGH = 0.9  # a probability or a mass
RECOVERED = 0.05  # ARI below that of the true distributions
MANY = 0.01  # of the pixels
GENERALLY = 12  # of 16 cases


def right_numbers(tables: Tables) -> list[Case]:
    """Whether EBIC is highest at the true number; open when that is a matter of less than two standard errors."""
    cases = []
    for name, (data, truth) in TRUE_NUMBERS.items():
        gains: dict[str, Cell] = {"C = 2": Cell("", "", 0.0), **tables[name]["less that of C = 2"]}
        own = {f"C = {truth}": gains.pop(f"C = {truth}")}
        found = best(data, own, gains)
        cases.append(found._replace(words=f"less that of C = 2: {found.words}"))
    return cases


def nearest_numbers(tables: Tables) -> list[Case]:
    """On each set, whether no rival's mean number of clusters is nearer to the truth; bootGMM failed on Magic there."""
    cases = []
    for data, row in tables["egmm.table6"].items():
        truth = paper.TABLE_5[data]["clusters"].mean or 0.0
        methods = {name: cell.ours for name, cell in row.items() if cell.ours is not None and name != MOST_LIKELY}
        nearness = Numbers({name: -abs(ours - truth) for name, ours in methods.items()})
        rival = nearness.largest(name for name in nearness if name != OWN)
        words = f"{OWN} {value_text(row[OWN])}, {rival} {value_text(row[rival])}, truth {truth:g}"
        cases.append(Case(data, nearness[OWN] >= nearness[rival], words))
    return cases


def first_on_average(tables: Tables, names: Mapping[str, str]) -> list[Case]:
    return [best(score, *halves(tables[name], "Average rank"), lowest=True) for score, name in names.items()]


def halves(table: Table, row: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The paper's method and its rivals."""
    cells = {name: cell for name, cell in table[row].items() if name != MOST_LIKELY}
    return {OWN: cells.pop(OWN)}, cells


def highest_on_most(tables: Tables, names: Mapping[str, str]) -> list[Case]:
    """By score, whether EGMM is first on more than half of the sets; scores count to two decimals, as printed."""
    cases = []
    for score, name in names.items():
        first = []
        for data in FILES:
            row = {method: cell.ours for method, cell in tables[name][data].items() if method != MOST_LIKELY}
            scores = Numbers({method: round(ours, 2) for method, ours in row.items() if ours is not None})
            if scores[OWN] == scores[scores.largest(scores)]:
                first.append(data)
        words = f"first on {len(first)} of {len(FILES)}" + (f" ({', '.join(first)})" if first else "")
        cases.append(Case(score, 2 * len(first) > len(FILES), words))
    return cases


def differ(tables: Tables, name: str) -> list[Case]:
    """Friedman's statistic against its critical value."""
    return [
        Case(
            score,
            (row["statistic"].ours or 0.0) > (row["critical value"].ours or 0.0),
            f"{value_text(row['statistic'])}, critical value {value_text(row['critical value'])}",
        )
        for score, row in tables[name].items()
    ]


def behind(tables: Tables, rivals: Mapping[str, Sequence[str]]) -> list[Case]:
    """Whether average ranks differ from that of EGMM by more than Bonferroni and Dunn's critical difference."""
    cases = []
    for name, methods in rivals.items():
        own, others = halves(tables[name], "Average rank")
        limit = ranks.critical_difference(1 + len(others), len(FILES))
        for method in methods:
            away = (others[method].ours or 0.0) - (own[OWN].ours or 0.0)
            cases.append(Case(f"{SCORES[name]}, {method}", away > limit, f"{away:.2f} behind, needed {limit:.2f}"))
    return cases


def mean_seconds(tables: Tables, method: str) -> float:
    """Geometric mean over the data sets."""
    cells = [tables["egmm.table14"][f"{data}, s"][method] for data in FILES]
    seconds = [cell.ours for cell in cells if cell.ours is not None]
    if not seconds:
        raise NotComputed(method)
    return float(np.exp(np.mean(np.log(seconds))))


def evidential_cost(tables: Tables) -> list[Case]:
    """Each evidential method against each of the others."""
    means = {method: mean_seconds(tables, method) for method in (*EVIDENTIAL, OWN, *OTHERS)}
    return [
        Case(f"{method}, {other}", means[method] > means[other], f"{means[method]:.3g} s, {means[other]:.3g} s")
        for method in (*EVIDENTIAL, OWN)
        for other in OTHERS
    ]


def quicker_than_bootgmm(tables: Tables) -> list[Case]:
    cases = []
    for data in FILES:
        row = tables["egmm.table14"][f"{data}, s"]
        cases.append(best(data, {OWN: row[OWN]}, {"bootGMM": row["bootGMM"]}, lowest=True))
    return cases


def object_between(tables: Tables) -> list[Case]:
    fuzzy, own = tables["egmm.figure2"]["object 6"], tables["egmm.figure3"]["object 6"]
    top = max(cell.ours or 0.0 for cell in fuzzy.values())
    both = own["{0,1}"]
    return [
        Case("GMM", top > HIGH, f"probability {top:.3g} of one cluster"),
        Case(OWN, (both.ours or 0.0) > HIGH, f"mass {value_text(both)} on both"),
    ]


def centers_found(tables: Tables) -> list[Case]:
    away = {
        name: tables[place]["centers"]["largest distance from the middle of a rhomb"]
        for name, place in (("GMM", "egmm.figure2"), (OWN, "egmm.figure3"))
    }
    return [best("farther center", {OWN: away[OWN]}, {"GMM": away["GMM"]}, lowest=True)]


def classes_recovered(tables: Tables, name: str, methods: Mapping[str, bool]) -> list[Case]:
    """Whether a method comes near the ARI of the true distributions, or does not, as the paper says."""
    table = tables[name]
    most = table["true distributions"]["ARI"].ours or 0.0
    return [
        Case(
            method,
            ((table[method]["ARI"].ours or 0.0) >= most - RECOVERED) == expected,
            f"ARI {value_text(table[method]['ARI'])}, true distributions {most:.3g}",
        )
        for method, expected in methods.items()
    ]


def two_by_ebic(tables: Tables) -> list[Case]:
    found = {name: tables[place][name]["clusters by EBIC"] for name, place in IMAGES.items()}
    return [Case(name, cell.ours == 2, value_text(cell)) for name, cell in found.items()]


def many_ambiguous(tables: Tables) -> list[Case]:
    share = tables["egmm.figure10"]["T2"]["on several clusters"].ours or 0.0
    return [Case("T2", share > MANY, f"{share:.2%} of the pixels")]


def quickest(tables: Tables) -> list[Case]:
    cases = []
    for data in FILES:
        row = tables["egmm.table14"][f"{data}, s"]
        cases.append(best(data, {OWN: row[OWN]}, {name: row[name] for name in EVIDENTIAL}, lowest=True))
    return cases


def less_doubt(tables: Tables) -> list[Case]:
    places = {**IMAGES, "fused": "egmm.figure11"}
    shares = {name: tables[place][name]["on several clusters"].ours or 0.0 for name, place in places.items()}
    return [
        Case(
            name,
            shares["fused"] < shares[name],
            f"{shares['fused']:.2%} of the pixels after, {shares[name]:.2%} before",
        )
        for name in IMAGES
    ]


def best_on_images(tables: Tables) -> list[Case]:
    table = tables["egmm.table15"]
    return [
        best(score, {OWN: table[OWN][score]}, {name: table[name][score] for name in table if name != OWN})
        for score in ("Purity", "NMI", "ARI")
    ]


def sees_doubt(tables: Tables) -> list[Case]:
    table = {name: tables["egmm.figure4"][name]["on several clusters"].ours or 0.0 for name in ("EGMM", "bootGMM")}
    words = f"EGMM {100 * table['EGMM']:.1f} % of the objects, bootGMM {100 * table['bootGMM']:.1f} %"
    return [Case("Two-class", table["EGMM"] > table["bootGMM"], words)]


CLAIMS = [
    Claim(
        "Figures 2 and 3",
        "Object 6 of the Diamond has a high probability of one cluster by GMM, and a high mass on both by EGMM (here: "
        f"above {HIGH:g}).",
        ("egmm.figure2", "egmm.figure3"),
        object_between,
    ),
    Claim(
        "Figures 2 and 3",
        "EGMM finds the centers of the Diamond better than GMM.",
        ("egmm.figure2", "egmm.figure3"),
        centers_found,
    ),
    Claim("Tables 2 to 4", "EBIC is highest at the right number of clusters.", tuple(TRUE_NUMBERS), right_numbers),
    Claim(
        "Figure 4",
        f"EGMM and bootGMM recover the two classes (here: ARI within {RECOVERED:g} of that of the true distributions), "
        "ECM does not.",
        ("egmm.figure4",),
        partial(classes_recovered, name="egmm.figure4", methods={"EGMM": True, "bootGMM": True, "ECM": False}),
    ),
    Claim(
        "Figure 4",
        "bootGMM fails to see objects between the clusters that EGMM sees.",
        ("egmm.figure4",),
        sees_doubt,
    ),
    Claim(
        "Figure 5",
        "EGMM recovers the four classes (here as in Figure 4).",
        ("egmm.figure5",),
        partial(classes_recovered, name="egmm.figure5", methods={"EGMM": True}),
    ),
    Claim(
        "Table 6",
        "EGMM estimates the number of clusters best on five of eight sets.",
        ("egmm.table6",),
        nearest_numbers,
        needed=5,
    ),
    Claim(
        "Tables 7 and 8",
        "EGMM has the highest NMI and ARI on most of the data sets, the number of clusters unknown.",
        tuple(UNKNOWN.values()),
        partial(highest_on_most, names=UNKNOWN),
    ),
    Claim(
        "Tables 7 and 8",
        "EGMM ranks first on average, the number of clusters unknown.",
        tuple(UNKNOWN.values()),
        partial(first_on_average, names=UNKNOWN),
    ),
    Claim(
        "Table 9",
        "The methods differ significantly, the number of clusters unknown (Friedman's test).",
        ("egmm.table9",),
        partial(differ, name="egmm.table9"),
    ),
    Claim(
        "Figure 6",
        "EGMM is significantly better than FCM, ECM and BPEC in NMI and ARI (Bonferroni and Dunn's test).",
        tuple(UNKNOWN.values()),
        partial(behind, rivals=dict.fromkeys(UNKNOWN.values(), ("FCM", "ECM", "BPEC"))),
    ),
    Claim(
        "Tables 10 to 12",
        "EGMM has the highest purity, NMI and ARI on most of the data sets, the number of clusters known.",
        tuple(KNOWN.values()),
        partial(highest_on_most, names=KNOWN),
    ),
    Claim(
        "Tables 10 to 12",
        "EGMM ranks first on average, the number of clusters known.",
        tuple(KNOWN.values()),
        partial(first_on_average, names=KNOWN),
    ),
    Claim(
        "Table 13",
        "The methods differ significantly, the number of clusters known (Friedman's test).",
        ("egmm.table13",),
        partial(differ, name="egmm.table13"),
    ),
    Claim(
        "Figure 7",
        "EGMM is significantly better than HCM, FCM, ECM and BPEC in purity and NMI, and than CGMM in ARI (Bonferroni "
        "and Dunn's test).",
        tuple(KNOWN.values()),
        partial(
            behind,
            rivals={
                "egmm.table10": ("HCM", "FCM", "ECM", "BPEC"),
                "egmm.table11": ("HCM", "FCM", "ECM", "BPEC"),
                "egmm.table12": ("CGMM",),
            },
        ),
    ),
    Claim(
        "Table 14",
        "Evidential methods generally take more time than the others (here: in three quarters of the pairs, by "
        "geometric means over the data sets).",
        ("egmm.table14",),
        evidential_cost,
        needed=GENERALLY,
    ),
    Claim("Table 14", "EGMM is the fastest of the four evidential methods.", ("egmm.table14",), quickest),
    Claim("Table 14", "EGMM is faster than bootGMM.", ("egmm.table14",), quicker_than_bootgmm),
    Claim(
        "Figures 9 and 10",
        "EBIC is highest at two clusters for both images (here of a drawn phantom).",
        tuple(IMAGES.values()),
        two_by_ebic,
    ),
    Claim(
        "Figure 10",
        f"Many pixels of T2 are ambiguous (here: more than {MANY:.0%} of those of a drawn phantom).",
        ("egmm.figure10",),
        many_ambiguous,
    ),
    Claim(
        "Figures 9 to 11",
        "Fusion greatly reduces the pixels in doubt (here of a drawn phantom).",
        (*IMAGES.values(), "egmm.figure11"),
        less_doubt,
    ),
    Claim(
        "Table 15",
        "EGMM is best on the brain images (here of a drawn phantom).",
        ("egmm.table15",),
        best_on_images,
    ),
]
