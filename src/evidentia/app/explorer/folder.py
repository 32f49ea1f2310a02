"""Where an exploration is kept: a list of its steps, and for a table an archive for each and the answers.

Every file is replaced whole, and the list is written after what it speaks of: whoever looks, or pulls the plug, finds
the exploration before a step or after it. Each server puts its own mark into the list; one that finds another mark
there has been followed by a second server, and writes no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evidentia.app.explorer.parsing import parse
from evidentia.archive import Format, name_file_in_errors, read_archive, write_archive
from evidentia.belief import FocalSets
from evidentia.constraints.files import Answer, read_answers, write_answers
from evidentia.files import whole_file
from evidentia.partition import CredalPartition
from evidentia.solvers.memory import refuse_beyond_memory
from evidentia.verdict import Verdict

FORMAT = Format("evidentia-step", 1, "a step of an exploration", "It is written by evidentia explore --out.")
ARCHIVE = re.compile(r"step-[0-9a-f]{12}\.npz")
CURE = "Bring the file back from a copy, or name another folder to begin anew."
ROOM = 12  # bytes in memory for each of a file
NAME, VERSION = "evidentia-exploration", 1
STEPS, ANSWERS = "steps.json", "answers.csv"


def digest(answers: Sequence[Answer], names: Sequence[str]) -> str:
    """What tells a list of answers from another."""
    said = [(names[first], names[second], word) for first, second, word in answers]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@dataclass(frozen=True)
class Listing:
    """What ``steps.json`` holds: which explorer wrote it, of what, and the steps."""

    format: str
    version: int
    kind: Literal["table", "image"]
    of: str
    words: str
    mark: str
    at: int
    answers: tuple[str, ...]
    steps: tuple[Mapping[str, Any], ...]


class Folder:
    """The list of steps of an exploration of one table or image, told by its kind, a fingerprint and a few words."""

    def __init__(self, path: str | os.PathLike[str], kind: Literal["table", "image"], fingerprint: str, words: str):
        self.path, self.kind, self.fingerprint, self.words = Path(path), kind, fingerprint, words
        self.mark, self._claimed = secrets.token_hex(8), False
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path} is a file. Name a folder; it is made if it is not there.")
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)  # names and statements are the user's alone

    def read(self) -> Listing | None:
        """The list of steps and which of them is the present one; None of a folder without an exploration."""
        path = self.path / STEPS
        if not path.exists():
            return None
        with self.checking(STEPS):
            found = _read_json(path)
            if not isinstance(found, dict) or found.get("format") != NAME:
                raise ValueError(f"there is no format {NAME!r} inside.")
        if isinstance(found.get("version"), int) and found["version"] > VERSION:
            raise ValueError(f"{path} was written by a newer evidentia. Upgrade evidentia to go on with it.")
        with self.checking(STEPS):
            listing: Listing = parse(Listing, found, "the file")
            if not 0 <= listing.at < len(listing.steps):
                raise ValueError(f"the present step is {listing.at}, and there are {len(listing.steps)} steps.")
        if listing.of != self.fingerprint:
            raise ValueError(
                f"{self.path} holds the exploration of another {listing.kind}: {listing.words}, fingerprint "
                f"{listing.of}, while this {self.kind} has {self.words}, fingerprint {self.fingerprint}. Name another "
                f"folder, or bring back the {listing.kind} as it was."
            )
        return listing

    @contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """What is wrong with a file of the folder is an error that names it, and says what to do."""
        path = self.path / name
        try:
            yield
        except (ValueError, FileNotFoundError) as error:
            what = f"{path} is damaged or was not written by evidentia explore"
            said = str(error) if str(path) in str(error) else f"{what}: {error}"
            raise ValueError(f"{said} {CURE}") from error

    def write(self, at: int, steps: Sequence[Mapping[str, Any]], answers: Sequence[str] = ()) -> None:
        """Put the list of steps in place; ``answers`` are digests of the answers that may stand beside it."""
        before = self.read()
        if before is not None and before.mark != self.mark and self._claimed:
            raise ValueError(
                f"Another explorer has taken up {self.path} since; this one writes no more. Close one of the two."
            )
        listing = Listing(
            NAME, VERSION, self.kind, self.fingerprint, self.words, self.mark, at, tuple(answers), tuple(steps)
        )
        with whole_file(self.path / STEPS) as file:
            file.write(json.dumps(vars(listing), indent=1).encode())
        self._claimed = True


def _read_json(path: Path) -> Any:
    _check_file(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("its parts are nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error}).") from None


def _check_file(path: Path) -> None:
    """Refuse what is no file, such as a pipe that never ends, or does not fit into memory."""
    if not path.is_file():
        raise ValueError("it is no file.")
    refuse_beyond_memory(ROOM * path.stat().st_size, f"To read {path}", CURE)


class TableFolder(Folder):
    """With an archive for what each step came to, and the answers that ``evidentia ask`` reads, too."""

    def __init__(self, path: str | os.PathLike[str], fingerprint: str, words: str, names: Sequence[str]):
        super().__init__(path, "table", fingerprint, words)
        self.names, self.answers = names, self.path / ANSWERS
        self._accepted: str | None = None

    def write_all(self, at: int, steps: Sequence[dict[str, Any]], answers: Sequence[Answer]) -> None:
        """Put the list of steps in place, then the answers; archives that nobody speaks of any more are removed."""
        before, seen = self.read(), digest(self.read_answers(), self.names)
        if before is not None and seen not in (*before.answers, self._accepted):
            raise ValueError(
                f"{self.answers} was changed by another program. Close the explorer and start it again: it takes the "
                "answers up."
            )
        self.write(at, steps, answers=[seen, digest(answers, self.names)])
        write_answers(self.answers, answers, self.names)
        kept = {step["file"] for step in steps if step["file"]}
        for path in self.path.glob("step-*.npz"):
            if path.name not in kept:
                path.unlink(missing_ok=True)

    def read_answers(self) -> list[Answer]:
        if not self.answers.exists():
            return []
        with self.checking(ANSWERS):
            _check_file(self.answers)
            return read_answers(self.answers, self.names)

    def new_answers(self) -> list[Answer] | None:
        """Answers that somebody else has written since, which may now be written over; None if nobody has."""
        kept, answers = self.read(), self.read_answers()
        found = digest(answers, self.names)
        if kept is None or found in kept.answers:
            return None
        self._accepted = found
        return answers

    def keep(self, partition: CredalPartition, moved: np.ndarray, start: Any) -> str:
        """Write what a step came to; gives the name of the file."""
        name = f"step-{secrets.token_hex(6)}.npz"
        sets = partition.focal_sets
        content = {"masses": partition.masses, "masks": sets.masks, "n_clusters": sets.n_clusters, "moved": moved}
        if start is not None and not isinstance(start, CredalPartition):
            arrays = start if isinstance(start, tuple) else (start,)
            content |= dict(zip(("centers", "covariances"), arrays))
        judged = None if partition.verdict is None else json.dumps(partition.verdict.to_dict())
        names = {"no_answer": partition.no_answer, "label_rule": partition.label_rule, "verdict": judged}
        write_archive(self.path / name, FORMAT, content, names)
        return name

    def fetch(self, name: str) -> tuple[CredalPartition, np.ndarray, Any]:
        """Partition, moved objects and start for a next fit, as :meth:`keep` was given them."""
        path = self.path / name
        with self.checking(name), name_file_in_errors(path, FORMAT):
            content = read_archive(path, FORMAT)
            partition = CredalPartition(
                content["masses"],
                FocalSets(int(content["n_clusters"]), content["masks"].tolist()),
                object_names=self.names,
                no_answer=str(content["no_answer"]) if "no_answer" in content else None,
                label_rule=str(content["label_rule"]),
                verdict=Verdict.from_dict(json.loads(str(content["verdict"]))) if "verdict" in content else None,
                copy=False,
            )
            moved = content["moved"]
            if moved.dtype.kind != "i" or (moved.size and not 0 <= moved.min() <= moved.max() < len(self.names)):
                raise ValueError("objects that moved are not in the table")
        arrays = [content[key] for key in ("centers", "covariances") if key in content]
        start = None if not arrays else arrays[0] if len(arrays) == 1 else tuple(arrays)
        return partition, moved, start
