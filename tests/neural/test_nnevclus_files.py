"""A saved network is read again as it was, or a sentence says why not."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.preprocessing import StandardScaler

from evidentia import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.neural import (
    NNEVCLUS,
    nnevclus,
)

pytestmark = pytest.mark.filterwarnings("ignore:NNEVCLUS reached max_iter")  # most fits here are short on purpose


@pytest.mark.parametrize("case", ["plain", "outliers", "dissimilarities", "scaled", "named"])
def test_a_loaded_model_gives_the_same_masses(blobs, tmp_path, case):
    X, _ = blobs
    settings = {
        "plain": {"hidden": (5, 6)},
        "outliers": {"outliers": True},
        "dissimilarities": {"metric": "precomputed"},
    }
    settings |= {"scaled": {"metric_learner": StandardScaler(), "outliers": True}, "named": {}}
    if case == "dissimilarities":
        X = cdist(X, X)
    if case == "named":
        X = pd.DataFrame(X, columns=["a", "b"], index=[f"r{i}" for i in range(90)])
    model = NNEVCLUS(3, n_init=1, max_iter=15, random_state=0, **settings[case]).fit(X)
    model.save(tmp_path / "deep" / "model.npz")
    again = NNEVCLUS.load(tmp_path / "deep" / "model.npz")
    np.testing.assert_allclose(again.predict_partition(X).masses, model.partition_.masses, atol=1e-6)
    assert (again.labels_ == model.labels_).all()
    assert again.partition_.object_names == model.partition_.object_names
    assert again.hidden == model.hidden
    assert (again.delta0_, again.loss_, again.n_iter_) == (model.delta0_, model.loss_, model.n_iter_)
    assert {name: getattr(again, name) for name in nnevclus.NUMBERS} == {
        name: getattr(model, name) for name in nnevclus.NUMBERS
    }
    for name in nnevclus.TRACES:
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.n_clusters_ == again.n_clusters == 3
    assert again.constraints_.pairs.tolist() == model.constraints_.pairs.tolist()
    again.save(tmp_path / "again.npz")
    twice = NNEVCLUS.load(tmp_path / "again.npz")
    np.testing.assert_allclose(twice.predict_partition(X).masses, model.partition_.masses, atol=1e-6)


def test_a_file_holds_numbers_of_numpy_links_and_arguments_of_a_metric(blobs, tmp_path):
    X, _ = blobs
    links = PairwiseConstraints([[0, 41], [3, 4]], [False, True], [0.5, 1.0])
    model = NNEVCLUS(np.int64(3), xi=np.float32(0.25), metric="minkowski", metric_params={"p": 3}, max_iter=3, n_init=1)
    model.set_params(random_state=0, focal_sets=FocalSets(3, "simple")).fit(X, constraints=links)
    model.save(tmp_path / "model.npz")
    again = NNEVCLUS.load(tmp_path / "model.npz")
    assert (again.n_clusters, again.xi, again.metric_params) == (3, 0.25, {"p": 3})
    assert again.focal_sets == "pairs"  # JSON cannot hold the other; what was fitted is there all the same
    assert again.focal_sets_ == model.focal_sets_
    assert again.constraints_.pairs.tolist() == links.pairs.tolist()
    assert again.constraints_.must.tolist() == links.must.tolist()
    assert again.constraints_.certainty.tolist() == links.certainty.tolist()
    np.testing.assert_array_equal(again.predict(X), model.labels_)


def test_another_process_reads_the_same_masses(blobs, tmp_path):
    """And importing the family does not import torch: loading a model does."""
    X, _ = blobs
    model = NNEVCLUS(3, n_init=1, max_iter=10, outliers=True, random_state=0).fit(X)
    model.save(tmp_path / "model.npz")
    np.save(tmp_path / "X.npy", X)
    code = """if True:
        import sys, numpy
        from evidentia.neural import NNEVCLUS
        assert "torch" not in sys.modules
        masses = NNEVCLUS.load("model.npz").predict_partition(numpy.load("X.npy")).masses
        numpy.save("masses.npy", masses)
        """
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "masses.npy"), model.partition_.masses, atol=1e-6)


def test_a_curved_metric_learner_has_to_be_given_again(blobs, tmp_path):
    from sklearn.preprocessing import FunctionTransformer

    X, _ = blobs
    model = NNEVCLUS(3, n_init=1, max_iter=5, metric_learner=FunctionTransformer(np.arctan), random_state=0).fit(X)
    model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="metric learner that is no matrix"):
        NNEVCLUS.load(tmp_path / "model.npz")
    again = NNEVCLUS.load(tmp_path / "model.npz", metric_learner=model.metric_learner_)
    np.testing.assert_allclose(again.predict_partition(X).masses, model.partition_.masses, atol=1e-6)


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", a=1)
    np.savez(tmp_path / "newer.npz", format="evidentia-nnevclus", version=9)
    for name, message in (
        ("none.npz", "There is no file"),
        ("text.npz", "damaged or not a model"),
        ("other.npz", "not a model of NNEVCLUS"),
        ("newer.npz", "written by a newer evidentia"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            NNEVCLUS.load(tmp_path / name)
