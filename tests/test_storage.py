"""Every fitted estimator is saved without pickle, and is in a new process what it was; or a sentence says why not."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from tests.test_every_estimator import EXPORTED, LEARNERS, build, fit

from evidentia import (
    CECM,
    ECM,
    EGMM,
    EVCLUS,
    WMVEC,
    WMVECFP,
    BeliefHierarchical,
    BootGMM,
    EkNNclus,
    FocalSets,
    LatentClassMixture,
    MassFunctions,
    MECMdd,
    PairwiseConstraints,
    load_model,
    open_rows,
)
from evidentia.archive import read_archive, write_archive
from evidentia.metric_learning import KPCCA, PCCA
from evidentia.storage import FORMAT

rng = np.random.default_rng(3)
CLASSES = np.arange(40) % 2
X = rng.normal(size=(40, 3)) * [1, 3, 0.2] + 4 * CLASSES[:, None] + 7
NEW = rng.normal(size=(9, 3)) + 9
LINKS = PairwiseConstraints.sample(CLASSES, 12, random_state=0)
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
WIDE = np.hstack([X, rng.normal(size=(40, 30))])
WORDS = pd.DataFrame({"color": np.where(X[:, 0] > 8, "red", "blue"), "size": np.where(X[:, 1] > 9, "L", None)})
MIXED = WORDS.assign(color=WORDS["color"].astype("category"), weight=X[:, 0], count=(X[:, 2] * 4).astype(int))
NAMED = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"object {i}" for i in range(40)])

# What is fitted beside the quick form of every method: model, table, arguments of fit, new rows.
CASES = {
    "named rows": (lambda: EGMM(2, random_state=0), NAMED, {}, NAMED[:5]),
    "missing values": (lambda: EGMM(2, random_state=0), HOLES, {}, NEW),
    "weights": (lambda: EGMM("auto", random_state=0), X, {"sample_weight": 1 + CLASSES}, NEW),
    "a reduced table": (lambda: EGMM(2, reduce="pca", random_state=0), WIDE, {}, WIDE[:4] + 0.1),
    "a list of sets": (lambda: ECM(2, focal_sets=[{0}, {1}, {0, 1}, ()], random_state=0), X, {}, NEW),
    "numbers of NumPy": (lambda: ECM(np.int64(2), beta=np.float32(1.75), random_state=0), X, {}, NEW),
    "masses to start from": (
        lambda: EVCLUS(2, init=fit(EVCLUS(2, random_state=1), X).partition_, random_state=0), X, {}, NEW,
    ),
    "links": (lambda: CECM(2, random_state=0), X, {"constraints": LINKS}, NEW),
    "a learned metric": (lambda: CECM(2, metric_learner=PCCA(), random_state=0), X,
                         {"constraints": LINKS}, NEW),
    "a learned kernel": (lambda: CECM(2, metric_learner=KPCCA(), random_state=0), X,
                         {"constraints": LINKS}, NEW),
    "dissimilarities": (lambda: EVCLUS(2, metric="precomputed", random_state=0), cdist(X, X), {}, cdist(NEW, X)),
    "mixed columns": (lambda: EVCLUS(2, metric="gower", random_state=0), MIXED, {}, MIXED[3:9]),
    "another metric": (lambda: EkNNclus(3, metric="minkowski", metric_params={"p": 3}, random_state=0), X, {}, NEW),
    "words": (lambda: LatentClassMixture(2, random_state=0), WORDS, {}, WORDS[:5]),
    "a tree of mass functions": (
        lambda: BeliefHierarchical(), MassFunctions(rng.dirichlet(np.ones(4), 12), FocalSets(2)), {}, None,
    ),
    "several tables": (lambda: WMVEC(2, random_state=0), {"a": X, "b": X[:, :2] ** 2}, {}, {"a": NEW}),
    "weights of columns": (lambda: WMVECFP(2, views={"a": [0, 1], "b": [2]}, random_state=0), X, {}, NEW),
    "several matrices": (lambda: MECMdd(2, weights="local", random_state=0), [cdist(X, X), np.abs(X[:, :1] - X[:, 0])],
                         {}, [cdist(NEW, X), np.abs(NEW[:, :1] - X[:, 0])]),
    "replicates fitted one by one": (
        lambda: BootGMM(2, n_boot=20, parametric=True, random_state=0), X, {}, NEW,
    ),
}  # fmt: skip


def fitted(name):
    """A model and new rows."""
    if name in CASES:
        make, table, more, new = CASES[name]
        return fit(make(), table, **more), new
    table = (X > 9).astype(int) if name == "LatentClassMixture" else X
    takes = EXPORTED[name].method.takes if name in LEARNERS else ()
    more = {"constraints": LINKS} if "links" in takes else {"y": CLASSES} if "labels" in takes else {}
    return fit(build(name), table, **more), (NEW > 9).astype(int) if name == "LatentClassMixture" else NEW


READ = """if True:
    import sys
    import numpy as np
    import pandas as pd
    from evidentia import load_model
    from pathlib import Path
    for path in sorted(Path.cwd().glob("*.model.npz")):
        model, new = load_model(path), Path(path.name.replace(".model.npz", ".new.pkl"))
        found = {}
        if hasattr(model, "partition_"):
            found |= {"masses": model.partition_.masses, "labels": model.labels_}
        if new.exists():
            new = pd.read_pickle(new)
            done = model.predict_partition(new).masses if "masses" in found else model.transform(new)
            found |= {"predicted": done}
        np.savez(path.name.replace(".model.npz", ".found.npz"), **found)
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """What a new process finds in the files of all models, and the models themselves."""
    folder = tmp_path_factory.mktemp("models")
    models = {name: fitted(name) for name in [*EXPORTED, *CASES]}
    for name, (model, new) in models.items():
        model.save(folder / f"{name}.model.npz")
        if new is not None:
            pd.to_pickle(new, folder / f"{name}.new.pkl")
    subprocess.run([sys.executable, "-W", "error", "-c", READ], cwd=folder, check=True)
    return folder, models


