"""NN-EVCLUS: neural network-based evidential clustering (Denœux, 2021)."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm.auto import tqdm

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.constraints import PairwiseConstraints
from evidentia.metric_learning._learning import learn_metric
from evidentia.neural import storage
from evidentia.neural._torch import check_device, load_torch
from evidentia.neural.inputs import Inputs, center_and_scale, project
from evidentia.neural.knowledge import Knowledge, read_labels, sure_labels
from evidentia.neural.losses import squared_distances, start_penalty
from evidentia.neural.network import MassNetwork, check_width, draw_weights, perceptron
from evidentia.neural.objective import Objective
from evidentia.neural.outliers import default_gamma, find_region
from evidentia.neural.training import Training, by_batches, quasi_newton
from evidentia.partition import CredalPartition
from evidentia.prototypes.belief_peaks import belief_peaks
from evidentia.relational._base import RelationalClusterer, given_masses
from evidentia.relational.dissimilarity import CERTAIN, Matrix, Source, Table, delta_star, read_source
from evidentia.relational.evclus import EVCLUS, POINTS, Shepard, with_near_pairs
from evidentia.relational.pairs import Pairs, all_pairs, random_pairs
from evidentia.solvers.blocks import row_blocks
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.dissimilarities import check_dissimilarities
from evidentia.solvers.memory import refuse_beyond_memory

if TYPE_CHECKING:
    from torch import Tensor

OPTIMIZERS = ("auto", "lbfgs", "rmsprop", "adam")
WHOLE = 2_000  # objects up to which "auto" takes all pairs at once
SAMPLE = 1_000  # objects among which the loss of a fit by batches is measured, and a validation loss
STEP = {"adam": 0.01, "rmsprop": 0.003}
START_ITERATIONS = 200  # of the network towards given masses, before the loss itself counts


@dataclass(frozen=True)
class Some:
    """Some of the objects of a source, in their order."""

    source: Source
    objects: np.ndarray

    def __len__(self) -> int:
        return len(self.objects)

    def block(self, rows: Any, columns: Any) -> np.ndarray:
        return self.source.block(self.objects[rows], self.objects[columns])

    def from_new(self, X: Any, columns: Any) -> np.ndarray:
        return self.source.from_new(X, self.objects[columns])


@dataclass(frozen=True)
class Problem:
    """What a start needs to know: inputs, pairs with their targets, and who is held back for validation."""

    rows: np.ndarray
    inside: np.ndarray | None
    source: Source
    knowledge: Knowledge
    train: np.ndarray
    held_back: np.ndarray
    among: np.ndarray  # objects that the pairs speak of: all that are trained on, or some of them
    pairs: Pairs


class NNEVCLUS(EVCLUS):
    r"""Neural network-based evidential clustering [1]_.

    A network maps the attributes of an object to its masses, so that the conflict :math:`\kappa_{ij}` of two objects
    matches their dissimilarity, as in :class:`EVCLUS`,

    .. math::
        L = \frac{2}{n(n-1)} \sum_{i<j} \left( \kappa_{ij} - \varphi(\delta_{ij}) \right)^2, \qquad
        m_i = \mathrm{softmax}\, g(x_i; \theta),

    and then tells the masses of any new object at once. With ``outliers=True`` a one-class SVM with output f joins in,
    and an input unlike all that were seen before gets its mass on the empty set:

    .. math::
        m^* = \gamma m + (1 - \gamma) m_\varnothing, \quad \gamma = \frac{\eta}{1 + \eta}, \quad
        \eta = \log(1 + e^{\beta_0 + \beta_1 f(x)}) .

    Needs PyTorch: ``pip install "evidentia[nn]"``.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "singletons", "near-pairs"}, list of subsets, FocalSets or callable
        As for :class:`EVCLUS`.
    hidden : int, sequence of int, optional
        Rectified linear units of each hidden layer. By default one layer, with 1.5 units for each focal set and at
        least 20.
    module : torch.nn.Module, optional
        Your own network in place of hidden layers: any input, one output for each focal set, to which the softmax is
        applied. A copy is trained, the first start from its weights as they are. It sees X as it is given.
    outliers : bool
        Look for outliers by a one-class SVM.
    nu : float in (0, 1]
        Share of the objects that the SVM may leave outside its region.
    svm_gamma : float, optional
        Width of its Gaussian kernel :math:`e^{-\gamma \|x - y\|^2}`; by default one over the total variance.
    n_pairs, delta0, metric, metric_params, n_near
        As for :class:`EVCLUS`, for tables of numbers. With ``metric="precomputed"`` the network sees the principal
        components of the rows of the matrix. ``n_pairs`` is for ``optimizer="lbfgs"``.
    n_components : int or float in (0, 1)
        Principal components of the rows of dissimilarities: how many, or the share of their variance.
    metric_learner : transformer, optional
        Such as ``PCCA()`` for links or ``FDA()`` for labels; the network and the distances see what it makes of X.
    xi : float >= 0
        Weight of the links.
    label_weight : float in [0, 1]
        Weight of the labels against the rest of the loss.
    l2 : float >= 0
        Weight of the squares of the network's weights.
    optimizer : {"auto", "lbfgs", "rmsprop", "adam"}
        Quasi-Newton steps on all pairs, or small steps on batches. ``"auto"`` takes the first up to 2,000 objects and
        Adam beyond.
    batch_size : int
        Objects of a batch, all pairs of which make a step.
    learning_rate : float, optional
        Length of the first steps of RMSprop or Adam.
    early_stopping : bool
        Hold back some objects, and stop when the loss of their pairs has not fallen for ``patience`` iterations.
    validation_fraction : float in (0, 1)
        Share of the objects held back.
    patience : int
        Iterations or epochs without progress that are borne.
    n_init : int
        Number of starts; the one that ends with the lowest loss is kept.
    init : {"random", "belief-peaks"}, CredalPartition or array-like of shape (n_samples, n_focal)
        ``"belief-peaks"`` takes the centres found in the δ–Bel graph for labelled objects. Given masses make one start:
        the network first learns them.
    max_iter : int
        Largest number of quasi-Newton iterations, or of epochs.
    tol : float
        A descent ends when the loss falls by less than this share of itself.
    device : str
        Where to train: ``"cpu"``, ``"cuda"``, ... The fitted network is on the CPU.
    random_state : int, RandomState or None
    verbose : int
        1 shows progress.

    Attributes
    ----------
    partition_ : CredalPartition
    labels_ : ndarray of shape (n_samples,)
    focal_sets_ : FocalSets
    network_ : MassNetwork
        ``network_.module`` is the fitted ``torch.nn.Module``.
    loss_ : float
        Mean squared difference of conflict and transformed dissimilarity, over all pairs or partners; over the pairs of
        1,000 objects after a fit by batches.
    criterion_ : float
        That loss with the penalties of links, labels and weights.
    criterion_trace_ : ndarray
        The criterion at the start and after each iteration, or its mean over the batches of each epoch.
    validation_trace_ : ndarray
        Loss of the pairs held back after each iteration or epoch; empty without ``early_stopping``.
    start_criteria_ : ndarray
        Final criterion of every start.
    beta_ : ndarray of shape (2,) or None
        Coefficients of the outliers.
    svm_gamma_ : float or None
    constraints_ : PairwiseConstraints or None
    metric_learner_ : transformer or None
    delta0_, stress_, shepard_, n_iter_
        As for :class:`EVCLUS`.

    Notes
    -----
    Inputs are centred and divided by one number, so columns of very different units should be scaled first, as for all
    methods on distances. An iteration on all pairs costs O(n² f), an epoch O(n b f) for batches of b objects.

    The coefficients obey :math:`0 < \beta_1` and :math:`\beta_0 < \beta_1`: with f over its offset, an input far from
    all others then has at least 0.59 of its mass on the empty set.

    References
    ----------
    .. [1] T. Denœux. NN-EVCLUS: neural network-based evidential clustering. Information Sciences 572:297-330, 2021.

    Examples
    --------
    Two groups; new objects between them and far away.

    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + 6 * np.repeat([[0, 0], [1, 0]], 30, axis=0)
    >>> model = NNEVCLUS(2, outliers=True, random_state=0).fit(X)
    >>> model.labels_[[0, 59]]
    array([0, 1])
    >>> new = model.predict_partition([[0, 0], [6, 0], [300, -200]])
    >>> new.labels(), new.outliers()
    (array([0, 1, ...]), array([2]))
    """

    _input_shape: tuple[int, ...]  # of an object, with a module of the user's own

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        hidden: int | Sequence[int] | None = None,
        module: Any = None,
        outliers: bool = False,
        nu: float = 0.2,
        svm_gamma: float | None = None,
        n_pairs: int | None = None,
        delta0: float | None = 0.9,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_near: int = 2,
        n_components: int | float = 0.9,
        metric_learner: Any = None,
        xi: float = 0.5,
        label_weight: float = 0.5,
        l2: float = 0.0,
        optimizer: str = "auto",
        batch_size: int = 128,
        learning_rate: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 10,
        n_init: int = 5,
        init: Any = "random",
        max_iter: int = 1000,
        tol: float = 1e-4,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_clusters,
            focal_sets=focal_sets,
            n_pairs=n_pairs,
            delta0=delta0,
            metric=metric,
            metric_params=metric_params,
            n_near=n_near,
            n_init=n_init,
            init=init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            verbose=verbose,
        )
        self.hidden = hidden
        self.module = module
        self.outliers = outliers
        self.nu = nu
        self.svm_gamma = svm_gamma
        self.n_components = n_components
        self.metric_learner = metric_learner
        self.xi = xi
        self.label_weight = label_weight
        self.l2 = l2
        self.optimizer = optimizer
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.device = device

    def fit(
        self,
        X: Any,
        y: Any = None,
        constraints: PairwiseConstraints | None = None,
        labels: Any = None,
        dissimilarities: Any = None,
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With ``metric="precomputed"``: dissimilarities, (n_samples, n_samples). With ``module``: any shape whose
            first length is n_samples.
        y : None
            Ignored.
        constraints : PairwiseConstraints, optional
            Links. Hard ones must not contradict each other.
        labels : array-like of int, shape (n_samples,), or of bool, shape (n_samples, n_clusters), optional
            Clusters known beforehand, -1 where unknown; or the set of clusters possible for each object.
        dissimilarities : array-like of shape (n_samples, n_samples), optional
            What the conflict shall match, in place of distances between the rows of X.
        """
        torch = load_torch()
        device = check_device(self.device)
        rng = check_random_state(self.random_state)
        problem = self._pose(X, constraints, labels, dissimilarities, rng)
        focal_sets = self._family()
        if self.outliers and focal_sets.empty_index is None:
            raise ValueError("NNEVCLUS with outliers=True needs the empty set among its focal sets.")
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.randint(2**31)))
            network, training, focal_sets = self._search(problem, focal_sets, rng)
        self.network_ = network
        self.criterion_trace_, self.validation_trace_ = np.array(training.trace), np.array(training.validation)
        self.n_iter_ = len(training.trace) - (self._method(len(problem.rows)) == "lbfgs")
        self.beta_ = network.beta
        self._settle_network(X, problem, focal_sets, keep=labels is not None or not isinstance(self.init, str))
        self._describe_pairs(problem, rng)
        return self

    # -- what fit is given ------------------------------------------------------------------------------------------

    def _pose(self, X: Any, constraints: Any, labels: Any, dissimilarities: Any, rng: np.random.RandomState) -> Problem:
        """Check everything, prepare the inputs, and measure the pairs."""
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        table = self._check_objects(X, reset=True)
        n = len(table)
        self._check_params(n)
        if constraints is not None and not isinstance(constraints, PairwiseConstraints):
            raise TypeError(f"'constraints' of NNEVCLUS must be a PairwiseConstraints. Got {constraints!r}.")
        self.constraints_ = constraints.for_table(X).check() if constraints is not None and len(constraints) else None
        possible = None if labels is None else read_labels(labels, n, self.n_clusters)
        if precomputed and (dissimilarities is not None or self.metric_learner is not None or self.module is not None):
            raise ValueError(
                "NNEVCLUS with metric='precomputed' takes X for the dissimilarities, and their principal components "
                "for inputs. For inputs of your own: fit(X, dissimilarities=D) with another metric."
            )
        if precomputed:
            table = check_dissimilarities(table, "NNEVCLUS")
        self._inputs, measured = self._prepare(X, table, possible)
        source: Source
        if precomputed:
            source = Matrix(table)
        elif dissimilarities is not None:
            source = Matrix(self._check_matrix(dissimilarities, n))
        else:  # a copy notes the columns of what it reads, which need not be those of X
            source = read_source(copy.copy(self), measured.reshape(n, -1), self.metric, self.metric_params)
        rows = self._inputs.scaled(measured)
        inside = None
        self.svm_gamma_ = None
        if self.outliers:
            flat = rows.reshape(n, -1)
            gamma = default_gamma(flat) if self.svm_gamma is None else self.svm_gamma * self._inputs.scale**2
            self._inputs = replace(self._inputs, region=find_region(flat, self.nu, gamma, rng))
            self.svm_gamma_ = gamma / self._inputs.scale**2
            inside = self._inputs.region.inside(flat)  # type: ignore[union-attr]
        if isinstance(self.init, str) and self.init == "belief-peaks":
            possible = self._peaks(source, possible)
        order = rng.permutation(n) if self.early_stopping else np.arange(n)
        n_held = max(2, round(self.validation_fraction * n)) if self.early_stopping else 0
        held_back, train = np.sort(order[:n_held]), np.sort(order[n_held:])
        among, pairs = self._measure_pairs(source, train, rng)
        return Problem(
            rows,
            inside,
            source,
            Knowledge.of(self.constraints_, possible),
            train,
            held_back,
            among,
            self._wanted(pairs),
        )

    def _check_objects(self, X: Any, *, reset: bool) -> np.ndarray:
        """The numbers that the user gave, of any shape for a module."""
        if self.module is None:
            if not reset and self._inputs.components is not None:
                return self._check_block(X)
            return _base.check_table(self, X, reset=reset)
        if not reset and np.shape(X)[1:] != self._input_shape:
            raise ValueError(f"NNEVCLUS was fitted to objects of shape {self._input_shape}. Got {np.shape(X)[1:]}.")
        table = validate_data(
            self, X, dtype=np.float64, allow_nd=True, ensure_min_samples=2 if reset else 1, reset=reset
        )
        self._input_shape = table.shape[1:]
        return table

    def _check_block(self, X: Any) -> np.ndarray:
        shape = np.shape(X)
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but NNEVCLUS is expecting {self.n_features_in_} features as input: the "
                f"dissimilarities of a new object to the {self.n_features_in_} objects of the fit."
            )
        return _base.check_table(self, X, reset=False)

    def _check_matrix(self, dissimilarities: Any, n_samples: int) -> np.ndarray:
        matrix = np.asarray(dissimilarities, dtype=float)
        if matrix.shape != (n_samples, n_samples) or not np.isfinite(matrix).all():
            raise ValueError(
                f"'dissimilarities' of NNEVCLUS must be {n_samples} × {n_samples} finite numbers. Got {matrix.shape}."
            )
        return check_dissimilarities(matrix, "NNEVCLUS")

    def _check_params(self, n_samples: int) -> None:
        RelationalClusterer._check_params(self, n_samples)
        for name in ("n_near", "patience"):
            _base.check_number(self, name, low=1, integer=True)
        _base.check_number(self, "batch_size", low=2, integer=True)
        for name in ("xi", "l2"):
            _base.check_number(self, name, low=0)
        _base.check_number(self, "label_weight", low=0, high=1)
        for name in ("nu", "validation_fraction", "delta0", "svm_gamma", "learning_rate"):
            if getattr(self, name) is not None:
                unbounded = name in ("svm_gamma", "learning_rate")
                _base.check_number(self, name, low=0, high=np.inf if unbounded else 1, strict=True)
        _base.check_choice(self, "optimizer", OPTIMIZERS)
        if isinstance(self.init, str):
            _base.check_choice(self, "init", ("random", "belief-peaks"))
        if self.n_pairs is not None:
            _base.check_number(self, "n_pairs", low=2, integer=True)
            if self.optimizer in ("rmsprop", "adam"):
                raise ValueError(f"'n_pairs' is for optimizer='lbfgs'; {self.optimizer!r} takes the pairs of a batch.")
            if self.n_pairs >= n_samples:
                raise ValueError(
                    f"'n_pairs' of NNEVCLUS must be below the number of objects, {n_samples}. Got {self.n_pairs}; "
                    "leave it out to take all pairs."
                )
        sizes = np.atleast_1d(20 if self.hidden is None else self.hidden)
        if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or not (sizes > 0).all() or not len(sizes):
            raise ValueError(
                "The 'hidden' parameter of NNEVCLUS must be a number of units, or one for each layer. "
                f"Got {self.hidden!r} instead."
            )
        if self.module is not None and self.metric_learner is not None:
            raise ValueError("NNEVCLUS takes a 'module' or a 'metric_learner', not both.")

    def _prepare(self, X: Any, table: np.ndarray, possible: np.ndarray | None) -> tuple[Inputs, np.ndarray]:
        """How objects become inputs, and the rows between which distances are measured."""
        self.metric_learner_ = None
        if self.module is not None:
            return Inputs(0.0, 1.0), table
        if isinstance(self.metric, str) and self.metric == "precomputed":
            n_components = self.n_components
            if isinstance(n_components, int):
                n_components = min(n_components, len(table))
            mean, components = project(table, n_components)
            rows = (table - mean) @ components.T
            return Inputs(*center_and_scale(rows), None, mean, components), rows
        if self.metric_learner is None:
            return Inputs(*center_and_scale(table)), table
        labels = None if possible is None else sure_labels(possible)
        self.metric_learner_, rows = learn_metric(self.metric_learner, X, self.constraints_, labels)
        return Inputs(*center_and_scale(rows), self.metric_learner_), rows

    def _peaks(self, source: Source, possible: np.ndarray | None) -> np.ndarray:
        """Possible clusters when the belief peaks are taken for labelled objects."""
        if possible is not None:
            raise ValueError("init='belief-peaks' makes labels of its own. Give 'labels' or that start, not both.")
        if isinstance(source, Matrix):
            graph = belief_peaks(source.values, metric="precomputed")
        else:
            graph = belief_peaks(source.rows if isinstance(source, Table) else source.objects, metric=self.metric)  # type: ignore[attr-defined]
        labels = np.full(len(source), -1)
        labels[graph.choose(self.n_clusters)] = np.arange(self.n_clusters)
        return read_labels(labels, len(source), self.n_clusters)

    def _measure_pairs(self, source: Source, train: np.ndarray, rng: np.random.RandomState) -> tuple[np.ndarray, Pairs]:
        """The objects whose pairs are looked at as a whole, and those pairs."""
        n = len(train)
        if self._method(len(source)) != "lbfgs":
            among = np.sort(rng.choice(train, SAMPLE, replace=False)) if n > SAMPLE else train
            return among, all_pairs(Some(source, among))
        if self.n_pairs is not None and self.n_pairs < n:
            refuse_beyond_memory(64 * n * self.n_pairs, f"NNEVCLUS with n_pairs={self.n_pairs}", "Lower n_pairs.")
            return train, random_pairs(Some(source, train), self.n_pairs, rng)
        refuse_beyond_memory(24 * n**2, f"NNEVCLUS on all pairs of {n:,} objects", "Take optimizer='adam'.")
        return train, all_pairs(Some(source, train))

    def _method(self, n_samples: int) -> str:
        if self.optimizer != "auto":
            return self.optimizer
        return "lbfgs" if n_samples <= WHOLE or self.n_pairs is not None else "adam"

    # -- training ---------------------------------------------------------------------------------------------------

    def _search(  # type: ignore[override]
        self, problem: Problem, focal_sets: FocalSets, rng: np.random.RandomState
    ) -> tuple[MassNetwork, Training, FocalSets]:
        """The best of several starts, and the focal sets it is over."""
        given = None
        if not isinstance(self.init, str):
            given = given_masses("NNEVCLUS", self.init, focal_sets, len(problem.rows))
        network, training = self._best_start(problem, focal_sets, given, rng)
        if isinstance(self.focal_sets, str) and self.focal_sets == "near-pairs" and not training.interrupted:
            masses = self._network_masses(network, problem.rows, problem.inside)
            finer = with_near_pairs(masses, focal_sets, self.n_near)
            given = given_masses("NNEVCLUS", CredalPartition(masses, focal_sets), finer, len(masses))
            focal_sets = finer
            network, training = self._best_start(problem, finer, given, rng)
        return network, training, focal_sets

    def _best_start(
        self, problem: Problem, focal_sets: FocalSets, given: np.ndarray | None, rng: np.random.RandomState
    ) -> tuple[MassNetwork, Training]:
        torch = load_torch()
        runs: list[tuple[MassNetwork, Training]] = []
        criteria = []
        starts = range(self.n_init if given is None else 1)
        with tqdm(starts, desc="NNEVCLUS", unit="start", leave=False, disable=not self.verbose) as bar:

            def watch(iteration: int, loss: float) -> None:
                bar.set_postfix(iteration=iteration, loss=f"{loss:.6g}", refresh=False)

            for start in bar:
                network = self._new_network(problem, focal_sets, fresh=start > 0)
                try:
                    training = self._train(network, problem, focal_sets, given, rng, watch)
                except KeyboardInterrupt:
                    if not runs:
                        raise
                    runs[-1][1].interrupted = True
                    break
                network.to(torch.float64, "cpu").module.eval()
                objective = self._objective(network, problem, focal_sets)
                with torch.no_grad():
                    criteria.append(objective(problem.among, objective.on(problem.pairs)).item())
                runs.append((network, training))
                if training.interrupted:
                    break
        self.start_criteria_ = np.array(criteria)
        best = int(np.argmin(np.nan_to_num(criteria, nan=np.inf)))
        self.criterion_ = criteria[best]
        self._warn_about(runs[best][1], runs[-1][1])
        return runs[best]

    def _new_network(self, problem: Problem, focal_sets: FocalSets, *, fresh: bool) -> MassNetwork:
        torch = load_torch()
        f = len(focal_sets)
        if self.module is None:
            hidden = max(20, -(-3 * f // 2)) if self.hidden is None else self.hidden
            module = perceptron(problem.rows.shape[1], np.atleast_1d(hidden).tolist(), f)
        else:
            module = self.module
            if not isinstance(module, torch.nn.Module):
                raise TypeError(f"The 'module' parameter of NNEVCLUS must be a torch.nn.Module. Got {module!r}.")
        network = MassNetwork(module, focal_sets.empty_index if self.outliers else None)
        if self.module is not None and fresh:
            draw_weights(network.module)
        whole = self._method(len(problem.rows)) == "lbfgs"
        network.to(torch.float64 if whole else torch.float32, check_device(self.device))
        if self.module is not None:
            like = {"dtype": network.parameters[0].dtype, "device": network.parameters[0].device}
            check_width(network.module, torch.as_tensor(problem.rows[:2], **like), f, focal_sets.names())
        network.module.train()
        return network

    def _objective(self, network: MassNetwork, problem: Problem, focal_sets: FocalSets) -> Objective:
        settings = {"xi": self.xi, "label_weight": self.label_weight, "l2": self.l2}
        return Objective(network, problem.rows, problem.inside, focal_sets, problem.knowledge, **settings)

    def _train(
        self,
        network: MassNetwork,
        problem: Problem,
        focal_sets: FocalSets,
        given: np.ndarray | None,
        rng: np.random.RandomState,
        watch: Callable[[int, float], None],
    ) -> Training:
        objective = self._objective(network, problem, focal_sets)
        method = self._method(len(problem.rows))
        train = problem.train

        def start_loss(rows: np.ndarray) -> Tensor:
            return start_penalty(objective.masses(rows), objective.tensor(given[rows]))  # type: ignore[index]

        settings: dict[str, Any] = {"tol": self.tol, "patience": self.patience, "watch": watch}
        judge = self._judge(objective, problem)
        if method == "lbfgs":
            if given is not None:
                quasi_newton(network, lambda: start_loss(train), max_iter=START_ITERATIONS, **settings)
            pair_loss = objective.on(problem.pairs)
            return quasi_newton(
                network, lambda: objective(train, pair_loss), max_iter=self.max_iter, judge=judge, **settings
            )

        def batches() -> list[np.ndarray]:
            return np.array_split(rng.permutation(train), max(1, len(train) // self.batch_size))

        def batch_loss(rows: np.ndarray) -> Tensor:
            pair_loss = objective.on_all(self._batch_targets(objective, problem, rows))
            return objective(rows, pair_loss, problem.knowledge.some(self.batch_size, rng))

        settings["optimizer"] = method
        settings["learning_rate"] = STEP[method] if self.learning_rate is None else self.learning_rate
        if given is not None:
            n_epochs = max(1, START_ITERATIONS // len(batches()))
            by_batches(network, start_loss, batches, max_iter=n_epochs, **settings)
        return by_batches(network, batch_loss, batches, max_iter=self.max_iter, judge=judge, **settings)

    def _batch_targets(self, objective: Objective, problem: Problem, rows: np.ndarray) -> Tensor:
        """Transformed dissimilarities of all pairs of a batch."""
        source = problem.source
        if isinstance(source, Table) and source.metric == "euclidean" and self.delta0_ is not None:
            rate = np.log(CERTAIN) * (self._inputs.scale / self.delta0_) ** 2
            inputs = objective.rows[rows]
            return -squared_distances(inputs.reshape(len(inputs), -1)).mul_(rate).expm1_()
        return objective.tensor(self._target(source.block(rows, rows)))

    def _target(self, dissimilarity: np.ndarray) -> np.ndarray:
        return dissimilarity if self.delta0_ is None else delta_star(dissimilarity, self.delta0_)

    def _judge(self, objective: Objective, problem: Problem) -> Callable[[], float] | None:
        """Loss of the pairs of (at most 1,000 of) the objects held back."""
        if not self.early_stopping:
            return None
        torch = load_torch()
        held_back = problem.held_back[:SAMPLE]
        pair_loss = objective.on_all(objective.tensor(self._target(problem.source.block(held_back, held_back))))
        module = objective.network.module

        def judge() -> float:
            module.eval()
            with torch.no_grad():
                value = pair_loss(objective.masses(held_back)).item()
            module.train()
            return value

        return judge

    def _warn_about(self, best: Training, last: Training) -> None:
        if best.broken:
            step = " a smaller learning_rate," if self.optimizer in ("adam", "rmsprop", "auto") else ""
            if not best.trace:
                raise FloatingPointError(
                    f"The loss of NNEVCLUS is not a number {best.broken}, before anything was learned. Try{step} "
                    "scaled columns, or look at the weights of your module."
                )
            warnings.warn(
                f"The loss of NNEVCLUS stopped being a number {best.broken}; the last good state is kept. Try{step} "
                "or scaled columns.",
                ConvergenceWarning,
                stacklevel=5,
            )
        elif last.interrupted:
            warnings.warn("NNEVCLUS was interrupted; the best network so far is kept.", InterruptedFit, stacklevel=5)
        elif not best.converged:
            warnings.warn(
                f"NNEVCLUS reached max_iter={self.max_iter} before tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )

    # -- results ----------------------------------------------------------------------------------------------------

    def _settle_network(self, X: Any, problem: Problem, focal_sets: FocalSets, *, keep: bool) -> None:
        """Publish; clusters are numbered from the largest to the smallest unless the caller fixed them."""
        masses = self._network_masses(self.network_, problem.rows, problem.inside)
        self._columns = np.arange(len(focal_sets))
        if isinstance(self.focal_sets, str) and not keep:
            betp = CredalPartition(masses, focal_sets, copy=False).pignistic
            order = _base.largest_first(betp.sum(axis=0), tie=betp.argmax(axis=0))
            each = CredalPartition(np.eye(len(focal_sets)), focal_sets).relabel(order)
            focal_sets, self._columns = each.focal_sets, each.masses.argmax(axis=0)
        self.focal_sets_ = focal_sets
        self._publish(X, masses[:, self._columns])

    def _describe_pairs(self, problem: Problem, rng: np.random.RandomState) -> None:
        i, j, wanted = problem.pairs.sample(POINTS, rng)
        i, j = problem.among[i], problem.among[j]
        masses = self.partition_.masses
        conflict = np.einsum("pf,pf->p", (masses @ self.focal_sets_.disjoint.astype(float))[i], masses[j])
        self.shepard_ = Shepard(np.column_stack([i, j]), wanted, conflict)
        torch = load_torch()
        objective = Objective(
            self.network_,
            problem.rows,
            problem.inside,
            self.focal_sets_,
            Knowledge.of(None, None),
            xi=0,
            label_weight=0,
            l2=0,
        )
        pair_loss = objective.on(problem.pairs)
        self.loss_ = float(pair_loss(torch.as_tensor(masses[problem.among])))
        self.stress_ = self.loss_ / float(np.square(problem.pairs.values).mean())

    def _network_masses(self, network: MassNetwork, rows: np.ndarray, inside: np.ndarray | None) -> np.ndarray:
        torch = load_torch()
        found = []
        with torch.no_grad():
            for some in row_blocks(len(rows), int(np.prod(rows.shape[1:])) + 64):
                where = None if inside is None else torch.as_tensor(inside[some])
                found.append(network.masses(torch.as_tensor(rows[some]), where).numpy())
        return np.concatenate(found)

    def _masses(self, X: Any) -> np.ndarray:
        table = self._check_objects(X, reset=False)
        rows = self._inputs.scaled(self._inputs.measured(X, table))
        region = self._inputs.region
        inside = None if region is None else region.inside(rows.reshape(len(rows), -1))
        return self._network_masses(self.network_, rows, inside)[:, self._columns]

    def predict_partition(self, X: Any) -> CredalPartition:
        """Credal partition of new objects.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or what ``fit`` took
            With ``metric="precomputed"``: dissimilarities to the fitted objects, shape (n_new, n_samples).
        """
        return super().predict_partition(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, which :meth:`load` reads on any machine; the format is in ``storage``."""
        check_is_fitted(self)
        storage.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, module: Any = None, metric_learner: Any = None) -> Self:
        """A fitted model from its file.

        Parameters
        ----------
        path : str or path-like
        module : torch.nn.Module, optional
            The architecture, for a model fitted with a module of your own; its weights are in the file.
        metric_learner : transformer, optional
            Fitted as it was, for a model with a metric learner that is not an affine map.
        """
        return storage.load(cls, path, module=module, metric_learner=metric_learner)
