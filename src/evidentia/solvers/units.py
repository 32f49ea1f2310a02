"""Whether columns are in different units, so that they want one scale before they are compared with each other."""

from __future__ import annotations

import numpy as np

__all__ = ["SPREADS", "on_one_scale", "spread_ratio"]

SPREADS = 3.0  # times: columns whose spreads differ by more are brought to one scale
FEWEST = 4  # columns that can have a scale in common by more than chance
ENDS = 0.1  # of the common range: columns that come so near to its ends were measured on one scale


def spread_ratio(spreads: np.ndarray) -> float:
    """Largest spread of a column over the smallest; 1 where there are none. Constant columns do not count.

    Examples
    --------
    >>> spread_ratio(np.array([0.5, 0.0, 2.0]))
    4.0
    """
    varied = spreads[spreads > 0]
    return float(varied.max() / varied.min()) if len(varied) else 1.0


def on_one_scale(low: np.ndarray, high: np.ndarray) -> bool:
    """Whether most columns, of some at least, come near to both ends of the range of all, like pixels or marks."""
    if len(low) < FEWEST:
        return False
    near = ENDS * (high.max() - low.min())
    return bool(((low <= low.min() + near) & (high >= high.max() - near)).mean() > 0.5)


def units_differ(spreads: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether columns of these spreads, and with these smallest and largest values, should be standardized."""
    return spread_ratio(spreads) > SPREADS and not on_one_scale(low, high)
