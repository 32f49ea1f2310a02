"""What a paper says of its method in a sentence, decided by the cells that were computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from reproduction.exhibit import Cell

Table = Mapping[str, Mapping[str, Cell]]  # by row and column
Tables = Mapping[str, Table]  # by exhibit
Finding = Literal["holds", "does not hold", "undecided", "not computed"]
Value = TypeVar("Value", bound=Any)
FINDINGS: tuple[Finding, ...] = ("holds", "does not hold", "undecided", "not computed")


class NotComputed(LookupError):
    """A number on which a claim rests is missing, as of a slow table in a quick run, or of a unit that failed."""


class Numbers(dict[str, Value]):
    """Numbers by name, of which those that were not computed are missing."""

    def __missing__(self, name: str) -> Value:
        raise NotComputed(name)

    def largest(self, names: Iterable[str]) -> str:
        """Return that of some names, as far as they are here, which has the largest number."""
        found = [name for name in names if name in self]
        if not found:
            raise NotComputed
        return max(found, key=self.__getitem__)


class Case(NamedTuple):
    """One thing that a claim says; `holds` is None when chance may have decided."""

    name: str
    holds: bool | None
    words: str


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and how our cells decide it.

    Parameters
    ----------
    place : str
        Where the paper says it, as ``"Figures 11 to 14"``.
    text : str
    exhibits : sequence of str
        Whose cells are looked at.
    cases : function (tables) -> list of Case
    needed : int, optional
        How many of the cases must hold for the claim to hold; all of them when not given.
    """

    place: str
    text: str
    exhibits: Sequence[str]
    cases: Callable[[Tables], list[Case]]
    needed: int | None = None


@dataclass(frozen=True)
class DecidedClaim:
    """A claim with what was found."""

    claim: Claim
    cases: Sequence[Case]

    @property
    def finding(self) -> Finding:
        """
        >>> claim = Claim("Table 1", "It is best.", [], lambda tables: [], needed=2)
        >>> cases = [Case("Iris", True, ""), Case("Wine", None, ""), Case("Glass", False, "")]
        >>> DecidedClaim(claim, cases).finding, DecidedClaim(claim, cases[1:]).finding
        ('undecided', 'does not hold')
        """
        if not self.cases:
            return "not computed"
        needed = len(self.cases) if self.claim.needed is None else self.claim.needed
        if sum(case.holds is True for case in self.cases) >= needed:
            return "holds"
        return "undecided" if sum(case.holds is not False for case in self.cases) >= needed else "does not hold"

    @property
    def score(self) -> str:
        """``holds in 2 of 4``, where there are several cases."""
        held = sum(case.holds is True for case in self.cases)
        return f"{held} of {len(self.cases)}" if len(self.cases) > 1 else ""


def decide(claims: Sequence[Claim], tables: Tables) -> list[DecidedClaim]:
    """Return every claim with its cases; none where something that it rests on was not computed."""
    return [DecidedClaim(claim, find_cases(claim, tables)) for claim in claims]


def find_cases(claim: Claim, tables: Tables) -> Sequence[Case]:
    if not all(tables.get(name) for name in claim.exhibits):
        return ()
    try:
        return claim.cases(tables)
    except NotComputed:
        return ()


def above(first: Cell, second: Cell) -> bool | None:
    """Whether the first of two means is the larger one; None when they differ by less than two standard errors.

    >>> high, low = Cell("a", "x", 0.93, 0.04, runs=100), Cell("b", "x", 0.91, 0.04, runs=100)
    >>> above(high, low), above(low, high), above(high, Cell("b", "x", 0.929, 0.04, runs=100))
    (True, False, None)
    """
    if first.ours is None or second.ours is None:
        return None
    gain = first.ours - second.ours
    if abs(gain) <= 2 * math.hypot(first.error, second.error):
        return None
    return gain > 0


def best(name: str, own: Mapping[str, Cell], others: Mapping[str, Cell], *, lowest: bool = False) -> Case:
    """Whether one of some methods is above all others, or below them; a method without a number takes no part.

    >>> cells = {name: Cell("Iris", name, ours) for name, ours in (("FCM", 0.7), ("ECM", None), ("EGMM", 0.9))}
    >>> best("Iris", {"EGMM": cells.pop("EGMM")}, cells)
    Case(name='Iris', holds=True, words='EGMM 0.9 against FCM 0.7')
    """
    first, second = extreme(own, lowest), extreme(others, lowest)
    if first is None or second is None:
        return Case(name, None, "not computed")
    words = f"{first} {value_text(own[first])} against {second} {value_text(others[second])}"
    return Case(name, above(others[second], own[first]) if lowest else above(own[first], others[second]), words)


def joined(name: str, parts: Sequence[Case]) -> Case:
    """One case of several that must all hold.

    >>> joined("Iris", [Case("10 links", True, "0.9 against 0.8"), Case("20 links", None, "0.9 against 0.9")]).holds
    >>> joined("Iris", [Case("10 links", True, "0.9 against 0.8"), Case("20 links", False, "0.8 against 0.9")]).words
    '10 links 0.9 against 0.8, 20 links 0.8 against 0.9'
    """
    holds = False if any(part.holds is False for part in parts) else True if all(part.holds for part in parts) else None
    return Case(name, holds, ", ".join(f"{part.name} {part.words}" for part in parts))


def alike(name: str, first: tuple[str, Cell], second: tuple[str, Cell], *, tolerance: float) -> Case:
    """Whether two means differ by no more than a tolerance, or than two standard errors.

    >>> alike("Wine", ("CECM", Cell("Wine", "CECM", 0.95)), ("CFCM", Cell("Wine", "CFCM", 0.9)), tolerance=0.02)
    Case(name='Wine', holds=False, words='CECM 0.95, CFCM 0.9')
    """
    words = ", ".join(f"{method} {value_text(cell)}" for method, cell in (first, second))
    (_, one), (_, other) = first, second
    if one.ours is None or other.ours is None:
        return Case(name, None, words)
    return Case(name, abs(one.ours - other.ours) <= max(tolerance, 2 * math.hypot(one.error, other.error)), words)


def extreme(cells: Mapping[str, Cell], lowest: bool) -> str | None:
    """The method of the highest number, or of the lowest."""
    there = {name: cell.ours for name, cell in cells.items() if cell.ours is not None}
    return (min if lowest else max)(there, key=there.__getitem__) if there else None


def value_text(cell: Cell) -> str:
    if cell.ours is None:
        return "–"
    return f"{cell.ours:,.0f}" if abs(cell.ours) >= 1000 else f"{cell.ours:.3g}"
