"""Many mass functions over the same focal sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any

import numpy as np

from evidentia.belief import transforms, uncertainty
from evidentia.belief.focal import FocalSets

SUM_TOLERANCE = 1e-6  # rounding of a file with seven digits passes, a forgotten focal set does not


def check_masses(masses: np.ndarray, n_focal: int) -> np.ndarray:
    """Masses made exactly valid from masses valid up to rounding; all else is an error naming the row."""
    if masses.ndim != 2 or masses.shape[1] != n_focal:
        raise ValueError(
            f"'masses' must have one column for each of the {n_focal} focal sets. Got an array of shape {masses.shape}."
        )
    sums = masses.sum(axis=1)
    wrong = ~(np.abs(sums - 1) <= SUM_TOLERANCE)  # so written, a NaN is wrong too
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"Each row of masses should sum to 1, but row {row} sums to {sums[row]:.6g} "
            f"({wrong.sum()} of {len(masses)} rows are off). "
            "If the missing mass is conflict, put it on the empty set (mask 0)."
        )
    smallest = masses.min(initial=0.0)
    if smallest < -SUM_TOLERANCE:
        row, column = divmod(int(masses.argmin()), n_focal)
        raise ValueError(f"Masses must not be negative, but row {row}, column {column} holds {smallest:.6g}.")
    if smallest < 0:
        masses = np.maximum(masses, 0)
        sums = masses.sum(axis=1)
    rounded = np.abs(sums - 1) > 1e-12
    if rounded.any():
        masses = masses / np.where(rounded, sums, 1.0)[:, None]
    return masses


def _derived_array(compute: Callable[[Any], np.ndarray]) -> cached_property[np.ndarray]:
    """A property computed once, when asked for, whose array cannot be written to."""

    @wraps(compute)
    def frozen(self: Any) -> np.ndarray:
        array = compute(self)
        array.flags.writeable = False
        return array

    return cached_property(frozen)


class MassFunctions:
    """One mass function per object over shared focal sets: immutable, valid by construction.

    Parameters
    ----------
    masses : array-like of shape (n_samples, n_focal)
        Non-negative, each row summing to one. Anything else raises ``ValueError``.
    focal_sets : FocalSets
        What the columns stand for.
    copy : bool
        ``False`` takes the array over instead of copying it, and freezes it.

    Examples
    --------
    >>> m = MassFunctions([[0, 0.5, 0.2, 0.3]], FocalSets(2))
    >>> m.contour
    array([[0.8, 0.5]])
    >>> MassFunctions([[0, 0.5, 0.2, 0]], FocalSets(2))
    Traceback (most recent call last):
        ...
    ValueError: Each row of masses should sum to 1, but row 0 sums to 0.7 (1 of 1 rows are off). ...
    """

    masses: np.ndarray
    focal_sets: FocalSets

    def __init__(self, masses: np.ndarray, focal_sets: FocalSets, *, copy: bool = True):
        if getattr(getattr(masses, "dtype", None), "kind", "") == "c":
            raise ValueError("'masses' must be real numbers. Got complex ones: take masses.real if you mean that.")
        array = np.array(masses, dtype=float, copy=True) if copy else np.asarray(masses, dtype=float)
        array = check_masses(array, len(focal_sets))
        array.flags.writeable = False
        self.__dict__["masses"] = array
        self.__dict__["focal_sets"] = focal_sets

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: build a new one to change {name!r}.")

    @property
    def n_clusters(self) -> int:
        return self.focal_sets.n_clusters

    def __len__(self) -> int:
        return len(self.masses)

    @_derived_array
    def empty(self) -> np.ndarray:
        """Mass on the empty set, shape (n_samples,): how much each object looks like an outlier."""
        at = self.focal_sets.empty_index
        return np.zeros(len(self)) if at is None else self.masses[:, at]

    @_derived_array
    def belief(self) -> np.ndarray:
        """Belief in each focal set, shape (n_samples, n_focal)."""
        return transforms.belief(self.masses, self.focal_sets)

    @_derived_array
    def plausibility(self) -> np.ndarray:
        """Plausibility of each focal set, shape (n_samples, n_focal)."""
        return transforms.plausibility(self.masses, self.focal_sets)

    @_derived_array
    def commonality(self) -> np.ndarray:
        """Commonality of each focal set, shape (n_samples, n_focal)."""
        return transforms.commonality(self.masses, self.focal_sets)

    @_derived_array
    def contour(self) -> np.ndarray:
        """Plausibility of each single cluster, shape (n_samples, n_clusters)."""
        return transforms.contour(self.masses, self.focal_sets)

    @_derived_array
    def singleton_belief(self) -> np.ndarray:
        """Belief in each single cluster, shape (n_samples, n_clusters)."""
        return transforms.singleton_belief(self.masses, self.focal_sets)

    @_derived_array
    def pignistic(self) -> np.ndarray:
        """Pignistic probability of each cluster, shape (n_samples, n_clusters)."""
        return transforms.pignistic(self.masses, self.focal_sets)

    @_derived_array
    def nonspecificity(self) -> np.ndarray:
        """How wide the focal sets are, in bits, shape (n_samples,), the empty set counting as the frame."""
        return uncertainty.nonspecificity(self.masses, self.focal_sets)

    @cached_property
    def normalized_nonspecificity(self) -> float:
        """Mean nonspecificity as a share of its largest value, between 0 and 1: the validity index N*."""
        return uncertainty.normalized_nonspecificity(self.masses, self.focal_sets)

    @_derived_array
    def entropy(self) -> np.ndarray:
        """Entropy of the pignistic probability in bits, shape (n_samples,)."""
        return uncertainty.pignistic_entropy(self.masses, self.focal_sets)

    @_derived_array
    def uncertainty(self) -> np.ndarray:
        """Total uncertainty in bits, shape (n_samples,): conflict and nonspecificity, see
        :func:`~evidentia.belief.jirousek_shenoy_entropy`."""
        return uncertainty.jirousek_shenoy_entropy(self.masses, self.focal_sets)

    def recast(self, focal_sets: FocalSets) -> MassFunctions:
        """The same mass functions with the columns of another family, see :func:`evidentia.belief.recast`."""
        return MassFunctions(transforms.recast(self.masses, self.focal_sets, focal_sets), focal_sets, copy=False)

    def normalize(self, rule: str = "dempster") -> MassFunctions:
        """Move the mass of the empty set elsewhere, see :func:`evidentia.belief.normalize`."""
        return MassFunctions(*transforms.normalize(self.masses, self.focal_sets, rule=rule), copy=False)

    def __repr__(self) -> str:
        sizes = f"{len(self)} objects, {self.n_clusters} clusters, {len(self.focal_sets)} focal sets"
        return f"{type(self).__name__}({sizes})"
