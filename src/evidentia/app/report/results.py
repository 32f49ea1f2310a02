"""A result as a directory of files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from evidentia.app.report.page import render
from evidentia.app.report.pictures import draw
from evidentia.app.run_folder import whole_run
from evidentia.files import whole_file, write_whole
from evidentia.partition import CredalPartition
from evidentia.partition.alignment import align_objects
from evidentia.partition.profiles import read_columns
from evidentia.safe_text import guard_table, unguard_table

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("auto", "csv", "parquet")
MANY = 50_000  # rows above which "auto" is Parquet: text of 200,000 rows takes ten times as long as their fit
DECIMALS = 6  # of masses, in text of many rows


def table_kind(tables: str, n_rows: int) -> str:
    """``"csv"`` or ``"parquet"`` for what was asked; Parquet needs pyarrow.

    Examples
    --------
    >>> table_kind("auto", 150), table_kind("csv", 10**6)
    ('csv', 'csv')
    """
    if tables not in TABLES:
        raise ValueError(f"'tables' must be one of {', '.join(map(repr, TABLES))}. Got {tables!r}.")
    there = find_spec("pyarrow") is not None
    if tables == "parquet" and not there:
        raise ImportError("Parquet files need pyarrow: pip install 'evidentia[parquet]'. CSV needs nothing.")
    return ("parquet" if n_rows > MANY and there else "csv") if tables == "auto" else tables


def write_table(frame: pd.DataFrame, path: Path, *, decimals: int | None = None) -> Path:
    """Write a table by the ending of its path, CSV or Parquet.

    Text of many rows has no more than ``decimals``, and is written by pyarrow where that is installed.
    """
    with whole_file(path) as file:
        if path.suffix == ".parquet":
            text = [name for name in frame if frame[name].dtype.kind not in "biuf"]
            frame.to_parquet(file, engine="pyarrow", use_dictionary=text)  # numbers seldom repeat
        else:
            _write_csv(guard_table(frame if decimals is None or len(frame) <= MANY else frame.round(decimals)), file)
    return path


def _write_csv(frame: pd.DataFrame, file: IO[bytes]) -> None:
    if len(frame) <= MANY or find_spec("pyarrow") is None:
        frame.to_csv(file)
        return
    import pyarrow
    import pyarrow.csv

    pyarrow.csv.write_csv(pyarrow.Table.from_pandas(frame.reset_index(), preserve_index=False), file)


def find_table(directory: Path) -> Path | None:
    """The file with the table that was clustered, when there is one."""
    return next((path for kind in TABLES[1:] if (path := directory / f"table.{kind}").is_file()), None)


def read_table(path: Path) -> pd.DataFrame:
    """What :func:`write_table` wrote, its index the names of the objects as text."""
    import pandas as pd

    if path.suffix == ".parquet":
        frame = pd.read_parquet(path, engine="pyarrow")
        return frame.set_axis(frame.index.astype(str), axis=0)
    frame = pd.read_csv(path, converters={0: str})  # a name such as NA or 007 stays one
    return unguard_table(frame.set_index(frame.columns[0]))


def write_results(
    directory: str | os.PathLike[str],
    *,
    partition: CredalPartition,
    model: Any = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    selection: Any = None,
    object_column: str | None = None,
    tables: str = "auto",
    **words: Any,
) -> list[Path]:
    """Write ``partition.npz``, ``masses.csv``, ``table.csv``, the pictures and ``report.html`` into a directory.

    The files take the place of those of an earlier run all together, once the last of them is written; other files in
    the directory stay. After an error or an interrupt those of the earlier run are as they were, and what was finished
    is kept in the folder ``unfinished`` inside the directory. The partition is written first, so that no later failure
    loses it. The table, where there is one, goes with it so that ``evidentia explain`` can say which columns speak for
    which cluster. ``evidentia-run.json`` lists the files with the SHA-256 of each, which the commands check.

    Parameters
    ----------
    directory : path
        Made if it is not there.
    partition, model, X, feature_names, selection
        As in :func:`evidentia.app.report.write_report`.
    object_column : str, optional
        Heading of the first column of ``masses.csv`` and ``table.csv``.
    tables : {"auto", "csv", "parquet"}
        How masses and table are written. ``"auto"`` is CSV, and above 50,000 rows Parquet (``masses.parquet``,
        ``table.parquet``) where pyarrow is installed. CSV of so many rows has six decimals of the masses.
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
    with whole_run(directory) as fresh:
        written = fill_results(
            fresh,
            partition=partition,
            model=model,
            X=X,
            feature_names=feature_names,
            selection=selection,
            object_column=object_column,
            tables=tables,
            **words,
        )
    return [Path(directory) / path.name for path in written]


def fill_results(
    directory: Path,
    *,
    partition: CredalPartition,
    model: Any = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    selection: Any = None,
    object_column: str | None = None,
    tables: str = "auto",
    **words: Any,
) -> list[Path]:
    """Write what :func:`write_results` writes, file after file, into the folder of a run that is not whole yet."""
    X = align_objects(partition, X, ("the partition", "'X'"))
    heading, kind = object_column or "object", table_kind(tables, len(partition))
    archive = partition.save(directory / "partition.npz")
    masses = partition.to_pandas().rename_axis(heading)
    written = [write_table(masses, directory / f"masses.{kind}", decimals=DECIMALS), archive]
    if X is not None:
        names = partition.object_names or range(len(partition))
        table = read_columns(X, feature_names).to_frame(names, heading)
        written.insert(1, write_table(table, directory / f"table.{kind}"))
    pictures = draw(partition, model=model, X=X, feature_names=feature_names, selection=selection)
    images = []
    for picture in pictures:
        images.append(directory / f"{picture.name}.png")
        write_whole(images[-1], picture.png)
    page = render(partition, pictures, model=model, X=X, feature_names=feature_names, selection=selection, **words)
    return [write_whole(directory / "report.html", page), *written, *images]
