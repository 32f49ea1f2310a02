"""What ``fit`` clusters: the columns of a table or a square of dissimilarities, and how it came to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from evidentia.cli import tables
from evidentia.cli.errors import UserError, listing
from evidentia.cli.fitting import Clusters
from evidentia.cli.recipe import recipe
from evidentia.cli.terminal import heading, labeled
from evidentia.methods import Method

SHOWN = 30  # names of columns


@dataclass(frozen=True)
class Input:
    """Rows to cluster (DataFrame, named by ``id_column``), and what is worth telling about them."""

    file: Path
    source: tables.Source
    data: pd.DataFrame
    notes: list[str]
    id_column: str | None = None
    distances: bool = False
    left_out: dict[str, str] | None = None
    scale: str = "none"
    dropped: str | None = None  # the ``how`` of dropna, where rows with holes were left out

    def check_links(self, links: Path | None) -> None:
        if links is not None and self.dropped is not None and self.id_column is None:
            raise UserError("--links count rows, and --missing drop takes some away. Name the objects by --id instead.")

    def print_heading(self) -> None:
        """Which columns are used, and which are not, and why."""
        if self.distances:
            heading(f"{self.file}: dissimilarities of {len(self.data)} objects")
            return
        heading(f"{self.file}: {len(self.source.frame)} rows, {self.source.frame.shape[1]} columns")
        labeled("clustered", listing(list(self.data.columns), SHOWN))
        if self.id_column is not None:
            labeled("names", f"{self.id_column} (--id)")
        if self.left_out:
            labeled("left out", listing([f"{name} ({why})" for name, why in self.left_out.items()], SHOWN))

    @property
    def words(self) -> dict[str, Any]:
        """For the settings of the report."""
        names = {"object names": self.id_column or "row numbers, from 0"}
        if self.distances:
            return {"file": self.file, "objects": len(self.data), **names}
        return {
            "file": self.file,
            "rows": len(self.data),
            "columns": ", ".join(self.data.columns),
            "left out": "; ".join(f"{name}: {why}" for name, why in (self.left_out or {}).items()) or "nothing",
            **names,
            "scale": self.scale,
        }

    def recipe(self, estimator: Any, clusters: Clusters, links: Path | None) -> str:
        """Python code that does the same."""
        return recipe(
            read=self.source.code,
            id_column=self.id_column,
            columns=self.data.columns.tolist(),
            left_out=list(self.left_out or {}),
            dropped=self.dropped,
            scale=self.scale,
            estimator=estimator,
            clusters=clusters,
            links=None if links is None else str(links),
        )


def read(
    file: Path,
    *,
    distances: bool,
    scale: str,
    id_column: str | None,
    drop: Sequence[str],
    columns: Sequence[str],
    missing: str | None,
    method: Method,
    cures: str = "--missing drop leaves these rows out",
) -> Input:
    """The rows that a method clusters; ``missing`` is None when the method may choose what to do with holes."""
    if distances:
        wished = {"--scale": scale != "none", "--drop": drop, "--columns": columns, "--missing": missing}
        if used := [option for option, value in wished.items() if value]:
            raise UserError(f"{used[0]} is about the columns of a table; --distances has none.")
        data, source, id_column = tables.read_distances(file, id_column=id_column)
        return Input(file, source, data, source.notes, id_column, distances=True)
    able = "missing values" in method.takes
    if missing == "em" and not able:
        raise UserError(f"--missing em is for methods that take missing values; {method.name} takes error or drop.")
    missing = missing or ("em" if able else "error")
    source = tables.read_table(file, id_column=id_column)
    table = tables.choose_columns(source.frame, id_column=id_column, drop=drop, columns=columns)
    data, holes = tables.check_values(table.data, missing=missing, cures=cures)
    gone = len(data) < len(table.data)
    return Input(
        file,
        source,
        data,
        [*source.notes, *([holes] if holes else [])],
        id_column,
        left_out=table.left_out,
        scale=scale,
        dropped=None if not gone else "any" if missing == "drop" else "all",
    )
