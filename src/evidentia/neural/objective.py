r"""The loss of a network: its terms, on tensors of masses (n, f), and the whole on some of the objects.

C and Q are the matrices of (8) and (19).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evidentia.belief import FocalSets
from evidentia.neural._torch import load_torch
from evidentia.neural.knowledge import Knowledge
from evidentia.neural.network import MassNetwork
from evidentia.relational.cevclus import link_form
from evidentia.relational.pairs import Pairs, occupied_places
from evidentia.solvers.irqp import GroupTargets

if TYPE_CHECKING:
    from torch import Tensor
if TYPE_CHECKING:
    from torch import Tensor


def all_pairs_loss(masses: Tensor, conflict: Tensor, target: Tensor, square: Tensor) -> Tensor:
    r"""Mean of :math:`(\kappa_{ij} - \delta^*_{ij})^2` over all pairs of some objects, (9).

    ``target (n, n)`` is symmetric with zeros on its diagonal, ``square`` the sum of its squares. With
    :math:`K = M C M^T` and :math:`G = M^T M`,

    .. math::
        \sum_{i,j} (K - \Delta^*)_{ij}^2 = \mathrm{tr}(C G C G) - 2 \langle M C, \Delta^* M \rangle + \|\Delta^*\|^2,

    so one product with :math:`\Delta^*` serves the value and the gradient, and K is never formed.
    """
    n = len(masses)
    opposed = masses @ conflict
    shared = (masses.T @ opposed) @ (masses.T @ opposed)
    seen = target @ masses.detach()
    cross = (opposed * seen).sum()
    # Of <MC, D M> only the first M is followed; as C and D are symmetric, that is half of the gradient.
    cross = 2 * cross - cross.detach()
    own = (opposed * masses).sum(1)
    total = shared.trace() - 2 * cross + square - own.square().sum()
    return total / (n * (n - 1))


class Partners(NamedTuple):
    """Pairs of loss (15): objects ``order`` in groups, the positions of each group's partners, and the targets.

    ``places (g, k)`` are positions in ``order``; ``target`` and ``counts`` are (g, size, k), zero at empty places, and
    ``total`` is the sum of ``counts``.
    """

    order: Tensor
    places: Tensor
    target: Tensor
    counts: Tensor
    total: int


def partners_loss(masses: Tensor, conflict: Tensor, partners: Partners) -> Tensor:
    r"""Mean of :math:`(\kappa_{ij} - \delta^*_{ij})^2` over each object's partners, (15).

    Partnership is mutual: each pair is met from both sides, so a gradient that follows one of them is half of it.
    """
    n_groups, size, _ = partners.target.shape
    rows = masses[partners.order]
    opposed = (rows @ conflict).view(n_groups, size, -1)
    theirs = rows.detach()[partners.places]
    residual = (opposed @ theirs.transpose(1, 2) - partners.target) * partners.counts
    loss = residual.square().sum() / partners.total
    return 2 * loss - loss.detach()


def links_penalty(first: Tensor, second: Tensor, form: Tensor, must: Tensor, certainty: Tensor) -> Tensor:
    r"""Penalty of (17)–(19) for :math:`\xi = 1`: :math:`m_i^T Q m_j` or two less it, over twice the number of links."""
    broken = ((first @ form) * second).sum(1)
    return (certainty * (must * broken + (1 - must) * (2 - broken))).sum() / (2 * len(first))


def labels_penalty(masses: Tensor, member: Tensor, possible: Tensor) -> Tensor:
    r"""Mean over labeled objects of :math:`\sum_l (pl_{il} - y_{il})^2`, (21); ``possible (n_s, c)`` holds y."""
    return (masses @ member - possible).square().sum() / len(masses)


def weight_decay(layers: Iterable[list[Tensor]]) -> Tensor | float:
    r"""Sum over layers of the mean square of a layer's weights and biases, halved: the :math:`\ell_2` term."""
    return sum(sum(p.square().sum() for p in layer) / sum(p.numel() for p in layer) for layer in layers) / 2


def start_penalty(masses: Tensor, given: Tensor) -> Tensor:
    """Mean cross-entropy of given masses and the network's: what a start from a partition makes small."""
    return -(given * (masses + 1e-12).log()).sum() / len(masses)


def squared_distances(rows: Tensor) -> Tensor:
    """Squared Euclidean distances of some rows, (n, n); about their mean, so that single precision is enough."""
    rows = rows - rows.mean(0)
    square = rows.square().sum(1)
    return (square[:, None] + square - 2 * rows @ rows.T).clamp_(min=0).fill_diagonal_(0)


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
