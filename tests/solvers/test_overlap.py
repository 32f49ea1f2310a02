"""Pairs of clusters that are near each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.solvers.overlap import mutual_near_pairs


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
