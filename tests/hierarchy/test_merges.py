"""The compiled merges against the formulas written out, for a few objects and with plain loops."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from evidentia.hierarchy._merge import LINKS, merge_by_distance, merge_by_products


def packed(square):
    return square[np.tril_indices(len(square), -1)].copy()


def by_hand(similarity, alpha, link="single", common=True):
    """Merges of four objects whose similarities exp(-d²) are given (gamma is one)."""
    squared = np.full((4, 4), 1600.0)
    for (i, j), s in similarity.items():
        squared[i, j] = squared[j, i] = -np.log(s)
    if link == "product":
        return merge_by_products(squared, np.ones(4), 1.0, alpha)
    return merge_by_distance(packed(squared), np.ones(4), LINKS[link], 1.0, alpha, common)


def test_four_objects_by_hand_from_distances():
    # alpha s: 01 .285, 02 .2755, 13 .19. BetP_0(2) = .2755 + (1 - .5605) / 3 = .4220, BetP_2(0) = .2755 + .7245 / 3
    # = .5170, product .2182; BetP_0(1) BetP_1(0) = .4315 * .46 = .1985, although 0 and 1 are nearer.
    merges, betp, mass, _ = by_hand({(0, 1): 0.30, (0, 2): 0.29, (1, 3): 0.20}, 0.95)
    assert merges.tolist() == [[0, 2], [1, 4], [3, 5]]
    np.testing.assert_allclose(betp[0], [0.4220, 0.5170], atol=1e-12)
    # Single link: 1 is as near to {0, 2} as to 0. BetP_{02}(1) = .285 + .715 / 2, BetP_1({02}) = .285 + .525 / 2.
    np.testing.assert_allclose(betp[1], [0.5475, 0.6425], atol=1e-12)
    np.testing.assert_allclose(mass[1], [0.285, 0.285], atol=1e-12)
    np.testing.assert_allclose(betp[2], [1, 1])


def test_four_objects_by_hand_from_products():
    # m_i(j) = .5 s: 01 .25, 02 .1, 12 .2, 23 .2. BetP_0(1) = .25 + .65 / 3, BetP_1(0) = .25 + .55 / 3 are the largest.
    merges, betp, mass, _ = by_hand({(0, 1): 0.5, (0, 2): 0.2, (1, 2): 0.4, (2, 3): 0.4}, 0.5, "product")
    assert merges.tolist() == [[0, 1], [2, 3], [4, 5]]
    np.testing.assert_allclose(betp[0], [0.25 + 0.65 / 3, 0.25 + 0.55 / 3], atol=1e-9)
    # Of {0, 1}, .1 and .2 for 2 combine to 1 - .9 * .8 = .28; 2 gives .1 * .2 = .02 to {0, 1} and .2 to 3, .78 to both.
    np.testing.assert_allclose(betp[1], [0.2 + 0.78 / 2, 0.2 + 0.8 / 2], atol=1e-9)
    np.testing.assert_allclose(mass[1], [0.2, 0.2], atol=1e-9)


def test_products_let_a_pair_speak_with_one_voice():
    # As above, but 3 is far: now {0, 1} and 2 are merged by .28 + .72 / 2 and .02 + .98 / 2.
    merges, betp, mass, _ = by_hand({(0, 1): 0.5, (0, 2): 0.2, (1, 2): 0.4}, 0.5, "product")
    assert merges[1].tolist() == [2, 4]
    np.testing.assert_allclose(sorted(betp[1]), [0.51, 0.64], atol=1e-9)
    np.testing.assert_allclose(sorted(mass[1]), [0.02, 0.28], atol=1e-9)


def test_masses_that_would_sum_to_more_than_alpha_are_scaled():
    # Similarities .9 among all: a row sums to 2.7 and is scaled to alpha; 1 - alpha is left for the frame.
    all_near = {(i, j): 0.9 for i in range(4) for j in range(i)}
    for common in (True, False):
        _, betp, mass, _ = by_hand(all_near, 0.6, "single", common)
        np.testing.assert_allclose(mass[0], [0.2, 0.2])
        np.testing.assert_allclose(betp[0], [0.2 + 0.4 / 3, 0.2 + 0.4 / 3])
    # With one row too heavy (object 1: .9 + .9), "common" scales object 0 too.
    chain = {(0, 1): 0.9, (1, 2): 0.9, (2, 3): 0.5}
    np.testing.assert_allclose(by_hand(chain, 0.6, "single", True)[2][0], [0.3, 0.3])
    assert by_hand(chain, 0.6, "single", False)[2][0][0] == pytest.approx(0.54)


def cluster_distance(squared, weight, a, b, link):
    distance = np.sqrt(squared[np.ix_(a, b)])
    if link == "single":
        return distance.min() ** 2
    if link == "complete":
        return distance.max() ** 2
    wa, wb = weight[a], weight[b]
    if link == "average":
        return (wa @ distance @ wb / wa.sum() / wb.sum()) ** 2

    def mean(s, t):
        return weight[s] @ squared[np.ix_(s, t)] @ weight[t] / weight[s].sum() / weight[t].sum()

    return 2 * wa.sum() * wb.sum() / (wa.sum() + wb.sum()) * (mean(a, b) - mean(a, a) / 2 - mean(b, b) / 2)


def betp_from_distances(squared, weight, clusters, link, gamma, alpha, common):
    k = len(clusters)
    m = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            if i != j:
                m[i, j] = np.exp(-gamma * cluster_distance(squared, weight, clusters[i], clusters[j], link))
    total = m.sum(axis=1)
    m *= (alpha / np.maximum(1, total.max() if common else total)).reshape(-1, 1)
    return m + (1 - m.sum(axis=1))[:, None] / (k - 1)


def dempster(one, other):
    """Combine dictionaries {frozenset: mass}."""
    out = {}
    for a, x in one.items():
        for b, y in other.items():
            out[a & b] = out.get(a & b, 0) + x * y
    conflict = out.pop(frozenset(), 0)
    return {a: x / (1 - conflict) for a, x in out.items()}


def betp_from_products(squared, weight, clusters, gamma, alpha):
    k = len(clusters)
    betp = np.zeros((k, k))
    for c, members in enumerate(clusters):
        others = [d for d in range(k) if d != c]
        frame = frozenset(others)
        combined = {frame: 1.0}
        for i in members:
            log_p = [(weight[clusters[d]] * (np.log(alpha) - gamma * squared[i, clusters[d]])).sum() for d in others]
            m = np.exp(log_p)
            m /= max(1, m.sum() / alpha)
            spoken = {frame: 1 - m.sum()}
            for d, x in zip(others, m):
                spoken[frozenset([d])] = spoken.get(frozenset([d]), 0) + x
            for _ in range(int(weight[i])):
                combined = dempster(combined, spoken)
        for subset, x in combined.items():
            for d in subset:
                betp[c, d] += x / len(subset)
    return betp


def slow_merges(n, betp_of):
    """Merges by looking at every pair again, as long as the best pair is the best beyond rounding."""
    clusters, names, out = [np.array([i]) for i in range(n)], list(range(n)), []
    while len(clusters) > 1:
        betp = betp_of(clusters)
        product = np.where(np.tri(len(clusters), k=-1) > 0, betp * betp.T, -1)
        first, second = np.sort(product.ravel())[[-1, -2]]
        if first - second < 1e-10 * first:
            break
        b, a = np.unravel_index(product.argmax(), product.shape)
        out.append((*sorted((names[a], names[b])), betp[a, b] + betp[b, a]))
        clusters[a] = np.r_[clusters[a], clusters.pop(b)]
        names[a] = n + len(out) - 1
        names.pop(b)
    return out


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("link", ["single", "complete", "average", "ward", "product"])
def test_merges_equal_those_of_plain_loops(seed, link):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 22))
    X = rng.normal(size=(n, 2)) * rng.choice([0.3, 1, 3])
    squared = squareform(pdist(X, "sqeuclidean"))
    weight = rng.integers(1, 4, n).astype(float) if seed % 2 else np.ones(n)
    gamma, alpha, common = rng.choice([0.2, 1, 2]), 0.8, bool(seed % 3)
    if link == "product":
        expected = slow_merges(n, lambda cs: betp_from_products(squared, weight, cs, gamma, alpha))
        merges, betp, _, _ = merge_by_products(squared, weight, gamma, alpha)
    else:
        start = squared * (2 * np.outer(weight, weight) / np.add.outer(weight, weight) if link == "ward" else 1)
        expected = slow_merges(n, lambda cs: betp_from_distances(squared, weight, cs, link, gamma, alpha, common))
        merges, betp, _, _ = merge_by_distance(packed(start), weight.copy(), LINKS[link], gamma, alpha, common)
    assert len(expected) >= 1
    assert merges[: len(expected)].tolist() == [[a, b] for a, b, _ in expected]
    np.testing.assert_allclose(betp.sum(axis=1)[: len(expected)], [index for *_, index in expected], rtol=1e-9)


def test_bounds_skip_most_rows():
    X = np.random.default_rng(0).normal(size=(400, 3))
    squared = pdist(X, "sqeuclidean")
    *_, scans = merge_by_distance(squared[::-1].copy(), np.ones(400), LINKS["average"], 0.5, 0.95, True)
    assert scans < 60 * 400  # all rows at every merge would be 200 * 400


@pytest.mark.parametrize("link", ["single", "average", "ward", "product"])
def test_far_objects_are_merged_nearest_first(link):
    # exp(-d²) underflows between all groups; the distances still rule.
    x = np.array([0.0, 0.1, 300.0, 1000.0, 1000.2, 5000.0])
    squared = np.subtract.outer(x, x) ** 2
    if link == "product":
        merges, betp, _, _ = merge_by_products(squared, np.ones(6), 1.0, 0.95)
    else:
        merges, betp, _, _ = merge_by_distance(packed(squared), np.ones(6), LINKS[link], 1.0, 0.95, True)
    assert merges.tolist() == [[0, 1], [3, 4], [2, 6], [7, 8], [5, 9]]
    assert np.isfinite(betp).all()
    np.testing.assert_allclose(betp[2:], [[1 / 3] * 2, [1 / 2] * 2, [1, 1]], atol=1e-12)
