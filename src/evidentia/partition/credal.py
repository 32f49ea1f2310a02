"""The one result type: a mass function for every object, and its hard, fuzzy, possibilistic and rough views."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia._objects import align_objects, match_names
from evidentia._warnings import warn_user
from evidentia.archive import name_file_in_errors
from evidentia.belief import combination, decision
from evidentia.belief.coverage import check_coverage, covering_sets, own_threshold
from evidentia.belief.focal import FocalSets, format_mask
from evidentia.belief.mass import MassFunctions
from evidentia.partition import storage
from evidentia.partition.counts import WORST, Certainty, Counts, count_kinds, kind_of, no_answer_in_words
from evidentia.partition.explanation import Explainer, Explanation
from evidentia.partition.relational import RelationalMasses, pairwise, pairwise_blocks
from evidentia.partition.sparse import SparsePartition
from evidentia.safe_text import printable_table
from evidentia.verdict.result import Verdict
from evidentia.verdict.words import is_one_cloud

if TYPE_CHECKING:
    import pandas as pd

KEPT = ("object_names", "cluster_names", "no_answer", "label_rule")  # what goes with the masses
SHOWN = 5  # objects that a notebook shows
MATRIX_LIMIT = 2 << 30  # bytes of an n x n answer that is given without being asked twice


class CredalPartition(MassFunctions):
    """A mass function over sets of clusters for every object.

    ==============  ==================================================================================
    view            how to get it
    ==============  ==================================================================================
    hard            ``labels()``: one cluster each, by plausibility, belief, pignistic probability or mass
    set-valued      ``sets()``: the one cluster an object is assigned to, or those between which it is ambiguous;
                    ``sets(coverage=0.9)``: clusters that hold the right one for a stated share of the objects
    fuzzy           ``pignistic``: a probability for each cluster
    possibilistic   ``contour``: the plausibility of each cluster
    rough           ``lower(k)``, ``upper(k)``: who is assigned to cluster k, and who is possibly in it
    outliers        ``outliers()``, ``empty``: who fits none of the clusters
    pairs           ``relational()``: belief and plausibility that two objects share a cluster
    reasons         ``explain(i, X)``: which clusters compete for an object, and which columns speak for which
    ==============  ==================================================================================

    Parameters
    ----------
    masses : array-like of shape (n_samples, n_focal)
        Non-negative, each row summing to one.
    focal_sets : FocalSets
    object_names, cluster_names : sequence of str, optional
        Two partitions of objects that have names are compared and combined by these, in the order of the first; names
        against no names are refused, see :meth:`name_objects`.
    no_answer : str, optional
        Why the masses are no answer and what to try, of a fit that collapsed for instance: the summary says this and
        calls nobody assigned.
    label_rule : {"plausibility", "belief", "pignistic", "mass"}
        Rule of ``labels()``, and so of every table and picture, unless another is asked for. Methods give their own, so
        that ``partition_.labels()`` is ``labels_``.
    verdict : Verdict or callable, optional
        Whether the clusters are groups, see :attr:`verdict`; or a function of the partition, which is called when the
        verdict is first asked for.
    copy : bool
        ``False`` takes the array over and freezes it.

    Examples
    --------
    >>> masses = [[0, 0.9, 0, 0.1], [0, 0.2, 0.1, 0.7], [0, 0, 1, 0], [0.8, 0.1, 0.1, 0]]
    >>> partition = CredalPartition(masses, FocalSets(2), object_names=["a", "b", "c", "d"])
    >>> print(partition)
    4 objects in 2 clusters
      2 ( 50 %) assigned to one cluster      {0}: 1, {1}: 1
      1 ( 25 %) ambiguous between clusters   {0,1}: 1
      1 ( 25 %) outliers, in none of them
    Assigned: belief of 0.6 or more. Mean nonspecificity 0.40, mean uncertainty 0.40 (0: certain, 1: nothing known).
    Most doubtful: d, b, a.
    >>> partition.lower(0), partition.upper(0), partition.outliers()
    (array([0]), array([0, 1]), array([3]))
    """

    object_names: tuple[str, ...] | None
    cluster_names: tuple[str, ...] | None
    no_answer: str | None
    label_rule: str
    _verdict: Any

    def __init__(
        self,
        masses: Any,
        focal_sets: FocalSets,
        *,
        object_names: Sequence[str] | None = None,
        cluster_names: Sequence[str] | None = None,
        no_answer: str | None = None,
        label_rule: str = "plausibility",
        verdict: Verdict | Callable[[CredalPartition], Verdict | None] | None = None,
        copy: bool = True,
    ):
        super().__init__(masses, focal_sets, copy=copy)
        for what, names, count in (
            ("object_names", object_names, len(self)),
            ("cluster_names", cluster_names, self.n_clusters),
        ):
            if names is not None and len(names) != count:
                raise ValueError(f"'{what}' must hold {count} names. Got {len(names)}.")
            self.__dict__[what] = None if names is None else _check_names(names, what)
        self.__dict__.update(no_answer=no_answer, label_rule=label_rule, _verdict=verdict)

    def _like(self, masses: np.ndarray, focal_sets: FocalSets, **changed: Any) -> CredalPartition:
        kept = {name: getattr(self, name) for name in KEPT}
        return CredalPartition(masses, focal_sets, **{**kept, **changed}, copy=False)

    # -- decisions ----------------------------------------------------------------------------------------------------

    def labels(self, rule: str | None = None, *, reject: float | None = None) -> np.ndarray:
        """One cluster for each object, shape (n_samples,); -1 where ``reject`` turned the decision down.

        Parameters
        ----------
        rule : {"plausibility", "belief", "pignistic", "mass"}, optional
            ``label_rule`` unless given.
        reject : float in [0, 1], optional
            See :func:`evidentia.belief.decide`.
        """
        return decision.decide(self.masses, self.focal_sets, rule=rule or self.label_rule, reject=reject)

    def sets(
        self,
        rule: str = "belief",
        *,
        coverage: float | None = None,
        cautiousness: float = 0.5,
        level: float = decision.ASSIGNED,
    ) -> np.ndarray:
        """Return the clusters that remain possible for each object, shape (n_samples, n_clusters) of bool.

        A row without any True is an outlier.

        Parameters
        ----------
        rule : {"belief", "mass", "interval-dominance", "cautious"}
            ``"belief"``: the one cluster that an object is assigned to, as the belief in it reaches ``level``, or the
            clusters between which it is ambiguous (:func:`~evidentia.belief.believed_sets`); the summary, the report
            and all pictures use it. ``"mass"``: the set of largest mass (the hard credal partition of the literature).
            ``"interval-dominance"``: all clusters that no other one dominates. ``"cautious"``: something between one
            cluster and interval dominance, as ``cautiousness`` goes from 0 to 1.
        coverage : float, optional
            In place of a rule: the likeliest cluster, and all whose pignistic probability reaches a threshold,
            such that the sets hold this share of the probability on average. It takes the partition's own masses at
            their word; ``model.sets(X, coverage=0.9)`` has refits calibrate them.
        cautiousness : float in [0, 1]
            Used by ``rule="cautious"`` only.
        level : float in [0, 1]
            Used by ``rule="belief"`` only.
        """
        if coverage is not None:
            warn_user(
                "These sets rest on the partition's own masses, as nothing else is known of it: "
                f"model.sets(X, coverage={coverage:g}) calibrates them by refits.",
                UserWarning,
            )
            return covering_sets(self.pignistic, own_threshold(self.pignistic, check_coverage(coverage)))
        return decision.decide_sets(self.masses, self.focal_sets, rule=rule, cautiousness=cautiousness, level=level)

    def lower(self, k: int, *, rule: str = "belief") -> np.ndarray:
        """Return the objects assigned to cluster ``k``, those whose set is ``{k}`` (indices)."""
        sets = self.sets(rule)
        return np.flatnonzero(sets[:, self._cluster(k)] & (sets.sum(axis=1) == 1))

    def upper(self, k: int, *, rule: str = "belief") -> np.ndarray:
        """Return the objects possibly in cluster ``k``, those whose set contains it (indices)."""
        return np.flatnonzero(self.sets(rule)[:, self._cluster(k)])

    def outliers(self) -> np.ndarray:
        """Objects with more mass on the empty set than on any other (indices)."""
        return np.flatnonzero(~self.sets("mass").any(axis=1))

    def fuzzy(self, rule: str = "pignistic") -> np.ndarray:
        """Probabilities of the clusters: pignistic, or plausibilities scaled to sum to one (``"plausibility"``)."""
        if rule == "pignistic":
            return self.pignistic
        if rule != "plausibility":
            raise ValueError(f"'rule' must be 'pignistic' or 'plausibility'. Got {rule!r}.")
        total = self.contour.sum(axis=1, keepdims=True)
        uniform = np.full_like(self.contour, 1 / self.n_clusters)
        return np.divide(self.contour, total, out=uniform, where=total > 0)

    def largest(self, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` focal sets of largest mass of each object: their positions and masses, both (n_samples, k)."""
        k = min(k, len(self.focal_sets))
        at = np.argsort(-self.masses, axis=1, kind="stable")[:, :k]
        return at, np.take_along_axis(self.masses, at, axis=1)

    def _cluster(self, k: int) -> int:
        if not 0 <= k < self.n_clusters:
            raise ValueError(f"There are clusters 0 to {self.n_clusters - 1}. Got {k!r}.")
        return k

    # -- pairs of objects ---------------------------------------------------------------------------------------------

    def relational(self, pairs: Any = None) -> RelationalMasses:
        """Masses of "same cluster" and "different clusters", for chosen pairs or for all.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2), optional
            Without it the answer is four n × n arrays; refused when these would not fit in memory
            (:meth:`relational_blocks` gives them chunk by chunk).
        """
        if pairs is not None:
            pairs = np.asarray(pairs)
            if pairs.ndim != 2 or pairs.shape[1] != 2:
                raise ValueError(f"'pairs' must have shape (n_pairs, 2). Got {pairs.shape}.")
            return pairwise(self.masses, self.focal_sets, pairs)
        needed = 4 * 8 * len(self) ** 2
        if needed > MATRIX_LIMIT:
            raise MemoryError(
                f"All pairs of {len(self)} objects need {needed / 2**30:.1f} GiB. "
                "Name the pairs you want, or walk over relational_blocks()."
            )
        blocks = [part for _, part in self.relational_blocks()]
        return RelationalMasses(*(np.concatenate(arrays) for arrays in zip(*blocks)))

    def relational_blocks(self) -> Iterator[tuple[slice, RelationalMasses]]:
        """All pairs, a block of rows at a time: ``(rows, relational masses of rows × all)``."""
        return pairwise_blocks(self.masses, self.focal_sets)

    # -- other partitions ---------------------------------------------------------------------------------------------

    def relabel(self, order: Sequence[int] | np.ndarray) -> CredalPartition:
        """Renumber the clusters: old cluster ``order[k]`` becomes cluster ``k``."""
        order = np.asarray(order)
        if sorted(order.tolist()) != list(range(self.n_clusters)):
            raise ValueError(f"'order' must hold each of 0..{self.n_clusters - 1} once. Got {order.tolist()}.")
        moved = self.focal_sets.relabel(order)
        columns = np.lexsort([moved.masks, moved.card])  # the order of the named families
        names = None if self.cluster_names is None else [self.cluster_names[k] for k in order]
        focal_sets = FocalSets(self.n_clusters, moved.masks[columns].tolist())
        judged = None if self._verdict is None else lambda _: self.verdict.relabel(order)  # type: ignore[union-attr]
        return self._like(self.masses[:, columns], focal_sets, cluster_names=names, verdict=judged)

    def sort_clusters(self) -> CredalPartition:
        """Clusters renumbered from the largest to the smallest (by pignistic probability; ties by first object)."""
        return self.relabel(self.largest_first())

    def largest_first(self) -> np.ndarray:
        """The clusters in the order of :meth:`sort_clusters`."""
        size = np.round(self.pignistic.sum(axis=0), 9)
        return np.lexsort([self.pignistic.argmax(axis=0), -size])

    def name_objects(self, names: Sequence[Any] | None) -> CredalPartition:
        """Return the partition with other names of objects, or with none: their order stays.

        Partitions with names are compared and combined by them, and refused when only one of two has names. Where you
        know that both are in the same order, give both the same names, or none.

        Parameters
        ----------
        names : sequence of str, or None
            A name for each object; None leaves numbers only.

        Examples
        --------
        >>> partition = CredalPartition([[1, 0], [0, 1]], FocalSets(2, [{0}, {1}])).name_objects(["Ann", "Bo"])
        >>> partition.object_names, partition.name_objects(None).object_names
        (('Ann', 'Bo'), None)
        """
        return self._like(self.masses, self.focal_sets, object_names=names, verdict=self._verdict)

    def align(self, other: CredalPartition) -> CredalPartition:
        """Renumber the clusters so that they agree as well as they can with those of ``other``.

        Both are partitions of the same objects. Those that have names are matched by them, in any order.
        """
        if len(other) != len(self) or other.n_clusters != self.n_clusters:
            raise ValueError(
                f"Only partitions of the same objects into as many clusters can be aligned. Got {len(self)} objects in "
                f"{self.n_clusters} clusters and {len(other)} objects in {other.n_clusters} clusters."
            )
        from scipy.optimize import linear_sum_assignment

        overlap = align_objects(self, other).pignistic.T @ self.pignistic
        return self.relabel(linear_sum_assignment(overlap, maximize=True)[1])

    def refine(
        self, refining: Sequence[Collection[int]], *, cluster_names: Sequence[str] | None = None
    ) -> CredalPartition:
        """The same knowledge over finer clusters: cluster ``k`` becomes the set ``refining[k]`` of fine clusters."""
        fine = combination.refine(self, refining)
        return self._like(fine.masses, fine.focal_sets, cluster_names=cluster_names)

    def coarsen(
        self, groups: Sequence[Collection[int]], *, cluster_names: Sequence[str] | None = None
    ) -> CredalPartition:
        """Join clusters: cluster ``k`` of the result stands for the clusters ``groups[k]``, and masses are summed.

        Parameters
        ----------
        groups : sequence of collections of int
            Every cluster is in exactly one of them.
        cluster_names : sequence of str, optional
            Names of the new clusters.

        Examples
        --------
        >>> partition = CredalPartition([[0.5, 0.2, 0.3]], FocalSets(3, [{0}, {0, 2}, {1, 2}]))
        >>> joined = partition.coarsen([{0, 2}, {1}])
        >>> dict(zip(joined.focal_sets.names(), joined.masses[0].tolist()))
        {'{0}': 0.7, '{0,1}': 0.3}
        """
        coarse = combination.coarsen(self, groups)
        return self._like(coarse.masses, coarse.focal_sets, cluster_names=cluster_names)

    def normalize(self, rule: str = "dempster") -> CredalPartition:
        """Without outliers: the mass of the empty set moved elsewhere, see :func:`evidentia.belief.normalize`."""
        found = super().normalize(rule)
        return self._like(found.masses, found.focal_sets)

    def combine(self, other: CredalPartition, *, rule: str = "dempster") -> CredalPartition:
        """Fuse two partitions of the same objects over the same clusters.

        Cluster ``k`` must mean the same thing in both: :meth:`align` them first when they were found independently,
        or :meth:`refine` both to a common frame when their clusters differ. Objects that have names are matched by
        them, and the result has the order of this partition.

        Parameters
        ----------
        other : CredalPartition
        rule : {"dempster", "conjunctive", "yager", "disjunctive", "cautious"}

        Examples
        --------
        One image tells fluid from tissue, another one lesion from the rest; together they tell three things.

        >>> t1 = CredalPartition([[0.8, 0.2]], FocalSets(2, [{0}, {1}]))      # fluid, tissue or lesion
        >>> t2 = CredalPartition([[0.1, 0.9]], FocalSets(2, [{0}, {1}]))      # lesion, fluid or tissue
        >>> fused = t1.refine([{0}, {1, 2}]).combine(t2.refine([{2}, {0, 1}]))
        >>> dict(zip(fused.focal_sets.names(["fluid", "tissue", "lesion"]), fused.masses[0].round(3).tolist()))
        {'{fluid}': 0.783, '{tissue}': 0.196, '{lesion}': 0.022}
        """
        rules = ("dempster", "conjunctive", "yager", "disjunctive", "cautious")
        if rule not in rules:
            raise ValueError(f"The combination 'rule' must be one of {', '.join(map(repr, rules))}. Got {rule!r}.")
        if len(other) != len(self) or other.n_clusters != self.n_clusters:
            raise ValueError(
                f"Only partitions of the same objects over the same clusters combine. Got {len(self)} objects in "
                f"{self.n_clusters} clusters and {len(other)} objects in {other.n_clusters} clusters; "
                "refine(…) brings two frames to a common one."
            )
        fused = getattr(combination, rule)(self, other)
        return self._like(fused.masses, fused.focal_sets, no_answer=self.no_answer or other.no_answer)

    def __getitem__(self, rows: Any) -> CredalPartition:
        """The partition of some of the objects."""
        chosen = np.arange(len(self))[rows].reshape(-1)
        names = None if self.object_names is None else [self.object_names[i] for i in chosen]
        return self._like(self.masses[chosen], self.focal_sets, object_names=names)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the clusters are groups, of a partition that a fit returned; None where that is not known.

        It is computed when it is first asked for. Partitions that are made from this one (of some of the objects, with
        other clusters, combined with another) have none.
        """
        if callable(self._verdict):
            self.__dict__["_verdict"] = self._verdict(self)
        return self._verdict

    def __getstate__(self) -> dict[str, Any]:
        """A pickle or a copy holds the verdict, not the table that it is computed from."""
        return {**self.__dict__, "_verdict": self.verdict}

    # -- reading and keeping ------------------------------------------------------------------------------------------

    @cached_property
    def hard_masks(self) -> np.ndarray:
        """Mask of the set of largest mass of each object, shape (n_samples,): the hard credal partition."""
        return self.focal_sets.masks[decision.top_focal_set(self.masses, self.focal_sets)]

    @cached_property
    def set_masks(self) -> np.ndarray:
        """Mask of the set of each object by :meth:`sets`, shape (n_samples,): one bit if it is assigned."""
        return decision.believed_sets(self.masses, self.focal_sets)

    @cached_property
    def set_counts(self) -> dict[int, int]:
        """How many objects have each set: ``{mask: count}``, small sets first."""
        masks, counts = np.unique(self.set_masks, return_counts=True)
        found = dict(zip(masks.tolist(), counts.tolist()))
        return dict(sorted(found.items(), key=lambda item: (item[0].bit_count(), item[0])))

    @property
    def kind_counts(self) -> dict[str, int]:
        """How many objects are of each kind: ``{"assigned": ..., "ambiguous": ..., "outlier": ...}``."""
        return count_kinds(self.set_counts)

    def name(self, i: int) -> str:
        """Name of object ``i``, its number when it has none."""
        return str(i) if self.object_names is None else self.object_names[i]

    def cluster_name(self, k: int) -> str:
        """Name of cluster ``k``, its number when it has none."""
        return str(k) if self.cluster_names is None else self.cluster_names[k]

    def most_doubtful(self, count: int = 10) -> np.ndarray:
        """Indices of the objects that are hardest to place, the hardest first.

        Doubt is the mass that does not speak for a single cluster plus the uncertainty among single clusters.
        """
        return np.argsort(-self.doubt, kind="stable")[:count]

    @property
    def doubt(self) -> np.ndarray:
        """One minus the largest belief in a single cluster, for each object."""
        return 1 - self.singleton_belief.max(axis=1)

    def summary(self) -> str:
        """What the partition says, in a few lines for a person."""
        if self.no_answer is not None:
            return no_answer_in_words(len(self), self.no_answer)
        empty = self.focal_sets.empty_index is not None
        return self.counts.to_text(self.n_clusters, self.cluster_names, empty=empty, verdict=self.verdict)

    @property
    def counts(self) -> Counts:
        """The numbers of :meth:`summary`."""
        doubt = self.doubt
        worst = tuple((float(doubt[i]), self.name(i)) for i in self.most_doubtful(WORST).tolist())
        specific = len(self) * self.normalized_nonspecificity if len(self) else 0.0
        uncertain = self.uncertainty.sum() / (2 * np.log2(self.n_clusters)) if self.n_clusters > 1 else 0.0
        return Counts(len(self), self.set_counts, specific, float(uncertain), worst)

    @property
    def certainty(self) -> Certainty:
        """Sums of which criteria for the number of clusters are made."""
        return Certainty.of(self)

    def explain(
        self,
        i: int | str,
        X: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        dissimilarities: Any = None,
    ) -> Explanation:
        """Why object ``i`` is doubtful: which clusters compete, which columns speak for which, what would settle it.

        The clusters are described column by column from the partition alone, so this works for the result of every
        method: by the mean of the objects assigned to them and the spread around it of all that may be, or by the
        shares of categories. A column speaks for the cluster in which the object's value is likeliest; what shows only
        in how columns vary together is not seen.

        Parameters
        ----------
        i : int or str
            The object, by number or by name.
        X : array-like of shape (n_samples, n_features), optional
            The table that was clustered, in units you know. A DataFrame gives names to columns, and may hold columns of
            categories; its rows are joined with the objects by the names in its index, those of an array are in the
            order of the objects. Missing values are left out. Without X there are clusters only.
        feature_names : sequence of str, optional
            Names of the columns of X.
        dissimilarities : array-like of shape (n_samples, n_samples), optional
            Instead of X, for objects without columns: says which assigned objects are nearest.

        Returns
        -------
        Explanation
            Prints as a few lines; ``to_frame()`` and ``to_dict()`` give its numbers.

        See Also
        --------
        reasons : a short sentence about many objects.

        Examples
        --------
        >>> masses = [[1, 0, 0]] * 3 + [[0, 1, 0]] * 3 + [[0.2, 0.3, 0.5]]
        >>> partition = CredalPartition(masses, FocalSets(2, [{0}, {1}, {0, 1}]))
        >>> X = [[1, 20], [2, 22], [3, 21], [7, 20], [8, 21], [9, 22], [5.5, 23]]
        >>> print(partition.explain(6, X, feature_names=["age", "size"]))
        6: ambiguous between clusters 1 and 0, 0.50 of its mass is on {0,1}.
        <BLANKLINE>
          cluster  mass  plausibility  nearest assigned objects
          1        0.30          0.80  4 (2.6), 5 (2.7), 3 (3)
          0        0.20          0.70  2 (2.6), 1 (2.7), 0 (4.3)
        <BLANKLINE>
          column  value  speaks for          in 1        in 0
          age       5.5  1, 2.1 times   8.0 ± 1.3   2.0 ± 1.4
          size     23.0  -             21.0 ± 1.1  21.0 ± 1.1
        <BLANKLINE>
        What would settle it: age, which tells 1 and 0 apart best, at least 6.8 (for 1) or at most 4.2 (for 0); it is...
        Or an answer: does 6 belong with 4 (assigned to 1) or with 2 (assigned to 0)?
        """
        return Explainer(self, X, feature_names=feature_names, dissimilarities=dissimilarities).explain(i)

    def reasons(
        self,
        X: Any = None,
        objects: Sequence[int | str] | np.ndarray | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        dissimilarities: Any = None,
    ) -> list[str]:
        """A short sentence about each of many objects, see :meth:`explain`.

        Parameters
        ----------
        X, feature_names, dissimilarities
            As in :meth:`explain`.
        objects : sequence of int or str, optional
            Numbers or names; without it all objects.

        Examples
        --------
        >>> masses = [[1, 0, 0]] * 3 + [[0, 1, 0]] * 3 + [[0.2, 0.3, 0.5]]
        >>> partition = CredalPartition(masses, FocalSets(2, [{0}, {1}, {0, 1}]))
        >>> X = [[1, 20], [2, 22], [3, 21], [7, 20], [8, 21], [9, 22], [5.5, 23]]
        >>> partition.reasons(X, [0, 6], feature_names=["age", "size"])
        ['Nothing is in doubt: cluster 0.', 'Between 1 and 0: age speaks for 1 (2.1 times as likely).']
        """
        return Explainer(self, X, feature_names=feature_names, dissimilarities=dissimilarities).reasons(objects)

    def to_pandas(self) -> pd.DataFrame:
        """One row per object: cluster, set and kind, belief and plausibility of the cluster, doubt, and all masses."""
        import pandas as pd

        labels = self.labels()
        rows = np.arange(len(self))
        set_names = {mask: format_mask(mask, self.cluster_names) for mask in self.set_counts}
        cluster = labels if self.cluster_names is None else np.array(self.cluster_names)[labels]
        described = {
            "cluster": cluster,
            "set": [set_names[mask] for mask in self.set_masks.tolist()],
            "kind": [kind_of(mask) for mask in self.set_masks.tolist()],
            "belief": self.singleton_belief[rows, labels],
            "plausibility": self.contour[rows, labels],
            "nonspecificity": self.nonspecificity,
        }
        masses = {f"m{name}": column for name, column in zip(self.focal_sets.names(self.cluster_names), self.masses.T)}
        index = pd.Index(range(len(self)) if self.object_names is None else self.object_names, name="object")
        return pd.DataFrame({**described, **masses}, index=index)

    def to_polars(self) -> Any:
        """The table of :meth:`to_pandas` for polars, the objects in its first column."""
        try:
            import polars
        except ImportError as error:
            raise ImportError("to_polars needs polars: pip install 'evidentia[frames]'.") from error
        table = self.to_pandas().reset_index()
        return polars.DataFrame({str(name): table[name].to_list() for name in table})

    def top(self, k: int = 3) -> SparsePartition:
        """The ``k`` largest masses of each object and the sum of the others, in single precision.

        With many focal sets this is a small part of the whole: ``partition.top(3).save(path)`` keeps it.
        """
        at, masses = self.largest(k)
        return SparsePartition(
            self.focal_sets.masks[at],
            masses.astype(np.float32),
            np.maximum(1 - masses.sum(axis=1), 0).astype(np.float32),
            self.focal_sets,
            **{name: getattr(self, name) for name in KEPT},
        )

    def to_anndata(self, adata: Any, *, key: str = "evidentia") -> None:
        """Write the partition into an AnnData object: columns of ``obs``, masses in ``obsm``, focal sets in ``uns``.

        Objects are matched with the observations by their names.
        """
        if adata.n_obs != len(self):
            raise ValueError(f"The AnnData object has {adata.n_obs} observations, the partition {len(self)}.")
        names, called = tuple(map(str, adata.obs_names)), ("the AnnData object", "the partition")
        if (at := match_names(names, self.object_names, called)) is not None:
            return self[at].to_anndata(adata, key=key)
        table = self.to_pandas()
        for column in ("cluster", "set", "kind"):
            adata.obs[f"{key}_{column}"] = table[column].astype(str).astype("category").to_numpy()
        for column in ("belief", "plausibility", "nonspecificity"):
            adata.obs[f"{key}_{column}"] = table[column].to_numpy()
        adata.obs[f"{key}_outlier"] = self.empty.copy()
        adata.obsm[f"{key}_masses"] = self.masses.copy()
        adata.uns[key] = {"focal_sets": self.focal_sets.names(self.cluster_names)}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to a documented ``.npz`` file without pickle, see :mod:`evidentia.partition.storage`."""
        return storage.save(self, path)

    def to_fields(self) -> dict[str, Any]:
        """What the file of a model holds of it, see :mod:`evidentia.storage`."""
        return {name: getattr(self, name) for name in ("masses", "focal_sets", *KEPT, "verdict")}

    @classmethod
    def from_fields(cls, **fields: Any) -> CredalPartition:
        return cls(**fields, copy=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CredalPartition:
        """Read what :meth:`save` wrote; a damaged or foreign file raises ``ValueError``."""
        with name_file_in_errors(path, storage.FORMAT):
            return cls(**storage.read(path), copy=False)

    def __eq__(self, other: object) -> bool:
        """Whether masses, focal sets, names and rule are the same, to the last bit."""
        if not isinstance(other, CredalPartition):
            return NotImplemented
        same = all(getattr(self, name) == getattr(other, name) for name in ("focal_sets", *KEPT))
        return same and np.array_equal(self.masses, other.masses)

    def __hash__(self) -> int:
        return hash((len(self), self.focal_sets, self.object_names, self.label_rule))

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary, and the most doubtful objects with their masses."""
        from html import escape

        told = f'<pre style="white-space: pre-wrap">{escape(self.summary())}</pre>'
        if self.no_answer is not None or not len(self) or self.n_clusters == 1 or is_one_cloud(self.verdict):
            return told
        worst = self.most_doubtful(SHOWN)
        table = self[worst].to_pandas().set_axis([self.name(i) for i in worst.tolist()], axis=0)
        return told + printable_table(table.round(3)).to_html(border=0)

    def __repr__(self) -> str:
        if self.no_answer is not None:
            return f"CredalPartition({len(self)} objects, {self.n_clusters} clusters: no answer)"
        assigned, ambiguous, outliers = self.kind_counts.values()
        return (
            f"CredalPartition({len(self)} objects, {self.n_clusters} clusters, {len(self.focal_sets)} focal sets: "
            f"{assigned} assigned, {ambiguous} ambiguous, {outliers} outliers)"
        )


def _check_names(names: Sequence[Any], what: str) -> tuple[str, ...]:
    """Return names as text; refuse those that a file cannot hold."""
    found = tuple(map(str, names))
    if bad := next((name for name in found if name.endswith("\0")), None):
        raise ValueError(f"{what!r} must not end in NUL characters, which files do not keep. Got {bad!r}: strip them.")
    return found
