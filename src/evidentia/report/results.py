"""A result as a directory of files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidentia.partition import CredalPartition
from evidentia.partition.profiles import read_columns, row_names
from evidentia.report.page import render
from evidentia.report.pictures import draw


def write_results(
    directory: str | os.PathLike[str],
    *,
    partition: CredalPartition,
    model: Any = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    selection: Any = None,
    object_column: str | None = None,
    **words: Any,
) -> list[Path]:
    """Write ``partition.npz``, ``masses.csv``, ``table.csv``, the pictures and ``report.html`` into a directory.

    The partition is written first, so that a failure later loses no result. The table, where there is one, goes with it
    so that ``evidentia explain`` can say which columns speak for which cluster.

    Parameters
    ----------
    directory : path
        Made if it is not there; files of the same names are replaced.
    partition, model, X, feature_names, selection
        As in :func:`evidentia.report.write_report`.
    object_column : str, optional
        Heading of the first column of ``masses.csv`` and ``table.csv``.
    **words
        ``settings``, ``notes``, ``remark``, ``command``, ``code`` and ``title`` of the report.

    Returns
    -------
    list of Path
        The files, the most useful one first.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from evidentia import CredalPartition, FocalSets
    >>> partition = CredalPartition([[0, 0.9, 0.1, 0], [0, 0.2, 0.1, 0.7]], FocalSets(2))
    >>> with TemporaryDirectory() as directory:
    ...     [file.name for file in write_results(directory, partition=partition)]
    ['report.html', 'masses.csv', 'partition.npz', 'masses.png']
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    archive = partition.save(directory / "partition.npz")
    masses = directory / "masses.csv"
    partition.to_pandas().rename_axis(object_column or "object").to_csv(masses)
    written = [masses, archive]
    if X is not None:
        written.insert(1, directory / "table.csv")
        columns = read_columns(X, feature_names)
        names = partition.object_names or row_names(X) or range(len(partition))
        columns.to_frame(names, object_column or "object").to_csv(written[1])
    pictures = draw(partition, model=model, X=X, feature_names=feature_names, selection=selection)
    images = []
    for picture in pictures:
        images.append(directory / f"{picture.name}.png")
        images[-1].write_bytes(picture.png)
    report = directory / "report.html"
    page = render(partition, pictures, model=model, X=X, feature_names=feature_names, selection=selection, **words)
    report.write_text(page, encoding="utf-8")
    return [report, *written, *images]
