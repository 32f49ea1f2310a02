"""Give each node of a weighted graph the label that most of the weight around it has, one node at a time."""

from __future__ import annotations

import numpy as np

from evidentia.solvers.compiling import compiled, parts


def sweep(
    start: np.ndarray,
    neighbor: np.ndarray,
    weight: np.ndarray,
    order: np.ndarray,
    labels: np.ndarray,
    score: np.ndarray,
) -> int:
    """Visit the nodes in the given order and relabel them in place; returns the number of nodes that changed.

    Node i has the edges ``start[i]`` to ``start[i + 1]`` of ``neighbor`` and ``weight``. A node keeps its label unless
    another one has more weight around it; of several the one met first wins. ``score`` holds a zero for each label,
    before and after.
    """
    shares = parts(len(order), _work_of_node(start, neighbor))
    return sum(_relabel(start, neighbor, weight, order[part], labels, score) for part in shares)


def _work_of_node(start: np.ndarray, neighbor: np.ndarray) -> float:
    return 10 * len(neighbor) / len(start)


@compiled
def _relabel(start, neighbor, weight, order, labels, score):
    n_moved = 0
    for i in order:
        best = labels[i]
        for e in range(start[i], start[i + 1]):
            score[labels[neighbor[e]]] += weight[e]
        highest = score[best]
        for e in range(start[i], start[i + 1]):
            label = labels[neighbor[e]]
            if score[label] > highest:
                best, highest = label, score[label]
        for e in range(start[i], start[i + 1]):
            score[labels[neighbor[e]]] = 0.0
        if best != labels[i]:
            labels[i] = best
            n_moved += 1
    return n_moved


def weight_between(start: np.ndarray, neighbor: np.ndarray, weight: np.ndarray, labels: np.ndarray) -> float:
    """Sum of the weights of edges whose ends have different labels."""
    total = 0.0
    for part in parts(len(labels), _work_of_node(start, neighbor)):
        total = _add_weight_between(start, neighbor, weight, labels, part.start, part.stop, total)
    return total


@compiled
def _add_weight_between(start, neighbor, weight, labels, first, last, total):
    for i in range(first, last):
        for e in range(start[i], start[i + 1]):
            if labels[neighbor[e]] != labels[i]:
                total += weight[e]
    return total


def weight_by_label(
    start: np.ndarray, neighbor: np.ndarray, weight: np.ndarray, labels: np.ndarray, n_labels: int
) -> np.ndarray:
    """Weight around each node that has each label, shape (n_nodes, n_labels)."""
    support = np.zeros((len(start) - 1, n_labels))
    for part in parts(len(support), _work_of_node(start, neighbor)):
        _add_weight_by_label(start, neighbor, weight, labels, part.start, part.stop, support)
    return support


@compiled
def _add_weight_by_label(start, neighbor, weight, labels, first, last, support):
    for i in range(first, last):
        for e in range(start[i], start[i + 1]):
            support[i, labels[neighbor[e]]] += weight[e]
