"""Several views of the same objects, in whatever form they come.

A view is a table (or a matrix of dissimilarities) of its own. Views come as a list or dict of tables, as one table with
groups of columns, or as an AnnData or MuData object; from here on they are arrays with a row for every object, in one
order. An object that is absent from a view has a row of NaN there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from evidentia._objects import can_have_names, match_names, row_names
from evidentia.rows.tables import as_table, is_annotated

SHOWN = 5  # names in a message
ALONE = {False: "ECM takes one table", True: "SECMdd takes one matrix"}


@dataclass(frozen=True)
class Views:
    """Tables of the same objects.

    Attributes
    ----------
    names : tuple of str
    tables : tuple of array-like
        Of shape (n_samples, n_columns of the view) each.
    columns : tuple of tuple of str, or None
        Names of the columns of each view, None where it has none.
    object_names : tuple of str, or None
    """

    names: tuple[str, ...]
    tables: tuple[Any, ...]
    columns: tuple[tuple[str, ...] | None, ...]
    object_names: tuple[str, ...] | None

    def __len__(self) -> int:
        """Number of objects."""
        return len(self.tables[0])


def read_views(X: Any, views: Any = None, *, who: str, matrices: bool = False) -> Views:
    """Return the views of X, their rows brought into one order.

    Parameters
    ----------
    X : list or dict of tables, table, AnnData or MuData
    views : dict, list, optional
        Of one table: the columns of each view, by name or number. Of AnnData and MuData: representations, as in
        :func:`~evidentia.rows.tables.as_table`; without it all modalities. Of a dict: which of them.
    who : str
        For messages.
    matrices : bool
        Whether views are matrices of dissimilarities: named rows are then named columns too, and AnnData has them in
        ``obsp``.

    Examples
    --------
    An object of the second table is not in the first.

    >>> import pandas as pd
    >>> blood = pd.DataFrame({"iron": [1.0, 2.0]}, index=["ann", "bob"])
    >>> scan = pd.DataFrame({"size": [7.0, 8.0, 9.0]}, index=["bob", "ann", "cem"])
    >>> found = read_views({"blood": blood, "scan": scan}, who="me")
    >>> found.object_names, found.tables[0]["iron"].tolist(), found.tables[1]["size"].tolist()
    (('ann', 'bob', 'cem'), [1.0, 2.0, nan], [8.0, 7.0, 9.0])
    """
    parts = {name: as_table(table) for name, table in split_views(X, views, who=who, matrices=matrices).items()}
    for name, table in parts.items():
        if issparse(table):
            raise TypeError(f"{who} needs dense tables, but view {name!r} of X is sparse. Give view.toarray().")
        if len(shape := _shape(table)) != 2:
            raise ValueError(f"{who} needs a table with rows and columns in view {name!r} of X. Got shape {shape}.")
    tables, object_names = _in_one_order(parts, who, matrices)
    return Views(tuple(parts), tuple(tables), tuple(map(_column_names, parts.values())), object_names)


# -- what the views are -----------------------------------------------------------------------------------------------


def split_views(X: Any, views: Any = None, *, who: str, matrices: bool = False) -> dict[str, Any]:
    """Return the tables by the names of their views; those of a list are called by their place."""
    if is_annotated(X):
        return _annotated_views(X, views, who, matrices)
    if isinstance(X, Mapping):
        return {str(name): X[name] for name in _choose_names(list(X), views, who)}
    if _is_list_of_tables(X):
        if views is not None and not (_are_names(views) and len(views) == len(X)):
            raise ValueError(
                f"The 'views' parameter of {who} must name the {len(X)} tables of X, one word for each. Got {views!r}."
            )
        return {str(name): table for name, table in zip(views or range(len(X)), X)}
    table = as_table(X)
    if isinstance(views, Mapping):
        return {str(name): _columns(table, columns, str(name), who) for name, columns in views.items()}
    if getattr(getattr(table, "columns", None), "nlevels", 1) > 1:
        there = list(dict.fromkeys(table.columns.get_level_values(0)))
        return {str(name): table[name] for name in _choose_names(there, views, who)}
    raise ValueError(
        f"{who} needs several views of the same objects, and X is one table. Give a list or dict of tables, or say "
        f"which columns are a view: {who}(views={{'first': [...], 'second': [...]}}). {ALONE[matrices]}."
    )


def _is_list_of_tables(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return X.ndim == 3
    return isinstance(X, list | tuple) and len(X) > 0 and all(len(_shape(one)) == 2 for one in X)


def _shape(table: Any) -> tuple[int, ...]:
    """Return the shape; none for rows of different length, and for what is not a table."""
    try:
        return np.shape(table)
    except ValueError:
        return ()


def _are_names(views: Any) -> bool:
    return isinstance(views, Sequence) and not isinstance(views, str) and all(isinstance(one, str) for one in views)


def _choose_names(there: list[Any], views: Any, who: str) -> list[Any]:
    """Return the views that are asked for, all of them unless some are named."""
    if views is None:
        return there
    if unknown := [one for one in views if one not in there]:
        raise ValueError(
            f"The 'views' parameter of {who} must name views of X, {', '.join(map(repr, there[:SHOWN]))}. "
            f"Got {unknown[0]!r}."
        )
    return list(views)


def _columns(table: Any, columns: Any, name: str, who: str) -> Any:
    """Return some columns of a table, by their names, or their numbers where it has none."""
    wanted = [columns] if isinstance(columns, str) else list(columns)
    frame = hasattr(table, "columns")
    there = list(table.columns) if frame else range(np.shape(table)[1])
    if missing := [one for one in wanted if one not in there]:
        raise ValueError(
            f"The 'views' parameter of {who} must name columns of X, but view {name!r} asks for {missing[0]!r}. "
            f"There is {', '.join(map(repr, list(there)[:SHOWN]))}{' …' * (len(there) > SHOWN)}."
        )
    return table[wanted] if frame else np.asarray(table)[:, np.array(wanted, dtype=int)]


def _annotated_views(X: Any, views: Any, who: str, matrices: bool) -> dict[str, Any]:
    names = list(views) if views is not None else list(getattr(X, "mod", ())) if not matrices else []
    if not names:
        there = list(X.obsp) if matrices else ["X", *X.layers, *X.obsm] if hasattr(X, "layers") else list(X.mod)
        raise ValueError(
            f"The 'views' parameter of {who} must name several parts of an {type(X).__name__} object: "
            f"{', '.join(map(repr, there))}. Got {views!r}."
        )
    if not matrices:
        return {str(name): as_table(X, str(name)) for name in names}
    import pandas as pd

    return {
        name: pd.DataFrame(_dense(X.obsp[name]), index=X.obs_names, columns=X.obs_names)
        for name in _choose_names(list(X.obsp), names, who)
    }


def _dense(values: Any) -> np.ndarray:
    return values.toarray() if hasattr(values, "toarray") else np.asarray(values)


def _column_names(table: Any) -> tuple[str, ...] | None:
    return tuple(map(str, table.columns)) if hasattr(table, "columns") else None


# -- rows in one order ------------------------------------------------------------------------------------------------


def _in_one_order(parts: dict[str, Any], who: str, matrices: bool) -> tuple[list[Any], tuple[str, ...] | None]:
    """Return the tables with the same objects in the same order, and the names of these."""
    names = {view: row_names(table) for view, table in parts.items()}
    for view, listed in names.items():
        if listed is not None and len(set(listed)) < len(listed):
            twice = next(one for one in listed if listed.count(one) > 1)
            raise ValueError(
                f"Objects of {who} are joined by their names, but {twice!r} comes twice in view {view!r}. Give every "
                "row a name of its own, or drop the names: table.reset_index(drop=True)."
            )
    given = [one for one in names.values() if one is not None]
    if len(given) == len(parts) and any(one != given[0] for one in given):
        return _join(parts, names, who, matrices)
    named = next((view for view in parts if names[view] is not None), None)
    for view, table in parts.items():
        if named is not None and names[view] is None and can_have_names(table):
            match_names(names[named], None, (f"view {named!r} of {who}", f"view {view!r}"))
    sizes = {view: len(table) for view, table in parts.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{view!r} has {size}" for view, size in sizes.items())
        raise ValueError(
            f"{who} needs a row for every object in every view: {shown}. Give tables with the names of the objects as "
            "their index, so that they can be joined, or a row of NaN for an object that is absent from a view."
        )
    if given and any(one != given[0] for one in given):
        raise ValueError(
            f"{who} cannot join views by the names of their rows when some have none, and those that are there differ: "
            f"{_difference(names)}. Give every view names, or none."
        )
    if matrices:
        for view, table in parts.items():
            _square(table, view, who)
    return list(parts.values()), given[0] if given else None


def _join(parts: dict[str, Any], names: dict[str, Any], who: str, matrices: bool) -> tuple[list[Any], Any]:
    """Return tables joined by the names of their rows; NaN where an object is absent."""
    for view in parts:
        others = {one for other, listed in names.items() if other != view for one in listed}
        if not others.intersection(names[view]):
            raise ValueError(
                f"View {view!r} of {who} has none of the objects of the others: its first is {names[view][0]!r}, "
                f"theirs {next(listed for other, listed in names.items() if other != view)[0]!r}. Give the same names "
                "to the same objects."
            )
    union = list(dict.fromkeys(one for listed in names.values() for one in listed))
    tables = []
    for view, table in parts.items():
        plain = table.set_axis(list(names[view]), axis=0)
        if matrices:
            _square(table, view, who)
            plain = plain.set_axis(list(names[view]), axis=1).reindex(columns=union)
        tables.append(plain.reindex(union))
    return tables, tuple(union)


def _square(table: Any, view: str, who: str) -> None:
    """Refuse a matrix whose columns are other objects than its rows."""
    rows, columns = row_names(table), _column_names(table)
    if rows is not None and columns is not None and rows != columns:
        at = next((k for k, (a, b) in enumerate(zip(rows, columns)) if a != b), min(len(rows), len(columns)))
        raise ValueError(
            f"{who} needs the same objects in the rows and columns of view {view!r}, but row {at} and column {at} have "
            "different names. Give the matrix with both in one order: D.loc[names, names]."
        )


def _difference(names: Mapping[str, Any]) -> str:
    first, mine = next((view, one) for view, one in names.items() if one is not None)
    other, theirs = next((view, one) for view, one in names.items() if one not in (None, mine))
    at = next(k for k, (a, b) in enumerate(zip(mine, theirs)) if a != b)
    return f"row {at} is {mine[at]!r} in {first!r} and {theirs[at]!r} in {other!r}"
