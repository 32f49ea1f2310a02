"""A folder that holds the files of one run: written whole or not at all, and checked when it is read.

A run is written into a hidden folder inside the folder of results. Once its last file is there, the files of the run
before step aside, and the new ones take their places. So the folder never shows files of two runs, and other files of
the user stay. The next command that reads or writes it
finishes what a killed writer began (:func:`finish_run`).

``evidentia-run.json`` lists the files of the run with the SHA-256 of each.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evidentia.files import write_whole

LISTING = "evidentia-run.json"
FORMAT, VERSION = "evidentia-run", 1
FILLING, COMPLETE, MOVING = ".filling", ".complete", ".moving"  # endings of the hidden folder, in this order
NEW, ASIDE = "new", "aside"  # in the hidden folder: the files of the run, and those of the run before
UNFINISHED = "unfinished"
# Files that would be of another run if they stayed, whether a listing names them or not.
OURS = (
    "masses.csv", "masses.parquet", "masses/part-*.parquet", "table.csv", "table.parquet", "model.npz", "summary.txt",
    "interactive.html",
)  # fmt: skip
CURE = (
    "Put the file of that run back, or fit again. If you changed it yourself, delete "
    f"{LISTING}: then nothing is checked."
)


# -- writing ----------------------------------------------------------------------------------------------------------


@contextmanager
def whole_run(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to fill, whose files become those of ``folder`` all together, in place of the run before.

    After an error or an interrupt ``folder`` is as it was, and what was finished is kept in ``unfinished`` inside it,
    of which a note of the error tells. A process that is killed leaves the old run, or the new one, which the next
    reader or writer puts in place.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("one.txt", "two.txt"):
    ...         with whole_run(folder) as fresh:
    ...             _ = (fresh / name).write_text("done")
    ...     sorted(os.listdir(folder))
    ['evidentia-run.json', 'two.txt']
    """
    target = Path(folder)
    new = not target.exists()
    target.mkdir(parents=True, exist_ok=True)
    finish_run(target)
    filling = target / f".evidentia-{os.getpid()}-{secrets.token_hex(4)}{FILLING}"
    fresh = filling / NEW
    try:
        filling.mkdir()
        fresh.mkdir()
        (filling / ASIDE).mkdir()
        yield fresh
        list_files(fresh)
        os.rename(filling, filling.with_suffix(COMPLETE))
        finish_run(target)
    except BaseException as error:
        if isinstance(error, OSError) and str(fresh) in str(error.filename):
            error.filename = str(error.filename).replace(str(fresh), str(target))  # the name that the user knows
        if filling.exists():
            _keep(filling, error)
            if new:
                with suppress(OSError):
                    target.rmdir()
        else:
            with suppress(OSError):
                finish_run(target)
        raise


def list_files(folder: Path) -> None:
    """Write the list of all files of a folder with their digests."""
    files = {name: _digest(folder / name) for name in sorted(_files(folder) - {LISTING})}
    write_whole(folder / LISTING, json.dumps({"format": FORMAT, "version": VERSION, "files": files}, indent=1))


def _keep(filling: Path, error: BaseException) -> None:
    """Keep the files of a run that was not finished where the user finds them; a note of the error says where."""
    names = sorted(_files(filling / NEW) - {LISTING})
    if names:
        places = (filling.with_name(f"{UNFINISHED}{f'-{n}' if n > 1 else ''}") for n in range(1, 10_000))
        place = next(place for place in places if not place.exists())
        os.rename(filling / NEW, place)
        shown = f"{', '.join(names[:8])}{' and more' if len(names) > 8 else ''}"
        error.add_note(f"What was finished of this run is in {place}: {shown}. The run before is as it was.")
    shutil.rmtree(filling, ignore_errors=True)


def finish_run(folder: Path) -> None:
    """Put a complete run in its place where a writer was stopped before it had done so."""
    if not _left(folder):
        return
    with _alone_in(folder):
        for hidden in _left(folder):
            if hidden.suffix == COMPLETE:
                _step_aside(folder, hidden)
                hidden = hidden.rename(hidden.with_suffix(MOVING))
            for name in _listing_last(_files(hidden / NEW)):
                _move(hidden / NEW / name, folder / name, folder)
            shutil.rmtree(hidden, ignore_errors=True)


def _left(folder: Path) -> list[Path]:
    """Hidden folders with a run that is complete and not yet in its place, in the order to go on with."""
    found = [path for path in folder.glob(".evidentia-*") if path.suffix in (COMPLETE, MOVING)]
    real = [path for path in found if not any(one.is_symlink() for one in (path, path / NEW, path / ASIDE))]
    return sorted(real, key=lambda path: (path.suffix == COMPLETE, path.stat().st_mtime_ns))


def _step_aside(folder: Path, hidden: Path) -> None:
    """Move the files of the run before out of the way; its listing goes last, for who has to do this again."""
    try:
        earlier = set(listed_files(folder) or ())
    except ValueError:  # a damaged listing names nothing
        earlier = set()
    ours = {path.relative_to(folder).as_posix() for pattern in OURS for path in folder.glob(pattern)}
    fresh = _files(hidden / NEW)
    for name in _listing_last(earlier | ours | fresh | {LISTING}):
        path = folder / name
        if path.is_file() and _is_inside(path, folder):
            if name in fresh and not (hidden / NEW / name).is_symlink():
                shutil.copymode(path, hidden / NEW / name)
            _move(path, hidden / ASIDE / name, folder)
            if path.parent != folder:
                with suppress(OSError):  # it holds more
                    path.parent.rmdir()


def _move(path: Path, to: Path, folder: Path) -> None:
    if not _is_inside(to, folder):
        raise ValueError(f"{to.parent} is a link that leads out of {folder}. Remove the link, then do the same again.")
    to.parent.mkdir(parents=True, exist_ok=True)
    os.replace(path, to)


def _is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path leads to a place in the folder: its listing and links may come from a stranger."""
    return path.parent.resolve().is_relative_to(folder.resolve())


def _files(folder: Path) -> set[str]:
    return {
        (Path(place) / name).relative_to(folder).as_posix() for place, _, names in os.walk(folder) for name in names
    }


def _listing_last(names: set[str]) -> list[str]:
    return sorted(names, key=lambda name: (name == LISTING, name))


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from moving files of the folder at the same time, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# -- reading ----------------------------------------------------------------------------------------------------------


def listed_files(folder: Path) -> dict[str, str] | None:
    """Digests of the files of the run in a folder, by name; None where no run is listed."""
    path = folder / LISTING
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(f"its format is {found['format']!r}")
        files = dict(found["files"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"{path} is damaged, so the files beside it cannot be checked ({error}). {CURE}") from error
    if found.get("version") != VERSION:
        raise ValueError(f"{path} was written by a newer evidentia. Upgrade evidentia to read it.")
    return files


def check_listed(folder: Path, name: str) -> Path:
    """Return the path of a file of a folder, once it was found to be the one that the run in the folder wrote."""
    files, path = listed_files(folder), folder / name
    if files is not None and files.get(name) != _digest(path):
        raise ValueError(f"{path} is not of the run in {folder}: it was changed, or belongs to another run. {CURE}")
    return path


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
