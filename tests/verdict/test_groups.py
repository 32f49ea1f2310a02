"""Which clusters are groups: invariances, tables of known groups, and the words."""

import numpy as np
import pytest

from evidentia import EGMM
from evidentia.verdict import groups, judge
from evidentia.verdict.result import Split, Verdict, divergence_from_one_peak
from reproduction.truth.tables import DEVELOPMENT, one_group, two_groups


def fitted(X):
    model = EGMM(random_state=0).fit(X)
    return X, model.cluster_centers_, model.covariances_


def three_groups(n=90, distance=5.0, d=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3 * n, d))
    X[n : 2 * n, 0] += distance
    X[2 * n :, 1] += distance
    return X


@pytest.fixture(scope="module")
def three():
    return fitted(three_groups())


@pytest.fixture(scope="module")
def cut_cube():
    X = np.random.default_rng(4).random((300, 2))
    return fitted(X)


def evidence(verdict):
    return [(split.a, split.b, round(split.evidence, 6)) for split in verdict.splits]


def test_known_groups_are_groups(three):
    verdict = judge(*three)
    assert verdict.answer == "groups"
    assert verdict.groups == ((0,), (1,), (2,))
    assert all(split.supported for split in verdict.splits)


def test_a_cube_that_was_cut_is_no_evidence(cut_cube):
    verdict = judge(*cut_cube)
    assert len(cut_cube[1]) > 1
    assert verdict.answer == "no evidence"
    assert len(verdict.groups) == 1
    assert not any(split.supported for split in verdict.splits)
    assert len(verdict.unsupported()) == len(verdict.splits)


@pytest.mark.parametrize("shape", DEVELOPMENT)
def test_one_group_of_each_shape_is_not_called_groups(shape):
    X = one_group(shape, 300, 2, np.random.default_rng([8, len(shape)]))
    assert judge(*fitted(X)).answer != "groups"


def test_two_normal_groups_three_apart_are_not_called_no_evidence():
    answers = [judge(*fitted(two_groups(3.0, 0.5, 300, 2, np.random.default_rng([9, at])))).answer for at in range(6)]
    assert answers.count("no evidence") == 0
    assert answers.count("groups") >= 3


def test_order_of_rows_and_of_clusters_changes_nothing(three):
    X, means, covariances = three
    rng = np.random.default_rng(1)
    shuffled = judge(X[rng.permutation(len(X))], means, covariances)
    assert evidence(shuffled) == evidence(judge(*three))
    order = np.array([2, 0, 1])
    turned = judge(X, means[order], covariances[order])
    assert sorted(round(split.evidence, 4) for split in turned.splits) == sorted(
        round(split.evidence, 4) for split in judge(*three).splits
    )


@pytest.mark.parametrize("table", ["three", "cut_cube"])
def test_affine_maps_change_nothing(table, request):
    X, means, covariances = request.getfixturevalue(table)
    A, shift = np.array([[30.0, 4.0], [-7.0, 0.05]]), np.array([100.0, -3.0])
    mapped = judge(X @ A.T + shift, means @ A.T + shift, A @ covariances @ A.T)
    plain = judge(X, means, covariances)
    assert mapped.answer == plain.answer
    assert mapped.groups == plain.groups
    np.testing.assert_allclose(
        [split.evidence for split in mapped.splits], [split.evidence for split in plain.splits], atol=0.02
    )


def test_weight_two_is_two_rows(cut_cube):
    X, means, covariances = cut_cube
    weighted = judge(X, means, covariances, weights=np.full(len(X), 2.0))
    copied = judge(np.r_[X, X], means, covariances)
    assert weighted.n_objects == copied.n_objects == 600
    np.testing.assert_allclose(
        sorted(s.evidence for s in weighted.splits), sorted(s.evidence for s in copied.splits), atol=1e-6
    )
    none = np.r_[np.ones(len(X)), np.zeros(40)]
    outside = np.r_[X, np.random.default_rng(0).normal(size=(40, 2)) * 5]
    assert evidence(judge(outside, means, covariances, weights=none)) == evidence(judge(*cut_cube))


def test_line_parts_clusters_by_their_mean_covariance():
    X = np.random.default_rng(0).normal(size=(100, 2))
    means, within = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([np.diag([1.0, 4.0]), np.diag([3.0, 4.0])])
    clusters = groups.prepare(X, means, within, np.ones(100), None, None)
    direction, gap = groups.best_direction((0,), (1,), clusters)
    assert gap == pytest.approx(np.sqrt(9 / 2 + 16 / 4), rel=1e-6)  # the Mahalanobis distance
    back = direction / np.sqrt(X.var(axis=0))  # columns were standardized
    np.testing.assert_allclose(back / back[0], [1.0, (4 / 4) / (3 / 2)], rtol=1e-6)


