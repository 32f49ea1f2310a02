"""Show that a change of the code changes nothing that users see: write what evidentia computes and offers, and compare.

    python ci/same.py write out/same-before.npz [--files out/files] [--jobs 2] [--methods ecm,egmm]
    python ci/same.py compare out/same-before.npz out/same-after.npz [--expected ci/same_changes.txt]
    python ci/same.py load out/files        # files that an earlier version wrote, read by the present one

``write`` (see same_cases.py and same_surface.py) fits every method of the registry to small tables of every kind in the
``reads`` of its record, with every argument in its ``takes``, and with other values of every parameter. ``compare``
ends with exit code 1 where masses, focal sets, labels, criteria, fitted attributes, errors or public names differ
unless ci/same_changes.txt lists the change. Differences up to ``--tolerance`` count as none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import time
import warnings
from collections import defaultdict
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from same_cases import FUNCTIONS, TABLES, Case, Result, all_cases, predicted, registered, run, table
from same_surface import surface
from threadpoolctl import threadpool_limits

import evidentia

# -- one file ----------------------------------------------------------------------------------------------------------


def write(
    path: Path, *, methods: list[str] | None = None, tables: list[str] | None = None, jobs: int = 2,
    minutes: float = 15.0, files: Path | None = None,
) -> dict[str, Result]:  # fmt: skip
    """Run the cases, of some methods and tables or of all, and write one file; gives the results."""
    chosen = [
        one for one in all_cases() if (not methods or one.method in methods) and (not tables or one.table in tables)
    ]
    saved: dict[str, Case] = {}
    for one in chosen:
        if one.method not in FUNCTIONS:
            saved.setdefault(one.method, one)
    if files is not None:
        files.mkdir(parents=True, exist_ok=True)
    work = [(one, files if saved.get(one.method) == one else None) for one in chosen]
    results = run_all(work, jobs, minutes)
    shown = {name: _described(name) for name in sorted({one.table for one in chosen} & set(TABLES))}
    save(path, results, {"tables": shown, "surface": surface(results)})
    if files is not None:
        kept = {str(one): results[str(one)] for one in saved.values() if "raised" not in results[str(one)]["texts"]}
        save(files / "same.npz", kept, {"methods": {str(one): [one.method, one.table] for one in saved.values()}})
        model, X = registered()["ecm"](n_clusters=3, random_state=0), table("blobs").X
        evidentia.app.report.write_results(files / "results", partition=model.fit(X).partition_, model=model, X=X)
    return results


def run_all(work: list[tuple[Case, Path | None]], jobs: int, minutes: float) -> dict[str, Result]:
    """Run every case, in other processes unless ``jobs`` is 1; those not begun in time are noted as such."""
    until, late = time.monotonic() + 60 * minutes, {"arrays": {}, "numbers": {}, "attributes": [], "seconds": 0.0}
    late |= {"texts": {"raised": "not run", "message": "the time was over"}}
    results: dict[str, Result] = {str(case): late for case, _ in work}
    if jobs == 1:
        return {str(case): run(case, files) if time.monotonic() < until else late for case, files in work}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        pending: dict[Future[Result], Case] = {pool.submit(run, case, files): case for case, files in work}
        while pending and time.monotonic() < until:
            done, _ = wait(pending, timeout=5, return_when=FIRST_COMPLETED)
            results |= {str(pending.pop(one)): one.result() for one in done}
        pool.shutdown(cancel_futures=True)
    return results


def _described(name: str) -> str:
    X = table(name).X
    parts = list(X.values()) if isinstance(X, dict) else X if isinstance(X, list) else [getattr(X, "masses", X)]
    digest = hashlib.sha256(b"".join(np.asarray(one).astype(str).tobytes() for one in parts)).hexdigest()[:12]
    return f"{table(name).origin}, {len(table(name).y)} objects, {digest}"


def save(path: Path, results: dict[str, Result], more: dict[str, Any]) -> None:
    """Write results: the arrays as they are, all else as one text of JSON."""
    arrays: dict[str, np.ndarray] = {}
    index = {}
    for name, result in results.items():
        index[name] = {key: value for key, value in result.items() if key != "arrays"} | {"arrays": {}}
        for key, value in result["arrays"].items():
            index[name]["arrays"][key] = f"a{len(arrays)}"
            arrays[f"a{len(arrays)}"] = np.asarray(value)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, index=np.array(json.dumps({**more, "cases": index})), **arrays)


def read(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as found:
        content: dict[str, Any] = json.loads(str(found["index"]))
        for result in content["cases"].values():
            result["arrays"] = {key: found[entry] for key, entry in result["arrays"].items()}
    return content


# -- comparison --------------------------------------------------------------------------------------------------------


class Rules:
    """Changes that are intended, one in each line of a file, with the reason after ``#``.

    ``old -> new`` renames words or whole lines; ``fit: old -> new`` only where a line matches ``*fit*``. ``removed:``,
    ``added:`` and ``changed:`` name lines of the surface, or cases, by a pattern as of the shell.
    """

    def __init__(self, text: str = ""):
        self.renames: list[tuple[str, str, str]] = []
        self.patterns: list[tuple[str, str]] = []
        self.used: set[tuple[str, ...]] = set()
        for line in filter(None, (one.strip() for one in text.splitlines())):
            rule, _, reason = (part.strip() for part in line.partition("#"))
            if not rule:
                continue
            if not reason:
                raise ValueError(f"A change needs a reason after '#'. Got {line!r}.")
            kind, _, pattern = (part.strip() for part in rule.partition(":"))
            if kind in ("removed", "added", "changed"):
                self.patterns.append((kind, pattern))
                continue
            scope, _, names = rule.rpartition(": ") if ": " in rule.partition(" -> ")[0] else ("", "", rule)
            old, arrow, new = (part.strip() for part in names.partition(" -> "))
            if not (old and arrow and new):
                raise ValueError(f"Write 'old -> new', 'removed: ...', 'added: ...' or 'changed: ...'. Got {line!r}.")
            self.renames.append((scope, old, new))

    def rename(self, line: str) -> str:
        for rule in self.renames:
            scope, old, new = rule
            found = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _, to=new: to, line)
            if found != line and fnmatchcase(line, f"*{scope}*"):
                self.used.add(rule)
                line = found
        return line

    def intends(self, kind: str, name: str) -> bool:
        fitting = [one for one in self.patterns if one[0] == kind and fnmatchcase(name, re.sub(r"\[", "[[]", one[1]))]
        self.used |= set(fitting)
        return bool(fitting)

    def unused(self) -> list[str]:
        return [" | ".join(filter(None, one)) for one in [*self.renames, *self.patterns] if one not in self.used]


class Row(NamedTuple):
    """How one case differs: largest difference of masses and of predicted ones, of the criterion; all else in words."""

    masses: float = 0.0
    predicted: float = 0.0
    criterion: float = 0.0
    words: tuple[str, ...] = ()


def apart(one: Any, other: Any, *, relative: bool = False) -> float:
    """Return the largest difference; infinite where shapes differ, or one value is missing."""
    if one is None or other is None:
        return 0.0 if one is other else np.inf
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if one.shape != other.shape or not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return np.inf
    gap = np.abs(np.where(np.isfinite(one), one, 0) - np.where(np.isfinite(other), other, 0))
    return float(
        (gap / np.maximum(np.abs(np.where(np.isfinite(one), one, 0)), 1.0) if relative else gap).max(initial=0)
    )


def compare_case(one: Result, other: Result, rules: Rules, tolerance: float) -> Row:
    first, second = one["arrays"], other["arrays"]
    numbers = {rules.rename(name): value for name, value in one["numbers"].items()}
    texts = {name: rules.rename(value) for name, value in one["texts"].items()}
    words = [
        f"{name} differ" for name in ("masks", "labels", "predicted labels")
        if (first.get(name) is None) != (second.get(name) is None)
        or not np.array_equal(first.get(name, ()), second.get(name, ()))
    ]  # fmt: skip
    if apart(first.get("tried"), second.get("tried"), relative=True) > 100 * tolerance:
        words.append("the table of what was tried differs")
    for name in ("raised", "predict raised", "warnings"):
        if texts.get(name) != (now := other["texts"].get(name)):
            words.append(f"{name}: {texts.get(name)}, now {now} ({other['texts'].get('message', '')[:80]})")
    for name in sorted({*numbers, *other["numbers"]} - {"criterion_", "criterion_trace_"}):
        if apart(numbers.get(name), other["numbers"].get(name), relative=True) > 100 * tolerance:
            words.append(f"{name}: {numbers.get(name)}, now {other['numbers'].get(name)}")
    steps = [apart(numbers.get(n), other["numbers"].get(n), relative=True) for n in ("criterion_", "criterion_trace_")]
    return Row(
        apart(first.get("masses"), second.get("masses")),
        apart(first.get("predicted"), second.get("predicted"), relative=True), max(steps), tuple(words),
    )  # fmt: skip


def compare(before: dict[str, Any], after: dict[str, Any], rules: Rules, tolerance: float = 1e-9) -> tuple[
    dict[str, Row], list[str]]:  # fmt: skip
    """Return how each case differs, by name, and what differs and is not intended, as lines."""
    rows: dict[str, Row] = {}
    wrong = []
    old = {rules.rename(name): result for name, result in before["cases"].items()}
    new = after["cases"]
    for name, result in old.items():
        if name not in new:
            wrong += [] if rules.intends("removed", name) else [f"case gone: {name}"]
            continue
        row = rows[name] = compare_case(result, new[name], rules, tolerance)
        if (max(row[:3]) > tolerance or row.words) and not rules.intends("changed", name):
            wrong.append(f"differs: {name}: {shown(row)}")
    wrong += [f"case new: {name}" for name in new if name not in old and not rules.intends("added", name)]
    for name, words in before.get("tables", {}).items():
        if after["tables"].get(name, words) != words:
            wrong.append(f"table {name}: {words}, now {after['tables'][name]}")
    offered = {rules.rename(line) for line in before["surface"]}
    wrong += [f"- {line}" for line in sorted(offered - set(after["surface"])) if not rules.intends("removed", line)]
    wrong += [f"+ {line}" for line in sorted(set(after["surface"]) - offered) if not rules.intends("added", line)]
    return rows, wrong


def shown(row: Row) -> str:
    numbers = f"masses {row.masses:.1e}, predicted {row.predicted:.1e}, criterion {row.criterion:.1e}"
    return "; ".join([numbers, *row.words])


def report(before: dict[str, Any], after: dict[str, Any], rules: Rules, tolerance: float) -> int:
    """Print a line for each method, what differs, and rules that were not needed; gives the exit code."""
    rows, wrong = compare(before, after, rules, tolerance)
    by_method: dict[str, list[Row]] = defaultdict(list)
    for name, row in rows.items():
        by_method[name.split(":")[0]].append(row)
    print(f"{'method':18}{'cases':>6}{'masses':>10}{'predicted':>11}{'criterion':>11}  labels")
    for method, found in by_method.items():
        worst = [max(getattr(row, name) for row in found) for name in ("masses", "predicted", "criterion")]
        same = "differ" if any("labels differ" in one for row in found for one in row.words) else "equal"
        print(f"{method:18}{len(found):6d}{worst[0]:10.1e}{worst[1]:11.1e}{worst[2]:11.1e}  {same}")
    for line in [*wrong, *(f"listed as intended, but not there: {one}" for one in rules.unused())]:
        print(line)
    said = sum(
        result["texts"].get("message") != after["cases"].get(rules.rename(name), result)["texts"].get("message")
        for name, result in before["cases"].items()
    )
    print(
        f"{len(rows)} cases compared, {len(wrong)} differences that are not intended; {said} messages have other words."
    )
    return int(bool(wrong))


def load(files: Path, tolerance: float = 1e-9) -> list[str]:
    """Read the models, partitions and results of a folder; gives what differs from what was written, as lines."""
    content, wrong = read(files / "same.npz"), []
    partition = evidentia.CredalPartition
    for name, result in content["cases"].items():
        method, where = content["methods"][name]
        found: Result = {"arrays": {}, "numbers": {}, "texts": {}, "attributes": []}
        try:
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                model = evidentia.load_model(files / f"{method}.model.npz")
                if "predicted" in result["arrays"]:
                    predicted(found, model, table(where).X)
                if "masses" in result["arrays"]:
                    found["arrays"]["masses"] = partition.load(files / f"{method}.partition.npz").masses
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
            continue
        for key in ("predicted", "masses"):
            if (gap := apart(result["arrays"].get(key), found["arrays"].get(key), relative=True)) > tolerance:
                wrong.append(f"{name}: {key} differ by {gap:.1e}")
    kept = partition.load(files / "results" / "partition.npz").masses
    if apart(kept, pd.read_csv(files / "results" / "masses.csv").filter(regex=r"^m\{").to_numpy()) > 1e-5:
        wrong.append("results: masses.csv does not hold the masses of partition.npz")
    return wrong


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    writing = verbs.add_parser("write")
    writing.add_argument("path", type=Path)
    writing.add_argument("--files", type=Path, help="folder for models, partitions and results, to be loaded later")
    writing.add_argument("--jobs", type=int, default=2)
    writing.add_argument("--minutes", type=float, default=15.0, help="cases that have not begun by then are not run")
    writing.add_argument("--methods", help="some methods only, separated by commas")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--expected", type=Path, default=Path(__file__).with_name("same_changes.txt"))
    comparing.add_argument("--tolerance", type=float, default=1e-9)
    verbs.add_parser("load").add_argument("folder", type=Path)
    given = parser.parse_args(words)
    if given.verb == "write":
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the processes that fit
        began = time.perf_counter()
        methods = given.methods.split(",") if given.methods else None
        results = write(given.path, methods=methods, jobs=given.jobs, minutes=given.minutes, files=given.files)
        spent: dict[str, float] = defaultdict(float)
        for name, result in results.items():
            spent[name.split(":")[0]] += result["seconds"]
        print(
            "seconds by method:",
            {name: round(spent[name], 1) for name in sorted(spent, key=lambda one: -spent[one])[:9]},
        )
        print(f"{len(results)} cases in {time.perf_counter() - began:.0f} s, of which "
              f"{sum('raised' in one['texts'] for one in results.values())} raised: {given.path}")  # fmt: skip
        return 0
    if given.verb == "load":
        wrong = load(given.folder)
        print("\n".join([*wrong, f"{len(wrong)} differences from what was written."]))
        return int(bool(wrong))
    rules = Rules(given.expected.read_text(encoding="utf-8") if given.expected.exists() else "")
    return report(read(given.before), read(given.after), rules, given.tolerance)


if __name__ == "__main__":
    sys.exit(main())
