"""What is known of each data set: sizes, classes, checksums, origin and license (``registry.json``)."""

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class OpenML:
    """Where a set is on OpenML, and how to turn that copy into ours."""

    id: int
    name: str
    drop: tuple[str, ...] = ()
    """Columns of theirs that are not attributes of ours."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Their class name to ours; rows of other classes are left out. Empty: names and rows are kept."""


@dataclass(frozen=True)
class Entry:
    """The facts of one data set."""

    name: str
    title: str
    files: Mapping[str, str]
    """File name to sha256; the first one holds the attributes or dissimilarities."""
    n: int
    d: int
    classes: Mapping[str, int] | None
    """Class name to number of objects, in the order of the class numbers; None when no labels exist."""
    features: tuple[str, ...]
    missing: int
    used_by: str
    origin: str
    license: str
    remarks: str
    object_column: str | None = None
    codes: Mapping[str, float] = field(default_factory=dict)
    """Numbers that stand for the values of categorical attributes."""
    openml: OpenML | None = None

    @property
    def description(self) -> str:
        coding = ", ".join(f"{value} = {code}" for value, code in self.codes.items())
        parts = [
            self.title,
            self.remarks,
            f"Coded {coding}" if coding else "",
            f"Origin: {self.origin}",
            f"License: {self.license}",
            f"Used by {self.used_by}",
        ]
        return " ".join(f"{part.rstrip('.')}." for part in parts if part)


@cache
def registry() -> dict[str, Entry]:
    """Every data set by name."""
    facts = json.loads(files(__package__).joinpath("registry.json").read_text(encoding="utf-8"))
    entries = {}
    for name, fact in facts.items():
        openml = fact.pop("openml", None)
        if openml is not None:
            openml = OpenML(**{**openml, "drop": tuple(openml.get("drop", ()))})
        entries[name] = Entry(name=name, openml=openml, **{**fact, "features": tuple(fact["features"])})
    return entries


def find(name: str) -> Entry:
    """The entry of that name, or an error that lists the names nearest to it."""
    entries = registry()
    if name in entries:
        return entries[name]
    key = str(name).lower()
    near = difflib.get_close_matches(key, entries, n=3, cutoff=0.5)
    near += [other for other in entries if key and key in other and other not in near]
    hint = f"Did you mean {', '.join(map(repr, near))}?" if near else "available() lists all names."
    raise ValueError(f"There is no data set called {name!r}. {hint}")
