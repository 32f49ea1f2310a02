"""Make a loss small: quasi-Newton steps on all pairs at once, or small steps on one batch of objects at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize

from evidentia.neural._torch import load_torch
from evidentia.neural.network import MassNetwork
from evidentia.solvers.descent import Watch

if TYPE_CHECKING:
    from torch import Tensor

WINDOW = 10  # iterations over which the fall of the loss is averaged
REDUCTIONS = 5  # times that the step is made smaller before a descent by batches ends
STEP = {"adam": 0.01, "rmsprop": 0.003}  # first steps, where the caller leaves their length open


@dataclass(frozen=True)
class Schedule:
    """How a loss is made small: the optimizer, its batches and steps, and when to stop."""

    optimizer: str
    batch_size: int
    learning_rate: float | None
    max_iter: int
    tol: float
    patience: int

    @property
    def by_batches(self) -> bool:
        return self.optimizer != "lbfgs"

    def batches(self, objects: np.ndarray, rng: np.random.RandomState) -> list[np.ndarray]:
        """The objects of each step of an epoch."""
        return np.array_split(rng.permutation(objects), max(1, len(objects) // self.batch_size))

    def lasting(self, max_iter: int) -> Schedule:
        """The same for another number of iterations."""
        return replace(self, max_iter=max_iter)


@dataclass
class Training:
    """How a descent went; the network holds its best state, which had come after ``kept`` entries of the trace."""

    trace: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    kept: int = 0
    converged: bool = False
    interrupted: bool = False
    failure: str = ""  # where the loss stopped being a number


class NotANumber(ArithmeticError):
    """The loss is NaN or infinite."""


class _Best:
    """The state of the network to go back to: the last good one, or that of the lowest validation loss."""

    def __init__(self, network: MassNetwork, judge: Callable[[], float] | None, patience: int):
        self.network, self.judge, self.patience = network, judge, patience
        self.state = network.state()
        self.lowest, self.since = np.inf, 0

    def update(self, training: Training) -> bool:
        """Note a new state; whether the validation loss has not fallen for too long."""
        if self.judge is not None:
            training.validation.append(self.judge())
            self.since += 1
            if training.validation[-1] >= self.lowest:
                return self.since >= self.patience
            self.lowest, self.since = training.validation[-1], 0
        self.state, training.kept = self.network.state(), len(training.trace)
        return False


def descend_at_once(
    network: MassNetwork,
    loss: Callable[[], Tensor],
    schedule: Schedule,
    *,
    judge: Callable[[], float] | None = None,
    watch: Watch | None = None,
) -> Training:
    """L-BFGS until the loss falls by less than ``tol`` of itself an iteration (mean of ten), or ``judge`` says stop."""
    torch = load_torch()
    parameters = network.parameters
    sizes = [p.numel() for p in parameters]
    training, best = Training(), _Best(network, judge, schedule.patience)

    def assign(vector: np.ndarray) -> None:
        with torch.no_grad():
            for p, part in zip(parameters, torch.as_tensor(vector, device=parameters[0].device).split(sizes)):
                p.copy_(part.view_as(p))

    def evaluate(vector: np.ndarray) -> tuple[float, np.ndarray]:
        assign(vector)
        value = loss()
        if not torch.isfinite(value):
            raise NotANumber
        if not training.trace:
            training.trace.append(value.item())
        slopes = torch.autograd.grad(value, parameters, materialize_grads=True)
        return value.item(), torch.cat([s.reshape(-1) for s in slopes]).double().cpu().numpy()

    def callback(intermediate_result: Any) -> None:
        assign(intermediate_result.x)
        trace = training.trace
        trace.append(float(intermediate_result.fun))
        enough = best.update(training)
        if watch is not None:
            watch(len(trace) - 1, trace[-1])
        if len(trace) > WINDOW and trace[-1 - WINDOW] - trace[-1] <= WINDOW * schedule.tol * abs(trace[-1]):
            enough = True
        if enough:
            training.converged = True
            raise StopIteration

    start = torch.cat([p.detach().reshape(-1) for p in parameters]).double().cpu().numpy()
    limits = {"maxiter": schedule.max_iter, "maxfun": 20 * schedule.max_iter}
    options = {**limits, "ftol": 0.0, "gtol": 0.0, "maxcor": 20}
    try:
        found = minimize(evaluate, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
        training.converged |= found.status != 1  # no way down at all is an end too
    except KeyboardInterrupt:
        if not training.trace:
            raise
        training.interrupted = True
    except NotANumber:
        training.failure = f"in iteration {len(training.trace)}"
    network.load(best.state)
    return training


class Stepper:
    """RMSprop or Adam, on all parameters as one vector: many small tensors would cost more than the batch itself."""

    def __init__(self, parameters: list[Tensor], optimizer: str, learning_rate: float):
        torch = load_torch()
        self.parameters, self.learning_rate, self.count = parameters, learning_rate, 0
        self.sizes = [p.numel() for p in parameters]
        # Adam: means of the slopes over about 10 steps, of their squares over 1,000; RMSprop: of the squares over 10.
        self.keep_slope, self.keep_square = {"adam": (0.9, 0.999), "rmsprop": (0.0, 0.9)}[optimizer]
        self.corrected = optimizer == "adam"
        self.slope = torch.cat([torch.zeros_like(p).reshape(-1) for p in parameters])
        self.square = torch.zeros_like(self.slope)

    def step(self, loss: Tensor) -> None:
        """One step down the loss."""
        torch = load_torch()
        found = torch.autograd.grad(loss, self.parameters, materialize_grads=True)
        with torch.no_grad():
            slope = torch.cat([part.reshape(-1) for part in found])
            self.count += 1
            self.slope.lerp_(slope, 1 - self.keep_slope)
            self.square.mul_(self.keep_square).addcmul_(slope, slope, value=1 - self.keep_square)
            length, root = self.learning_rate, self.square.sqrt()
            if self.corrected:  # the means began at zero
                length /= 1 - self.keep_slope**self.count
                root /= (1 - self.keep_square**self.count) ** 0.5
            change = (self.slope / root.add_(1e-8)).mul_(-length)
            for p, part in zip(self.parameters, change.split(self.sizes)):
                p.add_(part.view_as(p))


def descend_by_batches(
    network: MassNetwork,
    loss: Callable[[np.ndarray], Tensor],
    batches: Callable[[], Iterable[np.ndarray]],
    schedule: Schedule,
    *,
    judge: Callable[[], float] | None = None,
    watch: Watch | None = None,
) -> Training:
    """RMSprop or Adam; ``batches()`` gives the objects of each step of an epoch.

    When the mean loss of an epoch has not fallen by ``tol`` of itself for ``patience`` epochs, steps become a third as
    long; the descent ends when that has happened several times, or when ``judge`` says stop.
    """
    rate = STEP[schedule.optimizer] if schedule.learning_rate is None else schedule.learning_rate
    stepper = Stepper(network.parameters, schedule.optimizer, rate)
    training, best = Training(), _Best(network, judge, schedule.patience)
    lowest, since, reductions = np.inf, 0, 0
    try:
        for epoch in range(schedule.max_iter):
            total = count = 0.0
            for number, rows in enumerate(batches()):
                value = loss(rows)
                number_of_pairs = len(rows) * (len(rows) - 1)
                total += number_of_pairs * value.item()
                count += number_of_pairs
                if not np.isfinite(total):
                    training.failure = f"in batch {number} of epoch {epoch}"
                    raise NotANumber
                stepper.step(value)
            training.trace.append(total / count)
            enough = best.update(training)
            if watch is not None:
                watch(epoch + 1, training.trace[-1])
            since += 1
            if training.trace[-1] < lowest * (1 - schedule.tol):
                lowest, since = training.trace[-1], 0
            if since >= schedule.patience:
                since, reductions = 0, reductions + 1
                stepper.learning_rate /= 3
            if enough or reductions == REDUCTIONS:
                training.converged = True
                break
    except KeyboardInterrupt:
        if not training.trace:
            raise
        training.interrupted = True
    except NotANumber:
        pass
    network.load(best.state)
    return training
