"""A saved network is read again as it was, or a sentence says why not."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.preprocessing import FunctionTransformer

from evidentia import NNEVCLUS, FocalSets, load_model
from evidentia.constraints import PairwiseConstraints
from evidentia.metric_learning import PCCA

pytestmark = pytest.mark.filterwarnings("ignore:NNEVCLUS reached max_iter")  # most fits here are short on purpose


@pytest.mark.parametrize("case", ["plain", "outliers", "dissimilarities", "learned", "named"])
def test_a_loaded_model_gives_the_same_masses(blobs, tmp_path, case):
    X, y = blobs
    settings = {
        "plain": {"hidden": (5, 6)},
        "outliers": {"outliers": True},
        "dissimilarities": {"metric": "precomputed"},
        "learned": {"metric_learner": PCCA(), "outliers": True},
        "named": {},
    }
    if case == "dissimilarities":
        X = cdist(X, X)
    if case == "named":
        X = pd.DataFrame(X, columns=["a", "b"], index=[f"r{i}" for i in range(90)])
    links = PairwiseConstraints.sample(y, 10, random_state=0) if case == "learned" else None
    model = NNEVCLUS(3, n_init=1, max_iter=15, random_state=0, **settings[case]).fit(X, constraints=links)
    again = load_model(model.save(tmp_path / "deep" / "model.npz"))
    np.testing.assert_array_equal(again.predict_partition(X).masses, model.predict_partition(X).masses)
    assert (again.labels_ == model.labels_).all()
    assert again.partition_.object_names == model.partition_.object_names
    assert again.hidden == model.hidden
    twice = load_model(again.save(tmp_path / "again.npz"))
    np.testing.assert_array_equal(twice.predict_partition(X).masses, model.predict_partition(X).masses)


def test_a_file_holds_numbers_of_numpy_links_and_arguments_of_a_metric(blobs, tmp_path):
    X, _ = blobs
    links = PairwiseConstraints([[0, 41], [3, 4]], [False, True], [0.5, 1.0])
    model = NNEVCLUS(np.int64(3), xi=np.float32(0.25), metric="minkowski", metric_params={"p": 3}, max_iter=3, n_init=1)
    model.set_params(random_state=0, focal_sets=FocalSets(3, "simple")).fit(X, constraints=links)
    again = load_model(model.save(tmp_path / "model.npz"))
    assert (again.n_clusters, again.xi, again.metric_params) == (3, 0.25, {"p": 3})
    assert again.focal_sets == again.focal_sets_ == model.focal_sets_
    assert again.constraints_.pairs.tolist() == links.pairs.tolist()
    assert again.constraints_.must.tolist() == links.must.tolist()
    assert again.constraints_.certainty.tolist() == links.certainty.tolist()
    np.testing.assert_array_equal(again.predict(X), model.labels_)


def test_importing_the_family_does_not_import_torch(tmp_path):
    code = "import sys, evidentia.neural, evidentia.storage; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_a_metric_learner_of_others_has_to_be_given_again(blobs, tmp_path):
    X, _ = blobs
    model = NNEVCLUS(3, n_init=1, max_iter=5, metric_learner=FunctionTransformer(np.arctan), random_state=0).fit(X)
    path = model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="metric_learner of your own"):
        load_model(path)
    again = load_model(path, metric_learner=model.metric_learner_)
    np.testing.assert_array_equal(again.predict_partition(X).masses, model.predict_partition(X).masses)
