"""Which exhibits there are, found by name; a paper's module is imported when it is asked for."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

from evidentia.datasets import list_datasets
from reproduction.claims import Claim
from reproduction.exhibit import Exhibit

EVERYTHING = "all"
PLACES = re.compile(r"(table|figure)(\d+)(?:-(\d+))?")


@dataclass(frozen=True)
class Paper:
    """A paper, and how many tables and figures it has."""

    name: str
    title: str
    tables: int = 0
    figures: int = 0

    @property
    def exhibits(self) -> list[Exhibit]:
        return import_module(f"reproduction.{self.name}").EXHIBITS

    @property
    def claims(self) -> Sequence[Claim]:
        return import_module(f"reproduction.{self.name}").CLAIMS

    @property
    def places(self) -> set[str]:
        """``{"table1", ..., "figure1", ...}``"""
        return {f"table{n + 1}" for n in range(self.tables)} | {f"figure{n + 1}" for n in range(self.figures)}


PAPERS = (
    Paper("egmm", "EGMM: an evidential version of the Gaussian mixture model (Jiao, Denœux et al., 2022)", 15, 11),
    Paper("bootgmm", "Calibrated model-based evidential clustering using bootstrapping (Denœux, 2020)", 12, 21),
    Paper("cecm", "CECM: constrained evidential c-means (Antoine, Quost, Masson & Denœux, 2012)", 9, 19),
    Paper("bhc", "Belief hierarchical clustering (Maalel, Zhou, Martin & Elouedi, 2014)", 2, 3),
    Paper("nnevclus", "NN-EVCLUS: neural network-based evidential clustering (Denœux, 2021)", 8, 29),
    Paper("comparison", "Every method of this package on every data set"),
    Paper("truth", "What the verdict, 'assigned' and a stated coverage promise, on tables whose groups are known"),
    Paper("defaults", "The yardstick: every method by its defaults, and what a user would have had otherwise"),
)


def shown_places(exhibit: Exhibit) -> set[str]:
    """Tables and figures of the paper that an exhibit stands for.

    >>> sorted(shown_places(Exhibit("nnevclus.figure22-24", "Consistency against nonspecificity")))
    ['figure22', 'figure23', 'figure24']
    """
    found = set()
    for kind, first, last in PLACES.findall(exhibit.name.partition(".")[2]):
        found |= {f"{kind}{number}" for number in range(int(first), int(last or first) + 1)}
    return found


def find(names: Sequence[str]) -> list[Exhibit]:
    """Exhibits by name, by paper, or all of them, each once and in the order of the papers.

    >>> find(["egmn"])
    Traceback (most recent call last):
        ...
    ValueError: There is no paper or exhibit called 'egmn'. Did you mean 'egmm'?
    """
    wanted: set[str] = set()
    for name in names:
        if name == EVERYTHING:
            wanted |= {exhibit.name for paper in PAPERS for exhibit in paper.exhibits}
            continue
        paper = next((paper for paper in PAPERS if paper.name == name.partition(".")[0]), None)
        if paper is None:
            raise ValueError(_unknown(name, [paper.name for paper in PAPERS]))
        known = [exhibit.name for exhibit in paper.exhibits]
        if name != paper.name and name not in known:
            raise ValueError(_unknown(name, known))
        wanted |= set(known) if name == paper.name else {name}
    chosen = {name.partition(".")[0] for name in wanted}
    return [exhibit for paper in PAPERS if paper.name in chosen for exhibit in paper.exhibits if exhibit.name in wanted]


def of_paper(name: str) -> list[Exhibit]:
    """The exhibits of a paper, none when there is no such paper."""
    return next((paper.exhibits for paper in PAPERS if paper.name == name), [])


def missing_data(exhibits: Iterable[Exhibit]) -> dict[str, str]:
    """Data sets that these exhibits need and this machine lacks, and whether they can be downloaded."""
    where = list_datasets()["where"]
    needed = {name for exhibit in exhibits for name in exhibit.data}
    return {name: where[name] for name in where.index if name in needed and where[name] not in ("here", "cached")}


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name.lower(), known, n=3)
    hint = f"Did you mean {', '.join(map(repr, near))}?" if near else "'python -m reproduction list' lists all names."
    return f"There is no paper or exhibit called {name!r}. {hint}"
