r"""A credal partition of which only the largest masses of each object are kept, and how much is left over.

With many focal sets most masses of an object are next to nothing. On disk (``.npz``, no pickle) it is

==================  ==========================================================================================
``format``          the text ``evidentia-sparse-partition``
``version``         1
``digest``          text: of all other entries, as in a saved partition
``masses``          float32, (n_samples, top): largest first
``sets``            int64, (n_samples, top): bit k set when cluster k is in the set
``rest``            float32, (n_samples,): the mass of all other sets
``masks``           int64, (n_focal,): the focal sets of the whole partition; with ``n_clusters``
``object_names``    and ``cluster_names``, ``no_answer``, ``label_rule``: as in a saved partition
==================  ==========================================================================================
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.archive import Format, name_file_in_errors, read_archive, write_archive
from evidentia.belief.focal import FocalSets, format_mask

if TYPE_CHECKING:
    import pandas as pd

    from evidentia.partition.credal import CredalPartition

FORMAT = Format(
    "evidentia-sparse-partition", 1, "a sparse partition of evidentia", "It is written by partition.top(3).save(path)."
)
TEXTS = ("object_names", "cluster_names", "no_answer", "label_rule")


@dataclass(frozen=True, eq=False)
class SparsePartition:
    """The largest masses of each object.

    Attributes
    ----------
    sets : ndarray of int64, shape (n_samples, top)
        Focal sets as masks, bit k set when cluster k is in it; largest mass first.
    masses : ndarray of float32, shape (n_samples, top)
    rest : ndarray of float32, shape (n_samples,)
        The mass of all other sets together.
    focal_sets : FocalSets
        Of the whole partition.
    object_names, cluster_names, no_answer, label_rule
        As of :class:`~evidentia.partition.CredalPartition`.

    Examples
    --------
    >>> from evidentia import CredalPartition
    >>> masses = [[0.02, 0.90, 0.05, 0.03], [0.1, 0.2, 0.3, 0.4]]
    >>> top = CredalPartition(masses, FocalSets(2), object_names=["a", "b"]).top(2)
    >>> top
    SparsePartition(2 objects, 2 of 4 focal sets each; at most 0.3 of a mass is left over, 0.175 on average)
    >>> top.to_pandas()
            set 1  mass 1 set 2  mass 2  rest
    object
    a         {0}     0.9   {1}    0.05  0.05
    b       {0,1}     0.4   {1}    0.30  0.30
    """

    sets: np.ndarray
    masses: np.ndarray
    rest: np.ndarray
    focal_sets: FocalSets
    object_names: tuple[str, ...] | None = None
    cluster_names: tuple[str, ...] | None = None
    no_answer: str | None = None
    label_rule: str = "plausibility"

    def __len__(self) -> int:
        return len(self.sets)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each object: sets and masses from the largest on, and the rest."""
        import pandas as pd

        names = {mask: format_mask(mask, self.cluster_names) for mask in self.focal_sets.masks.tolist()}
        columns: dict[str, Any] = {}
        for k, (sets, masses) in enumerate(zip(self.sets.T, self.masses.T), 1):
            columns |= {f"set {k}": [names[mask] for mask in sets.tolist()], f"mass {k}": masses}
        index = pd.Index(range(len(self)) if self.object_names is None else self.object_names, name="object")
        return pd.DataFrame({**columns, "rest": self.rest}, index=index)

    def to_partition(self) -> CredalPartition:
        """A partition again, in which the rest of each object is on the set of all clusters: nothing is known of it."""
        from evidentia.partition.credal import CredalPartition

        whole = (1 << self.focal_sets.n_clusters) - 1
        masks = self.focal_sets.masks.tolist()
        family = self.focal_sets if whole in masks else FocalSets(self.focal_sets.n_clusters, [*masks, whole])
        order = np.argsort(family.masks)
        at = order[np.searchsorted(family.masks, self.sets, sorter=order)]
        masses = np.zeros((len(self), len(family)))
        np.put_along_axis(masses, at, self.masses.astype(float), axis=1)
        masses[:, family.index(whole)] += 1 - self.masses.sum(axis=1, dtype=float)
        texts = {name: getattr(self, name) for name in TEXTS}
        return CredalPartition(np.maximum(masses, 0), family, **texts, copy=False)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a documented ``.npz`` file without pickle, see :mod:`evidentia.partition.sparse`."""
        content = {"sets": self.sets, "masses": self.masses, "rest": self.rest, "masks": self.focal_sets.masks}
        texts = {name: getattr(self, name) for name in TEXTS}
        return write_archive(path, FORMAT, {**content, "n_clusters": self.focal_sets.n_clusters}, texts)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SparsePartition:
        """Read what :meth:`save` wrote; a damaged or foreign file raises ``ValueError``."""
        content = read_archive(path, FORMAT)
        with name_file_in_errors(path, FORMAT):
            texts: dict[str, Any] = {name: content[name] for name in TEXTS if name in content}
            texts = {name: tuple(text.tolist()) if text.ndim else str(text) for name, text in texts.items()}
            focal_sets = FocalSets(int(content["n_clusters"]), content["masks"].tolist())
            if not np.isin(content["sets"], focal_sets.masks).all():
                raise ValueError("it has masses on sets that are none of its focal sets")
            return cls(content["sets"], content["masses"], content["rest"], focal_sets, **texts)

    def __repr__(self) -> str:
        sizes = f"{len(self)} objects, {self.sets.shape[1]} of {len(self.focal_sets)} focal sets each"
        most, mean = (float(self.rest.max(initial=0)), float(self.rest.mean()) if len(self) else 0.0)
        return f"SparsePartition({sizes}; at most {most:.3g} of a mass is left over, {mean:.3g} on average)"
