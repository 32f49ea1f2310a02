"""What a credal partition says, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from evidentia.belief import ASSIGNED
from evidentia.partition import CredalPartition
from evidentia.partition.counts import percent
from evidentia.partition.explanation import join_words
from evidentia.selection.search import FIRST_LOOK
from evidentia.verdict.words import is_one_cloud

LISTED = 6  # sets of clusters that a sentence names one by one
FEW = 1 / 3  # share of the starts that agree: at most that much lowers the confidence


class Share(NamedTuple):
    """A group of objects: how many, and what is true of them."""

    kind: str
    size: int
    sentence: str
    meaning: str


def shares(partition: CredalPartition) -> list[Share]:
    """Return how many objects are assigned, ambiguous, or outliers: the three always add up to all objects.

    Examples
    --------
    >>> from evidentia import CredalPartition, FocalSets
    >>> masses = [[0, 0.9, 0, 0.1], [0, 0.2, 0.1, 0.7], [0, 0, 1, 0], [0.8, 0.1, 0.1, 0]]
    >>> for share in shares(CredalPartition(masses, FocalSets(2))):
    ...     print(share.sentence)
    2 of 4 objects (50 %) are assigned to one cluster: 1 to cluster 0, 1 to cluster 1.
    1 (25 %) is ambiguous: 1 between 0 and 1.
    1 (25 %) is an outlier, far from every cluster.
    """
    return [_assigned_share(partition), _ambiguous_share(partition), _outlier_share(partition)]


def _assigned_share(partition: CredalPartition) -> Share:
    assigned = {mask: size for mask, size in partition.set_counts.items() if mask.bit_count() == 1}
    size, n = sum(assigned.values()), len(partition)
    if is_one_cloud(partition.verdict):
        each = _list_parts(f"{count} in part {_members(partition, mask)}" for mask, count in assigned.items())
        said = f"{size} of {n} objects {_verb(size, 'lies', 'lie')} inside one part of the cloud"
        meaning = f"Their belief in that part is {ASSIGNED:g} or more. One group describes them as well."
        return Share("assigned", size, f"{said}: {each}." if size else f"{said}.", meaning)
    each = _list_parts(f"{count} to cluster {_members(partition, mask)}" for mask, count in assigned.items())
    said = f"{size} of {n} objects ({percent(size, n)}) {_verb(size, 'is', 'are')} assigned to one cluster"
    meaning = f"Their belief in that cluster is {ASSIGNED:g} or more."
    return Share("assigned", size, f"{said}: {each}." if size else f"{said}.", meaning)


def _ambiguous_share(partition: CredalPartition) -> Share:
    ambiguous = {mask: size for mask, size in partition.set_counts.items() if mask.bit_count() > 1}
    size, n = sum(ambiguous.values()), len(partition)
    if is_one_cloud(partition.verdict):
        meaning = "Where one part ends and the next begins is a choice of the method."
        return Share("ambiguous", size, f"{size} {_verb(size, 'lies', 'lie')} between the parts.", meaning)
    if not size:
        return Share(
            "ambiguous", 0, "No object is ambiguous.", "Every object is assigned to a cluster or is an outlier."
        )
    ranked = sorted(ambiguous.items(), key=lambda item: -item[1])
    between = _list_parts(f"{count} {_between_text(partition, mask)}" for mask, count in ranked)
    said = f"{size} ({percent(size, n)}) {_verb(size, 'is', 'are')} ambiguous: {between}."
    meaning = f"Their belief in any one of these clusters is below {ASSIGNED:g}; choosing one would be a guess."
    return Share("ambiguous", size, said, meaning)


def _outlier_share(partition: CredalPartition) -> Share:
    if partition.focal_sets.empty_index is None:
        meaning = "An object far from everything is given a place too."
        return Share("none", 0, "This method does not look for outliers.", meaning)
    size, n = partition.set_counts.get(0, 0), len(partition)
    what = "parts" if is_one_cloud(partition.verdict) else "clusters"
    meaning = f"Most of the mass of an outlier is on the empty set: none of the {what} fits it."
    if not size:
        return Share("outlier", 0, "No object is an outlier.", meaning)
    verb = _verb(size, "is an outlier", "are outliers")
    return Share("outlier", size, f"{size} ({percent(size, n)}) {verb}, far from every {what[:-1]}.", meaning)


def doubt(partition: CredalPartition) -> str:
    """How much is left open, in one sentence."""
    value = partition.normalized_nonspecificity
    total = partition.counts.uncertainty / max(len(partition), 1)
    limits = ((0.05, "hardly anything"), (0.2, "a little"), (0.5, "a good part"))
    much = next((words for limit, words in limits if total < limit), "most")
    return (
        f"On average {much} is left open: nonspecificity {value:.2f}, total uncertainty {total:.2f} (0: certain, 1: "
        "nothing known). Nonspecificity counts mass on sets of several clusters only, the total also mass that is "
        "divided between single clusters."
    )


class Start(NamedTuple):
    """How one start of a fit ended: ``outcome`` is "kept", "same", "worse", "rejected" or "failed"."""

    criterion: float
    outcome: str


def start_outcomes(model: Any) -> list[Start]:
    """Return how each start of a fit ended, for models with starts.

    Two starts agree when their criteria differ by less than a thousandth of the way that the best one went. A mixture
    keeps the best start that did not collapse: one that ended with a better criterion was rejected for that.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(
    ...     criterion_trace_=[-300, -210], start_criteria_=[-241, -210, -60], best_start_=1, attributes=["collapsed_"])
    >>> [start.outcome for start in start_outcomes(model)]
    ['worse', 'kept', 'rejected']
    """
    criteria = np.asarray(getattr(model, "start_criteria_", ()), dtype=float)
    if not len(criteria):
        return []
    kept = int(model.best_start_)
    best, way = float(criteria[kept]), float(criteria[kept] - model.criterion_trace_[0])
    near = max(1e-3 * abs(way), 1e-9 * abs(best))
    rejects = "collapsed_" in getattr(model, "attributes", ())
    finite = np.isfinite(criteria)
    gap = np.where(finite, criteria, best) - best
    found = []
    for at, (criterion, difference) in enumerate(zip(criteria.tolist(), gap.tolist())):
        if not np.isfinite(criterion):
            outcome = "failed"
        elif abs(difference) <= near:
            outcome = "kept" if at == kept else "same"
        else:
            outcome = "rejected" if rejects and difference * way > 0 else "worse"
        found.append(Start(criterion, outcome))
    return found


def starts(model: Any) -> str | None:
    """How far the starts of a fit agree and why some were rejected, in a sentence or two."""
    found = start_outcomes(model)
    if len(found) < 2 or getattr(model, "collapsed_", False):
        return None
    count = {outcome: sum(start.outcome == outcome for start in found) for outcome in ("worse", "rejected", "failed")}
    same = len(found) - sum(count.values())
    if same == len(found):
        return f"All {len(found)} starts ended in the same solution."
    best = float(model.start_criteria_[model.best_start_])
    said = [f"{same} of {len(found)} starts ended in the solution that was kept (criterion {best:.6g})"]
    if count["worse"]:
        worse = [start.criterion for start in found if start.outcome == "worse"]
        worst = max(worse, key=lambda criterion: abs(criterion - best))
        said.append(f"{count['worse']} in worse ones (the worst: {worst:.6g})")
    if count["rejected"]:
        said.append(
            f"{count['rejected']} {_verb(count['rejected'], 'was', 'were')} rejected in spite of a better criterion: "
            "a cluster collapsed onto a few objects, where the likelihood grows without bound"
        )
    if count["failed"]:
        said.append(f"{count['failed']} ended in no number")
    return "; ".join(said) + "."


def few_starts(model: Any) -> str | None:
    """Return a sentence that lowers the confidence in a fit, if few of its starts agree.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> print(few_starts(SimpleNamespace(criterion_trace_=[9, 1], start_criteria_=[1, 3, 4], best_start_=0)))
    Confidence is low: 1 of 3 starts ended in this solution, so more starts may find a better one.
    """
    found = start_outcomes(model)
    same = sum(start.outcome in ("kept", "same") for start in found)
    if len(found) < 2 or same > FEW * len(found) or getattr(model, "collapsed_", False):
        return None
    return (
        f"Confidence is low: {same} of {len(found)} starts ended in this solution, so more starts may find a better "
        "one."
    )


def rejected_starts(model: Any, selection: Any = None) -> list[str]:
    """What was tried and is of no use, or of less than it seems, with the reason: a sentence for each reason."""
    table = getattr(model, "selection_", None)
    if table is None:
        table = getattr(selection, "table", selection)
    if table is None or "note" not in table or "n_clusters" not in table:
        return []
    found: dict[str, dict[str, list[str]]] = {}
    for row in table.to_dict("records"):
        who = str(row.get("model") or row.get("covariance") or row.get("method") or "")
        for note in str(row["note"] or "").split("; "):
            if note not in ("", FIRST_LOOK):
                found.setdefault(note, {}).setdefault(who, []).append(f"{row['n_clusters']}")
    sentences = []
    for note, each in found.items():
        parts = [f"{who + ' with ' if who else ''}{join_words(numbers)} clusters" for who, numbers in each.items()]
        listed = ", ".join(parts[:LISTED]) + (f" and {len(parts) - LISTED} more" if len(parts) > LISTED else "")
        sentences.append(f"{note[0].upper()}{note[1:]}: {listed}.")
    return sentences


def _members(partition: CredalPartition, mask: int) -> str:
    return join_words([partition.cluster_name(k) for k in range(partition.n_clusters) if mask >> k & 1])


def _between_text(partition: CredalPartition, mask: int) -> str:
    whole = mask == (1 << partition.n_clusters) - 1 and partition.n_clusters > 2
    return "could be in any" if whole else f"between {_members(partition, mask)}"


def _list_parts(parts: Iterable[str]) -> str:
    parts = list(parts)
    more = f" and {len(parts) - LISTED} other groups" if len(parts) > LISTED else ""
    return ", ".join(parts[:LISTED]) + more


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many
