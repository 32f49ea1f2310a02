"""What an exhibit shows once its units are done, and the one record in which a directory keeps it."""

from __future__ import annotations

import io
import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import evidentia
from evidentia.datasets import data_directory
from evidentia.files import write_whole
from reproduction import catalog
from reproduction.claims import FINDINGS, DecidedClaim, Finding, decide
from reproduction.exhibit import Cell, Exhibit, Unit, Verdict, counted
from reproduction.files import digest, read_sealed, seal
from reproduction.running import Failure, Measurement, Outcomes, content

RECORD = "record.json"
DEFAULTS = {field.name: field.default for field in fields(Cell)}
MEASURED = ("ours", "deviation", "runs")  # of a cell; the rest is the code's to say
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "matplotlib",
    "torch",
    "scikit-image",
    "scikit-posthocs",
)
DPI = 110


@dataclass(frozen=True)
class ExhibitResult:
    """An exhibit with its numbers.

    Attributes
    ----------
    about : mapping
        What the record holds of it: ``title``, ``quick``, ``seed``, ``version``, ``words``, ``notes``, ``absent`` (why
        nothing was computed), ``failures``, ``warnings`` and ``units``: by key the fingerprint, the digest of the
        unit's file, which is None for units that were computed before files had one, and seconds.
    cells : sequence of Cell
    png : bytes
        The figure, or nothing.
    """

    name: str
    about: Mapping[str, Any]
    cells: Sequence[Cell] = ()
    png: bytes = b""

    @property
    def paper(self) -> str:
        return self.name.partition(".")[0]

    @cached_property
    def table(self) -> dict[str, dict[str, Cell]]:
        """Cells by row and column, both in the order they came."""
        found: dict[str, dict[str, Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.row, {})[cell.column] = cell
        return found

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(cell.column for cell in self.cells))

    @property
    def heading(self) -> str:
        """Where it is in the paper, and its title."""
        places = [
            f"{kind.title()}s {first} to {last}" if last else f"{kind.title()} {first}"
            for kind, first, last in catalog.PLACES.findall(self.name)
        ]
        return f"{' and '.join(places)}. {self.about['title']}" if places else self.about["title"]

    @property
    def counts(self) -> dict[Verdict, int]:
        return counted(self.cells)


# -- from units to what is shown --------------------------------------------------------------------------------------


def gather(exhibit: Exhibit, units: Sequence[Unit], outcomes: Outcomes, *, quick: bool, seed: int) -> ExhibitResult:
    """Cells, notes and figure of an exhibit. What goes wrong in making one of them is told and spoils no other."""
    done = {unit.key: found for unit in units if isinstance(found := outcomes.get(unit.fingerprint), Measurement)}
    failures = [
        {"unit": unit.key, "error": neutral(found.error), "lacks_data": found.lacks_data}
        for unit in units
        if isinstance(found := outcomes.get(unit.fingerprint), Failure)
    ]
    results = {key: found.result for key, found in done.items()}

    def made(what: str, make: Any, empty: Any) -> Any:
        try:
            return make(results) if make is not None else empty
        except Exception as error:
            text = neutral(f"{type(error).__name__}: {error}")
            failures.append({"unit": f"making the {what}", "error": text, "lacks_data": False})
            return empty

    cells = [rounded(cell) for cell in made("table", exhibit.cells, [])]
    png = made("figure", None if exhibit.draw is None or not done else lambda found: picture(exhibit.draw, found), b"")
    about = {
        "title": exhibit.title,
        "quick": quick,
        "seed": seed,
        "version": evidentia.__version__,
        "words": list(exhibit.words),
        "notes": made("notes", exhibit.notes, []),
        "absent": exhibit.absent,
        "failures": failures,
        "warnings": [neutral(f"{key}: {text}") for key, found in done.items() for text in found.warnings],
        "units": {
            unit.key: [unit.fingerprint, digest(content(unit, done[unit.key])), done[unit.key].seconds]
            for unit in units
            if unit.key in done
        },
    }
    return ExhibitResult(exhibit.name, about, cells, png)


def find_absent(exhibit: Exhibit, why: str) -> ExhibitResult:
    """An exhibit of which nothing was computed."""
    empty: dict[str, Any] = {"words": [], "notes": [], "failures": [], "warnings": [], "units": {}}
    return ExhibitResult(
        exhibit.name, {"title": exhibit.title, "version": evidentia.__version__, "absent": why, **empty}
    )


def rounded(cell: Cell) -> Cell:
    """Six figures of our numbers, which is what the record keeps: every verdict is that of the numbers shown."""

    def short(value: float | None) -> float | None:
        return None if value is None or math.isnan(value) else float(f"{value:.6g}")

    return replace(cell, ours=short(cell.ours), deviation=short(cell.deviation))


