"""What a person says about objects, in one sentence each, and the links that follow.

A sentence about many objects stands for many links. Up to :data:`ALL_PAIRS` of them are all written; beyond, the fewest
that say the same: a chain through objects that belong together, one partner for each object that is apart from others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

from evidentia.constraints.chains import Contradiction, ContradictoryLinks
from evidentia.constraints.files import Answer

__all__ = ["Statement", "as_answers", "check_objects"]

KINDS = ("together", "apart", "label", "unknown")
ALL_PAIRS = 435  # those of 30 objects
SHOWN = 3  # objects that a sentence names before it counts them

Pair = tuple[str, str]


@dataclass(frozen=True)
class Statement:
    """One thing that is known of some objects.

    Parameters
    ----------
    kind : {"together", "apart", "label", "unknown"}
        The ``objects`` belong together; none of them belongs with any of the ``others``; they have a ``label``, which
        tells them from those of another one; or it was asked about two of them, and nobody knows.
    objects, others : sequence of str
        Names.
    certainty : float in (0, 1]
        Below 1 the links are soft.
    label : str

    Examples
    --------
    >>> print(Statement("apart", ["Ann", "Bob"], ["Eve"], certainty=0.8))
    Ann and Bob do not belong with Eve (80 % sure)
    """

    kind: str
    objects: tuple[str, ...]
    others: tuple[str, ...] = ()
    certainty: float = 1.0
    label: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"A statement is one of {', '.join(map(repr, KINDS))}. Got {self.kind!r}.")
        for name in ("objects", "others"):
            object.__setattr__(self, name, tuple(dict.fromkeys(map(str, getattr(self, name)))))
        if not 0 < self.certainty <= 1:
            raise ValueError(f"A certainty lies in (0, 1]. Got {self.certainty!r}.")
        if self.kind == "together" and len(self.objects) < 2:
            raise ValueError("Which objects belong together? Choose at least two.")
        if self.kind == "label" and not (self.objects and self.label):
            raise ValueError("A label needs a word, and at least one object that has it.")
        if self.kind in ("apart", "unknown") and not (self.objects and self.others):
            raise ValueError("What is apart from what? Both groups need at least one object.")
        if both := sorted(set(self.objects) & set(self.others)):
            raise ValueError(f"{both[0]!r} is in both groups, and cannot be apart from itself.")

    @classmethod
    def of_answer(cls, first: str, second: str, answer: str) -> Statement:
        """What the answer to a question says."""
        if answer == "same":
            return cls("together", (first, second))
        return cls("apart" if answer == "different" else "unknown", (first,), (second,))

    def __str__(self) -> str:
        who, sure = _list_names(self.objects), "" if self.certainty == 1 else f" ({100 * self.certainty:.0f} % sure)"
        if self.kind == "together":
            return f"{who} belong together{sure}"
        many = len(self.objects) > 1
        if self.kind == "label":
            return f"{who} {'are' if many else 'is'} {self.label!r}{sure}"
        whom = _list_names(self.others)
        if self.kind == "unknown":
            return f"nobody knows whether {who} belong{'s' * (not many)} with {whom}"
        return f"{who} {'do' if many else 'does'} not belong with {whom}{sure}"


def _list_names(names: Sequence[str]) -> str:
    shown = list(names[:SHOWN]) + [f"{len(names) - SHOWN} more"] * (len(names) > SHOWN)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def find_links(statements: Iterable[Statement]) -> dict[Pair, tuple[bool, float]]:
    """Links that statements stand for, each pair once: whether it must be together, and how certain that is.

    Of two statements about a pair the more certain one holds, of two soft ones the later; two hard ones that contradict
    each other are refused.

    Examples
    --------
    >>> find_links([Statement("together", ["a", "b"]), Statement("apart", ["b"], ["c"], 0.7)])
    {('a', 'b'): (True, 1.0), ('b', 'c'): (False, 0.7)}
    """
    found: dict[Pair, tuple[bool, float]] = {}
    for (first, second), must, certainty in _spell_out(list(statements)):
        pair = (second, first) if (second, first) in found else (first, second)
        held = found.get(pair, (must, 0.0))
        if held[0] != must and held[1] == certainty == 1:
            raise ContradictoryLinks(
                f"{first!r} and {second!r} were said to belong together, and not to.", [Contradiction(pair, 1.0)]
            )
        if certainty >= held[1]:
            found[pair] = must, certainty
    return found


def _spell_out(statements: Sequence[Statement]) -> Iterator[tuple[Pair, bool, float]]:
    for one in statements:
        if one.kind == "together":
            yield from ((pair, True, one.certainty) for pair in _within(one.objects))
        elif one.kind == "apart":
            yield from ((pair, False, one.certainty) for pair in _across(one.objects, one.others))
    labels = {name: one for one in statements if one.kind == "label" for name in one.objects}  # the last word holds
    groups: dict[str, list[str]] = {}
    for name, one in labels.items():
        groups.setdefault(one.label, []).append(name)

    def surely(pair: Pair) -> float:
        return min(labels[name].certainty for name in pair)

    for names in groups.values():
        yield from ((pair, True, surely(pair)) for pair in _within(names))
    for names, others in combinations(groups.values(), 2):
        yield from ((pair, False, surely(pair)) for pair in _across(names, others))


def _within(names: Sequence[str]) -> Iterator[Pair]:
    many = len(names) * (len(names) - 1) // 2 > ALL_PAIRS
    return pairwise(names) if many else combinations(names, 2)


def _across(names: Sequence[str], others: Sequence[str]) -> Iterator[Pair]:
    if len(names) * len(others) <= ALL_PAIRS:
        return product(names, others)
    longest = max(len(names), len(others))
    return ((names[at % len(names)], others[at % len(others)]) for at in range(longest))


def as_answers(statements: Sequence[Statement], rows: dict[str, int]) -> list[Answer]:
    """What is said for certain, as the answers to questions that a file of answers holds."""
    hard = {pair: must for pair, (must, certainty) in find_links(statements).items() if certainty == 1}
    said = [(*pair, "same" if must else "different") for pair, must in hard.items()]
    unknown = [(one.objects[0], one.others[0], "unknown") for one in statements if one.kind == "unknown"]
    open_ = [one for one in unknown if one[:2] not in hard and one[1::-1] not in hard]
    return [Answer(rows[first], rows[second], word) for first, second, word in [*said, *open_]]


def check_objects(statement: Statement, known: Any) -> None:
    """Refuse a statement about objects that are not there."""
    gone = [name for name in (*statement.objects, *statement.others) if name not in known]
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        raise ValueError(f"There is no object {gone[0]!r}{more} in the table.")