@pytest.mark.parametrize("name", [*EXPORTED, *CASES])
def test_a_loaded_model_is_the_same_in_a_new_process(elsewhere, name):
    folder, models = elsewhere
    model, new = models[name]
    found = np.load(folder / f"{name}.found.npz")
    if name not in LEARNERS:
        np.testing.assert_allclose(found["masses"], model.partition_.masses, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found["labels"], model.labels_)
    if new is not None:
        wanted = model.transform(new) if name in LEARNERS else model.predict_partition(new).masses
        np.testing.assert_allclose(found["predicted"], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [*EXPORTED, *CASES])
def test_everything_that_was_fitted_comes_back(elsewhere, name):
    folder, models = elsewhere
    model, again = models[name][0], load_model(folder / f"{name}.model.npz")
    assert type(again) is type(model)
    assert str(again.get_params()) == str(model.get_params())
    assert vars(again).keys() == vars(model).keys()
    same(again, model, name)
    same(load_model(again.save(folder / "again.npz")), model, name)


def same(found, wanted, where):
    """Equal in kind and value, whatever is inside."""
    if isinstance(wanted, pd.Index):  # of categories: one of text finds the same places
        assert found.tolist() == wanted.tolist(), where
        return
    assert type(found) is type(wanted), where
    if isinstance(wanted, pd.DataFrame):
        pd.testing.assert_frame_equal(found, wanted)
    elif isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(found, wanted, err_msg=where)
        assert found.dtype == wanted.dtype, where
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted), where
        for one, other in zip(found, wanted):
            same(one, other, where)
    elif hasattr(wanted, "to_fields"):
        same(found.to_fields(), wanted.to_fields(), where)
    elif dataclasses.is_dataclass(wanted):
        for field in dataclasses.fields(wanted):
            same(getattr(found, field.name), getattr(wanted, field.name), f"{where}.{field.name}")
    elif isinstance(wanted, dict) or hasattr(wanted, "parameters"):
        parts = [one if isinstance(one, dict) else vars(one) for one in (found, wanted)]
        for name in parts[1]:
            same(parts[0][name], parts[1][name], f"{where}.{name}")
    else:
        assert found == wanted or (found != found and wanted != wanted), where


def test_names_of_rows_and_columns_are_kept(tmp_path):
    again = load_model(fit(ECM(2, random_state=0), NAMED).save(tmp_path / "m.npz"))
    assert again.partition_.object_names == tuple(NAMED.index)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(NAMED.rename(columns={"b": "x"}))


