"""What each method is, said once: the record on its class, and the list of all of them.

Selection, the command line, segmentation, the checks and the tables of the documentation read these records, so a
method that has one is known everywhere.

>>> from evidentia import methods
>>> methods.find("ecm")
<class 'evidentia.prototypes.ecm.ECM'>
>>> methods.find("ecm").method.number
('given',)
>>> [name for name, cls in methods.clusterers().items() if "categories" in cls.method.reads]
['latent-class', 'latent-profile', 'catecm']
"""

from __future__ import annotations

import difflib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from textwrap import fill
from types import MappingProxyType
from typing import Any

import sklearn

from evidentia._docstrings import join_sections, section, split_sections

__all__ = ["Method", "all_methods", "best_for", "clusterers", "find", "record", "register"]

FAMILIES = ("mixtures", "prototypes", "relational", "neural", "hierarchy", "metric_learning", "experimental", "views")

WEIGHT_CHECKS = tuple(f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))
# Before scikit-learn 1.7 the check on sparse data passes over a TypeError, and that is how weights are refused.
PASSED_OVER = WEIGHT_CHECKS[1:] if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7) else ()
CHECKS_THAT_WEIGH = (
    "check_all_zero_sample_weights_error", "check_sample_weights_list", "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten", "check_sample_weights_pandas_series", "check_sample_weights_shape",
    *(check for check in WEIGHT_CHECKS if check not in PASSED_OVER),
)  # fmt: skip
WITHOUT_WEIGHTS = "all methods have one signature of fit, and this one refuses weights with a sentence"
READS = ("table", "dissimilarities", "categories", "mass functions", "views", "views of dissimilarities")
TAKES = ("links", "labels", "partial labels", "weights", "missing values", "rows beyond memory")
NUMBER = ("given", "searched", "found")
USES = (
    "numbers", "categories", "numbers and categories", "dissimilarities", "links", "links with categories",
    "links with dissimilarities", "images", "images with links", "peaks", "trees",
)  # fmt: skip
NOT_COMPARED = "not compared with its article"
WIDTH = 110


@dataclass(frozen=True, kw_only=True)
class Method:
    """What a method is.

    Parameters
    ----------
    name : str
        Short name, as in ``select(X, "ecm")`` and ``evidentia fit --method ecm``.
    title : str
        What it is, in a line.
    papers : tuple of str
    guide : str
        Its page in the user guide.
    reads : tuple of {"table", "dissimilarities", "categories", "mass functions", "views", "views of dissimilarities"}
        What X may be: the last two are several tables, or matrices, of the same objects.
    takes : tuple of {"links", "labels", "partial labels", "weights", "missing values", "rows beyond memory"}
        What ``fit`` takes beside it, as ``constraints``, ``y``, ``partial_labels``, ``sample_weight``; NaN in X; and
        rows of ``open_rows`` as X, with ``checkpoint``.
    number : tuple of {"given", "searched", "found"}
        Ways to the number of clusters: ``n_clusters`` says it; ``n_clusters="auto"`` tries those of ``cluster_range``
        and takes the best by a criterion; it comes out of a single fit.
    families : tuple of str
        Named families of focal sets that ``focal_sets`` accepts; none where the family is fixed.
    empty_set : bool
        Whether objects can be outliers.
    labels : {"plausibility", "pignistic", "belief"}
        The rule behind ``labels_`` and ``predict``, as the method's paper has it.
    criterion : {"minimized", "maximized"}, optional
        Which way ``criterion_`` and its trace go; None for a method that has none.
    power : int
        Power of the number of objects with which time and memory grow: 2 where all pairs of objects are compared (those
        with a parameter ``n_pairs`` compare all while that is None).
    grows, memory : str
        How time (of an iteration, or in all) and memory beyond the table grow, for n objects, p columns, c clusters,
        f focal sets, k partners, K neighbors. ``{n}`` stands for n to the ``power``.
    doubt : str
        In what form a result says what is not known.
    limit : str
        What to know before taking it.
    sources : str
        What its formulas were taken from, where they were not compared with the article; empty otherwise.
    as_in_paper : str
        The call that makes the method of its paper, with c clusters, or what comes nearest to it.
    differs : str
        What of the paper is left open by that call, or different.
    chosen_for : tuple of str
        Uses (``USES``) for which applications take it unless another method is asked for; each use has one method.
    for_images : dict
        Settings for the pixels of an image, where these are not the defaults.
    learner : bool
        Whether it learns a metric and makes no partition.
    quick : dict
        Settings that make a small fit quick, for checks and previews.
    exceptions : dict
        scikit-learn's checks that it cannot pass, each with the reason.
    """

    name: str
    title: str
    papers: tuple[str, ...]
    guide: str
    reads: tuple[str, ...] = ("table",)
    takes: tuple[str, ...] = ()
    number: tuple[str, ...] = ("given",)
    families: tuple[str, ...] = ()
    empty_set: bool = False
    labels: str = "plausibility"
    criterion: str | None = "minimized"
    power: int = 1
    grows: str = ""
    memory: str = ""
    doubt: str = ""
    limit: str = ""
    sources: str = ""
    as_in_paper: str = ""
    differs: str = ""
    chosen_for: tuple[str, ...] = ()
    for_images: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    learner: bool = False
    quick: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    exceptions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def reads_sparse(self) -> bool:
        """Whether X may be a sparse matrix."""
        return "rows beyond memory" in self.takes and "table" in self.reads

    @property
    def reads_views(self) -> bool:
        """Whether X is several tables or matrices, so that what is made for one of them does not apply."""
        return bool({"views", "views of dissimilarities"} & set(self.reads))

    @property
    def line(self) -> str:
        """The title, with a mark where the formulas were not compared with the article."""
        return f"{self.title} ({NOT_COMPARED})" if self.sources else self.title

    def complete(self, doc: str) -> str:
        """The docstring of a class with what its record says of articles: a warning, and how to get the paper's method.

        >>> print(Method(name="x", title="x", papers=(), guide="x", sources="the abstract").complete("What it does."))
        What it does.
        <BLANKLINE>
        Warnings
        --------
        The formulas were not compared with the article. They were taken from the abstract.
        """
        head, sections = split_sections(doc)
        said: dict[str, str] = {}
        if self.sources:
            text = f"The formulas were not compared with the article. They were taken from {self.sources}."
            said["Warnings"] = section("Warnings", [fill(text, WIDTH)])
        if self.as_in_paper:
            words = fill(re.sub("`+", "``", self.differs), WIDTH)
            paper = f"*The paper's method*, with c clusters::\n\n    {self.as_in_paper}\n\n{words}"
            notes = sections.get("Notes", section("Notes", [])).split("\n", 2)
            said["Notes"] = "\n".join([*notes[:2], "\n\n".join([paper, *notes[2:]])])
        return join_sections(head, {**said, **sections, **said})

    @property
    def failing_checks(self) -> dict[str, str]:
        """scikit-learn's checks that it cannot pass, each with the reason: its own, and those of its record."""
        why = "the check takes whatever reads sparse matrices and has predict_proba for a classifier"
        sparse = {f"check_estimator_sparse_{kind}": why for kind in ("array", "matrix")} if self.reads_sparse else {}
        weighed = {} if "weights" in self.takes or self.learner else dict.fromkeys(CHECKS_THAT_WEIGH, WITHOUT_WEIGHTS)
        return {**sparse, **weighed, **self.exceptions}

    def __post_init__(self) -> None:
        for name in ("grows", "memory"):
            words = getattr(self, name).replace("{n}", {1: "n", 2: "n²"}[self.power])
            object.__setattr__(self, name, words)  # the record is frozen once it is made
        for name, known in (("reads", READS), ("takes", TAKES), ("number", NUMBER), ("chosen_for", USES)):
            if unknown := set(getattr(self, name)) - set(known):
                raise ValueError(f"'{name}' of method {self.name!r} may hold {known}. Got {sorted(unknown)}.")


