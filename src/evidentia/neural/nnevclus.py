"""NN-EVCLUS: neural network-based evidential clustering (Denœux, 2021)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from evidentia import _base, _checks
from evidentia._data import Data
from evidentia._objects import align_objects
from evidentia._parameters import BOOLEAN, NOTHING, Choice, Integer, Number, Predicate, fitted, param
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import (
    METRIC,
    METRIC_PARAMS,
    Matrix,
    Source,
    check_dissimilarities,
    make_source,
    refuse_rows_of_metric,
)
from evidentia.methods import Method
from evidentia.metric_learning import learn_metric
from evidentia.neural._torch import check_device, load_torch, one_torch_thread
from evidentia.neural.inputs import Inputs, join_learner, project_dissimilarities, scale_by_moments, scale_rows
from evidentia.neural.knowledge import Knowledge, read_labels, sure_labels
from evidentia.neural.network import Architecture, compute_masses
from evidentia.neural.objective import Penalties, loss_on
from evidentia.neural.problem import Problem, check_matrix, choose_optimizer, label_peaks, measure_pairs, split_objects
from evidentia.neural.search import Search, StartMasses, solve_without_network
from evidentia.neural.streaming import Stream
from evidentia.neural.training import Schedule
from evidentia.partition import CredalPartition
from evidentia.relational._base import given_masses
from evidentia.relational.evclus import EVCLUS, POINTS, shared_plausibility, shepard_of
from evidentia.relational.pairs import wanted_conflict
from evidentia.rows import RowSource, as_rows, scan
from evidentia.rows.scan import SKETCH_ROWS, row_hashes
from evidentia.solvers.descent import Run, all_runs, best_of
from evidentia.solvers.overlap import is_near_pairs, near_pair_sets

SMALL = 1_000  # objects up to which one core is enough for all pairs


def is_matrix(metric: Any) -> bool:
    """Return whether a metric is a matrix of dissimilarities."""
    return np.ndim(metric) == 2


def are_layers(hidden: Any) -> bool:
    """Whether this is a number of units, or one for each layer."""
    sizes = np.atleast_1d(20 if hidden is None else hidden)
    return bool(sizes.ndim == 1 and sizes.dtype.kind in "iu" and (sizes > 0).all() and len(sizes))


class NewObjects(NamedTuple):
    """New objects as they were given, with the names of columns that a metric learner wants, and as an array."""

    given: Any
    table: np.ndarray


class NNEVCLUS(_base.IterativeClusterer):
    r"""Neural network-based evidential clustering [1]_.

    A network maps the attributes of an object to its masses, so that the conflict :math:`\kappa_{ij}` of two objects
    matches their dissimilarity, as in :class:`~evidentia.relational.EVCLUS`,

    .. math::
        L = \frac{2}{n(n-1)} \sum_{i<j} \left( \kappa_{ij} - \varphi(\delta_{ij}) \right)^2, \qquad
        m_i = \mathrm{softmax}\, g(x_i; \theta),

    and then tells the masses of any new object at once. With ``outliers=True`` a one-class SVM with output f joins in,
    and an input unlike all that were seen before gets its mass on the empty set:

    .. math::
        m^* = \gamma m + (1 - \gamma) m_\varnothing, \quad \gamma = \frac{\eta}{1 + \eta}, \quad
        \eta = \log(1 + e^{\beta_0 + \beta_1 f(x)}) .

    Needs PyTorch: ``pip install "evidentia[nn]"``.

    Attributes
    ----------
    network_ : MassNetwork
        ``network_.module`` is the fitted ``torch.nn.Module``.
    loss_ : float
        Mean squared difference of conflict and transformed dissimilarity, over all pairs or partners; over the pairs of
        1,000 objects after a fit by batches.
    criterion_ : float
        That loss with the penalties of links, labels and weights, minimized.
    criterion_trace_ : ndarray
        The criterion at the start and after each iteration up to the network that is kept. After a fit by batches: its
        mean over the batches of each epoch, and last the criterion of the network.
    validation_trace_ : ndarray
        Loss of the pairs held back after each iteration or epoch, also of those after the network that is kept; empty
        without ``early_stopping``.
    beta_ : ndarray of shape (2,) or None
        Coefficients of the outliers.
    svm_gamma_ : float or None
    constraints_ : PairwiseConstraints
        The links by row number, none when there are none.
    xi_ : float
        Weight of the links that was used.
    metric_learner_ : transformer or None
    delta0_ : float or None
        The dissimilarity that belongs to the quantile ``delta0``.
    stress_ : float
        The loss over the mean square of the transformed dissimilarities.
    shepard_ : Shepard
        Pairs (at most 100,000 of them), the conflict wanted and the conflict found.

    Notes
    -----
    Inputs are centered and divided by one number, so columns of very different units should be scaled first, as for all
    methods on distances. An iteration on all pairs costs O(n² f), an epoch O(n b f) for batches of b objects.

    A learned metric may keep one direction only, along which objects of two classes coincide: a network that saw no
    more could not tell them apart, whatever the links say. This is why it sees the columns of X as well.

    Of rows that are not in memory (:func:`~evidentia.rows.open_rows`) up to 50,000 are fitted as a table is. Of more,
    all starts are on a sample of as many, and the best of them then goes through batches of all rows, half of each
    batch from the sample: ``criterion_trace_`` has the means over these passes. If the criterion, which is over pairs
    of the sample, is not better then, the network of the sample stays. ``start_criteria_``, ``loss_``, ``stress_``,
    ``shepard_`` and ``delta0_`` speak of the sample.

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
    >>> new = model.predict_partition([[0, 0], [6, 0], [3, -4.2]])
    >>> new.labels(), new.outliers()
    (array([0, 1, ...]), array([2]))

    The method of the paper: 1.5 hidden units for each focal set, five random starts.

    >>> c, f = 2, len(FocalSets(2, "pairs"))
    >>> paper = NNEVCLUS(c, focal_sets="pairs", hidden=int(1.5 * f), delta0=0.9, init="random", random_state=0).fit(X)
    >>> [tuple(layer.shape) for layer in paper.network_.module.parameters()][:2], len(paper.start_criteria_)
    ([(6, 2), (6,)], 5)
    """

    method = Method(
        name="nnevclus",
        title="a neural network from attributes to masses: new objects, outliers, links, labels, a module of your own",
        papers=("Denœux, *Information Sciences* 572, 2021",), guide="nnevclus", reads=("table", "dissimilarities"),
        takes=("links", "partial labels", "rows beyond memory"),
        families=("pairs", "full", "simple", "singletons", "near-pairs"), empty_set=True,
        quick={"hidden": 5, "n_init": 1, "max_iter": 20}, power=2, grows="*{n} f* or *n b f* (batches of *b*)",
        memory="*{n}* or *b²*", doubt="sets, outliers", limit="needs PyTorch; local minima, so several starts",
        as_in_paper='NNEVCLUS(c, focal_sets="pairs", hidden=int(1.5 * f), delta0=0.9, init="random")',
        differs='There are f focal sets. From five clusters on the paper takes `focal_sets="simple"` and a smaller '
        "`delta0` (0.5, 0.2 or 0.1). Up to 1,000 objects it minimizes the loss on all pairs by a gradient method with "
        "a step size for each weight; here L-BFGS minimizes the same loss. Beyond, it is "
        '`optimizer="rmsprop", learning_rate=0.001, batch_size=n//30` for n objects. Outliers need `outliers=True` and '
        'the `svm_gamma` of the data; `init="belief-peaks"` makes its variant NN-EVCLUS-bp.',
    )  # fmt: skip

    given_again = ("module", "metric_learner")

    focal_sets: Any = param(
        _base.focal_families(*method.families),
        """Sets of clusters that may hold mass; all families have the empty set. ``"simple"`` serves five clusters and
        more; ``"near-pairs"`` fits those first and then adds the pairs of clusters that are among each other's
        ``n_near`` most similar ones.""",
        default="pairs",
    )
    hidden: Any = param(
        Predicate("a number of units, or one for each layer", are_layers),
        """Rectified linear units of each hidden layer. By default one layer, with 1.5 units for each focal set and at
        least 20, or 150 when there are links: each of them may ask for a bend.""",
        default=None,
    )
    module: Any = param(
        Predicate("torch.nn.Module or None", lambda value: True),  # asked of PyTorch once it is loaded
        """Your own network in place of hidden layers: any input, one output for each focal set, to which the softmax is
        applied. A copy is trained, the first start from its weights as they are. It sees X as it is given.""",
        default=None,
    )
    outliers: bool = param(BOOLEAN, "Look for outliers by a one-class SVM.", default=False)
    nu: float = param(
        Number(above=0, high=1), "Share of the objects that the SVM may leave outside its region.", default=0.2
    )
    svm_gamma: Any = param(
        Number(above=0) | NOTHING,
        r"""Width of its Gaussian kernel :math:`e^{-\gamma \|x - y\|^2}`; by default one over the total variance.""",
        default=None,
    )
    n_pairs: Any = param(
        Integer(low=2) | NOTHING,
        """Partners drawn at random for each object, for ``optimizer="lbfgs"``; 100 to 500 serve some thousand objects.
        Without it all pairs count.""",
        default=None,
    )
    delta0: Any = EVCLUS.parameters["delta0"]
    metric: Any = param(
        METRIC.check | Predicate("array of shape (n_samples, n_samples)", lambda value: is_matrix(value)),
        """How unlike two rows are: a metric of SciPy or scikit-learn, ``"gower"``, or a function of two rows. With
        ``"precomputed"`` X holds dissimilarities, and the network sees the principal components of its rows. A matrix
        holds the dissimilarities that the conflict shall match, and the network sees X.""",
        default="euclidean",
    )
    metric_params: Any = METRIC_PARAMS
    n_near: Any = EVCLUS.parameters["n_near"]
    n_components: Any = param(
        Integer(low=1) | Predicate("a share in (0, 1)", lambda value: isinstance(value, float) and 0 < value < 1),
        """Principal components of the rows of dissimilarities (``metric="precomputed"``): how many, or the share of
        their variance.""",
        default=0.9,
    )
    metric_learner: Any = param(
        Predicate("transformer or None", lambda value: True),  # learn_metric says what it does not like
        """Such as ``PCCA()`` for links or ``FDA()`` for labels. Distances are those of what it makes of X; the network
        sees this and, beside it, the columns of X.""",
        default=None,
    )
    xi: float = param(Number(low=0), "Weight of the links against the dissimilarities.", default=0.5)
    label_weight: float = param(
        Number(low=0, high=1), "Weight of the labels against the rest of the loss.", default=0.5
    )
    l2: float = param(Number(low=0), "Weight of the squares of the network's weights.", default=0.0)
    optimizer: str = param(
        Choice("auto", "lbfgs", "rmsprop", "adam"),
        """Quasi-Newton steps on all pairs, or small steps on batches. ``"auto"`` takes the first up to 2,000 objects
        and Adam beyond.""",
        default="auto",
    )
    batch_size: int = param(Integer(low=2), "Objects of a batch, all pairs of which make a step.", default=128)
    learning_rate: Any = param(Number(above=0) | NOTHING, "Length of the first steps of RMSprop or Adam.", default=None)
    early_stopping: bool = param(
        BOOLEAN,
        """Hold back some objects, and stop when the loss of their pairs has not fallen for ``patience`` iterations. The
        network with the lowest of these losses is kept.""",
        default=False,
    )
    validation_fraction: float = param(Number(above=0, high=1), "Share of the objects held back.", default=0.1)
    patience: int = param(Integer(low=1), "Iterations or epochs without progress that are borne.", default=10)
    n_init: int = param(
        Integer(low=1), "Number of starts; the one that ends with the lowest criterion is kept.", default=5
    )
    init: Any = param(
        Choice("auto", "evclus", "random", "belief-peaks")
        | Predicate("CredalPartition or array of shape (n_samples, n_focal)"),
        """With ``"evclus"`` every network first learns the masses that EVCLUS, or with links CEVCLUS, finds for (at
        most 1,000 of) the objects. ``"auto"`` makes the first start so when there are links and no labels, and the
        others from random weights: links lead these into poor minima. ``"belief-peaks"`` takes the centers found in the
        δ–Bel graph for labeled objects. Given masses make one start, which keeps their order of clusters: the network
        first learns them.""",
        default="auto",
    )
    max_iter: int = param(Integer(low=1), "Most quasi-Newton iterations, or epochs, of one start.", default=1000)
    tol: float = param(
        Number(low=0),
        """A start ends when an iteration lowers the criterion by no more than this share of it, in the mean of ten; by
        batches, when that holds of epochs however short the steps.""",
        default=1e-4,
    )
    device: Any = param(
        Predicate("str", lambda value: True),  # asked of PyTorch
        'Where to train: ``"cpu"``, ``"cuda"``, ... The fitted network is on the CPU.',
        default="cpu",
    )

    _not_for_placing = ("partition_", "labels_", "shepard_")

    _input_shape: tuple[int, ...] = fitted()
    _inputs: Any = fitted()
    _columns: np.ndarray = fitted()

    def _read_rows(self, X: Any) -> RowSource | np.ndarray:
        """Return rows that are not in memory, or else the objects as an array, of any shape for a module."""
        rows = as_rows(X)
        return self._check_table(X, reset=True) if rows is None else self._check_source(rows, reset=True)

    def _fit(self, data: Data[Any]) -> np.ndarray | None:
        load_torch()
        self._check_together(data)
        if isinstance(data.rows, RowSource):
            self._fit_rows(data)
            return None
        labels = align_objects(data.given, data.partial_labels, ("X", "'partial_labels' of NNEVCLUS"))
        return self._train(data.given, data.rows, data.constraints, labels, data.rng)

    def _fit_rows(self, data: Data[RowSource]) -> None:
        """Fit to a sample of rows that are not in memory, and go on with batches of all if these are more."""
        self._refuse_beside_rows(data)
        found = scan.scan(data.rows, mixing=False, missing=False, who="NNEVCLUS")
        sample = scan.rows_for_all(found, data.rows, SKETCH_ROWS)
        self._train(sample, sample, data.constraints, None, data.rng, None if found.complete else found)

    def _train(
        self,
        X: Any,
        table: np.ndarray,
        links: PairwiseConstraints,
        labels: Any,
        rng: np.random.RandomState,
        all_rows: scan.Table | None = None,
    ) -> np.ndarray:
        """Train on the checked numbers ``table`` of X, and then on all rows if these are only a sample of them."""
        torch, device = load_torch(), check_device(self.device)
        self._input_shape: tuple[int, ...] = table.shape[1:]
        self._check_count(len(table))
        n_rows = len(table) if all_rows is None else all_rows.n_rows
        optimizer = choose_optimizer(self.optimizer, n_rows, self.n_pairs)
        if all_rows is not None and optimizer == "lbfgs":
            raise ValueError(
                f"NNEVCLUS with {'n_pairs' if self.n_pairs else 'optimizer=' + repr(optimizer)} looks at all rows at "
                f"once, but these are {n_rows:,} that are not in memory. Take optimizer='adam', which goes "
                "through batches of them."
            )
        problem = self._state_problem(X, table, links, labels, optimizer, rng, all_rows)
        focal_sets = self._family()
        small = self.module is None and (optimizer != "lbfgs" or len(problem.train) <= SMALL)
        with one_torch_thread(small), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.randint(2**31)))
            search = Search(
                problem,
                focal_sets,
                Architecture(self.hidden, self.module, self.outliers),
                Penalties(self.xi, self.label_weight, self.l2),
                Schedule(optimizer, self.batch_size, self.learning_rate, self.max_iter, self.tol, self.patience),
                device,
                rng,
            )
            runs, focal_sets = self._run_starts(search, X, labeled=labels is not None)
            ends = runs
            if all_rows is not None:
                ends = self._continue_on_all(replace(search, focal_sets=focal_sets), runs, table, all_rows)
        best = self._choose(ends)
        self._publish_run(best, runs)
        self.network_, self.validation_trace_ = best.state.network, best.state.validation
        self._inputs, self.delta0_, self.xi_ = problem.inputs, problem.delta0, float(self.xi)
        self._describe_network()
        keep = labels is not None or not isinstance(self.init, str)
        masses = self._store_solution(problem, focal_sets, keep=keep)
        self._describe_pairs(problem, CredalPartition(masses, self.focal_sets_, copy=False), rng)
        return masses

    def _check_source(self, rows: RowSource, *, reset: bool) -> RowSource:
        refuse_rows_of_metric(self)
        return super()._check_source(rows, reset=reset)

    def _refuse_beside_rows(self, data: Data[RowSource]) -> None:
        """What is about single objects, by number, is not known of rows that are not in memory."""
        given = {
            "'constraints'": len(data.constraints) > 0,
            "'partial_labels'": data.partial_labels is not None,
            "a matrix as 'metric'": is_matrix(self.metric),
            "'metric_learner'": self.metric_learner is not None,
            "masses for 'init'": not isinstance(self.init, str),
        }
        for what in (name for name, there in given.items() if there):
            raise TypeError(f"NNEVCLUS takes {what} only where all rows are in memory. Give a sample of them.")

    def _check_table(self, X: Any, *, reset: bool) -> np.ndarray:
        """The numbers that the user gave, of any shape for a module."""
        if self.module is None:
            if not reset and self._inputs.components is not None:
                self._check_block(X)
            return _checks.check_table(self, X, reset=reset)
        if not reset and np.shape(X)[1:] != self._input_shape:
            raise ValueError(f"NNEVCLUS was fitted to objects of shape {self._input_shape}. Got {np.shape(X)[1:]}.")
        return validate_data(
            self, X, dtype=np.float64, allow_nd=True, ensure_min_samples=2 if reset else 1, reset=reset
        )

    def _check_block(self, X: Any) -> None:
        shape = np.asarray(X).shape
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {shape[1]} features, but NNEVCLUS is expecting {self.n_features_in_} features as input: the "
                f"dissimilarities of a new object to the {self.n_features_in_} objects of the fit."
            )

    def _check_count(self, n_samples: int) -> None:
        """Refuse too few objects."""
        _checks.check_enough_rows(self, n_samples, self.n_clusters)
        if self.n_pairs is not None and self.n_pairs >= n_samples:
            raise ValueError(
                f"'n_pairs' of NNEVCLUS must be below the number of objects, {n_samples}. Got {self.n_pairs}; "
                "leave it out to take all pairs."
            )

    def _check_together(self, data: Data[Any]) -> None:
        """Refuse parameters that contradict each other, or what ``fit`` was given."""
        if self.n_pairs is not None and self.optimizer in ("rmsprop", "adam"):
            raise ValueError(f"'n_pairs' is for optimizer='lbfgs'; {self.optimizer!r} takes the pairs of a batch.")
        if self.module is not None and self.metric_learner is not None:
            raise ValueError("NNEVCLUS takes a 'module' or a 'metric_learner', not both.")
        if _checks.is_precomputed(self) and (self.metric_learner is not None or self.module is not None):
            raise ValueError(
                "NNEVCLUS with metric='precomputed' takes X for the dissimilarities, and their principal components "
                "for inputs. For inputs of your own: NNEVCLUS(metric=D).fit(X), D the dissimilarities."
            )
        labeled = data.partial_labels is not None
        if isinstance(self.init, str) and labeled and self.init in ("evclus", "belief-peaks"):
            raise ValueError(
                f"init={self.init!r} numbers clusters of its own. Give 'partial_labels' or that start, not both."
            )

    def _family(self) -> FocalSets:
        """The focal sets of the first fit."""
        family = "simple" if is_near_pairs(self.focal_sets) else self.focal_sets
        focal_sets = resolve_focal_sets(family, self.n_clusters, empty=True)
        if self.outliers and focal_sets.empty_index is None:
            raise ValueError("NNEVCLUS with outliers=True needs the empty set among its focal sets.")
        return focal_sets

    def _state_problem(
        self,
        X: Any,
        table: np.ndarray,
        links: PairwiseConstraints,
        labels: Any,
        optimizer: str,
        rng: np.random.RandomState,
        all_rows: scan.Table | None,
    ) -> Problem:
        """Inputs, dissimilarities and what is known; ``table`` are the checked numbers of X."""
        n = len(table)
        possible = None if labels is None else read_labels(labels, n, self.n_clusters)
        if _checks.is_precomputed(self):
            table = check_dissimilarities(table, "NNEVCLUS")
        inputs, metric_rows = self._prepare_inputs(X, table, links, possible)
        if all_rows is not None and self.module is None:
            inputs = scale_by_moments(all_rows.moments)
        source: Source
        if _checks.is_precomputed(self):
            source = Matrix(table)
        elif is_matrix(self.metric):
            given = align_objects(X, self.metric, ("X", "'metric' of NNEVCLUS"), square=True)
            source = Matrix(check_matrix(given, n))
        else:
            source = make_source(metric_rows.reshape(n, -1), self.metric, self.metric_params, who="NNEVCLUS")
        rows = inputs.network_rows(metric_rows, table)
        if self.outliers:
            inputs = inputs.with_region(rows, self.nu, self.svm_gamma, rng)
        if isinstance(self.init, str) and self.init == "belief-peaks":
            possible = label_peaks(source, self.n_clusters)
        train, validation = split_objects(n, self.validation_fraction if self.early_stopping else None, rng)
        judges, measured = measure_pairs(source, train, optimizer, self.n_pairs, rng)
        pairs, delta0 = wanted_conflict(measured, self.delta0, self.n_clusters, who="NNEVCLUS")
        return Problem(
            inputs=inputs,
            rows=rows,
            depth=inputs.depth(rows),
            source=source,
            constraints=links,
            knowledge=Knowledge.of(links, possible),
            train=train,
            validation=validation,
            judges=judges,
            pairs=pairs,
            delta0=delta0,
        )

    def _prepare_inputs(
        self, X: Any, table: np.ndarray, links: PairwiseConstraints, possible: np.ndarray | None
    ) -> tuple[Inputs, np.ndarray]:
        """How objects become inputs, and the rows between which distances are measured."""
        if self.module is not None:
            return Inputs(0.0, 1.0), table
        if _checks.is_precomputed(self):
            return project_dissimilarities(table, self.n_components)
        if self.metric_learner is None:
            return scale_rows(table), table
        labels = None if possible is None else sure_labels(possible)
        learner, rows = learn_metric(self.metric_learner, X, links if len(links) else None, labels)
        return join_learner(learner, rows, table), rows

    def _run_starts(self, search: Search, X: Any, *, labeled: bool) -> tuple[list[Run], FocalSets]:
        """The runs from all starts, and the focal sets they are over."""
        problem, focal_sets = search.problem, search.focal_sets
        runs = search.run_all(self._starts(search, X, labeled), self.verbose)
        if is_near_pairs(self.focal_sets) and not runs[-1].interrupted:
            network = min(runs, key=lambda run: run.objective).state.network
            masses = compute_masses(network, problem.rows, problem.depth)
            finer = near_pair_sets(shared_plausibility(masses, focal_sets), self.n_near, empty=True)
            given = given_masses("NNEVCLUS", CredalPartition(masses, focal_sets), finer, len(masses))
            start = StartMasses(problem.train, given[problem.train])
            return replace(search, focal_sets=finer).run_all([start], self.verbose), finer
        return runs, focal_sets

    def _continue_on_all(self, search: Search, runs: list[Run], table: np.ndarray, all_rows: scan.Table) -> list[Run]:
        """The best run over the sample ``table``, trained on all rows."""
        if runs[-1].interrupted:
            return runs
        train, held_back = table[search.problem.train], row_hashes(table[search.problem.validation])
        stream = Stream(all_rows.rows, all_rows.n_rows, all_rows.total / all_rows.n_rows, train, held_back)
        best = min(runs, key=lambda run: run.objective)
        name = "NNEVCLUS, all rows"
        return all_runs(
            lambda run, watch: search.train_on_stream(run, stream, watch), [best], name=name, verbose=self.verbose
        )

    def _starts(self, search: Search, X: Any, labeled: bool) -> list[StartMasses | None]:
        """What the network of each start learns first; None for a random one."""
        problem = search.problem
        if not isinstance(self.init, str):
            init = align_objects(X, self.init, ("X", "'init' of NNEVCLUS"))
            given = given_masses("NNEVCLUS", init, search.focal_sets, len(problem.rows))
            return [StartMasses(problem.train, given[problem.train])]
        at_random: list[StartMasses | None] = [None] * self.n_init
        alone = self.init == "auto" and (not len(problem.constraints) or labeled)
        if alone or self.init in ("random", "belief-peaks"):
            return at_random
        solution = solve_without_network(problem, search.focal_sets, self.xi, search.rng)
        return [solution] * self.n_init if self.init == "evclus" else [solution, *at_random[1:]]

    def _choose(self, runs: list[Run]) -> Run:
        """The run of lowest criterion; how it ended is said aloud."""
        best = min(runs, key=lambda run: run.objective)
        failure = best.state.failure
        if not failure:
            return best_of(runs, name="NNEVCLUS", max_iter=self.max_iter, tol=self.tol)
        step = " a smaller learning_rate," if self.optimizer in ("adam", "rmsprop", "auto") else ""
        if not best.n_iter:
            raise FloatingPointError(
                f"The loss of NNEVCLUS is not a number {failure}, before anything was learned. Try{step} "
                "scaled columns, or look at the weights of your module."
            )
        warn_user(
            f"The loss of NNEVCLUS stopped being a number {failure}; the last good state is kept. Try{step} "
            "or scaled columns.",
            ConvergenceWarning,
        )
        return best

    def _describe_network(self) -> None:
        self.metric_learner_, self.svm_gamma_ = self._inputs.learner, self._inputs.svm_gamma
        self.beta_ = self.network_.beta

    def _store_solution(self, problem: Problem, focal_sets: FocalSets, *, keep: bool) -> np.ndarray:
        """Number the clusters from the largest to the smallest unless the caller fixed them; return the masses."""
        masses = compute_masses(self.network_, problem.rows, problem.depth)
        self._columns = np.arange(len(focal_sets))
        if isinstance(self.focal_sets, str) and not keep:
            betp = CredalPartition(masses, focal_sets, copy=False).pignistic
            order = _base.largest_first(betp.sum(axis=0), tie=betp.argmax(axis=0))
            each = CredalPartition(np.eye(len(focal_sets)), focal_sets).relabel(order)
            focal_sets, self._columns = each.focal_sets, each.masses.argmax(axis=0)
        self.focal_sets_ = focal_sets
        return masses[:, self._columns]

    def _describe_pairs(self, problem: Problem, partition: CredalPartition, rng: np.random.RandomState) -> None:
        i, j, wanted = problem.pairs.sample(POINTS, rng)
        self.shepard_ = shepard_of(partition, problem.judges[i], problem.judges[j], wanted)
        as_tensor = load_torch().as_tensor
        pair_loss = loss_on(problem.pairs, as_tensor(self.focal_sets_.disjoint.astype(float)))
        self.loss_ = float(pair_loss(as_tensor(partition.masses[problem.judges])))
        self.stress_ = self.loss_ / float(np.square(problem.pairs.values).mean())

    def predict_partition(self, X: Any) -> Any:
        """Credal partition of new objects.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or what ``fit`` took
            With ``metric="precomputed"``: dissimilarities to the fitted objects, shape (n_new, n_samples).

        Returns
        -------
        CredalPartition
            Or a :class:`~evidentia.partition.LazyPartition` of rows that are not in memory.
        """
        return super().predict_partition(X)

    def _read_new(self, X: Any) -> NewObjects:
        return NewObjects(X, self._check_table(X, reset=False))

    def _masses(self, rows: np.ndarray | NewObjects) -> np.ndarray:
        new = rows if isinstance(rows, NewObjects) else NewObjects(rows, rows)
        inputs = self._inputs.network_rows(self._inputs.metric_rows(*new), new.table)
        return compute_masses(self.network_, inputs, self._inputs.depth(inputs))[:, self._columns]
