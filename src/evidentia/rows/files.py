"""What all kinds of files share: files as they were when opened, columns that are used, blocks made into chunks."""

from __future__ import annotations

import hashlib
import json
import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from evidentia._warnings import warn_user
from evidentia.rows.source import MOST_HANDLES, Chunk, RowSource, chunk_rows

HANDLE_CHUNKS = 4  # small files and row groups are taken together until a handle has so many chunks


class Files:
    """Paths, sizes and dates of files when they were opened; pickled, their common folder is written once."""

    def __init__(self, paths: Iterable[str]):
        absolute = [os.path.abspath(path) for path in paths]
        self.folder = os.path.commonpath([os.path.dirname(path) for path in absolute])
        self.names = [os.path.relpath(path, self.folder) for path in absolute]
        self.stamps = np.array([stamp(path) for path in absolute])

    def __len__(self) -> int:
        return len(self.names)

    def path(self, at: int) -> str:
        return os.path.join(self.folder, self.names[at])

    def check(self, at: int) -> None:
        """Raise an error if a file has changed since it was opened."""
        if stamp(self.path(at)) != tuple(self.stamps[at]):
            raise ValueError(changed_message(self.path(at)))

    def fingerprint(self) -> list[Any]:
        return [self.names, self.stamps.tolist()]


def stamp(path: str) -> tuple[int, int]:
    """Return the size of a file, and when it was changed last, in nanoseconds."""
    try:
        found = os.stat(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"There is no file {path} (any more). Put it back, or open the others again."
        ) from error
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror}.") from error
    return found.st_size, found.st_mtime_ns


def changed_message(path: str) -> str:
    return f"{path} changed since it was opened; open it again."


def cut_into_chunks(parts: Iterable[Chunk], size: int) -> Iterator[Chunk]:
    """Yield the rows of parts of any length in chunks of ``size`` rows; the last one may have fewer."""
    waiting: list[Chunk] = []
    count = 0
    for part in parts:
        start = 0
        while start < len(part.table):
            few = Chunk(part.table[start : start + size - count], None, part.place, part.first + start)
            waiting.append(few)
            start, count = start + len(few.table), count + len(few.table)
            if count == size:
                yield _join(waiting)
                waiting, count = [], 0
    if waiting:
        yield _join(waiting)


def _join(parts: Sequence[Chunk]) -> Chunk:
    if len(parts) == 1:
        return parts[0]
    further = []
    at, here = 0, parts[0]
    for part in parts[1:]:
        at += len(here.table)
        if (part.place, part.first) != (here.place, here.first + len(here.table)):
            further.append((at, part.place, part.first))
        here = part
    return parts[0]._replace(table=np.concatenate([part.table for part in parts]), further=tuple(further))


def group_neighbors(sizes: Sequence[int] | np.ndarray, least: int) -> list[tuple[int, int]]:
    """Group neighbors, (start, stop), until they sum up to ``least``, or more if there are very many.

    Examples
    --------
    >>> group_neighbors([10, 80, 30, 0, 500, 20], 100)
    [(0, 3), (3, 5), (5, 6)]
    """
    least = max(least, -(-2 * int(np.sum(sizes)) // MOST_HANDLES))
    handles, start, total = [], 0, 0
    for at, size in enumerate(sizes):
        total += int(size)
        if total >= least or (total and at == len(sizes) - 1):
            handles.append((start, at + 1))
            start, total = at + 1, 0
    return handles


class FileRows(RowSource):
    """Rows in one or several files of one kind.

    A kind reads the parts of a handle, with the column of weights last if there is one; each file is compared with what
    it was when it was opened, before and after it is read.
    """

    files: Files
    columns: Sequence[Any]  # names or numbers of those that are used
    weight: Any  # name or number of the column of weights; None without one

    @abstractmethod
    def parts(self, handle: Any) -> Iterator[Chunk]:
        """Yield the wanted columns of a handle as the files have them."""

    @property
    def wanted(self) -> list[Any]:
        return [*self.columns, *([] if self.weight is None else [self.weight])]

    def read(self, handle: Any) -> Iterator[Chunk]:
        for chunk in cut_into_chunks(self.parts(handle), chunk_rows(self.n_features)):
            if self.weight is None:
                yield chunk
            else:
                table, weight = np.ascontiguousarray(chunk.table[:, :-1]), chunk.table[:, -1].copy()
                _check_weight(chunk, weight)
                yield chunk._replace(table=table, weight=weight)

    def description(self) -> list[Any]:
        """Return what determines the rows beside the files."""
        return [list(self.columns), self.weight]

    def fingerprint(self) -> str:
        text = json.dumps([type(self).__name__, self.files.fingerprint(), self.description()])
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @property
    def words(self) -> str:
        n = "rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"{n} of {self.n_features} columns in {len(self.files)} file{'s' * (len(self.files) != 1)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.words})"


def _check_weight(chunk: Chunk, weight: np.ndarray) -> None:
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"Weights must be finite and not negative, but {chunk.where(row)} has {weight[row]:g}.")


