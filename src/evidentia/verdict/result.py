"""The verdict on a clustering: whether its clusters are groups, the evidence of each split, and the words for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.verdict.valley import one_peak_fit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ANSWERS", "FAR", "DrawnLine", "Split", "Verdict"]

FAR = 900.0  # evidence of clusters so far apart that no test is needed
ANSWERS = ("groups", "cannot tell", "no evidence", "not judged")
BENT_PATH = 0.5  # density between two clusters over the lower end from which on they may be parts of one bent group
SHOWN_VALLEY = 5.4  # objects times divergence from one peak, for a power of 0.95 at a level of 0.05
NO_GROUPS = "No groups were found: one cluster describes all objects."
MOST_NEEDED = 1e6  # objects; beyond that no number is named


@dataclass(frozen=True)
class Split:
    """Two clusters, or unions of clusters, and the evidence that they are two groups.

    Attributes
    ----------
    a, b : tuple of int
        Clusters on either side.
    evidence : float
        Above zero for two groups, in natural logarithms; 900 for clusters so far apart that no test is needed.
    basis : {"valley", "shape"}
        Whether ``hump`` alone supports the split, or ``gain`` is needed.
    gap : float
        Distance of the means in standard deviations within the clusters.
    gain : float or None
        EBIC of two normal clouds on the line less that of the best single shape; None where they were not compared.
    shape : str
        The best single shape.
    hump : float
        Log-likelihood that a second peak adds.
    p : float
        Probability of such a hump if the density has one peak.
    n : float
        Objects on the line.
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    evidence: float
    basis: str = "shape"
    gap: float = 0.0
    gain: float | None = None
    shape: str = ""
    hump: float = 0.0
    p: float = 1.0
    n: float = 0.0

    @property
    def supported(self) -> bool:
        """Whether the evidence is for two groups rather than one."""
        return self.evidence > 0

    @property
    def names(self) -> str:
        """Both sides in words, as in "clusters 0 and 2"."""
        if len(self.a) == len(self.b) == 1:
            return f"clusters {self.a[0]} and {self.b[0]}"
        return f"{_side(self.a)} and {_side(self.b)}"


@dataclass(frozen=True, eq=False)
class DrawnLine:
    """What a picture of a split shows: points on the line that parts two clusters best, and two densities.

    Attributes
    ----------
    a, b : tuple of int
        Clusters on either side.
    points, weights : ndarray of shape (n_points,)
        At most 150 points in standard deviations within the clusters; neighbors were averaged.
    grid, two, one : ndarray of shape (200,)
        Places, the density of two normal clouds there, and that of the best single shape.
    shape : str
        The best single shape.
    parameters : ndarray of shape (5,)
        Share of the first normal cloud, both means and both standard deviations, in deviations of the line.
    """

    a: tuple[int, ...]
    b: tuple[int, ...]
    points: np.ndarray
    weights: np.ndarray
    grid: np.ndarray
    two: np.ndarray
    one: np.ndarray
    shape: str
    parameters: np.ndarray

    @property
    def objects_needed(self) -> float:
        """Objects with which a valley between two such clouds would be seen in 95 of 100 tables; inf without a valley.

        The divergence of the two clouds from the nearest density with one peak gives the power of the best test.
        """
        divergence = divergence_from_one_peak(self.two, self.grid[1] - self.grid[0])
        return SHOWN_VALLEY / divergence if divergence * MOST_NEEDED > SHOWN_VALLEY else float("inf")


