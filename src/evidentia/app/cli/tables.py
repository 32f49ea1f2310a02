"""Tables from files: CSV, TSV, Parquet and NumPy archives, and the choice of the columns that are clustered.

Whatever is wrong with a file ends in a :class:`~evidentia.app.cli.errors.UserError`: what was found, and what to do.
"""

from __future__ import annotations

import csv
import gzip
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evidentia.app.advisor.columns import is_numeric
from evidentia.app.advisor.numerals import has_decimals, numbers_of, read_numerals, tell_numerals
from evidentia.app.cli import formats
from evidentia.app.cli.errors import UserError, closest, listing
from evidentia.app.cli.files import check_file
from evidentia.rows.arrow import counts_columns
from evidentia.solvers.memory import refuse_beyond_memory

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
SAMPLE = 1 << 16  # bytes that are looked at to guess the format
MAGIC = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"PK\x03\x04": "a zip archive (such as .npz or .xlsx)",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"\x89HDF": "an HDF5 file",
    b"\x1f\x8b": "gzip-compressed",
}
KINDS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "numpy",
    ".npy": "numpy",
    **dict.fromkeys(formats.READERS, "other"),
}


@dataclass(frozen=True)
class Source:
    """A table as it stands in a file, and what is worth saying about how it was read."""

    frame: pd.DataFrame
    code: str  # a line of Python that reads the same table
    notes: list[str] = field(default_factory=list)
    separated: bool = False  # whether commas, semicolons or tabs are between the cells


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that may be clustered, rows named, why the others were left out, and those that must be taken."""

    frame: pd.DataFrame
    left_out: dict[str, str]
    kept: list[str]


# -- reading ----------------------------------------------------------------------------------------------------------


def read_table(path: Path, *, id_column: str | None = None) -> Source:
    """Read a file by the kind its name promises; values of ``id_column`` stay text, so that ``007`` stays ``007``."""
    check_file(path)
    if str(path) == "-":
        piped = formats.from_pipe()
        source = read_table(piped, id_column=id_column)
        return replace(source, code=source.code.replace(str(piped), "/dev/stdin"))
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else "".join(suffixes[-1:])
    kind = KINDS.get(suffix)
    if kind is None:
        cure = " Save the sheet as .xlsx or CSV." if suffix in {".xls", ".ods"} else ""
        raise UserError(f"{path}: files of type {suffix or '(none)'} are not read, but {', '.join(KINDS)} are.{cure}")
    if kind == "other":
        source = Source(*formats.READERS[suffix](path, id_column))
        if suffix == ".xlsx":
            source = _with_numerals(source, ".", id_column)
    else:
        source = {"text": _read_text, "parquet": _read_parquet, "numpy": _read_numpy}[kind](path, id_column)
    source.frame.columns = source.frame.columns.map(str)
    if source.frame.empty:
        raise UserError(f"{path} holds the names of {source.frame.shape[1]} columns, but no rows.")
    return source


def _read_text(path: Path, id_column: str | None) -> Source:
    compressed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if compressed else open(path, "rb") as file:
            head = file.read(SAMPLE)
    except (gzip.BadGzipFile, EOFError) as error:
        raise UserError(f"{path} is named .gz, but is not a whole gzip file: {error}.") from error
    _refuse_binary(path, head)
    notes = []
    encoding = _encoding(head)
    if encoding == "latin-1":
        notes.append("The file is not UTF-8 and was read as Latin-1: letters with accents may look wrong.")
    lines = head.decode(encoding, errors="ignore").splitlines()
    if len(head) == SAMPLE:
        lines = lines[:-1] or lines  # the last line of the sample may be cut
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise UserError(f"{path} holds nothing but white space.")
    separator = _separator(lines[:50])
    options: dict[str, Any] = {} if separator == "," else {"sep": separator}
    if encoding != "utf-8":
        options["encoding"] = encoding
    cells = list(csv.reader(lines[:50], delimiter=separator))
    if separator != "," and _decimal_commas(cells[1:] or cells):
        options["decimal"] = ","
        notes.append("Numbers are written with a decimal comma and were read so (1,5 is one and a half).")
    if counts_columns(cells[0]):
        notes.append("The first line counts the columns from 0 and was taken for their names, as pandas writes them.")
    elif all(_is_number(cell, options.get("decimal", ".")) for cell in cells[0]):
        options["header"] = None
        notes.append("The first line holds numbers, not names: the columns are called x0, x1 and so on.")
    if id_column is not None:
        options["dtype"] = {id_column: str}
    try:
        frame = pd.read_csv(path, low_memory=False, **options)
    except pd.errors.ParserError as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise UserError(
            f"{path} is not a regular table with {SEPARATORS[separator]}s between the columns: {detail}. "
            "Each line needs as many cells as the first one; a cell with a separator inside needs quotes."
        ) from error
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise UserError(f"{path} is damaged or not text: {error}. Save it as CSV in UTF-8.") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise UserError(
            f"{path}: the rows have more cells than the first line has names ({len(cells[0])}). "
            "Give each column a name."
        )
    if frame.iloc[:, -1].isna().any():
        _refuse_short_lines(path, separator, encoding, len(cells[0]))
    keywords = "".join(f", {name}={_literal(value)}" for name, value in options.items())
    code = f"pd.read_csv({str(path)!r}{keywords})"
    if "header" in options:
        frame, code = frame.add_prefix("x"), f'{code}.add_prefix("x")'
    return _with_numerals(Source(frame, code, notes, True), options.get("decimal", "."), id_column)


def _with_numerals(source: Source, decimal: str, id_column: str | None) -> Source:
    """Columns of text that are written numbers, as numbers."""
    kept = [] if id_column is None else [id_column]
    frame = read_numerals(source.frame, decimal, keep=kept)
    if not (told := tell_numerals(source.frame, frame)):
        return source
    options = f", decimal={decimal!r}" * (decimal != ".") + f", keep={kept!r}" * bool(kept)
    return replace(source, frame=frame, code=f"read_numerals({source.code}{options})", notes=source.notes + told)


def _refuse_short_lines(path: Path, separator: str, encoding: str, n_columns: int) -> None:
    """pandas fills up lines with too few cells, such as those with another separator, as if cells were missing."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding=encoding, newline="") as file, suppress(csv.Error):
        reader = csv.reader(file, delimiter=separator)
        for row in reader:
            if len(row) < n_columns and any(cell.strip() for cell in row):
                others = [words for sign, words in SEPARATORS.items() if sign != separator and sign in "".join(row)]
                why = f" It has {others[0]}s where the first line has {SEPARATORS[separator]}s." if others else ""
                raise UserError(
                    f"{path}, line {reader.line_num} has {len(row)} cell{'s' * (len(row) != 1)}, the first line "
                    f"{n_columns}.{why} Each line needs as many cells as the first one."
                )


