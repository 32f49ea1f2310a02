"""Where dissimilarities come from, and which pairs are looked at."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.metrics import pairwise_distances

from evidentia.dissimilarities import (
    Columns,
    Matrix,
    MixedTable,
    Objects,
    Subset,
    check_dissimilarities,
    delta_star,
    full_matrix,
    gower_distances,
    make_source,
    nearest_objects,
    new_blocks,
)
from evidentia.relational import EVCLUS
from evidentia.relational.pairs import all_pairs, check_partners, chosen_pairs, listed_pairs, random_pairs


@pytest.fixture
def X():
    return np.random.default_rng(3).normal(size=(23, 3)) * [1, 4, 0.2]


def test_delta_star_is_the_papers_formula():
    """gamma = -log(0.05) / 2.5**2 = 0.4793; 1 - exp(-0.4793 * 1.2**2) = 0.4985."""
    assert delta_star(1.2, 2.5) == pytest.approx(0.4985, abs=5e-5)
    assert delta_star([0, 2.5], 2.5).tolist() == pytest.approx([0, 0.95])


# -- Gower ------------------------------------------------------------------------------------------------------------


MIXED = pd.DataFrame(
    {
        "age": [20.0, 30.0, np.nan, 60.0],
        "city": ["Lyon", "Lyon", "Oran", None],
        "smokes": [True, False, True, True],
        "grade": pd.Categorical(["a", "b", "b", "a"], categories=["b", "a", "z"]),
    }
)


def slow_gower(one, other, ranges):
    total = seen = 0
    for name in one.index:
        a, b = one[name], other[name]
        if pd.isna(a) or pd.isna(b):
            continue
        seen += 1
        total += abs(a - b) / ranges[name] if name in ranges else float(a != b)
    return total / seen


def test_gower_is_its_definition():
    expected = [[slow_gower(a, b, {"age": 40.0}) for _, b in MIXED.iterrows()] for _, a in MIXED.iterrows()]
    np.testing.assert_allclose(gower_distances(MIXED), expected)
    # by hand, rows 0 and 3: age 40 of 40, city missing, smokes equal, grade equal: 1/3
    assert gower_distances(MIXED)[0, 3] == pytest.approx(1 / 3)


def test_gower_of_new_rows_uses_the_ranges_and_categories_of_the_old_ones():
    new = pd.DataFrame({"age": [100.0], "city": ["Rome"], "smokes": [True], "grade": ["b"]})
    found = gower_distances(MIXED, new)
    assert found.shape == (4, 1)
    # row 0: age 80 of 40 counts 1, city differs, smokes equal, grade differs: 3/4; row 2: age missing: 1/3
    assert found[[0, 2], 0].tolist() == pytest.approx([3 / 4, 1 / 3])


def test_gower_takes_whole_numbers_with_gaps_and_constant_columns():
    table = pd.DataFrame({"n": pd.array([1, None, 5], dtype="Int64"), "same": [2.0, 2.0, 2.0], "gone": [np.nan] * 3})
    np.testing.assert_allclose(gower_distances(table), [[0, 0, 0.5], [0, 0, 0], [0.5, 0, 0]])


def test_gower_names_rows_that_cannot_be_compared():
    table = pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": [None, "x", "y"]})
    with pytest.raises(ValueError, match="Row 0 and row 1 of X have no column in which both are observed"):
        gower_distances(table)


def test_gower_refuses_infinite_numbers():
    with pytest.raises(ValueError, match="contains inf"):
        gower_distances(pd.DataFrame({"a": [1.0, np.inf]}))


# -- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("euclidean", None),
        ("cityblock", None),
        ("minkowski", {"p": 3}),
        ("seuclidean", None),
        ("mahalanobis", None),
        ("cosine", None),
        ("manhattan", None),
    ],
)
def test_blocks_of_a_metric_are_parts_of_the_whole_matrix(X, metric, params):
    whole = pairwise_distances(X, metric=metric, **(params or {}))
    source = make_source(X, metric, params, who="EVCLUS")
    rows, columns = np.array([4, 1, 22]), np.array([0, 7])
    np.testing.assert_allclose(source.block(rows, columns), whole[np.ix_(rows, columns)], atol=1e-7)
    np.testing.assert_allclose(source.from_new(X[rows], columns), whole[np.ix_(rows, columns)], atol=1e-7)


def test_euclidean_distances_keep_their_digits_far_from_zero():
    X = 1e8 + np.array([[0.0], [1.0], [3.0]])
    assert make_source(X, "euclidean", who="EVCLUS").block(slice(None), slice(None))[0].tolist() == [0, 1, 3]


def test_a_boolean_metric_raises_no_warning():
    X = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 1]])
    found = make_source(X, "jaccard", who="EVCLUS").block(slice(None), slice(None))
    np.testing.assert_allclose(found, [[0, 2 / 3, 0.5], [2 / 3, 0, 1], [0.5, 1, 0]])


def test_objects_may_be_anything():
    source = make_source(["a", "abc", "abcd"], lambda a, b: abs(len(a) - len(b)), who="EVCLUS")
    assert source.block([2], [0, 1]).tolist() == [[3, 1]]
    assert source.from_new(["ab"], slice(None)).tolist() == [[1, 1, 2]]


def test_rows_of_a_table_reach_the_function_one_by_one(X):
    source = make_source(X, lambda a, b, power: np.abs(a - b).sum() ** power, {"power": 2}, who="EVCLUS")
    np.testing.assert_allclose(source.block([0], [1, 5]), cdist(X[[0]], X[[1, 5]], "cityblock") ** 2)


def failing(a, b):
    raise KeyError("no such word")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (failing, r"The metric failing failed on objects 0 and 1: KeyError\('no such word'\)"),
        (lambda a, b: -1.0, "gave -1.0 for objects 0 and 1; a dissimilarity is a finite number >= 0"),
        (lambda a, b: np.nan, "gave nan for objects 0 and 1"),
        (lambda a, b: np.inf, "gave inf for objects 0 and 1"),
    ],
)
def test_a_function_that_fails_is_named_with_the_objects(function, words):
    with pytest.raises(ValueError, match=words):
        Objects(["x", "y"], function, {}).block([0], [1])


@pytest.mark.parametrize(
    ("D", "words"),
    [
        (np.ones((3, 2)), "needs a square matrix of dissimilarities. Got shape"),
        ([[0, 1, 2], [1, 0, 4], [2, 3, 0]], r"\[1, 2\] = 4 and \[2, 1\] = 3 differ by 1.*D = \(D \+ D.T\) / 2"),
        ([[0, -1], [-1, 0]], "not negative, but entry"),
        ([[0, 1], [1, 0.5]], "zeros on the diagonal"),
        ([[0, np.nan], [np.nan, 0]], r"contains NaN \(first: entry \[0, 1\]\)"),
        ([[0, np.inf], [np.inf, 0]], r"contains inf \(first: entry \[0, 1\]\)"),
        (3 * (1 - np.eye(4)), "All dissimilarities equal 3"),
    ],
)
def test_a_bad_matrix_is_refused_with_the_place_and_the_cure(D, words):
    with pytest.raises(ValueError, match=words):
        EVCLUS(metric="precomputed").fit(np.array(D, dtype=float))


@pytest.mark.parametrize("metric", ["euclidian", 7])
def test_an_unknown_metric_is_refused(X, metric):
    with pytest.raises(ValueError, match="The 'metric' parameter of EVCLUS must be"):
        EVCLUS(metric=metric).fit(X)


def test_an_encoded_table_must_have_as_many_columns():
    known = MixedTable.of(MIXED)
    with pytest.raises(ValueError, match="X has 2 columns, but was fitted with 4"):
        known.encode(MIXED[["age", "city"]])


def sources(X):
    """The same dissimilarities from sources of every kind, with new objects as each of them takes them."""
    new, more = X[:4] * 0.7 + 0.1, np.vstack([X[:2], X[::-1]])
    return {
        "matrix": (Matrix(cdist(X, X, "cityblock")), cdist(new, X, "cityblock")),
        "table": (make_source(X, "cityblock", who="me"), new),
        "with arguments": (make_source(X, "minkowski", {"p": 1}, who="me"), new),
        "function": (make_source(X, lambda a, b: np.abs(a - b).sum(), who="me"), new),
        "some": (Subset(make_source(more, "cityblock", who="me"), np.arange(len(more))[:1:-1]), new),
    }


KINDS = ("matrix", "table", "with arguments", "function", "some")


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_answers_the_same_questions(X, kind):
    source, new = sources(X)[kind]
    D, to_old = cdist(X, X, "cityblock"), cdist(X[:4] * 0.7 + 0.1, X, "cityblock")
    assert len(source) == len(source.needed_for_new()) == len(X)
    np.testing.assert_allclose(source.block(slice(3, 5), [0, 7]), D[3:5][:, [0, 7]])
    np.testing.assert_allclose(full_matrix(source, who="me", cure=""), D)
    columns = np.array([3, 0, 11])
    found = list(new_blocks(source.needed_for_new(), new, columns))
    np.testing.assert_allclose(np.vstack([block for _, block in found]), to_old[:, columns])
    assert [rows for rows, _ in found] == [slice(0, 4)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_knows_who_is_near(X, kind):
    source, new = sources(X)[kind]
    D, to_old = cdist(X, X, "cityblock") + np.diag(np.full(len(X), np.inf)), cdist(X[:4] * 0.7 + 0.1, X, "cityblock")
    for whole, found in ((D, nearest_objects(source, 3)), (to_old, nearest_objects(source.needed_for_new(), 3, new))):
        np.testing.assert_array_equal(found[1], np.argsort(whole, axis=1)[:, :3])
        np.testing.assert_allclose(found[0], np.sort(whole, axis=1)[:, :3])


def test_a_matrix_is_not_kept_for_new_objects(X):
    kept = Matrix(cdist(X, X)).needed_for_new()
    assert kept == Columns(23)
    with pytest.raises(ValueError, match="were not kept"):
        kept.block([0], [1])


def test_the_matrix_of_a_function_that_depends_on_the_order_is_refused():
    source = Objects(["a", "abc", "ab"], lambda a, b: max(len(a) - len(b), 0), {})
    with pytest.raises(ValueError, match=r"entries \[0, 1\] = 0 and \[1, 0\] = 2 differ by 2"):
        full_matrix(source, who="me", cure="")


def test_a_function_that_depends_on_the_order_is_refused_before_all_pairs_are_measured():
    calls = []

    def longer_by(one, other):
        calls.append((one, other))
        return max(len(one) - len(other), 0)

    with pytest.raises(
        ValueError, match=r"the metric longer_by gives 0 for objects 0 and 1, and 2 for objects 1 and 0"
    ):
        make_source(["a", "abc"], longer_by, who="me")
    with pytest.raises(ValueError, match=r"^me needs symmetric dissimilarities, but the metric longer_by gives "):
        make_source(["a" * n for n in range(1000)], longer_by, who="me")
    assert len(calls) < 100


def test_a_matrix_beyond_memory_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("evidentia.solvers.memory.machine_memory", lambda: 8e6)
    source = Objects(range(1000), lambda a, b: 1 / 0, {})
    with pytest.raises(MemoryError, match=r"me on all pairs of 1,000 objects needs .* Take fewer\."):
        full_matrix(source, who="me", cure="Take fewer.")


def test_a_matrix_may_be_all_alike_where_that_does_no_harm():
    D = 3 * (1 - np.eye(4))
    assert check_dissimilarities(D, "me", contrast=False) is D
    assert len(make_source(D, "precomputed", who="me", contrast=False)) == 4


@pytest.mark.parametrize(
    ("X", "metric", "words"),
    [
        ([["cat"]], "gower", "me needs at least 2 objects. Got 1."),
        (["cat"], lambda a, b: 0, "me needs at least 2 objects. Got 1."),
        ([[1.0, np.nan], [1, 2]], "euclidean", r"me needs a table of finite numbers. Got shape \(2, 2\)"),
        (np.ones((2, 2, 2)), "euclidean", "me needs a table of finite numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused(X, metric, words):
    with pytest.raises(ValueError, match=words):
        make_source(X, metric, who="me")


# -- pairs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(23, 2), (23, 7), (23, 22), (60, 40), (101, 45), (100, 61), (2, 1), (9, 8)])
def test_random_partners_are_mutual_and_nobody_is_his_own(n, k):
    D = squareform(1 + np.arange(n * (n - 1) // 2, dtype=float))  # every pair has a number of its own
    pairs = random_pairs(Matrix(D), k, np.random.RandomState(n + k))
    i, j, value = pairs.sample(10**6, np.random.RandomState(0))
    assert (i < j).all()
    np.testing.assert_array_equal(value, D[i, j])
    assert len(set(zip(i.tolist(), j.tolist()))) == len(i) == pairs.n_terms  # each pair once
    degree = np.bincount(np.concatenate([i, j]), minlength=n)
    size = max(1, k // 20)
    assert degree.max() <= k + size
    assert degree.min() >= min(k, n - size) - 2 * size  # groups of several objects, the last of them not full


def test_every_value_of_random_pairs_stands_in_both_rows():
    D = squareform(1 + np.arange(45, dtype=float))
    layout = random_pairs(Matrix(D), 5, np.random.RandomState(1)).layout
    rebuilt = np.zeros((11, 11))  # one place more than objects: the empty one
    order = np.append(layout.order, 10)
    size = layout.values.shape[2]
    for g, places in enumerate(np.minimum(layout.places, 10)):
        for row in range(size):
            rebuilt[order[min(g * size + row, 10)], order[places]] = layout.values[0, g, row]
    np.testing.assert_array_equal(rebuilt, rebuilt.T)
    assert (rebuilt[10] == 0).all()
    np.testing.assert_array_equal(rebuilt[:10, :10][rebuilt[:10, :10] > 0], D[rebuilt[:10, :10] > 0])


def test_random_partners_reach_everybody_alike():
    """Over many draws each of the other objects is a partner equally often."""
    met = np.zeros((12, 12))
    for seed in range(400):
        i, j, _ = random_pairs(Matrix(1 - np.eye(12)), 4, np.random.RandomState(seed)).sample(99, None)
        met[i, j] += 1
    share = met[np.triu_indices(12, 1)] / 400
    assert share.mean() == pytest.approx(4 / 11)
    assert np.abs(share - 4 / 11).max() < 0.1


def test_each_pair_is_measured_once():
    calls = []
    source = Objects(list(range(30)), lambda a, b: calls.append(frozenset((a, b))) or 1.0 + abs(a - b), {})
    pairs = random_pairs(source, 6, np.random.RandomState(0))
    assert len(calls) == len(set(calls)) == pairs.n_terms


def test_only_some_pairs_are_measured(X):
    """k partners: the blocks asked for hold n * k / 2 numbers in all, never n * n."""

    class Counting(Matrix):
        asked = 0

        def block(self, rows, columns):
            Counting.asked += len(rows) * len(columns)
            return super().block(rows, columns)

    random_pairs(
        Counting(squareform(pdist(np.random.default_rng(0).normal(size=(400, 2))))), 20, np.random.RandomState(0)
    )
    assert Counting.asked == 400 * 20 // 2


def test_chosen_partners_are_those_named(X):
    D = cdist(X, X)
    partners = (np.arange(23)[:, None] + [1, 5, 9]) % 23
    named = chosen_pairs(make_source(X, "euclidean", who="EVCLUS"), partners)
    table = listed_pairs(np.take_along_axis(D, partners, axis=1), partners)
    assert named.n_terms == table.n_terms == 69
    for one, other in zip(named.layout, table.layout):
        np.testing.assert_allclose(one, other)
    i, j, value = named.sample(10**6, np.random.RandomState(0))
    np.testing.assert_allclose(value, D[i, j])


def test_all_pairs_hold_the_matrix(X):
    pairs = all_pairs(Matrix(cdist(X, X)))
    assert pairs.n_terms == 23 * 22 // 2 == len(pairs.values)


@pytest.mark.parametrize(
    ("partners", "words"),
    [
        (np.ones((4, 2)), "must hold object numbers, a row for each of 5 objects"),
        (np.ones((5, 2)), "Got float64"),
        (np.ones((5, 5), dtype=int), "names 5 of 4 others"),
        (np.full((5, 2), 5), "numbers objects 0 to 4. Got 5 to 5"),
        (np.full((5, 2), 3), "names object 3 as its own partner"),
    ],
)
def test_bad_partners_are_refused(partners, words):
    with pytest.raises(ValueError, match=words):
        check_partners("EVCLUS", partners, 5)


@pytest.mark.parametrize("metric", ["correlation", "cosine"])
def test_last_bits_of_a_similarity_next_to_one_are_no_dissimilarity(metric):
    """Rows that differ by a factor are equal by these metrics, whatever rounding leaves of 1 - 1."""
    profile = np.random.default_rng(0).normal(size=7)
    rows = np.linspace(0.3, 1e9, 25)[:, None] * profile
    source = make_source(np.vstack([rows, profile + 1e-6 * np.arange(7)]), metric, who="me")
    found = source.block(slice(None), slice(None))
    assert (found[:25, :25] == 0).all()
    assert (found[25, :25] > 1e-14).all()
    assert (np.diag(found) == 0).all()


def test_a_covariance_beyond_doubles_is_refused():
    """Its inverse would not come to an end."""
    with pytest.raises(ValueError, match=r"me finds no covariance of X: .* Scale X"):
        make_source(np.array([[1e300, 1.0], [-1e300, 2.0], [3.0, 5.0]]), "mahalanobis", who="me")
