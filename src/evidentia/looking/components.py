"""How many principal components say more than noise would: Horn's parallel analysis."""

from __future__ import annotations

import numpy as np

SHUFFLES = 3
MOST_ROWS = 3_000  # drawn from longer tables: eigenvalues of a correlation need no more


def n_components_above_noise(numbers: np.ndarray, *, seed: int = 0) -> int:
    """Leading principal components whose variance is larger than in tables whose columns were shuffled [1]_.

    Shuffling each column for itself keeps its distribution and destroys what columns share.

    Parameters
    ----------
    numbers : ndarray of shape (n_samples, n_features)
        Finite, on the scale on which components are wanted.

    Returns
    -------
    int
        At least 1.

    References
    ----------
    .. [1] J. L. Horn. A rationale and test for the number of factors in factor analysis. Psychometrika 30:179-185,
       1965.

    Examples
    --------
    Two groups in forty columns, and nothing else:

    >>> rng = np.random.default_rng(0)
    >>> n_components_above_noise(rng.normal(size=(100, 40)) + np.repeat([[0.0], [2.0]], 50, axis=0))
    1
    """
    rng = np.random.default_rng(seed)
    if len(numbers) > MOST_ROWS:
        numbers = numbers[rng.choice(len(numbers), MOST_ROWS, replace=False)]
    numbers = numbers - numbers.mean(axis=0)
    noise = np.max([_variances(rng.permuted(numbers, axis=0)) for _ in range(SHUFFLES)], axis=0)
    above = _variances(numbers) > noise
    return max(1, len(above) if above.all() else int(above.argmin()))


def _variances(centered: np.ndarray) -> np.ndarray:
    """Variances of the principal components, largest first, up to a factor."""
    small = centered.T @ centered if centered.shape[0] > centered.shape[1] else centered @ centered.T
    return np.linalg.eigvalsh(small)[::-1]
