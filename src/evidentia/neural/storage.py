"""Fitted networks on disk: one ``.npz`` file, no pickle.

The file is an ordinary NumPy archive that any program can read:

=====================  ==============================================================================================
``format``             the text ``evidentia-nnevclus``
``version``            1
``header``             JSON: ``parameters`` (of the estimator, those that JSON can hold), ``fitted`` (single numbers
                       such as ``delta0_`` and ``loss_``), ``module`` (whether the network is the user's own),
                       ``learner`` (None, "affine", or "other": then it has to be given to ``load``), ``shape`` (of an
                       object)
``masks``, ``masses``  focal sets and masses of the training objects, as in a saved partition
``object_names``       text; left out when the objects have no names
``feature_names``      text; left out when the columns have no names
``columns``            output of the network that belongs to each focal set
``network.*``          weights by the names of ``torch.nn.Module.state_dict``; layers 0, 2, ... are linear with
                       rectified units between them
``outliers``           logarithms of β₁ - β₀ and of β₁
``support``            support vectors of the one-class SVM, in scaled inputs
``weights``            their weights over the offset; ``gamma``: its kernel's
``mean``               of rows of dissimilarities, ``components``: their projection
``matrix``, ``shift``  of an affine metric learner
``center``, ``scale``  inputs of the network are (x - center) / scale; with a metric learner, x is what it makes of the
                       attributes, and these follow less ``own_center`` and over ``own_scale``
``links.*``            ``pairs``, ``must``, ``certainty`` of the links by row number
``trace.*``            ``criterion_trace_``, ``validation_trace_``, ``start_criteria_``
=====================  ==============================================================================================
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from evidentia._archive import Format, read_archive, write_archive
from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.neural._torch import load_torch
from evidentia.neural.inputs import Affine, Inputs
from evidentia.neural.network import MassNetwork, perceptron
from evidentia.neural.outliers import Region
from evidentia.partition import CredalPartition

FORMAT = Format("evidentia-nnevclus", 1, "a model of NNEVCLUS", "A model is written by model.save(path).")


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """What a file holds of a fitted model.

    Attributes
    ----------
    parameters : dict
        Of the estimator; what JSON cannot hold is left out.
    fitted, traces : dict
        Single numbers and arrays that ``fit`` leaves behind, by their names.
    columns : ndarray of int
        Output of the network that belongs to each focal set.
    own_module : bool
        Whether the network is the user's own.
    input_shape : tuple of int, optional
        Of an object, with a module of the user's own.
    """

    parameters: Mapping[str, Any]
    fitted: Mapping[str, Any]
    traces: Mapping[str, np.ndarray]
    partition: CredalPartition
    constraints: PairwiseConstraints
    columns: np.ndarray
    inputs: Inputs
    network: MassNetwork
    own_module: bool
    n_features: int
    feature_names: np.ndarray | None
    input_shape: tuple[int, ...] | None


def save(model: FittedModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; a file of that name is replaced only once the new one is whole."""
    inputs, partition, links = model.inputs, model.partition, model.constraints
    affine = None if inputs.learner is None else Affine.of(inputs.learner, model.n_features)
    header = {
        "parameters": _for_json(model.parameters),
        "fitted": {**model.fitted, "n_clusters_": partition.n_clusters, "n_features_in_": model.n_features},
        "module": model.own_module,
        "learner": None if inputs.learner is None else "other" if affine is None else "affine",
        "shape": model.input_shape,
    }
    content: dict[str, Any] = {
        "header": json.dumps(header),
        "masks": partition.focal_sets.masks,
        "masses": partition.masses,
        "columns": model.columns,
        "center": inputs.center,
        "scale": inputs.scale,
        **model.network.state(),
        **{f"trace.{name}": values for name, values in model.traces.items()},
        **{f"links.{name}": getattr(links, name) for name in ("pairs", "must", "certainty")},
    }
    if inputs.region is not None:
        content.update(inputs.region._asdict())
    if inputs.components is not None:
        content.update(mean=inputs.mean, components=inputs.components)
    if inputs.learner is not None:
        content.update(own_center=inputs.own_center, own_scale=inputs.own_scale)
    if affine is not None:
        content.update(matrix=affine.matrix, shift=affine.shift)
    names = {"object_names": partition.object_names, "feature_names": model.feature_names}
    write_archive(path, FORMAT, content, names)


def _for_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those parameters that JSON can hold, numbers of NumPy included."""
    kept = {}
    for name, value in parameters.items():
        with suppress(TypeError):
            kept[name] = json.loads(json.dumps(value, default=_number))
    return kept


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def load(path: str | os.PathLike[str], *, module: Any, metric_learner: Any) -> FittedModel:
    """What a file holds, or an error that says what is wrong with it."""
    content = read_archive(path, FORMAT)
    header = json.loads(str(content["header"]))
    if header["module"] and module is None:
        raise ValueError(f"{path} holds the weights of a module of your own: load(path, module=...) with that module.")
    if header["learner"] == "other" and metric_learner is None:
        raise ValueError(f"{path} was fitted with a metric learner that is no matrix: load(path, metric_learner=...).")
    learner = Affine(content["matrix"], content["shift"]) if header["learner"] == "affine" else metric_learner
    region = Region(content["support"], content["weights"], float(content["gamma"])) if "support" in content else None
    more = {name: content.get(name) for name in ("mean", "components", "own_center", "own_scale")}
    fitted, names = header["fitted"], content.get("object_names")
    focal_sets = FocalSets(fitted.pop("n_clusters_"), content["masks"].tolist())
    return FittedModel(
        parameters={name: tuple(v) if isinstance(v, list) else v for name, v in header["parameters"].items()},
        n_features=fitted.pop("n_features_in_"),
        fitted=fitted,
        traces={name.removeprefix("trace."): v for name, v in content.items() if name.startswith("trace.")},
        partition=CredalPartition(
            content["masses"], focal_sets, object_names=None if names is None else tuple(names.tolist())
        ),
        constraints=PairwiseConstraints(*(content[f"links.{name}"] for name in ("pairs", "must", "certainty"))),
        columns=content["columns"],
        inputs=Inputs(content["center"], float(content["scale"]), learner, **more, region=region),
        network=_network(content, module if header["module"] else None, focal_sets),
        own_module=header["module"],
        feature_names=content["feature_names"].astype(object) if "feature_names" in content else None,
        input_shape=None if header["shape"] is None else tuple(header["shape"]),
    )


def _network(content: dict[str, Any], module: Any, focal_sets: FocalSets) -> MassNetwork:
    state = {name: value for name, value in content.items() if name.startswith("network.") or name == "outliers"}
    if module is None:
        weights = [value for name, value in state.items() if name.endswith(".weight")]
        module = perceptron(weights[0].shape[1], [w.shape[0] for w in weights[:-1]], weights[-1].shape[0])
    empty = focal_sets.empty_index if "outliers" in state else None
    position = None if empty is None else int(content["columns"][empty])
    network = MassNetwork(module, position).to(load_torch().float64, "cpu")
    try:
        network.load(state)
    except RuntimeError as error:
        raise ValueError(f"The module does not fit the weights of the file: {error}") from error
    network.module.eval()
    return network
