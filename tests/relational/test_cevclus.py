"""CEVCLUS: correct links help, and the criterion is the paper's."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evidentia import FocalSets
from evidentia.constraints import ContradictoryLinks, PairwiseConstraints
from evidentia.datasets import load
from evidentia.relational import CEVCLUS, EVCLUS
from evidentia.relational.cevclus import broken_links, link_form
from evidentia.solvers import irqp as solver
from evidentia.solvers.descent import InterruptedFit


@pytest.fixture(scope="module")
def corners():
    """Four groups on a rectangle, two classes along its short side: dissimilarities alone find the long one."""
    X, group = make_blobs([15] * 4, centers=[[0, 0], [0, 8], [6, 0], [6, 8]], shuffle=False, random_state=0)
    return X, group // 2


def slow_penalty(partition, constraints, xi):
    """(17), (18) from the relational masses, which share no code with the descent."""
    found = partition.relational(constraints.pairs)
    same, different = found.plausibility_same, found.plausibility_different
    broken = np.where(constraints.must, different + 1 - same, same + 1 - different)
    return (xi * constraints.certainty * broken).sum() / (2 * len(constraints))


def test_link_form_is_made_of_the_two_plausibilities():
    """m'Qm = Pl(different) + 1 - Pl(same), (16) and (19), with 1 - Pl(same) the conflict, the empty set included."""
    focal_sets = FocalSets(3)
    one, other = np.random.default_rng(0).dirichlet(np.ones(8), size=2)
    empty = one[0] + other[0] - one[0] * other[0]
    same = sum(one[focal_sets.index({k})] * other[focal_sets.index({k})] for k in range(3))
    conflict = sum(one[a] * other[b] for a, A in enumerate(focal_sets) for b, B in enumerate(focal_sets) if not A & B)
    assert one @ link_form(focal_sets) @ other == pytest.approx((1 - empty - same) + conflict)


@pytest.mark.parametrize("n_pairs", [None, 25])
def test_the_criterion_is_the_papers_and_never_rises(corners, n_pairs):
    X, y = corners
    drawn = PairwiseConstraints.sample(y, 20, random_state=0)
    links = PairwiseConstraints(drawn.pairs, drawn.must, np.linspace(0.3, 1, 20))
    model = CEVCLUS(2, xi=0.8, n_pairs=n_pairs, random_state=0, n_init=3).fit(X, constraints=links)
    assert (np.diff(model.criterion_trace_) <= 0).all()
    shepard = model.shepard_
    stress = np.square(shepard.conflict - shepard.wanted).mean()
    assert model.criterion_ == pytest.approx(stress + slow_penalty(model.partition_, links, 0.8))
    np.testing.assert_array_equal(model.constraints_.pairs, links.pairs)
    np.testing.assert_array_equal(model.xi_, np.full(20, 0.8))
    assert np.abs(model.partition_.masses.sum(axis=1) - 1).max() < 1e-12


def test_the_descent_begins_at_the_solution_without_links(corners, monkeypatch):
    X, y = corners
    links = PairwiseConstraints.sample(y, 20, random_state=0)
    free = EVCLUS(2, random_state=0, n_init=1).fit(X)
    start = free.criterion_ + slow_penalty(free.partition_, links, 0.5)
    monkeypatch.setattr("evidentia.relational.cevclus.GROWTH", (1,))
    model = CEVCLUS(2, xi=0.5, random_state=0, n_init=1).fit(X, constraints=links)
    assert model.criterion_trace_[0] == pytest.approx(start)
    assert model.criterion_ < start


@pytest.mark.needs_data("ecoli_nnevclus")
def test_links_that_grow_lead_to_a_lower_criterion(monkeypatch):
    data = load("ecoli_nnevclus")
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)

    def criteria():
        drawn = [PairwiseConstraints.sample(data.target, 25, random_state=seed) for seed in range(3)]
        models = [CEVCLUS(3, xi=0.5, random_state=0, n_init=1).fit(X, constraints=links) for links in drawn]
        return np.array([model.criterion_ for model in models])

    growing = criteria()
    monkeypatch.setattr("evidentia.relational.cevclus.GROWTH", (1,))
    assert growing.mean() < 0.8 * criteria().mean()


