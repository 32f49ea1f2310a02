"""EM for sets of clusters under the fourteen covariance models, beside densities that scipy computes row by row."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.special import logsumexp
from scipy.stats import invwishart, multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from covariance_forms import is_member, neighbor, random_member
from evidentia import EGMM, FocalSets, ParsimoniousGaussianMixture
from evidentia.mixtures._covariances import MODELS, Floor, Prior
from evidentia.mixtures._em import (
    SHARED,
    Parameters,
    Pattern,
    Patterns,
    Statistics,
    engine,
    missing_patterns,
)
from evidentia.mixtures.search import data_prior
from evidentia.rows.source import ArrayRows
from evidentia.solvers.barycentric import averaging
from evidentia.solvers.coordinates import coordinates_of, moments_of

PAIRS = averaging(FocalSets(3, "pairs", empty=False))
DIAGONAL = [model for model in MODELS if model.endswith("I")]


def groups(n=60, seed=0, apart=1.0):
    """Three groups of their own size and covariance, some rows between the first two."""
    rng = np.random.default_rng(seed)
    which = rng.choice(4, size=n, p=[0.4, 0.3, 0.2, 0.1])
    centers = np.array([[0.0, 0.0, 1.0], [4.0, 1.0, 0.0], [1.0, 6.0, 2.0], [2.0, 0.5, 0.5]])
    roots = rng.normal(size=(4, 3, 3)) * 0.5 + 0.6 * np.eye(3)
    return apart * centers[which] + np.einsum("npq,nq->np", roots[which], rng.normal(size=(n, 3)))


def prepared(tool, X, weight=None):
    """Rows as an engine takes them."""
    rows = ArrayRows(X, weight).map_chunks(lambda chunk: tool.observe(chunk.table, chunk.weight))
    return Patterns(rows, complete=not np.isnan(X).any())


def step(tool, rows, average, parameters, total):
    """Minus the mean penalized log-likelihood of the parameters, and the next parameters."""
    sums = tool.gather(rows, parameters, average)
    return (tool.cost(parameters) - sums.log_likelihood) / total, tool.m_step(sums, parameters, average)


def holes(X, share=0.2, seed=0):
    gone = np.random.default_rng(seed).uniform(size=X.shape) < share
    gone[gone.all(axis=1)] = False
    return np.where(gone, np.nan, X)


def weights_for(n, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 3, size=n)


def matrices(parameters, n_clusters=3):
    """Covariances (c, d, d) of any model."""
    within = parameters.covariances
    if within.ndim == 2:
        within = within[:, :, None] * np.eye(within.shape[1])
    return np.repeat(within, n_clusters, axis=0) if len(within) == 1 else within


def as_kept(model, sigma):
    """Covariances as an engine keeps them."""
    sigma = sigma[:1] if model in SHARED else sigma
    return np.einsum("kjj->kj", sigma) if model.endswith("I") else sigma


def beginning(model, X, seed=0):
    """Parameters of a model, nothing neutral among them."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2, size=len(PAIRS))
    centers = np.nan_to_num(X[rng.choice(len(X), 3, replace=False)], nan=1.0)
    return Parameters(weights / weights.sum(), centers, as_kept(model, 2 * random_member(model, 3, X.shape[1], rng)))


def some_prior(model):
    scale = np.array([0.7, 1.6, 0.4])
    return Prior(5.0, scale) if model.endswith("I") else Prior(9.0, np.diag(scale))


BLUR = np.array([0.3, 0.05, 0.8])


def blurred(x, blur):
    """Places around a row whose mean is the row and whose covariance is diag(blur)."""
    steps = np.diag(np.sqrt(len(x) * blur))
    return np.vstack([x + steps, x - steps])


