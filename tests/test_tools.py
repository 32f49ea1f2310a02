"""Tools for AnnData: what is written, and under which names."""

import anndata
import numpy as np
import pandas as pd
import pytest
from tests.test_every_estimator import fit

from evidentia import ECM, EGMM, methods, tl
from evidentia.rows.tables import as_table

rng = np.random.default_rng(4)
VALUES = rng.normal(size=(30, 4)) + 6 * (np.arange(30) % 2)[:, None]


@pytest.fixture
def adata():
    found = anndata.AnnData(VALUES.copy(), obs=pd.DataFrame(index=[f"cell{i}" for i in range(30)]))
    found.obsm["X_pca"] = VALUES[:, :2].copy()
    return found


def test_a_tool_writes_what_the_method_finds(adata, tmp_path):
    assert tl.egmm(adata, 2, random_state=0) is None
    model = EGMM(2, random_state=0).fit(as_table(adata, "X_pca"))  # what scanpy's tools take, where it is there
    assert adata.obs["egmm_cluster"].astype(int).tolist() == model.labels_.tolist()
    np.testing.assert_array_equal(adata.obsm["egmm_masses"], model.partition_.masses)
    assert adata.uns["egmm"] == {
        "focal_sets": model.focal_sets_.names(),
        "method": "egmm",
        "params": {"n_clusters": 2, "random_state": 0},
        "use_rep": "X_pca",
    }
    adata.write_h5ad(tmp_path / "a.h5ad")
    assert list(anndata.read_h5ad(tmp_path / "a.h5ad").uns["egmm"]["focal_sets"]) == model.focal_sets_.names()


def test_another_representation_key_and_a_copy(adata):
    other = tl.ecm(adata, 2, use_rep="X", key_added="mine", copy=True, random_state=0, beta=1.75)
    assert not list(adata.obs)
    wanted = fit(ECM(2, random_state=0, beta=1.75), as_table(adata))
    np.testing.assert_array_equal(other.obsm["mine_masses"], wanted.partition_.masses)
    assert other.uns["mine"]["use_rep"] == "X"
    del adata.obsm["X_pca"]
    tl.ecm(adata, 2, random_state=0, beta=1.75)
    np.testing.assert_array_equal(adata.obsm["ecm_masses"], wanted.partition_.masses)


def test_every_clusterer_is_a_tool():
    assert {name.replace("-", "_") for name in methods.clusterers()} < set(dir(tl))
    assert tl.gustafson_kessel.__name__ == "gustafson_kessel"
    with pytest.raises(AttributeError, match=r"has no tool 'leiden'\. There are cluster, "):
        _ = tl.leiden
    with pytest.raises(TypeError, match=r"for AnnData and MuData objects\. Got ndarray"):
        tl.egmm(VALUES)