@pytest.mark.parametrize("xi", [0.5, "auto"])
def test_an_interrupt_while_links_grow_keeps_the_masses_and_their_true_loss(corners, monkeypatch, xi):
    X, y = corners
    links = PairwiseConstraints.sample(y, 20, random_state=0)
    plain = len(EVCLUS(2, random_state=0, n_init=1).fit(X).criterion_trace_) - 1
    sweeps, once = [], solver._sweep_dense

    def interrupted(*arguments):
        sweeps.append(1)
        if len(sweeps) == plain + 3:
            raise KeyboardInterrupt
        return once(*arguments)

    monkeypatch.setattr(solver, "_sweep_dense", interrupted)
    with pytest.warns(InterruptedFit, match="CEVCLUS was interrupted"):
        model = CEVCLUS(2, xi=xi, random_state=0, n_init=1).fit(X, constraints=links)
    shepard = model.shepard_
    stress = np.square(shepard.conflict - shepard.wanted).mean()
    assert model.criterion_ == pytest.approx(stress + slow_penalty(model.partition_, links, model.xi_))


def test_links_turn_the_wrong_partition_into_the_right_one(corners):
    X, y = corners
    assert adjusted_rand_score(y, EVCLUS(2, random_state=0).fit(X).labels_) < 0.1
    links = PairwiseConstraints.from_labels(np.where(np.arange(60) % 3 == 0, y, -1))
    model = CEVCLUS(2, xi=5.0, random_state=0).fit(X, constraints=links)
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.needs_data("{name}")
@pytest.mark.parametrize("name", ["iris", "heart", "ecoli_nnevclus"])
def test_adding_correct_links_does_not_lower_the_mean_ari(name):
    data = load(name)
    y = data.target
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    counts, found = (0, 25, 100, 200), []
    for seed in range(3):
        drawn = PairwiseConstraints.sample(y, max(counts), random_state=seed)
        for count in counts:
            links = PairwiseConstraints(drawn.pairs[:count], drawn.must[:count])
            model = CEVCLUS(len(np.unique(y)), random_state=seed, n_init=1).fit(X, constraints=links)
            found.append(adjusted_rand_score(y, model.labels_))
    mean = np.reshape(found, (3, 4)).mean(axis=0)
    assert (np.diff(mean) >= 0).all(), mean
    assert mean[-1] > mean[0] + 0.05


def wine():
    data = load("wine")
    return (data.data - data.data.mean(axis=0)) / data.data.std(axis=0), data.target, {}


def protein():
    data = load("protein")
    return data.dissimilarity, data.target, {"focal_sets": "simple", "delta0": 1.0, "metric": "precomputed"}


@pytest.mark.parametrize("count", [25, 100])
@pytest.mark.parametrize("read", [wine, pytest.param(protein, marks=pytest.mark.needs_data("protein"))])
def test_correct_links_do_no_harm_where_dissimilarities_find_the_classes(read, count):
    X, y, settings = read()
    n_clusters = len(np.unique(y))
    free = EVCLUS(n_clusters, n_init=2, random_state=0, **settings).fit(X)
    found = []
    for seed in range(6):
        links = PairwiseConstraints.sample(y, count, random_state=seed)
        model = CEVCLUS(n_clusters, init=free.partition_, **settings).fit(X, constraints=links)
        found.append(adjusted_rand_score(y, model.labels_))
    assert np.mean(found) >= adjusted_rand_score(y, free.labels_) - 1e-9


def test_links_that_hold_change_nothing():
    X, _, _ = wine()
    plain = EVCLUS(3, n_init=2, random_state=0).fit(X)
    links = PairwiseConstraints.sample(plain.labels_, 40, random_state=0)
    model = CEVCLUS(3, n_init=2, random_state=0).fit(X, constraints=links)
    np.testing.assert_array_equal(model.partition_.masses, plain.partition_.masses)
    np.testing.assert_array_equal(model.xi_, np.zeros(40))


def test_a_broken_link_gets_more_weight_than_the_others_and_then_holds():
    X, y, _ = wine()
    plain = EVCLUS(3, n_init=2, random_state=0).fit(X)
    links = PairwiseConstraints.sample(y, 100, random_state=0)
    wrong = broken_links(links, plain.partition_.masses, plain.focal_sets_)
    assert 1 <= wrong.sum() <= 10
    model = CEVCLUS(3, init=plain.partition_).fit(X, constraints=links)
    assert not broken_links(links, model.partition_.masses, model.focal_sets_).any()
    assert model.xi_[wrong].min() > 2 * np.median(model.xi_[~wrong]) > 0
    assert (np.diff(model.criterion_trace_) <= 0).all()
    shepard = model.shepard_
    stress = np.square(shepard.conflict - shepard.wanted).mean()
    assert model.criterion_ == pytest.approx(stress + slow_penalty(model.partition_, links, model.xi_))


