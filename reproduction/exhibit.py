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
Verdict = Literal["within", "better", "worse", "different", "not comparable"]
VERDICTS: tuple[Verdict, ...] = ("within", "better", "worse", "different", "not comparable")


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
    limit : int, optional
        Seconds of CPU after which its process is ended (where the system can do that); the result is then
        ``{"no end within": limit}``, and kept like any other.
    """

    key: str
    measure: Callable[..., Result]
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None

    @property
    def measure_name(self) -> str:
        return f"{self.measure.__module__}.{self.measure.__qualname__}"

    @property
    def fingerprint(self) -> str:
        """Changes when the settings, the limit or the function's name do."""
        parts = [self.key, self.measure_name, dict(self.settings), *([] if self.limit is None else [self.limit])]
        text = json.dumps(parts, sort_keys=True)
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
        How far from the paper's number is still the same, however sure both means are.
    incomparable : str
        Why the two numbers cannot be compared, when both are there: other data, an unpublished draw.
    reason : str
        Why ours is another number, when that was looked into.
    runs, paper_runs : int
        How many runs the mean and the deviation are over.
    rival : bool
        A method that the paper compares its own with. To come out above the paper's number is then no success.
    target : float or None
        What both numbers aim at, as the nominal level of a coverage: the nearer one is better.
    single : bool
        The paper's number is of one draw of what our deviation is over, so that its own deviation is ours.
    """

    row: str
    column: str
    ours: float | None
    deviation: float | None = None
    paper: float | None = None
    paper_deviation: float | None = None
    better: Literal["higher", "lower", "equal"] = "higher"
    tolerance: float = 0.02
    incomparable: str = ""
    reason: str = ""
    runs: int = 1
    paper_runs: int = 1
    rival: bool = False
    target: float | None = None
    single: bool = False

    @property
    def error(self) -> float:
        """Standard error of our mean."""
        return (self.deviation or 0) / math.sqrt(self.runs)

    @property
    def limit(self) -> float:
        """Two standard errors of the difference of both means, or the tolerance, whichever is larger."""
        theirs = self.deviation if self.single else self.paper_deviation
        error = math.hypot(self.error, (theirs or 0) / (1 if self.single else math.sqrt(self.paper_runs)))
        return max(self.tolerance, 2 * error)

    @property
    def verdict(self) -> Verdict:
        """
        >>> Cell("Iris", "ARI", 0.91, 0.03, paper=0.73, paper_deviation=0.05, runs=9, paper_runs=25).verdict
        'better'
        >>> Cell("Iris", "ARI", 0.91, 0.03, paper=0.73, rival=True).verdict
        'different'
        """
        if self.ours is None or math.isnan(self.ours) or self.paper is None or self.incomparable:
            return "not comparable"
        gain = self.ours - self.paper
        if abs(gain) <= self.limit + 1e-12:
            return "within"
        if self.rival or (self.better == "equal" and self.target is None):
            return "different"
        if self.target is not None:
            return "better" if abs(self.ours - self.target) < abs(self.paper - self.target) else "worse"
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
    words : sequence of str
        What a reader must know beside the numbers: data, settings, and how they were found.
    notes : function (results) -> list of str, optional
        What the units say beside the cells.
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
    words: Sequence[str] = ()

    @property
    def paper(self) -> str:
        return self.name.split(".")[0]


def counted(cells: Iterable[Cell]) -> dict[Verdict, int]:
    """How many cells have each verdict.

    >>> counted([Cell("a", "x", 0.5, paper=0.5), Cell("b", "x", 0.5)])
    {'within': 1, 'better': 0, 'worse': 0, 'different': 0, 'not comparable': 1}
    """
    found = Counter(cell.verdict for cell in cells)
    return {verdict: found[verdict] for verdict in VERDICTS}
