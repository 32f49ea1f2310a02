"""The table of select, who wins, and what becomes of fits that fail, collapse or are interrupted."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, euclidean
from tests.views.made_views import distances, three_views

import evidentia
from evidentia import EGMM, FCM, WMVEC, CredalPartition, FocalSets, ParsimoniousGaussianMixture
from evidentia._base import EvidentialClusterer
from evidentia._parameters import ANYTHING, SEED, Integer, param
from evidentia.datasets import load, make_diamond
from evidentia.methods import Method, clusterers, find
from evidentia.selection import Selection, select
from evidentia.solvers.descent import InterruptedFit

X = np.zeros((6, 1))


class Sketch(EvidentialClusterer):
    """An estimator with planned results: ``doubt[c]`` is the mass on the frame, or an exception to raise."""

    doubt: dict = param(ANYTHING, default=None, kw_only=False)
    n_clusters: int = param(Integer(low=1), default=2)
    random_state: int | None = param(SEED, default=None)
    ebic: dict | None = param(ANYTHING, default=None)

    @property
    def n_clusters_(self):
        return self.partition_.n_clusters

    def fit(self, X):
        plan = self.doubt[self.n_clusters]
        if isinstance(plan, BaseException) and not isinstance(plan, Warning):
            raise plan
        if isinstance(plan, str | Warning):
            warnings.warn(plan, stacklevel=2)
            plan = 0.01
        focal_sets = FocalSets(self.n_clusters, empty=False)
        masses = np.zeros((len(X), len(focal_sets)))
        masses[:, 0], masses[:, -1] = 1 - plan, plan
        self.partition_ = CredalPartition(masses, focal_sets)
        if self.ebic is not None:
            self.ebic_ = self.ebic[self.n_clusters]
        return self


class Crisp(Sketch):
    """The same with single clusters only."""

    def fit(self, X):
        focal_sets = FocalSets(self.n_clusters, "singletons", empty=False, omega=False)
        share = self.doubt[self.n_clusters] / (self.n_clusters - 1)
        masses = np.full((len(X), self.n_clusters), share)
        masses[:, 0] = 1 - self.doubt[self.n_clusters]
        self.partition_ = CredalPartition(masses, focal_sets)
        return self


Sketch.method = Method(name="sketch", title="", papers=(), guide="")  # afterwards, so that it is not listed


def test_the_largest_ebic_wins_and_the_table_holds_every_criterion():
    selection = select(X, Sketch({2: 0.1, 3: 0.2}, ebic={2: -9.0, 3: -7.0}), n_clusters=[2, 3])
    assert list(selection.table.columns) == [
        "method",
        "n_clusters",
        "bic",
        "ebic",
        "normalized_nonspecificity",
        "mpc",
        "seconds",
        "note",
    ]
    assert selection.criterion == "ebic"
    assert selection.best == ("Sketch", 3)
    assert selection.estimator_.n_clusters == 3
    assert selection.estimator_.partition_.n_clusters == 3
    np.testing.assert_allclose(selection.table["normalized_nonspecificity"], [0.1, 0.2])
    # pignistic: 0.95, 0.05 and 1 - 0.2 * 2/3 with the rest shared
    crisp = [1 - 2 * (1 - 0.95**2 - 0.05**2), 1 - 1.5 * (1 - (1 - 0.4 / 3) ** 2 - 2 * (0.2 / 3) ** 2)]
    np.testing.assert_allclose(selection.table["mpc"], crisp)
    assert (selection.table["seconds"] >= 0).all()
    assert selection.table["note"].tolist() == ["", ""]


def test_without_a_likelihood_the_smallest_nonspecificity_wins():
    selection = select(X, {"a": Sketch({2: 0.3, 4: 0.1}), "b": Sketch({2: 0.05, 4: 0.2})}, n_clusters=[2, 4])
    assert selection.criterion == "normalized_nonspecificity"
    assert selection.best == ("b", 2)
    assert selection.table["ebic"].isna().all()


def test_a_criterion_that_ignores_a_method_does_not_decide():
    mixed = [Sketch({2: 0.3, 3: 0.1}, ebic={2: 5.0, 3: 4.0}), Crisp({2: 0.2, 3: 0.05})]
    selection = select(X, mixed, n_clusters=[2, 3])
    assert selection.criterion == "mpc"
    assert selection.best == ("Crisp", 3)


def test_the_caller_chooses_the_criterion():
    plan = Sketch({2: 0.1, 3: 0.2}, ebic={2: -9.0, 3: -7.0})
    by_width = select(X, plan, n_clusters=[2, 3], criteria="normalized_nonspecificity")
    assert (by_width.criterion, by_width.best) == ("normalized_nonspecificity", ("Sketch", 2))
    assert "ebic" not in by_width.table
    by_rank = select(X, [plan, Crisp({2: 0.2, 3: 0.05})], n_clusters=[2, 3], criteria=["ebic"])
    assert (by_rank.criterion, by_rank.best) == ("ebic", ("Sketch", 3))


def test_a_fit_that_fails_is_a_row_with_a_note():
    selection = select(X, Sketch({2: 0.3, 3: RuntimeError("no luck"), 4: 0.1}), n_clusters=[2, 3, 4])
    assert selection.best == ("Sketch", 4)
    assert selection.table["note"].tolist() == ["", "RuntimeError: no luck", ""]
    assert selection.table.loc[1, ["ebic", "normalized_nonspecificity", "mpc"]].isna().all()


def test_a_warning_is_a_note_and_the_fit_still_counts():
    selection = select(X, Sketch({2: 0.3, 3: "Centers coincide. Ask for fewer."}), n_clusters=[2, 3])
    assert selection.table["note"].tolist() == ["", "Centers coincide"]
    assert selection.best == ("Sketch", 3)


def test_when_every_fit_fails_the_first_reason_is_told():
    with pytest.raises(
        ValueError, match=r"None of the 2 fits can be used. Sketch with 2 clusters: ValueError: NaN in X"
    ):
        select(X, Sketch({2: ValueError("NaN in X"), 3: ValueError("other")}), n_clusters=[2, 3])


def test_a_collapsed_mixture_never_wins():
    class Collapsing(Sketch):
        def fit(self, X):
            super().fit(X)
            self.collapsed_ = self.n_clusters == 3
            return self

    selection = select(X, Collapsing({2: 0.1, 3: 0.0}, ebic={2: -9.0, 3: 200.0}), n_clusters=[2, 3])
    assert selection.best == ("Collapsing", 2)
    assert selection.table.loc[1, ["ebic", "normalized_nonspecificity", "mpc"]].isna().all()


@pytest.mark.parametrize("how", [KeyboardInterrupt(), InterruptedFit("stopped in start 3")])
def test_an_interrupt_keeps_the_rows_so_far(how):
    plan = Sketch({2: 0.3, 3: 0.2, 4: how, 5: 0.01})
    with pytest.warns(InterruptedFit, match=r"select was interrupted after [23] of 4 fits; the table holds those"):
        selection = select(X, plan, n_clusters=[2, 3, 4, 5])
    stopped = isinstance(how, KeyboardInterrupt)
    assert selection.table["n_clusters"].tolist() == ([2, 3] if stopped else [2, 3, 4])
    assert selection.best == ("Sketch", 3 if stopped else 4)


def test_an_interrupt_before_any_result_goes_through():
    with pytest.raises(KeyboardInterrupt):
        select(X, Sketch({2: KeyboardInterrupt()}), n_clusters=2)


def test_every_fit_gets_the_seed_and_the_callers_estimator_is_left_alone():
    plan = Sketch({2: 0.3, 3: 0.2})
    assert select(X, plan, n_clusters=[2, 3], random_state=7).estimator_.random_state == 7
    drawn = [
        select(X, plan, n_clusters=3, random_state=np.random.RandomState(5)).estimator_.random_state for _ in range(2)
    ]
    assert drawn[0] == drawn[1] != 5
    assert plan.random_state is None
    assert plan.n_clusters == 2
    assert not hasattr(plan, "partition_")
    kept = Sketch({2: 0.3}, random_state=11)
    assert select(X, kept, n_clusters=2).estimator_.random_state == 11


def test_print_marks_the_best_and_tells_the_notes():
    plan = Sketch({2: 0.25, 3: RuntimeError("no luck")}, ebic={2: -55.93})
    text = str(select(X, {"mine": plan}, n_clusters=[2, 3]))
    head, best, failed, words, note = text.splitlines()
    assert head.split() == ["method", "n_clusters", "ebic", "normalized_nonspecificity", "mpc", "seconds"]
    assert best.split()[:6] == ["*", "mine", "2", "-55.9", "0.250", "0.562"]
    assert failed.split()[:5] == ["mine", "3", "-", "-", "-"]
    assert words == "Best: mine with 2 clusters, by largest EBIC (-55.9)."
    assert note == "mine, 3 clusters: RuntimeError: no luck"


def test_columns_that_never_apply_are_not_printed():
    text = str(select(X, Crisp({2: 0.2, 3: 0.05}), n_clusters=[2, 3]))
    assert text.splitlines()[0].split() == ["method", "n_clusters", "mpc", "seconds"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": "kmeanz"}, "There is no method 'kmeanz'; did you mean 'cop-kmeans'"),
        ({"methods": []}, "'methods' must hold at least one method"),
        ({"methods": [Sketch({}), Sketch({})]}, "Two methods are called 'Sketch'. Give a dict to name them apart"),
        ({"methods": Sketch({}), "n_clusters": []}, "'n_clusters' must hold at least one number"),
        (
            {"methods": Sketch({}), "criteria": "aic"},
            "must name some of 'bic', 'ebic', 'normalized_nonspecificity', 'mpc'. Got 'aic'",
        ),
        ({"methods": Sketch({}), "criteria": []}, "must name some of .* Got \\[\\]"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        select(X, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, None), r"^'methods' of select must be the short name of a method, .* Got None\.$"),
        ((X, FCM), r"Got the class FCM\. Give an estimator of it: FCM\(\)\.$"),
        ((X, ["egmm", 3]), r"^'methods' of select must be .* Got 3\.$"),
        ((X, {"mine": FCM}), r"^'methods' of select must be .* FCM\(\)\.$"),
        (
            (FCM(2), X),
            r"^select takes the table before the methods, and X is an estimator\. Write select\(X, FCM\(\)\)",
        ),
    ],
)
def test_what_is_no_method_is_refused_by_the_name_of_the_argument(arguments, message):
    with pytest.raises(TypeError, match=message):
        select(*arguments)


def test_egmm_on_the_diamond_set():
    data = make_diamond().data
    paper = EGMM(2, model="EEE", focal_sets="full", prior=None, init="k-means", n_init=10, random_state=0)
    selection = select(data, {"egmm": paper}, n_clusters=[2, 3, 4])
    assert selection.best == ("egmm", 2)
    assert selection.table.loc[0, "ebic"] == pytest.approx(-55.9, abs=0.1)
    alone = paper.fit(data)
    np.testing.assert_array_equal(selection.estimator_.partition_.masses, alone.partition_.masses)


@pytest.mark.parametrize(
    ("method", "decides"),
    [
        ("egmm", "bic"),
        ("ecm", "normalized_nonspecificity"),
        ("fcm", "mpc"),
        ("noise", "mpc"),
        ("gustafson-kessel", "mpc"),
    ],
)
def test_every_named_method_is_there_and_judged_by_its_own_criterion(method, decides):
    centers = np.array([[0, 0], [0, 9], [9, 0]])
    data = np.repeat(centers, 30, axis=0) + np.random.default_rng(1).normal(size=(90, 2))
    selection = select(data, method, n_clusters=[2, 3, 4], random_state=0)
    assert (selection.criterion, selection.best) == (decides, (method, 3))


@pytest.fixture(scope="module")
def three_groups():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(at, 0.6, size=(14, 2)) for at in ([0, 0], [7, 0], [0, 7])])


RELATIONAL = [
    name for name, cls in clusterers().items() if "dissimilarities" in cls.method.reads and name != "nnevclus"
]
NUMBERED = [name for name, cls in clusterers().items() if "given" in cls.method.number and "table" in cls.method.reads]
NUMBERED.remove("nnevclus")  # it needs PyTorch, which not everyone has: see the tests of the networks


@pytest.mark.parametrize("name", NUMBERED)
def test_every_method_tries_every_number(three_groups, name):
    quick = {key: value for key, value in find(name).method.quick.items() if key != "n_clusters"}
    selection = select(three_groups, {name: find(name)(**quick)}, n_clusters=[2, 3], random_state=0)
    assert selection.table["n_clusters"].tolist() == [2, 3]
    criteria = selection.table[["normalized_nonspecificity", "mpc"]]
    assert criteria.notna().any(axis=1).all(), selection.table["note"].tolist()
    assert selection.estimator_.partition_.n_clusters == selection.best[1]


def test_answers_of_a_questionnaire_can_be_selected():
    rng = np.random.default_rng(0)
    answers = np.where(rng.random((60, 5)) < 0.9, np.repeat([0, 1], 30)[:, None], 2)
    selection = select(answers.astype(str), "latent-class", n_clusters=[1, 2], random_state=0)
    assert (selection.best, selection.criterion) == (("latent-class", 2), "bic")


def test_a_method_that_finds_its_number_has_one_row(three_groups):
    selection = select(three_groups, ["eknnclus", "evclus"], n_clusters=[2, 3], random_state=0)
    rows = selection.table[["method", "n_clusters"]].to_numpy().tolist()
    found = evidentia.EkNNclus(random_state=0).fit(three_groups).n_clusters_
    assert rows == [["eknnclus", found], ["evclus", 2], ["evclus", 3]]


@pytest.mark.parametrize("name", RELATIONAL)
def test_dissimilarities_serve_every_method_that_takes_them(three_groups, name):
    D = cdist(three_groups, three_groups)
    selection = select(D, name, n_clusters=[3], metric="precomputed", random_state=0)
    # A function, as a method may do other things with points in a space than with objects.
    direct = select(three_groups, name, n_clusters=[3], metric=euclidean, random_state=0)
    assert selection.estimator_.metric == "precomputed"
    masses = selection.estimator_.partition_.masses
    np.testing.assert_allclose(masses, direct.estimator_.partition_.masses, atol=1e-6)


def test_a_metric_for_a_method_without_one_is_refused(three_groups):
    with pytest.raises(ValueError, match=r"fcm has no metric to choose. Leave it out"):
        select(three_groups, ["evclus", "fcm"], metric="precomputed")


def test_ebic_of_a_mixture_without_sets_is_half_its_bic(three_groups):
    selection = select(three_groups, ["gmm", "egmm"], n_clusters=[3], random_state=0)
    assert selection.criterion == "bic"
    gmm = evidentia.ParsimoniousGaussianMixture(3, random_state=0).fit(three_groups)
    assert selection.table.loc[0, "ebic"] == pytest.approx(gmm.selection_["bic"].max() / 2)
    boot = select(three_groups, evidentia.BootGMM(n_boot=30), n_clusters=[3], random_state=0)
    assert boot.table.loc[0, "ebic"] == pytest.approx(gmm.selection_["bic"].max() / 2)


def test_fits_that_all_collapsed_are_no_answer():
    X = np.random.default_rng(0).normal(size=(8, 6))  # 3 full covariances need more objects
    model = ParsimoniousGaussianMixture(cluster_range=(3, 4), model="VVV", random_state=0)
    with pytest.warns(UserWarning, match="collapsed in every start"):
        model.fit(X)
    assert model.collapsed_
    for partition in (model.partition_, model.predict_partition(X)):
        assert partition.no_answer.startswith("ParsimoniousGaussianMixture collapsed: a cluster shrank onto a few")
        assert "Ask for fewer clusters" in partition.no_answer
        assert "assigned to one cluster" not in partition.summary()
    said = str(Selection.of_model(model))
    assert "None of them is an answer" in said
    assert "Best" not in said
    assert "*" not in said


def test_the_choice_names_what_came_next_by_the_direction_of_the_criterion():
    table = pd.DataFrame(
        {"method": ["ecm", "ecm", "fcm"], "n_clusters": [2, 3, 2], "normalized_nonspecificity": [0.4, 0.2, 0.3]}
    )
    said = Selection(table, "normalized_nonspecificity", ("ecm", 3), None).choice
    assert said.startswith("Best: ecm with 3 clusters, by smallest ")
    assert " (0.200); next best: fcm with 2 clusters (0.300). " in said
    assert "next" not in Selection(table[1:2], "normalized_nonspecificity", ("ecm", 3), None).choice


def test_the_choice_says_when_it_is_at_an_end_or_nearly_none():
    level = pd.DataFrame({"method": "ecm", "n_clusters": [2, 3, 4], "normalized_nonspecificity": [0.4, 0.2004, 0.2001]})
    said = Selection(level, "normalized_nonspecificity", ("ecm", 4), None).choice
    assert said.endswith(
        "next best: 3 clusters (0.200). Nonspecificity N* hardly tells the two apart. "
        "4 is the largest number tried: more may be better."
    )
    level.loc[2, "normalized_nonspecificity"] = 0.3
    assert Selection(level, "normalized_nonspecificity", ("ecm", 3), None).choice.endswith("4 clusters (0.300).")


def test_the_choice_of_a_model_is_its_own_row_and_what_was_passed_over_is_not_next():
    tried = pd.DataFrame(
        {
            "model": ["EII", "VVV", "VEV", "VVV", "EEE"],
            "n_clusters": [1, 2, 2, 3, 3],
            "ebic": [-50.0, -10.0, -12.0, -11.0, -13.25],
            "note": ["first look", "two clusters in one place", "", "two clusters in one place", "first look"],
        }
    )
    model = SimpleNamespace(selection_=tried, select_by="ebic", attributes=["model_"], model_="VEV", n_clusters_=2)
    selection = Selection.of_model(model)
    assert selection.table["model"].tolist() == ["EII", "VEV", "EEE"]
    assert selection.choice == (
        "Best: SimpleNamespace with 2 clusters, VEV, by EBIC (-12.0); higher EBIC, but set aside (two clusters in one "
        "place): 2 clusters, VVV (-10.0) and 3 clusters, VVV (-11.0); next best: 3 clusters, EEE (-13.2)."
    )
    assert str(selection).splitlines()[-1] == selection.choice
    tried.loc[0, ["ebic", "note"]] = [-11.5, "barely better, with fewer clusters"]
    level = Selection.of_model(model)
    assert level.choice == (
        "Best: SimpleNamespace with 2 clusters, VEV, by EBIC (-12.0); higher EBIC, but set aside (two clusters in one "
        "place): 2 clusters, VVV (-10.0) and 3 clusters, VVV (-11.0); barely better: 1 cluster, EII (-11.5)."
    )


def blobs_with_stragglers(seed, stragglers=0):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    blobs = [rng.normal(rng.normal(0, 2.5, 2), 1, size=(int(rng.integers(20, 60)), 2)) for _ in range(count)]
    return np.vstack([*blobs, rng.normal(0, 0.3, size=(stragglers, 2)) + 15])


FAITHFUL = [
    load("iris").data,
    *(blobs_with_stragglers(seed) for seed in range(4)),
    *(blobs_with_stragglers(seed, stragglers=3) for seed in range(4)),
]


@pytest.mark.parametrize("X", FAITHFUL, ids=range(len(FAITHFUL)))
def test_select_and_the_fit_of_egmm_alone_take_the_same_number(X):
    alone = EGMM(cluster_range=(1, 6), random_state=0).fit(X)
    selection = select(X, "egmm", n_clusters=range(1, 7), random_state=0)
    assert selection.best == ("egmm", alone.n_clusters_)
    assert selection.estimator_.model_ == alone.model_
    tried = selection.table.set_index("n_clusters")
    assert tried["bic"][alone.n_clusters_] == pytest.approx(alone.bic_, abs=1e-6)
    assert tried["ebic"][alone.n_clusters_] == pytest.approx(alone.ebic_, abs=1e-6)


def test_some_of_these_tables_have_a_higher_bic_that_is_set_aside_or_an_ebic_that_disagrees():
    """Else the test above says little."""
    aside = disagree = 0
    for X in FAITHFUL:
        table = select(X, "egmm", n_clusters=range(2, 6), random_state=0).table
        highest = table["n_clusters"][table["bic"].idxmax()]
        aside += "fewer than 5 objects" in table["note"][table["bic"].idxmax()]
        disagree += highest != table["n_clusters"][table["ebic"].idxmax()]
    assert aside
    assert disagree


@pytest.mark.parametrize("X", FAITHFUL, ids=range(len(FAITHFUL)))
def test_the_sentence_about_the_choice_is_true_of_the_numbers_beside_it(X):
    model = EGMM(cluster_range=(1, 6), random_state=0).fit(X)
    own, tried = Selection.of_model(model), select(X, "egmm", n_clusters=range(1, 7), random_state=0)
    kept = own.table.set_index("n_clusters").loc[model.n_clusters_]
    assert (kept["model"], kept["bic"]) == (model.model_, model.bic_)
    assert not kept["note"] or model.flaw_ in kept["note"]
    for selection in (own, tried):
        value = selection.table.set_index("n_clusters")["bic"][selection.best[1]]
        above = [*selection.table["bic"], *(() if selection is tried else model.selection_["bic"])]
        assert ("by largest BIC" in selection.choice) == (max(above) <= value)
        for what, numbers in re.findall(r"; ([a-z ]+)(?: \([^:]*\))?: ([^;]*)", selection.choice):
            others = [float(number) for number in re.findall(r"\((-?[\d.]+)", numbers)]
            assert others
            assert all((other > value - 0.05) == (what != "next best") or abs(other - value) < 0.1 for other in others)


def test_several_views_are_one_table_to_select():
    _, views = three_views(160)
    for given in (views, list(views.values())):
        found = select(given, WMVEC(lam=1.0), n_clusters=range(2, 6), random_state=0)
        assert found.best == ("WMVEC", 4)
        np.testing.assert_allclose(found.estimator_.view_weights_, 1 / 3, atol=0.02)
    # Two clusters are what one view says alone, and it takes the weight where that may be uneven.
    uneven = select(views, WMVEC(lam=0.1), n_clusters=[2, 4], random_state=0)
    assert uneven.best == ("WMVEC", 2)
    assert uneven.estimator_.view_weights_.max() > 0.9
    assert select(distances(views), "mecmdd", n_clusters=[2, 3, 4], random_state=0).best == ("mecmdd", 4)
    notes = select(views, ["wmvec", "ecm"], n_clusters=2, random_state=0).table["note"]
    assert "Give ECM a table" in notes[1]
