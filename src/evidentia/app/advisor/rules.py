"""The rules that lead from a look at a table to a method, a scale and settings; they and their constants are all here.

Each rule gives its answer and a sentence that says why, so that whoever disagrees knows what to change. The constants
were chosen on generated tables and on tables with known classes that judge nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from evidentia import methods
from evidentia.app.advisor.columns import CATEGORIES, COUNTS, NUMBERS, TWO, as_frame, take_columns
from evidentia.app.advisor.n_clusters import Clusters, fit_number
from evidentia.app.advisor.table import TableProfile, profile_table
from evidentia.solvers.coordinates import SPREADS

SCALERS = {"standard": "StandardScaler", "robust": "RobustScaler", "minmax": "MinMaxScaler"}
ALL_PAIRS = 500  # objects: beyond, each is compared with some others only
PARTNERS = 100
USES = {
    "numbers": "All columns are numbers: a Gaussian mixture, ",
    "categories": "All columns are categories: a latent class mixture, ",
    "numbers and categories": "Numbers and categories side by side: a mixture of both, ",
    "links": "With links: ",
    "links with categories": "Links and columns of categories: ",
}
SETS = {
    "auto": "Sets of clusters only where clusters overlap.",
    "full": "Every set of clusters may hold mass.",
    "pairs": "Single clusters, pairs of them and all of them may hold mass.",
}


@dataclass(frozen=True)
class Recommendation:
    """A method for a table, and why.

    Attributes
    ----------
    profile : TableProfile
    method : str
        Short name of the method.
    scale : {"none", "standard", "robust", "minmax"}
        How columns of numbers are brought to a common scale first.
    settings : mapping
        Parameters of the method that are not at their default.
    columns : tuple of str
        The columns that the method reads.
    categories : tuple of str
        Those of them that are read as categories.
    left_out : mapping of str to str
        The other columns, and why.
    reasons : mapping of str to str
        What was decided ("method", "scale", or a parameter), and a sentence why.
    """

    profile: TableProfile
    method: str
    scale: str
    settings: Mapping[str, Any]
    columns: tuple[str, ...]
    categories: tuple[str, ...]
    left_out: Mapping[str, str]
    reasons: Mapping[str, str]
    _scaler: Any = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return " ".join(reason for reason in self.reasons.values() if reason)

    def rows(self, table: Any) -> pd.DataFrame:
        """The columns that the method reads, in the units of the table: numbers as float, the others as category."""
        return take_columns(as_frame(table), self.columns, self.categories)

    def prepare(self, table: Any) -> pd.DataFrame:
        """Rows as the method is given them: the chosen columns, on the chosen scale. New rows too."""
        rows = self.rows(table)
        return rows if self._scaler is None else self._scaler.transform(rows)

    def with_settings(self, **settings: Any) -> Recommendation:
        """The same choice with other settings of the method; what was decided about these is forgotten."""
        reasons = {what: why for what, why in self.reasons.items() if what not in settings}
        merged = MappingProxyType({**self.settings, **settings})
        return replace(self, settings=merged, reasons=MappingProxyType(reasons))

    def estimator(self) -> Any:
        """The method with its settings, unfitted."""
        return methods.find(self.method)(**self.settings)

    def fit(self, table: Any, n_clusters: Clusters = None, **settings: Any) -> Any:
        """The method, fitted to a table.

        Parameters
        ----------
        table : DataFrame or array-like
        n_clusters : int, (int, int) or None
            A number, a range to choose from, or what the method does by itself.
        **settings
            Parameters of the method, such as ``random_state=0``.

        Returns
        -------
        estimator
            ``partition_`` holds the result; ``predict(choice.prepare(new))`` places new rows.
        """
        asked = number_settings(methods.find(self.method), n_clusters)
        return fit_number(self.with_settings(**settings, **asked).estimator(), self.prepare(table), n_clusters)[0]


def recommend(
    table: Any,
    *,
    method: str = "auto",
    scale: str = "auto",
    keep: Sequence[str] = (),
    linked: bool = False,
    square: bool = True,
) -> Recommendation:
    """Choose a method for a table, the columns it reads, their scale and its settings.

    Parameters
    ----------
    table : DataFrame or array-like of shape (n_rows, n_columns)
        Rows are objects, but for a square of dissimilarities.
    method : str
        Short name of a method, or ``"auto"``.
    scale : {"auto", "none", "standard", "robust", "minmax"}
    keep : sequence of str
        Columns that are clustered even if they look like names or classes.
    linked : bool
        Whether pairs are known that belong together or apart: a method that takes links is chosen.
    square : bool
        Whether a square of dissimilarities is taken for one, and not for columns.

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> from evidentia.datasets import load
    >>> wine = load("wine", as_frame=True).data
    >>> choice = recommend(wine)
    >>> choice.method, choice.scale, dict(choice.settings)
    ('egmm', 'standard', {})
    >>> print(choice)  # doctest: +NORMALIZE_WHITESPACE, +ELLIPSIS
    All columns are numbers: a Gaussian mixture, EGMM. Spreads differ 2,530 times, more than 3: columns are
    standardized. ...
    >>> model = choice.fit(wine, n_clusters=3, random_state=0)
    >>> len(model.predict(choice.prepare(wine.head(2))))
    2
    """
    frame = as_frame(table)
    seen = profile_table(frame, keep=keep)
    if square and seen.dissimilarities and method == "auto":
        return of_dissimilarities(seen, linked=linked)
    return recommend_for(frame, seen, method=method, scale=scale, linked=linked)


def recommend_for(frame: pd.DataFrame, seen: TableProfile, *, method: str, scale: str, linked: bool) -> Recommendation:
    """:func:`recommend` for a table of columns that was looked at before."""
    _check_something_left(seen)
    reasons: dict[str, str] = {}
    if method == "auto":
        cls, reasons["method"] = method_rule(seen, linked=linked)
    else:
        cls = methods.find(method)
    columns, categories, unread = columns_rule(seen, cls)
    if not columns:
        raise ValueError(_nothing_to_read(cls, unread))
    mixed, asked = bool(categories) and reads_both(cls), scale
    if scale == "auto":
        scale, reasons["scale"] = scale_rule(seen) if not categories else ("none", scale_of_mixed(cls))
    elif categories and scale != "none":
        raise ValueError(f"The scale {scale!r} is for columns of numbers, and {categories[0]!r} holds categories.")
    settings: dict[str, Any] = {}
    if mixed:
        settings, reasons["n_pairs"] = mixed_settings(seen, cls, [name for name in columns if name not in categories])
    elif {"standardize", "reduce"} <= set(cls.parameters):
        settings, reasons["reduce"] = unit_settings(seen, asked)
    if "method" in reasons:
        reasons["focal_sets"] = sets_rule(cls)
    chosen = Recommendation(
        seen,
        cls.method.name,
        scale,
        MappingProxyType(settings),
        columns,
        categories,
        MappingProxyType({**seen.aside, **unread}),
        MappingProxyType(reasons),
    )
    return replace(chosen, _scaler=rescale(chosen.rows(frame), scale)[1])


# -- the rules --------------------------------------------------------------------------------------------------------


def method_rule(seen: TableProfile, *, linked: bool = False) -> tuple[Any, str]:
    """Return the class of the method for columns of these kinds, and the reason.

    Two numbers in a column are a category: within a cluster a Gaussian has no width there. A wide table is reduced to
    principal components, in which such columns are dissolved, so there they are numbers. Whole numbers of few values
    follow the company: numbers beside numbers, categories where there are no numbers at all.
    """
    numbers, text = seen.of_kind(NUMBERS), [column for column in seen.of_kind() if not column.numeric]
    two = [] if seen.wide else seen.of_kind(TWO)
    if linked:
        use = "links with categories" if text or (numbers and two) else "links"
    elif not numbers and (text or not seen.wide):
        use = "categories"
    else:
        use = "numbers and categories" if text or two else "numbers"
    cls = methods.best_for(use)
    return cls, f"{USES[use]}{cls.__name__}."


def columns_rule(seen: TableProfile, cls: Any) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """Columns that a method reads, those of them it reads as categories, and why it does not read the others."""
    record, all_columns = cls.method, seen.of_kind()
    text = [column.name for column in all_columns if not column.numeric]
    if "categories" in record.reads and "table" not in record.reads:
        read = seen.of_kind(COUNTS, TWO, CATEGORIES)
        why = f"numbers, of which {record.name} reads none"
        return tuple(c.name for c in read), tuple(c.name for c in read), {c.name: why for c in seen.of_kind(NUMBERS)}
    if reads_both(cls):
        two = [column.name for column in seen.of_kind(TWO)] if seen.of_kind(NUMBERS, COUNTS) or text else []
        categories = {*text, *two} if not seen.wide or text else set()
        return tuple(c.name for c in all_columns), tuple(c.name for c in all_columns if c.name in categories), {}
    why = f"text, of which {record.name} reads none; {_short_name('dissimilarities')} does"
    return tuple(c.name for c in all_columns if c.numeric), (), dict.fromkeys(text, why)


def scale_rule(seen: TableProfile) -> tuple[str, str]:
    """Standardize unless columns share their units.

    Mixtures with free covariances do not see units, but spherical ones, principal components and k-means do.
    """
    ratio = seen.spread_ratio
    differ = f"Spreads differ {ratio:,.{int(ratio < 10)}f} times"
    if ratio <= SPREADS:
        return "none", f"{differ}, no more than {SPREADS:g}: columns stay in their units."
    if seen.one_scale:
        return "none", f"{differ}, but most columns reach both ends of one range: they stay in their units."
    return "standard", f"{differ}, more than {SPREADS:g}: columns are standardized."


def reads_both(cls: Any) -> bool:
    """Whether a method reads numbers and categories side by side: by its criterion, or by Gower's dissimilarity."""
    return "metric" in cls.parameters or {"table", "categories"} <= set(cls.method.reads)