def _literal(value: Any) -> str:
    return "{" + ", ".join(f"{key!r}: str" for key in value) + "}" if isinstance(value, dict) else repr(value)


def _refuse_binary(path: Path, head: bytes) -> None:
    found = next((what for magic, what in MAGIC.items() if head.startswith(magic)), None)
    if found is None and b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        found = "a binary file"
    if found is not None:
        raise UserError(f"{path} is named like a text table, but it is {found}. Name the file after what it is.")


def _encoding(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    try:
        head[: head.rfind(b"\n") + 1 or None].decode("utf-8")  # a letter may be cut at the end of the sample
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _separator(lines: Sequence[str]) -> str:
    """The separator that cuts the lines into the same number of cells, and into the most."""

    def quality(separator: str) -> tuple[bool, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator)]
        return len(set(counts)) == 1 and counts[0] > 1, counts[0]

    return max(SEPARATORS, key=quality)


def _decimal_commas(cells: Sequence[Sequence[str]]) -> bool:
    """Some column reads 1,5 all the way down and none reads 1.5."""
    columns = [pd.Series(column, dtype=str) for column in zip_longest(*cells, fillvalue="")]
    if any(has_decimals(column, ".") and numbers_of(column, ".") is not None for column in columns):
        return False
    return any(column.str.contains(",").any() and numbers_of(column, ",") is not None for column in columns)


def _is_number(cell: str, decimal: str = ".") -> bool:
    if decimal != "." and "." in cell:
        return False
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return True


