"""SoftECM with points, objects and series: against plain loops, by hand, and by its laws."""

import sys
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evidentia import EVCLUS, FocalSets, SoftECM, load_model
from evidentia.dissimilarities.series import Series, as_series, dtw_distances, warping_path
from evidentia.prototypes import _free_prototypes as free
from evidentia.prototypes._kernel import Criterion
from evidentia.prototypes.softecm import CoupledCriterion, soft_step

POINTS, GROUP = make_blobs([20, 16, 12], centers=[[0, 0], [6, 0], [0, 7]], shuffle=False, random_state=1)


def waves(n=18, seed=0, width=1):
    """Series of different lengths: a high bump, two bumps, a bump and a dip."""
    rng, found = np.random.default_rng(seed), []
    for i in range(n):
        time = np.linspace(0, 1, int(rng.integers(18, 26)))
        first, second = (np.exp(-(((time - at - rng.uniform(-0.05, 0.05)) / 0.1) ** 2)) for at in (0.35, 0.65))
        shape = [2 * first, first + second, first - second][i % 3]
        found.append(shape[:, None] + 0.05 * rng.normal(size=(len(time), width)))
    return [one[:, 0] if width == 1 else one for one in found]


SERIES, KIND = waves(), np.arange(18) % 3


def plain_dtw(a, b):
    """Squared DTW distance by its recursion."""
    a, b = (np.asarray(one, dtype=float).reshape(len(one), -1) for one in (a, b))
    best = np.full((len(a) + 1, len(b) + 1), np.inf)
    best[0, 0] = 0
    for i, j in product(range(len(a)), range(len(b))):
        before = min(best[i, j], best[i, j + 1], best[i + 1, j])
        best[i + 1, j + 1] = before + ((a[i] - b[j]) ** 2).sum()
    return best[-1, -1]


def plain_soft(a, b, gamma=0.5):
    """Divergence of soft-DTW by its recursion."""

    def soft(a, b):
        least = np.full((len(a) + 1, len(b) + 1), np.inf)
        least[0, 0] = 0
        for i, j in product(range(len(a)), range(len(b))):
            before = -gamma * logsumexp([-least[at] / gamma for at in ((i, j), (i, j + 1), (i + 1, j))])
            least[i + 1, j + 1] = before + ((a[i] - b[j]) ** 2).sum()
        return least[-1, -1]

    a, b = (np.asarray(one, dtype=float).reshape(len(one), -1) for one in (a, b))
    return soft(a, b) - (soft(a, a) + soft(b, b)) / 2


def letters(a, b):
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


WORDS = ["cat", "cats", "bat", "rat", "hat", "mat", "at", "window", "windows", "widow", "winds", "winding"]
GIVEN = {
    "points": (POINTS, {}, lambda a, b: ((a - b) ** 2).sum()),
    "objects": (WORDS, {"metric": letters}, letters),
    "series": (SERIES, {"metric": "dtw"}, plain_dtw),
    "soft series": (SERIES[:9], {"metric": "soft-dtw", "metric_params": {"gamma": 0.5}}, plain_soft),
}
EVERY = pytest.mark.parametrize("kind", GIVEN)


@EVERY
def test_masses_and_criterion_are_those_of_plain_loops(kind):
    X, more, d = GIVEN[kind]
    model = SoftECM(2, alpha=1.3, beta=1.6, coupling=0.03, rho=4.0, focal_sets="full", random_state=0, **more).fit(X)
    sets = [A for A in model.focal_sets_ if A]
    prototypes = [X[v] for v in model.prototypes_] if kind == "objects" else model.prototypes_
    J = sum(
        0.03 * len(X) * d(prototypes[sets.index({k})], prototypes[sets.index(A)]) for A in sets if len(A) > 1 for k in A
    )
    for i, x in enumerate(X):
        cost = np.maximum([4.0] + [len(A) ** 1.3 * d(x, v) for A, v in zip(sets, prototypes)], 1e-140)
        m = (cost / cost.min()) ** (-1 / 0.6)
        m /= m.sum()
        np.testing.assert_allclose(model.partition_.masses[i], m, atol=1e-8)
        J += m**1.6 @ cost
    assert model.criterion_ == pytest.approx(J, rel=1e-8)


@EVERY
def test_new_objects_are_placed_as_the_fitted_ones(kind):
    X, more, _ = GIVEN[kind]
    model = SoftECM(2, random_state=0, **more).fit(X)
    np.testing.assert_allclose(model.predict_partition(X).masses, model.partition_.masses, atol=1e-12)
    assert model.predict(X[:3]).tolist() == model.labels_[:3].tolist()