def log_joint(X, parameters, average, blur=None):
    """log π_A N(x; μ_A, Σ_A) from the observed entries, one row and one set after the other; or their expectation."""
    blur = np.zeros(X.shape[1]) if blur is None else blur
    means, within = average @ parameters.centers, np.tensordot(average, matrices(parameters), axes=1)
    found = np.empty((len(X), len(average)))
    for i, x in enumerate(X):
        o = ~np.isnan(x)
        for j, (mean, covariance) in enumerate(zip(means, within)):
            found[i, j] = multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(blurred(x[o], blur[o])).mean()
    with np.errstate(divide="ignore"):  # a set may hold nothing
        return found + np.log(parameters.weights)


def penalized(X, parameters, average, weight=None, prior=None, blur=None):
    """Log-likelihood plus log density of the prior, but for a constant."""
    weight = np.ones(len(X)) if weight is None else weight
    found = weight @ logsumexp(log_joint(X, parameters, average, blur), axis=1)
    if prior is None:
        return found
    within = matrices(parameters, len(parameters.covariances))
    scale = prior.scale if prior.scale.ndim == 2 else np.diag(prior.scale)
    density = [prior.objects * np.linalg.slogdet(S)[1] + np.trace(scale @ np.linalg.inv(S)) for S in within]
    return found - 0.5 * sum(density)


KINDS = pytest.mark.parametrize("kind", ["complete", "blur", "holes", "weights, holes, prior, blur"])


def case(model, kind, n=60, seed=0):
    """Rows, weights, prior, and the variance of what was rounded away."""
    X = holes(groups(n, seed)) if "holes" in kind else groups(n, seed)
    weight, prior = weights_for(n) if "weights" in kind else None, some_prior(model) if "prior" in kind else None
    return X, weight, prior, BLUR if "blur" in kind else np.zeros(3)


def with_blur(model, prior, blur, floor=None):
    return engine(model, prior, floor, blur=blur if model.endswith("I") else np.diag(blur))


@KINDS
@pytest.mark.parametrize("model", MODELS)
def test_likelihood_and_masses_are_those_of_the_definition(model, kind):
    X, weight, prior, blur = case(model, kind, n=30)
    parameters, tool = beginning(model, X), with_blur(model, prior, blur)
    total = 30.0 if weight is None else weight.sum()
    cost, _ = step(tool, prepared(tool, X, weight), PAIRS, parameters, total)
    assert -total * cost == pytest.approx(penalized(X, parameters, PAIRS, weight, prior, blur), rel=1e-10)
    expected = log_joint(X, parameters, PAIRS, blur)
    for observed, rows in missing_patterns(X):
        masses, log_density = tool.evaluate(X[rows][:, observed], observed, parameters, PAIRS)
        np.testing.assert_allclose(log_density, logsumexp(expected[rows], axis=1), rtol=1e-10)
        np.testing.assert_allclose(masses, np.exp(expected[rows] - log_density[:, None]), atol=1e-10)


@given(
    st.sampled_from(MODELS),
    st.sampled_from(["complete", "blur", "holes", "weights, holes, prior, blur", "weights"]),
    st.integers(0, 99),
)
@settings(max_examples=120)
def test_the_criterion_never_falls(model, kind, seed):
    X, weight, prior, blur = case(model, kind, n=40, seed=seed)
    tool, parameters = with_blur(model, prior, blur), beginning(model, X, seed)
    patterns, total, trace = prepared(tool, X, weight), 40.0 if weight is None else weight.sum(), []
    for _ in range(12):
        cost, parameters = step(tool, patterns, PAIRS, parameters, total)
        trace.append(-cost)
        if np.linalg.eigvalsh(matrices(parameters)).min() < 1e-6:  # no prior: it may run onto a single object
            break
        assert is_member(matrices(parameters), model, 1e-6)
    assert (np.diff(trace) > -1e-9).all()
    assert parameters.weights.sum() == pytest.approx(1)


def climbed(model, X, weight, prior, average, blur=0 * BLUR, floor=None, tol=1e-13, n_steps=4000):
    tool, parameters = with_blur(model, prior, blur, floor), beginning(model, X, seed=3)
    patterns, total, before = prepared(tool, X, weight), float(len(X)) if weight is None else weight.sum(), np.inf
    for _ in range(n_steps):
        cost, following = step(tool, patterns, average, parameters, total)
        if before - cost <= tol:
            break
        before, parameters = cost, following
    return parameters


