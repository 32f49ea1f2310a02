"""NumPy archives with a format and a version inside: whole or not there, and never a pickle."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, NamedTuple

import numpy as np


class Format(NamedTuple):
    """What a kind of file is called inside, the newest version that is read, and words: what it is, what writes it."""

    name: str
    version: int
    what: str
    writer: str


def write_archive(
    path: str | os.PathLike[str], kind: Format, content: Mapping[str, Any], names: Mapping[str, Any]
) -> Path:
    """Write arrays, and the names that there are; a file at the path is replaced only once the new one is whole."""
    path = Path(path)
    texts: dict[str, Any] = {k: np.array(value, dtype=np.str_) for k, value in names.items() if value is not None}
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.savez(file, format=kind.name, version=kind.version, **content, **texts)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of what is at the path once it is whole, and leaves nothing if it never is."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False) as file:
        try:  # a name of its own: another process may write to the same path
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o666 & ~_umask())  # a temporary file is its owner's alone
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, path)


def _umask() -> int:
    """What new files are not allowed; it can only be asked by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_archive(path: str | os.PathLike[str], kind: Format) -> dict[str, Any]:
    """The arrays of a file, or an error that says what is wrong with it."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. {kind.writer}")
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is damaged or not {kind.what}: an .npz file is a zip archive, this is not.")
    try:
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            content = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged or not {kind.what} (.npz): {error}") from error
    if str(content.get("format")) != kind.name:
        raise ValueError(
            f"{path} is an .npz archive, but not one written by evidentia: it is not {kind.what} (no "
            f"format={kind.name!r} inside)."
        )
    if int(content["version"]) > kind.version:
        raise ValueError(
            f"{path} was written by a newer evidentia (file version {int(content['version'])}, this one reads up to "
            f"{kind.version}). Upgrade evidentia to read it."
        )
    return content
