"""What an experiment is made of: units that are computed, cells that are compared, exhibits that are shown."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = dict[str, Any]  # what a unit measured: numbers, text, and lists of them, as JSON holds them
Results = Mapping[str, Result]  # by the key of the unit; a unit that failed is not in it
Verdict = Literal["within", "better", "worse", "not comparable"]
VERDICTS: tuple[Verdict, ...] = ("within", "better", "worse", "not comparable")


@dataclass(frozen=True)
class Unit:
    """One computation. It is kept on disk when it is done, and not done again.

    Parameters
    ----------
    key : str
        Name within the paper, as ``"iris/EGMM"``. Exhibits of one paper that name the same unit share it.
    measure : function of the settings, at the top level of a module
        Called as ``measure(**settings)``, perhaps in another process.
    settings : mapping
        All that the result depends on, the seed and the number of runs included, as JSON holds it.
    """

    key: str
    measure: Callable[..., Result]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measure_name(self) -> str:
        return f"{self.measure.__module__}.{self.measure.__qualname__}"

    @property
    def fingerprint(self) -> str:
        """Changes when the settings or the function's name do."""
        text = json.dumps([self.key, self.measure_name, dict(self.settings)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Cell:
    """A number of ours, and the paper's where it has one.

    Parameters
    ----------
    row, column : str
    ours, deviation : float or None
        Mean and standard deviation of our runs; None when the unit failed.
    paper, paper_deviation : float or None
    better : {"higher", "lower", "equal"}
        Which side of the paper's number is better; "equal" when the number itself is what matters.
    tolerance : float
        How far from the paper's number is still the same, beside two of its standard deviations.
    incomparable : str
        Why the two numbers cannot be compared, when both are there: other data, an unpublished draw.
    reason : str
        Why ours is worse, when that was looked into.
    """

    row: str
    column: str
    ours: float | None
    deviation: float | None = None
    paper: float | None = None
    paper_deviation: float | None = None
    better: Literal["higher", "lower", "equal"] = "higher"
    tolerance: float = 0.05
    incomparable: str = ""
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """
        >>> Cell("Iris", "ARI", ours=0.91, paper=0.73, paper_deviation=0.05).verdict
        'better'
        >>> Cell("Iris", "ARI", ours=0.64, paper=0.73, paper_deviation=0.05).verdict
        'within'
        """
        if self.ours is None or math.isnan(self.ours) or self.paper is None or self.incomparable:
            return "not comparable"
        gain = self.ours - self.paper
        if abs(gain) <= max(self.tolerance, 2 * (self.paper_deviation or 0)) + 1e-12:
            return "within"
        if self.better == "equal":
            return "worse"
        return "better" if (gain > 0) == (self.better == "higher") else "worse"


def nothing(quick: bool, seed: int) -> list[Unit]:
    """The units of an exhibit that cannot be computed."""
    return []


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure of a paper: what it needs, what it measures and how it is shown.

    Parameters
    ----------
    name : str
        Paper and place, as ``"egmm.table12"``, or ``"nnevclus.figure22-26"`` for several at once.
    title : str
    units : function (quick, seed) -> list of Unit, optional
    cells : function (results) -> list of Cell, optional
        From what was measured; cells of units that failed have ``ours=None``.
    draw : function (results) -> Figure, optional
    notes : function (results) -> list of str, optional
        What a reader must know beside the numbers.
    data : sequence of str
        Data sets that must be on the machine.
    minutes : (float, float)
        About how long it takes on one core, quick and full.
    absent : str
        Why there is nothing to compute: a drawing, an example of a definition, data that nobody has.
    """

    name: str
    title: str
    units: Callable[[bool, int], list[Unit]] = nothing
    cells: Callable[[Results], list[Cell]] | None = None
    draw: Callable[[Results], Figure] | None = None
    notes: Callable[[Results], list[str]] | None = None
    data: Sequence[str] = ()
    minutes: tuple[float, float] = (0.1, 1.0)
    absent: str = ""

    @property
    def paper(self) -> str:
        return self.name.split(".")[0]


def counted(cells: Iterable[Cell]) -> dict[Verdict, int]:
    """How many cells have each verdict.

    >>> counted([Cell("a", "x", 0.5, paper=0.5), Cell("b", "x", 0.5)])
    {'within': 1, 'better': 0, 'worse': 0, 'not comparable': 1}
    """
    found = Counter(cell.verdict for cell in cells)
    return {verdict: found[verdict] for verdict in VERDICTS}
