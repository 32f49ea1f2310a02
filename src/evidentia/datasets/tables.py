"""From a table with a ``label`` column to a :class:`Dataset`: one path for files, cache and downloads."""

import hashlib
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from evidentia.datasets.dataset import Dataset
from evidentia.datasets.registry import Entry


def read_checked(path: Path, sha256: str) -> bytes:
    """The content of a file, provided it is the very file the registry knows."""
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path.name} is damaged or another file: its sha256 is {found}, expected {sha256}. "
            f"Put the original file at {path}, or set EVIDENTIA_DATA to a directory that has it."
        )
    return content


def read_csv(content: bytes, file: str) -> pd.DataFrame:
    """A table as the files hold it: an empty cell is missing, everything else means itself."""
    return pd.read_csv(
        io.BytesIO(content),
        compression="gzip" if file.endswith(".gz") else None,
        dtype={"label": str},
        keep_default_na=False,
        na_values=[""],
        float_precision="round_trip",
    )


def to_dataset(entry: Entry, table: pd.DataFrame, dissimilarity: np.ndarray | None = None) -> Dataset:
    """A Dataset from a table that has the entry's attributes and, where labels exist, ``label``."""
    data = None
    if dissimilarity is None:
        columns = table[list(entry.features)]
        if entry.codes:
            columns = columns.apply(lambda column: column.astype(object).map(entry.codes))
        data = columns.to_numpy(dtype=np.float64)
    target, target_names = None, tuple[str, ...]()
    if entry.classes is not None:
        labels = table["label"].astype(str)
        target_names = class_order(labels, entry.classes)
        target = pd.Categorical(labels, categories=target_names).codes.astype(np.int64)
    object_names = None
    if entry.object_column in table:
        object_names = tuple(table[entry.object_column].astype(str))
    return Dataset(
        name=entry.name,
        data=data,
        target=target,
        feature_names=entry.features,
        target_names=target_names,
        object_names=object_names,
        description=entry.description,
        dissimilarity=dissimilarity,
    )


def class_order(labels: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Our order of the classes; names of another source are sorted, numbers by value."""
    known, names = tuple(known), set(labels)
    if names <= set(known):
        return known
    return tuple(sorted(names, key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name)))


def differences(entry: Entry, dataset: Dataset) -> list[str]:
    """What keeps a downloaded set from being the one the registry describes; empty when nothing does."""
    found: list[tuple[str, object, object]] = [
        ("objects", len(dataset), entry.n),
        ("missing values", int(np.isnan(dataset.data).sum()), entry.missing),
    ]
    if entry.classes is not None:
        # sizes only: some origins number the classes that our files name
        sizes = sorted(np.bincount(dataset.target, minlength=len(dataset.target_names)).tolist())
        found.append(("class sizes", sizes, sorted(entry.classes.values())))
    return [f"{what} {got}, expected {want}" for what, got, want in found if got != want]
