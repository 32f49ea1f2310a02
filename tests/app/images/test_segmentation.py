"""Segments of a phantom against its truth, weights against all pixels, maps, and fusion."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from evidentia import CECM, ECM, EGMM, CredalPartition, FocalSets
from evidentia.app.images import Image, Segmentation, fuse, segment
from evidentia.prototypes import MECM

PAPER = {"model": "EEE", "focal_sets": "full", "prior": None}  # one covariance, as for segment of the command


def agreement(brain, labels):
    return adjusted_rand_score(brain.truth[brain.inside], labels[brain.inside])


@pytest.mark.parametrize("form", ["integers", "floats"])
def test_egmm_finds_the_tissues(brain, form):
    image = [brain.t1, brain.t2] if form == "integers" else list(brain.floats)
    outside = {"within": brain.inside} if form == "integers" else {"background": np.nan}
    found = segment(image, "egmm", 3, random_state=0, **outside)
    assert agreement(brain, found.labels()) > 0.93
    assert (found.labels() >= 0).tolist() == brain.inside.tolist()
    assert found.n_pixels == brain.inside.sum()
    assert found.rounding == ""


def test_masks_turn_the_wrong_partition_into_the_right_one(brain):
    regions = [brain.region(kind) for kind in range(3)]
    regions[1][60:] = False
    model = CECM(3, n_init=4, random_state=0)
    plain = segment([brain.t1, brain.t2], model, within=brain.inside)
    told = segment(
        [brain.t1, brain.t2],
        model,
        same=regions,
        different=[(regions[0], regions[1]), (regions[0], regions[2]), (regions[1], regions[2])],
        within=brain.inside,
        n_links=200,
    )
    assert len(told.constraints) > 500
    assert agreement(brain, plain.labels()) < 0.6
    assert agreement(brain, told.labels()) > 0.9


@pytest.mark.parametrize(
    "estimator",
    [EGMM(2, init=[[60.0], [150.0]], tol=0, max_iter=20, **PAPER),
     ECM(2, init=[[60.0], [150.0]], rho=80.0, alpha=1.3, tol=1e-14),
     CECM(2, init=[[60.0], [150.0]], rho=80.0, tol=1e-14)],
    ids=["EGMM", "ECM", "CECM"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:EGMM with 2 clusters reached max_iter")  # as many steps on both sides
def test_values_with_counts_are_as_good_as_all_pixels(brain, estimator):
    within = brain.inside & (np.arange(brain.inside.shape[1]) % 3 == 0)  # up to 2,000 rows EGMM takes no sample
    found = segment(brain.t1, estimator, within=within, scale="none")
    pixels = brain.t1[within].astype(float)[:, None]
    plain = estimator.fit(pixels).partition_
    masses = found.partition.masses[found.index[within]]
    assert found.partition.focal_sets == plain.focal_sets
    np.testing.assert_allclose(masses, plain.masses, atol=1e-8)


def test_shuffled_pixels_have_shuffled_maps(brain):
    order = np.random.default_rng(0).permutation(brain.t1.size)
    moved = [x.ravel()[order].reshape(x.shape) for x in (brain.t1, brain.t2, brain.inside)]
    model = ECM(3, n_init=2, random_state=0)
    one, other = segment([brain.t1, brain.t2], model, within=brain.inside), segment(moved[:2], model, within=moved[2])
    for name in ("labels", "sets", "nonspecificity", "empty"):
        np.testing.assert_array_equal(getattr(one, name)().ravel()[order], getattr(other, name)().ravel())


def test_masks_choose_cecm(brain):
    found = segment(brain.t2, n_clusters=2, same=[brain.region(2)], within=brain.inside, random_state=0)
    assert type(found.model) is CECM


def test_clusters_go_from_dark_to_bright_and_means_have_the_units_of_the_image(brain):
    found = segment(brain.t2, "egmm", 2, within=brain.inside, random_state=0)
    dark, bright = found.means.ravel()
    assert 50 < dark < 80
    assert 150 < bright < 180
    assert (brain.truth[found.lower(1)] == 2).mean() > 0.95


def test_maps_agree_with_the_partition_of_the_values(brain):
    found = segment([brain.t1, brain.t2], ECM(3, n_init=2, random_state=0), within=brain.inside)
    i, j = np.argwhere(brain.inside)[777]
    at = found.index[i, j]
    assert found.vectors[at].tolist() == [brain.t1[i, j], brain.t2[i, j]]
    row = found.partition[at]
    assert found.labels()[i, j] == row.labels()[0]
    assert found.sets()[i, j] == row.hard_masks[0]
    assert found.nonspecificity()[i, j] == pytest.approx(row.nonspecificity[0], rel=1e-6)
    assert found.empty()[i, j] == pytest.approx(row.empty[0], rel=1e-6)
    for k in range(3):
        single, member = found.sets() == 1 << k, (found.sets() >= 0) & (found.sets() >> k & 1 == 1)
        np.testing.assert_array_equal(found.lower(k), single)
        np.testing.assert_array_equal(found.upper(k), member)
    outside = ~brain.inside
    assert np.isnan(found.nonspecificity()[outside]).all()
    assert (found.labels()[outside] == -1).all()
    assert not found.upper(0)[outside].any()


def test_the_summary_counts_pixels_not_values():
    image = np.array([[10] * 6 + [12] * 5 + [90] * 4 + [91] * 3])
    found = segment(image, EGMM(2, random_state=0))
    lines = found.summary().splitlines()
    assert lines[0] == "18 pixels in 2 clusters"
    assert lines[1].split()[:4] == ["18", "(100", "%)", "assigned"]
    assert lines[1].endswith("{0}: 11, {1}: 7")
    assert [float(line.split()[1]) for line in lines[-2:]] == pytest.approx([120 / 11, 633 / 7], rel=1e-3)
    assert repr(found) == "Segmentation(1 × 18 pixels, 2 clusters, 4 feature vectors)"


def known(masses, index):
    """A segmentation of four pixels with given masses."""
    family = FocalSets(2, [{0}, {1}, {0, 1}])
    image = Image.from_data(np.array([[1.0, 2.0], [3.0, 4.0]]))
    vectors = np.arange(len(masses), dtype=float)[:, None]
    return Segmentation(image, np.array(index), vectors, np.bincount(np.ravel(index)), CredalPartition(masses, family))


def test_fusion_by_hand():
    t1 = known([[0.8, 0.1, 0.1], [0.0, 1.0, 0.0]], [[0, 1], [0, 1]])
    t2 = known([[0.6, 0.3, 0.1], [1.0, 0.0, 0.0]], [[0, 0], [1, 0]])
    found = fuse([t1, t2], [["csf", ("tissue", "lesion")], [("csf", "tissue"), "lesion"]])
    names = found.partition.focal_sets.names(found.cluster_names)
    first = dict(zip(names, found.partition.masses[found.index[0, 0]]))
    # {csf} meets {csf, tissue} and Omega; it is disjoint from {lesion}: conflict 0.8 * 0.3 = 0.24.
    assert first["{csf}"] == pytest.approx(0.8 * 0.7 / 0.76)
    assert first["{tissue}"] == pytest.approx(0.1 * 0.6 / 0.76)
    assert first["{lesion}"] == pytest.approx((0.1 * 0.3 + 0.1 * 0.3) / 0.76)
    assert first["{csf,tissue}"] == pytest.approx(0.1 * 0.6 / 0.76)
    assert first["{tissue,lesion}"] == pytest.approx(0.1 * 0.1 / 0.76)
    assert found.index[0, 1] == found.index[1, 1]
    assert sorted(found.counts.tolist()) == [1, 1, 2]
    assert found.vectors[found.index[1, 0]].tolist() == [0.0, 1.0]


def test_images_that_contradict_each_other_wholly_leave_all_open():
    sure = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    found = fuse([known(sure, [[0, 0], [1, 1]]), known(sure, [[0, 1], [0, 1]])], [["a", "b"], ["a", "b"]])
    assert found.sets().tolist() == [[1, 3], [3, 2]]


def test_fusion_of_two_contrasts_finds_three_tissues(brain):
    parts = [segment(x, "egmm", 2, within=brain.inside, random_state=0) for x in (brain.t1, brain.t2)]
    found = fuse(parts, [["csf", ("tissue", "lesion")], [("csf", "tissue"), "lesion"]])
    assert found.cluster_names == ("csf", "tissue", "lesion")
    labels = found.labels()
    assert agreement(brain, labels) > 0.93
    assert (labels[brain.inside] == brain.truth[brain.inside]).mean() > 0.97  # the names are those of the truth


def test_fusion_that_makes_no_sense(brain):
    parts = [segment(x, EGMM(2, n_init=1, random_state=0), within=brain.inside) for x in (brain.t1, brain.t2)]
    with pytest.raises(ValueError, match="Got 1 segmentations and 1 meanings"):
        fuse(parts[:1], [["a", "b"]])
    with pytest.raises(ValueError, match="Image 1 was segmented into 2 clusters, but has 3 meanings"):
        fuse(parts, [["a", ("b", "c")], ["a", "b", "c"]])
    with pytest.raises(ValueError, match=r"Image 0 has a, b, c; image 1 has a, b\."):
        fuse(parts, [["a", ("b", "c")], ["a", "b"]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"method": "ecm"}, "ecm needs the number of clusters"),
        ({"method": "kmeans", "n_clusters": 2}, "There is no method 'kmeans'; did you mean 'cop-kmeans'?"),
        ({"method": EGMM(2), "n_clusters": 2}, "an estimator has its own"),
        ({"method": MECM(2)}, "MECM takes no weights"),
        ({"method": "egmm", "same": [np.eye(4)]}, r"EGMM does not listen to masks \(same, different\)"),
        ({"n_clusters": 2, "scale": "robust"}, "'scale' must be one of 'standard', 'none'"),
        ({"n_clusters": 2, "within": np.zeros((4, 4))}, "The mask within is empty"),
        ({"n_clusters": 2, "within": np.eye(4)}, "All 4 pixels have the same value"),
        ({"n_clusters": 9}, "has only n_samples=7 rows"),
    ],
)
def test_what_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        segment(np.abs(np.subtract.outer(np.arange(4), np.arange(4))) + 10 * np.eye(4, k=1) + np.eye(4, k=-2) * 5
                + 20 * np.eye(4, k=2) + 3 * np.eye(4, k=3), **arguments)  # fmt: skip


def test_rounding_barely_moves_the_result(brain):
    image = list(brain.floats)
    model = EGMM(3, n_init=2, random_state=0)
    exact = segment(image, model, within=brain.inside)
    rough = segment(image, model, within=brain.inside, n_prototypes=500)
    assert len(rough.counts) <= 500 < len(exact.counts)
    assert "steps" in rough.rounding
    assert (rough.labels() == exact.labels())[brain.inside].mean() > 0.98
