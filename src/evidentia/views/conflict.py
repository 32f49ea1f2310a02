"""Where views of the same objects disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evidentia._objects import align_all
from evidentia.partition import CredalPartition


def conflict_between_views(partitions: Sequence[CredalPartition]) -> np.ndarray:
    r"""Return how far no cluster is plausible to all of several partitions of the same objects, in the same clusters.

    .. math::
        \kappa_i = 1 - \max_k \min_h \frac{pl_{ih}(k)}{\max_l pl_{ih}(l)}

    with "none of the clusters" as one more k, whose plausibility is the mass of the empty set. It is zero when a
    cluster is the most plausible one to every view, or as plausible as any: a view that does not tell two clusters
    apart contradicts neither, and one that lacks the object contradicts nobody. It is near one when what is
    plausible to one view is out of the question for another. (The mass that Dempster's rule would put on the empty set
    is no such measure: it is large between a view and itself, when that is ambiguous.)

    Parameters
    ----------
    partitions : sequence of CredalPartition
        Objects that have names are joined by them, in the order of the first partition.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    Two views of three objects: they agree, they are at odds, and the second leaves the matter open.

    >>> from evidentia import CredalPartition, FocalSets
    >>> sets = FocalSets(2, [{0}, {1}, {0, 1}])
    >>> first = CredalPartition([[0.8, 0.2, 0.0], [0.8, 0.2, 0.0], [0.8, 0.2, 0.0]], sets)
    >>> second = CredalPartition([[0.6, 0.4, 0.0], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]], sets)
    >>> conflict_between_views([first, second]).round(3)
    array([0.  , 0.75, 0.  ])
    """
    least = None
    for partition in align_all(partitions):
        empty = partition.focal_sets.empty_index
        none = np.zeros(len(partition)) if empty is None else partition.masses[:, empty]
        plausible = np.column_stack([partition.contour, none])
        plausible /= plausible.max(axis=1, keepdims=True)
        least = plausible if least is None else np.minimum(least, plausible)
    if least is None:
        raise ValueError("conflict_between_views needs at least one partition. Got none.")
    return 1 - least.max(axis=1)