def picture(draw: Any, results: Any) -> bytes:
    """A drawing as PNG of 256 colors: a third of the size, and no difference to see."""
    from matplotlib import pyplot as plt
    from PIL import Image

    figure = draw(results)
    full, small = io.BytesIO(), io.BytesIO()
    try:
        figure.savefig(full, format="png", dpi=DPI, bbox_inches="tight", facecolor="white")
    finally:
        plt.close(figure)
    with Image.open(full) as drawn:
        drawn.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    return small.getvalue()


# -- on disk ----------------------------------------------------------------------------------------------------------


def write(directory: Path, shown: Iterable[ExhibitResult]) -> list[ExhibitResult]:
    """Add exhibits to the record of a directory; returns all that it now holds, those of earlier runs included.

    An exhibit that could not be computed this time does not replace one that could. A record that is not what was
    written is not believed: `DamagedFile`.
    """
    held = {one.name: one for one in read(directory)} if (directory / RECORD).exists() else {}
    for one in shown:
        if one.about["units"] or not (one.name in held and held[one.name].about["units"]):
            held[one.name] = one
            _write_or_remove(directory / f"{one.name}.png", one.png)
    ordered = [held[name] for name in sorted(held, key=natural)]
    write_whole(directory / RECORD, to_text(seal(record_of(ordered))))
    return ordered


def renew(directory: Path, computed: Iterable[ExhibitResult]) -> list[ExhibitResult]:
    """Put what was computed again in place of what the record has, cell by cell; all else stays as it is."""
    held = {one.name: one for one in read(directory)}
    return write(directory, [renew_cells(held[one.name], one) if one.name in held else one for one in computed])


def renew_cells(old: ExhibitResult, new: ExhibitResult) -> ExhibitResult:
    """An exhibit with the cells, units and words of those units that were computed again.

    Notes that are made of all units stay, unless all were computed.
    """
    fresh = {(cell.row, cell.column): cell for cell in new.cells if cell.ours is not None}  # none: of other methods
    cells = [fresh.pop((cell.row, cell.column), cell) for cell in old.cells]
    again = set(new.about["units"]) | {one["unit"] for one in new.about["failures"]}
    complete = set(old.about["units"]) <= again
    about = {
        **old.about,
        "version": new.about["version"],
        "notes": new.about["notes"] if complete else old.about["notes"],
        "failures": [one for one in old.about["failures"] if one["unit"] not in again] + new.about["failures"],
        "warnings": [text for text in old.about["warnings"] if text.partition(": ")[0] not in again]
        + new.about["warnings"],
        "units": {key: unit for key, unit in old.about["units"].items() if key not in again} | new.about["units"],
    }
    return replace(old, about=about, cells=[*cells, *fresh.values()], png=new.png if complete else old.png)


def record_of(shown: Iterable[ExhibitResult]) -> dict[str, Any]:
    """As JSON holds it; units, which exhibits share, stand once for each paper."""
    exhibits: dict[str, Any] = {}
    units: dict[str, dict[str, Any]] = {}
    for one in shown:
        if one.about["units"]:
            units.setdefault(one.paper, {}).update(one.about["units"])
        cells = [to_dict(cell) for cell in one.cells]
        about = {name: value for name, value in one.about.items() if name != "words"}  # the code has them
        exhibits[one.name] = {**about, "units": list(one.about["units"]), "cells": cells}
    return {
        "versions": versions(),
        "exhibits": exhibits,
        "units": {paper: found for paper, found in units.items() if found},
    }


def read(directory: Path) -> list[ExhibitResult]:
    """The exhibits that a directory holds; titles, words and rules as the code has them now."""
    record = read_sealed(directory / RECORD)
    found = []
    for name, about in record["exhibits"].items():
        cells = [Cell(**cell) for cell in about.pop("cells")]
        units = record["units"].get(name.partition(".")[0], {})
        drawing = directory / f"{name}.png"
        one = {**about, "units": {key: units[key] for key in about["units"]}, "words": []}
        found.append(renew_record(ExhibitResult(name, one, cells, drawing.read_bytes() if drawing.exists() else b"")))
    return found


def renew_record(one: ExhibitResult) -> ExhibitResult:
    """The measured numbers with what the code says of them today: the paper's numbers, rules, reasons and words.

    So a reason that was corrected is on the page without hours of computing. Cells that only a result brings forth,
    and exhibits that are no longer there, keep what was said when they were computed.
    """
    exhibit = next((found for found in catalog.of_paper(one.paper) if found.name == one.name), None)
    if exhibit is None or one.about["absent"]:
        return one
    frames = exhibit.cells({}) if exhibit.cells is not None and one.cells else []
    known = {(cell.row, cell.column): cell for cell in frames}
    cells = [
        replace(frame, **{name: getattr(cell, name) for name in MEASURED})
        if (frame := known.get((cell.row, cell.column)))
        else cell
        for cell in one.cells
    ]
    return replace(one, about={**one.about, "title": exhibit.title, "words": list(exhibit.words)}, cells=cells)


