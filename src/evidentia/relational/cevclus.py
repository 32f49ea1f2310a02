"""CEVCLUS: EVCLUS with must-link and cannot-link knowledge (Antoine et al., 2014; Li et al., 2018)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, Self

import numpy as np

from evidentia import _base
from evidentia.belief import FocalSets
from evidentia.belief.focal import Subset
from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import Source
from evidentia.metric_learning import learn_metric
from evidentia.relational.evclus import EVCLUS, conflict_form
from evidentia.relational.pairs import Pairs
from evidentia.solvers.irqp import Descent, Links, criterion, symmetric_pairs

# Links come in by and by: at full strength at once, the first object of a broken link would give way, right or wrong.
GROWTH = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
# With xi="auto": weights tried for a broken link, the share of them that a link which holds keeps as an anchor, and how
# far a descent is followed before the next weight. Larger steps push links harder than they need.
WEIGHTS = 2.0 ** np.arange(-10, 0.5, 0.5)
ANCHOR = 1 / 16
STEP_TOL = 1e-2


def link_form(focal_sets: FocalSets) -> np.ndarray:
    r"""Matrix Q of (19): :math:`m_i^T Q m_j = Pl_{ij}(\text{different}) + 1 - Pl_{ij}(\text{same})`, (f, f).

    Examples
    --------
    >>> link_form(FocalSets(2)).astype(int)      # {}, {0}, {1}, {0,1}
    array([[1, 1, 1, 1],
           [1, 0, 2, 1],
           [1, 2, 0, 1],
           [1, 1, 1, 1]])
    """
    empty, single = focal_sets.card == 0, np.diag(focal_sets.card == 1)
    return 1.0 + focal_sets.disjoint - (empty[:, None] | empty) - single


def make_links(
    constraints: PairwiseConstraints, focal_sets: FocalSets, strength: float | np.ndarray, n_samples: int
) -> Links:
    r"""The penalty of (17), (18) as the descent takes it, ``strength`` (one, or one a link) for certainty one.

    A must-link costs :math:`m_i^T Q m_j`, a cannot-link :math:`2 - m_i^T Q m_j`: both lie between 0 and 2.
    """
    weight = strength * constraints.certainty
    signed = np.where(constraints.must, weight, -weight)
    rows = symmetric_pairs(constraints.pairs, signed[None], n_samples)
    return Links(link_form(focal_sets), rows.indptr, rows.indices, rows.values[0], 2 * weight[~constraints.must].sum())


def broken(constraints: PairwiseConstraints, masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
    """Links that the most plausible clusters contradict, (n_links,) bool."""
    first, second = (masses @ focal_sets.member).argmax(axis=1)[constraints.pairs.T]
    return (first == second) != constraints.must


class CEVCLUS(EVCLUS):
    r"""EVCLUS that listens to an expert [1]_, [2]_: some objects belong together, some do not.

    .. math::
        L_c = L + \frac{1}{2 (|ML| + |CL|)} \Big[
            \sum_{(i,j) \in ML} \xi_{ij} s_{ij} \big( Pl_{ij}(\bar S) + 1 - Pl_{ij}(S) \big)
            + \sum_{(i,j) \in CL} \xi_{ij} s_{ij} \big( Pl_{ij}(S) + 1 - Pl_{ij}(\bar S) \big) \Big]

    with L the loss of :class:`EVCLUS`, :math:`S` the statement "objects i and j share a cluster" and :math:`s_{ij}` the
    certainty of a link. Every descent begins where a descent without links ended, and weights grow by and by: from
    random masses, or with all weight at once, even correct links lead into poor minima.

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "full", "simple", "near-pairs"}, list of subsets, FocalSets or callable
        As for :class:`EVCLUS`.
    xi : "auto" or float >= 0
        Weight of the links against the dissimilarities. A number is the same for all links, as in the papers, which
        take 0.5. With ``"auto"`` every link gets as much as it needs: nothing while the most plausible clusters agree
        with all links, then more and more for those they contradict, up to 1, and a sixteenth of that for the others.
    metric_learner : transformer, optional
        Learns a metric for the rows of X from the links before anything else, such as
        :class:`~evidentia.metric_learning.PCCA` or :class:`~evidentia.metric_learning.KPCCA`; ``metric`` then compares
        the transformed rows.
    n_pairs, delta0, metric, metric_params, n_near, n_init, init, max_iter, tol, random_state, verbose
        As for :class:`EVCLUS`.

    Attributes
    ----------
    constraints_ : PairwiseConstraints or None
        The links by row number; ``constraints_.violations(partition_)`` tells how far each is broken.
    metric_learner_ : transformer or None
        The learner, fitted; ``predict_partition`` sends new rows through it.
    xi_ : ndarray of shape (n_links,)
        Weight of each link.
    criterion_ : float
        The loss with its penalty.
    criterion_trace_ : ndarray
        That loss under the final weights, from the masses that smaller ones gave; it never rises.
    partition_, labels_, focal_sets_, delta0_, start_criteria_, stress_, shepard_, n_iter_
        As for :class:`EVCLUS`; the stress has no penalty in it.

    Notes
    -----
    Links act on the linked objects and, through the conflict with these, on their partners; they do not change the
    dissimilarities. When links contradict them, learn a metric too: ``metric_learner=PCCA()``.

    The penalty is zero only when linked objects are sure of a single cluster. One weight for all links therefore does
    harm where dissimilarities already find most of the classes: objects between two clusters become certain, and draw
    their neighbours with them. With 25 correct links and ``xi=0.5`` the mean ARI falls from 0.91 to 0.89 on Wine and
    from 0.99 to 0.92 on Protein, and it falls as well when each linked object starts in its true class, so a
    better start is no cure. With ``"auto"`` it is 0.93 and 0.99. A number serves when many links
    shall overrule the dissimilarities.

    New objects have no links: ``predict_partition`` places them by their dissimilarities.

    References
    ----------
    .. [1] V. Antoine, B. Quost, M.-H. Masson, T. Denœux. CEVCLUS: evidential clustering with instance-level constraints
       for relational data. Soft Computing 18(7):1321-1335, 2014.
    .. [2] F. Li, S. Li, T. Denœux. k-CEVCLUS: constrained evidential clustering of large dissimilarity data.
       Knowledge-Based Systems 142:29-44, 2018.

    Examples
    --------
    Four groups on the corners of a square: three links tell which of them belong together.

    >>> from evidentia.constraints import PairwiseConstraints
    >>> corners = np.array([[0, 0], [0, 7], [6, 0], [6, 7]])
    >>> X = np.repeat(corners, 10, axis=0) + np.random.default_rng(0).normal(size=(40, 2))
    >>> CEVCLUS(2, random_state=0).fit(X).labels_[[0, 10, 20, 30]]
    array([0, 1, 0, 1])
    >>> links = PairwiseConstraints.from_labels(np.repeat([0, 0, 1, 1], 10))
    >>> CEVCLUS(2, xi=5, random_state=0).fit(X, constraints=links).labels_[[0, 10, 20, 30]]
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets | Iterable[Subset] | Callable[[int], FocalSets] = "pairs",
        xi: float | Literal["auto"] = "auto",
        metric_learner: Any = None,
        n_pairs: int | None = None,
        delta0: str | float | None = "auto",
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_near: int = 2,
        n_init: int = 5,
        init: Any = "random",
        max_iter: int = 1000,
        tol: float = 1e-5,
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
        self.xi = xi
        self.metric_learner = metric_learner

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, constraints: PairwiseConstraints | None = None, partners: Any = None
    ) -> Self:
        """Find clusters among objects, some pairs of which are known to belong together or apart.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or what the metric takes
            As for :meth:`EVCLUS.fit`.
        y : None
            Ignored.
        constraints : PairwiseConstraints, optional
            The links. Hard ones must not contradict each other.
        partners : array-like of int, shape (n_samples, k), optional
            Partners of each object, in place of random ones.
        """
        if self.metric_learner is not None and isinstance(self.metric, str) and self.metric in ("precomputed", "gower"):
            raise ValueError(
                f"A 'metric_learner' transforms rows of numbers, so the 'metric' of {type(self).__name__} cannot be "
                f"{self.metric!r}."
            )
        if constraints is not None and not isinstance(constraints, PairwiseConstraints):
            raise TypeError(
                f"'constraints' of {type(self).__name__} must be a PairwiseConstraints, made for instance by "
                f"PairwiseConstraints.from_links(must_link, cannot_link). Got {constraints!r}."
            )
        self.constraints_ = constraints.for_table(X).check() if constraints is not None and len(constraints) else None
        self.metric_learner_ = None
        return super().fit(X, partners=partners)

    def _read(self, X: Any) -> Source:
        if self.metric_learner is None:
            return super()._read(X)
        self.metric_learner_, rows = learn_metric(self.metric_learner, X, self.constraints_)
        source = super()._read(rows)
        _base.check_table(self, X)  # new rows come with the columns of X
        return source

    def _read_new(self, X: Any) -> Any:
        if self.metric_learner_ is None:
            return super()._read_new(X)
        return np.asarray(self.metric_learner_.transform(X), dtype=float)

    def _check_params(self, n_samples: int) -> None:
        super()._check_params(n_samples)
        if not isinstance(self.xi, str):
            _base.check_number(self, "xi", low=0)
        elif self.xi != "auto":
            raise ValueError(
                f"The 'xi' parameter of {type(self).__name__} must be 'auto' or a number. Got {self.xi!r}."
            )

    def _finish(self, pairs: Pairs, focal_sets: FocalSets, runs: list[Descent]) -> list[Descent]:
        if self.constraints_ is None or runs[-1].interrupted:
            return runs
        if isinstance(self.xi, str):
            return [self._listen(pairs, focal_sets, runs)]
        self.xi_ = np.full(len(self.constraints_), float(self.xi))
        strength = self.xi * pairs.n_terms / (2 * len(self.constraints_))
        for share in GROWTH:
            links = make_links(self.constraints_, focal_sets, share * strength, pairs.n_objects)
            runs = self._descend(pairs, focal_sets, [run.masses for run in runs], links)
            if runs[-1].interrupted and share < 1:
                full = make_links(self.constraints_, focal_sets, strength, pairs.n_objects)
                losses = (criterion(run.masses, conflict_form(focal_sets), pairs.layout, full) for run in runs)
                return [run._replace(trace=np.array([loss])) for run, loss in zip(runs, losses)]
        return runs

    def _listen(self, pairs: Pairs, focal_sets: FocalSets, runs: list[Descent]) -> Descent:
        """Raise the weights of broken links until all links hold, or else keep the solution that breaks fewest."""
        links = self.constraints_
        assert links is not None

        def wrong(run: Descent) -> np.ndarray:
            return broken(links, run.masses, focal_sets)

        def cost(run: Descent) -> float:
            return float(links.certainty @ wrong(run))

        def descend(run: Descent, weights: np.ndarray, tol: float) -> Descent:
            strength = weights * pairs.n_terms / (2 * len(links))
            return self._descend(
                pairs, focal_sets, [run.masses], make_links(links, focal_sets, strength, pairs.n_objects), tol
            )[0]

        best = run = min(runs, key=lambda run: (cost(run), run.trace[-1]))
        self.xi_ = weights = np.zeros(len(links))
        for weight in WEIGHTS:
            if cost(best) == 0 or run.interrupted:
                break
            weights = np.where(wrong(run), weight, np.maximum(weights, ANCHOR * weight))
            run = descend(run, weights, STEP_TOL)
            if cost(run) < cost(best) and not run.interrupted:
                run = descend(run, weights, self.tol)
                if cost(run) < cost(best):
                    best, self.xi_ = run, weights
        return best._replace(interrupted=run.interrupted)