def whole_file(path: str) -> str:
    """Return the path of a file that is not empty; raise an error for another one."""
    if stamp(path)[0] == 0:
        raise ValueError(f"{path} is empty (0 bytes). Was it written to the end? Write it again, or leave it out.")
    return path


def no_rows(files: Files) -> ValueError:
    what = files.path(0) if len(files) == 1 else f"{len(files)} files in {files.folder}"
    return ValueError(f"There are no rows in {what}.")


# -- columns ----------------------------------------------------------------------------------------------------------


def choose_columns(
    path: str, kinds: dict[str, str | None], columns: Sequence[str] | None, weight: str | None
) -> tuple[str, ...]:
    """Return the columns of a file by name: those asked for, or all of numbers.

    ``kinds`` says of each column what it holds if it does not hold numbers.
    """
    asked = _check_names(columns, weight, str, "a name", f"{path} has columns with names")
    for name in [*(asked or []), *([] if weight is None else [weight])]:
        if name not in kinds:
            raise ValueError(f"{path} has no column {name!r}. It has {listing(kinds)}.")
        if (kind := kinds[name]) is not None:
            raise ValueError(
                f"Column {name!r} of {path} holds {kind}, not numbers. Leave it out, or write it as numbers."
            )
    if asked is not None:
        return tuple(asked)
    used = [name for name, kind in kinds.items() if kind is None and name != weight]
    if not used:
        raise ValueError(f"No column of {path} holds numbers. It has {listing(kinds)}.")
    if left := [f"{name} ({kind})" for name, kind in kinds.items() if kind is not None]:
        warn_user(
            f"Columns of {path} that are not numbers are left out: {listing(left)}. "
            "columns=[...] says which ones to use.",
            UserWarning,
        )
    return tuple(used)


def check_other_file(
    path: str,
    kinds: dict[str, str | None],
    first: str,
    known: dict[str, str | None],
    wanted: Sequence[str],
    given: bool,
) -> None:
    """Refuse a file whose columns do not go with those of the first one; their order may differ."""
    for name in wanted:
        if name not in kinds:
            raise ValueError(f"{path} has no column {name!r}, which {first} has. {_CURE}")
        if (kind := kinds[name]) is not None:
            raise ValueError(f"Column {name!r} holds {kind} in {path}, but numbers in {first}. {_CURE}")
    if given:
        return
    for name, kind in kinds.items():
        if kind is None and name not in wanted and known.get(name) is None:
            raise ValueError(f"{first} has no column {name!r}, which {path} has. {_CURE}")


_CURE = "Leave that file out, write it anew, or name columns that all files have by columns=[...]."


def choose_numbers(what: str, width: int, columns: Sequence[int] | None, weight: int | None) -> list[int]:
    """Return the columns of an array by number: those asked for, or all."""
    asked = _check_names(columns, weight, int, "a number", f"{what} is an array, and its columns have numbers")
    for at in [*(asked or []), *([] if weight is None else [weight])]:
        if not 0 <= at < width:
            raise ValueError(f"{what} has no column {at}: there are {width}, and they count from 0.")
    used = [at for at in range(width) if at != weight] if asked is None else asked
    if not used:
        raise ValueError(f"{what} has no column beside the weights." if width else f"{what} has no columns.")
    return used


def _check_names(columns: Any, weight: Any, kind: type, word: str, what: str) -> list[Any] | None:
    """Return the columns asked for; raise an error if one is named twice, or not as columns of the file are."""
    kinds = (str,) if kind is str else (int, np.integer)
    for name in [*([] if columns is None else columns), *([] if weight is None else [weight])]:
        if not isinstance(name, kinds) or isinstance(name, bool):
            raise TypeError(f"{what}. {name!r} is not {word}.")
    if columns is None:
        return None
    asked = [kind(name) for name in columns]
    if not asked:
        raise ValueError("'columns' of open_rows is empty. Name the columns to use, or leave it out for all.")
    for name in asked:
        if asked.count(name) > 1:
            raise ValueError(f"'columns' of open_rows names {name!r} twice.")
        if name == weight:
            raise ValueError(f"Column {name!r} cannot be a weight and one of 'columns' too.")
    return asked


def listing(names: Iterable[str], most: int = 10) -> str:
    """Return the first names with commas between them, and how many more there are."""
    shown = [str(name) for name in names]
    rest = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + rest


T = TypeVar("T")


def reading(
    what: str, check: Callable[[], None], work: Iterator[T], errors: tuple[type[Exception], ...]
) -> Iterator[T]:
    """Yield what is read; raise an error if the file is damaged, or another one than when it was opened."""
    check()
    try:
        yield from work
    except errors as error:
        check()
        raise ValueError(damaged_message(what, error)) from error
    check()


def damaged_message(what: str, error: BaseException) -> str:
    said = (str(error).splitlines() or [type(error).__name__])[0].removeprefix("CSV parse error: ")
    return f"{what} cannot be read, it is damaged or cut: {said.rstrip('.')}. Write it again, or leave it out."
