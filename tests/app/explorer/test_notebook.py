"""The explorer in a notebook, and without the packages that it needs."""

import asyncio
import subprocess
import sys

import anndata
import numpy as np
import pandas as pd
import pytest

import evidentia
from evidentia import CECM, ECM, EGMM, WMVEC
from evidentia.app.explorer import Exploration, Settings
from evidentia.app.explorer.notebook import settings_of


def rows():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 2)) + np.repeat([[0, 0], [8, 8]], 20, axis=0)
    return pd.DataFrame(table, columns=["u", "v"], index=[f"n{k}" for k in range(40)])


@pytest.fixture
def explorer():
    return evidentia.explore(rows(), CECM(2, n_init=2, random_state=3))


def test_the_state_is_at_hand(explorer):
    assert explorer.partition_.n_clusters == 2
    assert len(explorer.constraints_) == 0
    explorer.exploration.join(["n0", "n1"])
    assert len(explorer.constraints_) == 1
    assert repr(explorer) == "Explorer(40 objects, 2 steps)"
    assert "CECM(" in explorer.script()
    assert "random_state=3" in explorer.script()
    assert explorer.view.get_root().select_one({"name": "map"}) is not None


def test_what_is_clicked_changes_state_and_views(explorer):
    page = explorer.page
    page.select(np.array([0, 1, 25]), page.map)
    assert page.table.widget.selection == [0, 1, 25]
    assert "3 objects selected" in page.groups.object
    asyncio.run(page.act(lambda: explorer.exploration.join(page.selected_names()), "fitting"))
    assert "belong together" in page.status.object
    assert page.map.source.selected.indices == [0, 1, 25]
    asyncio.run(page.act(lambda: explorer.exploration.join(["n0", "<img onerror=1>"]), "fitting"))
    assert "There is no object &#x27;&lt;img" in page.status.object
    assert 'role="alert"' in page.status.object
    asyncio.run(page.act(lambda: 1 / 0, "fitting"))
    assert "should not have happened" in page.status.object
    assert len(explorer.exploration.steps) == 2


def test_a_second_thing_waits_for_the_first(explorer):
    page = explorer.page
    page.hub.busy = "Fitting…"
    asyncio.run(page.act(lambda: 1 / 0, "fitting"))
    assert "Still busy: Fitting" in page.status.object


def test_a_fitted_model_is_taken_as_it_is():
    table = rows()
    model = ECM(2, n_init=2, random_state=0, beta=1.5).fit(table)
    explorer = evidentia.explore(table, model)
    np.testing.assert_array_equal(explorer.partition_.masses, model.partition_.masses)
    assert dict(explorer.exploration.settings.parameters) == {"beta": 1.5, "n_init": 2}


def test_settings_of_models():
    assert settings_of(EGMM(cluster_range=(2, 4), random_state=7), ("u",)) == Settings(
        "egmm", (2, 4), ("u",), scale="none", seed=7
    )
    with pytest.raises(TypeError, match="no clustering method of evidentia"):
        settings_of(object(), ("u",))


def test_maps_of_anndata_can_be_chosen():
    table = rows()
    cells = anndata.AnnData(table.to_numpy(), obs=pd.DataFrame({"batch": ["a"] * 40}, index=table.index))
    cells.obsm["X_umap"] = table.to_numpy()[:, ::-1].copy()
    explorer = evidentia.explore(cells, ECM(2, n_init=1, random_state=0))
    assert explorer.exploration.settings.columns == ("0", "1")
    assert {"X_umap0", "X_umap1"} <= set(explorer.page.map.x.options)
    cells.obsm["X_pca"] = table.to_numpy()
    assert evidentia.explore(cells, ECM(2, n_init=1, random_state=0)).exploration.settings.columns == (
        "X_pca0",
        "X_pca1",
    )


def test_an_image_is_explored_in_a_cell_too(tmp_path):
    from evidentia.app.images import Image

    rng = np.random.default_rng(0)
    image = Image.from_data(np.round(np.repeat([0.0, 1.0], 8) + rng.normal(0, 0.1, (12, 16)), 2))
    explorer = evidentia.explore(image, folder=tmp_path)
    assert explorer.view.get_root().select_one({"name": "segments"}) is not None
    assert "egmm, as many clusters as it finds best" in explorer.page.status.object
    assert "ImageExploration(image" in explorer.script()
    assert explorer.partition_ is explorer.exploration.segmentation_.partition
    with pytest.raises(AttributeError, match="strokes and answers"):
        _ = explorer.constraints_
    with pytest.raises(ValueError, match="An image takes no model"):
        evidentia.explore(image, ECM(2))


def test_views_are_explored_side_by_side():
    views = {"left": rows(), "right": 3 * rows() + 1}
    for several in (views, list(views.values())):
        with pytest.raises(ValueError, match=r"one table, and X is several.*WMVEC\(4, views="):
            evidentia.explore(several, WMVEC(2))
    table = pd.concat([view.add_prefix(f"{name} ") for name, view in views.items()], axis=1)
    columns = {name: [f"{name} u", f"{name} v"] for name in views}
    explorer = evidentia.explore(table, WMVEC(2, views=columns, random_state=0))
    expected = WMVEC(2, random_state=0).fit(views)
    np.testing.assert_allclose(explorer.partition_.masses, expected.partition_.masses, atol=1e-12)


def test_one_column_and_many_objects_are_drawn():
    rng = np.random.default_rng(0)
    one = pd.DataFrame({"u": rng.normal(size=25_000) + 6 * (rng.random(25_000) < 0.5)})
    explorer = evidentia.explore(one, ECM(2, n_init=1, random_state=0))
    assert len(explorer.page.map.objects) == 20_000
    assert "Drawn are 20,000 of 25,000 objects" in explorer.page.drawn.object
    moved = Exploration(one.head(30), Settings("ecm", 2, ("u",), parameters={"n_init": 1}))
    assert moved.begin().partition.n_clusters == 2


def test_importing_evidentia_or_its_state_loads_neither_panel_nor_bokeh():
    code = "import sys, evidentia, evidentia.app.explorer; print({'panel', 'bokeh', 'tornado'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


@pytest.mark.parametrize("missing", ["panel", "bokeh"])
def test_what_is_missing_is_named_with_the_extra(missing, monkeypatch):
    gone = ("panel", "bokeh")
    for name in [
        name for name in sys.modules if name.split(".")[0] in gone or name.startswith("evidentia.app.explorer.")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install 'evidentia\[explorer\]'"):
        evidentia.explore(rows())
