import math

import numpy as np
import pytest

from evidentia.solvers.poisson_weights import ENDS, poisson_weights


def slow_weight(row, replicate, seed):
    """By the definition, in whole numbers of any size."""
    whole, step = 2**64, 0x9E3779B97F4A7C15

    def mixed(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % whole
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % whole
        return x ^ (x >> 31)

    hashed = mixed((mixed((mixed(seed) + replicate * step) % whole) + (row + 1) * step) % whole)
    return next(
        k for k in range(20) if hashed / whole <= math.exp(-1) * sum(1 / math.factorial(j) for j in range(k + 1))
    )


@pytest.mark.parametrize("first", [0, 123_456_789_012])
def test_weights_are_what_the_definition_says(first):
    replicates = np.array([0, 3, 999])
    found = poisson_weights(first, 40, replicates, seed=77)
    np.testing.assert_array_equal(found, [[slow_weight(first + i, int(b), 77) for i in range(40)] for b in replicates])


def test_a_row_has_its_weight_wherever_it_is_read():
    whole = poisson_weights(0, 1_000, np.arange(8), seed=3)
    parts = [poisson_weights(start, 125, np.arange(8), seed=3) for start in range(0, 1_000, 125)]
    np.testing.assert_array_equal(np.hstack(parts), whole)
    np.testing.assert_array_equal(poisson_weights(0, 1_000, np.array([5]), seed=3)[0], whole[5])


def test_weights_are_poisson_numbers_that_know_nothing_of_each_other():
    n, m = 12_000, 12
    weights = poisson_weights(0, n, np.arange(m), seed=1)
    expected = n * m * np.array([math.exp(-1) / math.factorial(k) for k in range(6)])
    counts = np.array([(weights == k).sum() for k in range(6)])
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
    between_replicates = np.corrcoef(weights)[np.triu_indices(m, 1)]
    assert np.abs(between_replicates).max() < 5 / np.sqrt(n)
    assert np.abs(np.corrcoef(weights[:, :-1].ravel(), weights[:, 1:].ravel())[0, 1]) < 5 / np.sqrt(n * m)
    assert np.abs(np.corrcoef(weights[0], poisson_weights(0, n, np.arange(1), seed=2)[0])[0, 1]) < 5 / np.sqrt(n)


def test_ends_rise_to_the_last_number_of_64_bits():
    assert (ENDS[1:] > ENDS[:-1]).all()
    assert int(ENDS[0]) / 2**64 == pytest.approx(math.exp(-1), rel=1e-15)
    assert 2**64 - int(ENDS[-1]) < 1e6
