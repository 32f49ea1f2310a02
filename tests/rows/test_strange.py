"""New rows that are unlike the fitted ones are counted and named; ordinary ones are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

from evidentia import ECM, EGMM, WMVEC, CatECM, LatentClassMixture, LatentProfileMixture, load_model
from evidentia.rows.scan import ranges_of
from evidentia.rows.strange import BEYOND, StrangeRows, outside_by


@pytest.fixture(scope="module")
def quakes():
    rng = np.random.default_rng(0)
    near, far = rng.normal([40, 4.5], [8, 0.4], (60, 2)), rng.normal([500, 5], [60, 0.5], (60, 2))
    return pd.DataFrame(np.vstack([near, far]), columns=["depth", "mag"])


@pytest.mark.parametrize("seed", range(5))
def test_how_far_outside_is_measured_in_widths_of_the_range(seed):
    rng = np.random.default_rng(seed)
    fitted, new = rng.normal(size=(20, 3)), 4 * rng.normal(size=(30, 3))
    found = outside_by(new, ranges_of(fitted))
    for i, row in enumerate(new):
        for j, x in enumerate(row):
            low, high = fitted[:, j].min(), fitted[:, j].max()
            assert found[i, j] == pytest.approx(max(x - high, low - x, 0) / (high - low))


def test_a_constant_column_is_not_looked_at():
    ranges = ranges_of(np.array([[1.0], [1.0]]))
    assert outside_by(np.array([[1.0], [1.1], [np.nan]]), ranges).ravel().tolist() == [0, 0, 0]


@pytest.mark.parametrize("model", [EGMM(2, random_state=0), ECM(2, random_state=0)])
def test_rows_in_another_unit_are_counted(quakes, model, tmp_path):
    model.fit(quakes)
    meters = quakes.assign(depth=quakes["depth"] * 1000).iloc[:6]
    words = rf"{type(model).__name__}: 6 of 6 rows lie far outside .*"
    words += r"\(column 'depth': [\d.]+ to [\d.]+, fitted [\d.]+ to 6\d\d"
    with pytest.warns(StrangeRows, match=words):
        found = model.predict_partition(meters)
    assert found.kind_counts["outlier"] == (6 if model.method.empty_set else 0)
    with pytest.warns(StrangeRows, match="6 of 6"):
        load_model(model.save(tmp_path / "model.npz")).predict(meters)
    with pytest.warns(StrangeRows, match=r"1 of 3 rows .*column 'mag': 99 to 99"):
        model.predict(quakes.iloc[:3].assign(mag=[4.0, 99.0, 5.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(quakes)
        width = quakes.max() - quakes.min()
        model.predict(pd.DataFrame([quakes.max() + 0.99 * BEYOND * width]))


def test_missing_entries_are_not_strange(quakes):
    model = EGMM(2, random_state=0).fit(quakes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(pd.DataFrame({"depth": [np.nan, 50.0], "mag": [4.5, np.nan]}))
    with pytest.warns(StrangeRows, match="1 of 2 rows"):
        model.predict(pd.DataFrame({"depth": [np.nan, 50.0], "mag": [45.0, np.nan]}))


@pytest.mark.parametrize("make", [LatentProfileMixture, CatECM])
def test_unknown_categories_and_numbers_far_out_are_named(make):
    rng = np.random.default_rng(1)
    kind = np.repeat(["a", "b"], 40)
    table = pd.DataFrame({"island": kind, "size": rng.normal(np.where(kind == "a", 5, 12), 1.0)})
    model = make(2, n_init=2, random_state=0).fit(table)
    with pytest.warns(StrangeRows, match=r"1 of 2 rows have categories .*\(first: row 1, column 'island': 'Mars'\)"):
        model.predict(pd.DataFrame({"island": ["a", "Mars"], "size": [5.0, 12.0]}))
    with pytest.warns(StrangeRows, match=r"2 of 2 rows lie far outside .*column 'size': 500 to 900"):
        model.predict(pd.DataFrame({"island": ["a", "b"], "size": [500.0, 900.0]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(table)


def test_a_latent_class_mixture_that_leaves_unknown_categories_out_names_them():
    table = np.array([["x", "u", "p"], ["y", "v", "q"]] * 10, dtype=object)
    model = LatentClassMixture(2, n_init=2, random_state=0, handle_unknown="missing").fit(table)
    with pytest.warns(StrangeRows, match=r"1 of 1 rows have categories .*column 0: 'z'"):
        model.predict(np.array([["z", "u", "p"]], dtype=object))


def test_each_view_has_ranges_of_its_own():
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(60, 2)), "b": 100 + rng.normal(size=(60, 3))}
    model = WMVEC(2, random_state=0).fit(views)
    model.predict({"a": views["a"][:5], "b": views["b"][:5]})  # a warning would be an error
    with pytest.warns(StrangeRows, match="2 of 2 rows lie far outside"):
        model.predict({"a": views["a"][:2], "b": views["b"][:2] - 50})


def test_a_table_without_columns_has_no_ranges():
    found = ranges_of(np.empty((60, 0)))
    assert (found.low.shape, found.high.shape, found.finite) == ((0,), (0,), True)
