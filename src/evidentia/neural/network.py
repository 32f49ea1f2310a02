"""The network, the coefficients of the outliers, and the masses that both make of an input."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evidentia.belief import FocalSets
from evidentia.neural._torch import load_torch
from evidentia.neural.outliers import START, coefficients, discount
from evidentia.solvers.memory import row_blocks
from evidentia.storage import GivenParameter

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

UNITS, UNITS_WITH_LINKS = 20, 150  # a link may ask for a bend of its own


@dataclass(frozen=True)
class Architecture:
    """How a network is built: units of each hidden layer or a module of the user's own, and whether with outliers."""

    hidden: Any
    module: Any
    outliers: bool

    def build(self, n_inputs: int, focal_sets: FocalSets, *, links: bool) -> MassNetwork:
        """A network for inputs of some width; with a module of the user's own, one with its weights."""
        torch, f = load_torch(), len(focal_sets)
        module = self.module
        if module is None:
            hidden = max(UNITS_WITH_LINKS if links else UNITS, -(-3 * f // 2)) if self.hidden is None else self.hidden
            module = perceptron(n_inputs, np.atleast_1d(hidden).tolist(), f)
        elif not isinstance(module, torch.nn.Module):
            raise TypeError(f"The 'module' parameter of NNEVCLUS must be a torch.nn.Module. Got {module!r}.")
        return MassNetwork(module, focal_sets.empty_index if self.outliers else None)


def perceptron(n_inputs: int, hidden: Sequence[int], n_outputs: int) -> nn.Sequential:
    """Rectified linear layers (10) and a linear output (11a)."""
    nn = load_torch().nn
    sizes = [n_inputs, *hidden]
    layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], n_outputs))


def is_perceptron(module: nn.Module) -> bool:
    """Whether :func:`perceptron` could have built the module."""
    nn, parts = load_torch().nn, list(module.children())
    kinds = [type(part) for part in parts]
    alternate = kinds == [(nn.Linear, nn.ReLU)[at % 2] for at in range(len(kinds))] and len(kinds) % 2 == 1
    return type(module) is nn.Sequential and alternate and all(part.bias is not None for part in parts[::2])


def draw_weights(module: nn.Module) -> None:
    """Fresh random weights for every layer that knows how to draw them."""
    for part in module.modules():
        redraw: Any = getattr(part, "reset_parameters", None)
        if redraw is not None:
            redraw()


class MassNetwork:
    """A module with one output for each focal set, and the two coefficients of (13b) when outliers are looked for.

    Parameters
    ----------
    module : torch.nn.Module
        A copy is kept; the caller's is not trained.
    empty : int, optional
        Position of the empty set; given when outliers are looked for.
    """

    def __init__(self, module: nn.Module, empty: int | None = None):
        torch = load_torch()
        self.module = copy.deepcopy(module)
        self.empty = empty
        self.raw = None if empty is None else torch.tensor(START, dtype=torch.float64, requires_grad=True)

    def to(self, dtype: torch.dtype, device: Any) -> MassNetwork:
        """The same network in another precision or place."""
        self.module = self.module.to(device=device, dtype=dtype)
        if self.raw is not None:
            self.raw = self.raw.detach().to(device=device, dtype=dtype).requires_grad_()
        return self

    def masses(self, inputs: Tensor, depth: Tensor | None) -> Tensor:
        """Softmax (11b) of the outputs, discounted by (12) where an SVM looks for outliers."""
        masses = self.module(inputs).softmax(1)
        if self.raw is None:
            return masses
        assert depth is not None
        assert self.empty is not None
        return discount(masses, depth, self.raw, self.empty)

    @property
    def beta(self) -> np.ndarray | None:
        """The coefficients of (13b)."""
        if self.raw is None:
            return None
        return np.array([float(value.detach()) for value in coefficients(self.raw)])

    @property
    def parameters(self) -> list[Tensor]:
        """All that is trained."""
        own: list[Tensor] = [p for p in self.module.parameters() if p.requires_grad]
        return own if self.raw is None else [*own, self.raw]

    @property
    def layers(self) -> list[list[Tensor]]:
        """Weights and biases, layer by layer."""
        found: list[list[Tensor]] = []
        for part in self.module.modules():
            found.append([p for p in part.parameters(recurse=False) if p.requires_grad])
        return [layer for layer in found if layer]

    def state(self) -> dict[str, np.ndarray]:
        """All numbers of the network by name, as copies."""
        found = {
            f"network.{name}": value.detach().cpu().numpy().copy() for name, value in self.module.state_dict().items()
        }
        if self.raw is not None:
            found["outliers"] = self.raw.detach().cpu().numpy().copy()
        return found

    def to_fields(self) -> dict[str, Any]:
        """What the file of a model holds of it, see :mod:`evidentia.storage`: weights, and not a user's own module."""
        module = None if is_perceptron(self.module) else GivenParameter("module")
        return {"state": self.state(), "empty": self.empty, "module": module}

    @classmethod
    def from_fields(cls, state: dict[str, np.ndarray], empty: int | None, module: Any) -> MassNetwork:
        torch = load_torch()
        if module is None:
            weights = [value for name, value in state.items() if name.endswith(".weight")]
            module = perceptron(weights[0].shape[1], [w.shape[0] for w in weights[:-1]], weights[-1].shape[0])
        network = cls(module, empty).to(torch.float64, "cpu")
        try:
            network.load(state)
        except RuntimeError as error:
            raise ValueError(f"The module does not fit the weights: {error}") from error
        network.module.eval()
        return network

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Take back what :meth:`state` gave."""
        torch = load_torch()
        own = {name.removeprefix("network."): torch.as_tensor(v) for name, v in state.items() if name != "outliers"}
        self.module.load_state_dict(own)
        if self.raw is not None:
            with torch.no_grad():
                self.raw.copy_(torch.as_tensor(state["outliers"]))


def check_width(module: nn.Module, inputs: Tensor, n_focal: int, names: Sequence[str]) -> None:
    """Refuse a module that does not give one output for each focal set."""
    torch = load_torch()
    was_training = module.training
    module.eval()
    with torch.no_grad():
        shape = tuple(module(inputs[:2]).shape)
    module.train(was_training)
    if shape != (min(2, len(inputs)), n_focal):
        raise ValueError(
            f"The 'module' of NNEVCLUS must give one output for each of {n_focal} focal sets ({', '.join(names[:6])}"
            f"{', ...' if len(names) > 6 else ''}), that is, shape (n, {n_focal}). It gives "
            f"{shape[-1] if len(shape) == 2 else shape}."
        )


def compute_masses(network: MassNetwork, rows: np.ndarray, depth: np.ndarray | None) -> np.ndarray:
    """Masses of inputs, some at a time."""
    torch = load_torch()
    found = []
    with torch.no_grad():
        for some in row_blocks(len(rows), int(np.prod(rows.shape[1:])) + 64):
            where = None if depth is None else torch.as_tensor(depth[some])
            found.append(network.masses(torch.as_tensor(rows[some]), where).numpy())
    return np.concatenate(found)
