"""What a partition says in a few lines: numbers that add up over parts of the objects, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from evidentia.belief.decision import ASSIGNED
from evidentia.belief.focal import format_mask
from evidentia.safe_text import printable
from evidentia.verdict.result import Verdict
from evidentia.verdict.words import describe_verdict, is_one_cloud

__all__ = ["KINDS", "count_kinds", "describe_clusters", "kind_of", "percent"]

WORST = 3  # objects that are named
KINDS = ("assigned", "ambiguous", "outlier")  # of objects, by their set: one cluster, several, none


def kind_of(mask: int) -> str:
    """Return the kind of an object by the mask of its set.

    Examples
    --------
    >>> kind_of(0b100), kind_of(0b101), kind_of(0)
    ('assigned', 'ambiguous', 'outlier')
    """
    return "outlier" if mask == 0 else "assigned" if mask.bit_count() == 1 else "ambiguous"


def count_kinds(sets: Mapping[int, int]) -> dict[str, int]:
    """Return how many objects are of each kind; ``sets`` has how many have each set."""
    found = dict.fromkeys(KINDS, 0)
    for mask, count in sets.items():
        found[kind_of(mask)] += count
    return found


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
    """How many objects have each set, and how uncertain they are."""

    n: int
    sets: Mapping[int, int]  # small sets first
    nonspecificity: float  # sum over the objects, each between 0 and 1
    uncertainty: float  # in total, likewise
    worst: tuple[tuple[float, str], ...]  # doubt and name of the most doubtful objects

    def __add__(self, other: Counts) -> Counts:  # type: ignore[override]
        together = {mask: self.sets.get(mask, 0) + other.sets.get(mask, 0) for mask in {*self.sets, *other.sets}}
        return Counts(
            self.n + other.n,
            dict(sorted(together.items(), key=lambda item: (item[0].bit_count(), item[0]))),
            self.nonspecificity + other.nonspecificity,
            self.uncertainty + other.uncertainty,
            tuple(sorted([*self.worst, *other.worst], key=lambda one: -one[0])[:WORST]),
        )

    def to_text(
        self, n_clusters: int, cluster_names: Sequence[str] | None, *, empty: bool, verdict: Verdict | None = None
    ) -> str:
        """A few lines for a person, the verdict first; ``empty``: whether objects could be outliers."""
        lines = describe_verdict(verdict, n_clusters)
        n, totals, cloud = self.n, count_kinds(self.sets), is_one_cloud(verdict)
        objects = f"{n} object{'s' * (n != 1)}"
        if n_clusters == 1:
            outliers = f", {totals['outlier']} of them outliers" if totals["outlier"] else ""
            return "\n".join([*lines, f"{objects} in 1 cluster{outliers}"])
        groups: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for mask, count in self.sets.items():
            groups[kind_of(mask)].append(f"{printable(format_mask(mask, cluster_names))}: {count}")

        def line(kind: str, words: str, detail: bool = True) -> str:
            share = "" if cloud else f" ({percent(totals[kind], n):>5})"
            listed = groups[kind][:8] + (["..."] if len(groups[kind]) > 8 else [])
            tail = f"  {', '.join(listed)}" if detail and listed else ""
            return f"  {totals[kind]:>{len(str(n))}}{share} {words}{tail}"

        if cloud:
            lines += [
                f"{objects} in {describe_clusters(n_clusters, self.sets, 'part')} of one cloud; one group describes "
                "them as well",
                line("assigned", "inside one part   "),
                line("ambiguous", "between the parts "),
            ]
        else:
            lines += [
                f"{objects} in {describe_clusters(n_clusters, self.sets)}",
                line("assigned", "assigned to one cluster    "),
                line("ambiguous", "ambiguous between clusters "),
            ]
        if empty:
            lines.append(line("outlier", "outliers, in none of them", detail=False))
        if cloud:
            return "\n".join([*lines, f"Inside: belief of {ASSIGNED:g} or more."])
        lines.append(
            f"Assigned: belief of {ASSIGNED:g} or more. Mean nonspecificity {self.nonspecificity / max(n, 1):.2f}, mean "
            f"uncertainty {self.uncertainty / max(n, 1):.2f} (0: certain, 1: nothing known)."
        )
        if names := [printable(name) for doubt, name in self.worst if doubt > 0]:
            lines.append(f"Most doubtful: {('; ' if ', ' in ' '.join(names) else ', ').join(names)}.")
        return "\n".join(lines)


def percent(count: int, n: int) -> str:
    """Return a share in whole percents, but 0 and 100 only for nobody and everybody.

    Examples
    --------
    >>> percent(1, 1000), percent(999, 1000), percent(5, 5), percent(0, 0)
    ('<1 %', '>99 %', '100 %', '0 %')
    """
    share = 100 * count / max(n, 1)
    return "<1 %" if 0 < share < 0.5 else ">99 %" if 99.5 <= share < 100 else f"{share:.0f} %"


def describe_clusters(n_clusters: int, sets: Mapping[int, int], what: str = "cluster") -> str:
    """Return how many clusters there are, and how many more are empty: no object is assigned to or possibly in them.

    ``sets`` has how many objects have each set.

    Examples
    --------
    >>> describe_clusters(3, {0b001: 8, 0b011: 2}), describe_clusters(2, {0b01: 8, 0b10: 2})
    ('2 clusters (and 1 empty one)', '2 clusters')
    """
    reached = int(np.bitwise_or.reduce(np.array(list(sets), dtype=np.int64))).bit_count() if sets else n_clusters
    empty = n_clusters - reached
    more = f" (and {empty} empty one{'s' * (empty > 1)})" if empty else ""
    return f"{reached} {what}{'s' * (reached != 1)}{more}"


def no_answer_in_words(n: int, why: str) -> str:
    return f"{n} objects: no answer\n  {why}\n  No object is assigned to a cluster."
