"""Steps of an exploration of a table: what was done, with which settings, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from evidentia.app.advisor.n_clusters import Clusters
from evidentia.app.advisor.rules import SCALERS
from evidentia.app.explorer.parsing import make
from evidentia.constraints import Statement
from evidentia.partition import CredalPartition

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Origin(NamedTuple):
    """Where a table came from: Python code that reads it, the column of names, how rows were dropped, the file.

    Columns ``beside`` are shown with it, and not read by that code.
    """

    code: str = "..."
    id_column: str | None = None
    dropped: str | None = None
    path: Path | None = None
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """How the table is clustered.

    Attributes
    ----------
    method : str
        Short name, or "auto".
    clusters : int, (int, int) or None
        A number, a range to choose from, or what the method does by itself.
    columns : tuple of str
        Those that are clustered.
    scale : {"auto", "none", "standard", "robust", "minmax"}
    parameters : mapping
        Of the method, where they are not what it or the look at the table suggests.
    cut : int or None
        Into how many clusters a tree is cut, where that is not the number it was built with.
    seed : int
    """

    method: str
    clusters: Clusters
    columns: tuple[str, ...]
    scale: str = "auto"
    parameters: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    cut: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.scale not in (known := ("auto", "none", *SCALERS)):
            raise ValueError(f"A scale is one of {', '.join(map(repr, known))}. Got {self.scale!r}.")

    def to_dict(self) -> dict[str, Any]:
        return asdict(replace(self, parameters=dict(self.parameters)))


# What the list of steps on disk holds of a step.
LISTED: Mapping[str, Any] = MappingProxyType({
    "words": str, "settings": Settings, "statements": tuple[Statement, ...], "notes": tuple[str, ...], "file": str,
    "began": Literal["fresh", "centers", "shapes", "masses", "kept"], "n_clusters": int,
})  # fmt: skip


@dataclass
class Step:
    """One change: what was done in words, with which settings and statements, and what came of it.

    Attributes
    ----------
    words : str
    settings : Settings
    statements : tuple of Statement
        All that had been said by then.
    partition : CredalPartition or None
        Its clusters are numbered as in the step before; None of a step too far back.
    model : estimator or None
        As it was fitted; None after the exploration was taken up again, until somebody asks for it.
    moved : ndarray
        Numbers of the objects that changed their cluster.
    began : {"fresh", "centers", "shapes", "masses", "kept"}
        How the fit began: by the method's own starts, from something of the step before, or there was none.
    notes : tuple of str
        What the method warned of, and that another one takes links.
    """

    words: str
    settings: Settings
    statements: tuple[Statement, ...]
    partition: CredalPartition | None = None
    model: Any = None
    moved: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    began: str = "fresh"
    notes: tuple[str, ...] = ()
    start: Any = None  # from which a next fit can go on
    file: str = ""
    n_clusters: int = 0

    def to_dict(self) -> dict[str, Any]:
        """What the list of steps on disk holds."""
        said = [asdict(one) for one in self.statements]
        listed = {name: getattr(self, name) for name in LISTED}
        return {**listed, "settings": self.settings.to_dict(), "statements": said}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], where: str = "step") -> Step:
        """A step as that list holds it, without its partition; an error says where it is not one."""
        return make(cls, LISTED, given, where)
