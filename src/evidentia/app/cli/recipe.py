"""Python code that repeats what a command did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evidentia.app.advisor.code import preparing_lines, reading_imports
from evidentia.app.advisor.n_clusters import Clusters, numbers_to_try
from evidentia.app.report.page import import_lines


def recipe(
    *,
    read: str,
    id_column: str | None,
    columns: Sequence[str],
    left_out: Sequence[str],
    dropped: str | None,
    scale: str,
    estimator: Any,
    clusters: Clusters,
    links: str | None = None,
    ensemble: int | None = None,
    categories: Sequence[str] = (),
) -> str:
    """Lines to paste: read the table, choose its columns, fit, print.

    ``read`` is an expression for the whole table, ``dropped`` the ``how`` of ``dropna`` when rows were left out,
    ``links`` the file of the links, ``ensemble`` how many further fits, ``categories`` the columns that are no numbers.

    Examples
    --------
    >>> from evidentia import EGMM
    >>> print(recipe(read="pd.read_csv('a.csv')", id_column=None, columns=["u", "v"], left_out=[], dropped=None,
    ...              scale="standard", estimator=EGMM(n_clusters=3, random_state=0), clusters=3))
    import pandas as pd
    from sklearn.preprocessing import StandardScaler
    <BLANKLINE>
    from evidentia import EGMM
    <BLANKLINE>
    X = pd.read_csv('a.csv').astype(float)
    X = StandardScaler().set_output(transform="pandas").fit_transform(X)
    model = EGMM(n_clusters=3, random_state=0).fit(X)
    print(model.partition_)
    """
    counts = numbers_to_try(estimator, clusters)
    imports, ours = reading_imports(read)
    lines = [f"X = {read}"]
    if id_column is not None:
        lines.append(f"X = X.set_index({id_column!r})")
    needed, lines = preparing_lines(
        before=lines, columns=columns, left_out=left_out, scale=scale, categories=categories, dropped=dropped
    )
    imports += needed
    others = ["select"] * bool(counts) + ["PairwiseConstraints"] * (links is not None) + ["ensemble"] * bool(ensemble)
    imports += ["from sklearn.base import clone"] * bool(ensemble)
    imports += ["", import_lines(estimator, *others)]
    imports += ours
    if counts:
        seed = estimator.get_params().get("random_state")
        lines.append(f"found = select(X, {estimator!r}, n_clusters={counts}, random_state={seed})")
        lines.append("model = found.estimator_")
    elif links is not None:
        lines.append(f'links = PairwiseConstraints.from_csv({links!r}, by="{"name" if id_column else "index"}")')
        lines.append(f"model = {estimator!r}.fit(X, constraints=links)")
    else:
        lines.append(f"model = {estimator!r}.fit(X)")
    if ensemble:
        fixed = ", ".join(f"{name}=model.{name}_" for name in fixed_by_a_fit(estimator))
        seed = estimator.get_params().get("random_state")
        lines.append(f"found = ensemble(X, clone(model).set_params({fixed}), n_fits={ensemble}, random_state={seed})")
    return "\n".join([*imports, "", *lines, f"print({'found.partition' if ensemble else 'model.partition_'})"])


def fixed_by_a_fit(estimator: Any) -> list[str]:
    """Parameters that a fit may find out and further ones are given: the number of clusters, the covariance model."""
    number = ["n_clusters"] * ("given" in estimator.method.number)
    kinds = [name for name in ("model", "covariance") if name in estimator.parameters]
    return number + [name for name in kinds if f"{name}_" in estimator.attributes]