_REGISTERED: dict[str, type] = {}


def register(cls: Any) -> None:
    """Enter a class by the name in its record; a class that is defined again replaces itself."""
    other = _REGISTERED.get(cls.method.name)
    if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"{cls.__qualname__} and {other.__qualname__} both call themselves {cls.method.name!r}.")
    _REGISTERED[cls.method.name] = cls


def _load() -> None:
    """Import every module of the families, so that their methods are registered."""
    for family in FAMILIES:
        package = import_module(f"evidentia.{family}")
        for module in pkgutil.iter_modules(package.__path__):
            import_module(f"evidentia.{family}.{module.name}")


def all_methods() -> dict[str, Any]:
    """Every class that has a record, by its short name, family by family."""
    _load()
    places = {f"evidentia.{family}": place for place, family in enumerate(FAMILIES)}
    return dict(
        sorted(
            _REGISTERED.items(),
            key=lambda item: (places.get(".".join(item[1].__module__.split(".")[:2]), len(places)), item[0]),
        )
    )


def clusterers() -> dict[str, Any]:
    """The methods that make a credal partition."""
    return {name: cls for name, cls in all_methods().items() if not cls.method.learner}


def find(name: str) -> Any:
    """The class of a clustering method by its short name."""
    known = clusterers()
    if name not in known:
        near = difflib.get_close_matches(str(name).lower(), known, 1)
        raise ValueError(
            f"There is no method {name!r}{f'; did you mean {near[0]!r}?' if near else '.'} Methods: {', '.join(known)}."
        )
    return known[name]


def best_for(use: str) -> Any:
    """Return the class of the method that applications take for a use, where no method is asked for.

    Examples
    --------
    >>> best_for("links")
    <class 'evidentia.prototypes.cecm.CECM'>
    """
    return next(cls for cls in clusterers().values() if use in cls.method.chosen_for)


def record(estimator: Any) -> Method:
    """The record of an estimator that makes a partition; a sentence for what is none of ours."""
    found = getattr(estimator, "method", None)
    if not isinstance(found, Method) or found.learner:
        what = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(f"{what} is no clustering method of evidentia: it has no record of what it reads and takes.")
    return found
