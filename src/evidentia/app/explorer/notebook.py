"""The explorer in a cell of a notebook."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from evidentia import methods
from evidentia.app.advisor.columns import as_frame
from evidentia.app.explorer.segments import ImageExploration
from evidentia.app.explorer.serving import page_module
from evidentia.app.explorer.state import Exploration
from evidentia.app.explorer.steps import Settings
from evidentia.app.images import Image
from evidentia.app.script import changed_parameters
from evidentia.constraints import PairwiseConstraints
from evidentia.partition import CredalPartition
from evidentia.rows.tables import as_table, preferred_part, tables_beside

OURS = ("n_clusters", "cluster_range", "random_state", "verbose", "n_jobs")  # said by settings in other words


class Explorer:
    """An exploration, and the views of it that a notebook shows.

    Attributes
    ----------
    exploration : Exploration or ImageExploration
        All that can be done in the page can be done with it, too.
    partition_ : CredalPartition
        Of the objects of a table, or of the distinct pixels of an image (``exploration.segmentation_`` maps them).
    constraints_ : PairwiseConstraints
        What was said so far of a table.
    """

    def __init__(self, exploration: Exploration | ImageExploration):
        page, is_image = page_module("page"), isinstance(exploration, ImageExploration)
        kind = page_module("image").ImagePage if is_image else page_module("app").TablePage
        page_module("offline").prepare(notebook=True)
        self.exploration = exploration
        self.page = kind(page.Hub(exploration), narrow=True)
        self.view = page.start_page(self.page)

    @property
    def partition_(self) -> CredalPartition:
        return self.exploration.partition_

    @property
    def constraints_(self) -> PairwiseConstraints:
        if isinstance(self.exploration, ImageExploration):
            raise AttributeError("What was said of an image are strokes and answers: exploration.step has them.")
        return self.exploration.constraints_

    def script(self) -> str:
        """Python code that repeats everything; put what reads your table or image in place of its dots."""
        return self.page.files()["script"][1]().decode()

    def __repr__(self) -> str:
        return f"Explorer({len(self.partition_)} objects, {len(self.exploration.steps)} steps)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.view._repr_mimebundle_(include, exclude)


def explore(X: Any, model: Any = None, *, folder: str | os.PathLike[str] | None = None) -> Explorer:
    """Look at a table or an image and its groups in a notebook, say what you know, and see what moves.

    The same from the command line, in the browser: ``evidentia explore table.csv``.

    Parameters
    ----------
    X : DataFrame, array-like of shape (n_samples, n_features), AnnData, or Image
        Objects are named by the index of a DataFrame. Of an AnnData object its principal components (``X_pca``) are
        clustered, or X without them, and the maps in ``obsm`` can be chosen as coordinates. Images are told from
        tables by :func:`evidentia.app.images.read_image` or ``Image.from_data``.
    model : estimator, optional
        For a table; fitted to X, or not yet. Without it :func:`~evidentia.app.advisor.recommend` decides.
    folder : path, optional
        Where every step is kept, and taken up again.

    Returns
    -------
    Explorer
        Shows itself as the last value of a cell; ``explorer.partition_`` and ``explorer.constraints_`` are the state.
    """
    page_module("page")  # what is missing is told before anything is fitted
    if isinstance(X, Image):
        if model is not None:
            raise ValueError("An image takes no model: choose the method in the page, or by exploration.set.")
        segments = ImageExploration(X, folder=folder)
        segments.begin()
        return Explorer(segments)
    table, columns = _as_table(X)
    settings = Settings("auto", None, columns)
    if model is not None:
        settings = settings_of(model, columns)
    exploration = Exploration(table, settings, folder=folder)
    fitted = model is not None and hasattr(model, "partition_") and len(model.partition_) == len(table)
    exploration.begin(model if fitted else None)
    return Explorer(exploration)


def settings_of(model: Any, columns: tuple[str, ...]) -> Settings:
    """Settings that make such a model of columns as they are."""
    record, given = methods.record(model), model.get_params(deep=False)
    changed = {name: value for name, value in changed_parameters(model).items() if name not in OURS}
    seed = given.get("random_state")
    settings = Settings(record.name, None, columns, scale="none", parameters=MappingProxyType(changed))
    clusters = given.get("n_clusters")
    if isinstance(clusters, int):
        settings = replace(settings, clusters=clusters)
    elif "searched" in record.number and "cluster_range" in given:
        settings = replace(settings, clusters=tuple(given["cluster_range"]))
    return replace(settings, seed=seed) if isinstance(seed, int) else settings


def _as_table(X: Any) -> tuple[Any, tuple[str, ...]]:
    """All columns that can be shown, and the names of those that are clustered."""
    import pandas as pd

    if not hasattr(X, "obsm"):
        if isinstance(X, Mapping) or (isinstance(X, list | tuple) and len(X) and all(np.ndim(one) == 2 for one in X)):
            raise ValueError(
                "The explorer shows one table, and X is several. Put them side by side, each column with a name of its "
                "own, and say which columns are a view: explore(table, WMVEC(4, views={'first': [...], ...}))."
            )
        frame = as_frame(X)
        return frame, tuple(map(str, frame.columns))
    rep = preferred_part(X)
    clustered = as_table(X, rep)
    if hasattr(clustered, "toarray"):
        clustered = pd.DataFrame(clustered.toarray(), index=X.obs_names, columns=X.var_names)
    return pd.concat([clustered, tables_beside(X, rep)], axis=1), tuple(map(str, clustered.columns))
