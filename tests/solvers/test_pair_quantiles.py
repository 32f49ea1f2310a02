import numpy as np
import pytest

from evidentia.solvers.pair_quantiles import _order_statistics, pair_quantiles


def replicated(n, count, seed):
    """Posteriors of n objects in three classes; some are sure, and some replicates equal."""
    rng = np.random.default_rng(seed)
    drawn = rng.dirichlet([0.2, 0.3, 0.1], size=(n, count))
    drawn[0] = [0, 1, 0]
    drawn[1, : count // 2] = [1, 0, 0]
    return np.ascontiguousarray(drawn.transpose(2, 0, 1), dtype=np.float32)


def every_pair(n):
    return np.column_stack(np.triu_indices(n, 1))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 20, 21, 200, 1000])
@pytest.mark.parametrize("share", [0.0, 0.025, 0.05, 0.31, 0.5])
def test_bounds_are_numpys_quantiles_of_the_draws(count, share):
    posteriors = replicated(8, count, seed=count)
    pairs = every_pair(8)
    draws = np.einsum("kpb,kpb->pb", posteriors[:, pairs[:, 0]], posteriors[:, pairs[:, 1]])
    expected = np.quantile(draws.astype(float), [share, 1 - share], axis=1)
    lower, upper = pair_quantiles(posteriors, pairs, share)
    np.testing.assert_allclose(lower, expected[0], rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(upper, expected[1], rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_draws_that_are_all_equal_are_their_own_bounds(value):
    posteriors = np.full((1, 2, 50), np.sqrt(value), dtype=np.float32)
    lower, upper = pair_quantiles(posteriors, np.array([[0, 1]]), 0.05)
    assert (lower[0], upper[0]) == pytest.approx((value, value), abs=1e-7)


@pytest.mark.parametrize("ones", [48, 49, 50, 51, 52])
def test_ties_around_the_quantile(ones):
    """The 5 % quantile of 1,000 draws lies between places 49 and 50, where zeros and ones change over."""
    draws = np.ones(1000, dtype=np.float32)
    draws[:ones] = 0
    posteriors = np.stack([np.ones_like(draws), np.random.default_rng(ones).permutation(draws)])[None]
    lower, upper = pair_quantiles(posteriors, np.array([[0, 1]]), 0.05)
    assert lower[0] == pytest.approx(np.quantile(draws, 0.05), abs=1e-6)
    assert upper[0] == 1


def test_pairs_may_come_in_any_order_and_from_two_tables():
    posteriors, others = replicated(9, 50, seed=0), replicated(4, 50, seed=1)
    pairs = np.array([[0, 3], [8, 1], [2, 2], [5, 0]])
    lower, upper = pair_quantiles(posteriors, pairs, 0.1, others=others)
    for at, (i, j) in enumerate(pairs):
        draws = (posteriors[:, i] * others[:, j]).sum(axis=0)
        assert (lower[at], upper[at]) == pytest.approx(tuple(np.quantile(draws, [0.1, 0.9])), rel=1e-5, abs=1e-7)


def test_renumbering_the_classes_of_a_replicate_changes_nothing():
    rng = np.random.default_rng(1)
    posteriors = replicated(6, 40, seed=2)
    moved = posteriors.copy()
    for b in range(40):
        moved[:, :, b] = posteriors[rng.permutation(3), :, b]
    np.testing.assert_allclose(
        pair_quantiles(posteriors, every_pair(6), 0.05), pair_quantiles(moved, every_pair(6), 0.05), atol=1e-6
    )


@pytest.mark.parametrize("count", [2, 3, 6])
def test_order_statistics_are_those_of_sorted_numbers_ties_among_them(count):
    rng = np.random.default_rng(count)
    for codes in rng.integers(3, 9, size=(300, count)).astype(np.int32):
        for k in range(count - 1):
            found = _order_statistics(codes, k, codes.min(), codes.max())
            assert found == tuple(np.sort(codes)[k : k + 2])
