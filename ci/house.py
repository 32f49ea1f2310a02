"""Measures of the house, each with its limit: print them, and end with an error if one is over.

A measure that is still over its limit stands in `NOT_YET`, and has to leave it as soon as it is not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LONGEST_FUNCTION = 80
# What is there and one in a hundred: since 38,000, the explorer and its page without a server (4,000), files and inputs
# that cannot hurt (900); files of models, tables of every kind, streamed fits (2,000); fusion, ensembles and graphs
# (1,900), several views (2,000), categories and series (1,300), callbacks (300); knowledge of objects as masses,
# streams and single precision (700); soft-DTW, features of digits, inputs of views (500); latent profiles and written
# numbers (650), parts of the explorer with a home of their own (200), kernels that read ahead or warp series (250),
# numbers of latent profiles that are correlated (280), kernels that keep their digits (30).
MOST_LINES = 54_350

# How many files a method touches, by the example of one that has a plain family of its own.
METHOD = "RECM"
ITS_FAMILY = ("src/evidentia/relational", "tests/relational", "benchmarks/relational.py")
CODE = ("src", "tests", "benchmarks", "examples", "reproduction")

NOT_YET: frozenset[str] = frozenset()


class Measure(NamedTuple):
    name: str
    about: str
    limit: int
    value: int
    where: list[str]

    @property
    def over(self) -> bool:
        return self.value > self.limit


def python_files(*folders: str, root: Path = ROOT) -> list[Path]:
    """Python files below some folders of the clone, those that are there."""
    return sorted(path for folder in folders for path in (root / folder).rglob("*.py"))


def count_lines(paths: list[Path]) -> int:
    """All lines, the empty ones and docstrings included."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def long_functions(paths: list[Path], longest: int = LONGEST_FUNCTION) -> Iterator[tuple[Path, str, int]]:
    """Functions over `longest` lines from ``def`` to their end, docstring included."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                if (length := node.end_lineno - node.lineno + 1) > longest:
                    yield path, node.name, length


def naming(method: str, family: tuple[str, ...] = ITS_FAMILY, root: Path = ROOT) -> list[Path]:
    """Files of code that name a method, in capitals or not, outside of its family and of the tests of that."""
    word = re.compile(rf"\b{re.escape(method)}\b", re.IGNORECASE)
    own = [root / folder for folder in family]
    return [
        path
        for path in python_files(*CODE, root=root)
        if not any(path.is_relative_to(folder) for folder in own) and word.search(path.read_text(encoding="utf-8"))
    ]


def measures() -> list[Measure]:
    """Every measure of this clone."""
    library = python_files("src/evidentia")
    long = sorted(long_functions(library), key=lambda one: -one[2])
    named = naming(METHOD)
    return [
        Measure("lines", "lines of src/evidentia", MOST_LINES, count_lines(library), []),
        Measure(
            "long functions",
            f"functions over {LONGEST_FUNCTION} lines",
            0,
            len(long),
            [f"{path.relative_to(ROOT)}: {name}, {length} lines" for path, name, length in long],
        ),
        Measure(
            "files of a method",
            f"files that name {METHOD} outside its family, its tests and its pages",
            4,
            len(named),
            [str(path.relative_to(ROOT)) for path in named],
        ),
    ]


def complaints(taken: list[Measure], not_yet: frozenset[str] = NOT_YET) -> list[str]:
    """What is over its limit, and what stands in `NOT_YET` without need."""
    wrong = []
    for one in taken:
        if one.over and one.name not in not_yet:
            wrong.append(f"{one.about}: {one.value:,}, at most {one.limit:,}")
        elif not one.over and one.name in not_yet:
            wrong.append(f"{one.about}: the limit holds, take {one.name!r} out of NOT_YET")
    return wrong


def main() -> int:
    taken = measures()
    for one in taken:
        verdict = "not yet" if one.over and one.name in NOT_YET else "OVER" if one.over else "holds"
        print(f"{one.value:>7,}  {one.about} (at most {one.limit:,}: {verdict})")
        for line in one.where:
            print(f"         {line}")
    wrong = complaints(taken)
    for line in wrong:
        print(f"house: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