def _head(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(SAMPLE)


def _actual_kind(head: bytes) -> str:
    """What a file is, given that it is not what its name says."""
    found = next((what for magic, what in MAGIC.items() if head.startswith(magic)), None)
    if found is not None:
        return f" but {found}"
    return "" if b"\0" in head else ". It looks like text: if it is a table, name it .csv"


def _read_parquet(path: Path, id_column: str | None) -> Source:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UserError("Parquet files need pyarrow: pip install 'evidentia[parquet]'. CSV needs nothing.") from error
    head = _head(path)
    if not head.startswith(b"PAR1"):
        raise UserError(f"{path} is not a Parquet file{_actual_kind(head)}.")
    try:
        with open(path, "rb") as file:  # pyarrow opens only names that are text
            frame = pd.read_parquet(file)
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(f"{path} is a damaged Parquet file: {str(error).splitlines()[0]}") from error
    plain = isinstance(frame.index, pd.RangeIndex)
    if not plain:
        frame = frame.reset_index()  # the index of a stored DataFrame is a column like any other here
    return Source(frame, f"pd.read_parquet({str(path)!r})" + ("" if plain else ".reset_index()"))


def _read_numpy(path: Path, id_column: str | None) -> Source:
    head = _head(path)
    if not head.startswith((b"PK", b"\x93NUMPY")):
        raise UserError(f"{path} is not a NumPy archive{_actual_kind(head)}.")
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
            refuse_beyond_memory(size, f"{path}, unpacked,", "Keep the table as .npy: it is read chunk by chunk.")
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            bare = isinstance(loaded, np.ndarray)
            arrays = {"X": loaded} if bare else {name: loaded[name] for name in loaded.files}
    except MemoryError:
        raise
    except Exception as error:  # a damaged archive fails in many ways
        cause = "Python objects cannot be read safely" if "pickle" in str(error) else str(error)
        raise UserError(f"{path} cannot be used: {cause}. numpy.savez(path, X=array) writes what can.") from error
    if str(arrays.get("format")) == "evidentia-partition":
        raise UserError(f"{path} is a finished partition, not a table: 'evidentia show {path}' prints it.")
    found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    tables = {name: array for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "biuf"}
    if "X" not in tables and len(tables) != 1:
        raise UserError(f"{path} should hold one table of numbers (2-D), or one called X. Found {found or 'nothing'}.")
    name = "X" if "X" in tables else next(iter(tables))
    table = tables[name]
    labels = next((arrays[key] for key in ("feature_names", "columns", "names") if key in arrays), None)
    if labels is not None and labels.shape != (table.shape[1],):
        raise UserError(f"{path}: {table.shape[1]} columns but names of shape {labels.shape}. Give one name a column.")
    columns = [f"x{i}" for i in range(table.shape[1])] if labels is None else labels.astype(str).tolist()
    part = "" if bare else f"[{name!r}]"
    frame = pd.DataFrame(table, columns=columns)
    code = f"pd.DataFrame(np.load({str(path)!r}){part})"
    return Source(frame, f"{code}.add_prefix('x')" if labels is None else f"{code}.set_axis({columns!r}, axis=1)")


# -- choosing columns -------------------------------------------------------------------------------------------------


def split_names(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Column names from repeated or comma separated options; a name that holds a comma itself may be given whole."""
    names = []
    for text in given:
        names += [text] if text in known else [part.strip() for part in text.split(",") if part.strip()]
    return list(dict.fromkeys(names))


def choose_columns(
    frame: pd.DataFrame,
    *,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    columns: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> ChosenColumns:
    """The columns that the options leave, objects named by ``id_column``.

    Those given by ``columns`` are the only ones and must be taken, those given by ``keep`` must be taken too.
    """
    known = frame.columns.tolist()
    repeated = frame.columns[frame.columns.duplicated()].unique().tolist()
    if repeated:
        raise UserError(f"Several columns have the same name: {listing(repeated)}. Rename them.")
    options = {"--id": [id_column] if id_column else []}
    options |= {
        f"--{option}": split_names(given, known)
        for option, given in (("drop", drop), ("columns", columns), ("keep", keep))
    }
    for option, names in options.items():
        for name in names:
            if name not in frame:
                near = closest(name, known)
                raise UserError(f"{option}: there is no column {name!r}.{near} The columns are {listing(known, 20)}.")
    dropped, asked = options["--drop"], options["--columns"]
    for option in ("--columns", "--keep"):
        contradicted = [name for name in options[option] if name in dropped or name == id_column]
        if contradicted:
            raise UserError(f"{option} asks for {contradicted[0]!r}, which --drop or --id takes away. Decide for one.")
    others = [name for name in known if name != id_column]
    left_out = dict.fromkeys((name for name in others if name in dropped), "--drop")
    if asked:
        left_out = dict.fromkeys((name for name in others if name not in asked), "not in --columns")
    left: pd.DataFrame = frame[asked or [name for name in others if name not in dropped]].copy()
    if left.empty:
        raise UserError(f"No column is left to cluster: --drop or --id takes all of {listing(known)}.")
    if id_column is not None:
        left.index = pd.Index(_identifiers(frame[id_column]), name=id_column)
    return ChosenColumns(left, left_out, list(dict.fromkeys([*asked, *options["--keep"]])))


def read_distances(path: Path, *, id_column: str | None = None) -> tuple[pd.DataFrame, Source, str | None]:
    """A square table of dissimilarities, how it was read, and the column that names the objects.

    Names stand in ``id_column`` or, when there is one column more than rows, in the first one.
    """
    source = read_table(path, id_column=id_column)
    frame = source.frame
    if id_column is not None and id_column not in frame:
        raise UserError(f"--id: there is no column {id_column!r}.{closest(id_column, frame.columns.tolist())}")
    if id_column is None and frame.shape[1] == frame.shape[0] + 1:
        id_column = str(frame.columns[0])
    numbers = frame.drop(columns=[id_column] if id_column else [])
    if numbers.shape[0] != numbers.shape[1]:
        raise UserError(
            f"{path}: dissimilarities are a square table, a row and a column for each object. This one has "
            f"{numbers.shape[0]} rows and {numbers.shape[1]} columns of them. Without --distances it is a table of "
            "objects."
        )
    for name in numbers:
        if not is_numeric(numbers[name]):
            raise UserError(f"{path}: column {name!r} is not a column of numbers, as dissimilarities are.")
    data = numbers.astype(float)
    if id_column is not None:
        data.index = pd.Index(_identifiers(frame[id_column]), name=id_column)
        named = set(data.index) == set(data.columns)
        if named and list(data.index) != list(data.columns):
            raise UserError(
                f"{path}: rows and columns name the same objects in a different order. Bring them into one order."
            )
    notes = [note for note in source.notes if not note.startswith("The first line")]
    return data, Source(source.frame, source.code, notes), id_column


def _identifiers(column: pd.Series) -> list[str]:
    if column.isna().any():
        raise UserError(
            f"--id: column {column.name!r} is empty in {column.isna().sum()} of {len(column)} rows "
            f"(first: row {int(column.isna().to_numpy().argmax())}). Each object needs a name."
        )
    names = column.astype(str)
    repeated = names[names.duplicated()]
    if len(repeated):
        raise UserError(
            f"--id: {repeated.iloc[0]!r} names {(names == repeated.iloc[0]).sum()} rows ({len(repeated)} of "
            f"{len(names)} names are repetitions). Choose a column that names each row once, or leave --id out."
        )
    return names.tolist()


# -- bad values -------------------------------------------------------------------------------------------------------


def check_values(
    data: pd.DataFrame, *, missing: str, cures: str = "--missing drop leaves these rows out", least: int = 2
) -> tuple[pd.DataFrame, str | None]:
    """Rows that can be clustered, and a sentence about missing values.

    ``missing`` is ``"error"``, ``"drop"`` (rows with a hole go) or ``"em"`` (only rows that are all holes go);
    ``cures`` says what the command at hand offers; ``least`` rows must remain.
    """
    numbers = data.select_dtypes("number")
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise UserError(
            f"Column {numbers.columns[column]!r} holds inf (row {data.index[row]}; {infinite.any(axis=1).sum()} of "
            f"{len(data)} rows in all). Look for a division by zero or a code for 'missing', and leave the cell empty."
        )
    holes = data.isna().to_numpy()
    rows = holes.any(axis=1)
    sentence = None
    if rows.any():
        counts = [f"{name} {count}" for name, count in zip(data.columns, holes.sum(axis=0)) if count]
        what = f"{rows.sum()} of {len(data)} rows have missing values ({listing(counts, 5)})"
        if missing == "error":
            raise UserError(f"{what}. {cures}.")
        gone = np.asarray(rows if missing == "drop" else holes.all(axis=1))
        data = data.iloc[np.flatnonzero(~gone)]
        sentence = f"{what}."
        if gone.any():
            sentence += (
                f" {gone.sum()} rows were left out{' (--missing drop)' if missing == 'drop' else ': nothing in them'}."
            )
        if missing == "em":
            sentence += " What is observed is used."
    if len(data) < least:
        raise UserError(f"{len(data)} row{'s' * (len(data) != 1)} cannot be clustered: at least {least} are needed.")
    return data, sentence
