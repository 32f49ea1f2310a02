r"""The terms of the loss, on tensors of masses (n, f); C and Q are the matrices of (8) and (19)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

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
