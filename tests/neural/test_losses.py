"""Every term of the loss against plain loops in NumPy, and its gradient against finite differences."""

import numpy as np
import pytest
import torch
from sklearn.svm import OneClassSVM

from evidentia import FocalSets
from evidentia.constraints import PairwiseConstraints
from evidentia.dissimilarities import Table
from evidentia.neural.knowledge import Knowledge, read_labels, sure_labels
from evidentia.neural.losses import (
    all_pairs_loss,
    labels_penalty,
    links_penalty,
    squared_distances,
    start_penalty,
    weight_decay,
)
from evidentia.neural.network import MassNetwork, perceptron
from evidentia.neural.objective import Objective, Penalties, loss_on
from evidentia.neural.outliers import coefficients, default_gamma, discount, find_region
from evidentia.relational.cevclus import link_form
from evidentia.relational.pairs import all_pairs, random_pairs

FOCAL = FocalSets(3)  # all eight subsets
RNG = np.random.default_rng(3)
N = 23
X = RNG.normal(size=(N, 2)) * 0.4
MASSES = RNG.dirichlet(np.full(8, 0.6), size=N)


def conflict_of(one, other):
    """(3) from the sets themselves."""
    return sum(one[a] * other[b] for a, A in enumerate(FOCAL) for b, B in enumerate(FOCAL) if not A & B)


def squared_misfit(i, j, wanted):
    return (conflict_of(MASSES[i], MASSES[j]) - wanted) ** 2


def tensor(array):
    return torch.tensor(np.asarray(array), dtype=torch.float64)


def test_loss_of_all_pairs():
    wanted = np.clip(Table(X, "euclidean", {}).block(slice(None), slice(None)), 0, 1)
    slow = np.mean([squared_misfit(i, j, wanted[i, j]) for i in range(N) for j in range(i)])
    target = tensor(wanted)
    fast = all_pairs_loss(tensor(MASSES), tensor(FOCAL.disjoint.astype(float)), target, target.square().sum())
    assert fast.item() == pytest.approx(slow, rel=1e-12)


@pytest.mark.parametrize("n_pairs", [2, 7, 21])
def test_loss_of_partners(n_pairs):
    """The pairs, their values and their number as EVCLUS lists them."""
    pairs = random_pairs(Table(X, "euclidean", {}), n_pairs, np.random.RandomState(0))
    i, j, wanted = pairs.sample(10**6, np.random.RandomState(0))
    slow = np.mean([squared_misfit(*one) for one in zip(i, j, wanted)])
    assert len(i) == pairs.n_terms
    assert loss_on(pairs, make_objective().conflict)(tensor(MASSES)).item() == pytest.approx(slow, rel=1e-12)


def test_penalty_of_links():
    """(16)-(18) written out, with certainties that differ."""
    links = PairwiseConstraints([[0, 1], [4, 2], [3, 9]], [True, False, False], [0.3, 1.0, 0.7])
    total = 0.0
    for (i, j), must, certainty in zip(links.pairs, links.must, links.certainty):
        one, other = MASSES[i], MASSES[j]
        same = 1 - conflict_of(one, other)
        both = sum(one[FOCAL.index({k})] * other[FOCAL.index({k})] for k in range(3))
        different = 1 - one[0] - other[0] + one[0] * other[0] - both
        total += certainty * (different + 1 - same if must else same + 1 - different)
    first, second = tensor(MASSES[links.pairs[:, 0]]), tensor(MASSES[links.pairs[:, 1]])
    fast = links_penalty(first, second, tensor(link_form(FOCAL)), tensor(links.must * 1.0), tensor(links.certainty))
    assert fast.item() == pytest.approx(total / (2 * 3), rel=1e-12)


