"""Quantiles of the hump of uniform samples, the table in :mod:`evidentia.verdict.valley`.

``python -m reproduction.truth.uniform`` prints it.
"""

from __future__ import annotations

import numpy as np

from evidentia.verdict.valley import LEVELS, SIZES, hump

SAMPLES = 20_000


def simulate_quantiles(size: int, samples: int, rng: np.random.Generator) -> np.ndarray:
    """Quantiles of the hump of that many uniform samples, with the valley in the middle half."""
    weights = np.ones(size)
    humps = [hump(np.sort(rng.random(size)), weights, (0.25, 0.75)) for _ in range(samples)]
    return np.quantile(humps, LEVELS)


def main() -> None:
    for size in SIZES:
        row = simulate_quantiles(size, SAMPLES, np.random.default_rng([20, size]))
        print(f"    [{', '.join(f'{value:.2f}' for value in row)}],  # {size}")


if __name__ == "__main__":
    main()
