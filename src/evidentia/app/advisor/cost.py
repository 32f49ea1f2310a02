"""What a fit will cost, before it begins: a short run on some rows, drawn out to all of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from evidentia._base import is_precomputed
from evidentia.app.advisor.n_clusters import Clusters, numbers_to_try
from evidentia.rows.sketch import SKETCH_ROWS

SMALL = 20_000  # cells of a table that no method needs long for
SMALL_SQUARE = 400  # rows, where the work grows with their square
PROBES = (400, 1_600)  # rows of the short runs, after one on a few that is not timed: compiling is no part of the work
WARM = 60
LEAST_GROWTH = 0.05  # of the time of the larger run: less may be chance
SHORT = 0.5  # seconds of the first run after which there is no second
PER_CELL = 2e-7  # seconds of the passes over all rows of a method that works on a sample of them before
TRIED = 10  # numbers of clusters that a search tries before it gives up, at most
SHARING = ("egmm",)  # its starts are shared by models and numbers, and rows add little: measured up to 200,000 x 60
COUNTED = ("latent-class",)  # equal rows are fitted once
LONG = 60.0  # seconds that deserve a warning


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes that a fit will take, roughly: within a factor of three or so.

    Examples
    --------
    >>> str(Cost(8, 2e8)), str(Cost(70, 5e9)), str(Cost(2400, 0))
    ('a few seconds', 'about a minute, 5 GB of memory', 'about 40 minutes')
    """

    seconds: float
    memory: float

    @property
    def long(self) -> bool:
        return self.seconds > LONG

    def __str__(self) -> str:
        seconds = self.seconds
        if seconds < 10:
            time = "a few seconds"
        elif seconds < 45:
            time = f"about {round(seconds, -1):.0f} seconds"
        elif seconds < 90:
            time = "about a minute"
        elif seconds < 5400:
            time = f"about {_round_text(seconds / 60)} minutes"
        else:
            time = f"about {_round_text(seconds / 3600)} hours"
        return time + (f", {self.memory / 1e9:.0f} GB of memory" if self.memory > 1e9 else "")


def expected_cost(estimator: Any, X: Any, clusters: Clusters = None) -> Cost | None:
    """What fitting an estimator to X will cost; None where a short run does not tell.

    A small table is not measured: it costs a few seconds. Otherwise the estimator is fitted, with one start and one
    number of clusters, to 400 and to 1,600 rows drawn at random. What a row more costs, or the square of their number,
    as its record says (``power``), is drawn out to all rows, or to the sample that its iterations work on, and
    multiplied by the starts and by the numbers of clusters to try. EGMM shares its starts, and methods that read
    categories share what they make of these, which is most of a short run: it has all starts then. Where equal rows are
    fitted once, only different ones are drawn and counted.

    Examples
    --------
    >>> from evidentia import ECM
    >>> print(expected_cost(ECM(3), np.zeros((150, 4))))
    a few seconds
    """
    n = len(X)
    square = estimator.method.power == 2 and getattr(estimator, "n_pairs", None) is None
    memory = 24.0 * n**2 if square else 8.0 * n * (4 * np.shape(X)[1] + 2 * 64)
    if n <= SMALL_SQUARE or (np.size(X) <= SMALL and not square):
        return Cost(1.0, memory)
    numbers, starts = _numbers(estimator, clusters), estimator.get_params().get("n_init", 1)
    sharing, together = estimator.method.name in SHARING, "categories" in estimator.method.reads
    settings = _light_settings(estimator, int(np.median(numbers)), starts if together else 1)
    rows = pd.DataFrame(X).drop_duplicates() if estimator.method.name in COUNTED else X
    times = _seconds(clone(estimator).set_params(**settings), rows, PROBES[:1] if sharing else PROBES)
    if not times:
        return None
    sampled = "rows beyond memory" in estimator.method.takes
    n = min(len(rows), SKETCH_ROWS) if sampled else len(rows)
    one = times[min(times)] if sharing else _drawn_out(times, n, square)
    passes = PER_CELL * np.size(X) if sampled else 0.0
    return Cost(one * (1 if sharing or together else starts) * len(numbers) + passes, memory)


def _drawn_out(times: dict[int, float], n: int, square: bool) -> float:
    """Seconds for n rows, from those of some numbers of rows: what is the same for all of them, and what grows."""
    power = 2 if square else 1
    most = max(times)
    if n <= most or len(times) == 1:  # a long run hides no cost that is the same for all
        return times[most] * max(n / most, 1.0) ** power
    least = min(times)
    slope = max(times[most] - times[least], LEAST_GROWTH * times[most]) / (most**power - least**power)
    return times[most] + slope * (n**power - most**power)


def _numbers(estimator: Any, clusters: Clusters) -> list[int]:
    """Numbers of clusters that will be fitted, as far as one can know."""
    if isinstance(clusters, int):
        return [clusters]
    counts = numbers_to_try(estimator, clusters)
    if counts is not None:
        return list(counts)
    if "searched" in estimator.method.number:
        low, high = estimator.cluster_range
        return list(range(max(low, 2), max(min(high, TRIED), 2) + 1))
    return [2]


def _light_settings(estimator: Any, n_clusters: int, starts: int) -> dict[str, Any]:
    """So many starts, one number, no bar."""
    settings = {"n_clusters": n_clusters, "n_init": starts, "verbose": 0, "random_state": 0}
    if "given" not in estimator.method.number:
        del settings["n_clusters"]
    return {name: value for name, value in settings.items() if name in estimator.parameters}


def _seconds(probe: Any, X: Any, probes: tuple[int, ...]) -> dict[int, float]:
    """Seconds of fits to so many rows; nothing where one fails."""
    rng = np.random.default_rng(0)
    times: dict[int, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for size in probes:
                size = min(size, len(X))
                drawn = np.sort(rng.choice(len(X), size, replace=False))
                if not times:
                    clone(probe).fit(_take_rows(probe, X, drawn[:: max(size // WARM, 1)]))
                began = process_time()
                clone(probe).fit(_take_rows(probe, X, drawn))
                times[size] = process_time() - began
                if times[size] > SHORT:
                    break
        except (ValueError, np.linalg.LinAlgError, MemoryError):  # whatever is wrong, the fit itself will say
            return {}
    return times


def _take_rows(probe: Any, X: Any, rows: np.ndarray) -> Any:
    taken = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
    if not is_precomputed(probe):
        return taken
    return taken.iloc[:, rows] if hasattr(X, "iloc") else taken[:, rows]


def _round_text(number: float) -> str:
    """One digit, or two when they are few: 2, 7, 20, 40."""
    return f"{number:.0f}" if number < 10 else f"{round(number, -1):.0f}"
