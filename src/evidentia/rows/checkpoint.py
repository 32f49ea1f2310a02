"""A fit that can go on after its process ended: the sums of its passes, kept in one small file.

What a pass over all rows gives depends on the rows, on the function and on its arguments alone, so its sum is kept
under a digest of these. A fit that is begun again asks for the same passes, and finds those that were made before; its
steps in between cost little. If anything differs, a pass has another digest and is made anew: what comes out is right
in any case, and has the same bits. joblib.Memory would keep the sums too, but in a folder of pickles: this is one file
without code, which is replaced whole, names the rows and settings that it was made for, and keeps the seed of the fit.
"""

from __future__ import annotations

import os
import secrets
import time
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from evidentia._warnings import warn_user
from evidentia.archive import Format, name_file_in_errors, own_class, read_archive, write_archive

FORMAT = Format("evidentia-checkpoint", 1, "a checkpoint of evidentia", "A checkpoint is written by fit(checkpoint=…).")
LARGEST = 1 << 20  # bytes of a sum that is kept: that of the first pass holds a sample of the rows, and is made again
EVERY = 60.0  # seconds between two writes

_active: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)


class Checkpoint:
    """The sums of passes, by digest, in memory and in a file that is replaced whole.

    As a context it keeps the passes that are made inside.
    """

    def __init__(self, path: str | os.PathLike[str], data: str, settings: str):
        self.path, self.data, self.settings = Path(path), data, settings
        self.sums: dict[str, Any] = {}
        self.seed = secrets.randbits(32)  # of a fit that is not given one
        self.n_found = 0  # passes that were not made again
        self._written, self._told = time.monotonic(), False
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        content = read_archive(self.path, FORMAT)
        with name_file_in_errors(self.path, FORMAT):
            for what, mine in (("rows", self.data), ("settings", self.settings)):
                kept = str(content[what])
                if kept != mine:
                    raise ValueError(
                        f"{self.path} is the checkpoint of a fit with other {what}: {_difference(kept, mine)}. Name "
                        "another file, or delete this one to begin anew."
                    )
            self.seed = int(content["seed"])
            for digest, kind in (key.split(" ") for key in content["sums"].tolist()):
                cls = _kind(kind)
                fields = [content[f"{digest}.{name}"] for name in cls._fields]
                self.sums[digest] = cls(*(value.item() if value.ndim == 0 else value for value in fields))

    def digest(self, *parts: Any) -> str:
        return str(joblib.hash((self.data, *parts)))

    def find(self, digest: str) -> Any:
        found = self.sums.get(digest)
        self.n_found += found is not None
        return found

    def keep(self, digest: str, found: Any) -> None:
        """Keep a sum of numbers and arrays; one that is large, or holds other things, is not kept."""
        if not all(isinstance(value, float | int | np.ndarray | np.number) for value in found):
            return
        if sum(np.asarray(value).nbytes for value in found) <= LARGEST:
            self.sums[digest] = found
            if time.monotonic() - self._written >= EVERY:
                self.write_if_possible()

    def write(self) -> None:
        kinds = [f"{digest} {type(found).__module__}:{type(found).__qualname__}" for digest, found in self.sums.items()]
        arrays = {
            f"{digest}.{name}": np.asarray(value)
            for digest, found in self.sums.items()
            for name, value in zip(found._fields, found)
        }
        names = {"rows": self.data, "settings": self.settings, "sums": kinds}
        write_archive(self.path, FORMAT, {"seed": self.seed, **arrays}, names)
        self._written = time.monotonic()

    def __enter__(self) -> None:
        """Keep the passes made from now on; write the seed at once."""
        if not self.path.exists():
            self.write()
        self._token = _active.set(self)

    def __exit__(self, *error: object) -> None:
        """Write the file at the end too, however it comes."""
        _active.reset(self._token)
        if self.sums:
            self.write_if_possible()

    def write_if_possible(self) -> None:
        """Write the file; if the disk is full, warn once and keep the old file, so that the fit is not lost."""
        try:
            self.write()
        except OSError as error:
            self._written = time.monotonic()
            if not self._told:
                warn_user(f"The checkpoint could not be written ({error}). The fit goes on without.", UserWarning)
            self._told = True


def _kind(name: str) -> Any:
    """Return the class of a sum; a file cannot name anything but a tuple of evidentia."""
    cls = own_class(name)
    if not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        raise ValueError(f"{name!r} is no sum of a pass.")
    return cls


def _difference(kept: str, mine: str) -> str:
    """Return the first line in which two texts differ."""
    pairs = zip([*kept.splitlines(), ""], [*mine.splitlines(), ""])
    return next((f"{a!r} there, {b!r} here" for a, b in pairs if a != b), f"{kept!r} there, {mine!r} here")


def active() -> Checkpoint | None:
    """Return the checkpoint of the fit that is running."""
    return _active.get()