def test_by_hand():
    # Objects 0 and 4 are the clusters, 1 is the prototype of the pair: d of object 2 (at 3) is 3, 1 and 2 (times 2).
    D = cdist(np.array([[0.0], [2.0], [3.0], [9.0], [4.0]]), np.array([[0.0], [2.0], [3.0], [9.0], [4.0]]), "cityblock")
    coupled = CoupledCriterion(Criterion(FocalSets(2, "full"), 1.0, 2.0, 6.0), 0.5)
    members = free.Members(D)
    np.testing.assert_array_equal(coupled.couplings, [[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]])
    masses = coupled.masses(members.distances(np.array([0, 4, 1])))
    weights = np.array([1 / 6, 1 / 3, 1 / 1, 1 / (2 * 1)])
    np.testing.assert_allclose(masses[2], weights / weights.sum())
    objective, _ = soft_step(members, coupled, np.array([0, 4, 1]))
    least = sum(1 / (1 / 6 + sum(1 / max(c * D[i, v], 1e-150) for v, c in ((0, 1), (4, 1), (1, 2)))) for i in range(5))
    assert objective == pytest.approx(least + 0.5 * (2 + 2))


def test_the_step_of_points_is_the_minimum():
    rng = np.random.default_rng(3)
    coupled = CoupledCriterion(Criterion(FocalSets(3, "full"), 1.2, 1.7, 2.0), 3.0)
    weight = rng.uniform(size=(7, len(POINTS)))
    space = free.Points(POINTS)

    def objective(prototypes):
        return (weight * space.distances(prototypes)).sum() + (coupled.couplings * space.between(prototypes)).sum() / 2

    best = space.improve(rng.normal(size=(7, 2)), weight, coupled.couplings, coupled.single)
    for at, q, step in product(range(7), range(2), (-1e-3, 1e-3)):
        moved = best.copy()
        moved[at, q] += step
        assert objective(moved) > objective(best)


def test_the_equations_of_the_sets_and_of_the_clusters():
    rng = np.random.default_rng(4)
    coupled = CoupledCriterion(Criterion(FocalSets(2, "full"), 1.0, 2.0, 2.0), 3.0)
    a = rng.uniform(size=(3, len(POINTS)))
    one, two, both = free.Points(POINTS).improve(np.zeros((3, 2)), a, coupled.couplings, coupled.single)
    np.testing.assert_allclose((a[2].sum() + 2 * 3) * both - 3 * (one + two), a[2] @ POINTS)
    np.testing.assert_allclose((a[0].sum() + 3) * one - 3 * both, a[0] @ POINTS)


def test_objects_are_exchanged_for_the_best():
    D = cdist(POINTS, POINTS)
    rng = np.random.default_rng(5)
    coupled = CoupledCriterion(Criterion(FocalSets(2, "full"), 1.0, 2.0, 2.0), 3.0)
    weight, start = rng.uniform(size=(3, len(D))), np.array([4, 9, 30])
    found = free.Members(D).improve(start, weight, coupled.couplings, coupled.single)

    def cost(one, two, both):
        own = sum(weight[s] @ D[v] for s, v in enumerate((one, two, both)))
        return own + 3 * (D[one, both] + D[two, both])

    n = len(D)
    assert found[2] == min(range(n), key=lambda v: cost(4, 9, v))
    assert found[0] == min((v for v in range(n) if v != 9), key=lambda v: cost(v, 9, found[2]))
    assert found[1] == min((v for v in range(n) if v != found[0]), key=lambda v: cost(found[0], v, found[2]))


