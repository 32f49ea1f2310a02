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
==================  ======================================================================
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.belief.focal import FocalSets

if TYPE_CHECKING:
    from evidentia.partition.credal import CredalPartition

FORMAT = "evidentia-partition"
VERSION = 1


def save(partition: CredalPartition, path: str | os.PathLike[str]) -> Path:
    """Write a partition; a file of that name is replaced only once the new one is whole."""
    path = Path(path)
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "masses": partition.masses,
        "masks": partition.focal_sets.masks,
        "n_clusters": partition.n_clusters,
    }
    if partition.object_names is not None:
        content["object_names"] = np.array(partition.object_names, dtype=np.str_)
    if partition.cluster_names is not None:
        content["cluster_names"] = np.array(partition.cluster_names, dtype=np.str_)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "wb") as file:
        np.savez(file, **content)
    os.replace(unfinished, path)
    return path


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Arguments of :class:`CredalPartition` from a file, or an error that says what is wrong with it."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. A partition is written by partition.save(path).")
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} is damaged or not an evidentia partition: an .npz file is a zip archive, this is not."
        )
    try:
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            content = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged or not an evidentia partition (.npz): {error}") from error
    if str(content.get("format")) != FORMAT:
        raise ValueError(f"{path} is an .npz archive, but not one written by evidentia (no format={FORMAT!r} inside).")
    if int(content["version"]) > VERSION:
        raise ValueError(
            f"{path} was written by a newer evidentia (file version {int(content['version'])}, this one reads "
            f"up to {VERSION}). Upgrade evidentia to read it."
        )
    missing = {"masses", "masks", "n_clusters"} - content.keys()
    if missing:
        raise ValueError(f"{path} is damaged: it lacks {', '.join(sorted(missing))}.")
    names = {key: tuple(content[key].tolist()) for key in ("object_names", "cluster_names") if key in content}
    return {
        "masses": content["masses"],
        "focal_sets": FocalSets(int(content["n_clusters"]), content["masks"].tolist()),
        **names,
    }
