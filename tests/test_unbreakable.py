"""What once gave silent nonsense, a hang or a raw error, a test each."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from evidentia import ECM, EGMM, EVCLUS, FCM, BeliefHierarchical, BootGMM, PairwiseConstraints, methods
from evidentia.dissimilarities.conflict import delta_star
from evidentia.experimental import BCM
from evidentia.metric_learning import KFDA, LSI, DMLeig
from evidentia.mixtures import LatentClassMixture, ParsimoniousGaussianMixture
from evidentia.mixtures._covariances import MODELS
from evidentia.prototypes import BPEC, CCM, CatECM, COPKMeans, GustafsonKessel, SECMdd, SoftECM
from evidentia.prototypes._kernel import adapted_metric
from evidentia.relational import CEVCLUS, EkNNclus
from evidentia.rows.scan import ranges_of
from evidentia.solvers.descent import descend
from evidentia.views import WMVEC, WMVECFP, MECMdd

CLUSTERERS = {
    name: cls
    for name, cls in methods.clusterers().items()
    if "categories" not in cls.method.reads and not cls.method.reads_views
}
SLOW = {"bootgmm": {"n_boot": 40}}


@pytest.fixture
def blobs():
    table = np.random.default_rng(0).normal(size=(30, 3))
    table[15:] += 8
    return table


def build(cls, **more):
    wanted = {"n_clusters": 2, "random_state": 0, "n_init": 2, **cls.method.quick, **SLOW.get(cls.method.name, {})}
    return cls(**{key: value for key, value in {**wanted, **more}.items() if key in cls.parameters})


def far_cell(table, value):
    return np.vstack([table, [value, 0, 0]])


@pytest.mark.parametrize("name", CLUSTERERS)
@pytest.mark.parametrize("value", [1e300, -1e160])
def test_a_huge_cell_is_refused_with_its_place(blobs, name, value):
    with pytest.raises(ValueError, match=r"X holds -?1e\+\d+ in row 30, column 0\. If that is a code"):
        build(CLUSTERERS[name]).fit(far_cell(blobs, value))


@pytest.mark.parametrize("name", CLUSTERERS)
def test_a_code_for_missing_that_hides_the_other_values_is_refused(blobs, name):
    with pytest.raises(ValueError, match=r"X holds 1e\+20 in column 0, where most values differ by .* 'missing'"):
        build(CLUSTERERS[name]).fit(far_cell(blobs, 1e20))


@pytest.mark.parametrize("kind", [ECM, FCM, GustafsonKessel])
@pytest.mark.filterwarnings("ignore:.*the centers of clusters 0 and 1 coincide:UserWarning")  # beside the outlier
def test_centers_do_not_lose_groups_beside_an_outlier_or_say_so(blobs, kind):
    found = kind(3, random_state=0, init=np.array([blobs[0], blobs[-1], [1e6, 0, 0]])).fit(far_cell(blobs, 1e6))
    assert adjusted_rand_score(np.repeat([0, 1], 15), found.labels_[:-1]) > 0.85
    with pytest.raises(ValueError, match="do not carry both"):
        kind(3, random_state=0).fit(far_cell(blobs, 1e10))


@pytest.mark.parametrize("name", CLUSTERERS)
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160])
def test_differences_whose_squares_vanish_are_refused(blobs, name, scale):
    with pytest.raises(ValueError, match=r"values of X in column 0 differ by .* smaller unit, for instance X \* 1e\+"):
        build(CLUSTERERS[name]).fit(blobs * scale)


@pytest.mark.parametrize("name", [name for name in CLUSTERERS if name != "bootgmm"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("change", [(1e-120, 0), (1e120, 0), (1, 1e3), (1, 1e9), (1, 1e12), (4, 1.6e13)])
def test_neither_units_nor_an_offset_hide_two_groups(blobs, name, change):
    scale, offset = change
    found = build(CLUSTERERS[name]).fit(blobs * scale + offset)
    assert adjusted_rand_score(np.repeat([0, 1], 15), found.labels_) == 1
    assert np.abs(found.partition_.masses.sum(axis=1) - 1).max() <= 1e-12


@pytest.mark.parametrize("kind", [BPEC, EkNNclus])
def test_a_constant_column_far_from_zero_changes_nothing(blobs, kind):
    plain, wide = (
        build(kind, n_clusters=2).fit(table).partition_.masses for table in (blobs, np.c_[blobs, np.full(30, 1e10)])
    )
    np.testing.assert_allclose(wide, plain, atol=1e-12)


@pytest.mark.parametrize("name", CLUSTERERS)
def test_an_offset_that_leaves_too_few_digits_is_refused(blobs, name):
    with pytest.raises(ValueError, match=r"in column 0 are near 1e\+15 and differ by 12 at most.*Subtract an offset"):
        build(CLUSTERERS[name]).fit(blobs + 1e15)


def test_rounding_in_a_constant_column_is_none_of_these(blobs):
    column = 3.0 + np.finfo(float).eps * np.arange(30)
    table = np.c_[blobs, column % 3.0 * 0 + 3.0, np.where(np.arange(30) % 2, 0.3, 0.1 * 3)]
    assert adjusted_rand_score(np.repeat([0, 1], 15), ECM(2, random_state=0).fit(table).labels_) == 1


def test_ranges_are_those_of_numpy_with_gaps_too():
    table = np.random.default_rng(0).normal(size=(200, 3))
    table[7, 1] = np.nan
    for rows in (table, table[:50], np.asfortranarray(table), table[:128]):
        found = ranges_of(rows)
        np.testing.assert_array_equal(found.low, np.nanmin(rows, axis=0))
        np.testing.assert_array_equal(found.high, np.nanmax(rows, axis=0))
        assert not found.finite


def test_what_a_mask_hides_is_missing(blobs):
    hidden = blobs.copy()
    hidden[3, 1] = np.nan
    masked = np.ma.masked_array(np.where(np.isnan(hidden), -9999, hidden), np.isnan(hidden))
    wanted, found = EGMM(2, model="EEE", random_state=0).fit(hidden), EGMM(2, model="EEE", random_state=0).fit(masked)
    np.testing.assert_array_equal(found.cluster_centers_, wanted.cluster_centers_)
    np.testing.assert_array_equal(found.predict(masked), wanted.labels_)
    with pytest.raises(ValueError, match=r"masked array with 1 masked entries \(first: \[3, 1\]\).*EGMM"):
        ECM(2).fit(masked)
    with pytest.raises(ValueError, match="'sample_weight' of ECM is a masked array"):
        ECM(2).fit(blobs, sample_weight=np.ma.masked_less(np.arange(30.0), 2))
    np.testing.assert_array_equal(
        ECM(2, random_state=0).fit(np.ma.masked_array(blobs)).labels_, ECM(2, random_state=0).fit(blobs).labels_
    )


def test_dissimilarities_out_of_range_are_refused_with_the_cure(blobs):
    matrix = np.linalg.norm(blobs[:, None] - blobs, axis=2)
    for kind in [cls for cls in CLUSTERERS.values() if "metric" in cls.parameters and cls.method.name != "nnevclus"]:
        model = build(kind, metric="precomputed")
        with pytest.raises(ValueError, match=r"largest in X is .*e-1.*Divide X by it"):
            model.fit(matrix * 1e-160)
        with pytest.raises(ValueError, match=r"X holds .*e\+30\d in entry \[0, 1\]"):
            model.fit(matrix / matrix.max() * 1e308)


def test_a_word_that_is_no_number_of_clusters_is_told_what_may_stand_there(blobs):
    with pytest.raises(ValueError, match=r"must be an integer >= 1 and <= 62 or 'auto'. Got 'three' instead"):
        EGMM(n_clusters="three").fit(blobs)


@pytest.mark.parametrize("kind", [CCM, BCM])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore")
def test_a_trace_does_not_rise_beside_outliers(blobs, kind, seed):
    rng = np.random.default_rng(seed)
    table = np.vstack([blobs, rng.normal(size=(2, 3)) * 10.0 ** rng.integers(2, 7)])
    trace = kind(2, random_state=seed).fit(table).criterion_trace_
    assert (np.diff(trace) <= 1e-12 * np.abs(trace[1:])).all()


def test_a_descent_takes_a_step_back_that_rises():
    values = [5.0, 3.0, 3.5, 1.0]
    run = descend(lambda state: (values[state], state + 1), 0, max_iter=3)
    assert (run.state, run.trace.tolist(), run.converged) == (1, [5.0, 3.0], True)


@pytest.mark.parametrize("linkage", ["ward", "product"])
def test_a_tree_of_distances_beyond_doubles_is_refused_at_once(blobs, linkage):
    begun = time.monotonic()
    with pytest.raises(ValueError, match=r"X holds .* in row 0, column 0"):
        BeliefHierarchical(2, linkage=linkage).fit(blobs * 1e155)
    with pytest.raises(ValueError, match=r"'uncertainty' of BeliefHierarchical holds 1e\+300 in row 0, column 0"):
        BeliefHierarchical(2, linkage=linkage, uncertainty=np.full(blobs.shape, 1e300)).fit(blobs)
    with pytest.raises(ValueError, match="Lower the 'gamma' parameter"):
        BeliefHierarchical(2, linkage=linkage, gamma=1e307).fit(blobs)
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_a_component_of_nothing_is_no_raw_error(model, columns):
    with pytest.warns((UserWarning, ConvergenceWarning)):
        found = ParsimoniousGaussianMixture(3, model=model, init="k-means").fit([[0.0] * columns, [1.0] * columns] * 10)
    assert np.isfinite(found.partition_.masses).all()


def test_rows_out_of_all_proportion_are_refused_in_prediction(blobs):
    model = ECM(2, random_state=0).fit(blobs * 1e-100)
    with pytest.raises(ValueError, match=r"X holds 1e\+100 in row 0, column 0"):
        model.predict_partition([[1e100] * 3])
    boot = BootGMM(2, n_boot=40, random_state=0).fit(blobs)
    with pytest.raises(ValueError, match=r"X holds 1e\+300 in row 0, column 0"):
        boot.predict_partition([[1e300] * 3])


@pytest.mark.parametrize("kind", [cls for cls in CLUSTERERS.values() if "rho" in cls.parameters])
@pytest.mark.parametrize("rho", [1e300, 1e-300])
def test_a_distance_to_the_empty_set_out_of_all_proportion_is_refused(blobs, kind, rho):
    with pytest.raises(ValueError, match=f"The 'rho' parameter of {kind.__name__} is a distance"):
        build(kind, rho=rho).fit(blobs)


def test_categories_may_be_big_endian(blobs):
    answers = (blobs > 4).astype(np.int32)
    wanted, found = (LatentClassMixture(2, random_state=0).fit(table) for table in (answers, answers.astype(">i4")))
    np.testing.assert_array_equal(found.labels_, wanted.labels_)


def test_categories_under_a_mask_are_missing(blobs):
    answers = (blobs > 4).astype(int)
    hidden = np.zeros(answers.shape, dtype=bool)
    hidden[2, 1] = True
    gaps = answers.astype(object)
    gaps[2, 1] = None
    masked = np.ma.masked_array(np.where(hidden, -9999, answers), hidden)
    wanted, found = (LatentClassMixture(2, random_state=0).fit(table) for table in (gaps, masked))
    np.testing.assert_array_equal(found.partition_.masses, wanted.partition_.masses)


@pytest.mark.parametrize("kind", [EVCLUS, CEVCLUS])
def test_very_many_sets_are_refused_before_the_work_and_many_are_warned_of(blobs, kind, monkeypatch):
    monkeypatch.setattr(kind, "_descend", lambda *args, **kwargs: 1 / 0)
    links = {} if kind is EVCLUS else {"constraints": PairwiseConstraints.from_links([(0, 1)], [(0, 20)])}
    cure = ".*needs about .* seconds for each of .*focal_sets='simple' or 'near-pairs'.*fewer clusters"
    with pytest.raises(
        ValueError, match=f"{kind.__name__} takes at most 350 .* Got 467 focal sets of 30 clusters{cure}"
    ):
        kind(30).fit(blobs, **links)
    said = pytest.warns(UserWarning, match=f"{kind.__name__} with 327 focal sets of 25 clusters{cure}")
    with said, pytest.raises(ZeroDivisionError):
        kind(25).fit(np.vstack([blobs, blobs + 1, blobs + 2]), **links)


def test_an_interrupt_before_anything_was_found_is_said(blobs, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("evidentia.mixtures.search.judge", interrupted)
    with pytest.raises(KeyboardInterrupt, match="EGMM was interrupted before its first fit was complete"):
        EGMM(2).fit(blobs)


def test_rows_between_which_a_metric_has_no_value_are_named(blobs):
    told = r"The metric '{}' has no value between the rows .* of X.*another 'metric', for instance 'euclidean'"
    with pytest.raises(ValueError, match=told.format("correlation")):
        SECMdd(2, metric="correlation").fit(blobs[:, :1])  # of a single number
    with pytest.raises(ValueError, match=told.format("correlation")):
        EkNNclus(n_neighbors=29, metric="correlation").fit(np.vstack([blobs, np.full(3, 2.0)]))


@pytest.mark.parametrize("kind", [EkNNclus, SECMdd, BeliefHierarchical])
def test_squared_distances_whose_squares_are_lost_are_refused(blobs, kind):
    with pytest.raises(ValueError, match=r"The metric 'sqeuclidean' is .*e\+2\d\d between rows of X.* larger unit"):
        build(kind, metric="sqeuclidean").fit(blobs * 1e130)


def test_two_rows_of_which_one_is_held_back_are_too_few(blobs):
    with pytest.raises(ValueError, match="NNEVCLUS has no two rows of X to compare"):
        build(CLUSTERERS["nnevclus"], n_clusters=1, early_stopping=True).fit(blobs[:2])


def test_a_constant_column_has_no_part_in_standardized_distances(blobs):
    wide = np.c_[blobs, np.full(30, 0.1)]
    plain, found = (SECMdd(2, metric="seuclidean", random_state=0).fit(table) for table in (blobs, wide))
    np.testing.assert_allclose(found.partition_.masses, plain.partition_.masses, atol=1e-12)
    masses = [model.predict_partition(rows).masses for model, rows in ((plain, blobs), (found, wide + 1e-9))]
    np.testing.assert_allclose(*masses, atol=1e-6)  # were it scaled by rounding errors, it alone would count


@pytest.mark.parametrize("kind", [cls for cls in CLUSTERERS.values() if "beta" in cls.parameters])
def test_a_fuzzifier_whose_powers_vanish_is_refused(blobs, kind):
    with pytest.raises(ValueError, match=f"The 'beta' parameter of {kind.__name__} must be .* <= 100"):
        build(kind, beta=1e3).fit(blobs)


@pytest.mark.parametrize("kind", [ECM, EGMM, EVCLUS])
def test_sets_of_clusters_that_there_are_not_are_named_with_the_parameter(blobs, kind):
    with pytest.raises(ValueError, match=r"The 'focal_sets' parameter does not suit n_clusters=2: .*Got cluster 2"):
        build(kind, focal_sets=[{0}, {1}, {2}], n_clusters=2).fit(blobs)


def test_a_start_over_other_clusters_is_refused_with_the_numbers(blobs):
    other = ECM(3, focal_sets="singletons", random_state=0).fit(blobs).partition_
    with pytest.raises(ValueError, match=r"'init' partition of EVCLUS has 30 objects in 3 clusters"):
        EVCLUS(2, init=other).fit(blobs)


@pytest.mark.parametrize("kernel", ["chi2", "additive_chi2"])
def test_a_kernel_of_counts_refuses_negative_numbers(blobs, kernel):
    with pytest.raises(ValueError, match=f"The kernel '{kernel}' of KFDA needs numbers that are not negative"):
        KFDA(kernel=kernel).fit(blobs, np.arange(30) // 15)


def test_a_region_of_no_rows_is_said_with_the_parameters(blobs):
    with pytest.raises(ValueError, match=r"NNEVCLUS found no region .* svm_gamma=.* and nu=1\. Take svm_gamma=None"):
        build(CLUSTERERS["nnevclus"], outliers=True, nu=1.0, svm_gamma=1e10).fit(blobs)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_replicates_beside_an_outlier_do_not_overflow():
    X = [[0.291007327, 6.53614505], [1e6, 7.92315279], [-2.65970954, 1.27152414], [-0.0002, 5.91450405]]
    model = BootGMM(1, n_boot=24, model=["EVE", "VII"], max_iter=48, random_state=834995358).fit(X)
    assert np.isfinite(model.partition_.masses).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ["VEE", "VEV", "VII", "VVI", "VVV", "EVV", "EEV"])
def test_a_cluster_that_lost_all_objects_divides_nothing_by_zero(blobs, model):
    far = np.vstack([blobs[0], blobs[-1], np.full((2, 3), 1e6)])
    found = EGMM(4, model=model, prior=None, focal_sets="singletons", init=far).fit(blobs)
    assert np.isfinite(found.partition_.masses).all()
    assert np.isfinite(found.covariances_).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_row_of_weight_three_is_three_rows_where_a_component_nearly_vanishes():
    X = np.array([[-2.1, 11.0], [8.7, -7.4], [-0.5, 9.5], [-1.5, 11.6], [-0.5, 9.5], [-1.5, 11.6], [9.6, -7.2],
                  [8.0, -5.7], [9.6, -7.2], [-2.1, 14.2]])  # fmt: skip
    weight, start = np.array([3, 1, 3, 2, 3, 2, 1, 2, 3, 2]), np.array([0, 1, 2, 3, 4, 4, 0, 1, 4, 0])
    rows = np.repeat(np.arange(10), weight)
    weighed = ParsimoniousGaussianMixture(5, model="EII", init=start).fit(X, sample_weight=weight)
    copied = ParsimoniousGaussianMixture(5, model="EII", init=start[rows]).fit(X[rows])
    assert not weighed.collapsed_
    np.testing.assert_allclose(weighed.partition_.masses[rows], copied.partition_.masses, atol=1e-6)


def test_objects_of_weight_zero_are_placed_where_they_are(blobs):
    weight = np.where(np.arange(30) % 3, 1.0, 0.0)
    for offset in (0.0, 1e3):
        found = COPKMeans(2, random_state=0).fit(blobs + offset, sample_weight=weight)
        assert adjusted_rand_score(np.repeat([0, 1], 15), found.labels_) == 1


@pytest.mark.filterwarnings("ignore:.*the centers of clusters:UserWarning")  # with such a beta free ones meet
@pytest.mark.parametrize("kind", [cls for cls in CLUSTERERS.values() if {"metric", "beta"} <= cls.parameters.keys()])
def test_an_object_on_its_medoid_is_so_in_any_unit(blobs, kind):
    plain, small = (build(kind, beta=90.0).fit(table).partition_.masses for table in (blobs, blobs * 2.0**-90))
    np.testing.assert_allclose(small, plain, atol=1e-9)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_likelihood_does_not_fall_where_the_floor_of_the_covariances_holds():
    X = np.array([[12, 7, 6], [11, 7, 6], [12, 7, 6], [-9, -8, -8], [-9, -8, -8], [-9, -9, -9], [-9, -9, -8],
                  [12, 7, 6], [19, -19, 0]], dtype=float)  # fmt: skip
    trace = ParsimoniousGaussianMixture(5, model="EII", n_init=1, random_state=2059670389).fit(X).criterion_trace_
    assert (np.diff(trace) >= -1e-12 * np.abs(trace).max()).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ["VEE", "VEV", "EVI", "EVV"])
def test_covariances_that_may_hardly_differ_are_no_singular_matrix(blobs, model):
    with pytest.raises(ValueError, match=r"'max_eigenvalue_ratio' .* must be a number >= 1.001 or None"):
        ParsimoniousGaussianMixture(2, model=model, max_eigenvalue_ratio=1 + 1e-15).fit(blobs)
    model = ParsimoniousGaussianMixture(2, model=model, max_eigenvalue_ratio=1.001).fit(blobs)
    assert adjusted_rand_score(np.repeat([0, 1], 15), model.labels_) == 1


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_what_does_not_suit_the_table_names_the_argument(blobs):
    with pytest.raises(ValueError, match="of n_groups=3 only 2 are left, but BeliefHierarchical needs 3"):
        BeliefHierarchical(3, n_groups=3, random_state=0).fit(np.repeat([[0.0, 0], [1, 1]], 5, axis=0))
    with pytest.raises(ValueError, match=r"The 'focal_sets' parameter does not suit n_clusters=21: All subsets"):
        ECM(21, focal_sets="full").fit(blobs)
    with pytest.raises(ValueError, match=r"Row 0 and row 1 of X have no column in which both are observed"):
        SECMdd(2, metric="gower").fit(np.array([[1.0, np.nan], [np.nan, 1.0], [1.0, 2.0]]))


@pytest.mark.parametrize("kind", [DMLeig, LSI])
def test_the_rounding_of_a_constant_column_is_no_direction(blobs, kind):
    links = PairwiseConstraints.from_links([(0, 1), (16, 17)], [(0, 20), (3, 25)])
    for constant in (-120587.17254212, 1e10):
        wide = np.c_[blobs, np.full(30, constant)]
        models = [kind().fit(table * 2.0**40, constraints=links) for table in (blobs, wide)]
        rows = [model.transform(table) for model, table in zip(models, (blobs, wide))]
        lengths = [np.linalg.norm(one[:, None] - one, axis=2) for one in rows]
        assert not models[1].metric_[-1].any()
        np.testing.assert_allclose(*lengths, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ["EII", "VVV", "VEI"])
def test_clusters_of_one_row_within_bounds_have_no_negative_spread(model):
    X, weight = np.arange(4.0)[:, None] * np.ones(3), [0.29451737, 1.491589, 1.59995347, 0.58352555]
    found = ParsimoniousGaussianMixture(
        4, model=model, n_init=1, reg_covar=1e-14, max_eigenvalue_ratio=8.0, random_state=80535861
    ).fit(X, sample_weight=weight)
    assert np.isfinite(found.partition_.masses).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-150, 1e150, 1e155, 1e300])
def test_numbers_beside_categories_are_refused_like_others(blobs, scale):
    answers = np.where(blobs[:, :1] > 4, "yes", "no").astype(object)
    table = np.hstack([answers, (blobs / 100 * scale).astype(object)])
    with pytest.raises(ValueError, match=r"CatECM works with squares, .* column 1"):
        CatECM(2).fit(table)
    with pytest.raises(ValueError, match=r"CatECM works with squares, .* column 0"):
        CatECM(2).fit(blobs / 100 * scale)
    with pytest.raises(ValueError, match=r"Column 0 of X holds numbers such as .*, which are not categories"):
        LatentClassMixture(2).fit(blobs / 100 * scale)


@pytest.mark.filterwarnings("ignore:.*rows lie far outside the range")
def test_numbers_lost_in_an_offset_are_refused_beside_categories(blobs):
    with pytest.raises(ValueError, match=r"in column 0 are near 1e\+15 and differ by 12 at most"):
        CatECM(2).fit(blobs + 1e15)
    with pytest.raises(ValueError, match=r"X holds 1e\+100 in row 0, column 0"):
        CatECM(2, random_state=0).fit(blobs * 1e-100).predict(np.full((1, 3), 1e100))


@pytest.mark.parametrize("kind", [CatECM, LatentClassMixture])
@pytest.mark.parametrize("what", ["dates", "times", "durations", "objects", "an array"])
def test_dates_are_no_categories(kind, what):
    day = pd.Series(pd.date_range("2026-01-01", periods=8))
    given = {"dates": day, "times": day.dt.tz_localize("UTC"), "durations": day - day[3], "objects": day.dt.date}
    table = pd.DataFrame({"answer": list("abababab"), "day": given.get(what, day)})
    with pytest.raises(ValueError, match=r"Column .* of X holds dates or durations such as .* turn it into text"):
        kind(2).fit(np.array([day, day], dtype="datetime64[D]").T if what == "an array" else table)
    assert len(CatECM(2, random_state=0).fit(table.astype(str)).labels_) == 8


@pytest.mark.parametrize("kind", [WMVEC, WMVECFP, CatECM])
def test_an_imaginary_part_is_not_dropped(blobs, kind):
    with pytest.raises(ValueError, match=f"Complex data not supported: {kind.__name__} needs real numbers"):
        kind(2).fit(blobs + 1j if kind is CatECM else [blobs + 1j, blobs])


@pytest.mark.parametrize("weights", ["global", "local"])
@pytest.mark.parametrize("constraint", ["product", "sum"])
def test_views_of_copies_of_two_objects_have_masses(weights, constraint):
    apart = np.kron(1 - np.eye(2), np.ones((6, 6)))
    model = MECMdd(2, weights=weights, constraint=constraint, random_state=0).fit([apart, 3 * apart])
    assert adjusted_rand_score(np.repeat([0, 1], 6), model.labels_) == 1
    for part in model.view_partitions_.values():
        assert adjusted_rand_score(np.repeat([0, 1], 6), part.labels()) == 1


@pytest.mark.parametrize("gap", [8, 50, 1e3, 1e6])
@pytest.mark.parametrize("focal_sets", ["pairs", "full"])
def test_a_group_far_from_the_others_is_not_given_up_to_save_ties(gap, focal_sets):
    group = np.arange(45) // 15
    table = np.random.default_rng(0).normal(size=(45, 3)) + gap * np.eye(3)[group]
    found = SoftECM(3, focal_sets=focal_sets, random_state=0).fit(table)
    assert adjusted_rand_score(group, found.labels_) > 0.9
    assert found.partition_.masses[:, found.focal_sets_.empty_index].mean() < 0.1


def test_a_metric_of_a_flat_cluster_is_finite():
    found = adapted_metric(np.array([np.diag([0.0, 1.0]), np.diag([-1e-17, 1e-3]), np.diag([4.0, 1.0])]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.linalg.det(found), 1, rtol=1e-6)


def test_a_dissimilarity_beyond_all_others_is_certain():
    rows = np.r_[np.random.default_rng(0).normal(size=12), 5e-324, 1e300][:, None]
    links = PairwiseConstraints.from_links([(0, 1)], [(0, 5)])
    model = build(CEVCLUS, metric="gower").fit(rows, constraints=links)
    assert np.isfinite(model.partition_.masses).all()
    np.testing.assert_array_equal(delta_star([0.0, 1e-200, 1.0], 1e-200), [0, 0.95, 1])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", MODELS)
def test_a_limit_of_collapse_that_rounding_hides_is_refused(model):
    X = np.random.default_rng(0).normal(size=(8, 3)) * [0.02, 1e3, 1e4]
    with pytest.raises(ValueError, match=r"'reg_covar' parameter of .* must be a number >= 1e-14"):
        ParsimoniousGaussianMixture(5, model=model, reg_covar=1e-16).fit(X)
    found = ParsimoniousGaussianMixture(5, model=model, reg_covar=1e-14, n_init=1, random_state=0).fit(X)
    assert np.isfinite(found.partition_.masses).all()
