r"""Fitted models on disk: one ``.npz`` file for every method, no pickle.

The file is an ordinary NumPy archive that any program can read:

===========  ==========================================================================================
``format``   the text ``evidentia-model``
``version``  1
``digest``   text: of all other entries, as in a saved partition
``written``  text: the version of evidentia that wrote it
``model``    bytes of a text in JSON (UTF-8): what the model is, and where its arrays are
others       arrays, by the place where they belong, such as ``fitted.cluster_centers_``
===========  ==========================================================================================

In ``model``, text, whole numbers, finite decimals, true, false, null and lists are what they are in JSON; an object
with one of these keys stands for all else:

==============  =======================================================================================
``estimator``   name of a class; with ``parameters``, those of the constructor by name, and ``fitted``, what
                ``fit`` left behind by name
``object``      name of another class of evidentia; with ``fields``, what it is made of by name. The whole is an
                estimator, or a :class:`~evidentia.app.advisor.TableModel`, which holds one
``array``       name of an entry of the archive
``number``      [type, value]: a number of NumPy, such as ``["<f8", 0.5]``, or a decimal that is not finite
``objects``     values of an array of text or of mixed kinds, row by row, with ``shape``
``tuple``       its values; so are ``set`` and ``index`` (the labels of a table)
``mapping``     pairs of a key and a value
``table``       columns of a table, each [name, values], with ``index``
``given``       name of an argument of :func:`~evidentia.load_model`: what a file cannot hold
==============  =======================================================================================

Classes are looked up among those of evidentia and nowhere else, and are made of values alone: nothing in a file is run.
skops.io keeps models without pickle too, but in its own layout: CONTRIBUTING promises that every later release reads a
file, and that promise cannot be made for another package.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import os
import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from evidentia import __version__
from evidentia.archive import Format, name_file_in_errors, own_class, read_archive, write_archive
from evidentia.partition.lazy import LazyLabels, LazyPartition

__all__ = ["load_model", "save_model"]

FORMAT = Format("evidentia-model", 1, "a model of evidentia", "A model is written by model.save(path).")
BARE = "biuf"  # kinds of single numbers
KEPT = "biufcSUmM"  # kinds of arrays that are entries of the archive
NOWHERE = object()


class GivenParameter(NamedTuple):
    """What a file cannot hold and ``load_model`` must be given again, by the name of a parameter."""

    name: str


class NotStorable(TypeError):
    """A value that a file cannot hold, and where it is."""

    def __init__(self, place: str, value: Any):
        super().__init__(place)
        self.place, self.value = place, value


def save_model(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator to one file; ``model.save(path)`` is the same.

    A file of that name is replaced only once the new one is whole. Masses of rows that are not in memory are left out:
    ``predict_partition`` of the loaded model makes them.

    Raises
    ------
    TypeError
        If a parameter is a function or another object that is no value; the sentence names it.
    """
    writer = _Writer()
    try:
        found = writer.value(model, "")
    except NotStorable as error:
        raise TypeError(_refusal(model, error)) from None
    text = np.frombuffer(json.dumps(found, allow_nan=False).encode(), dtype=np.uint8)
    return write_archive(path, FORMAT, {"model": text, **writer.arrays}, {"written": __version__})


def load_model(path: str | os.PathLike[str], **given: Any) -> Any:
    """A fitted estimator from the file that :func:`~evidentia.storage.save_model` wrote.

    Parameters
    ----------
    path : str or path-like
    **given
        What a file cannot hold, by the name of the parameter: the ``module`` of an ``NNEVCLUS`` with a network of your
        own (its weights are in the file), or a fitted ``metric_learner`` that is none of evidentia's.

    Returns
    -------
    estimator
        It predicts as the one that was saved, and has its ``partition_``.

    Raises
    ------
    ValueError
        If the file is damaged, of another kind, or written by a newer version.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from evidentia import ECM
    >>> model = ECM(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> with TemporaryDirectory() as folder:
    ...     again = load_model(model.save(Path(folder) / "model.npz"))
    >>> again
    ECM(random_state=0)
    >>> again.predict([[0.5], [9.5]])
    array([0, 1])
    """
    content = read_archive(path, FORMAT)
    with name_file_in_errors(path, FORMAT):
        reader = _Reader(path, content, given)
        model = reader.value(json.loads(content["model"].tobytes()))
        if not hasattr(model, "save"):
            raise ValueError("it holds no model")
    if unused := set(given) - reader.used:
        raise TypeError(f"load_model was given {sorted(unused)[0]!r}, which {path} does not ask for.")
    return model


