"""The yardstick: every method by its defaults, as a user meets it, beside what the user would have had otherwise.

Tables are as they are: nothing is scaled but where a name says so. The number of clusters is unknown, where a method
can be without it, and known. What was chosen on the *development* half of the tables is judged on the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sklearn

from reproduction.claims import Claim
from reproduction.defaults import code
from reproduction.defaults.measuring import COMMAND, KNOWN, METHODS, OWN, REFERENCE, UNKNOWN, measure
from reproduction.defaults.tables import DEVELOPMENT, DRAWS, FILES, JUDGING, LARGE, TEN, halves
from reproduction.exhibit import Cell, Exhibit, Result, Results, Unit

LIMIT = 120  # seconds of CPU, after which there is no answer
FAR_BELOW = 0.10
SAID = {UNKNOWN: "number unknown", KNOWN: "number given"}
MEASURES = {"ari": "ARI", "sure": "sure", "ari of the sure": "ARI of the sure", "contains": "set holds class"}


# -- units ------------------------------------------------------------------------------------------------------------


def version_of(method: str) -> str:
    """What the result of a method depends on, beside the table: its code, or the version of scikit-learn."""
    if method == COMMAND:
        return code.digest_of_all()
    if METHODS[method].rival:
        return f"scikit-learn {sklearn.__version__}"
    return code.digest(OWN[method.removesuffix("-scaled")].__module__)


def units(quick: bool, seed: int) -> list[Unit]:
    yardstick = code.digest("reproduction.defaults.tables") + code.digest_alone("reproduction.defaults.measuring")
    return [
        Unit(
            f"{name}{f'_{draw + 1}' if name in DRAWS else ''}/{method}/{number}",
            measure,
            {
                "name": name,
                "draw": draw,
                "method": method,
                "number": number,
                "seed": seed,
                "half": half,
                "code": [yardstick, version_of(method)],
            },
            limit=LIMIT,
        )
        for half, tables in halves().items()
        for name in tables
        if not (quick and name in LARGE)
        for draw in range(min(2, DRAWS.get(name, 1)) if quick else DRAWS.get(name, 1))
        for method, way in METHODS.items()
        for number in way.numbers
    ]


# -- tables -----------------------------------------------------------------------------------------------------------


def answers(results: Results, name: str, method: str, number: str) -> list[Result]:
    """Of every draw of a table that came to an end."""
    keys = [f"{name}_{draw + 1}" for draw in range(DRAWS[name])] if name in DRAWS else [name]
    found = (results.get(f"{key}/{method}/{number}") for key in keys)
    return [result for result in found if result is not None and "ari" in result]


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that are there."""
    there = [value for value in values if value is not None]
    return float(np.mean(there)) if there else None


def computed(results: Results) -> list[str]:
    """Tables of which there is anything, half by half."""
    return [
        name
        for tables in halves().values()
        for name in tables
        if any(answers(results, name, method, number) for method, way in METHODS.items() for number in way.numbers)
    ]


def tried(results: Results) -> list[tuple[str, str]]:
    """Methods, with the number of clusters unknown or known, of which there is anything."""
    ends = {tuple(key.split("/")[1:]) for key in results}
    return [(method, number) for number in SAID for method in METHODS if (method, number) in ends]


def by_table(results: Results, method: str, number: str, what: str) -> dict[str, float | None]:
    """A measure of each table, a mean over draws; an ARI that a failure or the time limit left out is 0."""
    found = {
        name: mean([result[what] for result in answers(results, name, method, number)]) for name in computed(results)
    }
    return {name: value or 0.0 for name, value in found.items()} if what == "ari" else found


def ari_cells(results: Results, number: str) -> list[Cell]:
    """Tables by methods, each half with its mean, and the mean of the ten."""
    methods = [method for method, known in tried(results) if known == number]
    if number == UNKNOWN and (REFERENCE, KNOWN) in tried(results):
        methods.append(REFERENCE)
    found = {
        METHODS[method].title + (", number given" if method == REFERENCE and number == UNKNOWN else ""): by_table(
            results, method, KNOWN if method == REFERENCE else number, "ari"
        )
        for method in methods
    }
    cells = []
    for half, tables in halves().items():
        there = [name for name in tables if name in computed(results)]
        cells += [Cell(name, title, values[name]) for name in there for title, values in found.items()]
        cells += mean_cells(f"mean, {half}", there, found)
    return cells + mean_cells("mean, the ten", [name for name in TEN if name in computed(results)], found)


def mean_cells(row: str, tables: Sequence[str], found: Mapping[str, Mapping[str, float | None]]) -> list[Cell]:
    return [Cell(row, title, mean([values[name] for name in tables])) for title, values in found.items() if tables]