def scale_of_mixed(cls: Any) -> str:
    if not reads_both(cls):
        return ""
    if "metric" in cls.parameters:
        return "Gower's dissimilarity divides each column of numbers by its range."
    return "Numbers are divided by their standard deviation." if "number_weight" in cls.parameters else ""


def unit_settings(seen: TableProfile, scale: str) -> tuple[dict[str, Any], str]:
    """Return settings of a method that brings columns to one scale and reduces them, where they are not its defaults.

    Those above the noise of shuffled columns. On ten tables with known classes, of 150 to 1,080 rows and 30 to 2,000
    columns, they were level with the best number on eight, and close on two; a share of the variance keeps noise.
    """
    settings = {} if scale in ("auto", "standard") else {"standardize": False}
    if not seen.wide:
        return settings, ""
    width = f"{len(seen.of_kind()):,} columns are many for {seen.n_rows:,} rows"
    if seen.holes:
        return settings, f"{width}, but a table with missing values is not reduced."
    return settings | {"reduce": "pca"}, f"{width}: principal components, those that say more than noise."


def sets_rule(cls: Any) -> str:
    """Which sets of clusters may hold mass: the method's own default, said."""
    family = cls.parameters["focal_sets"].default if "focal_sets" in cls.parameters else None
    return SETS.get(str(family), "")