def divergence_from_one_peak(density: np.ndarray, step: float) -> float:
    """Kullback-Leibler divergence of a density on an even grid from the nearest density with one peak."""
    mass = density * step / (density.sum() * step)
    widths = np.full(len(mass), step)
    own = float(np.sum(mass * np.log(np.maximum(mass, 1e-300) / step)))
    return max(own - float(one_peak_fit(mass, widths)), 0.0)


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether the clusters of a table are groups, and on what that rests.

    Attributes
    ----------
    answer : {"groups", "cannot tell", "no evidence", "not judged"}
    evidence : float or None
        The largest evidence of the splits that are left, or of those that were not supported if none is left; in
        natural logarithms. None where nothing was compared.
    basis : {"valley", "shape", ""}
        What it rests on: the density has two peaks on the line that parts two clusters, or only that two normal clouds
        describe it better than one cloud of any shape tried.
    splits : tuple of Split
        Splits between the groups that are left, then those that were not supported, the nearest to support first.
    groups : tuple of tuple of int
        Clusters that the rule leaves, as sets of the clusters of the fit.
    n_objects : float
        Weight of the objects that were judged.
    decisive : int
        Which of ``splits`` has the evidence.
    paths : ndarray of shape (n_clusters, n_clusters)
        Lowest density on the best way between two clusters, over the density at the lower end.
    line : DrawnLine or None
        What a picture of the weakest split shows.
    reason : str
        Why the clusters were not judged, or why it cannot be told.

    Examples
    --------
    >>> print(Verdict("no evidence", None, groups=((0,),), n_objects=200.0))
    No groups were found: one cluster describes all objects.
    """

    answer: str
    evidence: float | None
    basis: str = ""
    splits: tuple[Split, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    n_objects: float = 0.0
    decisive: int = 0
    paths: np.ndarray = field(default_factory=lambda: np.ones((0, 0)))
    line: DrawnLine | None = None
    reason: str = ""

    @property
    def n_clusters(self) -> int:
        """Number of clusters that were judged."""
        return sum(map(len, self.groups))

    @property
    def may_be_bent(self) -> bool:
        """Whether the clusters that are left may be parts of one bent group.

        So it is if the density falls by less than half on the best ways between them, through other clusters too. A fit
        of two clusters has no bend.
        """
        left = [split for split in self.splits if split.supported]
        return self.n_clusters > 2 and bool(left) and all(self.path(split) >= BENT_PATH for split in left)

    def path(self, split: Split) -> float:
        """Lowest density on the best way between two sides, over the density at the lower end."""
        return float(self.paths[np.ix_(split.a, split.b)].max())

    def connected(self, valley: float) -> tuple[tuple[int, ...], ...]:
        """Clusters joined where the density between them falls to no less than this share of the lower peak.

        All clusters stay as they are if otherwise all would be one.
        """
        count = len(self.paths)
        first = (self.paths >= valley).argmax(axis=1)  # paths are an ultrametric: those near one are near each other
        groups = tuple(tuple(np.flatnonzero(first == k).tolist()) for k in np.unique(first))
        return groups if len(groups) > 1 else tuple((k,) for k in range(count))

    def relabel(self, order: np.ndarray) -> Verdict:
        """Renumber the clusters: old cluster ``order[k]`` becomes cluster ``k``."""
        new = np.argsort(order)

        def side(group: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(sorted(new[list(group)].tolist()))

        return replace(
            self,
            splits=tuple(replace(split, a=side(split.a), b=side(split.b)) for split in self.splits),
            groups=tuple(sorted(map(side, self.groups))),
            paths=self.paths[np.ix_(order, order)] if len(self.paths) else self.paths,
            line=None if self.line is None else replace(self.line, a=side(self.line.a), b=side(self.line.b)),
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, text and lists, as JSON holds them."""
        found = asdict(self)
        found["paths"] = self.paths.tolist()
        if self.line is not None:
            found["line"] = {name: _plain(value) for name, value in found["line"].items()}
        return found

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Verdict:
        """The verdict of which :meth:`to_dict` made values."""
        count = sum(map(len, found["groups"]))
        line = found["line"]
        return cls(
            **{
                **found,
                "splits": tuple(Split(**_grouped(split)) for split in found["splits"]),
                "groups": tuple(map(tuple, found["groups"])),
                "paths": np.array(found["paths"], dtype=float).reshape(-1, count) if count else np.ones((0, 0)),
                "line": None if line is None else DrawnLine(**_grouped(line, as_array=True)),
            }
        )

    def to_pandas(self) -> pd.DataFrame:
        """The splits as a table, a row for each."""
        import pandas as pd

        return pd.DataFrame(
            {
                "cluster a": [_set(split.a) for split in self.splits],
                "cluster b": [_set(split.b) for split in self.splits],
                "evidence": [split.evidence for split in self.splits],
                "gain": np.array([split.gain for split in self.splits], dtype=float),
                "best single shape": [split.shape for split in self.splits],
                "hump": [split.hump for split in self.splits],
                "p": [split.p for split in self.splits],
                "supported": [split.supported for split in self.splits],
            }
        )

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.answer == "not judged":
            return f"The clusters were not judged: {self.reason}."
        if self.answer == "cannot tell" and self.reason:
            return f"It cannot be told whether there are groups: {self.reason}."
        if not self.splits:
            return NO_GROUPS
        if self.answer == "no evidence":
            return (
                f"There is no evidence of groups: the {self.n_clusters} clusters are parts of one cloud. Their labels "
                "cut this cloud into pieces; they are no discovery."
            )
        split = self.splits[self.decisive]
        return self._groups(split) if self.answer == "groups" else self._undecided(split)

    def unsupported(self) -> list[str]:
        """A sentence for each split that is not supported."""
        return [
            f"The split between {split.names} is not supported: one {split.shape or 'normal'} cloud describes them as "
            f"well (evidence {split.evidence:.1f}), and on the line that parts them best the density may have one peak "
            f"({_p(split.p)})."
            for split in self.splits
            if not split.supported
        ]

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        evidence = "" if self.evidence is None else f", evidence {self.evidence:.1f} by {self.basis}"
        return f"Verdict({self.answer!r}{evidence}, {len(self.groups)} of {self.n_clusters} clusters left)"

    def _groups(self, split: Split) -> str:
        bent = (" The clusters may also be parts of one bent group: no deep valley parts them.") * self.may_be_bent
        if split.evidence >= FAR:
            return (
                f"There are groups: {split.names} are {split.gap:.0f} standard deviations apart on the line that parts "
                f"them best.{bent}"
            )
        if split.basis == "valley":
            return (
                f"There are groups: on the line that parts {split.names} best, the density has two peaks "
                f"({_p(split.p)}).{bent}"
            )
        return (
            f"There are groups if a group is one cloud without a shoulder: two normal clouds describe {split.names} "
            f"better than one cloud of any shape tried. The density itself may have one peak ({_p(split.p)}).{bent}"
        )

    def _undecided(self, split: Split) -> str:
        shape = f"one {split.shape or 'normal'} cloud"
        told = (
            f"It cannot be told whether there are groups: two groups and {shape} describe {split.names} about equally "
            "well."
        )
        needed = self.line.objects_needed if self.line is not None else float("inf")
        if self.n_objects < needed < float("inf"):
            told += f" At this distance about {_round(needed):,} objects would show a valley."
        return told


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _grouped(values: dict[str, Any], *, as_array: bool = False) -> dict[str, Any]:
    """Values of a split or a line from a file: both sides as tuples, other lists as arrays."""
    sides = {name: tuple(values[name]) for name in ("a", "b")}
    if as_array:
        values = {name: np.array(value) if isinstance(value, list) else value for name, value in values.items()}
    return {**values, **sides}


def _p(p: float) -> str:
    if p < 0.01:
        return "p < 0.01"
    return f"p = {p:.2f}" if p < 0.1 else f"p = {p:.1f}"


def _round(n: float) -> int:
    """Two leading digits at most, rounded up."""
    unit = 10 ** max(int(np.floor(np.log10(n))) - 1, 0)
    return int(np.ceil(n / unit) * unit)


def _side(group: tuple[int, ...]) -> str:
    if len(group) == 1:
        return f"cluster {group[0]}"
    return f"the union of clusters {', '.join(map(str, group[:-1]))} and {group[-1]}"


def _set(group: tuple[int, ...]) -> Any:
    return group[0] if len(group) == 1 else f"{{{','.join(map(str, group))}}}"


def not_judged(reason: str, n_clusters: int = 0, n_objects: float = 0.0) -> Verdict:
    """The verdict where there is nothing to judge by."""
    return Verdict(
        "not judged", None, groups=tuple((k,) for k in range(n_clusters)), n_objects=n_objects, reason=reason
    )
