"""What is known of some objects: their cluster, the clusters that are possible, or a mass function over them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from evidentia._objects import align_objects, row_names
from evidentia.belief.focal import FocalSets, canonical_order
from evidentia.belief.mass import MassFunctions
from evidentia.partition import CredalPartition

UNKNOWN = -1
FORMS = (
    "a CredalPartition, a list with a cluster number or a set of them for each object (-1 or None: unknown), or a "
    "table of bool that tells which clusters are possible"
)


def read_knowledge(knowledge: Any, X: Any, n_clusters: int, who: str, name: str = "knowledge") -> CredalPartition:
    """Knowledge in any of its forms as one mass function for each row of X, none of them with mass on the empty set.

    Parameters
    ----------
    knowledge : CredalPartition, array-like or list
        A mass function over the clusters for each object; or for each object the number of its cluster, a set of
        numbers one of which is right, or -1, None or NaN where nothing is known; or a table of bool (n_samples,
        n_clusters), in which a row without any True says nothing.
    X : array-like
        The table of the objects, or an array of as many rows. Knowledge whose objects have names is joined by them.
    n_clusters : int
    who, name : str
        Who asks, and by which name, for messages.

    Examples
    --------
    >>> known = read_knowledge([1, -1, {0, 2}], np.zeros((3, 2)), 3, "EGMM")
    >>> known.to_pandas().filter(like="m{").astype(int).to_numpy()  # of {1}, {0, 2} and all three
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 0]])
    """
    n, knowledge = len(X), align_objects(X, knowledge, ("X", f"'{name}' of {who}"))
    if isinstance(knowledge, MassFunctions):
        return _check_masses(knowledge, X, n_clusters, who, name)
    if not isinstance(knowledge, Collection | np.ndarray) or isinstance(knowledge, str | dict):
        raise TypeError(f"'{name}' of {who} must be {FORMS}. Got {type(knowledge).__name__}.")
    if len(knowledge) != n:
        raise ValueError(
            f"'{name}' of {who} must tell of each of {n} objects, -1 for unknown. It has {len(knowledge)}."
        )
    given = np.asarray(knowledge) if hasattr(knowledge, "dtype") or hasattr(knowledge, "dtypes") else None
    if given is not None and given.ndim == 2:
        if given.shape[1] != n_clusters or not np.isin(given, (0, 1)).all():
            raise ValueError(
                f"A table as '{name}' of {who} must be {n} × {n_clusters} bool, which tell what clusters are possible. "
                f"Got {given.dtype} of shape {given.shape}; masses come as a CredalPartition."
            )
        knowledge = [np.flatnonzero(row).tolist() or UNKNOWN for row in given]
    everything = (1 << n_clusters) - 1
    masks = [_mask(one, n_clusters, everything, f"'{name}' of {who}", i) for i, one in enumerate(knowledge)]
    sets = FocalSets(n_clusters, canonical_order(set(masks)))
    return CredalPartition(np.asarray(masks)[:, None] == sets.masks, sets)


def _mask(one: Any, n_clusters: int, everything: int, what: str, row: int) -> int:
    """The clusters that are possible for one object, as a mask."""
    if one is None or (isinstance(one, float | np.floating) and np.isnan(one)):
        return everything
    several = isinstance(one, set | frozenset) or np.ndim(one) > 0
    numbers: list[Any] = list(one) if several else [one]
    if not numbers:
        raise ValueError(f"{what} leaves no cluster for object {row}: its set is empty. Write -1 if nothing is known.")
    mask = 0
    for number in numbers:
        whole = isinstance(number, int | np.integer) or (isinstance(number, float | np.floating) and number % 1 == 0)
        if not whole or isinstance(number, bool | np.bool_):
            raise TypeError(
                f"{what} must name clusters by numbers from 0 to {n_clusters - 1}. Object {row} has {number!r}; "
                "pandas.factorize numbers names."
            )
        if number == UNKNOWN and len(numbers) == 1:
            return everything
        if not 0 <= number < n_clusters:
            raise ValueError(
                f"{what} must name clusters from 0 to {n_clusters - 1}, or be -1 for unknown. Object {row} has "
                f"{number:g}; raise n_clusters or renumber them."
            )
        mask |= 1 << int(number)
    return mask


def _check_masses(masses: MassFunctions, X: Any, n_clusters: int, who: str, name: str) -> CredalPartition:
    if len(masses) != len(X) or masses.n_clusters != n_clusters:
        raise ValueError(
            f"'{name}' of {who} must hold a mass function over {n_clusters} clusters for each of {len(X)} objects. Got "
            f"{len(masses)} over {masses.n_clusters} clusters."
        )
    lost = np.flatnonzero(masses.empty > 1 - 1e-9)
    if lost.size:
        raise ValueError(
            f"'{name}' of {who} leaves no cluster for object {lost[0]}: all its mass is on the empty set "
            f"({lost.size} such objects). Give it the set of all clusters if nothing is known of it."
        )
    plain = masses if masses.focal_sets.empty_index is None else masses.normalize()
    return CredalPartition(plain.masses, plain.focal_sets, object_names=row_names(masses))
