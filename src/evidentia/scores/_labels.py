"""Labels of any kind as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def encode(labels: Any, name: str) -> np.ndarray:
    """Class numbers 0, 1, ... of labels of any type; every distinct value, -1 too, is a class of its own."""
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(
            f"'{name}' must be one label for each of at least two objects. Got an array of shape {array.shape}."
        )
    codes, _ = pd.factorize(array)
    if np.any(codes < 0):
        raise ValueError(
            f"'{name}' must not have missing labels, but {np.sum(codes < 0)} of {len(codes)} are missing "
            f"(first: object {np.argmin(codes)}). Leave these objects out."
        )
    return codes


def check_same_objects(n_first: int, n_second: int) -> None:
    """Refuse to compare partitions of different objects."""
    if n_first != n_second:
        raise ValueError(f"Both partitions must be of the same objects. Got {n_first} and {n_second} objects.")
