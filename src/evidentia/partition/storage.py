"""Credal partitions on disk: one ``.npz`` file, no pickle.

The file is an ordinary NumPy archive that any program can read:

==================  ======================================================================
``format``          the text ``evidentia-partition``
``version``         1
``masses``          float64, (n_samples, n_focal)
``masks``           int64, (n_focal,): bit k set when cluster k is in the focal set
``n_clusters``      int
``object_names``    text, (n_samples,); left out when the objects have no names
``cluster_names``   text, (n_clusters,); left out when the clusters have no names
``no_answer``       text: why the masses are no answer; left out when they are one
``label_rule``      text: the rule of ``labels()``
==================  ======================================================================
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidentia._archive import Format, read_archive, write_archive
from evidentia.belief.focal import FocalSets

if TYPE_CHECKING:
    from evidentia.partition.credal import CredalPartition

FORMAT = Format("evidentia-partition", 1, "an evidentia partition", "A partition is written by partition.save(path).")


def save(partition: CredalPartition, path: str | os.PathLike[str]) -> Path:
    """Write a partition; a file of that name is replaced only once the new one is whole."""
    focal_sets = partition.focal_sets
    content = {"masses": partition.masses, "masks": focal_sets.masks, "n_clusters": focal_sets.n_clusters}
    kept = ("object_names", "cluster_names", "no_answer", "label_rule")
    names = {name: getattr(partition, name) for name in kept}
    return write_archive(path, FORMAT, content, names)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Arguments of :class:`CredalPartition` from a file, or an error that says what is wrong with it."""
    content = read_archive(path, FORMAT)
    missing = {"masses", "masks", "n_clusters"} - content.keys()
    if missing:
        raise ValueError(f"{path} is damaged: it lacks {', '.join(sorted(missing))}.")
    names: dict[str, Any] = {
        key: tuple(content[key].tolist()) for key in ("object_names", "cluster_names") if key in content
    }
    names |= {key: str(content[key]) for key in ("no_answer", "label_rule") if key in content}
    focal_sets = FocalSets(int(content["n_clusters"]), content["masks"].tolist())
    return {"masses": content["masses"], "focal_sets": focal_sets, **names}