def _refusal(model: Any, error: NotStorable) -> str:
    who, parts = type(model).__name__, error.place.split(".")[1:]
    if parts[-1:] == ["class"]:
        home = type(error.value).__module__
        return f"{who} cannot be saved: a file names classes of evidentia only, and this one is of {home}."
    what = "a function" if inspect.isroutine(error.value) else f"an object of type {type(error.value).__name__}"
    shown = f"{what}, {repr(error.value)[:60]}"
    if "parameters" in parts:
        parameter = parts[parts.index("parameters") + 1]
        return (
            f"{who} cannot be saved: its parameter {parameter!r} is or holds {shown}, and a file holds numbers, text "
            f"and arrays only. Give it a value, as by model.set_params({parameter}=...), and save again."
        )
    return f"{who} cannot be saved: {'.'.join(parts)!r} is {shown}, and a file holds numbers, text and arrays only."


def _class_name(value: Any) -> str:
    return f"{type(value).__module__}:{type(value).__qualname__}"


def _fields(value: Any) -> Mapping[str, Any] | None:
    """What an object of evidentia is made of; None for all other objects."""
    if not type(value).__module__.startswith("evidentia."):
        return None
    if hasattr(value, "to_fields"):
        return value.to_fields()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
    return None


class _Writer:
    """Turns values into JSON, and their arrays into entries; an array that comes again is written once."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}
        self._foreign: dict[int, str] = {}  # objects that are given again

    def _estimator(self, model: Any, place: str) -> dict[str, Any]:
        if not type(model).__module__.startswith("evidentia."):
            raise NotStorable(f"{place}.class", model)
        for name in model.given_again:
            both = (getattr(model, name), getattr(model, f"{name}_", None))
            self._foreign |= {id(value): name for value in both if value is not None}
        parameters = {name: getattr(model, name) for name in model.parameters}
        left = (LazyPartition, LazyLabels)
        passing = {*parameters, "_skl_callbacks"}  # whoever watches fits is no part of the model
        fitted = {
            name: value for name, value in vars(model).items() if name not in passing and not isinstance(value, left)
        }
        parts = {"parameters": parameters, "fitted": fitted}
        written = {part: self._map(values, f"{place}.{part}") for part, values in parts.items()}
        return {"estimator": _class_name(model), **written}

    def _map(self, values: Mapping[str, Any], place: str) -> dict[str, Any]:
        return {name: self.value(value, f"{place}.{name}") for name, value in values.items()}

    def _list(self, values: Any, place: str) -> list[Any]:
        return [self.value(value, f"{place}.{at}") for at, value in enumerate(values)]

    def value(self, value: Any, place: str) -> Any:
        if isinstance(value, GivenParameter):
            return {"given": value.name}
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if isinstance(value, np.generic | float):
            return self._number(value, place)
        if isinstance(value, np.ndarray):
            return self._array(value, place)
        if hasattr(value, "given_again"):  # an estimator of evidentia, or one made of it
            return self._estimator(value, place)
        if (fields := _fields(value)) is not None:
            return {"object": _class_name(value), "fields": self._map(fields, place)}
        return self._collection(value, place)

    def _number(self, value: Any, place: str) -> Any:
        if type(value) is float and math.isfinite(value):
            return value
        number = np.asarray(value)
        if number.dtype.kind not in BARE:
            raise NotStorable(place, value)
        plain = number.item()
        return {"number": [number.dtype.str, plain if np.isfinite(plain) else str(plain)]}

    def _array(self, value: np.ndarray, place: str) -> Any:
        if type(value) is not np.ndarray:
            raise NotStorable(place, value)
        if value.dtype.kind not in KEPT:
            return {"objects": self._list(value.ravel().tolist(), place), "shape": list(value.shape)}
        if id(value) not in self._names:
            self._names[id(value)] = name = place.removeprefix(".")
            self.arrays[name] = value
        return {"array": self._names[id(value)]}

    def _collection(self, value: Any, place: str) -> Any:
        if type(value) is list:
            return self._list(value, place)
        if type(value) is tuple:
            return {"tuple": self._list(value, place)}
        if isinstance(value, set | frozenset):
            return {"set": self._list(sorted(value), place)}
        if isinstance(value, Mapping):
            return {"mapping": [self._list(pair, f"{place}.{at}") for at, pair in enumerate(value.items())]}
        kind = type(value).__name__ if type(value).__module__.partition(".")[0] == "pandas" else ""
        if kind.endswith("Index"):
            return {"index": self._list(value.tolist(), place)}
        if kind == "DataFrame":
            columns = [
                [self.value(name, place), self.value(value.iloc[:, at].to_numpy(), f"{place}.{at}")]
                for at, name in enumerate(value.columns)
            ]
            return {"table": columns, "index": self._list(value.index.tolist(), place)}
        if id(value) in self._foreign:
            return {"given": self._foreign[id(value)]}
        raise NotStorable(place, value)


def _left_by_fit(cls: Any, name: str) -> bool:
    """Return whether a fit may set an attribute: one that its class declares, or a new public one ending in ``_``."""
    is_new = inspect.getattr_static(cls, name, NOWHERE) is NOWHERE
    return name in cls.left_by_fit or (is_new and name.endswith("_") and not name.startswith("_"))


class _Reader:
    """Turns JSON back into values; what it does not know is an error."""

    def __init__(self, path: Any, content: Mapping[str, Any], given: Mapping[str, Any]):
        self.path, self.content, self.given = path, content, given
        self.used: set[str] = set()
        self._kinds: dict[str, Callable[..., Any]] = {
            "estimator": self._estimator, "object": self._object, "array": self._array, "number": self._number,
            "objects": self._objects, "tuple": self._tuple, "set": self._set, "index": self._index,
            "mapping": self._mapping, "table": self._table, "given": self._given,
        }  # fmt: skip

    def value(self, found: Any) -> Any:
        if isinstance(found, list):
            return [self.value(one) for one in found]
        if isinstance(found, dict):
            kind = next((name for name in found if name in self._kinds), None)
            if kind is None:
                raise ValueError(f"nothing is known of {reprlib.repr(found)}")
            return self._kinds[kind](**found)
        return found

    def _map(self, found: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.value(value) for name, value in found.items()}

    def _estimator(self, estimator: str, parameters: Mapping[str, Any], fitted: Mapping[str, Any]) -> Any:
        cls = own_class(estimator)
        if not issubclass(cls, BaseEstimator):
            raise ValueError(f"{estimator!r} is no estimator")
        model = cls(**self._map(parameters))
        for name, value in self._map(fitted).items():
            if name in cls.parameters or not _left_by_fit(cls, name):
                raise ValueError(f"{name!r} is nothing that a fit leaves behind")
            setattr(model, name, value)
        model.check_parameters()
        return model

    def _object(self, object: str, fields: Mapping[str, Any]) -> Any:
        cls, values = own_class(object), self._map(fields)
        if hasattr(cls, "from_fields"):
            return cls.from_fields(**values)
        if (issubclass(cls, tuple) and hasattr(cls, "_fields")) or dataclasses.is_dataclass(cls):
            return cls(**values)
        raise ValueError(f"{object!r} is not made of values")

    def _array(self, array: str) -> np.ndarray:
        return self.content[array]

    def _number(self, number: list[Any]) -> Any:
        kind, value = np.dtype(number[0]), number[1]
        if kind.kind not in BARE:
            raise ValueError(f"{kind} is no kind of number")
        return kind.type(value)

    def _objects(self, objects: list[Any], shape: list[int]) -> np.ndarray:
        found = np.empty(len(objects), dtype=object)
        for at, value in enumerate(objects):
            found[at] = self.value(value)
        return found.reshape(shape)

    def _tuple(self, tuple: list[Any]) -> Any:
        return (*self.value(tuple),)

    def _set(self, set: list[Any]) -> Any:
        return {*self.value(set)}

    def _index(self, index: list[Any]) -> Any:
        import pandas as pd

        return pd.Index(self.value(index))

    def _mapping(self, mapping: list[Any]) -> dict[Any, Any]:
        return dict(self.value(mapping))

    def _table(self, table: list[Any], index: list[Any]) -> Any:
        import pandas as pd

        return pd.DataFrame(dict(self.value(table)), index=pd.Index(self.value(index)))

    def _given(self, given: str) -> Any:
        self.used.add(given)
        if self.given.get(given) is None:
            raise ValueError(
                f"{self.path} holds a model with a {given} of your own, which a file cannot hold: "
                f"load_model(path, {given}=...) with the {given} as it was."
            )
        return self.given[given]