@pytest.mark.parametrize("model", MODELS)
def test_where_em_rests_the_penalized_likelihood_is_stationary(model):
    """A forgotten conditional covariance, a prior counted wrongly or a mean left behind would leave a slope."""
    X, weight, prior, blur = case(model, "weights, holes, prior, blur", n=50)
    found = climbed(model, X, weight, prior, PAIRS, blur)
    top = penalized(X, found, PAIRS, weight, prior, blur)
    rng, slopes = np.random.default_rng(7), []
    sigma = matrices(found)
    for _ in range(4):
        turn = rng.integers(1 << 30)
        sideways = rng.normal(size=found.centers.shape)
        tilt = rng.normal(size=len(PAIRS))
        heights = []
        for step in (1e-4, -1e-4):
            weights = found.weights * np.exp(step * tilt)
            moved = neighbor(sigma, model, step, np.random.default_rng(turn))
            other = Parameters(weights / weights.sum(), found.centers + step * sideways, as_kept(model, moved))
            heights.append(penalized(X, other, PAIRS, weight, prior, blur))
        assert max(heights) <= top + 1e-7
        slopes.append((heights[0] - heights[1]) / 2e-4)
    assert np.abs(slopes).max() < 0.02


@pytest.mark.parametrize("model", MODELS)
def test_statistics_of_chunks_add_up_to_those_of_the_whole(model):
    X, weight, _, blur = case(model, "weights, holes, blur", n=50)
    parameters, tool = beginning(model, X), with_blur(model, None, blur)

    def total(rows):
        found = [tool.e_step(pattern, parameters, PAIRS) for pattern in tool.observe(X[rows], weight[rows])]
        return found[0] if len(found) == 1 else Statistics(*(sum(parts) for parts in zip(*found)))

    whole, parts = total(slice(None)), total(slice(0, 17)) + total(slice(17, None))
    for a, b in zip(whole, parts):
        np.testing.assert_allclose(a, b, rtol=1e-11)
    assert whole.size.sum() == pytest.approx(weight.sum())


