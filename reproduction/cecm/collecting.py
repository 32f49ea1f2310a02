"""Trials of several units, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from reproduction.cecm.trials import BLOCK
from reproduction.exhibit import Result, Results, Unit


def blocks(key: str, measure: Callable[..., Result], settings: dict[str, Any], trials: int) -> list[Unit]:
    """Units of at most `BLOCK` trials each."""
    return [
        Unit(f"{key}/{first}", measure, {**settings, "first": first, "trials": min(BLOCK, trials - first)})
        for first in range(0, trials, BLOCK)
    ]


def gathered(results: Results, key: str) -> list[Result]:
    """What the units of a key gave, those that failed left out."""
    return [results[name] for name in sorted(results) if name.rpartition("/")[0] == key]


def joined(parts: Iterable[Result], name: str, at: int | None = None) -> list[float]:
    """A list of numbers of all parts one after the other; of its ``at``-th list when it is a list of lists."""
    return [value for part in parts for value in (part[name] if at is None else part[name][at])]


def mean_and_deviation(values: list[float]) -> tuple[float | None, float | None]:
    return (float(np.mean(values)), float(np.std(values))) if values else (None, None)