def method_cells(results: Results, tables: Sequence[str]) -> list[Cell]:
    """Methods by what was measured, over some tables."""
    there = [name for name in tables if name in computed(results)]
    if not there:
        return []
    reference = by_table(results, REFERENCE, KNOWN, "ari")
    cells = []
    for method, number in tried(results):
        row = f"{METHODS[method].title}, {SAID[number]}"
        for what, title in MEASURES.items():
            cells.append(Cell(row, title, mean([by_table(results, method, number, what)[name] for name in there])))
        all_answers = [answers(results, name, method, number) for name in there]
        ended = [answer for found in all_answers for answer in found]
        right = mean([float(answer["clusters"] == answer["classes"]) for answer in ended])
        seconds = sorted(answer["seconds"] for answer in ended)
        ari = by_table(results, method, number, "ari")
        below = sum(ari[name] < reference[name] - FAR_BELOW for name in there)
        cells += [
            Cell(row, "right number", right if number == UNKNOWN else None),
            Cell(row, "CPU s, median", seconds[len(seconds) // 2] if seconds else None, better="lower"),
            Cell(row, "CPU s, most", seconds[-1] if seconds else None, better="lower"),
            Cell(row, "warned", mean([float(bool(answer["warnings"])) for answer in ended]), better="lower"),
            Cell(row, "without an answer", float(sum(not found for found in all_answers)), better="lower"),
            Cell(row, "far below k-means", float(below) if (REFERENCE, KNOWN) in tried(results) else None),
        ]
    return cells


def answer_cells(results: Results, method: str) -> list[Cell]:
    """Tables by what was measured of one method, the number unknown, and k-means beside it."""
    if not any(name == method for name, _ in tried(results)):
        return []
    columns = {
        "classes": "classes",
        "clusters": "clusters",
        **MEASURES,
        "seconds": "CPU s",
    }
    found = {title: by_table(results, method, UNKNOWN, what) for what, title in columns.items()}
    found["ARI, number given"] = by_table(results, method, KNOWN, "ari")
    found["k-means, number given"] = by_table(results, REFERENCE, KNOWN, "ari")
    return [Cell(name, title, values[name]) for name in computed(results) for title, values in found.items()]


# -- words ------------------------------------------------------------------------------------------------------------


def no_end(results: Results) -> list[str]:
    """Which units the time limit ended."""
    return [key for key, result in results.items() if "no end within" in result]


def ari_notes(results: Results, number: str) -> list[str]:
    late = [key.removesuffix(f"/{number}") for key in no_end(results) if key.endswith(f"/{number}")]
    return [f"No end within {LIMIT} s: {', '.join(late)}."] if late else []


def answer_notes(results: Results, method: str) -> list[str]:
    """In how many draws of the four-class example four clusters are found, and where k-means is far better."""
    drawn = answers(results, "egmm_four_class", method, UNKNOWN)
    notes = []
    if drawn:
        right = sum(answer["clusters"] == 4 for answer in drawn)
        notes.append(f"The four-class example of EGMM's paper: four clusters in {right} of {len(drawn)} draws.")
    reference = by_table(results, REFERENCE, KNOWN, "ari")
    for number, words in SAID.items():
        if {(method, number), (REFERENCE, KNOWN)} <= set(tried(results)):
            ari = by_table(results, method, number, "ari")
            below = [name for name in ari if ari[name] < reference[name] - FAR_BELOW]
            notes.append(f"More than {FAR_BELOW:.2f} below k-means, {words}: {', '.join(below) or 'no table'}.")
    return notes


HOW = (
    "Each method by its defaults on the table as it is; k-means, HDBSCAN and 'EGMM, z-scored' see z-scored columns. "
    "Methods that take no missing values, and the rivals, see the mean of the column in their place. Of files with "
    "more than 2,000 objects 2,000 were drawn once.",
    f"An ARI of 0 stands for an error, or for no end within {LIMIT} s of CPU; the other means are over the answers "
    "that there are. Noise of HDBSCAN is a group of its own in the ARI, and never sure.",
)
COLUMNS = (
    "Sure: the largest mass is on one cluster. Set holds class: clusters are matched with classes so that most objects "
    "agree, and the set of largest mass holds the cluster of the object's class. Far below k-means: number of tables "
    f"on which the ARI is more than {FAR_BELOW:.2f} below that of k-means on scaled columns with the number given.",
)
SPLIT = (
    "Rules and constants were chosen on the development half; the judging half had no part in them. The split looks at "
    "names alone: reproduction/defaults/halves.json.",
)


# -- what is shown ----------------------------------------------------------------------------------------------------


def of(make: Callable[..., Any], *more: Any) -> Callable[[Results], Any]:
    return lambda results: make(results, *more)


def exhibit(place: str, title: str, cells: Any, notes: Any = None, words: Sequence[str] = HOW) -> Exhibit:
    return Exhibit(f"defaults.{place}", title, units, cells, notes=notes, data=FILES, minutes=(40, 300), words=words)


CLAIMS: list[Claim] = []  # of no paper
EXHIBITS = [
    exhibit(
        DEVELOPMENT,
        "Means over the development half",
        of(method_cells, halves()[DEVELOPMENT]),
        words=(*SPLIT, *HOW, *COLUMNS),
    ),
    exhibit(
        JUDGING, "Means over the judging half", of(method_cells, halves()[JUDGING]), words=(*SPLIT, *HOW, *COLUMNS)
    ),
    exhibit("ten", "Means over the ten tables of the guide", of(method_cells, TEN), words=(*HOW, *COLUMNS)),
    exhibit(
        "unknown", "Adjusted Rand index, number of clusters unknown", of(ari_cells, UNKNOWN), of(ari_notes, UNKNOWN)
    ),
    exhibit("known", "Adjusted Rand index, number of clusters given", of(ari_cells, KNOWN), of(ari_notes, KNOWN)),
    exhibit("fit", "evidentia fit, table by table", of(answer_cells, COMMAND), of(answer_notes, COMMAND)),
    exhibit("egmm", "EGMM, table by table", of(answer_cells, "egmm"), of(answer_notes, "egmm")),
]