def test_broken_links_are_those_that_the_labels_contradict():
    focal_sets = FocalSets(2)
    masses = np.array([[0, 0.7, 0.1, 0.2], [0, 0.2, 0.3, 0.5], [0, 0.6, 0, 0.4]])  # most plausible: 0, 1, 0
    links = PairwiseConstraints.from_links([(0, 1), (0, 2)], [(1, 2)])
    assert dict(zip(map(tuple, links.pairs), broken_links(links, masses, focal_sets))) == {
        (0, 1): True,
        (0, 2): False,
        (1, 2): False,
    }


def test_without_links_it_is_evclus(corners):
    X, _ = corners
    plain = EVCLUS(2, random_state=0).fit(X)
    for constraints in (None, PairwiseConstraints.from_links()):
        model = CEVCLUS(2, random_state=0).fit(X, constraints=constraints)
        np.testing.assert_array_equal(model.partition_.masses, plain.partition_.masses)
        assert isinstance(model.constraints_, PairwiseConstraints)
        assert len(model.constraints_) == len(model.xi_) == 0


def test_a_stronger_link_is_broken_less():
    X, y = make_blobs(200, centers=[[0, 0, 0], [2, 1, 1]], cluster_std=1.5, random_state=0)
    drawn = PairwiseConstraints.sample(y, 60, random_state=1)
    broken = []
    for certainty in (0.05, 0.3, 1.0):
        links = PairwiseConstraints(drawn.pairs, drawn.must, certainty)
        model = CEVCLUS(2, random_state=0).fit(X, constraints=links)
        broken.append(links.violations(model.partition_)["plausibility"].mean())
    assert broken[0] > broken[1] > broken[2]


def test_links_by_name_and_precomputed_dissimilarities(corners):
    X, _ = corners
    names = [f"p{i}" for i in range(60)]
    D = pd.DataFrame(cdist(X, X), index=names, columns=names)
    named = PairwiseConstraints.from_links([("p0", "p20"), ("p35", "p50")], [("p0", "p35")])
    plain = PairwiseConstraints.from_links([(0, 20), (35, 50)], [(0, 35)])
    model = CEVCLUS(2, metric="precomputed", random_state=0).fit(D, constraints=named)
    other = CEVCLUS(2, metric="precomputed", random_state=0).fit(D.to_numpy(), constraints=plain)
    np.testing.assert_allclose(model.partition_.masses, other.partition_.masses)
    assert model.partition_.object_names == tuple(names)
    np.testing.assert_array_equal(model.constraints_.pairs, plain.pairs)


def test_partners_and_near_pairs_go_with_links(corners):
    X, y = corners
    links = PairwiseConstraints.sample(y, 20, random_state=0)
    partners = (np.arange(60)[:, None] + np.arange(1, 60, 3)) % 60
    model = CEVCLUS(2, focal_sets="near-pairs", n_pairs=partners, random_state=0).fit(X, constraints=links)
    assert (np.diff(model.criterion_trace_) <= 0).all()


@pytest.mark.parametrize(
    ("constraints", "error", "words"),
    [
        ([(0, 1)], TypeError, "'constraints' of CEVCLUS.fit must be PairwiseConstraints"),
        (PairwiseConstraints.from_links([(0, 99)]), ValueError, "Links must be between the rows 0..59 of X"),
        (PairwiseConstraints.from_links([(0, 1), (1, 2)], [(0, 2)]), ContradictoryLinks, "0 = 1 = 2"),
    ],
)
def test_bad_links_are_refused(corners, constraints, error, words):
    with pytest.raises(error, match=words):
        CEVCLUS(2).fit(corners[0], constraints=constraints)


def test_bad_weight_is_refused(corners):
    with pytest.raises(ValueError, match=r"The 'xi' parameter of CEVCLUS must be 'auto' or a number >= 0. Got -1"):
        CEVCLUS(2, xi=-1).fit(corners[0])
    with pytest.raises(ValueError, match=r"The 'xi' parameter of CEVCLUS must be 'auto' or a number >= 0. Got 'much'"):
        CEVCLUS(2, xi="much").fit(corners[0])
