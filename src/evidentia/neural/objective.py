"""The whole loss of a network on some of the objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.belief import FocalSets
from evidentia.neural._torch import load_torch
from evidentia.neural.knowledge import Knowledge
from evidentia.neural.losses import Partners, all_pairs_loss, partners_loss, weight_decay
from evidentia.neural.network import MassNetwork
from evidentia.relational.cevclus import link_form
from evidentia.relational.pairs import Pairs, occupied
from evidentia.solvers.irqp import GroupTargets

if TYPE_CHECKING:
    from torch import Tensor

PairLoss = Callable[["Tensor"], "Tensor"]


class Objective:
    """Loss of the pairs, of what is known, and of the weights, for one network in its precision and place.

    Parameters
    ----------
    network : MassNetwork
    rows : ndarray of shape (n_samples, ...)
        Inputs of the network.
    inside : ndarray of shape (n_samples,), optional
        Output of the one-class SVM.
    focal_sets : FocalSets
    knowledge : Knowledge
    xi, label_weight, l2 : float
    """

    def __init__(
        self,
        network: MassNetwork,
        rows: np.ndarray,
        inside: np.ndarray | None,
        focal_sets: FocalSets,
        knowledge: Knowledge,
        *,
        xi: float,
        label_weight: float,
        l2: float,
    ):
        parameter = network.parameters[0]
        self.like: dict[str, Any] = {"dtype": parameter.dtype, "device": parameter.device}
        self.network, self.knowledge = network, knowledge
        self.rows = self.tensor(rows)
        self.inside = None if inside is None else self.tensor(inside)
        self.conflict = self.tensor(focal_sets.disjoint.astype(float))
        self.form = self.tensor(link_form(focal_sets))
        self.member = self.tensor(focal_sets.member)
        self.xi, self.label_weight, self.l2 = xi, label_weight, l2

    def tensor(self, array: np.ndarray) -> Tensor:
        return load_torch().as_tensor(np.require(array, requirements="W"), **self.like)  # torch refuses frozen arrays

    def masses(self, objects: np.ndarray) -> Tensor:
        """Masses of some objects, by number."""
        return self.network.masses(self.rows[objects], None if self.inside is None else self.inside[objects])

    def __call__(self, objects: np.ndarray, pair_loss: PairLoss, knowledge: Knowledge | None = None) -> Tensor:
        known = self.knowledge if knowledge is None else knowledge
        masses = self.masses(np.concatenate([objects, known.rows]) if len(known.rows) else objects)
        loss = pair_loss(masses[: len(objects)])
        if len(known.rows):
            loss = known.add_to(
                loss, masses[len(objects) :], self.form, self.member, xi=self.xi, label_weight=self.label_weight
            )
        return loss + self.l2 * weight_decay(self.network.layers) if self.l2 else loss

    def on_all(self, wanted: Tensor) -> PairLoss:
        """(9) over all pairs of some objects, whose ``wanted (n, n)`` is a tensor."""
        square = wanted.square().sum()
        return lambda masses: all_pairs_loss(masses, self.conflict, wanted, square)

    def on(self, pairs: Pairs) -> PairLoss:
        """(9) or (15) over pairs as they were measured."""
        torch, device = load_torch(), self.like["device"]
        if not isinstance(pairs.layout, GroupTargets):
            return self.on_all(self.tensor(pairs.layout[0]))
        n_places = pairs.layout.values.shape[1] * pairs.layout.values.shape[2]
        order = np.resize(pairs.layout.order, n_places)  # empty places repeat some object and do not count
        partners = Partners(
            torch.as_tensor(order, device=device),
            torch.as_tensor(pairs.layout.places, device=device),
            self.tensor(pairs.layout.values[0]),
            self.tensor(occupied(pairs.layout).astype(float)),
            2 * pairs.n_terms,
        )
        return lambda masses: partners_loss(masses, self.conflict, partners)
