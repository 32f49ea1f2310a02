"""Sets with a stated coverage: the threshold by its definition, found by trying every value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.belief.coverage import check_coverage, covering_sets, own_threshold, threshold_of_scores


def drawn_probabilities(n, n_clusters, seed):
    return np.random.default_rng(seed).dirichlet(np.full(n_clusters, 0.6), size=n)


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 50), st.floats(0, 1))
def test_a_set_has_all_clusters_above_the_threshold_and_always_the_likeliest(n, n_clusters, seed, threshold):
    p = drawn_probabilities(n, n_clusters, seed)
    for row, got in zip(p, covering_sets(p, threshold)):
        assert set(np.flatnonzero(got)) == {int(row.argmax()), *(k for k, x in enumerate(row) if x >= threshold)}


@given(st.integers(1, 9), st.integers(2, 4), st.integers(0, 80), st.floats(0.05, 0.99))
def test_the_own_threshold_is_the_largest_whose_sets_hold_the_level(n, n_clusters, seed, coverage):
    p = drawn_probabilities(n, n_clusters, seed)

    def held(threshold):
        return float((p * covering_sets(p, threshold)).sum(axis=1).mean())

    found = own_threshold(p, coverage)
    assert held(found) >= coverage - 1e-8
    larger = [x for x in [1.0, *p.ravel().tolist()] if x > found]
    assert all(held(x) < coverage + 1e-8 for x in larger) or found == 1.0


def test_own_threshold_by_hand():
    p = np.array([[0.5, 0.3, 0.2], [0.6, 0.25, 0.15]])  # the likeliest hold 0.55, with 0.3 it is 0.70, with 0.25 0.825
    assert own_threshold(p, 0.55) == 1.0
    assert own_threshold(p, 0.6) == 0.3
    assert own_threshold(p, 0.7) == 0.3
    assert own_threshold(p, 0.8) == 0.25
    assert own_threshold(p, 0.99) == 0.15


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
def test_the_asked_share_of_the_scores_reaches_the_threshold(coverage):
    scores = np.random.default_rng(1).random(997)
    margin = np.sqrt(coverage * (1 - coverage) / 400)
    found = threshold_of_scores(scores, coverage, 400)
    assert coverage + margin <= (scores >= found).mean() < coverage + margin + 2 / 997


def test_no_threshold_is_below_all_scores_where_the_margin_passes_one():
    assert threshold_of_scores(np.array([0.3, 0.2, 0.9]), 0.99, 4) == 0.2  # 0.99 + 0.05


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, True, float("nan"), [0.9]])
def test_levels_that_are_none_are_refused(level):
    with pytest.raises(ValueError, match="'coverage' must lie between 0 and 1, both excluded"):
        check_coverage(level)
