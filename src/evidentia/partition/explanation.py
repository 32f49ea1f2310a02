"""Why an object is doubtful: which clusters compete for it, which columns speak for which, and what would settle it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia._objects import align_objects
from evidentia.belief.focal import format_mask
from evidentia.partition.counts import kind_of
from evidentia.partition.profiles import Columns, Profiles, log_density, profile, read_columns
from evidentia.safe_text import printable
from evidentia.solvers.memory import row_blocks

if TYPE_CHECKING:
    import pandas as pd

    from evidentia.partition.credal import CredalPartition

__all__ = ["Explainer", "Explanation", "join_words"]

COMPETES = 1 / 3  # plausibility of a cluster that competes, as a share of the largest one
NEAREST = 3  # assigned objects named for each cluster
SPEAKS = 2.0  # a value speaks for a cluster where it is at least so many times as likely as in the next
SETTLED = 10.0  # one cluster so many times as plausible as the other
FAR = 3.0  # spreads beyond which a value is unusual in a cluster
SHOWN_COLUMNS, SHOWN_CLUSTERS = 8, 4


class Competitor(NamedTuple):
    """A cluster that may be the one of the object; ``nearest`` are assigned to it, ``distances`` how far away."""

    cluster: int
    name: str
    mass: float
    plausibility: float
    nearest: tuple[str, ...]
    distances: tuple[float, ...]


class ColumnEvidence(NamedTuple):
    """What one column says.

    Attributes
    ----------
    column : str
    value : float, str or None
        Of the object; None where it is missing.
    usual : tuple
        For each competing cluster the mean over its assigned objects, or the most common category.
    spreads : tuple of float
        Root mean squared distances from these means, of all that may be in the cluster; NaN for categories.
    log_densities : tuple of float
        How well the value suits each competing cluster; differences are evidence, in nats.
    distance : float
        How far the value is from what is usual in the first of the clusters, in spreads (negative: below).
    speaks_for : str or None
        The cluster in which the value is likeliest, if it is at least twice as likely there as in the next.
    times : float
        How many times as likely.
    """

    column: str
    value: float | str | None
    usual: tuple[float | str, ...]
    spreads: tuple[float, ...]
    log_densities: tuple[float, ...]
    distance: float
    speaks_for: str | None
    times: float


class DecisiveValue(NamedTuple):
    """A column that would settle it: ``values`` are (cluster, "at most", "at least" or "is", value)."""

    column: str
    missing: bool
    values: tuple[tuple[str, str, float | str], ...]


@dataclass(frozen=True)
class Explanation:
    """Why an object is where it is; ``print`` it.

    Attributes
    ----------
    object : str
        Name of the object, its number when it has none.
    index : int
    kind : {"assigned", "ambiguous", "outlier"}
        Whether its set is a single cluster, several, or the empty set, see :func:`~evidentia.belief.believed_sets`.
    set : str
        That set.
    mass : float
        What the set holds; 0 of a union of sets, of which none holds enough.
    clusters : tuple of Competitor
        Clusters that compete, the most plausible first: those of the set, and all that are at least a third as
        plausible as the best. Of an outlier the nearest cluster; alone when nothing is in doubt.
    columns : tuple of ColumnEvidence
        What each column says, the strongest first; empty when nothing is in doubt or no table was given.
    decisive : DecisiveValue or None
        The column, and its values, that would make one of the first two clusters ten times as plausible as the other.
        Of an outlier: the values of its farthest column that are usual in the nearest cluster.
    question : tuple of (str, str)
        An assigned object to compare with, and its cluster, for each of the first two: must-link or cannot-link?
    note : str
        What else to know, a sentence or nothing.
    """

    object: str
    index: int
    kind: str
    set: str
    mass: float
    clusters: tuple[Competitor, ...]
    columns: tuple[ColumnEvidence, ...] = ()
    decisive: DecisiveValue | None = None
    question: tuple[tuple[str, str], ...] = ()
    note: str = ""

    @property
    def in_doubt(self) -> bool:
        """Whether more than one cluster is possible, or none."""
        return self.kind == "outlier" or len(self.clusters) > 1

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, dicts, numbers and words."""
        found = asdict(self)
        found["clusters"] = [one._asdict() for one in self.clusters]
        found["columns"] = [one._asdict() for one in self.columns]
        found["decisive"] = None if self.decisive is None else self.decisive._asdict()
        return {**found, "in_doubt": self.in_doubt}

    def to_frame(self, what: str = "columns") -> pd.DataFrame:
        """A table with a row for each column of the data, the strongest first, or for each competing cluster.

        Parameters
        ----------
        what : {"columns", "clusters"}
        """
        import pandas as pd

        if what == "clusters":
            frame = pd.DataFrame([one._asdict() for one in self.clusters], columns=list(Competitor._fields))
            return frame.set_index("name")
        if what != "columns":
            raise ValueError(f"'what' must be 'columns' or 'clusters'. Got {what!r}.")
        names = [cluster.name for cluster in self.clusters]
        rows = [
            {
                "column": one.column,
                "value": one.value,
                **{f"usual in {name}": usual for name, usual in zip(names, one.usual)},
                **{f"spread in {name}": spread for name, spread in zip(names, one.spreads)},
                **{f"log density in {name}": density for name, density in zip(names, one.log_densities)},
                "distance": one.distance,
                "speaks for": one.speaks_for,
                "times": one.times,
            }
            for one in self.columns
        ]
        plain = ["column", "value", "distance", "speaks for", "times"]
        return pd.DataFrame(rows, columns=None if rows else plain).set_index("column")

    def __str__(self) -> str:
        return "\n".join(_lines(self))