def to_dict(cell: Cell) -> dict[str, Any]:
    """What is not by default; reasons are words of the code.

    >>> to_dict(Cell("Iris", "ARI", 0.91, paper=0.73))
    {'row': 'Iris', 'column': 'ARI', 'ours': 0.91, 'paper': 0.73}
    """
    held = {name: value for name, value in asdict(cell).items() if value != DEFAULTS[name] and name != "reason"}
    return held | {"ours": cell.ours}


def to_text(value: Any, depth: int = 4, indent: str = "") -> str:
    """JSON with a line for each entry down to a depth, so that two records can be compared line by line.

    >>> print(to_text({"a": [1, 2], "b": {"c": {"d": 3}}}, depth=2))
    {
     "a": [
      1,
      2
     ],
     "b": {
      "c": {"d": 3}
     }
    }
    """
    if not depth or not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)}: {to_text(item, depth - 1, inner)}" for key, item in value.items()]
    else:
        entries = [to_text(item, depth - 1, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(entries) + f"\n{indent}{closing}"


def versions() -> dict[str, str]:
    found = {"evidentia": evidentia.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _write_or_remove(path: Path, png: bytes) -> None:
    if png:
        write_whole(path, png)
    else:
        path.unlink(missing_ok=True)


# -- words and sums ---------------------------------------------------------------------------------------------------


def neutral(text: str) -> str:
    """Without the places of this machine."""
    places = {
        data_directory(): "EVIDENTIA_DATA",
        Path(evidentia.__file__).parent: "evidentia",
        Path(__file__).parent: "reproduction",
        Path.home(): "~",
    }
    for place, name in places.items():
        if place is not None and place != place.parent:
            text = text.replace(str(place), name)
    return text


def natural(name: str) -> tuple[Any, ...]:
    """Key that sorts ``table2`` before ``table10``, papers in the order of the catalog and tables before figures."""
    paper, _, place = name.partition(".")
    known = [known.name for known in catalog.PAPERS]
    at = catalog.PLACES.match(place)
    return (
        known.index(paper) if paper in known else len(known),
        paper,
        (at is None, at is not None and at[1] == "figure", int(at[2]) if at else 0),
        place,
    )


def tally(shown: Iterable[ExhibitResult]) -> dict[str, dict[Verdict, int]]:
    """How many cells of each paper have each verdict, for papers that have cells."""
    cells: dict[str, list[Cell]] = {}
    for one in shown:
        cells.setdefault(one.paper, []).extend(one.cells)
    return {paper: counted(found) for paper, found in cells.items() if found}


def sum_counts(counts: Iterable[Mapping[Verdict, int]]) -> dict[Verdict, int]:
    total = counted([])
    for found in counts:
        for verdict, count in found.items():
            total[verdict] += count
    return total


def share_within(counts: Mapping[Verdict, int]) -> float | None:
    """Of the comparable cells, the share that is within."""
    comparable = sum(counts.values()) - counts["not comparable"]
    return counts["within"] / comparable if comparable else None


def count_decided(shown: Sequence[ExhibitResult]) -> dict[str, list[DecidedClaim]]:
    """The claims of each paper that has any, with what our cells say of them."""
    tables = {one.name: one.table for one in shown}
    names = list(dict.fromkeys(one.paper for one in shown))
    found = {paper.name: decide(paper.claims, tables) for paper in catalog.PAPERS if paper.name in names}
    return {name: claims for name, claims in found.items() if claims}


def findings(claims: Iterable[DecidedClaim]) -> dict[Finding, int]:
    """How many claims have each finding."""
    found = [one.finding for one in claims]
    return {finding: found.count(finding) for finding in FINDINGS}


def group_by_value(texts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names by what is said of them, so that one sentence about forty cells is printed once.

    >>> group_by_value([("a", "slow"), ("b", ""), ("c", "slow")])
    {'slow': ['a', 'c'], '': ['b']}
    """
    found: dict[str, list[str]] = {}
    for name, text in texts:
        found.setdefault(text, []).append(name)
    return found


def number(value: float | None) -> str:
    """A number for a reader: about three decimals, fewer when it is large.

    >>> [number(x) for x in (0.91, 12.345, 301.66, 54321.2, 0.00042, 3.0, 0, None)]
    ['0.910', '12.35', '301.7', '54,321', '0.00042', '3', '0', '–']
    """
    if value is None:
        return "–"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    if abs(value) < 0.0005:
        return f"{value:.2g}"
    return f"{value:.{3 - min(2, max(0, math.floor(math.log10(max(abs(value), 1)))))}f}"


def spread(deviation: float | None) -> str:
    """`` ± 0.012``, or nothing; what rounds to zero is shown as zero."""
    if deviation is None:
        return ""
    return f" ± {number(deviation if abs(deviation) >= 0.0005 else 0.0)}"
