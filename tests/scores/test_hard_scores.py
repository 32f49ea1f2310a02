"""Scores of hard partitions: by hand, by counting pairs, at the edges, and their error messages."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from evidentia.scores import hard_scores, pair_precision, pair_recall, purity

FOUND = [1, 1, 1, 1, 2, 2, 2, 3]
TRUTH = list("aaabbbbb")


@st.composite
def two_labelings(draw):
    n = draw(st.integers(2, 12))
    labels = st.lists(st.integers(-1, 3), min_size=n, max_size=n)
    return draw(labels), draw(labels)


def count_pairs(labels, truth):
    together = [(labels[i] == labels[j], truth[i] == truth[j]) for i, j in combinations(range(len(labels)), 2)]
    return together.count((True, True)), together.count((True, False)), together.count((False, True))


def test_scores_by_hand():
    # cluster 1: a a a b, cluster 2: b b b, cluster 3: b. Together in both: 3 + 3 pairs, found 6 + 3, true 3 + 10.
    assert purity(FOUND, TRUTH) == 7 / 8
    assert pair_precision(FOUND, TRUTH) == pytest.approx(6 / 9)
    assert pair_recall(FOUND, TRUTH) == pytest.approx(6 / 13)


@given(two_labelings())
def test_pair_scores_count_pairs(labelings):
    labels, truth = labelings
    right, wrong, missed = count_pairs(labels, truth)
    assert pair_precision(labels, truth) == pytest.approx(right / (right + wrong) if right + wrong else 1)
    assert pair_recall(labels, truth) == pytest.approx(right / (right + missed) if right + missed else 1)


@given(two_labelings())
def test_purity_takes_the_largest_class_of_each_cluster(labelings):
    labels, truth = map(np.array, labelings)
    largest = sum(max(np.sum(truth[labels == k] == j) for j in set(truth)) for k in set(labels))
    assert purity(labels, truth) == pytest.approx(largest / len(labels))


def test_table_holds_every_score():
    table = hard_scores(FOUND, TRUTH)
    assert list(table.index) == ["purity", "pair_precision", "pair_recall", "rand", "adjusted_rand", "nmi"]
    assert table["purity"] == purity(FOUND, TRUTH)
    assert table["pair_precision"] == pair_precision(FOUND, TRUTH)
    assert table["pair_recall"] == pair_recall(FOUND, TRUTH)
    assert table["rand"] == pytest.approx((6 + 28 - 9 - 7) / 28)
    assert table["adjusted_rand"] == pytest.approx(metrics.adjusted_rand_score(TRUTH, FOUND))
    # NMI by its definition: mutual information over the mean entropy
    joint = np.array([[3, 1], [0, 3], [0, 1]]) / 8
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    held = joint > 0
    information = np.sum(joint[held] * np.log(joint[held] / independent[held]))
    entropy = sum(-np.sum(p * np.log(p)) for p in (joint.sum(axis=0), joint.sum(axis=1)))
    assert table["nmi"] == pytest.approx(2 * information / entropy)


def test_singletons_claim_nothing_wrong_and_recall_nothing():
    assert pair_precision([0, 1, 2], [0, 0, 1]) == 1
    assert pair_recall([0, 1, 2], [0, 0, 1]) == 0
    assert pair_recall([0, 0, 1], [0, 1, 2]) == 1


@pytest.mark.parametrize(
    ("labels", "truth", "message"),
    [
        ([0, 1], [0, 1, 2], "Both partitions must be of the same objects. Got 2 and 3 objects."),
        ([[0, 1]], [0, 1], r"'labels' must be one label for each of at least two objects. .* shape \(1, 2\)"),
        ([0], [0], r"'labels' must be one label for each of at least two objects. .* shape \(1,\)"),
        (
            [0, 1, 1],
            np.array(["a", None, "b"], dtype=object),
            r"'truth' must not have missing labels, but 1 of 3 are missing \(first: object 1\)",
        ),
        ([0.0, np.nan], [0, 1], "'labels' must not have missing labels, but 1 of 2 are missing"),
    ],
)
@pytest.mark.parametrize("score", [purity, pair_precision, pair_recall, hard_scores])
def test_bad_labels_are_named(score, labels, truth, message):
    with pytest.raises(ValueError, match=message):
        score(labels, truth)
