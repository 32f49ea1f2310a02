"""Which columns are refused, against quantiles of every column."""

import numpy as np
import pytest

from evidentia.rows.scan import LEAST_SHARE, LOOKED_AT, TYPICAL, check_precision, ranges_of


def clumped(rng, n, share_of_clump, width):
    """A column with a value far out, most others within a width, and the rest in between."""
    column = rng.uniform(-1, 1, n)
    clump = rng.permutation(n)[: int(np.ceil(share_of_clump * n))]
    column[clump] = width * rng.uniform(0, 1, len(clump))
    column[rng.integers(n)] = 1e3
    return rng.permutation(column)


@pytest.mark.parametrize("n", [2, 5, 9, 10, 11, 31, 300, 2 * LOOKED_AT + 1])
@pytest.mark.parametrize("order", ["mixed", "sorted"])
def test_the_column_that_is_refused_is_the_first_whose_quantiles_are_near(n, order):
    rng = np.random.default_rng(n)
    refused = 0
    for _ in range(60):
        shares, widths = rng.uniform(0.7, 0.9, 6), rng.choice([0, 3e-10, 8e-10, 1.3e-9, 1e-3], 6)
        X = np.column_stack([clumped(rng, n, *pair) for pair in zip(shares, widths)])
        X = np.sort(X, axis=0) if order == "sorted" else X
        ranges, sample = ranges_of(X), X[:: -(-n // LOOKED_AT)]
        low, high = np.quantile(sample, TYPICAL, axis=0)
        near = (high > low) & (high - low < LEAST_SHARE * (ranges.high - ranges.low))
        said = None
        try:
            check_precision(ranges, X, "ECM", str, LEAST_SHARE)
        except ValueError as error:
            said = int(str(error).split("in column ")[1].split(",")[0])
        assert said == (near.argmax() if near.any() else None)
        refused += said is not None
    assert refused >= 10 or n < 11


def test_rows_with_holes_are_left_out():
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[:, 1] *= 1e-16
    X[0, 1], X[1:9, 0] = 1e3, np.nan
    with pytest.raises(ValueError, match=r"X holds 1000 in column 1, where most values differ by \S+e-16 at most"):
        check_precision(ranges_of(X), X, "EGMM", str, LEAST_SHARE)


def test_measurements_need_no_quantiles(monkeypatch):
    """Sorting a wide table takes longer than a start of a fit to it."""
    asked, real = [], np.quantile

    def quantile(few, *arguments, **options):
        asked.append(few.shape)
        return real(few, *arguments, **options)

    monkeypatch.setattr(np, "quantile", quantile)
    X = np.random.default_rng(0).normal(size=(300, 50))
    X[:, 7] = X[:, 7] > 1.5  # most are zero
    check_precision(ranges_of(X), X, "ECM", str, LEAST_SHARE)
    assert asked == [(300, 1)]
