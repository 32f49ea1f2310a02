"""What the methods on several views share: reading them, their weights, a partition by each, prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evidentia import _base, _checks
from evidentia._parameters import NOTHING, Kind, fitted, param
from evidentia.belief import FocalSets
from evidentia.partition import CredalPartition
from evidentia.views.conflict import conflict_between_views
from evidentia.views.reading import ALONE, Views, read_views

DISAGREE = 0.5  # conflict above which the views are said to disagree about an object
LISTED = 10  # objects in a summary


def _names_views(value: Any) -> bool:
    if isinstance(value, Mapping):
        return len(value) > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) > 0


VIEWS = param(
    Kind("dict of columns or list of names", _names_views) | NOTHING,
    """Which columns of one table are a view: ``{"blood": ["iron", "sodium"], "scan": [...]}``. Of AnnData and MuData
    the representations, ``["X_pca", "protein"]``, ``["rna:X_pca", "atac"]``; of a dict of tables some of its keys.""",
    default=None,
)


class MultiViewClusterer(_base.EvidentialClusterer):
    """Base of the methods that read several views of the same objects.

    A subclass gives ``_fit(data)``, where ``data.rows`` are :class:`~evidentia.views.reading.Views` and which calls
    :meth:`_store_views`, and ``_masses(views)`` for new objects.
    """

    _matrices = False  # whether views are matrices of dissimilarities

    views: Any = VIEWS
    view_names_: list[str] = fitted()
    view_weights_: np.ndarray = fitted()
    view_partitions_: dict[str, CredalPartition] = fitted()
    view_conflict_: np.ndarray = fitted()
    view_columns_: list[list[str] | None] = fitted()

    attributes = {
        "view_names_": "list of str",
        "view_weights_": "ndarray of shape (n_views,)\nHow much each view counts, in the order of ``view_names_``; "
        "they sum to one.",
        "view_partitions_": "dict of CredalPartition\nWhat each view alone says of the objects, in the clusters of "
        "all: by its own distances, to each of\nwhich the mean distance to the nearest cluster is added, so that no "
        "view is sure of one of two\nclusters that it does not tell apart. An object that it lacks may be in any.",
        "view_conflict_": "ndarray of shape (n_samples,)\nHow far the views disagree about each object, from 0 to 1 "
        "(:func:`~evidentia.views.conflict_between_views`).",
        "view_columns_": "list\nNames of the columns of each view, None where they have none.",
    }

    def _as_table(self, X: Any, use_rep: str | None) -> Any:
        if use_rep is not None:
            raise TypeError(
                f"{type(self).__name__} reads several tables: name them by 'views', and leave out 'use_rep'."
            )
        return X

    def _read_rows(self, X: Any) -> Views:
        _checks.refuse_rows(self, X)
        found = read_views(X, self.views, who=type(self).__name__, matrices=self._matrices)
        if len(found.names) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two views of the same objects. Got one, {found.names[0]!r}. "
                f"{ALONE[self._matrices]}."
            )
        return found

    def _read_new(self, X: Any) -> Views:
        """Views of new objects, in the order of those fitted; one that is not given is not known of them."""
        who = type(self).__name__
        known = self.views
        if isinstance(X, Mapping):
            known = [name for name in X if str(name) in self.view_names_]
            if unknown := [name for name in X if str(name) not in self.view_names_]:
                raise ValueError(
                    f"{who} was fitted to views {', '.join(map(repr, self.view_names_))}. Got a view {unknown[0]!r}: "
                    "drop it, or give it the name that it had."
                )
        found = read_views(X, known, who=who)
        if not isinstance(X, Mapping) and list(found.names) != self.view_names_:
            raise ValueError(
                f"{who} was fitted to views {', '.join(map(repr, self.view_names_))}. Got "
                f"{', '.join(map(repr, found.names))}. Give the same ones, or some of them as a dict."
            )
        return found

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new objects, over the clusters found by ``fit``.

        Parameters
        ----------
        X : views as in ``fit``
            In a dict some of them may be missing: what they would say is not known of the new objects.
        """
        return super().predict_partition(X)

    def _store_views(self, views: Views, by_view: Sequence[np.ndarray], absent: Sequence[np.ndarray]) -> None:
        """Store the partition by each view alone; ``absent`` (n,) shows which objects a view lacks.

        Call it after the focal sets are known.
        """
        self.view_names_ = list(views.names)
        self.view_columns_ = [None if columns is None else list(columns) for columns in views.columns]
        self.view_partitions_ = {
            name: partition_of_view(set_vacuous(found, self.focal_sets_, lacks), views.object_names, self.method.labels)
            for name, found, lacks in zip(views.names, by_view, absent)
        }
        self.view_conflict_ = conflict_between_views(list(self.view_partitions_.values()))

    def view_summary(self) -> str:
        """A few lines on the views: how much each counts, and the objects about which they disagree."""
        check_is_fitted(self)
        n, width = len(self.labels_), max(map(len, self.view_names_))
        lines = [f"{len(self.view_names_)} views of {n} objects"]
        for name, weight in zip(self.view_names_, self.view_weights_):
            there = n - int(unknown(self.view_partitions_[name]).sum())
            described = f"{there} of {n} objects" if there < n else "all objects"
            lines.append(f"  {name:<{width}}  weight {weight:.2f}  {described}")
        order = np.argsort(-self.view_conflict_, kind="stable")
        torn = order[self.view_conflict_[order] > DISAGREE]
        shown = ", ".join(self.partition_.name(int(i)) for i in torn[:LISTED])
        more = f" and {len(torn) - LISTED} more" if len(torn) > LISTED else ""
        lines.append(
            f"They disagree about {len(torn)} object{'s' * (len(torn) != 1)} (conflict above {DISAGREE})"
            f"{f': {shown}{more}' if len(torn) else ''}."
        )
        return "\n".join(lines)


def partition_of_view(view: tuple[np.ndarray, FocalSets], names: Any, label_rule: str) -> CredalPartition:
    """Return masses of a view, and their focal sets, as a partition."""
    masses, focal_sets = view
    return CredalPartition(masses, focal_sets, object_names=names, label_rule=label_rule, copy=False)


def set_vacuous(masses: np.ndarray, focal_sets: FocalSets, absent: np.ndarray) -> tuple[np.ndarray, FocalSets]:
    """Put all mass of absent objects on the whole frame, which is made a focal set if it is none.

    Examples
    --------
    >>> set_vacuous(np.array([[0.9, 0.1], [0.5, 0.5]]), FocalSets(2, [{0}, {1}]), np.array([False, True]))
    (array([[0.9, 0.1, 0. ],
           [0. , 0. , 1. ]]), FocalSets(2 clusters: {0}, {1}, {0,1}))
    """
    if not absent.any():
        return masses, focal_sets
    whole = (1 << focal_sets.n_clusters) - 1
    masks = focal_sets.masks.tolist()
    if whole not in masks:
        masses, focal_sets = np.c_[masses, np.zeros(len(masses))], FocalSets(focal_sets.n_clusters, [*masks, whole])
    masses = masses.copy()
    masses[absent] = np.eye(len(focal_sets))[focal_sets.index(whole)]
    return masses, focal_sets


def unknown(partition: CredalPartition) -> np.ndarray:
    """Which objects may be in any cluster and nothing else is said of them, (n,)."""
    whole = (1 << partition.n_clusters) - 1
    if whole not in partition.focal_sets.masks:
        return np.zeros(len(partition), dtype=bool)
    return partition.masses[:, partition.focal_sets.index(whole)] == 1
