"""The whole loss of a network on some of the objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.belief import FocalSets
from evidentia.neural._torch import load_torch
from evidentia.neural.knowledge import Knowledge
from evidentia.neural.losses import Partners, all_pairs_loss, partners_loss, weight_decay
from evidentia.neural.network import MassNetwork
from evidentia.relational.cevclus import link_form
from evidentia.relational.pairs import Pairs, occupied_places
from evidentia.solvers.irqp import GroupTargets

if TYPE_CHECKING:
    from torch import Tensor

PairLoss = Callable[["Tensor"], "Tensor"]


@dataclass(frozen=True)
class Penalties:
    """Weight of the links against the dissimilarities, of the labels against the rest, and of the squared weights."""

    xi: float
    label_weight: float
    l2: float


class Batch(NamedTuple):
    """Some objects as the network sees them: its inputs, and the output of the one-class SVM."""

    rows: Tensor
    depth: Tensor | None


def as_tensor(array: np.ndarray, like: dict[str, Any]) -> Tensor:
    """A tensor of the precision and in the place of ``like``."""
    return load_torch().as_tensor(np.require(array, requirements="W"), **like)  # torch refuses frozen arrays


def loss_on_all(target: Tensor, conflict: Tensor) -> PairLoss:
    """(9) over all pairs of some objects, whose ``target (n, n)`` is a tensor."""
    square = target.square().sum()
    return lambda masses: all_pairs_loss(masses, conflict, target, square)


def loss_on(pairs: Pairs, conflict: Tensor) -> PairLoss:
    """(9) or (15) over pairs as they were measured; ``conflict (f, f)`` is the matrix C of (8)."""
    torch, like = load_torch(), {"dtype": conflict.dtype, "device": conflict.device}
    if not isinstance(pairs.layout, GroupTargets):
        return loss_on_all(as_tensor(pairs.layout[0], like), conflict)
    n_places = pairs.layout.values.shape[1] * pairs.layout.values.shape[2]
    order = np.resize(pairs.layout.order, n_places)  # empty places repeat some object and do not count
    partners = Partners(
        torch.as_tensor(order, device=conflict.device),
        torch.as_tensor(pairs.layout.places, device=conflict.device),
        as_tensor(pairs.layout.values[0], like),
        as_tensor(occupied_places(pairs.layout).astype(float), like),
        2 * pairs.n_terms,
    )
    return lambda masses: partners_loss(masses, conflict, partners)


class Objective:
    """Loss of the pairs, of what is known, and of the weights, for one network in its precision and place.

    Parameters
    ----------
    network : MassNetwork
    rows : ndarray of shape (n_samples, ...)
        Inputs of the network.
    depth : ndarray of shape (n_samples,), optional
        Output of the one-class SVM.
    focal_sets : FocalSets
    knowledge : Knowledge
    penalties : Penalties
    """

    def __init__(
        self,
        network: MassNetwork,
        rows: np.ndarray,
        depth: np.ndarray | None,
        focal_sets: FocalSets,
        knowledge: Knowledge,
        penalties: Penalties,
    ):
        parameter = network.parameters[0]
        self.like: dict[str, Any] = {"dtype": parameter.dtype, "device": parameter.device}
        self.network, self.knowledge, self.penalties = network, knowledge, penalties
        self.rows = self.tensor(rows)
        self.depth = None if depth is None else self.tensor(depth)
        self.conflict = self.tensor(focal_sets.disjoint.astype(float))
        self.form = self.tensor(link_form(focal_sets))
        self.member = self.tensor(focal_sets.member)

    def tensor(self, array: np.ndarray) -> Tensor:
        return as_tensor(array, self.like)

    def batch(self, objects: np.ndarray) -> Batch:
        """Some objects, by number."""
        return Batch(self.rows[objects], None if self.depth is None else self.depth[objects])

    def new_batch(self, rows: np.ndarray, depth: np.ndarray | None) -> Batch:
        """Objects that are none of these."""
        return Batch(self.tensor(rows), None if depth is None else self.tensor(depth))

    def masses(self, objects: np.ndarray) -> Tensor:
        """Masses of some objects, by number."""
        return self.network.masses(*self.batch(objects))

    def __call__(self, batch: Batch, pair_loss: PairLoss, knowledge: Knowledge | None = None) -> Tensor:
        known, weights, n = self.knowledge if knowledge is None else knowledge, self.penalties, len(batch.rows)
        masses = self.network.masses(*self._add_known(batch, known.rows))
        loss = pair_loss(masses[:n])
        if len(known.rows):
            loss = known.add_to(
                loss, masses[n:], self.form, self.member, xi=weights.xi, label_weight=weights.label_weight
            )
        return loss + weights.l2 * weight_decay(self.network.layers) if weights.l2 else loss

    def _add_known(self, batch: Batch, objects: np.ndarray) -> Batch:
        """The objects of a batch, and after them those that something is known of."""
        if not len(objects):
            return batch
        cat, known = load_torch().cat, self.batch(objects)
        depth = None if batch.depth is None or known.depth is None else cat([batch.depth, known.depth])
        return Batch(cat([batch.rows, known.rows]), depth)
