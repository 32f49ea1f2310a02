"""What the merges say: a tree for SciPy, cuts of it, and where to cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class BeliefTree:
    """All merges of n leaves, in order; the t-th makes node n + t.

    Attributes
    ----------
    merges : ndarray of shape (n - 1, 2)
    betp, mass : ndarray of shape (n - 1, 2)
        Pignistic probability and mass that each of the two clusters gave to the other.
    """

    merges: np.ndarray
    betp: np.ndarray
    mass: np.ndarray

    @property
    def n_leaves(self) -> int:
        return len(self.merges) + 1

    @property
    def index(self) -> np.ndarray:
        """The BetP index of the paper: the sum of both pignistic probabilities, shape (n - 1,)."""
        return self.betp.sum(axis=1)

    def linkage(self) -> np.ndarray:
        """The tree as SciPy has it, with heights that rise: the largest index so far.

        Where the index falls, the height rises by the last bit, so that SciPy too can cut between any two merges.

        Examples
        --------
        >>> tree = BeliefTree(np.array([[0, 1], [2, 3]]), np.array([[0.6, 0.7], [1, 1]]), np.zeros((2, 2)))
        >>> tree.linkage()
        array([[0. , 1. , 1.3, 2. ],
               [2. , 3. , 2. , 3. ]])
        """
        n = self.n_leaves
        size = np.ones(2 * n - 1)
        height = self.index
        for t, (a, b) in enumerate(self.merges):
            size[n + t] = size[a] + size[b]
            if t > 0:
                height[t] = max(height[t], np.nextafter(height[t - 1], np.inf))
        return np.column_stack([self.merges, height, size[n:]])

    def leaves_of(self, n_clusters: int) -> np.ndarray:
        """Node above each leaf when ``n_clusters`` nodes are left, shape (n,)."""
        n = self.n_leaves
        node = np.arange(2 * n - 1)
        for t in range(n - n_clusters - 1, -1, -1):  # from the top down, a node hands its name to its parts
            node[self.merges[t]] = node[n + t]
        return node[:n]

    def joint_nodes(self, n_clusters: int, clusters: dict[int, int]) -> np.ndarray:
        """Mask of the smallest node that holds two clusters of a cut, shape (n_clusters, n_clusters).

        ``clusters`` gives the number of the cluster of each node of the cut.
        """
        n = self.n_leaves
        mask = {node: 1 << k for node, k in clusters.items()}
        joint = np.diag([1 << k for k in range(n_clusters)]).astype(np.int64)
        for t in range(n - n_clusters, n - 1):
            a, b = (mask[node] for node in self.merges[t].tolist())
            mask[n + t] = a | b
            in_a, in_b = (np.flatnonzero(part >> np.arange(n_clusters) & 1) for part in (a, b))
            joint[np.ix_(in_a, in_b)] = joint[np.ix_(in_b, in_a)] = a | b
        return joint
