"""``partial_fit`` of EGMM: statistics of the E-step, averaged from batch to batch."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from evidentia._streaming import RunningMean
from evidentia.belief import FocalSets
from evidentia.mixtures._covariances import Floor, Prior
from evidentia.mixtures._em import Parameters, Patterns, Statistics, engine
from evidentia.mixtures.search import observe, overlaps, search
from evidentia.rows.source import ArrayRows
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.coordinates import Coordinates


class Stream(NamedTuple):
    """The mixture that moves, with what its engine is made of, and its statistics.

    With automatic sets it has single clusters alone. The sets laid over them have mixing probabilities of their own:
    by their averaged sizes, and as many objects of each hundred for a prior as in the first batch, ``in_doubt``.
    """

    focal_sets: FocalSets
    parameters: Parameters
    prior: Prior | None
    floor: Floor | None
    ridge: Any
    blur: np.ndarray
    mean: RunningMean
    in_doubt: np.ndarray | None = None
    sizes: RunningMean | None = None


def begin_stream(model: Any, rows: ArrayRows, rng: np.random.RandomState) -> Stream:
    """Fit an EGMM to the first rows, and return the state that goes on from it."""
    searched, settings = model._prepare(rows, rng)
    result = search(searched, settings, rng)
    order = model._store_result(searched, result)
    single, tool = result.single, result.engine
    state = single.best.state
    parts = tool.prior, tool.floor, tool.ridge, tool.blur
    batch, laid = in_coordinates(model, rows), len(single.focal_sets) < len(model.focal_sets_)
    # Single clusters are in the order of their numbers; without sets on top, what was published is what moves.
    family, state = (single.focal_sets, state.reorder(order, order)) if laid else (model.focal_sets_, model._parameters)
    sums = tool.gather(batch, state, averaging(family))
    total = float(sums.size.sum())
    stream = Stream(family, state, *parts, RunningMean.of(sums[:3], total))
    if not laid:
        return stream
    larger, in_doubt = overlaps(searched, single, tool)
    moved = larger.relabel(order)
    in_doubt = (in_doubt * (larger.card > 1))[[moved.index(mask) for mask in model.focal_sets_.masks]]
    held = tool.gather(batch, model._parameters, averaging(model.focal_sets_)).size
    return stream._replace(in_doubt=in_doubt / total, sizes=RunningMean.of((held,), total))


def follow_stream(model: Any, rows: ArrayRows, kappa: float) -> Stream:
    """Return the state of an EGMM after a batch."""
    stream: Stream = model._stream
    tool = engine(model.model_, stream.prior, stream.floor, stream.ridge, stream.blur)
    batch, average = in_coordinates(model, rows), averaging(stream.focal_sets)
    sums = tool.gather(batch, stream.parameters, average)
    weight = float(sums.size.sum())
    mean = stream.mean.add(sums[:3], weight, kappa)
    size, total_sum, second = mean.sums
    moved = tool.m_step(Statistics(size, total_sum, second, 0.0), stream.parameters, average)
    sizes, published = stream.sizes, moved
    if stream.in_doubt is not None and sizes is not None:
        laid = moved._replace(weights=model.weights_)
        sizes = sizes.add((tool.gather(batch, laid, averaging(model.focal_sets_)).size,), weight, kappa)
        shares = sizes.parts[0] + stream.in_doubt
        published = moved._replace(weights=shares / shares.sum())
    model._publish_parameters(published)
    return stream._replace(parameters=moved, mean=mean, sizes=sizes)


def in_coordinates(model: Any, rows: ArrayRows) -> Patterns:
    """Return a batch in the coordinates of the fit."""
    table = model._reduce(rows.table)
    if isinstance(model._coordinates, Coordinates) and np.isnan(table.sum()):
        raise ValueError(
            f"partial_fit of EGMM mixes columns by {model.model_}, and its first rows had no missing values, but "
            "these have some. Give rows with missing values first, or take a diagonal model such as 'VVI'."
        )
    prepare = partial(observe, engine(model.model_), model._coordinates, None)
    return Patterns(ArrayRows(table, rows.weight).map_chunks(prepare), complete=False)
