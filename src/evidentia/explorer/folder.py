"""Where an exploration is kept: a list of its steps, and for a table an archive for each and the answers.

Every file is replaced whole, and the list is written after what it speaks of: whoever looks, or pulls the plug, finds
the exploration before a step or after it. Each server puts its own mark into the list; one that finds another mark
there has been followed by a second server, and writes no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evidentia._archive import Format, read_archive, write_archive
from evidentia.belief import FocalSets
from evidentia.constraints.answers import Answer, read_answers, write_answers
from evidentia.files import whole_file
from evidentia.partition import CredalPartition

FORMAT = Format("evidentia-step", 1, "a step of an exploration", "It is written by evidentia explore --out.")
NAME, VERSION = "evidentia-exploration", 1
STEPS, ANSWERS = "steps.json", "answers.csv"


def digest(answers: Sequence[Answer], names: Sequence[str]) -> str:
    """What tells a list of answers from another."""
    said = [(names[first], names[second], word) for first, second, word in answers]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


class Folder:
    """The list of steps of an exploration of one table or image, told by its kind, a fingerprint and a few words."""

    def __init__(self, path: str | os.PathLike[str], kind: str, fingerprint: str, words: str):
        self.path, self.kind, self.fingerprint, self.words = Path(path), kind, fingerprint, words
        self.mark, self._claimed = secrets.token_hex(8), False
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path} is a file. Name a folder; it is made if it is not there.")
        self.path.mkdir(parents=True, exist_ok=True)

    def read(self) -> dict[str, Any] | None:
        """The list of steps and which of them is the present one; None of a folder without an exploration."""
        path = self.path / STEPS
        if not path.exists():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            right = found["format"] == NAME and 0 <= found["at"] < len(found["steps"])
        except (ValueError, KeyError, TypeError):
            right = False
        if not right:
            raise ValueError(f"{path} is damaged or was not written by evidentia explore. Name another folder.")
        if found["version"] > VERSION:
            raise ValueError(f"{path} was written by a newer evidentia. Upgrade evidentia to go on with it.")
        if found["of"] != self.fingerprint:
            raise ValueError(
                f"{self.path} holds the exploration of another {found['kind']}: {found['words']}, fingerprint "
                f"{found['of']}, while this {self.kind} has {self.words}, fingerprint {self.fingerprint}. Name another "
                f"folder, or bring back the {found['kind']} as it was."
            )
        return found

    def write(self, at: int, steps: Sequence[dict[str, Any]], **more: Any) -> None:
        """Put the list of steps in place, with what else it holds."""
        before = self.read()
        if before is not None and before["mark"] != self.mark and self._claimed:
            raise ValueError(
                f"Another explorer has taken up {self.path} since; this one writes no more. Close one of the two."
            )
        content = {
            "format": NAME, "version": VERSION, "kind": self.kind, "of": self.fingerprint, "words": self.words,
            "mark": self.mark, "at": at, **more, "steps": list(steps),
        }  # fmt: skip
        with whole_file(self.path / STEPS) as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=1).encode())
        self._claimed = True


class TableFolder(Folder):
    """With an archive for what each step came to, and the answers that ``evidentia ask`` reads, too."""

    def __init__(self, path: str | os.PathLike[str], fingerprint: str, words: str, names: Sequence[str]):
        super().__init__(path, "table", fingerprint, words)
        self.names, self.answers = names, self.path / ANSWERS
        self._accepted: str | None = None

    def write_all(self, at: int, steps: Sequence[dict[str, Any]], answers: Sequence[Answer]) -> None:
        """Put the list of steps in place, then the answers; archives that nobody speaks of any more are removed."""
        before, seen = self.read(), digest(self.read_answers(), self.names)
        if before is not None and seen not in (*before["answers"], self._accepted):
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
        return read_answers(self.answers, self.names) if self.answers.exists() else []

    def new_answers(self) -> list[Answer] | None:
        """Answers that somebody else has written since, which may now be written over; None if nobody has."""
        kept, answers = self.read(), self.read_answers()
        found = digest(answers, self.names)
        if kept is None or found in kept["answers"]:
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
        names = {"no_answer": partition.no_answer, "label_rule": partition.label_rule}
        write_archive(self.path / name, FORMAT, content, names)
        return name

    def fetch(self, name: str) -> tuple[CredalPartition, np.ndarray, Any]:
        """Partition, moved objects and start for a next fit, as :meth:`keep` was given them."""
        content = read_archive(self.path / name, FORMAT)
        partition = CredalPartition(
            content["masses"],
            FocalSets(int(content["n_clusters"]), content["masks"].tolist()),
            object_names=self.names,
            no_answer=str(content["no_answer"]) if "no_answer" in content else None,
            label_rule=str(content["label_rule"]),
            copy=False,
        )
        arrays = [content[key] for key in ("centers", "covariances") if key in content]
        start = None if not arrays else arrays[0] if len(arrays) == 1 else tuple(arrays)
        return partition, content["moved"], start
