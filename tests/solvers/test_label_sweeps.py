"""Label sweeps on graphs small enough to follow by hand, and against a plain twin."""

import numpy as np

from evidentia.solvers.label_sweeps import sweep, weight_between, weight_by_label


def random_graph(n, k, n_labels, seed):
    rng = np.random.default_rng(seed)
    neighbor = np.array([rng.choice(np.delete(np.arange(n), i), k, replace=False) for i in range(n)])
    return np.arange(0, n * k + 1, k), neighbor.ravel(), rng.uniform(size=n * k), rng.integers(n_labels, size=n)


def test_a_node_takes_the_label_with_most_weight_and_keeps_its_own_in_a_tie():
    # 0 - 1 (weight 2), 0 - 2 (weight 3), and back; 1 and 2 know only 0
    start, neighbor, weight = np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0]), np.array([2.0, 3.0, 2.0, 3.0])
    labels = np.array([5, 1, 4])
    assert sweep(start, neighbor, weight, np.array([0]), labels, np.zeros(6)) == 1
    assert labels.tolist() == [4, 1, 4]
    tied = np.array([1, 1, 4])
    assert sweep(start, neighbor, np.ones(4), np.array([0]), tied, np.zeros(6)) == 0


def test_a_sweep_is_that_of_the_plain_loop():
    start, neighbor, weight, labels = random_graph(60, 6, 8, seed=0)
    order, score = np.random.default_rng(1).permutation(60), np.zeros(8)
    plain = labels.copy()
    for i in order:
        support = np.bincount(plain[neighbor[6 * i : 6 * i + 6]], weight[6 * i : 6 * i + 6], minlength=8)
        if support.max() > support[plain[i]]:
            plain[i] = support.argmax()
    moved = (plain != labels).sum()
    assert sweep(start, neighbor, weight, order, labels, score) == moved > 10
    np.testing.assert_array_equal(labels, plain)
    assert not score.any()


def test_weights_by_label_and_between_labels():
    start, neighbor, weight, labels = random_graph(40, 5, 4, seed=2)
    support = weight_by_label(start, neighbor, weight, labels, 4)
    one_hot = np.eye(4)[labels]
    plain = (weight[:, None] * one_hot[neighbor]).reshape(40, 5, 4).sum(axis=1)
    np.testing.assert_allclose(support, plain)
    own = (plain * one_hot).sum()
    np.testing.assert_allclose(weight_between(start, neighbor, weight, labels), weight.sum() - own)
