"""Tables of other packages give the partition that the same numbers give, with the names of rows and columns."""

import warnings

import anndata
import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import scipy.sparse
import xarray
from tests.test_every_estimator import CLUSTERERS, EXPORTED, LEARNERS, build, fit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own dependencies
    import mudata

from evidentia import EGMM, EVCLUS, FDA, NNEVCLUS, LatentClassMixture, PairwiseConstraints, fuse, load_model
from evidentia.rows.tables import as_table

rng = np.random.default_rng(3)
VALUES = rng.normal(size=(24, 3)) + 5 * (np.arange(24) % 2)[:, None]
NAMES, COLUMNS = [f"cell {i}" for i in range(24)], ["a", "b", "c"]
FRAME = pd.DataFrame(VALUES, index=NAMES, columns=COLUMNS)
TABLES = {
    "polars": polars.DataFrame(VALUES, schema=COLUMNS),
    "polars, lazy": polars.LazyFrame(VALUES, schema=COLUMNS),
    "pyarrow": pyarrow.table(dict(zip(COLUMNS, VALUES.T))),
    "xarray": xarray.DataArray(VALUES, dims=("cell", "gene"), coords={"cell": NAMES, "gene": COLUMNS}),
    "xarray without names": xarray.DataArray(VALUES, dims=("cell", "gene")),
    "Dataset": xarray.Dataset(
        {name: ("cell", column) for name, column in zip(COLUMNS, VALUES.T)}, coords={"cell": NAMES}
    ),
}