@pytest.mark.parametrize(("shared", "own"), [("EEE", "VVV"), ("EEI", "VVI")])
def test_equal_covariances_are_a_special_case_of_own_ones(shared, own):
    X, weight, _, blur = case(shared, "weights, holes, blur")
    parameters = beginning(shared, X)
    shared, own = with_blur(shared, None, blur), with_blur(own, None, blur)
    spread = parameters._replace(covariances=np.repeat(parameters.covariances, 3, axis=0))
    one = [shared.e_step(it, parameters, PAIRS) for it in shared.observe(X, weight)]
    other = [own.e_step(it, spread, PAIRS) for it in own.observe(X, weight)]
    for a, b in zip(one, other):
        assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-11)
        np.testing.assert_allclose(a.size, b.size, rtol=1e-10)
        np.testing.assert_allclose(a.sum, b.sum, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(a.second, b.second.sum(axis=0), rtol=1e-10)


@pytest.mark.parametrize("model", ["VVV", "VVI", "EVV", "EEE"])
def test_means_minimize_the_distances_from_the_sets(model):
    rng = np.random.default_rng(2)
    X, tool = groups(), engine(model)
    previous = beginning(model, X)
    found = tool.e_step(tool.observe(X)[0], previous, PAIRS)
    centers = tool.m_step(found, previous, PAIRS).centers
    precisions = np.linalg.inv(np.tensordot(PAIRS, matrices(previous), axes=1))

    def cost(at):
        means = PAIRS @ at
        return np.einsum("a,ap,apq,aq->", found.size, means, precisions, means) - 2 * np.einsum(
            "ap,apq,aq->", found.sum, precisions, means
        )

    for _ in range(20):
        move = 1e-3 * rng.normal(size=centers.shape)
        assert cost(centers) <= min(cost(centers + move), cost(centers - move))
        assert cost(centers + move) == pytest.approx(cost(centers - move), abs=1e-8)


@pytest.mark.parametrize("model", ["VVV", "VVI", "VEE", "EII"])
def test_a_cluster_that_lost_all_its_objects_stays_where_it_is(model):
    X, tool = groups(), engine(model, some_prior(model))
    previous = beginning(model, X)
    gone = PAIRS[:, 2] > 0
    weights = np.where(gone, 0, previous.weights)
    previous = previous._replace(weights=weights / weights.sum())
    cost, after = step(tool, prepared(tool, X), PAIRS, previous, 60.0)
    assert np.isfinite(cost)
    assert (after.weights[gone] == 0).all()
    np.testing.assert_allclose(after.centers[2], previous.centers[2], rtol=1e-9)
    assert np.isfinite(after.covariances).all()
    assert tool.collapsed(after, PAIRS, 60.0)
    assert not tool.collapsed(step(tool, prepared(tool, X), PAIRS, beginning(model, X), 60.0)[1], PAIRS, 60.0)


# -- prior and floor --------------------------------------------------------------------------------------------------


def test_the_prior_is_the_density_of_fraley_and_raftery():
    rng = np.random.default_rng(0)
    variances = np.array([2.0, 0.3, 7.0, 1.1])
    one, other = (random_member("VVV", 3, 4, rng) for _ in range(2))
    density = invwishart(df=4 + 2, scale=np.diag(variances / 5 ** (2 / 4)))
    expected = sum(density.logpdf(a) - density.logpdf(b) for a, b in zip(one, other))
    count, scale = data_prior("VVV", variances, 5)
    prior = Prior(count, np.diag(scale))
    assert prior.cost(other) - prior.cost(one) == pytest.approx(expected, rel=1e-10)
    count, scale = data_prior("VVI", variances, 5)
    single = [invwishart(df=1 + 2, scale=value) for value in variances / 5 ** (2 / 4)]
    a, b = rng.uniform(0.5, 2, size=(2, 3, 4))
    expected = sum(it.logpdf(p) - it.logpdf(q) for it, x, y in zip(single, a.T, b.T) for p, q in zip(x, y))
    assert Prior(count, scale).cost(b) - Prior(count, scale).cost(a) == pytest.approx(expected, rel=1e-10)


def test_the_prior_is_no_wider_than_what_lies_within_clusters():
    variances, within = np.array([8.0, 50.0]), np.array([3.0, 0.25])
    assert data_prior("VVV", variances, 4, within)[1].tolist() == [2.0, 7 * 0.25]  # 2 d + 3 objects
    assert data_prior("VVI", variances, 4, within)[1].tolist() == [2.0, 5 * 0.25]
    assert data_prior("VVI", variances, 4, np.array([np.inf, 1.0]))[1].tolist() == [2.0, 5.0]


@pytest.mark.parametrize("model", ["EEE", "EII", "EEI", "VVV", "VVI"])
def test_the_covariances_are_those_of_highest_posterior_density(model):
    """Single clusters: the closed form of Fraley and Raftery's table, (scale + scatter) / (count + size)."""
    X, weight, prior, _ = case(model, "weights, prior")
    tool, average = engine(model, prior), np.eye(3)
    previous = beginning(model, X)._replace(weights=np.array([0.5, 0.2, 0.3]))
    found = tool.e_step(tool.observe(X, weight)[0], previous, average)
    after = tool.m_step(found, previous, average)
    posterior = tool.evaluate(X, np.arange(3), previous, average)[0] * weight[:, None]
    size = posterior.sum(axis=0)
    scatter = [(r[:, None] * (X - v)).T @ (X - v) for r, v in zip(posterior.T, posterior.T @ X / size[:, None])]
    scale = np.diag(prior.scale) if model.endswith("I") else prior.scale
    if model in SHARED:
        expected = (scale + np.sum(scatter, axis=0))[None] / (prior.objects + size.sum())
    else:
        expected = (scale + scatter) / (prior.objects + size)[:, None, None]
    kept = as_kept(model, expected)
    kept = np.full_like(kept, kept.mean()) if model == "EII" else kept
    np.testing.assert_allclose(after.covariances, kept, rtol=1e-9, atol=1e-12)


def test_the_floor_is_the_constrained_maximum():
    """Among covariances above the floor none has a higher Gaussian likelihood than the clipped one."""
    rng = np.random.default_rng(5)
    scatter = np.diag([2.0, 1e-4, 0.5])
    reference = np.array([[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 1.5]])

    def fit(S):
        return -np.linalg.slogdet(S)[1] - np.trace(np.linalg.solve(S, scatter))

    best = Floor(0.05, reference).raise_to(scatter)
    assert np.linalg.eigvalsh(best - 0.05 * reference).min() > -1e-12
    n_tried = 0
    for _ in range(300):
        other = best + 0.1 * (lambda a: a + a.T)(rng.normal(size=(3, 3)) * 0.3)
        if np.linalg.eigvalsh(other - 0.05 * reference).min() >= 0:
            n_tried += 1
            assert fit(other) <= fit(best) + 1e-12
    assert n_tried > 10
    np.testing.assert_allclose(
        eigh(best, reference, eigvals_only=True), np.maximum(eigh(scatter, reference, eigvals_only=True), 0.05)
    )
    np.testing.assert_allclose(Floor(0.05, np.eye(3)).raise_to(reference), reference)
    np.testing.assert_array_equal(
        Floor(0.1, np.array([1.0, 20.0, 3.0])).raise_to(np.array([0.5, 0.5, 0.5])), [0.5, 2.0, 0.5]
    )


def test_a_covariance_at_the_floor_is_noticed():
    floor = Floor(0.05, np.diag([1.0, 4.0]))
    wide, narrow = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([[2.0, 0.0], [0.0, 0.2001]])
    assert not floor.reached(np.stack([wide, wide]))
    assert floor.reached(np.stack([wide, narrow]))
    diagonal = Floor(0.05, np.array([1.0, 4.0]))
    assert not diagonal.reached(np.array([[0.2, 0.9], [0.3, 0.3]]))
    assert diagonal.reached(np.array([[0.2, 0.9], [0.3, 0.2001]]))


@pytest.mark.parametrize("model", MODELS)
def test_a_cluster_on_equal_rows_stays_above_the_floor(model):
    X = groups(40)
    X[:6] = [30.0, -20.0, 10.0]
    floor = Floor(1e-4, np.ones(3) if model.endswith("I") else np.eye(3))
    tool, parameters = engine(model, None, floor), beginning(model, X)
    parameters = parameters._replace(centers=np.vstack([X[0], parameters.centers[1:]]))
    patterns, trace = prepared(tool, X), []
    for _ in range(60):
        cost, parameters = step(tool, patterns, PAIRS, parameters, 40.0)
        trace.append(-cost)
    assert np.isfinite(trace).all()
    assert np.linalg.eigvalsh(matrices(parameters)).min() > 1e-7
    assert np.isfinite(parameters.centers).all()


# -- the Gaussian mixture is a special case ---------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_single_clusters_are_the_parsimonious_mixture(model):
    """From the same posterior probabilities both climb the same way to the same maximum."""
    X = groups(120, seed=4, apart=2.0)
    shared = {"focal_sets": "singletons", "prior": None, "init": X[[3, 20, 40]], "model": model, "reg_covar": 1e-14}
    with pytest.warns(ConvergenceWarning):
        first = EGMM(3, **shared, max_iter=1, tol=0).fit(X)
    with pytest.warns(ConvergenceWarning):
        plain = EGMM(3, **shared, max_iter=19, tol=0).fit(X)
    mine = EGMM(3, **shared, max_iter=20_000, tol=1e-16).fit(X)
    theirs = ParsimoniousGaussianMixture(
        3, model=model, init=first.partition_.masses, reg_covar=1e-14, tol=1e-16, max_iter=20_000
    ).fit(X)
    assert mine.log_likelihood_ == pytest.approx(theirs.criterion_, rel=0, abs=1e-8)
    # Common axes are found step by step, and so is a common shape of clusters of different volumes, from the last ones.
    inner = {"EVE": 1e-3, "VVE": 1e-3, "VEE": 1e-6}.get(model, 1e-7)
    np.testing.assert_allclose(plain.criterion_trace_[2:20], theirs.criterion_trace_[:18], rtol=0, atol=inner)
    # the last step of EM may leave 1e-16 of the mean log-likelihood, which is its square
    np.testing.assert_allclose(mine.weights_, theirs.weights_, atol=1e-6)
    np.testing.assert_allclose(mine.cluster_centers_, theirs.cluster_centers_, atol=1e-6)
    np.testing.assert_allclose(mine.covariances_, theirs.covariances_, atol=1e-5)
    np.testing.assert_allclose(
        mine.partition_.masses, theirs.partition_.masses, atol=1e-5
    )  # they follow the covariances
    assert mine.n_parameters_ == theirs.n_parameters_
    assert 2 * mine.ebic_ == pytest.approx(theirs.bic(X), rel=1e-10)


# -- wide tables ------------------------------------------------------------------------------------------------------


def wide(n, d, n_groups, seed=0):
    rng = np.random.default_rng(seed)
    which = np.arange(n) % n_groups
    return rng.normal(size=(n_groups, d))[which] + rng.normal(size=(n, d)), which


def test_diagonal_models_never_make_a_matrix_of_all_columns():
    X, _ = wide(24, 3000, 3)

    def use(rows):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows are few, and it may say so
            fitted = EGMM(3, model=DIAGONAL, focal_sets="pairs", max_iter=3, random_state=0).fit(rows)
        fitted.predict_partition(holes(rows, 0.001))
        fitted.sample(5, random_state=0)

    use(X[:, :30])  # what is loaded on first use does not count
    tracemalloc.start()
    try:
        use(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 3000**2 / 3


def test_four_clear_groups_in_two_thousand_columns():
    X, which = wide(300, 2000, 4)
    model = EGMM(random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(which, model.labels_) == 1
    assert model.model_ in DIAGONAL
    assert not model.collapsed_


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_rows_as_they_are_give_the_statistics_of_rows_in_coordinates(kind):
    """Columns far from zero, of unequal spread, one of them a combination of others; every row counts its own."""
    X, weight, model = groups(200) * [1e-3, 1.0, 40.0] + [5.0, -300.0, 1e4], weights_for(200), "EEE"
    X = np.column_stack([X, X[:, 0] * 1e3 + X[:, 1]])
    frame = coordinates_of(moments_of(X, weight), kind=kind)
    tool, state = engine(model), beginning(model, frame.transform(X))
    (plain,), (folded,) = tool.observe(frame.transform(X), weight), tool.observe(X, weight, frame)
    for a, b in zip(tool.e_step(folded, state, PAIRS), tool.e_step(plain, state, PAIRS)):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def test_second_moments_are_made_in_the_first_pass_alone(monkeypatch):
    X, weight, made = groups(), weights_for(60), []
    tool, state = engine("EEE"), beginning("EEE", X)
    slow = tool.e_step(tool.observe(X, weight)[0], state, PAIRS)
    original = Pattern.second
    monkeypatch.setattr(Pattern, "second", lambda *given: made.append(1) or original(*given))
    rows = prepared(tool, X, weight)
    first, again = tool.gather(rows, state, PAIRS), tool.gather(rows, state, PAIRS)
    assert len(made) == 1
    for a, b, c in zip(first, again, slow):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        np.testing.assert_allclose(a, c, rtol=1e-12)
