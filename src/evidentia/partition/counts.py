"""What a partition says in a few lines: numbers that add up over parts of the objects, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evidentia.belief.focal import format_mask
from evidentia.safe_text import printable

__all__ = ["describe_clusters"]

WORST = 3  # objects that are named


class Certainty(NamedTuple):
    """Sums over the objects, each as often as its weight says, of which the criteria for the number are made."""

    total: float  # of the weights
    nonspecificity: float  # in bits
    squares: float  # of the pignistic probabilities

    @classmethod
    def of(cls, partition: Any, weight: np.ndarray | None = None) -> Certainty:
        """``weight``: None counts each object once."""
        share = np.ones(len(partition)) if weight is None else weight
        squares = np.einsum("ij,ij->i", partition.pignistic, partition.pignistic)
        return cls(float(share.sum()), float(share @ partition.nonspecificity), float(share @ squares))

    def __add__(self, other: Certainty) -> Certainty:  # type: ignore[override]
        return Certainty(*(mine + theirs for mine, theirs in zip(self, other)))


class Counts(NamedTuple):
    """How many objects have each set as the set of their largest mass, and how sure they are."""

    n: int
    sets: Mapping[int, int]  # small sets first
    n_weakly_sure: int  # single clusters with less than half of the mass
    nonspecificity: float  # sum over the objects, each between 0 and 1
    worst: tuple[tuple[float, str], ...]  # doubt and name of the most doubtful objects

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        together = {mask: self.sets.get(mask, 0) + other.sets.get(mask, 0) for mask in {*self.sets, *other.sets}}
        return Counts(
            self.n + other.n,
            dict(sorted(together.items(), key=lambda item: (item[0].bit_count(), item[0]))),
            self.n_weakly_sure + other.n_weakly_sure,
            self.nonspecificity + other.nonspecificity,
            tuple(sorted([*self.worst, *other.worst], key=lambda one: -one[0])[:WORST]),
        )

    def to_text(self, n_clusters: int, cluster_names: Sequence[str] | None, *, empty: bool) -> str:
        """A few lines for a person; ``empty``: whether objects could be outliers."""
        n = max(self.n, 1)
        groups: dict[str, list[str]] = {"sure": [], "torn": [], "out": []}
        totals = dict.fromkeys(groups, 0)
        for mask, count in self.sets.items():
            kind = "out" if mask == 0 else "sure" if mask.bit_count() == 1 else "torn"
            totals[kind] += count
            groups[kind].append(f"{printable(format_mask(mask, cluster_names))}: {count}")

        def line(kind: str, words: str, detail: bool = True) -> str:
            listed = groups[kind][:8] + (["..."] if len(groups[kind]) > 8 else [])
            tail = f"     {', '.join(listed)}" if detail and listed else ""
            return f"  {totals[kind]:>{len(str(n))}} ({totals[kind] / n:4.0%}) {words}{tail}".replace("%", " %")

        lines = [
            f"{self.n} object{'s' * (self.n != 1)} in {describe_clusters(n_clusters, self.sets)}",
            line("sure", "sure of one cluster  "),
            *(
                [f"     but {self.n_weakly_sure} of them with less than half of their mass on it"]
                if self.n_weakly_sure
                else []
            ),
            line("torn", "torn between clusters"),
        ]
        if empty:
            lines.append(line("out", "outliers, in none of them", detail=False))
        lines.append(
            f"Nonspecificity {self.nonspecificity / n:.2f} on average (0: every object sure, 1: nothing known)."
        )
        if names := [printable(name) for doubt, name in self.worst if doubt > 0]:
            lines[-1] += f" Most doubtful: {('; ' if ', ' in ' '.join(names) else ', ').join(names)}."
        return "\n".join(lines)


def describe_clusters(n_clusters: int, sets: Mapping[int, int]) -> str:
    """Return how many clusters there are, and how many of them no object is surely or possibly in.

    ``sets`` has how many objects have each set as the set of their largest mass.

    Examples
    --------
    >>> describe_clusters(3, {0b001: 8, 0b011: 2}), describe_clusters(2, {0b01: 8, 0b10: 2})
    ('3 clusters, 1 of them empty', '2 clusters')
    """
    reached = np.bitwise_or.reduce(np.array(list(sets), dtype=np.int64)) if sets else 0
    empty = n_clusters - int(reached).bit_count() if sets else 0
    return f"{n_clusters} cluster{'s' * (n_clusters > 1)}" + (f", {empty} of them empty" if empty else "")


def no_answer_in_words(n: int, why: str) -> str:
    return f"{n} objects: no answer\n  {why}\n  Nobody is sure of a cluster."
