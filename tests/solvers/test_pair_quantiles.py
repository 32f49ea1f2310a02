import numpy as np
import pytest

from evidentia.solvers.pair_quantiles import all_pairs, chosen_pairs, tail_quantiles


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 20, 21, 200, 1000])
@pytest.mark.parametrize("share", [0.0, 0.025, 0.05, 0.31, 0.5])
def test_tail_quantiles_are_numpys(count, share):
    values = np.random.default_rng(count).normal(size=(30, count))
    expected = np.quantile(values, [share, 1 - share], axis=1)
    lower, upper = tail_quantiles(values.copy(), share)
    np.testing.assert_allclose(lower, expected[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(upper, expected[1], rtol=1e-12, atol=1e-14)


def test_intervals_of_all_and_of_chosen_pairs_match_the_definition():
    posteriors = np.random.default_rng(0).dirichlet([0.4, 0.7, 0.2], size=(9, 50)).transpose(2, 0, 1).copy()
    for i, lower, upper in all_pairs(posteriors, 0.05):
        for step, j in enumerate(range(i + 1, 9)):
            draws = (posteriors[:, i] * posteriors[:, j]).sum(axis=0)
            assert (lower[step], upper[step]) == pytest.approx(tuple(np.quantile(draws, [0.05, 0.95])))
    pairs = np.array([[0, 8], [3, 1], [2, 2]])
    lower, upper = chosen_pairs(posteriors, pairs, 0.1)
    for at, (i, j) in enumerate(pairs):
        draws = (posteriors[:, i] * posteriors[:, j]).sum(axis=0)
        assert (lower[at], upper[at]) == pytest.approx(tuple(np.quantile(draws, [0.1, 0.9])))


def test_renumbering_the_classes_of_a_replicate_changes_nothing():
    rng = np.random.default_rng(1)
    posteriors = rng.dirichlet([1, 1, 1], size=(6, 40)).transpose(2, 0, 1).copy()
    moved = posteriors.copy()
    for b in range(40):
        moved[:, :, b] = posteriors[rng.permutation(3), :, b]
    for (_, *a), (_, *b) in zip(all_pairs(posteriors, 0.05), all_pairs(moved, 0.05)):
        np.testing.assert_allclose(a, b)
