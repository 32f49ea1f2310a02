"""Tables of other packages: polars and whatever narwhals knows, pyarrow, xarray, AnnData and MuData.

They become what every method reads, a DataFrame of pandas with the names of rows and columns. None of these packages is
imported here: whose table it is, its class says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_table", "preferred_part", "tables_beside"]

OURS = ("builtins", "numpy", "pandas", "scipy", "dask", "evidentia", "sklearn", "torch", "array")


def is_annotated(X: Any) -> bool:
    """Return whether X is an AnnData or MuData object."""
    return type(X).__module__.partition(".")[0] in ("anndata", "mudata")


def as_table(X: Any, use_rep: str | None = None) -> Any:
    """Return a table of another package as a DataFrame, and everything else as it is.

    Parameters
    ----------
    X : object
    use_rep : str, optional
        Of AnnData: a key of ``obsm`` or ``layers``, or ``"X"``, which is taken when nothing is said. Of MuData: a key
        of ``obsm``, or ``"rna"`` or ``"rna:X_pca"`` for a modality and its representation.

    Examples
    --------
    >>> import polars
    >>> as_table(polars.DataFrame({"age": [31, None], "sex": ["f", "m"]}))
        age sex
    0  31.0   f
    1   NaN   m
    """
    home = type(X).__module__.partition(".")[0]
    if home == "mudata":
        return _from_mudata(X, use_rep)
    if home == "anndata":
        return _from_anndata(X, use_rep)
    if use_rep is not None:
        raise TypeError(f"'use_rep' is for AnnData and MuData, and X is of type {type(X).__name__}. Leave it out.")
    if home in OURS:
        return X
    return _from_xarray(X) if home == "xarray" else _from_frame(X)


def take_objects(table: Any, rows: np.ndarray, square: bool = False) -> Any:
    """Return some of the objects of a table or list; ``square``: of dissimilarities, those between them."""
    if hasattr(table, "iloc"):
        return table.iloc[rows, rows] if square else table.iloc[rows]
    if square:
        return np.asarray(table)[np.ix_(rows, rows)]
    return table[rows] if hasattr(table, "shape") else [table[i] for i in rows.tolist()]


# -- packages ---------------------------------------------------------------------------------------------------------


def _from_frame(X: Any) -> Any:
    """Return any eager or lazy frame that narwhals knows as a DataFrame, and all else as it is."""
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return X
    import pandas as pd

    return pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns}, columns=frame.columns)


def _from_xarray(X: Any) -> Any:
    """Return a DataArray of two dimensions, rows first, or a Dataset whose variables are columns, as a DataFrame."""
    if hasattr(X, "data_vars"):
        dims = {tuple(variable.dims) for variable in X.data_vars.values()}
        if len(dims) != 1 or len(next(iter(dims))) != 1:
            shown = ", ".join(f"{name}{tuple(v.dims)}" for name, v in list(X.data_vars.items())[:5])
            raise ValueError(
                f"A Dataset is a table when all its variables run along one dimension, the objects. Got {shown}. Give "
                "a DataArray with the objects first, or stack dimensions: ds.stack(object=(...))."
            )
        return _drop_row_numbers(X.to_dataframe()[list(X.data_vars)], X, next(iter(dims))[0])
    if X.ndim != 2:
        raise ValueError(
            f"A DataArray is a table when it has two dimensions, objects and columns. Got {dict(X.sizes)}. Stack the "
            "others: array.stack(object=(...)).transpose('object', ...)."
        )
    return _drop_row_numbers(X.to_pandas(), X, X.dims[0])


def _drop_row_numbers(frame: Any, X: Any, objects: Any) -> Any:
    """Return a frame whose rows have names only if the dimension of the objects has."""
    frame = frame.rename_axis(index=None, columns=None)
    return frame if objects in X.coords else frame.reset_index(drop=True)


def _from_anndata(X: Any, use_rep: str | None) -> Any:
    if use_rep in (None, "X"):
        if X.X is None:
            raise ValueError(f"X of the AnnData object is empty. Name a representation by use_rep: {_keys(X)}.")
        return _annotate(X.X, X.obs_names, X.var_names)
    if use_rep in X.layers:
        return _annotate(X.layers[use_rep], X.obs_names, X.var_names)
    if use_rep in X.obsm:
        return _annotate(X.obsm[use_rep], X.obs_names, None, use_rep)
    raise ValueError(f"use_rep={use_rep!r} is not in the AnnData object. There is {_keys(X)}.")


def preferred_part(adata: Any) -> str:
    """Return the default part of an AnnData object to cluster: its principal components, or X without them."""
    return "X_pca" if "X_pca" in adata.obsm else "X"


def tables_beside(adata: Any, part: str) -> Any:
    """Return what an AnnData object has beside the clustered part: maps in ``obsm``, columns of ``obs``."""
    import pandas as pd

    tables = [as_table(adata, key) for key in adata.obsm if key != part]
    dense = [one for one in tables if isinstance(one, pd.DataFrame)]
    return pd.concat([*dense, adata.obs.add_prefix("obs ")], axis=1)


def _from_mudata(X: Any, use_rep: str | None) -> Any:
    joint = [key for key in X.obsm if key not in X.mod]  # the others say which objects a modality has
    there = [*map(repr, joint), *(f"{name!r}, '{name}:...'" for name in X.mod)]
    if use_rep in joint:
        return _annotate(X.obsm[use_rep], X.obs_names, None, str(use_rep))
    name, _, rep = (use_rep or "").partition(":")
    if name in X.mod:
        return _from_anndata(X.mod[name], rep or None)
    raise ValueError(
        f"A MuData object has several tables: name one by use_rep, {', '.join(there)}. Got use_rep={use_rep!r}."
    )


def _keys(X: Any) -> str:
    return ", ".join(["'X'", *map(repr, [*X.layers, *X.obsm])])


def _annotate(values: Any, rows: Any, columns: Any, prefix: str = "") -> Any:
    """Return values with the names of objects and columns; sparse ones stay as they are."""
    import pandas as pd
    from scipy.sparse import issparse

    if isinstance(values, pd.DataFrame) or issparse(values):
        return values
    array = np.asarray(values[:])  # of a file that is open, its numbers
    names = [f"{prefix}{j}" for j in range(array.shape[1])] if columns is None else columns
    return pd.DataFrame(array, index=rows, columns=names).rename_axis(index=None, columns=None)