def test_mixing_proportions_by_hand():
    # One object only the first cluster explains, three that only the second does.
    log_density = np.array([[0.0, -800.0], [-800.0, 0.0], [-800.0, 0.0], [-800.0, 0.0]])
    proportions, posteriors = groups.mixing_proportions(log_density, np.array([1.0, 1.0, 1.0, 3.0]))
    np.testing.assert_allclose(proportions, [1 / 6, 5 / 6])
    np.testing.assert_allclose(posteriors, [[1, 0], [0, 1], [0, 1], [0, 1]])


def test_path_between_two_equal_normals_is_that_of_their_middle():
    X = np.random.default_rng(0).normal(size=(50, 1))
    clusters = groups.Clusters(
        X, np.ones(50), np.array([[0.0], [4.0]]), np.ones((2, 1, 1)), np.array([0.5, 0.5]), np.ones((50, 2)) / 2,
        np.zeros(1), None,
    )  # fmt: skip
    paths = groups.path_densities(clusters, np.ones((2, 2), dtype=bool))
    middle = 2 * np.exp(-2.0) / (1 + np.exp(-8.0))
    assert paths[0, 1] == pytest.approx(middle, rel=1e-6)
    assert paths[0, 0] == 1


def test_paths_go_through_other_clusters():
    X = np.random.default_rng(0).normal(size=(50, 1))
    clusters = groups.Clusters(
        X, np.ones(50), np.array([[0.0], [3.0], [6.0]]), np.ones((3, 1, 1)), np.full(3, 1 / 3), np.ones((50, 3)) / 3,
        np.zeros(1), None,
    )  # fmt: skip
    near = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    paths = groups.path_densities(clusters, near)
    assert paths[0, 2] == pytest.approx(min(paths[0, 1], paths[1, 2]), rel=1e-3)


@pytest.mark.parametrize(("count", "answer"), [(3, "no evidence"), (12, "groups")])
def test_few_outliers_are_no_group(count, answer):
    rng = np.random.default_rng(2)
    X = np.r_[rng.normal(size=(300, 2)), [[30.0, 30.0]] * count + 0.1 * rng.normal(size=(count, 2))]
    means = np.array([[0.0, 0.0], [30.0, 30.0]])
    assert judge(X, means, np.stack([np.eye(2), 0.01 * np.eye(2)])).answer == answer


def test_small_tables_cannot_tell_and_one_cluster_is_no_evidence():
    X = np.r_[np.zeros((20, 2)), np.full((20, 2), 9.0)] + np.random.default_rng(0).normal(size=(40, 2))
    verdict = judge(X, np.array([[0.0, 0.0], [9.0, 9.0]]), np.stack([np.eye(2)] * 2))
    assert verdict.answer == "cannot tell"
    assert "a table of 40 objects is too small" in verdict.sentence
    assert judge(np.r_[X, X], np.zeros((1, 2)), np.eye(2)[None]).answer == "no evidence"


def test_missing_entries_make_a_pair_undecided(three):
    X, means, covariances = three
    verdict = judge(X, means, covariances, missing=np.full(len(X), 0.2))
    assert verdict.answer == "cannot tell"
    assert {split.evidence for split in verdict.splits} == {groups.UNDECIDED}
    assert judge(X, means, covariances, missing=np.full(len(X), 0.05)).answer == "groups"


def test_rounded_columns_are_no_groups():
    X = np.round(np.random.default_rng(3).normal(size=(600, 1)) * 1.5)
    means, covariances = np.array([[-1.0], [1.0]]), np.full((2, 1, 1), 1.2)
    assert judge(X, means, covariances).answer == "groups"  # gaps between whole numbers
    assert judge(X, means, covariances, steps=np.ones(1)).answer == "no evidence"


