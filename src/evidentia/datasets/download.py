"""Downloads from OpenML through scikit-learn, kept in a cache in the layout of our own files."""

import os
import re
from pathlib import Path

import pandas as pd

from evidentia.datasets.dataset import Dataset
from evidentia.datasets.registry import Entry, find, registry
from evidentia.datasets.tables import differences, read_csv, to_dataset
from evidentia.files import whole_file


def cache_directory() -> Path:
    """Directory of downloaded sets: ``EVIDENTIA_CACHE``, otherwise ``~/.cache/evidentia``."""
    return Path(os.environ.get("EVIDENTIA_CACHE") or Path.home() / ".cache" / "evidentia")


def cache_path(entry: Entry) -> Path:
    return cache_directory() / f"{entry.name}.csv.gz"


def fetch(name: str, *, as_frame: bool = False, force: bool = False) -> Dataset:
    """Download a data set from OpenML, once, and return it.

    This and ``load(..., download=True)`` are the only ways to the network. 19 of the 35 sets can be had
    this way (without data files, `available` marks them "can be downloaded"). The others come from R
    packages or benchmark collections, or we know of no OpenML copy that is the same set (``knowledge``,
    ``drybean``, ``mice_trisomic``); the origin is in each set's description.

    A download is brought into the shape of our files and checked: number of objects, attributes, missing
    values, class sizes. It is *not* checked value by value: the order of the rows may differ from the files
    behind the published results, columns whose names differ from ours are taken in their order, and the
    ``leaves_*`` classes are numbers there instead of species. The checksums of the registry are those of
    the files, so use the files where exact reproduction matters.

    Parameters
    ----------
    name : str
        One of the names `list_datasets` lists.
    as_frame : bool
        Return pandas objects, see :meth:`Dataset.as_frame`.
    force : bool
        Download again even if the cache holds the set.

    Returns
    -------
    dataset : Dataset

    See Also
    --------
    load : uses the files, the copies inside scikit-learn and the cache first.
    """
    entry = find(name)
    path = cache_path(entry)
    if force or not path.exists():
        download(entry, path)
    dataset = read_cached(entry)
    return dataset.as_frame() if as_frame else dataset


def download(entry: Entry, path: Path) -> None:
    """Write the set to `path`, whole or not at all."""
    if entry.openml is None:
        others = ", ".join(name for name, other in registry().items() if other.openml)
        raise ValueError(
            f"The data set {entry.name!r} cannot be downloaded; it comes from: {entry.origin}. Put "
            f"{' and '.join(entry.files)} into the directory named by EVIDENTIA_DATA. "
            f"Downloadable are: {others}."
        )
    from sklearn.datasets import fetch_openml

    try:
        # cache=False: the one copy we keep is the normalized one
        bunch = fetch_openml(data_id=entry.openml.id, as_frame=True, parser="auto", cache=False)
    except OSError as error:
        raise OSError(
            f"OpenML could not be reached to download {entry.name!r} (data set {entry.openml.id}): {error}. "
            "Check the network connection, or set EVIDENTIA_DATA to a directory that holds "
            f"{' and '.join(entry.files)}."
        ) from error
    table = normalize(entry, bunch.data, bunch.target)
    refuse_differences(entry, to_dataset(entry, table), f"OpenML data set {entry.openml.id}", "report this")

    with whole_file(path) as file:
        table.to_csv(file, index=False, compression="gzip")


def normalize(entry: Entry, data: pd.DataFrame, target: pd.Series) -> pd.DataFrame:
    """OpenML's table in the layout of our files: our attribute names, then ``label`` with our class names."""
    assert entry.openml is not None
    columns = [column for column in data.columns if column not in entry.openml.drop]
    if len(columns) != entry.d:
        raise ValueError(
            f"OpenML data set {entry.openml.id} is not the {entry.name!r} that is expected: it has "
            f"{len(columns)} attributes ({', '.join(columns)}), "
            f"expected {entry.d} ({', '.join(entry.features)})."
        )
    theirs = {simplify_name(column): column for column in columns}
    if theirs.keys() == {simplify_name(feature) for feature in entry.features}:
        columns = [theirs[simplify_name(feature)] for feature in entry.features]
    table = data[columns].set_axis(list(entry.features), axis=1)
    labels = target.astype(str).str.strip(" '\"")
    if entry.openml.labels:
        labels = labels.map(entry.openml.labels)
    return table.assign(label=labels)[labels.notna()].reset_index(drop=True)


def simplify_name(name: str) -> str:
    """A column name without the accidents of spelling: "fLength:" and "f_length" become the same."""
    return re.sub("[^a-z0-9]", "", name.lower())


def read_cached(entry: Entry) -> Dataset:
    path = cache_path(entry)
    try:
        dataset = to_dataset(entry, read_csv(path.read_bytes(), path.name))
    except (OSError, EOFError, KeyError, ValueError) as error:
        raise ValueError(
            f"The cached file {path} is damaged ({error}). Delete it, or call fetch({entry.name!r}, force=True)."
        ) from error
    refuse_differences(entry, dataset, f"The cached file {path}", f"delete it and fetch({entry.name!r}) again")
    return dataset


def refuse_differences(entry: Entry, dataset: Dataset, source: str, cure: str) -> None:
    if wrong := differences(entry, dataset):
        raise ValueError(f"{source} is not the {entry.name!r} that is expected: {'; '.join(wrong)}. Please {cure}.")
