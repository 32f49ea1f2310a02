"""Several images of the same place, each segmented for itself, combined into finer segments (EGMM paper, Sec. 4.3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from evidentia.app.images.quantizing import count, encode, identity_coder
from evidentia.app.images.reading import stack
from evidentia.app.images.segmentation import Segmentation
from evidentia.belief import combine_many
from evidentia.partition import CredalPartition


def fuse(
    segmentations: Sequence[Segmentation],
    meanings: Sequence[Sequence[str | Collection[str]]],
    *,
    rule: str = "dempster",
) -> Segmentation:
    """Combine segmentations of the same pixels whose clusters mean different things.

    One image may tell fluid from all else, another one lesion from all else; together they tell three things. Each
    partition is refined to the common frame, and the mass functions of every pixel are combined [1]_.

    Parameters
    ----------
    segmentations : sequence of Segmentation
    meanings : sequence of sequences
        For each segmentation, what each of its clusters (from the darkest to the brightest) stands for: a name, or the
        names that this image does not tell apart. Every one of them shares out the same names.
    rule : {"dempster", "conjunctive", "yager", "disjunctive", "cautious", "average", "hedge"}
        As in :func:`evidentia.partition.fuse`. Where images contradict each other wholly, Dempster's
        rule has no answer, and the pixel is left to all clusters.

    Returns
    -------
    Segmentation
        Over the names, in the order in which they first occur. Masses are kept for each combination of values that
        occurs: for large images of many values, segment with a smaller ``n_prototypes``.

    References
    ----------
    .. [1] L. Jiao, T. Denœux, Z.-G. Liu, Q. Pan. EGMM: an evidential version of the Gaussian mixture model for
       clustering. Applied Soft Computing 129, 109619, 2022.

    Examples
    --------
    >>> from evidentia import EGMM
    >>> from evidentia.datasets import make_mri_phantom
    >>> from evidentia.app.images import segment
    >>> brain = make_mri_phantom(64, random_state=0)
    >>> model = EGMM(2, model="EEE", focal_sets="full", prior=None, random_state=0)
    >>> t1, t2 = (segment(brain.to_image(x), model, background=np.nan) for x in brain.data.T)
    >>> found = fuse([t1, t2], [["fluid", ("tissue", "lesion")], [("fluid", "tissue"), "lesion"]])
    >>> found.cluster_names, found.means.round(2).tolist()
    (('fluid', 'tissue', 'lesion'), [[0.35, 0.3], [0.72, 0.33], [0.74, 0.77]])
    """
    spelled = [[_as_list(part) for part in meaning] for meaning in meanings]
    names = _check(segmentations, spelled)
    refined = [
        one.partition.refine([{names.index(name) for name in part} for part in meaning], cluster_names=names)
        for one, meaning in zip(segmentations, spelled)
    ]
    columns = [one.index.ravel() for one in segmentations]
    inside = np.logical_and.reduce([column >= 0 for column in columns])
    if not inside.any():
        raise ValueError("No pixel was segmented in all of the images.")
    coded = encode(
        columns, inside, [identity_coder] * len(columns), [len(one.counts) for one in segmentations], inside.size
    )
    assert coded is not None  # there are no more combinations than pixels
    rows, index = coded
    fused = combine_many([part[rows[:, k]] for k, part in enumerate(refined)], rule)
    partition = CredalPartition(fused.masses, fused.focal_sets, cluster_names=names, copy=False)
    return Segmentation(
        stack([one.image for one in segmentations]),
        index.reshape(segmentations[0].index.shape),
        np.hstack([one.vectors[rows[:, k]] for k, one in enumerate(segmentations)]),
        count(index, len(rows)),
        partition,
        "; ".join(dict.fromkeys(one.rounding for one in segmentations if one.rounding)),
    )


def _as_list(names: str | Collection[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    return sorted(names) if isinstance(names, set | frozenset) else list(names)


def _check(segmentations: Sequence[Segmentation], meanings: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """The names, in the order of their first occurrence, after a look at whether all images share them out."""
    if len(segmentations) < 2 or len(meanings) != len(segmentations):
        raise ValueError(
            f"Fusion needs two segmentations or more, and what the clusters of each one stand for. Got "
            f"{len(segmentations)} segmentations and {len(meanings)} meanings."
        )
    names = list(dict.fromkeys(name for part in meanings[0] for name in part))
    for k, (one, meaning) in enumerate(zip(segmentations, meanings)):
        if len(meaning) != one.n_clusters:
            raise ValueError(
                f"Image {k} was segmented into {one.n_clusters} clusters, but has {len(meaning)} meanings."
            )
        used = [name for part in meaning for name in part]
        if sorted(used) != sorted(names):
            raise ValueError(
                f"Every image must share out the same names, each once. Image 0 has {', '.join(names)}; image {k} has "
                f"{', '.join(used)}."
            )
    return names
