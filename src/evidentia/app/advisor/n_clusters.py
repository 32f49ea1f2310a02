"""Which numbers of clusters need a fit each, and the fit that chooses among them."""

from __future__ import annotations

from typing import Any

from evidentia.selection import Selection, select

DEFAULT_RANGE = (2, 6)

Clusters = int | tuple[int, int] | None  # a number, a range to choose from, or what the method does by itself


def parse_clusters(text: str) -> Clusters:
    """A number, or the range to choose from: ``3``, ``2-6``; None for ``auto``.

    Examples
    --------
    >>> parse_clusters("3"), parse_clusters("2-6"), parse_clusters("auto")
    (3, (2, 6), None)
    """
    first, dash, last = (part.strip() for part in text.partition("-"))
    if text.strip().lower() == "auto":
        return None
    if not (first.isdigit() and (last.isdigit() or not dash)):
        raise ValueError(f"The number of clusters is a number (3), a range (2-6) or auto. Got {text!r}.")
    if not dash and int(first) >= 1:
        return int(first)
    if not dash:
        raise ValueError(f"The number of clusters is at least 1. Got {text!r}.")
    if not 1 <= int(first) <= int(last):
        raise ValueError(f"A range runs from the smaller to the larger number, as in 2-6. Got {text!r}.")
    return int(first), int(last)


def words_of(clusters: Clusters) -> str:
    """The text that :func:`parse_clusters` reads."""
    return "auto" if clusters is None else str(clusters) if isinstance(clusters, int) else "{}-{}".format(*clusters)


def numbers_to_try(estimator: Any, clusters: Clusters) -> range | None:
    """Numbers of clusters that need a fit each; None where one fit is enough."""
    ways = estimator.method.number
    if isinstance(clusters, int) or "searched" in ways or (clusters is None and "found" in ways):
        return None
    low, high = clusters or DEFAULT_RANGE
    return range(low, high + 1)


def fit_number(estimator: Any, X: Any, clusters: Clusters = None) -> tuple[Any, Selection | None]:
    """The fitted model, and how its number of clusters was chosen where it was.

    A method that cannot choose itself is fitted with each number of the range (:func:`evidentia.selection.select`).

    Examples
    --------
    >>> from evidentia import ECM
    >>> model, selection = fit_number(ECM(random_state=0), [[0.0], [1.0], [9.0], [10.0], [20.0], [21.0]], (2, 3))
    >>> selection
    Selection(2 fits, best: ECM with 3 clusters by normalized_nonspecificity)
    """
    counts = numbers_to_try(estimator, clusters)
    if counts is None:
        model = estimator.fit(X)
        searched = "searched" in model.method.number and not isinstance(clusters, int)
        return model, Selection.of_model(model) if searched else None
    settings = estimator.get_params()
    if "verbose" in settings:
        estimator.set_params(verbose=0)  # one bar is enough
    selection = select(
        X,
        estimator,
        n_clusters=counts,
        random_state=settings.get("random_state"),
        verbose=settings.get("verbose", 0),
    )
    return selection.estimator_, selection