def mixed_settings(seen: TableProfile, cls: Any, numbers: list[str]) -> tuple[dict[str, Any], str]:
    """Which columns are numbers, or Gower's dissimilarity, of some pairs only when there are many objects."""
    if "metric" not in cls.parameters:
        return {"numbers": numbers}, ""
    settings: dict[str, Any] = {"metric": "gower"}
    if seen.n_rows <= ALL_PAIRS or "n_pairs" not in cls.parameters:
        return settings, ""
    return settings | {"n_pairs": PARTNERS}, f"Each of {seen.n_rows:,} rows is compared with {PARTNERS} others."


def of_dissimilarities(seen: TableProfile, *, method: str = "auto", linked: bool = False) -> Recommendation:
    """The choice for a square of dissimilarities."""
    reasons: dict[str, str] = {}
    settings: dict[str, Any] = {"metric": "precomputed"}
    if method == "auto":
        cls = methods.best_for("links with dissimilarities" if linked else "dissimilarities")
        method, reasons["method"] = cls.method.name, f"A square of dissimilarities: {cls.__name__}."
        if seen.n_rows > ALL_PAIRS:
            settings["n_pairs"] = PARTNERS
            reasons["n_pairs"] = f"Each of {seen.n_rows:,} objects is compared with {PARTNERS} others."
    names = tuple(column.name for column in seen.columns)[-seen.n_rows :]
    nothing: Mapping[str, str] = MappingProxyType({})
    return Recommendation(
        seen, method, "none", MappingProxyType(settings), names, (), nothing, MappingProxyType(reasons)
    )


def number_settings(cls: Any, clusters: Clusters) -> dict[str, Any]:
    """Settings that ask a method for a number of clusters, or to choose it where it can."""
    if isinstance(clusters, int):
        return {"n_clusters": clusters}
    if "searched" in cls.method.number:
        return {"n_clusters": "auto"} | ({} if clusters is None else {"cluster_range": clusters})
    return {}


# -- small things -----------------------------------------------------------------------------------------------------


def rescale(data: pd.DataFrame, scale: str) -> tuple[pd.DataFrame, Any]:
    """The table on the chosen scale, and the scikit-learn object that leads back (None when nothing was changed)."""
    if scale == "none":
        return data, None
    from sklearn import preprocessing

    scaler = getattr(preprocessing, SCALERS[scale])().set_output(transform="pandas")
    return scaler.fit_transform(data), scaler


def _check_something_left(seen: TableProfile) -> None:
    if seen.of_kind():
        return
    why = "; ".join(f"{name}: {reason}" for name, reason in list(seen.aside.items())[:8])
    constant = [column for column in seen.columns if column.n_values == 1]
    what = (
        "Every column is constant, so nothing tells the rows apart"
        if len(constant) == len(seen.columns)
        else ("No column is left to cluster")
    )
    raise ValueError(f"{what} ({why}).")


def _nothing_to_read(cls: Any, unread: Mapping[str, str]) -> str:
    names = ", ".join(list(unread)[:5]) + (" …" if len(unread) > 5 else "")
    name = cls.method.name
    if "categories" in cls.method.reads:
        return f"{name} reads categories, and all columns are numbers ({names}). {_short_name('numbers')} reads those."
    return (
        f"{name} reads numbers, and all columns are categories ({names}). {_short_name('categories')} reads those; "
        f"{_short_name('dissimilarities')} reads both."
    )


def _short_name(use: str) -> str:
    return methods.best_for(use).method.name
