"""Looking for files before anything heavy is imported."""

from __future__ import annotations

from pathlib import Path

from evidentia.cli.errors import UserError, closest

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
