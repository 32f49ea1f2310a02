"""Pairs of clusters that are near each other, and sets of clusters that share objects."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.solvers.overlap import mutual_near_pairs, shared_sets


def chain(n_clusters):
    at = np.arange(n_clusters)
    return np.exp(-np.abs(at[:, None] - at).astype(float) - 0.01 * (at[:, None] + at))


def test_in_a_chain_two_neighbors_give_the_links():
    assert mutual_near_pairs(chain(5), 2) == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_nearness_has_to_be_mutual():
    # 2 is nearest to 1, but 1 prefers 0
    similarity = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.5], [0.1, 0.5, 1.0]])
    assert mutual_near_pairs(similarity, 1) == [(0, 1)]


def test_a_large_diagonal_is_not_a_neighbor():
    assert mutual_near_pairs(chain(4) + 100 * np.eye(4), 2) == mutual_near_pairs(chain(4), 2)


def test_clusters_without_similarity_are_not_near():
    similarity = np.zeros((4, 4))
    similarity[2, 3] = similarity[3, 2] = 0.2
    assert mutual_near_pairs(similarity, 3) == [(2, 3)]


@pytest.mark.parametrize(("n_clusters", "expected"), [(1, []), (2, [(0, 1)])])
def test_few_clusters(n_clusters, expected):
    assert mutual_near_pairs(chain(n_clusters), 2) == expected


@given(st.integers(2, 9), st.integers(1, 10), st.integers(0, 10_000))
def test_pairs_are_those_of_the_definition(n_clusters, n_near, seed):
    root = np.random.default_rng(seed).uniform(0, 1, (12, n_clusters))
    similarity = root.T @ root

    def near(k):
        others = sorted((m for m in range(n_clusters) if m != k), key=lambda m: -similarity[k, m])
        return others[:n_near]

    expected = [(a, b) for a in range(n_clusters) for b in range(a + 1, n_clusters) if b in near(a) and a in near(b)]
    assert mutual_near_pairs(similarity, n_near) == expected
    assert len(expected) <= n_clusters * n_near / 2


def probabilities(n, c, seed, sharpness=3.0):
    scores = np.exp(sharpness * np.random.default_rng(seed).normal(size=(n, c)))
    return scores / scores.sum(axis=1, keepdims=True)


def held(posterior, weight, subset):
    """Objects that all clusters of a set share."""
    return sum(w * min(row[k] for k in subset) for w, row in zip(weight, posterior))


@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0.002, 0.3))
def test_shared_sets_are_those_of_the_definition(seed, c, share):
    posterior = probabilities(15, c, seed)
    weight = np.random.default_rng(seed).uniform(0.3, 3, size=15)
    size = weight @ posterior
    expected = {(k,) for k in range(c)}
    for n in range(2, c + 1):
        expected |= {
            subset
            for subset in combinations(range(c), n)
            if held(posterior, weight, subset) >= max(0.5, share * min(size[list(subset)]))
            and all(part in expected for part in combinations(subset, n - 1))
        }
    found = shared_sets(posterior, weight, share=share, most=100)
    assert {tuple(sorted(subset)) for subset in found} == expected
    order = np.random.default_rng(seed).permutation(c)
    turned = shared_sets(posterior[:, order], weight, share=share, most=100)
    assert {tuple(sorted(order[list(subset)].tolist())) for subset in turned} == expected


def test_a_small_cluster_between_two_does_not_join_them():
    """What the three share is much of the small one, and next to nothing of the others."""
    rest = [[1, 0, 0]] * 400 + [[0, 1, 0]] * 400 + [[0, 0, 1]] * 20
    posterior = np.array([[0.34, 0.33, 0.33], [0.34, 0.33, 0.33], *rest])
    found = shared_sets(posterior, np.ones(len(posterior)))
    assert found.names() == ["{0}", "{1}", "{2}", "{0,2}", "{1,2}"]


def test_half_an_object_is_the_least_that_is_shared():
    posterior = np.array([[0.8, 0.2], [0.7, 0.3], [0.1, 0.9]])  # 0.2 + 0.3 + 0.1
    assert len(shared_sets(posterior, np.ones(3))) == 3
    assert len(shared_sets(posterior, np.full(3, 0.8))) == 2
    assert len(shared_sets(posterior, np.full(3, 2.0), share=0.42)) == 3  # 1.2 of the smaller cluster's 2.8
    assert len(shared_sets(posterior, np.full(3, 2.0), share=0.44)) == 2


@pytest.mark.parametrize(("c", "most"), [(6, 2), (8, 1), (12, 3)])
def test_of_too_many_shared_sets_those_that_share_most_are_kept(c, most):
    posterior, weight = probabilities(80, c, 1, sharpness=0.5), np.ones(80)
    found = shared_sets(posterior, weight, most=most)
    several = [subset for subset in found if len(subset) > 1]
    assert len(several) == most * c
    assert sorted(min(subset) for subset in found if len(subset) == 1) == list(range(c))
    least = min(held(posterior, weight, subset) for subset in several)
    left_out = [pair for pair in combinations(range(c), 2) if set(pair) not in several]
    assert all(held(posterior, weight, pair) <= least for pair in left_out)
    for subset in several:  # a set shares no more than its parts
        assert all(set(pair) in several for pair in combinations(subset, 2))


def test_many_clusters_without_overlap_are_single():
    found = shared_sets(np.eye(40)[np.arange(200) % 40], np.ones(200))
    assert found.card.tolist() == [1] * 40