def test_numpy_alone_reads_the_file(tmp_path):
    model = fit(ECM(2, random_state=0), X)
    file = np.load(model.save(tmp_path / "m.npz"), allow_pickle=False)
    np.testing.assert_array_equal(file["fitted.cluster_centers_"], model.cluster_centers_)
    said = json.loads(file["model"].tobytes())
    assert said["estimator"] == "evidentia.prototypes.ecm:ECM"
    assert said["parameters"]["n_clusters"] == 2
    assert said["fitted"]["cluster_centers_"] == {"array": "fitted.cluster_centers_"}


def test_an_array_that_comes_twice_is_written_once(tmp_path):
    model = fit(BeliefHierarchical(), X)
    names = np.load(model.save(tmp_path / "m.npz")).files
    assert model._objects.weight is model._leaves.weight
    assert len([name for name in names if name.endswith(".weight")]) == 1


def test_rows_beyond_memory_are_left_out_and_placed_again(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    rows = open_rows(tmp_path / "rows.npy")
    model = fit(ECM(2, random_state=0), rows)
    again = load_model(model.save(tmp_path / "m.npz"))
    assert not hasattr(again, "partition_")
    np.testing.assert_array_equal(again.predict_partition(rows).compute().masses, model.partition_.compute().masses)


# -- what cannot be saved ---------------------------------------------------------------------------------------------


def ground(one, other):
    return float(np.abs(one - other).sum())


class Mine(ECM):
    """A method of a user's."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (EVCLUS(2, metric=ground, random_state=0), r"^EVCLUS cannot be saved: its parameter 'metric' is or holds a "
         r"function, <function ground.*set_params\(metric=\.\.\.\)"),
        (EGMM(2, random_state=np.random.RandomState(0)), "'random_state' is or holds an object of type Random"),
        (ECM(2, focal_sets=lambda c: fit(ECM(c), X).focal_sets_, random_state=0), "parameter 'focal_sets' .* function"),
        (EVCLUS(2, metric="minkowski", metric_params={"w": np.ma.ones(3)}), "'metric_params' .* of type MaskedArray"),
        (Mine(2, random_state=0), "^Mine cannot be saved: a file names classes of evidentia only"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused_by_name(tmp_path, model, message):
    fit(model, X)
    with pytest.raises(TypeError, match=message):
        model.save(tmp_path / "m.npz")
    assert not list(tmp_path.iterdir())


def test_a_model_that_was_not_fitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        ECM(2).save(tmp_path / "m.npz")


def test_a_learner_of_others_has_to_be_given_again(tmp_path):
    from sklearn.decomposition import PCA

    model = fit(CECM(2, metric_learner=PCA(2), random_state=0), X, constraints=LINKS)
    path = model.save(tmp_path / "m.npz")
    with pytest.raises(ValueError, match=r"metric_learner of your own.*load_model\(path, metric_learner=\.\.\.\)"):
        load_model(path)
    again = load_model(path, metric_learner=model.metric_learner_)
    np.testing.assert_array_equal(again.predict_partition(NEW).masses, model.predict_partition(NEW).masses)
    plain = fit(CECM(2, random_state=0), X).save(tmp_path / "plain.npz")
    with pytest.raises(TypeError, match=r"given 'metric_learner', which .*plain\.npz does not ask for"):
        load_model(plain, metric_learner=PCA(2))


@pytest.mark.parametrize("name", ["EGMM", "BPEC", "CECM", "EVCLUS"])
def test_no_attribute_of_a_class_but_a_default_can_be_replaced_by_a_file(tmp_path, name):
    cls, given = EXPORTED[name], fit(build(name), X).save(tmp_path / "m.npz").read_bytes()
    set_by_fit = {"collapsed_", "flaw_", "_largest", "_use_rep", "_stream", "_coverage", "_ranges"}  # with a default
    assert set_by_fit <= cls.left_by_fit
    refused = [one for one in dir(cls) if one not in set_by_fit]
    smuggled = ["method", "parameters", "left_by_fit", "_keeps_single", "_cure", "_masses"]
    assert set(smuggled) <= set(refused)
    new = [
        "_estimator_type",
        "_skl_callbacks",
        "_metadata_request",
        "_repr_html_inner",
        "_sneaked",
        "_sneaked_",
        "__sneaked_",
        "sneaked",
    ]
    for one in [*refused[:: max(1, len(refused) // 25)], *smuggled, *new]:
        (tmp_path / "m.npz").write_bytes(given)
        change(tmp_path / "m.npz", lambda said, one=one: said["fitted"].update({one: 3}))
        with pytest.raises(ValueError, match=rf"m\.npz is damaged .*{one}' is nothing that a fit leaves behind"):
            load_model(tmp_path / "m.npz")


@pytest.mark.parametrize("name", ["n_jobs", "random_state", "verbose"])
def test_a_default_of_a_parameter_that_a_method_lacks_cannot_be_replaced_by_a_file(tmp_path, name):
    assert name not in PCCA.parameters
    path = fit(PCCA(), X, constraints=LINKS).save(tmp_path / "m.npz")
    change(path, lambda said: said["fitted"].update({name: 3}))
    with pytest.raises(ValueError, match=rf"'{name}' is nothing that a fit leaves behind"):
        load_model(path)


def test_what_set_output_asked_for_is_kept(tmp_path):
    model = fit(ECM(2, random_state=0), X).set_output(transform="pandas")
    again = load_model(model.save(tmp_path / "m.npz"))
    pd.testing.assert_frame_equal(again.transform(NEW), model.transform(NEW))


# -- files that are not what they should be ---------------------------------------------------------------------------


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", a=1)
    np.savez(tmp_path / "newer.npz", format="evidentia-model", version=9)
    fit(ECM(2, random_state=0), X).partition_.save(tmp_path / "partition.npz")
    for name, message in (
        ("none.npz", "There is no file"),
        ("text.npz", "damaged or not a model"),
        ("other.npz", "not a model of evidentia"),
        ("partition.npz", "not a model of evidentia .format='evidentia-partition' inside"),
        ("newer.npz", "written by a newer evidentia"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            load_model(tmp_path / name)


def change(path, edit):
    """The file with other words in it, whole and with a digest that fits."""
    content = read_archive(path, FORMAT)
    said = json.loads(content["model"].tobytes())
    edit(said)
    arrays = {name: value for name, value in content.items() if name not in ("format", "version", "digest", "written")}
    arrays["model"] = np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)
    write_archive(path, FORMAT, arrays, {"written": "0"})


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda said: said.update(estimator="os:system"), "'os:system' is no class of evidentia"),
        (lambda said: said.update(estimator="evidentia.app.cli.__main__:main"), "is no class of evidentia"),
        (lambda said: said.update(estimator="evidentia.storage:Path"), "is no class of evidentia"),
        (lambda said: said.update(estimator="evidentia.belief.focal:FocalSets"), "is no estimator"),
        (lambda said: said["fitted"].update(fit=3), "'fit' is nothing that a fit leaves behind"),
        (lambda said: said["fitted"].update(method=3), "'method' is nothing that a fit leaves behind"),
        (lambda said: said["fitted"].update(parameters=3), "'parameters' is nothing that a fit leaves behind"),
        (lambda said: said["fitted"].update(beta=3.0), "'beta' is nothing that a fit leaves behind"),
        (lambda said: said["fitted"].update(__class__=3), "'__class__' is nothing that a fit leaves behind"),
        (lambda said: said["fitted"].update(x_={"object": "evidentia.rows.checkpoint:Checkpoint", "fields": {}}),
         "is not made of values"),
        (lambda said: said["fitted"].update(x_={"array": "gone"}), "it lacks gone"),
        (lambda said: said["fitted"].update(x_={"what": 1}), "nothing is known of"),
        (lambda said: said["fitted"].update(x_={"number": ["O", 1]}), "no kind of number"),
        (lambda said: said["fitted"].update(x_={"objects": ["a"], "shape": [1 << 40]}), "damaged or not a model"),
        (lambda said: said["parameters"].update(beta=0.5), "'beta' parameter of ECM must be"),
        (lambda said: said["parameters"].update(bta=2.0), "damaged or not a model of evidentia.*bta"),
    ],
)  # fmt: skip
def test_a_file_with_other_words_is_refused(tmp_path, edit, message):
    path = fit(ECM(2, random_state=0), X).save(tmp_path / "m.npz")
    change(path, edit)
    with pytest.raises(ValueError, match=message):
        load_model(path)
