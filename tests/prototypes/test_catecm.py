"""CatECM against plain loops, by hand, and by its laws."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from evidentia import CatECM, FocalSets, load_model
from evidentia.prototypes import catecm
from evidentia.rows.categories import Coding

RNG = np.random.default_rng(0)
GROUP = np.repeat([0, 1, 2], [25, 20, 15])


def groups(purity=0.8, gaps=0.0, seed=0):
    """Three groups in six columns of categories and two of numbers."""
    rng = np.random.default_rng(seed)
    table = {}
    for column in range(6):
        own = np.array(list("xyz"))[(GROUP + column) % 3]
        table[f"c{column}"] = np.where(rng.uniform(size=60) < purity, own, rng.choice(list("xyz"), size=60))
    table |= {name: factor * (2.0 * GROUP + rng.normal(size=60)) for name, factor in (("u", 1.0), ("v", 30.0))}
    frame = pd.DataFrame(table).astype({f"c{column}": object for column in range(6)})
    return frame.mask(rng.uniform(size=frame.shape) < gaps)


def plain_dissimilarity(model, row, subset, columns):
    """Dissimilarity of a row to a set of clusters, as the docstring writes it: every sum a loop."""
    total, observed, everything = 0.0, 0.0, 0.0
    for at, name in enumerate(columns):
        share = model.number_weight_ if model.numeric_[at] else 1.0
        everything += share
        if pd.isna(row[name]):
            continue
        observed += share
        centers = [model.prototypes_[k, at] for k in subset]
        if model.numeric_[at]:
            total += share * (row[name] - sum(centers) / len(centers)) ** 2 / model.spread[at] ** 2
        else:
            total += sum(center != row[name] for center in centers) / len(centers)
    return total * everything / observed


def plain_masses(costs, beta):
    powers = np.maximum(costs, 1e-11) ** (-1 / (beta - 1))
    return powers / powers.sum()


@pytest.mark.parametrize(("gaps", "sets"), [(0.0, "pairs"), (0.15, "full"), (0.1, "auto")])
def test_masses_and_criterion_are_those_of_plain_loops(gaps, sets):
    frame = groups(gaps=gaps)
    model = CatECM(3, focal_sets=sets, alpha=0.3, beta=1.4, rho=5.0, random_state=0).fit(frame)
    model.spread = np.array([frame[name].std(ddof=0) if name in "uv" else np.nan for name in frame])
    J = 0.0
    for i, (_, row) in enumerate(frame.iterrows()):
        cost = [
            len(A) ** 0.3 * plain_dissimilarity(model, row, A, list(frame)) if A else 5.0 for A in model.focal_sets_
        ]
        m = plain_masses(cost, 1.4)
        np.testing.assert_allclose(model.partition_.masses[i], m, atol=1e-9)
        J += m**1.4 @ cost
    assert model.criterion_ == pytest.approx(J, rel=1e-10)


def test_by_hand():
    # Modes (a, x) and (b, y). Row (a, y) has one mismatch with either, and with their pair: 2**0.5 * 1. rho is 2.
    X = np.array([["a", "x"], ["a", "x"], ["b", "y"], ["b", "y"], ["a", "y"]], dtype=object)
    model = CatECM(2, focal_sets="full", alpha=0.5, beta=2.0, rho=2.0, init=X[[0, 2]], max_iter=1, tol=1.0).fit(X)
    total = 1 / 2 + 1 + 1 + 1 / np.sqrt(2)
    np.testing.assert_allclose(model.partition_.masses[4], [0.5 / total, 1 / total, 1 / total, 0.5**0.5 / total])
    assert model.prototypes_.tolist() == [["a", "x"], ["b", "y"]]


def best_categories(frame, powered, sets, alpha):
    """The categories that make J least for given masses, (n_clusters, n_columns): all of them are tried."""
    found = []
    for name in frame:
        cost = {
            modes: sum(
                powered[i, j] * len(A) ** alpha * sum(modes[k] != entry for k in A) / len(A)
                for i, entry in enumerate(frame[name])
                for j, A in enumerate(sets)
                if A
            )
            for modes in product("xyz", repeat=3)
        }
        found.append(min(cost, key=cost.get))
    return np.array(found, dtype=object).T


@pytest.mark.parametrize("seed", range(4))
def test_the_step_of_the_weights_is_the_minimum(seed):
    rng = np.random.default_rng(seed)
    frame, weight = groups(purity=0.4).iloc[::3, :3], rng.uniform(0.5, 2, size=20)
    coding = Coding(np.zeros(3, bool), [np.array(list("xyz"), dtype=object)] * 3, np.empty(0), np.empty(0), 1.0)
    rows = coding.rows(coding.codes(frame.to_numpy()), np.empty((20, 0)))
    criterion = catecm.Criterion(FocalSets(3, "full"), -2.0, 1.6, 3.0)
    problem = catecm.CategoryProblem(coding, criterion, "linear", ((rows, weight),))
    start = catecm.CategoryPrototypes(rng.dirichlet(np.ones(3), size=(3, 3)).reshape(3, 9), np.empty((3, 0)))
    _, better = catecm.category_step(problem, start)
    powered = catecm.masses_of(rows, start, problem) ** 1.6 * weight[:, None]
    expected = best_categories(frame, powered, list(criterion.focal_sets), -2.0)
    np.testing.assert_array_equal(np.array(list("xyz"))[better.weights.reshape(3, 3, 3).argmax(axis=2)], expected)
    assert set(np.unique(better.weights)) == {0.0, 1.0}


def test_the_step_of_the_means_is_the_minimum():
    frame = groups(gaps=0.1)
    table = frame.to_numpy()
    numeric = np.array([name in "uv" for name in frame])
    categories = [np.array(list("xyz"), dtype=object)] * 6
    coding = Coding(numeric, categories, np.array([1.0, 20.0]), np.array([2.0, 40.0]), 0.4)
    focal_sets = FocalSets(3, "full")
    rows = coding.rows(coding.codes(table), coding.numbers(table, "me"))
    problem = catecm.CategoryProblem(
        coding, catecm.Criterion(focal_sets, 0.6, 1.5, 4.0), "linear", ((rows, np.ones(60)),)
    )
    start = catecm.CategoryPrototypes(RNG.dirichlet(np.ones(3), size=(3, 6)).reshape(3, 18), RNG.normal(size=(3, 2)))
    powered = catecm.masses_of(rows, start, problem).T ** 1.5 * problem.criterion.penalty[:, None]

    def objective(prototypes):
        return (powered * catecm.dissimilarities(rows, prototypes, problem.criterion.average)).sum()

    _, better = catecm.category_step(problem, start)
    for q, k, step in product(range(2), range(3), (-1e-4, 1e-4)):
        moved = better.means.copy()
        moved[k, q] += step
        assert objective(better._replace(means=moved)) > objective(better)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([-0.3, 0.0, 1.3]),
    st.sampled_from([1.1, 1.7, 3.0]),
    st.sampled_from(["pairs", "full", "auto"]),
)
def test_the_criterion_never_rises(seed, alpha, beta, sets):
    rng = np.random.default_rng(seed)
    frame = groups(purity=rng.uniform(0.2, 0.9), gaps=0.1, seed=seed)
    keep = frame.notna().any(axis=1)
    problem = CatECM(3, focal_sets=sets, alpha=alpha, beta=beta, n_init=2, max_iter=60, tol=1e-6, random_state=seed)
    trace = problem.fit(frame[keep]).criterion_trace_
    assert (np.diff(trace) <= 1e-11 * trace[:-1]).all()
    assert len(trace) > 1


def test_the_published_form_by_plain_loops():
    frame = groups(purity=0.6).drop(columns=["u", "v"])
    model = CatECM(2, form="published", focal_sets="pairs", beta=1.3, rho=4.0, random_state=0).fit(frame)
    for i, (_, row) in enumerate(frame.iterrows()):
        cost = []
        for A in model.focal_sets_:
            d = sum((model.prototypes_[k] != row.to_numpy()).sum() for k in A)
            cost.append(len(A) ** 1.1 * (d / len(A) ** 2) ** 2 if A else 16.0)
        np.testing.assert_allclose(model.partition_.masses[i], plain_masses(cost, 1.3), atol=1e-9)
    assert (np.diff(model.criterion_trace_) <= 0).all()
    with pytest.raises(ValueError, match="published form reads categories alone, and column 'u' of X holds numbers"):
        CatECM(2, form="published").fit(groups())


def test_groups_are_found_whatever_the_categories_are():
    frame = groups(purity=0.9).drop(columns=["u", "v"])
    codes = frame.apply(lambda column: column.map({"x": 7, "y": -2, "z": 40}))
    kinds = [frame, frame.astype("category"), codes, codes.astype(float), codes.to_numpy(), frame.to_numpy().tolist()]
    models = [CatECM(3, random_state=0).fit(X) for X in kinds]
    for model in models:
        assert adjusted_rand_score(GROUP, model.labels_) > 0.9
        assert not model.numeric_.any()
    assert models[1].prototypes_[0, 0] == "x"
    assert models[2].prototypes_[0, 0] == 7


def test_order_of_rows_and_copies_do_not_matter():
    frame = groups(purity=0.7)
    order = RNG.permutation(60)
    model, shuffled = (CatECM(3, random_state=0).fit(X) for X in (frame, frame.iloc[order]))
    np.testing.assert_allclose(shuffled.partition_.masses, model.partition_.masses[order], atol=1e-9)
    weight = RNG.integers(1, 4, size=60)
    start = frame.iloc[[0, 30, 50]].to_numpy()
    weighted = CatECM(3, init=start).fit(frame, sample_weight=weight)
    copied = CatECM(3, init=start).fit(frame.loc[frame.index.repeat(weight)])
    assert weighted.criterion_ == pytest.approx(copied.criterion_, rel=1e-10)
    np.testing.assert_allclose(weighted.partition_.masses.repeat(weight, axis=0), copied.partition_.masses, atol=1e-9)


def test_renaming_clusters_permutes_the_sets():
    frame = groups(purity=0.7)
    start, order = frame.iloc[[0, 30, 50]].to_numpy(), [2, 0, 1]
    one, other = (CatECM(3, focal_sets="full", init=rows).fit(frame) for rows in (start, start[order]))
    np.testing.assert_array_equal(other.prototypes_[:, :6], one.prototypes_[order, :6])
    for j, A in enumerate(other.focal_sets_):
        at = one.focal_sets_.index({order[k] for k in A})
        np.testing.assert_allclose(other.partition_.masses[:, j], one.partition_.masses[:, at], atol=1e-9)


def test_units_of_numbers_do_not_matter():
    frame = groups(purity=0.6)
    model, scaled = (CatECM(3, random_state=0).fit(X) for X in (frame, frame.assign(u=1e6 - 250 * frame["u"])))
    np.testing.assert_allclose(scaled.partition_.masses, model.partition_.masses, atol=1e-6)
    assert model.number_weight_ == pytest.approx(
        1 - np.mean([frame[f"c{k}"].value_counts().max() / 60 for k in range(6)])
    )


def test_the_distance_to_the_empty_set():
    X = np.array([["a", "x"], ["a", "y"], ["b", "y"], ["b", "y"]], dtype=object)
    # Two rows agree in the first column with probability 1/2, in the second with 10/16.
    mean, variance = 1 / 2 + 6 / 16, 1 / 4 + 10 * 6 / 256
    assert CatECM(2, random_state=0).fit(X).rho_ == pytest.approx(mean + 1.645 * np.sqrt(variance))


def test_new_rows():
    frame = groups(purity=0.8, gaps=0.1)
    model = CatECM(3, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.predict_partition(frame).masses, model.partition_.masses)
    row = frame.iloc[[0]].assign(c0="x", c1="y", c2="z", c3="x", c4="y", c5="z", u=0.0, v=0.0)
    strange, missing, nothing = row.assign(c0="never seen"), row.assign(c0=None), row.mask(row.notna())
    codes = model._problem.coding.codes(pd.concat([strange, missing]).to_numpy())
    assert codes[:, 0].tolist() == [-2, -1]
    # One more mismatch with every cluster against one column less: only the first raises all dissimilarities by one.
    share = model.number_weight_

    def distances(new):
        rows = model._problem.coding.rows(
            model._problem.coding.codes(new.to_numpy()), model._problem.coding.numbers(new.to_numpy(), "me")
        )
        return catecm.dissimilarities(rows, model._prototypes, np.eye(3)).ravel()

    agreed = (model.prototypes_[:, 0] == "x").astype(float)
    np.testing.assert_allclose(distances(strange), distances(row) + agreed)
    rest = distances(row) - (1 - agreed)
    np.testing.assert_allclose(distances(missing), rest * (6 + 2 * share) / (5 + 2 * share))
    masses = model.predict_partition(nothing).masses[0]
    np.testing.assert_allclose(masses[1:], masses[1])


def test_torn_objects_are_those_between_clusters():
    model = CatECM(2, random_state=0).fit([["a"] * 6] * 9 + [["b"] * 6] * 8 + [["a", "a", "a", "b", "b", "b"]])
    assert model.partition_.masses[-1].argmax() == model.focal_sets_.index({0, 1})
    assert model.partition_.masses[0].argmax() == model.focal_sets_.index({0})


def test_a_saved_model_places_rows_alike(tmp_path):
    frame = groups(gaps=0.1)
    model = CatECM(3, random_state=0).fit(frame)
    again = load_model(model.save(tmp_path / "model.npz"))
    np.testing.assert_array_equal(again.predict_partition(frame).masses, model.partition_.masses)
    assert again.prototypes_.tolist() == model.prototypes_.tolist()


def test_numbers_are_named_or_numbered():
    frame = groups().assign(whole=np.arange(60) % 50)
    assert CatECM(3, random_state=0).fit(frame).numeric_.tolist() == [False] * 6 + [True, True, False]
    named = CatECM(3, numbers=["u", "whole"], random_state=0)
    with pytest.raises(ValueError, match=r"Column 'v' of X holds numbers such as .* which are not categories"):
        named.fit(frame)
    numbered = CatECM(3, numbers=[6, 7, 8], random_state=0).fit(frame)
    assert numbered.numeric_.tolist() == [False] * 6 + [True] * 3
    assert numbered.categories_[0].tolist() == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("X", "settings", "said"),
    [
        (groups(), {"numbers": ["w"]}, "'numbers' of CatECM names the column 'w', which X does not have"),
        (groups(), {"numbers": [12]}, "names the column 12"),
        (groups(), {"numbers": ["c0", "u", "v"]}, "is one of numbers for CatECM, and holds something else"),
        (groups(), {"form": "squared"}, "'form' parameter of CatECM must be one of 'linear', 'published'"),
        (groups(), {"alpha": "low"}, "'alpha' parameter of CatECM must be 'auto' or a number"),
        (groups(), {"number_weight": 0}, "'number_weight' parameter of CatECM must be 'auto' or a number > 0"),
        (groups(), {"init": [["x"] * 8] * 2}, r"array of shape \(3, 8\): a row as in X for each cluster"),
        (groups(), {"init": [["other"] * 6 + [0.0, 0.0]] * 3}, "of known categories and with nothing missing"),
        (groups().replace({"u": {groups()["u"][3]: np.inf}}), {}, r"contains inf \(first: row 3, column 6\)"),
        (groups().assign(c0=None), {}, "Column 'c0' of X holds nothing but missing values. Drop it before CatECM"),
        (groups().iloc[:2], {}, "asked for n_clusters=3 but X has only n_samples=2"),
        (groups().iloc[:, :6], {"form": "published", "focal_sets": [[0], [1], [0, 2]]}, "2} is not among"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_with_a_sentence(X, settings, said):
    with pytest.raises(ValueError, match=said):
        CatECM(3, **settings).fit(X)


def test_clusters_that_coincide_are_told():
    with pytest.warns(UserWarning, match="the centers of clusters 0 and 1 coincide"):
        CatECM(2, random_state=0).fit([["a", "x"]] * 5)


def test_files_that_name_the_old_home_of_a_class_are_read():
    from evidentia.archive import own_class
    from evidentia.rows.categories import Columns

    assert own_class("evidentia.mixtures.class_em:Columns") is Columns


def test_of_categories_that_count_the_same_the_first_is_taken_in_any_order_of_rows():
    """0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1, by rounding."""
    columns = catecm.Columns.of([np.array(["a", "b"])])
    counts = np.array([[0.3 + 0.2 + 0.1, 0.1 + 0.2 + 0.3]])
    assert counts[0, 0] < counts[0, 1]
    np.testing.assert_array_equal(catecm.best_weights(counts, columns, np.zeros((1, 2))), [[1.0, 0.0]])