# -- finding reasons --------------------------------------------------------------------------------------------------


class Explainer:
    """Explains objects of one partition; what is usual in its clusters is found once for all of them.

    Parameters
    ----------
    partition : CredalPartition
    X, feature_names, dissimilarities
        As in :meth:`CredalPartition.explain <evidentia.partition.CredalPartition.explain>`.
    """

    def __init__(
        self,
        partition: CredalPartition,
        X: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        dissimilarities: Any = None,
    ):
        if X is not None and dissimilarities is not None:
            raise ValueError("Give the table 'X' or the 'dissimilarities', not both: one of them says what is near.")
        X = _read_rows(partition, "X", X)
        dissimilarities = _read_rows(partition, "dissimilarities", dissimilarities)
        spoken = tuple(map(printable, partition.cluster_names or ()))
        if spoken != (partition.cluster_names or ()):
            partition = partition._like(partition.masses, partition.focal_sets, cluster_names=spoken)
        self.partition = partition
        self.names = partition.object_names
        self.distances = None if dissimilarities is None else _square(partition, dissimilarities)
        self.columns: Columns | None = None if X is None else read_columns(X, feature_names)
        if self.columns is not None:
            self.columns = replace(self.columns, names=tuple(map(printable, self.columns.names)))

    @cached_property
    def profiles(self) -> Profiles:
        assert self.columns is not None
        return profile(self.partition, self.columns)

    def find(self, which: Any) -> int:
        """Number of an object given by number or by name."""
        n = len(self.partition)
        if isinstance(which, str):
            if which in (self.names or ()):
                return (self.names or ()).index(which)
            if self.names is None and which.isdigit() and int(which) < n:
                return int(which)
            near = difflib.get_close_matches(which, self.names or (), n=1)
            cure = f" Did you mean {near[0]!r}?" if near else f" Objects are numbered from 0 to {n - 1}."
            raise ValueError(f"There is no object named {which!r}.{cure}")
        if isinstance(which, bool | np.bool_) or not hasattr(which, "__index__"):
            raise TypeError(f"An object is given by its number or its name. Got {which!r}.")
        if not -n <= int(which) < n:
            raise ValueError(f"There is no object {int(which)}: there are {n}, counted from 0.")
        return int(which) % n

    def name(self, i: int) -> str:
        return str(i) if self.names is None else printable(self.names[i])

    def explain(self, which: Any) -> Explanation:
        """Why one object is where it is."""
        i = self.find(which)
        partition = self.partition
        mask = int(partition.set_masks[i])
        kind = kind_of(mask)
        chosen = (
            [int(self.nearest_cluster(np.array([i]))[0])]
            if mask == 0
            else competing_clusters(partition, np.array([i]))[0]
        )
        clusters = tuple(self._competitor(i, k) for k in chosen)
        about: dict[str, Any] = {"note": partition.no_answer or ""}
        if self.columns is not None and (kind == "outlier" or len(chosen) > 1):
            about |= self._compare(i, chosen) if kind != "outlier" else self._too_far(i, chosen[0])
        if len(chosen) > 1 and all(len(self.partition.lower(k)) for k in chosen[:2]):
            about["question"] = tuple((self._witness(one), one.name) for one in clusters[:2])
        held = float(partition.masses[i][partition.focal_sets.masks == mask].sum())
        words = format_mask(mask, partition.cluster_names)
        return Explanation(self.name(i), i, kind, words, held, clusters, **about)

    def nearest_cluster(self, objects: np.ndarray) -> np.ndarray:
        """The cluster that outliers are nearest to: by the table, by the dissimilarities, or the most plausible one."""
        clusters = range(self.partition.n_clusters)
        if self.columns is not None:
            far = [self.profiles.distances(objects, np.full(len(objects), k)) for k in clusters]
            return np.argmin([(part**2).sum(axis=1) for part in far], axis=0)
        if self.distances is not None and any(len(self.partition.lower(k)) for k in clusters):
            near = [
                self.distances[np.ix_(objects, self.partition.lower(k))].min(axis=1, initial=np.inf) for k in clusters
            ]
            return np.argmin(near, axis=0)
        return self.partition.contour[objects].argmax(axis=1)

    # -- parts of an explanation --------------------------------------------------------------------------------------

    def _competitor(self, i: int, k: int) -> Competitor:
        partition = self.partition
        at = partition.focal_sets.singleton_index[k]
        assigned = self.partition.lower(k)
        assigned = assigned[assigned != i]
        if self.columns is not None:
            far = self.profiles.neighbor_distances(i, assigned)
        elif self.distances is not None:
            far = self.distances[i, assigned]
        else:
            far = np.empty(0)
        near = [j for j in np.argsort(far, kind="stable")[:NEAREST].tolist() if np.isfinite(far[j])]
        return Competitor(
            cluster=k,
            name=partition.cluster_name(k),
            mass=float(partition.masses[i, at]) if at >= 0 else 0.0,
            plausibility=float(partition.contour[i, k]),
            nearest=tuple(self.name(int(assigned[j])) for j in near),
            distances=tuple(float(far[j]) for j in near),
        )

    def _witness(self, competitor: Competitor) -> str:
        """An assigned object to compare with: the nearest, or the most certain where nothing is known of distances."""
        if competitor.nearest:
            return competitor.nearest[0]
        assigned = self.partition.lower(competitor.cluster)
        return self.name(int(assigned[self.partition.singleton_belief[assigned, competitor.cluster].argmax()]))

    def _compare(self, i: int, chosen: list[int]) -> dict[str, Any]:
        """Columns, what would settle it, and a note when the columns one by one contradict the partition."""
        here = np.array(chosen)
        densities = self.profiles.log_densities(np.full(len(here), i), here)  # (n_competing, n_columns)
        order, lead = leads(densities)
        rank = np.argsort(-np.round(lead, 9), kind="stable")
        found = [
            self._evidence(i, j, chosen, densities[:, j], chosen[order[j]] if lead[j] >= np.log(SPEAKS) else None)
            for j in rank.tolist()
        ]
        note = self.partition.no_answer or ""
        total = densities.sum(axis=1)
        best, next_best = np.sort(total)[::-1][:2]
        if total.argmax() != 0 and best - next_best >= np.log(SETTLED) and not note:
            favored = self.partition.cluster_name(chosen[int(total.argmax())])
            note = (
                f"Taken one by one the columns speak for {favored}: either it is how they vary together that decides, "
                "or the partition errs here."
            )
        return {"columns": tuple(found), "decisive": self._find_decisive(i, *chosen[:2]), "note": note}

    def _too_far(self, i: int, k: int) -> dict[str, Any]:
        """Columns by which an outlier is far from a cluster, and from which value on it would not be."""
        far = self.profiles.distances(np.array([i]), np.array([k]))[0]
        density = self.profiles.log_densities(np.array([i]), np.array([k]))[0]
        rank = np.argsort(-np.round(np.abs(far), 9), kind="stable").tolist()
        found = tuple(self._evidence(i, j, [k], density[[j]], None) for j in rank)
        worst, name = rank[0], self.partition.cluster_name(k)
        decisive: DecisiveValue | None = None
        value: tuple[str, str, float | str]
        if abs(far[worst]) > FAR:
            column, shares = self.profiles.columns.names[worst], self.profiles.shares.get(worst)
            if shares is None:
                limit = self.profiles.means[k, worst] + np.sign(far[worst]) * FAR * self.profiles.spreads[k, worst]
                value = (name, "at most" if far[worst] > 0 else "at least", float(limit))
            else:
                value = (name, "is", self.profiles.columns.levels[worst][int(shares[k].argmax())])
            decisive = DecisiveValue(column, False, (value,))
        return {"columns": found, "decisive": decisive}

    def _evidence(
        self, i: int, j: int, chosen: list[int], densities: np.ndarray, speaks_for: int | None
    ) -> ColumnEvidence:
        profiles, value = self.profiles, self.profiles.columns.values[i, j]
        levels = profiles.columns.levels.get(j)
        usual: list[float | str]
        if levels is None:
            usual = [float(profiles.means[k, j]) for k in chosen]
            shown: float | str | None = None if np.isnan(value) else float(value)
        else:
            usual = [levels[int(profiles.shares[j][k].argmax())] for k in chosen]
            shown = None if np.isnan(value) else levels[int(value)]
        ordered = np.sort(densities)[::-1]
        times = float(np.exp(min(ordered[0] - ordered[1], 700.0))) if len(ordered) > 1 else 1.0
        return ColumnEvidence(
            column=profiles.columns.names[j],
            value=shown,
            usual=tuple(usual),
            spreads=tuple(float(profiles.spreads[k, j]) for k in chosen),
            log_densities=tuple(float(density) for density in densities),
            distance=float(profiles.distances(np.array([i]), np.array(chosen[:1]))[0, j]),
            speaks_for=None if speaks_for is None else self.partition.cluster_name(speaks_for),
            times=times,
        )

    def _find_decisive(self, i: int, a: int, b: int) -> DecisiveValue | None:
        """The most telling column, or the best of those that are missing, and the values that would decide."""
        profiles = self.profiles
        contrast = profiles.contrast(a, b)
        j = int(np.round(contrast, 9).argmax())
        if not contrast[j] > 0:
            return None
        value = profiles.columns.values[i, j]
        plausible = np.maximum(self.partition.contour[i, [a, b]], 1e-6)
        odds = float(np.log(plausible[0] / plausible[1]))
        now = profiles.log_densities(np.array([i, i]), np.array([a, b]))[:, j]
        rest = odds - float(now[0] - now[1])  # what all else says, in favor of a
        found = []
        for k, other, sign in ((a, b, 1), (b, a, -1)):
            how: tuple[str, float | str] | None
            aim = sign * np.log(SETTLED)
            if j in profiles.shares:
                how = tipping_level(profiles, j, k, other, sign * (aim - rest))
            else:
                limit = tipping_value(profiles.means[[a, b], j], profiles.spreads[[a, b], j], aim - rest)
                below = (profiles.means[a, j] < profiles.means[b, j]) == (k == a)
                how = None if limit is None else ("at most" if below else "at least", limit)
            if how is not None:
                found.append((self.partition.cluster_name(k), *how))
        return DecisiveValue(profiles.columns.names[j], bool(np.isnan(value)), tuple(found))

    # -- many objects -------------------------------------------------------------------------------------------------

    def reasons(self, objects: Sequence[int | str] | np.ndarray | None = None) -> list[str]:
        """A short sentence about each object, all of them when none are named."""
        partition = self.partition
        rows = np.arange(len(partition)) if objects is None else np.array([self.find(i) for i in objects], dtype=int)
        rivals = competing_clusters(partition, rows)
        out = partition.set_masks[rows] == 0
        found = [f"Nothing is in doubt: cluster {partition.cluster_name(some[0])}." if some else "" for some in rivals]
        several = [at for at, some in enumerate(rivals) if len(some) > 1 and not out[at]]
        for at, sentence in zip(several, self._ambiguous_reasons(rows[several], [rivals[at] for at in several])):
            found[at] = sentence
        for at, sentence in zip(np.flatnonzero(out).tolist(), self._outlier_reasons(rows[out])):
            found[at] = sentence
        return found

    def _ambiguous_reasons(self, rows: np.ndarray, rivals: list[list[int]]) -> list[str]:
        named = [_list_names([self.partition.cluster_name(k) for k in some]) for some in rivals]
        if self.columns is None or not len(rows):
            return [f"Between {who}." for who in named]
        pairs = {(some[0], some[1]) for some in rivals}
        telling = {two: int(np.round(self.profiles.contrast(*two), 9).argmax()) for two in pairs}
        names = self.columns.names
        sentences: list[str] = []
        for block in row_blocks(len(rows), 2 * SHOWN_CLUSTERS * len(names)):
            for i, some, (best, lead) in zip(rows[block], rivals[block], self._leads(rows[block], rivals[block])):
                said = _speakers(names, [self.partition.cluster_name(k) for k in some], best, lead)
                j = telling[some[0], some[1]]
                gap = f" {names[j]} is missing, and would tell most." if np.isnan(self.columns.values[i, j]) else ""
                who = named[len(sentences)]
                sentences.append(f"Between {who}: {said or 'no column speaks for any of them'}.{gap}")
        return sentences

    def _leads(self, rows: np.ndarray, rivals: list[list[int]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each object the position of each column's likeliest cluster among its first rivals, and its lead."""
        width = min(max(map(len, rivals)), SHOWN_CLUSTERS)
        densities = np.full((width, *self.profiles.columns.values[rows].shape), -np.inf)
        for r in range(width):
            there = np.array([len(some) > r for some in rivals])
            clusters = np.array([some[r] for some in rivals if len(some) > r])
            densities[r, there] = self.profiles.log_densities(rows[there], clusters)
        best, lead = leads(densities)
        return zip(best, lead)

    def _outlier_reasons(self, rows: np.ndarray) -> list[str]:
        nearest = self.nearest_cluster(rows) if len(rows) else rows
        names = [self.partition.cluster_name(int(k)) for k in nearest]
        if self.columns is None or not len(rows):
            return [f"In none; nearest is {name}." for name in names]
        far = self.profiles.distances(rows, nearest)
        sentences = []
        for name, distances in zip(names, far):
            worst = np.argsort(-np.abs(distances), kind="stable")[:2]
            said = [_distance_text(self.columns, j, distances[j]) for j in worst.tolist() if abs(distances[j]) > FAR]
            sentences.append(f"In none; nearest is {name}: {', '.join(said) or 'no single column is too far'}.")
        return sentences


def competing_clusters(partition: CredalPartition, rows: np.ndarray) -> list[list[int]]:
    """Clusters that compete for each of some objects, the most plausible first.

    Those of its set, and those at least a third as plausible as the best.
    """
    contour, likely = np.round(partition.contour[rows], 9), partition.pignistic[rows]
    inside = partition.set_masks[rows, None] >> np.arange(partition.n_clusters) & 1 == 1
    there = inside | (contour >= COMPETES * contour.max(axis=1, keepdims=True)) & (contour > 0)
    order = np.lexsort([-np.round(likely, 9), -contour, ~there], axis=1)
    return [some[:count] for some, count in zip(order.tolist(), there.sum(axis=1).tolist())]


def leads(densities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each column the position of the likeliest cluster, and its lead over the next, in nats."""
    order = np.argsort(-densities, axis=0, kind="stable")
    best, following = np.take_along_axis(densities, order[:2], axis=0)
    return order[0], best - following


def tipping_value(means: np.ndarray, spreads: np.ndarray, aim: float) -> float | None:
    r"""The value at which :math:`\log f_a(x) - \log f_b(x)` reaches ``aim``, or None if it does not.

    Between the two means, where what speaks for one cluster speaks against the other.

    Examples
    --------
    >>> tipping_value(np.array([0.0, 4.0]), np.array([1.0, 1.0]), 0.0)
    2.0
    """
    from scipy.optimize import brentq

    def is_ahead(x: float) -> float:
        density = log_density(x, means, spreads)
        return float(density[0] - density[1]) - aim

    if is_ahead(means[0]) < 0 or is_ahead(means[1]) > 0:
        return None
    return float(brentq(is_ahead, *means, xtol=1e-12 * abs(means[1] - means[0]))) if means[0] != means[1] else None


def tipping_level(profiles: Profiles, j: int, k: int, other: int, aim: float) -> tuple[str, float | str] | None:
    """Return the category that speaks most for cluster ``k`` and against the other, if its evidence reaches ``aim``."""
    ratio = profiles.shares[j][k] - profiles.shares[j][other]
    at = int(ratio.argmax())
    return ("is", profiles.columns.levels[j][at]) if ratio[at] >= aim else None


# -- checks -----------------------------------------------------------------------------------------------------------


def _read_rows(partition: CredalPartition, what: str, given: Any) -> Any:
    """Return the rows in the order of the objects."""
    if given is None:
        return None
    found = align_objects(partition, given, ("the partition", repr(what)), square=what == "dissimilarities")
    n = len(found) if hasattr(found, "__len__") else 0
    if n != len(partition):
        raise ValueError(f"'{what}' must have a row for each of the {len(partition)} objects. Got {n} rows.")
    return found


def _square(partition: CredalPartition, dissimilarities: Any) -> np.ndarray:
    found = np.asarray(dissimilarities, dtype=float)
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise ValueError(
            f"'dissimilarities' must be a square table, {len(partition)} × {len(partition)}. Got shape {found.shape}."
        )
    return found


# -- words ------------------------------------------------------------------------------------------------------------


def join_words(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _lines(explanation: Explanation) -> list[str]:
    """An explanation for a person."""
    names = [one.name for one in explanation.clusters]
    held = f"{explanation.mass:.2f} of its mass is on"
    who = explanation.object
    if not explanation.in_doubt:
        first = f"{who}: nothing is in doubt, {held} cluster {names[0]}."
    elif explanation.kind == "outlier":
        first = f"{who}: an outlier, {held} the empty set. The nearest cluster is {names[0]}."
    elif explanation.kind == "assigned":
        first = f"{who}: {held} cluster {names[0]}, but {join_words(names[1:])} cannot be ruled out."
    else:
        share = f"{held} {explanation.set}" if explanation.mass else "no set of clusters holds enough of its mass"
        first = f"{who}: ambiguous between clusters {_list_names(names)}, {share}."
    lines = [first, "", *_cluster_lines(explanation.clusters)]
    if explanation.columns:
        lines += ["", *_column_lines(explanation)]
    told = [_decisive_words(explanation), _question_words(explanation), explanation.note]
    return [*lines, *([""] if any(told) else []), *(sentence for sentence in told if sentence)]


def _list_names(names: Sequence[str], most: int = 6) -> str:
    return join_words(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


def _cluster_lines(clusters: Sequence[Competitor]) -> list[str]:
    rows = [["cluster", "mass", "plausibility", "nearest assigned objects"]]
    for one in clusters[: 2 * SHOWN_CLUSTERS]:
        near = ", ".join(f"{name} ({far:.2g})" for name, far in zip(one.nearest, one.distances))
        rows.append([one.name, f"{one.mass:.2f}", f"{one.plausibility:.2f}", near or "-"])
    width = 4 if any(one.nearest for one in clusters) else 3
    return _table([row[:width] for row in rows], left=(0, 3))


def _column_lines(explanation: Explanation) -> list[str]:
    names = [one.name for one in explanation.clusters[:SHOWN_CLUSTERS]]
    outlier = explanation.kind == "outlier"
    rows = [["column", "value", "too far" if outlier else "speaks for", *(f"in {name}" for name in names)]]
    for one in explanation.columns[:SHOWN_COLUMNS]:
        narrow = min((s for s in one.spreads if s == s), default=1.0)
        value = "missing" if one.value is None else value_text(one.value, narrow)
        usual = [
            str(mean) if isinstance(mean, str) else f"{value_text(mean, narrow)} ± {value_text(spread, narrow)}"
            for mean, spread in zip(one.usual, one.spreads[:SHOWN_CLUSTERS])
        ]
        if outlier:
            away = f"{abs(one.distance):.1f} spreads" + ("" if isinstance(one.value, str) else _side_text(one.distance))
            says = away if abs(one.distance) > FAR else "-"
        else:
            says = f"{one.speaks_for}, {ratio_text(one.times)}" if one.speaks_for is not None else "-"
        rows.append([one.column, value, says, *usual])
    left_out = len(explanation.columns) - SHOWN_COLUMNS
    more = [f"{left_out} more columns say less."] if left_out > 0 else []
    return [*_table(rows, left=(0, 2)), *more]


def _table(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return [
        "  " + "  ".join(f"{cell:{'<' if j in left else '>'}{widths[j]}}" for j, cell in enumerate(row)).rstrip()
        for row in rows
    ]


def _decisive_words(explanation: Explanation) -> str:
    decisive = explanation.decisive
    names = [one.name for one in explanation.clusters]
    if decisive is None:
        far = explanation.kind == "outlier" and explanation.columns
        return "No single column is too far: it is unusual in what they say together." if far else ""
    one = next(one for one in explanation.columns if one.column == decisive.column)
    narrow = min((s for s in one.spreads if s == s), default=1.0)
    parts = [f"{how} {value_text(value, narrow)}" for _, how, value in decisive.values]
    if explanation.kind == "outlier":
        return f"What would bring it into {names[0]}: {decisive.column} {parts[0]}."
    which = f"{decisive.column}, which tells {names[0]} and {names[1]} apart best"
    now = "it is missing" if one.value is None else f"it is {value_text(one.value, narrow)}"
    where = [f"{part} (for {cluster})" for part, (cluster, _, _) in zip(parts, decisive.values)]
    if not where:
        return f"No value of {which}, would settle it alone; {now}."
    return f"What would settle it: {which}, {' or '.join(where)}; {now}."


def _question_words(explanation: Explanation) -> str:
    if not explanation.question:
        return ""
    (a, first), (b, second) = explanation.question
    opening = "Or an answer" if _decisive_words(explanation) else "What would settle it"
    who = explanation.object
    return f"{opening}: does {who} belong with {a} (assigned to {first}) or with {b} (assigned to {second})?"


def _speakers(names: Sequence[str], clusters: Sequence[str], best: np.ndarray, lead: np.ndarray) -> str:
    """``age speaks for 1 (3 times as likely), size for 0 (…)``: the strongest column for each of two clusters."""
    found: dict[str, str] = {}
    for j in np.argsort(-np.round(lead, 9), kind="stable").tolist():
        cluster = clusters[int(best[j])]
        if lead[j] < np.log(SPEAKS) or len(found) == 2:
            break
        if cluster not in found:
            ratio = ratio_text(float(np.exp(min(lead[j], 700.0))))
            found[cluster] = (
                f"{names[j]} {'' if found else 'speaks '}for {cluster} ({ratio}{'' if found else ' as likely'})"
            )
    return ", ".join(found.values())


def _distance_text(columns: Columns, j: int, distance: float) -> str:
    if j in columns.levels:
        return f"{columns.names[j]} is unusual"
    return f"{columns.names[j]} is {abs(distance):.0f} spreads{_side_text(distance)}"


def _side_text(distance: float) -> str:
    return " above" if distance > 0 else " below"


def ratio_text(ratio: float) -> str:
    """``3.2 times``, ``over 1000 times``."""
    return "over 1000 times" if ratio > 1000 else f"{ratio:.2g} times" if ratio < 10 else f"{ratio:.0f} times"


def value_text(value: float | str, spread: float) -> str:
    """A number with as many decimals as its spread deserves; a category as it is."""
    if isinstance(value, str):
        return value
    digits = int(np.clip(1 - np.floor(np.log10(max(spread, 1e-300))), 0, 12))
    return f"{value:.{digits}f}"
