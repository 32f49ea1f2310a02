"""EGMM with what is known of objects: EM on the generalized likelihood (E2M)."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from evidentia import EGMM, CredalPartition, FocalSets
from evidentia.datasets import make_egmm_four_class
from evidentia.mixtures.search import partial_labels_of
from evidentia.solvers.barycentric import averaging

FOUR = make_egmm_four_class(200, random_state=0)
X, Y = FOUR.data, FOUR.target
FAMILIES = ("auto", "full", "pairs", "singletons")
MODELS = ("EII", "EEI", "EEE", "VVI", "VEE", "VVV", "EEV")


def some_masses(rng, n, sets, share=0.5):
    """Mass functions of some objects; the set of all clusters for the others."""
    masses = rng.dirichlet(np.full(len(sets), 0.3), 9)[rng.integers(9, size=n)]
    masses[rng.random(n) > share] = np.eye(len(sets))[sets.omega_index]
    return CredalPartition(masses, sets)


def some_labels(n_known, seed=0):
    labels = np.full(len(X), -1)
    known = np.random.default_rng(seed).choice(len(X), n_known, replace=False)
    labels[known] = Y[known]
    return labels


def set_densities(model, rows):
    """π_A N(x; A) in plain loops, (n, f)."""
    average = averaging(model.focal_sets_)
    centers, within = average @ model.cluster_centers_, np.tensordot(average, model.covariances_, axes=1)
    columns = [w * multivariate_normal(c, s).pdf(rows) for w, c, s in zip(model.weights_, centers, within)]
    return np.array(columns).T


def commonalities(known, sets):
    """By the definition: the mass of all sets that hold a set."""
    q = np.zeros((len(known), len(sets)))
    for a, mine in enumerate(sets):
        for b, theirs in enumerate(known.focal_sets):
            q[:, a] += known.masses[:, b] * (mine <= theirs)
    return q


@pytest.mark.filterwarnings("ignore:EGMM with 3 clusters:UserWarning")  # a cluster may vanish: nobody knows of it
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("family", ["full", "pairs", "singletons"])
def test_masses_and_likelihood_by_their_definitions(model, family):
    known = some_masses(np.random.default_rng(1), len(X), FocalSets(3, "full", empty=False))
    fitted = EGMM(3, model=model, focal_sets=family, prior=None, n_init=1, tol=1e-4, random_state=0).fit(
        X, partial_labels=known
    )
    joint = set_densities(fitted, X) * commonalities(known, fitted.focal_sets_)
    np.testing.assert_allclose(fitted.partition_.masses, joint / joint.sum(axis=1, keepdims=True), atol=1e-9)
    assert fitted.log_likelihood_ == pytest.approx(np.log(joint.sum(axis=1)).sum(), abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    model=st.sampled_from(MODELS),
    family=st.sampled_from(FAMILIES),
    share=st.sampled_from([0.05, 0.5, 1.0]),
    holes=st.booleans(),
)
def test_the_criterion_never_falls(seed, model, family, share, holes):
    rng = np.random.default_rng(seed)
    rows = X[:80].copy()
    if holes:
        rows[rng.random(80) < 0.2, 1] = np.nan
    known = some_masses(rng, 80, FocalSets(3, "full", empty=False), share)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = EGMM(3, model=model, focal_sets=family, max_iter=40, random_state=0).fit(rows, partial_labels=known)
    trace = fitted.criterion_trace_
    assert (np.diff(trace) >= -1e-10 * np.abs(trace).max()).all()
    np.testing.assert_allclose(fitted.partition_.masses.sum(axis=1), 1)
    # An object is never where it cannot be.
    sets = fitted.focal_sets_
    impossible = commonalities(known, sets) == 0
    assert not fitted.partition_.masses[impossible].any()


@pytest.mark.parametrize("family", FAMILIES)
def test_knowledge_that_says_nothing_changes_nothing(family):
    plain = EGMM(4, focal_sets=family, model=["EEE", "VVV"], random_state=0).fit(X)
    silent = EGMM(4, focal_sets=family, model=["EEE", "VVV"], random_state=0).fit(X, partial_labels=np.full(len(X), -1))
    assert silent.partition_ == plain.partition_
    np.testing.assert_array_equal(silent.criterion_trace_, plain.criterion_trace_)
    one = np.full(len(X), -1, dtype=object)
    one[7] = {0, 1, 2, 3}
    assert (
        EGMM(4, focal_sets=family, model=["EEE", "VVV"], random_state=0).fit(X, partial_labels=one).partition_
        == plain.partition_
    )


@pytest.mark.parametrize("model", ["EEE", "VVV", "VVI"])
@pytest.mark.parametrize("family", FAMILIES)
def test_labels_of_all_are_classes(family, model):
    fitted = EGMM(4, focal_sets=family, model=model, prior=None, random_state=0).fit(X, partial_labels=Y)
    np.testing.assert_array_equal(fitted.labels_, Y)
    np.testing.assert_array_equal(fitted.partition_.contour, np.eye(4)[Y])
    classes = [X[k == Y] for k in range(4)]
    np.testing.assert_allclose(fitted.cluster_centers_, [rows.mean(axis=0) for rows in classes])
    if model == "VVV":
        np.testing.assert_allclose(fitted.covariances_, [np.cov(rows.T, bias=True) for rows in classes], rtol=1e-6)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_clusters_have_the_numbers_of_the_knowledge(order):
    labels = some_labels(24)
    moved = np.where(labels < 0, -1, np.asarray(order)[labels])
    fitted = EGMM(4, model="EEE", random_state=0).fit(X, partial_labels=moved)
    assert (fitted.labels_ == np.asarray(order)[Y]).mean() > 0.8
    np.testing.assert_array_equal(fitted.labels_[labels >= 0], moved[labels >= 0])
    plain = EGMM(4, model="EEE", random_state=0).fit(X, partial_labels=labels)
    np.testing.assert_allclose(fitted.cluster_centers_[order], plain.cluster_centers_, atol=1e-6)


def test_few_labels_find_what_shape_alone_does_not():
    # Two classes, of which one is two far-apart groups: no mixture of two Gaussians would join these by itself.
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(at, 1, (60, 2)) for at in ([0, 0], [5, 0], [0, 7])])
    truth = np.repeat([0, 1, 0], 60)
    labels = np.where(np.arange(180) % 6 == 0, truth, -1)
    told = EGMM(2, model="VVV", focal_sets="singletons", random_state=0).fit(rows, partial_labels=labels)
    alone = EGMM(2, model="VVV", focal_sets="singletons", random_state=0).fit(rows)
    right = (told.labels_ == truth).mean()
    assert right > 0.95 > max((alone.labels_ == truth).mean(), (alone.labels_ != truth).mean())


def test_order_of_rows_and_weights_as_copies():
    labels = some_labels(30)
    weight = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    weight[5] = 0
    again = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted = EGMM(4, model="EEE", random_state=0).fit(X, sample_weight=weight, partial_labels=labels)
    copied = EGMM(4, model="EEE", random_state=0).fit(X[again], partial_labels=labels[again])
    np.testing.assert_allclose(weighted.cluster_centers_, copied.cluster_centers_, atol=1e-4)
    shuffled = np.random.default_rng(3).permutation(len(X))
    other = EGMM(4, model="EEE", random_state=0).fit(
        X[shuffled], sample_weight=weight[shuffled], partial_labels=labels[shuffled]
    )
    np.testing.assert_allclose(other.partition_.masses, weighted.partition_.masses[shuffled], atol=1e-9)


def test_tables_beyond_the_sample_of_starts():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=30_000)
    rows = rng.normal(size=(30_000, 2)) + np.array([[0, 0], [6, 0], [0, 6]])[truth]
    labels = np.where(rng.random(30_000) < 0.001, 2 - truth, -1)
    fitted = EGMM(3, model=["EII", "EEE"], random_state=0).fit(rows, partial_labels=labels)
    assert (fitted.labels_ == 2 - truth).mean() > 0.99


def test_new_rows_have_no_knowledge():
    labels = some_labels(40)
    fitted = EGMM(4, model="EEE", random_state=0).fit(X, partial_labels=labels)
    new = fitted.predict_partition(X)
    unknown = labels < 0
    np.testing.assert_allclose(new.masses[unknown], fitted.partition_.masses[unknown])
    assert (new.labels()[~unknown] != labels[~unknown]).any()


def test_what_cannot_be_done_is_said():
    with pytest.raises(ValueError, match=r"so that their number must be given: EGMM\(n_clusters=...\)"):
        EGMM().fit(X, partial_labels=Y)
    with pytest.raises(ValueError, match=r"leave no focal set for object 0: none of \{0,1\}, \{2,3\} is within"):
        EGMM(4, focal_sets=[{0, 1}, {2, 3}]).fit(X, partial_labels=Y)
    with pytest.raises(ValueError, match="'partial_labels' of EGMM must tell of each of 200 objects"):
        EGMM(4).fit(X, partial_labels=[1])


def test_rows_of_one_knowledge_go_together():
    found = partial_labels_of(
        CredalPartition([[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1], [1, 0, 0]], FocalSets(2, empty=False))
    )
    groups = {None if known is None else tuple(known.masks): rows.tolist() for known, rows in found.groups()}
    assert groups == {(1,): [0, 3], (2, 3): [1], None: [2]}
