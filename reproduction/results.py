"""What an exhibit shows once its units are done, and how a directory keeps it: CSV, PNG and one record."""

from __future__ import annotations

import csv
import io
import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import evidentia
from evidentia.datasets import data_directory
from reproduction import catalogue
from reproduction.exhibit import Cell, Exhibit, Unit, Verdict, counted
from reproduction.running import Failure, Measured, Outcomes

RECORD = "record.json"
NUMBERS = ("ours", "deviation", "paper", "paper_deviation", "tolerance")
FIELDS = ("row", "column", *NUMBERS[:4], "verdict", "better", "tolerance", "incomparable", "reason")
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
class Shown:
    """An exhibit with its numbers.

    Attributes
    ----------
    about : mapping
        What the record holds of it: ``title``, ``quick``, ``seed``, ``version``, ``seconds``, ``notes``, ``absent``
        (why nothing was computed), ``failures``, ``warnings`` and ``units`` with their settings.
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
            for kind, first, last in catalogue.PLACES.findall(self.name)
        ]
        return f"{' and '.join(places)}. {self.about['title']}" if places else self.about["title"]

    @property
    def counts(self) -> dict[Verdict, int]:
        return counted(self.cells)


# -- from units to what is shown --------------------------------------------------------------------------------------


def gather(exhibit: Exhibit, units: Sequence[Unit], outcomes: Outcomes, *, quick: bool, seed: int) -> Shown:
    """Cells, notes and figure of an exhibit. What goes wrong in making one of them is told and spoils no other."""
    done = {unit.key: found for unit in units if isinstance(found := outcomes.get(unit.fingerprint), Measured)}
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
        "seconds": round(sum(found.seconds for found in done.values()), 3),
        "verdicts": counted(cells),
        "notes": made("notes", exhibit.notes, []),
        "absent": exhibit.absent,
        "failures": failures,
        "warnings": [neutral(f"{key}: {text}") for key, found in done.items() for text in found.warnings],
        "units": [
            {"key": unit.key, "settings": dict(unit.settings), "seconds": done[unit.key].seconds}
            for unit in units
            if unit.key in done
        ],
    }
    return Shown(exhibit.name, about, cells, png)


def left_out(exhibit: Exhibit, why: str) -> Shown:
    """An exhibit of which nothing was computed."""
    empty: dict[str, Any] = {"notes": [], "failures": [], "warnings": [], "units": [], "seconds": 0.0}
    return Shown(exhibit.name, {"title": exhibit.title, "version": evidentia.__version__, "absent": why, **empty})


def rounded(cell: Cell) -> Cell:
    """Six figures of our numbers, which is what the CSV keeps: every verdict is that of the numbers shown."""

    def short(value: float | None) -> float | None:
        return None if value is None or math.isnan(value) else float(f"{value:.6g}")

    return replace(cell, ours=short(cell.ours), deviation=short(cell.deviation))


def picture(draw: Any, results: Any) -> bytes:
    """A drawing as PNG of 256 colours: a third of the size, and no difference to see."""
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


def write(directory: Path, shown: Iterable[Shown]) -> list[Shown]:
    """Add exhibits to a directory; returns all that it now holds, those of earlier runs included.

    An exhibit that could not be computed this time does not replace one that could.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / RECORD
    kept = json.loads(path.read_text(encoding="utf-8"))["exhibits"] if path.exists() else {}
    for one in shown:
        if not one.about["units"] and kept.get(one.name, {}).get("units"):
            continue
        kept[one.name] = dict(one.about)
        _write_or_remove(directory / f"{one.name}.csv", cells_to_csv(one.cells).encode() if one.cells else b"")
        _write_or_remove(directory / f"{one.name}.png", one.png)
    record = {"versions": versions(), "exhibits": dict(sorted(kept.items(), key=lambda item: natural(item[0])))}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return read(directory)


def read(directory: Path) -> list[Shown]:
    """The exhibits that a directory holds."""
    exhibits = json.loads((directory / RECORD).read_text(encoding="utf-8"))["exhibits"]
    found = []
    for name, about in exhibits.items():
        table, drawing = directory / f"{name}.csv", directory / f"{name}.png"
        cells = cells_from_csv(table.read_text(encoding="utf-8")) if table.exists() else []
        found.append(Shown(name, about, cells, drawing.read_bytes() if drawing.exists() else b""))
    return found


def cells_to_csv(cells: Iterable[Cell]) -> str:
    """
    >>> print(cells_to_csv([Cell("Iris", "ARI", 0.91, paper=0.73)]))
    row,column,ours,deviation,paper,paper_deviation,verdict,better,tolerance,incomparable,reason
    Iris,ARI,0.91,,0.73,,better,higher,0.05,,
    <BLANKLINE>
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for cell in cells:
        values = (getattr(cell, name) for name in FIELDS)
        writer.writerow(["" if value is None else value for value in values])
    return text.getvalue()


def cells_from_csv(text: str) -> list[Cell]:
    """The other way round; the verdict is found anew."""
    cells = []
    for line in csv.DictReader(io.StringIO(text)):
        line.pop("verdict")
        numbers = {name: float(line.pop(name)) if line[name] else line.pop(name) or None for name in NUMBERS}
        cells.append(Cell(**line, **numbers))  # type: ignore[arg-type]
    return cells


def versions() -> dict[str, str]:
    found = {"evidentia": evidentia.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _write_or_remove(path: Path, content: bytes) -> None:
    if content:
        path.write_bytes(content)
    else:
        path.unlink(missing_ok=True)


# -- words and sums ---------------------------------------------------------------------------------------------------


def neutral(text: str) -> str:
    """Without the places of this machine."""
    places = {data_directory(): "EVIDENTIA_DATA", Path(evidentia.__file__).parent: "evidentia", Path.home(): "~"}
    for place, name in places.items():
        if place is not None and place != place.parent:
            text = text.replace(str(place), name)
    return text


def natural(name: str) -> tuple[Any, ...]:
    """Key that sorts ``table2`` before ``table10``, papers in the order of the catalogue and tables before figures."""
    paper, _, place = name.partition(".")
    known = [known.name for known in catalogue.PAPERS]
    at = catalogue.PLACES.match(place)
    return (
        known.index(paper) if paper in known else len(known),
        paper,
        (at is None, at is not None and at[1] == "figure", int(at[2]) if at else 0),
        place,
    )


def tally(shown: Iterable[Shown]) -> dict[str, dict[Verdict, int]]:
    """How many cells of each paper have each verdict, for papers that have cells."""
    cells: dict[str, list[Cell]] = {}
    for one in shown:
        cells.setdefault(one.paper, []).extend(one.cells)
    return {paper: counted(found) for paper, found in cells.items() if found}


def summed(counts: Iterable[Mapping[Verdict, int]]) -> dict[Verdict, int]:
    total = counted([])
    for found in counts:
        for verdict, count in found.items():
            total[verdict] += count
    return total


def good_share(counts: Mapping[Verdict, int]) -> float | None:
    """Of the comparable cells, the share that is within or better."""
    good = counts["within"] + counts["better"]
    return good / (good + counts["worse"]) if good + counts["worse"] else None


def grouped(texts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names by what is said of them, so that one sentence about forty cells is printed once.

    >>> grouped([("a", "slow"), ("b", ""), ("c", "slow")])
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
