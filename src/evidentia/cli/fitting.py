"""From options to a fitted model: which estimator, on which scale, with how many clusters."""

from __future__ import annotations

import copy
import inspect
import signal
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evidentia.cli.errors import UserError
from evidentia.mixtures import EGMM
from evidentia.selection import Selection, select
from evidentia.selection.search import NAMED

# Methods for columns of numbers; those for dissimilarities and those that listen to links are among them.
ESTIMATORS = {name: home for name, home in NAMED.items() if name != "latent-class"} | {
    "cevclus": "CEVCLUS",
    "nnevclus": "NNEVCLUS",
}
ON_DISTANCES = ("evclus", "cevclus", "recm", "eknnclus", "secmdd", "wecmdd", "mecm", "bhc")
ON_LINKS = ("cecm", "cevclus", "nnevclus")
SCALERS = {"standard": "StandardScaler", "robust": "RobustScaler", "minmax": "MinMaxScaler"}
OPTION_NAMES = {"n_init": "starts", "random_state": "seed"}  # where the command line has a shorter word
DEFAULT_RANGE = (2, 6)


@dataclass(frozen=True)
class Fitted:
    """A model in the units of the file, how the number of clusters was chosen, and what was worth a warning."""

    model: Any
    selection: Any
    notes: list[str]
    interrupted: bool


def parse_clusters(text: str) -> int | tuple[int, int]:
    """A number, or the range to choose from: ``3``, ``2-6``, ``auto``."""
    if text.strip().lower() == "auto":
        return DEFAULT_RANGE
    first, dash, last = text.partition("-")
    if not (first.strip().isdigit() and (last.strip().isdigit() or not dash)):
        raise UserError(f"--clusters takes a number (3), a range (2-6) or auto. Got {text!r}.")
    if not dash:
        return int(first)
    if not 1 <= int(first) <= int(last):
        raise UserError(f"--clusters {text}: the range runs from the smaller to the larger number, as in 2-6.")
    return int(first), int(last)


def build(
    method: str, clusters: int | tuple[int, int], given: dict[str, Any], methods: Mapping[str, str] = ESTIMATORS
) -> Any:
    """The estimator, unfitted; options that were given but mean nothing to the method are refused."""
    import evidentia

    estimator = getattr(evidentia, methods[method])
    known = inspect.signature(estimator).parameters
    given = {name: value for name, value in given.items() if value is not None}
    if "random_state" not in known:  # the seed is always there, also for methods that draw nothing
        given.pop("random_state", None)
    for name in given:
        if name not in known:
            users = [m for m, e in methods.items() if name in inspect.signature(getattr(evidentia, e)).parameters]
            option = OPTION_NAMES.get(name, name).replace("_", "-")
            raise UserError(f"--{option} means nothing to {method}: it is an option of {', '.join(users)}.")
    if isinstance(clusters, int):
        return estimator(**{"n_clusters" if "n_clusters" in known else "n_components": clusters}, **given)
    if "cluster_range" in known:
        return estimator(n_clusters="auto", cluster_range=clusters, **given)
    return estimator(**given)


def check_kind(method: str, clusters: int | tuple[int, int], *, distances: bool, links: bool) -> None:
    """Refuse a method that cannot use what the command line gives it."""
    for asked, able, what in (
        (distances, ON_DISTANCES, "--distances: dissimilarities"),
        (links, ON_LINKS, "--links: links"),
    ):
        if asked and method not in able:
            raise UserError(f"{what} mean nothing to {method}. Methods that take them: {', '.join(able)}.")
    if links and not isinstance(clusters, int):
        raise UserError("--links needs one number of clusters, such as --clusters 3.")
    if method == "eknnclus" and isinstance(clusters, int):
        raise UserError("eknnclus finds the number of clusters itself: leave --clusters out.")


def fit(estimator: Any, data: pd.DataFrame, clusters: int | tuple[int, int], scale: str, links: Any = None) -> Fitted:
    """Fit on the chosen scale; an interrupt keeps the best solution so far."""
    scaled, scaler = rescale(data, scale)
    selection = None
    with noticing() as noticed:
        if links is not None:
            model = estimator.fit(scaled, constraints=links)
        elif isinstance(clusters, int) or finds_its_number(estimator):
            model = estimator.fit(scaled)
        elif isinstance(estimator, EGMM):  # its own search has one line for each number of clusters
            model = estimator.fit(scaled)
            name = type(model).__name__
            table = model.selection_.assign(method=name)[["method", "n_clusters", "ebic", "note"]]
            selection = Selection(table, "ebic", (name, model.n_clusters_), model)
        else:
            low, high = clusters
            verbose, seed = estimator.verbose, getattr(estimator, "random_state", None)
            estimator.set_params(verbose=0)  # one bar is enough
            selection = select(scaled, estimator, n_clusters=range(low, high + 1), random_state=seed, verbose=verbose)
            model = selection.estimator_
    return Fitted(in_units_of(scaler, model), selection, noticed.notes, noticed.interrupted)


def finds_its_number(estimator: Any) -> bool:
    """Whether the number of clusters comes out of a single fit."""
    return getattr(estimator, "finds_its_number", False)


def rescale(data: pd.DataFrame, scale: str) -> tuple[pd.DataFrame, Any]:
    """The table on the chosen scale, and the scikit-learn object that leads back (None when nothing was changed)."""
    if scale == "none":
        return data, None
    from sklearn import preprocessing

    scaler = getattr(preprocessing, SCALERS[scale])().set_output(transform="pandas")
    return scaler.fit_transform(data), scaler


def in_units_of(scaler: Any, model: Any) -> Any:
    """The model with its centres and covariances in the units before scaling, for tables and pictures."""
    if scaler is None:
        return model
    n_features = model.n_features_in_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the scaler knows columns by name and is given none
        origin, one = scaler.inverse_transform(np.vstack([np.zeros(n_features), np.ones(n_features)]))
    factor = one - origin
    moved = copy.copy(model)
    if getattr(model, "cluster_centers_", None) is not None:
        moved.cluster_centers_ = model.cluster_centers_ * factor + origin
    for name in ("covariance_", "covariances_"):
        if getattr(model, name, None) is not None:
            setattr(moved, name, getattr(model, name) * np.outer(factor, factor))
    return moved


class Noticed:
    """What happened during a fit: warnings meant for the user, and whether the interrupt key was pressed."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.interrupted = False

    def warn(self, message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        text = str(message)
        if text not in self.notes:
            self.notes.append(text)

    def interrupt(self, number: int, frame: Any) -> None:
        self.interrupted = True
        raise KeyboardInterrupt


@contextmanager
def noticing() -> Iterator[Noticed]:
    """Collect user warnings instead of printing them with file and line, and see interrupts that a fit survives."""
    noticed = Noticed()
    in_main_thread = threading.current_thread() is threading.main_thread()  # the only one that may listen to signals
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = noticed.warn
        before = signal.signal(signal.SIGINT, noticed.interrupt) if in_main_thread else None
        try:
            yield noticed
        finally:
            if in_main_thread:
                signal.signal(signal.SIGINT, before)
