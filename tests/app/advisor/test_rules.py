"""From a look at a table to a method, its columns, scale and settings, each with its reason."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import evidentia
from evidentia import LatentClassMixture, LatentProfileMixture, methods
from evidentia.app.advisor import fit_number, numbers_to_try, profile_table, recommend
from evidentia.app.advisor.rules import number_settings, unit_settings

RNG = np.random.default_rng(8)
TRUTH = np.repeat([0, 1], 30)


def table(**columns):
    """Two columns of numbers in two groups, and what is asked for."""
    return pd.DataFrame({"u": RNG.normal(size=60) + 8 * TRUTH, "v": RNG.normal(size=60) - 6 * TRUTH, **columns})


COLORS = np.where(TRUTH, "red", "blue")
FLAG = TRUTH ^ (np.arange(60) % 7 == 0)
FEW = np.arange(60) % 4 + TRUTH


@pytest.mark.parametrize(
    ("frame", "linked", "method"),
    [
        (table(), False, "egmm"),
        (table(w=FEW), False, "egmm"),  # whole numbers of few values, beside numbers
        (table(w=COLORS, x=FEW), False, "latent-profile"),
        (table(w=FLAG), False, "latent-profile"),  # two values are a category
        (pd.DataFrame({"a": COLORS, "b": np.roll(COLORS, 1)}), False, "latent-class"),
        (pd.DataFrame({"a": FLAG, "b": FEW}), False, "latent-class"),
        (table(), True, "cecm"),
        (table(w=COLORS, x=FEW), True, "cevclus"),
        (pd.DataFrame(RNG.normal(size=(60, 25))).assign(w=FLAG), False, "egmm"),  # wide: components dissolve it
        (pd.DataFrame(RNG.normal(size=(60, 25))).assign(w=COLORS, x=1.5 * FEW), False, "latent-profile"),
    ],
)
def test_the_method_follows_the_kinds_of_columns(frame, linked, method):
    choice = recommend(frame, linked=linked)
    assert choice.method == method
    assert list(choice.columns) == [str(name) for name in frame.columns]
    assert methods.find(method).__name__ in choice.reasons["method"]


def test_categories_reach_the_method_as_such():
    choice = recommend(table(w=COLORS, x=FLAG, y2=FEW))
    assert choice.categories == ("w", "x")
    assert choice.settings == {"numbers": ["u", "v", "y2"]}
    assert choice.reasons["scale"] == ""
    assert "standard deviation" in recommend(table(w=COLORS, x=FEW), method="catecm").reasons["scale"]
    assert choice.rows(table(w=COLORS, x=FLAG, y2=FEW)).dtypes.astype(str).to_dict() == {
        "u": "float64", "v": "float64", "w": "category", "x": "category", "y2": "float64",
    }  # fmt: skip


def test_a_method_that_is_asked_for_reads_what_it_can():
    frame = table(w=COLORS, x=FEW)
    assert recommend(frame, method="ecm").columns == ("u", "v", "x")
    assert recommend(frame, method="ecm").left_out == {"w": "text, of which ecm reads none; evclus does"}
    assert recommend(frame, method="latent-class").columns == ("w", "x")
    assert recommend(frame, method="latent-class").left_out == dict.fromkeys(
        "uv", "numbers, of which latent-class reads none"
    )
    assert recommend(frame, method="eknnclus").settings == {"metric": "gower"}
    assert "method" not in recommend(frame, method="eknnclus").reasons


@pytest.mark.parametrize(
    ("factor", "scale", "reason"),
    [
        ([1.0, 2.9], "none", "Spreads differ 2.9 times, no more than 3: columns stay in their units."),
        ([1.0, 3.5], "standard", "Spreads differ 3.5 times, more than 3: columns are standardized."),
        ([1.0, 4000.0], "standard", "Spreads differ 4,000 times, more than 3: columns are standardized."),
    ],
)
def test_scale(factor, scale, reason):
    rows = np.linspace(-1, 1, 50)[:, None] ** [1, 3]
    frame = pd.DataFrame(rows / rows.std(axis=0) * factor, columns=["a", "b"])
    assert (recommend(frame).scale, recommend(frame).reasons["scale"]) == (scale, reason)
    assert recommend(frame, scale="robust").scale == "robust"
    assert "scale" not in recommend(frame, scale="robust").reasons


def test_columns_measured_on_one_scale_stay_in_it():
    pixels = RNG.integers(0, 17, (200, 8)).astype(float)
    pixels[:, :3] = RNG.integers(0, 9, (200, 3)) * (RNG.random((200, 3)) < 0.06)
    assert profile_table(pixels).spread_ratio > 3
    assert recommend(pixels).scale == "none"
    assert "but most columns reach both ends of one range" in recommend(pixels).reasons["scale"]


def test_settings_of_egmm():
    wide = pd.DataFrame(RNG.normal(size=(100, 30)))
    assert unit_settings(profile_table(wide), "auto") == (
        {"reduce": "pca"},
        "30 columns are many for 100 rows: principal components, those that say more than noise.",
    )
    wide.iloc[3, 4] = np.nan
    assert unit_settings(profile_table(wide), "auto") == (
        {},
        "30 columns are many for 100 rows, but a table with missing values is not reduced.",
    )
    assert unit_settings(profile_table(table()), "auto") == ({}, "")
    assert unit_settings(profile_table(wide.fillna(0.0)), "none")[0] == {"reduce": "pca", "standardize": False}
    assert unit_settings(profile_table(table()), "standard") == ({}, "")
    assert unit_settings(profile_table(table()), "none") == ({"standardize": False}, "")


def test_many_rows_are_compared_with_some_others():
    frame = pd.concat([table(w=COLORS, x=FEW)] * 9, ignore_index=True)
    choice = recommend(frame, method="evclus")
    assert choice.settings == {"metric": "gower", "n_pairs": 100}
    assert "540 rows is compared with 100 others" in choice.reasons["n_pairs"]
    assert choice.with_settings(n_pairs=None).reasons.keys() == choice.reasons.keys() - {"n_pairs"}


def test_a_square_of_dissimilarities():
    points = table().to_numpy()
    square = np.abs(points[:, None] - points).sum(axis=2)
    choice = recommend(square)
    assert (choice.method, choice.settings) == ("evclus", {"metric": "precomputed"})
    assert adjusted_rand_score(TRUTH, choice.fit(square, 2, random_state=0).labels_) == 1
    assert recommend(square, linked=True).method == "cevclus"
    assert recommend(square, square=False).method == "egmm"
    assert recommend(square, method="ecm").settings == {}


def test_choices_are_fitted_and_place_new_rows():
    frame = table(w=COLORS, x=FEW)
    choice = evidentia.recommend(frame)
    model = choice.fit(frame, 2, random_state=0)
    assert isinstance(model, LatentProfileMixture)
    np.testing.assert_array_equal(model.predict(choice.prepare(frame)), model.labels_)
    assert adjusted_rand_score(TRUTH, model.labels_) == 1
    numbers = table() * [1, 5]
    choice = recommend(numbers)
    model = choice.fit(numbers, (1, 3), model="EEE", random_state=0)
    assert (choice.scale, model.n_clusters_, model.model) == ("standard", 2, "EEE")
    np.testing.assert_array_equal(model.predict(choice.prepare(numbers.iloc[[0, 59]])), model.labels_[[0, 59]])
    np.testing.assert_allclose(choice.prepare(numbers).std(ddof=0), 1)
    with pytest.raises(ValueError, match=r"The table has no column 'v', which was clustered\. It has u\."):
        choice.prepare(numbers[["u"]])


def test_categories_alone_are_latent_classes():
    frame = pd.DataFrame({"a": COLORS, "b": FLAG, "c": FEW, "d": np.where(TRUTH, "x", "y")})
    model = recommend(frame).fit(frame, random_state=0)
    assert isinstance(model, LatentClassMixture)
    assert adjusted_rand_score(TRUTH, model.labels_) == 1


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (
            pd.DataFrame({"a": [3.0] * 12, "b": ["x"] * 12}),
            {},
            "Every column is constant, so nothing tells the rows apart (a: always 3.0; b: always x).",
        ),
        (pd.DataFrame({"a": [f"o{i}" for i in range(12)]}), {}, "No column is left to cluster (a: names every row)."),
        (pd.DataFrame({"a": COLORS, "b": COLORS}), {"method": "egmm"}, "egmm reads numbers, and all columns are"),
        (table(), {"method": "latent-class"}, "latent-class reads categories, and all columns are numbers (u, v)"),
        (table(), {"method": "egm"}, "There is no method 'egm'; did you mean 'egmm'?"),
        (table(w=COLORS, x=FEW), {"scale": "standard"}, "'standard' is for columns of numbers, and 'w' holds categor"),
    ],
)
def test_tables_without_a_choice(frame, options, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        recommend(frame, **options)


def test_numbers_of_clusters_to_try():
    egmm, ecm, found = (methods.find(name) for name in ("egmm", "ecm", "eknnclus"))
    assert numbers_to_try(egmm(), (2, 5)) is None
    assert numbers_to_try(ecm(), (2, 5)) == range(2, 6)
    assert numbers_to_try(ecm(), None) == range(2, 7)
    assert numbers_to_try(ecm(), 4) is None
    assert numbers_to_try(found(), None) is None
    assert number_settings(egmm, (2, 5)) == {"n_clusters": "auto", "cluster_range": (2, 5)}
    assert number_settings(ecm, (2, 5)) == {}
    assert number_settings(ecm, 5) == {"n_clusters": 5}


def test_one_fit_or_several():
    frame = table()
    model, selection = fit_number(methods.find("ecm")(random_state=0), frame, (2, 3))
    assert selection.table["n_clusters"].tolist() == [2, 3]
    assert model.n_clusters_ == 2
    model, selection = fit_number(methods.find("ecm")(2, random_state=0), frame, 2)
    assert (model.n_clusters_, selection) == (2, None)
