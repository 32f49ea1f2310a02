"""NN-EVCLUS: neural network-based evidential clustering (Denœux, 2021)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from evidentia import _base
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.constraints import PairwiseConstraints
from evidentia.neural import storage
from evidentia.neural._torch import check_device, load_torch, one_torch_thread
from evidentia.neural.knowledge import Knowledge
from evidentia.neural.lessons import Lesson, solve_freely
from evidentia.neural.objective import Objective
from evidentia.neural.posing import Problem, pose
from evidentia.neural.search import Found, Search, masses_of
from evidentia.partition import CredalPartition
from evidentia.relational._base import given_masses
from evidentia.relational.evclus import EVCLUS, POINTS, Shepard, shared_plausibility
from evidentia.solvers.descent import InterruptedFit
from evidentia.solvers.overlap import near_pair_sets

SMALL = 1_000  # objects up to which one core is enough for all pairs


class NNEVCLUS(EVCLUS):
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

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple", "near-pairs"}, list of subsets, FocalSets or callable
        As for :class:`~evidentia.relational.EVCLUS`.
    hidden : int, sequence of int, optional
        Rectified linear units of each hidden layer. By default one layer, with 1.5 units for each focal set and at
        least 20, or 150 when there are links: each of them may ask for a bend.
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
        As for :class:`~evidentia.relational.EVCLUS`, for tables of numbers. With ``metric="precomputed"`` the network
        sees the principal components of the rows of the matrix. ``n_pairs`` is for ``optimizer="lbfgs"``.
    n_components : int or float in (0, 1)
        Principal components of the rows of dissimilarities: how many, or the share of their variance.
    metric_learner : transformer, optional
        Such as ``PCCA()`` for links or ``FDA()`` for labels. Distances are those of what it makes of X; the network
        sees this and, beside it, the columns of X.
    xi : float >= 0
        Weight of the links against the dissimilarities.
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
        Number of starts; the one that ends with the lowest criterion is kept.
    init : {"auto", "evclus", "random", "belief-peaks"}, CredalPartition or array-like of shape (n_samples, n_focal)
        With ``"evclus"`` every network first learns the masses that EVCLUS, or with links CEVCLUS, finds for (at most
        1,000 of) the objects. ``"auto"`` makes the first start so when there are links and no labels, and the others
        from random weights: links lead these into poor minima. ``"belief-peaks"`` takes the centres found in the δ–Bel
        graph for labelled objects. Given masses make one start: the network first learns them.
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
        As for :class:`~evidentia.relational.EVCLUS`.

    Notes
    -----
    Inputs are centred and divided by one number, so columns of very different units should be scaled first, as for all
    methods on distances. An iteration on all pairs costs O(n² f), an epoch O(n b f) for batches of b objects.

    A learned metric may keep one direction only, along which objects of two classes coincide: a network that saw no
    more could not tell them apart, whatever the links say. This is why it sees the columns of X as well.

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
        delta0: str | float | None = "auto",
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
        init: Any = "auto",
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
        problem = pose(self, X, self._check_objects(X, reset=True), constraints, labels, dissimilarities, rng)
        self._inputs, self.metric_learner_ = problem.inputs, problem.inputs.learner
        self.constraints_, region = problem.constraints, problem.inputs.region
        self.svm_gamma_ = None if region is None else region.gamma / problem.inputs.scale**2
        focal_sets = self._family()
        if self.outliers and focal_sets.empty_index is None:
            raise ValueError("NNEVCLUS with outliers=True needs the empty set among its focal sets.")
        small = self.module is None and (problem.method != "lbfgs" or len(problem.train) <= SMALL)
        with one_torch_thread(small), torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.randint(2**31)))
            found, focal_sets = self._train(problem, focal_sets, labelled=labels is not None, rng=rng)
        self._warn_about(found)
        self.network_, self.beta_ = found.network, found.network.beta
        self.criterion_, self.start_criteria_ = found.criterion, np.array(found.start_criteria)
        trace = found.training.trace
        self.criterion_trace_, self.validation_trace_ = np.array(trace), np.array(found.training.validation)
        self.n_iter_ = len(trace) - (problem.method == "lbfgs")
        self._settle_network(X, problem, focal_sets, keep=labels is not None or not isinstance(self.init, str))
        self._describe_pairs(problem, rng)
        return self

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

    def _train(
        self, problem: Problem, focal_sets: FocalSets, *, labelled: bool, rng: np.random.RandomState
    ) -> tuple[Found, FocalSets]:
        """The best of several starts, and the focal sets it is over."""
        found = Search(self, problem, focal_sets, rng).best_of(self._lessons(problem, focal_sets, labelled, rng))
        if isinstance(self.focal_sets, str) and self.focal_sets == "near-pairs" and not found.interrupted:
            masses = masses_of(found.network, problem.rows, problem.inside)
            finer = near_pair_sets(shared_plausibility(masses, focal_sets), self.n_near, empty=True)
            given = given_masses("NNEVCLUS", CredalPartition(masses, focal_sets), finer, len(masses))
            lesson = Lesson(problem.train, given[problem.train])
            focal_sets, found = finer, Search(self, problem, finer, rng).best_of([lesson])
        return found, focal_sets

    def _lessons(
        self, problem: Problem, focal_sets: FocalSets, labelled: bool, rng: np.random.RandomState
    ) -> list[Lesson | None]:
        """What the network of each start learns first; None for a random one."""
        if not isinstance(self.init, str):
            given = given_masses("NNEVCLUS", self.init, focal_sets, len(problem.rows))
            return [Lesson(problem.train, given[problem.train])]
        at_random: list[Lesson | None] = [None] * self.n_init
        alone = self.init == "auto" and (problem.constraints is None or labelled)
        if alone or self.init in ("random", "belief-peaks"):
            return at_random
        lesson = solve_freely(problem, focal_sets, self.xi, rng)
        return [lesson] * self.n_init if self.init == "evclus" else [lesson, *at_random[1:]]

    def _warn_about(self, found: Found) -> None:
        broken = found.training.broken
        if broken:
            step = " a smaller learning_rate," if self.optimizer in ("adam", "rmsprop", "auto") else ""
            if not found.training.trace:
                raise FloatingPointError(
                    f"The loss of NNEVCLUS is not a number {broken}, before anything was learned. Try{step} "
                    "scaled columns, or look at the weights of your module."
                )
            warn_user(
                f"The loss of NNEVCLUS stopped being a number {broken}; the last good state is kept. Try{step} "
                "or scaled columns.",
                ConvergenceWarning,
            )
        elif found.interrupted:
            warn_user("NNEVCLUS was interrupted; the best network so far is kept.", InterruptedFit)
        elif not found.training.converged:
            warn_user(
                f"NNEVCLUS reached max_iter={self.max_iter} before tol={self.tol:g}; raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _settle_network(self, X: Any, problem: Problem, focal_sets: FocalSets, *, keep: bool) -> None:
        """Publish; clusters are numbered from the largest to the smallest unless the caller fixed them."""
        masses = masses_of(self.network_, problem.rows, problem.inside)
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
        nothing = Knowledge.of(None, None)
        network, torch = self.network_, load_torch()
        pair_loss = Objective(
            network, problem.rows, problem.inside, self.focal_sets_, nothing, xi=0, label_weight=0, l2=0
        ).on(problem.pairs)
        self.loss_ = float(pair_loss(torch.as_tensor(masses[problem.among])))
        self.stress_ = self.loss_ / float(np.square(problem.pairs.values).mean())

    def _masses(self, X: Any) -> np.ndarray:
        table = self._check_objects(X, reset=False)
        rows = self._inputs.rows(self._inputs.measured(X, table), table)
        return masses_of(self.network_, rows, self._inputs.inside(rows))[:, self._columns]

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