def test_a_barycenter_is_the_minimum_along_its_paths():
    series, rng = as_series(waves(6, width=2), "me"), np.random.default_rng(6)
    weight = rng.uniform(size=6)
    start = series[0]
    paths = [warping_path(start, one, {}) for one in series]

    def along(v):
        return sum(w * ((v[path[:, 0]] - one[path[:, 1]]) ** 2).sum() for w, one, path in zip(weight, series, paths))

    found = free.averaged(start, series, weight, {})
    assert along(start) == pytest.approx(sum(w * plain_dtw(start, one) for w, one in zip(weight, series)))
    for t, k, step in product((0, 7, len(start) - 1), range(2), (-1e-3, 1e-3)):
        moved = found.copy()
        moved[t, k] += step
        assert along(moved) > along(found)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 1.0, 2.5]),
    st.sampled_from([1.1, 1.5, 3.0]),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.sampled_from(["euclidean", "cityblock", "dtw", "soft-dtw"]),
)
def test_the_criterion_never_rises(seed, alpha, beta, coupling, metric):
    rng = np.random.default_rng(seed)
    X = waves(9, seed) if metric.endswith("dtw") else rng.normal(size=(25, 2)) + 3 * rng.integers(3, size=(25, 1))
    model = SoftECM(3, alpha=alpha, beta=beta, coupling=coupling, metric=metric, n_init=2, tol=1e-4, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a strong coupling draws clusters to one place
        trace = model.fit(X).criterion_trace_
    assert (np.diff(trace) <= 1e-11 * trace[:-1]).all()


def test_order_of_objects_and_clusters():
    order = np.random.default_rng(0).permutation(len(POINTS))
    for metric in ("euclidean", "cityblock"):
        start = np.array([0, 25, 40])
        model = SoftECM(3, metric=metric, init=start).fit(POINTS)
        moved = SoftECM(3, metric=metric, init=np.argsort(order)[start]).fit(POINTS[order])
        np.testing.assert_allclose(moved.partition_.masses, model.partition_.masses[order], atol=1e-6)
        turned = SoftECM(3, metric=metric, init=start[[2, 0, 1]]).fit(POINTS)
        for j, A in enumerate(turned.focal_sets_):
            at = model.focal_sets_.index({[2, 0, 1][k] for k in A})
            np.testing.assert_allclose(turned.partition_.masses[:, j], model.partition_.masses[:, at], atol=1e-5)


def test_groups_are_found():
    for X, more, group in (
        (POINTS, {}, GROUP),
        (POINTS, {"metric": "cityblock"}, GROUP),
        (SERIES, {"metric": "dtw"}, KIND),
        (SERIES, {"metric": "soft-dtw"}, KIND),
    ):
        model = SoftECM(3, random_state=0, **more).fit(X)
        assert adjusted_rand_score(group, model.labels_) > 0.75
    D = cdist(POINTS, POINTS, "cityblock")
    one, other = (SoftECM(3, metric=metric, random_state=0) for metric in ("precomputed", "cityblock"))
    one.fit(D)
    np.testing.assert_allclose(one.partition_.masses, other.fit(POINTS).partition_.masses, atol=1e-9)
    np.testing.assert_allclose(one.predict_partition(D[:4]).masses, one.partition_.masses[:4])


def test_barycenters_are_better_than_the_objects_they_began_at():
    for metric in ("dtw", "soft-dtw"):
        model = SoftECM(3, metric=metric, random_state=0).fit(SERIES)
        assert model.criterion_ < model.start_criteria_.min()
        assert {len(v) for v in model.prototypes_} <= {len(one) for one in SERIES}


def test_series_of_one_length_may_be_a_table_and_have_several_numbers():
    table = np.array([one[:18] for one in waves(9)])
    kinds = [table, pd.DataFrame(table), table[:, :, None], list(table)]
    found = [SoftECM(2, metric="dtw", random_state=0).fit(X).partition_.masses for X in kinds]
    for masses in found[1:]:
        np.testing.assert_array_equal(masses, found[0])
    wide = waves(9, width=2)
    model = SoftECM(2, metric="dtw", random_state=0).fit(wide)
    assert model.prototypes_[0].shape[1] == 2
    np.testing.assert_allclose(model.predict_partition(wide).masses, model.partition_.masses, atol=1e-12)


def test_dtw_is_the_recursion_and_a_window_bounds_it():
    source = Series.of(SERIES, "dtw", {}, "me")
    np.testing.assert_allclose(
        source.block([0, 4], slice(3)) ** 2,
        [[plain_dtw(SERIES[i], SERIES[j]) for j in range(3)] for i in (0, 4)],
        atol=1e-9,
    )
    np.testing.assert_allclose(source.block(slice(None), slice(None))[:3, 4], source.block(slice(3), [4])[:, 0])
    wide = as_series(waves(4, width=2), "me")
    assert dtw_distances(wide[:1], wide[1:2])[0, 0] ** 2 == pytest.approx(plain_dtw(wide[0], wide[1]))
    a, b = np.array([[0.0], [0], [0], [5], [0]]), np.array([[0.0], [5], [0], [0], [0]])
    assert dtw_distances([a], [b])[0, 0] == 0
    assert dtw_distances([a], [b], {"window": 1})[0, 0] == pytest.approx(np.sqrt(50))


def test_other_methods_compare_series_too():
    model = EVCLUS(3, metric="dtw", random_state=0).fit(SERIES)
    assert adjusted_rand_score(KIND, model.labels_) > 0.9
    assert model.predict(SERIES[:3]).tolist() == model.labels_[:3].tolist()


@pytest.mark.parametrize("kind", ["points", "series", "soft series"])
def test_a_saved_model_needs_no_objects(kind, tmp_path):
    X, more, _ = GIVEN[kind]
    model = SoftECM(2, random_state=0, **more).fit(X)
    again = load_model(model.save(tmp_path / "model.npz"))
    np.testing.assert_allclose(again.predict_partition(X).masses, model.partition_.masses, atol=1e-12)
    assert len(again._source) <= 1


@pytest.mark.parametrize(
    ("X", "more", "said"),
    [
        (POINTS, {"metric": "nearness"}, "of SoftECM must be 'precomputed', 'gower', 'dtw', 'soft-dtw', a func"),
        (WORDS, {"metric": lambda a, b: len(a) + len(b)}, "needs zeros on the diagonal"),
        (WORDS, {"metric": lambda a, b: float(a < b)}, "SoftECM needs symmetric dissimilarities"),
        (WORDS, {"metric": lambda a, b: -1.0}, r"gave -1.0 for objects \d+ and \d+; a dissimilarity is a finite"),
        (WORDS, {"metric": lambda a, b: np.nan}, r"gave nan for objects \d+ and \d+"),
        (WORDS[:1], {"metric": letters}, "SoftECM needs at least 2 objects. Got 1"),
        (SERIES[:1], {"metric": "dtw"}, "SoftECM needs at least 2 objects. Got 1"),
        ([*SERIES[:3], [0.0, np.nan]], {"metric": "dtw"}, "Series 3 has NaN, inf or a number beyond 1e140"),
        ([*SERIES[:3], []], {"metric": "dtw"}, r"Series 3 has shape \(0, 1\)"),
        ([*SERIES[:3], np.zeros((4, 2))], {"metric": "dtw"}, "Series 3 has 2, and those before it 1"),
        (WORDS, {"metric": "dtw"}, "needs series of numbers: a list of arrays"),
        (SERIES, {"metric": "dtw", "metric_params": {"band": 3}}, "may hold 'window'.* Got 'band'"),
        (SERIES, {"metric": "dtw", "metric_params": {"window": 0}}, "must be a whole number of steps >= 1. Got 0"),
        (SERIES, {"metric": "soft-dtw", "metric_params": {"gamma": 0}}, "'gamma' in .* must be a number > 0.* Got 0"),
        (SERIES, {"metric": "soft-dtw", "metric_params": {"window": 3}}, "may hold 'gamma'.* Got 'window'"),
        ([*SERIES[:3], []], {"metric": "soft-dtw"}, r"with metric='soft-dtw' needs .* Series 3 has shape \(0, 1\)"),
        (POINTS, {"init": [0, 0]}, "must be 'auto' or 2 different objects by number, 0 to 47"),
        (POINTS, {"focal_sets": [[0], [0, 1]]}, "SoftECM ties each set to its clusters, so each must be a focal set"),
        (POINTS, {"coupling": -1}, "'coupling' parameter of SoftECM must be a number >= 0"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_with_a_sentence(X, more, said):
    with pytest.raises(ValueError, match=said):
        SoftECM(2, **more).fit(X)


def test_new_series_are_checked_too():
    model = SoftECM(2, metric="dtw", random_state=0).fit(SERIES)
    with pytest.raises(ValueError, match="Series 0 has 2, and those before it 1"):
        model.predict([np.zeros((5, 2))])


def test_without_dtaidistance_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dtaidistance", None)
    with pytest.raises(ImportError, match=r"pip install 'evidentia\[series\]'"):
        SoftECM(2, metric="dtw").fit(SERIES)


def test_a_strong_coupling_draws_clusters_together():
    with pytest.warns(UserWarning, match="the centers of clusters . and . coincide"):
        SoftECM(3, coupling=1.0, random_state=0).fit(POINTS)


def test_ties_draw_series_together_sets_before_clusters():
    series = as_series(SERIES[:3], "me")
    weight, ties = np.array([[1.0, 0, 0], [0, 1, 0.5]]), np.array([[0, 2.0], [2, 0]])
    one, both = free.WarpedSeries(series, {}, 1.0).improve(series[:2], weight, ties, np.array([True, False]))
    drawn = free.averaged(series[1], [series[1], series[2], series[0]], np.array([1, 0.5, 2]), {})
    np.testing.assert_allclose(both, drawn)
    np.testing.assert_allclose(one, free.averaged(series[0], [series[0], drawn], np.array([1.0, 2]), {}))


@pytest.mark.parametrize("value", [0.0, 0.1, -3e7])
def test_rows_that_are_all_equal_are_refused(value):
    with pytest.raises(ValueError, match="All rows of X are equal"):
        SoftECM(2, beta=100.0).fit(np.full((19, 2), value))
