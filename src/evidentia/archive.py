"""NumPy archives with a format, a version and a digest inside: whole or not there, and never a pickle.

An archive is an ordinary ``.npz`` file whose entries are not compressed, so that it never unpacks to more than itself.
Its entry ``digest`` is the SHA-256, in hexadecimal digits, of one line for each other entry in the order of the file:
its name (with ``.npy``), a space, the SHA-256 of its bytes, and the end of the line.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evidentia.files import whole_file

__all__ = ["Format", "name_file_in_errors", "own_class", "read_archive", "write_archive"]

DIGEST = "digest"
CHUNK = 1 << 20
HEADER = 1 << 14  # bytes of an array's header, which NumPy keeps below ten thousand
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Format(NamedTuple):
    """What a kind of file is called inside, the newest version that is read, and words: what it is, what writes it."""

    name: str
    version: int
    what: str
    writer: str


# -- writing ----------------------------------------------------------------------------------------------------------


def write_archive(
    path: str | os.PathLike[str], kind: Format, content: Mapping[str, Any], names: Mapping[str, Any]
) -> Path:
    """Write arrays, and the names that there are; a file at the path is replaced only once the new one is whole."""
    texts = {name: np.array(value, dtype=np.str_) for name, value in names.items() if value is not None}
    seal = hashlib.sha256()
    with whole_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, value in {"format": kind.name, "version": kind.version, **content, **texts}.items():
            seal.update(_line(f"{name}.npy", _write(archive, f"{name}.npy", value)))
        _write(archive, f"{DIGEST}.npy", seal.hexdigest())
    return Path(path)


def _write(archive: zipfile.ZipFile, name: str, value: Any) -> str:
    """Write an entry, of no date so that the same content has the same bytes; gives its digest."""
    with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as entry:
        hashing = _Hashing(entry)
        np.lib.format.write_array(hashing, np.asanyarray(value), allow_pickle=False)
    return hashing.digest.hexdigest()


class _Hashing:
    """Passes on what is written, and has its digest."""

    def __init__(self, file: Any):
        self.file, self.digest = file, hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self.file.write(data)


def _line(name: str, digest: str) -> bytes:
    return f"{name} {digest}\n".encode()


# -- reading ----------------------------------------------------------------------------------------------------------


def read_archive(path: str | os.PathLike[str], kind: Format) -> dict[str, Any]:
    """The arrays of a file, or an error that says what is wrong with it."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. {kind.writer}")
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is damaged or not {kind.what}: an .npz file is a zip archive, this is not.")
    with name_file_in_errors(path, kind):
        entries = _unpack(path)
        held = _text(entries, "format")
        if held != kind.name:
            other = f"format={held!r}" if held.startswith("evidentia-") else f"no format={kind.name!r}"
            raise ValueError(
                f"{path} is an .npz archive, but not one written by evidentia: it is not {kind.what} ({other} inside)."
            )
        version = int(_text(entries, "version") or 0)
        if version > kind.version:
            raise ValueError(
                f"{path} was written by a newer evidentia (file version {version}, this one reads up to "
                f"{kind.version}). Upgrade evidentia to read it."
            )
        seal = hashlib.sha256()
        for name, data in entries.items():
            if name != f"{DIGEST}.npy":
                seal.update(_line(name, hashlib.sha256(data).hexdigest()))
        if _text(entries, DIGEST) != seal.hexdigest():
            raise ValueError("it is not what was written, its digest does not fit")
        if version < 1:
            raise ValueError(f"its file version is {version}, and versions begin with 1")
        return {name.removesuffix(".npy"): _array(data) for name, data in entries.items()}


@contextmanager
def name_file_in_errors(path: str | os.PathLike[str], kind: Format) -> Iterator[None]:
    """Whatever goes wrong in making sense of a file is an error that names it."""
    try:
        yield
    except (MemoryError, FileNotFoundError, PermissionError):
        raise
    except KeyError as error:
        raise ValueError(f"{path} is damaged or not {kind.what}: it lacks {error.args[0]}.") from error
    except Exception as error:
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        what = "its header is no JSON" if isinstance(error, json.JSONDecodeError) else str(error)
        raise ValueError(f"{path} is damaged or not {kind.what} (.npz): {what}") from error