def test_penalty_of_labels_is_over_the_number_of_labeled_objects():
    possible = np.array([[1, 0, 0], [0, 1, 1]])  # surely cluster 0; cluster 1 or 2
    slow = 0.0
    for i, row in zip((5, 6), possible):
        plausible = [sum(MASSES[i, a] for a, A in enumerate(FOCAL) if k in A) for k in range(3)]
        slow += sum((p - y) ** 2 for p, y in zip(plausible, row))
    fast = labels_penalty(tensor(MASSES[[5, 6]]), tensor(FOCAL.member), tensor(possible))
    assert fast.item() == pytest.approx(slow / 2, rel=1e-12)


def test_weight_decay_is_the_mean_square_of_each_layer():
    network = MassNetwork(perceptron(2, [3], 4))
    (v, v0, w, w0) = [p.detach().numpy() for p in network.module.parameters()]
    expected = (
        (np.square(v).sum() + np.square(v0).sum()) / (3 * 3) + (np.square(w).sum() + np.square(w0).sum()) / (4 * 4)
    ) / 2
    assert weight_decay(network.layers).item() == pytest.approx(expected, rel=1e-5)


def test_start_penalty_is_least_at_the_given_masses():
    given = tensor(MASSES)
    entropy = -(MASSES * np.log(MASSES)).sum() / N
    assert start_penalty(given, given).item() == pytest.approx(entropy, rel=1e-6)
    assert start_penalty(given.roll(1, 0), given) > start_penalty(given, given)


def test_squared_distances_in_single_precision_survive_a_far_origin():
    rows = torch.tensor(X + 1000, dtype=torch.float32)
    exact = np.square(X[:, None] - X).sum(axis=2)
    np.testing.assert_allclose(squared_distances(rows).numpy(), exact, atol=1e-3)
    assert (squared_distances(rows).diagonal() == 0).all()


# -- outliers ---------------------------------------------------------------------------------------------------------


def test_the_region_is_that_of_scikit_learn():
    region = find_region(X, 0.3, 1.7, np.random.RandomState(0))
    machine = OneClassSVM(nu=0.3, gamma=1.7).fit(X)
    expected = machine.decision_function(X) / -machine.intercept_[0]
    np.testing.assert_allclose(region.depth(X), expected, atol=1e-8)
    assert region.depth(np.array([[1e3, 1e3]])) == pytest.approx(-1)


def test_default_width_is_half_the_mean_squared_distance():
    square = np.square(X[:, None] - X).sum(axis=2)
    assert 1 / default_gamma(X) == pytest.approx(square.mean() / 2)


def test_discount_is_the_papers_and_does_not_overflow():
    depth = np.array([-1.0, -0.02, 0.0, 0.04, 1e5])
    raw = tensor([np.log(3.0), np.log(5.0)])
    beta_0, beta_1 = (b.item() for b in coefficients(raw))
    assert (beta_0, beta_1) == (pytest.approx(2), pytest.approx(5))
    eta = np.logaddexp(0, beta_0 + beta_1 * depth)
    gamma = (eta / (1 + eta))[:, None]
    nothing = np.eye(8)[FOCAL.empty_index]
    found = discount(tensor(MASSES[:5]), tensor(depth), raw, FOCAL.empty_index).numpy()
    np.testing.assert_allclose(found, gamma * MASSES[:5] + (1 - gamma) * nothing, rtol=1e-12)
    np.testing.assert_allclose(found[-1], MASSES[4], atol=1e-4)  # deep inside: gamma is one


@pytest.mark.parametrize("raw", [(-20.0, 8.0), (-3.0, -5.0), (4.0, 9.0)])
def test_far_away_most_mass_is_on_the_empty_set_whatever_was_learned(raw):
    found = discount(tensor([[0.0, 1, 0, 0, 0, 0, 0, 0]]), tensor([-1.0]), tensor(raw), 0)
    assert found[0, 0] >= 1 / (1 + np.log(2)) - 1e-9


# -- the whole --------------------------------------------------------------------------------------------------------

LINKS = PairwiseConstraints([[0, 1], [4, 2]], [True, False], [0.3, 1.0])
POSSIBLE = read_labels([2, -1, 0, *[-1] * (N - 3)], N, 3)
PENALTIES = Penalties(xi=0.7, label_weight=0.3, l2=0.01)