def same(found, wanted):
    """But for rounding: numbers of a frame stand in memory column by column."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def adata():
    found = anndata.AnnData(VALUES.copy(), obs=pd.DataFrame(index=NAMES), var=pd.DataFrame(index=COLUMNS))
    found.obsm["X_pca"] = VALUES[:, :2] * [1, 2]
    found.layers["counts"] = VALUES + 1
    return found


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", ["EGMM", "ECM", "EVCLUS", "BeliefHierarchical"])
def test_a_table_of_another_package_is_a_table(kind, name):
    X = TABLES[kind]
    model, wanted = fit(build(name), X), fit(build(name), VALUES)
    same(model.partition_.masses, wanted.partition_.masses)
    named = kind in ("xarray", "Dataset")
    assert model.partition_.object_names == (tuple(NAMES) if named else None)
    if kind != "xarray without names" and name != "BeliefHierarchical":
        assert model.feature_names_in_.tolist() == COLUMNS
    new = model.predict_partition(X)
    same(new.masses, wanted.predict_partition(VALUES).masses)
    assert new.object_names == model.partition_.object_names


@pytest.mark.parametrize("name", [name for name in [*CLUSTERERS, *LEARNERS] if name != "LatentClassMixture"])
def test_every_method_reads_polars_and_anndata(name, adata):
    takes = EXPORTED[name].method.takes if name in LEARNERS else ()
    links = PairwiseConstraints.sample(np.arange(24) % 2, 12, random_state=0)
    more = {"constraints": links} if "links" in takes else {"y": np.arange(24) % 2} if "labels" in takes else {}
    for X in (TABLES["polars"], adata):
        frame = as_table(X)
        pd.testing.assert_frame_equal(frame.reset_index(drop=True), FRAME.reset_index(drop=True))
        model, wanted = fit(build(name), X, **more), fit(build(name), frame, **more)
        if name in LEARNERS:
            np.testing.assert_array_equal(model.transform(X), wanted.transform(frame))
        else:
            np.testing.assert_array_equal(model.partition_.masses, wanted.partition_.masses)
            np.testing.assert_array_equal(model.predict_partition(X).masses, wanted.predict_partition(frame).masses)


def test_words_of_polars():
    words = pd.DataFrame(
        {"color": np.where(VALUES[:, 0] > 2, "red", "blue"), "size": np.where(VALUES[:, 1] > 2, "L", "S")}
    )
    words.loc[3, "size"] = None
    model = fit(LatentClassMixture(2, random_state=0), words)
    other = fit(LatentClassMixture(2, random_state=0), polars.from_dict(words.to_dict("list")))
    same(model.partition_.masses, other.partition_.masses)
    mixed = words.assign(weight=VALUES[:, 2])
    model, other = (
        fit(EVCLUS(2, metric="gower", random_state=0), X) for X in (mixed, polars.from_dict(mixed.to_dict("list")))
    )
    same(model.partition_.masses, other.partition_.masses)


@pytest.mark.parametrize(("use_rep", "values"), [(None, VALUES), ("X", VALUES), ("counts", VALUES + 1),
                                                 ("X_pca", VALUES[:, :2] * [1, 2])])  # fmt: skip
def test_anndata_by_its_representations(adata, use_rep, values, tmp_path):
    model = EGMM(2, random_state=0).fit(adata, use_rep=use_rep)
    wanted = EGMM(2, random_state=0).fit(values)
    same(model.partition_.masses, wanted.partition_.masses)
    assert model.partition_.object_names == tuple(NAMES)
    assert model.feature_names_in_.tolist() == (["X_pca0", "X_pca1"] if use_rep == "X_pca" else COLUMNS)
    again = load_model(model.save(tmp_path / "m.npz"))
    for found in (model, again):  # new cells are read in the representation that was fitted
        np.testing.assert_array_equal(
            found.predict_partition(adata[3:9]).masses, wanted.predict_partition(values[3:9]).masses
        )
    assert (EGMM(2, random_state=0).fit_predict(adata, use_rep=use_rep) == wanted.labels_).all()


def test_mudata_by_modality(adata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mdata = mudata.MuData({"rna": adata, "protein": anndata.AnnData(VALUES[:, :2] + 9, obs=adata.obs.copy())})
    mdata.obsm["joint"] = VALUES[:, 1:]
    for use_rep, values in (("rna", VALUES), ("rna:X_pca", VALUES[:, :2] * [1, 2]), ("joint", VALUES[:, 1:])):
        model = EGMM(2, random_state=0).fit(mdata, use_rep=use_rep)
        np.testing.assert_array_equal(model.labels_, EGMM(2, random_state=0).fit(values).labels_)
    with pytest.raises(ValueError, match=r"several tables: name one by use_rep, 'joint', 'rna', 'rna:\.\.\.'"):
        EGMM(2).fit(mdata)


def test_what_is_no_table_says_so(adata):
    with pytest.raises(
        ValueError, match=r"use_rep='X_umap' is not in the AnnData object\. There is 'X', 'counts', 'X_pca'\."
    ):
        EGMM(2).fit(adata, use_rep="X_umap")
    with pytest.raises(ValueError, match=r"X of the AnnData object is empty\. .*'X_pca'"):
        EGMM(2).fit(anndata.AnnData(obs=adata.obs, obsm={"X_pca": VALUES}))
    with pytest.raises(TypeError, match="'use_rep' is for AnnData and MuData, and X is of type ndarray"):
        EGMM(2).fit(VALUES, use_rep="X_pca")
    with pytest.raises(ValueError, match=r"two dimensions, objects and columns\. Got \{'t': 2, 'y': 3, 'x': 4\}"):
        EGMM(2).fit(xarray.DataArray(np.zeros((2, 3, 4)), dims=("t", "y", "x")))
    with pytest.raises(ValueError, match=r"along one dimension, the objects\. Got a\('t',\), b\('y',\)"):
        EGMM(2).fit(xarray.Dataset({"a": ("t", [1.0]), "b": ("y", [1.0, 2.0])}))
    with pytest.raises(ValueError, match="needs numeric columns, but these are not: s"):
        EGMM(2).fit(polars.DataFrame({"x": [1.0, 2.0], "s": ["a", "b"]}))


def test_a_network_and_a_learner_read_new_tables(adata):
    model = fit(NNEVCLUS(2, n_init=1, max_iter=5, random_state=0), adata, use_rep="X_pca")
    np.testing.assert_array_equal(
        model.predict_partition(adata).masses, model.predict_partition(as_table(adata, "X_pca")).masses
    )
    learner = FDA().fit(adata, np.arange(24) % 2, use_rep="X_pca")
    np.testing.assert_array_equal(learner.transform(adata), learner.transform(as_table(adata, "X_pca")))


# -- sparse -----------------------------------------------------------------------------------------------------------

SPARSE = np.where(rng.random((200, 5)) < 0.6, 0, rng.normal(size=(200, 5))) + 6 * (np.arange(200) % 2)[:, None]
SPARSE[:, 3:] = np.where(rng.random((200, 2)) < 0.7, 0, SPARSE[:, 3:])
RECORDS = {name: EXPORTED[name].method for name in CLUSTERERS}
BY_CHUNKS = [name for name, it in RECORDS.items() if "rows beyond memory" in it.takes and "table" in it.reads]


@pytest.mark.parametrize("name", BY_CHUNKS)
def test_sparse_rows_are_rows(name, monkeypatch):
    monkeypatch.setattr("evidentia.rows.source.CHUNK_ROWS", 64)  # several chunks
    wanted = fit(build(name), SPARSE)
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_matrix):
        model = fit(build(name), kind(SPARSE))
        np.testing.assert_allclose(model.partition_.masses, wanted.partition_.masses, atol=1e-6)
        np.testing.assert_array_equal(model.labels_, wanted.labels_)
        assert model.labels_.shape == (200,)
        np.testing.assert_allclose(
            model.predict_partition(kind(SPARSE)[:7]).masses, wanted.predict_partition(SPARSE[:7]).masses, atol=1e-6
        )


@pytest.mark.parametrize("name", [name for name in CLUSTERERS if name not in BY_CHUNKS])
def test_sparse_rows_are_refused_with_a_cure(name):
    with pytest.raises(TypeError, match=rf"{name} needs a dense table, .*toarray.*TruncatedSVD.*: BootGMM, EGMM, "):
        fit(build(name), scipy.sparse.csr_array(SPARSE))


def test_sparse_anndata(adata):
    sparse = anndata.AnnData(scipy.sparse.csr_matrix(SPARSE))
    np.testing.assert_array_equal(
        EGMM(2, random_state=0).fit(sparse).labels_, EGMM(2, random_state=0).fit(SPARSE).labels_
    )


def test_polars_has_the_table_of_pandas(monkeypatch):
    partition = EGMM(2, random_state=0).fit(FRAME).partition_
    found, wanted = partition.to_polars(), partition.to_pandas().reset_index()
    assert isinstance(found, polars.DataFrame)
    assert found.columns == wanted.columns.tolist()
    for name in found.columns:
        assert found[name].to_list() == wanted[name].tolist()
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ImportError, match=r"pip install 'evidentia\[frames\]'"):
        partition.to_polars()


def test_the_columns_of_a_table_of_polars_are_raters():
    raters = {"Ann": np.arange(24) % 3, "Bo": np.arange(24) % 2}
    found = fuse(polars.DataFrame(raters))
    assert found.names == ("Ann", "Bo")
    np.testing.assert_array_equal(found.partition.masses, fuse(raters).partition.masses)
