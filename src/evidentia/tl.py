"""Tools for AnnData and MuData, as scanpy has them: ``tl.egmm(adata)`` writes into ``obs``, ``obsm`` and ``uns``.

There is a tool for every clustering method, by its short name with ``_`` for ``-``: ``tl.ecm``, ``tl.evclus``,
``tl.latent_class``; ``dir(evidentia.tl)`` lists them.
"""

from __future__ import annotations

from typing import Any

from evidentia import methods
from evidentia.rows.tables import is_annotated

PREFERRED = "X_pca"


def cluster(
    adata: Any,
    method: str = "egmm",
    n_clusters: Any = None,
    *,
    use_rep: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    fit: dict[str, Any] | None = None,
    **settings: Any,
) -> Any:
    """Cluster the observations of an AnnData or MuData object, and write what was found into it.

    Parameters
    ----------
    adata : AnnData or MuData
    method : str
        Short name of a clustering method.
    n_clusters : int or "auto", optional
        As of the method; without it, what the method does by itself.
    use_rep : str, optional
        As in :func:`~evidentia.rows.tables.as_table`; without it ``"X_pca"``, or X where that is missing. A method on
        several views takes ``views=["X_pca", "protein"]`` instead.
    key_added : str, optional
        What the names of all that is written begin with; the name of the method unless another is given.
    copy : bool
        Write into a copy and return it.
    fit : dict, optional
        Further arguments of ``fit``, such as ``constraints``.
    **settings
        Parameters of the method, such as ``random_state=0``.

    Returns
    -------
    AnnData, MuData or None
        The copy, if one is asked for. Written are, after ``key_added``: ``obs`` ``_cluster``, ``_set``, ``_belief``,
        ``_plausibility``, ``_nonspecificity``, ``_outlier``; ``obsm`` ``_masses``; and ``uns``, with the names of the
        focal sets, the method, its settings and the representation.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from evidentia import tl
    >>> adata = anndata.AnnData(np.array([[0.0, 0], [1, 0], [0, 1], [9, 9], [8, 9], [9, 8]]))
    >>> tl.ecm(adata, 2, random_state=0)
    >>> adata.obs["ecm_cluster"].tolist()
    ['0', '0', '0', '1', '1', '1']
    >>> adata.uns["ecm"]["focal_sets"]
    ['{}', '{0}', '{1}']
    """
    if not is_annotated(adata):
        raise TypeError(f"evidentia.tl is for AnnData and MuData objects. Got {type(adata).__name__}; use fit(X).")
    adata = adata.copy() if copy else adata
    cls = methods.find(method)
    asked = {} if n_clusters is None else {"n_clusters": n_clusters}
    estimator = cls(**asked, **settings)
    if cls.method.reads_views:  # its parameter ``views`` names the representations
        model = estimator.fit(adata, **(fit or {}))
        use_rep = ", ".join(model.view_names_)
    else:
        if use_rep is None and PREFERRED in adata.obsm:
            use_rep = PREFERRED
        model = estimator.fit(adata, use_rep=use_rep, **(fit or {}))
    key = key_added or method.replace("-", "_")
    model.partition_.to_anndata(adata, key=key)
    told = {name: value for name, value in {**asked, **settings}.items() if isinstance(value, bool | int | float | str)}
    adata.uns[key] |= {"method": method, "params": told, "use_rep": use_rep or "X"}
    return adata if copy else None


def __getattr__(name: str) -> Any:
    method = name.replace("_", "-")
    if name.startswith("_") or method not in methods.clusterers():
        raise AttributeError(f"evidentia.tl has no tool {name!r}. There are {', '.join(__dir__())}.")

    def tool(adata: Any, n_clusters: Any = None, **more: Any) -> Any:
        return cluster(adata, method, n_clusters, **more)

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = cluster.__doc__
    return tool


def __dir__() -> list[str]:
    return ["cluster", *(name.replace("-", "_") for name in methods.clusterers())]