def make_objective(knowledge=None):
    torch.manual_seed(0)
    network = MassNetwork(perceptron(2, [4, 3], 8), FOCAL.empty_index).to(torch.float64, "cpu")
    depth = find_region(X, 0.3, 1.7, np.random.RandomState(0)).depth(X)
    known = Knowledge.of(LINKS, POSSIBLE) if knowledge is None else knowledge
    return Objective(network, X, depth, FOCAL, known, PENALTIES)


def test_the_parts_are_weighed_as_in_the_paper():
    objective = make_objective()
    pairs = all_pairs(Table(X, "euclidean", {}))
    pair_loss = loss_on(pairs, objective.conflict)
    everyone = np.arange(N)
    masses = objective.masses(everyone)
    must = tensor(LINKS.must * 1.0)
    links = links_penalty(masses[[0, 4]], masses[[1, 2]], objective.form, must, tensor(LINKS.certainty))
    labels = labels_penalty(masses[[0, 2]], objective.member, tensor([[0, 0, 1], [1, 0, 0]]))
    expected = 0.7 * pair_loss(masses) + 0.3 * labels + 0.7 * links + 0.01 * weight_decay(objective.network.layers)
    assert objective(objective.batch(everyone), pair_loss).item() == pytest.approx(expected.item(), rel=1e-12)


@pytest.mark.parametrize("partners", [False, True])
def test_gradient_by_finite_differences(partners):
    objective = make_objective()
    source = Table(X, "euclidean", {})
    pairs = random_pairs(source, 7, np.random.RandomState(0)) if partners else all_pairs(source)
    pair_loss = loss_on(pairs, objective.conflict)
    parameters = objective.network.parameters
    slopes = torch.autograd.grad(objective(objective.batch(np.arange(N)), pair_loss), parameters)
    assert len(parameters) == 7  # three layers of weights and biases, and the coefficients of the outliers
    for p, slope in zip(parameters, slopes):
        for at in np.ndindex(*p.shape):
            values = []
            for step in (1e-6, -1e-6):
                with torch.no_grad():
                    p[at] += step
                    values.append(objective(objective.batch(np.arange(N)), pair_loss).item())
                    p[at] -= step
            assert slope[at].item() == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-8)


def test_some_knowledge_speaks_of_the_same_objects():
    links = PairwiseConstraints([[20, 11], [14, 2], [7, 9]], [True, False, True], [0.2, 0.4, 0.6])
    labels = np.full(N, -1)
    labels[[3, 8, 14]] = [0, 1, 2]
    whole = Knowledge.of(links, read_labels(labels, N, 3))
    some = whole.sample(2, np.random.RandomState(0))
    assert len(some.pairs) == len(some.labeled) == 2
    listed = {
        (*pair, must, s)
        for pair, must, s in zip(links.pairs.tolist(), links.must, links.certainty)
        for pair in [tuple(pair)]
    }
    assert {(*some.rows[pair], bool(must), s) for pair, must, s in zip(some.pairs, some.must, some.certainty)} <= listed
    for at, row in zip(some.labeled, some.possible):
        assert labels[some.rows[at]] == row.argmax()
    assert whole.sample(3, np.random.RandomState(0)) is whole


def test_labels_may_be_sets():
    possible = read_labels([[True, True, False], [False, False, False], [0, 0, 1]], 3, 3)
    assert possible.tolist() == [[True, True, False], [True, True, True], [False, False, True]]
    assert sure_labels(possible).tolist() == [-1, -1, 2]
    with pytest.raises(ValueError, match=r"must lie in 0\.\.2, or be -1 for unknown\. Row 1 has 3 \(1 such rows\)"):
        read_labels([0, 3, -1], 3, 3)
    with pytest.raises(ValueError, match=r"3 whole numbers \(-1: unknown\).*Got float64 of shape \(3,\)"):
        read_labels([0.0, 1.0, np.nan], 3, 3)
