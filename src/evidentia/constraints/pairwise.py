"""Must-link and cannot-link knowledge about pairs of objects."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia._objects import row_names
from evidentia._parameters import random_numbers
from evidentia.constraints import building, files
from evidentia.constraints.chains import (
    Contradiction,
    ContradictoryLinks,
    contradicted,
    count_closure,
    find_closure,
    find_contradictions,
    must_link_groups,
)
from evidentia.constraints.knowledge import read_knowledge
from evidentia.constraints.statements import Statement, find_links

if TYPE_CHECKING:
    import pandas as pd

    from evidentia.partition import CredalPartition

SHOWN = 5  # links that a message or a print names before it counts the rest
PROVED = 100  # contradictions whose chains go with an error: of many links there may be millions
KINDS = {True: "must-link", False: "cannot-link"}


class Link(NamedTuple):
    """Two objects, by index or by name, and whether they belong together."""

    first: Any
    second: Any
    must: bool
    certainty: float

    def __str__(self) -> str:
        return f"{KINDS[self.must]} {(self.first, self.second)}"


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseConstraints:
    """Pairs of objects that belong together (must-link) or do not (cannot-link), each with a certainty.

    Made by :meth:`from_links`, :meth:`from_labels`, :meth:`from_knowledge`, :meth:`from_groups`, :meth:`from_csv` or
    :meth:`sample`, and passed to a method as ``fit(X, constraints=...)``. Immutable; memory and time grow with the
    number of links.

    Parameters
    ----------
    pairs : array-like of int, shape (n_links, 2)
        Row numbers, or positions in ``object_names``.
    must : array-like of bool, shape (n_links,)
        True for a must-link, False for a cannot-link.
    certainty : float or array-like of shape (n_links,)
        In (0, 1]. One is a hard link; the penalty of a soft one is weighted by it.
    object_names : sequence of str, optional
        When given, objects are known by name and are looked up in the index of the table at hand.

    Attributes
    ----------
    pairs, must, certainty : ndarray
    object_names : tuple of str or None

    Notes
    -----
    Row numbers are those of the table that ``fit`` gets. A cross-validation that fits on some of the rows needs links
    by name, or :meth:`take`.

    Examples
    --------
    >>> links = PairwiseConstraints.from_links(must_link=[(0, 1), (1, 4, 0.8)], cannot_link=[(4, 2)])
    >>> links
    PairwiseConstraints(2 must-link, 1 cannot-link, 1 of them soft)
    >>> print(links.closure())
    3 must-link, 3 cannot-link, 4 of them soft
      0 and 1 belong together
      2 and 4 do not belong together
      1 and 4 belong together (certainty 0.8)
      ...
    """

    pairs: np.ndarray
    must: np.ndarray
    certainty: Any = 1.0
    object_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        pairs = np.asarray(self.pairs)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"'pairs' must have shape (n_links, 2). Got {pairs.shape}.")
        if pairs.dtype.kind not in "iu":
            raise TypeError(f"'pairs' must hold whole numbers. Got {pairs.dtype}; from_links takes names too.")
        building.refuse_many_links(len(pairs), "Give fewer links.")
        must = np.asarray(self.must, dtype=bool)
        certainty = np.asarray(self.certainty, dtype=float)
        if must.shape != (len(pairs),) or certainty.shape not in ((), must.shape):
            raise ValueError(
                f"{len(pairs)} links need as many values of 'must' and 'certainty'. "
                f"Got shapes {must.shape} and {certainty.shape}."
            )
        names = None if self.object_names is None else tuple(map(str, self.object_names))
        for field, value in (
            ("pairs", _frozen(pairs.astype(np.int64))),
            ("must", _frozen(must.copy())),
            ("certainty", _frozen(np.broadcast_to(certainty, must.shape).copy())),
            ("object_names", names),
        ):
            object.__setattr__(self, field, value)
        self._check_links()

    def _check_links(self) -> None:
        if self.object_names is not None and len(set(self.object_names)) < len(self.object_names):
            raise ValueError(f"Names must differ, but these come twice or more: {_repeated_names(self.object_names)}.")
        low, high = np.sort(self.pairs, axis=1).T
        self._refuse(low < 0, "Objects are numbered from 0")
        if self.object_names is not None:
            self._refuse(high >= len(self.object_names), f"There are {len(self.object_names)} names")
        self._refuse(low == high, "An object cannot be linked to itself")
        self._refuse(~((self.certainty > 0) & (self.certainty <= 1)), "A certainty lies in (0, 1]", certainty=True)
        order = np.lexsort([high, low])
        low, high, must = low[order], high[order], self.must[order]
        again = np.zeros(len(self), dtype=bool)
        again[1:] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
        both = again.copy()
        both[1:] &= must[1:] != must[:-1]
        self._refuse(order[both], "A pair cannot be must-link and cannot-link at once")
        self._refuse(order[again], "A pair may be linked once")

    def _refuse(self, wrong: np.ndarray, complaint: str, *, certainty: bool = False) -> None:
        at = np.flatnonzero(wrong) if wrong.dtype == bool else np.sort(wrong)
        if at.size:
            named = [str(self._link(k)) + (f" has {self.certainty[k]:g}" if certainty else "") for k in at[:SHOWN]]
            more = f" and {at.size - SHOWN} more" if at.size > SHOWN else ""
            raise ValueError(f"{complaint}: {', '.join(named)}{more}.")

    def _object(self, i: int) -> Any:
        names = self.object_names
        return int(i) if names is None or not 0 <= i < len(names) else names[i]

    def _link(self, k: int) -> Link:
        i, j = self.pairs[k]
        return Link(self._object(i), self._object(j), bool(self.must[k]), float(self.certainty[k]))

    # -- where links come from ----------------------------------------------------------------------------------------

    @classmethod
    def from_links(cls, must_link: Iterable[Any] = (), cannot_link: Iterable[Any] = ()) -> PairwiseConstraints:
        """Links listed one by one.

        Parameters
        ----------
        must_link, cannot_link : iterable of (first, second) or (first, second, certainty)
            Objects by row number, or all of them by name (str). Without a certainty a link is hard.

        Examples
        --------
        >>> PairwiseConstraints.from_links([("Ann", "Bob", 0.9)], [("Bob", "Eve")])
        PairwiseConstraints(1 must-link, 1 cannot-link, 1 of them soft; by name)
        """
        rows = [
            (_parse(link, kind), kind) for kind, links in ((True, must_link), (False, cannot_link)) for link in links
        ]
        ends = [end for (first, second, _), _ in rows for end in (first, second)]
        must = np.array([kind for _, kind in rows], dtype=bool)
        certainty = [s for (_, _, s), _ in rows]
        named = [isinstance(end, str) for end in ends]
        if any(named) and not all(named):
            raise TypeError(
                "Link all objects by row number or all of them by name, not some by one and some by the other."
            )
        if not any(named):
            return cls(np.array(ends, dtype=np.int64).reshape(-1, 2), must, np.array(certainty))
        position = {name: k for k, name in enumerate(dict.fromkeys(ends))}
        pairs = np.array([position[name] for name in ends]).reshape(-1, 2)
        return cls(pairs, must, np.array(certainty), tuple(position))

    @classmethod
    def from_groups(
        cls,
        groups: Sequence[Any],
        *,
        apart: bool | Iterable[tuple[int, int]] = True,
        links: str = "all",
        certainty: float = 1.0,
    ) -> PairwiseConstraints:
        """Groups of objects that belong together, such as regions drawn on an image.

        Parameters
        ----------
        groups : sequence of array-like
            Each group by row numbers, by names, or as a mask: an array of bool, of any one shape for all groups, whose
            entries in C order are the objects.
        apart : bool or iterable of (int, int)
            Whether any two groups are different, or which groups (by position) are.
        links : {"all", "spanning"}
            ``"all"`` links every pair. ``"spanning"`` takes the fewest links that say the same by transitivity, for
            large groups; a soft penalty then weighs less.
        certainty : float in (0, 1]

        Examples
        --------
        >>> left = np.array([[True, False, False], [True, False, False]])
        >>> links = PairwiseConstraints.from_groups([left, np.fliplr(left)])
        >>> links.must_link.tolist(), links.cannot_link.tolist()
        ([[0, 3], [2, 5]], [[0, 2], [0, 5], [3, 2], [3, 5]])
        """
        members = building.group_members(groups)
        same, different = building.group_links(members, apart, links)
        pairs, names = np.concatenate([same, different]), None
        if pairs.dtype.kind not in "iu":
            found, pairs = np.unique(pairs.astype(str), return_inverse=True)
            pairs, names = pairs.reshape(-1, 2), tuple(found.tolist())
        return cls(pairs, np.arange(len(pairs)) < len(same), certainty, names)

    @classmethod
    def from_labels(
        cls, labels: Any, *, unknown: Any = -1, links: str = "all", certainty: float = 1.0
    ) -> PairwiseConstraints:
        """Objects with the same label belong together, objects with different labels do not.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            None, NaN and ``unknown`` mark objects whose label is not known. The links of a Series whose index names
            the objects are by name.
        links, certainty
            As in :meth:`from_groups`.

        Examples
        --------
        >>> PairwiseConstraints.from_labels(["a", None, "b", "a", None])
        PairwiseConstraints(1 must-link, 2 cannot-link)
        """
        known, label = building.known_labels(labels, unknown)
        groups = [known[label == k] for k in range(label.max(initial=-1) + 1)]
        found = cls.from_groups(groups, links=links, certainty=certainty)
        return cls._by_name(found.pairs, found.must, found.certainty, row_names(labels))

    @classmethod
    def from_knowledge(
        cls, knowledge: Any, *, n_clusters: int | None = None, least: float = 0.5
    ) -> PairwiseConstraints:
        r"""Links that follow from what is known of single objects: labels, sets of labels, or mass functions.

        The degree of conflict of two mass functions, :math:`\sum_{A \cap B = \varnothing} m_i(A) m_j(B)`, is the
        certainty of a cannot-link, and :math:`\sum_k m_i(\{k\}) m_j(\{k\})` that of a must-link.

        Parameters
        ----------
        knowledge : CredalPartition, array-like or list
            A mass function for each object; or for each the number of its cluster, a set of numbers, or -1.
        n_clusters : int, optional
            The largest number that is named, and one more, unless given.
        least : float in (0, 1]
            Links of a lower certainty are left out; a half or more cannot hold of both kinds.

        Examples
        --------
        >>> print(PairwiseConstraints.from_knowledge([{0}, -1, {1, 2}, 0, {0, 1}]))
        1 must-link, 2 cannot-link
          0 and 2 do not belong together
          0 and 3 belong together
          2 and 3 do not belong together
        """
        if not 0 < least <= 1:
            raise ValueError(f"'least' must lie in (0, 1]. Got {least!r}.")
        if n_clusters is None:
            n_clusters = building.count_clusters(knowledge)
        known = read_knowledge(knowledge, np.empty((len(knowledge), 0)), n_clusters, cls.__name__)
        told = np.flatnonzero(known.contour.min(axis=1) < 1)
        building.refuse_many_links(len(told) * (len(told) - 1) // 2, "Give the knowledge of fewer objects.")
        pairs = told[np.column_stack(np.triu_indices(len(told), 1))]
        found = known.relational(pairs)
        certainty = np.maximum(found.same, found.different)
        certainty[certainty > 1 - 1e-12] = 1
        kept = certainty >= least
        same = (found.same >= found.different)[kept]
        return cls._by_name(pairs[kept], same, certainty[kept], row_names(knowledge))

    @classmethod
    def from_statements(cls, statements: Iterable[Statement]) -> PairwiseConstraints:
        """What somebody said about objects, a sentence at a time.

        Parameters
        ----------
        statements : iterable of Statement
            Of sentences about many objects only as many links are made as are needed to say it.

        Examples
        --------
        >>> from evidentia.constraints import Statement
        >>> said = [Statement("together", ["Ann", "Bob"]), Statement("apart", ["Ann"], ["Eve", "Ida"], certainty=0.8)]
        >>> PairwiseConstraints.from_statements(said)
        PairwiseConstraints(1 must-link, 2 cannot-link, 2 of them soft; by name)
        """
        found = [(*pair, certainty, must) for pair, (must, certainty) in find_links(statements).items()]
        return cls.from_links(*([link[:3] for link in found if link[3] is kind] for kind in (True, False)))

    @classmethod
    def sample(
        cls, truth: Any, n_links: int, random_state: Any = None, *, unknown: Any = -1, certainty: float = 1.0
    ) -> PairwiseConstraints:
        """Links between pairs drawn at random, as a truth has them.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            Labels; objects whose label is None, NaN or ``unknown`` are not drawn. The links of a Series whose index
            names the objects are by name.
        n_links : int
            Number of different pairs; all sets of as many pairs are equally likely.
        random_state : int, RandomState or None

        Examples
        --------
        >>> links = PairwiseConstraints.sample([0, 0, 1, 1], 6, random_state=0)
        >>> links
        PairwiseConstraints(2 must-link, 4 cannot-link)
        """
        rng = random_numbers(random_state, "PairwiseConstraints.sample")
        known, label = building.known_labels(truth, unknown)
        available = len(known) * (len(known) - 1) // 2
        if not 0 <= n_links <= available:
            raise ValueError(
                f"'n_links' must be at most {available}, the number of pairs of {len(known)} objects. Got {n_links}."
            )
        building.refuse_many_links(n_links, "Draw fewer links.")
        pairs = building.random_pairs(len(known), n_links, rng)
        same = label[pairs[:, 0]] == label[pairs[:, 1]]
        return cls._by_name(known[pairs], same, certainty, row_names(truth))

    @classmethod
    def _by_name(
        cls, rows: np.ndarray, must: np.ndarray, certainty: Any, names: tuple[str, ...] | None
    ) -> PairwiseConstraints:
        """Return links between rows, by the names of those rows if they have any."""
        if names is None or not len(rows):
            return cls(rows, must, certainty)
        linked, pairs = np.unique(rows, return_inverse=True)
        return cls(pairs.reshape(-1, 2), must, certainty, tuple(names[i] for i in linked))

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], *, by: str = "auto") -> PairwiseConstraints:
        """Read a table with the columns ``first``, ``second``, ``link`` and, if wanted, ``certainty``.

        Parameters
        ----------
        path : path
            ``link`` is ``must-link`` or ``cannot-link``. A last line that was cut off is left out, with a warning. The
            lines of :meth:`to_csv` have a ``check``, by which one that was damaged is found and refused.
        by : {"auto", "index", "name"}
            ``"auto"`` takes the objects for row numbers when all of them are whole numbers, else for names.
        """
        return cls.from_links(*files.read_links(path, by))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write what :meth:`from_csv` reads, with a ``check`` in each line; the file is replaced at once."""
        files.write_links(path, ((first, second, s, KINDS[must]) for first, second, must, s in self))

    # -- what they say ------------------------------------------------------------------------------------------------

    @property
    def must_link(self) -> np.ndarray:
        """Pairs that belong together, shape (n, 2)."""
        return self.pairs[self.must]

    @property
    def cannot_link(self) -> np.ndarray:
        """Pairs that do not belong together, shape (n, 2)."""
        return self.pairs[~self.must]

    @cached_property
    def objects(self) -> np.ndarray:
        """Numbers of the objects that have a link, in increasing order."""
        return _frozen(np.unique(self.pairs))

    def contradictions(self) -> list[Contradiction]:
        """Cannot-links between objects that must-links join, each with the strongest chain that joins them.

        Examples
        --------
        >>> links = PairwiseConstraints.from_links([(0, 1), (1, 2, 0.7), (2, 3)], [(3, 0), (4, 0)])
        >>> links.contradictions()
        [Contradiction(chain=(3, 2, 1, 0), certainty=0.7)]
        """
        return self._prove(np.flatnonzero(contradicted(self.pairs, self.must)))

    def _prove(self, chosen: np.ndarray) -> list[Contradiction]:
        found = find_contradictions(self.pairs, self.must, self.certainty, chosen)
        return [Contradiction(tuple(map(self._object, chain)), s) for chain, s in found]

    def check(self, *, soft: bool = False) -> PairwiseConstraints:
        """Raise :class:`ContradictoryLinks` when hard links contradict each other; gives the links back.

        The error counts all contradictions, and holds the chains of the first hundred.

        Parameters
        ----------
        soft : bool
            Whether a contradiction in which some link is soft counts too.
        """
        counted = np.flatnonzero(soft | (self.certainty == 1))
        broken = counted[contradicted(self.pairs[counted], self.must[counted])]
        if broken.size:
            found = self._prove(broken[:PROVED])
            proofs = [
                f"{chain[0]!r} and {chain[-1]!r} cannot be together, but must-links join them: {_spell(chain)}"
                for chain, _ in found[:SHOWN]
            ]
            more = f"; and {broken.size - SHOWN} more" if broken.size > SHOWN else ""
            raise ContradictoryLinks(
                f"The links contradict each other. {'; '.join(proofs)}{more}. Drop one link of each chain, or give the "
                "doubtful ones a certainty below 1.",
                found,
            )
        return self

    def closure(self) -> PairwiseConstraints:
        """All links that follow: together with what I am together with, apart from what that is apart from.

        An implied link is as certain as the least certain link of its chain, and of several chains the strongest
        counts. Contradictory links have no closure and raise :class:`ContradictoryLinks`. The number of implied links
        can be quadratic in the size of a group.

        Examples
        --------
        >>> for link in PairwiseConstraints.from_links([(0, 1, 0.6)], [(1, 2)]).closure():
        ...     print(tuple(link))
        (1, 2, False, 1.0)
        (0, 1, True, 0.6)
        (0, 2, False, 0.6)
        """
        self.check(soft=True)
        building.refuse_many_links(count_closure(self.pairs, self.must), "Close the links of fewer objects.")
        return PairwiseConstraints(*find_closure(self.pairs, self.must, self.certainty), self.object_names)

    def groups(self, n_objects: int) -> np.ndarray:
        """Number of the group of each of ``n_objects`` rows when must-links join, shape (n_objects,)."""
        return must_link_groups(self.must_link, n_objects)

    def violations(self, partition: CredalPartition) -> pd.DataFrame:
        """How far a partition breaks each link.

        Returns
        -------
        DataFrame
            One row per link: ``first``, ``second``, ``link``, ``certainty``, and the ``belief`` and ``plausibility``
            that it is broken. A plausibility of 0 is a link surely obeyed, a belief of 1 one surely broken.

        Examples
        --------
        >>> from evidentia import CredalPartition, FocalSets
        >>> sure, torn = [1, 0, 0], [0, 0, 1]
        >>> partition = CredalPartition([sure, sure, torn], FocalSets(2, empty=False))
        >>> links = PairwiseConstraints.from_links([(0, 1)], [(1, 2)])
        >>> links.violations(partition)
           first  second         link  certainty  belief  plausibility
        0      0       1    must-link        1.0     0.0           0.0
        1      1       2  cannot-link        1.0     0.0           1.0
        """
        found = partition.relational(self._locate(len(partition), partition.object_names, "the partition").pairs)
        belief = np.where(self.must, found.different, found.same)
        return self.to_pandas().assign(belief=belief, plausibility=belief + found.unknown)

    # -- other tables -------------------------------------------------------------------------------------------------

    def for_table(self, X: Any) -> PairwiseConstraints:
        """The same links by row number of X; an object that X does not have is an error.

        Parameters
        ----------
        X : array-like or DataFrame
            Links by name need a DataFrame whose index holds the names.
        """
        shape = getattr(X, "shape", None)
        if shape == () or (shape is None and (isinstance(X, str | dict | set) or not hasattr(X, "__len__"))):
            raise TypeError(f"Links must be between the rows of a table X, an array or a DataFrame. Got {X!r}.")
        index = getattr(X, "index", None)
        n_objects = len(X) if shape is None else shape[0]
        return self._locate(n_objects, None if index is None or callable(index) else index, "X")

    def _locate(self, n_objects: int, names: Iterable[Any] | None, where: str) -> PairwiseConstraints:
        if self.object_names is None:
            complaint = f"Links must be between the rows 0..{n_objects - 1} of {where}"
            self._refuse(self.pairs.max(axis=1, initial=-1) >= n_objects, complaint)
            return self
        if names is None:
            raise ValueError(
                f"The links name objects such as {self.object_names[0]!r}, but {where} has no names. Give a DataFrame "
                "whose index holds them (in a Pipeline: set_output(transform='pandas'))."
            )
        rows: dict[str, list[int]] = {name: [] for name in self.object_names}
        for row, name in enumerate(map(str, names)):
            if name in rows:
                rows[name].append(row)
        missing = [name for name, found in rows.items() if not found]
        if missing:
            raise ValueError(f"The links name objects that {where} does not have: {_shorten(missing)}.")
        double = [name for name, found in rows.items() if len(found) > 1]
        if double:
            raise ValueError(f"The links name objects that {where} has more than once: {_shorten(double)}.")
        position = np.array([rows[name][0] for name in self.object_names])
        return PairwiseConstraints(position[self.pairs], self.must, self.certainty)

    def take(self, rows: Any) -> PairwiseConstraints:
        """Links between some of the objects; those with an object left out are dropped.

        Parameters
        ----------
        rows : array-like
            Row numbers in their new order, or a mask of bool, and the links then speak of ``X[rows]``. For links by
            name: the names to keep.

        Examples
        --------
        >>> links = PairwiseConstraints.from_links([(0, 3)], [(3, 1)])
        >>> links.take([3, 2, 1])
        PairwiseConstraints(0 must-link, 1 cannot-link)
        >>> links.take([3, 2, 1]).pairs
        array([[0, 2]])
        """
        if self.object_names is not None:
            kept = set(map(str, rows))
            inside = np.array([name in kept for name in self.object_names], dtype=bool)
            return self._subset(inside[self.pairs].all(axis=1))
        chosen = np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
        if len(np.unique(chosen)) < len(chosen):
            raise ValueError(
                f"'rows' must name each row once, but these come twice or more: {_repeated_names(chosen)}."
            )
        order = np.argsort(chosen)
        at = np.searchsorted(chosen, self.pairs, sorter=order).clip(max=max(len(chosen) - 1, 0))
        moved = order[at] if len(chosen) else np.zeros_like(self.pairs)
        kept_links = (chosen[moved] == self.pairs).all(axis=1) if len(chosen) else np.zeros(len(self), dtype=bool)
        return PairwiseConstraints(moved[kept_links], self.must[kept_links], self.certainty[kept_links])

    def _subset(self, kept: np.ndarray) -> PairwiseConstraints:
        return PairwiseConstraints(self.pairs[kept], self.must[kept], self.certainty[kept], self.object_names)

    def union(self, other: PairwiseConstraints) -> PairwiseConstraints:
        """Links of both; a pair that both have is an error.

        Examples
        --------
        >>> PairwiseConstraints.from_links([(0, 1)]).union(PairwiseConstraints.from_links([], [(1, 2)]))
        PairwiseConstraints(1 must-link, 1 cannot-link)
        """
        both = [*self, *other]
        split = [[(a, b, s) for a, b, must, s in both if must is kind] for kind in (True, False)]
        return PairwiseConstraints.from_links(*split)

    # -- reading ------------------------------------------------------------------------------------------------------

    def to_pandas(self) -> pd.DataFrame:
        """One row per link: ``first``, ``second``, ``link`` and ``certainty``."""
        import pandas as pd

        rows = list(self)
        return pd.DataFrame(
            {
                "first": [link.first for link in rows],
                "second": [link.second for link in rows],
                "link": [KINDS[link.must] for link in rows],
                "certainty": self.certainty,
            }
        )

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Link]:
        return map(self._link, range(len(self)))

    @property
    def _count_text(self) -> str:
        soft = int((self.certainty < 1).sum())
        counted = f"{self.must.sum()} must-link, {(~self.must).sum()} cannot-link"
        return counted + (f", {soft} of them soft" if soft else "")

    def __repr__(self) -> str:
        return f"PairwiseConstraints({self._count_text}{'' if self.object_names is None else '; by name'})"

    def __str__(self) -> str:
        words = {True: "belong together", False: "do not belong together"}
        lines = [self._count_text]
        for first, second, must, s in map(self._link, range(min(len(self), 2 * SHOWN))):
            lines.append(f"  {first} and {second} {words[must]}" + (f" (certainty {s:g})" if s < 1 else ""))
        if len(self) > 2 * SHOWN:
            lines.append(f"  ... and {len(self) - 2 * SHOWN} more")
        return "\n".join(lines)


