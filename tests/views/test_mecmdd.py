"""Several matrices of dissimilarities."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score
from tests.views.made_views import distances, three_views

from evidentia import MECMdd, SECMdd, load_model
from evidentia.prototypes._kernel import update_masses
from evidentia.views.mecmdd import update_relevance

GROUP, VIEWS = three_views(80)
MATRICES = distances(VIEWS)
forms = pytest.mark.parametrize(
    ("weights", "constraint"), [(w, c) for w in ("global", "local") for c in ("sum", "product")]
)


@forms
def test_matrices_that_tell_two_and_two_groups_apart_tell_all_four_together(weights, constraint):
    model = MECMdd(4, weights=weights, constraint=constraint, random_state=0).fit(MATRICES)
    assert adjusted_rand_score(GROUP, model.labels_) >= 0.95
    assert np.diff(model.criterion_trace_).max() <= 0
    for matrix in MATRICES.values():
        alone = SECMdd(4, metric="precomputed", n_init=3, random_state=0).fit(matrix)
        assert adjusted_rand_score(GROUP, alone.labels_) < 0.6
    shape = (3,) if weights == "global" else (len(model.focal_sets_), 3)
    assert model.relevance_weights_.shape == shape
    whole = model.relevance_weights_.sum(axis=-1) if constraint == "sum" else model.relevance_weights_.prod(axis=-1)
    np.testing.assert_allclose(whole, 1, atol=1e-9)
    assert model.view_weights_.sum() == pytest.approx(1)


@forms
@pytest.mark.parametrize("beta", [1.4, 2.0])
def test_two_equal_matrices_give_the_result_of_one(weights, constraint, beta):
    D = MATRICES["a"] + MATRICES["b"] / 10
    settings = {"beta": beta, "random_state": 0, "n_init": 5}
    one = SECMdd(4, metric="precomputed", rho=1.3 * D.sum() / (80 * 79), **settings).fit(D)
    two = MECMdd(4, weights=weights, constraint=constraint, rho=1.3, **settings).fit([D, 40 * D])
    np.testing.assert_allclose(two.view_weights_, 0.5, atol=1e-9)
    np.testing.assert_array_equal(two.medoid_indices_, one.medoid_indices_)
    np.testing.assert_allclose(two.partition_.masses, one.partition_.masses, atol=1e-9)
    assert two.criterion_ == pytest.approx(one.criterion_ / (D.sum() / (80 * 79)))


def test_the_default_of_rho_is_the_mean_of_quantiles_over_means():
    model = MECMdd(4, random_state=0, n_init=1).fit(MATRICES)
    upper = np.triu_indices(80, 1)
    wanted = np.mean([np.quantile(D[upper], 0.95) / D[upper].mean() for D in MATRICES.values()])
    assert model.rho_ == pytest.approx(wanted)


@forms
def test_a_view_of_noise_gets_the_least_weight(weights, constraint):
    noise = np.random.default_rng(1).normal(size=(80, 2))
    views = {**MATRICES, "noise": 300 * cdist(noise, noise)}
    model = MECMdd(4, weights=weights, constraint=constraint, random_state=0).fit(views)
    assert model.view_weights_.argmin() == 3
    assert adjusted_rand_score(GROUP, model.labels_) >= 0.9


# -- each step against its definition ----------------------------------------------------------------------------------


def slow_criterion(model, matrices, medoids, sets, relevance, masses, family):
    """J in plain loops."""
    n_views, total = len(matrices), 0.0
    for i in range(len(masses)):
        for j, subset in enumerate(family):
            if not subset:
                total += model.rho_ * masses[i, j] ** model.beta
                continue
            for view, D in enumerate(matrices):
                weight = (
                    relevance[j, view]
                    if model.constraint == "product"
                    else (n_views * relevance[j, view]) ** model.power
                )
                mean = np.mean([D[i, medoids[k]] for k in subset])
                unlike = mean if len(subset) == 1 else (D[i, sets[j]] + model.gamma * mean) / (1 + model.gamma)
                total += len(subset) ** model.alpha * masses[i, j] ** model.beta * weight * unlike / n_views
    return total


@forms
def test_each_step_lowers_the_criterion_as_far_as_it_can(weights, constraint):
    matrices = [D[:24, :24] / D[:24, :24].sum() * 24 * 23 for D in MATRICES.values()]
    model = MECMdd(3, weights=weights, constraint=constraint, power=1.7, gamma=0.6, alpha=0.8, beta=1.6,
                   focal_sets=[(), {0}, {1}, {2}, {0, 1}], random_state=0, n_init=3).fit(matrices)  # fmt: skip
    family, masses = model.focal_sets_, model.partition_.masses
    medoids, sets, relevance = model._representatives
    given = matrices, medoids, sets, relevance
    best = slow_criterion(model, *given, masses, family)
    assert best == pytest.approx(model.criterion_)
    rng = np.random.default_rng(0)
    for _ in range(10):
        others = 0.97 * masses + 0.03 * rng.dirichlet(np.ones(len(family)), len(masses))
        assert slow_criterion(model, *given, others, family) > best
    for _ in range(10):  # weights that keep the constraint
        moved = relevance * np.exp(0.05 * rng.normal(size=relevance.shape if weights == "local" else (1, 3)))
        whole = moved.sum(axis=1) if constraint == "sum" else np.exp(np.log(moved).mean(axis=1))
        moved /= whole[:, None]
        assert slow_criterion(model, matrices, medoids, sets, moved, masses, family) >= best - 1e-9
    for k in range(3):  # medoids, those of sets as they are
        for other in set(range(24)) - set(medoids.tolist()):
            moved = np.where(np.arange(3) == k, other, medoids)
            assert slow_criterion(model, matrices, moved, sets, relevance, masses, family) >= best - 1e-9


@pytest.mark.parametrize("constraint", ["sum", "product"])
def test_weights_of_views_by_hand(constraint):
    scatter = np.array([[1.0, 8.0], [0.0, 0.0], [0.0, 5.0]])
    found = update_relevance(scatter, constraint, 4.0)
    wanted = [8 ** (1 / 3) / (1 + 8 ** (1 / 3)), 1 / 3] if constraint == "sum" else [np.sqrt(8), 1 / np.sqrt(8)]
    np.testing.assert_allclose(found[0], wanted)
    np.testing.assert_allclose(found[1], 0.5 if constraint == "sum" else 1.0)  # a set without objects
    assert np.isfinite(found).all()


# -- the result --------------------------------------------------------------------------------------------------------


@forms
def test_new_objects_storage_and_the_order_of_clusters(weights, constraint, tmp_path):
    model = MECMdd(4, weights=weights, constraint=constraint, random_state=0, n_init=3).fit(MATRICES)
    size = model.partition_.pignistic.sum(axis=0)
    assert (np.diff(size) <= 1e-9).all()
    scaled = [D / D.sum() * 80 * 79 for D in MATRICES.values()]  # weights are in the order of the published sets
    published = slow_criterion(model, scaled, *model._representatives, model.partition_.masses, model.focal_sets_)
    assert published == pytest.approx(model.criterion_)
    again = load_model(model.save(tmp_path / "model.npz"))
    for one in (model, again):
        np.testing.assert_allclose(one.predict_partition(MATRICES).masses, model.partition_.masses, atol=1e-12)
        new = one.predict_partition({name: D[3:9] for name, D in MATRICES.items()})
        np.testing.assert_allclose(new.masses, model.partition_.masses[3:9], atol=1e-12)


def test_what_each_view_says_alone():
    model = MECMdd(4, random_state=0, n_init=3, gamma=0.7).fit(MATRICES)
    D = MATRICES["b"] / (MATRICES["b"].sum() / (80 * 79))
    near = sum(M[:, model.medoid_indices_] / M.mean() for M in MATRICES.values()).argmin(axis=1)
    blur = D[np.arange(80), model.medoid_indices_[near]].mean()
    cost = np.empty((len(model.focal_sets_), 80))
    for j, subset in enumerate(model.focal_sets_):
        clusters = model.medoid_indices_[sorted(subset)]
        mean = D[:, clusters].mean(axis=1) if subset else 0
        own = D[:, model._representatives.sets[j]]
        unlike = mean if len(subset) == 1 else (own + 0.7 * mean) / 1.7
        cost[j] = len(subset) ** model.alpha * (unlike + blur)
    cost[model.focal_sets_.empty_index] = np.quantile(D[np.triu_indices(80, 1)], 0.95)
    np.testing.assert_allclose(model.view_partitions_["b"].masses, update_masses(cost, model.beta)[0].T, atol=1e-9)


def test_matrices_are_joined_by_names():
    names = [f"o{i}" for i in range(80)]
    frames = {name: pd.DataFrame(D, index=names, columns=names) for name, D in MATRICES.items()}
    turned = list(np.random.default_rng(0).permutation(names))
    plain, mixed = (
        MECMdd(4, random_state=0, n_init=2).fit(views)
        for views in (frames, {**frames, "b": frames["b"].loc[turned, turned]})
    )
    np.testing.assert_allclose(mixed.partition_.masses, plain.partition_.masses, atol=1e-12)
    assert mixed.partition_.object_names == tuple(names)


D = MATRICES["a"]
NAMES = [f"o{i}" for i in range(80)]
GAPS = np.where(np.eye(80, k=3) + np.eye(80, k=-3) > 0, np.nan, D)
FRAME = pd.DataFrame(D, index=NAMES, columns=NAMES)
REFUSED = {
    "one matrix": (D, r"MECMdd needs several views .* X is one table\. .* SECMdd takes one matrix\."),
    "one view": ({"a": D}, r"needs at least two views of the same objects\. Got one, 'a'\. SECMdd takes one matrix\."),
    "other sizes": ([D, D[:50, :50]], r"a row for every object in every view: '0' has 80, '1' has 50\."),
    "not symmetric": (
        {"a": D, "skew": D + np.eye(80, k=1)}, r"View 'skew': MECMdd needs symmetric dissimilarities, but entries",
    ),
    "not square": ([D, D[:, :9]], r"View '1': MECMdd .*square matrix of dissimilarities\. Got shape \(80, 9\)"),
    "NaN": ([D, GAPS], r"View '1': Input X contains NaN \(first"),
    "negative": ([D, -D], r"View '1': MECMdd needs dissimilarities that are not negative"),
    "no variation": ([D, 1 - np.eye(80)], r"View '1': All dissimilarities equal 1, so MECMdd finds no clusters"),
    "absent objects": (
        {"a": FRAME, "b": FRAME.iloc[2:, 2:]},
        r"needs every object in every view, but 2 of 80 are absent from view 'b' \(first: 'o0'\)\. Drop them, or take",
    ),
    "columns in another order": (
        {"a": FRAME, "b": FRAME[NAMES[::-1]]}, r"same objects in the rows and columns of view 'b', but row 0 and",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_matrices_is_refused(what):
    X, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        MECMdd(3, random_state=0).fit(X)


def test_new_objects_need_every_view_and_the_fitted_objects():
    model = MECMdd(4, random_state=0, n_init=2).fit(MATRICES)
    with pytest.raises(ValueError, match=r"needs every view of new objects\. Give view 'b' too"):
        model.predict_partition({"a": D[:3], "c": D[:3]})
    with pytest.raises(ValueError, match=r"View 'a': X has 9 features, but MECMdd is expecting 80"):
        model.predict_partition({name: M[:3, :9] for name, M in MATRICES.items()})
