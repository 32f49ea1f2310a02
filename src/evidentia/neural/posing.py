"""From what ``fit`` is given to a problem that a network can be trained on: everything checked, inputs and targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia import _base
from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import (
    Matrix,
    RelationalClusterer,
    Some,
    Source,
    Table,
    check_dissimilarities,
    delta_star,
    source_of,
)
from evidentia.metric_learning import learn_metric
from evidentia.neural.inputs import Inputs, center_and_scale, project
from evidentia.neural.knowledge import Knowledge, read_labels, sure_labels
from evidentia.neural.outliers import default_gamma, find_region
from evidentia.prototypes.belief_peaks import belief_peaks
from evidentia.relational.pairs import Pairs, all_pairs, random_pairs
from evidentia.solvers.memory import refuse_beyond_memory

if TYPE_CHECKING:
    from evidentia.neural.nnevclus import NNEVCLUS

OPTIMIZERS = ("auto", "lbfgs", "rmsprop", "adam")
STARTS = ("auto", "evclus", "random", "belief-peaks")
WHOLE = 2_000  # objects up to which "auto" takes all pairs at once
SAMPLE = 1_000  # objects among which the loss of a fit by batches is measured, and a validation loss


@dataclass(frozen=True)
class Problem:
    """What a start needs to know.

    Attributes
    ----------
    inputs : Inputs
        How objects become ``rows``, which the network sees.
    inside : ndarray of shape (n_samples,), optional
        Output of the one-class SVM.
    source : Source
        The dissimilarities; :meth:`targets` turns them into the conflict they ask for.
    method : {"lbfgs", "rmsprop", "adam"}
    train, held_back : ndarray of int
        Objects to learn from, and those for validation.
    among : ndarray of int
        Objects that ``pairs`` speak of: all that are trained on, or some of them.
    """

    inputs: Inputs
    rows: np.ndarray
    inside: np.ndarray | None
    source: Source
    constraints: PairwiseConstraints | None
    knowledge: Knowledge
    method: str
    train: np.ndarray
    held_back: np.ndarray
    among: np.ndarray
    pairs: Pairs
    delta0: float | None

    def targets(self, objects: np.ndarray) -> np.ndarray:
        """The conflict (6) that the dissimilarities of some objects ask for, (n, n)."""
        dissimilarity = self.source.block(objects, objects)
        return dissimilarity if self.delta0 is None else delta_star(dissimilarity, self.delta0)


def pose(
    model: NNEVCLUS,
    X: Any,
    table: np.ndarray,
    constraints: Any,
    labels: Any,
    dissimilarities: Any,
    rng: np.random.RandomState,
) -> Problem:
    """Check everything, prepare the inputs, and measure the pairs; ``table`` are the checked numbers of X."""
    n = len(table)
    check_params(model, n)
    precomputed = isinstance(model.metric, str) and model.metric == "precomputed"
    if constraints is not None and not isinstance(constraints, PairwiseConstraints):
        raise TypeError(f"'constraints' of NNEVCLUS must be a PairwiseConstraints. Got {constraints!r}.")
    links = constraints.for_table(X).check() if constraints is not None and len(constraints) else None
    possible = None if labels is None else read_labels(labels, n, model.n_clusters)
    if precomputed and (dissimilarities is not None or model.metric_learner is not None or model.module is not None):
        raise ValueError(
            "NNEVCLUS with metric='precomputed' takes X for the dissimilarities, and their principal components "
            "for inputs. For inputs of your own: fit(X, dissimilarities=D) with another metric."
        )
    if precomputed:
        table = check_dissimilarities(table, "NNEVCLUS")
    inputs, measured = prepare_inputs(model, X, table, links, possible)
    source: Source
    if precomputed:
        source = Matrix(table)
    elif dissimilarities is not None:
        source = Matrix(check_matrix(dissimilarities, n))
    else:
        source = source_of(measured.reshape(n, -1), model.metric, model.metric_params, who="NNEVCLUS")
    rows = inputs.rows(measured, table)
    if model.outliers:
        seen = inputs.compared(rows)
        gamma = default_gamma(seen) if model.svm_gamma is None else model.svm_gamma * inputs.scale**2
        inputs = replace(inputs, region=find_region(seen, model.nu, gamma, rng))
    if isinstance(model.init, str) and labels is not None and model.init in ("evclus", "belief-peaks"):
        raise ValueError(f"init={model.init!r} numbers clusters of its own. Give 'labels' or that start, not both.")
    if isinstance(model.init, str) and model.init == "belief-peaks":
        possible = peaks_as_labels(source, model.metric, model.n_clusters)
    order = rng.permutation(n) if model.early_stopping else np.arange(n)
    n_held = max(2, round(model.validation_fraction * n)) if model.early_stopping else 0
    held_back, train = np.sort(order[:n_held]), np.sort(order[n_held:])
    method = choose_method(model, n)
    among, pairs = measure_pairs(source, train, method, model.n_pairs, rng)
    wanted = model._wanted(pairs)
    knowledge = Knowledge.of(links, possible)
    return Problem(
        inputs,
        rows,
        inputs.inside(rows),
        source,
        links,
        knowledge,
        method,
        train,
        held_back,
        among,
        wanted,
        model.delta0_,
    )


def check_params(model: NNEVCLUS, n_samples: int) -> None:
    """Refuse settings that cannot be."""
    RelationalClusterer._check_params(model, n_samples)
    for name in ("n_near", "patience"):
        _base.check_number(model, name, low=1, integer=True)
    _base.check_number(model, "batch_size", low=2, integer=True)
    for name in ("xi", "l2"):
        _base.check_number(model, name, low=0)
    _base.check_number(model, "label_weight", low=0, high=1)
    for name in ("nu", "validation_fraction", "delta0", "svm_gamma", "learning_rate"):
        if getattr(model, name) is not None and (name, getattr(model, name)) != ("delta0", "auto"):
            unbounded = name in ("svm_gamma", "learning_rate")
            _base.check_number(model, name, low=0, high=np.inf if unbounded else 1, strict=True)
    _base.check_choice(model, "optimizer", OPTIMIZERS)
    if isinstance(model.init, str):
        _base.check_choice(model, "init", STARTS)
    if model.n_pairs is not None:
        _base.check_number(model, "n_pairs", low=2, integer=True)
        if model.optimizer in ("rmsprop", "adam"):
            raise ValueError(f"'n_pairs' is for optimizer='lbfgs'; {model.optimizer!r} takes the pairs of a batch.")
        if model.n_pairs >= n_samples:
            raise ValueError(
                f"'n_pairs' of NNEVCLUS must be below the number of objects, {n_samples}. Got {model.n_pairs}; "
                "leave it out to take all pairs."
            )
    sizes = np.atleast_1d(20 if model.hidden is None else model.hidden)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or not (sizes > 0).all() or not len(sizes):
        raise ValueError(
            "The 'hidden' parameter of NNEVCLUS must be a number of units, or one for each layer. "
            f"Got {model.hidden!r} instead."
        )
    if model.module is not None and model.metric_learner is not None:
        raise ValueError("NNEVCLUS takes a 'module' or a 'metric_learner', not both.")


def check_matrix(dissimilarities: Any, n_samples: int) -> np.ndarray:
    """Dissimilarities given beside the attributes."""
    matrix = np.asarray(dissimilarities, dtype=float)
    if matrix.shape != (n_samples, n_samples) or not np.isfinite(matrix).all():
        raise ValueError(
            f"'dissimilarities' of NNEVCLUS must be {n_samples} × {n_samples} finite numbers. Got {matrix.shape}."
        )
    return check_dissimilarities(matrix, "NNEVCLUS")


def prepare_inputs(
    model: NNEVCLUS, X: Any, table: np.ndarray, links: PairwiseConstraints | None, possible: np.ndarray | None
) -> tuple[Inputs, np.ndarray]:
    """How objects become inputs, and the rows between which distances are measured."""
    if model.module is not None:
        return Inputs(0.0, 1.0), table
    if isinstance(model.metric, str) and model.metric == "precomputed":
        n_components = model.n_components
        if isinstance(n_components, int):
            n_components = min(n_components, len(table))
        mean, components = project(table, n_components)
        rows = (table - mean) @ components.T
        return Inputs(*center_and_scale(rows), None, mean, components), rows
    if model.metric_learner is None:
        return Inputs(*center_and_scale(table)), table
    learner, rows = learn_metric(model.metric_learner, X, links, None if possible is None else sure_labels(possible))
    own = {"own_center": table.mean(axis=0), "own_scale": np.where(table.std(axis=0) > 0, table.std(axis=0), 1)}
    return Inputs(*center_and_scale(rows), learner, **own), rows


def peaks_as_labels(source: Source, metric: Any, n_clusters: int) -> np.ndarray:
    """Possible clusters when the belief peaks are taken for labelled objects."""
    if isinstance(source, Matrix):
        graph = belief_peaks(source.values, metric="precomputed")
    else:
        graph = belief_peaks(source.rows if isinstance(source, Table) else source.objects, metric=metric)  # type: ignore[attr-defined]
    labels = np.full(len(source), -1)
    labels[graph.choose(n_clusters)] = np.arange(n_clusters)
    return read_labels(labels, len(source), n_clusters)


def choose_method(model: NNEVCLUS, n_samples: int) -> str:
    """The optimizer, where the caller leaves it open."""
    if model.optimizer != "auto":
        return model.optimizer
    return "lbfgs" if n_samples <= WHOLE or model.n_pairs is not None else "adam"


def measure_pairs(
    source: Source, train: np.ndarray, method: str, n_pairs: int | None, rng: np.random.RandomState
) -> tuple[np.ndarray, Pairs]:
    """The objects whose pairs are looked at as a whole, and those pairs."""
    n = len(train)
    if method != "lbfgs":
        among = np.sort(rng.choice(train, SAMPLE, replace=False)) if n > SAMPLE else train
        return among, all_pairs(Some(source, among))
    if n_pairs is not None and n_pairs < n:
        refuse_beyond_memory(64 * n * n_pairs, f"NNEVCLUS with n_pairs={n_pairs}", "Lower n_pairs.")
        return train, random_pairs(Some(source, train), n_pairs, rng)
    refuse_beyond_memory(24 * n**2, f"NNEVCLUS on all pairs of {n:,} objects", "Take optimizer='adam'.")
    return train, all_pairs(Some(source, train))
