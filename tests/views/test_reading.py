"""Views in whatever form they come are the same views."""

import warnings

import anndata
import numpy as np
import pandas as pd
import polars
import pytest
from tests.views.made_views import three_views

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own dependencies
    import mudata

from evidentia import WMVEC, MECMdd, tl
from evidentia.belief import FocalSets
from evidentia.partition import CredalPartition
from evidentia.views import conflict_between_views, read_views

_, VIEWS = three_views(40)
NAMES = [f"o{i}" for i in range(40)]
WIDE = pd.concat({name: pd.DataFrame(view, columns=list("xyz"), index=NAMES) for name, view in VIEWS.items()}, axis=1)
FLAT = WIDE.set_axis([f"{view}{column}" for view, column in WIDE.columns], axis=1)
COLUMNS = {view: [f"{view}{column}" for column in "xyz"] for view in "abc"}


def same(found, names=("a", "b", "c")):
    assert found.names == names
    for table, wanted in zip(found.tables, VIEWS.values()):
        np.testing.assert_array_equal(np.asarray(table), wanted)


def test_lists_dicts_and_arrays():
    same(read_views(VIEWS, who="me"))
    same(read_views(list(VIEWS.values()), who="me"), ("0", "1", "2"))
    same(read_views(tuple(view.tolist() for view in VIEWS.values()), who="me"), ("0", "1", "2"))
    same(read_views(np.array(list(VIEWS.values())), who="me"), ("0", "1", "2"))
    same(read_views(list(VIEWS.values()), ["a", "b", "c"], who="me"))
    assert read_views(VIEWS, ["c", "a"], who="me").names == ("c", "a")


def test_groups_of_columns():
    found = read_views(WIDE, who="me")
    same(found)
    assert found.object_names == tuple(NAMES)
    assert found.columns[0] == ("x", "y", "z")
    same(read_views(FLAT, COLUMNS, who="me"))
    same(read_views(FLAT.to_numpy(), {"a": [0, 1, 2], "b": range(3, 6), "c": [6, 7, 8]}, who="me"))
    assert read_views(FLAT, {"one": "ax", "two": ["by"]}, who="me").tables[0].shape == (40, 1)


def test_tables_of_other_packages():
    same(read_views({name: polars.DataFrame(view) for name, view in VIEWS.items()}, who="me"))


def test_anndata_and_mudata():
    adata = anndata.AnnData(WIDE["a"].copy())
    adata.obsm["X_b"], adata.layers["more"] = VIEWS["b"], VIEWS["c"]
    same(read_views(adata, ["X", "X_b", "more"], who="me"), ("X", "X_b", "more"))
    with pytest.raises(
        ValueError, match=r"'views' parameter of me must name several parts of an AnnData object: 'X', "
    ):
        read_views(adata, who="me")
    adata.obsp["one"] = np.abs(VIEWS["a"][:, :1] - VIEWS["a"][:, 0])
    adata.obsp["two"] = np.abs(VIEWS["b"][:, :1] - VIEWS["b"][:, 0])
    model = MECMdd(2, views=["one", "two"], random_state=0).fit(adata)
    assert model.partition_.object_names == tuple(NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mdata = mudata.MuData({name: anndata.AnnData(WIDE[name].iloc[k:].copy()) for k, name in enumerate("abc")})
    model = WMVEC(4, random_state=0, n_init=2).fit(mdata)
    assert model.view_names_ == ["a", "b", "c"]
    assert len(model.labels_) == 40
    frames = {name: WIDE[name].iloc[k:] for k, name in enumerate("abc")}
    wanted = WMVEC(4, random_state=0, n_init=2).fit(frames)
    np.testing.assert_allclose(model.partition_.masses, wanted.partition_.masses, atol=1e-12)
    np.testing.assert_allclose(model.predict_partition(mdata).masses, wanted.partition_.masses, atol=1e-12)
    tl.wmvec(adata, 4, views=["X", "X_b", "more"], random_state=0)
    assert adata.uns["wmvec"]["use_rep"] == "X, X_b, more"
    assert adata.obs["wmvec_cluster"].nunique() == 4


@pytest.mark.parametrize(
    ("X", "views", "message"),
    [
        (FLAT, {"one": ["ax"], "two": ["nn"]}, r"must name columns of X, but view 'two' asks for 'nn'\. There is 'ax'"),
        (FLAT.to_numpy(), {"one": [0], "two": [9]}, r"view 'two' asks for 9\. There is 0, 1, 2, 3, 4 …\."),
        (VIEWS, ["a", "d"], r"must name views of X, 'a', 'b', 'c'\. Got 'd'\."),
        (list(VIEWS.values()), ["a"], r"must name the 3 tables of X, one word for each\. Got \['a'\]\."),
    ],
)
def test_views_that_are_not_there_are_refused(X, views, message):
    with pytest.raises(ValueError, match=message):
        read_views(X, views, who="me")


def test_views_as_a_parameter_hold_for_new_objects_too():
    model = WMVEC(4, views=COLUMNS, random_state=0, n_init=2).fit(FLAT)
    wanted = WMVEC(4, random_state=0, n_init=2).fit(VIEWS)
    np.testing.assert_allclose(model.partition_.masses, wanted.partition_.masses, atol=1e-12)
    np.testing.assert_allclose(model.predict_partition(FLAT[:5]).masses, wanted.partition_.masses[:5], atol=1e-12)
    np.testing.assert_allclose(
        WMVEC(4, random_state=0, n_init=2).fit(WIDE).predict_partition(WIDE[:5]).masses,
        wanted.partition_.masses[:5], atol=1e-12,
    )  # fmt: skip


def test_conflict_by_hand():
    sets = FocalSets(3, [(), {0}, {1}, {2}, {0, 1}])
    first = CredalPartition([[0.0, 0.5, 0.1, 0.0, 0.4], [0.9, 0.1, 0.0, 0.0, 0.0], [0.0, 0.1, 0.2, 0.7, 0.0]], sets)
    second = CredalPartition([[0.0, 0.1, 0.6, 0.3, 0.0], [0.8, 0.0, 0.2, 0.0, 0.0], [0.7, 0.2, 0.1, 0.0, 0.0]], sets)
    # plausible: (.9, .5, 0; none 0) against (.1, .6, .3; 0): cluster 1 by 5/9 and 1, cluster 0 by 1 and 1/6;
    # both say none; (.1, .2, .7; 0) against (.2, .1, 0; .7): cluster 0 by 1/7 and 2/7, cluster 1 by 2/7 and 1/7
    np.testing.assert_allclose(conflict_between_views([first, second]), [1 - 5 / 9, 0, 1 - 1 / 7])
    assert not conflict_between_views([first, first]).any()
    with pytest.raises(ValueError, match="needs at least one partition"):
        conflict_between_views([])


def test_a_table_with_names_and_one_without_are_refused():
    named = pd.DataFrame({"x": [1.0, 2.0]}, index=["ann", "bob"])
    with pytest.raises(
        ValueError, match="The objects of view 'a' of me have names, such as 'ann', and those of view 'b'"
    ):
        read_views({"a": named, "b": named.reset_index(drop=True)}, who="me")
    assert read_views({"a": named, "b": named.to_numpy()}, who="me").object_names == ("ann", "bob")