def _parse(link: Any, kind: bool) -> tuple[Any, Any, float]:
    """The parts of a link as somebody wrote it."""
    parts = tuple(link) if not isinstance(link, str) else (link,)
    if len(parts) not in (2, 3):
        raise ValueError(f"A {KINDS[kind]} is (first, second) or (first, second, certainty). Got {link!r}.")
    for end in parts[:2]:
        if not isinstance(end, str) and (isinstance(end, bool | np.bool_) or not hasattr(end, "__index__")):
            raise TypeError(
                f"A {KINDS[kind]} names objects by row number (int) or by name (str). Got {end!r} in {link!r}."
            )
    return parts[0], parts[1], float(parts[2]) if len(parts) == 3 else 1.0


def _repeated_names(items: Iterable[Any]) -> str:
    return _shorten([item for item, count in Counter(items).items() if count > 1])


def _shorten(names: Sequence[Any]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more


def _spell(chain: Sequence[Any]) -> str:
    """A chain in words, a long one by its ends."""
    shown = [*map(repr, chain)]
    if len(chain) > 4 * SHOWN:
        shown[SHOWN:-SHOWN] = [f"({len(chain) - 2 * SHOWN} more)"]
    return " = ".join(shown)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


NO_LINKS = PairwiseConstraints.from_links()


def resolve_constraints(estimator: Any, constraints: Any, X: Any) -> PairwiseConstraints:
    """Links by row number of X, none when there are none."""
    if constraints is None:
        return NO_LINKS
    if not isinstance(constraints, PairwiseConstraints):
        raise TypeError(
            f"'constraints' of {type(estimator).__name__}.fit must be PairwiseConstraints, for instance "
            f"PairwiseConstraints.from_links(must_link, cannot_link). Got {type(constraints).__name__}."
        )
    return constraints.for_table(X)
