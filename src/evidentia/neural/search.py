"""Several starts of a network towards one problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm.auto import tqdm

from evidentia.belief import FocalSets
from evidentia.dissimilarities import Table
from evidentia.dissimilarities.conflict import CERTAIN
from evidentia.neural._torch import check_device, load_torch
from evidentia.neural.lessons import Lesson
from evidentia.neural.losses import squared_distances, start_penalty
from evidentia.neural.network import MassNetwork, check_width, draw_weights, perceptron
from evidentia.neural.objective import Objective
from evidentia.neural.posing import SAMPLE, Problem
from evidentia.neural.training import Training, Watch, by_batches, quasi_newton
from evidentia.solvers.blocks import row_blocks

if TYPE_CHECKING:
    from torch import Tensor

    from evidentia.neural.nnevclus import NNEVCLUS

STEP = {"adam": 0.01, "rmsprop": 0.003}
UNITS, UNITS_WITH_LINKS = 20, 150  # a link may ask for a bend of its own
LESSON_STEPS = 2000  # towards a lesson, before the loss itself counts


@dataclass
class Found:
    """A trained network, and how all starts ended."""

    network: MassNetwork
    training: Training
    criterion: float
    start_criteria: list[float] = field(default_factory=list)
    interrupted: bool = False


def masses_of(network: MassNetwork, rows: np.ndarray, inside: np.ndarray | None) -> np.ndarray:
    """Masses of inputs, some at a time."""
    torch = load_torch()
    found = []
    with torch.no_grad():
        for some in row_blocks(len(rows), int(np.prod(rows.shape[1:])) + 64):
            where = None if inside is None else torch.as_tensor(inside[some])
            found.append(network.masses(torch.as_tensor(rows[some]), where).numpy())
    return np.concatenate(found)


class Search:
    """Descents on one problem over some focal sets, by the settings of an estimator."""

    def __init__(self, model: NNEVCLUS, problem: Problem, focal_sets: FocalSets, rng: np.random.RandomState):
        self.model, self.problem, self.focal_sets, self.rng = model, problem, focal_sets, rng

    def best_of(self, lessons: list[Lesson | None]) -> Found:
        """One start for each lesson, or from random weights; the one that ends with the lowest criterion."""
        runs: list[Found] = []
        with tqdm(lessons, desc="NNEVCLUS", unit="start", leave=False, disable=not self.model.verbose) as bar:

            def watch(iteration: int, loss: float) -> None:
                bar.set_postfix(iteration=iteration, loss=f"{loss:.6g}", refresh=False)

            for start, lesson in enumerate(bar):
                network = self.new_network(fresh=start > 0)
                try:
                    self.learn(network, lesson, watch)
                    runs.append(self.judged(network, self.train(network, watch)))
                except KeyboardInterrupt:
                    if not runs:
                        raise
                    runs[-1].interrupted = True
                if runs[-1].interrupted:
                    break
        best = min(runs, key=lambda run: run.criterion)
        best.start_criteria, best.interrupted = [run.criterion for run in runs], runs[-1].interrupted
        return best

    def judged(self, network: MassNetwork, training: Training) -> Found:
        """The network at rest, with the criterion of the pairs that are looked at as a whole."""
        torch = load_torch()
        network.to(torch.float64, "cpu").module.eval()
        objective = self.objective(network)
        with torch.no_grad():
            criterion = objective(self.problem.among, objective.on(self.problem.pairs)).item()
        criterion = criterion if np.isfinite(criterion) else np.inf
        return Found(network, training, criterion, [criterion], training.interrupted)

    def new_network(self, *, fresh: bool) -> MassNetwork:
        torch = load_torch()
        model, problem, f = self.model, self.problem, len(self.focal_sets)
        if model.module is None:
            least = UNITS_WITH_LINKS if problem.constraints is not None else UNITS
            hidden = max(least, -(-3 * f // 2)) if model.hidden is None else model.hidden
            module = perceptron(problem.rows.shape[1], np.atleast_1d(hidden).tolist(), f)
        else:
            module = model.module
            if not isinstance(module, torch.nn.Module):
                raise TypeError(f"The 'module' parameter of NNEVCLUS must be a torch.nn.Module. Got {module!r}.")
        network = MassNetwork(module, self.focal_sets.empty_index if model.outliers else None)
        if model.module is not None and fresh:
            draw_weights(network.module)
        network.to(torch.float64 if problem.method == "lbfgs" else torch.float32, check_device(model.device))
        if model.module is not None:
            like = {"dtype": network.parameters[0].dtype, "device": network.parameters[0].device}
            check_width(network.module, torch.as_tensor(problem.rows[:2], **like), f, self.focal_sets.names())
        network.module.train()
        return network

    def objective(self, network: MassNetwork) -> Objective:
        problem = self.problem
        settings = {"xi": self.model.xi, "label_weight": self.model.label_weight, "l2": self.model.l2}
        return Objective(network, problem.rows, problem.inside, self.focal_sets, problem.knowledge, **settings)

    def learn(self, network: MassNetwork, lesson: Lesson | None, watch: Watch) -> None:
        """Bring the network near the masses of a lesson."""
        if lesson is None:
            return
        objective = self.objective(network)

        def loss(places: np.ndarray) -> Tensor:
            return start_penalty(objective.masses(lesson.objects[places]), objective.tensor(lesson.masses[places]))

        places = np.arange(len(lesson.objects))
        n_steps = 1 if self.problem.method == "lbfgs" else len(self.batches(places))
        if self.descend(network, loss, places, max_iter=max(1, LESSON_STEPS // n_steps), watch=watch).interrupted:
            raise KeyboardInterrupt

    def train(self, network: MassNetwork, watch: Watch) -> Training:
        """Make the loss small, over all pairs or those of a batch."""
        problem, objective = self.problem, self.objective(network)
        whole = objective.on(problem.pairs) if problem.method == "lbfgs" else None

        def loss(rows: np.ndarray) -> Tensor:
            if whole is not None:
                return objective(rows, whole)
            pair_loss = objective.on_all(self.batch_targets(objective, rows))
            return objective(rows, pair_loss, objective.knowledge.some(self.model.batch_size, self.rng))

        judge = self.judge(objective) if self.model.early_stopping else None
        return self.descend(network, loss, problem.train, max_iter=self.model.max_iter, watch=watch, judge=judge)

    def descend(
        self, network: MassNetwork, loss: Callable[[np.ndarray], Tensor], objects: np.ndarray, **settings: Any
    ) -> Training:
        """By quasi-Newton steps on all objects at once, or by small steps on batches of them."""
        model, method = self.model, self.problem.method
        settings.update(tol=model.tol, patience=model.patience)
        if method == "lbfgs":
            return quasi_newton(network, lambda: loss(objects), **settings)
        rate = STEP[method] if model.learning_rate is None else model.learning_rate
        return by_batches(
            network, loss, lambda: self.batches(objects), optimizer=method, learning_rate=rate, **settings
        )

    def batches(self, objects: np.ndarray) -> list[np.ndarray]:
        return np.array_split(self.rng.permutation(objects), max(1, len(objects) // self.model.batch_size))

    def batch_targets(self, objective: Objective, rows: np.ndarray) -> Tensor:
        """The conflict that the dissimilarities of a batch ask for; Euclidean ones are measured on the device."""
        source, delta0 = self.problem.source, self.problem.delta0
        if isinstance(source, Table) and source.metric == "euclidean" and delta0 is not None:
            rate = np.log(CERTAIN) * (self.problem.inputs.scale / delta0) ** 2
            return -squared_distances(self.problem.inputs.compared(objective.rows[rows])).mul_(rate).expm1_()
        return objective.tensor(self.problem.targets(rows))

    def judge(self, objective: Objective) -> Callable[[], float]:
        """Loss of the pairs of (at most 1,000 of) the objects held back."""
        torch = load_torch()
        held_back = self.problem.held_back[:SAMPLE]
        pair_loss = objective.on_all(objective.tensor(self.problem.targets(held_back)))
        module = objective.network.module

        def judge() -> float:
            module.eval()
            with torch.no_grad():
                value = pair_loss(objective.masses(held_back)).item()
            module.train()
            return value

        return judge
