"""CEVCLUS: EVCLUS with must-link and cannot-link knowledge (Antoine et al., 2014; Li et al., 2018)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evidentia import _checks
from evidentia._data import Data
from evidentia._parameters import ANYTHING, Choice, Number, param
from evidentia.belief import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import make_source
from evidentia.methods import Method
from evidentia.metric_learning import learn_metric
from evidentia.relational.evclus import EVCLUS, conflict_form
from evidentia.relational.pairs import Pairs
from evidentia.rows import RowSource
from evidentia.rows.source import ArrayRows
from evidentia.solvers.descent import Run
from evidentia.solvers.irqp import Links, criterion, symmetric_pairs

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


def penalty_of(links: PairwiseConstraints, weights: Any, pairs: Pairs, focal_sets: FocalSets) -> Links:
    """Return the penalty of links of these weights beside the sum of the squared differences."""
    strength = weights * pairs.n_terms / (2 * len(links))
    return make_links(links, focal_sets, strength, pairs.n_objects)


def broken_links(constraints: PairwiseConstraints, masses: np.ndarray, focal_sets: FocalSets) -> np.ndarray:
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

    Attributes
    ----------
    constraints_ : PairwiseConstraints
        The links by row number; ``constraints_.violations(partition_)`` tells how far each is broken.
    metric_learner_ : transformer or None
        The learner, fitted; ``predict_partition`` sends new rows through it.
    xi_ : ndarray of shape (n_links,)
        Strength of each link.
    criterion_ : float
        The loss with its penalty.
    criterion_trace_ : ndarray
        That loss under the final weights, from the masses that smaller ones gave; it never rises.
    stress_ : float
        The loss over the mean square of the transformed dissimilarities; the penalty has no part in it.
    delta0_, shepard_
        As for :class:`EVCLUS`.

    Notes
    -----
    Links act on the linked objects and, through the conflict with these, on their partners; they do not change the
    dissimilarities. When links contradict them, learn a metric too: ``metric_learner=PCCA()``.

    The penalty is zero only when linked objects are sure of a single cluster. One weight for all links therefore does
    harm where dissimilarities already find most of the classes: objects between two clusters become certain, and draw
    their neighbors with them. With 25 correct links and ``xi=0.5`` the mean ARI falls from 0.91 to 0.89 on Wine and
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

    method = Method(
        name="cevclus", title="EVCLUS with must-links and cannot-links",
        papers=("Antoine et al., *Soft Computing* 18, 2014", "Li et al., *Knowledge-Based Systems* 142, 2018"),
        guide="dissimilarities", reads=("table", "dissimilarities"), takes=("links",),
        chosen_for=("links with categories", "links with dissimilarities"),
        families=EVCLUS.method.families, empty_set=True, quick={"n_init": 2}, power=2, grows="six times EVCLUS",
        memory="as EVCLUS", doubt="sets, outliers",
        limit="many links on poorly clustered data need a number for `xi`",
    )  # fmt: skip

    given_again = ("metric_learner",)

    xi: Any = param(
        Choice("auto") | Number(low=0),
        """Strength of the links against the dissimilarities. A number is the same for all links, as in the papers,
        which take 0.5. With ``"auto"`` every link gets as much as it needs: nothing while the most plausible clusters
        agree with all links, then more and more for those they contradict, up to 1, and a sixteenth of that for the
        others.""",
        default="auto",
    )
    metric_learner: Any = param(
        ANYTHING,
        """Transformer that learns a metric for the rows of X from the links before anything else, such as
        :class:`~evidentia.metric_learning.PCCA` or :class:`~evidentia.metric_learning.KPCCA`; ``metric`` then compares
        the transformed rows. None for none.""",
        default=None,
    )

    def _read_rows(self, X: Any) -> Any:
        if self.metric_learner is None:
            return super()._read_rows(X)
        if isinstance(self.metric, str) and self.metric in ("precomputed", "gower"):
            raise ValueError(
                f"A 'metric_learner' transforms rows of numbers, so the 'metric' of {type(self).__name__} cannot be "
                f"{self.metric!r}."
            )
        return ArrayRows(_checks.check_table(self, X))  # new rows come with the columns of X

    def _fit(self, data: Data[Any]) -> np.ndarray:
        links, source, self.metric_learner_ = data.constraints, data.rows, None
        if self.metric_learner is not None:
            self.metric_learner_, rows = learn_metric(self.metric_learner, data.given, links)
            source = make_source(rows, self.metric, self.metric_params, who=type(self).__name__)
        self.xi_ = np.zeros(len(links))
        return self._fit_source(data, source)

    def _check_source(self, rows: RowSource, *, reset: bool) -> RowSource:
        if self.metric_learner_ is not None:
            _checks.refuse_rows(self, rows)
        return super()._check_source(rows, reset=reset)

    def _read_new(self, X: Any) -> Any:
        if self.metric_learner_ is None:
            return super()._read_new(X)
        _checks.check_table(self, X, reset=False)
        return np.asarray(self.metric_learner_.transform(X), dtype=float)

    def _search(self, data: Data[Any], pairs: Pairs) -> tuple[FocalSets, list[Run]]:
        links, (focal_sets, runs) = data.constraints, super()._search(data, pairs)
        if not len(links) or runs[-1].interrupted:
            return focal_sets, runs
        if isinstance(self.xi, str):
            best, self.xi_ = self._enforce_links(pairs, links, focal_sets, runs)
            return focal_sets, [best]
        self.xi_ = np.full(len(links), float(self.xi))
        return focal_sets, self._strengthen(pairs, links, focal_sets, runs)

    def _strengthen(
        self, pairs: Pairs, links: PairwiseConstraints, focal_sets: FocalSets, runs: list[Run]
    ) -> list[Run]:
        """Descend with links that grow to their full strength."""
        for share in GROWTH:
            penalty = penalty_of(links, share * self.xi, pairs, focal_sets)
            runs = self._descend(pairs, focal_sets, [run.state for run in runs], penalty)
            if runs[-1].interrupted and share < 1:
                full = penalty_of(links, self.xi, pairs, focal_sets)
                losses = (criterion(run.state, conflict_form(focal_sets), pairs.layout, full) for run in runs)
                return [replace(run, trace=np.array([loss])) for run, loss in zip(runs, losses)]
        return runs

    def _enforce_links(
        self, pairs: Pairs, links: PairwiseConstraints, focal_sets: FocalSets, runs: list[Run]
    ) -> tuple[Run, np.ndarray]:
        """Raise the weights of broken links until all links hold, or else keep the solution that breaks fewest."""

        def count_broken(run: Run) -> np.ndarray:
            return broken_links(links, run.state, focal_sets)

        def cost(run: Run) -> float:
            return float(links.certainty @ count_broken(run))

        def descend(run: Run, weights: np.ndarray, tol: float) -> Run:
            penalty = penalty_of(links, weights, pairs, focal_sets)
            return self._descend(pairs, focal_sets, [run.state], penalty, tol)[0]

        best = run = min(runs, key=lambda run: (cost(run), run.objective))
        kept = weights = np.zeros(len(links))
        for weight in WEIGHTS:
            if cost(best) == 0 or run.interrupted:
                break
            weights = np.where(count_broken(run), weight, np.maximum(weights, ANCHOR * weight))
            run = descend(run, weights, STEP_TOL)
            if cost(run) < cost(best) and not run.interrupted:
                run = descend(run, weights, self.tol)
                if cost(run) < cost(best):
                    best, kept = run, weights
        return replace(best, interrupted=run.interrupted), kept
