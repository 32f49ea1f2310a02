"""Which subsets of the clusters may hold mass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from operator import index

import numpy as np

from evidentia._warnings import warn_user

MAX_CLUSTERS = 62  # a subset is one int64; bit 63 is its sign
TOO_MANY = (
    f" A set of clusters is held in one whole number, which has room for {MAX_CLUSTERS}. For finer groups, find fewer "
    "clusters first and then fit the rows of each on their own."
)
MAX_FULL = 16  # 2**16 focal sets: beyond that "full" is a mistake, not a wish
MANY_SETS = 1_000  # more than these are seldom meant, and slow

Subset = int | Iterable[int]


def format_mask(mask: int, cluster_names: Sequence[str] | None = None) -> str:
    """Write a mask as a set.

    Examples
    --------
    >>> format_mask(0b101), format_mask(0), format_mask(0b11, ["healthy", "ill"])
    ('{0,2}', '{}', '{healthy,ill}')
    """
    members = [k for k in range(int(mask).bit_length()) if mask >> k & 1]
    return "{" + ",".join(str(k) if cluster_names is None else cluster_names[k] for k in members) + "}"


def to_mask(subset: Subset, n_clusters: int) -> int:
    """Turn a set of cluster numbers, or a mask already made, into a mask."""
    if isinstance(subset, int | np.integer):
        mask = int(subset)
        if not 0 <= mask < 1 << n_clusters:
            raise ValueError(
                f"A mask over {n_clusters} clusters lies in 0..{(1 << n_clusters) - 1}. Got {mask}; "
                "write a single cluster k as {k} or as 1 << k."
            )
        return mask
    clusters = list(subset)
    mask = 0
    for k in clusters:
        # index() refuses 0.7 and "1", which int() would quietly turn into clusters 0 and 1.
        if not hasattr(k, "__index__") or not 0 <= index(k) < n_clusters:
            raise ValueError(f"A focal set names clusters 0..{n_clusters - 1}. Got cluster {k!r} in {clusters}.")
        mask |= 1 << index(k)
    return mask


def canonical_order(masks: Iterable[int]) -> list[int]:
    """Masks by size, then by value: the order of every family this library makes itself."""
    return sorted(masks, key=lambda mask: (mask.bit_count(), mask))


def _family_masks(n_clusters: int, family: str, empty: bool, omega: bool) -> list[int]:
    """Masks of a named family, by size and then by value."""
    if family == "full":
        if n_clusters > MAX_FULL:
            raise ValueError(
                f"All subsets of {n_clusters} clusters would be 2**{n_clusters} focal sets (at most "
                f"2**{MAX_FULL} are allowed). Take family='pairs', 'simple' or a list of subsets."
            )
        sizes: Iterable[int] = range(1, n_clusters + 1)
    elif family == "pairs":
        sizes = (1, 2)
    elif family in ("simple", "singletons"):
        sizes = (1,)
    else:
        raise ValueError(
            "The 'family' of FocalSets must be 'full', 'pairs', 'simple', 'singletons' or a list of subsets. "
            f"Got {family!r}."
        )
    whole = (1 << n_clusters) - 1
    masks = {sum(1 << k for k in ks) for size in sizes for ks in combinations(range(n_clusters), size)}
    if omega and family != "singletons":
        masks |= {whole}
    elif family == "full" and n_clusters > 1:  # elsewhere the frame is there as a pair or as a single cluster
        masks -= {whole}
    if empty:
        masks |= {0}
    return canonical_order(masks)


class FocalSets:
    """An ordered family of subsets of the clusters, and the small tables every method needs.

    Parameters
    ----------
    n_clusters : int
        Size of the frame, 1 to 62.
    family : {"full", "pairs", "simple", "singletons"} or iterable of subsets
        All subsets; single clusters, pairs and the frame; single clusters and the frame; single clusters
        alone. A named family is ordered by size, then by mask. A list keeps the order given; each element is a
        collection of cluster numbers or an ``int`` mask with bit ``k`` set when cluster ``k`` is in it.
    empty, omega : bool
        Whether a *named* family holds the empty set (outliers) and the whole frame (complete ignorance). Pairs are
        pairs: with two clusters ``"pairs"`` holds the frame in any case.

    Attributes
    ----------
    masks : ndarray of shape (n_focal,), dtype=np.int64
    member : ndarray of shape (n_focal, n_clusters)
        One where the cluster is in the focal set.
    card : ndarray of shape (n_focal,)
    disjoint, inside : ndarray of bool, shape (n_focal, n_focal)
        ``disjoint[a, b]``: A and B share no cluster. ``inside[a, b]``: A is a subset of B.

    Examples
    --------
    >>> FocalSets(2)
    FocalSets(2 clusters: {}, {0}, {1}, {0,1})
    >>> FocalSets(3, "pairs", empty=False, omega=False).names()
    ['{0}', '{1}', '{2}', '{0,1}', '{0,2}', '{1,2}']
    >>> FocalSets(3, [{0}, {1, 2}]).member
    array([[1., 0., 0.],
           [0., 1., 1.]])
    """

    def __init__(
        self, n_clusters: int, family: str | Iterable[Subset] = "full", *, empty: bool = True, omega: bool = True
    ):
        if not isinstance(n_clusters, int | np.integer) or not 1 <= n_clusters <= MAX_CLUSTERS:
            cure = TOO_MANY if isinstance(n_clusters, int | np.integer) and n_clusters > MAX_CLUSTERS else ""
            raise ValueError(f"'n_clusters' must be an integer from 1 to {MAX_CLUSTERS}. Got {n_clusters!r}.{cure}")
        self.n_clusters = int(n_clusters)
        if isinstance(family, str):
            masks = _family_masks(self.n_clusters, family, empty, omega)
        else:
            masks = [to_mask(subset, self.n_clusters) for subset in family]
        if not masks:
            raise ValueError("FocalSets needs at least one subset. Got an empty list.")
        if len(set(masks)) < len(masks):
            twice = next(mask for mask in masks if masks.count(mask) > 1)
            raise ValueError(f"Each focal set may be listed once, but {format_mask(twice)} comes twice or more.")
        self.masks = _frozen(np.array(masks, dtype=np.int64))

    @cached_property
    def member(self) -> np.ndarray:
        return _frozen((self.masks[:, None] >> np.arange(self.n_clusters) & 1).astype(float))

    @cached_property
    def card(self) -> np.ndarray:
        return _frozen(self.member.sum(axis=1).astype(np.int64))

    @cached_property
    def disjoint(self) -> np.ndarray:
        return _frozen(self.masks[:, None] & self.masks == 0)

    @cached_property
    def inside(self) -> np.ndarray:
        return _frozen(self.masks[:, None] & ~self.masks == 0)

    @cached_property
    def empty_index(self) -> int | None:
        """Position of the empty set, or None."""
        return self._position(0)

    @cached_property
    def omega_index(self) -> int | None:
        """Position of the whole frame, or None."""
        return self._position((1 << self.n_clusters) - 1)

    @cached_property
    def singleton_index(self) -> np.ndarray:
        """Position of each single cluster, -1 where it is not a focal set."""
        found = [self._position(1 << k) for k in range(self.n_clusters)]
        return _frozen(np.array([-1 if at is None else at for at in found]))

    def _position(self, mask: int) -> int | None:
        at = np.flatnonzero(self.masks == mask)
        return int(at[0]) if at.size else None

    def index(self, subset: Subset) -> int:
        """Position of a subset; ``ValueError`` when it is not a focal set."""
        mask = to_mask(subset, self.n_clusters)
        at = self._position(mask)
        if at is None:
            raise ValueError(f"{format_mask(mask)} is not one of the focal sets: {self}.")
        return at

    def names(self, cluster_names: Sequence[str] | None = None) -> list[str]:
        """Readable name of every focal set."""
        return [format_mask(mask, cluster_names) for mask in self.masks.tolist()]

    def relabel(self, order: Sequence[int] | np.ndarray) -> FocalSets:
        """Same focal sets, in the same positions, when old cluster ``order[k]`` becomes cluster ``k``."""
        if sorted(order) != list(range(self.n_clusters)):
            raise ValueError(f"'order' must hold each of the {self.n_clusters} clusters once. Got {order!r}.")
        bits = 1 << np.arange(self.n_clusters, dtype=np.int64)
        moved = self.member[:, np.asarray(order)].astype(np.int64) @ bits
        return FocalSets(self.n_clusters, moved.tolist())

    def with_empty(self) -> FocalSets:
        """Add the empty set in front when it is missing."""
        return self if self.empty_index is not None else FocalSets(self.n_clusters, [0, *self.masks.tolist()])

    def union(self, other: FocalSets) -> FocalSets:
        """All focal sets of either family, by size and then by mask."""
        if self.n_clusters != other.n_clusters:
            raise ValueError(
                f"Both families must speak of the same clusters. Got {self.n_clusters} and {other.n_clusters} clusters."
            )
        return FocalSets(self.n_clusters, canonical_order({*self.masks.tolist(), *other.masks.tolist()}))

    def __len__(self) -> int:
        return len(self.masks)

    def __iter__(self) -> Iterator[frozenset[int]]:
        return (frozenset(np.flatnonzero(row).tolist()) for row in self.member)

    def __contains__(self, subset: Subset) -> bool:
        return self._position(to_mask(subset, self.n_clusters)) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FocalSets):
            return NotImplemented
        return self.n_clusters == other.n_clusters and np.array_equal(self.masks, other.masks)

    def __getstate__(self) -> dict[str, object]:
        """What it is, without the tables it has derived: equal families are pickled to the same bytes."""
        return {"n_clusters": self.n_clusters, "masks": self.masks}

    def to_fields(self) -> dict[str, object]:
        """What a file holds of it, see :mod:`evidentia.storage`."""
        return self.__getstate__()

    @classmethod
    def from_fields(cls, n_clusters: int, masks: np.ndarray) -> FocalSets:
        return cls(n_clusters, masks.tolist())

    def __hash__(self) -> int:
        return hash((self.n_clusters, self.masks.tobytes()))

    def __repr__(self) -> str:
        names = self.names()
        if len(names) > 16:
            names = [*names[:12], f"... {len(names) - 13} more ...", names[-1]]
        return f"FocalSets({self.n_clusters} clusters: {', '.join(names)})"


def resolve_focal_sets(
    focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets], n_clusters: int, *, empty: bool
) -> FocalSets:
    """Focal sets an estimator works with, from what its user wrote.

    ``empty`` says whether the method has a place for the empty set: a named family gets it or not, and an
    explicit family that disagrees is refused. A function of the number of clusters serves searches over that
    number.
    """
    if callable(focal_sets):
        focal_sets = focal_sets(n_clusters)
    if isinstance(focal_sets, str):
        named = _make(n_clusters, focal_sets, empty=empty)
        if len(named) > MANY_SETS:
            warn_user(
                f"focal_sets={focal_sets!r} are {len(named):,} sets of {n_clusters} clusters, and time and memory grow "
                "with their number. Take 'auto' or 'near-pairs' where the method has it, 'pairs' or 'simple'.",
                UserWarning,
            )
        return named
    found = focal_sets if isinstance(focal_sets, FocalSets) else _make(n_clusters, focal_sets)
    if found.n_clusters != n_clusters:
        raise ValueError(
            f"'focal_sets' speak of {found.n_clusters} clusters, but n_clusters={n_clusters}. "
            "Give both the same number, or name a family such as 'pairs'."
        )
    uncovered = np.flatnonzero(found.member.sum(axis=0) == 0)
    if uncovered.size:
        raise ValueError(
            f"'focal_sets' must mention every cluster, but cluster {uncovered[0]} is in none of: "
            f"{', '.join(found.names())}."
        )
    if not empty and found.empty_index is not None:
        raise ValueError(
            "This method has no empty set: every object comes from some component. Leave {} out of 'focal_sets'."
        )
    return found


def _make(n_clusters: int, family: str | Iterable[Subset], **options: bool) -> FocalSets:
    try:
        return FocalSets(n_clusters, family, **options)
    except (ValueError, TypeError) as error:
        raise type(error)(f"The 'focal_sets' parameter does not suit n_clusters={n_clusters}: {error}") from error


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
