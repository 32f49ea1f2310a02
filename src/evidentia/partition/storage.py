"""Credal partitions on disk: one ``.npz`` file, no pickle.

The file is an ordinary NumPy archive that any program can read:

==================  ======================================================================
``format``          the text ``evidentia-partition``
``version``         1
``digest``          text: of all other entries, see below
``masses``          float64, (n_samples, n_focal)
``masks``           int64, (n_focal,): bit k set when cluster k is in the focal set
``n_clusters``      int
``object_names``    text, (n_samples,); left out when the objects have no names
``cluster_names``   text, (n_clusters,); left out when the clusters have no names
``no_answer``       text: why the masses are no answer; left out when they are one
``label_rule``      text: the rule of ``labels()``
``verdict``         bytes of a text in JSON (UTF-8): the fields of a
                    :class:`~evidentia.verdict.Verdict`; left out when it is not known
==================  ======================================================================

Entries are not compressed, and a file that would unpack to more than itself is refused before it is unpacked.
``digest`` is the SHA-256, in hexadecimal digits, of one line for each other entry in the order of the file: its name
(such as ``masses.npy``), a space, the SHA-256 of its bytes, and the end of the line. What does not fit it is refused.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.archive import Format, name_file_in_errors, read_archive, write_archive
from evidentia.belief.focal import FocalSets
from evidentia.verdict.result import Verdict

if TYPE_CHECKING:
    from evidentia.partition.credal import CredalPartition

FORMAT = Format("evidentia-partition", 1, "an evidentia partition", "A partition is written by partition.save(path).")


def save(partition: CredalPartition, path: str | os.PathLike[str]) -> Path:
    """Write a partition; a file of that name is replaced only once the new one is whole."""
    focal_sets = partition.focal_sets
    content = {"masses": partition.masses, "masks": focal_sets.masks, "n_clusters": focal_sets.n_clusters}
    if partition.verdict is not None:
        content["verdict"] = np.frombuffer(json.dumps(partition.verdict.to_dict()).encode(), dtype=np.uint8)
    kept = ("object_names", "cluster_names", "no_answer", "label_rule")
    names = {name: getattr(partition, name) for name in kept}
    return write_archive(path, FORMAT, content, names)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Arguments of :class:`CredalPartition` from a file, or an error that says what is wrong with it."""
    content = read_archive(path, FORMAT)
    with name_file_in_errors(path, FORMAT):
        lists = [key for key in ("object_names", "cluster_names") if key in content]
        for key in lists:
            if content[key].ndim != 1:
                raise ValueError(f"its {key} have {content[key].ndim} dimensions, and names are a list")
        names: dict[str, Any] = {key: tuple(content[key].tolist()) for key in lists}
        names |= {key: str(content[key]) for key in ("no_answer", "label_rule") if key in content}
        focal_sets = FocalSets(int(content["n_clusters"]), content["masks"].tolist())
        if "verdict" in content:
            names["verdict"] = Verdict.from_dict(json.loads(content["verdict"].tobytes()))
        return {"masses": content["masses"], "focal_sets": focal_sets, **names}
