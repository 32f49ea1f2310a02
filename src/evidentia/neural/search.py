"""Several starts of a network toward one problem, and the masses that it learns before the loss itself counts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import Table
from evidentia.dissimilarities.conflict import CERTAIN
from evidentia.neural._torch import load_torch
from evidentia.neural.losses import squared_distances, start_penalty
from evidentia.neural.network import Architecture, MassNetwork, check_width, draw_weights
from evidentia.neural.objective import Batch, Objective, Penalties, loss_on, loss_on_all
from evidentia.neural.problem import SAMPLE, Problem
from evidentia.neural.streaming import Stream
from evidentia.neural.training import Schedule, Training, descend_at_once, descend_by_batches
from evidentia.relational.cevclus import CEVCLUS
from evidentia.solvers.descent import InterruptedFit, Run, Watch, all_runs

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True)
class StartMasses:
    """Masses of some objects, which a network learns first."""

    objects: np.ndarray
    masses: np.ndarray


def solve_without_network(
    problem: Problem, focal_sets: FocalSets, xi: float, rng: np.random.RandomState
) -> StartMasses:
    """The solution of EVCLUS, or of CEVCLUS when there are links, on at most 1,000 objects and on the linked ones.

    Masses that no network binds are easy to find: an object of a link can change its cluster without its neighbors.
    """
    objects, links = problem.train, problem.constraints
    if len(objects) > SAMPLE:
        linked = np.intersect1d(problem.knowledge.rows, objects)[:SAMPLE]
        objects = np.union1d(linked, rng.choice(objects, SAMPLE, replace=False))
    kept = np.isin(links.pairs, objects).all(axis=1)
    places = np.searchsorted(objects, links.pairs[kept])
    model = CEVCLUS(
        focal_sets.n_clusters, focal_sets=focal_sets, xi=xi, metric="precomputed", delta0=None, random_state=rng
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be at rest
        warnings.simplefilter("error", InterruptedFit)
        try:
            model.fit(
                problem.target_conflict(objects),
                constraints=PairwiseConstraints(places, links.must[kept], links.certainty[kept]),
            )
        except InterruptedFit as interrupt:
            raise KeyboardInterrupt from interrupt
    return StartMasses(objects, model.partition_.masses)


START_STEPS = 2000  # toward the masses of a start, before the loss itself counts


@dataclass(frozen=True)
class TrainingResult:
    """A network at rest, the losses of the pairs held back on the way, and where the loss stopped being a number."""

    network: MassNetwork
    validation: np.ndarray
    failure: str


@dataclass(frozen=True)
class Search:
    """Descents on one problem over some focal sets."""

    problem: Problem
    focal_sets: FocalSets
    architecture: Architecture
    penalties: Penalties
    schedule: Schedule
    device: torch.device
    rng: np.random.RandomState

    def run_all(self, starts: Sequence[StartMasses | None], verbose: int) -> list[Run]:
        """One run for each start, from masses that the network learns first, or from random weights."""
        return all_runs(
            lambda start, watch: self.run(start[1], watch, fresh=start[0] > 0),
            list(enumerate(starts)),
            name="NNEVCLUS",
            verbose=verbose,
        )

    def run(self, start: StartMasses | None, watch: Watch, *, fresh: bool) -> Run:
        """Train a new network, and measure the criterion of its best state on the pairs looked at as a whole."""
        network = self.new_network(fresh=fresh)
        if start is not None:
            self.learn_masses(network, start, watch)
        return self.finish(network, self.train(network, watch))

    def train_on_stream(self, run: Run, stream: Stream, watch: Watch) -> Run:
        """Train the network of a run on all rows of a stream, unless the criterion is better as it was.

        It stays as it was, too, if the first pass is interrupted.
        """
        torch, network, problem = load_torch(), deepcopy(run.state.network), self.problem
        network.to(torch.float32, self.device).module.train()
        objective, inputs = self.objective(network), problem.inputs

        def loss(table: np.ndarray) -> Tensor:
            rows = inputs.network_rows(inputs.metric_rows(table, table), table)
            batch = objective.new_batch(rows, inputs.depth(rows))
            return self.batch_loss(objective, batch, lambda: problem.target_conflict_of(table))

        def batches() -> Iterable[np.ndarray]:
            return stream.batches(self.schedule.batch_size, self.rng)

        schedule, judge = stream.schedule(self.schedule), self.judge(objective)
        try:
            training = descend_by_batches(network, loss, batches, schedule, judge=judge, watch=watch)
        except KeyboardInterrupt:
            return replace(run, interrupted=True)
        if not training.kept:
            return replace(run, state=replace(run.state, failure=training.failure))
        end = self.finish(network, training)
        return end if end.objective <= run.objective else replace(run, interrupted=end.interrupted)

    def finish(self, network: MassNetwork, training: Training) -> Run:
        """How a descent ended, with the criterion of the network it left behind."""
        torch = load_torch()
        network.to(torch.float64, "cpu").module.eval()
        objective = self.objective(network)
        with torch.no_grad():
            pair_loss = loss_on(self.problem.pairs, objective.conflict)
            criterion = objective(objective.batch(self.problem.judges), pair_loss).item()
        # The loss of an epoch is a mean over its batches, so the criterion comes after it; that of an iteration is the
        # criterion itself, in the precision and place of the training.
        trace = training.trace[: training.kept - (not self.schedule.by_batches)] if training.kept else []
        trace.append(criterion if np.isfinite(criterion) else np.inf)
        state = TrainingResult(network, np.array(training.validation), training.failure)
        return Run(state, np.array(trace), training.converged, training.interrupted)

    def new_network(self, *, fresh: bool) -> MassNetwork:
        """A network to train, its weights drawn anew when ``fresh``."""
        torch, problem = load_torch(), self.problem
        own = self.architecture.module is not None
        network = self.architecture.build(problem.rows.shape[1], self.focal_sets, links=len(problem.constraints) > 0)
        if own and fresh:
            draw_weights(network.module)
        network.to(torch.float32 if self.schedule.by_batches else torch.float64, self.device)
        if own:
            like = {"dtype": network.parameters[0].dtype, "device": network.parameters[0].device}
            some = torch.as_tensor(problem.rows[:2], **like)
            check_width(network.module, some, len(self.focal_sets), self.focal_sets.names())
        network.module.train()
        return network

    def objective(self, network: MassNetwork) -> Objective:
        problem = self.problem
        return Objective(network, problem.rows, problem.depth, self.focal_sets, problem.knowledge, self.penalties)

    def learn_masses(self, network: MassNetwork, start: StartMasses, watch: Watch) -> None:
        """Bring the network near the masses of a start."""
        objective = self.objective(network)

        def loss(places: np.ndarray) -> Tensor:
            return start_penalty(objective.masses(start.objects[places]), objective.tensor(start.masses[places]))

        places = np.arange(len(start.objects))
        n_steps = len(self.schedule.batches(places, self.rng)) if self.schedule.by_batches else 1
        schedule = self.schedule.lasting(max(1, START_STEPS // n_steps))
        if self.descend(network, loss, places, schedule, watch).interrupted:
            raise KeyboardInterrupt

    def train(self, network: MassNetwork, watch: Watch) -> Training:
        """Make the loss small, over all pairs or those of a batch."""
        problem, objective = self.problem, self.objective(network)
        judge = self.judge(objective)
        whole = None if self.schedule.by_batches else loss_on(problem.pairs, objective.conflict)

        def loss(objects: np.ndarray) -> Tensor:
            batch = objective.batch(objects)
            if whole is not None:
                return objective(batch, whole)
            return self.batch_loss(objective, batch, lambda: problem.target_conflict(objects))

        return self.descend(network, loss, problem.train, self.schedule, watch, judge)

    def batch_loss(self, objective: Objective, batch: Batch, target_conflict: Callable[[], np.ndarray]) -> Tensor:
        """The loss over all pairs of a batch, with some of what is known."""
        pair_loss = loss_on_all(self.batch_targets(objective, batch, target_conflict), objective.conflict)
        return objective(batch, pair_loss, objective.knowledge.sample(self.schedule.batch_size, self.rng))

    def descend(
        self,
        network: MassNetwork,
        loss: Callable[[np.ndarray], Tensor],
        objects: np.ndarray,
        schedule: Schedule,
        watch: Watch,
        judge: Callable[[], float] | None = None,
    ) -> Training:
        """By quasi-Newton steps on all objects at once, or by small steps on batches of them."""
        if not schedule.by_batches:
            return descend_at_once(network, lambda: loss(objects), schedule, judge=judge, watch=watch)
        return descend_by_batches(
            network, loss, lambda: schedule.batches(objects, self.rng), schedule, judge=judge, watch=watch
        )

    def batch_targets(self, objective: Objective, batch: Batch, target_conflict: Callable[[], np.ndarray]) -> Tensor:
        """The conflict that the dissimilarities of a batch ask for; Euclidean ones are measured on the device."""
        source, delta0 = self.problem.source, self.problem.delta0
        if isinstance(source, Table) and source.metric == "euclidean" and delta0 is not None:
            rate = np.log(CERTAIN) * (self.problem.inputs.scale / delta0) ** 2
            return -squared_distances(self.problem.inputs.metric_part(batch.rows)).mul_(rate).expm1_()
        return objective.tensor(target_conflict())

    def judge(self, objective: Objective) -> Callable[[], float] | None:
        """Loss of the pairs of (at most 1,000 of) the objects held back; None if there are none."""
        if not len(self.problem.validation):
            return None
        torch = load_torch()
        objects = self.problem.validation[:SAMPLE]
        pair_loss = loss_on_all(objective.tensor(self.problem.target_conflict(objects)), objective.conflict)
        module = objective.network.module

        def judge() -> float:
            module.eval()
            with torch.no_grad():
                value = pair_loss(objective.masses(objects)).item()
            module.train()
            return value

        return judge