# Classes that files of earlier versions name by the place where they were.
MOVED = {
    "evidentia.mixtures.set_mixture:Floor": "evidentia.mixtures._covariances:Floor",
    "evidentia.mixtures.set_mixture:Parameters": "evidentia.mixtures._em:Parameters",
    "evidentia.mixtures.set_mixture:Prior": "evidentia.mixtures._covariances:Prior",
    "evidentia.solvers.batched_em:MixtureParameters": "evidentia.mixtures._replicates:MixtureParameters",
    "evidentia.mixtures.class_em:Columns": "evidentia.rows.categories:Columns",
    "evidentia.mixtures.latent_profile:Profiles": "evidentia.mixtures.profile_model:Profiles",
    "evidentia.prototypes._streaming:Stream": "evidentia.prototypes._base:PrototypeStream",
    "evidentia.prototypes.catecm:Problem": "evidentia.prototypes.catecm:CategoryProblem",
    "evidentia.prototypes.catecm:Prototypes": "evidentia.prototypes.catecm:CategoryPrototypes",
    "evidentia.prototypes.mecm:Medoids": "evidentia.prototypes.mecm:SpacedMedoids",
    "evidentia.prototypes.secmdd:Medoids": "evidentia.prototypes.secmdd:MedoidsOfSets",
    "evidentia.prototypes.softecm:Tied": "evidentia.prototypes.softecm:CoupledCriterion",
    "evidentia.views._kernel:Layout": "evidentia.views._kernel:ViewLayout",
    "evidentia.views._kernel:ViewProblem": "evidentia.views._kernel:ViewCriterion",
    "evidentia.prototypes._mixed_rows:Coding": "evidentia.rows.categories:Coding",
    "evidentia.solvers.stepwise:RunningMean": "evidentia._streaming:RunningMean",
    "evidentia.rows.mixed:Coding": "evidentia.rows.categories:Coding",
}


def own_class(name: str) -> Any:
    """The class that a file names as ``module:Class``; it cannot name anything that is not of evidentia."""
    module, _, attribute = MOVED.get(name, name).partition(":")
    parts = module.split(".")
    ours = parts[0] == "evidentia" and all(part.isidentifier() and not part.startswith("__") for part in parts)
    cls = getattr(importlib.import_module(module), attribute, None) if ours else None
    if not isinstance(cls, type) or cls.__module__ != module:
        raise ValueError(f"{name!r} is no class of evidentia")
    return cls


def _unpack(path: Path) -> dict[str, bytearray]:
    """The bytes of each entry, by name; refused before unpacking when they would be more than the file has."""
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        size, most = sum(entry.file_size for entry in entries), path.stat().st_size
        if size > most or any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError(f"it unpacks from {most:,} bytes to {size:,}, but files of evidentia are not compressed")
        found: dict[str, bytearray] = {}
        for entry in entries:
            data = found[entry.filename] = bytearray()
            with archive.open(entry) as opened:
                while piece := opened.read(CHUNK):
                    data += piece
        if len(found) < len(entries):
            raise ValueError("two of its entries have the same name")
    return found


def _text(entries: Mapping[str, bytearray], name: str) -> str:
    """A single value as text; nothing when it is not there or is not single."""
    array = _array(entries[f"{name}.npy"]) if f"{name}.npy" in entries else np.empty(0)
    return str(array) if array.ndim == 0 else ""


def _array(data: bytearray) -> np.ndarray:
    """The array of an entry, in its bytes; the header's word on the size is checked before anything is made of it."""
    head = io.BytesIO(data[:HEADER])
    read = HEADERS.get(np.lib.format.read_magic(head))
    if read is None:
        raise ValueError("an array is written in a way that is not known")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shape, by_columns, dtype = read(head)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read")
    if math.prod(shape) * dtype.itemsize != len(data) - head.tell():
        raise ValueError(f"an array of {shape} and type {dtype} has {len(data) - head.tell()} bytes")
    return np.ndarray(shape, dtype, buffer=data, offset=head.tell(), order="F" if by_columns else "C")