def test_columns_without_spread_and_equal_rows_are_judged():
    X = np.c_[three_groups(), np.full(270, 3.0)]
    means = np.c_[[[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], np.full(3, 3.0)]
    covariances = np.zeros((3, 3, 3))
    covariances[:, :2, :2] = np.eye(2)
    assert judge(X, means, covariances).answer == "groups"
    assert judge(np.ones((80, 2)), np.ones((2, 2)), np.zeros((2, 2, 2))).answer == "no evidence"


def test_line_to_draw_has_points_and_densities(three):
    line = judge(*three).line
    assert len(line.points) == len(line.weights) <= 150
    step = line.grid[1] - line.grid[0]
    assert line.two.sum() * step == pytest.approx(1, abs=0.05)
    assert line.one.sum() * step == pytest.approx(1, abs=0.1)


def test_divergence_from_one_peak_gives_the_objects_needed():
    grid = np.linspace(-7, 7, 800)
    two = 0.5 * (np.exp(-0.5 * (grid - 1.5) ** 2) + np.exp(-0.5 * (grid + 1.5) ** 2)) / np.sqrt(2 * np.pi)
    needed = 5.4 / divergence_from_one_peak(two, grid[1] - grid[0])
    assert 800 < needed < 1200  # the best test has a power of 0.96 at 1,000
    one = np.exp(-0.5 * grid**2)
    assert divergence_from_one_peak(one, grid[1] - grid[0]) == pytest.approx(0, abs=1e-9)


# -- words and values --------------------------------------------------------------------------------------------------


def verdict_of(answer, split, n_objects=300.0, groups=((0,), (2,)), **changed):
    paths = np.full((3, 3), 0.1)
    return Verdict(answer, split.evidence, split.basis, (split,), groups, n_objects, paths=paths, **changed)


def test_sentences():
    valley = verdict_of("groups", Split((0,), (2,), 9.0, "valley", 4.0, 3.0, "flat-topped", 15.0, 0.002, 300.0))
    assert str(valley) == (
        "There are groups: on the line that parts clusters 0 and 2 best, the density has two peaks (p < 0.01)."
    )
    shape = verdict_of("groups", Split((0,), (2,), 3.0, "shape", 3.0, 3.0, "flat-topped", 2.0, 0.4, 300.0))
    assert str(shape) == (
        "There are groups if a group is one cloud without a shoulder: two normal clouds describe clusters 0 and 2 "
        "better than one cloud of any shape tried. The density itself may have one peak (p = 0.4)."
    )
    tie = Split((0,), (2,), -0.5, "shape", 3.0, -0.5, "lognormal", 2.0, 0.4, 300.0)
    undecided = verdict_of("cannot tell", tie, groups=((0, 1, 2),))
    assert str(undecided) == (
        "It cannot be told whether there are groups: two groups and one lognormal cloud describe clusters 0 and 2 "
        "about equally well."
    )
    none = verdict_of(
        "no evidence", Split((1,), (0, 2), -4.2, "shape", 2.0, -4.2, "lognormal", 1.0, 0.6), groups=((0, 1, 2),)
    )
    assert str(none).startswith("There is no evidence of groups: the 3 clusters are parts of one cloud.")
    assert none.unsupported() == [
        "The split between cluster 1 and the union of clusters 0 and 2 is not supported: one lognormal cloud describes "
        "them as well (evidence -4.2), and on the line that parts them best the density may have one peak (p = 0.6)."
    ]


def test_verdicts_survive_their_values(three):
    import json

    for verdict in (judge(*three), judge(np.zeros((60, 1)), np.zeros((1, 1)), np.ones((1, 1, 1)))):
        again = Verdict.from_dict(json.loads(json.dumps(verdict.to_dict())))
        assert again.splits == verdict.splits
        assert again.groups == verdict.groups
        assert again.sentence == verdict.sentence
        np.testing.assert_array_equal(again.paths, verdict.paths)
        assert (again.line is None) == (verdict.line is None)


def test_clusters_are_connected_by_their_paths():
    paths = np.array([[1.0, 0.4, 0.1], [0.4, 1.0, 0.1], [0.1, 0.1, 1.0]])
    verdict = Verdict("groups", 5.0, groups=((0,), (1,), (2,)), paths=paths)
    assert verdict.connected(0.3) == ((0, 1), (2,))
    assert verdict.connected(0.5) == ((0,), (1,), (2,))
    assert verdict.connected(0.05) == ((0,), (1,), (2,))  # all would join, so that all are kept


def test_a_wide_thin_cluster_does_not_bridge_two_dense_ones():
    rng = np.random.default_rng(7)
    X = np.r_[rng.normal(size=(200, 2)), rng.normal((6, 0), size=(200, 2)), rng.normal((3, 0), 6, size=(80, 2))]
    means = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 0.0]])
    clusters = groups.prepare(X, means, np.stack([np.eye(2), np.eye(2), 36 * np.eye(2)]), np.ones(480), None, None)
    found = groups.merge_clusters(clusters)
    assert found.paths[0, 1] < groups.VETO
    assert not any({0, 1} <= set(group) for group in found.groups)
