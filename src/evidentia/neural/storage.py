"""Fitted networks on disk: one ``.npz`` file, no pickle.

The file is an ordinary NumPy archive that any program can read:

=====================  ==============================================================================================
``format``             the text ``evidentia-nnevclus``
``version``            1
``header``             JSON: ``params`` (of the estimator, those that JSON can hold), ``fitted`` (single numbers such as
                       ``delta0_`` and ``loss_``), ``module`` (whether the network is the user's own), ``learner``
                       (None, "affine", or "other": then it has to be given to ``load``), ``shape`` (of an object)
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
``trace.*``            ``criterion_trace_``, ``validation_trace_``, ``start_criteria_``
=====================  ==============================================================================================
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.belief import FocalSets
from evidentia.neural._torch import load_torch
from evidentia.neural.inputs import Affine, Inputs
from evidentia.neural.network import MassNetwork, perceptron
from evidentia.neural.outliers import Region
from evidentia.partition import CredalPartition

if TYPE_CHECKING:
    from evidentia.neural.nnevclus import NNEVCLUS

FORMAT = "evidentia-nnevclus"
VERSION = 1
NUMBERS = ("n_features_in_", "delta0_", "svm_gamma_", "criterion_", "loss_", "stress_", "n_iter_")
TRACES = ("criterion_trace_", "validation_trace_", "start_criteria_")


def save(model: NNEVCLUS, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; a file of that name is replaced only once the new one is whole."""
    path, inputs, partition = Path(path), model._inputs, model.partition_
    affine = None if inputs.learner is None else _as_affine(inputs.learner, model.n_features_in_)
    header = {
        "params": {name: value for name, value in model.get_params(deep=False).items() if _is_plain(value)},
        "fitted": {name: getattr(model, name) for name in NUMBERS},
        "module": model.module is not None,
        "learner": None if inputs.learner is None else "other" if affine is None else "affine",
        "shape": getattr(model, "_input_shape", None),
    }
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "header": json.dumps(header),
        "masks": partition.focal_sets.masks,
        "masses": partition.masses,
        "columns": model._columns,
        "center": inputs.center,
        "scale": inputs.scale,
        **model.network_.state(),
        **{f"trace.{name}": getattr(model, name) for name in TRACES},
    }
    if partition.object_names is not None:
        content["object_names"] = np.array(partition.object_names, dtype=np.str_)
    if hasattr(model, "feature_names_in_"):
        content["feature_names"] = np.array(model.feature_names_in_, dtype=np.str_)
    if inputs.region is not None:
        content.update(inputs.region._asdict())
    if inputs.components is not None:
        content.update(mean=inputs.mean, components=inputs.components)
    if inputs.learner is not None:
        content.update(own_center=inputs.own_center, own_scale=inputs.own_scale)
    if affine is not None:
        content.update(matrix=affine.matrix, shift=affine.shift)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "wb") as file:
        np.savez(file, **content)
    os.replace(unfinished, path)


def _as_affine(learner: Any, n_features: int) -> Affine | None:
    return learner if isinstance(learner, Affine) else Affine.of(learner, n_features)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | int | float)


def load(kind: type[NNEVCLUS], path: str | os.PathLike[str], *, module: Any, metric_learner: Any) -> Any:
    """A fitted model from a file, or an error that says what is wrong with it."""
    content = _read(Path(path))
    header = json.loads(str(content["header"]))
    if header["module"] and module is None:
        raise ValueError(f"{path} holds the weights of a module of your own: load(path, module=...) with that module.")
    if header["learner"] == "other" and metric_learner is None:
        raise ValueError(f"{path} was fitted with a metric learner that is no matrix: load(path, metric_learner=...).")
    params: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in header["params"].items()}
    model = kind(**params).set_params(module=module if header["module"] else None)
    for name, value in header["fitted"].items():
        setattr(model, name, value)
    for name in TRACES:
        setattr(model, name, content[f"trace.{name}"])
    if header["shape"] is not None:
        model._input_shape = tuple(header["shape"])
    if "feature_names" in content:
        model.feature_names_in_ = content["feature_names"].astype(object)
    learner = Affine(content["matrix"], content["shift"]) if header["learner"] == "affine" else metric_learner
    region = Region(content["support"], content["weights"], float(content["gamma"])) if "support" in content else None
    known = {name: content.get(name) for name in ("mean", "components", "own_center", "own_scale")}
    model._inputs = Inputs(content["center"], float(content["scale"]), learner, **known, region=region)
    model.metric_learner_ = learner
    model.constraints_ = None
    model.focal_sets_ = FocalSets(model.n_clusters, content["masks"].tolist())
    model._columns = content["columns"]
    model.network_ = _network(content, module if header["module"] else None, model)
    names = content.get("object_names")
    model.partition_ = CredalPartition(
        content["masses"], model.focal_sets_, object_names=None if names is None else tuple(names.tolist())
    )
    model.labels_ = model.partition_.labels()
    model.beta_ = model.network_.beta
    return model


def _network(content: dict[str, Any], module: Any, model: NNEVCLUS) -> MassNetwork:
    state = {name: value for name, value in content.items() if name.startswith("network.") or name == "outliers"}
    if module is None:
        weights = [value for name, value in state.items() if name.endswith(".weight")]
        module = perceptron(weights[0].shape[1], [w.shape[0] for w in weights[:-1]], weights[-1].shape[0])
    empty = model.focal_sets_.empty_index if "outliers" in state else None
    position = None if empty is None else int(model._columns[empty])
    network = MassNetwork(module, position).to(load_torch().float64, "cpu")
    try:
        network.load(state)
    except RuntimeError as error:
        raise ValueError(f"The module does not fit the weights of the file: {error}") from error
    network.module.eval()
    return network


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. A model is written by model.save(path).")
    try:
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            content = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged or not a model of NNEVCLUS (.npz): {error}") from error
    if str(content.get("format")) != FORMAT:
        raise ValueError(f"{path} is an .npz archive, but not a model of NNEVCLUS (no format={FORMAT!r} inside).")
    if int(content["version"]) > VERSION:
        raise ValueError(
            f"{path} was written by a newer evidentia (file version {int(content['version'])}, this one reads up to "
            f"{VERSION}). Upgrade evidentia to read it."
        )
    return content
