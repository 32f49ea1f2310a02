"""From what was measured to tables: means over tables by method, and table by table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from statistics import fmean, median
from typing import Any

from reproduction.defaults.measuring import KNOWN, METHODS, REFERENCE, UNKNOWN
from reproduction.exhibit import Cell, Result, Results

FAR_BELOW = 0.10
SAID = {UNKNOWN: "number unknown", KNOWN: "number given"}
MEASURES = {"ari": "ARI", "sure": "sure", "ari of the sure": "ARI of the sure", "contains": "set holds class"}
BESIDE = "k-means, number given"
FOUR_CLASS = "egmm_four_class"


class Answers:
    """The answers of methods on some tables.

    Parameters
    ----------
    results : mapping from ``"TABLE/METHOD/NUMBER"`` or ``"TABLE#DRAW/METHOD/NUMBER"`` to a result
    tables : sequence of str
        Those that are looked at, in this order.
    """

    def __init__(self, results: Results, tables: Sequence[str]):
        self._found: dict[tuple[str, str], dict[str, list[Result]]] = {}
        self.late: list[str] = []
        for key, result in results.items():
            place, method, number = key.split("/")
            name = place.partition("#")[0]
            if name in tables:
                ended = self._found.setdefault((method, number), {}).setdefault(name, [])
                if "ari" in result:
                    ended.append(result)
                else:
                    self.late.append(key)
        there = {name for found in self._found.values() for name in found}
        self.tables = [name for name in tables if name in there]

    @cached_property
    def tried(self) -> list[tuple[str, str]]:
        """Methods, with the number of clusters unknown and known, of which there is anything."""
        return [(method, number) for number in SAID for method in METHODS if (method, number) in self._found]

    def of(self, name: str, method: str, number: str) -> list[Result]:
        """Of every draw of a table that came to an end."""
        return self._found.get((method, number), {}).get(name, [])

    def values(self, method: str, number: str, what: str) -> list[float | None]:
        """A measure on each table, as a mean over draws."""
        return [mean([answer[what] for answer in self.of(name, method, number)]) for name in self.tables]

    def ari(self, method: str, number: str) -> list[float]:
        """On each table, 0 where an error or the time limit left none."""
        return [value or 0.0 for value in self.values(method, number, "ari")]

    def far_below(self, method: str, number: str) -> list[str]:
        """Tables on which k-means, with the number given, is far better."""
        pairs = zip(self.tables, self.ari(method, number), self.ari(REFERENCE, KNOWN))
        return [name for name, own, reference in pairs if own < reference - FAR_BELOW]

    @property
    def has_reference(self) -> bool:
        return (REFERENCE, KNOWN) in self._found


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that are there.

    >>> mean([0.5, None, 1.0]), mean([None])
    (0.75, None)
    """
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


# -- tables -----------------------------------------------------------------------------------------------------------


def method_cells(found: Answers) -> list[Cell]:
    """Methods by what was measured, over all tables."""
    cells = []
    for method, number in found.tried:
        row = f"{METHODS[method].title}, {SAID[number]}"
        draws = [found.of(name, method, number) for name in found.tables]
        ended = [answer for answers in draws for answer in answers]
        right = mean([float(answer["clusters"] == answer["classes"]) for answer in ended])
        seconds = [answer["seconds"] for answer in ended]
        cells += [
            Cell(row, "ARI", mean(found.ari(method, number))),
            *(
                Cell(row, MEASURES[what], mean(found.values(method, number, what)))
                for what in ("sure", "ari of the sure", "contains")
            ),
            Cell(row, "right number", right if number == UNKNOWN else None),
            Cell(row, "CPU s, median", median(seconds) if seconds else None, better="lower"),
            Cell(row, "CPU s, most", max(seconds, default=None), better="lower"),
            Cell(row, "warned", mean([float(bool(answer["warnings"])) for answer in ended]), better="lower"),
            Cell(row, "without an answer", float(sum(not answers for answers in draws)), better="lower"),
            Cell(
                row,
                "far below k-means",
                float(len(found.far_below(method, number))) if found.has_reference else None,
                better="lower",
            ),
        ]
    return cells


def ari_cells(found: Answers, number: str) -> list[Cell]:
    """Tables by methods, and the mean; k-means, which has to be told the number, stands beside those that find it."""
    columns = {METHODS[method].title: found.ari(method, own) for method, own in found.tried if own == number}
    if number == UNKNOWN and found.has_reference:
        columns[BESIDE] = found.ari(REFERENCE, KNOWN)
    cells = [Cell(name, title, ari[at]) for at, name in enumerate(found.tables) for title, ari in columns.items()]
    return cells + [Cell("mean", title, mean(ari)) for title, ari in columns.items() if found.tables]


def answer_cells(found: Answers, method: str) -> list[Cell]:
    """Tables by what was measured of one method, with the number unknown, and k-means beside it."""
    if (method, UNKNOWN) not in found.tried:
        return []
    shown = {"classes": "classes", "clusters": "clusters", **MEASURES, "seconds": "CPU s"}
    columns: dict[str, Sequence[float | None]] = {
        title: found.values(method, UNKNOWN, what) for what, title in shown.items()
    }
    columns["ARI, number given"] = found.values(method, KNOWN, "ari")
    columns[BESIDE] = found.values(REFERENCE, KNOWN, "ari")
    return [Cell(name, title, column[at]) for at, name in enumerate(found.tables) for title, column in columns.items()]


# -- words ------------------------------------------------------------------------------------------------------------


def late_notes(found: Answers, number: str) -> list[str]:
    """Which units the time limit ended."""
    late = [key.removesuffix(f"/{number}") for key in found.late if key.endswith(f"/{number}")]
    return [f"No end in time: {', '.join(late)}."] if late else []


def answer_notes(found: Answers, method: str) -> list[str]:
    """In how many draws of the four-class example four clusters are found, and where k-means is far better."""
    notes = []
    if drawn := found.of(FOUR_CLASS, method, UNKNOWN):
        right = sum(answer["clusters"] == 4 for answer in drawn)
        notes.append(f"The four-class example of EGMM's paper: four clusters in {right} of {len(drawn)} draws.")
    for number, words in SAID.items():
        if (method, number) in found.tried and found.has_reference:
            below = ", ".join(found.far_below(method, number)) or "no table"
            notes.append(f"More than {FAR_BELOW:.2f} below k-means, {words}: {below}.")
    return notes


def over(tables: Sequence[str], make: Callable[..., Any], *more: Any) -> Callable[[Results], Any]:
    """A function of results that looks at some tables."""
    return lambda results: make(Answers(results, tables), *more)
