"""One loader for every data set, wherever it is: data directory, installed packages, download cache."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evidentia.datasets.dataset import Dataset
from evidentia.datasets.download import cache_path, fetch, read_cached
from evidentia.datasets.registry import Entry, find, registry
from evidentia.datasets.synthetic import BUTTERFLY, DIAMOND, OUTLIER
from evidentia.datasets.tables import read_checked, read_csv, to_dataset

if TYPE_CHECKING:
    import pandas as pd


def data_directory() -> Path | None:
    """Directory of the data files, or None.

    It is the one named by the environment variable ``EVIDENTIA_DATA``; when that is unset,
    ``../shared/data`` beside a source checkout of this project, if it exists.
    """
    if named := os.environ.get("EVIDENTIA_DATA"):
        directory = Path(named).expanduser()
        if not directory.is_dir():
            raise NotADirectoryError(
                f"EVIDENTIA_DATA is {named!r}, which is not a directory. Name the directory that holds the "
                "data files, or unset the variable."
            )
        return directory
    root = Path(__file__).resolve().parents[3]
    directory = root.parent / "shared" / "data"
    return directory if (root / "pyproject.toml").is_file() and directory.is_dir() else None


def load(name: str, *, as_frame: bool = False, download: bool = False) -> Dataset:
    """Load a data set by name.

    Looked for, in this order: the data directory (`data_directory`; checksums are verified), the copies
    that come with scikit-learn (``iris``, ``iris_uci``, ``wine``: the same values) or are a handful of points
    (``butterfly11``, ``butterfly12``, ``diamond11``), the download cache, and, only if asked for, OpenML.

    Parameters
    ----------
    name : str
        One of the names `list_datasets` lists.
    as_frame : bool
        Return `data` as a DataFrame and `target` as a Series of class names, see :meth:`Dataset.as_frame`.
    download : bool
        Allow a download when the set is nowhere on this machine, see `fetch`.

    Returns
    -------
    dataset : Dataset
        Attributes as distributed (nothing is scaled), missing values as NaN, class numbers from 0. The
        votes of ``housevotes84`` are 1 for yes and 0 for no. ``protein`` has a `dissimilarity` and no
        `data`.

    Examples
    --------
    >>> from evidentia.datasets import load
    >>> wine = load("wine")
    >>> wine.data.shape, wine.target_names
    ((178, 13), ('1', '2', '3'))
    >>> load("irsi")
    Traceback (most recent call last):
        ...
    ValueError: There is no data set called 'irsi'. Did you mean 'iris', 'iris_uci'?
    """
    entry = find(name)
    directory = data_directory()
    if directory is not None and has_files(directory, entry):
        dataset = read_files(entry, directory)
    elif entry.name in BUILT_IN:
        dataset = BUILT_IN[entry.name](entry)
    elif cache_path(entry).exists():
        dataset = read_cached(entry)
    elif download:
        dataset = fetch(name)
    else:
        wanted = " and ".join(entry.files)
        cure = f"set EVIDENTIA_DATA to a directory that holds {wanted}"
        if entry.openml is not None:
            cure += f", or call load({name!r}, download=True) to get it from OpenML"
        where = f"; the data directory {directory} lacks {wanted}" if directory else ""
        raise FileNotFoundError(f"The data set {name!r} is not on this machine{where}. To have it, {cure}.")
    return dataset.as_frame() if as_frame else dataset


def list_datasets() -> "pd.DataFrame":
    """All data sets and where they are now.

    Returns
    -------
    table : DataFrame
        Index ``name``; columns ``objects``, ``attributes``, ``classes`` (missing when no labels exist),
        ``used_by`` and ``where``: "here" (the data directory, or inside installed packages), "cached"
        (downloaded before), "can be downloaded" (see `fetch`) or "not available".

    Examples
    --------
    >>> from evidentia.datasets import list_datasets
    >>> list_datasets().loc["iris", "where"]
    'here'
    """
    import pandas as pd

    directory = data_directory()
    entries = registry().values()
    n_classes = [None if entry.classes is None else len(entry.classes) for entry in entries]
    return pd.DataFrame(
        {
            "objects": [entry.n for entry in entries],
            "attributes": pd.array([entry.d if entry.features else None for entry in entries], dtype="Int64"),
            "classes": pd.array(n_classes, dtype="Int64"),
            "used_by": [entry.used_by for entry in entries],
            "where": [find_location(entry, directory) for entry in entries],
        },
        index=pd.Index([entry.name for entry in entries], name="name"),
    )


def find_location(entry: Entry, directory: Path | None) -> str:
    if entry.name in BUILT_IN or (directory is not None and has_files(directory, entry)):
        return "here"
    if cache_path(entry).exists():
        return "cached"
    return "can be downloaded" if entry.openml else "not available"


def has_files(directory: Path, entry: Entry) -> bool:
    return all((directory / file).is_file() for file in entry.files)


def read_files(entry: Entry, directory: Path) -> Dataset:
    contents = {file: read_checked(directory / file, sha256) for file, sha256 in entry.files.items()}
    dissimilarity = None
    for file, content in contents.items():
        if file.endswith(".npz"):
            dissimilarity = np.load(io.BytesIO(content), allow_pickle=False)["D"]
        else:
            table = read_csv(content, file)
    return to_dataset(entry, table, dissimilarity)


def from_sklearn(loader: str) -> Callable[[Entry], Dataset]:
    def build(entry: Entry) -> Dataset:
        from sklearn import datasets

        bunch = getattr(datasets, loader)()
        return from_points(entry, bunch.data, bunch.target)

    return build


def iris_uci(entry: Entry) -> Dataset:
    """Iris as the UCI repository has it, with two of Fisher's flowers mistyped."""
    fisher = from_sklearn("load_iris")(entry)
    data = np.array(fisher.data)
    data[34, 3] = 0.1
    data[37, 1:3] = 3.1, 1.5
    return from_points(entry, data, fisher.target)


def from_points(entry: Entry, data: np.ndarray, target: np.ndarray | None = None) -> Dataset:
    return Dataset(
        name=entry.name,
        data=np.asarray(data, dtype=np.float64),
        target=target,
        feature_names=entry.features,
        target_names=tuple(entry.classes or ()),
        description=entry.description,
    )


BUILT_IN: dict[str, Callable[[Entry], Dataset]] = {
    "iris": from_sklearn("load_iris"),
    "iris_uci": iris_uci,
    "wine": from_sklearn("load_wine"),
    "butterfly11": lambda entry: from_points(entry, BUTTERFLY),
    "butterfly12": lambda entry: from_points(entry, np.vstack([BUTTERFLY, OUTLIER])),
    "diamond11": lambda entry: from_points(entry, DIAMOND),
}
"""Sets that need no file: scikit-learn carries them, or they are a handful of points."""
