"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

__all__ = ["check_writable", "whole_file", "whole_folder", "write_whole"]

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which takes the place of what is at the path once it is whole.

    Whoever looks at the path, at any moment and after any failure, finds the old file or the new one. Each writer has
    a temporary file of its own in the same folder; it is removed on failure, and only a process that is killed leaves
    one behind (its name begins with a dot and ends with ``.part``). A link stays a link, permissions stay as they
    were, and folders on the way are made. What is no file, such as a pipe, is written to as it is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "notes.txt") as file:
    ...         _ = file.write(b"done")
    ...     os.listdir(folder)
    ['notes.txt']
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:  # a folder is an error here
            yield file
        return
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name[:40]}.{os.getpid()}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            if target.exists():
                os.chmod(part, target.stat().st_mode & 0o777)
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and (error.errno in NO_ROOM or error.filename == str(part)):
            raise OSError(error.errno, error.strerror, str(path)) from error  # the name that the user knows
        raise


@contextmanager
def whole_folder(path: str | os.PathLike[str], *ours: str) -> Iterator[Path]:
    """A folder to fill, which takes the place of what is at the path once all that belongs in it is there.

    It is filled under a name of its own in the same place and removed on failure; then the old folder steps aside for
    it, and is deleted. A process that is killed leaves one of the two behind (its name begins with a dot and ends with
    ``.part``). A folder that holds anything but the names ``ours``, patterns as of ``fnmatch``, is refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     for name in ("a.txt", "b.txt"):
    ...         with whole_folder(Path(place) / "notes", "*.txt") as folder:
    ...             _ = (folder / name).write_text("done")
    ...     os.listdir(place), os.listdir(Path(place) / "notes")
    (['notes'], ['b.txt'])
    """
    target = Path(os.path.realpath(path))
    there = sorted(os.listdir(target)) if target.exists() else []
    for name in there:
        if not any(fnmatch(name, pattern) for pattern in ours):
            raise FileExistsError(errno.EEXIST, f"The folder holds {name!r}; give one that is empty or new", str(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    mark = f"{os.getpid()}.{secrets.token_hex(4)}.part"
    fresh, aside = (target.with_name(f".{target.name[:40]}.{kind}.{mark}") for kind in ("new", "old"))
    try:
        fresh.mkdir()
        yield fresh
        if target.exists():
            shutil.copymode(target, fresh)
            os.rename(target, aside)
        os.rename(fresh, target)
    except BaseException:
        if aside.exists() and not target.exists():
            os.rename(aside, target)
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write text (UTF-8) or bytes by :func:`whole_file`."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return Path(path)


def check_writable(folder: str | os.PathLike[str]) -> None:
    """``OSError`` when nothing can be written into a folder, or, if it is not there, when it cannot be made."""
    there = Path(folder)
    while not there.exists() and there != there.parent:
        there = there.parent
    probe = there / f".{os.getpid()}.{secrets.token_hex(4)}.part"
    try:
        with open(probe, "xb"):
            pass
        probe.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(there)) from error
