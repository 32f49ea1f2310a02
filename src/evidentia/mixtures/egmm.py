"""EGMM, the evidential Gaussian mixture model (Jiao, Denœux, Liu & Pan, 2022), with fourteen covariance models.

Sets of clusters are Gaussian components; the mean of a set is the barycenter of its clusters' means, and its covariance
the mean of theirs. The posterior probabilities of the components, given an object, are its mass function. The paper
has one covariance for all (``model="EEE"``) and all sets; it leaves other covariances as future work.

The algorithm is :func:`evidentia.mixtures._em.em`; :mod:`evidentia.mixtures.search` compares models, numbers of
clusters and sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import chi2
from sklearn.utils.validation import check_is_fitted

from evidentia import _base, _checks, _streaming
from evidentia._data import Data
from evidentia._parameters import BOOLEAN, NOTHING, Choice, Integer, Number, Predicate, fitted, param, random_numbers
from evidentia._warnings import warn_user
from evidentia.belief import FocalSets, resolve_focal_sets
from evidentia.constraints.knowledge import read_knowledge
from evidentia.methods import Method
from evidentia.mixtures._base import CLUSTER_RANGE, Candidate, MixtureClusterer
from evidentia.mixtures._covariances import MODELS, feasible_models
from evidentia.mixtures._em import Parameters, PartialLabels, engine, patterns_of
from evidentia.mixtures.egmm_streaming import Stream, begin_stream, follow_stream
from evidentia.mixtures.parsimonious import MODEL_LIST
from evidentia.mixtures.search import (
    BARELY,
    COLLAPSE,
    KIND,
    LabelledTable,
    SearchResult,
    SearchSettings,
    SearchTable,
    partial_labels_of,
    search,
    spread_to,
)
from evidentia.partition import CredalPartition
from evidentia.rows.passes import reduce_rows
from evidentia.rows.scan import Table, chunk_moments, ranges_of, scan
from evidentia.rows.source import ArrayRows, RowSource, TransformedRows
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.coordinates import RANK_TOLERANCE, ColumnScales, Coordinates, scales_of, units_differ
from evidentia.solvers.overlap import is_automatic
from evidentia.solvers.principal import WIDE, Independent, Principal, independent_columns, is_wide, principal_components
from evidentia.solvers.starts import START_RULES, Rows
from evidentia.verdict.fitted import Gaussians

CHUNK = 65_536  # rows transformed at a time when masses are computed
MANY_ROWS = 50  # from which on few values in a column are no chance
FEW_VALUES = 5  # different ones in a column: it is a category or a grade rather than a measurement
HEAD = 64  # rows in which most columns of more values show them
IMPOSSIBLE = 1e-3  # an object is not possibly in a cluster if so few of its members are as far out
BEYOND = 1e-10  # of a variance that is given: a column that varies less was meant in other units, and would be lost


class EGMM(MixtureClusterer):
    r"""Evidential Gaussian mixture model [1]_, with fourteen covariance models.

    .. math::
        p(x) = \sum_A \pi_A\, N(x; \bar\mu_A, \bar\Sigma_A), \qquad
        \bar\mu_A = \frac{1}{|A|} \sum_{k \in A} \mu_k, \quad
        \bar\Sigma_A = \frac{1}{|A|} \sum_{k \in A} \Sigma_k, \qquad
        m_i(A) = \frac{\pi_A N(x_i; \bar\mu_A, \bar\Sigma_A)}{p(x_i)}

    There is no empty set: an object far from everything gets its mass by the relative densities.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Clusters are numbered from the largest to the smallest, unless ``init`` or a list of focal sets fixes them.
    covariances_ : ndarray of shape (n_clusters, n_features, n_features)
        Made when it is asked for: diagonal models of wide tables keep variances only.
    weights_ : ndarray of shape (n_focal,)
        Mixing probabilities of ``focal_sets_``.
    log_likelihood_ : float
        Expected over what was rounded away, see ``resolution_``.
    criterion_ : float
        Log-likelihood, plus the logarithm of the prior density (up to a constant) if there is a prior.
    criterion_trace_ : ndarray
        The criterion after each iteration of the best start; it never falls (``ridge=0``). With automatic sets, of the
        mixing probabilities that are found last.
    start_criteria_ : ndarray
        The criterion at the end of every start of the chosen model; one value with automatic sets.
    resolution_ : ndarray of shape (n_features,)
        The smallest step between values of each column that has at most five of them; zero for other columns, for
        tables of fewer than 50 objects, and with ``prior=None``.
    reduction_ : object or None
        What took the table to the columns that were clustered: principal components (``reduce``), or columns that are
        no combinations of others; with ``to`` and ``back``.

    Notes
    -----
    With one covariance for all an iteration costs two products of n × d by d × f matrices and n f exponentials (f focal
    sets), with one each d²/2 times as much, and d times as much for diagonal models; in blocks of rows: memory
    beyond one copy of the table does not grow with n until the masses are written. Missing values (NaN) are integrated
    out by EM; cost then grows with the number of distinct patterns of missing entries. Results do not depend on the
    order of the rows. EEE, VEE, EVV, VVV and the diagonal models do not depend on the units of the columns either; EII,
    VII, EVE, VVE, EEV and VEV do, as they ask for equal spreads or orientations, and are those of standardized columns
    by ``standardize``; likelihoods and centers are of the columns as they are. Weights count as copies.

    Unless ``prior=None``, columns of at most five values count as rounded: a value is known up to the smallest step h
    between two of them. Log densities are then expected ones, over a deviation of variance h²/12,
    :math:`\log N(x; \mu, \Sigma) - \tfrac{1}{24} \sum_j h_j^2 (\Sigma^{-1})_{jj}`, and covariances hold that variance.
    What a column of two values tells is then nearly what it tells of a category: for equal shares a likelihood gains
    0.69 for each object from two clusters that it separates, the logarithm of 2. As exact numbers they would make
    clusters without any width, and the likelihood would mean nothing.

    Models and numbers of clusters are searched by mixtures of single clusters. All models are looked at over a few
    iterations, on a sample of a large table, at numbers whose steps grow by a third, until two steps bring nothing
    better; then the five best models at the numbers around the best. The best four are fitted to the end, and BIC
    chooses among them (``bic_``): of those within 2 of the best, a difference not worth more than a bare mention [3]_,
    the one with most clusters, since sets can say that two clusters may be one. Two clusters in one place, or a cluster
    of fewer than five objects, put a candidate behind all others. Automatic sets are added to what was chosen: its
    clusters stay where they are, and mixing probabilities are found anew, with as many objects for a prior of each set
    as a choice among its clusters would get wrong. ``ebic_`` is EBIC, (33) of the paper, of the mixture with its sets.
    It chooses where sets are given, since these are fitted together with the clusters.

    With one model and a family of sets that is given, the numbers of a range of at most ten are all fitted to the end,
    and the one of the highest EBIC is taken, as in the paper.

    With ``fit(X, partial_labels=...)``, for tables in memory and a number of clusters that is given, EM climbs the
    generalized likelihood of what is known of objects [4]_ [5]_,
    :math:`\sum_i \log \sum_A q_i(A) \pi_A N(x_i; \bar\mu_A, \bar\Sigma_A)`, with :math:`q_i(A)` the commonality of A
    in the mass function of object i that is known: the class of an object is a set, and who knows that its cluster
    is in B knows that its class is a set within B. Masses are multiplied by it, likewise. Time grows with the number
    of different mass functions.

    References
    ----------
    .. [1] L. Jiao, T. Denœux, Z.-G. Liu, Q. Pan. EGMM: an evidential version of the Gaussian mixture model for
       clustering. Applied Soft Computing 129, 109619, 2022.
    .. [2] C. Fraley, A. E. Raftery. Bayesian regularization for normal mixture estimation and model-based clustering.
       Journal of Classification 24:155-181, 2007.
    .. [3] R. E. Kass, A. E. Raftery. Bayes factors. Journal of the American Statistical Association 90:773-795, 1995.
    .. [4] E. Côme, L. Oukhellou, T. Denœux, P. Aknin. Learning from partially supervised data using mixture models and
       belief functions. Pattern Recognition 42(3):334-348, 2009.
    .. [5] T. Denœux. Maximum likelihood estimation from uncertain data in the belief function framework. IEEE
       Transactions on Knowledge and Data Engineering 25(1):119-130, 2013.

    Examples
    --------
    Two groups and one object halfway between them.

    >>> from evidentia.datasets import load, make_diamond
    >>> model = EGMM(n_clusters=2, random_state=0).fit(make_diamond().data)
    >>> model.partition_.sets()[5]
    array([ True,  True])

    The method of the paper, with the number of clusters given, and chosen by EBIC:

    >>> def paper(c):
    ...     return EGMM(c, model="EEE", focal_sets="full", prior=None, init="k-means", n_init=1, random_state=0)
    >>> round(paper(2).fit(make_diamond().data).ebic_, 1)
    -55.9
    >>> model = paper("auto").set_params(cluster_range=(1, 4)).fit(load("iris").data)
    >>> model.n_clusters_, len(model.focal_sets_), model.selection_["n_clusters"].tolist()
    (3, 7, [1, 2, 3, 4])
    """

    method = Method(
        name="egmm", title="evidential Gaussian mixture, fourteen covariance models, number of clusters by BIC",
        papers=("Jiao, Denœux, Liu & Pan, *Applied Soft Computing* 129, 2022",), guide="egmm",
        takes=("weights", "missing values", "rows beyond memory", "partial labels"), number=("given", "searched"),
        families=("auto", "full", "pairs", "simple", "singletons"), labels="pignistic", criterion="maximized",
        chosen_for=("numbers", "images"),
        # Segments share the noise of one instrument, so one covariance; and a pixel on an edge holds some of both
        # sides, so its values lie between them: all sets, as components of their own.
        for_images={"model": "EEE", "focal_sets": "full", "prior": None, "init": "k-means"},
        quick={"model": "EEI"}, grows="*n p² f*", memory="*n f*", doubt="sets", limit="no outliers",
        as_in_paper='EGMM(c, model="EEE", focal_sets="full", prior=None, init="k-means", n_init=1)',
        differs="c-means sees columns of unit variance, so that the result does not depend on their units. For other "
        "starts give centers as `init`; the first covariance is the average of those of the clusters, as in the paper. "
        'To find the number of clusters, give "auto" in place of c and a `cluster_range` of at most ten numbers: all '
        "are fitted to the end. The program of the authors also needs `ridge=0.01, tol=1e-3/n` for n objects.",
        exceptions=dict.fromkeys(
            ("check_n_features_in_after_fitting", "check_fit_score_takes_y", "check_estimators_partial_fit_n_features"),
            "partial_fit needs the number of clusters, which is left open by default",
        ),
    )  # fmt: skip

    cluster_range: Any = param(
        CLUSTER_RANGE,
        """Smallest and largest number of clusters that ``"auto"`` tries; it takes the one of the highest BIC (EBIC with
        sets that are given), goes on while that rises, and says when the best is at an end of the range.""",
        default=(1, 40),
    )
    model: Any = param(
        Choice("auto", *MODELS) | MODEL_LIST,
        """Covariance model, as for :class:`ParsimoniousGaussianMixture`: volume, shape and orientation of the clusters
        are equal (E), their own (V), or trivial (I). The best by BIC (EBIC with sets that are given) of a list or of
        all (``"auto"``) that the rows can carry: those that are not diagonal need more rows than columns, and are not
        tried beyond 60 columns.""",
        default="auto",
    )
    focal_sets: Any = param(
        _base.focal_families(*method.families),
        """Sets of clusters that may hold mass; never the empty set. ``"auto"`` has single clusters, and the sets of
        clusters that overlap: some objects are shared by all of them. A function of the number of clusters goes with
        ``n_clusters="auto"``. Cost grows with their number: 2**n_clusters - 1 for ``"full"``. ``"singletons"`` make it
        the Gaussian mixture of :class:`ParsimoniousGaussianMixture`.""",
        default="auto",
    )
    prior: Any = param(
        Choice("data") | NOTHING | Predicate("array of n_features positive variances"),
        """Prior of the covariances, which keeps a cluster from collapsing onto a few objects [2]_: made from the
        variances of the columns, and no wider than clusters of the start; made from variances that are given; or
        none, which is the paper's maximum. With a prior, columns of few values count as rounded.""",
        default="data",
    )
    reduce: Any = param(
        Choice("auto", "pca") | Number(above=0, below=1) | Integer(low=1) | NOTHING,
        """Cluster principal components: those that hold what columns have in common (``"pca"``: above the level of a
        table with shuffled columns), a share of variance, or a number of them. Centers and new objects are in the
        columns of X all the same. ``"auto"``: ``"pca"`` where the model is chosen, the table has more than 60 columns,
        or fewer than five rows a column, and nothing is missing.""",
        default="auto",
    )
    standardize: Any = param(
        Choice("auto") | BOOLEAN,
        """Whether what depends on the units of the columns is that of columns of unit variance: principal components,
        or else EII, VII, EVE, VVE, EEV and VEV. ``"auto"``: where spreads of columns differ more than three times,
        unless most columns reach both ends of one range, like pixels; not for a model that is named.""",
        default="auto",
    )
    reg_covar: float = param(
        Number(above=0, high=1),
        """Floor of the covariance relative to that of the whole table. A solution that reaches it has collapsed onto a
        few objects: its likelihood means nothing, so it is used only if every start ends so.""",
        default=1e-8,
    )
    ridge: float = param(
        Number(low=0),
        """Added to the diagonal of the covariance in the units of X before each E-step, as the authors' program does
        with 0.01; for models with one covariance. It depends on units and may make the likelihood fall; it is
        there to repeat published numbers.""",
        default=0.0,
    )
    init: Any = param(
        Choice("hierarchical", *START_RULES) | Predicate("array of shape (n_clusters, n_features)"),
        """Start of the means: by model-based agglomeration, by k-means, at rows drawn at random, or at the rows of an
        array, which makes one start and keeps its order of clusters.""",
        default="hierarchical",
    )
    n_init: int = param(
        Integer(low=1),
        """Number of starts. The first three of ``"hierarchical"`` are merge trees for free covariances (in two kinds of
        coordinates) and for equal spheres; what is asked beyond them starts from k-means.""",
        default=3,
    )

    attributes = {"model_": "str\nThe covariance model."}

    partial_fit = _streaming.partial_fit
    _keeps_single = True
    _collapse = COLLAPSE
    _cure = "Ask for fewer clusters or model='EEI', keep prior='data', or give more objects."

    _coordinates: Any = fitted()
    _parameters: Parameters = fitted()

    def _fit(self, data: Data[Any]) -> np.ndarray | None:
        self.__dict__.pop("_stream", None)
        partition = self._read_partial_labels(data)
        table, settings = self._prepare(data.rows, data.rng, partition)
        result = search(table, settings, data.rng)
        self._store_result(table, result)
        if partition is None:
            return None
        self._refuse_masses(data.rows, self.focal_sets_)
        return self._evaluate(data.table, partial_labels_of(partition))[0]

    def _begin_stream(self, rows: ArrayRows, rng: np.random.RandomState) -> Stream:
        return begin_stream(self, rows, rng)

    def _follow_stream(self, rows: ArrayRows, kappa: float) -> Stream:
        return follow_stream(self, rows, kappa)

    def _read_partial_labels(self, data: Data[Any]) -> CredalPartition | None:
        """Return what is known of the clusters of the objects, as a mass function for each; None if nothing is."""
        if data.partial_labels is None:
            return None
        if isinstance(self.n_clusters, str):
            raise ValueError(
                "'partial_labels' of EGMM number the clusters, so that their number must be given: "
                "EGMM(n_clusters=...)."
            )
        if not isinstance(data.rows, ArrayRows):
            raise TypeError("EGMM takes partial labels only where all rows are in memory. Give a sample of the rows.")
        partition = read_knowledge(data.partial_labels, data.given, self.n_clusters, "EGMM", "partial_labels")
        if not self._automatic_sets:
            self._check_possible(partition, resolve_focal_sets(self.focal_sets, self.n_clusters, empty=False))
        return partition

    def _check_possible(self, partition: CredalPartition, family: FocalSets) -> None:
        """Refuse partial labels that leave an object no set of the family."""
        allowed = partition.masses @ ((family.masks & ~partition.focal_sets.masks[:, None]) == 0)
        for row in np.flatnonzero(~(allowed > 0).any(axis=1))[:1]:
            raise ValueError(
                f"'partial_labels' of EGMM leave no focal set for object {row}: none of {', '.join(family.names())} is "
                "within what is possible for it. Take a family with all single clusters."
            )

    def _prepare(
        self, rows: RowSource, rng: np.random.RandomState, partition: CredalPartition | None = None
    ) -> tuple[SearchTable, SearchSettings]:
        """Return the table in the columns that are clustered, and what is searched in it."""
        labelled, mixing = None, self._mixes_columns(rows.n_features)
        if partition is None:
            table = scan(rows, mixing=mixing, missing=True, who="EGMM")
        else:
            assert isinstance(rows, ArrayRows)
            labelled = LabelledTable.from_partition(rows, partition, mixing=mixing)
            table = labelled.table
            if all(content is None for content in labelled.labels.contents):
                table, labelled = scan(rows, mixing=mixing, missing=True, who="EGMM"), None
        numbers = self._numbers(table.n_rows)
        self._check_init(numbers, rows.n_features)
        self._check_given_variances(table.moments.spread)
        if not self._automatic_sets:
            self._refuse_masses(rows, resolve_focal_sets(self.focal_sets, min(numbers), empty=False))
        components = self._principal_components(table, rng)
        models = self._models(table.n_rows, rows.n_features if components is None else components.axes.shape[1])
        reduction = components if components is not None else self._independent_columns(table.sample.X, models)
        values = few_values(table.sample.X)
        if len(table.sample.X) >= MANY_ROWS:
            self._warn_of_few_values(values)
        rounded = self.prior is not None and table.total >= MANY_ROWS
        self.reduction_, self.resolution_ = reduction, resolutions(values) if rounded else np.zeros(rows.n_features)
        reduced = reduce_table(table, reduction)
        settings = self._search_settings(numbers, models, self._standardizes(reduced))
        return SearchTable(reduced, rng, standardized=settings.standardized, labelled=labelled), settings

    def _store_result(self, table: SearchTable, result: SearchResult) -> np.ndarray:
        """Publish the clusters of a search; return their old numbers in the new order."""
        self._publish_choice([result.best])
        self.selection_ = result.tried
        self._warn_at_an_end(result.best.n_clusters, max(result.tried["n_clusters"]))
        return self._publish_model(table, result.best)

    def _search_settings(self, numbers: list[int], models: list[str], standardized: bool) -> SearchSettings:
        """Return what is searched, in the columns that are clustered."""
        init, prior, ridge = self.init, self.prior, None
        if not isinstance(init, str):
            init = np.asarray(init, dtype=float)
            init = init if self.reduction_ is None else self.reduction_.transform(init)
        if prior is not None and not isinstance(prior, str):
            prior = self._clustered_variances(np.asarray(prior, dtype=float))
        if self.ridge:
            ridge = self._clustered_variances(np.full(self.n_features_in_, self.ridge))
        return SearchSettings(
            numbers=numbers,
            models=models,
            criterion=self.select_by,
            barely_better=self.barely_better,
            focal_sets=self.focal_sets,
            init=init,
            n_init=self.n_init,
            prior=prior,
            ridge=ridge,
            rounding=self._rounding_variances(),
            reg_covar=self.reg_covar,
            standardized=standardized,
            tol=self.tol,
            max_iter=self.max_iter,
            verbose=self.verbose,
        )

    # -- what is tried ---------------------------------------------------------------------------------------------

    @property
    def _automatic_sets(self) -> bool:
        return is_automatic(self.focal_sets)

    @property
    def select_by(self) -> str:  # type: ignore[override]
        """Criterion that chooses: BIC of single clusters, or EBIC (33) with the sets that are given."""
        return "bic" if self._automatic_sets else "ebic"

    @property
    def barely_better(self) -> float:  # type: ignore[override]
        """Difference of BIC up to which more clusters are preferred: sets can say that two may be one."""
        return BARELY if self._automatic_sets else 0.0

    @property
    def _automatic_model(self) -> bool:
        return isinstance(self.model, str) and self.model == "auto"

    def _mixes_columns(self, d: int) -> bool:
        """Whether a model needs covariances between the columns of the table, a matrix of d × d."""
        if self.reduce not in (None, "auto"):
            return False
        if self._automatic_model:
            return d <= WIDE
        return not all(model.endswith("I") for model in ([self.model] if isinstance(self.model, str) else self.model))

    def _models(self, n: int, d: int) -> list[str]:
        """Models that are asked for and that so many rows can carry."""
        carried = feasible_models(n, d)
        if self._automatic_model:
            return carried if d <= WIDE else [model for model in carried if model.endswith("I")]
        asked = [self.model] if isinstance(self.model, str) else self.model
        if d > 1 and (beyond := sorted(set(asked) - set(carried), key=MODELS.index)):
            raise ValueError(
                f"EGMM cannot fit {', '.join(beyond)} to {n} rows of {d} columns: a covariance that is not diagonal "
                f"needs more rows than columns. {', '.join(carried)} can be carried; or cluster a few principal "
                "components: reduce='pca'."
            )
        return sorted(asked, key=MODELS.index)

    def _check_init(self, numbers: list[int], n_features: int) -> None:
        if isinstance(self.init, str):
            return
        given = np.asarray(self.init, dtype=float)
        if given.shape != (numbers[0], n_features) or len(numbers) > 1 or not np.isfinite(given).all():
            raise ValueError(
                f"'init' of EGMM must be finite and of shape ({numbers[0]}, {n_features}): one row for each "
                f"cluster. Got an array of shape {given.shape}."
            )

    def _check_given_variances(self, spread: np.ndarray) -> None:
        """Variances that are given, as a prior or as a ridge, are in the units of the columns."""
        variance = np.diag(spread) if spread.ndim == 2 else spread
        for column in np.flatnonzero((variance > 0) & (self.ridge * BEYOND > variance)):
            raise ValueError(
                f"'ridge' of EGMM is {self.ridge:g}, beside which column {column} of X, whose variance is "
                f"{variance[column]:g}, is lost: it is in squared units of the columns. Take a smaller one, or scale X."
            )
        if self.prior is None or isinstance(self.prior, str):
            return
        given, n_features = np.asarray(self.prior, dtype=float), len(spread)
        expected = f"'prior' of EGMM must be {n_features} positive variances, one for each column of X"
        if given.shape != (n_features,):
            raise ValueError(f"{expected}. Got an array of shape {given.shape}.")
        for column in np.flatnonzero(~((given > 0) & np.isfinite(given))):
            raise ValueError(f"{expected}. That of column {column} is {given[column]:g}.")
        for column in np.flatnonzero((variance > 0) & (given * BEYOND > variance)):
            raise ValueError(
                f"'prior' of EGMM is {given[column]:g} for column {column} of X, whose variance is "
                f"{variance[column]:g}: variances are in squared units of the columns."
            )

    def _standardizes(self, table: Table) -> bool:
        """Whether models that depend on the units of columns are those of standardized columns."""
        named = isinstance(self.model, str) and not self._automatic_model
        if isinstance(self.reduction_, Principal) or (self.standardize == "auto" and named):
            return False
        return self._asks_unit_variance(table)

    def _asks_unit_variance(self, table: Table) -> bool:
        if self.standardize != "auto":
            return bool(self.standardize)
        scales, ranges = scales_of(table.moments), ranges_of(table.sample.X)
        return units_differ(scales.scale, ranges.low[scales.kept], ranges.high[scales.kept])

    def _rounding_variances(self) -> np.ndarray:
        """Variances of what rounding took from each value, in the columns that are clustered."""
        return self._clustered_variances(np.square(self.resolution_) / 12)  # of a uniform distribution over one step

    def _clustered_variances(self, variances: np.ndarray) -> np.ndarray:
        """Variances of the columns that are clustered, from those of the columns of X."""
        return variances if self.reduction_ is None else self.reduction_.variances_to(variances)

    def _principal_components(self, table: Table, rng: np.random.RandomState) -> Principal | None:
        whole, d = (table.moments.observed == table.total).all(), table.rows.n_features
        if self.reduce is None:
            return None
        if self.reduce == "auto" and not (
            whole and self._automatic_model and is_wide(max(table.total, table.n_rows), d)
        ):
            return None
        if not whole:
            raise ValueError(
                f"EGMM(reduce={self.reduce!r}) needs a table without missing values; fill them first, or give "
                "reduce=None: EM integrates them out."
            )
        deviation = scales_of(table.moments).deviation
        scale = np.where(deviation > 0, deviation, 1) if self._asks_unit_variance(table) else None
        share = None if self.reduce in ("auto", "pca") else self.reduce
        return principal_components(*table.sample, share, rng, scale)

    def _independent_columns(self, table: np.ndarray, models: list[str]) -> Independent | None:
        """Densities of models that mix columns and of those that do not compare only where none is redundant."""
        both = {KIND[model] in ("full", "rotated") for model in models}
        if len(both) < 2 or np.isnan(table.sum()) or not (table != table[0]).any():
            return None
        found = independent_columns(table)
        return found if len(found.kept) < table.shape[1] else None

    def _reduce(self, table: np.ndarray) -> np.ndarray:
        if isinstance(self.reduction_, Principal) and np.isnan(table.sum()):
            column = np.argwhere(np.isnan(table))[0, 1]
            raise ValueError(
                "EGMM has clustered principal components, which need every column, but some row lacks column "
                f"{column}. Fill it, or fit with reduce=None."
            )
        return table if self.reduction_ is None else self.reduction_.transform(table)

    # -- what is chosen --------------------------------------------------------------------------------------------

    def _warn_of_few_values(self, values: list[np.ndarray | None]) -> None:
        """Say that Gaussians are of little use where half of the columns are categories or grades."""
        found = [one for one in values if one is None or len(one) > 1]
        few, varied = sum(one is not None for one in found), len(found)
        if few and 2 * few >= varied:
            warn_user(
                f"EGMM: {few} of {varied} columns have at most {FEW_VALUES} different values. Gaussian clusters cannot "
                "say much about such columns: make them categories and take LatentProfileMixture, or "
                "LatentClassMixture where all are.",
                UserWarning,
            )

    def _publish_model(self, table: SearchTable, best: Candidate) -> np.ndarray:
        """Number the clusters and publish them; gives the old numbers in the new order."""
        parameters, focal_sets, order = best.best.state, best.focal_sets, np.arange(best.n_clusters)
        free = isinstance(self.init, str) and isinstance(self.focal_sets, str) and table.labelled is None
        if free:  # else the caller has fixed the order
            order = _base.largest_first(parameters.weights @ averaging(focal_sets))
            each = CredalPartition(np.eye(len(focal_sets)), focal_sets).relabel(order)
            focal_sets, columns = each.focal_sets, each.masses.argmax(axis=0)
            parameters = parameters.reorder(columns, order)
        self.model_, self.focal_sets_, self.log_likelihood_ = best.settings["model"], focal_sets, best.log_likelihood
        self._coordinates = table.coordinates(self.model_)
        self._publish_parameters(parameters)
        if focal_sets.n_clusters > 1:
            _checks.warn_if_centers_coincide(self, parameters.centers, 1.0)
        return order

    def _publish_parameters(self, parameters: Parameters) -> None:
        self._parameters, self.weights_ = parameters, parameters.weights
        centers = self._coordinates.inverse_transform(parameters.centers)
        self.cluster_centers_ = centers if self.reduction_ is None else self.reduction_.inverse_transform(centers)

    @property
    def covariances_(self) -> np.ndarray:
        found = self._covariances_of_columns()
        return found if self.reduction_ is None else self.reduction_.covariance_back(found)

    def _covariances_of_columns(self) -> np.ndarray:
        """Covariances of the clusters in the columns that are clustered, shape (n_clusters, d, d)."""
        within = self._parameters.covariances
        if within.ndim == 2:
            within = within[:, :, None] * np.eye(within.shape[1])
        within = self._coordinates.covariance_back(within)
        return np.repeat(within, self.focal_sets_.n_clusters, axis=0) if len(within) == 1 else within

    def _gaussians(self, rows: np.ndarray) -> Gaussians:
        centers = self._coordinates.inverse_transform(self._parameters.centers)
        return Gaussians(self._reduce(rows), centers, self._covariances_of_columns())

    # -- masses ----------------------------------------------------------------------------------------------------

    def _evaluate(self, table: np.ndarray, labels: PartialLabels | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Masses (23) and log densities (17) of checked rows, from the entries that are observed, and what is known."""
        average, diagonal = averaging(self.focal_sets_), self.model_.endswith("I")
        masses, log_density = np.empty((len(table), len(average))), np.empty(len(table))
        for start in range(0, len(table), CHUNK):
            chunk = slice(start, start + CHUNK)
            rows_here = self._reduce(np.asarray(table[chunk], dtype=np.float64))
            frame, parameters = self._frame_for(rows_here)
            Y = frame.transform(rows_here)
            tool = engine(self.model_, blur=spread_to(self._rounding_variances(), frame, diagonal=diagonal))
            labels_here = None if labels is None else labels.take(chunk)
            for state, seen, o, rows in patterns_of(Y, labels_here, parameters, average):
                found, density = tool.evaluate(seen, o, state, average)
                if self._automatic_sets:
                    self._drop_impossible(found, density, state, o, tool.blur_of(o))
                masses[chunk][rows], log_density[chunk][rows] = found, density + frame.log_jacobian_of(o)
        return masses, log_density

    def _drop_impossible(
        self,
        masses: np.ndarray,
        log_density: np.ndarray,
        parameters: Parameters,
        observed: np.ndarray,
        blur: np.ndarray,
    ) -> None:
        """Hand the mass of a set on to those of its clusters that are possible for an object, if some are.

        A cluster is not if fewer than one in a thousand of its members are as far from its center.
        """
        sets, c = self.focal_sets_, self.focal_sets_.n_clusters
        if len(sets) == c:
            return
        distance = self._squared_distances(masses, log_density, parameters, observed, blur)
        possible = (distance <= chi2.isf(IMPOSSIBLE, len(observed))) @ (1 << np.arange(c, dtype=np.int64))
        for at in np.flatnonzero(sets.card > 1):
            left = sets.masks[at] & possible
            for mask in set(left.tolist()) - {0, int(sets.masks[at])}:
                # To the possible clusters as a set; if that is none of the family, to its largest parts that are.
                parts = np.flatnonzero(sets.masks & ~mask == 0)
                rows, parts = np.flatnonzero(left == mask), parts[sets.card[parts] == sets.card[parts].max()]
                share = masses[rows[:, None], parts] + np.finfo(float).tiny
                masses[rows[:, None], parts] += masses[rows, at, None] * (share / share.sum(axis=1, keepdims=True))
                masses[rows, at] = 0

    def _squared_distances(
        self, masses: np.ndarray, log_density: np.ndarray, parameters: Parameters, o: np.ndarray, blur: np.ndarray
    ) -> np.ndarray:
        """Mahalanobis distances from the clusters, by what the masses of single clusters say about densities."""
        within = parameters.covariances
        if within.ndim == 2:
            log_det, lost = np.log(within[:, o]).sum(axis=1), (blur / within[:, o]).sum(axis=1)
        else:
            within = within[:, o[:, None], o]
            log_det, lost = np.linalg.slogdet(within)[1], (blur * np.linalg.inv(within)).sum(axis=(1, 2))
        single = self.focal_sets_.singleton_index
        with np.errstate(divide="ignore"):
            log_joint = np.log(masses[:, single]) + log_density[:, None]
            log_peak = np.log(parameters.weights[single]) - 0.5 * (log_det + lost + len(o) * np.log(2 * np.pi))
        return -2 * (log_joint - np.where(np.isfinite(log_peak), log_peak, np.inf))

    def _frame_for(self, X: np.ndarray) -> tuple[Coordinates | ColumnScales, Parameters]:
        """The coordinates of the fit, or, for rows with missing entries, coordinates that do not mix columns."""
        if isinstance(self._coordinates, ColumnScales) or not np.isnan(X.sum()):
            return self._coordinates, self._parameters
        within = self._coordinates.covariance_back(self._parameters.covariances)
        frame = ColumnScales(self._coordinates.origin, np.sqrt(np.einsum("kjj->kj", within).mean(axis=0)))
        within = frame.covariance_to(within)
        within[:, np.arange(frame.width), np.arange(frame.width)] += RANK_TOLERANCE  # combinations of columns
        centers = frame.transform(self._coordinates.inverse_transform(self._parameters.centers))
        return frame, Parameters(self.weights_, centers, within)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw objects from the fitted mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        component : ndarray of shape (n_samples,)
            Position in ``focal_sets_`` of the set each object was drawn from.
        """
        check_is_fitted(self)
        rng = random_numbers(random_state, f"{type(self).__name__}.sample")
        component = rng.choice(len(self.weights_), size=n_samples, p=self.weights_ / self.weights_.sum())
        average, (_, centers, within) = averaging(self.focal_sets_), self._parameters
        spread = np.repeat(within, len(average), axis=0) if len(within) == 1 else np.tensordot(average, within, axes=1)
        noise = rng.standard_normal((n_samples, centers.shape[1]))
        if within.ndim == 2:
            noise *= np.sqrt(spread)[component]
        else:
            noise = np.einsum("npq,nq->np", np.linalg.cholesky(spread)[component], noise)
        X = self._coordinates.inverse_transform((average @ centers)[component] + noise)
        return (X if self.reduction_ is None else self.reduction_.inverse_transform(X)), component


def few_values(X: np.ndarray) -> list[np.ndarray | None]:
    """Return the different values of each column that has few of them, and nothing of the others.

    Most of these show it in their first rows already: wide tables have many columns to look through.
    """
    steps = (np.diff(np.sort(X[:HEAD], axis=0), axis=0) > 0).sum(axis=0)  # NaN is sorted last, and no step
    maybe = [np.unique(X[~np.isnan(X[:, j]), j]) if steps[j] < FEW_VALUES else None for j in range(X.shape[1])]
    return [None if values is None or len(values) > FEW_VALUES else values for values in maybe]


def resolutions(found: list[np.ndarray | None]) -> np.ndarray:
    """Return the smallest step between the few values of each column, and zero for those of more values.

    Examples
    --------
    >>> X = np.array([[0.0, 5.1], [1.0, 4.9], [1.0, 5.2], [0.0, 4.2], [np.nan, 3.0], [3.0, 2.6]])
    >>> resolutions(few_values(X))
    array([1., 0.])
    """
    return np.array([0.0 if values is None or len(values) < 2 else np.diff(values).min() for values in found])


def reduce_table(table: Table, reduction: Principal | Independent | None) -> Table:
    """Return a table in fewer columns, with its moments there."""
    if reduction is None:
        return table
    sample = Rows(reduction.transform(table.sample.X), table.sample.weight)
    rows: RowSource = TransformedRows(table.rows, reduction)
    if table.complete:
        assert isinstance(table.rows, ArrayRows)
        rows = ArrayRows(sample.X, table.rows.weight)
    return Table(rows, table.n_rows, reduce_rows(chunk_moments, rows, True), sample, table.complete)
