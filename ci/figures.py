"""Print figures about the code, for whoever wants to know; nothing fails on them.

    python ci/figures.py            # size, structure and repeated lines
    python ci/figures.py --walks    # also what a fit of each method passes through (fits each twice)

What must hold is held by tests of structure: tests/test_package.py (layers, public names) and tests/test_methods.py.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "evidentia"
SAME_LINES = 8  # as many lines in a row, in two places, count as repeated
# By a name that is written there; a loop over declared names reads the declaration.
SNIFF = re.compile(r"\b(?:getattr|hasattr)\((?:self|model|estimator|fitted)(?:\.model)?, [\"']")


def sources() -> dict[Path, str]:
    """Return the text of every Python file of the library, by its path below ``src/evidentia``."""
    return {path.relative_to(SOURCE): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}


def sizes(texts: dict[Path, str]) -> dict[str, tuple[int, int]]:
    """Return the number of files and of lines, by folder."""
    totals: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for path, text in texts.items():
        folder = "/".join(path.parts[:-1][:2]) or "."
        files, lines = totals[folder]
        totals[folder] = files + 1, lines + len(text.splitlines())
    return dict(totals)


def longest_functions(texts: dict[Path, str], most: int = 5) -> list[tuple[int, str]]:
    """Return the longest functions with their number of lines, docstring included."""
    lengths = [
        (node.end_lineno - node.lineno + 1, f"{path}: {node.name}")
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    ]
    return sorted(lengths, reverse=True)[:most]


def repeated_class_names(texts: dict[Path, str]) -> dict[str, list[str]]:
    """Return names that more than one class of a package has, with the files."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                places[path.parts[0], node.name].append(str(path))
    return {name: paths for (_, name), paths in sorted(places.items()) if len(paths) > 1}


def repeated_lines(texts: dict[Path, str], least: int = SAME_LINES) -> list[tuple[str, str]]:
    """Return pairs of places that begin a run of equal lines; blank lines, comments and imports are passed over."""
    first: dict[tuple[str, ...], tuple[Path, int]] = {}
    pairs, covered = [], set()
    for path, text in texts.items():
        lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
        lines = [(n, line) for n, line in lines if len(line) > 3 and not line.startswith(("#", "import ", "from "))]
        for start in range(len(lines) - least + 1):
            run = tuple(line for _, line in lines[start : start + least])
            place = path, lines[start][0]
            earlier = first.setdefault(run, place)
            if earlier != place and (path, start - 1) not in covered:
                pairs.append((f"{earlier[0]}:{earlier[1]}", f"{path}:{place[1]}"))
            if earlier != place:
                covered.add((path, start))
    return pairs


def own_bases(cls: type) -> list[str]:
    """Return the names of the classes of evidentia that a class is made of, itself included."""
    return [base.__name__ for base in cls.__mro__ if base.__module__.startswith("evidentia")]


# -- walks -------------------------------------------------------------------------------------------------------------


class Walk:
    """What a call passes through: files, classes and functions of evidentia, and the deepest frame."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.classes: set[tuple[str, str]] = set()
        self.functions: set[tuple[str, str]] = set()
        self.depth = self.deepest = 0

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(str(SOURCE)):
            return
        if event == "call":
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
            self.files.add(code.co_filename)
            self.functions.add((code.co_filename, code.co_qualname))
            parts = code.co_qualname.split(".")
            if len(parts) > 1 and "<" not in parts[-2]:
                self.classes.add((code.co_filename, parts[-2]))
        elif event == "return":
            self.depth -= 1


def walk(call: Callable[[], Any]) -> Walk:
    """Return the walk of the second of two calls: imports and compilation do not count."""
    call()
    trace = Walk()
    sys.setprofile(trace)
    try:
        call()
    finally:
        sys.setprofile(None)
    return trace


def walks() -> Iterator[tuple[str, Walk]]:
    """Yield the walk of a fit to Iris, for one method of each family."""
    import evidentia
    from evidentia.datasets import load

    iris = load("iris")
    links = evidentia.PairwiseConstraints.sample(iris.target, 30, random_state=0)
    fits: dict[str, Callable[[], Any]] = {
        "FCM": lambda: evidentia.FCM(3, random_state=0).fit(iris.data),
        "ECM": lambda: evidentia.ECM(3, random_state=0).fit(iris.data),
        "EGMM": lambda: evidentia.EGMM(random_state=0).fit(iris.data),
        "CECM": lambda: evidentia.CECM(3, random_state=0).fit(iris.data, constraints=links),
        "BootGMM": lambda: evidentia.BootGMM(3, n_boot=20, random_state=0).fit(iris.data),
        "EVCLUS": lambda: evidentia.EVCLUS(3, random_state=0).fit(iris.data),
        "BeliefHierarchical": lambda: evidentia.BeliefHierarchical(3).fit(iris.data),
    }
    for name, fit in fits.items():
        yield name, walk(fit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--walks", action="store_true", help="fit seven methods, and say what the fits pass through")
    wants_walks = parser.parse_args().walks
    texts = sources()
    by_folder = sizes(texts)
    print(f"{sum(lines for _, lines in by_folder.values()):>7,} lines in {len(texts)} files of src/evidentia")
    for folder, (files, lines) in sorted(by_folder.items(), key=lambda item: -item[1][1]):
        print(f"{lines:>9,} lines {files:>4} files  {folder}")
    print("\nLongest functions, in lines")
    for length, name in longest_functions(texts):
        print(f"{length:>9}  {name}")
    print("\nClass names that a package has more than once")
    for name, paths in repeated_class_names(texts).items():
        print(f"{len(paths):>9}  {name}: {', '.join(paths)}")
    sniffing = Counter({str(path): len(SNIFF.findall(text)) for path, text in texts.items()})
    print(f"\n{sum(sniffing.values()):>9} getattr or hasattr on estimators")
    pairs = repeated_lines(texts)
    print(f"\n{len(pairs):>9} runs of {SAME_LINES} or more equal lines")
    for one, other in pairs:
        print(f"           {one} ~ {other}")

    from evidentia import methods

    deepest = sorted(((own_bases(cls), name) for name, cls in methods.all_methods().items()), key=lambda x: -len(x[0]))
    print("\nMost classes of evidentia that an estimator is made of")
    for bases, name in deepest[:3]:
        print(f"{len(bases):>9}  {name}: {', '.join(bases)}")
    if wants_walks:
        print(f"\n{'a fit to Iris passes through':30s} {'files':>6} {'classes':>8} {'functions':>10} {'frames':>7}")
        for name, trace in walks():
            print(f"{name:30s} {len(trace.files):6} {len(trace.classes):8} {len(trace.functions):10} {trace.deepest:7}")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
