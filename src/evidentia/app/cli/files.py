"""Looking for files before anything heavy is imported."""

from __future__ import annotations

from pathlib import Path

from evidentia.app.cli.errors import UserError, closest
from evidentia.app.run_folder import check_listed, finish_run, listed_files
from evidentia.files import check_writable

LARGE = 1 << 29  # bytes of a table that is not read whole


def is_large(path: Path) -> bool:
    """Whether rows stay where they are: several files, an array on disk, or a file too large to be read whole."""
    if any(sign in str(path) for sign in "*?[") or path.suffix in (".npy", ".zarr"):
        return True
    return path.suffix in (".parquet", ".csv", ".tsv") and path.is_file() and path.stat().st_size > LARGE


def check_file(path: Path, *, cure: str = "Name a file: .csv, .tsv, .parquet or .npz.") -> None:
    """Refuse what is no file with something in it; ``cure`` is for a directory. ``-`` is the standard input."""
    if str(path) == "-":
        return
    if path.is_dir():
        raise UserError(f"{path} is a directory. {cure}")
    if not path.is_file():
        neighbors = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
        raise UserError(f"There is no file {path}.{closest(path.name, neighbors)}")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty (0 bytes). Was it written to the end?")


def find_result(path: Path, name: str) -> Path:
    """Return the file that was named, or that of this name in a folder of results, as its run wrote it."""
    folder = path if path.is_dir() else path.parent
    if folder.is_dir():
        finish_run(folder)
    found = folder / name if path.is_dir() else path
    check_file(found, cure=f"It should be {name}.")
    if path.is_dir():
        check_listed(folder, name)
    elif path.name in (listed_files(folder) or ()):
        check_listed(folder, path.name)
    return found


def check_out(out: Path | None, tables: str = "auto") -> None:
    """Refuse a place that cannot be written to, or a format, before the work is done, not after it."""
    if out is None:
        return
    if tables == "parquet":
        from evidentia.app.report.results import table_kind

        table_kind(tables, 0)
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is a file. Name a directory; it is made if it is not there.")
    try:
        check_writable(out)
    except OSError as error:
        raise UserError(f"--out {out}: nothing can be written there ({error.filename}: {error.strerror}).") from error
