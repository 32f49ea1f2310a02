"""A model that takes the rows of a table as they stand in a file: it knows its columns and their scale."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evidentia.app.advisor.columns import as_frame, take_columns
from evidentia.rows import RowSource
from evidentia.rows.source import TransformedRows
from evidentia.solvers.coordinates import ColumnScales
from evidentia.storage import save_model


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted model, and how the rows of a table become what it was fitted to.

    ``evidentia fit --out`` writes one as ``model.npz``, which :func:`evidentia.load_model` reads.

    Parameters
    ----------
    model : estimator
        Fitted.
    columns : tuple of str, optional
        The columns it reads, by name and in order; without, all that the table has.
    categories : tuple of str
        Those of them that are no numbers.
    scales : ColumnScales, optional
        What is taken from each column of numbers, and what it is divided by.
    id_column : str, optional
        The column that named the objects.

    Examples
    --------
    >>> from evidentia import ECM
    >>> table = pd.DataFrame({"height": [150.0, 152, 190, 191], "note": list("abcd")})
    >>> tall = TableModel(ECM(2, random_state=0).fit(table[["height"]]), columns=("height",))
    >>> tall.predict(pd.DataFrame({"age": [3.0], "height": [189.0]})) == tall.model.labels_[3]
    array([ True])
    >>> tall.predict(pd.DataFrame({"hight": [189.0]}))
    Traceback (most recent call last):
        ...
    ValueError: The table has no column 'height', which was clustered. It has hight.
    """

    model: Any
    columns: tuple[str, ...] | None = None
    categories: tuple[str, ...] = ()
    scales: ColumnScales | None = None
    id_column: str | None = None

    @property
    def partition_(self) -> Any:
        """The partition of the rows that were fitted."""
        return self.model.partition_

    @property
    def centers(self) -> Any:
        """Centers of the clusters in the units of the table, shape (n_clusters, n_columns); None if there are none."""
        found = getattr(self.model, "cluster_centers_", None)
        return found if found is None or self.scales is None else self.scales.inverse_transform(found)

    @property
    def covariances(self) -> Any:
        """Covariances of the clusters in the units of the table; None if the model has none."""
        found = getattr(self.model, "covariances_", None)
        if found is None or self.scales is None:
            return found
        return found * np.outer(self.scales.deviation, self.scales.deviation)

    def rows(self, table: Any) -> pd.DataFrame:
        """The columns that the model reads, in the units of the table."""
        frame = as_frame(table)
        if self.columns is not None:
            return take_columns(frame, self.columns, self.categories)
        if frame.shape[1] != self.model.n_features_in_:
            raise ValueError(
                f"The model reads {self.model.n_features_in_} columns that have no names, and the table has "
                f"{frame.shape[1]}: {', '.join(frame.columns)}. Give those that were clustered, in their order."
            )
        return frame

    def prepare(self, table: Any) -> Any:
        """Rows as the model is given them."""
        rows = self.rows(table)
        if self.scales is not None:
            rows = pd.DataFrame(self.scales.transform(rows.to_numpy()), index=rows.index, columns=rows.columns)
        return rows if hasattr(self.model, "feature_names_in_") or self.categories else rows.to_numpy()

    def predict_partition(self, table: Any) -> Any:
        """Credal partition of new rows: a table with the columns by name, or rows that are not in memory."""
        if isinstance(table, RowSource):
            return self.model.predict_partition(table if self.scales is None else TransformedRows(table, self.scales))
        return self.model.predict_partition(self.prepare(table))

    def predict(self, table: Any) -> Any:
        """Cluster of each new row, shape (n_samples,)."""
        return self.predict_partition(table).labels()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file, as all models are, see :mod:`evidentia.storage`."""
        return save_model(self, path)


def scales_of(scaler: Any) -> ColumnScales | None:
    """What a scaler of scikit-learn takes from each column, and divides it by; nothing if there is none."""
    if scaler is None:
        return None
    ends = pd.DataFrame(
        [[0.0] * scaler.n_features_in_, [1.0] * scaler.n_features_in_], columns=scaler.feature_names_in_
    )
    origin, one = scaler.inverse_transform(ends)
    return ColumnScales(origin, one - origin)
