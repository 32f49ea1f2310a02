"""What ``fit`` clusters: the columns of a table or a square of dissimilarities, and how it came to be."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from evidentia import methods
from evidentia.app.advisor import Recommendation, TableProfile, profile_table
from evidentia.app.advisor.n_clusters import Clusters
from evidentia.app.advisor.rules import of_dissimilarities, recommend_for
from evidentia.app.advisor.table import are_dissimilarities
from evidentia.app.cli import tables
from evidentia.app.cli.errors import UserError, listing
from evidentia.app.cli.fitting import FitRequest, fixed_by_a_fit
from evidentia.app.cli.terminal import print_heading, print_labeled
from evidentia.app.script import Script

SHOWN = 30  # names of columns


@dataclass(frozen=True)
class Input:
    """Rows to cluster (DataFrame, named by ``id_column``), how, and what is worth telling about them."""

    title: str
    source: tables.Source
    data: pd.DataFrame
    choice: Recommendation
    notes: list[str]
    id_column: str | None = None
    distances: bool = False
    left_out: dict[str, str] | None = None
    dropped: str | None = None  # the ``how`` of dropna, where rows with holes were left out

    @property
    def scale(self) -> str:
        return self.choice.scale

    def estimator(
        self, clusters: Clusters, settings: Sequence[str] = (), seed: int = 0, *, linked: bool = False
    ) -> tuple[Any, Input]:
        """The chosen method, unfitted, and the same input without the reasons for what ``settings`` decide."""
        request = FitRequest(
            self.choice.method, clusters, settings, seed, self.distances, linked=linked, chosen=self.choice.settings
        )
        return request.estimator(), replace(self, choice=self.choice.with_settings(**request.given_settings()))

    def check_links(self, links: Path | None) -> None:
        if links is not None and self.dropped is not None and self.id_column is None:
            raise UserError("--links count rows, and --missing drop takes some away. Name the objects by --id instead.")

    def print_heading(self) -> None:
        """Which columns are used, which are not and why, what the table looks like, and what was chosen for it."""
        if self.distances:
            print_heading(f"{self.title}: dissimilarities of {len(self.data)} objects")
            return
        print_heading(f"{self.title}: {len(self.source.frame)} rows, {self.source.frame.shape[1]} columns")
        print_labeled("clustered", listing(list(self.data.columns), SHOWN))
        if self.id_column is not None:
            print_labeled("names", f"{self.id_column} (--id)")
        if self.left_out:
            print_labeled("left out", listing([f"{name} ({why})" for name, why in self.left_out.items()], SHOWN))
        print_labeled("seen", "; ".join(self.choice.profile.sentences()))

    def print_choice(self) -> None:
        """Print the reasons of the choice in one paragraph."""
        if str(self.choice):
            print_labeled("choice", str(self.choice))

    @property
    def words(self) -> dict[str, Any]:
        """For the settings of the report."""
        names = {"object names": self.id_column or "row numbers, from 0"}
        if self.distances:
            return {
                "file": self.title,
                "objects": len(self.data),
                **names,
                "choice": str(self.choice) or "as asked for",
            }
        return {
            "file": self.title,
            "rows": len(self.data),
            "columns": ", ".join(self.data.columns),
            "left out": "; ".join(f"{name}: {why}" for name, why in (self.left_out or {}).items()) or "nothing",
            **names,
            "seen": "; ".join(self.choice.profile.sentences()),
            "choice": str(self.choice) or "as asked for",
            "scale": self.scale,
        }

    def recipe(self, estimator: Any, clusters: Clusters, links: Path | None, ensemble: int | None = None) -> str:
        """Return Python code that does the same."""
        script = Script()
        script.read("X", self.source.code, id_column=self.id_column)
        script.prepare(
            "X", columns=self.data.columns.tolist(), left_out=list(self.left_out or {}), scale=self.scale,
            categories=self.choice.categories, dropped=self.dropped,
        )  # fmt: skip
        if links is not None:
            script.use("PairwiseConstraints")
            by = "name" if self.id_column else "index"
            script.add(f'links = PairwiseConstraints.from_csv({str(links)!r}, by="{by}")')
        script.fit(estimator, clusters, linked=links is not None)
        if ensemble:
            script.use_other("from sklearn.base import clone")
            script.use("ensemble")
            fixed = ", ".join(f"{name}=model.{name}_" for name in fixed_by_a_fit(estimator))
            seed = estimator.get_params().get("random_state")
            script.add(f"found = ensemble(X, clone(model).set_params({fixed}), n_fits={ensemble}, random_state={seed})")
        script.add(f"print({'found.partition' if ensemble else 'model.partition_'})")
        return str(script)


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """What the options say about the table and the method; ``auto`` and None leave it to the look at the table."""

    method: str = "auto"
    distances: bool | None = None
    linked: bool = False
    scale: str = "auto"
    id_column: str | None = None
    drop: Sequence[str] = ()
    columns: Sequence[str] = ()
    keep: Sequence[str] = ()
    missing: str | None = None


def read(file: Path, options: InputOptions, *, cures: str = "--missing drop leaves these rows out") -> Input:
    """The rows of a file that a method clusters; ``cures`` says what the command offers against missing values."""
    if options.method != "auto":
        methods.find(options.method)  # a slip of the pen is told before the file is read
    if options.distances:
        return _read_distances(file, options)
    source = tables.read_table(file, id_column=options.id_column)
    about_columns = any(_column_options(options).values())
    if (
        options.distances is None
        and options.method == "auto"
        and not about_columns
        and are_dissimilarities(source.frame)
    ):
        given = _read_distances(file, options)
        note = "The table is a square of dissimilarities and is taken for one; --no-distances takes it for columns."
        return replace(given, notes=[*given.notes, note])
    return read_input(source, options, title=str(file), cures=cures)


def read_input(
    source: tables.Source, options: InputOptions, *, title: str, cures: str = "--missing drop leaves these rows out"
) -> Input:
    """The rows of a table that a method clusters."""
    table = tables.choose_columns(
        source.frame, id_column=options.id_column, drop=options.drop, columns=options.columns, keep=options.keep
    )
    seen = profile_table(table.frame, keep=table.kept)
    _check_kept(seen, table.kept)
    if not seen.of_kind():
        raise UserError(_empty_message(seen, table.left_out, separated=source.separated))
    choice = _choose(table.frame, seen, options, table.kept)
    record = methods.find(choice.method).method
    able = "missing values" in record.takes or choice.settings.get("metric") == "gower"
    if options.missing == "em" and not able:
        raise UserError(f"--missing em is for methods that take missing values; {record.name} takes error or drop.")
    missing = options.missing or ("em" if able else "error")
    data, holes = tables.check_values(choice.rows(table.frame), missing=missing, cures=cures)
    left_out, gone = {**_add_cures(choice, options), **table.left_out}, len(data) < len(table.frame)
    if gone:  # fewer rows carry less, and without holes a wide table can be reduced
        choice = _choose(data, profile_table(data, keep=choice.columns), options, choice.columns)
    return Input(
        title,
        source,
        data,
        choice,
        [*source.notes, *([holes] if holes else [])],
        options.id_column,
        left_out=left_out,
        dropped=None if not gone else "any" if missing == "drop" else "all",
    )


def _choose(frame: pd.DataFrame, seen: TableProfile, options: InputOptions, kept: Sequence[str]) -> Recommendation:
    choice = recommend_for(frame, seen, method=options.method, scale=options.scale, linked=options.linked)
    unread = [name for name in kept if name in choice.left_out]
    if unread:
        option = "--columns" if options.columns else "--keep"
        raise UserError(f"{option}: {unread[0]!r} cannot be used ({choice.left_out[unread[0]]}).")
    return choice


def _check_kept(seen: TableProfile, kept: Sequence[str]) -> None:
    unusable = [name for name in kept if name in seen.aside]
    if unusable:
        raise UserError(
            f"{unusable[0]!r} cannot be clustered ({seen.aside[unusable[0]]}). "
            "Encode it as numbers, write missing values as empty cells, or leave it out."
        )


def _read_distances(file: Path, options: InputOptions) -> Input:
    if used := [option for option, value in _column_options(options).items() if value]:
        raise UserError(f"{used[0]} is about the columns of a table; --distances has none.")
    data, source, id_column = tables.read_distances(file, id_column=options.id_column)
    choice = of_dissimilarities(profile_table(source.frame), method=options.method, linked=options.linked)
    return Input(str(file), source, data, choice, source.notes, id_column, distances=True)


def _column_options(options: InputOptions) -> dict[str, bool]:
    return {
        "--scale": options.scale not in ("none", "auto"),
        "--drop": bool(options.drop),
        "--columns": bool(options.columns),
        "--keep": bool(options.keep),
        "--missing": options.missing is not None,
    }


def _add_cures(choice: Recommendation, options: InputOptions) -> dict[str, str]:
    """Why columns were left out, with the option that takes them all the same."""
    roles = {column.name: column.role for column in choice.profile.columns}
    cures = {"classes": "; --keep {} clusters it"}
    if options.id_column is None:
        cures["names"] = "; --id {} takes it as their names"
    return {name: why + cures.get(roles[name], "").format(shlex.quote(name)) for name, why in choice.left_out.items()}


def _empty_message(seen: TableProfile, left_out: dict[str, str], *, separated: bool) -> str:
    reasons = {**left_out, **seen.aside}
    why = "; ".join(f"{name}: {reason}" for name, reason in list(reasons.items())[:8])
    if all(column.n_values == 1 for column in seen.columns):
        return f"Every column is constant, so nothing tells the rows apart ({why})."
    *most, last = tables.SEPARATORS.values()
    ran_together = f" If the columns ran together, separate them by {', '.join(most)} or {last}." if separated else ""
    return f"No column is left to cluster ({why}). Write missing values as empty cells.{ran_together}"
