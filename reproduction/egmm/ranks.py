"""Average ranks of methods, Friedman's test, and Bonferroni and Dunn's critical difference [1]_.

.. [1] J. Demšar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research
   7:1-30, 2006.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHA = 0.05


def average_ranks(scores: pd.DataFrame) -> pd.Series:
    """Mean rank of each column, 1 the best; scores count to two decimals, as printed, and a missing one is the last.

    >>> average_ranks(pd.DataFrame({"a": [0.9, 0.5], "b": [0.8, None], "c": [0.801, 0.7]})).to_dict()
    {'a': 1.5, 'b': 2.75, 'c': 1.75}
    """
    return scores.round(2).rank(axis=1, ascending=False, na_option="bottom").mean()


def friedman(ranks: Sequence[float] | pd.Series, n_sets: int) -> float:
    r"""Friedman's statistic of average ranks over ``n_sets`` data sets.

    .. math:: \chi_F^2 = \frac{12 N}{k (k + 1)} \Big( \sum_j R_j^2 - \frac{k (k + 1)^2}{4} \Big)

    >>> friedman([1, 2, 3], 5)
    10.0
    """
    mean = np.asarray(ranks, dtype=float)
    k = len(mean)
    return float(12 * n_sets / (k * (k + 1)) * (np.square(mean).sum() - k * (k + 1) ** 2 / 4))


def critical_value(n_methods: int, alpha: float = ALPHA) -> float:
    """Friedman's statistic above which the methods differ."""
    return float(stats.chi2.ppf(1 - alpha, n_methods - 1))


def critical_difference(n_methods: int, n_sets: int, alpha: float = ALPHA) -> float:
    """Difference of average ranks above which a method differs from the one all are compared with.

    >>> round(critical_difference(7, 8), 2)
    2.85
    """
    quantile = stats.norm.ppf(1 - alpha / (2 * (n_methods - 1)))
    return float(quantile * _unit(n_methods, n_sets))


def draw_ranks(ax: Axes, ranks: Mapping[str, float], n_sets: int) -> None:
    """Critical-difference diagram: methods that are joined do not differ."""
    try:
        from scikit_posthocs import critical_difference_diagram
    except ImportError as error:
        raise ImportError("The diagram of ranks needs scikit-posthocs: pip install 'evidentia[reproduce]'.") from error
    mean = pd.Series(dict(ranks))
    gap = np.abs(np.subtract.outer(mean.to_numpy(), mean.to_numpy())) / _unit(len(mean), n_sets)
    p_values = np.minimum(1.0, 2 * stats.norm.sf(gap) * (len(mean) - 1))
    critical_difference_diagram(
        mean,
        pd.DataFrame(p_values, index=mean.index, columns=mean.index),
        alpha=ALPHA,
        ax=ax,
        label_fmt_left="{label} ({rank:.2f})",
        label_fmt_right="({rank:.2f}) {label}",
    )


def _unit(n_methods: int, n_sets: int) -> float:
    return float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))
